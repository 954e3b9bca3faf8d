#include "runtime/drivers/Choice.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/Drivers.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>

namespace graphc::rt {
namespace {

Setting choiceSetting{
    "GRAPHC_AUTO", "what the device \"auto\" goes by, read at its first use: timing, cpu or other",
    "timing, or cpu where the other device runs on the host's cores"};

/// Where values that the host gave were wanted, by their size: what a loop makes of a new array in
/// every turn goes the same way every time. Safe from any thread; sizes that share a place forget
/// one another.
class GivenWays {
public:
  void wentAway(int64_t bytes) {
    Way &way = wayOf(bytes);
    if (way.bytes.exchange(bytes, std::memory_order_relaxed) != bytes)
      way.times.store(0, std::memory_order_relaxed);
    way.times.fetch_add(1, std::memory_order_relaxed);
  }
  void stayed(int64_t bytes) {
    if (Way &way = wayOf(bytes); way.bytes.load(std::memory_order_relaxed) == bytes)
      way.times.store(0, std::memory_order_relaxed);
  }
  /// Whether the next one goes to the other device at once; now and then some do not, so that
  /// programs have a choice: several at a time, or those of a call would be on both devices.
  bool goesAway(int64_t bytes) {
    constexpr int kOften = 4;
    constexpr uint32_t kTogether = 4, kPeriod = 32 * kTogether;
    if (bytes < kFew)
      return false;
    Way &way = wayOf(bytes);
    return way.bytes.load(std::memory_order_relaxed) == bytes &&
           way.times.load(std::memory_order_relaxed) >= kOften &&
           way.asked.fetch_add(1, std::memory_order_relaxed) % kPeriod < kPeriod - kTogether;
  }

private:
  static constexpr int64_t kFew = int64_t{64} << 10;
  struct Way {
    std::atomic<int64_t> bytes{0};
    std::atomic<int> times{0};
    std::atomic<uint32_t> asked{0};
  };
  Way &wayOf(int64_t bytes) { return ways[std::hash<int64_t>{}(bytes / 64) % std::size(ways)]; }
  Way ways[64];
};

GivenWays givenWays;

class ChoiceBuffer final : public Buffer {
public:
  /// `given`: so many bytes by the host.
  ChoiceBuffer(BufferRef memory, std::shared_ptr<ResultUse> use, int64_t given = 0)
      : Buffer(choiceDevice(), memory->bytes(), addressOf(*memory, use != nullptr),
               memory->isPrivate()),
        use(std::move(use)), given(given) {
    size_t slot = slotOf(memory->device());
    memories[slot] = std::move(memory);
    there[slot] = true;
  }
  ~ChoiceBuffer() override {
    if (given > 0 && !there[1])
      givenWays.stayed(given);
  }
  static size_t slotOf(const Device &device) {
    return &device == choicesOf(choiceDevice())->cpu ? 0 : 1;
  }
  bool has(const Device &device) const { return there[slotOf(device)]; }
  const BufferRef *known(const Device &device) const {
    size_t slot = slotOf(device);
    return there[slot] ? &memories[slot] : nullptr;
  }
  bool hasOne() const { return !there[0] || !there[1]; }
  /// Whichever there is, that of the cpu first.
  const BufferRef &any() const { return there[0] ? memories[0] : memories[1]; }
  Result<BufferRef> on(Device &target) {
    BufferRef &wanted = memories[slotOf(target)];
    if (has(target))
      return wanted;
    std::lock_guard lock(mutex);
    if (wanted)
      return wanted;
    Buffer &from = *memories[1 - slotOf(target)];
    GRAPHC_ASSIGN(BufferRef made, target.allocate(bytes()));
    if (from.host())
      GRAPHC_TRY(target.queue().upload(*made, from.host(), bytes()));
    else
      GRAPHC_TRY(from.device().queue().download(made->host(), from, bytes()));
    if (given > 0)
      from.host() ? givenWays.wentAway(given) : givenWays.stayed(given);
    wanted = std::move(made);
    there[slotOf(target)] = true;
    return wanted;
  }

