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

/// What the operations of a segment are asked, where `nodes` are its nodes, replayed.
Result<Questions> questionsOf(const Segment &segment, std::span<const NodeRef> nodes,
                              rt::Device &device);
/// What results are asked of which one operation is held responsible.
Result<Questions> questionsOfResults(const Segment &segment, size_t node,
                                     std::span<const NodeRef> results);
/// Whether an operation gives an exact infinity.
bool hasPole(op::OpKind kind);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_FLOATCONDITIONS_H
