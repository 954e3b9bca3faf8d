#include "frontends/record/Choose.h"

#include "compiler/api/Loader.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/base/Routine.h"
#include "runtime/base/Trace.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/drivers/Drivers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>

namespace graphc {
namespace {

using Clock = std::chrono::steady_clock;
using op::OpKind;

/// An elementary function of an element, in cheap operations.
constexpr double kExpensive = 16;
/// So much less than the device that is used at present would need, before the other is chosen:
/// times are estimates, and measured ones differ from run to run.
constexpr double kWorthMoving = 0.95;
/// Both devices together take twice this, unless a driver's compiler takes longer for one kernel.
constexpr double kSecondsEach = 0.9;
/// Tiles of the product that is timed, which a driver's compiler may take too long for.
constexpr double kTimedTiles = 16;
/// Products of fewer rows or columns have no tiles; deeper ones have more than one for an element.
constexpr double kTiledSide = 32, kTiledDepth = 2048;
/// Bytes moved between memories: more than caches hold, as arrays have that are worth moving; where
/// there is less room, fewer.
constexpr int64_t kMoved = int64_t{128} << 20, kLeastMoved = int64_t{1} << 20;
/// Nanoseconds of a run that one sample is enough of when time is short.
constexpr double kLongRun = 5e6;
/// So many times as long a run may take there besides the way: by estimate, and by what was
/// measured.
constexpr double kFirstLoss = 4, kTrialLoss = 2;
/// Runs that read a value before it counts as one that stays.
constexpr double kReadOften = 8;
/// A program that is believed to take less on the host is tried there.
constexpr double kTriedNanos = 1e5;
/// Programs on less than this run on the cpu; those that run again and again, when they compute
/// less than so many operations, which take it some ten microseconds.
constexpr int64_t kAlwaysHost = 32 << 10;
constexpr double kMuchComputed = 1e6;

double nanosSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// Times small programs on one device; what does not fit into the time is estimated from the rest.
class Timing {
public:
  explicit Timing(rt::Device &device) : device(device) {}

