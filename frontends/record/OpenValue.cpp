#include "frontends/record/Known.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/OpsDetail.h"
#include "frontends/record/Session.h"
#include "frontends/record/Spread.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"
#include "runtime/drivers/Choice.h"

#include <algorithm>
#include <utility>

namespace graphc {

using strings::format;

OpenRecipe::OpenRecipe(std::shared_ptr<OpenSize> size, Exactly exactly, int depth)
    : rows(std::move(size)), trace(Trace::active() ? Trace::active()->id() : 0), level(depth),
      make(std::move(exactly)) {}

bool OpenRecipe::isCurrent() const {
  return level < kMostDeep && trace == (Trace::active() ? Trace::active()->id() : 0);
}

Result<NodeRef> OpenRecipe::exact() {
  if (node)
    return node;
  const Trace *active = Trace::active();
  if (active && active->id() == trace)
    return Status(ErrorCode::Trace,
                  "the size of an array that a mask chose is not known while the function is "
                  "traced: its shape cannot be asked for, nor what needs it");
  {
    Trace::Pause pause; // a trace that is under way must not take it for its own
    RecordScope scope(location, errors);
    GRAPHC_ASSIGN(node, make());
  }
  make = nullptr;
  return node;
}

Result<NodeRef> OpenRecipe::exactOf(const NodeRef &filled) {
  if (!node && filled->state() == NodeState::Ready) {
    Trace::Pause pause;
    GRAPHC_ASSIGN(int64_t count, rows->look());
    GRAPHC_ASSIGN(node, firstRows(filled, count));
    make = nullptr;
  }
  return exact();
}

Result<NodeRef> OpenValue::exact() { return how->exactOf(filledNode); }

namespace ops::open {
namespace {

using op::OpKind;
using op::ReduceKind;

/// An operand for as long as its operation may be recorded again.
struct Held {
  std::optional<Array> array;
  std::shared_ptr<OpenRecipe> recipe;
  op::Scalar scalar;
  std::optional<DType> dtype;

