// Combining scatters whose points lie in the order of their places, by groups: a group has some
// points in local memory, and the work-item of a place's first point combines all of its points in
// their order. Where they go on behind the group's, the group reads them ahead for that work-item,
// which alone would wait for each.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Points of a work-item in a piece that the group reads ahead.
static constexpr int64_t kPointsAhead = 4;
/// Points that are read from local memory together.
static constexpr int64_t kFewTogether = 4, kManyTogether = 16;
/// The place of what writes nowhere.
static constexpr int64_t kNowhere = -1;

bool pass::combinesByGroups(kernel::FuncOp func, const LoopSpace &space, int64_t group) {
  bool combines = space.parallel == 1 && space.count() == 1;
  int64_t bytes = sizeof(int64_t); // of a point in local memory, its place included
  func.getBody().walk([&](kernel::ScatterOp scatter) {
    combines &= !scatter.getCombine().empty();
    bytes += memoryType(scatter.getValue().getType()).getIntOrFloatBitWidth() / 8;
  });
  return combines && group * kPointsAhead * bytes < kGroupMemory;
}

struct GroupLowering::PlacedGroup {
  GroupLowering &of;
  Location loc = of.loc;
  int64_t size = of.shape.group; ///< work-items, and points of the group's own
  int64_t piece = size * kPointsAhead;
  Value length, first;  ///< of all points; of the group's
  Value places, goesOn; ///< in local memory; goesOn: whether another piece is wanted
  Values values;        ///< in local memory, of each scatter

  struct Point {
    Position at;
    Value isPoint, place;
    Values values; ///< as they lie in memory
  };

  void allocate();
  Point at(OpBuilder &b, Value number) const;
  void readValues(OpBuilder &b, Point &point) const;
  SmallVector<Point> readPiece(OpBuilder &b, Value start) const;
  void keepPiece(OpBuilder &b, ArrayRef<Point> points) const;
  void keepOwn(OpBuilder &b, const Point &own) const;
  Values start(OpBuilder &b, const Point &own, Value begins) const;
  void write(OpBuilder &b, const Point &own, Value begins, ValueRange sums) const;
  Value isAt(OpBuilder &b, Value slot, Value place) const {
    return IndexMath{b, loc}.equal(memref::LoadOp::create(b, loc, places, slot), place);
  }
  void combine(OpBuilder &b, SmallVectorImpl<Value> &sums, Value slot, Value condition) const;
  Values combineOwn(OpBuilder &b, ArrayRef<Value> begun, Value place, Value some) const;
  Values combinePiece(OpBuilder &b, ValueRange begun, Value place) const;
  Values combineRest(OpBuilder &b, ArrayRef<Value> begun, Value place, Value crosses) const;
  void tell(OpBuilder &b, bool more) const {
    Value word = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(more));
    memref::StoreOp::create(b, loc, word, goesOn, IndexMath{b, loc}(0));
  }
  Value isTold(OpBuilder &b) const {
    Value word = memref::LoadOp::create(b, loc, goesOn, IndexMath{b, loc}(0));
    return IndexMath{b, loc, b.getI32Type()}.equal(word, IndexMath{b, loc, b.getI32Type()}(1));
  }
};

/// Of the group's own points the places of one before and one behind them are kept as well: that of
/// point i in slot i + 1.
void GroupLowering::PlacedGroup::allocate() {
  OpBuilder b = OpBuilder::atBlockBegin(&of.function.getBody().front());
  auto local = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto memory = [&](int64_t count, Type element) -> Value {
    return memref::AllocaOp::create(b, loc, MemRefType::get({count}, element, AffineMap(), local));
  };
  places = memory(piece, b.getI64Type());
  goesOn = memory(1, b.getI32Type());
  for (kernel::ScatterOp scatter : of.scatters)
    values.push_back(memory(piece, memoryType(scatter.getValue().getType())));
}

