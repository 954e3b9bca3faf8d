#include "compiler/passes/Passes.h"
#include "compiler/passes/analysis/Sizes.h"
#include "compiler/passes/fuse/FusionPlan.h"
#include "dialects/graph/Graph.h"
#include "runtime/base/Routine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace graphc::pass {
#define GEN_PASS_DEF_DECOMPOSE
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

struct Decompose : pass::impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    // Each rewrite may expose others (mean -> grouped sum), so repeat until nothing changes; every
    // rule removes what it matches, so this ends.
    bool changed = true;
    while (changed) {
      changed = false;
      SizeAnalysis sizes(func);
      for (Operation &op : llvm::make_early_inc_range(func.getBody().front()))
        changed |= rewrite(&op, sizes);
    }
  }

  bool rewrite(Operation *op, SizeAnalysis &sizes) {
    OpBuilder builder(op);
    Value replacement;
    if (combinesNarrow(op))
      replacement = inFloat32(op, builder);
    else if (combinesParts(op) && isComplex(op->getResult(0).getType()))
      replacement = inParts(op, builder);
    else if (auto flip = dyn_cast<graph::FlipOp>(op))
      replacement = decomposeFlip(flip, sizes, builder);
    else if (auto concatenate = dyn_cast<graph::ConcatenateOp>(op))
      replacement = decomposeConcatenate(concatenate, sizes, builder);
    else if (auto reduce = dyn_cast<graph::ReduceOp>(op))
      replacement = decomposeReduce(reduce, sizes, builder);
    else if (auto update = dyn_cast<graph::UpdateSliceOp>(op))
      replacement = wholeUpdate(update, sizes);
    else if (auto step = dyn_cast<graph::LibraryOp>(op); step && argsorts)
      replacement = decomposeLexsort(step, sizes, builder);
    if (!replacement)
      return false;
    // Later ops of this sweep ask for its sizes.
    sizes.replace(op->getResult(0), replacement);
    op->getResult(0).replaceAllUsesWith(replacement);
    op->erase();
    return true;
  }

  static bool isNarrow(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && (tensor.getElementType().isF16() || tensor.getElementType().isBF16());
  }

  /// Ops that combine many elements, or count, keep float32 on the way.
  static bool combinesNarrow(Operation *op) {
    if (!isa<graph::ReduceOp, graph::ScanOp, graph::MatmulOp, graph::IotaOp, graph::ExtentOp>(op))
      return false;
    bool counts = isa<graph::IotaOp, graph::ExtentOp>(op);
    return isNarrow(counts ? op->getResult(0).getType() : op->getOperand(0).getType());
  }

  static bool isComplex(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa<ComplexType>(tensor.getElementType());
  }

  bool combinesParts(Operation *op) const {
    return isa<graph::ReduceOp, graph::ScanOp>(op) ||
           (isa<graph::MatmulOp>(op) && !complexProducts);
  }

  /// Sums of complex numbers are those of their parts; products of matrices are four real ones.
  static Value inParts(Operation *op, OpBuilder &builder) {
    Location loc = op->getLoc();
    Type part = graph::realLike(op->getResult(0).getType());
    auto of = [&]<class Half>(Half, Value x) -> Value {
      return Half::create(builder, loc, TypeRange(graph::realLike(x.getType())), ValueRange(x));
    };
    auto real = [&](Value x) { return of(graph::RealOp(), x); };
    auto imaginary = [&](Value x) { return of(graph::ImagOp(), x); };
    auto again = [&](ValueRange operands) {
      OperationState state(loc, op->getName(), operands, TypeRange(part), op->getAttrs());
      return builder.create(state)->getResult(0);
    };
    Value re, im, x = op->getOperand(0);
    if (isa<graph::MatmulOp>(op)) {
      Value y = op->getOperand(1), xr = real(x), xi = imaginary(x), yr = real(y), yi = imaginary(y);
      re = graph::SubOp::create(builder, loc, TypeRange(part),
                                ValueRange{again({xr, yr}), again({xi, yi})});
      im = graph::AddOp::create(builder, loc, TypeRange(part),
                                ValueRange{again({xr, yi}), again({xi, yr})});
    } else {
      re = again(real(x));
      im = again(imaginary(x));
    }
    return graph::ComplexOp::create(builder, loc, TypeRange(op->getResult(0).getType()),
                                    ValueRange{re, im});
  }

  /// The op on widened operands, its result rounded once.
  static Value inFloat32(Operation *op, OpBuilder &builder) {
    auto wide = [&](Type type) { return cast<RankedTensorType>(type).clone(builder.getF32Type()); };
    Type type = op->getResult(0).getType();
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(
          isNarrow(operand.getType()) && !isa<graph::ExtentOp>(op)
              ? graph::CastOp::create(builder, op->getLoc(), wide(operand.getType()), operand)
                    .getResult()
              : operand);
    state.addAttributes(op->getAttrs());
    state.addTypes(isNarrow(type) ? wide(type) : type);
    Value result = builder.create(state)->getResult(0);
    return isNarrow(type) ? graph::CastOp::create(builder, op->getLoc(), type, result).getResult()
                          : result;
  }

  Value decomposeFlip(graph::FlipOp flip, SizeAnalysis &sizes, OpBuilder &builder) {
    Location loc = flip.getLoc();
    auto type = cast<RankedTensorType>(flip.getType());
    SmallVector<Size> extents(sizes.of(flip.getX()));
    SmallVector<int64_t> starts, steps;
    SmallVector<Value> dynamic;
    for (auto [axis, size] : llvm::enumerate(extents)) {
      bool reversed = llvm::is_contained(flip.getAxes(), static_cast<int64_t>(axis));
      steps.push_back(reversed ? -1 : 1);
      if (!reversed || (!size.value && size.constant == 0)) {
        starts.push_back(0);
      } else if (!size.value) {
        starts.push_back(size.constant - 1);
      } else {
        Value one = arith::ConstantIndexOp::create(builder, loc, 1);
        dynamic.push_back(arith::SubIOp::create(builder, loc, size.value, one));
        starts.push_back(ShapedType::kDynamic);
      }
    }
    return graph::SliceOp::create(builder, loc, type, flip.getX(), dynamic,
                                  dynamicSizes(type, extents, builder, loc), starts, steps);
  }

  /// A chain of updates of a tensor whose first content nobody reads.
  Value decomposeConcatenate(graph::ConcatenateOp op, SizeAnalysis &sizes, OpBuilder &builder) {
    Location loc = op.getLoc();
    if (op.getInputs().size() == 1 && op.getInputs()[0].getType() == op.getType())
      return op.getInputs()[0];
    RankedTensorType type = knownType(op, sizes);
    TypedAttr zero = cast<TypedAttr>(
        builder.getZeroAttr(signlessZeroType(graph::realLike(type.getElementType()))));
    if (type.getElementType().isUnsignedInteger())
      zero = IntegerAttr::get(type.getElementType(), 0);
    auto whole = graph::FullOp::create(builder, loc, type, zero,
                                       dynamicSizes(type, sizes.of(op.getResult()), builder, loc));
    whole->setAttr("graphc.uninitialized", builder.getUnitAttr());
    Value result = whole;
    int64_t axis = op.getAxis(), rank = type.getRank();
    Size offset{0, {}};
    for (Value input : op.getInputs()) {
      SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
      SmallVector<Value> dynamic;
      starts[axis] = offset.constant;
      if (offset.value) {
        starts[axis] = ShapedType::kDynamic;
        dynamic.push_back(offset.value);
      }
      result =
          graph::UpdateSliceOp::create(builder, loc, type, result, input, dynamic, starts, steps);
      offset = addSizes(offset, sizes.of(input)[axis], builder, loc);
    }
    if (type == op.getType())
      return result;
    auto named = graph::ReshapeOp::create(builder, loc, op.getType(), result, op.getSizes());
    named->setAttr("graphc.same_sizes", builder.getUnitAttr());
    return named;
  }

  /// The result's type with the size of the joined axis when those of the parts are known: it is
  /// what neighbouring elements of different parts are apart.
  static RankedTensorType knownType(graph::ConcatenateOp op, SizeAnalysis &sizes) {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t total = 0;
    for (Value input : op.getInputs()) {
      Size size = sizes.of(input)[op.getAxis()];
      if (size.value)
        return type;
      total += size.constant;
    }
    SmallVector<int64_t> shape(type.getShape());
    shape[op.getAxis()] = total;
    return type.clone(shape);
  }

  static Type signlessZeroType(Type type) {
    return type.isUnsignedInteger()
               ? IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth())
               : type;
  }

  static Size addSizes(Size a, Size b, OpBuilder &builder, Location loc) {
    if (!a.value && !b.value)
      return {a.constant + b.constant, {}};
    auto value = [&](Size s) -> Value {
      return s.value ? s.value
                     : arith::ConstantIndexOp::create(builder, loc, s.constant).getResult();
    };
    if (a.isConstant(0))
      return b;
    return {0, arith::AddIOp::create(builder, loc, value(a), value(b))};
  }

  /// Stable sorts by one key after the other, the one that decides first last; null for other steps
  /// and for complex keys.
  static Value decomposeLexsort(graph::LibraryOp step, SizeAnalysis &sizes, OpBuilder &builder) {
    auto isReal = [](Value key) {
      return cast<RankedTensorType>(key.getType()).getElementType().isIntOrFloat();
    };
    if (routineFromName(step.getRoutine()) != Routine::Lexsort ||
        !llvm::all_of(step.getInputs(), isReal))
      return {};
    Location loc = step.getLoc();
    auto type = cast<RankedTensorType>(step.getType());
    SmallVector<Size> shape(sizes.of(step.getResult()));
    const int64_t ascending = 0;
    auto argsort = [&](Value key) {
      auto sorted = graph::LibraryOp::create(
          builder, loc, type, routineName(Routine::Argsort), ValueRange(key),
          dynamicSizes(type, shape, builder, loc), ArrayRef<int64_t>(ascending));
      sorted->setDiscardableAttrs(step->getDiscardableAttrDictionary());
      return sorted;
    };
    auto lineType = RankedTensorType::get(type.getDimSize(0), type.getElementType());
    Value line = graph::IotaOp::create(builder, loc, lineType,
                                       dynamicSizes(lineType, shape[0], builder, loc));
    line = graph::BroadcastOp::create(
        builder, loc, type, line, dynamicSizes(type, shape, builder, loc), ArrayRef<int64_t>{0});
    auto inOrder = [&](Value x, Value order) -> Value {
      auto gather = graph::GatherOp::create(builder, loc, x.getType(), x, ValueRange{line, order},
                                            ArrayRef<int64_t>{0, 1}, uint64_t{0});
      gather->setAttr(kInsideAttr, builder.getUnitAttr());
      return gather;
    };
    Value order = argsort(step.getInputs()[0]);
    for (Value key : step.getInputs().drop_front())
      order = inOrder(order, argsort(inOrder(key, order)));
    return order;
  }

  Value decomposeReduce(graph::ReduceOp reduce, SizeAnalysis &sizes, OpBuilder &builder) {
    Location loc = reduce.getLoc();
    auto type = cast<RankedTensorType>(reduce.getType());
    SmallVector<Size> from(sizes.of(reduce.getX()));
    if (Value none = reduceEmpty(reduce, from, builder))
      return none;
    if (reduce.getKind() == graph::ReduceKind::Mean) {
      auto sum = graph::ReduceOp::create(builder, loc, type, graph::ReduceKind::Sum, reduce.getX(),
                                         reduce.getAxes());
      auto scalar = RankedTensorType::get({}, type.getElementType());
      Value count = graph::ExtentOp::create(builder, loc, scalar, reduce.getX(), reduce.getAxes());
      SmallVector<Size> kept;
      for (auto [axis, size] : llvm::enumerate(from))
        if (!llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)))
          kept.push_back(size);
      Value divisor = graph::BroadcastOp::create(
          builder, loc, type, count, dynamicSizes(type, kept, builder, loc), ArrayRef<int64_t>());
      return graph::DivOp::create(builder, loc, type, sum, divisor);
    }
    // Size-1 axes hold one element: nothing to combine.
    SmallVector<int64_t> axes;
    for (int64_t axis : reduce.getAxes())
      if (!from[axis].isConstant(1))
        axes.push_back(axis);
    bool isArg = reduce.getKind() == graph::ReduceKind::ArgMin ||
                 reduce.getKind() == graph::ReduceKind::ArgMax;
    if (axes.empty())
      return reduceNothing(reduce, isArg, from, builder);
    // Adjacent axes (size-1 axes between them do not count) are one group; the last group is
    // reduced first.
    SmallVector<int64_t> last = {axes.back()};
    for (size_t i = axes.size() - 1; i-- > 0;) {
      bool adjacent = true;
      for (int64_t between = axes[i] + 1; between < last.front(); ++between)
        adjacent &= from[between].isConstant(1);
      if (!adjacent)
        break;
      last.insert(last.begin(), axes[i]);
    }
    if (last.size() == reduce.getAxes().size() || isArg)
      return {};
    SmallVector<int64_t> shape;
    for (int64_t axis = 0; axis < cast<RankedTensorType>(reduce.getX().getType()).getRank(); ++axis)
      if (!llvm::is_contained(last, axis))
        shape.push_back(cast<RankedTensorType>(reduce.getX().getType()).getDimSize(axis));
    auto inner =
        graph::ReduceOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()),
                                reduce.getKind(), reduce.getX(), last);
    SmallVector<int64_t> rest;
    for (int64_t axis : reduce.getAxes())
      if (!llvm::is_contained(last, axis))
        rest.push_back(axis - llvm::count_if(last, [&](int64_t l) { return l < axis; }));
    return graph::ReduceOp::create(builder, loc, type, reduce.getKind(), inner, rest);
  }

  /// What a reduction begins with, where an axis that it combines has no elements, and anything
  /// where it has no results; null for others.
  static Value reduceEmpty(graph::ReduceOp reduce, ArrayRef<Size> from, OpBuilder &builder) {
    using Kind = graph::ReduceKind;
    Kind kind = reduce.getKind();
    bool begins = kind == Kind::Sum || kind == Kind::Prod || kind == Kind::Any || kind == Kind::All;
    bool isEmpty = false;
    for (auto [axis, size] : llvm::enumerate(from))
      isEmpty |= size.isConstant(0) &&
                 (begins || !llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)));
    if (!isEmpty)
      return {};
    auto type = cast<RankedTensorType>(reduce.getType());
    int start = kind == Kind::Prod || kind == Kind::All;
    TypedAttr value;
    if (auto element = dyn_cast<FloatType>(type.getElementType()))
      value = builder.getFloatAttr(element, start);
    else
      value = IntegerAttr::get(type.getElementType(), start);
    SmallVector<Size> kept;
    for (auto [axis, size] : llvm::enumerate(from))
      if (!llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)))
        kept.push_back(size);
    return graph::FullOp::create(builder, reduce.getLoc(), type, value,
                                 dynamicSizes(type, kept, builder, reduce.getLoc()));
  }

  static Value reduceNothing(graph::ReduceOp reduce, bool isArg, ArrayRef<Size> from,
                             OpBuilder &builder) {
    Location loc = reduce.getLoc();
    auto type = cast<RankedTensorType>(reduce.getType());
    SmallVector<Size> kept;
    for (auto [axis, size] : llvm::enumerate(from))
      if (!llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)))
        kept.push_back(size);
    SmallVector<Value> dynamic = dynamicSizes(type, kept, builder, loc);
    if (isArg)
      return graph::FullOp::create(builder, loc, type,
                                   cast<TypedAttr>(builder.getI64IntegerAttr(0)), dynamic);
    Value same = graph::ReshapeOp::create(builder, loc, type, reduce.getX(), dynamic);
    auto element = dyn_cast<FloatType>(type.getElementType());
    if (reduce.getKind() != graph::ReduceKind::Sum || !element)
      return same;
    // A float sum starts from +0.0 also when it adds one element.
    Value zero = graph::FullOp::create(
        builder, loc, type, cast<TypedAttr>(builder.getFloatAttr(element, 0.0)), dynamic);
    return graph::AddOp::create(builder, loc, type, same, zero);
  }

  /// An update that replaces every element in order is its value; one of no elements is the old
  /// tensor.
  static Value wholeUpdate(graph::UpdateSliceOp update, SizeAnalysis &sizes) {
    // Nothing to write.
    if (llvm::any_of(sizes.of(update.getValue()),
                     [](const Size &size) { return size.isConstant(0); }))
      return update.getX();
    for (auto [start, step] : llvm::zip_equal(update.getStaticStarts(), update.getSteps()))
      if (start != 0 || step != 1)
        return {};
    SmallVector<Size> x(sizes.of(update.getX())), value(sizes.of(update.getValue()));
    if (x != value || update.getValue().getType() != update.getType())
      return {};
    return update.getValue();
  }
};

} // namespace
