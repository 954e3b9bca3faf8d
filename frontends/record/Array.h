//===- Array.h - Arrays: views of versioned storages ------------------------------------------===//
//
// An Array is a view of a Storage. Writing through any view gives the storage a new version; every
// view reads the newest version at the time it is read, so results follow NumPy's order of reads
// and writes although nothing is computed yet.
//
// Threads: recording from several threads is safe; two threads that write one storage leave one of
// the two versions.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_ARRAY_H
#define GRAPHC_FRONTENDS_RECORD_ARRAY_H

#include "frontends/record/View.h"
#include "runtime/base/SpinLock.h"

#include <atomic>
#include <memory>

namespace graphc {

class Array;
class OpenValue;

/// The memory of a storage, dense and row-major, for as long as `borrower` lives (Lend.h).
struct Loan {
  rt::BufferRef memory;
  std::shared_ptr<void> borrower;
};

/// What arrays that alias each other share: a type, a device and the newest version. Made inside a
/// trace it belongs to that trace.
class Storage {
public:
  explicit Storage(NodeRef first);
  /// Of a value made outside traces, whatever trace is active now.
  Storage(NodeRef first, uint64_t trace);
  const Shape &shape() const { return storageShape; }
  DType dtype() const { return storageDType; }
  rt::Device &device() const { return *storageDevice; }
  uint64_t traceId() const { return trace; } ///< 0: made outside traces
  /// Of 0-d storages: a single result, which NumPy has a scalar for. Constructors and copies of
  /// arrays make arrays.
  bool isValue() const { return single.load(std::memory_order_relaxed); }
  void becomeArray() { single.store(false, std::memory_order_relaxed); }
  /// Whether it ever had a second version.
  bool wasWritten() const { return written.load(std::memory_order_acquire); }

  NodeRef current() const;
  /// Calls `f` with the newest version, which stays as it is until `f` returns.
  template <typename F>
  auto withCurrent(F f) const;
  /// The newest version and its number, which counts writes.
  std::pair<NodeRef, uint64_t> versioned() const;
  void replace(NodeRef next);
  /// Whether the newest version is computed and nobody but this storage can see its memory, or
  /// whoever can sees what is written.
  bool exclusive() const;
  /// Changes the memory of an exclusive version: the next version, without a copy. False, and
  /// nothing done, when it is not exclusive.
  template <typename Change>
  bool update(Change change);
  /// Of a storage without other owners: makes it as good as new, with its node and memory, for
  /// other values of its shape. False where somebody may see either, and for what is not worth it.
  bool renew();
  /// How many element writes found the storage not exclusive, this one included.
  uint32_t countElementWrite() { return ++elementWrites; }
  /// How many element reads found the newest version pending, this one included.
  uint32_t countElementRead() { return ++elementReads; }

  /// Whether the memory is someone else's, who may write to it (Node::makeShared).
  bool isShared() const;
  /// Writes a computed value to that memory.
  void overwrite(const Node &value);
  /// Lends memory that holds this version. What is lent instead where somebody has a loan already;
  /// a null loan, and nothing done, where there is a newer version.
  Loan lendTo(const Loan &loan, uint64_t version);
  /// The memory that is lent, or a null one.
  Loan loan() const;
  bool isLent() const { return loan().memory != nullptr; }
  /// Brings the value of this version to the memory that is lent; one that is not computed never
  /// will be, and what is lent is the newest version again. False where there is a newer one.
  bool repay(const Node &value, uint64_t version);

  /// The array that was made with this storage, while it lives where it can be found; or null.
  const Array *owner() const { return firstArray.load(std::memory_order_relaxed); }
  /// What a front end keeps about the owner; null again when the owner ends.
  void *ownerObject() const { return object.load(std::memory_order_relaxed); }
  void setOwnerObject(void *o) { object.store(o, std::memory_order_relaxed); }

private:
  friend class Array;
  bool isExclusive() const;
  /// Takes over what a borrower wrote, under the lock.
  void follow() const {
    if (lent && !isOwed && node->state() == NodeState::Ready)
      readLent();
  }
  void readLent() const;
  void takeLent() const;

  Shape storageShape;
  DType storageDType;
  rt::Device *storageDevice;
  uint64_t trace;
  std::atomic<bool> single;
  std::atomic<bool> written{false};
  std::atomic<const Array *> firstArray{nullptr};
  std::atomic<void *> object{nullptr};
  mutable SpinLock lock;
  mutable NodeRef node;
  mutable uint64_t version = 0;
  mutable rt::BufferRef lent; ///< null: to nobody
  std::weak_ptr<void> borrower;
  bool isOwed = false; ///< the newest version is not yet in the memory that is lent
  uint32_t elementWrites = 0;
  uint32_t elementReads = 0;
};

template <typename F>
auto Storage::withCurrent(F f) const {
  std::lock_guard held(lock);
  follow();
  return f(*node);
}

template <typename Change>
bool Storage::update(Change change) {
  std::lock_guard held(lock);
  if (!isExclusive())
    return false;
  change(*node->buffer());
  node->finite.store(Node::Finite::Unknown, std::memory_order_relaxed);
  ++version;
  written.store(true, std::memory_order_release);
  return true;
}

/// A single value that the host has, as a literal pattern (OpTable.h).
struct KnownValue {
  uint64_t bits = 0;
  DType dtype = DType::Bool;
  rt::Device *device = nullptr;
};

class Array {
public:
  Array() = default;
  ~Array() {
    if (store)
      end();
  }
  Array(const Array &other);
  Array &operator=(const Array &other);
  /// Moving takes ownership of the storage along (Storage::owner), copying does not.
  Array(Array &&other) noexcept;
  Array &operator=(Array &&other) noexcept;
  /// A new storage whose first version is `node`; the array shows all of it.
  explicit Array(NodeRef node);
  /// The same of a trace (Storage::traceId()).
  Array(NodeRef node, uint64_t trace);
  /// A 0-d array made outside traces. Loops over elements make and drop one for every value they
  /// look at: it gets a storage only when somebody asks for that.
  explicit Array(const KnownValue &known);
  /// Another view of the storage of `other`.
  Array(const Array &other, View &&view);
  /// Of an open first size (OpenSize.h).
  explicit Array(std::shared_ptr<OpenValue> value);
  /// All of a storage.
  static Array ofStorage(std::shared_ptr<Storage> storage);
  /// Another view of the same storage.
  Array withView(View view) const { return Array(*this, std::move(view)); }

