#include "compiler/passes/Passes.h"
#include "compiler/passes/fuse/CompareRoots.h"
#include "compiler/passes/fuse/FusionPlan.h"
#include "compiler/passes/fuse/Watch.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace graphc::pass {
#define GEN_PASS_DEF_FORMKERNELS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// The number the recorder gave a gather or scatter, or -1.
int64_t placeNumber(Location loc) {
  int64_t number = -1;
  if (auto name = dyn_cast<NameLoc>(loc))
    if (StringRef text = name.getName(); text.consume_front(graph::kPlacePrefix))
      if (text.getAsInteger(10, number))
        return -1;
  return number;
}

/// Builds the kernel of one group. Maps first use the size symbols of the whole function; `finish`
/// renumbers them in order of first use, so that equal kernels become equal text.
class KernelBuilder {
public:
  KernelBuilder(Group &group, FusionPlan &plan, SizeAnalysis &sizes, MLIRContext *context)
      : group(group), plan(plan), sizes(sizes), context(context), body(context) {
    body.setInsertionPointToStart(&block);
    for (unsigned i = 0; i < group.space.size(); ++i)
      if (!llvm::is_contained(group.reduced, i))
        order.push_back(i);
    parallel = order.size();
    order.append(group.reduced.begin(), group.reduced.end());
    place.resize(order.size());
    for (auto [kernelDim, logical] : llvm::enumerate(order))
      place[logical] = getAffineDimExpr(kernelDim, context);
  }

  void build() {
    for (Node *node : group.nodes)
      emitNode(*node);
    kernel::ReturnOp::create(body, UnknownLoc::get(context));
  }

  kernel::FuncOp finish(OpBuilder &builder, StringRef name);

  ArrayRef<Value> tensors() const { return roots; }
  ArrayRef<Node *> results() const { return stored; }
  /// Function-level symbol numbers of the kernel's sizes, in argument order.
  ArrayRef<unsigned> sizeSymbols() const { return used; }
  std::string lines() const { return llvm::join(lineSet, "; "); }
  /// Axis and line of every checked index; null when there is none.
  ArrayAttr faults() { return sites.empty() ? ArrayAttr() : body.getArrayAttr(sites); }

private:
  Type scalar(Value tensor) { return graph::elementType(tensor.getType()); }

  /// Expressions over the node's own dimensions, over the kernel's. Row values already count kernel
  /// dimensions, because parallel dimensions come first.
  SmallVector<AffineExpr> toKernel(const Node &node, ArrayRef<AffineExpr> exprs) {
    if (!node.readsPoints())
      return SmallVector<AffineExpr>(exprs);
    SmallVector<AffineExpr> result;
    for (AffineExpr e : exprs)
      result.push_back(e.replaceDims(place));
    return result;
  }

  AffineMap mapOf(ArrayRef<AffineExpr> exprs) {
    SmallVector<AffineExpr> simple;
    for (AffineExpr e : exprs)
      simple.push_back(simplifyAffineExpr(e, order.size(), sizes.symbols().size()));
    return AffineMap::get(order.size(), sizes.symbols().size(), simple, context);
  }

  Value tensorArgument(Value root) {
    auto [it, inserted] = arguments.try_emplace(root, Value());
    if (inserted) {
      it->second = block.addArgument(root.getType(), root.getLoc());
      roots.push_back(root);
    }
    return it->second;
  }

  Value convert(Location loc, Value value, Type type) {
    return value.getType() == type ? value
                                   : graph::CastOp::create(body, loc, type, value).getResult();
  }

  Value literal(Location loc, TypedAttr attr) {
    auto integer = dyn_cast<IntegerAttr>(attr);
    if (!integer || !attr.getType().isUnsignedInteger())
      return arith::ConstantOp::create(body, loc, attr);
    // arith constants are signless; the cast only renames the type.
    Type signless = body.getIntegerType(attr.getType().getIntOrFloatBitWidth());
    Value bits =
        arith::ConstantOp::create(body, loc, body.getIntegerAttr(signless, integer.getValue()));
    return convert(loc, bits, attr.getType());
  }

