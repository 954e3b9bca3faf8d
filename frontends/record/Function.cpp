#include "frontends/record/Function.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/FunctionPlan.h"
#include "frontends/record/Known.h"
#include "frontends/record/Lease.h"
#include "frontends/record/Looks.h"
#include "frontends/record/Pieces.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <optional>

namespace graphc {
namespace {

using strings::format;

/// The status with the line of the node that failed, if it says which.
Status withLine(Status status, const std::vector<Location> &locations) {
  auto node = static_cast<size_t>(status.node());
  std::string line =
      status.node() >= 0 && node < locations.size() ? locationText(locations[node]) : std::string();
  return line.empty()
             ? std::move(status)
             : Status(status.code(), format("{} (recorded at {})", status.message(), line));
}

} // namespace

/// What a step tells besides its results.
struct Function::Ran {
  const rt::LoadedProgram *program = nullptr;
  op::Watch watch = op::Watch::None; ///< of the program
  rt::RunReport report;
  std::vector<rt::Tensor> inputs; ///< of the program, literals last
  std::vector<NodeRef> outputs;
  bool tookInputs = false; ///< some are results now
  bool wasAsked = false;   ///< its operations: what they met is known

  void clear() {
    program = nullptr;
    watch = op::Watch::None;
    report = {};
    inputs.clear();
    outputs.clear();
    tookInputs = wasAsked = false;
  }
};

/// What a call needs.
struct Function::Scratch {
  std::vector<NodeRef> slots, inputs;
  std::vector<rt::Tensor> results;
  Ran ran;

  void clear() {
    slots.clear();
    inputs.clear();
    results.clear();
    ran.clear();
  }
};

Function::Function() : plan(std::make_unique<Plan>()) {}
Function::~Function() = default;

Result<Function::Plan::Step::Variant> Function::Plan::Step::makeOther() const {
  Variant made;
  auto found = programOf(*segment, segment->code.structure(), *other->device);
  if (!found)
    return made;
  for (const LiteralInput &literal : other->given) {
    GRAPHC_ASSIGN(rt::Tensor t, literalTensor(literal, *other->device));
    made.literals.push_back(std::move(t));
  }
  made.sizes = segment->sizeArguments((*found)->program().meta().sizeArguments);
  made.program = found.take();
  return made;
}

Result<Function::Plan::Step::Variant> Function::Plan::Step::makeExact() const {
  Segment watched = *segment;
  watched.code.watch = op::Watch::Operations;
  Variant made;
  GRAPHC_ASSIGN(made.program, programOf(watched, watched.code.structure(), program->device()));
  made.literals = literals;
  made.sizes = watched.sizeArguments(made.program->program().meta().sizeArguments);
  return made;
}

Result<Function::Plan::Step::Form>
Function::Plan::Step::chosen(std::span<const rt::Tensor> arrays) const {
  Form form{program.get(), &literals, &sizes, segment ? segment->code.watch : op::Watch::None};
  auto take = [&](const Variant &v) {
    form.program = v.program.get();
    form.literals = &v.literals;
    form.sizes = &v.sizes;
  };
  if (other) {
    GRAPHC_ASSIGN(ChosenDevice run,
                  other->history.deviceFor(other->work, *rt::choicesOf(*owner), arrays));
    form.isTimed = run.isTimed;
    form.isCounted = run.isCounted;
    if (run.device == other->device) {
      GRAPHC_ASSIGN(const Variant *made, other->variant.get([&] { return makeOther(); }));
      if (made->program) {
        take(*made);
        return form;
      }
    }
  }
  if (exact && tellingOf(exact->structure) == Telling::Operations) {
    GRAPHC_ASSIGN(const Variant *made, exact->variant.get([&] { return makeExact(); }));
    take(*made);
    form.watch = op::Watch::Operations;
  }
  return form;
}

/// A run that asks its operations what they met, where they met something before.
bool Function::Plan::Step::runAsked(std::span<const NodeRef> values,
                                    std::vector<NodeRef> &results) const {
  if (!exact || !(mustAskForUnderflow(segment->code, *owner) ||
                  tellingOf(exact->structure) == Telling::Results))
    return false;
  std::vector<NodeRef> given;
  for (uint32_t slot : inputs)
    given.push_back(values[slot]);
  auto asked = runAsking(*segment, given, *owner);
  if (asked)
    results = std::move(*asked);
  return asked.has_value();
}

bool Function::accepts(std::span<const Array *const> given) const {
  if (given.size() != plan->arguments.size())
    return false;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i]->dtype() != plan->arguments[i].dtype || &given[i]->device() != plan->devices[i] ||
        !(given[i]->shape() == plan->arguments[i].shape))
      return false;
  return true;
}

