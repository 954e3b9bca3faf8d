//===- IndexChecks.h - Whether indices lie inside, as far as that is known -------------------===//
//
// Gathers and scatters check their indices where they run. What is known of them when they are
// recorded is looked at there: values that the host has, a few; and all of them, which are computed
// then, where the program would catch the error: it is to meet it in that statement.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_INDEXCHECKS_H
#define GRAPHC_FRONTENDS_RECORD_INDEXCHECKS_H

#include "frontends/record/Array.h"

namespace graphc::ops {

/// Index error naming the first value of `index` that is not in [-size, size).
Status checkIndex(const NodeRef &index, int64_t axis, int64_t size);
/// The same where the result has no elements: no gather or scatter meets its places, so pending
/// ones are computed to be looked at, but for those of a trace, which has no values yet.
Status checkUnmet(const NodeRef &index, int64_t axis, int64_t size);
/// Whether integers are known, and few enough to look at, and all in [low, high).
bool areInside(const Array &index, int64_t low, int64_t high);

} // namespace graphc::ops

#endif // GRAPHC_FRONTENDS_RECORD_INDEXCHECKS_H
