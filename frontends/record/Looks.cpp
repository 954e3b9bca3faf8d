#include "frontends/record/Looks.h"

#include "frontends/record/Known.h"
#include "frontends/record/Splitter.h"
#include "runtime/base/Fork.h"
#include "runtime/drivers/Choice.h"
#include "runtime/exec/Watch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

namespace graphc {

/// What is remembered holds memory: so many runs at most, and this share of the device.
constexpr size_t kMostWaiting = 256;
constexpr int64_t kShareOfBudget = 8;

/// All runs that are remembered, in the order they were queued by each thread.
struct Looks {
  ForkSafeLongMutex mutex;
  std::vector<std::shared_ptr<Look>> list;
  std::atomic<size_t> count{0};
  uint32_t generation = forkGeneration();

  static Looks &all() {
    static auto *looks = new Looks; // used until the process ends
    return *looks;
  }
  /// A forked child knows nothing of its parent's devices.
  void renew() {
    if (generation == forkGeneration())
      return;
    generation = forkGeneration();
    new std::vector(std::move(list)); // its devices are the parent's: nothing is given back
    list.clear();
    count = 0;
  }
  bool anyQueued(const rt::Device &device) {
    std::lock_guard lock(mutex);
    renew();
    return std::ranges::any_of(list, [&](const std::shared_ptr<Look> &look) {
      return look->device == &device && look->isQueued;
    });
  }
  std::set<rt::Device *> devices() {
    std::lock_guard lock(mutex);
    renew();
    std::set<rt::Device *> found;
    for (const std::shared_ptr<Look> &look : list)
      found.insert(look->device);
    return found;
  }

