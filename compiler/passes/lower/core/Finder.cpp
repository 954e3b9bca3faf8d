#include "compiler/passes/lower/core/Finder.h"

#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Lanes whose comparisons are looked at as the bits of one number.
static constexpr int64_t kMostLanes = 64;
/// Vectors of a part, among which the place is looked for.
static constexpr int64_t kVectorsOfPart = 8;

int64_t CoreLowering::Finder::lanes() const { return std::min(l.width, kMostLanes); }

Value CoreLowering::Finder::value(OpBuilder &b, const Position &row, Value index, Value limit,
                                  bool asks) {
  Position at = row;
  l.setReduced(b, at, index, limit, lanes());
  Value value = l.pointValues(b, reducer.ofValue(), at)[0];
  if (!asks)
    return value;
  int64_t far = bytesFarAhead(l.kernel);
  if (limit) {
    if (far && l.space.parallel) // short rows have no whole vectors
      l.askRow(b, at, l.rowsSkipped(b, l.emitter->emit(b, l.space.reducedItems())), /*locality=*/3);
    return value;
  }
  if (far)
    l.prefetch(b, at, l.space.parallel, l.bytesAhead(far), /*locality=*/3);
  else if (!l.kernel->hasAttr(kReadsAheadAttr))
    l.prefetch(b, at, l.space.parallel, kTreeBlock, /*locality=*/2);
  return value;
}

CoreLowering::Finder::Part CoreLowering::Finder::best(OpBuilder &b, const Position &row,
                                                      Value first, Value length) {
  Location loc = l.loc;
  IndexMath m{b, loc};
  Reducer extreme = reducer.ofValue();
  int64_t width = lanes(), part = width * kVectorsOfPart;
  auto number = b.getI32Type();
  auto numbers = [&](OpBuilder &c, Value index) {
    return BodyEmitter::splat(c, loc, arith::IndexCastOp::create(c, loc, number, index), width);
  };
  Value several = m.less(m(part), length);
  // What lanes have, and where the part begins that they have it of.
  auto take = [&](OpBuilder &c, ValueRange lanes, Value next, Value from) {
    auto parts = scf::IfOp::create(c, loc, lanes[1].getType(), several, /*withElseRegion=*/true);
    OpBuilder yes = parts.getThenBodyBuilder(), no = parts.getElseBodyBuilder();
    Value better = reducer.better(yes, lanes[0], next), at = numbers(yes, from);
    scf::YieldOp::create(yes, loc,
                         arith::SelectOp::create(yes, loc, better, at, lanes[1]).getResult());
    scf::YieldOp::create(no, loc, lanes[1]);
    return SmallVector<Value>{next, parts.getResult(0)};
  };
  Value none = extreme.identity(b, width)[0];
  Value whole = m.mul(m.div(length, width), width);
  auto parts = scf::ForOp::create(b, loc, m(0), whole, m(part), ValueRange{none, numbers(b, m(0))});
  OpBuilder c = OpBuilder::atBlockBegin(parts.getBody());
  Value from = parts.getInductionVar(), had = parts.getRegionIterArgs()[0];
  Value to = IndexMath{c, loc}.min(IndexMath{c, loc}.add(from, part), whole);
  auto vectors = scf::ForOp::create(c, loc, from, to, IndexMath{c, loc}(width), had);
  OpBuilder d = OpBuilder::atBlockBegin(vectors.getBody());
  Value index = IndexMath{d, loc}.add(first, vectors.getInductionVar());
  Value x = value(d, row, index, Value(), /*asks=*/true);
  scf::YieldOp::create(d, loc, extreme.append(d, vectors.getRegionIterArgs()[0], x, index));
  scf::YieldOp::create(c, loc, take(c, parts.getRegionIterArgs(), vectors.getResult(0), from));
  auto rest = scf::IfOp::create(b, loc, parts.getResultTypes(), m.less(whole, length),
                                /*withElseRegion=*/true);
  OpBuilder some = rest.getThenBodyBuilder(), no = rest.getElseBodyBuilder();
  index = IndexMath{some, loc}.add(first, whole);
  Value end = IndexMath{some, loc}.add(first, length), old = parts.getResult(0);
  x = extreme.append(some, old, value(some, row, index, end, /*asks=*/true), index)[0];
  Value mask = vector::CreateMaskOp::create(some, loc, VectorType::get({width}, b.getI1Type()),
                                            IndexMath{some, loc}.sub(length, whole));
  x = arith::SelectOp::create(some, loc, mask, x, old);
  scf::YieldOp::create(some, loc, take(some, parts.getResults(), x, whole));
  scf::YieldOp::create(no, loc, parts.getResults());

  Block *entry = &l.function.getBody().front();
  TreeEmitter trees(entry, loc, extreme, width);
  Value best = trees.foldVector(b, {{rest.getResult(0)}}, width)[0][0];
  auto chosen =
      scf::IfOp::create(b, loc, TypeRange(b.getIndexType()), several, /*withElseRegion=*/true);
  OpBuilder yes = chosen.getThenBodyBuilder(), one = chosen.getElseBodyBuilder();
  Value all = BodyEmitter::splat(yes, loc, best, width);
  Value late = BodyEmitter::splat(
      yes, loc, arith::ConstantOp::create(yes, loc, yes.getI32IntegerAttr(INT32_MAX)), width);
  Value starts = arith::SelectOp::create(yes, loc, reducer.ties(yes, rest.getResult(0), all),
                                         rest.getResult(1), late);
  Value start = vector::ReductionOp::create(yes, loc, vector::CombiningKind::MINSI, starts);
  scf::YieldOp::create(yes, loc,
                       arith::IndexCastOp::create(yes, loc, yes.getIndexType(), start).getResult());
  scf::YieldOp::create(one, loc, IndexMath{one, loc}(0));
  Value offset = chosen.getResult(0);
  return {best, m.add(first, offset), m.min(m.sub(length, offset), part)};
}

