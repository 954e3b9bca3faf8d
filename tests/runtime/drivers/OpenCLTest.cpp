//===- OpenCLTest.cpp - The OpenCL driver on whatever device there is -------------------------===//
#include "runtime/base/Shape.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/drivers/opencl/Api.h"
#include "runtime/drivers/opencl/Code.h"
#include "runtime/exec/Executor.h"
#include "tests/runtime/drivers/AddSize.h"

#include <csignal>
#include <gtest/gtest.h>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace graphc;
using namespace graphc::rt;
using program::Target;
using test::ProgramBuilder;

// Drivers keep memory for the life of the process.
extern "C" const char *__lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\nleak:<unknown module>\n";
}

namespace {

std::vector<uint8_t> twoSteps(uint32_t group = 0, const char *source = test::kAddSizeSource) {
  return test::addSize(2, group, source);
}

class OpenCL : public ::testing::Test {
protected:
  void SetUp() override {
    auto found = findDevice("opencl");
    if (!found)
      GTEST_SKIP() << found.status().message();
    device = *found;
  }
  Tensor upload(const std::vector<int64_t> &values) {
    auto tensor = test::upload(*device, values);
    EXPECT_TRUE(tensor.isOk()) << tensor.status().message();
    return tensor.take();
  }
  std::vector<int64_t> download(const Tensor &t) {
    auto values = test::download(t);
    EXPECT_TRUE(values.isOk()) << values.status().message();
    return values.take();
  }
  Status runOnce(const LoadedProgram &program) {
    Tensor x = upload({1, 2, 3});
    std::vector<Tensor> out;
    GRAPHC_TRY(run(program, std::span(&x, 1), {}, out));
    return device->queue().finish();
  }
  Device *device = nullptr;
};

TEST_F(OpenCL, RunsAProgram) {
  for (uint32_t group : {0u, 1u, 16u}) {
    auto p = load(twoSteps(group), *device);
    ASSERT_TRUE(p.isOk()) << p.status().message();
    for (int64_t n : {1, 5, 64, 1001}) {
      std::vector<int64_t> in(static_cast<size_t>(n)), want(static_cast<size_t>(n));
      for (size_t i = 0; i < in.size(); ++i) {
        in[i] = static_cast<int64_t>(i * i);
        want[i] = in[i] + 2 * n;
      }
      Tensor x = upload(in);
      std::vector<Tensor> out;
      Status s = run(**p, std::span(&x, 1), {}, out);
      ASSERT_TRUE(s.isOk()) << s.message();
      EXPECT_EQ(download(out[0]), want) << group << " " << n;
    }
    Tensor empty = upload({});
    std::vector<Tensor> out;
    ASSERT_TRUE(run(**p, std::span(&empty, 1), {}, out).isOk());
    EXPECT_EQ(out[0].shape, Shape({0}));
  }
  EXPECT_TRUE(device->queue().finish().isOk());
}

TEST_F(OpenCL, ManyThreadsShareAProgram) {
  auto p = load(twoSteps(16), *device);
  ASSERT_TRUE(p.isOk()) << p.status().message();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        Tensor x = upload(std::vector<int64_t>(64, t * 100 + round));
        std::vector<Tensor> out;
        if (!run(**p, std::span(&x, 1), {}, out) ||
            download(out[0]) != std::vector<int64_t>(64, t * 100 + round + 128))
          ++wrong;
      }
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0);
}

// For a simulator, which must report it (tools/suite): every item adds to one element.
TEST_F(OpenCL, DISABLED_ARace) {
  constexpr const char *kRacing = R"(
__kernel void add_size(__global const long *x, __global long *y, long n, long range) {
  y[0] = y[0] + x[get_global_id(0)] + n;
}
)";
  auto p = load(twoSteps(4, kRacing), *device);
  ASSERT_TRUE(p.isOk()) << p.status().message();
  Tensor x = upload(std::vector<int64_t>(64, 1));
  std::vector<Tensor> out;
  EXPECT_TRUE(run(**p, std::span(&x, 1), {}, out).isOk());
  EXPECT_TRUE(device->queue().finish().isOk());
}

TEST_F(OpenCL, ReportsTheBuildLog) {
  auto p = load(twoSteps(0, "__kernel void add_size(int x) { this is not C; }"), *device);
  ASSERT_TRUE(p.isOk()) << p.status().message();
  Status failed = runOnce(**p);
  EXPECT_EQ(failed.code(), ErrorCode::Compile);
  EXPECT_TRUE(failed.message().starts_with("[opencl] clBuildProgram failed (-11): "))
      << failed.message();
  EXPECT_GT(failed.message().size(), 45u) << failed.message();
}

TEST_F(OpenCL, KernelsThatDoNotRunAreNotBuilt) {
  const std::string source =
      std::string(test::kAddSizeSource) + "\n__kernel void other(long x) { this is not C; }\n";
  auto p = load(twoSteps(0, source.c_str()), *device);
  ASSERT_TRUE(p.isOk()) << p.status().message();
  EXPECT_TRUE(runOnce(**p).isOk());
}

TEST(OpenCLCode, KernelsHaveTextsByThemselves) {
  constexpr const char *kOne = "__kernel void a(int x) {\n}\n", *kTwo = "__kernel void b() {}\n";
  const std::string shared = "#pragma OPENCL FP_CONTRACT OFF\n__constant int t[1] = {1};\n";
  opencl::SourceTexts texts = opencl::textsOf(shared + kOne + kTwo);
  EXPECT_EQ(texts.shared, shared);
  EXPECT_EQ(texts.kernels, (std::vector<std::string>{kOne, kTwo}));
  for (const char *between :
       {"__constant int u[1] = {2};\n", "static int f() { return 1; }\n", "#define F 1\n"}) {
    const std::string whole = shared + kOne + between + kTwo;
    texts = opencl::textsOf(whole);
    EXPECT_EQ(texts.shared, "");
    EXPECT_EQ(texts.kernels, std::vector<std::string>{whole});
  }
}