  Result<DeviceSpeed> run() {
    DeviceSpeed speed;
    speed.tiles = !device.info().cpuClass;
    // Programs that follow each other do not wait for each other's results.
    GRAPHC_ASSIGN(speed.launchNanos, map(8, 1, 16));
    constexpr int64_t kWide = int64_t{1} << 22;
    GRAPHC_ASSIGN(double wide, map(kWide, 1));
    speed.bytes = 8.0 * kWide / std::max(wide - speed.launchNanos, 1.0);
    GRAPHC_ASSIGN(double costly, map(kWide / 4, 8));
    speed.operations = 8 * kExpensive * kWide / 4 / std::max(costly - speed.launchNanos, 1.0);
    GRAPHC_TRY(transfers(speed));
    GRAPHC_ASSIGN(double answered, answer());
    speed.answerNanos = std::max(0.0, answered - speed.launchNanos);
    // With a tile a processor.
    double busy = speed.tiles != 0 ? std::min(1.0, kTimedTiles / device.info().threads) : 1.0;
    speed.products = 4 * busy * speed.operations;
    if (nanosSince(begun) < kSecondsEach * 5e8) {
      constexpr int64_t kSide = 512;
      static_assert(kSide * kSide == kTimedProduct);
      GRAPHC_ASSIGN(double product, multiply(kSide));
      speed.products = 2 * kTimedProduct * kSide / std::max(product - speed.launchNanos, 1.0);
    }
    if (nanosSince(begun) < kSecondsEach * 7e8) {
      GRAPHC_ASSIGN(double scan, runningSum(kTimedScan));
      speed.scans = kTimedScan / std::max(scan - speed.launchNanos, 1.0);
    }
    return speed;
  }

private:
  Result<NodeRef> ones(const Shape &shape) {
    GRAPHC_ASSIGN(NodeRef one, node::scalar(op::Scalar::ofFloat(0.5), DType::Float32, device));
    GRAPHC_ASSIGN(NodeRef x, node::broadcast(one, shape));
    GRAPHC_TRY(computeNow({&x, 1}, device));
    return x;
  }
  /// The best of a few runs after one that compiles, which may have taken all the time there is;
  /// `together`: so many are waited for at once, by `wait`.
  template <typename Make, typename Wait>
  Result<double> best(Make make, int together, Wait wait) {
    double found = 0;
    for (int i = 0; i < 6; ++i) {
      std::vector<NodeRef> values(static_cast<size_t>(together));
      for (NodeRef &y : values) {
        GRAPHC_ASSIGN(y, make());
      }
      auto start = Clock::now();
      for (NodeRef &y : values)
        GRAPHC_TRY(computeNow({&y, 1}, device));
      GRAPHC_TRY(wait(*values.back()));
      double nanos = nanosSince(start) / together;
      found = i <= 1 ? nanos : std::min(found, nanos);
      if (i > 0 && (i > 3 || nanos > kLongRun) && nanosSince(begun) > kSecondsEach * 1e9)
        break;
    }
    return found;
  }
  template <typename Make>
  Result<double> best(Make make, int together = 4) {
    return best(make, together, [&](const Node &) { return device.queue().finish(); });
  }
  Result<double> map(int64_t count, int depth, int together = 4) {
    GRAPHC_ASSIGN(NodeRef x, ones(Shape{count}));
    auto make = [&]() -> Result<NodeRef> {
      NodeRef y = x;
      for (int i = 0; i < depth; ++i) {
        GRAPHC_ASSIGN(y,
                      node::make(depth > 1 ? OpKind::Sin : OpKind::Neg, {&y, 1}, {}, {}, device));
      }
      return y;
    };
    return best(make, together);
  }
  /// A program whose result the host reads before anything else.
  Result<double> answer() {
    GRAPHC_ASSIGN(NodeRef x, ones(Shape{8}));
    std::array<float, 8> read{};
    return best([&] { return node::make(OpKind::Neg, {&x, 1}, {}, {}, device); }, 1,
                [&](const Node &y) {
                  return device.queue().download(read.data(), *y.buffer(), y.bytes());
                });
  }
  Result<double> runningSum(int64_t count) {
    GRAPHC_ASSIGN(NodeRef x, ones(Shape{count}));
    return best([&] { return node::scan(op::ReduceKind::Sum, x, 0); });
  }
  Result<double> multiply(int64_t side) {
    GRAPHC_ASSIGN(NodeRef x, ones(Shape{side, side}));
    NodeRef both[] = {x, x};
    return best(
        [&] { return node::make(OpKind::Matmul, both, op::MatmulAttrs{}.encode(), {}, device); });
  }
  Status move(int64_t bytes, DeviceSpeed &speed) {
    GRAPHC_ASSIGN(rt::BufferRef buffer, device.allocate(bytes));
    std::vector<char> host(static_cast<size_t>(bytes), 1);
    const auto moved = static_cast<double>(bytes);
    for (int i = 0; i < 4; ++i) {
      auto start = Clock::now();
      GRAPHC_TRY(device.queue().upload(*buffer, host.data(), bytes));
      GRAPHC_TRY(device.queue().finish());
      speed.up = std::max(speed.up, moved / std::max(nanosSince(start), 1.0));
      start = Clock::now();
      GRAPHC_TRY(device.queue().download(host.data(), *buffer, bytes));
      speed.down = std::max(speed.down, moved / std::max(nanosSince(start), 1.0));
    }
    return Status::ok();
  }
  Status transfers(DeviceSpeed &speed) {
    constexpr int64_t kFew = 4096;
    // A driver may find out with the first upload only that there is no room.
    Status moves = move(kMoved, speed);
    for (int64_t bytes = kMoved / 2; !moves && bytes >= kLeastMoved; bytes /= 2)
      moves = move(bytes, speed);
    GRAPHC_TRY(std::move(moves));
    GRAPHC_ASSIGN(rt::BufferRef buffer, device.allocate(kFew));
    std::vector<char> host(kFew, 1);
    for (int i = 0; i < 4; ++i) {
      auto start = Clock::now();
      GRAPHC_TRY(device.queue().upload(*buffer, host.data(), kFew));
      GRAPHC_TRY(device.queue().finish());
      GRAPHC_TRY(device.queue().download(host.data(), *buffer, kFew));
      speed.wayNanos = std::min(i == 0 ? 1e9 : speed.wayNanos, nanosSince(start));
    }
    return Status::ok();
  }

