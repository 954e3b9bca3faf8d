//===- Sort.cpp - sort, argsort, lexsort ------------------------------------------------------===//
//
// Rows become unsigned keys (Order.h), which are sorted as numbers. To find the order of elements,
// a key carries its position below it, so that an unstable sort of keys is a stable one of
// elements. The keys of a short row are compared each with each, and short rows of values are
// sorted side by side. Two threads part a long row at a
// middle key and sort a part each. More threads, and two where one key fills most of the row, cut
// it into as many pieces; sorted pieces are merged in pairs, and the last merge writes the result.
// The sorted sequence is one and the same however it is cut.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/base/Strings.h"
#include "runtime/library/Keys.h"
#include "runtime/library/Order.h"
#include "runtime/library/Routines.h"
#include "runtime/library/Rows.h"

#include <array>
#include <bit>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <vector>

namespace graphc::rt::library {
namespace {

/// Shorter rows are not cut.
constexpr int64_t kParallelRow = int64_t{1} << 16;
/// Longer rows of elements of one and two bytes are not sorted by ranks.
constexpr int64_t kFewValues = 16;
/// Rows of one- and two-byte elements above these lengths are counted, not sorted.
constexpr int64_t kCountBytes = 64, kCountWords = int64_t{1} << 17;

//===------------------------------------------------------------------------------------------===//
// Keys
//===------------------------------------------------------------------------------------------===//

void sortSmall(uint8_t *keys, size_t count) { std::sort(keys, keys + count); }
template <typename Key>
void sortSmall(Key *keys, size_t count) {
  sortKeys(keys, count);
}

/// How many of the first `take` elements of the merge of a and b are from a.
template <typename Key>
int64_t split(const Key *a, int64_t countA, const Key *b, int64_t countB, int64_t take) {
  int64_t low = std::max<int64_t>(0, take - countB), high = std::min(take, countA);
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (b[take - 1 - mid] < a[mid])
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

/// One merge in progress.
template <typename Key>
struct Merge {
  const Key *a, *endA, *b, *endB;
  template <typename Out, typename Finish>
  void step(Out *&out, const Finish &finish) {
    bool second = *b < *a;
    *out++ = finish(second ? *b : *a);
    a += !second;
    b += second;
  }
  bool open() const { return a != endA && b != endB; }
  template <typename Out, typename Finish>
  void rest(Out *out, const Finish &finish) {
    while (open())
      step(out, finish);
    for (; a != endA; ++a)
      *out++ = finish(*a);
    for (; b != endB; ++b)
      *out++ = finish(*b);
  }
};

/// Elements [begin, end) of the merge of two sorted runs. Two halves at once: each is a chain of
/// dependent steps, and a core has room for more than one.
template <typename Key, typename Out, typename Finish>
void mergeRange(const Key *a, int64_t countA, const Key *b, int64_t countB, int64_t begin,
                int64_t end, Out *out, const Finish &finish) {
  int64_t mid = begin + (end - begin) / 2;
  int64_t at[3] = {begin, mid, end}, fromA[3];
  for (int i = 0; i < 3; ++i)
    fromA[i] = split(a, countA, b, countB, at[i]);
  auto part = [&](int i) {
    return Merge<Key>{a + fromA[i], a + fromA[i + 1], b + at[i] - fromA[i],
                      b + at[i + 1] - fromA[i + 1]};
  };
  Merge<Key> low = part(0), high = part(1);
  Out *lowOut = out + begin, *highOut = out + mid;
  while (low.open() && high.open()) {
    low.step(lowOut, finish);
    high.step(highOut, finish);
  }
  low.rest(lowOut, finish);
  high.rest(highOut, finish);
}

/// Elements and keys of one row; the same for many in vectors.
template <typename O, typename U>
struct RowKeys {
  static constexpr bool kVectors = sizeof(U) >= 4;
  const U *x;
  U flip;
  void fill(int64_t begin, int64_t end, U *keys) const {
    if constexpr (kVectors)
      keyLoops<U>().kinds[static_cast<int>(O::kKind)].fill(x + begin, size_t(end - begin), flip,
                                                           keys);
    else
      PlainLoops::fill<O>(x + begin, size_t(end - begin), flip, keys);
  }
  void finish(const U *keys, int64_t count, U *out) const {
    if constexpr (kVectors)
      keyLoops<U>().kinds[static_cast<int>(O::kKind)].finish(keys, size_t(count), flip, out);
    else
      PlainLoops::finish<O>(keys, size_t(count), flip, out);
  }
  U operator()(U key) const { return O::fromKey(key ^ flip); }
};

template <typename Key, typename Out, typename Finish>
void finishAll(const Key *keys, int64_t count, Out *out, const Finish &finish) {
  if constexpr (requires { finish.finish(keys, count, out); })
    finish.finish(keys, count, out);
  else
    for (int64_t i = 0; i < count; ++i)
      out[i] = finish(keys[i]);
}

/// The middle one of keys all over the row.
template <typename Key, typename Fill>
Key middleKey(int64_t count, const Fill &fill) {
  constexpr int64_t kSample = 512;
  std::array<Key, kSample> sample;
  for (int64_t i = 0; i < kSample; ++i) {
    int64_t at = count / kSample * i;
    fill(at, at + 1, &sample[static_cast<size_t>(i)]);
  }
  auto middle = sample.begin() + kSample / 2;
  std::nth_element(sample.begin(), middle, sample.end());
  return *middle;
}

/// sortRow for two threads: what is below a middle key and the rest are sorted apart, so that
/// nothing is merged. False, with nothing done but to the buffers, when equal keys make one part
/// much larger.
template <typename Key, typename Out, typename Fill, typename Finish>
bool sortParts(int64_t count, Key *keys, Key *spare, Out *out, const Fill &fill,
               const Finish &finish) {
  constexpr int64_t kBlock = 4096;
  Key pivot = middleKey<Key>(count, fill);
  int64_t edge[3] = {0, count / 2, count}, below[2] = {0, 0};
  parallelFor(2, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p)
      for (int64_t from = edge[p]; from < edge[p + 1]; from += kBlock) {
        int64_t to = std::min(from + kBlock, edge[p + 1]);
        fill(from, to, spare + from);
        below[p] += static_cast<int64_t>(
            keyLoops<Key>().below(spare + from, static_cast<size_t>(to - from), pivot));
      }
  });
  int64_t low = below[0] + below[1], larger = std::max(low, count - low);
  if (larger > count / 8 * 5)
    return false;
  parallelFor(2, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p)
      keyLoops<Key>().part(spare + edge[p], static_cast<size_t>(edge[p + 1] - edge[p]), pivot,
                           keys + (p ? below[0] : 0), keys + low + (p ? edge[1] - below[0] : 0));
  });
  parallelFor(2, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      int64_t from = p ? low : 0, to = p ? count : low;
      sortSmall(keys + from, static_cast<size_t>(to - from));
      finishAll(keys + from, to - from, out + from, finish);
    }
  });
  return true;
}

