#include "compiler/math/Lookup.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace graphc::pass {
#define GEN_PASS_DEF_UNROLLVECTORS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

using Lanes = SmallVector<Value>;

/// Lanes that a language moves at once.
constexpr int64_t kMostWhole = 16;

/// Rewrites one function in place: operations on vectors get scalar twins before them, and go in
/// the end.
class Unroller {
public:
  explicit Unroller(MLIRContext *context) : b(context) {}
  LogicalResult run(func::FuncOp func) {
    if (failed(block(func.getBody().front())))
      return failure();
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    return success();
  }

private:
  static bool isVector(Value value) { return isa<VectorType>(value.getType()); }
  static int64_t count(Value value) { return cast<VectorType>(value.getType()).getNumElements(); }
  Lanes lanesOf(Value value) { return isVector(value) ? lanes.lookup(value) : Lanes{value}; }
  Lanes flat(ValueRange values) {
    Lanes result;
    for (Value value : values)
      result.append(lanesOf(value));
    return result;
  }
  static SmallVector<Type> flat(TypeRange types) {
    SmallVector<Type> result;
    for (Type type : types) {
      auto vector = dyn_cast<VectorType>(type);
      result.append(vector ? vector.getNumElements() : 1, vector ? vector.getElementType() : type);
    }
    return result;
  }
  void bind(ValueRange old, ValueRange values);

  LogicalResult block(Block &block);
  LogicalResult rewrite(Operation *op);
  LogicalResult loop(scf::ForOp op);
  LogicalResult branch(scf::IfOp op);
  LogicalResult whileLoop(scf::WhileOp op);
  LogicalResult memoryOp(Operation *op, Location loc);
  LogicalResult vectorOp(Operation *op, Location loc);
  Lanes gather(vector::GatherOp op);
  LogicalResult elementwise(Operation *op);
  Lanes load(Location loc, VectorType type, Value memory, Value index, Value full, bool aligned,
             ArrayRef<Value> mask, ArrayRef<Value> rest);
  void store(Location loc, ArrayRef<Value> values, Value memory, Value index, Value full,
             bool aligned, ArrayRef<Value> mask);
  Value wholeAt(Location loc, Value index, int64_t count, Value full, bool aligned);
  Lanes wholeLoad(OpBuilder &builder, Location loc, VectorType type, Value memory, Value index);

  OpBuilder b;
  DenseMap<Value, Lanes> lanes;
  DenseMap<Value, Value> full; ///< mask -> whether every lane is set
  SmallVector<Operation *> dead;
};

void Unroller::bind(ValueRange old, ValueRange values) {
  unsigned next = 0;
  for (Value value : old) {
    if (!isVector(value)) {
      value.replaceAllUsesWith(values[next++]);
      continue;
    }
    ValueRange own = values.slice(next, count(value));
    lanes[value] = Lanes(own.begin(), own.end());
    next += own.size();
  }
}

LogicalResult Unroller::block(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(rewrite(&op)))
      return failure();
  return success();
}

LogicalResult Unroller::rewrite(Operation *op) {
  b.setInsertionPoint(op);
  bool vectors =
      llvm::any_of(op->getOperands(), isVector) || llvm::any_of(op->getResults(), isVector);
  if (auto forOp = dyn_cast<scf::ForOp>(op))
    return loop(forOp);
  if (auto ifOp = dyn_cast<scf::IfOp>(op))
    return branch(ifOp);
  if (auto whileOp = dyn_cast<scf::WhileOp>(op))
    return whileLoop(whileOp);
  if (!vectors)
    return success();
  if (graphc::math::isTable(op))
    return success();
  if (graphc::math::isTableRead(op)) {
    b.setInsertionPointAfter(op);
    Value row = op->getResult(0);
    for (int64_t lane = 0; lane < count(row); ++lane)
      lanes[row].push_back(vector::ExtractOp::create(b, op->getLoc(), row, lane));
    return success();
  }
  if (isa<scf::YieldOp, scf::ConditionOp>(op)) {
    op->setOperands(flat(op->getOperands()));
    return success();
  }
  dead.push_back(op);
  if (isa<vector::VectorDialect>(op->getDialect()))
    return vectorOp(op, op->getLoc());
  return elementwise(op);
}

