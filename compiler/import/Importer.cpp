#include "compiler/import/Importer.h"

#include "compiler/passes/fuse/Watch.h"

#include "dialects/graph/Graph.h"
#include "runtime/base/Routine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace graphc;

namespace {

class Importer {
public:
  Importer(MLIRContext &context, const op::GraphDesc &graph) : desc(graph), builder(&context) {}
  Result<OwningOpRef<ModuleOp>> run();

private:
  Type elementType(DType type);
  RankedTensorType tensorType(DType type, const std::vector<op::Extent> &shape);
  SmallVector<Value> dynamicSizes(const std::vector<op::Extent> &shape);
  Location location(uint32_t line);
  Status openFunction(ModuleOp module);
  Status importNode(const op::NodeDesc &node);
  Status create(const op::NodeDesc &node, RankedTensorType type, ArrayRef<Value> operands,
                Location loc);
  Operation *createLibrary(const op::NodeDesc &node, RankedTensorType type,
                           ArrayRef<Value> operands, const op::LibraryAttrs &attrs, Location loc);
  Operation *createElementwise(op::OpKind kind, RankedTensorType type, ArrayRef<Value> operands,
                               Location loc);
  Status createPlaces(const op::NodeDesc &node, RankedTensorType type, ArrayRef<Value> operands,
                      Location loc);
  TypedAttr literal(Type type, uint64_t bits);
  Location place(Location loc);
  /// Splits extents into static entries (kDynamic for symbols) and the symbols' values.
  void splitExtents(const std::vector<int64_t> &extents, SmallVector<int64_t> &fixed,
                    SmallVector<Value> &dynamic);

