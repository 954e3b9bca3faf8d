// Which function of compiler/math an elementary op is.
#include "compiler/math/Elementary.h"

#include "compiler/math/Math.h"
#include "dialects/graph/Graph.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace graphc;
using graphc::math::MlirBuilder;
namespace m = graphc::math;

namespace {

#define GRAPHC_UNARY(op, name)                                                                     \
  Case([&](graph::op) { return wide ? m::name<64>(b, x[0]) : m::name<32>(b, x[0]); })
#define GRAPHC_BINARY(op, name)                                                                    \
  Case([&](graph::op) { return wide ? m::name<64>(b, x[0], x[1]) : m::name<32>(b, x[0], x[1]); })

Value exponential(Operation *op, MlirBuilder &b, ValueRange x, bool wide) {
  return TypeSwitch<Operation *, Value>(op)
      .GRAPHC_UNARY(ExpOp, exp)
      .GRAPHC_UNARY(Exp2Op, exp2)
      .GRAPHC_UNARY(Expm1Op, expm1)
      .GRAPHC_UNARY(LogOp, log)
      .GRAPHC_UNARY(Log1pOp, log1p)
      .GRAPHC_UNARY(Log2Op, log2)
      .GRAPHC_UNARY(Log10Op, log10)
      .GRAPHC_BINARY(LogAddExpOp, logAddExp)
      .GRAPHC_UNARY(ErfOp, erf)
      .GRAPHC_UNARY(ErfcOp, erfc)
      .GRAPHC_UNARY(LgammaOp, lgamma)
      .GRAPHC_UNARY(RsqrtOp, rsqrt)
      .GRAPHC_UNARY(CbrtOp, cbrt)
      .GRAPHC_BINARY(HypotOp, hypot)
      .Default(Value());
}

Value trigonometric(Operation *op, MlirBuilder &b, ValueRange x, bool wide) {
  return TypeSwitch<Operation *, Value>(op)
      .GRAPHC_UNARY(SinOp, sin)
      .GRAPHC_UNARY(CosOp, cos)
      .GRAPHC_UNARY(TanOp, tan)
      .GRAPHC_UNARY(AsinOp, asin)
      .GRAPHC_UNARY(AcosOp, acos)
      .GRAPHC_UNARY(AtanOp, atan)
      .GRAPHC_BINARY(Atan2Op, atan2)
      .GRAPHC_UNARY(SinhOp, sinh)
      .GRAPHC_UNARY(CoshOp, cosh)
      .GRAPHC_UNARY(TanhOp, tanh)
      .GRAPHC_UNARY(AsinhOp, asinh)
      .GRAPHC_UNARY(AcoshOp, acosh)
      .GRAPHC_UNARY(AtanhOp, atanh)
      .Default(Value());
}

Value representation(Operation *op, MlirBuilder &b, ValueRange x, bool wide) {
  return TypeSwitch<Operation *, Value>(op)
      .GRAPHC_BINARY(CopysignOp, copySign)
      .GRAPHC_BINARY(NextafterOp, nextAfter)
      .Case([&](graph::ReciprocalOp) { return b.div(wide ? b.f64(1.0) : b.f32(1.0f), x[0]); })
      .Default(Value());
}

#undef GRAPHC_UNARY
#undef GRAPHC_BINARY

} // namespace

Value m::expandElementary(Operation *op, MlirBuilder &b, ValueRange x, unsigned width) {
  for (auto family : {exponential, trigonometric, representation})
    if (Value value = family(op, b, x, width == 64))
      return value;
  return Value();
}

void m::defineApart(func::FuncOp function, MlirBuilder::Target target) {
  Block *entry = function.addEntryBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(entry);
  Value x = entry->getArgument(0);
  auto type = cast<VectorType>(x.getType());
  MlirBuilder b(inside, function.getLoc(), type.getNumElements(), target);
  auto results = type.getElementType().isF64() ? toArray(m::largeTurns<64>(b, x))
                                               : toArray(m::largeTurns<32>(b, x));
  func::ReturnOp::create(inside, function.getLoc(), results);
}
