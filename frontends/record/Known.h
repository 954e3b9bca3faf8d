//===- Known.h - Single values the host has already
//--------------------------------------------===//
//
// Programs that loop over elements read, combine and write single values. A 0-d value that is known
// here is not worth a program: it is read from memory, computed with the bits a kernel would give,
// and written in place, at once.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_KNOWN_H
#define GRAPHC_FRONTENDS_RECORD_KNOWN_H

#include "frontends/record/Ops.h"

#include <optional>

namespace graphc {

/// The value of a 0-d node as a literal pattern (OpTable.h) when it needs no program: a literal, or
/// computed and in host memory.
std::optional<uint64_t> knownBits(const Node &node);

namespace ops {

/// The element at `index` (inside the shape, one number an axis) as a value of its own; nothing
/// when x is not computed, not in host memory or belongs to a trace.
std::optional<Array> readElement(const Array &x, std::span<const int64_t> index);
/// Writes one element at once. False when it has to be recorded: inside a trace, on another device,
/// for a value that is not known, and for the first few writes into values that are pending or that
/// someone else reads too (those stay lazy; a loop of them computes or copies the array once).
Result<bool> writeElement(Array &x, std::span<const int64_t> index, const Operand &value);
/// The result pattern of an elementwise operation on known 0-d operands of dtype `t`, or nothing:
/// an operation that is exact or correctly rounded is computed here with a kernel's bits, others
/// are recorded.
std::optional<uint64_t> foldKnown(op::OpKind kind, std::span<const Operand> operands, DType t);

} // namespace ops
} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_KNOWN_H
