#include "compiler/passes/schedule/StageOperands.h"

#include "compiler/passes/lower/Reducers.h"
#include "compiler/passes/lower/ScanShape.h"
#include "compiler/passes/lower/TurnedRows.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Operands of at most so many elements stay in a cache whatever the order.
constexpr int64_t kSmall = 4096;

/// The loop whose neighbours are the lanes of the kernel's vectors; nothing: no lanes.
std::optional<unsigned> lanesLoop(kernel::FuncOp func, const LoopSpace &space) {
  int64_t dims = func.getNumDims(), parallel = func.getDomain().getParallel();
  if (dims == 0 || writesOneByOne(func))
    return std::nullopt;
  if (parallel == dims)
    return turnedLoop(func, space, /*groups=*/false) ? std::nullopt
                                                     : std::optional(space.count() - 1);
  bool product = false, columns = false;
  func.getBody().walk([&](Operation *op) {
    product |= isa<kernel::DotOp>(op);
    columns |= isa<kernel::ScanOp>(op) && !scansAlongRows(func, space);
    auto reduce = dyn_cast<kernel::ReduceOp>(op);
    columns |= reduce && reduce.getRowTree();
  });
  if (product || turnedColumns(func, space))
    return std::nullopt;
  return columns ? space.parallel - 1 : space.count() - 1;
}

bool isTurned(const LinearAccess &access, unsigned lanes) {
  if (!isFar(access.strides[lanes]))
    return false;
  for (unsigned loop = 0; loop < access.strides.size(); ++loop)
    if (loop != lanes && access.isDense(loop))
      return true;
  return false;
}

/// Whether dimensions walk through an index of a tensor as the digits of a number do, so that no
/// element is met twice.
bool areDigits(Polynomial index, SmallVector<unsigned> dims, AffineMap extents) {
  Polynomial next;
  bool first = true;
  while (!dims.empty()) {
    auto *found = llvm::find_if(dims, [&](unsigned d) {
      return first ? index.coefficient(d).constant().has_value() : index.coefficient(d) == next;
    });
    if (found == dims.end())
      return false;
    next = index.coefficient(*found) * *Polynomial::of(extents.getResult(*found));
    first = false;
    dims.erase(found);
  }
  return true;
}

/// The dimensions that a map uses, in order, when what is read is no more than the tensor has.
std::optional<SmallVector<unsigned>> usedDims(AffineMap map, AffineMap extents) {
  llvm::SmallBitVector used(map.getNumDims());
  for (AffineExpr index : map.getResults()) {
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      if (index.isFunctionOfDim(d)) {
        if (used.test(d))
          return std::nullopt;
        used.set(d);
        dims.push_back(d);
      }
    if (dims.size() > 1 && !areDigits(*Polynomial::of(index), dims, extents))
      return std::nullopt;
  }
  return llvm::to_vector(llvm::map_range(used.set_bits(), [](int d) { return unsigned(d); }));
}

/// Whether rows are neighbours in memory, and the elements of each far apart, in everything that is
/// read of them, to be reduced once by the lane tree.
bool hasFarRows(kernel::FuncOp func) {
  LoopSpace space(func);
  if (space.parallel != 1 || space.reducedLoops() != 1 || !reducesOnce(func))
    return false;
  bool reads = false, fits = true;
  func.getBody().walk([&](Operation *op) {
    auto reduce = dyn_cast<kernel::ReduceOp>(op);
    fits &= !isa<kernel::DotOp, kernel::ScanOp, kernel::GatherOp, kernel::ScatterOp>(op);
    fits &= !reduce || !reduce.getRowTree();
    if (!isa<kernel::LoadOp, kernel::StoreOp>(op))
      return;
    const LinearAccess &access = space.accesses.at(op);
    if (access.strides[1].isZero())
      return;
    reads = true;
    fits &= isa<kernel::LoadOp>(op) && access.isDense(0) && isFar(access.strides[1]);
  });
  return reads && fits;
}

/// Such a kernel reads its operands as they lie. Where the tree means nothing its rows are columns.
void readFarRows(kernel::FuncOp func) {
  bool anyOrder = true, places = false, narrow = false;
  func.getBody().walk([&](kernel::ReduceOp reduce) {
    Reducer reducer(reduce, /*narrows=*/true);
    places |= reducer.parts() > 1;
    narrow |= reducer.isNarrow();
    anyOrder &= Reducer(reduce).isFree() || reducer.parts() > 1;
  });
  if (anyOrder)
    func.getBody().walk([](kernel::ReduceOp reduce) { reduce.setRowTree(true); });
  else if (!places && !narrow)
    func->setAttr(kFarRowsAttr, UnitAttr::get(func.getContext()));
}

