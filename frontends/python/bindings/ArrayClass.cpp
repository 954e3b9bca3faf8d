// class Array: properties, views and methods.
#include "frontends/python/bindings/Asking.h"
#include "frontends/python/bindings/Assigned.h"
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Gil.h"
#include "frontends/python/bindings/GivenAxes.h"
#include "frontends/python/bindings/Imported.h"
#include "frontends/python/bindings/Operators.h"
#include "frontends/python/bindings/Quick.h"

#include "frontends/record/Looks.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace graphc::py {
namespace {

using strings::format;

/// reshape(2, 3) and reshape((2, 3)).
pb::object oneOrMany(const pb::args &args) {
  return args.size() == 1 ? pb::object(args[0]) : pb::object(args); // a number is one of one
}

std::vector<int64_t> reversedAxes(int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = rank; i-- > 0;)
    axes.push_back(i);
  return axes;
}

Array swapAxes(const Array &x, int64_t a, int64_t b) {
  int64_t i = unwrap(op::normalizeAxis("swapaxes", a, x.rank())),
          j = unwrap(op::normalizeAxis("swapaxes", b, x.rank()));
  std::vector<int64_t> axes;
  for (int64_t k = 0; k < x.rank(); ++k)
    axes.push_back(k == i ? j : k == j ? i : k);
  return unwrap(ops::transpose(x, axes));
}

Array matrixTranspose(const Array &x) {
  if (x.rank() < 2)
    raise(Status(ErrorCode::Shape,
                 format("[mT] matrix transpose with ndim < 2 is undefined: shape {}",
                        op::compactShape(x.shape()))));
  return swapAxes(x, -1, -2);
}

pb::tuple byteStrides(const Array &x) {
  std::vector<int64_t> bytes;
  for (int64_t s : x.view().strides())
    bytes.push_back(s * itemSize(x.dtype()));
  return toTuple(bytes);
}

/// The strides in elements that a program gives in bytes; ValueError for steps between elements.
Shape elementStrides(const Array &x, const pb::object &given) {
  std::vector<int64_t> bytes;
  if (PySequence_Check(given.ptr()))
    for (const pb::handle &step : pb::reinterpret_borrow<pb::sequence>(given))
      bytes.push_back(toInt(step));
  else if (PyIndex_Check(given.ptr()))
    bytes.push_back(toInt(given));
  else
    throw pb::type_error("invalid strides");
  if (static_cast<int64_t>(bytes.size()) != x.rank())
    throw pb::value_error(format("strides must be  same length as shape ({})", x.rank()));
  for (int64_t &step : bytes) {
    if (step % itemSize(x.dtype()) != 0)
      throw pb::value_error("strides is not compatible with available memory");
    step /= itemSize(x.dtype());
  }
  return Shape(bytes);
}

/// `x.strides = ...`: the same object shows other elements of the memory, as deprecated.
void setStrides(const pb::object &self, const pb::object &given) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning,
                   "Setting the strides on a NumPy array has been deprecated in NumPy 2.4.\nAs an "
                   "alternative, you can create a new view using "
                   "np.lib.stride_tricks.as_strided.",
                   1) < 0)
    throw pb::error_already_set();
  Array &x = *asArray(self);
  const Shape strides = elementStrides(x, given);
  std::optional<View> view;
  if (!Trace::active() && x.view().hasLayout() && !x.view().isRecast())
    view = View(x.view().base()).strided(x.shape(), strides, x.view().offset());
  if (!view)
    throw pb::value_error("strides is not compatible with available memory");
  if (x.view().isReadOnly())
    view->lock();
  x = x.withView(*std::move(view)); // the same object: it owns its memory still
}

/// The array whose memory a view shows; None for that array itself. Once that is gone: another
/// array of the same memory, or None when `x` shows all of it.
pb::object baseOf(const Array &x) {
  const Array *owner = x.storage()->owner();
  if (!owner && !x.view().isWhole())
    return wrapped(Array::ofStorage(x.storage()));
  if (!owner || owner == &x)
    return pb::none();
  if (auto *object = static_cast<PyObject *>(x.storage()->ownerObject()))
    return pb::reinterpret_borrow<pb::object>(object);
  return wrapped(*owner);
}

