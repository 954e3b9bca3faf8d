#include "compiler/passes/lower/Trees.h"

#include "compiler/passes/lower/IndexMath.h"

#include "compiler/passes/lower/BodyEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Lanes of narrow sums that are added at once.
static constexpr int64_t kFoldedLanes = 64;

TreeEmitter::TreeEmitter(Block *entry, Location loc, ArrayRef<Reducer> reducers, int64_t width,
                         int64_t rest)
    : entry(entry), loc(loc), reducers(reducers), width(width), rest(rest ? rest : width) {}

Value TreeEmitter::constant(OpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

TreeEmitter::Storage TreeEmitter::allocate(int64_t elements, bool sequence) {
  OpBuilder builder = OpBuilder::atBlockBegin(entry);
  IntegerAttr onLines = width > 1 ? builder.getI64IntegerAttr(kLineBytes) : IntegerAttr();
  Storage storage;
  for (const Reducer &reducer : reducers)
    for (Type type : sequence ? reducer.sequenceTypes() : reducer.types())
      storage.push_back(memref::AllocaOp::create(
          builder, loc, MemRefType::get({elements}, memoryType(type)), onLines));
  return storage;
}

TreeEmitter::Storage TreeEmitter::allocateShared(int64_t elements) {
  OpBuilder builder = OpBuilder::atBlockBegin(entry);
  auto local = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  Storage storage;
  for (const Reducer &reducer : reducers)
    for (Type type : reducer.types())
      storage.push_back(memref::AllocaOp::create(
          builder, loc, MemRefType::get({elements}, memoryType(type), AffineMap(), local)));
  return storage;
}

SmallVector<Value> TreeEmitter::flatten(const States &states) {
  SmallVector<Value> result;
  for (const auto &state : states)
    result.append(state.begin(), state.end());
  return result;
}

States TreeEmitter::unflatten(ValueRange values) {
  States states;
  unsigned next = 0;
  for (const Reducer &reducer : reducers) {
    states.emplace_back();
    for (unsigned part = 0; part < reducer.parts(); ++part)
      states.back().push_back(values[next++]);
  }
  return states;
}

States TreeEmitter::identity(OpBuilder &builder, int64_t lanesWide) {
  States states;
  for (const Reducer &reducer : reducers)
    states.push_back(reducer.identity(builder, lanesWide));
  return states;
}

States TreeEmitter::sequenceIdentity(OpBuilder &builder, int64_t lanesWide) {
  States states;
  for (const Reducer &reducer : reducers)
    states.push_back(reducer.sequenceIdentity(builder, lanesWide));
  return states;
}

States TreeEmitter::append(OpBuilder &builder, const States &states, ArrayRef<Value> values,
                           Value number) {
  States result;
  for (auto [reducer, state, value] : llvm::zip_equal(reducers, states, values))
    result.push_back(reducer.append(builder, state, value, number));
  return result;
}

States TreeEmitter::fromSequence(OpBuilder &builder, const States &states, Value first,
                                 int64_t step, int64_t laneStep) {
  States result;
  for (auto [reducer, state] : llvm::zip_equal(reducers, states))
    result.push_back(reducer.fromSequence(builder, state, first, step, laneStep));
  return result;
}

States TreeEmitter::combine(OpBuilder &builder, const States &a, const States &b) {
  States states;
  for (auto [reducer, x, y] : llvm::zip_equal(reducers, a, b))
    states.push_back(reducer.combine(builder, x, y));
  return states;
}

void TreeEmitter::save(OpBuilder &builder, const Storage &storage, Value index,
                       const States &states) {
  for (auto [memory, value] : llvm::zip_equal(storage, flatten(states))) {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    auto vector = dyn_cast<VectorType>(value.getType());
    Type type = vector ? Type(vector.clone(element)) : element;
    Value raw = value.getType() == type
                    ? value
                    : graph::CastOp::create(builder, loc, type, value).getResult();
    if (vector)
      vector::StoreOp::create(builder, loc, raw, memory, index);
    else
      memref::StoreOp::create(builder, loc, raw, memory, index);
  }
}

States TreeEmitter::restore(OpBuilder &builder, const Storage &storage, Value index,
                            int64_t lanesWide, bool sequence) {
  SmallVector<Value> values;
  unsigned next = 0;
  for (const Reducer &reducer : reducers)
    for (Type type : sequence ? reducer.sequenceTypes() : reducer.types()) {
      Value memory = storage[next++];
      Type element = cast<MemRefType>(memory.getType()).getElementType();
      Value raw = lanesWide == 1
                      ? memref::LoadOp::create(builder, loc, memory, index).getResult()
                      : vector::LoadOp::create(builder, loc, VectorType::get({lanesWide}, element),
                                               memory, index)
                            .getResult();
      Type wanted = BodyEmitter::vectorOf(type, lanesWide);
      values.push_back(raw.getType() == wanted
                           ? raw
                           : graph::CastOp::create(builder, loc, wanted, raw).getResult());
    }
  return unflatten(values);
}

void TreeEmitter::foldStrips(OpBuilder &builder, const Storage &storage, Value count,
                             int64_t step) {
  int64_t halvings = llvm::Log2_64(kTreeLanes) - llvm::Log2_64(step);
  if (halvings == 0)
    return;
  Value zero = constant(builder, 0), one = constant(builder, 1),
        half = constant(builder, kTreeLanes / 2);
  auto outer = scf::ForOp::create(builder, loc, zero, constant(builder, halvings), one);
  OpBuilder b = OpBuilder::atBlockBegin(outer.getBody());
  Value h = arith::ShRUIOp::create(b, loc, half, outer.getInductionVar());
  Value present = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, count, h), zero);
  Value end = arith::MinSIOp::create(b, loc, h, present);
  auto inner = scf::ForOp::create(b, loc, zero, end, constant(b, step));
  OpBuilder c = OpBuilder::atBlockBegin(inner.getBody());
  Value low = inner.getInductionVar(), high = arith::AddIOp::create(c, loc, low, h);
  save(c, storage, low,
       combine(c, restore(c, storage, low, step, false), restore(c, storage, high, step, false)));
}

