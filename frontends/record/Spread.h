//===- Spread.h - Values of chosen rows at the places they were chosen from -------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SPREAD_H
#define GRAPHC_FRONTENDS_RECORD_SPREAD_H

#include "frontends/record/Node.h"

#include <span>

namespace graphc {

struct Spread {
  NodeRef rows;          ///< null: there are none
  int64_t functions = 0; ///< elementary functions among their operations
};

/// For a value that is still to be computed, row by row, from rows that `mask` chose: what the same
/// operations give for all rows of the mask, in the shape whose first size is that of the mask. It
/// equals row k of `value` at the k-th true place of the mask; elsewhere its operations get ones,
/// so that they meet no floating-point errors. None where `value` is something else. `mask`: a
/// value of any shape, whose elements are taken in row-major order.
Result<Spread> spreadOver(const NodeRef &mask, const NodeRef &value);

/// Whether what `roots` are still to be computed from has rows up to the bound of a mask whose true
/// elements are not counted, by a routine of the host.
bool choosesUpToBound(std::span<const NodeRef> roots);

/// Puts in place of each of the first `results` of `roots` that is such rows, and that no root is
/// computed from, the same without values beyond the count. For results that are handed out
/// together with the count.
Status leaveBeyondCount(std::span<NodeRef> roots, size_t results);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_SPREAD_H
