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

ContractForm pass::contractForm(kernel::FuncOp func, const LoopSpace &space, int64_t vector) {
  if (vector == 1)
    return ContractForm::Item;
  if (space.parallel == 0)
    return ContractForm::Point;
  Products products(func, space);
  unsigned column = space.parallel - 1;
  auto change = [&](ArrayRef<Value> operands, unsigned loop) {
    return llvm::any_of(operands, [&](Value value) { return space.dependsOn(value, loop); });
  };
  if (change(products.rows, column))
    return ContractForm::Lanes;
  if (space.parallel >= 2 && !change(products.columns, column - 1))
    return ContractForm::Panels;
  bool dense =
      llvm::all_of(products.columns, [&](Value value) { return space.isDense(value, column); });
  return dense ? ContractForm::Stream : ContractForm::Lanes;
}

bool pass::contractsByGroups(kernel::FuncOp func, const LoopSpace &space) {
  if (space.parallel < 2 || space.reducedLoops() != 1)
    return false;
  kernel::DotOp dot;
  unsigned dots = 0;
  func.getBody().walk([&](kernel::DotOp op) {
    dot = op;
    ++dots;
  });
  if (dots != 1)
    return false;
  unsigned column = space.parallel - 1, row = column - 1;
  auto only = [&](Value value, unsigned loop, unsigned other) {
    return space.dependsOn(value, loop) && !space.dependsOn(value, other);
  };
  Value left = dot.getLhs(), right = dot.getRhs();
  return (dot.getType().isF32() || dot.getType().isF64()) &&
         ((only(left, row, column) && only(right, column, row)) ||
          (only(left, column, row) && only(right, row, column)));
}

bool pass::isSymmetricProduct(kernel::DotOp dot, const LoopSpace &space) {
  auto x = dot.getLhs().getDefiningOp<kernel::LoadOp>();
  auto y = dot.getRhs().getDefiningOp<kernel::LoadOp>();
  int column = static_cast<int>(space.parallel) - 1, row = column - 1;
  if (!x || !y || row < 0 || x.getTensor() != y.getTensor() ||
      !(space.extents[row] == space.extents[column]))
    return false;
  if (space.dependsOn(dot.getLhs(), column))
    std::swap(x, y);
  const LinearAccess &left = space.accesses.at(x), &right = space.accesses.at(y);
  bool same = left.offset == right.offset && left.part == right.part &&
              left.strides[row] == right.strides[column];
  for (int number = 0; number < static_cast<int>(space.count()); ++number)
    if (number != row && number != column)
      same &= left.strides[number] == right.strides[number];
  return same;
}

/// How many tiles of a size a product has.
static AffineExpr tileCount(const LoopSpace &space, int64_t size, MLIRContext *context) {
  auto tiles = [&](unsigned loop) {
    return space.product(loop, loop + 1).toExpr(context).ceilDiv(size);
  };
  return space.product(0, space.parallel - 2).toExpr(context) * tiles(space.parallel - 2) *
         tiles(space.parallel - 1);
}

/// Measured on an H100 with k from 64 to 4096, float64 also on an H200 with k of 256.
TileCost pass::tileCost(Type type, bool isSmall) {
  if (type.isF64())
    return isSmall ? TileCost{23, 60} : TileCost{80, 85};
  return isSmall ? TileCost{13, 0} : TileCost{40, 0};
}

int64_t pass::contractTile(kernel::DotOp dot, const LoopSpace &space) {
  if (dot.getType().isF64() && isSymmetricProduct(dot, space))
    return kSmallTile;
  auto known = [&](int64_t size) {
    return dyn_cast<AffineConstantExpr>(tileCount(space, size, dot.getContext()));
  };
  std::optional<int64_t> length = space.product(space.parallel, space.count()).constant();
  auto large = known(kContractTile), small = known(kSmallTile);
  if (tensorElement(dot) || !length || !large || !small)
    return kContractTile;
  int64_t blocks = std::max<int64_t>(1, llvm::divideCeil(*length, kChain));
  auto cost = [&](AffineConstantExpr tiles, bool isSmall) {
    TileCost each = tileCost(dot.getType(), isSmall);
    return llvm::divideCeil(tiles.getValue() * blocks, kMultiprocessors) * each.step *
           (std::min(*length, kChain) + each.around);
  };
  return cost(small, true) < cost(large, false) ? kSmallTile : kContractTile;
}

