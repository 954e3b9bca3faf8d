//===- ExecutorTest.cpp - Running hand-made programs ------------------------------------------===//
#include "runtime/exec/Executor.h"

#include "runtime/base/Trace.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/drivers/null/NullDriver.h"
#include "tests/runtime/ProgramBuilder.h"
#include "tests/runtime/TestKernels.h"

#include <gtest/gtest.h>
#include <limits>
#include <thread>

using namespace graphc;
using namespace graphc::rt;
using program::BufferKind;
using program::SizeKind;
using program::Target;
using test::ProgramBuilder;

namespace {

Device &device(std::string_view name) {
  auto found = findDevice(name);
  EXPECT_TRUE(found.isOk()) << found.status().message();
  return **found;
}

template <typename T>
Tensor makeTensor(Device &d, DType dtype, const std::vector<T> &values, Shape shape) {
  int64_t bytes = static_cast<int64_t>(values.size() * sizeof(T));
  auto buffer = d.allocate(bytes);
  EXPECT_TRUE(buffer.isOk());
  EXPECT_TRUE(d.queue().upload(**buffer, values.data(), bytes).isOk());
  return {*buffer, dtype, std::move(shape)};
}

template <typename T>
std::vector<T> valuesOf(const Tensor &t) {
  std::vector<T> values(static_cast<size_t>(*elementCount(t.shape)));
  EXPECT_TRUE(
      t.buffer->device()
          .queue()
          .download(values.data(), *t.buffer, static_cast<int64_t>(values.size() * sizeof(T)))
          .isOk());
  return values;
}

// y = (x + n) + n over int64[n], through a temporary.
std::vector<uint8_t> twoSteps(double cost = 1) {
  ProgramBuilder b(Target::Cpu);
  b.code.assign(test::kernelImage().begin(), test::kernelImage().end());
  uint32_t n = b.dim(0, 0);
  uint32_t x = b.input("x", DType::Int64, {n}, n);
  uint32_t y = b.output("y", DType::Int64, {n}, n);
  uint32_t t = b.buffer(BufferKind::Temp, DType::Int64, n);
  uint32_t k = b.kernel("add_size", {0, 1}, 1, test::entryOf(test::addSize), cost);
  b.launch(k, n, {x, t}, {n});
  b.launch(k, n, {t, y}, {n});
  return b.build();
}

std::unique_ptr<LoadedProgram> loaded(std::vector<uint8_t> blob, Device &d) {
  auto result = load(std::move(blob), d);
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return result.isOk() ? result.take() : nullptr;
}

TEST(Executor, RunsStepsThroughTemporaries) {
  Device &cpu = device("cpu");
  auto p = loaded(twoSteps(), cpu);
  std::vector<Tensor> out;
  Status s = run(*p, std::vector{makeTensor<int64_t>(cpu, DType::Int64, {1, 2, 3}, {3})}, {}, out);
  ASSERT_TRUE(s.isOk()) << s.message();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].shape, Shape({3}));
  EXPECT_EQ(valuesOf<int64_t>(out[0]), (std::vector<int64_t>{7, 8, 9}));
}

// y = x + the number of words, and the same into the fault words: x says what the kernel reports.
std::vector<uint8_t> reporting() {
  ProgramBuilder b(Target::Cpu);
  b.code.assign(test::kernelImage().begin(), test::kernelImage().end());
  uint32_t n = b.constant(program::kFaultWords);
  uint32_t x = b.input("x", DType::Int64, {n}, n);
  uint32_t y = b.output("y", DType::Int64, {n}, n);
  uint32_t faults = b.buffer(BufferKind::Faults, DType::Int64, n);
  uint32_t k = b.kernel("add_size", {0, 1}, 1, test::entryOf(test::addSize), 1);
  b.launch(k, n, {x, y}, {n});
  b.launch(k, n, {x, faults}, {n});
  b.faults = {{0, 5, b.text("a.py:1")}, {1, 6, b.text("a.py:2")}};
  return b.build();
}

