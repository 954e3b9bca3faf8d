// Functions that the package calls for nearly every statement, as C functions: pybind11's
// dispatcher costs as much as they do for small arrays.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/GivenAxes.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/record/Counts.h"
#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/SmallNumeric.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <array>

namespace graphc::py {
namespace {

using strings::format;

/// The arguments of a call by position or name; those left out are None.
template <size_t Count>
class Arguments {
public:
  Arguments(const char *function, const std::array<const char *, Count> &names, size_t required,
            PyObject *const *args, Py_ssize_t given, PyObject *keywords) {
    auto positional = static_cast<size_t>(given);
    if (positional > Count)
      throw pb::type_error(format("{} takes {} arguments, got {}", function, Count, positional));
    values.fill(nullptr);
    std::copy_n(args, positional, values.begin());
    for (Py_ssize_t i = 0, n = keywords ? PyTuple_GET_SIZE(keywords) : 0; i < n; ++i) {
      PyObject *keyword = PyTuple_GET_ITEM(keywords, i);
      size_t at = 0;
      while (at < Count && PyUnicode_CompareWithASCIIString(keyword, names[at]) != 0)
        ++at;
      if (at == Count || values[at])
        throw pb::type_error(format("{} got an unexpected argument", function));
      values[at] = args[given + i];
    }
    for (size_t i = 0; i < Count; ++i) {
      if (!values[i] && i < required)
        throw pb::type_error(format("{} misses the argument {}", function, names[i]));
      values[i] = values[i] ? values[i] : Py_None;
    }
  }
  pb::handle operator[](size_t i) const { return values[i]; }
  bool flag(size_t i) const {
    int truth = PyObject_IsTrue(values[i]);
    if (truth < 0)
      throw pb::error_already_set();
    return truth != 0;
  }

private:
  std::array<PyObject *, Count> values;
};

std::string_view textOf(pb::handle object) {
  Py_ssize_t length = 0;
  const char *text = PyUnicode_AsUTF8AndSize(object.ptr(), &length);
  if (!text)
    throw pb::error_already_set();
  return {text, static_cast<size_t>(length)};
}

op::ReduceKind reduceKind(pb::handle name) {
  auto kind = op::reduceKindFromName(textOf(name));
  if (!kind)
    throw pb::value_error(format("reduce: no reduction is called '{}'", textOf(name)));
  return *kind;
}

PyObject *reduce(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&] {
    Arguments<5> given("reduce", {"kind", "x", "axes", "keepdims", "dtype"}, 2, args, count,
                       keywords);
    const Array &x = toReadNow(given[1]);
    const op::ReduceKind kind = reduceKind(given[0]);
    return wrap(ops::reduce(kind, x, toReducedAxes(given[2], kind, x.rank()), given.flag(3),
                            toConversion(given[4], x.dtype())));
  });
}

PyObject *scan(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&] {
    Arguments<4> given("scan", {"kind", "x", "axis", "dtype"}, 2, args, count, keywords);
    const std::optional<int64_t> along = toAxis(given[2]);
    const Array &x = toReadNow(given[1]);
    return wrap(ops::scan(reduceKind(given[0]), x, along, toConversion(given[3], x.dtype())));
  });
}

PyObject *matmul(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&] {
    Arguments<2> given("matmul", {"x", "y"}, 2, args, count, keywords);
    const Array *x = asArray(given[0]), *y = asArray(given[1]); // products are of fixed sizes
    rt::Device *device = x ? &x->device() : y ? &y->device() : nullptr;
    return wrap(ops::matmul(toReadNow(given[0], device), toReadNow(given[1], device)));
  });
}

/// Computes those of many small arrays that are pending, without the GIL, before they are joined.
void computeMany(std::vector<Array> &arrays) {
  if (arrays.size() < small::kVeryMany || Trace::active() || !mayBeOnHost(arrays[0].device()))
    return;
  std::vector<Array *> pending;
  for (Array &x : arrays) {
    if (x.isOpen() || x.size() * itemSize(x.dtype()) > small::kMostOfVeryMany)
      return;
    if (!x.known() && x.storage()->current()->state() == NodeState::Pending)
      pending.push_back(&x);
  }
  if (!pending.empty())
    storeNow(pending, "loop");
}

Array joined(std::vector<Array> arrays, std::optional<int64_t> axis) {
  computeMany(arrays);
  if (!axis)
    for (Array &x : arrays)
      if (x.rank() != 1)
        x = unwrap(ops::reshape(x, {x.size()}));
  return unwrap(ops::concatenate(arrays, axis.value_or(0)));
}

