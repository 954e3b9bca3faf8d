#include "compiler/math/Complex.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/fuse/Watch.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace graphc::pass {
#define GEN_PASS_DEF_SPLITCOMPLEX
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
namespace m = graphc::math;

namespace {

/// Real operations of a body on scalars of one format, as math::Complex wants them.
template <bool kIsWide>
class GraphBuilder {
public:
  using V = Value;
  static constexpr bool kWide = kIsWide;
  GraphBuilder(OpBuilder &ops, Location loc) : ops(ops), loc(loc) {}

  V num(double v) {
    Type type = kWide ? Type(ops.getF64Type()) : ops.getF32Type();
    return arith::ConstantOp::create(ops, loc, ops.getFloatAttr(type, v));
  }
  V add(V x, V y) { return same<graph::AddOp>(x, y); }
  V sub(V x, V y) { return same<graph::SubOp>(x, y); }
  V mul(V x, V y) { return same<graph::MulOp>(x, y); }
  V div(V x, V y) { return same<graph::DivOp>(x, y); }
  V neg(V x) { return same<graph::NegOp>(x); }
  V abs(V x) { return same<graph::AbsOp>(x); }
  V copysign(V x, V y) { return same<graph::CopysignOp>(x, y); }
  V round(V x) { return same<graph::RoundOp>(x); }
  V sqrt(V x) { return same<graph::SqrtOp>(x); }
  V hypot(V x, V y) { return same<graph::HypotOp>(x, y); }
  V exp(V x) { return same<graph::ExpOp>(x); }
  V expm1(V x) { return same<graph::Expm1Op>(x); }
  V log(V x) { return same<graph::LogOp>(x); }
  V log1p(V x) { return same<graph::Log1pOp>(x); }
  V sin(V x) { return same<graph::SinOp>(x); }
  V cos(V x) { return same<graph::CosOp>(x); }
  V tan(V x) { return same<graph::TanOp>(x); }
  V sinh(V x) { return same<graph::SinhOp>(x); }
  V cosh(V x) { return same<graph::CoshOp>(x); }
  V asinh(V x) { return same<graph::AsinhOp>(x); }
  V atan2(V y, V x) { return same<graph::Atan2Op>(y, x); }
  V lt(V x, V y) { return mask<graph::LessOp>(x, y); }
  V le(V x, V y) { return mask<graph::LessEqualOp>(x, y); }
  V gt(V x, V y) { return mask<graph::GreaterOp>(x, y); }
  V ge(V x, V y) { return mask<graph::GreaterEqualOp>(x, y); }
  V eq(V x, V y) { return mask<graph::EqualOp>(x, y); }
  V isnan(V x) { return mask<graph::IsNanOp>(x); }
  V isinf(V x) { return mask<graph::IsInfOp>(x); }
  V mand(V x, V y) { return mask<graph::LogicalAndOp>(x, y); }
  V mor(V x, V y) { return mask<graph::LogicalOrOp>(x, y); }
  V mnot(V x) { return mask<graph::LogicalNotOp>(x); }
  V select(V condition, V x, V y) {
    return graph::SelectOp::create(ops, loc, TypeRange(x.getType()), ValueRange{condition, x, y});
  }

private:
  template <class Op, class... Rest>
  V same(V x, Rest... rest) {
    return Op::create(ops, loc, TypeRange(x.getType()), ValueRange{x, rest...});
  }
  template <class Op, class... Rest>
  V mask(V x, Rest... rest) {
    return Op::create(ops, loc, TypeRange(ops.getI1Type()), ValueRange{x, rest...});
  }

