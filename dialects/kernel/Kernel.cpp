#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::kernel;

#include "dialects/kernel/KernelDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

// Folds are functions of other families, not schedules.
static constexpr StringRef kFamilyNames[] = {"map",      "rows", "columns", "full",
                                             "contract", "",     "scan",    "sort"};

StringRef kernel::stringifyFamily(Family family) { return kFamilyNames[static_cast<int>(family)]; }

std::optional<Family> kernel::symbolizeFamily(StringRef name) {
  for (auto [i, known] : llvm::enumerate(kFamilyNames))
    if (known == name && !name.empty())
      return static_cast<Family>(i);
  return std::nullopt;
}

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(args, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

unsigned FuncOp::getNumTensors() {
  return llvm::count_if(getArgumentTypes(), [](Type t) { return isa<RankedTensorType>(t); });
}

unsigned FuncOp::getNumIndexSizes() {
  unsigned sizes = getNumSizes();
  for (auto number : getBody().getOps<NumberOp>())
    sizes = std::min(sizes, cast<AffineSymbolExpr>(number.getMap().getResult(0)).getPosition());
  return sizes;
}

void FuncOp::appendSizes(unsigned count) {
  MLIRContext *context = getContext();
  const unsigned sizes = getNumSizes() + count;
  auto grow = [&](AffineMap map) {
    return AffineMap::get(map.getNumDims(), sizes, map.getResults(), context);
  };
  getBody().walk([&](Operation *op) {
    if (auto map = op->getAttrOfType<AffineMapAttr>("map"))
      op->setAttr("map", AffineMapAttr::get(grow(map.getValue())));
  });
  SmallVector<Attribute> shapes;
  for (Attribute shape : getShapes())
    shapes.push_back(AffineMapAttr::get(grow(cast<AffineMapAttr>(shape).getValue())));
  setShapesAttr(ArrayAttr::get(context, shapes));
  setDomainAttr(
      DomainAttr::get(context, grow(getDomain().getExtents()), getDomain().getParallel()));
  SmallVector<Type> inputs(getArgumentTypes());
  for (unsigned i = 0; i < count; ++i) {
    inputs.push_back(IndexType::get(context));
    getBody().front().addArgument(IndexType::get(context), getLoc());
  }
  setFunctionType(FunctionType::get(context, inputs, getResultTypes()));
}

/// Whether a value changes along the reduced dimensions other than through a reduction.
static bool isPoint(Value value, int64_t parallel, llvm::DenseMap<Value, bool> &known) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  bool result = false;
  Operation *op = value.getDefiningOp();
  if (op && op->hasAttr("map")) {
    AffineMap map = op->getAttrOfType<AffineMapAttr>("map").getValue();
    auto gather = dyn_cast<GatherOp>(op);
    unsigned dims = map.getNumDims() - (gather ? gather.getPlaces().size() : 0);
    for (unsigned d = parallel; d < dims; ++d)
      result |= map.isFunctionOfDim(d);
  }
  if (op && !isa<ReduceOp, DotOp>(op))
    for (Value operand : op->getOperands())
      result |= isPoint(operand, parallel, known);
  return known[value] = result;
}

/// Element types and ranks of one load or store, and rule K3.
static LogicalResult verifyAccess(FuncOp func, Operation *op) {
  auto part = op->getAttrOfType<IntegerAttr>("part");
  auto fits = [&](Type tensor, unsigned shape, AffineMap map, Type value) -> LogicalResult {
    Type element = cast<RankedTensorType>(tensor).getElementType();
    auto complex = dyn_cast<ComplexType>(element);
    auto store = dyn_cast<StoreOp>(op);
    bool inParts = part || (store && store.getImaginary());
    if (inParts && (!complex || (part && part.getValue().ugt(1))))
      return op->emitOpError("names a part of ") << element;
    if ((inParts ? complex.getElementType() : element) != value)
      return op->emitOpError("moves ") << value << " but the tensor is " << tensor;
    if (store && store.getImaginary() && store.getImaginary().getType() != value)
      return op->emitOpError("stores parts of different types");
    if (map.getNumResults() !=
        cast<AffineMapAttr>(func.getShapes()[shape]).getValue().getNumResults())
      return op->emitOpError("map needs one result per size of the tensor");
    return success();
  };
  if (auto number = dyn_cast<NumberOp>(op)) {
    AffineMap map = number.getMap();
    if (map.getNumResults() != 1 || !isa<AffineSymbolExpr>(map.getResult(0)))
      return op->emitOpError("needs a size argument");
    return success();
  }
  if (isa<LoadOp, GatherOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
    if (!argument)
      return op->emitOpError("loads from something that is not an argument");
    return fits(argument.getType(), argument.getArgNumber(),
                op->getAttrOfType<AffineMapAttr>("map").getValue(), op->getResult(0).getType());
  }
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    if (func.getDomain().getParallel() != func.getNumDims())
      return op->emitOpError("K4: scatters belong to kernels without reduced dimensions");
    return fits(func.getResultTypes()[scatter.getResult()],
                func.getNumTensors() + scatter.getResult(), scatter.getMap(),
                scatter.getValue().getType());
  }
  auto store = dyn_cast<StoreOp>(op);
  if (!store)
    return success();
  if (failed(fits(func.getResultTypes()[store.getResult()],
                  func.getNumTensors() + store.getResult(), store.getMap(),
                  store.getValue().getType())))
    return failure();
  int64_t parallel = func.getDomain().getParallel();
  bool usesReduced = false;
  for (unsigned d = parallel; d < store.getMap().getNumDims(); ++d)
    usesReduced |= store.getMap().isFunctionOfDim(d);
  llvm::DenseMap<Value, bool> known;
  if (!usesReduced && (isPoint(store.getValue(), parallel, known) ||
                       (store.getImaginary() && isPoint(store.getImaginary(), parallel, known))))
    return op->emitOpError("K3: stores a value of every reduced point in one place");
  return success();
}

