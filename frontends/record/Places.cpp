// Indices with arrays: NumPy's advanced indexing as gathers and scatters.
#include "frontends/record/GatheredRows.h"
#include "frontends/record/IndexChecks.h"
#include "frontends/record/InterpretPlain.h"
#include "frontends/record/Known.h"
#include "frontends/record/Layout.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Ops.h"
#include "frontends/record/OpsDetail.h"
#include "frontends/record/Record.h"
#include "frontends/record/Small.h"
#include "frontends/record/Spread.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"
#include "runtime/drivers/Choice.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace graphc::ops {
namespace {

using detail::finish;
using detail::trimmed;
using strings::format;

int64_t elementsOf(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  return n;
}

/// Positions that the host finds are computed by themselves where `x` may be on another device:
/// what they name is then gathered there.
Status settleFor(const Array &x, const NodeRef &positions) {
  if (!rt::choicesOf(x.device()) || Trace::active() || !positions->isOp() ||
      positions->kind() != op::OpKind::Library)
    return Status::ok();
  GRAPHC_ASSIGN(NodeRef from, x.value());
  return isReadHere(*from) ? Status::ok() : evaluate({&positions, 1}, "mask");
}

/// x[key] as a view of what is whole, a shape for it in which masked axes are one, and places.
struct Resolved {
  Array whole;
  Shape merged;
  node::Places places;
  Shape placesShape;
  Shape result;
  int64_t position = 0;
  bool unique = false;
  NodeRef mask; ///< when it is all that names places
};

/// A mask's own axes in the array it indexes; an axis without elements fits any, as in NumPy.
Status checkMask(std::span<const int64_t> mask, std::span<const int64_t> x, size_t first) {
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0 && mask[i] != x[first + i])
      return Status(ErrorCode::Index,
                    format("boolean index did not match indexed array along axis {}; size of axis "
                           "is {} but size of corresponding boolean axis is {}",
                           first + i, x[first + i], mask[i]));
  return Status::ok();
}

/// Source axes that one item takes.
int64_t axesTaken(const KeyItem &item) {
  if (item.flag)
    return 0;
  if (item.array)
    return item.array->dtype() == DType::Bool ? item.array->rank() : 1;
  return item.basic.kind == IndexItem::Kind::Integer || item.basic.kind == IndexItem::Kind::Slice;
}

Status checkDepth(std::span<const KeyItem> key, int64_t rank) {
  int64_t used = 0, ellipses = 0;
  for (const KeyItem &item : key) {
    used += axesTaken(item);
    ellipses += item.isBasic() && item.basic.kind == IndexItem::Kind::Ellipsis;
  }
  if (ellipses > 1)
    return Status(ErrorCode::Index, "an index can only have a single ellipsis ('...')");
  if (used > rank)
    return Status(ErrorCode::Index, format("too many indices for array: array is {}-dimensional, "
                                           "but {} were indexed",
                                           rank, used));
  return Status::ok();
}

/// One array of a key, over axes [axis, axis + taken) of the view.
struct Item {
  NodeRef index; ///< of any integer dtype
  int64_t axis, taken;
  int64_t sourceAxis;
};

class Resolver {
public:
  Resolver(const Array &x, std::span<const KeyItem> key) : x(x), key(key) {}

