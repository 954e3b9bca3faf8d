//===- Trace.h - Recording a function once ----------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_TRACE_H
#define GRAPHC_FRONTENDS_RECORD_TRACE_H

#include "dialects/opset/Promote.h"
#include "frontends/record/Array.h"
#include "frontends/record/Snapshot.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace graphc {

class Function;

/// Records what a function does to placeholder arrays. Between begin() and finish() or abort() it
/// is the active trace of its thread: arrays made outside are captured when they are read (and read
/// again at every call), and writes to placeholders and captured arrays become write-backs of the
/// finished Function. Use from one thread.
class Trace {
public:
  /// Placeholders with the types of `arguments`. TraceError when a trace is active already or when
  /// two arguments share a storage: what a write to one means for the other cannot be recorded
  /// then.
  static Result<std::unique_ptr<Trace>> begin(std::span<const Array> arguments);
  ~Trace();
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  /// The trace of this thread, or null.
  static Trace *active();
  /// While it lives, the thread records as outside of its trace.
  class Pause {
  public:
    Pause();
    ~Pause();
    Pause(const Pause &) = delete;
    Pause &operator=(const Pause &) = delete;

  private:
    Trace *paused;
  };
  uint64_t id() const { return number; }
  std::span<const Array> placeholders() const { return arguments; }

  /// Ends the trace. `outputs` may be any arrays. Programs hold about `segmentNodes` operations.
  Result<std::unique_ptr<Function>> finish(std::span<const Array> outputs,
                                           size_t segmentNodes = kSegmentNodes);
  /// Ends the trace without a function.
  void abort();

  /// The newest value of an outer storage as this trace knows it.
  NodeRef capture(const std::shared_ptr<Storage> &storage);
  void replaceCaptured(const std::shared_ptr<Storage> &storage, NodeRef next);
  /// The node of a variable (op::Scalar) as a weak number beside arrays of `dtype`; TraceError
  /// where only its value says what that is: outside floats.
  Result<NodeRef> variable(const op::Scalar &value, DType dtype, rt::Device &device);

private:
  friend class Function;
  struct Capture {
    std::shared_ptr<Storage> storage;
    NodeRef placeholder;
    NodeRef newest;
  };
  struct Variable {
    uint32_t number;
    NodeRef placeholder;
  };
  Trace() = default;
  uint64_t number = 0;
  std::vector<Array> arguments;
  std::vector<NodeRef> argumentNodes;
  std::vector<Capture> captures;
  std::vector<Variable> variables;
  std::unordered_map<const Storage *, size_t> captureOf;
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_TRACE_H
