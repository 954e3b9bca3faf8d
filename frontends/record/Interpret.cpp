#include "frontends/record/Interpret.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/InterpretPlain.h"
#include "frontends/record/InterpretSteps.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/SmallComplex.h"

#include <algorithm>
#include <array>
#include <memory>

namespace graphc {
namespace {

using op::OpKind;

/// The value of a node: an array of its shape, or one known number for all its elements.
struct Value {
  Array array;
  bool isOne = false;
  bool isMade = false; ///< in memory that a step made
};

/// A copy as dtype `t`.
Result<NodeRef> converted(const Array &x, DType t) {
  GRAPHC_ASSIGN(NodeRef made, small::cast(x, t));
  return made ? std::move(made) : plain::cast(x, t);
}

class Interpreter {
public:
  Interpreter(const Steps &steps, bool isUnwatched)
      : steps(steps), values(steps.valueCount()), memory(steps.count()), isUnwatched(isUnwatched) {}

  /// False ends the interpretation.
  Result<bool> step(uint32_t i) {
    const Node &n = *steps.node(i);
    // Whoever interprets listens for underflow.
    RecordScope scope(n.location(), isUnwatched ? 0 : n.errors() & ~FloatModes::kUnder);
    GRAPHC_ASSIGN(bool isDone, dense(i));
    if (isDone)
      return true;
    GRAPHC_ASSIGN(std::optional<Value> value, general(i));
    if (value)
      values[i] = std::make_unique<Value>(std::move(*value));
    return value.has_value();
  }
  void drop(uint32_t value) {
    values[value].reset();
    if (value < steps.count())
      memory[value] = nullptr;
  }

  /// The value of an output in memory of its own; null where it has none.
  Result<rt::BufferRef> settled(uint32_t i) {
    const Node &n = *steps.node(i);
    if (memory[i])
      return memory[i];
    Value &value = *values[i];
    NodeRef node;
    if (value.isOne) {
      GRAPHC_ASSIGN(node, filled(value, n.shape()));
    } else if (!value.array.known() && value.array.view().isWhole() && value.isMade) {
      node = value.array.storage()->current();
    } else {
      GRAPHC_ASSIGN(node, converted(value.array, value.array.dtype()));
    }
    return node ? node->buffer() : rt::BufferRef();
  }

private:
  /// Null results end the interpretation.
  using Made = Result<std::optional<Value>>;

  Made general(uint32_t i) {
    const Node &n = *steps.node(i);
    if (n.bytes() == 0)
      return fresh(small::makeNode(n.dtype(), n.shape(), n.device()));
    std::vector<const Value *> given;
    for (uint32_t operand : steps.operands(i)) {
      const Value *value = valueOf(operand);
      if (!value)
        return std::optional<Value>();
      given.push_back(value);
    }
    if (!isMovement(n.kind()))
      return computed(i, given);
    GRAPHC_ASSIGN(std::optional<Value> shows, moved(n, given));
    if (shows)
      shows->isMade = given[0]->isMade;
    return shows;
  }

  /// Made when it is first asked for; null where the value is not known.
  const Value *valueOf(uint32_t number) {
    std::unique_ptr<Value> &value = values[number];
    if (value)
      return value.get();
    const NodeRef &n = steps.node(number);
    if (number < steps.count() && memory[number])
      value = std::make_unique<Value>(
          Value{Array(Node::makeReady({n->dtype(), n->shape()}, n->device(), memory[number]), 0),
                false, true});
    else if (n->state() != NodeState::Ready)
      return nullptr;
    else if (auto bits = n->shape().rank() == 0 ? knownBits(*n) : std::nullopt)
      value = std::make_unique<Value>(Value{Array(KnownValue{*bits, n->dtype(), &n->device()})});
    else
      value = std::make_unique<Value>(Value{Array(n, 0)});
    return value.get();
  }

