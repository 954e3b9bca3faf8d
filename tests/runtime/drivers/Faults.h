//===- Faults.h - What is asked of drivers whose calls fail -----------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTS_H
#define GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTS_H

#include "runtime/drivers/Drivers.h"
#include "tests/runtime/drivers/AddSize.h"
#include "tests/runtime/drivers/ArmedCalls.h"

#include <sys/wait.h>
#include <unistd.h>

namespace graphc::test {

inline constexpr int kMostCalls = 400, kSteps = 36, kFirstSteps = 2;
inline constexpr int64_t kCount = 5;

inline bool typed(const Status &status) {
  return status.code() == ErrorCode::Device || status.code() == ErrorCode::OutOfMemory ||
         status.code() == ErrorCode::Compile || status.code() == ErrorCode::Unsupported;
}

/// Everything a program does with a device once it is loaded, a copy between buffers included.
inline Result<std::vector<int64_t>> evaluate(rt::Device &device, const rt::LoadedProgram &program) {
  GRAPHC_ASSIGN(rt::Tensor x, upload(device, {1, 2, 3, 4, kCount}));
  std::vector<rt::Tensor> out;
  GRAPHC_TRY(rt::run(program, std::span(&x, 1), {}, out));
  int64_t bytes = kCount * static_cast<int64_t>(sizeof(int64_t));
  GRAPHC_TRY(device.queue().copy(*x.buffer, *out[0].buffer, bytes));
  GRAPHC_TRY(device.queue().finish());
  return download(x);
}

inline std::vector<int64_t> expected(int steps = kSteps) {
  std::vector<int64_t> values;
  for (int64_t i = 1; i <= kCount; ++i)
    values.push_back(i + steps * kCount);
  return values;
}

/// From nothing: finds the device, loads, evaluates, uploads beside, and reads several buffers at
/// once.
inline Result<std::vector<int64_t>> everything(const char *name, std::vector<uint8_t> blob) {
  GRAPHC_ASSIGN(rt::Device * device, rt::findDevice(name));
  GRAPHC_ASSIGN(auto program, rt::load(std::move(blob), *device));
  GRAPHC_ASSIGN(std::vector<int64_t> values, evaluate(*device, *program));
  GRAPHC_ASSIGN(rt::Tensor x, upload(*device, values));
  GRAPHC_ASSIGN(rt::Tensor y, upload(*device, values));
  int64_t bytes = kCount * static_cast<int64_t>(sizeof(int64_t));
  GRAPHC_TRY(device->queue().uploadBeside(*y.buffer, values.data(), bytes));
  std::vector<std::vector<int64_t>> again(5, std::vector<int64_t>(kCount));
  std::vector<rt::Readback> reads;
  for (std::vector<int64_t> &to : again)
    reads.push_back({to.data(), (reads.size() % 2 ? y : x).buffer.get(), bytes});
  GRAPHC_TRY(device->queue().downloadAll(std::span(reads).first(2)));
  GRAPHC_TRY(device->queue().downloadAll(reads));
  x.buffer.reset();
  y.buffer.reset();
  device->releaseCached();
  bool same = again == std::vector<std::vector<int64_t>>(again.size(), again[0]);
  return same ? again[0] : std::vector<int64_t>();
}

/// What a child that meets a fault at its first use of a driver ends with.
enum Ending { kFine, kNotReached, kUntyped, kWrong };

/// `first` is the program that meets the fault, `second` the one after it.
inline Ending firstUse(const char *name, const std::vector<uint8_t> &first,
                       const std::vector<uint8_t> &second, const char *function, int n, int code) {
  alarm(60);
  armFault(function, n, code);
  auto met = everything(name, first);
  if (!faultHit())
    return kNotReached;
  armFault(nullptr, 0, 0);
  if (met ? *met != expected(kFirstSteps) : !typed(met.status()))
    return kUntyped;
  // Devices are listed once; what was listed must work now.
  auto next = everything(name, second);
  return next                          ? (*next == expected(kFirstSteps) ? kFine : kWrong)
         : rt::findDevice(name).isOk() ? kWrong
                                       : kFine;
}

template <typename Use>
Ending inChild(const char *function, int n, Use use) {
  pid_t child = fork();
  if (child == 0)
    _exit(use());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << function << " " << n << ": signal " << WTERMSIG(status);
  return WIFEXITED(status) ? static_cast<Ending>(WEXITSTATUS(status)) : kWrong;
}

/// `work`, which gives expected(), with every call of `function` failing in turn, with every code;
/// how many were survived.
template <typename Work>
int failEach(rt::Device &device, std::span<const int> codes, const char *function, Work work) {
  int survived = 0;
  for (int code : codes)
    for (int n = 1; n <= kMostCalls; ++n) {
      device.releaseCached();
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
      device.releaseCached();
      EXPECT_EQ(liveObjects(), before) << function << " " << n << " " << code;
      EXPECT_EQ(device.liveBytes(), 0) << function << " " << n << " " << code;
      auto next = work();
      EXPECT_TRUE(next.isOk() && *next == expected()) << next.status().message();
      if (::testing::Test::HasFailure())
        return survived;
    }
  return survived;
}

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_DRIVERS_FAULTS_H