  Result<Resolved> run() {
    GRAPHC_TRY(checkDepth(key, x.rank()));
    GRAPHC_TRY(walk());
    GRAPHC_ASSIGN(View view, x.view().index(basic));
    out.whole = x.withView(std::move(view));
    GRAPHC_TRY(broadcastIndices());
    mergeAxes();
    if (elementsOf(out.result) == 0 && elementsOf(out.placesShape) != 0)
      for (const Item &item : items)
        if (item.taken == 1)
          GRAPHC_TRY(checkUnmet(item.index, item.sourceAxis,
                                x.shape()[static_cast<size_t>(item.sourceAxis)]));
    return std::move(out);
  }

private:
  /// Basic items with whole slices in the arrays' places, and what the arrays are.
  Status walk() {
    int64_t used = 0, source = 0;
    for (const KeyItem &item : key)
      used += axesTaken(item);
    for (const KeyItem &item : key) {
      bool advanced = !item.isBasic() || item.basic.kind == IndexItem::Kind::Integer;
      if (advanced && !started)
        out.position = axis - gathered;
      // Arrays apart from each other put their axes first.
      apart |= advanced && started && !lastAdvanced;
      started |= advanced;
      lastAdvanced = advanced;
      if (item.isBasic()) {
        basic.push_back(item.basic);
        switch (item.basic.kind) {
        case IndexItem::Kind::Ellipsis:
          axis += x.rank() - used;
          source += x.rank() - used;
          break;
        case IndexItem::Kind::Integer:
          ++source;
          break;
        case IndexItem::Kind::Slice:
          ++source;
          ++axis;
          break;
        case IndexItem::Kind::NewAxis:
          ++axis;
          break;
        }
        continue;
      }
      if (item.flag) {
        flagShapes.push_back(Shape{*item.flag ? 1 : 0});
        continue;
      }
      GRAPHC_TRY(addArray(*item.array, source));
      source += axesTaken(item);
    }
    if (apart)
      out.position = 0;
    return Status::ok();
  }

  Status addArray(const Array &array, int64_t source) {
    if (&array.device() != &x.device())
      return Status(ErrorCode::Device,
                    format("[getitem] array is on {}, index on {}; use to_device",
                           x.device().info().name, array.device().info().name));
    GRAPHC_ASSIGN(NodeRef n, array.value());
    if (array.dtype() != DType::Bool) {
      if (!isInteger(array.dtype()))
        return Status(ErrorCode::Index,
                      "arrays used as indices must be of integer (or boolean) type");
      GRAPHC_TRY(checkIndex(n, source, x.shape()[static_cast<size_t>(source)]));
      items.push_back({n, axis, 1, source});
    } else {
      GRAPHC_TRY(checkMask(array.shape(), x.shape(), static_cast<size_t>(source)));
      GRAPHC_ASSIGN(NodeRef positions, countedPositions(n));
      GRAPHC_TRY(settleFor(x, positions));
      items.push_back({positions, axis, array.rank(), source});
      out.mask = n;
      ++masks;
    }
    for (int64_t i = 0; i < items.back().taken; ++i)
      basic.push_back(IndexItem{IndexItem::Kind::Slice, 0, {}, {}, {}});
    axis += items.back().taken;
    gathered += items.back().taken;
    return Status::ok();
  }

  Status broadcastIndices() {
    std::vector<std::span<const int64_t>> shapes;
    for (const Item &item : items)
      shapes.push_back(item.index->shape());
    for (const Shape &s : flagShapes)
      shapes.push_back(s);
    auto common = op::broadcastShapes("getitem", shapes);
    if (!common) {
      std::string all;
      for (auto s : shapes)
        all += op::compactShape(s) + " ";
      return Status(ErrorCode::Index,
                    "shape mismatch: indexing arrays could not be broadcast together with shapes " +
                        all);
    }
    out.placesShape = *common;
    for (const Item &item : items) {
      GRAPHC_ASSIGN(NodeRef wide, node::cast(item.index, DType::Int64));
      GRAPHC_ASSIGN(wide, node::broadcast(wide, *common));
      out.places.indices.push_back(std::move(wide));
    }
    out.unique = masks == 1 && items.size() == 1;
    if (!out.unique || !flagShapes.empty() || out.placesShape.rank() != 1)
      out.mask = nullptr;
    return Status::ok();
  }

  /// Axes of one mask become one axis.
  void mergeAxes() {
    std::vector<int64_t> dims, kept;
    const Shape &shape = out.whole.shape();
    size_t next = 0;
    for (int64_t a = 0; a < shape.rank();) {
      if (next == items.size() || items[next].axis != a) {
        dims.push_back(shape[static_cast<size_t>(a)]);
        kept.push_back(shape[static_cast<size_t>(a++)]);
        continue;
      }
      int64_t taken = items[next++].taken;
      out.places.axes.push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(elementsOf(std::span<const int64_t>(shape).subspan(
          static_cast<size_t>(a), static_cast<size_t>(taken))));
      a += taken;
    }
    out.merged = Shape(std::span<const int64_t>(dims));
    out.places.position = out.position;
    kept.insert(kept.begin() + out.position, out.placesShape.begin(), out.placesShape.end());
    out.result = Shape(std::span<const int64_t>(kept));
  }

