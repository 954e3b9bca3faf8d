//===- HostStrips.h - Strips of values in host memory -----------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_HOSTSTRIPS_H
#define GRAPHC_FRONTENDS_RECORD_HOSTSTRIPS_H

#include "runtime/base/Shape.h"
#include "runtime/device/Device.h"

#include <functional>
#include <numeric>
#include <vector>

namespace graphc::pieces {

inline int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies());
}

inline size_t at(int64_t axis) { return static_cast<size_t>(axis); }

inline Shape withSize(const Shape &shape, int64_t axis, int64_t size) {
  Shape out = shape;
  out[at(axis)] = size;
  return out;
}

/// A value in host memory, read and written by strips.
struct HostValue {
  char *data;
  const Shape &shape;
  int64_t item;

  /// Copies elements [begin, end) along `axis`, whose outer axes make them several runs.
  template <typename Copy>
  void runs(int64_t axis, int64_t begin, int64_t end, Copy copy) const {
    std::span<const int64_t> sizes = shape;
    int64_t count = product(sizes.subspan(0, at(axis)));
    int64_t inner = product(sizes.subspan(at(axis) + 1)) * item;
    int64_t bytes = (end - begin) * inner;
    for (int64_t i = 0; i < count; ++i)
      copy(data + (i * sizes[at(axis)] + begin) * inner, i * bytes, bytes);
  }
  bool inOrder(int64_t axis) const {
    return product(std::span<const int64_t>(shape).subspan(0, at(axis))) == 1;
  }
};

/// Elements [begin, end) along `axis` to the beginning of a device's buffer, beside its queue, and
/// back. `station` is memory for those that do not lie in one piece, used until the return.
Status upload(rt::Buffer &to, const HostValue &from, int64_t axis, int64_t begin, int64_t end,
              std::vector<char> &station);
Status download(const HostValue &to, int64_t axis, int64_t begin, int64_t end, rt::Buffer &from,
                std::vector<char> &station);

} // namespace graphc::pieces

#endif // GRAPHC_FRONTENDS_RECORD_HOSTSTRIPS_H
