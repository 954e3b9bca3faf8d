// class ufunc: an elementwise function as an object. A call with its operands alone records at
// once; everything else (outputs, masks, dtypes) goes to the handler, which Python sets.
#include "frontends/python/bindings/Asking.h"
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/ComplexScalar.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Imported.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/python/bindings/WhereChosen.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/SmallNumeric.h"
#include "frontends/record/Trace.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <span>
#include <structmember.h>

namespace graphc::py {
namespace {

struct Ufunc {
  PyObject_HEAD vectorcallfunc call;
  PyObject *dict;
  PyObject *function; ///< of the operands; null: the recorder's operation `kind`
  op::OpKind kind;
  int operands;
  int results;
};

/// handler(ufunc, args, kwargs), and writer(result, out, casting, name). Owned for the life of the
/// process.
PyObject *handler = nullptr, *writer = nullptr;

/// The class. Owned for the life of the process.
PyTypeObject *ufuncType = nullptr;

constexpr size_t kMaxOperands = 4;

/// Of so many elements, levels of a fold by halves cost less than a look at the array by NumPy.
constexpr int64_t kFewElements = 2048;

/// Of at most so many operands.
template <size_t Most>
Array recordOf(op::OpKind kind, PyObject *const *args, size_t count) {
  std::array<std::optional<Array>, Most> holders;
  std::array<Operand, Most> operands;
  // Operands without a device go to the first that has one.
  rt::Device *device = nullptr;
  for (size_t i = 0; i < count && !device; ++i)
    if (Array *a = asOpenArray(args[i]))
      device = &a->device();
  for (size_t i = 0; i < count; ++i) {
    if (!toOpenOperand(args[i], operands[i], holders[i], device)) {
      pb::handle type = reinterpret_cast<PyObject *>(Py_TYPE(args[i]));
      if (pb::hasattr(type, "__array_ufunc__") || pb::hasattr(type, "__array_wrap__"))
        raiseForeign(std::string(Py_TYPE(args[i])->tp_name) + " has results of its own");
      holders[i] = toArray(args[i], device);
      operands[i] = Operand(*holders[i]);
    }
  }
  if (kind == op::OpKind::Pow &&
      (!operands[0].array || operands[0].array->dtype() !=
                                 DType::Bool)) { // whose square is no int8 here, unlike of x ** 2
    RecordScope scope, named(RecordScope::location(), errorsUnder(kind));
    if (operands[0].array && isComplex(operands[0].array->dtype()) && !operands[1].array &&
        operands[1].scalar.kind == op::Scalar::Kind::Int && operands[1].scalar.integer == -1)
      operands[1] = op::Scalar::ofFloat(-1); // the quotient, unlike x ** -1
    return unwrap(ops::power(operands[0], operands[1]));
  }
  return unwrap(ops::elementwise(kind, std::span(operands).first(count)));
}

Array record(op::OpKind kind, PyObject *const *args, size_t count) {
  return count <= 2 ? recordOf<2>(kind, args, count) : recordOf<kMaxOperands>(kind, args, count);
}

/// Whether that many operands and outputs may be given by place; an error of the caller's line is
/// set where not.
bool takes(PyObject *self, Py_ssize_t count) {
  const auto *u = reinterpret_cast<const Ufunc *>(self);
  if (count >= u->operands && count <= u->operands + u->results)
    return true;
  PyObject *name = PyObject_GetAttrString(self, "__name__");
  if (name)
    PyErr_Format(PyExc_TypeError, "%U() takes from %d to %d positional arguments but %zd %s given",
                 name, u->operands, u->operands + u->results, count, count == 1 ? "was" : "were");
  Py_XDECREF(name);
  return false;
}

PyObject *callHandler(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  if (!takes(self, count))
    return nullptr;
  return guarded([&]() -> PyObject * {
    if (!handler)
      throw pb::type_error("a ufunc takes its operands only");
    pb::tuple positional(count);
    for (Py_ssize_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(positional.ptr(), i, Py_NewRef(args[i]));
    pb::dict keywords;
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < named; ++i)
      if (PyDict_SetItem(keywords.ptr(), PyTuple_GET_ITEM(names, i), args[count + i]) < 0)
        throw pb::error_already_set();
    PyObject *all[] = {self, positional.ptr(), keywords.ptr()};
    return PyObject_Vectorcall(handler, all, 3, nullptr);
  });
}

/// Python's integers, where an operation makes floats of them that are those integers.
std::optional<double> wholeNumber(op::OpKind kind, PyObject *operand) {
  constexpr long long kMost = 1LL << 53;
  int overflow = 0;
  if (!PyLong_CheckExact(operand) || !op::opInfo(kind).promoteToFloat ||
      kind == op::OpKind::Reciprocal)
    return std::nullopt;
  const long long value = PyLong_AsLongLongAndOverflow(operand, &overflow);
  const bool isWhole = !overflow && value <= kMost && value >= -kMost;
  return isWhole ? std::optional(static_cast<double>(value)) : std::nullopt;
}

/// A single float that the host has: a known value, or a number, which goes where new arrays go.
std::optional<KnownValue> knownFloat(op::OpKind kind, PyObject *operand) {
  const KnownValue *value = knownScalar(operand);
  const Array *x = value ? nullptr : asAnyArray(operand);
  if (value || x) {
    value = value ? value : x->known();
    return value && isFloat(value->dtype) ? std::optional(*value) : std::nullopt;
  }
  std::optional<double> number = wholeNumber(kind, operand);
  if (!number && !PyFloat_CheckExact(operand) && numpyScalarDType(operand) != DType::Float64)
    return std::nullopt;
  rt::Device *device = unwrap(currentDevice());
  if (!mayBeOnHost(*device))
    return std::nullopt;
  const double given = number ? *number : PyFloat_AS_DOUBLE(operand);
  return KnownValue{std::bit_cast<uint64_t>(given), DType::Float64, device};
}

/// The operation on a single float that is known, in a loop; null when there is more to it.
PyObject *ofKnown(op::OpKind kind, PyObject *operand) {
  if (Trace::active())
    return nullptr;
  const auto value = knownFloat(kind, operand);
  if (!value)
    return nullptr;
  if (auto folded = ops::foldValues(kind, *value, 0))
    return wrapKnown(*folded);
  RecordScope scope;
  if (small::hasLoop(kind, value->dtype) ||
      !op::acceptsDType(op::opInfo(kind).operandDTypes, value->dtype) ||
      !small::isLoop(kind, 1, *value->device))
    return nullptr;
  std::optional<Array> known; // a number needs none
  if (value->dtype != DType::Float64)
    known.emplace(*value);
  const Operand one[] = {
      known ? Operand(*known)
            : Operand(op::Scalar::ofFloat(std::bit_cast<double>(value->bits)), DType::Float64)};
  auto made = unwrap(small::valueByUnit(kind, one, value->dtype, *value->device));
  return made ? wrapKnown(*made) : nullptr;
}

bool hasAxes(PyObject *operand) {
  const Array *x = asAnyArray(operand);
  return x && x->rank() > 0;
}

/// Whether an object makes something of results that it was an operand of, or the results.
bool wrapsResults(PyObject *object) {
  if (asAnyArray(object) || PyFloat_Check(object) || PyLong_Check(object) || PyList_Check(object) ||
      isNumpyArray(object) || numpyScalarDType(object))
    return false;
  pb::handle type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  return (pb::hasattr(type, "__array_wrap__") || pb::hasattr(type, "__array_ufunc__")) &&
         !pb::isinstance<pb::array>(object);
}

/// A function of the package would make arrays of such operands.
PyObject *callFunction(const Ufunc &u, PyObject *const *args, size_t count) {
  const bool isPlain = std::none_of(args, args + count, wrapsResults);
  return isPlain ? PyObject_Vectorcall(u.function, args, count, nullptr)
                 : guarded([]() -> PyObject * { raiseForeign("results are wrapped"); });
}

PyObject *callPlain(const Ufunc &u, PyObject *const *args) {
  auto count = static_cast<size_t>(u.operands);
  if (u.function)
    return callFunction(u, args, count);
  return guarded([&] {
    PyObject *made = nullptr;
    if (count <= 2 && (hasAxes(args[0]) || (count == 2 && hasAxes(args[1]))))
      made = directOperation(u.kind, args[0], count == 2 ? args[1] : nullptr);
    else if (count == 1)
      made = ofKnown(u.kind, args[0]);
    if (!made && count == 1)
      made = functionOfComplex(u.kind, args[0]);
    return made ? made : wrap(record(u.kind, args, count));
  });
}

/// The one Array that a call has besides its operands, as `out`; or null.
PyObject *outputOf(const Ufunc &u, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  bool isNamed = count == u.operands && named == 1 &&
                 PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "out") == 0;
  // An output by place is deprecated there, which is Python's to say.
  const bool isExtreme = u.kind == op::OpKind::Maximum || u.kind == op::OpKind::Minimum;
  const bool isPlaced = count == u.operands + 1 && named == 0 && !isExtreme;
  if (u.results != 1 || !(isNamed || isPlaced))
    return nullptr;
  PyObject *out = args[u.operands];
  if (isNamed && PyTuple_CheckExact(out) && PyTuple_GET_SIZE(out) == 1)
    out = PyTuple_GET_ITEM(out, 0);
  const Array *array = asAnyArray(out);
  return array && !array->isOpen() ? out : nullptr;
}

/// The results for an output: of one without elements NumPy computes none, so that nothing is met.
PyObject *callFor(const Ufunc &u, PyObject *const *args, PyObject *out) {
  if (asAnyArray(out)->size() > 0)
    return callPlain(u, args);
  RecordScope scope, silent(RecordScope::location(), 0);
  return callPlain(u, args);
}

/// Writes the result of a call to its output; anything but a plain copy is Python's. Takes over
/// `result`.
PyObject *writeTo(PyObject *self, PyObject *out, PyObject *result) {
  auto owned = pb::reinterpret_steal<pb::object>(result);
  return guarded([&]() -> PyObject * {
    if (PyObject *done = writtenTo(out, owned))
      return done;
    const Array *value = asArray(result);
    Array &target = *asArray(out);
    if (!value || value->dtype() != target.dtype() || !(value->shape() == target.shape()) ||
        target.view().isReadOnly() || target.isValue()) {
      pb::object name = pb::handle(self).attr("__name__");
      return pb::handle(writer)(owned, pb::handle(out), "same_kind", name).release().ptr();
    }
    IndexItem all;
    check(ops::setItem(target, {&all, 1}, *value));
    tellAtOnce(target);
    return Py_NewRef(out);
  });
}

/// ufunc(operands, out=array, where=mask), or with `out` by place, which is as large or broadcast;
/// NotImplemented for others.
PyObject *callMasked(const Ufunc &u, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Py_ssize_t named = PyTuple_GET_SIZE(names);
  const bool isMasked = count + named == u.operands + 2 && count >= u.operands && u.operands <= 2 &&
                        u.results == 1 && !u.function && named > 0;
  // An output by place is deprecated there, which is Python's to say.
  const bool isExtreme = u.kind == op::OpKind::Maximum || u.kind == op::OpKind::Minimum;
  PyObject *out = isMasked && count > u.operands && !isExtreme ? args[u.operands] : nullptr;
  const Array *mask = nullptr;
  for (Py_ssize_t i = 0; isMasked && i < named; ++i) {
    PyObject *name = PyTuple_GET_ITEM(names, i), *value = args[count + i];
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0)
      out = value;
    else if (PyUnicode_CompareWithASCIIString(name, "where") == 0)
      mask = asPlainArray(value);
  }
  const Array *target = out && mask ? asPlainArray(out) : nullptr;
  if (!target || target->rank() == 0 || mask->dtype() != DType::Bool ||
      !small::broadcasts(mask->shape(), target->shape()) || &mask->device() != &target->device() ||
      target->view().isReadOnly())
    return Py_NewRef(Py_NotImplemented);
  const auto operands = std::span(args, static_cast<size_t>(u.operands));
  const bool hasFloats = std::ranges::any_of(operands, [](PyObject *operand) {
    const Array *x = asPlainArray(operand);
    return x && isInexact(x->dtype());
  });
  const bool tellsOfNan =
      u.kind == op::OpKind::LogAddExp || (u.kind == op::OpKind::Div && isComplex(target->dtype()));
  if (!hasFloats || tellsOfNan)
    return Py_NewRef(Py_NotImplemented);
  return guarded([&]() -> PyObject * {
    RecordScope scope;
    const pb::object result = resultWhereChosen(
        [&](PyObject *const *given) { return callPlain(u, given); }, *mask, operands, *target);
    if (!result)
      return Py_NewRef(Py_NotImplemented);
    const Operand chosen[] = {*mask, *asPlainArray(result.ptr()), *target};
    const Array made = unwrap(ops::elementwise(op::OpKind::Select, chosen));
    IndexItem all;
    check(ops::setItem(*asArray(out), {&all, 1}, made));
    tellAtOnce(*asArray(out));
    return Py_NewRef(out);
  });
}

