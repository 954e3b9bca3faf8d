//===- Answers.cpp - Small results without the copy engine ------------------------------------===//
#include "runtime/drivers/cuda/Answers.h"

#include "runtime/base/Trace.h"
#include "runtime/device/VendorDevice.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

namespace graphc::rt::cuda {
namespace {

/// A work-item moves 16 bytes of each result; memory of the pool and of the host has them.
constexpr unsigned kGroup = 256;
/// What a launch and a short kernel take. Who has waited so long waits in the library, which lets
/// the processor go.
constexpr int64_t kSpinNanos = 200'000;

#define GRAPHC_MOVE(i)                                                                             \
  "ld.param.u64 n, [n" #i "]; setp.lt.u64 has, at, n;\n"                                           \
  "ld.param.u64 from, [from" #i "]; add.u64 from, from, at;\n"                                     \
  "ld.param.u64 to, [to" #i "]; add.u64 to, to, at;\n"                                             \
  "@has ld.global.v2.u64 {x, y}, [from];\n"                                                        \
  "@has st.global.v2.u64 [to], {x, y};\n"

// What is in the host's memory is there before the number: a group's barrier, then a fence for the
// whole system.
constexpr const char *kHead = ".version 6.0\n.target sm_50\n",
                     *kDependentHead = ".version 7.8\n.target sm_90\n";
constexpr const char *kParameters =
    ".address_size 64\n.visible .entry answer(\n"
    ".param .u64 from0, .param .u64 to0, .param .u64 n0,\n"
    ".param .u64 from1, .param .u64 to1, .param .u64 n1,\n"
    ".param .u64 from2, .param .u64 to2, .param .u64 n2,\n"
    ".param .u64 from3, .param .u64 to3, .param .u64 n3,\n"
    ".param .u64 place, .param .u64 number)\n"
    "{\n.reg .pred has;\n.reg .b32 item;\n.reg .b64 at, n, from, to, x, y;\n";
constexpr const char *kWait = "griddepcontrol.wait;\n";
constexpr const char *kBody = "mov.u32 item, %tid.x;\nmul.wide.u32 at, item, 16;\n" //
    GRAPHC_MOVE(0) GRAPHC_MOVE(1) GRAPHC_MOVE(2) GRAPHC_MOVE(
        3) "bar.sync 0;\nsetp.eq.u32 has, item, 0;\n@!has ret;\nmembar.sys;\n"
           "ld.param.u64 to, [place];\nld.param.u64 x, [number];\nst.volatile.global.u64 [to], x;\n"
           "ret;\n}\n";

#undef GRAPHC_MOVE

} // namespace

Status Answers::open(const Api &api, bool dependent) {
  void *made = nullptr;
  isDependent = dependent;
  std::string text = dependent ? kDependentHead : kHead;
  text += kParameters;
  text += dependent ? kWait : "";
  text += kBody;
  if (Code code = api.cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr))
    return api.failure("cuModuleLoadDataEx", code);
  FunctionHandle found = nullptr;
  if (Code code = api.cuModuleGetFunction(&found, module, "answer"))
    return api.failure("cuModuleGetFunction", code);
  constexpr size_t kAll = kMost * kBytes + sizeof(uint64_t);
  if (Code code = api.cuMemHostAlloc(&made, kAll, 0))
    return api.failure("cuMemHostAlloc", code);
  std::memset(made, 0, kAll);
  memory = static_cast<char *>(made);
  kernel = found;
  return Status::ok();
}

bool Answers::take(std::span<const Readback> all, std::unique_lock<std::mutex> &lock) {
  bool fits = kernel && all.size() <= kMost &&
              std::ranges::all_of(all, [](const Readback &r) { return r.bytes <= kBytes; });
  lock = std::unique_lock<std::mutex>(mutex, std::defer_lock);
  return fits && lock.try_lock();
}

Status Answers::bring(const Api &api, StreamHandle stream, std::span<const Readback> all) {
  uint64_t values[3 * kMost + 2] = {};
  void *places[std::size(values)];
  for (size_t i = 0; i < all.size(); ++i) {
    values[3 * i] = reinterpret_cast<uint64_t>(handleOf(*all[i].from));
    values[3 * i + 1] = reinterpret_cast<uint64_t>(memory + i * kBytes);
    values[3 * i + 2] = static_cast<uint64_t>(std::max<int64_t>(all[i].bytes, 0));
  }
  auto *number = reinterpret_cast<uint64_t *>(memory + kMost * kBytes);
  values[3 * kMost] = reinterpret_cast<uint64_t>(number);
  values[3 * kMost + 1] = ++last;
  for (size_t i = 0; i < std::size(values); ++i)
    places[i] = &values[i];
  if (Code code = api.launch(kernel, 1, kGroup, 0, stream, places, isDependent))
    return api.failure(Api::launchName(isDependent), code);
  int64_t begin = TraceSpan::now();
  std::atomic_ref<uint64_t> seen(*number);
  while (seen.load(std::memory_order_acquire) != last)
    if (TraceSpan::now() - begin > kSpinNanos) {
      if (Code code = api.cuStreamSynchronize(stream))
        return api.failure("cuStreamSynchronize", code);
      break;
    }
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].bytes > 0)
      std::memcpy(all[i].to, memory + i * kBytes, static_cast<size_t>(all[i].bytes));
  return Status::ok();
}

} // namespace graphc::rt::cuda
