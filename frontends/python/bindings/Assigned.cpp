#include "frontends/python/bindings/Assigned.h"

#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/ElementBits.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/record/HostTypes.h"
#include "frontends/record/Known.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace graphc::py {
namespace {

/// Whether every value of a dtype is one of another.
bool isSafe(DType from, DType to) { return op::promoteTypes(from, to) == to; }

/// The dtype in which NumPy holds elements of `t`.
pb::object heldAs(DType t) { return dtypeObject(t == DType::BFloat16 ? DType::Float32 : t); }

/// NumPy's assignment to a single element, whose errors are those wanted here.
pb::object byElement(const pb::object &value, DType t) {
  pb::object cell = pb::module_::import("numpy").attr("empty")(pb::tuple(), heldAs(t));
  cell[pb::tuple()] = value;
  return cell;
}

template <typename T>
bool areInRange(const NodeRef &node, DType from, DType t) {
  const auto *values = static_cast<const T *>(node->buffer()->host());
  auto count = node->bytes() / static_cast<int64_t>(sizeof(T));
  return std::all_of(values, values + count,
                     [&](T v) { return isInRange(std::bit_cast<uint64_t>(v), from, t); });
}

/// Whether a finite one of float64 numbers is beyond those of dtype `t`: NumPy tells of it,
/// whatever the numbers are written to.
bool overflows(const NodeRef &node, DType t) {
  const auto *values = static_cast<const double *>(node->buffer()->host());
  // From 65520 on numbers round to infinity as float16; those in between are NumPy's to look at.
  const double most = realDType(t) == DType::Float16 ? 65519 : std::numeric_limits<float>::max();
  return values && std::any_of(values, values + node->bytes() / 8,
                               [most](double v) { return std::isfinite(v) && std::abs(v) > most; });
}

/// Whether a conversion to `t` gives what NumPy makes of the numbers that a sequence was packed
/// from. What is not computed stays so.
bool convertsAlike(const Array &packed, DType t) {
  DType from = packed.dtype();
  if (isSafe(from, t) || t == DType::Bool)
    return true;
  if (isComplex(from))
    return false;
  NodeRef node = unwrap(packed.value());
  if (from == DType::Float64 && !isInteger(t) && node->state() == NodeState::Ready)
    return !overflows(node, t);
  if (!isInteger(t) || node->state() != NodeState::Ready || !node->buffer()->host())
    return true;
  if (from == DType::Int64)
    return areInRange<int64_t>(node, from, t);
  return from == DType::Float64 && areInRange<double>(node, from, t);
}

pb::object ofSequence(const pb::object &value, DType t, rt::Device &device) {
  if (Trace::active())
    return value;
  Array packed = packElements(value.ptr(), device, t);
  if (!packed.isNull())
    return pb::reinterpret_steal<pb::object>(wrap(std::move(packed)));
  packed = packSequence(value.ptr(), device, true);
  if (!packed.isNull() && convertsAlike(packed, t))
    return pb::reinterpret_steal<pb::object>(wrap(std::move(packed)));
  return pb::module_::import("numpy").attr("asarray")(value, heldAs(t));
}

pb::object ofArray(const pb::object &value, Array &x, DType t, Target target) {
  if (x.rank() > 0) {
    if (target != Target::Element || t == DType::Bool)
      return value;
    if (isComplex(t))
      throw pb::type_error("only 0-dimensional arrays can be converted to Python scalars");
    throw pb::value_error("setting an array element with a sequence.");
  }
  if (target == Target::Chosen || !x.isValue() || !isSigned(t) || isSafe(x.dtype(), t) ||
      Trace::active())
    return value;
  if (const KnownValue *known = x.known(); known && isInRange(known->bits, known->dtype, t))
    return value;
  return byElement(pb::module_::import("numpy").attr("asarray")(value)[pb::tuple()], t);
}

/// What an object of a class that says what NumPy's functions mean gives: elements ask it for no
/// more than its values, which NumPy does not take from it when they are an array of ours.
pb::object ofClass(const pb::object &value) {
  if (!isOfForeignClass(value) || !pb::hasattr(value, "__array__"))
    return value;
  pb::object made = value.attr("__array__")();
  return asAnyArray(made) ? made : value;
}

bool isSequence(PyObject *object) { return PyList_Check(object) || PyTuple_Check(object); }

/// How many axes an array of `value` has; of sequences, by their first elements, up to one more
/// than `most`.
int axesOf(PyObject *value, int most) {
  int levels = 0;
  for (; levels <= most; ++levels) {
    if (const Array *x = asAnyArray(value))
      return levels + x->rank();
    if (isNumpyArray(value))
      return levels + pb::reinterpret_borrow<pb::object>(value).attr("ndim").cast<int>();
    if (PyRange_Check(value))
      return levels + 1;
    if (!isSequence(value))
      return levels;
    if (PySequence_Fast_GET_SIZE(value) == 0)
      return levels + 1;
    value = PySequence_Fast_GET_ITEM(value, 0);
  }
  return levels;
}

/// Whether a key is a mask of `x` whole.
bool isWholeMask(PyObject *key, const Array &x) {
  if (PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) == 1)
    key = PyTuple_GET_ITEM(key, 0);
  if (const Array *mask = asAnyArray(key))
    return mask->dtype() == DType::Bool && mask->rank() == x.rank() && x.rank() > 0 &&
           (mask->isOpen() || x.isOpen() || mask->shape() == x.shape());
  if (!isNumpyArray(key))
    return false;
  const auto mask = pb::reinterpret_borrow<pb::object>(key);
  if (mask.attr("ndim").cast<int>() != x.rank() ||
      mask.attr("dtype").attr("kind").cast<std::string>() != "b")
    return false;
  const auto shape = mask.attr("shape").cast<pb::tuple>();
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis].cast<int64_t>() != x.shape()[axis])
      return false;
  return true;
}

} // namespace

