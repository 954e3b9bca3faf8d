// Matrix products for groups of work-items: a group has a tile of the result, a work-item 8 by 8
// (or 16) elements of it in registers, and pieces of k of both operands go through local memory,
// the next piece being read while the present one is multiplied. An element's products are one fma
// chain in increasing k, a block of docs/numerics.md; blocks are items of their own, added by the
// fold.
#include "compiler/passes/lower/group/GroupContract.h"

#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Rows of a work-item, in runs of kQuad.
constexpr int64_t kEach = 8;
/// Quads of a row that a work-item of an edge tile has at once.
constexpr int64_t kEdgeQuads = 2;
/// Tiles of rows that go through all tiles of columns together, for the second-level cache.
constexpr int64_t kBand = 16;

} // namespace

std::pair<Value, Value> pass::placeInPiece(OpBuilder &b, Location loc, bool alongK, int64_t lanes,
                                           int64_t tile, int64_t depth, Value member, int64_t part,
                                           int64_t group) {
  IndexMath m{b, loc};
  int64_t inner = (alongK ? depth : tile) / lanes;
  Value number = m.add(member, part * group);
  Value slow = m.div(number, inner);
  Value fast = m.mul(m.sub(number, m.mul(slow, inner)), lanes);
  return alongK ? std::pair(slow, fast) : std::pair(fast, slow);
}

/// Elements between k's of the local copy: turned writes of neighbours fall into different banks.
int64_t GroupLowering::pitch() const { return shape.groupTile + kQuad; }

/// Reads the piece at k of one side; what lies outside is 0 or not used.
SmallVector<Value> GroupLowering::readPiece(OpBuilder &b, const ContractTile &tile,
                                            const Side &side, Value k, bool whole) {
  IndexMath m{b, loc};
  int kLoop = static_cast<int>(space.parallel);
  SmallVector<Value> values;
  for (unsigned part = 0; part < side.parts; ++part) {
    auto [element, depth] = placeInPiece(b, loc, side.alongK, side.lanes, shape.groupTile,
                                         tile.depth, member, part, shape.group);
    Position at = tile.base;
    Value index = m.add(side.first, element), along = m.add(k, depth);
    at.vectorLoop = side.alongK ? kLoop : side.loopNumber;
    at.width = side.lanes;
    at.aligned = whole && side.lanes > 1;
    // The loop without lanes reads its last place again, which nobody uses.
    if (!whole && (side.alongK || side.lanes == 1))
      index = m.min(index, m.sub(side.end, m(1)));
    if (!whole && (!side.alongK || side.lanes == 1))
      along = m.min(along, m.sub(tile.to, m(1)));
    at.loops[side.loopNumber] = index;
    at.loops[kLoop] = along;
    if (!whole && side.lanes > 1)
      emitter->maskLanes(b, at, side.alongK ? tile.to : side.end);
    values.push_back(BodyEmitter::splat(b, loc, emitter->value(b, side.value, at), side.lanes));
  }
  return values;
}

/// Puts a piece that was read into half `half` of the local memory, k by k.
void GroupLowering::keepPiece(OpBuilder &b, const ContractTile &tile, const Side &side,
                              ArrayRef<Value> values, Value half) {
  IndexMath m{b, loc};
  Value start = m.add(m.mul(half, tile.depth * pitch()), side.start);
  for (auto [part, value] : llvm::enumerate(values)) {
    auto [element, depth] = placeInPiece(b, loc, side.alongK, side.lanes, shape.groupTile,
                                         tile.depth, member, part, shape.group);
    Value at = m.add(start, m.add(m.mul(depth, pitch()), element));
    if (side.lanes == 1 || !side.alongK) {
      if (side.lanes == 1)
        memref::StoreOp::create(b, loc, value, tile.memory, at);
      else
        vector::StoreOp::create(b, loc, value, tile.memory, at);
      continue;
    }
    for (int64_t lane = 0; lane < side.lanes; ++lane)
      memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, value, lane), tile.memory,
                              m.add(at, lane * pitch()));
  }
}

