//===- KeyLoops.h - Loops over keys, compiled for several instruction sets --------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_KEYLOOPS_H
#define GRAPHC_RUNTIME_LIBRARY_KEYLOOPS_H

#include "runtime/library/Order.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace graphc::rt::library {

/// Rows of at most so many keys are ordered by comparing each with each.
inline constexpr size_t kMostRanked = 64;
/// Rows of at most so many keys are sorted side by side, by a network.
inline constexpr size_t kMostNetworked = 32;
/// Keys of such a row, or how many keys come before each; what is behind the row may be anything.
template <typename Key>
using FewKeys = std::array<Key, kMostRanked>;

/// The loops as they are written. Inlined always: what they are inlined into says which
/// instructions they may use.
struct PlainLoops {
  template <typename O, typename Key>
  [[gnu::always_inline]] static void fill(const Key *elements, size_t count, Key flip, Key *keys) {
    for (size_t i = 0; i < count; ++i)
      keys[i] = O::toKey(elements[i]) ^ flip;
  }
  template <typename O, typename Key>
  [[gnu::always_inline]] static void finish(const Key *keys, size_t count, Key flip,
                                            Key *elements) {
    // Both may be one array, which only a copy lets the compiler load in whole vectors.
    constexpr size_t kBlock = 64;
    Key some[kBlock];
    size_t i = 0;
    for (; i + kBlock <= count; i += kBlock) {
      for (size_t j = 0; j < kBlock; ++j)
        some[j] = O::fromKey(keys[i + j] ^ flip);
      std::copy_n(some, kBlock, elements + i);
    }
    for (; i < count; ++i)
      elements[i] = O::fromKey(keys[i] ^ flip);
  }
  template <typename Key>
  [[gnu::always_inline]] static size_t below(const Key *keys, size_t count, Key pivot) {
    Key some = 0; // as wide as a key, so that lanes need no widening
    for (size_t i = 0; i < count; ++i)
      some += keys[i] < pivot;
    return some;
  }
  template <typename Key>
  [[gnu::always_inline]] static void part(const Key *keys, size_t count, Key pivot, Key *low,
                                          Key *high) {
    for (size_t i = 0; i < count; ++i)
      *(keys[i] < pivot ? low++ : high++) = keys[i];
  }
  template <typename Key>
  [[gnu::always_inline]] static void sortRows(Key *keys, size_t rows, size_t length) {
    for (; rows > 0; --rows, keys += length)
      for (size_t next = 1; next < length; ++next) {
        Key key = keys[next];
        size_t to = next;
        for (; to > 0 && key < keys[to - 1]; --to)
          keys[to] = keys[to - 1];
        keys[to] = key;
      }
  }
  template <typename Key>
  [[gnu::always_inline]] static void ranks(const FewKeys<Key> &keys, size_t count,
                                           FewKeys<Key> &ranks) {
    if (count <= 8)
      ranksOf<8>(keys.data(), count, ranks.data());
    else if (count <= 16)
      ranksOf<16>(keys.data(), count, ranks.data());
    else if (count <= 32)
      ranksOf<32>(keys.data(), count, ranks.data());
    else
      ranksOf<kMostRanked>(keys.data(), count, ranks.data());
  }

private:
  /// A width that is known makes one block of vectors of the inner loop.
  template <size_t width, typename Key>
  [[gnu::always_inline]] static void ranksOf(const Key *keys, size_t count, Key *ranks) {
    Key before[width] = {};
    for (Key j = 0; j < count; ++j)
      for (Key i = 0; i < width; ++i)
        before[i] += (keys[j] < keys[i]) | ((keys[j] == keys[i]) & (j < i));
    std::copy_n(before, width, ranks);
  }
};

/// Batcher's odd-even merge sort: the pairs of places that are compared and exchanged.
template <size_t width>
struct Network {
  static constexpr auto each(auto &&exchange) {
    for (size_t p = 1; p < width; p *= 2)
      for (size_t k = p; k >= 1; k /= 2)
        for (size_t j = k % p; j + k < width; j += 2 * k)
          for (size_t i = j; i < std::min(j + k, width - k); ++i)
            if (i / (2 * p) == (i + k) / (2 * p))
              exchange(i, i + k);
  }
  static constexpr size_t kCount = [] {
    size_t count = 0;
    each([&](size_t, size_t) { ++count; });
    return count;
  }();
  struct Pair {
    size_t low, high;
  };
  static constexpr std::array<Pair, kCount> kPairs = [] {
    std::array<Pair, kCount> pairs{};
    size_t at = 0;
    each([&](size_t low, size_t high) { pairs[at++] = {low, high}; });
    return pairs;
  }();
};

/// Those of one instruction set.
template <typename Key>
struct KeyLoops {
  using Convert = void(const Key *from, size_t count, Key flip, Key *to);
  struct Kind {
    Convert *fill;   ///< elements to keys, each xored with `flip`
    Convert *finish; ///< back; both may be one array
  };
  Kind kinds[3]; ///< by KeyKind
  size_t (*below)(const Key *keys, size_t count, Key pivot);
  /// Copies the keys below `pivot` to `low` and the others to `high`, each in their order; nothing
  /// beyond them is written.
  void (*part)(const Key *keys, size_t count, Key pivot, Key *low, Key *high);
  /// Sorts each of the rows, one behind the other, of at most kMostNetworked keys.
  void (*sortRows)(Key *keys, size_t rows, size_t length);
  /// How many of the first `count` keys come before each of them, equal ones in their order.
  void (*ranks)(const FewKeys<Key> &keys, size_t count, FewKeys<Key> &ranks);
};

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_KEYLOOPS_H
