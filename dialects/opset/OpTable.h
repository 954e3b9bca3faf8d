//===- OpTable.h - What is known of every operation -------------------------------------------===//
//
// Generated from dialects/graph/GraphOps.td; free of MLIR.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_DIALECTS_OPSET_OPTABLE_H
#define GRAPHC_DIALECTS_OPSET_OPTABLE_H

#include "runtime/base/DType.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace graphc::op {

#include "OpsetKinds.inc"

enum class Category : uint8_t {
  None,
  Elementwise,
  Reduction,
  Scan,
  Movement,
  Contraction,
  Generator,
  Update,
  Indexed,
  Library
};
/// Operand dtypes an op accepts after promotion.
enum class DTypeClass : uint8_t {
  Any,
  AnyReal,
  Numeric,
  RealNumeric,
  Inexact,
  Floating,
  ComplexFloating,
  Integer,
  IntegerOrBool,
  Boolean,
  Random
};
/// RealPart: the dtype of one part of a complex operand; ComplexOf: the complex dtype of two parts.
enum class ResultRule : uint8_t { SameAsOperands, Bool, Explicit, RealPart, ComplexOf };
/// How an attribute is written in the flat words of a node: Int and Literal one word, Ints and
/// Extents a count then that many words. A Literal is the value's bit pattern in the node's dtype:
/// integers and bool sign- or zero-extended to 64 bits, narrower floats zero-extended; of a complex
/// dtype the real part's, the imaginary part being 0.
enum class AttrKind : uint8_t { Int, Ints, Extents, Literal };

struct AttrInfo {
  std::string_view name;
  AttrKind kind;
};

/// One record of the op list. Everything points to static storage.
struct OpInfo {
  std::string_view name; ///< mnemonic in the graph dialect
  std::string_view summary;
  Category category;
  int arity; ///< tensor operands; -1: one or more
  DTypeClass operandDTypes;
  ResultRule resultRule;
  bool promoteToFloat; ///< integer and bool operands become floats
  bool promoteBool;    ///< bool operands become int8
  bool commutative;
  std::span<const std::string_view> pyNames;
  std::span<const std::string_view> dunders;
  std::span<const AttrInfo> attrs;
  std::string_view ulpF32; ///< published bound, "" = exact or correctly rounded
  std::string_view ulpF64;
  std::string_view numpyName;
};

const OpInfo &opInfo(OpKind kind);
/// By mnemonic.
std::optional<OpKind> opKindFromName(std::string_view name);
/// "sum", "prod", ...
std::string_view reduceKindName(ReduceKind kind);
std::optional<ReduceKind> reduceKindFromName(std::string_view name);
bool acceptsDType(DTypeClass c, DType t);
/// "a bool or integer dtype" and so on, for messages.
std::string_view dtypeClassText(DTypeClass c);

/// The words of one attribute inside a node's flat words (without the count of a list).
struct AttrSpan {
  AttrKind kind;
  uint32_t offset;
  uint32_t count;
};
/// Appends where each attribute of `kind` lies in `flat`; false when `flat` is not an encoding of
/// the op's attributes.
bool splitAttrs(OpKind kind, std::span<const int64_t> flat, std::vector<AttrSpan> &out);

namespace detail {
inline void put(std::vector<int64_t> &out, int64_t v) { out.push_back(v); }
inline void put(std::vector<int64_t> &out, uint64_t v) { out.push_back(static_cast<int64_t>(v)); }
inline void put(std::vector<int64_t> &out, const std::vector<int64_t> &v) {
  out.push_back(static_cast<int64_t>(v.size()));
  out.insert(out.end(), v.begin(), v.end());
}
inline bool get(std::span<const int64_t> &in, int64_t &v) {
  if (in.empty())
    return false;
  v = in[0];
  in = in.subspan(1);
  return true;
}
inline bool get(std::span<const int64_t> &in, uint64_t &v) {
  int64_t word = 0;
  if (!get(in, word))
    return false;
  v = static_cast<uint64_t>(word);
  return true;
}
inline bool get(std::span<const int64_t> &in, std::vector<int64_t> &v) {
  int64_t count = 0;
  if (!get(in, count) || count < 0 || static_cast<uint64_t>(count) > in.size())
    return false;
  v.assign(in.begin(), in.begin() + count);
  in = in.subspan(static_cast<size_t>(count));
  return true;
}
} // namespace detail

/// Attribute structs: `encode` gives the flat words, `decode` reads them back.
#include "OpsetAttrs.inc"

} // namespace graphc::op

#endif // GRAPHC_DIALECTS_OPSET_OPTABLE_H
