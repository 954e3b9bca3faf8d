//===- Reader.cpp - Bounds-checked reading of program blobs -----------------------------------===//
#include "runtime/program/Reader.h"

#include "runtime/base/Digest.h"
#include "runtime/base/Shape.h"
#include "runtime/base/Strings.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace graphc::program {

/// Fills a Program section by section; each step relies only on what earlier steps established.
class Parser {
public:
  explicit Parser(std::vector<uint8_t> bytes) { p.blob = std::move(bytes); }

  Result<Program> run() {
    GRAPHC_TRY(readHeader());
    GRAPHC_TRY(readSections());
    GRAPHC_TRY(checkMeta());
    GRAPHC_TRY(checkSizes());
    GRAPHC_TRY(checkBuffers());
    GRAPHC_TRY(checkTensors());
    GRAPHC_TRY(checkKernels());
    GRAPHC_TRY(checkSteps());
    return std::move(p);
  }

private:
  template <typename... Args>
  static Status bad(fmt::format_string<Args...> form, Args &&...args) {
    return {ErrorCode::Corrupt, "[program] " + fmt::format(form, std::forward<Args>(args)...)};
  }

  Status readHeader() {
    if (p.blob.size() < sizeof(Header))
      return bad("{} bytes are too few for a program", p.blob.size());
    std::memcpy(&header, p.blob.data(), sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
      return bad("not a graphc program");
    if (header.version != kVersion)
      return bad("format version {} (this runtime reads version {})", header.version, kVersion);
    if (header.totalBytes != p.blob.size())
      return bad("{} bytes where the header says {}", p.blob.size(), header.totalBytes);
    if (header.target != static_cast<uint32_t>(Target::Cpu) &&
        header.target != static_cast<uint32_t>(Target::OpenCL))
      return bad("unknown target {}", header.target);
    if (header.reserved != 0)
      return bad("a reserved field is not zero");
    Digest digest = digestOf(std::span(p.blob).subspan(sizeof(Header)));
    if (digest.low != header.checksum[0] || digest.high != header.checksum[1])
      return bad("checksum does not match");
    p.programTarget = static_cast<Target>(header.target);
    return Status::ok();
  }

  static size_t recordBytes(Section s) {
    switch (s) {
    case Section::Strings:
    case Section::Code:
    case Section::Data:
    case Section::Il:
    case Section::Binary:
      return 1;
    case Section::Words:
      return sizeof(uint32_t);
    case Section::Sizes:
      return sizeof(SizeRecord);
    case Section::Checks:
      return sizeof(CheckRecord);
    case Section::Inputs:
    case Section::Outputs:
      return sizeof(TensorRecord);
    case Section::Buffers:
      return sizeof(BufferRecord);
    case Section::Kernels:
      return sizeof(KernelRecord);
    case Section::Steps:
      return sizeof(StepRecord);
    case Section::Meta:
      return sizeof(MetaRecord);
    case Section::Faults:
      return sizeof(FaultRecord);
    case Section::Calls:
      return sizeof(CallRecord);
    }
    return 0;
  }

  Status readSections() {
    constexpr uint32_t kEnd = Program::kSectionEnd;
    if (header.sectionCount >= kEnd)
      return bad("{} sections (at most {} exist)", header.sectionCount, kEnd - 1);
    size_t tableEnd = sizeof(Header) + header.sectionCount * sizeof(SectionRecord);
    if (tableEnd > p.blob.size())
      return bad("the section table ends outside the program");
    for (uint32_t i = 0; i < header.sectionCount; ++i) {
      SectionRecord r;
      std::memcpy(&r, p.blob.data() + sizeof(Header) + i * sizeof r, sizeof r);
      if (r.section == 0 || r.section >= kEnd)
        return bad("unknown section {}", r.section);
      Program::Range &range = p.ranges[r.section];
      if (range.offset != 0)
        return bad("section {} appears twice", r.section);
      auto kind = static_cast<Section>(r.section);
      if (r.offset < tableEnd || r.offset % alignmentOf(kind) != 0 || r.offset > p.blob.size() ||
          r.bytes > p.blob.size() - r.offset)
        return bad("section {} lies outside the program", r.section);
      if (r.bytes != r.count * static_cast<uint64_t>(recordBytes(kind)))
        return bad("section {} has {} bytes for {} records", r.section, r.bytes, r.count);
      range = {static_cast<size_t>(r.offset), static_cast<size_t>(r.bytes)};
    }
    copy(Section::Words, p.wordPool);
    copy(Section::Sizes, p.sizeRecords);
    copy(Section::Checks, p.checkRecords);
    copy(Section::Inputs, p.inputRecords);
    copy(Section::Outputs, p.outputRecords);
    copy(Section::Buffers, p.bufferRecords);
    copy(Section::Kernels, p.kernelRecords);
    copy(Section::Steps, p.stepRecords);
    copy(Section::Faults, p.faultRecords);
    copy(Section::Calls, p.callRecords);
    return Status::ok();
  }

  // Copied out of the blob, so that records are aligned objects of their type whatever the blob's
  // storage.
  template <typename Record>
  void copy(Section s, std::vector<Record> &records) {
    static_assert(std::is_trivially_copyable_v<Record>);
    std::span<const uint8_t> source = p.section(s);
    records.resize(source.size() / sizeof(Record));
    if (!source.empty())
      std::memcpy(records.data(), source.data(), source.size());
  }

  Status checkString(String s, const char *what) const {
    size_t bytes = p.section(Section::Strings).size();
    if (s.offset > bytes || s.bytes > bytes - s.offset)
      return bad("the {} lies outside the strings", what);
    return Status::ok();
  }

  Status checkWords(uint32_t first, uint32_t count, const char *what) const {
    if (first > p.wordPool.size() || count > p.wordPool.size() - first)
      return bad("the {} lie outside the words", what);
    return Status::ok();
  }

  Status checkSizeNumber(uint32_t number, const char *what) const {
    if (number >= p.sizeRecords.size())
      return bad("{} refers to size {} of {}", what, number, p.sizeRecords.size());
    return Status::ok();
  }

  Status checkMeta() {
    std::span<const uint8_t> meta = p.section(Section::Meta);
    if (meta.size() != sizeof(MetaRecord))
      return bad("{} bytes of metadata instead of {}", meta.size(), sizeof(MetaRecord));
    std::memcpy(&p.metaRecord, meta.data(), sizeof(MetaRecord));
    GRAPHC_TRY(checkString(p.metaRecord.name, "function name"));
    GRAPHC_TRY(checkString(p.metaRecord.isa, "feature list"));
    GRAPHC_TRY(checkString(p.metaRecord.compiler, "compiler id"));
    GRAPHC_TRY(checkString(p.metaRecord.explain, "report"));
    return Status::ok();
  }

  Status checkSizes() {
    for (size_t i = 0; i < p.sizeRecords.size(); ++i) {
      const SizeRecord &s = p.sizeRecords[i];
      switch (static_cast<SizeKind>(s.kind)) {
      case SizeKind::Constant:
        break;
      case SizeKind::InputDim:
        if (s.a >= p.inputRecords.size() || s.b >= p.inputRecords[s.a].rank)
          return bad("size {} is axis {} of input {}, which does not exist", i, s.b, s.a);
        break;
      case SizeKind::Argument:
        if (s.a >= p.metaRecord.sizeArguments)
          return bad("size {} is argument {} of {}", i, s.a, p.metaRecord.sizeArguments);
        break;
      case SizeKind::Add:
      case SizeKind::Sub:
      case SizeKind::Mul:
      case SizeKind::FloorDiv:
      case SizeKind::CeilDiv:
      case SizeKind::Min:
      case SizeKind::Max:
        if (s.a >= i || s.b >= i)
          return bad("size {} uses a size that is not computed before it", i);
        break;
      default:
        return bad("size {} has unknown kind {}", i, s.kind);
      }
    }
    for (const CheckRecord &c : p.checkRecords) {
      GRAPHC_TRY(checkSizeNumber(c.a, "a check"));
      GRAPHC_TRY(checkSizeNumber(c.b, "a check"));
      GRAPHC_TRY(checkString(c.what, "text of a check"));
    }
    return Status::ok();
  }

  Status checkBuffers() {
    for (size_t i = 0; i < p.bufferRecords.size(); ++i) {
      const BufferRecord &b = p.bufferRecords[i];
      if (b.dtype >= static_cast<uint32_t>(kDTypeCount))
        return bad("buffer {} has unknown dtype {}", i, b.dtype);
      GRAPHC_TRY(checkSizeNumber(b.elements, "a buffer"));
      switch (static_cast<BufferKind>(b.kind)) {
      case BufferKind::Input:
        if (b.a >= p.inputRecords.size() || p.inputRecords[b.a].buffer != i)
          return bad("buffer {} is input {}, which does not exist or has another buffer", i, b.a);
        break;
      case BufferKind::Output:
        if (b.a >= p.outputRecords.size())
          return bad("buffer {} is output {}, which does not exist", i, b.a);
        break;
      case BufferKind::Temp:
        break;
      case BufferKind::Constant:
        GRAPHC_TRY(checkConstant(i, b));
        break;
      case BufferKind::Faults:
        GRAPHC_TRY(checkFaults(i, b));
        break;
      default:
        return bad("buffer {} has unknown kind {}", i, b.kind);
      }
      GRAPHC_TRY(checkDonor(i, b));
    }
    return Status::ok();
  }

  Status checkDonor(size_t number, const BufferRecord &b) const {
    auto kind = static_cast<BufferKind>(b.kind);
    bool written = kind == BufferKind::Output || kind == BufferKind::Temp;
    if (b.donor == kNone || (written && b.donor < p.inputRecords.size()))
      return Status::ok();
    return bad("buffer {} has a donor {} that it cannot have", number, b.donor);
  }

  Status checkFaults(size_t number, const BufferRecord &b) {
    const SizeRecord &elements = p.sizeRecords[b.elements];
    if (static_cast<SizeKind>(elements.kind) != SizeKind::Constant ||
        elements.value != kFaultWords || b.dtype != static_cast<uint32_t>(graphc::DType::Int64))
      return bad("buffer {} is not {} words for faults", number, kFaultWords);
    if (p.faultBufferNumber)
      return bad("buffer {} is a second one for faults", number);
    p.faultBufferNumber = static_cast<uint32_t>(number);
    for (const FaultRecord &f : p.faultRecords)
      GRAPHC_TRY(checkString(f.line, "line of a fault"));
    return Status::ok();
  }

  Status checkConstant(size_t number, const BufferRecord &b) const {
    const SizeRecord &elements = p.sizeRecords[b.elements];
    size_t available = p.section(Section::Data).size();
    if (static_cast<SizeKind>(elements.kind) != SizeKind::Constant || elements.value < 0)
      return bad("constant buffer {} has no constant size", number);
    auto bytes = checkedMul(elements.value, itemSize(static_cast<graphc::DType>(b.dtype)));
    if (b.a % 64 != 0 || b.a > available || !bytes ||
        static_cast<uint64_t>(*bytes) > available - b.a)
      return bad("constant buffer {} lies outside the data", number);
    return Status::ok();
  }

  Status checkTensor(const TensorRecord &t, const char *what, size_t number) const {
    if (t.rank > static_cast<uint32_t>(kMaxRank))
      return bad("{} {} has rank {}", what, number, t.rank);
    GRAPHC_TRY(checkWords(t.dims, t.rank, "dimensions of a tensor"));
    for (uint32_t size : p.dims(t))
      GRAPHC_TRY(checkSizeNumber(size, "a tensor"));
    if (t.buffer >= p.bufferRecords.size())
      return bad("{} {} has no buffer", what, number);
    if (t.dtype != p.bufferRecords[t.buffer].dtype)
      return bad("{} {} and its buffer have different dtypes", what, number);
    return checkString(t.name, "name of a tensor");
  }

  Status checkTensors() {
    for (size_t i = 0; i < p.inputRecords.size(); ++i) {
      GRAPHC_TRY(checkTensor(p.inputRecords[i], "input", i));
      const BufferRecord &b = p.bufferRecords[p.inputRecords[i].buffer];
      if (static_cast<BufferKind>(b.kind) != BufferKind::Input || b.a != i)
        return bad("input {} is not in its buffer", i);
    }
    for (size_t i = 0; i < p.outputRecords.size(); ++i) {
      GRAPHC_TRY(checkTensor(p.outputRecords[i], "output", i));
      auto kind = static_cast<BufferKind>(p.bufferRecords[p.outputRecords[i].buffer].kind);
      if (kind != BufferKind::Output && kind != BufferKind::Input)
        return bad("output {} is neither an output buffer nor an input", i);
    }
    return Status::ok();
  }

  static bool isIdentifier(std::string_view text) {
    auto word = [](char c, bool first) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (!first && c >= '0' && c <= '9');
    };
    for (size_t i = 0; i < text.size(); ++i)
      if (!word(text[i], i == 0))
        return false;
    return !text.empty();
  }

