//===- Recycle.h - Small arrays that ended, for those that begin ------------------------------===//
//
// A loop over small arrays makes an array for every operation, and as many end. What one consists
// of (a storage, a node, memory) is kept for the next of the same shape and dtype, which costs a
// fraction of making them. Each thread has its own; they take little memory together.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_RECYCLE_H
#define GRAPHC_FRONTENDS_RECORD_RECYCLE_H

#include "frontends/record/Array.h"

namespace graphc::recycle {

/// Larger arrays are not kept.
inline constexpr int64_t kMostBytes = 128 << 10;

/// Where arrays of a dtype and shape are kept, among kPlaces; few places are of larger ones, so
/// that what is kept takes little memory.
inline constexpr int kSmallBits = 6, kLargeBits = 3;
inline constexpr size_t kSmallPlaces = 1 << kSmallBits, kPlaces = kSmallPlaces + (1 << kLargeBits);
inline size_t placeOf(DType t, const Shape &shape) {
  constexpr int64_t kMostOfSmall = 16 << 10;
  auto hash = static_cast<uint64_t>(t);
  int64_t bytes = itemSize(t);
  for (int64_t size : shape) {
    hash = hash * 31 + static_cast<uint64_t>(size);
    bytes *= size;
  }
  hash *= 0x9e3779b97f4a7c15u;
  return bytes <= kMostOfSmall ? hash >> (64 - kSmallBits)
                               : kSmallPlaces + (hash >> (64 - kLargeBits));
}

/// The node of an array that ended, with memory of any contents; null where none is kept. The
/// caller is the only owner but for storageOf().
NodeRef take(DType t, const Shape &shape, const rt::Device &device);
/// Keeps the node of a single result whose value was read, for take().
void keepSingle(NodeRef node);
/// The storage of the node that was taken last, if that is `node`; else null.
std::shared_ptr<Storage> storageOf(const NodeRef &node);
/// The node that was taken last will be no array: others may look whether they own it alone.
void release();
/// Takes what nobody else holds; anything else goes its way.
void keep(std::shared_ptr<Storage> storage);

/// Memory that a loop needs while it runs. A thread keeps a few pieces of up to 4 MiB, which the
/// system would take and give again page by page.
struct Scratch {
  struct Kept {
    size_t bytes = 0;
    void operator()(void *memory) const;
  };
  /// Of any contents, aligned for any vector.
  static std::unique_ptr<void, Kept> take(size_t bytes);
};

} // namespace graphc::recycle

#endif // GRAPHC_FRONTENDS_RECORD_RECYCLE_H
