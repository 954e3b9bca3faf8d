//===- Keys.cpp - Sorting unsigned keys -------------------------------------------------------===//
//
// highway's sort is a header; it is compiled here once for each of two instruction sets, and the
// allowed CPU features choose. Its own library, which chooses for itself, is not linked: a user's
// machine does not need it.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/library/Keys.h"

#include <utility>

#if GRAPHC_HAS_VQSORT
// Zen 4 takes a hundred cycles and more to compress into memory, and a few into a register.
#ifndef GRAPHC_COMPRESSES_IN_REGISTERS
#define GRAPHC_COMPRESSES_IN_REGISTERS
#include <immintrin.h>
#define GRAPHC_FIRST(MASK) (_bzhi_u32(0xffffffffu, static_cast<unsigned>(_mm_popcnt_u32(MASK))))
#define _mm512_mask_compressstoreu_epi32(P, MASK, V)                                               \
  _mm512_mask_storeu_epi32(P, static_cast<__mmask16>(GRAPHC_FIRST(MASK)),                          \
                           _mm512_maskz_compress_epi32(MASK, V))
#define _mm512_mask_compressstoreu_epi64(P, MASK, V)                                               \
  _mm512_mask_storeu_epi64(P, static_cast<__mmask8>(GRAPHC_FIRST(MASK)),                           \
                           _mm512_maskz_compress_epi64(MASK, V))
#endif
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/library/Keys.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include "hwy/foreach_target.h" // IWYU pragma: keep; before the headers that are compiled per target
#include "hwy/contrib/sort/traits-inl.h"
#include "hwy/contrib/sort/vqsort-inl.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace graphc::rt::library {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
template <typename Lane, typename Traits>
void vectorSort(Lane *keys, size_t lanes) {
  namespace hw = hwy::HWY_NAMESPACE;
  hw::SortTag<Lane> tag;
  hw::detail::SharedTraits<Traits> traits;
  constexpr size_t kMost = hwy::SortConstants::BufBytes<Lane>(HWY_MAX_BYTES) / sizeof(Lane);
  HWY_ALIGN Lane buffer[kMost];
  hw::Sort(tag, traits, keys, lanes, buffer);
}

template <typename Lane>
using Ascending =
    hwy::HWY_NAMESPACE::detail::TraitsLane<hwy::HWY_NAMESPACE::detail::OrderAscending<Lane>>;

void sort32(uint32_t *keys, size_t count) {
  vectorSort<uint32_t, Ascending<uint32_t>>(keys, count);
}
void sort64(uint64_t *keys, size_t count) {
  vectorSort<uint64_t, Ascending<uint64_t>>(keys, count);
}

template <typename O, typename Key>
void fill(const Key *elements, size_t count, Key flip, Key *keys) {
  PlainLoops::fill<O>(elements, count, flip, keys);
}
template <typename O, typename Key>
void finish(const Key *keys, size_t count, Key flip, Key *elements) {
  PlainLoops::finish<O>(keys, count, flip, elements);
}
template <typename Key>
size_t below(const Key *keys, size_t count, Key pivot) {
  return PlainLoops::below(keys, count, pivot);
}
template <typename Key>
void part(const Key *keys, size_t count, Key pivot, Key *low, Key *high) {
  namespace hw = hwy::HWY_NAMESPACE;
  const hw::ScalableTag<Key> tag;
  const auto limit = hw::Set(tag, pivot);
  size_t i = 0;
  for (; i + hw::Lanes(tag) <= count; i += hw::Lanes(tag)) {
    const auto some = hw::LoadU(tag, keys + i);
    const auto smaller = hw::Lt(some, limit);
    low += hw::CompressBlendedStore(some, smaller, tag, low);
    high += hw::CompressBlendedStore(some, hw::Not(smaller), tag, high);
  }
  PlainLoops::part(keys + i, count - i, pivot, low, high);
}
/// One row a lane. Places behind a row are the largest keys, which stay there.
template <size_t width, typename Key>
size_t sortLanes(Key *keys, size_t rows, size_t length) {
  namespace hw = hwy::HWY_NAMESPACE;
  const hw::ScalableTag<Key> tag;
  const hw::RebindToSigned<decltype(tag)> places;
  using V = decltype(hw::Zero(tag));
  const auto first = hw::Mul(hw::Iota(places, 0), hw::Set(places, hwy::MakeSigned<Key>(length)));
  const size_t lanes = hw::Lanes(tag);
  size_t done = 0;
  for (; done + lanes <= rows; done += lanes, keys += lanes * length) {
    V v[width];
    for (size_t i = 0; i < width; ++i)
      v[i] =
          i < length ? hw::GatherIndex(tag, keys + i, first) : hw::Set(tag, hwy::LimitsMax<Key>());
    [&]<size_t... n>(std::index_sequence<n...>) {
      auto exchange = [&](size_t low, size_t high) __attribute__((always_inline)) {
        V smaller = hw::Min(v[low], v[high]);
        v[high] = hw::Max(v[low], v[high]);
        v[low] = smaller;
      };
      (exchange(Network<width>::kPairs[n].low, Network<width>::kPairs[n].high), ...);
    }(std::make_index_sequence<Network<width>::kCount>());
    for (size_t i = 0; i < width && i < length; ++i)
      hw::ScatterIndex(v[i], tag, keys + i, first);
  }
  return done;
}
template <typename Key>
void sortRows(Key *keys, size_t rows, size_t length) {
  size_t done = length <= 2    ? sortLanes<2>(keys, rows, length)
                : length <= 4  ? sortLanes<4>(keys, rows, length)
                : length <= 8  ? sortLanes<8>(keys, rows, length)
                : length <= 16 ? sortLanes<16>(keys, rows, length)
                               : sortLanes<kMostNetworked>(keys, rows, length);
  PlainLoops::sortRows(keys + done * length, rows - done, length);
}
template <typename Key>
void ranks(const FewKeys<Key> &keys, size_t count, FewKeys<Key> &ranks) {
  PlainLoops::ranks(keys, count, ranks);
}
template <typename Key>
constexpr KeyLoops<Key> kLoops = {
    {{fill<Order<Key, KeyKind::Unsigned>, Key>, finish<Order<Key, KeyKind::Unsigned>, Key>},
     {fill<Order<Key, KeyKind::Signed>, Key>, finish<Order<Key, KeyKind::Signed>, Key>},
     {fill<Order<Key, KeyKind::Float>, Key>, finish<Order<Key, KeyKind::Float>, Key>}},
    below<Key>,
    part<Key>,
    sortRows<Key>,
    ranks<Key>};
