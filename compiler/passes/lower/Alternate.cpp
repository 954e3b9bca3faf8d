// Stores of one result whose lanes alternate in memory: the parts of a stack along the last axis.
#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// How many of the first stores write, lane by lane, one element each of every so many neighbours;
/// 1 when the first one does not.
size_t BodyEmitter::alternating(ArrayRef<kernel::StoreOp> stores, const Position &position) {
  if (position.vectorLoop < 0 || position.width == 1)
    return 1;
  kernel::StoreOp first = stores.front();
  const LinearAccess &access = space.accesses.at(first);
  std::optional<int64_t> step = access.strides[position.vectorLoop].constant();
  // Complex elements are two neighbours each.
  int64_t each = first.getValues().size();
  if (!step || *step % each != 0)
    return 1;
  int64_t count = *step / each;
  if (count < 2 || count > static_cast<int64_t>(stores.size()))
    return 1;
  for (int64_t i = 1; i < count; ++i) {
    kernel::StoreOp store = stores[i];
    const LinearAccess &other = space.accesses.at(store);
    if (store.getResult() != first.getResult() || other.strides != access.strides ||
        !(other.offset == access.offset + Polynomial(i * each)))
      return 1;
  }
  return count;
}

/// Lanes of vectors of one length in turn, as one vector.
static Value alternate(OpBuilder &builder, Location loc, ArrayRef<Value> parts) {
  auto type = cast<VectorType>(parts[0].getType());
  int64_t count = parts.size(), lanes = type.getNumElements();
  if (count == 1)
    return parts[0];
  if (count % 2 == 0) {
    SmallVector<Value> even, odd;
    for (int64_t i = 0; i < count; i += 2) {
      even.push_back(parts[i]);
      odd.push_back(parts[i + 1]);
    }
    Value x = alternate(builder, loc, even), y = alternate(builder, loc, odd);
    SmallVector<int64_t> order;
    for (int64_t i = 0, e = count / 2 * lanes; i < e; ++i)
      order.append({i, e + i});
    return vector::ShuffleOp::create(builder, loc, x, y, order);
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count * lanes; ++i)
    elements.push_back(vector::ExtractOp::create(builder, loc, parts[i % count], i / count));
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({count * lanes}, type.getElementType()), elements);
}

void BodyEmitter::storeAlternating(OpBuilder &builder, ArrayRef<kernel::StoreOp> stores,
                                   Position &position) {
  kernel::StoreOp leading = stores.front();
  SmallVector<Value> parts;
  for (kernel::StoreOp store : stores)
    for (Value part : store.getValues()) {
      Value own = value(builder, part, position);
      watchReduced(builder, part, position);
      Value raw = toMemory(builder, own);
      parts.push_back(splat(builder, loc, raw, position.width));
    }
  Value all = alternate(builder, loc, parts);
  Value buffer = buffers[func.getNumTensors() + leading.getResult()];
  Value first = index(builder, space.accesses.at(leading), position);
  if (!position.limit) {
    vector::StoreOp::create(builder, loc, all, buffer, first);
    return;
  }
  IndexMath m{builder, loc};
  int64_t count = parts.size();
  Value left = m.mul(m.sub(position.limit, position.loops[position.vectorLoop]), count);
  auto lanes = VectorType::get({count * position.width}, builder.getI1Type());
  Value mask = vector::CreateMaskOp::create(builder, loc, lanes, left);
  vector::MaskedStoreOp::create(builder, loc, buffer, first, mask, all);
}

void BodyEmitter::storeAll(OpBuilder &builder, ArrayRef<kernel::StoreOp> stores,
                           Position &position) {
  while (!stores.empty()) {
    size_t count = alternating(stores, position);
    if (count > 1)
      storeAlternating(builder, stores.take_front(count), position);
    else
      store(builder, stores.front(), position);
    stores = stores.drop_front(count);
  }
}
