#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/SortedPlaces.h"
#include "compiler/passes/plan/KernelLaunches.h"
#include "compiler/passes/plan/PlanRoutine.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace graphc::pass {
#define GEN_PASS_DEF_BUILDPLAN
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// The plan of one function. Tensors become buffers; a reshape is the same buffer.
class Planner {
public:
  Planner(func::FuncOp func, SymbolTable &symbols, bool groups)
      : func(func), symbols(symbols), groups(groups), builder(func.getContext()) {}
  LogicalResult run();

private:
  plan::BufferType bufferType(Value tensor) {
    return plan::BufferType::get(func.getContext(),
                                 cast<RankedTensorType>(tensor.getType()).getElementType());
  }
  Value index(int64_t constant) {
    return arith::ConstantIndexOp::create(builder, func.getLoc(), constant);
  }
  void openProgram();
  LogicalResult plan(Operation *op);
  LogicalResult planCall(kernel::CallOp call);
  void planLibrary(graph::LibraryOp step);
  bool updatesInPlace(kernel::CallOp call, kernel::FuncOp kernel, unsigned result,
                      unsigned argument);
  using Differing = SmallVector<std::pair<Value, Value>>;
  bool differ(kernel::CallOp call, AffineExpr index, AffineExpr other, Differing &starts);
  bool areApart(kernel::CallOp call, AffineMap read, AffineMap written, Differing &starts);
  void require(Location loc, const Differing &starts);
  Value valueBefore(kernel::CallOp call, kernel::FuncOp kernel, unsigned result);
  Value updatedBuffer(kernel::CallOp call, kernel::FuncOp kernel, unsigned result, Value elements,
                      SmallVectorImpl<Value> &launchBuffers);
  Value resultBuffer(kernel::CallOp call, kernel::FuncOp kernel, unsigned result, Value elements,
                     SmallVectorImpl<Value> &launchBuffers);
  void launch(kernel::CallOp call, kernel::FuncOp kernel, SmallVector<Value> buffers);
  void addSites(ArrayAttr reported, SmallVectorImpl<Value> &launchBuffers,
                SmallVectorImpl<Value> &mapped);
  void planReturn(func::ReturnOp ret);
  Value faultBuffer();
  Value ticketBuffer();
  Value origin(Value tensor);
  SmallVector<Value> dynamicSizes(Value tensor);
  SmallVector<Value> allSizes(Value tensor);

  func::FuncOp func;
  SymbolTable &symbols;
  bool groups; ///< of work-items
  OpBuilder builder;
  IRMapping sizes;                   // index values of the function -> of the program
  DenseMap<Value, Value> buffers;    // tensor -> buffer
  DenseMap<Value, Value> holder;     // buffer -> the tensor it holds now
  DenseMap<Value, unsigned> lastUse; // origin tensor -> position of its last reader
  DenseMap<Operation *, unsigned> position;
  DenseSet<std::pair<Value, Value>> required; // starts that are known to differ
  plan::FaultsOp faults;                      // of the whole program, null until a launch needs it
  plan::AllocOp tickets;                      // likewise
  SmallVector<Attribute> sites;
};

/// Where a kernel writes a result; null when no one map says so.
static AffineMap writtenMap(kernel::FuncOp kernel, unsigned result) {
  AffineMap written;
  unsigned stores = 0;
  kernel.getBody().walk([&](kernel::StoreOp store) {
    if (store.getResult() == result) {
      written = store.getMap();
      ++stores;
    }
  });
  return stores == 1 ? written : AffineMap();
}

/// The tensor whose buffer a value is.
Value Planner::origin(Value tensor) {
  while (auto reshape = tensor.getDefiningOp<graph::ReshapeOp>())
    tensor = reshape.getX();
  return tensor;
}

