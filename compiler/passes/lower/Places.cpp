// Gathers, scatters and the checks of their indices.
#include "compiler/passes/analysis/Atomic.h"
#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

void BodyEmitter::setFaults(Value buffer, Value first) {
  faults = buffer;
  firstSite = first;
}

Value BodyEmitter::sizeOf(OpBuilder &builder, AffineMap map) {
  Value size = emit(builder, *Polynomial::of(map.getResult(0)));
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
}

static int64_t lanesOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 1;
}

static Value splatConstant(OpBuilder &b, Location loc, int64_t value, int64_t width) {
  Type type = BodyEmitter::vectorOf(b.getI64Type(), width);
  if (width == 1)
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(cast<VectorType>(type), ArrayRef<int64_t>(value)));
}

/// What is refused reads place 0. Lanes have one branch for all of them, which indices from 0 on
/// that are inside never take, and in it one which a right program never takes.
Value BodyEmitter::bound(OpBuilder &builder, kernel::BoundOp op, Position &position) {
  Value index = position.values.lookup(op.getIndex()), size = sizeOf(builder, op.getMap());
  int64_t width = lanesOf(index);
  Value zero = splatConstant(builder, loc, 0, width), most = splat(builder, loc, size, width);
  auto isOutside = [&](OpBuilder &b, Value at) {
    return IndexMath{b, loc}.compare(arith::CmpIPredicate::uge, at, most);
  };
  auto wrap = [&](OpBuilder &b) {
    IndexMath m{b, loc};
    return m.select(m.less(index, zero), m.add(index, most), index);
  };
  if (width == 1) {
    Value wrapped = wrap(builder), outside = isOutside(builder, wrapped);
    auto seldom = scf::IfOp::create(builder, loc, outside, /*withElseRegion=*/false);
    OpBuilder inside = seldom.getThenBodyBuilder();
    report(inside, op, index, outside, size);
    return IndexMath{builder, loc}.select(outside, zero, wrapped);
  }
  // Lanes that are masked off hold anything.
  auto any = [&](OpBuilder &b, Value lanes) -> Value {
    lanes = position.limit ? IndexMath{b, loc}.both(lanes, position.mask) : lanes;
    return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, lanes);
  };
  Value beyond = isOutside(builder, index);
  auto seldom = scf::IfOp::create(builder, loc, index.getType(), any(builder, beyond),
                                  /*withElseRegion=*/true);
  OpBuilder inside = seldom.getThenBodyBuilder(), usual = seldom.getElseBodyBuilder();
  Value wrapped = wrap(inside), outside = isOutside(inside, wrapped);
  auto wrong = scf::IfOp::create(inside, loc, any(inside, outside), /*withElseRegion=*/false);
  OpBuilder told = wrong.getThenBodyBuilder();
  Value bad = position.limit ? IndexMath{told, loc}.both(outside, position.mask) : outside;
  report(told, op, index, bad, size);
  scf::YieldOp::create(inside, loc, IndexMath{inside, loc}.select(outside, zero, wrapped));
  Value rest = position.limit ? IndexMath{usual, loc}.select(beyond, zero, index) : index;
  scf::YieldOp::create(usual, loc, rest);
  return seldom.getResult(0);
}