/// Behind the last point there are others that write nowhere.
GroupLowering::PlacedGroup::Point GroupLowering::PlacedGroup::at(OpBuilder &b, Value number) const {
  IndexMath m{b, loc};
  Point point{of.position(), m.less(number, length), {}, {}};
  point.at.loops[0] = m.max(m.min(number, m.sub(length, m(1))), 0);
  Value place = of.emitter->placeOf(b, of.scatters[0], point.at), writes = point.isPoint;
  if (Value guard = of.scatters[0].getGuard())
    writes = m.both(writes, of.emitter->value(b, guard, point.at));
  point.place = m.select(writes, place, m(kNowhere));
  point.place = arith::IndexCastOp::create(b, loc, b.getI64Type(), point.place);
  return point;
}

void GroupLowering::PlacedGroup::readValues(OpBuilder &b, Point &point) const {
  for (kernel::ScatterOp scatter : of.scatters) {
    Value value = of.emitter->value(b, scatter.getValue(), point.at);
    point.values.push_back(of.emitter->toMemory(b, value));
  }
}

SmallVector<GroupLowering::PlacedGroup::Point>
GroupLowering::PlacedGroup::readPiece(OpBuilder &b, Value start) const {
  IndexMath m{b, loc};
  SmallVector<Point> points;
  for (int64_t part = 0; part < kPointsAhead; ++part)
    points.push_back(at(b, m.add(m.add(start, of.member), part * size)));
  // Checks of places may branch, and what branches is not waited for together.
  for (Point &point : points)
    readValues(b, point);
  return points;
}

void GroupLowering::PlacedGroup::keepPiece(OpBuilder &b, ArrayRef<Point> points) const {
  IndexMath m{b, loc};
  for (auto [part, point] : llvm::enumerate(points)) {
    Value slot = m.add(of.member, part * size);
    memref::StoreOp::create(b, loc, point.place, places, slot);
    for (auto [value, memory] : llvm::zip_equal(point.values, values))
      memref::StoreOp::create(b, loc, value, memory, slot);
  }
  gpu::BarrierOp::create(b, loc);
}

void GroupLowering::PlacedGroup::keepOwn(OpBuilder &b, const Point &own) const {
  IndexMath m{b, loc};
  Value slot = m.add(of.member, 1), isFirst = m.equal(of.member, m(0));
  memref::StoreOp::create(b, loc, own.place, places, slot);
  for (auto [value, memory] : llvm::zip_equal(own.values, values))
    memref::StoreOp::create(b, loc, value, memory, of.member);
  auto once = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder c = once.getThenBodyBuilder();
  IndexMath n{c, loc};
  Value before = n.select(n.less(n(0), first), at(c, n.sub(first, n(1))).place,
                          arith::ConstantOp::create(c, loc, c.getI64IntegerAttr(kNowhere)));
  memref::StoreOp::create(c, loc, before, places, n(0));
  memref::StoreOp::create(c, loc, at(c, n.add(first, size)).place, places, n(size + 1));
  tell(c, false);
  gpu::BarrierOp::create(b, loc);
}

/// Combines the sums with the values in a slot where the condition holds; null: always.
void GroupLowering::PlacedGroup::combine(OpBuilder &b, SmallVectorImpl<Value> &sums, Value slot,
                                         Value condition) const {
  IndexMath m{b, loc};
  for (auto [sum, memory, scatter] : llvm::zip_equal(sums, values, of.scatters)) {
    Value value = of.emitter->fromMemory(b, memref::LoadOp::create(b, loc, memory, slot),
                                         scatter.getValue().getType());
    Value all = of.emitter->combined(b, scatter, sum, value);
    sum = condition ? m.select(condition, all, sum) : all;
  }
}