  const op::GraphDesc &desc;
  OpBuilder builder;
  SmallVector<Value> values, symbols;
  unsigned places = 0;
};

Type Importer::elementType(DType type) {
  if (type == DType::Float32)
    return builder.getF32Type();
  if (type == DType::Float64)
    return builder.getF64Type();
  if (type == DType::Float16)
    return builder.getF16Type();
  if (type == DType::BFloat16)
    return builder.getBF16Type();
  if (type == DType::Bool)
    return builder.getI1Type();
  if (isComplex(type))
    return ComplexType::get(elementType(realDType(type)));
  unsigned width = itemSize(type) * 8;
  return isUnsigned(type) ? builder.getIntegerType(width, /*isSigned=*/false)
                          : builder.getIntegerType(width);
}

RankedTensorType Importer::tensorType(DType type, const std::vector<op::Extent> &shape) {
  SmallVector<int64_t> sizes;
  for (op::Extent e : shape)
    sizes.push_back(op::isSymbol(e) ? ShapedType::kDynamic : e);
  return RankedTensorType::get(sizes, elementType(type));
}

SmallVector<Value> Importer::dynamicSizes(const std::vector<op::Extent> &shape) {
  SmallVector<Value> result;
  for (op::Extent e : shape)
    if (op::isSymbol(e))
      result.push_back(symbols[op::symbolOf(e)]);
  return result;
}

/// "file:line"; anything else is unknown.
Location Importer::location(uint32_t line) {
  if (line == 0 || line >= desc.lines.size())
    return builder.getUnknownLoc();
  StringRef text(desc.lines[line]);
  auto [file, number] = text.rsplit(':');
  unsigned value = 0;
  if (number.getAsInteger(10, value))
    return builder.getUnknownLoc();
  return FileLineColLoc::get(builder.getContext(), file, value, 0);
}

/// A program is found again by its structure: what it refuses, it names by number.
Location Importer::place(Location loc) {
  return NameLoc::get(builder.getStringAttr(graph::kPlacePrefix + std::to_string(places++)), loc);
}

void Importer::splitExtents(const std::vector<int64_t> &extents, SmallVector<int64_t> &fixed,
                            SmallVector<Value> &dynamic) {
  for (op::Extent e : extents) {
    fixed.push_back(op::isSymbol(e) ? ShapedType::kDynamic : e);
    if (!op::isSymbol(e))
      continue;
    dynamic.push_back(symbols[op::symbolOf(e)]);
    // Equal starts have one symbol, and 0 and 1 none.
    if (auto argument = dyn_cast<BlockArgument>(dynamic.back()))
      cast<func::FuncOp>(argument.getOwner()->getParentOp())
          .setArgAttr(argument.getArgNumber(), "graph.start", builder.getUnitAttr());
  }
}

TypedAttr Importer::literal(Type type, uint64_t bits) {
  APInt pattern(type.getIntOrFloatBitWidth(), bits, false, /*implicitTrunc=*/true);
  if (auto floating = dyn_cast<FloatType>(type))
    return builder.getFloatAttr(type, APFloat(floating.getFloatSemantics(), pattern));
  return IntegerAttr::get(type, pattern);
}

Status Importer::openFunction(ModuleOp module) {
  SmallVector<Type> types;
  for (const op::InputDesc &input : desc.inputs)
    types.push_back(tensorType(input.dtype, input.shape));
  SmallVector<bool> bound(desc.symbolCount);
  for (const op::InputDesc &input : desc.inputs)
    for (op::Extent e : input.shape)
      if (op::isSymbol(e)) {
        if (op::symbolOf(e) >= desc.symbolCount)
          return Status(ErrorCode::Internal, "[import] symbol out of range");
        bound[op::symbolOf(e)] = true;
      }
  SmallVector<unsigned> unbound;
  for (unsigned s = 0; s < desc.symbolCount; ++s)
    if (!bound[s])
      unbound.push_back(s);
  types.append(unbound.size(), builder.getIndexType());
  builder.setInsertionPointToEnd(module.getBody());
  auto func = func::FuncOp::create(builder, builder.getUnknownLoc(), desc.name,
                                   builder.getFunctionType(types, {}));
  Block *entry = func.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  symbols.resize(desc.symbolCount);
  for (auto [i, s] : llvm::enumerate(unbound)) {
    unsigned argument = desc.inputs.size() + i;
    func.setArgAttr(argument, "graph.symbol", builder.getI64IntegerAttr(s));
    symbols[s] = entry->getArgument(argument);
  }
  for (auto [i, input] : llvm::enumerate(desc.inputs)) {
    values.push_back(entry->getArgument(i));
    SmallVector<int64_t> dims;
    bool any = false;
    for (auto [axis, e] : llvm::enumerate(input.shape)) {
      dims.push_back(op::isSymbol(e) ? op::symbolOf(e) : -1);
      any |= op::isSymbol(e);
      if (op::isSymbol(e) && !symbols[op::symbolOf(e)])
        symbols[op::symbolOf(e)] =
            graph::DimOp::create(builder, builder.getUnknownLoc(), builder.getIndexType(),
                                 values.back(), builder.getI64IntegerAttr(axis));
    }
    if (any)
      func.setArgAttr(i, "graph.dims", builder.getDenseI64ArrayAttr(dims));
  }
  return Status::ok();
}

Status Importer::importNode(const op::NodeDesc &node) {
  SmallVector<Value> operands;
  for (uint32_t operand : node.operands) {
    if (operand >= values.size())
      return Status(ErrorCode::Internal, "[import] operand is not defined before its use");
    operands.push_back(values[operand]);
  }
  for (op::Extent e : node.shape)
    if (op::isSymbol(e) && op::symbolOf(e) >= desc.symbolCount)
      return Status(ErrorCode::Internal, "[import] symbol out of range");
  size_t before = values.size();
  GRAPHC_TRY(create(node, tensorType(node.dtype, node.shape), operands, location(node.line)));
  if (values.size() != before + 1)
    return Status(ErrorCode::Internal, "[import] cannot read the attributes of " +
                                           std::string(op::opInfo(node.kind).name));
  return Status::ok();
}

Status Importer::createPlaces(const op::NodeDesc &node, RankedTensorType type,
                              ArrayRef<Value> operands, Location loc) {
  if (node.kind == op::OpKind::Gather) {
    if (op::GatherAttrs a; a.decode(node.attrs))
      values.push_back(graph::GatherOp::create(builder, place(loc), type, operands[0],
                                               operands.drop_front(), a.axes,
                                               static_cast<uint64_t>(a.position)));
    return Status::ok();
  }
  op::ScatterAttrs a;
  if (!a.decode(node.attrs))
    return Status::ok(); // the caller sees that nothing was made
  std::string_view combine;
  if (a.combine >= 0 && a.combine < op::kOpKindCount)
    combine = op::opInfo(static_cast<op::OpKind>(a.combine)).name;
  values.push_back(graph::ScatterOp::create(
      builder, place(loc), type, operands[0], operands[1], operands.drop_front(2), a.axes,
      static_cast<uint64_t>(a.position), StringRef(combine), (a.mode & 1) != 0, (a.mode & 2) != 0,
      /*sorted=*/false));
  return Status::ok();
}

/// Programs are shared by graphs that differ in nothing but their lines: an error of a library step
/// names the node, whose line the recorder knows.
Operation *Importer::createLibrary(const op::NodeDesc &node, RankedTensorType type,
                                   ArrayRef<Value> operands, const op::LibraryAttrs &attrs,
                                   Location loc) {
  auto library =
      graph::LibraryOp::create(builder, loc, type, routineName(static_cast<Routine>(attrs.routine)),
                               operands, dynamicSizes(node.shape), attrs.params);
  library->setAttr("graph.node", builder.getI64IntegerAttr(&node - desc.nodes.data()));
  return library;
}

/// Elementwise ops carry nothing but operands and types.
Operation *Importer::createElementwise(op::OpKind kind, RankedTensorType type,
                                       ArrayRef<Value> operands, Location loc) {
  OperationState state(loc, "graph." + std::string(op::opInfo(kind).name));
  state.addOperands(operands);
  state.addTypes(type);
  return builder.create(state);
}

/// What the recorder knew of an update. Those that write other elements are named by numbers of
/// values: passes may drop some of them.
static void noteKnown(graph::UpdateSliceOp update, const op::NodeDesc &node, size_t number) {
  Builder builder(update.getContext());
  if (node.isSmall)
    update->setAttr("graphc.small", builder.getUnitAttr());
  uint32_t count = node.apart;
  if (count == 0)
    return;
  SmallVector<int64_t> names;
  update->setAttr("graphc.update", builder.getI64IntegerAttr(static_cast<int64_t>(number)));
  for (graph::UpdateSliceOp before = update; count; --count) {
    before = before.getX().getDefiningOp<graph::UpdateSliceOp>();
    if (!before)
      break;
    // The first of a chain has no name yet. No other value has this one.
    if (!before->hasAttr("graphc.update"))
      before->setAttr("graphc.update", builder.getI64IntegerAttr(-static_cast<int64_t>(number)));
    names.push_back(before->getAttrOfType<IntegerAttr>("graphc.update").getInt());
  }
  update->setAttr("graphc.apart", builder.getDenseI64ArrayAttr(names));
}

Status Importer::create(const op::NodeDesc &node, RankedTensorType type, ArrayRef<Value> operands,
                        Location loc) {
  SmallVector<Value> sizes = dynamicSizes(node.shape), dynamic;
  SmallVector<int64_t> fixed;
  auto decoded = [&](auto &attrs) { return attrs.decode(node.attrs); };
  auto add = [&](Operation *op) { values.push_back(op->getResult(0)); };
  switch (node.kind) {
  case op::OpKind::Full:
    if (op::FullAttrs a; decoded(a))
      add(graph::FullOp::create(builder, loc, type,
                                literal(graph::realLike(type.getElementType()), a.value), sizes));
    return Status::ok();
  case op::OpKind::Iota:
    add(graph::IotaOp::create(builder, loc, type, sizes));
    return Status::ok();
  case op::OpKind::Extent:
    if (op::ExtentAttrs a; decoded(a))
      add(graph::ExtentOp::create(builder, loc, type, operands[0], a.axes));
    return Status::ok();
  case op::OpKind::Broadcast:
    if (op::BroadcastAttrs a; decoded(a))
      add(graph::BroadcastOp::create(builder, loc, type, operands[0], sizes, a.dims));
    return Status::ok();
  case op::OpKind::Transpose:
    if (op::TransposeAttrs a; decoded(a))
      add(graph::TransposeOp::create(builder, loc, type, operands[0], a.permutation));
    return Status::ok();
  case op::OpKind::Reshape:
    add(graph::ReshapeOp::create(builder, loc, type, operands[0], sizes));
    return Status::ok();
  case op::OpKind::Slice:
    if (op::SliceAttrs a; decoded(a)) {
      splitExtents(a.starts, fixed, dynamic);
      add(graph::SliceOp::create(builder, loc, type, operands[0], dynamic, sizes, fixed, a.steps));
    }
    return Status::ok();
  case op::OpKind::Flip:
    if (op::FlipAttrs a; decoded(a))
      add(graph::FlipOp::create(builder, loc, type, operands[0], a.axes));
    return Status::ok();
  case op::OpKind::Concatenate:
    if (op::ConcatenateAttrs a; decoded(a))
      add(graph::ConcatenateOp::create(builder, loc, type, operands, sizes,
                                       static_cast<uint64_t>(a.axis)));
    return Status::ok();
  case op::OpKind::UpdateSlice:
    if (op::UpdateSliceAttrs a; decoded(a)) {
      splitExtents(a.starts, fixed, dynamic);
      auto update = graph::UpdateSliceOp::create(builder, loc, type, operands[0], operands[1],
                                                 dynamic, fixed, a.steps);
      noteKnown(update, node, values.size());
      add(update);
    }
    return Status::ok();
  case op::OpKind::Gather:
  case op::OpKind::Scatter:
    return createPlaces(node, type, operands, loc);
  case op::OpKind::Reduce:
    if (op::ReduceAttrs a; decoded(a))
      if (auto kind = graph::symbolizeReduceKind(static_cast<uint32_t>(a.kind)))
        add(graph::ReduceOp::create(builder, loc, type, *kind, operands[0], a.axes));
    return Status::ok();
  case op::OpKind::Scan:
    if (op::ScanAttrs a; decoded(a))
      if (auto kind = graph::symbolizeReduceKind(static_cast<uint32_t>(a.kind)))
        add(graph::ScanOp::create(builder, loc, type, *kind, operands[0], a.axis));
    return Status::ok();
  case op::OpKind::Library:
    if (op::LibraryAttrs a; decoded(a) && a.routine >= 0 && a.routine < kRoutineCount)
      add(createLibrary(node, type, operands, a, loc));
    return Status::ok();
  case op::OpKind::Matmul:
    if (op::MatmulAttrs a; decoded(a))
      add(graph::MatmulOp::create(builder, loc, type, operands[0], operands[1], a.fast != 0));
    return Status::ok();
  default:
    add(createElementwise(node.kind, type, operands, loc));
    return Status::ok();
  }
}

Result<OwningOpRef<ModuleOp>> Importer::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  if (desc.watch == op::Watch::Values)
    (*module)->setAttr(pass::kWatchAttr, builder.getUnitAttr());
  else if (desc.watch == op::Watch::Operations)
    (*module)->setAttr(pass::kWatchAttr, builder.getStringAttr(pass::kWatchOperations));
  GRAPHC_TRY(openFunction(*module));
  for (const op::NodeDesc &node : desc.nodes)
    GRAPHC_TRY(importNode(node));
  SmallVector<Value> results;
  SmallVector<Type> types;
  for (uint32_t output : desc.outputs) {
    if (output >= values.size())
      return Status(ErrorCode::Internal, "[import] output is not defined");
    results.push_back(values[output]);
    types.push_back(results.back().getType());
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  auto func = *module->getOps<func::FuncOp>().begin();
  func.setFunctionType(builder.getFunctionType(func.getArgumentTypes(), types));
  return module;
}

} // namespace

Result<OwningOpRef<ModuleOp>> graphc::importGraph(MLIRContext &context,
                                                  const op::GraphDesc &graph) {
  return Importer(context, graph).run();
}
