//===- NullDriver.cpp - A device that runs nothing --------------------------------------------===//
#include "runtime/drivers/null/NullDriver.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/device/MemoryLimit.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace graphc::rt::null {
namespace {

struct Counts {
  std::atomic<int64_t> loads, launches, copies, transfers, finishes, items;
};
Counts counts;

class NullBuffer final : public Buffer {
public:
  NullBuffer(Device &device, std::atomic<int64_t> &live, int64_t bytes, void *memory)
      : Buffer(device, bytes, memory), live(live) {}
  ~NullBuffer() override {
    std::free(host());
    live -= bytes();
  }

private:
  std::atomic<int64_t> &live;
};

class WrappedBuffer final : public Buffer {
public:
  WrappedBuffer(Device &device, void *address, int64_t bytes, std::shared_ptr<void> owner)
      : Buffer(device, bytes, address, false), owner(std::move(owner)) {}

private:
  std::shared_ptr<void> owner;
};

class NullModule final : public Module {};

class NullQueue final : public Queue {
public:
  Status launch(const Launch &launch) override {
    count(Counter::Launches);
    ++counts.launches;
    counts.items += launch.range;
    return Status::ok();
  }
  Status copy(Buffer &destination, Buffer &source, int64_t bytes) override {
    count(Counter::Copies);
    ++counts.copies;
    return move(destination.host(), source.host(), bytes);
  }
  Status upload(Buffer &destination, const void *source, int64_t bytes) override {
    ++counts.transfers;
    return move(destination.host(), source, bytes);
  }
  Status download(void *destination, Buffer &source, int64_t bytes) override {
    ++counts.transfers;
    return move(destination, source.host(), bytes);
  }
  Status finish() override {
    ++counts.finishes;
    return Status::ok();
  }

private:
  static Status move(void *destination, const void *source, int64_t bytes) {
    if (bytes > 0)
      std::memcpy(destination, source, static_cast<size_t>(bytes));
    return Status::ok();
  }
};

class NullDevice final : public Device {
public:
  NullDevice() {
    deviceInfo.name = "null";
    deviceInfo.description = "runs no kernels; results are undefined";
    deviceInfo.identity = "null";
    deviceInfo.features = "avx,avx2,fma"; // that every program can be compiled
    deviceInfo.memoryBytes = int64_t{1} << 40;
    deviceInfo.budgetBytes = memoryBudget(deviceInfo.memoryBytes, "null");
    deviceInfo.largestBuffer = deviceInfo.budgetBytes;
    deviceInfo.runsKernels = false;
  }
  const DeviceInfo &info() const override { return deviceInfo; }
  Queue &queue() override { return deviceQueue; }

  Result<BufferRef> allocate(int64_t bytes) override {
    count(Counter::Allocations);
    void *memory = nullptr;
    int64_t rounded = std::max<int64_t>(64, bytes);
    if (bytes >= 0 && bytes <= deviceInfo.budgetBytes - live.load())
      memory = std::calloc(1, static_cast<size_t>(rounded));
    if (!memory)
      return Status(ErrorCode::OutOfMemory,
                    strings::format("[null] out of memory: {} wanted, {} free",
                                    strings::bytesText(bytes),
                                    strings::bytesText(deviceInfo.budgetBytes - live.load())));
    live += rounded;
    return BufferRef(std::make_shared<NullBuffer>(*this, live, rounded, memory));
  }
  Result<BufferRef> wrapHost(void *address, int64_t bytes, std::shared_ptr<void> owner) override {
    return BufferRef(std::make_shared<WrappedBuffer>(*this, address, bytes, std::move(owner)));
  }
  Result<std::unique_ptr<Module>> load(const program::Program &program) override {
    ++counts.loads;
    return std::unique_ptr<Module>(std::make_unique<NullModule>());
  }
  int64_t liveBytes() const override { return live.load(); }
  int64_t cachedBytes() const override { return 0; }
  void releaseCached() override {}

private:
  DeviceInfo deviceInfo;
  NullQueue deviceQueue;
  std::atomic<int64_t> live{0};
};

class NullDriver final : public Driver {
public:
  NullDriver() : listing{{"null", device.info().description, &device, ""}} {}
  std::string_view name() const override { return "null"; }
  const std::vector<DeviceListing> &list() override { return listing; }

private:
  NullDevice device;
  std::vector<DeviceListing> listing;
};

} // namespace

Driver &driver() {
  // Never destroyed: buffers may outlive every static object.
  static NullDriver *instance = new NullDriver;
  return *instance;
}

Calls calls() {
  return {counts.loads,     counts.launches, counts.copies,
          counts.transfers, counts.finishes, counts.items};
}

} // namespace graphc::rt::null