  /// What a loop reads of a value.
  struct Operand {
    small::Source source;
    uint64_t number = 0;          ///< of what has one
    rt::Buffer *buffer = nullptr; ///< that begins with the elements
  };
  /// False where the value is neither one number nor elements of that shape that lie side by side.
  bool read(uint32_t number, const Shape &shape, Operand &to) const {
    const Node &n = *steps.node(number);
    const Value *value = values[number].get();
    if (value && value->array.known()) {
      to.number = value->array.known()->bits; // little-endian: the low bytes are the value
      to.source = {&to.number, false};
      return true;
    }
    if (value && (value->isOne || !value->array.view().isWhole()))
      return false;
    if (n.shape() != shape)
      return false;
    if (value)
      to.buffer = value->array.storage()->current()->buffer().get();
    else if (number < steps.count())
      to.buffer = memory[number].get();
    else if (n.state() == NodeState::Ready)
      to.buffer = n.buffer().get();
    if (!to.buffer || (n.dtype() == DType::Bool && !to.buffer->isPrivate()))
      return false;
    to.source = {to.buffer->host(), true};
    return to.source.data != nullptr;
  }

  /// An operation on whole arrays, without more than its memory. False where it is none, or there
  /// is something to tell.
  Result<bool> dense(uint32_t i) {
    const Node &n = *steps.node(i);
    const std::span<const uint32_t> from = steps.operands(i);
    constexpr size_t kMost = 3;
    if (n.shape().rank() == 0 || n.bytes() == 0 || from.empty() || from.size() > kMost ||
        (n.kind() != OpKind::Cast && op::opInfo(n.kind()).category != op::Category::Elementwise))
      return false;
    std::array<Operand, kMost> operands;
    bool isOne = true;
    for (size_t k = 0; k < from.size(); ++k) {
      if (!read(from[k], n.shape(), operands[k]))
        return false;
      isOne &= !operands[k].source.steps;
    }
    if (isOne)
      return false;
    const DType t = steps.node(from[n.kind() == OpKind::Select ? 1 : 0])->dtype();
    if (isComplex(t) || isComplex(n.dtype()))
      return false;
    GRAPHC_ASSIGN(rt::BufferRef made, n.device().allocate(n.bytes()));
    GRAPHC_ASSIGN(bool isDone, computeInto(n, t, std::span(operands).first(from.size()), *made));
    if (isDone)
      memory[i] = std::move(made);
    return isDone;
  }

  static Result<bool> computeInto(const Node &n, DType t, std::span<const Operand> operands,
                                  rt::Buffer &made) {
    const int64_t count = small::countOf(n.shape());
    const small::Source first = operands[0].source, second = operands.back().source;
    if (n.kind() == OpKind::Cast)
      return small::castDense(t, first.data, n.dtype(), made.host(), count);
    if (n.kind() == OpKind::Select)
      return small::selectDense(t, first, operands[1].source, second, count, made.host());
    if (operands.size() > 2)
      return false;
    if (small::hasLoop(n.kind(), t))
      return small::computeDense(n.kind(), t, first, second, count, made.host());
    if (!first.steps || !second.steps)
      return false;
    rt::Buffer *buffers[] = {operands[0].buffer, operands.back().buffer};
    return small::computeByUnit(n.kind(), t, std::span(buffers).first(operands.size()), made,
                                count);
  }

  Made fresh(Result<NodeRef> node) {
    GRAPHC_ASSIGN(NodeRef done, std::move(node));
    if (!done)
      return std::optional<Value>();
    if (done->shape().rank() == 0)
      if (auto bits = knownBits(*done))
        return std::optional(Value{Array(KnownValue{*bits, done->dtype(), &done->device()})});
    return std::optional(Value{Array(std::move(done), 0), false, true});
  }

  /// One number everywhere.
  Result<NodeRef> filled(const Value &value, const Shape &shape) {
    GRAPHC_ASSIGN(NodeRef out, small::makeNode(value.array.dtype(), shape, value.array.device()));
    auto done = small::withElementType(value.array.dtype(), [&]<typename T>(T) -> Result<bool> {
      const int64_t count = small::countOf(shape);
      if constexpr (small::kIsNumber<T>) {
        small::ReaderOf<T> reader;
        GRAPHC_ASSIGN(bool isRead, reader.read(value.array, value.array.dtype(), {}));
        if (isRead)
          std::fill_n(small::dataOf<T>(out), count, *reader.run().data);
        return isRead;
      } else {
        std::fill_n(small::dataOf<T>(out), count, hostmath::valueOf<T>(value.array.known()->bits));
        return true;
      }
    });
    return small::finished(std::move(out), std::move(done));
  }