PyObject *concatenate(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&] {
    Arguments<2> given("concatenate", {"arrays", "axis"}, 1, args, count, keywords);
    std::optional<int64_t> axis = 0;
    if (!given[1].is_none())
      axis = toInt(given[1]);
    else if (count > 1 || keywords)
      axis.reset();
    if (axis)
      if (PyObject *done = directJoin(itemsOf(given[0].ptr()), *axis))
        return done;
    return wrap(joined(toArrays(given[0], deviceOf(given[0])), axis));
  });
}

/// The same of arrays, and lists and tuples of numbers, along an axis that is a plain integer;
/// NotImplemented for others.
PyObject *plainConcatenate(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  const bool hasAxis = count + named == 2;
  const bool isPlain =
      count >= 1 && (hasAxis ? PyLong_CheckExact(args[1]) != 0 : count + named == 1) &&
      (!named || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axis") == 0);
  const std::span items = isPlain ? itemsOf(args[0]) : std::span<PyObject *const>();
  if (items.empty())
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    const int64_t axis = hasAxis ? toInt(args[1]) : 0;
    if (PyObject *done = directJoin(items, axis))
      return done;
    rt::Device *device = deviceOf(args[0]);
    device = device ? device : unwrap(currentDevice());
    std::vector<Array> arrays;
    arrays.reserve(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      const std::span now = itemsOf(args[0]); // other threads may have changed the list
      PyObject *item = i < now.size() ? now[i] : nullptr;
      if (!item)
        Py_RETURN_NOTIMPLEMENTED;
      const Array *x = asAnyArray(item);
      arrays.push_back(x ? toArray(item) : packSequence(item, *device, true));
      if (arrays.back().isNull())
        Py_RETURN_NOTIMPLEMENTED;
    }
    PlainScope scope;
    return wrap(joined(std::move(arrays), axis));
  });
}

/// append(x, value) of a vector and a number or a vector; NotImplemented for others.
PyObject *plainAppend(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 2 && !names ? asAnyArray(args[0]) : nullptr;
    if (!x || x->rank() != 1 || x->isOpen())
      Py_RETURN_NOTIMPLEMENTED;
    const Array *y = asAnyArray(args[1]);
    const bool isNumber = PyFloat_CheckExact(args[1]) || PyLong_CheckExact(args[1]);
    if (y ? y->rank() > 1 || y->isOpen() || &y->device() != &x->device() : !isNumber)
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    Array added = y ? *y : toArray(args[1], &x->device());
    if (added.rank() == 0)
      added = unwrap(ops::reshape(added, {1}));
    const Array both[] = {*x, std::move(added)};
    return wrap(ops::concatenate(both, 0));
  });
}

bool isNumber(PyObject *object) {
  int overflow = 0;
  if (PyLong_CheckExact(object))
    PyLong_AsLongLongAndOverflow(object, &overflow);
  return PyFloat_CheckExact(object) || (PyLong_CheckExact(object) && !overflow);
}

/// vstack of vectors of one size and dtype; NotImplemented for others.
PyObject *plainRows(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const std::span items = count == 1 && !names ? itemsOf(args[0]) : std::span<PyObject *const>();
  if (items.empty())
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    std::vector<Array> rows;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::span now = itemsOf(args[0]); // other threads may have changed the list
      const Array *x = i < now.size() ? asPlainArray(now[i]) : nullptr;
      if (!x || x->rank() != 1 || !x->view().isContiguous() ||
          (i > 0 && (x->size() != rows[0].size() || x->dtype() != rows[0].dtype() ||
                     &x->device() != &rows[0].device())))
        Py_RETURN_NOTIMPLEMENTED;
      rows.push_back(unwrap(ops::reshape(*x, Shape{1, x->size()})));
    }
    return wrap(joined(std::move(rows), 0));
  });
}

/// hstack and, where `self` is True, column_stack of row-major arrays and numbers; NotImplemented
/// for others.
PyObject *plainStack(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const bool isPlain =
      count == 1 && !names && (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]));
  const Py_ssize_t size = isPlain ? PySequence_Fast_GET_SIZE(args[0]) : 0;
  const bool areColumns = self == Py_True;
  if (size == 0)
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    rt::Device *device = deviceOf(args[0]);
    std::vector<Array> arrays;
    bool hasRows = false;
    PlainScope scope;
    for (Py_ssize_t i = 0; device && i < size; ++i) {
      PyObject *item = PySequence_Fast_GET_ITEM(args[0], i);
      const Array *x = asAnyArray(item);
      if (x ? x->isOpen() || (x->rank() > 1 && !x->view().isContiguous()) : !isNumber(item))
        Py_RETURN_NOTIMPLEMENTED;
      arrays.push_back(toArray(item, device));
      Array &last = arrays.back();
      const int64_t rank = last.rank();
      if (rank < 2 && areColumns)
        last = unwrap(ops::reshape(last, Shape{last.size(), 1}));
      else if (rank == 0)
        last = unwrap(ops::reshape(last, Shape{1}));
      hasRows = last.rank() > 1;
      if (hasRows != (arrays.front().rank() > 1))
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (!device)
      Py_RETURN_NOTIMPLEMENTED;
    return wrap(joined(std::move(arrays), hasRows));
  });
}

