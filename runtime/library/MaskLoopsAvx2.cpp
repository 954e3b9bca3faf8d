//===- MaskLoopsAvx2.cpp - Loops over masks in vectors of 256 bits ----------------------------===//
//
// AVX2 cannot compress: a table says for each mask of eight which lanes those chosen come from, and
// another which of the values that are put in place each lane takes.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/library/MaskLoopsAvx2.h"

#if defined(__x86_64__)

#include <algorithm>
#include <array>
#include <cstring>
#include <immintrin.h>

namespace graphc::rt::library {
namespace {

#define GRAPHC_AVX2 __attribute__((target("avx2,popcnt")))

/// By masks of eight lanes, a byte for each lane: the lanes that are chosen, in order, and how many
/// chosen ones are before each.
struct Tables {
  std::array<uint64_t, 256> chosen{}, before{};
  /// By masks of four lanes of 64 bits, in lanes of 32.
  alignas(32) std::array<std::array<uint32_t, 8>, 16> chosenPairs{};
  alignas(32) std::array<std::array<uint32_t, 8>, 16> beforePairs{};
};

constexpr Tables tables() {
  Tables made;
  for (unsigned mask = 0; mask < 256; ++mask)
    for (unsigned lane = 0, found = 0; lane < 8; ++lane) {
      made.before[mask] |= uint64_t{found} << 8 * lane;
      if (mask >> lane & 1)
        made.chosen[mask] |= uint64_t{lane} << 8 * found++;
    }
  for (unsigned mask = 0; mask < 16; ++mask)
    for (unsigned lane = 0; lane < 8; ++lane) {
      auto of = [&](uint64_t lanes) {
        return 2 * static_cast<uint32_t>(lanes >> 8 * (lane / 2) & 0xff) + lane % 2;
      };
      made.chosenPairs[mask][lane] = of(made.chosen[mask]);
      made.beforePairs[mask][lane] = of(made.before[mask]);
    }
  return made;
}

constexpr Tables kTables = tables();

GRAPHC_AVX2 inline __m256i load(const void *x) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(x));
}
GRAPHC_AVX2 inline void store(void *x, __m256i v) {
  _mm256_storeu_si256(static_cast<__m256i *>(x), v);
}
GRAPHC_AVX2 inline __m128i lanesOf(uint64_t bytes) {
  return _mm_cvtsi64_si128(static_cast<int64_t>(bytes));
}
GRAPHC_AVX2 inline int64_t ones(uint64_t bits) { return _mm_popcnt_u64(bits); }

/// The elements of 64 that are true.
GRAPHC_AVX2 inline uint64_t trueOf64(const uint8_t *mask) {
  const __m256i zero = _mm256_setzero_si256();
  auto isFalse = [&](const uint8_t *bytes) GRAPHC_AVX2 {
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(bytes), zero)));
  };
  return ~(uint64_t{isFalse(mask)} | uint64_t{isFalse(mask + 32)} << 32);
}

/// Of the first `size` where there are fewer.
GRAPHC_AVX2 inline uint64_t trueOf64(const uint8_t *mask, int64_t size) {
  if (size >= 64)
    return trueOf64(mask);
  uint8_t bytes[64] = {};
  std::memcpy(bytes, mask, static_cast<size_t>(size));
  return trueOf64(bytes);
}

GRAPHC_AVX2 int64_t count(const uint8_t *mask, int64_t size) {
  int64_t found = 0;
  for (int64_t i = 0; i < size; i += 64)
    found += ones(trueOf64(mask + i, size - i));
  return found;
}

/// Calls `put(i)` for the true elements from i on, in order, as long as it wants more.
template <typename Put>
GRAPHC_AVX2 inline void eachTrue(const uint8_t *mask, int64_t i, int64_t size, const Put &put) {
  for (; i < size; i += 64)
    for (uint64_t chosen = trueOf64(mask + i, size - i); chosen != 0; chosen &= chosen - 1)
      if (!put(i + std::countr_zero(chosen)))
        return;
}

GRAPHC_AVX2 inline __m128i loadLow(const void *x) {
  return _mm_loadl_epi64(static_cast<const __m128i *>(x));
}

