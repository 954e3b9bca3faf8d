//===- Asking.h - Whose Python code asks ------------------------------------------------------===//
//
// NumPy's arrays are what other packages were written for. Where no answer of an array suits both
// their code and a program's own, it depends on whose code runs. None of this is asked on the way
// of an operation.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_ASKING_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_ASKING_H

#include "runtime/base/DType.h"

#include <Python.h>

#include <string_view>

namespace graphc::py {

/// The module of the Python code that runs; valid while it does.
struct Asker {
  std::string_view module;

  static Asker now();
  /// Code of a package's modules.
  bool isOf(std::string_view package) const;
  /// Code of NumPy's masked arrays, which are views of the array that they are made of.
  bool isMasked() const { return module.starts_with("numpy.ma"); }
  /// Code that takes memory of its own: pandas' series hold what they are given, and write to it;
  /// SciPy's compiled code takes no memory that it may not write to. Not what writes to arrays that
  /// a program gave it to be written to (SciPy's sparse arrays, `output=` of its images).
  bool takesCopies() const;
  /// Code that names `memoryview`, whose views are of the array's own memory, or is NumPy's
  /// `as_strided` and its like. NumPy, called by other code, asks for its values by the same call.
  bool makesViews() const;
  /// Code of a program that has graphc in NumPy's place: of a module that has graphc by some name,
  /// or its class of arrays, which is `array`, or is neither Python's nor installed; and not of one
  /// that has NumPy.
  bool isOfProgram(PyObject *array) const;
  /// Code of other packages, not SciPy's, that has an array of ours, whose class is `cls`, in a
  /// variable and names neither NumPy nor graphc: a table of types (`boxes[type(value)]`), which
  /// was filled elsewhere, says there what an array is.
  bool looksUp(PyObject *cls) const;
  /// Code that names NumPy's scalar type of a dtype, or has `type`, which it is, in a variable:
  /// `float64(x)` is no single number where x is an array, but an array of that dtype, which that
  /// code may go on to write to.
  bool namesNumber(DType t, PyObject *type) const;
  /// Code that names functions made by f2py, or their module. These overwrite what is no array of
  /// NumPy's, and copy only that.
  bool callsFortran() const;
  /// Code of other packages, which hands memory to compiled code that may want to write to it.
  bool isInstalled() const;
  /// Code that tells masks, columns, grouping keys, grids and colours from labels and numbers, or
  /// arrays to compare from objects, by
  /// isinstance(x, numpy.ndarray), and makes arrays of NumPy's of them; but not what keeps its
  /// arguments, or hands them to compiled code, if they are that, as other packages do (h5py) and
  /// other modules of SciPy.
  bool meansAnyArray() const;
};

/// Whether the running function is the `__array__` of a class of a program, called for code that
/// has NumPy and not graphc: NumPy, which that code asked, takes no arrays but its own from it.
/// Nearly free in any other function.
bool isAskedByNumpy();

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_ASKING_H
