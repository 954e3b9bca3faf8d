#include "compiler/passes/Passes.h"
#include "compiler/passes/analysis/Atomic.h"
#include "compiler/passes/analysis/Sizes.h"
#include "compiler/passes/fuse/FusionPlan.h"
#include "compiler/passes/lower/IndexMath.h"
#include "dialects/graph/Graph.h"
#include "runtime/base/Routine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace graphc::pass {
#define GEN_PASS_DEF_SORTPLACES
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Points that are visited one by one in the time of the launches of a sort.
constexpr int64_t kFewPoints = 32;
/// Places a point up to which a table of all of them is filled in the time of a sort.
constexpr int64_t kPlacesAPoint = 8;
/// Points that a table has numbers for.
constexpr int64_t kMostNumbered = std::numeric_limits<int32_t>::max();

/// One scatter at work.
struct Placing {
  graph::ScatterOp scatter;
  SizeAnalysis &sizes;
  OpBuilder b;
  Location loc;
  Size count{1, {}}; ///< points: elements of an index tensor

  Placing(graph::ScatterOp scatter, SizeAnalysis &sizes)
      : scatter(scatter), sizes(sizes), b(scatter), loc(scatter.getLoc()) {
    for (const Size &size : sizes.of(scatter.getIndices()[0]))
      count = times(count, size);
  }

  Value valueOf(const Size &size) {
    return size.value ? size.value : arith::ConstantIndexOp::create(b, loc, size.constant);
  }
  Size times(const Size &x, const Size &y) {
    if (!x.value && !y.value)
      return {x.constant * y.constant, {}};
    if (x.isConstant(1) || y.isConstant(1))
      return x.isConstant(1) ? y : x;
    return {0, arith::MulIOp::create(b, loc, valueOf(x), valueOf(y))};
  }

  RankedTensorType typeOf(ArrayRef<Size> shape, Type element) const {
    SmallVector<int64_t> extents;
    for (const Size &size : shape)
      extents.push_back(size.value ? ShapedType::kDynamic : size.constant);
    return RankedTensorType::get(extents, element);
  }
  RankedTensorType numbers(Type element) const { return typeOf(count, element); }

  Value reshaped(Value x, ArrayRef<Size> shape) {
    RankedTensorType type = typeOf(shape, cast<RankedTensorType>(x.getType()).getElementType());
    if (x.getType() == type)
      return x;
    return graph::ReshapeOp::create(b, loc, type, x, dynamicSizes(type, shape, b, loc));
  }
  template <typename Op>
  Value of(Type element, ValueRange operands) {
    return Op::create(b, loc, TypeRange(numbers(element)), operands);
  }
  Value filled(const Size &size, TypedAttr value) {
    RankedTensorType type = typeOf(size, value.getType());
    return graph::FullOp::create(b, loc, type, value, dynamicSizes(type, size, b, loc));
  }
  Value number(int64_t value) { return filled(count, b.getI64IntegerAttr(value)); }
  /// The size of an axis of what is written to, for every point.
  Value extent(int64_t axis) { return extent(scatter.getX(), axis); }
  Value extent(Value x, int64_t axis) {
    RankedTensorType type = numbers(b.getI64Type());
    auto scalar = RankedTensorType::get({}, b.getI64Type());
    Value size = graph::ExtentOp::create(b, loc, scalar, x, ArrayRef<int64_t>(axis));
    return graph::BroadcastOp::create(b, loc, type, size, dynamicSizes(type, count, b, loc),
                                      ArrayRef<int64_t>());
  }
  /// Elements of x at places along an axis, which are all there.
  Value gathered(Value x, Value places, int64_t axis, ArrayRef<Size> shape) {
    RankedTensorType type = typeOf(shape, cast<RankedTensorType>(x.getType()).getElementType());
    auto gather = graph::GatherOp::create(b, loc, type, x, ValueRange(places),
                                          ArrayRef<int64_t>(axis), static_cast<uint64_t>(axis));
    gather->setAttr(kInsideAttr, b.getUnitAttr());
    return gather;
  }

