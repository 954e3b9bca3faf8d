// Reductions by the row tree of docs/numerics.md: lanes are columns.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/TurnedRows.h"
#include "compiler/passes/lower/core/CoreLowering.h"
#include "compiler/passes/lower/core/SharedFolds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {
/// Columns whose sums stay in the first cache while rows stream past, and rows that are read side
/// by side: as many as the prefetcher follows.
constexpr int64_t kTileColumns = 1024, kTileRows = 8;
/// Where little is done with an element kTileRows rows are written out, over as many columns as
/// have so large sums: machines follow what is read by themselves then.
constexpr int64_t kRepeatedOps = 6, kRepeatedColumns = 512, kRepeatedBytes = int64_t{16} << 10;
/// What does not stay in the last cache of common machines.
constexpr int64_t kFarBytes = int64_t{16} << 20;

/// Whether so little is done for an element that loops over a few rows take longer than their
/// bodies.
bool repeatsRows(kernel::FuncOp kernel, ArrayRef<Reducer> reducers) {
  if (llvm::any_of(reducers, [](const Reducer &r) { return r.parts() > 1; }))
    return false;
  int64_t ops = 0;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<kernel::ReduceOp>(op))
      return ops <= kRepeatedOps;
    if (op.hasTrait<graph::Expensive>())
      return false;
    ++ops;
  }
  return false;
}

/// A power of two: the memory of the sums is whole vectors.
int64_t tileColumns(kernel::FuncOp kernel, ArrayRef<Reducer> reducers) {
  uint64_t bytes = 0;
  for (const Reducer &reducer : reducers)
    for (Type type : reducer.types())
      bytes += memoryType(type).getIntOrFloatBitWidth() / 8;
  return repeatsRows(kernel, reducers)
             ? std::max(kTileColumns, int64_t(llvm::bit_floor(kRepeatedBytes / bytes)))
             : kTileColumns;
}
} // namespace

void CoreLowering::columnRuns(Value blocks,
                              llvm::function_ref<void(OpBuilder &, ColumnRun &)> body) {
  unsigned parallel = space.parallel;
  Value length = emitter->extent(builder, parallel - 1);
  Value first = arith::DivUIOp::create(builder, loc, begin, length);
  Value last = arith::CeilDivUIOp::create(builder, loc, end, length);
  loop(builder, first, last, 1, [&](OpBuilder &b, Value number) {
    ColumnRun run{position(), number, {}, {}, {}};
    run.offset = arith::MulIOp::create(b, loc, number, length);
    run.low = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, begin, run.offset),
                                     constant(b, 0));
    run.high =
        arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, end, run.offset), length);
    if (parallel > 1) {
      Value outer = number;
      if (blocks) {
        Value runs = emitter->emit(b, space.product(0, parallel - 1));
        run.block = arith::DivUIOp::create(b, loc, number, runs);
        outer = arith::RemUIOp::create(b, loc, number, runs);
      }
      emitter->delinearize(b, outer, 0, parallel - 1, run.outer);
    }
    if (!blocks)
      run.block = constant(b, 0);
    body(b, run);
  });
}

/// A block of rows over up to tileColumns() columns.
struct CoreLowering::ColumnTile {
  const ColumnRun &run;
  TreeEmitter &trees;
  ArrayRef<Reducer> reducers;
  TreeEmitter::Storage group, total; ///< sums of 32 rows, and of groups: two levels of the tree
  Value low, high;                   ///< columns
  Value first, length;               ///< rows
  ArrayRef<Value> turned = {};       ///< where operands that lie along the rows wait for them
};

