// Reductions of truth values: what decides is looked for, in any layout.
#include "frontends/record/SmallTruths.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/Trace.h"

#include <bit>
#include <cstring>

namespace graphc::small {
namespace {

using op::ReduceKind;

/// The place of the first `sought` of a line; `count` where there is none.
int64_t placeInLine(const bool *x, int64_t count, int64_t step, bool sought) {
  if (step == 1) {
    const auto *found =
        static_cast<const bool *>(std::memchr(x, sought, static_cast<size_t>(count)));
    return found ? found - x : count;
  }
  if (step == 0)
    return *x == sought ? 0 : count;
  constexpr int64_t kBlock = 64;
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    bool isFound = false;
    for (int64_t k = 0; k < kBlock; ++k)
      isFound |= x[(i + k) * step] == sought;
    if (isFound)
      break;
  }
  while (i < count && x[i * step] != sought)
    ++i;
  return i;
}

/// A view of truth values as lines.
struct Lines {
  Shape sizes, steps;
  const bool *first;
  int64_t lines = 1, length = 1, step = 1;

  Lines(const bool *from, const View &view) : first(from) {
    joinAxes(view.shape(), view.strides(), sizes, steps);
    if (sizes.size() == 0)
      return;
    length = sizes[sizes.size() - 1];
    step = steps[sizes.size() - 1];
    for (size_t axis = 0; axis + 1 < sizes.size(); ++axis)
      lines *= sizes[axis];
  }

  const bool *line(int64_t number) const {
    const bool *at = first;
    for (size_t axis = sizes.size(); axis-- > 1; number /= sizes[axis - 1])
      at += number % sizes[axis - 1] * steps[axis - 1];
    return at;
  }
};

/// The place in row-major order of the first `sought`; -1 where there is none.
int64_t placeOf(const Lines &x, bool sought) {
  for (int64_t i = 0; i < x.lines; ++i)
    if (const int64_t at = placeInLine(x.line(i), x.length, x.step, sought); at < x.length)
      return i * x.length + at;
  return -1;
}

int64_t countTrue(const Lines &x) {
  int64_t count = 0;
  for (int64_t i = 0; i < x.lines; ++i) {
    const bool *line = x.line(i);
    if (x.step == 1)
      count += x.length - countZeros(std::span(reinterpret_cast<const uint8_t *>(line),
                                               static_cast<size_t>(x.length)));
    else
      for (int64_t k = 0; k < x.length; ++k)
        count += line[k * x.step];
  }
  return count;
}

} // namespace

std::optional<KnownValue> decided(ReduceKind kind, const Array &x, std::optional<DType> wanted) {
  if (x.dtype() != DType::Bool || x.size() == 0 || x.size() > kMostCounted || Trace::active() ||
      loopTurns() == kNever || !mayBeOnHost(x.device()))
    return std::nullopt;
  const bool isAdded = kind == ReduceKind::Sum || kind == ReduceKind::Mean;
  if (isAdded ? wanted.has_value() : kind == ReduceKind::Prod)
    return std::nullopt;
  const Elements from = computedElementsOf(x);
  if (!from.base)
    return std::nullopt;
  const Lines lines(reinterpret_cast<const bool *>(from.first), x.view());
  const auto known = [&](uint64_t bits, DType t) { return KnownValue{bits, t, &x.device()}; };
  if (isAdded) {
    const int64_t count = countTrue(lines);
    return kind == ReduceKind::Sum ? known(static_cast<uint64_t>(count), DType::Int64)
                                   : known(std::bit_cast<uint64_t>(static_cast<double>(count) /
                                                                   static_cast<double>(x.size())),
                                           DType::Float64);
  }
  const bool sought =
      kind == ReduceKind::Any || kind == ReduceKind::Max || kind == ReduceKind::ArgMax;
  const int64_t place = placeOf(lines, sought);
  if (kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax)
    return known(static_cast<uint64_t>(std::max<int64_t>(place, 0)), DType::Int64);
  return known(sought == (place >= 0), DType::Bool);
}

} // namespace graphc::small
