// Matrix products on a CPU in which every element of the operand of the columns is used once,
// products with a vector, where that operand lies along k: a column of the product is a row in
// memory. Lanes are columns, so what is read along k is turned in registers.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Lines beyond the columns after those at work that are asked for: of short rows those come soon.
static constexpr int64_t kLinesAhead = 256;
/// Columns that are summed side by side, in vectors each of which waits for its own last sum. Of
/// lanes of 32 bits one vector takes as long to turn as its sums to follow each other.
static constexpr int64_t kColumnsBeside = 16;

struct KernelLowering::LaneStrips {
  KernelLowering &l;
  Location loc;
  kernel::DotOp dot;
  int columnLoop, depthLoop;
  int64_t lanes, count; ///< of a strip; strips side by side
  Value columns, depth, chains, totals;

  explicit LaneStrips(KernelLowering &l);
  int64_t totalSlots() const { return 2 * count * lanes; } ///< a half may be skipped
  int64_t scratchBytes() {
    return totalSlots() * memoryType(dot.getType()).getIntOrFloatBitWidth() / 8;
  }
  void prepare(OpBuilder &b);
  void run(OpBuilder &b, const Position &base, Value column, Value end);

private:
  struct Strip {
    Position at;
    Value first;    ///< column of the first strip beside
    int64_t before; ///< columns between that and this strip's
  };
  SmallVector<Value> whole(OpBuilder &b, ArrayRef<Strip> strips, Value from, Value to,
                           ValueRange sums);
  SmallVector<Value> rest(OpBuilder &b, ArrayRef<Strip> strips, Value from, Value to,
                          ValueRange sums);
  SmallVector<Value> operand(OpBuilder &b, Value value, const Strip &strip, Value k, Value end);
  SmallVector<Value> turned(OpBuilder &b, Value value, const Strip &strip, Value k, Value end);
  void request(OpBuilder &b, Position strip, Value k);
};

KernelLowering::LaneStrips::LaneStrips(KernelLowering &l)
    : l(l), loc(l.loc), dot(dotOf(l.kernel)), columnLoop(l.space.parallel - 1),
      depthLoop(l.space.parallel), lanes(l.shape.tileColumns),
      count(std::max<int64_t>(1, kColumnsBeside / lanes)) {}

void KernelLowering::LaneStrips::prepare(OpBuilder &b) {
  depth = l.emitter->emit(b, l.space.reducedItems());
  chains = IndexMath{b, loc}.ceilDiv(depth, kChain);
  columns = l.emitter->extent(b, columnLoop);
  totals = l.scratchView(memoryType(dot.getType()), 0, totalSlots());
}

/// Asks for a part of what the next columns read, where their rows follow in memory. Their first
/// strip needs all of it at once, row by row, which no prefetcher foresees.
void KernelLowering::LaneStrips::request(OpBuilder &b, Position strip, Value k) {
  IndexMath in{b, loc};
  strip.loops[columnLoop] = in.add(strip.loops[columnLoop], kColumnsBeside);
  strip.loops[depthLoop] = in(0);
  l.kernel.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = l.space.accesses.at(load);
    if (access.part || !access.strides[depthLoop].isConstant(1) ||
        !(access.strides[columnLoop] == l.space.reducedItems()))
      return;
    Value memory = l.emitter->buffer(load);
    int64_t line = kLineBytes * 8 / cast<MemRefType>(memory.getType()).getElementTypeBitWidth();
    Value first = in.add(l.emitter->index(b, access, strip), in.mul(k, lanes));
    for (int64_t i = 0; i < lanes * lanes; i += line)
      memref::PrefetchOp::create(b, loc, memory, in.add(first, kLinesAhead * line + i),
                                 /*isWrite=*/false, kSecondCache, /*isDataCache=*/true);
  });
}

