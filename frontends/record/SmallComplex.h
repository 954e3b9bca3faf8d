//===- SmallComplex.h - Loops over small arrays of complex numbers ----------------------------===//
//
// Complex numbers as elements of the loops of Small.h, with the arithmetic of
// compiler/math/Complex.h. What would give a part that is infinite or NaN is recorded: a kernel
// says which operation it came of, and has its bits.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLCOMPLEX_H
#define GRAPHC_FRONTENDS_RECORD_SMALLCOMPLEX_H

#include "frontends/record/SmallElements.h"

namespace graphc::small {

/// A complex number as it lies in memory.
template <typename R>
struct Number {
  R re, im;

  Number() = default;
  constexpr Number(R re, R im) : re(re), im(im) {}
  template <typename U>
  constexpr explicit Number(Number<U> z) : re(static_cast<R>(z.re)), im(static_cast<R>(z.im)) {}
  template <typename U>
    requires std::is_arithmetic_v<U>
  constexpr explicit Number(U real) : re(static_cast<R>(real)), im(0) {}
};

template <typename T>
inline constexpr bool kIsNumber = false;
template <typename R>
inline constexpr bool kIsNumber<Number<R>> = true;

template <typename R>
bool allFinite(const Number<R> *values, int64_t count) {
  return allFinite(reinterpret_cast<const R *>(values), 2 * count);
}

/// As withRealType(), of complex dtypes as well.
template <typename F>
Result<bool> withElementType(DType t, F f) {
  if (t == DType::Complex128)
    return f(Number<double>());
  return t == DType::Complex64 ? f(Number<float>()) : withRealType(t, f);
}

/// A Python number, or one with a dtype of its own, as an element; nothing where what it loses is
/// to be told of.
template <typename R>
std::optional<Number<R>> numberOf(const Operand &o);

/// As Reader, of complex numbers: an array of any dtype that has a C++ type, or a number.
template <typename R>
class NumberReader {
public:
  Result<bool> read(const Operand &o, DType t, std::span<const int64_t> shape);
  Run<Number<R>> run() const { return values; }
  void keep(int64_t count);
  /// Leaves the elements where they are, without holding them: as long as somebody else does.
  void letGo() { elements.base = nullptr; }

private:
  Elements elements;
  Run<Number<R>> values;
  Number<R> value;
  bool isOwn = false; ///< the values are in `room`
  Room<Number<R>> room;
};

template <typename T>
struct ReaderFor {
  using Type = Reader<T>;
};
template <typename R>
struct ReaderFor<Number<R>> {
  using Type = NumberReader<R>;
};
template <typename T>
using ReaderOf = typename ReaderFor<T>::Type;

/// Whether there is a loop of an operation on complex numbers.
bool hasComplexLoop(op::OpKind kind);
/// out[i] = kind(operands[i]) on numbers of dtype `t`; bools of comparisons. False where that has
/// to be recorded.
template <typename R>
Result<bool> computeNumbers(op::OpKind kind, std::span<const Operand> operands, DType t,
                            std::span<const int64_t> shape, void *out);
/// The same of one number or two; with one operand `b` is `a`.
template <typename R>
bool computeNumber(op::OpKind kind, Number<R> a, Number<R> b, void *out);
/// out[i] = a[i] * b[i], where `out` may be `a`; what is not finite is the caller's to look for.
template <typename R>
void multiplyNumbers(const Number<R> *a, const Number<R> *b, int64_t count, Number<R> *out);

/// x ** y of complex numbers and integers below this size, as products; nothing where an exponent
/// is larger, for poles, and where something is not finite.
inline constexpr int64_t kMostFactors = 100;
Outcome wholePowers(const Operand &x, const Array &y, DType t, const Shape &shape);

/// The numbers of dtype `t` whose parts are two real operands.
Outcome numbersOfParts(std::span<const Operand> parts, DType t, const Shape &shape,
                       rt::Device &device);

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLCOMPLEX_H
