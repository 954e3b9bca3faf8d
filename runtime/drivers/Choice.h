//===- Choice.h - The device "auto": the cpu and one other, chosen by program -----------------===//
//
// A value of this device is in the memory of one of the two, or of both: what a program on the
// other one reads is copied there once and stays. Programs are loaded on one of the two, never on
// this.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CHOICE_H
#define GRAPHC_RUNTIME_DRIVERS_CHOICE_H

#include "runtime/device/Device.h"

#include <atomic>
#include <memory>

namespace graphc::rt {

/// The devices that "auto" chooses from.
struct Choices {
  Device *cpu;
  Device *other; ///< the first GPU, else the first OpenCL device; null when there is none
  /// Where programs of any size run for good: by a setting (GRAPHC_AUTO), or because the other
  /// device is the host's own cores. Null when times decide.
  Device *always;
};

/// The device itself, made at the first use; it never fails.
Device &choiceDevice();
/// Null for every other device.
const Choices *choicesOf(const Device &device);

/// What the runs of a program take on one device. Safe from any thread.
class TypicalTime {
public:
  void add(double nanos);
  /// Not of the first runs, one of which meets pages and code for the first time and any of which
  /// may meet threads that sleep.
  bool isKnown() const { return runs.load(std::memory_order_relaxed) >= kFirst; }
  double nanos() const { return isKnown() ? typical.load(std::memory_order_relaxed) : 0; }

private:
  static constexpr int kFirst = 4;
  std::atomic<int> runs{0};
  std::atomic<double> typical{0};
};

/// Whether the host waits for what a program computes, run by run, how much of it it reads, and
/// what that takes where the runs are on the other device. Safe from any thread; runs at the same
/// time may count one another's.
class ResultUse {
public:
  /// A run on the other device, until it was queued.
  void queued(int64_t nanos) { nanosQueued.store(nanos, std::memory_order_relaxed); }
  void read(int64_t bytes, int64_t nanosWaited);
  /// Before a run: what became of the results of so many before it is known, or of `counted` of
  /// them, which stand for all.
  void beginRun(int runsBefore, int counted);
  void beginRun(int runsBefore = 1) { beginRun(runsBefore, runsBefore); }
  double waits() const { return waitShare.load(std::memory_order_relaxed); } ///< of a run
  double bytes() const { return readBytes.load(std::memory_order_relaxed); } ///< of a run
  /// Nanoseconds of the host for a run on the other device whose results it reads; 0: not known.
  double answerNanos() const { return answered.nanos(); }

private:
  TypicalTime answered;
  std::atomic<int64_t> nanosQueued{0}, nanosSince{0}, bytesSince{0};
  std::atomic<uint32_t> reads{0};
  std::atomic<uint64_t> finishesSeen{0};
  std::atomic<int> runs{0};
  std::atomic<double> waitShare{0}, readBytes{0};
};

/// A value of "auto" that is in `memory`, of one of the two devices; `use`, when given, is told
/// when the host reads it.
BufferRef chosenBuffer(BufferRef memory, std::shared_ptr<ResultUse> use = nullptr);
/// A value of "auto" with bytes of the host, which may change after the return: in memory of the
/// cpu, or of the other device where the last ones of this size went.
Result<BufferRef> givenBuffer(const void *source, int64_t bytes);
/// While the host waits for a value and reads its first `count` bytes: the program that made it is
/// told what it was not told before.
class ReadScope {
public:
  ReadScope(const Buffer &value, int64_t count);
  ~ReadScope();
  ReadScope(const ReadScope &) = delete;
  ReadScope &operator=(const ReadScope &) = delete;

private:
  ResultUse *use = nullptr;
  int64_t bytes = 0, begun = 0;
};
/// Where a value is: `memory` itself on other devices.
bool isOn(const Buffer &value, const Device &device);
/// Its memory on a device, copied there when needed. OutOfMemory and errors of queues.
Result<BufferRef> memoryOn(const BufferRef &value, Device &device);
/// The same where it has memory there already, for as long as the value lives; else null.
const BufferRef *memoryThere(const BufferRef &value, const Device &device);
/// Whether the host gave its bytes, and would give those of the next one to whichever device needs
/// them. A value of "auto".
bool isGiven(const Buffer &value);
/// Whether nothing but the value itself has its memory, so that who has the value alone may write
/// there: of "auto", only what is on the cpu, in no program's hands and not copied to the other
/// device; true of other devices' values.
bool isAlone(const Buffer &value);
/// Whether it has memory on one device only.
bool isOnOne(const Buffer &value);
/// Adds to the nanoseconds that programs lost because the value was on one device only, one for a
/// run that lost nothing, and gives their sum. A value of "auto".
int64_t lostAt(const Buffer &value, int64_t more);
/// Address on the host, or null, as Buffer::host(); of a value of "auto" that of its memory there.
void *hostAddress(const Buffer &value);
/// The same of a value of "auto" on the cpu whose reads nobody is told; else null.
void *uncountedAddress(const Buffer &value);
/// The device of that memory: work on the other one is no matter.
Device &hostDevice(const Buffer &value);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DRIVERS_CHOICE_H
