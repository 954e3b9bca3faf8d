//===- Drivers.h - All drivers of this build and their devices --------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_DRIVERS_H
#define GRAPHC_RUNTIME_DRIVERS_DRIVERS_H

#include "runtime/device/Device.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::rt {

/// cpu, cuda, opencl, null; the order of the device list.
std::span<Driver *const> allDrivers();

/// Every device of every driver, unusable ones with the reason. The null device is left out unless
/// asked for.
std::vector<DeviceListing> listDevices(bool withNull = false);

/// The device with this name: "cpu", "null", "opencl:1"; "cuda" and "opencl" are the first usable
/// one of the driver; "gpu" the first usable device that is not CPU-class and was not
/// passed over; "auto" the cpu or
/// another, by program (Choice.h); "" the one named by GRAPHC_DEVICE, else "cpu". Only the named
/// driver is started. A Device error names what exists and why the wanted one does not work.
Result<Device *> findDevice(std::string_view name);

/// GRAPHC_DEVICE, else "cpu".
std::string defaultDeviceName();

/// From now on "gpu", and "auto" when it is first asked for, mean a later device than this one. By
/// its own name it stays what it is. False when it was passed over already.
bool passOver(const Device &device, std::string reason);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DRIVERS_DRIVERS_H
