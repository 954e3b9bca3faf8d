#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/core/CoreLowering.h"
#include "compiler/passes/lower/group/GroupCorrelate.h"
#include "compiler/passes/lower/group/GroupLowering.h"
#include "compiler/passes/lower/group/GroupSort.h"

namespace graphc::pass {
#define GEN_PASS_DEF_LOWERKERNELS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

void lowerKernel(kernel::FuncOp kernel, OpBuilder &module, bool straightFolds) {
  if (kernel.getSchedule()->getGroup())
    GroupLowering(kernel, module, straightFolds).run();
  else
    CoreLowering(kernel, module, straightFolds).run();
}

struct LowerKernels : pass::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    bool updates = false;
    for (auto kernel : getOperation().getOps<kernel::FuncOp>())
      kernel.getBody().walk([&](kernel::ScatterOp) { updates = checksAlone; });
    constexpr int64_t kFew = 16;
    bool areFew = llvm::range_size(getOperation().getOps<kernel::FuncOp>()) <= kFew;
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>())) {
      if (!kernel.getSchedule()) {
        kernel.emitOpError("has no schedule");
        return signalPassFailure();
      }
      OpBuilder builder(kernel);
      if (areFew)
        kernel->setAttr(kOfFewAttr, builder.getUnitAttr());
      if (readsAhead)
        kernel->setAttr(kReadsAheadAttr, builder.getI64IntegerAttr(bytesAhead));
      if (gathers)
        kernel->setAttr(kGathersAttr, builder.getUnitAttr());
      if (updates)
        kernel->setAttr(kChecksAloneAttr, builder.getUnitAttr());
      lowerKernel(kernel, builder, straightFolds);
      kernel.erase();
    }
    for (auto sort : llvm::make_early_inc_range(getOperation().getOps<kernel::SortOp>())) {
      lowerGroupSort(sort);
      sort.erase();
    }
    for (auto search : llvm::make_early_inc_range(getOperation().getOps<kernel::SearchOp>())) {
      lowerGroupSearch(search);
      search.erase();
    }
    for (auto correlate :
         llvm::make_early_inc_range(getOperation().getOps<kernel::CorrelateOp>())) {
      lowerGroupCorrelate(correlate);
      correlate.erase();
    }
  }
};

} // namespace
