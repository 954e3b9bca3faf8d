#include "compiler/emit/cpu/LlvmModule.h"

#include "compiler/emit/cpu/Instructions.h"
#include "compiler/math/Apart.h"
#include "compiler/passes/lower/LoopSpace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// Several results are a struct.
llvm::Type *resultType(TypeRange results, llvm::LLVMContext &context) {
  SmallVector<llvm::Type *> types;
  for (Type type : results)
    types.push_back(llvmType(type, context));
  if (types.empty())
    return llvm::Type::getVoidTy(context);
  return types.size() == 1 ? types.front() : llvm::StructType::get(context, types);
}

/// The body of one function.
class Body {
public:
  Body(llvm::Function &function) : function(function), b(function.getContext()) {
    b.SetInsertPoint(llvm::BasicBlock::Create(function.getContext(), "", &function));
  }

  void takeArguments(func::FuncOp func) {
    for (auto [argument, value] : llvm::zip_equal(func.getArguments(), function.args()))
      values[argument] = &value;
  }
  void takeKernelArguments(func::FuncOp func, const EmittedKernel &kernel);
  LogicalResult run(Block &block);

private:
  LogicalResult run(Operation &op);
  LogicalResult run(scf::ForOp loop);
  LogicalResult run(scf::IfOp choice);
  LogicalResult run(scf::WhileOp loop);
  LogicalResult run(func::CallOp call);
  void run(memref::AllocaOp memory);
  void run(func::ReturnOp end);

  SmallVector<llvm::Value *> valuesOf(ValueRange range) {
    return llvm::map_to_vector(range, [&](Value value) { return values.at(value); });
  }
  void bind(ValueRange range, ArrayRef<llvm::Value *> bound) {
    for (auto [value, one] : llvm::zip_equal(range, bound))
      values[value] = one;
  }
  llvm::BasicBlock *newBlock() { return llvm::BasicBlock::Create(b.getContext()); }
  /// Code goes on in a block that is last so far.
  void enter(llvm::BasicBlock *block) {
    function.insert(function.end(), block);
    b.SetInsertPoint(block);
  }
  /// Values that come into the block from `from` for the first time.
  SmallVector<llvm::PHINode *> join(ValueRange range, ArrayRef<llvm::Value *> incoming,
                                    llvm::BasicBlock *from);

  llvm::Function &function;
  llvm::IRBuilder<> b;
  llvm::DenseMap<Value, llvm::Value *> values;
};

/// `void name(void *const *buffers, const int64_t *sizes, int64_t begin, int64_t end, void
/// *scratch)`: the entry block, which runs once, loads what the function is about.
void Body::takeKernelArguments(func::FuncOp func, const EmittedKernel &kernel) {
  auto element = [&](unsigned argument, llvm::Type *type, uint64_t i) -> llvm::Value * {
    return b.CreateLoad(type, b.CreateConstGEP1_64(type, function.getArg(argument), i));
  };
  SmallVector<llvm::Value *> bound;
  for (size_t i = 0; i < kernel.writes.size(); ++i)
    bound.push_back(element(0, b.getPtrTy(), i));
  for (uint32_t i = 0; i < kernel.sizeCount; ++i)
    bound.push_back(element(1, b.getInt64Ty(), i));
  bound.append({function.getArg(2), function.getArg(3)});
  if (kernel.scratch > 0)
    bound.push_back(function.getArg(4));
  bind(func.getArguments(), bound);
}

SmallVector<llvm::PHINode *> Body::join(ValueRange range, ArrayRef<llvm::Value *> incoming,
                                        llvm::BasicBlock *from) {
  SmallVector<llvm::PHINode *> phis;
  for (auto [value, one] : llvm::zip_equal(range, incoming)) {
    phis.push_back(b.CreatePHI(one->getType(), 2));
    phis.back()->addIncoming(one, from);
    values[value] = phis.back();
  }
  return phis;
}