  Value generate(Operation *op, ArrayRef<AffineExpr> indices) {
    Location loc = op->getLoc();
    Type type = scalar(op->getResult(0));
    if (auto full = dyn_cast<graph::FullOp>(op))
      return convert(loc, literal(loc, cast<TypedAttr>(full.getValue())), type);
    AffineExpr expr = getAffineConstantExpr(1, context);
    if (auto extent = dyn_cast<graph::ExtentOp>(op))
      for (int64_t axis : extent.getAxes())
        expr = expr * sizes.expr(sizes.of(extent.getX())[axis]);
    else
      expr = indices.empty() ? getAffineConstantExpr(0, context) : indices.front();
    return convert(loc, kernel::IndexOp::create(body, loc, AffineMapAttr::get(mapOf(expr))), type);
  }

  /// The scalar at element `indices` (over kernel dimensions) of `tensor`.
  Value read(Value tensor, ArrayRef<AffineExpr> indices) {
    Access access = resolveAccess(tensor, indices, sizes);
    SmallVector<AffineExpr> points = squeezedIndices(access.indices, sizes.of(access.root));
    Operation *op = access.root.getDefiningOp();
    bool alias = op && isa<graph::ReshapeOp>(op);
    Node *producer = alias ? nullptr : plan.node(access.root);
    bool generator = op && op->hasTrait<graph::Generator>();
    if (producer && !generator && !producer->inlined && plan.groupOf(*producer) == &group)
      return values.lookup(producer);
    auto key = std::make_pair(access.root, AffineMapAttr::get(mapOf(points)));
    if (Value known = memo.lookup(key))
      return known;
    Value result;
    if (generator)
      result = generate(op, points);
    else if (producer && producer->inlined)
      result = compute(*producer, points);
    else
      result = kernel::LoadOp::create(body, access.root.getLoc(), scalar(access.root),
                                      tensorArgument(access.root), key.second, IntegerAttr());
    memo[key] = result;
    return result;
  }

  AffineMap sizeMap(const Size &size) { return mapOf(sizes.expr(size)); }

  /// The map of a tensor's element from indices over kernel dimensions and then `places`.
  AffineMap placedMap(ArrayRef<AffineExpr> exprs, unsigned places) {
    unsigned dims = order.size() + places, symbols = sizes.symbols().size();
    SmallVector<AffineExpr> simple;
    for (AffineExpr e : exprs)
      simple.push_back(simplifyAffineExpr(e, dims, symbols));
    return AffineMap::get(dims, symbols, simple, context);
  }

  /// Indices into the named axes of a tensor, checked.
  SmallVector<Value> bound(Location loc, ArrayRef<Value> indices, Value tensor,
                           ArrayRef<int64_t> axes) {
    SmallVector<Value> places;
    for (auto [index, axis] : llvm::zip_equal(indices, axes)) {
      auto map = AffineMapAttr::get(sizeMap(sizes.of(tensor)[axis]));
      Value &known = checked[{index, map}];
      if (!known) {
        SmallVector<std::string> lines;
        collectLines(loc, lines);
        sites.push_back(body.getDictionaryAttr(
            {body.getNamedAttr("axis", body.getI64IntegerAttr(axis)),
             body.getNamedAttr("line", body.getStringAttr(llvm::join(lines, "; "))),
             body.getNamedAttr("place", body.getI64IntegerAttr(placeNumber(loc)))}));
        known = kernel::BoundOp::create(body, loc, index, map,
                                        body.getI64IntegerAttr(sites.size() - 1));
      }
      places.push_back(known);
    }
    return places;
  }

  /// One expression per axis of a tensor of the node's elements.
  SmallVector<AffineExpr> pointsOf(Value tensor, ArrayRef<AffineExpr> points) {
    unsigned next = 0;
    SmallVector<AffineExpr> full = identityIndices(sizes.of(tensor), next, context);
    for (AffineExpr &e : full)
      e = e.replaceDims(points);
    return full;
  }

