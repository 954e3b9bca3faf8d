#include "frontends/record/Session.h"

#include "compiler/api/Loader.h"
#include "dialects/opset/Printer.h"
#include "frontends/record/ChosenRun.h"
#include "frontends/record/FloatErrors.h"
#include "frontends/record/Holders.h"
#include "frontends/record/Interpret.h"
#include "frontends/record/Known.h"
#include "frontends/record/Lease.h"
#include "frontends/record/Looks.h"
#include "frontends/record/Pieces.h"
#include "frontends/record/Record.h"
#include "frontends/record/SelfTest.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Fork.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/base/UnderflowFlag.h"
#include "runtime/drivers/Drivers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <unistd.h>

namespace graphc {
namespace {

using strings::format;

Setting pendingBytesSetting{"GRAPHC_PENDING_BYTES",
                            "bytes of pending values that trigger an evaluation",
                            "a quarter of physical memory"};
std::atomic<int64_t> budgetBytes{-1};
std::atomic<int64_t> segmentCount{0};
thread_local rt::Device *threadDevice = nullptr;

struct Counts {
  ForkSafeMutex mutex;
  std::map<std::string, int64_t, std::less<>> byReason;
};
Counts &counts() {
  static auto *c = new Counts; // in use until the process ends
  return *c;
}

void countReason(Reason reason) {
  Counter counter = reason == "budget"                    ? Counter::FlushBudget
                    : reason == "exchange"                ? Counter::FlushExchange
                    : reason == "eval" || reason == "jit" ? Counter::FlushExplicit
                                                          : Counter::FlushRead;
  count(counter);
  std::lock_guard lock(counts().mutex);
  auto &byReason = counts().byReason;
  if (auto it = byReason.find(reason); it != byReason.end())
    ++it->second;
  else
    byReason.emplace(reason, 1);
}

int64_t defaultBudget() {
  if (auto text = pendingBytesSetting.get()) {
    int64_t bytes = 0;
    if (strings::parseBytes(*text, bytes) && bytes > 0)
      return bytes;
    emitEvent(EventLevel::Warning, "record",
              format("GRAPHC_PENDING_BYTES: '{}' is not a byte count", *text));
  }
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) / 4 *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

/// The status with the line of the node that failed, else the first few lines of the segment.
Status withLines(Status status, const Segment &segment) {
  if (std::string line = segment.lineOf(status.node()); !line.empty())
    return Status(status.code(), format("{} (recorded at {})", status.message(), line));
  op::GraphDesc graph = segment.graph(true);
  std::string lines;
  for (size_t i = 1; i < graph.lines.size() && i <= 3; ++i)
    lines += (i > 1 ? "; " : "") + graph.lines[i];
  return lines.empty()
             ? std::move(status)
             : Status(status.code(), format("{} (recorded at {})", status.message(), lines));
}

/// What one evaluation needs.
struct Scratch {
  Snapshot snapshot;
  Segment segment;
  std::vector<rt::Tensor> inputs, outputs;
  std::vector<rt::BufferRef> buffers;
  std::vector<NodeRef> dropped;
  std::optional<int64_t> read; ///< bytes that the host waits for
  // References must not outlive the evaluation in a thread's state, however it ends.
  void clear() {
    snapshot.clear();
    segment.clear();
    inputs.clear();
    outputs.clear();
    buffers.clear();
    dropped.clear();
    read.reset();
  }
};

/// What is known of a run besides its results.
struct Ran {
  rt::RunReport report;
  bool tookInputs = false;     ///< which are results now
  bool wasAsked = false;       ///< its operations: what they met is known
  bool wasInterpreted = false; ///< nothing was met, unless it is to be looked for
  bool mustLook = false;       ///< something was met
};

/// Whether the run of the last segment writes over an input, which is claimed then.
bool claims(Snapshot &snapshot, const Segment &segment, const NodeRef &input) {
  if (!rt::isOnOne(*input->buffer()) || !snapshot.claim(input))
    return false;
  bool vanishes = mayVanish(segment.code, segment.inputs);
  if (!vanishes)
    snapshot.overwrites().dropLast();
  return vanishes;
}

/// Where operations meet errors again and again, they are asked where they are computed.
bool computeAsked(Scratch &scratch, rt::Device &owner, bool mayInterpret) {
  const Segment &segment = scratch.segment;
  if (!segment.code.watches() || tellingOf(segment.code, owner) != Telling::Results)
    return false;
  auto results = runAsking(segment, segment.inputs, owner, mayInterpret);
  if (!results)
    return false;
  scratch.outputs.clear();
  for (const NodeRef &n : *results)
    scratch.outputs.push_back(tensorOf(*n));
  return true;
}

/// Computes the outputs without a program, or finds one on the way.
Result<std::shared_ptr<rt::LoadedProgram>> interpreted(Scratch &scratch, rt::Device &owner,
                                                       const Met &met, Ran &ran) {
  // Of all values that are made; beyond the first number a program on the disk is the better way.
  // The meetings of a segment cost together about what compiling it does.
  constexpr int64_t kMostBytes = 16 << 20, kMostWithoutDisk = 256 << 20;
  Segment &segment = scratch.segment;
  int64_t most = std::min(kMostBytes, kMostWithoutDisk / met.times);
  const auto begin = std::chrono::steady_clock::now();
  UnderflowFlag flag(listensForUnderflow(segment.code, owner));
  GRAPHC_ASSIGN(Interpreted done, interpret(segment, most, false, scratch.outputs));
  if (done == Interpreted::TooLarge && most < kMostWithoutDisk / met.times) {
    if (auto program = storedProgram(segment, owner))
      return program;
    most = kMostWithoutDisk / met.times;
    GRAPHC_ASSIGN(done, interpret(segment, most, false, scratch.outputs));
  }
  if (done == Interpreted::Refused && segment.code.watches()) {
    GRAPHC_ASSIGN(done, interpret(segment, most, true, scratch.outputs));
    ran.mustLook = done == Interpreted::Done;
  }
  ran.wasInterpreted = done == Interpreted::Done;
  ran.mustLook |= ran.wasInterpreted && flag.isSet();
  tookToInterpret(met, (std::chrono::steady_clock::now() - begin) / std::chrono::nanoseconds(1));
  return std::shared_ptr<rt::LoadedProgram>();
}

/// The program to run; null, and the outputs made, where a segment was interpreted.
Result<ChosenRun> programOrOutputs(Scratch &scratch, rt::Device &owner, bool mayInterpret,
                                   Ran &ran) {
  Segment &segment = scratch.segment;
  rt::Device *fixed = mayInterpret ? fixedDevice(segment, owner) : nullptr;
  if (fixed && onHost(*fixed)) {
    Met met;
    auto program = knownProgram(segment, *fixed, met);
    if (!program && met.times) {
      GRAPHC_ASSIGN(program, interpreted(scratch, *fixed, met, ran));
    }
    if (program || ran.wasInterpreted)
      return ChosenRun{std::move(program)};
  }
  return chosenRun(segment, owner, scratch.buffers, scratch.read);
}

Status computeSegment(Scratch &scratch, rt::Device &owner, bool isLast, bool mayInterpret,
                      Ran &ran) {
  Segment &segment = scratch.segment;
  if (computesNothing(segment))
    return emptyOutputs(segment.outputs, scratch.outputs);
  ran.wasAsked = computeAsked(scratch, owner, mayInterpret);
  if (ran.wasAsked)
    return Status::ok();
  std::vector<rt::BufferRef> &buffers = scratch.buffers;
  buffers.clear();
  for (const NodeRef &n : segment.inputs) {
    if (n->state() != NodeState::Ready)
      return Status(ErrorCode::Internal, "[record] a segment was run before its inputs");
    if (n->isTaken)
      return Status(ErrorCode::Internal, "[record] a value was lost: the process was forked while "
                                         "another thread updated it in place");
    buffers.push_back(n->buffer());
  }
  GRAPHC_ASSIGN(ChosenRun chosen, programOrOutputs(scratch, owner, mayInterpret, ran));
  const rt::LoadedProgram *program = chosen.program.get();
  if (!program)
    return Status::ok();
  buffers.clear(); // who else holds them is asked below
  rt::Device &device = program->device();
  std::vector<rt::Tensor> &inputs = scratch.inputs;
  inputs.clear();
  for (size_t i = 0; i < segment.inputs.size(); ++i) {
    const NodeRef &n = segment.inputs[i];
    bool isGiven =
        isLast && wantsMemory(*program, i, n->bytes()) && claims(scratch.snapshot, segment, n);
    inputs.push_back(tensorOf(*n));
    GRAPHC_ASSIGN(inputs.back().buffer, readyFor(n->buffer(), device));
    inputs.back().isGiven = isGiven;
    ran.tookInputs |= isGiven;
  }
  for (const LiteralInput &literal : segment.literals) {
    GRAPHC_ASSIGN(rt::Tensor t, literalTensor(literal, device));
    inputs.push_back(std::move(t));
  }
  std::vector<int64_t> sizes = segment.sizeArguments(program->program().meta().sizeArguments);
  std::shared_ptr<Look> look;
  if (segment.code.watches() && !device.info().hostVisible) {
    auto kept = std::make_shared<Segment>();
    kept->code = segment.code;
    kept->symbols = segment.symbols;
    look = Look::before(std::move(kept), std::span(inputs).first(segment.inputs.size()), device);
  }
  ran.report.mayTellLater = look != nullptr;
  RunTimer timer(chosen.history.get(), program, chosen.isTimed);
  Status status = runOrSplit(*program, segment, inputs, sizes, scratch.outputs, ran.report);
  if (status)
    status = timer.stop();
  if (look)
    GRAPHC_TRY(Look::after(look, ran.report.isWatchedLater));
  if (status)
    giveTo(owner, scratch.outputs,
           chosen.history && chosen.isCounted ? chosen.history->use : nullptr);
  return ran.report.place ? atPlace(std::move(status), segment.placeLocations(), *ran.report.place)
                          : std::move(status);
}

Status runSegment(Scratch &scratch, rt::Device &device, bool isLast, bool mayInterpret) {
  Segment &segment = scratch.segment;
  std::vector<rt::Tensor> &outputs = scratch.outputs;
  Ran ran;
  if (Status status = computeSegment(scratch, device, isLast, mayInterpret, ran); !status) {
    scratch.snapshot.overwrites().release();
    // An index outside its axis names its own line.
    return status.code() == ErrorCode::Index ? std::move(status)
                                             : withLines(std::move(status), segment);
  }
  if (outputs.size() != segment.outputs.size())
    return Status(ErrorCode::Internal, format("[record] a program gave {} results instead of {}",
                                              outputs.size(), segment.outputs.size()));
  {
    std::lock_guard lock(graphMutex());
    for (size_t i = 0; i < outputs.size(); ++i)
      segment.outputs[i]->publish(std::move(outputs[i].buffer), scratch.dropped);
  }
  scratch.snapshot.overwrites().release();
  scratch.dropped.clear();
  if (ran.mustLook)
    return lookForFloatErrors(segment, segment.inputs, device, true);
  if (ran.wasAsked || ran.wasInterpreted)
    return Status::ok();
  segmentCount.fetch_add(1, std::memory_order_relaxed);
  if (segment.code.watches() && !ran.report.watched && !ran.report.mayTellLater)
    noteFinite(segment.code, segment.code.watch, segment.inputs, segment.outputs, ran.tookInputs);
  if (!needsLook(segment.code, ran.report))
    return Status::ok();
  return ran.tookInputs ? lookAtResults(segment, segment.outputs)
                        : lookForFloatErrors(segment, segment.inputs, device, mayInterpret);
}

} // namespace

/// Together.
static int64_t bytesOf(std::span<const NodeRef> nodes) {
  int64_t bytes = 0;
  for (const NodeRef &n : nodes)
    bytes += n->bytes();
  return bytes;
}

Status computeNow(std::span<const NodeRef> roots, rt::Device &device, bool mayInterpret) {
  Lease<Scratch> lease;
  Scratch &scratch = *lease;
  GRAPHC_TRY(scratch.snapshot.retake(roots, false));
  size_t prepared = 0;
  for (size_t i = 0; i < scratch.snapshot.segmentCount(); ++i) {
    scratch.snapshot.build(i, scratch.segment);
    if (i >= prepared)
      prepared = compileAhead(scratch.snapshot, i, scratch.segment, device, mayInterpret);
    scratch.read.reset();
    if (mayInterpret && i + 1 == scratch.snapshot.segmentCount())
      scratch.read = bytesOf(roots);
    if (!scratch.segment.outputs.empty())
      GRAPHC_TRY(
          runSegment(scratch, device, i + 1 == scratch.snapshot.segmentCount(), mayInterpret));
    scratch.snapshot.drop(i);
  }
  return Status::ok();
}

bool wantsMemory(const rt::LoadedProgram &program, size_t input, int64_t bytes) {
  // Smaller ones stay in a cache: asking who else needs one costs more than it saves.
  constexpr int64_t kWorthReuse = int64_t{1} << 17;
  return program.takes(input) || (program.reuses(input) && bytes >= kWorthReuse);
}

rt::Tensor tensorOf(const Node &node) { return {node.buffer(), node.dtype(), node.shape()}; }

Status atPlace(Status status, std::span<const Location> places, uint32_t place) {
  std::string line = place < places.size() ? locationText(places[place]) : std::string();
  return line.empty()
             ? std::move(status)
             : Status(status.code(), format("{} (recorded at {})", status.message(), line));
}

bool computesNothing(const Segment &segment) {
  return std::ranges::all_of(segment.outputs, [](const NodeRef &n) { return n->bytes() == 0; });
}

Status emptyOutputs(std::span<const NodeRef> nodes, std::vector<rt::Tensor> &outputs) {
  outputs.clear();
  for (const NodeRef &n : nodes) {
    rt::Tensor t{nullptr, n->dtype(), n->shape()};
    GRAPHC_ASSIGN(t.buffer, n->device().allocate(0));
    outputs.push_back(std::move(t));
  }
  return Status::ok();
}

Result<rt::Tensor> literalTensor(const LiteralInput &literal, rt::Device &device) {
  rt::Tensor t{nullptr, literal.dtype, {}};
  GRAPHC_ASSIGN(t.buffer, device.allocate(itemSize(literal.dtype)));
  // Little-endian: the low bytes of the pattern are the value.
  const std::array<uint64_t, 2> words{literal.bits, 0}; // of a complex literal the imaginary part
  GRAPHC_TRY(device.queue().upload(*t.buffer, words.data(), itemSize(literal.dtype)));
  return t;
}

/// A 0-d literal is stored, not computed: a program for each value would be compiled.
static Status storeLiteral(const NodeRef &literal) {
  LiteralInput input{static_cast<uint64_t>(literal->attrs()[0]), literal->dtype()};
  GRAPHC_ASSIGN(rt::Tensor t, literalTensor(input, literal->device()));
  std::vector<NodeRef> dropped;
  std::lock_guard lock(graphMutex());
  literal->publish(std::move(t.buffer), dropped);
  return Status::ok();
}

/// One device at a time: a graph never spans two.
static Status computeEach(std::span<NodeRef> pending, bool mayInterpret) {
  std::ranges::sort(pending, {}, [](const NodeRef &n) { return &n->device(); });
  for (size_t begin = 0, end = 0; begin < pending.size(); begin = end) {
    rt::Device &device = pending[begin]->device();
    while (end < pending.size() && &pending[end]->device() == &device)
      ++end;
    GRAPHC_TRY(computeNow(pending.subspan(begin, end - begin), device, mayInterpret));
  }
  return Status::ok();
}

Status evaluate(std::span<const NodeRef> roots, Reason reason) {
  std::vector<NodeRef> pending;
  for (const NodeRef &root : roots) {
    NodeState state = root->state();
    if (state == NodeState::Pending && root->kind() == op::OpKind::Full &&
        root->shape().rank() == 0)
      GRAPHC_TRY(storeLiteral(root));
    else if (state != NodeState::Ready)
      pending.push_back(root);
  }
  if (pending.empty())
    return Status::ok();
  countReason(reason);
  TraceSpan span("record", "evaluate");
  // Who asks for results by name wants the program.
  const bool mayInterpret =
      reason != "eval" && reason != "jit" && small::loopTurns() != small::kNever;
  const bool isLarge =
      std::ranges::any_of(pending, [](const NodeRef &n) { return n->reach() > small::kMostReach; });
  if (mayInterpret && pending.size() == 1)
    small::noteAsked(pending[0]);
  GRAPHC_TRY(computeEach(pending, mayInterpret));
  if (std::vector<NodeRef> held = isLarge ? takeHolders() : std::vector<NodeRef>(); !held.empty()) {
    countReason("holders");
    // What cannot be computed stays as it is: who reads it is told.
    static_cast<void>(computeEach(held, mayInterpret));
  }
  if (reason == "eval" || reason == "errstate")
    for (const NodeRef &root : pending)
      GRAPHC_TRY(lookNow(root->device()));
  return deliverFloatErrors();
}

Result<bool> hasValue(const NodeRef &root, Reason reason) {
  Status computed = evaluate({&root, 1}, reason);
  if (computed.code() == ErrorCode::Trace)
    return false;
  GRAPHC_TRY(std::move(computed));
  return true;
}

Result<std::vector<NodeRef>> evaluateArrays(std::span<Array *const> arrays, Reason reason) {
  std::vector<NodeRef> roots;
  std::vector<uint64_t> versions;
  for (Array *a : arrays) {
    versions.push_back(a->storage()->versioned().second);
    GRAPHC_ASSIGN(NodeRef node, a->needed());
    roots.push_back(std::move(node));
  }
  GRAPHC_TRY(evaluate(roots, reason));
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i]->view().isReshape())
      arrays[i]->remember(roots[i], versions[i]);
    else if (!arrays[i]->view().isWhole())
      roots[i] = arrays[i]->reshaped(roots[i]);
  }
  return roots;
}

