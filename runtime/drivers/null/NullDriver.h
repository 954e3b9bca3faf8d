//===- NullDriver.h - A device that runs nothing ----------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_NULL_NULLDRIVER_H
#define GRAPHC_RUNTIME_DRIVERS_NULL_NULLDRIVER_H

#include "runtime/device/Device.h"

namespace graphc::rt::null {

/// The driver with the one device "null": loads programs of every target, allocates zeroed host
/// memory, copies, and runs no kernel. For measuring and testing everything around kernels.
Driver &driver();

/// What the null device has been asked to do since the process began.
struct Calls {
  int64_t loads = 0;
  int64_t launches = 0;
  int64_t copies = 0;
  int64_t transfers = 0; ///< uploads and downloads
  int64_t finishes = 0;
  int64_t items = 0; ///< sum of the ranges of all launches
};
Calls calls();

} // namespace graphc::rt::null

#endif // GRAPHC_RUNTIME_DRIVERS_NULL_NULLDRIVER_H
