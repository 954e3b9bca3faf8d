// Points and rows of a kernel by stages: what a reduction needs is of an earlier one.
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

int KernelLowering::lastStage() {
  int last = 0;
  for (kernel::StoreOp store : stores)
    last = std::max(last, stages.of(store));
  return last;
}

SmallVector<Reducer> KernelLowering::reducersOfStage(int wanted) {
  SmallVector<Reducer> result;
  kernel.getBody().walk([&](kernel::ReduceOp op) {
    if (stages.of(op.getResult()) == wanted + 1)
      result.emplace_back(op, /*narrows=*/width > 1 && !shape.group);
  });
  return result;
}

/// Several loops that do not merge have no vectors that lie in one piece of memory.
int64_t KernelLowering::reduceWidth() { return space.count() - space.parallel == 1 ? width : 1; }

void KernelLowering::setReduced(OpBuilder &b, Position &at, Value index, Value limit,
                                int64_t lanes) {
  if (space.count() - space.parallel == 1) {
    at.loops[space.parallel] = index;
    at.vectorLoop = space.parallel;
    at.width = lanes;
    if (limit)
      emitter->maskLanes(b, at, limit);
    return;
  }
  emitter->delinearize(b, index, space.parallel, space.count(), at);
}

/// Loads and computes what the reductions combine at one position.
SmallVector<Value> KernelLowering::pointValues(OpBuilder &b, ArrayRef<Reducer> reducers,
                                               Position &at) {
  SmallVector<Value> values;
  for (const Reducer &reducer : reducers)
    values.push_back(BodyEmitter::splat(b, loc, emitter->value(b, reducer.value(), at), at.width));
  return values;
}

void KernelLowering::rowValues(OpBuilder &b, Position &row, int current) {
  kernel.getBody().walk([&](Operation *op) {
    if (op->getNumResults() == 1 && !isa<kernel::ReduceOp, kernel::DotOp>(op) &&
        !stages.isPoint(op->getResult(0)) && stages.of(op->getResult(0)) == current)
      emitter->value(b, op->getResult(0), row);
  });
}

SmallVector<kernel::StoreOp> KernelLowering::pointStores(int current) {
  SmallVector<kernel::StoreOp> here;
  for (kernel::StoreOp store : stores)
    if (stages.isPoint(store) && stages.of(store) == current)
      here.push_back(store);
  return here;
}

void KernelLowering::storeRow(OpBuilder &b, Position &row) {
  for (kernel::StoreOp store : stores)
    if (!stages.isPoint(store))
      emitter->store(b, store, row);
}

Value KernelLowering::keptValue(kernel::StoreOp store) {
  // Parts do not lie where a value of one of them could wait.
  if (store.getImaginary())
    return {};
  int last = stages.of(store);
  Value best;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> stack = {store.getValue()};
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (!op || isa<kernel::ReduceOp>(op) || !seen.insert(op).second)
      continue;
    Value value = op->getResult(0);
    if (!stages.isPoint(value))
      continue;
    if (op->hasTrait<graph::Expensive>() && stages.of(value) < last &&
        value.getType() == store.getValue().getType()) {
      if (!best || stages.of(value) > stages.of(best))
        best = value;
      continue;
    }
    stack.append(op->operand_begin(), op->operand_end());
  }
  // The stage must visit the points anyway.
  return best && !reducersOfStage(stages.of(best)).empty() ? best : Value();
}

/// What a stage leaves at a point: finished values, and those that wait for a later stage.
void KernelLowering::storePoints(OpBuilder &b, int current, Position &at) {
  for (kernel::StoreOp store : stores)
    if (stages.isPoint(store) && stages.of(store) > current)
      if (Value kept = keptValue(store); kept && stages.of(kept) == current)
        emitter->keep(b, store, kept, at);
  SmallVector<kernel::StoreOp> now = pointStores(current);
  for (kernel::StoreOp store : now)
    if (Value kept = keptValue(store); kept && !at.values.count(kept))
      emitter->recall(b, store, kept, at);
  if (!shape.group)
    return emitter->storeAll(b, now, at);
  for (kernel::StoreOp store : now)
    emitter->store(b, store, at);
}

/// Gives the results of finished reductions to the row. A float sum of nothing is +0.0 although its
/// identity is -0.0.
void KernelLowering::bind(ArrayRef<Reducer> reducers, const States &states, Position &row,
                          OpBuilder &b) {
  for (auto [reducer, state] : llvm::zip_equal(reducers, states)) {
    kernel::ReduceOp op = reducer.op;
    Value result = reducer.result(state);
    if (op.getKind() == graph::ReduceKind::Sum && isa<FloatType>(op.getType())) {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(result.getType()));
      result = arith::AddFOp::create(b, loc, result, zero);
    }
    row.values[op.getResult()] = result;
    // Results are looked at where they are stored.
    if (llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<kernel::StoreOp>(user); }))
      emitter->watchReduced(b, op.getResult(), row);
  }
}

