// Random ops. Lanes of consecutive elements share counters (docs/random.md): a vector that starts
// at a whole number of itself computes each of them once.
#include "compiler/math/ExpandRandom.h"

#include "compiler/math/Math.h"
#include "dialects/graph/Graph.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace graphc;
using graphc::math::MlirBuilder;
namespace m = graphc::math;

namespace {

/// What all lanes of a vector are copies of, or null.
Value scalarOf(Value vector) {
  auto broadcast = vector.getDefiningOp<vector::BroadcastOp>();
  return broadcast && !isa<VectorType>(broadcast.getSource().getType()) ? broadcast.getSource()
                                                                        : Value();
}

/// Lane 0 of a vector of consecutive integers, or null.
Value firstOfRun(Value vector) {
  auto sum = vector.getDefiningOp<arith::AddIOp>();
  DenseIntElementsAttr steps;
  if (!sum || !matchPattern(sum.getRhs(), m_Constant(&steps)))
    return Value();
  for (auto [lane, step] : llvm::enumerate(steps.getValues<APInt>()))
    if (step != lane)
      return Value();
  return scalarOf(sum.getLhs());
}

/// The bits of a vector of consecutive elements whose first is a multiple of the block, or of the
/// vector where that is shorter.
class SharedBits {
public:
  SharedBits(OpBuilder &ops, Location loc, int64_t lanes, int64_t words, MlirBuilder::Target target)
      : ops(ops), loc(loc), lanes(lanes), words(words), target(target),
        block(m::kPhiloxCounters * 4 / words) {}

  /// The alignment this needs.
  int64_t alignment() const { return std::min(lanes, block); }

  Value emit(Value first, Value stream, Value key) {
    int64_t counters = std::max(lanes / block, int64_t{1}) * m::kPhiloxCounters;
    MlirBuilder one(ops, loc, 1, target), b(ops, loc, counters, target);
    auto wide = [&](Value scalar) -> Value {
      return vector::BroadcastOp::create(ops, loc, VectorType::get({counters}, scalar.getType()),
                                         scalar);
    };
    m::PhiloxKeys<Value> keys = m::philoxKeys(one, key);
    for (auto &round : keys)
      for (Value &k : round)
        k = wide(k);
    Value base = one.shl(one.lshr(first, one.i64(llvm::Log2_64(block))), one.i64(3));
    auto type = VectorType::get({counters}, ops.getI64Type());
    SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, counters));
    Value steps =
        arith::ConstantOp::create(ops, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
    std::array<Value, 4> w = m::philox(b, b.iadd(wide(base), steps), wide(stream), keys);
    SmallVector<Value> parts;
    for (int64_t i = 0; i < 4; i += words)
      parts.push_back(words == 2 ? m::joinWords(b, w[i], w[i + 1])
                                 : b.band(w[i], b.i64(m::kLow32)));
    return lanes < block ? chosen(parts, first) : interleaved(parts, counters);
  }

private:
  Value part(Value vector, int64_t from) {
    return vector::ExtractStridedSliceOp::create(ops, loc, vector, from, m::kPhiloxCounters, 1);
  }

  Value joined(ArrayRef<Value> pieces) {
    SmallVector<Value> row(pieces);
    while (row.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i < row.size(); i += 2) {
        int64_t each = cast<VectorType>(row[i].getType()).getDimSize(0);
        SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * each));
        next.push_back(vector::ShuffleOp::create(ops, loc, row[i], row[i + 1], order));
      }
      row = std::move(next);
    }
    return row[0];
  }

  /// Whole blocks: of each, the parts one after the other.
  Value interleaved(ArrayRef<Value> parts, int64_t counters) {
    SmallVector<Value> pieces;
    for (int64_t from = 0; from < counters; from += m::kPhiloxCounters)
      for (Value p : parts)
        pieces.push_back(counters == m::kPhiloxCounters ? p : part(p, from));
    return joined(pieces);
  }

  /// Some of the parts of one block: those that `first` is in.
  Value chosen(ArrayRef<Value> parts, Value first) {
    MlirBuilder one(ops, loc, 1, target);
    int64_t each = lanes / m::kPhiloxCounters;
    Value place = one.band(first, one.i64(block - 1)), result;
    for (int64_t from = parts.size() - each; from >= 0; from -= each) {
      Value here = joined(parts.slice(from, each));
      Value is = one.ieq(place, one.i64(from * m::kPhiloxCounters));
      result = result ? arith::SelectOp::create(ops, loc, is, here, result).getResult() : here;
    }
    return result;
  }

  OpBuilder &ops;
  Location loc;
  int64_t lanes, words;
  MlirBuilder::Target target;
  int64_t block; ///< elements that share kPhiloxCounters counters
};

template <int Words>
Value expandBits(Operation *op, OpBuilder &ops, int64_t lanes, MlirBuilder::Target target) {
  Location loc = op->getLoc();
  Value index = op->getOperand(0), stream = op->getOperand(1), key = op->getOperand(2);
  MlirBuilder b(ops, loc, lanes, target);
  auto alone = [&]() -> Value {
    return m::randomBits<Words>(b, index, stream, m::philoxKeys(b, key));
  };
  if (lanes < m::kPhiloxCounters || !llvm::isPowerOf2_64(lanes))
    return alone();
  Value first = firstOfRun(index), oneStream = scalarOf(stream), oneKey = scalarOf(key);
  if (!first || !oneStream || !oneKey)
    return alone();
  SharedBits shared(ops, loc, lanes, Words, target);
  MlirBuilder one(ops, loc, 1, target);
  Value aligned = one.ieq(one.band(first, one.i64(shared.alignment() - 1)), one.i64(0));
  auto type = VectorType::get({lanes}, ops.getI64Type());
  auto branch = scf::IfOp::create(ops, loc, TypeRange(type), aligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(ops);
  ops.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(ops, loc, shared.emit(first, oneStream, oneKey));
  ops.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(ops, loc, alone());
  return branch.getResult(0);
}

} // namespace

Value m::expandRandom(Operation *op, OpBuilder &ops, int64_t lanes, MlirBuilder::Target target) {
  MlirBuilder b(ops, op->getLoc(), lanes, target);
  SmallVector<Value> x(op->getOperands());
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::Philox64Op) { return expandBits<2>(op, ops, lanes, target); })
      .Case([&](graph::Philox32Op) { return expandBits<1>(op, ops, lanes, target); })
      .Case([&](graph::RandomGammaOp) { return randomGamma(b, x[0], x[1], x[2], x[3]); })
      .Case([&](graph::RandomPoissonOp) { return randomPoisson(b, x[0], x[1], x[2], x[3]); })
      .Case(
          [&](graph::RandomBinomialOp) { return randomBinomial(b, x[0], x[1], x[2], x[3], x[4]); })
      .Case([&](graph::RandomVonMisesOp) { return randomVonMises(b, x[0], x[1], x[2], x[3]); })
      .Default(Value());
}
