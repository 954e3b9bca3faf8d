// The scalar lowering of every elementwise op: which function of compiler/math it is.
#include "compiler/math/Elementary.h"
#include "compiler/math/ExactProducts.h"
#include "compiler/math/ExpandRandom.h"
#include "compiler/math/Intervals.h"
#include "compiler/math/Math.h"
#include "compiler/math/MlirBuilder.h"
#include "compiler/math/ResidueSquares.h"
#include "compiler/math/Residues.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/LoopSpace.h"
#include "dialects/graph/Graph.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace graphc::pass {
#define GEN_PASS_DEF_EXPANDSCALAROPS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using graphc::math::DivideBy;
using graphc::math::MlirBuilder;
namespace m = graphc::math;

namespace {

/// What a type means once unsigned integers have lost their names.
struct Format {
  explicit Format(Type type) {
    Type element = graph::elementType(type);
    width = element.getIntOrFloatBitWidth();
    isFloat = isa<FloatType>(element);
    if (isFloat && width == 16) {
      narrow = element.isF16() ? m::Narrow::kHalf : m::Narrow::kBFloat;
      width = 32;
    }
    isBool = element.isInteger(1);
    isSigned = !isBool && !element.isUnsignedInteger();
    if (auto vector = dyn_cast<VectorType>(type))
      lanes = vector.getDimSize(0);
  }
  unsigned width; ///< in which it is computed
  bool isFloat, isBool, isSigned;
  m::Narrow narrow = m::Narrow::kNone;
  int64_t lanes = 1;
};

/// Calls fn with the float width as a template argument.
template <class Fn>
Value byFloat(unsigned width, Fn fn) {
  return width == 32 ? fn.template operator()<32>() : fn.template operator()<64>();
}

/// One op to expand, with the types it had before any operand was replaced.
struct Pending {
  Operation *op;
  Format in, out;
  std::optional<int64_t> divisor; ///< constant second operand of a division
  bool small = false;             ///< the dividend is known to be small (math::kSmallDividend)
};

class Expander {
public:
  Expander(OpBuilder &builder, const Pending &pending, bool hasFloat64, MlirBuilder::Target target)
      : pending(pending), in(pending.in), out(pending.out), float64(hasFloat64),
        x(pending.op->getOperands()), b(builder, pending.op->getLoc(), in.lanes, target) {}

  Value run();

private:
  Value expand();
  Value widened(Value bits);
  Value narrowed(Value value);
  bool sharedDivisor();
  Value divide(bool remainder);
  Value cast();
  Value bitcast();
  Value compare();
  Value minMax(bool larger);
  Value logical();
  Value predicate();
  Value shift(bool left);
  template <class Fn>
  Value byInt(Fn fn) {
    return m::withIntFormat(in.width, in.isSigned, fn);
  }

  const Pending &pending;
  Format in, out;
  bool float64;
  SmallVector<Value> x;
  MlirBuilder b;
};

Value Expander::compare() {
  Operation *op = pending.op;
  if (in.isFloat)
    return TypeSwitch<Operation *, Value>(op)
        .Case([&](graph::EqualOp) { return b.eq(x[0], x[1]); })
        .Case([&](graph::NotEqualOp) { return b.ne(x[0], x[1]); })
        .Case([&](graph::LessOp) { return b.lt(x[0], x[1]); })
        .Case([&](graph::LessEqualOp) { return b.le(x[0], x[1]); })
        .Case([&](graph::GreaterOp) { return b.gt(x[0], x[1]); })
        .Case([&](graph::GreaterEqualOp) { return b.ge(x[0], x[1]); })
        .Default(Value());
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::EqualOp) { return b.ieq(x[0], x[1]); })
      .Case([&](graph::NotEqualOp) { return b.ine(x[0], x[1]); })
      .Case([&](graph::LessOp) { return in.isSigned ? b.slt(x[0], x[1]) : b.ult(x[0], x[1]); })
      .Case([&](graph::LessEqualOp) { return in.isSigned ? b.sle(x[0], x[1]) : b.ule(x[0], x[1]); })
      .Case([&](graph::GreaterOp) { return in.isSigned ? b.sgt(x[0], x[1]) : b.ugt(x[0], x[1]); })
      .Case([&](graph::GreaterEqualOp) {
        return in.isSigned ? b.sge(x[0], x[1]) : b.uge(x[0], x[1]);
      })
      .Default(Value());
}

