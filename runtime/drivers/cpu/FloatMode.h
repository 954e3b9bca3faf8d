//===- FloatMode.h - The floating-point mode of kernels ---------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CPU_FLOATMODE_H
#define GRAPHC_RUNTIME_DRIVERS_CPU_FLOATMODE_H

#include "runtime/base/UnderflowFlag.h"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace graphc::rt::cpu {

/// Round to nearest, no flushing of denormals, no traps while alive; the caller's mode and flags
/// come back after, and what was met meanwhile is told to the thread's UnderflowFlag. Results must
/// not depend on what another library did to the calling thread.
class FloatMode {
public:
#if defined(__x86_64__)
  FloatMode() : saved(_mm_getcsr()) {
    if (saved != kDefault)
      _mm_setcsr(kDefault);
  }
  ~FloatMode() {
    tell();
    _mm_setcsr(saved);
  }

private:
  static constexpr unsigned kDefault = 0x1f80;
  unsigned saved;
#else
  FloatMode() {
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
  }
  ~FloatMode() {
    tell();
    fesetenv(&saved);
  }

private:
  fenv_t saved;
#endif
  static void tell() {
    if (UnderflowFlag *flag = UnderflowFlag::ofThread())
      flag->gather();
  }
  FloatMode(const FloatMode &) = delete;
  FloatMode &operator=(const FloatMode &) = delete;
};

} // namespace graphc::rt::cpu

#endif // GRAPHC_RUNTIME_DRIVERS_CPU_FLOATMODE_H
