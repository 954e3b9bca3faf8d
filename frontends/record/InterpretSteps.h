//===- InterpretSteps.h - What an interpreted program computes, in order ----------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_INTERPRETSTEPS_H
#define GRAPHC_FRONTENDS_RECORD_INTERPRETSTEPS_H

#include "frontends/record/Interpret.h"

#include <cstdint>
#include <span>
#include <vector>

namespace graphc {

/// Movement that only shows elements in another order.
bool isMovement(op::OpKind kind);

/// The pending nodes of a segment, operands first, and the computed ones that they read: its
/// values, by number, those of the steps first. All of it stays when another thread computes a
/// node.
class Steps {
public:
  /// Nothing but Done leaves steps that may be used. Takes graphMutex().
  Interpreted find(const Segment &segment, int64_t mostBytes);

  uint32_t count() const { return steps; }
  size_t valueCount() const { return nodes.size(); }
  const NodeRef &node(uint32_t value) const { return nodes[value]; }
  std::span<const uint32_t> operands(uint32_t step) const {
    return std::span(operandList)
        .subspan(firstOperand[step], firstOperand[step + 1] - firstOperand[step]);
  }
  /// Values that no step after this one reads, nor the segment gives.
  std::span<const uint32_t> ends(uint32_t step) const {
    return std::span(endList).subspan(firstEnd[step], firstEnd[step + 1] - firstEnd[step]);
  }
  /// Of each output of the segment.
  std::span<const uint32_t> outputs() const { return outputList; }

private:
  /// Those to compute, in any order. Needs graphMutex().
  Interpreted collect(const Segment &segment, int64_t mostBytes, uint64_t epoch);
  void number(const Segment &segment, uint64_t epoch);
  void findEnds();

  uint32_t steps = 0;
  std::vector<NodeRef> nodes;
  std::vector<uint32_t> operandList, firstOperand, endList, firstEnd, outputList;
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_INTERPRETSTEPS_H