bool Function::isSafeFor(std::span<const Array *const> given) const {
  if (plan->writeBacks.empty())
    return true;
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (given[i]->sharesStorage(*given[j]))
        return false;
    if (std::ranges::find(plan->captures, given[i]->storage()) != plan->captures.end())
      return false;
  }
  return true;
}

std::vector<Function::Variable> Function::variables() const {
  std::vector<Variable> out;
  for (const Trace::Variable &v : plan->variables)
    out.push_back({v.number, v.placeholder->dtype()});
  return out;
}

std::optional<std::vector<uint64_t>>
Function::variableBits(std::span<const op::Scalar> values) const {
  if (values.size() != plan->variables.size())
    return std::nullopt;
  std::vector<uint64_t> out;
  for (size_t i = 0; i < values.size(); ++i) {
    DType dtype = plan->variables[i].placeholder->dtype();
    auto bits = op::literalBits(values[i], dtype);
    if (!bits || isOverflown(values[i], dtype, *bits))
      return std::nullopt;
    out.push_back(*bits);
  }
  return out;
}

bool Function::mayOverwrite() const {
  return std::ranges::any_of(plan->steps, [&](const Plan::Step &step) {
    return std::ranges::any_of(step.spare, [&](uint32_t i) {
      return step.inputs[i] < plan->arguments.size() + plan->captures.size();
    });
  });
}

std::vector<NodeRef> Function::values(std::span<Array *const> given) const {
  std::vector<NodeRef> found;
  for (const Array *a : given)
    found.push_back(a->storage()->current());
  for (const std::shared_ptr<Storage> &captured : plan->captures)
    found.push_back(captured->current());
  return found;
}

Status Function::gather(std::span<Array *const> given, std::span<const uint64_t> variables,
                        std::span<const NodeRef> held, std::vector<NodeRef> &slots) const {
  slots.resize(plan->slots);
  size_t count = given.size();
  std::span<NodeRef> nodes(slots.data(), count + plan->captures.size());
  bool pending = false;
  // A pending one is computed for a snapshot, while which nobody writes over anything.
  auto isHeld = [&](size_t i) {
    return i < held.size() && held[i]->state() == NodeState::Ready &&
           (i >= count || given[i]->view().isWhole() || given[i]->view().isReshape());
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (isHeld(i)) {
      nodes[i] = held[i];
    } else if (i < count) {
      GRAPHC_ASSIGN(nodes[i], given[i]->needed());
    } else {
      nodes[i] = plan->captures[i - count]->current();
    }
    pending |= nodes[i]->state() != NodeState::Ready;
  }
  if (pending) {
    std::vector<uint64_t> versions;
    for (Array *a : given)
      versions.push_back(a->storage()->versioned().second);
    GRAPHC_TRY(evaluate(nodes, "jit"));
    for (size_t i = 0; i < count; ++i)
      if (!given[i]->view().isReshape())
        given[i]->remember(nodes[i], versions[i]);
  }
  for (size_t i = 0; i < count; ++i)
    if (const View &view = given[i]->view(); !view.isWhole() && view.isReshape())
      nodes[i] = given[i]->reshaped(nodes[i]);
  for (size_t i = 0; i < variables.size(); ++i) {
    const Node &like = *plan->variables[i].placeholder;
    GRAPHC_ASSIGN(rt::Tensor t, literalTensor({variables[i], like.dtype()}, like.device()));
    slots[nodes.size() + i] =
        Node::makeReady({like.dtype(), {}}, like.device(), std::move(t.buffer));
  }
  for (auto &[slot, node] : plan->constants) {
    if (node->state() != NodeState::Ready)
      GRAPHC_TRY(evaluate({&node, 1}, "jit"));
    slots[slot] = node;
  }
  return Status::ok();
}

