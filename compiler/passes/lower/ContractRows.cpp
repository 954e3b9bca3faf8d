// Matrix products on a CPU in which every element of the operand of the columns is used once:
// products with a vector. They run at the speed of memory, so the operand is read in the order in
// which it lies. The chains are those of docs/numerics.md: lanes are columns, k ascends.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Bytes of column sums that stay in the first cache, and rows of the operand added in one pass
/// over them.
static constexpr int64_t kSumBytes = 1 << 14, kRowsPerPass = 8;
/// Memory is asked for ahead: the rows of the next pass, and so many vectors of each of the rows
/// that are read side by side, of which a prefetcher follows few.
static constexpr int64_t kVectorsAhead = 16;
/// Vectors of sums that are added to side by side. Of lanes of 32 bits one takes as long to turn as
/// its sums to follow each other.
static constexpr int64_t kTilesBeside = 2;

static kernel::DotOp dotOf(kernel::FuncOp kernel) {
  kernel::DotOp dot;
  kernel.getBody().walk([&](kernel::DotOp op) { dot = op; });
  return dot;
}

/// Splits items, which are counted by outer loops and then tiles of columns, into runs of columns:
/// `body` gets a position whose outer loops are set, and the first and last column.
void KernelLowering::columnRuns(
    llvm::function_ref<void(OpBuilder &, Position &, Value, Value)> body) {
  int columnLoop = space.parallel - 1;
  IndexMath at{builder, loc};
  Value columns = emitter->extent(builder, columnLoop);
  Value tiles = at.ceilDiv(columns, shape.tileColumns);
  loop(builder, at.div(begin, tiles), at.ceilDiv(end, tiles), 1, [&](OpBuilder &b, Value run) {
    IndexMath in{b, loc};
    Position base = position();
    if (columnLoop > 0)
      emitter->delinearize(b, run, 0, columnLoop, base);
    Value start = in.mul(run, tiles);
    Value low = in.mul(in.max(in.sub(begin, start), 0), shape.tileColumns);
    Value high = in.min(in.mul(in.min(in.sub(end, start), tiles), shape.tileColumns), columns);
    body(b, base, low, high);
  });
}

