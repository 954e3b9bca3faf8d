#include "frontends/record/ChosenRun.h"

#include <array>
#include <vector>

namespace graphc {
namespace {

/// Nanoseconds of statements alike before code for the other device is made for a trial: about what
/// a driver's compiler takes for a kernel, as nobody said that they go on.
constexpr double kTrialAfter = 5e7;

struct Met {
  Digest structure;
  std::vector<int64_t> symbols;
  ProgramWork work;
  std::shared_ptr<ProgramHistory> history;
};

Met &metLately(const Segment &segment) {
  constexpr size_t kMet = 64;
  thread_local std::array<Met, kMet> lately;
  const Digest structure = segment.code.structure();
  Met &met = lately[structure.low % kMet];
  if (!met.history || met.structure != structure || met.symbols != segment.symbols)
    met = {structure, segment.symbols, workOf(segment), std::make_shared<ProgramHistory>()};
  return met;
}

} // namespace

Result<ChosenRun> chosenRun(Segment &segment, rt::Device &device,
                            std::span<const rt::BufferRef> inputs, std::optional<int64_t> read) {
  ChosenRun run;
  rt::Device *chosen = fixedDevice(segment, device);
  if (!chosen) {
    std::vector<rt::Tensor> known;
    for (const rt::BufferRef &input : inputs)
      if (input)
        known.emplace_back().buffer = input;
    const Met &met = metLately(segment);
    run.history = met.history; // another segment may take its place while this one runs
    ProgramWork work = met.work;
    work.trialAfter = kTrialAfter;
    work.waits = read ? 1 : 0;
    work.read = static_cast<double>(read.value_or(0));
    GRAPHC_ASSIGN(ChosenDevice found, run.history->deviceFor(work, *rt::choicesOf(device), known));
    chosen = found.device;
    run.isTimed = found.isTimed;
    run.isCounted = found.isCounted;
  }
  GRAPHC_ASSIGN(run.program, programOn(segment, *chosen, device));
  return run;
}

} // namespace graphc
