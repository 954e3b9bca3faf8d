// Rows of less than a work-item keeps, which several stages visit: a team has several of them at
// once. All of a stage's loads are on their way before anything is computed, and one fold in local
// memory, of three barriers, serves all rows of the group.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

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
  Value laneOf(OpBuilder &b, int64_t strip) const;
  Position pieceAt(OpBuilder &b, const Position &row, int64_t strip, int64_t piece,
                   Value &inside) const;
  Value slotOf(OpBuilder &b, Value row, int64_t strip, int64_t piece) const;
  bool isReadAhead(Value value, int stage, int current) const;
  void recall(OpBuilder &b, Position &at, Value slot, int current) const;
  void keep(OpBuilder &b, Position &at, Value slot, int current, bool ahead) const;
  void eachRow(OpBuilder &b, llvm::function_ref<void(OpBuilder &, Value)> body) const;
  void readAhead(int current);
  void visit(int current);
  States visitPiece(OpBuilder &b, const Position &row, Value which, int64_t strip, int64_t piece,
                    int current, States states);
  void fold(Stage &stage) const;
  void storeRows(int last);

  GroupLowering &l;
  RowsAtOnce form;
  Location loc;
  int64_t items, inGroup, folding, pitch; ///< work-items of a team; rows of a group; lanes of a row
  Value number, firstInGroup, first;      ///< in the team; the team's first row, there and of all
  Value total, length;
  Kept kept;
  SmallVector<Stage> folded;
};

GroupLowering::SeveralRows::SeveralRows(GroupLowering &lowering, const RowsAtOnce &form)
    : l(lowering), form(form), loc(lowering.loc), items(form.items()),
      inGroup(form.perGroup(lowering.shape.group)),
      folding(std::clamp<int64_t>(lowering.shape.group / inGroup, 1, RowsAtOnce::kFolding)),
      pitch(form.pitch()) {}

void GroupLowering::SeveralRows::place() {
  IndexMath m{l.builder, loc};
  Value team = m.div(l.member, items);
  number = m.sub(l.member, m.mul(team, items));
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
    Value place = m.mul(m.add(firstInGroup, row), pitch);
    Stage &done = folded[stage];
    l.bind(done.reducers, done.trees->restore(b, done.memory, place, 1, false), at, b);
  }
  return at;
}

/// The first of a strip's lanes that the work-item has.
Value GroupLowering::SeveralRows::laneOf(OpBuilder &b, int64_t strip) const {
  IndexMath m{b, loc};
  return m.add(m.mul(number, form.lanes), strip * items * form.lanes);
}

/// Lanes beyond the row's end are those of its beginning: what is read is there, and is ignored.
Position GroupLowering::SeveralRows::pieceAt(OpBuilder &b, const Position &row, int64_t strip,
                                             int64_t piece, Value &inside) const {
  IndexMath m{b, loc};
  Value index = m.add(laneOf(b, strip), piece * kTreeLanes);
  inside = m.less(index, length);
  Position at = row;
  l.setReduced(b, at, m.select(inside, index, m(0)), Value(), form.lanes);
  at.aligned = form.lanes > 1;
  return at;
}