/// The first report of a run stays, as far as threads see each other's.
void BodyEmitter::report(OpBuilder &builder, kernel::BoundOp op, Value index, Value bad,
                         Value size) {
  auto write = [&](OpBuilder &b, Value refused) {
    IndexMath m{b, loc};
    Value flag = memref::LoadOp::create(b, loc, faults, m(0));
    Value first = m.equal(flag, splatConstant(b, loc, 0, 1));
    auto once = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    OpBuilder inside = once.getThenBodyBuilder();
    IndexMath n{inside, loc};
    memref::StoreOp::create(inside, loc, refused, faults, n(1));
    memref::StoreOp::create(inside, loc, size, faults, n(2));
    Value site = arith::IndexCastOp::create(inside, loc, inside.getI64Type(),
                                            n.add(firstSite, op.getSite() + 1));
    memref::StoreOp::create(inside, loc, site, faults, n(0));
  };
  int64_t width = lanesOf(index);
  if (width == 1)
    return write(builder, index);
  IndexMath m{builder, loc};
  auto lanes = scf::ForOp::create(builder, loc, m(0), m(width), m(1));
  OpBuilder b = OpBuilder::atBlockBegin(lanes.getBody());
  Value lane = lanes.getInductionVar();
  auto wrong = scf::IfOp::create(b, loc, vector::ExtractOp::create(b, loc, bad, lane),
                                 /*withElseRegion=*/false);
  OpBuilder inside = wrong.getThenBodyBuilder();
  write(inside, vector::ExtractOp::create(inside, loc, index, lane));
}

Value BodyEmitter::inside(OpBuilder &builder, kernel::InsideOp op, Position &position) {
  Value index = position.values.lookup(op.getIndex());
  Value size = splat(builder, loc, sizeOf(builder, op.getMap()), lanesOf(index));
  return IndexMath{builder, loc}.compare(arith::CmpIPredicate::ult, index, size);
}

BodyEmitter::Place BodyEmitter::place(OpBuilder &builder, const LinearAccess &access,
                                      ValueRange places, Position &position) {
  IndexMath m{builder, loc};
  Place result{index(builder, access, position), {}, false};
  bool lanes = position.vectorLoop >= 0 && position.width > 1;
  result.strided = lanes && !access.strides[position.vectorLoop].isZero();
  for (auto [value, factor] : llvm::zip_equal(places, access.places)) {
    if (factor.isZero())
      continue;
    Value at = position.values.lookup(value);
    if (!isa<VectorType>(at.getType())) {
      at = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), at);
      if (!factor.isConstant(1))
        at = m.mul(at, emit(builder, factor));
      result.first = m.add(result.first, at);
      continue;
    }
    if (!factor.isConstant(1)) {
      Value scale =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), emit(builder, factor));
      at = m.mul(at, splat(builder, loc, scale, position.width));
    }
    result.offsets = result.offsets ? m.add(result.offsets, at) : at;
  }
  if (result.offsets && result.strided)
    result.offsets = m.add(result.offsets,
                           laneSteps(builder, access.strides[position.vectorLoop], position.width));
  return result;
}

/// Whether lanes at any places are gathered. Some cores load them one by one as fast, or twice as
/// fast, but where products read on for many k at places that stay.
bool BodyEmitter::gathers(Type element) {
  bool may = func->hasAttr(kGathersAttr) || func.getSchedule()->getGroup() ||
             func.getSchedule()->getFamily() == kernel::Family::Contract;
  return may && element.getIntOrFloatBitWidth() >= 32;
}

/// Elements at offsets from `first`.
Value BodyEmitter::lanesAt(OpBuilder &builder, Value buffer, Value first, Value offsets,
                           Position &position) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  auto type = VectorType::get({position.width}, element);
  IndexMath m{builder, loc};
  if (gathers(element)) {
    Value mask = position.mask;
    if (!position.limit)
      mask = arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(VectorType::get({position.width}, builder.getI1Type()), true));
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    return vector::GatherOp::create(builder, loc, type, buffer, ValueRange(first), offsets, mask,
                                    zero);
  }
  // Lanes that are masked off may be anywhere.
  if (position.limit)
    offsets = m.select(position.mask, offsets, splatConstant(builder, loc, 0, position.width));
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < position.width; ++lane) {
    Value offset = vector::ExtractOp::create(builder, loc, offsets, lane);
    Value at = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), offset);
    lanes.push_back(memref::LoadOp::create(builder, loc, buffer, m.add(first, at)));
  }
  return vector::FromElementsOp::create(builder, loc, type, lanes);
}

