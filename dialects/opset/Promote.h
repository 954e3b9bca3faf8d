//===- Promote.h - NumPy 2 type promotion -----------------------------------------------------===//
#ifndef GRAPHC_DIALECTS_OPSET_PROMOTE_H
#define GRAPHC_DIALECTS_OPSET_PROMOTE_H

#include "dialects/opset/OpTable.h"
#include "runtime/base/Status.h"

#include <span>

namespace graphc::op {

/// A Python scalar takes part in promotion by its kind only. A Python bool counts as a bool array.
enum class Weak : uint8_t { None, Int, Float, Complex };

struct OperandType {
  DType dtype = DType::Bool; ///< of a weak operand: int64, float64 or complex128, used when every
                             ///< operand is weak
  Weak weak = Weak::None;
};

/// A Python number as it was given.
struct Scalar {
  enum class Kind : uint8_t { Bool, Int, Float, Complex };
  Kind kind = Kind::Int;
  __int128 integer =
      0; ///< Bool and Int; a Python integer outside 128 bits is refused before it gets here
  double number = 0;    ///< Float; Complex: the real part
  double imaginary = 0; ///< Complex
  /// Not 0: each call of what is traced has a number of its own here, of the same kind, and this is
  /// the variable's number. Nothing may be decided by its value.
  uint32_t variable = 0;

  static Scalar ofBool(bool v) { return {Kind::Bool, v ? 1 : 0, 0, 0}; }
  static Scalar ofInt(__int128 v) { return {Kind::Int, v, 0, 0}; }
  static Scalar ofFloat(double v) { return {Kind::Float, 0, v, 0}; }
  static Scalar ofComplex(double re, double im) { return {Kind::Complex, 0, re, im}; }
  /// The real part of a complex scalar, as a float; the others as they are.
  Scalar real() const { return kind == Kind::Complex ? ofFloat(number) : *this; }
  Scalar imag() const { return ofFloat(imaginary); }
  OperandType type() const;
  /// As Python prints it.
  std::string text() const;
};

/// numpy.promote_types; int64 with uint64 is float64.
DType promoteTypes(DType a, DType b);
/// numpy.result_type; float64 when there is no operand.
DType resultType(std::span<const OperandType> operands);
/// numpy.can_cast(from, to, "same_kind"): what in-place operators accept.
bool canCastSameKind(DType from, DType to);
/// The dtype to which an elementwise op converts its operands (for `select`: all but the
/// condition). DType when the promoted dtype is not accepted.
Result<DType> promoteOperands(OpKind kind, std::span<const OperandType> operands);
/// Result dtype of an op whose operands were converted to `operands`.
DType resultDType(OpKind kind, DType operands);
/// Accumulator and result dtype of a reduction over `t` (before any dtype=): sum and prod of bool
/// and small integers widen to 64 bits, mean of them is float64, arg reductions give int64.
DType reduceDType(ReduceKind kind, DType t);

/// Whether an integer fits an integer dtype (always true for floats; bool: 0 and 1).
bool fits(__int128 value, DType t);
/// Bit pattern of a scalar that is not complex in a dtype, of a complex one that of its real part
/// (OpTable.h: Literal). Overflow when an integer does not fit,
/// NumPy's wording; a float becomes an integer by truncation (InvalidArgument for NaN, Overflow for
/// infinities and large values). Trace for a variable.
Result<uint64_t> literalBits(const Scalar &scalar, DType t);
/// A literal as text, for printing.
std::string literalText(uint64_t bits, DType t);

} // namespace graphc::op

#endif // GRAPHC_DIALECTS_OPSET_PROMOTE_H
