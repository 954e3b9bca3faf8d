//===- Pcg64.h - The numbers of NumPy's Generator ---------------------------------------------===//
//
// O'Neill's PCG XSL RR 128/64 (2014), and what numpy.random.Generator makes of its words and of
// those of any bit generator, bit for bit. Threads: the pool of the cpu device, for many numbers of
// a PCG64; they do not depend on how many there are.
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

/// NumPy's bit generators (numpy/random/bitgen.h). Who calls them holds the generator's lock.
struct BitSource {
  void *state;
  uint64_t (*word)(void *);
  uint32_t (*half)(void *);
  double (*unit)(void *);
  uint64_t (*raw)(void *);
};
double drawNormal(const BitSource &source);
/// From 0 to `last`, below 2^32 - 1, by Lemire's method; and, as RandomState does, by the first
/// that fits of the lower bits.
uint32_t drawBounded(const BitSource &source, uint32_t last);
uint32_t drawMasked(const BitSource &source, uint32_t last);

/// `low + factor * u` for uniform floats u in [0, 1); one word each.
void drawUniform(Pcg64 &bits, double low, double factor, std::span<double> out);
/// `mean + factor * z` for normal numbers z.
void drawNormal(Pcg64 &bits, double mean, double factor, std::span<double> out);

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_PCG64_H
