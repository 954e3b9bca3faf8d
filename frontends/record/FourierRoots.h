//===- FourierRoots.h - roots of unity of Fourier transforms ----------------------------------===//
//
// The tables of the package's transforms. Sums and products of doubles only: the same numbers on
// every machine.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_FOURIERROOTS_H
#define GRAPHC_FRONTENDS_RECORD_FOURIERROOTS_H

#include <cstdint>
#include <vector>

namespace graphc {

/// exp(2 pi i k / n) for any k, rounded once to double. Immutable.
class FourierRoots {
public:
  /// n: at least 1, at most 2^50.
  explicit FourierRoots(int64_t n);

  /// Cosine and sine of each of `count` numbers, which may be negative.
  void find(const int64_t *numbers, int64_t count, double *cosine, double *sine) const;

private:
  int64_t n, step;                    ///< angles of the tables are multiples of step / (8 n) turns
  std::vector<double> cosines, sines; ///< of the first eighth of a turn
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_FOURIERROOTS_H
