#include "frontends/record/SmallComplex.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace graphc::small {
namespace {

using op::OpKind;

template <typename R>
Number<R> product(Number<R> x, Number<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/// Smith's method.
template <typename R>
Number<R> quotient(Number<R> x, Number<R> y) {
  const bool isWide = std::abs(y.re) >= std::abs(y.im);
  const R big = isWide ? y.re : y.im, little = isWide ? y.im : y.re;
  const R ratio = little / big, factor = R{1} / (big + little * ratio);
  const R re = isWide ? x.re + x.im * ratio : x.re * ratio + x.im;
  const R im = isWide ? x.im - x.re * ratio : x.im * ratio - x.re;
  return {re * factor, im * factor};
}

/// As compiler/math/Roots.h, where no operand is scaled; NaN elsewhere.
template <typename R>
R hypot(Number<R> z) {
  constexpr R kHuge = sizeof(R) == 8 ? R(0x1p400) : R(0x1p40);
  const R x = std::abs(z.re), y = std::abs(z.im);
  const R large = x < y ? y : x, small = x < y ? x : y;
  if (!(large <= kHuge && large >= 1 / kHuge))
    return std::numeric_limits<R>::quiet_NaN();
  const R p = large * large, q = small * small, sum = p + q;
  const R lost = (q - (sum - p)) + (std::fma(large, large, -p) + std::fma(small, small, -q));
  const R s = std::sqrt(sum);
  return s + (std::fma(-s, s, sum) + lost) / (s + s);
}

template <typename R>
bool isEqual(Number<R> x, Number<R> y) {
  return x.re == y.re && x.im == y.im;
}

template <typename T, typename R, typename F>
[[gnu::always_inline]] inline void eachOf(T *to, Run<Number<R>> a, Run<Number<R>> b, int64_t count,
                                          F f) {
  if (a.steps && b.steps)
    for (int64_t i = 0; i < count; ++i)
      to[i] = f(a.data[i], b.data[i]);
  else if (a.steps)
    for (int64_t i = 0; i < count; ++i)
      to[i] = f(a.data[i], *b.data);
  else
    for (int64_t i = 0; i < count; ++i)
      to[i] = f(*a.data, b.data[b.steps ? i : 0]);
}
template <typename T, typename R, typename F>
[[gnu::flatten]] GRAPHC_WIDE void eachWide(T *to, Run<Number<R>> a, Run<Number<R>> b, int64_t count,
                                           F f) {
  eachOf(to, a, b, count, f);
}
template <typename T, typename R, typename F>
void each(void *out, Run<Number<R>> a, Run<Number<R>> b, int64_t count, F f) {
  auto *to = static_cast<T *>(out);
  count >= kWorthWide &&hasWide() ? eachWide(to, a, b, count, f) : eachOf(to, a, b, count, f);
}

/// False for kinds that have no loop here.
template <typename R>
bool loop(OpKind kind, void *out, Run<Number<R>> a, Run<Number<R>> b, int64_t count) {
  using Z = Number<R>;
  switch (kind) {
  case OpKind::Add:
    return each<Z>(out, a, b, count, [](Z x, Z y) { return Z(x.re + y.re, x.im + y.im); }), true;
  case OpKind::Sub:
    return each<Z>(out, a, b, count, [](Z x, Z y) { return Z(x.re - y.re, x.im - y.im); }), true;
  case OpKind::Mul:
    return each<Z>(out, a, b, count, [](Z x, Z y) { return product(x, y); }), true;
  case OpKind::Square:
    return each<Z>(out, a, a, count, [](Z x, Z) { return product(x, x); }), true;
  case OpKind::Div:
    return each<Z>(out, a, b, count, [](Z x, Z y) { return quotient(x, y); }), true;
  case OpKind::Neg:
    return each<Z>(out, a, a, count, [](Z x, Z) { return Z(-x.re, -x.im); }), true;
  case OpKind::Conj:
    return each<Z>(out, a, a, count, [](Z x, Z) { return Z(x.re, -x.im); }), true;
  case OpKind::Real:
    return each<R>(out, a, a, count, [](Z x, Z) { return x.re; }), true;
  case OpKind::Imag:
    return each<R>(out, a, a, count, [](Z x, Z) { return x.im; }), true;
  case OpKind::Equal:
    return each<bool>(out, a, b, count, [](Z x, Z y) { return isEqual(x, y); }), true;
  case OpKind::NotEqual:
    return each<bool>(out, a, b, count, [](Z x, Z y) { return !isEqual(x, y); }), true;
  default:
    return false;
  }
}

/// False as well where there is something to tell of what was made.
template <typename R>
bool isSettled(OpKind kind, void *out, Run<Number<R>> a, Run<Number<R>> b, int64_t count) {
  constexpr DType kDType = sizeof(R) == 8 ? DType::Complex128 : DType::Complex64;
  if (!loop<R>(kind, out, a, b, count))
    return false;
  const DType made = op::resultDType(kind, kDType);
  return made == DType::Bool ||
         (made == kDType ? allFinite(static_cast<const Number<R> *>(out), count)
                         : allFinite(static_cast<const R *>(out), count));
}

} // namespace

template <typename R>
std::optional<Number<R>> numberOf(const Operand &o) {
  constexpr DType kPart = hostmath::dtypeOf<R>();
  if (o.array || o.scalar.variable)
    return std::nullopt;
  if (o.scalar.kind != op::Scalar::Kind::Complex) {
    if (o.dtype && isComplex(*o.dtype))
      return std::nullopt;
    auto bits = ops::operandBits(o, kPart);
    return bits ? std::optional(Number<R>(hostmath::valueOf<R>(*bits))) : std::nullopt;
  }
  if (o.dtype && realDType(*o.dtype) != kPart)
    return std::nullopt;
  Number<R> made(static_cast<R>(o.scalar.number), static_cast<R>(o.scalar.imaginary));
  return allFinite(&made, 1) ? std::optional(made) : std::nullopt;
}

template <typename R>
Result<bool> NumberReader<R>::read(const Operand &o, DType, std::span<const int64_t> shape) {
  using Z = Number<R>;
  if (!o.array || o.array->known()) {
    std::optional<Z> number;
    if (!o.array)
      number = numberOf<R>(o);
    else if (auto bits = ops::operandBits(o, hostmath::dtypeOf<R>()))
      number = Z(hostmath::valueOf<R>(*bits));
    if (!number)
      return false;
    value = *number;
    values = {&value, false};
    return true;
  }
  const Array &x = *o.array;
  GRAPHC_ASSIGN(elements, elementsOf(x));
  if (!elements.base)
    return false;
  const View &view = x.view();
  const int64_t count = countOf(shape);
  const bool isOne = countOf(view.shape()) == 1;
  const bool isSame = x.dtype() == (sizeof(R) == 8 ? DType::Complex128 : DType::Complex64);
  if (isSame && (isOne || (std::ranges::equal(view.shape(), shape) && view.isContiguous()))) {
    values = {reinterpret_cast<const Z *>(elements.first), !isOne};
    if (isOne) { // a copy, so that what is written meanwhile is not read
      value = *values.data;
      values.data = &value;
    }
    return true;
  }
  Shape strides;
  strides.resize(shape.size());
  const size_t skip = shape.size() - view.shape().size();
  for (size_t i = 0; i < shape.size(); ++i)
    strides[i] = i < skip || view.shape()[i - skip] == 1 ? 0 : view.strides()[i - skip];
  Z *to = room.get(count);
  auto take = [&]<typename S>(S) {
    gather(reinterpret_cast<const S *>(elements.first), shape, strides, to);
    return true;
  };
  const bool isTaken = x.dtype() == DType::Complex128  ? take(Number<double>())
                       : x.dtype() == DType::Complex64 ? take(Number<float>())
                                                       : hostmath::withType(x.dtype(), take);
  values = {to, true};
  isOwn = true;
  return isTaken;
}

template <typename R>
void NumberReader<R>::keep(int64_t count) {
  if (values.steps && !isOwn) {
    Number<R> *to = room.get(count);
    std::copy_n(values.data, count, to);
    values.data = to;
  }
  elements.base = nullptr;
}

bool hasComplexLoop(OpKind kind) {
  return loop<double>(kind, nullptr, {nullptr, true}, {nullptr, true}, 0);
}

template <typename R>
Result<bool> computeNumbers(OpKind kind, std::span<const Operand> operands, DType t,
                            std::span<const int64_t> shape, void *out) {
  const int64_t count = countOf(shape);
  NumberReader<R> a, b;
  GRAPHC_ASSIGN(bool isRead, a.read(operands[0], t, shape));
  if (isRead && operands.size() > 1) {
    GRAPHC_ASSIGN(isRead, b.read(operands[1], t, shape));
  }
  const Run<Number<R>> second = operands.size() > 1 ? b.run() : a.run();
  return isRead && isSettled(kind, out, a.run(), second, count);
}

template <typename R>
bool computeNumber(OpKind kind, Number<R> a, Number<R> b, void *out) {
  if (kind == OpKind::Abs) { // of many, the loop of a vector program is faster
    const R size = hypot(a);
    std::memcpy(out, &size, sizeof(R));
    return !std::isnan(size);
  }
  return isSettled<R>(kind, out, {&a, false}, {&b, false}, 1);
}

template <typename R>
void multiplyNumbers(const Number<R> *a, const Number<R> *b, int64_t count, Number<R> *out) {
  loop<R>(OpKind::Mul, out, {a, true}, {b, true}, count);
}

Outcome wholePowers(const Operand &x, const Array &y, DType t, const Shape &shape) {
  const int64_t count = countOf(shape);
  if (count * itemSize(t) > mostBytes() || !mayBeOnHost(y.device()))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, y.device()));
  auto made = withElementType(t, [&]<typename T>(T) -> Result<bool> {
    if constexpr (kIsNumber<T>) {
      Reader<int64_t> exponents;
      typename ReaderFor<T>::Type bases;
      GRAPHC_ASSIGN(bool isRead, exponents.read(y, DType::Int64, shape));
      if (isRead) {
        GRAPHC_ASSIGN(isRead, bases.read(x, t, shape));
      }
      if (!isRead)
        return false;
      const Run<int64_t> n = exponents.run();
      const Run<T> z = bases.run();
      bool isKnown = true;
      auto combined = [&](OpKind kind, T a, T b) {
        isKnown = isKnown && computeNumber(kind, a, b, &a);
        return a;
      };
      for (int64_t i = 0; i < count && isKnown; ++i) {
        const int64_t exponent = n.data[n.steps ? i : 0];
        T square = z.data[z.steps ? i : 0], product(1, 0);
        const bool isPole = exponent < 0 && square.re == 0 && square.im == 0;
        if (exponent <= -kMostFactors || exponent >= kMostFactors || isPole)
          return false;
        if (exponent % 2)
          product = square;
        for (int64_t left = std::abs(exponent) / 2; left; left /= 2) {
          square = combined(OpKind::Mul, square, square);
          if (left % 2)
            product = combined(OpKind::Mul, product, square);
        }
        dataOf<T>(out)[i] = exponent < 0 ? combined(OpKind::Div, T(1, 0), product) : product;
      }
      return isKnown && allFinite(dataOf<T>(out), count);
    }
    return false;
  });
  return finished(std::move(out), std::move(made));
}

