#include "compiler/passes/lower/group/GroupFunction.h"

#include "compiler/passes/lower/LoopSpace.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// A place is skipped after so many, so that neighbouring work-items, which read places some
/// apart, use different banks.
static constexpr int64_t kBanks = 32;

GroupFunction::GroupFunction(Operation *beside, const Twine &name, kernel::Family family,
                             const Signature &signature)
    : loc(beside->getLoc()), b(beside->getContext()), m{b, loc} {
  OpBuilder module(beside);
  size_t buffers = signature.buffers.size();
  SmallVector<Type> types;
  for (Type type : signature.buffers)
    types.push_back(MemRefType::get({ShapedType::kDynamic}, memoryType(type)));
  types.append(signature.sizes + 2, module.getIndexType());
  func = func::FuncOp::create(module, loc, name.str(), module.getFunctionType(types, {}));
  auto number = [&](int64_t n) { return module.getI64IntegerAttr(n); };
  func->setAttr("graphc.kernel", module.getUnitAttr());
  func->setAttr("graphc.buffers", number(static_cast<int64_t>(buffers)));
  func->setAttr("graphc.family", module.getStringAttr(stringifyFamily(family)));
  func->setAttr("graphc.cost", number(signature.cost));
  func->setAttr("graphc.group", number(kGroupItems));
  func->setAttr("graphc.inputs", number(signature.inputs));
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  memory = entry->getArguments().take_front(buffers);
  sizes = entry->getArguments().slice(buffers, signature.sizes);
  group = entry->getArgument(buffers + signature.sizes);
  member = narrow(b, gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
}

Value GroupFunction::local(Type type, int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  return memref::AllocaOp::create(
      b, loc, MemRefType::get({count + count / kBanks}, type, AffineMap(), space));
}

Value GroupFunction::slot(OpBuilder &at, Value place) const {
  IndexMath n = near(at);
  return wide(at, n.add(place, n.div(place, kBanks)));
}

Value GroupFunction::get(OpBuilder &at, Value from, Value index) const {
  return memref::LoadOp::create(at, loc, from, index);
}

void GroupFunction::set(OpBuilder &at, Value to, Value index, Value value) const {
  memref::StoreOp::create(at, loc, value, to, index);
}

void GroupFunction::barrier(OpBuilder &at) const { gpu::BarrierOp::create(at, loc); }

Value GroupFunction::narrow(OpBuilder &at, Value index) const {
  return arith::IndexCastOp::create(at, loc, at.getI32Type(), index);
}

Value GroupFunction::wide(OpBuilder &at, Value number) const {
  return arith::IndexCastOp::create(at, loc, at.getIndexType(), number);
}

Value GroupFunction::stored(OpBuilder &at, Value index) const {
  return arith::IndexCastOp::create(at, loc, at.getI64Type(), index);
}

void GroupFunction::when(OpBuilder &at, Value condition,
                         llvm::function_ref<void(OpBuilder &)> body) const {
  OpBuilder inside =
      scf::IfOp::create(at, loc, condition, /*withElseRegion=*/false).getThenBodyBuilder();
  body(inside);
}

void GroupFunction::finish() { func::ReturnOp::create(b, loc); }
