#include "frontends/record/Array.h"

#include "frontends/record/Known.h"
#include "frontends/record/Lend.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/Trace.h"
#include "runtime/drivers/Choice.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace graphc {

Storage::Storage(NodeRef first)
    : Storage(std::move(first), Trace::active() ? Trace::active()->id() : 0) {}

Storage::Storage(NodeRef first, uint64_t trace)
    : storageShape(first->shape()), storageDType(first->dtype()), storageDevice(&first->device()),
      trace(trace), single(first->shape().rank() == 0 && first->state() != NodeState::Placeholder),
      node(std::move(first)) {}

NodeRef Storage::current() const {
  std::lock_guard held(lock);
  follow();
  return node;
}

std::pair<NodeRef, uint64_t> Storage::versioned() const {
  std::lock_guard held(lock);
  follow();
  return {node, version};
}

void Storage::replace(NodeRef next) {
  // The old version may be the end of a long graph: it is dropped after the lock.
  std::lock_guard held(lock);
  std::swap(node, next);
  ++version;
  isOwed = lent != nullptr;
  written.store(true, std::memory_order_release);
}

bool Storage::exclusive() const {
  std::lock_guard held(lock);
  return isExclusive();
}

Loan Storage::lendTo(const Loan &loan, uint64_t held) {
  std::lock_guard guard(lock);
  if (auto known = borrower.lock(); known && lent)
    return {lent, std::move(known)};
  if (version != held || lent)
    return {};
  lent = loan.memory;
  borrower = loan.borrower;
  written.store(true, std::memory_order_release); // the borrower may, at any time
  return loan;
}

Loan Storage::loan() const {
  std::lock_guard held(lock);
  follow();
  return {lent, borrower.lock()};
}

bool Storage::repay(const Node &value, uint64_t paid) {
  std::lock_guard held(lock);
  if (version != paid || !lent)
    return !lent;
  if (value.state() == NodeState::Ready)
    std::memcpy(lent->host(), value.buffer()->host(), static_cast<size_t>(value.bytes()));
  isOwed = false;
  if (value.state() != NodeState::Ready)
    takeLent(); // it cannot be computed: nothing was written
  return true;
}

/// The node of bytes that somebody wrote.
static NodeRef ownNode(const op::TensorType &type, rt::Device &device, rt::BufferRef buffer) {
  if (type.dtype == DType::Bool) { // any byte but zero is true
    auto *bytes = static_cast<char *>(buffer->host());
    std::transform(bytes, bytes + byteCount(type.shape, type.dtype).value_or(0), bytes,
                   [](char b) { return static_cast<char>(b != 0); });
  }
  return Node::makeReady(type, device, std::move(buffer));
}

void Storage::readLent() const {
  if (borrower.expired()) {
    node = ownNode({storageDType, storageShape}, *storageDevice, std::move(lent));
    lent = nullptr;
    ++version;
    return;
  }
  auto bytes = static_cast<size_t>(node->bytes());
  if (bytes > 0 && std::memcmp(node->buffer()->host(), lent->host(), bytes) != 0)
    takeLent();
}

void Storage::takeLent() const {
  const op::TensorType type{storageDType, storageShape};
  node =
      ownNode(type, *storageDevice,
              copied(lent->host(), byteCount(type.shape, type.dtype).value_or(0), *storageDevice));
  ++version;
}

bool Storage::isExclusive() const {
  if (lent)
    return false;
  return node->state() == NodeState::Ready && node->references() == 1 &&
         node->buffer().use_count() == 1 && rt::isAlone(*node->buffer()) &&
         (node->buffer()->isPrivate() || node->readsShared());
}

bool Storage::isShared() const {
  std::lock_guard held(lock);
  return node->state() == NodeState::Ready && node->readsShared();
}

void Storage::overwrite(const Node &value) {
  std::lock_guard held(lock);
  std::memmove(node->buffer()->host(), value.buffer()->host(), static_cast<size_t>(value.bytes()));
  ++version;
  written.store(true, std::memory_order_release);
}