TEST(Executor, GivesNoOutputsWhenAKernelReportsAFault) {
  Device &cpu = device("cpu");
  auto p = loaded(reporting(), cpu);
  std::vector<Tensor> out;
  auto x = [&](int64_t site, int64_t index, int64_t size, int64_t watched = 0) {
    constexpr int64_t n = program::kFaultWords;
    return std::vector{makeTensor<int64_t>(cpu, DType::Int64,
                                           {site - n, index - n, size - n, watched - n, -n},
                                           {program::kFaultWords})};
  };
  RunReport report;
  Status s = run(*p, x(2, -9, 7), {}, out, &report);
  EXPECT_EQ(s.code(), ErrorCode::Index);
  EXPECT_EQ(s.message(), "index -9 is out of bounds for axis 1 with size 7");
  EXPECT_EQ(report.place, 6u);
  EXPECT_FALSE(report.watched);
  EXPECT_TRUE(out.empty());
  s = run(*p, x(1, 3, 3), {}, out);
  EXPECT_EQ(s.message(), "index 3 is out of bounds for axis 0 with size 3 (recorded at a.py:1)");
  EXPECT_EQ(run(*p, x(3, 3, 3), {}, out).code(), ErrorCode::Internal);
  // The words are zero again for every run.
  EXPECT_TRUE(run(*p, x(0, 3, 3), {}, out).isOk());
  EXPECT_EQ(out.size(), 1u);
  // A watched value that is no number is told, and no error.
  EXPECT_TRUE(run(*p, x(0, 0, 0, 1), {}, out, &report).isOk());
  EXPECT_TRUE(report.watched);
  EXPECT_TRUE(run(*p, x(0, 0, 0), {}, out, &report).isOk());
  EXPECT_FALSE(report.watched);
}

TEST(Executor, ServesEverySizeInParallelAndSerially) {
  Device &cpu = device("cpu");
  for (double cost : {0.0, 1000.0}) {
    auto p = loaded(twoSteps(cost), cpu);
    for (int64_t n : {1, 2, 7, 64, 1000, 4097}) {
      std::vector<int64_t> in(static_cast<size_t>(n)), want;
      for (int64_t i = 0; i < n; ++i) {
        in[static_cast<size_t>(i)] = i * i;
        want.push_back(i * i + 2 * n);
      }
      std::vector<Tensor> out;
      ASSERT_TRUE(run(*p, std::vector{makeTensor(cpu, DType::Int64, in, {n})}, {}, out).isOk());
      EXPECT_EQ(valuesOf<int64_t>(out[0]), want) << n;
    }
  }
}

// order = routine(x) over float32[r, n], as a library step.
std::vector<uint8_t> libraryStep(std::string_view routine, DType resultType) {
  ProgramBuilder b(Target::Cpu);
  uint32_t r = b.dim(0, 0), n = b.dim(0, 1), count = b.size(SizeKind::Mul, r, n);
  uint32_t x = b.input("x", DType::Float32, {r, n}, count);
  uint32_t y = b.output("y", resultType, {r, n}, count);
  b.call(routine, {x, y}, {2, 2}, {r, n, r, n}, {0, 0}, program::kNone, "a.py:4");
  return b.build();
}

TEST(Executor, RunsLibrarySteps) {
  Device &cpu = device("cpu");
  auto p = loaded(libraryStep("argsort", DType::Int64), cpu);
  std::vector in{makeTensor<float>(cpu, DType::Float32, {3, 1, 2, -1, 0, -1}, {2, 3})};
  int64_t before = counterValue(Counter::LibraryCalls);
  std::vector<Tensor> out;
  Status s = run(*p, in, {}, out);
  ASSERT_TRUE(s.isOk()) << s.message();
  EXPECT_EQ(valuesOf<int64_t>(out[0]), (std::vector<int64_t>{1, 2, 0, 0, 2, 1}));
  EXPECT_EQ(counterValue(Counter::LibraryCalls), before + 1);
  auto cost = costOf(*p, in, {}, out);
  ASSERT_TRUE(cost.isOk());
  EXPECT_EQ(cost->calls, 1);
  EXPECT_EQ(cost->launches, 0);
}

