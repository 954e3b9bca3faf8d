// Maps and columns for groups of work-items: each has a few neighbours along the last loop, and
// neighbouring work-items have neighbouring memory.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/ScanLoop.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

void KernelLowering::lowerGroups() {
  switch (shape.family) {
  case Family::Map:
    return shape.turned ? lowerGroupTurned() : lowerGroupMap();
  case Family::Contract:
    if (kernel->hasAttr(kVectorAttr))
      return lowerGroupVector();
    return kernel->hasAttr(kTensorsAttr) ? lowerGroupTensor() : lowerGroupContract();
  case Family::Scan:
    return shape.scansColumns ? ScanLoop::lowerGroupColumns(*this) : lowerGroupScan();
  case Family::Columns:
    shape.columnParts > 1 ? lowerGroupColumnParts() : lowerGroupColumns();
    return shape.splitBlock ? lowerGroupColumnFold() : void();
  default:
    if (shape.isShort)
      return lowerGroupShort(kernel.getSymName());
    if (shape.mayBeShort)
      lowerGroupShort((kernel.getSymName() + "_short").str());
    if (!reducesOnce(kernel))
      return lowerGroupRows();
    lowerGroupBlocks();
    return shape.splitBlock ? lowerGroupFold() : void();
  }
}

Value KernelLowering::alignedSizes(OpBuilder &b, int loopNumber, int64_t lanes,
                                   ArrayRef<Polynomial> also) {
  SmallVector<Polynomial> steps(also);
  for (const auto &[op, access] : space.accesses) {
    if (isa<kernel::IndexOp, kernel::NumberOp>(op) || !access.strides[loopNumber].isConstant(1))
      continue;
    steps.push_back(access.offset);
    for (auto [number, stride] : llvm::enumerate(access.strides))
      if (static_cast<int>(number) != loopNumber)
        steps.push_back(stride);
  }
  Value bits;
  IndexMath m{b, loc};
  for (const Polynomial &step : steps) {
    if (auto known = step.constant(); known && *known % lanes == 0)
      continue;
    Value value = emitter->emit(b, step);
    bits = bits ? arith::OrIOp::create(b, loc, bits, value).getResult() : value;
  }
  if (!bits)
    return {};
  return m.equal(arith::AndIOp::create(b, loc, bits, m(lanes - 1)), m(0));
}