/// This work-item's place's points of the group's own, behind the first one.
GroupLowering::Values GroupLowering::PlacedGroup::combineOwn(OpBuilder &b, ArrayRef<Value> begun,
                                                             Value place, Value some) const {
  IndexMath m{b, loc};
  SmallVector<Value> initial = {m.add(of.member, 1), some};
  llvm::append_range(initial, begun);
  auto all = scf::WhileOp::create(
      b, loc, ValueRange(initial).getTypes(), initial,
      [](OpBuilder &c, Location where, ValueRange state) {
        scf::ConditionOp::create(c, where, state[1], state);
      },
      [&](OpBuilder &c, Location, ValueRange state) {
        IndexMath n{c, loc};
        SmallVector<Value> sums(state.drop_front(2));
        Value more = state[1];
        for (int64_t i = 0; i < kFewTogether; ++i) {
          Value number = n.add(state[0], i), slot = n.min(number, size - 1);
          more = n.both(more, n.both(n.less(number, n(size)), isAt(c, n.add(slot, 1), place)));
          combine(c, sums, slot, more);
        }
        SmallVector<Value> after = {n.add(state[0], kFewTogether), more};
        llvm::append_range(after, sums);
        scf::YieldOp::create(c, loc, after);
      });
  return Values(all.getResults().drop_front(2));
}

/// What the piece in local memory adds; tells when it holds another place's points.
GroupLowering::Values GroupLowering::PlacedGroup::combinePiece(OpBuilder &b, ValueRange begun,
                                                               Value place) const {
  IndexMath m{b, loc};
  SmallVector<Value> initial = {m(0)};
  llvm::append_range(initial, begun);
  auto whole = scf::WhileOp::create(
      b, loc, ValueRange(initial).getTypes(), initial,
      [&](OpBuilder &c, Location, ValueRange state) {
        IndexMath n{c, loc};
        Value last = n.min(n.add(state[0], kManyTogether - 1), piece - 1);
        Value more = n.both(n.less(state[0], n(piece)), isAt(c, last, place));
        scf::ConditionOp::create(c, loc, more, state);
      },
      [&](OpBuilder &c, Location, ValueRange state) {
        IndexMath n{c, loc};
        SmallVector<Value> sums(state.drop_front());
        for (int64_t i = 0; i < kManyTogether; ++i)
          combine(c, sums, n.add(state[0], i), {});
        sums.insert(sums.begin(), n.add(state[0], kManyTogether));
        scf::YieldOp::create(c, loc, sums);
      });
  SmallVector<Value> sums(whole.getResults().drop_front());
  auto ends = scf::IfOp::create(b, loc, ValueRange(sums).getTypes(),
                                m.less(whole.getResult(0), m(piece)), /*withElseRegion=*/true);
  OpBuilder yes = ends.getThenBodyBuilder(), no = ends.getElseBodyBuilder();
  scf::YieldOp::create(no, loc, sums);
  tell(yes, false);
  IndexMath n{yes, loc};
  for (int64_t i = 0; i < kManyTogether; ++i) {
    Value slot = n.add(whole.getResult(0), i);
    combine(yes, sums, slot, isAt(yes, slot, place));
  }
  scf::YieldOp::create(yes, loc, sums);
  return Values(ends.getResults());
}

/// The points behind the group's own: all work-items read a piece while that of the place, which
/// `crosses` says it is, combines the one before it.
GroupLowering::Values GroupLowering::PlacedGroup::combineRest(OpBuilder &b, ArrayRef<Value> begun,
                                                              Value place, Value crosses) const {
  IndexMath m{b, loc};
  Value start = m.add(first, size);
  keepPiece(b, readPiece(b, start));
  SmallVector<Value> initial = {start};
  llvm::append_range(initial, begun);
  auto rest = scf::WhileOp::create(
      b, loc, ValueRange(initial).getTypes(), initial,
      [&](OpBuilder &c, Location, ValueRange state) {
        SmallVector<Value> after = {IndexMath{c, loc}.add(state[0], piece)};
        SmallVector<Point> points = readPiece(c, after[0]);
        ValueRange sums = state.drop_front();
        auto own = scf::IfOp::create(c, loc, sums.getTypes(), crosses, /*withElseRegion=*/true);
        OpBuilder yes = own.getThenBodyBuilder(), no = own.getElseBodyBuilder();
        scf::YieldOp::create(yes, loc, combinePiece(yes, sums, place));
        scf::YieldOp::create(no, loc, sums);
        gpu::BarrierOp::create(c, loc);
        Value more = isTold(c);
        keepPiece(c, points);
        llvm::append_range(after, own.getResults());
        scf::ConditionOp::create(c, loc, more, after);
      },
      [](OpBuilder &c, Location where, ValueRange state) {
        scf::YieldOp::create(c, where, state);
      });
  return Values(rest.getResults().drop_front());
}