Type pass::tensorElement(kernel::DotOp dot) {
  auto widened = [](Value value) {
    auto cast = value.getDefiningOp<graph::CastOp>();
    return cast ? cast->getOperand(0).getType() : Type();
  };
  Type element = widened(dot.getLhs());
  bool narrow = element && (element.isF16() || element.isBF16());
  return dot.getFast() && dot.getType().isF32() && narrow && widened(dot.getRhs()) == element
             ? element
             : Type();
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

/// What a reduction keeps in memory of the elements that it has seen.
static SmallVector<Type> statesOf(kernel::ReduceOp reduce) {
  SmallVector<Type> types = {memoryType(reduce.getValue().getType())};
  if (reduce.getKind() == graph::ReduceKind::ArgMin ||
      reduce.getKind() == graph::ReduceKind::ArgMax)
    types.push_back(IntegerType::get(reduce.getContext(), 64));
  return types;
}

/// Whether a core's turns of the outermost loop write to rows of their own, each to one: threads
/// may share them out.
static bool scattersIntoOwnRows(kernel::FuncOp func, const LoopSpace &space) {
  auto schedule = func.getSchedule();
  if (schedule->getFamily() != Family::Map || schedule->getGroup() || schedule->getVector() == 1 ||
      space.parallel < 2)
    return false;
  auto extent = Polynomial::of(func.getDomain().getExtents().getResult(0));
  if (!extent || !(space.extents[0] == *extent))
    return false;
  bool own = true;
  func.getBody().walk([&](kernel::ScatterOp op) {
    own &= op.getMap().getResult(0) == getAffineDimExpr(0, func.getContext());
  });
  return own;
}

KernelShape::KernelShape(kernel::FuncOp func, const LoopSpace &space)
    : family(func.getSchedule()->getFamily()) {
  MLIRContext *context = func.getContext();
  auto product = [&](unsigned first, unsigned last) {
    return space.product(first, last).toExpr(context);
  };
  unsigned parallel = space.parallel;
  range = product(0, parallel);
  work = product(parallel, space.count());
  pieces = range;
  oneByOne = writesOneByOne(func);
  if (oneByOne) {
    // An item is a row of the outermost loop, or all of them.
    unsigned outer = scattersIntoOwnRows(func, space) ? 1 : 0;
    work = product(outer, parallel);
    range = pieces = outer ? product(0, outer) : getAffineConstantExpr(1, context);
    return;
  }
  group = func.getSchedule()->getGroup();
  setGroups(func, space);
  if (family == Family::Map && !group && func.getSchedule()->getVector() > 1)
    turned = turnedLoop(func, space, /*groups=*/false);
  if (turned && !group) {
    bool forRows = turnsForRows(func, turned);
    int64_t rows = forRows ? program::kRowsTogether : kTurnedRows;
    int64_t columns = forRows ? kForRowsColumns : kTurnedColumns;
    AffineExpr tiles = getAffineConstantExpr(1, context);
    for (unsigned i = 0; i < parallel; ++i) {
      AffineExpr extent = product(i, i + 1);
      tiles = tiles * (i == *turned        ? extent.ceilDiv(rows)
                       : i + 1 == parallel ? extent.ceilDiv(columns)
                                           : extent);
    }
    range = pieces = tiles;
    work = getAffineConstantExpr(rows * columns, context);
    return;
  }
  if (family == Family::Contract && group) {
    auto known = space.product(parallel, space.count()).constant();
    int64_t chain = func->hasAttr(kTensorsAttr) ? kTensorChain : kChain;
    splitBlock = known && *known <= chain ? 0 : chain;
    if (splitBlock)
      partials.push_back(dotOf(func).getType());
    return;
  }
  if (family == Family::Scan) {
    auto known = space.product(parallel, space.count()).constant();
    splitBlock = known && *known <= kScanBlock ? 0 : kScanBlock;
    scansColumns = group && !scansNeighbours(func, space);
    func.getBody().walk([&](kernel::ScanOp scan) {
      bool hands = func->hasAttr(kHandedAttr) && (group || scansAlongRows(func, space));
      if (splitBlock && hands) {
        handedWords = 2 * pass::handedWords(memoryType(scan.getType()));
        partials.push_back(IntegerType::get(context, 64));
      } else if (splitBlock) {
        partials.push_back(memoryType(scan.getType()));
      }
    });
    return;
  }
  bool lanes = family == Family::Full || (family == Family::Rows && reducesOnce(func));
  if (lanes || family == Family::Columns) {
    splitBlock = lanes ? kTreeBlock : kRowTreeBlock;
    if (!lanes && !group && func.getSchedule()->getVector() > 1)
      turned = turnedColumns(func, space);
    if (auto known = space.product(parallel, space.count()).constant();
        known && *known <= splitBlock)
      splitBlock = 0;
    if (splitBlock == 0)
      return;
    func.getBody().walk([&](kernel::ReduceOp reduce) { partials.append(statesOf(reduce)); });
    // Every group waits for its ticket, which costs more than a launch where groups are few because
    // they hold several states.
    lastFolds = func->hasAttr(kTicketsAttr) && partials.size() == 1;
  } else if (family == Family::Contract && !group) {
    setContract(func, space);
  }
}

static constexpr int64_t kMapStrips = 4;

void KernelShape::setGroups(kernel::FuncOp func, const LoopSpace &space) {
  if (!group)
    return;
  unsigned parallel = space.parallel;
  int64_t vector = func.getSchedule()->getVector();
  MLIRContext *context = func.getContext();
  if (family == Family::Map)
    turned = turnedLoop(func, space, /*groups=*/true);
  if (turned) {
    int64_t bytes = 0;
    for (kernel::LoadOp load : turnedLoads(func, space, *turned))
      bytes += memoryType(load.getType()).getIntOrFloatBitWidth() / 8;
    for (turnedTile = kGroupTile; turnedTile * (turnedTile + 1) * bytes > kGroupMemory;)
      turnedTile /= 2;
    if (turnedTile < kGroupTile / 2)
      turned = std::nullopt;
  }
  if (turned) {
    pieces = getAffineConstantExpr(1, context);
    for (unsigned i = 0; i < parallel; ++i) {
      AffineExpr extent = space.product(i, i + 1).toExpr(context);
      bool cut = i == *turned || i + 1 == parallel;
      pieces = pieces * (cut ? extent.ceilDiv(turnedTile) : extent);
    }
    return;
  }
  if (family == Family::Contract && func->hasAttr(kVectorAttr)) {
    pieces = space.product(0, parallel).toExpr(context).ceilDiv(kVectorRows);
    return;
  }
  if (family == Family::Contract) {
    setTiles(func, space);
    if (func->hasAttr(kBulkAttr))
      setBulk(func, space);
    return;
  }
  if (family == Family::Columns) {
    int64_t bits = 0;
    func.getBody().walk([&](kernel::ReduceOp reduce) {
      for (Type type : statesOf(reduce))
        bits += type.getIntOrFloatBitWidth();
    });
    if (bits / 8 * vector * group / kColumnParts * kRowBlock <= kGroupMemory)
      columnParts = kColumnParts;
  }
  if (family == Family::Map || family == Family::Columns) {
    perGroup = group;
    if (family == Family::Map && vector > 1 && parallel > 1)
      strips = kMapStrips;
    auto product = [&](unsigned first, unsigned last) {
      return space.product(first, last).toExpr(context);
    };
    if (parallel == 1)
      pieces = product(0, 1).ceilDiv(vector);
    else if (parallel)
      pieces = product(0, 1).ceilDiv(strips) * product(1, parallel - 1) *
               product(parallel - 1, parallel).ceilDiv(vector);
  } else if (family == Family::Rows && func->hasAttr(kShortRowsAttr)) {
    std::optional<int64_t> length = space.reducedItems().constant();
    isShort = length && *length <= kGroupShortRow;
    mayBeShort = !length;
  }
  if ((family == Family::Rows || family == Family::Full) && reducesOnce(func)) {
    int64_t lanes = space.reducedLoops() == 1 ? vector : 1;
    perGroup = group / (kTreeLanes / lanes);
  }
}

void KernelShape::setTiles(kernel::FuncOp func, const LoopSpace &space) {
  kernel::DotOp dot = dotOf(func);
  groupTile = contractTile(dot, space);
  pieces = tileCount(space, groupTile, func.getContext());
  std::optional<int64_t> length = space.product(space.parallel, space.count()).constant();
  bool known = isa<AffineConstantExpr>(pieces) && length;
  if (func->hasAttr(kRunsAttr) &&
      (!length || (*length > kChain && *length <= kChain * kChainsPerRun)))
    runPieces = pieces;
  if (groupTile == kSmallTile || known || func->hasAttr(kTensorsAttr))
    return;
  smallPieces = tileCount(space, kSmallTile, func.getContext());
  largeCost = tileCost(dot.getType(), false);
  smallCost = tileCost(dot.getType(), true);
}

/// The engine copies an operand that lies in memory as it is: lines of neighbours, the next line
/// behind the one before.
void KernelShape::setBulk(kernel::FuncOp func, const LoopSpace &space) {
  MLIRContext *context = func.getContext();
  kernel::DotOp dot = dotOf(func);
  unsigned parallel = space.parallel;
  for (Value side : {dot.getLhs(), dot.getRhs()}) {
    Value narrow = side.getDefiningOp()->getOperand(0);
    auto load = narrow.getDefiningOp<kernel::LoadOp>();
    if (!load)
      return bulkMultiples.clear();
    unsigned own = parallel - (space.dependsOn(narrow, static_cast<int>(parallel) - 1) ? 1 : 2);
    const LinearAccess &access = space.accesses.at(load);
    const Polynomial &alongK = access.strides[parallel], &along = access.strides[own];
    const Polynomial &pitch = alongK.isConstant(1) ? along : alongK;
    if (access.part || (!alongK.isConstant(1) && !along.isConstant(1)) || !pitch.isPositive())
      return bulkMultiples.clear();
    SmallVector<Polynomial> steps = {access.offset};
    for (const Polynomial &stride : access.strides)
      if (&stride != (&pitch == &along ? &alongK : &along))
        steps.push_back(stride);
    for (const Polynomial &step : steps) {
      std::optional<int64_t> known = step.constant();
      if (known && *known % kBulkAligned)
        return bulkMultiples.clear();
      if (!known)
        bulkMultiples.push_back(step.toExpr(context));
    }
  }
  auto product = [&](unsigned first, unsigned last) {
    return space.product(first, last).toExpr(context);
  };
  bulkPieces = product(0, parallel - 2) * product(parallel - 2, parallel - 1).ceilDiv(groupTile) *
               product(parallel - 1, parallel).ceilDiv(kBulkColumns);
  auto known = dyn_cast<AffineConstantExpr>(bulkPieces);
  if (known && known.getValue() < kEnoughBulk)
    bulkPieces = {};
}

void KernelShape::setContract(kernel::FuncOp func, const LoopSpace &space) {
  MLIRContext *context = func.getContext();
  int64_t vector = func.getSchedule()->getVector();
  form = contractForm(func, space, vector);
  unsigned parallel = space.parallel;
  Products products(func, space);
  bool rowTiles = form == ContractForm::Panels || (form == ContractForm::Item && parallel >= 2);
  int64_t lines = 6 / static_cast<int64_t>(products.rows.size());
  tileRows = !rowTiles ? 1 : form == ContractForm::Item ? 4 : lines;
  switch (form) {
  case ContractForm::Point:
    tileColumns = 1;
    break;
  case ContractForm::Item:
    tileColumns = rowTiles ? 4 : 1;
    break;
  case ContractForm::Panels: {
    // As many vectors as leave registers for the column operand and a broadcast.
    int64_t bytes = vector * std::max<int64_t>(1, products.element().getIntOrFloatBitWidth() / 8);
    int64_t vectors = bytes >= 64 ? 4 : 2;
    tileColumns = vectors / static_cast<int64_t>(products.columns.size()) * vector;
    break;
  }
  case ContractForm::Stream:
    tileColumns = 4 * vector;
    break;
  case ContractForm::Lanes:
    tileColumns = std::min<int64_t>(vector, 16);
    break;
  }
  work = work * (tileRows * tileColumns);
  auto product = [&](unsigned first, unsigned last) {
    return space.product(first, last).toExpr(context);
  };
  AffineExpr one = getAffineConstantExpr(1, context);
  AffineExpr columns = parallel >= 1 ? product(parallel - 1, parallel) : one;
  unsigned outer = parallel >= 1 ? parallel - 1 : 0;
  range = columns.ceilDiv(tileColumns);
  if (rowTiles) {
    --outer;
    range = range * product(outer, outer + 1).ceilDiv(tileRows);
  }
  range = pieces = product(0, outer) * range;
}
