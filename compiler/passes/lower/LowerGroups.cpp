// Maps and columns for groups of work-items: each has a few neighbours along the last loop, and
// neighbouring work-items have neighbouring memory.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

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
    return kernel->hasAttr(kTensorsAttr) ? lowerGroupTensor() : lowerGroupContract();
  case Family::Scan:
    return lowerGroupScan();
  case Family::Columns:
    lowerGroupColumns();
    return shape.splitBlock ? lowerGroupColumnFold() : void();
  default:
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
    if (isa<kernel::IndexOp>(op) || !access.strides[loopNumber].isConstant(1))
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

void KernelLowering::groupStrip(
    Value blocks, llvm::function_ref<void(OpBuilder &, ColumnRun &, Position &)> body) {
  IndexMath m{builder, loc};
  int last = static_cast<int>(space.parallel) - 1;
  Value length = last < 0 ? m(1) : emitter->extent(builder, last);
  Value strips = m.ceilDiv(length, width * shape.strips), lines, total = strips;
  if (last > 0) {
    lines = emitter->emit(builder, space.product(0, last));
    total = m.mul(total, lines);
  }
  if (blocks)
    total = m.mul(total, blocks);
  Value strip = m.add(m.mul(begin, shape.group), member);
  auto present = scf::IfOp::create(builder, loc, m.less(strip, total), /*withElseRegion=*/false);
  OpBuilder b = present.getThenBodyBuilder();
  IndexMath n{b, loc};
  ColumnRun run{position(), n(0), {}, {}, n(0)};
  Value first = strip;
  if (last > 0 || blocks) {
    Value line = n.div(strip, strips);
    first = n.sub(strip, n.mul(line, strips));
    run.offset = n.mul(line, length);
    if (blocks)
      run.block = last > 0 ? n.div(line, lines) : line;
    if (last > 0)
      emitter->delinearize(b, blocks ? n.sub(line, n.mul(run.block, lines)) : line, 0, last,
                           run.outer);
  }
  Position column = run.outer;
  if (last >= 0) {
    column.loops[last] = n.mul(first, width);
    column.vectorLoop = last;
    column.width = width;
  }
  body(b, run, column);
}

void KernelLowering::lowerGroupMap() {
  open(kernel.getSymName(), {});
  groupStrip({}, [&](OpBuilder &b, ColumnRun &, Position &at) {
    if (at.width == 1)
      return storeAll(b, at);
    int last = static_cast<int>(space.parallel) - 1;
    IndexMath m{b, loc};
    Value length = emitter->extent(b, last);
    Value apart = m.mul(m.ceilDiv(length, width * shape.strips), width);
    SmallVector<Position> strips(shape.strips, at);
    for (int64_t number = 1; number < shape.strips; ++number)
      strips[number].loops[last] = m.add(at.loops[last], m.mul(apart, number));
    Value whole = m.atLeast(length, m.add(strips.back().loops[last], width));
    if (Value aligned = alignedSizes(b, last, width, {}))
      whole = m.both(whole, aligned);
    auto choice = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    SmallVector<Position> masked = strips;
    for (Position &strip : strips)
      strip.aligned = true;
    storeStrips(yes, strips);
    for (Position &strip : masked)
      emitter->maskLanes(no, strip, length);
    storeStrips(no, masked);
  });
  close();
}

/// Every load before any store, as in storeAll: loads of all strips wait together.
void KernelLowering::storeStrips(OpBuilder &b, MutableArrayRef<Position> strips) {
  for (Position &at : strips)
    for (kernel::StoreOp store : stores)
      for (Value value : store.getValues())
        emitter->value(b, value, at);
  for (Position &at : strips)
    storeAll(b, at);
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
      auto body = [&](OpBuilder &d, Value index, Value) {
        Position at = here;
        emitter->delinearize(d, index, space.parallel, space.count(), at);
        SmallVector<Value> values = pointValues(d, reducers, at);
        for (kernel::StoreOp store : pointStores(0))
          emitter->store(d, store, at);
        return values;
      };
      return trees.rowBlock(c, first, some, body);
    };
    States states = chooseAligned(b, trees, last, width, {space.extents[last]}, rows);
    if (width > 1)
      emitter->maskLanes(b, column, emitter->extent(b, last));
    finish(b, reducers, states, column, item, blocks);
  });
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
    if (width > 1)
      emitter->maskLanes(b, column, emitter->extent(b, last));
    Value item = m.add(run.offset, column.loops[last]);
    States states = trees.foldRows(b, blocks, [&](OpBuilder &c, Value block) {
      IndexMath n{c, loc};
      return loadPartials(c, reducers, column, n.add(item, n.mul(block, columns)));
    });
    bind(reducers, states, column, b);
    storeRow(b, column);
  });
  close();
}
