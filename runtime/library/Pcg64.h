//===- Pcg64.h - The numbers of NumPy's PCG64 -------------------------------------------------===//
//
// O'Neill's PCG XSL RR 128/64 (2014), and what numpy.random.Generator makes of its words, bit for
// bit. Threads: the pool of the cpu device; numbers do not depend on how many there are.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_PCG64_H
#define GRAPHC_RUNTIME_LIBRARY_PCG64_H

#include <bit>
#include <cstdint>
#include <span>

namespace graphc::rt::library {

struct Pcg64 {
  using Wide = unsigned __int128;
  static constexpr Wide kMultiplier = Wide{2549297995355413924} << 64 | 4865540595714422341;

  Wide state, increment; ///< `increment` is odd

  uint64_t next() {
    state = state * kMultiplier + increment;
    return word();
  }
  /// The word that the present state stands for.
  uint64_t word() const {
    const auto upper = static_cast<uint64_t>(state >> 64), lower = static_cast<uint64_t>(state);
    return std::rotr(upper ^ lower, static_cast<int>(upper >> 58));
  }
  /// As next() that many times.
  void advance(uint64_t steps);
};

/// `low + factor * u` for uniform floats u in [0, 1); one word each.
void drawUniform(Pcg64 &bits, double low, double factor, std::span<double> out);
/// `mean + factor * z` for normal numbers z.
void drawNormal(Pcg64 &bits, double mean, double factor, std::span<double> out);

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_PCG64_H