/// No lanes of so few bits are gathered.
template <>
constexpr KeyLoops<uint16_t> kLoops<uint16_t> = {
    {{fill<Order<uint16_t, KeyKind::Unsigned>, uint16_t>,
      finish<Order<uint16_t, KeyKind::Unsigned>, uint16_t>},
     {fill<Order<uint16_t, KeyKind::Signed>, uint16_t>,
      finish<Order<uint16_t, KeyKind::Signed>, uint16_t>},
     {fill<Order<uint16_t, KeyKind::Float>, uint16_t>,
      finish<Order<uint16_t, KeyKind::Float>, uint16_t>}},
    below<uint16_t>,
    part<uint16_t>,
    PlainLoops::sortRows<uint16_t>,
    ranks<uint16_t>};
#endif

} // namespace HWY_NAMESPACE
} // namespace graphc::rt::library
HWY_AFTER_NAMESPACE();
#endif // GRAPHC_HAS_VQSORT

#if !GRAPHC_HAS_VQSORT || HWY_ONCE

#include "runtime/drivers/cpu/CpuFeatures.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#if GRAPHC_HAS_VQSORT
// What highway's sort asks its own library for: where the sampling of pivots starts. Fixed, so that
// a run repeats.
void hwy::Sorter::Fill24Bytes(const void *, size_t, void *bytes) {
  constexpr uint64_t kStart[] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};
  std::copy_n(reinterpret_cast<const unsigned char *>(kStart), sizeof kStart,
              static_cast<unsigned char *>(bytes));
}
#endif