/// By what same-kind casts go: from integers to those with signs, too, but that is a promotion or
/// goes to NumPy's rules.
int kindRank(DType t) {
  return isComplex(t) ? 4 : isFloat(t) ? 3 : t == DType::Bool ? 0 : isSigned(t) ? 2 : 1;
}

/// ufunc(operands, dtype=dtype) of arrays of the dtype's kind or whose values it has, and numbers;
/// with a `casting` or the memory order K, which change nothing then. NotImplemented for others.
PyObject *callConverted(const Ufunc &u, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  constexpr Py_ssize_t kMost = 2;
  std::optional<DType> dtype;
  bool isPlain = count == u.operands && count <= kMost && u.results == 1 && !u.function;
  for (Py_ssize_t i = 0; isPlain && i < PyTuple_GET_SIZE(names); ++i) {
    PyObject *name = PyTuple_GET_ITEM(names, i), *value = args[count + i];
    auto is = [&](const char *text, const char *given) {
      return PyUnicode_CompareWithASCIIString(name, text) == 0 && PyUnicode_CheckExact(value) &&
             PyUnicode_CompareWithASCIIString(value, given) == 0;
    };
    if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0) {
      dtype = namedDType(value);
      isPlain = dtype.has_value();
    } else {
      isPlain = is("casting", "same_kind") || is("casting", "unsafe") || is("order", "K");
    }
  }
  std::array<std::optional<Array>, kMost> converted;
  std::array<Operand, kMost> operands;
  int arrays = 0;
  for (size_t i = 0; isPlain && i < static_cast<size_t>(count); ++i) {
    const Array *x = asPlainArray(args[i]);
    if (!x && !PyLong_CheckExact(args[i]) && !PyFloat_CheckExact(args[i]))
      return Py_NewRef(Py_NotImplemented);
    arrays += x && x->rank() > 0;
    isPlain =
        dtype && (x ? op::promoteTypes(x->dtype(), *dtype) == *dtype ||
                          kindRank(x->dtype()) == kindRank(*dtype)
                    : isInexact(*dtype) || (PyLong_CheckExact(args[i]) && *dtype != DType::Bool));
  }
  if (!isPlain || !arrays || op::opInfo(u.kind).resultRule != op::ResultRule::SameAsOperands ||
      !op::acceptsDType(op::opInfo(u.kind).operandDTypes, *dtype))
    return Py_NewRef(Py_NotImplemented);
  return guarded([&]() -> PyObject * {
    RecordScope line;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const Array *x = asPlainArray(args[i]);
      if (!x) {
        operands[i] = toScalar(args[i]);
        continue;
      }
      converted[i] = x->dtype() == *dtype ? *x : unwrap(ops::cast(*x, *dtype));
      operands[i] = *converted[i];
    }
    const auto given = std::span(operands).first(static_cast<size_t>(count));
    return wrap(u.kind == op::OpKind::Pow ? ops::power(given[0], given[1])
                                          : ops::elementwise(u.kind, given));
  });
}

