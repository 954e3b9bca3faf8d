// Running sums and products, by the tree of scans of docs/numerics.md: within groups of 16 by
// doubling, groups of a block in order, and then what precedes the block. Several blocks take three
// functions: their results, the scan of those, and the values; or, along neighbouring elements
// where pieces of a launch begin in order, one, whose pieces tell each other their blocks' results.
#include "compiler/passes/lower/HandedWords.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// How far ahead memory is asked for: what a group adds waits for the one before.
constexpr int64_t kVectorsAhead = 32;
/// Registers of groups whose steps are taken in turns where the body is short: a step waits for the
/// one before it.
constexpr int64_t kRegistersTogether = 4;
/// What a piece keeps of its blocks until it knows what precedes them: a part of the second cache.
constexpr int64_t kKeptBytes = int64_t{128} << 10;
/// Short waits between two looks at what another thread is about to tell, until the core is offered
/// to it, which may need it to go on.
constexpr int64_t kPauses = 16;
/// Locality of rows of columns that are asked for: those of a group and of the next one may lie a
/// power of two apart, and more than a few of such lines do not fit the first cache.
constexpr unsigned kSecondCache = 2;

kernel::ScanOp scanOf(kernel::FuncOp kernel) {
  kernel::ScanOp found;
  kernel.getBody().walk([&](kernel::ScanOp op) { found = op; });
  return found;
}

Value identity(OpBuilder &b, kernel::ScanOp op, int64_t width) {
  return reductionIdentity(b, op.getLoc(), op.getKind(), op.getType(), width);
}

/// The lanes of each group with those before them, one step of all groups after the other.
void doubleLanes(OpBuilder &b, kernel::ScanOp op, MutableArrayRef<Value> groups) {
  Value none = identity(b, op, kScanGroup);
  for (int64_t apart = 1; apart < kScanGroup; apart *= 2) {
    SmallVector<int64_t> from(kScanGroup);
    for (int64_t i = 0; i < kScanGroup; ++i)
      from[i] = i < apart ? i : kScanGroup + i - apart;
    for (Value &x : groups)
      x = combineScanned(b, op, vector::ShuffleOp::create(b, op.getLoc(), none, x, from), x);
  }
}

/// Elements of one group and of any number of lanes, in memory.
class Stage {
public:
  Stage(Block *entry, kernel::ScanOp op, int64_t lanes) : op(op), loc(op.getLoc()), lanes(lanes) {
    OpBuilder b = OpBuilder::atBlockBegin(entry);
    memory = memref::AllocaOp::create(
        b, loc, MemRefType::get({kScanGroup * lanes}, memoryType(op.getType())),
        lanes > 1 ? b.getI64IntegerAttr(kLineBytes) : IntegerAttr());
  }
  Value get(OpBuilder &b, Value number) { return read(b, memory, place(b, number), {}); }
  void set(OpBuilder &b, Value number, Value value) {
    write(b, value, memory, place(b, number), {});
  }

