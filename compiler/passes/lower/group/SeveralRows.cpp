// Rows that several stages visit and that work-items keep: a team has several short ones at once,
// or a part of itself for each block of a long one. All of a stage's loads are on their way before
// anything is computed, and one fold in local memory, of three barriers, serves all rows of the
// group.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Pieces that a row has or has not.
static constexpr int64_t kPiecesTogether = 4;

struct GroupLowering::SeveralRows {
  SeveralRows(GroupLowering &lowering, const RowsAtOnce &form);
  void lower();

private:
  /// The reductions of a stage, and where their lanes and results are.
  struct Stage {
    SmallVector<Reducer> reducers;
    std::unique_ptr<TreeEmitter> trees;
    TreeEmitter::Storage memory;
  };
  void place();
  Value isPresent(OpBuilder &b, Value row) const;
  Position rowAt(OpBuilder &b, Value row, int current);
  Value placeOf(OpBuilder &b, Value row) const;
  Value laneOf(OpBuilder &b, int64_t strip) const;
  Value firstOf(OpBuilder &b, int64_t strip) const;
  Value leftFrom(OpBuilder &b, Value start) const;
  Value isInside(OpBuilder &b, int64_t strip, Value piece) const;
  Position pieceAt(OpBuilder &b, const Position &row, int64_t strip, Value piece) const;
  Position anyPieceAt(OpBuilder &b, const Position &row, int64_t strip, Value piece) const;
  Value slotOf(OpBuilder &b, Value row, int64_t strip, Value piece) const;
  bool isReadAhead(Value value, int stage, int current) const;
  void recall(OpBuilder &b, Position &at, Value slot, int current) const;
  void keep(OpBuilder &b, Position &at, Value slot, int current, bool ahead) const;
  void eachRow(OpBuilder &b, llvm::function_ref<void(OpBuilder &, Value)> body) const;
  using PieceBody = llvm::function_ref<States(OpBuilder &, Value, States)>;
  States piecesFrom(OpBuilder &b, TreeEmitter &trees, States states, Value first, int64_t count,
                    PieceBody body) const;
  States eachPiece(OpBuilder &b, TreeEmitter &trees, States states, PieceBody body,
                   PieceBody whole = {}) const;
  void readAhead(int current);
  void visit(int current);
  States visitPiece(OpBuilder &b, const Position &row, Value which, int64_t strip, Value piece,
                    int current, States states);
  void fold(Stage &stage) const;
  void foldRows(OpBuilder &b, Stage &stage) const;
  void storeRows(int last);

  GroupLowering &l;
  RowsAtOnce form;
  Location loc;
  int64_t items, inGroup; ///< work-items of a team; rows of a group
  int64_t units, folding; ///< blocks of all rows of a group; work-items that fold one
  int64_t pitch;          ///< of blocks in local memory
  Value number, block;    ///< in its team, or in the part for a block; that, null when there is one
  Value firstInGroup, first; ///< the team's first row, there and of all
  Value total, length;
  Kept kept;
  SmallVector<Stage> folded;
};

/// A power of two of them.
static States foldHalves(OpBuilder &b, TreeEmitter &trees, MutableArrayRef<States> parts) {
  for (size_t half = parts.size() / 2; half >= 1; half /= 2)
    for (size_t part = 0; part < half; ++part)
      parts[part] = trees.combine(b, parts[part], parts[part + half]);
  return parts[0];
}

GroupLowering::SeveralRows::SeveralRows(GroupLowering &lowering, const RowsAtOnce &form)
    : l(lowering), form(form), loc(lowering.loc), items(form.items()), inGroup(form.perGroup()),
      units(inGroup * form.blocks),
      folding(std::clamp<int64_t>(form.group / units, 1, RowsAtOnce::kFolding)),
      pitch(form.pitch()) {}

