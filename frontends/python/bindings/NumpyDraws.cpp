// What Generators over NumPy's bit generators draw without NumPy: few numbers word by word, many of
// a PCG64 on several threads.
#include "frontends/python/bindings/NumpyDraws.h"
#include "frontends/python/bindings/Gil.h"
#include "frontends/record/Small.h"

#include <array>
#include <cmath>

namespace graphc::py {
namespace {

/// draw_pcg64(normal, shape, shift, factor, state's upper and lower word, increment's): (array, the
/// state's words afterwards), or None
PyObject *drawPcg64(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    if (count != 8)
      throw pb::type_error("draw_pcg64 takes a kind, a shape, a shift, a factor and four words");
    rt::Device *device = hostOfDraws();
    auto shape = device ? shapeOf(args[1]) : std::nullopt;
    if (!shape)
      Py_RETURN_NONE;
    using Wide = rt::library::Pcg64::Wide;
    auto wide = [&](size_t i) { return Wide{wordOf(args[i])} << 64 | wordOf(args[i + 1]); };
    rt::library::Pcg64 bits{wide(4), wide(6)};
    const small::Scale scale{PyFloat_AsDouble(args[3]), PyFloat_AsDouble(args[2])};
    if (PyErr_Occurred())
      throw pb::error_already_set();
    const bool isNormal = args[0] == Py_True;
    RecordScope scope;
    Array drawn = [&] {
      const WithoutGil others;
      return unwrap(small::drawPcg64(isNormal, *shape, scale, bits, *device));
    }();
    return pb::make_tuple(pb::reinterpret_steal<pb::object>(wrap(std::move(drawn))),
                          static_cast<uint64_t>(bits.state >> 64),
                          static_cast<uint64_t>(bits.state))
        .release()
        .ptr();
  });
}

/// The parameters of a draw and its size.
struct Asked {
  std::array<PyObject *, 2> given{};
  Py_ssize_t count = 0;
  PyObject *size = nullptr;
};

/// Nothing where more is given than `most` parameters and a size, that by its name or last.
std::optional<Asked> askedOf(Py_ssize_t most, PyObject *const *args, Py_ssize_t count,
                             PyObject *names) {
  Asked asked;
  if (names && PyTuple_GET_SIZE(names) > 0) {
    if (PyTuple_GET_SIZE(names) != 1 ||
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "size") != 0)
      return std::nullopt;
    asked.size = args[count];
  } else if (count == most + 1) {
    asked.size = args[--count];
  }
  if (count > most)
    return std::nullopt;
  for (asked.count = 0; asked.count < count; ++asked.count)
    asked.given[static_cast<size_t>(asked.count)] = args[asked.count];
  return asked;
}

std::optional<double> numberOf(PyObject *object) {
  if (PyFloat_CheckExact(object))
    return PyFloat_AS_DOUBLE(object);
  int overflow = 0;
  const int64_t value =
      PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : INT64_MAX;
  constexpr int64_t kExact = int64_t{1} << 53;
  return !overflow && value <= kExact && value >= -kExact ? std::optional(double(value))
                                                          : std::nullopt;
}

/// What is done to standard numbers; nothing for parameters that NumPy has something to say about.
std::optional<small::Scale> scaleOf(DrawOfGenerator kind, const Asked &asked) {
  std::array<double, 2> given{kind == DrawOfGenerator::StandardNormal ? -0.0 : 0.0, 1};
  for (size_t i = 0; i < static_cast<size_t>(asked.count); ++i) {
    auto number = numberOf(asked.given[i]);
    if (!number)
      return std::nullopt;
    given[i] = *number;
  }
  const double factor = kind == DrawOfGenerator::Uniform ? given[1] - given[0] : given[1];
  if (!(factor > 0) || !std::isfinite(factor) || !std::isfinite(given[0]))
    return std::nullopt;
  return small::Scale{factor, given[0]};
}

/// How many numbers a size of an integer or a tuple of them asks for; none for others and for many.
std::optional<Shape> fewOf(PyObject *size) {
  Shape shape;
  if (!size || size == Py_None)
    return shape;
  const bool isTuple = PyTuple_CheckExact(size);
  shape.resize(isTuple ? static_cast<size_t>(PyTuple_GET_SIZE(size)) : 1);
  int64_t product = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    PyObject *item = isTuple ? PyTuple_GET_ITEM(size, static_cast<Py_ssize_t>(i)) : size;
    int overflow = 0;
    const int64_t n = PyLong_CheckExact(item) ? PyLong_AsLongLongAndOverflow(item, &overflow) : 0;
    if (n <= 0 || n > small::kFew || (product *= n) > small::kFew)
      return std::nullopt;
    shape[i] = n;
  }
  return shape.rank() ? std::optional(std::move(shape)) : std::nullopt;
}

