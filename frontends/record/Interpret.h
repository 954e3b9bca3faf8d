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

enum class Interpreted : uint8_t {
  Done,
  TooLarge, ///< more than so many bytes would be made
  Refused,  ///< a loop has no result for an operation, or it has an error to tell of
};
/// Computes the outputs of a segment whose inputs are ready, of a device whose memory the host
/// reaches; nothing is done unless all of them are. With `isUnwatched` no floating-point error is
/// looked for. Takes graphMutex().
Result<Interpreted> interpret(const Segment &segment, int64_t mostBytes, bool isUnwatched,
                              std::vector<rt::Tensor> &outputs);
/// Whether a segment gives a value that is too large for that, whatever else it has.
bool isTooLarge(const Segment &segment);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_INTERPRET_H
