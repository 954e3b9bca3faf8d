//===- Search.cpp - searchsorted --------------------------------------------------------------===//
#include "runtime/library/Order.h"
#include "runtime/library/Parallel.h"
#include "runtime/library/Routines.h"

namespace graphc::rt::library {
namespace {

/// Values that one thread looks up at a time.
constexpr int64_t kChunk = 4096;

} // namespace

Status searchsorted(const Call &call) {
  int64_t length = call.operands[0].shape[0], values = call.operands[1].shape[0];
  bool right = call.params[0] != 0;
  auto *out = static_cast<int64_t *>(call.result.data);
  return withOrder(call.operands[0].dtype, [&](auto order, auto word) -> Status {
    using O = decltype(order);
    using U = decltype(word);
    const auto *a = static_cast<const U *>(call.operands[0].data);
    const auto *v = static_cast<const U *>(call.operands[1].data);
    parallelFor(values, kChunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        U key = O::toEqualKey(v[i]);
        // Without a branch: the halves of a search are as good as random.
        int64_t first = 0, count = length;
        while (count > 0) {
          int64_t half = count / 2;
          U other = O::toEqualKey(a[first + half]);
          bool after = right ? other <= key : other < key;
          first = after ? first + half + 1 : first;
          count = after ? count - half - 1 : half;
        }
        out[i] = first;
      }
    });
    return Status::ok();
  });
}

} // namespace graphc::rt::library
