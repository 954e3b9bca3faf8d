//===- Correlate.cpp - Sums of shifted products -----------------------------------------------===//
#include "runtime/library/Correlate.h"

#include "runtime/base/CorrelateChains.h"
#include "runtime/library/Parallel.h"
#include "runtime/library/Routines.h"

#include <algorithm>
#include <array>
#include <cmath>

#if defined(__x86_64__)
#define GRAPHC_TARGET(features) __attribute__((target(features)))
#else
#define GRAPHC_TARGET(features)
#endif

namespace graphc::rt::library {
namespace {

/// Bytes of the sums that are added to side by side: eight registers.
constexpr int64_t kBlockBytes256 = 256, kBlockBytes512 = 512;
/// Products that one thread adds up at a time.
constexpr int64_t kChunkProducts = int64_t{1} << 18;

/// Sums [from, from + count) of the wanted ones, a block at most. Factors that meet a value in
/// every sum keep the sums in registers; others, at the ends of the values, meet one in some.
template <typename T, int64_t kBlock>
[[gnu::always_inline]] inline void sumBlock(const Correlation<T> &c, int64_t from, int64_t count,
                                            T *out) {
  const int64_t shift = c.first + from - (c.m - 1); // of the value that factor 0 meets in sum 0
  const int64_t chain = c.m <= kMostOfShortChains ? kShortChain : kLongChain;
  const int64_t firstAll = std::max<int64_t>(0, -shift), endAll = c.n - shift - (count - 1);
  std::array<T, kBlock> total;
  for (int64_t begin = 0; begin < c.m; begin += chain) {
    std::array<T, kBlock> sums{};
    const int64_t end = std::min(c.m, begin + chain);
    auto addSome = [&](int64_t low, int64_t high) {
      for (int64_t i = low; i < high; ++i) {
        const int64_t last = std::min(count, c.n - shift - i);
        for (int64_t j = std::max<int64_t>(0, -shift - i); j < last; ++j)
          sums[j] = std::fma(c.factors[i], c.values[shift + i + j], sums[j]);
      }
    };
    const int64_t all = std::clamp(count == kBlock ? firstAll : end, begin, end);
    const int64_t rest = std::clamp(endAll, all, end);
    addSome(begin, all);
    for (int64_t i = all; i < rest; ++i)
      for (int64_t j = 0; j < kBlock; ++j)
        sums[j] = std::fma(c.factors[i], c.values[shift + i + j], sums[j]);
    addSome(rest, end);
    for (int64_t j = 0; j < kBlock; ++j)
      total[j] = begin == 0 ? sums[j] : total[j] + sums[j];
  }
  std::copy_n(total.data(), count, out + from);
}

template <typename T, int64_t kBlock>
[[gnu::always_inline]] inline void sumBlocks(const Correlation<T> &c, int64_t from, int64_t to,
                                             T *out) {
  for (int64_t j = from; j < to; j += kBlock)
    sumBlock<T, kBlock>(c, j, std::min(kBlock, to - j), out);
}

template <typename T>
void sumAny(const Correlation<T> &c, int64_t from, int64_t to, T *out) {
  sumBlocks<T, kBlockBytes256 / sizeof(T)>(c, from, to, out);
}

template <typename T>
GRAPHC_TARGET("avx2,fma")
void sum256(const Correlation<T> &c, int64_t from, int64_t to, T *out) {
  sumBlocks<T, kBlockBytes256 / sizeof(T)>(c, from, to, out);
}

template <typename T>
GRAPHC_TARGET("avx512f,avx512vl,avx512dq")
void sum512(const Correlation<T> &c, int64_t from, int64_t to, T *out) {
  sumBlocks<T, kBlockBytes512 / sizeof(T)>(c, from, to, out);
}

template <typename T>
auto widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return sum512<T>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return sum256<T>;
#endif
  return sumAny<T>;
}

/// Which sums there are, by the parameter (runtime/base/Routine.h).
std::pair<int64_t, int64_t> wanted(int64_t kind, int64_t n, int64_t m) {
  switch (kind) {
  case 0:
    return {0, n + m - 1};
  case 1:
    return {m - 1, n - m + 1};
  case 2:
    return {(m - 1) / 2, n};
  default:
    return {m / 2, n};
  }
}

template <typename T>
Status correlateAs(const Call &call) {
  const Operand &values = call.operands[0], &factors = call.operands[1];
  int64_t n = values.shape[0], m = factors.shape[0];
  auto [first, count] = wanted(call.params[0], n, m);
  if (call.result.shape[0] == 0)
    return Status::ok();
  correlate(Correlation<T>{static_cast<const T *>(factors.data), m,
                           static_cast<const T *>(values.data), n, first, count},
            static_cast<T *>(call.result.data));
  return Status::ok();
}

} // namespace

template <typename T>
void correlate(const Correlation<T> &given, T *out) {
  static const auto sums = widest<T>();
  constexpr int64_t kBlock = kBlockBytes512 / sizeof(T);
  const int64_t chunk = std::max<int64_t>(1, kChunkProducts / (given.m * kBlock)) * kBlock;
  parallelFor(given.count, chunk, [&](int64_t from, int64_t to) { sums(given, from, to, out); });
}

template void correlate(const Correlation<float> &given, float *out);
template void correlate(const Correlation<double> &given, double *out);

Status correlate(const Call &call) {
  return call.result.dtype == DType::Float32 ? correlateAs<float>(call) : correlateAs<double>(call);
}

} // namespace graphc::rt::library
