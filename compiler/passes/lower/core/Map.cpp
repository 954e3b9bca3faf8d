// Maps on cores: runs along the last loop, in strips of vectors.
#include "compiler/passes/fuse/Watch.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// How far ahead a body that computes long asks for memory, into the second cache: too few of its
/// iterations are under way at once for the machine to do so, and what is asked for into the first
/// cache waits for memory in one of its few places.
static constexpr int64_t kLongBytesAhead = 16384;
/// A body is emitted once more for short rows: not a large one.
static constexpr int64_t kMostShortOps = 16;

/// A store along the last loop into a part of its result, which begins anywhere in a line. Or null.
static kernel::StoreOp partOfResult(ArrayRef<kernel::StoreOp> stores, const LoopSpace &space) {
  for (kernel::StoreOp store : stores) {
    const LinearAccess &access = space.accesses.at(store);
    if (!store.getImaginary() && access.isDense(space.parallel - 1) && !access.offset.isZero())
      return store;
  }
  return {};
}

/// The first element from `index` on that begins a line of `memory`, counted from `low`; `low`
/// where that is not worth a part of a vector.
static Value nextLine(OpBuilder &b, Location loc, Value memory, Value index, Value low,
                      Value high) {
  constexpr int64_t kWorthElements = 256;
  IndexMath m{b, loc};
  int64_t bytes = cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value beyond = m.add(m.div(base, bytes), index), line = m(kLineBytes / bytes - 1);
  Value missing = arith::AndIOp::create(b, loc, m.sub(m(0), beyond), line);
  Value some = m.less(m(kWorthElements), m.sub(high, low));
  return m.add(low, m.select(some, missing, m(0)));
}

namespace {
/// A store that gives back what it read (of complex numbers both parts) in rows where a condition
/// of the row does not hold.
struct RowsKept {
  kernel::StoreOp store;
  kernel::LoadOp old;
  Value chosen; ///< the condition
};
} // namespace

/// What a part of a store gives back where the condition of its selection does not hold.
static kernel::LoadOp oldPart(graph::SelectOp select) {
  return select ? select.getY().getDefiningOp<kernel::LoadOp>() : kernel::LoadOp();
}

static std::optional<RowsKept> rowsKept(kernel::FuncOp kernel, ArrayRef<kernel::StoreOp> stores,
                                        const LoopSpace &space) {
  if (stores.size() != 1 || space.parallel < 2)
    return std::nullopt;
  kernel::StoreOp store = stores[0];
  auto select = store.getValue().getDefiningOp<graph::SelectOp>();
  kernel::LoadOp old = oldPart(select);
  if (!old || space.dependsOn(select.getCondition(), space.parallel - 1))
    return std::nullopt;
  const LinearAccess &from = space.accesses.at(old), &to = space.accesses.at(store);
  if (from.part.value_or(0) != 0 || !(from.offset == to.offset) || from.strides != to.strides)
    return std::nullopt;
  if (Value other = store.getImaginary()) {
    auto imaginary = other.getDefiningOp<graph::SelectOp>();
    kernel::LoadOp oldOther = oldPart(imaginary);
    if (!from.part || !oldOther || imaginary.getCondition() != select.getCondition() ||
        oldOther.getTensor() != old.getTensor() || oldOther.getMap() != old.getMap() ||
        space.accesses.at(oldOther).part != 1)
      return std::nullopt;
  } else if (from.part) {
    return std::nullopt;
  }
  // What is looked at or checked is so in every row.
  bool looks = false;
  kernel.getBody().walk([&](Operation *op) {
    looks |= op->hasAttr(kWatchAttr) || isa<kernel::BoundOp, kernel::ScatterOp>(op);
  });
  return looks ? std::nullopt : std::optional(RowsKept{store, old, select.getCondition()});
}

/// Whether a result goes over the very memory that is read.
static Value sameMemory(OpBuilder &b, Location loc, Value operand, Value result) {
  auto address = [&](Value memory) {
    return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory).getResult();
  };
  return IndexMath{b, loc}.equal(address(operand), address(result));
}

/// Whether lanes are read or written one by one, at places of their own.
static bool goesLaneByLane(kernel::FuncOp kernel, const LoopSpace &space) {
  if (kernel->hasAttr(kGathersAttr) || space.parallel == 0)
    return false;
  bool does = false;
  auto look = [&](Operation *op, ValueRange places) {
    for (auto [place, factor] : llvm::zip_equal(places, space.accesses.at(op).places))
      does |= !factor.isZero() && space.dependsOn(place, space.parallel - 1);
  };
  kernel.getBody().walk([&](kernel::GatherOp op) {
    if (!space.isRun(op, space.parallel - 1))
      look(op, op.getPlaces());
  });
  kernel.getBody().walk([&](kernel::ScatterOp op) { look(op, op.getPlaces()); });
  return does;
}

