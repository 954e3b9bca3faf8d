//===- MaskLoops.h - Loops over masks, for several instruction sets ---------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_MASKLOOPS_H
#define GRAPHC_RUNTIME_LIBRARY_MASKLOOPS_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphc::rt::library {

/// Those of one instruction set. A mask is a byte an element, true where that is not 0.
struct MaskLoops {
  int64_t (*count)(const uint8_t *mask, int64_t size);
  /// Writes first + i for every true element i of `size`, in order; there are `count`.
  void (*places)(const uint8_t *mask, int64_t size, int64_t count, int64_t first, int64_t *out);
  /// Copies the elements where the mask is true. By the logarithm of an element's bytes (loopOf()).
  void (*compress[4])(const uint8_t *mask, int64_t size, int64_t count, const void *x, void *out);
  /// Sets them to the low bytes of `bits`. Blocks of 64 elements of which none is true are not
  /// touched, others may be written as they are.
  void (*fill[4])(const uint8_t *mask, int64_t size, uint64_t bits, void *x);
  /// Sets them to `values`, one after the other; there are `count`. Blocks as above.
  void (*expand[5])(const uint8_t *mask, int64_t size, int64_t count, const void *values, void *x);
  /// Sets them to the elements of `values` at the same places. Blocks as above.
  void (*choose[5])(const uint8_t *mask, int64_t size, const void *values, void *x);
};

/// Where loops of elements of so many bytes are: 1, 2, 4 or 8; of expand and choose also 16.
inline size_t loopOf(int64_t bytes) {
  return static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(bytes)));
}

/// Whether the CPU has what common loops in vectors of 512 bits need, and GRAPHC_CPU_FEATURES
/// allows it: avx512f, vl, bw and dq, bmi2 and popcnt.
bool hasAvx512();

/// The same of vectors of 256 bits: avx2 and popcnt.
bool hasAvx2();

/// The loops in the vectors that the CPU has and GRAPHC_CPU_FEATURES allows.
const MaskLoops &maskLoops();

/// All that the CPU has, of which maskLoops() is the last one; they do the same.
const std::vector<const MaskLoops *> &everyMaskLoops();

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_MASKLOOPS_H
