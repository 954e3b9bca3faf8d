// Long lines, digit after digit: see GroupSort.h for the passes and what they take.
#include "compiler/passes/lower/group/SortFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// A tile is ordered by half a digit after the other: sixteen counters of 16 bits a work-item, two
/// in a word.
constexpr int64_t kHalfBits = kDigitBits / 2, kWords = (1 << kHalfBits) / 2, kCounterBits = 16;
static_assert(kWords == kSortEach, "a work-item adds up as many words as it has elements");
/// Counters of one word lie together, a place skipped after each eight: neighbours that count, and
/// those that add eight of them up, use different banks.
constexpr int64_t kWordStride = kSortGroup + kSortGroup / kSortEach;
static_assert(kWordStride % 32 == 0);

class RadixFunction : public SortFunction {
public:
  using SortFunction::SortFunction;

  void makeKeys();
  void choosePasses();
  void count();
  void offsets();
  void scatter();

private:
  using Body = llvm::function_ref<void(OpBuilder &, Value)>;
  /// body(builder, i) for i in [0, end).
  void repeat(Value end, Body body);
  Value loaded(OpBuilder &at, Value from, Value index) const {
    return wide(at, get(at, from, index));
  }
  /// Bits of a key from `shift` on, as a number of 32 bits.
  Value bitsOf(OpBuilder &at, Value key, Value shift, int64_t bits) const;
  Value shiftOf(OpBuilder &at, Value digit, int64_t more) const;
  /// The sum of what earlier work-items have, and of all, through two pieces of local memory; all
  /// of them must come here.
  std::pair<Value, Value> before(OpBuilder &at, Value value, Value first, Value second) const;
  Value unite(Value own, Value memory);
  /// Of a chunk of a line: its tiles, none where the digit is passed over.
  struct Chunk {
    Value line, number, pass, firstTile, tiles;
  };
  Chunk chunkOf(Value length, Value digit, Value each, Value chunks);
  Value isSet(OpBuilder &at, Value pass, int64_t bit) const {
    IndexMath n{at, loc};
    return n.compare(arith::CmpIPredicate::ne, n.both(pass, n(bit)), n(0));
  }
  Value countsAt(OpBuilder &at, const Chunk &chunk, Value digit, Value chunks) const;
  struct Tile;
  void loadTile(OpBuilder &at, const Tile &tile);
  /// One of a work-item's elements, its counter with the half of the word, and how many of its bits
  /// the work-item has before it.
  struct Moved {
    Value key, source, counter, half, rank;
  };
  void countBits(OpBuilder &at, const Tile &tile, Value shift, SmallVectorImpl<Moved> &elements);
  void orderTile(OpBuilder &at, const Tile &tile, Value shift);
  Value halfOf(OpBuilder &at, Value word, Value half) const {
    IndexMath n = near(at);
    return n.both(arith::ShRUIOp::create(at, loc, word, half), n((1 << kCounterBits) - 1));
  }
  void writeTile(OpBuilder &at, const Tile &tile);
  /// One that is about to be written: its place in the tile, which begins a digit or not.
  struct Placed {
    Value place, key, digit, previous, begins;
  };
  SmallVector<Value> placesOf(OpBuilder &at, const Tile &tile, ArrayRef<Placed> elements) const;
  void store(OpBuilder &at, const Tile &tile, Value target, Value key, Value place) const;
};

} // namespace

void RadixFunction::repeat(Value end, Body body) {
  auto loop = scf::ForOp::create(b, loc, m(0), end, m(1));
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  body(inside, loop.getInductionVar());
}

Value RadixFunction::bitsOf(OpBuilder &at, Value key, Value shift, int64_t bits) const {
  Value shifted = arith::ShRUIOp::create(at, loc, keys.asEqual(at, key), shift);
  unsigned width = keys.type.getWidth();
  if (width < 32)
    shifted = arith::ExtUIOp::create(at, loc, at.getI32Type(), shifted);
  else if (width > 32)
    shifted = arith::TruncIOp::create(at, loc, at.getI32Type(), shifted);
  IndexMath n = near(at);
  return n.both(shifted, n((1 << bits) - 1));
}

