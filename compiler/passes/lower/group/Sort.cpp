// Sorting by groups of work-items: see GroupSort.h for the passes and what they take.
#include "compiler/passes/lower/group/SortFunction.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

constexpr int64_t kLogEach = llvm::ConstantLog2<kSortEach>();

using Load = llvm::function_ref<Value(OpBuilder &, Value)>;

/// Two sorted runs: where they begin, and how many elements they have. Those in local memory are
/// counted in 32 bits, which is half the work.
struct Runs {
  Value first, countFirst, second, countSecond;
};

/// How many of the first `take` elements of the merged runs are the first run's.
Value splitOf(OpBuilder &outside, const SortKeys &keys, const Runs &runs, Value take, Load load) {
  Location loc = keys.loc;
  IndexMath m{outside, loc, take.getType()};
  SmallVector<Value> range = {m.max(m.sub(take, runs.countSecond), 0),
                              m.min(take, runs.countFirst)};
  auto search = scf::WhileOp::create(
      outside, loc, TypeRange(ValueRange(range)), range,
      [&](OpBuilder &b, Location, ValueRange at) {
        scf::ConditionOp::create(b, loc, IndexMath{b, loc}.less(at[0], at[1]), at);
      },
      [&](OpBuilder &b, Location, ValueRange at) {
        IndexMath n{b, loc, take.getType()};
        Value middle = n.div(n.add(at[0], at[1]), 2);
        Value other = n.sub(n.sub(take, middle), n(1));
        Value x = load(b, n.add(runs.first, middle)), y = load(b, n.add(runs.second, other));
        Value later = keys.less(b, y, x);
        Value next = n.add(middle, 1);
        scf::YieldOp::create(
            b, loc, ValueRange{n.select(later, at[0], next), n.select(later, middle, at[1])});
      });
  return search.getResult(0);
}

/// The functions of a merge sort.
class MergeFunction : public SortFunction {
public:
  using SortFunction::SortFunction;

  void tiles();
  void splits();
  void merge();

private:
  Value lines() const { return sizes[0]; }
  Value length() const { return sizes[1]; }
  /// A work-item's elements of the merged runs, from `take` on: keys, and where they lie.
  void mergeEach(OpBuilder &at, Value from, const Runs &runs, Value take,
                 SmallVectorImpl<Value> &merged, SmallVectorImpl<Value> &sources) const;
  void sortEach(SmallVectorImpl<Value> &key, SmallVectorImpl<Value> &place) const;
  void sortRuns(Value kept, Value places, Value segment);
  /// Puts a work-item's merged elements in their places, once all have read theirs, for all to see.
  void keepEach(OpBuilder &at, Value kept, Value places, ArrayRef<Value> merged,
                ArrayRef<Value> moved) const;
  Runs runsOf(Value start, Value run) const;
  void store(OpBuilder &at, Value isLast, Value target, Value half, Value key, Value place,
             ValueRange buffers) const;
};

void MergeFunction::mergeEach(OpBuilder &at, Value from, const Runs &runs, Value take,
                              SmallVectorImpl<Value> &merged,
                              SmallVectorImpl<Value> &sources) const {
  IndexMath n = near(at);
  auto load = [&](OpBuilder &c, Value place) { return getLocal(c, from, place); };
  auto inside = [&](Value place) { return n.min(place, kSortTile - 1); };
  Value split = splitOf(at, keys, runs, take, load);
  Value i = n.add(runs.first, split), j = n.add(runs.second, n.sub(take, split));
  Value endFirst = n.add(runs.first, runs.countFirst);
  Value endSecond = n.add(runs.second, runs.countSecond);
  Value x = load(at, inside(i)), y = load(at, inside(j));
  for (int64_t step = 0; step < kSortEach; ++step) {
    Value isRun = n.less(j, endSecond), ended = n.atLeast(i, endFirst);
    Value later = n.both(isRun, n.either(ended, keys.less(at, y, x)));
    merged.push_back(keys.select(at, later, y, x));
    Value source = n.select(later, j, i), next = n.add(source, 1);
    sources.push_back(source);
    if (step + 1 == kSortEach)
      return;
    j = n.select(later, next, j);
    i = n.select(later, i, next);
    Value key = load(at, inside(next));
    x = keys.select(at, later, x, key);
    y = keys.select(at, later, key, y);
  }
}

void MergeFunction::keepEach(OpBuilder &at, Value kept, Value places, ArrayRef<Value> merged,
                             ArrayRef<Value> moved) const {
  IndexMath n = near(at);
  Value own = n.mul(member, kSortEach);
  barrier(at);
  for (int64_t i = 0; i < kSortEach; ++i) {
    setLocal(at, kept, n.add(own, i), merged[i]);
    if (places)
      setLocal(at, places, n.add(own, i), moved[i]);
  }
  barrier(at);
}

