//===- OpenSize.h - Sizes that depend on data -------------------------------------------------===//
//
// `x[mask]` has as many rows as the mask has true elements. Nobody counts them when it is recorded:
// the array has an open size, a bound together with a count that is computed like any other value.
//
// In a traced function, and on devices whose memory the host does not see, what is recorded on such
// arrays works on all rows up to the bound: those beyond the count hold values that do no harm, and
// are left out where rows meet. The count stays where it was computed. Where a look costs nothing
// but the look, nothing is recorded at first but types, and the values at their exact sizes once
// they are asked for; then what is made of such values (a sum of the rows) waits as well, though
// its shape is known. Both give the same bits. Whoever asks for a shape has the count looked at.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_OPENSIZE_H
#define GRAPHC_FRONTENDS_RECORD_OPENSIZE_H

#include "frontends/record/Ops.h"
#include "frontends/record/Record.h"

#include <functional>
#include <memory>
#include <optional>

namespace graphc {

/// A count between 0 and a bound. Its nodes belong to the trace it was made in. Use under one lock
/// (the front end's).
class OpenSize {
public:
  /// How many elements of a mask of any shape are true; the same object while somebody holds it,
  /// also for a mask that was recorded again by the same operations.
  static std::shared_ptr<OpenSize> ofMask(const NodeRef &mask);
  /// A count (0-d int64) that is at most `bound`.
  OpenSize(NodeRef count, int64_t bound) : countNode(std::move(count)), most(bound) {}

  int64_t bound() const { return most; }
  /// Null for a count that is not of a mask.
  const NodeRef &mask() const { return maskNode; }
  /// 0-d int64.
  Result<NodeRef> count();
  /// Of a shape whose first size is the bound: whether an element is in a row before the count.
  Result<NodeRef> present(const Shape &shape);
  /// int64(bound): places of the true elements of the flattened mask, then copies of the last; 0
  /// where there is none.
  Result<NodeRef> positions();
  /// Computes the count (reason "mask"). Trace error where it depends on arguments of a traced
  /// function.
  Result<int64_t> look();

private:
  NodeRef maskNode, countNode, positionsNode;
  int64_t most = 0;
  std::optional<int64_t> known;
};

/// How an array of an open size is recorded at its exact size. What other arrays are made of is
/// held as recipes: no value up to the bound outlives the array that shows it.
class OpenRecipe {
public:
  using Exactly = std::function<Result<NodeRef>()>;
  /// `size` is null for values of a known shape. `depth`: of the recipes it is made of.
  OpenRecipe(std::shared_ptr<OpenSize> size, Exactly exactly, int depth);

  const std::shared_ptr<OpenSize> &size() const { return rows; }
  uint64_t traceId() const { return trace; }
  /// No chain of recipes is longer than kMostDeep.
  int depth() const { return level; }
  static constexpr int kMostDeep = 24;
  /// Whether it may be part of what is recorded now.
  bool isCurrent() const;
  /// The rows there are; looks at the count. Trace error as OpenSize::look().
  Result<NodeRef> exact();
  /// Whether exact() was asked before, so that it costs nothing.
  bool isMade() const { return node != nullptr; }
  /// The same of a value up to the bound that was computed.
  Result<NodeRef> exactOf(const NodeRef &filled);

private:
  std::shared_ptr<OpenSize> rows;
  uint64_t trace;
  int level;
  Location location = RecordScope::location();
  uint32_t errors = RecordScope::errors();
  Exactly make;
  NodeRef node;
};

/// The value of an array whose first size is open: up to the bound (a placeholder of that type
/// where only types are recorded), and how it is recorded at the exact size.
class OpenValue {
public:
  /// Rows beyond the count are copies of the last, as far as operations of single elements go.
  OpenValue(NodeRef filled, std::shared_ptr<OpenRecipe> recipe)
      : filledNode(std::move(filled)), how(std::move(recipe)) {}
  const NodeRef &filled() const { return filledNode; }
  const std::shared_ptr<OpenRecipe> &recipe() const { return how; }
  const std::shared_ptr<OpenSize> &size() const { return how->size(); }
  Result<NodeRef> exact();

private:
  NodeRef filledNode;
  std::shared_ptr<OpenRecipe> how;
};

/// How many elements of a mask are true; computes it (reason "mask").
Result<int64_t> countTrue(const NodeRef &mask);
/// Places of the true elements of a mask, row-major: of known length, computed when needed.
Result<NodeRef> countedPositions(const NodeRef &mask);
/// The first rows of a value.
Result<NodeRef> firstRows(const NodeRef &x, int64_t count);

namespace ops::open {

/// Whether the elements of this mask are counted only when a shape is asked for. One of "auto" is
/// computed to see: where it is found on the host, a look costs nothing but the look.
Result<bool> countsLater(const NodeRef &mask);
bool isAny(std::span<const Operand> operands);
/// The same array at its exact size.
Result<Array> fixed(const Array &x);

/// What `record` gives for operands some of which have open sizes: of an open size, when they all
/// have the same one and `record` treats their rows apart; else at exact sizes.
using Record = std::function<Result<Array>(std::span<const Operand>)>;
Result<Array> apply(std::span<const Operand> operands, const Record &record);

/// As the functions of the same names in Ops.h, for arrays of open sizes.
Result<Array> reduce(op::ReduceKind kind, const Array &x, const Axes &axes, bool keepdims,
                     std::optional<DType> dtype);
Result<Array> scan(op::ReduceKind kind, const Array &x, std::optional<int64_t> axis,
                   std::optional<DType> dtype);
Status inPlace(op::OpKind kind, Array &x, const Operand &y);
Result<Array> take(const Array &x, std::span<const KeyItem> key);
Status put(Array &x, std::span<const KeyItem> key, const Operand &value,
           std::optional<op::OpKind> combine);
/// Rows that a mask of the first axes chooses, whose elements are counted later.
Result<Array> chosen(const Array &x, const Array &mask);
/// Elements or rows named by integers of open sizes, an array an axis from the first on.
Result<Array> named(const Array &x, std::span<const Array> indices);
Result<Array> flatNonzero(const NodeRef &mask);
/// Of an array of an open size: its rows up to the bound, and the count (0-d int64).
Result<std::pair<Array, Array>> parts(const Array &x);
Result<Array> ofParts(const Array &rows, const Array &count);
/// A value that is known to have the size of another: the rows of `x` up to its bound.
Result<Array> ofSize(const Array &x, const Array &like);

} // namespace ops::open
} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_OPENSIZE_H
