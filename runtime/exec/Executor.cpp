//===- Executor.cpp - Loading and running programs --------------------------------------------===//
#include "runtime/exec/Executor.h"

#include "runtime/base/Trace.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/drivers/HostScratch.h"
#include "runtime/exec/CallChecks.h"
#include "runtime/exec/RunState.h"
#include "runtime/exec/Takers.h"
#include "runtime/exec/TileRows.h"
#include "runtime/exec/Watch.h"
#include "runtime/library/Library.h"

#include <algorithm>
#include <optional>

namespace graphc::rt {

using namespace program;

/// The program in the form that run() walks: numbers resolved, lists flat, buffer lifetimes
/// decided.
struct LoadedProgram::Impl {
  struct BufferPlan {
    BufferKind kind;
    int64_t itemBytes;
    uint32_t elements; ///< size number
    uint32_t number;   ///< input number of an input
    uint32_t donor;    ///< input number or kNone
  };
  struct StepPlan {
    StepKind kind;
    uint32_t kernel; ///< or the number in `calls`
    uint32_t range;
    uint32_t scratch; ///< size number or kNone
    uint32_t work;    ///< size number or kNone
    uint32_t rows;    ///< size number or kNone
    uint32_t skew;    ///< size number or kNone
    std::span<const uint32_t> buffers;
    std::span<const uint32_t> sizes;
    std::vector<uint32_t> allocate; ///< buffers first used here
    std::vector<uint32_t> release;  ///< temporaries last used here
  };
  /// Steps that may be run row by row.
  struct TilePlan {
    size_t first, last;           ///< steps
    std::vector<uint32_t> locals; ///< temporaries of these steps alone
    std::vector<uint32_t> others; ///< the rest of what they touch
    bool begins;                  ///< memory after its first step has begun
  };
  struct CallPlan {
    std::optional<Routine> routine; ///< nothing: this runtime has none of that name
    std::string name, lines;
    std::vector<uint32_t> ranks;
    std::vector<int64_t> params;
    int64_t node; ///< or -1
  };

  Impl(Program p, Device &d) : program(std::move(p)), device(d) {}

  Program program;
  Device &device;
  std::unique_ptr<Module> module;
  std::vector<int64_t> sizeValues;    ///< constants in place, 0 elsewhere
  std::vector<uint32_t> dynamicSizes; ///< the others, in order
  std::vector<BufferPlan> buffers;
  std::vector<BufferRef> constants; ///< by buffer number, null for other kinds
  std::vector<uint32_t> unused;     ///< output buffers that no step touches
  Takers takers;
  std::vector<StepPlan> steps;
  std::vector<TilePlan> tiles; ///< in order of their steps
  std::vector<uint32_t> heirs; ///< by buffer number: who begins in its memory, or kNone
  std::vector<CallPlan> calls; ///< one a step of that kind
  std::string traceName;

