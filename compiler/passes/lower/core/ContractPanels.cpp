// Matrix products of many rows on a CPU. Columns are taken in panels of a few strips, k in pieces
// of kPanelDepth, rows in tiles; a tile of 6 rows by 4 vectors stays in registers while it walks
// through a piece of k. The operand of the columns is copied into strips that a core's cache holds
// (panel form, with whatever is computed from it done once) when enough rows use it or when it does
// not lie in columns; the operand of the rows is read in place, one element for all columns of the
// tile. What a tile has summed waits in scratch memory between pieces of k: storing and loading
// changes no bits, so an element is the same fma chain for every choice here (docs/numerics.md). Of
// a product of a matrix and its own transpose, whose elements (i, j) and (j, i) are one chain,
// tiles below the diagonal are stored by those above. Of complex operands a tile has the sums of
// the four products of their parts: 3 rows by 2 vectors.
#include "compiler/passes/lower/core/ContractPanels.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {
constexpr int64_t kSegment = 64;      ///< k between requests for what comes next
constexpr int64_t kDirectOps = 8;     ///< longest epilogue that is repeated for every vector
constexpr int64_t kMirrorDepth = 128; ///< k's from which on a tile costs more than its mirror image
} // namespace

CoreLowering::Panels::Panels(CoreLowering &l) : l(l), loc(l.loc), products(l.kernel, l.space) {
  rowParts = products.rows.size();
  columnParts = products.columns.size();
  depthLoop = l.space.parallel;
  columnLoop = depthLoop - 1;
  rowLoop = depthLoop - 2;
  bool alongK = true, alongRows = true;
  for (Value value : products.rows) {
    alongK &= l.space.isDense(value, depthLoop);
    alongRows &= l.space.isDense(value, rowLoop);
    if (auto load = value.getDefiningOp<kernel::LoadOp>())
      rowLoads.push_back(load);
  }
  if (!alongK || rowLoads.size() != products.rows.size())
    rowLoads.clear();
  sideBySide = rowLoads.empty() && !alongK && alongRows;
  if (columnParts == 1)
    columnLoad = products.columns.front().getDefiningOp<kernel::LoadOp>();
  lanes = l.width;
  rows = l.shape.tileRows;
  strip = l.shape.tileColumns;
  vectors = strip / lanes;
  pitch = strip * columnParts;
  element = products.element();
  stored = memoryType(element);
  bytes = stored.getIntOrFloatBitWidth() / 8;
  // Half of a second cache of 1 MiB, or, of CPUs with vectors of 256 bits, of 512 KiB.
  panelStrips = lanes * element.getIntOrFloatBitWidth() >= 512 ? 4 : 8;
  if (columnLoad &&
      (stored != element || !l.space.accesses.at(columnLoad).strides[columnLoop].isConstant(1)))
    columnLoad = kernel::LoadOp();
}

void CoreLowering::Panels::prepare(OpBuilder &b) {
  int64_t at = 0;
  auto take = [&](int64_t count) {
    Value view = l.scratchView(stored, at, count);
    at += count * bytes;
    return view;
  };
  packed = take(panelElements());
  rowPacked = rowLoads.empty() ? take(rowElements()) : Value();
  sums = take(slots());
  runs = take(slots());
  totals = take(slots());
  extentRows = l.emitter->extent(b, rowLoop);
  extentColumns = l.emitter->extent(b, columnLoop);
  depth = l.emitter->emit(b, l.space.reducedItems());
  if (products.all.size() == 1 && isSymmetricProduct(products.all.front().dot, l.space))
    mirrors = IndexMath{b, loc}.atLeast(depth, IndexMath{b, loc}(kMirrorDepth));
}

Position CoreLowering::Panels::place(const Panel &p, Value row, Value column) const {
  Position at = p.base;
  at.loops[rowLoop] = row;
  at.loops[columnLoop] = column;
  return at;
}

