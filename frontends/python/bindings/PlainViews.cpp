// Views that programs ask for again and again, as C functions: they answer NotImplemented for
// arguments that the package has to look at.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace graphc::py {

static constexpr int64_t kMostAxes = 8;

std::optional<int64_t> smallInteger(PyObject *object) {
  int overflow = 0;
  const int64_t value =
      PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
  return PyLong_CheckExact(object) && !overflow && value == static_cast<int32_t>(value)
             ? std::optional(value)
             : std::nullopt;
}

bool isSmallNumber(PyObject *object, DType t) {
  constexpr int64_t kMost = 127;
  const auto number = t == DType::Bool ? std::nullopt : smallInteger(object);
  return number && *number >= 0 && *number <= kMost;
}

bool isColumnMajor(const Array &x) {
  int64_t step = 1;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (x.shape()[i] == 0)
      return true;
    if (x.shape()[i] != 1 && x.view().strides()[i] != step && x.size() > 0)
      return false;
    step *= x.shape()[i];
  }
  return true;
}

PyObject *plainTranspose(const Array &x, PyObject *const *axes, Py_ssize_t count) {
  const int64_t rank = x.rank();
  if (x.isValue() || rank == 0 || rank > kMostAxes || (axes && count != rank))
    return nullptr;
  std::array<int64_t, kMostAxes> order;
  unsigned seen = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const auto axis = axes ? smallInteger(axes[i]) : std::optional(rank - 1 - i);
    if (!axis || *axis < 0 || *axis >= rank)
      return nullptr;
    order[static_cast<size_t>(i)] = *axis;
    seen |= 1u << *axis;
  }
  if (seen + 1 != 1u << rank)
    return nullptr;
  return wrapTurned(x, {order.data(), static_cast<size_t>(rank)});
}

PyObject *noImaginaryPart(const Array &x) {
  if (x.isValue() || x.rank() == 0 || Trace::active())
    return nullptr;
  const Array zero = unwrap(ops::full(Shape(), op::Scalar::ofInt(0), x.dtype(), &x.device()));
  return wrapView(zero, zero.view().broadcast(x.shape()));
}

PyObject *plainSwap(const Array &x, PyObject *one, PyObject *other) {
  if (x.isValue() || x.rank() == 0 || x.rank() > kMostAxes)
    return nullptr;
  std::array<int64_t, kMostAxes> order;
  std::iota(order.begin(), order.end(), 0);
  std::array<size_t, 2> axes{};
  for (size_t i = 0; i < 2; ++i) {
    const auto axis = smallInteger(i == 0 ? one : other);
    if (!axis || *axis < -x.rank() || *axis >= x.rank())
      return nullptr;
    axes[i] = static_cast<size_t>(*axis < 0 ? *axis + x.rank() : *axis);
  }
  std::swap(order[axes[0]], order[axes[1]]);
  return wrapTurned(x, {order.data(), static_cast<size_t>(x.rank())});
}

PyObject *plainSqueeze(const Array &x) {
  if (x.isValue() || x.rank() > kMostAxes)
    return nullptr;
  std::array<int64_t, kMostAxes> axes;
  size_t found = 0;
  for (size_t i = 0; i < x.shape().size(); ++i)
    if (x.shape()[i] == 1)
      axes[found++] = static_cast<int64_t>(i);
  return wrapView(x, x.view().squeeze({axes.data(), found}));
}

namespace {

/// The arguments of diagonal and trace: an array and which of its diagonals, by place or name.
struct Diagonal {
  const Array *x = nullptr;
  std::array<int64_t, 3> where{0, 0, 1}; ///< offset, axis1, axis2; axes counted from the front