Value Expander::minMax(bool larger) {
  if (in.isFloat)
    return larger ? m::maximumFloat(b, x[0], x[1]) : m::minimumFloat(b, x[0], x[1]);
  if (in.isBool)
    return larger ? b.mor(x[0], x[1]) : b.mand(x[0], x[1]);
  if (larger)
    return in.isSigned ? m::maximumInt<true>(b, x[0], x[1]) : m::maximumInt<false>(b, x[0], x[1]);
  return in.isSigned ? m::minimumInt<true>(b, x[0], x[1]) : m::minimumInt<false>(b, x[0], x[1]);
}

/// Whether all lanes, and then most likely all vectors of a loop, are divided by one value.
/// Divisions by powers of two become products without this.
bool Expander::sharedDivisor() {
  if (in.lanes <= 1 || pending.op->hasAttr(pass::kSeldomAttr))
    return false;
  auto splat = x[1].getDefiningOp<vector::BroadcastOp>();
  Value one = splat ? splat.getSource() : x[1];
  if (FloatAttr known; matchPattern(one, m_Constant(&known)))
    return !known.getValue().getExactInverse(nullptr);
  if (SplatElementsAttr known; matchPattern(one, m_Constant(&known)))
    return !known.getSplatValue<APFloat>().getExactInverse(nullptr);
  return splat && !isa<VectorType>(one.getType());
}

Value Expander::divide(bool remainder) {
  if (in.isFloat)
    return byFloat(in.width, [&]<unsigned W>() -> Value {
      return remainder ? m::remainderFloat<W>(b, x[0], x[1])
                       : m::floorDivideFloat<W>(b, x[0], x[1]);
    });
  // A scalar has the machine's division; vectors would be taken apart for it.
  bool byFloat64 = float64 && in.lanes > 1;
  return byInt([&]<unsigned W, bool Signed>() -> Value {
    auto form = [&]<DivideBy Method>() -> Value {
      if (pending.divisor) {
        auto both = m::divModConst<W, Signed, Method>(b, x[0], *pending.divisor, pending.small);
        return remainder ? both.remainder : both.quotient;
      }
      return remainder ? m::remainderInt<W, Signed, Method>(b, x[0], x[1])
                       : m::floorDivideInt<W, Signed, Method>(b, x[0], x[1]);
    };
    return byFloat64 ? form.template operator()<DivideBy::kFloat64>()
                     : form.template operator()<DivideBy::kInteger>();
  });
}

Value Expander::cast() {
  if (in.isBool && out.isBool)
    return x[0];
  if (in.isBool) {
    if (out.isFloat)
      return byFloat(out.width, [&]<unsigned W>() -> Value { return m::boolToFloat<W>(b, x[0]); });
    return m::withIntFormat(out.width, out.isSigned,
                            [&]<unsigned W, bool>() -> Value { return b.zext(x[0], W); });
  }
  if (out.isBool) {
    if (in.isFloat)
      return byFloat(in.width, [&]<unsigned W>() -> Value { return m::floatToBool<W>(b, x[0]); });
    return byInt([&]<unsigned W, bool>() -> Value { return m::intToBool<W>(b, x[0]); });
  }
  if (in.isFloat && out.isFloat)
    return in.width == out.width            ? x[0]
           : out.width == 64                ? b.extf(x[0])
           : out.narrow != m::Narrow::kNone ? m::truncateToOdd(b, x[0])
                                            : b.truncf(x[0]);
  if (in.isFloat)
    return byFloat(in.width, [&]<unsigned FW>() -> Value {
      return m::withIntFormat(out.width, out.isSigned, [&]<unsigned W, bool Signed>() -> Value {
        return m::floatToInt<FW, W, Signed>(b, x[0]);
      });
    });
  if (out.isFloat)
    return byFloat(out.width, [&]<unsigned FW>() -> Value {
      return byInt([&]<unsigned W, bool Signed>() -> Value {
        return m::intToFloat<W, Signed, FW>(b, x[0]);
      });
    });
  if (out.width <= in.width)
    return b.itrunc(x[0], out.width);
  return in.isSigned ? b.sext(x[0], out.width) : b.zext(x[0], out.width);
}

Value Expander::shift(bool left) {
  return byInt([&]<unsigned W, bool Signed>() -> Value {
    return left ? m::shiftLeft<W>(b, x[0], x[1]) : m::shiftRight<W, Signed>(b, x[0], x[1]);
  });
}