  const Array &x;
  std::span<const KeyItem> key;
  Resolved out;
  std::vector<IndexItem> basic;
  std::vector<Item> items;
  std::vector<Shape> flagShapes;
  int64_t axis = 0, gathered = 0, masks = 0;
  bool started = false, lastAdvanced = false, apart = false;
};

/// `value` as a node of the dtype and shape that is written.
Result<NodeRef> valueNode(const Operand &value, DType dtype, rt::Device &device) {
  if (value.array) {
    if (&value.array->device() != &device)
      return Status(ErrorCode::Device,
                    format("[setitem] target is on {}, value on {}; use to_device",
                           device.info().name, value.array->device().info().name));
    GRAPHC_ASSIGN(NodeRef n, value.array->value());
    return node::cast(n, dtype);
  }
  DType own = value.dtype.value_or(dtype);
  GRAPHC_ASSIGN(NodeRef n, node::scalar(value.scalar, own, device));
  return node::cast(n, dtype);
}

/// The only array of a key, when that is a mask and nothing else is advanced.
std::optional<size_t> onlyMask(std::span<const KeyItem> key) {
  std::optional<size_t> found;
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i].isBasic() && key[i].basic.kind != IndexItem::Kind::Integer)
      continue;
    if (found || !key[i].array || key[i].array->dtype() != DType::Bool)
      return std::nullopt;
    found = i;
  }
  return found;
}

/// Rows of so many elements are written one by one where a mask chooses less than one in
/// kRowsRead; shorter ones are read and written all.
constexpr int64_t kLongRow = 16, kRowsRead = 4, kManyElements = 1 << 16;

/// The same of shorter rows of elements of a byte: each element is written by itself then.
constexpr int64_t kBytesRead = 32;

/// Whether a mask whose values are known chooses few rows, of `length` elements, of what has `size`
/// elements of dtype `t`.
Result<bool> choosesFewRows(const Array &mask, int64_t size, int64_t length, DType t) {
  if (size < kManyElements || size < kLongRow * mask.size())
    return false;
  GRAPHC_ASSIGN(NodeRef n, mask.value());
  if (!isReadHere(*n))
    return false;
  GRAPHC_ASSIGN(NodeRef positions, countedPositions(n));
  const bool isLine = length >= kLongRow || positions->shape()[0] == 1; // else pieces of one
  const int64_t most = isLine ? kRowsRead : std::max(kRowsRead, kBytesRead / itemSize(t));
  return positions->shape()[0] * most < mask.size();
}