bool isInRange(uint64_t bits, DType from, DType t) {
  if (isInteger(from))
    return op::fits(isUnsigned(from) ? static_cast<__int128>(bits)
                                     : static_cast<__int128>(static_cast<int64_t>(bits)),
                    t);
  if (from != DType::Float64)
    return false;
  auto number = std::trunc(std::bit_cast<double>(bits));
  return std::abs(number) < 0x1p64 && op::fits(static_cast<__int128>(number), t);
}

void refuseDeeper(PyObject *value, const Array &x, std::span<const IndexItem> items) {
  if (!isSequence(value))
    return;
  auto isNamed = [](const IndexItem &item) {
    return item.kind == IndexItem::Kind::Integer || item.kind == IndexItem::Kind::Slice;
  };
  const auto named = std::ranges::count_if(items, isNamed);
  if (named > x.rank()) // which is said first, as are integers outside
    return;
  int axes = static_cast<int>(x.rank());
  size_t axis = 0;
  for (const IndexItem &item : items) {
    axes += item.kind == IndexItem::Kind::NewAxis ? 1 : 0;
    if (item.kind == IndexItem::Kind::Ellipsis)
      axis += static_cast<size_t>(x.rank() - named);
    if (item.kind == IndexItem::Kind::Integer) {
      --axes;
      if (const int64_t size = x.shape()[axis]; item.integer < -size || item.integer >= size)
        return;
    }
    axis += isNamed(item) ? 1 : 0;
  }
  if (x.rank() > 0 && axesOf(value, axes) > axes)
    throw pb::value_error(
        strings::format("setting an array element with a sequence. The requested array "
                        "would exceed the maximum number of dimension of {}.",
                        axes));
}

void refuseRows(PyObject *value, const Array &x, PyObject *key) {
  constexpr int kMost = 64; // axes of NumPy's arrays
  const Array *given = asAnyArray(value);
  if (!given && !isSequence(value) && !isNumpyArray(value))
    return;
  if (given ? given->rank() < 2 : axesOf(value, 1) < 2)
    return;
  if (isWholeMask(key, x))
    throw pb::type_error(strings::format("NumPy boolean array indexing assignment requires a 0 or "
                                         "1-dimensional input, input has {} dimensions",
                                         axesOf(value, kMost)));
}

pb::object assigned(const pb::object &given, DType t, rt::Device &device, Target target) {
  // Of objects of classes made of NumPy's arrays the values alone are written, but to an element,
  // to which they are converted: a masked one has no value.
  const bool isOfClass = isOfNumpysClass(given.ptr());
  if (isOfClass && target == Target::Element)
    return byElement(given, t);
  const pb::object value =
      isOfClass ? pb::module_::import("numpy").attr("asarray")(given) : ofClass(given);
  PyObject *p = value.ptr();
  if (PyFloat_CheckExact(p))
    return value;
  if (PyLong_CheckExact(p) || PyComplex_CheckExact(p))
    return t == DType::Bool ? pb::bool_(PyObject_IsTrue(p) == 1) : value;
  if (Array *x = asAnyArray(value))
    return ofArray(value, *x, t, target);
  if (isSequence(p))
    return target == Target::Element ? byElement(value, t) : ofSequence(value, t, device);
  if (auto own = numpyScalarDType(p)) {
    bool isStrict = isSigned(t) || (isComplex(*own) && isInteger(t));
    return target != Target::Chosen && isStrict && !isSafe(*own, t) ? byElement(value, t) : value;
  }
  if (isNumpyArray(p)) {
    bool isMany = target == Target::Element && value.attr("ndim").cast<int>() > 0;
    return isMany ? byElement(value, t) : value;
  }
  // A date, a duration or text is converted by other rules than an array of it, which it is where
  // elements are chosen.
  const bool isOther = target != Target::Chosen &&
                       pb::isinstance(value, pb::module_::import("numpy").attr("generic"));
  return isOther ? byElement(value, t) : value;
}

