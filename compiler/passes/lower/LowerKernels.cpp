#include "compiler/passes/Passes.h"
#include "compiler/passes/fuse/Watch.h"
#include "compiler/passes/lower/GroupSort.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"
#include "compiler/passes/lower/TurnedRows.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace graphc::pass {
#define GEN_PASS_DEF_LOWERKERNELS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

namespace {

struct LowerKernels : pass::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    bool updates = false;
    for (auto kernel : getOperation().getOps<kernel::FuncOp>())
      kernel.getBody().walk([&](kernel::ScatterOp) { updates = checksAlone; });
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>())) {
      if (!kernel.getSchedule()) {
        kernel.emitOpError("has no schedule");
        return signalPassFailure();
      }
      OpBuilder builder(kernel);
      if (readsAhead)
        kernel->setAttr(kReadsAheadAttr, builder.getUnitAttr());
      if (gathers)
        kernel->setAttr(kGathersAttr, builder.getUnitAttr());
      if (updates)
        kernel->setAttr(kChecksAloneAttr, builder.getUnitAttr());
      KernelLowering(kernel, builder, straightFolds).run();
      kernel.erase();
    }
    for (auto sort : llvm::make_early_inc_range(getOperation().getOps<kernel::SortOp>())) {
      lowerGroupSort(sort);
      sort.erase();
    }
  }
};

} // namespace

KernelLowering::KernelLowering(kernel::FuncOp kernel, OpBuilder &module, bool straightFolds)
    : kernel(kernel), module(module), straightFolds(straightFolds), space(kernel),
      shape(kernel, space), width(kernel.getSchedule()->getVector()), builder(kernel.getContext()),
      loc(kernel.getLoc()) {
  kernel.getBody().walk([&](kernel::StoreOp store) { stores.push_back(store); });
  kernel.getBody().walk([&](kernel::ScatterOp scatter) { scatters.push_back(scatter); });
}

/// Divisions of what reductions give: once a row or column.
void KernelLowering::markSeldom() {
  if (space.count() == space.parallel)
    return;
  kernel.getBody().walk([&](graph::DivOp op) {
    if (!isPoint(op.getResult()))
      op->setAttr(kSeldomAttr, builder.getUnitAttr());
  });
}

void KernelLowering::run() {
  markSeldom();
  if (shape.group)
    return lowerGroups();
  switch (shape.family) {
  case Family::Map:
    return shape.turned ? lowerTurned() : lowerMap();
  case Family::Rows:
    if (!reducesOnce(kernel))
      return lowerRows();
    [[fallthrough]];
  case Family::Full:
    kernel->hasAttr(kFarRowsAttr) ? lowerFarRows() : lowerLaneBlocks();
    return shape.splitBlock ? lowerLaneFold() : void();
  case Family::Columns:
    lowerColumns();
    return shape.splitBlock ? lowerColumnFold() : void();
  case Family::Contract:
    return lowerContract();
  case Family::Scan:
    return lowerScan();
  case Family::Sort: // of no kernel.func
    return;
  }
}

