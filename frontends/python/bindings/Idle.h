//===- Idle.h - Objects that ended, for the next --------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_IDLE_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_IDLE_H

#include <array>
#include <cstddef>

namespace graphc::py {

/// A loop makes an object for every value it looks at and every operation: those that ended serve
/// again. Guarded by the GIL.
template <typename T, size_t Most>
class Idle {
public:
  /// Null when there is none.
  T *take() { return count ? kept[--count] : nullptr; }
  /// False when there is no place left, and the caller keeps it.
  bool keep(T *ended) {
    if (count == Most)
      return false;
    kept[count++] = ended;
    return true;
  }

private:
  std::array<T *, Most> kept;
  size_t count = 0;
};

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_IDLE_H