States TreeEmitter::foldLanes(OpBuilder &builder, const Storage &storage, Value count) {
  foldStrips(builder, storage, count, 1);
  return restore(builder, storage, constant(builder, 0), 1, false);
}

bool TreeEmitter::isFree() const {
  return width > 1 && llvm::all_of(reducers, [](const Reducer &r) { return r.isFree(); });
}

States TreeEmitter::foldVector(OpBuilder &builder, States states, int64_t lanes, int64_t until) {
  for (int64_t lanesWide = lanes; lanesWide > until; lanesWide /= 2) {
    States low, high;
    for (const auto &state : states) {
      low.emplace_back();
      high.emplace_back();
      for (Value part : state) {
        int64_t half = lanesWide / 2;
        if (half == 1) {
          low.back().push_back(vector::ExtractOp::create(builder, loc, part, 0));
          high.back().push_back(vector::ExtractOp::create(builder, loc, part, 1));
          continue;
        }
        low.back().push_back(
            vector::ExtractStridedSliceOp::create(builder, loc, part, ArrayRef<int64_t>{0},
                                                  ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1}));
        high.back().push_back(
            vector::ExtractStridedSliceOp::create(builder, loc, part, ArrayRef<int64_t>{half},
                                                  ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1}));
      }
    }
    states = combine(builder, low, high);
  }
  return states;
}

void TreeEmitter::eachStrip(OpBuilder &builder, Value count,
                            llvm::function_ref<void(OpBuilder &, Value)> body) {
  auto strips =
      scf::ForOp::create(builder, loc, constant(builder, 0), count, constant(builder, width));
  OpBuilder inside = OpBuilder::atBlockBegin(strips.getBody());
  body(inside, strips.getInductionVar());
}

/// All lanes of the first `count` rows, row after row; what the lanes have so far is in memory.
void TreeEmitter::straightRows(OpBuilder &builder, const Storage &running, Value first, Value count,
                               const Body &body) {
  Value all = constant(builder, kTreeLanes);
  eachStrip(builder, all, [&](OpBuilder &b, Value strip) {
    save(b, running, strip, sequenceIdentity(b, width));
  });
  // Rows of a strip at a time, whose lanes are in registers meanwhile.
  auto some =
      scf::ForOp::create(builder, loc, constant(builder, 0), count, constant(builder, straight));
  OpBuilder b = OpBuilder::atBlockBegin(some.getBody());
  Value from = some.getInductionVar();
  Value to = arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, from, constant(b, straight)), count);
  eachStrip(b, all, [&](OpBuilder &c, Value strip) {
    Value start = arith::AddIOp::create(c, loc, first, strip);
    if (straight == 1) {
      Value offset = arith::MulIOp::create(c, loc, from, all);
      SmallVector<Value> next = body(c, arith::AddIOp::create(c, loc, start, offset), Value());
      States before = restore(c, running, strip, width, true);
      return save(c, running, strip, append(c, before, next, from));
    }
    States before = restore(c, running, strip, width, true);
    save(c, running, strip, stripRows(c, from, to, start, before, body));
  });
}

/// Rows [from, to) of the strip that begins at `start`, after what is in `states`. `before`: the
/// elements of strips before this one, where all of those are visited first.
States TreeEmitter::stripRows(OpBuilder &b, Value from, Value to, Value start, const States &states,
                              const Body &body, Value before) {
  auto rows = scf::ForOp::create(b, loc, from, to, constant(b, 1), flatten(states));
  OpBuilder c = OpBuilder::atBlockBegin(rows.getBody());
  Value number = rows.getInductionVar();
  Value offset = arith::MulIOp::create(c, loc, number, constant(c, kTreeLanes));
  if (IndexMath m{c, loc}; before)
    visited = m.add(before, m.mul(number, width));
  SmallVector<Value> next = body(c, arith::AddIOp::create(c, loc, start, offset), Value());
  visited = {};
  scf::YieldOp::create(c, loc,
                       flatten(append(c, unflatten(rows.getRegionIterArgs()), next, number)));
  return unflatten(rows.getResults());
}

