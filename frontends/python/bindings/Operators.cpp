// Python operators, from the dunders of the op table. They fill the type's number slots: pybind11's
// dispatcher costs as much as recording the operation.
#include "frontends/python/bindings/Operators.h"

#include "frontends/python/bindings/ComplexScalar.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Imported.h"
#include "frontends/python/bindings/ScalarErrors.h"
#include "frontends/record/FloatErrors.h"
#include "frontends/record/GatheredRows.h"
#include "frontends/record/Known.h"
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/Record.h"
#include "frontends/record/Trace.h"

#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace graphc::py {
Array settled(Array x) {
  if (x.isValue())
    check(x.fixSize());
  if (x.isValue())
    x.storage()->becomeArray();
  return x;
}

Array ownMemory(const Array &x, bool mustCopy) {
  return mustCopy || x.isValue() ? settled(unwrap(ops::copy(x))) : x;
}

namespace {

PyObject *notImplemented() { Py_RETURN_NOTIMPLEMENTED; }

Result<Array> computed(op::OpKind kind, std::span<const Operand, 2> both) {
  return kind == op::OpKind::Pow ? ops::power(both[0], both[1]) : ops::elementwise(kind, both);
}

/// `[0] * n` with a single result: Python repeats the sequence, or says that n is no integer, as it
/// does for NumPy's scalars. A sequence is what can be repeated and knows no products.
bool repeats(op::OpKind kind, PyObject *left, PyObject *right) {
  if (kind != op::OpKind::Mul)
    return false;
  for (auto [sequence, number] : {std::pair(left, right), std::pair(right, left)}) {
    const PyTypeObject *type = Py_TYPE(sequence);
    if (!type->tp_as_sequence || !type->tp_as_sequence->sq_repeat ||
        (type->tp_as_number && type->tp_as_number->nb_multiply))
      continue;
    const Array *count = asAnyArray(number);
    if (count && count->isValue())
      return true;
  }
  return false;
}

/// An array of a fixed size, which the object is, or a Python float as an operand; false for
/// others.
bool isPlainOperand(PyObject *object, const Array *x, Operand &out) {
  if (x) {
    out.array = x;
    return !x->isOpen();
  }
  if (!PyFloat_CheckExact(object))
    return false;
  out.scalar.kind = op::Scalar::Kind::Float;
  out.scalar.number = PyFloat_AS_DOUBLE(object);
  return true;
}

/// What NumPy has a scalar for; of other objects, the numbers of Python.
bool isScalar(PyObject *object, const Array *x) {
  return x ? x->isValue()
           : PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
}

/// Tells the errors of an operator under the name that it has for scalars.
class ScalarScope {
public:
  explicit ScalarScope(op::OpKind kind) : named(RecordScope::location(), errorsOfScalars(kind)) {}

private:
  RecordScope line;
  RecordScope named;
};

/// One of the two is an Array: Python asks the type of either.
PyObject *binary(op::OpKind kind, PyObject *left, PyObject *right) {
  return guarded([&] {
    const bool isKnown = knownScalar(left) || knownScalar(right);
    if (PyObject *value = isKnown ? operationOnValues(kind, left, right) : nullptr)
      return value;
    Array *first = asAnyArray(left), *second = asAnyArray(right);
    for (Array *x : {first, second})
      if (x)
        check(separateView(*x));
    const bool isSingle = (first && first->rank() == 0) || (second && second->rank() == 0);
    if ((first && first->rank() > 0) || (second && second->rank() > 0))
      if (PyObject *now = directOperation(kind, left, right))
        return now;
    if (std::array<Operand, 2> plain; !isSingle && isPlainOperand(left, first, plain[0]) &&
                                      isPlainOperand(right, second, plain[1]))
      return wrap(computed(kind, plain));
    if (PyObject *value = isSingle && !isKnown ? operationOnValues(kind, left, right) : nullptr)
      return value;
    if (PyObject *value = isSingle ? operationOnComplex(kind, left, right) : nullptr)
      return value;
    if (repeats(kind, left, right))
      return notImplemented();
    Array *x = asOpenArray(left), *y = asOpenArray(right);
    rt::Device *device = &(x ? x : y)->device();
    std::array<Operand, 2> both;
    std::array<std::optional<Array>, 2> holders;
    if (!toOpenOperand(left, both[0], holders[0], device) ||
        !toOpenOperand(right, both[1], holders[1], device))
      return notImplemented();
    std::optional<ScalarScope> scope;
    if (isSingle && isScalar(left, first) && isScalar(right, second))
      scope.emplace(kind);
    return wrap(computed(kind, both));
  });
}

PyObject *inPlace(op::OpKind kind, PyObject *self, PyObject *other) {
  return guarded([&] {
    Array *x = asOpenArray(self);
    if (x->isValue())
      return binary(kind, self, other);
    Converted y;
    if (!convertOpenOperand(other, y, &x->device()))
      return notImplemented();
    check(ops::inPlace(kind, *x, *y.operand));
    tellAtOnce(*x);
    return Py_NewRef(self);
  });
}

PyObject *unary(op::OpKind kind, PyObject *self) {
  return guarded([&] {
    if (PyObject *value = combineComplex(kind, self, nullptr))
      return value;
    const bool isSingle = knownScalar(self) || asAnyArray(self)->rank() == 0;
    PyObject *value =
        isSingle ? operationOnValue(kind, self) : directOperation(kind, self, nullptr);
    if (!value)
      value = operationOnComplex(kind, self, nullptr);
    if (value)
      return value;
    Operand one[] = {*asOpenArray(self)};
    std::optional<ScalarScope> scope;
    if (asOpenArray(self)->isValue())
      scope.emplace(kind);
    return wrap(ops::elementwise(kind, one));
  });
}

bool isDone(PyObject *result) { return result && result != Py_NotImplemented; }

std::string_view dunderOf(op::OpKind kind) { return op::opInfo(kind).dunders[0]; }

/// Of a known float64, or a number of Python's that is one.
bool isKnownFloat(PyObject *object, double &value, rt::Device *&device) {
  if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_CheckExact(object)) {
    constexpr int64_t kMost = int64_t{1} << 53; // those up to here are floats
    int overflow = 0;
    const int64_t whole = PyLong_AsLongLongAndOverflow(object, &overflow);
    value = static_cast<double>(whole);
    return !overflow && whole >= -kMost && whole <= kMost;
  }
  const KnownValue *known = knownScalar(object);
  if (!known || known->dtype != DType::Float64 || (device && device != known->device))
    return false;
  value = std::bit_cast<double>(known->bits);
  device = known->device;
  return true;
}

