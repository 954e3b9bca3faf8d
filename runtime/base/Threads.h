//===- Threads.h - Threads beside the program's own -------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_THREADS_H
#define GRAPHC_RUNTIME_BASE_THREADS_H

#include <cstddef>
#include <functional>
#include <pthread.h>

namespace graphc {

/// A thread that takes no signals, which belong to the program's own; with a stack of so many
/// bytes, 0: of the system's size. False when the system grants none.
bool startThread(void *(*entry)(void *), void *argument, pthread_t &thread, size_t stackBytes = 0);

/// `work` on the caller's thread and on up to `threads` - 1 others: fewer where the system grants
/// fewer. They have ended on return; `work` throws nothing.
void runTogether(size_t threads, const std::function<void()> &work, size_t stackBytes = 0);

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_THREADS_H