PyObject *compute(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  auto *u = reinterpret_cast<Ufunc *>(self);
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count == u->operands && (!names || PyTuple_GET_SIZE(names) == 0))
    return callPlain(*u, args);
  PyObject *out = outputOf(*u, args, count, names);
  if (!out) {
    for (auto *plain : {callMasked, callConverted}) {
      PyObject *made = names ? plain(*u, args, count, names) : Py_NewRef(Py_NotImplemented);
      if (made != Py_NotImplemented)
        return made;
      Py_DECREF(made);
    }
    return callHandler(self, args, count, names);
  }
  PyObject *result = callFor(*u, args, out);
  return result ? writeTo(self, out, result) : nullptr;
}

PyObject *call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  const auto *u = reinterpret_cast<const Ufunc *>(self);
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  PyObject *theirs = ofClasses(self, args, count, names);
  if (theirs || PyErr_Occurred())
    return theirs;
  PyObject *result = compute(self, args, flags, names);
  if (!result && !u->function && count == u->operands && !names)
    if (auto floats = largeAsFloats(u->kind, {args, static_cast<size_t>(count)})) {
      std::array<PyObject *, kMaxOperands> all{};
      for (size_t i = 0; i < floats->size(); ++i)
        all[i] = (*floats)[i].ptr();
      result = compute(self, all.data(), static_cast<size_t>(count), nullptr);
    }
  return result ? result : handOver(self, args, PyVectorcall_NARGS(flags), names);
}