bool Storage::renew() {
  std::lock_guard held(lock);
  if (trace || lent || !borrower.expired() || storageShape.rank() == 0 || node->isOp() ||
      node->readsShared() || node->bytes() > recycle::kMostBytes || !isExclusive() ||
      !node->buffer()->host())
    return false;
  node->finite.store(Node::Finite::Unknown, std::memory_order_relaxed);
  firstArray.store(nullptr, std::memory_order_relaxed);
  object.store(nullptr, std::memory_order_relaxed);
  single.store(false, std::memory_order_relaxed);
  written.store(false, std::memory_order_relaxed);
  version = 0;
  elementWrites = elementReads = 0;
  return true;
}

/// A new one, or that of an array that ended, which the node was taken from.
static std::shared_ptr<Storage> storageFor(NodeRef node, uint64_t trace) {
  if (auto kept = trace ? nullptr : recycle::storageOf(node))
    return kept;
  return std::make_shared<Storage>(apart(std::move(node)), trace);
}

Array::Array(NodeRef node) : Array(std::move(node), Trace::active() ? Trace::active()->id() : 0) {}

Array::Array(NodeRef node, uint64_t trace)
    : store(storageFor(std::move(node), trace)), arrayView(store->shape()),
      literal{0, store->dtype(), &store->device()} {
  own();
}

void Array::end() noexcept {
  disown();
  if (store.use_count() == 1)
    recycle::keep(std::move(store));
}

Array::Array(std::shared_ptr<OpenValue> value)
    : openValue(std::move(value)), arrayView(openValue->filled()->shape()),
      literal{0, openValue->filled()->dtype(), &openValue->filled()->device()} {
  if (openValue->filled()->readsShared()) // what fails now does so again when somebody asks
    static_cast<void>(fixSize());
}

Status Array::fixSize() {
  if (!openValue)
    return Status::ok();
  uint64_t trace = openValue->recipe()->traceId();
  GRAPHC_ASSIGN(NodeRef node, openValue->exact());
  *this = Array(std::move(node), trace);
  return Status::ok();
}

Array::Array(const KnownValue &known) : literal(known), single(true) {}

Array::Array(const Array &other)
    : store(other.storage()), openValue(other.openValue), arrayView(other.arrayView),
      remembered(other.remembered), rememberedVersion(other.rememberedVersion),
      literal(other.literal) {}

Array &Array::operator=(const Array &other) {
  if (this != &other) {
    Array copied(other);
    *this = std::move(copied);
  }
  return *this;
}

Array::Array(Array &&other) noexcept
    : store(std::move(other.store)), openValue(std::move(other.openValue)),
      arrayView(std::move(other.arrayView)), remembered(std::move(other.remembered)),
      rememberedVersion(other.rememberedVersion), literal(std::exchange(other.literal, {})),
      single(other.giveSingle()), noted(other.noted.load(std::memory_order_relaxed)) {
  if (store && store->owner() == &other)
    own();
}

Array &Array::operator=(Array &&other) noexcept {
  if (this == &other)
    return *this;
  // A new view of the same storage keeps what this array owns.
  bool owns = store && store == other.store && store->owner() == this;
  if (!owns)
    disown();
  owns = owns || (other.store && other.store->owner() == &other);
  store = std::move(other.store);
  openValue = std::move(other.openValue);
  arrayView = std::move(other.arrayView);
  remembered = std::move(other.remembered);
  rememberedVersion = other.rememberedVersion;
  literal = std::exchange(other.literal, {});
  single.store(other.giveSingle(), std::memory_order_release);
  noted.store(other.noted.load(std::memory_order_relaxed), std::memory_order_release);
  other.noted.store(false, std::memory_order_relaxed);
  if (owns)
    own();
  return *this;
}

void Array::makeStorage() const {
  std::lock_guard held(making);
  if (!single.load(std::memory_order_relaxed))
    return;
  NodeRef node = Node::makeKnown(literal.bits, literal.dtype, *literal.device);
  store = std::make_shared<Storage>(std::move(node), 0);
  own();
  store->setOwnerObject(object);
  single.store(false, std::memory_order_release);
}

void Array::noteValue() {
  if (!store || noted.load(std::memory_order_relaxed) || openValue || rank() != 0 ||
      !arrayView.isWhole() || !store->isValue() || store->traceId() || store->wasWritten())
    return;
  auto bits = store->withCurrent([](const Node &value) {
    return value.state() == NodeState::Ready || value.isKnown() ? knownBits(value) : std::nullopt;
  });
  if (!bits)
    return;
  literal.bits = *bits;
  noted.store(true, std::memory_order_release);
}