Value CoreLowering::Finder::place(OpBuilder &b, const Position &row, const Part &part) {
  Reducer extreme = reducer.ofValue();
  TreeEmitter trees(&l.function.getBody().front(), l.loc, extreme, lanes());
  auto body = [&](OpBuilder &c, Value index, Value limit) {
    return SmallVector<Value>{value(c, row, index, limit, /*asks=*/false)};
  };
  return trees.findFirst(b, part.first, part.length, part.value, body);
}

States CoreLowering::Finder::row(OpBuilder &b, const Position &row, Value first, Value length) {
  Part part = best(b, row, first, length);
  return {{part.value, place(b, row, part)}};
}

/// Each block's value, and the place of the first best one of a piece. No other block of it can
/// have the place.
void CoreLowering::Finder::blocks(OpBuilder &b, Value count) {
  Location loc = l.loc;
  IndexMath m{b, loc};
  Value length = l.emitter->emit(b, l.space.reducedItems());
  Position row = l.position();
  l.rowValues(b, row, 0);
  SmallVector<Value> none = reducer.identity(b, 1);
  Value nothing = none[0];
  auto each = scf::ForOp::create(b, loc, l.begin, l.end, m(1),
                                 ValueRange{nothing, l.begin, l.begin, l.begin});
  OpBuilder c = OpBuilder::atBlockBegin(each.getBody());
  IndexMath n{c, loc};
  Value item = each.getInductionVar(), first = n.mul(item, kTreeBlock);
  Part part = best(c, row, first, n.min(n.sub(length, first), kTreeBlock));
  OpBuilder several =
      scf::IfOp::create(c, loc, n.less(n(1), count), /*withElseRegion=*/false).getThenBodyBuilder();
  l.savePartials(several, {{part.value, none[1]}}, row, item);
  ValueRange before = each.getRegionIterArgs();
  Value wins = n.either(reducer.better(c, before[0], part.value), n.equal(item, l.begin));
  SmallVector<Value> next = {part.value, part.first, part.length, item};
  for (auto [value, old] : llvm::zip_equal(next, before))
    value = n.select(wins, value, old);
  scf::YieldOp::create(c, loc, next);
  OpBuilder d = scf::IfOp::create(b, loc, m.less(l.begin, l.end), /*withElseRegion=*/false)
                    .getThenBodyBuilder();
  part = {each.getResult(0), each.getResult(1), each.getResult(2)};
  l.finish(d, reducer, {{part.value, place(d, row, part)}}, row, each.getResult(3), count);
}
