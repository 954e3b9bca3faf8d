// Fourier transforms of small arrays, as one call.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/record/FourierRoots.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallFourier.h"
#include "frontends/record/Trace.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace graphc::py {
namespace {

using Numbers = pb::array_t<double, pb::array::c_style | pb::array::forcecast>;
using Table = std::optional<std::array<Numbers, 2>>; ///< cosines and sines

std::vector<double> valuesOf(const Numbers &numbers) {
  return {numbers.data(), numbers.data() + numbers.size()};
}

void addStep(small::FourierSteps &steps, const std::string &name, int64_t axis, bool turnsFirst,
             bool turnsLast, std::optional<double> scale, const Table &table,
             const std::vector<int64_t> &factor, const Table &roots, int64_t length, bool halves,
             bool isWhole) {
  auto kind = small::FourierStep::kindFromName(name);
  if (!kind)
    throw pb::value_error("no step is called " + name);
  small::FourierStep step{*kind, axis};
  step.turnsFirst = turnsFirst;
  step.turnsLast = turnsLast;
  step.scale = scale;
  if (table) {
    step.cosine = valuesOf(table->at(0));
    step.sine = valuesOf(table->at(1));
  }
  if (factor.size() == 3) {
    step.radix = factor[0];
    step.m = factor[1];
    step.s = factor[2];
  }
  if (roots) {
    step.rootCosine = valuesOf(roots->at(0));
    step.rootSine = valuesOf(roots->at(1));
  }
  step.length = length;
  step.halves = halves;
  step.isWhole = isWhole;
  steps.steps.push_back(std::move(step));
}

/// None where the steps have to be recorded.
pb::object transformed(const small::FourierSteps &steps, pb::handle object, bool isComplex) {
  const Array *x = asPlainArray(object.ptr());
  if (!x || Trace::active())
    return pb::none();
  RecordScope scope;
  Array *one[] = {const_cast<Array *>(x)};
  unwrap(evaluateArrays(one, "fft"));
  NodeRef made = unwrap(small::fourier(steps, *x, isComplex));
  if (!made)
    return pb::none();
  return pb::reinterpret_steal<pb::object>(wrap(small::arrayOf(std::move(made))));
}

/// Cosines and sines of an array of integers, of its shape.
pb::tuple rootsAt(const FourierRoots &roots,
                  const pb::array_t<int64_t, pb::array::c_style | pb::array::forcecast> &numbers) {
  const std::vector<pb::ssize_t> shape(numbers.shape(), numbers.shape() + numbers.ndim());
  pb::array_t<double> cosine(shape), sine(shape);
  roots.find(numbers.data(), numbers.size(), cosine.mutable_data(), sine.mutable_data());
  return pb::make_tuple(cosine, sine);
}

} // namespace

void defineFourier(pb::module_ &m) {
  pb::class_<FourierRoots>(m, "FourierRoots")
      .def(pb::init<int64_t>(), pb::arg("n"))
      .def("__call__", rootsAt, pb::arg("numbers"));
  pb::class_<small::FourierSteps>(m, "FourierSteps")
      .def(pb::init<>())
      .def("add", addStep, pb::arg("name"), pb::arg("axis"), pb::arg("turns_first"),
           pb::arg("turns_last"), pb::arg("scale"), pb::arg("table") = Table(),
           pb::arg("factor") = std::vector<int64_t>(), pb::arg("roots") = Table(),
           pb::arg("length") = 0, pb::arg("halves") = false, pb::arg("whole") = false)
      .def("__call__", transformed);
}

} // namespace graphc::py
