//===- Status.h - Errors as values ------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_STATUS_H
#define GRAPHC_RUNTIME_BASE_STATUS_H

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace graphc {

/// What kind of failure; the Python layer maps each to one exception class, the CLI to one exit
/// code.
enum class ErrorCode : uint8_t {
  Ok = 0,
  InvalidArgument, ///< the caller's values make no sense together
  Shape,           ///< shapes do not agree (ShapeError)
  Axis,            ///< an axis out of range (AxisError)
  DType,           ///< a dtype not accepted here (DTypeError)
  Index,           ///< an index out of range (IndexOutOfBounds)
  Unsupported,     ///< valid, but not on this device or build (UnsupportedError)
  Device,          ///< a driver or device failed or is absent (DeviceError)
  OutOfMemory,     ///< (OutOfMemory)
  Compile,         ///< the compiler refused or failed (CompileError)
  Corrupt,         ///< bytes are not a valid program or cache entry (CacheError)
  Io,              ///< a file could not be read or written
  Internal,        ///< a graphc bug
  Overflow,        ///< a Python integer does not fit the dtype (OverflowError)
  LinAlg,          ///< a matrix is singular, or an iteration does not converge (LinAlgError)
  Trace,           ///< a value that is not known while tracing was asked for (TraceError)
};

/// Success or a code with a message. Cheap to move; success holds no memory. Message form: `[area]
/// what was wrong`.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ErrorCode code, std::string message)
      : state(std::make_unique<State>(State{code, std::move(message), -1})) {}
  static Status ok() { return {}; }
  bool isOk() const { return !state; }
  explicit operator bool() const { return isOk(); }
  ErrorCode code() const { return state ? state->code : ErrorCode::Ok; }
  /// Number of the recorded node that failed, or -1.
  int64_t node() const { return state ? state->node : -1; }
  void setNode(int64_t number) {
    if (state)
      state->node = number;
  }
  const std::string &message() const {
    static const std::string kEmpty;
    return state ? state->message : kEmpty;
  }

private:
  struct State {
    ErrorCode code;
    std::string message;
    int64_t node;
  };
  std::unique_ptr<State> state;
};

/// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T v) : val(std::move(v)) {}
  Result(Status s) : err(std::move(s)) {
    assert(!err.isOk() && "a Result without a value needs an error");
  }
  bool isOk() const { return val.has_value(); }
  explicit operator bool() const { return isOk(); }
  T &operator*() { return *val; }
  const T &operator*() const { return *val; }
  T *operator->() { return &*val; }
  const T *operator->() const { return &*val; }
  const Status &status() const { return err; }
  Status takeStatus() { return std::move(err); }
  T take() { return std::move(*val); }

private:
  std::optional<T> val;
  Status err;
};

} // namespace graphc

#define GRAPHC_CONCAT_IMPL(a, b) a##b
#define GRAPHC_CONCAT(a, b) GRAPHC_CONCAT_IMPL(a, b)
/// Returns the error of a Status expression to the caller.
#define GRAPHC_TRY(expr)                                                                           \
  do {                                                                                             \
    if (auto graphcStatus = (expr); !graphcStatus.isOk())                                          \
      return graphcStatus;                                                                         \
  } while (0)
/// Declares `lhs` from a Result expression or returns its error to the caller.
#define GRAPHC_ASSIGN(lhs, expr)                                                                   \
  auto GRAPHC_CONCAT(graphcResult, __LINE__) = (expr);                                             \
  if (!GRAPHC_CONCAT(graphcResult, __LINE__))                                                      \
    return GRAPHC_CONCAT(graphcResult, __LINE__).takeStatus();                                     \
  lhs = GRAPHC_CONCAT(graphcResult, __LINE__).take()

#endif // GRAPHC_RUNTIME_BASE_STATUS_H