/// Items of a batch are counted by panel, then row tile, then strip.
void CoreLowering::Panels::chunk(OpBuilder &b) {
  IndexMath at{b, loc};
  Value tiles = at.ceilDiv(extentRows, rows), strips = at.ceilDiv(extentColumns, strip);
  Value perBatch = at.mul(tiles, strips), few = mayBeNarrow() ? isNarrow(b) : Value();
  l.loop(b, at.div(l.begin, perBatch), at.ceilDiv(l.end, perBatch), 1, [&](OpBuilder &c, Value n) {
    Position base = l.position();
    if (rowLoop > 0)
      l.emitter->delinearize(c, n, 0, rowLoop, base);
    Value before = IndexMath{c, loc}.mul(n, perBatch);
    if (!few)
      return panels(c, base, before, tiles, strips);
    auto choice = scf::IfOp::create(c, loc, few, /*withElseRegion=*/true);
    OpBuilder once = choice.getThenBodyBuilder(), rest = choice.getElseBodyBuilder();
    narrow(once, base);
    panels(rest, base, before, tiles, strips);
  });
}

/// The chunk's items of the batch whose first one is `before`.
void CoreLowering::Panels::panels(OpBuilder &b, const Position &base, Value before, Value tiles,
                                  Value strips) {
  IndexMath at{b, loc};
  Value perBatch = at.mul(tiles, strips), perPanel = at.mul(tiles, panelStrips);
  Value low = at.max(at.sub(l.begin, before), 0);
  Value high = at.min(at.sub(l.end, before), perBatch);
  l.loop(b, at.div(low, perPanel), at.ceilDiv(high, perPanel), 1, [&](OpBuilder &c, Value i) {
    IndexMath in{c, loc};
    Panel p;
    p.base = base;
    p.firstStrip = in.mul(i, panelStrips);
    p.strips = in.min(in.sub(strips, p.firstStrip), panelStrips);
    Value start = in.mul(i, perPanel);
    p.low = in.max(in.sub(low, start), 0);
    p.high = in.min(in.sub(high, start), in.mul(tiles, p.strips));
    panel(c, p);
  });
}

void CoreLowering::Panels::panel(OpBuilder &b, Panel &p) {
  IndexMath at{b, loc};
  Value firstTile = at.div(p.low, p.strips), endTile = at.ceilDiv(p.high, p.strips);
  if (mirrors) {
    Value endColumn = at.mul(at.add(p.firstStrip, p.strips), strip);
    endTile = at.select(mirrors, at.min(endTile, at.ceilDiv(endColumn, rows)), endTile);
    firstTile = at.min(firstTile, endTile);
  }
  Value pieces = at.max(at.ceilDiv(depth, kPanelDepth), 1);
  // Blocks of one size: each copies the panel's operand again.
  Value tiles = at.sub(endTile, firstTile), blocks = at.ceilDiv(tiles, kRowTilesPerBlock);
  Value each = at.ceilDiv(tiles, at.max(blocks, 1));
  l.loop(b, at(0), blocks, 1, [&](OpBuilder &c, Value number) {
    Panel q = p;
    q.firstTile = IndexMath{c, loc}.add(firstTile, IndexMath{c, loc}.mul(number, each));
    q.endTile = IndexMath{c, loc}.min(IndexMath{c, loc}.add(q.firstTile, each), endTile);
    l.loop(c, l.constant(c, 0), pieces, 1, [&](OpBuilder &d, Value piece) {
      IndexMath in{d, loc};
      q.k0 = in.mul(piece, kPanelDepth);
      q.length = in.min(in.sub(depth, q.k0), kPanelDepth);
      q.last = in.equal(in.add(piece, 1), pieces);
      Value inChain = arith::AndIOp::create(d, loc, q.k0, in(kChain - 1));
      q.first = in.equal(inChain, in(0));
      block(d, q);
    });
  });
}

