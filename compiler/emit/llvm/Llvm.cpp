#include "compiler/emit/llvm/Llvm.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <numeric>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

ConversionToLlvm::ConversionToLlvm(MLIRContext *context)
    : types(context, LowerToLLVMOptions(context)), legal(*context) {
  RewritePatternSet set(context);
  populateSCFToControlFlowConversionPatterns(set);
  cf::populateControlFlowToLLVMConversionPatterns(types, set);
  arith::populateArithToLLVMConversionPatterns(types, set);
  arith::populateCeilFloorDivExpandOpsPatterns(set);
  populateMathToLLVMConversionPatterns(types, set);
  ub::populateUBToLLVMConversionPatterns(types, set);
  populateFinalizeMemRefToLLVMConversionPatterns(types, set);
  populateFuncToLLVMConversionPatterns(types, set);
  populateVectorToLLVMConversionPatterns(types, set);
  vector::populateVectorTransferLoweringPatterns(set);
  vector::populateVectorMaskMaterializationPatterns(set, /*force32BitVectorIndices=*/true);
  vector::populateVectorBroadcastLoweringPatterns(set);
  vector::populateVectorInsertExtractStridedSliceTransforms(set);
  patterns = std::move(set);
  legal.addLegalOp<ModuleOp>();
}

const ConversionToLlvm &ConversionToLlvm::of(MLIRContext *context) {
  // Never destroyed: exit may come while a thread compiles.
  static MLIRContext *owner = nullptr;
  static const ConversionToLlvm *conversion = nullptr;
  if (owner != context) {
    registerBuiltinDialectTranslation(*context);
    registerLLVMDialectTranslation(*context);
    conversion = new ConversionToLlvm(context);
    owner = context;
  }
  return *conversion;
}

LogicalResult ConversionToLlvm::apply(ModuleOp module) const {
  return applyFullConversion(module, legal, patterns);
}

void emit::placeVolatile(func::FuncOp function, unsigned addressSpace) {
  OpBuilder b(function.getContext());
  auto pointer = [&](Location loc, Value memory, Value index) -> Value {
    b.setInsertionPointAfterValue(index);
    Value bytes = arith::ConstantIndexOp::create(b, loc, sizeof(int64_t));
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    address = arith::AddIOp::create(b, loc, address, arith::MulIOp::create(b, loc, index, bytes));
    address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), addressSpace), address);
  };
  function.walk([&](Operation *op) {
    if (!op->hasAttr("graphc.volatile"))
      return;
    Location loc = op->getLoc();
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Value from = pointer(loc, load.getMemRef(), load.getIndices()[0]);
      b.setInsertionPoint(op);
      load.replaceAllUsesWith(LLVM::LoadOp::create(b, loc, b.getI64Type(), from, sizeof(int64_t),
                                                   /*isVolatile=*/true)
                                  .getResult());
    } else {
      auto store = cast<memref::StoreOp>(op);
      Value to = pointer(loc, store.getMemRef(), store.getIndices()[0]);
      b.setInsertionPoint(op);
      LLVM::StoreOp::create(b, loc, store.getValue(), to, sizeof(int64_t),
                            /*isVolatile=*/true);
    }
    op->erase();
  });
}

SmallVector<Value> emit::flatDescriptor(OpBuilder &b, Location loc, Value pointer) {
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(value));
  };
  return {pointer, pointer, constant(0), constant(INT64_MAX), constant(1)};
}