/// The reduction that a binary operation is folded by.
std::optional<op::ReduceKind> reductionOf(const Ufunc &u) {
  if (u.function)
    return std::nullopt;
  switch (u.kind) {
  case op::OpKind::Add:
    return op::ReduceKind::Sum;
  case op::OpKind::Mul:
    return op::ReduceKind::Prod;
  case op::OpKind::Minimum:
    return op::ReduceKind::Min;
  case op::OpKind::Maximum:
    return op::ReduceKind::Max;
  case op::OpKind::LogicalAnd:
    return op::ReduceKind::All;
  case op::OpKind::LogicalOr:
    return op::ReduceKind::Any;
  default:
    return std::nullopt;
  }
}

bool isBitwise(const Ufunc &u) {
  return !u.function && (u.kind == op::OpKind::BitwiseAnd || u.kind == op::OpKind::BitwiseOr ||
                         u.kind == op::OpKind::BitwiseXor);
}

/// The bitwise operation of all elements of a vector of integers or bools that is computed, which
/// no order changes: an array has no reduction for it. Null for others.
PyObject *foldBits(const Ufunc &u, const Array &x) {
  if (!isBitwise(u) || x.rank() != 1 || isInexact(x.dtype()) || Trace::active())
    return nullptr;
  const small::Elements elements = small::denseElementsOf(x);
  if (!elements.base)
    return nullptr;
  uint64_t found = 0;
  small::withWord(itemSize(x.dtype()), [&]<typename W>(W) {
    auto *from = reinterpret_cast<const W *>(elements.first);
    auto fold = [&](auto combine) {
      found = std::accumulate(from + 1, from + x.size(), *from, combine);
    };
    if (u.kind == op::OpKind::BitwiseAnd)
      fold([](W a, W b) { return static_cast<W>(a & b); });
    else if (u.kind == op::OpKind::BitwiseOr)
      fold([](W a, W b) { return static_cast<W>(a | b); });
    else
      fold([](W a, W b) { return static_cast<W>(a ^ b); });
  });
  return wrapKnown({found, x.dtype(), &x.device()});
}

