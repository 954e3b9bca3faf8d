#include "compiler/passes/Passes.h"
#include "compiler/passes/analysis/Atomic.h"
#include "compiler/passes/analysis/Sizes.h"
#include "compiler/passes/fuse/FusionPlan.h"
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

/// One scatter at work.
struct Sorting {
  graph::ScatterOp scatter;
  SizeAnalysis &sizes;
  OpBuilder b;
  Location loc;
  Size count{1, {}}; ///< points: elements of an index tensor

  Sorting(graph::ScatterOp scatter, SizeAnalysis &sizes)
      : scatter(scatter), sizes(sizes), b(scatter), loc(scatter.getLoc()) {
    for (const Size &size : sizes.of(scatter.getIndices()[0]))
      count = times(count, size);
  }

  Size times(const Size &x, const Size &y) {
    if (!x.value && !y.value)
      return {x.constant * y.constant, {}};
    if (x.isConstant(1) || y.isConstant(1))
      return x.isConstant(1) ? y : x;
    auto value = [&](const Size &size) -> Value {
      return size.value ? size.value
                        : arith::ConstantIndexOp::create(b, loc, size.constant).getResult();
    };
    return {0, arith::MulIOp::create(b, loc, value(x), value(y))};
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
  Value number(int64_t value) {
    RankedTensorType type = numbers(b.getI64Type());
    return graph::FullOp::create(b, loc, type, cast<TypedAttr>(b.getI64IntegerAttr(value)),
                                 dynamicSizes(type, count, b, loc));
  }
  /// The size of an axis of what is written to, for every point.
  Value extent(int64_t axis) {
    RankedTensorType type = numbers(b.getI64Type());
    auto scalar = RankedTensorType::get({}, b.getI64Type());
    Value size = graph::ExtentOp::create(b, loc, scalar, scatter.getX(), ArrayRef<int64_t>(axis));
    return graph::BroadcastOp::create(b, loc, type, size, dynamicSizes(type, count, b, loc),
                                      ArrayRef<int64_t>());
  }

  Value linearPlaces(ArrayRef<Value> indices);
  Value order(Value places);
  void run();
};

/// A number for each point, equal where places are. Indices that are left out have -1, those that
/// are refused anything.
Value Sorting::linearPlaces(ArrayRef<Value> indices) {
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
Value Sorting::order(Value places) {
  const int64_t ascending = 0;
  SmallVector<Size> line = {Size{1, {}}, count};
  RankedTensorType type = typeOf(line, b.getI64Type());
  Value sorted = graph::LibraryOp::create(
      b, loc, type, routineName(Routine::Argsort), ValueRange(reshaped(places, line)),
      dynamicSizes(type, line, b, loc), ArrayRef<int64_t>(ascending));
  return reshaped(sorted, count);
}

void Sorting::run() {
  SmallVector<Value> indices;
  for (Value index : scatter.getIndices())
    indices.push_back(reshaped(index, count));
  Value sorted = order(linearPlaces(indices));
  auto moved = [&](Value x, int64_t axis) -> Value {
    auto gather = graph::GatherOp::create(b, loc, x.getType(), x, ValueRange(sorted),
                                          ArrayRef<int64_t>(axis), static_cast<uint64_t>(axis));
    gather->setAttr(kInsideAttr, b.getUnitAttr());
    return gather;
  };
  auto position = static_cast<int64_t>(scatter.getPosition());
  size_t rank = sizes.of(scatter.getIndices()[0]).size();
  SmallVector<Size> flat(sizes.of(scatter.getValue()));
  auto first = flat.begin() + position;
  Size points{1, {}};
  for (const Size &size : ArrayRef(first, rank))
    points = times(points, size);
  *first = points;
  flat.erase(first + 1, first + rank);
  scatter.getValueMutable().assign(moved(reshaped(scatter.getValue(), flat), position));
  for (auto [operand, index] : llvm::zip_equal(scatter.getIndicesMutable(), indices))
    operand.set(moved(index, 0));
  scatter.setSorted(true);
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
          addsInOneStep(scatter.getCombine(), element, atomicBits))
        continue;
      Sorting sorting(scatter, sizes);
      if (sorting.count.value || sorting.count.constant > kFewPoints)
        sorting.run();
    }
  }
};

} // namespace
