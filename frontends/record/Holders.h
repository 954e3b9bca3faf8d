//===- Holders.h - Small pending values that keep large memory --------------------------------===//
//
// `energy[t] = (u ** 2).sum()` is left pending, and keeps the memory of `u` until somebody reads
// it. In a loop that looks at `u` in every turn, and makes the next one, each turn would leave one
// more of them, and an update of `u` in place would have to copy it. So whoever computes large
// values computes, after them, the small ones that loops recorded.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_HOLDERS_H
#define GRAPHC_FRONTENDS_RECORD_HOLDERS_H

#include "frontends/record/Array.h"

#include <vector>

namespace graphc {

/// Takes down an array that was just recorded or written to, if it is such a value of a loop. Does
/// nothing in a trace.
void noteHolder(const Array &x);

/// What this thread took down since the last call, is pending, and somebody still has.
std::vector<NodeRef> takeHolders();

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_HOLDERS_H