  /// Whether its steps touch neighbouring rows: then it has no locals.
  bool isSkewed(const TilePlan &tile) const { return steps[tile.first].skew != kNone; }
  /// Whether a tile may ask for memory when others have written, or steps of one share some.
  bool tilesBegin() const { return std::ranges::any_of(tiles, &TilePlan::begins); }
  void plan();
  void planTiles(std::span<const size_t> first, std::span<const size_t> last);
  void planCall(const StepRecord &step);
  Status loadConstants();
};

namespace {

thread_local RunState threadState;

} // namespace

void LoadedProgram::Impl::plan() {
  for (uint32_t i = 0; i < program.sizes().size(); ++i) {
    const SizeRecord &s = program.sizes()[i];
    bool constant = static_cast<SizeKind>(s.kind) == SizeKind::Constant;
    sizeValues.push_back(constant ? s.value : 0);
    if (!constant)
      dynamicSizes.push_back(i);
  }
  for (const BufferRecord &b : program.buffers())
    buffers.push_back({static_cast<BufferKind>(b.kind), itemSize(static_cast<DType>(b.dtype)),
                       b.elements, b.a, b.donor});
  constexpr size_t kNever = SIZE_MAX;
  std::vector<size_t> first(buffers.size(), kNever), last(buffers.size(), kNever);
  for (const StepRecord &s : program.steps()) {
    auto kind = static_cast<StepKind>(s.kind);
    bool isLaunch = kind == StepKind::Launch;
    if (kind == StepKind::Call)
      planCall(s);
    StepPlan step = {kind,
                     isLaunch ? s.kernel : static_cast<uint32_t>(calls.size() - 1),
                     s.range,
                     isLaunch ? program.kernels()[s.kernel].scratch : kNone,
                     s.work,
                     s.rows,
                     s.skew,
                     program.stepBuffers(s),
                     program.stepSizes(s),
                     {},
                     {}};
    for (uint32_t b : step.buffers) {
      if (first[b] == kNever)
        first[b] = steps.size();
      last[b] = steps.size();
    }
    steps.push_back(std::move(step));
  }
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    bool isTemp = buffers[b].kind == BufferKind::Temp;
    if (!isTemp && buffers[b].kind != BufferKind::Output)
      continue;
    if (first[b] != kNever)
      steps[first[b]].allocate.push_back(b);
    else if (!isTemp)
      unused.push_back(b);
    if (isTemp && last[b] != kNever)
      steps[last[b]].release.push_back(b);
  }
  if (device.info().tilesRows)
    planTiles(first, last);
  takers = TakerPlanner<Impl>(*this, first, last).decide();
  heirs = planHeirs(*this, last);
  traceName = std::string(program.text(program.meta().name));
}

void LoadedProgram::Impl::planTiles(std::span<const size_t> first, std::span<const size_t> last) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepRecord &s = program.steps()[i];
    if (s.tile == kNone)
      continue;
    if (s.tile >= tiles.size())
      tiles.push_back({i, i, {}, {}, false});
    tiles.back().last = i;
  }
  for (TilePlan &tile : tiles) {
    std::vector<bool> seen(buffers.size());
    for (size_t i = tile.first; i <= tile.last; ++i)
      for (uint32_t b : steps[i].buffers) {
        if (seen[b])
          continue;
        seen[b] = true;
        bool isLocal = !isSkewed(tile) && buffers[b].kind == BufferKind::Temp &&
                       first[b] >= tile.first && last[b] <= tile.last;
        (isLocal ? tile.locals : tile.others).push_back(b);
        bool isOwn = buffers[b].kind == BufferKind::Temp || buffers[b].kind == BufferKind::Output;
        tile.begins |= isLocal || (isOwn && first[b] > tile.first);
      }
  }
}

void LoadedProgram::Impl::planCall(const StepRecord &step) {
  const CallRecord &record = program.calls()[step.kernel];
  std::span<const uint32_t> ranks = program.callRanks(step);
  CallPlan call;
  call.name = std::string(program.text(record.routine));
  call.routine = routineFromName(call.name);
  call.lines = std::string(program.text(record.lines));
  call.ranks.assign(ranks.begin(), ranks.end());
  for (uint32_t i = 0; i < record.paramCount; ++i)
    call.params.push_back(program.callParam(record, i));
  call.node = record.node == kNone ? -1 : static_cast<int64_t>(record.node);
  calls.push_back(std::move(call));
}

Status LoadedProgram::Impl::loadConstants() {
  constants.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind != BufferKind::Constant)
      continue;
    // The reader has checked size and place of every constant.
    int64_t bytes = sizeValues[buffers[i].elements] * buffers[i].itemBytes;
    GRAPHC_ASSIGN(constants[i], device.allocate(bytes));
    GRAPHC_TRY(
        device.queue().upload(*constants[i], program.data().data() + buffers[i].number, bytes));
  }
  return Status::ok();
}

namespace {

/// One run: the walk over the plan with a thread's state.
template <typename Impl>
class Run {
public:
  Run(const Impl &plan, std::span<const Tensor> inputs, RunState &state)
      : plan(plan), program(plan.program), inputs(inputs), state(state) {}
  ~Run() { state.clear(); }