/// One step of all chains of a work-item.
SmallVector<Value> GroupLowering::contractStep(OpBuilder &b, const ContractTile &tile, Value start,
                                               Value k, ValueRange sums) {
  IndexMath m{b, loc};
  Value line = m.add(start, m.mul(k, pitch()));
  auto vector = VectorType::get({kQuad}, tile.dot.getType());
  auto read = [&](const Side &side, ArrayRef<Value> runs) {
    SmallVector<Value> values;
    for (Value quad : runs) {
      Value at = m.add(m.add(line, quad), side.start);
      Value four = vector::LoadOp::create(b, loc, vector, tile.memory, at);
      for (int64_t lane = 0; lane < kQuad; ++lane)
        values.push_back(vector::ExtractOp::create(b, loc, four, lane));
    }
    return values;
  };
  SmallVector<Value> firstRows;
  for (size_t i = 0; i < tile.spread.rows.size(); i += kQuad)
    firstRows.push_back(tile.spread.rows[i]);
  SmallVector<Value> x = read(tile.rows, firstRows), y = read(tile.columns, tile.spread.runs), next;
  bool rowsLeft = tile.rows.value == tile.dot.getLhs();
  for (Value row : x)
    for (Value column : y)
      next.push_back(
          multiplyAdd(b, loc, rowsLeft ? row : column, rowsLeft ? column : row, sums[next.size()]));
  return next;
}

/// The chains of a tile; `whole`: everything lies inside and is aligned.
SmallVector<Value> GroupLowering::contractChains(OpBuilder &b, const ContractTile &tile,
                                                 bool whole) {
  IndexMath m{b, loc};
  Value length = m.sub(tile.to, tile.from), pieces = m.div(length, tile.depth);
  SmallVector<Value> sums(tile.spread.count(), chainZero(b, loc, tile.dot.getType(), 1));
  auto readBoth = [&](OpBuilder &c, Value k) {
    return std::pair(readPiece(c, tile, tile.rows, k, whole),
                     readPiece(c, tile, tile.columns, k, whole));
  };
  auto keepBoth = [&](OpBuilder &c, const auto &both, Value half) {
    keepPiece(c, tile, tile.rows, both.first, half);
    keepPiece(c, tile, tile.columns, both.second, half);
    gpu::BarrierOp::create(c, loc);
  };
  auto steps = [&](OpBuilder &c, Value half, Value count, ValueRange start, bool unrolled) {
    IndexMath n{c, loc};
    Value first = n.mul(half, tile.depth * pitch());
    auto loop = scf::ForOp::create(c, loc, n(0), count, n(1), start);
    if (unrolled)
      loop->setAttr(kUnrollAttr, c.getI64IntegerAttr(tile.depth));
    OpBuilder d = OpBuilder::atBlockBegin(loop.getBody());
    scf::YieldOp::create(
        d, loc, contractStep(d, tile, first, loop.getInductionVar(), loop.getRegionIterArgs()));
    return loop.getResults();
  };
  keepBoth(b, readBoth(b, tile.from), m(0));
  auto loop = scf::ForOp::create(b, loc, m(0), pieces, m(1), sums);
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath n{c, loc};
  Value piece = loop.getInductionVar(), half = arith::AndIOp::create(c, loc, piece, n(1));
  Value next = n.add(piece, 1), k = n.add(tile.from, n.mul(next, tile.depth));
  // After the last piece it reads the first one again, into the half that nobody needs.
  if (whole)
    k = n.select(n.less(k, tile.to), k, tile.from);
  auto ahead = readBoth(c, k);
  ValueRange done = steps(c, half, n(tile.depth), loop.getRegionIterArgs(), true);
  keepBoth(c, ahead, n.sub(n(1), half));
  scf::YieldOp::create(c, loc, done);
  if (whole)
    return SmallVector<Value>(loop.getResults());
  // The rest of k, which the last piece holds.
  Value rest = m.sub(length, m.mul(pieces, tile.depth));
  Value last = arith::AndIOp::create(b, loc, pieces, m(1));
  return SmallVector<Value>(steps(b, last, rest, loop.getResults(), false));
}