  /// The operand at its exact size.
  Result<Operand> exactly() {
    if (recipe) {
      GRAPHC_ASSIGN(NodeRef node, recipe->exact());
      array = Array(std::move(node));
    }
    return array ? Operand(*array) : dtype ? Operand(scalar, *dtype) : Operand(scalar);
  }
};

Result<Held> hold(const Operand &o) {
  if (o.scalar.variable) // of this trace only
    return op::literalBits(o.scalar, DType::Float64).takeStatus();
  Held held{{}, {}, o.scalar, o.dtype};
  if (!o.array)
    return held;
  if (o.array->isOpen()) {
    held.recipe = o.array->open()->recipe();
  } else if (const KnownValue *known = o.array->known()) {
    held.array = Array(*known);
  } else {
    // Its value now, whatever is written to the array later.
    GRAPHC_ASSIGN(NodeRef node, o.array->value());
    held.array = Array(std::move(node));
  }
  return held;
}

/// The operand that says how many rows there are; null where every shape is known.
const Array *rowsOperand(std::span<const Operand> operands) {
  for (const Operand &o : operands)
    if (o.array && o.array->isOpen() && o.array->open()->size())
      return o.array;
  return nullptr;
}

/// Whether rows of the operands meet rows of the same number only.
bool haveOneSize(std::span<const Operand> operands) {
  const Array *first = rowsOperand(operands);
  for (const Operand &o : operands) {
    if (!o.array)
      continue;
    const Array &x = *o.array;
    if (x.isOpen() && !x.open()->recipe()->isCurrent())
      return false;
    if (!first)
      continue;
    bool isOpen = x.isOpen() && x.open()->size();
    if (isOpen && (x.open()->size() != first->open()->size() || x.rank() != first->rank()))
      return false;
    if (!isOpen && (x.rank() > first->rank() || (x.rank() == first->rank() && x.shape()[0] != 1)))
      return false;
  }
  return true;
}

/// Where a look costs nothing but the look, values are recorded at their exact sizes only, and
/// before that as no more than their types.
bool recordsTypesOnly(rt::Device &device) { return device.info().hostVisible && !Trace::active(); }

int depthOf(std::span<const Operand> operands) {
  int depth = 0;
  for (const Operand &o : operands)
    if (o.array && o.array->isOpen())
      depth = std::max(depth, o.array->open()->recipe()->depth() + 1);
  return depth;
}

Array openArray(NodeRef filled, std::shared_ptr<OpenSize> size, OpenRecipe::Exactly exactly,
                int depth) {
  if (recordsTypesOnly(filled->device()))
    filled = Node::makePlaceholder({filled->dtype(), filled->shape()}, filled->device());
  auto recipe = std::make_shared<OpenRecipe>(std::move(size), std::move(exactly), depth);
  return Array(std::make_shared<OpenValue>(std::move(filled), std::move(recipe)));
}

/// How `record` gives its result for operands at their exact sizes.
Result<OpenRecipe::Exactly> again(std::span<const Operand> operands, const Record &record) {
  std::vector<Held> held;
  for (const Operand &o : operands) {
    GRAPHC_ASSIGN(Held one, hold(o));
    held.push_back(std::move(one));
  }
  return OpenRecipe::Exactly([held, record]() mutable -> Result<NodeRef> {
    std::vector<Operand> exact;
    for (Held &h : held) {
      GRAPHC_ASSIGN(Operand o, h.exactly());
      exact.push_back(o);
    }
    GRAPHC_ASSIGN(Array made, record(exact));
    return made.value();
  });
}

Result<std::vector<KeyItem>> fixedKey(std::span<const KeyItem> key) {
  std::vector<KeyItem> items(key.begin(), key.end());
  for (KeyItem &item : items)
    if (item.array)
      GRAPHC_TRY(item.array->fixSize());
  return items;
}

/// The rows there are of a value up to the bound.
OpenRecipe::Exactly rowsOf(const NodeRef &filled, const std::shared_ptr<OpenSize> &size) {
  return [filled, size]() -> Result<NodeRef> {
    GRAPHC_ASSIGN(int64_t count, size->look());
    return firstRows(filled, count);
  };
}

/// A number of any dtype in every place of a shape.
Result<NodeRef> everywhere(const op::Scalar &value, DType dtype, const Shape &shape,
                           rt::Device &device) {
  GRAPHC_ASSIGN(NodeRef one, node::scalar(value, dtype, device));
  return node::broadcast(one, shape);
}

/// The rows there are, and `other` in those beyond the count.
Result<NodeRef> presentOr(const Array &x, const op::Scalar &other) {
  const NodeRef &filled = x.open()->filled();
  GRAPHC_ASSIGN(NodeRef present, x.open()->size()->present(filled->shape()));
  GRAPHC_ASSIGN(NodeRef rest, everywhere(other, filled->dtype(), filled->shape(), x.device()));
  NodeRef operands[] = {present, filled, rest};
  return node::make(OpKind::Select, operands, {}, {}, x.device());
}

/// Ones where nothing was chosen at all: no operation meets an error there that is not the user's.
Result<NodeRef> harmless(NodeRef filled, OpenSize &size) {
  if (filled->dtype() == DType::Bool)
    return filled;
  rt::Device &device = filled->device();
  GRAPHC_ASSIGN(NodeRef count, size.count());
  NodeRef both[] = {count, node::literal(0, DType::Int64, device)};
  GRAPHC_ASSIGN(NodeRef isAny, node::make(OpKind::Greater, both, {}, {}, device));
  GRAPHC_ASSIGN(isAny, node::broadcast(isAny, filled->shape()));
  GRAPHC_ASSIGN(NodeRef ones,
                everywhere(op::Scalar::ofInt(1), filled->dtype(), filled->shape(), device));
  NodeRef operands[] = {isAny, filled, ones};
  return node::make(OpKind::Select, operands, {}, {}, device);
}

/// What leaves a reduction as it is; nothing where there is no such number. -0 and not 0: a sum of
/// negative zeros is one.
std::optional<op::Scalar> identityOf(ReduceKind kind, DType dtype) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    if (isComplex(dtype))
      return op::Scalar::ofComplex(-0.0, -0.0);
    return isFloat(dtype) ? op::Scalar::ofFloat(-0.0) : op::Scalar::ofInt(0);
  case ReduceKind::Prod:
    // Those of complex numbers are taken in an order that their number decides.
    return isComplex(dtype) ? std::nullopt : std::optional(op::Scalar::ofInt(1));
  case ReduceKind::Any:
    return op::Scalar::ofInt(0);
  case ReduceKind::All:
    return op::Scalar::ofInt(1);
  default:
    return std::nullopt;
  }
}

/// Sum divided by the number of elements, as the mean of a known size.
Result<Array> meanOf(const Array &sum, const Array &x, std::span<const int64_t> axes) {
  rt::Device &device = x.device();
  int64_t others = 1;
  for (int64_t axis : axes)
    others *= axis == 0 ? 1 : x.shape()[static_cast<size_t>(axis)];
  GRAPHC_ASSIGN(NodeRef count, x.open()->size()->count());
  NodeRef factors[] = {count, node::literal(static_cast<uint64_t>(others), DType::Int64, device)};
  GRAPHC_ASSIGN(NodeRef all, node::make(OpKind::Mul, factors, {}, {}, device));
  GRAPHC_ASSIGN(all, node::cast(all, sum.dtype()));
  GRAPHC_ASSIGN(all, node::broadcast(all, sum.shape()));
  GRAPHC_ASSIGN(NodeRef total, sum.value());
  NodeRef both[] = {total, all};
  return detail::finish(node::make(OpKind::Div, both, {}, {}, device));
}

} // namespace

