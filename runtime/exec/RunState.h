//===- RunState.h - What one run keeps, and which buffers begin in another's memory -----------===//
#ifndef GRAPHC_RUNTIME_EXEC_RUNSTATE_H
#define GRAPHC_RUNTIME_EXEC_RUNSTATE_H

#include "runtime/device/Device.h"
#include "runtime/program/Program.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace graphc::rt {

/// The words for faults of a device that sees host memory.
class FaultWords final : public Buffer {
public:
  explicit FaultWords(Device &device) : Buffer(device, sizeof words, words) {}
  int64_t words[program::kFaultWords] = {};
};

/// What one run needs; kept by each thread so that a warm run allocates nothing here.
struct RunState {
  std::unique_ptr<FaultWords> faults;
  std::vector<int64_t> sizes;
  std::vector<Buffer *> buffers;
  std::vector<BufferRef> owned;
  std::vector<uint32_t> takers; ///< by input number: the buffer that it becomes, or kNone
  size_t firstWrite = 0;        ///< the first step that may write to the memory of an input
  std::vector<Buffer *> launchBuffers;
  std::vector<int64_t> launchSizes;
  std::vector<TileLaunch::Step> tileSteps;
  std::vector<TileLaunch::Operand> tileOperands;
  std::vector<int64_t> tileSizes, tileLocals;
  // References must not outlive the run in a thread's state, however the run ends.
  void clear() {
    for (BufferRef &b : owned)
      b.reset();
  }
};

/// By buffer: the temporary or result that begins in its memory, or kNone. That is one of its size,
/// whatever the sizes of a run, which begins where memory is asked for next: what is handed on is
/// never more than giving it back would leave in use.
template <typename Plan>
std::vector<uint32_t> planHeirs(const Plan &plan, std::span<const size_t> last) {
  using program::BufferKind, program::kNone;
  std::vector<uint32_t> heirs(plan.buffers.size(), kNone);
  std::vector<bool> apart(plan.buffers.size()); // rows of each thread, or an heir already
  for (const auto &tile : plan.tiles)
    for (uint32_t b : tile.locals)
      apart[b] = true;
  std::vector<bool> local = apart;
  for (const auto &step : plan.steps)
    for (uint32_t from : step.release) {
      auto next = std::find_if(plan.steps.begin() + static_cast<ptrdiff_t>(last[from]) + 1,
                               plan.steps.end(), [](const auto &s) { return !s.allocate.empty(); });
      if (local[from] || next == plan.steps.end())
        continue;
      auto heir = std::ranges::find_if(next->allocate, [&](uint32_t to) {
        return !apart[to] && plan.buffers[to].elements == plan.buffers[from].elements &&
               plan.buffers[to].itemBytes == plan.buffers[from].itemBytes;
      });
      if (heir == next->allocate.end())
        continue;
      heirs[from] = *heir;
      apart[*heir] = true;
    }
  return heirs;
}

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_RUNSTATE_H