/// The load that a place is, checked and perhaps converted. Or null.
kernel::LoadOp BodyEmitter::loadedIndex(Value place) {
  auto check = place.getDefiningOp<kernel::BoundOp>();
  if (!check)
    return {};
  Value index = check.getIndex();
  if (auto cast = index.getDefiningOp<graph::CastOp>())
    index = cast.getOperand();
  auto load = index.getDefiningOp<kernel::LoadOp>();
  return load && isa<IntegerType>(load.getType()) && !space.accesses.at(load).part
             ? load
             : kernel::LoadOp();
}

/// The same where its lanes lie side by side as in the array of indices.
kernel::LoadOp BodyEmitter::plainIndex(Value place, const Position &position) {
  kernel::LoadOp load = loadedIndex(place);
  return load && space.accesses.at(load).isDense(position.vectorLoop) ? load : kernel::LoadOp();
}

void BodyEmitter::prefetchRow(OpBuilder &builder, Operation *op, ValueRange places, Position row) {
  unsigned last = space.parallel - 1;
  for (Value place : places) {
    kernel::LoadOp load = loadedIndex(place);
    if (!load || !space.accesses.at(load).strides[last].isZero())
      return;
  }
  for (Value place : places)
    row.values[place] = value(builder, place.getDefiningOp<kernel::BoundOp>().getIndex(), row);
  auto gather = dyn_cast<kernel::GatherOp>(op);
  Value buffer = gather ? buffers[cast<BlockArgument>(gather.getTensor()).getArgNumber()]
                        : buffers[func.getNumTensors() + cast<kernel::ScatterOp>(op).getResult()];
  row.loops[last] = IndexMath{builder, loc}(0);
  memref::PrefetchOp::create(builder, loc, buffer,
                             place(builder, space.accesses.at(op), places, row).first,
                             /*isWrite=*/!gather, /*localityHint=*/3, /*isDataCache=*/true);
}

/// Whether any lane has an index below zero or outside; null where not all indices are plain.
Value BodyEmitter::anyWrapped(OpBuilder &builder, const LinearAccess &access, ValueRange places,
                              Position &position) {
  Value wraps;
  for (auto [place, factor] : llvm::zip_equal(places, access.places)) {
    if (factor.isZero() || !isa<VectorType>(position.values.lookup(place).getType()))
      continue;
    if (!plainIndex(place, position))
      return {};
    auto check = place.getDefiningOp<kernel::BoundOp>();
    Value index = position.values.lookup(check.getIndex());
    Value size = splat(builder, loc, sizeOf(builder, check.getMap()), position.width);
    IndexMath m{builder, loc};
    Value some = m.compare(arith::CmpIPredicate::uge, index, size);
    wraps = wraps ? arith::OrIOp::create(builder, loc, wraps, some) : some;
  }
  if (!wraps)
    return {};
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, wraps);
}

/// Where a lane goes whose indices are plain and need no wrapping: they are read from memory, which
/// takes less than taking them out of a vector.
Value BodyEmitter::plainPlace(OpBuilder &builder, const LinearAccess &access, ValueRange places,
                              const Place &at, int64_t lane, Position &position) {
  IndexMath m{builder, loc};
  Value where = at.first;
  if (at.strided)
    where = m.add(where, m.mul(emit(builder, access.strides[position.vectorLoop]), m(lane)));
  for (auto [place, factor] : llvm::zip_equal(places, access.places)) {
    if (factor.isZero() || !isa<VectorType>(position.values.lookup(place).getType()))
      continue;
    kernel::LoadOp load = plainIndex(place, position);
    Value from = m.add(index(builder, space.accesses.at(load), position), lane);
    Value distance = memref::LoadOp::create(builder, loc, buffer(load), from);
    distance = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), distance);
    if (!factor.isConstant(1))
      distance = m.mul(distance, emit(builder, factor));
    where = m.add(where, distance);
  }
  return where;
}

template <typename Op>
static bool arePartsOfOne(Op a, Op b) {
  return a.getPart() && b.getPart() && *a.getPart() != *b.getPart() && a.getMap() == b.getMap() &&
         llvm::equal(a.getPlaces(), b.getPlaces());
}