Result<bool> countsLater(const NodeRef &mask) {
  rt::Device &device = mask->device();
  if (mask->shape().rank() == 0 || mask->bytes() == 0 || !device.info().runsKernels)
    return false;
  if (!device.info().hostVisible && rt::choicesOf(device) && !Trace::active())
    GRAPHC_TRY(evaluate({&mask, 1}, "mask"));
  else if (!device.info().hostVisible)
    return true;
  return !isReadHere(*mask);
}

bool isAny(std::span<const Operand> operands) {
  return std::ranges::any_of(operands,
                             [](const Operand &o) { return o.array && o.array->isOpen(); });
}

Result<Array> fixed(const Array &x) {
  Array out = x;
  GRAPHC_TRY(out.fixSize());
  return out;
}

/// As apply(), of rows that `size` counts; null: of a known shape.
static Result<Array> applyWith(std::span<const Operand> operands, const Record &record,
                               std::shared_ptr<OpenSize> size) {
  std::vector<Array> arrays;
  arrays.reserve(operands.size());
  std::vector<Operand> now(operands.begin(), operands.end());
  bool isOpen = haveOneSize(operands);
  for (Operand &o : now) {
    if (!o.array || !o.array->isOpen())
      continue;
    if (isOpen) {
      arrays.push_back(Array(o.array->open()->filled()));
    } else {
      GRAPHC_ASSIGN(Array exact, fixed(*o.array));
      arrays.push_back(std::move(exact));
    }
    o.array = &arrays.back();
  }
  if (!isOpen)
    return record(now);
  NodeRef filled;
  {
    WithoutBudget recording;
    GRAPHC_ASSIGN(Array made, record(now));
    GRAPHC_ASSIGN(filled, made.value());
  }
  if (!recordsTypesOnly(filled->device()))
    GRAPHC_TRY(respectBudget(filled));
  GRAPHC_ASSIGN(OpenRecipe::Exactly exactly, again(operands, record));
  return openArray(std::move(filled), std::move(size), std::move(exactly), depthOf(operands));
}

Result<Array> apply(std::span<const Operand> operands, const Record &record) {
  const Array *rows = rowsOperand(operands);
  return applyWith(operands, record, rows ? rows->open()->size() : nullptr);
}

