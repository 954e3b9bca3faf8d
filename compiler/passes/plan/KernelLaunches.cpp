#include "compiler/passes/plan/KernelLaunches.h"

#include "compiler/passes/lower/ScanShape.h"
#include "dialects/plan/Plan.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

Value pass::evaluateSizes(OpBuilder &b, Location loc, AffineExpr expr, ValueRange sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(b, loc, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return sizes[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = evaluateSizes(b, loc, binary.getLHS(), sizes),
        y = evaluateSizes(b, loc, binary.getRHS(), sizes);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, x, y);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, x, y);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc, x, y);
  default:
    return arith::FloorDivSIOp::create(b, loc, x, y);
  }
}

KernelLaunches::KernelLaunches(OpBuilder &builder, kernel::CallOp call, kernel::FuncOp kernel,
                               ArrayRef<Value> buffers, ValueRange sizes,
                               llvm::function_ref<Value()> tickets)
    : m{builder, call.getLoc()}, call(call), kernel(kernel), shape(kernel), buffers(buffers),
      sizes(sizes), tickets(tickets), range(evaluate(shape.range)), work(evaluate(shape.work)),
      strips(evaluate(shape.pieces)), pieces(sharedPieces()) {}

/// Whether a tensor is read at points of reduced loops only.
static bool isReadAtPoints(kernel::FuncOp kernel, unsigned tensor) {
  return llvm::all_of(kernel.getArgument(tensor).getUsers(), [&](Operation *user) {
    auto load = dyn_cast<kernel::LoadOp>(user);
    bool point = false;
    for (unsigned d = kernel.getDomain().getParallel(); load && d < kernel.getNumDims(); ++d)
      point |= load.getMap().isFunctionOfDim(d);
    return point;
  });
}

void KernelLaunches::launch(StringRef suffix, ArrayRef<Value> touched, Value items, Value each) {
  auto callee = FlatSymbolRefAttr::get(m.b.getContext(), (call.getCallee() + suffix).str());
  plan::LaunchOp::create(m.b, m.loc, callee, touched, sizes, items, each, call.getLinesAttr(),
                         Value(), IntegerAttr(), Value());
}

void KernelLaunches::step(StringRef suffix, Value items, Value each) {
  launch(suffix, buffers, items, each);
}

/// The tensors of points may end before a fold.
void KernelLaunches::stepFold(StringRef suffix, Value items, Value each) {
  SmallVector<Value> touched(buffers);
  for (unsigned i = 0; i < kernel.getNumTensors(); ++i)
    if (isReadAtPoints(kernel, i))
      touched[i] = buffers[kernel.getNumTensors()];
  launch(suffix, touched, items, each);
}

/// With memory for the tensor maps of its groups.
void KernelLaunches::bulkStep(Value items, Value each) {
  Value words = m.mul(items, m(kMapsBytes / sizeof(int64_t)));
  SmallVector<Value> touched(buffers);
  touched.push_back(plan::AllocOp::create(
      m.b, m.loc, plan::BufferType::get(m.b.getContext(), m.b.getI64Type()), words));
  launch("_bulk", touched, items, each);
}

/// Groups for `count` things, of which each takes so many.
Value KernelLaunches::groups(Value count, int64_t each) const {
  return each == 1 ? count : arith::CeilDivSIOp::create(m.b, m.loc, count, m(each)).getResult();
}

/// 1 where all are multiples of `of`, else 0.
Value KernelLaunches::areMultiples(ArrayRef<AffineExpr> these, int64_t of) {
  Value all = m(1);
  for (AffineExpr each : these) {
    Value size = evaluate(each);
    Value whole = arith::FloorDivSIOp::create(m.b, m.loc, size, m(of));
    all = m.mul(all, m.sub(m(1), m.some(m.sub(size, m.mul(whole, m(of))))));
  }
  return all;
}

/// Groups' shares of a strip of columns: one where it has few rows.
Value KernelLaunches::sharesOfStrip() const {
  return m.add(m.mul(m.some(m.sub(work, m(kFewRows))), shape.columnParts - 1), 1);
}

/// Pieces of a launch, where strips are shared by several groups, or are lines of a scan, of which
/// a group has neighbours.
Value KernelLaunches::sharedPieces() const {
  if (shape.columnParts > 1)
    return m.mul(strips, sharesOfStrip());
  if (!shape.scansColumns)
    return strips;
  Value isShort = m.sub(m(1), m.some(m.sub(work, m(kFewScanned))));
  return m.ceilDiv(strips, m.add(m.mul(isShort, shape.group - kScanColumns), kScanColumns));
}