/// Neighbours change places until all are in order, which leaves equal ones as they are.
void MergeFunction::sortEach(SmallVectorImpl<Value> &key, SmallVectorImpl<Value> &place) const {
  OpBuilder at = b;
  IndexMath n = near(at);
  for (int64_t round = 0; round < kSortEach; ++round)
    for (int64_t i = round % 2; i + 1 < kSortEach; i += 2) {
      Value swap = keys.less(at, key[i + 1], key[i]);
      Value low = keys.select(at, swap, key[i + 1], key[i]);
      key[i + 1] = keys.select(at, swap, key[i], key[i + 1]);
      key[i] = low;
      Value first = n.select(swap, place[i + 1], place[i]);
      place[i + 1] = n.select(swap, place[i], place[i + 1]);
      place[i] = first;
    }
}

/// From sorted runs of kSortEach elements in local memory to runs of `segment`.
void MergeFunction::sortRuns(Value kept, Value places, Value segment) {
  IndexMath s = near(b);
  Value own = s.mul(member, kSortEach);
  SmallVector<Value> start = {s(kSortEach)};
  scf::WhileOp::create(
      b, loc, TypeRange(ValueRange(start)), start,
      [&](OpBuilder &c, Location, ValueRange at) {
        scf::ConditionOp::create(c, loc, IndexMath{c, loc}.less(at[0], segment), at);
      },
      [&](OpBuilder &c, Location, ValueRange at) {
        IndexMath n = near(c);
        Value run = at[0], pair = n.mul(run, 2);
        Value take = n.both(own, n.sub(pair, n(1)));
        Value first = n.sub(own, take);
        SmallVector<Value> merged, sources, moved;
        mergeEach(c, kept, {first, run, n.add(first, run), run}, take, merged, sources);
        if (places)
          for (Value source : sources)
            moved.push_back(getLocal(c, places, source));
        keepEach(c, kept, places, merged, moved);
        scf::YieldOp::create(c, loc, ValueRange{pair});
      });
}

