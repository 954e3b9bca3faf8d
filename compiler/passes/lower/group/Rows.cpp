// Rows and full reductions for groups of work-items, by the lane tree of docs/numerics.md: the
// work-items of a team have the 256 lanes of a block, and fold them in local memory.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// The work-items that share a block, and what each of them has of it.
struct GroupLowering::Team {
  int64_t lanes, items;
  Value number; ///< of this work-item in its team
  Value slot;   ///< its first lane in memory that all teams share
  Value base;   ///< that of the team's first work-item
};

namespace {

/// Rows of a block that a work-item reads ahead, and the most lanes of one that reads.
constexpr int64_t kRowsAhead = 8, kMostReadLanes = 4;
void barrier(OpBuilder &b, Location loc) { gpu::BarrierOp::create(b, loc); }

/// For the whole device; what a work-item saw before it, others see after theirs.
void fence(OpBuilder &b, Location loc) {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acq_rel, "device");
}

/// Lanes that all work-items of a team fold at last, each for itself.
constexpr int64_t kLastLanes = 16;

/// Halves 128, 64, ... of the lanes in `memory`; every work-item gets the result. The first
/// work-items fold every kLastLanes-th lane, then everybody what is left: two barriers, where one a
/// half would leave most work-items waiting. `reused`: the memory is written again afterwards.
States foldMemory(OpBuilder &b, Location loc, TreeEmitter &trees, int64_t items, Value number,
                  Value base, const TreeEmitter::Storage &memory, bool reused) {
  IndexMath m{b, loc};
  int64_t last = std::min(items, kLastLanes);
  barrier(b, loc);
  auto active = scf::IfOp::create(b, loc, m.less(number, m(last)), /*withElseRegion=*/false);
  {
    OpBuilder c = active.getThenBodyBuilder();
    IndexMath n{c, loc};
    Value own = n.add(base, number);
    SmallVector<States> parts;
    for (int64_t lane = 0; lane < kTreeLanes; lane += last)
      parts.push_back(trees.restore(c, memory, n.add(own, lane), 1, false));
    for (size_t half = parts.size() / 2; half >= 1; half /= 2)
      for (size_t part = 0; part < half; ++part)
        parts[part] = trees.combine(c, parts[part], parts[part + half]);
    trees.save(c, memory, own, parts[0]);
  }
  barrier(b, loc);
  States result = trees.foldVector(b, trees.restore(b, memory, base, last, false), last);
  if (reused)
    barrier(b, loc);
  return result;
}

} // namespace

GroupLowering::Team GroupLowering::teamOf(OpBuilder &b, int64_t lanes) {
  IndexMath m{b, loc};
  Team team{lanes, kTreeLanes / lanes, member, m.mul(member, lanes), m(0)};
  if (team.items < shape.group) {
    team.number = arith::AndIOp::create(b, loc, member, m(team.items - 1));
    team.base = m.mul(m.sub(member, team.number), lanes);
  }
  return team;
}

States GroupLowering::foldTeam(OpBuilder &b, TreeEmitter &trees, const Team &team,
                               const TreeEmitter::Storage &memory, const States &own, bool reused) {
  trees.save(b, memory, team.slot, own);
  return foldMemory(b, loc, trees, team.items, team.number, team.base, memory, reused);
}