/// What is folded by halves, as graphc/_ufunc.py does it: operations of floats (`_ROUNDED` there),
/// and bits of small arrays, whose order changes nothing.
bool foldsByHalves(const Ufunc &u, const Array &x) {
  if (isBitwise(u))
    return x.rank() > 1 && x.size() <= kFewElements && !isInexact(x.dtype());
  return !u.function && (u.kind == op::OpKind::LogAddExp || u.kind == op::OpKind::Hypot) &&
         isFloat(x.dtype());
}

/// All rows of `x`, two or more, combined to one, the only row of the result: the first half with
/// the second, and again. What is left over of an odd number waits until it makes a number even.
Array foldByHalves(op::OpKind kind, Array x) {
  RecordScope named(RecordScope::location(), errorsUnder(op::OpKind::Reduce));
  auto rows = [](const Array &of, int64_t from, int64_t to) {
    IndexItem item;
    item.kind = IndexItem::Kind::Slice;
    item.start = from;
    item.stop = to;
    return unwrap(ops::index(of, {&item, 1}));
  };
  std::optional<Array> left;
  for (int64_t count = x.shape()[0]; count > 1; count = x.shape()[0] + (left ? 1 : 0)) {
    const int64_t half = count / 2, own = x.shape()[0];
    if (count % 2 == 0 && left && own > half) {
      const Array both[] = {x, *left};
      x = unwrap(ops::concatenate(both, 0));
      left.reset();
    }
    const Array upper = rows(x, 0, half);
    const Array lower = left && own == half ? *left : rows(x, half, 2 * half);
    const Operand halves[] = {upper, lower};
    if (count % 2 == 0)
      left.reset();
    else if (!left)
      left = rows(x, own - 1, own);
    x = unwrap(ops::elementwise(kind, halves));
  }
  return x;
}