LogicalResult Unroller::loop(scf::ForOp op) {
  if (llvm::none_of(op.getResults(), isVector))
    return block(*op.getBody());
  auto fresh = scf::ForOp::create(b, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
                                  op.getStep(), flat(op.getInitArgs()));
  fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (fresh.getBody()->mightHaveTerminator() && !fresh.getBody()->empty())
    fresh.getBody()->getTerminator()->erase();
  op.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
  bind(op.getRegionIterArgs(), fresh.getRegionIterArgs());
  fresh.getBody()->getOperations().splice(fresh.getBody()->end(), op.getBody()->getOperations());
  bind(op.getResults(), fresh.getResults());
  dead.push_back(op);
  return block(*fresh.getBody());
}

LogicalResult Unroller::branch(scf::IfOp op) {
  scf::IfOp here = op;
  if (llvm::any_of(op.getResults(), isVector)) {
    here = scf::IfOp::create(b, op.getLoc(), flat(op.getResultTypes()), op.getCondition(),
                             /*addThenBlock=*/false, /*addElseBlock=*/false);
    here.getThenRegion().takeBody(op.getThenRegion());
    here.getElseRegion().takeBody(op.getElseRegion());
    bind(op.getResults(), here.getResults());
    dead.push_back(op);
  }
  for (Region *region : {&here.getThenRegion(), &here.getElseRegion()})
    if (!region->empty() && failed(block(region->front())))
      return failure();
  return success();
}

LogicalResult Unroller::whileLoop(scf::WhileOp op) {
  bool vectors = llvm::any_of(op.getResults(), isVector) || llvm::any_of(op.getInits(), isVector);
  if (!vectors) {
    if (failed(block(*op.getBeforeBody())))
      return failure();
    return block(*op.getAfterBody());
  }
  auto fresh = scf::WhileOp::create(b, op.getLoc(), flat(op.getResultTypes()), flat(op.getInits()));
  auto move = [&](Block &from, Region &to) -> Block & {
    Block &body = to.emplaceBlock();
    for (Type type : flat(from.getArgumentTypes()))
      body.addArgument(type, op.getLoc());
    bind(from.getArguments(), body.getArguments());
    body.getOperations().splice(body.end(), from.getOperations());
    return body;
  };
  Block &before = move(*op.getBeforeBody(), fresh.getBefore());
  Block &after = move(*op.getAfterBody(), fresh.getAfter());
  bind(op.getResults(), fresh.getResults());
  dead.push_back(op);
  if (failed(block(before)))
    return failure();
  return block(after);
}

LogicalResult Unroller::elementwise(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    Lanes values;
    for (auto element : dense.getValues<TypedAttr>()) {
      if (!values.empty() && dense.isSplat())
        values.push_back(values[0]);
      else
        values.push_back(arith::ConstantOp::create(b, op->getLoc(), element));
    }
    lanes[constant] = values;
    return success();
  }
  // Intrinsics are those of scalars (MlirBuilder::Target::nvidia).
  bool byLanes = op->hasTrait<OpTrait::Elementwise>() || isa<LLVM::CallIntrinsicOp>(op);
  if (!byLanes || op->getNumResults() != 1)
    return op->emitError("has no scalar form");
  auto type = cast<VectorType>(op->getResult(0).getType());
  Lanes values;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(isVector(operand) ? lanes.lookup(operand)[lane] : operand);
    state.addAttributes(op->getAttrs());
    state.addTypes(type.getElementType());
    values.push_back(b.create(state)->getResult(0));
  }
  lanes[op->getResult(0)] = values;
  return success();
}

/// Whether a whole vector may be moved at once; null when that is known.
Value Unroller::wholeAt(Location loc, Value index, int64_t count, Value full, bool aligned) {
  IndexMath m{b, loc};
  Value at;
  if (!aligned) {
    Value rest = arith::AndIOp::create(b, loc, index, m(count - 1));
    at = m.equal(rest, m(0));
  }
  if (full && at)
    return m.both(full, at);
  return full ? full : at;
}

static bool isPrivate(Value memory) {
  return memory.getDefiningOp<memref::AllocaOp>() &&
         !cast<MemRefType>(memory.getType()).getMemorySpace();
}

/// Memory of a group is used in whole vectors from its start.
static bool isShared(Value memory) {
  return memory.getDefiningOp<memref::AllocaOp>() && !isPrivate(memory);
}