/// Places that stay along a row are checked once for it. Whether all are.
static bool checkRow(OpBuilder &b, kernel::FuncOp kernel, BodyEmitter &emitter, Position &row) {
  unsigned last = emitter.space.parallel - 1;
  if (last == 0)
    return false;
  bool all = true;
  for (auto check : kernel.getBody().front().getOps<kernel::BoundOp>()) {
    bool stays = !emitter.space.dependsOn(check, last);
    if (stays)
      emitter.value(b, check, row);
    all &= stays;
  }
  return all;
}

/// What a checked place is read from where its indices lie as the points of the loops follow each
/// other, whatever the rows. Or null.
static kernel::LoadOp followingIndex(kernel::BoundOp check, const LoopSpace &space) {
  Value index = check.getIndex();
  if (auto cast = index.getDefiningOp<graph::CastOp>())
    index = cast.getOperand();
  auto load = index.getDefiningOp<kernel::LoadOp>();
  if (!load || space.accesses.at(load).part)
    return {};
  const LinearAccess &access = space.accesses.at(load);
  for (unsigned loop = 0; loop < space.parallel; ++loop)
    if (!(access.strides[loop] == space.product(loop + 1, space.parallel)))
      return {};
  return load;
}

/// Asks for a row at any place some rows ahead, which no machine sees coming.
static void prefetchRows(OpBuilder &b, kernel::FuncOp kernel, BodyEmitter &emitter,
                         const Position &row) {
  constexpr int64_t kRowsAhead = 16;
  const LoopSpace &space = emitter.space;
  if (space.parallel < 2)
    return;
  unsigned last = space.parallel - 1;
  auto ask = [&](Operation *op, ValueRange places) {
    auto jumps = [&](Value place) { return space.dependsOn(place, last - 1); };
    if (space.accesses.at(op).strides[last].isZero() || llvm::none_of(places, jumps))
      return;
    IndexMath m{b, emitter.loc};
    Position ahead = row;
    ahead.values.clear();
    Value most = m.sub(emitter.extent(b, last - 1), m(1));
    ahead.loops[last - 1] = m.min(m.add(row.loops[last - 1], kRowsAhead), most);
    emitter.prefetchRow(b, op, places, ahead);
  };
  for (Operation &op : kernel.getBody().front())
    if (auto gather = dyn_cast<kernel::GatherOp>(op))
      ask(gather, gather.getPlaces());
    else if (auto scatter = dyn_cast<kernel::ScatterOp>(op))
      ask(scatter, scatter.getPlaces());
}

namespace graphc::pass {

/// What the rows of a map share.
struct CoreLowering::MapRows {
  /// `shortApart`: short rows have a form of their own.
  MapRows(CoreLowering &l, OpBuilder &b, bool shortApart);

  void row(OpBuilder &b, Position &outer, Value low, Value high);
  /// Null where rows are gone through one by one whatever their length.
  Value areFew(OpBuilder &b);
  void elementByElement(OpBuilder &b);
  /// Null, or whether a launch has more to do than to find that all places are inside, which is
  /// looked at here.
  Value goesOn(OpBuilder &b);

private:
  Value anyWrapped(OpBuilder &b, Value low, Value high);
  void eachElement(OpBuilder &b, llvm::function_ref<void(OpBuilder &, Position &)> body);
  bool mayBeShort();
  void compareWithOperands(OpBuilder &b);
  void askPastCaches(OpBuilder &b);
  void strip(OpBuilder &outside, Position &at);
  Value upToLine(OpBuilder &b, const Position &outer, Value low, Value high);
  void oneStrip(OpBuilder &b, const Position &outer, Value low, Value high, int64_t lanes);

