#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/LoopSpace.h"
#include "dialects/kernel/Kernel.h"

namespace graphc::pass {
#define GEN_PASS_DEF_ASSIGNSCHEDULES
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

namespace {

/// Picoseconds an element costs on one core: vector throughput of a simple op, of an expensive one,
/// and of memory.
constexpr int64_t kSimplePs = 60, kExpensivePs = 900, kBytePs = 80;

/// The same for a byte of what a tile of a matrix product multiplies and adds.
constexpr int64_t kMultiplyAddPs = 4;

/// Up to here a body is bound by its loads and stores.
constexpr int64_t kLongChainPs = 1500;
constexpr int64_t kMostLanes = 64;
/// A block of this many vectors of this many lanes is turned in registers.
constexpr int64_t kMostTurnedLanes = 16;

/// From so many remainders on a body is one chain of dependent float operations (math/Residues.h),
/// which only many vectors side by side hide.
constexpr int64_t kRemainderChain = 3;

int64_t bytesOf(Type type) { return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8); }

struct AssignSchedules : pass::impl::AssignSchedulesBase<AssignSchedules> {
  using AssignSchedulesBase::AssignSchedulesBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      func.setScheduleAttr(scheduleOf(func));
  }

  static Family familyOf(kernel::FuncOp func) {
    int64_t dims = func.getNumDims(), parallel = func.getDomain().getParallel();
    if (parallel == dims)
      return Family::Map;
    Family family = parallel == 0 ? Family::Full : Family::Rows;
    func.getBody().walk([&](Operation *op) {
      if (isa<kernel::DotOp>(op))
        family = Family::Contract;
      else if (auto reduce = dyn_cast<kernel::ReduceOp>(op); reduce && reduce.getRowTree())
        family = Family::Columns;
    });
    return family;
  }

  /// Lanes of the type that is summed. The cost is that of one multiplication and addition: tiles
  /// of registers keep the core busy with them, products with a vector wait for memory.
  kernel::ScheduleAttr contractSchedule(kernel::FuncOp func) {
    int64_t bytes = 1;
    func.getBody().walk([&](kernel::DotOp dot) { bytes = bytesOf(dot.getType()); });
    int64_t vector = std::max<int64_t>(1, vectorBytes / bytes);
    bool panels = contractForm(func, LoopSpace(func), vector) == ContractForm::Panels;
    return kernel::ScheduleAttr::get(&getContext(), Family::Contract, vector,
                                     bytes * (panels ? kMultiplyAddPs : kBytePs));
  }

  static bool isIntegerRemainder(Operation *op) {
    return isa<graph::RemainderOp>(op) && isa<IntegerType>(op->getResult(0).getType());
  }

  kernel::ScheduleAttr scheduleOf(kernel::FuncOp func) {
    int64_t widest = 1, cost = 0, expensive = 0, remainders = 0;
    func.getBody().walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (type.isIntOrFloat())
          widest = std::max(widest, bytesOf(type));
      if (isa<kernel::LoadOp, kernel::StoreOp>(op))
        cost += kBytePs * bytesOf(op->getNumResults() ? op->getResult(0).getType()
                                                      : op->getOperand(0).getType());
      else if (op->hasTrait<graph::Expensive>())
        cost += kExpensivePs, ++expensive, remainders += isIntegerRemainder(op);
      else
        cost += kSimplePs;
    });
    Family family = familyOf(func);
    if (family == Family::Contract && vectorBytes > 0)
      return contractSchedule(func);
    int64_t vector = 1;
    if (vectorBytes > 0) {
      // Native vectors of the widest type: as many as keep the loads or the arithmetic busy without
      // spilling. A plain reduction of everything holds a whole row of the tree in registers; long
      // chains get a few, which the core overlaps.
      int64_t native = std::max<int64_t>(1, vectorBytes / widest);
      int64_t registers = vectorBytes >= 64 ? 32 : 16;
      int64_t vectors = 1;
      if (family == Family::Map && turnedLoop(func, LoopSpace(func)))
        native = std::min(native, kMostTurnedLanes);
      else if (family == Family::Map)
        vectors = remainders >= kRemainderChain ? 8
                  : expensive > 0               ? 4
                  : cost < kLongChainPs         ? 2
                                                : 1;
      else if (family == Family::Full)
        vectors = expensive > 0 ? 2 : cost < kLongChainPs ? registers / 2 : 4;
      else
        vectors = expensive > 0 ? 2 : 4;
      vector = std::min(native * vectors, family == Family::Full ? kTreeLanes : kMostLanes);
    }
    return kernel::ScheduleAttr::get(&getContext(), family, vector, std::max<int64_t>(cost, 1));
  }
};

} // namespace