/// One operand of a kernel as it is to be made: the loads that will read it share tensor and map.
struct Staged {
  unsigned tensor;
  AffineMap map;
  SmallVector<unsigned> dims;
  SmallVector<kernel::LoadOp> loads;
  kernel::FuncOp copy;
  bool replaces = false; ///< nothing else reads the tensor: the kernel has the copy in its place
};

class Stager {
public:
  Stager(kernel::FuncOp func, SymbolTable &symbols) : func(func), symbols(symbols) {}

  /// Changes the kernel; its callers have to pass results() then.
  bool run() {
    find();
    for (Staged &operand : staged)
      stage(operand);
    return !staged.empty();
  }

  void callBefore(kernel::CallOp call) {
    OpBuilder b(call);
    SmallVector<Value> before(call.getTensors()), tensors = before;
    for (const Staged &operand : staged) {
      SmallVector<int64_t> resultDims;
      for (unsigned d : operand.dims)
        if (auto size = dyn_cast<AffineSymbolExpr>(extent(d)))
          resultDims.push_back(size.getPosition());
      kernel::FuncOp copy = operand.copy;
      auto made = kernel::CallOp::create(b, call.getLoc(), copy.getResultTypes(),
                                         copy.getSymNameAttr(), ValueRange(before[operand.tensor]),
                                         call.getSizes(), b.getDenseI64ArrayAttr(resultDims),
                                         call.getLinesAttr(), ArrayAttr());
      if (operand.replaces)
        tensors[operand.tensor] = made.getResult(0);
      else
        tensors.push_back(made.getResult(0));
    }
    call.getTensorsMutable().assign(tensors);
  }

private:
  AffineExpr extent(unsigned dim) { return func.getDomain().getExtents().getResult(dim); }

  void find() {
    LoopSpace space(func);
    auto lanes = lanesLoop(func, space);
    if (!lanes)
      return;
    func.getBody().walk([&](kernel::LoadOp load) {
      if (!isTurned(space.accesses.at(load), *lanes))
        return;
      unsigned tensor = cast<BlockArgument>(load.getTensor()).getArgNumber();
      for (Staged &known : staged)
        if (known.tensor == tensor && known.map == load.getMap())
          return known.loads.push_back(load);
      auto dims = usedDims(load.getMap(), func.getDomain().getExtents());
      if (dims && worthwhile(*dims))
        staged.push_back({tensor, load.getMap(), *dims, {load}, {}});
    });
  }

  bool worthwhile(ArrayRef<unsigned> dims) {
    int64_t known = 1;
    for (unsigned d : dims) {
      AffineExpr size = extent(d);
      if (auto constant = dyn_cast<AffineConstantExpr>(size))
        known *= constant.getValue();
      else if (isa<AffineSymbolExpr>(size))
        known = kSmall + 1;
      else
        return false;
    }
    return known > kSmall;
  }

  /// The same map over the dimensions that are used.
  AffineMap overUsed(AffineMap map, ArrayRef<unsigned> dims) {
    MLIRContext *context = func.getContext();
    SmallVector<AffineExpr> renamed(map.getNumDims(), getAffineConstantExpr(0, context));
    for (auto [i, d] : llvm::enumerate(dims))
      renamed[d] = getAffineDimExpr(i, context);
    SmallVector<AffineExpr> results;
    for (AffineExpr index : map.getResults())
      results.push_back(index.replaceDims(renamed));
    return AffineMap::get(dims.size(), map.getNumSymbols(), results, context);
  }

  AffineMap shapeOf(ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> sizes;
    for (unsigned d : dims)
      sizes.push_back(extent(d));
    return AffineMap::get(0, func.getNumSizes(), sizes, func.getContext());
  }