TEST(Executor, ChecksLibrarySteps) {
  Device &cpu = device("cpu");
  std::vector in{makeTensor<float>(cpu, DType::Float32, {3, 1, 2, -1}, {2, 2})};
  std::vector<Tensor> out;
  // A routine of a later runtime, and a result that the routine does not give: the program is
  // valid, the step is not.
  Status s = run(*loaded(libraryStep("sprt", DType::Float32), cpu), in, {}, out);
  EXPECT_EQ(s.code(), ErrorCode::Unsupported);
  EXPECT_EQ(s.message(), "[run] this runtime has no library routine 'sprt'");
  s = run(*loaded(libraryStep("argsort", DType::Float32), cpu), in, {}, out);
  EXPECT_EQ(s.code(), ErrorCode::DType);
  EXPECT_EQ(s.message(), "[argsort] gives int64, not float32 (at a.py:4)");
}

TEST(Executor, EmptyRangeLaunchesNothing) {
  Device &nul = device("null");
  auto p = loaded(twoSteps(), nul);
  auto before = null::calls();
  std::vector<Tensor> out;
  ASSERT_TRUE(
      run(*p, std::vector{makeTensor<int64_t>(nul, DType::Int64, {}, {0})}, {}, out).isOk());
  EXPECT_EQ(null::calls().launches, before.launches);
  ASSERT_TRUE(
      run(*p, std::vector{makeTensor<int64_t>(nul, DType::Int64, {5, 6}, {2})}, {}, out).isOk());
  EXPECT_EQ(null::calls().launches, before.launches + 2);
  EXPECT_EQ(null::calls().items, before.items + 4);
}

TEST(Executor, ReleasesTemporariesAndOutputs) {
  Device &cpu = device("cpu");
  auto p = loaded(twoSteps(), cpu);
  int64_t before = cpu.liveBytes();
  {
    Tensor x = makeTensor(cpu, DType::Int64, std::vector<int64_t>(100000), {100000});
    int64_t inputBytes = cpu.liveBytes() - before;
    std::vector<Tensor> out;
    ASSERT_TRUE(run(*p, std::span(&x, 1), {}, out).isOk());
    EXPECT_EQ(cpu.liveBytes() - before, 2 * inputBytes);
  }
  EXPECT_EQ(cpu.liveBytes(), before);
}

TEST(Executor, SizeArithmeticChecksAndArguments) {
  Device &nul = device("null");
  ProgramBuilder b(Target::Cpu);
  b.code.assign(64, 0xc3);
  b.meta.sizeArguments = 1;
  uint32_t n = b.dim(0, 0), m = b.dim(0, 1), a = b.size(SizeKind::Argument, 0);
  uint32_t three = b.constant(3);
  uint32_t nm = b.size(SizeKind::Mul, n, m);
  uint32_t dims[] = {b.size(SizeKind::Add, n, a),          b.size(SizeKind::Sub, n, a),
                     b.size(SizeKind::FloorDiv, n, three), b.size(SizeKind::CeilDiv, n, three),
                     b.size(SizeKind::Min, n, m),          b.size(SizeKind::Max, n, m)};
  uint32_t elements = dims[0];
  for (int i = 1; i < 6; ++i)
    elements = b.size(SizeKind::Mul, elements, dims[i]);
  b.input("x", DType::Float32, {n, m}, nm);
  b.output("y", DType::Float32, {dims[0], dims[1], dims[2], dims[3], dims[4], dims[5]}, elements);
  b.checks.push_back({n, m, b.text("x must be square")});
  auto p = loaded(b.build(), nul);
  Tensor x = makeTensor(nul, DType::Float32, std::vector<float>(49), {7, 7});
  std::vector<Tensor> out;
  int64_t two = 2;
  Status s = run(*p, std::span(&x, 1), std::span(&two, 1), out);
  ASSERT_TRUE(s.isOk()) << s.message();
  EXPECT_EQ(out[0].shape, Shape({9, 5, 2, 3, 7, 7}));

  x.shape = {7, 5};
  s = run(*p, std::span(&x, 1), std::span(&two, 1), out);
  EXPECT_EQ(s.code(), ErrorCode::Shape);
  EXPECT_EQ(s.message(), "[run] sizes differ: x must be square: 7 and 5 (input 'x' (7, 5))");

  x.shape = {7, 7};
  int64_t huge = std::numeric_limits<int64_t>::max();
  s = run(*p, std::span(&x, 1), std::span(&huge, 1), out);
  EXPECT_EQ(s.code(), ErrorCode::Shape) << s.message();
  int64_t eight = 8;
  s = run(*p, std::span(&x, 1), std::span(&eight, 1), out);
  EXPECT_EQ(s.code(), ErrorCode::Shape) << s.message();
  s = run(*p, std::span(&x, 1), {}, out);
  EXPECT_EQ(s.code(), ErrorCode::InvalidArgument);
}