Value KernelLowering::constant(OpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

void KernelLowering::open(StringRef name, ArrayRef<Type> extra, int64_t scratch) {
  SmallVector<Type> types;
  auto flat = [](Type element) {
    return MemRefType::get({ShapedType::kDynamic}, memoryType(element));
  };
  for (Type type : kernel.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.push_back(flat(tensor.getElementType()));
  for (Type type : kernel.getResultTypes())
    types.push_back(flat(cast<RankedTensorType>(type).getElementType()));
  // After its own buffers and sizes: where faults go, and the number of its first site.
  unsigned own = types.size(), faults = reportsFaults(kernel);
  if (faults)
    types.push_back(flat(module.getI64Type()));
  for (Type type : extra)
    types.push_back(flat(type));
  unsigned buffers = types.size(), sizes = kernel.getNumSizes();
  types.append(sizes + faults + 2, module.getIndexType());
  if (scratch > 0)
    types.push_back(flat(module.getI8Type()));
  function = func::FuncOp::create(module, loc, name, module.getFunctionType(types, {}));
  function->setAttr("graphc.kernel", module.getUnitAttr());
  function->setAttr("graphc.buffers", module.getI64IntegerAttr(buffers));
  function->setAttr("graphc.family", module.getStringAttr(kernel::stringifyFamily(shape.family)));
  if (countsOn())
    function->setAttr("graphc.counted", module.getUnitAttr());
  function->setAttr("graphc.cost", module.getI64IntegerAttr(kernel.getSchedule()->getCost()));
  if (shape.group)
    function->setAttr("graphc.group", module.getI64IntegerAttr(shape.group));
  if (shape.lastFolds)
    function->setAttr(kTicketsAttr, module.getUnitAttr());
  if (scratch > 0)
    function->setAttr("graphc.scratch", module.getI64IntegerAttr(scratch));
  function->setAttr("graphc.inputs", module.getI64IntegerAttr(kernel.getNumTensors()));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  emitter = std::make_unique<BodyEmitter>(kernel, space, entry->getArguments().take_front(own),
                                          entry->getArguments().slice(buffers, sizes));
  if (faults)
    emitter->setFaults(entry->getArgument(own), entry->getArgument(buffers + sizes));
  if (checksIndices(kernel))
    openChecks(entry->getArgument(own));
  extraBuffers.assign(entry->getArguments().begin() + own + faults,
                      entry->getArguments().begin() + buffers);
  begin = entry->getArgument(buffers + sizes + faults);
  end = entry->getArgument(buffers + sizes + faults + 1);
  if (shape.group)
    member = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  if (scratch > 0)
    scratchMemory = entry->getArguments().back();
  if (shape.family == Family::Map || shape.family == Family::Rows || shape.family == Family::Scan ||
      shape.form == ContractForm::Panels)
    openStreams();
  readSingles();
}

void KernelLowering::openChecks(Value faults) {
  bool alone = kernel->hasAttr(kChecksAloneAttr) && shape.family == Family::Map && !shape.turned;
  auto checks = alone ? program::IndexChecks::Alone : program::IndexChecks::AsItGoes;
  function->setAttr("graphc.checks", module.getI64IntegerAttr(static_cast<int64_t>(checks)));
  if (!alone)
    return;
  function->setAttr("graphc.check_reads", module.getDenseI32ArrayAttr(indexTensors(kernel)));
  Value asked =
      memref::LoadOp::create(builder, loc, faults, constant(builder, program::kCheckWord));
  Value none = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  writes = IndexMath{builder, loc}.equal(asked, none);
}

/// Tensors of one element, which loops would read each time: a result may lie there, for all that
/// LLVM knows.
void KernelLowering::readSingles() {
  Position at;
  at.loops.resize(space.count());
  if (width > 1)
    kernel.getBody().walk([&](kernel::LoadOp load) {
      auto tensor = cast<RankedTensorType>(load.getTensor().getType());
      if (tensor.hasStaticShape() && tensor.getNumElements() == 1)
        emitter->value(builder, load.getResult(), at);
    });
  singles = std::move(at.values);
}

/// Whether loops have few addresses, which differ by what does not change.
bool KernelLowering::countsOn() {
  return shape.family == Family::Map || shape.family == Family::Full ||
         shape.family == Family::Rows || kernel->hasAttr(kOnceAttr);
}

Value KernelLowering::scratchView(Type element, int64_t offset, int64_t count) {
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return memref::ViewOp::create(builder, loc, type, scratchMemory, constant(builder, offset),
                                constant(builder, count));
}

void KernelLowering::close() {
  bool folds = !kernel.getBody().getOps<kernel::ReduceOp>().empty();
  emitter->tellWatched(builder, straightFolds && folds);
  func::ReturnOp::create(builder, loc);
}

Position KernelLowering::position() {
  Position result;
  result.loops.resize(space.count());
  result.values = singles;
  return result;
}

void KernelLowering::loop(OpBuilder &b, Value lower, Value upper, int64_t step,
                          llvm::function_ref<void(OpBuilder &, Value)> body) {
  auto loopOp = scf::ForOp::create(b, loc, lower, upper, constant(b, step));
  OpBuilder inside = OpBuilder::atBlockBegin(loopOp.getBody());
  body(inside, loopOp.getInductionVar());
}

void KernelLowering::runs(OpBuilder &outside,
                          llvm::function_ref<void(OpBuilder &, Position &, Value, Value)> body) {
  unsigned parallel = space.parallel;
  if (parallel <= 1) {
    Position at = position();
    return body(outside, at, begin, end);
  }
  Value length = emitter->extent(outside, parallel - 1);
  Value first = arith::DivUIOp::create(outside, loc, begin, length);
  Value last = arith::CeilDivUIOp::create(outside, loc, end, length);
  Position at = position();
  SmallVector<Value> outer;
  if (parallel > 2) {
    emitter->delinearize(outside, first, 0, parallel - 1, at);
    outer.append(at.loops.begin(), at.loops.begin() + (parallel - 1));
  }
  auto over = scf::ForOp::create(outside, loc, first, last, constant(outside, 1), outer);
  OpBuilder b = OpBuilder::atBlockBegin(over.getBody());
  Value run = over.getInductionVar();
  at.loops[0] = run;
  llvm::copy(over.getRegionIterArgs(), at.loops.begin());
  Position here = at;
  Value start = arith::MulIOp::create(b, loc, run, length);
  Value low =
      arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, begin, start), constant(b, 0));
  Value high = arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, end, start), length);
  body(b, here, low, high);
  if (parallel > 2)
    scf::YieldOp::create(b, loc, nextPoint(b, at, 0, parallel - 1));
}

