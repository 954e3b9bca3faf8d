// Rows, columns and full reductions: see docs/numerics.md for the trees.
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

bool KernelLowering::isPoint(Value value) {
  auto [it, inserted] = points.try_emplace(value, false);
  if (!inserted)
    return it->second;
  Operation *op = value.getDefiningOp();
  bool result = false;
  if (auto known = space.accesses.find(op); known != space.accesses.end()) {
    for (unsigned loop = space.parallel; loop < space.count(); ++loop)
      result |= !known->second.strides[loop].isZero();
  } else if (!isa<kernel::ReduceOp, kernel::DotOp>(op)) {
    for (Value operand : op->getOperands())
      result |= isPoint(operand);
  }
  points[value] = result;
  return result;
}

bool KernelLowering::isPoint(kernel::StoreOp store) {
  for (unsigned loop = space.parallel; loop < space.count(); ++loop)
    if (!space.accesses.at(store).strides[loop].isZero())
      return true;
  return false;
}

int KernelLowering::stage(Value value) {
  if (auto known = stages.find(value); known != stages.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  int result = 0;
  if (!space.accesses.count(op))
    for (Value operand : op->getOperands())
      result = std::max(result, stage(operand));
  if (isa<kernel::ReduceOp, kernel::DotOp>(op))
    ++result;
  stages[value] = result;
  return result;
}

SmallVector<Reducer> KernelLowering::reducersOfStage(int wanted) {
  SmallVector<Reducer> result;
  kernel.getBody().walk([&](kernel::ReduceOp op) {
    if (stage(op.getResult()) == wanted + 1)
      result.emplace_back(op);
  });
  return result;
}

/// Several loops that do not merge cannot be walked in vectors of consecutive elements.
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
States KernelLowering::pointStates(OpBuilder &b, ArrayRef<Reducer> reducers, Position &at,
                                   Value index) {
  States states;
  for (const Reducer &reducer : reducers) {
    kernel::ReduceOp op = reducer.op;
    Value value = BodyEmitter::splat(b, loc, emitter->value(b, op.getValue(), at), at.width);
    Value number;
    if (reducer.needsIndex()) {
      number = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
      if (at.width > 1) {
        SmallVector<int64_t> lanes(at.width);
        for (int64_t i = 0; i < at.width; ++i)
          lanes[i] = at.vectorLoop >= static_cast<int>(space.parallel) ? i : 0;
        auto type = VectorType::get({at.width}, b.getI64Type());
        Value steps = arith::ConstantOp::create(
            b, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(lanes)));
        number = arith::AddIOp::create(b, loc, BodyEmitter::splat(b, loc, number, at.width), steps);
      }
    }
    states.push_back(reducer.lift(value, number));
  }
  return states;
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
  }
}

void KernelLowering::lowerRows() {
  open(kernel.getSymName(), {});
  int last = 0;
  for (kernel::StoreOp store : stores)
    last = std::max(last, stage(store.getValue()));
  int64_t lanes = reduceWidth();
  Value length = emitter->emit(builder, space.reducedItems());
  Block *entry = &function.getBody().front();
  loop(builder, begin, end, 1, [&](OpBuilder &b, Value item) {
    Position row = position();
    if (space.parallel)
      emitter->delinearize(b, item, 0, space.parallel, row);
    for (int current = 0; current <= last; ++current) {
      SmallVector<Reducer> reducers = reducersOfStage(current);
      SmallVector<kernel::StoreOp> here;
      for (kernel::StoreOp store : stores)
        if (isPoint(store) && stage(store.getValue()) == current)
          here.push_back(store);
      // Values of the row that points of this stage use, before the loop over points.
      kernel.getBody().walk([&](Operation *op) {
        if (op->getNumResults() == 1 && !isa<kernel::ReduceOp, kernel::DotOp>(op) &&
            !isPoint(op->getResult(0)) && stage(op->getResult(0)) == current)
          emitter->value(b, op->getResult(0), row);
      });
      auto body = [&](OpBuilder &c, Value index, Value limit) {
        Position at = row;
        setReduced(c, at, index, limit, lanes);
        States states = pointStates(c, reducers, at, index);
        for (kernel::StoreOp store : here)
          emitter->store(c, store, at);
        return states;
      };
      if (!reducers.empty()) {
        TreeEmitter trees(entry, loc, reducers, lanes);
        bind(reducers, trees.laneTree(b, length, body), row, b);
      } else if (!here.empty()) {
        if (space.count() - space.parallel == 1)
          strips(b, row, space.parallel, lanes, constant(b, 0), length,
                 [&](OpBuilder &c, Position &at) {
                   for (kernel::StoreOp store : here)
                     emitter->store(c, store, at);
                 });
        else
          loop(b, constant(b, 0), length, 1,
               [&](OpBuilder &c, Value index) { (void)body(c, index, Value()); });
      }
    }
    for (kernel::StoreOp store : stores)
      if (!isPoint(store))
        emitter->store(b, store, row);
  });
  close();
}