/// The four operations on such, which loops over elements do most; null, with no error set, where
/// there is more to it.
PyObject *combineKnown(op::OpKind kind, PyObject *left, PyObject *right) {
  double a = 0, b = 0;
  rt::Device *device = nullptr;
  const bool isBasic = kind == op::OpKind::Add || kind == op::OpKind::Sub ||
                       kind == op::OpKind::Mul || kind == op::OpKind::Div;
  if (!isBasic || !isKnownFloat(left, a, device) || !isKnownFloat(right, b, device) || !device ||
      Trace::active())
    return nullptr;
  const auto made = ops::foldValues(kind, {std::bit_cast<uint64_t>(a), DType::Float64, device},
                                    std::bit_cast<uint64_t>(b));
  return made ? guarded([&] { return wrapKnown(*made); }) : nullptr;
}

/// Of a known int64, or an integer of Python's that is one.
bool isKnownInteger(PyObject *object, int64_t &value, rt::Device *&device) {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
  }
  const KnownValue *known = knownScalar(object);
  if (!known || known->dtype != DType::Int64 || (device && device != known->device))
    return false;
  value = static_cast<int64_t>(known->bits);
  device = known->device;
  return true;
}

/// The same of int64, where it does not wrap around.
PyObject *combineKnownIntegers(op::OpKind kind, PyObject *left, PyObject *right) {
  using enum op::OpKind;
  int64_t a = 0, b = 0, made = 0;
  rt::Device *device = nullptr;
  const bool isBasic = kind == Add || kind == Sub || kind == Mul || kind == FloorDivide ||
                       kind == Remainder || kind == BitwiseAnd;
  if (!isBasic || !isKnownInteger(left, a, device) || !isKnownInteger(right, b, device) ||
      !device || Trace::active())
    return nullptr;
  const bool isDivision = kind == FloorDivide || kind == Remainder;
  if (isDivision ? b <= 0
                 : (kind == Add && __builtin_add_overflow(a, b, &made)) ||
                       (kind == Sub && __builtin_sub_overflow(a, b, &made)) ||
                       (kind == Mul && __builtin_mul_overflow(a, b, &made)))
    return nullptr;
  if (isDivision) {
    const int64_t rest = a % b, isBelow = rest < 0 ? 1 : 0;
    made = kind == FloorDivide ? a / b - isBelow : rest + isBelow * b;
  } else if (kind == BitwiseAnd) {
    made = a & b;
  }
  return guarded([&] { return wrapKnown({static_cast<uint64_t>(made), DType::Int64, device}); });
}