PyObject *library(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&] {
    Arguments<5> given("library", {"name", "operands", "params", "shape", "dtype"}, 5, args, count,
                       keywords);
    auto routine = routineFromName(textOf(given[0]));
    if (!routine)
      throw pb::value_error(format("library: no routine is called '{}'", textOf(given[0])));
    std::vector<int64_t> numbers;
    for (pb::handle param : given[2])
      numbers.push_back(toInt(param));
    return wrap(ops::library(*routine, toArrays(given[1], deviceOf(given[1])), numbers,
                             {toDType(given[4]), toShape(given[3])}));
  });
}

/// A routine of rows, of which a vector is one.
PyObject *row(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&] {
    Arguments<4> given("row", {"name", "x", "param", "dtype"}, 4, args, count, keywords);
    auto routine = routineFromName(textOf(given[0]));
    Array x = toArray(given[1]);
    if (!routine || x.rank() != 1)
      throw pb::value_error("row takes the name of a routine and a vector");
    const int64_t size = x.shape()[0];
    Array rows[] = {unwrap(ops::reshape(x, {1, size}))};
    Array made =
        unwrap(ops::library(*routine, rows, {toInt(given[2])}, {toDType(given[3]), {1, size}}));
    return wrap(ops::reshape(made, {size}));
  });
}

/// False where the order has to be recorded.
PyObject *sortNow(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&] {
    Array *x = count == 2 ? asArray(args[0]) : nullptr;
    if (!x)
      throw pb::type_error("sort_now takes an Array and whether the largest comes first");
    const bool descending = PyObject_IsTrue(args[1]) == 1;
    return PyBool_FromLong(unwrap(small::sortNow(*x, descending)));
  });
}

/// Null where that has to be recorded.
NodeRef countsOf(const Array &x, const Array *weights, int64_t least) {
  // Of a few such sums the elements cost less than a launch, wherever they are asked for.
  constexpr int64_t kMostSums = 1 << 15;
  const bool isThere = weights && !weights->known() && x.size() <= kMostSums && !Trace::active() &&
                       small::denseElementsOf(x).base && small::denseElementsOf(*weights).base;
  NodeRef counts;
  if (isThere || small::isLoop(op::OpKind::Scatter, x.size(), x.device()))
    counts =
        unwrap(weights ? small::weightedBincount(x, *weights, least) : small::bincount(x, least));
  if (!counts && !weights)
    counts = unwrap(countsNow(x, least));
  return counts;
}

/// None where the general way has to look.
PyObject *bincount(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    Arguments<3> given("bincount", {"x", "least", "weights"}, 2, args, count, keywords);
    const Array *x = asArray(given[0]);
    const Array *weights = given[2].is_none() ? nullptr : asArray(given[2]);
    const auto least = toInt(given[1]);
    RecordScope scope;
    if (!x || (!weights && !given[2].is_none()) ||
        (weights && &weights->device() != &x->device()) || x->rank() != 1 ||
        !isInteger(x->dtype()) || least < 0)
      Py_RETURN_NONE;
    NodeRef counts = countsOf(*x, weights, least);
    if (!counts)
      Py_RETURN_NONE;
    return wrap(small::arrayOf(std::move(counts)));
  });
}

/// bincount(x) and bincount(x, weights) of arrays, with an integer as `minlength`.
PyObject *plainBincount(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    const bool isNamed = named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0),
                                                                        "minlength") == 0;
    const auto least = isNamed ? smallInteger(args[count]) : std::optional<int64_t>(0);
    const bool isPlain = (count == 1 || count == 2) && (isNamed || !named) && !Trace::active();
    const Array *x = isPlain && least && *least >= 0 ? asPlainArray(args[0]) : nullptr;
    const Array *weights = x && count == 2 ? asPlainArray(args[1]) : nullptr;
    if (!x || (count == 2 && !weights) || x->rank() != 1 || !isInteger(x->dtype()) ||
        (weights && &weights->device() != &x->device()))
      Py_RETURN_NOTIMPLEMENTED;
    NodeRef counts = countsOf(*x, weights, *least);
    if (!counts)
      Py_RETURN_NOTIMPLEMENTED;
    return wrap(small::arrayOf(std::move(counts)));
  });
}