/// What a strip has, but not its part of the last row where that is left to lastLanes().
States TreeEmitter::wholeStrip(OpBuilder &b, Value strip, Value first, Value length,
                               const Body &body) {
  IndexMath m{b, loc};
  Value start = m.add(first, strip);
  // Rows in which all lanes of the strip are present: (length - strip - width + 256) / 256.
  Value whole = m.div(m.add(m.sub(length, strip), kTreeLanes - width), kTreeLanes);
  States states = stripRows(b, m(0), whole, start, sequenceIdentity(b, width), body,
                            m.add(first, m.mul(strip, whole)));
  if (width == 1 || rest < width)
    return states;
  Value end = arith::AddIOp::create(b, loc, first, length);
  return unflatten(lastRow(b, flatten(states), start, whole, end, body));
}

/// What the last row has beyond whole strips (beyond whole rows, if they are straight), a few lanes
/// at a time.
void TreeEmitter::lastLanes(OpBuilder &builder, const Storage &running, Value first, Value length,
                            const Body &body) {
  Value all = constant(builder, kTreeLanes);
  Value number = arith::DivUIOp::create(builder, loc, length, all);
  Value row = arith::MulIOp::create(builder, loc, number, all);
  Value present = arith::SubIOp::create(builder, loc, length, row), from = constant(builder, 0);
  if (!straight && width < kTreeLanes) {
    Value w = constant(builder, width);
    from = arith::MulIOp::create(builder, loc, arith::DivUIOp::create(builder, loc, present, w), w);
  }
  Value start = arith::AddIOp::create(builder, loc, first, row);
  Value end = arith::AddIOp::create(builder, loc, first, length);
  auto strips = scf::ForOp::create(builder, loc, from, present, constant(builder, rest));
  OpBuilder b = OpBuilder::atBlockBegin(strips.getBody());
  Value lane = strips.getInductionVar();
  maskedLanes(b, running, arith::AddIOp::create(b, loc, start, lane), lane, number, end, body);
}

/// Adds the elements from `index` on, those before `end`, to the lanes from `lane` on.
void TreeEmitter::maskedLanes(OpBuilder &b, const Storage &running, Value index, Value lane,
                              Value number, Value end, const Body &body) {
  SmallVector<Value> values = body(b, index, end);
  States before = restore(b, running, lane, rest, true); // late: the body needs the registers
  Value mask = vector::CreateMaskOp::create(b, loc, VectorType::get({rest}, b.getI1Type()),
                                            arith::SubIOp::create(b, loc, end, index).getResult());
  SmallVector<Value> merged = flatten(append(b, before, values, number));
  for (auto [value, old] : llvm::zip_equal(merged, flatten(before)))
    value = arith::SelectOp::create(b, loc, mask, value, old);
  save(b, running, lane, unflatten(merged));
}

/// All elements of a block in the order in which they lie.
void TreeEmitter::eachVector(OpBuilder &builder, const Storage &running, Value first, Value length,
                             const Body &body) {
  Value all = constant(builder, kTreeLanes),
        end = arith::AddIOp::create(builder, loc, first, length);
  eachStrip(builder, all, [&](OpBuilder &b, Value strip) {
    save(b, running, strip, sequenceIdentity(b, width));
  });
  eachStrip(builder, length, [&](OpBuilder &b, Value from) {
    Value index = arith::AddIOp::create(b, loc, first, from);
    Value lane = arith::RemUIOp::create(b, loc, from, all);
    Value number = arith::DivUIOp::create(b, loc, from, all);
    maskedLanes(b, running, index, lane, number, end, body);
  });
}

/// All lanes, as foldStrips() and foldVector() fold them: no loops, and no states in memory.
States TreeEmitter::foldWhole(OpBuilder &builder, const Storage &storage) {
  SmallVector<States> strips;
  for (int64_t lane = 0; lane < kTreeLanes; lane += width)
    strips.push_back(restore(builder, storage, constant(builder, lane), width, true));
  return foldWhole(builder, std::move(strips));
}

States TreeEmitter::foldWhole(OpBuilder &builder, SmallVector<States> strips) {
  for (size_t half = strips.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      strips[i] = combine(builder, strips[i], strips[i + half]);
  return strips[0];
}

/// Halves of a vector joined until one lane is left.
static Value foldHalves(OpBuilder &b, Location loc, Value value, int64_t lanes,
                        llvm::function_ref<Value(Value, Value)> join) {
  if (lanes == 1)
    return value;
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, half));
    auto high = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
    value = join(vector::ShuffleOp::create(b, loc, value, value, low),
                 vector::ShuffleOp::create(b, loc, value, value, high));
  }
  return vector::ExtractOp::create(b, loc, value, 0);
}

