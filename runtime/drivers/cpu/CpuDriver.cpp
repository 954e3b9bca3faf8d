//===- CpuDriver.cpp - The cpu device ---------------------------------------------------------===//
#include "runtime/drivers/cpu/CpuDriver.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/device/MemoryLimit.h"
#include "runtime/drivers/HostCopy.h"
#include "runtime/drivers/cpu/CodeImage.h"
#include "runtime/drivers/cpu/CpuFeatures.h"
#include "runtime/drivers/cpu/FloatMode.h"
#include "runtime/drivers/cpu/HostMemory.h"
#include "runtime/drivers/cpu/Scratch.h"
#include "runtime/drivers/cpu/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sched.h>

namespace graphc::rt::cpu {
namespace {

using KernelFunction = void (*)(void *const *buffers, const int64_t *sizes, int64_t begin,
                                int64_t end, void *scratch);

/// Below this much estimated work a launch stays on the caller: handing a chunk to a spinning
/// worker and waiting for it costs about as much.
constexpr double kBreakEvenNanos = 3000;
/// Waking a worker and getting a piece from it takes longer than half of this.
constexpr double kShortNanos = 30'000;
constexpr int kChunksPerThread = 4;
/// Every piece of a matrix product copies the operand of its columns for itself, which is little
/// beside this many of its items.
constexpr int64_t kItemsPerChunkOfProduct = 512;

class PoolBuffer final : public Buffer {
public:
  PoolBuffer(Device &device, BufferPool &pool, Block block)
      : Buffer(device, block.bytes, block.handle), pool(pool) {}
  ~PoolBuffer() override { pool.put({host(), bytes()}); }

private:
  BufferPool &pool;
};

class WrappedBuffer final : public Buffer {
public:
  WrappedBuffer(Device &device, void *address, int64_t bytes, std::shared_ptr<void> owner)
      : Buffer(device, bytes, address, false), owner(std::move(owner)) {}

private:
  std::shared_ptr<void> owner;
};

class CpuModule final : public Module {
public:
  struct Kernel {
    KernelFunction function;
    int64_t grain;
    int64_t piece; ///< items of each, or 1: as many as suit the work
    bool isProduct;
    double costPerItem;
    std::string name;
  };
  CpuModule(CodeImage image, const program::Program &program) : image(std::move(image)) {
    for (const program::KernelRecord &k : program.kernels())
      kernels.push_back(
          {reinterpret_cast<KernelFunction>(const_cast<uint8_t *>(this->image.base() + k.entry)),
           k.grain, k.itemsPerThread,
           k.family == static_cast<uint32_t>(program::KernelFamily::Contract), k.costPerItem,
           std::string(program.text(k.name))});
  }

  CodeImage image;
  std::vector<Kernel> kernels;
};

/// What the steps of a tile pass on to each other.
thread_local Scratch threadLocals;

/// What the pieces of one launch share.
struct Context {
  KernelFunction function;
  void *const *buffers;
  const int64_t *sizes;
  int64_t scratchBytes;
  bool waits; ///< pieces for those before them

  /// False, and nothing has been done, when there is no scratch memory. The pool has got it for its
  /// threads: a piece that did nothing would have those that wait for it wait for ever.
  // Generated code carries no type hash for the sanitizer to read in front of it.
  __attribute__((no_sanitize("function"))) bool run(int64_t begin, int64_t end) const {
    void *scratch = nullptr;
    if (scratchBytes > 0 && !(scratch = Scratch::ofThread().get(scratchBytes)))
      return false;
    if (waits)
      *static_cast<void (**)()>(scratch) = [] { sched_yield(); };
    function(buffers, sizes, begin, end, scratch);
    return true;
  }

  /// What large launches wrote past the caches is not ordered with the signal that a piece is done.
  static void orderStores() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
  }
};

/// What the pieces of one tile launch share.
class TileContext {
public:
  explicit TileContext(const TileLaunch &tile) : tile(tile) {
    for (int64_t rowBytes : tile.locals) {
      offsets.push_back(localBytes);
      localBytes += (tile.tileRows * rowBytes + kLine - 1) / kLine * kLine;
    }
    for (const TileLaunch::Step &step : tile.steps)
      operands += step.operands.size();
  }

  /// Takes rows through all steps, so many at a time. A pool without workers passes all of them.
  void run(int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += tile.tileRows)
      runRows(row, std::min(end, row + tile.tileRows));
  }