namespace graphc::rt::library {
namespace {

enum class Isa : uint8_t { None, Avx2, Avx512 };

bool hasAll(std::initializer_list<const char *> names) {
  const std::string features = "," + cpu::allowedFeatures() + ",";
  return std::ranges::all_of(names, [&](const char *name) {
    return features.find(std::string(",") + name + ",") != std::string::npos;
  });
}

Isa chooseIsa() {
  if (!hasAll({"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt"}))
    return Isa::None;
  return hasAll({"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd"}) ? Isa::Avx512
                                                                             : Isa::Avx2;
}

Isa isa() {
  static const Isa chosen = chooseIsa();
  return chosen;
}

/// For CPUs without either instruction set.
template <typename Key>
constexpr KeyLoops<Key> kPlainLoops = {{{PlainLoops::fill<Order<Key, KeyKind::Unsigned>, Key>,
                                         PlainLoops::finish<Order<Key, KeyKind::Unsigned>, Key>},
                                        {PlainLoops::fill<Order<Key, KeyKind::Signed>, Key>,
                                         PlainLoops::finish<Order<Key, KeyKind::Signed>, Key>},
                                        {PlainLoops::fill<Order<Key, KeyKind::Float>, Key>,
                                         PlainLoops::finish<Order<Key, KeyKind::Float>, Key>}},
                                       PlainLoops::below<Key>,
                                       PlainLoops::part<Key>,
                                       PlainLoops::sortRows<Key>,
                                       PlainLoops::ranks<Key>};

#if GRAPHC_HAS_VQSORT && defined(__x86_64__)
bool compressesWords() {
  static const bool does = hasAll({"avx512vbmi2"});
  return does;
}

/// Part of 16-bit keys, for CPUs that compress words.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2")]]
void partWords(const uint16_t *keys, size_t count, uint16_t pivot, uint16_t *low, uint16_t *high) {
  const __m512i limit = _mm512_set1_epi16(static_cast<short>(pivot));
  constexpr uint32_t kAll = 0xffffffffu;
  constexpr size_t kLanes = 32;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512i some = _mm512_loadu_si512(keys + i);
    const __mmask32 smaller = _mm512_cmplt_epu16_mask(some, limit);
    const auto below = static_cast<unsigned>(__builtin_popcount(smaller));
    const auto above = static_cast<unsigned>(kLanes) - below;
    _mm512_mask_storeu_epi16(low, _bzhi_u32(kAll, below),
                             _mm512_maskz_compress_epi16(smaller, some));
    _mm512_mask_storeu_epi16(high, _bzhi_u32(kAll, above),
                             _mm512_maskz_compress_epi16(~smaller, some));
    low += below;
    high += above;
  }
  PlainLoops::part(keys + i, count - i, pivot, low, high);
}

const KeyLoops<uint16_t> &loopsOfWords() {
  static const KeyLoops<uint16_t> loops = [] {
    KeyLoops<uint16_t> found = N_AVX3::kLoops<uint16_t>;
    found.part = partWords;
    return found;
  }();
  return loops;
}
#endif

template <typename Key>
const KeyLoops<Key> &chooseLoops() {
#if GRAPHC_HAS_VQSORT
  if (isa() == Isa::Avx512)
    return N_AVX3::kLoops<Key>;
  if (isa() == Isa::Avx2)
    return N_AVX2::kLoops<Key>;
#endif
  return kPlainLoops<Key>;
}

template <typename Key>
void sortWith(Key *keys, size_t count, void (*avx2)(Key *, size_t), void (*avx512)(Key *, size_t)) {
  if (isa() == Isa::Avx512 && avx512)
    avx512(keys, count);
  else if (isa() != Isa::None && avx2)
    avx2(keys, count);
  else
    std::sort(keys, keys + count);
}

} // namespace

template <>
const KeyLoops<uint16_t> &keyLoops() {
#if GRAPHC_HAS_VQSORT && defined(__x86_64__)
  if (isa() == Isa::Avx512 && compressesWords())
    return loopsOfWords();
#endif
  return chooseLoops<uint16_t>();
}
template <>
const KeyLoops<uint32_t> &keyLoops() {
  return chooseLoops<uint32_t>();
}
template <>
const KeyLoops<uint64_t> &keyLoops() {
  return chooseLoops<uint64_t>();
}

void sortKeys(uint16_t *keys, size_t count) {
  constexpr size_t kFew = 1024;
  if (count <= kFew) {
    std::array<uint32_t, kFew> wide;
    std::copy_n(keys, count, wide.data());
    sortKeys(wide.data(), count);
    for (size_t i = 0; i < count; ++i)
      keys[i] = static_cast<uint16_t>(wide[i]);
    return;
  }
  std::vector<uint16_t> byLow(count);
  auto pass = [count](const uint16_t *from, uint16_t *to, int shift) {
    std::array<size_t, 256> next{};
    for (size_t i = 0; i < count; ++i)
      ++next[from[i] >> shift & 0xff];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), size_t{0});
    for (size_t i = 0; i < count; ++i)
      to[next[from[i] >> shift & 0xff]++] = from[i];
  };
  pass(keys, byLow.data(), 0);
  pass(byLow.data(), keys, 8);
}

#if GRAPHC_HAS_VQSORT
void sortKeys(uint32_t *keys, size_t count) {
  sortWith(keys, count, N_AVX2::sort32, N_AVX3::sort32);
}
void sortKeys(uint64_t *keys, size_t count) {
  sortWith(keys, count, N_AVX2::sort64, N_AVX3::sort64);
}
#else
void sortKeys(uint32_t *keys, size_t count) { sortWith<uint32_t>(keys, count, nullptr, nullptr); }
void sortKeys(uint64_t *keys, size_t count) { sortWith<uint64_t>(keys, count, nullptr, nullptr); }
#endif

} // namespace graphc::rt::library

#endif // !GRAPHC_HAS_VQSORT || HWY_ONCE
