#include "frontends/record/Lend.h"

#include "frontends/record/Devices.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"

#include <cstring>
#include <optional>
#include <vector>

namespace graphc {

namespace {

Aside asideRunner = nullptr;
thread_local std::optional<Status> failure;

/// Computes a version of all of a storage, in a thread that holds no lock of the front end. The
/// place and the modes of a statement that records now are not those of what was recorded before.
Status compute(const NodeRef &node, rt::Device &device) {
  Status status;
  auto run = [&] {
    RecordScope scope(RecordScope::location(), 0);
    status = evaluate({&node, 1}, "exchange");
    if (status)
      status = device.queue().finish();
  };
  if (asideRunner)
    asideRunner(run);
  else
    run();
  return status;
}

} // namespace

void setAside(Aside aside) { asideRunner = aside; }

Result<Loan> lend(const Array &x) {
  const std::shared_ptr<Storage> &storage = x.storage();
  while (true) {
    auto [node, version] = storage->versioned();
    GRAPHC_TRY(compute(node, x.device()));
    GRAPHC_ASSIGN(rt::BufferRef memory, x.device().allocate(node->bytes()));
    if (node->bytes() > 0)
      std::memcpy(memory->host(), node->buffer()->host(), static_cast<size_t>(node->bytes()));
    Loan made = storage->lendTo({std::move(memory), std::make_shared<char>()}, version);
    if (made.memory)
      return made;
  }
}

rt::BufferRef copied(const void *bytes, int64_t count, rt::Device &device) {
  const auto *first = static_cast<const char *>(bytes);
  auto copy = std::make_shared<std::vector<char>>(first, first + count);
  char *data = copy->data();
  return device.wrapHost(data, count, std::move(copy)).take();
}

NodeRef apart(NodeRef node) {
  if (!node->readsShared())
    return node;
  rt::Device &device = node->device();
  if (node->state() != NodeState::Ready) {
    if (Status status = compute(node, device); !status && !failure)
      failure = std::move(status);
    return node;
  }
  const auto *bytes = static_cast<const char *>(rt::hostAddress(*node->buffer()));
  auto buffer = device.allocate(node->bytes());
  if (!buffer)
    return Node::makeReady({node->dtype(), node->shape()}, device,
                           copied(bytes, node->bytes(), device));
  if (node->bytes() > 0)
    std::memcpy(rt::hostAddress(**buffer), bytes, static_cast<size_t>(node->bytes()));
  return Node::makeReady({node->dtype(), node->shape()}, device, buffer.take());
}

Status takeFailure() {
  if (!failure)
    return Status::ok();
  Status status = std::move(*failure);
  failure.reset();
  return status;
}

Status writeShared(const std::shared_ptr<Storage> &storage, const NodeRef &value) {
  // Also where the statement fails by what it met: its results stand.
  Status status = compute(value, storage->device());
  if (value->state() == NodeState::Ready && value->bytes() > 0)
    storage->overwrite(*value);
  return status;
}

Status repay(const std::shared_ptr<Storage> &storage) {
  while (true) {
    auto [node, version] = storage->versioned();
    // Also where the statement fails by what it met: its results stand.
    Status status = compute(node, storage->device());
    if (storage->repay(*node, version))
      return status;
  }
}

} // namespace graphc
