#include "frontends/record/Pieces.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Looks.h"
#include "frontends/record/Session.h"
#include "frontends/record/Splitter.h"
#include "runtime/base/UnderflowFlag.h"
#include "runtime/device/BufferPool.h"
#include "runtime/drivers/Drivers.h"

#include <algorithm>

namespace graphc {

int64_t freeBytes(const rt::Device &device) {
  return std::max<int64_t>(0, device.info().budgetBytes - device.liveBytes());
}

Result<rt::BufferRef> placeFor(rt::Device &device, int64_t bytes) {
  const rt::DeviceInfo &info = device.info();
  if (!info.hostVisible &&
      (bytes > info.largestBuffer || bytes > freeBytes(device) - info.budgetBytes / 8)) {
    GRAPHC_ASSIGN(rt::Device * cpu, rt::findDevice("cpu"));
    return cpu->allocate(bytes);
  }
  return device.allocate(bytes);
}

Status bringTo(rt::Device &device, std::span<rt::Tensor> values) {
  for (rt::Tensor &t : values) {
    if (!isKept(t, device))
      continue;
    int64_t bytes = byteCount(t.shape, t.dtype).value_or(0);
    GRAPHC_ASSIGN(rt::BufferRef room, device.allocate(bytes));
    if (bytes > 0)
      GRAPHC_TRY(device.queue().upload(*room, t.buffer->host(), bytes));
    t.buffer = std::move(room);
  }
  return Status::ok();
}

Status runOrSplit(const rt::LoadedProgram &program, const Segment &segment,
                  std::span<const rt::Tensor> inputs, std::span<const int64_t> sizes,
                  std::vector<rt::Tensor> &outputs, rt::RunReport &report) {
  rt::Device &device = program.device();
  bool mayKeep = !device.info().hostVisible;
  UnderflowFlag flag(listensForUnderflow(segment.code, device));
  report.mayTellLater &= !PieceScope::isOpen(); // what a piece reads is overwritten
  if (!mayKeep ||
      std::ranges::none_of(inputs, [&](const rt::Tensor &t) { return isKept(t, device); })) {
    Status status = rt::run(program, inputs, sizes, outputs, &report);
    if (status.code() == ErrorCode::OutOfMemory && looksWait(device)) {
      GRAPHC_TRY(lookNow(device)); // which hold memory
      status = rt::run(program, inputs, sizes, outputs, &report);
    }
    report.underflowed = flag.isSet();
    if (status.code() != ErrorCode::OutOfMemory || !mayKeep || PieceScope::isOpen())
      return status;
  } else {
    GRAPHC_TRY(lookNow(device)); // what waits holds memory
    GRAPHC_ASSIGN(rt::RunCost cost, rt::costOf(program, inputs, sizes, outputs));
    int64_t wanted = cost.peakBytes;
    for (const rt::Tensor &t : inputs)
      if (isKept(t, device))
        wanted += rt::BufferPool::classBytes(byteCount(t.shape, t.dtype).value_or(0));
    if (wanted <= freeBytes(device) || PieceScope::isOpen()) {
      std::vector<rt::Tensor> there(inputs.begin(), inputs.end());
      Status status = bringTo(device, there);
      if (status)
        status = rt::run(program, there, sizes, outputs, &report);
      if (status.code() != ErrorCode::OutOfMemory || PieceScope::isOpen())
        return status;
    }
  }
  report = {};
  auto literals =
      std::ranges::count(segment.code.literals, true, &SegmentCode::Literal::isArgument);
  size_t before = floatErrorsMet();
  Splitter splitter(segment, inputs.first(inputs.size() - static_cast<size_t>(literals)), device);
  Status status = splitter.run(outputs);
  mergeFloatErrors(before);
  return status;
}

} // namespace graphc
