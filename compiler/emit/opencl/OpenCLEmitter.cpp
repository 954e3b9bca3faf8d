#include "compiler/emit/Emitter.h"
#include "compiler/emit/opencl/Printer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

/// Work-items of a group; a CPU runs a group on one core, so reductions there get a group each.
static constexpr unsigned kMapGroup = 64;

static bool usesFloat64(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  return type.isF64();
}

/// The first op of a function that works in float64, or null.
static Operation *firstFloat64(func::FuncOp func) {
  Operation *found = nullptr;
  func.walk([&](Operation *op) {
    bool uses = llvm::any_of(op->getOperandTypes(), usesFloat64) ||
                llvm::any_of(op->getResultTypes(), usesFloat64);
    if (uses && !found)
      found = op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found && llvm::any_of(func.getArgumentTypes(), usesFloat64))
    found = func;
  return found;
}

static std::string where(Operation *op) {
  std::string text;
  if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>())
    llvm::raw_string_ostream(text)
        << " (" << file.getFilename().getValue() << ":" << file.getLine() << ")";
  return text;
}

Result<EmittedCode> emit::emitOpenCL(ModuleOp module, const TargetDesc &target) {
  auto features = llvm::split(target.features, ',');
  bool float64 = llvm::is_contained(features, StringRef("fp64")),
       onCpu = llvm::is_contained(features, StringRef("cpu"));
  EmittedCode result;
  bool used64 = false;
  std::string kernels;
  llvm::raw_string_ostream stream(kernels);
  OpenCLPrinter printer(stream);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (Operation *op = firstFloat64(func)) {
      if (!float64)
        return Status(ErrorCode::Unsupported,
                      "[opencl] the device has no float64, which " +
                          op->getName().getStringRef().str() + where(op) +
                          " needs; convert with astype('float32'), or run it on device='cpu'");
      used64 = true;
    }
    EmittedKernel kernel = describeKernel(func);
    bool map = kernel.family == static_cast<uint32_t>(program::KernelFamily::Map);
    if (kernel.group == 0)
      kernel.group = map ? kMapGroup : onCpu ? 1 : kMapGroup;
    if (failed(printer.printKernel(func, kernel)))
      return Status(ErrorCode::Compile, "");
    result.kernels.push_back(std::move(kernel));
  }
  std::string text = "#pragma OPENCL FP_CONTRACT OFF\n";
  if (used64)
    text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  text += kernels;
  result.code.assign(text.begin(), text.end());
  result.isa = used64 ? "fp64" : "";
  return result;
}
