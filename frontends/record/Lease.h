//===- Lease.h - Working memory that each thread keeps ----------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_LEASE_H
#define GRAPHC_FRONTENDS_RECORD_LEASE_H

#include <memory>
#include <utility>

namespace graphc {

/// A `T` for the time of one call, cleared at its end and kept by the thread, so that a warm call
/// allocates little. Clearing may release values, which may run code of the language binding, which
/// may call again: that one gets another.
template <typename T>
class Lease {
public:
  Lease() : held(std::move(idle)) {
    if (!held)
      held = std::make_unique<T>();
  }
  ~Lease() {
    held->clear();
    idle = std::move(held);
  }
  Lease(const Lease &) = delete;
  Lease &operator=(const Lease &) = delete;
  T &operator*() { return *held; }

private:
  static thread_local std::unique_ptr<T> idle;
  std::unique_ptr<T> held;
};
template <typename T>
thread_local std::unique_ptr<T> Lease<T>::idle;

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_LEASE_H
