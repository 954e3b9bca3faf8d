//===- Graph.h - The graph dialect ------------------------------------------------------------===//
#ifndef GRAPHC_DIALECTS_GRAPH_GRAPH_H
#define GRAPHC_DIALECTS_GRAPH_GRAPH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace graphc::graph {

/// Rule of every elementwise op: its operands have a dtype of the named class (DTypeClass in
/// GraphBase.td).
llvm::LogicalResult verifyOperandDTypes(mlir::Operation *op, llvm::StringRef dtypeClass);

/// What passes may ask of an op. See GraphBase.td.
template <typename Op>
class Elementwise : public mlir::OpTrait::TraitBase<Op, Elementwise> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyOperandDTypes(op, Op::kOperandDTypes);
  }
};
template <typename Op>
class Reduction : public mlir::OpTrait::TraitBase<Op, Reduction> {};
template <typename Op>
class Scan : public mlir::OpTrait::TraitBase<Op, Scan> {};
template <typename Op>
class Movement : public mlir::OpTrait::TraitBase<Op, Movement> {};
template <typename Op>
class Library : public mlir::OpTrait::TraitBase<Op, Library> {};
template <typename Op>
class Contraction : public mlir::OpTrait::TraitBase<Op, Contraction> {};
template <typename Op>
class Generator : public mlir::OpTrait::TraitBase<Op, Generator> {};
template <typename Op>
class Expensive : public mlir::OpTrait::TraitBase<Op, Expensive> {};
template <typename Op>
class Update : public mlir::OpTrait::TraitBase<Op, Update> {};
template <typename Op>
class Indexed : public mlir::OpTrait::TraitBase<Op, Indexed> {};

/// How the location of a gather or scatter is named when the recorder numbers them: prefix, number.
inline constexpr const char *kPlacePrefix = "place:";

/// Operands of a random op that are ui64 words: index, stream, key. The others are f64 parameters.
inline constexpr size_t kRandomWords = 3;

/// i1 with the shape of a tensor, vector or scalar type.
mlir::Type boolLike(mlir::Type type);
/// The type of one part of a complex type, of tensors and vectors likewise; others as they are.
mlir::Type realLike(mlir::Type type);
/// The complex type of two parts of a type.
mlir::Type complexLike(mlir::Type type);
/// Element type of a tensor or vector; a scalar type itself.
mlir::Type elementType(mlir::Type type);

} // namespace graphc::graph

#include "dialects/graph/GraphDialect.h.inc"
#include "dialects/graph/GraphEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.h.inc"

#endif // GRAPHC_DIALECTS_GRAPH_GRAPH_H