  /// Drivers take the bytes of a launch's local memory in 32 bits.
  static bool isLocalBytes(const SizeRecord &size) {
    return static_cast<SizeKind>(size.kind) == SizeKind::Constant && size.value >= 0 &&
           size.value <= std::numeric_limits<int32_t>::max();
  }

  /// Whether so many bytes hold an address.
  static bool isWord(const SizeRecord &size) {
    return static_cast<SizeKind>(size.kind) == SizeKind::Constant &&
           size.value >= static_cast<int64_t>(sizeof(void *));
  }

  Status checkKernels() {
    for (size_t i = 0; i < p.kernelRecords.size(); ++i) {
      const KernelRecord &k = p.kernelRecords[i];
      GRAPHC_TRY(checkString(k.name, "name of a kernel"));
      GRAPHC_TRY(checkString(k.lines, "lines of a kernel"));
      if (k.family > static_cast<uint32_t>(KernelFamily::Sort))
        return bad("kernel {} has unknown family {}", i, k.family);
      if (k.checks > static_cast<uint32_t>(IndexChecks::Alone))
        return bad("kernel {} has unknown index checks {}", i, k.checks);
      if (k.checks == static_cast<uint32_t>(IndexChecks::Alone))
        GRAPHC_TRY(checkWords(k.checkReads, k.bufferCount, "index flags of a kernel"));
      GRAPHC_TRY(checkWords(k.writes, k.bufferCount, "write flags of a kernel"));
      if (k.scratch != kNone)
        GRAPHC_TRY(checkSizeNumber(k.scratch, "a kernel"));
      if (!(k.costPerItem >= 0) || !std::isfinite(k.costPerItem))
        return bad("kernel {} has no valid cost", i);
      if (p.programTarget == Target::Cpu) {
        if (k.entry >= p.section(Section::Code).size())
          return bad("kernel {} starts outside the code", i);
        if (k.grain == 0)
          return bad("kernel {} has grain 0", i);
        if (k.itemsPerThread == 0)
          return bad("kernel {} has pieces of no items", i);
        if (k.itemsPerThread > 1 && (k.scratch == kNone || !isWord(p.sizeRecords[k.scratch])))
          return bad("kernel {} waits, and has no scratch memory for it", i);
      } else {
        if (k.itemsPerThread == 0 && k.group == 0)
          return bad("kernel {} has neither items per thread nor a group", i);
        if (k.scratch != kNone && !isLocalBytes(p.sizeRecords[k.scratch]))
          return bad("kernel {} has no fixed local memory", i);
        if (!isIdentifier(p.text(k.name)))
          return bad("the name of kernel {} is not an identifier", i);
      }
    }
    return Status::ok();
  }

