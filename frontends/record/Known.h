//===- Known.h - Single values the host has already -------------------------------------------===//
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

/// Whether its kernels run on this machine's CPU, on memory that can be read here.
bool onHost(const rt::Device &device);
/// The same, or "auto", whose values are in this machine's memory until a program takes them
/// elsewhere: whoever looks at one asks whether it has an address.
bool mayBeOnHost(const rt::Device &device);
/// Where so many bytes of a computed value are read on the host; who counts them is told. Null
/// where the host has none.
const char *whereRead(const Node &value, int64_t bytes);
/// Whether a value is computed, and whereRead() has it.
bool isReadHere(const Node &value);

/// The value of a 0-d node as a literal pattern (OpTable.h) when it needs no program: a literal, or
/// computed and in host memory.
std::optional<uint64_t> knownBits(const Node &node);
/// Whether a finite number has become an infinity as the pattern `bits` of dtype `t`.
bool isOverflown(const op::Scalar &value, DType t, uint64_t bits);

namespace ops {

/// The element at `index` (inside the shape, one number an axis); nothing when x is not computed,
/// not in host memory or belongs to a trace.
std::optional<KnownValue> readElement(const Array &x, std::span<const int64_t> index);
/// Of "auto": brings what only the other device has to the host for good, once so many of its
/// elements were read that this had cost as much as the way. False where nothing was done. Counts
/// as a read.
Result<bool> bringHome(const Array &x);
/// Gives a recorded element its value at once where the array of `x`, a view of that element, is
/// computed: of dtypes that no literal pattern holds.
Status settleElement(const Array &x, const NodeRef &element);
/// Whether x is pending and so many of its elements were read that a loop seems to walk over it: it
/// is cheaper computed whole. Counts as a read.
bool isWalkedOver(const Array &x);
/// x[index] of one array of integers or a mask of an axis, in a loop over small arrays; null where
/// it has to be recorded.
Result<Array> takeRowsNow(const Array &x, const Array &index, size_t axis = 0);
/// x[index] = value, of x's dtype or a number that it holds, likewise; false, with nothing done and
/// no turn counted, where it has to be recorded.
Result<bool> putRowsNow(Array &x, const Array &index, const Operand &value);
/// In such a loop, the row-major places that arrays of integers name, one an axis of `shape`,
/// broadcast against each other; null elsewhere and where something is outside.
Result<Array> flatPlacesNow(std::span<const Array> indices, const Shape &shape);
/// The pattern of a known operand in dtype `t`; nothing where that needs a program or raises.
std::optional<uint64_t> operandBits(const Operand &operand, DType t);
/// After this many writes of elements or small parts an array is taken for one that is filled in a
/// loop.
inline constexpr uint32_t kLazyWrites = 8;
/// Makes the newest version computed, in host memory and nobody else's.
Status detach(Array &x);
/// Writes one element, a pattern of x's dtype, at once. False when it has to be recorded: inside a
/// trace, on another device, and for the first few writes into values that are pending or that
/// someone else reads too (those stay lazy; a loop of them computes or copies the array once).
Result<bool> writeElement(Array &x, std::span<const int64_t> index, uint64_t bits);
/// The same of the bytes of an element.
Result<bool> writeElement(Array &x, std::span<const int64_t> index,
                          std::span<const std::byte> value);
/// Writes one pattern of x's dtype to all that a view of a part of its storage shows, at once.
/// False when it has to be recorded: as for elements, and whenever the storage is pending or
/// someone else reads it.
bool fillAtOnce(Array &x, uint64_t bits);
/// Writes one pattern of x's dtype where `mask`, of the shape of x, is true, at once. False when it
/// has to be recorded: as above, and where one of the two is pending or not dense.
bool fillMasked(Array &x, const Array &mask, uint64_t bits);
/// Writes dense values of x's dtype where `mask`, of as many elements as x, is true. False when it
/// has to be recorded: as above, and where the values are pending or have another number.
bool expandMasked(Array &x, const NodeRef &mask, const NodeRef &values);
/// Writes the values of x's dtype and shape where `mask`, of that shape as well, is true; or, for
/// repeatMasked(), any number of values one after the other, repeated as needed. False as above.
bool chooseMasked(Array &x, const Array &mask, const Array &values);
bool repeatMasked(Array &x, const Array &mask, const Array &values);
/// The result of an elementwise operation on known 0-d operands of dtype `t`, or nothing: an
/// operation that is exact or correctly rounded is computed here with a kernel's bits, others are
/// recorded.
std::optional<KnownValue> foldKnown(op::OpKind kind, std::span<const Operand> operands, DType t,
                                    rt::Device &device);
/// As above for two values of the dtype of `a` (one operand: b is ignored), outside traces.
/// `wraps`: set where a sum, difference, product, negative or absolute value of integers does not
/// fit.
std::optional<KnownValue> foldValues(op::OpKind kind, const KnownValue &a, uint64_t b,
                                     bool *wraps = nullptr);

} // namespace ops
} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_KNOWN_H
