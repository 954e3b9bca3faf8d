// Random numbers.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/NumpyDraws.h"
#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace graphc::py {

rt::Device *hostOfDraws() {
  rt::Device *device = unwrap(currentDevice());
  return Trace::active() || !mayBeOnHost(*device) ? nullptr : device;
}

namespace {

PyObject *drawn(Result<std::optional<Array>> made) {
  std::optional<Array> array = unwrap(std::move(made));
  if (!array)
    Py_RETURN_NONE;
  return array->known() ? wrapKnown(*array->known()) : wrap(std::move(*array));
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

/// What the package's objects have in slots, by name; a null object where there is none.
class Slots {
public:
  explicit Slots(PyObject *object) : owner(object) {}
  pb::object operator[](PyObject *name) const {
    auto found =
        owner ? pb::reinterpret_steal<pb::object>(PyObject_GetAttr(owner, name)) : pb::object();
    if (!found)
      PyErr_Clear();
    return found;
  }
  uint64_t word(PyObject *name) const {
    const pb::object found = (*this)[name];
    const uint64_t value =
        found && PyLong_CheckExact(found.ptr()) ? PyLong_AsUnsignedLongLong(found.ptr()) : 0;
    PyErr_Clear();
    return value;
  }
  void set(PyObject *name, uint64_t value) const {
    auto number = pb::reinterpret_steal<pb::object>(PyLong_FromUnsignedLongLong(value));
    if (!number || PyObject_SetAttr(owner, name, number.ptr()) < 0)
      throw pb::error_already_set();
  }

private:
  PyObject *owner;
};

PyObject *named(const char *name) { return PyUnicode_InternFromString(name); }

/// How the parameters of a draw change a standard one.
enum class Scaled : long { Not, ByDeviation, BetweenEnds, ByMean };

/// How many parameters such draws have before their size.
constexpr std::array<Py_ssize_t, 4> kParameters = {0, 2, 2, 1};

/// Parameters of a draw as numbers; false for those that the general way has to look at.
bool parametersOf(Scaled how, PyObject *const *args, Py_ssize_t count, std::array<double, 2> &out) {
  constexpr std::array<std::array<double, 2>, 4> kDefaults = {{{}, {0, 1}, {0, 1}, {1, 0}}};
  constexpr int64_t kWhole = int64_t{1} << 31; // of integers
  const auto form = static_cast<size_t>(how);
  if (count > kParameters[form])
    return false;
  out = kDefaults[form];
  for (Py_ssize_t i = 0; i < count; ++i) {
    int overflow = 0;
    double &to = out[static_cast<size_t>(i)];
    if (PyFloat_CheckExact(args[i])) {
      to = PyFloat_AS_DOUBLE(args[i]);
    } else if (PyLong_CheckExact(args[i])) {
      const int64_t value = PyLong_AsLongLongAndOverflow(args[i], &overflow);
      if (overflow || value >= kWhole || value <= -kWhole)
        return false;
      to = static_cast<double>(value);
    } else {
      return false;
    }
  }
  switch (how) {
  case Scaled::Not:
    return true;
  case Scaled::ByDeviation:
    return out[1] > 0;
  case Scaled::BetweenEnds:
    return std::isfinite(out[1] - out[0]);
  case Scaled::ByMean:
    return out[0] > 0;
  }
  return false;
}

double scaled(Scaled how, const std::array<double, 2> &by, double value) {
  switch (how) {
  case Scaled::ByDeviation: // a draw is never -0
    return by[0] == 0 && by[1] == 1 ? value : value * by[1] + by[0];
  case Scaled::BetweenEnds:
    return by[0] == 0 && by[1] == 1 ? value : value * (by[1] - by[0]) + by[0];
  case Scaled::ByMean:
    return value * by[0];
  default:
    return value;
  }
}

/// The same of a row of the draws that were made ahead, as an array of its own.
PyObject *scaledRow(Scaled how, const std::array<double, 2> &by, const Array &all, uint64_t row) {
  PlainScope scope; // a function that stands for no operation
  IndexItem at;
  at.kind = IndexItem::Kind::Integer;
  at.integer = static_cast<int64_t>(row);
  const Array drawn = all.withView(unwrap(all.view().index({&at, 1})));
  const bool isStandard = by[0] == 0 && by[1] == 1;
  if (how == Scaled::Not || (how != Scaled::ByMean && isStandard))
    return wrap(ops::copy(drawn));
  const double factor = how == Scaled::ByDeviation ? by[1]
                        : how == Scaled::ByMean    ? by[0]
                                                   : by[1] - by[0];
  const Operand product[] = {drawn, op::Scalar::ofFloat(factor)};
  Array made = unwrap(ops::elementwise(op::OpKind::Mul, product));
  if (how == Scaled::ByMean)
    return wrap(std::move(made));
  const Operand sum[] = {made, op::Scalar::ofFloat(by[0])};
  return wrap(ops::elementwise(op::OpKind::Add, sum));
}

/// The size of a draw, which comes last or by its name, taken away from `count`; nothing for what
/// is no small number. None: one number.
std::optional<int64_t> sizeOf(Scaled how, PyObject *const *args, Py_ssize_t &count,
                              PyObject *names) {
  constexpr int64_t kShort = 512; // as _SHORT of graphc/_random_generator.py
  PyObject *given = nullptr;
  if (names) {
    const bool isNamed = PyTuple_GET_SIZE(names) == 1 &&
                         PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "size") == 0;
    if (!isNamed)
      return std::nullopt;
    given = args[count];
  } else if (count == kParameters[static_cast<size_t>(how)] + 2) {
    given = args[--count];
  }
  if (!given || given == Py_None)
    return 0;
  int overflow = 0;
  const int64_t size =
      PyLong_CheckExact(given) ? PyLong_AsLongLongAndOverflow(given, &overflow) : 0;
  return size > 0 && size <= kShort && !overflow ? std::optional(size) : std::nullopt;
}

/// The key of the draws made ahead of vectors of a size; of single numbers that of `self`.
pb::object keyOf(PyObject *self, int64_t size) {
  PyObject *single = PyTuple_GET_ITEM(self, 0);
  if (!size)
    return pb::reinterpret_borrow<pb::object>(single);
  return pb::make_tuple(pb::handle(PyTuple_GET_ITEM(single, 0)), pb::make_tuple(size));
}

/// The shape that a draw of uniform floats has, which is its only argument, or comes after its
/// parameters or by its name; nothing for what is not of few numbers.
std::optional<Shape> fewOf(Scaled how, PyObject *const *args, Py_ssize_t &count, PyObject *names) {
  if (how != Scaled::Not && how != Scaled::BetweenEnds)
    return std::nullopt;
  const Py_ssize_t before = count;
  PyObject *given = nullptr;
  if (names && PyTuple_GET_SIZE(names) == 1 &&
      PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "size") == 0)
    given = args[count];
  else if (!names && count == kParameters[static_cast<size_t>(how)] + 2)
    given = args[--count];
  Shape shape;
  bool isPlain = given && (PyLong_CheckExact(given) ||
                           (PyTuple_CheckExact(given) && PyTuple_GET_SIZE(given) > 0));
  const Py_ssize_t rank = isPlain && PyTuple_CheckExact(given) ? PyTuple_GET_SIZE(given) : 1;
  shape.resize(static_cast<size_t>(rank));
  int64_t product = 1;
  for (Py_ssize_t i = 0; isPlain && i < rank; ++i) {
    PyObject *size = PyTuple_CheckExact(given) ? PyTuple_GET_ITEM(given, i) : given;
    int overflow = 0;
    const int64_t n = PyLong_CheckExact(size) ? PyLong_AsLongLongAndOverflow(size, &overflow) : 0;
    isPlain = n > 0 && n <= small::kFew && (product *= n) <= small::kFew;
    shape[static_cast<size_t>(i)] = n;
  }
  if (!isPlain)
    count = before;
  return isPlain ? std::optional(std::move(shape)) : std::nullopt;
}

