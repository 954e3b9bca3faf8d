#include "runtime/library/Pcg64.h"

#include "runtime/library/Parallel.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

using namespace graphc;
using namespace graphc::rt::library;

namespace {

#include "runtime/library/Ziggurat.inc"

using Wide = Pcg64::Wide;

/// What `steps` steps at once do to a state: multiply, then add.
struct Jump {
  Wide multiplier = 1, increment = 0;

  Jump(uint64_t steps, Wide stepIncrement) {
    Wide factor = Pcg64::kMultiplier, sum = stepIncrement;
    for (; steps; steps >>= 1) {
      if (steps & 1) {
        multiplier *= factor;
        increment = increment * factor + sum;
      }
      sum *= factor + 1;
      factor *= factor;
    }
  }
  Wide operator()(Wide state) const { return state * multiplier + increment; }
};

/// Words in blocks, of states side by side: the multiplications of one wait for each other.
class Words {
public:
  static constexpr size_t kLanes = 4, kBlock = 256;

  explicit Words(const Pcg64 &bits) : jump(kLanes, bits.increment) {
    for (Pcg64 one = bits; Pcg64 &lane : lanes) {
      one.next();
      lane = one;
    }
  }
  uint64_t next() {
    if (place == kBlock)
      refill();
    return block[place++];
  }
  double unit() { return unitOf(next()); }
  /// All that the next refill gives, after whole blocks only.
  const std::array<uint64_t, kBlock> &nextBlock() {
    refill();
    place = kBlock;
    return block;
  }
  static double unitOf(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
  /// How many were taken.
  uint64_t taken() const { return made - (kBlock - place); }

private:
  void refill() {
    for (size_t i = 0; i < kBlock; i += kLanes)
      for (size_t k = 0; k < kLanes; ++k) {
        block[i + k] = lanes[k].word();
        lanes[k].state = jump(lanes[k].state);
      }
    made += kBlock;
    place = 0;
  }

  Jump jump;
  std::array<Pcg64, kLanes> lanes;
  std::array<uint64_t, kBlock> block;
  size_t place = kBlock;
  uint64_t made = 0; ///< words of all blocks
};

/// Outside of the strip's inner part; false where the number is refused.
template <typename Source>
[[gnu::noinline]] bool normalBeside(Source &words, unsigned strip, uint64_t place, double &x) {
  if (strip == 0)
    for (;;) {
      const double beyond = -kInverseEdge * std::log1p(-words.unit());
      const double height = -std::log1p(-words.unit());
      if (height + height > beyond * beyond) {
        x = place >> 8 & 1 ? -(kEdge + beyond) : kEdge + beyond;
        return true;
      }
    }
  const double height = (kHeights[strip - 1] - kHeights[strip]) * words.unit();
  return height + kHeights[strip] < std::exp(-0.5 * x * x);
}

template <typename Source>
inline double normal(Source &words) {
  for (;;) {
    const uint64_t word = words.next();
    const unsigned strip = word & 255;
    const uint64_t place = word >> 9 & 0x000fffffffffffff;
    const double size = static_cast<double>(static_cast<int64_t>(place)) * kWidths[strip];
    double x = std::bit_cast<double>(std::bit_cast<uint64_t>(size) ^ (word >> 8 & 1) << 63);
    if (place < kInside[strip]) [[likely]]
      return x;
    if (normalBeside(words, strip, place, x))
      return x;
  }
}

struct Scale {
  double shift, factor;
  /// As NumPy does: in two steps, the second of which makes 0 of -0.
  double operator()(double x) const { return shift + factor * x; }
};

/// Numbers until `out` is full; the state goes behind their words.
void normalsInTurn(Pcg64 &bits, Scale scale, std::span<double> out) {
  Words words(bits);
  for (double &x : out)
    x = scale(normal(words));
  bits.advance(words.taken());
}

/// The numbers that begin within a stretch of the words, from one that may be in the middle of a
/// number: after a few of them they are those that begin at the true places.
struct Stretch {
  static constexpr uint64_t kWords = 16384;
  static constexpr size_t kFirst = 32;

  int64_t count = 0;
  uint64_t end = 0; ///< the word after the last one's
  std::array<uint64_t, kFirst> begins{};