Status Function::deliver(std::span<Array *const> given, std::span<const NodeRef> slots,
                         std::vector<Array> &outputs) const {
  auto target = [&](uint32_t number) {
    if (number < given.size())
      return *given[number];
    const std::shared_ptr<Storage> &storage = plan->captures[number - given.size()];
    return Array::ofStorage(storage);
  };
  for (const Plan::WriteBack &w : plan->writeBacks) {
    Array a = target(w.target);
    GRAPHC_TRY(a.assign(slots[w.slot]));
  }
  outputs.clear();
  outputs.reserve(plan->outputs.size());
  for (const Plan::Output &o : plan->outputs) {
    if (!o.alias) {
      outputs.emplace_back(slots[o.slot]);
      if (!o.isValue)
        outputs.back().storage()->becomeArray();
      continue;
    }
    Array a = target(*o.alias);
    outputs.push_back(o.view.isWhole() ? a : a.withView(a.view().then(o.view)));
  }
  return Status::ok();
}

/// Claims the inputs whose memory a program has a use for. Until an argument has its new value,
/// other threads find the old one in it: only a caller that is alone may overwrite it.
void Function::takeInputs(size_t number, const rt::LoadedProgram &program,
                          std::span<Array *const> given, std::span<const NodeRef> slots,
                          bool isAlone, Ran &ran, Overwrites &overwrites) const {
  const Plan::Step &step = plan->steps[number];
  for (uint32_t i : step.spare) {
    uint32_t slot = step.inputs[i];
    const NodeRef &n = slots[slot];
    bool isArgument = slot < given.size() + plan->captures.size();
    if ((isArgument && !isAlone) || (slot < given.size() && !given[slot]->view().isWhole()))
      continue;
    rt::Tensor &input = ran.inputs[i];
    input.buffer.reset(); // who else holds it is asked
    input.isGiven = rt::isOnOne(*n->buffer()) && wantsMemory(program, i, n->bytes()) &&
                    overwrites.claim(n, isArgument ? 2 : 1);
    input.buffer = n->buffer();
  }
  if (overwrites.empty())
    return;
  std::vector<NodeRef> values;
  for (uint32_t slot : step.inputs)
    values.push_back(slots[slot]);
  if (mayVanish(step.segment->code, values))
    return;
  overwrites.release();
  for (rt::Tensor &input : ran.inputs)
    input.isGiven = false;
}

