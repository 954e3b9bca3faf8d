#include "compiler/passes/fuse/Watch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

bool isInexact(Type type) { return isa<FloatType, ComplexType>(getElementTypeOrSelf(type)); }

unsigned width(Type type) {
  Type element = getElementTypeOrSelf(type);
  auto complex = dyn_cast<ComplexType>(element);
  return (complex ? complex.getElementType() : element).getIntOrFloatBitWidth();
}

/// A converted value fits unless the format is narrower, or an integer's range is wider.
bool raisesConverted(graph::CastOp cast) {
  Type from = cast.getX().getType(), to = cast.getType();
  if (isInexact(to))
    return isInexact(from) ? width(to) < width(from)
                           : getElementTypeOrSelf(to).isF16() && width(from) >= 16;
  return isInexact(from) && !getElementTypeOrSelf(to).isInteger(1);
}

bool isNonzero(Value divisor) {
  while (isa_and_present<graph::CastOp, graph::BroadcastOp>(divisor.getDefiningOp()))
    divisor = divisor.getDefiningOp()->getOperand(0);
  APInt value;
  if (auto full = divisor.getDefiningOp<graph::FullOp>())
    if (auto number = dyn_cast<IntegerAttr>(full.getValue()))
      return !number.getValue().isZero() && !number.getValue().isAllOnes();
  return matchPattern(divisor, m_ConstantInt(&value)) && !value.isZero() && !value.isAllOnes();
}

/// Whether infinities vanish in a running value, and none arise.
bool isExtremeScan(Operation *op) {
  auto scan = dyn_cast<kernel::ScanOp>(op);
  return scan &&
         (scan.getKind() == graph::ReduceKind::Min || scan.getKind() == graph::ReduceKind::Max);
}

/// Whether an infinite or NaN operand always gives an infinite or NaN result.
bool passesOn(Operation *op, Value operand) {
  if (op->getNumResults() != 1 || !isInexact(op->getResult(0).getType()))
    return false;
  if (auto reduce = dyn_cast<kernel::ReduceOp>(op))
    return mayRaise(op);
  if (isa<kernel::ScanOp, kernel::DotOp, graph::AddOp, graph::SubOp, graph::MulOp, graph::NegOp,
          graph::ConjOp, graph::ComplexOp, graph::SquareOp>(op))
    return !isExtremeScan(op);
  if (isa<ComplexType>(operand.getType()))
    return false;
  if (isa<graph::DivOp, graph::RemainderOp, graph::CopysignOp>(op))
    return operand == op->getOperand(0);
  return isa<graph::AbsOp, graph::FmaOp, graph::SqrtOp, graph::LogOp, graph::Log2Op, graph::Log10Op,
             graph::Log1pOp, graph::SinOp, graph::CosOp, graph::TanOp, graph::SinhOp, graph::CoshOp,
             graph::AsinhOp, graph::AcoshOp, graph::AtanhOp, graph::AsinOp, graph::AcosOp,
             graph::CbrtOp, graph::FloorOp, graph::CeilOp, graph::TruncOp, graph::RoundOp,
             graph::HypotOp, graph::CastOp>(op);
}

/// Whether its operands and its result tell that it gave one. Values of complex operations are of
/// several operations on real numbers, a quotient that overflowed is NaN when it is rounded down,
/// and NaN is told of where operands are compared.
bool tellsByOperands(Operation *op) {
  return isa<graph::GraphDialect>(op->getDialect()) &&
         !isa<graph::FloorDivideOp, graph::LogAddExpOp>(op) &&
         isa<FloatType>(op->getResult(0).getType()) &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ComplexType>);
}

} // namespace

bool pass::isWatched(func::FuncOp func) {
  auto module = func->getParentOfType<ModuleOp>();
  return module && module->hasAttr(kWatchAttr);
}

bool pass::mayRaise(Operation *op) {
  if (auto cast = dyn_cast<graph::CastOp>(op))
    return raisesConverted(cast);
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  if (auto reduce = dyn_cast<kernel::ReduceOp>(op))
    return isInexact(reduce.getType()) && (reduce.getKind() == graph::ReduceKind::Sum ||
                                           reduce.getKind() == graph::ReduceKind::Prod ||
                                           reduce.getKind() == graph::ReduceKind::Mean);
  if (isa<kernel::ScanOp, kernel::DotOp>(op))
    return isInexact(op->getResult(0).getType()) && !isExtremeScan(op);
  if (isa<graph::FloorDivideOp, graph::RemainderOp>(op) && !isInexact(op->getResult(0).getType()))
    return !isNonzero(op->getOperand(1));
  if (!isa<graph::GraphDialect>(op->getDialect()) || !isInexact(op->getResult(0).getType()))
    return false;
  if (isa<graph::AbsOp>(op))
    return isInexact(op->getOperand(0).getType()) &&
           isa<ComplexType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  if (isa<graph::AtanOp>(op)) // which has poles at i and -i
    return isa<ComplexType>(getElementTypeOrSelf(op->getResult(0).getType()));
  return !isa<graph::NegOp, graph::SignOp, graph::ConjOp, graph::RealOp, graph::ImagOp,
              graph::ComplexOp, graph::FloorOp, graph::CeilOp, graph::TruncOp, graph::RoundOp,
              graph::CopysignOp, graph::MinimumOp, graph::MaximumOp, graph::ClipOp, graph::SelectOp,
              graph::BitcastOp, graph::TanhOp, graph::AsinhOp, graph::CbrtOp, graph::ErfOp,
              graph::ErfcOp>(op);
}

bool pass::raisesOfOrdinary(Operation *op) {
  if (auto cast = dyn_cast<graph::CastOp>(op))
    return !isInexact(cast.getType()) && raisesConverted(cast);
  return mayRaise(op) && !isa<graph::AddOp, graph::SubOp, graph::MulOp, graph::SquareOp,
                              graph::FmaOp, graph::SinOp, graph::CosOp>(op);
}

bool pass::watchOperations(kernel::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Attribute whole = UnitAttr::get(context), each = StringAttr::get(context, kWatchOperations);
  bool any = false;
  for (Operation &op : kernel.getBody().front()) {
    if (!mayRaise(&op))
      continue;
    op.setAttr(kWatchAttr, tellsByOperands(&op) ? each : whole);
    any = true;
  }
  if (any)
    kernel->setAttr(kWatchAttr, whole);
  return any;
}

bool pass::watchValues(kernel::FuncOp kernel) {
  bool any = false;
  DenseSet<Operation *> needed;
  for (Operation &op : kernel.getBody().front()) {
    if (!mayRaise(&op) && !needed.contains(&op))
      continue;
    Value value = op.getResult(0);
    Operation *heir = nullptr;
    for (Operation *user : value.getUsers())
      if (!heir && isInexact(value.getType()) && passesOn(user, value))
        heir = user;
    if (heir) {
      needed.insert(heir);
    } else {
      op.setAttr(kWatchAttr, UnitAttr::get(op.getContext()));
      any = true;
    }
  }
  if (any)
    kernel->setAttr(kWatchAttr, UnitAttr::get(kernel.getContext()));
  return any;
}
