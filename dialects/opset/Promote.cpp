#include "dialects/opset/Promote.h"

#include "runtime/base/NarrowFloat.h"
#include "runtime/base/Strings.h"

#include <bit>
#include <cmath>

namespace graphc::op {
namespace {

using strings::format;

std::string integerText(__int128 v) {
  if (v == 0)
    return "0";
  bool negative = v < 0;
  auto u = negative ? -static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v);
  std::string text;
  for (; u; u /= 10)
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(u % 10)));
  return negative ? "-" + text : text;
}

__int128 lowest(DType t) {
  return isSigned(t) ? -(static_cast<__int128>(1) << (8 * itemSize(t) - 1)) : 0;
}
__int128 highest(DType t) {
  if (t == DType::Bool)
    return 1;
  return (static_cast<__int128>(1) << (8 * itemSize(t) - (isSigned(t) ? 1 : 0))) - 1;
}

DType signedOfSize(int64_t bytes) {
  return bytes == 1   ? DType::Int8
         : bytes == 2 ? DType::Int16
         : bytes == 4 ? DType::Int32
                      : DType::Int64;
}

/// The smallest float that has all values of an integer dtype, as far as there is one.
DType floatFor(DType t) {
  switch (itemSize(t)) {
  case 1:
    return DType::Float16;
  case 2:
    return DType::Float32;
  default:
    return DType::Float64;
  }
}

} // namespace

OperandType Scalar::type() const {
  switch (kind) {
  case Kind::Bool:
    return {DType::Bool, Weak::None};
  case Kind::Int:
    return {DType::Int64, Weak::Int};
  case Kind::Float:
    return {DType::Float64, Weak::Float};
  case Kind::Complex:
    return {DType::Complex128, Weak::Complex};
  }
  return {};
}

std::string Scalar::text() const {
  if (kind == Kind::Complex)
    return format("({}{}{}j)", number, std::signbit(imaginary) ? "" : "+", imaginary);
  if (kind == Kind::Float)
    return format("{}", number);
  if (kind == Kind::Bool)
    return integer ? "True" : "False";
  return integerText(integer);
}

DType promoteTypes(DType a, DType b) {
  if (a == b)
    return a;
  if (a == DType::Bool)
    return b;
  if (b == DType::Bool)
    return a;
  if (isComplex(a) || isComplex(b)) {
    DType parts = promoteTypes(realDType(a), realDType(b));
    bool wide = parts == DType::Float64 || (isInteger(parts) && itemSize(parts) > 2);
    return wide ? DType::Complex128 : DType::Complex64;
  }
  if (isFloat(a) || isFloat(b)) {
    DType f = isFloat(a) ? a : b;
    DType o = isFloat(a) ? b : a;
    if (f == DType::Float64 || o == DType::Float64)
      return DType::Float64;
    if (isFloat(o)) // two of float32, float16 and bfloat16
      return DType::Float32;
    if (itemSize(o) == 1)
      return f;
    return itemSize(o) == 2 ? DType::Float32 : DType::Float64;
  }
  if (isSigned(a) == isSigned(b))
    return itemSize(a) > itemSize(b) ? a : b;
  DType s = isSigned(a) ? a : b;
  DType u = isSigned(a) ? b : a;
  if (itemSize(u) < itemSize(s))
    return s;
  return itemSize(u) == 8 ? DType::Float64 : signedOfSize(itemSize(u) * 2);
}

DType resultType(std::span<const OperandType> operands) {
  bool any = false, weakInt = false, weakFloat = false, weakComplex = false;
  DType t = DType::Bool;
  // Integers meet the floats one by one, whatever their order: together they may need a wider one.
  for (bool inexact : {true, false})
    for (const OperandType &o : operands) {
      weakInt |= o.weak == Weak::Int;
      weakFloat |= o.weak == Weak::Float;
      weakComplex |= o.weak == Weak::Complex;
      if (o.weak != Weak::None || isInexact(o.dtype) != inexact)
        continue;
      t = any ? promoteTypes(t, o.dtype) : o.dtype;
      any = true;
    }
  if (weakComplex)
    return any && isInexact(t) ? complexDType(t) : DType::Complex128;
  if (weakFloat && !(any && isInexact(t)))
    return DType::Float64;
  if (weakInt && (!any || t == DType::Bool))
    return DType::Int64;
  return any ? t : DType::Float64;
}

bool canCastSameKind(DType from, DType to) {
  auto rank = [](DType t) {
    return t == DType::Bool ? 0 : isUnsigned(t) ? 1 : isSigned(t) ? 2 : isFloat(t) ? 3 : 4;
  };
  return rank(from) <= rank(to);
}

/// NumPy's words, which programs look for.
static std::string numpysRefusal(OpKind kind, DType t) {
  if (t == DType::Bool && kind == OpKind::Sub)
    return "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the "
           "`^` "
           "operator, or the logical_xor function instead.";
  if (t == DType::Bool && kind == OpKind::Neg)
    return "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator "
           "or "
           "the logical_not function instead.";
  const OpInfo &info = opInfo(kind);
  return format("ufunc '{}' not supported for the input types, and the inputs could not be safely "
                "coerced to any supported types according to the casting rule ''safe''",
                info.numpyName.empty() ? info.name : info.numpyName);
}

