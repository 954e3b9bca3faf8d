// Maps that read something along another loop than the one they write along: transposes and what
// is computed from them. Blocks are read in the order in which they lie and turned in registers;
// tiles of several blocks use whatever a page and a cache line bring.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/TurnedRows.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

static constexpr int64_t kBlocksAhead = 4;
/// The same where there are few rows: along the columns.
static constexpr int64_t kColumnBlocksAhead = 2;

/// Asks for the lines that a block further along the turned loop reads: each block touches many
/// lines once, which no machine sees coming.
void CoreLowering::prefetchTurned(OpBuilder &b, ArrayRef<kernel::LoadOp> loads, Position at) {
  bool forRows = turnsForRows(kernel, shape.turned);
  Value &index = at.loops[forRows ? space.parallel - 1 : *shape.turned];
  index = IndexMath{b, loc}.add(index, (forRows ? kColumnBlocksAhead : kBlocksAhead) * width);
  for (kernel::LoadOp load : loads) {
    Value index = emitter->index(b, space.accesses.at(load), at);
    memref::PrefetchOp::create(b, loc, emitter->buffer(load), index, /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
  }
}

/// Loads of both loops that are not turned.
static SmallVector<kernel::LoadOp> straightLoads(kernel::FuncOp kernel, const LoopSpace &space,
                                                 unsigned turned) {
  SmallVector<kernel::LoadOp> loads;
  kernel.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = space.accesses.at(load);
    if (access.isDense(space.parallel - 1) && !access.strides[turned].isZero())
      loads.push_back(load);
  });
  return loads;
}

/// The vectors along the last loop of one load, as they are in memory: one for each index of the
/// turned loop, `width` of them.
SmallVector<Value> CoreLowering::turnedValues(OpBuilder &b, const TurnedTile &tile,
                                              kernel::LoadOp load) {
  IndexMath in{b, loc};
  unsigned last = space.parallel - 1;
  SmallVector<Value> lines;
  for (int64_t c = 0; c < width; ++c) {
    Position at = tile.base;
    at.loops[tile.turned] = tile.row;
    at.loops[last] = in.add(tile.column, c);
    // Lines outside read the last one, which nobody uses.
    if (tile.columnEnd)
      at.loops[last] = in.min(at.loops[last], in.sub(tile.columnEnd, in(1)));
    at.vectorLoop = tile.turned;
    at.width = width;
    at.limit = at.mask = {};
    if (tile.rowEnd)
      emitter->maskLanes(b, at, tile.rowEnd);
    prefetchTurned(b, load, at);
    lines.push_back(emitter->toMemory(b, emitter->value(b, load, at)));
  }
  transposeVectors(b, loc, lines);
  return lines;
}

/// The positions of the lines of a whole block, with what is turned for them.
SmallVector<Position> CoreLowering::turnedPositions(OpBuilder &b, const TurnedTile &tile) {
  IndexMath in{b, loc};
  SmallVector<Position> rows;
  for (int64_t r = 0; r < width; ++r) {
    Position &at = rows.emplace_back(tile.base);
    at.loops[tile.turned] = in.add(tile.row, r);
    at.loops[space.parallel - 1] = tile.column;
    at.vectorLoop = static_cast<int>(space.parallel) - 1;
    at.width = width;
  }
  for (kernel::LoadOp load : turnedLoads(kernel, space, tile.turned))
    for (auto [at, line] : llvm::zip_equal(rows, turnedValues(b, tile, load)))
      at.values[load.getResult()] = emitter->fromMemory(b, line, load.getType());
  return rows;
}

/// Memory for a block of each turned load.
SmallVector<Value> CoreLowering::turnedMemory() {
  SmallVector<Value> memory;
  for (kernel::LoadOp load : turnedLoads(kernel, space, *shape.turned))
    memory.push_back(memref::AllocaOp::create(
        builder, loc, MemRefType::get({width * width}, memoryType(load.getType())),
        builder.getI64IntegerAttr(kLineBytes)));
  return memory;
}

void CoreLowering::keepTurned(OpBuilder &b, const TurnedTile &tile) {
  SmallVector<kernel::LoadOp> loads = turnedLoads(kernel, space, tile.turned);
  for (auto [load, block] : llvm::zip_equal(loads, tile.memory))
    for (auto [number, line] : llvm::enumerate(turnedValues(b, tile, load)))
      vector::StoreOp::create(b, loc, line, block, constant(b, number * width));
}

