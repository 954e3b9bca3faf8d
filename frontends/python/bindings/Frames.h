//===- Frames.h - The Python functions that run -----------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_FRAMES_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_FRAMES_H

#include <Python.h>

// Python 3.11 makes frame objects for those who ask for them only, and ends them with their
// functions: two allocations a call, more than many an operation of a function of the package.
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000 &&                                 \
    __has_include(<internal/pycore_frame.h>)
#define GRAPHC_HAS_FRAMES 1
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

namespace graphc::py {

/// The frames of this thread's Python functions, from the one that runs on outwards. Needs the GIL;
/// codes are valid as long as their functions run.
class Frames {
public:
#if defined(GRAPHC_HAS_FRAMES)
  Frames() : frame(PyThreadState_Get()->cframe->current_frame) { skip(); }
  explicit operator bool() const { return frame != nullptr; }
  void next() {
    frame = frame->previous;
    skip();
  }
  PyCodeObject *code() const { return frame->f_code; }
  PyObject *globals() const { return frame->f_globals; }
  /// Of the instruction, in bytes; negative: a line.
  int offset() const {
    const int last = _PyInterpreterFrame_LASTI(frame);
    return last < 0 ? -1 : last * static_cast<int>(sizeof(_Py_CODEUNIT));
  }

private:
  /// Frames that are still being made.
  void skip() {
    while (frame && _PyFrame_IsIncomplete(frame))
      frame = frame->previous;
  }
  _PyInterpreterFrame *frame;
#else
  Frames() : frame(PyEval_GetFrame()) { Py_XINCREF(frame); }
  ~Frames() { Py_XDECREF(frame); }
  Frames(const Frames &) = delete;
  Frames &operator=(const Frames &) = delete;
  explicit operator bool() const { return frame != nullptr; }
  void next() {
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  PyCodeObject *code() const {
    PyCodeObject *code = PyFrame_GetCode(frame);
    Py_DECREF(code); // the frame keeps it
    return code;
  }
  /// Null before Python 3.11.
  PyObject *globals() const {
#if PY_VERSION_HEX >= 0x030b0000
    PyObject *globals = PyFrame_GetGlobals(frame);
    Py_DECREF(globals); // the frame keeps it
    return globals;
#else
    return nullptr;
#endif
  }
  /// Of the instruction, in bytes; negative: a line.
  int offset() const {
#if PY_VERSION_HEX >= 0x030b0000
    return PyFrame_GetLasti(frame);
#else
    return -PyFrame_GetLineNumber(frame);
#endif
  }

private:
  PyFrameObject *frame;
#endif
};

/// Whether code is the package's own.
bool isPackageCode(PyCodeObject *code);
/// Whether the user's code that runs, or who called it, would catch an IndexError: by a name of its
/// own or, in the same file and not `byName`, as any exception. False before Python 3.11.
bool catchesIndexErrors(bool byName);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_FRAMES_H