PyObject *classOf(PyObject *self, void *) {
  return guarded([&]() -> PyObject * {
    const Array &x = *asAnyArray(self);
    if (!x.isValue() && Asker::now().meansAnyArray())
      return Py_NewRef(reinterpret_cast<PyObject *>(pb::detail::npy_api::get().PyArray_Type_));
    if (!x.isValue() || x.dtype() == DType::BFloat16)
      return Py_NewRef(Py_TYPE(self));
    return pb::object(dtypeObject(x.dtype()).attr("type")).release().ptr();
  });
}

/// A single result is a NumPy scalar to isinstance(), as it is in NumPy.
void defineScalarClass(pb::class_<Array> &cls) {
  static PyGetSetDef attribute = {"__class__", classOf, nullptr, nullptr, nullptr};
  auto *type = reinterpret_cast<PyTypeObject *>(cls.ptr());
  auto get = pb::reinterpret_steal<pb::object>(PyDescr_NewGetSet(type, &attribute));
  if (!get)
    throw pb::error_already_set();
  // Setting the attribute would change the class of the class.
  PyDict_SetItemString(type->tp_dict, "__class__", get.ptr());
  PyType_Modified(type);
}

/// The same elements of a base, to be written to; nothing where one of them is in several places.
std::optional<View> withoutLock(const View &view) {
  if (!view.hasLayout() || view.isRecast() || !areDistinct(view))
    return std::nullopt;
  return View(view.base()).strided(view.shape(), view.strides(), view.offset());
}

void defineProperties(pb::class_<Array> &cls) {
  defineScalarClass(cls);
  cls.def_property_readonly(
      "itemsize", [](const pb::object &self) { return itemSize(asAnyArray(self)->dtype()); });
  cls.def_property_readonly("nbytes",
                            [](const Array &x) { return x.size() * itemSize(x.dtype()); });
  cls.def_property("strides", byteStrides, setStrides);
  cls.def_property_readonly("mT", matrixTranspose);
  cls.def_property_readonly(
      "device", [](const pb::object &self) { return asAnyArray(self)->device().info().name; });
  cls.def_property_readonly("contiguous", [](const Array &x) { return x.view().isContiguous(); });
  cls.def_property_readonly("base", baseOf);
  cls.def("_part", [](const Array &x, int64_t number) {
    Array part = unwrap(ops::part(x, number));
    return x.isValue() ? unwrap(ops::copy(part)) : part;
  });
  cls.def("_recast", [](const Array &x, const pb::object &dtype) {
    Array recast = unwrap(ops::recast(x, toDType(dtype)));
    return x.isValue() ? unwrap(ops::copy(recast)) : recast;
  });
  cls.def("_lock", [](Array &x) { x.lock(); });
  cls.def("_unlock", [](Array &x) {
    NodeRef memory = x.storage()->versioned().first;
    if (memory->state() == NodeState::Ready && !memory->buffer()->isPrivate())
      return false; // of another, who may forbid it
    if (const Array *owner = x.storage()->owner(); owner != &x) {
      if (owner && owner->view().isReadOnly())
        return false; // what it shows may not be written
      auto view = withoutLock(x.view());
      if (view)
        x = x.withView(*std::move(view));
      return view.has_value();
    }
    View whole(x.view().base());
    for (const View &view : {whole, whole.transpose(reversedAxes(x.rank()))})
      if (std::ranges::equal(view.shape(), x.shape()) &&
          std::ranges::equal(view.strides(), x.view().strides())) {
        x = x.withView(view); // the same object: it owns its memory still
        return true;
      }
    return false;
  });
  cls.def("_turn", [](Array &x, const pb::object &axes) {
    x = unwrap(ops::transpose(x, toAxes(axes))); // the same object: it owns its memory still
  });
  cls.def("_become", [](Array &x, const Array &other) { x = Array(unwrap(other.value())); });
  cls.def_property_readonly("readonly", [](const Array &x) { return x.view().isReadOnly(); });
  cls.def_property_readonly("version",
                            [](const Array &x) { return x.storage()->versioned().second; });
  cls.attr("__array_priority__") = 1000;
}

