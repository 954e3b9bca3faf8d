#include "frontends/python/bindings/WhereChosen.h"
#include "frontends/record/FloatErrors.h"
#include "frontends/record/Record.h"

#include <array>
#include <limits>

namespace graphc::py {
namespace {

/// The operands of a call whose results a mask chooses from, of floats. Elements that it leaves
/// out are computed too: the first array has NaN there, which meets no error, so that only those
/// that it chooses are told.
std::array<pb::object, 2> operandsWhereChosen(const Array &mask, std::span<PyObject *const> args) {
  std::array<pb::object, 2> operands;
  bool isQuiet = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const Array *x = isQuiet ? nullptr : asPlainArray(args[i]);
    if (!x || !isInexact(x->dtype())) {
      operands[i] = pb::reinterpret_borrow<pb::object>(args[i]);
      continue;
    }
    const Operand chosen[] = {mask, *x,
                              op::Scalar::ofFloat(std::numeric_limits<double>::quiet_NaN())};
    operands[i] =
        pb::reinterpret_steal<pb::object>(wrap(ops::elementwise(op::OpKind::Select, chosen)));
    isQuiet = true;
  }
  return operands;
}

/// Whether a result that was computed untold shows that nothing was met.
bool metNothing(const Array &result, uint32_t modes) {
  const NodeRef base = result.storage()->current();
  return (modes & FloatModes::kAll) == 0 ||
         (!(modes & FloatModes::kUnder) && base->state() == NodeState::Ready &&
          base->buffer()->host() && isFinite(*base));
}

} // namespace

pb::object resultWhereChosen(const std::function<PyObject *(PyObject *const *)> &call,
                             const Array &mask, std::span<PyObject *const> args,
                             const Array &target) {
  const uint32_t modes = RecordScope::errors();
  auto called = [&](PyObject *const *given) {
    auto result = pb::reinterpret_steal<pb::object>(call(given));
    if (!result)
      throw pb::error_already_set();
    return result;
  };
  pb::object result;
  {
    RecordScope silent(RecordScope::location(), 0);
    result = called(args.data());
  }
  const Array *value = asPlainArray(result.ptr());
  if (!value || value->dtype() != target.dtype() || !(value->shape() == target.shape()))
    return pb::object();
  if (metNothing(*value, modes))
    return result;
  const auto operands = operandsWhereChosen(mask, args);
  PyObject *const given[] = {operands[0].ptr(), operands[1].ptr()};
  return called(given);
}

} // namespace graphc::py