/// The gather of the other part of the same complex elements. Or null.
static kernel::GatherOp otherPart(kernel::GatherOp op) {
  for (Operation *user : op.getTensor().getUsers())
    if (auto other = dyn_cast<kernel::GatherOp>(user); other && arePartsOfOne(op, other))
      return other;
  return {};
}

/// The scatter of the other part, where lanes of the vectors of a core are written. Or null.
static kernel::ScatterOp otherPart(kernel::ScatterOp op, int64_t width) {
  auto func = op->getParentOfType<kernel::FuncOp>();
  if (width == 1 || func.getSchedule()->getGroup())
    return {};
  for (auto other : func.getBody().front().getOps<kernel::ScatterOp>())
    if (arePartsOfOne(op, other) && other.getResult() == op.getResult() &&
        other.getGuard() == op.getGuard() && other.getCombine() == op.getCombine())
      return other;
  return {};
}

/// What a lane of a scatter writes: an element, or both parts of one.
static Value scatteredLane(OpBuilder &builder, Location loc, kernel::ScatterOp op, int64_t lane,
                           const DenseMap<Value, Value> &values, int64_t width) {
  auto laneOf = [&](Value value) -> Value {
    Value lanes = values.lookup(value);
    return isa<VectorType>(lanes.getType())
               ? vector::ExtractOp::create(builder, loc, lanes, lane).getResult()
               : lanes;
  };
  Value own = laneOf(op.getValue());
  kernel::ScatterOp other = otherPart(op, width);
  if (!other)
    return own;
  Value rest = laneOf(other.getValue());
  SmallVector<Value> parts = {own, rest};
  if (*op.getPart() != 0)
    std::swap(parts[0], parts[1]);
  return vector::FromElementsOp::create(builder, loc, VectorType::get({2}, own.getType()), parts);
}

/// What is at the places of the lanes, `each` neighbours a lane, one lane behind the other.
static Value lanesFrom(OpBuilder &builder, Location loc, Value buffer, int64_t width, int64_t each,
                       llvm::function_ref<Value(int64_t)> where) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < width; ++lane) {
    Value at = where(lane);
    if (each == 1)
      lanes.push_back(memref::LoadOp::create(builder, loc, buffer, at));
    else
      lanes.push_back(vector::LoadOp::create(builder, loc, VectorType::get({each}, element), buffer,
                                             ValueRange(at)));
  }
  if (each == 1)
    return vector::FromElementsOp::create(builder, loc, VectorType::get({width}, element), lanes);
  for (; lanes.size() > 1; each *= 2) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * each));
    for (size_t i = 0; i < lanes.size() / 2; ++i)
      lanes[i] = vector::ShuffleOp::create(builder, loc, lanes[2 * i], lanes[2 * i + 1], order);
    lanes.resize(lanes.size() / 2);
  }
  return lanes[0];
}

