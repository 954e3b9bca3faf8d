//===- Parallel.h - Loops of routines on the threads of the cpu device ------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_PARALLEL_H
#define GRAPHC_RUNTIME_LIBRARY_PARALLEL_H

#include "runtime/drivers/cpu/ThreadPool.h"

#include <algorithm>

namespace graphc::rt::library {

/// Calls `body(begin, end)` for pieces of [0, range) of at most `chunk` items, on several threads.
/// `body` may not call this again.
template <typename Body>
void parallelFor(int64_t range, int64_t chunk, const Body &body) {
  if (range <= 0)
    return;
  if (range <= chunk) {
    body(int64_t{0}, range);
    return;
  }
  auto call = [](void *context, int64_t begin, int64_t end) {
    (*static_cast<const Body *>(context))(begin, end);
  };
  cpu::ThreadPool::instance().run(
      {call, const_cast<void *>(static_cast<const void *>(&body)), range, chunk});
}

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_PARALLEL_H
