//===- HandedWords.h - What parts of one launch tell each other -------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_HANDEDWORDS_H
#define GRAPHC_COMPILER_PASSES_LOWER_HANDEDWORDS_H

#include "compiler/passes/lower/KernelLowering.h"

namespace graphc::pass {

/// Values of a scan's blocks that those who compute them tell others of the same launch: each
/// block's result, and what precedes it. A value goes in words that have a mark besides its bits,
/// so that whoever sees the mark has the value, in whatever order memory becomes visible.
class HandedWords {
public:
  enum Part { Result, Before };
  /// `state`: the words, all 0 when the launch begins. `items`: blocks of all lines, whose words of
  /// a kind lie side by side; null: a block's words do.
  HandedWords(kernel::ScanOp op, mlir::Value state, mlir::Value items = {});

  void tell(mlir::OpBuilder &b, Part part, mlir::Value item, mlir::Value value);
  /// A value's words as they are now.
  llvm::SmallVector<mlir::Value> look(mlir::OpBuilder &b, Part part, mlir::Value item);
  mlir::Value isTold(mlir::OpBuilder &b, mlir::ValueRange seen);
  mlir::Value valueOf(mlir::OpBuilder &b, mlir::ValueRange seen);
  /// Looks until the value is told; `rest` is what to do between two looks.
  mlir::Value await(mlir::OpBuilder &b, Part part, mlir::Value item,
                    llvm::function_ref<void(mlir::OpBuilder &)> rest = nullptr);

protected:
  mlir::Value number(mlir::OpBuilder &b, int64_t value, unsigned bits = 64);

private:
  static constexpr int64_t kMark = int64_t(1) << 32, kBits = kMark - 1;
  mlir::Value place(mlir::OpBuilder &b, Part part, mlir::Value item, int64_t word);

  mlir::Location loc;
  mlir::Type wanted, type; ///< of the value, and of its bits
  mlir::Value state, items;
  int64_t words;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_HANDEDWORDS_H