PyObject *binaryOrForeign(op::OpKind kind, PyObject *left, PyObject *right) {
  if (isOfNumpysClass(left) || isOfNumpysClass(right)) // which the recorder would refuse later
    return handOverOperator(dunderOf(kind), false, left, right, notImplemented());
  PyObject *result = combineKnown(kind, left, right);
  if (!result && !PyErr_Occurred())
    result = combineKnownIntegers(kind, left, right);
  if (!result && !PyErr_Occurred() && (asComplexScalar(left) || asComplexScalar(right)))
    result = guarded([&] { return combineComplex(kind, left, right); });
  if (!result && !PyErr_Occurred())
    result = binary(kind, left, right);
  if (!result) {
    PyObject *both[] = {left, right};
    if (auto floats = largeAsFloats(kind, both))
      result = binary(kind, (*floats)[0].ptr(), (*floats)[1].ptr());
  }
  if (isDone(result) || (result && repeats(kind, left, right)))
    return result;
  return handOverOperator(dunderOf(kind), false, left, right, result);
}

PyObject *inPlaceOrForeign(op::OpKind kind, PyObject *self, PyObject *other) {
  if (repeats(kind, self, other)) // which Python asks no class like ours for in place
    return PyNumber_Multiply(self, other);
  if (asComplexScalar(self)) // a new one; as an array it would have to be made
    return binaryOrForeign(kind, self, other);
  PyObject *result = inPlace(kind, self, other);
  return isDone(result) ? result : handOverOperator(dunderOf(kind), true, self, other, result);
}

/// The slots of one operation as C functions: a slot is told no more than its operands.
template <int Kind>
struct Slots {
  static constexpr auto kKind = static_cast<op::OpKind>(Kind);
  static PyObject *two(PyObject *x, PyObject *y) { return binaryOrForeign(kKind, x, y); }
  static PyObject *update(PyObject *x, PyObject *y) { return inPlaceOrForeign(kKind, x, y); }
  static PyObject *one(PyObject *x) { return unary(kKind, x); }
};

struct SlotFunctions {
  binaryfunc two, update;
  unaryfunc one;
};

template <int... Kinds>
constexpr auto slotFunctions(std::integer_sequence<int, Kinds...>) {
  return std::array<SlotFunctions, sizeof...(Kinds)>{
      SlotFunctions{Slots<Kinds>::two, Slots<Kinds>::update, Slots<Kinds>::one}...};
}
constexpr auto kSlots = slotFunctions(std::make_integer_sequence<int, op::kOpKindCount>());