  Status execute(std::span<const int64_t> arguments, std::vector<Tensor> &outputs,
                 RunReport *report) {
    GRAPHC_TRY(checkInputs(program, plan.device, inputs, arguments));
    GRAPHC_TRY(computeSizes(arguments));
    GRAPHC_TRY(checkShapes(program, inputs, state.sizes));
    if (!plan.module->isWhole())
      GRAPHC_TRY(prepareKernels());
    isWatchedLater = report && report->mayTellLater && program.faultBuffer() &&
                     program.faults().empty() && !plan.device.info().hostVisible;
    GRAPHC_TRY(bindBuffers());
    size_t nextTile = 0;
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      if (i == state.firstWrite && !program.faults().empty()) {
        GRAPHC_ASSIGN(bool found, findFaults(i));
        if (found)
          break;
      }
      if (nextTile < plan.tiles.size() && plan.tiles[nextTile].first == i) {
        const auto &tile = plan.tiles[nextTile++];
        if (TileShape shape = shapeOf(tile); shape.rows) {
          GRAPHC_TRY(executeTile(tile, shape));
          i = tile.last;
          continue;
        }
      }
      GRAPHC_TRY(executeStep(plan.steps[i]));
    }
    GRAPHC_TRY(checkFaults(report));
    return collect(outputs);
  }

  Status prepareKernels() {
    std::vector<uint32_t> launched;
    for (const auto &step : plan.steps)
      if (step.kind == StepKind::Launch && state.sizes[step.range] > 0)
        launched.push_back(step.kernel);
    return plan.module->prepare(launched);
  }

  Status measure(std::span<const int64_t> arguments, RunCost &cost, std::vector<Tensor> &outputs) {
    if (inputs.size() != program.inputs().size() ||
        arguments.size() != program.meta().sizeArguments)
      return runError(ErrorCode::InvalidArgument,
                      "{} inputs and {} size arguments given, {} and {} wanted", inputs.size(),
                      arguments.size(), program.inputs().size(), program.meta().sizeArguments);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].shape.rank() != program.inputs()[i].rank)
        return runError(ErrorCode::Shape, "{} has shape {}, the program wants rank {}",
                        inputText(program, i), shapeText(inputs[i].shape),
                        program.inputs()[i].rank);
    GRAPHC_TRY(computeSizes(arguments));
    int64_t live = 0;
    auto add = [&](uint32_t b, int64_t sign) -> Status {
      auto bytes = checkedMul(state.sizes[plan.buffers[b].elements], plan.buffers[b].itemBytes);
      if (!bytes)
        return runError(ErrorCode::OutOfMemory, "a buffer does not fit in 64 bits ({})",
                        allShapes(program, inputs));
      live += sign * *bytes;
      cost.peakBytes = std::max(cost.peakBytes, live);
      return Status::ok();
    };
    for (uint32_t b : plan.unused)
      GRAPHC_TRY(add(b, 1));
    std::vector<bool> local(plan.buffers.size()); // or in the memory of a given input
    std::vector<int64_t> spare;                   // of such memory, bytes that are free again
    for (const auto &tile : plan.tiles)
      if (shapeOf(tile).rows)
        for (uint32_t b : tile.locals)
          local[b] = true; // a few rows for each thread, kept by it
    chooseTakers();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (state.takers[i] != kNone) {
        local[state.takers[i]] = true;
        cost.copies -= plan.takers.copied[i];
      }
    for (const auto &step : plan.steps) {
      for (uint32_t b : step.allocate) {
        if (auto same = std::ranges::find(spare, bytesOf(b)); !local[b] && same != spare.end()) {
          spare.erase(same);
          local[b] = true;
        }
        if (!local[b])
          GRAPHC_TRY(add(b, 1));
      }
      cost.copies += step.kind == StepKind::Copy;
      cost.calls += step.kind == StepKind::Call;
      cost.launches += step.kind == StepKind::Launch && state.sizes[step.range] > 0;
      for (uint32_t b : step.release)
        if (!local[b])
          GRAPHC_TRY(add(b, -1));
        else if (!plan.tilesBegin())
          spare.push_back(bytesOf(b));
    }
    outputs.resize(program.outputs().size());
    for (size_t i = 0; i < outputs.size(); ++i)
      describe(program.outputs()[i], outputs[i]);
    return Status::ok();
  }