Result<DType> promoteOperands(OpKind kind, std::span<const OperandType> operands) {
  const OpInfo &info = opInfo(kind);
  if (info.operandDTypes == DTypeClass::Boolean)
    return DType::Bool;
  DType t = resultType(operands);
  if (info.promoteToFloat && !isInexact(t)) {
    if (kind == OpKind::Div)
      return DType::Float64;
    // Each operand's own float, and no float of what they would be together as integers.
    DType found = DType::Float16;
    for (const OperandType &o : operands)
      found = promoteTypes(found, floatFor(o.weak == Weak::None ? o.dtype : t));
    return found;
  }
  if (info.promoteBool && t == DType::Bool)
    return DType::Int8;
  if (acceptsDType(info.operandDTypes, t))
    return t;
  std::string given;
  for (const OperandType &o : operands)
    given += format("{}{}", given.empty() ? "" : ", ",
                    o.weak == Weak::Int       ? "Python int"
                    : o.weak == Weak::Float   ? "Python float"
                    : o.weak == Weak::Complex ? "Python complex"
                                              : dtypeName(o.dtype));
  return Status(ErrorCode::DType,
                format("[{}] not supported for operands of dtype {}: it needs {}; {}", info.name,
                       given, dtypeClassText(info.operandDTypes), numpysRefusal(kind, t)));
}

DType resultDType(OpKind kind, DType operands) {
  switch (opInfo(kind).resultRule) {
  case ResultRule::Bool:
    return DType::Bool;
  case ResultRule::RealPart:
    return realDType(operands);
  case ResultRule::ComplexOf:
    return complexDType(operands);
  case ResultRule::SameAsOperands:
  case ResultRule::Explicit:
    break;
  }
  return operands;
}

DType reduceDType(ReduceKind kind, DType t) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Prod:
    if (t == DType::Bool || isSigned(t))
      return DType::Int64;
    return isUnsigned(t) ? DType::UInt64 : t;
  case ReduceKind::Mean:
    return isInexact(t) ? t : DType::Float64;
  case ReduceKind::Any:
  case ReduceKind::All:
    return DType::Bool;
  case ReduceKind::ArgMin:
  case ReduceKind::ArgMax:
    return DType::Int64;
  case ReduceKind::Min:
  case ReduceKind::Max:
    return t;
  }
  return t;
}

bool fits(__int128 value, DType t) {
  return isInexact(t) || (value >= lowest(t) && value <= highest(t));
}

Result<uint64_t> literalBits(const Scalar &scalar, DType t) {
  if (scalar.variable)
    return Status(ErrorCode::Trace, "the value of a number that calls differ in is needed");
  if (scalar.kind == Scalar::Kind::Complex && t == DType::Bool)
    return uint64_t{scalar.number != 0 || scalar.imaginary != 0};
  if (scalar.kind == Scalar::Kind::Complex)
    return Status(ErrorCode::DType,
                  format("cannot convert complex {} to {}", scalar.text(), dtypeName(t)));
  if (isComplex(t))
    return literalBits(scalar, realDType(t));
  if (isFloat(t)) {
    double v =
        scalar.kind == Scalar::Kind::Float ? scalar.number : static_cast<double>(scalar.integer);
    if (t == DType::Float64)
      return std::bit_cast<uint64_t>(v);
    if (isNarrowFloat(t))
      return uint64_t{narrowBits(v, t)};
    // From an integer directly: going through double would round twice.
    float f = scalar.kind == Scalar::Kind::Float ? static_cast<float>(v)
                                                 : static_cast<float>(scalar.integer);
    return uint64_t{std::bit_cast<uint32_t>(f)};
  }
  __int128 v = scalar.integer;
  if (scalar.kind == Scalar::Kind::Float) {
    if (t == DType::Bool)
      return uint64_t{scalar.number != 0};
    if (std::isnan(scalar.number))
      return Status(ErrorCode::InvalidArgument, "cannot convert float NaN to integer");
    if (std::isinf(scalar.number))
      return Status(ErrorCode::Overflow, "cannot convert float infinity to integer");
    if (std::fabs(scalar.number) > 1e37)
      return Status(ErrorCode::Overflow, "Python int too large to convert to C long");
    v = static_cast<__int128>(scalar.number);
  }
  if (t == DType::Bool)
    return uint64_t{v != 0};
  if (!fits(v, t))
    return Status(ErrorCode::Overflow,
                  format("Python integer {} out of bounds for {}", integerText(v), dtypeName(t)));
  return static_cast<uint64_t>(static_cast<int64_t>(v));
}

std::string literalText(uint64_t bits, DType t) {
  if (isComplex(t))
    return literalText(bits, realDType(t));
  if (t == DType::Float32)
    return format("{}", std::bit_cast<float>(static_cast<uint32_t>(bits)));
  if (t == DType::Float64)
    return format("{}", std::bit_cast<double>(bits));
  if (isNarrowFloat(t))
    return format("{}", narrowValue(static_cast<uint16_t>(bits), t));
  if (t == DType::Bool)
    return bits ? "true" : "false";
  return isUnsigned(t) ? format("{}", bits) : format("{}", static_cast<int64_t>(bits));
}

} // namespace graphc::op
