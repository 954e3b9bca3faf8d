//===- OpenCLDriver.h - OpenCL devices --------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDRIVER_H
#define GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDRIVER_H

#include "runtime/device/Device.h"

namespace graphc::rt::opencl {

/// The driver with the devices "opencl:0", "opencl:1", ... of all platforms that the system's
/// OpenCL loader finds. The loader (libOpenCL.so.1) is opened by the first list(); it is never
/// linked, closed or called at exit.
Driver &driver();

} // namespace graphc::rt::opencl

#endif // GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDRIVER_H