/// Sorts `count` keys that `fill(begin, end, keys)` writes and gives each to `finish`, whose values
/// go to `out`. `keys` and `spare` have room for all keys; either may be `out` itself when a key is
/// as wide as a result, and neither otherwise.
template <typename Key, typename Out, typename Fill, typename Finish>
void sortRow(int64_t count, Key *keys, Key *spare, Out *out, const Fill &fill, const Finish &finish,
             bool several) {
  int threads = cpu::ThreadPool::instance().threads();
  int64_t pieces = several && count >= kParallelRow
                       ? static_cast<int64_t>(std::bit_floor(static_cast<unsigned>(threads)))
                       : 1;
  if (pieces == 1) {
    fill(0, count, keys);
    sortSmall(keys, static_cast<size_t>(count));
    finishAll(keys, count, out, finish);
    return;
  }
  if constexpr (std::is_same_v<Key, uint32_t> || std::is_same_v<Key, uint64_t>)
    if (pieces == 2 && sortParts(count, keys, spare, out, fill, finish))
      return;
  // The last merge reads keys and writes `out`: the buffer that is not `out` has to hold them.
  int levels = std::countr_zero(static_cast<unsigned>(pieces));
  if (static_cast<void *>(levels % 2 ? keys : spare) == static_cast<void *>(out))
    std::swap(keys, spare);
  auto edge = [&](int64_t piece) {
    return count / pieces * piece + std::min(piece, count % pieces);
  };
  parallelFor(pieces, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      fill(edge(p), edge(p + 1), keys + edge(p));
      sortSmall(keys + edge(p), static_cast<size_t>(edge(p + 1) - edge(p)));
    }
  });
  auto same = [](Key key) { return key; };
  for (int64_t width = 1; width < pieces; width *= 2) {
    bool last = 2 * width == pieces;
    // Work is cut by the positions of the results, not by pairs: all threads have the same.
    int64_t chunk = (count + 2 * threads - 1) / (2 * threads);
    parallelFor(count, chunk, [&](int64_t begin, int64_t end) {
      for (int64_t pair = 0; pair < pieces; pair += 2 * width) {
        int64_t from = edge(pair), middle = edge(pair + width), to = edge(pair + 2 * width);
        int64_t b = std::clamp(begin, from, to) - from, e = std::clamp(end, from, to) - from;
        if (b == e)
          continue;
        if (last)
          mergeRange(keys + from, middle - from, keys + middle, to - middle, b, e, out + from,
                     finish);
        else
          mergeRange(keys + from, middle - from, keys + middle, to - middle, b, e, spare + from,
                     same);
      }
    });
    std::swap(keys, spare);
  }
}

