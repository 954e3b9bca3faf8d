// Matrix products on a CPU in which every element of the operand of the columns is used once,
// products with a vector, where that operand lies along k: a column of the product is a row in
// memory. Lanes are columns, so what is read along k is turned in registers.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/CoreLowering.h"

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

struct CoreLowering::LaneStrips {
  CoreLowering &l;
  Location loc;
  Products products;
  int columnLoop, depthLoop;
  int64_t lanes, count; ///< of a strip; strips side by side
  int64_t parts;        ///< operands of a side, two of complex numbers
  Value columns, depth, chains, totals;

  explicit LaneStrips(CoreLowering &l);
  int64_t perStep() const { return lanes / parts; }               ///< k
  size_t sumCount() const { return count * products.all.size(); } ///< by strip, then product
  int64_t slots() const { return 2 * count * lanes; } ///< of a product; a half may be skipped
  int64_t totalSlots() const { return slots() * static_cast<int64_t>(products.all.size()); }
  int64_t scratchBytes() const {
    return totalSlots() * memoryType(products.element()).getIntOrFloatBitWidth() / 8;
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
  struct Operands {
    SmallVector<SmallVector<Value>> rows, columns; ///< of each, per k
  };
  Operands operandsOf(OpBuilder &b, const Strip &strip, Value k, Value end);
  SmallVector<SmallVector<Value>> operands(OpBuilder &b, ArrayRef<Value> values, const Strip &strip,
                                           Value k, Value end);
  SmallVector<SmallVector<Value>> turned(OpBuilder &b, ArrayRef<Value> values, const Strip &strip,
                                         Value k, Value end);
  SmallVector<Value> add(OpBuilder &b, const Operands &strip, int64_t u, ValueRange sums);
  void storeStrips(OpBuilder &b, const Position &base, Value column, Value end, Value skipped,
                   ValueRange sums);
  void request(OpBuilder &b, Position strip, Value k);
};

CoreLowering::LaneStrips::LaneStrips(CoreLowering &l)
    : l(l), loc(l.loc), products(l.kernel, l.space), columnLoop(l.space.parallel - 1),
      depthLoop(l.space.parallel), lanes(l.shape.tileColumns),
      count(std::max<int64_t>(1, kColumnsBeside / lanes)),
      parts(std::max(products.rows.size(), products.columns.size())) {
  // Products of parts are summed side by side, too.
  if (products.all.size() > 1)
    count = std::max<int64_t>(1, count / 2);
}

void CoreLowering::LaneStrips::prepare(OpBuilder &b) {
  depth = l.emitter->emit(b, l.space.reducedItems());
  chains = IndexMath{b, loc}.ceilDiv(depth, kChain);
  columns = l.emitter->extent(b, columnLoop);
  totals = l.scratchView(memoryType(products.element()), 0, totalSlots());
}

/// Asks for a part of what the next columns read, where their rows follow in memory. Their first
/// strip needs all of it at once, row by row, which no prefetcher foresees.
void CoreLowering::LaneStrips::request(OpBuilder &b, Position strip, Value k) {
  IndexMath in{b, loc};
  strip.loops[columnLoop] = in.add(strip.loops[columnLoop], count * lanes);
  strip.loops[depthLoop] = in(0);
  l.kernel.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = l.space.accesses.at(load);
    int64_t each = access.part ? 2 : 1;
    if (access.part.value_or(0) || !access.isDense(depthLoop) ||
        !(access.strides[columnLoop] == l.space.reducedItems() * Polynomial(each)))
      return;
    Value memory = l.emitter->buffer(load);
    int64_t line = kLineBytes * 8 / cast<MemRefType>(memory.getType()).getElementTypeBitWidth();
    Value first = in.add(l.emitter->index(b, access, strip), in.mul(k, each * lanes));
    for (int64_t i = 0; i < each * lanes * perStep(); i += line)
      memref::PrefetchOp::create(b, loc, memory, in.add(first, kLinesAhead * line + i),
                                 /*isWrite=*/false, kSecondCache, /*isDataCache=*/true);
  });
}

/// Two vectors, one behind the other.
static Value joined(OpBuilder &b, Location loc, Value x, Value y) {
  int64_t width = cast<VectorType>(x.getType()).getNumElements();
  return vector::ShuffleOp::create(b, loc, x, y, llvm::to_vector(llvm::seq(2 * width)));
}