/// The chains of any tile; over no elements they stay as they start, and nothing is read.
SmallVector<Value> GroupLowering::edgeChains(OpBuilder &b, const ContractTile &tile) {
  IndexMath m{b, loc};
  SmallVector<Value> zeros(tile.spread.count(), chainZero(b, loc, tile.dot.getType(), 1));
  auto some = scf::IfOp::create(b, loc, TypeRange(ValueRange(zeros)), m.less(tile.from, tile.to),
                                /*withElseRegion=*/true);
  OpBuilder yes = some.getThenBodyBuilder(), no = some.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, contractChains(yes, tile, false));
  scf::YieldOp::create(no, loc, zeros);
  return SmallVector<Value>(some.getResults());
}

/// Stores elements at a position, or keeps the chains of a block.
void GroupLowering::contractStoreAt(OpBuilder &b, const ContractTile &tile, const Position &at,
                                    Value chain) {
  if (!tile.keeps) {
    Position here = at;
    here.values[tile.dot.getResult()] = chain;
    for (kernel::StoreOp store : stores)
      emitter->store(b, store, here);
    return;
  }
  IndexMath m{b, loc};
  Value item = tile.block;
  for (unsigned number = 0; number < space.parallel; ++number)
    item = m.add(m.mul(item, emitter->extent(b, number)), at.loops[number]);
  if (at.width == 1)
    memref::StoreOp::create(b, loc, chain, extraBuffers[0], item);
  else if (at.mask)
    vector::MaskedStoreOp::create(b, loc, extraBuffers[0], item, at.mask, chain);
  else
    vector::StoreOp::create(b, loc, chain, extraBuffers[0], item);
}

