// Products with few rows or columns, of which a tile would hold little: a work-item has four
// columns of one row or of four, and reads its operands as they lie, which neighbours find in the
// first cache.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/group/GroupContract.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Bytes of a row along k that a work-item reads ahead, where it can as a vector.
static constexpr int64_t kDepthBytes = 16;

struct GroupLowering::FewElements {
  static constexpr int64_t kSide = KernelShape::kFewSide;

  FewElements(GroupLowering &lowering, int64_t rows);
  void lower();

private:
  Value place(OpBuilder &b);
  SmallVector<Value> rowsAt(OpBuilder &b, Value k, bool deep) const;
  SmallVector<Value> columnsAt(OpBuilder &b, Value k, bool whole) const;
  SmallVector<Value> chains(OpBuilder &b, bool deep, bool whole) const;
  void store(OpBuilder &b, ValueRange sums, bool whole) const;

  GroupLowering &l;
  Location loc;
  ContractTile tile;
  int64_t rows;    ///< of a work-item
  int64_t deepest; ///< k's that are read ahead: more of float64 would take more registers than
                   ///< there are
};

GroupLowering::FewElements::FewElements(GroupLowering &lowering, int64_t rows)
    : l(lowering), loc(l.loc), rows(rows) {
  tile.dot = dotOf(l.kernel);
  deepest = kDepthBytes * 8 / tile.dot.getType().getIntOrFloatBitWidth();
  Value left = tile.dot.getLhs(), right = tile.dot.getRhs();
  int column = static_cast<int>(l.space.parallel) - 1;
  if (l.space.dependsOn(left, column))
    std::swap(left, right);
  for (auto [side, value, loop] :
       {std::tuple(&tile.rows, left, column - 1), std::tuple(&tile.columns, right, column)}) {
    side->value = value;
    side->loopNumber = loop;
    side->end = l.emitter->extent(l.builder, loop);
  }
  // Neighbours in memory are read as one vector: columns, and k's of a row.
  tile.columns.lanes = l.space.contiguous(right, column) ? kSide : 1;
  tile.rows.alongK = l.space.contiguous(left, static_cast<int>(l.space.parallel));
}

/// Finds the work-item's rows and columns; whether there are any.
Value GroupLowering::FewElements::place(OpBuilder &b) {
  IndexMath m{b, loc};
  int row = tile.rows.loopNumber;
  Value item = m.add(m.mul(l.begin, l.shape.group), l.member);
  Value across = m.ceilDiv(tile.columns.end, kSide), down = m.ceilDiv(tile.rows.end, rows);
  Value line = m.div(item, across), outer = m.div(line, down);
  tile.columns.first = m.mul(m.sub(item, m.mul(line, across)), kSide);
  tile.rows.first = m.mul(m.sub(line, m.mul(outer, down)), rows);
  tile.base = l.position();
  Value batches = l.emitter->emit(b, l.space.product(0, row));
  if (row > 0)
    l.emitter->delinearize(b, outer, 0, row, tile.base);
  return m.less(outer, batches);
}

/// Elements of the rows at k, of `deep` ones at the next k's as well, k after k; beyond the end
/// they are the last row's.
SmallVector<Value> GroupLowering::FewElements::rowsAt(OpBuilder &b, Value k, bool deep) const {
  IndexMath m{b, loc};
  int kLoop = static_cast<int>(l.space.parallel);
  SmallVector<Value> values(rows * (deep ? deepest : 1));
  for (int64_t number = 0; number < rows; ++number) {
    Position at = tile.base;
    at.loops[kLoop] = k;
    at.loops[tile.rows.loopNumber] =
        m.min(m.add(tile.rows.first, number), m.sub(tile.rows.end, m(1)));
    if (!deep) {
      values[number] = l.emitter->value(b, tile.rows.value, at);
      continue;
    }
    at.vectorLoop = kLoop;
    at.width = deepest;
    at.aligned = true;
    Value some = BodyEmitter::splat(b, loc, l.emitter->value(b, tile.rows.value, at), deepest);
    for (int64_t next = 0; next < deepest; ++next)
      values[next * rows + number] = vector::ExtractOp::create(b, loc, some, next);
  }
  return values;
}

