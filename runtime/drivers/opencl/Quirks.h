//===- Quirks.h - What drivers do otherwise than OpenCL says ----------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_OPENCL_QUIRKS_H
#define GRAPHC_RUNTIME_DRIVERS_OPENCL_QUIRKS_H

#include <string_view>

namespace graphc::rt::opencl {

struct Quirks {
  /// A launch compiles its kernel once more for each size of work-groups.
  bool compilesLaunches = false;
  /// What a group folded is lost when its work-items branch after the barriers.
  bool losesFolds = false;
  /// A group's fence orders its accesses to global memory for all groups.
  bool ordersGroups = false;
  /// Groups begin in the order of their numbers, and all that have begun get on.
  bool beginsInOrder = false;
};

/// Of a driver, by the names of its platform (CL_PLATFORM_NAME) and its version
/// (CL_DRIVER_VERSION).
Quirks quirksOf(std::string_view platform, std::string_view driverVersion);

} // namespace graphc::rt::opencl

#endif // GRAPHC_RUNTIME_DRIVERS_OPENCL_QUIRKS_H