void KernelLowering::lowerColumns() {
  open(kernel.getSymName(), {});
  Value length = emitter->emit(builder, space.reducedItems());
  Block *entry = &function.getBody().front();
  SmallVector<Reducer> reducers = reducersOfStage(0);
  runs([&](OpBuilder &b, Position &outer, Value low, Value high) {
    strips(b, outer, static_cast<int>(space.parallel) - 1, width, low, high,
           [&](OpBuilder &c, Position &column) {
             TreeEmitter trees(entry, loc, reducers, column.width);
             auto body = [&](OpBuilder &d, Value index, Value) {
               Position at = column;
               if (space.count() - space.parallel == 1)
                 at.loops[space.parallel] = index;
               else
                 emitter->delinearize(d, index, space.parallel, space.count(), at);
               States states = pointStates(d, reducers, at, index);
               for (kernel::StoreOp store : stores)
                 if (isPoint(store))
                   emitter->store(d, store, at);
               return states;
             };
             bind(reducers, trees.rowTree(c, length, body), column, c);
             for (kernel::StoreOp store : stores)
               if (!isPoint(store))
                 emitter->store(c, store, column);
           });
  });
  close();
}

void KernelLowering::lowerFull() {
  open(kernel.getSymName(), shape.partials);
  SmallVector<Reducer> reducers = reducersOfStage(0);
  int64_t lanes = reduceWidth();
  Block *entry = &function.getBody().front();
  Value length = emitter->emit(builder, space.reducedItems());
  loop(builder, begin, end, 1, [&](OpBuilder &b, Value block) {
    Value size = constant(b, kTreeBlock);
    Value first = arith::MulIOp::create(b, loc, block, size);
    Value some = arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, length, first), size);
    TreeEmitter trees(entry, loc, reducers, lanes);
    States states = trees.laneBlock(b, first, some, [&](OpBuilder &c, Value index, Value limit) {
      Position at = position();
      setReduced(c, at, index, limit, lanes);
      States result = pointStates(c, reducers, at, index);
      for (kernel::StoreOp store : stores)
        if (isPoint(store))
          emitter->store(c, store, at);
      return result;
    });
    unsigned next = 0;
    for (const auto &state : states)
      for (Value part : state) {
        Value buffer = extraBuffers[next++];
        Type element = cast<MemRefType>(buffer.getType()).getElementType();
        Value raw = part.getType() == element
                        ? part
                        : graph::CastOp::create(b, loc, element, part).getResult();
        memref::StoreOp::create(b, loc, raw, buffer, block);
      }
  });
  close();
}

void KernelLowering::lowerFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  SmallVector<Reducer> reducers = reducersOfStage(0);
  Block *entry = &function.getBody().front();
  Value length = emitter->emit(builder, space.reducedItems());
  Value blocks = arith::CeilDivUIOp::create(builder, loc, length, constant(builder, kTreeBlock));
  TreeEmitter trees(entry, loc, reducers, 1);
  States states = trees.laneTree(builder, blocks, [&](OpBuilder &b, Value index, Value) {
    States result;
    unsigned next = 0;
    for (const Reducer &reducer : reducers) {
      result.emplace_back();
      for (Type type : reducer.types()) {
        Value raw = memref::LoadOp::create(b, loc, extraBuffers[next++], index);
        result.back().push_back(
            raw.getType() == type ? raw : graph::CastOp::create(b, loc, type, raw).getResult());
      }
    }
    return result;
  });
  Position row = position();
  bind(reducers, states, row, builder);
  for (kernel::StoreOp store : stores)
    if (!isPoint(store))
      emitter->store(builder, store, row);
  close();
}