/// A work-item's lanes of elements [first, first + length), at most a block.
States GroupLowering::teamLanes(OpBuilder &b, TreeEmitter &trees, const Team &team, Value first,
                                Value length, const TreeEmitter::Body &body) {
  IndexMath m{b, loc};
  Value offset = m.mul(team.number, team.lanes), start = m.add(first, offset);
  Value end = m.add(first, length);
  Value left = m.add(m.sub(length, offset), kTreeLanes - team.lanes);
  Value whole = m.div(m.max(left, 0), kTreeLanes);
  auto rows = scf::ForOp::create(b, loc, m(0), whole, m(1),
                                 TreeEmitter::flatten(trees.sequenceIdentity(b, team.lanes)));
  // Wide lanes draw instead of reading (AssignSchedules): nothing goes ahead.
  if (team.lanes <= kMostReadLanes)
    rows->setAttr(kUnrollAttr, b.getI64IntegerAttr(kRowsAhead));
  {
    OpBuilder c = OpBuilder::atBlockBegin(rows.getBody());
    IndexMath n{c, loc};
    Value number = rows.getInductionVar();
    SmallVector<Value> next = body(c, n.add(start, n.mul(number, kTreeLanes)), Value());
    States merged = trees.append(c, trees.unflatten(rows.getRegionIterArgs()), next, number);
    scf::YieldOp::create(c, loc, TreeEmitter::flatten(merged));
  }
  SmallVector<Value> state(rows.getResults());
  if (team.lanes > 1)
    state = trees.lastRow(b, state, start, whole, end, body);
  return trees.fromSequence(b, trees.unflatten(state), start, kTreeLanes, 1);
}

/// The tree over `length` elements of which `lanes` gives a work-item's part of every block, one a
/// team at a time.
States GroupLowering::teamTree(OpBuilder &b, TreeEmitter &trees, const Team &team, Value length,
                               llvm::function_ref<States(OpBuilder &, Value, Value)> lanesOf) {
  TreeEmitter::Storage own = trees.allocateShared(shape.group * team.lanes),
                       blocks = trees.allocateShared(kTreeLanes),
                       groups = trees.allocateShared(kTreeLanes);
  int64_t teams = shape.group / team.items;
  auto clear = [&](OpBuilder &c, const TreeEmitter::Storage &memory) {
    IndexMath m{c, loc};
    OpBuilder d = c;
    if (teams > 1)
      d = scf::IfOp::create(c, loc, m.less(member, m(team.items)), /*withElseRegion=*/false)
              .getThenBodyBuilder();
    trees.save(d, memory, team.slot, trees.identity(d, team.lanes));
  };
  auto fold = [&](OpBuilder &c, const TreeEmitter::Storage &memory) {
    return foldMemory(c, loc, trees, team.items, member, IndexMath{c, loc}(0), memory, true);
  };
  // Only one work-item of a team writes; a fold's barriers come before anybody reads.
  auto push = [&](OpBuilder &c, const TreeEmitter::Storage &memory, Value writer, Value number,
                  const States &states) {
    IndexMath m{c, loc};
    Value lane = arith::AndIOp::create(c, loc, number, m(kTreeLanes - 1));
    auto first = scf::IfOp::create(c, loc, m.equal(writer, m(0)), /*withElseRegion=*/false);
    OpBuilder d = first.getThenBodyBuilder();
    trees.save(d, memory, lane, trees.combine(d, trees.restore(d, memory, lane, 1, false), states));
  };
  IndexMath m{b, loc};
  Value count = m.ceilDiv(length, kTreeBlock), groupCount = m.ceilDiv(count, kTreeBlock);
  clear(b, groups);
  auto all = scf::ForOp::create(b, loc, m(0), groupCount, m(1),
                                TreeEmitter::flatten(trees.identity(b, 1)));
  OpBuilder c = OpBuilder::atBlockBegin(all.getBody());
  IndexMath n{c, loc};
  Value firstBlock = n.mul(all.getInductionVar(), kTreeBlock);
  clear(c, blocks);
  barrier(c, loc);
  Value some = n.min(n.sub(count, firstBlock), kTreeBlock);
  loop(c, n(0), some, teams, [&](OpBuilder &d, Value number) {
    IndexMath o{d, loc};
    // A block that is not there has no elements, and nothing to add to the lane that it would have.
    Value mine = teams > 1 ? o.add(number, o.div(member, team.items)) : number;
    Value first = o.mul(o.add(firstBlock, mine), kTreeBlock);
    Value size = o.max(o.min(o.sub(length, first), kTreeBlock), 0);
    push(d, blocks, team.number, mine,
         foldTeam(d, trees, team, own, lanesOf(d, first, size), true));
  });
  States result = fold(c, blocks);
  push(c, groups, member, all.getInductionVar(), result);
  scf::YieldOp::create(c, loc, TreeEmitter::flatten(result));
  auto several = scf::IfOp::create(b, loc, all.getResultTypes(), m.less(m(1), groupCount),
                                   /*withElseRegion=*/true);
  OpBuilder yes = several.getThenBodyBuilder(), no = several.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, TreeEmitter::flatten(fold(yes, groups)));
  scf::YieldOp::create(no, loc, all.getResults());
  return trees.unflatten(several.getResults());
}