  /// The loop whose position an index is, where it runs along all of an axis; then it is inside.
  std::optional<unsigned> loopAlong(Value index, const Size &axis) {
    auto position = index.getDefiningOp<kernel::IndexOp>();
    if (!position)
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(position.getMap().getResult(0));
    if (!dim || sizes.expr(group.space[order[dim.getPosition()]]) != sizes.expr(axis))
      return std::nullopt;
    return dim.getPosition();
  }

  /// Indices into some axes of a tensor: the positions of loops, or places that are checked.
  struct Indexed {
    SmallVector<AffineExpr> dims; ///< the kernel's dimensions, then one an index
    SmallVector<Value> places;
  };

  Indexed indexed(Location loc, ArrayRef<Value> indices, Value tensor, ArrayRef<int64_t> axes) {
    Indexed result;
    SmallVector<Value> unknown;
    SmallVector<int64_t> unknownAxes;
    for (unsigned i = 0; i < order.size(); ++i)
      result.dims.push_back(getAffineDimExpr(i, context));
    for (auto [index, axis] : llvm::zip_equal(indices, axes)) {
      auto loop = loopAlong(index, sizes.of(tensor)[axis]);
      result.dims.push_back(
          getAffineDimExpr(loop ? *loop : order.size() + unknown.size(), context));
      if (loop)
        continue;
      unknown.push_back(index);
      unknownAxes.push_back(axis);
    }
    result.places = bound(loc, unknown, tensor, unknownAxes);
    return result;
  }

  /// Indices that are inside, or, where all are `places`, whose points are left out by a guard.
  Indexed unchecked(ArrayRef<Value> indices, bool places) {
    Indexed result;
    for (unsigned i = 0; i < order.size(); ++i)
      result.dims.push_back(getAffineDimExpr(i, context));
    for (Value index : indices) {
      if (auto position = index.getDefiningOp<kernel::IndexOp>(); position && !places) {
        result.dims.push_back(position.getMap().getResult(0));
        continue;
      }
      result.dims.push_back(getAffineDimExpr(order.size() + result.places.size(), context));
      result.places.push_back(index);
    }
    return result;
  }

  Value gather(graph::GatherOp op, ArrayRef<Value> indices, ArrayRef<AffineExpr> points) {
    Indexed at = op->hasAttr(kInsideAttr) ? unchecked(indices, /*places=*/false)
                                          : indexed(op.getLoc(), indices, op.getX(), op.getAxes());
    int64_t rank = cast<RankedTensorType>(op.getIndices()[0].getType()).getRank();
    SmallVector<AffineExpr> source = placedIndices(op.getX(), op.getAxes(), op.getPosition(), rank,
                                                   pointsOf(op.getResult(), points), order.size());
    for (AffineExpr &e : source)
      e = e.replaceDims(at.dims);
    Access access = resolveAccess(op.getX(), source, sizes);
    auto map = AffineMapAttr::get(
        placedMap(squeezedIndices(access.indices, sizes.of(access.root)), at.places.size()));
    Value tensor = tensorArgument(access.root);
    if (at.places.empty())
      return kernel::LoadOp::create(body, op.getLoc(), scalar(op.getX()), tensor, map,
                                    IntegerAttr());
    UnitAttr runs = op->hasAttr(kAgainAttr) ? body.getUnitAttr() : UnitAttr();
    return kernel::GatherOp::create(body, op.getLoc(), scalar(op.getX()), tensor, at.places, map,
                                    IntegerAttr(), runs);
  }

