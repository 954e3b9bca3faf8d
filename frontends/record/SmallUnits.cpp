// Operations on small arrays that are neither exact nor correctly rounded: programs of one
// operation on vectors.
#include "frontends/record/SmallUnits.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/ToldErrors.h"
#include "runtime/base/UnderflowFlag.h"
#include "runtime/drivers/Choice.h"
#include "runtime/exec/VectorProgram.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace graphc::small {
namespace {

using op::OpKind;
using rt::VectorProgram;

Result<Segment> segmentOf(OpKind kind, DType t, size_t operands, bool watches, rt::Device &device) {
  const Shape some{2}; // any size that is no 0 or 1
  std::vector<NodeRef> nodes;
  for (size_t i = 0; i < operands; ++i) {
    GRAPHC_ASSIGN(NodeRef n, makeNode(t, some, device));
    nodes.push_back(std::move(n));
  }
  NodeRef root = Node::makeOp(kind, nodes, {}, {op::resultDType(kind, t), some}, device, 0,
                              watches ? FloatModes::kDefault : 0);
  GRAPHC_ASSIGN(Snapshot snapshot, Snapshot::take({&root, 1}, false));
  return snapshot.build(0);
}

/// Null where the operation is more than one launch.
Result<std::unique_ptr<VectorProgram>> makeUnit(OpKind kind, DType t, size_t operands, bool watches,
                                                rt::Device &device) {
  GRAPHC_ASSIGN(Segment segment, segmentOf(kind, t, operands, watches, device));
  GRAPHC_ASSIGN(std::shared_ptr<rt::LoadedProgram> program, programFor(segment, device));
  return VectorProgram::of(std::move(program));
}

struct Unit {
  std::unique_ptr<VectorProgram> program;
};

/// Of operations that have no loop.
bool mayBeUnit(OpKind kind, DType t, size_t operands) {
  const op::OpInfo &info = op::opInfo(kind);
  return operands <= 2 && info.attrs.empty() && info.resultRule != op::ResultRule::Explicit &&
         (realDType(t) == DType::Float64 || realDType(t) == DType::Float32);
}

/// Small values of "auto" are on the cpu.
rt::Device &cpuOf(rt::Device &device) {
  const rt::Choices *choices = rt::choicesOf(device);
  return choices ? *choices->cpu : device;
}

/// Null where there is none. In use until the process ends.
Result<const VectorProgram *> unitOf(OpKind kind, DType t, size_t operands, rt::Device &owner) {
  if (!mayBeUnit(kind, t, operands))
    return nullptr;
  rt::Device &device = cpuOf(owner);
  static std::array<std::atomic<const Unit *>, size_t{8} * op::kOpKindCount> known;
  const bool watches = mustBeFinite();
  auto &place = known[static_cast<size_t>(kind) * 8 + (isComplex(t) ? 4 : 0) +
                      (realDType(t) == DType::Float64 ? 2 : 0) + watches];
  const Unit *found = place.load(std::memory_order_acquire);
  if (!found) {
    GRAPHC_ASSIGN(auto made, makeUnit(kind, t, operands, watches, device));
    found = new Unit{std::move(made)};
    place.store(found, std::memory_order_release);
  }
  const VectorProgram *program = found->program.get();
  return program && &program->device() == &device ? program : nullptr;
}

/// Whether results in which something is not finite tell of nothing that has to be told.
bool isToldOf(OpKind kind, DType t, std::span<rt::Buffer *const> inputs, const rt::Buffer &out,
              int64_t count) {
  if (std::ranges::any_of(inputs, [&](const rt::Buffer *in) { return in->host() == out.host(); }))
    return false; // what the operands were is gone
  auto ask = [&]<typename T>(T) {
    auto at = [&](size_t i) {
      return [data = static_cast<const T *>(inputs[i]->host())](int64_t k) { return data[k]; };
    };
    return !hasToTell(kind, static_cast<const T *>(out.host()), at(0), at(inputs.size() - 1),
                      count);
  };
  return t == DType::Float64 ? ask(double{}) : t == DType::Float32 && ask(float{});
}

/// Whether there was nothing to tell of.
Result<bool> isSilent(const VectorProgram &unit, OpKind kind, DType t,
                      std::span<rt::Buffer *const> inputs, rt::Buffer &out, int64_t count) {
  UnderflowFlag flag(hearsUnderflow(kind, t));
  GRAPHC_ASSIGN(bool isWatched, unit.run(inputs, out, count));
  const bool isSilent = !isWatched || isToldOf(kind, t, inputs, out, count);
  return isSilent && !flag.isSet();
}

/// An operand as a vector of its own memory, or of a copy.
template <typename T>
Result<NodeRef> vectorOf(const Operand &o, DType t, const Shape &shape, rt::Device &device) {
  if (o.array && !o.array->known() && o.array->dtype() == t && o.array->view().isWhole() &&
      o.array->shape() == shape) {
    GRAPHC_ASSIGN(Elements elements, elementsOf(*o.array));
    if (!elements.base || elements.base->buffer()->host())
      return std::move(elements.base);
  }
  ReaderOf<T> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(o, t, shape));
  if (!isRead)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, device));
  Run<T> from = reader.run();
  int64_t count = countOf(shape);
  if (from.steps)
    std::copy_n(from.data, count, dataOf<T>(out));
  else
    std::fill_n(dataOf<T>(out), count, *from.data);
  return out;
}

} // namespace