SmallVector<Type> GroupLowering::splitBuffers() {
  SmallVector<Type> types = shape.partials;
  if (shape.lastFolds)
    types.push_back(builder.getI32Type());
  return types;
}

void GroupLowering::lowerBlocks() {
  open(kernel.getSymName(), splitBuffers());
  SmallVector<Reducer> reducers = reducersOfStage(0);
  SmallVector<kernel::StoreOp> here = pointStores(0);
  int64_t lanes = reduceWidth();
  Team team = teamOf(builder, lanes);
  IndexMath m{builder, loc};
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  Value total = emitter->emit(builder, space.items());
  if (blocks)
    total = m.mul(total, blocks);
  Value item = m.add(m.mul(begin, shape.perGroup), m.div(member, team.items));
  // A team without a block goes along: everybody meets at the barriers.
  Value present = m.less(item, total);
  item = m.select(present, item, m(0));
  Value number = item, first = m(0), some = length;
  if (blocks) {
    number = m.div(item, blocks);
    first = m.mul(m.sub(item, m.mul(number, blocks)), kTreeBlock);
    some = m.min(m.sub(length, first), kTreeBlock);
  }
  some = m.select(present, some, m(0));
  Position row = position();
  if (space.parallel)
    emitter->delinearize(builder, number, 0, space.parallel, row);
  rowValues(builder, row, 0);
  TreeEmitter trees(&function.getBody().front(), loc, reducers, lanes);
  TreeEmitter::Storage memory = trees.allocateShared(shape.group * lanes);
  auto block = [&](OpBuilder &b, bool aligned) {
    return teamLanes(b, trees, team, first, some, [&](OpBuilder &c, Value index, Value limit) {
      Position at = row;
      setReduced(c, at, index, limit, lanes);
      at.aligned = aligned;
      SmallVector<Value> values = pointValues(c, reducers, at);
      for (kernel::StoreOp store : here)
        emitter->store(c, store, at);
      return values;
    });
  };
  int along = static_cast<int>(space.parallel);
  States own = chooseAligned(builder, trees, along, lanes, {}, block);
  States states = foldTeam(builder, trees, team, memory, own, false);
  Value writes = m.both(present, m.equal(team.number, m(0)));
  auto once = scf::IfOp::create(builder, loc, writes, /*withElseRegion=*/false);
  OpBuilder b = once.getThenBodyBuilder();
  finish(b, reducers, states, row, item, blocks);
  if (shape.lastFolds)
    foldLast(reducers, memory, row, blocks);
  close();
}

/// `body` for the group that is the last of `count` to come here with a ticket; it sees what all
/// of them stored before. One fence of a group is enough, behind its barrier: where every work-item
/// has one, groups wait longer for them than for the tickets. `flag`: local memory for an element.
void GroupLowering::lastGroup(OpBuilder &b, Value flag, Value ticket, Value count,
                              llvm::function_ref<void(OpBuilder &)> body) {
  IndexMath m{b, loc};
  Value tickets = extraBuffers.back();
  auto number = [&](OpBuilder &c, int32_t value) -> Value {
    return arith::ConstantIntOp::create(c, loc, value, 32);
  };
  barrier(b, loc);
  auto first = scf::IfOp::create(b, loc, m.equal(member, m(0)), /*withElseRegion=*/false);
  {
    OpBuilder c = first.getThenBodyBuilder();
    IndexMath n{c, loc};
    fence(c, loc);
    Value before = memref::AtomicRMWOp::create(c, loc, arith::AtomicRMWKind::addi, number(c, 1),
                                               tickets, ticket);
    Value wide = arith::IndexCastOp::create(c, loc, c.getIndexType(), before);
    Value last = n.equal(n.add(wide, 1), count);
    memref::StoreOp::create(c, loc, n.select(last, number(c, 1), number(c, 0)), flag, n(0));
    OpBuilder d = scf::IfOp::create(c, loc, last, /*withElseRegion=*/false).getThenBodyBuilder();
    memref::StoreOp::create(d, loc, number(d, 0), tickets, ticket);
  }
  barrier(b, loc);
  Value last = memref::LoadOp::create(b, loc, flag, m(0));
  auto folds = scf::IfOp::create(b, loc, m.equal(last, number(b, 1)), /*withElseRegion=*/false);
  OpBuilder c = folds.getThenBodyBuilder();
  fence(c, loc);
  body(c);
}