  CoreLowering &l;
  Location loc;
  unsigned last; ///< the loop along a row
  int64_t lanes; ///< of a register
  int64_t ahead = 0, farAhead = 0;
  Value asks; ///< whether memory is asked for; null: always
  bool shortApart, computesLong, laneByLane;
  std::optional<RowsKept> kept;
  Value inPlace;
  Value overOperand; ///< whether a result goes over an operand, read at the same places; or null
  bool follow;       ///< all places that are checked are read in the order of the points
};

CoreLowering::MapRows::MapRows(CoreLowering &l, OpBuilder &b, bool shortApart)
    : l(l), loc(l.loc), last(l.space.parallel - 1), lanes(l.registerLanes(l.width)),
      shortApart(shortApart) {
  Block &body = l.kernel.getBody().front();
  computesLong = llvm::any_of(body, [](Operation &op) { return op.hasTrait<graph::Expensive>(); });
  laneByLane = !computesLong && goesLaneByLane(l.kernel, l.space);
  auto loads = body.getOps<kernel::LoadOp>();
  if (computesLong || std::distance(loads.begin(), loads.end()) <= kMostStreamsAhead)
    ahead = l.bytesAhead(kBytesAhead);
  if (computesLong)
    farAhead = l.bytesAhead(kLongBytesAhead);
  if (l.kernel->hasAttr(kReadsAheadAttr))
    askPastCaches(b);
  auto checks = body.getOps<kernel::BoundOp>();
  follow = !checks.empty() && llvm::all_of(checks, [&](kernel::BoundOp check) {
    return followingIndex(check, l.space);
  });
  kept = rowsKept(l.kernel, l.stores, l.space);
  if (kept)
    inPlace = sameMemory(b, loc, l.emitter->buffer(kept->old), l.emitter->buffer(kept->store));
  compareWithOperands(b);
}

/// A machine that follows operands by itself is asked only where results pass the caches by: what
/// is read from them else comes a tenth to a fifth later.
void CoreLowering::MapRows::askPastCaches(OpBuilder &b) {
  IndexMath m{b, loc};
  for (kernel::StoreOp store : l.stores)
    if (Value word = l.emitter->streamWord(store); word && !asks)
      asks = m.equal(word, m(0));
  if (!asks)
    ahead = farAhead = 0;
}

void CoreLowering::MapRows::strip(OpBuilder &outside, Position &at) {
  OpBuilder b = outside;
  l.storeAll(b, at);
  if ((at.limit && !at.whole) || !(ahead || farAhead))
    return;
  if (asks)
    b = scf::IfOp::create(b, loc, asks, /*withElseRegion=*/false).getThenBodyBuilder();
  if (ahead)
    l.prefetch(b, at, last, ahead, /*locality=*/3);
  if (farAhead)
    l.prefetch(b, at, last, farAhead, /*locality=*/2);
}

/// One masked strip at `low`.
void CoreLowering::MapRows::oneStrip(OpBuilder &b, const Position &outer, Value low, Value high,
                                     int64_t lanes) {
  Position here = outer;
  here.loops[last] = low;
  here.vectorLoop = static_cast<int>(last);
  here.width = lanes;
  l.emitter->maskLanes(b, here, high);
  strip(b, here);
}

/// A part of a result begins anywhere: up to a line first, so that vectors cross none.
Value CoreLowering::MapRows::upToLine(OpBuilder &b, const Position &outer, Value low, Value high) {
  kernel::StoreOp part = partOfResult(l.stores, l.space);
  if (!part || l.kernel->hasAttr(kOnceAttr))
    return low;
  Position first = outer;
  first.loops[last] = low;
  Value index = l.emitter->index(b, l.space.accesses.at(part), first);
  Value line = nextLine(b, loc, l.emitter->buffer(part), index, low, high);
  l.loop(b, low, line, lanes,
         [&](OpBuilder &inside, Value at) { oneStrip(inside, outer, at, line, lanes); });
  return line;
}

/// Whether rows of at most half a register have a body of their own here: where it is not long.
bool CoreLowering::MapRows::mayBeShort() {
  auto length = l.space.extents[last].constant();
  return last > 0 && lanes > 2 && !shortApart && !computesLong && !laneByLane &&
         !l.kernel->hasAttr(kOnceAttr) && (!length || *length <= lanes / 2) &&
         llvm::range_size(l.kernel.getBody().front()) <= kMostShortOps;
}

/// Whether rows are so short that lanes read one by one take less than what begins and ends a row.
Value CoreLowering::MapRows::areFew(OpBuilder &b) {
  const int64_t few = std::min<int64_t>(16, lanes - 1);
  auto length = l.space.extents[last].constant();
  if (!laneByLane || shortApart || last == 0 || l.kernel->hasAttr(kOnceAttr) ||
      (length && *length > few) || llvm::range_size(l.kernel.getBody().front()) > kMostShortOps)
    return {};
  IndexMath m{b, loc};
  return m.atLeast(m(few), l.emitter->extent(b, last));
}

/// Whether any index of the points [low, high) is below zero or outside. The points are counted
/// along the last loop.
Value CoreLowering::MapRows::anyWrapped(OpBuilder &b, Value low, Value high) {
  constexpr int64_t kAtOnce = 32; // four registers, which do not wait for each other
  auto type = VectorType::get({kAtOnce}, b.getI64Type());
  auto checks = llvm::to_vector(l.kernel.getBody().front().getOps<kernel::BoundOp>());
  auto look = [&](OpBuilder &inside, Value at, Value limit, ValueRange most) {
    Position here = l.position();
    here.loops.assign(l.space.count(), IndexMath{inside, loc}(0));
    here.loops[last] = at;
    here.vectorLoop = static_cast<int>(last);
    here.width = kAtOnce;
    if (limit)
      l.emitter->maskLanes(inside, here, limit);
    SmallVector<Value> next;
    for (auto [check, old] : llvm::zip_equal(checks, most)) {
      Value index = l.emitter->value(inside, check.getIndex(), here);
      next.push_back(arith::MaxUIOp::create(inside, loc, old, index));
    }
    return next;
  };
  IndexMath m{b, loc};
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value whole = m.add(low, m.mul(m.div(m.sub(high, low), kAtOnce), kAtOnce));
  SmallVector<Value> start(checks.size(), none);
  auto over = scf::ForOp::create(b, loc, low, whole, m(kAtOnce), start);
  OpBuilder inside = OpBuilder::atBlockBegin(over.getBody());
  scf::YieldOp::create(inside, loc,
                       look(inside, over.getInductionVar(), {}, over.getRegionIterArgs()));
  Value any;
  for (auto [check, most] : llvm::zip_equal(checks, look(b, whole, high, over.getResults()))) {
    Value size = l.emitter->emit(b, *Polynomial::of(check.getMap().getResult(0)));
    size = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
    Value one = vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI, most);
    Value some = m.compare(arith::CmpIPredicate::uge, one, size);
    any = any ? m.either(any, some) : some;
  }
  return any;
}

