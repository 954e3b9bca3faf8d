//===- CudaDevice.h - One GPU of NVIDIA's driver ----------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CUDA_CUDADEVICE_H
#define GRAPHC_RUNTIME_DRIVERS_CUDA_CUDADEVICE_H

#include "runtime/device/VendorDevice.h"
#include "runtime/drivers/cuda/Answers.h"
#include "runtime/drivers/cuda/Api.h"
#include "runtime/drivers/cuda/Staging.h"

#include <atomic>
#include <mutex>
#include <set>

namespace graphc::rt::cuda {

class CudaDevice;

class CudaQueue final : public VendorQueue {
public:
  explicit CudaQueue(CudaDevice &device);
  Status launch(const Launch &launch) override;
  Status copy(Buffer &destination, Buffer &source, int64_t bytes) override;
  Status upload(Buffer &destination, const void *source, int64_t bytes) override;
  Result<bool> copyFromOther(Buffer &destination, Buffer &source, int64_t bytes) override;
  Status uploadBeside(Buffer &destination, const void *source, int64_t bytes) override;
  Status downloadAll(std::span<const Readback> all) override;
  Status finish() override;

private:
  Status read(void *to, Buffer &from, int64_t bytes, bool isLast) override;
  /// What `answers` took; all work before it has ended then.
  Status bring(std::span<const Readback> all);
  CudaDevice &device;
  Staging staging, stagingBeside, stagingBack;
};

/// The GPU's primary context, which other libraries of the process share; its memory are addresses.
class CudaDevice final : public VendorDevice {
public:
  /// `number` is usable; `info` complete but for the budget.
  CudaDevice(const Api &api, DeviceNumber number, DeviceInfo info);

  Queue &queue() override { return deviceQueue; }
  Result<std::unique_ptr<Module>> load(const program::Program &program) override;
  std::string_view codeForm() const override { return "ptx"; }
  std::string_view productForm() const override;

  /// The stream for transfers beside the work of the other one, and an event of it; made when
  /// needed.
  struct Transfers {
    StreamHandle stream = nullptr;
    EventHandle end = nullptr;
  };
  Result<Transfers> transfers();
  /// What `next` is given from here on begins when what this device was given so far has ended.
  Status precede(CudaDevice &next);
  /// Lets copies from the other GPU go straight to this one's memory. The context is current.
  void reach(const CudaDevice &other);

  const Api &api;
  const DeviceNumber number;
  ContextHandle context = nullptr;
  StreamHandle stream = nullptr;
  /// While the stream is given something; counted at the end: who waits meanwhile may miss it.
  struct Giving {
    CudaDevice &device;
    ~Giving() { device.given.fetch_add(1, std::memory_order_acq_rel); }
  };
  /// How much the stream was given so far.
  uint64_t soFar() const { return given.load(std::memory_order_acquire); }
  /// That so much of it has ended, by a wait that succeeded.
  void sawEnd(uint64_t of);
  /// Whether a wait would find nothing to wait for.
  bool isIdle() const { return ended.load(std::memory_order_acquire) == soFar(); }
  Answers answers;

private:
  Status open() override;
  char *makeStation() override;
  Result<void *> obtainMemory(int64_t bytes) override;
  void giveMemoryBack(void *memory) override;

  CudaQueue deviceQueue;
  std::atomic<uint64_t> given{0}, ended{0};
  std::mutex transferMutex;
  Transfers transferStream; ///< guarded by transferMutex
  std::mutex orderMutex;
  EventHandle order = nullptr;          ///< guarded by orderMutex, as is
  std::set<const CudaDevice *> reached; ///< whom it was tried with
};

/// Makes the device's context the thread's while it lives, and puts back what was there: another
/// library may count on its own. The device is open.
class Current {
public:
  explicit Current(const CudaDevice &device);
  ~Current();
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  Status status() const;

private:
  const Api &api;
  Code code = 0;
  bool isPushed = false;
};

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_CUDADEVICE_H