/// Stores a work-item's elements; `whole`: all of them lie inside.
void GroupLowering::contractStore(OpBuilder &b, const ContractTile &tile, const Spread &spread,
                                  ValueRange sums, bool whole) {
  if (tile.blocks) {
    Value only = IndexMath{b, loc}.equal(tile.blocks, IndexMath{b, loc}(1));
    auto choice = scf::IfOp::create(b, loc, only, /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    ContractTile one = tile;
    one.blocks = {};
    contractStore(yes, one, spread, sums, whole);
    one.keeps = true;
    return contractStore(no, one, spread, sums, whole);
  }
  int row = tile.rows.loopNumber, column = tile.columns.loopNumber;
  auto vector = VectorType::get({spread.lanes}, tile.dot.getType());
  unsigned next = 0;
  for (Value down : spread.rows)
    for (Value across : spread.runs) {
      IndexMath m{b, loc};
      Position at = tile.base;
      at.loops[row] = m.add(tile.rows.first, down);
      at.loops[column] = m.add(tile.columns.first, across);
      at.vectorLoop = column;
      at.width = spread.lanes;
      SmallVector<Value> lanes(sums.slice(next, spread.lanes));
      next += spread.lanes;
      Value chain = vector::FromElementsOp::create(b, loc, vector, lanes);
      if (whole) {
        contractStoreAt(b, tile, at, chain);
        continue;
      }
      emitter->maskLanes(b, at, tile.columns.end);
      Value own = tile.rows.owns(m, m.less(at.loops[row], tile.rows.end), down);
      own = tile.columns.owns(m, own, across);
      auto inside = scf::IfOp::create(b, loc, own, /*withElseRegion=*/false);
      OpBuilder c = inside.getThenBodyBuilder();
      contractStoreAt(c, tile, at, chain);
    }
  // Of block results the fold needs one triangle.
  if (tile.symmetric && !tile.keeps)
    contractMirror(b, tile, spread, sums, whole);
}

/// The tile's mirror image, unless that is the tile itself.
void GroupLowering::contractMirror(OpBuilder &b, const ContractTile &tile, const Spread &spread,
                                   ValueRange sums, bool whole) {
  IndexMath m{b, loc};
  auto below = scf::IfOp::create(b, loc, m.less(tile.columns.first, tile.rows.first),
                                 /*withElseRegion=*/false);
  OpBuilder c = below.getThenBodyBuilder();
  unsigned next = 0;
  for (Value down : spread.rows)
    for (Value across : spread.runs)
      for (int64_t lane = 0; lane < spread.lanes; ++lane) {
        IndexMath n{c, loc};
        Position at = tile.base;
        at.loops[tile.columns.loopNumber] = n.add(tile.rows.first, down);
        at.loops[tile.rows.loopNumber] = n.add(n.add(tile.columns.first, across), lane);
        Value sum = sums[next++];
        if (whole) {
          contractStoreAt(c, tile, at, sum);
          continue;
        }
        // Tiles left of the diagonal have all their columns.
        Value inside = n.less(at.loops[tile.columns.loopNumber], tile.rows.end);
        Value own = tile.rows.owns(n, inside, down);
        auto stored = scf::IfOp::create(c, loc, own, /*withElseRegion=*/false);
        OpBuilder d = stored.getThenBodyBuilder();
        contractStoreAt(d, tile, at, sum);
      }
}

GroupLowering::Side GroupLowering::contractSide(Value value, int loopNumber, int64_t depth) {
  int kLoop = static_cast<int>(space.parallel);
  Side side{value, loopNumber, {}, {}, {}, false, 1, 0, 0, {}};
  side.alongK = space.dependsOn(value, kLoop) && space.contiguous(value, kLoop);
  if (side.alongK || space.contiguous(value, loopNumber))
    side.lanes = kQuad;
  side.parts = shape.groupTile * depth / side.lanes / shape.group;
  side.end = emitter->extent(builder, loopNumber);
  side.load = value.getDefiningOp<kernel::LoadOp>();
  return side;
}

/// Bands of rows of tiles, the last may be lower; blocks of k and batches are outermost.
void GroupLowering::placeTile(ContractTile &tile) {
  IndexMath m{builder, loc};
  int row = tile.rows.loopNumber;
  Value length = emitter->emit(builder, space.reducedItems());
  tile.blocks = blockCount(builder);
  Value down = m.ceilDiv(tile.rows.end, shape.groupTile),
        across = m.ceilDiv(tile.columns.end, tile.columnCount);
  Value count = m.mul(down, across), outer = m.div(begin, count);
  Value number = m.sub(begin, m.mul(outer, count));
  tile.base = position();
  tile.from = m(0);
  tile.to = length;
  if (tile.blocks) {
    Value batches = emitter->emit(builder, space.product(0, row));
    tile.block = m.div(outer, batches);
    outer = m.sub(outer, m.mul(tile.block, batches));
    tile.from = m.mul(tile.block, shape.splitBlock);
    tile.to = m.min(m.add(tile.from, shape.splitBlock), length);
  }
  if (row > 0)
    emitter->delinearize(builder, outer, 0, row, tile.base);
  Value band = m.div(number, m.mul(across, kBand)), top = m.mul(band, kBand);
  Value height = m.min(m.sub(down, top), kBand);
  Value inBand = m.sub(number, m.mul(top, across)), columnTile = m.div(inBand, height);
  tile.rows.first = m.mul(m.add(top, m.sub(inBand, m.mul(columnTile, height))), shape.groupTile);
  tile.columns.first = m.mul(columnTile, tile.columnCount);
}

/// Runs of kQuad rows and columns, as far apart as there are work-items between them. Where a group
/// is four warps of 32, those have squares of 8 by 4.
GroupLowering::Spread GroupLowering::contractSpread() {
  IndexMath m{builder, loc};
  int64_t side = shape.groupTile / (shape.groupTile * shape.groupTile / kEach / shape.group);
  Value line = m.div(member, side), quad = m.sub(member, m.mul(line, side));
  if (side < shape.groupTile / kEach) {
    Value warp = m.div(member, 32), lane = m.sub(member, m.mul(warp, 32));
    Value high = m.div(warp, 2), inWarp = m.div(lane, 4);
    line = m.add(m.mul(high, 8), inWarp);
    quad = m.add(m.mul(m.sub(warp, m.mul(high, 2)), 4), m.sub(lane, m.mul(inWarp, 4)));
  }
  Spread spread;
  for (int64_t i = 0; i < kEach; ++i)
    spread.rows.push_back(
        m.add(m.mul(line, kQuad), i / kQuad * (shape.groupTile * kQuad / kEach) + i % kQuad));
  for (int64_t part = 0; part < shape.groupTile / side / kQuad; ++part)
    spread.runs.push_back(m.add(m.mul(quad, kQuad), part * side * kQuad));
  return spread;
}

Value GroupLowering::insideTile(const ContractTile &tile) {
  IndexMath m{builder, loc};
  auto inside = [&](const Side &side, int64_t count) {
    return m.atLeast(side.end, m.add(side.first, count));
  };
  return m.both(inside(tile.rows, shape.groupTile), inside(tile.columns, tile.columnCount));
}

Value GroupLowering::alignedTile(const ContractTile &tile) {
  IndexMath m{builder, loc};
  Value whole = m.less(tile.from, tile.to);
  for (const Side *side : {&tile.rows, &tile.columns}) {
    if (side->lanes == 1)
      continue;
    int loopNumber = side->alongK ? static_cast<int>(space.parallel) : side->loopNumber;
    if (Value aligned = alignedSizes(builder, loopNumber, side->lanes, {}))
      whole = m.both(whole, aligned);
  }
  return whole;
}

/// `left` and `right` are the operands of the product, or what they are made of.
void GroupLowering::setSides(ContractTile &tile, Value left, Value right) {
  int column = static_cast<int>(space.parallel) - 1;
  if (space.dependsOn(left, column))
    std::swap(left, right);
  tile.rows = contractSide(left, column - 1, tile.depth);
  tile.columns = contractSide(right, column, tile.depth);
}

void GroupLowering::setMemory(ContractTile &tile, int64_t elements, Type element,
                              int64_t alignment) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  auto local = gpu::AddressSpaceAttr::get(entry.getContext(), gpu::AddressSpace::Workgroup);
  tile.memory =
      memref::AllocaOp::create(entry, loc, MemRefType::get({elements}, element, AffineMap(), local),
                               alignment ? entry.getI64IntegerAttr(alignment) : IntegerAttr());
}