  rt::Device &device;
  Clock::time_point begun = Clock::now();
};

/// The speeds that are known, newest first; used until the process ends.
struct KnownSpeed {
  rt::Device *device;
  DeviceSpeed speed;
  const KnownSpeed *next;
};
std::atomic<const KnownSpeed *> knownSpeeds{nullptr};

const DeviceSpeed *knownSpeed(const rt::Device &device) {
  for (const KnownSpeed *k = knownSpeeds.load(std::memory_order_acquire); k; k = k->next)
    if (k->device == &device)
      return &k->speed;
  return nullptr;
}

double elements(std::span<const int64_t> shape, const std::vector<int64_t> &symbols) {
  double count = 1;
  for (int64_t size : shape)
    count *= static_cast<double>(op::isSymbol(size) ? symbols[op::symbolOf(size)] : size);
  return count;
}

bool isExpensive(OpKind kind) {
  const op::OpInfo &info = op::opInfo(kind);
  return info.category == op::Category::Elementwise &&
         (!info.ulpF32.empty() || kind == OpKind::Div || kind == OpKind::Pow ||
          kind == OpKind::Remainder || kind == OpKind::FloorDivide ||
          info.operandDTypes == op::DTypeClass::Random);
}

/// Whether a reduction is one of the last of several axes alone.
bool isOfRows(const op::NodeDesc &reduction, size_t rank) {
  op::ReduceAttrs attrs;
  return rank > 1 && attrs.decode(reduction.attrs) && attrs.axes.size() == 1 &&
         attrs.axes[0] == static_cast<int64_t>(rank) - 1;
}

} // namespace

Result<const DeviceSpeed *> speedOf(rt::Device &device) {
  if (const DeviceSpeed *speed = knownSpeed(device))
    return speed;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (const DeviceSpeed *speed = knownSpeed(device))
    return speed;
  std::string key = "graphc device speed 8|" + device.info().identity + "|" +
                    device.info().features + "|" + std::string(compilerBuildId());
  std::span<const uint8_t> keyBytes(reinterpret_cast<const uint8_t *>(key.data()), key.size());
  rt::DiskCache &disk = rt::DiskCache::instance();
  DeviceSpeed speed;
  if (auto stored = disk.find(keyBytes); stored && stored->size() == sizeof speed) {
    std::memcpy(&speed, stored->data(), sizeof speed);
  } else {
    TraceSpan span("record", "time a device");
    GRAPHC_ASSIGN(speed, Timing(device).run());
    disk.store(keyBytes, {reinterpret_cast<const uint8_t *>(&speed), sizeof speed},
               "speed of " + device.info().name);
  }
  auto *known = new KnownSpeed{&device, speed, knownSpeeds.load(std::memory_order_relaxed)};
  knownSpeeds.store(known, std::memory_order_release);
  return &known->speed;
}

double timeOnHost(const ProgramWork &work, const DeviceSpeed &host, const DeviceSpeed &other) {
  if (work.hostNanos > 0)
    return work.hostNanos + work.onOtherOnly / other.down;
  return work.kernels * host.launchNanos + work.onOtherOnly / other.down +
         std::max(work.bytes / host.bytes, work.operations / host.operations) +
         work.products / host.products + work.scans / host.scans + work.sortNanos;
}

double timeOnOther(const ProgramWork &work, const DeviceSpeed &other) {
  double way = work.onHostOnly > 0 ? other.wayNanos + work.onHostOnly / other.up : 0;
  if (work.answerNanos > 0)
    return way + work.answerNanos;
  if (work.queuedNanos > 0)
    return way + work.queuedNanos + work.waits * other.answerNanos + work.read / other.down;
  return way + work.kernels * other.launchNanos + work.waits * other.answerNanos +
         work.read / other.down +
         std::max(work.bytes / other.bytes, work.operations / other.operations) +
         (other.tiles != 0 ? work.tiledProducts : work.products) / other.products +
         work.scans / other.scans;
}

ProgramWork hopeful(ProgramWork work, const DeviceSpeed &host, const DeviceSpeed &other) {
  // Times what a run takes that is not. The first runs on the host meet threads that sleep, and are
  // all that is known of it until one of its trials is timed.
  constexpr double kDisturbed = 2, kFirstRuns = 16;
  ProgramWork expected = work;
  expected.hostNanos = expected.answerNanos = expected.queuedNanos = 0;
  expected.onHostOnly = expected.onOtherOnly = 0;
  auto hope = [&](double &measured, double estimate, double disturbed = kDisturbed) {
    if (measured > 0)
      measured = std::min(measured, std::max(estimate, measured / disturbed));
  };
  hope(work.hostNanos, timeOnHost(expected, host, other),
       work.hostPeriod > 0 ? kDisturbed : kFirstRuns);
  hope(work.answerNanos, timeOnOther(expected, other));
  hope(work.queuedNanos, timeOnOther(expected, other));
  return work;
}

static ProgramWork onceMoved(ProgramWork work) {
  work.onHostOnly = 0;
  return work;
}

/// A run on the host with the copies of what it is given, which are within its period.
static double timeWithCopies(const ProgramWork &work, const DeviceSpeed &host,
                             const DeviceSpeed &other) {
  const double run = timeOnHost(work, host, other);
  return work.givenHere > 0 ? std::max(run + work.givenHere / host.up, work.hostPeriod) : run;
}

bool isWorthTrying(const ProgramWork &work, bool isOnOther, const DeviceSpeed &host,
                   const DeviceSpeed &other) {
  if (!work.isTrial || (isOnOther && work.onOtherOnly > work.givenThere))
    return false;
  ProgramWork hoped = hopeful(work, host, other);
  hoped.onOtherOnly = 0;
  const double here = isOnOther ? timeOnOther(work, other) : timeWithCopies(work, host, other);
  const double there =
      isOnOther ? timeOnHost(hoped, host, other) : timeOnOther(onceMoved(hoped), other);
  const double way = isOnOther ? 0 : timeOnOther(hoped, other) - there;
  const bool isKnown = isOnOther ? work.isHostTimed : work.answerNanos + work.queuedNanos > 0;
  // Where a run was timed, there is code.
  return (isKnown || work.run * here > work.trialAfter) && way < here &&
         there < (isKnown ? kTrialLoss : kFirstLoss) * here;
}

std::optional<bool> betterOnOther(const ProgramWork &work) {
  if (work.hostPeriod == 0 || work.otherPeriod == 0 || work.onOtherOnly > work.givenThere)
    return std::nullopt;
  return work.isOnOther ? work.otherPeriod * kWorthMoving < work.hostPeriod
                        : work.otherPeriod < kWorthMoving * work.hostPeriod;
}

bool runsOnOther(const ProgramWork &work, const DeviceSpeed &host, const DeviceSpeed &other,
                 double lost) {
  double there = timeOnOther(onceMoved(work), other);
  double way = timeOnOther(work, other) - there;
  return there + std::max(0.0, way - lost) < kWorthMoving * timeOnHost(work, host, other);
}

bool comesBack(const ProgramWork &work, std::span<const rt::Tensor> inputs,
               const rt::Choices &choices, const DeviceSpeed &host, const DeviceSpeed &other) {
  ProgramWork back = work;
  back.onOtherOnly = 0;
  const double lost = timeOnOther(work, other) - timeOnHost(back, host, other) / kWorthMoving;
  if (work.isTrial || work.onOtherOnly == 0 || lost <= 0)
    return false;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const rt::Tensor &input : inputs)
    if (!rt::isOn(*input.buffer, *choices.cpu))
      least = std::min(
          least, rt::lostAt(*input.buffer, work.runsSince * static_cast<int64_t>(std::ceil(lost))));
  return static_cast<double>(least) >= work.onOtherOnly / other.down;
}

