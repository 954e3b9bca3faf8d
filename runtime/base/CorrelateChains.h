//===- CorrelateChains.h - The order of sums of shifted products ------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_CORRELATECHAINS_H
#define GRAPHC_RUNTIME_BASE_CORRELATECHAINS_H

#include <cstdint>

namespace graphc {

/// Products of a chain of `correlate` (docs/numerics.md), of up to kMostOfShortChains factors and
/// of more: the host's library and the kernels of GPUs have the same bits by them.
inline constexpr int64_t kShortChain = 64, kMostOfShortChains = 256, kLongChain = 256;

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_CORRELATECHAINS_H
