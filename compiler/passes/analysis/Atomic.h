//===- Atomic.h - What memory combines in one step each ---------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_ANALYSIS_ATOMIC_H
#define GRAPHC_COMPILER_PASSES_ANALYSIS_ATOMIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

namespace graphc::pass {

/// The step by which the memory of a device combines integers of up to `atomicBits` bits, of points
/// that share a place in any order. What is subtracted is added by it: the caller negates.
inline std::optional<mlir::arith::AtomicRMWKind>
stepInAnyOrder(llvm::StringRef combine, mlir::Type element, int64_t atomicBits) {
  using Step = mlir::arith::AtomicRMWKind;
  auto type = llvm::dyn_cast<mlir::IntegerType>(element);
  if (!type || type.getWidth() < 32 || type.getWidth() > atomicBits)
    return std::nullopt;
  bool isUnsigned = type.isUnsigned();
  return llvm::StringSwitch<std::optional<Step>>(combine)
      .Cases({"add", "sub"}, Step::addi)
      .Case("maximum", isUnsigned ? Step::maxu : Step::maxs)
      .Case("minimum", isUnsigned ? Step::minu : Step::mins)
      .Case("bitwise_and", Step::andi)
      .Case("bitwise_or", Step::ori)
      .Case("bitwise_xor", Step::xori)
      .Default(std::nullopt);
}

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_ANALYSIS_ATOMIC_H
