#include "compiler/passes/lower/LoopSpace.h"

#include "compiler/passes/fuse/Watch.h"
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/ScanShape.h"
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/lower/TurnedRows.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

Type pass::memoryType(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType();
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (type.isUnsignedInteger() || type.isF16() || type.isBF16())
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

/// Row-major position of map results in a tensor of the given shape; all expressions are
/// polynomials by construction (division never enters a map).
static Polynomial linearize(AffineMap map, AffineMap shape) {
  Polynomial position;
  for (auto [index, size] : llvm::zip_equal(map.getResults(), shape.getResults()))
    position = position * *Polynomial::of(size) + *Polynomial::of(index);
  return position;
}

LoopSpace::LoopSpace(kernel::FuncOp func) : parallel(func.getDomain().getParallel()) {
  for (AffineExpr extent : func.getDomain().getExtents().getResults())
    extents.push_back(*Polynomial::of(extent));
  unsigned tensors = func.getNumTensors();
  auto shape = [&](unsigned i) { return cast<AffineMapAttr>(func.getShapes()[i]).getValue(); };
  func.getBody().walk([&](Operation *op) {
    Polynomial position;
    unsigned places = 0;
    if (auto load = dyn_cast<kernel::LoadOp>(op)) {
      position =
          linearize(load.getMap(), shape(cast<BlockArgument>(load.getTensor()).getArgNumber()));
    } else if (auto gather = dyn_cast<kernel::GatherOp>(op)) {
      position =
          linearize(gather.getMap(), shape(cast<BlockArgument>(gather.getTensor()).getArgNumber()));
      places = gather.getPlaces().size();
    } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      position = linearize(store.getMap(), shape(tensors + store.getResult()));
    } else if (auto scatter = dyn_cast<kernel::ScatterOp>(op)) {
      position = linearize(scatter.getMap(), shape(tensors + scatter.getResult()));
      places = scatter.getPlaces().size();
    } else if (auto index = dyn_cast<kernel::IndexOp>(op)) {
      position = *Polynomial::of(index.getMap().getResult(0));
    } else if (auto number = dyn_cast<kernel::NumberOp>(op)) {
      position = *Polynomial::of(number.getMap().getResult(0));
    } else {
      return;
    }
    LinearAccess access;
    if (auto part = op->getAttrOfType<IntegerAttr>("part"))
      access.part = part.getInt();
    else if (auto store = dyn_cast<kernel::StoreOp>(op); store && store.getImaginary())
      access.part = 0;
    if (access.part)
      position = position * Polynomial(2) + Polynomial(*access.part);
    for (unsigned d = 0; d < extents.size(); ++d) {
      access.strides.push_back(position.coefficient(d));
      position = position.without(d);
    }
    for (unsigned d = extents.size(); d < extents.size() + places; ++d) {
      access.places.push_back(position.coefficient(d));
      position = position.without(d);
    }
    access.offset = position;
    accesses[op] = std::move(access);
  });
  for (unsigned loop = extents.size(); loop-- > 1;)
    if (loop != parallel)
      merge(loop - 1);
}

/// Merges loops `outer` and `outer + 1` when every access walks through both as one.
void LoopSpace::merge(unsigned outer) {
  for (auto &[op, access] : accesses)
    if (!(access.strides[outer] == extents[outer + 1] * access.strides[outer + 1]))
      return;
  extents[outer] = extents[outer] * extents[outer + 1];
  extents.erase(extents.begin() + outer + 1);
  for (auto &[op, access] : accesses)
    access.strides.erase(access.strides.begin() + outer);
  if (outer + 1 < parallel)
    --parallel;
}

