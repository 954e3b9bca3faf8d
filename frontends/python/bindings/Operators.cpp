// Python operators, from the dunders of the op table.
#include "frontends/python/bindings/Bindings.h"

namespace graphc::py {
namespace {

pb::object notImplemented() { return pb::reinterpret_borrow<pb::object>(Py_NotImplemented); }

Array apply(op::OpKind kind, const Operand &x, const Operand &y) {
  if (kind == op::OpKind::Pow)
    return unwrap(ops::power(x, y));
  Operand both[] = {x, y};
  return unwrap(ops::elementwise(kind, both));
}

void defineBinary(pb::class_<Array> &cls, op::OpKind kind, const std::string &name) {
  bool isComparison = op::opInfo(kind).resultRule == op::ResultRule::Bool;
  cls.def(("__" + name + "__").c_str(), [kind](const Array &x, const pb::object &other) {
    Converted y;
    return convertOperand(other, y, &x.device()) ? pb::cast(apply(kind, x, *y.operand))
                                                 : notImplemented();
  });
  if (isComparison) // Python reflects comparisons itself
    return;
  cls.def(("__r" + name + "__").c_str(), [kind](const Array &x, const pb::object &other) {
    Converted y;
    return convertOperand(other, y, &x.device()) ? pb::cast(apply(kind, *y.operand, x))
                                                 : notImplemented();
  });
  cls.def(("__i" + name + "__").c_str(), [kind](const pb::object &self, const pb::object &other) {
    Converted y;
    if (!convertOperand(other, y, &asArray(self)->device()))
      return notImplemented();
    check(ops::inPlace(kind, *asArray(self), *y.operand));
    return self;
  });
}

void defineUnary(pb::class_<Array> &cls, op::OpKind kind, const std::string &name) {
  cls.def(("__" + name + "__").c_str(), [kind](const Array &x) {
    Operand one[] = {x};
    return unwrap(ops::elementwise(kind, one));
  });
}

pb::object matmul(const pb::object &left, const pb::object &right) {
  Array *known = asArray(left) ? asArray(left) : asArray(right);
  Converted x, y;
  if (!convertOperand(left, x, &known->device()) || !convertOperand(right, y, &known->device()))
    return notImplemented();
  return pb::cast(
      unwrap(ops::matmul(toArray(left, &known->device()), toArray(right, &known->device()))));
}

} // namespace

void defineOperators(pb::class_<Array> &cls) {
  for (int i = 0; i < op::kOpKindCount; ++i) {
    auto kind = static_cast<op::OpKind>(i);
    const op::OpInfo &info = op::opInfo(kind);
    for (std::string_view dunder : info.dunders)
      (info.arity == 1 ? defineUnary : defineBinary)(cls, kind, std::string(dunder));
  }
  cls.def("__pos__", [](const Array &x) { return unwrap(ops::copy(x)); });
  cls.def("__matmul__", matmul);
  cls.def("__rmatmul__",
          [](const pb::object &self, const pb::object &other) { return matmul(other, self); });
  cls.def("__imatmul__", [](const pb::object &self, const pb::object &other) {
    Array product = unwrap(ops::matmul(*asArray(self), toArray(other)));
    IndexItem all;
    check(ops::setItem(*asArray(self), {&all, 1}, product));
    return self;
  });
  cls.attr("__hash__") = pb::none(); // defining __eq__ may have set it
}

} // namespace graphc::py
