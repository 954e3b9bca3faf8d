// Running sums of columns for groups of work-items: those that share a column have a group of its
// elements each, in registers, and tell each other what these add up to; so a column waits for
// memory once for all of them.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/Scans.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

class GroupLowering::GroupColumns {
public:
  explicit GroupColumns(GroupLowering &lowering)
      : l(lowering), loc(lowering.loc), op(scanOf(lowering.kernel)), scanned(op.getResult()) {}

  /// Block results, or (`stores`) values.
  void pass(StringRef name, bool stores);

private:
  /// Elements of a column that a work-item has: where they are, and each with those before it.
  struct Group {
    Value first;
    SmallVector<Position> at;
    SmallVector<Value> y;
  };
  void place(Value blocks);
  Value precedes(Value blocks);
  Group read(OpBuilder &b, Value start) const;
  std::pair<Value, Value> chain(OpBuilder &b, Value carry, Value total) const;
  void write(OpBuilder &b, const Group &group, Value earlier, Value before) const;
  void storeAt(OpBuilder &b, const Group &group, int64_t number, Value y) const;

  GroupLowering &l;
  Location loc;
  kernel::ScanOp op;
  Value scanned;                               ///< its result
  int64_t most = l.shape.group / kScanColumns; ///< work-items of a column
  Value totals;                                ///< in local memory, a work-item's each
  Value isLong, lanes, lane, column;           ///< in the group: work-items of a column, this one's
  Value item, isColumn; ///< the block's number of all of its result, and whether there is one
  Value first, end;     ///< elements of the column that the block has
  Position row;
};

/// Which column and block the work-item has; where there is none, the last one's, to read.
void GroupLowering::GroupColumns::place(Value blocks) {
  OpBuilder &b = l.builder;
  IndexMath m{b, loc};
  Value length = l.emitter->emit(b, l.space.reducedItems());
  Value lines = l.emitter->emit(b, l.space.items());
  isLong = m.less(m(kFewScanned), length);
  lanes = m.select(isLong, m(most), m(1));
  lane = m.select(isLong, m.div(l.member, kScanColumns), m(0));
  column = m.sub(l.member, m.mul(lane, kScanColumns));
  Value columns = m.select(isLong, m(kScanColumns), m(l.shape.group));
  Value strips = m.ceilDiv(lines, columns), block = blocks ? m.div(l.begin, strips) : m(0);
  Value line = m.add(m.mul(m.sub(l.begin, m.mul(block, strips)), columns), column);
  isColumn = m.less(line, lines);
  line = m.min(line, m.sub(lines, m(1)));
  item = m.add(m.mul(block, lines), line);
  first = m.mul(block, kScanBlock);
  end = blocks ? m.min(m.add(first, kScanBlock), length) : length;
  row = l.position();
  l.emitter->delinearize(b, line, 0, l.space.parallel, row);
  l.rowValues(b, row, 0);
}