/// Eight elements whose lanes are moved: a byte names one for each.
template <typename T>
GRAPHC_AVX2 inline auto permuteEight(const T *from, uint64_t bytes) {
  static_assert(sizeof(T) < 8);
  const __m128i lanes = lanesOf(bytes);
  if constexpr (sizeof(T) == 4) {
    return _mm256_permutevar8x32_epi32(load(from), _mm256_cvtepu8_epi32(lanes));
  } else if constexpr (sizeof(T) == 2) {
    const __m128i low = _mm_add_epi8(lanes, lanes);
    const __m128i pairs = _mm_unpacklo_epi8(low, _mm_add_epi8(low, _mm_set1_epi8(1)));
    return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)), pairs);
  } else {
    return _mm_shuffle_epi8(loadLow(from), lanes);
  }
}

/// Four elements of 64 bits.
template <typename T>
GRAPHC_AVX2 inline __m256i permuteFour(const T *from, const std::array<uint32_t, 8> &pairs) {
  return _mm256_permutevar8x32_epi32(load(from), load(pairs.data()));
}

/// Those of eight elements that are chosen, one after the other; what is behind them up to eight is
/// written as well.
template <typename T>
GRAPHC_AVX2 inline void compressEight(uint32_t chosen, const T *from, T *to) {
  if constexpr (sizeof(T) == 8) {
    store(to, permuteFour(from, kTables.chosenPairs[chosen & 15]));
    store(to + ones(chosen & 15), permuteFour(from + 4, kTables.chosenPairs[chosen >> 4]));
  } else {
    const auto moved = permuteEight(from, kTables.chosen[chosen]);
    std::memcpy(to, &moved, 8 * sizeof(T));
  }
}

template <typename T>
GRAPHC_AVX2 void compress(const uint8_t *mask, int64_t size, int64_t count, const void *x,
                          void *out) {
  const auto *from = static_cast<const T *>(x);
  auto *to = static_cast<T *>(out), *end = to + count;
  int64_t i = 0;
  for (; i + 64 <= size && end - to >= 64; i += 64) {
    uint64_t chosen = trueOf64(mask + i);
    if (chosen == ~uint64_t{0}) {
      std::memcpy(to, from + i, 64 * sizeof(T));
      to += 64;
      continue;
    }
    for (int64_t j = i; chosen != 0; j += 8, chosen >>= 8) {
      compressEight(static_cast<uint32_t>(chosen & 0xff), from + j, to);
      to += ones(chosen & 0xff);
    }
  }
  if (to < end)
    eachTrue(mask, i, size, [&](int64_t at) {
      *to++ = from[at];
      return to < end;
    });
}

GRAPHC_AVX2 void places(const uint8_t *mask, int64_t size, int64_t count, int64_t first,
                        int64_t *out) {
  int64_t *end = out + count;
  auto four = [&](uint32_t some, int64_t at) GRAPHC_AVX2 {
    const __m256i lanes = _mm256_cvtepu8_epi64(lanesOf(kTables.chosen[some]));
    store(out, _mm256_add_epi64(lanes, _mm256_set1_epi64x(at)));
    out += ones(some);
  };
  int64_t i = 0;
  for (; i + 64 <= size && end - out >= 64; i += 64) {
    uint64_t chosen = trueOf64(mask + i);
    for (int64_t j = first + i; chosen != 0; j += 4, chosen >>= 4)
      four(static_cast<uint32_t>(chosen & 15), j);
  }
  if (out < end)
    eachTrue(mask, i, size, [&](int64_t at) {
      *out++ = first + at;
      return out < end;
    });
}

/// Vectors of elements of T.
template <typename T>
struct Lanes {
  static constexpr int64_t kCount = 32 / sizeof(T);

  /// All ones where the mask is false.
  GRAPHC_AVX2 static __m256i kept(const uint8_t *mask) {
    if constexpr (sizeof(T) == 1) {
      return _mm256_cmpeq_epi8(load(mask), _mm256_setzero_si256());
    } else {
      int64_t bytes[2] = {};
      std::memcpy(bytes, mask, kCount);
      const __m128i zero = _mm_setzero_si128();
      const __m128i kept = _mm_cmpeq_epi8(_mm_set_epi64x(bytes[1], bytes[0]), zero);
      if constexpr (sizeof(T) == 2)
        return _mm256_cvtepi8_epi16(kept);
      else if constexpr (sizeof(T) == 4)
        return _mm256_cvtepi8_epi32(kept);
      else
        return _mm256_cvtepi8_epi64(kept);
    }
  }
  GRAPHC_AVX2 static void replace(const uint8_t *mask, __m256i v, T *to) {
    __m256i mixed = _mm256_blendv_epi8(v, load(to), kept(mask));
    // Seen as a blend of what is there, it becomes a store of some lanes, which takes ten times as
    // long on some CPUs.
    asm("" : "+x"(mixed));
    store(to, mixed);
  }
};