/// Of one argmin or argmax, which any order finds: the value first, then the first of its places.
States TreeEmitter::findPlace(OpBuilder &builder, const Storage &storage, Value first,
                              Value count) {
  const Reducer &reducer = reducers.front();
  unsigned bits = std::max(32u, reducer.sequenceTypes()[1].getIntOrFloatBitWidth());
  auto place = IntegerType::get(builder.getContext(), bits);
  Type lanesOf = BodyEmitter::vectorOf(place, width), wide = builder.getI64Type();
  Value zero = constant(builder, 0), step = constant(builder, width);
  auto number = [&](OpBuilder &b, int64_t value) {
    Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(place, value));
    return BodyEmitter::splat(b, loc, one, width);
  };
  auto values = scf::ForOp::create(builder, loc, zero, count, step,
                                   ValueRange(reducer.identity(builder, width)[0]));
  OpBuilder b = OpBuilder::atBlockBegin(values.getBody());
  Value value = restore(b, storage, values.getInductionVar(), width, true)[0][0];
  scf::YieldOp::create(b, loc, reducer.found(b, values.getRegionIterArgs()[0], value));
  Value best = foldHalves(builder, loc, values.getResult(0), width,
                          [&](Value x, Value y) { return reducer.found(builder, x, y); });
  Value bests = BodyEmitter::splat(builder, loc, best, width);
  int64_t none = bits == 32 ? INT32_MAX : INT64_MAX;
  Value nowhere = number(builder, none);
  auto places = scf::ForOp::create(builder, loc, zero, count, step, ValueRange(nowhere));
  OpBuilder c = OpBuilder::atBlockBegin(places.getBody());
  Value lane = places.getInductionVar();
  auto state = restore(c, storage, lane, width, true)[0];
  Value row = state[1];
  if (row.getType() != lanesOf)
    row = arith::ExtUIOp::create(c, loc, lanesOf, row);
  Value at = arith::MulIOp::create(c, loc, row, number(c, kTreeLanes));
  Value strip = arith::IndexCastOp::create(c, loc, place, lane);
  at = arith::AddIOp::create(c, loc, at, BodyEmitter::splat(c, loc, strip, width));
  if (width > 1) {
    SmallVector<Attribute> numbers;
    for (int64_t i = 0; i < width; ++i)
      numbers.push_back(c.getIntegerAttr(place, i));
    at = arith::AddIOp::create(
        c, loc, at,
        arith::ConstantOp::create(c, loc,
                                  DenseElementsAttr::get(cast<VectorType>(lanesOf), numbers)));
  }
  at = arith::SelectOp::create(c, loc, reducer.ties(c, state[0], bests), at, nowhere);
  scf::YieldOp::create(
      c, loc, arith::MinSIOp::create(c, loc, places.getRegionIterArgs()[0], at).getResult());
  Value found = foldHalves(builder, loc, places.getResult(0), width, [&](Value x, Value y) {
    return arith::MinSIOp::create(builder, loc, x, y).getResult();
  });
  Value isNone = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq, found,
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(place, none)));
  if (bits != 64)
    found = arith::ExtSIOp::create(builder, loc, wide, found);
  Value index = arith::AddIOp::create(builder, loc, found,
                                      arith::IndexCastOp::create(builder, loc, wide, first));
  Value last = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(INT64_MAX));
  return {{best, arith::SelectOp::create(builder, loc, isNone, last, index)}};
}

/// Of one narrow sum, whose lanes together fit 32 bits, in any order.
States TreeEmitter::foldNarrow(OpBuilder &builder, const Storage &storage, Value count) {
  Type narrow = reducers.front().sequenceTypes()[0];
  Type sum =
      IntegerType::get(builder.getContext(), 32,
                       narrow.isUnsignedInteger() ? IntegerType::Unsigned : IntegerType::Signless);
  int64_t lanes = std::min(width, kFoldedLanes);
  Type vector = BodyEmitter::vectorOf(sum, lanes);
  Value none = reductionIdentity(builder, loc, graph::ReduceKind::Sum, sum, lanes);
  auto strips = scf::ForOp::create(builder, loc, constant(builder, 0), count,
                                   constant(builder, lanes), ValueRange(none));
  OpBuilder b = OpBuilder::atBlockBegin(strips.getBody());
  Value some = restore(b, storage, strips.getInductionVar(), lanes, true)[0][0];
  if (some.getType() != vector)
    some = graph::CastOp::create(b, loc, vector, some);
  Value next = graph::AddOp::create(b, loc, vector, strips.getRegionIterArgs()[0], some);
  scf::YieldOp::create(b, loc, next);
  Value all = foldHalves(builder, loc, strips.getResult(0), lanes, [&](Value x, Value y) {
    return graph::AddOp::create(builder, loc, x.getType(), x, y).getResult();
  });
  Type wide = reducers.front().types()[0];
  return {{all.getType() == wide ? all : graph::CastOp::create(builder, loc, wide, all)}};
}

