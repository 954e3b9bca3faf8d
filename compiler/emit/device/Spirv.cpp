// SPIR-V through LLVM's code generator, made fit for every consumer, and validated in process.
#include "compiler/emit/device/DeviceModule.h"
#include "compiler/emit/llvm/Llvm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/Support/TargetSelect.h"

#include <spirv-tools/libspirv.h>

#include <cstring>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

enum SpirvOp : uint32_t {
  OpTypeBool = 20,
  OpTypeInt = 21,
  OpTypeFloat = 22,
  OpConstantFalse = 42,
  OpConstant = 43,
  OpConstantNull = 46,
};
constexpr size_t kHeaderWords = 5;

Result<std::unique_ptr<llvm::TargetMachine>> makeSpirvMachine(StringRef version) {
  static const bool ready = [] {
    LLVMInitializeSPIRVTargetInfo();
    LLVMInitializeSPIRVTarget();
    LLVMInitializeSPIRVTargetMC();
    LLVMInitializeSPIRVAsmPrinter();
    return true;
  }();
  (void)ready;
  // Beyond this level strength reduction turns indices into casts of pointers.
  return makeMachine(version == "spirv1.0" ? "spirv64v1.0-unknown-unknown"
                                           : "spirv64v1.2-unknown-unknown",
                     "", "", llvm::CodeGenOptLevel::None);
}

/// LLVM 22 keeps the ids of blocks beyond their module, under the address of their MachineFunction
/// (llvm issue 160613): a function at an address that served before gets ids of that time. So every
/// function is given an address that none had.
void placeFunctions(llvm::MachineModuleInfo &info, llvm::Module &module) {
  static auto *used = new llvm::DenseSet<const void *>; // compiles are serialised by the api
  std::vector<std::unique_ptr<char[]>> held;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    while (!used->insert(&info.getOrCreateMachineFunction(function)).second) {
      info.deleteMachineFunctionFor(function);
      held.push_back(std::make_unique<char[]>(sizeof(llvm::MachineFunction)));
    }
  }
}

Result<llvm::SmallVector<char, 0>> generate(llvm::TargetMachine &machine, llvm::Module &module) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine); // `passes` owns it
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                  /*DisableVerify=*/true, info))
    return Status(ErrorCode::Internal, "[spirv] the code generator writes no modules");
  placeFunctions(info->getMMI(), module);
  passes.run(module);
  return object;
}

/// Scalar zeros as OpConstant instead of OpConstantNull, which old translators stop at.
std::vector<uint32_t> spellOutZeros(ArrayRef<uint32_t> words) {
  std::vector<uint32_t> out(words.begin(), words.begin() + kHeaderWords);
  llvm::DenseMap<uint32_t, uint32_t> widths; // of scalar types; bool: 1
  for (size_t at = kHeaderWords; at < words.size();) {
    uint32_t op = words[at] & 0xffff, length = words[at] >> 16;
    ArrayRef<uint32_t> instruction = words.slice(at, length);
    at += length;
    if (op == OpTypeInt || op == OpTypeFloat)
      widths[instruction[1]] = instruction[2];
    if (op == OpTypeBool)
      widths[instruction[1]] = 1;
    uint32_t width = op == OpConstantNull ? widths.lookup(instruction[1]) : 0;
    if (width == 0) {
      out.insert(out.end(), instruction.begin(), instruction.end());
      continue;
    }
    uint32_t zeros = width == 1 ? 0 : width <= 32 ? 1 : 2;
    out.push_back((3 + zeros) << 16 | (width == 1 ? OpConstantFalse : OpConstant));
    out.insert(out.end(), {instruction[1], instruction[2]});
    out.insert(out.end(), zeros, 0);
  }
  return out;
}

/// Instructions fill the words exactly.
bool wellFormed(ArrayRef<uint32_t> words) {
  size_t at = kHeaderWords;
  while (at < words.size() && words[at] >> 16 != 0)
    at += words[at] >> 16;
  return at == words.size();
}

Status validate(ArrayRef<uint32_t> words, StringRef version) {
  spv_context context =
      spvContextCreate(version == "spirv1.0" ? SPV_ENV_OPENCL_2_1 : SPV_ENV_OPENCL_2_2);
  spv_diagnostic diagnostic = nullptr;
  spv_result_t result = spvValidateBinary(context, words.data(), words.size(), &diagnostic);
  std::string why = diagnostic ? diagnostic->error : "";
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  if (result == SPV_SUCCESS)
    return Status::ok();
  return {ErrorCode::Internal, "[spirv] the generated module is not valid: " + why};
}

} // namespace

Result<std::vector<uint8_t>> emit::emitSpirv(ModuleOp module, ArrayRef<EmittedKernel> kernels,
                                             StringRef version) {
  // The machine keeps what it knows of a module's types and constants: each module wants its own.
  GRAPHC_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, makeSpirvMachine(version));
  GRAPHC_ASSIGN(std::vector<DeviceModule> made,
                makeDeviceModules(module, kernels, Language::SpirV, *machine));
  llvm::Module &code = *made.front().module;
  GRAPHC_TRY(finish(code, Language::SpirV, *machine));
  GRAPHC_ASSIGN(auto object, generate(*machine, code));
  std::vector<uint32_t> words(object.size() / sizeof(uint32_t));
  std::memcpy(words.data(), object.data(), words.size() * sizeof(uint32_t));
  if (words.size() <= kHeaderWords || !wellFormed(words))
    return Status(ErrorCode::Internal, "[spirv] the code generator wrote no module");
  words = spellOutZeros(words);
  GRAPHC_TRY(validate(words, version));
  auto *bytes = reinterpret_cast<const uint8_t *>(words.data());
  return std::vector<uint8_t>(bytes, bytes + words.size() * sizeof(uint32_t));
}

Result<std::string> emit::disassembleSpirv(ArrayRef<uint8_t> bytes) {
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_2);
  spv_text text = nullptr;
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  spv_result_t result = spvBinaryToText(
      context, words.data(), words.size(),
      SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES | SPV_BINARY_TO_TEXT_OPTION_INDENT, &text, nullptr);
  std::string out = text ? std::string(text->str, text->length) : std::string();
  spvTextDestroy(text);
  spvContextDestroy(context);
  if (result != SPV_SUCCESS)
    return Status(ErrorCode::Internal, "[spirv] the module cannot be printed");
  return out;
}
