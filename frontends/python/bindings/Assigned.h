//===- Assigned.h - What is assigned to elements, as NumPy converts it ------------------------===//
//
// A conversion between dtypes takes every number. NumPy takes less of what is assigned: sequences
// are arrays of the elements' dtype, whose integers have to fit, and a single number becomes an
// element of signed integers as one of Python's does, by its value.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_ASSIGNED_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_ASSIGNED_H

#include "frontends/python/bindings/Bindings.h"

namespace graphc::py {

/// What elements a key names: one, a part of the array that slices show, or those that arrays name.
enum class Target { Element, Part, Chosen };

/// `value`, or what NumPy makes of it, as something that a conversion to dtype `t` gives elements
/// of that value; raises NumPy's error where it does. Computes a single result that may not fit.
pb::object assigned(const pb::object &value, DType t, rt::Device &device, Target target);

/// Raises NumPy's error where a sequence has more levels than the part of `x` that slices show has
/// axes: arrays may have leading axes of one element, sequences may not.
void refuseDeeper(PyObject *value, const Array &x, std::span<const IndexItem> items);

/// x[part] = [numbers] of rows of as many elements that are written where they lie; false where it
/// is done otherwise.
bool isPutFromList(Array &x, std::span<const IndexItem> items, PyObject *value);

/// x[[integers], [integers]] = number or list of as many numbers, lists of places of all axes, in
/// place; false where it is done otherwise.
bool isPutAtLists(Array &x, PyObject *key, PyObject *value);

/// Raises NumPy's error where what has several axes is assigned to the elements that a single mask
/// of all axes chooses.
void refuseRows(PyObject *value, const Array &x, PyObject *key);

/// Whether no two elements of a view are one: each axis steps over all that the shorter steps
/// reach.
bool areDistinct(const View &view);

/// Whether a number of dtype `from` (an integer, float64: else false) is one of the integer dtype
/// `t` when its fraction is left out.
bool isInRange(uint64_t bits, DType from, DType t);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_ASSIGNED_H