/// Adds rows [group, group + 32) of a tile to its `group` sums, a few rows at a time over all
/// columns.
void CoreLowering::columnRows(OpBuilder &b, ColumnTile &tile, Value group) {
  IndexMath m{b, loc};
  Value end = m.min(m.add(group, kRowBlock), tile.length);
  // Some machines follow one operand along its rows, and do not see the next rows coming from
  // beyond the caches.
  bool readsAhead = kernel->hasAttr(kReadsAheadAttr) && space.count() - space.parallel == 1;
  Value isFar =
      m.atLeast(emitter->emit(b, space.product(0, space.count())), m(bytesAhead(kFarBytes)));
  Position at;
  auto rowOf = [&](OpBuilder &c, const Position &column, const States &before, Value row) {
    at = column;
    emitter->delinearize(c, IndexMath{c, loc}.add(tile.first, row), space.parallel, space.count(),
                         at);
    SmallVector<Value> values = pointValues(c, tile.reducers, at);
    for (kernel::StoreOp store : pointStores(0))
      emitter->store(c, store, at);
    return tile.trees.append(c, before, values, IndexMath{c, loc}.sub(row, group));
  };
  auto rows = [&](OpBuilder &c, Value low, Value high, bool repeats) {
    auto strip = [&](OpBuilder &d, Position &column) {
      Value slot = IndexMath{d, loc}.sub(column.loops[space.parallel - 1], tile.low);
      States sums = tile.trees.restore(d, tile.group, slot, column.width, true);
      if (repeats) {
        for (int64_t i = 0; i < kTileRows; ++i)
          sums = rowOf(d, column, sums, IndexMath{d, loc}.add(low, i));
        return tile.trees.save(d, tile.group, slot, sums);
      }
      auto each = scf::ForOp::create(d, loc, low, high, constant(d, 1), TreeEmitter::flatten(sums));
      OpBuilder e = OpBuilder::atBlockBegin(each.getBody());
      States before = tile.trees.unflatten(each.getRegionIterArgs());
      States next = rowOf(e, column, before, each.getInductionVar());
      if (readsAhead) {
        auto far = scf::IfOp::create(e, loc, isFar, /*withElseRegion=*/false);
        OpBuilder yes = far.getThenBodyBuilder();
        prefetch(yes, at, space.parallel, kTileRows, /*locality=*/2);
      }
      scf::YieldOp::create(e, loc, TreeEmitter::flatten(next));
      tile.trees.save(d, tile.group, slot, tile.trees.unflatten(each.getResults()));
    };
    strips(c, tile.run.outer, static_cast<int>(space.parallel) - 1, width, tile.low, tile.high,
           strip, registerLanes(width));
  };
  Value whole = group;
  if (repeatsRows(kernel, tile.reducers)) {
    Value isWide = m.atLeast(m.sub(tile.high, tile.low), m(kRepeatedColumns));
    Value rest = arith::RemUIOp::create(b, loc, m.sub(end, group), m(kTileRows));
    whole = m.select(m.both(isFar, isWide), m.sub(end, rest), group);
    loop(b, group, whole, kTileRows,
         [&](OpBuilder &c, Value some) { rows(c, some, Value(), true); });
  }
  loop(b, whole, end, kTileRows, [&](OpBuilder &c, Value some) {
    IndexMath in{c, loc};
    rows(c, some, in.min(in.add(some, kTileRows), end), false);
  });
}

void CoreLowering::columnTile(OpBuilder &b, ColumnTile &tile) {
  // The sums' memory is whole vectors: no strip of it is masked.
  auto sums = [&](OpBuilder &c, llvm::function_ref<void(OpBuilder &, Value)> body) {
    loop(c, constant(c, 0), arith::SubIOp::create(c, loc, tile.high, tile.low), width, body);
  };
  sums(b, [&](OpBuilder &c, Value slot) {
    tile.trees.save(c, tile.group, slot, tile.trees.sequenceIdentity(c, width));
    tile.trees.save(c, tile.total, slot, tile.trees.identity(c, width));
  });
  loop(b, constant(b, 0), tile.length, kRowBlock, [&](OpBuilder &c, Value group) {
    columnRows(c, tile, group);
    Value first = arith::AddIOp::create(c, loc, tile.first, group);
    sums(c, [&](OpBuilder &d, Value slot) {
      States total = tile.trees.restore(d, tile.total, slot, width, false);
      States more = tile.trees.fromSequence(d, tile.trees.restore(d, tile.group, slot, width, true),
                                            first, 1, 0);
      tile.trees.save(d, tile.total, slot, tile.trees.combine(d, total, more));
      tile.trees.save(d, tile.group, slot, tile.trees.sequenceIdentity(d, width));
    });
  });
}