TEST_F(OpenCL, RefusesKernelsThatDoNotMatch) {
  auto missing = load(twoSteps(0, "__kernel void other(long x) {}"), *device);
  ASSERT_FALSE(missing.isOk());
  EXPECT_NE(missing.status().message().find("kernel add_size"), std::string::npos)
      << missing.status().message();
  auto fewer = load(twoSteps(0, "__kernel void add_size(__global long *x) {}"), *device);
  ASSERT_TRUE(fewer.isOk());
  EXPECT_EQ(runOnce(**fewer).message(), "[opencl] kernel add_size takes 1 arguments instead of 4");
  ProgramBuilder needs(Target::OpenCL);
  needs.meta.isa = needs.text("telepathy");
  auto unsupported = load(needs.build(), *device);
  EXPECT_EQ(unsupported.status().code(), ErrorCode::Unsupported);
  ProgramBuilder other(Target::Cpu);
  EXPECT_EQ(load(other.build(), *device).status().message(), "[opencl] this program is for cpu");
}

TEST_F(OpenCL, ChecksMemoryBeforeAsking) {
  const DeviceInfo &info = device->info();
  EXPECT_LT(info.budgetBytes, info.memoryBytes);
  auto larger = device->allocate(info.largestBuffer + 1);
  ASSERT_FALSE(larger.isOk());
  EXPECT_EQ(larger.status().code(), ErrorCode::OutOfMemory);
  // Drivers allocate lazily, so this never touches the memory: only the budget can refuse.
  std::vector<BufferRef> held;
  Status refused;
  while (refused.isOk() && held.size() < 10000) {
    auto b = device->allocate(info.largestBuffer / 4);
    if (b)
      held.push_back(*b);
    else
      refused = b.takeStatus();
  }
  EXPECT_EQ(refused.code(), ErrorCode::OutOfMemory);
  EXPECT_NE(refused.message().find(" free ("), std::string::npos) << refused.message();
  EXPECT_LE(device->liveBytes(), info.budgetBytes);
  held.clear();
  device->releaseCached();
  EXPECT_EQ(device->cachedBytes(), 0);
  EXPECT_TRUE(device->allocate(1000).isOk());
}

constexpr int kDriverSignals[] = {SIGFPE, SIGSEGV, SIGUSR2, SIGINT, SIGTERM, SIGABRT};

/// Handlers as the process began, before any driver was loaded: a parent may have had some ignored,
/// a sanitizer takes some.
std::map<int, void (*)(int)> handlersNow() {
  std::map<int, void (*)(int)> handlers;
  for (int s : kDriverSignals) {
    struct sigaction action = {};
    EXPECT_EQ(sigaction(s, nullptr, &action), 0);
    handlers[s] = action.sa_handler;
  }
  return handlers;
}
const std::map<int, void (*)(int)> kFirstHandlers = handlersNow();

TEST_F(OpenCL, LeavesSignalHandlersAlone) {
  auto p = load(twoSteps(1), *device);
  ASSERT_TRUE(p.isOk());
  Tensor x = upload({1, 2, 3});
  std::vector<Tensor> out;
  ASSERT_TRUE(run(**p, std::span(&x, 1), {}, out).isOk());
  EXPECT_EQ(handlersNow(), kFirstHandlers);
}

TEST_F(OpenCL, AForkedChildGetsAnError) {
  auto p = load(twoSteps(), *device);
  ASSERT_TRUE(p.isOk());
  Tensor x = upload({1, 2, 3});
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    std::vector<Tensor> out;
    bool refused = run(**p, std::span(&x, 1), {}, out).code() == ErrorCode::Device &&
                   device->allocate(8).status().code() == ErrorCode::Device &&
                   load(twoSteps(), *device).status().code() == ErrorCode::Device &&
                   device->queue().finish().code() == ErrorCode::Device;
    x.buffer.reset();
    p->reset();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  std::vector<Tensor> out;
  ASSERT_TRUE(run(**p, std::span(&x, 1), {}, out).isOk());
  EXPECT_EQ(download(out[0]), (std::vector<int64_t>{7, 8, 9}));
}

TEST_F(OpenCL, TheLockKeepsOutOtherProcesses) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  pid_t child = fork();
  if (child == 0) {
    opencl::BuildLock lock;
    char c = 'x';
    ssize_t sent = write(pipes[1], &c, 1);
    usleep(300'000);
    c = 'y';
    sent += write(pipes[1], &c, 1);
    _exit(sent == 2 ? 0 : 1);
  }
  char c = 0;
  ASSERT_EQ(read(pipes[0], &c, 1), 1);
  {
    opencl::BuildLock lock;
    // The child has written again before it let go.
    ASSERT_EQ(read(pipes[0], &c, 1), 1);
    EXPECT_EQ(c, 'y');
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(pipes[0]);
  close(pipes[1]);
}

TEST(OpenCLApi, FailuresHaveOneForm) {
  EXPECT_EQ(opencl::failure("clFinish", CL_OUT_OF_RESOURCES).message(),
            "[opencl] clFinish failed (-5): CL_OUT_OF_RESOURCES");
  EXPECT_EQ(opencl::failure("clFinish", CL_OUT_OF_RESOURCES).code(), ErrorCode::Device);
  EXPECT_EQ(opencl::failure("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE).code(),
            ErrorCode::OutOfMemory);
  EXPECT_EQ(opencl::failure("clX", -9999, "because").message(),
            "[opencl] clX failed (-9999): because");
}

} // namespace
