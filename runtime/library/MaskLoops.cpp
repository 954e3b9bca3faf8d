//===- MaskLoops.cpp - Loops over masks, for several instruction sets -------------------------===//
//
// Elements are chosen without a branch: half full masks are hard to predict. Where the CPU has
// AVX-512, a mask of 64 bytes becomes one of bits, and elements are compressed in registers; as
// whole vectors are stored, what is behind the last one chosen is overwritten by those that follow.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/library/MaskLoops.h"

#include "runtime/base/Strings.h"
#include "runtime/drivers/cpu/CpuFeatures.h"
#include "runtime/library/MaskLoopsAvx2.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace graphc::rt::library {
namespace {

//===------------------------------------------------------------------------------------------===//
// Every CPU
//===------------------------------------------------------------------------------------------===//

constexpr uint64_t kOnes = 0x0101010101010101u, kLows = 0x7f7f7f7f7f7f7f7fu;

/// A 1 in every byte where the mask has anything but 0.
uint64_t trueBytes(const uint8_t *mask) {
  uint64_t w;
  std::memcpy(&w, mask, sizeof w);
  return (((w & kLows) + kLows) | w) >> 7 & kOnes;
}

/// Whether 64 bytes are all 0.
bool isFalse(const uint8_t *mask) {
  uint64_t w[8], any = 0;
  std::memcpy(w, mask, sizeof w);
  for (uint64_t word : w)
    any |= word;
  return any == 0;
}

int64_t sumOfBytes(uint64_t w) {
  constexpr uint64_t kEven = 0x00ff00ff00ff00ffu;
  return static_cast<int64_t>(((w & kEven) + (w >> 8 & kEven)) * 0x0001000100010001u >> 48);
}

int64_t count(const uint8_t *mask, int64_t size) {
  constexpr int64_t kMostWords = 255; // what a byte can count
  int64_t found = 0, i = 0;
  while (i + 8 <= size) {
    int64_t stop = std::min(size - 7, i + 8 * kMostWords);
    uint64_t lanes = 0;
    for (; i < stop; i += 8)
      lanes += trueBytes(mask + i);
    found += sumOfBytes(lanes);
  }
  for (; i < size; ++i)
    found += mask[i] != 0;
  return found;
}

/// Calls `put(k, i)` for the true elements i, in order, k from 0. A place that is not one may be
/// put first where another follows.
template <typename Put>
void eachTrue(const uint8_t *mask, int64_t size, int64_t count, const Put &put) {
  int64_t k = 0, i = 0;
  for (; i + 8 <= size && k + 8 <= count; i += 8) {
    while (i + 64 <= size && isFalse(mask + i))
      i += 64;
    if (i + 8 > size)
      break;
    uint64_t w = trueBytes(mask + i);
    if (w == kOnes) {
      for (int64_t j = 0; j < 8; ++j)
        put(k + j, i + j);
      k += 8;
    } else if (w != 0) {
      for (int64_t j = 0; j < 8; ++j) {
        put(k, i + j);
        k += static_cast<int64_t>(w >> 8 * j & 1);
      }
    }
  }
  for (; i < size && k < count; ++i)
    if (mask[i])
      put(k++, i);
}

void places(const uint8_t *mask, int64_t size, int64_t count, int64_t first, int64_t *out) {
  eachTrue(mask, size, count, [&](int64_t k, int64_t i) { out[k] = first + i; });
}

template <typename T>
void compress(const uint8_t *mask, int64_t size, int64_t count, const void *x, void *out) {
  const auto *from = static_cast<const T *>(x);
  auto *to = static_cast<T *>(out);
  eachTrue(mask, size, count, [&](int64_t k, int64_t i) { to[k] = from[i]; });
}

template <typename T>
void fill(const uint8_t *mask, int64_t size, uint64_t bits, void *x) {
  constexpr int64_t kBlock = 64;
  auto *to = static_cast<T *>(x);
  auto value = static_cast<T>(bits);
  int64_t i = 0;
  for (; i + kBlock <= size; i += kBlock) {
    if (isFalse(mask + i))
      continue;
    T keep[kBlock];
    for (int64_t j = 0; j < kBlock; ++j)
      keep[j] = static_cast<T>(mask[i + j] ? 0 : -1);
    for (int64_t j = 0; j < kBlock; ++j)
      to[i + j] = static_cast<T>((to[i + j] & keep[j]) | (value & ~keep[j]));
  }
  for (; i < size; ++i)
    if (mask[i])
      to[i] = value;
}

template <typename T>
void choose(const uint8_t *mask, int64_t size, const void *values, void *x) {
  const auto *from = static_cast<const T *>(values);
  auto *to = static_cast<T *>(x);
  for (int64_t i = 0; i < size; ++i)
    to[i] = mask[i] ? from[i] : to[i];
}

template <typename T>
void expand(const uint8_t *mask, int64_t, int64_t count, const void *values, void *x) {
  const auto *from = static_cast<const T *>(values);
  auto *to = static_cast<T *>(x);
  for (int64_t i = 0, k = 0; k < count; ++i) {
    T value = from[k];
    to[i] = mask[i] ? value : to[i];
    k += mask[i] != 0;
  }
}

/// What is moved as it is, of 16 bytes. Chosen without a branch, which would be taken as often as
/// not.
struct Two {
  uint64_t words[2];
};
Two chosen(uint8_t mask, Two value, Two old) {
  const uint64_t keep = static_cast<uint64_t>(mask != 0) - 1;
  return {(value.words[0] & ~keep) | (old.words[0] & keep),
          (value.words[1] & ~keep) | (old.words[1] & keep)};
}

template <>
void choose<Two>(const uint8_t *mask, int64_t size, const void *values, void *x) {
  const auto *from = static_cast<const Two *>(values);
  auto *to = static_cast<Two *>(x);
  for (int64_t i = 0; i < size; ++i)
    to[i] = chosen(mask[i], from[i], to[i]);
}

template <>
void expand<Two>(const uint8_t *mask, int64_t, int64_t count, const void *values, void *x) {
  const auto *from = static_cast<const Two *>(values);
  auto *to = static_cast<Two *>(x);
  for (int64_t i = 0, k = 0; k < count; ++i) {
    to[i] = chosen(mask[i], from[k], to[i]);
    k += mask[i] != 0;
  }
}

constexpr MaskLoops kPlain = {
    count,
    places,
    {compress<uint8_t>, compress<uint16_t>, compress<uint32_t>, compress<uint64_t>},
    {fill<uint8_t>, fill<uint16_t>, fill<uint32_t>, fill<uint64_t>},
    {expand<uint8_t>, expand<uint16_t>, expand<uint32_t>, expand<uint64_t>, expand<Two>},
    {choose<uint8_t>, choose<uint16_t>, choose<uint32_t>, choose<uint64_t>, choose<Two>}};

#if defined(__x86_64__)

//===------------------------------------------------------------------------------------------===//
// AVX-512
//===------------------------------------------------------------------------------------------===//

#define GRAPHC_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,bmi2,popcnt")))

/// The elements of 64 that are true, of the first `size` where there are fewer.
GRAPHC_AVX512 inline uint64_t trueOf64(const uint8_t *mask, int64_t size) {
  __m512i bytes = size >= 64
                      ? _mm512_loadu_si512(mask)
                      : _mm512_maskz_loadu_epi8(_bzhi_u64(~uint64_t{0}, unsigned(size)), mask);
  return _mm512_test_epi8_mask(bytes, bytes);
}

GRAPHC_AVX512 inline int64_t ones(uint64_t bits) { return _mm_popcnt_u64(bits); }

GRAPHC_AVX512 int64_t count512(const uint8_t *mask, int64_t size) {
  int64_t found = 0;
  for (int64_t i = 0; i < size; i += 64)
    found += ones(trueOf64(mask + i, size - i));
  return found;
}

/// The first lanes, as many as a mask has ones.
GRAPHC_AVX512 inline uint32_t firstOf(uint32_t mask) {
  return _bzhi_u32(0xffffffffu, static_cast<unsigned>(_mm_popcnt_u32(mask)));
}

GRAPHC_AVX512 void places512(const uint8_t *mask, int64_t size, int64_t count, int64_t first,
                             int64_t *out) {
  const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  for (int64_t i = 0, k = 0; i < size && k < count; i += 64) {
    uint64_t chosen = trueOf64(mask + i, size - i);
    bool whole = k + 64 <= count;
    for (int64_t j = 0; chosen != 0; j += 8, chosen >>= 8) {
      auto some = static_cast<__mmask8>(chosen);
      __m512i at = _mm512_add_epi64(_mm512_set1_epi64(first + i + j), lanes);
      at = _mm512_maskz_compress_epi64(some, at);
      if (whole)
        _mm512_storeu_si512(out + k, at);
      else
        _mm512_mask_storeu_epi64(out + k, static_cast<__mmask8>(firstOf(some)), at);
      k += _mm_popcnt_u32(some);
    }
  }
}

/// Vectors of 32 or 64 bits a lane, in which elements of T are compressed.
template <typename T>
struct Lanes {
  static constexpr int64_t kCount = sizeof(T) == 8 ? 8 : 16;
  static constexpr uint32_t kAll = (1u << kCount) - 1;

