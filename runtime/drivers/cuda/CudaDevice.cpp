//===- CudaDevice.cpp - One GPU of NVIDIA's driver --------------------------------------------===//
#include "runtime/drivers/cuda/CudaDevice.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/cuda/Code.h"

#include <algorithm>
#include <limits>

namespace graphc::rt::cuda {
namespace {

constexpr unsigned kApartFromDefaultStream = 1, kWithoutTiming = 2;
/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kGivenLocalBytes = 8;

Address addressOf(const Buffer &buffer) { return reinterpret_cast<Address>(handleOf(buffer)); }

class CudaModule final : public Module {
public:
  struct Kernel {
    FunctionHandle handle;
    uint32_t itemsPerThread;
    uint32_t group;
    bool isDependent; ///< waits itself for the kernel before
    std::string name;
  };
  CudaModule(CudaDevice &device, std::vector<LoadedCode> parts)
      : device(device), parts(std::move(parts)) {}
  ~CudaModule() override {
    if (parts.empty() || !device.isOurs())
      return;
    Current current(device);
    // Queued work may run its code.
    device.api.cuStreamSynchronize(device.stream);
    for (const LoadedCode &part : parts)
      unload(device.api, part);
  }

  CudaDevice &device;
  std::vector<LoadedCode> parts; ///< none when there are no kernels
  std::vector<Kernel> kernels;
};

/// Where a kernel begins in PTX, or npos.
size_t placeOf(std::string_view ptx, std::string_view kernel) {
  return ptx.find(strings::format(".entry {}(", kernel));
}

/// Which of several texts, of a kernel each, is that of a kernel; the first where none is.
size_t textOf(const std::vector<std::string> &texts, const std::string &kernel) {
  constexpr std::string_view kEntry = ".entry ";
  if (texts.size() == 1)
    return 0;
  auto found = std::ranges::find_if(texts, [&](std::string_view text) {
    return text.substr(text.find(kEntry) + kEntry.size()).starts_with(kernel + "(");
  });
  return found == texts.end() ? 0 : static_cast<size_t>(found - texts.begin());
}

/// How many parameters of 8 bytes a kernel of PTX has; -1 when it is missing or has others: the
/// driver reads as many as the code says, whatever it is given.
int64_t parametersOf(std::string_view ptx, std::string_view kernel) {
  constexpr std::string_view kParameter = ".param", kWord = ".param .u64";
  size_t at = placeOf(ptx, kernel);
  if (at == ptx.npos)
    return -1;
  std::string_view list = ptx.substr(at, ptx.find(')', at) - at);
  int64_t count = 0;
  for (size_t p = list.find(kParameter); p != list.npos; p = list.find(kParameter, p + 1), ++count)
    if (!list.substr(p).starts_with(kWord) || list.find('[', p) < list.find(',', p))
      return -1;
  return count;
}

/// Whether a kernel of PTX waits for the one before it.
bool waitsItself(std::string_view ptx, std::string_view kernel) {
  size_t at = placeOf(ptx, kernel);
  std::string_view body = ptx.substr(at, ptx.find(".entry", at + 1) - at);
  return body.find("griddepcontrol.wait;") != body.npos;
}

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
  // A program may be made of library steps alone.
  if (program.kernels().empty())
    return std::unique_ptr<Module>(std::make_unique<CudaModule>(*this, std::vector<LoadedCode>()));
  std::string text(program.binary().begin(), program.binary().end());
  if (text.empty())
    return Status(ErrorCode::Unsupported,
                  strings::format("[cuda] the program has no PTX, which {} ({}) takes", info().name,
                                  info().description));
  Current current(*this);
  GRAPHC_TRY(current.status());
  const std::vector<std::string> texts = kernelTexts(text);
  GRAPHC_ASSIGN(std::vector<LoadedCode> built, loadPtx(*this, texts));
  auto module = std::make_unique<CudaModule>(*this, std::move(built));
  for (const program::KernelRecord &k : program.kernels()) {
    std::string name(program.text(k.name));
    FunctionHandle kernel = nullptr;
    const size_t part = textOf(texts, name);
    const std::string &own = texts[part];
    if (Code code = api.cuModuleGetFunction(&kernel, module->parts[part].module, name.c_str()))
      return api.failure("cuModuleGetFunction", code, "kernel " + name);
    if (k.scratch != program::kNone) {
      // A constant of 32 bits, as the reader has seen.
      int bytes = static_cast<int>(program.sizes()[k.scratch].value);
      if (Code code = api.cuFuncSetAttribute(kernel, kGivenLocalBytes, bytes))
        return api.failure("cuFuncSetAttribute", code, "kernel " + name);
    }
    int64_t parameters = k.bufferCount + k.sizeCount + 1;
    if (k.group == 0 || parametersOf(own, name) != parameters)
      return Status(ErrorCode::Corrupt,
                    strings::format("[cuda] kernel {} does not take groups of a fixed size and {} "
                                    "arguments of 8 bytes",
                                    name, parameters));
    bool isDependent = api.cuLaunchKernelEx && waitsItself(own, name);
    module->kernels.push_back({kernel, k.itemsPerThread, k.group, isDependent, std::move(name)});
  }
  return std::unique_ptr<Module>(std::move(module));
}

CudaQueue::CudaQueue(CudaDevice &device) : VendorQueue(device), device(device) {}

Status CudaQueue::launch(const Launch &launch) {
  GRAPHC_TRY(device.start());
  count(Counter::Launches);
  const CudaModule::Kernel &kernel =
      static_cast<CudaModule *>(launch.module)->kernels[launch.kernel];
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
  Code code = device.api.launch(kernel.handle, static_cast<unsigned>(groups), kernel.group,
                                static_cast<unsigned>(launch.scratchBytes), device.stream,
                                places.data(), kernel.isDependent);
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
