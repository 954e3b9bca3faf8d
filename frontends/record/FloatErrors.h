//===- FloatErrors.h - Which operation met an infinity or a NaN -------------------------------===//
//
// What is to happen at a division by zero, an overflow, an underflow or an invalid operation is
// taken when an operation is recorded. Programs of such operations say at little cost whether any
// value became infinite or NaN (compiler/passes/fuse/Watch.h); only then the operations are asked
// one by one, by a program of their own, and from then on, while they meet errors, by the one that
// computes them.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_FLOATERRORS_H
#define GRAPHC_FRONTENDS_RECORD_FLOATERRORS_H

#include "frontends/record/Snapshot.h"
#include "runtime/exec/Executor.h"

#include <algorithm>
#include <span>

namespace graphc {

enum class FloatError : uint8_t { Divide, Over, Under, Invalid };
inline constexpr int kFloatErrors = 4;

/// What is done about each error, in kModeBits bits each, 0 for nothing; what the other values and
/// the bits above mean is the language binding's.
struct FloatModes {
  static constexpr int kModeBits = 3;
  static constexpr uint32_t kUnder = 7u << (kModeBits * static_cast<int>(FloatError::Under));
  static constexpr uint32_t kAll = (1u << (kModeBits * kFloatErrors)) - 1;
  static constexpr uint32_t of(uint32_t word, FloatError e) {
    return word >> (kModeBits * static_cast<int>(e)) & 7u;
  }
  /// The mode of errors that are told once for each line, however often it meets them.
  static constexpr uint32_t kOnce = 6;
  /// Mode 1 for all but underflow.
  static constexpr uint32_t kDefault = 0b001'000'001'001;
};

/// Of this thread, for what is recorded from here on. Returns the former word.
uint32_t setFloatModes(uint32_t word);
uint32_t floatModes();
/// Where a language binding keeps the word instead. Set once, before recording.
struct ModesKeeper {
  uint32_t (*now)() = nullptr;
  uint32_t (*change)(uint32_t word) = nullptr; ///< the former word
};
void setModesKeeper(ModesKeeper keeper);
/// What is left of the modes for an operation that is recorded now, by the language binding.
using ModesFilter = uint32_t (*)(uint32_t word);
void setModesFilter(ModesFilter filter);
uint32_t modesNow();

/// Tells of an error of what is being recorded, as `modes` say, a word of RecordScope::errors().
Status tellNow(FloatError error, op::OpKind kind, uint32_t modes);

/// One operation that met an error.
struct FloatReport {
  FloatError error;
  op::OpKind kind;
  Location location;
  uint32_t modes;
  bool operator==(const FloatReport &) const = default;
};
/// Told after an evaluation what its operations met, in their order; its status is that of the
/// evaluation, whose results stand. Set once, before recording.
using FloatSink = Status (*)(std::span<const FloatReport> reports);
void setFloatSink(FloatSink sink);

/// Whether an operation can meet one.
bool mayMeetFloatErrors(const Node &node);
/// Whether underflow is one.
bool mayUnderflow(op::OpKind kind, DType t);
inline bool mayUnderflow(const Node &node) { return mayUnderflow(node.kind(), node.dtype()); }
/// Whether runs on a device are listened to for underflow (UnderflowFlag), and the operations asked
/// where something was heard; elsewhere they always are.
bool listensForUnderflow(const SegmentCode &code, const rt::Device &device);
inline bool mustAskForUnderflow(const SegmentCode &code, const rt::Device &device) {
  return code.asksForUnderflow && !listensForUnderflow(code, device);
}
/// Whether a run that reported so needs a look at the operations.
inline bool needsLook(const SegmentCode &code, const rt::RunReport &report) {
  return code.watches() && (report.watched || report.underflowed);
}
/// Whether an input's value, in host memory, holds no infinity and no NaN. Only such a one may be
/// overwritten by a run that watches: what is bad afterwards is the run's doing. Looks at the
/// elements at most once.
bool isFinite(const Node &input);
/// The same for a segment's literals.
bool areFinite(std::span<const SegmentCode::Literal> literals);
/// Whether a run may write its results over one of its inputs: all are finite, so that whatever it
/// meets is its own doing, and the inputs need not be asked (lookAtResults). Results do not show
/// what underflowed.
inline bool mayVanish(const SegmentCode &code, std::span<const NodeRef> inputs) {
  return !code.watches() ||
         (!code.asksForUnderflow && areFinite(code.literals) &&
          std::ranges::all_of(inputs, [](const NodeRef &n) { return isFinite(*n); }));
}
/// Takes down which results of a segment are finite, as far as that follows from its operations and
/// inputs, after a run of a program that watches so and met nothing. With `look`, inputs are looked
/// at, too.
void noteFinite(const SegmentCode &code, op::Watch watch, std::span<const NodeRef> inputs,
                std::span<const NodeRef> outputs, bool look);
/// How runs of a structure tell what they met.
enum class Telling : uint8_t {
  Values,     ///< some value is infinite or NaN; then the operations are asked
  Operations, ///< the same of operations that made one: such values were in the data before
  Results,    ///< operations are asked where they are computed: before, some had met an error
};
Telling tellingOf(const Digest &structure);
Telling tellingOf(const SegmentCode &code, const rt::Device &device);

struct Questions;
/// Computes the results of a segment together with what its operations are asked, and the answers,
/// which nobody has read. Results that are inputs are those.
Result<std::vector<NodeRef>> computeAsking(const Segment &segment, std::span<const NodeRef> inputs,
                                           rt::Device &device, bool mayInterpret,
                                           Questions &questions);
/// Reads the answers and keeps what was met for deliverFloatErrors().
Status noteAnswers(const Questions &questions);
/// Asks the operations of a segment that ran on `inputs` by a program of its own, and keeps what
/// they met. Evaluates.
Status lookForFloatErrors(const Segment &segment, std::span<const NodeRef> inputs,
                          rt::Device &device, bool mayInterpret = false);
/// The same when the inputs, which were finite, are gone: the last operation is held responsible
/// for what is in the results; where nothing is seen in them, the last that may hide there.
Status lookAtResults(const Segment &segment, std::span<const NodeRef> results);
/// How many errors wait for deliverFloatErrors() in this thread, and what leaves one of each kind
/// among those from `first` on: pieces of one program meet the same.
size_t floatErrorsMet();
void mergeFloatErrors(size_t first);
/// Tells the sink what this thread's evaluations met.
Status deliverFloatErrors();

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_FLOATERRORS_H