LogicalResult FuncOp::verify() {
  unsigned tensors = getNumTensors(), sizes = getNumSizes();
  for (auto [i, type] : llvm::enumerate(getArgumentTypes()))
    if (i < tensors ? !isa<RankedTensorType>(type) : !isa<IndexType>(type))
      return emitOpError("takes tensors, then index sizes; argument ") << i << " is " << type;
  if (getShapes().size() != tensors + getResultTypes().size())
    return emitOpError("needs one shape per tensor argument and result");
  if (getInits().size() != getResultTypes().size())
    return emitOpError("needs one init per result");
  for (int64_t init : getInits())
    if (init < -1 || init >= static_cast<int64_t>(tensors))
      return emitOpError("init ") << init << " is not a tensor argument";
  AffineMap extents = getDomain().getExtents();
  if (extents.getNumDims() != 0 || extents.getNumSymbols() != sizes)
    return emitOpError("domain extents must be a map of the ") << sizes << " sizes";
  if (getDomain().getParallel() < 0 || getDomain().getParallel() > getNumDims())
    return emitOpError("domain has no such number of parallel dimensions");
  SmallVector<bool> stored(getResultTypes().size());
  // K1, K2
  WalkResult walked = getBody().walk([&](Operation *op) {
    auto map = op->getAttrOfType<AffineMapAttr>("map");
    unsigned places = 0;
    if (auto gather = dyn_cast<GatherOp>(op))
      places = gather.getPlaces().size();
    if (auto scatter = dyn_cast<ScatterOp>(op))
      places = scatter.getPlaces().size();
    if (isa<StoreOp, ScatterOp>(op)) {
      uint64_t result = op->getAttrOfType<IntegerAttr>("result").getValue().getZExtValue();
      if (result >= stored.size()) {
        op->emitOpError("names result ") << result << " of " << stored.size();
        return WalkResult::interrupt();
      }
      stored[result] = true;
    }
    if (failed(verifyAccess(*this, op)))
      return WalkResult::interrupt();
    if (map && (map.getValue().getNumDims() != getNumDims() + places ||
                map.getValue().getNumSymbols() != sizes)) {
      op->emitOpError("K1: map must take ")
          << getNumDims() << " dimensions and " << sizes << " sizes";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  if (llvm::is_contained(stored, false))
    return emitOpError("K2: a result is never stored");
  return success();
}

LogicalResult CallOp::verify() {
  size_t dynamic = 0;
  for (Value result : getResults())
    dynamic += cast<RankedTensorType>(result.getType()).getNumDynamicDims();
  if (dynamic != getResultDims().size())
    return emitOpError("result_dims needs one entry per '?' of the results");
  for (int64_t size : getResultDims())
    if (size < 0 || size >= static_cast<int64_t>(getSizes().size()))
      return emitOpError("result_dims names size ") << size << " of " << getSizes().size();
  return success();
}

static LogicalResult verifyOrdered(Operation *op, Type element) {
  if (!element.isIntOrFloat() ||
      !llvm::is_contained({1u, 8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth()))
    return op->emitOpError("has no order of ") << element;
  return success();
}

LogicalResult SortOp::verify() { return verifyOrdered(*this, getElement()); }

LogicalResult SearchOp::verify() { return verifyOrdered(*this, getElement()); }

LogicalResult CorrelateOp::verify() {
  if (!getElement().isF32() && !getElement().isF64())
    return emitOpError("has no sums of ") << getElement();
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls unknown kernel ") << getCallee();
  if (callee.getNumTensors() != getTensors().size() || callee.getNumSizes() != getSizes().size() ||
      callee.getResultTypes().size() != getNumResults())
    return emitOpError("does not fit the signature of ") << getCallee();
  return success();
}
