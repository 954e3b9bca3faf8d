//===- OpenCLDevice.cpp - One OpenCL device ---------------------------------------------------===//
#include "runtime/drivers/opencl/OpenCLDevice.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/device/MemoryLimit.h"
#include "runtime/drivers/opencl/Code.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace graphc::rt::opencl {
namespace {

/// Buffers together stay below 15/16 of the device's memory: the rest is for code, queues and the
/// driver.
int64_t budgetOf(const DeviceInfo &info) {
  return memoryBudget(info.memoryBytes / 16 * 15, info.name);
}

/// A flush costs as much as a launch.
constexpr uint32_t kLaunchesPerFlush = 8;

class OpenCLBuffer final : public Buffer {
public:
  OpenCLBuffer(OpenCLDevice &device, Block block)
      : Buffer(device, block.bytes, nullptr), owner(device), handle(block.handle) {}
  ~OpenCLBuffer() override { owner.pool.put({handle, bytes()}); }
  cl_mem memory() const { return static_cast<cl_mem>(handle); }

private:
  OpenCLDevice &owner;
  void *handle;
};

cl_mem memoryOf(const Buffer &buffer) { return static_cast<const OpenCLBuffer &>(buffer).memory(); }

class OpenCLModule final : public Module {
public:
  struct Kernel {
    cl_kernel handle;
    uint32_t itemsPerThread;
    uint32_t group;
    std::string name;
    std::vector<cl_long> sizes;  ///< as last set, the range behind them
    std::vector<cl_mem> buffers; ///< likewise, while `released` is the device's
    uint64_t released;
    std::set<size_t> compiledSizes; ///< PoCL: global sizes that need no compile any more
  };
  OpenCLModule(OpenCLDevice &device, cl_program program) : device(device), program(program) {}
  ~OpenCLModule() override {
    if (!device.isOurs())
      return;
    for (Kernel &k : kernels)
      device.api.clReleaseKernel(k.handle);
    if (program)
      device.api.clReleaseProgram(program);
  }

  OpenCLDevice &device;
  cl_program program; ///< null when there are no kernels
  std::mutex mutex;   ///< arguments belong to the kernel object: set and enqueue go together
  std::vector<Kernel> kernels;
};

Status startFailure(const char *function, cl_int code) { return failure(function, code); }

} // namespace

void *DeviceMemory::obtain(int64_t bytes) {
  cl_int code = CL_SUCCESS;
  cl_mem memory = device.api.clCreateBuffer(device.context, CL_MEM_READ_WRITE,
                                            static_cast<size_t>(bytes), nullptr, &code);
  return code == CL_SUCCESS ? memory : nullptr;
}

void DeviceMemory::giveBack(void *handle, int64_t bytes) {
  // The driver keeps the memory until queued commands that use it have ended. In a forked child it
  // is not ours to free.
  if (!device.isOurs())
    return;
  device.released.fetch_add(1, std::memory_order_relaxed);
  device.api.clReleaseMemObject(static_cast<cl_mem>(handle));
}

OpenCLDevice::OpenCLDevice(const Api &api, cl_device_id handle, DeviceInfo info, Quirks quirks)
    : api(api), handle(handle), quirks(quirks),
      pool(memory, info.name, budgetOf(info), budgetOf(info) / 4), deviceInfo(std::move(info)),
      memory(*this), deviceQueue(*this) {
  deviceInfo.budgetBytes = pool.budget();
}

Status OpenCLDevice::start() {
  if (!isOurs())
    return {ErrorCode::Device,
            strings::format("[opencl] {} cannot be used after fork(): start the child with exec, "
                            "or use OpenCL only in children",
                            deviceInfo.name)};
  if (started.load(std::memory_order_acquire))
    return Status::ok();
  std::lock_guard lock(startMutex);
  if (started.load(std::memory_order_relaxed))
    return Status::ok();
  SignalGuard signals;
  cl_int code = CL_SUCCESS;
  // A context may be left of a start that failed to make the queue.
  if (!context)
    context = api.clCreateContext(nullptr, 1, &handle, nullptr, nullptr, &code);
  if (code != CL_SUCCESS)
    return startFailure("clCreateContext", code);
  commands = api.clCreateCommandQueue(context, handle, 0, &code);
  if (code != CL_SUCCESS)
    return startFailure("clCreateCommandQueue", code);
  started.store(true, std::memory_order_release);
  return Status::ok();
}

char *OpenCLDevice::station() {
  if (stationTried)
    return stationMemory;
  stationTried = true;
  cl_int code = CL_SUCCESS;
  cl_mem memory = api.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                     kStationBytes, nullptr, &code);
  if (code != CL_SUCCESS)
    return nullptr;
  void *mapped = api.clEnqueueMapBuffer(commands, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                        kStationBytes, 0, nullptr, nullptr, &code);
  if (code == CL_SUCCESS)
    stationMemory = static_cast<char *>(mapped); // kept as long as the device
  else
    api.clReleaseMemObject(memory);
  return stationMemory;
}