bool areDistinct(const View &view) {
  if (std::ranges::find(view.shape(), 0) != view.shape().end())
    return true;
  std::vector<std::pair<int64_t, int64_t>> axes; // step, size
  for (int64_t i = 0; i < view.shape().rank(); ++i)
    if (auto axis = static_cast<size_t>(i); view.shape()[axis] > 1)
      axes.emplace_back(std::abs(view.strides()[axis]), view.shape()[axis]);
  std::ranges::sort(axes);
  int64_t reach = 0;
  return std::ranges::all_of(axes, [&](const auto &axis) {
    bool isBeyond = axis.first > reach;
    reach += axis.first * (axis.second - 1);
    return isBeyond;
  });
}

namespace {

/// The bits of a number of a list that elements of a dtype are assigned: floats lose their fraction
/// in integers. Nothing for what does not fit.
std::optional<uint64_t> listedBits(PyObject *number, DType t) {
  if (t == DType::Bool && (PyLong_CheckExact(number) || PyFloat_CheckExact(number)))
    return PyObject_IsTrue(number);
  if (PyFloat_CheckExact(number) && isInteger(t))
    return hostmath::converted(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(number)), DType::Float64,
                               t);
  return heldBits(number, t);
}

/// Few numbers in lists of up to two levels as elements of a dtype.
struct Listed {
  static constexpr Py_ssize_t kMost = 16;
  std::array<int64_t, 2> shape{};
  size_t rank = 0;
  size_t count = 0;
  std::array<uint64_t, kMost> bits;

  /// False for other lists, and numbers that do not fit.
  bool set(PyObject *list, DType t, size_t level = 0) {
    const Py_ssize_t size = isRow(list) ? PySequence_Fast_GET_SIZE(list) : kMost + 1;
    if (size > kMost || level == shape.size() || (level < rank && shape[level] != size))
      return false;
    shape[level] = size;
    rank = std::max(rank, level + 1);
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject *item = PySequence_Fast_GET_ITEM(list, i);
      if (level + 1 < rank || isRow(item)) {
        if (count > 0 && level + 1 == rank) // numbers came before
          return false;
        if (!set(item, t, level + 1))
          return false;
        continue;
      }
      const auto found = listedBits(item, t);
      if (!found || count == bits.size())
        return false;
      bits[count++] = *found;
    }
    return true;
  }
  static bool isRow(PyObject *object) {
    return PyList_CheckExact(object) || PyTuple_CheckExact(object);
  }
  bool endsShape(std::span<const int64_t> sizes) const {
    return count > 0 && sizes.size() >= rank &&
           std::ranges::equal(sizes.last(rank), std::span(shape).first(rank));
  }
};

/// Writes elements, again and again, in row-major order.
void putInRows(char *first, int64_t size, const View &view, std::span<const uint64_t> bits) {
  const size_t last = view.shape().size() - 1;
  const auto row = static_cast<size_t>(view.shape()[last]);
  std::array<int64_t, kMaxRank> at{};
  size_t begin = 0;
  for (bool isMore = true; isMore;) {
    int64_t offset = view.offset();
    for (size_t i = 0; i < last; ++i)
      offset += at[i] * view.strides()[i];
    for (size_t i = 0; i < row; ++i)
      std::memcpy(first + (offset + static_cast<int64_t>(i) * view.strides()[last]) * size,
                  &bits[begin + i], static_cast<size_t>(size));
    begin = (begin + row) % bits.size();
    isMore = false;
    for (size_t axis = last; axis-- > 0 && !isMore;)
      if (isMore = ++at[axis] < view.shape()[axis]; !isMore)
        at[axis] = 0;
  }
}

/// Offsets of few elements that lists of integers name, one for each axis of a view, beside single
/// integers; false for other keys, and places outside.
struct ListedPlaces {
  std::array<int64_t, Listed::kMost> offsets{};
  Py_ssize_t count = -1; ///< unknown before the first list