//===------------------------------------------------------------------------------------------===//
// Values
//===------------------------------------------------------------------------------------------===//

/// Zeros of both signs are equal: they keep the order that they came in.
template <typename O, typename U>
void restoreZeros(const U *x, U *out, int64_t count, bool descending) {
  auto key = [&](U bits) { return descending ? U(~O::toKey(bits)) : O::toKey(bits); };
  U lowest = std::min(key(0), key(O::kSign));
  U *first = std::lower_bound(out, out + count, lowest,
                              [&](U bits, U wanted) { return key(bits) < wanted; });
  if (first == out + count || (*first & U(~O::kSign)) != 0)
    return;
  U *end = first;
  while (end != out + count && (*end & U(~O::kSign)) == 0)
    ++end;
  if (*first == end[-1])
    return; // of one sign
  for (const U *from = x; first != end; ++from)
    if ((*from & U(~O::kSign)) == 0)
      *first++ = *from;
}

/// Elements of at most 16 bits: how often each occurs is all there is to know.
template <typename O, typename U>
void countRow(const U *x, U *out, int64_t count, bool descending) {
  constexpr size_t kKeys = size_t{1} << std::numeric_limits<U>::digits;
  std::vector<int64_t> counts(kKeys);
  for (int64_t i = 0; i < count; ++i)
    ++counts[O::toKey(x[i])];
  for (size_t k = 0; k < kKeys; ++k) {
    size_t key = descending ? kKeys - 1 - k : k;
    out = std::fill_n(out, counts[key], O::fromKey(static_cast<U>(key)));
  }
}

