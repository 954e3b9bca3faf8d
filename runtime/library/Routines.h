//===- Routines.h - The routines by name; calls are checked -----------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_ROUTINES_H
#define GRAPHC_RUNTIME_LIBRARY_ROUTINES_H

#include "runtime/library/Library.h"

namespace graphc::rt::library {

/// Each takes a call that checkRoutine accepts.
Status sort(const Call &call);
Status argsort(const Call &call);
Status lexsort(const Call &call);
Status searchsorted(const Call &call);
Status partition(const Call &call);
Status argpartition(const Call &call);
Status nonzero(const Call &call);
Status compress(const Call &call);
Status nonzeroFilled(const Call &call);
Status compressFilled(const Call &call);
Status correlate(const Call &call);
/// By LAPACK: Unsupported without one, LinAlg for a singular matrix or no convergence.
Status cholesky(const Call &call);
Status qr(const Call &call);
Status solve(const Call &call);
Status inv(const Call &call);
Status det(const Call &call);
Status slogdet(const Call &call);
Status eigh(const Call &call);
Status eig(const Call &call);
Status svd(const Call &call);
Status lstsq(const Call &call);

/// The stable order of a row of complex elements, on the threads of the cpu device if `several`.
Status orderComplex(const void *elements, DType dtype, int64_t count, bool several, int64_t *out);

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_ROUTINES_H
