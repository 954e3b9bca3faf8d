//===- Library.cpp - Routines on host memory --------------------------------------------------===//
#include "runtime/library/Library.h"

#include "runtime/base/Trace.h"
#include "runtime/drivers/cpu/FloatMode.h"
#include "runtime/library/Routines.h"

#include <vector>

namespace graphc::rt::library {
namespace {

constexpr Status (*kRoutines[kRoutineCount])(const Call &) = {
    sort,      argsort,   lexsort,      searchsorted,  cholesky,
    qr,        solve,     inv,          det,           slogdet,
    eigh,      eig,       svd,          lstsq,         nonzero,
    compress,  partition, argpartition, nonzeroFilled, compressFilled,
    correlate,
};

} // namespace

Status run(Routine routine, const Call &call) {
  TraceSpan span("exec", routineName(routine));
  std::vector<RoutineTensor> operands;
  for (const Operand &o : call.operands)
    operands.push_back({o.dtype, o.shape});
  GRAPHC_TRY(checkRoutine(routine, operands, {call.result.dtype, call.result.shape}, call.params));
  cpu::FloatMode mode;
  return kRoutines[static_cast<size_t>(routine)](call);
}

} // namespace graphc::rt::library