/// Many short rows, as many at a time as stay in the first cache.
template <typename O, typename U>
void sortShortRows(const U *x, U *out, int64_t rows, int64_t length, bool descending) {
  constexpr int64_t kTogether = 1024, kChunk = 32768;
  const KeyLoops<U> &loops = keyLoops<U>();
  const auto &kind = loops.kinds[static_cast<int>(O::kKind)];
  U flip = descending ? O::kLast : U{0};
  int64_t together = std::max<int64_t>(1, kTogether / length);
  auto isZero = [](U bits) { return (bits & U(~O::kSign)) == 0; };
  parallelFor(rows, std::max<int64_t>(1, kChunk / length), [&](int64_t begin, int64_t end) {
    for (int64_t from = begin; from < end; from += together) {
      int64_t here = std::min(together, end - from), count = here * length;
      const U *in = x + from * length;
      U *to = out + from * length;
      kind.fill(in, static_cast<size_t>(count), flip, to);
      loops.sortRows(to, static_cast<size_t>(here), static_cast<size_t>(length));
      kind.finish(to, static_cast<size_t>(count), flip, to);
      if constexpr (O::isFloat)
        if (std::any_of(in, in + count, isZero))
          for (int64_t r = 0; r < here; ++r)
            restoreZeros<O>(in + r * length, to + r * length, length, descending);
    }
  });
}

/// A short row: each element goes to the place of its rank.
template <typename O, typename U>
void sortFew(const U *x, U *out, int64_t count, U flip) {
  using Key = uint32_t;
  FewKeys<Key> keys, ranks;
  FewKeys<U> elements;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    keys[i] = U(O::toEqualKey(x[i]) ^ flip);
    elements[i] = O::fromKey(O::toKey(x[i]));
  }
  keyLoops<Key>().ranks(keys, static_cast<size_t>(count), ranks);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    out[ranks[i]] = elements[i];
}

template <typename O, typename U>
void sortValues(const U *x, U *out, U *spare, int64_t count, bool descending, bool several) {
  U flip = descending ? O::kLast : U{0};
  if constexpr (sizeof(U) <= 2)
    if (count <= kFewValues)
      return sortFew<O>(x, out, count, flip);
  bool counted = sizeof(U) <= 2 && count > (sizeof(U) == 1 ? kCountBytes : kCountWords);
  if (counted) {
    if constexpr (sizeof(U) <= 2)
      countRow<O>(x, out, count, descending);
  } else {
    RowKeys<O, U> row{x, flip};
    auto fill = [&](int64_t begin, int64_t end, U *keys) { row.fill(begin, end, keys); };
    sortRow(count, out, spare, out, fill, row, several);
  }
  if constexpr (O::isFloat)
    restoreZeros<O>(x, out, count, descending);
}

//===------------------------------------------------------------------------------------------===//
// Orders
//===------------------------------------------------------------------------------------------===//

/// The stable order of a short row.
template <typename Key, typename At>
void rankRow(int64_t count, const At &at, int64_t *out) {
  FewKeys<Key> keys, ranks;
  for (int64_t i = 0; i < count; ++i)
    keys[static_cast<size_t>(i)] = static_cast<Key>(at(i));
  keyLoops<Key>().ranks(keys, static_cast<size_t>(count), ranks);
  for (int64_t i = 0; i < count; ++i)
    out[ranks[static_cast<size_t>(i)]] = i;
}

/// How keys of 64 bits and their positions are one number each: the highest bits of what a key is
/// above the least one, and the position below. Where bits are dropped, keys that differ in these
/// alone come in the order of their positions.
struct Packing {
  uint64_t least = 0;
  int drop = 0, positionBits = 0;

  template <typename At>
  static Packing of(int64_t count, const At &at, bool several) {
    constexpr int64_t kBlock = int64_t{1} << 15;
    std::vector<std::pair<uint64_t, uint64_t>> ends(static_cast<size_t>(count / kBlock + 1),
                                                    {~uint64_t{0}, 0});
    auto look = [&](int64_t begin, int64_t end) {
      for (int64_t from = begin / kBlock; from * kBlock < end; ++from) {
        uint64_t low = ~uint64_t{0}, high = 0; // in registers: keys may be where `ends` is
        for (int64_t i = from * kBlock, last = std::min(count, i + kBlock); i < last; ++i) {
          const uint64_t key = at(i);
          low = std::min(low, key);
          high = std::max(high, key);
        }
        ends[static_cast<size_t>(from)] = {low, high};
      }
    };
    if (several)
      parallelFor(count, kBlock, look);
    else
      look(0, count);
    auto [low, high] = ends[0];
    for (auto [l, h] : ends)
      low = std::min(low, l), high = std::max(high, h);
    int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1)));
    int range = static_cast<int>(std::bit_width(high - low));
    return {low, std::max(0, range + bits - 64), bits};
  }
  uint64_t operator()(uint64_t key, int64_t position) const {
    return (key - least) >> drop << positionBits | static_cast<uint64_t>(position);
  }
  int64_t position(uint64_t packed) const {
    return static_cast<int64_t>(packed & ((uint64_t{1} << positionBits) - 1));
  }
  bool areClose(uint64_t a, uint64_t b) const { return a >> positionBits == b >> positionBits; }
};

