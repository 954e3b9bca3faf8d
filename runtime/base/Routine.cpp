//===- Routine.cpp - What the host library of the runtime can do ------------------------------===//
#include "runtime/base/Routine.h"

#include "runtime/base/Shape.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <array>

namespace graphc {
namespace {

using strings::format;

/// Masked, Placed: the last operand is a mask, or places; those before have any dtype.
/// Real: float32 or float64.
enum class Takes : uint8_t { AnySame, AnyMixed, Inexact, Real, Masked, Placed };
enum class Gives : uint8_t { Same, Int64, Complex };

/// Sizes by letter; -1 where unknown.
using Letters = std::array<int64_t, 26>;

struct Rule {
  std::string_view name;
  /// Operands, then the result: a letter an axis, equal letters are equal sizes. "..." after an
  /// operand: one or more like it.
  std::string_view signature;
  Takes takes;
  Gives gives;
  int params; ///< each 0 or a small positive number below `paramEnd`
  int64_t paramEnd = 2;
  /// Size of a result axis that is written as '*'.
  int64_t (*packed)(const Letters &sizes, std::span<const int64_t> params) = nullptr;
  /// Sizes are below, so that `packed` multiplies two of them without overflow.
  int64_t sizeEnd = int64_t{1} << 31;
};

int64_t at(const Letters &sizes, char letter) { return sizes[static_cast<size_t>(letter - 'a')]; }

int64_t packedQr(const Letters &s, std::span<const int64_t> params) {
  int64_t m = at(s, 'm'), n = at(s, 'n'), k = std::min(m, n);
  switch (params[0]) {
  case 0:
    return m * k + k * n;
  case 1:
    return m * m + m * n;
  case 2:
    return k * n;
  default:
    return m * n + k;
  }
}
int64_t packedSlogdet(const Letters &, std::span<const int64_t>) { return 2; }
int64_t packedEig(const Letters &s, std::span<const int64_t> params) {
  int64_t n = at(s, 'n');
  return params[0] ? n : n + n * n;
}
int64_t packedSvd(const Letters &s, std::span<const int64_t> params) {
  int64_t m = at(s, 'm'), n = at(s, 'n'), k = std::min(m, n);
  return params[0] == 0 ? k : params[0] == 1 ? m * k + k + k * n : m * m + k + n * n;
}
int64_t packedLstsq(const Letters &s, std::span<const int64_t>) {
  int64_t m = at(s, 'm'), n = at(s, 'n'), k = at(s, 'k');
  return n * k + k + 1 + std::min(m, n);
}

int64_t packedCorrelate(const Letters &s, std::span<const int64_t> params) {
  int64_t n = at(s, 'n'), m = at(s, 'm');
  if (m == 0 || m > n)
    return 0;
  return params[0] == 0 ? n + m - 1 : params[0] == 1 ? n - m + 1 : n;
}

/// Of sizes that are added only.
constexpr int64_t kAdded = int64_t{1} << 61;

constexpr Rule kRules[kRoutineCount] = {
    {"sort", "bn:bn", Takes::AnySame, Gives::Same, 1},
    {"argsort", "bn:bn", Takes::AnySame, Gives::Int64, 1},
    {"lexsort", "bn...:bn", Takes::AnyMixed, Gives::Int64, 0},
    {"searchsorted", "n,m:m", Takes::AnySame, Gives::Int64, 1},
    {"cholesky", "bnn:bnn", Takes::Inexact, Gives::Same, 1},
    {"qr", "bmn:b*", Takes::Inexact, Gives::Same, 1, 4, packedQr},
    {"solve", "bnn,bnk:bnk", Takes::Inexact, Gives::Same, 0},
    {"inv", "bnn:bnn", Takes::Inexact, Gives::Same, 1},
    {"det", "bnn:b", Takes::Inexact, Gives::Same, 0},
    {"slogdet", "bnn:b*", Takes::Inexact, Gives::Same, 0, 2, packedSlogdet},
    {"eigh", "bnn:b*", Takes::Inexact, Gives::Same, 2, 2, packedEig},
    {"eig", "bnn:b*", Takes::Inexact, Gives::Complex, 1, 2, packedEig},
    {"svd", "bmn:b*", Takes::Inexact, Gives::Same, 1, 3, packedSvd},
    {"lstsq", "mn,mk,r:*", Takes::Inexact, Gives::Same, 0, 2, packedLstsq},
    {"nonzero", "n:m", Takes::Masked, Gives::Int64, 0},
    {"compress", "nk,n:mk", Takes::Masked, Gives::Same, 0},
    {"partition", "bn,p:bn", Takes::Placed, Gives::Same, 0},
    {"argpartition", "bn,p:bn", Takes::Placed, Gives::Int64, 0},
    {"nonzero_filled", "n:n", Takes::Masked, Gives::Int64, 1},
    {"compress_filled", "nk,n:nk", Takes::Masked, Gives::Same, 1},
    {"correlate", "n,m:*", Takes::Real, Gives::Same, 1, 4, packedCorrelate, kAdded},
};

/// The size that '*' stands for; -1 while a size it depends on is unknown.
Result<int64_t> packedSize(const Rule &rule, const Letters &sizes,
                           std::span<const int64_t> params) {
  for (char letter : rule.signature) {
    if (letter < 'a' || letter > 'z' || letter == 'b')
      continue;
    if (at(sizes, letter) < 0)
      return int64_t{-1};
    if (at(sizes, letter) >= rule.sizeEnd)
      return Status(ErrorCode::Shape,
                    format("[{}] size {} is too large", rule.name, at(sizes, letter)));
  }
  return rule.packed(sizes, params);
}

Status bindAxes(const Rule &rule, std::string_view axes, std::span<const int64_t> shape,
                std::span<const int64_t> params, Letters &sizes) {
  if (axes.size() != shape.size())
    return Status(ErrorCode::Shape,
                  format("[{}] wants rank {}, not {}", rule.name, axes.size(), shape.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t known = -1;
    if (axes[i] == '*') {
      GRAPHC_ASSIGN(int64_t packed, packedSize(rule, sizes, params));
      known = packed;
    } else {
      known = at(sizes, axes[i]);
    }
    if (known >= 0 && shape[i] >= 0 && known != shape[i])
      return Status(ErrorCode::Shape,
                    format("[{}] sizes differ: {} and {}", rule.name, known, shape[i]));
    if (shape[i] >= 0 && axes[i] != '*')
      sizes[static_cast<size_t>(axes[i] - 'a')] = shape[i];
  }
  return Status::ok();
}

Status checkOperandDType(const Rule &rule, std::span<const RoutineTensor> operands, size_t i) {
  DType t = operands[i].dtype;
  if (rule.takes == Takes::Inexact && (!isInexact(t) || isNarrowFloat(t)))
    return Status(ErrorCode::DType, format("[{}] needs float32, float64 or a complex dtype, not {}",
                                           rule.name, dtypeName(operands[i].dtype)));
  if (rule.takes == Takes::Real && t != DType::Float32 && t != DType::Float64)
    return Status(ErrorCode::DType,
                  format("[{}] needs float32 or float64, not {}", rule.name, dtypeName(t)));
  if (rule.takes == Takes::Masked || rule.takes == Takes::Placed) {
    DType wanted = rule.takes == Takes::Masked ? DType::Bool : DType::Int64;
    if (i + 1 == operands.size() && t != wanted)
      return Status(ErrorCode::DType,
                    format("[{}] needs {} {}, not {}", rule.name, dtypeName(wanted),
                           rule.takes == Takes::Masked ? "as a mask" : "places", dtypeName(t)));
    return Status::ok();
  }
  if (rule.takes != Takes::AnyMixed && operands[i].dtype != operands[0].dtype)
    return Status(ErrorCode::DType,
                  format("[{}] operands have dtypes {} and {}", rule.name,
                         dtypeName(operands[0].dtype), dtypeName(operands[i].dtype)));
  return Status::ok();
}

} // namespace

std::string_view routineName(Routine routine) { return kRules[static_cast<size_t>(routine)].name; }

std::optional<Routine> routineFromName(std::string_view name) {
  for (int i = 0; i < kRoutineCount; ++i)
    if (kRules[i].name == name)
      return static_cast<Routine>(i);
  return std::nullopt;
}

Status checkRoutine(Routine routine, std::span<const RoutineTensor> operands,
                    const RoutineTensor &result, std::span<const int64_t> params) {
  const Rule &rule = kRules[static_cast<size_t>(routine)];
  if (params.size() != static_cast<size_t>(rule.params))
    return Status(ErrorCode::InvalidArgument, format("[{}] takes {} parameters, not {}", rule.name,
                                                     rule.params, params.size()));
  for (int64_t p : params)
    if (p < 0 || p >= rule.paramEnd)
      return Status(ErrorCode::InvalidArgument,
                    format("[{}] parameter {} is not in [0, {})", rule.name, p, rule.paramEnd));
  Letters sizes;
  sizes.fill(-1);
  size_t colon = rule.signature.find(':');
  std::string_view left = rule.signature.substr(0, colon);
  size_t next = 0;
  while (!left.empty()) {
    size_t end = std::min(left.find(','), left.size());
    std::string_view axes = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    bool several = axes.ends_with("...");
    if (several)
      axes.remove_suffix(3);
    size_t last = several ? operands.size() : next + 1;
    if (next >= operands.size())
      return Status(ErrorCode::InvalidArgument,
                    format("[{}] {} operands are too few", rule.name, operands.size()));
    for (; next < last; ++next) {
      GRAPHC_TRY(checkOperandDType(rule, operands, next));
      GRAPHC_TRY(bindAxes(rule, axes, operands[next].shape, params, sizes));
    }
  }
  if (next != operands.size())
    return Status(ErrorCode::InvalidArgument,
                  format("[{}] {} operands are too many", rule.name, operands.size()));
  DType wanted = rule.gives == Gives::Int64     ? DType::Int64
                 : rule.gives == Gives::Complex ? complexDType(operands[0].dtype)
                                                : operands[0].dtype;
  if (result.dtype != wanted)
    return Status(ErrorCode::DType, format("[{}] gives {}, not {}", rule.name, dtypeName(wanted),
                                           dtypeName(result.dtype)));
  return bindAxes(rule, rule.signature.substr(colon + 1), result.shape, params, sizes);
}

} // namespace graphc
