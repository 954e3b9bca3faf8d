// Running sums and products along neighbouring elements in one pass, where pieces of a launch begin
// in order: they tell each other their blocks' results.
#include "compiler/passes/lower/HandedWords.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/core/ScanLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// What a piece keeps of its blocks until it knows what precedes them: a part of the second cache.
constexpr int64_t kKeptBytes = int64_t{128} << 10;
/// Short waits between two looks at what another thread is about to tell, until the core is offered
/// to it, which may need it to go on.
constexpr int64_t kPauses = 16;

} // namespace

/// A group's values at `place` of their block.
void CoreLowering::ScanLoop::keep(OpBuilder &b, Value y, Value place) {
  Type element = cast<MemRefType>(kept.getType()).getElementType();
  int64_t lanes = cast<VectorType>(y.getType()).getNumElements();
  if (auto type = VectorType::get({lanes}, element); y.getType() != type)
    y = graph::CastOp::create(b, op.getLoc(), type, y);
  vector::StoreOp::create(b, op.getLoc(), y, kept, IndexMath{b, op.getLoc()}.add(keptFirst, place));
}

Value CoreLowering::ScanLoop::recall(OpBuilder &b, Value place, int64_t lanes) {
  Type element = cast<MemRefType>(kept.getType()).getElementType();
  Value raw = vector::LoadOp::create(b, op.getLoc(), VectorType::get({lanes}, element), kept,
                                     IndexMath{b, op.getLoc()}.add(keptFirst, place));
  auto type = VectorType::get({lanes}, op.getType());
  return raw.getType() == type ? raw : graph::CastOp::create(b, op.getLoc(), type, raw).getResult();
}

/// Stores a block's values that have waited for what precedes it.
void CoreLowering::ScanLoop::storeKept(CoreLowering &l, OpBuilder &b) {
  Location loc = op.getLoc();
  unsigned along = l.space.parallel;
  auto lanes = [&](OpBuilder &c, Value place, int64_t width, Value limit) {
    Position at = row;
    at.loops[along] = IndexMath{c, loc}.add(first, place);
    at.vectorLoop = static_cast<int>(along);
    at.width = width;
    if (limit)
      l.emitter->maskLanes(c, at, limit);
    store(l, c, at, complete(c, recall(c, place, width)));
  };
  IndexMath m{b, loc};
  int64_t wide = kRegistersTogether * l.registerLanes(kScanGroup);
  Value whole = m.mul(m.div(length, m(wide)), wide), end = m.add(first, length);
  l.loop(b, m(0), whole, wide, [&](OpBuilder &c, Value place) { lanes(c, place, wide, Value()); });
  l.loop(b, whole, length, kScanGroup,
         [&](OpBuilder &c, Value place) { lanes(c, place, kScanGroup, end); });
}

/// What pieces of a scan tell each other, and how one of them waits. A piece looks at what others
/// told once; from there on it follows the tree of its own blocks' results.
class CoreLowering::ScanLoop::Ordered {
public:
  /// Scratch memory, at its beginning: an address, a group of results, each with those before it,
  /// and the results of a piece.
  static constexpr int64_t kAddressBytes = 64, kGroupBytes = kScanGroup * sizeof(int64_t);
  static constexpr int64_t kBytes = kAddressBytes + 3 * kGroupBytes;

  Ordered(CoreLowering &l, kernel::ScanOp op, int64_t piece)
      : l(l), op(op), loc(op.getLoc()), type(memoryType(op.getType())),
        words(op, l.extraBuffers[0]), piece(piece),
        length(l.emitter->emit(l.builder, l.space.reducedItems())), blocks(l.blockCount(l.builder)),
        yields(l.scratchView(l.builder.getI64Type(), 0, 1)),
        group(l.scratchView(type, kAddressBytes, kScanGroup)),
        doubled(l.scratchView(type, kAddressBytes + kGroupBytes, kScanGroup)),
        totals(l.scratchView(type, kAddressBytes + 2 * kGroupBytes, kScanGroup)),
        kept(l.scratchView(type, kBytes, piece * kScanBlock)) {}