bool LoopSpace::anyAccess(Value value,
                          llvm::function_ref<bool(Operation *, const LinearAccess &)> holds) const {
  SmallVector<Value> stack = {value};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value current = stack.pop_back_val();
    Operation *op = current.getDefiningOp();
    if (!op || !seen.insert(current).second)
      continue;
    auto access = accesses.find(op);
    if (access != accesses.end() && holds(op, access->second))
      return true;
    // The places of a gather; the tensor of a load is an argument.
    stack.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

bool LoopSpace::dependsOn(Value value, unsigned loop) const {
  return anyAccess(value, [&](Operation *, const LinearAccess &access) {
    return !access.strides[loop].isZero();
  });
}

/// By how much an integer grows with each turn of a loop, between the places where it is chosen
/// from others; nothing where that is unknown.
std::optional<int64_t> LoopSpace::stepAlong(Value value, unsigned loop) const {
  if (!dependsOn(value, loop))
    return 0;
  Operation *op = value.getDefiningOp();
  if (isa<kernel::IndexOp>(op))
    return accesses.at(op).strides[loop].constant();
  if (!isa<graph::AddOp, graph::SubOp, graph::SelectOp>(op))
    return std::nullopt;
  unsigned count = op->getNumOperands(); // a choice's condition comes first
  auto x = stepAlong(op->getOperand(count - 2), loop),
       y = stepAlong(op->getOperand(count - 1), loop);
  if (!x || !y || (isa<graph::SelectOp>(op) && x != y))
    return std::nullopt;
  return isa<graph::AddOp>(op) ? *x + *y : isa<graph::SubOp>(op) ? *x - *y : *x;
}

bool LoopSpace::isRun(kernel::GatherOp op, unsigned loop) const {
  const LinearAccess &access = accesses.at(op);
  if (!op.getRuns() || !access.strides[loop].isZero())
    return false;
  unsigned moving = 0;
  for (auto [place, factor] : llvm::zip_equal(op.getPlaces(), access.places)) {
    if (factor.isZero() || !dependsOn(place, loop))
      continue;
    if (!factor.isConstant(op.getPart() ? 2 : 1) || stepAlong(place, loop) != 1)
      return false;
    ++moving;
  }
  return moving == 1;
}

bool LoopSpace::readsPieces(kernel::GatherOp op, unsigned loop) const {
  const LinearAccess &access = accesses.at(op);
  auto stays = [&](Value place) { return !dependsOn(place, loop); };
  return isRun(op, loop) || ((access.strides[loop].isZero() || access.isDense(loop)) &&
                             llvm::all_of(op.getPlaces(), stays));
}

bool LoopSpace::contiguous(Value value, unsigned loop) const {
  return !anyAccess(value, [&](Operation *op, const LinearAccess &access) {
    const Polynomial &stride = access.strides[loop];
    return isa<kernel::GatherOp>(op) ||
           (isa<kernel::LoadOp>(op) && !stride.isZero() && !stride.isConstant(1));
  });
}

bool LoopSpace::isDense(Value value, unsigned loop) const {
  return !anyAccess(value, [&](Operation *op, const LinearAccess &access) {
    return isa<kernel::GatherOp>(op) ||
           (isa<kernel::LoadOp>(op) && !access.strides[loop].isZero() && !access.isDense(loop));
  });
}

Polynomial LoopSpace::product(unsigned first, unsigned last) const {
  Polynomial result(1);
  for (unsigned i = first; i < last; ++i)
    result = result * extents[i];
  return result;
}

bool pass::scansAlongRows(kernel::FuncOp func, const LoopSpace &space) {
  bool along = true;
  func.getBody().walk(
      [&](kernel::StoreOp store) { along &= space.accesses.at(store).isDense(space.parallel); });
  return along || space.parallel == 0;
}

bool pass::scansNeighbours(kernel::FuncOp func, const LoopSpace &space) {
  bool along = space.reducedLoops() == 1;
  func.getBody().walk([&](kernel::StoreOp store) {
    along &= space.accesses.at(store).strides[space.parallel].isConstant(1);
  });
  return along;
}

/// Ops of the longest body that is repeated for every line of a block.
static constexpr unsigned kMostTurnedOps = 12;

bool pass::turnsInRegisters(kernel::FuncOp func) {
  unsigned ops = 0;
  bool cheap = true;
  func.getBody().walk([&](Operation *op) {
    ++ops;
    cheap &= !op->hasTrait<graph::Expensive>();
  });
  return cheap && ops <= kMostTurnedOps;
}

std::optional<unsigned> pass::turnedLoop(kernel::FuncOp func, const LoopSpace &space, bool groups) {
  std::optional<unsigned> turned;
  bool agree =
      space.parallel >= 2 && space.parallel == space.count() && (!groups || turnsInRegisters(func));
  if (!agree)
    return std::nullopt;
  unsigned last = space.parallel - 1;
  func.getBody().walk([&](Operation *op) {
    agree &= !isa<kernel::GatherOp, kernel::ScatterOp>(op);
    if (!isa<kernel::LoadOp, kernel::StoreOp>(op))
      return;
    const LinearAccess &access = space.accesses.at(op);
    agree &= !groups || !access.part;
    if (access.strides[last].isZero() || access.isDense(last))
      return;
    // What is neither read along the last loop nor along the turned one would be gathered anyway.
    std::optional<unsigned> along;
    for (unsigned i = 0; i < last; ++i)
      if (access.isDense(i))
        along = i;
    agree &= isa<kernel::LoadOp>(op) && along && (!turned || turned == along);
    turned = along;
  });
  return agree ? turned : std::nullopt;
}

/// Neighbours up to so many elements apart share a line with others that are read soon.
static constexpr int64_t kNear = 8;

bool pass::isFar(const Polynomial &stride) {
  auto known = stride.constant();
  return !stride.isZero() && !(known && std::abs(*known) < kNear);
}

std::optional<unsigned> pass::turnedColumns(kernel::FuncOp func, const LoopSpace &space) {
  if (space.parallel == 0 || space.reducedLoops() != 1)
    return std::nullopt;
  unsigned last = space.parallel - 1, rows = space.parallel;
  bool agree = true, turned = false, tree = false;
  func.getBody().walk([&](Operation *op) {
    agree &= !isa<kernel::GatherOp, kernel::ScatterOp, kernel::ScanOp, kernel::DotOp>(op);
    auto reduce = dyn_cast<kernel::ReduceOp>(op);
    tree |= reduce && reduce.getRowTree();
    if (!isa<kernel::LoadOp, kernel::StoreOp>(op))
      return;
    const LinearAccess &access = space.accesses.at(op);
    if (access.strides[rows].isZero())
      return;
    bool along = isFar(access.strides[last]) && access.isDense(rows);
    agree &= isa<kernel::LoadOp>(op) && (along || access.strides[last].isZero());
    turned |= along;
  });
  return agree && turned && tree ? std::optional(rows) : std::nullopt;
}

SmallVector<kernel::LoadOp> pass::turnedLoads(kernel::FuncOp kernel, const LoopSpace &space,
                                              unsigned turned) {
  SmallVector<kernel::LoadOp> loads;
  kernel.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = space.accesses.at(load);
    unsigned last = space.parallel - 1;
    if (!access.strides[last].isZero() && !access.isDense(last) && access.isDense(turned))
      loads.push_back(load);
  });
  return loads;
}

