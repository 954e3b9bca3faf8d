#include "compiler/passes/Passes.h"
#include "compiler/passes/analysis/Atomic.h"
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/KernelShape.h"
#include "compiler/passes/lower/Reducers.h"
#include "compiler/passes/lower/ScanShape.h"
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/schedule/StageOperands.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <numeric>

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
/// An element at a place that is a value.
constexpr int64_t kPlacePs = 1000;
constexpr int64_t kSimplePs = 60, kExpensivePs = 900, kBytePs = 80;
/// A body that moves more bytes a point reads neighbours or tables: the rest comes from a cache.
constexpr int64_t kStreamedBytes = 64, kCachedBytePs = 20;
/// From so many on it is a pass of a transform: what one core wrote another one reads, so that more
/// cores share less of the work than there is (16-point passes over 2^13 points take 5 us on one
/// core and 8 on two, over 2^15 27 and 20).
constexpr int64_t kManyBytes = 160, kSharedOpPs = 15, kSharedBytePs = 2;

/// The same for a byte of what a tile of a matrix product multiplies and adds.
constexpr int64_t kMultiplyAddPs = 4;

/// Up to here a body is bound by its loads and stores.
constexpr int64_t kLongChainPs = 1500;
constexpr int64_t kMostLanes = 64;
/// Lanes that are written one after the other.
constexpr int64_t kMostScatterLanes = 8;
/// A block of this many vectors of this many lanes is turned in registers.
constexpr int64_t kMostTurnedLanes = 16;

/// From so many remainders on a body is one chain of dependent float operations (math/Residues.h),
/// which only many vectors side by side hide.
constexpr int64_t kRemainderChain = 3;
/// Arithmetic of a point from which on a body has enough of it in itself for few vectors to keep a
/// core busy.
constexpr int64_t kLongBody = 16;
/// A program with more operations than that in kernels of reductions has one body for whole and
/// last vectors in all of them, and so many vectors of it at most (of columns, which may be few,
/// one): code that takes a tenth less time would be made for two or three times as long.
constexpr int64_t kManyReduced = 256, kVectorsOfMany = 2;
/// Half cycles of what a reduction keeps: it is read, changed and written.
constexpr int64_t kSum = 4;
/// Half cycles of a vector from which on its mask costs next to nothing; four in a map cost 5 %.
constexpr int64_t kMaskedBusy = 160;
/// Of one vector: half cycles that an operation keeps a port busy, and cycles until its result is
/// there. Divisions and roots are one instruction, other expensive ones many.
struct Effort {
  int64_t busy, delay;
};
constexpr Effort kSimple = {1, 4}, kLoad = {1, 5}, kStore = {2, 0}, kDivision = {32, 24},
                 kFunction = {48, 70};
/// Picoseconds of half a cycle, and of a byte that is in a cache: what one core needs for few
/// enough elements that sharing them out is a question.
constexpr int64_t kHalfCyclePs = 150, kNearBytePs = 4;
/// Values that an expensive op holds while it runs.
constexpr int64_t kExpensiveValues = 5;

/// Work-items of a group, and bytes that one reads or writes at once.
constexpr int64_t kGroup = 256, kItemBytes = 16;
/// Operations of a point that take longer than its memory: neighbours would only take registers,
/// and every strip of them is written again.
constexpr int64_t kManyOperations = 128;
/// Work-items of a group that has a tile of emit/device/ChainTile.h in float32, or a small one in
/// float64.
constexpr int64_t kTileGroup = 128;
/// Neighbouring lanes of a tree that a work-item of a group has.
constexpr int64_t kTreeVector = 4;
constexpr int64_t kBusyRowVector = 2;
/// Neighbouring columns of a work-item: fewer are more groups, whose waits overlap.
constexpr int64_t kColumnVector = 2;
/// The same where a reduction reads nothing but draws: 32 elements share all words of their
/// counters (docs/random.md). Their lanes are in local memory, so that groups are smaller.
constexpr int64_t kDrawVector = 32, kDrawGroup = 128;
/// Steps of a single chain that are repeated: each waits for the one before, and what they read for
/// memory.
constexpr int64_t kStepsTogether = 32;

/// Bytes of a value in a register: floats of 16 bits are computed in 32.
int64_t bytesOf(Type type) {
  return std::max<int64_t>(isa<FloatType>(type) ? 4 : 1, type.getIntOrFloatBitWidth() / 8);
}

