//===- NumberSteps.h - What Python computes of the numbers of a call --------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_NUMBERSTEPS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_NUMBERSTEPS_H

#include "frontends/python/bindings/Bindings.h"

#include <span>
#include <vector>

namespace graphc::py {

/// Steps over the numbers that a call of a jitted function gives (graphc/_jit_numbers.py), each of
/// which adds one.
class NumberSteps {
public:
  /// A step: a callable, the places of its one or two operands (the second may be None), and the
  /// type of the number or the bool that it has to give; or None, a value, None, and its type.
  /// `results`: places of the numbers that are wanted.
  NumberSteps(const pb::sequence &steps, const pb::sequence &results);

  /// What is wanted, owned; nothing where a step gives another answer or type, or meets an
  /// ArithmeticError.
  std::optional<std::vector<pb::object>> evaluate(std::span<PyObject *const> given) const;

private:
  struct Step {
    pb::object function; ///< None: a constant
    pb::object value;    ///< the constant, the type, or the bool
    uint32_t operands[2];
    size_t count;
    bool isAnswer;
  };
  std::vector<Step> steps;
  std::vector<uint32_t> results;
};

void defineNumbers(pb::module_ &m);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_NUMBERSTEPS_H
