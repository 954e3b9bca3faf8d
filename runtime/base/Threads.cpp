#include "runtime/base/Threads.h"

#include <csignal>
#include <vector>

namespace graphc {

bool startThread(void *(*entry)(void *), void *argument, pthread_t &thread, size_t stackBytes) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stackBytes > 0)
    pthread_attr_setstacksize(&attributes, stackBytes);
  bool started = pthread_create(&thread, &attributes, entry, argument) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void runTogether(size_t threads, const std::function<void()> &work, size_t stackBytes) {
  auto entry = [](void *argument) -> void * {
    (*static_cast<const std::function<void()> *>(argument))();
    return nullptr;
  };
  auto *argument = const_cast<std::function<void()> *>(&work); // a thread's is void
  std::vector<pthread_t> started;
  pthread_t thread;
  while (started.size() + 1 < threads && startThread(entry, argument, thread, stackBytes))
    started.push_back(thread);
  work();
  for (pthread_t t : started)
    pthread_join(t, nullptr);
}

} // namespace graphc