Value RadixFunction::shiftOf(OpBuilder &at, Value digit, int64_t more) const {
  IndexMath n{at, loc};
  return arith::IndexCastOp::create(at, loc, keys.type, n.add(n.mul(digit, kDigitBits), more));
}

std::pair<Value, Value> RadixFunction::before(OpBuilder &at, Value value, Value first,
                                              Value second) const {
  IndexMath n = near(at);
  Value sum = value, zero = IndexMath{at, loc, value.getType()}(0);
  barrier(at); // who reads the sums of another round has read them
  set(at, first, wide(at, member), sum);
  barrier(at);
  for (int64_t apart = 1; apart < kSortGroup; apart *= 2) {
    Value isEarlier = n.atLeast(member, n(apart));
    Value other = get(at, first, wide(at, n.select(isEarlier, n.sub(member, n(apart)), member)));
    sum = n.add(sum, n.select(isEarlier, other, zero));
    std::swap(first, second);
    set(at, first, wide(at, member), sum);
    barrier(at);
  }
  Value all = get(at, first, wide(at, n(kSortGroup - 1)));
  return {n.sub(sum, value), all};
}
static_assert(llvm::ConstantLog2<kSortGroup>() % 2 == 0, "the sums end where they began");

/// The bits of all work-items.
Value RadixFunction::unite(Value own, Value memory) {
  IndexMath n = near(b);
  set(b, memory, wide(b, member), own);
  for (int64_t apart = kSortGroup / 2; apart > 0; apart /= 2) {
    barrier(b);
    when(b, n.less(member, n(apart)), [&](OpBuilder &c) {
      IndexMath o = near(c);
      Value here = wide(c, member), there = wide(c, o.add(member, apart));
      set(c, memory, here, o.either(get(c, memory, here), get(c, memory, there)));
    });
  }
  barrier(b);
  return get(b, memory, m(0));
}

void RadixFunction::makeKeys() {
  Value elements = memory[0], made = memory[1], differing = memory[2], count = sizes[0];
  Value shared = local(keys.type, kSortGroup);
  Value start = m.mul(group, kSortTile), size = narrow(b, m.min(m.sub(count, start), kSortTile));
  Value first = keys.asEqual(b, keys.of(b, get(b, elements, m(0))));
  Value bits = IndexMath{b, loc, keys.type}(0);
  moved(b, [&](Value e) {
    Value inside = near(b).less(e, size), place = m.add(start, wide(b, e));
    Value key = keys.of(b, get(b, elements, m.select(inside, place, m(0))));
    when(b, inside, [&](OpBuilder &c) { set(c, made, place, key); });
    bits = m.either(bits, arith::XOrIOp::create(b, loc, keys.asEqual(b, key), first));
  });
  Value all = unite(bits, shared);
  when(b, near(b).equal(member, near(b)(0)), [&](OpBuilder &c) { set(c, differing, group, all); });
  finish();
}

void RadixFunction::choosePasses() {
  Value differing = memory[0], passes = memory[1], tiles = sizes[0];
  Value shared = local(keys.type, kSortGroup);
  Value none = IndexMath{b, loc, keys.type}(0);
  auto loop = scf::ForOp::create(b, loc, wide(b, member), tiles, m(kSortGroup), ValueRange{none});
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  Value read = get(c, differing, loop.getInductionVar());
  scf::YieldOp::create(c, loc, IndexMath{c, loc}.either(loop.getRegionIterArgs()[0], read));
  Value all = unite(loop.getResult(0), shared);
  when(b, near(b).equal(member, near(b)(0)), [&](OpBuilder &c) {
    IndexMath n{c, loc}, k{c, loc, keys.type};
    Value half = n(0), first = n(kRadixFirst);
    int64_t digits = keys.type.getWidth() / kDigitBits;
    for (int64_t digit = 0; digit < digits; ++digit) {
      Value mask = k(
          llvm::SignExtend64(uint64_t{kDigits - 1} << (digit * kDigitBits), keys.type.getWidth()));
      auto differs = [&](Value bits) { return k.compare(arith::CmpIPredicate::ne, bits, none); };
      Value runs = differs(k.both(all, mask)), last = n(kRadixLast);
      if (digit + 1 == digits) {
        // Lines of equal elements are moved once.
        runs = n.either(runs, k.equal(all, none));
      } else {
        Value later = arith::ShRUIOp::create(c, loc, all, k((digit + 1) * kDigitBits));
        last = n.select(differs(later), n(0), last);
      }
      Value pass = n.select(runs, n.add(n.add(half, first), last), n(-1));
      set(c, passes, n(digit), stored(c, pass));
      half = n.select(runs, n.sub(n(kRadixHalf), half), half);
      first = n.select(runs, n(0), first);
    }
  });
  finish();
}

