//===- Recast.h - Memory read as another dtype ------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_RECAST_H
#define GRAPHC_FRONTENDS_RECORD_RECAST_H

#include "frontends/record/Node.h"

namespace graphc {

/// The shape of what recast() gives. Shape error, in NumPy's words, where the last axis does not
/// hold whole elements of `to`.
Result<Shape> recastShape(std::span<const int64_t> shape, DType from, DType to);

/// The bytes of a dense row-major value read as elements of another dtype: an axis of the same
/// length where they are as wide, else the last one longer or shorter (recastShape). Bytes that
/// become bools are true where they are not 0.
Result<NodeRef> recast(const NodeRef &x, DType to);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_RECAST_H