/// Program values of the `?` sizes of a tensor, in order.
SmallVector<Value> Planner::dynamicSizes(Value tensor) {
  SmallVector<Value> result;
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto reshape = tensor.getDefiningOp<graph::ReshapeOp>()) {
    for (Value size : reshape.getSizes())
      result.push_back(sizes.lookup(size));
  } else if (auto step = tensor.getDefiningOp<graph::LibraryOp>()) {
    for (Value size : step.getSizes())
      result.push_back(sizes.lookup(size));
  } else if (auto call = tensor.getDefiningOp<kernel::CallOp>()) {
    unsigned next = 0;
    for (Value other : call.getResults()) {
      unsigned count = cast<RankedTensorType>(other.getType()).getNumDynamicDims();
      if (other == tensor)
        for (unsigned i = 0; i < count; ++i)
          result.push_back(sizes.lookup(call.getSizes()[call.getResultDims()[next + i]]));
      next += count;
    }
  } else {
    unsigned number = 0, argument = cast<BlockArgument>(tensor).getArgNumber();
    for (unsigned i = 0; i < argument; ++i)
      number += isa<RankedTensorType>(func.getArgumentTypes()[i]);
    for (auto [axis, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        result.push_back(plan::DimOp::create(builder, tensor.getLoc(), builder.getIndexType(),
                                             builder.getI64IntegerAttr(number),
                                             builder.getI64IntegerAttr(axis)));
  }
  return result;
}

SmallVector<Value> Planner::allSizes(Value tensor) {
  SmallVector<Value> dynamic = dynamicSizes(tensor), result;
  unsigned next = 0;
  for (int64_t size : cast<RankedTensorType>(tensor.getType()).getShape())
    result.push_back(ShapedType::isDynamic(size) ? dynamic[next++] : index(size));
  return result;
}

void Planner::openProgram() {
  SmallVector<Attribute> inputs, outputs;
  SmallVector<Value> tensors;
  for (Value argument : func.getArguments())
    if (isa<RankedTensorType>(argument.getType())) {
      inputs.push_back(TypeAttr::get(argument.getType()));
      tensors.push_back(argument);
    }
  for (Type type : func.getResultTypes())
    outputs.push_back(TypeAttr::get(type));
  OpBuilder outer(func);
  auto program = plan::ProgramOp::create(outer, func.getLoc(), func.getSymName(),
                                         outer.getArrayAttr(inputs), outer.getArrayAttr(outputs));
  Block &body = program.getBody().emplaceBlock();
  for (Value tensor : tensors)
    buffers[tensor] = body.addArgument(bufferType(tensor), tensor.getLoc());
  builder.setInsertionPointToStart(&body);
  int64_t number = 0;
  for (auto [i, argument] : llvm::enumerate(func.getArguments()))
    if (argument.getType().isIndex()) {
      auto symbol = func.getArgAttrOfType<IntegerAttr>(i, "graph.symbol");
      sizes.map(argument,
                plan::SizeOp::create(builder, func.getLoc(), builder.getIndexType(),
                                     builder.getI64IntegerAttr(symbol ? symbol.getInt() : number)));
      ++number;
    }
}

LogicalResult Planner::run() {
  openProgram();
  unsigned next = 0;
  for (Operation &op : func.getBody().front()) {
    position[&op] = next++;
    if (!isa<graph::ReshapeOp>(op))
      for (Value operand : op.getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          lastUse[origin(operand)] = position[&op];
  }
  for (Operation &op : func.getBody().front())
    if (failed(plan(&op)))
      return failure();
  return success();
}

LogicalResult Planner::plan(Operation *op) {
  Location loc = op->getLoc();
  if (auto dim = dyn_cast<graph::DimOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(dim.getX());
    if (!argument)
      return op->emitOpError("asks for a size of a computed tensor; sizes come from arguments");
    unsigned number = 0;
    for (unsigned i = 0; i < argument.getArgNumber(); ++i)
      number += isa<RankedTensorType>(func.getArgumentTypes()[i]);
    sizes.map(op->getResult(0), plan::DimOp::create(builder, loc, builder.getIndexType(),
                                                    builder.getI64IntegerAttr(number),
                                                    builder.getI64IntegerAttr(dim.getAxis()))
                                    .getResult());
    return success();
  }
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
    buffers[reshape.getResult()] = buffers.lookup(reshape.getX());
    return success();
  }
  if (auto check = dyn_cast<kernel::CheckOp>(op)) {
    plan::CheckOp::create(builder, loc, sizes.lookup(check.getLhs()), sizes.lookup(check.getRhs()),
                          check.getWhatAttr());
    return success();
  }
  if (auto call = dyn_cast<kernel::CallOp>(op))
    return planCall(call);
  if (auto step = dyn_cast<graph::LibraryOp>(op)) {
    planLibrary(step);
    return success();
  }
  if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    planReturn(ret);
    return success();
  }
  builder.clone(*op, sizes);
  return success();
}