struct Listed {
  const uint64_t *keys;
  uint64_t operator()(int64_t i) const { return keys[i]; }
};

template <typename At>
Status orderRow(int64_t count, const At &at, size_t width, int64_t *out, bool several);

/// Puts positions in the order of their keys, whose width in bytes is `width`; equal ones stay as
/// they are.
template <typename At>
Status orderPlaces(int64_t *places, int64_t count, const At &at, size_t width, bool several) {
  auto before = [&](int64_t a, int64_t b) { return at(a) < at(b); };
  if (std::is_sorted(places, places + count, before))
    return Status::ok();
  if (count <= static_cast<int64_t>(kMostRanked)) {
    for (int64_t *next = places + 1; next != places + count; ++next)
      std::rotate(std::upper_bound(places, next, *next, before), next, next + 1);
    return Status::ok();
  }
  GRAPHC_ASSIGN(BufferRef held, scratch(count * 24));
  uint64_t *keys = as<uint64_t>(held);
  int64_t *order = reinterpret_cast<int64_t *>(keys + count), *were = order + count;
  std::copy_n(places, count, were);
  for (int64_t i = 0; i < count; ++i)
    keys[i] = at(places[i]);
  GRAPHC_TRY(orderRow(count, Listed{keys}, width, order, several));
  for (int64_t i = 0; i < count; ++i)
    places[i] = were[order[i]];
  return Status::ok();
}

/// The stable order of 64-bit keys.
template <typename At>
Status orderWide(int64_t count, const At &at, int64_t *out, bool several) {
  bool cut = several && count >= kParallelRow;
  GRAPHC_ASSIGN(BufferRef spare, scratch(cut ? count * 8 : 0));
  Packing packing = Packing::of(count, at, cut);
  auto *keys = reinterpret_cast<uint64_t *>(out);
  auto fill = [&](int64_t begin, int64_t end, uint64_t *to) {
    for (int64_t i = begin; i < end; ++i)
      to[i - begin] = packing(at(i), i);
  };
  if (packing.drop == 0) {
    sortRow(
        count, keys, as<uint64_t>(spare), keys, fill,
        [&](uint64_t key) { return static_cast<uint64_t>(packing.position(key)); }, cut);
    return Status::ok();
  }
  sortRow(count, keys, as<uint64_t>(spare), keys, fill, [](uint64_t key) { return key; }, cut);
  for (int64_t from = 0, to = 0; from < count; from = to) {
    uint64_t first = keys[from];
    for (; to < count && packing.areClose(first, keys[to]); ++to)
      out[to] = packing.position(keys[to]);
    // What these are apart takes few bits, so that none is dropped again.
    if (to - from > 1)
      GRAPHC_TRY(orderPlaces(out + from, to - from, at, sizeof(uint64_t), false));
  }
  return Status::ok();
}

/// The stable order of keys by one of their bytes; `from(i)` is the i-th of the order so far.
template <typename At, typename From>
void orderByByte(int64_t count, const At &at, const From &from, int shift, int64_t *out) {
  auto byteOf = [&](int64_t position) {
    return static_cast<size_t>(static_cast<uint64_t>(at(position)) >> shift & 0xff);
  };
  std::array<int64_t, 256> next{};
  for (int64_t i = 0; i < count; ++i)
    ++next[byteOf(i)];
  std::exclusive_scan(next.begin(), next.end(), next.begin(), int64_t{0});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = from(i);
    out[next[byteOf(position)]++] = position;
  }
}