  bool isGiven() const { return given > 0; }
  bool isAlone() const { return host() && !there[1] && memories[0].use_count() == 1; }
  int64_t lost(int64_t more) const { return nanosLost.fetch_add(more) + more; }
  void *uncounted() const { return use || !there[0] ? nullptr : memories[0]->host(); }
  /// The bytes of a read of `count` that `use` was not told of; nothing where it knows.
  std::optional<int64_t> untold(int64_t count) const {
    int64_t before = told.load(std::memory_order_relaxed);
    while (use && count > before)
      if (told.compare_exchange_weak(before, count, std::memory_order_relaxed))
        return count - std::max(before, int64_t{0});
    return std::nullopt;
  }
  ResultUse *usedBy() const { return use.get(); }

private:
  /// Where the cpu's memory is read and written by whoever may look at the value: nobody counts it.
  static void *addressOf(const Buffer &memory, bool isCounted) {
    return isCounted || slotOf(memory.device()) != 0 ? nullptr : memory.host();
  }

  mutable std::mutex mutex;
  BufferRef memories[2]; ///< of the cpu, of the other device
  /// Which there are: set behind them, and none goes while the buffer lives, so that what is there
  /// is read without the lock.
  std::atomic<bool> there[2] = {};
  mutable std::atomic<int64_t> nanosLost{0};
  const std::shared_ptr<ResultUse> use;  ///< of the program that made it; or null
  mutable std::atomic<int64_t> told{-1}; ///< bytes; a wait that reads nothing is told, too
  const int64_t given;
};

ChoiceBuffer &asChoice(Buffer &buffer) { return static_cast<ChoiceBuffer &>(buffer); }
const ChoiceBuffer &asChoice(const Buffer &buffer) {
  return static_cast<const ChoiceBuffer &>(buffer);
}

/// How often the host waited for everything.
std::atomic<uint64_t> finishes{0};

/// Values come and go through the cpu's memory.
class ChoiceQueue final : public Queue {
public:
  explicit ChoiceQueue(const Choices &choices) : choices(choices) {}
  Status launch(const Launch &) override { return refused(); }
  Status copy(Buffer &destination, Buffer &source, int64_t bytes) override {
    GRAPHC_ASSIGN(BufferRef to, asChoice(destination).on(*choices.cpu));
    GRAPHC_ASSIGN(BufferRef from, asChoice(source).on(*choices.cpu));
    return choices.cpu->queue().copy(*to, *from, bytes);
  }
  Status upload(Buffer &destination, const void *source, int64_t bytes) override {
    GRAPHC_ASSIGN(BufferRef to, asChoice(destination).on(*choices.cpu));
    return choices.cpu->queue().upload(*to, source, bytes);
  }
  Status download(void *destination, Buffer &source, int64_t bytes) override {
    ReadScope scope(source, bytes);
    const BufferRef &from = asChoice(source).any();
    return from->device().queue().download(destination, *from, bytes);
  }
  Status finish() override {
    finishes.fetch_add(1, std::memory_order_relaxed);
    GRAPHC_TRY(choices.cpu->queue().finish());
    return choices.other ? choices.other->queue().finish() : Status::ok();
  }

