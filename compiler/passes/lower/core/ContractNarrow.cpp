// Matrix products of a few rows and a vector of columns. Each element waits for its own last sum,
// and there are too few of them to fill that time, so the chains of a run are summed beside each
// other (docs/numerics.md); both operands are read in place.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/ContractPanels.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {
constexpr int64_t kRowsBeside = 3; ///< of each chain; more would wait for registers
constexpr int64_t kFewestK = 64;   ///< from which on copying operands costs more than to wait
constexpr int64_t kTurns = 2; ///< over the columns' operand that still cost less than to copy it
} // namespace

/// Whether both operands can be read in place.
bool CoreLowering::Panels::mayBeNarrow() const {
  return products.all.size() == 1 && columnLoad &&
         products.rows.front().getDefiningOp<kernel::LoadOp>();
}

/// An i1: there are a few rows and columns only, and chains enough to fill the time of a turn.
Value CoreLowering::Panels::isNarrow(OpBuilder &b) const {
  IndexMath at{b, loc};
  auto atMost = [&](Value x, int64_t most) { return at.atLeast(at(most), x); };
  Value once =
      at.both(atMost(extentRows, std::min(rows, kRowsBeside)), at.atLeast(depth, at(kFewestK)));
  Value often = at.both(atMost(extentRows, std::min(rows, kTurns * kRowsBeside)),
                        at.less(at(2 * kChain), depth));
  return at.both(atMost(extentColumns, lanes), at.either(once, often));
}

void CoreLowering::Panels::narrow(OpBuilder &b, const Position &base) {
  IndexMath at{b, loc};
  Value lastRow = at.sub(extentRows, at(1));
  SmallVector<Value> zeros(kRowsBeside, chainZero(b, loc, element, lanes));
  l.loop(b, at(0), extentRows, kRowsBeside, [&](OpBuilder &c, Value row) {
    IndexMath in{c, loc};
    Position columns = base;
    columns.loops[columnLoop] = in(0);
    columns.vectorLoop = columnLoop;
    columns.width = lanes;
    l.emitter->maskLanes(c, columns, extentColumns);
    SmallVector<Value> numbers;
    for (int64_t r = 0; r < kRowsBeside; ++r)
      numbers.push_back(in.min(in.add(row, r), lastRow));
    auto add = [&](OpBuilder &d, Value k, ValueRange sums) {
      Position here = columns;
      here.loops[depthLoop] = k;
      Value y = l.emitter->value(d, products.columns.front(), here);
      SmallVector<Value> next;
      for (auto [number, sum] : llvm::zip_equal(numbers, sums)) {
        Position one = base;
        one.loops[rowLoop] = number;
        one.loops[depthLoop] = k;
        Value x = l.emitter->value(d, products.rows.front(), one);
        next.push_back(multiplyAdd(d, loc, BodyEmitter::splat(d, loc, x, lanes), y, sum));
      }
      return next;
    };
    SmallVector<Value> totals = sumsBeside(c, loc, depth, zeros, add);
    for (int64_t r = 0; r < kRowsBeside; ++r) {
      Value number = in.add(row, r);
      OpBuilder d = scf::IfOp::create(c, loc, in.less(number, extentRows), /*withElseRegion=*/false)
                        .getThenBodyBuilder();
      Position here = columns;
      here.loops[rowLoop] = number;
      here.values[Value(products.all.front().dot)] = totals[r];
      for (kernel::StoreOp store : l.stores)
        l.emitter->store(d, store, here);
    }
  });
}
