// Rows and full reductions, by the lane tree of docs/numerics.md.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/CoreLowering.h"
#include "compiler/passes/lower/core/Finder.h"
#include "compiler/passes/lower/core/SharedFolds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Whether a vector of consecutive elements is a few pieces of rows of the last loop: so are they
/// in what is stored.
bool CoreLowering::goesOverRows() {
  if (space.count() - space.parallel < 2 || width == 1 || shape.group)
    return false;
  bool once = reducesOnce(kernel);
  bool simple = llvm::all_of(stores, [&](kernel::StoreOp store) {
    return !stages.isPoint(store) || (once && space.accesses.at(store).isDense(space.count() - 1));
  });
  kernel.getBody().walk([&](Operation *op) {
    auto gather = dyn_cast<kernel::GatherOp>(op);
    simple &= gather ? space.readsPieces(gather, space.count() - 1)
                     : !isa<kernel::ScatterOp, kernel::ScanOp>(op);
  });
  return simple;
}

int64_t CoreLowering::treeWidth() { return goesOverRows() ? width : reduceWidth(); }

/// Whether rows lie in pieces of memory, or are one element each.
bool CoreLowering::readsPieces() {
  unsigned last = space.count() - 1;
  return llvm::all_of(kernel.getBody().getOps<kernel::LoadOp>(), [&](kernel::LoadOp load) {
    const LinearAccess &access = space.accesses.at(load);
    return access.isDense(last) || access.strides[last].isZero();
  });
}

SmallVector<Value> CoreLowering::acrossRows(OpBuilder &b, const Position &row,
                                            ArrayRef<Reducer> reducers, Value index, Value count,
                                            int64_t lanes) {
  return readsPieces() ? piecesOfRows(b, row, reducers, index, count, lanes)
                       : elementsOfRows(b, row, reducers, index, count, lanes);
}

SmallVector<Value> CoreLowering::storedValues(OpBuilder &b, ArrayRef<Reducer> reducers,
                                              Position &at) {
  SmallVector<Value> values = pointValues(b, reducers, at);
  for (kernel::StoreOp store : pointStores(0))
    emitter->store(b, store, at);
  return values;
}

/// As storedValues() for the elements from `index` on, of all reduced loops together; with `limit`
/// for a register of lanes, of which those before it are wanted.
SmallVector<Value> CoreLowering::valuesOverRows(OpBuilder &b, const Position &row,
                                                ArrayRef<Reducer> reducers, Value index,
                                                Value limit, int64_t rest) {
  IndexMath m{b, loc};
  unsigned last = space.count() - 1;
  if (limit)
    return acrossRows(b, row, reducers, index, m.min(m.sub(limit, index), rest), rest);
  Position at = row;
  emitter->delinearize(b, index, space.parallel, space.count(), at);
  at.vectorLoop = static_cast<int>(last);
  at.width = width;
  Value inside = m.atLeast(emitter->extent(b, last), m.add(at.loops[last], width));
  SmallVector<Type> types;
  for (const Reducer &reducer : reducers)
    types.push_back(BodyEmitter::vectorOf(reducer.value().getType(), width));
  auto choice = scf::IfOp::create(b, loc, types, inside, /*withElseRegion=*/true);
  OpBuilder whole = choice.getThenBodyBuilder(), parts = choice.getElseBodyBuilder();
  scf::YieldOp::create(whole, loc, storedValues(whole, reducers, at));
  // A part at a time, which is less code and fewer lanes that are masked off.
  int64_t narrow = std::max(registerLanes(width), width / 4);
  SmallVector<Value> memory = laneMemory(reducers, width);
  loop(parts, constant(parts, 0), constant(parts, width), narrow, [&](OpBuilder &c, Value lane) {
    Value from = IndexMath{c, loc}.add(index, lane);
    SmallVector<Value> values = acrossRows(c, row, reducers, from, constant(c, narrow), narrow);
    for (auto [value, lanes] : llvm::zip_equal(values, memory))
      vector::StoreOp::create(c, loc, emitter->toMemory(c, value), lanes, lane);
  });
  scf::YieldOp::create(parts, loc, lanesFrom(parts, reducers, memory, width));
  return SmallVector<Value>(choice.getResults());
}

