//===- TestKernels.h - Kernels whose machine code tests put into programs ---------------------===//
//
// The functions lie in a section of their own and call nothing, so that a copy of the section is a
// valid code image.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_TESTKERNELS_H
#define GRAPHC_TESTS_RUNTIME_TESTKERNELS_H

#include <cstdint>
#include <span>

extern "C" const uint8_t __start_graphc_kernels[];
extern "C" const uint8_t __stop_graphc_kernels[];

namespace graphc::test {

#define GRAPHC_TEST_KERNEL                                                                         \
  __attribute__((section("graphc_kernels"), used, noinline, optnone,                               \
                 disable_sanitizer_instrumentation))

using KernelFunction = void (*)(void *const *, const int64_t *, int64_t, int64_t, void *);

/// buffers {int64 in, int64 out}, sizes {n}: out[i] = in[i] + n.
GRAPHC_TEST_KERNEL inline void addSize(void *const *buffers, const int64_t *sizes, int64_t begin,
                                       int64_t end, void *) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<int64_t *>(buffers[1])[i] = static_cast<int64_t *>(buffers[0])[i] + sizes[0];
}

/// buffers {float in, float out}: out[i] = in[i] * in[i], which is denormal for tiny inputs.
GRAPHC_TEST_KERNEL inline void square(void *const *buffers, const int64_t *, int64_t begin,
                                      int64_t end, void *) {
  for (int64_t i = begin; i < end; ++i) {
    float x = static_cast<float *>(buffers[0])[i];
    static_cast<float *>(buffers[1])[i] = x * x;
  }
}

/// buffers {int64 out}, sizes {bytes}: fills its scratch with the item, then stores the sum of it.
GRAPHC_TEST_KERNEL inline void useScratch(void *const *buffers, const int64_t *sizes, int64_t begin,
                                          int64_t end, void *scratch) {
  auto *words = static_cast<int64_t *>(scratch);
  for (int64_t i = begin; i < end; ++i) {
    int64_t sum = reinterpret_cast<uintptr_t>(scratch) % 64;
    for (int64_t k = 0; k < sizes[0] / 8; ++k)
      words[k] = i;
    for (int64_t k = 0; k < sizes[0] / 8; ++k)
      sum += words[k];
    static_cast<int64_t *>(buffers[0])[i] = sum;
  }
}

/// buffers {int64 out}, sizes {grain}: marks every item with the begin of its piece, modulo the
/// grain.
GRAPHC_TEST_KERNEL inline void markGrain(void *const *buffers, const int64_t *sizes, int64_t begin,
                                         int64_t end, void *) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<int64_t *>(buffers[0])[i] += 1 + (begin % sizes[0]) * 1000;
}

/// buffers {int64 out}, scratch that begins with the address of a function: calls that, and writes
/// every item's number in its piece.
GRAPHC_TEST_KERNEL inline void markPiece(void *const *buffers, const int64_t *, int64_t begin,
                                         int64_t end, void *scratch) {
  (*static_cast<void (**)()>(scratch))();
  for (int64_t i = begin; i < end; ++i)
    static_cast<int64_t *>(buffers[0])[i] = i - begin;
}

inline std::span<const uint8_t> kernelImage() {
  return {__start_graphc_kernels, __stop_graphc_kernels};
}
inline uint64_t entryOf(KernelFunction f) {
  return static_cast<uint64_t>(reinterpret_cast<const uint8_t *>(f) - __start_graphc_kernels);
}

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_TESTKERNELS_H
