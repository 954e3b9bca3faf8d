//===- FaultLayer.cpp - An OpenCL layer whose calls fail on demand ----------------------------===//
#include "tests/runtime/drivers/FaultLayer.h"

#include "runtime/drivers/opencl/Api.h"
#include "tests/runtime/drivers/ArmedCalls.h"

#include <CL/cl_layer.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>

using namespace graphc::test;

namespace {

/// What the loader gave, what wrappers call, and the wrappers.
cl_icd_dispatch beneath, dispatch;
const cl_icd_dispatch *const below = &beneath;
std::atomic<bool> formsOffered{false};
cl_icd_dispatch target;

/// One name as a type, so that a wrapper knows its own.
template <size_t N>
struct Name {
  constexpr Name(const char (&text)[N]) { std::copy_n(text, N, value); }
  char value[N];
};

template <Name name, auto member>
struct Wrapper;

template <Name name, typename Result, typename... Arguments,
          Result (CL_API_CALL *cl_icd_dispatch::*member)(Arguments...)>
struct Wrapper<name, member> {
  static constexpr std::string_view kName{name.value};
  static constexpr bool kReleases = kName.starts_with("clRelease");

  static Result CL_API_CALL call(Arguments... arguments) {
    bool fails = failsNow(name.value);
    if constexpr (std::is_same_v<Result, cl_int>) {
      if (kReleases)
        --live;
      if (fails && !kReleases)
        return failCode;
      cl_int code = (below->*member)(arguments...);
      return fails ? failCode.load() : code;
    } else {
      auto all = std::tie(arguments...);
      if (fails) {
        *std::get<sizeof...(Arguments) - 1>(all) = failCode;
        return nullptr;
      }
      Result made = (below->*member)(arguments...);
      live += made != nullptr;
      return made;
    }
  }
};

/// As a device of compute capability 9.0 that takes SPIR-V.
cl_int CL_API_CALL deviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *value,
                              size_t *needed) {
  auto answer = [&](const void *text, size_t size) -> cl_int {
    if (needed)
      *needed = size;
    if (value && bytes < size)
      return CL_INVALID_VALUE;
    if (value)
      std::memcpy(value, text, size);
    return CL_SUCCESS;
  };
  static constexpr cl_uint kMajor = 9, kMinor = 0;
  static constexpr char kVersions[] = "SPIR-V_1.2";
  if (formsOffered && what == CL_DEVICE_IL_VERSION)
    return answer(kVersions, sizeof kVersions);
  if (formsOffered && what == 0x4000) // cl_nv_device_attribute_query
    return answer(&kMajor, sizeof kMajor);
  if (formsOffered && what == 0x4001)
    return answer(&kMinor, sizeof kMinor);
  return target.clGetDeviceInfo(device, what, bytes, value, needed);
}

cl_program CL_API_CALL programWithIL(cl_context context, const void *code, size_t bytes,
                                     cl_int *failed) {
  if (!formsOffered)
    return target.clCreateProgramWithIL(context, code, bytes, failed);
  auto *text = static_cast<const char *>(code);
  return target.clCreateProgramWithSource(context, 1, &text, &bytes, failed);
}

cl_program CL_API_CALL programWithBinary(cl_context context, cl_uint count,
                                         const cl_device_id *devices, const size_t *bytes,
                                         const unsigned char **code, cl_int *status,
                                         cl_int *failed) {
  if (!formsOffered)
    return target.clCreateProgramWithBinary(context, count, devices, bytes, code, status, failed);
  auto **text = reinterpret_cast<const char **>(code);
  return target.clCreateProgramWithSource(context, 1, text, bytes, failed);
}

} // namespace

void graphc::test::offerForms() { formsOffered = true; }

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info what, size_t bytes, void *value, size_t *needed) {
  static constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  if (what != CL_LAYER_API_VERSION || (value && bytes < sizeof kVersion))
    return CL_INVALID_VALUE;
  if (value)
    std::memcpy(value, &kVersion, sizeof kVersion);
  if (needed)
    *needed = sizeof kVersion;
  return CL_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL clInitLayer(
    cl_uint entries, const cl_icd_dispatch *loader, cl_uint *made, const cl_icd_dispatch **layer) {
  if (!loader || !made || !layer || entries < sizeof dispatch / sizeof(void *))
    return CL_INVALID_VALUE;
  target = beneath = dispatch = *loader;
  beneath.clGetDeviceInfo = deviceInfo;
  beneath.clCreateProgramWithIL = programWithIL;
  beneath.clCreateProgramWithBinary = programWithBinary;
#define GRAPHC_WRAP(function)                                                                      \
  dispatch.function = Wrapper<#function, &cl_icd_dispatch::function>::call;
  GRAPHC_OPENCL_FUNCTIONS(GRAPHC_WRAP)
  GRAPHC_OPENCL_LATER_FUNCTIONS(GRAPHC_WRAP)
#undef GRAPHC_WRAP
  *layer = &dispatch;
  *made = sizeof dispatch / sizeof(void *);
  return CL_SUCCESS;
}
