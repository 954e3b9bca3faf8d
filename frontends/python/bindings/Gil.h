//===- Gil.h - Work without the interpreter's lock --------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIL_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIL_H

#include <Python.h>

namespace graphc::py {

/// Lets other Python threads run while it lives. Unlike pybind11's gil_scoped_release it may end in
/// a daemon thread while the interpreter finalizes: CPython would end such a thread by unwinding
/// its stack, which C++ answers with an abort, so the thread sleeps instead until the process is
/// gone.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

/// Called once at module load, with the lock held: makes exit wait for threads that are about to
/// take the lock.
void registerExit();

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIL_H
