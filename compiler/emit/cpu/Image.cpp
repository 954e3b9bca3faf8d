#include "compiler/emit/cpu/Image.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace llvm;
using namespace llvm::object;
using namespace graphc;
using namespace graphc::emit;

static Status broken(const Twine &what) {
  return Status(ErrorCode::Compile, ("[cpu] object file: " + what).str());
}

/// Takes the error, so that none is dropped unchecked.
template <typename T>
static bool take(Expected<T> value, T &out, std::string &why) {
  if (!value) {
    why = toString(value.takeError());
    return false;
  }
  out = *value;
  return true;
}

/// Offsets of the allocated sections in the image; exception tables are left out, kernels do not
/// unwind.
static Status placeSections(const ELF64LEObjectFile &file, std::vector<uint8_t> &bytes,
                            std::map<SectionRef, uint64_t> &place) {
  std::string why;
  for (const SectionRef &section : file.sections()) {
    ELFSectionRef elf(section);
    if (!(elf.getFlags() & ELF::SHF_ALLOC))
      continue;
    StringRef name, contents;
    if (!take(section.getName(), name, why))
      return broken(why);
    if (name.starts_with(".eh_frame") || section.getSize() == 0)
      continue;
    if (elf.getFlags() & ELF::SHF_WRITE)
      return broken("writable section " + name);
    if (!take(section.getContents(), contents, why))
      return broken(why);
    bytes.resize(alignTo(bytes.size(), std::max<uint64_t>(section.getAlignment().value(), 16)));
    place[section] = bytes.size();
    bytes.insert(bytes.end(), contents.bytes_begin(), contents.bytes_end());
  }
  return Status::ok();
}

/// Offsets in the image by name.
using Symbols = std::map<std::string, uint64_t>;

static Status relocate(const ELF64LEObjectFile &file, const RelocationRef &relocation,
                       uint64_t base, const std::map<SectionRef, uint64_t> &place,
                       const Symbols &shared, std::vector<uint8_t> &bytes) {
  std::string why;
  symbol_iterator symbol = relocation.getSymbol();
  if (symbol == file.symbol_end())
    return broken("relocation without a symbol");
  section_iterator section = file.section_end();
  StringRef name;
  uint64_t value = 0;
  int64_t addend = 0;
  if (!take(symbol->getSection(), section, why) || !take(symbol->getName(), name, why) ||
      !take(symbol->getValue(), value, why) ||
      !take(ELFRelocationRef(relocation).getAddend(), addend, why))
    return broken(why);
  uint64_t target = 0;
  if (auto other = shared.find(name.str()); section == file.section_end() && other != shared.end())
    target = other->second;
  else if (section == file.section_end() && (name == "fma" || name == "fmaf"))
    return Status(ErrorCode::Unsupported,
                  "[cpu] the program needs fused multiply-add, which the CPU features lack (fma)");
  else if (section == file.section_end())
    return broken("code calls '" + name + "', which no kernel may");
  else if (auto own = place.find(*section); own != place.end())
    target = own->second + value;
  else
    return broken("reference to a section that is not part of the image");
  uint64_t type = relocation.getType(), at = base + relocation.getOffset();
  if (type != ELF::R_X86_64_PC32 && type != ELF::R_X86_64_PLT32)
    return broken("relocation type " + Twine(type) + " is not relative");
  int64_t offset = static_cast<int64_t>(target) + addend - static_cast<int64_t>(at);
  if (!isInt<32>(offset) || at + 4 > bytes.size())
    return broken("relocation out of range");
  support::endian::write32le(bytes.data() + at, static_cast<uint32_t>(offset));
  return Status::ok();
}

namespace {
struct Object {
  std::unique_ptr<ELF64LEObjectFile> file;
  std::map<SectionRef, uint64_t> place;
};
} // namespace

static Status collectSymbols(const Object &object, Symbols &symbols) {
  std::string why;
  for (const SymbolRef &symbol : object.file->symbols()) {
    section_iterator section = object.file->section_end();
    StringRef name;
    uint64_t value = 0;
    uint32_t flags = 0;
    if (!take(symbol.getFlags(), flags, why) || !take(symbol.getSection(), section, why) ||
        !take(symbol.getName(), name, why))
      return broken(why);
    if (section == object.file->section_end() || !object.place.count(*section) ||
        !(flags & SymbolRef::SF_Global))
      continue;
    if (!take(symbol.getValue(), value, why))
      return broken(why);
    symbols[name.str()] = object.place.at(*section) + value;
  }
  return Status::ok();
}

static Status relocateSections(const Object &object, const Symbols &symbols,
                               std::vector<uint8_t> &bytes) {
  std::string why;
  for (const SectionRef &section : object.file->sections()) {
    section_iterator patched = object.file->section_end();
    if (!take(section.getRelocatedSection(), patched, why))
      return broken(why);
    if (patched == object.file->section_end())
      continue;
    auto base = object.place.find(*patched);
    if (base == object.place.end())
      continue;
    for (const RelocationRef &relocation : section.relocations())
      GRAPHC_TRY(relocate(*object.file, relocation, base->second, object.place, symbols, bytes));
  }
  return Status::ok();
}

Result<Image> emit::buildImage(ArrayRef<StringRef> files, const std::vector<std::string> &symbols) {
  Image image;
  std::vector<Object> objects(files.size());
  Symbols shared;
  for (auto [bytes, object] : zip_equal(files, objects)) {
    auto file = ELF64LEObjectFile::create(MemoryBufferRef(bytes, "kernels"));
    if (!file)
      return broken(toString(file.takeError()));
    object.file = std::make_unique<ELF64LEObjectFile>(std::move(*file));
    GRAPHC_TRY(placeSections(*object.file, image.bytes, object.place));
    GRAPHC_TRY(collectSymbols(object, shared));
  }
  for (const Object &object : objects)
    GRAPHC_TRY(relocateSections(object, shared, image.bytes));
  for (const std::string &name : symbols) {
    auto it = shared.find(name);
    if (it == shared.end())
      return broken("no symbol " + name);
    image.entries.push_back(it->second);
  }
  return image;
}