Result<Array> reduce(ReduceKind kind, const Array &x, const Axes &given, bool keepdims,
                     std::optional<DType> dtype) {
  auto plain = [=](std::span<const Operand> o) {
    return ops::reduce(kind, *o[0].array, given, keepdims, dtype);
  };
  GRAPHC_ASSIGN(std::vector<int64_t> axes,
                op::normalizeAxes(op::reduceKindName(kind), given, x.rank()));
  Operand one[] = {x};
  bool isOverRows = std::ranges::find(axes, 0) != axes.end();
  if (!x.open()->size() || (!isOverRows && !axes.empty()))
    return apply(one, plain);
  bool mayBeEmpty = kind == ReduceKind::Sum || kind == ReduceKind::Prod ||
                    kind == ReduceKind::Mean || kind == ReduceKind::Any || kind == ReduceKind::All;
  if (recordsTypesOnly(x.device()) && mayBeEmpty && !axes.empty())
    return applyWith(one, plain, nullptr);
  auto identity = identityOf(kind, x.dtype());
  // Means of complex and narrow numbers are more than a sum that is divided.
  bool isMean = kind == ReduceKind::Mean;
  DType t = isMean ? dtype.value_or(op::reduceDType(kind, x.dtype())) : x.dtype();
  if (!identity || axes.empty() || !haveOneSize(one) ||
      (isMean && t != DType::Float32 && t != DType::Float64)) {
    GRAPHC_ASSIGN(Array exact, fixed(x));
    return ops::reduce(kind, exact, given, keepdims, dtype);
  }
  GRAPHC_ASSIGN(NodeRef rows, presentOr(x, *identity));
  if (!isMean)
    return ops::reduce(kind, Array(std::move(rows)), given, keepdims, dtype);
  GRAPHC_ASSIGN(Array sum,
                ops::reduce(ReduceKind::Sum, Array(std::move(rows)), given, keepdims, t));
  return meanOf(sum, x, axes);
}

Result<Array> scan(ReduceKind kind, const Array &x, std::optional<int64_t> axis,
                   std::optional<DType> dtype) {
  auto identity = identityOf(kind, x.dtype());
  Operand one[] = {x};
  auto record = [=](std::span<const Operand> o) {
    return ops::scan(kind, *o[0].array, axis, dtype);
  };
  bool isAlong = axis || x.rank() == 1; // and not of the flattened rows
  if (!x.open()->size() || (recordsTypesOnly(x.device()) && isAlong))
    return apply(one, record);
  if (!identity || !isAlong || !haveOneSize(one)) {
    GRAPHC_ASSIGN(Array exact, fixed(x));
    return ops::scan(kind, exact, axis, dtype);
  }
  // Of the rows beyond the count nothing is added up, so that no error is met there.
  GRAPHC_ASSIGN(NodeRef rows, presentOr(x, *identity));
  GRAPHC_ASSIGN(Array made, ops::scan(kind, Array(std::move(rows)), axis, dtype));
  GRAPHC_ASSIGN(NodeRef filled, made.value());
  GRAPHC_ASSIGN(OpenRecipe::Exactly exactly, again(one, record));
  return openArray(std::move(filled), x.open()->size(), std::move(exactly), depthOf(one));
}

Status inPlace(OpKind kind, Array &x, const Operand &y) {
  Operand operands[] = {x, y};
  if (!x.isOpen() || !haveOneSize(operands)) {
    GRAPHC_TRY(x.fixSize());
    std::optional<Array> exact;
    if (y.array) {
      GRAPHC_ASSIGN(exact, fixed(*y.array));
    }
    return ops::inPlace(kind, x, exact ? Operand(*exact) : y);
  }
  GRAPHC_ASSIGN(Array result,
                kind == OpKind::Pow ? ops::power(x, y) : ops::elementwise(kind, operands));
  if (!op::canCastSameKind(result.dtype(), x.dtype()) || !(result.shape() == x.shape())) {
    GRAPHC_TRY(x.fixSize()); // which says what is wrong
    return ops::inPlace(kind, x, y);
  }
  GRAPHC_ASSIGN(x, ops::cast(result, x.dtype()));
  return Status::ok();
}

