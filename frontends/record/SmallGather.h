//===- SmallGather.h - Reading views of host memory line by line ------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLGATHER_H
#define GRAPHC_FRONTENDS_RECORD_SMALLGATHER_H

#include "runtime/base/Shape.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

namespace graphc::small {

/// The fewest axes that walk the same elements in the same order: none of one element, and no two
/// neighbours that one step walks.
void joinAxes(std::span<const int64_t> shape, std::span<const int64_t> strides, Shape &sizes,
              Shape &steps);

template <typename S, typename T>
T *gatherLongLines(const S *from, int64_t rows, int64_t down, int64_t columns, int64_t across,
                   T *to) {
  for (int64_t i = 0; i < rows; ++i) {
    const S *line = from + i * down;
    T *out = to + i * columns;
    if (across == 0)
      std::fill_n(out, columns, static_cast<T>(*line));
    else if (across == 1)
      for (int64_t k = 0; k < columns; ++k)
        out[k] = static_cast<T>(line[k]);
    else if (across == 2) // steps that the compiler knows it walks in vectors
      for (int64_t k = 0; k < columns; ++k)
        out[k] = static_cast<T>(line[k * 2]);
    else if (across == -1)
      for (int64_t k = 0; k < columns; ++k)
        out[k] = static_cast<T>(line[-k]);
    else
      for (int64_t k = 0; k < columns; ++k)
        out[k] = static_cast<T>(line[k * across]);
  }
  return to + rows * columns;
}

/// Lines of a few elements, whose number the compiler knows: a loop over them costs more than they
/// do.
template <int64_t columns, typename S, typename T>
void gatherShortLines(const S *from, int64_t rows, int64_t down, int64_t across, T *to) {
  for (int64_t i = 0; i < rows; ++i, from += down, to += columns)
    for (int64_t k = 0; k < columns; ++k)
      to[k] = static_cast<T>(from[k * across]);
}

/// Appends `rows` lines of `columns` elements each, converted.
template <typename S, typename T>
T *gatherPlane(const S *from, int64_t rows, int64_t down, int64_t columns, int64_t across, T *to) {
  constexpr int64_t kShort = 7;
  if (rows <= columns || columns == 0 || columns > kShort)
    return gatherLongLines(from, rows, down, columns, across, to);
  auto gatherThese = [&]<int64_t length>(std::integral_constant<int64_t, length>) {
    if (columns == length)
      gatherShortLines<length>(from, rows, down, across, to);
  };
  [&]<int64_t... below>(std::integer_sequence<int64_t, below...>) {
    (gatherThese(std::integral_constant<int64_t, below + 1>()), ...);
  }(std::make_integer_sequence<int64_t, kShort>());
  return to + rows * columns;
}

/// Appends the elements of a view in row-major order, converted.
template <typename S, typename T>
T *gatherLines(const S *from, std::span<const int64_t> shape, std::span<const int64_t> strides,
               T *to) {
  if (shape.size() > 2) {
    for (int64_t i = 0; i < shape[0]; ++i)
      to = gatherLines(from + i * strides[0], shape.subspan(1), strides.subspan(1), to);
    return to;
  }
  const size_t last = shape.size() - 1;
  const bool isPlane = shape.size() == 2;
  return gatherPlane(from, isPlane ? shape[0] : 1, isPlane ? strides[0] : 0,
                     shape.empty() ? 1 : shape[last], shape.empty() ? 0 : strides[last], to);
}

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLGATHER_H
