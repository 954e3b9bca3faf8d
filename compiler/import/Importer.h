//===- Importer.h - GraphDesc to the graph dialect --------------------------------------------===//
#ifndef GRAPHC_COMPILER_IMPORT_IMPORTER_H
#define GRAPHC_COMPILER_IMPORT_IMPORTER_H

#include "dialects/opset/GraphDesc.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace graphc {

/// A module with one function of the graph's name. A symbol that is the size of an input is read
/// from it; the others are trailing index arguments with the attribute `graph.symbol`. Equal
/// symbols of inputs are named by `graph.dims`. Arguments with `graph.start` begin slices: they
/// differ from each other, and from 0 and 1.
Result<mlir::OwningOpRef<mlir::ModuleOp>> importGraph(mlir::MLIRContext &context,
                                                      const op::GraphDesc &graph);

} // namespace graphc

#endif // GRAPHC_COMPILER_IMPORT_IMPORTER_H