Value CoreLowering::MapRows::goesOn(OpBuilder &b) {
  if (!l.writes || !follow)
    return {};
  auto either = scf::IfOp::create(b, loc, b.getI1Type(), l.writes, /*withElseRegion=*/true);
  OpBuilder yes = either.getThenBodyBuilder(), no = either.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, arith::ConstantIntOp::create(yes, loc, 1, 1).getResult());
  scf::YieldOp::create(no, loc, anyWrapped(no, l.begin, l.end));
  return either.getResult(0);
}

void CoreLowering::MapRows::eachElement(OpBuilder &b,
                                        llvm::function_ref<void(OpBuilder &, Position &)> body) {
  l.runs(b, [&](OpBuilder &inside, Position &outer, Value low, Value high) {
    l.loop(inside, low, high, 1, [&](OpBuilder &each, Value index) {
      Position at = outer;
      at.loops[last] = index;
      body(each, at);
    });
  });
}

void CoreLowering::MapRows::elementByElement(OpBuilder &b) {
  auto checked = [&](OpBuilder &each, Position &at) { l.storeAll(each, at); };
  if (!follow)
    return eachElement(b, checked);
  // The places of many rows are looked at together, and are then what is read.
  constexpr int64_t kPoints = 1024;
  Value begin = l.begin, end = l.end;
  l.loop(b, begin, end, kPoints, [&](OpBuilder &inside, Value first) {
    IndexMath m{inside, loc};
    l.begin = first, l.end = m.min(m.add(first, kPoints), end);
    Value wrapped = anyWrapped(inside, l.begin, l.end);
    auto either = scf::IfOp::create(inside, loc, wrapped, /*withElseRegion=*/true);
    OpBuilder seldom = either.getThenBodyBuilder(), usual = either.getElseBodyBuilder();
    eachElement(seldom, checked);
    if (l.writes)
      usual =
          scf::IfOp::create(usual, loc, l.writes, /*withElseRegion=*/false).getThenBodyBuilder();
    eachElement(usual, [&](OpBuilder &each, Position &at) {
      for (auto check : l.kernel.getBody().front().getOps<kernel::BoundOp>())
        at.values[check] = l.emitter->value(each, check.getIndex(), at);
      l.writeAll(each, at);
    });
  });
  l.begin = begin, l.end = end;
}