  static Status refused() {
    return {ErrorCode::Internal, "[auto] a program was not given one of its devices"};
  }

private:
  const Choices &choices;
};

class ChoiceDevice final : public Device {
public:
  ChoiceDevice() : choices(find()), commands(choices) {
    about = choices.cpu->info();
    about.name = "auto";
    about.description = choices.other
                            ? strings::format("cpu or {}, by program", choices.other->info().name)
                            : "cpu: there is no other device";
    about.identity = "auto|" + choices.cpu->info().identity +
                     (choices.other ? "|" + choices.other->info().identity : "");
    about.hostVisible = choices.always == choices.cpu;
    about.fp64 = true;
  }
  const DeviceInfo &info() const override { return about; }
  Queue &queue() override { return commands; }
  Result<BufferRef> allocate(int64_t bytes) override {
    GRAPHC_ASSIGN(BufferRef memory, choices.cpu->allocate(bytes));
    return chosenBuffer(std::move(memory));
  }
  Result<BufferRef> wrapHost(void *address, int64_t bytes, std::shared_ptr<void> owner) override {
    GRAPHC_ASSIGN(BufferRef memory, choices.cpu->wrapHost(address, bytes, std::move(owner)));
    return chosenBuffer(std::move(memory));
  }
  Result<std::unique_ptr<Module>> load(const program::Program &) override {
    return ChoiceQueue::refused();
  }
  int64_t liveBytes() const override { return choices.cpu->liveBytes(); }
  int64_t cachedBytes() const override { return choices.cpu->cachedBytes(); }
  void releaseCached() override {
    choices.cpu->releaseCached();
    if (choices.other)
      choices.other->releaseCached();
  }

