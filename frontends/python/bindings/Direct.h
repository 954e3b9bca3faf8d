//===- Direct.h - Operations of loops on elements that lie side by side -----------------------===//
//
// Most operations of a loop over small arrays have operands of one shape and dtype, computed and
// dense. They need nothing of what the recorder looks at for all others: these functions compute
// such a one into an object that ended before, with the loops of frontends/record/Small.h, and
// leave everything else, errors included, to the recorder. They count no turns of a loop.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_DIRECT_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_DIRECT_H

#include "frontends/python/bindings/Bindings.h"

#include <complex>

namespace graphc::py {

/// An object whose array is all of a memory of its own, of any contents.
struct Made {
  pb::object object; ///< null: none is kept
  rt::Buffer *buffer = nullptr;
  void *data() const { return buffer->host(); }
};
/// One that ended and was kept (Wrap.cpp). Needs what Array(NodeRef) needs: no trace.
Made takeMade(DType t, const Shape &shape, const rt::Device &device);
/// `made` as a result, after what there is to tell.
PyObject *finish(Made made);

/// What a basic index shows of `x`; raises for an error.
PyObject *wrapPart(const Array &x, std::span<const IndexItem> items);

/// The axes of an array, which is no single result, in another order.
PyObject *wrapTurned(const Array &x, std::span<const int64_t> permutation);

/// The pattern of one of NumPy's scalars, which is of dtype `t`; nothing for dtypes without loops.
std::optional<uint64_t> numpyScalarBits(PyObject *object, DType t);
/// The pattern of a Python number, or a scalar of NumPy's, in dtype `t`; nothing for other objects,
/// and where the number does not fit or another dtype results.
std::optional<uint64_t> scalarBits(PyObject *object, DType t);
/// The same of single results that the host has, and of scalars of other dtypes, all of whose
/// values have a place in `t`.
std::optional<uint64_t> heldBits(PyObject *object, DType t);

/// The elements of a row-major NumPy array of that dtype and shape, where they lie; null for other
/// objects, and for bools, whose bytes may be any.
const void *denseOfNumpy(PyObject *object, DType t, std::span<const int64_t> shape);

/// An element that is no complex number and is computed, or that a walk over the elements has
/// computed now; nothing for others.
std::optional<KnownValue> elementNow(const Array &x, std::span<const int64_t> index);
/// An element of a complex array that is computed; nothing for others.
std::optional<std::complex<double>> complexElement(const Array &x, std::span<const int64_t> index);
/// The same as an object; null for others.
PyObject *complexValue(const Array &x, std::span<const int64_t> index);
/// One part of a single complex value that is computed, 0 or 1; null for others.
PyObject *partOfComplex(const Array &x, int64_t number);
/// The result of an operation on single values and numbers that is complex, or compares such; null,
/// with no error set, where it is the recorder's. `right` is null where there is one operand.
PyObject *operationOnComplex(op::OpKind kind, PyObject *left, PyObject *right);
/// x[index] = value of one element of complex `x`; false, with nothing done, as above.
bool writeComplex(Array &x, std::span<const int64_t> index, PyObject *value);
/// A list of a few integers, Python's or single results, as an index; a null array for others.
Array listIndex(PyObject *key, rt::Device &device);

/// The result of an operation; null, with no error set, where it is the recorder's. `left` or
/// `right` is an array of one axis or more; `right` is null where there is one operand. May throw.
PyObject *directOperation(op::OpKind kind, PyObject *left, PyObject *right);
/// clip(object, low, high) of an array, a value or Python's numbers, one bound or None; null as
/// above.
PyObject *directClip(PyObject *object, PyObject *low, PyObject *high);
/// `bits` everywhere, of complex dtypes as the real part; null as above.
PyObject *directFull(const Shape &shape, uint64_t bits, DType t, rt::Device &device);
/// A copy as dtype `t`, which lies as `x` does; null as above.
PyObject *directCast(const Array &x, DType t);
/// The elements of `x` as an array of `shape`; null as above.
PyObject *directCopy(const Array &x, const Shape &shape);
/// Arrays of one dtype joined along an axis; null as above.
PyObject *directJoin(std::span<PyObject *const> items, int64_t axis);
/// The places of the elements of a vector that are not zero, and how many elements of an array are
/// not; null as above.
PyObject *directNonzero(const Array &x);
PyObject *directCount(const Array &x);
/// x[index] of an array of int64 or a mask of one axis; null as above.
PyObject *directRows(const Array &x, const Array &index);
/// x[index] = value of vectors; false, with nothing done, where it is the recorder's.
bool directPut(Array &x, PyObject *index, PyObject *value);
/// x[items] = value; false as above.
bool directAssign(Array &x, std::span<const IndexItem> items, PyObject *value);
/// `out` after a result was written to it, recorded where need be; null, with nothing done, where
/// it is no array of the result's shape, dtype and device that may be written.
PyObject *writtenTo(PyObject *out, const pb::object &result);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_DIRECT_H
