//===- CompareRoots.h - Comparisons of square roots with constants ----------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_FUSE_COMPAREROOTS_H
#define GRAPHC_COMPILER_PASSES_FUSE_COMPAREROOTS_H

#include "dialects/kernel/Kernel.h"

namespace graphc::pass {

/// `sqrt(x) < c` of an x that is never below zero becomes `x < t`, where t is the least number
/// whose rounded root is not below c; the other orders alike. The same truth for every x, NaN and
/// infinities too, without the root, which takes a dozen times as long as the comparison.
void compareSquares(kernel::FuncOp kernel);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_FUSE_COMPAREROOTS_H
