// Calls of functions that a program has once, a register at a time.
#include "compiler/math/Apart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;

SmallVector<Value> graphc::math::callApart(OpBuilder &ops, Location loc, StringRef name, Value x) {
  auto type = dyn_cast<VectorType>(x.getType());
  Operation *parent = ops.getInsertionBlock()->getParentOp(); // none yet in a loop's making
  auto module = parent ? parent->getParentOfType<ModuleOp>() : ModuleOp();
  func::FuncOp function;
  if (module && type)
    function = module.lookupSymbol<func::FuncOp>(nameApart(name, type));
  if (!function)
    return {};
  int64_t lanes = type.getNumElements();
  int64_t each = cast<VectorType>(function.getArgumentTypes()[0]).getNumElements();
  if (lanes % each)
    return {};
  auto call = [&](Value part) {
    auto made = func::CallOp::create(ops, loc, function, part);
    made->setDiscardableAttrs(function->getDiscardableAttrDictionary());
    return made.getResults();
  };
  if (lanes == each)
    return SmallVector<Value>(call(x));
  SmallVector<Value> whole;
  for (Type result : function.getResultTypes())
    whole.push_back(arith::ConstantOp::create(
        ops, loc, ops.getZeroAttr(type.clone(cast<VectorType>(result).getElementType()))));
  for (int64_t from = 0; from < lanes; from += each) {
    Value part = vector::ExtractStridedSliceOp::create(ops, loc, x, from, each, 1);
    for (auto [value, result] : llvm::zip_equal(whole, call(part)))
      value = vector::InsertStridedSliceOp::create(ops, loc, result, value, from, 1);
  }
  return whole;
}