/// Whether two indices are different points of their axis. Starts of slices that have different
/// names are, and none is 0 or 1; `starts` gets those that this was seen by.
bool Planner::differ(kernel::CallOp call, AffineExpr index, AffineExpr other, Differing &starts) {
  auto start = [&](AffineExpr expr) -> Value {
    auto symbol = dyn_cast<AffineSymbolExpr>(expr);
    auto argument =
        symbol ? dyn_cast<BlockArgument>(call.getSizes()[symbol.getPosition()]) : nullptr;
    return argument && func.getArgAttr(argument.getArgNumber(), "graph.start") ? argument : Value();
  };
  auto first = dyn_cast<AffineConstantExpr>(index), second = dyn_cast<AffineConstantExpr>(other);
  if (first && second)
    return first.getValue() != second.getValue();
  Value firstStart = start(index), secondStart = start(other);
  auto isNamed = [](Value named, AffineConstantExpr constant) {
    return named || (constant && (constant.getValue() == 0 || constant.getValue() == 1));
  };
  if (firstStart == secondStart || !isNamed(firstStart, first) || !isNamed(secondStart, second))
    return false;
  auto value = [&](Value named, AffineConstantExpr constant) {
    return named ? sizes.lookup(named) : this->index(constant.getValue());
  };
  starts.push_back({value(firstStart, first), value(secondStart, second)});
  return true;
}

/// Whether no element is both read and written: on some axis each is one point, and another.
bool Planner::areApart(kernel::CallOp call, AffineMap read, AffineMap written, Differing &starts) {
  return read && written && read.getNumResults() == written.getNumResults() &&
         llvm::any_of(llvm::zip(read.getResults(), written.getResults()), [&](auto pair) {
           return differ(call, std::get<0>(pair), std::get<1>(pair), starts);
         });
}

/// Refuses calls for which starts do not differ: whoever names them has promised that.
void Planner::require(Location loc, const Differing &starts) {
  IndexMath m{builder, loc};
  for (auto [a, b] : starts)
    if (required.insert({a, b}).second)
      plan::CheckOp::create(builder, loc, m.min(m.max(m.sub(a, b), m.sub(b, a)), 1), m(1),
                            "starts of slices that differ");
}

/// An update may overwrite the old value's buffer when nothing reads that later and the kernel
/// itself reads it only where it writes, or where it does not write at all.
bool Planner::updatesInPlace(kernel::CallOp call, kernel::FuncOp kernel, unsigned result,
                             unsigned argument) {
  Value base = origin(call.getTensors()[argument]);
  if (lastUse.lookup(base) > position[call])
    return false;
  AffineMap written = writtenMap(kernel, result);
  bool safe = true;
  Differing starts;
  // A gather may read what was written.
  kernel.getBody().walk([&](kernel::GatherOp gather) {
    unsigned read = cast<BlockArgument>(gather.getTensor()).getArgNumber();
    safe &= origin(call.getTensors()[read]) != base;
  });
  kernel.getBody().walk([&](kernel::LoadOp load) {
    Value read = call.getTensors()[cast<BlockArgument>(load.getTensor()).getArgNumber()];
    if (origin(read) != base)
      return;
    // A map kernel loads everything of a point before it stores there; the others, and those of
    // sorted places, visit points again.
    bool atPoint = load.getMap() == written && !kernel->hasAttr(kSortedAttr) &&
                   kernel.getSchedule()->getFamily() == kernel::Family::Map;
    safe &= read == call.getTensors()[argument] &&
            (atPoint || areApart(call, load.getMap(), written, starts));
  });
  for (auto [other, init] : llvm::enumerate(kernel.getInits()))
    if (other != result && init >= 0 && origin(call.getTensors()[init]) == base)
      safe = false;
  if (safe)
    require(call.getLoc(), starts);
  return safe;
}

/// What the base of an update was before the same region of it was updated: equal to the base
/// wherever this update does not write. Null when the base came about otherwise.
Value Planner::valueBefore(kernel::CallOp call, kernel::FuncOp kernel, unsigned result) {
  auto earlier =
      origin(call.getTensors()[kernel.getInits()[result]]).getDefiningOp<kernel::CallOp>();
  if (!earlier)
    return {};
  auto other = symbols.lookup<kernel::FuncOp>(earlier.getCallee());
  unsigned number =
      cast<OpResult>(origin(call.getTensors()[kernel.getInits()[result]])).getResultNumber();
  auto indexSizes = [](kernel::CallOp of, kernel::FuncOp func) {
    return of.getSizes().take_front(func.getNumIndexSizes());
  };
  if (other.getInits()[number] < 0 || !writtenMap(kernel, result) ||
      indexSizes(call, kernel) != indexSizes(earlier, other) ||
      kernel.getDomain() != other.getDomain() ||
      writtenMap(kernel, result) != writtenMap(other, number) ||
      kernel.getShapes()[kernel.getNumTensors() + result] !=
          other.getShapes()[other.getNumTensors() + number])
    return {};
  return origin(earlier.getTensors()[other.getInits()[number]]);
}

