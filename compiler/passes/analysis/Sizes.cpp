#include "compiler/passes/analysis/Sizes.h"

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

static SmallVector<Size> mixedSizes(RankedTensorType type, OperandRange dynamic,
                                    SizeAnalysis &analysis) {
  SmallVector<Size> result;
  unsigned next = 0;
  for (int64_t size : type.getShape())
    result.push_back(ShapedType::isDynamic(size) ? analysis.canonical(dynamic[next++])
                                                 : Size{size, {}});
  return result;
}

SizeAnalysis::SizeAnalysis(func::FuncOp func) : context(func.getContext()) {
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  DenseMap<int64_t, Value> named;
  for (auto [i, arg] : llvm::enumerate(func.getArguments()))
    if (auto symbol = func.getArgAttrOfType<IntegerAttr>(i, "graph.symbol"))
      named[symbol.getInt()] = arg;
  for (auto [i, arg] : llvm::enumerate(func.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    auto dims = func.getArgAttrOfType<DenseI64ArrayAttr>(i, "graph.dims");
    SmallVector<Size> result;
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        result.push_back({size, {}});
        continue;
      }
      Value *name = dims && dims[axis] >= 0 ? &named[dims[axis]] : nullptr;
      Value value = name && *name ? *name : Value();
      if (!value) {
        for (Operation *user : arg.getUsers())
          if (auto dim = dyn_cast<graph::DimOp>(user); dim && dim.getAxis() == axis && !value)
            value = dim;
        if (!value || value.getDefiningOp()->getBlock() != &func.getBody().front())
          value = graph::DimOp::create(builder, arg.getLoc(), builder.getIndexType(), arg,
                                       builder.getI64IntegerAttr(axis));
        else
          value.getDefiningOp()->moveBefore(&func.getBody().front(),
                                            func.getBody().front().begin());
        if (name)
          *name = value;
      }
      result.push_back(canonical(value));
    }
    sizes[arg] = std::move(result);
  }
  func.getBody().front().walk([&](Operation *op) { visit(op); });
}

Size SizeAnalysis::canonical(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), {}};
  if (auto dim = index.getDefiningOp<graph::DimOp>())
    if (auto known = sizes.find(dim.getX()); known != sizes.end()) {
      Size size = known->second[dim.getAxis()];
      if (!size.value || size.value != index)
        return size.value ? canonical(size.value) : size;
    }
  while (true) {
    auto up = parent.find(index);
    if (up == parent.end())
      break;
    index = up->second;
  }
  if (auto pin = pinned.find(index); pin != pinned.end())
    return {pin->second, {}};
  return {0, index};
}

ArrayRef<Size> SizeAnalysis::of(Value tensor) {
  SmallVector<Size> &known = sizes[tensor];
  for (Size &size : known)
    if (size.value)
      size = canonical(size.value);
  return known;
}

void SizeAnalysis::replace(Value old, Value replacement) {
  SmallVector<Size> known(of(old));
  sizes[replacement] = std::move(known);
}

unsigned SizeAnalysis::symbol(Value index) {
  auto [it, inserted] = numbers.try_emplace(index, symbolValues.size());
  if (inserted)
    symbolValues.push_back(index);
  return it->second;
}

AffineExpr SizeAnalysis::expr(const Size &size) {
  if (size.value)
    return getAffineSymbolExpr(symbol(size.value), context);
  return getAffineConstantExpr(size.constant, context);
}

void SizeAnalysis::unify(Operation *op, unsigned axis, Size a, Size b) {
  if (a == b)
    return;
  std::string what;
  llvm::raw_string_ostream(what) << "axis " << axis << " of the operands of "
                                 << op->getName().getStringRef();
  checks.push_back({a, b, what});
  if (a.value && b.value)
    parent[b.value] = a.value;
  else if (a.value)
    pinned[a.value] = b.constant;
  else if (b.value)
    pinned[b.value] = a.constant;
}

