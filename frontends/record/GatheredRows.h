//===- GatheredRows.h - Rows at places of which a part is wanted ------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_GATHEREDROWS_H
#define GRAPHC_FRONTENDS_RECORD_GATHEREDROWS_H

#include "frontends/record/Array.h"
#include "frontends/record/Record.h"

namespace graphc {

/// `a[rows][:, 0]` shows a small part of rows that nobody else can see and that are still to be
/// gathered: such an array becomes one of what it shows, so that nothing else is moved. Every row
/// is still looked at. For one thread at a time: the language binding's lock.
Status separate(Array &x);
inline Status separateView(Array &x) {
  return x.view().isWhole() || x.isOpen() ? Status::ok() : separate(x);
}

/// `a[rows][:, columns]`: what `places` name along the second axis of `n`, which are rows still to
/// be gathered, from where those are. Null for anything else.
Result<NodeRef> gatherOfGathered(const NodeRef &n, const node::Places &places);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_GATHEREDROWS_H
