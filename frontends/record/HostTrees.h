//===- HostTrees.h - The trees of docs/numerics.md in host memory -----------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_HOSTTREES_H
#define GRAPHC_FRONTENDS_RECORD_HOSTTREES_H

#include "frontends/record/SmallElements.h"

#include <algorithm>
#include <array>

namespace graphc::small {

/// An operation that folds numbers of any type.
template <typename T>
T folded(op::OpKind kind, T a, T b) {
  return *hostmath::folded(kind, a, b);
}

/// The fold of 2 * Half lanes.
template <int64_t Half, typename T, typename F>
[[gnu::always_inline]] inline T foldAll(T *lanes, F combine) {
  for (int64_t lane = 0; lane < Half; ++lane)
    lanes[lane] = combine(lanes[lane], lanes[lane + Half]);
  if constexpr (Half > 1)
    return foldAll<Half / 2>(lanes, combine);
  else
    return lanes[0];
}

/// The fold of more than Half and at most 2 * Half lanes, in loops whose lengths are known.
template <int64_t Half, typename T, typename F>
[[gnu::always_inline]] inline T foldSome(const T *x, int64_t count, F combine) {
  std::array<T, Half> lanes;
  const int64_t both = count - Half;
  if (both == Half)
    for (int64_t lane = 0; lane < Half; ++lane)
      lanes[static_cast<size_t>(lane)] = combine(x[lane], x[lane + Half]);
  else {
    std::copy_n(x, Half, lanes.data());
    for (int64_t lane = 0; lane < both; ++lane)
      lanes[static_cast<size_t>(lane)] = combine(lanes[static_cast<size_t>(lane)], x[lane + Half]);
  }
  if constexpr (Half > 1)
    return foldAll<Half / 2>(lanes.data(), combine);
  else
    return lanes[0];
}

/// The fold of at most 256 lanes.
template <int64_t Half = 128, typename T, typename F>
[[gnu::always_inline]] inline T foldLanes(const T *x, int64_t count, F combine) {
  if (count > Half)
    return foldSome<Half>(x, count, combine);
  if constexpr (Half > 1)
    return foldLanes<Half / 2>(x, count, combine);
  else
    return x[0];
}

/// Lanes of a lane tree, and elements of its blocks.
inline constexpr int64_t kLanes = 256, kLaneBlock = 32 * kLanes;

/// The fold of a block of more than `kLanes` elements, which a function gives, each once.
template <typename T, typename From, typename F>
[[gnu::always_inline]] inline T foldBlock(From from, int64_t count, F combine) {
  std::array<T, kLanes> lanes;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    lanes[static_cast<size_t>(lane)] = from(lane);
  constexpr int64_t kTogether = 4 * kLanes; // rows of lanes that are loaded and stored once
  int64_t row = kLanes;
  for (; row + kTogether <= count; row += kTogether)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t at = row + lane;
      T &kept = lanes[static_cast<size_t>(lane)];
      kept = combine(combine(kept, from(at)), from(at + kLanes));
      kept = combine(combine(kept, from(at + 2 * kLanes)), from(at + 3 * kLanes));
    }
  for (; row < count; row += kLanes)
    for (int64_t lane = 0; lane < std::min(kLanes, count - row); ++lane)
      lanes[static_cast<size_t>(lane)] =
          combine(lanes[static_cast<size_t>(lane)], from(row + lane));
  return foldLanes(lanes.data(), kLanes, combine);
}

/// Elements that lie beside each other: the lane tree.
template <typename T, typename F>
T laneTree(const T *x, int64_t count, F combine) {
  if (count > kLaneBlock) {
    Room<T> room;
    const int64_t blocks = (count + kLaneBlock - 1) / kLaneBlock;
    T *results = room.get(blocks);
    for (int64_t i = 0; i < blocks; ++i)
      results[i] =
          laneTree(x + i * kLaneBlock, std::min(kLaneBlock, count - i * kLaneBlock), combine);
    return laneTree(results, blocks, combine);
  }
  if (count <= kLanes)
    return foldLanes(x, count, combine);
  return foldBlock<T>([x](int64_t i) { return x[i]; }, count, combine);
}

/// Rows of `inner` elements: the row tree.
template <typename T, typename F>
void rowTree(const T *x, int64_t count, int64_t inner, T *out, F combine) {
  constexpr int64_t kRows = 32;
  if (count <= kRows) {
    std::copy_n(x, inner, out);
    for (int64_t row = 1; row < count; ++row)
      for (int64_t i = 0; i < inner; ++i)
        out[i] = combine(out[i], x[row * inner + i]);
    return;
  }
  int64_t blocks = (count + kRows - 1) / kRows;
  Room<T> room;
  T *results = room.get(blocks * inner);
  for (int64_t i = 0; i < blocks; ++i)
    rowTree(x + i * kRows * inner, std::min(kRows, count - i * kRows), inner, results + i * inner,
            combine);
  rowTree(results, blocks, inner, out, combine);
}

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_HOSTTREES_H
