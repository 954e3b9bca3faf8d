//===- ArrayKeys.h - Keys of arrays alone, in loops over small arrays -------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_ARRAYKEYS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_ARRAYKEYS_H

#include "frontends/python/bindings/Bindings.h"
#include "frontends/record/Known.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"

#include <array>
#include <optional>

namespace graphc::py {

/// x[array, array]: arrays of integers, one an axis, name elements of the flattened x, in a loop
/// over small arrays.
struct PlacesKey {
  std::optional<Array> flat, places;

  PlacesKey(const Array &x, PyObject *key) {
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != x.rank() || x.rank() < 2 ||
        x.rank() > 4 || !isPlaces(PyTuple_GET_ITEM(key, 0)) || isBetterRecorded(x, key) ||
        x.isValue() || Trace::active() || !x.view().isContiguous())
      return;
    std::array<Array, 4> indices;
    const auto count = static_cast<size_t>(x.rank());
    for (size_t i = 0; i < count; ++i) {
      PyObject *item = PyTuple_GET_ITEM(key, static_cast<Py_ssize_t>(i));
      if (!isPlaces(item) || &asAnyArray(item)->device() != &x.device())
        return;
      indices[i] = *asAnyArray(item);
    }
    Array found = unwrap(ops::flatPlacesNow({indices.data(), count}, x.shape()));
    if (found.isNull())
      return;
    places = std::move(found);
    flat = unwrap(ops::reshape(x, Shape{x.size()}));
  }

private:
  /// Whether arrays of several axes name elements of an array that is not copied for a few writes.
  static bool isBetterRecorded(const Array &x, PyObject *key) {
    constexpr int64_t kMost = 256 << 10;
    if (x.size() * itemSize(x.dtype()) <= kMost)
      return false;
    for (Py_ssize_t i = 0; i < x.rank(); ++i)
      if (const Array *index = asPlainArray(PyTuple_GET_ITEM(key, i)); !index || index->rank() != 1)
        return true;
    return false;
  }
  static bool isPlaces(PyObject *item) {
    const Array *index = asPlainArray(item);
    return index && index->rank() > 0 && isInteger(index->dtype());
  }
};

/// x[mask] of all axes of a small array: the same of both flattened, for which loops are made.
struct FlatMask {
  std::optional<Array> flat, mask;

  FlatMask(const Array &x, PyObject *key) {
    const Array *named = asAnyArray(key);
    if (!named || named->dtype() != DType::Bool || named->rank() < 2 || named->isOpen() ||
        x.isOpen() || x.size() > small::kFew || named->shape() != x.shape() || Trace::active() ||
        !x.view().isContiguous() || !named->view().isContiguous())
      return;
    flat = unwrap(ops::reshape(x, Shape{x.size()}));
    mask = unwrap(ops::reshape(*named, Shape{x.size()}));
  }
};

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_ARRAYKEYS_H