/// Rows of the operand lie along the columns: a few rows at a time are added to all sums.
void KernelLowering::lowerStream() {
  kernel::DotOp dot = dotOf(kernel);
  int columnLoop = space.parallel - 1, depthLoop = space.parallel;
  Value scalarValue = dot.getLhs(), laneValue = dot.getRhs();
  if (space.dependsOn(scalarValue, columnLoop))
    std::swap(scalarValue, laneValue);
  Type element = dot.getType(), stored = memoryType(element);
  int64_t bytes = stored.getIntOrFloatBitWidth() / 8, block = kSumBytes / bytes;
  open(kernel.getSymName(), {}, 3 * kSumBytes);
  Value sums = scratchView(stored, 0, block), runs = scratchView(stored, kSumBytes, block),
        totals = scratchView(stored, 2 * kSumBytes, block);
  auto type = VectorType::get({width}, stored);
  auto load = [&](OpBuilder &b, Value buffer, Value at) {
    return emitter->fromMemory(b, vector::LoadOp::create(b, loc, type, buffer, at), element);
  };
  auto store = [&](OpBuilder &b, Value value, Value buffer, Value at) {
    vector::StoreOp::create(b, loc, emitter->toMemory(b, value), buffer, at);
  };
  Value depth = emitter->emit(builder, space.reducedItems());
  Value chains = IndexMath{builder, loc}.max(IndexMath{builder, loc}.ceilDiv(depth, kChain), 1);
  auto addRows = [&](OpBuilder &b, const Position &base, Value k, int64_t count, Value low,
                     Value high, Value first) {
    SmallVector<Value> scalars;
    for (int64_t u = 0; u < count; ++u) {
      Position at = base;
      at.loops[depthLoop] = IndexMath{b, loc}.add(k, u);
      scalars.push_back(BodyEmitter::splat(b, loc, emitter->value(b, scalarValue, at), width));
    }
    strips(b, base, columnLoop, width, low, high, [&](OpBuilder &c, Position &at) {
      Value slot = IndexMath{c, loc}.sub(at.loops[columnLoop], first);
      Value sum = load(c, sums, slot);
      for (int64_t u = 0; u < count; ++u) {
        Position here = at;
        here.loops[depthLoop] = IndexMath{c, loc}.add(k, u);
        Value x = BodyEmitter::splat(c, loc, emitter->value(c, laneValue, here), width);
        prefetch(c, here, depthLoop, kRowsPerPass, kSecondCache);
        sum = multiplyAdd(c, loc, scalars[u], x, sum);
      }
      store(c, sum, sums, slot);
    });
  };
  auto chain = [&](OpBuilder &b, const Position &base, Value number, Value low, Value high) {
    IndexMath at{b, loc};
    Value k0 = at.mul(number, kChain), k1 = at.min(at.add(k0, kChain), depth);
    loop(b, at(0), at.sub(high, low), width,
         [&](OpBuilder &c, Value i) { store(c, chainZero(c, loc, element, width), sums, i); });
    Value length = at.sub(k1, k0);
    Value whole = at.add(k0, at.mul(at.div(length, kRowsPerPass), kRowsPerPass));
    loop(b, k0, whole, kRowsPerPass,
         [&](OpBuilder &c, Value k) { addRows(c, base, k, kRowsPerPass, low, high, low); });
    loop(b, whole, k1, 1, [&](OpBuilder &c, Value k) { addRows(c, base, k, 1, low, high, low); });
    auto many = scf::IfOp::create(b, loc, at.less(at(1), chains), /*withElseRegion=*/false);
    OpBuilder c = many.getThenBodyBuilder();
    loop(c, constant(c, 0), IndexMath{c, loc}.sub(high, low), width, [&](OpBuilder &d, Value i) {
      SmallVector<Value> joined =
          addChain(d, loc, number, chains, load(d, sums, i), load(d, runs, i), load(d, totals, i));
      store(d, joined[0], runs, i);
      store(d, joined[1], totals, i);
    });
  };
  columnRuns([&](OpBuilder &b, Position &base, Value from, Value to) {
    loop(b, from, to, block, [&](OpBuilder &c, Value low) {
      IndexMath at{c, loc};
      Value high = at.min(at.add(low, block), to);
      loop(c, at(0), chains, 1,
           [&](OpBuilder &d, Value number) { chain(d, base, number, low, high); });
      Value done = at.select(at.less(at(1), chains), totals, sums);
      strips(c, base, columnLoop, width, low, high, [&](OpBuilder &d, Position &here) {
        Value slot = IndexMath{d, loc}.sub(here.loops[columnLoop], low);
        here.values[dot.getResult()] = load(d, done, slot);
        for (kernel::StoreOp store : stores)
          emitter->store(d, store, here);
      });
    });
  });
  close();
}

/// The operand `value` of `width` columns at k, k + 1, ...: one vector of columns for each k. Where
/// the operand lies along k, vectors of k are read and turned in registers; columns beyond the last
/// one repeat it.
SmallVector<Value> KernelLowering::turnedLanes(OpBuilder &b, Value value, const Position &at,
                                               Value k, int64_t count) {
  IndexMath in{b, loc};
  int columnLoop = space.parallel - 1, depthLoop = space.parallel;
  SmallVector<Value> result;
  bool columns = space.dependsOn(value, columnLoop);
  if (!columns || space.contiguous(value, columnLoop) || !space.contiguous(value, depthLoop) ||
      count != at.width) {
    for (int64_t u = 0; u < count; ++u) {
      Position here = at;
      here.loops[depthLoop] = in.add(k, u);
      result.push_back(BodyEmitter::splat(b, loc, emitter->value(b, value, here), at.width));
    }
    return result;
  }
  Value last = in.sub(emitter->extent(b, columnLoop), in(1));
  for (int64_t i = 0; i < count; ++i) {
    Position here = position();
    here.loops = at.loops;
    Value column = in.add(at.loops[columnLoop], i);
    here.loops[columnLoop] = at.limit ? in.min(column, last) : column;
    here.loops[depthLoop] = k;
    here.vectorLoop = depthLoop;
    here.width = count;
    Value line = BodyEmitter::splat(b, loc, emitter->value(b, value, here), count);
    prefetch(b, here, depthLoop, kVectorsAhead * count, kFirstCache);
    result.push_back(emitter->toMemory(b, line));
  }
  transposeVectors(b, loc, result);
  for (Value &line : result)
    line = emitter->fromMemory(b, line, graph::elementType(value.getType()));
  return result;
}

