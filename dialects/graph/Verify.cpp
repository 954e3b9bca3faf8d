// Rules C1.. of the op descriptions that types alone do not say. Inference at record time
// (dialects/opset) enforces the same rules with NumPy's wording; these are for IR that arrives as
// text and for pass bugs.
#include "dialects/graph/Graph.h"
#include "runtime/base/Routine.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace graphc::graph;

namespace {

/// One size operand per `?` of the result.
LogicalResult verifySizes(Operation *op, RankedTensorType result, size_t sizes) {
  if (static_cast<size_t>(result.getNumDynamicDims()) != sizes)
    return op->emitOpError("needs one size operand per '?' of its result: ")
           << result.getNumDynamicDims() << " expected, " << sizes << " given";
  return success();
}

bool sizesMayAgree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

LogicalResult verifySameElement(Operation *op, RankedTensorType a, RankedTensorType b) {
  if (a.getElementType() != b.getElementType())
    return op->emitOpError("element types differ: ") << a << " and " << b;
  return success();
}

LogicalResult verifyStartsAndSteps(Operation *op, int64_t rank, ArrayRef<int64_t> starts,
                                   ArrayRef<int64_t> steps, size_t dynamicStarts) {
  if (static_cast<int64_t>(starts.size()) != rank || static_cast<int64_t>(steps.size()) != rank)
    return op->emitOpError("C1: needs one start and one step per axis (") << rank << ")";
  if (llvm::is_contained(steps, 0))
    return op->emitOpError("a step is 0");
  size_t dynamic = llvm::count_if(starts, ShapedType::isDynamic);
  if (dynamic != dynamicStarts)
    return op->emitOpError("has ")
           << dynamic << " dynamic starts but " << dynamicStarts << " operands";
  return success();
}

/// Elements start + i * step, i < sizes, lie inside bounds, as far as all are static.
LogicalResult verifyRegion(Operation *op, ArrayRef<int64_t> starts, ArrayRef<int64_t> steps,
                           ArrayRef<int64_t> sizes, ArrayRef<int64_t> bounds) {
  for (auto [axis, start, step, size, bound] : llvm::enumerate(starts, steps, sizes, bounds)) {
    if (ShapedType::isDynamic(start) || ShapedType::isDynamic(size) ||
        ShapedType::isDynamic(bound) || size == 0)
      continue;
    int64_t last = start + (size - 1) * step;
    if (start < 0 || start >= bound || last < 0 || last >= bound)
      return op->emitOpError("C3: axis ") << axis << " reaches outside size " << bound;
  }
  return success();
}

} // namespace

LogicalResult graphc::graph::verifyOperandDTypes(Operation *op, StringRef dtypeClass) {
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Type type = elementType(operand.getType());
    bool isBool = type.isInteger(1), isFloat = isa<FloatType>(type);
    bool isComplex = isa<ComplexType>(type), isInteger = isa<IntegerType>(type);
    bool fits =
        dtypeClass == "Any" || (dtypeClass == "AnyReal" && !isComplex) ||
        (dtypeClass == "Numeric" && !isBool) ||
        (dtypeClass == "RealNumeric" && !isBool && !isComplex) ||
        (dtypeClass == "Inexact" && (isFloat || isComplex)) ||
        (dtypeClass == "Floating" && isFloat) || (dtypeClass == "ComplexFloating" && isComplex) ||
        (dtypeClass == "Integer" && isInteger && !isBool) ||
        (dtypeClass == "IntegerOrBool" && isInteger) || (dtypeClass == "Boolean" && isBool) ||
        (dtypeClass == "Random" &&
         (number < kRandomWords ? type.isUnsignedInteger(64) : type.isF64()));
    if (!fits)
      return op->emitOpError("C1: does not take ") << type;
  }
  return success();
}

