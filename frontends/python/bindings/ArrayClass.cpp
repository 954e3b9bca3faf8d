// class Array: properties, views and methods.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Gil.h"

#include "frontends/record/Session.h"
#include "runtime/base/Strings.h"

#include <algorithm>

namespace graphc::py {
namespace {

using strings::format;

/// reshape(2, 3) and reshape((2, 3)).
pb::object oneOrMany(const pb::args &args) {
  if (args.size() == 1 && (args[0].is_none() || !PyIndex_Check(args[0].ptr())))
    return args[0];
  return args;
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

void defineProperties(pb::class_<Array> &cls) {
  cls.def_property_readonly("shape", [](const Array &x) { return toTuple(x.shape()); });
  cls.def_property_readonly("dtype", [](const Array &x) { return dtypeObject(x.dtype()); });
  cls.def_property_readonly("ndim", [](const Array &x) { return x.rank(); });
  cls.def_property_readonly("size", [](const Array &x) { return x.size(); });
  cls.def_property_readonly("itemsize", [](const Array &x) { return itemSize(x.dtype()); });
  cls.def_property_readonly("nbytes",
                            [](const Array &x) { return x.size() * itemSize(x.dtype()); });
  cls.def_property_readonly("strides", byteStrides);
  cls.def_property_readonly("T",
                            [](const Array &x) { return unwrap(ops::transpose(x, std::nullopt)); });
  cls.def_property_readonly("mT", matrixTranspose);
  cls.def_property_readonly("device", [](const Array &x) { return x.device().info().name; });
  cls.def_property_readonly("contiguous", [](const Array &x) { return x.view().isContiguous(); });
  cls.def_property_readonly("readonly", [](const Array &x) { return x.view().isReadOnly(); });
  cls.def_property_readonly("version",
                            [](const Array &x) { return x.storage()->versioned().second; });
  cls.def_property_readonly("flat", [](const Array &x) {
    return pb::iter(pb::cast(unwrap(ops::reshape(x, Shape{-1}))));
  });
  cls.attr("__array_priority__") = 1000;
  cls.attr("__hash__") = pb::none();
}

void defineContainer(pb::class_<Array> &cls) {
  defineIndexing(cls);
  cls.def("__len__", [](const Array &x) {
    if (x.rank() == 0)
      throw pb::type_error("len() of unsized object");
    return x.shape()[0];
  });
  cls.def("__iter__", [](const pb::object &self) {
    if (asArray(self)->rank() == 0)
      throw pb::type_error("iteration over a 0-d array");
    return pb::reinterpret_steal<pb::object>(PySeqIter_New(self.ptr()));
  });
  cls.def("__contains__", [](const Array &x, const pb::object &value) {
    Array y = toArray(value);
    Operand both[] = {x, y};
    Array equal = unwrap(ops::elementwise(op::OpKind::Equal, both));
    Array any = unwrap(ops::reduce(op::ReduceKind::Any, equal, std::nullopt, false, std::nullopt));
    return pb::bool_(toItem(any, "bool"));
  });
  cls.def(
      "__array_namespace__",
      [](const Array &, const pb::object &) { return pb::module_::import("graphc"); },
      pb::arg("api_version") = pb::none());
}

void defineReduction(pb::class_<Array> &cls, op::ReduceKind kind, bool takesDType) {
  std::string name(op::reduceKindName(kind));
  if (takesDType) {
    cls.def(
        name.c_str(),
        [kind](const Array &x, const pb::object &axis, const pb::object &dtype, bool keepdims) {
          return unwrap(ops::reduce(kind, x, toAxes(axis), keepdims, toOptionalDType(dtype)));
        },
        pb::arg("axis") = pb::none(), pb::arg("dtype") = pb::none(), pb::arg("keepdims") = false);
    return;
  }
  cls.def(
      name.c_str(),
      [kind](const Array &x, const pb::object &axis, bool keepdims) {
        return unwrap(ops::reduce(kind, x, toAxes(axis), keepdims, std::nullopt));
      },
      pb::arg("axis") = pb::none(), pb::arg("keepdims") = false);
}

Array clip(const Array &x, const pb::object &low, const pb::object &high) {
  Array out = x;
  for (auto [bound, kind] :
       {std::pair(low, op::OpKind::Maximum), std::pair(high, op::OpKind::Minimum)}) {
    if (bound.is_none())
      continue;
    Converted c;
    if (!convertOperand(bound, c, &x.device()))
      throw pb::type_error("clip: bounds are arrays or numbers");
    Operand both[] = {out, *c.operand};
    out = unwrap(ops::elementwise(kind, both));
  }
  return out;
}

Array roundTo(const Array &x, int64_t decimals) {
  if (!isFloat(x.dtype()) && decimals >= 0)
    return unwrap(ops::copy(x));
  Operand one[] = {x};
  if (decimals == 0)
    return unwrap(ops::elementwise(op::OpKind::Round, one));
  // NumPy: scale, round to even, scale back.
  double scale = 1;
  for (int64_t i = 0; i < std::abs(decimals) && i < 400; ++i)
    scale *= 10;
  Operand up[] = {x, op::Scalar::ofFloat(scale)};
  Array scaled = unwrap(ops::elementwise(decimals > 0 ? op::OpKind::Mul : op::OpKind::Div, up));
  Operand rounding[] = {scaled};
  Array rounded = unwrap(ops::elementwise(op::OpKind::Round, rounding));
  Operand down[] = {rounded, op::Scalar::ofFloat(scale)};
  Array out = unwrap(ops::elementwise(decimals > 0 ? op::OpKind::Div : op::OpKind::Mul, down));
  return isFloat(x.dtype()) ? out : unwrap(ops::cast(out, x.dtype()));
}

void defineViews(pb::class_<Array> &cls) {
  cls.def("reshape", [](const Array &x, const pb::args &shape) {
    return unwrap(ops::reshape(x, toShape(oneOrMany(shape))));
  });
  cls.def("transpose", [](const Array &x, const pb::args &axes) {
    return unwrap(ops::transpose(x, axes.empty() ? std::nullopt : toAxes(oneOrMany(axes))));
  });
  cls.def("swapaxes", swapAxes, pb::arg("axis1"), pb::arg("axis2"));
  cls.def(
      "squeeze",
      [](const Array &x, const pb::object &axis) { return unwrap(ops::squeeze(x, toAxes(axis))); },
      pb::arg("axis") = pb::none());
  cls.def("ravel", [](const Array &x) { return unwrap(ops::reshape(x, Shape{-1})); });
  cls.def("flatten",
          [](const Array &x) { return unwrap(ops::copy(unwrap(ops::reshape(x, Shape{-1})))); });
}

void defineMethods(pb::class_<Array> &cls) {
  cls.def(
      "astype",
      [](const pb::object &self, const pb::object &dtype, bool copy) -> pb::object {
        Array &x = *asArray(self);
        DType t = toDType(dtype);
        if (t == x.dtype() && !copy)
          return self;
        return pb::cast(unwrap(ops::cast(x, t)));
      },
      pb::arg("dtype"), pb::arg("copy") = true);
  cls.def("copy", [](const Array &x) { return unwrap(ops::copy(x)); });
  cls.def(
      "fill", [](Array &x, const pb::object &value) { setItem(x, pb::ellipsis(), value); },
      pb::arg("value"));
  cls.def("clip", clip, pb::arg("min") = pb::none(), pb::arg("max") = pb::none());
  cls.def("round", roundTo, pb::arg("decimals") = 0);
  cls.def("dot", [](const Array &x, const pb::object &other) {
    return unwrap(ops::matmul(x, toArray(other)));
  });
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
    evaluateNow(arrays, "eval");
    return self;
  });
  cls.def("block", [](const pb::object &self) {
    Array *arrays[] = {asArray(self)};
    evaluateNow(arrays, "eval");
    Status status;
    {
      WithoutGil release;
      status = arrays[0]->device().queue().finish();
    }
    check(std::move(status));
    return self;
  });
}

} // namespace

void defineArray(pb::module_ &m) {
  pb::class_<Array> cls(m, "Array", pb::custom_type_setup([](PyHeapTypeObject *type) {
                          setupLifetime(type);
                          setupOperators(type);
                          setupBuffer(type);
                        }));
  defineProperties(cls);
  defineContainer(cls);
  defineViews(cls);
  defineMethods(cls);
  using op::ReduceKind;
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Mean})
    defineReduction(cls, kind, true);
  for (ReduceKind kind : {ReduceKind::Min, ReduceKind::Max, ReduceKind::Any, ReduceKind::All,
                          ReduceKind::ArgMin, ReduceKind::ArgMax})
    defineReduction(cls, kind, false);
  defineExchange(cls);
  setupElements(reinterpret_cast<PyTypeObject *>(cls.ptr()));
}

} // namespace graphc::py