  void stage(Staged &operand) {
    MLIRContext *context = func.getContext();
    Type element = cast<RankedTensorType>(func.getArgumentTypes()[operand.tensor]).getElementType();
    AffineMap shape = shapeOf(operand.dims);
    SmallVector<int64_t> sizes;
    for (AffineExpr size : shape.getResults()) {
      auto known = dyn_cast<AffineConstantExpr>(size);
      sizes.push_back(known ? known.getValue() : ShapedType::kDynamic);
    }
    auto type = RankedTensorType::get(sizes, element);
    operand.copy = copyKernel(operand, type, shape);
    SmallVector<Type> inputs(func.getArgumentTypes());
    SmallVector<Attribute> shapes(func.getShapes().getValue());
    Value argument = func.getArgument(operand.tensor);
    operand.replaces = !llvm::is_contained(func.getInits(), int64_t(operand.tensor)) &&
                       llvm::all_of(argument.getUsers(), [&](Operation *user) {
                         return llvm::is_contained(operand.loads, user);
                       });
    if (operand.replaces) {
      inputs[operand.tensor] = type;
      shapes[operand.tensor] = AffineMapAttr::get(shape);
      argument.setType(type);
    } else {
      // The new tensor is the last one; sizes follow.
      unsigned place = func.getNumTensors();
      inputs.insert(inputs.begin() + place, type);
      shapes.insert(shapes.begin() + place, AffineMapAttr::get(shape));
      argument = func.getBody().front().insertArgument(place, type, func.getLoc());
    }
    func.setFunctionType(FunctionType::get(context, inputs, func.getResultTypes()));
    func.setShapesAttr(ArrayAttr::get(context, shapes));
    SmallVector<AffineExpr> indices;
    for (unsigned d : operand.dims)
      indices.push_back(getAffineDimExpr(d, context));
    AffineMap straight = AffineMap::get(func.getNumDims(), func.getNumSizes(), indices, context);
    for (kernel::LoadOp load : operand.loads) {
      load.getTensorMutable().assign(argument);
      load.setMap(straight);
    }
  }

  /// A map that copies what the loads read.
  kernel::FuncOp copyKernel(const Staged &operand, RankedTensorType type, AffineMap shape) {
    MLIRContext *context = func.getContext();
    Location loc = func.getLoc();
    OpBuilder b(func);
    SmallVector<Type> inputs = {func.getArgumentTypes()[operand.tensor]};
    inputs.append(func.getNumSizes(), b.getIndexType());
    Attribute shapes[] = {func.getShapes()[operand.tensor], AffineMapAttr::get(shape)};
    unsigned rank = operand.dims.size();
    auto copy = kernel::FuncOp::create(
        b, loc, (func.getSymName() + "_turn").str(), FunctionType::get(context, inputs, type),
        kernel::DomainAttr::get(context, shape, rank), b.getArrayAttr(shapes),
        b.getDenseI64ArrayAttr({-1}), kernel::ScheduleAttr(), ArrayAttr(), ArrayAttr());
    // Lines that are far apart are better not read before they are written.
    copy->setAttr(kLastReadAttr, b.getDenseBoolArrayAttr({true}));
    copy->setAttr(kForRowsAttr, b.getUnitAttr());
    symbols.insert(copy);
    Block &body = copy.getBody().emplaceBlock();
    body.addArguments(inputs, SmallVector<Location>(inputs.size(), loc));
    OpBuilder inside = OpBuilder::atBlockBegin(&body);
    AffineMap from = overUsed(operand.map, operand.dims);
    AffineMap to = AffineMap::getMultiDimIdentityMap(rank, context);
    to = AffineMap::get(rank, func.getNumSizes(), to.getResults(), context);
    auto load = [&](Type part, IntegerAttr number) {
      return kernel::LoadOp::create(inside, loc, part, body.getArgument(0), from, number)
          .getResult();
    };
    Value value, imaginary;
    if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
      value = load(complex.getElementType(), inside.getI64IntegerAttr(0));
      imaginary = load(complex.getElementType(), inside.getI64IntegerAttr(1));
    } else {
      value = load(type.getElementType(), IntegerAttr());
    }
    kernel::StoreOp::create(inside, loc, value, imaginary, 0, to);
    kernel::ReturnOp::create(inside, loc);
    return copy;
  }

  kernel::FuncOp func;
  SymbolTable &symbols;
  SmallVector<Staged> staged;
};

} // namespace

void pass::stageTurnedOperands(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto func : llvm::to_vector(module.getOps<kernel::FuncOp>())) {
    if (hasFarRows(func))
      readFarRows(func);
    if (func->hasAttr(kFarRowsAttr))
      continue;
    Stager stager(func, symbols);
    if (!stager.run())
      continue;
    module.walk([&](kernel::CallOp call) {
      if (call.getCallee() == func.getSymName())
        stager.callBefore(call);
    });
  }
}