Result<std::unique_ptr<llvm::TargetMachine>> emit::makeMachine(StringRef triple,
                                                               StringRef processor,
                                                               StringRef features,
                                                               llvm::CodeGenOptLevel level) {
  llvm::Triple parsed(triple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(parsed, error);
  if (!target)
    return Status(ErrorCode::Compile, "[emit] no code generator: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.NoTrappingFPMath = true;
  // Position independence and the code model mean something on the CPU only.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      parsed, processor, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
}

void CodeGenerator::Passes::add(llvm::Pass *pass) {
  llvm::StringRef name = pass->getPassName();
  // Skipping it when it is to run would leave the analyses that it asks for.
  if (counted &&
      (name == "Loop Strength Reduction" || name == "Canonicalize Freeze Instructions in Loops"))
    delete pass;
  else
    PassManager::add(pass);
}

Result<std::unique_ptr<CodeGenerator>>
CodeGenerator::make(llvm::TargetMachine &machine, llvm::CodeGenFileType kind, bool counted) {
  auto made = std::make_unique<CodeGenerator>();
  made->passes.counted = counted;
  if (machine.addPassesToEmitFile(made->passes, made->stream, nullptr, kind,
                                  /*DisableVerify=*/true))
    return Status(ErrorCode::Internal, "[emit] the code generator of " +
                                           machine.getTargetTriple().str() +
                                           " cannot emit this kind of file");
  return made;
}

llvm::SmallVector<char, 0> CodeGenerator::run(llvm::Module &module) {
  bytes.clear();
  passes.run(module);
  return std::move(bytes);
}

namespace {
/// Stores past the caches, register by register: the splitting of others forgets what they are.
struct SplitStreams : llvm::PassInfoMixin<SplitStreams> {
  explicit SplitStreams(unsigned bits) : bits(bits) {}

  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    llvm::SmallVector<llvm::StoreInst *> wide;
    for (llvm::Instruction &op : llvm::instructions(function))
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&op);
          store && store->hasMetadata(llvm::LLVMContext::MD_nontemporal))
        if (auto *type = llvm::dyn_cast<llvm::FixedVectorType>(store->getValueOperand()->getType());
            type && type->getPrimitiveSizeInBits() > bits)
          wide.push_back(store);
    for (llvm::StoreInst *store : wide)
      split(*store);
    return wide.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
  }

private:
  void split(llvm::StoreInst &store) const {
    llvm::IRBuilder<> b(&store);
    llvm::Value *whole = store.getValueOperand();
    auto *type = llvm::cast<llvm::FixedVectorType>(whole->getType());
    unsigned lanes = bits / type->getScalarSizeInBits(), bytes = bits / 8;
    for (unsigned first = 0, number = 0; first < type->getNumElements(); first += lanes, ++number) {
      llvm::SmallVector<int> part(std::min(lanes, type->getNumElements() - first));
      std::iota(part.begin(), part.end(), static_cast<int>(first));
      llvm::Value *to = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), store.getPointerOperand(),
                                                     uint64_t{number} * bytes);
      llvm::StoreInst *made =
          b.CreateAlignedStore(b.CreateShuffleVector(whole, part), to,
                               llvm::commonAlignment(store.getAlign(), uint64_t{number} * bytes));
      made->copyMetadata(store);
    }
    store.eraseFromParent();
  }

  unsigned bits;
};
} // namespace

/// Registers of their own for the parts of vectors that are longer, so that memory is read in the
/// order in which it lies: the parts of one load come in any order, and streams that go back and
/// forth the machine does not follow.
static void splitVectors(llvm::FunctionPassManager &passes, unsigned registerBits) {
  llvm::ScalarizerPassOptions options;
  options.ScalarizeMinBits = registerBits;
  options.ScalarizeLoadStore = true;
  options.ScalarizeVariableInsertExtract = false;
  passes.addPass(SplitStreams(registerBits));
  passes.addPass(llvm::ScalarizerPass(options));
}

void emit::optimize(llvm::Module &module, llvm::TargetMachine &machine, bool combine,
                    unsigned registerBits) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  if (combine)
    passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loopPasses;
  loopPasses.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(std::move(loopPasses), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass());
  if (registerBits)
    splitVectors(passes, registerBits);
  if (!combine)
    passes.addPass(llvm::DCEPass()); // buffer descriptors, which combining would have removed
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}