  /// Estimated, on one core.
  double nanos() const {
    double sum = 0;
    for (const TileLaunch::Step &step : tile.steps)
      sum += static_cast<double>(tile.rows) * static_cast<double>(step.items) /
             static_cast<double>(step.rows) * static_cast<double>(step.work) *
             static_cast<CpuModule *>(tile.module)->kernels[step.kernel].costPerItem;
    return sum;
  }

  std::atomic<int64_t> failed{0}; ///< bytes that a worker could not get

private:
  static constexpr int64_t kLine = 64;

  void runRows(int64_t begin, int64_t end) {
    auto *locals = static_cast<char *>(threadLocals.get(localBytes));
    if (localBytes > 0 && !locals) {
      failed.store(localBytes, std::memory_order_relaxed);
      return;
    }
    thread_local std::vector<void *> addresses;
    addresses.resize(operands);
    auto *module = static_cast<CpuModule *>(tile.module);
    for (const TileLaunch::Step &step : tile.steps) {
      for (size_t i = 0; i < step.operands.size(); ++i)
        addresses[i] = addressOf(step.operands[i], locals, begin);
      const CpuModule::Kernel &kernel = module->kernels[step.kernel];
      Context context{kernel.function, addresses.data(), step.sizes.data(), step.scratchBytes,
                      kernel.piece > 1};
      if (!context.run(begin / step.rows * step.items,
                       (end + step.rows - 1) / step.rows * step.items))
        failed.store(step.scratchBytes, std::memory_order_relaxed);
    }
  }

  /// Kernels count rows from the first one of all, so a local's address lies as far before it.
  void *addressOf(const TileLaunch::Operand &operand, char *locals, int64_t begin) const {
    if (operand.buffer)
      return operand.buffer->host();
    auto address = reinterpret_cast<uintptr_t>(locals + offsets[operand.local]);
    return reinterpret_cast<void *>(address -
                                    static_cast<uintptr_t>(begin * tile.locals[operand.local]));
  }

  const TileLaunch &tile;
  std::vector<int64_t> offsets; ///< of the locals in a worker's memory
  int64_t localBytes = 0;
  size_t operands = 0;
};

/// What the pieces of a tile with a skew share: a piece is a group of steps, which it takes through
/// all rows behind the group before it.
class SkewedContext {
public:
  explicit SkewedContext(const TileLaunch &tile)
      : tile(tile), rowsDone(static_cast<size_t>(tile.groups)) {
    for (const TileLaunch::Step &step : tile.steps)
      scratchBytes = std::max(scratchBytes, step.scratchBytes);
  }

  void run(int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group)
      runGroup(group);
  }

  int64_t scratchBytes = 0;

private:
  /// By group: the rows that all of its steps have been run on.
  struct alignas(64) Progress {
    std::atomic<int64_t> rows{0};
  };

  void runGroup(int64_t group) {
    auto count = static_cast<int64_t>(tile.steps.size());
    int64_t first = count * group / tile.groups, last = count * (group + 1) / tile.groups;
    int64_t behind = (last - first - 1) * tile.skew; // of the last step
    for (int64_t front = 0; front - behind < tile.rows;) {
      front += tile.tileRows;
      if (group > 0)
        waitFor(group - 1, std::min(front + tile.skew, tile.rows));
      for (int64_t i = first; i < last; ++i) {
        int64_t end = front - (i - first) * tile.skew;
        runStep(tile.steps[static_cast<size_t>(i)],
                std::clamp<int64_t>(end - tile.tileRows, 0, tile.rows),
                std::clamp<int64_t>(end, 0, tile.rows));
      }
      Context::orderStores();
      rowsDone[static_cast<size_t>(group)].rows.store(front - behind, std::memory_order_release);
    }
  }

  /// Groups begin in order, so that the one before runs on a thread of its own or has ended.
  void waitFor(int64_t group, int64_t rows) {
    std::atomic<int64_t> &done = rowsDone[static_cast<size_t>(group)].rows;
    for (int64_t spins = 0; done.load(std::memory_order_acquire) < rows; ++spins)
      spins < 1000 ? relax() : static_cast<void>(sched_yield());
  }

  static void relax() {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  void runStep(const TileLaunch::Step &step, int64_t begin, int64_t end) const {
    if (begin >= end)
      return;
    thread_local std::vector<void *> addresses;
    addresses.clear();
    for (const TileLaunch::Operand &operand : step.operands)
      addresses.push_back(operand.buffer->host());
    const CpuModule::Kernel &kernel = static_cast<CpuModule *>(tile.module)->kernels[step.kernel];
    // The pool has got the scratch memory before the first piece.
    Context{kernel.function, addresses.data(), step.sizes.data(), step.scratchBytes,
            kernel.piece > 1}
        .run(begin * step.items, end * step.items);
  }

  const TileLaunch &tile;
  std::vector<Progress> rowsDone;
};