/// Calls the package's function for what is not said here: outputs, masks, initial values.
pb::object fromPackage(const char *module, const std::string &name, const pb::object &self,
                       const pb::dict &keywords) {
  pb::object function = pb::module_::import(module).attr(name.c_str());
  return function(self, **keywords);
}

bool isTrue(const pb::object &object) {
  int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0)
    throw pb::error_already_set();
  return truth != 0;
}

/// For all but plain arguments (Members.cpp): under its name with an underscore.
void defineReduction(pb::class_<Array> &cls, op::ReduceKind kind, bool takesDType) {
  std::string name(op::reduceKindName(kind)), general = "_" + name;
  auto reduce = [kind, name](const pb::object &self, const pb::object &axis,
                             const pb::object &dtype, const pb::object &out,
                             const pb::object &keepdims, pb::kwargs rest) -> pb::object {
    const Array &x = *asOpenArray(self);
    const auto wanted = toConversion(dtype, x.dtype());
    const bool isTold = !x.isOpen() && x.size() == 0; // a mean of nothing
    const bool isPackages =
        kind == op::ReduceKind::Mean && (isTold || (wanted && !isInexact(*wanted)));
    if (out.is_none() && rest.empty() && !isPackages)
      return wrapped(unwrap(
          ops::reduce(kind, x, toReducedAxes(axis, kind, x.rank()), isTrue(keepdims), wanted)));
    rest["axis"] = axis;
    rest["out"] = out;
    rest["keepdims"] = keepdims;
    if (!dtype.is_none())
      rest["dtype"] = dtype;
    return fromPackage("graphc._reductions", name, self, rest);
  };
  if (takesDType) {
    cls.def(general.c_str(), reduce, pb::arg("axis") = pb::none(), pb::arg("dtype") = pb::none(),
            pb::arg("out") = pb::none(), pb::arg("keepdims") = false);
    return;
  }
  cls.def(
      general.c_str(),
      [reduce](const pb::object &self, const pb::object &axis, const pb::object &out,
               const pb::object &keepdims, const pb::kwargs &rest) {
        return reduce(self, axis, pb::none(), out, keepdims, rest);
      },
      pb::arg("axis") = pb::none(), pb::arg("out") = pb::none(), pb::arg("keepdims") = false);
}

/// NumPy's letter for a memory order; None is what the caller takes it for.
char toOrder(const pb::object &given, char none) {
  if (given.is_none())
    return none;
  if (!PyUnicode_Check(given.ptr()) && !PyBytes_Check(given.ptr()))
    throw pb::type_error(format("order must be str, not {}", Py_TYPE(given.ptr())->tp_name));
  auto text = given.cast<std::string>();
  const char letter = text.size() == 1 ? static_cast<char>(std::toupper(text[0])) : ' ';
  if (std::string_view("CFAK").find(letter) == std::string_view::npos)
    throw pb::value_error(format("order must be one of 'C', 'F', 'A', or 'K' (got '{}')", text));
  return letter;
}

/// Row-major for C, column-major for F; A and K are F for arrays that lie so.
bool readsByColumns(const Array &x, char order) {
  if (order != 'A' && order != 'K')
    return order == 'F';
  return !x.view().isContiguous() && x.view().transpose(reversedAxes(x.rank())).isContiguous();
}

Array reshape(const Array &x, Shape shape, char order) {
  if (!readsByColumns(x, order == 'K' ? 'C' : order))
    return unwrap(ops::reshape(x, shape));
  std::reverse(shape.begin(), shape.end());
  Array turned = unwrap(ops::transpose(x, std::nullopt));
  return unwrap(ops::transpose(unwrap(ops::reshape(turned, shape)), std::nullopt));
}

std::vector<int64_t> axesInOrder(const Array &x, char order);

Array ravel(const Array &given, const pb::object &order) {
  Array x = ownMemory(given), source = x;
  const char wanted = toOrder(order, 'C');
  std::vector<int64_t> axes = wanted == 'K' ? axesInOrder(x, wanted) : std::vector<int64_t>();
  if (!axes.empty())
    source = unwrap(ops::transpose(x, axes));
  else if (readsByColumns(x, wanted))
    source = unwrap(ops::transpose(x, std::nullopt));
  Array flat = unwrap(ops::reshape(source, Shape{-1}));
  // NumPy's result is dense: a reversed vector is copied, though it could be shown.
  return source.view().isContiguous() ? flat : unwrap(ops::copy(flat));
}

