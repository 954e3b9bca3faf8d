#include "compiler/passes/lower/LoopSpace.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

Type pass::memoryType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (type.isUnsignedInteger())
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

/// Row-major position of map results in a tensor of the given shape; all expressions are
/// polynomials by construction (division never enters a map).
static Polynomial linearize(AffineMap map, AffineMap shape) {
  Polynomial position;
  for (auto [index, size] : llvm::zip_equal(map.getResults(), shape.getResults()))
    position = position * *Polynomial::of(size) + *Polynomial::of(index);
  return position;
}

LoopSpace::LoopSpace(kernel::FuncOp func) : parallel(func.getDomain().getParallel()) {
  for (AffineExpr extent : func.getDomain().getExtents().getResults())
    extents.push_back(*Polynomial::of(extent));
  unsigned tensors = func.getNumTensors();
  auto shape = [&](unsigned i) { return cast<AffineMapAttr>(func.getShapes()[i]).getValue(); };
  func.getBody().walk([&](Operation *op) {
    Polynomial position;
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      position =
          linearize(load.getMap(), shape(cast<BlockArgument>(load.getTensor()).getArgNumber()));
    else if (auto store = dyn_cast<kernel::StoreOp>(op))
      position = linearize(store.getMap(), shape(tensors + store.getResult()));
    else if (auto index = dyn_cast<kernel::IndexOp>(op))
      position = *Polynomial::of(index.getMap().getResult(0));
    else
      return;
    LinearAccess access;
    for (unsigned d = 0; d < extents.size(); ++d) {
      access.strides.push_back(position.coefficient(d));
      position = position.without(d);
    }
    access.offset = position;
    accesses[op] = std::move(access);
  });
  for (unsigned loop = extents.size(); loop-- > 1;)
    if (loop != parallel)
      merge(loop - 1);
}

/// Merges loops `outer` and `outer + 1` when every access walks through both as one.
void LoopSpace::merge(unsigned outer) {
  for (auto &[op, access] : accesses)
    if (!(access.strides[outer] == extents[outer + 1] * access.strides[outer + 1]))
      return;
  extents[outer] = extents[outer] * extents[outer + 1];
  extents.erase(extents.begin() + outer + 1);
  for (auto &[op, access] : accesses)
    access.strides.erase(access.strides.begin() + outer);
  if (outer + 1 < parallel)
    --parallel;
}

Polynomial LoopSpace::product(unsigned first, unsigned last) const {
  Polynomial result(1);
  for (unsigned i = first; i < last; ++i)
    result = result * extents[i];
  return result;
}

KernelShape::KernelShape(kernel::FuncOp func, const LoopSpace &space)
    : family(func.getSchedule()->getFamily()) {
  MLIRContext *context = func.getContext();
  auto product = [&](unsigned first, unsigned last) {
    return space.product(first, last).toExpr(context);
  };
  unsigned parallel = space.parallel;
  range = product(0, parallel);
  work = product(parallel, space.count());
  if (family == Family::Full) {
    range = product(0, space.count()).ceilDiv(kTreeBlock);
    work = getAffineConstantExpr(kTreeBlock, context);
    func.getBody().walk([&](kernel::ReduceOp reduce) {
      Type element = memoryType(reduce.getValue().getType());
      partials.push_back(element);
      if (reduce.getKind() == graph::ReduceKind::ArgMin ||
          reduce.getKind() == graph::ReduceKind::ArgMax)
        partials.push_back(IntegerType::get(context, 64));
    });
  } else if (family == Family::Contract) {
    int64_t vector = func.getSchedule()->getVector();
    tileRows = vector == 1 ? 4 : 6;
    tileColumns = 4 * vector;
    work = work * (tileRows * tileColumns);
    AffineExpr columns =
        parallel >= 1 ? product(parallel - 1, parallel) : getAffineConstantExpr(1, context);
    AffineExpr rows =
        parallel >= 2 ? product(parallel - 2, parallel - 1) : getAffineConstantExpr(1, context);
    range = product(0, parallel >= 2 ? parallel - 2 : 0) * columns.ceilDiv(tileColumns) *
            rows.ceilDiv(tileRows);
  }
}
