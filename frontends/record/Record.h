//===- Record.h - Making nodes ----------------------------------------------------------------===//
//
// Every node is made here: checked by op::infer, with trivial operations left out. Nothing
// evaluates.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_RECORD_H
#define GRAPHC_FRONTENDS_RECORD_RECORD_H

#include "dialects/opset/Promote.h"
#include "frontends/record/Node.h"
#include "runtime/base/Routine.h"

#include <optional>
#include <string>
#include <vector>

namespace graphc {

/// How the language binding names user code. Set once, before recording; both functions may be
/// called from any thread.
struct UserPlace {
  Location location = 0; ///< 0 when there is none
  /// Whether the user asked for the operations themselves, whose floating-point errors are theirs;
  /// those of a function that is made of operations are not.
  bool meetsErrors = false;
  uint32_t errorName = 0; ///< bits above FloatModes::kAll that go with the modes
};
/// Where the number of the name is that errors are told under: 0 each operation's own, from
/// kOperationNames on that of an operation, others the binding's.
inline constexpr int kErrorNameShift = 22;
inline constexpr uint32_t kOperationNames = (1u << (32 - kErrorNameShift)) - op::kOpKindCount;
struct LocationSource {
  /// The user's current place, cheap.
  UserPlace (*current)() = nullptr;
  /// "file:line", "" when unknown.
  std::string (*text)(Location location) = nullptr;
  /// Whether the user's code would catch an index error of what is being recorded; `byName`: as
  /// such, not as any error.
  bool (*catchesIndexErrors)(bool byName) = nullptr;
};
void setLocationSource(LocationSource source);
std::string locationText(Location location);
/// Whether indices on a device are to be looked at since the user's code would catch their error;
/// never while a function is traced, whose values are not known. Handlers of any error do not make
/// a program wait for a device.
bool catchesIndexErrors(const rt::Device &device);

/// Names the user's place once for everything a call records: the outermost scope of a thread asks
/// the source.
class RecordScope {
public:
  RecordScope();
  /// The place of an earlier call, also inside another scope.
  RecordScope(Location location, uint32_t errors);
  ~RecordScope();
  RecordScope(const RecordScope &) = delete;
  RecordScope &operator=(const RecordScope &) = delete;
  /// The place of this thread's outermost scope.
  static Location location();
  /// What is done about floating-point errors of what is recorded there (FloatErrors.h).
  static uint32_t errors();

private:
  std::optional<std::pair<Location, uint32_t>> outer; ///< what goes on when this ends
};

/// RecordScope::errors() of what is recorded as several operations and is one to the user: told
/// under its name, unless the user's place has another.
uint32_t errorsUnder(op::OpKind kind);

namespace node {

/// Checks and makes one operation on nodes of one device. `wanted` as in op::infer.
Result<NodeRef> make(op::OpKind kind, std::span<const NodeRef> operands, std::vector<int64_t> attrs,
                     const op::TensorType &wanted, rt::Device &device);
/// A 0-d literal.
NodeRef literal(uint64_t bits, DType dtype, rt::Device &device);
/// A scalar as a 0-d literal, or of a complex dtype the number of two; errors of op::literalBits. A
/// variable as Trace::variable().
Result<NodeRef> scalar(const op::Scalar &value, DType dtype, rt::Device &device);
Result<NodeRef> cast(const NodeRef &x, DType dtype);
/// NumPy broadcasting to `shape`; Shape error when it does not fit.
Result<NodeRef> broadcast(const NodeRef &x, const Shape &shape);
Result<NodeRef> reshape(const NodeRef &x, const Shape &shape);
Result<NodeRef> transpose(const NodeRef &x, std::vector<int64_t> permutation);
Result<NodeRef> slice(const NodeRef &x, std::vector<int64_t> starts, std::vector<int64_t> steps,
                      const Shape &counts);
Result<NodeRef> updateSlice(const NodeRef &x, const NodeRef &value, std::vector<int64_t> starts,
                            std::vector<int64_t> steps);
/// `x` itself when there is nothing to combine along the axis.
Result<NodeRef> scan(op::ReduceKind kind, const NodeRef &x, int64_t axis);
Result<NodeRef> reduce(op::ReduceKind kind, const NodeRef &x, std::vector<int64_t> axes);

Result<NodeRef> library(Routine routine, std::span<const NodeRef> operands,
                        std::vector<int64_t> params, const op::TensorType &result);

/// Places along some axes of a tensor, as graph.gather and graph.scatter take them: int64 nodes of
/// one shape, one an increasing axis; their axes stand at `position` among the others.
struct Places {
  std::vector<NodeRef> indices;
  std::vector<int64_t> axes;
  int64_t position = 0;
};
Result<NodeRef> gather(const NodeRef &x, const Places &places);
/// How scattered elements meet: written (no op), or combined by an elementwise op of two operands.
struct ScatterRule {
  std::optional<op::OpKind> combine;
  bool unique = false; ///< no place is named twice
  bool drop = false;   ///< places outside are left out instead of refused
};
Result<NodeRef> scatter(const NodeRef &x, const NodeRef &value, const Places &places,
                        const ScatterRule &rule);

} // namespace node
} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_RECORD_H
