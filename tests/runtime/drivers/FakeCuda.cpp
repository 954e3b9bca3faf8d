//===- FakeCuda.cpp - A libcuda.so.1 without a GPU --------------------------------------------===//
//
// Answers the calls of the cuda driver: memory is the host's, work is done when it is queued, and
// of kernels only "add_size" does something. Every entry point is counted and fails when it was
// told to, as in ArmedCalls.h. Four devices: a GPU, one whose compute mode forbids programs, an old
// one, another GPU.
//
//===------------------------------------------------------------------------------------------===//
#include "tests/runtime/drivers/FakeCuda.h"

#include "runtime/drivers/cuda/Api.h"
#include "tests/runtime/drivers/ArmedCalls.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

using namespace graphc::rt::cuda;
using namespace graphc::test;

namespace {

std::mutex libraryMutex;
std::vector<std::string> libraries; ///< guarded by it

std::atomic<int> all{0};
std::atomic<unsigned> mostLocalBytes{48 << 10};
thread_local std::vector<ContextHandle> contexts;

bool failsNext(const char *function) {
  ++all;
  return failsNow(function);
}

constexpr Code kInvalidValue = 1, kInvalidContext = 201, kInvalidPtx = 218, kNotFound = 500;
char anObject;

template <typename Handle>
Handle object() {
  return reinterpret_cast<Handle>(&anObject);
}
bool isCurrent() { return !contexts.empty() && contexts.back() == object<ContextHandle>(); }
void *pointer(Address address) { return reinterpret_cast<void *>(address); }

/// Else the log says that it is not.
bool isPtx(const void *image, unsigned count, int *options, void **values) {
  const std::string_view text(static_cast<const char *>(image));
  if (text.starts_with(".version") && text.find("broken") == text.npos)
    return true;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == 5) // CU_JIT_ERROR_LOG_BUFFER
      std::strcpy(static_cast<char *>(values[i]), "line 1: fake log\n");
  return false;
}

} // namespace

int graphc::test::fakeCalls() { return all; }
std::vector<std::string> graphc::test::libraryTexts() {
  std::lock_guard lock(libraryMutex);
  return libraries;
}
void *graphc::test::currentContext() { return contexts.empty() ? nullptr : contexts.back(); }

#define ENTRY(name, ...) extern "C" __attribute__((visibility("default"))) Code name(__VA_ARGS__)
#define FAIL_HERE()                                                                                \
  if (failsNext(__func__))                                                                         \
  return failCode
/// What needs the device's context.
#define FAIL_WITHOUT_CONTEXT()                                                                     \
  FAIL_HERE();                                                                                     \
  if (!isCurrent())                                                                                \
  return kInvalidContext

