//===- GroupCorrelate.h - Sums of shifted products by groups of work-items --------------------===//
//
// The function of a kernel.correlate takes
//
//   values, factors, result   values, factors, first, sums
//
// and has kCorrelateTile sums a group: sum j of them adds up factors[i] * values[first + j + i -
// (factors - 1)] of the values that there are, i rising, in chains as docs/numerics.md has them.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPCORRELATE_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPCORRELATE_H

#include "dialects/kernel/Kernel.h"

namespace graphc::pass {

/// Work-items of a group, and its sums.
inline constexpr int64_t kCorrelateGroup = 256, kCorrelateTile = kCorrelateGroup * 8;

/// Adds the function of `op` beside it.
void lowerGroupCorrelate(kernel::CorrelateOp op);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPCORRELATE_H