bool showsMost(const Array &x) {
  int64_t whole = 1;
  for (int64_t size : x.view().base())
    whole *= size;
  return x.size() * 2 >= whole;
}

Status evaluateStorages(std::span<Array *const> arrays, Reason reason) {
  std::vector<Array> owners;
  owners.reserve(arrays.size());
  for (Array *a : arrays)
    owners.push_back(showsMost(*a) ? Array::ofStorage(a->storage()) : Array());
  std::vector<Array *> wanted;
  for (size_t i = 0; i < arrays.size(); ++i)
    wanted.push_back(owners[i].isNull() ? arrays[i] : &owners[i]);
  return evaluateArrays(wanted, reason).takeStatus();
}

/// Stages of one kind of target are printed for that kind, whatever the device: device code for a
/// device with everything.
static Result<TargetDesc> targetOfStage(std::string_view stage, rt::Device &device) {
  TargetDesc target{device.info().target, device.info().features};
  bool deviceCode = stage == "opencl" || stage == "spirv" || stage == "ptx";
  if (deviceCode && target.kind != program::Target::OpenCL)
    return TargetDesc{program::Target::OpenCL, "fp64"};
  if ((stage == "llvm" || stage == "asm") && target.kind != program::Target::Cpu) {
    GRAPHC_ASSIGN(rt::Device * cpu, rt::findDevice("cpu"));
    return TargetDesc{program::Target::Cpu, cpu->info().features};
  }
  return target;
}