bool pass::writesOneByOne(kernel::FuncOp func) {
  bool found = false;
  func.getBody().walk([&](kernel::ScatterOp op) { found |= !op.getUnique(); });
  return found && !func->hasAttr(kAtomicAttr) && !func->hasAttr(kSortedAttr);
}

bool pass::reportsFaults(kernel::FuncOp func) {
  return func->hasAttr(kWatchAttr) || checksIndices(func);
}

bool pass::checksIndices(kernel::FuncOp func) {
  bool found = false;
  func.getBody().walk([&](kernel::BoundOp) { found = true; });
  return found;
}

SmallVector<int32_t> pass::indexTensors(kernel::FuncOp func) {
  SmallVector<Value> open;
  llvm::SmallDenseSet<Value> seen;
  llvm::SmallSetVector<int32_t, 4> tensors;
  auto visit = [&](Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && isa<TensorType>(value.getType()))
      tensors.insert(static_cast<int32_t>(argument.getArgNumber()));
    else if (seen.insert(value).second)
      open.push_back(value);
  };
  func.getBody().walk([&](kernel::BoundOp bound) { visit(bound.getIndex()); });
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp())
      llvm::for_each(op->getOperands(), visit);
  return tensors.takeVector();
}

bool pass::reducesOnce(kernel::FuncOp func) {
  unsigned parallel = func.getDomain().getParallel();
  llvm::DenseSet<Value> reduced; // and what is computed from it
  for (Operation &op : func.getBody().front()) {
    bool after = llvm::any_of(op.getOperands(), [&](Value v) { return reduced.contains(v); });
    auto store = dyn_cast<kernel::StoreOp>(op);
    bool point = isa<kernel::ReduceOp>(op);
    for (unsigned d = parallel; store && d < store.getMap().getNumDims(); ++d)
      point |= store.getMap().isFunctionOfDim(d);
    if (after && point)
      return false;
    if (after || isa<kernel::ReduceOp>(op))
      reduced.insert(op.result_begin(), op.result_end());
  }
  return true;
}

SmallVector<Polynomial> pass::unalignedSteps(kernel::FuncOp func, const LoopSpace &space,
                                             unsigned loop, int64_t lanes,
                                             ArrayRef<Polynomial> also) {
  SmallVector<Polynomial> steps;
  auto add = [&](const Polynomial &step) {
    auto known = step.constant();
    if (!(known && *known % lanes == 0) && !llvm::is_contained(steps, step))
      steps.push_back(step);
  };
  llvm::for_each(also, add);
  func.getBody().walk([&](Operation *op) {
    auto found = space.accesses.find(op);
    if (found == space.accesses.end() || isa<kernel::IndexOp, kernel::NumberOp>(op) ||
        !found->second.strides[loop].isConstant(1))
      return;
    add(found->second.offset);
    for (auto [number, stride] : llvm::enumerate(found->second.strides))
      if (number != loop)
        add(stride);
  });
  return steps;
}
