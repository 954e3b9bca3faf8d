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
constexpr int kMostCalls = 400, kSteps = 36, kFirstSteps = 2;
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

std::vector<int64_t> expected(int steps = kSteps) {
  std::vector<int64_t> values;
  for (int64_t i = 1; i <= kCount; ++i)
    values.push_back(i + steps * kCount);
  return values;
}

/// Everything that the driver calls.
constexpr const char *kEntryPoints[] = {
#define GRAPHC_NAME(name) #name,
    GRAPHC_OPENCL_FUNCTIONS(GRAPHC_NAME) GRAPHC_OPENCL_LATER_FUNCTIONS(GRAPHC_NAME)
#undef GRAPHC_NAME
};

/// Programs that a process may meet first, each with the calls of a form of its own.
enum First { Source, Ptx, SpirV, Broken, kFirsts };

std::vector<uint8_t> programOf(First first) {
  return test::addSizeAs(kFirstSteps, 0, [&](test::ProgramBuilder &b) {
    if (first == Ptx)
      b.addBinary(test::kAddSizeSource);
    if (first == SpirV)
      b.addIl(test::kAddSizeSource);
    b.addSource(first == Broken ? "no kernel" : test::kAddSizeSource);
  });
}

/// From nothing: finds the device, loads, evaluates, and reads two buffers at once.
Result<std::vector<int64_t>> everything(First first) {
  GRAPHC_ASSIGN(Device * device, findDevice("opencl"));
  GRAPHC_ASSIGN(auto program, load(programOf(first), *device));
  GRAPHC_ASSIGN(std::vector<int64_t> values, evaluate(*device, *program));
  GRAPHC_ASSIGN(Tensor x, test::upload(*device, values));
  GRAPHC_ASSIGN(Tensor y, test::upload(*device, values));
  std::vector<int64_t> again[2] = {std::vector<int64_t>(kCount), std::vector<int64_t>(kCount)};
  int64_t bytes = kCount * static_cast<int64_t>(sizeof(int64_t));
  const Readback both[] = {{again[0].data(), x.buffer.get(), bytes},
                           {again[1].data(), y.buffer.get(), bytes}};
  GRAPHC_TRY(device->queue().downloadAll(both));
  x.buffer.reset();
  y.buffer.reset();
  device->releaseCached();
  return again[0] == again[1] ? again[0] : std::vector<int64_t>();
}

/// What a child that meets a fault at its first use of OpenCL ends with.
enum Ending { kFine, kNotReached, kUntyped, kWrong };

Ending firstUse(First program, const char *function, int n, int code) {
  alarm(60);
  if (program == Ptx || program == SpirV)
    test::offerForms();
  armFault(function, n, code);
  auto first = everything(program);
  if (!faultHit())
    return kNotReached;
  armFault(nullptr, 0, 0);
  if (first ? *first != expected(kFirstSteps) : !typed(first.status()))
    return kUntyped;
  // Devices are listed once; what was listed must work now.
  auto second = everything(Source);
  return second                        ? (*second == expected(kFirstSteps) ? kFine : kWrong)
         : findDevice("opencl").isOk() ? kWrong
                                       : kFine;
}

Ending inChild(First program, const char *function, int n) {
  int code = kCodes[static_cast<size_t>(n) % std::size(kCodes)];
  pid_t child = fork();
  if (child == 0)
    _exit(firstUse(program, function, n, code));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << function << " " << n << ": signal " << WTERMSIG(status);
  return WIFEXITED(status) ? static_cast<Ending>(WEXITSTATUS(status)) : kWrong;
}

// First of all tests: a child of a process that has used OpenCL could not. No entry point is left
// out: each is reached by one of the programs.
TEST(OpenCLFirstUse, SurvivesFaults) {
  if (inChild(Source, "clGetPlatformIDs", 1) == kNotReached)
    GTEST_SKIP() << "no OpenCL, or a loader without layers";
  int survived = 0;
  for (const char *function : kEntryPoints) {
    int here = 0;
    for (int program = 0; program < kFirsts && here == 0; ++program)
      for (int n = 1; n <= kMostCalls; ++n) {
        Ending ending = inChild(static_cast<First>(program), function, n);
        if (ending == kNotReached)
          break;
        ASSERT_EQ(ending, kFine) << function << " " << n;
        ++here;
      }
    EXPECT_GT(here, 0) << function << " was not called";
    survived += here;
  }
  RecordProperty("survived", survived);
  EXPECT_GE(survived, 60);
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
