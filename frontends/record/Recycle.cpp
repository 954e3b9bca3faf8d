#include "frontends/record/Recycle.h"

#include "runtime/drivers/Choice.h"

#include <algorithm>
#include <array>
#include <utility>

namespace graphc::recycle {
namespace {

using Kept = std::shared_ptr<Storage>;

/// Storages of a few shapes that share a place, latest last.
struct Place {
  static constexpr size_t kMost = 4;
  std::array<Kept, kMost> list;
  size_t count = 0;

  void add(Kept storage) {
    if (count == kMost) { // the one that was not wanted for longest goes
      std::move(list.begin() + 1, list.end(), list.begin());
      --count;
    }
    list[count++] = std::move(storage);
  }
  Kept take(DType t, const Shape &shape, const rt::Device &device) {
    for (size_t i = count; i-- > 0;) {
      const Storage &kept = *list[i];
      if (kept.dtype() != t || &kept.device() != &device || !(kept.shape() == shape))
        continue;
      Kept found = std::move(list[i]);
      std::move(list.begin() + static_cast<ptrdiff_t>(i) + 1,
                list.begin() + static_cast<ptrdiff_t>(count),
                list.begin() + static_cast<ptrdiff_t>(i));
      --count;
      return found;
    }
    return nullptr;
  }
};

constexpr std::align_val_t kAligned{64};

/// Pieces of memory that nobody uses; the one that was given back first goes.
struct Pieces {
  static constexpr size_t kMost = 4, kMostPiece = 4 << 20;
  std::array<std::pair<void *, size_t>, kMost> list{};
  size_t next = 0;

  ~Pieces() {
    for (auto [memory, bytes] : list)
      ::operator delete(memory, kAligned);
  }
  void *take(size_t &bytes) {
    for (auto &[memory, size] : list)
      if (memory && size >= bytes && size <= 2 * bytes) {
        bytes = size;
        return std::exchange(memory, nullptr);
      }
    return ::operator new(bytes, kAligned);
  }
  void give(void *memory, size_t bytes) {
    if (bytes <= kMostPiece) {
      auto free = std::ranges::find(list, nullptr, &std::pair<void *, size_t>::first);
      auto &[other, size] = free != list.end() ? *free : list[next++ % kMost];
      std::swap(memory, other);
      size = bytes;
    }
    ::operator delete(memory, kAligned);
  }
};

struct Shelf {
  std::array<Place, kPlaces> places;
  std::array<NodeRef, kDTypeCount> singles;
  Pieces pieces;
  Kept taken; ///< what take() gave the node of
};

/// Plain words: threads reach them without a look at constructors. A thread that ends has none.
thread_local Shelf *shelf = nullptr;
thread_local bool isOver = false;
struct Ender {
  ~Ender() {
    isOver = true;
    delete std::exchange(shelf, nullptr);
  }
};

Shelf *open() {
  if (!shelf && !isOver) {
    thread_local Ender ender;
    static_cast<void>(&ender);
    shelf = new Shelf;
  }
  return shelf;
}

} // namespace

NodeRef take(DType t, const Shape &shape, const rt::Device &device) {
  if (!shelf)
    return nullptr;
  if (shape.rank() == 0) {
    NodeRef &single = shelf->singles[static_cast<size_t>(t)];
    return single && &single->device() == &device ? std::exchange(single, nullptr) : nullptr;
  }
  release();
  Kept found = shelf->places[placeOf(t, shape)].take(t, shape, device);
  if (!found)
    return nullptr;
  shelf->taken = std::move(found);
  return shelf->taken->current();
}

void keepSingle(NodeRef node) {
  if (node->references() != 1 || node->isOp() || node->buffer().use_count() != 1 ||
      !rt::isAlone(*node->buffer()))
    return;
  node->finite.store(Node::Finite::Unknown, std::memory_order_relaxed);
  const auto place = static_cast<size_t>(node->dtype());
  if (Shelf *all = open())
    all->singles[place] = std::move(node);
}

std::shared_ptr<Storage> storageOf(const NodeRef &node) {
  if (!shelf || !shelf->taken)
    return nullptr;
  bool isTaken = shelf->taken->withCurrent([&](const Node &own) { return &own == node.get(); });
  return isTaken ? std::move(shelf->taken) : nullptr;
}

void release() {
  if (shelf && shelf->taken)
    keep(std::move(shelf->taken));
}

void keep(std::shared_ptr<Storage> storage) {
  Shelf *all = storage->renew() ? open() : nullptr;
  if (!all)
    return;
  Place &place = all->places[placeOf(storage->dtype(), storage->shape())];
  place.add(std::move(storage));
}

std::unique_ptr<void, Scratch::Kept> Scratch::take(size_t bytes) {
  Shelf *all = open();
  void *memory = all ? all->pieces.take(bytes) : ::operator new(bytes, kAligned);
  return {memory, Kept{bytes}};
}

void Scratch::Kept::operator()(void *memory) const {
  if (Shelf *all = open())
    all->pieces.give(memory, bytes);
  else
    ::operator delete(memory, kAligned);
}

} // namespace graphc::recycle
