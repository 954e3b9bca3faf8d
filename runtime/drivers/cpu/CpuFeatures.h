//===- CpuFeatures.h - What this CPU can execute ----------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CPU_CPUFEATURES_H
#define GRAPHC_RUNTIME_DRIVERS_CPU_CPUFEATURES_H

#include <string>

namespace graphc::rt::cpu {

/// Instruction-set extensions that the CPU has and the operating system saves, as comma separated
/// LLVM feature names in a fixed order ("sse3,ssse3,...,avx512vl"). Empty on architectures without
/// detection.
const std::string &detectedFeatures();

/// detectedFeatures(), reduced to those named by GRAPHC_CPU_FEATURES and what they imply when that
/// is set ("none" for the baseline only); names the CPU lacks are ignored with a warning.
std::string allowedFeatures();

/// The first of the comma separated features that was not detected, or "".
std::string firstMissingFeature(std::string_view required);

/// "Intel(R) Xeon(R) Processor @ 2.50GHz".
std::string modelName();

} // namespace graphc::rt::cpu

#endif // GRAPHC_RUNTIME_DRIVERS_CPU_CPUFEATURES_H