TEST(Executor, SaysWhatIsWrongWithInputs) {
  Device &cpu = device("cpu");
  auto p = loaded(twoSteps(), cpu);
  std::vector<Tensor> out;
  auto runWith = [&](std::vector<Tensor> inputs) { return run(*p, inputs, {}, out); };
  EXPECT_EQ(runWith({}).message(), "[run] 0 inputs given, 1 wanted");
  Tensor wrong = makeTensor<float>(cpu, DType::Float32, {1}, {1});
  EXPECT_EQ(runWith({wrong}).message(),
            "[run] input 'x' has dtype float32, the program wants int64");
  Tensor flat = makeTensor<int64_t>(cpu, DType::Int64, {1, 2}, {1, 2});
  EXPECT_EQ(runWith({flat}).message(),
            "[run] input 'x' has shape (1, 2), the program wants rank 1");
  Tensor lying = makeTensor<int64_t>(cpu, DType::Int64, {1, 2}, {1000});
  EXPECT_EQ(runWith({lying}).code(), ErrorCode::InvalidArgument);
  Tensor elsewhere = makeTensor<int64_t>(device("null"), DType::Int64, {1}, {1});
  EXPECT_EQ(runWith({elsewhere}).message(), "[run] input 'x' is on null, the program runs on cpu");
  EXPECT_EQ(runWith({Tensor{nullptr, DType::Int64, {1}}}).code(), ErrorCode::InvalidArgument);
}

TEST(Executor, ConstantsAndCopies) {
  Device &cpu = device("cpu");
  ProgramBuilder b(Target::Cpu);
  int64_t values[] = {10, 20, 30};
  uint32_t c = b.data(DType::Int64, {reinterpret_cast<uint8_t *>(values), sizeof values});
  uint32_t n = b.buffers[c].elements;
  uint32_t y = b.output("y", DType::Int64, {n}, n);
  b.copy(y, c);
  auto p = loaded(b.build(), cpu);
  std::vector<Tensor> out;
  ASSERT_TRUE(run(*p, {}, {}, out).isOk());
  EXPECT_EQ(valuesOf<int64_t>(out[0]), (std::vector<int64_t>{10, 20, 30}));
}

TEST(Executor, AnOutputMayBeAnInput) {
  Device &cpu = device("cpu");
  ProgramBuilder b(Target::Cpu);
  uint32_t n = b.dim(0, 0);
  uint32_t x = b.input("x", DType::Int64, {n}, n);
  b.outputs.push_back(b.inputs[0]);
  auto p = loaded(b.build(), cpu);
  EXPECT_EQ(x, 0u);
  Tensor t = makeTensor<int64_t>(cpu, DType::Int64, {4}, {1});
  std::vector<Tensor> out;
  ASSERT_TRUE(run(*p, std::span(&t, 1), {}, out).isOk());
  EXPECT_EQ(out[0].buffer, t.buffer);
}

