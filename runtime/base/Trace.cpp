//===- Trace.cpp - Counters, events and trace spans -------------------------------------------===//
#include "runtime/base/Trace.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"

#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace graphc {
namespace detail {
std::atomic<int64_t> counters[kCounterCount];
}

namespace {

Setting traceFile{"GRAPHC_TRACE",
                  "file to which a Chrome trace of compiles, loads and launches is written",
                  "no trace"};

struct Sink {
  EventSink function; ///< null: the default
  void *context;
  const Sink *previous;
};
// A sink is replaced as a whole; old ones are kept because another thread may still be calling
// them.
std::atomic<const Sink *> currentSink{nullptr};

int openTrace() {
  auto path = traceFile.get();
  if (!path)
    return -1;
  int fd = open(path->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0)
    emitEvent(EventLevel::Warning, "exec",
              strings::format("GRAPHC_TRACE: cannot open '{}'", *path));
  else if (::write(fd, "[\n", 2) != 2)
    emitEvent(EventLevel::Warning, "exec",
              strings::format("GRAPHC_TRACE: cannot write '{}'", *path));
  return fd;
}

constexpr int kNotGiven = -2;
std::atomic<int> givenDescriptor{kNotGiven};

} // namespace

std::string_view counterName(Counter c) {
  constexpr std::string_view kNames[kCounterCount] = {
      "compiles",       "compile_nanos", "memory_hits",    "disk_hits",  "disk_misses",
      "disk_defects",   "disk_writes",   "launches",       "copies",     "runs",
      "allocations",    "pool_hits",     "flush_explicit", "flush_read", "flush_budget",
      "flush_exchange", "library_calls", "read_backs"};
  return kNames[static_cast<int>(c)];
}

void setEventSink(EventSink sink, void *context) {
  auto *next = new Sink{sink, context, currentSink.load(std::memory_order_relaxed)};
  while (!currentSink.compare_exchange_weak(next->previous, next, std::memory_order_acq_rel))
    ;
}

void emitEvent(EventLevel level, std::string_view area, std::string_view text) {
  if (const Sink *sink = currentSink.load(std::memory_order_acquire); sink && sink->function) {
    sink->function(sink->context, {level, area, text});
    return;
  }
  if (level == EventLevel::Warning)
    std::fprintf(stderr, "graphc: warning: [%.*s] %.*s\n", static_cast<int>(area.size()),
                 area.data(), static_cast<int>(text.size()), text.data());
}

bool TraceSpan::enabled() { return descriptor() >= 0; }

int TraceSpan::descriptor() {
  if (int given = givenDescriptor.load(std::memory_order_relaxed); given != kNotGiven)
    return given;
  static const int fd = openTrace();
  return fd;
}

void TraceSpan::writeTo(int descriptor) {
  givenDescriptor.store(descriptor, std::memory_order_relaxed);
}

int64_t TraceSpan::now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

void TraceSpan::write() const {
  int64_t end = now();
  std::string line = strings::format(
      "{{\"name\":{},\"cat\":{},\"ph\":\"X\",\"ts\":{:.3f},\"dur\":{:.3f},\"pid\":{},\"tid\":{}}},"
      "\n",
      strings::jsonQuote(spanName), strings::jsonQuote(spanArea), static_cast<double>(start) / 1e3,
      static_cast<double>(end - start) / 1e3, getpid(), syscall(SYS_gettid));
  // One write per line on an O_APPEND file keeps lines of several threads whole; a full disk only
  // loses trace lines.
  [[maybe_unused]] ssize_t written = ::write(descriptor(), line.data(), line.size());
}

} // namespace graphc
