// Running sums and products, by the tree of scans of docs/numerics.md: within groups of 16 by
// doubling, groups of a block in order, and then what precedes the block. Several blocks take three
// functions: their results, the scan of those, and the values; or one (ScanOrdered.cpp).
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/ScanLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// How far ahead memory is asked for: what a group adds waits for the one before, so that a core
/// finds little of what it reads next by itself. Into the second cache it is a block.
constexpr int64_t kVectorsAhead = 32;
/// Threads that write to one page of each row take longer than one of them would alone.
constexpr int64_t kPageBytes = 4096;

} // namespace

/// Groups side by side, which are read and stored as one vector, from `index` on; returns what the
/// next one adds.
Value CoreLowering::ScanLoop::vectorGroups(CoreLowering &l, OpBuilder &b, Value index,
                                           int64_t count, Value limit, Value carry) {
  Location loc = op.getLoc();
  Position at = row;
  at.loops[l.space.parallel] = index;
  at.vectorLoop = static_cast<int>(l.space.parallel);
  at.width = count * kScanGroup;
  if (limit)
    l.emitter->maskLanes(b, at, limit);
  Value all = BodyEmitter::splat(b, loc, l.emitter->value(b, op.getValue(), at), at.width);
  if (!limit) {
    l.prefetch(b, at, l.space.parallel, kVectorsAhead * kScanGroup, kFirstCache);
    l.prefetch(b, at, l.space.parallel, kScanBlock, kSecondCache);
  }
  SmallVector<Value> groups(count, all);
  for (int64_t i = 0; count > 1 && i < count; ++i)
    groups[i] = vector::ExtractStridedSliceOp::create(b, loc, all, i * kScanGroup, kScanGroup, 1);
  doubleLanes(b, op, groups);
  // The last lane in all lanes, without waiting for the carry before the shuffle.
  SmallVector<int64_t> last(kScanGroup, kScanGroup - 1);
  for (auto [number, y] : llvm::enumerate(groups)) {
    Value sum = vector::ShuffleOp::create(b, loc, y, y, last);
    y = combineScanned(b, op, carry, y);
    carry = combineScanned(b, op, carry, sum);
    y = complete(b, y);
    all = count == 1 ? y
                     : vector::InsertStridedSliceOp::create(b, loc, y, all, number * kScanGroup, 1)
                           .getResult();
  }
  if (kept) {
    keep(b, all, IndexMath{b, loc}.sub(index, first));
  } else if (stores) {
    store(l, b, at, all);
  }
  return carry;
}

void CoreLowering::ScanLoop::vectors(CoreLowering &l, OpBuilder &b) {
  Location loc = op.getLoc();
  IndexMath m{b, loc};
  int64_t together = kRegistersTogether * l.registerLanes(kScanGroup) / kScanGroup;
  if (!isLong || !turnsInRegisters(l.kernel))
    together = 1;
  int64_t size = together * kScanGroup;
  Value carry = scanIdentity(b, op, kScanGroup);
  auto groups = [&](Value from, Value to, int64_t count, Value limit) {
    auto loop = scf::ForOp::create(b, loc, from, to, m(count * kScanGroup), ValueRange(carry));
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    Value next =
        vectorGroups(l, inside, loop.getInductionVar(), count, limit, loop.getRegionIterArgs()[0]);
    scf::YieldOp::create(inside, loc, next);
    carry = loop.getResult(0);
  };
  Value end = m.add(first, length), whole = m.add(first, m.mul(m.div(length, size), size));
  groups(first, whole, together, Value());
  // Only the last block has others, and nothing follows it.
  total = vector::ExtractOp::create(b, loc, carry, 0);
  if (!stores && !kept)
    return;
  if (together > 1)
    return groups(whole, end, 1, end);
  auto rest = scf::IfOp::create(b, loc, m.less(whole, end), /*withElseRegion=*/false);
  OpBuilder tail = rest.getThenBodyBuilder();
  vectorGroups(l, tail, whole, 1, end, carry);
}

Value CoreLowering::ScanLoop::complete(OpBuilder &b, Value y) {
  if (!before)
    return y;
  auto lanes = dyn_cast<VectorType>(y.getType());
  Value all = lanes ? BodyEmitter::splat(b, op.getLoc(), before, lanes.getNumElements()) : before;
  return combineScanned(b, op, all, y);
}

void CoreLowering::ScanLoop::store(CoreLowering &l, OpBuilder &b, Position &at, Value y) {
  at.values[op.getResult()] = y;
  l.emitter->storeAll(b, l.stores, at);
}

