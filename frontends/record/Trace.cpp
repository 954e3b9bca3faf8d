#include "frontends/record/Trace.h"

#include "frontends/record/FunctionPlan.h"
#include "frontends/record/Pieces.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/Spread.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <optional>

namespace graphc {
namespace {

using strings::format;

std::atomic<uint64_t> nextTrace{1};
thread_local Trace *activeTrace = nullptr;

op::TensorType typeOf(const Array &a) { return {a.dtype(), a.shape()}; }

} // namespace

Trace *Trace::active() { return activeTrace; }

Trace::Pause::Pause() : paused(std::exchange(activeTrace, nullptr)) {}
Trace::Pause::~Pause() { activeTrace = paused; }

Result<std::unique_ptr<Trace>> Trace::begin(std::span<const Array> given) {
  if (activeTrace)
    return Status(ErrorCode::Trace, "[jit] a function is being traced in this thread already");
  for (size_t i = 0; i < given.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (given[i].sharesStorage(given[j]))
        return Status(ErrorCode::Trace, format("[jit] arguments {} and {} share memory", j, i));
  std::unique_ptr<Trace> trace(new Trace);
  trace->number = nextTrace.fetch_add(1, std::memory_order_relaxed);
  activeTrace = trace.get(); // placeholders' storages belong to the trace
  for (const Array &a : given) {
    NodeRef node = Node::makePlaceholder(typeOf(a), a.device());
    trace->argumentNodes.push_back(node);
    trace->arguments.emplace_back(std::move(node));
  }
  return trace;
}

Trace::~Trace() { abort(); }

void Trace::abort() {
  if (activeTrace == this)
    activeTrace = nullptr;
}

NodeRef Trace::capture(const std::shared_ptr<Storage> &storage) {
  auto [it, isNew] = captureOf.try_emplace(storage.get(), captures.size());
  if (isNew) {
    NodeRef node = Node::makePlaceholder({storage->dtype(), storage->shape()}, storage->device());
    captures.push_back({storage, node, node});
  }
  return captures[it->second].newest;
}

void Trace::replaceCaptured(const std::shared_ptr<Storage> &storage, NodeRef next) {
  static_cast<void>(capture(storage));
  captures[captureOf[storage.get()]].newest = std::move(next);
}

Result<NodeRef> Trace::variable(const op::Scalar &value, DType dtype, rt::Device &device) {
  if (!isFloat(dtype))
    return op::literalBits(value, dtype).takeStatus();
  auto it = std::ranges::find_if(variables, [&](const Variable &v) {
    return v.number == value.variable && v.placeholder->dtype() == dtype &&
           &v.placeholder->device() == &device;
  });
  if (it == variables.end())
    it = variables.insert(it, {value.variable, Node::makePlaceholder({dtype, {}}, device)});
  return it->placeholder;
}

Status Function::Plan::addSegments(Snapshot &snapshot,
                                   std::unordered_map<const Node *, uint32_t> &slotOf) {
  size_t prepared = 0;
  for (size_t i = 0; i < snapshot.segmentCount(); ++i) {
    Segment segment = snapshot.build(i);
    if (segment.outputs.empty())
      continue;
    rt::Device &owner = segment.outputs[0]->device();
    if (i >= prepared)
      prepared = compileAhead(snapshot, i, segment, owner, /*mayInterpret=*/false);
    Step step;
    step.owner = &owner;
    if (computesNothing(segment)) {
      step.empty = segment.outputs;
    } else {
      GRAPHC_ASSIGN(step.program, programOfCalls(segment, owner));
      step.sizes = segment.sizeArguments(step.program->program().meta().sizeArguments);
      step.places = segment.placeLocations();
      step.locations = segment.locations();
      auto kept = std::make_shared<Segment>();
      kept->code = segment.code;
      kept->symbols = segment.symbols;
      if (kept->code.watch == op::Watch::Values) {
        step.exact = std::make_shared<Step::Exact>();
        step.exact->structure = kept->code.structure();
      }
      step.segment = std::move(kept);
      if (auto work = workOfRuns(segment, owner)) {
        const rt::Choices *choices = rt::choicesOf(owner);
        step.other = std::make_shared<Step::Other>();
        step.other->work = *work;
        step.other->device =
            &step.program->device() == choices->cpu ? choices->other : choices->cpu;
        step.other->given = segment.literals;
      }
    }
    for (const NodeRef &n : segment.inputs) {
      auto [it, isNew] = slotOf.try_emplace(n.get(), slots);
      if (isNew) {
        if (n->state() != NodeState::Ready)
          return Status(ErrorCode::Trace, "[jit] a value of another trace was used");
        constants.emplace_back(slots++, n);
      }
      step.inputs.push_back(it->second);
    }
    for (const LiteralInput &literal : segment.literals) {
      GRAPHC_ASSIGN(rt::Tensor t, literalTensor(literal, step.program->device()));
      step.literals.push_back(std::move(t));
    }
    for (const NodeRef &n : segment.outputs) {
      slotOf[n.get()] = slots;
      step.outputs.push_back(slots++);
    }
    steps.push_back(std::move(step));
  }
  return Status::ok();
}

void Function::Plan::findDead() {
  std::vector<bool> live(slots, false);
  for (const Output &o : outputs)
    if (!o.alias)
      live[o.slot] = true;
  for (const WriteBack &w : writeBacks)
    live[w.slot] = true;
  for (size_t i = steps.size(); i-- > 0;)
    for (const std::vector<uint32_t> *list : {&steps[i].inputs, &steps[i].outputs})
      for (uint32_t slot : *list)
        if (!live[slot]) {
          live[slot] = true;
          steps[i].dead.push_back(slot);
        }
}

/// What a program computed for a later one is nobody else's. The old value of an argument goes with
/// the last program only: when one fails, the arguments are as they were.
void Function::Plan::findSpare() {
  std::vector<bool> isGiven(slots, false);
  size_t outside = arguments.size() + captures.size();
  for (Step &step : steps) {
    bool isLast = &step == &steps.back();
    if (isLast)
      for (const WriteBack &w : writeBacks)
        isGiven[w.target] = w.target != w.slot;
    for (uint32_t i = 0; step.program && i < step.inputs.size(); ++i) {
      uint32_t slot = step.inputs[i];
      bool isDead = std::ranges::find(step.dead, slot) != step.dead.end();
      if (isGiven[slot] && isDead && (step.program->takes(i) || step.program->reuses(i)))
        step.spare.push_back(i);
    }
    for (uint32_t slot : step.outputs)
      isGiven[slot] = slot >= outside;
  }
}

/// In memory of the host, so much that recording is little beside the work on it.
static bool areLarge(std::span<const NodeRef> arguments) {
  constexpr int64_t kManyBytes = int64_t{256} << 10;
  int64_t bytes = 0;
  for (const NodeRef &n : arguments) {
    if (!n->device().info().hostVisible)
      return false;
    bytes += n->bytes();
  }
  return bytes >= kManyBytes;
}

Result<std::unique_ptr<Function>> Trace::finish(std::span<const Array> outputs,
                                                size_t segmentNodes) {
  std::unique_ptr<Function> function(new Function);
  Function::Plan &plan = *function->plan;
  auto count = static_cast<uint32_t>(arguments.size());
  // Reading outputs may capture more arrays, so the trace stays active until all roots are known.
  for (const Array &out : outputs) {
    Function::Plan::Output o;
    o.view = out.view();
    o.isValue = out.isValue();
    for (uint32_t i = 0; i < count; ++i)
      if (out.sharesStorage(arguments[i]))
        o.alias = i;
    if (out.storage()->traceId() != number) {
      static_cast<void>(capture(out.storage()));
      o.alias = count + static_cast<uint32_t>(captureOf[out.storage().get()]);
    }
    plan.outputs.push_back(std::move(o));
    auto value = out.value();
    if (!value) {
      abort();
      return value.takeStatus();
    }
    if (!plan.outputs.back().alias)
      plan.roots.push_back(value.take());
  }
  std::vector<std::pair<uint32_t, NodeRef>> written;
  for (uint32_t i = 0; i < count; ++i)
    if (NodeRef newest = arguments[i].storage()->current(); !(newest == argumentNodes[i]))
      written.emplace_back(i, std::move(newest));
  for (uint32_t i = 0; i < captures.size(); ++i)
    if (!(captures[i].newest == captures[i].placeholder))
      written.emplace_back(count + i, captures[i].newest);
  abort();

  std::unordered_map<const Node *, uint32_t> slotOf;
  for (uint32_t i = 0; i < count; ++i) {
    plan.arguments.push_back(typeOf(arguments[i]));
    plan.devices.push_back(&arguments[i].device());
    slotOf[argumentNodes[i].get()] = plan.slots++;
  }
  for (const Capture &c : captures) {
    plan.captures.push_back(c.storage);
    slotOf[c.placeholder.get()] = plan.slots++;
  }
  for (const Variable &v : variables)
    slotOf[v.placeholder.get()] = plan.slots++;
  plan.variables = std::move(variables);
  for (auto &[target, node] : written)
    plan.roots.push_back(node);
  GRAPHC_TRY(leaveBeyondCount(plan.roots, plan.roots.size() - written.size()));
  plan.runsBetterUnrecorded = areLarge(argumentNodes) && choosesUpToBound(plan.roots);
  GRAPHC_ASSIGN(Snapshot snapshot, Snapshot::take(plan.roots, true, segmentNodes));
  GRAPHC_TRY(plan.addSegments(snapshot, slotOf));
  auto slot = [&](const NodeRef &n) -> uint32_t {
    auto [it, isNew] = slotOf.try_emplace(n.get(), plan.slots);
    if (isNew)
      plan.constants.emplace_back(plan.slots++, n); // a value that was ready
    return it->second;
  };
  auto root = plan.roots.begin();
  for (Function::Plan::Output &o : plan.outputs)
    if (!o.alias)
      o.slot = slot(*root++);
  for (auto &[target, node] : written)
    plan.writeBacks.push_back({target, slot(node)});
  plan.findDead();
  plan.findSpare();
  return function;
}

} // namespace graphc
