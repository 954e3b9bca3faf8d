//===- OpenCLDevice.cpp - One OpenCL device ---------------------------------------------------===//
#include "runtime/drivers/opencl/OpenCLDevice.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/opencl/Code.h"
#include "runtime/drivers/opencl/OpenCLModule.h"

namespace graphc::rt::opencl {
namespace {

/// A flush costs as much as a launch.
constexpr uint32_t kLaunchesPerFlush = 8;

cl_mem memoryOf(const Buffer &buffer) { return static_cast<cl_mem>(handleOf(buffer)); }

} // namespace

OpenCLDevice::OpenCLDevice(const Api &api, cl_device_id handle, DeviceInfo info, Quirks quirks)
    : VendorDevice(std::move(info)), api(api), handle(handle), quirks(quirks), deviceQueue(*this) {}

Result<void *> OpenCLDevice::obtainMemory(int64_t bytes) {
  cl_int code = CL_SUCCESS;
  cl_mem memory =
      api.clCreateBuffer(context, CL_MEM_READ_WRITE, static_cast<size_t>(bytes), nullptr, &code);
  if (code == CL_SUCCESS)
    return static_cast<void *>(memory);
  // The first is also what drivers say whose memory is all taken.
  bool isRefused = code == CL_OUT_OF_RESOURCES || code == CL_INVALID_BUFFER_SIZE;
  Status status = failure("clCreateBuffer", code);
  return isRefused ? Status(ErrorCode::OutOfMemory, status.message()) : std::move(status);
}

void OpenCLDevice::giveMemoryBack(void *memory) {
  // The driver keeps it until queued commands that use it have ended.
  released.fetch_add(1, std::memory_order_relaxed);
  api.clReleaseMemObject(static_cast<cl_mem>(memory));
}

Status OpenCLDevice::open() {
  SignalGuard signals;
  cl_int code = CL_SUCCESS;
  // A context may be left of a start that failed to make the queue.
  if (!context)
    context = api.clCreateContext(nullptr, 1, &handle, nullptr, nullptr, &code);
  if (code != CL_SUCCESS)
    return failure("clCreateContext", code);
  commands = api.clCreateCommandQueue(context, handle, 0, &code);
  return code == CL_SUCCESS ? Status::ok() : failure("clCreateCommandQueue", code);
}

char *OpenCLDevice::makeStation() {
  cl_int code = CL_SUCCESS;
  cl_mem memory = api.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                     kStationBytes, nullptr, &code);
  if (code != CL_SUCCESS)
    return nullptr;
  void *mapped = api.clEnqueueMapBuffer(commands, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                        kStationBytes, 0, nullptr, nullptr, &code);
  if (code == CL_SUCCESS)
    return static_cast<char *>(mapped); // kept as long as the device
  api.clReleaseMemObject(memory);
  return nullptr;
}

Result<cl_command_queue> OpenCLDevice::transfers() {
  std::lock_guard lock(transferMutex);
  if (!transferCommands) {
    cl_int code = CL_SUCCESS;
    cl_command_queue made = api.clCreateCommandQueue(context, handle, 0, &code);
    if (code != CL_SUCCESS)
      return failure("clCreateCommandQueue", code);
    transferCommands = made;
  }
  return transferCommands;
}

std::string_view OpenCLDevice::codeForm() const { return firstForm(info().features, refusedForms); }

std::string_view OpenCLDevice::productForm() const {
  return formOfProducts(info().features, refusedForms);
}

bool OpenCLDevice::refuseCodeForm(std::string_view form) {
  uint32_t refused = refusedForms | static_cast<uint32_t>(formFromName(form));
  if (firstForm(info().features, refused).empty())
    return false;
  refusedForms = refused;
  return true;
}

Result<std::unique_ptr<Module>> OpenCLDevice::load(const program::Program &program) {
  TraceSpan span("exec", "load");
  GRAPHC_TRY(checkProgram(program));
  GRAPHC_TRY(start());
  GRAPHC_TRY(checkDiskSpace());
  return OpenCLModule::make(*this, program, refusedForms);
}

Status OpenCLQueue::launch(const Launch &launch) {
  GRAPHC_TRY(device.start());
  count(Counter::Launches);
  auto &module = *static_cast<OpenCLModule *>(launch.module);
  GRAPHC_ASSIGN(OpenCLModule::Kernel * ready, module.ready(launch.kernel));
  OpenCLModule::Kernel &kernel = *ready;
  const cl_kernel handle = kernel.handle.load(std::memory_order_relaxed);
  TraceSpan span("exec", kernel.name);
  std::lock_guard lock(module.launching);
  cl_uint index = 0;
  auto set = [&](size_t bytes, const void *value) -> Status {
    cl_int code = device.api.clSetKernelArg(handle, index, bytes, value);
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

  LaunchShape shape = shapeOf(range, kernel.itemsPerThread, kernel.group);
  size_t local = static_cast<size_t>(shape.group), global = static_cast<size_t>(shape.items);
  auto enqueue = [&] {
    return device.api.clEnqueueNDRangeKernel(device.commands, handle, 1, nullptr, &global,
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

Status OpenCLQueue::read(void *to, Buffer &from, int64_t bytes, bool isLast) {
  cl_int code =
      device.api.clEnqueueReadBuffer(device.commands, memoryOf(from), isLast ? CL_TRUE : CL_FALSE,
                                     0, static_cast<size_t>(bytes), to, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status::ok() : failure("clEnqueueReadBuffer", code);
}

Status OpenCLQueue::finish() {
  GRAPHC_TRY(device.start());
  cl_int code = device.api.clFinish(device.commands);
  return code == CL_SUCCESS ? Status::ok() : failure("clFinish", code);
}

} // namespace graphc::rt::opencl