/// What `ufunc.reduce(x, axis=0, keepdims=False)` and `accumulate` were given.
struct PlainFold {
  const Ufunc &operation;
  const Array &x;
  std::optional<int64_t> axis = 0; ///< none: all
  bool keepsAxes = false;
};

/// Reads an axis of `x`, or None; false for what is neither.
bool readAxis(const Array &x, PyObject *given, std::optional<int64_t> &axis) {
  if (given == Py_None) {
    axis.reset();
    return true;
  }
  int overflow = 0;
  if (!PyLong_CheckExact(given))
    return false;
  const int64_t place = PyLong_AsLongLongAndOverflow(given, &overflow);
  if (overflow || place < -x.rank() || place >= x.rank())
    return false;
  axis = place < 0 ? place + x.rank() : place;
  return true;
}

std::optional<PlainFold> plainFold(PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Array *x = count == 2 || count == 3 ? asPlainArray(args[1]) : nullptr;
  if (!x || x->rank() == 0 || x->size() == 0 || Py_TYPE(args[0]) != ufuncType)
    return std::nullopt;
  PlainFold fold{*reinterpret_cast<const Ufunc *>(args[0]), *x};
  if (count == 3 && !readAxis(*x, args[2], fold.axis))
    return std::nullopt;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    PyObject *name = PyTuple_GET_ITEM(names, i), *value = args[count + i];
    if (count == 2 && PyUnicode_CompareWithASCIIString(name, "axis") == 0) {
      if (!readAxis(*x, value, fold.axis))
        return std::nullopt;
    } else if (PyUnicode_CompareWithASCIIString(name, "keepdims") == 0 && PyBool_Check(value)) {
      fold.keepsAxes = value == Py_True;
    } else {
      return std::nullopt;
    }
  }
  return fold;
}

PyObject *reduceHalves(const PlainFold &fold) {
  const Array &x = fold.x;
  const bool isWhole = !fold.axis;
  const auto axis = fold.axis.value_or(0);
  if ((isWhole ? x.size() : x.shape()[static_cast<size_t>(axis)]) < 2 ||
      (isWhole && fold.keepsAxes))
    Py_RETURN_NOTIMPLEMENTED;
  std::vector<int64_t> order{axis};
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      order.push_back(i);
  RecordScope line;
  Array rows = isWhole ? unwrap(ops::reshape(x, Shape{-1}))
               : axis  ? unwrap(ops::transpose(x, order))
                       : x;
  const Array row = foldByHalves(fold.operation.kind, std::move(rows));
  if (fold.keepsAxes && axis == 0)
    return wrap(Array(row));
  const int64_t zero[] = {0};
  if (auto value = row.rank() == 1 ? ops::readElement(row, zero) : std::nullopt)
    return wrapKnown(*value);
  IndexItem first;
  first.kind = IndexItem::Kind::Integer;
  const Array result = unwrap(ops::index(row, {&first, 1}));
  if (result.rank() == 0)
    return wrap(unwrap(ops::copy(result)));
  return wrap(fold.keepsAxes ? unwrap(ops::expandDims(result, {axis})) : Array(result));
}

/// ufunc.reduce(x, axis=0, keepdims=False) and, where `self` is True, ufunc.accumulate(x, axis=0);
/// NotImplemented for other arguments.
PyObject *foldPlain(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const auto fold = plainFold(args, count, names);
    if (!fold)
      Py_RETURN_NOTIMPLEMENTED;
    const Array &x = fold->x;
    const auto kind = reductionOf(fold->operation);
    if (self == Py_True) {
      const bool isScan = kind && kind != op::ReduceKind::All && kind != op::ReduceKind::Any;
      if (!isScan || !fold->axis || fold->keepsAxes)
        Py_RETURN_NOTIMPLEMENTED;
      return wrap(ops::scan(*kind, x, *fold->axis, std::nullopt));
    }
    if (foldsByHalves(fold->operation, x))
      return reduceHalves(*fold);
    if (x.rank() == 1 && !fold->keepsAxes)
      if (PyObject *value = foldBits(fold->operation, x))
        return value;
    if (!kind)
      Py_RETURN_NOTIMPLEMENTED;
    const auto axes = fold->axis ? Axes(std::vector<int64_t>{*fold->axis}) : Axes();
    return wrap(ops::reduce(*kind, x, axes, fold->keepsAxes, std::nullopt));
  });
}