void GroupLowering::SeveralRows::place() {
  IndexMath m{l.builder, loc};
  Value team = m.div(l.member, items);
  number = m.sub(l.member, m.mul(team, items));
  if (int64_t ofBlock = items / form.blocks; ofBlock < items) {
    block = m.div(number, ofBlock);
    number = m.sub(number, m.mul(block, ofBlock));
  }
  firstInGroup = m.mul(team, form.rows);
  first = m.add(m.mul(l.begin, inGroup), firstInGroup);
  total = l.emitter->emit(l.builder, l.space.items());
  length = l.emitter->emit(l.builder, l.space.reducedItems());
}

Value GroupLowering::SeveralRows::isPresent(OpBuilder &b, Value row) const {
  IndexMath m{b, loc};
  return m.less(m.add(first, row), total);
}

/// With what earlier stages give it. A row that is not there is the last one, and not stored.
Position GroupLowering::SeveralRows::rowAt(OpBuilder &b, Value row, int current) {
  IndexMath m{b, loc};
  Position at = l.position();
  Value index = m.min(m.add(first, row), m.sub(total, m(1)));
  if (l.space.parallel)
    l.emitter->delinearize(b, index, 0, l.space.parallel, at);
  for (int stage = 0; stage <= current; ++stage) {
    l.rowValues(b, at, stage);
    if (stage == current || folded[stage].reducers.empty())
      continue;
    Stage &done = folded[stage];
    States results = done.trees->restore(b, done.memory, placeOf(b, row), 1, false);
    l.bind(done.reducers, results, at, b);
  }
  return at;
}

/// Of a row's lanes, and then of its results.
Value GroupLowering::SeveralRows::placeOf(OpBuilder &b, Value row) const {
  IndexMath m{b, loc};
  return m.mul(m.add(firstInGroup, row), form.blocks * pitch);
}

/// The first of a strip's lanes that the work-item has.
Value GroupLowering::SeveralRows::laneOf(OpBuilder &b, int64_t strip) const {
  IndexMath m{b, loc};
  return m.add(m.mul(number, form.lanes), strip * items * form.lanes);
}

/// The first element of that lane.
Value GroupLowering::SeveralRows::firstOf(OpBuilder &b, int64_t strip) const {
  IndexMath m{b, loc};
  Value lane = laneOf(b, strip);
  return block ? m.add(m.mul(block, kTreeBlock), lane) : lane;
}

/// Elements of the row from one on. These are few, and numbers of half the width take half the
/// time.
Value GroupLowering::SeveralRows::leftFrom(OpBuilder &b, Value start) const {
  auto narrow = [&](Value x) { return arith::IndexCastOp::create(b, loc, b.getI32Type(), x); };
  return arith::SubIOp::create(b, loc, narrow(length), narrow(start));
}

/// The elements of a piece that is there.
Position GroupLowering::SeveralRows::pieceAt(OpBuilder &b, const Position &row, int64_t strip,
                                             Value piece) const {
  IndexMath m{b, loc};
  Position at = row;
  l.setReduced(b, at, m.add(firstOf(b, strip), m.mul(piece, kTreeLanes)), Value(), form.lanes);
  at.aligned = form.lanes > 1;
  return at;
}

Value GroupLowering::SeveralRows::isInside(OpBuilder &b, int64_t strip, Value piece) const {
  IndexMath n{b, loc, b.getI32Type()};
  Value ahead = n.mul(arith::IndexCastOp::create(b, loc, b.getI32Type(), piece), kTreeLanes);
  return n.less(ahead, leftFrom(b, firstOf(b, strip)));
}

/// Instead of a piece beyond the row's end the first one of its lane, or of the row: what is read
/// is there, and is ignored.
Position GroupLowering::SeveralRows::anyPieceAt(OpBuilder &b, const Position &row, int64_t strip,
                                                Value piece) const {
  IndexMath m{b, loc};
  Value start = firstOf(b, strip), ahead = m.mul(piece, kTreeLanes);
  Value index = m.select(isInside(b, strip, m(0)), start, m(0));
  index = m.add(index, m.select(isInside(b, strip, piece), ahead, m(0)));
  Position at = row;
  l.setReduced(b, at, index, Value(), form.lanes);
  at.aligned = form.lanes > 1;
  return at;
}

