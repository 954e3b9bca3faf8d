#include "compiler/passes/fuse/KernelNumbers.h"

#include "compiler/passes/analysis/Polynomial.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Whether the code for integers is better where more is known of them.
static bool usesIntegers(kernel::FuncOp func) {
  return llvm::any_of(func.getBody().front(), [](Operation &op) {
    bool isInteger = op.getNumResults() == 1 && op.getResult(0).getType().isInteger();
    return isa<kernel::BoundOp, kernel::InsideOp, kernel::ScatterOp>(op) ||
           (isInteger &&
            (op.hasTrait<graph::Expensive>() ||
             isa<graph::ShiftLeftOp, graph::ShiftRightOp, graph::Philox32Op, graph::Philox64Op>(
                 op)));
  });
}

KernelNumbers::KernelNumbers(kernel::FuncOp func) : func(func) {
  // Updates that read what they start from are made in place where both lie at the same offset.
  llvm::DenseSet<Value> bases;
  DenseMap<int64_t, unsigned> stores;
  for (int64_t init : func.getInits())
    if (init >= 0)
      bases.insert(func.getArgument(init));
  for (auto store : func.getBody().getOps<kernel::StoreOp>())
    ++stores[store.getResult()];
  for (Operation &op : func.getBody().front()) {
    if (auto load = dyn_cast<kernel::LoadOp>(op); load && !bases.contains(load.getTensor())) {
      addOffsets(load, load.getMap(), /*ofLoops=*/false);
    } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      int64_t init = func.getInits()[store.getResult()];
      if (init >= 0 && func.getArgument(init).use_empty() && stores[store.getResult()] == 1)
        addOffsets(store, store.getMap(), /*ofLoops=*/true);
    }
  }
  // Last: sizes of indices come before those that hold numbers.
  const bool integers = !usesIntegers(func);
  for (auto literal : func.getBody().getOps<arith::ConstantOp>())
    addLiteral(literal, integers);
}

void KernelNumbers::addLiteral(arith::ConstantOp op, bool integers) {
  Type type = op.getType();
  bool held = type.isF32() || type.isF64() ||
              (integers && type.isSignlessInteger() && type.getIntOrFloatBitWidth() >= 8);
  // Powers by some exponents are products, of other bits.
  if (held && !llvm::any_of(op->getUsers(), llvm::IsaPred<graph::PowOp>))
    numbers.push_back({op, op.getValue()});
}

/// `ofLoops`: also of coordinates that loops run along; where elements are read so, how far they
/// lie from others is what rows of stencils are found by.
void KernelNumbers::addOffsets(Operation *op, AffineMap map, bool ofLoops) {
  const size_t before = numbers.size();
  for (auto [coordinate, expr] : llvm::enumerate(map.getResults())) {
    AffineExpr loops = getAffineConstantExpr(0, op->getContext()), offset = loops;
    SmallVector<AffineExpr> terms = {expr};
    while (!terms.empty()) {
      AffineExpr term = terms.pop_back_val();
      if (auto sum = dyn_cast<AffineBinaryOpExpr>(term);
          sum && sum.getKind() == AffineExprKind::Add) {
        terms.append({sum.getRHS(), sum.getLHS()});
        continue;
      }
      bool alongLoop = false;
      for (unsigned d = 0; d < map.getNumDims(); ++d)
        alongLoop |= term.isFunctionOfDim(d);
      (alongLoop ? loops : offset) = (alongLoop ? loops : offset) + term;
    }
    bool fixed = loops == getAffineConstantExpr(0, op->getContext());
    if ((ofLoops || fixed) && Polynomial::of(offset))
      numbers.push_back({op, {}, static_cast<unsigned>(coordinate), loops, offset});
  }
  if (numbers.size() > before)
    maps.emplace_back(op, op->getAttrOfType<AffineMapAttr>("map"));
}

bool KernelNumbers::operator==(const KernelNumbers &other) const {
  for (size_t i = 0; i < count(); ++i)
    if (!isSame(other, i))
      return false;
  return true;
}

void KernelNumbers::setCoordinate(const Number &number, AffineExpr expr) {
  AffineMap map = number.op->getAttrOfType<AffineMapAttr>("map").getValue();
  SmallVector<AffineExpr> coordinates(map.getResults());
  coordinates[number.coordinate] = expr;
  number.op->setAttr("map", AffineMapAttr::get(AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                                                              coordinates, expr.getContext())));
}

void KernelNumbers::hide() {
  Builder builder(func.getContext());
  for (const Number &number : numbers)
    if (number.literal)
      cast<arith::ConstantOp>(number.op).setValueAttr(
          cast<TypedAttr>(builder.getZeroAttr(number.literal.getType())));
    else
      setCoordinate(number, number.loops);
}

void KernelNumbers::restore() {
  for (const Number &number : numbers)
    if (number.literal)
      cast<arith::ConstantOp>(number.op).setValueAttr(number.literal);
  for (auto &[op, map] : maps)
    op->setAttr("map", map);
}

void KernelNumbers::makeArguments(ArrayRef<size_t> which) {
  unsigned symbol = func.getNumSizes();
  func.appendSizes(which.size());
  for (size_t i : which) {
    const Number &number = numbers[i];
    AffineExpr size = getAffineSymbolExpr(symbol++, func.getContext());
    if (!number.literal) {
      setCoordinate(number, number.loops + size);
      continue;
    }
    OpBuilder builder(number.op);
    auto map = AffineMap::get(func.getNumDims(), func.getNumSizes(), size);
    auto argument = kernel::NumberOp::create(builder, number.op->getLoc(), number.literal.getType(),
                                             AffineMapAttr::get(map));
    number.op->replaceAllUsesWith(argument);
    number.op->erase();
  }
}

void KernelNumbers::appendTo(kernel::CallOp call, ArrayRef<size_t> which) const {
  OpBuilder builder(call);
  SmallVector<Value> sizes(call.getSizes()), more;
  for (size_t i : which) {
    const Number &number = numbers[i];
    if (!number.literal) {
      more.push_back(Polynomial::of(number.offset)->emit(builder, call.getLoc(), sizes));
      continue;
    }
    auto real = dyn_cast<FloatAttr>(number.literal);
    APInt bits =
        real ? real.getValue().bitcastToAPInt() : cast<IntegerAttr>(number.literal).getValue();
    more.push_back(arith::ConstantIndexOp::create(
        builder, call.getLoc(), static_cast<int64_t>(bits.zext(64).getZExtValue())));
  }
  call.getSizesMutable().append(more);
}