/// Few uniform floats, which are drawn sooner than made ahead; null where they are drawn otherwise.
PyObject *drawFew(Scaled how, const std::array<double, 2> &by, const Shape &shape, const Slots &at,
                  PyObject *position, PyObject *keyName, PyObject *inArray) {
  rt::Device *device = hostOfDraws();
  if (!device || at[inArray].ptr() != Py_False)
    return nullptr;
  const uint64_t stream = at.word(position);
  const small::Scale scale{by[1] - by[0], by[0]};
  const bool isStandard = how == Scaled::Not || (by[0] == 0 && by[1] == 1);
  PlainScope scope;
  std::optional<Array> made =
      unwrap(small::draw(small::Draw::Unit64, shape, {stream, at.word(keyName), 0}, *device,
                         isStandard ? nullptr : &scale));
  if (!made)
    return nullptr;
  at.set(position, stream + 1);
  return wrap(std::move(*made));
}

/// A Generator's draw of a number or a short vector that was made ahead (Ahead.ready, which this is
/// where no other thread may hold the lock); NotImplemented for others. `self` is (the key of such
/// draws of single numbers, how many streams one takes, how parameters change it).
PyObject *drawAhead(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  static PyObject *const bitGenerator = named("bit_generator"), *const state = named("_state"),
                         *const ahead = named("ahead"), *const inArray = named("in_array"),
                         *const position = named("position"), *const values = named("values"),
                         *const first = named("first"), *const stride = named("stride"),
                         *const place = named("place"), *const last = named("last"),
                         *const parameters = named("parameters");
  return guarded([&]() -> PyObject * {
    static PyObject *const key = named("key");
    const auto how = static_cast<Scaled>(PyLong_AsLong(PyTuple_GET_ITEM(self, 2)));
    std::array<double, 2> by{};
    const bool isUnit = PyLong_AsLong(PyTuple_GET_ITEM(self, 1)) == 1;
    if (Py_ssize_t rest = count; count >= 1 && isUnit)
      if (auto few = fewOf(how, args, rest, names);
          few && parametersOf(how, args + 1, rest - 1, by) && isOnlyThread()) {
        const pb::object owner = Slots(args[0])[bitGenerator];
        const pb::object source = owner ? Slots(owner.ptr())[state] : pb::object();
        if (PyObject *drawn =
                source ? drawFew(how, by, *few, Slots(source.ptr()), position, key, inArray)
                       : nullptr)
          return drawn;
      }
    const auto size = count < 1 ? std::nullopt : sizeOf(how, args, count, names);
    if (!size || !parametersOf(how, args + 1, count - 1, by) || !isOnlyThread())
      Py_RETURN_NOTIMPLEMENTED;
    const pb::object generator = Slots(args[0])[bitGenerator];
    const pb::object stream = Slots(generator.ptr())[state];
    const Slots at(stream.ptr());
    const pb::object kinds = at[ahead];
    PyObject *made = kinds && PyDict_CheckExact(kinds.ptr())
                         ? PyDict_GetItemWithError(kinds.ptr(), keyOf(self, *size).ptr())
                         : nullptr;
    if (!made || at[inArray].ptr() != Py_False)
      Py_RETURN_NOTIMPLEMENTED;
    const Slots drawn(made);
    const pb::object list = drawn[values];
    const uint64_t now = at.word(position), begin = drawn.word(first), step = drawn.word(stride);
    const Array *all = list && *size ? asPlainArray(list.ptr()) : nullptr;
    if (!list || (*size ? !all || all->rank() != 2 : !PyList_CheckExact(list.ptr())) || step == 0 ||
        now < begin || (now - begin) % step != 0 || !drawn[parameters].is_none() ||
        drawn.word(place) != reinterpret_cast<uint64_t>(hostOfDraws()))
      Py_RETURN_NOTIMPLEMENTED;
    const uint64_t row = (now - begin) / step;
    if (row >= static_cast<uint64_t>(all ? all->shape()[0] : PyList_GET_SIZE(list.ptr())))
      Py_RETURN_NOTIMPLEMENTED;
    drawn.set(last, now);
    at.set(position, now + PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(self, 1)));
    if (all)
      return scaledRow(how, by, *all, row);
    PyObject *value = PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(row));
    return how == Scaled::Not ? Py_NewRef(value)
                              : PyFloat_FromDouble(scaled(how, by, PyFloat_AS_DOUBLE(value)));
  });
}

PyMethodDef aheadMethod = {
    "draw", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(drawAhead)),
    METH_FASTCALL | METH_KEYWORDS, "A draw that was made ahead; NotImplemented for others."};

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
  m.def("draw_ahead", [](const pb::object &key, int streams, int scaled) {
    return pb::reinterpret_steal<pb::object>(
        PyCFunction_New(&aheadMethod, pb::make_tuple(key, streams, scaled).ptr()));
  });
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