/// Block results of a reduction of everything: the last group of those that have a block of the
/// tree of them folds it, and the last of these the folds' results, which follow the blocks'.
void GroupLowering::foldLast(ArrayRef<Reducer> reducers, const TreeEmitter::Storage &memory,
                             const Position &row, Value blocks) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  auto local = gpu::AddressSpaceAttr::get(entry.getContext(), gpu::AddressSpace::Workgroup);
  Value flag = memref::AllocaOp::create(
      entry, loc, MemRefType::get({1}, entry.getI32Type(), AffineMap(), local));
  IndexMath m{builder, loc};
  Value groups = m.ceilDiv(blocks, kTreeBlock);
  // As KernelLaunches decides whether the fold runs.
  Value here = m.both(m.less(m(1), blocks), m.atLeast(m(kLastFolds), groups));
  OpBuilder b =
      scf::IfOp::create(builder, loc, here, /*withElseRegion=*/false).getThenBodyBuilder();
  Team team = teamOf(b, 1);
  TreeEmitter trees(&function.getBody().front(), loc, reducers, 1);
  auto fold = [&](OpBuilder &c, Value first, Value size) {
    States own = partialLanes(c, trees, reducers, team, first, size);
    return foldTeam(c, trees, team, memory, own, false);
  };
  auto store = [&](OpBuilder &c, const States &states) {
    Position at = row;
    bind(reducers, states, at, c);
    storeOnce(c, team, at);
  };
  IndexMath n{b, loc};
  Value number = n.div(begin, kTreeBlock / shape.perGroup), first = n.mul(number, kTreeBlock);
  Value size = n.min(n.sub(blocks, first), kTreeBlock);
  lastGroup(b, flag, number, n.ceilDiv(size, shape.perGroup), [&](OpBuilder &c) {
    IndexMath o{c, loc};
    States states = fold(c, first, size);
    auto only = scf::IfOp::create(c, loc, o.equal(groups, o(1)), /*withElseRegion=*/true);
    OpBuilder whole = only.getThenBodyBuilder();
    store(whole, states);
    OpBuilder d = only.getElseBodyBuilder();
    IndexMath p{d, loc};
    auto one = scf::IfOp::create(d, loc, p.equal(member, p(0)), /*withElseRegion=*/false);
    OpBuilder e = one.getThenBodyBuilder();
    savePartials(e, states, position(), IndexMath{e, loc}.add(blocks, number));
    lastGroup(d, flag, p(kLastFolds), groups,
              [&](OpBuilder &f) { store(f, fold(f, blocks, groups)); });
  });
}

/// A work-item's lane of `size` block results from `first` on, at most a block of the tree.
States GroupLowering::partialLanes(OpBuilder &b, TreeEmitter &trees, ArrayRef<Reducer> reducers,
                                   const Team &team, Value first, Value size) {
  IndexMath m{b, loc};
  Value rows = m.div(m.max(m.add(m.sub(size, team.number), kTreeLanes - 1), 0), kTreeLanes);
  Value start = m.add(first, team.number);
  auto loop =
      scf::ForOp::create(b, loc, m(0), rows, m(1), TreeEmitter::flatten(trees.identity(b, 1)));
  loop->setAttr(kUnrollAttr, b.getI64IntegerAttr(kTreeBlock / kTreeLanes));
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath n{c, loc};
  Value at = n.add(start, n.mul(loop.getInductionVar(), kTreeLanes));
  States next = loadPartials(c, reducers, extraBuffers, position(), at);
  States sums = trees.combine(c, trees.unflatten(loop.getRegionIterArgs()), next);
  scf::YieldOp::create(c, loc, TreeEmitter::flatten(sums));
  return trees.unflatten(loop.getResults());
}