  bool read(PyObject *const *args, Py_ssize_t count, PyObject *names) {
    constexpr std::array kNames = {"offset", "axis1", "axis2"};
    x = count >= 1 && count <= 4 ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() < 2 || x->rank() > kMostAxes || x->size() == 0)
      return false;
    for (Py_ssize_t i = 1; i < count; ++i)
      if (!set(static_cast<size_t>(i - 1), args[i]))
        return false;
    for (Py_ssize_t i = 0, n = names ? PyTuple_GET_SIZE(names) : 0; i < n; ++i) {
      size_t at = 0;
      while (at < kNames.size() &&
             PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), kNames[at]) != 0)
        ++at;
      if (at == kNames.size() || static_cast<Py_ssize_t>(at) + 1 < count ||
          !set(at, args[count + i]))
        return false;
    }
    for (size_t i : {size_t{1}, size_t{2}})
      where[i] += where[i] < 0 ? x->rank() : 0;
    return std::ranges::all_of(std::span(where).subspan(1),
                               [&](int64_t axis) { return axis >= 0 && axis < x->rank(); }) &&
           where[1] != where[2];
  }

  /// The diagonal as the last axis; nothing where the matrices have none, or no layout says where
  /// it is.
  std::optional<View> view() const {
    std::array<int64_t, kMostAxes> order;
    size_t rank = 0;
    for (int64_t axis = 0; axis < x->rank(); ++axis)
      if (axis != where[1] && axis != where[2])
        order[rank++] = axis;
    order[rank++] = where[1];
    order[rank++] = where[2];
    if (!x->view().hasLayout())
      return std::nullopt;
    std::span all(order.data(), rank);
    View turned = x->view();
    if (!std::ranges::is_sorted(all))
      turned = turned.transpose(all);
    int64_t offset = where[0];
    if (!turned.isContiguous()) { // by columns: the same diagonal of the transpose
      std::swap(all[rank - 2], all[rank - 1]);
      if (View other = x->view().transpose(all); other.isContiguous()) {
        turned = std::move(other);
        offset = -offset;
      }
    }
    return of(turned, offset);
  }

private:
  bool set(size_t at, PyObject *object) {
    auto value = smallInteger(object);
    where[at] = value.value_or(0);
    return value.has_value();
  }

  static std::optional<View> of(const View &x, int64_t offset) {
    const size_t rank = x.shape().size(), outer = rank - 2;
    const int64_t rows = x.shape()[outer], columns = x.shape()[outer + 1];
    const int64_t length =
        std::min(rows + std::min<int64_t>(offset, 0), columns - std::max<int64_t>(offset, 0));
    if (length <= 0)
      return std::nullopt;
    if (!x.isContiguous()) {
      Shape shape, strides;
      shape.resize(rank - 1);
      strides.resize(rank - 1);
      std::copy_n(x.shape().begin(), outer, shape.begin());
      std::copy_n(x.strides().begin(), outer, strides.begin());
      const int64_t down = x.strides()[outer], right = x.strides()[outer + 1];
      shape[outer] = length;
      strides[outer] = down + right;
      return x.strided(shape, strides,
                       x.offset() + (offset >= 0 ? offset * right : -offset * down));
    }
    Shape lines;
    lines.resize(rank - 1);
    std::copy_n(x.shape().begin(), outer, lines.begin());
    lines[outer] = rows * columns;
    auto flat = x.reshape(lines);
    if (!flat)
      return std::nullopt;
    std::array<IndexItem, 2> items; // the first is all axes before
    IndexItem &places = items[1];
    places.kind = IndexItem::Kind::Slice;
    places.start = offset >= 0 ? offset : -offset * columns;
    places.stop = *places.start + (length - 1) * (columns + 1) + 1;
    places.step = columns + 1;
    return unwrap(flat->index(items));
  }
};

/// diagonal(x, offset=0, axis1=0, axis2=1), and diag(x, k) of a matrix, which `self` is True for: a
/// view that may not be written.
PyObject *diagonal(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const bool isDiag = self == Py_True;
    if (isDiag && (count > 2 || names))
      Py_RETURN_NOTIMPLEMENTED;
    Diagonal wanted;
    auto shown = wanted.read(args, count, names) && !(isDiag && wanted.x->rank() != 2)
                     ? wanted.view()
                     : std::nullopt;
    if (!shown)
      Py_RETURN_NOTIMPLEMENTED;
    shown->lock();
    return wrapView(*wanted.x, std::move(*shown));
  });
}

/// The same that may be written where the array may be.
PyObject *diagonalView(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    Diagonal wanted;
    auto shown = wanted.read(args, count, names) ? wanted.view() : std::nullopt;
    if (!shown)
      Py_RETURN_NOTIMPLEMENTED;
    return wrapView(*wanted.x, std::move(*shown));
  });
}