Value GroupLowering::SeveralRows::slotOf(OpBuilder &b, Value row, int64_t strip,
                                         Value piece) const {
  IndexMath m{b, loc};
  Value line = m.add(m.mul(row, form.perRow() * form.lanes), strip * form.pieces * form.lanes);
  return m.add(line, m.mul(piece, form.lanes));
}

bool GroupLowering::SeveralRows::isReadAhead(Value value, int stage, int current) const {
  return stage == current && value.getDefiningOp<kernel::LoadOp>();
}

void GroupLowering::SeveralRows::recall(OpBuilder &b, Position &at, Value slot, int current) const {
  for (auto [value, stage] : kept.row.values)
    if (stage < current || isReadAhead(value, stage, current))
      l.recallPoint(b, kept, value, slot, at);
}

/// What the stage finds at a piece; `ahead`: of it, what is just read.
void GroupLowering::SeveralRows::keep(OpBuilder &b, Position &at, Value slot, int current,
                                      bool ahead) const {
  for (auto [value, stage] : kept.row.values)
    if (stage == current && isReadAhead(value, stage, current) == ahead)
      l.keepPoint(b, kept, value, slot, at);
}

/// For each row of the team, all of them unrolled: what is kept has known places then.
void GroupLowering::SeveralRows::eachRow(OpBuilder &b,
                                         llvm::function_ref<void(OpBuilder &, Value)> body) const {
  IndexMath m{b, loc};
  auto rows = scf::ForOp::create(b, loc, m(0), m(form.rows), m(1));
  rows->setAttr(kUnrollAttr, b.getI64IntegerAttr(form.rows));
  OpBuilder inside = OpBuilder::atBlockBegin(rows.getBody());
  body(inside, rows.getInductionVar());
}

/// `count` pieces from the first on, likewise: what `states`, of reductions or none, become.
States GroupLowering::SeveralRows::piecesFrom(OpBuilder &b, TreeEmitter &trees, States states,
                                              Value first, int64_t count, PieceBody body) const {
  IndexMath m{b, loc};
  if (count == 1)
    return body(b, first, std::move(states));
  SmallVector<Value> before = TreeEmitter::flatten(states);
  auto pieces = scf::ForOp::create(b, loc, m(0), m(count), m(1), before);
  pieces->setAttr(kUnrollAttr, b.getI64IntegerAttr(count));
  OpBuilder inside = OpBuilder::atBlockBegin(pieces.getBody());
  Value piece = IndexMath{inside, loc}.add(first, pieces.getInductionVar());
  if (before.empty())
    return body(inside, piece, {});
  States after = body(inside, piece, trees.unflatten(pieces.getRegionIterArgs()));
  scf::YieldOp::create(inside, loc, TreeEmitter::flatten(after));
  return trees.unflatten(pieces.getResults());
}

/// All pieces of a strip, but for those of which a row has none. `whole`, if any, has no states and
/// serves those that are together in all lanes.
States GroupLowering::SeveralRows::eachPiece(OpBuilder &b, TreeEmitter &trees, States states,
                                             PieceBody body, PieceBody whole) const {
  IndexMath m{b, loc};
  if (form.pieces <= kPiecesTogether)
    return piecesFrom(b, trees, std::move(states), m(0), form.pieces, body);
  Value left = leftFrom(b, block ? m.mul(block, kTreeBlock) : m(0));
  auto some = [&](OpBuilder &c, Value number, States known) {
    IndexMath n{c, loc}, k{c, loc, c.getI32Type()};
    Value first = n.mul(number, kPiecesTogether);
    Value reached = k.mul(arith::IndexCastOp::create(c, loc, c.getI32Type(), first), kTreeLanes);
    SmallVector<Value> before = TreeEmitter::flatten(known);
    auto present = scf::IfOp::create(c, loc, TypeRange(ValueRange(before)), k.less(reached, left),
                                     /*withElseRegion=*/!before.empty());
    OpBuilder yes = present.getThenBodyBuilder();
    if (whole) {
      IndexMath y{yes, loc, yes.getI32Type()};
      Value all = y.less(y.add(reached, kPiecesTogether * kTreeLanes - 1), left);
      auto choice = scf::IfOp::create(yes, loc, all, /*withElseRegion=*/true);
      OpBuilder fast = choice.getThenBodyBuilder();
      piecesFrom(fast, trees, {}, first, kPiecesTogether, whole);
      yes = choice.getElseBodyBuilder();
    }
    States after = piecesFrom(yes, trees, std::move(known), first, kPiecesTogether, body);
    if (before.empty())
      return States();
    scf::YieldOp::create(yes, loc, TreeEmitter::flatten(after));
    OpBuilder no = present.getElseBodyBuilder();
    scf::YieldOp::create(no, loc, before);
    return trees.unflatten(present.getResults());
  };
  return piecesFrom(b, trees, std::move(states), m(0), form.pieces / kPiecesTogether, some);
}