Array Array::ofStorage(std::shared_ptr<Storage> storage) {
  Array out;
  out.arrayView = View(storage->shape());
  out.literal = {0, storage->dtype(), &storage->device()};
  out.store = std::move(storage);
  return out;
}

Array::Array(const Array &other, View &&view)
    : store(other.storage()), arrayView(std::move(view)), literal(other.literal) {
  if (arrayView.dtype())
    literal.dtype = *arrayView.dtype();
}

int64_t Array::size() const {
  int64_t n = 1;
  for (int64_t s : shape())
    n *= s;
  return n;
}

bool Array::mayShareMemory(const Array &other) const {
  if (!sharesStorage(other))
    return false;
  auto [a, b] = arrayView.extent();
  auto [c, d] = other.arrayView.extent();
  // Bytes: one of the two may count parts of complex elements.
  int64_t own = itemSize(dtype()), theirs = itemSize(other.dtype());
  return a * own < d * theirs && c * theirs < b * own;
}

Result<NodeRef> Array::value() const {
  if (openValue)
    return Status(ErrorCode::Internal, "the size of an array is open where it has to be fixed");
  Trace *trace = Trace::active();
  const std::shared_ptr<Storage> &store = storage();
  if (trace && store->traceId() != trace->id())
    return arrayView.get(trace->capture(store));
  if (arrayView.isWhole())
    return store->current();
  auto [node, version] = store->versioned();
  if (remembered && rememberedVersion == version)
    return remembered;
  if (node->state() != NodeState::Ready || !arrayView.isReshape())
    return arrayView.get(node);
  return reshaped(node);
}

Result<NodeRef> Array::needed() const {
  return !arrayView.isWhole() && arrayView.isReshape() ? ofStorage(storage()).value() : value();
}

NodeRef Array::reshaped(const NodeRef &whole) const {
  const auto make = whole->readsShared() ? Node::makeShared : Node::makeReady;
  NodeRef shared = make({dtype(), shape()}, whole->device(), whole->buffer());
  if (!arrayView.isRecast())
    shared->finite.store(whole->finite.load(std::memory_order_relaxed), std::memory_order_relaxed);
  return shared;
}

Status Array::assign(const NodeRef &value) {
  Trace *trace = Trace::active();
  const std::shared_ptr<Storage> &store = storage();
  bool outer = trace && store->traceId() != trace->id();
  GRAPHC_ASSIGN(NodeRef next,
                arrayView.put(outer ? trace->capture(store) : store->current(), value));
  if (outer) {
    trace->replaceCaptured(store, std::move(next));
    return Status::ok();
  }
  if (store->isShared())
    return writeShared(store, next);
  store->replace(apart(std::move(next)));
  GRAPHC_TRY(takeFailure());
  return store->isLent() ? repay(store) : Status::ok();
}

Status Array::show(const Array &other, std::span<const IndexItem> items) {
  GRAPHC_TRY(other.arrayView.index(items, arrayView));
  showStorage(other);
  return Status::ok();
}

void Array::showTurned(const Array &other, std::span<const int64_t> permutation) {
  other.arrayView.transpose(permutation, arrayView);
  showStorage(other);
}

void Array::showStorage(const Array &other) {
  store = other.storage();
  literal = other.literal;
  if (arrayView.dtype())
    literal.dtype = *arrayView.dtype();
}

void Array::letGo() {
  if (store)
    end();
  store = nullptr;
  openValue = nullptr;
  remembered = nullptr;
  literal = {};
  object = nullptr;
  noted.store(false, std::memory_order_relaxed);
}

bool Array::renew() {
  if (!store || openValue || remembered || !arrayView.isWhole() || arrayView.isReadOnly() ||
      store.use_count() != 1 || store->owner() != this)
    return false;
  void *front = store->ownerObject();
  if (!store->renew())
    return false;
  own();
  store->setOwnerObject(front);
  return true;
}

void Array::remember(const NodeRef &ready, uint64_t version) {
  remembered = ready;
  rememberedVersion = version;
}

} // namespace graphc