  void flatten();
  void takeFirst(const Size &some);
  Value linearPlaces();
  Value order(Value places);
  Value lastPoints(Value places, const Size &placeCount);
  Size placeCount();
  bool hasOneValue();
  void place(Value written);
  void sort();
  void writeLast(const Size &placeCount);

  // With one axis of points, by flatten.
  SmallVector<Value> indices;
  Value values;
  SmallVector<Size> shape; ///< of the values
};

void Placing::flatten() {
  for (Value index : scatter.getIndices())
    indices.push_back(reshaped(index, count));
  size_t rank = sizes.of(scatter.getIndices()[0]).size();
  shape.assign(sizes.of(scatter.getValue()).begin(), sizes.of(scatter.getValue()).end());
  auto first = shape.begin() + static_cast<int64_t>(scatter.getPosition());
  Size points{1, {}};
  for (const Size &size : ArrayRef(first, rank))
    points = times(points, size);
  *first = points;
  shape.erase(first + 1, first + rank);
  values = reshaped(scatter.getValue(), shape);
}

/// Of the points, so many.
void Placing::takeFirst(const Size &some) {
  auto taken = [&](Value x, ArrayRef<Size> sizes) -> Value {
    RankedTensorType type = typeOf(sizes, cast<RankedTensorType>(x.getType()).getElementType());
    SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
    return graph::SliceOp::create(b, loc, type, x, ValueRange(), dynamicSizes(type, sizes, b, loc),
                                  starts, steps);
  };
  count = some;
  shape[scatter.getPosition()] = some;
  values = taken(values, shape);
  for (Value &index : indices)
    index = taken(index, some);
}

/// A number for each point, equal where places are. Indices that are left out have -1, those that
/// are refused anything.
Value Placing::linearPlaces() {
  Type i64 = b.getI64Type(), i1 = b.getI1Type();
  Value linear, inside, zero = number(0);
  for (auto [index, axis] : llvm::zip_equal(indices, scatter.getAxes())) {
    Value size = extent(axis), isNegative = of<graph::LessOp>(i1, {index, zero});
    Value at = index;
    if (scatter.getDrop()) {
      Value outside =
          of<graph::LogicalOrOp>(i1, {isNegative, of<graph::GreaterEqualOp>(i1, {index, size})});
      inside = inside ? of<graph::LogicalOrOp>(i1, {inside, outside}) : outside;
    } else {
      at = of<graph::SelectOp>(i64, {isNegative, of<graph::AddOp>(i64, {index, size}), index});
    }
    linear = linear ? of<graph::AddOp>(i64, {of<graph::MulOp>(i64, {linear, size}), at}) : at;
  }
  return inside ? of<graph::SelectOp>(i64, {inside, number(-1), linear}) : linear;
}

/// The numbers of the points, sorted by their places, and by themselves where those are equal.
Value Placing::order(Value places) {
  const int64_t ascending = 0;
  SmallVector<Size> line = {Size{1, {}}, count};
  RankedTensorType type = typeOf(line, b.getI64Type());
  Value sorted = graph::LibraryOp::create(
      b, loc, type, routineName(Routine::Argsort), ValueRange(reshaped(places, line)),
      dynamicSizes(type, line, b, loc), ArrayRef<int64_t>(ascending));
  return reshaped(sorted, count);
}

void Placing::sort() {
  Value sorted = order(linearPlaces());
  Value written = gathered(values, sorted, static_cast<int64_t>(scatter.getPosition()), shape);
  for (Value &index : indices)
    index = gathered(index, sorted, 0, count);
  place(written);
  scatter.setSorted(true);
}

void Placing::place(Value written) {
  scatter.getValueMutable().assign(written);
  for (auto [operand, index] : llvm::zip_equal(scatter.getIndicesMutable(), indices))
    operand.set(index);
}

/// Places that indices can name.
Size Placing::placeCount() {
  Size all{1, {}};
  for (int64_t axis : scatter.getAxes())
    all = times(all, sizes.of(scatter.getX())[axis]);
  return all;
}