void KernelLowering::shortStage(OpBuilder &b, Position &row, int current, int64_t longest) {
  SmallVector<Reducer> reducers = reducersOfStage(current);
  SmallVector<kernel::StoreOp> here = pointStores(current);
  if (reducers.empty() && here.empty())
    return;
  int64_t lanes = row.width;
  TreeEmitter trees(&function.getBody().front(), loc, reducers, lanes);
  TreeEmitter::Storage storage = trees.allocate(longest * lanes, false);
  Value length = emitter->emit(b, space.reducedItems()), w = constant(b, lanes),
        zero = constant(b, 0);
  trees.save(b, storage, zero, trees.identity(b, lanes));
  loop(b, zero, length, 1, [&](OpBuilder &c, Value index) {
    Position at = row;
    at.loops[space.parallel] = index;
    States first = trees.append(c, trees.sequenceIdentity(c, lanes), pointValues(c, reducers, at),
                                constant(c, 0));
    storePoints(c, current, at);
    trees.save(c, storage, arith::MulIOp::create(c, loc, index, w),
               trees.fromSequence(c, first, index, 1, 0));
  });
  if (reducers.empty())
    return;
  for (int64_t half = longest / 2; half >= 1; half /= 2) {
    Value h = constant(b, half);
    Value present = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, length, h), zero);
    loop(b, zero, arith::MinSIOp::create(b, loc, h, present), 1, [&](OpBuilder &c, Value index) {
      Value low = arith::MulIOp::create(c, loc, index, w);
      Value high = arith::AddIOp::create(c, loc, low, constant(c, half * lanes));
      trees.save(c, storage, low,
                 trees.combine(c, trees.restore(c, storage, low, lanes, false),
                               trees.restore(c, storage, high, lanes, false)));
    });
  }
  bind(reducers, trees.restore(b, storage, zero, lanes, false), row, b);
}

Value KernelLowering::blockCount(OpBuilder &b) {
  if (shape.splitBlock == 0)
    return {};
  Value length = emitter->emit(b, space.reducedItems());
  Value blocks = arith::CeilDivUIOp::create(b, loc, length, constant(b, shape.splitBlock));
  return arith::MaxSIOp::create(b, loc, blocks, constant(b, 1));
}

void KernelLowering::finish(OpBuilder &b, ArrayRef<Reducer> reducers, const States &states,
                            const Position &row, Value item, Value blocks) {
  auto whole = [&](OpBuilder &inside) {
    Position at = row;
    bind(reducers, states, at, inside);
    storeRow(inside, at);
  };
  if (!blocks)
    return whole(b);
  Value only = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, blocks, constant(b, 1));
  auto choice = scf::IfOp::create(b, loc, only, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  whole(yes);
  savePartials(no, states, row, item);
}

void KernelLowering::savePartials(OpBuilder &b, const States &states, const Position &row,
                                  Value item) {
  // Tickets may follow.
  for (auto [part, buffer] : llvm::zip_first(TreeEmitter::flatten(states), extraBuffers)) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    auto vector = dyn_cast<VectorType>(part.getType());
    Type type = vector ? Type(vector.clone(element)) : element;
    Value raw =
        part.getType() == type ? part : graph::CastOp::create(b, loc, type, part).getResult();
    if (!vector)
      memref::StoreOp::create(b, loc, raw, buffer, item);
    else if (row.limit)
      vector::MaskedStoreOp::create(b, loc, buffer, item, row.mask, raw);
    else
      vector::StoreOp::create(b, loc, raw, buffer, item);
  }
}

States KernelLowering::loadPartials(OpBuilder &b, ArrayRef<Reducer> reducers, ValueRange buffers,
                                    const Position &row, Value item) {
  States result;
  unsigned next = 0;
  for (const Reducer &reducer : reducers) {
    result.emplace_back();
    for (Type type : reducer.types()) {
      Value buffer = buffers[next++], raw;
      Type element = cast<MemRefType>(buffer.getType()).getElementType();
      if (row.width == 1) {
        raw = memref::LoadOp::create(b, loc, buffer, item);
      } else {
        auto vector = VectorType::get({row.width}, element);
        if (row.limit) {
          Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
          raw = vector::MaskedLoadOp::create(b, loc, vector, buffer, item, row.mask, zero);
        } else {
          raw = vector::LoadOp::create(b, loc, vector, buffer, item);
        }
      }
      Type wanted = BodyEmitter::vectorOf(type, row.width);
      result.back().push_back(
          raw.getType() == wanted ? raw : graph::CastOp::create(b, loc, wanted, raw).getResult());
    }
  }
  return result;
}
