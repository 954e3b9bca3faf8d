// Matrix products for groups of work-items: a group has a tile of the result, a work-item 8 by 8
// elements of it in registers, and pieces of k of both operands go through local memory, the next
// piece being read while the present one is multiplied. An element's products are one fma chain in
// increasing k, a block of docs/numerics.md; blocks are items of their own, added by the fold.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

constexpr int64_t kTile = kContractTile, kLanes = 4, kEach = 8;
/// Work-items along a side of the tile; each has two runs of four elements, half a tile apart.
constexpr int64_t kSide = kTile / kEach;
/// Tiles of rows that go through all tiles of columns together, for the second-level cache.
constexpr int64_t kBand = 16;
/// Elements between k's of the local copy: turned writes of neighbours fall into different banks.
constexpr int64_t kPitch = kTile + kLanes;

} // namespace

/// One side of the product: what is multiplied, and how its pieces are read.
struct KernelLowering::Side {
  Value value;        ///< of the kernel
  int loopNumber;     ///< the parallel loop that it depends on
  Value first;        ///< of the tile
  Value end;          ///< of the loop
  bool alongK;        ///< neighbours in memory follow k, else the loop
  int64_t lanes;      ///< elements of one read
  Value memory;       ///< two pieces
  unsigned parts = 0; ///< reads of a work-item
};

struct KernelLowering::ContractTile {
  mutable kernel::DotOp dot; ///< ODS accessors are not const
  Position base;             ///< outer loops set
  Side rows, columns;
  int64_t depth;     ///< of a piece of k
  Value from, to;    ///< k
  Value own, across; ///< first row and column of this work-item in the tile
};

/// The place of read number `part` of a side's piece that starts at k.
static std::pair<Value, Value> placeInPiece(OpBuilder &b, Location loc, bool alongK, int64_t lanes,
                                            int64_t depth, Value member, int64_t part,
                                            int64_t group) {
  IndexMath m{b, loc};
  int64_t inner = (alongK ? depth : kTile) / lanes;
  Value number = m.add(member, part * group);
  Value slow = m.div(number, inner);
  Value fast = m.mul(m.sub(number, m.mul(slow, inner)), lanes);
  return alongK ? std::pair(slow, fast) : std::pair(fast, slow);
}

/// Reads the piece at k of one side; what lies outside is 0 or not used.
SmallVector<Value> KernelLowering::readPiece(OpBuilder &b, const ContractTile &tile,
                                             const Side &side, Value k, bool whole) {
  IndexMath m{b, loc};
  int kLoop = static_cast<int>(space.parallel);
  SmallVector<Value> values;
  for (unsigned part = 0; part < side.parts; ++part) {
    auto [element, depth] =
        placeInPiece(b, loc, side.alongK, side.lanes, tile.depth, member, part, shape.group);
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
void KernelLowering::keepPiece(OpBuilder &b, const ContractTile &tile, const Side &side,
                               ArrayRef<Value> values, Value half) {
  IndexMath m{b, loc};
  Value start = m.mul(half, tile.depth * kPitch);
  for (auto [part, value] : llvm::enumerate(values)) {
    auto [element, depth] =
        placeInPiece(b, loc, side.alongK, side.lanes, tile.depth, member, part, shape.group);
    Value at = m.add(start, m.add(m.mul(depth, kPitch), element));
    if (side.lanes == 1 || !side.alongK) {
      if (side.lanes == 1)
        memref::StoreOp::create(b, loc, value, side.memory, at);
      else
        vector::StoreOp::create(b, loc, value, side.memory, at);
      continue;
    }
    for (int64_t lane = 0; lane < side.lanes; ++lane)
      memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, value, lane), side.memory,
                              m.add(at, lane * kPitch));
  }
}

/// One step of all chains of a work-item.
SmallVector<Value> KernelLowering::contractStep(OpBuilder &b, const ContractTile &tile, Value start,
                                                Value k, ValueRange sums) {
  IndexMath m{b, loc};
  Value line = m.add(start, m.mul(k, kPitch));
  auto vector = VectorType::get({kLanes}, tile.dot.getType());
  auto read = [&](const Side &side, Value own) {
    SmallVector<Value> values;
    for (int64_t half = 0; half < kEach / kLanes; ++half) {
      Value at = m.add(line, m.add(own, half * kTile / 2));
      Value four = vector::LoadOp::create(b, loc, vector, side.memory, at);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        values.push_back(vector::ExtractOp::create(b, loc, four, lane));
    }
    return values;
  };
  SmallVector<Value> x = read(tile.rows, tile.own), y = read(tile.columns, tile.across), next;
  bool rowsLeft = tile.rows.value == tile.dot.getLhs();
  for (int64_t i = 0; i < kEach; ++i)
    for (int64_t j = 0; j < kEach; ++j)
      next.push_back(
          multiplyAdd(b, loc, rowsLeft ? x[i] : y[j], rowsLeft ? y[j] : x[i], sums[i * kEach + j]));
  return next;
}