  Status checkWritable(size_t step, uint32_t buffer) const {
    auto kind = static_cast<BufferKind>(p.bufferRecords[buffer].kind);
    if (kind == BufferKind::Input || kind == BufferKind::Constant)
      return bad("step {} writes buffer {}, which is an input or a constant", step, buffer);
    return Status::ok();
  }

  Status checkSteps() {
    for (size_t i = 0; i < p.stepRecords.size(); ++i) {
      const StepRecord &s = p.stepRecords[i];
      GRAPHC_TRY(checkWords(s.buffers, s.bufferCount, "buffers of a step"));
      GRAPHC_TRY(checkWords(s.sizes, s.sizeCount, "sizes of a step"));
      for (uint32_t buffer : p.stepBuffers(s))
        if (buffer >= p.bufferRecords.size())
          return bad("step {} refers to buffer {} of {}", i, buffer, p.bufferRecords.size());
      for (uint32_t size : p.stepSizes(s))
        GRAPHC_TRY(checkSizeNumber(size, "a step"));
      if (static_cast<StepKind>(s.kind) == StepKind::Launch)
        GRAPHC_TRY(checkLaunch(i, s));
      else if (static_cast<StepKind>(s.kind) == StepKind::Copy)
        GRAPHC_TRY(checkCopy(i, s));
      else if (static_cast<StepKind>(s.kind) == StepKind::Call)
        GRAPHC_TRY(checkCall(i, s));
      else
        return bad("step {} has unknown kind {}", i, s.kind);
      GRAPHC_TRY(checkTile(i));
    }
    return Status::ok();
  }

