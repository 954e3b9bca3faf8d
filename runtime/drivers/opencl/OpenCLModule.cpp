#include "runtime/drivers/opencl/OpenCLModule.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <algorithm>

namespace graphc::rt::opencl {
namespace {

/// Which text has a kernel, which the first line of one by itself names; the number of texts where
/// none has.
size_t textOf(const std::vector<std::string> &texts, const std::string &kernel) {
  const std::string head = strings::format("void {}(", kernel);
  auto has = [&](std::string_view text) {
    const size_t end = texts.size() > 1 ? text.find('\n') : text.npos;
    return text.substr(0, end).find(head) != text.npos;
  };
  return static_cast<size_t>(std::ranges::find_if(texts, has) - texts.begin());
}

} // namespace

Result<std::unique_ptr<Module>>
OpenCLModule::make(OpenCLDevice &device, const program::Program &program, uint32_t refusedForms) {
  std::unique_ptr<OpenCLModule> module(new OpenCLModule(device));
  // A program may be made of library steps alone.
  if (program.kernels().empty()) {
    module->whole = true;
    return std::unique_ptr<Module>(std::move(module));
  }
  GRAPHC_ASSIGN(ProgramCode code, codeOf(device.api, device.context, device.handle, device.info(),
                                         program, refusedForms));
  module->texts = std::move(code.texts);
  for (const program::KernelRecord &record : program.kernels())
    GRAPHC_TRY(module->addKernel(program, record));
  // It is not lost above: only texts are looked into there.
  const size_t whole = 0;
  if (code.built)
    GRAPHC_TRY(module->takeKernels(code.built, {&whole, 1}));
  return std::unique_ptr<Module>(std::move(module));
}

OpenCLModule::~OpenCLModule() {
  if (!device.isOurs())
    return;
  for (Kernel &kernel : kernels)
    if (cl_kernel handle = kernel.handle.load(std::memory_order_relaxed))
      device.api.clReleaseKernel(handle);
  for (cl_program program : programs)
    device.api.clReleaseProgram(program);
}

Status OpenCLModule::addKernel(const program::Program &program,
                               const program::KernelRecord &record) {
  std::string name(program.text(record.name));
  size_t part = 0;
  if (!texts.kernels.empty()) {
    part = textOf(texts.kernels, name);
    if (part == texts.kernels.size())
      return {ErrorCode::Corrupt,
              strings::format("[opencl] the program's code has no kernel {}", name)};
  }
  kernels.emplace_back(std::move(name), part, record.itemsPerThread, record.group,
                       record.bufferCount + record.sizeCount + 1,
                       record.family == static_cast<uint32_t>(program::KernelFamily::Sort));
  return Status::ok();
}

Result<OpenCLModule::Kernel *> OpenCLModule::ready(uint32_t number) {
  if (!kernels[number].handle.load(std::memory_order_acquire))
    GRAPHC_TRY(prepare({&number, 1}));
  return &kernels[number];
}

Status OpenCLModule::prepare(std::span<const uint32_t> launched) {
  GRAPHC_TRY(device.start());
  std::lock_guard lock(building);
  std::vector<size_t> together, alone;
  for (uint32_t number : launched)
    if (const Kernel &kernel = kernels[number]; !kernel.handle.load(std::memory_order_relaxed))
      (kernel.isAlike && texts.kernels.size() > 1 ? alone : together).push_back(kernel.part);
  for (auto *parts : {&together, &alone}) {
    std::ranges::sort(*parts);
    parts->erase(std::ranges::unique(*parts).begin(), parts->end());
  }
  if (!together.empty())
    GRAPHC_TRY(build(together));
  for (size_t part : alone)
    GRAPHC_TRY(build({&part, 1}));
  return Status::ok();
}

Status OpenCLModule::build(std::span<const size_t> parts) {
  TraceSpan span("exec", "load");
  GRAPHC_TRY(checkDiskSpace());
  std::string text = texts.shared;
  for (size_t part : parts)
    text += texts.kernels[part];
  GRAPHC_ASSIGN(cl_program built,
                buildSource(device.api, device.context, device.handle, device.info(), text));
  return takeKernels(built, parts);
}

Status OpenCLModule::takeKernels(cl_program built, std::span<const size_t> parts) {
  auto isMeant = [&](const Kernel &k) { return std::ranges::find(parts, k.part) != parts.end(); };
  std::vector<cl_kernel> made;
  for (const Kernel &kernel : kernels) {
    if (!isMeant(kernel))
      continue;
    auto handle = createKernel(built, kernel);
    if (handle) {
      made.push_back(*handle);
      continue;
    }
    for (cl_kernel other : made)
      device.api.clReleaseKernel(other);
    device.api.clReleaseProgram(built);
    return handle.takeStatus();
  }
  programs.push_back(built);
  auto next = made.begin();
  bool isAll = true;
  for (Kernel &kernel : kernels) {
    if (isMeant(kernel))
      kernel.handle.store(*next++, std::memory_order_release);
    isAll &= kernel.handle.load(std::memory_order_relaxed) != nullptr;
  }
  if (isAll)
    texts = {}; // nobody asks for one again
  whole.store(isAll, std::memory_order_release);
  return Status::ok();
}

Result<cl_kernel> OpenCLModule::createKernel(cl_program built, const Kernel &kernel) {
  cl_int code = CL_SUCCESS;
  cl_kernel handle = device.api.clCreateKernel(built, kernel.name.c_str(), &code);
  if (code != CL_SUCCESS)
    return failure("clCreateKernel", code, "kernel " + kernel.name);
  cl_uint arguments = 0;
  code =
      device.api.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, nullptr);
  if (code == CL_SUCCESS && arguments == kernel.arguments)
    return handle;
  device.api.clReleaseKernel(handle);
  if (code != CL_SUCCESS)
    return failure("clGetKernelInfo", code);
  return Status(ErrorCode::Corrupt,
                strings::format("[opencl] kernel {} takes {} arguments instead of {}", kernel.name,
                                arguments, kernel.arguments));
}

} // namespace graphc::rt::opencl