  /// What one call does. A line of one block waits for nothing.
  void lower() {
    OpBuilder &b = l.builder;
    Value isLong = IndexMath{b, loc}.less(IndexMath{b, loc}(1), blocks);
    auto choice = scf::IfOp::create(b, loc, isLong, /*withElseRegion=*/true);
    OpBuilder several = choice.getThenBodyBuilder(), one = choice.getElseBodyBuilder();
    l.loop(one, l.begin, l.end, 1, [&](OpBuilder &c, Value item) {
      blockAt(c, item, /*isLong=*/false).scan.vectors(l, c);
    });
    auto how = scf::IfOp::create(several, loc, knows(several), /*withElseRegion=*/true);
    storeScanned(how.getThenBodyBuilder());
    scanThenStore(how.getElseBodyBuilder());
  }

private:
  struct Block {
    ScanLoop scan;
    Value item, number; ///< of all blocks, and of its line's
  };
  Block blockAt(OpBuilder &b, Value item, bool isLong = true) {
    IndexMath m{b, loc};
    ScanLoop scan{op, true, l.position(), {}, {}, {}, {}, {}, {}, isLong};
    Value line = l.space.parallel ? m.div(item, blocks) : m(0);
    Value number = m.sub(item, m.mul(line, blocks));
    scan.first = m.mul(number, kScanBlock);
    scan.length = m.min(m.sub(length, scan.first), kScanBlock);
    if (l.space.parallel)
      l.emitter->delinearize(b, line, 0, l.space.parallel, scan.row);
    l.rowValues(b, scan.row, 0);
    return {scan, item, number};
  }
  Block keptAt(OpBuilder &b, Value item) {
    IndexMath m{b, loc};
    Block at = blockAt(b, item);
    at.scan.kept = kept;
    at.scan.keptFirst = m.mul(m.sub(item, l.begin), kScanBlock);
    return at;
  }