private:
  void describe(const TensorRecord &record, Tensor &t) const {
    t.dtype = static_cast<DType>(record.dtype);
    t.shape.resize(record.rank);
    std::span<const uint32_t> dims = program.dims(record);
    for (size_t d = 0; d < dims.size(); ++d)
      t.shape[d] = state.sizes[dims[d]];
  }

  Status computeSizes(std::span<const int64_t> arguments) {
    state.sizes = plan.sizeValues;
    for (uint32_t i : plan.dynamicSizes) {
      auto value = evaluate(program.sizes()[i], state.sizes, inputs, arguments);
      if (!value)
        return runError(ErrorCode::Shape, "a size does not fit in 64 bits ({})",
                        allShapes(program, inputs));
      state.sizes[i] = *value;
    }
    return Status::ok();
  }

  Status bindBuffers() {
    state.buffers.assign(plan.buffers.size(), nullptr);
    state.owned.resize(std::max(state.owned.size(), plan.buffers.size()));
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      if (plan.buffers[i].kind == BufferKind::Input)
        state.buffers[i] = inputs[plan.buffers[i].number].buffer.get();
      else if (plan.buffers[i].kind == BufferKind::Constant)
        state.buffers[i] = plan.constants[i].get();
    }
    for (uint32_t b : plan.unused)
      GRAPHC_TRY(allocate(b));
    GRAPHC_TRY(takeInputs());
    if (auto number = program.faultBuffer())
      GRAPHC_TRY(bindFaults(*number));
    return Status::ok();
  }

  Status bindFaults(uint32_t number) {
    if (plan.device.info().hostVisible) {
      if (!state.faults || &state.faults->device() != &plan.device)
        state.faults = std::make_unique<FaultWords>(plan.device);
      std::ranges::fill(state.faults->words, 0);
      state.buffers[number] = state.faults.get();
      return Status::ok();
    }
    if (isWatchedLater) {
      GRAPHC_ASSIGN(state.owned[number], watchWords(plan.device));
      state.buffers[number] = state.owned[number].get();
      return Status::ok();
    }
    constexpr int64_t kNoFault[kFaultWords] = {};
    GRAPHC_TRY(allocate(number));
    return plan.device.queue().upload(*state.buffers[number], kNoFault, sizeof kNoFault);
  }

  int64_t bytesOf(uint32_t buffer) const {
    return state.sizes[plan.buffers[buffer].elements] * plan.buffers[buffer].itemBytes;
  }

  /// Which buffer each given input becomes.
  void chooseTakers() {
    state.takers.assign(inputs.size(), kNone);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].isGiven)
        continue;
      int64_t bytes = bytesOf(program.inputs()[i].buffer);
      if (uint32_t to = plan.takers.buffers[i]; to != kNone && bytesOf(to) <= bytes)
        state.takers[i] = to;
      for (size_t s = plan.takers.serves[i]; s < plan.steps.size() && state.takers[i] == kNone; ++s)
        for (uint32_t b : plan.steps[s].allocate)
          if (bytesOf(b) == bytes && std::ranges::find(state.takers, b) == state.takers.end() &&
              std::ranges::find(plan.takers.buffers, b) == plan.takers.buffers.end()) {
            state.takers[i] = b;
            break;
          }
    }
  }

  /// Everything is allocated before an input is written: a run without memory loses nothing. What
  /// is not needed any more when a buffer of its size is begun is that buffer's memory.
  Status allocateAhead() {
    std::vector<uint32_t> ended;
    for (const auto &step : plan.steps) {
      for (uint32_t b : step.allocate) {
        if (state.buffers[b])
          continue;
        auto same = std::ranges::find(ended, bytesOf(b), [&](uint32_t e) { return bytesOf(e); });
        if (same == ended.end()) {
          GRAPHC_TRY(allocate(b));
          continue;
        }
        state.owned[b] = state.owned[*same];
        state.buffers[b] = state.buffers[*same];
        ended.erase(same);
      }
      ended.insert(ended.end(), step.release.begin(), step.release.end());
    }
    return Status::ok();
  }

  /// Whether there is what launches work in, once an input is taken. Without, the first one that
  /// wants it refuses, and has written to nobody's memory.
  bool hasScratch() const {
    int64_t most = 0;
    for (const auto &step : plan.steps)
      if (step.kind == StepKind::Launch && step.scratch != kNone)
        most = std::max(most, state.sizes[step.scratch]);
    bool isAny = std::ranges::any_of(state.takers, [](uint32_t to) { return to != kNone; });
    return !isAny || most == 0 || holdScratch(most);
  }

  Status takeInputs() {
    bool any = false;
    state.firstWrite = plan.steps.size();
    for (const auto &step : plan.steps)
      if (step.kind == StepKind::Launch && state.sizes[step.range] < 0)
        return Status::ok(); // launch() refuses it
    chooseTakers();
    if (!hasScratch())
      return Status::ok();
    for (size_t i = 0; i < inputs.size(); ++i) {
      uint32_t to = state.takers[i];
      if (to == kNone)
        continue;
      state.owned[to] = inputs[i].buffer;
      state.buffers[to] = inputs[i].buffer.get();
      state.firstWrite = std::min<size_t>(state.firstWrite, plan.takers.begins[i]);
      any = true;
    }
    return any ? allocateAhead() : Status::ok();
  }

  /// Whether an index is outside its axis, in the steps before `next` or in those from it on,
  /// before which inputs may be written to.
  Result<bool> findFaults(size_t next) {
    auto &words = state.faults->words;
    words[kCheckWord] = 1;
    for (size_t i = next; i < plan.steps.size() && words[0] == 0; ++i)
      if (plan.takers.checks[i])
        GRAPHC_TRY(launch(plan.steps[i]));
    words[kCheckWord] = 0;
    return words[0] != 0;
  }

  /// Waits for the run when it checks indices: its outputs must not be seen when one was outside.
  Status checkFaults(RunReport *report) {
    auto number = program.faultBuffer();
    if (!number)
      return Status::ok();
    if (isWatchedLater) {
      report->isWatchedLater = true;
      return Status::ok();
    }
    int64_t words[kFaultWords] = {};
    Buffer &buffer = *state.buffers[*number];
    if (&buffer == state.faults.get()) {
      GRAPHC_TRY(plan.device.queue().finish());
      std::ranges::copy(state.faults->words, words);
    } else {
      GRAPHC_TRY(plan.device.queue().download(words, buffer, sizeof words));
    }
    if (report)
      report->watched = words[kWatchWord] != 0;
    if (words[0] == 0)
      return Status::ok();
    auto site = static_cast<size_t>(words[0] - 1);
    if (site >= program.faults().size())
      return runError(ErrorCode::Internal, "a fault at an unknown place");
    const FaultRecord &fault = program.faults()[site];
    std::string_view line = program.text(fault.line);
    if (report && fault.place != kNone) {
      report->place = fault.place;
      line = "";
    }
    return {ErrorCode::Index,
            strings::format("index {} is out of bounds for axis {} with size {}{}{}{}", words[1],
                            fault.axis, words[2], line.empty() ? "" : " (recorded at ", line,
                            line.empty() ? "" : ")")};
  }

  Status allocate(uint32_t number) {
    const auto &b = plan.buffers[number];
    int64_t elements = state.sizes[b.elements];
    auto bytes = checkedMul(elements, b.itemBytes);
    if (elements < 0 || !bytes)
      return runError(elements < 0 ? ErrorCode::Shape : ErrorCode::OutOfMemory,
                      "a buffer of {} elements cannot exist ({})", elements,
                      allShapes(program, inputs));
    GRAPHC_ASSIGN(state.owned[number], plan.device.allocate(*bytes));
    state.buffers[number] = state.owned[number].get();
    return Status::ok();
  }

  template <typename Step>
  Status executeStep(const Step &step) {
    for (uint32_t b : step.allocate)
      if (!state.buffers[b])
        GRAPHC_TRY(allocate(b));
    switch (step.kind) {
    case StepKind::Copy:
      GRAPHC_TRY(copy(step.buffers[0], step.buffers[1]));
      break;
    case StepKind::Call:
      GRAPHC_TRY(call(step, plan.calls[step.kernel]));
      break;
    case StepKind::Launch:
      GRAPHC_TRY(launch(step));
      break;
    }
    for (uint32_t b : step.release)
      endBuffer(b);
    return Status::ok();
  }

  void endBuffer(uint32_t number) {
    uint32_t heir = plan.heirs[number];
    if (heir != kNone && !state.buffers[heir]) {
      state.owned[heir] = std::move(state.owned[number]);
      state.buffers[heir] = state.buffers[number];
    }
    state.owned[number].reset();
    state.buffers[number] = nullptr;
  }

  /// Steps that count fewer have several rows a part, or none.
  template <typename Tile>
  int64_t rowsOf(const Tile &tile) const {
    int64_t rows = 0;
    for (size_t i = tile.first; i <= tile.last; ++i)
      rows = std::max(rows, state.sizes[plan.steps[i].rows]);
    return rows;
  }

  /// How many rows of a tile are run at a time, or 0, and in how many groups its steps.
  template <typename Tile>
  TileShape shapeOf(const Tile &tile) const {
    TileSize size = {rowsOf(tile), 0, 0};
    if (size.rows < 2)
      return {};
    for (const auto *group : {&tile.locals, &tile.others})
      for (uint32_t b : *group) {
        int64_t elements = state.sizes[plan.buffers[b].elements];
        if (elements < 0 || (group == &tile.locals && elements % size.rows))
          return {};
        auto more = checkedMul(elements, plan.buffers[b].itemBytes);
        auto sum = more ? checkedAdd(size.bytes, *more) : std::nullopt;
        if (!sum)
          return {};
        size.bytes = *sum;
      }
    constexpr int64_t kTogether = program::kRowsTogether;
    for (size_t i = tile.first; i <= tile.last; ++i) {
      int64_t range = state.sizes[plan.steps[i].range], parts = state.sizes[plan.steps[i].rows];
      bool together = parts != size.rows && parts == (size.rows + kTogether - 1) / kTogether;
      // Steps without parts may not run in a tile.
      if (range < 0 || (parts > 0 ? range % parts : range) != 0 ||
          (parts > 0 && parts != size.rows && !together))
        return {};
      // The last buffer is the one that such a step writes.
      if (together)
        size.turnedBytes += bytesOf(plan.steps[i].buffers.back());
    }
    int64_t threads = plan.device.info().threads, skew = skewOf(tile);
    if (skew == 0)
      return {rowsAtATime(size, threads), 1};
    return skewedShape(
        {size.rows, size.bytes, skew, static_cast<int64_t>(tile.last - tile.first + 1)}, threads);
  }

  template <typename Tile>
  int64_t skewOf(const Tile &tile) const {
    return plan.isSkewed(tile) ? state.sizes[plan.steps[tile.first].skew] : 0;
  }

  /// Allocates what outlives the tile, runs it, and gives back what ends with it.
  template <typename Tile>
  Status executeTile(const Tile &tile, TileShape shape) {
    int64_t rows = rowsOf(tile);
    auto numberOf = [&](uint32_t b) {
      auto found = std::ranges::find(tile.locals, b);
      return static_cast<size_t>(found - tile.locals.begin());
    };
    state.tileLocals.clear();
    for (uint32_t b : tile.locals)
      state.tileLocals.push_back(state.sizes[plan.buffers[b].elements] / rows *
                                 plan.buffers[b].itemBytes);
    state.tileOperands.clear();
    state.tileSizes.clear();
    for (size_t i = tile.first; i <= tile.last; ++i) {
      const auto &step = plan.steps[i];
      for (uint32_t b : step.buffers) {
        size_t local = numberOf(b);
        bool isLocal = local < tile.locals.size();
        if (!isLocal && !state.buffers[b])
          GRAPHC_TRY(allocate(b));
        state.tileOperands.push_back(
            {isLocal ? nullptr : state.buffers[b], static_cast<uint32_t>(local)});
      }
      for (uint32_t s : step.sizes)
        state.tileSizes.push_back(state.sizes[s]);
    }
    GRAPHC_TRY(launchTile(tile, rows, shape));
    for (size_t i = tile.first; i <= tile.last; ++i)
      for (uint32_t b : plan.steps[i].release)
        endBuffer(b);
    return Status::ok();
  }

  template <typename Tile>
  Status launchTile(const Tile &tile, int64_t rows, TileShape shape) {
    state.tileSteps.clear();
    const TileLaunch::Operand *operands = state.tileOperands.data();
    const int64_t *sizes = state.tileSizes.data();
    for (size_t i = tile.first; i <= tile.last; ++i) {
      const auto &step = plan.steps[i];
      int64_t scratch = step.scratch == kNone ? 0 : state.sizes[step.scratch];
      if (scratch < 0)
        return runError(ErrorCode::Shape, "a negative size ({})", allShapes(program, inputs));
      if (int64_t range = state.sizes[step.range]) {
        int64_t parts = state.sizes[step.rows];
        state.tileSteps.push_back({step.kernel,
                                   {operands, step.buffers.size()},
                                   {sizes, step.sizes.size()},
                                   range / parts,
                                   parts == rows ? 1 : program::kRowsTogether,
                                   scratch,
                                   step.work == kNone ? 1 : state.sizes[step.work]});
      }
      operands += step.buffers.size();
      sizes += step.sizes.size();
    }
    return plan.device.queue().launchTile({plan.module.get(), state.tileSteps, state.tileLocals,
                                           rows, shape.rows, skewOf(tile), shape.groups});
  }

  Status copy(uint32_t destination, uint32_t source) {
    int64_t elements = state.sizes[plan.buffers[source].elements];
    if (elements != state.sizes[plan.buffers[destination].elements])
      return runError(ErrorCode::Internal, "a copy between buffers of different sizes");
    if (elements == 0 || state.buffers[source] == state.buffers[destination])
      return Status::ok();
    return plan.device.queue().copy(*state.buffers[destination], *state.buffers[source],
                                    elements * plan.buffers[source].itemBytes);
  }

  template <typename Step>
  Status launch(const Step &step) {
    int64_t range = state.sizes[step.range];
    int64_t scratch = step.scratch == kNone ? 0 : state.sizes[step.scratch];
    if (range < 0 || scratch < 0)
      return runError(ErrorCode::Shape, "a negative size ({})", allShapes(program, inputs));
    if (range == 0)
      return Status::ok();
    state.launchBuffers.clear();
    for (uint32_t b : step.buffers)
      state.launchBuffers.push_back(state.buffers[b]);
    state.launchSizes.clear();
    for (uint32_t s : step.sizes)
      state.launchSizes.push_back(state.sizes[s]);
    int64_t work = step.work == kNone ? 1 : state.sizes[step.work];
    return plan.device.queue().launch({plan.module.get(), step.kernel, state.launchBuffers,
                                       state.launchSizes, range, scratch, work});
  }

  /// The error with the user's line, where the program knows it; a recorder names the line of the
  /// node instead, since programs are shared.
  template <typename Call>
  static Status failed(Status status, const Call &call) {
    if (call.node < 0 && !call.lines.empty())
      return {status.code(), strings::format("{} (at {})", status.message(), call.lines)};
    status.setNode(call.node);
    return status;
  }

  /// A tensor of a call in host memory; `held` keeps what was copied from the device.
  Result<library::Operand> hostOperand(uint32_t buffer, std::span<const int64_t> shape, bool reads,
                                       BufferRef &held) {
    const BufferRecord &record = program.buffers()[buffer];
    auto dtype = static_cast<DType>(record.dtype);
    auto bytes = byteCount(shape, dtype);
    Buffer &own = *state.buffers[buffer];
    if (!bytes || *bytes > own.bytes())
      return runError(ErrorCode::Shape, "a library step passes shape {} in a buffer of {} bytes",
                      shapeText(shape), own.bytes());
    if (own.host())
      return library::Operand{own.host(), dtype, shape};
    GRAPHC_ASSIGN(Device * cpu, findDevice("cpu"));
    GRAPHC_ASSIGN(held, cpu->allocate(*bytes));
    if (reads)
      GRAPHC_TRY(plan.device.queue().download(held->host(), own, *bytes));
    return library::Operand{held->host(), dtype, shape};
  }

  template <typename Step, typename Call>
  Status call(const Step &step, const Call &call) {
    if (!plan.device.info().runsKernels)
      return Status::ok();
    if (!call.routine)
      return runError(ErrorCode::Unsupported, "this runtime has no library routine '{}'",
                      call.name);
    count(Counter::LibraryCalls);
    count(Counter::ReadBacks, !plan.device.info().hostVisible);
    std::vector<int64_t> sizes;
    for (uint32_t s : step.sizes)
      sizes.push_back(state.sizes[s]);
    std::vector<library::Operand> tensors;
    std::vector<BufferRef> held(step.buffers.size());
    GRAPHC_TRY(plan.device.queue().finish());
    size_t first = 0;
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      std::span<const int64_t> shape(sizes.data() + first, call.ranks[i]);
      first += call.ranks[i];
      bool reads = i + 1 < step.buffers.size();
      GRAPHC_ASSIGN(library::Operand t, hostOperand(step.buffers[i], shape, reads, held[i]));
      tensors.push_back(t);
    }
    library::Operand result = tensors.back();
    tensors.pop_back();
    if (Status status = library::run(*call.routine, {tensors, result, call.params}); !status)
      return failed(std::move(status), call);
    Buffer &to = *state.buffers[step.buffers.back()];
    if (!to.host())
      GRAPHC_TRY(
          plan.device.queue().upload(to, result.data, *byteCount(result.shape, result.dtype)));
    return Status::ok();
  }

  Status collect(std::vector<Tensor> &outputs) {
    outputs.resize(program.outputs().size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorRecord &record = program.outputs()[i];
      Tensor &t = outputs[i];
      describe(record, t);
      const auto &b = plan.buffers[record.buffer];
      t.buffer = b.kind == BufferKind::Input ? inputs[b.number].buffer : state.owned[record.buffer];
      auto bytes = byteCount(t.shape, t.dtype);
      if (!bytes || *bytes > t.buffer->bytes()) {
        Status status =
            runError(ErrorCode::Internal, "output {} of shape {} in a buffer of {} bytes", i,
                     shapeText(t.shape), t.buffer->bytes());
        outputs.clear();
        return status;
      }
    }
    return Status::ok();
  }

  const Impl &plan;
  const Program &program;
  std::span<const Tensor> inputs;
  RunState &state;
  bool isWatchedLater = false;
};

} // namespace