LogicalResult Body::run(Block &block) {
  for (Operation &op : block)
    if (failed(run(op)))
      return failure();
  return success();
}

/// scf.yield and scf.condition belong to the operations around them.
LogicalResult Body::run(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return run(loop);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return run(choice);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return run(loop);
  if (auto call = dyn_cast<func::CallOp>(op))
    return run(call);
  if (auto memory = dyn_cast<memref::AllocaOp>(op))
    return run(memory), success();
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return run(end), success();
  if (isa<scf::YieldOp, scf::ConditionOp>(op))
    return success();
  SmallVector<llvm::Value *> operands = valuesOf(op.getOperands());
  llvm::Type *type =
      op.getNumResults() ? llvmType(op.getResult(0).getType(), b.getContext()) : nullptr;
  Instruction instruction{b, &op, operands, type};
  llvm::Value *result = nullptr;
  if (op.getNumResults() > 1 || (op.getNumResults() && !type) || !instruction.build(result))
    return op.emitOpError("has no form in LLVM's code for the cpu");
  if (op.getNumResults())
    values[op.getResult(0)] = result;
  return success();
}

LogicalResult Body::run(scf::ForOp loop) {
  llvm::Value *from = values.at(loop.getLowerBound()), *to = values.at(loop.getUpperBound());
  llvm::Value *step = values.at(loop.getStep());
  SmallVector<llvm::Value *> initial = valuesOf(loop.getInitArgs());
  llvm::BasicBlock *before = b.GetInsertBlock();
  llvm::BasicBlock *header = newBlock(), *body = newBlock(), *after = newBlock();
  b.CreateBr(header);
  enter(header);
  llvm::PHINode *counter = join(loop.getInductionVar(), from, before).front();
  SmallVector<llvm::PHINode *> carried = join(loop.getRegionIterArgs(), initial, before);
  b.CreateCondBr(loop.getUnsignedCmp() ? b.CreateICmpULT(counter, to)
                                       : b.CreateICmpSLT(counter, to),
                 body, after);
  enter(body);
  if (failed(run(*loop.getBody())))
    return failure();
  counter->addIncoming(b.CreateAdd(counter, step), b.GetInsertBlock());
  for (auto [phi, next] : llvm::zip_equal(carried, valuesOf(loop.getYieldedValues())))
    phi->addIncoming(next, b.GetInsertBlock());
  b.CreateBr(header);
  enter(after);
  bind(loop.getResults(), llvm::to_vector_of<llvm::Value *>(carried));
  return success();
}

LogicalResult Body::run(scf::IfOp choice) {
  bool twoWays = !choice.getElseRegion().empty();
  llvm::BasicBlock *yes = newBlock(), *no = newBlock();
  llvm::BasicBlock *after = twoWays ? newBlock() : no;
  b.CreateCondBr(values.at(choice.getCondition()), yes, no);
  enter(yes);
  if (failed(run(*choice.thenBlock())))
    return failure();
  SmallVector<llvm::Value *> given = valuesOf(choice.thenYield().getOperands());
  llvm::BasicBlock *from = b.GetInsertBlock();
  b.CreateBr(after);
  if (!twoWays)
    return enter(after), success();
  enter(no);
  if (failed(run(*choice.elseBlock())))
    return failure();
  SmallVector<llvm::Value *> others = valuesOf(choice.elseYield().getOperands());
  llvm::BasicBlock *otherwise = b.GetInsertBlock();
  b.CreateBr(after);
  enter(after);
  for (auto [phi, other] : llvm::zip_equal(join(choice.getResults(), given, from), others))
    phi->addIncoming(other, otherwise);
  return success();
}

