//===- Reader.h - Bounds-checked reading of program blobs -------------------------------------===//
#ifndef GRAPHC_RUNTIME_PROGRAM_READER_H
#define GRAPHC_RUNTIME_PROGRAM_READER_H

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::program {

/// A program whose every offset, count and index has been checked. Owns its bytes; immutable; moves
/// keep all views valid.
///
/// After parse() these hold: size operands refer to earlier sizes, inputs and axes that exist;
/// every buffer, kernel, size and word number is in range; steps pass as many buffers and sizes as
/// their kernel takes; no step writes an input or a constant; constants lie inside Data; kernel
/// entries lie inside Code; dtypes and kinds are known values.
class Program {
public:
  /// Corrupt with the reason, e.g. "[program] checksum does not match"; never reads outside
  /// `bytes`.
  static Result<Program> parse(std::vector<uint8_t> bytes);

  Target target() const { return programTarget; }
  std::span<const uint8_t> bytes() const { return blob; }
  std::span<const SizeRecord> sizes() const { return sizeRecords; }
  std::span<const CheckRecord> checks() const { return checkRecords; }
  std::span<const TensorRecord> inputs() const { return inputRecords; }
  std::span<const TensorRecord> outputs() const { return outputRecords; }
  std::span<const BufferRecord> buffers() const { return bufferRecords; }
  std::span<const KernelRecord> kernels() const { return kernelRecords; }
  std::span<const StepRecord> steps() const { return stepRecords; }
  std::span<const FaultRecord> faults() const { return faultRecords; }
  /// The buffer of kind Faults, if there is one.
  std::optional<uint32_t> faultBuffer() const { return faultBufferNumber; }
  std::span<const CallRecord> calls() const { return callRecords; }
  std::span<const uint8_t> code() const { return section(Section::Code); }
  std::span<const uint8_t> il() const { return section(Section::Il); }
  std::span<const uint8_t> binary() const { return section(Section::Binary); }
  std::span<const uint8_t> data() const { return section(Section::Data); }
  const MetaRecord &meta() const { return metaRecord; }

  std::string_view text(String s) const;
  std::span<const uint32_t> words(uint32_t first, uint32_t count) const;
  /// Size numbers of a tensor's dimensions.
  std::span<const uint32_t> dims(const TensorRecord &t) const { return words(t.dims, t.rank); }
  std::span<const uint32_t> writes(const KernelRecord &k) const {
    return words(k.writes, k.bufferCount);
  }
  /// Of a kernel whose checks are IndexChecks::Alone.
  std::span<const uint32_t> checkReads(const KernelRecord &k) const {
    return words(k.checkReads, k.bufferCount);
  }
  std::span<const uint32_t> stepBuffers(const StepRecord &s) const {
    return words(s.buffers, s.bufferCount);
  }
  /// Ranks of the tensors of a library step.
  std::span<const uint32_t> callRanks(const StepRecord &s) const {
    return words(callRecords[s.kernel].ranks, s.bufferCount);
  }
  /// The n-th parameter of a library call.
  int64_t callParam(const CallRecord &c, uint32_t n) const {
    std::span<const uint32_t> pair = words(c.params + 2 * n, 2);
    return static_cast<int64_t>(static_cast<uint64_t>(pair[1]) << 32 | pair[0]);
  }
  std::span<const uint32_t> stepSizes(const StepRecord &s) const {
    return words(s.sizes, s.sizeCount);
  }

private:
  friend class Parser;
  Program() = default;
  std::span<const uint8_t> section(Section s) const {
    return std::span(blob).subspan(ranges[static_cast<int>(s)].offset,
                                   ranges[static_cast<int>(s)].bytes);
  }

  struct Range {
    size_t offset = 0;
    size_t bytes = 0;
  };
  static constexpr int kSectionEnd = static_cast<int>(Section::Binary) + 1;

  std::vector<uint8_t> blob;
  Target programTarget = Target::Cpu;
  Range ranges[kSectionEnd];
  std::vector<uint32_t> wordPool;
  std::vector<SizeRecord> sizeRecords;
  std::vector<CheckRecord> checkRecords;
  std::vector<TensorRecord> inputRecords;
  std::vector<TensorRecord> outputRecords;
  std::vector<BufferRecord> bufferRecords;
  std::vector<KernelRecord> kernelRecords;
  std::vector<StepRecord> stepRecords;
  std::vector<FaultRecord> faultRecords;
  std::optional<uint32_t> faultBufferNumber;
  std::vector<CallRecord> callRecords;
  MetaRecord metaRecord = {};
};

/// "cpu", "opencl".
std::string_view targetName(Target target);
/// "map", "rows", ...
std::string_view familyName(KernelFamily family);

} // namespace graphc::program

#endif // GRAPHC_RUNTIME_PROGRAM_READER_H