  void scatter(Node &node, graph::ScatterOp op, ArrayRef<AffineExpr> points) {
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    for (auto [read, tensor] : llvm::enumerate(node.reads))
      operands.push_back(this->read(tensor, movedIndices(node, read, points)));
    Indexed at;
    Value guard;
    if (op.getDrop()) {
      at = unchecked(ArrayRef(operands).drop_front(), /*places=*/true);
      for (auto [place, axis] : llvm::zip_equal(at.places, op.getAxes())) {
        Value inside = kernel::InsideOp::create(
            body, loc, place, AffineMapAttr::get(sizeMap(sizes.of(op.getX())[axis])));
        guard = guard ? graph::LogicalAndOp::create(body, loc, guard, inside).getResult() : inside;
      }
    } else {
      at = indexed(loc, ArrayRef(operands).drop_front(), op.getX(), op.getAxes());
    }
    int64_t rank = cast<RankedTensorType>(op.getIndices()[0].getType()).getRank();
    SmallVector<AffineExpr> target = placedIndices(op.getX(), op.getAxes(), op.getPosition(), rank,
                                                   pointsOf(op.getValue(), points), order.size());
    for (AffineExpr &e : target)
      e = e.replaceDims(at.dims);
    if (node.base != op.getX())
      target = resolveAccess(op.getX(), target, sizes).indices;
    AffineMap map = placedMap(squeezedIndices(target, sizes.of(node.result)), at.places.size());
    inits.push_back(cast<BlockArgument>(tensorArgument(node.base)).getArgNumber());
    kernel::ScatterOp::create(body, loc, operands[0], at.places, guard,
                              body.getI64IntegerAttr(stored.size()), op.getCombineAttr(),
                              AffineMapAttr::get(map), op.getUniqueAttr(), op.getSortedAttr(),
                              IntegerAttr());
    stored.push_back(&node);
  }

  /// The node's operation on scalars, with its own dimensions replaced by `points`.
  Value compute(Node &node, ArrayRef<AffineExpr> points) {
    SmallVector<Value> operands;
    for (auto [tensor, indices] : llvm::zip_equal(node.reads, node.readIndices)) {
      SmallVector<AffineExpr> moved;
      for (AffineExpr e : indices)
        moved.push_back(e.replaceDims(points));
      operands.push_back(read(tensor, moved));
    }
    if (auto op = dyn_cast<graph::GatherOp>(node.op))
      return gather(op, operands, points);
    // What only gives a value memory of its own (SeparateUpdates.cpp).
    if (isa<graph::CastOp>(node.op) && operands[0].getType() == scalar(node.result))
      return operands[0];
    OperationState state(node.op->getLoc(), node.op->getName());
    state.addOperands(operands);
    state.addTypes(scalar(node.result));
    state.addAttributes(node.op->getAttrs());
    state.attributes.erase(kAgainAttr);
    return body.create(state)->getResult(0);
  }

  void emitNode(Node &node) {
    if (node.op)
      collectLines(node.op->getLoc(), lineSet);
    SmallVector<AffineExpr> points;
    for (unsigned i = 0; i < node.space.size(); ++i)
      points.push_back(getAffineDimExpr(i, context));
    points = toKernel(node, points);
    if (auto op = dyn_cast_or_null<graph::ScatterOp>(node.op))
      return scatter(node, op, points);
    Value value;
    Location loc = node.result.getLoc();
    switch (node.kind) {
    case NodeKind::Map:
      value = compute(node, points);
      break;
    case NodeKind::Copy:
    case NodeKind::Update:
      value = read(node.reads[0], movedIndices(node, 0, points));
      break;
    case NodeKind::Reduce: {
      Value operand = read(node.reads[0], movedIndices(node, 0, points));
      bool rowTree = node.reduced.back() + 1 != node.space.size();
      value = kernel::ReduceOp::create(body, loc, scalar(node.result),
                                       cast<graph::ReduceOp>(node.op).getKindAttr(), operand,
                                       rowTree ? body.getUnitAttr() : UnitAttr());
      break;
    }
    case NodeKind::Scan: {
      // Along one element a scan is its operand.
      Value operand = read(node.reads[0], movedIndices(node, 0, points));
      value = node.reduced.empty()
                  ? operand
                  : kernel::ScanOp::create(body, loc, scalar(node.result),
                                           cast<graph::ScanOp>(node.op).getKindAttr(), operand)
                        .getResult();
      break;
    }
    case NodeKind::Library:
      llvm_unreachable("a step of its own");
    case NodeKind::Contract: {
      Value lhs = read(node.reads[0], movedIndices(node, 0, points));
      Value rhs = read(node.reads[1], movedIndices(node, 1, points));
      value = kernel::DotOp::create(body, loc, lhs, rhs, cast<graph::MatmulOp>(node.op).getFast());
      break;
    }
    }
    values[&node] = value;
    if (node.stored)
      store(node, value);
  }

