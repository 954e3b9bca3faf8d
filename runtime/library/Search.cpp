//===- Search.cpp - searchsorted --------------------------------------------------------------===//
#include "runtime/library/Order.h"
#include "runtime/library/Parallel.h"
#include "runtime/library/Routines.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

namespace graphc::rt::library {
namespace {

/// Values that one thread looks up at a time.
constexpr int64_t kChunk = 4096;
/// Searches side by side: each waits for one load a step, and a core has room for more than one.
constexpr int64_t kTogether = 16;
/// Elements around where the last value belongs that are looked at before all are: values that
/// follow each other are often neighbours.
constexpr int64_t kNear = 15;
/// Lookups without that try after one that failed, at most.
constexpr int64_t kMostMisses = 8;

/// A number of which the compiler knows nothing. It makes a branch of a choice by what was loaded,
/// and the halves of a search are as good as random.
inline int64_t hidden(int64_t value) {
  __asm__("" : "+r"(value));
  return value;
}

/// The least and the greatest of some keys, of which NaNs are passed over.
template <typename T, size_t count>
std::pair<T, T> extremes(const std::array<T, count> &keys) {
  constexpr size_t kLanes = count % 4 == 0 ? 4 : 1; // compared side by side
  using Limits = std::numeric_limits<T>;
  std::array<T, kLanes> least, most;
  least.fill(Limits::has_infinity ? Limits::infinity() : Limits::max());
  most.fill(Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  for (size_t j = 0; j < count; j += kLanes)
    for (size_t k = 0; k < kLanes; ++k) {
      least[k] = keys[j + k] < least[k] ? keys[j + k] : least[k];
      most[k] = keys[j + k] > most[k] ? keys[j + k] : most[k];
    }
  for (size_t k = 1; k < kLanes; ++k) {
    least[0] = least[k] < least[0] ? least[k] : least[0];
    most[0] = most[k] > most[0] ? most[k] : most[0];
  }
  return {least[0], most[0]};
}

/// Where values belong among `length` sorted ones; `before(i, key)` says whether the i-th of those
/// comes before a key.
template <typename KeyOf, typename Before>
void search(int64_t length, int64_t values, int64_t *out, const KeyOf &keyOf,
            const Before &before) {
  using Key = decltype(keyOf(int64_t{0}));
  /// `near`: where the last value belongs; -1 looks at all elements. Whether it was near.
  auto some = [&](int64_t from, auto together, int64_t near) {
    constexpr int64_t kCount = decltype(together)::value;
    std::array<Key, kCount> keys;
    for (int64_t j = 0; j < kCount; ++j)
      keys[static_cast<size_t>(j)] = keyOf(from + j);
    int64_t low = 0, high = length;
    if constexpr (std::is_arithmetic_v<Key>)
      if (near >= 0) {
        const auto [least, most] = extremes(keys);
        auto areWithin = [&](int64_t from, int64_t to) {
          return (from == 0 || before(from - 1, least)) && (to == length || !before(to, most));
        };
        const int64_t from = std::max<int64_t>(near - kNear / 2, 0);
        const int64_t to = std::min(from + kNear, length);
        if (areWithin(from, to)) {
          bool isOne = areWithin(near, near);
          low = isOne ? near : from;
          high = isOne ? near : to;
        }
      }
    std::array<int64_t, kCount> first;
    first.fill(low);
    // All searches take the same steps; one element is left to look at in the end.
    for (int64_t count = high - low; count > 1;) {
      int64_t half = count / 2;
      for (size_t j = 0; j < static_cast<size_t>(kCount); ++j)
        first[j] += half & -hidden(before(first[j] + half - 1, keys[j]));
      count -= half;
    }
    for (size_t j = 0; j < static_cast<size_t>(kCount); ++j)
      out[from + static_cast<int64_t>(j)] =
          first[j] + (high > low && before(first[j], keys[j]) ? 1 : 0);
    return high - low < length;
  };
  parallelFor(values, kChunk, [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    int64_t misses = 0, left = 0; // values at random are looked up without trying each time
    for (; i + kTogether <= end; i += kTogether) {
      const bool tries = left-- <= 0;
      const int64_t near = tries ? (i > begin ? out[i - 1] : 0) : -1;
      const bool isNear = some(i, std::integral_constant<int64_t, kTogether>(), near);
      misses = isNear ? 0 : std::min(misses + (tries ? 1 : 0), kMostMisses);
      left = tries ? misses : left;
    }
    for (; i < end; ++i)
      some(i, std::integral_constant<int64_t, 1>(), -1);
  });
}

/// The elements as they are, where the CPU compares them.
template <typename O, typename U>
using Element =
    std::conditional_t<O::kKind == KeyKind::Float,
                       std::conditional_t<sizeof(U) == 8, double, float>,
                       std::conditional_t<O::kKind == KeyKind::Signed, std::make_signed_t<U>, U>>;

/// A NaN comes after every number and before no other one, which comparisons with the element on
/// their left say but for a NaN that is looked for.
template <typename T>
void searchElements(const T *a, int64_t length, const T *v, int64_t values, int64_t *out,
                    bool right) {
  auto key = [&](int64_t i) { return v[i]; };
  if (right)
    search(length, values, out, key, [&](int64_t i, T wanted) { return a[i] <= wanted; });
  else
    search(length, values, out, key, [&](int64_t i, T wanted) { return a[i] < wanted; });
  if constexpr (std::is_floating_point_v<T>) {
    const T *numbers = std::partition_point(a, a + length, [](T x) { return x == x; });
    for (int64_t i = 0; i < values; ++i)
      if (v[i] != v[i])
        out[i] = right ? length : numbers - a;
  }
}

/// The same of elements that have keys only.
template <typename KeyOf, typename U>
void searchKeys(const U *a, int64_t length, const U *v, int64_t values, int64_t *out, bool right,
                const KeyOf &keyOf) {
  auto key = [&](int64_t i) { return keyOf(v, i); };
  if (right)
    search(length, values, out, key,
           [&](int64_t i, const auto &wanted) { return !(wanted < keyOf(a, i)); });
  else
    search(length, values, out, key,
           [&](int64_t i, const auto &wanted) { return keyOf(a, i) < wanted; });
}

/// Complex numbers, by their parts as the CPU compares them: the sorted ones with a NaN come last,
/// and values with one are looked up by their keys.
template <typename U>
void searchNumbers(const U *a, int64_t length, const U *v, int64_t values, int64_t *out,
                   bool right) {
  using R = Element<Order<U, KeyKind::Float>, U>;
  struct Number {
    R re, im;
    bool isNan() const { return re != re || im != im; }
    bool isBefore(const Number &other) const {
      return (re < other.re) | ((re == other.re) & (im < other.im));
    }
  };
  const auto *sorted = reinterpret_cast<const Number *>(a);
  const auto *wanted = reinterpret_cast<const Number *>(v);
  const int64_t numbers =
      std::partition_point(sorted, sorted + length, [](const Number &z) { return !z.isNan(); }) -
      sorted;
  auto key = [&](int64_t i) { return wanted[i]; };
  if (right)
    search(numbers, values, out, key,
           [&](int64_t i, const Number &z) { return !z.isBefore(sorted[i]); });
  else
    search(numbers, values, out, key,
           [&](int64_t i, const Number &z) { return sorted[i].isBefore(z); });
  auto keyOf = [](const U *x, int64_t i) { return ComplexKey<U>::of(x + 2 * i); };
  for (int64_t i = 0; i < values; ++i)
    if (wanted[i].isNan())
      searchKeys(a, length, v + 2 * i, 1, out + i, right, keyOf);
}

} // namespace

Status searchsorted(const Call &call) {
  int64_t length = call.operands[0].shape[0], values = call.operands[1].shape[0];
  bool right = call.params[0] != 0;
  auto *out = static_cast<int64_t *>(call.result.data);
  DType dtype = call.operands[0].dtype;
  return withOrder(dtype, [&](auto order, auto word) -> Status {
    using O = decltype(order);
    using U = decltype(word);
    const void *a = call.operands[0].data, *v = call.operands[1].data;
    auto among = [&](const auto &keyOf) {
      searchKeys(static_cast<const U *>(a), length, static_cast<const U *>(v), values, out, right,
                 keyOf);
    };
    if constexpr (!O::isFloat || sizeof(U) >= 4) {
      using T = Element<O, U>;
      if (!isComplex(dtype))
        searchElements(static_cast<const T *>(a), length, static_cast<const T *>(v), values, out,
                       right);
      else if constexpr (O::isFloat)
        searchNumbers(static_cast<const U *>(a), length, static_cast<const U *>(v), values, out,
                      right);
    } else {
      among([](const U *x, int64_t i) { return O::toEqualKey(x[i]); });
    }
    return Status::ok();
  });
}

} // namespace graphc::rt::library
