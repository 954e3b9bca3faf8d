//===- OpenCLFaultTest.cpp - Every OpenCL call fails once, with every code --------------------===//
#include "runtime/drivers/opencl/Api.h"
#include "tests/runtime/drivers/FaultLayer.h"
#include "tests/runtime/drivers/Faults.h"

#include <cstdlib>

using namespace graphc;
using namespace graphc::rt;
using namespace graphc::test;

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
/// Everything that the driver calls.
constexpr const char *kEntryPoints[] = {
#define GRAPHC_NAME(name) #name,
    GRAPHC_OPENCL_FUNCTIONS(GRAPHC_NAME) GRAPHC_OPENCL_LATER_FUNCTIONS(GRAPHC_NAME)
#undef GRAPHC_NAME
};

/// Programs that a process may meet first, each with the calls of a form of its own.
constexpr const char *kBrokenSource = "__kernel void add_size(int x) { this is not C; }";
enum First { Source, Ptx, SpirV, Broken, kFirsts };

std::vector<uint8_t> programOf(First first) {
  return addSizeAs(kFirstSteps, 0, [&](ProgramBuilder &b) {
    if (first == Ptx)
      b.addBinary(kAddSizeSource);
    if (first == SpirV)
      b.addIl(kAddSizeSource);
    b.addSource(first == Broken ? kBrokenSource : kAddSizeSource);
  });
}

Ending firstUseOf(First program, const char *function, int n) {
  int code = kCodes[static_cast<size_t>(n) % std::size(kCodes)];
  return inChild(function, n, [&] {
    if (program == Ptx || program == SpirV)
      offerForms();
    return firstUse("opencl", programOf(program), programOf(Source), function, n, code);
  });
}

// First of all tests: a child of a process that has used OpenCL could not. No entry point is left
// out: each is reached by one of the programs.
TEST(OpenCLFirstUse, SurvivesFaults) {
  if (firstUseOf(Source, "clGetPlatformIDs", 1) == kNotReached)
    GTEST_SKIP() << "no OpenCL, or a loader without layers";
  int survived = 0;
  for (const char *function : kEntryPoints) {
    int here = 0;
    for (int program = 0; program < kFirsts && here == 0; ++program)
      for (int n = 1; n <= kMostCalls; ++n) {
        Ending ending = firstUseOf(static_cast<First>(program), function, n);
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

  template <typename Work>
  int failEach(const char *function, Work work) {
    return test::failEach(*device, kCodes, function, work);
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
  ASSERT_TRUE(work().isOk()); // its kernel is built
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
