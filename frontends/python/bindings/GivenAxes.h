//===- GivenAxes.h - Integers and axes that arguments name (Convert.cpp) ----------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIVENAXES_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIVENAXES_H

#include "frontends/python/bindings/Bindings.h"

namespace graphc::py {

/// An integer, or what stands for one: TypeError and OverflowError as Python's.
int64_t toInt(pb::handle object);
/// None or an integer.
std::optional<int64_t> toAxis(pb::handle object);
/// One axis of an array of so many; axes 0 and -1 of a 0-d array, which NumPy takes, are none.
Axes axesOf(int64_t axis, int64_t rank);
/// None, an integer as `axesOf`, or a tuple, which names none of a 0-d array's; raises TypeError
/// for lists, which NumPy does not take there.
Axes toAxesOf(pb::handle object, int64_t rank);
/// The axes of a reduction: means take none of a 0-d array, places no tuple.
Axes toReducedAxes(pb::handle object, op::ReduceKind kind, int64_t rank);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIVENAXES_H
