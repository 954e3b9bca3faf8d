#include "compiler/passes/lower/BodyEmitter.h"

#include "compiler/passes/fuse/Watch.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

BodyEmitter::BodyEmitter(kernel::FuncOp func, const LoopSpace &space, ValueRange buffers,
                         ValueRange sizes)
    : func(func), space(space), loc(func.getLoc()), buffers(buffers), sizes(sizes) {}

Type BodyEmitter::vectorOf(Type element, int64_t width) {
  return width == 1 ? element : VectorType::get({width}, element);
}

Value BodyEmitter::splat(OpBuilder &builder, Location loc, Value value, int64_t width) {
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  // Beside its load, of which it is a part then.
  OpBuilder::InsertionGuard guard(builder);
  if (auto load = value.getDefiningOp<memref::LoadOp>();
      load && load->getBlock() == builder.getInsertionBlock())
    builder.setInsertionPointAfter(load);
  return vector::BroadcastOp::create(builder, loc, VectorType::get({width}, value.getType()),
                                     value);
}

void BodyEmitter::maskLanes(OpBuilder &builder, Position &position, Value limit) {
  position.limit = limit;
  position.whole = {};
  if (position.width == 1)
    return;
  Value left = arith::SubIOp::create(builder, loc, limit, position.loops[position.vectorLoop]);
  position.mask = vector::CreateMaskOp::create(
      builder, loc, VectorType::get({position.width}, builder.getI1Type()), left);
}

void BodyEmitter::maskAll(OpBuilder &builder, Position &position, Value limit) {
  maskLanes(builder, position, limit);
  Value lanes = arith::ConstantIndexOp::create(builder, loc, position.width);
  Value end = arith::AddIOp::create(builder, loc, position.loops[position.vectorLoop], lanes);
  position.whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, end, limit);
}

void BodyEmitter::delinearize(OpBuilder &builder, Value linear, unsigned first, unsigned last,
                              Position &position) {
  for (unsigned loop = last; loop-- > first;) {
    if (loop == first) {
      position.loops[loop] = linear;
      break;
    }
    Value size = extent(builder, loop);
    position.loops[loop] = arith::RemUIOp::create(builder, loc, linear, size);
    linear = arith::DivUIOp::create(builder, loc, linear, size);
  }
}

Value BodyEmitter::index(OpBuilder &builder, const LinearAccess &access, Position &position) {
  Value sum = access.offset.isZero() ? Value() : emit(builder, access.offset);
  auto add = [&](Value steps, const Polynomial &stride) {
    if (stride.isZero())
      return;
    assert(steps && "access depends on a loop without a position");
    Value term = steps;
    if (!stride.isConstant(1))
      term = arith::MulIOp::create(builder, loc, term, emit(builder, stride));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term).getResult() : term;
  };
  for (auto [stride, loop] : llvm::zip_equal(access.strides, position.loops))
    add(loop, stride);
  if (position.further)
    add(position.further, access.strides[position.furtherLoop]);
  return sum ? sum : arith::ConstantIndexOp::create(builder, loc, 0).getResult();
}

Value BodyEmitter::fromMemory(OpBuilder &builder, Value value, Type type) {
  Type from = graph::elementType(value.getType());
  if (from == type)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  Type to = vector ? Type(vector.clone(type)) : type;
  // The bits of a float of 16 bits, else a widening or narrowing of integers.
  if (isa<FloatType>(from) || isa<FloatType>(type))
    return arith::BitcastOp::create(builder, loc, to, value);
  return graph::CastOp::create(builder, loc, to, value);
}

Value BodyEmitter::toMemory(OpBuilder &builder, Value value) {
  Type element = graph::elementType(value.getType());
  return fromMemory(builder, value, memoryType(element));
}

/// Index of one lane; masked lanes repeat the last valid one, so that every address is inside
/// the buffer.
Value BodyEmitter::laneIndex(OpBuilder &builder, Value first, Value stride, int64_t lane,
                             Position &position) {
  Value step = arith::ConstantIndexOp::create(builder, loc, lane);
  if (position.limit) {
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value left =
        arith::SubIOp::create(builder, loc, position.limit, position.loops[position.vectorLoop]);
    step =
        arith::MinSIOp::create(builder, loc, step, arith::SubIOp::create(builder, loc, left, one));
  }
  return arith::AddIOp::create(builder, loc, first,
                               arith::MulIOp::create(builder, loc, step, stride));
}