/// The buffer of an updated value: the base's own where that is safe; else that of the value before
/// the base when nobody needs it any more, which differs from the base only where this update
/// writes (two grids are enough for any number of steps); else a copy.
Value Planner::updatedBuffer(kernel::CallOp call, kernel::FuncOp kernel, unsigned result,
                             Value elements, SmallVectorImpl<Value> &launchBuffers) {
  unsigned init = kernel.getInits()[result];
  Value base = launchBuffers[init], root = origin(call.getTensors()[init]);
  bool inPlace = updatesInPlace(call, kernel, result, init);
  if (inPlace && !isa<BlockArgument>(root))
    return base;
  if (Value before = inPlace ? Value() : valueBefore(call, kernel, result)) {
    Value buffer = buffers.lookup(before);
    bool dead = lastUse.lookup(before) < position[call];
    if (dead && !isa<BlockArgument>(before) && holder.lookup(buffer) == before)
      return buffer;
  }
  Value copy =
      plan::AllocOp::create(builder, call.getLoc(), base.getType(), elements, IntegerAttr());
  plan::CopyOp::create(builder, call.getLoc(), base, copy);
  // A base that belongs to the caller is not read again.
  if (inPlace)
    for (auto [tensor, buffer] : llvm::zip(call.getTensors(), launchBuffers))
      if (origin(tensor) == root)
        buffer = copy;
  return copy;
}

/// The buffer of a result that is written whole: that of an operand which nothing needs later and
/// which is read only where the result is written, so that memory is neither found nor fetched
/// anew.
Value Planner::resultBuffer(kernel::CallOp call, kernel::FuncOp kernel, unsigned result,
                            Value elements, SmallVectorImpl<Value> &launchBuffers) {
  unsigned tensors = call.getTensors().size();
  plan::BufferType type = bufferType(call.getResult(result));
  IntegerAttr donor;
  for (unsigned i = 0; i < tensors && writtenMap(kernel, result); ++i) {
    Value root = origin(call.getTensors()[i]);
    bool taken =
        llvm::is_contained(ArrayRef<Value>(launchBuffers).drop_front(tensors), launchBuffers[i]);
    if (taken || bufferType(root) != type ||
        kernel.getShapes()[i] != kernel.getShapes()[tensors + result] ||
        !updatesInPlace(call, kernel, result, i))
      continue;
    if (isa_and_nonnull<kernel::CallOp, graph::LibraryOp>(root.getDefiningOp()))
      return launchBuffers[i];
    if (auto argument = dyn_cast<BlockArgument>(root); argument && !donor)
      donor = builder.getI64IntegerAttr(cast<BlockArgument>(buffers.lookup(root)).getArgNumber());
  }
  return plan::AllocOp::create(builder, call.getLoc(), type, elements, donor);
}

LogicalResult Planner::planCall(kernel::CallOp call) {
  auto kernel = symbols.lookup<kernel::FuncOp>(call.getCallee());
  SmallVector<Value> mapped;
  for (Value size : call.getSizes())
    mapped.push_back(sizes.lookup(size));
  SmallVector<Value> launchBuffers;
  for (Value tensor : call.getTensors())
    launchBuffers.push_back(buffers.lookup(tensor));
  unsigned tensors = call.getTensors().size();
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    AffineMap shape = cast<AffineMapAttr>(kernel.getShapes()[tensors + i]).getValue();
    AffineExpr count = getAffineConstantExpr(1, func.getContext());
    for (AffineExpr size : shape.getResults())
      count = count * size;
    Value elements = evaluateSizes(builder, func.getLoc(), count, mapped);
    Value buffer = kernel.getInits()[i] >= 0
                       ? updatedBuffer(call, kernel, i, elements, launchBuffers)
                       : resultBuffer(call, kernel, i, elements, launchBuffers);
    buffers[result] = buffer;
    holder[buffer] = result;
    launchBuffers.push_back(buffer);
  }
  launch(call, kernel, launchBuffers);
  return success();
}

