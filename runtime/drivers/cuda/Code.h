//===- Code.h - PTX becomes code of a GPU -----------------------------------------------------===//
//
// The driver compiles what is loaded as a module under a lock, one kernel after the other; what is
// loaded as a library it compiles in as many threads as ask. It keeps the code of both on the disk.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CUDA_CODE_H
#define GRAPHC_RUNTIME_DRIVERS_CUDA_CODE_H

#include "runtime/drivers/cuda/CudaDevice.h"

#include <string>
#include <string_view>
#include <vector>

namespace graphc::rt::cuda {

/// The text of each kernel by itself with what it shares with others, in order; the whole text
/// where kernels may share more than constants.
std::vector<std::string> kernelTexts(std::string_view ptx);

/// A text's code on a device; whoever has it unloads it while the device's context is current.
struct LoadedCode {
  LibraryHandle library = nullptr; ///< or null
  ModuleHandle module = nullptr;   ///< of the library where there is one
};
void unload(const Api &api, const LoadedCode &code);

/// The code of some texts, by their numbers, made side by side where the driver can: all of it, or
/// nothing in `loaded` has changed. The device's context is current; Compile error where a text is
/// at fault, Device errors.
Status loadPtx(const CudaDevice &device, const std::vector<std::string> &texts,
               const std::vector<size_t> &wanted, std::vector<LoadedCode> &loaded);

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_CODE_H
