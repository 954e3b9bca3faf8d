//===- Threads.h - Threads that LLVM works on -------------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_LLVM_THREADS_H
#define GRAPHC_COMPILER_EMIT_LLVM_THREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <pthread.h>

namespace graphc::emit {

/// A thread that takes no signals, with a stack for long expressions. False when the system grants
/// none.
bool startThread(void *(*entry)(void *), void *argument, pthread_t &thread);

/// `work` on the caller's thread and on up to `threads` - 1 others: fewer where the system grants
/// fewer. They have ended on return.
void runTogether(size_t threads, llvm::function_ref<void()> work);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_LLVM_THREADS_H