class CpuQueue final : public Queue {
public:
  Status launch(const Launch &launch) override {
    count(Counter::Launches);
    const CpuModule::Kernel &kernel =
        static_cast<CpuModule *>(launch.module)->kernels[launch.kernel];
    TraceSpan span("exec", kernel.name);
    constexpr size_t kInline = 16;
    void *few[kInline];
    std::vector<void *> many;
    void **addresses = few;
    if (launch.buffers.size() > kInline) {
      many.resize(launch.buffers.size());
      addresses = many.data();
    }
    for (size_t i = 0; i < launch.buffers.size(); ++i)
      addresses[i] = launch.buffers[i]->host();

    Context context{kernel.function, addresses, launch.sizes.data(), launch.scratchBytes,
                    kernel.piece > 1};
    FloatMode mode;
    double nanos =
        static_cast<double>(launch.range) * static_cast<double>(launch.work) * kernel.costPerItem;
    bool done;
    if (nanos < kBreakEvenNanos) {
      done = context.run(0, launch.range);
    } else if (launch.range <= kernel.grain) {
      done = context.run(0, launch.range);
      Context::orderStores();
    } else {
      done = runParallel(context, launch.range, kernel, nanos);
    }
    if (!done)
      return {ErrorCode::OutOfMemory,
              strings::format("[cpu] out of memory: {} of scratch wanted by kernel {}",
                              strings::bytesText(launch.scratchBytes), kernel.name)};
    return Status::ok();
  }

  Status launchTile(const TileLaunch &tile) override {
    count(Counter::Launches, tile.steps.size());
    TraceSpan span("exec", "tile");
    if (tile.groups > 1 || tile.skew > 0)
      return launchSkewed(tile);
    TileContext context(tile);
    FloatMode mode;
    if (context.nanos() < kBreakEvenNanos) {
      context.run(0, tile.rows);
    } else {
      auto body = [](void *c, int64_t begin, int64_t end) {
        static_cast<TileContext *>(c)->run(begin, end);
        Context::orderStores();
      };
      ThreadPool::instance().run({body, &context, tile.rows, tile.tileRows});
    }
    if (int64_t wanted = context.failed.load(std::memory_order_relaxed))
      return {ErrorCode::OutOfMemory,
              strings::format("[cpu] out of memory: {} wanted for rows at hand",
                              strings::bytesText(wanted))};
    return Status::ok();
  }

  Status copy(Buffer &destination, Buffer &source, int64_t bytes) override {
    count(Counter::Copies);
    copyOnHost(destination.host(), source.host(), bytes);
    return Status::ok();
  }
  Status upload(Buffer &destination, const void *source, int64_t bytes) override {
    copyOnHost(destination.host(), source, bytes);
    return Status::ok();
  }
  Status download(void *destination, Buffer &source, int64_t bytes) override {
    copyOnHost(destination, source.host(), bytes);
    return Status::ok();
  }
  Status finish() override { return Status::ok(); }

private:
  static Status launchSkewed(const TileLaunch &tile) {
    SkewedContext context(tile);
    FloatMode mode;
    auto body = [](void *c, int64_t begin, int64_t end) {
      static_cast<SkewedContext *>(c)->run(begin, end);
      Context::orderStores();
    };
    if (!ThreadPool::instance().run({body, &context, tile.groups, 1, context.scratchBytes}))
      return {ErrorCode::OutOfMemory,
              strings::format("[cpu] out of memory: {} of scratch wanted for steps of rows",
                              strings::bytesText(context.scratchBytes))};
    return Status::ok();
  }