RadixFunction::Chunk RadixFunction::chunkOf(Value length, Value digit, Value each, Value chunks) {
  Chunk chunk;
  chunk.line = m.div(group, chunks);
  chunk.number = m.sub(group, m.mul(chunk.line, chunks));
  chunk.pass = loaded(b, memory[0], digit);
  chunk.firstTile = m.mul(chunk.number, each);
  Value rest = m.max(m.sub(m.ceilDiv(length, kSortTile), chunk.firstTile), 0);
  chunk.tiles = m.select(m.less(chunk.pass, m(0)), m(0), m.min(rest, each));
  return chunk;
}

Value RadixFunction::countsAt(OpBuilder &at, const Chunk &chunk, Value digit, Value chunks) const {
  IndexMath n{at, loc};
  Value row = n.add(n.mul(chunk.line, kDigits), wide(at, digit));
  return n.add(n.mul(row, chunks), chunk.number);
}

void RadixFunction::count() {
  Value lines = sizes[0], length = sizes[1], digit = sizes[2], chunks = sizes[4];
  Chunk chunk = chunkOf(length, digit, sizes[3], chunks);
  Value counters = local(b.getI32Type(), kDigits), shift = shiftOf(b, digit, 0);
  Value half = m.both(chunk.pass, m(kRadixHalf));
  Value base = m.mul(m.add(chunk.line, m.mul(half, lines)), length);
  set(b, counters, wide(b, member), near(b)(0));
  barrier(b);
  repeat(chunk.tiles, [&](OpBuilder &c, Value tile) {
    IndexMath n{c, loc};
    Value start = n.mul(n.add(chunk.firstTile, tile), kSortTile);
    Value size = narrow(c, n.min(n.sub(length, start), kSortTile)), first = n.add(base, start);
    moved(c, [&](Value e) {
      when(c, near(c).less(e, size), [&](OpBuilder &d) {
        Value key = get(d, memory[1], IndexMath{d, loc}.add(first, wide(d, e)));
        memref::AtomicRMWOp::create(d, loc, arith::AtomicRMWKind::addi, near(d)(1), counters,
                                    wide(d, bitsOf(d, key, shift, kDigitBits)));
      });
    });
  });
  barrier(b);
  when(b, m.atLeast(chunk.pass, m(0)), [&](OpBuilder &c) {
    Value counted =
        arith::ExtUIOp::create(c, loc, c.getI64Type(), get(c, counters, wide(c, member)));
    set(c, memory[2], countsAt(c, chunk, member, chunks), counted);
  });
  finish();
}