/// One kernel with the tiles that `shape` says.
void GroupLowering::lowerTiles(StringRef name) {
  open(name, shape.partials);
  ContractTile tile;
  tile.dot = dotOf(kernel);
  int64_t bytes = tile.dot.getType().getIntOrFloatBitWidth() / 8;
  tile.columnCount = shape.groupTile;
  tile.depth = kContractBytes / bytes * (kContractTile / shape.groupTile);
  setSides(tile, tile.dot.getLhs(), tile.dot.getRhs());
  tile.columns.start = 2 * tile.depth * pitch();
  tile.symmetric = isSymmetricProduct(tile.dot, space);
  bool called =
      kernel->hasAttr(kTilesAttr) && copiesSides(tile.dot.getLhs(), tile.dot.getRhs(), space);
  int64_t memory = kTileBytes + (takesRun() ? kRunBytes : 0);
  if (takesRun())
    function->setAttr(kGroupMemoryAttr, builder.getI64IntegerAttr(memory));
  setMemory(tile, called ? memory / bytes : 2 * tile.columns.start, tile.dot.getType(),
            called ? kTileAlignment : 0);
  placeTile(tile);
  OpBuilder b = builder;
  if (tile.symmetric) {
    IndexMath m{builder, loc};
    auto below = scf::IfOp::create(builder, loc, m.atLeast(tile.rows.first, tile.columns.first),
                                   /*withElseRegion=*/false);
    builder = below.getThenBodyBuilder();
  }
  called ? storeCalledTile(builder, tile) : storeTile(tile);
  builder = b;
  close();
}

