// Sums of shifted products by tiles: a group has the values and factors of a piece in local memory,
// a work-item some sums that follow each other, whose values move on through its registers.
#include "compiler/passes/lower/group/GroupCorrelate.h"

#include "compiler/passes/lower/group/GroupFunction.h"
#include "runtime/base/CorrelateChains.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Picoseconds of a tile: what it costs where a device is chosen by cost.
static constexpr int64_t kTileCostPs = 4000000;
/// Sums of a work-item, and factors that it takes at a time: as many, so that values move on by a
/// whole set of registers.
static constexpr int64_t kEach = kCorrelateTile / kCorrelateGroup;
static_assert(kCorrelateGroup == GroupFunction::kGroupItems);
/// Factors of a piece; chains are whole numbers of them.
static constexpr int64_t kPiece = 64;
/// Values that a piece's products need, and those that are read ahead.
static constexpr int64_t kHeldValues = kCorrelateTile + kPiece + kEach;
static_assert(kShortChain % kPiece == 0 && kLongChain % kPiece == 0 && kPiece % kEach == 0);

namespace {

class CorrelateFunction : public GroupFunction {
public:
  CorrelateFunction(kernel::CorrelateOp op, const Signature &signature)
      : GroupFunction(op, op.getSymName(), kernel::Family::Contract, signature),
        element(op.getElement()) {}

  void correlate();

private:
  /// Factors [begin, end).
  struct Piece {
    Value begin, end;
  };
  Value zero(OpBuilder &at) const {
    return arith::ConstantOp::create(at, loc, at.getFloatAttr(element, 0));
  }
  /// Elements [from, end) of memory to the first places of local memory, zeros where there are
  /// none.
  void fill(OpBuilder &at, Value local, int64_t places, Value memory, Value from, Value end) const;
  SmallVector<Value> addChain(OpBuilder &at, Value begin, Value end);
  SmallVector<Value> addPiece(OpBuilder &at, const Piece &piece, ValueRange sums) const;
  /// Steps [from, to) of a piece; `isLookedAt`: products that there are not are left out.
  SmallVector<Value> addSteps(OpBuilder &at, const Piece &piece, Value from, Value to,
                              ValueRange sums, bool isLookedAt) const;
  SmallVector<Value> window(OpBuilder &at, Value place) const;

  Type element;
  Value values, factors;   ///< in local memory
  Value valueCount, shift; ///< of the value that factor 0 meets in the tile's first sum
  Value own, isWanted;     ///< a work-item's first sum in the tile, and whether there is one
};

} // namespace

void CorrelateFunction::fill(OpBuilder &at, Value local, int64_t places, Value memory, Value from,
                             Value end) const {
  for (int64_t done = 0; done < places; done += kCorrelateGroup) {
    Value place = near(at).add(member, done);
    auto copy = [&](OpBuilder &inside) {
      IndexMath m{inside, loc};
      Value index = m.add(from, wide(inside, place));
      Value exists = m.both(m.atLeast(index, m(0)), m.less(index, end));
      Value some = get(inside, memory, m.min(m.max(index, 0), m.add(end, -1)));
      setLocal(inside, local, place, m.select(exists, some, zero(inside)));
    };
    if (done + kCorrelateGroup <= places)
      copy(at);
    else
      when(at, near(at).less(place, near(at)(places)), copy);
  }
}

SmallVector<Value> CorrelateFunction::window(OpBuilder &at, Value place) const {
  SmallVector<Value> some;
  for (int64_t i = 0; i < kEach; ++i)
    some.push_back(getLocal(at, values, near(at).add(place, i)));
  return some;
}

