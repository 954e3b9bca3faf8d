//===- Counts.h - How often integers occur, counted at once -----------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_COUNTS_H
#define GRAPHC_FRONTENDS_RECORD_COUNTS_H

#include "frontends/record/Array.h"

namespace graphc {

/// How often each integer from 0 to the largest occurs in a vector of integers, at least `least`
/// counts, int64: how many there are has to be known anyway, so that it is computed (reason
/// "mask"). Null where it has to be recorded: in traces, on devices whose memory the host does not
/// see, of nothing, of negative integers and of very many counts.
Result<NodeRef> countsNow(const Array &x, int64_t least);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_COUNTS_H
