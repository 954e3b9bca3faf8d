//===- ChosenRun.h - The device of a run that is not of a jitted function ---------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_CHOSENRUN_H
#define GRAPHC_FRONTENDS_RECORD_CHOSENRUN_H

#include "frontends/record/ProgramHistory.h"

#include <memory>
#include <optional>
#include <span>

namespace graphc {

/// The program of a segment, and what its run is told to.
struct ChosenRun {
  std::shared_ptr<rt::LoadedProgram> program;
  std::shared_ptr<ProgramHistory> history; ///< null where no times decide
  bool isTimed = false, isCounted = true;  ///< as ChosenDevice means it
};

/// Statements come again and again, each time as a new segment: what runs of segments alike took in
/// this thread counts. `read`: bytes that the host waits for, nothing where it does not wait.
Result<ChosenRun> chosenRun(Segment &segment, rt::Device &device,
                            std::span<const rt::BufferRef> inputs, std::optional<int64_t> read);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_CHOSENRUN_H