/// Elements from `start` on, `count` of a group, through memory; returns what the next group adds.
Value CoreLowering::ScanLoop::group(CoreLowering &l, OpBuilder &b, ScanStage &stage, Value start,
                                    Value count, Value carry) {
  Location loc = op.getLoc();
  Value zero = l.constant(b, 0), one = l.constant(b, 1);
  auto at = [&](OpBuilder &d, Value number) {
    Position here = row;
    here.loops[l.space.parallel] = arith::AddIOp::create(d, loc, start, number);
    return here;
  };
  l.loop(b, zero, count, 1, [&](OpBuilder &d, Value number) {
    Position here = at(d, number);
    Value x = l.emitter->value(d, op.getValue(), here);
    stage.set(d, number, BodyEmitter::splat(d, loc, x, row.width));
  });
  stage.doubleUp(b, count);
  auto values = scf::ForOp::create(b, loc, zero, count, one, ValueRange(carry));
  OpBuilder d = OpBuilder::atBlockBegin(values.getBody());
  Value number = values.getInductionVar();
  Value y = combineScanned(d, op, carry, stage.get(d, number));
  if (stores) {
    Position here = at(d, number);
    store(l, d, here, complete(d, y));
  }
  scf::YieldOp::create(d, loc, y);
  return values.getResult(0);
}

/// The values of a whole group become what they are behind the group before.
static void scanGroup(OpBuilder &b, kernel::ScanOp op, MutableArrayRef<Value> group, Value carry) {
  doubleUp(b, op, group);
  for (Value &y : group)
    y = combineScanned(b, op, carry, y);
}

/// As group() of a whole group, whose sixteen values stay in registers.
Value CoreLowering::ScanLoop::registerGroup(CoreLowering &l, OpBuilder &b, Value start,
                                            Value carry) {
  Location loc = op.getLoc();
  Position at[kScanGroup];
  Value x[kScanGroup];
  for (int64_t i = 0; i < kScanGroup; ++i) {
    at[i] = row;
    at[i].loops[l.space.parallel] = arith::AddIOp::create(b, loc, start, l.constant(b, i));
    x[i] = BodyEmitter::splat(b, loc, l.emitter->value(b, op.getValue(), at[i]), row.width);
    if (!row.limit && l.width > 1)
      // Rows of a group and of the next one may lie a power of two apart, and more than a few of
      // such lines do not fit the first cache.
      l.prefetch(b, at[i], l.space.parallel, kScanGroup, kSecondCache);
  }
  scanGroup(b, op, x, carry);
  Value next = x[kScanGroup - 1];
  if (!stores)
    return next;
  for (Value &y : x)
    y = complete(b, y);
  // A vector whose last lanes are masked off may hold anything there.
  if (!row.limit)
    l.emitter->watchTogether(b, op.getResult(), x);
  for (int64_t i = 0; i < kScanGroup; ++i) {
    at[i].watched = !row.limit;
    store(l, b, at[i], x[i]);
  }
  return next;
}

/// The same where a body is too long to be written sixteen times: its values pass through memory.
Value CoreLowering::ScanLoop::longGroup(CoreLowering &l, OpBuilder &b, ScanStage &stage,
                                        Value start, Value carry) {
  Location loc = op.getLoc();
  Value zero = l.constant(b, 0), size = l.constant(b, kScanGroup);
  auto each = [&](llvm::function_ref<void(OpBuilder &, Position &, Value)> body) {
    l.loop(b, zero, size, 1, [&](OpBuilder &c, Value number) {
      Position at = row;
      at.loops[l.space.parallel] = IndexMath{c, loc}.add(start, number);
      body(c, at, number);
    });
  };
  each([&](OpBuilder &c, Position &at, Value number) {
    Value x = l.emitter->value(c, op.getValue(), at);
    stage.set(c, number, BodyEmitter::splat(c, loc, x, row.width));
  });
  Value group[kScanGroup];
  for (int64_t i = 0; i < kScanGroup; ++i)
    group[i] = stage.get(b, l.constant(b, i));
  scanGroup(b, op, group, carry);
  Value next = group[kScanGroup - 1];
  if (!stores)
    return next;
  for (int64_t i = 0; i < kScanGroup; ++i)
    stage.set(b, l.constant(b, i), complete(b, group[i]));
  each([&](OpBuilder &c, Position &at, Value number) { store(l, c, at, stage.get(c, number)); });
  return next;
}