/// x[..., mask, ...] = value where the value does not change along the masked elements: a choice
/// that fuses. Nothing when it does.
Result<bool> putByChoice(Array &x, std::span<const KeyItem> key, const NodeRef &value) {
  auto at = onlyMask(key);
  if (!at)
    return false;
  GRAPHC_TRY(checkDepth(key, x.rank()));
  const Array &mask = *key[*at].array;
  int64_t used = 0, first = 0, source = 0;
  for (const KeyItem &item : key)
    used += axesTaken(item);
  std::vector<IndexItem> basic;
  for (size_t i = 0; i < key.size(); ++i) {
    const KeyItem &item = key[i];
    bool ellipsis = item.isBasic() && item.basic.kind == IndexItem::Kind::Ellipsis;
    if (i < *at) {
      first += ellipsis ? x.rank() - used : 1; // masks and integers aside, each item is one axis
      source += ellipsis ? x.rank() - used : axesTaken(item);
    }
    if (item.isBasic())
      basic.push_back(item.basic);
    else
      basic.insert(basic.end(), static_cast<size_t>(mask.rank()),
                   IndexItem{IndexItem::Kind::Slice, 0, {}, {}, {}});
  }
  GRAPHC_TRY(checkMask(mask.shape(), x.shape(), static_cast<size_t>(source)));
  GRAPHC_ASSIGN(View view, x.view().index(basic));
  Array target = x.withView(std::move(view));
  if (mask.rank() == 0)
    return false;
  const auto behind = static_cast<size_t>(first + mask.rank());
  const int64_t length = elementsOf(std::span<const int64_t>(target.shape()).subspan(behind));
  GRAPHC_ASSIGN(bool isFew, choosesFewRows(mask, target.size(), length, x.dtype()));
  if (isFew)
    return false;
  // The value's axes: those before the mask, the count, those after.
  int64_t after = target.rank() - first - mask.rank();
  Shape from = trimmed(value->shape(), first + 1 + after);
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < from.rank(); ++i) {
    int64_t place = i - from.rank() + after; // -1: the count
    int64_t size = from[static_cast<size_t>(i)];
    if (place == -1 && size != 1)
      return false;
    if (place == -1)
      dims.insert(dims.end(), static_cast<size_t>(mask.rank()), 1);
    else
      dims.push_back(size);
  }
  std::span<const int64_t> shapes[] = {dims, target.shape()};
  auto common = op::broadcastShapes("setitem", shapes);
  if (!common || !(*common == target.shape()))
    return false;
  GRAPHC_ASSIGN(NodeRef shaped, node::reshape(value, Shape(std::span<const int64_t>(dims))));
  GRAPHC_ASSIGN(NodeRef wide, node::broadcast(shaped, target.shape()));
  GRAPHC_ASSIGN(NodeRef condition, mask.value());
  std::vector<int64_t> lifted(mask.shape().begin(), mask.shape().end());
  lifted.insert(lifted.end(), static_cast<size_t>(after), 1);
  GRAPHC_ASSIGN(condition, node::reshape(condition, Shape(std::span<const int64_t>(lifted))));
  GRAPHC_ASSIGN(condition, node::broadcast(condition, target.shape()));
  GRAPHC_ASSIGN(NodeRef old, target.value());
  NodeRef operands[] = {condition, wide, old};
  GRAPHC_ASSIGN(NodeRef next, node::make(op::OpKind::Select, operands, {}, {}, x.device()));
  GRAPHC_TRY(target.assign(next));
  return true;
}

Status cannotBroadcast(std::span<const KeyItem> key, const Array &x, const Shape &from,
                       const Resolved &r) {
  auto mask = onlyMask(key);
  if (mask && key.size() == 1 && key[0].array->rank() == x.rank() && from.rank() == 1)
    return Status(ErrorCode::Shape,
                  format("NumPy boolean array indexing assignment cannot assign {} input values to "
                         "the {} output values where the mask is true",
                         from[0], r.result[0]));
  return Status(ErrorCode::Shape, format("shape mismatch: value array of shape {} could not be "
                                         "broadcast to indexing result of shape {}",
                                         op::compactShape(from), op::compactShape(r.result)));
}

/// The part that 0-d masks alone leave: all of it, or nothing.
Result<NodeRef> wholeOrNothing(const Resolved &r) {
  GRAPHC_ASSIGN(NodeRef n, r.whole.value());
  if (elementsOf(r.placesShape) != 0)
    return node::reshape(n, r.result);
  return node::broadcast(node::literal(0, n->dtype(), n->device()), r.result);
}

/// Of rows that a mask chooses, so many have to be for all of them to be computed where they are:
/// of cheap ones reading and writing all costs no more than finding some. Each elementary function
/// raises it as much.
constexpr int64_t kMostSpread = 64, kFunctionRows = 16;