/// Columns at a time through all of k, in vectors that are added to side by side: each waits for
/// its own last sum.
void KernelLowering::lowerLanes() {
  kernel::DotOp dot = dotOf(kernel);
  int columnLoop = space.parallel - 1;
  int64_t lanes = shape.tileColumns;
  open(kernel.getSymName(), {});
  Value depth = emitter->emit(builder, space.reducedItems());
  Value chains = IndexMath{builder, loc}.ceilDiv(depth, kChain);
  Value columns = emitter->extent(builder, columnLoop);
  auto chain = [&](OpBuilder &b, ArrayRef<Position> tiles, Value k0, Value k1) {
    IndexMath in{b, loc};
    SmallVector<Value> sums(tiles.size(), chainZero(b, loc, dot.getType(), lanes));
    Value whole = in.add(k0, in.mul(in.div(in.sub(k1, k0), lanes), lanes));
    for (auto [from, to, count] :
         {std::tuple(k0, whole, lanes), std::tuple(whole, k1, int64_t(1))}) {
      auto loop = scf::ForOp::create(b, loc, from, to, in(count), sums);
      OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
      SmallVector<Value> next;
      for (auto [at, before] : llvm::zip_equal(tiles, loop.getRegionIterArgs())) {
        SmallVector<Value> x = turnedLanes(c, dot.getLhs(), at, loop.getInductionVar(), count);
        SmallVector<Value> y = turnedLanes(c, dot.getRhs(), at, loop.getInductionVar(), count);
        Value sum = before;
        for (int64_t u = 0; u < count; ++u)
          sum = multiplyAdd(c, loc, x[u], y[u], sum);
        next.push_back(sum);
      }
      scf::YieldOp::create(c, loc, next);
      sums.assign(loop.result_begin(), loop.result_end());
    }
    return sums;
  };
  auto tilesAt = [&](OpBuilder &b, const Position &base, Value column, int64_t count, bool masked) {
    SmallVector<Position> tiles;
    for (int64_t i = 0; i < count; ++i) {
      Position &here = tiles.emplace_back(base);
      here.loops[columnLoop] = IndexMath{b, loc}.add(column, i * lanes);
      here.vectorLoop = columnLoop;
      here.width = lanes;
      if (masked)
        emitter->maskLanes(b, here, columns);
    }
    SmallVector<Value> initial(2 * count, chainZero(b, loc, dot.getType(), lanes));
    IndexMath at{b, loc};
    auto outer = scf::ForOp::create(b, loc, at(0), chains, at(1), initial);
    OpBuilder c = OpBuilder::atBlockBegin(outer.getBody());
    IndexMath in{c, loc};
    Value number = outer.getInductionVar(), k0 = in.mul(number, kChain);
    SmallVector<Value> sums = chain(c, tiles, k0, in.min(in.add(k0, kChain), depth)), joined;
    for (int64_t i = 0; i < count; ++i)
      joined.append(addChain(c, loc, number, chains, sums[i], outer.getRegionIterArgs()[2 * i],
                             outer.getRegionIterArgs()[2 * i + 1]));
    scf::YieldOp::create(c, loc, joined);
    for (auto [i, here] : llvm::enumerate(tiles)) {
      here.values[dot.getResult()] = outer.getResult(2 * i + 1);
      for (kernel::StoreOp store : stores)
        emitter->store(b, store, here);
    }
  };
  columnRuns([&](OpBuilder &b, Position &base, Value from, Value to) {
    IndexMath at{b, loc};
    bool isWide = dot.getType().getIntOrFloatBitWidth() == 64;
    int64_t tiles = isWide ? kTilesBeside : 1;
    Value rest = at.add(from, at.mul(at.div(at.sub(to, from), tiles * lanes), tiles * lanes));
    loop(b, from, rest, tiles * lanes,
         [&](OpBuilder &c, Value column) { tilesAt(c, base, column, tiles, /*masked=*/false); });
    loop(b, rest, to, lanes,
         [&](OpBuilder &c, Value column) { tilesAt(c, base, column, 1, /*masked=*/true); });
  });
  close();
}
