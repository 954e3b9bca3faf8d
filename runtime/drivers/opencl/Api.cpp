//===- Api.cpp - OpenCL entry points, found at run time ---------------------------------------===//
#include "runtime/drivers/opencl/Api.h"

#include "runtime/base/CacheFolder.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace graphc::rt::opencl {
namespace {

constexpr const char *kLoaderName = "libOpenCL.so.1";
constexpr int64_t kLockNanos = 60'000'000'000;
constexpr useconds_t kLockPollMicros = 5'000;
constexpr uint64_t kLeastFreeBytes = 16u << 20;

Result<const Api *> openApi() {
  // RTLD_LOCAL keeps the driver's LLVM away from ours.
  void *library = dlopen(kLoaderName, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(ErrorCode::Device, strings::format("[opencl] no OpenCL loader: {}", dlerror()));
  auto *api = new Api;
#define GRAPHC_FIND(name)                                                                          \
  api->name = reinterpret_cast<decltype(api->name)>(dlsym(library, #name));                        \
  if (!api->name)                                                                                  \
    return Status(ErrorCode::Device, "[opencl] " + std::string(kLoaderName) + " has no " #name);
  GRAPHC_OPENCL_FUNCTIONS(GRAPHC_FIND)
#undef GRAPHC_FIND
#define GRAPHC_FIND(name) api->name = reinterpret_cast<decltype(api->name)>(dlsym(library, #name));
  GRAPHC_OPENCL_LATER_FUNCTIONS(GRAPHC_FIND)
#undef GRAPHC_FIND
  return static_cast<const Api *>(api);
}

const char *codeName(cl_int code) {
  switch (code) {
#define GRAPHC_CODE(name)                                                                          \
  case name:                                                                                       \
    return #name;
    GRAPHC_CODE(CL_DEVICE_NOT_FOUND)
    GRAPHC_CODE(CL_DEVICE_NOT_AVAILABLE)
    GRAPHC_CODE(CL_COMPILER_NOT_AVAILABLE)
    GRAPHC_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    GRAPHC_CODE(CL_OUT_OF_RESOURCES)
    GRAPHC_CODE(CL_OUT_OF_HOST_MEMORY)
    GRAPHC_CODE(CL_BUILD_PROGRAM_FAILURE)
    GRAPHC_CODE(CL_INVALID_VALUE)
    GRAPHC_CODE(CL_INVALID_PLATFORM)
    GRAPHC_CODE(CL_INVALID_DEVICE)
    GRAPHC_CODE(CL_INVALID_CONTEXT)
    GRAPHC_CODE(CL_INVALID_COMMAND_QUEUE)
    GRAPHC_CODE(CL_INVALID_MEM_OBJECT)
    GRAPHC_CODE(CL_INVALID_BINARY)
    GRAPHC_CODE(CL_INVALID_BUILD_OPTIONS)
    GRAPHC_CODE(CL_INVALID_PROGRAM)
    GRAPHC_CODE(CL_INVALID_PROGRAM_EXECUTABLE)
    GRAPHC_CODE(CL_INVALID_KERNEL_NAME)
    GRAPHC_CODE(CL_INVALID_KERNEL)
    GRAPHC_CODE(CL_INVALID_ARG_INDEX)
    GRAPHC_CODE(CL_INVALID_ARG_VALUE)
    GRAPHC_CODE(CL_INVALID_ARG_SIZE)
    GRAPHC_CODE(CL_INVALID_KERNEL_ARGS)
    GRAPHC_CODE(CL_INVALID_WORK_GROUP_SIZE)
    GRAPHC_CODE(CL_INVALID_WORK_ITEM_SIZE)
    GRAPHC_CODE(CL_INVALID_BUFFER_SIZE)
    GRAPHC_CODE(CL_INVALID_GLOBAL_WORK_SIZE)
#undef GRAPHC_CODE
  case -1001:
    return "no OpenCL platform is installed";
  }
  return "unknown error";
}

std::mutex &buildMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

} // namespace

Result<const Api *> loadApi() {
  static const auto *opened = new Result<const Api *>(openApi());
  if (!*opened)
    return Status(opened->status().code(), opened->status().message());
  return **opened;
}

Status failure(const char *function, cl_int code, const std::string &detail) {
  bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
  return {memory ? ErrorCode::OutOfMemory : ErrorCode::Device,
          strings::format("[opencl] {} failed ({}): {}", function, code,
                          detail.empty() ? codeName(code) : detail)};
}

SignalGuard::SignalGuard() {
  for (int s = 1; s < kSignals; ++s)
    known[s] = s != SIGKILL && s != SIGSTOP && sigaction(s, nullptr, &saved[s]) == 0;
}

SignalGuard::~SignalGuard() {
  for (int s = 1; s < kSignals; ++s)
    if (known[s])
      sigaction(s, &saved[s], nullptr);
}

BuildLock::BuildLock() {
  buildMutex().lock();
  auto folder = openCacheFolder("opencl");
  if (!folder)
    return;
  file = openat(folder->descriptor.get(), "build.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                0600);
  if (file < 0)
    return;
  int64_t start = TraceSpan::now();
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || TraceSpan::now() - start > kLockNanos) {
      emitEvent(EventLevel::Info, "device", "no lock for OpenCL compiles: going on without");
      close(file);
      file = -1;
      return;
    }
    usleep(kLockPollMicros);
  }
}

BuildLock::~BuildLock() {
  if (file >= 0)
    close(file); // releases the lock
  buildMutex().unlock();
}

void preparePoclCache() {
  if (getenv("POCL_CACHE_DIR"))
    return;
  if (auto folder = openCacheFolder("pocl")) {
    setenv("POCL_CACHE_DIR", folder->path.c_str(), 0);
    return;
  }
  // PoCL needs some folder to compile in; its own choice without HOME is a guessable name under
  // /tmp.
  char name[] = "/tmp/graphc-pocl-XXXXXX";
  if (mkdtemp(name)) {
    setenv("POCL_CACHE_DIR", name, 0);
    setenv("POCL_KERNEL_CACHE", "0", 0);
  }
}

Status checkDiskSpace() {
  const char *folder = getenv("POCL_CACHE_DIR");
  struct statvfs status;
  if (!folder || statvfs(folder, &status) != 0)
    return Status::ok();
  uint64_t available = static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
  if (available >= kLeastFreeBytes)
    return Status::ok();
  return {ErrorCode::Device,
          strings::format("[opencl] only {} are free at '{}', too little for the driver's compiler",
                          strings::bytesText(static_cast<int64_t>(available)), folder)};
}

} // namespace graphc::rt::opencl
