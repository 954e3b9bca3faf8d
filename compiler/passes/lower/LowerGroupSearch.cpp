// Where values belong among sorted elements: a work-item halves the elements for its value.
#include "compiler/passes/lower/GroupSort.h"

#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/LoopSpace.h"
#include "compiler/passes/lower/SortKeys.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Picoseconds of a group of values: what a search costs where a device is chosen by cost.
static constexpr int64_t kSearchPs = 1000000;

/// How many of `length` elements come before a key, as `before` says of one.
static Value countBefore(OpBuilder &b, Location loc, Value length,
                         llvm::function_ref<Value(OpBuilder &, Value)> before) {
  IndexMath m{b, loc};
  SmallVector<Value> range = {m(0), length};
  auto search = scf::WhileOp::create(
      b, loc, TypeRange(ValueRange(range)), range,
      [&](OpBuilder &c, Location, ValueRange at) {
        scf::ConditionOp::create(c, loc, IndexMath{c, loc}.less(at[0], at[1]), at);
      },
      [&](OpBuilder &c, Location, ValueRange at) {
        IndexMath n{c, loc};
        Value middle = n.div(n.add(at[0], at[1]), 2), isBefore = before(c, middle);
        Value first = n.select(isBefore, n.add(middle, 1), at[0]);
        scf::YieldOp::create(c, loc, ValueRange{first, n.select(isBefore, at[1], middle)});
      });
  return search.getResult(0);
}

void pass::lowerGroupSearch(kernel::SearchOp op) {
  OpBuilder module(op);
  Location loc = op.getLoc();
  auto flat = [](Type type) { return MemRefType::get({ShapedType::kDynamic}, memoryType(type)); };
  SmallVector<Type> types = {flat(op.getElement()), flat(op.getElement()),
                             flat(module.getI64Type())};
  size_t buffers = types.size(), sizes = 2;
  types.append(sizes + 2, module.getIndexType());
  auto func = func::FuncOp::create(module, loc, op.getSymName(), module.getFunctionType(types, {}));
  auto number = [&](int64_t n) { return module.getI64IntegerAttr(n); };
  func->setAttr("graphc.kernel", module.getUnitAttr());
  func->setAttr("graphc.buffers", number(static_cast<int64_t>(buffers)));
  func->setAttr("graphc.family", module.getStringAttr(stringifyFamily(kernel::Family::Sort)));
  func->setAttr("graphc.cost", number(kSearchPs));
  func->setAttr("graphc.group", number(kSortGroup));
  func->setAttr("graphc.inputs", number(2));
  Block *entry = func.addEntryBlock();
  OpBuilder b = OpBuilder::atBlockEnd(entry);
  ValueRange arguments = entry->getArguments();
  Value elements = arguments[0], values = arguments[1], length = arguments[3], count = arguments[4];
  IndexMath m{b, loc};
  Value item = m.add(m.mul(arguments[buffers + sizes], kSortGroup),
                     gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
  auto present = scf::IfOp::create(b, loc, m.less(item, count), /*withElseRegion=*/false);
  OpBuilder inside = present.getThenBodyBuilder();
  SortKeys keys(loc, op.getElement(), /*places=*/true);
  auto keyAt = [&](OpBuilder &c, Value from, Value index) {
    return keys.of(c, memref::LoadOp::create(c, loc, from, index));
  };
  Value key = keyAt(inside, values, item);
  Value place = countBefore(inside, loc, length, [&](OpBuilder &c, Value index) -> Value {
    Value element = keyAt(c, elements, index);
    if (!op.getRight())
      return keys.less(c, element, key);
    return arith::CmpIOp::create(c, loc, arith::CmpIPredicate::ule, element, key);
  });
  memref::StoreOp::create(inside, loc,
                          arith::IndexCastOp::create(inside, loc, inside.getI64Type(), place),
                          arguments[2], item);
  func::ReturnOp::create(b, loc);
}
