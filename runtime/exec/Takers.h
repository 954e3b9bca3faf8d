//===- Takers.h - Which inputs' memory a program may write to, and from which step on ---------===//
#ifndef GRAPHC_RUNTIME_EXEC_TAKERS_H
#define GRAPHC_RUNTIME_EXEC_TAKERS_H

#include "runtime/device/Device.h"
#include "runtime/program/Program.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace graphc::rt {

/// What becomes of the memory of inputs that are given away. By input number but `checks`.
struct Takers {
  std::vector<uint32_t> buffers; ///< the buffer that may be its memory, or kNone
  std::vector<bool> copied;      ///< it is copied unless it is taken
  std::vector<uint32_t> serves;  ///< the step from which on its memory is as good as new for a
                                 ///< buffer of its size, or kNone
  std::vector<uint32_t> begins;  ///< the first step that writes to taken memory
  std::vector<bool> checks;      ///< by step: its indices are looked at before that
};

/// An input that is not looked at again may be what it is copied to, what is computed from it in
/// its place, or any buffer begun later, when nothing can fail once that is written to: the error
/// would lose it. Indices can be found to be outside before, by launches that check only.
template <typename Plan>
class TakerPlanner {
public:
  TakerPlanner(const Plan &plan, std::span<const size_t> first, std::span<const size_t> last)
      : plan(plan), program(plan.program), first(first), last(last) {}

  Takers decide() {
    size_t count = program.inputs().size();
    takers.buffers.assign(count, kNone);
    takers.copied.assign(count, false);
    takers.serves.assign(count, kNone);
    takers.begins.assign(count, kNone);
    takers.checks.assign(plan.steps.size(), false);
    // Tiles that ask for memory of their own may fail, and nothing is looked at within one.
    bool tilesMayFail = plan.tilesBegin() || (!plan.tiles.empty() && !program.faults().empty());
    if (plan.device.info().target != program::Target::Cpu || tilesMayFail)
      return std::move(takers);
    for (size_t i = 0; i < plan.steps.size(); ++i)
      takers.checks[i] = mayFault(i);
    for (uint32_t b = 0; b < plan.buffers.size(); ++b)
      if (uint32_t donor = plan.buffers[b].donor; donor != kNone)
        take(donor, b, first[b], first[b]);
    for (size_t i = 0; i < plan.steps.size(); ++i)
      if (plan.steps[i].kind == program::StepKind::Copy) {
        auto [to, from] = std::pair(plan.steps[i].buffers[0], plan.steps[i].buffers[1]);
        if (plan.buffers[from].kind == program::BufferKind::Input)
          takers.copied[plan.buffers[from].number] =
              take(plan.buffers[from].number, to, i, i + 1) ||
              takers.copied[plan.buffers[from].number];
      }
    for (uint32_t i = 0; i < count; ++i)
      serve(i);
    return std::move(takers);
  }

private:
  static constexpr uint32_t kNone = program::kNone;

  bool isSpare(uint32_t buffer) const {
    bool returned =
        std::ranges::any_of(program.outputs(), [&](const auto &t) { return t.buffer == buffer; });
    return plan.buffers[buffer].kind == program::BufferKind::Input && last[buffer] != SIZE_MAX &&
           !returned;
  }

  /// Whether input number `input` may become `to`, which begins at `step` and is written to from
  /// `write` on.
  bool take(uint32_t input, uint32_t to, size_t step, size_t write) {
    uint32_t from = program.inputs()[input].buffer;
    if (!isSpare(from) || last[from] != step || first[to] != step || !isSafeFrom(write))
      return false;
    takers.buffers[input] = to;
    takers.begins[input] = static_cast<uint32_t>(write);
    return true;
  }

  void serve(uint32_t input) {
    uint32_t from = program.inputs()[input].buffer;
    if (takers.buffers[input] != kNone || !isSpare(from) || !isSafeFrom(last[from] + 1))
      return;
    for (size_t step = last[from] + 1; step < plan.steps.size(); ++step)
      for (uint32_t to : plan.steps[step].allocate)
        if (plan.buffers[to].itemBytes == plan.buffers[from].itemBytes)
          takers.serves[input] = takers.begins[input] = static_cast<uint32_t>(last[from] + 1);
  }

  bool mayFault(size_t step) const {
    const auto &s = plan.steps[step];
    return s.kind == program::StepKind::Launch &&
           program.kernels()[s.kernel].checks != static_cast<uint32_t>(program::IndexChecks::None);
  }

  bool writes(size_t step, uint32_t buffer) const {
    const auto &s = plan.steps[step];
    if (s.kind == program::StepKind::Copy)
      return s.buffers[0] == buffer;
    if (s.kind == program::StepKind::Call)
      return s.buffers.back() == buffer;
    std::span<const uint32_t> flags = program.writes(program.kernels()[s.kernel]);
    for (size_t i = 0; i < s.buffers.size(); ++i)
      if (s.buffers[i] == buffer && flags[i])
        return true;
    return false;
  }

  /// Whether nothing fails from `step` on but indices that can be looked at before it, and scratch
  /// memory, which can be got before.
  bool isSafeFrom(size_t step) const {
    for (size_t i = step; i < plan.steps.size(); ++i) {
      const auto &s = plan.steps[i];
      if (s.kind == program::StepKind::Call)
        return false;
      if (mayFault(i) && !isCheckedAt(i, step))
        return false;
    }
    return true;
  }

  /// Whether what a launch reads for its checks is there before `step` as it will be then.
  bool isCheckedAt(size_t launch, size_t step) const {
    const auto &s = plan.steps[launch];
    if (program.kernels()[s.kernel].checks != static_cast<uint32_t>(program::IndexChecks::Alone))
      return false;
    std::span<const uint32_t> reads = program.checkReads(program.kernels()[s.kernel]);
    for (size_t i = 0; i < s.buffers.size(); ++i) {
      uint32_t b = s.buffers[i];
      auto kind = plan.buffers[b].kind;
      bool isGiven = kind == program::BufferKind::Input || kind == program::BufferKind::Constant;
      if (reads[i] && !isGiven && first[b] >= step)
        return false;
      for (size_t between = step; reads[i] && between < launch; ++between)
        if (writes(between, b))
          return false;
    }
    return true;
  }

  const Plan &plan;
  const program::Program &program;
  std::span<const size_t> first, last;
  Takers takers;
};

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_TAKERS_H
