#include "compiler/passes/lower/core/SharedFolds.h"

#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// The next parts of a storage of all reductions: those of one.
static SmallVector<Value> takeParts(ArrayRef<Value> &storage, const Reducer &reducer) {
  SmallVector<Value> own(storage.take_front(reducer.parts()));
  storage = storage.drop_front(reducer.parts());
  return own;
}

/// The results of a function of the program, made by `body` beside where `module` is for the first
/// of its calls.
SmallVector<Value> SharedFolds::call(OpBuilder &b, const Reducer &reducer, const Twine &name,
                                     ValueRange operands, TypeRange results, int64_t width,
                                     Body body, bool isSeldom) {
  std::string own = ("fold_" + name + "_" + graph::stringifyReduceKind(reducer.op.getKind())).str();
  for (Type type : reducer.types())
    llvm::raw_string_ostream(own) << "_" << type;
  if (reducer.isNarrow() && StringRef(own).starts_with("fold_lanes"))
    llvm::raw_string_ostream(own) << "_" << reducer.sequenceTypes()[0];
  auto symbols = cast<ModuleOp>(module.getInsertionBlock()->getParentOp());
  auto shared = symbols.lookupSymbol<func::FuncOp>(own);
  if (!shared) {
    auto type = b.getFunctionType(operands.getTypes(), results);
    shared = func::FuncOp::create(module, loc, own, type);
    shared.setPrivate();
    shared->setAttr("graphc.counted", b.getUnitAttr());
    // Values that are kept over a call wait in memory on its way only.
    if (isSeldom)
      shared->setAttr(kSeldomAttr, b.getUnitAttr());
    Block *entry = shared.addEntryBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(entry);
    TreeEmitter trees(entry, loc, reducer, width);
    States states = body(inside, trees, entry->getArguments());
    func::ReturnOp::create(inside, loc, TreeEmitter::flatten(states));
  }
  auto call = func::CallOp::create(b, loc, shared, operands);
  if (isSeldom)
    call->setAttr(kSeldomAttr, b.getUnitAttr());
  return call.getResults();
}

States SharedFolds::lanes(OpBuilder &b, ArrayRef<Reducer> reducers, const Storage &lanes,
                          int64_t width, Value first, Value count, bool fast) {
  States states;
  ArrayRef<Value> memory = lanes;
  for (const Reducer &reducer : reducers) {
    SmallVector<Value> operands = takeParts(memory, reducer);
    operands.append({first, count});
    states.emplace_back(call(
        b, reducer, Twine("lanes") + Twine(width) + (fast ? "_fast" : ""), operands,
        reducer.types(), width, [&](OpBuilder &c, TreeEmitter &trees, ValueRange arguments) {
          Storage storage(arguments.drop_back(2));
          return trees.foldSequences(c, storage, arguments[storage.size()], arguments.back(), fast);
        }));
  }
  return states;
}

/// Whether block results may be combined as they come: a place decides between equal values.
static bool anyOrder(const Reducer &reducer) { return reducer.isFree() || reducer.parts() > 1; }

States SharedFolds::blocks(OpBuilder &b, ArrayRef<Reducer> reducers, const Storage &results,
                           Value first, Value count) {
  States states;
  ArrayRef<Value> memory = results;
  for (const Reducer &reducer : reducers) {
    SmallVector<Value> operands = takeParts(memory, reducer);
    operands.append({first, count});
    states.emplace_back(
        call(b, reducer, "blocks", operands, reducer.types(), 1,
             [&](OpBuilder &c, TreeEmitter &trees, ValueRange arguments) {
               Storage storage(arguments.drop_back(2));
               auto load = [&, begin = arguments[storage.size()]](OpBuilder &d, Value block) {
                 return trees.restore(d, storage, IndexMath{d, loc}.add(begin, block), 1, false);
               };
               return anyOrder(reducer) ? trees.foldChain(c, arguments.back(), load, 1)
                                        : trees.foldBlocks(c, arguments.back(), load);
             }));
  }
  return states;
}