/// What lies in the place of a point that begins it, combined with the point's values.
GroupLowering::Values GroupLowering::PlacedGroup::start(OpBuilder &b, const Point &own,
                                                        Value begins) const {
  Values values;
  Position at = own.at;
  for (kernel::ScatterOp scatter : of.scatters)
    values.push_back(of.emitter->value(b, scatter.getValue(), at));
  auto some = scf::IfOp::create(b, loc, ValueRange(values).getTypes(), begins,
                                /*withElseRegion=*/true);
  OpBuilder yes = some.getThenBodyBuilder(), no = some.getElseBodyBuilder();
  scf::YieldOp::create(no, loc, values);
  for (auto [value, scatter] : llvm::zip_equal(values, of.scatters)) {
    Value place = of.emitter->placeOf(yes, scatter, at);
    value = of.emitter->combined(yes, scatter, of.emitter->readPlace(yes, scatter, place), value);
  }
  scf::YieldOp::create(yes, loc, values);
  return Values(some.getResults());
}

void GroupLowering::PlacedGroup::write(OpBuilder &b, const Point &own, Value begins,
                                       ValueRange sums) const {
  auto some = scf::IfOp::create(b, loc, begins, /*withElseRegion=*/false);
  OpBuilder yes = some.getThenBodyBuilder();
  Position at = own.at;
  for (auto [sum, scatter] : llvm::zip_equal(sums, of.scatters))
    of.emitter->writePlace(yes, scatter, sum, of.emitter->placeOf(yes, scatter, at));
}

void GroupLowering::lowerPlaces() {
  open(kernel.getSymName(), {});
  OpBuilder &b = builder;
  IndexMath m{b, loc};
  PlacedGroup group{*this};
  group.length = emitter->extent(b, 0);
  group.first = m.mul(begin, shape.group);
  group.allocate();
  PlacedGroup::Point own = group.at(b, m.add(group.first, member));
  group.readValues(b, own);
  auto present = scf::IfOp::create(b, loc, own.isPoint, /*withElseRegion=*/false);
  OpBuilder c = present.getThenBodyBuilder();
  Position here = own.at;
  emitter->storeAll(c, stores, here);
  group.keepOwn(b, own);
  auto no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value nowhere = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(kNowhere));
  Value isFirst = m.equal(group.isAt(b, member, own.place), no);
  Value begins = m.both(m.equal(m.equal(own.place, nowhere), no), isFirst);
  // Nobody else reads or writes the place.
  Values sums = group.start(b, own, begins);
  auto follows = [&](Value slot) { return m.both(begins, group.isAt(b, slot, own.place)); };
  sums = group.combineOwn(b, sums, own.place, follows(m.add(member, 2)));
  Value crosses = m.both(follows(m(shape.group)), group.isAt(b, m(shape.group + 1), own.place));
  auto asks = scf::IfOp::create(b, loc, crosses, /*withElseRegion=*/false);
  OpBuilder d = asks.getThenBodyBuilder();
  group.tell(d, true);
  gpu::BarrierOp::create(b, loc);
  auto rest = scf::IfOp::create(b, loc, ValueRange(sums).getTypes(), group.isTold(b),
                                /*withElseRegion=*/true);
  OpBuilder yes = rest.getThenBodyBuilder(), none = rest.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, group.combineRest(yes, sums, own.place, crosses));
  scf::YieldOp::create(none, loc, sums);
  group.write(b, own, begins, rest.getResults());
  close();
}