Result<Array> chosen(const Array &x, const Array &mask) {
  bool isNested = mask.isOpen() && !recordsTypesOnly(x.device());
  NodeRef condition;
  if (isNested) {
    GRAPHC_ASSIGN(condition, presentOr(mask, op::Scalar::ofInt(0)));
  } else if (mask.isOpen()) {
    condition = mask.open()->filled();
  } else {
    GRAPHC_ASSIGN(condition, mask.value());
  }
  GRAPHC_ASSIGN(NodeRef from, x.isOpen() ? Result<NodeRef>(x.open()->filled()) : x.value());
  auto size = OpenSize::ofMask(condition);
  std::span<const int64_t> tail =
      std::span<const int64_t>(from->shape()).subspan(static_cast<size_t>(mask.rank()));
  std::vector<int64_t> dims{size->bound()};
  dims.insert(dims.end(), tail.begin(), tail.end());
  Shape shape{std::span<const int64_t>(dims)};
  bool isHost = x.device().info().hostVisible;
  NodeRef filled;
  GRAPHC_ASSIGN(NodeRef table, node::reshape(from, shape));
  if (recordsTypesOnly(x.device())) {
    filled = std::move(table);
  } else if (isHost && from->state() != NodeState::Pending) {
    int64_t length = 1;
    for (int64_t s : tail)
      length *= s;
    GRAPHC_ASSIGN(table, node::reshape(from, Shape{size->bound(), length}));
    GRAPHC_ASSIGN(NodeRef flat, node::reshape(condition, Shape{size->bound()}));
    NodeRef operands[] = {table, flat};
    GRAPHC_ASSIGN(filled, node::library(Routine::CompressFilled, operands, {0},
                                        {from->dtype(), table->shape()}));
    GRAPHC_ASSIGN(filled, node::reshape(filled, shape));
  } else {
    GRAPHC_ASSIGN(NodeRef positions, size->positions());
    GRAPHC_ASSIGN(filled, node::gather(table, {{positions}, {0}, 0}));
    GRAPHC_ASSIGN(filled, harmless(std::move(filled), *size));
  }
  Operand both[] = {x, mask};
  auto record = [](std::span<const Operand> o) -> Result<Array> {
    GRAPHC_ASSIGN(NodeRef known, o[1].array->value());
    GRAPHC_TRY(evaluate({&known, 1}, "mask"));
    KeyItem item;
    item.array = *o[1].array;
    return ops::take(*o[0].array, {&item, 1});
  };
  OpenRecipe::Exactly exactly = rowsOf(filled, size);
  if (isHost) {
    GRAPHC_ASSIGN(exactly, again(both, record));
  }
  return openArray(std::move(filled), std::move(size), std::move(exactly), depthOf(both));
}

Result<Array> named(const Array &x, std::span<const Array> indices) {
  std::vector<Operand> operands;
  for (const Array &index : indices)
    operands.emplace_back(index);
  bool isEmpty = std::ranges::any_of(
      std::span<const int64_t>(x.shape()).first(std::min(indices.size(), x.shape().size())),
      [](int64_t size) { return size == 0; });
  // Each by itself, so that a key of one array is no tuple.
  auto plain = [](std::span<const Operand> o) {
    std::vector<KeyItem> key(o.size() - 1);
    for (size_t i = 1; i < o.size(); ++i)
      key[i - 1].array = *o[i].array;
    return ops::take(*o[0].array, key);
  };
  bool isOpen = !x.isOpen() && !isEmpty && static_cast<int64_t>(indices.size()) <= x.rank() &&
                haveOneSize(operands) && !catchesIndexErrors(x.device());
  for (const Array &index : indices)
    isOpen = isOpen && index.isOpen() && index.rank() == 1 && isInteger(index.dtype()) &&
             &index.device() == &x.device();
  std::vector<Operand> all{x};
  all.insert(all.end(), operands.begin(), operands.end());
  if (!isOpen) {
    std::vector<Array> exact;
    exact.reserve(all.size());
    for (Operand &o : all) {
      GRAPHC_ASSIGN(Array one, fixed(*o.array));
      exact.push_back(std::move(one));
      o.array = &exact.back();
    }
    return plain(all);
  }
  node::Places places;
  bool isTypeOnly = recordsTypesOnly(x.device());
  for (size_t i = 0; i < indices.size(); ++i) {
    const Array &named = indices[i];
    GRAPHC_ASSIGN(NodeRef index, isTypeOnly ? Result<NodeRef>(named.open()->filled())
                                            : presentOr(named, op::Scalar::ofInt(0)));
    GRAPHC_ASSIGN(index, node::cast(index, DType::Int64));
    places.indices.push_back(std::move(index));
    places.axes.push_back(static_cast<int64_t>(i));
  }
  GRAPHC_ASSIGN(NodeRef from, x.value());
  GRAPHC_ASSIGN(NodeRef filled, node::gather(from, places));
  auto size = indices[0].open()->size();
  if (!isTypeOnly) {
    GRAPHC_ASSIGN(filled, harmless(std::move(filled), *size));
  }
  GRAPHC_ASSIGN(OpenRecipe::Exactly exactly, again(all, plain));
  return openArray(std::move(filled), std::move(size), std::move(exactly), depthOf(operands));
}