  /// The array of a value, with memory where that is asked for.
  Result<Array> arrayOf(const Value &value, const Shape &shape) {
    if (!value.isOne && !value.array.known())
      return value.array;
    GRAPHC_ASSIGN(NodeRef node, filled(value, shape));
    return node ? Array(std::move(node), 0) : Array();
  }

  /// A copy would give a known number a memory.
  static Array same(const Array &x) { return x.known() ? Array(*x.known()) : x; }

  static Made shown(const Array &x, const Shape &shape, const Shape &strides, int64_t offset) {
    auto view = x.view().strided(shape, strides, offset);
    return view ? std::optional(Value{x.withView(std::move(*view))}) : std::nullopt;
  }

  Made moved(const Node &n, std::span<const Value *const> given) {
    const bool isNumber = given[0]->isOne || given[0]->array.known();
    if (isNumber) // whatever is moved shows it alone
      return std::optional(Value{same(given[0]->array), n.shape().rank() > 0});
    Array x = given[0]->array;
    const Shape &strides = x.view().strides();
    Shape to;
    to.resize(n.shape().size());
    std::ranges::fill(to, 0);
    int64_t offset = x.view().offset();
    op::BroadcastAttrs broadcast;
    op::TransposeAttrs transpose;
    op::SliceAttrs slice;
    op::FlipAttrs flip;
    if (n.kind() == OpKind::Broadcast && broadcast.decode(n.attrs())) {
      for (size_t i = 0; i < broadcast.dims.size(); ++i)
        to[static_cast<size_t>(broadcast.dims[i])] = x.shape()[i] == 1 ? 0 : strides[i];
    } else if (n.kind() == OpKind::Transpose && transpose.decode(n.attrs())) {
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = strides[static_cast<size_t>(transpose.permutation[i])];
    } else if (n.kind() == OpKind::Slice && slice.decode(n.attrs())) {
      for (size_t i = 0; i < to.size(); ++i) {
        to[i] = strides[i] * slice.steps[i];
        offset += strides[i] * slice.starts[i];
      }
    } else if (n.kind() == OpKind::Flip && flip.decode(n.attrs())) {
      std::ranges::copy(strides, to.begin());
      for (int64_t axis : flip.axes) {
        auto i = static_cast<size_t>(axis);
        offset += strides[i] * (x.shape()[i] - 1);
        to[i] = -strides[i];
      }
    } else if (n.kind() == OpKind::Reshape) {
      return reshaped(std::move(x), n.shape());
    } else {
      return std::optional<Value>();
    }
    return shown(x, n.shape(), to, offset);
  }

  Made reshaped(Array x, const Shape &shape) {
    if (!x.view().isContiguous()) {
      GRAPHC_ASSIGN(NodeRef dense, converted(x, x.dtype()));
      if (!dense)
        return std::optional<Value>();
      x = Array(std::move(dense), 0);
    }
    return shown(x, shape, denseStrides(shape), x.view().offset());
  }

  Made computed(uint32_t step, std::span<const Value *const> given) {
    const Node &n = *steps.node(step);
    const OpKind kind = n.kind();
    if (kind == OpKind::Full) {
      op::FullAttrs full;
      if (!full.decode(n.attrs()))
        return std::optional<Value>();
      if (isComplex(n.dtype())) // 0: others are made of two parts
        return fresh(small::full({}, op::Scalar::ofInt(0), n.dtype(), n.device()));
      return std::optional(Value{Array(KnownValue{full.value, n.dtype(), &n.device()})});
    }
    if (kind == OpKind::Iota)
      return fresh(counted(n));
    if (kind == OpKind::Cast && given[0]->isOne) {
      GRAPHC_ASSIGN(std::optional<Value> one, fresh(converted(given[0]->array, n.dtype())));
      if (one)
        one->isOne = true;
      return one;
    }
    if (kind == OpKind::Cast)
      return fresh(converted(given[0]->array, n.dtype()));
    if (kind == OpKind::Bitcast)
      return fresh(recast(n, *given[0], steps.node(steps.operands(step)[0])->shape()));
    if (op::opInfo(kind).category == op::Category::Elementwise)
      return elementwise(n, given);
    NodeRef own = kind == OpKind::Scatter || kind == OpKind::UpdateSlice ? owned(step) : NodeRef();
    std::vector<Array> arrays;
    for (size_t i = 0; i < given.size(); ++i) {
      GRAPHC_ASSIGN(Array x, arrayOf(*given[i], steps.node(steps.operands(step)[i])->shape()));
      if (x.isNull())
        return std::optional<Value>();
      arrays.push_back(std::move(x));
    }
    return fresh(ofArrays(n, std::move(own), arrays));
  }

