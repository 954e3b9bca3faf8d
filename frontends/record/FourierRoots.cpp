// Roots of unity, by pairs of doubles whose sum is a number of twice the precision.
#include "frontends/record/FourierRoots.h"

#include <cmath>
#include <numeric>

namespace graphc {
namespace {

struct Pair {
  double high, low;
};

Pair sumOf(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// A double as two of half as many bits.
Pair halvesOf(double a) {
  const double c = a * 134217729.0, high = c - (c - a);
  return {high, a - high};
}

Pair operator*(Pair a, Pair b) {
  const double p = a.high * b.high;
  const auto [ah, al] = halvesOf(a.high);
  const auto [bh, bl] = halvesOf(b.high);
  const double error = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  return sumOf(p, error + (a.high * b.low + a.low * b.high));
}

Pair operator+(Pair a, Pair b) {
  const auto [s, error] = sumOf(a.high, b.high);
  return sumOf(s, error + (a.low + b.low));
}

Pair operator-(Pair a) { return {-a.high, -a.low}; }

/// A quotient of integers that doubles hold. What a division leaves is a double.
Pair quotient(int64_t numerator, int64_t denominator) {
  const auto n = static_cast<double>(numerator), d = static_cast<double>(denominator);
  const double high = n / d;
  return {high, std::fma(-high, d, n) / d};
}

constexpr Pair kTurn = {6.283185307179586, 2.4492935982947064e-16};

struct Turned {
  Pair cosine, sine;
};

/// (-1)^k / (2k)! and (-1)^k / (2k + 1)!
constexpr Turned kSeries[] = {
    {{0x1p+0, 0.0}, {0x1p+0, 0.0}},
    {{-0x1p-1, 0.0}, {-0x1.5555555555555p-3, -0x1.5555555555555p-57}},
    {{0x1.5555555555555p-5, 0x1.5555555555555p-59}, {0x1.1111111111111p-7, 0x1.1111111111111p-63}},
    {{-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
     {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73}},
    {{0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
     {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73}},
    {{-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76},
     {-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80}},
    {{0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
     {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87}},
    {{-0x1.93974a8c07c9dp-37, -0x1.05d6f8a2efd1fp-92},
     {-0x1.ae7f3e733b81fp-41, -0x1.1d8656b0ee8cbp-97}},
    {{0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
     {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103}},
    {{-0x1.6827863b97d97p-53, -0x1.eec01221a8b0bp-107},
     {-0x1.2f49b46814157p-57, -0x1.2650f61dbdcb4p-112}},
    {{0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
     {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120}},
    {{-0x1.0ce396db7f853p-70, 0x1.aebcdbd20331cp-124},
     {-0x1.761b41316381ap-75, 0x1.3423c7d91404fp-130}},
    {{0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135},
     {0x1.3f3ccdd165fa9p-84, -0x1.58ddadf344487p-139}},
    {{-0x1.88e85fc6a4e5ap-89, 0x1.71c37ebd16540p-143},
     {-0x1.d1ab1c2dccea3p-94, -0x1.054d0c78aea14p-149}},
};

/// Of an angle up to an eighth of a turn.
Turned turned(Pair angle) {
  const Pair square = angle * angle;
  Turned sums{};
  for (size_t k = std::size(kSeries); k-- > 0;)
    sums = {sums.cosine * square + kSeries[k].cosine, sums.sine * square + kSeries[k].sine};
  return {sums.cosine, sums.sine * angle};
}

/// Of the first `count` multiples of a part of a turn.
std::vector<Turned> multiplesOf(Pair part, int64_t count) {
  std::vector<Turned> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    out[static_cast<size_t>(i)] = turned(Pair{static_cast<double>(i), 0.0} * part * kTurn);
  return out;
}

} // namespace

FourierRoots::FourierRoots(int64_t n) : n(n), step(std::gcd(n, int64_t{8})) {
  const int64_t count = n / step + 1;
  const auto block = static_cast<int64_t>(std::sqrt(static_cast<double>(count))) + 1;
  // Angles are (high * block + low) * step / (8 n) turns.
  const auto low = multiplesOf(quotient(step, 8 * n), block);
  const auto high = multiplesOf(quotient(step * block, 8 * n), (count + block - 1) / block);
  cosines.reserve(static_cast<size_t>(count));
  sines.reserve(static_cast<size_t>(count));
  for (const Turned &h : high)
    for (const Turned &l : low) {
      if (cosines.size() == static_cast<size_t>(count))
        return;
      cosines.push_back((l.cosine * h.cosine + -(l.sine * h.sine)).high);
      sines.push_back((l.sine * h.cosine + l.cosine * h.sine).high);
    }
}

void FourierRoots::find(const int64_t *numbers, int64_t count, double *cosine, double *sine) const {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t within = numbers[i] % n, eighths = 8 * (within < 0 ? within + n : within);
    const int64_t octant = eighths / n, rest = eighths - octant * n;
    const auto at = static_cast<size_t>((octant & 1 ? n - rest : rest) / step);
    const bool isSwapped = (octant + 1) & 2;
    const double c = isSwapped ? sines[at] : cosines[at], s = isSwapped ? cosines[at] : sines[at];
    cosine[i] = (octant + 2) & 4 ? -c : c;
    sine[i] = octant & 4 ? -s : s;
  }
}

} // namespace graphc
