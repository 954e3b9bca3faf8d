//===- FloatConditions.h - What operations met, as conditions that are computed ---------------===//
//
// For each operation of a segment and each error that something is done about: whether there is an
// element with fine operands and a bad result, as a recorded value. Conditions are operations like
// any others, so they are fused with what they ask about when both are computed together.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_FLOATCONDITIONS_H
#define GRAPHC_FRONTENDS_RECORD_FLOATCONDITIONS_H

#include "frontends/record/FloatErrors.h"

#include <span>
#include <vector>

namespace graphc {

/// Pending conditions of one element, and what each says when it holds.
struct Questions {
  std::vector<NodeRef> nodes;
  std::vector<FloatReport> reports;
  Digest structure; ///< of the segment that is asked, when it watches values
};

/// Errors that are told once for a line (FloatModes::kOnce): each operation is asked for its own,
/// so that reports are in the order of operations, or the turns of a loop together.
enum class Repeats : uint8_t { Apart, Joined };

/// What the operations of a segment are asked that is recorded again, as `nodes`, on `inputs`.
Result<Questions> questionsOf(const Segment &segment, std::span<const NodeRef> inputs,
                              rt::Device &device, Repeats repeats, std::vector<NodeRef> &nodes);
/// What results are asked of which one operation is held responsible.
Result<Questions> questionsOfResults(const Segment &segment, size_t node,
                                     std::span<const NodeRef> results);
/// Whether an operation gives an exact infinity.
bool hasPole(op::OpKind kind);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_FLOATCONDITIONS_H