/// `buffers`: keys, places where there are some, and the result.
void MergeFunction::store(OpBuilder &at, Value isLast, Value target, Value half, Value key,
                          Value place, ValueRange buffers) const {
  IndexMath n{at, loc};
  Value result = buffers.back();
  auto choice = scf::IfOp::create(at, loc, n.equal(isLast, n(1)), /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  Type type = cast<MemRefType>(result.getType()).getElementType();
  set(yes, result, target, keys.places ? place : keys.elementOf(yes, key, type));
  IndexMath o{no, loc};
  Value there = o.add(target, o.mul(half, o.mul(lines(), length())));
  set(no, buffers[0], there, key);
  if (keys.places)
    set(no, buffers[1], there, place);
}

void MergeFunction::tiles() {
  Value segment = sizes[2], last = sizes[3], kept = local(keys.type), places;
  if (keys.places)
    places = local(b.getI32Type());
  // A tile is some lines, or a part of one. The segment's logarithm: shifts are shorter than
  // divisions, and a work-item needs many.
  IndexMath s = near(b);
  Value own = s.mul(member, kSortEach), size = narrow(b, segment), shift = s(kLogEach);
  for (int64_t power = kSortEach; power < kSortTile; power *= 2)
    shift = s.select(s.less(s(power), size), s.add(shift, 1), shift);
  auto segmentsIn = [&](Value x) -> Value {
    return arith::ShRUIOp::create(b, loc, x, x.getType().isIndex() ? wide(b, shift) : shift);
  };
  auto columnOf = [&](Value e) { return s.both(e, s.sub(size, s(1))); };
  Value parts = segmentsIn(m.add(length(), m.sub(segment, m(1))));
  Value part = m.div(group, parts), firstLine = m.mul(part, segmentsIn(m(kSortTile)));
  Value firstColumn = m.mul(m.sub(group, m.mul(part, parts)), segment);
  auto at = [&](Value e, Value &inside) {
    Value column = m.add(firstColumn, wide(b, columnOf(e)));
    Value line = m.add(firstLine, wide(b, segmentsIn(e)));
    inside = m.both(m.less(line, lines()), m.less(column, length()));
    return m.add(m.mul(line, length()), column);
  };
  moved(b, [&](Value e) {
    Value inside, place = at(e, inside);
    Value key = keys.of(b, get(b, memory[0], m.select(inside, place, m(0))));
    setLocal(b, kept, e, keys.select(b, inside, key, keys.last(b)));
  });
  barrier(b);
  SmallVector<Value> key, place;
  for (int64_t i = 0; i < kSortEach; ++i) {
    key.push_back(getLocal(b, kept, s.add(own, i)));
    place.push_back(columnOf(s.add(own, i)));
  }
  sortEach(key, place);
  // A work-item's elements are nobody else's until the next barrier.
  for (int64_t i = 0; i < kSortEach; ++i) {
    setLocal(b, kept, s.add(own, i), key[i]);
    if (places)
      setLocal(b, places, s.add(own, i), place[i]);
  }
  barrier(b);
  sortRuns(kept, places, size);
  Value half = m(0);
  moved(b, [&](Value e) {
    Value inside, target = at(e, inside);
    when(b, inside, [&](OpBuilder &c) {
      Value place;
      if (places) {
        Value column = IndexMath{c, loc}.add(firstColumn, wide(c, getLocal(c, places, e)));
        place = stored(c, column);
      }
      store(c, last, target, half, getLocal(c, kept, e), place, memory.drop_front());
    });
  });
  finish();
}

/// The runs that a tile at `start` of its line is merged of; places count from the line's first.
Runs MergeFunction::runsOf(Value start, Value run) const {
  Value first = m.sub(start, m.both(start, m.sub(m.mul(run, 2), m(1))));
  Value count = m.min(run, m.sub(length(), first));
  Value second = m.add(first, count);
  return {first, count, second, m.min(run, m.sub(length(), second))};
}

void MergeFunction::splits() {
  Value run = sizes[2], half = sizes[3], tiles = m.ceilDiv(length(), kSortTile);
  Value number = m.add(m.mul(group, kSortGroup), wide(b, member));
  Value all = m.mul(lines(), tiles);
  Value present = m.less(number, all);
  number = m.select(present, number, m(0));
  Value line = m.div(number, tiles);
  Value start = m.mul(m.sub(number, m.mul(line, tiles)), kSortTile);
  Value base = m.mul(m.add(line, m.mul(half, lines())), length());
  Runs runs = runsOf(start, run);
  Value split = splitOf(b, keys, runs, m.sub(start, runs.first), [&](OpBuilder &c, Value place) {
    return get(c, memory[0], IndexMath{c, loc}.add(base, place));
  });
  when(b, present, [&](OpBuilder &c) { set(c, memory[1], number, stored(c, split)); });
  finish();
}

void MergeFunction::merge() {
  Value run = sizes[2], half = sizes[3], last = sizes[4];
  Value kept = local(keys.type), sources = keys.places ? local(b.getI32Type()) : Value();
  Value tiles = m.ceilDiv(length(), kSortTile), line = m.div(group, tiles);
  Value start = m.mul(m.sub(group, m.mul(line, tiles)), kSortTile);
  Value base = m.mul(m.add(line, m.mul(half, lines())), length());
  Runs runs = runsOf(start, run);
  Value all = m.add(runs.countFirst, runs.countSecond), before = m.sub(start, runs.first);
  Value end = m.min(m.add(before, kSortTile), all), count = m.sub(end, before);
  auto splitAt = [&](Value tile) { return wide(b, get(b, memory[0], tile)); };
  Value from = splitAt(group);
  Value next = splitAt(m.min(m.add(group, 1), m.sub(m.mul(lines(), tiles), m(1))));
  Value until = m.select(m.less(end, all), next, runs.countFirst);
  Value some = m.sub(until, from);
  // Where the tile's elements of both runs begin in the half that is read.
  Value first = m.add(base, m.add(runs.first, from));
  Value second = m.sub(m.add(base, m.add(runs.second, m.sub(before, from))), some);
  IndexMath s = near(b);
  Value own = s.mul(member, kSortEach), size = narrow(b, count), split = narrow(b, some);
  auto source = [&](OpBuilder &c, Value e) {
    IndexMath n{c, loc};
    return n.add(n.select(n.less(e, split), first, second), wide(c, e));
  };
  moved(b, [&](Value e) {
    Value inside = s.less(e, size);
    Value key = get(b, memory[1], m.select(inside, source(b, e), base));
    setLocal(b, kept, e, keys.select(b, inside, key, keys.last(b)));
  });
  barrier(b);
  SmallVector<Value> merged, places;
  mergeEach(b, kept, {s(0), split, split, s.sub(size, split)}, s.min(own, size), merged, places);
  keepEach(b, kept, sources, merged, places);
  Value other = m.sub(m(1), half), target = m.add(m.mul(line, length()), start);
  moved(b, [&](Value e) {
    when(b, s.less(e, size), [&](OpBuilder &c) {
      Value place;
      if (sources)
        place = get(c, memory[2], source(c, getLocal(c, sources, e)));
      Value there = IndexMath{c, loc}.add(target, wide(c, e));
      store(c, last, there, other, getLocal(c, kept, e), place, memory.drop_front());
    });
  });
  finish();
}

} // namespace

void pass::lowerGroupSort(kernel::SortOp op) {
  Builder b(op.getContext());
  Type key = sortKeys(op).type, place = b.getI64Type();
  Type result = op.getPlaces() ? place : op.getElement();
  SmallVector<Type> tiles = {op.getElement(), key}, merge = {place, key};
  if (op.getPlaces()) {
    tiles.push_back(place);
    merge.push_back(place);
  }
  tiles.push_back(result);
  merge.push_back(result);
  auto function = [&](StringRef suffix, ArrayRef<Type> buffers, int64_t sizes) {
    return MergeFunction(op, op.getSymName() + suffix, sortKeys(op),
                         {SmallVector<Type>(buffers), /*inputs=*/1, sizes, kTilePs});
  };
  function(kSortTiles, tiles, 4).tiles();
  function(kSortSplits, {key, place}, 4).splits();
  function(kSortMerge, merge, 5).merge();
  if (isSortedByDigits(op.getElement()))
    lowerRadixSort(op);
}
