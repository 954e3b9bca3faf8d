//===- Code.h - PTX becomes code of a GPU -----------------------------------------------------===//
//
// The driver compiles what is loaded as PTX under a lock, one kernel after the other, and keeps
// what came of it. What is linked first it compiles side by side, and keeps nothing: that is done
// here.
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

/// Modules of the device, whose context is current, one for each of `texts`; from the disk cache
/// when they are there. Compile error where the text is at fault, Device errors.
Result<std::vector<ModuleHandle>> buildPtx(const CudaDevice &device,
                                           const std::vector<std::string> &texts);

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_CODE_H
