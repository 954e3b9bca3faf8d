// Random numbers.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"

#include <algorithm>

namespace graphc::py {
namespace {

/// Where draws of the host go; null: they are recorded.
rt::Device *hostOfDraws() {
  rt::Device *device = unwrap(currentDevice());
  return Trace::active() || !onHost(*device) ? nullptr : device;
}

uint64_t wordOf(PyObject *object) {
  const uint64_t word = PyLong_AsUnsignedLongLong(object);
  if (word == ~uint64_t{0} && PyErr_Occurred())
    throw pb::error_already_set();
  return word;
}

PyObject *drawn(Result<std::optional<Array>> made) {
  std::optional<Array> array = unwrap(std::move(made));
  if (!array)
    Py_RETURN_NONE;
  return array->known() ? wrapKnown(*array->known()) : wrap(std::move(*array));
}

/// A shape; null where there is none, which the package says.
std::optional<Shape> shapeOf(PyObject *object) {
  Shape shape = object == Py_None ? Shape{} : toShape(object);
  bool isSize = std::ranges::all_of(shape, [](int64_t n) { return n >= 0; });
  return isSize ? std::optional(shape) : std::nullopt;
}

/// draw(kind, shape, stream, key, stride=0)
PyObject *draw(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    if (count != 4 && count != 5)
      throw pb::type_error("draw takes a kind, a shape, a stream, a key and a stride");
    rt::Device *device = hostOfDraws();
    auto shape = device ? shapeOf(args[1]) : std::nullopt;
    if (!shape)
      Py_RETURN_NONE;
    RecordScope scope;
    auto kind = static_cast<small::Draw>(PyLong_AsLong(args[0]));
    return drawn(small::draw(kind, *shape,
                             {wordOf(args[2]), wordOf(args[3]), count > 4 ? wordOf(args[4]) : 0},
                             *device));
  });
}

/// draw_integers(low, last, shape, stream, key, stride=0): int64 from low to low + last
PyObject *drawIntegers(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    if (count != 5 && count != 6)
      throw pb::type_error("draw_integers takes limits, a shape, a stream, a key and a stride");
    rt::Device *device = hostOfDraws();
    auto shape = device ? shapeOf(args[2]) : std::nullopt;
    if (!shape)
      Py_RETURN_NONE;
    RecordScope scope;
    const int64_t low = PyLong_AsLongLong(args[0]);
    if (low == -1 && PyErr_Occurred())
      throw pb::error_already_set();
    return drawn(small::drawIntegers(
        low, wordOf(args[1]), *shape,
        {wordOf(args[3]), wordOf(args[4]), count > 5 ? wordOf(args[5]) : 0}, *device));
  });
}

/// draw_order(count, stream, key): 0, 1, ..., count - 1 in random order
PyObject *drawOrder(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    if (count != 3)
      throw pb::type_error("draw_order takes a size, a stream and a key");
    rt::Device *device = hostOfDraws();
    auto shape = device ? shapeOf(args[0]) : std::nullopt;
    if (!shape || shape->rank() != 1)
      Py_RETURN_NONE;
    RecordScope scope;
    return drawn(small::drawOrder((*shape)[0], {wordOf(args[1]), wordOf(args[2]), 0}, *device));
  });
}

/// Tells devices of draws on the host apart; 0: they are recorded.
PyObject *drawPlace(PyObject *, PyObject *) {
  return guarded([] { return PyLong_FromVoidPtr(hostOfDraws()); });
}

PyMethodDef functions[] = {
    {"draw_place", drawPlace, METH_NOARGS,
     "A number of the device where draws of the host go now; 0: they are recorded."},
    {"draw", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(draw)), METH_FASTCALL,
     "draw(kind, shape, stream, key, stride=0): floats of random bits that need no program, or "
     "None."},
    {"draw_integers", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(drawIntegers)),
     METH_FASTCALL,
     "draw_integers(low, last, shape, stream, key, stride=0): int64 likewise, or None."},
    {"draw_order", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(drawOrder)),
     METH_FASTCALL, "draw_order(count, stream, key): a random order likewise, or None."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void defineRandom(pb::module_ &m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
  m.def("random", [](const std::string &name, const pb::args &operands) {
    auto kind = op::opKindFromName(name);
    if (!kind)
      throw pb::value_error("random: no operation is called '" + name + "'");
    return unwrap(ops::random(*kind, toArrays(operands)));
  });
  m.def(
      "random_word",
      [](uint64_t bits, const pb::object &device) {
        return unwrap(ops::randomWord(bits, toDevice(device)));
      },
      pb::arg("bits"), pb::arg("device") = pb::none());
}

} // namespace graphc::py