/// The stable order of keys of at most 16 bits, which are counted.
template <typename At>
Status orderNarrow(int64_t count, const At &at, size_t width, int64_t *out) {
  auto asGiven = [](int64_t i) { return i; };
  if (width == 1) {
    orderByByte(count, at, asGiven, 0, out);
    return Status::ok();
  }
  GRAPHC_ASSIGN(BufferRef held, scratch(count * 8));
  auto *byLow = as<int64_t>(held);
  orderByByte(count, at, asGiven, 0, byLow);
  orderByByte(count, at, [&](int64_t i) { return byLow[i]; }, 8, out);
  return Status::ok();
}

/// Writes the stable order of `at(0), ..., at(count - 1)`, keys whose width in bytes is `width`.
template <typename At>
Status orderRow(int64_t count, const At &at, size_t width, int64_t *out, bool several) {
  constexpr int64_t kWorthRanking = kMostRanked / 2; // of more, sorting takes less
  if (count <= kWorthRanking) {
    if (width <= 4)
      rankRow<uint32_t>(count, at, out);
    else
      rankRow<uint64_t>(count, at, out);
    return Status::ok();
  }
  if (width <= 2 && count > kCountBytes)
    return orderNarrow(count, at, width, out);
  if (width > 4 || count > std::numeric_limits<uint32_t>::max())
    return orderWide(count, at, out, several);
  // A key is as wide as a result: a row that is not cut is sorted in its place.
  bool cut = several && count >= kParallelRow;
  GRAPHC_ASSIGN(BufferRef spare, scratch(cut ? count * 8 : 0));
  auto *keys = reinterpret_cast<uint64_t *>(out);
  auto fill = [&](int64_t begin, int64_t end, uint64_t *to) {
    for (int64_t i = begin; i < end; ++i)
      to[i - begin] = static_cast<uint64_t>(at(i)) << 32 | static_cast<uint64_t>(i);
  };
  sortRow(
      count, keys, as<uint64_t>(spare), keys, fill, [](uint64_t key) { return key & 0xffffffffu; },
      cut);
  return Status::ok();
}

/// Shorter rows of complex elements are ordered by inserting one after the other.
constexpr int64_t kFewComplex = 16;

template <typename U>
void orderFewComplex(const U *x, int64_t count, U flip, int64_t *out) {
  std::array<ComplexKey<U>, kFewComplex> keys;
  for (int64_t i = 0; i < count; ++i) {
    ComplexKey<U> key = ComplexKey<U>::of(x + 2 * i);
    key = {U(key.high ^ flip), U(key.low ^ flip)};
    auto to = static_cast<size_t>(i);
    for (; to > 0 && key < keys[to - 1]; --to) {
      keys[to] = keys[to - 1];
      out[to] = out[to - 1];
    }
    keys[to] = key;
    out[to] = i;
  }
}

/// The order of complex elements: by what decides first, then each run of equals by what decides
/// last.
template <typename U>
Status orderComplexRow(const U *x, int64_t count, bool descending, int64_t *out, bool several) {
  U flip = descending ? std::numeric_limits<U>::max() : U{0};
  if (count <= kFewComplex) {
    orderFewComplex(x, count, flip, out);
    return Status::ok();
  }
  GRAPHC_ASSIGN(BufferRef held, scratch(count * static_cast<int64_t>(sizeof(U))));
  U *highs = as<U>(held); // each is asked for several times
  parallelFor(count, several ? kParallelRow : count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      highs[i] = ComplexKey<U>::of(x + 2 * i).high ^ flip;
  });
  auto high = [&](int64_t i) { return highs[i]; };
  auto low = [&](int64_t i) { return U(ComplexKey<U>::of(x + 2 * i).low ^ flip); };
  GRAPHC_TRY(orderRow(count, high, sizeof(U), out, several));
  for (int64_t from = 0, to = 0; from < count; from = to) {
    const U first = high(out[from]);
    bool isOrdered = true; // as of numbers that are real
    for (++to; to < count && high(out[to]) == first; ++to)
      isOrdered &= low(out[to - 1]) <= low(out[to]);
    if (!isOrdered)
      GRAPHC_TRY(orderPlaces(out + from, to - from, low, sizeof(U), false));
  }
  return Status::ok();
}

