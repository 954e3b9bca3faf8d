//===- Search.cpp - searchsorted --------------------------------------------------------------===//
#include "runtime/library/Order.h"
#include "runtime/library/Parallel.h"
#include "runtime/library/Routines.h"

namespace graphc::rt::library {
namespace {

/// Values that one thread looks up at a time.
constexpr int64_t kChunk = 4096;

/// Where values belong among `length` sorted ones; `before(i, key)` says whether the i-th of those
/// comes before a key.
template <typename KeyOf, typename Before>
void search(int64_t length, int64_t values, int64_t *out, const KeyOf &keyOf,
            const Before &before) {
  parallelFor(values, kChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto key = keyOf(i);
      // Without a branch: the halves of a search are as good as random.
      int64_t first = 0, count = length;
      while (count > 0) {
        int64_t half = count / 2;
        bool after = before(first + half, key);
        first = after ? first + half + 1 : first;
        count = after ? count - half - 1 : half;
      }
      out[i] = first;
    }
  });
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
    const auto *a = static_cast<const U *>(call.operands[0].data);
    const auto *v = static_cast<const U *>(call.operands[1].data);
    auto among = [&](const auto &keyOf) {
      search(
          length, values, out, [&](int64_t i) { return keyOf(v, i); },
          [&](int64_t i, auto key) {
            auto other = keyOf(a, i);
            return right ? !(key < other) : other < key;
          });
    };
    if constexpr (O::isFloat && sizeof(U) >= 4)
      if (isComplex(dtype)) {
        among([](const U *x, int64_t i) { return ComplexKey<U>::of(x + 2 * i); });
        return Status::ok();
      }
    among([](const U *x, int64_t i) { return O::toEqualKey(x[i]); });
    return Status::ok();
  });
}

} // namespace graphc::rt::library
