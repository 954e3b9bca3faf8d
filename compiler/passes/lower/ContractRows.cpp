// Matrix products on a CPU in which every element of the operand of the columns is used once,
// products with a vector, where that operand lies along the columns. They run at the speed of
// memory, so it is read in the order in which it lies. The chains are those of docs/numerics.md:
// lanes are columns, k ascends.
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

/// Columns [from, to) of one vector. Their sums stay in a register, and the chains of a run are
/// added to side by side, because each waits for its own last sum: as long as all have rows, then
/// one after the other.
void KernelLowering::narrowStream(OpBuilder &b, const Position &base, Value from, Value to) {
  kernel::DotOp dot = dotOf(kernel);
  int columnLoop = space.parallel - 1, depthLoop = space.parallel;
  Value scalarValue, laneValue;
  std::tie(scalarValue, laneValue) = sidesOf(dot, space);
  Position columns = base;
  columns.loops[columnLoop] = from;
  columns.vectorLoop = columnLoop;
  columns.width = width;
  emitter->maskLanes(b, columns, to);
  Value depth = emitter->emit(b, space.reducedItems());
  Value zero = chainZero(b, loc, dot.getType(), width);
  constexpr int64_t kRun = kChain * kChainsPerRun;
  IndexMath at{b, loc};
  auto runs = scf::ForOp::create(b, loc, at(0), depth, at(kRun), zero);
  OpBuilder c = OpBuilder::atBlockBegin(runs.getBody());
  IndexMath in{c, loc};
  Value k0 = runs.getInductionVar(), rows = in.sub(depth, k0);
  auto add = [&](OpBuilder &d, Value from, Value to, ArrayRef<int64_t> numbers, ValueRange sums) {
    auto loop = scf::ForOp::create(d, loc, from, to, IndexMath{d, loc}(1), sums);
    OpBuilder e = OpBuilder::atBlockBegin(loop.getBody());
    SmallVector<Value> next;
    for (auto [number, sum] : llvm::zip_equal(numbers, loop.getRegionIterArgs())) {
      IndexMath m{e, loc};
      Position one = base, here = columns;
      one.loops[depthLoop] = here.loops[depthLoop] =
          m.add(m.add(k0, loop.getInductionVar()), number * kChain);
      Value x = BodyEmitter::splat(e, loc, emitter->value(e, scalarValue, one), width);
      Value y = BodyEmitter::splat(e, loc, emitter->value(e, laneValue, here), width);
      next.push_back(multiplyAdd(e, loc, x, y, sum));
    }
    scf::YieldOp::create(e, loc, next);
    return SmallVector<Value>(loop.getResults());
  };
  auto rowsOf = [&](int64_t number) {
    return in.min(in.max(in.sub(rows, in(number * kChain)), 0), kChain);
  };
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, kChainsPerRun));
  Value together = rowsOf(numbers.back());
  SmallVector<Value> sums =
      add(c, in(0), together, numbers, SmallVector<Value>(kChainsPerRun, zero));
  Value run;
  for (int64_t number : numbers) {
    Value chain = add(c, together, rowsOf(number), number, sums[number]).front();
    run = run ? arith::SelectOp::create(c, loc, in.less(in(number * kChain), rows),
                                        chainSum(c, loc, run, chain), run)
                    .getResult()
              : chain;
  }
  Value isFirst = in.equal(k0, in(0));
  Value total = chainSum(c, loc, runs.getRegionIterArgs()[0], run);
  scf::YieldOp::create(c, loc, arith::SelectOp::create(c, loc, isFirst, run, total).getResult());
  columns.values[dot.getResult()] = runs.getResult(0);
  for (kernel::StoreOp store : stores)
    emitter->store(b, store, columns);
}

namespace {
/// Vectors of sums in scratch memory.
struct SumVectors {
  BodyEmitter &emitter;
  Type element;
  int64_t width;

  Value load(OpBuilder &b, Value buffer, Value at) const {
    auto type = VectorType::get({width}, memoryType(element));
    return emitter.fromMemory(b, vector::LoadOp::create(b, emitter.loc, type, buffer, at), element);
  }
  void store(OpBuilder &b, Value value, Value buffer, Value at) const {
    vector::StoreOp::create(b, emitter.loc, emitter.toMemory(b, value), buffer, at);
  }
};
} // namespace