/// Writes what `vector` gives for the elements from a place on, and `element` for the last ones.
template <typename T, typename Vector, typename Element>
GRAPHC_AVX2 inline void replace(const uint8_t *mask, int64_t size, T *to, const Vector &vector,
                                const Element &element) {
  int64_t i = 0;
  for (; i + 64 <= size; i += 64) {
    if (trueOf64(mask + i) == 0)
      continue;
    for (int64_t j = i; j < i + 64; j += Lanes<T>::kCount)
      Lanes<T>::replace(mask + j, vector(j), to + j);
  }
  eachTrue(mask, i, size, [&](int64_t at) {
    to[at] = element(at);
    return true;
  });
}

template <typename T>
GRAPHC_AVX2 void fill(const uint8_t *mask, int64_t size, uint64_t bits, void *x) {
  const auto value = static_cast<T>(bits);
  std::array<T, 32 / sizeof(T)> lanes;
  lanes.fill(value);
  const __m256i v = load(lanes.data());
  replace(
      mask, size, static_cast<T *>(x), [&](int64_t) GRAPHC_AVX2 { return v; },
      [&](int64_t) { return value; });
}

template <typename T>
GRAPHC_AVX2 void choose(const uint8_t *mask, int64_t size, const void *values, void *x) {
  const auto *from = static_cast<const T *>(values);
  replace(
      mask, size, static_cast<T *>(x), [&](int64_t i) GRAPHC_AVX2 { return load(from + i); },
      [&](int64_t i) { return from[i]; });
}

/// Puts values in place of the chosen ones of eight elements, from the first on.
template <typename T>
GRAPHC_AVX2 inline void expandEight(const uint8_t *mask, uint32_t chosen, const T *values, T *to) {
  if constexpr (sizeof(T) == 8) {
    auto high = values + ones(chosen & 15);
    Lanes<T>::replace(mask, permuteFour(values, kTables.beforePairs[chosen & 15]), to);
    Lanes<T>::replace(mask + 4, permuteFour(high, kTables.beforePairs[chosen >> 4]), to + 4);
  } else if constexpr (sizeof(T) == 4) {
    Lanes<T>::replace(mask, permuteEight(values, kTables.before[chosen]), to);
  } else {
    __m128i kept = _mm_cmpeq_epi8(loadLow(mask), _mm_setzero_si128()), old = _mm_setzero_si128();
    if constexpr (sizeof(T) == 2)
      kept = _mm_cvtepi8_epi16(kept);
    std::memcpy(&old, to, 8 * sizeof(T));
    const __m128i mixed = _mm_blendv_epi8(permuteEight(values, kTables.before[chosen]), old, kept);
    std::memcpy(to, &mixed, 8 * sizeof(T));
  }
}

template <typename T>
GRAPHC_AVX2 void expand(const uint8_t *mask, int64_t size, int64_t count, const void *values,
                        void *x) {
  const auto *from = static_cast<const T *>(values), *end = from + count;
  auto *to = static_cast<T *>(x);
  int64_t i = 0;
  for (; i + 64 <= size && end - from >= 64; i += 64) {
    uint64_t chosen = trueOf64(mask + i);
    if (chosen == ~uint64_t{0}) {
      std::memcpy(to + i, from, 64 * sizeof(T));
      from += 64;
      continue;
    }
    for (int64_t j = i; chosen != 0; j += 8, chosen >>= 8) {
      const auto some = static_cast<uint32_t>(chosen & 0xff);
      expandEight(mask + j, some, from, to + j);
      from += ones(some);
    }
  }
  if (from < end)
    eachTrue(mask, i, size, [&](int64_t at) {
      to[at] = *from++;
      return from < end;
    });
}

} // namespace

MaskLoops inAvx2(MaskLoops loops) {
  loops.count = count;
  loops.places = places;
  auto set = [&]<typename T>(T) {
    const size_t at = loopOf(sizeof(T));
    loops.compress[at] = compress<T>;
    loops.fill[at] = fill<T>;
    loops.expand[at] = expand<T>;
    loops.choose[at] = choose<T>;
  };
  set(uint8_t{});
  set(uint16_t{});
  set(uint32_t{});
  set(uint64_t{});
  return loops;
}

} // namespace graphc::rt::library

#endif
