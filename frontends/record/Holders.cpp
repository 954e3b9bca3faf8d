#include "frontends/record/Holders.h"

#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

namespace graphc {
namespace {

constexpr uint8_t kTurns = 8;

struct Noted {
  std::vector<std::weak_ptr<Storage>> storages;
  size_t most = 256; ///< ended ones are dropped above
};
thread_local Noted noted;

/// Whether a line has recorded so for some turns.
bool isInLoop() {
  thread_local std::array<uint8_t, 1024> turns{};
  const Location line = RecordScope::location();
  if (!line)
    return false;
  uint8_t &count = turns[line % turns.size()];
  count = std::min<uint8_t>(count + 1, kTurns);
  return count == kTurns;
}

/// Whether memory is read that is larger than all that is computed. Values that are picked from it
/// do not reach it (Node::reach).
bool keepsLarge(const Node &value) {
  constexpr int kMost = 16;
  if (value.reach() > small::kMostReach)
    return true;
  if (value.keeps() <= small::kMostReach)
    return false;
  std::lock_guard lock(graphMutex());
  std::vector<const Node *> stack{&value};
  for (int met = 0; !stack.empty() && met < kMost; ++met) {
    const Node *n = stack.back();
    stack.pop_back();
    for (const NodeRef &operand : n->operands())
      if (operand->state() == NodeState::Pending)
        stack.push_back(operand.get());
      else if (operand->state() == NodeState::Ready && operand->bytes() > small::kMostReach)
        return true;
  }
  return false;
}

} // namespace

void noteHolder(const Array &x) {
  if (Trace::active() || small::loopTurns() == small::kNever || x.isOpen() ||
      !mayBeOnHost(x.device()))
    return;
  const std::shared_ptr<Storage> &storage = x.storage();
  const NodeRef node = storage->current();
  if (node->state() != NodeState::Pending || node->bytes() > small::kMostReach || !isInLoop() ||
      !keepsLarge(*node))
    return;
  auto &list = noted.storages;
  if (!list.empty() && !list.back().owner_before(storage) && !storage.owner_before(list.back()))
    return;
  if (list.size() >= noted.most) {
    std::erase_if(list, [](const auto &s) { return s.expired(); });
    noted.most = std::max<size_t>(256, 2 * list.size());
  }
  list.push_back(storage);
}

std::vector<NodeRef> takeHolders() {
  std::vector<std::weak_ptr<Storage>> list;
  list.swap(noted.storages);
  std::vector<NodeRef> nodes;
  for (const auto &held : list)
    if (auto storage = held.lock())
      if (NodeRef node = storage->current(); node->state() == NodeState::Pending)
        nodes.push_back(std::move(node));
  return nodes;
}

} // namespace graphc
