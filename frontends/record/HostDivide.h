//===- HostDivide.h - Integers divided by the same one ---------------------------------------===//
//
// A quotient by a number that is known is the upper half of a product, and a shift (Granlund and
// Montgomery, "Division by Invariant Integers using Multiplication", figure 4.1).
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_HOSTDIVIDE_H
#define GRAPHC_FRONTENDS_RECORD_HOSTDIVIDE_H

#include <bit>
#include <cstdint>
#include <type_traits>

namespace graphc::small {

/// Rounds down, as `//` does; of a divisor above 0.
template <typename T>
class Divider {
  using U = std::make_unsigned_t<T>;
  static constexpr int kBits = 8 * sizeof(T);
  /// Of a product of two.
  using Twice = std::conditional_t<sizeof(T) == 8, unsigned __int128,
                                   std::conditional_t<sizeof(T) == 4, uint64_t, uint32_t>>;

public:
  explicit Divider(T by) : divisor(static_cast<U>(by)) {
    const int width = std::bit_width(static_cast<U>(divisor - 1)); // 2^width >= divisor
    const Twice above = (Twice{1} << width) - divisor;
    factor = static_cast<U>((above << kBits) / divisor + 1);
    first = width > 0 ? 1 : 0;
    second = width > 0 ? width - 1 : 0;
  }

  [[gnu::always_inline]] T quotient(T of) const {
    const U sign = of < 0 ? static_cast<U>(-1) : U{0}; // floor(-1 - x) is -1 - floor(x)
    const auto x = static_cast<U>(static_cast<U>(of) ^ sign);
    const auto upper = static_cast<U>((Twice{factor} * x) >> kBits);
    const auto rest = static_cast<U>(static_cast<U>(x - upper) >> first);
    const auto whole = static_cast<U>(static_cast<U>(upper + rest) >> second);
    return static_cast<T>(whole ^ sign);
  }
  [[gnu::always_inline]] T remainder(T of) const {
    using W = std::common_type_t<U, unsigned>; // no signed product of narrow ones
    return static_cast<T>(static_cast<W>(of) -
                          static_cast<W>(static_cast<U>(quotient(of))) * static_cast<W>(divisor));
  }

private:
  U divisor, factor;
  int first, second;
};

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_HOSTDIVIDE_H
