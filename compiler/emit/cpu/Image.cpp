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

static Status relocate(const ELF64LEObjectFile &file, const RelocationRef &relocation,
                       uint64_t base, const std::map<SectionRef, uint64_t> &place,
                       std::vector<uint8_t> &bytes) {
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
  if (section == file.section_end() && (name == "fma" || name == "fmaf"))
    return Status(ErrorCode::Unsupported,
                  "[cpu] the program needs fused multiply-add, which the CPU features lack (fma)");
  if (section == file.section_end())
    return broken("code calls '" + name + "', which no kernel may");
  auto target = place.find(*section);
  if (target == place.end())
    return broken("reference to a section that is not part of the image");
  uint64_t type = relocation.getType(), at = base + relocation.getOffset();
  if (type != ELF::R_X86_64_PC32 && type != ELF::R_X86_64_PLT32)
    return broken("relocation type " + Twine(type) + " is not relative");
  int64_t offset = static_cast<int64_t>(target->second + value) + addend - static_cast<int64_t>(at);
  if (!isInt<32>(offset) || at + 4 > bytes.size())
    return broken("relocation out of range");
  support::endian::write32le(bytes.data() + at, static_cast<uint32_t>(offset));
  return Status::ok();
}

Result<Image> emit::buildImage(StringRef object, const std::vector<std::string> &symbols) {
  Expected<ELF64LEObjectFile> file = ELF64LEObjectFile::create(MemoryBufferRef(object, "kernels"));
  if (!file)
    return broken(toString(file.takeError()));
  Image image;
  std::map<SectionRef, uint64_t> place;
  GRAPHC_TRY(placeSections(*file, image.bytes, place));
  std::string why;
  for (const SectionRef &section : file->sections()) {
    section_iterator patched = file->section_end();
    if (!take(section.getRelocatedSection(), patched, why))
      return broken(why);
    if (patched == file->section_end())
      continue;
    auto base = place.find(*patched);
    if (base == place.end())
      continue;
    for (const RelocationRef &relocation : section.relocations())
      GRAPHC_TRY(relocate(*file, relocation, base->second, place, image.bytes));
  }
  std::map<std::string, uint64_t> offsets;
  for (const SymbolRef &symbol : file->symbols()) {
    section_iterator section = file->section_end();
    StringRef name;
    uint64_t value = 0;
    if (!take(symbol.getSection(), section, why) || !take(symbol.getName(), name, why))
      return broken(why);
    if (section == file->section_end() || !place.count(*section))
      continue;
    if (!take(symbol.getValue(), value, why))
      return broken(why);
    offsets[name.str()] = place[*section] + value;
  }
  for (const std::string &name : symbols) {
    auto it = offsets.find(name);
    if (it == offsets.end())
      return broken("no symbol " + name);
    image.entries.push_back(it->second);
  }
  return image;
}