/// 0, 1, 2, ... times a stride.
Value BodyEmitter::laneSteps(OpBuilder &builder, const Polynomial &stride, int64_t width) {
  auto type = VectorType::get({width}, builder.getI64Type());
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, width));
  Value lanes =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  if (stride.isConstant(1))
    return lanes;
  Value scale =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), emit(builder, stride));
  return arith::MulIOp::create(builder, loc, lanes, splat(builder, loc, scale, width));
}

/// Up to here a step is taken by reading, or writing, the whole vectors that hold the lanes.
static constexpr int64_t kShortStep = 4;

std::optional<int64_t> BodyEmitter::shortStep(const Polynomial &stride) {
  auto step = stride.constant();
  // The work-items of a group read and write elements.
  bool isShort = step && !func.getSchedule()->getGroup() && *step != 0 && *step != 1 &&
                 std::abs(*step) <= kShortStep;
  return isShort ? step : std::nullopt;
}

/// Which of `width` elements from `start` on belong to lanes that are not masked off, where all
/// lanes have `last` + 1 elements from the lowest to the highest.
Value BodyEmitter::maskSteps(OpBuilder &builder, int64_t start, int64_t last, int64_t step,
                             const Position &position) {
  IndexMath m{builder, loc};
  Value left = m.sub(position.limit, position.loops[position.vectorLoop]);
  Value reach = m.mul(m.sub(m.min(left, position.width), m(1)), m(std::abs(step)));
  auto type = VectorType::get({position.width}, builder.getI1Type());
  if (step > 0)
    return vector::CreateMaskOp::create(builder, loc, type, m.sub(m.add(reach, 1), m(start)));
  Value before = vector::CreateMaskOp::create(builder, loc, type, m.sub(m(last - start), reach));
  return arith::XOrIOp::create(
      builder, loc, before,
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true)));
}

/// Lanes a few elements apart: all elements from the lowest to the highest are read, the last ones
/// in a vector that ends with them, and those of the lanes picked.
Value BodyEmitter::loadSteps(OpBuilder &builder, Value buffer, Value first, int64_t step,
                             const Position &position) {
  IndexMath m{builder, loc};
  int64_t width = position.width;
  auto type = VectorType::get({width}, cast<MemRefType>(buffer.getType()).getElementType());
  Value zero;
  if (position.limit)
    zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  int64_t apart = std::abs(step), last = (width - 1) * apart;
  Value lowest = step < 0 ? m.sub(first, m(last)) : first, result;
  for (int64_t piece = 0; piece < apart; ++piece) {
    int64_t start = std::min(piece * width, last + 1 - width), end = start + width;
    Value from = m.add(lowest, start), some;
    if (position.limit)
      some = vector::MaskedLoadOp::create(builder, loc, type, buffer, from,
                                          maskSteps(builder, start, last, step, position), zero);
    else
      some = vector::LoadOp::create(builder, loc, type, buffer, from);
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < width; ++lane) {
      int64_t at = (step < 0 ? width - 1 - lane : lane) * apart;
      bool here = at >= piece * width && at < end;
      lanes.push_back(here ? width + at - start : lane);
    }
    result = vector::ShuffleOp::create(builder, loc, result ? result : some, some, lanes);
  }
  return result;
}

/// Elements a stride apart, one by one where lanesAt() would.
Value BodyEmitter::gather(OpBuilder &builder, Value buffer, Value first, const Polynomial &stride,
                          Position &position) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  int64_t width = position.width;
  if (auto apart = shortStep(stride))
    return loadSteps(builder, buffer, first, *apart, position);
  Value step = emit(builder, stride);
  if (gathers(element) && !stride.constant())
    return lanesAt(builder, buffer, first, laneSteps(builder, stride, width), position);
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < width; ++lane)
    lanes.push_back(memref::LoadOp::create(builder, loc, buffer,
                                           laneIndex(builder, first, step, lane, position)));
  auto type = VectorType::get({width}, lanes[0].getType());
  return vector::FromElementsOp::create(builder, loc, type, lanes);
}

