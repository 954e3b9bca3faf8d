//===- ProgramHistory.h - What the runs of a program of "auto" took ---------------------------===//
//
// Estimates are tried: now and then a few runs go to the device that is not believed to be the
// better one. What counts is the time from run to run, with all that the caller does in between.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_PROGRAMHISTORY_H
#define GRAPHC_FRONTENDS_RECORD_PROGRAMHISTORY_H

#include "frontends/record/Choose.h"

#include <atomic>
#include <chrono>
#include <span>

namespace graphc {

/// What the runs of a program take, from the beginning of one to that of the next. Safe from any
/// thread.
class Period {
public:
  /// Of a few runs, the mean.
  void add(double nanos);
  double nanos() const { return typical.load(std::memory_order_relaxed); } ///< 0: not known

private:
  std::atomic<double> typical{0};
  std::atomic<int> longOnes{0}; ///< the last few were, whatever was between their runs
};

/// The runs at which the trials of a program begin. Safe from any thread.
class TrialPlan {
public:
  struct Turn {
    bool isTrial = false, isFirst = false;
    uint32_t trial = 0;  ///< the number of this one, or of the next
    uint32_t length = 0; ///< runs
  };
  /// Of a run, where a run takes `nanos` on the better device and `ratio` times as long on the
  /// other; 0: not known.
  Turn at(uint32_t run, double nanos, double ratio);
  /// The trial that was to begin at `run` begins a little later.
  void putOff(uint32_t run);
  /// Runs of the last trial that began, or of the first.
  uint32_t length() const { return runs.load(std::memory_order_relaxed); }

private:
  static constexpr uint32_t kFirst = 16, kFewest = 12;
  std::atomic<uint32_t> first{kFirst}, trials{0}, runs{kFewest};
};

/// What is known of a program from its runs, wherever they were. Safe from any thread; runs at the
/// same time may count one another's.
class ProgramHistory {
public:
  std::shared_ptr<rt::ResultUse> use = std::make_shared<rt::ResultUse>();

  ProgramHistory() = default;
  ~ProgramHistory() { endTrial(); }
  ProgramHistory(const ProgramHistory &) = delete;
  ProgramHistory &operator=(const ProgramHistory &) = delete;

  /// Of the run that begins: what was chosen holds for a few runs whose arrays are all there.
  Result<ChosenDevice> deviceFor(const ProgramWork &work, const rt::Choices &choices,
                                 std::span<const rt::Tensor> arrays);
  /// What is known of the run that begins.
  ProgramWork next(ProgramWork work);
  /// A run was queued, on the host was done, after so many nanoseconds; `isTimed`, as ChosenDevice
  /// means it. Errors of work that was queued before.
  Status ran(rt::Device &device, double nanos, bool isTimed);
  /// Whether a run that is not timed need not be looked at, as what is known changes slowly.
  bool isKnown(bool isOnHost) const;

private:
  bool waitsMostly() const { return use->waits() > kWaitsMostly; }
  /// Trials at the same time would count one another's devices: one program has one.
  bool mayTry();
  void endTrial();
  Status timed(rt::Device &device, bool isOnHost, int64_t nanos);

  rt::TypicalTime hostRuns, queuedThere;
  Period hostPeriod, otherPeriod;
  TrialPlan plan;
  std::atomic<uint32_t> runs{0};
  std::atomic<rt::Device *> settled{nullptr}; ///< or null
  std::atomic<uint32_t> settledRuns{1};       ///< a choice holds until a multiple of them
  std::atomic<bool> isOnOther{false};         ///< what was chosen last, besides trials
  std::atomic<uint32_t> lastChosen{0};        ///< the run
  std::atomic<int64_t> lastChosenAt{0};       ///< nanoseconds of the clock
  std::atomic<rt::Device *> tried{nullptr};   ///< of this trial; or null
  std::atomic<uint32_t> timedRuns{0};         ///< of this trial
  std::atomic<int64_t> timedNanos{0};         ///< of the host, for these
  std::atomic<int64_t> timedSince{0};         ///< nanoseconds of the clock
  std::atomic<double> timedPeriod{0};         ///< of its third quarter
};

/// Times a run until stop(), where its program has a history.
class RunTimer {
public:
  RunTimer(ProgramHistory *history, const rt::LoadedProgram *program, bool isTimed);
  /// Errors of work that was queued before.
  Status stop();

private:
  ProgramHistory *history = nullptr;
  rt::Device *device = nullptr;
  bool isTimed = false;
  std::chrono::steady_clock::time_point begun;
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_PROGRAMHISTORY_H
