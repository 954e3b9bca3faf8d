// Sums of shifted products of small vectors.
#include "frontends/record/SmallElements.h"
#include "runtime/library/Correlate.h"

namespace graphc::small {
namespace {

template <typename T>
Result<bool> correlateInto(const Array &x, const Array &shorter, int64_t first, int64_t count,
                           DType t, T *out) {
  Reader<T> longer, factors;
  GRAPHC_ASSIGN(bool isRead, longer.read(x, t, x.shape()));
  if (isRead) {
    GRAPHC_ASSIGN(isRead, factors.read(shorter, t, shorter.shape()));
  }
  if (!isRead)
    return false;
  const int64_t n = x.size(), m = shorter.size();
  Room<T> valueRoom, factorRoom;
  T *v = valueRoom.get(n), *f = factorRoom.get(m);
  const Run<T> values = longer.run(), given = factors.run();
  for (int64_t i = 0; i < n; ++i)
    v[i] = values.data[values.steps ? i : 0];
  for (int64_t i = 0; i < m; ++i)
    f[i] = given.data[given.steps ? i : 0];
  rt::library::correlate(rt::library::Correlation<T>{f, m, v, n, first, count}, out);
  return !mustBeFinite() || allFinite(out, count);
}

/// The parts of a complex vector, one after the other; false where it is not computed.
template <typename T>
bool partsOf(const Array &x, T *real, T *imaginary) {
  const Elements from = computedElementsOf(x);
  if (!from.base)
    return false;
  const auto *element = reinterpret_cast<const T *>(from.first);
  const int64_t step = 2 * x.view().strides()[0];
  for (int64_t i = 0; i < x.size(); ++i, element += step)
    real[i] = element[0], imaginary[i] = element[1];
  return true;
}

/// By the sums of the parts. With `conjugate`, of the shorter vector's conjugate (Shorter) or the
/// longer one's.
template <typename T>
Result<bool> correlateParts(const Array &x, const Array &shorter, int64_t first, int64_t count,
                            Conjugate conjugate, T *out) {
  const int64_t n = x.size(), m = shorter.size();
  Room<T> valueRoom, factorRoom, sumRoom;
  T *v = valueRoom.get(2 * n), *f = factorRoom.get(2 * m), *sums = sumRoom.get(4 * count);
  if (!partsOf(x, v, v + n) || !partsOf(shorter, f, f + m))
    return false;
  for (int64_t i = 0; i < 4; ++i)
    rt::library::correlate(
        rt::library::Correlation<T>{f + i % 2 * m, m, v + i / 2 * n, n, first, count},
        sums + i * count);
  const T *rr = sums, *ri = rr + count, *ir = ri + count, *ii = ir + count;
  for (int64_t i = 0; i < count; ++i) {
    out[2 * i] = conjugate == Conjugate::None ? rr[i] - ii[i] : rr[i] + ii[i];
    out[2 * i + 1] = conjugate == Conjugate::None      ? ri[i] + ir[i]
                     : conjugate == Conjugate::Shorter ? ir[i] - ri[i]
                                                       : ri[i] - ir[i];
  }
  return !mustBeFinite() || allFinite(out, 2 * count);
}

} // namespace

Outcome correlate(const Array &x, const Array &shorter, int64_t first, int64_t count,
                  Conjugate conjugate) {
  const DType t = x.dtype();
  if (x.rank() != 1 || shorter.rank() != 1 || shorter.dtype() != t || shorter.size() == 0 ||
      first < 0 || first + count > x.size() + shorter.size() - 1)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, Shape{count}, x.device()));
  Result<bool> done = false;
  if (t == DType::Float64)
    done = correlateInto(x, shorter, first, count, t, dataOf<double>(out));
  else if (t == DType::Float32)
    done = correlateInto(x, shorter, first, count, t, dataOf<float>(out));
  else if (t == DType::Complex128)
    done = correlateParts(x, shorter, first, count, conjugate, dataOf<double>(out));
  else if (t == DType::Complex64)
    done = correlateParts(x, shorter, first, count, conjugate, dataOf<float>(out));
  return finished(std::move(out), std::move(done));
}

} // namespace graphc::small
