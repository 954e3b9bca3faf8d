//===- Api.h - Entry points of NVIDIA's driver, found at run time -----------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CUDA_API_H
#define GRAPHC_RUNTIME_DRIVERS_CUDA_API_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace graphc::rt::cuda {

/// What the driver's interface passes around; 0 is success.
using Code = int;
using DeviceNumber = int;
using Address = unsigned long long;
using ContextHandle = struct ContextObject *;
using StreamHandle = struct StreamObject *;
using EventHandle = struct EventObject *;
using ModuleHandle = struct ModuleObject *;
using LibraryHandle = struct LibraryObject *;
using FunctionHandle = struct FunctionObject *;

/// Member, name in the library, parameters.
#define GRAPHC_CUDA_FUNCTIONS(X)                                                                   \
  X(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", (ContextHandle, unsigned))                     \
  X(cuCtxGetCurrent, "cuCtxGetCurrent", (ContextHandle *))                                         \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (ContextHandle *))                                      \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (ContextHandle))                                      \
  X(cuDeviceGet, "cuDeviceGet", (DeviceNumber *, int))                                             \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, DeviceNumber))                      \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int *))                                                 \
  X(cuDeviceGetName, "cuDeviceGetName", (char *, int, DeviceNumber))                               \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (ContextHandle *, DeviceNumber))         \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, DeviceNumber))                             \
  X(cuDriverGetVersion, "cuDriverGetVersion", (int *))                                             \
  X(cuEventCreate, "cuEventCreate", (EventHandle *, unsigned))                                     \
  X(cuEventRecord, "cuEventRecord", (EventHandle, StreamHandle))                                   \
  X(cuEventSynchronize, "cuEventSynchronize", (EventHandle))                                       \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", (FunctionHandle, int, int))                          \
  X(cuGetErrorName, "cuGetErrorName", (Code, const char **))                                       \
  X(cuInit, "cuInit", (unsigned))                                                                  \
  X(cuLaunchKernel, "cuLaunchKernel",                                                              \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
     StreamHandle, void **, void **))                                                              \
  X(cuMemAlloc, "cuMemAlloc_v2", (Address *, size_t))                                              \
  X(cuMemFree, "cuMemFree_v2", (Address))                                                          \
  X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                 \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (Address, Address, size_t, StreamHandle))           \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, Address, size_t, StreamHandle))            \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (Address, const void *, size_t, StreamHandle))      \
  X(cuMemcpyPeerAsync, "cuMemcpyPeerAsync",                                                        \
    (Address, ContextHandle, Address, ContextHandle, size_t, StreamHandle))                        \
  X(cuModuleGetFunction, "cuModuleGetFunction", (FunctionHandle *, ModuleHandle, const char *))    \
  X(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                      \
    (ModuleHandle *, const void *, unsigned, int *, void **))                                      \
  X(cuModuleUnload, "cuModuleUnload", (ModuleHandle))                                              \
  X(cuStreamCreate, "cuStreamCreate", (StreamHandle *, unsigned))                                  \
  X(cuStreamSynchronize, "cuStreamSynchronize", (StreamHandle))                                    \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", (StreamHandle, EventHandle, unsigned))

/// Of later drivers, 11.8 and 12.0, else null.
#define GRAPHC_CUDA_LATER_FUNCTIONS(X)                                                             \
  X(cuLaunchKernelEx, "cuLaunchKernelEx",                                                          \
    (const LaunchConfig *, FunctionHandle, void **, void **))                                      \
  X(cuLibraryGetModule, "cuLibraryGetModule", (ModuleHandle *, LibraryHandle))                     \
  X(cuLibraryLoadData, "cuLibraryLoadData",                                                        \
    (LibraryHandle *, const void *, int *, void **, unsigned, int *, void **, unsigned))           \
  X(cuLibraryUnload, "cuLibraryUnload", (LibraryHandle))

/// CUlaunchConfig and the attribute that lets a kernel's groups be placed while the kernel before
/// it runs.
struct LaunchAttribute {
  static constexpr int kDependent = 6; ///< CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  alignas(8) int what;
  alignas(8) int value;
  char rest[60];
};
struct LaunchConfig {
  unsigned groups[3], group[3], localBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// The functions of the library.
struct Api {
#define GRAPHC_DECLARE(member, name, parameters) Code(*member) parameters;
  GRAPHC_CUDA_FUNCTIONS(GRAPHC_DECLARE)
  GRAPHC_CUDA_LATER_FUNCTIONS(GRAPHC_DECLARE)
#undef GRAPHC_DECLARE

  /// Launches groups in one dimension. `isDependent`: before the kernels that were launched before
  /// have ended, for which the kernel waits itself.
  Code launch(FunctionHandle kernel, unsigned groups, unsigned group, unsigned localBytes,
              StreamHandle stream, void **arguments, bool isDependent) const;
  static const char *launchName(bool isDependent) {
    return isDependent ? "cuLaunchKernelEx" : "cuLaunchKernel";
  }

  /// "[cuda] cuLaunchKernel failed (700): CUDA_ERROR_ILLEGAL_ADDRESS"; OutOfMemory for the code
  /// that means it, Device otherwise.
  Status failure(const char *function, Code code, const std::string &detail = "") const;
};

/// Opens the library on first use; a Device error says what is missing. It stays open for good.
Result<const Api *> loadApi();

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_API_H