Value Expander::logical() {
  return TypeSwitch<Operation *, Value>(pending.op)
      .Case<graph::LogicalAndOp, graph::BitwiseAndOp>([&](auto) { return b.band(x[0], x[1]); })
      .Case<graph::LogicalOrOp, graph::BitwiseOrOp>([&](auto) { return b.bor(x[0], x[1]); })
      .Case<graph::LogicalXorOp, graph::BitwiseXorOp>([&](auto) { return b.bxor(x[0], x[1]); })
      .Case([&](graph::LogicalNotOp) { return b.mnot(x[0]); })
      .Case([&](graph::BitCountOp) {
        return in.isBool
                   ? x[0]
                   : byInt([&]<unsigned W, bool>() -> Value { return m::bitCount<W>(b, x[0]); });
      })
      .Case([&](graph::BitwiseNotOp) {
        return in.isBool ? b.mnot(x[0]) : b.bxor(x[0], b.intConst(in.width, -1));
      })
      .Default(Value());
}

/// Null for any other op, and for what integers need no look at (constantMask).
Value Expander::predicate() {
  return TypeSwitch<Operation *, Value>(pending.op)
      .Case([&](graph::IsNanOp) { return in.isFloat ? b.isnan(x[0]) : Value(); })
      .Case([&](graph::IsInfOp) {
        return in.isFloat
                   ? byFloat(in.width, [&]<unsigned W>() -> Value { return m::isInf<W>(b, x[0]); })
                   : Value();
      })
      .Case([&](graph::IsFiniteOp) {
        return in.isFloat ? byFloat(in.width,
                                    [&]<unsigned W>() -> Value { return m::isFinite<W>(b, x[0]); })
                          : Value();
      })
      .Case([&](graph::SignbitOp) {
        if (in.isFloat)
          return byFloat(in.width, [&]<unsigned W>() -> Value { return m::signbit<W>(b, x[0]); });
        return in.isSigned ? b.slt(x[0], b.intConst(in.width, 0)) : Value();
      })
      .Default(Value());
}

/// Null for predicates of floats asked of integers, whose answer is a constant.
Value Expander::expand() {
  Operation *op = pending.op;
  auto rounding = [&](Value (MlirBuilder::*fn)(Value)) {
    return in.isFloat ? (b.*fn)(x[0]) : x[0];
  };
  for (Value v : {logical(), predicate(), m::expandElementary(op, b, x, in.width)})
    if (v)
      return v;
  if (isa<graph::EqualOp, graph::NotEqualOp, graph::LessOp, graph::LessEqualOp, graph::GreaterOp,
          graph::GreaterEqualOp>(op))
    return compare();
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::AddOp) {
        return in.isFloat ? b.add(x[0], x[1]) : in.isBool ? b.mor(x[0], x[1]) : b.iadd(x[0], x[1]);
      })
      .Case([&](graph::SubOp) { return in.isFloat ? b.sub(x[0], x[1]) : b.isub(x[0], x[1]); })
      .Case([&](graph::MulOp) {
        return in.isFloat ? b.mul(x[0], x[1]) : in.isBool ? b.mand(x[0], x[1]) : b.imul(x[0], x[1]);
      })
      .Case([&](graph::SquareOp) { return in.isFloat ? b.mul(x[0], x[0]) : b.imul(x[0], x[0]); })
      .Case([&](graph::DivOp) {
        return sharedDivisor() ? byFloat(in.width,
                                         [&]<unsigned W>() -> Value {
                                           return m::divideByShared<W>(b, x[0], x[1]);
                                         })
                               : b.div(x[0], x[1]);
      })
      .Case([&](graph::FloorDivideOp) { return divide(false); })
      .Case([&](graph::RemainderOp) { return divide(true); })
      .Case([&](graph::PowOp) {
        if (in.isFloat)
          return byFloat(in.width, [&]<unsigned W>() -> Value { return m::pow<W>(b, x[0], x[1]); });
        return byInt([&]<unsigned W, bool Signed>() -> Value {
          return m::powInt<W, Signed>(b, x[0], x[1]);
        });
      })
      .Case([&](graph::MinimumOp) { return minMax(false); })
      .Case([&](graph::MaximumOp) { return minMax(true); })
      .Case([&](graph::FmaOp) {
        return in.isFloat ? b.fma(x[0], x[1], x[2]) : b.iadd(b.imul(x[0], x[1]), x[2]);
      })
      .Case([&](graph::ClipOp) {
        if (in.isFloat)
          return m::clipFloat(b, x[0], x[1], x[2]);
        if (in.isBool)
          return b.mand(b.mor(x[0], x[1]), x[2]);
        return in.isSigned ? m::clipInt<true>(b, x[0], x[1], x[2])
                           : m::clipInt<false>(b, x[0], x[1], x[2]);
      })
      .Case([&](graph::NegOp) {
        return in.isFloat ? b.neg(x[0]) : b.isub(b.intConst(in.width, 0), x[0]);
      })
      .Case([&](graph::AbsOp) {
        if (in.isFloat)
          return b.abs(x[0]);
        return in.isBool ? x[0] : byInt([&]<unsigned W, bool Signed>() -> Value {
          return m::absInt<W, Signed>(b, x[0]);
        });
      })
      .Case([&](graph::SignOp) {
        if (in.isFloat)
          return byFloat(in.width, [&]<unsigned W>() -> Value { return m::signFloat<W>(b, x[0]); });
        return byInt(
            [&]<unsigned W, bool Signed>() -> Value { return m::signInt<W, Signed>(b, x[0]); });
      })
      .Case([&](graph::FloorOp) { return rounding(&MlirBuilder::floor); })
      .Case([&](graph::CeilOp) { return rounding(&MlirBuilder::ceil); })
      .Case([&](graph::TruncOp) { return rounding(&MlirBuilder::trunc); })
      .Case([&](graph::RoundOp) { return rounding(&MlirBuilder::roundeven); })
      .Case([&](graph::SqrtOp) { return b.sqrt(x[0]); })
      .Case([&](graph::ShiftLeftOp) { return shift(true); })
      .Case([&](graph::ShiftRightOp) { return shift(false); })
      .Case([&](graph::SelectOp) { return b.select(x[0], x[1], x[2]); })
      .Case([&](graph::CastOp) { return cast(); })
      .Default(Value());
}

