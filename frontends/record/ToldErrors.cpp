#include "frontends/record/ToldErrors.h"

#include "frontends/record/Record.h"

namespace graphc {

static ToldFilter toldFilter = nullptr;
void setToldFilter(ToldFilter filter) { toldFilter = filter; }

bool showsErrors(op::OpKind kind) {
  using op::OpKind;
  switch (kind) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Div:
  case OpKind::Square:
  case OpKind::Sqrt:
  case OpKind::Reciprocal:
  case OpKind::Pow:
  case OpKind::Exp:
  case OpKind::Exp2:
  case OpKind::Expm1:
  case OpKind::Log:
  case OpKind::Log2:
  case OpKind::Log10:
  case OpKind::Log1p:
  case OpKind::Sin:
  case OpKind::Cos:
  case OpKind::Tan:
  case OpKind::Sinh:
  case OpKind::Cosh:
  case OpKind::Asin:
  case OpKind::Acos:
  case OpKind::Acosh:
    return true;
  default:
    return false;
  }
}

bool haveToBeTold(op::OpKind kind, unsigned errors) {
  if (errors != 0 && RecordScope::location() == 0)
    return true; // before there is a line, or without one
  const uint32_t word = RecordScope::errors();
  for (int e = 0; e < kFloatErrors; ++e) {
    const auto error = static_cast<FloatError>(e);
    const uint32_t mode = FloatModes::of(word, error);
    if (!(errors >> e & 1U) || mode == 0)
      continue;
    if (mode != FloatModes::kOnce || !toldFilter ||
        !toldFilter(error, kind, word, RecordScope::location()))
      return true;
  }
  return false;
}

} // namespace graphc