/// Memory for a vector of what each reduction combines.
SmallVector<Value> CoreLowering::laneMemory(ArrayRef<Reducer> reducers, int64_t lanes) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  SmallVector<Value> memory;
  for (const Reducer &reducer : reducers) {
    Type element = reducer.value().getType();
    memory.push_back(memref::AllocaOp::create(entry, loc,
                                              MemRefType::get({lanes}, memoryType(element)),
                                              entry.getI64IntegerAttr(kLineBytes)));
  }
  return memory;
}

SmallVector<Value> CoreLowering::lanesFrom(OpBuilder &b, ArrayRef<Reducer> reducers,
                                           ArrayRef<Value> memory, int64_t lanes) {
  SmallVector<Value> values;
  for (auto [reducer, elements] : llvm::zip_equal(reducers, memory)) {
    Type element = reducer.value().getType();
    auto type = VectorType::get({lanes}, memoryType(element));
    Value raw = vector::LoadOp::create(b, loc, type, elements, constant(b, 0));
    values.push_back(emitter->fromMemory(b, raw, element));
  }
  return values;
}

/// The first `count` of them one by one: each piece of a row would gather all lanes again.
SmallVector<Value> CoreLowering::elementsOfRows(OpBuilder &b, const Position &row,
                                                ArrayRef<Reducer> reducers, Value index,
                                                Value count, int64_t width) {
  SmallVector<Value> memory = laneMemory(reducers, width);
  Position start = row;
  emitter->delinearize(b, index, space.parallel, space.count(), start);
  auto lanes = scf::ForOp::create(b, loc, constant(b, 0), count, constant(b, 1),
                                  ArrayRef(start.loops).drop_front(space.parallel));
  OpBuilder c = OpBuilder::atBlockBegin(lanes.getBody());
  Position at = row;
  llvm::copy(lanes.getRegionIterArgs(), at.loops.begin() + space.parallel);
  SmallVector<Value> next = nextPoint(c, at, space.parallel, space.count());
  for (auto [value, element] : llvm::zip_equal(storedValues(c, reducers, at), memory))
    memref::StoreOp::create(c, loc, emitter->toMemory(c, value), element, lanes.getInductionVar());
  scf::YieldOp::create(c, loc, next);
  return lanesFrom(b, reducers, memory, width);
}

/// The first `count` of them row by row: lanes of other rows are masked off.
SmallVector<Value> CoreLowering::piecesOfRows(OpBuilder &b, const Position &row,
                                              ArrayRef<Reducer> reducers, Value index, Value count,
                                              int64_t width) {
  unsigned last = space.count() - 1;
  SmallVector<Value> start = {constant(b, 0)};
  for (const Reducer &reducer : reducers) {
    Type element = reducer.value().getType();
    auto type = VectorType::get({width}, memoryType(element));
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    start.push_back(emitter->fromMemory(b, zero, element));
  }
  auto more = [&](OpBuilder &c, Location, ValueRange args) {
    Value some = arith::CmpIOp::create(c, loc, arith::CmpIPredicate::slt, args[0], count);
    scf::ConditionOp::create(c, loc, some, args);
  };
  auto piece = [&](OpBuilder &c, Location, ValueRange args) {
    IndexMath m{c, loc};
    Value done = args[0], extent = emitter->extent(c, last);
    Position at = row;
    emitter->delinearize(c, m.add(index, done), space.parallel, space.count(), at);
    Value end = m.min(m.add(done, m.sub(extent, at.loops[last])), count);
    at.loops[last] = m.sub(at.loops[last], done);
    at.vectorLoop = static_cast<int>(last);
    at.width = width;
    at.limit = m.add(at.loops[last], end);
    at.from = done;
    auto lanes = VectorType::get({width}, c.getI1Type());
    Value before = vector::CreateMaskOp::create(c, loc, lanes, done);
    Value until = vector::CreateMaskOp::create(c, loc, lanes, end);
    at.mask = arith::XOrIOp::create(c, loc, before, until);
    SmallVector<Value> next = {end};
    for (auto [value, old] : llvm::zip(storedValues(c, reducers, at), args.drop_front()))
      next.push_back(arith::SelectOp::create(c, loc, at.mask, value, old));
    scf::YieldOp::create(c, loc, next);
  };
  auto pieces =
      scf::WhileOp::create(b, loc, TypeRange(ValueRange(start)), ValueRange(start), more, piece);
  return SmallVector<Value>(pieces.getResults().drop_front());
}