pb::object reshapeMethod(const pb::object &self, const pb::args &shape, const pb::object &order,
                         const pb::object &copy) {
  bool mustCopy = !copy.is_none() && copy.cast<bool>();
  bool wasValue = asArray(self)->isValue();
  Array x = ownMemory(*asArray(self), mustCopy);
  if (shape.empty())
    throw pb::type_error("reshape() takes exactly 1 argument (0 given)");
  const bool keepsShape = shape.size() == 1 && shape[0].is_none();
  Array out = reshape(x, keepsShape ? x.shape() : toShape(oneOrMany(shape)), toOrder(order, 'C'));
  if (wasValue && out.rank() == 0)
    return self;
  if (!copy.is_none() && !mustCopy && !out.sharesStorage(x))
    throw pb::value_error("Unable to avoid creating a copy while reshaping.");
  return wrapped(std::move(out));
}

void defineViews(pb::class_<Array> &cls) {
  cls.def("_reshape", reshapeMethod, pb::kw_only(), pb::arg("order") = "C",
          pb::arg("copy") = pb::none());
  cls.def("_transpose", [](const Array &x, const pb::args &axes) {
    return unwrap(ops::transpose(x, axes.empty() ? std::nullopt : toAxes(oneOrMany(axes))));
  });
  cls.def("_swapaxes", swapAxes, pb::arg("axis1"), pb::arg("axis2"));
  cls.def(
      "_squeeze",
      [](const Array &x, const pb::object &axis) {
        return unwrap(ops::squeeze(x, toAxesOf(axis, x.rank())));
      },
      pb::arg("axis") = pb::none());
  cls.def("_ravel", ravel, pb::arg("order") = "C");
  cls.def(
      "_flatten",
      [](const Array &x, const pb::object &order) { return unwrap(ops::copy(ravel(x, order))); },
      pb::arg("order") = "C");
}

/// The axes from the one whose neighbours lie farthest apart on, for a copy in that memory order;
/// empty for row-major.
std::vector<int64_t> axesInOrder(const Array &x, char order) {
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  bool keeps = order == 'A' || order == 'K';
  if (order == 'C' || x.rank() < 2 ||
      (keeps && (!x.view().hasLayout() || x.view().isContiguous() || x.size() == 0)))
    return {};
  if (order == 'F' || (keeps && isColumnMajor(x))) {
    std::ranges::reverse(axes);
    return axes;
  }
  if (order == 'A')
    return {};
  std::span<const int64_t> strides = x.view().strides();
  std::ranges::sort(axes, {}, [&](int64_t axis) {
    return std::pair(-std::abs(strides[static_cast<size_t>(axis)]), axis);
  });
  return std::ranges::is_sorted(axes) ? std::vector<int64_t>() : axes;
}