/// trace(x, offset=0, axis1=0, axis2=1)
PyObject *trace(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    Diagonal wanted;
    auto shown = wanted.read(args, count, names) ? wanted.view() : std::nullopt;
    if (!shown)
      Py_RETURN_NOTIMPLEMENTED;
    const Array line = wanted.x->withView(std::move(*shown));
    return wrap(
        ops::reduce(op::ReduceKind::Sum, line, Axes({line.rank() - 1}), false, std::nullopt));
  });
}

/// transpose(x): a view with the axes reversed, or in the order of a tuple.
PyObject *transpose(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const bool isOrdered = count == 2 && PyTuple_CheckExact(args[1]);
    const Array *x = (count == 1 || isOrdered) && !names ? asPlainArray(args[0]) : nullptr;
    PyObject *made =
        !x          ? nullptr
        : isOrdered ? plainTranspose(*x, &PyTuple_GET_ITEM(args[1], 0), PyTuple_GET_SIZE(args[1]))
                    : plainTranspose(*x, nullptr, 0);
    return made ? made : Py_NewRef(Py_NotImplemented);
  });
}

/// squeeze(x): a view without the axes of size 1.
PyObject *squeeze(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
    PyObject *made = x ? plainSqueeze(*x) : nullptr;
    return made ? made : Py_NewRef(Py_NotImplemented);
  });
}

/// real(x) and, where `self` is 1, imag(x) of an array of complex numbers: a view; real(x) of an
/// array of real ones.
PyObject *part(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
    const long number = PyLong_AsLong(self);
    if (!x || x->isValue())
      Py_RETURN_NOTIMPLEMENTED;
    if (!isComplex(x->dtype()) && number == 0)
      return Py_NewRef(args[0]);
    if (!isComplex(x->dtype())) {
      PyObject *zeros = noImaginaryPart(*x);
      return zeros ? zeros : Py_NewRef(Py_NotImplemented);
    }
    return wrapView(*x, x->view().part(number, x->dtype()));
  });
}

/// flip(x) of a vector, and flip(x, axis), flipud(x) and fliplr(x), whose axis `self` is: a view.
PyObject *flip(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const bool isNamed = self != Py_None;
    const bool isPlain = !names && (count == 1 || (count == 2 && !isNamed));
    const Array *x = isPlain ? asPlainArray(args[0]) : nullptr;
    if (!x || x->isValue() || x->rank() == 0 || x->rank() > kMostAxes)
      Py_RETURN_NOTIMPLEMENTED;
    std::array<int64_t, kMostAxes> axes;
    std::iota(axes.begin(), axes.end(), 0);
    auto turned = static_cast<size_t>(x->rank());
    if (isNamed || count == 2) {
      auto axis = smallInteger(isNamed ? self : args[1]);
      if (!axis || *axis < -x->rank() || *axis >= x->rank())
        Py_RETURN_NOTIMPLEMENTED;
      axes[0] = *axis < 0 ? *axis + x->rank() : *axis;
      turned = 1;
    }
    return wrapView(*x, x->view().flip({axes.data(), turned}));
  });
}

/// ix_(...) of vectors of integers, or lists of a few: views, each along its own axis.
PyObject *openGrid(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    if (count == 0 || count > kMostAxes || names || Trace::active())
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    auto grid = pb::reinterpret_steal<pb::object>(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Array *given = asPlainArray(args[i]);
      const Array x = given ? *given : listIndex(args[i], *unwrap(currentDevice()));
      if (x.isNull() || x.rank() != 1 || !isInteger(x.dtype()))
        Py_RETURN_NOTIMPLEMENTED;
      std::array<int64_t, kMostAxes> others;
      for (int64_t axis = 0, at = 0; axis < count; ++axis)
        if (axis != i)
          others[static_cast<size_t>(at++)] = axis;
      PyTuple_SET_ITEM(
          grid.ptr(), i,
          wrapView(x, x.view().expand({others.data(), static_cast<size_t>(count - 1)})));
    }
    return grid.release().ptr();
  });
}

