#include "frontends/record/Counts.h"

#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/Trace.h"
#include "runtime/library/Extremes.h"
#include "runtime/library/Parallel.h"

#include <mutex>
#include <vector>

namespace graphc {
namespace {

/// Longer results are recorded: they are no longer counts of elements that are there.
constexpr int64_t kMostCounts = int64_t{1} << 24;
/// Elements that a thread counts at least, into a table of its own of at most so many counts.
constexpr int64_t kChunk = int64_t{1} << 17, kOwnCounts = int64_t{1} << 13;

template <typename T>
void countInto(const T *values, int64_t size, int64_t *counts) {
  for (int64_t i = 0; i < size; ++i)
    ++counts[values[i]];
}

template <typename T>
void countAll(const T *values, int64_t size, int64_t *counts, int64_t length) {
  if (size <= kChunk || length > kOwnCounts)
    return countInto(values, size, counts);
  std::mutex mutex;
  rt::library::parallelFor(size, kChunk, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> own(static_cast<size_t>(length));
    countInto(values + begin, end - begin, own.data());
    std::lock_guard lock(mutex);
    for (int64_t i = 0; i < length; ++i)
      counts[i] += own[static_cast<size_t>(i)];
  });
}

template <typename T>
Result<NodeRef> countsOf(const T *values, int64_t size, int64_t length, rt::Device &device) {
  auto [least, most] = rt::library::extremesOf(values, size);
  if (std::cmp_less(least, 0) || std::cmp_greater_equal(most, kMostCounts) || length > kMostCounts)
    return NodeRef();
  length = std::max(length, static_cast<int64_t>(most) + 1);
  GRAPHC_ASSIGN(NodeRef out, small::makeNode(DType::Int64, {length}, device));
  auto *counts = small::dataOf<int64_t>(out);
  std::fill_n(counts, length, 0);
  countAll(values, size, counts, length);
  return out;
}

} // namespace

Result<NodeRef> countsNow(const Array &x, int64_t least) {
  rt::Device &device = x.device();
  if (Trace::active() || !mayBeOnHost(device) || x.size() == 0)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef n, x.value());
  GRAPHC_TRY(evaluate({&n, 1}, "mask"));
  const char *data = whereRead(*n, n->bytes());
  if (!data)
    return NodeRef();
  auto of = [&]<typename T>(T) {
    return countsOf(reinterpret_cast<const T *>(data), x.size(), least, device);
  };
  switch (n->dtype()) {
  case DType::Int8:
    return of(int8_t{});
  case DType::Int16:
    return of(int16_t{});
  case DType::Int32:
    return of(int32_t{});
  case DType::Int64:
    return of(int64_t{});
  case DType::UInt8:
    return of(uint8_t{});
  case DType::UInt16:
    return of(uint16_t{});
  case DType::UInt32:
    return of(uint32_t{});
  case DType::UInt64:
    return of(uint64_t{});
  default:
    return NodeRef();
  }
}

} // namespace graphc
