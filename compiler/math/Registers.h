//===- Registers.h - Operations that only whole registers have --------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_REGISTERS_H
#define GRAPHC_COMPILER_MATH_REGISTERS_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace graphc::math {

/// Bits of a register of AVX-512.
inline constexpr int64_t kRegisterBits = 512;

/// AVX-512's masked operation `name` on vectors of floats that fill registers, one by one: all
/// lanes run, rounding is the mode's. `how` is its immediate, if it has one.
mlir::Value onRegisters(mlir::OpBuilder &ops, mlir::Location loc, llvm::StringRef name,
                        mlir::Value x, mlir::Value y, std::optional<int64_t> how = std::nullopt);

/// Whether any lane of a mask holds; `byRegister`: masks that compare floats of several registers
/// are put together one by one, as comparisons leave them, not to a longer one. (Of integers LLVM
/// makes minima then, whose operands what is seldom keeps on the stack.)
mlir::Value anyLane(mlir::OpBuilder &ops, mlir::Location loc, mlir::Value mask, bool byRegister);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_REGISTERS_H