Status Function::run(size_t number, std::span<Array *const> given, std::vector<NodeRef> &slots,
                     bool isAlone, std::vector<rt::Tensor> &results, Ran &ran) const {
  const Plan::Step &step = plan->steps[number];
  if (step.runAsked(slots, ran.outputs)) {
    ran.wasAsked = true;
    return Status::ok();
  }
  ran.inputs.reserve(step.inputs.size() + step.literals.size());
  for (uint32_t slot : step.inputs)
    ran.inputs.push_back(tensorOf(*slots[slot]));
  GRAPHC_ASSIGN(Plan::Step::Form form, step.chosen(ran.inputs));
  ran.program = form.program;
  ran.watch = form.watch;
  results.clear();
  Overwrites overwrites;
  if (form.program)
    takeInputs(number, *form.program, given, slots, isAlone, ran, overwrites);
  if (form.program && rt::choicesOf(*step.owner))
    GRAPHC_TRY(makeReady(ran.inputs, form.program->device()));
  std::shared_ptr<Look> look =
      form.program ? Look::before(step.segment, ran.inputs, form.program->device()) : nullptr;
  for (const rt::Tensor &literal : *form.literals)
    ran.inputs.push_back(literal);
  ran.report.mayTellLater = look != nullptr;
  RunTimer timer(step.other ? &step.other->history : nullptr, form.program, form.isTimed);
  Status status = form.program ? runOrSplit(*form.program, *step.segment, ran.inputs, *form.sizes,
                                            results, ran.report)
                               : emptyOutputs(step.empty, results);
  if (status)
    status = timer.stop();
  if (look)
    GRAPHC_TRY(Look::after(look, ran.report.isWatchedLater));
  if (!status)
    return ran.report.place ? atPlace(std::move(status), step.places, *ran.report.place)
                            : withLine(std::move(status), step.locations);
  if (step.program)
    giveTo(*step.owner, results, step.other && form.isCounted ? step.other->history.use : nullptr);
  if (results.size() != step.outputs.size())
    return Status(ErrorCode::Internal, "[jit] a program gave the wrong number of results");
  ran.tookInputs = !overwrites.empty();
  ran.outputs.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    ran.outputs.push_back(Node::makeReady({results[i].dtype, std::move(results[i].shape)},
                                          *step.owner, std::move(results[i].buffer)));
  results.clear();
  return Status::ok();
}

/// What is known of the values that a step read and made, and which errors it met.
Status Function::look(size_t number, std::span<const NodeRef> inputs, const Ran &ran) const {
  const Plan::Step &step = plan->steps[number];
  if (!step.segment || !step.segment->code.watches() || ran.wasAsked)
    return Status::ok();
  if (!ran.report.watched && !ran.report.mayTellLater)
    noteFinite(step.segment->code, ran.watch, inputs, ran.outputs, ran.tookInputs);
  if (!needsLook(step.segment->code, ran.report))
    return Status::ok();
  if (ran.tookInputs)
    return lookAtResults(*step.segment, ran.outputs);
  std::vector<NodeRef> nodes;
  for (const rt::Tensor &t : std::span(ran.inputs).first(inputs.size()))
    nodes.push_back(Node::makeReady({t.dtype, t.shape}, ran.program->device(), t.buffer));
  return lookForFloatErrors(*step.segment, nodes, ran.program->device());
}

/// The values of some slots: where they are, or copied to `apart`.
static std::span<const NodeRef> valuesOf(std::span<const uint32_t> numbers,
                                         std::span<const NodeRef> slots,
                                         std::vector<NodeRef> &apart) {
  apart.clear();
  bool isRun = true;
  for (size_t i = 1; i < numbers.size(); ++i)
    isRun &= numbers[i] == numbers[0] + i;
  if (isRun)
    return numbers.empty() ? slots.first(0) : slots.subspan(numbers[0], numbers.size());
  apart.reserve(numbers.size());
  for (uint32_t slot : numbers)
    apart.push_back(slots[slot]);
  return apart;
}

Status Function::call(std::span<Array *const> given, std::span<const uint64_t> variables,
                      std::vector<Array> &outputs, bool isAlone,
                      std::span<const NodeRef> held) const {
  if (!accepts(given) || !isSafeFor(given) || variables.size() != plan->variables.size())
    return Status(ErrorCode::Trace,
                  "[jit] the arguments differ from those the function was traced with");
  for (const Plan::WriteBack &w : plan->writeBacks)
    if (w.target < given.size())
      GRAPHC_TRY(given[w.target]->view().mayBeWritten());
  Lease<Scratch> lease;
  auto &[slots, inputs, results, ran] = *lease;
  GRAPHC_TRY(gather(given, variables, held, slots));
  Status looked;
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    GRAPHC_TRY(std::move(looked));
    const Plan::Step &step = plan->steps[i];
    GRAPHC_TRY(run(i, given, slots, isAlone, results, ran));
    looked = look(i, valuesOf(step.inputs, slots, inputs), ran);
    for (size_t k = 0; k < ran.outputs.size(); ++k)
      slots[step.outputs[k]] = std::move(ran.outputs[k]);
    inputs.clear();
    ran.clear();
    for (uint32_t slot : step.dead)
      slots[slot] = {};
  }
  // The last program may have written over the arguments: they get their new values in any case.
  GRAPHC_TRY(deliver(given, slots, outputs));
  GRAPHC_TRY(std::move(looked));
  return deliverFloatErrors();
}