/// Rows of the operand lie along the columns: a few rows at a time are added to all sums.
void KernelLowering::lowerStream() {
  kernel::DotOp dot = dotOf(kernel);
  int columnLoop = space.parallel - 1, depthLoop = space.parallel;
  Value scalarValue, laneValue;
  std::tie(scalarValue, laneValue) = sidesOf(dot, space);
  Type element = dot.getType(), stored = memoryType(element);
  int64_t bytes = stored.getIntOrFloatBitWidth() / 8, block = kSumBytes / bytes;
  open(kernel.getSymName(), {}, 3 * kSumBytes);
  Value sums = scratchView(stored, 0, block), runs = scratchView(stored, kSumBytes, block),
        totals = scratchView(stored, 2 * kSumBytes, block);
  SumVectors vectors{*emitter, element, width};
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
      Value sum = vectors.load(c, sums, slot);
      for (int64_t u = 0; u < count; ++u) {
        Position here = at;
        here.loops[depthLoop] = IndexMath{c, loc}.add(k, u);
        Value x = BodyEmitter::splat(c, loc, emitter->value(c, laneValue, here), width);
        prefetch(c, here, depthLoop, kRowsPerPass, kSecondCache);
        sum = multiplyAdd(c, loc, scalars[u], x, sum);
      }
      vectors.store(c, sum, sums, slot);
    });
  };
  auto chain = [&](OpBuilder &b, const Position &base, Value number, Value low, Value high) {
    IndexMath at{b, loc};
    Value k0 = at.mul(number, kChain), k1 = at.min(at.add(k0, kChain), depth);
    loop(b, at(0), at.sub(high, low), width, [&](OpBuilder &c, Value i) {
      vectors.store(c, chainZero(c, loc, element, width), sums, i);
    });
    Value length = at.sub(k1, k0);
    Value whole = at.add(k0, at.mul(at.div(length, kRowsPerPass), kRowsPerPass));
    loop(b, k0, whole, kRowsPerPass,
         [&](OpBuilder &c, Value k) { addRows(c, base, k, kRowsPerPass, low, high, low); });
    loop(b, whole, k1, 1, [&](OpBuilder &c, Value k) { addRows(c, base, k, 1, low, high, low); });
    auto many = scf::IfOp::create(b, loc, at.less(at(1), chains), /*withElseRegion=*/false);
    OpBuilder c = many.getThenBodyBuilder();
    loop(c, constant(c, 0), IndexMath{c, loc}.sub(high, low), width, [&](OpBuilder &d, Value i) {
      SmallVector<Value> joined = addChain(d, loc, number, chains, vectors.load(d, sums, i),
                                           vectors.load(d, runs, i), vectors.load(d, totals, i));
      vectors.store(d, joined[0], runs, i);
      vectors.store(d, joined[1], totals, i);
    });
  };
  auto wide = [&](OpBuilder &b, const Position &base, Value from, Value to) {
    loop(b, from, to, block, [&](OpBuilder &c, Value low) {
      IndexMath at{c, loc};
      Value high = at.min(at.add(low, block), to);
      loop(c, at(0), chains, 1,
           [&](OpBuilder &d, Value number) { chain(d, base, number, low, high); });
      Value done = at.select(at.less(at(1), chains), totals, sums);
      strips(c, base, columnLoop, width, low, high, [&](OpBuilder &d, Position &here) {
        Value slot = IndexMath{d, loc}.sub(here.loops[columnLoop], low);
        here.values[dot.getResult()] = vectors.load(d, done, slot);
        for (kernel::StoreOp store : stores)
          emitter->store(d, store, here);
      });
    });
  };
  columnRuns([&](OpBuilder &b, Position &base, Value from, Value to) {
    IndexMath at{b, loc};
    auto choice = scf::IfOp::create(b, loc, at.atLeast(at(width), at.sub(to, from)),
                                    /*withElseRegion=*/true);
    OpBuilder few = choice.getThenBodyBuilder(), many = choice.getElseBodyBuilder();
    narrowStream(few, base, from, to);
    wide(many, base, from, to);
  });
  close();
}
