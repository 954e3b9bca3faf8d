//===- Accepted.h - What the device emitters accept -------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_ACCEPTED_H
#define GRAPHC_COMPILER_EMIT_DEVICE_ACCEPTED_H

#include "runtime/base/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/IR/Module.h"

namespace graphc::emit {

/// The languages that code for OpenCL devices is written in.
enum class Language { OpenCLC, SpirV, Ptx };
/// "opencl", "spirv", "ptx": as stages, targets and messages name it.
llvm::StringRef languageName(Language language);

/// Unsupported, naming op, type and the user's line, at the first op that the language has no
/// meaning for. LLVM's code generators end the process at what they do not know, so this comes
/// before them.
Status checkAccepted(mlir::func::FuncOp function, Language language);

/// The same for what LLVM's own passes made of it: Internal at the first instruction.
Status checkAccepted(const llvm::Module &module, Language language);

/// " (file:line)" of an op, or "".
std::string lineOf(mlir::Operation *op);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_ACCEPTED_H
