#include "frontends/record/ProgramHistory.h"

#include "frontends/record/Known.h"

#include <algorithm>
#include <bit>

namespace graphc {
namespace {

/// Trials take so long: threads that slept are awake by half of it, and arrays of the host's
/// numbers begin on the other device.
constexpr double kLengthNanos = 1e6;
constexpr uint32_t kLongest = 96;
/// Devices that differ by less are measured for longer, which costs little.
constexpr double kClose = 1.25;
constexpr int kCloseLength = 2;
/// Trials begin at multiples of so many runs. In between a choice holds for at most as many, and
/// for a power of two that takes about so long: other work between two runs is seldom within it.
constexpr uint32_t kSettledRuns = 32, kFewSettled = 4;
constexpr double kSettledNanos = 1e5;
/// The two halves of what is timed of one differ by less, unless something else was in between.
constexpr double kAlike = 1.25;
/// Of a program's time, for trials, where they go to the device that is the worse one: from the
/// beginning, and later.
constexpr double kFirstShare = 0.1, kTrialShare = 0.02;
/// Of its runs, at most one of so many is in a trial later: those after a change of the device take
/// longer, whichever it is.
constexpr uint32_t kRunsOfOne = 16;
/// Runs between two trials that end it.
constexpr uint32_t kLeastBetween = 128, kMostBetween = 1 << 16;
/// A program that does not run any more has no trial.
constexpr int64_t kTrialNanos = 100'000'000;
static_assert(kLeastBetween % kSettledRuns == 0 && kLongest < kLeastBetween);

/// The program that has a trial, or null.
std::atomic<const ProgramHistory *> trying{nullptr};
std::atomic<int64_t> tryingSince{0};

int64_t clockNanos() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

} // namespace

void Period::add(double nanos) {
  constexpr double kLong = 1.5;
  constexpr int kMany = 8;
  const double known = this->nanos();
  if (known != 0 && nanos > kLong * known) {
    // A pause of the caller's, or other work: unless it stays so.
    if (longOnes.fetch_add(1, std::memory_order_relaxed) + 1 < kMany)
      return;
  } else if (known != 0 && known < kLong * nanos) { // else what was known was such a one
    nanos = known + (nanos - known) / 4;
  }
  longOnes.store(0, std::memory_order_relaxed);
  typical.store(nanos, std::memory_order_relaxed);
}

TrialPlan::Turn TrialPlan::at(uint32_t run, double nanos, double ratio) {
  uint32_t begin = first.load(std::memory_order_relaxed);
  if (run >= begin + length()) {
    // What was measured once or twice may have been disturbed.
    const double most = trials.load(std::memory_order_relaxed) < 3 ? 2.0 : 8.0;
    const double lost = length() * (std::clamp(ratio == 0 ? 1 : ratio, 1.0, most) - 1);
    auto apart = [&](double share) { return std::bit_ceil(static_cast<uint32_t>(lost / share)); };
    const uint32_t enough =
        ratio == 0 ? kMostBetween : std::max(apart(kTrialShare), kRunsOfOne * length());
    begin += std::clamp(std::max(begin, apart(kFirstShare)), kFirst,
                        std::clamp(enough, kLeastBetween, kMostBetween));
    begin = (std::max(begin, run + 1) + kSettledRuns - 1) / kSettledRuns * kSettledRuns;
    first.store(begin, std::memory_order_relaxed);
    trials.fetch_add(1, std::memory_order_relaxed);
  }
  if (run == begin) {
    const double enough = std::max<double>(nanos > 0 ? kLengthNanos / nanos : 0, kFewest);
    const bool isClose = ratio > 0 && ratio < kClose;
    const double length = std::min<double>(enough * (isClose ? kCloseLength : 1), kLongest);
    runs.store(static_cast<uint32_t>(length) / 4 * 4, std::memory_order_relaxed);
  }
  return {run >= begin, run == begin, trials.load(std::memory_order_relaxed), length()};
}

void TrialPlan::putOff(uint32_t run) {
  first.store((run / kSettledRuns + 1) * kSettledRuns, std::memory_order_relaxed);
}

void ProgramHistory::endTrial() {
  const ProgramHistory *self = this;
  trying.compare_exchange_strong(self, nullptr);
}

bool ProgramHistory::mayTry() {
  const int64_t now = clockNanos();
  const ProgramHistory *owner = trying.load();
  if (owner != this && owner && now - tryingSince.load() < kTrialNanos)
    return false;
  if (owner != this && !trying.compare_exchange_strong(owner, this))
    return false;
  tryingSince = now;
  return true;
}

ProgramWork ProgramHistory::next(ProgramWork work) {
  const uint32_t run = runs.fetch_add(1, std::memory_order_relaxed);
  const uint32_t before = lastChosen.exchange(run, std::memory_order_relaxed);
  const int64_t now = clockNanos(), since = now - lastChosenAt.exchange(now);
  const uint32_t more = run > before ? run - before : 1;
  rt::Device *device = settled.load(std::memory_order_relaxed);
  const bool isHost = device && onHost(*device);
  // Of queued runs on the other device, time is known once they are done.
  if (device && more >= kFewSettled && (isHost || waitsMostly()))
    (isHost ? hostPeriod : otherPeriod).add(static_cast<double>(since) / more);
  work.run = run;
  work.runsSince = static_cast<int>(std::min(more, kSettledRuns));
  use->beginRun(work.runsSince, isHost ? 1 : work.runsSince);
  work.hostNanos = hostRuns.nanos();
  work.isHostTimed = hostRuns.isKnown();
  work.waits = std::max(work.waits, use->waits());
  work.read = std::max(work.read, use->bytes());
  const bool waits = work.waits > kWaitsMostly;
  work.answerNanos = waits ? use->answerNanos() : 0;
  work.queuedNanos = waits ? 0 : queuedThere.nanos();
  work.hostPeriod = hostPeriod.nanos();
  work.otherPeriod = otherPeriod.nanos();
  work.isOnOther = isOnOther.load(std::memory_order_relaxed);
  const auto [least, most] = std::minmax(work.hostPeriod, work.otherPeriod);
  TrialPlan::Turn turn = plan.at(run, least > 0 ? least : most, least > 0 ? most / least : 0);
  if (turn.isFirst)
    timedRuns = 0, timedNanos = 0;
  work.isTrial = turn.isTrial;
  work.isFirst = turn.isFirst;
  work.trial = turn.trial;
  return work;
}

Result<ChosenDevice> ProgramHistory::deviceFor(const ProgramWork &work, const rt::Choices &choices,
                                               std::span<const rt::Tensor> arrays) {
  rt::Device *device = settled.load(std::memory_order_relaxed);
  auto isThere = [&](const rt::Tensor &t) { return rt::isOn(*t.buffer, *device); };
  if (device &&
      runs.load(std::memory_order_relaxed) % settledRuns.load(std::memory_order_relaxed) != 0 &&
      std::ranges::all_of(arrays, isThere)) {
    runs.fetch_add(1, std::memory_order_relaxed);
    // On the host the run that chose stands for those that follow it.
    return ChosenDevice{device, false, !onHost(*device)};
  }
  ProgramWork now = next(work);
  // What a trial moves would change the choice: it goes to one device.
  if (rt::Device *there = now.isTrial && !now.isFirst ? tried.load() : nullptr)
    return ChosenDevice{there, true};
  now.isTrial = now.isFirst;
  GRAPHC_ASSIGN(ChosenDevice chosen, deviceOfRun(now, choices, arrays));
  if (chosen.isTimed && !mayTry()) {
    plan.putOff(now.run);
    now.isTrial = false;
    GRAPHC_ASSIGN(chosen, deviceOfRun(now, choices, arrays));
  }
  tried.store(chosen.isTimed ? chosen.device : nullptr);
  if (!chosen.isTimed) {
    endTrial();
    isOnOther.store(chosen.device == choices.other, std::memory_order_relaxed);
  }
  const bool isSettled = now.run >= kSettledRuns && !chosen.isTimed;
  const double each = now.isOnOther ? now.otherPeriod : now.hostPeriod;
  const double enough =
      std::clamp<double>(each > 0 ? kSettledNanos / each : 0, kFewSettled, kSettledRuns);
  settledRuns.store(std::bit_floor(static_cast<uint32_t>(enough)), std::memory_order_relaxed);
  settled.store(isSettled ? chosen.device : nullptr, std::memory_order_relaxed);
  return chosen;
}

bool ProgramHistory::isKnown(bool isOnHost) const {
  // Looking at a clock twice takes a tenth of a microsecond.
  const uint32_t run = runs.load(std::memory_order_relaxed);
  return (isOnHost ? hostRuns.isKnown() : run > kSettledRuns) && run % kSettledRuns != 0;
}

Status ProgramHistory::ran(rt::Device &device, double nanos, bool isTimed) {
  const bool isOnHost = onHost(device);
  if (isOnHost)
    hostRuns.add(nanos);
  else
    use->queued(static_cast<int64_t>(nanos));
  return isTimed ? timed(device, isOnHost, static_cast<int64_t>(nanos)) : Status::ok();
}

/// The third and the last quarter of a trial are timed: a pause of the caller's is in one of them.
/// Of runs that nobody waits for, the device's time counts as well where it is the longer one:
/// those of a quarter are waited for here.
Status ProgramHistory::timed(rt::Device &device, bool isOnHost, int64_t nanos) {
  const bool isQueued = !isOnHost && !waitsMostly();
  const uint32_t run = timedRuns.fetch_add(1) + 1, length = plan.length(), quarter = length / 4;
  const int64_t together = timedNanos.fetch_add(nanos) + nanos;
  if (run < 2 * quarter || run % quarter != 0)
    return Status::ok();
  timedNanos = 0;
  const int64_t queued = clockNanos();
  double answer = 0;
  if (isQueued) {
    GRAPHC_ASSIGN(const DeviceSpeed *speed, speedOf(device));
    GRAPHC_TRY(device.queue().finish());
    answer = speed->answerNanos / 2; // without the way of the bytes that were read
  }
  const int64_t now = clockNanos(), since = timedSince.exchange(now);
  if (run == 2 * quarter)
    return Status::ok();
  const auto waited = static_cast<double>(now - queued);
  const double extra = std::min(waited, answer);
  const double period = (static_cast<double>(now - since) - extra) / quarter;
  for (int i = 0; isQueued && i < 2; ++i)
    queuedThere.add((static_cast<double>(together) + waited - extra) / quarter);
  if (run < length) {
    timedPeriod = period;
  } else {
    const double before = timedPeriod.load();
    const auto [least, most] = std::minmax(before, period);
    (isOnHost ? hostPeriod : otherPeriod).add(most < kAlike * least ? (least + most) / 2 : least);
  }
  return Status::ok();
}

RunTimer::RunTimer(ProgramHistory *wanted, const rt::LoadedProgram *program, bool isTimed)
    : isTimed(isTimed) {
  if (!wanted || !program || (!isTimed && wanted->isKnown(onHost(program->device()))))
    return;
  history = wanted;
  device = &program->device();
  begun = std::chrono::steady_clock::now();
}

Status RunTimer::stop() {
  if (!history)
    return Status::ok();
  auto nanos = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun);
  return history->ran(*device, nanos.count(), isTimed);
}

} // namespace graphc