static llvm::MaybeAlign alignment(VectorType type, const Position &position) {
  if (!position.aligned)
    return {};
  return llvm::Align(type.getNumElements() * type.getElementTypeBitWidth() / 8);
}

Value BodyEmitter::load(OpBuilder &builder, Value buffer, const LinearAccess &access, Type type,
                        Position &position) {
  Value raw = loadFrom(builder, buffer, index(builder, access, position), access, position);
  return fromMemory(builder, raw, type);
}

/// What is in memory at `first`, or at the access's lanes from there on.
Value BodyEmitter::loadFrom(OpBuilder &builder, Value buffer, Value first,
                            const LinearAccess &access, Position &position) {
  bool lanes = position.vectorLoop >= 0 && position.width > 1 &&
               !access.strides[position.vectorLoop].isZero();
  if (!lanes)
    return memref::LoadOp::create(builder, loc, buffer, first);
  if (access.part && access.isDense(position.vectorLoop))
    return loadParts(builder, buffer, first, *access.part, position);
  if (!access.strides[position.vectorLoop].isConstant(1))
    return gather(builder, buffer, first, access.strides[position.vectorLoop], position);
  auto vector =
      VectorType::get({position.width}, cast<MemRefType>(buffer.getType()).getElementType());
  if (!position.limit)
    return vector::LoadOp::create(builder, loc, vector, buffer, first, false,
                                  alignment(vector, position));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vector));
  return vector::MaskedLoadOp::create(builder, loc, vector, buffer, first, position.mask, zero);
}

Value BodyEmitter::indexValue(OpBuilder &builder, kernel::IndexOp op, Position &position) {
  const LinearAccess &access = space.accesses.at(op);
  Value first = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                           index(builder, access, position));
  bool lanes = position.vectorLoop >= 0 && position.width > 1 &&
               !access.strides[position.vectorLoop].isZero();
  if (!lanes)
    return first;
  Value steps = laneSteps(builder, access.strides[position.vectorLoop], position.width);
  return arith::AddIOp::create(builder, loc, splat(builder, loc, first, position.width), steps);
}

Value BodyEmitter::number(OpBuilder &builder, kernel::NumberOp op, Position &position) {
  Type type = op.getType();
  Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value held = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                          index(builder, space.accesses.at(op), position));
  if (!bits.isInteger(64))
    held = arith::TruncIOp::create(builder, loc, bits, held);
  return isa<FloatType>(type) ? arith::BitcastOp::create(builder, loc, type, held).getResult()
                              : held;
}

Value BodyEmitter::value(OpBuilder &builder, Value kernelValue, Position &position) {
  if (Value known = position.values.lookup(kernelValue))
    return known;
  // Operands first, without recursion over the depth of the body.
  SmallVector<Value> stack = {kernelValue};
  while (!stack.empty()) {
    Value current = stack.back();
    if (position.values.count(current)) {
      stack.pop_back();
      continue;
    }
    Operation *op = current.getDefiningOp();
    assert(op && !isa<kernel::ReduceOp>(op) && !isa<kernel::DotOp>(op) &&
           "reduction read before it is computed");
    Value result;
    if (auto loadOp = dyn_cast<kernel::LoadOp>(op)) {
      Value buffer = buffers[cast<BlockArgument>(loadOp.getTensor()).getArgNumber()];
      result = load(builder, buffer, space.accesses.at(op), loadOp.getType(), position);
    } else if (auto indexOp = dyn_cast<kernel::IndexOp>(op)) {
      result = indexValue(builder, indexOp, position);
    } else if (auto numberOp = dyn_cast<kernel::NumberOp>(op)) {
      result = number(builder, numberOp, position);
    } else if (auto run = dyn_cast<kernel::GatherOp>(op); run && goesInRuns(run, position)) {
      result = gatheredRun(builder, run, position);
    } else {
      bool ready = true;
      for (Value operand : op->getOperands())
        // The tensor of a gather is an argument.
        if (operand.getDefiningOp() && !position.values.count(operand)) {
          stack.push_back(operand);
          ready = false;
        }
      if (!ready)
        continue;
      if (auto gather = dyn_cast<kernel::GatherOp>(op))
        result = gathered(builder, gather, position);
      else if (auto check = dyn_cast<kernel::BoundOp>(op))
        result = bound(builder, check, position);
      else if (auto check = dyn_cast<kernel::InsideOp>(op))
        result = inside(builder, check, position);
      if (result) {
        position.values[current] = result;
        stack.pop_back();
        continue;
      }
      SmallVector<Value> operands;
      bool lanes = false;
      for (Value operand : op->getOperands()) {
        // What is made of it may hide what it met. A row's reductions are looked at once a row.
        if (operand.getDefiningOp<kernel::DotOp>() || operand.getDefiningOp<kernel::ScanOp>())
          watchReduced(builder, operand, position);
        operands.push_back(position.values.lookup(operand));
        lanes |= isa<VectorType>(operands.back().getType());
      }
      if (lanes)
        for (Value &operand : operands)
          operand = splat(builder, loc, operand, position.width);
      OperationState state(op->getLoc(), op->getName());
      state.addOperands(operands);
      state.addAttributes(op->getAttrs());
      state.addTypes(vectorOf(op->getResult(0).getType(), lanes ? position.width : 1));
      Operation *made = builder.create(state);
      result = made->getResult(0);
      if (Attribute watched = made->removeAttr(pass::kWatchAttr)) {
        if (isa<StringAttr>(watched))
          watchOperation(builder, made, position);
        else
          watch(builder, made, position);
      }
    }
    position.values[current] = result;
    stack.pop_back();
  }
  return position.values.lookup(kernelValue);
}

