#include "compiler/passes/lower/core/CoreLowering.h"

#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/lower/TurnedRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

void CoreLowering::run() {
  if (kernel->hasAttr(kSortedAttr))
    return lowerSorted();
  switch (shape.family) {
  case Family::Map:
    return shape.turned ? lowerTurned() : lowerMap();
  case Family::Rows:
    if (!reducesOnce(kernel))
      return lowerRows();
    [[fallthrough]];
  case Family::Full:
    kernel->hasAttr(kFarRowsAttr) ? lowerFarRows() : lowerLaneBlocks();
    return shape.splitBlock ? lowerLaneFold() : void();
  case Family::Columns:
    lowerColumns();
    return shape.splitBlock ? lowerColumnFold() : void();
  case Family::Contract:
    return lowerContract();
  case Family::Scan:
    return lowerScan();
  case Family::Sort: // of no kernel.func
    return;
  }
}

Value CoreLowering::scratchView(Type element, int64_t offset, int64_t count) {
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return memref::ViewOp::create(builder, loc, type, scratchMemory, constant(builder, offset),
                                constant(builder, count));
}

void CoreLowering::runs(OpBuilder &outside,
                        llvm::function_ref<void(OpBuilder &, Position &, Value, Value)> body) {
  unsigned parallel = space.parallel;
  if (parallel <= 1) {
    Position at = position();
    return body(outside, at, begin, end);
  }
  Value length = emitter->extent(outside, parallel - 1);
  Value first = arith::DivUIOp::create(outside, loc, begin, length);
  Value last = arith::CeilDivUIOp::create(outside, loc, end, length);
  Position at = position();
  SmallVector<Value> outer;
  if (parallel > 2) {
    emitter->delinearize(outside, first, 0, parallel - 1, at);
    outer.append(at.loops.begin(), at.loops.begin() + (parallel - 1));
  }
  // The first run, the whole ones, the last: what follows from where a run begins and ends is found
  // once for all of them, by one body.
  IndexMath n{outside, loc};
  Value head = n.min(n.add(first, 1), last), tail = n.max(head, n.sub(last, n(1)));
  Value parts = n.select(n.less(first, last), n(3), n(0));
  auto over = scf::ForOp::create(outside, loc, n(0), parts, n(1), outer);
  OpBuilder part = OpBuilder::atBlockBegin(over.getBody());
  IndexMath m{part, loc};
  Value isHead = m.equal(over.getInductionVar(), m(0));
  Value isTail = m.equal(over.getInductionVar(), m(2));
  auto select = [&](Value atHead, Value between, Value atTail) {
    return m.select(isHead, atHead, m.select(isTail, atTail, between));
  };
  Value low = m.select(isHead, m.sub(begin, m.mul(first, length)), m(0));
  Value high = m.min(m.sub(end, m.mul(select(first, first, tail), length)), length);
  high = select(high, length, high);
  auto each = scf::ForOp::create(part, loc, select(first, head, tail), select(head, tail, last),
                                 m(1), over.getRegionIterArgs());
  OpBuilder b = OpBuilder::atBlockBegin(each.getBody());
  at.loops[0] = each.getInductionVar();
  llvm::copy(each.getRegionIterArgs(), at.loops.begin());
  Position here = at;
  body(b, here, low, high);
  if (parallel > 2) {
    scf::YieldOp::create(b, loc, nextPoint(b, at, 0, parallel - 1));
    scf::YieldOp::create(part, loc, each.getResults());
  }
}

/// Loops [first, end) at the point after the one at `at`: counted on, because a division costs more
/// than a short run.
SmallVector<Value> CoreLowering::nextPoint(OpBuilder &b, const Position &at, unsigned first,
                                           unsigned end) {
  IndexMath m{b, loc};
  SmallVector<Value> next(end - first);
  Value carry;
  for (unsigned i = end; i-- > first;) {
    Value more = m.add(at.loops[i], 1), &here = next[i - first];
    here = carry ? m.select(carry, more, at.loops[i]) : more;
    if (i == first)
      break;
    carry = m.equal(here, emitter->extent(b, i));
    here = m.select(carry, m(0), here);
  }
  return next;
}

int64_t CoreLowering::bytesAhead(int64_t bytes) {
  int64_t ahead = 0;
  kernel.getBody().walk([&](kernel::LoadOp load) {
    auto memory = cast<MemRefType>(emitter->buffer(load).getType());
    int64_t elements = bytes * 8 / memory.getElementTypeBitWidth();
    ahead = std::max<int64_t>(ahead ? std::min(ahead, elements) : elements, width);
  });
  return ahead;
}