States KernelLowering::chooseAligned(OpBuilder &b, TreeEmitter &trees, int loopNumber,
                                     int64_t lanes, ArrayRef<Polynomial> also,
                                     llvm::function_ref<States(OpBuilder &, bool)> body) {
  Value aligned = lanes > 1 ? alignedSizes(b, loopNumber, lanes, also) : Value();
  if (!aligned)
    return body(b, lanes > 1);
  SmallVector<Value> like = TreeEmitter::flatten(trees.identity(b, lanes));
  auto choice = scf::IfOp::create(b, loc, TypeRange(ValueRange(like)), aligned,
                                  /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  SmallVector<Value> fast = TreeEmitter::flatten(body(yes, true)),
                     slow = TreeEmitter::flatten(body(no, false));
  if (!like.empty()) {
    scf::YieldOp::create(yes, loc, fast);
    scf::YieldOp::create(no, loc, slow);
  }
  return trees.unflatten(choice.getResults());
}

/// The strips of all lines and blocks, which work-items are numbered by.
struct KernelLowering::Strips {
  Value length, ofLine; ///< elements and strips of a line
  Value lines, blocks;  ///< null when there is one
  Value total;
};

/// ceilDiv for sizes, which are far from the largest index: every work-item computes it.
static Value parts(const IndexMath &m, Value size, int64_t each) {
  return each == 1 ? size : m.div(m.add(size, each - 1), each);
}

KernelLowering::Strips KernelLowering::countStrips(Value blocks) {
  IndexMath m{builder, loc};
  int last = static_cast<int>(space.parallel) - 1;
  Strips all;
  all.length = last < 0 ? m(1) : emitter->extent(builder, last);
  all.total = all.ofLine = parts(m, all.length, width);
  all.blocks = blocks;
  if (last > 0) {
    all.lines = parts(m, emitter->extent(builder, 0), shape.strips);
    if (last > 1)
      all.lines = m.mul(all.lines, emitter->emit(builder, space.product(1, last)));
    all.total = m.mul(all.total, all.lines);
  }
  if (blocks)
    all.total = m.mul(all.total, blocks);
  return all;
}

KernelLowering::ColumnRun KernelLowering::stripAt(OpBuilder &b, const Strips &all, Value strip,
                                                  Position &column) {
  IndexMath m{b, loc};
  int last = static_cast<int>(space.parallel) - 1;
  ColumnRun run{position(), m(0), {}, {}, m(0)};
  Value first = strip;
  if (last > 0 || all.blocks) {
    Value line = m.div(strip, all.ofLine);
    first = m.sub(strip, m.mul(line, all.ofLine));
    run.offset = m.mul(line, all.length);
    if (all.blocks)
      run.block = last > 0 ? m.div(line, all.lines) : line;
    if (last > 0)
      emitter->delinearize(b, all.blocks ? m.sub(line, m.mul(run.block, all.lines)) : line, 0, last,
                           run.outer);
  }
  column = run.outer;
  if (last >= 0) {
    column.loops[last] = m.mul(first, width);
    column.vectorLoop = last;
    column.width = width;
  }
  return run;
}

void KernelLowering::groupStrip(
    Value blocks, llvm::function_ref<void(OpBuilder &, ColumnRun &, Position &)> body) {
  IndexMath m{builder, loc};
  Strips all = countStrips(blocks);
  Value strip = m.add(m.mul(begin, shape.group), member);
  auto present =
      scf::IfOp::create(builder, loc, m.less(strip, all.total), /*withElseRegion=*/false);
  OpBuilder b = present.getThenBodyBuilder();
  Position column;
  ColumnRun run = stripAt(b, all, strip, column);
  body(b, run, column);
}

/// A map whose work-items have several strips each.
struct KernelLowering::MapStrips {
  /// A strip by its number, and whether it is inside.
  using Place = llvm::function_ref<std::pair<Position, Value>(OpBuilder &, Value)>;

  KernelLowering &own;
  Location loc = own.loc;
  int last = static_cast<int>(own.space.parallel) - 1;
  int64_t count = own.shape.strips;

  void stripOfLine();
  void stripsOfLines();
  void store(OpBuilder &b, MutableArrayRef<Position> strips, Value whole, Place place);
};

void KernelLowering::lowerGroupMap() {
  open(kernel.getSymName(), {});
  if (width == 1 || space.parallel == 0)
    groupStrip({}, [&](OpBuilder &b, ColumnRun &, Position &at) { storeAll(b, at); });
  else if (space.parallel == 1)
    MapStrips{*this}.stripOfLine();
  else
    MapStrips{*this}.stripsOfLines();
  close();
}

/// One loop: a work-item has one strip, and the strips of a group follow each other.
void KernelLowering::MapStrips::stripOfLine() {
  OpBuilder &b = own.builder;
  IndexMath m{b, loc};
  Position at = own.position();
  at.vectorLoop = 0;
  at.width = own.width;
  at.loops[0] = m.mul(m.add(m.mul(own.begin, own.shape.group), own.member), own.width);
  Value length = own.emitter->extent(b, 0),
        whole = m.atLeast(length, m.add(at.loops[0], own.width));
  Position strip = at;
  store(b, strip, whole, [&](OpBuilder &c, Value) {
    return std::pair(at, IndexMath{c, loc}.less(at.loops[0], length));
  });
}

/// Several loops: the strips of a work-item lie in lines that follow each other along the first
/// loop, at the same place of each.
void KernelLowering::MapStrips::stripsOfLines() {
  own.groupStrip({}, [&](OpBuilder &b, ColumnRun &, Position &at) {
    IndexMath m{b, loc};
    Value length = own.emitter->extent(b, last), lines = own.emitter->extent(b, 0);
    at.loops[0] = m.mul(at.loops[0], count);
    SmallVector<Position> strips(count, at);
    for (int64_t number = 1; number < count; ++number)
      strips[number].further = m(number);
    Value whole = m.atLeast(length, m.add(at.loops[last], own.width));
    if (count > 1)
      whole = m.both(whole, m.less(m.add(at.loops[0], strips.back().further), lines));
    store(b, strips, whole, [&](OpBuilder &c, Value number) {
      IndexMath n{c, loc};
      Position here = at;
      here.loops[0] = n.add(at.loops[0], number);
      return std::pair(here, n.less(here.loops[0], lines));
    });
  });
}

/// Where all strips are whole, every load comes before any store, as in storeAll: loads of all
/// strips wait together. Else one strip after the other.
void KernelLowering::MapStrips::store(OpBuilder &b, MutableArrayRef<Position> strips, Value whole,
                                      Place place) {
  IndexMath m{b, loc};
  Value aligned = own.alignedSizes(b, last, own.width, {});
  if (aligned)
    whole = m.both(whole, aligned);
  auto choice = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  for (Position &at : strips) {
    at.aligned = true;
    for (kernel::StoreOp store : own.stores)
      for (Value value : store.getValues())
        own.emitter->value(yes, value, at);
  }
  for (Position &at : strips)
    own.storeAll(yes, at);
  Value length = own.emitter->extent(no, last), zero = own.constant(no, 0);
  auto masked = [&](OpBuilder &c, Position at) {
    own.emitter->maskLanes(c, at, length);
    own.storeAll(c, at);
  };
  auto strip = [&](OpBuilder &c, Value number) {
    auto [at, inside] = place(c, number);
    auto present = scf::IfOp::create(c, loc, inside, /*withElseRegion=*/false);
    OpBuilder d = present.getThenBodyBuilder();
    if (count == 1) // it is not whole
      return masked(d, at);
    IndexMath n{d, loc};
    Value full = n.atLeast(length, n.add(at.loops[last], own.width));
    if (aligned)
      full = n.both(full, aligned);
    auto one = scf::IfOp::create(d, loc, full, /*withElseRegion=*/true);
    OpBuilder all = one.getThenBodyBuilder(), some = one.getElseBodyBuilder();
    masked(some, at);
    at.aligned = true;
    own.storeAll(all, at);
  };
  if (count == 1)
    return strip(no, zero);
  own.loop(no, zero, own.constant(no, count), 1, strip);
}

void KernelLowering::lowerGroupColumns() {
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
SmallVector<Value> KernelLowering::columnPoint(OpBuilder &b, ArrayRef<Reducer> reducers,
                                               Position at, Value index) {
  emitter->delinearize(b, index, space.parallel, space.count(), at);
  SmallVector<Value> values = pointValues(b, reducers, at);
  for (kernel::StoreOp store : pointStores(0))
    emitter->store(b, store, at);
  return values;
}

/// Blocks of 32 rows go to the parts of a group in turn, so that there are more work-items than
/// strips; a strip's block results meet in local memory, and its first work-item adds them in
/// order.
void KernelLowering::lowerGroupColumnParts() {
  open(kernel.getSymName(), shape.partials);
  IndexMath m{builder, loc};
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  // As BuildPlan counts the groups.
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

void KernelLowering::lowerGroupColumnFold() {
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