States TreeEmitter::foldSequences(OpBuilder &builder, const Storage &storage, Value first,
                                  Value count, bool fast) {
  bool narrow = llvm::any_of(reducers, [](const Reducer &r) { return r.isNarrow(); });
  if (narrow && reducers.size() == 1)
    return foldNarrow(builder, storage, count);
  if (narrow || llvm::any_of(reducers, [](const Reducer &r) { return r.parts() > 1; })) {
    States states;
    ArrayRef<Value> memory = storage;
    for (const Reducer &reducer : reducers) {
      TreeEmitter one(entry, loc, reducer, width);
      Storage own(memory.take_front(reducer.parts()));
      memory = memory.drop_front(reducer.parts());
      states.append(reducer.parts() > 1 ? one.findPlace(builder, own, first, count)
                                        : one.foldSequences(builder, own, first, count, fast));
    }
    return states;
  }
  // Sequence states that are no others.
  auto usual = [&](OpBuilder &b) {
    foldStrips(b, storage, count, width);
    return restore(b, storage, constant(b, 0), width, true);
  };
  if (!fast || width == 1 || width == kTreeLanes)
    return foldVector(builder, usual(builder), width);
  Value all = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, count,
                                    constant(builder, kTreeLanes));
  auto choice =
      scf::IfOp::create(builder, loc, ValueRange(flatten(identity(builder, width))).getTypes(), all,
                        /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, flatten(foldWhole(yes, storage)));
  scf::YieldOp::create(no, loc, flatten(usual(no)));
  return foldVector(builder, unflatten(choice.getResults()), width);
}

/// A block of what may be combined in any order: straight on, in registers.
States TreeEmitter::freeBlock(OpBuilder &builder, Value first, Value length, const Body &body) {
  Value end = arith::AddIOp::create(builder, loc, first, length), whole = first;
  SmallVector<Value> states = flatten(identity(builder, width));
  auto over = [&](Value from, Value to, int64_t lanes, bool masked) {
    auto loop = scf::ForOp::create(builder, loc, from, to, constant(builder, lanes), states);
    OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
    Value index = loop.getInductionVar();
    States before = unflatten(loop.getRegionIterArgs());
    SmallVector<Value> next =
        flatten(append(b, before, body(b, index, masked ? end : Value()), constant(b, 0)));
    if (masked && lanes > 1) {
      Value mask =
          vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()),
                                       arith::SubIOp::create(b, loc, end, index).getResult());
      for (auto [value, old] : llvm::zip_equal(next, flatten(before)))
        value = arith::SelectOp::create(b, loc, mask, value, old);
    }
    scf::YieldOp::create(b, loc, next);
    states.assign(loop.result_begin(), loop.result_end());
  };
  if (!once) {
    Value size = constant(builder, width);
    Value vectors = arith::DivUIOp::create(builder, loc, length, size);
    whole = arith::AddIOp::create(builder, loc, first,
                                  arith::MulIOp::create(builder, loc, vectors, size));
    over(first, whole, width, /*masked=*/false);
  }
  if (rest < width)
    states = flatten(foldVector(builder, unflatten(states), width, rest));
  over(whole, end, rest, /*masked=*/true);
  return foldVector(builder, unflatten(states), rest);
}

/// Where the first value of a block is that is as good as `best`; INT64_MAX if none is.
Value TreeEmitter::findFirst(OpBuilder &builder, Value first, Value length, Value best,
                             const Body &body) {
  auto bits = builder.getIntegerType(width);
  Type wide = builder.getI64Type();
  Value bests = BodyEmitter::splat(builder, loc, best, width), size = constant(builder, width);
  Value end = arith::AddIOp::create(builder, loc, first, length);
  Value vectors = arith::DivUIOp::create(builder, loc, length, size);
  Value whole = arith::AddIOp::create(builder, loc, first,
                                      arith::MulIOp::create(builder, loc, vectors, size));
  Value none = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(bits, 0));
  // Lanes of a vector as one number.
  auto tiesAt = [&](OpBuilder &b, Value index, Value limit) -> Value {
    Value ties = reducers.front().ties(b, body(b, index, limit)[0], bests);
    if (limit) {
      Value present = arith::SubIOp::create(b, loc, limit, index);
      ties = arith::AndIOp::create(b, loc, ties,
                                   vector::CreateMaskOp::create(b, loc, ties.getType(), present));
    }
    Value all = vector::BitCastOp::create(b, loc, VectorType::get({1}, bits), ties);
    return vector::ExtractOp::create(b, loc, all, 0);
  };
  auto isNone = [&](OpBuilder &b, Value mask) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, mask, none);
  };
  auto search = scf::WhileOp::create(
      builder, loc, TypeRange{builder.getIndexType(), bits}, ValueRange{first, none},
      [&](OpBuilder &b, Location, ValueRange at) {
        Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at[0], whole);
        scf::ConditionOp::create(b, loc, arith::AndIOp::create(b, loc, more, isNone(b, at[1])), at);
      },
      [&](OpBuilder &b, Location, ValueRange at) {
        Value mask = tiesAt(b, at[0], {});
        Value next = arith::AddIOp::create(b, loc, at[0], size);
        next = arith::SelectOp::create(b, loc, isNone(b, mask), next, at[0]);
        scf::YieldOp::create(b, loc, ValueRange{next, mask});
      });
  Value index = search.getResult(0), mask = search.getResult(1);
  Value more = arith::AndIOp::create(
      builder, loc, isNone(builder, mask),
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index, end));
  auto last = scf::IfOp::create(builder, loc, TypeRange(bits), more, /*withElseRegion=*/true);
  OpBuilder yes = last.getThenBodyBuilder(), no = last.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, tiesAt(yes, index, end));
  scf::YieldOp::create(no, loc, mask);
  mask = last.getResult(0);
  Value lane = math::CountTrailingZerosOp::create(builder, loc, mask);
  if (width < 64)
    lane = arith::ExtUIOp::create(builder, loc, wide, lane);
  Value place = arith::AddIOp::create(builder, loc,
                                      arith::IndexCastOp::create(builder, loc, wide, index), lane);
  Value nowhere = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(INT64_MAX));
  return arith::SelectOp::create(builder, loc, isNone(builder, mask), nowhere, place);
}