Value BodyEmitter::gathered(OpBuilder &builder, kernel::GatherOp op, Position &position) {
  Value buffer = buffers[cast<BlockArgument>(op.getTensor()).getArgNumber()];
  const LinearAccess &access = space.accesses.at(op);
  Place at = place(builder, access, op.getPlaces(), position);
  if (!at.offsets)
    return fromMemory(builder, loadFrom(builder, buffer, at.first, access, position), op.getType());
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Value wraps;
  if (!position.limit && !gathers(element))
    wraps = anyWrapped(builder, access, op.getPlaces(), position);
  if (!wraps)
    return fromMemory(builder, lanesAt(builder, buffer, at.first, at.offsets, position),
                      op.getType());
  // Both parts of a complex element are read at once, which whoever wants the other shares.
  kernel::GatherOp other = otherPart(op);
  int64_t width = position.width, each = other ? 2 : 1;
  auto type = VectorType::get({each * width}, element);
  if (other)
    at.first = IndexMath{builder, loc}.sub(at.first, IndexMath{builder, loc}(*op.getPart()));
  auto either = scf::IfOp::create(builder, loc, type, wraps, /*withElseRegion=*/true);
  OpBuilder seldom = either.getThenBodyBuilder(), usual = either.getElseBodyBuilder();
  Value wrapped = lanesFrom(seldom, loc, buffer, width, each, [&](int64_t lane) -> Value {
    Value offset = vector::ExtractOp::create(seldom, loc, at.offsets, lane);
    IndexMath m{seldom, loc};
    return m.add(at.first, arith::IndexCastOp::create(seldom, loc, seldom.getIndexType(), offset));
  });
  scf::YieldOp::create(seldom, loc, wrapped);
  Value plain = lanesFrom(usual, loc, buffer, width, each, [&](int64_t lane) {
    return plainPlace(usual, access, op.getPlaces(), at, lane, position);
  });
  scf::YieldOp::create(usual, loc, plain);
  Value found = either.getResult(0);
  if (!other)
    return fromMemory(builder, found, op.getType());
  auto part = [&](kernel::GatherOp of) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < width; ++lane)
      order.push_back(2 * lane + static_cast<int64_t>(*of.getPart()));
    Value lanes = vector::ShuffleOp::create(builder, loc, found, found, order);
    return fromMemory(builder, lanes, of.getType());
  };
  position.values[other] = part(other);
  return part(op);
}

/// Whether lanes are at places that mostly are neighbours.
bool BodyEmitter::goesInRuns(kernel::GatherOp op, const Position &position) {
  return position.vectorLoop >= 0 && position.width > 1 && space.isRun(op, position.vectorLoop);
}

/// Whether the lanes of a run lie side by side is seen from the first and the last one: at a seam
/// the distance between them changes, and at two of them both times for less.
Value BodyEmitter::gatheredRun(OpBuilder &builder, kernel::GatherOp op, const Position &position) {
  const LinearAccess &access = space.accesses.at(op);
  Value buffer = buffers[cast<BlockArgument>(op.getTensor()).getArgNumber()];
  IndexMath m{builder, loc};
  auto laneAt = [&](Value lane) {
    Position one;
    one.loops = position.loops;
    one.further = position.further;
    one.furtherLoop = position.furtherLoop;
    one.loops[position.vectorLoop] = m.add(one.loops[position.vectorLoop], lane);
    for (Value index : op.getPlaces())
      value(builder, index, one);
    return place(builder, access, op.getPlaces(), one).first;
  };
  Value low = position.from ? position.from : m(0), high = m(position.width - 1);
  if (position.limit)
    high = m.min(m.sub(m.sub(position.limit, position.loops[position.vectorLoop]), m(1)), high);
  int64_t apart = op.getPart() ? 2 : 1;
  Value first = laneAt(low), reach = m.mul(m.sub(high, low), apart);
  Value isRun = m.equal(m.sub(laneAt(high), first), reach);
  if (position.from)
    first = m.sub(first, m.mul(low, apart));
  auto type =
      VectorType::get({position.width}, cast<MemRefType>(buffer.getType()).getElementType());
  auto either = scf::IfOp::create(builder, loc, type, isRun, /*withElseRegion=*/true);
  OpBuilder usual = either.getThenBodyBuilder(), seldom = either.getElseBodyBuilder();
  Position together = position, elsewhere = position;
  Value lanes;
  if (op.getPart()) {
    lanes = loadParts(usual, buffer, first, *op.getPart(), together);
  } else if (position.limit) {
    Value zero = arith::ConstantOp::create(usual, loc, builder.getZeroAttr(type));
    lanes = vector::MaskedLoadOp::create(usual, loc, type, buffer, first, position.mask, zero);
  } else {
    lanes = vector::LoadOp::create(usual, loc, type, buffer, first);
  }
  scf::YieldOp::create(usual, loc, lanes);
  for (Value index : op.getPlaces())
    value(seldom, index, elsewhere);
  Place at = place(seldom, access, op.getPlaces(), elsewhere);
  scf::YieldOp::create(seldom, loc, lanesAt(seldom, buffer, at.first, at.offsets, elsewhere));
  return fromMemory(builder, either.getResult(0), op.getType());
}