SmallVector<Size> SizeAnalysis::resultSizes(Operation *op, RankedTensorType type) {
  return TypeSwitch<Operation *, SmallVector<Size>>(op)
      .Case<graph::BroadcastOp, graph::ReshapeOp, graph::SliceOp, graph::ConcatenateOp,
            graph::FullOp, graph::IotaOp, graph::LibraryOp>(
          [&](auto sized) { return mixedSizes(type, sized.getSizes(), *this); })
      .Case([&](graph::TransposeOp transpose) {
        SmallVector<Size> from(of(transpose.getX())), result;
        for (int64_t source : transpose.getPermutation())
          result.push_back(from[source]);
        return result;
      })
      .Case([&](graph::ReduceOp reduce) {
        SmallVector<Size> from(of(reduce.getX())), result;
        for (auto [axis, size] : llvm::enumerate(from))
          if (!llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)))
            result.push_back(size);
        return result;
      })
      .Case([&](graph::GatherOp gather) {
        SmallVector<Size> from(of(gather.getX())), index(of(gather.getIndices()[0])), result;
        for (auto [axis, size] : llvm::enumerate(from))
          if (!llvm::is_contained(gather.getAxes(), static_cast<int64_t>(axis)))
            result.push_back(size);
        result.insert(result.begin() + gather.getPosition(), index.begin(), index.end());
        return result;
      })
      .Case([&](graph::MatmulOp matmul) {
        SmallVector<Size> result(of(matmul.getX()));
        result.back() = of(matmul.getY()).back();
        return result;
      })
      .Default([&](Operation *other) {
        // Elementwise ops, update_slice, flip: the sizes of the first operand. 0-d results have
        // none.
        return type.getRank() == 0 ? SmallVector<Size>()
                                   : SmallVector<Size>(of(other->getOperand(0)));
      });
}

/// The indices of a gather or scatter have equal sizes, and what is scattered those of the places.
void SizeAnalysis::unifyPlaces(Operation *op) {
  auto scatter = dyn_cast<graph::ScatterOp>(op);
  ValueRange indices = scatter ? scatter.getIndices() : cast<graph::GatherOp>(op).getIndices();
  unsigned rank = cast<RankedTensorType>(indices[0].getType()).getRank();
  for (Value index : indices.drop_front())
    for (unsigned axis = 0; axis < rank; ++axis)
      unify(op, axis, of(indices[0])[axis], of(index)[axis]);
  if (!scatter)
    return;
  unsigned position = scatter.getPosition(), kept = 0;
  for (unsigned axis = 0; axis < rank; ++axis)
    unify(op, position + axis, of(scatter.getValue())[position + axis], of(indices[0])[axis]);
  SmallVector<Size> whole(of(scatter.getX()));
  for (auto [axis, size] : llvm::enumerate(whole)) {
    if (llvm::is_contained(scatter.getAxes(), static_cast<int64_t>(axis)))
      continue;
    unsigned at = kept < position ? kept : kept + rank;
    unify(op, at, of(scatter.getValue())[at], size);
    ++kept;
  }
}

void SizeAnalysis::visit(Operation *op) {
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return;
  if (op->hasTrait<graph::Elementwise>())
    for (Value operand : op->getOperands().drop_front())
      for (unsigned axis = 0; axis < type.getRank(); ++axis)
        unify(op, axis, of(op->getOperand(0))[axis], of(operand)[axis]);
  if (auto matmul = dyn_cast<graph::MatmulOp>(op)) {
    unsigned rank = type.getRank();
    for (unsigned axis = 0; axis + 2 < rank; ++axis)
      unify(op, axis, of(matmul.getX())[axis], of(matmul.getY())[axis]);
    unify(op, rank - 1, of(matmul.getX())[rank - 1], of(matmul.getY())[rank - 2]);
  }
  if (op->hasTrait<graph::Indexed>())
    unifyPlaces(op);
  // A reshape that only forgets which sizes are known.
  if (op->hasAttr("graphc.same_sizes")) {
    SmallVector<Size> renamed = resultSizes(op, type);
    for (auto [axis, size] : llvm::enumerate(renamed))
      unify(op, axis, size, of(op->getOperand(0))[axis]);
  }
  SmallVector<Size> result = resultSizes(op, type);
  // A static result type knows more than a `?` operand.
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(size))
      result[axis] = {size, {}};
  sizes[op->getResult(0)] = std::move(result);
}

SmallVector<Value> pass::dynamicSizes(RankedTensorType type, ArrayRef<Size> sizes,
                                      OpBuilder &builder, Location loc) {
  SmallVector<Value> result;
  for (auto [size, extent] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(extent))
      result.push_back(
          size.value ? size.value
                     : arith::ConstantIndexOp::create(builder, loc, size.constant).getResult());
  return result;
}