Value GroupLowering::SeveralRows::slotOf(OpBuilder &b, Value row, int64_t strip,
                                         int64_t piece) const {
  IndexMath m{b, loc};
  return m.add(m.mul(row, form.perRow() * form.lanes), (strip * form.pieces + piece) * form.lanes);
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

void GroupLowering::SeveralRows::readAhead(int current) {
  if (llvm::none_of(kept.row.values, [&](const auto &value) {
        return isReadAhead(value.first, value.second, current);
      }))
    return;
  eachRow(l.builder, [&](OpBuilder &b, Value row) {
    Position own = rowAt(b, row, current);
    for (int64_t strip = 0; strip < form.strips; ++strip)
      for (int64_t piece = 0; piece < form.pieces; ++piece) {
        Value inside;
        Position at = pieceAt(b, own, strip, piece, inside);
        keep(b, at, slotOf(b, row, strip, piece), current, /*ahead=*/true);
      }
  });
}

States GroupLowering::SeveralRows::visitPiece(OpBuilder &b, const Position &row, Value which,
                                              int64_t strip, int64_t piece, int current,
                                              States states) {
  Stage &stage = folded[current];
  SmallVector<kernel::StoreOp> stored = l.pointStores(current);
  Value inside;
  Position at = pieceAt(b, row, strip, piece, inside);
  IndexMath m{b, loc};
  Value slot = slotOf(b, which, strip, piece);
  recall(b, at, slot, current);
  keep(b, at, slot, current, /*ahead=*/false);
  if (!stage.reducers.empty()) {
    SmallVector<Value> values = l.pointValues(b, stage.reducers, at);
    SmallVector<Value> next =
        TreeEmitter::flatten(stage.trees->append(b, states, values, m(piece)));
    for (auto [after, before] : llvm::zip_equal(next, TreeEmitter::flatten(states)))
      after = m.select(inside, after, before);
    states = stage.trees->unflatten(next);
  }
  if (!stored.empty()) {
    Value writes = m.both(inside, isPresent(b, which));
    auto some = scf::IfOp::create(b, loc, writes, /*withElseRegion=*/false);
    OpBuilder c = some.getThenBodyBuilder();
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
    stage.memory = stage.trees->allocateShared(inGroup * pitch);
  readAhead(current);
  eachRow(l.builder, [&](OpBuilder &b, Value row) {
    IndexMath m{b, loc};
    Position own = rowAt(b, row, current);
    Value place = m.mul(m.add(firstInGroup, row), pitch);
    for (int64_t strip = 0; strip < form.strips; ++strip) {
      States states = stage.trees->sequenceIdentity(b, form.lanes);
      for (int64_t piece = 0; piece < form.pieces; ++piece)
        states = visitPiece(b, own, row, strip, piece, current, states);
      if (stage.reducers.empty())
        continue;
      Value lane = laneOf(b, strip);
      states = stage.trees->fromSequence(b, states, lane, kTreeLanes, 1);
      stage.trees->save(b, stage.memory, m.add(place, lane), states);
    }
  });
  if (!stage.reducers.empty())
    fold(stage);
}

/// Halves span / 2, ... of the lanes of all rows: a work-item folds every `folding`-th lane of a
/// row, then one of each row what these leave. Lanes beyond the span have nothing to add.
void GroupLowering::SeveralRows::fold(Stage &stage) const {
  OpBuilder &b = l.builder;
  IndexMath m{b, loc};
  TreeEmitter &trees = *stage.trees;
  gpu::BarrierOp::create(b, loc);
  auto some = scf::IfOp::create(b, loc, m.less(l.member, m(inGroup * folding)),
                                /*withElseRegion=*/false);
  {
    OpBuilder c = some.getThenBodyBuilder();
    IndexMath n{c, loc};
    Value row = n.div(l.member, folding), part = n.sub(l.member, n.mul(row, folding));
    Value own = n.add(n.mul(row, pitch), part);
    SmallVector<States> lanes;
    for (int64_t lane = 0; lane < form.span; lane += folding)
      lanes.push_back(trees.restore(c, stage.memory, n.add(own, lane), 1, false));
    for (size_t half = lanes.size() / 2; half >= 1; half /= 2)
      for (size_t lane = 0; lane < half; ++lane)
        lanes[lane] = trees.combine(c, lanes[lane], lanes[lane + half]);
    trees.save(c, stage.memory, own, lanes[0]);
  }
  gpu::BarrierOp::create(b, loc);
  if (folding == 1)
    return;
  auto few = scf::IfOp::create(b, loc, m.less(l.member, m(inGroup)), /*withElseRegion=*/false);
  OpBuilder c = few.getThenBodyBuilder();
  Value own = IndexMath{c, loc}.mul(l.member, pitch);
  trees.save(c, stage.memory, own,
             trees.foldVector(c, trees.restore(c, stage.memory, own, folding, false), folding));
  gpu::BarrierOp::create(b, loc);
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

void GroupLowering::lowerSeveral(const RowsAtOnce &form) { SeveralRows(*this, form).lower(); }
