// Matrix products of devices and of single elements: per element one fma chain per 2048 k, four
// chains a run (docs/numerics.md). A work-item has a tile of 4 by 4 elements.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

struct CoreLowering::Tile {
  Position base; ///< batch loops set
  int rowLoop = -1, columnLoop = -1;
  Value row, column; ///< first row and column (when the loop exists)
  int64_t rows = 1, vectors = 1, lanes = 1;
  Value limit; ///< columns at or beyond it are masked
};

/// The accumulators of one chain over k in [first, last).
static SmallVector<Value>
chainOver(OpBuilder &b, Location loc, BodyEmitter &emitter, const LoopSpace &space,
          kernel::DotOp dot, Value first, Value last, int64_t rows, int64_t vectors, int64_t lanes,
          int rowLoop, int columnLoop, Attribute unroll,
          llvm::function_ref<Position(OpBuilder &, int64_t, int64_t)> place) {
  Type element = dot.getType();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> zeros(rows * vectors, chainZero(b, loc, element, lanes));
  auto loop = scf::ForOp::create(b, loc, first, last, one, zeros);
  if (unroll && zeros.size() == 1)
    loop->setAttr(kUnrollAttr, unroll);
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  bool leftColumn = columnLoop >= 0 && space.dependsOn(dot.getLhs(), columnLoop);
  bool rightRow = rowLoop >= 0 && space.dependsOn(dot.getRhs(), rowLoop);
  auto at = [&](int64_t row, int64_t vector, bool column) {
    Position here = place(c, row, vector);
    here.loops[space.parallel] = loop.getInductionVar();
    if (!column) {
      here.vectorLoop = -1;
      here.width = 1;
      here.limit = here.mask = Value();
    }
    return here;
  };
  SmallVector<Value> left(rows), right(vectors), next;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value x = left[row], y = right[vector];
      if (!x) {
        Position here = at(row, vector, leftColumn);
        x = BodyEmitter::splat(c, loc, emitter.value(c, dot.getLhs(), here), lanes);
        if (!leftColumn)
          left[row] = x;
      }
      if (!y) {
        Position here = at(row, vector, true);
        y = BodyEmitter::splat(c, loc, emitter.value(c, dot.getRhs(), here), lanes);
        if (!rightRow)
          right[vector] = y;
      }
      next.push_back(multiplyAdd(c, loc, x, y, loop.getRegionIterArgs()[row * vectors + vector]));
    }
  scf::YieldOp::create(c, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void CoreLowering::contractTile(OpBuilder &b, Tile &tile) {
  auto place = [&](OpBuilder &c, int64_t row, int64_t vector) {
    Position at = tile.base;
    if (tile.rowLoop >= 0)
      at.loops[tile.rowLoop] =
          row ? arith::AddIOp::create(c, loc, tile.row, constant(c, row)).getResult() : tile.row;
    if (tile.columnLoop >= 0) {
      at.loops[tile.columnLoop] =
          vector ? arith::AddIOp::create(c, loc, tile.column, constant(c, vector * tile.lanes))
                       .getResult()
                 : tile.column;
      at.vectorLoop = tile.columnLoop;
      at.width = tile.lanes;
      if (tile.limit)
        emitter->maskLanes(c, at, tile.limit);
    }
    return at;
  };
  Value length = emitter->emit(b, space.reducedItems());
  Value step = constant(b, kChain), zero = constant(b, 0), one = constant(b, 1);
  Value chains = arith::CeilDivUIOp::create(b, loc, length, step);
  int64_t count = tile.rows * tile.vectors;
  Products products(kernel, space);
  SmallVector<SmallVector<Value>> totals;
  for (const Products::Product &product : products.all) {
    kernel::DotOp dot = product.dot;
    SmallVector<Value> initial(2 * count, chainZero(b, loc, dot.getType(), tile.lanes));
    auto outer = scf::ForOp::create(b, loc, zero, chains, one, initial);
    OpBuilder c = OpBuilder::atBlockBegin(outer.getBody());
    Value number = outer.getInductionVar();
    Value first = arith::MulIOp::create(c, loc, number, step);
    Value last = arith::MinSIOp::create(c, loc, arith::AddIOp::create(c, loc, first, step), length);
    SmallVector<Value> sums =
        chainOver(c, loc, *emitter, space, dot, first, last, tile.rows, tile.vectors, tile.lanes,
                  tile.rowLoop, tile.columnLoop, kernel->getAttr(kUnrollAttr), place);
    scf::YieldOp::create(c, loc,
                         addChain(c, loc, number, chains, sums,
                                  outer.getRegionIterArgs().take_front(count),
                                  outer.getRegionIterArgs().drop_front(count)));
    totals.emplace_back(outer.getResults().drop_front(count));
  }
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Position at = place(b, row, vector);
      for (auto [product, total] : llvm::zip_equal(products.all, totals))
        at.values[Value(product.dot)] = total[row * tile.vectors + vector];
      for (kernel::StoreOp store : stores)
        emitter->store(b, store, at);
    }
}