/// Columns of a run, as many as a cache holds 16 rows of: what the next group adds waits for it in
/// memory of its own, so that rows are read and written in pieces longer than a vector.
void CoreLowering::ScanLoop::columns(CoreLowering &l, OpBuilder &b, ColumnRun &run, Value blocks) {
  Location loc = op.getLoc();
  int last = static_cast<int>(l.space.parallel) - 1;
  int64_t lanes = l.registerLanes(l.width), together = kScanGroup * lanes;
  Block *entry = &l.function.getBody().front();
  ScanStage carries(entry, op, lanes), stage(entry, op, lanes), partial(entry, op, lanes);
  bool simple = turnsInRegisters(l.kernel); // and so may be written sixteen times
  l.loop(b, run.low, run.high, together, [&](OpBuilder &c, Value low) {
    Value high = arith::MinSIOp::create(
        c, loc, run.high, arith::AddIOp::create(c, loc, low, l.constant(c, together)));
    l.loop(c, l.constant(c, 0), l.constant(c, kScanGroup), 1,
           [&](OpBuilder &d, Value slot) { carries.set(d, slot, scanIdentity(d, op, lanes)); });
    // A strip with its place among the carries.
    auto each = [&](OpBuilder &at, llvm::function_ref<void(OpBuilder &, ScanLoop &, Value)> body) {
      auto strip = [&](OpBuilder &d, Position &column) {
        Value ahead = arith::SubIOp::create(d, loc, column.loops[last], low);
        ScanLoop scan{op, stores, column, first, length, {}, {}, {}, {}};
        body(d, scan, arith::DivUIOp::create(d, loc, ahead, l.constant(d, lanes)));
      };
      l.strips(at, run.outer, last, lanes, low, high, strip);
    };
    auto itemOf = [&](OpBuilder &d, const ScanLoop &scan) -> Value {
      return arith::AddIOp::create(d, loc, run.offset, scan.row.loops[last]);
    };
    Value size = l.constant(c, kScanGroup);
    Value whole = arith::AddIOp::create(
        c, loc, first,
        arith::MulIOp::create(c, loc, arith::DivUIOp::create(c, loc, length, size), size));
    Value rest = arith::SubIOp::create(c, loc, arith::AddIOp::create(c, loc, first, length), whole);
    auto rows = [&](OpBuilder &at, Value start, Value count) {
      each(at, [&](OpBuilder &d, ScanLoop &scan, Value slot) {
        l.rowValues(d, scan.row, 0);
        scan.readBefore(l, d, partial, itemOf(d, scan), blocks, lanes);
        Value carry = carries.get(d, slot);
        carries.set(d, slot,
                    count    ? scan.group(l, d, stage, start, count, carry)
                    : simple ? scan.registerGroup(l, d, start, carry)
                             : scan.longGroup(l, d, stage, start, carry));
      });
    };
    l.loop(c, first, whole, kScanGroup,
           [&](OpBuilder &d, Value start) { rows(d, start, Value()); });
    // Only the last block has a group that is not whole, and nothing follows it.
    if (!stores)
      return each(c, [&](OpBuilder &d, ScanLoop &scan, Value slot) {
        partial.write(d, carries.get(d, slot), l.extraBuffers[0], itemOf(d, scan), scan.row.mask);
      });
    Value some = arith::CmpIOp::create(c, loc, arith::CmpIPredicate::sgt, rest, l.constant(c, 0));
    OpBuilder tail = scf::IfOp::create(c, loc, some, /*withElseRegion=*/false).getThenBodyBuilder();
    rows(tail, whole, rest);
  });
}

void CoreLowering::ScanLoop::groups(CoreLowering &l, OpBuilder &b) {
  Location loc = op.getLoc();
  int64_t lanes = row.width;
  ScanStage stage(&l.function.getBody().front(), op, lanes);
  Value zero = l.constant(b, 0), size = l.constant(b, kScanGroup),
        carry = scanIdentity(b, op, lanes);
  Value begun = zero;
  if (l.kernel->hasAttr(kUnrollAttr)) {
    IndexMath m{b, loc};
    begun = m.mul(m.div(length, kScanGroup), kScanGroup);
    auto whole = scf::ForOp::create(b, loc, zero, begun, size, ValueRange(carry));
    OpBuilder c = OpBuilder::atBlockBegin(whole.getBody());
    Value start = arith::AddIOp::create(c, loc, first, whole.getInductionVar());
    scf::YieldOp::create(c, loc, registerGroup(l, c, start, whole.getRegionIterArgs()[0]));
    carry = whole.getResult(0);
  }
  auto groups = scf::ForOp::create(b, loc, begun, length, size, ValueRange(carry));
  OpBuilder c = OpBuilder::atBlockBegin(groups.getBody());
  Value start = arith::AddIOp::create(c, loc, first, groups.getInductionVar());
  Value count = arith::MinSIOp::create(
      c, loc, size, arith::SubIOp::create(c, loc, length, groups.getInductionVar()));
  Value next = group(l, c, stage, start, count, groups.getRegionIterArgs()[0]);
  scf::YieldOp::create(c, loc, next);
  total = groups.getResult(0);
}