  // Tiles are numbered in the order of their steps, which follow each other.
  Status checkTile(size_t number) {
    const StepRecord &s = p.stepRecords[number];
    if (s.tile == kNone)
      return Status::ok();
    if (static_cast<StepKind>(s.kind) != StepKind::Launch)
      return bad("step {} is in a tile and no launch", number);
    GRAPHC_TRY(checkSizeNumber(s.rows, "a tile"));
    if (s.skew != kNone)
      GRAPHC_TRY(checkSizeNumber(s.skew, "a tile"));
    const StepRecord *before = number ? &p.stepRecords[number - 1] : nullptr;
    if (before && before->tile == s.tile)
      return before->skew == s.skew ? Status::ok()
                                    : bad("step {} has another skew than its tile", number);
    if (s.tile != tileCount)
      return bad("step {} is in tile {}, which is not the next one", number, s.tile);
    ++tileCount;
    return Status::ok();
  }

  Status checkLaunch(size_t number, const StepRecord &s) const {
    if (s.kernel >= p.kernelRecords.size())
      return bad("step {} launches kernel {} of {}", number, s.kernel, p.kernelRecords.size());
    const KernelRecord &k = p.kernelRecords[s.kernel];
    GRAPHC_TRY(checkSizeNumber(s.range, "a launch"));
    if (s.work != kNone)
      GRAPHC_TRY(checkSizeNumber(s.work, "a launch"));
    if (s.bufferCount != k.bufferCount || s.sizeCount != k.sizeCount)
      return bad("step {} passes {} buffers and {} sizes to a kernel of {} and {}", number,
                 s.bufferCount, s.sizeCount, k.bufferCount, k.sizeCount);
    for (uint32_t i = 0; i < s.bufferCount; ++i)
      if (p.writes(k)[i] != 0)
        GRAPHC_TRY(checkWritable(number, p.stepBuffers(s)[i]));
    return Status::ok();
  }