void GroupLowering::SeveralRows::readAhead(int current) {
  if (llvm::none_of(kept.row.values, [&](const auto &value) {
        return isReadAhead(value.first, value.second, current);
      }))
    return;
  eachRow(l.builder, [&](OpBuilder &b, Value row) {
    Position own = rowAt(b, row, current);
    for (int64_t strip = 0; strip < form.strips; ++strip) {
      auto read = [&](OpBuilder &c, Value piece, Position at) {
        keep(c, at, slotOf(c, row, strip, piece), current, /*ahead=*/true);
        return States();
      };
      eachPiece(
          b, *folded[current].trees, {},
          [&](OpBuilder &c, Value piece, States) {
            return read(c, piece, anyPieceAt(c, own, strip, piece));
          },
          [&](OpBuilder &c, Value piece, States) {
            return read(c, piece, pieceAt(c, own, strip, piece));
          });
    }
  });
}

States GroupLowering::SeveralRows::visitPiece(OpBuilder &b, const Position &row, Value which,
                                              int64_t strip, Value piece, int current,
                                              States states) {
  Stage &stage = folded[current];
  SmallVector<kernel::StoreOp> stored = l.pointStores(current);
  Position at = anyPieceAt(b, row, strip, piece);
  IndexMath m{b, loc};
  Value inside = isInside(b, strip, piece);
  Value slot = slotOf(b, which, strip, piece);
  recall(b, at, slot, current);
  keep(b, at, slot, current, /*ahead=*/false);
  if (!stage.reducers.empty()) {
    SmallVector<Value> values = l.pointValues(b, stage.reducers, at);
    SmallVector<Value> next = TreeEmitter::flatten(stage.trees->append(b, states, values, piece));
    for (auto [after, before] : llvm::zip_equal(next, TreeEmitter::flatten(states)))
      after = m.select(inside, after, before);
    states = stage.trees->unflatten(next);
  }
  if (!stored.empty()) {
    Value writes = m.both(inside, isPresent(b, which));
    auto some = scf::IfOp::create(b, loc, writes, /*withElseRegion=*/false);
    OpBuilder c = some.getThenBodyBuilder();
    at.loops = pieceAt(c, row, strip, piece).loops;
    for (kernel::StoreOp store : stored)
      l.emitter->store(c, store, at);
  }
  return states;
}

void GroupLowering::SeveralRows::visit(int current) {
  Stage &stage = folded.emplace_back();
  stage.reducers = l.reducersOfStage(current);
  if (stage.reducers.empty() && l.pointStores(current).empty())
    return;
  stage.trees =
      std::make_unique<TreeEmitter>(&l.function.getBody().front(), loc, stage.reducers, form.lanes);
  if (!stage.reducers.empty())
    stage.memory = stage.trees->allocateShared(units * pitch);
  readAhead(current);
  eachRow(l.builder, [&](OpBuilder &b, Value row) {
    IndexMath m{b, loc};
    Position own = rowAt(b, row, current);
    Value place = placeOf(b, row);
    if (block)
      place = m.add(place, m.mul(block, pitch));
    for (int64_t strip = 0; strip < form.strips; ++strip) {
      States none = stage.trees->sequenceIdentity(b, form.lanes);
      States states = eachPiece(b, *stage.trees, none, [&](OpBuilder &c, Value piece, States some) {
        return visitPiece(c, own, row, strip, piece, current, std::move(some));
      });
      if (stage.reducers.empty())
        continue;
      states = stage.trees->fromSequence(b, states, firstOf(b, strip), kTreeLanes, 1);
      stage.trees->save(b, stage.memory, m.add(place, laneOf(b, strip)), states);
    }
  });
  if (!stage.reducers.empty())
    fold(stage);
}

