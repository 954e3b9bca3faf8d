//===- InterpretPlain.h - Exact operations, element by element --------------------------------===//
//
// What interpreted programs (Interpret.h) need beside the loops of Small.h: more dtypes, operations
// without a loop of their own, places named by arrays. All of it is exact, so the bits are those of
// kernels.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_INTERPRETPLAIN_H
#define GRAPHC_FRONTENDS_RECORD_INTERPRETPLAIN_H

#include "frontends/record/Small.h"

namespace graphc::plain {

/// Whether elements of a dtype can be computed with here: every real one of a C++ type.
bool hasElements(DType t);

/// As the functions of Small.h, of operands that broadcast to `shape` and are computed: null where
/// the operation is not exact, or has something to tell of.
small::Outcome elementwise(op::OpKind kind, std::span<const Array> operands, const Shape &shape,
                           DType result, rt::Device &device);
/// A copy as dtype `t`.
small::Outcome cast(const Array &x, DType t);
/// Elements of `x` where `indices`, one for each of `axes`, say; the indices' axes are put at
/// `position` of the others. Null where an index is outside of its axis.
small::Outcome gather(const Array &x, std::span<const Array> indices, const op::GatherAttrs &attrs,
                      const Shape &shape);
/// `x` with `value` written to such places, or combined with what is there, in order: in `own`,
/// which has the elements of `x`, or, where that is null, in a copy.
small::Outcome scatter(const Array &x, NodeRef own, const Array &value,
                       std::span<const Array> indices, const op::ScatterAttrs &attrs);

} // namespace graphc::plain

#endif // GRAPHC_FRONTENDS_RECORD_INTERPRETPLAIN_H