/// A new array of the values as dtype `t`: a view of row-major memory where another order is asked
/// for.
Array copyInOrder(const Array &x, DType t, char order) {
  std::vector<int64_t> axes = axesInOrder(x, order);
  auto make = [t](const Array &from) {
    return copyOf(from, t == from.dtype() ? ops::copy(from) : ops::cast(from, t));
  };
  if (axes.empty())
    return make(x);
  std::vector<int64_t> back(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    back[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  Array out = make(unwrap(ops::transpose(x, axes)));
  out = unwrap(ops::transpose(out, back)); // which owns its memory still
  return out;
}

/// What `copy=` of astype() says, which is no mode as array() takes.
bool mustCopy(const pb::object &copy) {
  static constinit Imported mode("numpy", "_CopyMode");
  if (Py_TYPE(copy.ptr()) == mode.type())
    throw pb::value_error(
        "_CopyMode enum is not allowed for astype function. Use true/false instead.");
  return pb::bool_(copy);
}

pb::object astype(const pb::object &self, const pb::object &dtype, const pb::object &order,
                  const std::string &casting, bool, const pb::object &copy) {
  static constexpr std::array kRules = {"unsafe", "same_kind", "safe", "equiv", "no"};
  if (std::find(kRules.begin(), kRules.end(), casting) == kRules.end())
    raiseForeign("a rule that looks at values"); // or that there is not, in NumPy's words
  DType t = toDType(dtype);
  const bool copies = mustCopy(copy);
  char wanted = toOrder(order, 'K');
  Array &x = wanted == 'F' ? *asArray(self) : *asOpenArray(self);
  bool isInOrder = wanted == 'K' || (wanted != 'F' && x.view().isContiguous()) ||
                   (wanted != 'C' && isColumnMajor(x));
  if (!copies && t == x.dtype() && isInOrder)
    return self;
  if (casting != "unsafe" && !pb::module_::import("graphc._dtypes")
                                  .attr("can_cast")(dtypeObject(x.dtype()), dtypeObject(t), casting)
                                  .cast<bool>())
    raise(Status(ErrorCode::DType,
                 format("Cannot cast array data from dtype('{}') to dtype('{}') according to the "
                        "rule '{}'",
                        dtypeName(x.dtype()), dtypeName(t), casting)));
  warnOfDiscarded(x.dtype(), t);
  return wrapped(copyInOrder(x, t, wanted));
}

void defineMethods(pb::class_<Array> &cls) {
  cls.def("_astype", astype, pb::arg("dtype"), pb::arg("order") = "K",
          pb::arg("casting") = "unsafe", pb::arg("subok") = true, pb::arg("copy") = true);
  cls.def(
      "_copy",
      [](const Array &x, const pb::object &order) {
        return wrapped(copyInOrder(x, x.dtype(), toOrder(order, 'C')));
      },
      pb::arg("order") = "C");
  cls.def(
      "_fill",
      [](Array &x, const pb::object &value) {
        setItem(x, pb::ellipsis(), assigned(value, x.dtype(), x.device(), Target::Element));
      },
      pb::arg("value"));
  cls.def(
      "to_device",
      [](const pb::object &self, const pb::object &name, const pb::object &) -> pb::object {
        Array &x = *asArray(self);
        rt::Device *device = toDevice(name);
        if (!device || device == &x.device())
          return self;
        Result<Array> moved = [&] {
          WithoutGil release;
          return ops::toDevice(x, *device);
        }();
        return pb::cast(unwrap(std::move(moved)));
      },
      pb::arg("device"), pb::arg("stream") = pb::none());
  cls.def("eval", [](const pb::object &self) {
    Array *arrays[] = {asArray(self)};
    storeNow(arrays, "eval");
    return self;
  });
  cls.def("block", [](const pb::object &self) {
    Array *arrays[] = {asArray(self)};
    storeNow(arrays, "eval");
    Status status;
    {
      WithoutGil release;
      // A part of a large value was computed alone.
      NodeRef whole = arrays[0]->storage()->current();
      if (whole->state() == NodeState::Ready)
        status = finishValue(*whole, 0);
      else
        status = finishDevice(arrays[0]->device());
    }
    check(std::move(status));
    return self;
  });
}

} // namespace

void defineArray(pb::module_ &m) {
  pb::class_<Array> cls(m, "Array", pb::metaclass(makeArrayType()),
                        pb::custom_type_setup([](PyHeapTypeObject *type) {
                          setupLifetime(type);
                          setupOperators(type);
                          setupElements(type);
                          setupMembers(type);
                          setupBuffer(type);
                        }));
  m.def("divmod_of_arrays", [](const pb::object &left, const pb::object &right) {
    PyObject *both = divmodOfArrays(left.ptr(), right.ptr());
    if (!both)
      throw pb::error_already_set();
    return pb::reinterpret_steal<pb::object>(both);
  });
  defineProperties(cls);
  defineViews(cls);
  defineMethods(cls);
  using op::ReduceKind;
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Mean})
    defineReduction(cls, kind, true);
  for (ReduceKind kind : {ReduceKind::Min, ReduceKind::Max, ReduceKind::Any, ReduceKind::All,
                          ReduceKind::ArgMin, ReduceKind::ArgMax})
    defineReduction(cls, kind, false);
  defineExchange(cls);
  defineArrayType(m, cls);
}

} // namespace graphc::py