  /// Those of a device that are queued leave the list.
  std::vector<std::shared_ptr<Look>> take(const rt::Device &device) {
    std::lock_guard lock(mutex);
    renew();
    std::vector<std::shared_ptr<Look>> taken;
    std::erase_if(list, [&](const std::shared_ptr<Look> &look) {
      bool mine = look->device == &device && look->isQueued;
      if (mine)
        taken.push_back(look);
      return mine;
    });
    count = list.size();
    return taken;
  }
  /// Looks at what waits on a device; `others` are read in the same wait.
  Status look(rt::Device &device, std::span<const rt::Readback> others);
};

Status Looks::look(rt::Device &device, std::span<const rt::Readback> others) {
  std::vector<std::shared_ptr<Look>> taken = take(device);
  GRAPHC_ASSIGN(bool met, rt::readWatched(device, others));
  if (met) {
    // A run that was queued before the word was cleared may have set it again.
    std::lock_guard lock(mutex);
    for (const std::shared_ptr<Look> &look : list)
      look->isSuspect |= look->device == &device;
  }
  for (const std::shared_ptr<Look> &look : taken) {
    if (!look->questions.nodes.empty()) {
      GRAPHC_TRY(noteAnswers(look->questions));
      continue;
    }
    if (!met && !look->isSuspect)
      continue;
    std::vector<NodeRef> nodes;
    for (const rt::Tensor &t : look->inputs)
      nodes.push_back(Node::makeReady({t.dtype, t.shape}, device, t.buffer));
    GRAPHC_TRY(lookForFloatErrors(*look->segment, nodes, device));
  }
  return Status::ok();
}

void Look::list(const std::shared_ptr<Look> &look) {
  Looks &looks = Looks::all();
  std::lock_guard lock(looks.mutex);
  looks.renew();
  looks.list.push_back(look);
  looks.count = looks.list.size();
}

std::shared_ptr<Look> Look::before(std::shared_ptr<const Segment> segment,
                                   std::span<const rt::Tensor> inputs, rt::Device &device) {
  if (!segment->code.watches() || segment->code.asksForUnderflow || device.info().hostVisible)
    return nullptr;
  std::shared_ptr<Look> look(new Look);
  look->segment = std::move(segment);
  look->inputs.assign(inputs.begin(), inputs.end());
  look->device = &device;
  for (const rt::Tensor &t : inputs)
    look->bytes += t.buffer->bytes();
  list(look);
  return look;
}

Status Look::after(const std::shared_ptr<Look> &look, bool waits) {
  Looks &looks = Looks::all();
  int64_t bytes = 0;
  size_t waiting = 0;
  {
    std::lock_guard lock(looks.mutex);
    if (!waits) {
      std::erase(looks.list, look);
      looks.count = looks.list.size();
      return Status::ok();
    }
    look->isQueued = true;
    waiting = looks.list.size();
    for (const std::shared_ptr<Look> &other : looks.list)
      bytes += other->device == look->device ? other->bytes : 0;
  }
  bool many = waiting > kMostWaiting || bytes > look->device->info().budgetBytes / kShareOfBudget;
  return many ? lookNow(*look->device) : Status::ok();
}

Status Look::at(Questions questions, rt::Device &device) {
  std::shared_ptr<Look> look(new Look);
  look->device = &device;
  for (const NodeRef &answer : questions.nodes)
    look->bytes += answer->buffer()->bytes();
  look->questions = std::move(questions);
  list(look);
  return after(look, true);
}

std::optional<std::vector<NodeRef>> runAsking(const Segment &segment,
                                              std::span<const NodeRef> inputs, rt::Device &device,
                                              bool mayInterpret) {
  Questions questions;
  auto results = computeAsking(segment, inputs, device, mayInterpret, questions);
  if (!results)
    return std::nullopt;
  // Of "auto" each answer is where its program ran; what waits is looked at on a device that runs.
  rt::Device *away = nullptr;
  for (const NodeRef &answer : questions.nodes)
    if (rt::Device &ran = rt::hostDevice(*answer->buffer()); !ran.info().hostVisible)
      away = &ran;
  bool waits = away && !segment.code.asksForUnderflow && !PieceScope::isOpen();
  Status told = waits ? Look::at(std::move(questions), *away) : noteAnswers(questions);
  return told ? std::optional(results.take()) : std::nullopt;
}

/// Where runs of a device's programs wait.
static rt::Device &runsOn(rt::Device &device) {
  const rt::Choices *choices = rt::choicesOf(device);
  return choices && choices->other ? *choices->other : device;
}

bool looksWait(rt::Device &device) {
  Looks &looks = Looks::all();
  return looks.count.load(std::memory_order_relaxed) > 0 && looks.anyQueued(runsOn(device));
}

Status lookNow(rt::Device &device) {
  return looksWait(device) ? Looks::all().look(runsOn(device), {}) : Status::ok();
}

Status lookEverywhere() {
  for (rt::Device *device : Looks::all().devices())
    GRAPHC_TRY(lookNow(*device));
  return deliverFloatErrors();
}

/// Waits for `device`, and looks at what waits of the values of `owner`.
static Status finish(rt::Device &device, rt::Device &owner) {
  rt::Device &runs = runsOn(owner);
  const bool looks = looksWait(owner);
  // What runs met is read behind them, and a device that was waited for has nothing to wait for.
  if (looks)
    GRAPHC_TRY(Looks::all().look(runs, {}));
  if (!looks || &device != &runs)
    GRAPHC_TRY(device.queue().finish());
  return deliverFloatErrors();
}

Status finishDevice(rt::Device &device) { return finish(device, device); }

Status finishValue(const Node &node, int64_t read) {
  rt::ReadScope scope(*node.buffer(), read);
  return finish(rt::hostDevice(*node.buffer()), node.device());
}

const void *knownMemory(const Node &node) {
  if (node.state() != NodeState::Ready)
    return nullptr;
  if (onHost(node.device()))
    return node.buffer()->host();
  return rt::choicesOf(node.device()) && !looksWait(node.device())
             ? rt::uncountedAddress(*node.buffer())
             : nullptr;
}

bool readAtOnce(void *to, const Node &node, int64_t bytes) {
  const rt::Choices *choices = rt::choicesOf(node.device());
  if (!choices || node.state() != NodeState::Ready || !rt::isOn(*node.buffer(), *choices->cpu) ||
      looksWait(choices->other ? *choices->other : *choices->cpu))
    return false;
  rt::ReadScope scope(*node.buffer(), bytes);
  std::memcpy(to, rt::hostAddress(*node.buffer()), static_cast<size_t>(bytes));
  return true;
}

Status readValue(void *to, const Node &node, int64_t bytes) {
  rt::BufferRef memory = node.buffer();
  rt::Device *device = &node.device();
  rt::ReadScope scope(*memory, bytes);
  if (const rt::Choices *choices = rt::choicesOf(*device)) {
    bool there = choices->other && !rt::isOn(*memory, *choices->cpu);
    device = choices->other ? choices->other : choices->cpu;
    GRAPHC_ASSIGN(memory, rt::memoryOn(memory, there ? *choices->other : *choices->cpu));
  }
  // Other threads look, too: whether any wait is asked again after a read, never instead of one.
  bool isRead = &memory->device() != device || !looksWait(*device);
  if (isRead)
    GRAPHC_TRY(memory->device().queue().download(to, *memory, bytes));
  if (isRead && !looksWait(*device))
    return Status::ok();
  const rt::Readback value{to, memory.get(), bytes};
  GRAPHC_TRY(Looks::all().look(*device, {&value, isRead ? size_t{0} : size_t{1}}));
  return deliverFloatErrors();
}

} // namespace graphc
