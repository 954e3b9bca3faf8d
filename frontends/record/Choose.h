//===- Choose.h - Which device a program of "auto" runs on ------------------------------------===//
//
// Two devices are timed once, for at most two seconds together, and what was found is kept on disk
// by device, driver and build. A program's time on each follows from its bytes, operations and what
// must be moved.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_CHOOSE_H
#define GRAPHC_FRONTENDS_RECORD_CHOOSE_H

#include "frontends/record/Snapshot.h"
#include "runtime/drivers/Choice.h"
#include "runtime/exec/Executor.h"

#include <limits>
#include <optional>
#include <span>

namespace graphc {

/// What a device does in a nanosecond, and what a run costs however small it is.
struct DeviceSpeed {
  double launchNanos = 0;
  double bytes = 1;      ///< read and written by a map
  double operations = 1; ///< cheap ones of elements
  double products = 1;   ///< multiplications and additions of a matrix product
  double up = 1;         ///< bytes from host memory, and back
  double down = 1;
  double tiles = 0; ///< not 0, a GPU's: matrix products go by tiles of groups
  /// Elements of running sums of some length, which cores and groups hand on to each other.
  double scans = std::numeric_limits<double>::infinity();
  double wayNanos = 0;    ///< to the device and back, however little it is
  double answerNanos = 0; ///< until the host has read a result, besides what a launch takes
};

/// Of a run's results: the host waits for them so often that what it took counts.
inline constexpr double kWaitsMostly = 0.75;
/// Elements of the product that is timed.
inline constexpr double kTimedProduct = 512.0 * 512.0;
/// Elements of the running sum that is timed.
inline constexpr int64_t kTimedScan = int64_t{1} << 17;

/// What a program does, as far as it is known before it is compiled.
struct ProgramWork {
  double bytes = 0;      ///< of inputs and results
  double operations = 0; ///< elementary functions count as several
  double products = 0;
  /// The same where groups of work-items have a tile each: a product of few elements leaves
  /// processors idle, and takes as long for its depth as one of kTimedProduct elements.
  double tiledProducts = 0;
  double scans = 0;     ///< elements of running sums and the like
  double sortNanos = 0; ///< what the host's sorts take besides memory
  double kernels = 1;
  double hostNanos = 0;    ///< what runs on the host took; 0: not known
  bool isHostTimed = true; ///< false: a few more runs on the host will say what they take
  double answerNanos = 0;  ///< what runs there took until the host had the results; 0: not known
  double queuedNanos = 0;  ///< what runs there took that nobody waited for; 0: not known
  /// From run to run, with what the caller does in between; 0: not known.
  double hostPeriod = 0, otherPeriod = 0;
  bool isOnOther = false; ///< the runs before, besides trials
  /// Run so many of the program; in a time of trial it may go to the device that is not believed
  /// to be the better one, or is timed until the device is done with it.
  uint32_t run = 0, trial = 0;
  bool isTrial = false, isFirst = false; ///< the first of a trial
  int runsSince = 1;                     ///< the last one whose device was chosen
  double onHostOnly = 0;                 ///< bytes of inputs that are not on the other device
  double onOtherOnly = 0;                ///< and those that are only there
  /// Of them, bytes of the host's, which copies them for every run, or would have them there.
  double givenHere = 0, givenThere = 0;
  double waits = 0; ///< of the host for the results, by run
  double read = 0;  ///< bytes of the results that the host reads
  /// Nanoseconds of the program's runs before code for the other device is made for a trial.
  double trialAfter = 4e6;
  bool needsHost = false;   ///< library routines run on the host
  bool needsGroups = false; ///< but those of which devices of class `gpu` have kernels
};

/// The device of a run.
struct ChosenDevice {
  rt::Device *device;
  bool isTimed = false;  ///< to see what it takes there
  bool isCounted = true; ///< whoever reads its results is to be counted
};

/// From this process, from disk, or by timing. Runs ask for it, so that what is known takes no
/// lock.
Result<const DeviceSpeed *> speedOf(rt::Device &device);

/// Nanoseconds.
double timeOnHost(const ProgramWork &work, const DeviceSpeed &host, const DeviceSpeed &other);
double timeOnOther(const ProgramWork &work, const DeviceSpeed &other);
/// What was measured counts half where more was not expected: a device may have been disturbed when
/// it was tried.
ProgramWork hopeful(ProgramWork work, const DeviceSpeed &host, const DeviceSpeed &other);
/// Whether a run that goes to one device is sent to the other: in a time of trial, where it moves
/// nothing back to the host, and neither what it may lose nor the code for the other device is much
/// beside what the program took so far.
bool isWorthTrying(const ProgramWork &work, bool isOnOther, const DeviceSpeed &host,
                   const DeviceSpeed &other);
/// Whether the other device is the better one as measured from run to run; nothing where one of
/// them was not, or arrays would have to move back that the next run has as well.
std::optional<bool> betterOnOther(const ProgramWork &work);
/// Whether a run goes to the other device, where `lost` nanoseconds were lost so far because inputs
/// that are on the host only are not there.
bool runsOnOther(const ProgramWork &work, const DeviceSpeed &host, const DeviceSpeed &other,
                 double lost);
/// Whether values that only the other device has come back: runs that would have been shorter on
/// the host, which this counts, cost as much as the way by now.
bool comesBack(const ProgramWork &work, std::span<const rt::Tensor> inputs,
               const rt::Choices &choices, const DeviceSpeed &host, const DeviceSpeed &other);
/// But for where its inputs are.
ProgramWork workOf(const Segment &segment);

/// The device on which a segment of `device` runs wherever its inputs are; null when that and times
/// decide.
rt::Device *fixedDevice(const Segment &segment, rt::Device &device);
/// What a segment on `device` does, when where its inputs are decides on the device of each run;
/// nothing when it is decided for good.
std::optional<ProgramWork> workOfRuns(const Segment &segment, rt::Device &device);
/// The device of a run. Inputs move once programs lost as much without them as the way takes: what
/// is read again and again ends where it is read fastest, what is new each time stays.
Result<ChosenDevice> deviceOfRun(ProgramWork work, const rt::Choices &choices,
                                 std::span<const rt::Tensor> inputs);

/// The program of a segment on the device that was chosen for it, which is on `device`; on the cpu
/// when the other one cannot run it.
Result<std::shared_ptr<rt::LoadedProgram>> programOn(Segment &segment, rt::Device &chosen,
                                                     rt::Device &device);
/// The same for a jitted function's first call, whose inputs count as being where it runs. Times
/// the devices when that was never done.
Result<std::shared_ptr<rt::LoadedProgram>> programOfCalls(Segment &segment, rt::Device &device);
/// A value where a program on `device` reads it; in host memory when it has no room there.
Result<rt::BufferRef> readyFor(const rt::BufferRef &value, rt::Device &device);
Status makeReady(std::span<rt::Tensor> inputs, rt::Device &device);
/// Results of a run become values of `device`; `use`, or null, is told of their reads.
inline void giveTo(const rt::Device &device, std::span<rt::Tensor> results,
                   const std::shared_ptr<rt::ResultUse> &use = nullptr) {
  if (rt::choicesOf(device))
    for (rt::Tensor &t : results)
      t.buffer = rt::chosenBuffer(std::move(t.buffer), use);
}

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_CHOOSE_H
