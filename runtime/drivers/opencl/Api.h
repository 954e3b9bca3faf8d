//===- Api.h - OpenCL entry points, found at run time -----------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_OPENCL_API_H
#define GRAPHC_RUNTIME_DRIVERS_OPENCL_API_H

#include "runtime/base/Status.h"

#define CL_TARGET_OPENCL_VERSION 210
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <csignal>
#include <string>

namespace graphc::rt::opencl {

#define GRAPHC_OPENCL_FUNCTIONS(X)                                                                 \
  X(clBuildProgram)                                                                                \
  X(clCreateBuffer)                                                                                \
  X(clCreateCommandQueue)                                                                          \
  X(clCreateContext)                                                                               \
  X(clCreateKernel)                                                                                \
  X(clCreateProgramWithBinary)                                                                     \
  X(clCreateProgramWithSource)                                                                     \
  X(clEnqueueCopyBuffer)                                                                           \
  X(clEnqueueMapBuffer)                                                                            \
  X(clEnqueueNDRangeKernel)                                                                        \
  X(clEnqueueReadBuffer)                                                                           \
  X(clEnqueueWriteBuffer)                                                                          \
  X(clFinish)                                                                                      \
  X(clFlush)                                                                                       \
  X(clGetDeviceIDs)                                                                                \
  X(clGetDeviceInfo)                                                                               \
  X(clGetKernelInfo)                                                                               \
  X(clGetPlatformIDs)                                                                              \
  X(clGetPlatformInfo)                                                                             \
  X(clGetProgramBuildInfo)                                                                         \
  X(clReleaseKernel)                                                                               \
  X(clReleaseMemObject)                                                                            \
  X(clReleaseProgram)                                                                              \
  X(clSetKernelArg)

/// Null where the loader is older than OpenCL 2.1.
#define GRAPHC_OPENCL_LATER_FUNCTIONS(X) X(clCreateProgramWithIL)

/// The functions of the OpenCL loader, under their own names.
struct Api {
#define GRAPHC_DECLARE(name) decltype(&::name) name;
  GRAPHC_OPENCL_FUNCTIONS(GRAPHC_DECLARE)
  GRAPHC_OPENCL_LATER_FUNCTIONS(GRAPHC_DECLARE)
#undef GRAPHC_DECLARE
};

/// Opens the loader on first use; a Device error says what is missing. The library stays open for
/// good.
Result<const Api *> loadApi();

/// "[opencl] clFinish failed (-5): CL_OUT_OF_RESOURCES"; OutOfMemory for the codes that mean it,
/// Device otherwise.
Status failure(const char *function, cl_int code, const std::string &detail = "");

/// Puts back the signal handlers of the process when it goes: drivers install their own while they
/// start or compile.
class SignalGuard {
public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard &) = delete;
  SignalGuard &operator=(const SignalGuard &) = delete;

private:
  static constexpr int kSignals = 32;
  struct sigaction saved[kSignals];
  bool known[kSignals];
};

/// Held while a driver may compile. PoCL's own cache loses races between processes, so compiles of
/// all processes of one cache folder go one after the other; without such a folder, or after 60 s
/// of waiting, only those of this process do.
class BuildLock {
public:
  BuildLock();
  ~BuildLock();
  BuildLock(const BuildLock &) = delete;
  BuildLock &operator=(const BuildLock &) = delete;

private:
  int file = -1;
};

/// Gives PoCL a private compile cache, unless POCL_CACHE_DIR says where. Call before the first
/// OpenCL call.
void preparePoclCache();

/// Device error when the file system of the driver's compile cache is nearly full: PoCL's compiler
/// ends the process then.
Status checkDiskSpace();

} // namespace graphc::rt::opencl

#endif // GRAPHC_RUNTIME_DRIVERS_OPENCL_API_H