Result<cl_command_queue> OpenCLDevice::transfers() {
  std::lock_guard lock(startMutex);
  if (!transferCommands) {
    cl_int code = CL_SUCCESS;
    cl_command_queue made = api.clCreateCommandQueue(context, handle, 0, &code);
    if (code != CL_SUCCESS)
      return startFailure("clCreateCommandQueue", code);
    transferCommands = made;
  }
  return transferCommands;
}

Result<BufferRef> OpenCLDevice::allocate(int64_t bytes) {
  GRAPHC_TRY(start());
  if (bytes > deviceInfo.largestBuffer)
    return Status(ErrorCode::OutOfMemory,
                  strings::format("[{}] a buffer of {} was wanted, the largest possible is {}",
                                  deviceInfo.name, strings::bytesText(bytes),
                                  strings::bytesText(deviceInfo.largestBuffer)));
  GRAPHC_ASSIGN(Block block, pool.take(bytes));
  return BufferRef(std::make_shared<OpenCLBuffer>(*this, block));
}

Result<BufferRef> OpenCLDevice::wrapHost(void *address, int64_t bytes,
                                         std::shared_ptr<void> owner) {
  return Status(ErrorCode::Unsupported,
                strings::format("[{}] cannot use host memory without a copy", deviceInfo.name));
}

Result<std::unique_ptr<Module>> OpenCLDevice::load(const program::Program &program) {
  TraceSpan span("exec", "load");
  if (program.target() != program::Target::OpenCL)
    return Status(ErrorCode::Unsupported,
                  strings::format("[opencl] this program is for {}", targetName(program.target())));
  for (std::string_view need : strings::split(program.text(program.meta().isa), ','))
    if (!strings::listContains(deviceInfo.features, need))
      return Status(ErrorCode::Unsupported,
                    strings::format("[opencl] this program needs '{}', which {} ({}) does not have",
                                    need, deviceInfo.name, deviceInfo.description));
  GRAPHC_TRY(start());
  GRAPHC_TRY(checkDiskSpace());
  // A program may be made of library steps alone.
  if (program.kernels().empty())
    return std::unique_ptr<Module>(std::make_unique<OpenCLModule>(*this, nullptr));
  GRAPHC_ASSIGN(cl_program built,
                buildCode(api, context, handle, deviceInfo, program, refusedForms));
  auto module = std::make_unique<OpenCLModule>(*this, built);
  cl_int code = CL_SUCCESS;
  for (const program::KernelRecord &k : program.kernels()) {
    std::string name(program.text(k.name));
    cl_kernel kernel = api.clCreateKernel(built, name.c_str(), &code);
    if (code != CL_SUCCESS)
      return failure("clCreateKernel", code, "kernel " + name);
    module->kernels.push_back({kernel, k.itemsPerThread, k.group, name, {}, {}, 0, {}});
    cl_uint arguments = 0;
    code = api.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, nullptr);
    if (code != CL_SUCCESS)
      return failure("clGetKernelInfo", code);
    if (arguments != k.bufferCount + k.sizeCount + 1)
      return Status(ErrorCode::Corrupt,
                    strings::format("[opencl] kernel {} takes {} arguments instead of {}", name,
                                    arguments, k.bufferCount + k.sizeCount + 1));
  }
  return std::unique_ptr<Module>(std::move(module));
}