void KernelLaunches::takeShort() {
  Value isShort = m.some(m.sub(m(kGroupShortRow + 1), work));
  pieces = m.mul(pieces, m.sub(m(1), isShort));
  step("_short", m.mul(groups(range, shape.group), isShort), work);
}

void KernelLaunches::takeRows() {
  Value aligned = areMultiples(shape.keptMultiples, shape.keptLanes);
  // Of no elements there is nothing to keep: the kernel's own form has such rows.
  aligned = m.mul(aligned, m.some(m.sub(work, m(shape.keptLanes - 1))));
  auto upTo = [&](int64_t longest) { return m.some(m.sub(m(longest + 1), work)); };
  auto take = [&](ArrayRef<RowsAtOnce> forms) {
    for (const RowsAtOnce &form : forms) {
      Value fits = m.mul(upTo(form.longest), form.lanes > 1 ? aligned : m.some(work));
      step(form.suffix, groups(m.mul(pieces, fits), form.perGroup()), work);
      pieces = m.mul(pieces, m.sub(m(1), fits));
    }
  };
  take(shape.rowsAtOnce);
  if (!shape.rowForm) {
    Value whole = m.mul(m.sub(upTo(shape.keptElements), upTo(shape.keptElements - 1)), aligned);
    step("_whole", m.mul(pieces, whole), work);
    pieces = m.mul(pieces, m.sub(m(1), whole));
  }
  take(shape.longRows);
}

void KernelLaunches::takeEach() {
  Value rows = evaluate(shape.rows), columns = evaluate(shape.columns);
  Value all = m.mul(m.min(rows, kSmallTile), m.min(columns, kSmallTile));
  Value few = m.some(m.sub(m(KernelShape::kFewInTile + 1), all));
  few = m.mul(few, m.some(m.sub(m(KernelShape::kShallow + 1), work)));
  pieces = m.mul(pieces, m.sub(m(1), few));
  constexpr int64_t side = KernelShape::kFewSide;
  Value quads = m.some(m.sub(columns, m(KernelShape::kQuadColumns - 1)));
  Value strips = m.mul(m.mul(evaluate(shape.batches), few), m.ceilDiv(columns, side));
  Value each = m.mul(m.mul(strips, rows), m.sub(m(1), quads));
  step("_each", groups(each, shape.group), work);
  step("_quads", groups(m.mul(m.mul(strips, m.ceilDiv(rows, side)), quads), shape.group), work);
}

/// 1 where the copy engine is to feed a product's tiles, else 0: there are k's, every line is
/// aligned, the wider tiles are enough, and no more than a quarter of them lies outside.
Value KernelLaunches::runsInBulk(Value wide) {
  Value runs = m.mul(m.some(work), m.some(m.sub(wide, m(KernelShape::kEnoughBulk - 1))));
  // 8 wide / 5 narrow is 5 / 4 of twice as many narrow ones.
  Value spare = m.sub(m.mul(pieces, 5), m.mul(wide, 8));
  runs = m.mul(runs, m.some(m.add(spare, 1)));
  return m.mul(runs, areMultiples(shape.bulkMultiples, KernelShape::kBulkAligned));
}

/// The pieces of <kernel>_bulk: all or none.
void KernelLaunches::takeBulk() {
  Value wide = evaluate(shape.bulkPieces), runs = runsInBulk(wide);
  pieces = m.mul(pieces, m.sub(m(1), runs));
  bulk = m.mul(wide, runs);
}

/// The pieces of <kernel>_small, likewise: where its tiles spread better.
void KernelLaunches::takeSmall() {
  Value blocks = shape.splitBlock ? m.max(m.ceilDiv(work, shape.splitBlock), 1) : m(1);
  Value length = shape.splitBlock ? m.min(work, shape.splitBlock) : work;
  auto cost = [&](Value tiles, TileCost each) {
    return m.mul(m.mul(m.ceilDiv(m.mul(tiles, blocks), kMultiprocessors), each.step),
                 m.add(length, each.around));
  };
  small = evaluate(shape.smallPieces);
  Value better = m.some(m.sub(cost(pieces, shape.largeCost), cost(small, shape.smallCost)));
  pieces = m.mul(pieces, m.sub(m(1), better));
  small = m.mul(small, better);
}

