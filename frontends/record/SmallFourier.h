//===- SmallFourier.h - Fourier transforms on the host ----------------------------------------===//
//
// The steps of graphc/_fft_passes.py, operation by operation, as loops of the host: a program of
// them costs as much to compile as thousands of transforms of a few hundred points.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLFOURIER_H
#define GRAPHC_FRONTENDS_RECORD_SMALLFOURIER_H

#include "frontends/record/Small.h"

#include <optional>
#include <string_view>
#include <vector>

namespace graphc::small {

/// One step along an axis, counted from the end. What the numbers are is said there.
struct FourierStep {
  enum class Kind : uint8_t {
    Pass,
    Same,
    Chirp,
    Convolve,
    Unchirp,
    Unfold,
    Fold,
    Weave,
    Mirror,
    Real
  };
  static std::optional<Kind> kindFromName(std::string_view name);

  Kind kind;
  int64_t axis;
  int64_t radix = 0, m = 0, s = 0;          ///< of a Pass
  int64_t length = 0;                       ///< where not that of the axis
  bool halves = false;                      ///< reads real numbers as pairs
  bool isWhole = false;                     ///< of Unfold
  bool turnsFirst = false;                  ///< exchanges the pairs that it reads
  bool turnsLast = false;                   ///< exchanges those that it gives
  std::optional<double> scale;              ///< of those
  std::vector<double> cosine, sine;         ///< the table, or none
  std::vector<double> rootCosine, rootSine; ///< of the radix of a Pass
};

/// A transform of arrays of a dtype's precision. Immutable.
struct FourierSteps {
  std::vector<FourierStep> steps;
};

/// The transform of an array of the cpu, in its precision, complex where `isComplex`. Of arrays
/// that are not computed or not dense, on machines without fused multiply-adds, and where something
/// is not finite or underflow is listened for, it has to be recorded.
Outcome fourier(const FourierSteps &steps, const Array &x, bool isComplexResult);

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLFOURIER_H
