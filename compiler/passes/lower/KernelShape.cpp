#include "compiler/passes/lower/KernelShape.h"

#include "compiler/passes/fuse/Watch.h"
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/ScanShape.h"
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/lower/Stages.h"
#include "compiler/passes/lower/TurnedRows.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

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
  if (family == Family::Rows && !reducesOnce(func))
    setRows(func, space);
  if ((family == Family::Rows || family == Family::Full) && reducesOnce(func)) {
    int64_t lanes = space.reducedLoops() == 1 ? vector : 1;
    perGroup = group / (kTreeLanes / lanes);
  }
}

/// Rows that a team has at once, at most: so many reads of a work-item are on their way. And lanes
/// of the forms for any alignment.
static constexpr int64_t kRowsAtOnce = 8, kFewLanes = 16, kSomeLanes = 64;
/// Bytes that a group keeps in registers, at most: half of what a multiprocessor has.
static constexpr int64_t kKeptByGroup = 128 << 10;
/// Bytes of local memory that every device has for a group.
static constexpr int64_t kLeastGroupMemory = 32 << 10;

static int64_t mostWorkItems(kernel::FuncOp func) {
  return func->hasAttr(kLargeGroupsAttr) ? kLargeGroup : kUsualGroup;
}

/// Bits of the states of all reductions.
static int64_t stateBits(kernel::FuncOp func) {
  int64_t bits = 0;
  func.getBody().walk([&](kernel::ReduceOp reduce) {
    for (Type type : statesOf(reduce))
      bits += type.getIntOrFloatBitWidth();
  });
  return bits;
}

int64_t pass::longRowGroup(kernel::FuncOp func) {
  int64_t group = mostWorkItems(func), bits = stateBits(func);
  // A lane each, blocks of the tree, and these.
  while (group > kUsualGroup && (group + 2 * kTreeLanes) * bits / 8 > kLeastGroupMemory)
    group /= 2;
  return group;
}

/// Chooses among forms for rows: those that the lengths need and that work-items can keep.
struct pass::RowForms {
  RowForms(kernel::FuncOp func, const LoopSpace &space, int64_t group)
      : func(func), space(space), stages(space), group(group), bits(stateBits(func)),
        length(space.reducedItems().constant()) {}

  void add(SmallVectorImpl<RowsAtOnce> &forms, RowsAtOnce form) {
    KeptRow row = keptRow(func, space, stages, form.lanes);
    form.group = std::max(group, form.items());
    form.rows = std::max<int64_t>(std::min(row.pieces, kRowsAtOnce) / form.perRow(), 1);
    auto memory = [&] { return form.perGroup() * form.blocks * form.pitch() * bits / 8; };
    while (form.rows > 1 && memory() > kGroupMemory)
      form.rows /= 2;
    bool mayBe = !length || (*length > 0 && *length <= form.longest);
    bool fits = form.group <= mostWorkItems(func) && memory() <= kGroupMemory &&
                form.perRow() * row.bytes * form.group <= kKeptByGroup;
    if (mayBe && fits)
      forms.push_back(form);
  }

  kernel::FuncOp func;
  const LoopSpace &space;
  Stages stages;
  int64_t group, bits;
  std::optional<int64_t> length;
};

/// Shorter rows than a work-item keeps: a team has several, so that as much is on its way and one
/// barrier serves all of them.
void KernelShape::setRowsAtOnce(RowForms &forms) {
  forms.add(rowsAtOnce, {"_16", kFewLanes, kFewLanes, 1, 1, 1});
  forms.add(rowsAtOnce, {"_64", kSomeLanes, kSomeLanes, 1, 1, 1});
  if (!rowsAtOnce.empty() && rowsAtOnce.back().longest == kGroupShortRow)
    isShort = mayBeShort = false;
  else
    rowsAtOnce.clear(); // <kernel>_short has all of them
  forms.add(rowsAtOnce, {"_256", kTreeLanes, kTreeLanes, keptLanes, 1, 1});
  if (keptLanes > 1)
    forms.add(rowsAtOnce, {"_256_any", kTreeLanes, kTreeLanes, 1, keptLanes, 1});
  forms.add(rowsAtOnce, {"_1024", 4 * kTreeLanes, kTreeLanes, keptLanes, 1, 4});
  if (keptLanes > 1)
    forms.add(rowsAtOnce, {"_1024_any", 4 * kTreeLanes, kTreeLanes, 1, keptLanes, 4});
}

/// Longer ones: a group has one, and enough work-items to keep it. Of single elements they need the
/// fewest registers.
void KernelShape::setLongRows(RowForms &forms) {
  constexpr int64_t half = kTreeBlock / 2, rows = kTreeBlock / kTreeLanes;
  if (keptLanes > 1)
    forms.add(longRows, {"_4096", half, kTreeLanes, keptLanes, 1, rows / 2});
  forms.add(longRows, {"_4096_any", half, kTreeLanes, 1, 1, rows / 2});
  forms.add(longRows, {"_8192", kTreeBlock, kTreeLanes, 1, 1, rows});
  forms.add(longRows, {"_16384", 2 * kTreeBlock, kTreeLanes, 1, 1, rows, 2});
  forms.add(longRows, {"_32768", 4 * kTreeBlock, kTreeLanes, 1, 1, rows, 4});
}

void KernelShape::setRows(kernel::FuncOp func, const LoopSpace &space) {
  keptLanes = space.reducedLoops() == 1 ? func.getSchedule()->getVector() : 1;
  RowForms forms(func, space, group);
  setRowsAtOnce(forms);
  if (isShort)
    return;
  keptElements = keptRow(func, space, forms.stages, keptLanes).pieces * kTreeLanes;
  SmallVector<Polynomial> steps;
  if (keptLanes > 1)
    steps = unalignedSteps(func, space, space.parallel, keptLanes, {space.reducedItems()});
  bool aligned = llvm::none_of(steps, [](const Polynomial &step) { return step.constant(); });
  if (!aligned || (forms.length && *forms.length != keptElements))
    rowForm = RowForm::Any;
  else if (forms.length && steps.empty())
    rowForm = RowForm::Whole;
  for (const Polynomial &step : steps)
    keptMultiples.push_back(step.toExpr(func.getContext()));
  if (rowForm != RowForm::Whole)
    setLongRows(forms);
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
  setEach(dot, space);
  if (groupTile == kSmallTile || known || func->hasAttr(kTensorsAttr))
    return;
  smallPieces = tileCount(space, kSmallTile, func.getContext());
  largeCost = tileCost(dot.getType(), false);
  smallCost = tileCost(dot.getType(), true);
}

void KernelShape::setEach(kernel::DotOp dot, const LoopSpace &space) {
  unsigned parallel = space.parallel;
  std::optional<int64_t> length = space.reducedItems().constant(), all = 1;
  if (dot->getParentOfType<kernel::FuncOp>()->hasAttr(kTensorsAttr) ||
      (length && *length > kShallow))
    return;
  for (unsigned loop : {parallel - 2, parallel - 1})
    if (auto known = space.extents[loop].constant(); known && all)
      *all *= std::min(*known, kSmallTile);
    else
      all = std::nullopt;
  if (all && *all > kFewInTile)
    return;
  auto extent = [&](unsigned loop) {
    return space.product(loop, loop + 1).toExpr(dot.getContext());
  };
  rows = extent(parallel - 2);
  columns = extent(parallel - 1);
  batches = space.product(0, parallel - 2).toExpr(dot.getContext());
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
