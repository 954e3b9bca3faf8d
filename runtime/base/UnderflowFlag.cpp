#include "runtime/base/UnderflowFlag.h"

#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace graphc {

static thread_local UnderflowFlag *current = nullptr;

#if defined(__x86_64__)
static bool read() { return (_mm_getcsr() & _MM_EXCEPT_UNDERFLOW) != 0; }
static void write(bool value) {
  unsigned others = _mm_getcsr() & ~static_cast<unsigned>(_MM_EXCEPT_UNDERFLOW);
  _mm_setcsr(others | (value ? _MM_EXCEPT_UNDERFLOW : 0U));
}
#else
static bool read() { return fetestexcept(FE_UNDERFLOW) != 0; }
static void write(bool value) {
  feclearexcept(FE_UNDERFLOW);
  if (value)
    feraiseexcept(FE_UNDERFLOW);
}
#endif

UnderflowFlag::UnderflowFlag(bool listens) : listens(listens) {
  if (!listens)
    return;
  was = read();
  write(false);
  outer = std::exchange(current, this);
}

UnderflowFlag::~UnderflowFlag() {
  if (!listens)
    return;
  current = outer;
  if (was)
    write(true);
}

bool UnderflowFlag::isSet() {
  if (listens)
    gather();
  return heard.load(std::memory_order_relaxed);
}

UnderflowFlag *UnderflowFlag::ofThread() { return current; }

void UnderflowFlag::gather() {
  if (read())
    heard.store(true, std::memory_order_relaxed);
}

void UnderflowFlag::clear() { write(false); }

} // namespace graphc