/// The rows of a value of the size that `mask` has, each at its place.
static Result<NodeRef> atPlaces(const NodeRef &condition, const Array &value) {
  rt::Device &device = condition->device();
  const NodeRef &filled = value.open()->filled();
  if (const NodeRef &mask = value.open()->size()->mask()) {
    GRAPHC_ASSIGN(Spread all, spreadOver(mask, filled));
    if (all.rows)
      return all.rows;
  }
  // The number of each true element among them is its place in the value.
  int64_t bound = value.open()->size()->bound();
  GRAPHC_ASSIGN(NodeRef flat, node::reshape(condition, Shape{bound}));
  GRAPHC_ASSIGN(NodeRef ones, node::cast(flat, DType::Int64));
  GRAPHC_ASSIGN(NodeRef ends, node::scan(ReduceKind::Sum, ones, 0));
  NodeRef bounds[] = {ends, ones};
  GRAPHC_ASSIGN(NodeRef before, node::make(OpKind::Sub, bounds, {}, {}, device));
  GRAPHC_ASSIGN(NodeRef last,
                everywhere(op::Scalar::ofInt(bound - 1), DType::Int64, before->shape(), device));
  NodeRef limited[] = {before, last};
  GRAPHC_ASSIGN(before, node::make(OpKind::Minimum, limited, {}, {}, device));
  return node::gather(filled, {{before}, {0}, 0});
}

/// x[mask] = value of the size that `mask` has.
static Status putChosen(Array &x, const Array &mask, const Array &value) {
  GRAPHC_ASSIGN(NodeRef condition, mask.value());
  GRAPHC_ASSIGN(NodeRef old, x.value());
  rt::Device &device = x.device();
  GRAPHC_ASSIGN(NodeRef spread, atPlaces(condition, value));
  GRAPHC_ASSIGN(spread, node::cast(spread, x.dtype()));
  GRAPHC_ASSIGN(spread, node::reshape(spread, x.shape()));
  std::vector<int64_t> lifted(mask.shape().begin(), mask.shape().end());
  lifted.resize(static_cast<size_t>(x.rank()), 1);
  GRAPHC_ASSIGN(condition, node::reshape(condition, Shape(std::span<const int64_t>(lifted))));
  GRAPHC_ASSIGN(condition, node::broadcast(condition, x.shape()));
  NodeRef operands[] = {condition, spread, old};
  GRAPHC_ASSIGN(NodeRef next, node::make(OpKind::Select, operands, {}, {}, device));
  return x.assign(next);
}

Result<Array> take(const Array &x, std::span<const KeyItem> key) {
  std::vector<Array> arrays;
  for (const KeyItem &item : key)
    if (item.array)
      arrays.push_back(*item.array);
  bool isArrays = arrays.size() == key.size();
  if (isArrays && std::ranges::all_of(arrays, [](const Array &a) { return isInteger(a.dtype()); }))
    return named(x, arrays);
  if (isArrays && key.size() == 1 && arrays[0].rank() == 1 && x.isOpen() && arrays[0].isOpen()) {
    if (x.open()->size() == arrays[0].open()->size() && arrays[0].dtype() == DType::Bool &&
        x.open()->recipe()->isCurrent() && arrays[0].open()->recipe()->isCurrent())
      return chosen(x, arrays[0]);
  }
  GRAPHC_ASSIGN(Array exact, fixed(x));
  GRAPHC_ASSIGN(std::vector<KeyItem> items, fixedKey(key));
  return ops::take(exact, items);
}