/// Strips [low, high) of a row tile that belong to the items of the chunk.
void CoreLowering::Panels::stripRange(OpBuilder &b, const Panel &p, Value tile, Value &low,
                                      Value &high) {
  IndexMath at{b, loc};
  Value before = at.mul(tile, p.strips);
  low = at.max(at.sub(p.low, before), 0);
  high = at.min(at.sub(p.high, before), p.strips);
  if (mirrors) {
    Value diagonal = at.sub(at.div(at.mul(tile, rows), strip), p.firstStrip);
    low = at.select(mirrors, at.max(low, diagonal), low);
  }
}

void CoreLowering::Panels::block(OpBuilder &b, Panel &p) {
  p.usePacked = wantsPacking(b, p);
  packStrips(b, p);
  l.loop(b, p.firstTile, p.endTile, 1, [&](OpBuilder &c, Value t) {
    if (rowLoads.empty())
      packRow(c, p, t);
    Value low, high;
    stripRange(c, p, t, low, high);
    l.loop(c, low, high, 1, [&](OpBuilder &d, Value s) { tile(d, p, t, s); });
  });
}

/// The accumulators of `count` vectors of a strip.
SmallVector<CoreLowering::Panels::Cell> CoreLowering::Panels::cells(int64_t count) const {
  SmallVector<Cell> result;
  for (int64_t line = 0; line < lines(); ++line)
    for (int64_t part = 0; part < columnParts; ++part)
      for (int64_t v = 0; v < count && products.at(line % rowParts, part); ++v)
        result.push_back({line, part, v});
  return result;
}

/// One element of a row operand at `here`; `r` is its row in the tile.
Value CoreLowering::Panels::rowElement(OpBuilder &b, const Panel &p, int64_t part, Position &here,
                                       int64_t r) {
  if (!rowLoads.empty())
    return l.emitter->value(b, products.rows[part], here);
  IndexMath in{b, loc};
  Value k = in.sub(here.loops[depthLoop], p.k0);
  Value from = sideBySide ? in.add(in.mul(k, rowParts * kRowPitch), part * kRowPitch + r)
                          : in.add(k, (r * rowParts + part) * kPanelDepth);
  return l.emitter->fromMemory(b, memref::LoadOp::create(b, loc, rowPacked, from), element);
}