/// The pieces of <kernel>_run, likewise: where k is one run and tiles are so many that blocks of it
/// need not be spread. Block results would go through memory.
void KernelLaunches::takeRun() {
  // Of a block: what its tile's results take besides, there and back.
  constexpr int64_t kKept = 96;
  auto turns = [&](Value tiles) { return m.ceilDiv(tiles, kMultiprocessors); };
  Value blocks = m.max(m.ceilDiv(work, kChain), 1);
  Value apart = m.mul(turns(m.mul(pieces, blocks)), kChain + shape.largeCost.around + kKept);
  Value together = m.mul(turns(pieces), m.add(work, shape.largeCost.around));
  Value fits =
      m.mul(m.some(m.sub(work, m(kChain))), m.some(m.sub(m(kChain * kChainsPerRun + 1), work)));
  Value better = m.mul(m.some(m.sub(apart, together)), fits);
  run = m.mul(pieces, better);
  pieces = m.mul(pieces, m.sub(m(1), better));
}

/// What a launch of a fold counts: a group folds one row, but many columns, and many elements of a
/// product.
Value KernelLaunches::foldItems(Value blocks) {
  if (shape.family == kernel::Family::Columns)
    return groups(strips, shape.perGroup);
  if (shape.family == kernel::Family::Contract || shape.scansColumns)
    return groups(range, shape.group);
  if (!shape.group || shape.family == kernel::Family::Scan)
    return range;
  // 1 + (group - 1) rows a group when they have few blocks, else one.
  Value few = m.some(m.sub(m(kFewBlocks + 1), blocks));
  Value rows = m.add(m.mul(few, shape.group - 1), 1);
  return arith::CeilDivSIOp::create(m.b, m.loc, range, rows);
}

/// Buffers for block results, `count` of each, and the tickets.
void KernelLaunches::addPartials(Value count) {
  for (Type partial : shape.partials)
    buffers.push_back(
        plan::AllocOp::create(m.b, m.loc, plan::BufferType::get(m.b.getContext(), partial), count));
  if (shape.lastFolds)
    buffers.push_back(tickets());
}

void KernelLaunches::plan() {
  if (shape.batches)
    takeEach();
  if (shape.bulkPieces)
    takeBulk();
  if (shape.smallPieces)
    takeSmall();
  if (shape.runPieces)
    takeRun();
  if (shape.isShort)
    return step("", groups(range, shape.group), work);
  if (shape.mayBeShort)
    takeShort();
  if (shape.keptElements || !shape.rowsAtOnce.empty())
    takeRows();
  if (shape.splitBlock)
    return planBlocks();
  if (bulk)
    bulkStep(bulk, work);
  if (small)
    step("_small", small, work);
  step("", groups(pieces, shape.perGroup), work);
}

/// Block results take memory, and the fold runs, when there are several blocks.
void KernelLaunches::planBlocks() {
  Value block = m(shape.splitBlock);
  Value blocks = m.max(arith::CeilDivSIOp::create(m.b, m.loc, work, block), 1);
  Value several = m.min(m.sub(blocks, m(1)), 1);
  if (run) {
    several = m.mul(several, m.sub(m(1), m.min(run, 1)));
    step("_run", run, work);
  }
  Value items = m.mul(range, blocks), kept = m.mul(items, several);
  Value folds = arith::CeilDivSIOp::create(m.b, m.loc, blocks, m(kTreeBlock));
  if (shape.lastFolds)
    kept = m.mul(m.add(items, folds), several);
  if (shape.handedWords)
    kept = m.mul(kept, shape.handedWords);
  addPartials(kept);
  Value each = m.min(work, block);
  if (shape.handedWords)
    return planHanded(kept, items, several, each);
  if (bulk)
    bulkStep(m.mul(bulk, blocks), each);
  if (small)
    step("_small", m.mul(small, blocks), each);
  bool scan = shape.family == kernel::Family::Scan;
  if (scan)
    step("_blocks", m.mul(m.mul(pieces, blocks), several), each);
  else
    step("", groups(m.mul(pieces, blocks), shape.perGroup), each);
  if (shape.lastFolds) // only for more results than the last groups fold
    several = m.mul(several, m.some(m.sub(folds, m(kLastFolds))));
  stepFold("_fold", m.mul(foldItems(blocks), several), blocks);
  if (scan)
    step("", m.mul(pieces, blocks), each);
}

/// A scan whose blocks hand their results on within one launch.
void KernelLaunches::planHanded(Value kept, Value items, Value several, Value each) {
  bool byGroups = shape.group > 0;
  stepFold("_clear", groups(kept, byGroups ? shape.group : 1), byGroups ? each : m(1));
  Value own = byGroups ? m.mul(range, several) : m(0); // groups of lines
  step("", m.add(items, own), each);
}