struct AssignSchedules : pass::impl::AssignSchedulesBase<AssignSchedules> {
  using AssignSchedulesBase::AssignSchedulesBase;

  void runOnOperation() override {
    if (vectorBytes > 0 && !groups)
      stageTurnedOperands(getOperation());
    auto kernels = getOperation().getOps<kernel::FuncOp>();
    auto add = [](int64_t sum, kernel::FuncOp func) {
      bool reduces = func.getDomain().getParallel() != func.getNumDims();
      return sum + (reduces ? llvm::range_size(func.getBody().front()) : 0);
    };
    hasManyLong = std::accumulate(kernels.begin(), kernels.end(), int64_t{0}, add) > kManyReduced;
    for (auto func : kernels) {
      if (groups && combinesInAnyOrder(func))
        func->setAttr(kAtomicAttr, UnitAttr::get(&getContext()));
      if (groups && writesSorted(func))
        func->setAttr(kSortedAttr, UnitAttr::get(&getContext()));
      func.setScheduleAttr(scheduleOf(func));
    }
    markLastReads();
  }

  /// The program computes much in kernels of reductions.
  bool hasManyLong = false;

  /// Kernels may be called several times: all callers must agree.
  void markLastReads() {
    llvm::MapVector<kernel::FuncOp, SmallVector<bool>> last;
    getOperation().walk([&](kernel::CallOp call) {
      auto callee =
          SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(call, call.getCalleeAttr());
      auto [entry, isNew] = last.try_emplace(callee, call.getNumResults(), true);
      for (OpResult result : call.getResults())
        entry->second[result.getResultNumber()] &= llvm::all_of(
            result.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
    });
    for (auto &[func, flags] : last)
      if (llvm::is_contained(flags, true) && !func->hasAttr(kLastReadAttr))
        func->setAttr(kLastReadAttr, DenseBoolArrayAttr::get(&getContext(), flags));
  }

  static Family familyOf(kernel::FuncOp func) {
    int64_t dims = func.getNumDims(), parallel = func.getDomain().getParallel();
    if (parallel == dims)
      return Family::Map;
    Family family = parallel == 0 ? Family::Full : Family::Rows;
    func.getBody().walk([&](Operation *op) {
      if (isa<kernel::DotOp>(op))
        family = Family::Contract;
      else if (isa<kernel::ScanOp>(op))
        family = Family::Scan;
      else if (auto reduce = dyn_cast<kernel::ReduceOp>(op); reduce && reduce.getRowTree())
        family = Family::Columns;
    });
    return family;
  }

  /// Lanes of the type that is summed. The cost is that of one multiplication and addition: tiles
  /// of registers keep the core busy with them, products with a vector wait for memory.
  kernel::ScheduleAttr contractSchedule(kernel::FuncOp func) {
    LoopSpace space(func);
    Products products(func, space);
    int64_t bytes = bytesOf(products.element());
    int64_t vector = std::max<int64_t>(1, vectorBytes / bytes);
    bool panels = contractForm(func, space, vector) == ContractForm::Panels;
    int64_t cost = panels ? kMultiplyAddPs * static_cast<int64_t>(products.all.size())
                          : kBytePs * static_cast<int64_t>(products.columns.size());
    return kernel::ScheduleAttr::get(&getContext(), Family::Contract, vector, bytes * cost, 0);
  }

  static bool isIntegerRemainder(Operation *op) {
    return isa<graph::RemainderOp>(op) && isa<IntegerType>(op->getResult(0).getType());
  }

  /// What the ops of one point need; ops of a row are left out, they run once per row.
  struct Body {
    int64_t widest = 1; ///< bytes
    int64_t cost = 0;
    int64_t moved = 0; ///< bytes of a point
    int64_t live = 0;  ///< bytes of the most values alive at once, constants and masks left out
    int64_t sums = 0;  ///< registers per vector that reductions keep
    int64_t remainders = 0; ///< of integers
    int64_t expensives = 0;
    bool expensive = false;
    int64_t operations = 0; ///< arithmetic
    Effort effort = {0, 0}; ///< of all of it, but the delay of the longest chain
  };

  static Effort effortOf(Operation *op) {
    if (isa<arith::ConstantOp, kernel::IndexOp, kernel::NumberOp>(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return {0, 0};
    if (isa<kernel::LoadOp, kernel::StoreOp>(op))
      return isa<kernel::LoadOp>(op) ? kLoad : kStore;
    if (!op->hasTrait<graph::Expensive>())
      return kSimple;
    bool isFloat = isa<FloatType>(op->getResult(0).getType());
    return isFloat && isa<graph::DivOp, graph::SqrtOp>(op) ? kDivision : kFunction;
  }

  /// `delays`: cycles until a value is there.
  static void addEffort(Body &body, DenseMap<Value, int64_t> &delays, Operation *op) {
    Effort effort = effortOf(op);
    int64_t delay = 0;
    for (Value operand : op->getOperands())
      delay = std::max(delay, delays.lookup(operand));
    delay += effort.delay;
    for (Value result : op->getResults())
      delays[result] = delay;
    body.operations += effort.busy > 0 && !isa<kernel::LoadOp, kernel::StoreOp>(op);
    body.effort.busy += effort.busy;
    body.effort.delay = std::max(body.effort.delay, delay);
  }

  /// Vectors that a long body needs side by side: so many that twice the arithmetic that is waited
  /// for is there to be done meanwhile. A core finds little of it in the points after them.
  static int64_t vectorsOfLong(const Body &body) {
    int64_t waits = 4 * body.effort.delay;
    return std::min<int64_t>(4,
                             llvm::bit_ceil<uint64_t>(llvm::divideCeil(waits, body.effort.busy)));
  }

  /// Whether one body may serve whole and last vectors: what is masked lies in one piece.
  static bool masksWhole(kernel::FuncOp func, Family family) {
    LoopSpace space(func);
    bool runs = llvm::any_of(func.getBody().front(), [](Operation &op) { return mayRun(&op); });
    if (space.count() == 0 || space.reducedLoops() > 1 || runs || usesPlaces(func, family))
      return false;
    unsigned along = (family == Family::Columns ? space.parallel : space.count()) - 1;
    return llvm::all_of(space.accesses, [&](const auto &access) {
      const Polynomial &stride = access.second.strides[along];
      return (stride.isZero() || stride.isConstant(1)) && !access.second.part;
    });
  }

  static bool usesReduced(Operation *op, int64_t parallel) {
    auto map = op->getAttrOfType<AffineMapAttr>("map");
    for (unsigned d = parallel; map && d < map.getValue().getNumDims(); ++d)
      if (map.getValue().isFunctionOfDim(d))
        return true;
    return false;
  }

  static bool scatters(kernel::FuncOp func) {
    bool found = false;
    func.getBody().walk([&](kernel::ScatterOp) { found = true; });
    return found;
  }

  /// Whether all that several points may write is combined in steps whose order is no matter, in
  /// what no point reads.
  bool combinesInAnyOrder(kernel::FuncOp func) {
    bool some = false, all = true;
    llvm::SmallDenseMap<int64_t, arith::AtomicRMWKind> steps; // of what is written to
    func.getBody().walk([&](kernel::ScatterOp op) {
      some |= !op.getUnique();
      auto step = stepInAnyOrder(op.getCombine(), op.getValue().getType(), atomicBits);
      all &=
          step && steps.try_emplace(func.getInits()[op.getResult()], *step).first->second == *step;
    });
    func.getBody().walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto tensor = dyn_cast<BlockArgument>(operand))
          all &= !steps.contains(tensor.getArgNumber());
    });
    return some && all;
  }

