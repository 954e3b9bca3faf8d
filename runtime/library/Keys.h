//===- Keys.h - Sorting unsigned keys ---------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_KEYS_H
#define GRAPHC_RUNTIME_LIBRARY_KEYS_H

#include "runtime/library/KeyLoops.h"

#include <cstddef>
#include <cstdint>

namespace graphc::rt::library {

/// Sort keys in place, smallest first, on the calling thread. highway's vectorised quicksort where
/// the CPU has AVX2 or AVX-512 and the build found its headers, else the standard library's sort.
/// Those of 16 bits few as wider ones, many by their low bytes, then by their high ones.
void sortKeys(uint16_t *keys, size_t count);
void sortKeys(uint32_t *keys, size_t count);
void sortKeys(uint64_t *keys, size_t count);

/// Loops over keys in the vectors that the CPU has.
template <typename Key>
const KeyLoops<Key> &keyLoops();
template <>
const KeyLoops<uint16_t> &keyLoops(); ///< but for rows, which are not sorted side by side
template <>
const KeyLoops<uint32_t> &keyLoops();
template <>
const KeyLoops<uint64_t> &keyLoops();

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_KEYS_H