  SmallVector<AffineExpr> movedIndices(Node &node, unsigned read, ArrayRef<AffineExpr> points) {
    SmallVector<AffineExpr> moved;
    for (AffineExpr e : node.readIndices[read])
      moved.push_back(e.replaceDims(points));
    return moved;
  }

  void store(Node &node, Value value) {
    SmallVector<AffineExpr> where;
    unsigned dims = node.row ? parallel : node.space.size();
    for (unsigned i = 0; i < dims; ++i)
      where.push_back(node.row ? getAffineDimExpr(i, context) : place[i]);
    int64_t init = -1, number = stored.size();
    if (node.kind == NodeKind::Update) {
      auto update = cast<graph::UpdateSliceOp>(node.op);
      unsigned next = 0;
      SmallVector<AffineExpr> points;
      for (const Size &size : sizes.of(update.getValue()))
        points.push_back(size.isConstant(1) ? getAffineConstantExpr(0, context) : where[next++]);
      where = squeezedIndices(updatedIndices(update, points, sizes), sizes.of(node.result));
      if (auto before = resultOf.find(node.continues); before != resultOf.end()) {
        number = before->second;
      } else if (node.base) {
        Value argument = tensorArgument(node.base);
        init = cast<BlockArgument>(argument).getArgNumber();
      }
    }
    if (number == static_cast<int64_t>(stored.size())) {
      inits.push_back(init);
      stored.push_back(&node);
    }
    stored[number] = &node;
    resultOf[&node] = number;
    kernel::StoreOp::create(body, node.result.getLoc(), value, /*imaginary=*/Value(),
                            body.getI64IntegerAttr(number), AffineMapAttr::get(mapOf(where)));
  }

  AffineMap shapeOf(Value tensor) {
    SmallVector<AffineExpr> exprs;
    for (const Size &size : squeezed(sizes.of(tensor)))
      exprs.push_back(sizes.expr(size));
    return AffineMap::get(0, sizes.symbols().size(), exprs, context);
  }

  Group &group;
  FusionPlan &plan;
  SizeAnalysis &sizes;
  MLIRContext *context;
  Block block;
  OpBuilder body;
  SmallVector<unsigned> order;   // logical dimension of each kernel dimension
  SmallVector<AffineExpr> place; // kernel dimension of each logical one
  unsigned parallel = 0;
  DenseMap<Node *, Value> values;
  DenseMap<std::pair<Value, AffineMapAttr>, Value> memo;
  DenseMap<Value, Value> arguments;
  SmallVector<Value> roots;
  SmallVector<Node *> stored; // of each result the last node that writes it
  DenseMap<Node *, int64_t> resultOf;
  SmallVector<int64_t> inits;
  SmallVector<unsigned> used;
  SmallVector<std::string> lineSet;
  SmallVector<Attribute> sites;
  DenseMap<std::pair<Value, AffineMapAttr>, Value> checked;
};

