// Rows of a few elements: lanes are rows, and elements j of all rows of a vector are combined at
// once. The tree is the lane tree, whose folds by halves are the same at every length.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {
constexpr int64_t kRowLanes = 16;
} // namespace

CoreLowering::Short CoreLowering::shortRows() {
  if (width == 1 || space.parallel == 0 || space.count() - space.parallel != 1)
    return Short::Never;
  if (auto length = space.reducedItems().constant())
    return *length <= kShortRow ? Short::Always : Short::Never;
  int64_t ops = llvm::range_size(kernel.getBody().front());
  return ops <= kMostOpsTwice ? Short::Sometimes : Short::Never;
}

std::string CoreLowering::shortName() { return (kernel.getSymName() + "_short").str(); }

void CoreLowering::chooseRows(llvm::function_ref<void(OpBuilder &)> usual) {
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
  auto name = FlatSymbolRefAttr::get(builder.getContext(), shortName());
  func::CallOp::create(yes, loc, name, TypeRange(), function.getArguments());
  usual(no);
}

/// The short form that a kernel of many lengths calls: a function of its own, so that both forms
/// are compiled side by side.
void CoreLowering::lowerShortForm(ArrayRef<Type> extra, int64_t scratch) {
  if (shortRows() != Short::Sometimes)
    return;
  open(shortName(), extra, scratch);
  lowerShortRows(builder);
  close();
  function.setPrivate();
  function->removeAttr("graphc.kernel");
}

void CoreLowering::lowerShortRows(OpBuilder &outside) {
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
        shortStage(c, row, current, kShortRow);
      }
      storeRow(c, row);
    });
  });
}
