//===- Api.cpp - Entry points of NVIDIA's driver, found at run time ---------------------------===//
#include "runtime/drivers/cuda/Api.h"

#include "runtime/base/Strings.h"

#include <dlfcn.h>

namespace graphc::rt::cuda {
namespace {

constexpr const char *kLibraryName = "libcuda.so.1";
constexpr Code kOutOfMemory = 2;

Result<const Api *> openApi() {
  void *library = dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(ErrorCode::Device, strings::format("[cuda] no NVIDIA driver: {}", dlerror()));
  auto *api = new Api;
#define GRAPHC_FIND(member, name, parameters)                                                      \
  api->member = reinterpret_cast<decltype(api->member)>(dlsym(library, name));
#define GRAPHC_NEED(member, name, parameters)                                                      \
  GRAPHC_FIND(member, name, parameters)                                                            \
  if (!api->member)                                                                                \
    return Status(ErrorCode::Device, "[cuda] " + std::string(kLibraryName) + " has no " name);
  GRAPHC_CUDA_FUNCTIONS(GRAPHC_NEED)
  GRAPHC_CUDA_LATER_FUNCTIONS(GRAPHC_FIND)
#undef GRAPHC_NEED
#undef GRAPHC_FIND
  return static_cast<const Api *>(api);
}

} // namespace

Status Api::failure(const char *function, Code code, const std::string &detail) const {
  const char *name = nullptr;
  if (cuGetErrorName(code, &name) != 0 || !name)
    name = "unknown error";
  return {code == kOutOfMemory ? ErrorCode::OutOfMemory : ErrorCode::Device,
          strings::format("[cuda] {} failed ({}): {}{}{}", function, code, name,
                          detail.empty() ? "" : ", ", detail)};
}

Code Api::launch(FunctionHandle kernel, unsigned groups, unsigned group, unsigned localBytes,
                 StreamHandle stream, void **arguments, bool isDependent) const {
  if (!isDependent)
    return cuLaunchKernel(kernel, groups, 1, 1, group, 1, 1, localBytes, stream, arguments,
                          nullptr);
  LaunchAttribute dependent{LaunchAttribute::kDependent, 1, {}};
  LaunchConfig config{{groups, 1, 1}, {group, 1, 1}, localBytes, stream, &dependent, 1};
  return cuLaunchKernelEx(&config, kernel, arguments, nullptr);
}

Result<const Api *> loadApi() {
  static const auto *opened = new Result<const Api *>(openApi());
  if (!*opened)
    return Status(opened->status().code(), opened->status().message());
  return **opened;
}

} // namespace graphc::rt::cuda