TEST(Executor, ScratchIsPrivateAndAligned) {
  Device &cpu = device("cpu");
  ProgramBuilder b(Target::Cpu);
  b.code.assign(test::kernelImage().begin(), test::kernelImage().end());
  b.meta.sizeArguments = 2;
  uint32_t n = b.size(SizeKind::Argument, 0), bytes = b.size(SizeKind::Argument, 1);
  uint32_t y = b.output("y", DType::Int64, {n}, n);
  uint32_t k = b.kernel("scratch", {1}, 1, test::entryOf(test::useScratch), 1000, 1, bytes);
  b.launch(k, n, {y}, {bytes});
  auto p = loaded(b.build(), cpu);
  for (int64_t scratch : {8, 4096, 40000, 64}) {
    std::vector<Tensor> out;
    int64_t arguments[] = {1000, scratch};
    ASSERT_TRUE(run(*p, {}, arguments, out).isOk());
    auto got = valuesOf<int64_t>(out[0]);
    for (int64_t i = 0; i < 1000; ++i)
      ASSERT_EQ(got[static_cast<size_t>(i)], i * (scratch / 8));
  }
  int64_t impossible[] = {1000, int64_t{1} << 60};
  std::vector<Tensor> out;
  Status s = run(*p, {}, impossible, out);
  EXPECT_EQ(s.code(), ErrorCode::OutOfMemory) << s.message();
}

TEST(Executor, ChunksAreMultiplesOfTheGrain) {
  Device &cpu = device("cpu");
  for (uint32_t grain : {1u, 3u, 64u, 1000u, 100000u}) {
    ProgramBuilder b(Target::Cpu);
    b.code.assign(test::kernelImage().begin(), test::kernelImage().end());
    b.meta.sizeArguments = 1;
    uint32_t n = b.size(SizeKind::Argument, 0), g = b.constant(grain);
    uint32_t x = b.input("x", DType::Int64, {n}, n);
    uint32_t y = b.output("y", DType::Int64, {n}, n);
    uint32_t k = b.kernel("mark", {1}, 1, test::entryOf(test::markGrain), 100, grain);
    b.copy(y, x);
    b.launch(k, n, {y}, {g});
    auto p = loaded(b.build(), cpu);
    int64_t count = 10007;
    Tensor zero = makeTensor(cpu, DType::Int64, std::vector<int64_t>(10007), {count});
    std::vector<Tensor> out;
    ASSERT_TRUE(run(*p, std::span(&zero, 1), std::span(&count, 1), out).isOk());
    EXPECT_EQ(valuesOf<int64_t>(out[0]), std::vector<int64_t>(10007, 1)) << grain;
  }
}