LogicalResult DimOp::verify() {
  int64_t rank = cast<RankedTensorType>(getX().getType()).getRank();
  if (static_cast<int64_t>(getAxis()) < 0 || static_cast<int64_t>(getAxis()) >= rank)
    return emitOpError("axis ") << static_cast<int64_t>(getAxis()) << " is out of range for rank "
                                << rank;
  return success();
}

LogicalResult CastOp::verify() {
  if (isa<ShapedType>(getX().getType()) != isa<ShapedType>(getResult().getType()))
    return emitOpError("operand and result must both be shaped or both be scalars");
  return success();
}

LogicalResult BitcastOp::verify() {
  auto isNumber = [](Type type) { return type.isIntOrFloat() && !type.isInteger(1); };
  Type from = getElementTypeOrSelf(getX()), to = getElementTypeOrSelf(getResult());
  // bitcast_c1
  if (isa<ShapedType>(getX().getType()) != isa<ShapedType>(getResult().getType()) ||
      !isNumber(from) || !isNumber(to) ||
      from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return emitOpError("C1: ") << getX().getType() << " and " << getResult().getType()
                               << " are not real numbers of one width";
  return success();
}

LogicalResult FullOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  // full_c1
  if (getValue().getType() != realLike(type.getElementType()))
    return emitOpError("C1: literal of type ") << getValue().getType() << " in " << type;
  // full_c2
  return verifySizes(*this, type, getSizes().size());
}

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.getRank() != 1)
    return emitOpError("result must have rank 1, not ") << type;
  return verifySizes(*this, type, getSizes().size());
}

LogicalResult ExtentOp::verify() {
  if (cast<RankedTensorType>(getResult().getType()).getRank() != 0)
    return emitOpError("result must have rank 0");
  int64_t rank = cast<RankedTensorType>(getX().getType()).getRank();
  for (int64_t axis : getAxes())
    if (axis < 0 || axis >= rank)
      return emitOpError("axis ") << axis << " is out of range for rank " << rank;
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  ArrayRef<int64_t> dims = getDims();
  // broadcast_c1
  if (static_cast<int64_t>(dims.size()) != from.getRank())
    return emitOpError("C1: dims needs one entry per operand axis");
  int64_t previous = -1;
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (dim <= previous || dim >= to.getRank())
      return emitOpError("C1: dims must be strictly increasing and inside the result's rank");
    previous = dim;
    // broadcast_c2
    int64_t size = from.getDimSize(axis);
    if (size != 1 && !sizesMayAgree(size, to.getDimSize(dim)))
      return emitOpError("C2: cannot broadcast size ") << size << " to " << to.getDimSize(dim);
  }
  if (failed(verifySameElement(*this, from, to)))
    return failure();
  return verifySizes(*this, to, getSizes().size());
}

LogicalResult TransposeOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  ArrayRef<int64_t> permutation = getPermutation();
  // transpose_c1
  if (static_cast<int64_t>(permutation.size()) != from.getRank() || to.getRank() != from.getRank())
    return emitOpError("C1: permutation needs one entry per axis");
  llvm::SmallBitVector seen(from.getRank());
  for (auto [axis, source] : llvm::enumerate(permutation)) {
    if (source < 0 || source >= from.getRank() || seen.test(source))
      return emitOpError("C1: not a permutation");
    seen.set(source);
    if (from.getDimSize(source) != to.getDimSize(axis))
      return emitOpError("result axis ") << axis << " must have size of operand axis " << source;
  }
  return verifySameElement(*this, from, to);
}

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  // reshape_c1
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements())
    return emitOpError("C1: element counts differ: ") << from << " and " << to;
  if (failed(verifySameElement(*this, from, to)))
    return failure();
  return verifySizes(*this, to, getSizes().size());
}