  OpBuilder &ops;
  Location loc;
};

using Parts = m::Parts<Value>;

/// One operation on complex scalars: `z` are its complex operands, in order. The result is a number
/// of two parts, or one real or bool value in `re`.
template <class B>
Parts arithmetic(Operation *op, m::Complex<B> &c, B &b, ArrayRef<Parts> z) {
  return TypeSwitch<Operation *, Parts>(op)
      .Case([&](graph::AddOp) { return c.add(z[0], z[1]); })
      .Case([&](graph::SubOp) { return c.sub(z[0], z[1]); })
      .Case([&](graph::MulOp) { return c.mul(z[0], z[1]); })
      .Case([&](graph::DivOp) { return c.div(z[0], z[1]); })
      .Case([&](graph::PowOp) { return c.pow(z[0], z[1]); })
      .Case([&](graph::MinimumOp) { return c.minimum(z[0], z[1]); })
      .Case([&](graph::MaximumOp) { return c.maximum(z[0], z[1]); })
      .Case([&](graph::NegOp) { return c.neg(z[0]); })
      .Case([&](graph::SquareOp) { return c.mul(z[0], z[0]); })
      .Case([&](graph::SignOp) { return c.sign(z[0]); })
      .Case([&](graph::RoundOp) { return Parts{b.round(z[0].re), b.round(z[0].im)}; })
      .Case([&](graph::ReciprocalOp) { return c.reciprocal(z[0]); })
      .Case([&](graph::ConjOp) { return c.conj(z[0]); })
      .Case([&](graph::RealOp) { return Parts{z[0].re, {}}; })
      .Case([&](graph::ImagOp) { return Parts{z[0].im, {}}; })
      .Case([&](graph::AbsOp) { return Parts{c.abs(z[0]), {}}; })
      .Default(Parts{});
}

template <class B>
Parts comparison(Operation *op, m::Complex<B> &c, B &b, ArrayRef<Parts> z) {
  auto answer = [](Value v) { return Parts{v, {}}; };
  return TypeSwitch<Operation *, Parts>(op)
      .Case([&](graph::EqualOp) { return answer(c.equal(z[0], z[1])); })
      .Case([&](graph::NotEqualOp) { return answer(b.mnot(c.equal(z[0], z[1]))); })
      .Case([&](graph::LessOp) { return answer(c.less(z[0], z[1], false)); })
      .Case([&](graph::LessEqualOp) { return answer(c.less(z[0], z[1], true)); })
      .Case([&](graph::GreaterOp) { return answer(c.less(z[1], z[0], false)); })
      .Case([&](graph::GreaterEqualOp) { return answer(c.less(z[1], z[0], true)); })
      .Case([&](graph::IsNanOp) { return answer(c.isnan(z[0])); })
      .Case([&](graph::IsInfOp) { return answer(c.isinf(z[0])); })
      .Case([&](graph::IsFiniteOp) { return answer(c.isfinite(z[0])); })
      .Default(Parts{});
}

template <class B>
Parts elementary(Operation *op, m::Complex<B> &c, ArrayRef<Parts> z) {
  return TypeSwitch<Operation *, Parts>(op)
      .Case([&](graph::SqrtOp) { return c.sqrt(z[0]); })
      .Case([&](graph::ExpOp) { return c.exp(z[0]); })
      .Case([&](graph::Exp2Op) { return c.exp2(z[0]); })
      .Case([&](graph::Expm1Op) { return c.expm1(z[0]); })
      .Case([&](graph::LogOp) { return c.log(z[0]); })
      .Case([&](graph::Log2Op) { return c.log2(z[0]); })
      .Case([&](graph::Log10Op) { return c.log10(z[0]); })
      .Case([&](graph::Log1pOp) { return c.log1p(z[0]); })
      .Case([&](graph::SinOp) { return c.sin(z[0]); })
      .Case([&](graph::CosOp) { return c.cos(z[0]); })
      .Case([&](graph::TanOp) { return c.tan(z[0]); })
      .Case([&](graph::SinhOp) { return c.sinh(z[0]); })
      .Case([&](graph::CoshOp) { return c.cosh(z[0]); })
      .Case([&](graph::TanhOp) { return c.tanh(z[0]); })
      .Case([&](graph::AsinOp) { return c.asin(z[0]); })
      .Case([&](graph::AcosOp) { return c.acos(z[0]); })
      .Case([&](graph::AtanOp) { return c.atan(z[0]); })
      .Case([&](graph::AsinhOp) { return c.asinh(z[0]); })
      .Case([&](graph::AcoshOp) { return c.acosh(z[0]); })
      .Case([&](graph::AtanhOp) { return c.atanh(z[0]); })
      .Default(Parts{});
}

bool isComplex(Value value) { return isa<ComplexType>(value.getType()); }

struct SplitComplex : pass::impl::SplitComplexBase<SplitComplex> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<kernel::FuncOp>()) {
      parts.clear();
      SmallVector<Operation *> old;
      for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
        bool touches =
            llvm::any_of(op.getResults(), isComplex) || llvm::any_of(op.getOperands(), isComplex);
        if (!touches)
          continue;
        if (failed(split(&op)))
          return signalPassFailure();
        old.push_back(&op);
      }
      for (Operation *op : llvm::reverse(old))
        op->erase();
      // Parts that nobody asked for.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
        if (isOpTriviallyDead(&op))
          op.erase();
      spread(func);
    }
  }

  /// Loops are parallel when what went along them as a whole was a part that nobody asked for.
  static void spread(kernel::FuncOp func) {
    AffineMap extents = func.getDomain().getExtents();
    bool goesAlong = llvm::any_of(func.getBody().front(),
                                  llvm::IsaPred<kernel::ReduceOp, kernel::ScanOp, kernel::DotOp>);
    if (!goesAlong)
      func.setDomainAttr(
          kernel::DomainAttr::get(func.getContext(), extents, extents.getNumResults()));
  }

  LogicalResult split(Operation *op) {
    OpBuilder builder(op);
    if (isa<kernel::LoadOp, kernel::GatherOp>(op)) {
      parts[op->getResult(0)] = {loadPart(builder, op, 0), loadPart(builder, op, 1)};
      return success();
    }
    if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      Parts z = parts.lookup(store.getValue());
      kernel::StoreOp::create(builder, op->getLoc(), z.re, z.im, store.getResultAttr(),
                              store.getMapAttr());
      return success();
    }
    if (auto scatter = dyn_cast<kernel::ScatterOp>(op))
      return splitScatter(builder, scatter);
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
      Parts z = parts.lookup(reduce.getValue());
      auto of = [&](Value part) {
        auto half = kernel::ReduceOp::create(builder, op->getLoc(), part.getType(),
                                             reduce.getKindAttr(), part, reduce.getRowTreeAttr());
        half->setDiscardableAttrs(reduce->getDiscardableAttrDictionary());
        return half.getResult();
      };
      parts[reduce.getResult()] = {of(z.re), of(z.im)};
      return success();
    }
    auto dot = dyn_cast<kernel::DotOp>(op);
    Parts result = dot ? fourProducts(builder, dot) : compute(builder, op);
    if (!result.re)
      return op->emitOpError("is not computed for complex numbers");
    if (op->hasAttr(pass::kWatchAttr))
      for (Value part : {result.re, result.im})
        watch(part);
    if (isComplex(op->getResult(0)))
      parts[op->getResult(0)] = result;
    else
      op->getResult(0).replaceAllUsesWith(result.re);
    return success();
  }

  /// The real products first: what is made of them follows all of them.
  Parts fourProducts(OpBuilder &builder, kernel::DotOp dot) {
    Location loc = dot.getLoc();
    Parts x = parts.lookup(dot.getLhs()), y = parts.lookup(dot.getRhs());
    auto product = [&](Value a, Value b) -> Value {
      return kernel::DotOp::create(builder, loc, a, b, dot.getFast());
    };
    Value re = product(x.re, y.re), square = product(x.im, y.im);
    Value left = product(x.re, y.im), right = product(x.im, y.re);
    Type type = re.getType();
    return {graph::SubOp::create(builder, loc, TypeRange(type), ValueRange{re, square}),
            graph::AddOp::create(builder, loc, TypeRange(type), ValueRange{left, right})};
  }

  /// What is loaded was watched where it was computed.
  static void watch(Value part) {
    Operation *op = part ? part.getDefiningOp() : nullptr;
    if (op && !isa<kernel::LoadOp, kernel::GatherOp, arith::ConstantOp>(op))
      op->setAttr(pass::kWatchAttr, UnitAttr::get(op->getContext()));
  }

  static Value loadPart(OpBuilder &builder, Operation *op, int64_t part) {
    Operation *half = builder.clone(*op);
    half->setAttr("part", builder.getI64IntegerAttr(part));
    half->getResult(0).setType(graph::realLike(op->getResult(0).getType()));
    return half->getResult(0);
  }

  /// Parts are written, and added to, each on its own.
  LogicalResult splitScatter(OpBuilder &builder, kernel::ScatterOp scatter) {
    StringRef combine = scatter.getCombine();
    if (!combine.empty() && combine != graph::AddOp::getOperationName().split('.').second &&
        combine != graph::SubOp::getOperationName().split('.').second)
      return scatter.emitOpError("does not combine complex numbers by ") << combine;
    Parts z = parts.lookup(scatter.getValue());
    for (int64_t part : {0, 1}) {
      auto half = cast<kernel::ScatterOp>(builder.clone(*scatter));
      half.getValueMutable().assign(part ? z.im : z.re);
      half.setPartAttr(builder.getI64IntegerAttr(part));
    }
    return success();
  }

  Parts compute(OpBuilder &builder, Operation *op) {
    Location loc = op->getLoc();
    if (auto make = dyn_cast<graph::ComplexOp>(op))
      return {make.getRe(), make.getIm()};
    if (auto cast = dyn_cast<graph::CastOp>(op))
      return convert(builder, cast);
    if (auto select = dyn_cast<graph::SelectOp>(op)) {
      Parts x = parts.lookup(select.getX()), y = parts.lookup(select.getY());
      auto choose = [&](Value a, Value b) {
        return graph::SelectOp::create(builder, loc, TypeRange(a.getType()),
                                       ValueRange{select.getCondition(), a, b})
            .getResult();
      };
      return {choose(x.re, y.re), choose(x.im, y.im)};
    }
    SmallVector<Parts> z;
    for (Value operand : op->getOperands())
      z.push_back(parts.lookup(operand));
    return z[0].re.getType().isF64() ? expand<true>(builder, op, z) : expand<false>(builder, op, z);
  }

  template <bool kWide>
  static Parts expand(OpBuilder &builder, Operation *op, ArrayRef<Parts> z) {
    GraphBuilder<kWide> b(builder, op->getLoc());
    m::Complex<GraphBuilder<kWide>> c(b);
    if (Parts result = arithmetic(op, c, b, z); result.re)
      return result;
    if (Parts result = comparison(op, c, b, z); result.re)
      return result;
    return elementary(op, c, z);
  }

  /// A real number gets the imaginary part 0; a real result takes the real part, bool both.
  Parts convert(OpBuilder &builder, graph::CastOp op) {
    Location loc = op.getLoc();
    auto to = [&](Value value, Type type) {
      return value.getType() == type ? value
                                     : graph::CastOp::create(builder, loc, type, value).getResult();
    };
    if (!isComplex(op.getX())) {
      Type part = graph::realLike(op.getType());
      Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(part, 0));
      return {to(op.getX(), part), zero};
    }
    Parts z = parts.lookup(op.getX());
    if (isComplex(op.getResult())) {
      Type part = graph::realLike(op.getType());
      return {to(z.re, part), to(z.im, part)};
    }
    if (!op.getType().isInteger(1))
      return {to(z.re, op.getType()), {}};
    Value re = to(z.re, op.getType()), im = to(z.im, op.getType());
    return {graph::LogicalOrOp::create(builder, loc, TypeRange(re.getType()), ValueRange{re, im}),
            {}};
  }

  llvm::DenseMap<Value, Parts> parts;
};

} // namespace