/// The operands `values` of the columns at k, k + 1, ..., a vector of columns for each k of each.
/// Columns beyond the last one repeat it. With `end`, what lies there and beyond is not read.
SmallVector<SmallVector<Value>> CoreLowering::LaneStrips::turned(OpBuilder &b,
                                                                 ArrayRef<Value> values,
                                                                 const Strip &strip, Value k,
                                                                 Value end) {
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
    row.width = perStep();
    if (end)
      l.emitter->maskLanes(b, row, end);
    SmallVector<Value> elements;
    for (Value value : values)
      elements.push_back(l.emitter->toMemory(
          b, BodyEmitter::splat(b, loc, l.emitter->value(b, value, row), perStep())));
    vectors.push_back(parts == 1 ? elements.front()
                                 : joined(b, loc, elements.front(), elements.back()));
  }
  transposeVectors(b, loc, vectors);
  SmallVector<SmallVector<Value>> result(values.size());
  for (auto [number, value] : llvm::enumerate(values)) {
    Type type = graph::elementType(value.getType());
    for (Value vector : ArrayRef(vectors).slice(number * perStep(), perStep()))
      result[number].push_back(l.emitter->fromMemory(b, vector, type));
  }
  return result;
}

/// Operands at k, k + 1, ..., for each the vector of columns or what all of them share.
SmallVector<SmallVector<Value>> CoreLowering::LaneStrips::operands(OpBuilder &b,
                                                                   ArrayRef<Value> values,
                                                                   const Strip &strip, Value k,
                                                                   Value end) {
  IndexMath in{b, loc};
  auto dense = [&](int loop) {
    return llvm::all_of(values, [&](Value value) { return l.space.isDense(value, loop); });
  };
  bool change =
      llvm::any_of(values, [&](Value value) { return l.space.dependsOn(value, columnLoop); });
  if (change && !dense(columnLoop) && dense(depthLoop))
    return turned(b, values, strip, k, end);
  SmallVector<SmallVector<Value>> result(values.size());
  for (int64_t u = 0; u < perStep(); ++u) {
    Position here = strip.at;
    Value place = in.add(k, u);
    here.loops[depthLoop] = end && u > 0 ? in.min(place, in.sub(end, in(1))) : place;
    for (auto [value, vectors] : llvm::zip_equal(values, result))
      vectors.push_back(BodyEmitter::splat(b, loc, l.emitter->value(b, value, here), lanes));
  }
  return result;
}

CoreLowering::LaneStrips::Operands
CoreLowering::LaneStrips::operandsOf(OpBuilder &b, const Strip &strip, Value k, Value end) {
  request(b, strip.at, k);
  return {operands(b, products.rows, strip, k, end), operands(b, products.columns, strip, k, end)};
}

/// The sums of a strip after k number `u` of its operands.
SmallVector<Value> CoreLowering::LaneStrips::add(OpBuilder &b, const Operands &strip, int64_t u,
                                                 ValueRange sums) {
  SmallVector<Value> next;
  for (auto [product, sum] : llvm::zip_equal(products.all, sums))
    next.push_back(
        multiplyAdd(b, loc, strip.rows[product.row][u], strip.columns[product.column][u], sum));
  return next;
}

/// Adds [from, to), whole steps.
SmallVector<Value> CoreLowering::LaneStrips::whole(OpBuilder &b, ArrayRef<Strip> strips, Value from,
                                                   Value to, ValueRange sums) {
  auto loop = scf::ForOp::create(b, loc, from, to, IndexMath{b, loc}(perStep()), sums);
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> next;
  ValueRange left = loop.getRegionIterArgs();
  for (const Strip &strip : strips) {
    Operands read = operandsOf(c, strip, loop.getInductionVar(), Value());
    SmallVector<Value> own(left.take_front(products.all.size()));
    for (int64_t u = 0; u < perStep(); ++u)
      own = add(c, read, u, own);
    next.append(own);
    left = left.drop_front(own.size());
  }
  scf::YieldOp::create(c, loc, next);
  return SmallVector<Value>(loop.getResults());
}

