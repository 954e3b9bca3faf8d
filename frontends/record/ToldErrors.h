//===- ToldErrors.h - Errors of computed results that need not be told again ------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_TOLDERRORS_H
#define GRAPHC_FRONTENDS_RECORD_TOLDERRORS_H

#include "frontends/record/FloatErrors.h"

#include <cmath>
#include <cstdint>

namespace graphc {

/// Whether a line's error of a kind of operation was told, and telling it again, as a word of
/// RecordScope::errors() says, would change nothing: FloatModes::kOnce. Set once, before recording.
using ToldFilter = bool (*)(FloatError error, op::OpKind kind, uint32_t word, Location location);
void setToldFilter(ToldFilter filter);

/// Whether what results say of an operation (errorOf) tells all errors that it can meet.
bool showsErrors(op::OpKind kind);
/// Whether any of `errors`, a set of bits by FloatError, of an operation that is being recorded has
/// to be told.
bool haveToBeTold(op::OpKind kind, unsigned errors);

/// What a result of operands says that the operation met, as such a bit, or 0. One operand is given
/// twice.
template <typename T>
unsigned errorOf(op::OpKind kind, T a, T b, T result) {
  if (std::isfinite(result))
    return 0;
  auto bit = [](FloatError e) { return 1U << static_cast<unsigned>(e); };
  if (std::isnan(result))
    return std::isnan(a) || std::isnan(b) ? 0 : bit(FloatError::Invalid);
  if (!std::isfinite(a) || !std::isfinite(b))
    return 0;
  switch (kind) {
  case op::OpKind::Div:
    return bit(b == 0 ? FloatError::Divide : FloatError::Over);
  case op::OpKind::Reciprocal:
  case op::OpKind::Pow:
    return bit(a == 0 ? FloatError::Divide : FloatError::Over);
  case op::OpKind::Log:
  case op::OpKind::Log2:
  case op::OpKind::Log10:
  case op::OpKind::Log1p:
    return bit(FloatError::Divide);
  default:
    return bit(FloatError::Over);
  }
}

/// Whether there is something to tell of results, element for element: `left` and `right` give the
/// operands at a place.
template <typename T, typename Left, typename Right>
bool hasToTell(op::OpKind kind, const T *out, Left left, Right right, int64_t count) {
  if (!showsErrors(kind))
    return true;
  unsigned errors = 0;
  for (int64_t i = 0; i < count; ++i)
    errors |= errorOf<T>(kind, left(i), right(i), out[i]);
  return haveToBeTold(kind, errors);
}

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_TOLDERRORS_H