  GRAPHC_AVX512 static __m512i load(const T *x, uint32_t lanes) {
    if constexpr (sizeof(T) == 8)
      return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(lanes), x);
    else if constexpr (sizeof(T) == 4)
      return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), x);
    else if constexpr (sizeof(T) == 2)
      return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(lanes), x));
    else
      return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(static_cast<__mmask16>(lanes), x));
  }
  GRAPHC_AVX512 static __m512i load(const T *x) {
    if constexpr (sizeof(T) >= 4)
      return _mm512_loadu_si512(x);
    else if constexpr (sizeof(T) == 2)
      return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(x)));
    else
      return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
  }
  GRAPHC_AVX512 static __m512i compress(uint32_t chosen, __m512i v) {
    if constexpr (sizeof(T) == 8)
      return _mm512_maskz_compress_epi64(static_cast<__mmask8>(chosen), v);
    else
      return _mm512_maskz_compress_epi32(static_cast<__mmask16>(chosen), v);
  }
  /// The first lanes, where chosen.
  GRAPHC_AVX512 static __m512i expand(uint32_t chosen, __m512i v) {
    if constexpr (sizeof(T) == 8)
      return _mm512_maskz_expand_epi64(static_cast<__mmask8>(chosen), v);
    else
      return _mm512_maskz_expand_epi32(static_cast<__mmask16>(chosen), v);
  }
  /// Lanes of `other` where chosen, else of `v`.
  GRAPHC_AVX512 static __m512i blend(uint32_t chosen, __m512i v, __m512i other) {
    if constexpr (sizeof(T) == 8)
      return _mm512_mask_mov_epi64(v, static_cast<__mmask8>(chosen), other);
    else
      return _mm512_mask_mov_epi32(v, static_cast<__mmask16>(chosen), other);
  }
  GRAPHC_AVX512 static void store(T *out, __m512i v) {
    if constexpr (sizeof(T) >= 4)
      _mm512_storeu_si512(out, v);
    else if constexpr (sizeof(T) == 2)
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), _mm512_cvtepi32_epi16(v));
    else
      _mm_storeu_si128(reinterpret_cast<__m128i *>(out), _mm512_cvtepi32_epi8(v));
  }
  GRAPHC_AVX512 static void store(T *out, uint32_t lanes, __m512i v) {
    if constexpr (sizeof(T) == 8)
      _mm512_mask_storeu_epi64(out, static_cast<__mmask8>(lanes), v);
    else if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_epi32(out, static_cast<__mmask16>(lanes), v);
    else if constexpr (sizeof(T) == 2)
      _mm256_mask_storeu_epi16(out, static_cast<__mmask16>(lanes), _mm512_cvtepi32_epi16(v));
    else
      _mm_mask_storeu_epi8(out, static_cast<__mmask16>(lanes), _mm512_cvtepi32_epi8(v));
  }
};