Status OpenCLQueue::launch(const Launch &launch) {
  GRAPHC_TRY(device.start());
  count(Counter::Launches);
  auto &module = *static_cast<OpenCLModule *>(launch.module);
  OpenCLModule::Kernel &kernel = module.kernels[launch.kernel];
  TraceSpan span("exec", kernel.name);
  std::lock_guard lock(module.mutex);
  cl_uint index = 0;
  auto set = [&](size_t bytes, const void *value) -> Status {
    cl_int code = device.api.clSetKernelArg(kernel.handle, index, bytes, value);
    if (code != CL_SUCCESS)
      return failure("clSetKernelArg", code,
                     strings::format("argument {} of kernel {}", index, kernel.name));
    ++index;
    return Status::ok();
  };
  // Arguments stay from launch to launch, but for handles that may have been used again.
  uint64_t released = device.released.load(std::memory_order_relaxed);
  if (std::exchange(kernel.released, released) != released)
    kernel.buffers.clear();
  kernel.buffers.resize(launch.buffers.size(), nullptr);
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    cl_mem memory = memoryOf(*launch.buffers[i]);
    if (kernel.buffers[i] == memory) {
      ++index;
      continue;
    }
    kernel.buffers[i] = nullptr; // unknown when it cannot be set
    GRAPHC_TRY(set(sizeof memory, &memory));
    kernel.buffers[i] = memory;
  }
  kernel.sizes.resize(launch.sizes.size() + 1, -1);
  cl_long range = launch.range;
  for (size_t i = 0; i <= launch.sizes.size(); ++i) {
    cl_long size = i < launch.sizes.size() ? launch.sizes[i] : range;
    if (kernel.sizes[i] == size) {
      ++index;
      continue;
    }
    GRAPHC_TRY(set(sizeof size, &size));
    kernel.sizes[i] = size;
  }

  size_t local = kernel.group, global = static_cast<size_t>(range);
  if (kernel.itemsPerThread == 0) {
    global *= local;
  } else {
    global = (global - 1) / kernel.itemsPerThread + 1;
    global = local ? (global + local - 1) / local * local : global;
  }
  auto enqueue = [&] {
    return device.api.clEnqueueNDRangeKernel(device.commands, kernel.handle, 1, nullptr, &global,
                                             local ? &local : nullptr, 0, nullptr, nullptr);
  };
  cl_int code = CL_SUCCESS;
  if (device.quirks.compilesLaunches &&
      kernel.compiledSizes.insert(local ? local : ~global).second) {
    // In a cache that processes share.
    BuildLock buildLock;
    SignalGuard signals;
    code = enqueue();
    if (code == CL_SUCCESS)
      code = device.api.clFinish(device.commands);
  } else {
    code = enqueue();
  }
  if (code != CL_SUCCESS)
    return failure("clEnqueueNDRangeKernel", code,
                   code == CL_INVALID_WORK_GROUP_SIZE
                       ? strings::format("work-group size {} of kernel {}", local, kernel.name)
                       : "");
  // Every wait flushes by itself; in between, work is handed over some launches at a time.
  if (device.info().cpuClass || ++device.unflushed % kLaunchesPerFlush == 0)
    code = device.api.clFlush(device.commands);
  return code == CL_SUCCESS ? Status::ok() : failure("clFlush", code);
}

Status OpenCLQueue::copy(Buffer &destination, Buffer &source, int64_t bytes) {
  GRAPHC_TRY(device.start());
  count(Counter::Copies);
  if (bytes <= 0)
    return Status::ok();
  cl_int code =
      device.api.clEnqueueCopyBuffer(device.commands, memoryOf(source), memoryOf(destination), 0, 0,
                                     static_cast<size_t>(bytes), 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status::ok() : failure("clEnqueueCopyBuffer", code);
}

Status OpenCLQueue::write(cl_command_queue commands, Buffer &destination, const void *source,
                          int64_t bytes) {
  if (bytes <= 0)
    return Status::ok();
  cl_int code =
      device.api.clEnqueueWriteBuffer(commands, memoryOf(destination), CL_TRUE, 0,
                                      static_cast<size_t>(bytes), source, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status::ok() : failure("clEnqueueWriteBuffer", code);
}

Status OpenCLQueue::upload(Buffer &destination, const void *source, int64_t bytes) {
  GRAPHC_TRY(device.start());
  return write(device.commands, destination, source, bytes);
}

Status OpenCLQueue::uploadBeside(Buffer &destination, const void *source, int64_t bytes) {
  GRAPHC_TRY(device.start());
  GRAPHC_ASSIGN(cl_command_queue commands, device.transfers());
  return write(commands, destination, source, bytes);
}

Status OpenCLQueue::download(void *destination, Buffer &source, int64_t bytes) {
  const Readback one{destination, &source, bytes};
  return downloadAll({&one, 1});
}

Status OpenCLQueue::downloadAll(std::span<const Readback> all) {
  GRAPHC_TRY(device.start());
  // Several small copies go by memory that the device writes directly: others wait one by one.
  std::unique_lock<std::mutex> lock(device.stationMutex, std::defer_lock);
  char *station = all.size() > 1 && lock.try_lock() ? device.station() : nullptr;
  int64_t used = 0;
  auto placeOf = [&](const Readback &r) -> char * {
    constexpr int64_t kAligned = 64;
    int64_t bytes = (r.bytes + kAligned - 1) / kAligned * kAligned;
    if (!station || used + bytes > OpenCLDevice::kStationBytes)
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
    cl_int code = device.api.clEnqueueReadBuffer(
        device.commands, memoryOf(*r.from), waited ? CL_TRUE : CL_FALSE, 0,
        static_cast<size_t>(r.bytes), place ? place : r.to, 0, nullptr, nullptr);
    if (code != CL_SUCCESS)
      failed = failure("clEnqueueReadBuffer", code);
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

Status OpenCLQueue::finish() {
  GRAPHC_TRY(device.start());
  cl_int code = device.api.clFinish(device.commands);
  return code == CL_SUCCESS ? Status::ok() : failure("clFinish", code);
}

} // namespace graphc::rt::opencl