/// x[mask] = value where the value is computed row by row from rows of the same mask: a choice
/// between all such rows and the old ones, of which none is moved. Null where it is not.
Result<NodeRef> chosenInPlace(const Resolved &r, const NodeRef &old, const NodeRef &value) {
  if (!r.mask || r.places.axes[0] != 0 || elementsOf(r.mask->shape()) != r.merged[0])
    return NodeRef();
  GRAPHC_ASSIGN(Spread all, spreadOver(r.mask, value));
  bool isLong = elementsOf(r.merged) >= std::max(kManyElements, kLongRow * r.merged[0]);
  int64_t most = isLong ? kRowsRead : kMostSpread;
  if (!all.rows || r.placesShape[0] * most < r.merged[0] * (1 + kFunctionRows * all.functions))
    return NodeRef();
  std::vector<int64_t> column(static_cast<size_t>(r.merged.rank()), 1);
  column[0] = r.merged[0];
  GRAPHC_ASSIGN(NodeRef chosen, node::reshape(r.mask, Shape(std::span<const int64_t>(column))));
  GRAPHC_ASSIGN(chosen, node::broadcast(chosen, r.merged));
  NodeRef operands[] = {chosen, all.rows, old};
  return node::make(op::OpKind::Select, operands, {}, {}, old->device());
}

/// `index * stride` along an axis of the view, an index below zero counting from the end, in the
/// axes of the result that `dims` (else 1) names. It is taken from all of them, which checks it.
Result<NodeRef> distancesOf(const NodeRef &index, const View &view, size_t axis,
                            std::span<const int64_t> dims, const Shape &result) {
  std::vector<int64_t> sizes(axis + 1, 1), strides(axis + 1, 0);
  sizes[axis] = view.shape()[axis];
  strides[axis] = view.strides()[axis];
  std::span<const int64_t> shape = sizes, steps = strides;
  GRAPHC_ASSIGN(NodeRef all, placesOf({Shape(shape), Shape(steps), 0}, index->device()));
  GRAPHC_ASSIGN(NodeRef distance, node::gather(all, {{index}, {static_cast<int64_t>(axis)}, 0}));
  GRAPHC_ASSIGN(distance, node::reshape(distance, Shape(dims)));
  return node::broadcast(distance, result);
}

/// Where in the flat base the elements of a result are.
Result<NodeRef> placesInWhole(const Resolved &r, rt::Device &device) {
  const View &view = r.whole.view();
  auto places = static_cast<size_t>(r.placesShape.rank()), first = static_cast<size_t>(r.position);
  std::vector<int64_t> strides(r.result.size(), 0);
  size_t kept = 0;
  for (size_t axis = 0; axis < view.shape().size(); ++axis)
    if (std::ranges::find(r.places.axes, static_cast<int64_t>(axis)) == r.places.axes.end()) {
      strides[kept < first ? kept : kept + places] = view.strides()[axis];
      ++kept;
    }
  GRAPHC_ASSIGN(
      NodeRef sum,
      placesOf({r.result, Shape(std::span<const int64_t>(strides)), view.offset()}, device));
  std::vector<int64_t> dims(r.result.size(), 1);
  std::ranges::copy(r.placesShape, dims.begin() + r.position);
  for (size_t i = 0; i < r.places.axes.size(); ++i) {
    auto axis = static_cast<size_t>(r.places.axes[i]);
    GRAPHC_ASSIGN(NodeRef distance, distancesOf(r.places.indices[i], view, axis, dims, r.result));
    NodeRef terms[] = {sum, distance};
    GRAPHC_ASSIGN(sum, node::make(op::OpKind::Add, terms, {}, {}, device));
  }
  return sum;
}

/// Elements of a view from which on few of them are written one by one: of those that lie apart,
/// alone or by the few, each is a line of a cache.
int64_t manyElements(const View &view) {
  constexpr int64_t kApart = 8, kFewTogether = 8, kManyApart = 1 << 10;
  std::span<const int64_t> shape = view.shape(), strides = view.strides();
  for (size_t axis = shape.size(); axis-- > 0;)
    if (shape[axis] > kFewTogether || axis == 0)
      return std::abs(strides[axis]) < kApart ? kManyElements : kManyApart;
  return kManyElements;
}