/// The stage in which there is most time to fetch the next row: where something expensive is
/// computed first, else where results are written. -1: there is one row.
int CoreLowering::longestStage() {
  if (space.parallel == 0)
    return -1;
  int found = lastStage();
  while (found > 0 && pointStores(found).empty() && reducersOfStage(found).empty())
    --found; // which leaves the row alone
  kernel.getBody().walk([&](Operation *op) {
    if (op->hasTrait<graph::Expensive>() && op->getNumResults() == 1 &&
        stages.isPoint(op->getResult(0)))
      found = std::min(found, stages.of(op->getResult(0)));
  });
  return found;
}

/// Lanes of float32 that four registers of 512 bits hold.
static constexpr int64_t kHeldLanes = 64;
/// Operations from which a reduction's value is made, up to which sixteen registers are left.
static constexpr int64_t kHeldOps = 12;

/// Whether sixteen registers hold all lanes of the tree, and the others what is computed.
static bool holdsLanes(ArrayRef<Reducer> reducers, int64_t lanes,
                       llvm::function_ref<bool(Value)> isPoint) {
  if (lanes < kHeldLanes || lanes == kTreeLanes || reducers.size() != 1)
    return false;
  const Reducer &reducer = reducers.front();
  if (reducer.parts() != 1 || reducer.isNarrow() || !reducer.types()[0].isF32())
    return false;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> stack = {reducer.value()};
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !isPoint(value) || !seen.insert(op).second)
      continue;
    if (op->hasTrait<graph::Expensive>() || isa<kernel::GatherOp, kernel::BoundOp>(op))
      return false;
    stack.append(op->operand_begin(), op->operand_end());
  }
  return seen.size() <= kHeldOps;
}

