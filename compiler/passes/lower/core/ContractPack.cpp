// The operands of panels (ContractPanels.cpp) that are copied: strips of columns, and rows of a
// tile.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/ContractPanels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {
constexpr int64_t kTilesToPack = 32;      ///< from here on packing costs little
constexpr int64_t kFewTiles = 3;          ///< below, the operand is not read often enough
constexpr int64_t kSpreadBytes = 1 << 19; ///< a piece spread wider than this leaves the cache
constexpr int64_t kTurned = 16;           ///< lanes of a block turned in registers
} // namespace

Value CoreLowering::Panels::wantsPacking(OpBuilder &b, const Panel &p) {
  if (!columnLoad)
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  IndexMath at{b, loc};
  Value tiles = at.sub(p.endTile, p.firstTile);
  Value stride = l.emitter->emit(b, l.space.accesses.at(columnLoad).strides[depthLoop]);
  Value spread = at.mul(at.mul(stride, at.min(depth, kPanelDepth)), bytes);
  Value wide = at.less(at(kSpreadBytes), spread);
  return at.either(at.atLeast(tiles, at(kTilesToPack)),
                   at.both(wide, at.atLeast(tiles, at(kFewTiles))));
}

void CoreLowering::Panels::packStrips(OpBuilder &b, const Panel &p) {
  IndexMath at{b, loc};
  // A block of one row tile may need some of the strips only.
  Value low, high;
  stripRange(b, p, p.firstTile, low, high);
  Value single = at.equal(at.add(p.firstTile, 1), p.endTile);
  low = at.select(single, low, at(0));
  high = at.select(single, high, p.strips);
  bool dense = llvm::all_of(products.columns,
                            [&](Value value) { return l.space.isDense(value, columnLoop); });
  if (!dense) {
    l.loop(b, low, high, 1, [&](OpBuilder &c, Value s) { packTurned(c, p, s); });
    return;
  }
  Value whole = at.min(high, at.sub(at.div(extentColumns, strip), p.firstStrip));
  auto wanted = scf::IfOp::create(b, loc, p.usePacked, /*withElseRegion=*/false);
  OpBuilder c = wanted.getThenBodyBuilder();
  // Row by row: neighbouring strips share pages and lines that are fetched together.
  l.loop(c, l.constant(c, 0), p.length, 1, [&](OpBuilder &d, Value k) {
    l.loop(d, low, whole, 1, [&](OpBuilder &e, Value s) { packLanes(e, p, s, k, /*whole=*/true); });
  });
  l.loop(b, at.max(low, whole), high, 1, [&](OpBuilder &d, Value s) {
    l.loop(d, l.constant(d, 0), p.length, 1,
           [&](OpBuilder &e, Value k) { packLanes(e, p, s, k, /*whole=*/false); });
  });
}

/// Copies a row of a strip whose columns lie next to each other. Of a strip that reaches beyond the
/// last column, vectors with columns, whose other lanes are 0.
void CoreLowering::Panels::packLanes(OpBuilder &b, const Panel &p, Value s, Value k, bool whole) {
  IndexMath at{b, loc};
  if (whole) {
    for (int64_t v = 0; v < vectors; ++v)
      packVector(b, p, s, k, at(v * lanes), whole);
    return;
  }
  Value column = at.mul(at.add(p.firstStrip, s), strip);
  Value count = at.min(at.sub(extentColumns, column), strip);
  l.loop(b, at(0), count, lanes,
         [&](OpBuilder &c, Value offset) { packVector(c, p, s, k, offset, whole); });
}