/// A block whose rows are read in their order. What is left of the last one comes strip by strip;
/// absent lanes hold the identity, which changes no bits of a fold.
States TreeEmitter::heldRows(OpBuilder &builder, Value first, Value length, const Body &body) {
  Value all = constant(builder, kTreeLanes);
  int64_t count = kTreeLanes / width;
  SmallVector<Value> none;
  for (int64_t strip = 0; strip < count; ++strip)
    llvm::append_range(none, flatten(sequenceIdentity(builder, width)));
  size_t each = none.size() / count;
  auto strips = [&](ValueRange values) {
    SmallVector<States> result;
    for (int64_t strip = 0; strip < count; ++strip)
      result.push_back(unflatten(values.slice(strip * each, each)));
    return result;
  };
  Value whole = arith::DivUIOp::create(builder, loc, length, all);
  auto rows =
      scf::ForOp::create(builder, loc, constant(builder, 0), whole, constant(builder, 1), none);
  OpBuilder b = OpBuilder::atBlockBegin(rows.getBody());
  Value number = rows.getInductionVar(), row = arith::MulIOp::create(b, loc, number, all);
  SmallVector<Value> next;
  for (auto [strip, states] : llvm::enumerate(strips(rows.getRegionIterArgs()))) {
    Value lane = constant(b, static_cast<int64_t>(strip) * width);
    Value index = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, first, row), lane);
    llvm::append_range(next, flatten(append(b, states, body(b, index, Value()), number)));
  }
  scf::YieldOp::create(b, loc, next);
  Value end = arith::AddIOp::create(builder, loc, first, length);
  SmallVector<States> parts = strips(rows.getResults());
  for (auto [strip, states] : llvm::enumerate(parts)) {
    Value start = arith::AddIOp::create(builder, loc, first,
                                        constant(builder, static_cast<int64_t>(strip) * width));
    states = unflatten(lastRow(builder, flatten(states), start, whole, end, body));
  }
  return foldVector(builder, foldWhole(builder, std::move(parts)), width);
}

/// Long blocks by their own form, which short ones would wait for.
States TreeEmitter::chooseByLength(OpBuilder &builder, Value first, Value length,
                                   const Body &body) {
  TreeEmitter longOnes(*this), shortOnes(*this);
  longOnes.longFrom = shortOnes.longFrom = shortOnes.straight = 0;
  if (auto known = getConstantIntValue(length))
    return (*known >= longFrom ? longOnes : shortOnes).laneBlock(builder, first, length, body);
  Value isLong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, length,
                                       constant(builder, longFrom));
  SmallVector<Type> types;
  for (const Reducer &reducer : reducers)
    llvm::append_range(types, reducer.types());
  auto choice = scf::IfOp::create(builder, loc, types, isLong, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, flatten(longOnes.laneBlock(yes, first, length, body)));
  scf::YieldOp::create(no, loc, flatten(shortOnes.laneBlock(no, first, length, body)));
  return unflatten(choice.getResults());
}

