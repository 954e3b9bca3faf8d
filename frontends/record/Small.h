//===- Small.h - Loops over small arrays ------------------------------------------------------===//
//
// A loop of the user's program over small arrays costs what recording and launching cost, not what
// computing costs, and every turn may be another program. A line that has recorded an operation on
// small arrays often enough is taken for such a loop: from then on its operations are computed when
// they are met, with the bits of a kernel. What is not known here, and what there is something to
// say about (FloatErrors.h), is recorded as ever.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALL_H
#define GRAPHC_FRONTENDS_RECORD_SMALL_H

#include "frontends/record/Ops.h"
#include "runtime/library/Pcg64.h"

#include <optional>

namespace graphc::small {

/// Operands that are pending and have more bytes stay so, and what reads them is recorded.
inline constexpr int64_t kMostBytes = 32 << 10;
/// Results and operands of more bytes are recorded: mostBytes(), and more in functions that are
/// called while one of these lives.
class Wider {
public:
  Wider();
  ~Wider();
  Wider(const Wider &) = delete;
  Wider &operator=(const Wider &) = delete;
};
int64_t mostBytes();
/// Products of more multiplications, about ten microseconds, are recorded.
int64_t mostWork();
/// What has more elements is computed only where operations of a loop, or the program itself, read
/// in every turn what it is made for: else it is better fused.
inline constexpr int64_t kFew = 2 << 10;
/// Up to so many, that is.
inline constexpr int64_t kMostRead = 16 << 10;

bool broadcasts(std::span<const int64_t> from, std::span<const int64_t> to);

/// A computed value, or null when it has to be recorded. Errors are those of computing operands.
using Outcome = Result<NodeRef>;

/// After how many turns a line is taken for a loop (GRAPHC_LOOP_TURNS); kNever: none is. Returns
/// what held before, and forgets the turns counted so far.
inline constexpr int kNever = 255;
int setLoopTurns(int wanted);
int loopTurns();
/// Whether an operation with a result of so many elements, recorded now, belongs to a loop. Counts
/// it as a turn of one unless it is only asked. Needs a RecordScope.
bool isLoop(op::OpKind kind, int64_t elements, const rt::Device &device, bool counts = true);

/// Bytes that a value reaches up to which it is small: first runs need no compiler (Interpret.cpp).
inline constexpr int64_t kMostReach = 2 << 20;

/// Whether a single value that is pending is computed where it was recorded: made of small arrays
/// it costs no more now than later, and is an object that compiled code of others takes for a
/// number (bindings/ScalarTypes.h).
bool isComputedAtOnce(const Node &single);

/// Takes down that the program looks at a single value that is pending: where it does so in a loop
/// over small arrays, what the value is made of is computed at once from the next turns on.
void noteLook(const NodeRef &value);

/// Takes down that a value that is pending is computed for the program: where so little is computed
/// with it that fusing it saves less than recording it costs, it is made at once from the next
/// turns on.
void noteAsked(const NodeRef &value);

/// Takes down that a loop writes single elements of a value that is pending: it is made at once
/// from the next turns on.
void noteWritten(const NodeRef &value);
/// Whether one value everywhere, recorded now, is written to so.
bool isWrittenAtOnce(int64_t bytes, const rt::Device &device);

/// `kind` on operands that are converted to `t` first, which broadcast to `shape`.
Outcome elementwise(op::OpKind kind, std::span<const Operand> operands, DType t, const Shape &shape,
                    rt::Device &device);
/// The same of single values that are known, with kinds that hasLoop() does not know; nothing where
/// that has to be recorded.
Result<std::optional<KnownValue>> valueByUnit(op::OpKind kind, std::span<const Operand> operands,
                                              DType t, rt::Device &device);
/// Whether there is a loop of an operation on elements of dtype `t`.
bool hasLoop(op::OpKind kind, DType t);
/// What an operation reads: elements that lie side by side, or one for all places of the result.
struct Source {
  const void *data = nullptr;
  bool steps = true;
};
/// out[i] = kind(a[i], b[i]) of elements of dtype `t`, which has a loop (an operation of one
/// operand is given it twice). False where it has to be recorded; what `out` has is nothing then.
/// Needs a RecordScope.
bool computeDense(op::OpKind kind, DType t, Source a, Source b, int64_t count, void *out);
/// The same of a condition and two choices, of which one at least steps, and of a conversion.
bool selectDense(DType t, Source condition, Source a, Source b, int64_t count, void *out);
bool castDense(DType from, const void *elements, DType to, void *out, int64_t count);
/// The same of operations that have no loop, on the first `count` elements of buffers.
Result<bool> computeByUnit(op::OpKind kind, DType t, std::span<rt::Buffer *const> operands,
                           rt::Buffer &out, int64_t count);
/// `value` everywhere.
Outcome full(const Shape &shape, const op::Scalar &value, DType t, rt::Device &device);
/// first + i * step of float64 for i < count, with a kernel's roundings; what is left out is not
/// computed, which shows in the signs of zeros.
struct Steps {
  double first, step;
  bool isUnit, startsAtZero;
};
Outcome steps(const Steps &steps, int64_t count, rt::Device &device);
/// The same of int64, which wrap around.
Outcome steps(int64_t first, int64_t step, int64_t count, rt::Device &device);
/// 0, 1, ..., count - 1.
Outcome iota(int64_t count, DType t, rt::Device &device);
/// A copy as dtype `t`.
Outcome cast(const Array &x, DType t);
/// From so many on each array of a join would cost more as a kernel than as a copy: what is pending
/// among them is better computed first.
inline constexpr size_t kVeryMany = 64;
inline constexpr int64_t kMostOfVeryMany = 1 << 20; ///< bytes of each
/// Whether so many arrays of the host are put together where they are recorded, as a loop collected
/// them: of `most` bytes each at most, and `joined` in all.
inline bool isCollection(size_t count, int64_t most, int64_t joined) {
  constexpr size_t kMany = 16;
  constexpr int64_t kMostJoined = 64 << 20;
  return count >= kMany && most <= (count >= kVeryMany ? kMostOfVeryMany : kMostBytes) &&
         joined <= kMostJoined;
}
/// The same of arrays that are computed, as dtype `t`.
bool isCollection(std::span<const Array> xs, DType t);
/// Along `axis`, as dtype `t`.
Outcome concatenate(std::span<const Array> xs, DType t, size_t axis);
/// Over `axes` (sorted), as dtype `t`; the result takes `shape`.
Outcome reduce(op::ReduceKind kind, const Array &x, std::span<const int64_t> axes, DType t,
               const Shape &shape);
/// A reduction of all truth values of `x`, which are computed, where they lie: what decides is
/// looked for, and what is added is counted. Nothing for other arrays and kinds.
std::optional<KnownValue> decided(op::ReduceKind kind, const Array &x, std::optional<DType> wanted);
/// The same where the axes are several groups of neighbours: the last group first, then the others
/// of what it gave.
Outcome reduceByGroups(op::ReduceKind kind, const Array &x, std::span<const int64_t> axes, DType t,
                       const Shape &shape);
/// Running combinations along an axis.
Outcome scan(op::ReduceKind kind, const Array &x, size_t axis, DType t, const Shape &shape);
/// What a routine of the host library gives for small operands; whatever it raises is left to the
/// recorded one.
Outcome library(Routine routine, std::span<const Array> operands, std::span<const int64_t> params,
                const op::TensorType &result);
/// How often each integer from 0 to the largest occurs in a vector, at least `least` counts.
/// Negative integers and long results have to be recorded.
Outcome bincount(const Array &x, int64_t least);
/// Of vectors and matrices, as dtype `t`; the result takes `shape`.
Outcome matmul(const Array &x, const Array &y, DType t, const Shape &shape);
/// Which of two complex vectors has its conjugates in a sum of products.
enum class Conjugate { None, Longer, Shorter };
/// The sums over k of short[k] * long[j + k - (size of short - 1)] for `count` j from `first` on,
/// without the products beyond the ends: 64 a chain of fused multiply-adds, k rising. Vectors of
/// one dtype.
Outcome correlate(const Array &x, const Array &shorter, int64_t first, int64_t count,
                  Conjugate conjugate);
/// Writes a value that broadcasts to what `target` shows. False when it has to be recorded.
Result<bool> assign(Array &target, const Operand &value);
/// target = kind(target, value) for what a view shows; the value broadcasts to it and has its
/// dtype. False when it has to be recorded.
Result<bool> update(op::OpKind kind, Array &target, const Operand &value);
/// x[index] and target[index] = value of one array of integers (the shape of either: rowsShape) or
/// a mask of the first axis. What is outside of that axis has to be recorded. `axis`: of another.
Outcome takeRows(const Array &x, const Array &index, size_t axis = 0);
Result<bool> putRows(Array &target, const Array &index, const Operand &value);
/// The same for combine(element, value) of a vector, one value after the other.
Result<bool> combineRows(Array &target, const Array &index, const Operand &value,
                         op::OpKind combine);
Shape rowsShape(const Array &x, const Array &index, size_t axis = 0);
/// The row-major places that arrays of integers name, one an axis of `shape`, broadcast to `of`;
/// null where one is not computed or something is outside.
Outcome flatPlaces(std::span<const Array> indices, const Shape &shape, const Shape &of);
/// Sorts the rows of a small array in its own memory. False when that has to be recorded.
Result<bool> sortNow(Array &x, bool descending);
/// A vector in ascending order (Routine::Sort), or the places of its elements in that order
/// (Routine::Argsort).
Outcome sorted(const Array &x, Routine routine);
/// The distinct elements of a vector in ascending order; of NaNs one.
Outcome distinct(const Array &x);
/// A vector (Routine::Partition), or the places of its elements (Routine::Argpartition), with what
/// sorting puts from `first` to `last` there.
Outcome parted(const Array &x, int64_t first, int64_t last, Routine routine);
/// Where an element of this pattern belongs in a sorted vector, before its equals or behind them;
/// nothing where the vector is not computed.
Result<std::optional<int64_t>> placeAmong(const Array &sorted, uint64_t bits, bool isLeft);
/// For each integer the element of the choice that it names; choices of one dtype that broadcast to
/// the integers. Null where one names none.
Outcome chosen(const Array &index, std::span<const Array> choices);
/// Each element of a vector so many times.
Outcome repeated(const Array &x, int64_t times);
/// Where a mask is true, in row-major order.
Outcome flatNonzero(const Array &mask);
/// Floats of random bits (docs/random.md): multiples of 2^-53 in [0, 1), of 2^-52 plus half of that
/// in (0, 1), and those of float32.
enum class Draw { Unit64, Open64, Unit32, Open32 };
/// A stream of a key; or, of a stride, the streams first, first + stride, ..., each for one row.
struct Streams {
  uint64_t first, key, stride;
};
/// x becomes x * factor + shift, both rounded; all of them are finite.
struct Scale {
  double factor = 1, shift = 0;
};
/// What streams give for `shape`, with a kernel's bits; nothing where that has to be recorded.
/// `scale` is of float64. Needs a RecordScope, outside traces.
Result<std::optional<Array>> draw(Draw kind, const Shape &shape, const Streams &from,
                                  rt::Device &device, const Scale *scale = nullptr);
/// The same of uniform int64 in [low, low + last], of two streams each.
Result<std::optional<Array>> drawIntegers(int64_t low, uint64_t last, const Shape &shape,
                                          const Streams &from, rt::Device &device);
/// A random order of 0, 1, ..., count - 1.
Result<std::optional<Array>> drawOrder(int64_t count, const Streams &from, rt::Device &device);
/// Float64 numbers of NumPy's PCG64 on the host, uniform or normal, whatever their count; and of
/// any of NumPy's bit generators, integers from shift on as well.
Result<Array> drawPcg64(bool isNormal, const Shape &shape, const Scale &scale,
                        rt::library::Pcg64 &bits, rt::Device &device);
enum class NumpysDraw { Uniform, Normal, Integers, MaskedIntegers };
Result<Array> drawNumpys(NumpysDraw kind, const Shape &shape, const Scale &scale, int64_t low,
                         uint32_t last, const rt::library::BitSource &bits, rt::Device &device);
/// A computed copy of what a view of a computed array shows, so that whatever is recorded next has
/// the same structure wherever that is; null when the view has to be recorded.
Outcome detached(const Array &x);
/// The array of a value that was computed; of a single one without a storage.
Array arrayOf(NodeRef node);

/// Philox64 or Philox32 of indices, a stream and a key; null where streams or keys are several.
Outcome randomBits(op::OpKind kind, std::span<const Operand> operands, const Shape &shape,
                   rt::Device &device);

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALL_H
