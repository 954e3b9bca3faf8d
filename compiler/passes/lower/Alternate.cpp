// Stores of one result whose lanes alternate in memory: the parts of a stack along the last axis.
#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/Contract.h"
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

/// The vectors x and y lane by lane in turn, as two vectors of their length.
static void interleave(OpBuilder &b, Location loc, Value x, Value y,
                       SmallVectorImpl<Value> &result) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  for (int64_t first : {int64_t{0}, lanes / 2}) {
    SmallVector<int64_t> order;
    for (int64_t lane = first; lane < first + lanes / 2; ++lane)
      order.append({lane, lanes + lane});
    result.push_back(vector::ShuffleOp::create(b, loc, x, y, order));
  }
}

/// Lanes of an odd number of vectors in turn: a part joins each result that has lanes of it.
static SmallVector<Value> alternateOdd(OpBuilder &b, Location loc, ArrayRef<Value> parts) {
  int64_t count = parts.size(), lanes = cast<VectorType>(parts[0].getType()).getNumElements();
  SmallVector<Value> result;
  for (int64_t first = 0; first < count * lanes; first += lanes) {
    Value all = parts[first % count];
    SmallVector<int64_t> order(lanes, 0);
    order[0] = first / count;
    for (int64_t k = 1; k < std::min(count, lanes); ++k) {
      int64_t part = (first + k) % count;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t flat = first + lane;
        if (flat % count == part)
          order[lane] = lanes + flat / count;
        else if (k == 1 && flat % count == first % count)
          order[lane] = flat / count;
      }
      all = vector::ShuffleOp::create(b, loc, all, parts[part], order);
      for (int64_t lane = 0; lane < lanes; ++lane)
        order[lane] = lane;
    }
    result.push_back(all);
  }
  return result;
}

/// Lanes of vectors of one length in turn, as as many vectors of that length. Each step takes two
/// vectors to two, which every machine has instructions for; a shuffle of all at once is taken
/// apart lane by lane.
static SmallVector<Value> alternate(OpBuilder &b, Location loc, ArrayRef<Value> parts) {
  int64_t count = parts.size(), lanes = cast<VectorType>(parts[0].getType()).getNumElements();
  if (count % lanes == 0 && llvm::isPowerOf2_64(lanes)) {
    SmallVector<Value> result(count);
    int64_t groups = count / lanes;
    for (int64_t group = 0; group < groups; ++group) {
      SmallVector<Value> lines(parts.slice(group * lanes, lanes));
      transposeVectors(b, loc, lines);
      for (int64_t lane = 0; lane < lanes; ++lane)
        result[lane * groups + group] = lines[lane];
    }
    return result;
  }
  if (count % 2 != 0)
    return count == 1 ? SmallVector<Value>(parts) : alternateOdd(b, loc, parts);
  SmallVector<Value> halves[2], result;
  for (auto [i, part] : llvm::enumerate(parts))
    halves[i % 2].push_back(part);
  SmallVector<Value> even = alternate(b, loc, halves[0]), odd = alternate(b, loc, halves[1]);
  for (auto [x, y] : llvm::zip(even, odd))
    interleave(b, loc, x, y, result);
  return result;
}

/// The shuffles that `alternate` makes.
static int64_t shufflesOf(int64_t count, int64_t lanes) {
  if (count % lanes == 0 && llvm::isPowerOf2_64(lanes))
    return count * llvm::Log2_64(lanes);
  return count % 2 == 0 ? 2 * shufflesOf(count / 2, lanes) + count
                        : count * (std::min(count, lanes) - 1);
}

namespace {
/// Neighbours in memory, from an element on.
struct Piece {
  int64_t first;
  Value lanes;
};
} // namespace

/// Lanes of parts in turn. More parts than lanes, of another number than a multiple: as many parts
/// as lanes at a time, the last ones together with some that were stored already.
static SmallVector<Piece> alternatePieces(OpBuilder &b, Location loc, ArrayRef<Value> parts) {
  int64_t count = parts.size(), lanes = cast<VectorType>(parts[0].getType()).getNumElements();
  SmallVector<Piece> pieces;
  int64_t blocks = llvm::divideCeil(count, lanes);
  if (count < lanes || !llvm::isPowerOf2_64(lanes) ||
      blocks * lanes * llvm::Log2_64(lanes) >= shufflesOf(count, lanes)) {
    for (auto [i, vector] : llvm::enumerate(alternate(b, loc, parts)))
      pieces.push_back({static_cast<int64_t>(i) * lanes, vector});
    return pieces;
  }
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t from = std::min(block * lanes, count - lanes);
    SmallVector<Value> lines(parts.slice(from, lanes));
    transposeVectors(b, loc, lines);
    for (auto [lane, line] : llvm::enumerate(lines))
      pieces.push_back({static_cast<int64_t>(lane) * count + from, line});
  }
  return pieces;
}

void BodyEmitter::storeAlternating(OpBuilder &builder, ArrayRef<kernel::StoreOp> stores,
                                   Position &position) {
  assert(!position.from && "lanes before the first are masked off nowhere here");
  kernel::StoreOp leading = stores.front();
  SmallVector<Value> parts;
  for (kernel::StoreOp store : stores)
    for (Value part : store.getValues()) {
      Value own = value(builder, part, position);
      watchReduced(builder, part, position);
      Value raw = toMemory(builder, own);
      parts.push_back(splat(builder, loc, raw, position.width));
    }
  Value buffer = buffers[func.getNumTensors() + leading.getResult()];
  IndexMath m{builder, loc};
  Value first = index(builder, space.accesses.at(leading), position), left;
  if (position.limit)
    left = m.mul(m.sub(position.limit, position.loops[position.vectorLoop]),
                 static_cast<int64_t>(parts.size()));
  auto lanes = VectorType::get({position.width}, builder.getI1Type());
  for (const Piece &piece : alternatePieces(builder, loc, parts)) {
    Value at = m.add(first, piece.first);
    if (!left) {
      vector::StoreOp::create(builder, loc, piece.lanes, buffer, at);
      continue;
    }
    Value mask = vector::CreateMaskOp::create(builder, loc, lanes, m.sub(left, m(piece.first)));
    vector::MaskedStoreOp::create(builder, loc, buffer, at, mask, piece.lanes);
  }
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
