//===- Library.h - Routines on host memory ----------------------------------------------------===//
//
// What programs ask for and no kernel computes (runtime/base/Routine.h lists it). A routine reads
// its operands and writes its result, dense and row-major; it keeps nothing. Threads: the pool of
// the cpu device; results do not depend on their number, except where a routine says so.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_LIBRARY_H
#define GRAPHC_RUNTIME_LIBRARY_LIBRARY_H

#include "runtime/base/DType.h"
#include "runtime/base/Routine.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <span>

namespace graphc::rt::library {

/// A tensor in host memory, aligned for its element type.
struct Operand {
  void *data;
  DType dtype;
  std::span<const int64_t> shape;
};

/// One use of a routine; the views need to be valid during the call only. The result overlaps no
/// operand.
struct Call {
  std::span<const Operand> operands;
  Operand result;
  std::span<const int64_t> params;
};

/// Checks a call (checkRoutine) and runs it. Safe from any thread. Errors: those of checkRoutine,
/// OutOfMemory, and what the routine says.
Status run(Routine routine, const Call &call);

/// How many bytes are not 0: what the results of Nonzero and Compress have room for. On several
/// threads.
int64_t countTrue(std::span<const uint8_t> mask);

/// Writes `count` values of 1, 2, 4 or 8 bytes where a mask is true, one after the other, into as
/// many elements as the mask has, on several threads. False, and nothing is written, where it has
/// another number of true elements.
bool expandInto(void *x, std::span<const uint8_t> mask, const void *values, int64_t count,
                int64_t itemBytes);

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_LIBRARY_H
