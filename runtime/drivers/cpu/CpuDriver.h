//===- CpuDriver.h - The cpu device -----------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CPU_CPUDRIVER_H
#define GRAPHC_RUNTIME_DRIVERS_CPU_CPUDRIVER_H

#include "runtime/device/Device.h"

namespace graphc::rt::cpu {

/// The driver with the one device "cpu": kernels run on the caller and the process's thread pool,
/// launches return when the work is done, buffers are host memory.
Driver &driver();

} // namespace graphc::rt::cpu

#endif // GRAPHC_RUNTIME_DRIVERS_CPU_CPUDRIVER_H