LoadedProgram::LoadedProgram(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
// Code may still be running on a device with a queue of its own.
LoadedProgram::~LoadedProgram() = default;
const Program &LoadedProgram::program() const { return impl->program; }
Device &LoadedProgram::device() const { return impl->device; }
bool LoadedProgram::takes(size_t input) const { return impl->takers.copied[input]; }
bool LoadedProgram::reuses(size_t input) const {
  const Takers &t = impl->takers;
  return t.serves[input] != kNone || (t.buffers[input] != kNone && !t.copied[input]);
}

Result<std::unique_ptr<LoadedProgram>> load(std::vector<uint8_t> bytes, Device &device) {
  GRAPHC_ASSIGN(Program program, Program::parse(std::move(bytes)));
  auto impl = std::make_unique<LoadedProgram::Impl>(std::move(program), device);
  GRAPHC_ASSIGN(impl->module, device.load(impl->program));
  impl->plan();
  GRAPHC_TRY(impl->loadConstants());
  return std::unique_ptr<LoadedProgram>(new LoadedProgram(std::move(impl)));
}

Status run(const LoadedProgram &loaded, std::span<const Tensor> inputs,
           std::span<const int64_t> sizeArguments, std::vector<Tensor> &outputs,
           RunReport *report) {
  count(Counter::Runs);
  TraceSpan span("exec", loaded.impl->traceName);
  return Run(*loaded.impl, inputs, threadState).execute(sizeArguments, outputs, report);
}

Result<RunCost> costOf(const LoadedProgram &loaded, std::span<const Tensor> inputs,
                       std::span<const int64_t> sizeArguments, std::vector<Tensor> &outputs) {
  RunCost cost;
  GRAPHC_TRY(Run(*loaded.impl, inputs, threadState).measure(sizeArguments, cost, outputs));
  return cost;
}

} // namespace graphc::rt
