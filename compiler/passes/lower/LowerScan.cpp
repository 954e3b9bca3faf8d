// Running sums and products, by the tree of scans of docs/numerics.md: within groups of 16 by
// doubling, groups of a block in order, and then what precedes the block. Several blocks take three
// functions: their results, the scan of those, and the values.
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// How far ahead memory is asked for: what a group adds waits for the one before.
constexpr int64_t kVectorsAhead = 32;

kernel::ScanOp scanOf(kernel::FuncOp kernel) {
  kernel::ScanOp found;
  kernel.getBody().walk([&](kernel::ScanOp op) { found = op; });
  return found;
}

/// `earlier` then `later`.
Value combine(OpBuilder &b, kernel::ScanOp op, Value earlier, Value later) {
  Location loc = op.getLoc();
  if (op.getKind() == graph::ReduceKind::Sum)
    return graph::AddOp::create(b, loc, later.getType(), earlier, later);
  return graph::MulOp::create(b, loc, later.getType(), earlier, later);
}

Value identity(OpBuilder &b, kernel::ScanOp op, int64_t width) {
  return reductionIdentity(b, op.getLoc(), op.getKind(), op.getType(), width);
}

/// Elements of one group and of any number of lanes, in memory.
class Stage {
public:
  Stage(Block *entry, kernel::ScanOp op, int64_t lanes) : op(op), loc(op.getLoc()), lanes(lanes) {
    OpBuilder b = OpBuilder::atBlockBegin(entry);
    memory = memref::AllocaOp::create(
        b, loc, MemRefType::get({kScanGroup * lanes}, memoryType(op.getType())));
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
    set(d, later, combine(d, op, get(d, earlier), get(d, later)));
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
};

bool KernelLowering::scansAlongVector() {
  if (width == 1)
    return false;
  bool along = true;
  for (kernel::StoreOp store : stores)
    along &= space.accesses.at(store).isDense(space.parallel);
  return along || space.parallel == 0;
}

/// Lanes are consecutive elements: a group is a vector.
void KernelLowering::scanVectors(OpBuilder &b, ScanLoop &scan) {
  constexpr int64_t kLanes = kScanGroup;
  auto group = [&](OpBuilder &c, Value index, Value limit, Value carry) {
    Position at = scan.row;
    at.loops[space.parallel] = index;
    at.vectorLoop = static_cast<int>(space.parallel);
    at.width = kLanes;
    if (limit)
      emitter->maskLanes(c, at, limit);
    Value x = BodyEmitter::splat(c, loc, emitter->value(c, scan.op.getValue(), at), kLanes);
    if (!limit)
      prefetch(c, at, space.parallel, kVectorsAhead * kLanes, /*locality=*/3);
    Value none = identity(c, scan.op, kLanes);
    for (int64_t apart = 1; apart < kLanes; apart *= 2) {
      SmallVector<int64_t> from(kLanes);
      for (int64_t i = 0; i < kLanes; ++i)
        from[i] = i < apart ? i : kLanes + i - apart;
      x = combine(c, scan.op, vector::ShuffleOp::create(c, loc, none, x, from), x);
    }
    if (scan.stores) {
      Value y = combine(c, scan.op, carry, x);
      at.values[scan.op.getResult()] = scan.before ? combine(c, scan.op, scan.before, y) : y;
      for (kernel::StoreOp store : stores)
        emitter->store(c, store, at);
    }
    // The last lane of y in all lanes, without waiting for the carry before the shuffle.
    SmallVector<int64_t> last(kLanes, kLanes - 1);
    return combine(c, scan.op, carry, vector::ShuffleOp::create(c, loc, x, x, last));
  };
  Value size = constant(b, kLanes), end = arith::AddIOp::create(b, loc, scan.first, scan.length);
  Value whole = arith::AddIOp::create(
      b, loc, scan.first,
      arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, scan.length, size), size));
  auto groups =
      scf::ForOp::create(b, loc, scan.first, whole, size, ValueRange(identity(b, scan.op, kLanes)));
  OpBuilder inside = OpBuilder::atBlockBegin(groups.getBody());
  Value next = group(inside, groups.getInductionVar(), Value(), groups.getRegionIterArgs()[0]);
  scf::YieldOp::create(inside, loc, next);
  scan.total = vector::ExtractOp::create(b, loc, groups.getResult(0), 0);
  // Only the last block has a group that is not whole, and nothing follows it.
  if (!scan.stores)
    return;
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, whole, end);
  auto rest = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  OpBuilder tail = rest.getThenBodyBuilder();
  group(tail, whole, end, groups.getResult(0));
}