/// The block results of one row, when they are few, folded by one work-item.
void GroupLowering::foldFew(OpBuilder &outside, ArrayRef<Reducer> reducers, Value blocks) {
  IndexMath m{outside, loc};
  Value item = m.add(m.mul(begin, shape.group), member);
  Value present = m.less(item, emitter->emit(outside, space.items()));
  auto guard = scf::IfOp::create(outside, loc, present, /*withElseRegion=*/false);
  OpBuilder b = guard.getThenBodyBuilder();
  IndexMath n{b, loc};
  Position row = position();
  if (space.parallel)
    emitter->delinearize(b, item, 0, space.parallel, row);
  rowValues(b, row, 0);
  TreeEmitter trees(&function.getBody().front(), loc, reducers, 1);
  SmallVector<Value> none = TreeEmitter::flatten(trees.identity(b, 1));
  Value first = n.mul(item, blocks), last = n.sub(blocks, n(1));
  SmallVector<States> lanes;
  for (int64_t block = 0; block < kFewBlocks; ++block) {
    Value number = n(block), at = n.add(first, n.min(number, last));
    SmallVector<Value> parts =
        TreeEmitter::flatten(loadPartials(b, reducers, extraBuffers, position(), at));
    for (auto [part, identity] : llvm::zip_equal(parts, none))
      part = n.select(n.less(number, blocks), part, identity);
    lanes.push_back(trees.unflatten(parts));
  }
  for (int64_t half = kFewBlocks / 2; half >= 1; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] = trees.combine(b, lanes[lane], lanes[lane + half]);
  bind(reducers, lanes[0], row, b);
  storeRow(b, row);
}

/// The block results of one row, folded by a group.
void GroupLowering::foldMany(OpBuilder &b, ArrayRef<Reducer> reducers, Value blocks) {
  IndexMath m{b, loc};
  Team team = teamOf(b, 1);
  Position row = position();
  if (space.parallel)
    emitter->delinearize(b, begin, 0, space.parallel, row);
  rowValues(b, row, 0);
  Value line = m.mul(begin, blocks);
  TreeEmitter trees(&function.getBody().front(), loc, reducers, 1);
  States states = teamTree(b, trees, team, blocks, [&](OpBuilder &c, Value first, Value size) {
    return partialLanes(c, trees, reducers, team, IndexMath{c, loc}.add(line, first), size);
  });
  bind(reducers, states, row, b);
  storeOnce(b, team, row);
}

void GroupLowering::lowerFold() {
  // A team of single lanes; kernels with smaller groups have one row, which is one group here.
  shape.group = std::max(shape.group, kTreeLanes);
  open((kernel.getSymName() + "_fold").str(), splitBuffers());
  SmallVector<Reducer> reducers = reducersOfStage(0);
  Value blocks = blockCount(builder);
  IndexMath m{builder, loc};
  // As KernelLaunches counts the groups.
  auto few = scf::IfOp::create(builder, loc, m.atLeast(m(kFewBlocks), blocks),
                               /*withElseRegion=*/true);
  OpBuilder yes = few.getThenBodyBuilder(), no = few.getElseBodyBuilder();
  foldFew(yes, reducers, blocks);
  foldMany(no, reducers, blocks);
  close();
}

GroupLowering::Kept GroupLowering::keptPoints(int64_t lanes, int64_t pieces) {
  Kept kept{pass::keptRow(kernel, space, stages, lanes), lanes, DenseMap<Value, Value>()};
  int64_t elements = (pieces ? pieces : kept.row.pieces) * lanes;
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  for (auto [value, stage] : kept.row.values)
    kept.memory[value] = memref::AllocaOp::create(
        entry, loc, MemRefType::get({elements}, memoryType(value.getType())));
  return kept;
}