  void draw(Pcg64 bits, uint64_t from, Scale scale, double *out) {
    bits.advance(from);
    Words words(bits);
    for (; words.taken() < kWords; ++count) {
      if (count < static_cast<int64_t>(kFirst))
        begins[static_cast<size_t>(count)] = from + words.taken();
      out[count] = scale(normal(words));
    }
    end = from + words.taken();
  }
  /// Which of the first numbers begins at a word; none: -1.
  int64_t find(uint64_t word) const {
    const auto *last = begins.begin() + std::min<int64_t>(count, kFirst);
    const auto *found = std::find(begins.begin(), last, word);
    return found == last ? -1 : found - begins.begin();
  }
};

/// As many numbers as stretches of words of so many give, on several threads. Each stretch is
/// written where it has room for a number a word, then moved to its place. Returns how many there
/// are.
size_t normalsSideBySide(Pcg64 &bits, Scale scale, std::span<double> out) {
  const auto count = static_cast<int64_t>(out.size() / Stretch::kWords);
  std::vector<Stretch> stretches(static_cast<size_t>(count));
  parallelFor(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto from = static_cast<uint64_t>(i) * Stretch::kWords;
      stretches[static_cast<size_t>(i)].draw(bits, from, scale, out.data() + from);
    }
  });
  size_t done = 0;
  uint64_t word = 0; // where the next number begins
  for (size_t i = 0; i < stretches.size(); ++i) {
    const Stretch &stretch = stretches[i];
    const size_t from = i * Stretch::kWords;
    // Numbers between the end of the stretch before and the first that both have.
    std::array<double, Stretch::kFirst> between{};
    size_t few = 0;
    uint64_t common = word;
    if (stretch.find(common) < 0) {
      Pcg64 at = bits;
      at.advance(word);
      Words words(at);
      for (; few < between.size() && stretch.find(common) < 0; common = word + words.taken())
        between[few++] = scale(normal(words));
    }
    const int64_t skipped = stretch.find(common);
    if (skipped < 0 || done + few > from + static_cast<size_t>(skipped))
      break;
    const auto rest = static_cast<size_t>(stretch.count - skipped);
    std::memmove(out.data() + done + few, out.data() + from + skipped, rest * sizeof(double));
    std::copy_n(between.begin(), few, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += few + rest;
    word = stretch.end;
  }
  bits.advance(word);
  return done;
}

} // namespace

double rt::library::drawNormal(const BitSource &source) {
  struct {
    const BitSource &of;
    uint64_t next() const { return of.word(of.state); }
    double unit() const { return of.unit(of.state); }
  } words{source};
  return normal(words);
}

uint32_t rt::library::drawBounded(const BitSource &source, uint32_t last) {
  const uint32_t count = last + 1;
  uint64_t product = uint64_t{source.half(source.state)} * count;
  if (static_cast<uint32_t>(product) < count) {
    const uint32_t refused = (UINT32_MAX - last) % count;
    while (static_cast<uint32_t>(product) < refused)
      product = uint64_t{source.half(source.state)} * count;
  }
  return static_cast<uint32_t>(product >> 32);
}

uint32_t rt::library::drawMasked(const BitSource &source, uint32_t last) {
  const uint32_t mask = UINT32_MAX >> std::countl_zero(last);
  for (;;)
    if (const uint32_t drawn = source.half(source.state) & mask; drawn <= last)
      return drawn;
}

void Pcg64::advance(uint64_t steps) { state = Jump(steps, increment)(state); }

void rt::library::drawUniform(Pcg64 &bits, double low, double factor, std::span<double> out) {
  constexpr int64_t kChunk = 32768;
  const Scale scale{low, factor};
  parallelFor(static_cast<int64_t>(out.size()), kChunk, [&](int64_t begin, int64_t end) {
    Pcg64 from = bits;
    from.advance(static_cast<uint64_t>(begin));
    Words words(from);
    for (int64_t i = begin; i < end;) {
      const auto &block = words.nextBlock();
      const auto count = std::min<int64_t>(Words::kBlock, end - i);
      for (int64_t k = 0; k < count; ++k)
        out[static_cast<size_t>(i + k)] = scale(Words::unitOf(block[static_cast<size_t>(k)]));
      i += count;
    }
  });
  bits.advance(out.size());
}

void rt::library::drawNormal(Pcg64 &bits, double mean, double factor, std::span<double> out) {
  const Scale scale{mean, factor};
  while (out.size() >= 2 * Stretch::kWords) {
    const size_t done = normalsSideBySide(bits, scale, out);
    if (!done)
      break;
    out = out.subspan(done);
  }
  normalsInTurn(bits, scale, out);
}