std::vector<uint32_t> Function::updatedArguments() const {
  std::vector<uint32_t> out;
  for (const Plan::WriteBack &w : plan->writeBacks)
    if (w.target < plan->arguments.size())
      out.push_back(w.target);
  return out;
}

size_t Function::captureCount() const { return plan->captures.size(); }

bool Function::runsBetterUnrecorded() const { return plan->runsBetterUnrecorded; }

size_t Function::programCount() const { return plan->steps.size(); }

Result<FunctionCost> Function::cost() const {
  FunctionCost cost;
  std::vector<rt::Tensor> slots(plan->slots), inputs, results;
  auto bytes = [](const rt::Tensor &t) { return byteCount(t.shape, t.dtype).value_or(0); };
  size_t count = plan->arguments.size();
  for (size_t i = 0; i < count + plan->captures.size(); ++i) {
    rt::Tensor &t = slots[i];
    if (i < count) {
      t.dtype = plan->arguments[i].dtype;
      t.shape = plan->arguments[i].shape;
    } else {
      NodeRef node = plan->captures[i - count]->current();
      t.dtype = node->dtype();
      t.shape = node->shape();
    }
    cost.argumentBytes += bytes(t);
  }
  for (size_t i = 0; i < plan->variables.size(); ++i)
    slots[count + plan->captures.size() + i].dtype = plan->variables[i].placeholder->dtype();
  for (auto &[slot, node] : plan->constants) {
    slots[slot].dtype = node->dtype();
    slots[slot].shape = node->shape();
  }
  std::vector<bool> isOurs(plan->slots, false); // computed, or an argument that was given away
  int64_t live = cost.argumentBytes;
  for (const Plan::Step &step : plan->steps) {
    if (!step.program)
      continue;
    inputs.clear();
    for (uint32_t slot : step.inputs)
      inputs.push_back(slots[slot]);
    for (uint32_t i : step.spare)
      if (wantsMemory(*step.program, i, bytes(inputs[i])))
        inputs[i].isGiven = isOurs[step.inputs[i]] = true;
    for (const rt::Tensor &literal : step.literals)
      inputs.push_back(literal);
    GRAPHC_ASSIGN(rt::RunCost run, rt::costOf(*step.program, inputs, step.sizes, results));
    cost.launches += run.launches;
    cost.copies += run.copies;
    cost.peakBytes = std::max(cost.peakBytes, live + run.peakBytes);
    for (size_t i = 0; i < results.size(); ++i) {
      slots[step.outputs[i]] = results[i];
      isOurs[step.outputs[i]] = true;
      live += bytes(results[i]);
    }
    for (uint32_t slot : step.dead)
      if (isOurs[slot])
        live -= bytes(slots[slot]);
  }
  std::vector<bool> isCounted(plan->slots, false);
  auto countOutput = [&](uint32_t slot) {
    cost.outputBytes += isCounted[slot] ? 0 : bytes(slots[slot]);
    isCounted[slot] = true;
  };
  for (const Plan::Output &o : plan->outputs)
    if (!o.alias)
      countOutput(o.slot);
  for (const Plan::WriteBack &w : plan->writeBacks)
    countOutput(w.slot);
  cost.peakBytes = std::max(cost.peakBytes, live);
  return cost;
}

Result<std::string> Function::printStage(std::string_view stage) const {
  return graphc::printStage(plan->roots, stage);
}

} // namespace graphc