/// The chains of a tile; `whole`: everything lies inside and is aligned.
SmallVector<Value> KernelLowering::contractChains(OpBuilder &b, const ContractTile &tile,
                                                  bool whole) {
  IndexMath m{b, loc};
  Value length = m.sub(tile.to, tile.from), pieces = m.div(length, tile.depth);
  SmallVector<Value> sums(kEach * kEach, chainZero(b, loc, tile.dot.getType(), 1));
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
    Value first = n.mul(half, tile.depth * kPitch);
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
SmallVector<Value> KernelLowering::edgeChains(OpBuilder &b, const ContractTile &tile) {
  IndexMath m{b, loc};
  SmallVector<Value> zeros(kEach * kEach, chainZero(b, loc, tile.dot.getType(), 1));
  auto some = scf::IfOp::create(b, loc, TypeRange(ValueRange(zeros)), m.less(tile.from, tile.to),
                                /*withElseRegion=*/true);
  OpBuilder yes = some.getThenBodyBuilder(), no = some.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, contractChains(yes, tile, false));
  scf::YieldOp::create(no, loc, zeros);
  return SmallVector<Value>(some.getResults());
}

/// Stores a work-item's elements, or keeps the chains of a block where there are several.
void KernelLowering::contractStore(OpBuilder &b, const ContractTile &tile, ArrayRef<Value> sums,
                                   Value block, Value blocks) {
  int row = tile.rows.loopNumber, column = tile.columns.loopNumber;
  auto vector = VectorType::get({kLanes}, tile.dot.getType());
  for (int64_t i = 0; i < kEach; ++i)
    for (int64_t part = 0; part < kEach / kLanes; ++part) {
      IndexMath m{b, loc};
      Position at = tile.base;
      at.loops[row] =
          m.add(tile.rows.first, m.add(tile.own, i / kLanes * (kTile / 2) + i % kLanes));
      at.loops[column] = m.add(tile.columns.first, m.add(tile.across, part * (kTile / 2)));
      at.vectorLoop = column;
      at.width = kLanes;
      emitter->maskLanes(b, at, tile.columns.end);
      SmallVector<Value> four(ArrayRef(sums).slice(i * kEach + part * kLanes, kLanes));
      Value chain = vector::FromElementsOp::create(b, loc, vector, four);
      auto inside = scf::IfOp::create(b, loc, m.less(at.loops[row], tile.rows.end),
                                      /*withElseRegion=*/false);
      OpBuilder c = inside.getThenBodyBuilder();
      auto whole = [&](OpBuilder &d) {
        Position here = at;
        here.values[tile.dot.getResult()] = chain;
        for (kernel::StoreOp store : stores)
          emitter->store(d, store, here);
      };
      if (!blocks) {
        whole(c);
        continue;
      }
      Value only = IndexMath{c, loc}.equal(blocks, IndexMath{c, loc}(1));
      auto choice = scf::IfOp::create(c, loc, only, /*withElseRegion=*/true);
      OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
      whole(yes);
      IndexMath n{no, loc};
      Value item = block;
      for (unsigned number = 0; number < space.parallel; ++number)
        item = n.add(n.mul(item, emitter->extent(no, number)), at.loops[number]);
      vector::MaskedStoreOp::create(no, loc, extraBuffers[0], item, at.mask, chain);
    }
}

KernelLowering::Side KernelLowering::contractSide(Value value, int loopNumber, int64_t depth) {
  int kLoop = static_cast<int>(space.parallel);
  Side side{value, loopNumber, {}, {}, false, 1, {}, 0};
  side.alongK = space.dependsOn(value, kLoop) && space.contiguous(value, kLoop);
  if (side.alongK || space.contiguous(value, loopNumber))
    side.lanes = kLanes;
  side.parts = kTile * depth / side.lanes / shape.group;
  side.end = emitter->extent(builder, loopNumber);
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  auto local = gpu::AddressSpaceAttr::get(entry.getContext(), gpu::AddressSpace::Workgroup);
  side.memory = memref::AllocaOp::create(
      entry, loc, MemRefType::get({2 * depth * kPitch}, value.getType(), AffineMap(), local));
  return side;
}