LogicalResult SliceOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (to.getRank() != from.getRank())
    return emitOpError("C1: rank changes from ") << from.getRank() << " to " << to.getRank();
  // slice_c1, slice_c2
  if (failed(verifyStartsAndSteps(*this, from.getRank(), getStaticStarts(), getSteps(),
                                  getStarts().size())))
    return failure();
  // slice_c3
  if (failed(verifyRegion(*this, getStaticStarts(), getSteps(), to.getShape(), from.getShape())))
    return failure();
  if (failed(verifySameElement(*this, from, to)))
    return failure();
  return verifySizes(*this, to, getSizes().size());
}

LogicalResult FlipOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType());
  // flip_c1
  llvm::SmallBitVector seen(from.getRank());
  for (int64_t axis : getAxes()) {
    if (axis < 0 || axis >= from.getRank() || seen.test(axis))
      return emitOpError("C1: axes must be distinct and in range");
    seen.set(axis);
  }
  if (getX().getType() != getResult().getType())
    return emitOpError("result type must be the operand's");
  return success();
}

LogicalResult ConcatenateOp::verify() {
  auto to = cast<RankedTensorType>(getResult().getType());
  int64_t axis = getAxis();
  // concatenate_c3
  if (axis < 0 || axis >= to.getRank())
    return emitOpError("C3: axis ") << axis << " is out of range for rank " << to.getRank();
  if (getInputs().empty())
    return emitOpError("needs at least one operand");
  for (Value input : getInputs()) {
    auto from = cast<RankedTensorType>(input.getType());
    // concatenate_c1
    if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
      return emitOpError("C1: operand ") << from << " does not fit result " << to;
    // concatenate_c2
    for (int64_t d = 0; d < to.getRank(); ++d)
      if (d != axis && !sizesMayAgree(from.getDimSize(d), to.getDimSize(d)))
        return emitOpError("C2: sizes differ on axis ") << d;
  }
  return verifySizes(*this, to, getSizes().size());
}

LogicalResult UpdateSliceOp::verify() {
  auto to = cast<RankedTensorType>(getX().getType());
  auto from = cast<RankedTensorType>(getValue().getType());
  if (from.getRank() != to.getRank())
    return emitOpError("C1: value and tensor must have the same rank");
  // update_slice_c1
  if (failed(verifyStartsAndSteps(*this, to.getRank(), getStaticStarts(), getSteps(),
                                  getStarts().size())))
    return failure();
  if (getResult().getType() != to)
    return emitOpError("result type must be that of the updated tensor");
  // update_slice_c3
  if (failed(verifyRegion(*this, getStaticStarts(), getSteps(), from.getShape(), to.getShape())))
    return failure();
  // update_slice_c2
  return verifySameElement(*this, from, to);
}

/// Rules that gathers and scatters share: `value` has the elements at the places of `x`.
static LogicalResult verifyPlaces(Operation *op, RankedTensorType x, RankedTensorType value,
                                  ValueRange indices, ArrayRef<int64_t> axes, int64_t position) {
  // gather_c1, scatter_c1
  if (indices.empty() || indices.size() != axes.size())
    return op->emitOpError("C1: needs one index an axis");
  auto first = cast<RankedTensorType>(indices[0].getType());
  for (Value index : indices) {
    auto type = cast<RankedTensorType>(index.getType());
    if (!type.getElementType().isSignlessInteger(64) || type.getRank() != first.getRank())
      return op->emitOpError("C1: indices are i64 of one shape, not ") << type;
    for (auto [a, b] : llvm::zip_equal(type.getShape(), first.getShape()))
      if (!sizesMayAgree(a, b))
        return op->emitOpError("C1: indices have different sizes");
  }
  // gather_c2, scatter_c2
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis <= previous || axis >= x.getRank())
      return op->emitOpError("C2: axes must be increasing and in range for rank ") << x.getRank();
    previous = axis;
  }
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.getRank(); ++d)
    if (!llvm::is_contained(axes, d))
      shape.push_back(x.getDimSize(d));
  // gather_c3, scatter_c3
  if (position < 0 || position > static_cast<int64_t>(shape.size()))
    return op->emitOpError("C3: position ") << position << " is not among the other axes";
  shape.insert(shape.begin() + position, first.getShape().begin(), first.getShape().end());
  bool fits = static_cast<int64_t>(shape.size()) == value.getRank();
  for (int64_t d = 0; fits && d < value.getRank(); ++d)
    fits = sizesMayAgree(shape[d], value.getDimSize(d));
  if (!fits) // scatter_c4
    return op->emitOpError("C4: ") << value << " does not have the sizes of the places";
  return verifySameElement(op, x, value);
}