/// The operand `value` of the columns at k, k + 1, ..., a vector of columns for each lane. Columns
/// beyond the last one repeat it. With `end`, what lies there and beyond is not read.
SmallVector<Value> KernelLowering::LaneStrips::turned(OpBuilder &b, Value value, const Strip &strip,
                                                      Value k, Value end) {
  IndexMath in{b, loc};
  Value last = in.sub(columns, in(1));
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < lanes; ++i) {
    Position row = l.position();
    row.loops = strip.at.loops;
    row.loops[columnLoop] = strip.first;
    row.further = in.min(in(strip.before + i), last); // the same for all strips of a product
    row.furtherLoop = columnLoop;
    row.loops[depthLoop] = k;
    row.vectorLoop = depthLoop;
    row.width = lanes;
    if (end)
      l.emitter->maskLanes(b, row, end);
    Value elements = BodyEmitter::splat(b, loc, l.emitter->value(b, value, row), lanes);
    vectors.push_back(l.emitter->toMemory(b, elements));
  }
  transposeVectors(b, loc, vectors);
  for (Value &vector : vectors)
    vector = l.emitter->fromMemory(b, vector, graph::elementType(value.getType()));
  return vectors;
}

/// An operand at k, k + 1, ..., for each lane the vector of columns or what all of them share.
SmallVector<Value> KernelLowering::LaneStrips::operand(OpBuilder &b, Value value,
                                                       const Strip &strip, Value k, Value end) {
  IndexMath in{b, loc};
  if (l.space.dependsOn(value, columnLoop) && !l.space.contiguous(value, columnLoop) &&
      l.space.contiguous(value, depthLoop))
    return turned(b, value, strip, k, end);
  SmallVector<Value> result;
  for (int64_t u = 0; u < lanes; ++u) {
    Position here = strip.at;
    Value place = in.add(k, u);
    here.loops[depthLoop] = end && u > 0 ? in.min(place, in.sub(end, in(1))) : place;
    result.push_back(BodyEmitter::splat(b, loc, l.emitter->value(b, value, here), lanes));
  }
  return result;
}

/// Adds [from, to), a multiple of the lanes.
SmallVector<Value> KernelLowering::LaneStrips::whole(OpBuilder &b, ArrayRef<Strip> strips,
                                                     Value from, Value to, ValueRange sums) {
  auto loop = scf::ForOp::create(b, loc, from, to, IndexMath{b, loc}(lanes), sums);
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> next;
  for (auto [strip, before] : llvm::zip_equal(strips, loop.getRegionIterArgs())) {
    Value k = loop.getInductionVar(), sum = before;
    request(c, strip.at, k);
    SmallVector<Value> x = operand(c, dot.getLhs(), strip, k, Value());
    SmallVector<Value> y = operand(c, dot.getRhs(), strip, k, Value());
    for (int64_t u = 0; u < lanes; ++u)
      sum = multiplyAdd(c, loc, x[u], y[u], sum);
    next.push_back(sum);
  }
  scf::YieldOp::create(c, loc, next);
  return SmallVector<Value>(loop.getResults());
}

/// Adds [from, to), fewer than the lanes.
SmallVector<Value> KernelLowering::LaneStrips::rest(OpBuilder &b, ArrayRef<Strip> strips,
                                                    Value from, Value to, ValueRange sums) {
  auto some = scf::IfOp::create(b, loc, sums.getTypes(), IndexMath{b, loc}.less(from, to),
                                /*withElseRegion=*/true);
  OpBuilder c = some.getThenBodyBuilder(), none = some.getElseBodyBuilder();
  scf::YieldOp::create(none, loc, sums);
  IndexMath in{c, loc};
  SmallVector<SmallVector<Value>> x, y;
  for (const Strip &strip : strips) {
    request(c, strip.at, from);
    x.push_back(operand(c, dot.getLhs(), strip, from, to));
    y.push_back(operand(c, dot.getRhs(), strip, from, to));
  }
  SmallVector<Value> added(sums);
  for (int64_t u = 0; u + 1 < lanes; ++u) {
    auto more = scf::IfOp::create(c, loc, sums.getTypes(), in.less(in.add(from, u), to),
                                  /*withElseRegion=*/true);
    OpBuilder d = more.getThenBodyBuilder(), done = more.getElseBodyBuilder();
    SmallVector<Value> next;
    for (size_t i = 0; i < strips.size(); ++i)
      next.push_back(multiplyAdd(d, loc, x[i][u], y[i][u], added[i]));
    scf::YieldOp::create(d, loc, next);
    scf::YieldOp::create(done, loc, added);
    added.assign(more.result_begin(), more.result_end());
  }
  scf::YieldOp::create(c, loc, added);
  return SmallVector<Value>(some.getResults());
}

