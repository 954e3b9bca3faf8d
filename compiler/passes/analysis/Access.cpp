#include "compiler/passes/analysis/Access.h"

#include <optional>

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

SmallVector<AffineExpr> pass::identityIndices(ArrayRef<Size> sizes, unsigned &next,
                                              MLIRContext *context) {
  SmallVector<AffineExpr> result;
  for (const Size &size : sizes)
    result.push_back(size.isConstant(1) ? getAffineConstantExpr(0, context)
                                        : getAffineDimExpr(next++, context));
  return result;
}

SmallVector<Size> pass::squeezed(ArrayRef<Size> sizes) {
  SmallVector<Size> result;
  llvm::copy_if(sizes, std::back_inserter(result),
                [](const Size &size) { return !size.isConstant(1); });
  return result;
}

SmallVector<AffineExpr> pass::squeezedIndices(ArrayRef<AffineExpr> indices, ArrayRef<Size> sizes) {
  SmallVector<AffineExpr> result;
  for (auto [index, size] : llvm::zip_equal(indices, sizes))
    if (!size.isConstant(1))
      result.push_back(index);
  return result;
}

SmallVector<AffineExpr> pass::placedIndices(Value whole, ArrayRef<int64_t> axes, int64_t position,
                                            int64_t indexRank, ArrayRef<AffineExpr> points,
                                            unsigned firstPlace) {
  SmallVector<AffineExpr> result;
  int64_t kept = 0;
  for (int64_t axis = 0, e = cast<RankedTensorType>(whole.getType()).getRank(); axis < e; ++axis) {
    if (llvm::is_contained(axes, axis)) {
      result.push_back(getAffineDimExpr(firstPlace++, whole.getContext()));
      continue;
    }
    result.push_back(points[kept < position ? kept : kept + indexRank]);
    ++kept;
  }
  return result;
}

/// Indices of a reshape's operand from those of its result, when they are affine: equal leading and
/// trailing sizes pair up, and what is left on the operand's side is at most one axis, which the
/// left-over result axes enumerate row-major.
static std::optional<SmallVector<AffineExpr>> reshapeIndices(ArrayRef<Size> from, ArrayRef<Size> to,
                                                             ArrayRef<AffineExpr> indices,
                                                             SizeAnalysis &sizes,
                                                             MLIRContext *context) {
  SmallVector<Size> f = squeezed(from), t = squeezed(to);
  SmallVector<AffineExpr> e = squeezedIndices(indices, to);
  SmallVector<AffineExpr> result(f.size());
  size_t head = 0, tail = 0;
  while (head < f.size() && head < t.size() && f[head] == t[head]) {
    result[head] = e[head];
    ++head;
  }
  while (head + tail < f.size() && head + tail < t.size() &&
         f[f.size() - 1 - tail] == t[t.size() - 1 - tail]) {
    result[f.size() - 1 - tail] = e[t.size() - 1 - tail];
    ++tail;
  }
  size_t left = f.size() - head - tail;
  if (left > 1 || (left == 0 && head + tail != t.size()))
    return std::nullopt;
  if (left == 1) {
    AffineExpr linear = getAffineConstantExpr(0, context);
    for (size_t j = head; j + tail < t.size(); ++j)
      linear = linear * sizes.expr(t[j]) + e[j];
    result[head] = linear;
  }
  SmallVector<AffineExpr> full;
  size_t next = 0;
  for (const Size &size : from)
    full.push_back(size.isConstant(1) ? getAffineConstantExpr(0, context) : result[next++]);
  return full;
}

static AffineExpr startExpr(int64_t constant, Value dynamic, SizeAnalysis &sizes,
                            MLIRContext *context) {
  if (!ShapedType::isDynamic(constant))
    return getAffineConstantExpr(constant, context);
  return sizes.expr(sizes.canonical(dynamic));
}

/// Indices into the sliced tensor at `points` of a slice.
static SmallVector<AffineExpr> sliceIndices(ArrayRef<int64_t> starts, ValueRange dynamic,
                                            ArrayRef<int64_t> steps, ArrayRef<AffineExpr> points,
                                            SizeAnalysis &sizes, MLIRContext *context) {
  SmallVector<AffineExpr> indices;
  for (auto [start, step, point] : llvm::zip_equal(starts, steps, points)) {
    bool known = !ShapedType::isDynamic(start);
    indices.push_back(startExpr(start, known ? Value() : dynamic.front(), sizes, context) +
                      point * step);
    if (!known)
      dynamic = dynamic.drop_front();
  }
  return indices;
}

SmallVector<AffineExpr> pass::updatedIndices(graph::UpdateSliceOp update,
                                             ArrayRef<AffineExpr> points, SizeAnalysis &sizes) {
  return sliceIndices(update.getStaticStarts(), update.getStarts(), update.getSteps(), points,
                      sizes, update.getContext());
}

Access pass::resolveAccess(Value tensor, ArrayRef<AffineExpr> indices, SizeAnalysis &sizes) {
  MLIRContext *context = tensor.getContext();
  Access access{tensor, SmallVector<AffineExpr>(indices)};
  while (Operation *op = access.root.getDefiningOp()) {
    SmallVector<AffineExpr> next;
    if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
      for (auto [axis, dim] : llvm::enumerate(broadcast.getDims()))
        next.push_back(sizes.of(broadcast.getX())[axis].isConstant(1)
                           ? getAffineConstantExpr(0, context)
                           : access.indices[dim]);
      access.root = broadcast.getX();
    } else if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      next.resize(access.indices.size());
      for (auto [axis, source] : llvm::enumerate(transpose.getPermutation()))
        next[source] = access.indices[axis];
      access.root = transpose.getX();
    } else if (auto slice = dyn_cast<graph::SliceOp>(op)) {
      next = sliceIndices(slice.getStaticStarts(), slice.getStarts(), slice.getSteps(),
                          access.indices, sizes, context);
      access.root = slice.getX();
    } else if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
      auto mapped = reshapeIndices(sizes.of(reshape.getX()), sizes.of(reshape.getResult()),
                                   access.indices, sizes, context);
      if (!mapped)
        return access;
      next = std::move(*mapped);
      access.root = reshape.getX();
    } else {
      return access;
    }
    access.indices = std::move(next);
  }
  return access;
}

bool pass::showsAll(Value tensor, SizeAnalysis &sizes) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!op->hasTrait<graph::Movement>())
      return true;
    Value operand = op->getOperand(0);
    if (auto slice = dyn_cast<graph::SliceOp>(op)) {
      auto isStep = [](int64_t step) { return step == 1 || step == -1; };
      if (sizes.of(tensor) != sizes.of(operand) || !llvm::all_of(slice.getSteps(), isStep))
        return false;
    }
    tensor = operand;
  }
  return true;
}