/// What is done once a row, or once in 8192 elements of it, by functions of the program. `once`:
/// elements take long enough for the lanes of a row to be folded so.
void CoreLowering::shareFolds(TreeEmitter &trees, ArrayRef<Reducer> reducers, int64_t lanes,
                              bool once) {
  if (lanes == 1)
    return;
  trees.once = once;
  trees.nextElsewhere = [this, reducers](OpBuilder &b, const TreeEmitter::Storage &blocks,
                                         const TreeEmitter::Storage &groups, Value number,
                                         Value count, const States &states) {
    IndexMath m{b, loc};
    SmallVector<Value> alone = TreeEmitter::flatten(states);
    auto choice = scf::IfOp::create(b, loc, ValueRange(alone).getTypes(), m.less(m(1), count),
                                    /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    States next =
        SharedFolds(module, loc).nextBlock(yes, reducers, blocks, groups, number, count, states);
    scf::YieldOp::create(yes, loc, TreeEmitter::flatten(next));
    scf::YieldOp::create(no, loc, alone);
    return TreeEmitter(nullptr, loc, reducers, 1).unflatten(choice.getResults());
  };
  if (once)
    trees.foldElsewhere = [this, reducers, lanes](OpBuilder &b, const TreeEmitter::Storage &storage,
                                                  Value first, Value count) {
      return SharedFolds(module, loc)
          .lanes(b, reducers, storage, lanes, first, count,
                 /*fast=*/true);
    };
}

void CoreLowering::lowerRows() {
  open(kernel.getSymName(), {}, waitingBytes());
  openWaiting();
  int last = lastStage();
  int asking = longestStage();
  // Into the second cache where the first holds little more than a row and what waits of it.
  unsigned nextRow = kernel->hasAttr(kReadsAheadAttr) ? 2 : 3;
  auto varies = [&](Value value) { return stages.isPoint(value); };
  bool overRows = goesOverRows(), pieces = !overRows && readsPieces();
  int64_t lanes = treeWidth(), rest = lanes;
  bool once = kernel->hasAttr(kOnceAttr); // one body for whole and last vectors
  bool shares = sharesAsking(asking, lanes);
  Block *entry = &function.getBody().front();
  auto rows = [&](OpBuilder &outside) {
    Value length = emitter->emit(outside, space.reducedItems());
    Value skipped = rowsSkipped(outside, length);
    loop(outside, begin, end, 1, [&](OpBuilder &b, Value item) {
      Position row = position();
      if (space.parallel)
        emitter->delinearize(b, item, 0, space.parallel, row);
      for (int current = 0; current <= last; ++current) {
        SmallVector<Reducer> reducers = reducersOfStage(current);
        SmallVector<kernel::StoreOp> here = pointStores(current);
        rowValues(b, row, current);
        TreeEmitter trees(entry, loc, reducers, lanes, rest);
        auto body = [&](OpBuilder &c, Value index, Value limit) {
          Value visited = trees.visited;
          if (overRows)
            return valuesOverRows(c, row, reducers, index, limit, rest);
          Position at = row;
          setReduced(c, at, index, limit, limit ? rest : lanes);
          if (once)
            emitter->maskAll(c, at, limit);
          SmallVector<Value> values = pointValues(c, reducers, at);
          storePoints(c, current, at);
          bool helps = shares && current == asking - 1 && !limit;
          if (helps || (current == asking && lanes > 1 && (once || !limit || skipped))) {
            // Memory is served best in its order, which strips are not in.
            if (visited)
              setReduced(c, at, visited, limit, lanes);
            askRow(c, at, skipped, nextRow, helps ? RowPart::FirstQuarter : RowPart::All);
          }
          return values;
        };
        if (!reducers.empty()) {
          trees.held = !once && pieces && here.empty() && holdsLanes(reducers, lanes, varies);
          if (!trees.held) // which leaves no registers over a call
            shareFolds(trees, reducers, lanes, once);
          bind(reducers, trees.laneTree(b, length, body), row, b);
        } else if (!here.empty()) {
          if (space.count() - space.parallel == 1)
            strips(
                b, row, space.parallel, lanes, constant(b, 0), length,
                [&](OpBuilder &c, Position &at) {
                  storePoints(c, current, at);
                  if (current != asking || lanes == 1 || !(once || !at.limit || skipped))
                    return;
                  askRow(c, at, skipped, nextRow,
                         shares && !at.limit ? RowPart::Rest : RowPart::All);
                },
                registerLanes(lanes));
          else
            loop(b, constant(b, 0), length, 1,
                 [&](OpBuilder &c, Value index) { (void)body(c, index, Value()); });
        }
      }
      storeRow(b, row);
    });
  };
  chooseRows(rows);
  close();
  lowerShortForm({}, waitingBytes());
}

/// Whether one element may decide the result.
static bool isDecided(const Reducer &reducer) {
  graph::ReduceKind kind = kernel::ReduceOp(reducer.op).getKind();
  return kind == graph::ReduceKind::Any || kind == graph::ReduceKind::All;
}

/// Items one after the other; once the results of a block are known to be the results of
/// everything, the rest of the chunk is not read. Order and grouping mean nothing to any and all.
void CoreLowering::untilDecided(OpBuilder &b, ArrayRef<Reducer> reducers,
                                llvm::function_ref<States(OpBuilder &, Value)> block) {
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  auto items = scf::ForOp::create(b, loc, begin, end, constant(b, 1), ValueRange(no));
  OpBuilder c = OpBuilder::atBlockBegin(items.getBody());
  Value item = items.getInductionVar(), decided = items.getRegionIterArgs()[0];
  auto choice = scf::IfOp::create(c, loc, TypeRange(c.getI1Type()), decided,
                                  /*withElseRegion=*/true);
  OpBuilder known = choice.getThenBodyBuilder(), open = choice.getElseBodyBuilder();
  States rest;
  for (const Reducer &reducer : reducers) {
    bool any = kernel::ReduceOp(reducer.op).getKind() == graph::ReduceKind::Any;
    rest.push_back({arith::ConstantOp::create(known, loc, known.getBoolAttr(any)).getResult()});
  }
  savePartials(known, rest, position(), item);
  scf::YieldOp::create(known, loc, decided);
  Value all = arith::ConstantOp::create(open, loc, open.getBoolAttr(true));
  for (auto [reducer, state] : llvm::zip_equal(reducers, block(open, item))) {
    Value is = state[0];
    if (kernel::ReduceOp(reducer.op).getKind() == graph::ReduceKind::All)
      is = arith::XOrIOp::create(open, loc, is,
                                 arith::ConstantOp::create(open, loc, open.getBoolAttr(true)));
    all = arith::AndIOp::create(open, loc, all, is);
  }
  scf::YieldOp::create(open, loc, all);
  scf::YieldOp::create(c, loc, choice.getResult(0));
}

/// Operations of the longest body that is computed twice to find a place.
static constexpr int64_t kFoundTwiceOps = 12;

/// Whether the best value is to be found before its place: a row is in a cache by then, and values
/// without places take half the time.
static bool findsTwice(kernel::FuncOp kernel, ArrayRef<Reducer> reducers) {
  Block &body = kernel.getBody().front();
  bool cheap = llvm::range_size(body) <= kFoundTwiceOps;
  for (Operation &op : body)
    cheap &= !op.hasTrait<graph::Expensive>() && !isa<kernel::GatherOp, kernel::BoundOp>(op);
  return cheap && reducers.size() == 1 && reducers.front().parts() > 1;
}

/// Rows of a strip that are read one after the other where several operands are read straight on.
static constexpr int64_t kStraightRows = 4;
/// How far ahead a machine that follows several operands is told the order in which they lie: LLVM
/// turns that of a body's own loads round.
static constexpr int64_t kNearBytesAhead = 256;

/// Elements from which on rows are read in the order in which they lie though lanes then wait in
/// memory: shorter ones are in a cache, if anything is.
static constexpr int64_t kLongRow = 1024;

/// Whether a block is loads and additions of registers alone, which machines read ahead of by
/// themselves.
static bool addsOnly(ArrayRef<Reducer> reducers) {
  return llvm::all_of(reducers, [](const Reducer &reducer) {
    return !reducer.isFree() && !reducer.isNarrow() && reducer.types()[0].isF32();
  });
}

/// The row of an item. Of `blocks`, if rows have several, its elements are `length` from `first`
/// on.
Position CoreLowering::blockOf(OpBuilder &b, Value item, Value blocks, Value &first,
                               Value &length) {
  Position row = position();
  Value number = item;
  if (blocks) {
    Value size = constant(b, kTreeBlock), part = item;
    if (space.parallel) {
      number = arith::DivUIOp::create(b, loc, item, blocks);
      part = arith::RemUIOp::create(b, loc, item, blocks);
    }
    first = arith::MulIOp::create(b, loc, part, size);
    length = arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, length, first), size);
  }
  if (space.parallel)
    emitter->delinearize(b, number, 0, space.parallel, row);
  return row;
}