/// Whether all points write the same.
bool Placing::hasOneValue() {
  Value value = scatter.getValue();
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getX();
  if (value.getDefiningOp<graph::FullOp>())
    return true;
  auto broadcast = value.getDefiningOp<graph::BroadcastOp>();
  return broadcast && cast<RankedTensorType>(broadcast.getX().getType()).getRank() == 0;
}

/// The number of the last point of each one's place: memory keeps the largest of those that come,
/// in any order. Of a point that is left out or refused, that of any.
Value Placing::lastPoints(Value places, const Size &placeCount) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value table = filled(placeCount, b.getI32IntegerAttr(0));
  RankedTensorType type = numbers(i32);
  Value own = graph::IotaOp::create(b, loc, type, dynamicSizes(type, count, b, loc));
  table = graph::ScatterOp::create(b, loc, table.getType(), table, own, ValueRange(places),
                                   ArrayRef<int64_t>(0), /*position=*/0, "maximum",
                                   /*unique=*/false, /*drop=*/true, /*sorted=*/false);
  Value last = of<graph::SubOp>(i64, {extent(table, 0), number(1)});
  Value inside = of<graph::MinimumOp>(i64, {of<graph::MaximumOp>(i64, {places, number(0)}), last});
  return of<graph::CastOp>(i64, gathered(table, inside, 0, count));
}

/// Every point writes what the last one of its place has.
void Placing::writeLast(const Size &placeCount) {
  Value last = lastPoints(linearPlaces(), placeCount);
  place(gathered(values, last, static_cast<int64_t>(scatter.getPosition()), shape));
  scatter.setUnique(true);
}

/// Points of a write are sorted, or, where places are not many more, found in a table of these: all
/// or none where sizes are known, else one or the other has no points.
void writeInOrder(graph::ScatterOp scatter, SizeAnalysis &sizes) {
  Placing sorted(scatter, sizes);
  IndexMath m{sorted.b, sorted.loc};
  Size count = sorted.count, places = sorted.placeCount();
  if (!count.value && !places.value) {
    sorted.flatten();
    bool fits =
        places.constant <= count.constant * kPlacesAPoint && count.constant <= kMostNumbered;
    return fits ? sorted.writeLast(Size{std::max<int64_t>(places.constant, 1), {}}) : sorted.sort();
  }
  Value points = sorted.valueOf(count), most = m.mul(points, kPlacesAPoint);
  Value fits = m.mul(m.some(m.add(m.sub(most, sorted.valueOf(places)), 1)),
                     m.some(m.sub(m(kMostNumbered + 1), points)));
  Size found{0, m.mul(points, fits)}, rest{0, m.sub(points, found.value)};
  Size kept{0, m.mul(m.max(sorted.valueOf(places), 1), fits)};
  auto first = cast<graph::ScatterOp>(sorted.b.clone(*scatter));
  scatter.getXMutable().assign(first.getResult());
  Placing table(first, sizes);
  table.flatten();
  table.takeFirst(found);
  table.writeLast(kept);
  sorted.flatten();
  sorted.takeFirst(rest);
  sorted.sort();
}

struct SortPlaces : pass::impl::SortPlacesBase<SortPlaces> {
  using SortPlacesBase::SortPlacesBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    SizeAnalysis sizes(func);
    for (auto scatter :
         llvm::make_early_inc_range(func.getBody().front().getOps<graph::ScatterOp>())) {
      Type element = cast<RankedTensorType>(scatter.getValue().getType()).getElementType();
      if (scatter.getUnique() || scatter.getSorted() ||
          stepInAnyOrder(scatter.getCombine(), element, atomicBits))
        continue;
      Placing points(scatter, sizes);
      if (!points.count.value && points.count.constant <= kFewPoints)
        continue;
      bool writes = scatter.getCombine().empty();
      if (writes && points.hasOneValue())
        scatter.setUnique(true);
      else if (writes && atomicBits)
        writeInOrder(scatter, sizes);
      else
        points.flatten(), points.sort();
    }
  }
};

} // namespace