/// The limits of integers that take half a word each: [low, low + last].
struct Limits {
  int64_t low = 0;
  uint32_t last = 0;
};
std::optional<Limits> limitsOf(const Asked &asked) {
  std::array<int64_t, 2> given{};
  for (size_t i = 0; i < static_cast<size_t>(asked.count); ++i) {
    int overflow = 0;
    given[i] = PyLong_CheckExact(asked.given[i])
                   ? PyLong_AsLongLongAndOverflow(asked.given[i], &overflow)
                   : INT64_MAX;
    if (overflow || given[i] > INT32_MAX || given[i] < -INT32_MAX)
      return std::nullopt;
  }
  const int64_t low = asked.count == 2 ? given[0] : 0;
  const int64_t last = given[static_cast<size_t>(asked.count) - 1] - low - 1;
  if (last < 1 || last >= int64_t{UINT32_MAX})
    return std::nullopt;
  return Limits{low, static_cast<uint32_t>(last)};
}

const rt::library::BitSource *sourceOf(PyObject *self) {
  static PyObject *const own = PyUnicode_InternFromString("_source"),
                         *const numbers = PyUnicode_InternFromString("_numbers"),
                         *const generator = PyUnicode_InternFromString("_bit_generator"),
                         *const name = PyUnicode_InternFromString("capsule");
  auto attribute = [](const pb::object &of, PyObject *what) {
    PyObject *found = nullptr; // without the exception that a missing one costs
    if (of && _PyObject_LookupAttr(of.ptr(), what, &found) < 0)
      PyErr_Clear();
    return pb::reinterpret_steal<pb::object>(found);
  };
  const auto owner = pb::reinterpret_borrow<pb::object>(self);
  pb::object capsule = attribute(owner, own);
  if (!capsule)
    capsule = attribute(attribute(attribute(owner, numbers), generator), name);
  void *found = capsule && PyCapsule_IsValid(capsule.ptr(), "BitGenerator")
                    ? PyCapsule_GetPointer(capsule.ptr(), "BitGenerator")
                    : nullptr;
  return static_cast<const rt::library::BitSource *>(found);
}

PyMethodDef functions[] = {
    {"draw_pcg64", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(drawPcg64)),
     METH_FASTCALL,
     "draw_pcg64(normal, shape, shift, factor, four words): NumPy's numbers, or None."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

PyObject *drawnByBits(DrawOfGenerator kind, PyObject *self, PyObject *const *args, Py_ssize_t count,
                      PyObject *names) {
  const bool isMasked = kind == DrawOfGenerator::Randint;
  const bool isInteger = isMasked || kind == DrawOfGenerator::Integers;
  const bool isStandard = kind == DrawOfGenerator::Random || kind == DrawOfGenerator::Rand ||
                          kind == DrawOfGenerator::StandardNormal;
  pb::object sizes; // of `rand`
  PyObject *only = nullptr;
  if (kind == DrawOfGenerator::Rand && count > 1 && !names) {
    sizes = pb::reinterpret_steal<pb::object>(PyTuple_New(count));
    for (Py_ssize_t i = 0; sizes && i < count; ++i)
      PyTuple_SET_ITEM(sizes.ptr(), i, Py_NewRef(args[i]));
    only = sizes.ptr();
    args = &only;
    count = 1;
  }
  auto asked = askedOf(isStandard ? 0 : 2, args, count, names);
  if (!asked || (isInteger && asked->count == 0))
    return nullptr;
  const auto shape = fewOf(asked->size);
  const auto limits = isInteger ? limitsOf(*asked) : std::optional(Limits{});
  const auto scale = isInteger ? std::optional(small::Scale{}) : scaleOf(kind, *asked);
  rt::Device *device = hostOfDraws();
  const rt::library::BitSource *bits =
      shape && limits && scale && device && isOnlyThread() ? sourceOf(self) : nullptr;
  if (!bits)
    return nullptr;
  const bool isNormal = kind == DrawOfGenerator::Normal || kind == DrawOfGenerator::StandardNormal;
  if (shape->rank()) {
    const auto how = isMasked    ? small::NumpysDraw::MaskedIntegers
                     : isInteger ? small::NumpysDraw::Integers
                     : isNormal  ? small::NumpysDraw::Normal
                                 : small::NumpysDraw::Uniform;
    RecordScope scope;
    return wrap(
        unwrap(small::drawNumpys(how, *shape, *scale, limits->low, limits->last, *bits, *device)));
  }
  if (isInteger) {
    if (isMasked)
      return PyLong_FromLongLong(limits->low + rt::library::drawMasked(*bits, limits->last));
    const int64_t drawn = limits->low + rt::library::drawBounded(*bits, limits->last);
    return wrapKnown({static_cast<uint64_t>(drawn), DType::Int64, device});
  }
  const double drawn = isNormal ? rt::library::drawNormal(*bits) : bits->unit(bits->state);
  return PyFloat_FromDouble(isStandard ? drawn : scale->shift + scale->factor * drawn);
}

void defineNumpyDraws(pb::module_ &m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
}

} // namespace graphc::py