/// Whether such a function takes arrays of a dtype beside Python's numbers of these kinds.
bool takesNumbers(small::Numeric kind, DType t, bool hasFloats) {
  const bool isExtreme = kind == small::Numeric::FMax || kind == small::Numeric::FMin;
  return isFloat(t) || (isComplex(t) && isExtreme) ||
         (isInteger(t) && (isExtreme || kind == small::Numeric::FMod) && !hasFloats);
}

/// Exact functions in a loop: None where they have to be recorded.
PyObject *numeric(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    auto kind = count == 2 || count == 3 ? small::numericFromName(textOf(args[0])) : std::nullopt;
    if (!kind)
      throw pb::type_error("numeric takes the name of a function and its operands");
    std::array<Operand, 2> operands;
    std::array<std::span<const int64_t>, 2> shapes;
    const Array *first = nullptr;
    const auto size = static_cast<size_t>(count - 1);
    // Of what derives from Python's floats: they, NumPy's and our single ones of 64 bits.
    if (std::all_of(args + 1, args + count, [](PyObject *x) { return PyFloat_Check(x); })) {
      rt::Device *device = unwrap(currentDevice());
      for (size_t i = 0; i < size; ++i)
        operands[i] = Operand(op::Scalar::ofFloat(PyFloat_AS_DOUBLE(args[i + 1])));
      if (Trace::active() || !mayBeOnHost(*device))
        Py_RETURN_NONE;
      NodeRef made = unwrap(
          small::numeric(*kind, std::span(operands).first(size), DType::Float64, Shape(), *device));
      if (!made)
        Py_RETURN_NONE;
      return wrap(Array(std::move(made)));
    }
    bool hasFloats = false;
    for (size_t i = 0; i < size; ++i) {
      const Array *x = asArray(args[i + 1]);
      if (!x && (PyFloat_CheckExact(args[i + 1]) || smallInteger(args[i + 1]))) {
        hasFloats |= PyFloat_CheckExact(args[i + 1]) != 0;
        operands[i] = Operand(toScalar(args[i + 1]));
        continue;
      }
      if (!x || (first && (x->dtype() != first->dtype() || &x->device() != &first->device())))
        Py_RETURN_NONE;
      first = x;
      operands[i] = Operand(*x);
      shapes[i] = operands[i].shape();
    }
    if (!first || !takesNumbers(*kind, first->dtype(), hasFloats) || Trace::active())
      Py_RETURN_NONE;
    auto shape = op::broadcastShapes("numeric", std::span(shapes).first(size));
    RecordScope scope;
    if (!shape || shape->rank() == 0 ||
        !small::isLoop(op::OpKind::Nextafter, elementCount(*shape).value_or(0), first->device()))
      Py_RETURN_NONE;
    NodeRef made = unwrap(small::numeric(*kind, std::span(operands).first(size), first->dtype(),
                                         *shape, first->device()));
    if (!made)
      Py_RETURN_NONE;
    return wrap(Array(std::move(made)));
  });
}

/// Places as int64 in memory that NumPy has; nothing for other objects and dtypes.
class HeldPlaces {
public:
  explicit HeldPlaces(PyObject *object) {
    if (asAnyArray(object) || !PyObject_CheckBuffer(object))
      return;
    if (PyObject_GetBuffer(object, &view, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0)
      PyErr_Clear();
    const std::string_view format = view.obj && view.format ? view.format : "";
    isHeld = view.ndim == 1 && (format == "l" || format == "q");
  }
  ~HeldPlaces() {
    if (view.obj)
      PyBuffer_Release(&view);
  }
  HeldPlaces(const HeldPlaces &) = delete;
  HeldPlaces &operator=(const HeldPlaces &) = delete;
  explicit operator bool() const { return isHeld; }
  std::span<const int64_t> places() const {
    return {static_cast<const int64_t *>(view.buf), static_cast<size_t>(view.shape[0])};
  }

private:
  Py_buffer view{};
  bool isHeld = false;
};

/// Reductions of slices: None where they have to be recorded.
PyObject *reduceAt(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    Arguments<5> given("reduceat", {"kind", "x", "starts", "axis", "dtype"}, 4, args, count,
                       keywords);
    const Array *x = asArray(given[1]);
    RecordScope scope;
    if (!x || Trace::active())
      Py_RETURN_NONE;
    const op::ReduceKind kind = reduceKind(given[0]);
    const auto axis = static_cast<size_t>(toInt(given[3]));
    const DType dtype =
        toConversion(given[4], x->dtype()).value_or(op::reduceDType(kind, x->dtype()));
    const HeldPlaces held(given[2].ptr());
    const Array starts = held ? Array() : toArray(given[2], &x->device());
    if (!held && starts.dtype() == DType::UInt64) // refused: no safe conversion
      Py_RETURN_NONE;
    NodeRef made = unwrap(held ? small::reduceSlices(kind, *x, axis, dtype, held.places())
                               : small::reduceSlices(kind, *x, axis, dtype, starts));
    if (!made)
      Py_RETURN_NONE;
    return wrap(Array(std::move(made)));
  });
}

