//===- CudaDevice.cpp - One GPU of NVIDIA's driver --------------------------------------------===//
#include "runtime/drivers/cuda/CudaDevice.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/cuda/CudaModule.h"

#include <algorithm>
#include <limits>

namespace graphc::rt::cuda {
namespace {

constexpr unsigned kApartFromDefaultStream = 1, kWithoutTiming = 2;

Address addressOf(const Buffer &buffer) { return reinterpret_cast<Address>(handleOf(buffer)); }

} // namespace

Current::Current(const CudaDevice &device) : api(device.api) {
  ContextHandle now = nullptr;
  if (api.cuCtxGetCurrent(&now) == 0 && now == device.context)
    return;
  code = api.cuCtxPushCurrent(device.context);
  isPushed = code == 0;
}

Current::~Current() {
  ContextHandle popped = nullptr;
  if (isPushed)
    api.cuCtxPopCurrent(&popped);
}

Status Current::status() const {
  return code == 0 ? Status::ok() : api.failure("cuCtxPushCurrent", code);
}

CudaDevice::CudaDevice(const Api &api, DeviceNumber number, DeviceInfo info)
    : VendorDevice(std::move(info)), api(api), number(number), deviceQueue(*this) {}

void CudaDevice::sawEnd(uint64_t of) {
  uint64_t before = ended.load(std::memory_order_relaxed);
  while (before < of && !ended.compare_exchange_weak(before, of, std::memory_order_release)) {
  }
}

std::string_view CudaDevice::productForm() const {
  return strings::listContains(info().features, "sm_90") ? "ptx" : "";
}

Status CudaDevice::open() {
  // A context may be left of a start that failed to make the stream.
  if (!context)
    if (Code code = api.cuDevicePrimaryCtxRetain(&context, number)) {
      context = nullptr;
      return api.failure("cuDevicePrimaryCtxRetain", code);
    }
  Current current(*this);
  GRAPHC_TRY(current.status());
  if (Code code = api.cuStreamCreate(&stream, kApartFromDefaultStream))
    return api.failure("cuStreamCreate", code);
  bool isDependent = strings::listContains(info().features, "dependent");
  if (Status opened = answers.open(api, isDependent); !opened)
    emitEvent(EventLevel::Info, "device",
              strings::format("{}: small results come by copies", opened.message()));
  return Status::ok();
}

char *CudaDevice::makeStation() {
  void *memory = nullptr;
  return api.cuMemHostAlloc(&memory, kStationBytes, 0) == 0 ? static_cast<char *>(memory) : nullptr;
}

Result<void *> CudaDevice::obtainMemory(int64_t bytes) {
  Current current(*this);
  GRAPHC_TRY(current.status());
  Address made = 0;
  if (Code code = api.cuMemAlloc(&made, static_cast<size_t>(bytes)))
    return api.failure("cuMemAlloc", code);
  return reinterpret_cast<void *>(made);
}

void CudaDevice::giveMemoryBack(void *memory) {
  Current current(*this);
  // Queued work may use it. What that fails with is told by the next call that waits.
  api.cuStreamSynchronize(stream);
  api.cuMemFree(reinterpret_cast<Address>(memory));
}

Result<CudaDevice::Transfers> CudaDevice::transfers() {
  std::lock_guard lock(transferMutex);
  if (!transferStream.stream)
    if (Code code = api.cuStreamCreate(&transferStream.stream, kApartFromDefaultStream)) {
      transferStream.stream = nullptr;
      return api.failure("cuStreamCreate", code);
    }
  if (!transferStream.end)
    if (Code code = api.cuEventCreate(&transferStream.end, kWithoutTiming)) {
      transferStream.end = nullptr;
      return api.failure("cuEventCreate", code);
    }
  return transferStream;
}

Status CudaDevice::precede(CudaDevice &next) {
  // An event stands for what it was recorded after last, and is waited for as it is by then.
  std::lock_guard lock(orderMutex);
  {
    Current current(*this);
    GRAPHC_TRY(current.status());
    if (!order)
      if (Code code = api.cuEventCreate(&order, kWithoutTiming)) {
        order = nullptr;
        return api.failure("cuEventCreate", code);
      }
    if (Code code = api.cuEventRecord(order, stream))
      return api.failure("cuEventRecord", code);
  }
  Current current(next);
  GRAPHC_TRY(current.status());
  Giving giving{next};
  Code code = api.cuStreamWaitEvent(next.stream, order, 0);
  return code == 0 ? Status::ok() : api.failure("cuStreamWaitEvent", code);
}

void CudaDevice::reach(const CudaDevice &other) {
  std::lock_guard lock(orderMutex);
  // GPUs that do not reach each other are no error: the driver copies through the host then.
  if (reached.insert(&other).second)
    api.cuCtxEnablePeerAccess(other.context, 0);
}

Result<std::unique_ptr<Module>> CudaDevice::load(const program::Program &program) {
  TraceSpan span("exec", "load");
  GRAPHC_TRY(checkProgram(program));
  GRAPHC_TRY(start());
  return CudaModule::make(*this, program);
}

CudaQueue::CudaQueue(CudaDevice &device) : VendorQueue(device), device(device) {}

Status CudaQueue::launch(const Launch &launch) {
  GRAPHC_TRY(device.start());
  count(Counter::Launches);
  GRAPHC_ASSIGN(const CudaModule::Kernel *found,
                static_cast<CudaModule *>(launch.module)->ready(launch.kernel));
  const CudaModule::Kernel &kernel = *found;
  TraceSpan span("exec", kernel.name);
  thread_local std::vector<int64_t> values;
  thread_local std::vector<void *> places;
  values.clear();
  for (Buffer *buffer : launch.buffers)
    values.push_back(static_cast<int64_t>(addressOf(*buffer)));
  values.insert(values.end(), launch.sizes.begin(), launch.sizes.end());
  values.push_back(launch.range);
  places.clear();
  for (int64_t &value : values)
    places.push_back(&value);
  LaunchShape shape = shapeOf(launch.range, kernel.itemsPerThread, kernel.group);
  int64_t groups = shape.items / shape.group;
  if (groups > std::numeric_limits<int32_t>::max())
    return {ErrorCode::Unsupported,
            strings::format("[cuda] kernel {} needs {} groups, more than a launch has", kernel.name,
                            groups)};
  Current current(device);
  GRAPHC_TRY(current.status());
  CudaDevice::Giving giving{device};
  Code code = device.api.launch(
      kernel.handle.load(std::memory_order_relaxed), static_cast<unsigned>(groups), kernel.group,
      static_cast<unsigned>(launch.scratchBytes), device.stream, places.data(), kernel.isDependent);
  if (code == 0)
    return Status::ok();
  return device.api.failure(Api::launchName(kernel.isDependent), code, "kernel " + kernel.name);
}

Status CudaQueue::copy(Buffer &destination, Buffer &source, int64_t bytes) {
  GRAPHC_TRY(device.start());
  count(Counter::Copies);
  if (bytes <= 0)
    return Status::ok();
  Current current(device);
  GRAPHC_TRY(current.status());
  CudaDevice::Giving giving{device};
  Code code = device.api.cuMemcpyDtoDAsync(addressOf(destination), addressOf(source),
                                           static_cast<size_t>(bytes), device.stream);
  return code == 0 ? Status::ok() : device.api.failure("cuMemcpyDtoDAsync", code);
}

Result<bool> CudaQueue::copyFromOther(Buffer &destination, Buffer &source, int64_t bytes) {
  if (!source.device().info().name.starts_with("cuda:"))
    return false;
  auto &other = static_cast<CudaDevice &>(source.device());
  GRAPHC_TRY(device.start());
  count(Counter::Copies);
  GRAPHC_TRY(other.precede(device));
  {
    Current current(device);
    GRAPHC_TRY(current.status());
    device.reach(other);
    CudaDevice::Giving giving{device};
    Code code =
        device.api.cuMemcpyPeerAsync(addressOf(destination), device.context, addressOf(source),
                                     other.context, static_cast<size_t>(bytes), device.stream);
    if (code != 0)
      return device.api.failure("cuMemcpyPeerAsync", code);
  }
  // The source may be written, or its memory used again, by what the other device is given next.
  if (Status ordered = device.precede(other); !ordered) {
    GRAPHC_TRY(finish());
    return ordered;
  }
  return true;
}

Status CudaQueue::upload(Buffer &destination, const void *source, int64_t bytes) {
  GRAPHC_TRY(device.start());
  Current current(device);
  GRAPHC_TRY(current.status());
  CudaDevice::Giving giving{device};
  return staging.upload(device.api, device.stream, addressOf(destination), source, bytes);
}

Status CudaQueue::uploadBeside(Buffer &destination, const void *source, int64_t bytes) {
  GRAPHC_TRY(device.start());
  Current current(device);
  GRAPHC_TRY(current.status());
  GRAPHC_ASSIGN(CudaDevice::Transfers beside, device.transfers());
  GRAPHC_TRY(
      stagingBeside.upload(device.api, beside.stream, addressOf(destination), source, bytes));
  if (Code code = device.api.cuEventRecord(beside.end, beside.stream))
    return device.api.failure("cuEventRecord", code);
  CudaDevice::Giving giving{device};
  Code code = device.api.cuStreamWaitEvent(device.stream, beside.end, 0);
  return code == 0 ? Status::ok() : device.api.failure("cuStreamWaitEvent", code);
}

Status CudaQueue::read(void *to, Buffer &from, int64_t bytes, bool isLast) {
  Current current(device);
  GRAPHC_TRY(current.status());
  // The library copies into memory that is not pinned on one thread.
  constexpr int64_t kStaged = int64_t{256} << 10;
  if (bytes > kStaged) {
    CudaDevice::Giving giving{device};
    return stagingBack.download(device.api, device.stream, to, addressOf(from), bytes);
  }
  {
    CudaDevice::Giving giving{device};
    if (Code code = device.api.cuMemcpyDtoHAsync(to, addressOf(from), static_cast<size_t>(bytes),
                                                 device.stream))
      return device.api.failure("cuMemcpyDtoHAsync", code);
  }
  return isLast ? finish() : Status::ok();
}

Status CudaQueue::downloadAll(std::span<const Readback> all) {
  std::unique_lock<std::mutex> lock;
  if (!device.answers.take(all, lock))
    return VendorQueue::downloadAll(all);
  GRAPHC_TRY(device.start());
  Current current(device);
  GRAPHC_TRY(current.status());
  return bring(all);
}

Status CudaQueue::bring(std::span<const Readback> all) {
  const uint64_t before = device.soFar();
  GRAPHC_TRY(device.answers.bring(device.api, device.stream, all));
  device.sawEnd(before);
  return Status::ok();
}

Status CudaQueue::finish() {
  GRAPHC_TRY(device.start());
  if (device.isIdle())
    return Status::ok();
  Current current(device);
  GRAPHC_TRY(current.status());
  if (std::unique_lock<std::mutex> lock; device.answers.take({}, lock))
    return bring({});
  const uint64_t before = device.soFar();
  if (Code code = device.api.cuStreamSynchronize(device.stream))
    return device.api.failure("cuStreamSynchronize", code);
  device.sawEnd(before);
  return Status::ok();
}

} // namespace graphc::rt::cuda