/// Lanes are columns, or there is one: groups pass through memory.
void KernelLowering::scanGroups(OpBuilder &b, ScanLoop &scan) {
  int64_t lanes = scan.row.width;
  Stage stage(&function.getBody().front(), scan.op, lanes);
  Value zero = constant(b, 0), one = constant(b, 1), size = constant(b, kScanGroup);
  auto groups =
      scf::ForOp::create(b, loc, zero, scan.length, size, ValueRange(identity(b, scan.op, lanes)));
  OpBuilder c = OpBuilder::atBlockBegin(groups.getBody());
  Value start = arith::AddIOp::create(c, loc, scan.first, groups.getInductionVar());
  Value count = arith::MinSIOp::create(
      c, loc, size, arith::SubIOp::create(c, loc, scan.length, groups.getInductionVar()));
  auto at = [&](OpBuilder &d, Value number) {
    Position here = scan.row;
    here.loops[space.parallel] = arith::AddIOp::create(d, loc, start, number);
    return here;
  };
  loop(c, zero, count, 1, [&](OpBuilder &d, Value number) {
    Position here = at(d, number);
    stage.set(d, number,
              BodyEmitter::splat(d, loc, emitter->value(d, scan.op.getValue(), here), lanes));
  });
  stage.doubleUp(c, count);
  Value carry = groups.getRegionIterArgs()[0];
  auto values = scf::ForOp::create(c, loc, zero, count, one, ValueRange(carry));
  {
    OpBuilder d = OpBuilder::atBlockBegin(values.getBody());
    Value number = values.getInductionVar();
    Value y = combine(d, scan.op, carry, stage.get(d, number));
    if (scan.stores) {
      Position here = at(d, number);
      here.values[scan.op.getResult()] = scan.before ? combine(d, scan.op, scan.before, y) : y;
      for (kernel::StoreOp store : stores)
        emitter->store(d, store, here);
    }
    scf::YieldOp::create(d, loc, y);
  }
  scf::YieldOp::create(c, loc, values.getResult(0));
  scan.total = groups.getResult(0);
}

/// A block whose row and first element are set, with its result or what precedes it at `item`.
void KernelLowering::scanItem(OpBuilder &b, ScanLoop &scan, Value item, Value blocks) {
  bool along = scansAlongVector();
  int64_t lanes = along ? kScanGroup : scan.row.width;
  Stage partial(&function.getBody().front(), scan.op, along ? 1 : lanes);
  rowValues(b, scan.row, 0);
  if (blocks && scan.stores) {
    Value several = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, blocks, constant(b, 1));
    auto choice = scf::IfOp::create(b, loc, TypeRange(identity(b, scan.op, lanes).getType()),
                                    several, /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    Value known = partial.read(yes, extraBuffers[0], item, scan.row.mask);
    scf::YieldOp::create(yes, loc, BodyEmitter::splat(yes, loc, known, lanes));
    scf::YieldOp::create(no, loc, identity(no, scan.op, lanes));
    scan.before = choice.getResult(0);
  }
  along ? scanVectors(b, scan) : scanGroups(b, scan);
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
      ScanLoop scan{op, storesValues, position(), {}, {}, {}, {}};
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
  int last = static_cast<int>(space.parallel) - 1;
  columnRuns(blocks, [&](OpBuilder &b, ColumnRun &run) {
    auto strip = [&](OpBuilder &c, Position &column) {
      ScanLoop scan{op, storesValues, column, {}, {}, {}, {}};
      limits(c, run.block, scan);
      Value item = arith::AddIOp::create(c, loc, run.offset, column.loops[last]);
      scanItem(c, scan, item, blocks);
    };
    strips(b, run.outer, last, width, run.low, run.high, strip, registerLanes(width));
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
    scf::YieldOp::create(d, loc, combine(d, op, carry, stage.get(d, number)));
    scf::YieldOp::create(c, loc, values.getResult(0));
  });
  close();
}

void KernelLowering::lowerScan() {
  scanPass(kernel.getSymName(), true);
  if (shape.splitBlock == 0)
    return;
  scanPass((kernel.getSymName() + "_blocks").str(), false);
  scanFold();
}
