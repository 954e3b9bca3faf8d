//===- CudaDriver.cpp - GPUs by NVIDIA's driver -----------------------------------------------===//
#include "runtime/drivers/cuda/CudaDriver.h"

#include "runtime/base/Strings.h"
#include "runtime/drivers/cuda/Api.h"
#include "runtime/drivers/cuda/CudaDevice.h"

#include <mutex>

namespace graphc::rt::cuda {
namespace {

/// CU_DEVICE_ATTRIBUTE_*
constexpr int kProcessors = 16, kComputeMode = 20, kMajor = 75, kMinor = 76, kMostLocalBytes = 97;
/// CU_COMPUTEMODE_PROHIBITED
constexpr int kProhibited = 2;
/// The one with wgmma, whose code later ones do not run.
constexpr int kWgmma = 90;
/// From this one on kernels can wait for the one before them.
constexpr int kDependent = 90;
/// What a group with tensor maps takes, and the first driver whose compiler reads the steps of a
/// map in bytes.
constexpr int kLocalBytes = 227 << 10, kTensorMaps = 12050;
/// Code is made for these (sm_90); later processors run the code of earlier ones.
constexpr int kKnown[] = {90, 89, 86, 80, 75, 70, 60, 50};

/// A property that a device does not know counts as 0.
int attribute(const Api &api, DeviceNumber device, int what) {
  int value = 0;
  return api.cuDeviceGetAttribute(&value, what, device) == 0 ? value : 0;
}

class CudaDriver final : public Driver {
public:
  std::string_view name() const override { return "cuda"; }

  const std::vector<DeviceListing> &list() override {
    std::call_once(once, [this] {
      if (Status found = discover(); !found)
        listing.push_back({"cuda", "CUDA", nullptr, found.message()});
    });
    return listing;
  }

private:
  Status discover() {
    GRAPHC_ASSIGN(const Api *api, loadApi());
    if (Code code = api->cuInit(0))
      return api->failure("cuInit", code);
    int count = 0, version = 0;
    if (Code code = api->cuDriverGetVersion(&version))
      return api->failure("cuDriverGetVersion", code);
    if (Code code = api->cuDeviceGetCount(&count))
      return api->failure("cuDeviceGetCount", code);
    if (count == 0)
      return {ErrorCode::Device, "the driver shows no GPU to this process"};
    for (int i = 0; i < count; ++i) {
      DeviceInfo info;
      info.name = strings::format("cuda:{}", i);
      DeviceNumber device = 0;
      Status described = describe(*api, i, version, device, info);
      DeviceListing line{info.name, info.description, nullptr, described.message()};
      if (described)
        line.device = new CudaDevice(*api, device, std::move(info));
      listing.push_back(std::move(line));
    }
    return Status::ok();
  }

  /// An error says why the device is unusable.
  static Status describe(const Api &api, int index, int version, DeviceNumber &device,
                         DeviceInfo &info) {
    if (Code code = api.cuDeviceGet(&device, index))
      return api.failure("cuDeviceGet", code);
    char name[256] = {};
    if (Code code = api.cuDeviceGetName(name, sizeof name - 1, device))
      return api.failure("cuDeviceGetName", code);
    size_t bytes = 0;
    if (Code code = api.cuDeviceTotalMem(&bytes, device))
      return api.failure("cuDeviceTotalMem", code);
    int processor = 10 * attribute(api, device, kMajor) + attribute(api, device, kMinor);
    info.description =
        strings::format("{} (CUDA {}.{})", name, version / 1000, version % 1000 / 10);
    info.identity = strings::format("cuda|{}|{}|{}", version, name, processor);
    info.target = program::Target::OpenCL;
    info.memoryBytes = info.largestBuffer = static_cast<int64_t>(bytes);
    info.threads = attribute(api, device, kProcessors);
    info.cpuClass = false;
    info.hostVisible = false;
    int code = 0;
    for (int known : kKnown)
      code = code == 0 && known <= processor ? known : code;
    if (code == 0)
      return {ErrorCode::Device,
              strings::format("code is made for compute capability 5.0 and later, the device has "
                              "{}.{}",
                              processor / 10, processor % 10)};
    if (attribute(api, device, kComputeMode) == kProhibited)
      return {ErrorCode::Device, "its compute mode does not let programs use it"};
    info.features =
        strings::format("fp64,gpu,ordered,sm_{}{}", code, processor == kWgmma ? ",wgmma" : "");
    if (processor == kWgmma && version >= kTensorMaps &&
        attribute(api, device, kMostLocalBytes) >= kLocalBytes)
      info.features += ",tensormaps";
    if (processor >= kDependent && api.cuLaunchKernelEx)
      info.features += ",dependent";
    return Status::ok();
  }

  std::once_flag once;
  std::vector<DeviceListing> listing;
};

} // namespace

Driver &driver() {
  // Never destroyed, and neither are its devices: the library may already be unloaded when static
  // objects go.
  static CudaDriver *instance = new CudaDriver;
  return *instance;
}

} // namespace graphc::rt::cuda
