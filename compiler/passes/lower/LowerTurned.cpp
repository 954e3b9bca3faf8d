// Maps that read something along another loop than the one they write along: transposes and what
// is computed from them. Blocks are read in the order in which they lie and turned in registers;
// tiles of several blocks use whatever a page and a cache line bring.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"
#include "compiler/passes/lower/TurnedRows.h"

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
void KernelLowering::prefetchTurned(OpBuilder &b, ArrayRef<kernel::LoadOp> loads, Position at) {
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
SmallVector<kernel::LoadOp> KernelLowering::straightLoads() {
  SmallVector<kernel::LoadOp> loads;
  kernel.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = space.accesses.at(load);
    if (access.isDense(space.parallel - 1) && !access.strides[*shape.turned].isZero())
      loads.push_back(load);
  });
  return loads;
}

/// A whole block of `width` by `width`: every turned load before any store.
void KernelLowering::turnedBlock(OpBuilder &b, const Position &base, Value row, Value column) {
  IndexMath in{b, loc};
  unsigned last = space.parallel - 1, turned = *shape.turned;
  SmallVector<Position> rows;
  for (int64_t r = 0; r < width; ++r) {
    Position &at = rows.emplace_back(base);
    at.loops[turned] = in.add(row, r);
    at.loops[last] = column;
    at.vectorLoop = last;
    at.width = width;
  }
  for (kernel::LoadOp load : turnedLoads(kernel, space, turned)) {
    SmallVector<Value> lines;
    for (int64_t c = 0; c < width; ++c) {
      Position at = base;
      at.loops[turned] = row;
      at.loops[last] = in.add(column, c);
      at.vectorLoop = turned;
      at.width = width;
      prefetchTurned(b, load, at);
      lines.push_back(emitter->toMemory(b, emitter->value(b, load, at)));
    }
    transposeVectors(b, loc, lines);
    for (int64_t r = 0; r < width; ++r)
      rows[r].values[load.getResult()] = emitter->fromMemory(b, lines[r], load.getType());
  }
  for (Position &at : rows) {
    prefetchTurned(b, straightLoads(), at);
    storeAll(b, at);
  }
}

/// The same for a body that is not to be repeated: turned blocks wait in memory, one for each
/// turned load, for a loop over the lines. At the edges with the ends of what is there.
void KernelLowering::turnedLines(OpBuilder &b, const Position &base, Value row, Value column,
                                 Value rowEnd, Value columnEnd, ArrayRef<Value> memory) {
  IndexMath in{b, loc};
  unsigned last = space.parallel - 1, turned = *shape.turned;
  SmallVector<kernel::LoadOp> loads = turnedLoads(kernel, space, turned);
  auto along = [&](OpBuilder &c, Position &at, unsigned loopNumber, Value limit) {
    at.vectorLoop = loopNumber;
    at.width = width;
    if (limit)
      emitter->maskLanes(c, at, limit);
  };
  for (auto [load, block] : llvm::zip_equal(loads, memory)) {
    SmallVector<Value> lines;
    for (int64_t c = 0; c < width; ++c) {
      Position at = base;
      at.loops[turned] = row;
      at.loops[last] = in.add(column, c);
      // Lines outside read the last one, which nobody uses.
      if (columnEnd)
        at.loops[last] = in.min(at.loops[last], in.sub(columnEnd, in(1)));
      along(b, at, turned, rowEnd);
      prefetchTurned(b, load, at);
      lines.push_back(emitter->toMemory(b, emitter->value(b, load, at)));
    }
    transposeVectors(b, loc, lines);
    for (int64_t r = 0; r < width; ++r)
      vector::StoreOp::create(b, loc, lines[r], block, in(r * width));
  }
  Value count = rowEnd ? in.min(in.sub(rowEnd, row), width) : in(width);
  loop(b, in(0), count, 1, [&](OpBuilder &c, Value line) {
    IndexMath here{c, loc};
    Position at = base;
    at.loops[turned] = here.add(row, line);
    at.loops[last] = column;
    along(c, at, last, columnEnd);
    for (auto [load, block] : llvm::zip_equal(loads, memory)) {
      auto type = VectorType::get({width}, memoryType(load.getType()));
      Value x = vector::LoadOp::create(c, loc, type, block, here.mul(line, width));
      at.values[load.getResult()] = emitter->fromMemory(c, x, load.getType());
    }
    prefetchTurned(c, straightLoads(), at);
    storeAll(c, at);
  });
}

/// Items are tiles, counted by the other loops, then columns, then rows; or by rows first.
void KernelLowering::lowerTurned() {
  unsigned last = space.parallel - 1, turned = *shape.turned;
  open(kernel.getSymName(), {});
  function->setAttr("graphc.tiles", module.getUnitAttr());
  IndexMath at{builder, loc};
  Value rows = emitter->extent(builder, turned), columns = emitter->extent(builder, last);
  bool inRegisters = turnsInRegisters(kernel);
  SmallVector<Value> memory;
  for (kernel::LoadOp load : turnedLoads(kernel, space, turned))
    if (!inRegisters)
      memory.push_back(memref::AllocaOp::create(
          builder, loc, MemRefType::get({width * width}, memoryType(load.getType()))));
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
          turnedLines(inside, base, i, j, {}, {}, memory);
          return turnedLines(edge, base, i, j, rowEnd, columnEnd, memory);
        }
        turnedBlock(inside, base, i, j);
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