Outcome numbersOfParts(std::span<const Operand> parts, DType t, const Shape &shape,
                       rt::Device &device) {
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, device));
  auto made = withRealType(realDType(t), [&]<typename R>(R) -> Result<bool> {
    Reader<R> re, im;
    GRAPHC_ASSIGN(bool isRead, re.read(parts[0], realDType(t), shape));
    if (isRead) {
      GRAPHC_ASSIGN(isRead, im.read(parts[1], realDType(t), shape));
    }
    if (!isRead)
      return false;
    const Run<R> x = re.run(), y = im.run();
    R *to = dataOf<R>(out);
    for (int64_t i = 0, count = countOf(shape); i < count; ++i) {
      to[2 * i] = x.data[x.steps ? i : 0];
      to[2 * i + 1] = y.data[y.steps ? i : 0];
    }
    return true;
  });
  return finished(std::move(out), std::move(made));
}

template std::optional<Number<float>> numberOf<float>(const Operand &);
template std::optional<Number<double>> numberOf<double>(const Operand &);
template class NumberReader<float>;
template class NumberReader<double>;
template Result<bool> computeNumbers<float>(OpKind, std::span<const Operand>, DType,
                                            std::span<const int64_t>, void *);
template void multiplyNumbers(const Number<float> *, const Number<float> *, int64_t,
                              Number<float> *);
template void multiplyNumbers(const Number<double> *, const Number<double> *, int64_t,
                              Number<double> *);
template bool computeNumber<float>(OpKind, Number<float>, Number<float>, void *);
template bool computeNumber<double>(OpKind, Number<double>, Number<double>, void *);
template Result<bool> computeNumbers<double>(OpKind, std::span<const Operand>, DType,
                                             std::span<const int64_t>, void *);

} // namespace graphc::small
