// Where values belong among sorted elements: a work-item halves the elements for its value.
#include "compiler/passes/lower/group/SortFunction.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Picoseconds of a group of values: what a search costs where a device is chosen by cost.
static constexpr int64_t kSearchPs = 1000000;

/// How many of `length` elements come before a key, as `before` says of one.
static Value countBefore(OpBuilder &b, Location loc, Value length,
                         llvm::function_ref<Value(OpBuilder &, Value)> before) {
  IndexMath m{b, loc};
  SmallVector<Value> range = {m(0), length};
  auto search = scf::WhileOp::create(
      b, loc, TypeRange(ValueRange(range)), range,
      [&](OpBuilder &c, Location, ValueRange at) {
        scf::ConditionOp::create(c, loc, IndexMath{c, loc}.less(at[0], at[1]), at);
      },
      [&](OpBuilder &c, Location, ValueRange at) {
        IndexMath n{c, loc};
        Value middle = n.div(n.add(at[0], at[1]), 2), isBefore = before(c, middle);
        Value first = n.select(isBefore, n.add(middle, 1), at[0]);
        scf::YieldOp::create(c, loc, ValueRange{first, n.select(isBefore, at[1], middle)});
      });
  return search.getResult(0);
}

namespace {

class SearchFunction : public SortFunction {
public:
  using SortFunction::SortFunction;

  void search(bool right) {
    Value length = sizes[0], count = sizes[1];
    Value item = m.add(m.mul(group, kSortGroup), wide(b, member));
    when(b, m.less(item, count), [&](OpBuilder &inside) {
      Value key = keys.of(inside, get(inside, memory[1], item));
      Value place = countBefore(inside, loc, length, [&](OpBuilder &c, Value index) -> Value {
        Value element = keys.of(c, get(c, memory[0], index));
        if (!right)
          return keys.less(c, element, key);
        return arith::CmpIOp::create(c, loc, arith::CmpIPredicate::ule, element, key);
      });
      set(inside, memory[2], item, stored(inside, place));
    });
    finish();
  }
};

} // namespace

void pass::lowerGroupSearch(kernel::SearchOp op) {
  SortKeys keys(op.getLoc(), op.getElement(), /*places=*/true);
  SortFunction::Signature signature{
      {op.getElement(), op.getElement(), IntegerType::get(op.getContext(), 64)},
      /*inputs=*/2,
      /*sizes=*/2,
      kSearchPs};
  SearchFunction(op, op.getSymName(), keys, signature).search(op.getRight());
}
