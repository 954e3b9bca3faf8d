#include "runtime/exec/VectorProgram.h"

#include "runtime/exec/CallChecks.h"
#include "runtime/exec/RunState.h"

#include <algorithm>
#include <array>

namespace graphc::rt {

using namespace program;

namespace {

constexpr size_t kMostBuffers = 6;
constexpr size_t kMostSizes = 32;

bool isOneLaunch(const Program &p, const Device &device) {
  auto isVector = [](const TensorRecord &t) { return t.rank == 1; };
  auto isKnown = [](const BufferRecord &b) {
    auto kind = static_cast<BufferKind>(b.kind);
    return kind == BufferKind::Input || kind == BufferKind::Output || kind == BufferKind::Faults;
  };
  return p.steps().size() == 1 && static_cast<StepKind>(p.steps()[0].kind) == StepKind::Launch &&
         p.kernels()[p.steps()[0].kernel].scratch == kNone && p.outputs().size() == 1 &&
         p.faults().empty() && p.buffers().size() <= kMostBuffers &&
         p.stepBuffers(p.steps()[0]).size() <= kMostBuffers &&
         p.stepSizes(p.steps()[0]).size() <= kMostSizes && p.meta().sizeArguments <= 1 &&
         std::ranges::all_of(p.inputs(), isVector) && isVector(p.outputs()[0]) &&
         std::ranges::all_of(p.buffers(), isKnown) && device.info().hostVisible &&
         device.info().target == Target::Cpu;
}

/// All sizes of a call with vectors of this length; false when one does not fit in 64 bits.
bool sizesOf(const Program &p, int64_t count, std::vector<int64_t> &sizes) {
  thread_local std::array<Tensor, kMostBuffers> inputs;
  for (size_t i = 0; i < p.inputs().size(); ++i)
    inputs[i].shape = {count};
  const int64_t arguments[] = {count};
  sizes.assign(p.sizes().size(), 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto value = evaluate(p.sizes()[i], sizes, inputs, arguments);
    if (!value)
      return false;
    sizes[i] = *value;
  }
  return true;
}

} // namespace

Result<std::unique_ptr<VectorProgram>> VectorProgram::of(std::shared_ptr<LoadedProgram> program) {
  if (!isOneLaunch(program->program(), program->device()))
    return std::unique_ptr<VectorProgram>();
  std::unique_ptr<VectorProgram> made(new VectorProgram);
  GRAPHC_ASSIGN(made->module, program->device().load(program->program()));
  made->program = std::move(program);
  return made;
}

DType VectorProgram::resultDType() const {
  return static_cast<DType>(program->program().outputs()[0].dtype);
}

Result<bool> VectorProgram::run(std::span<Buffer *const> inputs, Buffer &output,
                                int64_t count) const {
  thread_local std::vector<int64_t> sizes;
  const Program &p = program->program();
  const StepRecord &launch = p.steps()[0];
  if (!sizesOf(p, count, sizes))
    return runError(ErrorCode::Shape, "a size does not fit in 64 bits (a vector of {})", count);
  FaultWords faults(device());
  std::array<Buffer *, kMostBuffers> buffers;
  size_t used = 0;
  for (uint32_t b : p.stepBuffers(launch)) {
    const BufferRecord &record = p.buffers()[b];
    auto kind = static_cast<BufferKind>(record.kind);
    buffers[used++] = kind == BufferKind::Input    ? inputs[record.a]
                      : kind == BufferKind::Output ? &output
                                                   : &faults;
  }
  std::array<int64_t, kMostSizes> given;
  size_t passed = 0;
  for (uint32_t s : p.stepSizes(launch))
    given[passed++] = sizes[s];
  GRAPHC_TRY(
      device().queue().launch({module.get(), launch.kernel, std::span(buffers).first(used),
                               std::span<const int64_t>(given).first(passed), sizes[launch.range],
                               0, launch.work == kNone ? 1 : sizes[launch.work]}));
  return faults.words[kWatchWord] != 0;
}

} // namespace graphc::rt
