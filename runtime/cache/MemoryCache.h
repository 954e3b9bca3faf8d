//===- MemoryCache.h - Recently used values by digest -----------------------------------------===//
#ifndef GRAPHC_RUNTIME_CACHE_MEMORYCACHE_H
#define GRAPHC_RUNTIME_CACHE_MEMORYCACHE_H

#include "runtime/base/Digest.h"
#include "runtime/base/Fork.h"

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace graphc::rt {

/// Up to `capacity` shared values, the least recently used of which makes room. Safe from any
/// thread. Values are released outside the lock.
template <typename Value>
class MemoryCache {
public:
  explicit MemoryCache(size_t capacity) : capacity(capacity) {}

  /// The value, or null.
  std::shared_ptr<Value> find(const Digest &key) {
    std::lock_guard lock(mutex);
    auto at = index.find(key);
    if (at == index.end())
      return nullptr;
    entries.splice(entries.begin(), entries, at->second);
    return at->second->value;
  }

  /// Adds or replaces.
  void insert(const Digest &key, std::shared_ptr<Value> value) {
    std::list<Entry> dropped;
    std::lock_guard lock(mutex);
    if (auto at = index.find(key); at != index.end()) {
      std::swap(at->second->value, value);
      dropped.push_back({key, std::move(value)});
      return;
    }
    entries.push_front({key, std::move(value)});
    index.emplace(key, entries.begin());
    if (entries.size() > capacity) {
      index.erase(entries.back().key);
      dropped.splice(dropped.begin(), entries, std::prev(entries.end()));
    }
  }

  size_t size() const {
    std::lock_guard lock(mutex);
    return entries.size();
  }

  void clear() {
    std::list<Entry> dropped;
    std::lock_guard lock(mutex);
    index.clear();
    dropped.swap(entries);
  }

private:
  struct Entry {
    Digest key;
    std::shared_ptr<Value> value;
  };
  size_t capacity;
  mutable ForkSafeMutex mutex;
  std::list<Entry> entries; ///< most recent first
  std::unordered_map<Digest, typename std::list<Entry>::iterator> index;
};

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_CACHE_MEMORYCACHE_H