/// Tiles that lie inside, aligned and with whole pieces of k, and loops for all others.
void GroupLowering::storeTile(ContractTile &tile) {
  tile.spread = contractSpread();
  IndexMath m{builder, loc};
  Value rest = arith::RemUIOp::create(builder, loc, m.sub(tile.to, tile.from), m(tile.depth));
  Value whole = m.both(m.equal(rest, m(0)), m.both(insideTile(tile), alignedTile(tile)));
  auto choice = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  contractStore(yes, tile, tile.spread, contractChains(yes, tile, true), true);
  // Loops for edges have the registers for two runs a row beside what they read.
  for (size_t from = 0; from < tile.spread.runs.size(); from += kEdgeQuads) {
    ContractTile part = tile;
    ArrayRef<Value> left = ArrayRef(tile.spread.runs).drop_front(from);
    part.spread.runs = SmallVector<Value>(left.take_front(kEdgeQuads));
    if (from > 0)
      gpu::BarrierOp::create(no, loc);
    contractStore(no, part, part.spread, edgeChains(no, part), false);
  }
}

void GroupLowering::lowerContract() {
  lowerTiles(kernel.getSymName());
  if (shape.batches)
    lowerEach();
  if (shape.smallPieces) {
    KernelShape large = shape;
    shape.groupTile = kSmallTile;
    shape.group = KernelShape::kSmallGroup;
    lowerTiles((kernel.getSymName() + "_small").str());
    shape = large;
  }
  if (shape.runPieces) {
    KernelShape blocks = shape;
    shape.splitBlock = 0;
    shape.partials.clear();
    lowerTiles((kernel.getSymName() + "_run").str());
    shape = blocks;
  }
  if (shape.splitBlock)
    lowerContractFold();
}

/// A work-item adds the blocks of one element: four in order are a run, runs are added in order. As
/// many as there are registers for are on their way at once.
void GroupLowering::lowerContractFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  kernel::DotOp dot = dotOf(kernel);
  Value blocks = blockCount(builder), items = emitter->emit(builder, space.items());
  const bool isSymmetric = !kernel->hasAttr(kTensorsAttr) && !kernel->hasAttr(kVectorAttr) &&
                           isSymmetricProduct(dot, space);
  groupStrip({}, [&](OpBuilder &outside, ColumnRun &run, Position &at) {
    Value column = at.loops[space.parallel - 1], row;
    OpBuilder b = outside;
    if (isSymmetric) {
      row = at.loops[space.parallel - 2];
      auto below = scf::IfOp::create(b, loc, IndexMath{b, loc}.atLeast(row, column),
                                     /*withElseRegion=*/false);
      b = below.getThenBodyBuilder();
    }
    IndexMath m{b, loc};
    Value item = m.add(run.offset, column);
    SmallVector<Value> sums(2, chainZero(b, loc, dot.getType(), 1)); // of the run, and of all
    Value from = m(0);
    for (int64_t atOnce : {4 * kChainsPerRun, kChainsPerRun, int64_t{1}}) {
      Value to = m.mul(m.div(blocks, atOnce), atOnce);
      auto loop = scf::ForOp::create(b, loc, from, to, m(atOnce), sums);
      OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
      IndexMath n{c, loc};
      SmallVector<Value> chains, state(loop.getRegionIterArgs());
      auto number = [&](int64_t i) { return n.add(loop.getInductionVar(), i); };
      for (int64_t i = 0; i < atOnce; ++i)
        chains.push_back(
            memref::LoadOp::create(c, loc, extraBuffers[0], n.add(item, n.mul(number(i), items))));
      for (auto [i, chain] : llvm::enumerate(chains))
        state =
            addChain(c, loc, number(static_cast<int64_t>(i)), blocks, chain, state[0], state[1]);
      scf::YieldOp::create(c, loc, state);
      sums = loop.getResults();
      from = to;
    }
    Position clean = at;
    at.values[dot.getResult()] = sums[1];
    for (kernel::StoreOp store : stores)
      emitter->store(b, store, at);
    if (isSymmetric) {
      Position mirror = clean;
      std::swap(mirror.loops[space.parallel - 2], mirror.loops[space.parallel - 1]);
      mirror.values[dot.getResult()] = sums[1];
      auto apart = scf::IfOp::create(b, loc, m.less(column, row), /*withElseRegion=*/false);
      OpBuilder c = apart.getThenBodyBuilder();
      for (kernel::StoreOp store : stores)
        emitter->store(c, store, mirror);
    }
  });
  close();
}