void BodyEmitter::store(OpBuilder &builder, kernel::StoreOp op, Position &position) {
  if (op.getImaginary())
    storeParts(builder, op, position);
  else
    storeValue(builder, op, op.getValue(), position);
}

void BodyEmitter::storeValue(OpBuilder &builder, kernel::StoreOp op, Value kernelValue,
                             Position &position) {
  const LinearAccess &access = space.accesses.at(op);
  Value own = value(builder, kernelValue, position);
  watchReduced(builder, kernelValue, position);
  Value raw = toMemory(builder, own);
  Value buffer = this->buffer(op);
  Value first = index(builder, access, position);
  bool lanes = position.vectorLoop >= 0 && position.width > 1 &&
               !access.strides[position.vectorLoop].isZero();
  if (!lanes) {
    memref::StoreOp::create(builder, loc, raw, buffer, first);
    return;
  }
  raw = splat(builder, loc, raw, position.width);
  if (access.strides[position.vectorLoop].isConstant(1)) {
    return storeVector(builder, op, raw, first, position, position.mask,
                       alignment(cast<VectorType>(raw.getType()), position));
  }
  if (auto apart = shortStep(access.strides[position.vectorLoop]))
    return storeSteps(builder, raw, buffer, first, *apart, position);
  forLanes(builder, first, access.strides[position.vectorLoop], position,
           [&](OpBuilder &inside, int64_t lane, Value where) {
             Value element = vector::ExtractOp::create(inside, loc, raw, lane);
             memref::StoreOp::create(inside, loc, element, buffer, where);
           });
}

/// The reverse of loadSteps(): what lies between the lanes is masked off.
void BodyEmitter::storeSteps(OpBuilder &builder, Value raw, Value buffer, Value first, int64_t step,
                             const Position &position) {
  IndexMath m{builder, loc};
  auto type = cast<VectorType>(raw.getType());
  int64_t width = type.getNumElements(), apart = std::abs(step), last = (width - 1) * apart;
  Value lowest = step < 0 ? m.sub(first, m(last)) : first;
  for (int64_t piece = 0; piece < apart; ++piece) {
    int64_t start = std::min(piece * width, last + 1 - width);
    SmallVector<int64_t> lanes;
    SmallVector<bool> present;
    for (int64_t at = start; at < start + width; ++at) {
      int64_t lane = at / apart;
      present.push_back(at >= piece * width && at % apart == 0);
      lanes.push_back(step < 0 ? width - 1 - lane : lane);
    }
    Value some = vector::ShuffleOp::create(builder, loc, raw, raw, lanes);
    Value mask = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(VectorType::get({width}, builder.getI1Type()), present));
    if (position.limit)
      mask = m.both(mask, maskSteps(builder, start, last, step, position));
    vector::MaskedStoreOp::create(builder, loc, buffer, m.add(lowest, start), mask, some);
  }
}