/// The rows of `width` columns whose operands lie along the rows: blocks of them are turned in
/// registers, and the sums stay there too.
States CoreLowering::turnedRows(OpBuilder &b, ColumnTile &tile, const Position &column) {
  bool repeats = turnsInRegisters(kernel);
  auto row = [&](OpBuilder &c, ValueRange states, Position &at, Value number) {
    SmallVector<Value> values = pointValues(c, tile.reducers, at);
    return TreeEmitter::flatten(tile.trees.append(c, tile.trees.unflatten(states), values, number));
  };
  auto block = [&](OpBuilder &c, ValueRange states, Value number, Value count,
                   const TurnedTile &turned) {
    if (turned.rowEnd || !repeats) {
      keepTurned(c, turned);
      auto lines = scf::ForOp::create(c, loc, constant(c, 0), count, constant(c, 1), states);
      OpBuilder d = OpBuilder::atBlockBegin(lines.getBody());
      Position at = turnedLine(d, turned, lines.getInductionVar());
      Value line = IndexMath{d, loc}.add(number, lines.getInductionVar());
      scf::YieldOp::create(d, loc, row(d, lines.getRegionIterArgs(), at, line));
      return SmallVector<Value>(lines.getResults());
    }
    IndexMath in{c, loc};
    SmallVector<Position> rows = turnedPositions(c, turned);
    SmallVector<Value> next(states);
    for (auto [line, at] : llvm::enumerate(rows))
      next = row(c, next, at, in.add(number, line));
    return next;
  };
  // One body for what lacks rows, columns or both.
  Position inside = column;
  inside.limit = inside.mask = {};
  Value low = column.loops[space.parallel - 1];
  Value wide = IndexMath{b, loc}.atLeast(tile.high, IndexMath{b, loc}.add(low, width));
  return tile.trees.rowBlocks(
      b, tile.first, tile.length, [&](OpBuilder &c, Value start, Value count) {
        auto blocks =
            scf::ForOp::create(c, loc, constant(c, 0), count, constant(c, width),
                               TreeEmitter::flatten(tile.trees.sequenceIdentity(c, width)));
        OpBuilder d = OpBuilder::atBlockBegin(blocks.getBody());
        IndexMath in{d, loc};
        ValueRange states = blocks.getRegionIterArgs();
        Value number = blocks.getInductionVar(), left = in.sub(count, number);
        Value from = in.add(start, number), end = in.add(start, count), some = in.min(left, width);
        TurnedTile all{inside, *shape.turned, from, low, {}, {}, tile.turned};
        TurnedTile part{column, *shape.turned, from, low, end, tile.high, tile.turned};
        Value isWhole = in.both(wide, in.atLeast(left, in(width)));
        auto choice =
            scf::IfOp::create(d, loc, states.getTypes(), isWhole, /*withElseRegion=*/true);
        OpBuilder whole = choice.getThenBodyBuilder(), edge = choice.getElseBodyBuilder();
        scf::YieldOp::create(whole, loc, block(whole, states, number, some, all));
        scf::YieldOp::create(edge, loc, block(edge, states, number, some, part));
        scf::YieldOp::create(d, loc, choice.getResults());
        return tile.trees.fromSequence(c, tile.trees.unflatten(blocks.getResults()), start, 1, 0);
      });
}

