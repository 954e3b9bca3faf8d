//===- ScalarErrors.h - Floating-point errors of operators on single results ------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_SCALARERRORS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_SCALARERRORS_H

#include "frontends/record/Ops.h"

#include <cstdint>

namespace graphc::py {

/// RecordScope::errors() of an operator whose operands are all single: NumPy calls it "scalar add"
/// and the like. Inside a scope; its own name, where the user's place has one, stays.
uint32_t errorsOfScalars(op::OpKind kind);
/// Tells that an operator on single integers overflows; throws what the user's modes raise.
void tellOverflow(op::OpKind kind);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_SCALARERRORS_H
