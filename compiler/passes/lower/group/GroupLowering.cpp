#include "compiler/passes/lower/group/GroupLowering.h"

#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/SortedPlaces.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

void GroupLowering::run() {
  if (kernel->hasAttr(kSortedAttr))
    return lowerPlaces();
  switch (shape.family) {
  case Family::Map:
    return shape.turned ? lowerTurned() : lowerMap();
  case Family::Contract:
    if (kernel->hasAttr(kVectorAttr))
      return lowerVector();
    return kernel->hasAttr(kTensorsAttr) ? lowerTensor() : lowerContract();
  case Family::Scan:
    return shape.scansColumns ? lowerColumnScan() : lowerScan();
  case Family::Columns:
    shape.columnParts > 1 ? lowerColumnParts() : lowerColumns();
    return shape.splitBlock ? lowerColumnFold() : void();
  default:
    if (shape.isShort)
      return lowerShort(kernel.getSymName());
    if (shape.mayBeShort)
      lowerShort((kernel.getSymName() + "_short").str());
    if (!reducesOnce(kernel))
      return lowerRows();
    lowerBlocks();
    return shape.splitBlock ? lowerFold() : void();
  }
}

Value GroupLowering::alignedSizes(OpBuilder &b, int loopNumber, int64_t lanes,
                                  ArrayRef<Polynomial> also) {
  Value bits;
  IndexMath m{b, loc};
  for (const Polynomial &step : unalignedSteps(kernel, space, loopNumber, lanes, also)) {
    Value value = emitter->emit(b, step);
    bits = bits ? arith::OrIOp::create(b, loc, bits, value).getResult() : value;
  }
  if (!bits)
    return {};
  return m.equal(arith::AndIOp::create(b, loc, bits, m(lanes - 1)), m(0));
}

States GroupLowering::chooseAligned(OpBuilder &b, TreeEmitter &trees, int loopNumber, int64_t lanes,
                                    ArrayRef<Polynomial> also,
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

/// ceilDiv for sizes, which are far from the largest index: every work-item computes it.
static Value parts(const IndexMath &m, Value size, int64_t each) {
  return each == 1 ? size : m.div(m.add(size, each - 1), each);
}

GroupLowering::Strips GroupLowering::countStrips(Value blocks) {
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

GroupLowering::ColumnRun GroupLowering::stripAt(OpBuilder &b, const Strips &all, Value strip,
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

void GroupLowering::groupStrip(
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
