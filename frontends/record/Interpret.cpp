#include "frontends/record/Interpret.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/InterpretPlain.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/SmallComplex.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace graphc {
namespace {

using op::OpKind;

constexpr size_t kMostNodes = 2048;
constexpr int64_t kMostOfOne = 2 << 20;

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

bool isMovement(OpKind kind) {
  return kind == OpKind::Broadcast || kind == OpKind::Transpose || kind == OpKind::Reshape ||
         kind == OpKind::Slice || kind == OpKind::Flip;
}

/// Kinds that a step may be of.
bool isKnownKind(const Node &n) {
  switch (n.kind()) {
  case OpKind::Full:
    return n.shape().rank() == 0;
  case OpKind::Iota:
  case OpKind::Cast:
  case OpKind::Concatenate:
  case OpKind::UpdateSlice:
  case OpKind::Gather:
  case OpKind::Scatter:
  case OpKind::Reduce:
  case OpKind::Scan:
  case OpKind::Matmul:
  case OpKind::Library:
    return true;
  default:
    return isMovement(n.kind()) || op::opInfo(n.kind()).category == op::Category::Elementwise;
  }
}

/// The nodes to compute, operands first. Needs graphMutex().
Interpreted findNodes(const Segment &segment, int64_t mostBytes, std::vector<NodeRef> &found) {
  const uint64_t epoch = nextMarkEpoch();
  int64_t bytes = 0;
  auto take = [&](const NodeRef &n) {
    if (n->state() == NodeState::Ready || n->markEpoch == epoch)
      return Interpreted::Done;
    n->markEpoch = epoch;
    if (n->state() != NodeState::Pending || found.size() == kMostNodes ||
        (!plain::hasElements(n->dtype()) && !isComplex(n->dtype())) || !isKnownKind(*n))
      return Interpreted::Refused;
    if (!isMovement(n->kind()) && n->bytes() > kMostOfOne)
      return Interpreted::Refused;
    bytes += n->bytes();
    found.push_back(n);
    return bytes <= mostBytes ? Interpreted::Done : Interpreted::TooLarge;
  };
  for (const NodeRef &output : segment.outputs)
    if (Interpreted taken = take(output); taken != Interpreted::Done)
      return taken;
  for (size_t i = 0; i < found.size(); ++i)
    for (const NodeRef &operand :
         std::vector<NodeRef>(found[i]->operands().begin(), found[i]->operands().end()))
      if (Interpreted taken = take(operand); taken != Interpreted::Done)
        return taken;
  std::ranges::sort(found, {}, [](const NodeRef &n) { return n->sequence(); });
  return Interpreted::Done;
}

/// A node and what it is made of, which stays when another thread computes the node.
struct Step {
  NodeRef node;
  std::vector<NodeRef> operands;
};

Interpreted findSteps(const Segment &segment, int64_t mostBytes, std::vector<Step> &steps) {
  std::lock_guard lock(graphMutex());
  std::vector<NodeRef> nodes;
  if (Interpreted found = findNodes(segment, mostBytes, nodes); found != Interpreted::Done)
    return found;
  for (NodeRef &n : nodes) {
    std::vector<NodeRef> operands(n->operands().begin(), n->operands().end());
    steps.push_back({std::move(n), std::move(operands)});
  }
  return Interpreted::Done;
}

class Interpreter {
public:
  explicit Interpreter(bool isUnwatched) : isUnwatched(isUnwatched) {}

  /// Null results end the interpretation.
  using Made = Result<std::optional<Value>>;

  Made step(const Step &step) {
    const Node &n = *step.node;
    // Whoever interprets listens for underflow.
    RecordScope scope(n.location(), isUnwatched ? 0 : n.errors() & ~FloatModes::kUnder);
    if (n.bytes() == 0)
      return fresh(small::makeNode(n.dtype(), n.shape(), n.device()));
    std::vector<Value> given;
    for (const NodeRef &operand : step.operands) {
      auto value = valueOf(operand);
      if (!value)
        return std::optional<Value>();
      given.push_back(std::move(*value));
    }
    if (!isMovement(n.kind()))
      return computed(step, given);
    GRAPHC_ASSIGN(std::optional<Value> shows, moved(n, given));
    if (shows)
      shows->isMade = given[0].isMade;
    return shows;
  }
  void keep(const NodeRef &n, Value value) { values.insert_or_assign(n.get(), std::move(value)); }
  void drop(const Node *n) { values.erase(n); }

