#include "compiler/passes/lower/KernelLowering.h"

#include "compiler/passes/fuse/Watch.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/lower/TurnedRows.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

KernelLowering::KernelLowering(kernel::FuncOp kernel, OpBuilder &module, bool straightFolds)
    : kernel(kernel), module(module), straightFolds(straightFolds), space(kernel), stages(space),
      shape(kernel, space), width(kernel.getSchedule()->getVector()), builder(kernel.getContext()),
      loc(kernel.getLoc()) {
  kernel.getBody().walk([&](kernel::StoreOp store) { stores.push_back(store); });
  kernel.getBody().walk([&](kernel::ScatterOp scatter) { scatters.push_back(scatter); });
  markSeldom();
}

/// Divisions of what reductions give: once a row or column.
void KernelLowering::markSeldom() {
  if (space.count() == space.parallel)
    return;
  kernel.getBody().walk([&](graph::DivOp op) {
    if (!stages.isPoint(op.getResult()))
      op->setAttr(kSeldomAttr, builder.getUnitAttr());
  });
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
  if (faults)
    function->setAttr("graphc.faults", module.getUnitAttr());
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
  if (shape.family == Family::Contract)
    return contractForm(kernel, space, kernel.getSchedule()->getVector()) == ContractForm::Panels;
  return shape.family == Family::Map || shape.family == Family::Full ||
         shape.family == Family::Rows || kernel->hasAttr(kOnceAttr);
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
  auto whole = [&](Value from, int64_t width) {
    IndexMath m{b, loc};
    Value to = m.add(from, m.mul(m.div(m.sub(high, from), width), width));
    loop(b, from, to, width, [&](OpBuilder &inside, Value index) {
      Position here = at(index, width);
      body(inside, here);
    });
    return to;
  };
  Value done = whole(low, lanes);
  if (rest == 1) {
    if (int64_t some = registerLanes(lanes); some < lanes)
      done = whole(done, some);
    whole(done, 1);
    return;
  }
  auto masked = [&](OpBuilder &inside, Value index) {
    Position here = at(index, rest ? rest : lanes);
    emitter->maskLanes(inside, here, high);
    body(inside, here);
  };
  if (rest && rest < lanes)
    return loop(b, done, high, rest, masked);
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, done, high);
  auto last = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  OpBuilder inside = last.getThenBodyBuilder();
  masked(inside, done);
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