void KernelLowering::lowerGroupContract() {
  open(kernel.getSymName(), shape.partials);
  ContractTile tile;
  kernel.getBody().walk([&](kernel::DotOp op) { tile.dot = op; });
  int column = static_cast<int>(space.parallel) - 1, row = column - 1, kLoop = column + 1;
  tile.depth = kContractBytes / (tile.dot.getType().getIntOrFloatBitWidth() / 8);
  bool leftColumns = space.dependsOn(tile.dot.getLhs(), column);
  tile.rows = contractSide(leftColumns ? tile.dot.getRhs() : tile.dot.getLhs(), row, tile.depth);
  tile.columns =
      contractSide(leftColumns ? tile.dot.getLhs() : tile.dot.getRhs(), column, tile.depth);
  IndexMath m{builder, loc};
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  Value down = m.ceilDiv(tile.rows.end, kTile), across = m.ceilDiv(tile.columns.end, kTile);
  Value count = m.mul(down, across), outer = m.div(begin, count);
  Value number = m.sub(begin, m.mul(outer, count)), block = m(0);
  tile.base = position();
  if (blocks) {
    Value batches = emitter->emit(builder, space.product(0, row));
    block = m.div(outer, batches);
    outer = m.sub(outer, m.mul(block, batches));
  }
  if (row > 0)
    emitter->delinearize(builder, outer, 0, row, tile.base);
  // Bands of rows of tiles; the last may be lower.
  Value band = m.div(number, m.mul(across, kBand)), top = m.mul(band, kBand);
  Value height = m.min(m.sub(down, top), kBand);
  Value inBand = m.sub(number, m.mul(top, across)), columnTile = m.div(inBand, height);
  tile.rows.first = m.mul(m.add(top, m.sub(inBand, m.mul(columnTile, height))), kTile);
  tile.columns.first = m.mul(columnTile, kTile);
  Value line = m.div(member, kSide);
  tile.own = m.mul(line, kLanes);
  tile.across = m.mul(m.sub(member, m.mul(line, kSide)), kLanes);
  tile.from = m(0);
  tile.to = length;
  if (blocks) {
    tile.from = m.mul(block, kChain);
    tile.to = m.min(m.add(tile.from, kChain), length);
  }
  Value depthRest = arith::RemUIOp::create(builder, loc, m.sub(tile.to, tile.from), m(tile.depth));
  Value whole = m.both(m.equal(depthRest, m(0)), m.less(tile.from, tile.to));
  for (Side *side : {&tile.rows, &tile.columns}) {
    whole = m.both(whole, m.atLeast(side->end, m.add(side->first, kTile)));
    if (side->lanes == 1)
      continue;
    if (Value aligned =
            alignedSizes(builder, side->alongK ? kLoop : side->loopNumber, side->lanes, {}))
      whole = m.both(whole, aligned);
  }
  SmallVector<Type> types(kEach * kEach, tile.dot.getType());
  auto choice = scf::IfOp::create(builder, loc, types, whole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, contractChains(yes, tile, true));
  scf::YieldOp::create(no, loc, edgeChains(no, tile));
  contractStore(builder, tile, SmallVector<Value>(choice.getResults()), block, blocks);
  close();
  if (shape.splitBlock)
    lowerGroupContractFold();
}

/// A work-item adds the blocks of one element: four in order are a run, runs are added in order.
void KernelLowering::lowerGroupContractFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  kernel::DotOp dot;
  kernel.getBody().walk([&](kernel::DotOp op) { dot = op; });
  Value blocks = blockCount(builder), items = emitter->emit(builder, space.items());
  groupStrip({}, [&](OpBuilder &b, ColumnRun &run, Position &at) {
    IndexMath m{b, loc};
    Value item = m.add(run.offset, at.loops[space.parallel - 1]);
    Value zero = chainZero(b, loc, dot.getType(), 1);
    auto loop = scf::ForOp::create(b, loc, m(0), blocks, m(1), ValueRange{zero, zero});
    loop->setAttr(kUnrollAttr, b.getI64IntegerAttr(kChainsPerRun));
    OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
    IndexMath n{c, loc};
    Value number = loop.getInductionVar();
    Value chain =
        memref::LoadOp::create(c, loc, extraBuffers[0], n.add(item, n.mul(number, items)));
    scf::YieldOp::create(c, loc,
                         addChain(c, loc, number, blocks, chain,
                                  loop.getRegionIterArgs().take_front(1),
                                  loop.getRegionIterArgs().drop_front(1)));
    at.values[dot.getResult()] = loop.getResult(1);
    for (kernel::StoreOp store : stores)
      emitter->store(b, store, at);
  });
  close();
}
