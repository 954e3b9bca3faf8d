//===- Keys.h - Sorting unsigned keys ---------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_KEYS_H
#define GRAPHC_RUNTIME_LIBRARY_KEYS_H

#include "runtime/library/KeyLoops.h"

#include <cstddef>
#include <cstdint>

namespace graphc::rt::library {

/// A key of 64 bits and what breaks ties, as one number.
struct alignas(16) Key128 {
  uint64_t low, high;
  friend bool operator<(const Key128 &a, const Key128 &b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
};

/// Sort keys in place, smallest first, on the calling thread. highway's vectorised quicksort where
/// the CPU has AVX2 or AVX-512 and the build found its headers, else the standard library's sort.
void sortKeys(uint32_t *keys, size_t count);
void sortKeys(uint64_t *keys, size_t count);
void sortKeys(Key128 *keys, size_t count);

/// Loops over keys in the vectors that the CPU has.
template <typename Key>
const KeyLoops<Key> &keyLoops();
template <>
const KeyLoops<uint32_t> &keyLoops();
template <>
const KeyLoops<uint64_t> &keyLoops();

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_KEYS_H
