//===- NumpyDraws.h - The numbers of NumPy's Generators, without NumPy ------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_NUMPYDRAWS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_NUMPYDRAWS_H

#include "frontends/python/bindings/Bindings.h"

#include <optional>

namespace graphc::py {

// Random.cpp
/// Where draws of the host go; null: they are recorded.
rt::Device *hostOfDraws();

/// 64 bits of a Python integer.
inline uint64_t wordOf(PyObject *object) {
  const uint64_t word = PyLong_AsUnsignedLongLong(object);
  if (word == ~uint64_t{0} && PyErr_Occurred())
    throw pb::error_already_set();
  return word;
}

/// A shape; null where there is none, which the package says.
inline std::optional<Shape> shapeOf(PyObject *object) {
  Shape shape = object == Py_None ? Shape{} : toShape(object);
  bool isSize = std::ranges::all_of(shape, [](int64_t n) { return n >= 0; });
  return isSize ? std::optional(shape) : std::nullopt;
}

/// Whether nobody else can hold a generator's lock.
inline bool isOnlyThread() {
  PyThreadState *head = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  return head == PyThreadState_Get() && !PyThreadState_Next(head);
}

/// Draws of Generators and, the last two, of RandomStates, by their place in
/// graphc/_random_numpy.py: `rand`, whose arguments are sizes, and `randint`.
enum class DrawOfGenerator : long {
  None = -1,
  Random,
  StandardNormal,
  Uniform,
  Normal,
  Integers,
  Rand,
  Randint
};

/// A draw of a number or a few, by the bit generator that `self` holds (`_source`, a capsule of
/// NumPy's), or that draws for it (`_numbers`). Null, with no error set and nothing drawn, for
/// other arguments and where other threads are.
PyObject *drawnByBits(DrawOfGenerator kind, PyObject *self, PyObject *const *args, Py_ssize_t count,
                      PyObject *names);

void defineNumpyDraws(pb::module_ &m);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_NUMPYDRAWS_H
