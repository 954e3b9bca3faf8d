//===- KeyLoops.h - Loops over keys, compiled for several instruction sets --------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_KEYLOOPS_H
#define GRAPHC_RUNTIME_LIBRARY_KEYLOOPS_H

#include "runtime/library/Order.h"

#include <algorithm>
#include <cstddef>

namespace graphc::rt::library {

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
};

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_KEYLOOPS_H