void CoreLowering::ScanLoop::readBefore(CoreLowering &l, OpBuilder &b, ScanStage &partial,
                                        Value item, Value blocks, int64_t lanes) {
  if (!blocks || !stores)
    return;
  Location loc = op.getLoc();
  Value several = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, blocks, l.constant(b, 1));
  auto choice = scf::IfOp::create(b, loc, TypeRange(scanIdentity(b, op, lanes).getType()), several,
                                  /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  Value known = partial.read(yes, l.extraBuffers[0], item, row.mask);
  scf::YieldOp::create(yes, loc, BodyEmitter::splat(yes, loc, known, lanes));
  scf::YieldOp::create(no, loc, scanIdentity(no, op, lanes));
  before = choice.getResult(0);
}

/// A block whose row and first element are set, with its result or what precedes it at `item`.
void CoreLowering::scanItem(OpBuilder &b, ScanLoop &scan, Value item, Value blocks) {
  bool along = scansAlongVector();
  int64_t lanes = along ? kScanGroup : scan.row.width;
  ScanStage partial(&function.getBody().front(), scan.op, along ? 1 : lanes);
  rowValues(b, scan.row, 0);
  scan.readBefore(*this, b, partial, item, blocks, lanes);
  along ? scan.vectors(*this, b) : scan.groups(*this, b);
  if (!scan.stores)
    partial.write(b, scan.total, extraBuffers[0], item, scan.row.mask);
}

/// The first item from `item` on at which a thread may begin: with a page of columns.
Value CoreLowering::pageOfColumns(Value item) {
  IndexMath m{builder, loc};
  int64_t bits = std::max(scanOf(kernel).getType().getIntOrFloatBitWidth(), 8u);
  int64_t page = kPageBytes * 8 / bits;
  Value columns = emitter->extent(builder, space.parallel - 1), run = m.div(item, columns);
  Value column = m.sub(item, m.mul(run, columns));
  Value next = m.min(m.mul(m.ceilDiv(column, page), page), columns);
  return m.add(m.mul(run, columns), next);
}

void CoreLowering::scanPass(StringRef name, bool storesValues) {
  open(name, shape.partials);
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  kernel::ScanOp op = scanOf(kernel);
  auto limits = [&](OpBuilder &b, Value block, ScanLoop &scan) {
    scan.first = constant(b, 0);
    scan.length = length;
    if (!blocks)
      return;
    Value size = constant(b, kScanBlock);
    scan.first = arith::MulIOp::create(b, loc, block, size);
    scan.length =
        arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, length, scan.first), size);
  };
  if (scansAlongVector() || space.parallel == 0) {
    loop(builder, begin, end, 1, [&](OpBuilder &b, Value item) {
      ScanLoop scan{op, storesValues, position(), {}, {}, {}, {}, {}, {}, bool(blocks)};
      Value number = item, block = item;
      if (blocks && space.parallel) {
        number = arith::DivUIOp::create(b, loc, item, blocks);
        block = arith::RemUIOp::create(b, loc, item, blocks);
      }
      limits(b, block, scan);
      if (space.parallel)
        emitter->delinearize(b, number, 0, space.parallel, scan.row);
      scanItem(b, scan, item, blocks);
    });
    return close();
  }
  if (width > 1)
    begin = pageOfColumns(begin), end = pageOfColumns(end);
  columnRuns(blocks, [&](OpBuilder &b, ColumnRun &run) {
    ScanLoop scan{op, storesValues, position(), {}, {}, {}, {}, {}, {}};
    limits(b, run.block, scan);
    if (width > 1)
      return scan.columns(*this, b, run, blocks);
    loop(b, run.low, run.high, 1, [&](OpBuilder &c, Value column) {
      scan.row = run.outer;
      scan.row.loops[space.parallel - 1] = column;
      scan.row.vectorLoop = static_cast<int>(space.parallel) - 1;
      scan.row.width = 1;
      scanItem(c, scan, arith::AddIOp::create(c, loc, run.offset, column), blocks);
    });
  });
  close();
}

void CoreLowering::lowerScan() {
  if (shape.handedWords)
    return ScanLoop::lowerOrdered(*this);
  scanPass(kernel.getSymName(), true);
  if (shape.splitBlock == 0)
    return;
  scanPass((kernel.getSymName() + "_blocks").str(), false);
  scanFold();
}