void Planner::planLibrary(graph::LibraryOp step) {
  Location loc = step.getLoc();
  SmallVector<Value> operands;
  SmallVector<SmallVector<Value>> shapes;
  for (Value input : step.getInputs()) {
    operands.push_back(buffers.lookup(input));
    shapes.push_back(allSizes(input));
  }
  Value elements = index(1);
  SmallVector<Value> shape = allSizes(step.getResult());
  for (Value size : shape)
    elements = arith::MulIOp::create(builder, loc, elements, size);
  Value buffer =
      plan::AllocOp::create(builder, loc, bufferType(step.getResult()), elements, IntegerAttr());
  buffers[step.getResult()] = buffer;
  holder[buffer] = step.getResult();
  if (groups && runsByGroups(step))
    return planByGroups(builder, symbols, step, {operands, shapes, buffer, shape});
  shapes.push_back(shape);
  SmallVector<Value> extents;
  SmallVector<int64_t> ranks;
  for (const SmallVector<Value> &own : shapes) {
    ranks.push_back(static_cast<int64_t>(own.size()));
    extents.append(own);
  }
  auto node = step->getAttrOfType<IntegerAttr>("graph.node");
  auto lines = step->getAttrOfType<StringAttr>("graph.lines");
  plan::CallOp::create(builder, loc, step.getRoutine(), operands, buffer, extents, ranks,
                       step.getParams(), node ? node.getInt() : -1,
                       lines ? lines.getValue() : StringRef());
}

/// What a launch of a kernel that reports faults takes besides.
void Planner::addSites(ArrayAttr reported, SmallVectorImpl<Value> &launchBuffers,
                       SmallVectorImpl<Value> &mapped) {
  launchBuffers.push_back(faultBuffer());
  mapped.push_back(index(sites.size()));
  llvm::append_range(sites, reported);
  faults.setSitesAttr(builder.getArrayAttr(sites));
}

void Planner::launch(kernel::CallOp call, kernel::FuncOp kernel, SmallVector<Value> launchBuffers) {
  auto inProgram = [&](Value size) { return sizes.lookup(size); };
  SmallVector<Value> mapped = llvm::map_to_vector(call.getSizes(), inProgram);
  // A place that nobody asks the element of is gone: a kernel may report less than its call says.
  if (call.getFaultsAttr() && reportsFaults(kernel))
    addSites(call.getFaultsAttr(), launchBuffers, mapped);
  KernelLaunches(builder, call, kernel, launchBuffers, mapped, [&] {
    return ticketBuffer();
  }).plan();
}

Value Planner::faultBuffer() {
  if (!faults)
    faults = plan::FaultsOp::create(builder, func.getLoc(),
                                    plan::BufferType::get(func.getContext(), builder.getI64Type()),
                                    builder.getArrayAttr({}));
  return faults.getBuffer();
}

Value Planner::ticketBuffer() {
  if (!tickets) {
    tickets = plan::AllocOp::create(builder, func.getLoc(),
                                    plan::BufferType::get(func.getContext(), builder.getI32Type()),
                                    index(kTickets), IntegerAttr());
    tickets->setAttr(kTicketsAttr, builder.getI64IntegerAttr(kTickets * sizeof(int32_t)));
  }
  return tickets.getBuffer();
}

void Planner::planReturn(func::ReturnOp ret) {
  SmallVector<Value> returned, dims;
  DenseSet<Value> taken;
  for (Value tensor : ret.getOperands()) {
    Value buffer = buffers.lookup(tensor);
    // The caller owns what it gets: an input, or a buffer that is returned twice, is copied.
    if (isa<BlockArgument>(buffer) || !taken.insert(buffer).second) {
      Value size = index(1);
      for (Value dim : allSizes(tensor))
        size = arith::MulIOp::create(builder, ret.getLoc(), size, dim);
      Value copy =
          plan::AllocOp::create(builder, ret.getLoc(), buffer.getType(), size, IntegerAttr());
      plan::CopyOp::create(builder, ret.getLoc(), buffer, copy);
      buffer = copy;
      taken.insert(buffer);
    }
    returned.push_back(buffer);
  }
  for (Value tensor : ret.getOperands())
    dims.append(dynamicSizes(tensor));
  plan::ReturnOp::create(builder, ret.getLoc(), returned, dims);
}

struct BuildPlan : pass::impl::BuildPlanBase<BuildPlan> {
  using BuildPlanBase::BuildPlanBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (failed(Planner(func, symbols, groups).run()))
        return signalPassFailure();
      func.erase();
    }
  }
};

} // namespace
