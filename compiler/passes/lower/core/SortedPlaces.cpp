// Scatters whose points lie in the order of their places: the work-item of a place's first point
// combines all of its points in their order, and where they only write, that of its last one does.
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Points of a place that are read together: many share one, and each waits for memory.
static constexpr int64_t kPointsTogether = 16;

bool pass::sharePlaces(ArrayRef<kernel::ScatterOp> scatters) {
  return llvm::all_of(scatters, [&](kernel::ScatterOp op) {
    kernel::ScatterOp first = scatters.front();
    return op.getSorted() && op.getGuard() == first.getGuard() && op.getMap() == first.getMap() &&
           op.getCombine().empty() == first.getCombine().empty() &&
           llvm::equal(op.getPlaces(), first.getPlaces());
  });
}

std::optional<unsigned> pass::placedLoop(kernel::ScatterOp scatter, const LoopSpace &space) {
  SmallVector<Value> values(scatter.getPlaces());
  if (scatter.getGuard())
    values.push_back(scatter.getGuard());
  std::optional<unsigned> found;
  for (unsigned loop = 0; loop < space.parallel; ++loop) {
    if (!llvm::any_of(values, [&](Value value) { return space.dependsOn(value, loop); }))
      continue;
    if (found)
      return std::nullopt;
    found = loop;
  }
  return found;
}

struct CoreLowering::SortedPlaces {
  CoreLowering &of;
  unsigned loop; ///< along which the places are sorted
  Position at;   ///< of the work-item's own point
  Value place;   ///< there

  Position moved(Value point) const {
    Position result = of.position();
    llvm::copy(at.loops, result.loops.begin());
    result.loops[loop] = point;
    return result;
  }
  Value guarded(OpBuilder &b, Position &position, Value condition) const {
    Value guard = of.scatters[0].getGuard();
    return guard ? IndexMath{b, of.loc}.both(condition, of.emitter->value(b, guard, position))
                 : condition;
  }
  /// Whether a point within the loop writes to the same place.
  Value isSame(OpBuilder &b, Position &position, Value within) const {
    IndexMath m{b, of.loc};
    Value other = of.emitter->placeOf(b, of.scatters[0], position);
    return guarded(b, position, m.both(within, m.equal(other, place)));
  }
  Values combineRest(OpBuilder &b, ArrayRef<Value> begun, Value next, Value more) const;
  void write(OpBuilder &b, Value isFirst, Value sharesNext, Value next);
};

/// What the points from `next` on make of `begun`, if there are `more`.
CoreLowering::Values CoreLowering::SortedPlaces::combineRest(OpBuilder &b, ArrayRef<Value> begun,
                                                             Value next, Value more) const {
  SmallVector<Value> initial = {next, more};
  llvm::append_range(initial, begun);
  auto rest = scf::WhileOp::create(
      b, of.loc, ValueRange(initial).getTypes(), initial,
      [](OpBuilder &c, Location loc, ValueRange state) {
        scf::ConditionOp::create(c, loc, state[1], state);
      },
      [&](OpBuilder &c, Location loc, ValueRange state) {
        IndexMath m{c, loc};
        Value first = state[0], goesOn = state[1], length = of.emitter->extent(c, loop);
        SmallVector<Value> combined(state.drop_front(2)), values, same;
        SmallVector<Position> points;
        // Checks of places may branch, and what branches is not waited for together.
        for (int64_t i = 0; i < kPointsTogether; ++i) {
          Position &position =
              points.emplace_back(moved(m.min(m.add(first, i), m.sub(length, m(1)))));
          for (Value place : of.scatters[0].getPlaces())
            if (auto check = place.getDefiningOp<kernel::BoundOp>())
              of.emitter->value(c, check.getIndex(), position);
          for (kernel::ScatterOp scatter : of.scatters)
            values.push_back(of.emitter->value(c, scatter.getValue(), position));
        }
        for (auto [i, position] : llvm::enumerate(points))
          same.push_back(isSame(c, position, m.less(m.add(first, int64_t(i)), length)));
        auto value = values.begin();
        for (Value isOne : same) {
          goesOn = m.both(goesOn, isOne);
          for (auto [sum, scatter] : llvm::zip_equal(combined, of.scatters))
            sum = m.select(goesOn, of.emitter->combined(c, scatter, sum, *value++), sum);
        }
        SmallVector<Value> after = {m.add(first, kPointsTogether), goesOn};
        llvm::append_range(after, combined);
        scf::YieldOp::create(c, loc, after);
      });
  return Values(rest.getResults().drop_front(2));
}

void CoreLowering::SortedPlaces::write(OpBuilder &b, Value isFirst, Value sharesNext, Value next) {
  bool combines = !of.scatters[0].getCombine().empty();
  Value isLast = arith::XOrIOp::create(b, of.loc, sharesNext,
                                       arith::ConstantOp::create(b, of.loc, b.getBoolAttr(true)));
  Value writes = guarded(b, at, combines ? isFirst : isLast);
  auto some = scf::IfOp::create(b, of.loc, writes, /*withElseRegion=*/false);
  OpBuilder inside = some.getThenBodyBuilder();
  Position here = at;
  SmallVector<Value> places, results;
  for (kernel::ScatterOp scatter : of.scatters) {
    places.push_back(of.emitter->placeOf(inside, scatter, here));
    Value value = of.emitter->value(inside, scatter.getValue(), here);
    if (combines)
      value = of.emitter->combined(inside, scatter,
                                   of.emitter->readPlace(inside, scatter, places.back()), value);
    results.push_back(value);
  }
  if (combines)
    results = combineRest(inside, results, next, sharesNext);
  for (auto [scatter, result, at] : llvm::zip_equal(of.scatters, results, places))
    of.emitter->writePlace(inside, scatter, result, at);
}

void CoreLowering::lowerSorted() {
  unsigned along = *placedLoop(scatters[0], space), last = space.parallel - 1;
  open(kernel.getSymName(), {});
  runs(builder, [&](OpBuilder &outer, Position &run, Value low, Value high) {
    loop(outer, low, high, 1, [&](OpBuilder &b, Value index) {
      IndexMath m{b, loc};
      Position own = run;
      own.loops[last] = index;
      Value place = emitter->placeOf(b, scatters[0], own), point = own.loops[along];
      SortedPlaces sorted{*this, along, own, place};
      Value zero = m(0), next = m.add(point, 1), length = emitter->extent(b, along);
      Position before = sorted.moved(m.max(m.sub(point, m(1)), zero));
      Position after = sorted.moved(m.min(next, m.sub(length, m(1))));
      Value sharesBefore = sorted.isSame(b, before, m.less(zero, point));
      Value sharesNext = sorted.isSame(b, after, m.less(next, length));
      // Nobody else reads what is stored, but maybe this point.
      for (kernel::ScatterOp scatter : scatters)
        emitter->value(b, scatter.getValue(), sorted.at);
      for (kernel::StoreOp store : stores)
        for (Value value : store.getValues())
          emitter->value(b, value, sorted.at);
      emitter->storeAll(b, stores, sorted.at);
      Value isFirst =
          m.equal(sharesBefore, arith::ConstantOp::create(b, loc, b.getBoolAttr(false)));
      sorted.write(b, isFirst, sharesNext, next);
    });
  });
  close();
}
