#include "compiler/emit/Emitter.h"
#include "compiler/emit/device/DeviceModule.h"
#include "compiler/emit/device/TensorTile.h"
#include "compiler/emit/opencl/Printer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

/// Forms of code that a target's features ask for.
struct Forms {
  bool source = true;
  std::string il, processor;
};

/// `tensors`: the program has tiles for tensor cores.
static Forms formsOf(ArrayRef<StringRef> features, bool tensors) {
  Forms forms;
  for (StringRef feature : features) {
    if (feature.starts_with("spirv"))
      forms.il = feature.str();
    if (feature.starts_with("sm_"))
      forms.processor = feature.str();
  }
  if (tensors && llvm::is_contained(features, StringRef("wgmma")))
    forms.processor = "sm_90a";
  bool others = !forms.il.empty() || !forms.processor.empty();
  forms.source = !others || llvm::is_contained(features, StringRef("c"));
  return forms;
}

/// All functions but declarations of tiles.
static SmallVector<func::FuncOp> kernelsOf(ModuleOp module) {
  SmallVector<func::FuncOp> kernels;
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      kernels.push_back(func);
  return kernels;
}

/// What NVIDIA's processors have as operations (MlirBuilder::Target::nvidia).
constexpr const char *kNvidiaSource = R"cl(
static inline float gc_maximum(float x, float y) { float z; asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y)); return z; }
static inline float gc_minimum(float x, float y) { float z; asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y)); return z; }
)cl";

/// What groups need that read what others have stored. OpenCL C has no fence for the whole device;
/// drivers that are known to order more than a group's own accesses are given the feature.
constexpr const char *kFence = "#define GC_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)\n";
constexpr const char *kNvidiaFence =
    "#define GC_FENCE() asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\")\n";

static Status emitSource(ModuleOp module, bool float64, bool ptx, EmittedCode &code) {
  std::string kernels, tables;
  llvm::raw_string_ostream stream(kernels), shared(tables);
  OpenCLPrinter printer(stream, shared);
  bool nvidia = false, fences = false;
  module.walk([&](LLVM::CallIntrinsicOp) { nvidia = true; });
  module.walk([&](LLVM::FenceOp) { fences = true; });
  for (auto [func, kernel] : llvm::zip_equal(kernelsOf(module), code.kernels)) {
    GRAPHC_TRY(checkAccepted(func, Language::OpenCLC));
    if (failed(printer.printKernel(func, kernel)))
      return Status(ErrorCode::Compile, "");
  }
  std::string text = "#pragma OPENCL FP_CONTRACT OFF\n";
  if (float64)
    text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (fences)
    text += ptx ? kNvidiaFence : kFence;
  if (nvidia)
    text += kNvidiaSource;
  text += tables + kernels;
  code.code.assign(text.begin(), text.end());
  return Status::ok();
}

/// Where the program has source as well, a kernel that another form has no words for leaves that
/// form out, and its report says so.
static Status unlessRefused(Status status, bool source, std::string &report) {
  if (status || !source || status.code() != ErrorCode::Unsupported)
    return status;
  report += "OpenCL C only: " + status.message() + "\n";
  return Status::ok();
}

Result<EmittedCode> emit::emitOpenCL(ModuleOp module, const TargetDesc &target, unsigned threads) {
  SmallVector<StringRef> features(llvm::split(target.features, ','));
  bool float64 = llvm::is_contained(features, StringRef("fp64")),
       onCpu = llvm::is_contained(features, StringRef("cpu"));
  bool tensors = llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
    return TensorTile::named(func.getSymName()).has_value();
  });
  Forms forms = formsOf(features, tensors);
  EmittedCode result;
  bool used64 = false;
  for (func::FuncOp func : kernelsOf(module)) {
    if (Operation *op = firstFloat64(func)) {
      if (!float64)
        return Status(ErrorCode::Unsupported,
                      "[opencl] the device has no float64, which " +
                          op->getName().getStringRef().str() + lineOf(op) +
                          " needs; convert with astype('float32'), or run it on device='cpu'");
      used64 = true;
    }
    EmittedKernel kernel = describeKernel(func);
    bool map = kernel.family == static_cast<uint32_t>(program::KernelFamily::Map);
    if (kernel.group == 0)
      kernel.group = map ? kMapGroup : onCpu ? 1 : kMapGroup;
    result.kernels.push_back(std::move(kernel));
  }
  result.isa = used64 ? "fp64" : "";
  if (result.kernels.empty())
    return result;
  if (forms.source)
    GRAPHC_TRY(
        emitSource(module, used64, llvm::is_contained(features, StringRef("ptx90")), result));
  if (!forms.il.empty()) {
    auto il = emitSpirv(module, result.kernels, forms.il);
    GRAPHC_TRY(unlessRefused(il ? Status::ok() : il.takeStatus(), forms.source, result.report));
    if (il)
      result.il = il.take();
  }
  if (!forms.processor.empty()) {
    auto text = emitPtx(module, result.kernels, forms.processor,
                        llvm::is_contained(features, StringRef("dependent")), threads);
    GRAPHC_TRY(unlessRefused(text ? Status::ok() : text.takeStatus(), forms.source, result.report));
    if (text)
      result.binary.assign(text->begin(), text->end());
  }
  return result;
}