void RadixFunction::offsets() {
  Value counts = memory[1], totals = memory[2], digit = sizes[0], chunks = sizes[1];
  Type number = b.getI64Type();
  Value first = local(number, kSortGroup), second = local(number, kSortGroup);
  Value runs = m.atLeast(loaded(b, memory[0], digit), m(0));
  Value pieces = m.select(runs, m.ceilDiv(chunks, kSortGroup), m(0));
  Value zero = IndexMath{b, loc, number}(0);
  auto loop = scf::ForOp::create(b, loc, m(0), pieces, m(1), ValueRange{zero});
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath n{c, loc};
  Value chunk = n.add(n.mul(loop.getInductionVar(), kSortGroup), wide(c, member));
  Value inside = n.less(chunk, chunks), at = n.add(n.mul(group, chunks), chunk);
  Value read = n.select(inside, get(c, counts, n.select(inside, at, n(0))), zero);
  Value sum = loop.getRegionIterArgs()[0];
  auto [earlier, all] = before(c, read, first, second);
  Value offset = n.add(sum, earlier);
  when(c, inside, [&](OpBuilder &d) { set(d, counts, at, offset); });
  scf::YieldOp::create(c, loc, n.add(sum, all));
  when(b, m.both(runs, near(b).equal(member, near(b)(0))),
       [&](OpBuilder &d) { set(d, totals, group, loop.getResult(0)); });
  finish();
}

/// A tile while its elements go to their places.
struct RadixFunction::Tile {
  // Local memory: keys, where in the tile they were (null: nobody asks), counters, sums of
  // counters, where the next element of each digit goes, where each digit begins in the tile.
  Value kept, sources, counters, sums, others, targets, starts;
  Value digit, pass, size; ///< elements
  Value line, half;        ///< where the line begins, and the half that is read
  Value start;             ///< in its line
};

void RadixFunction::loadTile(OpBuilder &at, const Tile &tile) {
  IndexMath n{at, loc};
  Value from = memory[3], first = n.add(n.add(tile.line, tile.half), tile.start);
  moved(at, [&](Value e) {
    Value inside = near(at).less(e, tile.size);
    Value key = get(at, from, n.add(first, n.select(inside, wide(at, e), n(0))));
    setLocal(at, tile.kept, e, keys.select(at, inside, key, keys.last(at)));
    if (tile.sources)
      setLocal(at, tile.sources, e, e);
  });
  barrier(at);
}

/// What a work-item's elements add to the counters of a tile, and how many of their bits go before
/// each of them among its own.
void RadixFunction::countBits(OpBuilder &at, const Tile &tile, Value shift,
                              SmallVectorImpl<Moved> &elements) {
  IndexMath n = near(at), i{at, loc};
  Value own = slot(at, n.mul(member, kSortEach));
  Value column = n.add(member, n.div(member, kSortEach));
  for (int64_t word = 0; word < kWords; ++word)
    set(at, tile.counters, wide(at, n.add(column, word * kWordStride)), n(0));
  for (int64_t each = 0; each < kSortEach; ++each) {
    Moved element;
    Value place = i.add(own, each); // slots of kSortEach elements follow each other
    element.key = get(at, tile.kept, place);
    element.source = tile.sources ? get(at, tile.sources, place) : Value();
    Value bits = bitsOf(at, element.key, shift, kHalfBits);
    Value word = n.mul(n.both(bits, n(kWords - 1)), kWordStride);
    element.counter = wide(at, n.add(word, column));
    element.half = n.select(n.less(bits, n(kWords)), n(0), n(kCounterBits));
    Value counted = get(at, tile.counters, element.counter);
    element.rank = halfOf(at, counted, element.half);
    Value one = arith::ShLIOp::create(at, loc, n(1), element.half);
    set(at, tile.counters, element.counter, n.add(counted, one));
    elements.push_back(element);
  }
  barrier(at);
}