  static bool runParallel(Context &context, int64_t range, const CpuModule::Kernel &kernel,
                          double nanos) {
    ThreadPool &pool = ThreadPool::instance();
    // Several a thread: the others go on with what a thread that was held up has not begun.
    int64_t each = kChunksPerThread;
    if (kernel.isProduct)
      each = std::clamp<int64_t>(range / (kItemsPerChunkOfProduct * pool.threads()), 1, each);
    double pieces = std::min(nanos / kBreakEvenNanos,
                             static_cast<double>(pool.threads()) * static_cast<double>(each));
    // A whole number of rounds: one chunk more would leave the other threads idle at the end.
    auto chunks = static_cast<int64_t>(std::ceil(pieces));
    int64_t chunk = (range + chunks - 1) / chunks;
    // Rounded up to the grain; a chunk beyond the range is as good as the range itself.
    int64_t grain = kernel.grain;
    chunk = chunk > range - grain ? range : (chunk + grain - 1) / grain * grain;
    // One of a line in which pieces wait for each other takes longer than the break-even; of lines
    // that are shorter than one, in which none waits, a chunk has several.
    if (kernel.piece > 1) {
      double nanosEach = nanos / static_cast<double>(range) * static_cast<double>(kernel.piece);
      chunk =
          kernel.piece * std::max<int64_t>(1, static_cast<int64_t>(kBreakEvenNanos / nanosEach));
    }
    auto body = [](void *c, int64_t begin, int64_t end) {
      static_cast<Context *>(c)->run(begin, end);
      Context::orderStores();
    };
    return pool.run({body, &context, range, chunk, context.scratchBytes, nanos < kShortNanos});
  }
};

class CpuDevice final : public Device {
public:
  CpuDevice() : CpuDevice(usableMemory()) {}
  explicit CpuDevice(int64_t usable)
      : pool(memory, "cpu", memoryBudget(usable, "cpu"), usable / 4) {
    deviceInfo.name = "cpu";
    deviceInfo.threads = ThreadPool::defaultThreads();
    deviceInfo.description = strings::format("{}, {} thread{}", modelName(), deviceInfo.threads,
                                             deviceInfo.threads == 1 ? "" : "s");
    deviceInfo.features = allowedFeatures();
    // Code depends on the features alone, which are part of the target: any such CPU may share
    // entries.
    deviceInfo.identity = "cpu";
    deviceInfo.tilesRows = true;
    deviceInfo.memoryBytes = usable;
    deviceInfo.budgetBytes = pool.budget();
    deviceInfo.largestBuffer = pool.budget();
  }

  const DeviceInfo &info() const override { return deviceInfo; }
  Queue &queue() override { return deviceQueue; }

  Result<BufferRef> allocate(int64_t bytes) override {
    GRAPHC_ASSIGN(Block block, pool.take(bytes));
    return BufferRef(std::make_shared<PoolBuffer>(*this, pool, block));
  }

  Result<BufferRef> wrapHost(void *address, int64_t bytes, std::shared_ptr<void> owner) override {
    if (bytes < 0 || (!address && bytes > 0))
      return Status(ErrorCode::InvalidArgument, "[cpu] cannot wrap this memory");
    return BufferRef(std::make_shared<WrappedBuffer>(*this, address, bytes, std::move(owner)));
  }

  Result<std::unique_ptr<Module>> load(const program::Program &program) override {
    TraceSpan span("exec", "load");
    if (program.target() != program::Target::Cpu)
      return Status(ErrorCode::Unsupported,
                    strings::format("[cpu] this program is for {}", targetName(program.target())));
    std::string_view isa = program.text(program.meta().isa);
    if (std::string missing = firstMissingFeature(isa); !missing.empty())
      return Status(ErrorCode::Unsupported,
                    strings::format("[cpu] this program needs CPU feature '{}' (of {}), which {} "
                                    "does not have: compile it for this machine",
                                    missing, isa, modelName()));
    GRAPHC_ASSIGN(CodeImage image, CodeImage::map(program.code()));
    return std::unique_ptr<Module>(std::make_unique<CpuModule>(std::move(image), program));
  }

  int64_t liveBytes() const override { return pool.liveBytes(); }
  int64_t cachedBytes() const override { return pool.cachedBytes(); }
  void releaseCached() override { pool.release(); }

private:
  HostMemory memory;
  BufferPool pool;
  DeviceInfo deviceInfo;
  CpuQueue deviceQueue;
};

class CpuDriver final : public Driver {
public:
  CpuDriver() : listing{{"cpu", device.info().description, &device, ""}} {}
  std::string_view name() const override { return "cpu"; }
  const std::vector<DeviceListing> &list() override { return listing; }

private:
  CpuDevice device;
  std::vector<DeviceListing> listing;
};

} // namespace

Driver &driver() {
  // Never destroyed: buffers may outlive every static object.
  static CpuDriver *instance = new CpuDriver;
  return *instance;
}

} // namespace graphc::rt::cpu