/// Whether something expensive is computed at points. Divisions and roots are one instruction each,
/// which waits less than memory does.
bool CoreLowering::computesLong(bool divisions) {
  return llvm::any_of(kernel.getBody().front(), [&](Operation &op) {
    return op.hasTrait<graph::Expensive>() && stages.isPoint(op.getResult(0)) &&
           (divisions || !isa<graph::DivOp, graph::SqrtOp>(op));
  });
}

void CoreLowering::lowerLaneBlocks() {
  open(kernel.getSymName(), shape.partials);
  SmallVector<Reducer> reducers = reducersOfStage(0);
  SmallVector<kernel::StoreOp> here = pointStores(0);
  bool overRows = goesOverRows();
  auto varies = [&](Value value) { return stages.isPoint(value); };
  // Rows are short, perhaps, and many.
  bool once = kernel->hasAttr(kOnceAttr);
  int64_t lanes = treeWidth(), rest = space.parallel || once ? lanes : registerLanes(lanes);
  auto usual = [&](OpBuilder &outside) {
    Value length = emitter->emit(outside, space.reducedItems()), blocks = blockCount(outside);
    Value skipped = rowsSkipped(outside, length);
    // Machines follow several operands only in the order in which they lie, some of them even one.
    int64_t operands = llvm::range_size(kernel.getBody().getOps<kernel::LoadOp>());
    bool readsAhead = kernel->hasAttr(kReadsAheadAttr);
    bool computesLong = this->computesLong(/*divisions=*/true); // which needs the registers
    bool alone = operands == 1 && !this->computesLong(/*divisions=*/false);
    int64_t far = alone && (space.parallel || !addsOnly(reducers)) ? bytesFarAhead(kernel) : 0;
    int64_t distance = far ? far : readsAhead ? kNearBytesAhead : kBytesAhead;
    bool pieces = !overRows && readsPieces();
    bool straight = space.parallel ? readsAhead && pieces && !computesLong
                                   : (blocks && operands > 1) || (readsAhead && alone);
    bool twice = here.empty() && !overRows && reduceWidth() > 1 && findsTwice(kernel, reducers);
    if (twice && blocks && !space.parallel)
      return Finder{*this, reducers.front()}.blocks(outside, blocks);
    auto block = [&](OpBuilder &b, Value item) {
      Value first = constant(b, 0), some = length;
      Position row = blockOf(b, item, blocks, first, some);
      rowValues(b, row, 0);
      TreeEmitter trees(&function.getBody().front(), loc, reducers, lanes, rest);
      trees.once = once;
      // Once in 8192 elements. Rows may be short, but where each element takes long.
      if ((space.parallel == 0 || once) && lanes > 1)
        trees.foldElsewhere = [&](OpBuilder &c, const TreeEmitter::Storage &storage, Value from,
                                  Value count) {
          return SharedFolds(module, loc)
              .lanes(c, reducers, storage, lanes, from, count,
                     /*fast=*/false);
        };
      if (!once && straight && lanes > 1 && lanes < kTreeLanes)
        trees.straight = computesLong || readsAhead ? 1 : kStraightRows;
      trees.held = space.parallel && pieces && holdsLanes(reducers, lanes, varies);
      if (space.parallel && trees.straight && !trees.held)
        trees.longFrom = kLongRow;
      auto body = [&](OpBuilder &c, Value index, Value limit) {
        if (overRows)
          return valuesOverRows(c, row, reducers, index, limit, rest);
        Position at = row;
        setReduced(c, at, index, limit, limit ? rest : lanes);
        if (once)
          emitter->maskAll(c, at, limit);
        SmallVector<Value> values = storedValues(c, reducers, at);
        bool inOrder = straight || once || trees.isFree();
        bool asks = once ? operands <= kMostStreamsAhead : !limit && (!readsAhead || !alone || far);
        if (limit && !once && lanes > 1 && skipped && operands <= kMostStreamsAhead)
          askRow(c, at, skipped, /*locality=*/3); // short rows have no whole vectors
        else if (lanes > 1 && (straight || once || lanes < kTreeLanes) && asks)
          prefetch(c, at, space.parallel, inOrder ? bytesAhead(distance) : kTreeBlock,
                   inOrder ? /*locality=*/3 : 2);
        return values;
      };
      States states = twice ? Finder{*this, reducers.front()}.row(b, row, first, some)
                            : trees.laneBlock(b, first, some, body);
      finish(b, reducers, states, row, item, blocks);
      return states;
    };
    // What is not read would not be checked.
    bool decidable = blocks && !space.parallel && here.empty() && !reportsFaults(kernel);
    decidable &= !reducers.empty() && llvm::all_of(reducers, isDecided);
    if (decidable)
      return untilDecided(outside, reducers, block);
    loop(outside, begin, end, 1, [&](OpBuilder &b, Value item) { block(b, item); });
  };
  chooseRows(usual);
  close();
  lowerShortForm(shape.partials, 0);
}