  /// Whether all that several points may write is sorted by places along one loop.
  static bool writesSorted(kernel::FuncOp func) {
    SmallVector<kernel::ScatterOp> scatters;
    func.getBody().walk([&](kernel::ScatterOp op) { scatters.push_back(op); });
    return !scatters.empty() && sharePlaces(scatters) && placedLoop(scatters[0], LoopSpace(func));
  }

  static bool mayRun(Operation *op) {
    auto gather = dyn_cast<kernel::GatherOp>(op);
    return gather && gather.getRuns();
  }

  /// Whether elements are found by values, one by one.
  static bool usesPlaces(kernel::FuncOp func, Family family) {
    LoopSpace space(func);
    unsigned loops = family == Family::Columns ? space.parallel : space.count();
    bool found = false;
    func.getBody().walk([&](Operation *op) {
      auto gather = dyn_cast<kernel::GatherOp>(op);
      bool pieces = gather && gather.getRuns() && loops > 0 && space.readsPieces(gather, loops - 1);
      found |= !pieces && isa<kernel::GatherOp, kernel::ScatterOp, kernel::BoundOp>(op);
    });
    return found;
  }

  /// Whether one reduction draws random bits and reads nothing that neighbours would share.
  static bool reducesDraws(kernel::FuncOp func) {
    unsigned reductions = 0;
    bool draws = false, reads = false;
    func.getBody().walk([&](Operation *op) {
      draws |= isa<graph::Philox32Op, graph::Philox64Op>(op);
      reads |= isa<kernel::LoadOp, kernel::StoreOp>(op) &&
               usesReduced(op, func.getDomain().getParallel());
      if (auto reduce = dyn_cast<kernel::ReduceOp>(op))
        reductions += reduce.getKind() == graph::ReduceKind::ArgMin ||
                              reduce.getKind() == graph::ReduceKind::ArgMax
                          ? 2
                          : 1;
    });
    return draws && !reads && reductions == 1;
  }

