//===- Trace.h - Counters, events and trace spans ---------------------------------------------===//
//
// Three ways to see what the runtime does: counters (always on, one relaxed increment), events
// (delivered to one callback, for logging and warnings), spans (written to the file named by
// GRAPHC_TRACE in Chrome's trace format).
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_TRACE_H
#define GRAPHC_RUNTIME_BASE_TRACE_H

#include <atomic>
#include <cstdint>
#include <string_view>

namespace graphc {

enum class Counter : uint8_t {
  Compiles,     ///< programs compiled
  CompileNanos, ///< time spent in the compiler
  MemoryHits,   ///< programs found in the memory cache
  DiskHits,     ///< programs found in the disk cache
  DiskMisses,
  DiskDefects, ///< entries that were damaged, refused or unreadable
  DiskWrites,
  Launches, ///< kernels started
  Copies,
  Runs,          ///< programs run
  Allocations,   ///< buffers handed out
  PoolHits,      ///< of these, recycled ones
  FlushExplicit, ///< evaluations, by reason: eval() or synchronize()
  FlushRead,     ///< the user read values (asarray, item, print, bool, ...)
  FlushBudget,   ///< pending bytes passed the budget
  FlushExchange, ///< an exchange protocol asked for memory
  LibraryCalls,  ///< routines of the host library run
  ReadBacks,     ///< of these, with operands copied from a device and the result copied back
};
inline constexpr int kCounterCount = 18;

namespace detail {
extern std::atomic<int64_t> counters[kCounterCount];
}
inline void count(Counter c, int64_t n = 1) {
  detail::counters[static_cast<int>(c)].fetch_add(n, std::memory_order_relaxed);
}
inline int64_t counterValue(Counter c) {
  return detail::counters[static_cast<int>(c)].load(std::memory_order_relaxed);
}
/// "compiles", "compile_nanos", ...
std::string_view counterName(Counter c);

enum class EventLevel : uint8_t { Debug = 0, Info = 1, Warning = 2 };

/// `area` is one of record, compile, cache, device, exec. The views are valid during the callback
/// only.
struct Event {
  EventLevel level;
  std::string_view area;
  std::string_view text;
};

/// Called from any thread, also from several at once; must not call back into graphc.
using EventSink = void (*)(void *context, const Event &event);
/// Replaces the sink of the process; null brings back the default, which prints warnings to stderr.
void setEventSink(EventSink sink, void *context);
void emitEvent(EventLevel level, std::string_view area, std::string_view text);

/// A named stretch of time in the GRAPHC_TRACE file; costs one load when tracing is off. `name`
/// must outlive the span.
class TraceSpan {
public:
  TraceSpan(std::string_view area, std::string_view name)
      : spanArea(area), spanName(name), start(enabled() ? now() : 0) {}
  ~TraceSpan() {
    if (start)
      write();
  }
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;
  /// Whether GRAPHC_TRACE named a file that could be opened; decided once.
  static bool enabled();
  /// The file; negative when there is none.
  static int descriptor();
  /// Spans of this copy of the library go to a file that another one has open.
  static void writeTo(int descriptor);
  /// Monotonic nanoseconds.
  static int64_t now();

private:
  void write() const;
  std::string_view spanArea;
  std::string_view spanName;
  int64_t start;
};

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_TRACE_H
