#include "compiler/passes/Passes.h"
#include "dialects/graph/Graph.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace graphc::pass {
#define GEN_PASS_DEF_VERIFYPHASE
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

struct VerifyPhase : pass::impl::VerifyPhaseBase<VerifyPhase> {
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    bool (*legal)(Operation *) = nullptr;
    if (phase == "graph")
      legal = graphPhase;
    else if (phase == "kernel" || phase == "schedule")
      legal = kernelPhase;
    else if (phase == "plan")
      legal = planPhase;
    else if (phase == "lower")
      legal = lowerPhase;
    if (!legal) {
      getOperation().emitError("unknown phase '") << phase << "'";
      return signalPassFailure();
    }
    WalkResult walked = getOperation().walk([&](Operation *op) {
      bool scheduled =
          phase != "schedule" || !isa<kernel::FuncOp>(op) || cast<kernel::FuncOp>(op).getSchedule();
      if (isa<ModuleOp>(op) || (legal(op) && scheduled))
        return WalkResult::advance();
      op->emitOpError("does not belong after phase '") << phase << "'";
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  static bool indexArithmetic(Operation *op) {
    return isa<arith::ArithDialect>(op->getDialect()) && op->getNumResults() == 1 &&
           op->getResult(0).getType().isIndex();
  }
  static bool graphPhase(Operation *op) {
    return isa<func::FuncOp, func::ReturnOp>(op) || isa<graph::GraphDialect>(op->getDialect()) ||
           indexArithmetic(op);
  }
  static bool kernelPhase(Operation *op) {
    if (isa<func::FuncOp, func::ReturnOp>(op) || isa<kernel::KernelDialect>(op->getDialect()))
      return true;
    if (op->getParentOfType<kernel::FuncOp>())
      return op->hasTrait<graph::Elementwise>() || isa<arith::ConstantOp>(op);
    return isa<graph::ReshapeOp, graph::DimOp>(op) || op->hasTrait<graph::Library>() ||
           indexArithmetic(op);
  }
  static bool planPhase(Operation *op) {
    if (isa<plan::PlanDialect>(op->getDialect()) || indexArithmetic(op))
      return true;
    return kernelPhase(op) &&
           (isa<kernel::FuncOp, kernel::SortOp, kernel::SearchOp, kernel::CorrelateOp>(op) ||
            op->getParentOfType<kernel::FuncOp>());
  }
  static bool lowerPhase(Operation *op) {
    if (isa<plan::PlanDialect>(op->getDialect()) || isa<LLVM::CallIntrinsicOp>(op))
      return true;
    return isa<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect, math::MathDialect,
               memref::MemRefDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>(
        op->getDialect());
  }
};

} // namespace