/// An order of positions, and which neighbours in it no key has told apart.
class Ties {
public:
  Ties(int64_t *order, int64_t count) : order(order) {
    std::iota(order, order + count, int64_t{0});
    runs.push_back({0, count});
  }

  /// By what comes after the keys so far.
  template <typename At>
  Status orderBy(const At &at, size_t width) {
    std::vector<Run> left;
    for (const Run run : runs) {
      const int64_t count = run.end - run.begin;
      GRAPHC_TRY(orderPlaces(order + run.begin, count, at, width, count >= kParallelRow));
      for (int64_t from = run.begin, to = from; from < run.end; from = to) {
        const auto first = at(order[from]);
        for (++to; to < run.end && at(order[to]) == first;)
          ++to;
        if (to - from > 1)
          left.push_back({from, to});
      }
    }
    runs.swap(left);
    return Status::ok();
  }

  bool areNone() const { return runs.empty(); }

private:
  struct Run {
    int64_t begin, end;
  };
  int64_t *order;
  std::vector<Run> runs;
};

/// Neighbouring keys that are one key of at most 64 bits together.
class PackedKeys {
public:
  PackedKeys(uint64_t *keys, int64_t count) : keys(keys), count(count) {}

  template <typename At>
  Status add(Ties &ties, const At &at, size_t width) {
    if (bytes + width > sizeof(uint64_t))
      GRAPHC_TRY(flush(ties));
    if (ties.areNone())
      return Status::ok();
    const bool isFirst = bytes == 0;
    parallelFor(count, kParallelRow, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        keys[i] = (isFirst ? 0 : keys[i] << (8 * width)) | static_cast<uint64_t>(at(i));
    });
    bytes += width;
    return Status::ok();
  }
  Status flush(Ties &ties) {
    const size_t width = std::bit_ceil(bytes);
    bytes = 0;
    return width == 0 || ties.areNone() ? Status::ok() : ties.orderBy(Listed{keys}, width);
  }

private:
  uint64_t *keys;
  int64_t count;
  size_t bytes = 0;
};

Status sortComplex(const Call &call, int64_t rows, int64_t length, bool descending) {
  return withPart(call.result.dtype, [&](auto word) {
    using U = decltype(word);
    const auto *x = static_cast<const U *>(call.operands[0].data);
    auto *out = static_cast<U *>(call.result.data);
    return eachRow(rows, length, [&](int64_t r, bool several) -> Status {
      std::array<int64_t, kFewComplex> few;
      int64_t *order = few.data();
      BufferRef held;
      if (length > kFewComplex) {
        GRAPHC_ASSIGN(held, scratch(length * 8));
        order = as<int64_t>(held);
      }
      const U *from = x + 2 * r * length;
      GRAPHC_TRY(orderComplexRow(from, length, descending, order, several));
      for (U *to = out + 2 * r * length; to != out + 2 * (r + 1) * length; to += 2, ++order)
        std::copy_n(from + 2 * *order, 2, to);
      return Status::ok();
    });
  });
}

} // namespace