void CoreLowering::lowerColumns() {
  open(kernel.getSymName(), shape.partials);
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  Block *entry = &function.getBody().front();
  SmallVector<Reducer> reducers = reducersOfStage(0);
  const int64_t columns = tileColumns(kernel, reducers);
  TreeEmitter trees(entry, loc, reducers, width);
  TreeEmitter::Storage group, total;
  SmallVector<Value> memory;
  if (shape.turned) {
    memory = turnedMemory();
  } else if (width > 1) {
    group = trees.allocate(columns, true);
    total = trees.allocate(columns, false);
  }
  int last = static_cast<int>(space.parallel) - 1;
  columnRuns(blocks, [&](OpBuilder &b, ColumnRun &run) {
    Value size = constant(b, kRowTreeBlock);
    Value first = arith::MulIOp::create(b, loc, run.block, size), some = length;
    if (blocks)
      some = arith::MinSIOp::create(b, loc, arith::SubIOp::create(b, loc, length, first), size);
    auto done = [&](OpBuilder &c, const States &states, Position &column) {
      Value item = arith::AddIOp::create(c, loc, run.offset, column.loops[last]);
      finish(c, reducers, states, column, item, blocks);
    };
    if (width == 1)
      return strips(b, run.outer, last, 1, run.low, run.high, [&](OpBuilder &c, Position &column) {
        auto body = [&](OpBuilder &d, Value index, Value) {
          Position at = column;
          emitter->delinearize(d, index, space.parallel, space.count(), at);
          SmallVector<Value> values = pointValues(d, reducers, at);
          for (kernel::StoreOp store : pointStores(0))
            emitter->store(d, store, at);
          return values;
        };
        done(c, trees.rowBlock(c, first, some, body), column);
      });
    if (shape.turned) {
      ColumnTile tile{run, trees, reducers, group, total, run.low, run.high, first, some, memory};
      return loop(b, run.low, run.high, width, [&](OpBuilder &c, Value low) {
        Position column = run.outer;
        column.loops[last] = low;
        column.vectorLoop = last;
        column.width = width;
        emitter->maskLanes(c, column, run.high);
        done(c, turnedRows(c, tile, column), column);
      });
    }
    loop(b, run.low, run.high, columns, [&](OpBuilder &c, Value low) {
      Value high = arith::MinSIOp::create(
          c, loc, arith::AddIOp::create(c, loc, low, constant(c, columns)), run.high);
      ColumnTile tile{run, trees, reducers, group, total, low, high, first, some};
      columnTile(c, tile);
      auto strip = [&](OpBuilder &d, Position &column) {
        Value slot = arith::SubIOp::create(d, loc, column.loops[last], low);
        done(d, trees.restore(d, total, slot, column.width, false), column);
      };
      strips(c, run.outer, last, registerLanes(width), low, high, strip);
    });
  });
  close();
}

void CoreLowering::lowerColumnFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  if (width > 1)
    function->setAttr("graphc.counted", builder.getUnitAttr()); // once in many elements
  SmallVector<Reducer> reducers = reducersOfStage(0);
  Block *entry = &function.getBody().front();
  Value blocks = blockCount(builder);
  Value columns = emitter->emit(builder, space.product(0, space.parallel));
  int last = static_cast<int>(space.parallel) - 1;
  columnRuns(Value(), [&](OpBuilder &b, ColumnRun &run) {
    if (width > 1) {
      IndexMath m{b, loc};
      SharedFolds(module, loc)
          .columns(b, reducers, extraBuffers, m.add(run.offset, run.low),
                   m.add(run.offset, run.high), blocks, columns);
    }
    auto strip = [&](OpBuilder &c, Position &column) {
      TreeEmitter trees(entry, loc, reducers, column.width);
      Value item = arith::AddIOp::create(c, loc, run.offset, column.loops[last]);
      if (width > 1) {
        bind(reducers, loadPartials(c, reducers, extraBuffers, column, item), column, c);
        return storeRow(c, column);
      }
      States states = trees.foldRows(c, blocks, [&](OpBuilder &d, Value block) {
        Value at =
            arith::AddIOp::create(d, loc, item, arith::MulIOp::create(d, loc, block, columns));
        return loadPartials(d, reducers, extraBuffers, column, at);
      });
      bind(reducers, states, column, c);
      storeRow(c, column);
    };
    strips(b, run.outer, last, registerLanes(width), run.low, run.high, strip);
  });
  close();
}