Value Expander::widened(Value bits) {
  return in.narrow == m::Narrow::kHalf ? m::widen<m::Narrow::kHalf>(b, bits)
                                       : m::widen<m::Narrow::kBFloat>(b, bits);
}

Value Expander::narrowed(Value value) {
  return out.narrow == m::Narrow::kHalf ? m::narrow<m::Narrow::kHalf>(b, value)
                                        : m::narrow<m::Narrow::kBFloat>(b, value);
}

/// Between floats of registers and bits; floats of 16 bits are bits already.
Value Expander::bitcast() {
  bool isFloat = in.isFloat && in.narrow == m::Narrow::kNone;
  bool becomesFloat = out.isFloat && out.narrow == m::Narrow::kNone;
  if (isFloat == becomesFloat)
    return x[0];
  return isFloat ? b.toBits(x[0]) : b.fromBits(x[0]);
}

/// expand() in float32 for the floats of 16 bits; selections move bits.
Value Expander::run() {
  Operation *op = pending.op;
  if (isa<graph::SelectOp>(op))
    return expand();
  if (isa<graph::BitcastOp>(op))
    return bitcast();
  SmallVector<Value> given = x;
  if (in.narrow != m::Narrow::kNone)
    for (Value &operand : x)
      operand = widened(operand);
  if (in.narrow != m::Narrow::kNone && isa<graph::NextafterOp>(op))
    return in.narrow == m::Narrow::kHalf
               ? m::nextAfterNarrow<m::Narrow::kHalf>(b, given[0], given[1], x[0], x[1])
               : m::nextAfterNarrow<m::Narrow::kBFloat>(b, given[0], given[1], x[0], x[1]);
  Value value = expand();
  return value && out.narrow != m::Narrow::kNone ? narrowed(value) : value;
}

struct ExpandScalarOps : pass::impl::ExpandScalarOpsBase<ExpandScalarOps> {
  using ExpandScalarOpsBase::ExpandScalarOpsBase;