template <typename T>
GRAPHC_AVX512 void compress512(const uint8_t *mask, int64_t size, int64_t count, const void *x,
                               void *out) {
  using V = Lanes<T>;
  const auto *from = static_cast<const T *>(x);
  auto *to = static_cast<T *>(out);
  int64_t i = 0, k = 0;
  for (; i + 64 <= size && k + 64 <= count; i += 64) {
    uint64_t chosen = trueOf64(mask + i, 64);
    if (chosen == 0)
      continue;
    for (int64_t j = 0; j < 64; j += V::kCount) {
      auto some = static_cast<uint32_t>(chosen >> j) & V::kAll;
      V::store(to + k, V::compress(some, V::load(from + i + j)));
      k += _mm_popcnt_u32(some);
    }
  }
  for (; i < size && k < count; i += 64) {
    uint64_t chosen = trueOf64(mask + i, size - i);
    for (int64_t j = 0; chosen != 0; j += V::kCount, chosen >>= V::kCount) {
      auto some = static_cast<uint32_t>(chosen) & V::kAll;
      V::store(to + k, firstOf(some), V::compress(some, V::load(from + i + j, some)));
      k += _mm_popcnt_u32(some);
    }
  }
}

/// Asks for 64 elements so far ahead of those, of which a long run is written.
template <typename T>
inline void askAhead(const T *x) {
  constexpr int64_t kLine = 64 / sizeof(T), kAheadBytes = 2048;
  for (int64_t j = 0; j < 64; j += kLine)
    _mm_prefetch(reinterpret_cast<const char *>(x + j) + kAheadBytes, _MM_HINT_T0);
}