/// Few elements of a part of an array go to their places in the whole: the part is not read and
/// written for them.
Result<bool> putInWhole(const Resolved &r, const NodeRef &value,
                        std::optional<op::OpKind> combine) {
  const View &view = r.whole.view();
  Array base = r.whole.withView(View(view.base()));
  if (r.places.indices.empty() || view.isReshape() || !view.hasLayout() ||
      !(r.merged == view.shape()) || base.dtype() != value->dtype() || view.isRecast() ||
      elementsOf(r.result) * kRowsRead > elementsOf(view.shape()) ||
      elementsOf(view.shape()) < manyElements(view))
    return false;
  GRAPHC_ASSIGN(NodeRef old, base.value());
  GRAPHC_ASSIGN(NodeRef flat, node::reshape(old, Shape{base.size()}));
  GRAPHC_ASSIGN(NodeRef places, placesInWhole(r, base.device()));
  GRAPHC_ASSIGN(NodeRef written,
                node::scatter(flat, value, {{places}, {0}, 0}, {combine, r.unique, false}));
  GRAPHC_ASSIGN(written, node::reshape(written, old->shape()));
  GRAPHC_TRY(base.assign(written));
  return true;
}

/// Rows of a computed tensor that a mask of its first axes chooses.
Result<NodeRef> compressed(const NodeRef &n, const Resolved &r) {
  int64_t rows = r.merged[0], count = r.placesShape[0];
  int64_t length = elementsOf(std::span<const int64_t>(r.merged).subspan(1));
  GRAPHC_ASSIGN(NodeRef table, node::reshape(n, Shape{rows, length}));
  GRAPHC_ASSIGN(NodeRef mask, node::reshape(r.mask, Shape{rows}));
  NodeRef operands[] = {table, mask};
  GRAPHC_ASSIGN(NodeRef chosen,
                node::library(Routine::Compress, operands, {}, {n->dtype(), Shape{count, length}}));
  return node::reshape(chosen, r.result);
}

} // namespace

/// One array of integers for an axis, or a mask of it, met in a loop over small arrays.
static bool areSmallRows(op::OpKind kind, const Array &x, const Array &index, bool counts = true,
                         size_t axis = 0) {
  if (x.rank() == 0)
    return false;
  if (index.dtype() == DType::Bool)
    return index.rank() == 1 && index.shape()[0] == x.shape()[axis] &&
           small::isLoop(kind, x.size(), x.device(), counts);
  return isInteger(index.dtype()) && index.size() <= small::kMostBytes &&
         small::isLoop(kind, elementsOf(small::rowsShape(x, index, axis)), x.device(), counts);
}

static bool areSmallRows(op::OpKind kind, const Array &x, std::span<const KeyItem> key) {
  return key.size() == 1 && key[0].array && areSmallRows(kind, x, *key[0].array);
}

Result<Array> takeRowsNow(const Array &x, const Array &index, size_t axis) {
  RecordScope scope;
  if (x.isOpen() || !areSmallRows(op::OpKind::Gather, x, index, /*counts=*/true, axis))
    return Array();
  GRAPHC_ASSIGN(NodeRef now, small::takeRows(x, index, axis));
  return now ? small::arrayOf(std::move(now)) : Array();
}

Result<bool> putRowsNow(Array &x, const Array &index, const Operand &value) {
  RecordScope scope;
  if (x.isOpen() || x.view().isReadOnly())
    return false;
  // As put() does at once, whoever asks how often.
  if (index.dtype() == DType::Bool && index.shape() == x.shape())
    if (auto bits = operandBits(value, x.dtype()); bits && fillMasked(x, index, *bits))
      return true;
  return areSmallRows(op::OpKind::Scatter, x, index, /*counts=*/false)
             ? small::putRows(x, index, value)
             : Result<bool>(false);
}

Result<Array> flatPlacesNow(std::span<const Array> indices, const Shape &shape) {
  RecordScope scope;
  std::array<std::span<const int64_t>, 4> shapes;
  for (size_t i = 0; i < indices.size(); ++i)
    shapes[i] = indices[i].shape();
  auto of = op::broadcastShapes("getitem", std::span(shapes).first(indices.size()));
  const int64_t count = of ? elementsOf(*of) : 0;
  if (!of || count > small::kFew || !small::isLoop(op::OpKind::Gather, count, indices[0].device()))
    return Array();
  GRAPHC_ASSIGN(NodeRef now, small::flatPlaces(indices, shape, *of));
  return now ? small::arrayOf(std::move(now)) : Array();
}