void GroupLowering::recallPoint(OpBuilder &b, const Kept &kept, Value value, Value slot,
                                Position &at) {
  Value memory = kept.memory.lookup(value);
  auto type = VectorType::get({kept.lanes}, memoryType(value.getType()));
  Value raw = kept.lanes == 1 ? memref::LoadOp::create(b, loc, memory, slot).getResult()
                              : vector::LoadOp::create(b, loc, type, memory, slot).getResult();
  at.values[value] = emitter->fromMemory(b, raw, value.getType());
}

void GroupLowering::keepPoint(OpBuilder &b, const Kept &kept, Value value, Value slot,
                              Position &at) {
  Value memory = kept.memory.lookup(value);
  Value raw = emitter->toMemory(b, emitter->value(b, value, at));
  raw = BodyEmitter::splat(b, loc, raw, kept.lanes);
  if (kept.lanes == 1)
    memref::StoreOp::create(b, loc, raw, memory, slot);
  else
    vector::StoreOp::create(b, loc, raw, memory, slot);
}

/// A work-item's piece `number` of a row: what `states` become with it.
SmallVector<Value> GroupLowering::keptPiece(OpBuilder &c, const Team &team, Kept &kept,
                                            TreeEmitter &trees, ArrayRef<Reducer> reducers,
                                            Position at, Value number, ValueRange states,
                                            int current) {
  IndexMath n{c, loc};
  Value slot = n.mul(number, team.lanes);
  at.aligned = team.lanes > 1;
  for (auto [value, stage] : kept.row.values)
    if (stage < current)
      recallPoint(c, kept, value, slot, at);
  SmallVector<Value> values = pointValues(c, reducers, at);
  for (auto [value, stage] : kept.row.values)
    if (stage == current)
      keepPoint(c, kept, value, slot, at);
  for (kernel::StoreOp store : pointStores(current))
    emitter->store(c, store, at);
  if (reducers.empty())
    return {};
  return TreeEmitter::flatten(trees.append(c, trees.unflatten(states), values, number));
}

/// One pass over a row of which every work-item has all pieces.
States GroupLowering::keptStage(OpBuilder &b, const Team &team, Kept &kept, TreeEmitter &trees,
                                ArrayRef<Reducer> reducers, Position &row, int current) {
  IndexMath m{b, loc};
  Value offset = m.mul(team.number, team.lanes);
  auto pieces = scf::ForOp::create(b, loc, m(0), m(kept.row.pieces), m(1),
                                   TreeEmitter::flatten(trees.sequenceIdentity(b, team.lanes)));
  pieces->setAttr(kUnrollAttr, b.getI64IntegerAttr(kept.row.pieces));
  OpBuilder c = OpBuilder::atBlockBegin(pieces.getBody());
  IndexMath n{c, loc};
  Value number = pieces.getInductionVar();
  Position at = row;
  setReduced(c, at, n.add(offset, n.mul(number, kTreeLanes)), Value(), team.lanes);
  SmallVector<Value> merged =
      keptPiece(c, team, kept, trees, reducers, at, number, pieces.getRegionIterArgs(), current);
  if (reducers.empty())
    return {};
  scf::YieldOp::create(c, loc, merged);
  return trees.fromSequence(b, trees.unflatten(pieces.getResults()), offset, kTreeLanes, 1);
}

void GroupLowering::keptRow(OpBuilder &b, const Team &team, Kept &kept) {
  Position row = position();
  if (space.parallel)
    emitter->delinearize(b, begin, 0, space.parallel, row);
  for (int current = 0, last = lastStage(); current <= last; ++current) {
    SmallVector<Reducer> reducers = reducersOfStage(current);
    rowValues(b, row, current);
    if (reducers.empty() && pointStores(current).empty())
      continue;
    TreeEmitter trees(&function.getBody().front(), loc, reducers, team.lanes);
    States own = keptStage(b, team, kept, trees, reducers, row, current);
    if (reducers.empty())
      continue;
    TreeEmitter::Storage memory = trees.allocateShared(kTreeLanes);
    bind(reducers, foldTeam(b, trees, team, memory, own, /*reused=*/false), row, b);
  }
  storeOnce(b, team, row);
}

