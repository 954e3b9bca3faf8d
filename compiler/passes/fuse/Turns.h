//===- Turns.h - Loops of the user's program, written out -------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_FUSE_TURNS_H
#define GRAPHC_COMPILER_PASSES_FUSE_TURNS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace graphc::pass {

/// Values that repeat: from `first` on, each is like the one `length` before it, up to `last`.
struct Turns {
  size_t first = 0, last = 0, length = 0; ///< length 0: there are none

  bool startsAt(size_t value) const {
    return length && value >= first && value + length <= last && (value - first) % length == 0;
  }
};

/// The shortest turns that make up half of the values at least; alike are those of one kind.
Turns findTurns(llvm::ArrayRef<unsigned> kinds);
/// These, and those of what is before and behind them, in any order.
llvm::SmallVector<Turns> findLoops(llvm::ArrayRef<unsigned> kinds);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_FUSE_TURNS_H
