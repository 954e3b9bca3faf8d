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