  void runOnOperation() override {
    SmallVector<Pending> work;
    m::Intervals intervals;
    // Of rows and reductions many elements are computed in one piece, whose loads wait together.
    auto family = getOperation()->getAttrOfType<StringAttr>("graphc.family");
    bool skips = nvidia && family && family.getValue() == "map";
    auto lookup = permutes == 16  ? m::Lookup::kPermute16
                  : permutes == 8 ? m::Lookup::kPermute8
                  : tables        ? m::Lookup::kMemory
                                  : m::Lookup::kNone;
    MlirBuilder::Target target{int64Conversions, scaleOperation, halfConversions, products52,
                               nvidia,           skips,          lookup};
    if (getOperation()->hasAttr(m::kApartAttr) && getOperation().isExternal())
      return m::defineApart(getOperation(), target);
    if (products52)
      m::expandResidueSquares(getOperation(), intervals, target);
    if (hasFloat64)
      m::expandResidueChains(getOperation(), intervals, target);
    m::fuseExactProducts(getOperation());
    // First everything that types and constants say, because replaced operands no longer say it.
    getOperation().walk([&](Operation *op) {
      if (!isa<graph::GraphDialect>(op->getDialect()))
        return;
      unsigned typed = isa<graph::SelectOp>(op) ? 1 : 0;
      Pending pending{op, Format(op->getOperand(typed).getType()),
                      Format(op->getResult(0).getType()), std::nullopt};
      if (isa<graph::FloorDivideOp, graph::RemainderOp>(op) && !pending.in.isFloat) {
        m::Interval divisor = intervals.of(op->getOperand(1));
        if (divisor.isConstant() && divisor.low != 0)
          pending.divisor = divisor.low;
        m::Interval dividend = intervals.of(op->getOperand(0));
        pending.small = dividend.low > -m::kSmallDividend && dividend.high < m::kSmallDividend;
      }
      work.push_back(pending);
    });
    dropNames();
    for (const Pending &pending : work) {
      OpBuilder builder(pending.op);
      Value value = m::expandRandom(pending.op, builder, pending.in.lanes, target);
      if (!value)
        value = Expander(builder, pending, hasFloat64, target).run();
      if (!value) // isnan and the like of integers
        value = constantMask(builder, pending, isa<graph::IsFiniteOp>(pending.op));
      pending.op->getResult(0).replaceAllUsesWith(value);
      pending.op->erase();
    }
    llvm::SetVector<Operation *> seldom;
    getOperation().walk([&](func::CallOp call) {
      if (call->hasAttr(m::kApartAttr))
        seldom.insert(call->getParentOp());
    });
    for (Operation *branch : seldom)
      if (isa<scf::IfOp>(branch))
        loadAfter(branch);
  }

  /// Vectors that are needed after a branch which calls are loaded there: before it they would wait
  /// in memory, and code generation moves no load past a call.
  static void loadAfter(Operation *branch) {
    Block *block = branch->getBlock();
    auto isLater = [&](Operation *user) {
      Operation *here = block->findAncestorOpInBlock(*user);
      return here && branch->isBeforeInBlock(here);
    };
    Operation *before = nullptr;
    for (Operation *op = branch->getPrevNode(); op; op = before) {
      before = op->getPrevNode();
      if (isa<vector::LoadOp>(op)) {
        if (llvm::all_of(op->getUsers(), isLater))
          op->moveAfter(branch);
      } else if (!isa<memref::LoadOp, memref::PrefetchOp>(op) && !isMemoryEffectFree(op)) {
        return;
      }
    }
  }

  static Value constantMask(OpBuilder &builder, const Pending &pending, bool value) {
    Type type = pending.op->getResult(0).getType();
    TypedAttr attr = builder.getBoolAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, pending.op->getLoc(), attr);
  }

  /// Unsigned integers and floats of 16 bits become signless integers, also where values are only
  /// carried (loop state, selections, broadcasts).
  void dropNames() {
    auto drop = [](Value value) {
      Type element = graph::elementType(value.getType());
      if (!element.isUnsignedInteger() && !element.isF16() && !element.isBF16())
        return;
      Type signless = IntegerType::get(value.getContext(), element.getIntOrFloatBitWidth());
      auto vector = dyn_cast<VectorType>(value.getType());
      value.setType(vector ? Type(vector.clone(signless)) : signless);
    };
    auto dropConstant = [](arith::ConstantOp op) {
      if (auto literal = dyn_cast<FloatAttr>(op.getValue());
          literal && literal.getType() != op.getType())
        op.setValueAttr(IntegerAttr::get(op.getType(), literal.getValue().bitcastToAPInt()));
      else if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
               dense && dense.getType() != op.getType())
        op.setValueAttr(dense.bitcast(cast<VectorType>(op.getType()).getElementType()));
    };
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults())
        drop(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            drop(argument);
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        dropConstant(constant);
    });
  }
};

} // namespace