  Made elementwise(const Node &n, std::span<const Value *const> given) {
    std::vector<graphc::Operand> operands;
    bool isOne = true;
    for (const Value *value : given) {
      operands.emplace_back(value->array);
      isOne &= value->isOne;
    }
    const DType t = given[n.kind() == OpKind::Select ? 1 : 0]->array.dtype();
    const Shape shape = isOne ? Shape{} : n.shape();
    const bool isRandom = n.kind() == OpKind::Philox64 || n.kind() == OpKind::Philox32;
    GRAPHC_ASSIGN(NodeRef node, isRandom
                                    ? small::randomBits(n.kind(), operands, shape, n.device())
                                    : small::elementwise(n.kind(), operands, t, shape, n.device()));
    if (!node && !isRandom) {
      std::vector<Array> arrays;
      for (const Value *value : given)
        arrays.push_back(same(value->array));
      GRAPHC_ASSIGN(node, plain::elementwise(n.kind(), arrays, shape, n.dtype(), n.device()));
    }
    GRAPHC_ASSIGN(std::optional<Value> out, fresh(std::move(node)));
    if (out)
      out->isOne = isOne;
    return out;
  }

  /// The bits of a value as those of another dtype.
  Result<NodeRef> recast(const Node &n, const Value &value, const Shape &shape) {
    GRAPHC_ASSIGN(Array x, arrayOf(value, shape));
    if (x.isNull() || itemSize(x.dtype()) != itemSize(n.dtype()))
      return NodeRef();
    GRAPHC_ASSIGN(NodeRef dense, converted(x, x.dtype()));
    return dense ? Node::makeReady({n.dtype(), n.shape()}, n.device(), dense->buffer()) : NodeRef();
  }

  Result<NodeRef> counted(const Node &n) {
    GRAPHC_ASSIGN(NodeRef out, small::makeNode(n.dtype(), n.shape(), n.device()));
    auto done = small::withRealType(n.dtype(), [&]<typename T>(T) -> Result<bool> {
      for (int64_t i = 0; i < small::countOf(n.shape()); ++i)
        small::dataOf<T>(out)[i] = static_cast<T>(i);
      return true;
    });
    return small::finished(std::move(out), std::move(done));
  }

  /// The first operand of a step, where it was made here and nothing else reads it, now or later:
  /// then the step may write over it.
  NodeRef owned(uint32_t step) const {
    const uint32_t number = steps.operands(step)[0];
    if (number >= steps.count() || !std::ranges::binary_search(steps.ends(step), number) ||
        std::ranges::count(steps.operands(step), number) > 1)
      return {};
    const Value &value = *values[number];
    if (value.isOne || !value.isMade || value.array.known() || !value.array.view().isWhole())
      return {};
    const std::shared_ptr<Storage> &storage = value.array.storage();
    NodeRef node = storage->current();
    const long holders = memory[number] ? 2 : 1; // the node, and the list of what dense() made
    bool isOnly = storage.use_count() == 1 && node->references() == 2 &&
                  node->buffer().use_count() == holders;
    return isOnly ? node : NodeRef();
  }