/// Orders a tile by kHalfBits bits, and leaves it so for all to see.
void RadixFunction::orderTile(OpBuilder &at, const Tile &tile, Value shift) {
  IndexMath n = near(at);
  SmallVector<Moved> elements;
  countBits(at, tile, shift, elements);
  // In the order of words, then work-items, low halves before all high ones.
  constexpr int64_t kOfWord = kSortGroup / kSortEach;
  Value word = n.div(member, kOfWord), inWord = n.both(member, n(kOfWord - 1));
  Value first = n.add(n.mul(word, kWordStride), n.mul(inWord, kSortEach + 1));
  auto counter = [&](int64_t i) { return wide(at, n.add(first, i)); };
  SmallVector<Value> words;
  Value sum = n(0);
  for (int64_t i = 0; i < kWords; ++i) {
    words.push_back(get(at, tile.counters, counter(i)));
    sum = n.add(sum, words[i]);
  }
  auto [earlier, all] = before(at, sum, tile.sums, tile.others);
  Value next = n.add(earlier, arith::ShLIOp::create(at, loc, all, n(kCounterBits)));
  for (int64_t i = 0; i < kWords; ++i) {
    set(at, tile.counters, counter(i), next);
    next = n.add(next, words[i]);
  }
  barrier(at);
  for (const Moved &element : elements) {
    Value counted = get(at, tile.counters, element.counter);
    Value to = slot(at, n.add(element.rank, halfOf(at, counted, element.half)));
    set(at, tile.kept, to, element.key);
    if (tile.sources)
      set(at, tile.sources, to, element.source);
  }
  barrier(at);
}

void RadixFunction::writeTile(OpBuilder &at, const Tile &tile) {
  IndexMath n = near(at);
  Value shift = shiftOf(at, tile.digit, 0);
  SmallVector<Placed> elements;
  moved(at, [&](Value e) {
    Value isFirst = n.equal(e, n(0)), key = getLocal(at, tile.kept, e);
    Value earlier = getLocal(at, tile.kept, n.max(n.sub(e, n(1)), 0));
    Value digit = bitsOf(at, key, shift, kDigitBits);
    Value previous = bitsOf(at, earlier, shift, kDigitBits);
    Value other = n.compare(arith::CmpIPredicate::ne, digit, previous);
    Value begins = n.either(isFirst, other);
    when(at, begins, [&](OpBuilder &c) { set(c, tile.starts, wide(c, digit), e); });
    elements.push_back({e, key, digit, previous, other});
  });
  barrier(at);
  SmallVector<Value> places = keys.places ? placesOf(at, tile, elements) : SmallVector<Value>();
  for (auto [i, element] : llvm::enumerate(elements))
    when(at, n.less(element.place, tile.size), [&](OpBuilder &c) {
      Value digit = wide(c, element.digit);
      Value ahead = near(c).sub(element.place, get(c, tile.starts, digit));
      Value target = IndexMath{c, loc}.add(loaded(c, tile.targets, digit), wide(c, ahead));
      store(c, tile, target, element.key, keys.places ? places[i] : Value());
    });
  barrier(at);
  auto advance = [&](OpBuilder &c, Value digit, Value end) {
    Value index = wide(c, digit), count = near(c).sub(end, get(c, tile.starts, index));
    Value more = arith::ExtUIOp::create(c, loc, c.getI64Type(), count);
    set(c, tile.targets, index, near(c).add(get(c, tile.targets, index), more));
  };
  for (const Placed &element : elements)
    when(at, element.begins, [&](OpBuilder &c) { advance(c, element.previous, element.place); });
  const Placed &last = elements.back();
  when(at, n.equal(last.place, n(kSortTile - 1)),
       [&](OpBuilder &c) { advance(c, last.digit, near(c)(kSortTile)); });
}

/// Where in their lines the elements were at first: loads that are on their way together.
SmallVector<Value> RadixFunction::placesOf(OpBuilder &at, const Tile &tile,
                                           ArrayRef<Placed> elements) const {
  SmallVector<Type> types(elements.size(), at.getI64Type());
  auto moved = scf::IfOp::create(at, loc, types, isSet(at, tile.pass, kRadixFirst),
                                 /*withElseRegion=*/true);
  OpBuilder yes = moved.getThenBodyBuilder(), no = moved.getElseBodyBuilder();
  SmallVector<Value> first, kept;
  IndexMath n{no, loc};
  Value line = n.add(n.add(tile.line, tile.half), tile.start),
        last = near(no).sub(tile.size, near(no)(1));
  for (const Placed &element : elements) {
    Value inLine =
        IndexMath{yes, loc}.add(tile.start, wide(yes, getLocal(yes, tile.sources, element.place)));
    first.push_back(stored(yes, inLine));
    Value source = near(no).min(getLocal(no, tile.sources, element.place), last);
    kept.push_back(get(no, memory[4], n.add(line, wide(no, source))));
  }
  scf::YieldOp::create(yes, loc, first);
  scf::YieldOp::create(no, loc, kept);
  return SmallVector<Value>(moved.getResults());
}

