//===- Passes.h - Factories of all passes (generated from Passes.td) --------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_PASSES_H
#define GRAPHC_COMPILER_PASSES_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace graphc::pass {

#define GEN_PASS_DECL
#include "compiler/passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_PASSES_H