  // What the routine takes is checked when it is run: it depends on sizes.
  Status checkCall(size_t number, const StepRecord &s) const {
    if (s.kernel >= p.callRecords.size())
      return bad("step {} uses library call {} of {}", number, s.kernel, p.callRecords.size());
    const CallRecord &c = p.callRecords[s.kernel];
    GRAPHC_TRY(checkString(c.routine, "routine of a call"));
    GRAPHC_TRY(checkString(c.lines, "lines of a call"));
    if (s.bufferCount < 2)
      return bad("step {} passes {} buffers to a routine", number, s.bufferCount);
    GRAPHC_TRY(checkWords(c.ranks, s.bufferCount, "ranks of a call"));
    if (c.paramCount > p.wordPool.size() / 2)
      return bad("step {} passes {} parameters", number, c.paramCount);
    GRAPHC_TRY(checkWords(c.params, 2 * c.paramCount, "parameters of a call"));
    uint64_t sizes = 0;
    for (uint32_t rank : p.callRanks(s)) {
      if (rank > static_cast<uint32_t>(kMaxRank))
        return bad("step {} passes a tensor of rank {}", number, rank);
      sizes += rank;
    }
    if (sizes != s.sizeCount)
      return bad("step {} passes {} sizes of {}", number, s.sizeCount, sizes);
    std::span<const uint32_t> buffers = p.stepBuffers(s);
    for (size_t i = 0; i + 1 < buffers.size(); ++i)
      if (buffers[i] == buffers.back())
        return bad("step {} writes a buffer that it reads", number);
    return checkWritable(number, buffers.back());
  }

  Status checkCopy(size_t number, const StepRecord &s) const {
    if (s.bufferCount != 2 || s.sizeCount != 0)
      return bad("step {} copies {} buffers", number, s.bufferCount);
    std::span<const uint32_t> buffers = p.stepBuffers(s);
    if (p.bufferRecords[buffers[0]].dtype != p.bufferRecords[buffers[1]].dtype)
      return bad("step {} copies between dtypes", number);
    return checkWritable(number, buffers[0]);
  }

  Program p;
  Header header = {};
  uint32_t tileCount = 0; ///< met so far
};

Result<Program> Program::parse(std::vector<uint8_t> bytes) {
  return Parser(std::move(bytes)).run();
}

std::string_view Program::text(String s) const {
  std::span<const uint8_t> bytes = section(Section::Strings).subspan(s.offset, s.bytes);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::span<const uint32_t> Program::words(uint32_t first, uint32_t count) const {
  return std::span(wordPool).subspan(first, count);
}

std::string_view targetName(Target target) { return target == Target::Cpu ? "cpu" : "opencl"; }

std::string_view familyName(KernelFamily family) {
  constexpr std::string_view kNames[] = {"map",      "rows", "columns", "full",
                                         "contract", "fold", "scan",    "sort"};
  return kNames[static_cast<int>(family)];
}

} // namespace graphc::program