/// Loops [first, end) at the point after the one at `at`: counted on, because a division costs more
/// than a short run.
SmallVector<Value> KernelLowering::nextPoint(OpBuilder &b, const Position &at, unsigned first,
                                             unsigned end) {
  IndexMath m{b, loc};
  SmallVector<Value> next(end - first);
  Value carry;
  for (unsigned i = end; i-- > first;) {
    Value more = m.add(at.loops[i], 1), &here = next[i - first];
    here = carry ? m.select(carry, more, at.loops[i]) : more;
    if (i == first)
      break;
    carry = m.equal(here, emitter->extent(b, i));
    here = m.select(carry, m(0), here);
  }
  return next;
}

int64_t KernelLowering::registerLanes(int64_t lanes) {
  int64_t bits = 8;
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (type.isIntOrFloat())
        bits = std::max<int64_t>(bits, isa<FloatType>(type)
                                           ? std::max(type.getIntOrFloatBitWidth(), 32u)
                                           : type.getIntOrFloatBitWidth());
  });
  return std::min(lanes, kRegisterBits / bits);
}

void KernelLowering::strips(OpBuilder &b, const Position &base, int loopNumber, int64_t lanes,
                            Value low, Value high,
                            llvm::function_ref<void(OpBuilder &, Position &)> body, int64_t rest) {
  auto at = [&](Value index, int64_t width) {
    Position here = base;
    here.loops[loopNumber] = index;
    here.vectorLoop = loopNumber;
    here.width = width;
    return here;
  };
  if (lanes == 1) {
    loop(b, low, high, 1, [&](OpBuilder &inside, Value index) {
      Position here = at(index, lanes);
      body(inside, here);
    });
    return;
  }
  if (kernel->hasAttr(kOnceAttr))
    return loop(b, low, high, lanes, [&](OpBuilder &inside, Value index) {
      Position here = at(index, lanes);
      emitter->maskAll(inside, here, high);
      body(inside, here);
    });
  Value length = arith::SubIOp::create(b, loc, high, low), w = constant(b, lanes);
  Value whole = arith::AddIOp::create(
      b, loc, low, arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, length, w), w));
  loop(b, low, whole, lanes, [&](OpBuilder &inside, Value index) {
    Position here = at(index, lanes);
    body(inside, here);
  });
  auto masked = [&](OpBuilder &inside, Value index) {
    Position here = at(index, rest ? rest : lanes);
    emitter->maskLanes(inside, here, high);
    body(inside, here);
  };
  if (rest && rest < lanes)
    return loop(b, whole, high, rest, masked);
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, whole, high);
  auto last = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  OpBuilder inside = last.getThenBodyBuilder();
  masked(inside, whole);
}

