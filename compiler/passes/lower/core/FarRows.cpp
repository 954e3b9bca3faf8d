// Rows that lie side by side in memory, their elements far apart, by the lane tree of
// docs/numerics.md: vectors are rows, and lanes of the tree are visited in the order in which it
// joins them, so that few of them wait.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Rows whose states wait at a time: what is read of each column is long enough for the machine to
/// follow, and what waits for halves of the tree stays in the first or second cache.
static constexpr int64_t kRowsAtOnce = 512;

/// What waits for the other half of a subtree: for each height the states of all rows at once.
struct CoreLowering::FarRows {
  CoreLowering &l;
  ArrayRef<Reducer> reducers;
  TreeEmitter &trees;
  TreeEmitter::Storage memory;
  Value blocks, parts; ///< of a row, null: one, and the same as a number
  Location loc = l.loc;

  Value place(OpBuilder &b, Value height, Value slot) {
    IndexMath m{b, loc};
    return m.add(m.mul(height, kRowsAtOnce), slot);
  }
  States stateOf(OpBuilder &b, Position &row, Value from, Value height) {
    l.rowValues(b, row, 0);
    Value slot = IndexMath{b, loc}.sub(row.loops[0], from);
    return trees.restore(b, memory, place(b, height, slot), row.width, /*sequence=*/false);
  }
  void lane(OpBuilder &b, Value from, Value to, Value start, Value count, Value heights);
  void tree(OpBuilder &b, Value from, Value to, Value part, Value first, Value length);
  void finish(OpBuilder &b, Value from, Value to, Value part, Value height);
};

/// One lane of the tree of rows [from, to): `count` elements from `start` on, and then the halves
/// that wait for it, up to `heights`.
void CoreLowering::FarRows::lane(OpBuilder &b, Value from, Value to, Value start, Value count,
                                 Value heights) {
  auto strip = [&](OpBuilder &c, Position &column) {
    l.rowValues(c, column, 0);
    Value slot = IndexMath{c, loc}.sub(column.loops[0], from);
    Value none = l.constant(c, 0), one = l.constant(c, 1);
    auto each = scf::ForOp::create(c, loc, none, count, one,
                                   TreeEmitter::flatten(trees.identity(c, column.width)));
    OpBuilder d = OpBuilder::atBlockBegin(each.getBody());
    Position at = column;
    at.loops[1] =
        IndexMath{d, loc}.add(start, IndexMath{d, loc}.mul(each.getInductionVar(), kTreeLanes));
    States next = trees.append(d, trees.unflatten(each.getRegionIterArgs()),
                               l.pointValues(d, reducers, at), none);
    scf::YieldOp::create(d, loc, TreeEmitter::flatten(next));
    auto joined = scf::ForOp::create(c, loc, none, heights, one, each.getResults());
    OpBuilder e = OpBuilder::atBlockBegin(joined.getBody());
    States before = trees.restore(e, memory, place(e, joined.getInductionVar(), slot), column.width,
                                  /*sequence=*/false);
    next = trees.combine(e, before, trees.unflatten(joined.getRegionIterArgs()));
    scf::YieldOp::create(e, loc, TreeEmitter::flatten(next));
    trees.save(c, memory, place(c, heights, slot), trees.unflatten(joined.getResults()));
  };
  l.strips(b, l.position(), 0, l.width, from, to, strip, l.registerLanes(l.width));
}

/// Rows [from, to), of which elements [first, first + length) are block `part`.
void CoreLowering::FarRows::tree(OpBuilder &b, Value from, Value to, Value part, Value first,
                                 Value length) {
  IndexMath m{b, loc};
  Type word = b.getI64Type(), number = b.getIndexType();
  auto cast = [&](OpBuilder &c, Type type, Value v) -> Value {
    return arith::IndexCastOp::create(c, loc, type, v);
  };
  // Lanes that are absent change nothing, and whole halves of them are left out.
  Value last = m.sub(m.max(m.min(length, kTreeLanes), m(1)), m(1));
  Value zeros = math::CountLeadingZerosOp::create(b, loc, cast(b, word, last));
  Value bits = m.sub(m(64), cast(b, number, zeros));
  Value lanes = arith::ShLIOp::create(b, loc, m(1), bits);
  l.loop(b, m(0), lanes, 1, [&](OpBuilder &c, Value turn) {
    IndexMath n{c, loc};
    // Halves first: the bits of the lane in the other order. In two steps, as 64 bits are many.
    Value lane = cast(c, number, LLVM::BitReverseOp::create(c, loc, cast(c, word, turn)));
    lane = arith::ShRUIOp::create(c, loc, lane, n(1));
    lane = arith::ShRUIOp::create(c, loc, lane, n.sub(n(63), bits));
    Value ended = cast(c, word, n.add(turn, 1));
    Value heights = cast(c, number, math::CountTrailingZerosOp::create(c, loc, ended));
    Value left = n.max(n.sub(length, lane), n(0));
    Value count = n.div(n.add(left, kTreeLanes - 1), kTreeLanes);
    this->lane(c, from, to, n.add(first, lane), count, heights);
  });
  finish(b, from, to, part, bits);
}

/// Stores what is known of rows [from, to) when all lanes are joined.
void CoreLowering::FarRows::finish(OpBuilder &b, Value from, Value to, Value part, Value height) {
  auto whole = [&](OpBuilder &c, Position &row) {
    l.bind(reducers, stateOf(c, row, from, height), row, c);
    l.storeRow(c, row);
  };
  // Results of a row's blocks lie together.
  auto partial = [&](OpBuilder &c, Position &row) {
    IndexMath n{c, loc};
    States states = stateOf(c, row, from, height);
    l.savePartials(c, states, row, n.add(n.mul(row.loops[0], parts), part));
  };
  int64_t rest = l.registerLanes(l.width);
  if (!blocks)
    return l.strips(b, l.position(), 0, l.width, from, to, whole, rest);
  Value one = IndexMath{b, loc}.equal(blocks, l.constant(b, 1));
  auto choice = scf::IfOp::create(b, loc, one, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  l.strips(yes, l.position(), 0, l.width, from, to, whole, rest);
  l.strips(no, l.position(), 0, 1, from, to, partial);
}

void CoreLowering::lowerFarRows() {
  open(kernel.getSymName(), shape.partials);
  SmallVector<Reducer> reducers = reducersOfStage(0);
  TreeEmitter trees(&function.getBody().front(), loc, reducers, width);
  constexpr int64_t kHeights = llvm::ConstantLog2<kTreeLanes>() + 1;
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  FarRows rows{*this,  reducers,
               trees,  trees.allocate(kHeights * kRowsAtOnce, /*sequence=*/false),
               blocks, blocks ? blocks : constant(builder, 1)};
  // Items are rows' blocks: of each part of the rows those that the caller has.
  loop(builder, constant(builder, 0), rows.parts, 1, [&](OpBuilder &b, Value part) {
    IndexMath m{b, loc};
    Value first = m.mul(part, kTreeBlock);
    Value some = m.min(m.sub(length, first), kTreeBlock);
    auto rowFrom = [&](Value item) {
      return m.ceilDiv(m.max(m.sub(item, part), m(0)), rows.parts);
    };
    Value low = rowFrom(begin), high = rowFrom(end);
    loop(b, low, high, kRowsAtOnce, [&](OpBuilder &c, Value from) {
      IndexMath n{c, loc};
      rows.tree(c, from, n.min(n.add(from, kRowsAtOnce), high), part, first, some);
    });
  });
  close();
}
