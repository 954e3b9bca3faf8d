#include "dialects/opset/OpTable.h"

#include <cassert>
#include <iterator>

namespace graphc::op {
namespace {
#include "OpsetTable.inc"
static_assert(std::size(kOps) == kOpKindCount);
static_assert(std::size(kReduceNames) == kReduceKindCount);
} // namespace

const OpInfo &opInfo(OpKind kind) {
  assert(static_cast<size_t>(kind) < std::size(kOps));
  return kOps[static_cast<size_t>(kind)];
}

std::optional<OpKind> opKindFromName(std::string_view name) {
  for (int i = 0; i < kOpKindCount; ++i)
    if (kOps[i].name == name)
      return static_cast<OpKind>(i);
  return std::nullopt;
}

std::string_view reduceKindName(ReduceKind kind) {
  assert(static_cast<size_t>(kind) < std::size(kReduceNames));
  return kReduceNames[static_cast<size_t>(kind)];
}

std::optional<ReduceKind> reduceKindFromName(std::string_view name) {
  for (int i = 0; i < kReduceKindCount; ++i)
    if (kReduceNames[i] == name)
      return static_cast<ReduceKind>(i);
  return std::nullopt;
}

bool acceptsDType(DTypeClass c, DType t) {
  switch (c) {
  case DTypeClass::Any:
    return true;
  case DTypeClass::AnyReal:
    return !isComplex(t);
  case DTypeClass::Numeric:
    return t != DType::Bool;
  case DTypeClass::RealNumeric:
    return t != DType::Bool && !isComplex(t);
  case DTypeClass::Inexact:
    return isInexact(t);
  case DTypeClass::ComplexFloating:
    return isComplex(t);
  case DTypeClass::Floating:
    return isFloat(t);
  case DTypeClass::Integer:
    return isInteger(t);
  case DTypeClass::IntegerOrBool:
    return t == DType::Bool || isInteger(t);
  case DTypeClass::Boolean:
    return t == DType::Bool;
  case DTypeClass::Random:
    return t == DType::UInt64;
  }
  return false;
}

std::string_view dtypeClassText(DTypeClass c) {
  constexpr std::string_view kTexts[] = {"any dtype",
                                         "a real dtype",
                                         "a numeric dtype (not bool)",
                                         "a real numeric dtype (not bool)",
                                         "a floating or complex dtype",
                                         "a floating dtype",
                                         "a complex dtype",
                                         "an integer dtype",
                                         "a bool or integer dtype",
                                         "bool",
                                         "uint64 words"};
  return kTexts[static_cast<size_t>(c)];
}

bool splitAttrs(OpKind kind, std::span<const int64_t> flat, std::vector<AttrSpan> &out) {
  size_t at = 0;
  for (const AttrInfo &attr : opInfo(kind).attrs) {
    if (at >= flat.size())
      return false;
    if (attr.kind == AttrKind::Int || attr.kind == AttrKind::Literal) {
      out.push_back({attr.kind, static_cast<uint32_t>(at), 1});
      at += 1;
      continue;
    }
    int64_t count = flat[at];
    if (count < 0 || static_cast<uint64_t>(count) > flat.size() - at - 1)
      return false;
    out.push_back({attr.kind, static_cast<uint32_t>(at + 1), static_cast<uint32_t>(count)});
    at += 1 + static_cast<size_t>(count);
  }
  return at == flat.size();
}

} // namespace graphc::op