void KernelLowering::storeAll(OpBuilder &b, Position &at) {
  if (!writes)
    return writeAll(b, at);
  kernel.getBody().walk([&](kernel::BoundOp bound) { emitter->value(b, bound.getResult(), at); });
  auto some = scf::IfOp::create(b, loc, writes, /*withElseRegion=*/false);
  OpBuilder inside = some.getThenBodyBuilder();
  Position here = at;
  writeAll(inside, here);
}

void KernelLowering::writeAll(OpBuilder &b, Position &at) {
  // Every load before any store: a result may overwrite a tensor that another result is computed
  // from, or scattered by.
  for (kernel::StoreOp store : stores)
    for (Value value : store.getValues())
      emitter->value(b, value, at);
  for (kernel::ScatterOp scatter : scatters)
    for (Value operand : scatter->getOperands())
      emitter->value(b, operand, at);
  emitter->storeAll(b, stores, at);
  for (kernel::ScatterOp scatter : scatters)
    emitter->scatter(b, scatter, at);
}

/// How far ahead a body that computes long asks for memory, into the second cache: too few of its
/// iterations are under way at once for the machine to do so, and what is asked for into the first
/// cache waits for memory in one of its few places.
static constexpr int64_t kLongBytesAhead = 16384;

int64_t KernelLowering::bytesAhead(int64_t bytes) {
  int64_t ahead = 0;
  kernel.getBody().walk([&](kernel::LoadOp load) {
    auto memory = cast<MemRefType>(emitter->buffer(load).getType());
    int64_t elements = bytes * 8 / memory.getElementTypeBitWidth();
    ahead = std::max<int64_t>(ahead ? std::min(ahead, elements) : elements, width);
  });
  return ahead;
}

/// A store along the last loop into a part of its result, which begins anywhere in a line. Or null.
static kernel::StoreOp partOfResult(ArrayRef<kernel::StoreOp> stores, const LoopSpace &space) {
  for (kernel::StoreOp store : stores) {
    const LinearAccess &access = space.accesses.at(store);
    if (!store.getImaginary() && access.isDense(space.parallel - 1) && !access.offset.isZero())
      return store;
  }
  return {};
}

/// The first element from `index` on that begins a line of `memory`, counted from `low`; `low`
/// where that is not worth a part of a vector.
static Value nextLine(OpBuilder &b, Location loc, Value memory, Value index, Value low,
                      Value high) {
  constexpr int64_t kWorthElements = 256;
  IndexMath m{b, loc};
  int64_t bytes = cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value beyond = m.add(m.div(base, bytes), index), line = m(kLineBytes / bytes - 1);
  Value missing = arith::AndIOp::create(b, loc, m.sub(m(0), beyond), line);
  Value some = m.less(m(kWorthElements), m.sub(high, low));
  return m.add(low, m.select(some, missing, m(0)));
}

namespace {
/// A store that gives back what it read in rows where a condition of the row does not hold.
struct RowsKept {
  kernel::StoreOp store;
  kernel::LoadOp old;
  Value chosen; ///< the condition
};
} // namespace

static std::optional<RowsKept> rowsKept(kernel::FuncOp kernel, ArrayRef<kernel::StoreOp> stores,
                                        const LoopSpace &space) {
  if (stores.size() != 1 || space.parallel < 2)
    return std::nullopt;
  kernel::StoreOp store = stores[0];
  auto select = store.getValue().getDefiningOp<graph::SelectOp>();
  auto old = select ? select.getY().getDefiningOp<kernel::LoadOp>() : kernel::LoadOp();
  if (!old || store.getImaginary() || space.dependsOn(select.getCondition(), space.parallel - 1))
    return std::nullopt;
  const LinearAccess &from = space.accesses.at(old), &to = space.accesses.at(store);
  if (from.part || !(from.offset == to.offset) || from.strides != to.strides)
    return std::nullopt;
  // What is looked at or checked is so in every row.
  bool looks = false;
  kernel.getBody().walk([&](Operation *op) {
    looks |= op->hasAttr(kWatchAttr) || isa<kernel::BoundOp, kernel::ScatterOp>(op);
  });
  return looks ? std::nullopt : std::optional(RowsKept{store, old, select.getCondition()});
}