/// ufunc.outer(x, y) of vectors; NotImplemented for other arguments.
PyObject *outerPlain(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 3 && !names ? asPlainArray(args[1]) : nullptr;
    const Array *y = x ? asPlainArray(args[2]) : nullptr;
    if (!y || x->rank() != 1 || y->rank() != 1 || &x->device() != &y->device() ||
        Py_TYPE(args[0]) != ufuncType)
      Py_RETURN_NOTIMPLEMENTED;
    const auto &u = *reinterpret_cast<const Ufunc *>(args[0]);
    if (u.function || u.operands != 2)
      Py_RETURN_NOTIMPLEMENTED;
    RecordScope line; // errors are the operation's
    const Array column = unwrap(ops::reshape(*x, Shape{x->size(), 1}));
    const Operand both[] = {column, *y};
    return wrap(ops::elementwise(u.kind, both));
  });
}

void deallocate(PyObject *self) {
  auto *u = reinterpret_cast<Ufunc *>(self);
  PyTypeObject *type = Py_TYPE(self);
  Py_CLEAR(u->dict);
  Py_CLEAR(u->function);
  type->tp_free(self);
  Py_DECREF(type);
}

Ufunc *allocate(PyTypeObject *type, int operands, int results) {
  auto *u = reinterpret_cast<Ufunc *>(type->tp_alloc(type, 0));
  if (!u)
    throw pb::error_already_set();
  u->call = call;
  u->dict = PyDict_New();
  u->function = nullptr;
  u->kind = {};
  u->operands = operands;
  u->results = results;
  return u;
}

/// ufunc(function, nin, nout): `function` takes nin operands and gives an Array, or a tuple of
/// nout.
PyObject *construct(PyTypeObject *type, PyObject *args, PyObject *) {
  return guarded([&]() -> PyObject * {
    PyObject *function = nullptr;
    int operands = 0, results = 1;
    if (!PyArg_ParseTuple(args, "Oi|i", &function, &operands, &results))
      throw pb::error_already_set();
    Ufunc *u = allocate(type, operands, results);
    u->function = Py_NewRef(function);
    return reinterpret_cast<PyObject *>(u);
  });
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Ufunc, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Ufunc, dict), READONLY, nullptr},
    {"nin", T_INT, offsetof(Ufunc, operands), READONLY, "Number of operands."},
    {"nout", T_INT, offsetof(Ufunc, results), READONLY, "Number of results."},
    {nullptr, 0, 0, 0, nullptr}};

/// As of arrays (Asking.h).
PyObject *classOf(PyObject *self, void *) {
  if (!Asker::now().meansAnyArray())
    return Py_NewRef(Py_TYPE(self));
  return PyObject_GetAttrString(PyImport_AddModule("numpy"), "ufunc");
}

PyGetSetDef attributes[] = {
    {"__class__", classOf, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

/// ufunc.reduceat(x, starts) of sums, products and extremes along the first axis, of a list of
/// starts or an array of int64; NotImplemented for others.
PyObject *foldSlices(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  constexpr size_t kMost = 64;
  const auto *u = count == 3 && !names && Py_IS_TYPE(args[0], ufuncType)
                      ? reinterpret_cast<const Ufunc *>(args[0])
                      : nullptr;
  const Array *x = u && !u->function && !Trace::active() ? asPlainArray(args[1]) : nullptr;
  const auto kind = x ? reductionOf(*u) : std::nullopt;
  if (!kind || x->isValue() || x->rank() == 0)
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    RecordScope scope;
    const DType t = op::reduceDType(*kind, x->dtype());
    NodeRef made;
    if (const Array *starts = asPlainArray(args[2])) {
      if (starts->dtype() == DType::Int64 && starts->rank() == 1)
        made = unwrap(small::reduceSlices(*kind, *x, 0, t, *starts));
    } else if (const std::span items = itemsOf(args[2]); !items.empty() && items.size() <= kMost) {
      std::array<int64_t, kMost> places;
      for (size_t i = 0; i < items.size(); ++i) {
        const auto place = smallInteger(items[i]);
        if (!place || *place < 0 || *place >= x->shape()[0])
          Py_RETURN_NOTIMPLEMENTED;
        places[i] = *place;
      }
      made = unwrap(small::reduceSlices(*kind, *x, 0, t, std::span(places).first(items.size())));
    }
    return made ? wrap(Array(std::move(made))) : Py_NewRef(Py_NotImplemented);
  });
}

