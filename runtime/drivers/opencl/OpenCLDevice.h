//===- OpenCLDevice.h - One OpenCL device -----------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDEVICE_H
#define GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDEVICE_H

#include "runtime/device/VendorDevice.h"
#include "runtime/drivers/opencl/Api.h"
#include "runtime/drivers/opencl/Quirks.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace graphc::rt::opencl {

class OpenCLDevice;

class OpenCLQueue final : public VendorQueue {
public:
  explicit OpenCLQueue(OpenCLDevice &device);
  Status launch(const Launch &launch) override;
  Status copy(Buffer &destination, Buffer &source, int64_t bytes) override;
  Status upload(Buffer &destination, const void *source, int64_t bytes) override;
  Status uploadBeside(Buffer &destination, const void *source, int64_t bytes) override;
  Status finish() override;

private:
  Status read(void *to, Buffer &from, int64_t bytes, bool isLast) override;
  Status write(cl_command_queue commands, Buffer &destination, const void *source, int64_t bytes);
  OpenCLDevice &device;
};

/// Its memory are cl_mem objects.
class OpenCLDevice final : public VendorDevice {
public:
  /// `handle` is usable; `info` complete but for the budget.
  OpenCLDevice(const Api &api, cl_device_id handle, DeviceInfo info, Quirks quirks);

  Queue &queue() override { return deviceQueue; }
  Result<std::unique_ptr<Module>> load(const program::Program &program) override;
  std::string_view codeForm() const override;
  std::string_view productForm() const override;
  bool refuseCodeForm(std::string_view form) override;

  /// The queue for transfers beside the work of the other one, made when needed.
  Result<cl_command_queue> transfers();

  const Api &api;
  const cl_device_id handle;
  const Quirks quirks;
  cl_context context = nullptr;
  cl_command_queue commands = nullptr;
  std::atomic<uint32_t> unflushed{0}; ///< launches
  std::atomic<uint64_t> released{0};  ///< memory objects: a handle may name another one since

private:
  Status open() override;
  char *makeStation() override;
  Result<void *> obtainMemory(int64_t bytes) override;
  void giveMemoryBack(void *memory) override;

  OpenCLQueue deviceQueue;
  std::atomic<uint32_t> refusedForms{0}; ///< of code (Code.h)
  std::mutex transferMutex;
  cl_command_queue transferCommands = nullptr; ///< guarded by transferMutex
};

inline OpenCLQueue::OpenCLQueue(OpenCLDevice &device) : VendorQueue(device), device(device) {}

} // namespace graphc::rt::opencl

#endif // GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLDEVICE_H
