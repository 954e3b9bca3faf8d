//===- WhereChosen.h - What results that a mask chooses have met ------------------------------===//
//
// Elements that the mask of `ufunc(x, out=..., where=mask)` leaves out are computed too: what they
// meet is nobody's error.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_WHERECHOSEN_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_WHERECHOSEN_H

#include "frontends/python/bindings/Bindings.h"

#include <functional>
#include <span>

namespace graphc::py {

/// Results of one or two operands, of which an array is of floats, by `call`, for an output where a
/// mask chooses them; null where they are unlike it. Raises what `call` does.
pb::object resultWhereChosen(const std::function<PyObject *(PyObject *const *)> &call,
                             const Array &mask, std::span<PyObject *const> args,
                             const Array &target);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_WHERECHOSEN_H