/// cells(count), of the vectors from `firstVector` on, over one piece of k. Rows beyond the last
/// one repeat it; nobody stores what they give.
SmallVector<Value> CoreLowering::Panels::accumulate(OpBuilder &b, const Panel &p, const Tile &t,
                                                    int64_t count, Value firstVector) {
  IndexMath at{b, loc};
  SmallVector<Cell> used = cells(count);
  Value lastRow = at.sub(extentRows, at(1));
  Value offset = at.mul(firstVector, lanes);
  SmallVector<Value> row;
  for (int64_t r = 0; r < rows; ++r)
    row.push_back(at.min(at.add(t.row, r), lastRow));
  SmallVector<Type> types(used.size(), VectorType::get({lanes}, element));
  auto start = scf::IfOp::create(b, loc, types, p.first, /*withElseRegion=*/true);
  OpBuilder zero = start.getThenBodyBuilder(), resume = start.getElseBodyBuilder();
  SmallVector<Value> zeros(used.size(), chainZero(zero, loc, element, lanes)), old;
  scf::YieldOp::create(zero, loc, zeros);
  for (const Cell &cell : used) {
    IndexMath in{resume, loc};
    old.push_back(load(resume, sums, in.add(in.add(t.slot, offset), slotOf(cell))));
  }
  scf::YieldOp::create(resume, loc, old);
  // Counted from the start of k: the row operand then needs no sum of its own for its position.
  Value base = at.sub(at.add(t.sourceBase, offset), at.mul(p.k0, t.sourceStride));
  Value end = at.add(p.k0, p.length);
  auto segments = scf::ForOp::create(b, loc, p.k0, end, at(kSegment), start.getResults());
  OpBuilder s = OpBuilder::atBlockBegin(segments.getBody());
  requestRows(s, p, t, IndexMath{s, loc}.sub(segments.getInductionVar(), p.k0));
  IndexMath segment{s, loc};
  Value segmentEnd = segment.min(segment.add(segments.getInductionVar(), kSegment), end);
  auto loop = scf::ForOp::create(s, loc, segments.getInductionVar(), segmentEnd, segment(1),
                                 segments.getRegionIterArgs());
  scf::YieldOp::create(s, loc, loop.getResults());
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath in{c, loc};
  Value k = loop.getInductionVar();
  Value from = in.add(base, in.mul(k, t.sourceStride));
  SmallVector<Value> right, next;
  for (int64_t i = 0; i < columnParts * count; ++i) {
    int64_t column = slotOf({0, i / count, i % count});
    if (column * bytes % kLineBytes == 0) {
      Value ahead = in.add(from, in.mul(t.sourceStride, kPrefetch));
      memref::PrefetchOp::create(c, loc, t.source, in.add(ahead, column), /*isWrite=*/false,
                                 /*localityHint=*/kFirstCache, /*isDataCache=*/true);
    }
    right.push_back(load(c, t.source, in.add(from, column)));
  }
  for (int64_t r = 0; r < rows; ++r) {
    Position here = place(p, row[r], Value());
    here.loops[depthLoop] = k;
    for (int64_t part = 0; part < rowParts; ++part) {
      Value x = BodyEmitter::splat(c, loc, rowElement(c, p, part, here, r), lanes);
      while (next.size() < used.size() && used[next.size()].line == r * rowParts + part) {
        const Cell &cell = used[next.size()];
        Value y = right[cell.part * count + cell.vector];
        next.push_back(multiplyAdd(c, loc, x, y, loop.getRegionIterArgs()[next.size()]));
      }
    }
  }
  scf::YieldOp::create(c, loc, next);
  return SmallVector<Value>(segments.getResults());
}

/// Asks for the rows of the next tile while this one keeps the core busy: all strips of the tile
/// together ask for all of the piece. Short rows follow each other in a stream.
void CoreLowering::Panels::requestRows(OpBuilder &outer, const Panel &p, const Tile &t,
                                       Value done) {
  if (rowLoads.empty())
    return;
  IndexMath o{outer, loc};
  OpBuilder b = scf::IfOp::create(outer, loc, o.atLeast(depth, o(kSegment)),
                                  /*withElseRegion=*/false)
                    .getThenBodyBuilder();
  IndexMath at{b, loc};
  kernel::LoadOp load = rowLoads.front(); // the other part lies beside it
  const LinearAccess &access = l.space.accesses.at(load);
  int64_t share = kSegment / panelStrips;
  Value k = at.add(p.k0, at.div(at.add(at.mul(t.strip, p.length), done), panelStrips));
  int64_t width = cast<MemRefType>(l.emitter->buffer(load).getType()).getElementTypeBitWidth();
  int64_t line = kLineBytes * 8 / width / (access.part ? 2 : 1);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t ahead = 0; ahead < share; ahead += line) {
      Position here = place(p, at.add(t.row, rows + r), Value());
      here.loops[depthLoop] = at.add(k, ahead);
      memref::PrefetchOp::create(b, loc, l.emitter->buffer(load), l.emitter->index(b, access, here),
                                 /*isWrite=*/false, kSecondCache, /*isDataCache=*/true);
    }
}

bool CoreLowering::Panels::smallEpilogue() {
  int64_t ops = 0;
  bool expensive = false;
  for (Operation *op = products.all.back().dot->getNextNode(); op; op = op->getNextNode()) {
    ops += op->getNumResults();
    expensive |= op->hasTrait<graph::Expensive>();
  }
  return !expensive && ops <= kDirectOps;
}

