#include "runtime/drivers/cuda/CudaModule.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <algorithm>

namespace graphc::rt::cuda {
namespace {

/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kGivenLocalBytes = 8;

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

Result<std::unique_ptr<Module>> CudaModule::make(CudaDevice &device,
                                                 const program::Program &program) {
  std::vector<std::string> texts;
  // A program may be made of library steps alone.
  if (!program.kernels().empty()) {
    std::string text(program.binary().begin(), program.binary().end());
    if (text.empty())
      return Status(ErrorCode::Unsupported,
                    strings::format("[cuda] the program has no PTX, which {} ({}) takes",
                                    device.info().name, device.info().description));
    texts = kernelTexts(text);
  }
  std::unique_ptr<CudaModule> module(new CudaModule(device, std::move(texts)));
  for (const program::KernelRecord &record : program.kernels())
    GRAPHC_TRY(module->addKernel(program, record));
  module->whole = module->kernels.empty();
  return std::unique_ptr<Module>(std::move(module));
}

CudaModule::~CudaModule() {
  auto isLoaded = [](const LoadedCode &part) { return part.module != nullptr; };
  if (std::ranges::none_of(parts, isLoaded) || !device.isOurs())
    return;
  Current current(device);
  // Queued work may run its code.
  device.api.cuStreamSynchronize(device.stream);
  for (const LoadedCode &part : parts)
    if (isLoaded(part))
      unload(device.api, part);
}

Status CudaModule::addKernel(const program::Program &program, const program::KernelRecord &record) {
  std::string name(program.text(record.name));
  const size_t part = textOf(texts, name);
  int64_t parameters = record.bufferCount + record.sizeCount + 1;
  if (record.group == 0 || parametersOf(texts[part], name) != parameters)
    return {ErrorCode::Corrupt,
            strings::format("[cuda] kernel {} does not take groups of a fixed size and {} "
                            "arguments of 8 bytes",
                            name, parameters)};
  // A constant of 32 bits, as the reader has seen.
  int localBytes = record.scratch == program::kNone
                       ? 0
                       : static_cast<int>(program.sizes()[record.scratch].value);
  bool isDependent = device.api.cuLaunchKernelEx && waitsItself(texts[part], name);
  kernels.emplace_back(std::move(name), part, record.itemsPerThread, record.group, localBytes,
                       isDependent);
  return Status::ok();
}

Result<const CudaModule::Kernel *> CudaModule::ready(uint32_t number) {
  if (!kernels[number].handle.load(std::memory_order_acquire))
    GRAPHC_TRY(prepare({&number, 1}));
  return &kernels[number];
}

Status CudaModule::prepare(std::span<const uint32_t> launched) {
  GRAPHC_TRY(device.start());
  std::lock_guard lock(mutex);
  std::vector<size_t> missing;
  for (uint32_t number : launched)
    if (size_t part = kernels[number].part;
        !parts[part].module && std::ranges::find(missing, part) == missing.end())
      missing.push_back(part);
  if (missing.empty())
    return Status::ok();
  TraceSpan span("exec", "load");
  Current current(device);
  GRAPHC_TRY(current.status());
  GRAPHC_TRY(loadPtx(device, texts, missing, parts));
  Status found = findFunctions();
  if (!found)
    for (size_t part : missing)
      unload(device.api, std::exchange(parts[part], {}));
  return found;
}

/// Of all kernels whose code is there. Those of parts that fail have no handles yet.
Status CudaModule::findFunctions() {
  const Api &api = device.api;
  std::vector<FunctionHandle> found;
  for (const Kernel &kernel : kernels) {
    FunctionHandle handle = kernel.handle.load(std::memory_order_relaxed);
    if (ModuleHandle module = parts[kernel.part].module; module && !handle) {
      if (Code code = api.cuModuleGetFunction(&handle, module, kernel.name.c_str()))
        return api.failure("cuModuleGetFunction", code, "kernel " + kernel.name);
      if (Code code = kernel.localBytes
                          ? api.cuFuncSetAttribute(handle, kGivenLocalBytes, kernel.localBytes)
                          : 0)
        return api.failure("cuFuncSetAttribute", code, "kernel " + kernel.name);
    }
    found.push_back(handle);
  }
  for (size_t i = 0; i < found.size(); ++i)
    kernels[i].handle.store(found[i], std::memory_order_release);
  const bool isAll = std::ranges::find(found, nullptr) == found.end();
  if (isAll)
    texts.clear(); // nobody asks for one again
  whole.store(isAll, std::memory_order_release);
  return Status::ok();
}

} // namespace graphc::rt::cuda