Status sort(const Call &call) {
  int64_t rows = call.result.shape[0], length = call.result.shape[1];
  bool descending = call.params[0] != 0;
  if (rows == 0 || length == 0)
    return Status::ok();
  if (isComplex(call.result.dtype))
    return sortComplex(call, rows, length, descending);
  return withOrder(call.result.dtype, [&](auto order, auto word) -> Status {
    using O = decltype(order);
    using U = decltype(word);
    const auto *x = static_cast<const U *>(call.operands[0].data);
    auto *out = static_cast<U *>(call.result.data);
    if constexpr (sizeof(U) >= 4)
      if (length <= static_cast<int64_t>(kMostNetworked)) {
        sortShortRows<O>(x, out, rows, length, descending);
        return Status::ok();
      }
    return eachRow(rows, length, [&](int64_t r, bool several) -> Status {
      BufferRef spare;
      if (several && sizeof(U) > 2 && length >= kParallelRow) {
        GRAPHC_ASSIGN(spare, scratch(length * static_cast<int64_t>(sizeof(U))));
      }
      sortValues<O>(x + r * length, out + r * length, spare ? as<U>(spare) : nullptr, length,
                    descending, several && spare);
      return Status::ok();
    });
  });
}

Status argsort(const Call &call) {
  int64_t rows = call.result.shape[0], length = call.result.shape[1];
  bool descending = call.params[0] != 0;
  if (rows == 0 || length == 0)
    return Status::ok();
  auto *out = static_cast<int64_t *>(call.result.data);
  DType dtype = call.operands[0].dtype;
  if (isComplex(dtype))
    return withPart(dtype, [&](auto word) {
      const auto *x = static_cast<const decltype(word) *>(call.operands[0].data);
      return eachRow(rows, length, [&](int64_t r, bool several) {
        return orderComplexRow(x + 2 * r * length, length, descending, out + r * length, several);
      });
    });
  return withOrder(dtype, [&](auto order, auto word) -> Status {
    using O = decltype(order);
    using U = decltype(word);
    U flip = descending ? O::kLast : U{0};
    const auto *x = static_cast<const U *>(call.operands[0].data);
    return eachRow(rows, length, [&](int64_t r, bool several) {
      const U *from = x + r * length;
      return orderRow(
          length, [&](int64_t i) { return U(O::toEqualKey(from[i]) ^ flip); }, sizeof(U),
          out + r * length, several);
    });
  });
}

Status orderComplex(const void *elements, DType dtype, int64_t count, bool several, int64_t *out) {
  return withPart(dtype, [&](auto word) {
    return orderComplexRow(static_cast<const decltype(word) *>(elements), count, false, out,
                           several);
  });
}

Status lexsort(const Call &call) {
  int64_t rows = call.result.shape[0], length = call.result.shape[1];
  if (rows == 0 || length == 0)
    return Status::ok();
  GRAPHC_ASSIGN(BufferRef held, scratch(length * 8));
  for (int64_t r = 0; r < rows; ++r) {
    Ties ties(static_cast<int64_t *>(call.result.data) + r * length, length);
    PackedKeys packed(as<uint64_t>(held), length);
    // From the most important key on, as long as there are ties.
    for (const Operand &key : call.operands | std::views::reverse) {
      GRAPHC_TRY(withOrder(key.dtype, [&](auto kind, auto word) -> Status {
        using O = decltype(kind);
        using U = decltype(word);
        const U *x = static_cast<const U *>(key.data);
        if constexpr (O::isFloat && sizeof(U) >= 4)
          if (isComplex(key.dtype)) {
            x += 2 * r * length;
            GRAPHC_TRY(packed.add(
                ties, [&](int64_t i) { return ComplexKey<U>::of(x + 2 * i).high; }, sizeof(U)));
            return packed.add(
                ties, [&](int64_t i) { return ComplexKey<U>::of(x + 2 * i).low; }, sizeof(U));
          }
        x += r * length;
        return packed.add(ties, [&](int64_t i) { return O::toEqualKey(x[i]); }, sizeof(U));
      }));
      if (ties.areNone())
        break;
    }
    GRAPHC_TRY(packed.flush(ties));
  }
  return Status::ok();
}

} // namespace graphc::rt::library