  /// Elements of a buffer from `index`; a mask leaves lanes out.
  Value read(OpBuilder &b, Value buffer, Value index, Value mask) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType(), type = op.getType();
    Value raw;
    if (lanes == 1) {
      raw = memref::LoadOp::create(b, loc, buffer, index);
    } else if (auto vector = VectorType::get({lanes}, element); mask) {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
      raw = vector::MaskedLoadOp::create(b, loc, vector, buffer, index, mask, zero);
    } else {
      raw = vector::LoadOp::create(b, loc, vector, buffer, index);
    }
    Type wanted = BodyEmitter::vectorOf(type, lanes);
    return raw.getType() == wanted ? raw : graph::CastOp::create(b, loc, wanted, raw).getResult();
  }
  void write(OpBuilder &b, Value value, Value buffer, Value index, Value mask) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    Type type = BodyEmitter::vectorOf(element, lanes);
    if (value.getType() != type)
      value = graph::CastOp::create(b, loc, type, value);
    if (lanes == 1)
      memref::StoreOp::create(b, loc, value, buffer, index);
    else if (mask)
      vector::MaskedStoreOp::create(b, loc, buffer, index, mask, value);
    else
      vector::StoreOp::create(b, loc, value, buffer, index);
  }

  /// Every element with those before it, among the first `count`: 1, 2, 4, 8 apart, last first.
  void doubleUp(OpBuilder &b, Value count) {
    auto index = [&](OpBuilder &c, int64_t v) -> Value {
      return arith::ConstantIndexOp::create(c, loc, v);
    };
    Value zero = index(b, 0), one = index(b, 1);
    auto steps = scf::ForOp::create(b, loc, zero, index(b, llvm::Log2_64(kScanGroup)), one);
    OpBuilder c = OpBuilder::atBlockBegin(steps.getBody());
    Value apart = arith::ShLIOp::create(c, loc, one, steps.getInductionVar());
    Value pairs = arith::MaxSIOp::create(c, loc, arith::SubIOp::create(c, loc, count, apart), zero);
    auto inner = scf::ForOp::create(c, loc, zero, pairs, one);
    OpBuilder d = OpBuilder::atBlockBegin(inner.getBody());
    Value later = arith::SubIOp::create(d, loc, arith::SubIOp::create(d, loc, count, one),
                                        inner.getInductionVar());
    Value earlier = arith::SubIOp::create(d, loc, later, apart);
    set(d, later, combineScanned(d, op, get(d, earlier), get(d, later)));
  }

private:
  Value place(OpBuilder &b, Value number) {
    if (lanes == 1)
      return number;
    return arith::MulIOp::create(b, loc, number, arith::ConstantIndexOp::create(b, loc, lanes));
  }
  kernel::ScanOp op;
  Location loc;
  int64_t lanes;
  Value memory;
};

} // namespace

/// One block of elements, of one row or of a vector of columns.
struct KernelLowering::ScanLoop {
  kernel::ScanOp op;
  bool stores;
  Position row;
  Value first, length; ///< elements
  Value before;        ///< what precedes the block; null: nothing
  Value total;         ///< set by the loop: result of a whole block
  Value kept;          ///< memory where values wait for `before`; null: they are stored
  Value keptFirst;     ///< index of the block's first value there
  bool isLong = false; ///< of a line of several blocks, most of which are whole

  /// Of a line whose pieces tell each other their blocks' results: all its functions.
  static void lowerOrdered(KernelLowering &l);

  /// Lanes are consecutive elements: a group is a vector.
  void vectors(KernelLowering &l, OpBuilder &b);
  Value vectorGroups(KernelLowering &l, OpBuilder &b, Value index, int64_t count, Value limit,
                     Value carry);
  /// There is one lane: groups pass through memory.
  void groups(KernelLowering &l, OpBuilder &b);
  void keep(OpBuilder &b, Value y, Value place);
  Value recall(OpBuilder &b, Value place);
  void storeKept(KernelLowering &l, OpBuilder &b);
  class Ordered;
  Value group(KernelLowering &l, OpBuilder &b, Stage &stage, Value start, Value count, Value carry);
  Value registerGroup(KernelLowering &l, OpBuilder &b, Value start, Value carry);
  void readBefore(KernelLowering &l, OpBuilder &b, Stage &partial, Value item, Value blocks,
                  int64_t lanes);
  Value complete(OpBuilder &b, Value y);
  void store(KernelLowering &l, OpBuilder &b, Position &at, Value y);
  void columns(KernelLowering &l, OpBuilder &b, ColumnRun &run, Value blocks);
};

bool KernelLowering::scansAlongVector() { return width > 1 && scansAlongRows(kernel, space); }

