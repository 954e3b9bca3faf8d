//===- VendorDevice.h - What devices behind a vendor's library share --------------------------===//
#ifndef GRAPHC_RUNTIME_DEVICE_VENDORDEVICE_H
#define GRAPHC_RUNTIME_DEVICE_VENDORDEVICE_H

#include "runtime/base/Fork.h"
#include "runtime/device/BufferPool.h"
#include "runtime/device/Device.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace graphc::rt {

/// Memory of a device that the host cannot touch, from the device's pool.
class PooledBuffer final : public Buffer {
public:
  PooledBuffer(Device &device, BufferPool &pool, Block block)
      : Buffer(device, block.bytes, nullptr), pool(pool), blockHandle(block.handle) {}
  ~PooledBuffer() override { pool.put({blockHandle, bytes()}); }
  void *handle() const { return blockHandle; }

private:
  BufferPool &pool;
  void *blockHandle;
};
/// The library's handle of a buffer of a VendorDevice.
inline void *handleOf(const Buffer &buffer) {
  return static_cast<const PooledBuffer &>(buffer).handle();
}

/// Opened by its first use and kept open for the life of the process. What the library has is
/// touched only in the process that listed the device: after a fork every call is a Device error.
class VendorDevice : public Device, private BlockSource {
public:
  const DeviceInfo &info() const final { return deviceInfo; }
  Result<BufferRef> allocate(int64_t bytes) final;
  Result<BufferRef> wrapHost(void *address, int64_t bytes, std::shared_ptr<void> owner) final;
  int64_t liveBytes() const final { return pool.liveBytes(); }
  int64_t cachedBytes() const final { return pool.cachedBytes(); }
  void releaseCached() final { pool.release(); }

  /// Opens the device when needed.
  Status start();
  bool isOurs() const { return generation == forkGeneration(); }
  /// A few bytes of host memory that the device reads and writes directly, for whoever holds
  /// `stationMutex`; null when the library gives none.
  char *station();
  static constexpr int64_t kStationBytes = 4096;
  std::mutex stationMutex;

protected:
  /// `info` complete but for the budget.
  explicit VendorDevice(DeviceInfo info);
  /// "opencl" of "opencl:0".
  std::string_view area() const;
  /// Unsupported when a program is for something else or needs what the device does not have.
  Status checkProgram(const program::Program &program) const;

  /// Makes what every call needs. After a failure it is called again by the next use.
  virtual Status open() = 0;
  /// kStationBytes, or null. Called once, on an open device.
  virtual char *makeStation() = 0;
  /// OutOfMemory when there is none; other errors are those of the device.
  virtual Result<void *> obtainMemory(int64_t bytes) = 0;
  /// As BlockSource; isOurs() holds.
  virtual void giveMemoryBack(void *handle) = 0;

private:
  void *obtain(int64_t bytes) final;
  void giveBack(void *handle, int64_t bytes) final;

  BufferPool pool;
  DeviceInfo deviceInfo;
  const uint32_t generation = forkGeneration();
  std::atomic<bool> isOpen{false};
  std::mutex openMutex;
  char *stationMemory = nullptr; ///< guarded by stationMutex
  bool stationTried = false;
};

/// Reads several results with one wait: small ones go by way of the device's station, where they do
/// not wait one by one.
class VendorQueue : public Queue {
public:
  Status download(void *destination, Buffer &source, int64_t bytes) final;
  Status downloadAll(std::span<const Readback> all) override;

protected:
  explicit VendorQueue(VendorDevice &device) : owner(device) {}
  /// Queues a copy to the host; `isLast`: and waits for it and all work before it. The device is
  /// open.
  virtual Status read(void *to, Buffer &from, int64_t bytes, bool isLast) = 0;

private:
  VendorDevice &owner;
};

/// Groups of a launch, and work-items of each; `group` 0: as the library likes.
struct LaunchShape {
  int64_t items, group;
};
LaunchShape shapeOf(int64_t range, uint32_t itemsPerThread, uint32_t group);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DEVICE_VENDORDEVICE_H