/// Adds [from, to), less than a step.
SmallVector<Value> CoreLowering::LaneStrips::rest(OpBuilder &b, ArrayRef<Strip> strips, Value from,
                                                  Value to, ValueRange sums) {
  auto some = scf::IfOp::create(b, loc, sums.getTypes(), IndexMath{b, loc}.less(from, to),
                                /*withElseRegion=*/true);
  OpBuilder c = some.getThenBodyBuilder(), none = some.getElseBodyBuilder();
  scf::YieldOp::create(none, loc, sums);
  IndexMath in{c, loc};
  SmallVector<Operands> read;
  for (const Strip &strip : strips)
    read.push_back(operandsOf(c, strip, from, to));
  SmallVector<Value> added(sums);
  for (int64_t u = 0; u + 1 < perStep(); ++u) {
    auto more = scf::IfOp::create(c, loc, sums.getTypes(), in.less(in.add(from, u), to),
                                  /*withElseRegion=*/true);
    OpBuilder d = more.getThenBodyBuilder(), done = more.getElseBodyBuilder();
    SmallVector<Value> next;
    ValueRange left = added;
    for (const Operands &strip : read) {
      next.append(add(d, strip, u, left.take_front(products.all.size())));
      left = left.drop_front(products.all.size());
    }
    scf::YieldOp::create(d, loc, next);
    scf::YieldOp::create(done, loc, added);
    added.assign(more.result_begin(), more.result_end());
  }
  scf::YieldOp::create(c, loc, added);
  return SmallVector<Value>(some.getResults());
}

/// The sums of strips of columns through all of k. Columns before `end` are stored from `column`
/// on; what is read are as many as the strips hold, further back at the last ones.
void CoreLowering::LaneStrips::run(OpBuilder &b, const Position &base, Value column, Value end) {
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
  Value zero = chainZero(b, loc, products.element(), lanes);
  SmallVector<Value> initial(2 * sumCount(), zero);
  auto outer = scf::ForOp::create(b, loc, at(0), chains, at(1), initial);
  OpBuilder c = OpBuilder::atBlockBegin(outer.getBody());
  IndexMath in{c, loc};
  Value number = outer.getInductionVar(), k0 = in.mul(number, kChain),
        k1 = in.min(in.add(k0, kChain), depth),
        vectors = in.add(k0, in.mul(in.div(in.sub(k1, k0), perStep()), perStep()));
  SmallVector<Value> sums(sumCount(), zero), joined;
  sums = whole(c, strips, k0, vectors, sums);
  sums = rest(c, strips, vectors, k1, sums);
  for (size_t i = 0; i < sumCount(); ++i)
    joined.append(addChain(c, loc, number, chains, sums[i], outer.getRegionIterArgs()[2 * i],
                           outer.getRegionIterArgs()[2 * i + 1]));
  scf::YieldOp::create(c, loc, joined);
  SmallVector<Value> results;
  for (size_t i = 0; i < sumCount(); ++i)
    results.push_back(outer.getResult(2 * i + 1));
  storeStrips(b, base, column, end, at.sub(column, first), results);
}

/// Stores the sums of strips whose first `skipped` columns lie before `column`.
void CoreLowering::LaneStrips::storeStrips(OpBuilder &b, const Position &base, Value column,
                                           Value end, Value skipped, ValueRange sums) {
  IndexMath at{b, loc};
  int64_t dots = products.all.size();
  for (int64_t i = 0; i < count; ++i)
    for (int64_t dot = 0; dot < dots; ++dot)
      vector::StoreOp::create(b, loc, l.emitter->toMemory(b, sums[i * dots + dot]), totals,
                              at(dot * slots() + i * lanes));
  auto type = VectorType::get({lanes}, memoryType(products.element()));
  for (int64_t i = 0; i < count; ++i) {
    Position here = base;
    here.loops[columnLoop] = at.add(column, i * lanes);
    here.vectorLoop = columnLoop;
    here.width = lanes;
    l.emitter->maskLanes(b, here, end);
    for (auto [number, product] : llvm::enumerate(products.all)) {
      Value slot = at.add(skipped, static_cast<int64_t>(number) * slots() + i * lanes);
      Value total = vector::LoadOp::create(b, loc, type, totals, slot);
      here.values[Value(product.dot)] = l.emitter->fromMemory(b, total, products.element());
    }
    for (kernel::StoreOp store : l.stores)
      l.emitter->store(b, store, here);
  }
}

void CoreLowering::lowerLanes() {
  LaneStrips strips(*this);
  open(kernel.getSymName(), {}, strips.scratchBytes());
  strips.prepare(builder);
  columnRuns([&](OpBuilder &b, Position &base, Value from, Value to) {
    loop(b, from, to, strips.count * strips.lanes,
         [&](OpBuilder &c, Value column) { strips.run(c, base, column, to); });
  });
  close();
}