/// Every lane that is not masked off, with its index.
void BodyEmitter::forLanes(OpBuilder &builder, Value first, const Polynomial &stride,
                           Position &position,
                           llvm::function_ref<void(OpBuilder &, int64_t, Value)> body) {
  Value step = emit(builder, stride);
  for (int64_t lane = 0; lane < position.width; ++lane) {
    Value where = laneIndex(builder, first, step, lane, position);
    if (!position.limit) {
      body(builder, lane, where);
      continue;
    }
    Value last = arith::AddIOp::create(builder, loc, position.loops[position.vectorLoop],
                                       arith::ConstantIndexOp::create(builder, loc, lane));
    Value valid =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, last, position.limit);
    auto guard = scf::IfOp::create(builder, loc, valid, /*withElseRegion=*/false);
    OpBuilder inside = guard.getThenBodyBuilder();
    body(inside, lane, where);
  }
}

/// The position's mask for both parts of every lane.
Value BodyEmitter::partsMask(OpBuilder &builder, Position &position) {
  Value left =
      arith::SubIOp::create(builder, loc, position.limit, position.loops[position.vectorLoop]);
  auto type = VectorType::get({2 * position.width}, builder.getI1Type());
  auto until = [&](Value lane) -> Value {
    return vector::CreateMaskOp::create(
        builder, loc, type, arith::AddIOp::create(builder, loc, lane, lane).getResult());
  };
  if (!position.from)
    return until(left);
  return arith::XOrIOp::create(builder, loc, until(position.from), until(left));
}

/// One part of consecutive complex elements: both are read, which whoever wants the other shares.
Value BodyEmitter::loadParts(OpBuilder &builder, Value buffer, Value first, int64_t part,
                             Position &position) {
  auto type =
      VectorType::get({2 * position.width}, cast<MemRefType>(buffer.getType()).getElementType());
  Value from = first;
  if (part)
    from = arith::SubIOp::create(builder, loc, first,
                                 arith::ConstantIndexOp::create(builder, loc, part));
  Value both;
  if (position.limit) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    both = vector::MaskedLoadOp::create(builder, loc, type, buffer, from,
                                        partsMask(builder, position), zero);
  } else {
    both = vector::LoadOp::create(builder, loc, type, buffer, from);
  }
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < position.width; ++lane)
    lanes.push_back(2 * lane + part);
  return vector::ShuffleOp::create(builder, loc, both, both, lanes);
}

void BodyEmitter::storeParts(OpBuilder &builder, kernel::StoreOp op, Position &position) {
  const LinearAccess &access = space.accesses.at(op);
  Value re = value(builder, op.getValue(), position);
  Value im = value(builder, op.getImaginary(), position);
  watchReduced(builder, op.getValue(), position);
  watchReduced(builder, op.getImaginary(), position);
  Value buffer = buffers[func.getNumTensors() + op.getResult()];
  Value first = index(builder, access, position);
  auto pair = [&](OpBuilder &b, Value a, Value c, Value where) {
    Value next = arith::AddIOp::create(b, loc, where, arith::ConstantIndexOp::create(b, loc, 1));
    memref::StoreOp::create(b, loc, a, buffer, where);
    memref::StoreOp::create(b, loc, c, buffer, next);
  };
  bool lanes = position.vectorLoop >= 0 && position.width > 1 &&
               !access.strides[position.vectorLoop].isZero();
  if (!lanes)
    return pair(builder, re, im, first);
  re = splat(builder, loc, re, position.width);
  im = splat(builder, loc, im, position.width);
  if (!access.isDense(position.vectorLoop))
    return forLanes(builder, first, access.strides[position.vectorLoop], position,
                    [&](OpBuilder &inside, int64_t lane, Value where) {
                      pair(inside, vector::ExtractOp::create(inside, loc, re, lane),
                           vector::ExtractOp::create(inside, loc, im, lane), where);
                    });
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < position.width; ++lane)
    order.append({lane, position.width + lane});
  Value both = vector::ShuffleOp::create(builder, loc, re, im, order);
  Value mask = position.limit ? partsMask(builder, position) : Value();
  storeVector(builder, op, both, first, position, mask, std::nullopt);
}
