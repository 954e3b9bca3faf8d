// Matrix products on a CPU in which every element of the operand of the columns is used once,
// products with a vector, where that operand lies along the columns. They run at the speed of
// memory, so it is read in the order in which it lies. The chains are those of docs/numerics.md:
// lanes are columns, k ascends.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/CoreLowering.h"

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
void CoreLowering::columnRuns(
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

struct CoreLowering::Stream {
  CoreLowering &l;
  Location loc;
  Products products;
  int columnLoop, depthLoop;
  int64_t dots, width;
  Type element, stored;
  int64_t slots, block;     ///< sums in scratch, and those of a product: columns at once
  Value sums, runs, totals; ///< in scratch, product after product
  Value depth, chains;

  explicit Stream(CoreLowering &l);
  void prepare(OpBuilder &b);
  void narrow(OpBuilder &b, const Position &base, Value from, Value to);
  void wide(OpBuilder &b, const Position &base, Value from, Value to);

private:
  /// Columns [low, high), which are a block.
  struct Block {
    const Position &base;
    Value low, high;
  };
  void chain(OpBuilder &b, const Block &block, Value number);
  void addRows(OpBuilder &b, const Block &block, Value k, int64_t count);
  void forSums(OpBuilder &b, const Block &block, llvm::function_ref<void(OpBuilder &, Value)> body);

  /// Operands at a point, or at a vector of columns, in every lane.
  SmallVector<Value> operands(OpBuilder &b, ArrayRef<Value> values, Position &at) {
    SmallVector<Value> result;
    for (Value value : values)
      result.push_back(BodyEmitter::splat(b, loc, l.emitter->value(b, value, at), width));
    return result;
  }
  /// The sum of each product after one more k.
  SmallVector<Value> add(OpBuilder &b, ArrayRef<Value> rows, ArrayRef<Value> columns,
                         ValueRange sums) {
    SmallVector<Value> next;
    for (auto [product, sum] : llvm::zip_equal(products.all, sums))
      next.push_back(multiplyAdd(b, loc, rows[product.row], columns[product.column], sum));
    return next;
  }
  Value load(OpBuilder &b, Value buffer, Value at) {
    auto type = VectorType::get({width}, stored);
    return l.emitter->fromMemory(b, vector::LoadOp::create(b, loc, type, buffer, at), element);
  }
  void store(OpBuilder &b, Value value, Value buffer, Value at) {
    vector::StoreOp::create(b, loc, l.emitter->toMemory(b, value), buffer, at);
  }
};

CoreLowering::Stream::Stream(CoreLowering &l)
    : l(l), loc(l.loc), products(l.kernel, l.space), columnLoop(l.space.parallel - 1),
      depthLoop(l.space.parallel), dots(products.all.size()), width(l.width),
      element(products.element()), stored(memoryType(element)) {
  slots = kSumBytes * 8 / stored.getIntOrFloatBitWidth();
  block = slots / static_cast<int64_t>(llvm::PowerOf2Ceil(dots));
}

void CoreLowering::Stream::prepare(OpBuilder &b) {
  sums = l.scratchView(stored, 0, slots);
  runs = l.scratchView(stored, kSumBytes, slots);
  totals = l.scratchView(stored, 2 * kSumBytes, slots);
  depth = l.emitter->emit(b, l.space.reducedItems());
  chains = IndexMath{b, loc}.max(IndexMath{b, loc}.ceilDiv(depth, kChain), 1);
}

/// Columns [from, to) of one vector. Their sums stay in registers, and the chains of a run are
/// summed beside each other, because each waits for its own last sum.
void CoreLowering::Stream::narrow(OpBuilder &b, const Position &base, Value from, Value to) {
  Position columns = base;
  columns.loops[columnLoop] = from;
  columns.vectorLoop = columnLoop;
  columns.width = width;
  l.emitter->maskLanes(b, columns, to);
  SmallVector<Value> zeros(dots, chainZero(b, loc, element, width));
  SmallVector<Value> totals =
      sumsBeside(b, loc, depth, zeros, [&](OpBuilder &c, Value k, ValueRange sums) {
        Position one = base, here = columns;
        one.loops[depthLoop] = here.loops[depthLoop] = k;
        SmallVector<Value> x = operands(c, products.rows, one);
        return add(c, x, operands(c, products.columns, here), sums);
      });
  for (auto [product, total] : llvm::zip_equal(products.all, totals))
    columns.values[Value(product.dot)] = total;
  for (kernel::StoreOp result : l.stores)
    l.emitter->store(b, result, columns);
}

/// Columns of a block, once for each product: where their sums are in scratch.
void CoreLowering::Stream::forSums(OpBuilder &b, const Block &columns,
                                   llvm::function_ref<void(OpBuilder &, Value)> body) {
  IndexMath at{b, loc};
  for (int64_t i = 0; i < dots; ++i)
    l.loop(b, at(0), at.sub(columns.high, columns.low), width,
           [&](OpBuilder &c, Value column) { body(c, IndexMath{c, loc}.add(column, i * block)); });
}

/// Adds `count` rows to the sums of a block.
void CoreLowering::Stream::addRows(OpBuilder &b, const Block &columns, Value k, int64_t count) {
  SmallVector<SmallVector<Value>> shared;
  for (int64_t u = 0; u < count; ++u) {
    Position at = columns.base;
    at.loops[depthLoop] = IndexMath{b, loc}.add(k, u);
    shared.push_back(operands(b, products.rows, at));
  }
  l.strips(b, columns.base, columnLoop, width, columns.low, columns.high,
           [&](OpBuilder &c, Position &at) {
             IndexMath in{c, loc};
             Value slot = in.sub(at.loops[columnLoop], columns.low);
             SmallVector<Value> added;
             for (int64_t i = 0; i < dots; ++i)
               added.push_back(load(c, sums, in.add(slot, i * block)));
             for (int64_t u = 0; u < count; ++u) {
               Position here = at;
               here.loops[depthLoop] = in.add(k, u);
               SmallVector<Value> own = operands(c, products.columns, here);
               l.prefetch(c, here, depthLoop, kRowsPerPass, kSecondCache);
               added = add(c, shared[u], own, added);
             }
             for (int64_t i = 0; i < dots; ++i)
               store(c, added[i], sums, in.add(slot, i * block));
           });
}

void CoreLowering::Stream::chain(OpBuilder &b, const Block &columns, Value number) {
  IndexMath at{b, loc};
  Value k0 = at.mul(number, kChain), k1 = at.min(at.add(k0, kChain), depth);
  forSums(b, columns, [&](OpBuilder &c, Value slot) {
    store(c, chainZero(c, loc, element, width), sums, slot);
  });
  Value length = at.sub(k1, k0);
  Value whole = at.add(k0, at.mul(at.div(length, kRowsPerPass), kRowsPerPass));
  l.loop(b, k0, whole, kRowsPerPass,
         [&](OpBuilder &c, Value k) { addRows(c, columns, k, kRowsPerPass); });
  l.loop(b, whole, k1, 1, [&](OpBuilder &c, Value k) { addRows(c, columns, k, 1); });
  auto many = scf::IfOp::create(b, loc, at.less(at(1), chains), /*withElseRegion=*/false);
  OpBuilder c = many.getThenBodyBuilder();
  forSums(c, columns, [&](OpBuilder &d, Value slot) {
    SmallVector<Value> joined = addChain(d, loc, number, chains, load(d, sums, slot),
                                         load(d, runs, slot), load(d, totals, slot));
    store(d, joined[0], runs, slot);
    store(d, joined[1], totals, slot);
  });
}

/// Columns [from, to) of several vectors, whose sums wait in scratch memory between rows.
void CoreLowering::Stream::wide(OpBuilder &b, const Position &base, Value from, Value to) {
  l.loop(b, from, to, block, [&](OpBuilder &c, Value low) {
    IndexMath at{c, loc};
    Block columns{base, low, at.min(at.add(low, block), to)};
    l.loop(c, at(0), chains, 1, [&](OpBuilder &d, Value number) { chain(d, columns, number); });
    Value done = at.select(at.less(at(1), chains), totals, sums);
    l.strips(c, base, columnLoop, width, low, columns.high, [&](OpBuilder &d, Position &here) {
      IndexMath in{d, loc};
      Value slot = in.sub(here.loops[columnLoop], low);
      for (auto [i, product] : llvm::enumerate(products.all))
        here.values[Value(product.dot)] =
            load(d, done, in.add(slot, static_cast<int64_t>(i) * block));
      for (kernel::StoreOp result : l.stores)
        l.emitter->store(d, result, here);
    });
  });
}

/// Rows of the operand lie along the columns: a few rows at a time are added to all sums.
void CoreLowering::lowerStream() {
  Stream stream(*this);
  open(kernel.getSymName(), {}, 3 * kSumBytes);
  stream.prepare(builder);
  columnRuns([&](OpBuilder &b, Position &base, Value from, Value to) {
    IndexMath at{b, loc};
    auto choice = scf::IfOp::create(b, loc, at.atLeast(at(width), at.sub(to, from)),
                                    /*withElseRegion=*/true);
    OpBuilder few = choice.getThenBodyBuilder(), many = choice.getElseBodyBuilder();
    stream.narrow(few, base, from, to);
    stream.wide(many, base, from, to);
  });
  close();
}