/// Of inputs, of which slices and gathers read what they give.
static double bytesRead(const op::GraphDesc &graph, const std::vector<int64_t> &symbols) {
  std::vector<double> read(graph.inputs.size(), 0);
  for (const op::NodeDesc &node : graph.nodes)
    for (size_t i = 0; i < node.operands.size(); ++i)
      if (uint32_t input = node.operands[i]; input < read.size()) {
        const bool isPart = node.kind == OpKind::Slice || (node.kind == OpKind::Gather && i == 0);
        const double all = elements(graph.inputs[input].shape, symbols);
        read[input] = std::min(all, read[input] + (isPart ? elements(node.shape, symbols) : all));
      }
  double bytes = 0;
  for (size_t i = 0; i < read.size(); ++i)
    bytes += read[i] * static_cast<double>(itemSize(graph.inputs[i].dtype));
  return bytes;
}

/// What the host takes to sort lines of so many elements, measured with 16 cores: all of them work
/// on most of a long line.
static double nanosOfSort(Routine routine, double keys, double all, double line) {
  constexpr double kFew = 10'000;
  const double steps = std::log2(std::max(line, 2.0));
  auto nanos = [&](double each, double more) {
    return steps * (each * all + more * std::min(all, kFew));
  };
  switch (routine) {
  case Routine::Sort:
    return nanos(0.08, 0.54);
  case Routine::Argsort:
    return nanos(0.23, 0.9);
  case Routine::Lexsort:
    return keys * nanos(0.7, 1.3);
  default: // searches compare little
    return 0;
  }
}