/// The vector of a row of a strip that begins `offset` columns behind the strip's first.
void CoreLowering::Panels::packVector(OpBuilder &b, const Panel &p, Value s, Value k, Value offset,
                                      bool whole) {
  IndexMath in{b, loc};
  Value column = in.mul(in.add(p.firstStrip, s), strip);
  Value to = in.add(in.add(in.mul(s, kPanelDepth * pitch), in.mul(k, pitch)), offset);
  Position here = place(p, Value(), in.add(column, offset));
  here.loops[depthLoop] = in.add(p.k0, k);
  here.vectorLoop = columnLoop;
  here.width = lanes;
  if (!whole)
    l.emitter->maskLanes(b, here, extentColumns);
  if (columnLoad) {
    const LinearAccess &access = l.space.accesses.at(columnLoad);
    Value stride = l.emitter->emit(b, access.strides[depthLoop]);
    Value ahead = in.add(l.emitter->index(b, access, here), in.mul(stride, kPrefetch));
    memref::PrefetchOp::create(b, loc, l.emitter->buffer(columnLoad), ahead, /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
  }
  for (auto [part, operand] : llvm::enumerate(products.columns)) {
    Value value = BodyEmitter::splat(b, loc, l.emitter->value(b, operand, here), lanes);
    store(b, value, packed, in.add(to, static_cast<int64_t>(part) * strip));
  }
}

/// Copies a strip whose elements lie next to each other along k: blocks are read along k and turned
/// in registers. Columns beyond the last one repeat it; nobody stores what they give.
void CoreLowering::Panels::packTurned(OpBuilder &b, const Panel &p, Value s) {
  int64_t block = std::min(lanes, kTurned);
  Value column = IndexMath{b, loc}.mul(IndexMath{b, loc}.add(p.firstStrip, s), strip);
  Value to = IndexMath{b, loc}.mul(s, kPanelDepth * pitch);
  Value none, lastColumn = IndexMath{b, loc}.sub(extentColumns, l.constant(b, 1));
  Value columnEnd = IndexMath{b, loc}.min(
      l.constant(b, strip),
      IndexMath{b, loc}.mul(
          IndexMath{b, loc}.ceilDiv(IndexMath{b, loc}.sub(extentColumns, column), block), block));
  l.loop(b, l.constant(b, 0), columnEnd, block, [&](OpBuilder &c, Value offset) {
    Value from = IndexMath{c, loc}.add(column, offset);
    Position base = place(p, none, none);
    Value kEnd = IndexMath{c, loc}.add(p.k0, p.length);
    l.strips(c, base, depthLoop, block, p.k0, kEnd, [&](OpBuilder &d, Position &at) {
      IndexMath in{d, loc};
      SmallVector<SmallVector<Value>> lines(columnParts);
      for (int64_t i = 0; i < block; ++i) {
        Position here = at;
        here.loops[columnLoop] = in.min(in.add(from, i), lastColumn);
        for (auto [operand, part] : llvm::zip_equal(products.columns, lines)) {
          Value value = BodyEmitter::splat(d, loc, l.emitter->value(d, operand, here), block);
          part.push_back(l.emitter->toMemory(d, value));
        }
      }
      Value k = in.sub(at.loops[depthLoop], p.k0);
      Value row = in.add(in.add(to, offset), in.mul(k, pitch));
      // Lines beyond the end of k stay inside the strip: its depth is a multiple of the block.
      for (auto [number, part] : llvm::enumerate(lines)) {
        transposeVectors(d, loc, part);
        for (int64_t i = 0; i < block; ++i)
          vector::StoreOp::create(d, loc, part[i], packed,
                                  in.add(row, i * pitch + static_cast<int64_t>(number) * strip));
      }
    });
  });
}

/// The row operand of one row tile where it cannot be read in place: row after row, or the rows
/// side by side when that is how they lie.
void CoreLowering::Panels::packRow(OpBuilder &b, const Panel &p, Value tile) {
  IndexMath at{b, loc};
  Value lastRow = at.sub(extentRows, at(1)), row = at.mul(tile, rows);
  Value kEnd = at.add(p.k0, p.length);
  if (sideBySide)
    return packSideBySide(b, p, row);
  l.loop(b, at(0), at(rows), 1, [&](OpBuilder &c, Value r) {
    IndexMath in{c, loc};
    Position base = place(p, in.min(in.add(row, r), lastRow), Value());
    l.strips(c, base, depthLoop, lanes, p.k0, kEnd, [&](OpBuilder &d, Position &here) {
      IndexMath to{d, loc};
      Value k = to.sub(here.loops[depthLoop], p.k0);
      for (auto [part, operand] : llvm::enumerate(products.rows)) {
        Value value = BodyEmitter::splat(d, loc, l.emitter->value(d, operand, here), lanes);
        Value line = to.add(to.mul(r, rowParts), static_cast<int64_t>(part));
        store(d, value, rowPacked, to.add(to.mul(line, kPanelDepth), k));
      }
    });
  });
}

void CoreLowering::Panels::packSideBySide(OpBuilder &b, const Panel &p, Value row) {
  IndexMath at{b, loc};
  Value whole = at.atLeast(extentRows, at.add(row, kRowPitch));
  auto choice = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
  auto copy = [&](OpBuilder c, bool masked) {
    l.loop(c, l.constant(c, 0), p.length, 1, [&](OpBuilder &d, Value k) {
      IndexMath in{d, loc};
      Position here = place(p, row, Value());
      here.loops[depthLoop] = in.add(p.k0, k);
      here.vectorLoop = rowLoop;
      here.width = kRowPitch;
      if (masked)
        l.emitter->maskLanes(d, here, extentRows);
      for (auto [part, operand] : llvm::enumerate(products.rows)) {
        Value value = BodyEmitter::splat(d, loc, l.emitter->value(d, operand, here), kRowPitch);
        Value to = in.add(in.mul(k, rowParts), static_cast<int64_t>(part));
        store(d, value, rowPacked, in.mul(to, kRowPitch));
      }
    });
  };
  copy(choice.getThenBodyBuilder(), /*masked=*/false);
  copy(choice.getElseBodyBuilder(), /*masked=*/true);
}
