//===- Lend.h - Memory of arrays that others write to -----------------------------------------===//
//
// Versions of a storage never change, so that what was recorded stays true. Somebody who writes to
// the memory of an array at any time, as NumPy does through a view, gets memory beside them:
// whoever asks for the newest version looks whether that memory has changed (Storage::current), and
// a new version is copied to it when it is recorded (Storage::replace). Both sides see every write,
// at the price of that look; it ends with the borrower.
//
// Memory that belongs to others, which an array shows without a copy, changes without a look. What
// reads it is computed when it is recorded, so that it is of that moment, no other array lies in
// it, and what is written to the array is written there at once.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_LEND_H
#define GRAPHC_FRONTENDS_RECORD_LEND_H

#include "frontends/record/Array.h"

#include <functional>

namespace graphc {

/// Computes the storage of `x` and lends its memory; the same memory while somebody has it. `x` is
/// of a device whose memory the host reaches, and belongs to no trace. Errors of evaluation.
Result<Loan> lend(const Array &x);

/// How a front end runs what may take long and may ask it for places (LocationSource): without a
/// lock of its own.
using Aside = void (*)(const std::function<void()> &run);
void setAside(Aside aside);

/// A value that nobody else writes: of a node that reads shared memory (Node::readsShared) it is
/// computed now or copied; any other node is given back. Makers of arrays have no failures to give:
/// one is kept for takeFailure().
NodeRef apart(NodeRef node);
/// What computing in apart() failed by in this thread, the first since the last call.
Status takeFailure();

/// Memory of its own with these bytes, for makers of arrays, who expect no failure: it comes as
/// that of any container.
rt::BufferRef copied(const void *bytes, int64_t count, rt::Device &device);

/// Computes a value of all of a storage whose memory is shared, and writes it there. What cannot be
/// computed writes nothing; errors of evaluation.
Status writeShared(const std::shared_ptr<Storage> &storage, const NodeRef &value);

/// Brings the newest version of a storage that is lent to the memory that is; errors of evaluation.
/// A version that cannot be computed is dropped.
Status repay(const std::shared_ptr<Storage> &storage);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_LEND_H