/// What fill512() and choose512() write: one value, or an array's.
template <typename T>
struct OneValue {
  __m512i value;
  GRAPHC_AVX512 void ask(int64_t) const {}
  GRAPHC_AVX512 __m512i load(int64_t) const { return value; }
  GRAPHC_AVX512 __m512i load(int64_t, uint32_t) const { return value; }
};
template <typename T>
struct EachValue {
  const T *values;
  GRAPHC_AVX512 void ask(int64_t i) const { askAhead(values + i); }
  GRAPHC_AVX512 __m512i load(int64_t i) const { return Lanes<T>::load(values + i); }
  GRAPHC_AVX512 __m512i load(int64_t i, uint32_t lanes) const {
    return Lanes<T>::load(values + i, lanes);
  }
};

/// Whole vectors are written over: stores of some lanes take as long as twice that.
template <typename T, typename Values>
GRAPHC_AVX512 inline void replace512(const uint8_t *mask, int64_t size, const Values &from, T *to) {
  using V = Lanes<T>;
  int64_t i = 0;
  for (; i + 64 <= size; i += 64) {
    uint64_t chosen = trueOf64(mask + i, 64);
    if (chosen == 0)
      continue;
    askAhead(to + i);
    from.ask(i);
    for (int64_t j = 0; j < 64; j += V::kCount)
      V::store(to + i + j, V::blend(static_cast<uint32_t>(chosen >> j) & V::kAll,
                                    V::load(to + i + j), from.load(i + j)));
  }
  if (uint64_t chosen = i < size ? trueOf64(mask + i, size - i) : 0)
    for (; chosen != 0; i += V::kCount, chosen >>= V::kCount) {
      auto some = static_cast<uint32_t>(chosen) & V::kAll;
      V::store(to + i, some, from.load(i, some));
    }
}

