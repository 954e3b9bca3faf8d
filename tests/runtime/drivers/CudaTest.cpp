//===- CudaTest.cpp - The cuda driver's bookkeeping, on a library without a GPU ---------------===//
#include "runtime/drivers/cuda/Code.h"
#include "tests/runtime/drivers/FakeCuda.h"
#include "tests/runtime/drivers/Faults.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

using namespace graphc;
using namespace graphc::rt;
using namespace graphc::test;
using program::Target;

// Drivers keep memory for the life of the process.
extern "C" const char *__lsan_default_suppressions() { return "leak:libcuda\nleak:graphc\n"; }

namespace {

constexpr uint32_t kGroup = 16;
/// More than a launch has without being asked.
constexpr int64_t kGroupMemory = 100 << 10;
constexpr int kCodes[] = {1, 2, 700, 999};
constexpr const char *kPtx = ".version 7.8\n.target sm_90\n.entry add_size(\n"
                             ".param .u64 .ptr .global .align 16 x,\n.param .u64 .ptr .global y,\n"
                             ".param .u64 n,\n.param .u64 range\n)\n{ ret; }\n";
const std::string kHead = ".version 7.8\n.target sm_90\n.global .align 8 .b8 t[1] = {1};\n";
/// Of three kernels.
const std::string kParts[] = {kHead + ".entry answer(\n.param .u64 x\n)\n{ ret; }\n",
                              kHead + (kPtx + std::strlen(".version 7.8\n.target sm_90\n")),
                              kHead + ".entry last()\n{ ret; }\n"};
const std::string kSeveral =
    kParts[0] + kParts[1].substr(kHead.size()) + kParts[2].substr(kHead.size());
/// The same as a kernel that waits itself for the one before it.
const std::string kWaitingPtx = std::string(kPtx, std::strlen(kPtx) - std::strlen("ret; }\n")) +
                                "griddepcontrol.wait; ret; }\n";

std::vector<uint8_t> ptxProgram(int steps, const char *ptx = kPtx, uint32_t group = kGroup) {
  return addSizeAs(steps, group, [&](ProgramBuilder &b) { b.addBinary(ptx); }, kGroupMemory);
}

/// Everything that the driver calls.
constexpr const char *kEntryPoints[] = {
#define GRAPHC_NAME(member, name, parameters) name,
    GRAPHC_CUDA_FUNCTIONS(GRAPHC_NAME) GRAPHC_CUDA_LATER_FUNCTIONS(GRAPHC_NAME)
#undef GRAPHC_NAME
};

// First of all tests: a child of a process that has used the driver could not. cuEventSynchronize
// comes when both halves of the staging memory are full, which SurvivesFaultsWhenRunning sees, and
// other GPUs with SurvivesFaultsBetweenDevices.
TEST(CudaFirstUse, SurvivesFaults) {
  int survived = 0;
  for (const char *function : kEntryPoints) {
    int here = 0;
    for (const char *ptx : {kPtx, kSeveral.c_str()})
      for (int n = 1; n <= kMostCalls; ++n) {
        int code = kCodes[static_cast<size_t>(n) % std::size(kCodes)];
        Ending ending = inChild(function, n, [&] {
          return firstUse("cuda", ptxProgram(kFirstSteps, ptx), ptxProgram(kFirstSteps, ptx),
                          function, n, code);
        });
        if (ending == kNotReached)
          break;
        ASSERT_EQ(ending, kFine) << function << " " << n;
        ++here;
      }
    constexpr std::string_view kLater[] = {"cuGetErrorName", "cuEventSynchronize",
                                           "cuCtxEnablePeerAccess", "cuMemcpyPeerAsync"};
    EXPECT_EQ(here == 0, std::ranges::find(kLater, function) != std::end(kLater)) << function;
    survived += here;
  }
  RecordProperty("survived", survived);
  EXPECT_GE(survived, 100);
}

class Cuda : public ::testing::Test {
protected:
  void SetUp() override {
    auto found = findDevice("cuda");
    ASSERT_TRUE(found.isOk()) << found.status().message();
    device = *found;
  }
  void TearDown() override { EXPECT_EQ(currentContext(), nullptr); }
  Device *device = nullptr;
};

TEST_F(Cuda, ListsDevicesWithReasons) {
  std::vector<DeviceListing> cuda;
  for (const DeviceListing &d : listDevices())
    if (d.name.starts_with("cuda"))
      cuda.push_back(d);
  ASSERT_EQ(cuda.size(), 4u);
  EXPECT_EQ(cuda[0].name, "cuda:0");
  EXPECT_EQ(cuda[0].description, "Fake (CUDA 13.0)");
  EXPECT_EQ(cuda[0].device->info().features, "fp64,gpu,ordered,sm_90,wgmma,tensormaps,dependent");
  EXPECT_EQ(cuda[1].device, nullptr);
  EXPECT_EQ(cuda[1].reason, "its compute mode does not let programs use it");
  EXPECT_EQ(cuda[2].device, nullptr);
  EXPECT_NE(cuda[2].reason.find("compute capability 5.0"), std::string::npos) << cuda[2].reason;
  auto gpu = findDevice("gpu");
  ASSERT_TRUE(gpu.isOk());
  EXPECT_EQ((*gpu)->info().name, "cuda:0");
  EXPECT_FALSE(findDevice("cuda:2").isOk());
}

TEST_F(Cuda, RunsAProgram) {
  auto p = load(ptxProgram(2), *device);
  ASSERT_TRUE(p.isOk()) << p.status().message();
  for (int64_t n : {1, 5, 64, 65, 1001}) {
    std::vector<int64_t> in(static_cast<size_t>(n));
    std::iota(in.begin(), in.end(), 0);
    auto x = upload(*device, in);
    ASSERT_TRUE(x.isOk());
    std::vector<Tensor> out;
    ASSERT_TRUE(run(**p, std::span(&*x, 1), {}, out).isOk());
    for (int64_t &v : in)
      v += 2 * n;
    auto got = download(out[0]);
    EXPECT_TRUE(got.isOk() && *got == in) << n;
  }
}

// A kernel that waits itself is launched so that it may begin early, others are not.
TEST_F(Cuda, KernelsThatWaitAreLaunchedEarly) {
  for (auto [ptx, function] :
       {std::pair(kPtx, "cuLaunchKernel"), std::pair(kWaitingPtx.c_str(), "cuLaunchKernelEx")}) {
    auto p = load(ptxProgram(2, ptx), *device);
    ASSERT_TRUE(p.isOk()) << p.status().message();
    std::vector<int64_t> in = {1, 2, 3};
    auto x = upload(*device, in);
    ASSERT_TRUE(x.isOk());
    std::vector<Tensor> out;
    ASSERT_TRUE(run(**p, std::span(&*x, 1), {}, out).isOk());
    auto got = download(out[0]);
    EXPECT_TRUE(got.isOk() && *got == std::vector<int64_t>({7, 8, 9}));
    armFault(function, 1, 700);
    Status failed = run(**p, std::span(&*x, 1), {}, out);
    armFault(nullptr, 0, 0);
    EXPECT_EQ(failed.code(), ErrorCode::Device);
    EXPECT_NE(failed.message().find(std::string(function) + " failed (700)"), std::string::npos)
        << failed.message();
  }
}

// Larger than both halves of the staging memory together, from memory that is changed at once.
TEST_F(Cuda, WaitsOnlyForWhatItWasGiven) {
  auto p = load(ptxProgram(2), *device);
  std::vector<int64_t> in = {1, 2, 3};
  auto x = upload(*device, in);
  ASSERT_TRUE(p.isOk() && x.isOk());
  std::vector<Tensor> out;
  auto callsOfAWait = [&] {
    int before = fakeCalls();
    EXPECT_TRUE(device->queue().finish().isOk());
    return fakeCalls() - before;
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(run(**p, std::span(&*x, 1), {}, out).isOk());
    EXPECT_GT(callsOfAWait(), 0);
    EXPECT_EQ(callsOfAWait(), 0);
  }
  ASSERT_TRUE(device->queue().uploadBeside(*out[0].buffer, in.data(), 24).isOk());
  EXPECT_GT(callsOfAWait(), 0);
  // A wait that failed has seen no end.
  ASSERT_TRUE(run(**p, std::span(&*x, 1), {}, out).isOk());
  armFault("cuLaunchKernel", 1, 700);
  armFault("cuLaunchKernelEx", 1, 700);
  Status failed = device->queue().finish();
  armFault(nullptr, 0, 0);
  EXPECT_FALSE(failed.isOk());
  EXPECT_GT(callsOfAWait(), 0);
}

TEST_F(Cuda, UploadsLetGoOfTheirSource) {
  for (bool beside : {false, true}) {
    // More than the staging memory holds, and a last piece of its own size.
    std::vector<int64_t> values(beside ? 3 << 20 : 300'001);
    std::iota(values.begin(), values.end(), 0);
    int64_t bytes = static_cast<int64_t>(values.size() * sizeof(int64_t));
    auto buffer = device->allocate(bytes);
    ASSERT_TRUE(buffer.isOk());
    std::vector<int64_t> given = values;
    Status sent = beside ? device->queue().uploadBeside(**buffer, given.data(), bytes)
                         : device->queue().upload(**buffer, given.data(), bytes);
    given.assign(given.size(), -1);
    ASSERT_TRUE(sent.isOk()) << sent.message();
    ASSERT_TRUE(device->queue().download(given.data(), **buffer, bytes).isOk());
    EXPECT_EQ(given, values);
  }
}

TEST_F(Cuda, RefusesKernelsThatDoNotMatch) {
  auto message = [&](std::vector<uint8_t> blob) {
    auto p = load(std::move(blob), *device);
    return p ? std::string("loaded") : std::string(p.status().message());
  };
  for (const char *other : {"no ptx", ".version\n.entry add_size(\n.param .u64 x\n)", // fewer
                            ".version\n.entry add_size(\n.param .u64 x,\n.param .u64 y,\n"
                            ".param .u64 n,\n.param .b8 range[64]\n)"})
    EXPECT_EQ(message(ptxProgram(2, other)), "[cuda] kernel add_size does not take groups of a "
                                             "fixed size and 4 arguments of 8 bytes");
  EXPECT_NE(message(ptxProgram(2, kPtx, 0)).find("groups of a fixed size"), std::string::npos);
  for (int64_t bytes : {int64_t{-1}, int64_t{1} << 32})
    EXPECT_EQ(message(addSizeAs(
                  2, kGroup, [](ProgramBuilder &b) { b.addBinary(kPtx); }, bytes)),
              "[program] kernel 0 has no fixed local memory");
  EXPECT_NE(message(addSize()).find("[cuda] the program has no PTX"), std::string::npos);
  ProgramBuilder needs(Target::OpenCL);
  needs.meta.isa = needs.text("telepathy");
  EXPECT_NE(message(needs.build()).find("needs 'telepathy'"), std::string::npos);
  EXPECT_EQ(message(ProgramBuilder(Target::Cpu).build()), "[cuda] this program is for cpu");
}

TEST_F(Cuda, ALaunchHasALargestNumberOfGroups) {
  auto program = program::Program::parse(ptxProgram(1));
  ASSERT_TRUE(program.isOk());
  auto module = device->load(*program);
  ASSERT_TRUE(module.isOk());
  auto b = device->allocate(8);
  ASSERT_TRUE(b.isOk());
  Buffer *both[] = {b->get(), b->get()};
  int64_t n = 1;
  Launch launch{module->get(), 0, both, {&n, 1}, int64_t{1} << 40, 0};
  Status refused = device->queue().launch(launch);
  EXPECT_EQ(refused.code(), ErrorCode::Unsupported) << refused.message();
}

TEST_F(Cuda, FailuresHaveOneForm) {
  auto p = load(ptxProgram(2), *device);
  ASSERT_TRUE(p.isOk());
  armFault("cuLaunchKernel", 1, 700);
  Status failed = evaluate(*device, **p).takeStatus();
  armFault(nullptr, 0, 0);
  EXPECT_EQ(failed.code(), ErrorCode::Device);
  EXPECT_NE(failed.message().find("[cuda] cuLaunchKernel failed (700): CUDA_ERROR_ILLEGAL_ADDRESS"),
            std::string::npos)
      << failed.message();
}

TEST_F(Cuda, OnlyMissingMemoryIsOutOfMemory) {
  for (auto [code, expected] :
       {std::pair(2, ErrorCode::OutOfMemory), std::pair(700, ErrorCode::Device)}) {
    device->releaseCached();
    armFault("cuMemAlloc_v2", -1, code);
    Status status = device->allocate(int64_t{40} << 20).takeStatus();
    armFault(nullptr, 0, 0);
    EXPECT_EQ(status.code(), expected) << status.message();
    EXPECT_TRUE(device->allocate(int64_t{40} << 20).isOk());
  }
}

TEST_F(Cuda, SeveralDevicesInOneProcess) {
  auto other = findDevice("cuda:3");
  ASSERT_TRUE(other.isOk()) << other.status().message();
  ASSERT_NE(*other, device);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (Device *each : {device, *other})
    threads.emplace_back([&, each] {
      auto p = load(ptxProgram(kSteps), *each);
      for (int round = 0; p && round < 50; ++round) {
        auto got = evaluate(*each, **p);
        wrong += !got || *got != expected();
      }
      wrong += !p;
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(device->cachedBytes(), 0);
  EXPECT_GT((*other)->cachedBytes(), 0);
}

/// expected() of a program on `device`, by way of `other`.
Result<std::vector<int64_t>> throughAnother(Device &device, Device &other,
                                            const LoadedProgram &program) {
  GRAPHC_ASSIGN(std::vector<int64_t> values, evaluate(device, program));
  auto bytes = static_cast<int64_t>(values.size() * sizeof(int64_t));
  GRAPHC_ASSIGN(BufferRef here, device.allocate(bytes));
  GRAPHC_ASSIGN(BufferRef there, other.allocate(bytes));
  GRAPHC_ASSIGN(BufferRef back, device.allocate(bytes));
  GRAPHC_TRY(device.queue().upload(*here, values.data(), bytes));
  GRAPHC_ASSIGN(bool isCopied, other.queue().copyFromOther(*there, *here, bytes));
  GRAPHC_ASSIGN(bool isBack, device.queue().copyFromOther(*back, *there, bytes));
  values.assign(values.size(), -1);
  GRAPHC_TRY(device.queue().download(values.data(), *back, bytes));
  return isCopied && isBack ? values : std::vector<int64_t>();
}

TEST_F(Cuda, CopiesBetweenDevices) {
  auto other = findDevice("cuda:3");
  ASSERT_TRUE(other.isOk());
  auto p = load(ptxProgram(kSteps), *device);
  ASSERT_TRUE(p.isOk());
  auto got = throughAnother(*device, **other, **p);
  EXPECT_TRUE(got.isOk() && *got == expected());
  auto host = findDevice("cpu");
  ASSERT_TRUE(host.isOk());
  auto here = device->allocate(8), there = (*host)->allocate(8);
  ASSERT_TRUE(here.isOk() && there.isOk());
  auto between = device->queue().copyFromOther(**here, **there, 8);
  EXPECT_TRUE(between.isOk() && !*between);
}

TEST_F(Cuda, SurvivesFaultsBetweenDevices) {
  auto other = findDevice("cuda:3");
  auto p = load(ptxProgram(kSteps), *device);
  ASSERT_TRUE(other.isOk() && p.isOk());
  ASSERT_TRUE(evaluate(*device, **p).isOk()); // what is compiled stays
  auto work = [&] { return throughAnother(*device, **other, **p); };
  (*other)->releaseCached();
  int survived = 0;
  for (const char *function : {"cuMemcpyPeerAsync", "cuEventRecord", "cuStreamWaitEvent"}) {
    int here = failEach(*device, kCodes, function, [&] {
      auto got = work();
      (*other)->releaseCached();
      return got;
    });
    EXPECT_GE(here, 2 * static_cast<int>(std::size(kCodes))) << function;
    survived += here;
  }
  RecordProperty("survived", survived);
}

TEST_F(Cuda, LeavesAnotherLibrarysContext) {
  auto *other = reinterpret_cast<cuda::ContextHandle>(device);
  auto api = cuda::loadApi();
  ASSERT_TRUE(api.isOk());
  ASSERT_EQ((*api)->cuCtxPushCurrent(other), 0);
  auto p = load(ptxProgram(kSteps), *device);
  ASSERT_TRUE(p.isOk());
  auto got = evaluate(*device, **p);
  EXPECT_TRUE(got.isOk() && *got == expected());
  EXPECT_EQ(currentContext(), other);
  ASSERT_EQ((*api)->cuCtxPopCurrent(&other), 0);
}

TEST_F(Cuda, AForkedChildTouchesNothing) {
  auto p = load(ptxProgram(2), *device);
  ASSERT_TRUE(p.isOk());
  auto x = upload(*device, {1, 2, 3});
  ASSERT_TRUE(x.isOk());
  int calls = fakeCalls();
  Ending ending = inChild("fork", 0, [&] {
    std::vector<Tensor> out;
    bool refused = run(**p, std::span(&*x, 1), {}, out).code() == ErrorCode::Device &&
                   device->allocate(8).status().code() == ErrorCode::Device &&
                   load(ptxProgram(2), *device).status().code() == ErrorCode::Device &&
                   device->queue().finish().code() == ErrorCode::Device;
    x->buffer.reset();
    p->reset();
    device->releaseCached();
    return refused && fakeCalls() == calls ? kFine : kWrong;
  });
  EXPECT_EQ(ending, kFine);
}

TEST_F(Cuda, ManyThreadsShareAProgram) {
  auto p = load(ptxProgram(kSteps), *device);
  ASSERT_TRUE(p.isOk());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        auto got = evaluate(*device, **p);
        wrong += !got || *got != expected();
      }
      wrong += currentContext() != nullptr;
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Cuda, SurvivesFaultsWhenLoading) {
  int survived = 0;
  auto meet = [&](const char *ptx, std::span<const char *const> functions) {
    auto work = [&]() -> Result<std::vector<int64_t>> {
      GRAPHC_ASSIGN(auto program, load(ptxProgram(kSteps, ptx), *device));
      return evaluate(*device, *program);
    };
    for (const char *function : functions)
      survived += failEach(*device, kCodes, function, work);
  };
  constexpr const char *kOfOne[] = {"cuModuleLoadDataEx", "cuModuleGetFunction",
                                    "cuFuncSetAttribute", "cuModuleUnload"};
  constexpr const char *kOfSeveral[] = {"cuLibraryLoadData", "cuLibraryGetModule",
                                        "cuLibraryUnload", "cuCtxPushCurrent_v2"};
  meet(kPtx, kOfOne);
  meet(kSeveral.c_str(), kOfSeveral);
  EXPECT_GE(survived, (4 + 4 * 3) * static_cast<int>(std::size(kCodes)));
}

/// What is not launched is not compiled, and each kernel is a text with the constants of all.
TEST_F(Cuda, KernelsAreLoadedByThemselves) {
  auto loads = [&](const std::string &ptx) { return load(ptxProgram(2, ptx.c_str()), *device); };
  const std::string kBroken = ".entry another()\n{ broken }\n";
  for (const std::string &ptx : {kSeveral, kSeveral + kBroken}) {
    size_t before = libraryTexts().size();
    auto program = loads(ptx);
    ASSERT_TRUE(program.isOk()) << program.status().message();
    EXPECT_EQ(libraryTexts().size(), before);
    for (int run = 0; run < 2; ++run) {
      auto got = evaluate(*device, **program);
      EXPECT_TRUE(got.isOk() && *got == expected(2));
      ASSERT_EQ(libraryTexts().size(), before + 1);
    }
    EXPECT_EQ(libraryTexts().back(), kParts[1]);
  }
  // Kernels with memory in common stay together.
  size_t before = libraryTexts().size();
  auto together = loads(kSeveral + ".global .u32 count;\n");
  ASSERT_TRUE(together.isOk());
  EXPECT_TRUE(evaluate(*device, **together).isOk());
  EXPECT_EQ(libraryTexts().size(), before);
}

TEST_F(Cuda, AKernelThatDoesNotCompileIsTheErrorOfItsRun) {
  constexpr const char *kEnd = "{ ret; }\n";
  std::string broken = std::string(kPtx, std::strlen(kPtx) - std::strlen(kEnd)) + "{ broken }\n";
  auto program = load(ptxProgram(2, broken.c_str()), *device);
  ASSERT_TRUE(program.isOk());
  int alive = liveObjects();
  for (int run = 0; run < 2; ++run) {
    Status status = evaluate(*device, **program).takeStatus();
    EXPECT_EQ(status.code(), ErrorCode::Compile);
    EXPECT_EQ(status.message(), "[cuda] cuModuleLoadDataEx failed (218): ?, line 1: fake log");
    EXPECT_EQ(liveObjects(), alive);
  }
}

/// Some of several texts, in threads of their own: all or none.
TEST_F(Cuda, TextsAreLoadedSideBySide) {
  auto &gpu = static_cast<cuda::CudaDevice &>(*device);
  ASSERT_TRUE(gpu.start().isOk());
  cuda::Current current(gpu);
  std::vector<std::string> texts(std::begin(kParts), std::end(kParts));
  texts.push_back(kHead + ".entry another()\n{ broken }\n");
  const int alive = liveObjects();
  std::vector<cuda::LoadedCode> loaded(texts.size());
  Status failed = cuda::loadPtx(gpu, texts, {0, 2, 3}, loaded);
  EXPECT_EQ(failed.code(), ErrorCode::Compile);
  EXPECT_EQ(failed.message(), "[cuda] cuLibraryLoadData failed (218): ?, line 1: fake log");
  EXPECT_EQ(liveObjects(), alive);
  ASSERT_TRUE(cuda::loadPtx(gpu, texts, {2, 0}, loaded).isOk());
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(loaded[i].module != nullptr, i == 0 || i == 2);
  for (size_t i : {0, 2})
    cuda::unload(gpu.api, loaded[i]);
  EXPECT_EQ(liveObjects(), alive);
}

TEST_F(Cuda, SurvivesFaultsWhenRunning) {
  auto loaded = load(ptxProgram(kSteps), *device);
  ASSERT_TRUE(loaded.isOk());
  std::vector<int64_t> large(3 << 20, 7);
  int64_t bytes = static_cast<int64_t>(large.size() * sizeof(int64_t));
  auto work = [&] { return evaluate(*device, **loaded); };
  auto withLarge = [&]() -> Result<std::vector<int64_t>> {
    GRAPHC_ASSIGN(BufferRef buffer, device->allocate(bytes));
    GRAPHC_TRY(device->queue().upload(*buffer, large.data(), bytes));
    GRAPHC_TRY(device->queue().download(large.data(), *buffer, bytes));
    return work();
  };
  ASSERT_TRUE(withLarge().isOk());
  int survived = 0;
  for (const char *function :
       {"cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuLaunchKernel",
        "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyDtoDAsync_v2", "cuMemcpyHtoDAsync_v2",
        "cuStreamSynchronize"})
    survived += failEach(*device, kCodes, function, work);
  for (const char *function : {"cuEventRecord", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2"})
    survived += failEach(*device, kCodes, function, withLarge);
  RecordProperty("survived", survived);
  EXPECT_GE(survived, 500);
}

} // namespace
