#include "frontends/python/bindings/NumberSteps.h"

#include "frontends/record/Trace.h"

namespace graphc::py {

NumberSteps::NumberSteps(const pb::sequence &given, const pb::sequence &places) {
  for (pb::handle place : places)
    results.push_back(pb::cast<uint32_t>(place));
  for (pb::handle item : given) {
    auto [function, a, b, kind] =
        pb::cast<std::tuple<pb::object, pb::object, pb::object, pb::object>>(item);
    Step step{function, function.is_none() ? a : kind, {}, 0, PyBool_Check(kind.ptr()) != 0};
    if (!function.is_none())
      for (const pb::object &operand : {a, b})
        if (!operand.is_none())
          step.operands[step.count++] = pb::cast<uint32_t>(operand);
    steps.push_back(std::move(step));
  }
}

std::optional<std::vector<pb::object>>
NumberSteps::evaluate(std::span<PyObject *const> given) const {
  std::vector<pb::object> values;
  values.reserve(given.size() + steps.size());
  for (PyObject *number : given)
    values.push_back(pb::reinterpret_borrow<pb::object>(number));
  for (const Step &step : steps) {
    if (step.function.is_none()) {
      values.push_back(step.value);
      continue;
    }
    PyObject *operands[2];
    for (size_t i = 0; i < step.count; ++i)
      operands[i] = values[step.operands[i]].ptr();
    auto value = pb::reinterpret_steal<pb::object>(
        PyObject_Vectorcall(step.function.ptr(), operands, step.count, nullptr));
    if (!value) {
      if (!PyErr_ExceptionMatches(PyExc_ArithmeticError))
        throw pb::error_already_set();
      PyErr_Clear();
      return std::nullopt;
    }
    if (step.isAnswer ? !value.is(step.value) : !pb::type::handle_of(value).is(step.value))
      return std::nullopt;
    values.push_back(std::move(value));
  }
  std::vector<pb::object> out;
  out.reserve(results.size());
  for (uint32_t place : results)
    out.push_back(values[place]);
  return out;
}

void defineNumbers(pb::module_ &m) {
  pb::class_<Number>(m, "Number")
      .def(pb::init([](const pb::object &value, uint32_t place) {
        Number number{toScalar(value), Trace::active() ? Trace::active()->id() : 0};
        number.scalar.variable = place + 1;
        return number;
      }))
      .def_property_readonly("is_live", &Number::isLive);
  pb::class_<NumberSteps>(m, "NumberSteps")
      .def(pb::init<const pb::sequence &, const pb::sequence &>())
      .def("evaluate", [](const NumberSteps &steps, const pb::list &given) -> pb::object {
        std::vector<PyObject *> numbers;
        for (pb::handle number : given)
          numbers.push_back(number.ptr());
        auto values = steps.evaluate(numbers);
        if (!values)
          return pb::none();
        pb::list out;
        for (const pb::object &value : *values)
          out.append(value);
        return out;
      });
}

} // namespace graphc::py