TEST(Executor, PiecesOfKernelsThatWaitHaveSoManyItems) {
  Device &cpu = device("cpu");
  struct {
    uint32_t piece;
    double nanos; // an item
    int64_t chunk;
  } const cases[] = {{2, 5000, 2},
                     {4, 5000, 4},
                     {100, 100, 100},
                     // Of items that take little so many that the chunk is worth a thread's while.
                     {4, 100, 28},
                     {100, 4, 700}};
  // None takes so little in all that the pool may keep it to the caller while its workers sleep.
  for (const auto &[piece, nanos, chunk] : cases) {
    ProgramBuilder b(Target::Cpu);
    b.code.assign(test::kernelImage().begin(), test::kernelImage().end());
    b.meta.sizeArguments = 1;
    uint32_t n = b.size(SizeKind::Argument, 0);
    uint32_t y = b.output("y", DType::Int64, {n}, n);
    uint32_t k = b.kernel("mark", {1}, 0, test::entryOf(test::markPiece), nanos, 1, b.constant(8));
    b.kernels[k].itemsPerThread = piece;
    b.launch(k, n, {y});
    auto p = loaded(b.build(), cpu);
    int64_t count = 10007, whole = cpu.info().threads > 1 ? chunk : count;
    std::vector<Tensor> out;
    ASSERT_TRUE(run(*p, {}, std::span(&count, 1), out).isOk());
    std::vector<int64_t> wanted(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      wanted[static_cast<size_t>(i)] = i % whole;
    EXPECT_EQ(valuesOf<int64_t>(out[0]), wanted) << piece << " " << nanos;
  }
}

TEST(Executor, KernelsSeeTheDefaultFloatMode) {
#if defined(__x86_64__)
  Device &cpu = device("cpu");
  ProgramBuilder b(Target::Cpu);
  b.code.assign(test::kernelImage().begin(), test::kernelImage().end());
  uint32_t n = b.dim(0, 0);
  uint32_t x = b.input("x", DType::Float32, {n}, n);
  uint32_t y = b.output("y", DType::Float32, {n}, n);
  b.launch(b.kernel("square", {0, 1}, 0, test::entryOf(test::square), 1000), n, {x, y});
  auto p = loaded(b.build(), cpu);
  Tensor tiny = makeTensor(cpu, DType::Float32, std::vector<float>(1000, 1e-20f), {1000});
  unsigned flush = __builtin_ia32_stmxcsr() | 0x8040;
  __builtin_ia32_ldmxcsr(flush);
  std::vector<Tensor> out;
  Status s = run(*p, std::span(&tiny, 1), {}, out);
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x1f80);
  ASSERT_TRUE(s.isOk());
  EXPECT_EQ(after & 0xffc0, flush & 0xffc0);
  for (float v : valuesOf<float>(out[0]))
    ASSERT_GT(v, 0.0f);
#endif
}

TEST(Executor, OneProgramFromManyThreads) {
  Device &cpu = device("cpu");
  auto p = loaded(twoSteps(100), cpu);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        int64_t n = 100 + t * 37 + round;
        Tensor x =
            makeTensor(cpu, DType::Int64, std::vector<int64_t>(static_cast<size_t>(n), t), {n});
        std::vector<Tensor> out;
        if (!run(*p, std::span(&x, 1), {}, out))
          ++wrong;
        else if (valuesOf<int64_t>(out[0]) !=
                 std::vector<int64_t>(static_cast<size_t>(n), t + 2 * n))
          ++wrong;
      }
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Executor, RefusesProgramsTheDeviceCannotRun) {
  Device &cpu = device("cpu");
  ProgramBuilder other(Target::OpenCL);
  auto r = load(other.build(), cpu);
  EXPECT_EQ(r.status().message(), "[cpu] this program is for opencl");
  ProgramBuilder needs(Target::Cpu);
  needs.meta.isa = needs.text("sse3,avx9000");
  r = load(needs.build(), cpu);
  EXPECT_EQ(r.status().code(), ErrorCode::Unsupported);
  EXPECT_NE(r.status().message().find("'avx9000'"), std::string::npos) << r.status().message();
}

TEST(Executor, OutOfMemoryLeavesNothingBehind) {
  Device &cpu = device("cpu");
  ProgramBuilder b(Target::Cpu);
  b.meta.sizeArguments = 1;
  uint32_t n = b.size(SizeKind::Argument, 0);
  b.output("small", DType::Int8, {b.constant(1000)}, b.constant(1000));
  b.output("large", DType::Float64, {n}, n);
  auto p = loaded(b.build(), cpu);
  int64_t before = cpu.liveBytes();
  std::vector<Tensor> out;
  for (int64_t n64 : {int64_t{1} << 50, int64_t{1} << 61, std::numeric_limits<int64_t>::max()}) {
    Status s = run(*p, {}, std::span(&n64, 1), out);
    EXPECT_EQ(s.code(), ErrorCode::OutOfMemory) << s.message();
    EXPECT_EQ(cpu.liveBytes(), before);
  }
  int64_t one = 1;
  EXPECT_TRUE(run(*p, {}, std::span(&one, 1), out).isOk());
}

} // namespace
