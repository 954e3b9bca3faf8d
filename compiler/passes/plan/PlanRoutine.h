//===- PlanRoutine.h - The launches of a library routine --------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_PLAN_PLANROUTINE_H
#define GRAPHC_COMPILER_PASSES_PLAN_PLANROUTINE_H

#include "dialects/graph/Graph.h"

#include "mlir/IR/SymbolTable.h"

namespace graphc::pass {

/// A library step's tensors: buffers, and index values for their sizes.
struct RoutineBuffers {
  llvm::ArrayRef<mlir::Value> operands;
  llvm::ArrayRef<llvm::SmallVector<mlir::Value>> shapes; ///< of the operands
  mlir::Value result;
  llvm::ArrayRef<mlir::Value> resultShape;
};

/// Whether groups of work-items have kernels for a step (runtime/base/Routine.h), which the host's
/// library has otherwise.
bool runsByGroups(graph::LibraryOp step);

/// Adds the launches of such a step, and beside the program the operation that becomes their
/// functions: kernel.sort, kernel.search or kernel.correlate.
void planByGroups(mlir::OpBuilder &builder, mlir::SymbolTable &symbols, graph::LibraryOp step,
                  const RoutineBuffers &buffers);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_PLAN_PLANROUTINE_H