void GroupLowering::storeOnce(OpBuilder &b, const Team &team, Position &row) {
  IndexMath m{b, loc};
  if (llvm::all_of(stores, [&](kernel::StoreOp store) { return stages.isPoint(store); }))
    return;
  OpBuilder inside = b;
  // All work-items of a team have the row's values: where they must not branch, all of them store.
  if (!straightFolds)
    inside = scf::IfOp::create(b, loc, m.equal(team.number, m(0)), /*withElseRegion=*/false)
                 .getThenBodyBuilder();
  Position place = row;
  storeRow(inside, place);
}

/// A row of any length and alignment, visited again by every stage. Work-items have neighbouring
/// elements, which is as good as several of each where lines lie anywhere.
void GroupLowering::longRow(OpBuilder &b, const Team &team, Value length) {
  Position row = position();
  if (space.parallel)
    emitter->delinearize(b, begin, 0, space.parallel, row);
  for (int current = 0, last = lastStage(); current <= last; ++current) {
    SmallVector<Reducer> reducers = reducersOfStage(current);
    rowValues(b, row, current);
    auto body = [&](OpBuilder &c, Value index, Value) {
      Position at = row;
      setReduced(c, at, index, Value(), /*lanes=*/1);
      SmallVector<Value> values = pointValues(c, reducers, at);
      storePoints(c, current, at);
      return values;
    };
    if (!reducers.empty()) {
      TreeEmitter trees(&function.getBody().front(), loc, reducers, team.lanes);
      States states = teamTree(b, trees, team, length, [&](OpBuilder &c, Value first, Value size) {
        return teamLanes(c, trees, team, first, size, body);
      });
      bind(reducers, states, row, b);
    } else if (!pointStores(current).empty()) {
      loop(b, member, length, shape.group,
           [&](OpBuilder &c, Value index) { (void)body(c, index, Value()); });
    }
  }
  storeOnce(b, team, row);
}

void GroupLowering::lowerShort(StringRef name) {
  open(name, {});
  IndexMath m{builder, loc};
  Value item = m.add(m.mul(begin, shape.group), member);
  Value present = m.less(item, emitter->emit(builder, space.items()));
  auto guard = scf::IfOp::create(builder, loc, present, /*withElseRegion=*/false);
  OpBuilder b = guard.getThenBodyBuilder();
  Position row = position();
  emitter->delinearize(b, item, 0, space.parallel, row);
  for (int current = 0, last = lastStage(); current <= last; ++current) {
    rowValues(b, row, current);
    shortStage(b, row, current, kGroupShortRow);
  }
  storeRow(b, row);
  close();
}

void GroupLowering::lowerLongRows() {
  int64_t own = std::exchange(shape.group, longRowGroup(kernel));
  open(kernel.getSymName(), {});
  longRow(builder, teamOf(builder, 1), emitter->emit(builder, space.reducedItems()));
  close();
  shape.group = own;
}

void GroupLowering::lowerWholeRows(StringRef name) {
  open(name, {});
  int64_t lanes = reduceWidth();
  Team team = teamOf(builder, lanes);
  Kept kept = keptPoints(lanes);
  keptRow(builder, team, kept);
  close();
}

void GroupLowering::lowerRows() {
  for (const RowsAtOnce &form : llvm::concat<const RowsAtOnce>(shape.rowsAtOnce, shape.longRows))
    lowerSeveral(form);
  if (shape.rowForm == RowForm::Whole)
    return lowerWholeRows(kernel.getSymName());
  lowerLongRows();
  if (!shape.rowForm)
    lowerWholeRows((kernel.getSymName() + "_whole").str());
}
