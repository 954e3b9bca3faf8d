//===- Drivers.cpp - All drivers of this build and their devices ------------------------------===//
#include "runtime/drivers/Drivers.h"

#include "runtime/base/Fork.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/drivers/Choice.h"
#include "runtime/drivers/cpu/CpuDriver.h"
#include "runtime/drivers/cuda/CudaDriver.h"
#include "runtime/drivers/null/NullDriver.h"
#include "runtime/drivers/opencl/OpenCLDriver.h"

#include <map>
#include <mutex>

namespace graphc::rt {
namespace {

Setting defaultDevice{"GRAPHC_DEVICE",
                      "device used when none is named: cpu, cuda, opencl, opencl:1, gpu, auto",
                      "cpu"};

/// Why "gpu" does not mean a device.
struct Passed {
  ForkSafeMutex mutex;
  std::map<const Device *, std::string> reasons;
};
Passed &passed() {
  static auto *all = new Passed; // used until the process ends
  return *all;
}

Status noDevice(std::string_view name, const std::vector<DeviceListing> &candidates) {
  std::string text = strings::format("[device] there is no usable device '{}'", name);
  const char *separator = ": ";
  for (const DeviceListing &d : candidates) {
    std::lock_guard lock(passed().mutex);
    auto reason = passed().reasons.find(d.device);
    if (name == "gpu" && reason != passed().reasons.end()) {
      text += separator + strings::format("{} is passed over ({})", d.name, reason->second);
      separator = "; ";
      continue;
    }
    text += separator + (d.device ? strings::format("{} is usable", d.name)
                                  : strings::format("{} is not usable ({})", d.name, d.reason));
    separator = "; ";
  }
  return {ErrorCode::Device, std::move(text)};
}

} // namespace

std::span<Driver *const> allDrivers() {
  static Driver *const drivers[] = {&cpu::driver(), &cuda::driver(), &opencl::driver(),
                                    &null::driver()};
  return drivers;
}

std::vector<DeviceListing> listDevices(bool withNull) {
  std::vector<DeviceListing> all;
  for (Driver *driver : allDrivers())
    if (withNull || driver->name() != "null")
      all.insert(all.end(), driver->list().begin(), driver->list().end());
  return all;
}

std::string defaultDeviceName() { return defaultDevice.get().value_or("cpu"); }

Result<Device *> findDevice(std::string_view name) {
  std::string chosen = name.empty() ? defaultDeviceName() : std::string(name);
  if (chosen == "auto")
    return &choiceDevice();
  if (chosen == "gpu") {
    for (Driver *driver : allDrivers())
      for (const DeviceListing &d : driver->list())
        if (d.device && d.device->info().runsKernels && !d.device->info().cpuClass) {
          std::lock_guard lock(passed().mutex);
          if (!passed().reasons.contains(d.device))
            return d.device;
        }
    return noDevice(chosen, listDevices());
  }
  std::string_view driverName = std::string_view(chosen).substr(0, chosen.find(':'));
  for (Driver *driver : allDrivers()) {
    if (driver->name() != driverName)
      continue;
    for (const DeviceListing &d : driver->list())
      if (d.device && (d.name == chosen || driverName == chosen))
        return d.device;
    return noDevice(chosen, driver->list());
  }
  return noDevice(chosen, listDevices());
}

bool passOver(const Device &device, std::string reason) {
  std::lock_guard lock(passed().mutex);
  return passed().reasons.insert_or_assign(&device, std::move(reason)).second;
}

} // namespace graphc::rt
