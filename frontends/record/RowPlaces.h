//===- RowPlaces.h - Places of rows, looked at before they are used ---------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_ROWPLACES_H
#define GRAPHC_FRONTENDS_RECORD_ROWPLACES_H

#include "runtime/library/Extremes.h"

#include <cstdint>
#include <span>

namespace graphc::small {

/// Places among `count` rows, of which negative ones count from the end. They are read twice: first
/// to see whether all are inside, in vectors, so that nothing is asked of each place later.
class RowPlaces {
public:
  RowPlaces(std::span<const int64_t> places, int64_t count) : list(places), rows(count) {
    if (places.empty())
      return;
    const auto [least, most] =
        rt::library::extremesOf(places.data(), static_cast<int64_t>(places.size()));
    inside = least >= -rows && most < rows;
    isFromEnd = least < 0;
  }
  bool areInside() const { return inside; }
  /// Whether some count from the end.
  bool areFromEnd() const { return isFromEnd; }

  /// body(place) in order, counted from the first row; of places that are inside.
  template <typename Body>
  void forEach(Body body) const {
    if (isFromEnd)
      for (int64_t place : list)
        body(place < 0 ? place + rows : place);
    else
      for (int64_t place : list)
        body(place);
  }

private:
  std::span<const int64_t> list;
  int64_t rows;
  bool inside = true, isFromEnd = false;
};

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_ROWPLACES_H