kernel::FuncOp KernelBuilder::finish(OpBuilder &builder, StringRef name) {
  SmallVector<AffineMap> shapes;
  for (Value root : roots)
    shapes.push_back(shapeOf(root));
  for (Node *node : stored)
    shapes.push_back(shapeOf(node->result));
  SmallVector<AffineExpr> extents;
  for (unsigned logical : order)
    extents.push_back(sizes.expr(group.space[logical]));
  AffineMap domain = AffineMap::get(0, sizes.symbols().size(), extents, context);

  llvm::SmallDenseMap<unsigned, unsigned> number;
  auto note = [&](AffineMap map) {
    map.walkExprs([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        if (number.try_emplace(symbol.getPosition(), used.size()).second)
          used.push_back(symbol.getPosition());
    });
  };
  note(domain);
  for (AffineMap shape : shapes)
    note(shape);
  for (Operation &op : block)
    if (auto map = op.getAttrOfType<AffineMapAttr>("map"))
      note(map.getValue());
  SmallVector<AffineExpr> renumber(sizes.symbols().size(), getAffineConstantExpr(0, context));
  for (auto [from, to] : number)
    renumber[from] = getAffineSymbolExpr(to, context);
  auto compact = [&](AffineMap map) {
    return map.replaceDimsAndSymbols({}, renumber, map.getNumDims(), used.size());
  };
  auto compactDims = [&](AffineMap map) {
    SmallVector<AffineExpr> dims;
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      dims.push_back(getAffineDimExpr(d, context));
    return map.replaceDimsAndSymbols(dims, renumber, map.getNumDims(), used.size());
  };
  for (Operation &op : block)
    if (auto map = op.getAttrOfType<AffineMapAttr>("map"))
      op.setAttr("map", AffineMapAttr::get(compactDims(map.getValue())));

  SmallVector<Type> inputs, outputs;
  for (Value root : roots)
    inputs.push_back(root.getType());
  inputs.append(used.size(), builder.getIndexType());
  for (Node *node : stored)
    outputs.push_back(node->result.getType());
  SmallVector<Attribute> shapeAttrs;
  for (AffineMap shape : shapes)
    shapeAttrs.push_back(AffineMapAttr::get(compact(shape)));
  auto func = kernel::FuncOp::create(
      builder, UnknownLoc::get(context), builder.getStringAttr(name),
      TypeAttr::get(builder.getFunctionType(inputs, outputs)),
      kernel::DomainAttr::get(context, compact(domain), parallel), builder.getArrayAttr(shapeAttrs),
      builder.getDenseI64ArrayAttr(inits), kernel::ScheduleAttr(), ArrayAttr(), ArrayAttr());
  Block *entry = &func.getBody().emplaceBlock();
  entry->getOperations().splice(entry->end(), block.getOperations());
  for (BlockArgument argument : block.getArguments())
    argument.replaceAllUsesWith(entry->addArgument(argument.getType(), argument.getLoc()));
  for (size_t i = 0; i < used.size(); ++i)
    entry->addArgument(builder.getIndexType(), UnknownLoc::get(context));
  return func;
}

/// What kernels of `func` are called but for their number: an identifier in every target's
/// language.
std::string kernelPrefix(func::FuncOp func) {
  std::string name = func.getSymName().str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return llvm::isDigit(name.front()) ? "_" + name : name;
}

