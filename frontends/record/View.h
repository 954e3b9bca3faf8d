//===- View.h - What part of a storage an array shows -----------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_VIEW_H
#define GRAPHC_FRONTENDS_RECORD_VIEW_H

#include "dialects/opset/Infer.h"
#include "frontends/record/Node.h"

#include <algorithm>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace graphc {

/// One item of a basic index, as NumPy has them.
struct IndexItem {
  enum class Kind : uint8_t { Integer, Slice, Ellipsis, NewAxis };
  Kind kind = Kind::Ellipsis;
  int64_t integer = 0;                      ///< Integer
  std::optional<int64_t> start, stop, step; ///< Slice
};

/// A number an axis; a few need no allocation.
class AxisList : public Shape {
public:
  using Shape::Shape;
  void push_back(int64_t v) {
    if (large()) {
      Shape old = *this;
      resize(old.size() + 1);
      std::copy(old.begin(), old.end(), begin());
    } else {
      resize(size() + 1);
    }
    (*this)[size() - 1] = v;
  }
  void insert(size_t at, int64_t v) {
    push_back(v);
    std::rotate(begin() + at, end() - 1, end());
  }
  void clear() { resize(0); }
  std::vector<int64_t> vector() const { return {begin(), end()}; }

private:
  /// Whether another element may move the others.
  bool large() const { return size() >= 6; }
};

/// Elements starts + i * steps of every source axis (i < counts), then result axis k is source axis
/// axes[k], or a new axis of size 1 when axes[k] is -1. Source axes that no result axis names have
/// count 1.
struct StridedStep {
  AxisList starts, steps, counts;
  AxisList axes;
};
struct ReshapeStep {
  Shape to;
};
struct BroadcastStep {
  Shape to;
};
/// One part of complex elements: 0 real, 1 imaginary.
struct PartStep {
  int64_t part;
  DType of; ///< complex
};
/// The same bytes as elements of another dtype (Recast.h).
struct RecastStep {
  DType from, to;
};
/// Elements of the base at an offset and strides (elements), which may overlap. Where
/// it is the first step and the layout is known, the whole view is one such step.
struct LayoutStep {
  Shape shape, strides;
  int64_t offset;
};
using ViewStep =
    std::variant<StridedStep, ReshapeStep, BroadcastStep, PartStep, RecastStep, LayoutStep>;

/// A chain of movements from a dense row-major base, and the layout NumPy would report for it
/// (offset and strides in elements; of the dtype it shows, if not the base's). Consecutive strided
/// steps are merged. A plain value.
class View {
public:
  View() = default;
  explicit View(const Shape &base);

  const Shape &base() const { return baseShape; }
  const Shape &shape() const { return viewShape; }
  const Shape &strides() const { return viewStrides; } ///< elements
  int64_t offset() const { return viewOffset; }
  bool isWhole() const { return steps.empty(); }
  bool isReadOnly() const { return readOnly; }
  /// The error of writing to one that is read-only.
  Status mayBeWritten() const;
  /// The dtype of what it shows, if that was once another than the base's.
  std::optional<DType> dtype() const { return shown; }
  bool isRecast() const { return shown.has_value(); }
  void lock() { readOnly = true; }
  /// Whether offset and strides describe where the base's elements are; false after a write-through
  /// reshape that NumPy would have answered with a copy (then()).
  bool hasLayout() const { return layoutKnown; }
  /// Row-major without gaps: NumPy's C_CONTIGUOUS.
  bool isContiguous() const;
  /// All elements of the base in its order, or all its bytes as elements of another dtype (but not
  /// as bools, which are 0 or 1).
  bool isReshape() const;
  /// Half-open range of base elements the view touches; empty when it has none.
  std::pair<int64_t, int64_t> extent() const;

  /// Basic indexing. IndexOutOfBounds and NumPy's words on error.
  Result<View> index(std::span<const IndexItem> items) const;
  /// The same in the place, and the memory, of another view; after an error that may be any view.
  Status index(std::span<const IndexItem> items, View &out) const;
  View transpose(std::span<const int64_t> permutation) const;
  /// The same in the place, and the memory, of another view.
  void transpose(std::span<const int64_t> permutation, View &out) const;
  /// Size-1 axes at the given places of the result (sorted).
  View expand(std::span<const int64_t> axes) const;
  /// Without the given size-1 axes (sorted).
  View squeeze(std::span<const int64_t> axes) const;
  View flip(std::span<const int64_t> axes) const;
  /// Nothing when NumPy would have to copy. `to` has the view's element count.
  std::optional<View> reshape(const Shape &to) const;
  /// Read-only. `to` is a shape this view's broadcasts to.
  View broadcast(const Shape &to) const;

  /// The real (0) or imaginary (1) parts of a view of elements of the complex dtype `of`.
  View part(int64_t number, DType of) const;

  /// The same bytes as elements of another dtype, read-only where bools become others; the error of
  /// recastShape, and one for a last axis with gaps where the width changes.
  Result<View> recast(DType from, DType to) const;

  /// The base's elements, or parts of them, at `offset` and `strides` (as offset() and strides()
  /// count), for a known layout. Nothing when one of them is outside of the base.
  std::optional<View> strided(const Shape &to, const Shape &strides, int64_t offset) const;

  /// This view's view `inner`, whose base has this view's shape.
  View then(const View &inner) const;

  /// The node of the view's value, given the base's.
  Result<NodeRef> get(NodeRef base) const;
  /// The base after `value` (of the view's shape and dtype) was written through the view.
  Result<NodeRef> put(NodeRef base, NodeRef value) const;

private:
  /// Makes `out` one of this base whose only step is the one that is given, still to be filled.
  StridedStep &begin(View &out) const;
  Status indexBy(std::span<const IndexItem> items, StridedStep &step, View &out) const;
  View withStep(StridedStep step, Shape shape, Shape strides, int64_t offset) const;
  StridedStep identity() const;
  View withRecast(RecastStep step) const;
  Shape sourceShape(size_t step) const;
  DType baseDType() const; ///< of a recast view
  /// Whether offset and strides are all that says where elements are.
  bool isByLayout() const;
  Shape baseShape, viewShape, viewStrides;
  int64_t viewOffset = 0;
  std::optional<DType> shown;
  bool readOnly = false;
  bool layoutKnown = true;
  std::vector<ViewStep> steps;
};

/// Row-major strides in elements.
Shape denseStrides(std::span<const int64_t> shape);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_VIEW_H