PyMethodDef slicesMethod = quick("reduceat", foldSlices);

PyMethodDef foldMethod = {
    "fold", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(foldPlain)),
    METH_FASTCALL | METH_KEYWORDS, "A fold of plain arguments; NotImplemented for others."};

PyMethodDef outerMethod = {
    "outer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(outerPlain)),
    METH_FASTCALL | METH_KEYWORDS, "All pairs of plain arguments; NotImplemented for others."};

/// NumPy's ufuncs are instances as well: what `frompyfunc` makes, and those of other packages.
PyObject *isUfunc(PyObject *self, PyObject *object) {
  static constinit Imported theirs("numpy", "ufunc");
  return PyBool_FromLong(PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(self)) ||
                         PyObject_TypeCheck(object, theirs.type()));
}
PyMethodDef checks[] = {{"__instancecheck__", isUfunc, METH_O, nullptr},
                        {nullptr, nullptr, 0, nullptr}};

/// The class of the class of ufuncs.
PyTypeObject *makeTypeOfType() {
  PyType_Slot slots[] = {{Py_tp_methods, checks}, {0, nullptr}};
  PyType_Spec spec = {"graphc.UfuncType", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  return reinterpret_cast<PyTypeObject *>(PyType_FromSpecWithBases(
      &spec, pb::make_tuple(pb::handle(reinterpret_cast<PyObject *>(&PyType_Type))).ptr()));
}

PyTypeObject *makeType() {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
                                {Py_tp_new, reinterpret_cast<void *>(construct)},
                                {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                                {Py_tp_members, members},
                                {Py_tp_getset, attributes},
                                {0, nullptr}};
  static PyType_Spec spec = {"graphc.ufunc", sizeof(Ufunc), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  auto *type = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  PyTypeObject *typeOfType = type ? makeTypeOfType() : nullptr;
  if (!typeOfType)
    return nullptr;
  Py_SET_TYPE(reinterpret_cast<PyObject *>(type),
              typeOfType); // which it owns; `type` is no heap type
  return type;
}

} // namespace

void defineUfuncs(pb::module_ &m) {
  PyTypeObject *type = makeType();
  if (!type)
    throw pb::error_already_set();
  ufuncType = type;
  m.add_object("ufunc", reinterpret_cast<PyObject *>(type));
  for (int i = 0; i < op::kOpKindCount; ++i) {
    auto kind = static_cast<op::OpKind>(i);
    const op::OpInfo &info = op::opInfo(kind);
    if (info.category != op::Category::Elementwise || kind == op::OpKind::Cast ||
        kind == op::OpKind::Bitcast || info.operandDTypes == op::DTypeClass::Random)
      continue;
    Ufunc *u = allocate(type, info.arity, 1);
    u->kind = kind;
    auto object = pb::reinterpret_steal<pb::object>(reinterpret_cast<PyObject *>(u));
    object.attr("__name__") = std::string(info.name);
    object.attr("__doc__") = std::string(info.summary);
    m.attr(std::string(info.name).c_str()) = object;
  }
  for (auto [name, isScan] :
       {std::pair("plain_ufunc_reduce", Py_False), std::pair("plain_ufunc_accumulate", Py_True)})
    m.attr(name) = pb::reinterpret_steal<pb::object>(PyCFunction_New(&foldMethod, isScan));
  m.attr("plain_ufunc_reduceat") =
      pb::reinterpret_steal<pb::object>(PyCFunction_New(&slicesMethod, nullptr));
  m.attr("plain_ufunc_outer") =
      pb::reinterpret_steal<pb::object>(PyCFunction_New(&outerMethod, nullptr));
  m.def("set_own_ufuncs", setOwnUfuncs);
  m.def("set_ufunc_handler", [](const pb::object &calls, const pb::object &writes) {
    handler = Py_NewRef(calls.ptr());
    writer = Py_NewRef(writes.ptr());
  });
}

} // namespace graphc::py