/// Elements of the columns at k: those beyond the end are the last one's, or 0.
SmallVector<Value> GroupLowering::FewElements::columnsAt(OpBuilder &b, Value k, bool whole) const {
  IndexMath m{b, loc};
  const Side &side = tile.columns;
  Position at = tile.base;
  at.loops[l.space.parallel] = k;
  SmallVector<Value> values;
  if (side.lanes == 1) {
    for (int64_t number = 0; number < kSide; ++number) {
      Position here = at;
      here.loops[side.loopNumber] = m.min(m.add(side.first, number), m.sub(side.end, m(1)));
      values.push_back(l.emitter->value(b, side.value, here));
    }
    return values;
  }
  at.loops[side.loopNumber] = side.first;
  at.vectorLoop = side.loopNumber;
  at.width = kSide;
  at.aligned = whole;
  if (!whole)
    l.emitter->maskLanes(b, at, side.end);
  Value four = BodyEmitter::splat(b, loc, l.emitter->value(b, side.value, at), kSide);
  for (int64_t lane = 0; lane < kSide; ++lane)
    values.push_back(vector::ExtractOp::create(b, loc, four, lane));
  return values;
}

SmallVector<Value> GroupLowering::FewElements::chains(OpBuilder &b, bool deep, bool whole) const {
  IndexMath m{b, loc};
  int64_t depth = deep ? deepest : 1;
  Value length = l.emitter->emit(b, l.space.reducedItems());
  SmallVector<Value> none(rows * kSide, chainZero(b, loc, tile.dot.getType(), 1));
  auto loop = scf::ForOp::create(b, loc, m(0), length, m(depth), none);
  loop->setAttr(kUnrollAttr, b.getI64IntegerAttr(deepest / depth));
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath n{c, loc};
  bool rowsLeft = tile.rows.value == tile.dot.getLhs();
  SmallVector<Value> x = rowsAt(c, loop.getInductionVar(), deep), sums(loop.getRegionIterArgs());
  for (int64_t next = 0; next < depth; ++next) {
    SmallVector<Value> y = columnsAt(c, n.add(loop.getInductionVar(), next), whole);
    for (size_t number = 0; number < sums.size(); ++number) {
      Value row = x[next * rows + number / kSide], column = y[number % kSide];
      sums[number] =
          multiplyAdd(c, loc, rowsLeft ? row : column, rowsLeft ? column : row, sums[number]);
    }
  }
  scf::YieldOp::create(c, loc, sums);
  return SmallVector<Value>(loop.getResults());
}

void GroupLowering::FewElements::store(OpBuilder &b, ValueRange sums, bool whole) const {
  IndexMath m{b, loc};
  auto vector = VectorType::get({kSide}, tile.dot.getType());
  for (int64_t down = 0; down < rows; ++down) {
    Position at = tile.base;
    Value row = at.loops[tile.rows.loopNumber] = m.add(tile.rows.first, down);
    auto inside = scf::IfOp::create(b, loc, m.less(row, tile.rows.end), /*withElseRegion=*/false);
    OpBuilder c = inside.getThenBodyBuilder();
    at.loops[tile.columns.loopNumber] = tile.columns.first;
    at.vectorLoop = tile.columns.loopNumber;
    at.width = kSide;
    at.aligned = whole;
    if (!whole)
      l.emitter->maskLanes(c, at, tile.columns.end);
    l.contractStoreAt(
        c, tile, at,
        vector::FromElementsOp::create(c, loc, vector, sums.slice(down * kSide, kSide)));
  }
}

/// `body` where what is asked for holds, and where not; null: by construction.
static void eitherWay(OpBuilder &b, Location loc, Value holds,
                      llvm::function_ref<void(OpBuilder &, bool)> body) {
  if (!holds)
    return body(b, true);
  auto choice = scf::IfOp::create(b, loc, holds, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  body(yes, true);
  body(no, false);
}

void GroupLowering::FewElements::lower() {
  int column = tile.columns.loopNumber;
  Value present = place(l.builder);
  OpBuilder b =
      scf::IfOp::create(l.builder, loc, present, /*withElseRegion=*/false).getThenBodyBuilder();
  // Columns are whole quads then, and vectors along them are aligned; so are vectors of k's.
  Value whole = l.alignedSizes(b, column, kSide, {l.space.extents[column]});
  auto byColumns = [&](OpBuilder &c, bool deep) {
    eitherWay(c, loc, whole, [&](OpBuilder &d, bool all) { store(d, chains(d, deep, all), all); });
  };
  if (!tile.rows.alongK)
    return byColumns(b, false);
  auto kLoop = static_cast<int>(l.space.parallel);
  Value deep = l.alignedSizes(b, kLoop, deepest, {l.space.reducedItems()});
  eitherWay(b, loc, deep, [&](OpBuilder &c, bool holds) {
    if (holds)
      return byColumns(c, true);
    store(c, chains(c, false, false), false);
  });
}

void GroupLowering::lowerEach() {
  for (auto [suffix, rows] : {std::pair("_each", int64_t{1}), {"_quads", KernelShape::kFewSide}}) {
    open((kernel.getSymName() + suffix).str(), {});
    FewElements(*this, rows).lower();
    close();
  }
}