  /// The value of an output in memory of its own.
  Result<NodeRef> settled(const NodeRef &n) {
    Value &value = values.at(n.get());
    if (value.isOne)
      return filled(value, n->shape());
    if (!value.array.known() && value.array.view().isWhole() && value.isMade)
      return value.array.storage()->current();
    return converted(value.array, value.array.dtype());
  }

private:
  std::optional<Value> valueOf(const NodeRef &n) {
    if (auto it = values.find(n.get()); it != values.end())
      return it->second;
    if (n->state() != NodeState::Ready)
      return std::nullopt;
    if (n->shape().rank() == 0)
      if (auto bits = knownBits(*n))
        return Value{Array(KnownValue{*bits, n->dtype(), &n->device()})};
    return Value{Array(n, 0)};
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

  static Made shown(const Array &x, const Shape &shape, const Shape &strides, int64_t offset) {
    auto view = x.view().strided(shape, strides, offset);
    return view ? std::optional(Value{x.withView(std::move(*view))}) : std::nullopt;
  }

  Made moved(const Node &n, std::span<const Value> given) {
    const bool isNumber = given[0].isOne || given[0].array.known();
    if (isNumber) // whatever is moved shows it alone
      return std::optional(Value{given[0].array, n.shape().rank() > 0});
    Array x = given[0].array;
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

  Made computed(const Step &step, std::span<const Value> given) {
    const Node &n = *step.node;
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
    if (kind == OpKind::Cast && given[0].isOne) {
      GRAPHC_ASSIGN(std::optional<Value> one, fresh(converted(given[0].array, n.dtype())));
      if (one)
        one->isOne = true;
      return one;
    }
    if (kind == OpKind::Cast)
      return fresh(converted(given[0].array, n.dtype()));
    if (kind == OpKind::Bitcast)
      return fresh(recast(n, given[0], step.operands[0]->shape()));
    if (op::opInfo(kind).category == op::Category::Elementwise)
      return elementwise(n, given);
    std::vector<Array> arrays;
    for (size_t i = 0; i < given.size(); ++i) {
      GRAPHC_ASSIGN(Array x, arrayOf(given[i], step.operands[i]->shape()));
      if (x.isNull())
        return std::optional<Value>();
      arrays.push_back(std::move(x));
    }
    return fresh(ofArrays(n, arrays));
  }

  Made elementwise(const Node &n, std::span<const Value> given) {
    std::vector<Operand> operands;
    bool isOne = true;
    for (const Value &value : given) {
      operands.emplace_back(value.array);
      isOne &= value.isOne;
    }
    const DType t = given[n.kind() == OpKind::Select ? 1 : 0].array.dtype();
    const Shape shape = isOne ? Shape{} : n.shape();
    const bool isRandom = n.kind() == OpKind::Philox64 || n.kind() == OpKind::Philox32;
    GRAPHC_ASSIGN(NodeRef node, isRandom
                                    ? small::randomBits(n.kind(), operands, shape, n.device())
                                    : small::elementwise(n.kind(), operands, t, shape, n.device()));
    if (!node && !isRandom) {
      std::vector<Array> arrays;
      for (const Value &value : given)
        arrays.push_back(value.array);
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

  /// The matrix of an operand for one product of a batch.
  static std::optional<Array> matrixOf(const Array &x, int64_t number,
                                       std::span<const int64_t> batches) {
    int64_t offset = x.view().offset();
    for (size_t axis = batches.size(); axis-- > 0; number /= batches[axis])
      if (x.shape()[axis] != 1)
        offset += number % batches[axis] * x.view().strides()[axis];
    auto last = [&](std::span<const int64_t> all) {
      const auto two = all.subspan(batches.size());
      return Shape{two[0], two[1]};
    };
    auto view = x.view().strided(last(x.shape()), last(x.view().strides()), offset);
    return view ? std::optional(x.withView(std::move(*view))) : std::nullopt;
  }

  /// A product of matrices, or those of a batch one after the other.
  static Result<NodeRef> product(const Node &n, const Array &x, const Array &y) {
    const std::span<const int64_t> shape = n.shape();
    if (shape.size() < 3 || x.rank() != n.shape().rank() || y.rank() != n.shape().rank())
      return small::matmul(x, y, n.dtype(), n.shape());
    const auto batches = shape.first(shape.size() - 2), sizes = shape.last(2);
    GRAPHC_ASSIGN(NodeRef out, small::makeNode(n.dtype(), n.shape(), n.device()));
    char *to = small::dataOf<char>(out);
    for (int64_t i = 0; i < small::countOf(batches); ++i) {
      auto a = matrixOf(x, i, batches), b = matrixOf(y, i, batches);
      if (!a || !b)
        return NodeRef();
      GRAPHC_ASSIGN(NodeRef one, small::matmul(*a, *b, n.dtype(), Shape{sizes[0], sizes[1]}));
      if (!one)
        return NodeRef();
      to = std::copy_n(small::dataOf<const char>(one), one->bytes(), to);
    }
    return out;
  }

  Result<NodeRef> ofArrays(const Node &n, std::span<const Array> x) {
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
      const bool isAll = kind == op::ReduceKind::All;
      if (x[0].size() == 0 && (isAll || kind == op::ReduceKind::Any))
        return small::full(n.shape(), op::Scalar::ofInt(isAll), n.dtype(), n.device());
      return small::reduce(kind, x[0], reduce.axes, x[0].dtype(), n.shape());
    }
    if (n.kind() == OpKind::Scan && scan.decode(n.attrs()))
      return small::scan(static_cast<op::ReduceKind>(scan.kind), x[0],
                         static_cast<size_t>(scan.axis), n.dtype(), n.shape());
    if (n.kind() == OpKind::Concatenate && join.decode(n.attrs()))
      return small::concatenate(x, n.dtype(), static_cast<size_t>(join.axis));
    if (n.kind() == OpKind::Matmul && matmul.decode(n.attrs()) && !matmul.fast)
      return product(n, x[0], x[1]);
    if (n.kind() == OpKind::Library && library.decode(n.attrs()))
      return small::library(static_cast<Routine>(library.routine), x, library.params,
                            {n.dtype(), n.shape()});
    if (n.kind() == OpKind::Gather && gather.decode(n.attrs()))
      return plain::gather(x[0], x.subspan(1), gather, n.shape());
    if (n.kind() == OpKind::Scatter && scatter.decode(n.attrs()))
      return plain::scatter(x[0], x[1], x.subspan(2), scatter);
    if (n.kind() == OpKind::UpdateSlice)
      return updated(n, x[0], x[1]);
    return NodeRef();
  }

  /// A copy of an array with a value written to a part.
  Result<NodeRef> updated(const Node &n, const Array &x, const Array &value) {
    op::UpdateSliceAttrs part;
    GRAPHC_ASSIGN(NodeRef out, converted(x, x.dtype()));
    GRAPHC_ASSIGN(NodeRef dense, converted(value, value.dtype()));
    if (!out || !dense || !part.decode(n.attrs()))
      return NodeRef();
    Shape strides = denseStrides(n.shape());
    int64_t offset = 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      offset += strides[i] * part.starts[i];
      strides[i] *= part.steps[i];
    }
    auto done = small::withElementType(n.dtype(), [&]<typename T>(T) -> Result<bool> {
      small::spread(small::dataOf<T>(dense), value.shape(), strides,
                    small::dataOf<T>(out) + offset);
      return true;
    });
    return small::finished(std::move(out), std::move(done));
  }

  std::unordered_map<const Node *, Value> values;
  const bool isUnwatched;
};

} // namespace

/// The nodes that nothing after each step needs.
static std::vector<std::vector<const Node *>> endsOf(const std::vector<Step> &steps,
                                                     const Segment &segment) {
  std::unordered_map<const Node *, size_t> last;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const NodeRef &operand : steps[i].operands)
      last[operand.get()] = i;
  for (const NodeRef &output : segment.outputs)
    last.erase(output.get());
  std::vector<std::vector<const Node *>> ends(steps.size());
  for (auto [node, step] : last)
    ends[step].push_back(node);
  return ends;
}

Result<Interpreted> interpret(const Segment &segment, int64_t mostBytes, bool isUnwatched,
                              std::vector<rt::Tensor> &outputs) {
  std::vector<Step> steps;
  if (Interpreted found = findSteps(segment, mostBytes, steps); found != Interpreted::Done)
    return found;
  small::Wider wider;
  Interpreter interpreter(isUnwatched);
  const auto ends = endsOf(steps, segment);
  for (size_t i = 0; i < steps.size(); ++i) {
    GRAPHC_ASSIGN(std::optional<Value> value, interpreter.step(steps[i]));
    if (!value)
      return Interpreted::Refused;
    interpreter.keep(steps[i].node, std::move(*value));
    for (const Node *n : ends[i])
      interpreter.drop(n);
  }
  std::vector<rt::Tensor> made;
  for (const NodeRef &output : segment.outputs) {
    GRAPHC_ASSIGN(NodeRef node, interpreter.settled(output));
    if (!node)
      return Interpreted::Refused;
    made.push_back({node->buffer(), node->dtype(), node->shape()});
  }
  recycle::release();
  outputs = std::move(made);
  return Interpreted::Done;
}

} // namespace graphc