Value BodyEmitter::combined(OpBuilder &builder, kernel::ScatterOp op, Value old, Value value) {
  OperationState state(op.getLoc(), ("graph." + op.getCombine()).str());
  state.addOperands({old, value});
  state.addTypes(value.getType());
  return builder.create(state)->getResult(0);
}

Value BodyEmitter::placeOf(OpBuilder &builder, kernel::ScatterOp op, Position &position) {
  for (Value index : op.getPlaces())
    value(builder, index, position);
  return place(builder, space.accesses.at(op), op.getPlaces(), position).first;
}

Value BodyEmitter::readPlace(OpBuilder &builder, kernel::ScatterOp op, Value at) {
  Value buffer = buffers[func.getNumTensors() + op.getResult()];
  return fromMemory(builder, memref::LoadOp::create(builder, loc, buffer, at),
                    op.getValue().getType());
}

void BodyEmitter::writePlace(OpBuilder &builder, kernel::ScatterOp op, Value element, Value at) {
  Value buffer = buffers[func.getNumTensors() + op.getResult()];
  memref::StoreOp::create(builder, loc, toMemory(builder, element), buffer, at);
}

void BodyEmitter::scatterLane(OpBuilder &builder, kernel::ScatterOp op, Value element, Value at) {
  Value buffer = buffers[func.getNumTensors() + op.getResult()];
  auto parts = dyn_cast<VectorType>(element.getType());
  if (func->hasAttr(kAtomicAttr)) {
    auto step = stepInAnyOrder(op.getCombine(), element.getType(), /*atomicBits=*/64);
    if (op.getCombine() == "sub")
      element = graph::NegOp::create(builder, loc, element.getType(), element);
    memref::AtomicRMWOp::create(builder, loc, *step, toMemory(builder, element), buffer, at);
    return;
  }
  if (!op.getCombine().empty()) {
    Value old = parts ? vector::LoadOp::create(builder, loc, parts, buffer, at).getResult()
                      : memref::LoadOp::create(builder, loc, buffer, at).getResult();
    element = combined(builder, op, fromMemory(builder, old, graph::elementType(element.getType())),
                       element);
  }
  if (parts)
    vector::StoreOp::create(builder, loc, element, buffer, at);
  else
    memref::StoreOp::create(builder, loc, toMemory(builder, element), buffer, at);
}

/// Lane by lane, in order.
void BodyEmitter::scatterLanes(OpBuilder &builder, kernel::ScatterOp op, const Place &at,
                               Position &position) {
  // What is stored may have been written over the indices.
  bool stores = !func.getBody().front().getOps<kernel::StoreOp>().empty();
  Value wraps;
  if (at.offsets && !position.limit && !op.getGuard() && !stores)
    wraps = anyWrapped(builder, space.accesses.at(op), op.getPlaces(), position);
  if (wraps) {
    auto either = scf::IfOp::create(builder, loc, wraps, /*withElseRegion=*/true);
    OpBuilder seldom = either.getThenBodyBuilder(), usual = either.getElseBodyBuilder();
    scatterEach(seldom, op, at, position);
    // So are complex elements: vectors are stored in quarters in twice the time.
    auto load = op.getValue().getDefiningOp<kernel::LoadOp>();
    kernel::ScatterOp other = load ? otherPart(op, position.width) : kernel::ScatterOp();
    auto rest = other ? other.getValue().getDefiningOp<kernel::LoadOp>() : kernel::LoadOp();
    bool isRead = rest && rest.getPart() == other.getPart() && load.getPart() == op.getPart() &&
                  rest.getTensor() == load.getTensor() && rest.getMap() == load.getMap() &&
                  space.accesses.at(load).isDense(position.vectorLoop);
    auto elementOf = [&](int64_t lane) -> Value {
      if (!isRead)
        return scatteredLane(usual, loc, op, lane, position.values, position.width);
      IndexMath m{usual, loc};
      Value first = index(usual, space.accesses.at(load), position);
      auto parts = VectorType::get({2}, load.getType());
      return vector::LoadOp::create(usual, loc, parts, buffer(load),
                                    m.add(first, 2 * lane - int64_t(*op.getPart())));
    };
    for (int64_t lane = 0; lane < position.width; ++lane)
      scatterLane(usual, op, elementOf(lane),
                  plainPlace(usual, space.accesses.at(op), op.getPlaces(), at, lane, position));
    return;
  }
  scatterEach(builder, op, at, position);
}

