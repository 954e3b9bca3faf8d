#include "compiler/emit/llvm/Threads.h"

#include "llvm/ADT/SmallVector.h"

#include <csignal>

using namespace graphc;

/// LLVM goes down into long expressions; without a limit of its own a process gives threads little.
static constexpr size_t kStackBytes = size_t{8} << 20;

bool emit::startThread(void *(*entry)(void *), void *argument, pthread_t &thread) {
  // Signals belong to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  bool started = pthread_create(&thread, &attributes, entry, argument) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void emit::runTogether(size_t threads, llvm::function_ref<void()> work) {
  auto entry = [](void *argument) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(argument))();
    return nullptr;
  };
  llvm::SmallVector<pthread_t> started;
  pthread_t thread;
  while (started.size() + 1 < threads && startThread(entry, &work, thread))
    started.push_back(thread);
  work();
  for (pthread_t t : started)
    pthread_join(t, nullptr);
}