/// Whether a tile is done after this piece of k, so that its results are stored straight from the
/// registers: an i1, or null where they never are.
Value CoreLowering::Panels::isDone(OpBuilder &b, const Panel &p) {
  IndexMath at{b, loc};
  return smallEpilogue() ? at.both(at.atLeast(at(kChain), depth), p.last) : Value();
}

/// Stores the values of cells(columns.size()), a vector of columns at each position, of the rows
/// that there are.
void CoreLowering::Panels::storeRows(OpBuilder &b, const Tile &t, ArrayRef<Position> columns,
                                     ValueRange values) {
  SmallVector<Cell> used = cells(columns.size());
  for (int64_t r = 0; r < rows; ++r) {
    IndexMath in{b, loc};
    Value row = in.add(t.row, r);
    auto exists = scf::IfOp::create(b, loc, in.less(row, extentRows), /*withElseRegion=*/false);
    OpBuilder c = exists.getThenBodyBuilder();
    for (auto [v, at] : llvm::enumerate(columns)) {
      Position here = at;
      here.loops[rowLoop] = row;
      here.vectorLoop = columnLoop;
      here.width = lanes;
      for (auto [cell, value] : llvm::zip_equal(used, values))
        if (cell.line / rowParts == r && cell.vector == static_cast<int64_t>(v))
          here.values[Value(products.at(cell.line % rowParts, cell.part))] = value;
      for (kernel::StoreOp s : l.stores)
        l.emitter->store(c, s, here);
    }
  }
}

/// A tile without columns beyond the last one. Gives an i1: the results are stored.
Value CoreLowering::Panels::wholeTile(OpBuilder &b, const Panel &p, const Tile &t) {
  IndexMath at{b, loc};
  SmallVector<Value> values = accumulate(b, p, t, vectors, at(0));
  auto keep = [&](OpBuilder &c) {
    for (auto [cell, value] : llvm::zip_equal(cells(vectors), values))
      store(c, value, sums, IndexMath{c, loc}.add(t.slot, slotOf(cell)));
  };
  Value direct = isDone(b, p);
  if (!direct) {
    keep(b);
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  }
  auto choice = scf::IfOp::create(b, loc, direct, /*withElseRegion=*/true);
  OpBuilder done = choice.getThenBodyBuilder(), later = choice.getElseBodyBuilder();
  // Parts are watched in what is made of them.
  bool together = (element.isF32() || element.isF64()) && products.all.size() == 1;
  if (together)
    l.emitter->watchTogether(done, products.all.front().dot, values);
  if (mirrors) {
    OpBuilder above = scf::IfOp::create(done, loc, isAbove(done, t), /*withElseRegion=*/false)
                          .getThenBodyBuilder();
    keep(above);
    mirror(above, p, t, sums);
  }
  SmallVector<Position> columns;
  for (int64_t v = 0; v < vectors; ++v) {
    columns.push_back(place(p, t.row, IndexMath{done, loc}.add(t.column, v * lanes)));
    columns.back().watched = together;
  }
  storeRows(done, t, columns, values);
  keep(later);
  return direct;
}

/// A tile with columns beyond the last one: a vector of columns at a time. Gives an i1 likewise.
Value CoreLowering::Panels::edgeTile(OpBuilder &b, const Panel &p, const Tile &t) {
  IndexMath at{b, loc};
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value direct = mirrors ? Value() : isDone(b, p);
  Value count = at.ceilDiv(at.sub(extentColumns, t.column), lanes);
  l.loop(b, at(0), count, 1, [&](OpBuilder &c, Value v) {
    SmallVector<Value> values = accumulate(c, p, t, 1, v);
    auto keep = [&](OpBuilder &d) {
      IndexMath in{d, loc};
      Value slot = in.add(t.slot, in.mul(v, lanes));
      for (auto [cell, value] : llvm::zip_equal(cells(1), values))
        store(d, value, sums, in.add(slot, slotOf(cell)));
    };
    if (!direct)
      return keep(c);
    auto choice = scf::IfOp::create(c, loc, direct, /*withElseRegion=*/true);
    OpBuilder done = choice.getThenBodyBuilder(), later = choice.getElseBodyBuilder();
    IndexMath in{done, loc};
    Position here = place(p, t.row, in.add(t.column, in.mul(v, lanes)));
    here.vectorLoop = columnLoop;
    here.width = lanes;
    l.emitter->maskLanes(done, here, extentColumns);
    storeRows(done, t, here, values);
    keep(later);
  });
  return direct ? direct : no;
}