/// What integers of any axes name in a small array of a loop; no node where that is recorded.
static small::Outcome takePlacesNow(const Resolved &r) {
  if (r.mask || r.whole.known() || !(r.merged == r.whole.shape()) ||
      !small::isLoop(op::OpKind::Gather, elementsOf(r.result), r.whole.device()))
    return NodeRef();
  std::vector<Array> indices;
  for (const NodeRef &index : r.places.indices)
    indices.emplace_back(index);
  return plain::gather(r.whole, indices, {r.places.axes, r.places.position}, r.result);
}

/// Whether the only item of a key is a mask of the first axes whose elements are counted later.
static Result<bool> isCountedLater(const Array &x, std::span<const KeyItem> key) {
  if (key.size() != 1 || !key[0].array || key[0].array->dtype() != DType::Bool)
    return false;
  const Array &mask = *key[0].array;
  if (&x.device() != &mask.device() || mask.rank() > x.rank())
    return false;
  GRAPHC_TRY(checkMask(mask.shape(), x.shape(), 0));
  GRAPHC_ASSIGN(NodeRef n, mask.value());
  return open::countsLater(n);
}

Result<Array> take(const Array &x, std::span<const KeyItem> key) {
  RecordScope scope;
  if (x.isOpen() || std::ranges::any_of(key, &KeyItem::isOpen))
    return open::take(x, key);
  if (areSmallRows(op::OpKind::Gather, x, key)) {
    GRAPHC_ASSIGN(NodeRef now, small::takeRows(x, *key[0].array));
    if (now)
      return small::arrayOf(std::move(now));
  }
  GRAPHC_ASSIGN(bool isLater, isCountedLater(x, key));
  if (isLater)
    return open::chosen(x, *key[0].array);
  GRAPHC_ASSIGN(Resolved r, Resolver(x, key).run());
  if (r.places.indices.empty())
    return finish(wholeOrNothing(r));
  GRAPHC_ASSIGN(NodeRef now, takePlacesNow(r));
  if (now)
    return small::arrayOf(std::move(now));
  GRAPHC_ASSIGN(NodeRef n, r.whole.value());
  // Values in memory are moved once; those that are still to be computed, only where they are asked
  // for.
  if (r.mask && r.places.axes[0] == 0 && isReadHere(*n) && isReadHere(*r.mask) &&
      elementsOf(r.mask->shape()) == r.merged[0])
    return finish(compressed(n, r));
  GRAPHC_ASSIGN(NodeRef merged, node::reshape(n, r.merged));
  GRAPHC_ASSIGN(NodeRef direct, gatherOfGathered(merged, r.places));
  return finish(direct ? std::move(direct) : node::gather(merged, r.places));
}