/// The position of a line that was kept.
Position CoreLowering::turnedLine(OpBuilder &b, const TurnedTile &tile, Value line) {
  IndexMath in{b, loc};
  Position at = tile.base;
  at.loops[tile.turned] = in.add(tile.row, line);
  at.loops[space.parallel - 1] = tile.column;
  at.vectorLoop = static_cast<int>(space.parallel) - 1;
  at.width = width;
  if (tile.columnEnd)
    emitter->maskLanes(b, at, tile.columnEnd);
  SmallVector<kernel::LoadOp> loads = turnedLoads(kernel, space, tile.turned);
  for (auto [load, block] : llvm::zip_equal(loads, tile.memory)) {
    auto type = VectorType::get({width}, memoryType(load.getType()));
    Value x = vector::LoadOp::create(b, loc, type, block, in.mul(line, width));
    at.values[load.getResult()] = emitter->fromMemory(b, x, load.getType());
  }
  return at;
}

/// Blocks of a body that is not to be repeated wait in memory for a loop over the lines. At the
/// edges with the ends of what is there.
void CoreLowering::turnedLines(OpBuilder &b, const TurnedTile &tile) {
  IndexMath in{b, loc};
  keepTurned(b, tile);
  Value count = tile.rowEnd ? in.min(in.sub(tile.rowEnd, tile.row), width) : in(width);
  loop(b, in(0), count, 1, [&](OpBuilder &c, Value line) {
    Position at = turnedLine(c, tile, line);
    prefetchTurned(c, straightLoads(kernel, space, tile.turned), at);
    storeAll(c, at);
  });
}

/// Items are tiles, counted by the other loops, then columns, then rows; or by rows first.
void CoreLowering::lowerTurned() {
  unsigned last = space.parallel - 1, turned = *shape.turned;
  open(kernel.getSymName(), {});
  function->setAttr("graphc.tiles", module.getUnitAttr());
  IndexMath at{builder, loc};
  Value rows = emitter->extent(builder, turned), columns = emitter->extent(builder, last);
  bool inRegisters = turnsInRegisters(kernel);
  SmallVector<Value> memory = inRegisters ? SmallVector<Value>() : turnedMemory();
  bool forRows = turnsForRows(kernel, turned);
  int64_t tileRows = forRows ? program::kRowsTogether : kTurnedRows;
  int64_t tileColumns = forRows ? kForRowsColumns : kTurnedColumns;
  Value rowTiles = at.ceilDiv(rows, tileRows), columnTiles = at.ceilDiv(columns, tileColumns);
  Value ofRows = columnTiles;
  for (unsigned i = 1; forRows && i < last; ++i)
    ofRows = at.mul(ofRows, emitter->extent(builder, i));
  loop(builder, begin, end, 1, [&](OpBuilder &b, Value item) {
    IndexMath in{b, loc};
    Position base = position();
    Value rowTile, rest = in.div(item, forRows ? ofRows : rowTiles);
    if (forRows) {
      rowTile = rest;
      rest = in.sub(item, in.mul(rowTile, ofRows));
    } else {
      rowTile = in.sub(item, in.mul(rest, rowTiles));
    }
    Value row = in.mul(rowTile, tileRows), outer = in.div(rest, columnTiles);
    Value column = in.mul(in.sub(rest, in.mul(outer, columnTiles)), tileColumns);
    for (unsigned i = last; i-- > 0;) {
      if (i == turned)
        continue;
      Value size = emitter->extent(b, i), next = in.div(outer, size);
      base.loops[i] = in.sub(outer, in.mul(next, size));
      outer = next;
    }
    Value rowEnd = in.min(in.add(row, tileRows), rows);
    Value columnEnd = in.min(in.add(column, tileColumns), columns);
    // Along the turned loop first: that is the order in which the operand lies.
    loop(b, column, columnEnd, width, [&](OpBuilder &c, Value j) {
      loop(c, row, rowEnd, width, [&](OpBuilder &d, Value i) {
        IndexMath here{d, loc};
        Value iEnd = here.add(i, width), jEnd = here.add(j, width);
        Value whole = here.both(here.atLeast(rowEnd, iEnd), here.atLeast(columnEnd, jEnd));
        auto choice = scf::IfOp::create(d, loc, whole, /*withElseRegion=*/true);
        OpBuilder inside = choice.getThenBodyBuilder(), edge = choice.getElseBodyBuilder();
        if (!inRegisters) {
          turnedLines(inside, {base, turned, i, j, {}, {}, memory});
          return turnedLines(edge, {base, turned, i, j, rowEnd, columnEnd, memory});
        }
        // Every turned load before any store.
        for (Position &at : turnedPositions(inside, {base, turned, i, j})) {
          prefetchTurned(inside, straightLoads(kernel, space, turned), at);
          storeAll(inside, at);
        }
        Value low = IndexMath{edge, loc}.min(iEnd, rowEnd);
        Value high = IndexMath{edge, loc}.min(jEnd, columnEnd);
        loop(edge, i, low, 1, [&](OpBuilder &e, Value r) {
          Position line = base;
          line.loops[turned] = r;
          loop(e, j, high, 1, [&](OpBuilder &f, Value c) {
            Position point = line;
            point.loops[last] = c;
            storeAll(f, point);
          });
        });
      });
    });
  });
  close();
}