/// The run and the total of one vector after a chain, as addChain does; values of sums that have
/// not begun are not used.
void CoreLowering::Panels::joinChains(OpBuilder &b, const Panel &p, Value at) {
  IndexMath in{b, loc};
  auto vectorAt = [&](Value buffer) { return load(b, buffer, at); };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    x = l.emitter->toMemory(b, x);
    y = l.emitter->toMemory(b, y);
    return l.emitter->fromMemory(b, in.select(condition, x, y), element);
  };
  Value number = in.div(p.k0, kChain);
  Value inRun = arith::AndIOp::create(b, loc, number, in(kChainsPerRun - 1));
  Value sum = vectorAt(sums), run = vectorAt(runs), total = vectorAt(totals);
  Value joined = choose(in.equal(inRun, in(0)), sum, chainSum(b, loc, run, sum));
  Value ends = in.either(in.equal(inRun, in(kChainsPerRun - 1)), p.last);
  Value firstRun = in.less(number, in(kChainsPerRun));
  Value grown = choose(firstRun, joined, chainSum(b, loc, total, joined));
  store(b, joined, runs, at);
  store(b, choose(ends, grown, total), totals, at);
}

/// Sums that wait in scratch memory: joins chains where one ends, and stores results after the last
/// piece of k, row by row and vector by vector.
void CoreLowering::Panels::finish(OpBuilder &b, const Panel &p, const Tile &t) {
  IndexMath at{b, loc};
  Value next = arith::AndIOp::create(b, loc, at.add(p.k0, kPanelDepth), at(kChain - 1));
  Value chainEnds = at.either(at.equal(next, at(0)), p.last);
  Value many = at.less(at(kChain), depth);
  auto joins = scf::IfOp::create(b, loc, at.both(chainEnds, many), /*withElseRegion=*/false);
  OpBuilder c = joins.getThenBodyBuilder();
  l.loop(c, l.constant(c, 0), l.constant(c, lines() * pitch), lanes,
         [&](OpBuilder &d, Value i) { joinChains(d, p, IndexMath{d, loc}.add(t.slot, i)); });
  auto ends = scf::IfOp::create(b, loc, p.last, /*withElseRegion=*/false);
  OpBuilder e = ends.getThenBodyBuilder();
  IndexMath in{e, loc};
  Value height = in.min(in.sub(extentRows, t.row), rows);
  Value breadth = in.min(in.sub(extentColumns, t.column), strip);
  Value buffer = in.select(many, totals, sums);
  l.loop(e, in(0), height, 1, [&](OpBuilder &d, Value r) {
    Value row = IndexMath{d, loc}.add(t.row, r);
    l.loop(d, l.constant(d, 0), breadth, lanes, [&](OpBuilder &f, Value offset) {
      IndexMath here{f, loc};
      Position where = place(p, row, here.add(t.column, offset));
      where.vectorLoop = columnLoop;
      where.width = lanes;
      l.emitter->maskLanes(f, where, extentColumns);
      Value slot = here.add(here.add(t.slot, here.mul(r, rowParts * pitch)), offset);
      for (Products::Product product : products.all)
        where.values[Value(product.dot)] =
            load(f, buffer, here.add(slot, slotOf({product.row, product.column, 0})));
      for (kernel::StoreOp s : l.stores)
        l.emitter->store(f, s, where);
    });
  });
  if (!mirrors)
    return;
  OpBuilder above =
      scf::IfOp::create(e, loc, isAbove(e, t), /*withElseRegion=*/false).getThenBodyBuilder();
  mirror(above, p, t, buffer);
}