States SharedFolds::nextBlock(OpBuilder &b, ArrayRef<Reducer> reducers, const Storage &blocks,
                              const Storage &groups, Value number, Value count,
                              const States &states) {
  States next;
  ArrayRef<Value> blockMemory = blocks, groupMemory = groups;
  for (auto [reducer, state] : llvm::zip_equal(reducers, states)) {
    SmallVector<Value> operands = takeParts(blockMemory, reducer);
    operands.append(takeParts(groupMemory, reducer));
    operands.append({number, count});
    operands.append(state.begin(), state.end());
    next.emplace_back(call(
        b, reducer, "next_block", operands, reducer.types(), 1,
        [&](OpBuilder &c, TreeEmitter &trees, ValueRange arguments) {
          unsigned parts = reducer.parts();
          return trees.nextBlock(c, arguments.take_front(parts), arguments.slice(parts, parts),
                                 arguments[2 * parts], arguments[2 * parts + 1],
                                 trees.unflatten(arguments.take_back(parts)));
        },
        /*isSeldom=*/true));
  }
  return next;
}

/// The blocks of `width` items from `item` on, of those that columns() names.
void SharedFolds::foldStrip(OpBuilder &b, TreeEmitter &trees, const Reducer &reducer,
                            ValueRange arguments, Value item, int64_t width) {
  unsigned parts = reducer.parts();
  ValueRange storage = arguments.take_front(parts);
  Value end = arguments[parts + 1], count = arguments[parts + 2], apart = arguments[parts + 3];
  Value mask = vector::CreateMaskOp::create(b, loc, VectorType::get({width}, b.getI1Type()),
                                            arith::SubIOp::create(b, loc, end, item).getResult());
  auto memory = [&](Value buffer) {
    return VectorType::get({width}, cast<MemRefType>(buffer.getType()).getElementType());
  };
  auto converted = [&](OpBuilder &c, Value value, Type type) -> Value {
    return value.getType() == type ? value : graph::CastOp::create(c, loc, type, value).getResult();
  };
  States folded = trees.foldRows(b, count, [&](OpBuilder &c, Value block) {
    IndexMath m{c, loc};
    Value at = m.add(item, m.mul(block, apart));
    SmallVector<Value> values;
    for (auto [buffer, type] : llvm::zip_equal(storage, reducer.types())) {
      Value zero = arith::ConstantOp::create(c, loc, c.getZeroAttr(memory(buffer)));
      Value raw =
          vector::MaskedLoadOp::create(c, loc, memory(buffer), buffer, at, mask, zero).getResult();
      values.push_back(converted(c, raw, BodyEmitter::vectorOf(type, width)));
    }
    return trees.unflatten(values);
  });
  for (auto [buffer, value] : llvm::zip_equal(storage, TreeEmitter::flatten(folded)))
    vector::MaskedStoreOp::create(b, loc, buffer, item, mask, converted(b, value, memory(buffer)));
}

void SharedFolds::columns(OpBuilder &b, ArrayRef<Reducer> reducers, const Storage &results,
                          Value low, Value high, Value count, Value apart) {
  ArrayRef<Value> memory = results;
  for (const Reducer &reducer : reducers) {
    SmallVector<Value> operands = takeParts(memory, reducer);
    operands.append({low, high, count, apart});
    int64_t bits = 32;
    for (Type type : reducer.types())
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
    int64_t width = kRegisterBits / bits;
    call(b, reducer, "columns", operands, {}, width,
         [&](OpBuilder &c, TreeEmitter &trees, ValueRange arguments) {
           Value step = arith::ConstantIndexOp::create(c, loc, width);
           auto strips = scf::ForOp::create(c, loc, arguments[reducer.parts()],
                                            arguments[reducer.parts() + 1], step);
           OpBuilder inside = OpBuilder::atBlockBegin(strips.getBody());
           foldStrip(inside, trees, reducer, arguments, strips.getInductionVar(), width);
           return States();
         });
  }
}