template <typename T>
GRAPHC_AVX512 void fill512(const uint8_t *mask, int64_t size, uint64_t bits, void *x) {
  __m512i value = sizeof(T) == 8 ? _mm512_set1_epi64(static_cast<int64_t>(bits))
                                 : _mm512_set1_epi32(static_cast<int32_t>(bits));
  replace512(mask, size, OneValue<T>{value}, static_cast<T *>(x));
}

template <typename T>
GRAPHC_AVX512 void choose512(const uint8_t *mask, int64_t size, const void *values, void *x) {
  replace512(mask, size, EachValue<T>{static_cast<const T *>(values)}, static_cast<T *>(x));
}

template <typename T>
GRAPHC_AVX512 void expand512(const uint8_t *mask, int64_t size, int64_t count, const void *values,
                             void *x) {
  using V = Lanes<T>;
  auto *to = static_cast<T *>(x);
  const auto *from = static_cast<const T *>(values), *end = from + count;
  int64_t i = 0;
  for (; i + 64 <= size && end - from >= 64; i += 64) {
    uint64_t chosen = trueOf64(mask + i, 64);
    if (chosen == 0)
      continue;
    askAhead(to + i);
    askAhead(from);
    if (chosen == ~uint64_t{0}) { // of long runs nothing is kept
      std::memcpy(to + i, from, 64 * sizeof(T));
      from += 64;
      continue;
    }
    for (int64_t j = 0; j < 64; j += V::kCount) {
      auto some = static_cast<uint32_t>(chosen >> j) & V::kAll;
      V::store(to + i + j, V::blend(some, V::load(to + i + j), V::expand(some, V::load(from))));
      from += _mm_popcnt_u32(some);
    }
  }
  for (; i < size && from < end; i += 64) {
    uint64_t chosen = trueOf64(mask + i, size - i);
    for (int64_t j = 0; chosen != 0; j += V::kCount, chosen >>= V::kCount) {
      auto some = static_cast<uint32_t>(chosen) & V::kAll;
      V::store(to + i + j, some, V::expand(some, V::load(from, firstOf(some))));
      from += _mm_popcnt_u32(some);
    }
  }
}

constexpr MaskLoops kAvx512 = {
    count512,
    places512,
    {compress512<uint8_t>, compress512<uint16_t>, compress512<uint32_t>, compress512<uint64_t>},
    {fill512<uint8_t>, fill512<uint16_t>, fill512<uint32_t>, fill512<uint64_t>},
    {expand512<uint8_t>, expand512<uint16_t>, expand512<uint32_t>, expand512<uint64_t>,
     expand<Two>},
    {choose512<uint8_t>, choose512<uint16_t>, choose512<uint32_t>, choose512<uint64_t>,
     choose<Two>}};

#endif

bool areAllowed(std::initializer_list<std::string_view> needed) {
  const std::string features = cpu::allowedFeatures();
  return std::ranges::all_of(
      needed, [&](std::string_view name) { return strings::listContains(features, name); });
}

} // namespace

bool hasAvx512() {
  static const bool has =
      areAllowed({"avx512f", "avx512vl", "avx512bw", "avx512dq", "bmi2", "popcnt"});
  return has;
}

bool hasAvx2() {
  static const bool has = areAllowed({"avx2", "popcnt"});
  return has;
}

const MaskLoops &maskLoops() { return *everyMaskLoops().back(); }

const std::vector<const MaskLoops *> &everyMaskLoops() {
  static const std::vector<const MaskLoops *> every = [] {
    std::vector<const MaskLoops *> found = {&kPlain};
#if defined(__x86_64__)
    static const MaskLoops avx2 = inAvx2(kPlain);
    if (hasAvx2())
      found.push_back(&avx2);
    if (hasAvx512())
      found.push_back(&kAvx512);
#endif
    return found;
  }();
  return every;
}

} // namespace graphc::rt::library