static llvm::MaybeAlign vectorAlignment(VectorType type) {
  return llvm::Align(type.getNumElements() * type.getElementTypeBitWidth() / 8);
}

Lanes Unroller::wholeLoad(OpBuilder &builder, Location loc, VectorType type, Value memory,
                          Value index) {
  Lanes values;
  int64_t count = type.getNumElements(), each = std::min(count, kMostWhole);
  auto piece = VectorType::get({each}, type.getElementType());
  for (int64_t from = 0; from < count; from += each) {
    Value at = IndexMath{builder, loc}.add(index, from);
    Value whole =
        vector::LoadOp::create(builder, loc, piece, memory, at, false, vectorAlignment(piece));
    for (int64_t lane = 0; lane < each; ++lane)
      values.push_back(vector::ExtractOp::create(builder, loc, whole, lane));
  }
  return values;
}

/// Lanes without a mask bit are not read and hold `rest`.
Lanes Unroller::load(Location loc, VectorType type, Value memory, Value index, Value full,
                     bool aligned, ArrayRef<Value> mask, ArrayRef<Value> rest) {
  int64_t count = type.getNumElements();
  auto single = [&](OpBuilder &builder, int64_t lane) -> Value {
    IndexMath m{builder, loc};
    return memref::LoadOp::create(builder, loc, memory, m.add(index, lane));
  };
  auto each = [&](OpBuilder &builder) {
    Lanes values;
    for (int64_t lane = 0; lane < count; ++lane) {
      if (mask.empty()) {
        values.push_back(single(builder, lane));
        continue;
      }
      auto choice = scf::IfOp::create(builder, loc, TypeRange(type.getElementType()), mask[lane],
                                      /*withElseRegion=*/true);
      OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
      scf::YieldOp::create(yes, loc, single(yes, lane));
      scf::YieldOp::create(no, loc, rest[lane]);
      values.push_back(choice.getResult(0));
    }
    return values;
  };
  if (isPrivate(memory) || (!mask.empty() && !full))
    return each(b);
  Value whole = wholeAt(loc, index, count, full, aligned || isShared(memory));
  if (!whole)
    return wholeLoad(b, loc, type, memory, index);
  auto choice = scf::IfOp::create(b, loc, SmallVector<Type>(count, type.getElementType()), whole,
                                  /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, wholeLoad(yes, loc, type, memory, index));
  scf::YieldOp::create(no, loc, each(no));
  return Lanes(choice.getResults());
}

void Unroller::store(Location loc, ArrayRef<Value> values, Value memory, Value index, Value full,
                     bool aligned, ArrayRef<Value> mask) {
  int64_t count = values.size();
  auto type = VectorType::get({std::min(count, kMostWhole)}, values[0].getType());
  auto each = [&](OpBuilder &builder) {
    for (int64_t lane = 0; lane < count; ++lane) {
      OpBuilder here = builder;
      if (!mask.empty())
        here = scf::IfOp::create(builder, loc, mask[lane], /*withElseRegion=*/false)
                   .getThenBodyBuilder();
      memref::StoreOp::create(here, loc, values[lane], memory,
                              IndexMath{here, loc}.add(index, lane));
    }
  };
  auto wholeStore = [&](OpBuilder &builder) {
    for (int64_t from = 0; from < count; from += type.getNumElements()) {
      Value vector = vector::FromElementsOp::create(builder, loc, type,
                                                    values.slice(from, type.getNumElements()));
      vector::StoreOp::create(builder, loc, vector, memory,
                              IndexMath{builder, loc}.add(index, from), false,
                              vectorAlignment(type));
    }
  };
  if (isPrivate(memory) || (!mask.empty() && !full))
    return each(b);
  Value whole = wholeAt(loc, index, count, full, aligned || isShared(memory));
  if (!whole)
    return wholeStore(b);
  auto choice = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  wholeStore(yes);
  each(no);
}

