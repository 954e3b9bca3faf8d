//===- VendorDevice.cpp - What devices behind a vendor's library share ------------------------===//
#include "runtime/device/VendorDevice.h"

#include "runtime/base/Strings.h"
#include "runtime/device/MemoryLimit.h"

#include <cstring>

namespace graphc::rt {
namespace {

/// Buffers together stay below 15/16 of the device's memory: the rest is for code, queues and the
/// driver.
int64_t budgetOf(const DeviceInfo &info) {
  return memoryBudget(info.memoryBytes / 16 * 15, info.name);
}

/// Why the calling thread's last block was refused; a pool knows of memory only.
thread_local Status refusal;

} // namespace

VendorDevice::VendorDevice(DeviceInfo info)
    : pool(*this, info.name, budgetOf(info), budgetOf(info) / 4), deviceInfo(std::move(info)) {
  deviceInfo.budgetBytes = pool.budget();
}

std::string_view VendorDevice::area() const {
  return std::string_view(deviceInfo.name).substr(0, deviceInfo.name.find(':'));
}

Status VendorDevice::start() {
  if (!isOurs())
    return {ErrorCode::Device,
            strings::format("[{}] {} cannot be used after fork(): start the child with exec, or "
                            "use the device only in children",
                            area(), deviceInfo.name)};
  if (isOpen.load(std::memory_order_acquire))
    return Status::ok();
  std::lock_guard lock(openMutex);
  if (isOpen.load(std::memory_order_relaxed))
    return Status::ok();
  GRAPHC_TRY(open());
  isOpen.store(true, std::memory_order_release);
  return Status::ok();
}

char *VendorDevice::station() {
  if (!stationTried)
    stationMemory = makeStation();
  stationTried = true;
  return stationMemory;
}

void *VendorDevice::obtain(int64_t bytes) {
  Result<void *> made = obtainMemory(bytes);
  refusal = made ? Status::ok() : made.takeStatus();
  return made ? *made : nullptr;
}

void VendorDevice::giveBack(void *handle, int64_t) {
  if (isOurs())
    giveMemoryBack(handle);
}

Result<BufferRef> VendorDevice::allocate(int64_t bytes) {
  GRAPHC_TRY(start());
  if (bytes > deviceInfo.largestBuffer)
    return Status(ErrorCode::OutOfMemory,
                  strings::format("[{}] a buffer of {} was wanted, the largest possible is {}",
                                  deviceInfo.name, strings::bytesText(bytes),
                                  strings::bytesText(deviceInfo.largestBuffer)));
  refusal = Status::ok();
  Result<Block> block = pool.take(bytes);
  if (!block)
    return refusal || refusal.code() == ErrorCode::OutOfMemory ? block.takeStatus()
                                                               : std::move(refusal);
  return BufferRef(std::make_shared<PooledBuffer>(*this, pool, *block));
}

Result<BufferRef> VendorDevice::wrapHost(void *, int64_t, std::shared_ptr<void>) {
  return Status(ErrorCode::Unsupported,
                strings::format("[{}] cannot use host memory without a copy", deviceInfo.name));
}

Status VendorDevice::checkProgram(const program::Program &program) const {
  if (program.target() != deviceInfo.target)
    return {ErrorCode::Unsupported,
            strings::format("[{}] this program is for {}", area(), targetName(program.target()))};
  for (std::string_view need : strings::split(program.text(program.meta().isa), ','))
    if (!strings::listContains(deviceInfo.features, need))
      return {ErrorCode::Unsupported,
              strings::format("[{}] this program needs '{}', which {} ({}) does not have", area(),
                              need, deviceInfo.name, deviceInfo.description)};
  return Status::ok();
}

Status VendorQueue::download(void *destination, Buffer &source, int64_t bytes) {
  const Readback one{destination, &source, bytes};
  return downloadAll({&one, 1});
}

Status VendorQueue::downloadAll(std::span<const Readback> all) {
  GRAPHC_TRY(owner.start());
  std::unique_lock<std::mutex> lock(owner.stationMutex, std::defer_lock);
  // Several small copies go by memory that the device writes directly: others wait one by one.
  char *station = all.size() > 1 && lock.try_lock() ? owner.station() : nullptr;
  int64_t used = 0;
  auto placeOf = [&](const Readback &r) -> char * {
    constexpr int64_t kAligned = 64;
    int64_t bytes = (r.bytes + kAligned - 1) / kAligned * kAligned;
    if (!station || used + bytes > VendorDevice::kStationBytes)
      return nullptr;
    return station + std::exchange(used, used + bytes);
  };
  std::vector<std::pair<const Readback *, char *>> stationed;
  Status failed;
  bool waited = false;
  for (size_t i = 0; i < all.size() && failed; ++i) {
    const Readback &r = all[i];
    if (r.bytes <= 0)
      continue;
    char *place = placeOf(r);
    if (place)
      stationed.emplace_back(&r, place);
    // The queue is in order: who waits for the last waits for all.
    waited = i + 1 == all.size();
    failed = read(place ? place : r.to, *r.from, r.bytes, waited);
  }
  // Nothing may be written to the caller's memory after the return.
  if (!waited || !failed) {
    Status finished = finish();
    failed = failed ? std::move(finished) : std::move(failed);
  }
  for (auto [r, place] : stationed)
    std::memcpy(r->to, place, static_cast<size_t>(r->bytes));
  return failed;
}

LaunchShape shapeOf(int64_t range, uint32_t itemsPerThread, uint32_t group) {
  if (itemsPerThread == 0)
    return {range * group, group};
  int64_t items = (range - 1) / itemsPerThread + 1;
  return {group ? (items + group - 1) / group * group : items, group};
}

} // namespace graphc::rt