  /// Who begins with a line, or has more than a piece, knows what precedes each of its blocks; and
  /// who finds that others have told it.
  Value knows(OpBuilder &b) {
    IndexMath m{b, loc};
    Value first = arith::RemUIOp::create(b, loc, l.begin, blocks);
    Value sure = m.either(m.less(m(piece), m.sub(l.end, l.begin)), m.equal(first, m(0)));
    auto asks = scf::IfOp::create(b, loc, TypeRange(b.getI1Type()), sure, /*withElseRegion=*/true);
    OpBuilder yes = asks.getThenBodyBuilder(), no = asks.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, sure);
    scf::YieldOp::create(no, loc, isTold(no, l.begin, first));
    return asks.getResult(0);
  }

  /// Blocks one after the other, by where the call is in the tree.
  void eachInOrder(OpBuilder b, llvm::function_ref<Block(OpBuilder &, Value)> place,
                   llvm::function_ref<void(OpBuilder &, Block &)> body) {
    Value by = IndexMath{b, loc}(1);
    auto items = scf::ForOp::create(b, loc, l.begin, l.end, by, start(b));
    OpBuilder c = OpBuilder::atBlockBegin(items.getBody());
    Block at = place(c, items.getInductionVar());
    SmallVector<Value> state = next(c, items.getRegionIterArgs(), at);
    at.scan.before = state[2];
    body(c, at);
    scf::YieldOp::create(c, loc, state);
  }
  void storeScanned(OpBuilder b) {
    auto place = [&](OpBuilder &c, Value item) { return blockAt(c, item); };
    eachInOrder(b, place, [&](OpBuilder &c, Block &at) {
      at.scan.vectors(l, c);
      keepResult(c, at.item, at.scan.total);
      tellResult(c, at.item);
    });
  }
  /// All blocks are scanned, so that others get on, before it waits for what precedes them.
  void scanThenStore(OpBuilder b) {
    l.loop(b, l.begin, l.end, 1, [&](OpBuilder &c, Value item) {
      Block at = keptAt(c, item);
      at.scan.vectors(l, c);
      keepResult(c, item, at.scan.total);
    });
    // Together: they share lines of memory that others look at.
    l.loop(b, l.begin, l.end, 1, [&](OpBuilder &c, Value item) { tellResult(c, item); });
    auto place = [&](OpBuilder &c, Value item) { return keptAt(c, item); };
    eachInOrder(b, place, [&](OpBuilder &c, Block &at) { at.scan.storeKept(l, c); });
  }

  /// Of a block, until as many others have been kept as a piece has.
  void keepResult(OpBuilder &b, Value item, Value total) { set(b, totals, place(b, item), total); }
  void tellResult(OpBuilder &b, Value item) {
    words.tell(b, HandedWords::Result, item, get(b, totals, place(b, item)));
  }

  /// Where a piece is in the tree: what precedes the group of the block before, how many of that
  /// group's results are known, and what precedes that block.
  SmallVector<Value> start(OpBuilder &b) {
    Value none = scanIdentity(b, op, 1);
    return {none, IndexMath{b, loc}(0), none};
  }
  /// The same for the next block.
  SmallVector<Value> next(OpBuilder &b, ValueRange state, const Block &at) {
    IndexMath m{b, loc};
    Value item = at.item, block = at.number, leads = m.equal(item, l.begin);
    SmallVector<Value> begin = start(b);
    auto choose = [&](OpBuilder &c, Value condition, auto yes, auto no) {
      auto choice = scf::IfOp::create(c, loc, state.getTypes(), condition, /*withElseRegion=*/true);
      OpBuilder then = choice.getThenBodyBuilder(), otherwise = choice.getElseBodyBuilder();
      scf::YieldOp::create(then, loc, yes(then));
      scf::YieldOp::create(otherwise, loc, no(otherwise));
      return SmallVector<Value>(choice.getResults());
    };
    return choose(
        b, m.equal(block, m(0)), [&](OpBuilder &) { return begin; },
        [&](OpBuilder &c) {
          IndexMath n{c, loc};
          SmallVector<Value> known = choose(
              c, leads, [&](OpBuilder &d) { return look(d, item, block); },
              [&](OpBuilder &d) { return follow(d, state, item); });
          known[2] = combineScanned(c, op, known[0], last(c, known[1]));
          Value whole = n.equal(known[1], n(kScanGroup));
          OpBuilder d =
              scf::IfOp::create(c, loc, whole, /*withElseRegion=*/false).getThenBodyBuilder();
          words.tell(d, HandedWords::Before, item, known[2]);
          return known;
        });
  }

  /// Whether all that look() would wait for has been told.
  Value isTold(OpBuilder &b, Value item, Value block) {
    IndexMath m{b, loc};
    auto [count, start] = groupBefore(b, item, block);
    auto told = [&](OpBuilder &c, HandedWords::Part part, Value of) {
      return words.isTold(c, words.look(c, part, of));
    };
    Value alone = m.equal(count, block);
    auto several = scf::IfOp::create(b, loc, TypeRange(b.getI1Type()), alone,
                                     /*withElseRegion=*/true);
    OpBuilder yes = several.getThenBodyBuilder(), no = several.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, alone);
    scf::YieldOp::create(no, loc, told(no, HandedWords::Before, start));
    auto each = scf::ForOp::create(b, loc, m(0), count, m(1), several.getResult(0));
    OpBuilder c = OpBuilder::atBlockBegin(each.getBody());
    IndexMath n{c, loc};
    Value one = told(c, HandedWords::Result, n.add(start, each.getInductionVar()));
    scf::YieldOp::create(c, loc, n.both(each.getRegionIterArgs()[0], one));
    return each.getResult(0);
  }

  Value place(OpBuilder &b, Value item) {
    IndexMath m{b, loc};
    return m.both(item, m(piece - 1));
  }

  /// Of the group of blocks that the one before is in: how many there are up to it, and the first.
  std::pair<Value, Value> groupBefore(OpBuilder &b, Value item, Value block) {
    IndexMath m{b, loc};
    Value last = m.sub(block, m(1)), first = m.mul(m.div(last, kScanGroup), kScanGroup);
    Value count = m.sub(block, first);
    return {count, m.sub(item, count)};
  }

  /// By what others told of the group of blocks that the one before is in, and of what precedes the
  /// first of them.
  SmallVector<Value> look(OpBuilder &b, Value item, Value block) {
    IndexMath m{b, loc};
    auto [count, start] = groupBefore(b, item, block);
    auto each = scf::ForOp::create(b, loc, m(0), count, m(1));
    OpBuilder c = OpBuilder::atBlockBegin(each.getBody());
    Value number = each.getInductionVar();
    set(c, group, number, await(c, HandedWords::Result, IndexMath{c, loc}.add(start, number)));
    auto several = scf::IfOp::create(b, loc, TypeRange(op.getType()), m.less(count, block),
                                     /*withElseRegion=*/true);
    OpBuilder yes = several.getThenBodyBuilder(), no = several.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, await(yes, HandedWords::Before, start));
    scf::YieldOp::create(no, loc, scanIdentity(no, op, 1));
    Value carry = several.getResult(0);
    return {carry, count, carry};
  }

  /// By the result of the block before, which the caller has kept. It may begin a group.
  SmallVector<Value> follow(OpBuilder &b, ValueRange state, Value item) {
    IndexMath m{b, loc};
    Value begins = m.equal(state[1], m(kScanGroup));
    Value carry = m.select(begins, state[2], state[0]), count = m.select(begins, m(0), state[1]);
    set(b, group, count, get(b, totals, place(b, m.sub(item, m(1)))));
    return {carry, m.add(count, 1), carry};
  }

  /// What the first `count` results of the group are together.
  Value last(OpBuilder &b, Value count) {
    IndexMath m{b, loc};
    auto lanes = VectorType::get({kScanGroup}, type);
    // Those that hold no result come last, and are looked at by nobody.
    Value all = as(b, vector::LoadOp::create(b, loc, lanes, group, m(0)),
                   VectorType::get({kScanGroup}, op.getType()));
    doubleLanes(b, op, all);
    vector::StoreOp::create(b, loc, as(b, all, lanes), doubled, m(0));
    return get(b, doubled, m.sub(count, m(1)));
  }

  Value get(OpBuilder &b, Value memory, Value index) {
    return as(b, memref::LoadOp::create(b, loc, memory, index), op.getType());
  }
  void set(OpBuilder &b, Value memory, Value index, Value value) {
    memref::StoreOp::create(b, loc, as(b, value, type), memory, index);
  }
  Value as(OpBuilder &b, Value value, Type wanted) {
    return value.getType() == wanted ? value
                                     : graph::CastOp::create(b, loc, wanted, value).getResult();
  }

  Value await(OpBuilder &b, HandedWords::Part part, Value item) {
    return words.await(b, part, item, [&](OpBuilder &c) {
      IndexMath m{c, loc};
      auto pauses = scf::ForOp::create(c, loc, m(0), m(kPauses), m(1));
      OpBuilder d = OpBuilder::atBlockBegin(pauses.getBody());
      LLVM::CallIntrinsicOp::create(d, loc, d.getStringAttr("llvm.x86.sse2.pause"), ValueRange());
      Value address = memref::LoadOp::create(c, loc, yields, m(0));
      auto pointer = LLVM::LLVMPointerType::get(c.getContext());
      Value function = LLVM::IntToPtrOp::create(c, loc, pointer, address);
      auto type =
          LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(c.getContext()), ArrayRef<Type>());
      LLVM::CallOp::create(c, loc, type, function);
    });
  }

  CoreLowering &l;
  kernel::ScanOp op;
  Location loc;
  Type type; ///< of values in memory
  HandedWords words;
  int64_t piece; ///< blocks whose results are kept, a power of two
  Value length, blocks;
  Value yields; ///< memory of the address of what lets another thread have the core
  Value group, doubled, totals, kept;
};

/// Items in pieces, which wait for what others tell of the blocks before them.
void CoreLowering::ScanLoop::lowerOrdered(CoreLowering &l) {
  kernel::ScanOp op = scanOf(l.kernel);
  Location loc = op.getLoc();
  int64_t bits = memoryType(op.getType()).getIntOrFloatBitWidth();
  int64_t bytes = std::max<int64_t>(1, bits / 8);
  int64_t piece = std::clamp<int64_t>(kKeptBytes / (kScanBlock * bytes), 2, 8);
  l.open(l.kernel.getSymName(), l.shape.partials, Ordered::kBytes + piece * kScanBlock * bytes);
  l.function->setAttr("graphc.piece", l.builder.getI64IntegerAttr(piece));
  Ordered(l, op, piece).lower();
  l.close();
  // Nobody has told anything.
  l.open((l.kernel.getSymName() + "_clear").str(), l.shape.partials);
  Value none = arith::ConstantIntOp::create(l.builder, loc, 0, 64);
  l.loop(l.builder, l.begin, l.end, 1, [&](OpBuilder &b, Value word) {
    memref::StoreOp::create(b, loc, none, l.extraBuffers[0], word);
  });
  l.close();
}