Status put(Array &x, std::span<const KeyItem> key, const Operand &value,
           std::optional<op::OpKind> combine) {
  RecordScope scope;
  if ((value.array && value.array->isOpen()) || std::ranges::any_of(key, &KeyItem::isOpen))
    return open::put(x, key, value, combine);
  if (x.view().isReadOnly())
    return Status(ErrorCode::InvalidArgument, "[setitem] assignment destination is read-only");
  if (!combine && key.size() == 1 && key[0].array && key[0].array->dtype() == DType::Bool &&
      key[0].array->shape() == x.shape())
    if (auto bits = operandBits(value, x.dtype()); bits && fillMasked(x, *key[0].array, *bits))
      return Status::ok();
  if (areSmallRows(op::OpKind::Scatter, x, key)) {
    const Array &index = *key[0].array;
    GRAPHC_ASSIGN(bool done, combine ? small::combineRows(x, index, value, *combine)
                                     : small::putRows(x, index, value));
    if (done)
      return Status::ok();
  }
  GRAPHC_ASSIGN(NodeRef v, valueNode(value, x.dtype(), x.device()));
  if (!combine) {
    GRAPHC_ASSIGN(bool done, putByChoice(x, key, v));
    if (done)
      return respectBudget(x.storage()->current());
  }
  GRAPHC_ASSIGN(Resolved r, Resolver(x, key).run());
  Shape from = trimmed(v->shape(), r.result.rank());
  // As NumPy, which leaves out any first axes where nothing is written.
  if (elementsOf(r.result) == 0 && elementsOf(v->shape()) == 0 && from.rank() > r.result.rank())
    from = Shape(std::span<const int64_t>(from).last(static_cast<size_t>(r.result.rank())));
  std::span<const int64_t> shapes[] = {from, r.result};
  auto common = op::broadcastShapes("setitem", shapes);
  if (!common || !(*common == r.result))
    return cannotBroadcast(key, x, v->shape(), r);
  if (elementsOf(r.result) == 0)
    return Status::ok();
  if (!combine && r.mask && expandMasked(x, r.mask, v))
    return Status::ok();
  GRAPHC_ASSIGN(NodeRef shaped, node::reshape(v, from));
  GRAPHC_ASSIGN(NodeRef wide, node::broadcast(shaped, r.result));
  GRAPHC_ASSIGN(bool isPut, putInWhole(r, wide, combine));
  if (isPut)
    return respectBudget(x.storage()->current());
  GRAPHC_ASSIGN(NodeRef old, r.whole.value());
  NodeRef next;
  if (r.places.indices.empty()) {
    GRAPHC_ASSIGN(next, node::reshape(wide, r.whole.shape()));
    if (combine) {
      NodeRef operands[] = {old, next};
      GRAPHC_ASSIGN(next, node::make(*combine, operands, {}, {}, x.device()));
    }
  } else {
    GRAPHC_ASSIGN(NodeRef merged, node::reshape(old, r.merged));
    GRAPHC_ASSIGN(NodeRef written, combine ? NodeRef() : chosenInPlace(r, merged, wide));
    if (!written) {
      GRAPHC_ASSIGN(written, node::scatter(merged, wide, r.places, {combine, r.unique, false}));
    }
    GRAPHC_ASSIGN(next, node::reshape(written, r.whole.shape()));
  }
  GRAPHC_TRY(r.whole.assign(next));
  noteHolder(x);
  return respectBudget(x.storage()->current());
}

Result<Array> flatNonzero(const Array &mask) {
  RecordScope scope;
  if (mask.dtype() == DType::Bool &&
      small::isLoop(op::OpKind::Library, mask.size(), mask.device())) {
    GRAPHC_ASSIGN(NodeRef now, small::flatNonzero(mask));
    if (now)
      return small::arrayOf(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef n, mask.value());
  GRAPHC_ASSIGN(NodeRef condition, node::cast(n, DType::Bool));
  GRAPHC_ASSIGN(bool isLater, open::countsLater(condition));
  if (isLater)
    return open::flatNonzero(condition);
  return finish(countedPositions(condition));
}

Result<Array> takeAxis(const Array &x, const Array &index, int64_t axis) {
  RecordScope scope;
  if (x.isOpen() || index.isOpen()) {
    GRAPHC_ASSIGN(int64_t along, op::normalizeAxis("take", axis, x.rank()));
    if (along == 0 && isInteger(index.dtype()))
      return open::named(x, {&index, 1});
    GRAPHC_ASSIGN(Array exactX, open::fixed(x));
    GRAPHC_ASSIGN(Array exact, open::fixed(index));
    return takeAxis(exactX, exact, axis);
  }
  if (!isInteger(index.dtype()) && index.dtype() != DType::Bool)
    return Status(ErrorCode::DType,
                  format("[take] indices are integers, not {}", dtypeName(index.dtype())));
  GRAPHC_ASSIGN(int64_t along, op::normalizeAxis("take", axis, x.rank()));
  GRAPHC_ASSIGN(NodeRef n, index.value());
  int64_t size = x.shape()[static_cast<size_t>(along)];
  GRAPHC_TRY(checkIndex(n, along, size));
  if (x.size() == 0 && index.size() != 0)
    GRAPHC_TRY(checkUnmet(n, along, size));
  GRAPHC_ASSIGN(NodeRef wide, node::cast(n, DType::Int64));
  GRAPHC_ASSIGN(NodeRef from, x.value());
  return finish(node::gather(from, {{wide}, {along}, along}));
}

} // namespace graphc::ops