/// An element where its line and what goes before it put it.
void RadixFunction::store(OpBuilder &at, const Tile &tile, Value target, Value key,
                          Value place) const {
  Value result = memory.back();
  auto choice =
      scf::IfOp::create(at, loc, isSet(at, tile.pass, kRadixLast), /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  Type type = cast<MemRefType>(result.getType()).getElementType();
  set(yes, result, IndexMath{yes, loc}.add(tile.line, target),
      keys.places ? place : keys.elementOf(yes, key, type));
  IndexMath n{no, loc};
  Value there = n.add(n.add(tile.line, target), n.sub(n.mul(sizes[0], sizes[1]), tile.half));
  set(no, memory[3], there, key);
  if (keys.places)
    set(no, memory[4], there, place);
}

void RadixFunction::scatter() {
  Value lines = sizes[0], length = sizes[1], chunks = sizes[4];
  Type number = b.getI64Type(), word = b.getI32Type();
  Tile tile;
  tile.digit = sizes[2];
  Chunk chunk = chunkOf(length, tile.digit, sizes[3], chunks);
  tile.pass = chunk.pass;
  tile.line = m.mul(chunk.line, length);
  tile.half = m.mul(m.both(chunk.pass, m(kRadixHalf)), m.mul(lines, length));
  tile.kept = local(keys.type);
  tile.sources = keys.places ? local(word) : Value();
  tile.counters = local(word, kWords * kWordStride);
  tile.sums = local(word, kSortGroup), tile.others = local(word, kSortGroup);
  tile.starts = local(word, kDigits), tile.targets = local(number, kDigits);
  Value active = m.less(m(0), chunk.tiles), at = countsAt(b, chunk, member, chunks);
  Value row = m.add(m.mul(chunk.line, kDigits), wide(b, member));
  Value total = get(b, memory[1], m.select(active, row, m(0)));
  Value inDigit = get(b, memory[2], m.select(active, at, m(0)));
  Value earlier = before(b, total, tile.targets, local(number, kSortGroup)).first;
  barrier(b); // all have read the sums
  set(b, tile.targets, wide(b, member), m.add(earlier, inDigit));
  Value low = shiftOf(b, tile.digit, 0), high = shiftOf(b, tile.digit, kHalfBits);
  repeat(chunk.tiles, [&](OpBuilder &c, Value turn) {
    IndexMath n{c, loc};
    barrier(c); // who writes the tile before has read it
    tile.start = n.mul(n.add(chunk.firstTile, turn), kSortTile);
    tile.size = narrow(c, n.min(n.sub(length, tile.start), kSortTile));
    loadTile(c, tile);
    orderTile(c, tile, low);
    orderTile(c, tile, high);
    writeTile(c, tile);
  });
  finish();
}

void pass::lowerRadixSort(kernel::SortOp op) {
  Builder b(op.getContext());
  Type key = sortKeys(op).type, number = b.getI64Type();
  auto function = [&](StringRef suffix, ArrayRef<Type> buffers, int64_t inputs, int64_t sizes) {
    return RadixFunction(op, op.getSymName() + suffix, sortKeys(op),
                         {SmallVector<Type>(buffers), inputs, sizes, kTilePs});
  };
  function(kRadixKeys, {op.getElement(), key, key}, 1, 1).makeKeys();
  function(kRadixPasses, {key, number}, 1, 1).choosePasses();
  function(kRadixCount, {number, key, number}, 2, 5).count();
  function(kRadixOffsets, {number, number, number}, 1, 2).offsets();
  SmallVector<Type> scattered = {number, number, number, key};
  if (op.getPlaces())
    scattered.push_back(number);
  scattered.push_back(op.getPlaces() ? number : op.getElement());
  function(kRadixScatter, scattered, 3, 5).scatter();
}