/// The sums of strips of columns through all of k. Columns before `end` are stored from `column`
/// on; what is read are as many as the strips hold, further back at the last ones.
void KernelLowering::LaneStrips::run(OpBuilder &b, const Position &base, Value column, Value end) {
  IndexMath at{b, loc};
  Value first = at.min(column, at.max(at.sub(columns, at(count * lanes)), 0));
  SmallVector<Strip> strips;
  for (int64_t i = 0; i < count; ++i) {
    Strip &strip = strips.emplace_back(Strip{base, first, i * lanes});
    strip.at.loops[columnLoop] = at.add(first, i * lanes);
    strip.at.vectorLoop = columnLoop;
    strip.at.width = lanes;
    l.emitter->maskLanes(b, strip.at, columns);
  }
  SmallVector<Value> initial(2 * count, chainZero(b, loc, dot.getType(), lanes));
  auto outer = scf::ForOp::create(b, loc, at(0), chains, at(1), initial);
  OpBuilder c = OpBuilder::atBlockBegin(outer.getBody());
  IndexMath in{c, loc};
  Value number = outer.getInductionVar(), k0 = in.mul(number, kChain),
        k1 = in.min(in.add(k0, kChain), depth),
        vectors = in.add(k0, in.mul(in.div(in.sub(k1, k0), lanes), lanes));
  SmallVector<Value> sums(count, chainZero(c, loc, dot.getType(), lanes)), joined;
  sums = whole(c, strips, k0, vectors, sums);
  sums = rest(c, strips, vectors, k1, sums);
  for (int64_t i = 0; i < count; ++i)
    joined.append(addChain(c, loc, number, chains, sums[i], outer.getRegionIterArgs()[2 * i],
                           outer.getRegionIterArgs()[2 * i + 1]));
  scf::YieldOp::create(c, loc, joined);
  for (int64_t i = 0; i < count; ++i)
    vector::StoreOp::create(b, loc, l.emitter->toMemory(b, outer.getResult(2 * i + 1)), totals,
                            at(i * lanes));
  auto type = VectorType::get({lanes}, memoryType(dot.getType()));
  for (int64_t i = 0; i < count; ++i) {
    Position here = base;
    here.loops[columnLoop] = at.add(column, i * lanes);
    here.vectorLoop = columnLoop;
    here.width = lanes;
    l.emitter->maskLanes(b, here, end);
    Value slot = at.add(at.sub(column, first), i * lanes);
    Value total = vector::LoadOp::create(b, loc, type, totals, slot);
    here.values[dot.getResult()] = l.emitter->fromMemory(b, total, dot.getType());
    for (kernel::StoreOp store : l.stores)
      l.emitter->store(b, store, here);
  }
}

void KernelLowering::lowerLanes() {
  LaneStrips strips(*this);
  open(kernel.getSymName(), {}, strips.scratchBytes());
  strips.prepare(builder);
  columnRuns([&](OpBuilder &b, Position &base, Value from, Value to) {
    loop(b, from, to, strips.count * strips.lanes,
         [&](OpBuilder &c, Value column) { strips.run(c, base, column, to); });
  });
  close();
}