  bool isNull() const { return !literal.device; }
  /// The value of an array that has no storage yet, or of a single result that was noted and that
  /// nobody wrote to; else null.
  const KnownValue *known() const {
    return !hasStorage() || (noted.load(std::memory_order_acquire) && !store->wasWritten())
               ? &literal
               : nullptr;
  }
  bool hasStorage() const { return !single.load(std::memory_order_acquire); }
  /// Makes the value of a single result known once it is computed in host memory, so that a loop
  /// that reads it again and again finds it. For one thread at a time: the language binding's lock.
  void noteValue();
  /// A single result: NumPy has a scalar here, which an update leaves alone
  /// (`s = t = x.sum(); s += 1`) and which has no views.
  bool isValue() const { return known() || (rank() == 0 && (isOpen() || storage()->isValue())); }
  /// Set while the first size of the array, or of what it is made of, is open: its shape has the
  /// bound there, and it has no storage. Only what takes such arrays by its own words (OpenSize.h)
  /// may be given one.
  const std::shared_ptr<OpenValue> &open() const { return openValue; }
  bool isOpen() const { return openValue != nullptr; }
  /// Looks at the size of an array that is open; errors of OpenRecipe::exact().
  Status fixSize();
  /// Another value for an array that has no storage yet.
  void become(const KnownValue &known) { literal = known; }
  /// What the storage's setOwnerObject is to be given when the storage is made.
  void setObject(void *o) { object = o; }
  const Shape &shape() const { return arrayView.shape(); }
  int64_t rank() const { return shape().rank(); }
  int64_t size() const;
  DType dtype() const { return literal.dtype; }
  rt::Device &device() const { return *literal.device; }
  const View &view() const { return arrayView; }
  /// Makes this array read-only, and views taken of it later.
  void lock() { arrayView.lock(); }
  const std::shared_ptr<Storage> &storage() const {
    if (!hasStorage())
      makeStorage();
    return store;
  }
  bool sharesStorage(const Array &other) const { return storage() == other.storage(); }
  /// Whether the ranges of elements touched overlap (numpy.may_share_memory).
  bool mayShareMemory(const Array &other) const;

  /// The node of the newest value. Inside a trace, an array made outside becomes a captured input.
  Result<NodeRef> value() const;
  /// What is computed for the value: of a reshape what it is a view of, whose memory it shares.
  Result<NodeRef> needed() const;
  /// The value of a view that is a reshape, of the ready node of the storage: in its memory.
  NodeRef reshaped(const NodeRef &whole) const;
  /// Replaces what the view shows; `value` has the view's shape and dtype. InvalidArgument for
  /// read-only views.
  Status assign(const NodeRef &value);
  /// Becomes what a basic index shows of `other`, in the memory of an earlier view, of an array
  /// that let it go.
  Status show(const Array &other, std::span<const IndexItem> items);
  /// The same of `other` with its axes in another order.
  void showTurned(const Array &other, std::span<const int64_t> permutation);
  void letGo();
  /// Of an array that ended: makes it as good as new, with the memory it has alone
  /// (Storage::renew). False where it does not show all of that memory, or somebody else may see
  /// it.
  bool renew();
  /// Keeps a computed value of this view for the next value() of the same version.
  void remember(const NodeRef &ready, uint64_t version);

private:
  /// Of what the view shows already.
  void showStorage(const Array &other);
  void makeStorage() const;
  void end() noexcept;
  /// Nobody else knows an array that is moved: an exchange would cost as much as the move.
  bool giveSingle() noexcept {
    bool was = single.load(std::memory_order_relaxed);
    single.store(false, std::memory_order_relaxed);
    return was;
  }
  void own() const { store->firstArray.store(this, std::memory_order_relaxed); }
  void disown() {
    if (store && store->owner() == this) {
      store->firstArray.store(nullptr, std::memory_order_relaxed);
      store->setOwnerObject(nullptr);
    }
  }
  mutable std::shared_ptr<Storage> store;
  std::shared_ptr<OpenValue> openValue;
  View arrayView;
  NodeRef remembered;
  uint64_t rememberedVersion = 0;
  KnownValue literal; ///< dtype and device of every array; the bits of one that is known()
  void *object = nullptr;
  mutable SpinLock making;
  mutable std::atomic<bool> single{false}; ///< has no storage yet
  std::atomic<bool> noted{false}; ///< `literal` has the bits of the storage's first version
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_ARRAY_H
