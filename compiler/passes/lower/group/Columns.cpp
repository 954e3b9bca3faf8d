// Reductions of columns: a work-item has neighbouring columns, and follows them down their rows.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

void GroupLowering::lowerColumns() {
  open(kernel.getSymName(), shape.partials);
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  SmallVector<Reducer> reducers = reducersOfStage(0);
  TreeEmitter trees(&function.getBody().front(), loc, reducers, width);
  trees.unroll = kColumnsAhead;
  int last = static_cast<int>(space.parallel) - 1;
  groupStrip(blocks, [&](OpBuilder &b, ColumnRun &run, Position &column) {
    IndexMath m{b, loc};
    Value first = m.mul(run.block, kRowTreeBlock), some = length;
    if (blocks)
      some = m.min(m.sub(length, first), kRowTreeBlock);
    Value item = m.add(run.offset, column.loops[last]);
    auto rows = [&](OpBuilder &c, bool aligned) {
      Position here = column;
      here.aligned = aligned;
      if (!aligned && width > 1)
        emitter->maskLanes(c, here, emitter->extent(c, last));
      return trees.rowBlock(c, first, some, [&](OpBuilder &d, Value index, Value) {
        return columnPoint(d, reducers, here, index);
      });
    };
    States states = chooseAligned(b, trees, last, width, {space.extents[last]}, rows);
    if (width > 1)
      emitter->maskLanes(b, column, emitter->extent(b, last));
    finish(b, reducers, states, column, item, blocks);
  });
  close();
}

/// A known number of rows is read ahead as a whole; of others the device's compiler keeps so many.
static constexpr int64_t kEdgeRowsAhead = 8;

/// What a column's reductions combine in a row; stores what the row leaves besides.
SmallVector<Value> GroupLowering::columnPoint(OpBuilder &b, ArrayRef<Reducer> reducers, Position at,
                                              Value index) {
  emitter->delinearize(b, index, space.parallel, space.count(), at);
  SmallVector<Value> values = pointValues(b, reducers, at);
  for (kernel::StoreOp store : pointStores(0))
    emitter->store(b, store, at);
  return values;
}

/// Blocks of 32 rows go to the parts of a group in turn, so that there are more work-items than
/// strips; a strip's block results meet in local memory, and its first work-item adds them in
/// order.
void GroupLowering::lowerColumnParts() {
  open(kernel.getSymName(), shape.partials);
  IndexMath m{builder, loc};
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  // As KernelLaunches counts the groups.
  Value many = m.less(m(kFewRows), length);
  Value parts = m.select(many, m(shape.columnParts), m(1));
  Value apart = m.select(many, m(shape.group / shape.columnParts), m(shape.group));
  Value part = m.div(member, apart), number = m.sub(member, m.mul(part, apart));
  Strips all = countStrips(blocks);
  Value strip = m.add(m.mul(begin, apart), number), present = m.less(strip, all.total);
  Position column;
  ColumnRun run = stripAt(builder, all, strip, column);
  Value first = m.mul(run.block, kRowTreeBlock), some = length;
  if (blocks)
    some = m.min(m.sub(length, first), kRowTreeBlock);
  some = m.select(present, some, m(0));
  Value count = m.ceilDiv(some, kRowBlock);
  SmallVector<Reducer> reducers = reducersOfStage(0);
  TreeEmitter trees(&function.getBody().front(), loc, reducers, width);
  TreeEmitter::Storage memory =
      trees.allocateShared(shape.group / shape.columnParts * (kRowTreeBlock / kRowBlock) * width);
  auto placeOf = [&](OpBuilder &b, Value block) {
    IndexMath n{b, loc};
    return n.mul(n.add(n.mul(block, apart), number), width);
  };
  int last = static_cast<int>(space.parallel) - 1;
  auto rows = [&](OpBuilder &b, bool aligned) {
    Position here = column;
    here.aligned = aligned;
    if (!aligned && width > 1)
      emitter->maskLanes(b, here, emitter->extent(b, last));
    auto turns = scf::ForOp::create(b, loc, part, count, parts);
    OpBuilder c = OpBuilder::atBlockBegin(turns.getBody());
    IndexMath n{c, loc};
    Value block = turns.getInductionVar(), done = n.mul(block, kRowBlock);
    Value height = n.min(n.sub(some, done), kRowBlock), from = n.add(first, done);
    auto chain = [&](OpBuilder d, Value rows, int64_t ahead) {
      trees.unroll = ahead;
      States states = trees.rowChain(d, from, rows, [&](OpBuilder &e, Value index, Value) {
        return columnPoint(e, reducers, here, index);
      });
      trees.save(d, memory, placeOf(d, block), states);
    };
    Value every = n(kRowBlock);
    auto whole = scf::IfOp::create(c, loc, n.equal(height, every), /*withElseRegion=*/true);
    chain(whole.getThenBodyBuilder(), every, kRowBlock);
    chain(whole.getElseBodyBuilder(), height, kEdgeRowsAhead);
  };
  Value aligned = width > 1 ? alignedSizes(builder, last, width, {space.extents[last]}) : Value();
  if (aligned) {
    auto choice = scf::IfOp::create(builder, loc, aligned, /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    rows(yes, true);
    rows(no, false);
  } else {
    rows(builder, width > 1);
  }
  gpu::BarrierOp::create(builder, loc);
  Value owns = m.both(present, m.equal(part, m(0)));
  auto once = scf::IfOp::create(builder, loc, owns, /*withElseRegion=*/false);
  OpBuilder b = once.getThenBodyBuilder();
  States states = trees.foldChain(b, count, [&](OpBuilder &c, Value block) {
    return trees.restore(c, memory, placeOf(c, block), width, false);
  });
  if (width > 1)
    emitter->maskLanes(b, column, emitter->extent(b, last));
  Value item = IndexMath{b, loc}.add(run.offset, column.loops[last]);
  finish(b, reducers, states, column, item, blocks);
  close();
}

void GroupLowering::lowerColumnFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  SmallVector<Reducer> reducers = reducersOfStage(0);
  Value blocks = blockCount(builder);
  Value columns = emitter->emit(builder, space.product(0, space.parallel));
  TreeEmitter trees(&function.getBody().front(), loc, reducers, width);
  trees.unroll = kColumnsAhead;
  int last = static_cast<int>(space.parallel) - 1;
  groupStrip({}, [&](OpBuilder &b, ColumnRun &run, Position &column) {
    IndexMath m{b, loc};
    Position whole = column;
    if (width > 1)
      emitter->maskLanes(b, column, emitter->extent(b, last));
    Value item = m.add(run.offset, column.loops[last]);
    auto rows = [&](OpBuilder &c, bool aligned) {
      Position here = whole;
      here.aligned = aligned;
      if (!aligned && width > 1)
        emitter->maskLanes(c, here, emitter->extent(c, last));
      return trees.foldRows(c, blocks, [&](OpBuilder &d, Value block) {
        IndexMath n{d, loc};
        return loadPartials(d, reducers, extraBuffers, here, n.add(item, n.mul(block, columns)));
      });
    };
    States states = chooseAligned(b, trees, last, width, {space.extents[last]}, rows);
    bind(reducers, states, column, b);
    storeRow(b, column);
  });
  close();
}
