#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_DISCARDED_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_DISCARDED_H

#include "frontends/python/bindings/Bindings.h"

namespace graphc::py {

/// warnOfDiscarded() of what an array of `to` is filled with: a complex number becomes its real
/// part. One of Python's own, of no dtype, is a TypeError.
void discardImaginary(Operand &value, DType to);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_DISCARDED_H