States TreeEmitter::laneBlock(OpBuilder &builder, Value first, Value length, const Body &body) {
  if (isFree())
    return freeBlock(builder, first, length, body);
  if (longFrom)
    return chooseByLength(builder, first, length, body);
  if (held)
    return heldRows(builder, first, length, body);
  if (lanes.empty())
    lanes = allocate(kTreeLanes, true);
  Value count = arith::MinSIOp::create(builder, loc, length, constant(builder, kTreeLanes));
  // An empty block leaves this.
  save(builder, lanes, constant(builder, 0), sequenceIdentity(builder, width));
  if (once)
    eachVector(builder, lanes, first, length, body);
  else if (straight)
    straightRows(builder, lanes, first,
                 arith::DivUIOp::create(builder, loc, length, constant(builder, kTreeLanes)), body);
  else
    eachStrip(builder, count, [&](OpBuilder &b, Value strip) {
      save(b, lanes, strip, wholeStrip(b, strip, first, length, body));
    });
  if (!once && (straight || (width > 1 && rest < width)))
    lastLanes(builder, lanes, first, length, body);
  if (foldElsewhere)
    return foldElsewhere(builder, lanes, first, count);
  return foldSequences(builder, lanes, first, count, /*fast=*/true);
}

/// Row `number` of a strip, in which only lanes before `end` are present, if there is such a row.
SmallVector<Value> TreeEmitter::lastRow(OpBuilder &b, SmallVector<Value> state, Value start,
                                        Value number, Value end, const Body &body) {
  Value all = constant(b, kTreeLanes);
  Value index = arith::AddIOp::create(b, loc, start, arith::MulIOp::create(b, loc, number, all));
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, end);
  auto tail =
      scf::IfOp::create(b, loc, TypeRange(ValueRange(state)), some, /*withElseRegion=*/true);
  OpBuilder c = tail.getThenBodyBuilder();
  Value present = arith::SubIOp::create(c, loc, end, index);
  Value mask =
      vector::CreateMaskOp::create(c, loc, VectorType::get({width}, c.getI1Type()), present);
  SmallVector<Value> merged = flatten(append(c, unflatten(state), body(c, index, end), number));
  for (auto [value, old] : llvm::zip_equal(merged, state))
    value = arith::SelectOp::create(c, loc, mask, value, old);
  scf::YieldOp::create(c, loc, merged);
  OpBuilder d = tail.getElseBodyBuilder();
  scf::YieldOp::create(d, loc, state);
  return SmallVector<Value>(tail.getResults());
}

/// Adds result `number` (0, 1, ...) of a sequence to its lane: the first 256 start their lanes.
void TreeEmitter::push(OpBuilder &builder, const Storage &storage, Value number,
                       const States &states) {
  Value lane = arith::AndIOp::create(builder, loc, number, constant(builder, kTreeLanes - 1));
  Value starts = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number,
                                       constant(builder, kTreeLanes));
  auto choice = scf::IfOp::create(builder, loc, starts, /*withElseRegion=*/true);
  OpBuilder b = choice.getThenBodyBuilder();
  save(b, storage, lane, states);
  OpBuilder c = choice.getElseBodyBuilder();
  save(c, storage, lane, combine(c, restore(c, storage, lane, 1, false), states));
}

States TreeEmitter::laneTree(OpBuilder &builder, Value length, const Body &body) {
  Value size = constant(builder, kTreeBlock);
  Value count = arith::CeilDivUIOp::create(builder, loc, length, size);
  auto block = [&](OpBuilder &b, Value number) {
    Value first = arith::MulIOp::create(b, loc, number, size);
    Value some = arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, length, first), size);
    return laneBlock(b, first, some, body);
  };
  return isFree() ? foldChain(builder, count, block, 1) : foldBlocks(builder, count, block);
}

/// Gives the tree the result of block `number` of `count`: its own after the last one.
States TreeEmitter::nextBlock(OpBuilder &builder, const Storage &blocks, const Storage &groups,
                              Value number, Value count, const States &states) {
  Value one = constant(builder, 1), all = constant(builder, kTreeLanes);
  auto same = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x, y);
  };
  Value last = constant(builder, kTreeBlock - 1);
  Value place = arith::AndIOp::create(builder, loc, number, last);
  push(builder, blocks, place, states);
  Value isLast = same(arith::AddIOp::create(builder, loc, number, one), count);
  Value ends = arith::OrIOp::create(builder, loc, isLast, same(place, last));
  SmallVector<Value> unchanged = flatten(states);
  auto choose = [&](OpBuilder &b, Value condition, ValueRange otherwise,
                    llvm::function_ref<States(OpBuilder &)> body) {
    auto choice = scf::IfOp::create(b, loc, otherwise.getTypes(), condition,
                                    /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, flatten(body(yes)));
    scf::YieldOp::create(no, loc, otherwise);
    return unflatten(choice.getResults());
  };
  auto present = [&](OpBuilder &b, Value index) -> Value {
    return arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, index, one), all);
  };
  return choose(builder, ends, unchanged, [&](OpBuilder &b) {
    States group = foldLanes(b, blocks, present(b, place));
    Value index = arith::DivUIOp::create(b, loc, number, constant(b, kTreeBlock));
    push(b, groups, index, group);
    return choose(b, isLast, flatten(group),
                  [&](OpBuilder &c) { return foldLanes(c, groups, present(c, index)); });
  });
}