/// Sorts read and write all in passes that double sorted runs.
static void addSort(ProgramWork &work, Routine routine, double keys, DType dtype, double all,
                    double line) {
  constexpr double kPasses = 3, kTile = 2048; // besides one for each doubling of a tile
  const double doublings = std::max(0.0, std::ceil(std::log2(line / kTile)));
  work.bytes += keys * (kPasses + doublings) * 2 * all * static_cast<double>(itemSize(dtype));
  work.kernels += keys * 2 * doublings;
  work.sortNanos += nanosOfSort(routine, keys, all, line);
}

/// A library step over values of `shape`, and with an operand of `second` behind them.
static void addLibrary(ProgramWork &work, const op::NodeDesc &step, DType dtype,
                       std::span<const int64_t> shape, std::span<const int64_t> second,
                       const std::vector<int64_t> &symbols) {
  op::LibraryAttrs attrs;
  if (!attrs.decode(step.attrs) || !hasGroupKernels(static_cast<Routine>(attrs.routine)) ||
      isComplex(dtype)) {
    work.needsHost = true;
    return;
  }
  work.needsGroups = true;
  const auto routine = static_cast<Routine>(attrs.routine);
  if (routine == Routine::Correlate) {
    const double factors = elements(second, symbols), sums = elements(step.shape, symbols);
    work.products += 2 * sums * factors;
    work.tiledProducts += 2 * std::max(sums, kTimedProduct) * factors;
    return;
  }
  addSort(work, routine, static_cast<double>(step.operands.size()), dtype, elements(shape, symbols),
          elements(shape.last(std::min<size_t>(1, shape.size())), symbols));
}