SmallVector<Value> CorrelateFunction::addSteps(OpBuilder &at, const Piece &piece, Value from,
                                               Value to, ValueRange sums, bool isLookedAt) const {
  Value start = near(at).add(narrow(at, own), narrow(at, from));
  SmallVector<Value> carried(sums);
  llvm::append_range(carried, window(at, start));
  auto body = [&](OpBuilder &c, Location, Value step, ValueRange state) {
    IndexMath m{c, loc};
    SmallVector<Value> now(state.take_front(kEach)), seen(state.drop_front(kEach));
    Value place = near(c).add(narrow(c, own), narrow(c, step));
    llvm::append_range(seen, window(c, near(c).add(place, kEach)));
    Value number = m.add(piece.begin, step), met = m.add(m.add(shift, own), number);
    for (int64_t i = 0; i < kEach; ++i) {
      Value factor = getLocal(c, factors, near(c).add(narrow(c, step), i));
      Value isFactor = isLookedAt ? m.less(m.add(number, i), piece.end) : Value();
      for (int64_t j = 0; j < kEach; ++j) {
        Value sum = math::FmaOp::create(c, loc, factor, seen[i + j], now[j]);
        if (isLookedAt) {
          Value index = m.add(met, i + j);
          Value isValue = m.both(m.atLeast(index, m(0)), m.less(index, valueCount));
          sum = m.select(m.both(isFactor, isValue), sum, now[j]);
        }
        now[j] = sum;
      }
    }
    now.append(seen.begin() + kEach, seen.end());
    scf::YieldOp::create(c, loc, now);
  };
  IndexMath m{at, loc};
  auto steps = scf::ForOp::create(at, loc, from, to, m(kEach), carried, body);
  return SmallVector<Value>(steps.getResults().take_front(kEach));
}

SmallVector<Value> CorrelateFunction::addPiece(OpBuilder &at, const Piece &piece,
                                               ValueRange sums) const {
  IndexMath m{at, loc};
  Value length = m.sub(piece.end, piece.begin), low = m.add(m.add(shift, own), piece.begin);
  Value isWhole =
      m.both(m.atLeast(low, m(0)), m.less(m.add(m.add(low, length), kEach - 2), valueCount));
  Value wanted = m.select(isWanted, length, m(0));
  Value whole = m.select(isWhole, m.mul(m.div(wanted, kEach), kEach), m(0));
  SmallVector<Value> most = addSteps(at, piece, m(0), whole, sums, /*isLookedAt=*/false);
  return addSteps(at, piece, whole, wanted, most, /*isLookedAt=*/true);
}

SmallVector<Value> CorrelateFunction::addChain(OpBuilder &at, Value begin, Value end) {
  IndexMath m{at, loc};
  SmallVector<Value> none(kEach, zero(at));
  auto pieces =
      scf::ForOp::create(at, loc, begin, end, m(kPiece), none,
                         [&](OpBuilder &c, Location, Value from, ValueRange sums) {
                           IndexMath n{c, loc};
                           Piece piece{from, n.min(n.add(from, kPiece), end)};
                           fill(c, values, kHeldValues, memory[0], n.add(shift, from), valueCount);
                           fill(c, factors, kPiece, memory[1], from, piece.end);
                           barrier(c);
                           SmallVector<Value> added = addPiece(c, piece, sums);
                           barrier(c);
                           scf::YieldOp::create(c, loc, added);
                         });
  return SmallVector<Value>(pieces.getResults());
}

void CorrelateFunction::correlate() {
  Value count = sizes[3], factorCount = sizes[1];
  valueCount = sizes[0];
  values = local(element, kHeldValues);
  factors = local(element, kPiece);
  own = wide(b, near(b).mul(member, kEach));
  Value tile = m.mul(group, kCorrelateTile), item = m.add(tile, own);
  isWanted = m.less(item, count);
  shift = m.sub(m.add(sizes[2], tile), m.sub(factorCount, m(1)));
  Value isLong = m.less(m(kMostOfShortChains), factorCount);
  Value chain = m.select(isLong, m(kLongChain), m(kShortChain));
  SmallVector<Value> none(kEach, zero(b));
  auto chains = scf::ForOp::create(
      b, loc, m(0), factorCount, chain, none,
      [&](OpBuilder &c, Location, Value begin, ValueRange before) {
        IndexMath n{c, loc};
        SmallVector<Value> sums = addChain(c, begin, n.min(n.add(begin, chain), factorCount));
        Value isFirst = n.equal(begin, n(0));
        for (auto [sum, earlier] : llvm::zip_equal(sums, before))
          sum = n.select(isFirst, sum, arith::AddFOp::create(c, loc, earlier, sum));
        scf::YieldOp::create(c, loc, sums);
      });
  for (int64_t i = 0; i < kEach; ++i) {
    Value place = m.add(item, i);
    when(b, m.less(place, count),
         [&](OpBuilder &inside) { set(inside, memory[2], place, chains.getResult(i)); });
  }
  finish();
}

void pass::lowerGroupCorrelate(kernel::CorrelateOp op) {
  Type element = op.getElement();
  CorrelateFunction(op, {{element, element, element}, /*inputs=*/2, /*sizes=*/4, kTileCostPs})
      .correlate();
}