/// What the results of `count` blocks from `first` on are together.
States CoreLowering::foldPartials(OpBuilder &b, ArrayRef<Reducer> reducers, Value first,
                                  Value count) {
  if (width > 1)
    return SharedFolds(module, loc).blocks(b, reducers, extraBuffers, first, count);
  // Devices, where there is no other program to share with.
  TreeEmitter trees(&function.getBody().front(), loc, reducers, 1);
  return trees.foldBlocks(b, count, [&](OpBuilder &c, Value block) {
    return loadPartials(c, reducers, extraBuffers, position(),
                        arith::AddIOp::create(c, loc, first, block));
  });
}

void CoreLowering::lowerLaneFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  function->setAttr("graphc.counted", builder.getUnitAttr()); // few elements
  SmallVector<Reducer> reducers = reducersOfStage(0);
  Value blocks = blockCount(builder);
  auto fold = [&](OpBuilder &b, Position &row, Value number) {
    rowValues(b, row, 0);
    Value first = arith::MulIOp::create(b, loc, number, blocks);
    bind(reducers, foldPartials(b, reducers, first, blocks), row, b);
    storeRow(b, row);
  };
  loop(builder, begin, end, 1, [&](OpBuilder &b, Value item) {
    Position row = position();
    if (space.parallel)
      emitter->delinearize(b, item, 0, space.parallel, row);
    fold(b, row, item);
  });
  close();
}
