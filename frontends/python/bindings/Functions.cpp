// Module functions that record.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/ComplexScalar.h"
#include "frontends/python/bindings/Discarded.h"
#include "frontends/python/bindings/Gil.h"
#include "frontends/python/bindings/GivenAxes.h"
#include "frontends/python/bindings/Quick.h"

#include "frontends/record/MemoryOrder.h"
#include "frontends/record/Numerics.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Session.h"
#include "runtime/base/Strings.h"

#include <pybind11/numpy.h>

namespace graphc::py {

namespace {

using strings::format;

/// The dtype of an array of a number. NumPy's is one of objects where no integer dtype holds it.
DType ownDType(const Operand &number) {
  DType t = number.dtype.value_or(number.scalar.type().dtype);
  if (t != DType::Int64 || op::fits(number.scalar.integer, t))
    return t;
  if (!op::fits(number.scalar.integer, DType::UInt64))
    raiseForeign("an integer of more than 64 bits");
  return DType::UInt64;
}

pb::object asarray(const pb::object &object, const pb::object &dtype, const pb::object &deviceName,
                   const pb::object &copy) {
  auto wanted = toOptionalDType(dtype);
  rt::Device *device = toDevice(deviceName);
  bool mustCopy = !copy.is_none() && copy.cast<bool>();
  if (Array *given = asOpenArray(object)) {
    Array x = *given;
    if (device && device != &x.device())
      x = unwrap(ops::toDevice(*asArray(object), *device));
    else if (!mustCopy && (!wanted || *wanted == x.dtype()) && !x.isValue())
      return object;
    if (wanted)
      warnOfDiscarded(x.dtype(), *wanted);
    if (wanted && *wanted != x.dtype())
      x = unwrap(ops::cast(x, *wanted));
    else
      x = unwrap(ops::copy(x));
    return wrapped(settled(std::move(x)));
  }
  if (!copy.is_none() && !mustCopy)
    throw pb::value_error("Unable to avoid copy while creating an array as requested: graphc "
                          "copies other objects' memory; "
                          "from_dlpack shares it");
  PyObject *p = object.ptr();
  if (wanted && numpyScalarDType(p)) { // converted as arrays are, whatever fits
    Array x = toArray(object, device);
    warnOfDiscarded(x.dtype(), *wanted);
    return wrapped(settled(unwrap(ops::cast(x, *wanted))));
  }
  if (PyBool_Check(p) || PyLong_Check(p) || PyFloat_Check(p)) {
    Converted c;
    convertOperand(object, c);
    DType t = wanted ? *wanted : ownDType(*c.operand);
    return wrapped(settled(unwrap(ops::full({}, c.operand->scalar, t, device))));
  }
  Array made = copyIn(object, wanted, device);
  // `__array__` of a class may give an array that the program has.
  if (mustCopy && !isNumpyArray(p) && pb::hasattr(object, "__array__"))
    made = unwrap(ops::copy(made));
  return wrapped(settled(std::move(made)));
}

Array full(const pb::object &shape, const pb::object &value, const pb::object &dtype,
           const pb::object &device) {
  auto wanted = toOptionalDType(dtype);
  rt::Device *on = toDevice(device);
  Shape dims = toShape(shape);
  Converted c;
  if (!convertOperand(value, c) || c.operand->array) {
    Array x = toArray(value);
    if (wanted) {
      warnOfDiscarded(x.dtype(), *wanted);
      x = unwrap(ops::cast(x, *wanted));
    }
    if (on)
      x = unwrap(ops::toDevice(x, *on));
    return settled(unwrap(ops::copy(unwrap(ops::broadcastTo(x, dims)))));
  }
  DType t = wanted ? *wanted : ownDType(*c.operand);
  c.operand->dtype = c.operand->type().dtype; // as an array of the value
  discardImaginary(*c.operand, t);
  return settled(unwrap(ops::full(dims, c.operand->scalar, t, on)));
}

pb::object resultType(const pb::args &args) {
  // Alone a number of Python gives the type that holds its value.
  int isBeyond = 0;
  if (args.size() == 1 && PyLong_CheckExact(args[0].ptr()))
    PyLong_AsLongLongAndOverflow(args[0].ptr(), &isBeyond);
  if (isBeyond) {
    PyLong_AsUnsignedLongLong(args[0].ptr());
    if (!PyErr_Occurred())
      return dtypeObject(DType::UInt64);
    PyErr_Clear();
    raiseForeign("result_type of an integer that has more than 64 bits");
  }
  std::vector<op::OperandType> types;
  for (pb::handle a : args) {
    Converted c;
    bool isType = PyType_Check(a.ptr()) || PyUnicode_Check(a.ptr()) || pb::isinstance<pb::dtype>(a);
    if (isType)
      types.push_back({toDType(a), op::Weak::None});
    else if (convertOperand(a, c))
      types.push_back(c.operand->type());
    else
      raiseForeign("result_type takes arrays, numbers and dtypes");
  }
  if (types.empty())
    throw pb::value_error("at least one array or dtype is required");
  return dtypeObject(op::resultType(types));
}

void defineMovement(pb::module_ &m) {
  m.def("reshape", [](const pb::object &x, const pb::object &shape) {
    return wrapped(unwrap(ops::reshape(ownMemory(toArray(x)), toShape(shape))));
  });
  m.def(
      "transpose",
      [](const pb::object &x, const pb::object &axes) {
        return wrapped(unwrap(ops::transpose(toArray(x), toAxes(axes))));
      },
      pb::arg("x"), pb::arg("axes") = pb::none());
  m.def("broadcast_to", [](const pb::object &x, const pb::object &shape) {
    return wrapped(unwrap(ops::broadcastTo(toArray(x), toShape(shape))));
  });
  m.def(
      "flip",
      [](const pb::object &x, const pb::object &axes) {
        return wrapped(unwrap(ops::flip(toArray(x), toAxes(axes))));
      },
      pb::arg("x"), pb::arg("axes") = pb::none());
  m.def("expand_dims", [](const pb::object &x, const pb::object &axes) {
    return wrapped(unwrap(
        ops::expandDims(ownMemory(toArray(x)), toAxes(axes).value_or(std::vector<int64_t>{0}))));
  });
  m.def(
      "squeeze",
      [](const pb::object &x, const pb::object &axes) {
        const Array array = toArray(x);
        return wrapped(unwrap(ops::squeeze(array, toAxesOf(axes, array.rank()))));
      },
      pb::arg("x"), pb::arg("axes") = pb::none());
}

void defineCreation(pb::module_ &m) {
  pb::arg_v dtype = pb::arg("dtype") = pb::none(), device = pb::arg("device") = pb::none();
  m.def("asarray", asarray, pb::arg("object"), dtype, device, pb::arg("copy") = pb::none());
  m.def("full", full, pb::arg("shape"), pb::arg("value"), dtype, device);
  m.def(
      "iota",
      [](int64_t count, const pb::object &t, const pb::object &on) {
        return wrapped(
            unwrap(ops::iota(count, toOptionalDType(t).value_or(DType::Int64), toDevice(on))));
      },
      pb::arg("count"), dtype, device);
  m.def("from_dlpack", fromDlpack, pb::arg("x"), pb::arg("copy") = pb::none());
}

void defineOpenSizes(pb::module_ &m) {
  m.def(
      "of_size",
      [](const pb::object &x, const pb::object &like) {
        return wrapped(unwrap(ops::open::ofSize(toOpenArray(x), toOpenArray(like))));
      },
      "The first rows of x, as many as `like` has, whose size may be open.");
  m.def(
      "open_parts",
      [](const pb::object &object) {
        auto [rows, count] = unwrap(ops::open::parts(toOpenArray(object)));
        return pb::make_tuple(wrapped(std::move(rows)), wrapped(std::move(count)));
      },
      "The rows up to the bound and the count of an array of an open size.");
  m.def("from_open_parts", [](const Array &rows, const Array &count) {
    return wrapped(unwrap(ops::open::ofParts(rows, count)));
  });
}

void defineEvaluation(pb::module_ &m) {
  m.def(
      "eval",
      [](const pb::object &arrays, const std::string &reason) {
        std::vector<Array *> list;
        for (pb::handle item : arrays) {
          Array *a = asArray(item);
          if (!a)
            throw pb::type_error("eval takes Arrays");
          list.push_back(a);
        }
        storeNow(list, reason);
      },
      pb::arg("arrays"), pb::arg("reason") = "eval");
  defineOpenSizes(m);
  m.def("print_stage", [](const pb::object &arrays, const std::string &stage) {
    std::vector<NodeRef> roots;
    for (const Array &a : toArrays(arrays))
      roots.push_back(unwrap(a.value()));
    Result<std::string> text = [&] {
      WithoutGil release;
      return printStage(roots, stage);
    }();
    return unwrap(std::move(text));
  });
  m.def("is_value", [](const Array &x) { return x.isValue(); });
  m.def("shares_memory", [](const Array &a, const Array &b) { return a.mayShareMemory(b); });
  m.def("strided",
        [](const Array &x, const pb::object &shape, const pb::object &strides, int64_t offset) {
          return unwrap(ops::strided(x, toShape(shape), toShape(strides), offset));
        });
  m.def("has_layout", [](const Array &x) { return x.view().hasLayout(); });
  m.def("view_offset", [](const Array &x) { return x.view().offset(); });
  m.def("shares_storage", [](const Array &a, const Array &b) { return a.sharesStorage(b); });
  m.def("is_same_view", ops::isSameView,
        "Whether two arrays show the same elements of one storage in the same places.");
}

} // namespace

void defineFunctions(pb::module_ &m) {
  m.def("cast", [](const pb::object &x, const pb::object &dtype) {
    return wrapped(unwrap(ops::cast(toOpenArray(x), toDType(dtype))));
  });
  // Operations without a function of their own: complex, conj.
  m.def("elementwise", [](const std::string &name, const pb::object &operands) {
    auto kind = op::opKindFromName(name);
    if (!kind)
      throw pb::value_error(format("elementwise: no operation is called '{}'", name));
    if (PyObject *list = operands.ptr(); PyList_CheckExact(list) && PyList_GET_SIZE(list) == 1)
      if (PyObject *value = combineComplex(*kind, PyList_GET_ITEM(list, 0), nullptr))
        return pb::reinterpret_steal<pb::object>(value);
    std::vector<Array> arrays;
    for (pb::handle operand : operands)
      arrays.push_back(toOpenArray(operand, deviceOf(operands)));
    std::vector<Operand> each(arrays.begin(), arrays.end());
    return wrapped(unwrap(ops::elementwise(*kind, each)));
  });
  m.def("choose_numerics", [](const pb::object &level) -> pb::object {
    auto name = [](Numerics n) { return n == Numerics::Fast ? "fast" : "exact"; };
    std::optional<Numerics> choice;
    if (!level.is_none())
      choice = level.cast<std::string>() == "fast" ? Numerics::Fast : Numerics::Exact;
    std::optional<Numerics> before = chooseNumerics(choice);
    return before ? pb::object(pb::str(name(*before))) : pb::none();
  });
  m.def("recording_modes", recordingModes);
  m.def("result_type", resultType);
  defineIndexFunctions(m);
  definePlainFunctions(m);
  definePlainMovement(m);
  definePlainNumeric(m);
  definePlainReductions(m);
  defineContractions(m);
  definePlainViews(m);
  defineMovement(m);
  defineCreation(m);
  defineEvaluation(m);
}

} // namespace graphc::py
