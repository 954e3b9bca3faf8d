#include "frontends/python/bindings/Gil.h"

#include "frontends/python/bindings/Bindings.h"

#include <atomic>
#include <thread>
#include <unistd.h>

namespace graphc::py {
namespace {

std::atomic<bool> exiting{false};
std::atomic<int> taking{0}; ///< threads between the look at `exiting` and the lock
std::atomic<std::thread::id> finalizer;

/// Runs at exit before finalization starts. From here on no other thread asks for the lock; those
/// that already have asked get it first.
void beginExit() {
  finalizer.store(std::this_thread::get_id());
  exiting.store(true);
  PyThreadState *state = PyEval_SaveThread();
  while (taking.load() != 0)
    ::usleep(100);
  PyEval_RestoreThread(state);
}

} // namespace

WithoutGil::~WithoutGil() {
  taking.fetch_add(1);
  if (exiting.load() && std::this_thread::get_id() != finalizer.load()) {
    taking.fetch_sub(1);
    for (;;)
      ::pause();
  }
  PyEval_RestoreThread(state);
  taking.fetch_sub(1);
}

void registerExit() { pb::module_::import("atexit").attr("register")(pb::cpp_function(beginExit)); }

} // namespace graphc::py
