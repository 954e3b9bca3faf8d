// Values as Python's lists of numbers.
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_LISTS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_LISTS_H

#include "frontends/python/bindings/Bindings.h"

#include <span>

namespace graphc::py {

/// Of more elements NumPy makes lists.
inline constexpr int64_t kFewListed = 256;
/// Nested lists of what lies at `data`, by strides in elements; null for an error of Python's.
PyObject *listOf(const char *data, std::span<const int64_t> shape, std::span<const int64_t> strides,
                 DType t);
/// The same of the values of an array that are computed and few; null, without an error, where
/// anything has to be done first.
PyObject *listNow(const Array &x);

} // namespace graphc::py

#endif
