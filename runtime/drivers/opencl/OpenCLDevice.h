//===- OpenCLDevice.h - One OpenCL device -----------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDEVICE_H
#define GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDEVICE_H

#include "runtime/base/Fork.h"
#include "runtime/device/BufferPool.h"
#include "runtime/device/Device.h"
#include "runtime/drivers/opencl/Api.h"
#include "runtime/drivers/opencl/Quirks.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace graphc::rt::opencl {

class OpenCLDevice;

/// Device memory as cl_mem objects.
class DeviceMemory final : public BlockSource {
public:
  explicit DeviceMemory(OpenCLDevice &device) : device(device) {}
  void *obtain(int64_t bytes) override;
  void giveBack(void *handle, int64_t bytes) override;

private:
  OpenCLDevice &device;
};

class OpenCLQueue final : public Queue {
public:
  explicit OpenCLQueue(OpenCLDevice &device) : device(device) {}
  Status launch(const Launch &launch) override;
  Status copy(Buffer &destination, Buffer &source, int64_t bytes) override;
  Status upload(Buffer &destination, const void *source, int64_t bytes) override;
  Status uploadBeside(Buffer &destination, const void *source, int64_t bytes) override;
  Status download(void *destination, Buffer &source, int64_t bytes) override;
  Status downloadAll(std::span<const Readback> all) override;
  Status finish() override;

private:
  Status write(cl_command_queue commands, Buffer &destination, const void *source, int64_t bytes);
  OpenCLDevice &device;
};

/// Context and queue are made by the first use and kept for the life of the process.
class OpenCLDevice final : public Device {
public:
  /// `handle` is usable; `info` complete but for the budget.
  OpenCLDevice(const Api &api, cl_device_id handle, DeviceInfo info, Quirks quirks);

  const DeviceInfo &info() const override { return deviceInfo; }
  Queue &queue() override { return deviceQueue; }
  Result<BufferRef> allocate(int64_t bytes) override;
  Result<BufferRef> wrapHost(void *address, int64_t bytes, std::shared_ptr<void> owner) override;
  Result<std::unique_ptr<Module>> load(const program::Program &program) override;
  int64_t liveBytes() const override { return pool.liveBytes(); }
  int64_t cachedBytes() const override { return pool.cachedBytes(); }
  void releaseCached() override { pool.release(); }

  /// Makes context and queue when needed. A Device error when that failed or in a forked child.
  Status start();
  /// A few bytes of host memory that the device reads and writes directly, for whoever holds
  /// `stationMutex`; null when the driver gives none.
  char *station();
  static constexpr int64_t kStationBytes = 4096;
  std::mutex stationMutex;
  /// The queue for transfers beside the work of the other one, made when needed.
  Result<cl_command_queue> transfers();
  /// False in a child of the process that started the device: nothing of the driver may be touched
  /// there.
  bool isOurs() const { return generation == forkGeneration(); }

  const Api &api;
  const cl_device_id handle;
  const Quirks quirks;
  cl_context context = nullptr;
  cl_command_queue commands = nullptr;
  std::atomic<uint32_t> unflushed{0};    ///< launches
  std::atomic<uint64_t> released{0};     ///< memory objects: a handle may name another one since
  std::atomic<uint32_t> refusedForms{0}; ///< of code (Code.h)
  BufferPool pool;

private:
  DeviceInfo deviceInfo;
  DeviceMemory memory;
  OpenCLQueue deviceQueue;
  const uint32_t generation = forkGeneration();
  std::atomic<bool> started{false};
  cl_command_queue transferCommands = nullptr; ///< guarded by startMutex
  char *stationMemory = nullptr;               ///< guarded by stationMutex
  bool stationTried = false;
  std::mutex startMutex;
};

} // namespace graphc::rt::opencl

#endif // GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDEVICE_H