  bool set(const View &view, std::span<PyObject *const> key) {
    offsets.fill(view.offset());
    const bool isWhole = !key.empty() && key.size() == view.shape().size();
    for (size_t axis = 0; isWhole && axis < key.size(); ++axis)
      if (!step(key[axis], view.shape()[axis], view.strides()[axis]))
        return false;
    return isWhole && count > 0;
  }

private:
  bool step(PyObject *places, int64_t size, int64_t stride) {
    const bool isList = PyList_CheckExact(places);
    const Py_ssize_t named = isList ? PyList_GET_SIZE(places) : Listed::kMost;
    if (named > Listed::kMost || (isList && count >= 0 && count != named))
      return false;
    count = isList ? named : count;
    for (Py_ssize_t i = 0; i < named; ++i) {
      const auto place = smallInteger(isList ? PyList_GET_ITEM(places, i) : places);
      if (!place || *place >= size || *place < -size)
        return false;
      offsets[static_cast<size_t>(i)] += (*place < 0 ? *place + size : *place) * stride;
    }
    return true;
  }
};

/// Places that lists name and what is written there, as they were when they were looked at.
struct PutAtLists {
  ListedPlaces places;
  Listed given;

  bool set(Array &x, PyObject *key, PyObject *value) {
    const View &view = x.view();
    if (view.isReadOnly() || !view.hasLayout() || view.isRecast())
      return false;
    const std::span<PyObject *const> lists =
        PyTuple_CheckExact(key) ? itemsOf(key) : std::span<PyObject *const>(&key, 1);
    if (!places.set(view, lists))
      return false;
    if (Listed::isRow(value))
      return given.set(value, x.dtype()) && given.rank == 1 && given.shape[0] == places.count;
    const auto found = listedBits(value, x.dtype());
    if (found)
      given.bits.fill(*found);
    return found.has_value();
  }
};

/// In a loop an array is computed before few of its elements are written, which then happens in
/// place, turn after turn. Whether it was: other threads have run meanwhile.
bool computeInLoop(Array &x) {
  if (x.storage()->current()->state() != NodeState::Pending ||
      !small::isLoop(op::OpKind::Scatter, x.size(), x.device()))
    return false;
  RecordScope scope;
  Array *const one[] = {&x};
  evaluateNow(one, "loop");
  return true;
}

} // namespace

bool isPutAtLists(Array &x, PyObject *key, PyObject *value) {
  const bool isOfLists = PyTuple_CheckExact(key) || PyList_CheckExact(key);
  if (!isOfLists || isComplex(x.dtype()) || Trace::active() || !mayBeOnHost(x.device()))
    return false;
  PutAtLists put;
  if (!put.set(x, key, value))
    return false;
  if (computeInLoop(x)) {
    put = PutAtLists();
    if (!put.set(x, key, value))
      return false;
  }
  const int64_t size = itemSize(x.dtype());
  return x.storage()->update([&](rt::Buffer &buffer) {
    for (size_t i = 0; i < static_cast<size_t>(put.places.count); ++i) // named twice: the last
      std::memcpy(static_cast<char *>(buffer.host()) + put.places.offsets[i] * size,
                  &put.given.bits[i], static_cast<size_t>(size));
  });
}

bool isPutFromList(Array &x, std::span<const IndexItem> items, PyObject *value) {
  constexpr int64_t kMostElements = 1024;
  pb::object listed;
  if (PyRange_Check(value)) {
    const Py_ssize_t count = PyObject_Length(value);
    if (count < 0)
      PyErr_Clear(); // longer than anything in memory, which is refused later
    if (count < 0 || count > Listed::kMost)
      return false;
    listed = pb::reinterpret_steal<pb::object>(PySequence_Tuple(value));
    if (!listed)
      throw pb::error_already_set();
    value = listed.ptr();
  }
  Listed given;
  if (!Listed::isRow(value) || isComplex(x.dtype()) || Trace::active() ||
      !mayBeOnHost(x.device()) || !x.storage()->exclusive() || !given.set(value, x.dtype()))
    return false;
  auto view = x.view().index(items);
  if (!view || view->isReadOnly() || !view->hasLayout() || view->isRecast())
    return false;
  const std::span<const int64_t> sizes = view->shape();
  const int64_t elements =
      std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                      [](int64_t a, int64_t b) { return a > kMostElements ? a : a * b; });
  if (!given.endsShape(sizes) || elements == 0 || elements > kMostElements)
    return false;
  return x.storage()->update([&](rt::Buffer &buffer) {
    putInRows(static_cast<char *>(buffer.host()), itemSize(x.dtype()), *view,
              std::span(given.bits.data(), given.count));
  });
}

} // namespace graphc::py