/// What the condition passes on is seen behind it only, so that no block needs to join it.
LogicalResult Body::run(scf::WhileOp loop) {
  SmallVector<llvm::Value *> initial = valuesOf(loop.getInits());
  llvm::BasicBlock *before = b.GetInsertBlock();
  llvm::BasicBlock *header = newBlock(), *body = newBlock(), *after = newBlock();
  b.CreateBr(header);
  enter(header);
  SmallVector<llvm::PHINode *> carried = join(loop.getBeforeArguments(), initial, before);
  if (failed(run(*loop.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<llvm::Value *> passed = valuesOf(condition.getArgs());
  b.CreateCondBr(values.at(condition.getCondition()), body, after);
  enter(body);
  bind(loop.getAfterArguments(), passed);
  if (failed(run(*loop.getAfterBody())))
    return failure();
  for (auto [phi, next] : llvm::zip_equal(carried, valuesOf(loop.getYieldOp().getOperands())))
    phi->addIncoming(next, b.GetInsertBlock());
  b.CreateBr(header);
  enter(after);
  bind(loop.getResults(), passed);
  return success();
}

LogicalResult Body::run(func::CallOp call) {
  llvm::Function *callee = function.getParent()->getFunction(call.getCallee());
  if (!callee)
    return call.emitError("calls what is not declared");
  llvm::Value *result = b.CreateCall(callee, valuesOf(call.getOperands()));
  if (call.getNumResults() == 1)
    values[call.getResult(0)] = result;
  else
    for (auto [i, value] : llvm::enumerate(call.getResults()))
      values[value] = b.CreateExtractValue(result, i);
  return success();
}

void Body::run(memref::AllocaOp memory) {
  llvm::Type *element = llvmType(memory.getType().getElementType(), b.getContext());
  llvm::AllocaInst *made = b.CreateAlloca(element, b.getInt64(memory.getType().getNumElements()));
  if (std::optional<uint64_t> alignment = memory.getAlignment())
    made->setAlignment(llvm::Align(*alignment));
  values[memory] = made;
}

void Body::run(func::ReturnOp end) {
  SmallVector<llvm::Value *> given = valuesOf(end.getOperands());
  if (given.empty())
    b.CreateRetVoid();
  else if (given.size() == 1)
    b.CreateRet(given.front());
  else
    b.CreateAggregateRet(given.data(), given.size());
}

llvm::Function *declare(func::FuncOp func, bool isKernel, llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(context, 0), *i64 = llvm::Type::getInt64Ty(context);
  SmallVector<llvm::Type *> arguments{pointer, pointer, i64, i64, pointer};
  if (!isKernel) {
    arguments.clear();
    for (Type type : func.getArgumentTypes())
      arguments.push_back(llvmType(type, context));
  }
  auto *type =
      llvm::FunctionType::get(resultType(func.getResultTypes(), context), arguments, false);
  auto *made =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, func.getSymName(), module);
  if (func->hasAttr(pass::kSeldomAttr))
    made->addFnAttr(llvm::Attribute::Cold);
  if (func->hasAttr(graphc::math::kApartAttr)) {
    // A loop that hardly ever calls it keeps its values in registers, and loads where they are.
    made->addFnAttr("no_caller_saved_registers");
    made->setDoesNotAccessMemory();
    made->setDoesNotThrow();
    made->setWillReturn();
  }
  return made;
}

} // namespace

std::unique_ptr<llvm::Module> emit::makeLlvmModule(ModuleOp module, const Kernels &kernels,
                                                   llvm::LLVMContext &context) {
  auto made = std::make_unique<llvm::Module>("graphc", context);
  SmallVector<std::pair<func::FuncOp, llvm::Function *>> functions;
  for (auto func : module.getOps<func::FuncOp>())
    functions.emplace_back(func, declare(func, kernels.contains(func.getSymName()), *made));
  for (auto [func, function] : functions) {
    if (func.isExternal())
      continue;
    Body body(*function);
    if (auto kernel = kernels.find(func.getSymName()); kernel != kernels.end())
      body.takeKernelArguments(func, *kernel->second);
    else
      body.takeArguments(func);
    if (failed(body.run(func.getBody().front())))
      return nullptr;
  }
  return made;
}