struct FormKernels : pass::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (failed(rewrite(func)))
        return signalPassFailure();
  }

  LogicalResult rewrite(func::FuncOp func) {
    if (!llvm::hasSingleElement(func.getBody()))
      return func.emitOpError("graph functions have one block");
    separateUpdates(func);
    SizeAnalysis sizes(func);
    for (const SizeAnalysis::Equality &check : sizes.equalities())
      recordCheck(func, check);
    auto planned = std::make_unique<FusionPlan>(func, sizes, mostPartial, /*isApart=*/false);
    if (mostReductions && planned->differentReductions() > static_cast<size_t>(mostReductions))
      planned = std::make_unique<FusionPlan>(func, sizes, mostPartial, /*isApart=*/true);
    FusionPlan &plan = *planned;
    SmallVector<Group *> groups = plan.order();
    SmallVector<Operation *> old;
    for (Operation &op : func.getBody().front().without_terminator())
      if (isa<graph::GraphDialect>(op.getDialect()) && !isa<graph::DimOp>(op))
        old.push_back(&op);

    Operation *terminator = func.getBody().front().getTerminator();
    OpBuilder calls(terminator), kernels(func);
    IRMapping done;
    std::string prefix = kernelPrefix(func);
    while (!prefixes.insert(prefix).second)
      prefix += "_"; // of another function, which has other letters
    for (auto [number, group] : llvm::enumerate(groups)) {
      if (group->isLibrary()) {
        emitLibrary(calls, group->nodes[0]->op, done);
        continue;
      }
      KernelBuilder kernel(*group, plan, sizes, &getContext());
      kernel.build();
      std::string name = prefix + "_" + std::to_string(number);
      kernel::FuncOp callee = kernel.finish(kernels, name);
      compareSquares(callee);
      Attribute watch = func->getParentOp()->getAttr(pass::kWatchAttr);
      bool watched =
          watch && (isa<StringAttr>(watch) ? watchOperations(callee) : watchValues(callee));
      emitCall(calls, callee, kernel, watched, sizes, done);
    }
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(materialized(operand.get(), calls, done));
    for (Operation *op : llvm::reverse(old)) {
      if (!op->use_empty())
        return op->emitOpError("is still used after kernels were formed");
      op->erase();
    }
    SmallVector<Attribute> cuts;
    for (const std::string &line : plan.cuts(groups))
      cuts.push_back(kernels.getStringAttr(line));
    func->getParentOp()->setAttr("graphc.cuts", kernels.getArrayAttr(cuts));
    return success();
  }

  void recordCheck(func::FuncOp func, const SizeAnalysis::Equality &check) {
    OpBuilder builder(func.getBody().front().getTerminator());
    auto value = [&](const Size &size) -> Value {
      return size.value ? size.value
                        : arith::ConstantIndexOp::create(builder, func.getLoc(), size.constant)
                              .getResult();
    };
    Value a = value(check.a), b = value(check.b);
    kernel::CheckOp::create(builder, func.getLoc(), a, b, builder.getStringAttr(check.what));
  }

  static Value materialized(Value tensor, OpBuilder &builder, IRMapping &done) {
    if (Value known = done.lookupOrNull(tensor))
      return known;
    auto reshape = tensor.getDefiningOp<graph::ReshapeOp>();
    if (!reshape)
      return tensor;
    Value from = materialized(reshape.getX(), builder, done);
    Value alias = graph::ReshapeOp::create(builder, reshape.getLoc(), reshape.getType(), from,
                                           reshape.getSizes());
    done.map(tensor, alias);
    return alias;
  }

  /// The same op over the buffers of its operands.
  static void emitLibrary(OpBuilder &builder, Operation *op, IRMapping &done) {
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        operands.map(operand, materialized(operand, builder, done));
    Operation *step = builder.clone(*op, operands);
    SmallVector<std::string> lineSet;
    collectLines(op->getLoc(), lineSet);
    step->setAttr("graph.lines", builder.getStringAttr(llvm::join(lineSet, "; ")));
    done.map(op->getResult(0), step->getResult(0));
  }

  void emitCall(OpBuilder &builder, kernel::FuncOp callee, KernelBuilder &kernel, bool watched,
                SizeAnalysis &sizes, IRMapping &done) {
    SmallVector<Value> tensors, sizeValues;
    for (Value root : kernel.tensors())
      tensors.push_back(materialized(root, builder, done));
    DenseMap<Value, int64_t> position;
    for (unsigned symbol : kernel.sizeSymbols()) {
      position.try_emplace(sizes.symbols()[symbol], sizeValues.size());
      sizeValues.push_back(sizes.symbols()[symbol]);
    }
    SmallVector<int64_t> resultDims;
    SmallVector<Type> types;
    for (Node *node : kernel.results()) {
      auto type = cast<RankedTensorType>(node->result.getType());
      types.push_back(type);
      for (auto [axis, size] : llvm::enumerate(type.getShape())) {
        if (!ShapedType::isDynamic(size))
          continue;
        Size known = sizes.of(node->result)[axis];
        Value value = known.value;
        if (!value)
          value = arith::ConstantIndexOp::create(builder, node->result.getLoc(), known.constant);
        auto [it, inserted] = position.try_emplace(value, sizeValues.size());
        if (inserted)
          sizeValues.push_back(value);
        resultDims.push_back(it->second);
      }
    }
    // Result sizes that no map uses are extra size arguments of the kernel.
    callee.appendSizes(sizeValues.size() - callee.getNumSizes());
    ArrayAttr faults = kernel.faults();
    if (watched && !faults)
      faults = builder.getArrayAttr({});
    auto call = kernel::CallOp::create(
        builder, callee.getLoc(), types, callee.getSymNameAttr(), tensors, sizeValues,
        builder.getDenseI64ArrayAttr(resultDims), builder.getStringAttr(kernel.lines()), faults);
    for (auto [node, result] : llvm::zip_equal(kernel.results(), call.getResults()))
      done.map(node->result, result);
  }

  llvm::StringSet<> prefixes; ///< of the kernels of all functions
};

} // namespace
