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

/// The products of ufuncs, and inner and vdot.
enum class Product : long { VecDot, MatVec, VecMat, Inner, VDot };

/// Without axes of size 1 at those places, counted from the end.
Array without(const Array &x, int64_t last, int64_t count) {
  std::vector<int64_t> sizes(x.shape().begin(), x.shape().end());
  const auto first = sizes.end() - last;
  sizes.erase(first, first + count);
  return unwrap(ops::reshape(x, Shape(std::span<const int64_t>(sizes))));
}

Array conjugated(const Array &x) {
  const Operand one[] = {x};
  return isComplex(x.dtype()) ? unwrap(ops::elementwise(op::OpKind::Conj, one)) : x;
}

Array withAxis(const Array &x, int64_t axis) { return unwrap(ops::expandDims(x, {axis})); }

/// A product of arrays whose sizes fit; nothing for others.
std::optional<Array> productOf(Product kind, const Array &a, const Array &b) {
  const auto m = static_cast<size_t>(a.rank()), n = static_cast<size_t>(b.rank());
  auto size = [](const Array &x, size_t fromEnd) { return x.shape()[x.shape().size() - fromEnd]; };
  const bool isAlike = m > 0 && n > 0 && size(a, 1) == size(b, 1);
  switch (kind) {
  case Product::VecDot:
    if (!isAlike)
      return std::nullopt;
    if (m == 1 && n == 1)
      return unwrap(ops::matmul(conjugated(a), b));
    return without(unwrap(ops::matmul(withAxis(conjugated(a), -2), withAxis(b, -1))), 2, 2);
  case Product::MatVec:
    if (m < 2 || !isAlike)
      return std::nullopt;
    return n == 1 ? unwrap(ops::matmul(a, b))
                  : without(unwrap(ops::matmul(a, withAxis(b, -1))), 1, 1);
  case Product::VecMat:
    if (m < 1 || n < 2 || size(a, 1) != size(b, 2))
      return std::nullopt;
    return m == 1 ? unwrap(ops::matmul(conjugated(a), b))
                  : without(unwrap(ops::matmul(withAxis(conjugated(a), -2), b)), 2, 1);
  case Product::Inner:
    if (!isAlike || m > 2 || n > 2)
      return std::nullopt;
    return unwrap(
        ops::matmul(a, n == 2 ? unwrap(ops::transpose(b, std::vector<int64_t>{1, 0})) : b));
  case Product::VDot:
    if (a.size() != b.size() || m == 0 || n == 0)
      return std::nullopt;
    return unwrap(ops::matmul(conjugated(m == 1 ? a : unwrap(ops::reshape(a, Shape{-1}))),
                              n == 1 ? b : unwrap(ops::reshape(b, Shape{-1}))));
  }
  return std::nullopt;
}

/// A product of two arrays; `self` is (its kind, the number of the name of its errors).
PyObject *product(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *a = count == 2 && !names ? asPlainArray(args[0]) : nullptr;
    const Array *b = a ? asPlainArray(args[1]) : nullptr;
    if (!b || a->rank() == 0 || b->rank() == 0 || &a->device() != &b->device())
      Py_RETURN_NOTIMPLEMENTED;
    RecordScope line;
    const uint32_t word = RecordScope::errors();
    const auto name = static_cast<uint32_t>(PyLong_AsLong(PyTuple_GET_ITEM(self, 1)));
    const auto kind = static_cast<Product>(PyLong_AsLong(PyTuple_GET_ITEM(self, 0)));
    const bool isOwn = !word || (word >> kErrorNameShift) != 0;
    const uint32_t told = isOwn ? word : word | name << kErrorNameShift;
    RecordScope named(RecordScope::location(), kind == Product::VDot ? 0 : told); // as NumPy's
    auto made = productOf(kind, *a, *b);
    return made ? wrap(std::move(*made)) : Py_NewRef(Py_NotImplemented);
  });
}

PyMethodDef productMethod = quick("product", product);

PyMethodDef einsumMethod = quick("einsum", einsum);

} // namespace

void defineContractions(pb::module_ &m) {
  auto productOfKind = [](Product kind, int name) {
    return pb::reinterpret_steal<pb::object>(
        PyCFunction_New(&productMethod, pb::make_tuple(static_cast<long>(kind), name).ptr()));
  };
  m.attr("plain_vdot") = productOfKind(Product::VDot, 0);
  for (auto [product, kind] :
       {std::pair("plain_vecdot", Product::VecDot), std::pair("plain_matvec", Product::MatVec),
        std::pair("plain_vecmat", Product::VecMat), std::pair("plain_inner", Product::Inner)})
    m.def(product, [=](int name) { return productOfKind(kind, name); });
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
