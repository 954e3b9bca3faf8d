//===- OpenCLDriver.cpp - OpenCL devices ------------------------------------------------------===//
#include "runtime/drivers/opencl/OpenCLDriver.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/drivers/opencl/Api.h"
#include "runtime/drivers/opencl/Code.h"
#include "runtime/drivers/opencl/OpenCLDevice.h"

#include <cstdio>
#include <mutex>

namespace graphc::rt::opencl {
namespace {

Setting deviceClass{"GRAPHC_OPENCL_CLASS",
                    "schedules of OpenCL devices: cpu (items of their own), gpu (groups)",
                    "by the device's type"};

std::string platformText(const Api &api, cl_platform_id platform, cl_platform_info what) {
  size_t bytes = 0;
  if (api.clGetPlatformInfo(platform, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0)
    return "?";
  std::string text(bytes, '\0');
  if (api.clGetPlatformInfo(platform, what, bytes, text.data(), nullptr) != CL_SUCCESS)
    return "?";
  return std::string(strings::trim(text.c_str()));
}

std::string deviceText(const Api &api, cl_device_id device, cl_device_info what) {
  size_t bytes = 0;
  if (api.clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0)
    return "?";
  std::string text(bytes, '\0');
  if (api.clGetDeviceInfo(device, what, bytes, text.data(), nullptr) != CL_SUCCESS)
    return "?";
  return std::string(strings::trim(text.c_str()));
}

// A property that a device does not know counts as 0.
template <typename T>
T deviceValue(const Api &api, cl_device_id device, cl_device_info what) {
  T value = {};
  if (api.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS)
    return T{};
  return value;
}

// Why this device cannot run our programs, or "".
std::string unusableReason(const Api &api, cl_device_id device) {
  if (!deviceValue<cl_bool>(api, device, CL_DEVICE_AVAILABLE))
    return "the driver says it is not available";
  if (!deviceValue<cl_bool>(api, device, CL_DEVICE_COMPILER_AVAILABLE))
    return "the driver has no compiler for OpenCL C";
  if (!deviceValue<cl_bool>(api, device, CL_DEVICE_ENDIAN_LITTLE))
    return "the device is big-endian";
  if (deviceValue<cl_uint>(api, device, CL_DEVICE_ADDRESS_BITS) != 64)
    return "the device has no 64-bit addresses";
  int major = 0, minor = 0;
  std::string version = deviceText(api, device, CL_DEVICE_OPENCL_C_VERSION);
  if (std::sscanf(version.c_str(), "OpenCL C %d.%d", &major, &minor) != 2 ||
      major * 10 + minor < 12)
    return strings::format("OpenCL C 1.2 is needed, the device has '{}'", version);
  return "";
}

DeviceInfo describe(const Api &api, cl_platform_id platform, cl_device_id device,
                    const std::string &name) {
  DeviceInfo info;
  info.name = name;
  std::string platformName = platformText(api, platform, CL_PLATFORM_NAME);
  std::string deviceName = deviceText(api, device, CL_DEVICE_NAME);
  std::string driverVersion = deviceText(api, device, CL_DRIVER_VERSION);
  info.description = strings::format("{} ({} {})", deviceName, platformName, driverVersion);
  info.identity = strings::format("opencl|{}|{}|{}|{}|{}", platformName,
                                  platformText(api, platform, CL_PLATFORM_VERSION), deviceName,
                                  deviceText(api, device, CL_DEVICE_VERSION), driverVersion);
  info.target = program::Target::OpenCL;
  info.fp64 = deviceValue<cl_device_fp_config>(api, device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  info.cpuClass =
      (deviceValue<cl_device_type>(api, device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  info.exactDivide = (deviceValue<cl_device_fp_config>(api, device, CL_DEVICE_SINGLE_FP_CONFIG) &
                      CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  info.features = info.fp64 ? "fp64" : "";
  if (auto wanted = deviceClass.get(); wanted == "cpu" || wanted == "gpu")
    info.cpuClass = wanted == "cpu";
  info.features +=
      strings::format("{}{}", info.features.empty() ? "" : ",", info.cpuClass ? "cpu" : "gpu");
  if (!info.cpuClass && deviceValue<size_t>(api, device, CL_DEVICE_MAX_WORK_GROUP_SIZE) >= 1024)
    info.features += ",groups1024";
  info.memoryBytes =
      static_cast<int64_t>(deviceValue<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_SIZE));
  info.largestBuffer =
      static_cast<int64_t>(deviceValue<cl_ulong>(api, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  info.threads = static_cast<int>(deviceValue<cl_uint>(api, device, CL_DEVICE_MAX_COMPUTE_UNITS));
  info.hostVisible = false;
  return info;
}

class OpenCLDriver final : public Driver {
public:
  std::string_view name() const override { return "opencl"; }

  const std::vector<DeviceListing> &list() override {
    std::call_once(once, [this] { discover(); });
    return listing;
  }

private:
  void unusable(std::string name, std::string description, std::string reason) {
    listing.push_back({std::move(name), std::move(description), nullptr, std::move(reason)});
  }

  void discover() {
    preparePoclCache();
    auto api = loadApi();
    if (!api)
      return unusable("opencl", "OpenCL", api.status().message());
    SignalGuard signals;
    cl_uint count = 0;
    cl_int code = (*api)->clGetPlatformIDs(0, nullptr, &count);
    if (code != CL_SUCCESS || count == 0)
      return unusable("opencl", "OpenCL",
                      code == CL_SUCCESS ? std::string("no OpenCL platform is installed")
                                         : failure("clGetPlatformIDs", code).message());
    std::vector<cl_platform_id> platforms(count);
    code = (*api)->clGetPlatformIDs(count, platforms.data(), nullptr);
    if (code != CL_SUCCESS)
      return unusable("opencl", "OpenCL", failure("clGetPlatformIDs", code).message());
    for (cl_platform_id platform : platforms)
      addPlatform(**api, platform);
  }

  void addPlatform(const Api &api, cl_platform_id platform) {
    std::string platformName = platformText(api, platform, CL_PLATFORM_NAME);
    cl_uint count = 0;
    cl_int code = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    std::vector<cl_device_id> devices(count);
    if (code == CL_SUCCESS)
      code = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    if (code != CL_SUCCESS)
      return unusable("opencl", platformName, failure("clGetDeviceIDs", code).message());
    for (cl_device_id device : devices) {
      std::string name = strings::format("opencl:{}", number++);
      DeviceInfo info = describe(api, platform, device, name);
      std::string description = info.description;
      if (std::string reason = unusableReason(api, device); !reason.empty()) {
        unusable(std::move(name), std::move(description), std::move(reason));
        continue;
      }
      if (info.memoryBytes <= 0 || info.largestBuffer <= 0) {
        unusable(std::move(name), std::move(description),
                 "the driver does not say how much memory it has");
        continue;
      }
      auto forms = codeForms(api, platform, device);
      if (!forms) {
        unusable(std::move(name), std::move(description), forms.status().message());
        continue;
      }
      info.features += (info.features.empty() ? "" : ",") + *forms;
      Quirks quirks = quirksOf(platformName, deviceText(api, device, CL_DRIVER_VERSION));
      if (quirks.losesFolds)
        info.features += ",straight";
      if (quirks.ordersGroups)
        info.features += ",tickets";
      if (quirks.beginsInOrder)
        info.features += ",ordered";
      listing.push_back({std::move(name), std::move(description),
                         new OpenCLDevice(api, device, std::move(info), quirks), ""});
    }
  }

  std::once_flag once;
  int number = 0;
  std::vector<DeviceListing> listing;
};

} // namespace

Driver &driver() {
  // Never destroyed, and neither are its devices: drivers may already be unloaded when static
  // objects go.
  static OpenCLDriver *instance = new OpenCLDriver;
  return *instance;
}

} // namespace graphc::rt::opencl
