//===- Pieces.h - Programs whose arrays do not fit on a device --------------------------------===//
//
// A value of a device may be kept in host memory: it was larger than what the device had free. A
// program that needs more memory than there is is computed piece by piece: strips of what it reads
// go to the device while the piece before them is computed, strips of its results come back.
// Reductions keep their tree, so the bits are those of the whole.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_PIECES_H
#define GRAPHC_FRONTENDS_RECORD_PIECES_H

#include "frontends/record/Snapshot.h"
#include "runtime/exec/Executor.h"

#include <span>
#include <vector>

namespace graphc {

/// Memory for a value of `device`: its own, or host memory when a share of the device would not
/// stay free.
Result<rt::BufferRef> placeFor(rt::Device &device, int64_t bytes);
/// Whether `value` is kept elsewhere than on `device`.
inline bool isKept(const rt::Tensor &value, const rt::Device &device) {
  return &value.buffer->device() != &device;
}
/// Bytes that buffers may still take.
int64_t freeBytes(const rt::Device &device);
/// Brings what is kept elsewhere to the device; OutOfMemory when it has no room.
Status bringTo(rt::Device &device, std::span<rt::Tensor> values);

/// Runs a program whose inputs may be kept elsewhere, and whose arrays may be too large for the
/// device: then it is computed in pieces, and large results are kept in host memory. `inputs` are
/// those of the segment, then its literals. Errors as rt::run(); OutOfMemory says what stood in the
/// way of pieces and what would fit.
Status runOrSplit(const rt::LoadedProgram &program, const Segment &segment,
                  std::span<const rt::Tensor> inputs, std::span<const int64_t> sizes,
                  std::vector<rt::Tensor> &outputs, rt::RunReport &report);

/// Passes made over data that did not fit, and the pieces of them, in this process.
struct PieceCounts {
  int64_t passes = 0;
  int64_t pieces = 0;
};
PieceCounts pieceCounts();

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_PIECES_H
