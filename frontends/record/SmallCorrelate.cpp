// Sums of shifted products of small vectors.
#include "frontends/record/SmallElements.h"

#include <cmath>

namespace graphc::small {
namespace {

/// What there is to multiply: `size` factors, and values[i + j - before] for factor i of sum j,
/// where there is such a value.
template <typename T>
struct Products {
  const T *factors, *values;
  int64_t size, length, before, count;
};

/// Chains of 64 products, which are added up one after the other.
template <typename T>
[[gnu::always_inline]] inline void sumChains(const Products<T> &p, T *out, T *room) {
  constexpr int64_t kChain = 64;
  for (int64_t begin = 0; begin < p.size; begin += kChain) {
    T *to = begin == 0 ? out : room;
    std::fill_n(to, p.count, T{0});
    for (int64_t i = begin; i < std::min(p.size, begin + kChain); ++i) {
      const int64_t shift = i - p.before;
      const int64_t last = std::min(p.count, p.length - shift);
      for (int64_t j = std::max<int64_t>(0, -shift); j < last; ++j)
        to[j] = std::fma(p.factors[i], p.values[shift + j], to[j]);
    }
    for (int64_t j = 0; begin > 0 && j < p.count; ++j)
      out[j] += room[j];
  }
}

template <typename T>
GRAPHC_WIDE void sumChainsWide(const Products<T> &p, T *out, T *room) {
  sumChains(p, out, room);
}

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
  Room<T> valueRoom, factorRoom, chainRoom;
  T *v = valueRoom.get(n), *f = factorRoom.get(m);
  const Run<T> values = longer.run(), given = factors.run();
  for (int64_t i = 0; i < n; ++i)
    v[i] = values.data[values.steps ? i : 0];
  for (int64_t i = 0; i < m; ++i)
    f[i] = given.data[given.steps ? i : 0];
  const Products<T> products{f, v, m, n, m - 1 - first, count};
  if (hasWide())
    sumChainsWide(products, out, chainRoom.get(count));
  else
    sumChains(products, out, chainRoom.get(count));
  return !mustBeFinite() || allFinite(out, count);
}

} // namespace

Outcome correlate(const Array &x, const Array &shorter, int64_t first, int64_t count) {
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
  return finished(std::move(out), std::move(done));
}

} // namespace graphc::small