/// Where the dunders of binary operations live. `**` and comparisons have slots of another shape.
struct BinarySlot {
  std::string_view dunder;
  binaryfunc PyNumberMethods::*two;
  binaryfunc PyNumberMethods::*update;
};
constexpr BinarySlot kBinarySlots[] = {
    {"add", &PyNumberMethods::nb_add, &PyNumberMethods::nb_inplace_add},
    {"sub", &PyNumberMethods::nb_subtract, &PyNumberMethods::nb_inplace_subtract},
    {"mul", &PyNumberMethods::nb_multiply, &PyNumberMethods::nb_inplace_multiply},
    {"truediv", &PyNumberMethods::nb_true_divide, &PyNumberMethods::nb_inplace_true_divide},
    {"floordiv", &PyNumberMethods::nb_floor_divide, &PyNumberMethods::nb_inplace_floor_divide},
    {"mod", &PyNumberMethods::nb_remainder, &PyNumberMethods::nb_inplace_remainder},
    {"and", &PyNumberMethods::nb_and, &PyNumberMethods::nb_inplace_and},
    {"or", &PyNumberMethods::nb_or, &PyNumberMethods::nb_inplace_or},
    {"xor", &PyNumberMethods::nb_xor, &PyNumberMethods::nb_inplace_xor},
    {"lshift", &PyNumberMethods::nb_lshift, &PyNumberMethods::nb_inplace_lshift},
    {"rshift", &PyNumberMethods::nb_rshift, &PyNumberMethods::nb_inplace_rshift},
};
struct UnarySlot {
  std::string_view dunder;
  unaryfunc PyNumberMethods::*one;
};
constexpr UnarySlot kUnarySlots[] = {
    {"neg", &PyNumberMethods::nb_negative},
    {"abs", &PyNumberMethods::nb_absolute},
    {"invert", &PyNumberMethods::nb_invert},
};
/// In the order of Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT, Py_GE.
constexpr std::string_view kComparisons[] = {"lt", "le", "eq", "ne", "gt", "ge"};
op::OpKind comparisons[std::size(kComparisons)];

template <typename T>
bool isTrueOf(int comparison, T a, T b) {
  switch (comparison) {
  case Py_LT:
    return a < b;
  case Py_LE:
    return a <= b;
  case Py_EQ:
    return a == b;
  case Py_NE:
    return a != b;
  case Py_GT:
    return a > b;
  default:
    return a >= b;
  }
}

/// The comparison of a known int64 or float64 with another one, or with such a number of Python's:
/// what loops over elements do most. Null, with no error set, where there is more to it.
PyObject *compareKnown(PyObject *self, PyObject *other, int comparison) {
  const KnownValue *a = knownScalar(self), *b = knownScalar(other);
  if (!a || (b && (b->dtype != a->dtype || b->device != a->device)) || Trace::active())
    return nullptr;
  bool isTrue = false;
  if (a->dtype == DType::Float64 && (b || PyFloat_CheckExact(other))) {
    isTrue = isTrueOf(comparison, std::bit_cast<double>(a->bits),
                      b ? std::bit_cast<double>(b->bits) : PyFloat_AS_DOUBLE(other));
  } else if (a->dtype == DType::Int64 && (b || PyLong_CheckExact(other))) {
    int overflow = 0;
    const int64_t second =
        b ? static_cast<int64_t>(b->bits) : PyLong_AsLongLongAndOverflow(other, &overflow);
    if (overflow)
      return nullptr;
    isTrue = isTrueOf(comparison, static_cast<int64_t>(a->bits), second);
  } else {
    return nullptr;
  }
  return guarded([&] { return wrapKnown({isTrue, DType::Bool, a->device}); });
}

PyObject *compare(PyObject *self, PyObject *other, int comparison) {
  if (PyObject *known = compareKnown(self, other, comparison))
    return known;
  if (PyErr_Occurred())
    return nullptr;
  return binaryOrForeign(comparisons[comparison], self, other);
}

PyObject *power(PyObject *x, PyObject *y, PyObject *modulus) {
  return modulus == Py_None ? binaryOrForeign(op::OpKind::Pow, x, y) : notImplemented();
}

PyObject *powerInPlace(PyObject *x, PyObject *y, PyObject *modulus) {
  return modulus == Py_None ? inPlaceOrForeign(op::OpKind::Pow, x, y) : notImplemented();
}

/// What is recorded while it lives tells nothing of an error.
class Untold {
public:
  explicit Untold(FloatError error)
      : before(setFloatModes(floatModes() &
                             ~(7u << (FloatModes::kModeBits * static_cast<int>(error))))) {}
  ~Untold() { setFloatModes(before); }
  Untold(const Untold &) = delete;
  Untold &operator=(const Untold &) = delete;

private:
  uint32_t before;
};

PyObject *divmod(PyObject *left, PyObject *right) {
  PyObject *result = guarded([&] {
    // A function of the package that stands for it, under whose name its errors are told.
    static constinit Imported named("graphc._numeric", "_divmod");
    return PyObject_CallFunctionObjArgs(named.get(), left, right, nullptr);
  });
  return isDone(result) ? result : handOverOperator("divmod", false, left, right, result);
}