  Result<NodeRef> ofArrays(const Node &n, NodeRef own, std::span<const Array> x) {
    op::ReduceAttrs reduce;
    op::ScanAttrs scan;
    op::ConcatenateAttrs join;
    op::MatmulAttrs matmul;
    op::LibraryAttrs library;
    op::GatherAttrs gather;
    op::ScatterAttrs scatter;
    if (n.kind() == OpKind::Reduce && reduce.decode(n.attrs())) {
      const auto kind = static_cast<op::ReduceKind>(reduce.kind);
      const bool isArg = kind == op::ReduceKind::ArgMin || kind == op::ReduceKind::ArgMax;
      if (reduce.axes.empty() || (isArg && reduce.axes.size() != 1 &&
                                  static_cast<int64_t>(reduce.axes.size()) != x[0].rank()))
        return NodeRef();
      const bool isOne = kind == op::ReduceKind::All || kind == op::ReduceKind::Prod;
      if (x[0].size() == 0 && (isOne || kind == op::ReduceKind::Any || kind == op::ReduceKind::Sum))
        return small::full(n.shape(), op::Scalar::ofInt(isOne), n.dtype(), n.device());
      return small::reduce(kind, x[0], reduce.axes, x[0].dtype(), n.shape());
    }
    if (n.kind() == OpKind::Scan && scan.decode(n.attrs()))
      return small::scan(static_cast<op::ReduceKind>(scan.kind), x[0],
                         static_cast<size_t>(scan.axis), n.dtype(), n.shape());
    if (n.kind() == OpKind::Concatenate && join.decode(n.attrs()))
      return small::concatenate(x, n.dtype(), static_cast<size_t>(join.axis));
    if (n.kind() == OpKind::Matmul && x[0].size() == 0)
      return small::full(n.shape(), op::Scalar::ofInt(0), n.dtype(), n.device());
    if (n.kind() == OpKind::Matmul && matmul.decode(n.attrs()) && !matmul.fast)
      return small::matmul(x[0], x[1], n.dtype(), n.shape());
    if (n.kind() == OpKind::Library && library.decode(n.attrs()))
      return small::library(static_cast<Routine>(library.routine), x, library.params,
                            {n.dtype(), n.shape()});
    if (n.kind() == OpKind::Gather && gather.decode(n.attrs()))
      return plain::gather(x[0], x.subspan(1), gather, n.shape());
    if (n.kind() == OpKind::Scatter && scatter.decode(n.attrs()))
      return plain::scatter(x[0], std::move(own), x[1], x.subspan(2), scatter);
    if (n.kind() == OpKind::UpdateSlice)
      return updated(n, std::move(own), x[0], x[1]);
    return NodeRef();
  }

  /// An array with a value written to a part, in `own` or a copy.
  Result<NodeRef> updated(const Node &n, NodeRef own, const Array &x, const Array &value) {
    op::UpdateSliceAttrs part;
    if (!part.decode(n.attrs()))
      return NodeRef();
    if (!own) {
      GRAPHC_ASSIGN(own, converted(x, x.dtype()));
    }
    small::Elements elements = small::denseElementsOf(value);
    if (!elements.base) {
      GRAPHC_ASSIGN(NodeRef dense, converted(value, value.dtype()));
      elements = {dense, dense ? small::dataOf<char>(dense) : nullptr};
    }
    if (!own || !elements.base)
      return NodeRef();
    Shape strides = denseStrides(n.shape());
    int64_t offset = 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      offset += strides[i] * part.starts[i];
      strides[i] *= part.steps[i];
    }
    auto done = small::withElementType(n.dtype(), [&]<typename T>(T) -> Result<bool> {
      small::spread(reinterpret_cast<const T *>(elements.first), value.shape(), strides,
                    small::dataOf<T>(own) + offset);
      return true;
    });
    return small::finished(std::move(own), std::move(done));
  }

  const Steps &steps;
  std::vector<std::unique_ptr<Value>> values;
  std::vector<rt::BufferRef> memory; ///< of steps that dense() computed
  const bool isUnwatched;
};

} // namespace

Result<Interpreted> interpret(const Segment &segment, int64_t mostBytes, bool isUnwatched,
                              std::vector<rt::Tensor> &outputs) {
  Steps steps;
  if (Interpreted found = steps.find(segment, mostBytes); found != Interpreted::Done)
    return found;
  small::Wider wider;
  Interpreter interpreter(steps, isUnwatched);
  for (uint32_t i = 0; i < steps.count(); ++i) {
    GRAPHC_ASSIGN(bool isDone, interpreter.step(i));
    if (!isDone)
      return Interpreted::Refused;
    for (uint32_t value : steps.ends(i))
      interpreter.drop(value);
  }
  std::vector<rt::Tensor> made;
  for (uint32_t output : steps.outputs()) {
    GRAPHC_ASSIGN(rt::BufferRef buffer, interpreter.settled(output));
    if (!buffer)
      return Interpreted::Refused;
    made.push_back({std::move(buffer), steps.node(output)->dtype(), steps.node(output)->shape()});
  }
  recycle::release();
  outputs = std::move(made);
  return Interpreted::Done;
}

} // namespace graphc
