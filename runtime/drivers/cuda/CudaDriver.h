//===- CudaDriver.h - GPUs by NVIDIA's driver -------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CUDA_CUDADRIVER_H
#define GRAPHC_RUNTIME_DRIVERS_CUDA_CUDADRIVER_H

#include "runtime/device/Device.h"

namespace graphc::rt::cuda {

/// The driver with the devices "cuda:0", "cuda:1", ... that NVIDIA's library shows to this process
/// (CUDA_VISIBLE_DEVICES). The library (libcuda.so.1) is opened by the first list(); it is never
/// linked, closed or called at exit.
Driver &driver();

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_CUDADRIVER_H
