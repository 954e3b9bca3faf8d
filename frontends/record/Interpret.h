//===- Interpret.h - Small programs that were not met often -----------------------------------===//
//
// Compiling costs what thousands of operations on small values cost. So a segment whose values are
// all small is computed by the loops of Small.h, node by node and with the bits of its program,
// until it was met often enough to be compiled.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_INTERPRET_H
#define GRAPHC_FRONTENDS_RECORD_INTERPRET_H

#include "frontends/record/Snapshot.h"
#include "runtime/exec/Executor.h"

namespace graphc {

/// Computes the outputs of a segment whose inputs are ready, of a device whose memory the host
/// reaches. False, and nothing done, where values are not small, or where a loop has no result for
/// an operation: it has another form, or something to tell of. Takes graphMutex().
Result<bool> interpret(const Segment &segment, std::vector<rt::Tensor> &outputs);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_INTERPRET_H