  /// Whether an operation widens what sums keep narrow.
  static bool isNarrowed(Operation &op) {
    auto narrows = [](Operation *user) {
      auto reduce = dyn_cast<kernel::ReduceOp>(user);
      return reduce && narrowSource(reduce);
    };
    return isa<graph::CastOp>(op) && llvm::all_of(op.getUsers(), narrows);
  }

  /// What computes the places of runs alone: once a vector, of its first and last lane.
  static llvm::DenseSet<Operation *> placesOfRuns(kernel::FuncOp func) {
    llvm::DenseSet<Operation *> places;
    auto finds = [&](Operation *user) { return mayRun(user) || places.contains(user); };
    for (Operation &op : llvm::reverse(func.getBody().front()))
      if (!op.use_empty() && llvm::all_of(op.getUsers(), finds))
        places.insert(&op);
    return places;
  }

  static Body bodyOf(kernel::FuncOp func, bool narrows) {
    Body body;
    int64_t parallel = func.getDomain().getParallel();
    bool reduces = parallel != func.getNumDims();
    int64_t moved = 0;
    DenseSet<Value> points, alive;
    DenseMap<Value, Operation *> last;
    DenseMap<Value, int64_t> delays;
    for (Operation &op : func.getBody().front())
      for (Value operand : op.getOperands())
        last[operand] = &op;
    llvm::DenseSet<Operation *> places = placesOfRuns(func);
    for (Operation &op : func.getBody().front()) {
      if (places.contains(&op) || (narrows && isNarrowed(op)))
        continue;
      bool point = !reduces || usesReduced(&op, parallel);
      if (!op.hasTrait<OpTrait::IsTerminator>() && !isa<kernel::ReduceOp, kernel::DotOp>(op))
        for (Value operand : op.getOperands())
          point |= points.contains(operand);
      for (Value operand : op.getOperands())
        if (last.lookup(operand) == &op)
          alive.erase(operand);
      if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
        // Positions double what is kept and compared.
        bool arg = reduce.getKind() == graph::ReduceKind::ArgMin ||
                   reduce.getKind() == graph::ReduceKind::ArgMax;
        body.sums += arg ? 4 : 1;
        body.effort.busy += (arg ? 4 : 1) * kSum;
      }
      bool result = point && op.getNumResults() == 1 && op.getResult(0).getType().isIntOrFloat();
      if (result) {
        Type type = op.getResult(0).getType();
        points.insert(op.getResult(0));
        body.widest = std::max(body.widest, bytesOf(type));
        if (!type.isInteger(1) && !isa<arith::ConstantOp, kernel::NumberOp>(op))
          alive.insert(op.getResult(0));
      }
      if (!point)
        continue;
      bool expensive = op.hasTrait<graph::Expensive>();
      body.expensive |= expensive;
      body.expensives += expensive;
      body.remainders += isIntegerRemainder(&op);
      int64_t bytes = expensive ? kExpensiveValues * bytesOf(op.getResult(0).getType()) : 0;
      for (Value value : alive)
        bytes += bytesOf(value.getType());
      body.live = std::max(body.live, bytes);
      if (!mayRun(&op) && isa<kernel::GatherOp, kernel::ScatterOp>(op))
        body.cost += kPlacePs;
      else if (isa<kernel::GatherOp, kernel::LoadOp, kernel::StoreOp>(op))
        moved +=
            bytesOf(op.getNumResults() ? op.getResult(0).getType() : op.getOperand(0).getType());
      else
        body.cost += expensive ? kExpensivePs : kSimplePs;
      addEffort(body, delays, &op);
    }
    body.moved = moved;
    int64_t streamed = std::min(moved, kStreamedBytes);
    if (moved > kManyBytes)
      body.cost = body.cost * kSharedOpPs / kSimplePs + kSharedBytePs * moved;
    else
      body.cost += kBytePs * streamed + kCachedBytePs * (moved - streamed);
    return body;
  }

  /// Picoseconds of a point whose arithmetic is in vectors of so many lanes, near memory.
  static int64_t timeInVectors(kernel::FuncOp func, Family family, const Body &body,
                               int64_t lanes) {
    if (usesPlaces(func, family) || family == Family::Scan || body.moved > kManyBytes)
      return body.cost;
    return body.effort.busy * kHalfCyclePs / lanes + kNearBytePs * body.moved;
  }

  /// The form for GPU-class devices, where work-items of a group read neighbouring memory; null for
  /// kernels that keep a work-item of their own an item.
  kernel::ScheduleAttr groupSchedule(kernel::FuncOp func, Family family, const Body &body) {
    if (writesOneByOne(func))
      return {};
    if (func->hasAttr(kSortedAttr)) {
      if (!combinesByGroups(func, LoopSpace(func), kGroup))
        return {};
      return kernel::ScheduleAttr::get(&getContext(), family, 1, std::max<int64_t>(body.cost, 1),
                                       kGroup);
    }
    int64_t vector = 1, group = kGroup;
    bool places = usesPlaces(func, family);
    if (family == Family::Contract && !places && multipliesVector(func, LoopSpace(func)) &&
        !contractsByGroups(func, LoopSpace(func))) {
      func->setAttr(kVectorAttr, UnitAttr::get(&getContext()));
      return kernel::ScheduleAttr::get(&getContext(), family, vector,
                                       std::max<int64_t>(body.cost, 1), group);
    }
    if (family == Family::Contract && (places || !contractsByGroups(func, LoopSpace(func)))) {
      func->setAttr(kUnrollAttr, Builder(func).getI64IntegerAttr(kStepsTogether));
      return {};
    }
    bool onTensors = false;
    if (family == Family::Contract && tensors)
      func.getBody().walk([&](kernel::DotOp dot) { onTensors = bool(tensorElement(dot)); });
    if (onTensors) {
      func->setAttr(kTensorsAttr, UnitAttr::get(&getContext()));
      if (bulk)
        func->setAttr(kBulkAttr, UnitAttr::get(&getContext()));
    } else if (family == Family::Contract && tiles) {
      func->setAttr(kTilesAttr, UnitAttr::get(&getContext()));
      kernel::DotOp dot = dotOf(func);
      group = dot.getType().isF32() ? kTileGroup : group;
      LoopSpace space(func);
      if (bulk && dot.getType().isF64() && contractTile(dot, space) == kContractTile &&
          copiesSides(dot.getLhs(), dot.getRhs(), space))
        func->setAttr(kRunsAttr, UnitAttr::get(&getContext()));
    }
    if (family == Family::Contract)
      func.getBody().walk([&](kernel::DotOp dot) {
        group = contractTile(dot, LoopSpace(func)) < kContractTile ? kTileGroup : group;
      });
    if (family == Family::Scan)
      if (LoopSpace space(func); !scansNeighbours(func, space))
        return columnScan(func, space, body);
    if (family == Family::Map || family == Family::Columns) {
      vector = places || body.operations >= kManyOperations
                   ? 1
                   : std::max<int64_t>(1, kItemBytes / body.widest);
      if (body.expensive)
        vector = std::min<int64_t>(vector, kTreeVector);
      if (family == Family::Columns)
        vector = std::min<int64_t>(vector, kColumnVector);
    } else if (family != Family::Contract) {
      vector = places ? 1 : kTreeVector;
      if (family == Family::Full && !places && reducesDraws(func)) {
        vector = kDrawVector;
        group = kDrawGroup;
      }
      // What visits a row again keeps it, so that the row is all that a group has. Where points
      // cost more than memory does, more work-items with fewer registers hide their waits.
      if (family == Family::Rows && !reducesOnce(func) && body.expensives > 1)
        vector = std::min(vector, kBusyRowVector);
      if (family == Family::Rows && !reducesOnce(func))
        group = kTreeLanes / (LoopSpace(func).reducedLoops() == 1 ? vector : 1);
      if (family == Family::Rows && largeGroups)
        func->setAttr(kLargeGroupsAttr, UnitAttr::get(&getContext()));
    }
    if (family == Family::Rows && LoopSpace(func).reducedLoops() == 1 &&
        llvm::range_size(func.getBody().front()) <= kGroupMostOpsTwice)
      func->setAttr(kShortRowsAttr, UnitAttr::get(&getContext()));
    if (ordered && family == Family::Scan)
      func->setAttr(kHandedAttr, UnitAttr::get(&getContext()));
    if (tickets && family == Family::Full && group == kTreeLanes)
      func->setAttr(kTicketsAttr, UnitAttr::get(&getContext()));
    return kernel::ScheduleAttr::get(&getContext(), family, vector, std::max<int64_t>(body.cost, 1),
                                     group);
  }

  /// Running sums of columns: work-items that share one keep a group of its elements each in
  /// registers. A body that would be long sixteen times, or several loops, leave a column to a
  /// work-item, which waits for memory alone.
  kernel::ScheduleAttr columnScan(kernel::FuncOp func, const LoopSpace &space, const Body &body) {
    const bool isSimple = turnsInRegisters(func);
    if (isSimple && space.reducedLoops() == 1)
      return kernel::ScheduleAttr::get(&getContext(), Family::Scan, 1,
                                       std::max<int64_t>(body.cost, 1), kGroup);
    if (isSimple)
      func->setAttr(kUnrollAttr, Builder(func).getI64IntegerAttr(kScanGroup));
    return {};
  }

  kernel::ScheduleAttr scheduleOf(kernel::FuncOp func) {
    Body body = bodyOf(func, /*narrows=*/vectorBytes > 0);
    Family family = familyOf(func);
    if (groups)
      if (auto schedule = groupSchedule(func, family, body))
        return schedule;
    if (ordered && family == Family::Scan && vectorBytes > 0)
      func->setAttr(kHandedAttr, UnitAttr::get(&getContext()));
    if (family == Family::Contract && vectorBytes > 0)
      return contractSchedule(func);
    int64_t vector = 1, cost = body.cost;
    if (vectorBytes > 0) {
      // Native vectors of the widest type: as many as keep the loads busy; a plain reduction of
      // everything holds a whole row of the tree in registers. A chain of arithmetic gets as many
      // as the registers hold, up to four: the core overlaps those, but not one point with the
      // next, which is further away than it looks.
      int64_t native = std::max<int64_t>(1, vectorBytes / body.widest);
      int64_t registers = vectorBytes >= 64 ? 32 : 16;
      int64_t live = std::max<int64_t>(1, llvm::divideCeil(body.live, body.widest));
      auto fitting = [&](int64_t each, int64_t most) {
        return llvm::bit_floor<uint64_t>(std::clamp<int64_t>(registers / each, 1, most));
      };
      cost = timeInVectors(func, family, body, native);
      bool chain = body.cost >= kLongChainPs;
      int64_t vectors = 1;
      bool turned =
          (family == Family::Map && turnedLoop(func, LoopSpace(func), /*groups=*/false)) ||
          (family == Family::Columns && turnedColumns(func, LoopSpace(func)));
      if (turned)
        native = std::min(native, kMostTurnedLanes);
      else if (scatters(func))
        native = std::min(native, kMostScatterLanes);
      else if (family == Family::Map)
        vectors = body.remainders >= kRemainderChain ? 8
                  : body.expensive                   ? 4
                  : chain                            ? fitting(live, 4)
                                                     : 2;
      else if (family == Family::Full)
        vectors = body.expensive || chain ? 4 : fitting(live + body.sums, registers / 2);
      else // of a row both stages wait for what comes before them; sixteen registers hold less
        vectors = body.expensive && (family != Family::Rows || registers < 32) ? 2 : 4;
      bool isLong = body.operations >= kLongBody && body.remainders < kRemainderChain;
      if (isLong && family != Family::Columns && family != Family::Scan)
        vectors = std::min(vectors, vectorsOfLong(body));
      bool isOfMany =
          isLong && hasManyLong &&
          (family == Family::Full || family == Family::Rows || family == Family::Columns);
      if (isOfMany)
        vectors = std::min<int64_t>(vectors, family == Family::Columns ? 1 : kVectorsOfMany);
      bool masks = body.effort.busy >= kMaskedBusy && (vectors <= 2 || family == Family::Full);
      if (isLong && masks && vectorBytes >= 64 && !turned && !scatters(func) &&
          (isOfMany || family == Family::Map || family == Family::Full) && masksWhole(func, family))
        func->setAttr(kOnceAttr, UnitAttr::get(&getContext()));
      vector = std::min(native * vectors, family == Family::Full ? kTreeLanes : kMostLanes);
    }
    return kernel::ScheduleAttr::get(&getContext(), family, vector, std::max<int64_t>(cost, 1), 0);
  }
};

} // namespace