LogicalResult GatherOp::verify() {
  return verifyPlaces(*this, cast<RankedTensorType>(getX().getType()),
                      cast<RankedTensorType>(getType()), getIndices(), getAxes(), getPosition());
}

LogicalResult ScatterOp::verify() {
  if (getType() != getX().getType())
    return emitOpError("result type must be that of the updated tensor");
  // scatter_c5
  if (!getCombine().empty()) {
    std::optional<RegisteredOperationName> name =
        RegisteredOperationName::lookup(("graph." + getCombine()).str(), getContext());
    if (!name || !name->hasTrait<Elementwise>() || !name->hasTrait<OpTrait::NOperands<2>::Impl>())
      return emitOpError("C5: '") << getCombine()
                                  << "' is no elementwise operation of two operands";
  }
  return verifyPlaces(*this, cast<RankedTensorType>(getX().getType()),
                      cast<RankedTensorType>(getValue().getType()), getIndices(), getAxes(),
                      getPosition());
}

LogicalResult ReduceOp::verify() {
  auto from = cast<RankedTensorType>(getX().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  // reduce_c1
  int64_t previous = -1;
  for (int64_t axis : getAxes()) {
    if (axis <= previous || axis >= from.getRank())
      return emitOpError("C1: axes must be increasing and in range for rank ") << from.getRank();
    previous = axis;
  }
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < from.getRank(); ++d)
    if (!llvm::is_contained(getAxes(), d))
      kept.push_back(from.getDimSize(d));
  if (ArrayRef<int64_t>(kept) != to.getShape())
    return emitOpError("result shape must be the operand's without the reduced axes");
  Type element = from.getElementType();
  bool isBool = element.isInteger(1);
  // reduce_c4
  bool needsElements = getKind() == ReduceKind::Min || getKind() == ReduceKind::Max ||
                       getKind() == ReduceKind::ArgMin || getKind() == ReduceKind::ArgMax;
  for (int64_t axis : getAxes())
    if (needsElements && from.getDimSize(axis) == 0)
      return emitOpError("C4: axis ") << axis << " has no elements";
  // reduce_c6
  if (isa<ComplexType>(element) && getKind() != ReduceKind::Sum && getKind() != ReduceKind::Mean)
    return emitOpError("C6: complex numbers have sums and means only");
  switch (getKind()) {
  case ReduceKind::Any:
  case ReduceKind::All:
    // reduce_c2
    if (!isBool)
      return emitOpError("C2: any and all take bool, not ") << element;
    break;
  case ReduceKind::ArgMin:
  case ReduceKind::ArgMax:
    // reduce_c3
    if (!to.getElementType().isSignlessInteger(64))
      return emitOpError("C3: argmin and argmax give i64");
    if (getAxes().size() != 1)
      return emitOpError("C3: argmin and argmax reduce one axis");
    return success();
  case ReduceKind::Mean:
    // reduce_c5
    if (!isa<FloatType, ComplexType>(element))
      return emitOpError("C5: mean takes a float or complex dtype, not ") << element;
    break;
  case ReduceKind::Sum:
  case ReduceKind::Prod:
    if (isBool)
      return emitOpError("C2: sum and prod do not take bool");
    break;
  case ReduceKind::Min:
  case ReduceKind::Max:
    break;
  }
  return verifySameElement(*this, from, to);
}