/// What precedes the block; null where there is one block.
Value GroupLowering::GroupColumns::precedes(Value blocks) {
  if (!blocks)
    return {};
  IndexMath m{l.builder, loc};
  auto choice = scf::IfOp::create(l.builder, loc, TypeRange(op.getType()), m.less(m(1), blocks),
                                  /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  Value known = memref::LoadOp::create(yes, loc, l.extraBuffers[0], item);
  if (known.getType() != op.getType())
    known = graph::CastOp::create(yes, loc, op.getType(), known);
  scf::YieldOp::create(yes, loc, known);
  scf::YieldOp::create(no, loc, scanIdentity(no, op, 1));
  return choice.getResult(0);
}

/// Behind the block's end its last element again, which nothing that is kept depends on.
GroupLowering::GroupColumns::Group GroupLowering::GroupColumns::read(OpBuilder &b,
                                                                     Value start) const {
  IndexMath m{b, loc};
  Group group{m.add(start, m.mul(lane, kScanGroup)), {}, {}};
  Value last = m.sub(end, m(1));
  for (int64_t i = 0; i < kScanGroup; ++i) {
    Position &at = group.at.emplace_back(row);
    at.loops[l.space.parallel] = m.min(m.add(group.first, i), last);
    group.y.push_back(
        BodyEmitter::splat(b, loc, l.emitter->value(b, kernel::ScanOp(op).getValue(), at), 1));
  }
  doubleUp(b, op, group.y);
  return group;
}

/// From what precedes the column's groups at hand to what precedes the work-item's, and to what
/// precedes the next ones.
std::pair<Value, Value> GroupLowering::GroupColumns::chain(OpBuilder &b, Value carry,
                                                           Value total) const {
  Type kept = cast<MemRefType>(totals.getType()).getElementType();
  auto as = [&](Value x, Type type) -> Value {
    return x.getType() == type ? x : graph::CastOp::create(b, loc, type, x).getResult();
  };
  IndexMath m{b, loc};
  memref::StoreOp::create(b, loc, as(total, kept), totals, l.member);
  gpu::BarrierOp::create(b, loc);
  Value sum = carry, own = carry;
  for (int64_t i = 0; i < most; ++i) {
    Value at = m.add(column, m.select(isLong, m(i * kScanColumns), m(0)));
    Value group = as(memref::LoadOp::create(b, loc, totals, at), scanned.getType());
    own = m.select(m.equal(lane, m(i)), sum, own);
    Value more = combineScanned(b, op, sum, group);
    sum = i == 0 ? more : m.select(isLong, more, sum);
  }
  gpu::BarrierOp::create(b, loc);
  return {own, sum};
}

void GroupLowering::GroupColumns::storeAt(OpBuilder &b, const Group &group, int64_t number,
                                          Value y) const {
  Position at = group.at[number];
  at.values[scanned] = y;
  for (kernel::StoreOp store : l.stores)
    l.emitter->store(b, store, at);
}

/// A whole group's stores ask nothing.
void GroupLowering::GroupColumns::write(OpBuilder &b, const Group &group, Value earlier,
                                        Value before) const {
  IndexMath m{b, loc};
  SmallVector<Value> y;
  for (Value value : group.y) {
    y.push_back(combineScanned(b, op, earlier, value));
    if (before)
      y.back() = combineScanned(b, op, before, y.back());
  }
  Value isWhole = m.both(isColumn, m.less(m.add(group.first, kScanGroup - 1), end));
  auto choice = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  for (int64_t i = 0; i < kScanGroup; ++i)
    storeAt(yes, group, i, y[i]);
  IndexMath n{no, loc};
  for (int64_t i = 0; i < kScanGroup; ++i) {
    Value isElement = n.both(isColumn, n.less(n.add(group.first, i), end));
    OpBuilder inside =
        scf::IfOp::create(no, loc, isElement, /*withElseRegion=*/false).getThenBodyBuilder();
    storeAt(inside, group, i, y[i]);
  }
}

void GroupLowering::GroupColumns::pass(StringRef name, bool stores) {
  l.open(name, l.shape.partials);
  auto local = gpu::AddressSpaceAttr::get(op.getContext(), gpu::AddressSpace::Workgroup);
  totals = memref::AllocaOp::create(
      l.builder, loc,
      MemRefType::get({l.shape.group}, memoryType(op.getType()), AffineMap(), local));
  Value blocks = l.blockCount(l.builder);
  place(blocks);
  Value before = stores ? precedes(blocks) : Value();
  IndexMath m{l.builder, loc};
  Value none = scanIdentity(l.builder, op, 1);
  auto steps = scf::ForOp::create(l.builder, loc, first, end, m.mul(lanes, kScanGroup), none,
                                  [&](OpBuilder &b, Location, Value start, ValueRange carry) {
                                    Group group = read(b, start);
                                    auto [earlier, next] = chain(b, carry[0], group.y.back());
                                    if (stores)
                                      write(b, group, earlier, before);
                                    scf::YieldOp::create(b, loc, next);
                                  });
  if (!stores) {
    Value isOne = m.both(isColumn, m.equal(lane, m(0)));
    OpBuilder b =
        scf::IfOp::create(l.builder, loc, isOne, /*withElseRegion=*/false).getThenBodyBuilder();
    Value total = steps.getResult(0);
    if (Type kept = cast<MemRefType>(l.extraBuffers[0].getType()).getElementType();
        total.getType() != kept)
      total = graph::CastOp::create(b, loc, kept, total);
    memref::StoreOp::create(b, loc, total, l.extraBuffers[0], item);
  }
  l.close();
}

void GroupLowering::lowerColumnScan() {
  GroupColumns scan(*this);
  scan.pass(kernel.getSymName(), true);
  if (shape.splitBlock == 0)
    return;
  scan.pass((kernel.getSymName() + "_blocks").str(), false);
  scanFold();
}