Status forEachUnit(rt::Device &device, const std::function<Status(const op::GraphDesc &)> &visit) {
  constexpr DType kTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};
  for (int k = 0; k < op::kOpKindCount; ++k) {
    const auto kind = static_cast<OpKind>(k);
    const op::OpInfo &info = op::opInfo(kind);
    const auto operands = static_cast<size_t>(info.arity);
    for (DType t : kTypes) {
      if (info.category != op::Category::Elementwise || !op::acceptsDType(info.operandDTypes, t) ||
          !mayBeUnit(kind, t, operands) || (isComplex(t) ? hasComplexLoop(kind) : hasLoop(kind, t)))
        continue;
      for (bool watches : {false, true}) {
        GRAPHC_ASSIGN(Segment segment, segmentOf(kind, t, operands, watches, device));
        GRAPHC_TRY(visit(segment.graph(false)));
      }
    }
  }
  return Status::ok();
}

Outcome byUnit(OpKind kind, std::span<const Operand> operands, DType t, const Shape &shape,
               rt::Device &device) {
  GRAPHC_ASSIGN(const VectorProgram *unit, unitOf(kind, t, operands.size(), device));
  if (!unit)
    return NodeRef();
  std::array<NodeRef, 2> kept;
  std::array<rt::Buffer *, 2> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    auto isRead = withElementType(t, [&]<typename T>(T) -> Result<bool> {
      GRAPHC_ASSIGN(kept[i], vectorOf<T>(operands[i], t, shape, device));
      return kept[i] != nullptr;
    });
    GRAPHC_ASSIGN(bool isKept, std::move(isRead));
    if (!isKept)
      return NodeRef();
    inputs[i] = kept[i]->buffer().get();
  }
  GRAPHC_ASSIGN(NodeRef out, makeNode(unit->resultDType(), shape, device));
  const auto given = std::span(inputs).first(operands.size());
  return finished(out, isSilent(*unit, kind, t, given, *out->buffer(), countOf(shape)));
}

Result<bool> computeByUnit(OpKind kind, DType t, std::span<rt::Buffer *const> operands,
                           rt::Buffer &out, int64_t count) {
  GRAPHC_ASSIGN(const VectorProgram *unit, unitOf(kind, t, operands.size(), out.device()));
  if (!unit)
    return false;
  return isSilent(*unit, kind, t, operands, out, count);
}

/// Two operands and a result of one element, of this thread.
static Result<std::array<rt::Buffer *, 3>> vectorsOfOne(rt::Device &device) {
  constexpr int64_t kRoom = 64;
  thread_local std::array<rt::BufferRef, 3> vectors;
  std::array<rt::Buffer *, 3> all;
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (!vectors[i] || &vectors[i]->device() != &device) {
      GRAPHC_ASSIGN(vectors[i], device.allocate(kRoom));
    }
    all[i] = vectors[i].get();
  }
  return all;
}

Result<std::optional<KnownValue>> foldByUnit(OpKind kind, const Array &x) {
  const DType t = x.dtype();
  const Elements elements = denseElementsOf(x);
  GRAPHC_ASSIGN(const VectorProgram *unit, unitOf(kind, t, 2, x.device()));
  if (!unit || !elements.base || !isFloat(t) || unit->resultDType() != t || x.size() == 0)
    return std::optional<KnownValue>();
  GRAPHC_ASSIGN(auto vectors, vectorsOfOne(cpuOf(x.device())));
  auto &[so, next, made] = vectors;
  const auto size = static_cast<size_t>(itemSize(t));
  std::memcpy(so->host(), elements.first, size);
  const uint64_t one =
      t == DType::Float64 ? std::bit_cast<uint64_t>(1.0) : uint64_t{std::bit_cast<uint32_t>(1.0F)};
  for (int64_t i = 1; i < x.size(); ++i) {
    if (kind == OpKind::Pow && std::memcmp(so->host(), &one, size) == 0)
      break; // whose powers are all 1
    std::memcpy(next->host(), elements.first + i * itemSize(t), size);
    rt::Buffer *both[] = {so, next};
    GRAPHC_ASSIGN(bool isDone, isSilent(*unit, kind, t, both, *made, 1));
    if (!isDone)
      return std::optional<KnownValue>();
    std::swap(so, made);
  }
  uint64_t bits = 0;
  std::memcpy(&bits, so->host(), size); // little-endian
  return std::optional(KnownValue{bits, t, &x.device()});
}

Result<std::optional<KnownValue>> valueByUnit(OpKind kind, std::span<const Operand> operands,
                                              DType t, rt::Device &device) {
  GRAPHC_ASSIGN(const VectorProgram *unit, unitOf(kind, t, operands.size(), device));
  if (!unit || isComplex(unit->resultDType())) // which has no pattern
    return std::optional<KnownValue>();
  GRAPHC_ASSIGN(auto vectors, vectorsOfOne(cpuOf(device)));
  std::array<rt::Buffer *, 2> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    auto bits = ops::operandBits(operands[i], t);
    if (!bits)
      return std::optional<KnownValue>();
    inputs[i] = vectors[i];
    std::memcpy(inputs[i]->host(), &*bits, sizeof *bits); // little-endian
  }
  rt::Buffer &out = *vectors.back();
  const auto given = std::span(inputs).first(operands.size());
  GRAPHC_ASSIGN(bool isDone, isSilent(*unit, kind, t, given, out, 1));
  if (!isDone)
    return std::optional<KnownValue>();
  uint64_t bits = 0;
  const DType made = unit->resultDType();
  std::memcpy(&bits, out.host(), static_cast<size_t>(itemSize(made)));
  return std::optional(KnownValue{bits, made, &device});
}

} // namespace graphc::small
