#include "frontends/record/IndexChecks.h"

#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"
#include "runtime/drivers/Choice.h"
#include "runtime/library/Extremes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace graphc::ops {
namespace {

using strings::format;

/// Known indices up to this many are checked when they are recorded, whoever catches an error.
constexpr int64_t kCheckedAtOnce = 1 << 16;

Status outside(int64_t index, int64_t axis, int64_t size) {
  return Status(ErrorCode::Index,
                format("index {} is out of bounds for axis {} with size {}", index, axis, size));
}

/// The first that is not in [low, high).
template <typename T>
std::optional<int64_t> firstOutside(const void *data, int64_t count, int64_t low, int64_t high) {
  const T *values = static_cast<const T *>(data);
  auto isOutside = [&](T value) {
    return std::cmp_less(value, low) || std::cmp_greater_equal(value, high);
  };
  if (count == 0)
    return std::nullopt;
  auto [least, most] = rt::library::extremesOf(values, count);
  if (!isOutside(least) && !isOutside(most))
    return std::nullopt;
  return static_cast<int64_t>(*std::find_if(values, values + count, isOutside));
}

/// Whether the host has the values already.
bool isHere(const NodeRef &n) {
  return n->state() == NodeState::Ready && n->buffer()->host() && mayBeOnHost(n->device());
}

int64_t countOf(const NodeRef &n) { return n->bytes() / itemSize(n->dtype()); }

/// Whether they are few enough to look at in any case.
bool isKnown(const NodeRef &n) { return isHere(n) && countOf(n) <= kCheckedAtOnce; }

/// The first of `count` indices at `data` that is not in [low, high).
std::optional<int64_t> firstOutside(const void *data, DType dtype, int64_t count, int64_t low,
                                    int64_t high) {
  switch (dtype) {
  case DType::Int8:
    return firstOutside<int8_t>(data, count, low, high);
  case DType::Int16:
    return firstOutside<int16_t>(data, count, low, high);
  case DType::Int32:
    return firstOutside<int32_t>(data, count, low, high);
  case DType::Int64:
    return firstOutside<int64_t>(data, count, low, high);
  case DType::UInt8:
    return firstOutside<uint8_t>(data, count, low, high);
  case DType::UInt16:
    return firstOutside<uint16_t>(data, count, low, high);
  case DType::UInt32:
    return firstOutside<uint32_t>(data, count, low, high);
  case DType::UInt64:
    return firstOutside<uint64_t>(data, count, low, high);
  default:
    return std::nullopt;
  }
}

/// What a node has computed, in memory that the host reads: its own, wherever that is (values that
/// are too large for a device stay beside it), or a copy.
Result<const void *> valuesOf(const NodeRef &n, std::vector<std::byte> &copy) {
  rt::Buffer &buffer = *n->buffer();
  rt::Queue &queue = buffer.device().queue();
  if (const void *here = rt::hostAddress(buffer)) {
    GRAPHC_TRY(queue.finish());
    return here;
  }
  copy.resize(static_cast<size_t>(n->bytes()));
  GRAPHC_TRY(queue.download(copy.data(), buffer, n->bytes()));
  return static_cast<const void *>(copy.data());
}

/// Computes them first.
Status checkAll(const NodeRef &index, int64_t axis, int64_t size) {
  std::vector<std::byte> copy;
  GRAPHC_TRY(evaluate({&index, 1}, "index"));
  GRAPHC_ASSIGN(const void *values, valuesOf(index, copy));
  auto bad = firstOutside(values, index->dtype(), countOf(index), -size, size);
  return bad ? outside(*bad, axis, size) : Status::ok();
}

} // namespace

Status checkIndex(const NodeRef &index, int64_t axis, int64_t size) {
  const int64_t count = countOf(index);
  // Nothing is inside an axis without elements.
  if (size == 0 && count > 0 && !isKnown(index))
    return outside(0, axis, 0);
  if (isKnown(index)) {
    auto bad = firstOutside(index->buffer()->host(), index->dtype(), count, -size, size);
    return bad ? outside(*bad, axis, size) : Status::ok();
  }
  return count > 0 && catchesIndexErrors(index->device()) ? checkAll(index, axis, size)
                                                          : Status::ok();
}

Status checkUnmet(const NodeRef &index, int64_t axis, int64_t size) {
  if (Trace::active() || !index->device().info().hostVisible)
    return Status::ok();
  return checkAll(index, axis, size);
}

bool areInside(const Array &index, int64_t low, int64_t high) {
  RecordScope scope;
  if (index.isOpen() || index.known() || !isInteger(index.dtype()))
    return false;
  auto n = index.value();
  return n && isKnown(*n) &&
         !firstOutside((*n)->buffer()->host(), (*n)->dtype(), countOf(*n), low, high);
}

} // namespace graphc::ops