/// Where the store may go over the very memory that is read: whether it does.
static Value writesOver(OpBuilder &b, Location loc, BodyEmitter &emitter, RowsKept &kept) {
  auto address = [&](Value memory) {
    return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory).getResult();
  };
  return IndexMath{b, loc}.equal(address(emitter.buffer(kept.old)),
                                 address(emitter.buffer(kept.store)));
}

void KernelLowering::lowerMap() {
  open(kernel.getSymName(), {});
  bool computesLong = llvm::any_of(kernel.getBody().front(),
                                   [](Operation &op) { return op.hasTrait<graph::Expensive>(); });
  auto loads = kernel.getBody().front().getOps<kernel::LoadOp>();
  bool asks = computesLong || std::distance(loads.begin(), loads.end()) <= kMostStreamsAhead;
  int64_t ahead = asks ? bytesAhead(kBytesAhead) : 0;
  int64_t farAhead = computesLong ? bytesAhead(kLongBytesAhead) : 0;
  if (shape.oneByOne) {
    begin = constant(builder, 0);
    end = emitter->emit(builder, space.items());
  }
  if (space.parallel == 0) {
    Position at = position();
    storeAll(builder, at);
  } else if (shape.oneByOne && width == 1) {
    loop(builder, begin, end, 1, [&](OpBuilder &b, Value item) {
      Position at = position();
      emitter->delinearize(b, item, 0, space.parallel, at);
      storeAll(b, at);
    });
  } else if (width == 1) {
    // A device work-item is one element: no loop for the driver's vectorizer to trip over.
    Position at = position();
    emitter->delinearize(builder, begin, 0, space.parallel, at);
    storeAll(builder, at);
  } else {
    std::optional<RowsKept> kept = rowsKept(kernel, stores, space);
    Value inPlace = kept ? writesOver(builder, loc, *emitter, *kept) : Value();
    runs(builder, [&](OpBuilder &outside, Position &outer, Value low, Value high) {
      OpBuilder b = outside;
      if (kept) {
        Position row = outer;
        IndexMath m{b, loc};
        Value chosen = emitter->value(b, kept->chosen, row);
        Value some = m.select(inPlace, chosen, arith::ConstantIntOp::create(b, loc, 1, 1));
        b = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false).getThenBodyBuilder();
      }
      auto strip = [&](OpBuilder &inside, Position &at) {
        storeAll(inside, at);
        bool main = !at.limit || at.whole;
        if (ahead && main)
          prefetch(inside, at, space.parallel - 1, ahead, /*locality=*/3);
        if (farAhead && main)
          prefetch(inside, at, space.parallel - 1, farAhead, /*locality=*/2);
      };
      unsigned last = space.parallel - 1;
      int64_t rest = registerLanes(width);
      // A part of a result begins anywhere: up to a line first, so that vectors cross none.
      kernel::StoreOp part = partOfResult(stores, space);
      if (part && !kernel->hasAttr(kOnceAttr)) {
        Position first = outer;
        first.loops[last] = low;
        Value index = emitter->index(b, space.accesses.at(part), first);
        Value line = nextLine(b, loc, emitter->buffer(part), index, low, high);
        loop(b, low, line, rest, [&](OpBuilder &inside, Value at) {
          Position here = outer;
          here.loops[last] = at;
          here.vectorLoop = static_cast<int>(last);
          here.width = rest;
          emitter->maskLanes(inside, here, line);
          strip(inside, here);
        });
        low = line;
      }
      strips(b, outer, last, width, low, high, strip, rest);
    });
  }
  close();
}