/// Loads and stores; failure for what is none of them.
LogicalResult Unroller::memoryOp(Operation *op, Location loc) {
  auto set = [&](Lanes values) {
    lanes[op->getResult(0)] = std::move(values);
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](vector::LoadOp from) {
        return set(load(loc, from.getVectorType(), from.getBase(), from.getIndices()[0], {},
                        from.getAlignment().has_value(), {}, {}));
      })
      .Case([&](vector::MaskedLoadOp from) {
        return set(load(loc, from.getVectorType(), from.getBase(), from.getIndices()[0],
                        full.lookup(from.getMask()), false, lanesOf(from.getMask()),
                        lanesOf(from.getPassThru())));
      })
      .Case([&](vector::StoreOp to) {
        store(loc, lanesOf(to.getValueToStore()), to.getBase(), to.getIndices()[0], {},
              to.getAlignment().has_value(), {});
        return success();
      })
      .Case([&](vector::MaskedStoreOp to) {
        store(loc, lanesOf(to.getValueToStore()), to.getBase(), to.getIndices()[0],
              full.lookup(to.getMask()), false, lanesOf(to.getMask()));
        return success();
      })
      .Case([&](vector::GatherOp from) { return set(gather(from)); })
      .Default(failure());
}

Lanes Unroller::gather(vector::GatherOp op) {
  Location loc = op.getLoc();
  Lanes values;
  Type element = cast<VectorType>(op.getResult().getType()).getElementType();
  for (auto [bit, other, offset] : llvm::zip_equal(lanesOf(op.getMask()), lanesOf(op.getPassThru()),
                                                   lanesOf(op.getIndices()))) {
    auto choice = scf::IfOp::create(b, loc, TypeRange(element), bit, /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    Value step = arith::IndexCastOp::create(yes, loc, yes.getIndexType(), offset);
    Value at = IndexMath{yes, loc}.add(op.getOffsets()[0], step);
    scf::YieldOp::create(yes, loc, memref::LoadOp::create(yes, loc, op.getBase(), at).getResult());
    scf::YieldOp::create(no, loc, other);
    values.push_back(choice.getResult(0));
  }
  return values;
}

LogicalResult Unroller::vectorOp(Operation *op, Location loc) {
  if (succeeded(memoryOp(op, loc)))
    return success();
  IndexMath m{b, loc};
  auto set = [&](Lanes values) {
    lanes[op->getResult(0)] = std::move(values);
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](vector::BroadcastOp cast) {
        Value from = cast.getSource();
        return set(isVector(from) ? lanesOf(from) : Lanes(count(cast.getResult()), from));
      })
      .Case([&](vector::FromElementsOp from) {
        return set(Lanes(from.getElements().begin(), from.getElements().end()));
      })
      .Case([&](vector::ExtractOp extract) -> LogicalResult {
        if (extract.hasDynamicPosition())
          return extract.emitError("has no scalar form");
        extract.getResult().replaceAllUsesWith(
            lanesOf(extract.getSource())[extract.getStaticPosition()[0]]);
        return success();
      })
      .Case([&](vector::ExtractStridedSliceOp part) {
        Lanes all = lanesOf(part.getSource());
        int64_t first = cast<IntegerAttr>(part.getOffsets()[0]).getInt();
        return set(Lanes(ArrayRef<Value>(all).slice(first, count(part.getResult()))));
      })
      .Case([&](vector::ShuffleOp shuffle) {
        Lanes both = lanesOf(shuffle.getV1()), chosen;
        both.append(lanesOf(shuffle.getV2()));
        for (int64_t from : shuffle.getMask())
          chosen.push_back(both[from]);
        return set(std::move(chosen));
      })
      .Case([&](vector::CreateMaskOp mask) {
        Lanes bits;
        for (int64_t lane = 0, size = count(mask.getResult()); lane < size; ++lane)
          bits.push_back(m.less(m(lane), mask.getOperand(0)));
        full[mask.getResult()] = bits.back();
        return set(std::move(bits));
      })
      .Case([&](vector::ReductionOp reduction) -> LogicalResult {
        if (reduction.getKind() != vector::CombiningKind::OR || reduction.getAcc())
          return reduction.emitError("has no scalar form");
        Lanes bits = lanesOf(reduction.getVector());
        Value any = bits[0];
        for (Value bit : ArrayRef<Value>(bits).drop_front())
          any = m.either(any, bit);
        reduction.getResult().replaceAllUsesWith(any);
        return success();
      })
      .Default([](Operation *other) { return other->emitError("has no scalar form"); });
}

struct UnrollVectors : pass::impl::UnrollVectorsBase<UnrollVectors> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (failed(Unroller(&getContext()).run(getOperation())))
      signalPassFailure();
  }
};

} // namespace