PyObject *positive(PyObject *self) {
  return guarded([&] {
    const Array &x = *asOpenArray(self);
    if (x.dtype() == DType::Bool)
      raise(Status(ErrorCode::DType, "[positive] numbers are needed, not bool"));
    // In the order of ufuncs, which leaves broadcast axes where they are; copy("K") puts them last.
    const Operand one[] = {x};
    if (!x.isOpen() && ops::mayKeepOrder(one))
      if (AxisList order = ops::keptOrder(x.shape(), one); order.size() > 0)
        return wrap(ops::inOrder(
            order, one, [](std::span<const Operand> o) { return ops::copy(*o[0].array); }));
    return wrap(ops::copy(x));
  });
}

PyObject *matmulOfArrays(PyObject *left, PyObject *right) {
  return guarded([&] {
    Array *a = asArray(left), *b = asArray(right); // products are of fixed sizes
    Array *known = a ? a : b;
    auto operand = [&](PyObject *object, Converted &out) {
      if (!isNumpyArray(object) && !convertOperand(object, out, &known->device()))
        return Array();
      return out.holder ? *out.holder : toReadNow(object, &known->device());
    };
    Converted x, y;
    Array first = operand(left, x), second = operand(right, y);
    if (first.isNull() || second.isNull())
      return notImplemented();
    return wrap(ops::matmul(first, second));
  });
}

PyObject *matmul(PyObject *left, PyObject *right) {
  if (isOfNumpysClass(left) || isOfNumpysClass(right))
    return handOverOperator("matmul", false, left, right, notImplemented());
  PyObject *result = matmulOfArrays(left, right);
  return isDone(result) ? result : handOverOperator("matmul", false, left, right, result);
}

PyObject *matmulInPlace(PyObject *self, PyObject *other) {
  return guarded([&] {
    Array product = unwrap(ops::matmul(*asArray(self), toArray(other)));
    IndexItem all;
    check(ops::setItem(*asArray(self), {&all, 1}, product));
    return Py_NewRef(self);
  });
}

void fillSlots(PyHeapTypeObject &type, op::OpKind kind, std::string_view dunder) {
  const SlotFunctions &functions = kSlots[static_cast<size_t>(kind)];
  PyNumberMethods &number = type.as_number;
  for (const BinarySlot &slot : kBinarySlots)
    if (slot.dunder == dunder) {
      number.*slot.two = functions.two;
      number.*slot.update = functions.update;
    }
  for (const UnarySlot &slot : kUnarySlots)
    if (slot.dunder == dunder)
      number.*slot.one = functions.one;
  for (size_t i = 0; i < std::size(kComparisons); ++i)
    if (kComparisons[i] == dunder)
      comparisons[i] = kind;
}

} // namespace

PyObject *divmodOfArrays(PyObject *left, PyObject *right) {
  PyObject *quotient, *remainder;
  {
    // What has no quotient has no remainder, which tells of it; the other way round for zeros.
    Untold untold(FloatError::Invalid);
    quotient = binary(op::OpKind::FloorDivide, left, right);
  }
  if (!quotient || quotient == Py_NotImplemented)
    return quotient;
  {
    Untold untold(FloatError::Divide);
    remainder = binary(op::OpKind::Remainder, left, right);
  }
  PyObject *both = remainder ? PyTuple_Pack(2, quotient, remainder) : nullptr;
  Py_DECREF(quotient);
  Py_XDECREF(remainder);
  return both;
}

void setupOperators(PyHeapTypeObject *type) {
  for (int i = 0; i < op::kOpKindCount; ++i) {
    auto kind = static_cast<op::OpKind>(i);
    for (std::string_view dunder : op::opInfo(kind).dunders)
      fillSlots(*type, kind, dunder);
  }
  PyNumberMethods &number = type->as_number;
  number.nb_power = power;
  number.nb_inplace_power = powerInPlace;
  number.nb_positive = positive;
  number.nb_divmod = divmod;
  number.nb_matrix_multiply = matmul;
  number.nb_inplace_matrix_multiply = matmulInPlace;
  type->ht_type.tp_richcompare = compare;
}

} // namespace graphc::py
