// Rows of a few elements: lanes are rows, and elements j of all rows of a vector are combined at
// once. The tree is the lane tree, whose folds by halves are the same at every length.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {
constexpr int64_t kRowLanes = 16;
} // namespace

KernelLowering::Short KernelLowering::shortRows() {
  if (width == 1 || space.parallel == 0 || space.count() - space.parallel != 1)
    return Short::Never;
  if (auto length = space.reducedItems().constant())
    return *length <= kShortRow ? Short::Always : Short::Never;
  int64_t ops = llvm::range_size(kernel.getBody().front());
  return ops <= kMostOpsTwice ? Short::Sometimes : Short::Never;
}

static std::string shortName(kernel::FuncOp kernel) {
  return (kernel.getSymName() + "_short").str();
}

void KernelLowering::chooseRows(llvm::function_ref<void(OpBuilder &)> usual) {
  Short form = shortRows();
  if (form == Short::Never)
    return usual(builder);
  if (form == Short::Always)
    return lowerShortRows(builder);
  Value length = emitter->emit(builder, space.reducedItems());
  Value few = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, length,
                                    constant(builder, kShortRow));
  auto choice = scf::IfOp::create(builder, loc, few, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  auto name = FlatSymbolRefAttr::get(builder.getContext(), shortName(kernel));
  func::CallOp::create(yes, loc, name, TypeRange(), function.getArguments());
  usual(no);
}

/// The short form that a kernel of many lengths calls: a function of its own, so that both forms
/// are compiled side by side.
void KernelLowering::lowerShortForm(ArrayRef<Type> extra, int64_t scratch) {
  if (shortRows() != Short::Sometimes)
    return;
  open(shortName(kernel), extra, scratch);
  lowerShortRows(builder);
  close();
  function.setPrivate();
  function->removeAttr("graphc.kernel");
}

/// Reductions and point stores of one stage, for a vector of rows.
void KernelLowering::shortStage(OpBuilder &b, Position &row, int current) {
  SmallVector<Reducer> reducers = reducersOfStage(current);
  SmallVector<kernel::StoreOp> here = pointStores(current);
  if (reducers.empty() && here.empty())
    return;
  int64_t lanes = row.width;
  TreeEmitter trees(&function.getBody().front(), loc, reducers, lanes);
  int64_t longest = shape.group ? kGroupShortRow : kShortRow;
  TreeEmitter::Storage storage = trees.allocate(longest * lanes, false);
  Value length = emitter->emit(b, space.reducedItems()), w = constant(b, lanes),
        zero = constant(b, 0);
  trees.save(b, storage, zero, trees.identity(b, lanes));
  loop(b, zero, length, 1, [&](OpBuilder &c, Value index) {
    Position at = row;
    at.loops[space.parallel] = index;
    States first = trees.append(c, trees.sequenceIdentity(c, lanes), pointValues(c, reducers, at),
                                constant(c, 0));
    storePoints(c, current, at);
    trees.save(c, storage, arith::MulIOp::create(c, loc, index, w),
               trees.fromSequence(c, first, index, 1, 0));
  });
  if (reducers.empty())
    return;
  for (int64_t half = longest / 2; half >= 1; half /= 2) {
    Value h = constant(b, half);
    Value present = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, length, h), zero);
    loop(b, zero, arith::MinSIOp::create(b, loc, h, present), 1, [&](OpBuilder &c, Value index) {
      Value low = arith::MulIOp::create(c, loc, index, w);
      Value high = arith::AddIOp::create(c, loc, low, constant(c, half * lanes));
      trees.save(c, storage, low,
                 trees.combine(c, trees.restore(c, storage, low, lanes, false),
                               trees.restore(c, storage, high, lanes, false)));
    });
  }
  bind(reducers, trees.restore(b, storage, zero, lanes, false), row, b);
}

void KernelLowering::lowerShortRows(OpBuilder &outside) {
  int last = lastStage();
  runs(outside, [&](OpBuilder &b, Position &outer, Value low, Value high) {
    // Lanes are far apart in what is read: masks cost little, and there is one body.
    int64_t lanes = std::min(width, kRowLanes);
    loop(b, low, high, lanes, [&](OpBuilder &c, Value first) {
      Position row = outer;
      row.loops[space.parallel - 1] = first;
      row.vectorLoop = static_cast<int>(space.parallel) - 1;
      row.width = lanes;
      emitter->maskLanes(c, row, high);
      for (int current = 0; current <= last; ++current) {
        rowValues(c, row, current);
        shortStage(c, row, current);
      }
      storeRow(c, row);
    });
  });
}

/// A row a work-item of a group.
void KernelLowering::lowerGroupShort(StringRef name) {
  open(name, {});
  IndexMath m{builder, loc};
  Value item = m.add(m.mul(begin, shape.group), member);
  Value present = m.less(item, emitter->emit(builder, space.items()));
  auto guard = scf::IfOp::create(builder, loc, present, /*withElseRegion=*/false);
  OpBuilder b = guard.getThenBodyBuilder();
  Position row = position();
  emitter->delinearize(b, item, 0, space.parallel, row);
  for (int current = 0, last = lastStage(); current <= last; ++current) {
    rowValues(b, row, current);
    shortStage(b, row, current);
  }
  storeRow(b, row);
  close();
}