Result<std::string> printStage(std::span<const NodeRef> roots, std::string_view stage) {
  GRAPHC_ASSIGN(Snapshot snapshot, Snapshot::take(roots, true));
  std::string text;
  for (size_t i = 0; i < snapshot.segmentCount(); ++i) {
    Segment segment = snapshot.build(i);
    if (snapshot.segmentCount() > 1)
      text += format("// program {} of {}\n", i + 1, snapshot.segmentCount());
    op::GraphDesc graph = segment.graph(true);
    if (stage == "recorded") {
      text += op::printGraph(graph);
      continue;
    }
    // What is exported is the computation: whoever runs it elsewhere does not ask about errors, and
    // may write other places.
    if (stage == "graph") {
      graph.watch = op::Watch::None;
      for (op::NodeDesc &node : graph.nodes)
        node.apart = 0, node.isSmall = false;
    }
    GRAPHC_ASSIGN(const CompilerApi *compiler, loadCompiler());
    GRAPHC_ASSIGN(TargetDesc target, targetOfStage(stage, roots[0]->device()));
    GRAPHC_ASSIGN(std::string part, compiler->printStage(graph, target, stage));
    text += part;
  }
  return text;
}

Result<rt::Device *> currentDevice() {
  if (threadDevice)
    return threadDevice;
  // The default cannot change while the process runs; a failure is asked for again.
  static std::atomic<rt::Device *> processDevice{nullptr};
  if (rt::Device *device = processDevice.load(std::memory_order_acquire))
    return device;
  GRAPHC_ASSIGN(rt::Device * device, findTested(""));
  processDevice.store(device, std::memory_order_release);
  return device;
}

rt::Device *setCurrentDevice(rt::Device *device) { return std::exchange(threadDevice, device); }

std::map<std::string, int64_t> evaluationCounts() {
  std::lock_guard lock(counts().mutex);
  return {counts().byReason.begin(), counts().byReason.end()};
}
void resetEvaluationCounts() {
  std::lock_guard lock(counts().mutex);
  counts().byReason.clear();
}
int64_t segmentsRun() { return segmentCount.load(std::memory_order_relaxed); }

int64_t pendingBudget() {
  int64_t bytes = budgetBytes.load(std::memory_order_relaxed);
  if (bytes < 0) {
    bytes = defaultBudget();
    budgetBytes.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}
void setPendingBudget(int64_t bytes) { budgetBytes.store(bytes, std::memory_order_relaxed); }

static thread_local int withoutBudget = 0;
WithoutBudget::WithoutBudget() { ++withoutBudget; }
WithoutBudget::~WithoutBudget() { --withoutBudget; }

Status respectBudget(const NodeRef &recorded) {
  if (withoutBudget > 0 || pendingBytes() <= pendingBudget() ||
      recorded->state() != NodeState::Pending || Trace::active())
    return Status::ok();
  return evaluate({&recorded, 1}, "budget");
}

} // namespace graphc
