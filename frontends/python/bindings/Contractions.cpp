// The steps of einsum on arrays of one dtype. They are chosen in Python (graphc/_einsum.py) once
// for each equation and its shapes, and run here: what calls in Python cost is more than what most
// of them do.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Quick.h"

#include <array>
#include <memory>

namespace graphc::py {
namespace {

enum class Move : uint8_t { Reshape, Transpose, Broadcast, Sum, Multiply, Product, Call };
constexpr std::array<std::pair<std::string_view, Move>, 6> kMoves = {{
    {"reshape", Move::Reshape},
    {"transpose", Move::Transpose},
    {"broadcast", Move::Broadcast},
    {"sum", Move::Sum},
    {"multiply", Move::Multiply},
    {"product", Move::Product},
}};

/// A step, whose result takes the place of its first value.
struct Step {
  size_t first, second; ///< places among the values; that of a second one counts for pairs only
  Move move;
  std::vector<int64_t> numbers; ///< sizes or axes
  pb::object function, args;    ///< of a call
};
using Steps = std::vector<Step>;
constexpr const char *kStepsName = "graphc.steps";

Step toStep(pb::handle given) {
  const auto parts = pb::cast<pb::tuple>(given);
  Step step{pb::cast<size_t>(parts[0]),
            parts[1].is_none() ? 0 : pb::cast<size_t>(parts[1]),
            Move::Call,
            {},
            parts[2],
            parts[3]};
  if (!pb::isinstance<pb::str>(parts[2]))
    return step;
  const auto name = pb::cast<std::string>(parts[2]);
  const auto *found =
      std::ranges::find(kMoves, std::string_view(name), &std::pair<std::string_view, Move>::first);
  if (found == kMoves.end())
    throw pb::value_error("no step of a contraction is called '" + name + "'");
  step.move = found->second;
  for (pb::handle number : step.args)
    step.numbers.push_back(pb::cast<int64_t>(number));
  return step;
}

pb::capsule toSteps(const pb::list &given) {
  auto steps = std::make_unique<Steps>();
  for (pb::handle step : given)
    steps->push_back(toStep(step));
  return pb::capsule(steps.release(), kStepsName, [](PyObject *capsule) {
    delete static_cast<Steps *>(PyCapsule_GetPointer(capsule, kStepsName));
  });
}

Array called(const Step &step, const Array &x) {
  auto given = pb::reinterpret_steal<pb::object>(wrap(Array(x)));
  return toArray(step.function(given, *step.args));
}

Array done(const Step &step, const Array &x, const Array &other) {
  const std::span<const int64_t> numbers = step.numbers;
  switch (step.move) {
  case Move::Reshape:
    return unwrap(ops::reshape(x, Shape(numbers)));
  case Move::Transpose:
    return unwrap(ops::transpose(x, step.numbers));
  case Move::Broadcast:
    return unwrap(ops::broadcastTo(x, Shape(numbers)));
  case Move::Sum:
    return unwrap(ops::reduce(op::ReduceKind::Sum, x, step.numbers, false, x.dtype()));
  case Move::Multiply: {
    const Operand both[] = {x, other};
    return unwrap(ops::elementwise(op::OpKind::Mul, both));
  }
  case Move::Product:
    return unwrap(ops::matmul(x, other));
  case Move::Call:
    break;
  }
  return called(step, x);
}

/// The result of steps on values, of which there is one at least.
Array contracted(const Steps &steps, std::vector<Array> values) {
  for (const Step &step : steps)
    values[step.first] = done(step, values[step.first], values[step.second]);
  return std::move(values[0]);
}

const Steps &stepsOf(PyObject *capsule) {
  const void *steps = PyCapsule_GetPointer(capsule, kStepsName);
  if (!steps)
    throw pb::error_already_set();
  return *static_cast<const Steps *>(steps);
}

/// einsum(equation, *arrays) of arrays of one dtype; `self` gives the steps of an equation and
/// shapes.
PyObject *einsum(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    if (count < 2 || names || !PyUnicode_CheckExact(args[0]))
      Py_RETURN_NOTIMPLEMENTED;
    const auto operands = static_cast<size_t>(count) - 1;
    std::vector<Array> values;
    values.reserve(operands);
    auto shapes = pb::tuple(operands);
    for (size_t i = 0; i < operands; ++i) {
      const Array *x = asPlainArray(args[i + 1]);
      if (!x || x->known() || (i > 0 && x->dtype() != values[0].dtype()))
        Py_RETURN_NOTIMPLEMENTED;
      values.push_back(*x);
      PyTuple_SET_ITEM(shapes.ptr(), static_cast<Py_ssize_t>(i),
                       toTuple(x->shape()).release().ptr());
    }
    PyObject *both[] = {args[0], shapes.ptr()};
    auto capsule = pb::reinterpret_steal<pb::object>(PyObject_Vectorcall(self, both, 2, nullptr));
    if (!capsule)
      throw pb::error_already_set();
    const Steps &steps = stepsOf(capsule.ptr());
    if (steps.empty()) // a view
      Py_RETURN_NOTIMPLEMENTED;
    RecordScope line;
    Array result = contracted(steps, std::move(values));
    const bool isMade = result.rank() > 0 || result.isValue();
    auto made = pb::reinterpret_steal<pb::object>(wrap(std::move(result)));
    return isMade ? made.release().ptr() : PyObject_GetItem(made.ptr(), pb::tuple().ptr());
  });
}

PyMethodDef einsumMethod = quick("einsum", einsum);

} // namespace

void defineContractions(pb::module_ &m) {
  m.def(
      "contraction", &toSteps,
      "What `contract` runs of a list of steps: (place of a value, that of a second one or None, a "
      "name or a function, sizes or axes or further arguments).");
  m.def(
      "contract",
      [](const pb::object &steps, const pb::list &given) {
        std::vector<Array> values;
        for (pb::handle x : given)
          values.push_back(toArray(x));
        return pb::reinterpret_steal<pb::object>(
            wrap(contracted(stepsOf(steps.ptr()), std::move(values))));
      },
      "The result of steps on arrays.");
  m.def(
      "plain_einsum",
      [](const pb::object &plan) {
        return pb::reinterpret_steal<pb::object>(PyCFunction_New(&einsumMethod, plan.ptr()));
      },
      "einsum of an equation and arrays of one dtype, whose steps `plan` gives; NotImplemented for "
      "others.");
}

} // namespace graphc::py