void BodyEmitter::scatterEach(OpBuilder &builder, kernel::ScatterOp op, const Place &at,
                              Position &position) {
  IndexMath m{builder, loc};
  Value guard = op.getGuard() ? position.values.lookup(op.getGuard()) : Value();
  Value stride;
  if (at.strided && !at.offsets)
    stride = emit(builder, space.accesses.at(op).strides[position.vectorLoop]);
  for (int64_t lane = 0; lane < position.width; ++lane) {
    Value runs = guard;
    if (guard && isa<VectorType>(guard.getType()))
      runs = vector::ExtractOp::create(builder, loc, guard, lane);
    if (position.limit) {
      Value valid = m.less(m.add(position.loops[position.vectorLoop], lane), position.limit);
      runs = runs ? m.both(runs, valid) : valid;
    }
    OpBuilder inside = builder;
    if (runs)
      inside = scf::IfOp::create(builder, loc, runs, /*withElseRegion=*/false).getThenBodyBuilder();
    IndexMath n{inside, loc};
    Value where = at.first;
    if (at.offsets) {
      Value offset = vector::ExtractOp::create(inside, loc, at.offsets, lane);
      where = n.add(where, arith::IndexCastOp::create(inside, loc, inside.getIndexType(), offset));
    } else if (stride) {
      where = n.add(where, n.mul(stride, n(lane)));
    }
    scatterLane(inside, op, scatteredLane(inside, loc, op, lane, position.values, position.width),
                where);
  }
}

void BodyEmitter::scatter(OpBuilder &builder, kernel::ScatterOp op, Position &position) {
  kernel::ScatterOp other = otherPart(op, position.width);
  if (other && other->isBeforeInBlock(op))
    return; // which has written both parts
  for (Value operand : op->getOperands())
    value(builder, operand, position);
  const LinearAccess &access = space.accesses.at(op);
  Place at = place(builder, access, op.getPlaces(), position);
  if (other) {
    value(builder, other.getValue(), position);
    at.first = IndexMath{builder, loc}.sub(at.first, IndexMath{builder, loc}(*op.getPart()));
    return scatterLanes(builder, op, at, position);
  }
  Value element = position.values.lookup(op.getValue());
  Value guard = op.getGuard() ? position.values.lookup(op.getGuard()) : Value();
  bool dense = at.strided && !at.offsets && access.strides[position.vectorLoop].isConstant(1);
  bool guardLanes = guard && isa<VectorType>(guard.getType());
  if (position.width > 1 && (!dense || guardLanes))
    return scatterLanes(builder, op, at, position);
  OpBuilder inside = builder;
  if (guard)
    inside = scf::IfOp::create(builder, loc, guard, /*withElseRegion=*/false).getThenBodyBuilder();
  if (position.width == 1)
    return scatterLane(inside, op, element, at.first);
  // A row of neighbours at one place.
  Value buffer = buffers[func.getNumTensors() + op.getResult()];
  Value row = splat(inside, loc, element, position.width);
  if (!op.getCombine().empty()) {
    Value old = loadFrom(inside, buffer, at.first, access, position);
    row = combined(inside, op, fromMemory(inside, old, graph::elementType(element.getType())), row);
  }
  Value raw = toMemory(inside, row);
  if (position.limit)
    vector::MaskedStoreOp::create(inside, loc, buffer, at.first, position.mask, raw);
  else
    vector::StoreOp::create(inside, loc, raw, buffer, at.first);
}