/// Whether a tile's mirror image is left to it: that of all above the strip of its first row.
Value CoreLowering::Panels::isAbove(OpBuilder &b, const Tile &t) {
  IndexMath at{b, loc};
  return at.both(mirrors, at.less(at.mul(at.div(t.row, strip), strip), t.column));
}

/// Stores the mirror image of a tile whose results are in `buffer`, element by element. Some of it
/// may be stored by others as well, with the same bits.
void CoreLowering::Panels::mirror(OpBuilder &b, const Panel &p, const Tile &t, Value buffer) {
  IndexMath at{b, loc};
  Value height = at.min(at.sub(extentRows, t.row), rows);
  Value breadth = at.min(at.sub(extentColumns, t.column), strip);
  l.loop(b, at(0), breadth, 1, [&](OpBuilder &c, Value column) {
    l.loop(c, l.constant(c, 0), height, 1, [&](OpBuilder &d, Value row) {
      IndexMath in{d, loc};
      Position where = place(p, in.add(t.column, column), in.add(t.row, row));
      where.watched = true; // as the element itself
      Value from = in.add(in.add(t.slot, in.mul(row, pitch)), column);
      Value sum = memref::LoadOp::create(d, loc, buffer, from);
      where.values[Value(products.all.front().dot)] = l.emitter->fromMemory(d, sum, element);
      for (kernel::StoreOp s : l.stores)
        l.emitter->store(d, s, where);
    });
  });
}

void CoreLowering::Panels::tile(OpBuilder &b, Panel &p, Value tile, Value s) {
  IndexMath at{b, loc};
  Tile t;
  t.row = at.mul(tile, rows);
  t.column = at.mul(at.add(p.firstStrip, s), strip);
  Value inBlock = at.add(at.mul(at.sub(tile, p.firstTile), panelStrips), s);
  t.slot = at.mul(inBlock, lines() * pitch);
  t.strip = s;
  t.source = packed;
  t.sourceBase = at.mul(s, kPanelDepth * pitch);
  t.sourceStride = at(pitch);
  Value whole = at.atLeast(extentColumns, at.add(t.column, strip));
  if (columnLoad) {
    const LinearAccess &access = l.space.accesses.at(columnLoad);
    Position here = place(p, Value(), t.column);
    here.loops[depthLoop] = p.k0;
    Value inPlace = l.emitter->index(b, access, here);
    Value copied = at.either(p.usePacked, at.less(extentColumns, at.add(t.column, strip)));
    t.source = at.select(copied, packed, l.emitter->buffer(columnLoad));
    t.sourceBase = at.select(copied, t.sourceBase, inPlace);
    t.sourceStride =
        at.select(copied, t.sourceStride, l.emitter->emit(b, access.strides[depthLoop]));
  }
  auto choice = scf::IfOp::create(b, loc, TypeRange(b.getI1Type()), whole, /*withElseRegion=*/true);
  OpBuilder inside = choice.getThenBodyBuilder(), edge = choice.getElseBodyBuilder();
  scf::YieldOp::create(inside, loc, wholeTile(inside, p, t));
  scf::YieldOp::create(edge, loc, edgeTile(edge, p, t));
  Value stored = choice.getResult(0);
  Value open =
      arith::XOrIOp::create(b, loc, stored, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  auto rest = scf::IfOp::create(b, loc, open, /*withElseRegion=*/false);
  OpBuilder later = rest.getThenBodyBuilder();
  finish(later, p, t);
}

void CoreLowering::lowerPanels() {
  Panels panels(*this);
  open(kernel.getSymName(), {}, panels.scratchBytes());
  panels.prepare(builder);
  panels.chunk(builder);
  close();
}
