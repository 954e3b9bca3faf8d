//===- Function.h - A function that was recorded once and runs often --------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_FUNCTION_H
#define GRAPHC_FRONTENDS_RECORD_FUNCTION_H

#include "dialects/opset/Promote.h"
#include "frontends/record/Array.h"
#include "frontends/record/Snapshot.h"
#include "runtime/exec/Executor.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc {

/// What one call of a function takes, known without calling it.
struct FunctionCost {
  int64_t argumentBytes = 0; ///< arguments and captured arrays
  int64_t outputBytes = 0;   ///< new arrays and new values of arguments
  int64_t peakBytes = 0;     ///< most bytes alive together, arguments included; where arguments are
                             ///< updated, of a call whose old values nobody else sees
  int64_t launches = 0, copies = 0;
};

/// A traced function: programs and the wiring between them. Immutable; calls may run at the same
/// time.
class Function {
public:
  ~Function();
  /// Whether the arguments have the dtypes, shapes and device the function was traced with.
  bool accepts(std::span<const Array *const> arguments) const;
  /// False when a write-back would change another argument or captured array of this call: the
  /// caller must run the original function instead.
  bool isSafeFor(std::span<const Array *const> arguments) const;
  /// The number and dtype of each variable (op::Scalar) that calls give a value, in their order.
  struct Variable {
    uint32_t number;
    DType dtype;
  };
  std::vector<Variable> variables() const;
  /// The values of the variables as `variables` of a call; nothing where one does not fit its
  /// dtype.
  std::optional<std::vector<uint64_t>> variableBits(std::span<const op::Scalar> values) const;
  /// Computes pending arguments (reason "jit"), runs the programs, writes back: into the memory of
  /// the old value where the last program can and nobody else sees that, if the caller is alone: no
  /// other thread can meet the arguments meanwhile. `arguments` must be accepted and safe, else
  /// TraceError. Outputs are new arrays. What fails changes no argument; a floating-point error
  /// that is to be raised is found after the last program, when they are changed.
  /// `held`: what values() gave where nobody could write over it; that is what is read then,
  /// however soon others make the arguments new.
  Status call(std::span<Array *const> arguments, std::span<const uint64_t> variables,
              std::vector<Array> &outputs, bool isAlone = false,
              std::span<const NodeRef> held = {}) const;
  size_t programCount() const;
  /// Whether a caller that is alone may have its arguments written over in place.
  bool mayOverwrite() const;
  /// What a call would read now of arguments and captured arrays: whoever holds these keeps others
  /// from writing over them.
  std::vector<NodeRef> values(std::span<Array *const> arguments) const;
  /// Numbers of the arguments that a call writes to.
  std::vector<uint32_t> updatedArguments() const;
  size_t captureCount() const;
  /// Whether calls take less time where the original function is run on the host's memory: of large
  /// arrays, rows that masks choose are worked on at their number there, up to their bound here.
  bool runsBetterUnrecorded() const;
  Result<FunctionCost> cost() const;
  /// As graphc::printStage for what was traced.
  Result<std::string> printStage(std::string_view stage) const;

private:
  friend class Trace;
  struct Plan;
  struct Ran;
  struct Scratch;
  Function();
  Status gather(std::span<Array *const> arguments, std::span<const uint64_t> variables,
                std::span<const NodeRef> held, std::vector<NodeRef> &slots) const;
  Status run(size_t step, std::span<Array *const> arguments, std::vector<NodeRef> &slots,
             bool isAlone, std::vector<rt::Tensor> &results, Ran &ran) const;
  void takeInputs(size_t step, const rt::LoadedProgram &program, std::span<Array *const> arguments,
                  std::span<const NodeRef> slots, bool isAlone, Ran &ran,
                  Overwrites &overwrites) const;
  Status look(size_t step, std::span<const NodeRef> inputs, const Ran &ran) const;
  Status deliver(std::span<Array *const> arguments, std::span<const NodeRef> slots,
                 std::vector<Array> &outputs) const;
  std::unique_ptr<Plan> plan;
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_FUNCTION_H
