#include "compiler/import/OneFunction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace {

class CallWriter {
public:
  /// Callees first, so that each is written out once and then copied.
  LogicalResult writeOut(func::FuncOp function) {
    if (done.contains(function))
      return success();
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError("graph functions have one block");
    for (Operation &op : function.getBody().front().without_terminator())
      if (isa_and_present<func::FuncDialect>(op.getDialect()) && !isa<func::CallOp>(op))
        return op.emitOpError("has no place in a program: functions are called by their names");
    callers.insert(function);
    SmallVector<func::CallOp> calls(function.getBody().front().getOps<func::CallOp>());
    for (func::CallOp call : calls)
      if (failed(writeOut(call)))
        return failure();
    callers.remove(function);
    done.insert(function);
    return success();
  }

private:
  LogicalResult writeOut(func::CallOp call) {
    auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
    if (callee.isExternal())
      return call.emitError() << "'" << call.getCallee() << "' has no body";
    if (callers.contains(callee))
      return call.emitError() << "'" << call.getCallee() << "' calls itself";
    if (failed(writeOut(callee)))
      return failure();
    OpBuilder b(call);
    IRMapping values;
    Block &body = callee.getBody().front();
    values.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator())
      b.clone(op, values);
    for (auto [result, value] :
         llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(values.lookupOrDefault(value));
    call.erase();
    return success();
  }

  llvm::SetVector<Operation *> callers; ///< of the call that is looked at
  DenseSet<Operation *> done;
};

} // namespace

LogicalResult graphc::writeOutCalls(ModuleOp module) {
  CallWriter writer;
  SmallVector<func::FuncOp> called;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      called.push_back(function);
    else if (failed(writer.writeOut(function)))
      return failure();
  }
  for (func::FuncOp function : called)
    function.erase();
  return success();
}

LogicalResult graphc::requireOneFunction(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.empty())
    return module.emitError("the module has no public function");
  if (functions.size() > 1)
    return functions[1].emitError()
           << "a program is one public function, and '" << functions[0].getSymName()
           << "' is one already; what it calls is private";
  return success();
}