/// Sets `overOperand`, where that matters: beyond the end of a row its neighbour begins.
void CoreLowering::MapRows::compareWithOperands(OpBuilder &b) {
  auto isPlain = [](Operation &op) {
    return !isa<kernel::GatherOp, kernel::ScatterOp, kernel::BoundOp>(op);
  };
  Block &body = l.kernel.getBody().front();
  if (!l.kernel->hasAttr(kOfFewAttr) || last == 0 || lanes <= 2 || computesLong || laneByLane ||
      kept || l.writes || l.kernel->hasAttr(kOnceAttr) || !llvm::all_of(body, isPlain))
    return;
  for (auto load : body.getOps<kernel::LoadOp>())
    for (kernel::StoreOp store : l.stores) {
      const LinearAccess &from = l.space.accesses.at(load), &to = l.space.accesses.at(store);
      if (!(from.offset == to.offset) || from.strides != to.strides)
        continue;
      Value same = sameMemory(b, loc, l.emitter->buffer(load), l.emitter->buffer(store));
      overOperand = overOperand ? IndexMath{b, loc}.either(overOperand, same) : same;
    }
}

void CoreLowering::MapRows::row(OpBuilder &outside, Position &outer, Value low, Value high) {
  OpBuilder b = outside;
  IndexMath m{b, loc};
  if (kept) {
    Position row = outer;
    Value chosen = l.emitter->value(b, kept->chosen, row);
    Value some = m.select(inPlace, chosen, arith::ConstantIntOp::create(b, loc, 1, 1));
    b = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false).getThenBodyBuilder();
  }
  if (checkRow(b, l.kernel, *l.emitter, outer) && l.writes)
    b = scf::IfOp::create(b, loc, l.writes, /*withElseRegion=*/false).getThenBodyBuilder();
  prefetchRows(b, l.kernel, *l.emitter, outer);
  if (mayBeShort()) {
    // Whole registers cross lines more often than half ones.
    IndexMath n{b, loc};
    Value few = n.atLeast(n(lanes / 2), n.sub(high, low));
    auto either = scf::IfOp::create(b, loc, few, /*withElseRegion=*/true);
    OpBuilder yes = either.getThenBodyBuilder();
    oneStrip(yes, outer, low, high, lanes / 2);
    b = either.getElseBodyBuilder();
  }
  low = upToLine(b, outer, low, high);
  l.strips(
      b, outer, static_cast<int>(last), l.width, low, high,
      [&](OpBuilder &inside, Position &at) {
        at.apart = overOperand;
        strip(inside, at);
      },
      laneByLane ? 1 : lanes);
}

} // namespace graphc::pass

/// Rows one by one, in vectors along the last loop.
void CoreLowering::lowerMapRows(OpBuilder &outside, bool shortApart) {
  OpBuilder b = outside;
  MapRows rows(*this, b, shortApart);
  if (Value more = rows.goesOn(b))
    b = scf::IfOp::create(b, loc, more, /*withElseRegion=*/false).getThenBodyBuilder();
  if (Value few = rows.areFew(b)) {
    auto either = scf::IfOp::create(b, loc, few, /*withElseRegion=*/true);
    OpBuilder yes = either.getThenBodyBuilder();
    rows.elementByElement(yes);
    b = either.getElseBodyBuilder();
  }
  runs(b, [&](OpBuilder &inside, Position &outer, Value low, Value high) {
    rows.row(inside, outer, low, high);
  });
}

void CoreLowering::lowerMap() {
  open(kernel.getSymName(), {});
  if (shape.oneByOne && width == 1) {
    begin = constant(builder, 0);
    end = emitter->emit(builder, space.items());
  } else if (shape.oneByOne) {
    Value points = emitter->emit(builder, *Polynomial::of(shape.work));
    begin = IndexMath{builder, loc}.mul(begin, points);
    end = IndexMath{builder, loc}.mul(end, points);
  }
  if (space.parallel == 0) {
    Position at = position();
    storeAll(builder, at);
  } else if (shape.oneByOne && width == 1) {
    loop(builder, begin, end, 1, [&](OpBuilder &b, Value item) {
      Position at = position();
      emitter->delinearize(b, item, 0, space.parallel, at);
      storeAll(b, at);
    });
  } else if (width == 1) {
    // A device work-item is one element: no loop for the driver's vectorizer to trip over.
    Position at = position();
    emitter->delinearize(builder, begin, 0, space.parallel, at);
    storeAll(builder, at);
  } else {
    chooseFlat();
  }
  close();
  lowerFlatForm();
}