States TreeEmitter::foldBlocks(OpBuilder &builder, Value count, const StateBody &body) {
  Storage blocks = allocate(kTreeLanes, false), groups = allocate(kTreeLanes, false);
  auto loop = scf::ForOp::create(builder, loc, constant(builder, 0), count, constant(builder, 1),
                                 flatten(identity(builder, 1)));
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  Value number = loop.getInductionVar();
  States states = body(b, number);
  if (nextElsewhere)
    states = nextElsewhere(b, blocks, groups, number, count, states);
  else
    states = nextBlock(b, blocks, groups, number, count, states);
  scf::YieldOp::create(b, loc, flatten(states));
  return unflatten(loop.getResults());
}

/// Blocks [first, last) of level `level` combined in order; level 0 blocks are what `body` gives.
States TreeEmitter::rowLevel(OpBuilder &builder, ArrayRef<Value> counts, int level, Value first,
                             Value last, const StateBody &body) {
  Value one = constant(builder, 1);
  auto loop = scf::ForOp::create(builder, loc, first, last, one, flatten(identity(builder, width)));
  if (unroll && level == 0)
    loop->setAttr(kUnrollAttr, builder.getI64IntegerAttr(unroll));
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  States next;
  if (level == 0) {
    next = body(b, loop.getInductionVar());
  } else {
    Value block = constant(b, kRowBlock);
    Value begin = arith::MulIOp::create(b, loc, loop.getInductionVar(), block);
    Value end = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, begin, block),
                                       counts[level - 1]);
    next = rowLevel(b, counts, level - 1, begin, end, body);
  }
  scf::YieldOp::create(b, loc, flatten(combine(b, unflatten(loop.getRegionIterArgs()), next)));
  return unflatten(loop.getResults());
}

States TreeEmitter::foldRows(OpBuilder &builder, Value count, const StateBody &body) {
  // Blocks hold 32 * 32 rows; four levels above them reach 2^30 rows in one block. A further
  // level's blocks are added in order, as its own first block would be up to 2^35 rows.
  constexpr int kLevels = 4;
  SmallVector<Value> counts = {count};
  Value block = constant(builder, kRowBlock);
  for (int level = 1; level <= kLevels; ++level)
    counts.push_back(arith::CeilDivUIOp::create(builder, loc, counts.back(), block));
  return rowLevel(builder, counts, kLevels, constant(builder, 0), counts.back(), body);
}

States TreeEmitter::rowChain(OpBuilder &builder, Value first, Value count, const Body &body) {
  auto rows = scf::ForOp::create(builder, loc, constant(builder, 0), count, constant(builder, 1),
                                 flatten(sequenceIdentity(builder, width)));
  if (unroll)
    rows->setAttr(kUnrollAttr, builder.getI64IntegerAttr(unroll));
  OpBuilder b = OpBuilder::atBlockBegin(rows.getBody());
  Value number = rows.getInductionVar();
  SmallVector<Value> next = body(b, arith::AddIOp::create(b, loc, first, number), Value());
  scf::YieldOp::create(b, loc,
                       flatten(append(b, unflatten(rows.getRegionIterArgs()), next, number)));
  return fromSequence(builder, unflatten(rows.getResults()), first, 1, 0);
}

States TreeEmitter::foldChain(OpBuilder &builder, Value count, const StateBody &body,
                              int64_t lanesWide) {
  auto loop = scf::ForOp::create(builder, loc, constant(builder, 0), count, constant(builder, 1),
                                 flatten(identity(builder, lanesWide ? lanesWide : width)));
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  States next = body(b, loop.getInductionVar());
  scf::YieldOp::create(b, loc, flatten(combine(b, unflatten(loop.getRegionIterArgs()), next)));
  return unflatten(loop.getResults());
}

States TreeEmitter::rowBlock(OpBuilder &builder, Value first, Value length, const Body &body) {
  return rowBlocks(builder, first, length, [&](OpBuilder &b, Value start, Value count) {
    return rowChain(b, start, count, body);
  });
}

States TreeEmitter::rowBlocks(OpBuilder &builder, Value first, Value length,
                              llvm::function_ref<States(OpBuilder &, Value, Value)> chain) {
  Value zero = constant(builder, 0), block = constant(builder, kRowBlock);
  auto outer =
      scf::ForOp::create(builder, loc, zero, length, block, flatten(identity(builder, width)));
  OpBuilder b = OpBuilder::atBlockBegin(outer.getBody());
  Value start = arith::AddIOp::create(b, loc, first, outer.getInductionVar());
  Value count = arith::MinSIOp::create(
      b, loc, block, arith::SubIOp::create(b, loc, length, outer.getInductionVar()));
  States next = chain(b, start, count);
  scf::YieldOp::create(b, loc, flatten(combine(b, unflatten(outer.getRegionIterArgs()), next)));
  return unflatten(outer.getResults());
}