LogicalResult ScanOp::verify() {
  auto type = cast<RankedTensorType>(getX().getType());
  int64_t axis = getAxis();
  // scan_c1
  if (axis < 0 || axis >= type.getRank())
    return emitOpError("C1: axis ") << axis << " is out of range for rank " << type.getRank();
  // scan_c2
  bool isSum = getKind() == ReduceKind::Sum || getKind() == ReduceKind::Prod;
  if (!isSum && getKind() != ReduceKind::Min && getKind() != ReduceKind::Max)
    return emitOpError("C2: scans are sums, products or extremes");
  if (type.getElementType().isInteger(1))
    return emitOpError("C2: scans do not take bool");
  // scan_c3
  if (isa<ComplexType>(type.getElementType()) && getKind() != ReduceKind::Sum)
    return emitOpError("C3: complex numbers have sums only");
  return success();
}

LogicalResult MatmulOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto y = cast<RankedTensorType>(getY().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  int64_t rank = x.getRank();
  // matmul_c1
  if (rank < 2 || y.getRank() != rank || to.getRank() != rank)
    return emitOpError("C1: operands and result need the same rank, at least 2");
  // matmul_c2
  if (!sizesMayAgree(x.getDimSize(rank - 1), y.getDimSize(rank - 2)))
    return emitOpError("C2: contracted sizes differ: ") << x << " and " << y;
  // matmul_c3
  for (int64_t d = 0; d < rank - 2; ++d)
    if (!sizesMayAgree(x.getDimSize(d), y.getDimSize(d)) ||
        !sizesMayAgree(x.getDimSize(d), to.getDimSize(d)))
      return emitOpError("C3: batch sizes differ on axis ") << d;
  if (!sizesMayAgree(to.getDimSize(rank - 2), x.getDimSize(rank - 2)) ||
      !sizesMayAgree(to.getDimSize(rank - 1), y.getDimSize(rank - 1)))
    return emitOpError("result sizes do not follow from the operands");
  if (failed(verifySameElement(*this, x, y)))
    return failure();
  return verifySameElement(*this, x, to);
}

/// Its dtype as the runtime knows it.
static std::optional<graphc::DType> dtypeOf(Type type) {
  using graphc::DType;
  if (type.isInteger(1))
    return DType::Bool;
  if (type.isBF16())
    return DType::BFloat16;
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF64() ? DType::Complex128 : DType::Complex64;
  for (int i = 0; i < graphc::kDTypeCount; ++i) {
    auto t = static_cast<DType>(i);
    bool kind = isa<FloatType>(type)       ? graphc::isFloat(t)
                : type.isUnsignedInteger() ? graphc::isUnsigned(t)
                : type.isSignlessInteger() ? graphc::isSigned(t)
                                           : false;
    if (kind && graphc::itemSize(t) * 8 == type.getIntOrFloatBitWidth())
      return t;
  }
  return std::nullopt;
}

LogicalResult LibraryOp::verify() {
  // library_c1
  auto routine = graphc::routineFromName(getRoutine());
  if (!routine)
    return emitOpError("C1: no routine is called '") << getRoutine() << "'";
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<graphc::RoutineTensor> tensors;
  auto describe = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t size : type.getShape())
      shapes.back().push_back(ShapedType::isDynamic(size) ? -1 : size);
    tensors.push_back(
        {dtypeOf(type.getElementType()).value_or(graphc::DType::Bool), shapes.back()});
  };
  shapes.reserve(getInputs().size() + 1);
  for (Value input : getInputs()) {
    shapes.emplace_back();
    describe(input);
  }
  shapes.emplace_back();
  describe(getResult());
  graphc::RoutineTensor result = tensors.pop_back_val();
  graphc::Status status = graphc::checkRoutine(*routine, tensors, result, getParams());
  if (!status)
    return emitOpError("C1: ") << status.message();
  return verifySizes(*this, cast<RankedTensorType>(getType()), getSizes().size());
}