/// Halves span / 2, ... of the lanes of all blocks: a work-item folds every `folding`-th lane of
/// one, then one of each row what these leave. Lanes beyond the span have nothing to add.
void GroupLowering::SeveralRows::fold(Stage &stage) const {
  OpBuilder &b = l.builder;
  IndexMath m{b, loc};
  TreeEmitter &trees = *stage.trees;
  gpu::BarrierOp::create(b, loc);
  auto some = scf::IfOp::create(b, loc, m.less(l.member, m(units * folding)),
                                /*withElseRegion=*/false);
  {
    OpBuilder c = some.getThenBodyBuilder();
    IndexMath n{c, loc};
    Value unit = n.div(l.member, folding), part = n.sub(l.member, n.mul(unit, folding));
    Value own = n.add(n.mul(unit, pitch), part);
    SmallVector<States> lanes;
    for (int64_t lane = 0; lane < form.span; lane += folding)
      lanes.push_back(trees.restore(c, stage.memory, n.add(own, lane), 1, false));
    trees.save(c, stage.memory, own, foldHalves(c, trees, lanes));
  }
  gpu::BarrierOp::create(b, loc);
  if (folding == 1 && form.blocks == 1)
    return;
  auto few = scf::IfOp::create(b, loc, m.less(l.member, m(inGroup)), /*withElseRegion=*/false);
  OpBuilder c = few.getThenBodyBuilder();
  foldRows(c, stage);
  gpu::BarrierOp::create(b, loc);
}

/// The row of a work-item: what is left of its blocks, and these. A block beyond the row's end has
/// nothing to add.
void GroupLowering::SeveralRows::foldRows(OpBuilder &b, Stage &stage) const {
  IndexMath m{b, loc};
  TreeEmitter &trees = *stage.trees;
  Value own = m.mul(l.member, form.blocks * pitch);
  SmallVector<States> blocks;
  for (int64_t each = 0; each < form.blocks; ++each) {
    States lanes = trees.restore(b, stage.memory, m.add(own, each * pitch), folding, false);
    blocks.push_back(folding > 1 ? trees.foldVector(b, lanes, folding) : lanes);
  }
  trees.save(b, stage.memory, own, foldHalves(b, trees, blocks));
}

/// What belongs to rows is stored by a team's first work-item, or by all of them where they must
/// not branch.
void GroupLowering::SeveralRows::storeRows(int last) {
  if (llvm::all_of(l.stores, [&](kernel::StoreOp store) { return l.stages.isPoint(store); }))
    return;
  eachRow(l.builder, [&](OpBuilder &b, Value row) {
    IndexMath m{b, loc};
    Position at = rowAt(b, row, last);
    Value writes = isPresent(b, row);
    if (!l.straightFolds)
      writes = m.both(writes, m.equal(number, m(0)));
    if (!l.straightFolds && block)
      writes = m.both(writes, m.equal(block, m(0)));
    OpBuilder c = scf::IfOp::create(b, loc, writes, /*withElseRegion=*/false).getThenBodyBuilder();
    l.storeRow(c, at);
  });
}

void GroupLowering::SeveralRows::lower() {
  l.open((l.kernel.getSymName() + form.suffix).str(), {});
  place();
  kept = l.keptPoints(form.lanes, form.rows * form.perRow());
  int last = l.lastStage();
  folded.reserve(last + 1); // reducers are referred to
  for (int current = 0; current <= last; ++current)
    visit(current);
  storeRows(last);
  l.close();
}

void GroupLowering::lowerSeveral(const RowsAtOnce &form) {
  int64_t own = std::exchange(shape.group, form.group);
  SeveralRows(*this, form).lower();
  shape.group = own;
}