void CoreLowering::contractItem(OpBuilder &b, Value item) {
  Tile tile;
  tile.base = position();
  tile.lanes = width;
  int parallel = space.parallel;
  tile.columnLoop = parallel - 1;
  tile.rowLoop = parallel >= 2 ? parallel - 2 : -1;
  if (parallel == 0) {
    tile.lanes = 1;
    contractTile(b, tile);
    return;
  }
  Value columns = emitter->extent(b, tile.columnLoop);
  Value rows = tile.rowLoop >= 0 ? emitter->extent(b, tile.rowLoop) : constant(b, 1);
  // Row tiles vary fastest: consecutive items share their columns of the right operand.
  Value rowTiles = arith::CeilDivUIOp::create(b, loc, rows, constant(b, shape.tileRows));
  Value columnTiles = arith::CeilDivUIOp::create(b, loc, columns, constant(b, shape.tileColumns));
  Value rowTile = arith::RemUIOp::create(b, loc, item, rowTiles);
  Value rest = arith::DivUIOp::create(b, loc, item, rowTiles);
  Value columnTile = arith::RemUIOp::create(b, loc, rest, columnTiles);
  if (tile.rowLoop > 0)
    emitter->delinearize(b, arith::DivUIOp::create(b, loc, rest, columnTiles), 0, tile.rowLoop,
                         tile.base);
  Value row = arith::MulIOp::create(b, loc, rowTile, constant(b, shape.tileRows));
  Value column = arith::MulIOp::create(b, loc, columnTile, constant(b, shape.tileColumns));
  Value rowEnd = arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, row, constant(b, shape.tileRows)), rows);
  Value columnEnd = arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, column, constant(b, shape.tileColumns)), columns);
  auto edges = [&](OpBuilder &c) {
    loop(c, row, rowEnd, 1, [&](OpBuilder &d, Value i) {
      loop(d, column, columnEnd, width, [&](OpBuilder &e, Value j) {
        Tile edge = tile;
        edge.row = i;
        edge.column = j;
        edge.limit = width > 1 ? columnEnd : Value();
        contractTile(e, edge);
      });
    });
  };
  if (tile.rowLoop < 0)
    return edges(b);
  Value height = arith::SubIOp::create(b, loc, rowEnd, row),
        breadth = arith::SubIOp::create(b, loc, columnEnd, column);
  Value tall =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, height, constant(b, shape.tileRows));
  Value broad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, breadth,
                                      constant(b, shape.tileColumns));
  auto whole = scf::IfOp::create(b, loc, arith::AndIOp::create(b, loc, tall, broad),
                                 /*withElseRegion=*/true);
  OpBuilder inside = whole.getThenBodyBuilder(), outside = whole.getElseBodyBuilder();
  Tile full = tile;
  full.row = row;
  full.column = column;
  full.rows = shape.tileRows;
  full.vectors = shape.tileColumns / width;
  contractTile(inside, full);
  edges(outside);
}

void CoreLowering::lowerContract() {
  switch (shape.form) {
  case ContractForm::Panels:
    return lowerPanels();
  case ContractForm::Stream:
    return lowerStream();
  case ContractForm::Lanes:
    return lowerLanes();
  case ContractForm::Item:
  case ContractForm::Point:
    break;
  }
  open(kernel.getSymName(), {});
  loop(builder, begin, end, 1, [&](OpBuilder &b, Value item) { contractItem(b, item); });
  close();
}