/// may_share_memory(a, b) and, where `self` is True, shares_memory(a, b).
PyObject *sharesMemory(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Array *a = count == 2 && !names ? asPlainArray(args[0]) : nullptr;
  const Array *b = a ? asPlainArray(args[1]) : nullptr;
  if (!b || a->isValue() || b->isValue())
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    const bool mayShare = a->mayShareMemory(*b);
    const bool areRuns = a->view().isContiguous() && b->view().isContiguous();
    if (mayShare && self == Py_True && !(areRuns && a->size() > 0 && b->size() > 0))
      return Py_NewRef(Py_NotImplemented);
    return PyBool_FromLong(mayShare);
  });
}

/// is_column_major(x)
PyObject *columnMajor(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 ? asArray(args[0]) : nullptr;
    if (!x)
      throw pb::type_error("is_column_major takes an array");
    return Py_NewRef(isColumnMajor(*x) ? Py_True : Py_False);
  });
}

/// A copy by columns: a row-major copy of the transpose, seen the other way round as the same
/// object, which owns its memory. Null, with no error set, where nothing is copied here.
PyObject *copiedByColumns(const Array &x) {
  if (Trace::active() || x.rank() < 2 || x.isOpen())
    return nullptr;
  PlainScope scope;
  const Array turned = unwrap(ops::transpose(x, std::nullopt));
  PyObject *made = directCopy(turned, turned.shape());
  if (!made)
    made = wrap(unwrap(ops::copy(turned)));
  if (made)
    if (Array *copy = asArray(made))
      *copy = unwrap(ops::transpose(*copy, std::nullopt));
  return made;
}

/// isfortran(x) and asfortranarray(x).
PyObject *isFortran(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
  if (!x || x->isValue())
    Py_RETURN_NOTIMPLEMENTED;
  return Py_NewRef(isColumnMajor(*x) && !x->view().isContiguous() ? Py_True : Py_False);
}
PyObject *asFortran(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
  if (!x || x->isValue() || x->rank() == 0)
    Py_RETURN_NOTIMPLEMENTED;
  if (isColumnMajor(*x))
    return Py_NewRef(args[0]);
  return guarded([&] {
    PyObject *made = copiedByColumns(*x);
    return made ? made : Py_NewRef(Py_NotImplemented);
  });
}

PyMethodDef columnMajorMethod = quick("is_column_major", columnMajor),
            sharesMethod = quick("shares_memory", sharesMemory),
            isFortranMethod = quick("isfortran", isFortran),
            asFortranMethod = quick("asfortranarray", asFortran);

PyMethodDef diagonalMethod = quick("diagonal", diagonal),
            diagonalViewMethod = quick("diagonal_view", diagonalView),
            traceMethod = quick("trace", trace), transposeMethod = quick("transpose", transpose),
            squeezeMethod = quick("squeeze", squeeze), partMethod = quick("part", part),
            flipMethod = quick("flip", flip), openGridMethod = quick("ix_", openGrid);

} // namespace

void definePlainViews(pb::module_ &m) {
  auto add = [&](const char *name, PyMethodDef &method, const pb::object &self) {
    auto made = pb::reinterpret_steal<pb::object>(PyCFunction_New(&method, self.ptr()));
    if (!made)
      throw pb::error_already_set();
    m.attr(name) = made;
  };
  add("plain_diagonal", diagonalMethod, pb::bool_(false));
  add("plain_diag", diagonalMethod, pb::bool_(true));
  add("diagonal_view", diagonalViewMethod, pb::none());
  add("plain_trace", traceMethod, pb::none());
  add("plain_transpose", transposeMethod, pb::none());
  add("plain_squeeze", squeezeMethod, pb::none());
  add("plain_real", partMethod, pb::int_(0));
  add("plain_imag", partMethod, pb::int_(1));
  add("plain_flip", flipMethod, pb::none());
  add("plain_ix_", openGridMethod, pb::none());
  add("is_column_major", columnMajorMethod, pb::none());
  add("plain_shares_memory", sharesMethod, pb::bool_(true));
  add("plain_may_share_memory", sharesMethod, pb::bool_(false));
  add("plain_isfortran", isFortranMethod, pb::none());
  add("plain_asfortranarray", asFortranMethod, pb::none());
  add("plain_flipud", flipMethod, pb::int_(0));
  add("plain_fliplr", flipMethod, pb::int_(1));
}

} // namespace graphc::py