ENTRY(cuInit, unsigned) {
  FAIL_HERE();
  return 0;
}
ENTRY(cuDriverGetVersion, int *version) {
  FAIL_HERE();
  *version = 13000;
  return 0;
}
ENTRY(cuDeviceGetCount, int *count) {
  FAIL_HERE();
  *count = 4;
  return 0;
}
ENTRY(cuDeviceGet, DeviceNumber *device, int number) {
  FAIL_HERE();
  *device = number;
  return 0;
}
ENTRY(cuDeviceGetName, char *name, int bytes, DeviceNumber device) {
  FAIL_HERE();
  std::strncpy(name, device == 3 ? "Another" : "Fake", static_cast<size_t>(bytes));
  return 0;
}
ENTRY(cuDeviceTotalMem_v2, size_t *bytes, DeviceNumber) {
  FAIL_HERE();
  *bytes = size_t{1} << 30;
  return 0;
}
ENTRY(cuDeviceGetAttribute, int *value, int what, DeviceNumber device) {
  FAIL_HERE();
  constexpr int kComputeMode = 20, kMajor = 75, kMostLocalBytes = 97;
  *value = what == kMajor            ? (device == 2 ? 3 : 9)
           : what == kComputeMode    ? (device == 1 ? 2 : 0)
           : what == kMostLocalBytes ? 227 << 10
                                     : 0;
  return 0;
}
ENTRY(cuDevicePrimaryCtxRetain, ContextHandle *context, DeviceNumber) {
  FAIL_HERE();
  *context = object<ContextHandle>();
  return 0;
}
ENTRY(cuCtxGetCurrent, ContextHandle *context) {
  FAIL_HERE();
  *context = contexts.empty() ? nullptr : contexts.back();
  return 0;
}
ENTRY(cuCtxPushCurrent_v2, ContextHandle context) {
  FAIL_HERE();
  contexts.push_back(context);
  return 0;
}
ENTRY(cuCtxPopCurrent_v2, ContextHandle *context) {
  bool fails = failsNext(__func__); // and pops all the same
  *context = contexts.back();
  contexts.pop_back();
  return fails ? failCode.load() : 0;
}
ENTRY(cuStreamCreate, StreamHandle *stream, unsigned) {
  FAIL_WITHOUT_CONTEXT();
  *stream = object<StreamHandle>();
  return 0;
}
ENTRY(cuStreamSynchronize, StreamHandle) {
  FAIL_WITHOUT_CONTEXT();
  return 0;
}
ENTRY(cuStreamWaitEvent, StreamHandle, EventHandle event, unsigned) {
  FAIL_WITHOUT_CONTEXT();
  return event ? 0 : kInvalidValue;
}
ENTRY(cuEventCreate, EventHandle *event, unsigned) {
  FAIL_WITHOUT_CONTEXT();
  *event = object<EventHandle>();
  return 0;
}
ENTRY(cuEventRecord, EventHandle event, StreamHandle) {
  FAIL_WITHOUT_CONTEXT();
  return event ? 0 : kInvalidValue;
}
ENTRY(cuEventSynchronize, EventHandle event) {
  FAIL_WITHOUT_CONTEXT();
  return event ? 0 : kInvalidValue;
}
ENTRY(cuGetErrorName, Code code, const char **name) {
  FAIL_HERE();
  *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "?";
  return 0;
}
ENTRY(cuMemAlloc_v2, Address *address, size_t bytes) {
  FAIL_WITHOUT_CONTEXT();
  *address = reinterpret_cast<Address>(std::malloc(bytes));
  ++live;
  return 0;
}
ENTRY(cuMemFree_v2, Address address) {
  bool fails = failsNext(__func__); // and frees all the same
  std::free(pointer(address));
  --live;
  return fails ? failCode.load() : 0;
}
ENTRY(cuMemHostAlloc, void **memory, size_t bytes, unsigned) {
  FAIL_WITHOUT_CONTEXT();
  *memory = std::malloc(bytes);
  return 0;
}
ENTRY(cuMemcpyHtoDAsync_v2, Address to, const void *from, size_t bytes, StreamHandle) {
  FAIL_WITHOUT_CONTEXT();
  std::memcpy(pointer(to), from, bytes);
  return 0;
}
ENTRY(cuMemcpyDtoHAsync_v2, void *to, Address from, size_t bytes, StreamHandle) {
  FAIL_WITHOUT_CONTEXT();
  std::memcpy(to, pointer(from), bytes);
  return 0;
}
ENTRY(cuMemcpyDtoDAsync_v2, Address to, Address from, size_t bytes, StreamHandle) {
  FAIL_WITHOUT_CONTEXT();
  std::memcpy(pointer(to), pointer(from), bytes);
  return 0;
}
ENTRY(cuCtxEnablePeerAccess, ContextHandle other, unsigned) {
  FAIL_WITHOUT_CONTEXT();
  return other ? 0 : kInvalidContext;
}
ENTRY(cuMemcpyPeerAsync, Address to, ContextHandle, Address from, ContextHandle, size_t bytes,
      StreamHandle) {
  FAIL_WITHOUT_CONTEXT();
  std::memcpy(pointer(to), pointer(from), bytes);
  return 0;
}
ENTRY(cuModuleLoadDataEx, ModuleHandle *module, const void *image, unsigned count, int *options,
      void **values) {
  FAIL_WITHOUT_CONTEXT();
  if (!isPtx(image, count, options, values))
    return kInvalidPtx;
  *module = object<ModuleHandle>();
  ++live;
  return 0;
}
ENTRY(cuLibraryLoadData, LibraryHandle *library, const void *image, int *options, void **values,
      unsigned count, int *, void **, unsigned) {
  FAIL_HERE();
  if (!isPtx(image, count, options, values))
    return kInvalidPtx;
  std::lock_guard lock(libraryMutex);
  libraries.push_back(static_cast<const char *>(image));
  *library = object<LibraryHandle>();
  ++live;
  return 0;
}
ENTRY(cuLibraryGetModule, ModuleHandle *module, LibraryHandle) {
  FAIL_WITHOUT_CONTEXT();
  *module = object<ModuleHandle>();
  return 0;
}
ENTRY(cuLibraryUnload, LibraryHandle) {
  bool fails = failsNext(__func__); // and unloads all the same
  --live;
  return fails ? failCode.load() : 0;
}
ENTRY(cuModuleGetFunction, FunctionHandle *function, ModuleHandle, const char *name) {
  FAIL_WITHOUT_CONTEXT();
  static const char kKernels[][9] = {"add_size", "answer"};
  for (const char *known : kKernels)
    if (std::string_view(name) == known) {
      *function = reinterpret_cast<FunctionHandle>(const_cast<char *>(known));
      return 0;
    }
  return kNotFound;
}
ENTRY(cuFuncSetAttribute, FunctionHandle, int what, int value) {
  FAIL_WITHOUT_CONTEXT();
  constexpr int kGivenLocalBytes = 8;
  if (what != kGivenLocalBytes || value > 227 << 10)
    return kInvalidValue;
  mostLocalBytes = static_cast<unsigned>(value);
  return 0;
}
ENTRY(cuModuleUnload, ModuleHandle) {
  bool fails = failsNext(__func__); // and unloads all the same
  --live;
  return fails ? failCode.load() : 0;
}
namespace {

void addSize(int64_t items, void **arguments) {
  auto word = [&](int i) { return *static_cast<int64_t *>(arguments[i]); };
  auto *x = reinterpret_cast<int64_t *>(word(0)), *y = reinterpret_cast<int64_t *>(word(1));
  constexpr int64_t kItems = 4; // AddSize.h
  for (int64_t i = 0; i < word(3) && i < items * kItems; ++i)
    y[i] = x[i] + word(2);
}

/// Answers.cpp: four of (from, to, bytes), then a place and the number for it.
void answer(void **arguments) {
  auto word = [&](int i) { return *static_cast<Address *>(arguments[i]); };
  for (int i = 0; i < 12; i += 3)
    if (word(i + 2))
      std::memcpy(pointer(word(i + 1)), pointer(word(i)), word(i + 2));
  *static_cast<Address *>(pointer(word(12))) = word(13);
}

Code launchNow(FunctionHandle function, unsigned groups, unsigned group, unsigned localBytes,
               void **arguments) {
  if (localBytes > mostLocalBytes)
    return kInvalidValue;
  if (std::string_view(reinterpret_cast<const char *>(function)) == "answer")
    answer(arguments);
  else
    addSize(int64_t{groups} * group, arguments);
  return 0;
}
} // namespace

ENTRY(cuLaunchKernel, FunctionHandle function, unsigned groups, unsigned, unsigned, unsigned group,
      unsigned, unsigned, unsigned localBytes, StreamHandle, void **arguments, void **) {
  FAIL_WITHOUT_CONTEXT();
  return launchNow(function, groups, group, localBytes, arguments);
}
ENTRY(cuLaunchKernelEx, const LaunchConfig *config, FunctionHandle function, void **arguments,
      void **) {
  FAIL_WITHOUT_CONTEXT();
  bool isDependent = config->attributeCount == 1 && config->attributes->value == 1 &&
                     config->attributes->what == LaunchAttribute::kDependent;
  if (!isDependent)
    return kInvalidValue;
  return launchNow(function, config->groups[0], config->group[0], config->localBytes, arguments);
}
