//===- OpenCLFaultTest.cpp - Every OpenCL call fails once, with every code --------------------===//
#include "runtime/drivers/Drivers.h"
#include "runtime/drivers/opencl/Api.h"
#include "tests/runtime/drivers/AddSize.h"
#include "tests/runtime/drivers/FaultLayer.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace graphc;
using namespace graphc::rt;
using test::addSize;
using test::armFault;
using test::faultHit;
using test::liveObjects;

// Drivers keep memory for the life of the process.
extern "C" const char *__lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\nleak:<unknown module>\n";
}

namespace {

// Before the loader is opened.
const bool kLayered = setenv("OPENCL_LAYERS", GRAPHC_FAULT_LAYER, 1) == 0;

constexpr int kCodes[] = {CL_OUT_OF_RESOURCES,      CL_MEM_OBJECT_ALLOCATION_FAILURE,
                          CL_OUT_OF_HOST_MEMORY,    CL_DEVICE_NOT_AVAILABLE,
                          CL_BUILD_PROGRAM_FAILURE, CL_INVALID_VALUE,
                          CL_INVALID_COMMAND_QUEUE};
constexpr int kMostCalls = 400, kSteps = 36;
constexpr int64_t kCount = 5;

bool typed(const Status &status) {
  return status.code() == ErrorCode::Device || status.code() == ErrorCode::OutOfMemory ||
         status.code() == ErrorCode::Compile || status.code() == ErrorCode::Unsupported;
}

/// Everything a program does with a device once it is loaded, a copy between buffers included.
Result<std::vector<int64_t>> evaluate(Device &device, const LoadedProgram &program) {
  GRAPHC_ASSIGN(Tensor x, test::upload(device, {1, 2, 3, 4, kCount}));
  std::vector<Tensor> out;
  GRAPHC_TRY(run(program, std::span(&x, 1), {}, out));
  int64_t bytes = kCount * static_cast<int64_t>(sizeof(int64_t));
  GRAPHC_TRY(device.queue().copy(*x.buffer, *out[0].buffer, bytes));
  GRAPHC_TRY(device.queue().finish());
  return test::download(x);
}

std::vector<int64_t> expected() {
  std::vector<int64_t> values;
  for (int64_t i = 1; i <= kCount; ++i)
    values.push_back(i + kSteps * kCount);
  return values;
}

/// From nothing: finds the device, loads, evaluates.
Result<std::vector<int64_t>> everything() {
  GRAPHC_ASSIGN(Device * device, findDevice("opencl"));
  GRAPHC_ASSIGN(auto program, load(addSize(kSteps), *device));
  return evaluate(*device, *program);
}

/// What a child that meets a fault at its first use of OpenCL ends with.
enum Ending { kFine, kNotReached, kUntyped, kWrong };

Ending firstUse(const char *function, int n, int code) {
  alarm(60);
  armFault(function, n, code);
  auto first = everything();
  if (!faultHit())
    return kNotReached;
  armFault(nullptr, 0, 0);
  if (first ? *first != expected() : !typed(first.status()))
    return kUntyped;
  // Devices are listed once; what was listed must work now.
  auto second = everything();
  return second                        ? (*second == expected() ? kFine : kWrong)
         : findDevice("opencl").isOk() ? kWrong
                                       : kFine;
}

// First of all tests: a child of a process that has used OpenCL could not.
TEST(OpenCLFirstUse, SurvivesFaults) {
  int survived = 0;
  for (const char *function : {"clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs",
                               "clGetDeviceInfo", "clCreateContext", "clCreateCommandQueue"})
    for (int n = 1; n <= kMostCalls; ++n) {
      int code = kCodes[static_cast<size_t>(n) % std::size(kCodes)];
      pid_t child = fork();
      if (child == 0)
        _exit(firstUse(function, n, code));
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status)) << function << " " << n << ": signal " << WTERMSIG(status);
      if (WEXITSTATUS(status) == kNotReached)
        break;
      EXPECT_EQ(WEXITSTATUS(status), kFine) << function << " " << n;
      ++survived;
    }
  if (survived == 0)
    GTEST_SKIP() << "no OpenCL, or a loader without layers";
  RecordProperty("survived", survived);
  EXPECT_GT(survived, 20);
}

class OpenCLFaults : public ::testing::Test {
protected:
  void SetUp() override {
    auto found = findDevice("opencl");
    if (!found)
      GTEST_SKIP() << found.status().message();
    device = *found;
    auto warm = load(addSize(kSteps), *device);
    ASSERT_TRUE(warm.isOk()) << warm.status().message();
    ASSERT_TRUE(evaluate(*device, **warm).isOk());
  }

  /// `work` with every call of `function` failing in turn, with every code.
  template <typename Work>
  int failEach(const char *function, Work work) {
    int survived = 0;
    for (int code : kCodes)
      for (int n = 1; n <= kMostCalls; ++n) {
        device->releaseCached();
        int before = liveObjects();
        armFault(function, n, code);
        auto got = work();
        bool reached = faultHit();
        armFault(nullptr, 0, 0);
        if (!reached)
          break;
        ++survived;
        EXPECT_TRUE(got ? *got == expected() : typed(got.status()))
            << function << " " << n << " " << code << ": " << got.status().message();
        device->releaseCached();
        EXPECT_EQ(liveObjects(), before) << function << " " << n << " " << code;
        EXPECT_EQ(device->liveBytes(), 0) << function << " " << n << " " << code;
        auto next = work();
        EXPECT_TRUE(next.isOk() && *next == expected()) << next.status().message();
        if (::testing::Test::HasFailure())
          return survived;
      }
    return survived;
  }

  Device *device = nullptr;
};

TEST_F(OpenCLFaults, Loading) {
  auto work = [&]() -> Result<std::vector<int64_t>> {
    GRAPHC_ASSIGN(auto program, load(addSize(kSteps), *device));
    return evaluate(*device, *program);
  };
  int survived = 0;
  for (const char *function : {"clCreateProgramWithSource", "clBuildProgram", "clCreateKernel",
                               "clGetKernelInfo", "clReleaseKernel", "clReleaseProgram"})
    survived += failEach(function, work);
  EXPECT_GE(survived, 6 * static_cast<int>(std::size(kCodes)));
}

TEST_F(OpenCLFaults, Running) {
  auto loaded = load(addSize(kSteps), *device);
  ASSERT_TRUE(loaded.isOk());
  auto work = [&] { return evaluate(*device, **loaded); };
  int survived = 0;
  for (const char *function :
       {"clCreateBuffer", "clEnqueueCopyBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer",
        "clEnqueueWriteBuffer", "clFinish", "clFlush", "clReleaseMemObject", "clSetKernelArg"})
    survived += failEach(function, work);
  EXPECT_GE(survived, 1000);
}

// Drivers allocate when a kernel needs the memory: the launch says that there is none.
TEST_F(OpenCLFaults, LateOutOfMemory) {
  auto loaded = load(addSize(kSteps), *device);
  ASSERT_TRUE(loaded.isOk());
  for (int n = 1; n <= kSteps; ++n) {
    armFault("clEnqueueNDRangeKernel", n, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_EQ(evaluate(*device, **loaded).status().code(), ErrorCode::OutOfMemory);
    armFault(nullptr, 0, 0);
  }
  auto next = evaluate(*device, **loaded);
  EXPECT_TRUE(next.isOk() && *next == expected());
}

} // namespace