ProgramWork workOf(const Segment &segment) {
  op::GraphDesc graph = segment.graph(false);
  ProgramWork work;
  work.bytes = bytesRead(graph, segment.symbols);
  auto shapeOf = [&](uint32_t value) -> std::span<const int64_t> {
    return value < graph.inputs.size() ? std::span<const int64_t>(graph.inputs[value].shape)
                                       : graph.nodes[value - graph.inputs.size()].shape;
  };
  std::vector<std::span<const int64_t>> rowsSeen; // one kernel visits its rows several times
  int passes = 0;
  for (const op::NodeDesc &node : graph.nodes) {
    op::Category category = op::opInfo(node.kind).category;
    double count = elements(node.shape, segment.symbols);
    if (category == op::Category::Elementwise)
      work.operations += count * (isExpensive(node.kind) ? kExpensive : 1);
    else if (category == op::Category::Reduction || category == op::Category::Scan)
      work.operations += elements(shapeOf(node.operands[0]), segment.symbols);
    else if (category == op::Category::Contraction) {
      std::span<const int64_t> shape = node.shape;
      auto length = [&](size_t fromEnd) {
        return shape.size() < fromEnd ? 1 : elements(shape.last(fromEnd).first(1), segment.symbols);
      };
      double depth = elements(shapeOf(node.operands[0]).last(1), segment.symbols);
      bool tiled = std::min(length(1), length(2)) >= kTiledSide;
      work.products += 2 * count * depth;
      work.tiledProducts +=
          2 * std::max(count * depth, tiled ? kTimedProduct * std::min(depth, kTiledDepth) : 0);
    }
    work.scans += category == op::Category::Scan ? count : 0;
    bool isPass = category == op::Category::Reduction || category == op::Category::Scan ||
                  category == op::Category::Contraction || category == op::Category::Indexed ||
                  category == op::Category::Library;
    if (node.kind == OpKind::Reduce && isOfRows(node, shapeOf(node.operands[0]).size())) {
      std::span<const int64_t> rows = shapeOf(node.operands[0]);
      isPass =
          std::ranges::none_of(rowsSeen, [&](auto seen) { return std::ranges::equal(seen, rows); });
      rowsSeen.push_back(rows);
    }
    passes += isPass;
    if (category == op::Category::Library) {
      const uint32_t key = node.operands[0];
      const DType dtype = key < graph.inputs.size() ? graph.inputs[key].dtype
                                                    : graph.nodes[key - graph.inputs.size()].dtype;
      addLibrary(work, node, dtype, shapeOf(key), shapeOf(node.operands.back()), segment.symbols);
    }
  }
  for (uint32_t value : graph.outputs)
    work.bytes += 4 * elements(shapeOf(value), segment.symbols);
  work.kernels += std::max(0, passes - 1); // there is one, and what sorts have
  return work;
}

namespace {

bool isSmall(const Segment &segment) {
  int64_t bytes = 0;
  for (const std::vector<NodeRef> *list : {&segment.inputs, &segment.outputs})
    for (const NodeRef &n : *list)
      bytes += n->bytes();
  return bytes < kAlwaysHost;
}

/// The device that a setting, the size or what there is chooses; null when times do.
rt::Device *alwaysOn(const rt::Choices &choices, bool isLittle) {
  if (!choices.other || isLittle)
    return choices.cpu;
  return choices.always;
}

/// Whether the other device has no kernels for a library step.
bool isForHost(const ProgramWork &work, const rt::Choices &choices) {
  return work.needsHost || (work.needsGroups && choices.other && choices.other->info().cpuClass);
}

} // namespace

