//===- Lapack.h - A LAPACK found at run time --------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_LAPACK_H
#define GRAPHC_RUNTIME_LIBRARY_LAPACK_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>

namespace graphc::rt::library {

/// The functions of LAPACK that are used, for float32 ([0]), float64, complex64 and complex128.
/// Orgqr and Syevd of complex numbers are LAPACK's ungqr and heevd. All arguments are pointers,
/// integers of 32 or 64 bits; a character argument has its length, 1, at the end.
struct Lapack {
  enum Function { Potrf, Geqrf, Orgqr, Gesv, Getrf, Syevd, Geev, Gesdd, Gelsd, Count };
  static constexpr int kTypes = 4;
  void *functions[Count][kTypes] = {};
  bool wideIntegers = false;     ///< 64 bits
  std::string path;              ///< of the library, or the name it was opened by
  int (*getThreads)() = nullptr; ///< null: not OpenBLAS
  void (*setThreads)(int) = nullptr;

  /// The LAPACK of this process: the library named by GRAPHC_LAPACK; else an OpenBLAS that is
  /// loaded already (NumPy's or SciPy's own); else the system's. Found once; Unsupported, naming
  /// all that was tried, when there is none.
  static Result<const Lapack *> find();
};

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_LAPACK_H