PyObject *isOpen(PyObject *, PyObject *object) {
  const Array *x = asAnyArray(object);
  return PyBool_FromLong(x && x->isOpen());
}

PyObject *isPending(PyObject *, PyObject *object) {
  return guarded([&] {
    const Array *x = asAnyArray(object);
    if (!x)
      throw pb::type_error("pending takes an Array");
    // A part of what is computed is read where it lies.
    return PyBool_FromLong(x->isOpen() ||
                           (!x->known() && x->storage()->current()->state() == NodeState::Pending));
  });
}

/// Of the first array in an object, which may be nested lists and tuples.
rt::Device *firstDevice(PyObject *object) {
  if (const Array *x = asAnyArray(object))
    return &x->device();
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object))
    return nullptr;
  for (Py_ssize_t i = 0, n = PySequence_Fast_GET_SIZE(object); i < n; ++i)
    if (rt::Device *found = firstDevice(PySequence_Fast_GET_ITEM(object, i)))
      return found;
  return nullptr;
}

/// Whether the operands of a call are elsewhere than new arrays: the name of their device, or None.
PyObject *elsewhere(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    for (Py_ssize_t i = 0; i < count; ++i)
      if (rt::Device *device = firstDevice(args[i])) {
        if (device == unwrap(currentDevice()))
          break;
        return pb::str(device->info().name).release().ptr();
      }
    Py_RETURN_NONE;
  });
}

using Function = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
PyMethodDef function(const char *name, Function made, const char *text) {
  auto plain = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(made));
  return {name, plain, METH_FASTCALL | METH_KEYWORDS, text};
}

PyMethodDef functions[] = {
    function("reduce", reduce, "reduce(kind, x, axes=None, keepdims=False, dtype=None)"),
    function("scan", scan, "scan(kind, x, axis=None, dtype=None)"),
    function("matmul", matmul, "matmul(x, y)"),
    function("concatenate", concatenate, "concatenate(arrays, axis=0): of None, flattened"),
    function("plain_concatenate", plainConcatenate,
             "concatenate() for plain arguments; NotImplemented for others."),
    function("plain_append", plainAppend,
             "append() for plain arguments; NotImplemented for others."),
    function("library", library, "library(name, operands, params, shape, dtype)"),
    function("row", row, "row(name, x, param, dtype): a routine of rows of a vector"),
    function("plain_bincount", plainBincount,
             "bincount() for plain arguments; NotImplemented for others."),
    function("bincount", bincount,
             "bincount(x, least, weights=None): None where it has to be recorded"),
    {"numeric", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(numeric)), METH_FASTCALL,
     "numeric(name, *operands): fmod, fmax, fmin or spacing, or None"},
    {"sort_now", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sortNow)),
     METH_FASTCALL,
     "sort_now(x, descending): sorts the rows of a small computed array; False for others"},
    function("reduceat", reduceAt,
             "reduceat(kind, x, starts, axis, dtype=None): computed now, or None where it has to "
             "be recorded"),
    {"pending", isPending, METH_O, "Whether the value of an array is not computed."},
    {"is_open", isOpen, METH_O, "Whether an object is an array of an open size."},
    {"elsewhere", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(elsewhere)),
     METH_FASTCALL,
     "The device of the first array among objects and sequences of them, or None: there is none, "
     "or new "
     "arrays of this thread are made there."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void definePlainFunctions(pb::module_ &m) {
  static PyMethodDef stack =
      function("stack", plainStack, "The function for plain arguments; NotImplemented for others.");
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
  static PyMethodDef rows = quick("rows", plainRows);
  m.attr("plain_vstack") = pb::reinterpret_steal<pb::object>(PyCFunction_New(&rows, Py_None));
  m.attr("plain_hstack") = pb::reinterpret_steal<pb::object>(PyCFunction_New(&stack, Py_False));
  m.attr("plain_column_stack") =
      pb::reinterpret_steal<pb::object>(PyCFunction_New(&stack, Py_True));
}

} // namespace graphc::py
