//===- Touches.h - What kernels touch of their operands, and whose memory that is -------------===//
#ifndef GRAPHC_COMPILER_PASSES_PLAN_TOUCHES_H
#define GRAPHC_COMPILER_PASSES_PLAN_TOUCHES_H

#include "dialects/kernel/Kernel.h"
#include "dialects/plan/Plan.h"

namespace graphc::pass {

/// The number of the size that is the extent of the outermost loop; nothing where that is an
/// expression, or there is no loop.
inline std::optional<unsigned> outermostSize(kernel::FuncOp func) {
  mlir::AffineMap extents = func.getDomain().getExtents();
  if (extents.getNumResults() == 0)
    return std::nullopt;
  auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(extents.getResult(0));
  return symbol ? std::optional<unsigned>(symbol.getPosition()) : std::nullopt;
}

/// Calls `touch` with the number of each operand that is touched, tensors first, then results, the
/// map, and whether some of its indices are values (of a gather or scatter).
inline void
forEachTouch(kernel::FuncOp func,
             llvm::function_ref<void(unsigned operand, mlir::AffineMap map, bool placed)> touch) {
  auto number = [](mlir::Value tensor) {
    return llvm::cast<mlir::BlockArgument>(tensor).getArgNumber();
  };
  unsigned tensors = func.getNumTensors();
  func.getBody().walk([&](mlir::Operation *op) {
    if (auto load = llvm::dyn_cast<kernel::LoadOp>(op))
      touch(number(load.getTensor()), load.getMap(), false);
    else if (auto gather = llvm::dyn_cast<kernel::GatherOp>(op))
      touch(number(gather.getTensor()), gather.getMap(), true);
    else if (auto store = llvm::dyn_cast<kernel::StoreOp>(op))
      touch(tensors + store.getResult(), store.getMap(), false);
    else if (auto scatter = llvm::dyn_cast<kernel::ScatterOp>(op))
      touch(tensors + scatter.getResult(), scatter.getMap(), true);
  });
}

/// Buffers of a program by memory: one that may begin in an input's is that input.
class BufferMemory {
public:
  explicit BufferMemory(plan::ProgramOp program) {
    for (auto alloc : program.getOps<plan::AllocOp>())
      if (alloc.getDonor())
        inputs[alloc.getBuffer()] = program.getBody().getArgument(*alloc.getDonor());
  }

  mlir::Value of(mlir::Value buffer) const {
    auto found = inputs.find(buffer);
    return found == inputs.end() ? buffer : found->second;
  }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> inputs;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_PLAN_TOUCHES_H
