//===- OneFunction.h - Calls written out ------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_IMPORT_ONEFUNCTION_H
#define GRAPHC_COMPILER_IMPORT_ONEFUNCTION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace graphc {

/// Replaces calls by what the called functions compute, and removes private functions. Fails with a
/// diagnostic at the call when it is recursive or of a function without a body.
mlir::LogicalResult writeOutCalls(mlir::ModuleOp module);

/// A program is one public function; stages of several can be looked at, though.
mlir::LogicalResult requireOneFunction(mlir::ModuleOp module);

} // namespace graphc

#endif // GRAPHC_COMPILER_IMPORT_ONEFUNCTION_H