/// Groups side by side, which are read and stored as one vector, from `index` on; returns what the
/// next one adds.
Value KernelLowering::ScanLoop::vectorGroups(KernelLowering &l, OpBuilder &b, Value index,
                                             int64_t count, Value limit, Value carry) {
  Location loc = op.getLoc();
  Position at = row;
  at.loops[l.space.parallel] = index;
  at.vectorLoop = static_cast<int>(l.space.parallel);
  at.width = count * kScanGroup;
  if (limit)
    l.emitter->maskLanes(b, at, limit);
  Value all = BodyEmitter::splat(b, loc, l.emitter->value(b, op.getValue(), at), at.width);
  if (!limit)
    l.prefetch(b, at, l.space.parallel, kVectorsAhead * kScanGroup, /*locality=*/3);
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

void KernelLowering::ScanLoop::vectors(KernelLowering &l, OpBuilder &b) {
  Location loc = op.getLoc();
  IndexMath m{b, loc};
  int64_t together = kRegistersTogether * l.registerLanes(kScanGroup) / kScanGroup;
  if (!isLong || !turnsInRegisters(l.kernel))
    together = 1;
  int64_t size = together * kScanGroup;
  Value carry = identity(b, op, kScanGroup);
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

Value KernelLowering::ScanLoop::complete(OpBuilder &b, Value y) {
  return before ? combineScanned(b, op, before, y) : y;
}

void KernelLowering::ScanLoop::store(KernelLowering &l, OpBuilder &b, Position &at, Value y) {
  at.values[op.getResult()] = y;
  for (kernel::StoreOp store : l.stores)
    l.emitter->store(b, store, at);
}

/// Elements from `start` on, `count` of a group, through memory; returns what the next group adds.
Value KernelLowering::ScanLoop::group(KernelLowering &l, OpBuilder &b, Stage &stage, Value start,
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

/// The same of a whole group whose sixteen values stay in registers.
Value KernelLowering::ScanLoop::registerGroup(KernelLowering &l, OpBuilder &b, Value start,
                                              Value carry) {
  Location loc = op.getLoc();
  Position at[kScanGroup];
  Value x[kScanGroup];
  for (int64_t i = 0; i < kScanGroup; ++i) {
    at[i] = row;
    at[i].loops[l.space.parallel] = arith::AddIOp::create(b, loc, start, l.constant(b, i));
    x[i] = BodyEmitter::splat(b, loc, l.emitter->value(b, op.getValue(), at[i]), row.width);
    if (!row.limit)
      l.prefetch(b, at[i], l.space.parallel, kScanGroup, kSecondCache);
  }
  for (int64_t apart = 1; apart < kScanGroup; apart *= 2)
    for (int64_t i = kScanGroup; i-- > apart;)
      x[i] = combineScanned(b, op, x[i - apart], x[i]);
  for (Value &y : x)
    y = combineScanned(b, op, carry, y);
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

/// Columns of a run, as many as a cache holds 16 rows of: what the next group adds waits for it in
/// memory of its own, so that rows are read and written in pieces longer than a vector.
void KernelLowering::ScanLoop::columns(KernelLowering &l, OpBuilder &b, ColumnRun &run,
                                       Value blocks) {
  Location loc = op.getLoc();
  int last = static_cast<int>(l.space.parallel) - 1;
  int64_t lanes = l.registerLanes(l.width), together = kScanGroup * lanes;
  Block *entry = &l.function.getBody().front();
  Stage carries(entry, op, lanes), stage(entry, op, lanes), partial(entry, op, lanes);
  bool simple = turnsInRegisters(l.kernel); // and so may be written sixteen times
  l.loop(b, run.low, run.high, together, [&](OpBuilder &c, Value low) {
    Value high = arith::MinSIOp::create(
        c, loc, run.high, arith::AddIOp::create(c, loc, low, l.constant(c, together)));
    l.loop(c, l.constant(c, 0), l.constant(c, kScanGroup), 1,
           [&](OpBuilder &d, Value slot) { carries.set(d, slot, identity(d, op, lanes)); });
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
                    count || !simple ? scan.group(l, d, stage, start, count ? count : size, carry)
                                     : scan.registerGroup(l, d, start, carry));
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

void KernelLowering::ScanLoop::groups(KernelLowering &l, OpBuilder &b) {
  Location loc = op.getLoc();
  int64_t lanes = row.width;
  Stage stage(&l.function.getBody().front(), op, lanes);
  Value zero = l.constant(b, 0), size = l.constant(b, kScanGroup);
  auto groups = scf::ForOp::create(b, loc, zero, length, size, ValueRange(identity(b, op, lanes)));
  OpBuilder c = OpBuilder::atBlockBegin(groups.getBody());
  Value start = arith::AddIOp::create(c, loc, first, groups.getInductionVar());
  Value count = arith::MinSIOp::create(
      c, loc, size, arith::SubIOp::create(c, loc, length, groups.getInductionVar()));
  Value next = group(l, c, stage, start, count, groups.getRegionIterArgs()[0]);
  scf::YieldOp::create(c, loc, next);
  total = groups.getResult(0);
}

void KernelLowering::ScanLoop::readBefore(KernelLowering &l, OpBuilder &b, Stage &partial,
                                          Value item, Value blocks, int64_t lanes) {
  if (!blocks || !stores)
    return;
  Location loc = op.getLoc();
  Value several = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, blocks, l.constant(b, 1));
  auto choice = scf::IfOp::create(b, loc, TypeRange(identity(b, op, lanes).getType()), several,
                                  /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  Value known = partial.read(yes, l.extraBuffers[0], item, row.mask);
  scf::YieldOp::create(yes, loc, BodyEmitter::splat(yes, loc, known, lanes));
  scf::YieldOp::create(no, loc, identity(no, op, lanes));
  before = choice.getResult(0);
}

/// A block whose row and first element are set, with its result or what precedes it at `item`.
void KernelLowering::scanItem(OpBuilder &b, ScanLoop &scan, Value item, Value blocks) {
  bool along = scansAlongVector();
  int64_t lanes = along ? kScanGroup : scan.row.width;
  Stage partial(&function.getBody().front(), scan.op, along ? 1 : lanes);
  rowValues(b, scan.row, 0);
  scan.readBefore(*this, b, partial, item, blocks, lanes);
  along ? scan.vectors(*this, b) : scan.groups(*this, b);
  if (!scan.stores)
    partial.write(b, scan.total, extraBuffers[0], item, scan.row.mask);
}

void KernelLowering::scanPass(StringRef name, bool storesValues) {
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

/// Results of a row's blocks become what precedes each of them: their scan, one place later.
void KernelLowering::scanFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  kernel::ScanOp op = scanOf(kernel);
  Stage stage(&function.getBody().front(), op, 1);
  Value blocks = blockCount(builder), zero = constant(builder, 0), one = constant(builder, 1),
        size = constant(builder, kScanGroup);
  Value rows = emitter->emit(builder, space.product(0, space.parallel));
  bool byRow = scansAlongVector();
  loop(builder, begin, end, 1, [&](OpBuilder &b, Value row) {
    auto groups = scf::ForOp::create(b, loc, zero, blocks, size, ValueRange(identity(b, op, 1)));
    OpBuilder c = OpBuilder::atBlockBegin(groups.getBody());
    Value start = groups.getInductionVar();
    Value count =
        arith::MinSIOp::create(c, loc, size, arith::SubIOp::create(c, loc, blocks, start));
    auto place = [&](OpBuilder &d, Value number) -> Value {
      Value block = arith::AddIOp::create(d, loc, start, number);
      Value line = arith::MulIOp::create(d, loc, byRow ? row : block, byRow ? blocks : rows);
      return arith::AddIOp::create(d, loc, line, byRow ? block : row);
    };
    loop(c, zero, count, 1, [&](OpBuilder &d, Value number) {
      stage.set(d, number, stage.read(d, extraBuffers[0], place(d, number), {}));
    });
    stage.doubleUp(c, count);
    Value carry = groups.getRegionIterArgs()[0];
    auto values = scf::ForOp::create(c, loc, zero, count, one, ValueRange(carry));
    OpBuilder d = OpBuilder::atBlockBegin(values.getBody());
    Value number = values.getInductionVar();
    stage.write(d, values.getRegionIterArgs()[0], extraBuffers[0], place(d, number), {});
    scf::YieldOp::create(d, loc, combineScanned(d, op, carry, stage.get(d, number)));
    scf::YieldOp::create(c, loc, values.getResult(0));
  });
  close();
}

/// A group's values at `place` of their block.
void KernelLowering::ScanLoop::keep(OpBuilder &b, Value y, Value place) {
  Type element = cast<MemRefType>(kept.getType()).getElementType();
  int64_t lanes = cast<VectorType>(y.getType()).getNumElements();
  if (auto type = VectorType::get({lanes}, element); y.getType() != type)
    y = graph::CastOp::create(b, op.getLoc(), type, y);
  vector::StoreOp::create(b, op.getLoc(), y, kept, IndexMath{b, op.getLoc()}.add(keptFirst, place));
}

Value KernelLowering::ScanLoop::recall(OpBuilder &b, Value place) {
  Type element = cast<MemRefType>(kept.getType()).getElementType();
  Value raw = vector::LoadOp::create(b, op.getLoc(), VectorType::get({kScanGroup}, element), kept,
                                     IndexMath{b, op.getLoc()}.add(keptFirst, place));
  auto type = VectorType::get({kScanGroup}, op.getType());
  return raw.getType() == type ? raw : graph::CastOp::create(b, op.getLoc(), type, raw).getResult();
}

/// Stores a block's values that have waited for what precedes it.
void KernelLowering::ScanLoop::storeKept(KernelLowering &l, OpBuilder &b) {
  Location loc = op.getLoc();
  unsigned along = l.space.parallel;
  auto group = [&](OpBuilder &c, Value place, Value limit) {
    Position at = row;
    at.loops[along] = IndexMath{c, loc}.add(first, place);
    at.vectorLoop = static_cast<int>(along);
    at.width = kScanGroup;
    if (limit)
      l.emitter->maskLanes(c, at, limit);
    store(l, c, at, complete(c, recall(c, place)));
  };
  IndexMath m{b, loc};
  Value whole = m.mul(m.div(length, m(kScanGroup)), kScanGroup), end = m.add(first, length);
  l.loop(b, m(0), whole, kScanGroup, [&](OpBuilder &c, Value place) { group(c, place, Value()); });
  auto rest = scf::IfOp::create(b, loc, m.less(whole, length), /*withElseRegion=*/false);
  OpBuilder tail = rest.getThenBodyBuilder();
  group(tail, whole, end);
}

/// What pieces of a scan tell each other, and how one of them waits. A piece looks at what others
/// told once; from there on it follows the tree of its own blocks' results.
class KernelLowering::ScanLoop::Ordered {
public:
  /// Scratch memory, at its beginning: an address, a group of results, each with those before it,
  /// and the results of a piece.
  static constexpr int64_t kAddressBytes = 64, kGroupBytes = kScanGroup * sizeof(int64_t);
  static constexpr int64_t kBytes = kAddressBytes + 3 * kGroupBytes;

  Ordered(KernelLowering &l, kernel::ScanOp op, int64_t piece)
      : l(l), op(op), loc(op.getLoc()), type(memoryType(op.getType())),
        words(op, l.extraBuffers[0]), piece(piece),
        length(l.emitter->emit(l.builder, l.space.reducedItems())), blocks(l.blockCount(l.builder)),
        yields(l.scratchView(l.builder.getI64Type(), 0, 1)),
        group(l.scratchView(type, kAddressBytes, kScanGroup)),
        doubled(l.scratchView(type, kAddressBytes + kGroupBytes, kScanGroup)),
        totals(l.scratchView(type, kAddressBytes + 2 * kGroupBytes, kScanGroup)),
        kept(l.scratchView(type, kBytes, piece * kScanBlock)) {}

  /// What one call does. A line of one block waits for nothing.
  void lower() {
    OpBuilder &b = l.builder;
    Value isLong = IndexMath{b, loc}.less(IndexMath{b, loc}(1), blocks);
    auto choice = scf::IfOp::create(b, loc, isLong, /*withElseRegion=*/true);
    OpBuilder several = choice.getThenBodyBuilder(), one = choice.getElseBodyBuilder();
    l.loop(one, l.begin, l.end, 1, [&](OpBuilder &c, Value item) {
      blockAt(c, item, /*isLong=*/false).scan.vectors(l, c);
    });
    auto how = scf::IfOp::create(several, loc, knows(several), /*withElseRegion=*/true);
    storeScanned(how.getThenBodyBuilder());
    scanThenStore(how.getElseBodyBuilder());
  }

private:
  struct Block {
    ScanLoop scan;
    Value item, number; ///< of all blocks, and of its line's
  };
  Block blockAt(OpBuilder &b, Value item, bool isLong = true) {
    IndexMath m{b, loc};
    ScanLoop scan{op, true, l.position(), {}, {}, {}, {}, {}, {}, isLong};
    Value line = l.space.parallel ? m.div(item, blocks) : m(0);
    Value number = m.sub(item, m.mul(line, blocks));
    scan.first = m.mul(number, kScanBlock);
    scan.length = m.min(m.sub(length, scan.first), kScanBlock);
    if (l.space.parallel)
      l.emitter->delinearize(b, line, 0, l.space.parallel, scan.row);
    l.rowValues(b, scan.row, 0);
    return {scan, item, number};
  }
  Block keptAt(OpBuilder &b, Value item) {
    IndexMath m{b, loc};
    Block at = blockAt(b, item);
    at.scan.kept = kept;
    at.scan.keptFirst = m.mul(m.sub(item, l.begin), kScanBlock);
    return at;
  }

  /// Who begins with a line, or has more than a piece, knows what precedes each of its blocks; and
  /// who finds that others have told it.
  Value knows(OpBuilder &b) {
    IndexMath m{b, loc};
    Value first = arith::RemUIOp::create(b, loc, l.begin, blocks);
    Value sure = m.either(m.less(m(piece), m.sub(l.end, l.begin)), m.equal(first, m(0)));
    auto asks = scf::IfOp::create(b, loc, TypeRange(b.getI1Type()), sure, /*withElseRegion=*/true);
    OpBuilder yes = asks.getThenBodyBuilder(), no = asks.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, sure);
    scf::YieldOp::create(no, loc, isTold(no, l.begin, first));
    return asks.getResult(0);
  }

  /// Blocks one after the other, by where the call is in the tree.
  void eachInOrder(OpBuilder b, llvm::function_ref<Block(OpBuilder &, Value)> place,
                   llvm::function_ref<void(OpBuilder &, Block &)> body) {
    Value by = IndexMath{b, loc}(1);
    auto items = scf::ForOp::create(b, loc, l.begin, l.end, by, start(b));
    OpBuilder c = OpBuilder::atBlockBegin(items.getBody());
    Block at = place(c, items.getInductionVar());
    SmallVector<Value> state = next(c, items.getRegionIterArgs(), at);
    at.scan.before = BodyEmitter::splat(c, loc, state[2], kScanGroup);
    body(c, at);
    scf::YieldOp::create(c, loc, state);
  }
  void storeScanned(OpBuilder b) {
    auto place = [&](OpBuilder &c, Value item) { return blockAt(c, item); };
    eachInOrder(b, place, [&](OpBuilder &c, Block &at) {
      at.scan.vectors(l, c);
      keepResult(c, at.item, at.scan.total);
      tellResult(c, at.item);
    });
  }
  /// All blocks are scanned, so that others get on, before it waits for what precedes them.
  void scanThenStore(OpBuilder b) {
    l.loop(b, l.begin, l.end, 1, [&](OpBuilder &c, Value item) {
      Block at = keptAt(c, item);
      at.scan.vectors(l, c);
      keepResult(c, item, at.scan.total);
    });
    // Together: they share lines of memory that others look at.
    l.loop(b, l.begin, l.end, 1, [&](OpBuilder &c, Value item) { tellResult(c, item); });
    auto place = [&](OpBuilder &c, Value item) { return keptAt(c, item); };
    eachInOrder(b, place, [&](OpBuilder &c, Block &at) { at.scan.storeKept(l, c); });
  }

  /// Of a block, until as many others have been kept as a piece has.
  void keepResult(OpBuilder &b, Value item, Value total) { set(b, totals, place(b, item), total); }
  void tellResult(OpBuilder &b, Value item) {
    words.tell(b, HandedWords::Result, item, get(b, totals, place(b, item)));
  }

  /// Where a piece is in the tree: what precedes the group of the block before, how many of that
  /// group's results are known, and what precedes that block.
  SmallVector<Value> start(OpBuilder &b) {
    Value none = identity(b, op, 1);
    return {none, IndexMath{b, loc}(0), none};
  }
  /// The same for the next block.
  SmallVector<Value> next(OpBuilder &b, ValueRange state, const Block &at) {
    IndexMath m{b, loc};
    Value item = at.item, block = at.number, leads = m.equal(item, l.begin);
    SmallVector<Value> begin = start(b);
    auto choose = [&](OpBuilder &c, Value condition, auto yes, auto no) {
      auto choice = scf::IfOp::create(c, loc, state.getTypes(), condition, /*withElseRegion=*/true);
      OpBuilder then = choice.getThenBodyBuilder(), otherwise = choice.getElseBodyBuilder();
      scf::YieldOp::create(then, loc, yes(then));
      scf::YieldOp::create(otherwise, loc, no(otherwise));
      return SmallVector<Value>(choice.getResults());
    };
    return choose(
        b, m.equal(block, m(0)), [&](OpBuilder &) { return begin; },
        [&](OpBuilder &c) {
          IndexMath n{c, loc};
          SmallVector<Value> known = choose(
              c, leads, [&](OpBuilder &d) { return look(d, item, block); },
              [&](OpBuilder &d) { return follow(d, state, item); });
          known[2] = combineScanned(c, op, known[0], last(c, known[1]));
          Value whole = n.equal(known[1], n(kScanGroup));
          OpBuilder d =
              scf::IfOp::create(c, loc, whole, /*withElseRegion=*/false).getThenBodyBuilder();
          words.tell(d, HandedWords::Before, item, known[2]);
          return known;
        });
  }

  /// Whether all that look() would wait for has been told.
  Value isTold(OpBuilder &b, Value item, Value block) {
    IndexMath m{b, loc};
    auto [count, start] = groupBefore(b, item, block);
    auto told = [&](OpBuilder &c, HandedWords::Part part, Value of) {
      return words.isTold(c, words.look(c, part, of));
    };
    Value alone = m.equal(count, block);
    auto several = scf::IfOp::create(b, loc, TypeRange(b.getI1Type()), alone,
                                     /*withElseRegion=*/true);
    OpBuilder yes = several.getThenBodyBuilder(), no = several.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, alone);
    scf::YieldOp::create(no, loc, told(no, HandedWords::Before, start));
    auto each = scf::ForOp::create(b, loc, m(0), count, m(1), several.getResult(0));
    OpBuilder c = OpBuilder::atBlockBegin(each.getBody());
    IndexMath n{c, loc};
    Value one = told(c, HandedWords::Result, n.add(start, each.getInductionVar()));
    scf::YieldOp::create(c, loc, n.both(each.getRegionIterArgs()[0], one));
    return each.getResult(0);
  }

  Value place(OpBuilder &b, Value item) {
    IndexMath m{b, loc};
    return m.both(item, m(piece - 1));
  }

  /// Of the group of blocks that the one before is in: how many there are up to it, and the first.
  std::pair<Value, Value> groupBefore(OpBuilder &b, Value item, Value block) {
    IndexMath m{b, loc};
    Value last = m.sub(block, m(1)), first = m.mul(m.div(last, kScanGroup), kScanGroup);
    Value count = m.sub(block, first);
    return {count, m.sub(item, count)};
  }

  /// By what others told of the group of blocks that the one before is in, and of what precedes the
  /// first of them.
  SmallVector<Value> look(OpBuilder &b, Value item, Value block) {
    IndexMath m{b, loc};
    auto [count, start] = groupBefore(b, item, block);
    auto each = scf::ForOp::create(b, loc, m(0), count, m(1));
    OpBuilder c = OpBuilder::atBlockBegin(each.getBody());
    Value number = each.getInductionVar();
    set(c, group, number, await(c, HandedWords::Result, IndexMath{c, loc}.add(start, number)));
    auto several = scf::IfOp::create(b, loc, TypeRange(op.getType()), m.less(count, block),
                                     /*withElseRegion=*/true);
    OpBuilder yes = several.getThenBodyBuilder(), no = several.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, await(yes, HandedWords::Before, start));
    scf::YieldOp::create(no, loc, identity(no, op, 1));
    Value carry = several.getResult(0);
    return {carry, count, carry};
  }

  /// By the result of the block before, which the caller has kept. It may begin a group.
  SmallVector<Value> follow(OpBuilder &b, ValueRange state, Value item) {
    IndexMath m{b, loc};
    Value begins = m.equal(state[1], m(kScanGroup));
    Value carry = m.select(begins, state[2], state[0]), count = m.select(begins, m(0), state[1]);
    set(b, group, count, get(b, totals, place(b, m.sub(item, m(1)))));
    return {carry, m.add(count, 1), carry};
  }

  /// What the first `count` results of the group are together.
  Value last(OpBuilder &b, Value count) {
    IndexMath m{b, loc};
    auto lanes = VectorType::get({kScanGroup}, type);
    // Those that hold no result come last, and are looked at by nobody.
    Value all = as(b, vector::LoadOp::create(b, loc, lanes, group, m(0)),
                   VectorType::get({kScanGroup}, op.getType()));
    doubleLanes(b, op, all);
    vector::StoreOp::create(b, loc, as(b, all, lanes), doubled, m(0));
    return get(b, doubled, m.sub(count, m(1)));
  }

  Value get(OpBuilder &b, Value memory, Value index) {
    return as(b, memref::LoadOp::create(b, loc, memory, index), op.getType());
  }
  void set(OpBuilder &b, Value memory, Value index, Value value) {
    memref::StoreOp::create(b, loc, as(b, value, type), memory, index);
  }
  Value as(OpBuilder &b, Value value, Type wanted) {
    return value.getType() == wanted ? value
                                     : graph::CastOp::create(b, loc, wanted, value).getResult();
  }

  Value await(OpBuilder &b, HandedWords::Part part, Value item) {
    return words.await(b, part, item, [&](OpBuilder &c) {
      IndexMath m{c, loc};
      auto pauses = scf::ForOp::create(c, loc, m(0), m(kPauses), m(1));
      OpBuilder d = OpBuilder::atBlockBegin(pauses.getBody());
      LLVM::CallIntrinsicOp::create(d, loc, d.getStringAttr("llvm.x86.sse2.pause"), ValueRange());
      Value address = memref::LoadOp::create(c, loc, yields, m(0));
      auto pointer = LLVM::LLVMPointerType::get(c.getContext());
      Value function = LLVM::IntToPtrOp::create(c, loc, pointer, address);
      auto type =
          LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(c.getContext()), ArrayRef<Type>());
      LLVM::CallOp::create(c, loc, type, function);
    });
  }

  KernelLowering &l;
  kernel::ScanOp op;
  Location loc;
  Type type; ///< of values in memory
  HandedWords words;
  int64_t piece; ///< blocks whose results are kept, a power of two
  Value length, blocks;
  Value yields; ///< memory of the address of what lets another thread have the core
  Value group, doubled, totals, kept;
};

/// Items in pieces, which wait for what others tell of the blocks before them.
void KernelLowering::ScanLoop::lowerOrdered(KernelLowering &l) {
  kernel::ScanOp op = scanOf(l.kernel);
  Location loc = op.getLoc();
  int64_t bits = memoryType(op.getType()).getIntOrFloatBitWidth();
  int64_t bytes = std::max<int64_t>(1, bits / 8);
  int64_t piece = std::clamp<int64_t>(kKeptBytes / (kScanBlock * bytes), 2, 8);
  l.open(l.kernel.getSymName(), l.shape.partials, Ordered::kBytes + piece * kScanBlock * bytes);
  l.function->setAttr("graphc.piece", l.builder.getI64IntegerAttr(piece));
  Ordered(l, op, piece).lower();
  l.close();
  // Nobody has told anything.
  l.open((l.kernel.getSymName() + "_clear").str(), l.shape.partials);
  Value none = arith::ConstantIntOp::create(l.builder, loc, 0, 64);
  l.loop(l.builder, l.begin, l.end, 1, [&](OpBuilder &b, Value word) {
    memref::StoreOp::create(b, loc, none, l.extraBuffers[0], word);
  });
  l.close();
}

void KernelLowering::lowerScan() {
  if (shape.handedWords)
    return ScanLoop::lowerOrdered(*this);
  scanPass(kernel.getSymName(), true);
  if (shape.splitBlock == 0)
    return;
  scanPass((kernel.getSymName() + "_blocks").str(), false);
  scanFold();
}