Status put(Array &x, std::span<const KeyItem> key, const Operand &value,
           std::optional<op::OpKind> combine) {
  std::optional<Array> exact;
  if (value.array && value.array->isOpen()) {
    const OpenValue &chosen = *value.array->open();
    bool isPlain = !combine && key.size() == 1 && key[0].array && !key[0].isOpen() &&
                   !x.view().isReadOnly() && key[0].array->dtype() == DType::Bool;
    // Where the count is known for nothing, only the places chosen are written.
    bool mayLook = x.device().info().hostVisible && !Trace::active();
    bool isSame = false;
    if (isPlain) {
      GRAPHC_ASSIGN(NodeRef mask, key[0].array->value());
      isSame = OpenSize::ofMask(mask) == chosen.size();
    }
    if (isSame && !mayLook && chosen.recipe()->isCurrent() &&
        value.array->rank() == 1 + x.rank() - key[0].array->rank())
      return putChosen(x, *key[0].array, *value.array);
    GRAPHC_ASSIGN(exact, fixed(*value.array));
    // The mask that the value was chosen by, so that nothing is computed twice.
    if (isSame && mayLook && chosen.size()->mask()) {
      KeyItem item;
      item.array = Array(chosen.size()->mask());
      return ops::put(x, {&item, 1}, Operand(*exact), combine);
    }
  }
  GRAPHC_ASSIGN(std::vector<KeyItem> items, fixedKey(key));
  return ops::put(x, items, exact ? Operand(*exact) : value, combine);
}

Result<Array> flatNonzero(const NodeRef &mask) {
  auto size = OpenSize::ofMask(mask);
  NodeRef filled;
  if (recordsTypesOnly(mask->device())) {
    filled = Node::makePlaceholder({DType::Int64, Shape{size->bound()}}, mask->device());
  } else {
    GRAPHC_ASSIGN(filled, size->positions());
  }
  auto exactly = [mask, filled, size]() -> Result<NodeRef> {
    GRAPHC_ASSIGN(int64_t count, size->look());
    return mask->device().info().hostVisible ? countedPositions(mask) : firstRows(filled, count);
  };
  return openArray(filled, size, std::move(exactly), 0);
}

Result<std::pair<Array, Array>> parts(const Array &x) {
  RecordScope scope;
  if (!x.isOpen() || !x.open()->size())
    return Status(ErrorCode::InvalidArgument, "[open_parts] an array of an open size is needed");
  GRAPHC_ASSIGN(NodeRef count, x.open()->size()->count());
  return std::pair(Array(x.open()->filled()), Array(std::move(count)));
}

Result<Array> ofParts(const Array &rows, const Array &count) {
  RecordScope scope;
  GRAPHC_ASSIGN(NodeRef filled, rows.value());
  GRAPHC_ASSIGN(NodeRef total, count.value());
  auto size = std::make_shared<OpenSize>(std::move(total), filled->shape()[0]);
  return openArray(filled, size, rowsOf(filled, size), 0);
}

Result<Array> ofSize(const Array &x, const Array &like) {
  RecordScope scope;
  if (!like.isOpen() || !like.open()->size())
    return fixed(x);
  // Computed at once, in a loop over small arrays that begins between the two: what it has is all.
  if (!x.isOpen() && !(x.shape() == like.shape()))
    return x;
  std::shared_ptr<OpenSize> size = like.open()->size();
  Operand one[] = {x};
  GRAPHC_ASSIGN(NodeRef filled, x.isOpen() ? Result<NodeRef>(x.open()->filled()) : x.value());
  if (x.isOpen()) {
    GRAPHC_ASSIGN(OpenRecipe::Exactly same,
                  again(one, [](std::span<const Operand> o) { return ops::copy(*o[0].array); }));
    return openArray(std::move(filled), std::move(size), std::move(same), depthOf(one));
  }
  return openArray(filled, size, rowsOf(filled, size), 0);
}

} // namespace ops::open
} // namespace graphc