  const Choices choices;

private:
  static Choices find() {
    Choices found{findDevice("cpu").take(), nullptr, nullptr}; // the cpu is always there
    if (auto gpu = findDevice("gpu"))
      found.other = *gpu;
    // Else OpenCL on cores: what is a GPU there was passed over.
    for (const DeviceListing &d : listDevices())
      if (!found.other && d.device && d.device->info().cpuClass && d.name.starts_with("opencl"))
        found.other = d.device;
    const auto wanted = choiceSetting.get();
    if (found.other && wanted == "other")
      found.always = found.other;
    else if (!found.other || wanted == "cpu" ||
             (found.other->info().cpuClass && wanted != "timing"))
      found.always = found.cpu;
    return found;
  }
  DeviceInfo about;
  ChoiceQueue commands;
};

std::atomic<ChoiceDevice *> made{nullptr};

} // namespace

Device &choiceDevice() {
  static ChoiceDevice *device = [] {
    auto *d = new ChoiceDevice; // never destroyed, as every device
    made = d;
    return d;
  }();
  return *device;
}

const Choices *choicesOf(const Device &device) {
  ChoiceDevice *known = made.load(std::memory_order_acquire);
  return known == &device ? &known->choices : nullptr;
}

void TypicalTime::add(double nanos) {
  const int before = runs.fetch_add(1, std::memory_order_relaxed);
  if (before == 0)
    return;
  // What was in the way of a run is no part of it, as long as it is seldom.
  double known = typical.load(std::memory_order_relaxed);
  double more = std::min(nanos - known, known);
  double next = known == 0 ? nanos : known + (more < 0 ? more / 2 : more / 8);
  if (before < kFirst && known != 0)
    next = std::min(known, nanos);
  typical.store(next, std::memory_order_relaxed);
}

void ResultUse::read(int64_t bytes, int64_t nanosWaited) {
  nanosSince.fetch_add(nanosWaited, std::memory_order_relaxed);
  bytesSince.fetch_add(bytes, std::memory_order_relaxed);
  reads.fetch_add(1, std::memory_order_relaxed);
}

void ResultUse::beginRun(int runsBefore, int counted) {
  const uint64_t finished = finishes.load(std::memory_order_relaxed);
  // A read beside this may be lost: every run takes this way, and one more or less is no matter.
  auto take = [](auto &counted) {
    auto found = counted.load(std::memory_order_relaxed);
    if (found)
      counted.store(0, std::memory_order_relaxed);
    return found;
  };
  const uint64_t seen = finishesSeen.load(std::memory_order_relaxed);
  if (seen != finished)
    finishesSeen.store(finished, std::memory_order_relaxed);
  const auto each = static_cast<double>(runsBefore);
  const double read = std::min<double>(take(reads), counted); // several results of a run may be
  const auto finishedSince = static_cast<double>(finished - std::min(seen, finished));
  const double waits = std::min(read / counted + finishedSince / each, 1.0);
  const auto bytes = static_cast<double>(take(bytesSince)) / counted;
  const int64_t waited = take(nanosSince), queued = take(nanosQueued);
  if (read > 0 && queued > 0)
    answered.add(static_cast<double>(queued) + static_cast<double>(waited) / read);
  const int before = runs.load(std::memory_order_relaxed);
  // The mean of the first runs, then what the last ones were like.
  constexpr int kRemembered = 8;
  if (before < kRemembered)
    runs.store(before + 1, std::memory_order_relaxed);
  if (before == 0)
    return;
  auto follow = [&](std::atomic<double> &known, double now) {
    double last = known.load(std::memory_order_relaxed);
    known.store(last + (now - last) * std::min(1.0, each / before), std::memory_order_relaxed);
  };
  follow(waitShare, waits);
  follow(readBytes, bytes);
}

BufferRef chosenBuffer(BufferRef memory, std::shared_ptr<ResultUse> use) {
  return std::make_shared<ChoiceBuffer>(std::move(memory), std::move(use));
}

Result<BufferRef> givenBuffer(const void *source, int64_t bytes) {
  const Choices &choices = *choicesOf(choiceDevice());
  auto fill = [&](BufferRef memory) -> Result<BufferRef> {
    if (bytes > 0)
      GRAPHC_TRY(memory->device().queue().upload(*memory, source, bytes));
    return BufferRef(std::make_shared<ChoiceBuffer>(std::move(memory), nullptr, bytes));
  };
  if (choices.other && givenWays.goesAway(bytes) &&
      bytes < (choices.other->info().budgetBytes - choices.other->liveBytes()) / 8)
    if (auto memory = choices.other->allocate(bytes))
      return fill(memory.take());
  GRAPHC_ASSIGN(BufferRef memory, choices.cpu->allocate(bytes));
  return fill(std::move(memory));
}

ReadScope::ReadScope(const Buffer &value, int64_t count) {
  const Choices *choices = choicesOf(value.device());
  auto untold = choices ? asChoice(value).untold(count) : std::nullopt;
  if (!untold)
    return;
  use = asChoice(value).usedBy();
  bytes = *untold;
  if (!asChoice(value).has(*choices->cpu))
    begun = TraceSpan::now();
}

ReadScope::~ReadScope() {
  if (use)
    use->read(bytes, begun != 0 ? TraceSpan::now() - begun : 0);
}

bool isOn(const Buffer &value, const Device &device) {
  return choicesOf(value.device()) ? asChoice(value).has(device) : &value.device() == &device;
}

Result<BufferRef> memoryOn(const BufferRef &value, Device &device) {
  return choicesOf(value->device()) ? asChoice(*value).on(device) : Result<BufferRef>(value);
}

const BufferRef *memoryThere(const BufferRef &value, const Device &device) {
  if (choicesOf(value->device()))
    return asChoice(*value).known(device);
  return &value->device() == &device ? &value : nullptr;
}

int64_t lostAt(const Buffer &value, int64_t more) { return asChoice(value).lost(more); }

bool isGiven(const Buffer &value) { return asChoice(value).isGiven(); }

void *hostAddress(const Buffer &value) {
  return choicesOf(value.device()) ? asChoice(value).any()->host() : value.host();
}

void *uncountedAddress(const Buffer &value) { return asChoice(value).uncounted(); }

Device &hostDevice(const Buffer &value) {
  return choicesOf(value.device()) ? asChoice(value).any()->device() : value.device();
}

bool isAlone(const Buffer &value) {
  return !choicesOf(value.device()) || asChoice(value).isAlone();
}

bool isOnOne(const Buffer &value) { return !choicesOf(value.device()) || asChoice(value).hasOne(); }

} // namespace graphc::rt