Result<ChosenDevice> deviceOfRun(ProgramWork work, const rt::Choices &choices,
                                 std::span<const rt::Tensor> inputs) {
  if (isForHost(work, choices))
    return ChosenDevice{choices.cpu};
  GRAPHC_ASSIGN(const DeviceSpeed *host, speedOf(*choices.cpu));
  auto other = speedOf(*choices.other);
  if (!other) // one that cannot be timed cannot be used
    return ChosenDevice{choices.cpu};
  // However little is to be done there.
  if (!work.isTrial && work.queuedNanos == 0 &&
      kWorthMoving * timeOnHost(work, *host, **other) <
          (*other)->launchNanos + work.waits * (*other)->answerNanos &&
      std::ranges::all_of(inputs,
                          [&](const rt::Tensor &t) { return rt::isOn(*t.buffer, *choices.cpu); }))
    return ChosenDevice{choices.cpu};
  std::vector<const rt::Buffer *> away;
  int64_t lost = std::numeric_limits<int64_t>::max();
  for (const rt::Tensor &input : inputs) {
    auto bytes = static_cast<double>(input.buffer->bytes());
    if (!rt::isOn(*input.buffer, *choices.cpu)) {
      work.onOtherOnly += bytes;
      work.givenThere += rt::isGiven(*input.buffer) ? bytes : 0;
    }
    if (rt::isOn(*input.buffer, *choices.other))
      continue;
    work.onHostOnly += bytes;
    work.givenHere += rt::isGiven(*input.buffer) ? bytes : 0;
    away.push_back(input.buffer.get());
    lost = std::min(lost, rt::lostAt(*input.buffer, 0));
  }
  if (!work.isHostTimed && work.onOtherOnly == 0 && timeOnHost(work, *host, **other) < kTriedNanos)
    return ChosenDevice{choices.cpu};
  const bool isOnOther =
      betterOnOther(work).value_or(runsOnOther(work, *host, **other, static_cast<double>(lost)));
  // What queued runs take there is known by trials only, which take turns with those of the host.
  if (isOnOther && work.isTrial && work.waits <= kWaitsMostly &&
      (work.queuedNanos == 0 || work.trial % 2 == 0))
    return ChosenDevice{choices.other, true};
  if (isWorthTrying(lost < kReadOften ? work : onceMoved(work), isOnOther, *host, **other))
    return ChosenDevice{isOnOther ? choices.cpu : choices.other, true};
  if (isOnOther)
    return ChosenDevice{comesBack(work, inputs, choices, *host, **other) ? choices.cpu
                                                                         : choices.other};
  double more = timeOnHost(work, *host, **other) - timeOnOther(onceMoved(work), **other);
  for (const rt::Buffer *input : away)
    rt::lostAt(*input, work.runsSince * std::max(int64_t{1}, static_cast<int64_t>(more)));
  return ChosenDevice{choices.cpu};
}

std::optional<ProgramWork> workOfRuns(const Segment &segment, rt::Device &device) {
  const rt::Choices *choices = rt::choicesOf(device);
  if (!choices)
    return std::nullopt;
  ProgramWork work = workOf(segment);
  const bool isLittle = isSmall(segment) && work.operations + work.products < kMuchComputed;
  return isForHost(work, *choices) || alwaysOn(*choices, isLittle) ? std::nullopt
                                                                   : std::optional(work);
}

rt::Device *fixedDevice(const Segment &segment, rt::Device &device) {
  const rt::Choices *choices = rt::choicesOf(device);
  return choices ? alwaysOn(*choices, isSmall(segment)) : &device;
}

Result<std::shared_ptr<rt::LoadedProgram>> programOn(Segment &segment, rt::Device &chosen,
                                                     rt::Device &device) {
  auto program = programFor(segment, chosen);
  const rt::Choices *choices = rt::choicesOf(device);
  return program || !choices || &chosen == choices->cpu ? std::move(program)
                                                        : programFor(segment, *choices->cpu);
}

Result<std::shared_ptr<rt::LoadedProgram>> programOfCalls(Segment &segment, rt::Device &device) {
  rt::Device *chosen = fixedDevice(segment, device);
  if (!chosen) {
    GRAPHC_ASSIGN(ChosenDevice found, deviceOfRun(workOf(segment), *rt::choicesOf(device), {}));
    chosen = found.device;
  }
  return programOn(segment, *chosen, device);
}

Result<rt::BufferRef> readyFor(const rt::BufferRef &value, rt::Device &device) {
  auto there = rt::memoryOn(value, device);
  if (there || there.status().code() != ErrorCode::OutOfMemory)
    return there;
  GRAPHC_ASSIGN(rt::Device * cpu, rt::findDevice("cpu"));
  return rt::memoryOn(value, *cpu);
}

Status makeReady(std::span<rt::Tensor> inputs, rt::Device &device) {
  for (rt::Tensor &input : inputs) {
    if (const rt::BufferRef *there = rt::memoryThere(input.buffer, device)) {
      rt::BufferRef memory = *there; // the value may go with its last reference
      input.buffer = std::move(memory);
      continue;
    }
    GRAPHC_ASSIGN(input.buffer, readyFor(input.buffer, device));
  }
  return Status::ok();
}

} // namespace graphc
