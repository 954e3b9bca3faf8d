//===- SortFunction.h - A function that sorts, while it is built ------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUP_SORTFUNCTION_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUP_SORTFUNCTION_H

#include "compiler/passes/lower/group/GroupFunction.h"
#include "compiler/passes/lower/group/GroupSort.h"
#include "compiler/passes/lower/group/SortKeys.h"

namespace graphc::pass {

/// Picoseconds of a tile: what a sort costs where a device is chosen by cost.
inline constexpr int64_t kTilePs = 2000000;

/// What the functions of GroupSort.h have in common.
class SortFunction : public GroupFunction {
public:
  static_assert(kGroupItems == kSortGroup);
  SortFunction(mlir::Operation *beside, const llvm::Twine &name, SortKeys keys,
               const Signature &signature)
      : GroupFunction(beside, name, kernel::Family::Sort, signature), keys(keys) {}

protected:
  /// Local memory for so many elements, a tile's.
  mlir::Value local(mlir::Type type, int64_t count = kSortTile) {
    return GroupFunction::local(type, count);
  }
  /// The elements of a tile that a work-item moves: neighbours have neighbouring memory.
  void moved(mlir::OpBuilder &at, llvm::function_ref<void(mlir::Value)> body) const {
    for (int64_t i = 0; i < kSortEach; ++i)
      body(near(at).add(member, i * kSortGroup));
  }

  SortKeys keys;
};

inline SortKeys sortKeys(kernel::SortOp op) {
  return {op.getLoc(), op.getElement(), op.getPlaces(), op.getDescending()};
}

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUP_SORTFUNCTION_H
