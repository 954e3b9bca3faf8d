// Running sums and products for groups of work-items: a group has a block of the tree of scans of
// docs/numerics.md, a work-item one group of 16 elements of it. Elements pass through local memory
// between neighbours in global memory and neighbours in the tree.
#include "compiler/passes/lower/HandedWords.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/Scans.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <optional>

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

constexpr int64_t kItems = kScanBlock / kScanGroup;
/// Groups whose results are read ahead of the one chain that adds them.
constexpr int64_t kChainAhead = 8;
/// How often the device's compiler repeats the body of that chain, and rounds that are written
/// together.
constexpr int64_t kChainSteps = 4, kWrittenTogether = 2;
/// Groups of block results that the fold has at once, and pieces of them that it reads ahead.
constexpr int64_t kFoldGroups = 4096, kFoldAhead = 4;
/// Whether a group of 16 is full is this bit of how many it has.
constexpr int64_t kGroupBits = 4;
/// Bytes that are read or written at once.
constexpr int64_t kWholeBytes = 16;

/// The local memory of a block: its elements, a gap after every group so that neighbouring
/// work-items use different banks, and a value a group.
class ScanMemory {
public:
  ScanMemory(Block *entry, kernel::ScanOp op, Value member, int64_t groups)
      : op(op), loc(op.getLoc()), member(member), groups(groups) {
    OpBuilder b = OpBuilder::atBlockBegin(entry);
    auto local = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    auto allocate = [&](int64_t count) {
      return memref::AllocaOp::create(
                 b, loc, MemRefType::get({count}, memoryType(op.getType()), AffineMap(), local))
          .getResult();
    };
    if (groups == kItems)
      elements = allocate(kScanBlock + kItems);
    totals = allocate(groups + kChainAhead);
  }

  Value combine(OpBuilder &b, Value earlier, Value later) {
    return combineScanned(b, op, earlier, later);
  }
  Value identity(OpBuilder &b) { return reductionIdentity(b, loc, op.getKind(), op.getType(), 1); }
  Value get(OpBuilder &b, Value memory, Value index) {
    Value raw = memref::LoadOp::create(b, loc, memory, index);
    return raw.getType() == op.getType()
               ? raw
               : graph::CastOp::create(b, loc, op.getType(), raw).getResult();
  }
  void set(OpBuilder &b, Value memory, Value index, Value value) {
    Type type = cast<MemRefType>(memory.getType()).getElementType();
    if (value.getType() != type)
      value = graph::CastOp::create(b, loc, type, value);
    memref::StoreOp::create(b, loc, value, memory, index);
  }
  /// A group's values as they follow each other from `start` on, some at once.
  SmallVector<Value> getAll(OpBuilder &b, Value memory, Value start, int64_t count = kScanGroup) {
    IndexMath m{b, loc};
    Type type = cast<MemRefType>(memory.getType()).getElementType();
    int64_t lanes = std::min(count, lanesOf(type));
    SmallVector<Value> all;
    for (int64_t i = 0; i < count; i += lanes) {
      Value some =
          vector::LoadOp::create(b, loc, VectorType::get({lanes}, type), memory, m.add(start, i),
                                 false, llvm::MaybeAlign(lanes * type.getIntOrFloatBitWidth() / 8));
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value raw = vector::ExtractOp::create(b, loc, some, lane);
        all.push_back(type == op.getType()
                          ? raw
                          : graph::CastOp::create(b, loc, op.getType(), raw).getResult());
      }
    }
    return all;
  }
  void setAll(OpBuilder &b, Value memory, Value start, ArrayRef<Value> values) {
    IndexMath m{b, loc};
    Type type = cast<MemRefType>(memory.getType()).getElementType();
    int64_t count = values.size(), lanes = std::min(count, lanesOf(type));
    for (int64_t i = 0; i < count; i += lanes) {
      SmallVector<Value> some;
      for (Value value : values.slice(i, lanes))
        some.push_back(value.getType() == type
                           ? value
                           : graph::CastOp::create(b, loc, type, value).getResult());
      Value whole = vector::FromElementsOp::create(b, loc, VectorType::get({lanes}, type), some);
      vector::StoreOp::create(b, loc, whole, memory, m.add(start, i), false,
                              llvm::MaybeAlign(lanes * type.getIntOrFloatBitWidth() / 8));
    }
  }
  static int64_t lanesOf(Type type) {
    return std::max<int64_t>(1, kWholeBytes * 8 / type.getIntOrFloatBitWidth());
  }
  Value place(OpBuilder &b, Value index) {
    IndexMath m{b, loc};
    return m.add(index, m.div(index, kScanGroup));
  }
  void barrier(OpBuilder &b) { gpu::BarrierOp::create(b, loc); }

  /// From elements in memory, which everybody has written, to each with those before it in its
  /// group, and of groups to what precedes them in the block. The block's result, for everybody.
  Value scan(OpBuilder &b) {
    IndexMath m{b, loc};
    barrier(b);
    Value first = m.mul(member, kScanGroup + 1);
    SmallVector<Value> y;
    for (int64_t i = 0; i < kScanGroup; ++i)
      y.push_back(get(b, elements, m.add(first, i)));
    doubleUp(b, op, y);
    for (auto [i, value] : llvm::enumerate(y))
      set(b, elements, m.add(first, i), value);
    set(b, totals, member, y.back());
    barrier(b);
    chain(b, identity(b), m(kItems));
    barrier(b);
    return get(b, totals, m(groups));
  }

  /// The first `count` groups in order, by one work-item: each group's result becomes what precedes
  /// the group, and what follows them all comes last. The next results are read while some are
  /// added.
  void chain(OpBuilder &b, Value carry, Value count) {
    IndexMath m{b, loc};
    auto one = scf::IfOp::create(b, loc, m.equal(member, m(0)), /*withElseRegion=*/false);
    OpBuilder c = one.getThenBodyBuilder();
    IndexMath n{c, loc};
    SmallVector<Value> state = {carry};
    state.append(getAll(c, totals, n(0), kChainAhead));
    auto steps = scf::ForOp::create(c, loc, n(0), count, n(kChainAhead), state);
    steps->setAttr(kUnrollAttr, c.getI64IntegerAttr(kChainSteps));
    OpBuilder d = OpBuilder::atBlockBegin(steps.getBody());
    IndexMath o{d, loc};
    Value start = steps.getInductionVar(), sum = steps.getRegionIterArgs()[0];
    SmallVector<Value> next =
        getAll(d, totals, o.min(o.add(start, kChainAhead), groups - kChainAhead), kChainAhead);
    SmallVector<Value> before;
    for (Value some : steps.getRegionIterArgs().drop_front()) {
      before.push_back(sum);
      sum = combine(d, sum, some);
    }
    setAll(d, totals, start, before);
    next.insert(next.begin(), sum);
    scf::YieldOp::create(d, loc, next);
    set(c, totals, n(groups), steps.getResult(0));
  }

  kernel::ScanOp op;
  Location loc;
  Value member, elements, totals;
  int64_t groups; ///< whose results the memory holds
};

/// What groups of one launch tell each other of a line: each block's result, and what precedes it,
/// which the line's own group finds out in the order of the tree whatever comes first.
class Handing : public HandedWords {
public:
  Handing(ScanMemory &block, Value state, Value items)
      : HandedWords(block.op, state, items), block(block), loc(block.loc) {}

  /// A block's result for what precedes it, by one work-item; everybody gets it.
  Value exchange(OpBuilder &b, Value item, Value total) {
    IndexMath m{b, loc};
    Value shared = m(block.groups), once = m.equal(block.member, m(0));
    OpBuilder c = scf::IfOp::create(b, loc, once, /*withElseRegion=*/false).getThenBodyBuilder();
    tell(c, Result, item, total);
    block.set(c, block.totals, shared, await(c, Before, item));
    block.barrier(b);
    return block.get(b, block.totals, shared);
  }

  /// A line's own group: looks at the next block results, and tells what precedes the blocks that
  /// follow those in front that are there; until that is all.
  void serve(OpBuilder &b, Value line, Value blocks) {
    OpBuilder entry = OpBuilder::atBlockBegin(block.elements.getParentBlock());
    auto local = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    auto type = MemRefType::get({2 * (kPlaces + kServed)}, b.getI32Type(), AffineMap(), local);
    counts = memref::AllocaOp::create(entry, loc, type);
    IndexMath m{b, loc};
    SmallVector<Value> start = {m(0), m(0), block.identity(b)};
    scf::WhileOp::create(
        b, loc, TypeRange(ValueRange(start)), start,
        [&](OpBuilder &c, Location, ValueRange at) {
          Value more;
          SmallVector<Value> next = round(c, line, blocks, at, more);
          scf::ConditionOp::create(c, loc, more, next);
        },
        [&](OpBuilder &c, Location, ValueRange at) { scf::YieldOp::create(c, loc, at); });
  }

private:
  /// Groups of 16 that are looked at in one round, a result a work-item. Memory for two rounds: who
  /// is late reads the one while others write the other.
  static constexpr int64_t kServed = kItems / kScanGroup, kPlaces = kItems + kServed;
  static constexpr int64_t kChainStep = 4;

  /// `at`: where the round begins, 0 or 1 for its memory, and what precedes it. Returns those of
  /// the next; `more`: whether there is one.
  SmallVector<Value> round(OpBuilder &b, Value line, Value blocks, ValueRange at, Value &more) {
    IndexMath m{b, loc};
    Value number = m.add(at[0], block.member), last = m.sub(blocks, m(1));
    Value memory = m.mul(at[1], kPlaces), sums = m.mul(at[1], kServed);
    Value own = m.add(memory, block.place(b, block.member));
    Value present = m.less(number, blocks);
    SmallVector<Value> seen = look(b, Result, m.add(line, m.min(number, last)));
    block.set(b, block.elements, own, valueOf(b, seen));
    Value told = m.both(isTold(b, seen), present);
    memref::StoreOp::create(b, loc, arith::ExtUIOp::create(b, loc, b.getI32Type(), told), counts,
                            own);
    block.barrier(b);
    auto some = scf::IfOp::create(b, loc, m.less(block.member, m(kServed)), false);
    OpBuilder c = some.getThenBodyBuilder();
    scanGroup(c, memory, sums);
    block.barrier(b);
    Value group = m.div(block.member, kScanGroup), zero = this->number(b, 0, 32);
    SmallVector<Value> chain = {at[2], at[2], at[2], this->number(b, 1, 32), zero, zero};
    auto steps = scf::ForOp::create(b, loc, m(0), m(kServed), m(kChainStep), chain);
    steps->setAttr(kUnrollAttr, b.getI64IntegerAttr(kServed / kChainStep));
    chainSteps(steps, sums, group);
    Value carry = steps.getResult(1), before = steps.getResult(2), whole = steps.getResult(4);
    auto wide = [&](Value x) -> Value {
      return arith::IndexCastOp::create(b, loc, b.getIndexType(), x);
    };
    Value reached = wide(steps.getResult(5));
    Value known = m.both(m.atLeast(reached, block.member), present);
    OpBuilder d = scf::IfOp::create(b, loc, known, false).getThenBodyBuilder();
    IndexMath n{d, loc};
    // The first of a group has no neighbour.
    Value leads = n.equal(n.mul(group, kScanGroup), block.member);
    Value neighbour = block.get(d, block.elements, n.max(n.sub(own, n(1)), 0));
    tell(d, Before, n.add(line, number),
         n.select(leads, before, block.combine(d, before, neighbour)));
    more = m.less(m.add(at[0], m.min(reached, kItems - 1)), last);
    return {m.add(at[0], m.mul(wide(whole), kScanGroup)), m.sub(m(1), at[1]), carry};
  }

  /// Everybody follows the chain, which is shorter than telling them: the sum so far, that of the
  /// groups in front that are full, what precedes the own group, whether all were full, how many
  /// were, and how many results there are in front.
  void chainSteps(scf::ForOp steps, Value sums, Value group) {
    OpBuilder b = OpBuilder::atBlockBegin(steps.getBody());
    IndexMath m{b, loc};
    Value sum = steps.getRegionIterArgs()[0], carry = steps.getRegionIterArgs()[1];
    Value before = steps.getRegionIterArgs()[2], open = steps.getRegionIterArgs()[3];
    Value whole = steps.getRegionIterArgs()[4], front = steps.getRegionIterArgs()[5];
    Value zero = number(b, 0, 32);
    for (int64_t i = 0; i < kChainStep; ++i) {
      Value step = m.add(steps.getInductionVar(), i), at = m.add(sums, step);
      before = m.select(m.equal(group, step), sum, before);
      sum = block.combine(b, sum, block.get(b, block.totals, at));
      Value there = memref::LoadOp::create(b, loc, counts, m.add(at, 2 * kPlaces));
      front = m.add(front, m.select(m.equal(open, zero), zero, there));
      open = m.both(open, arith::ShRUIOp::create(b, loc, there, number(b, kGroupBits, 32)));
      carry = m.select(m.equal(open, zero), carry, sum);
      whole = m.add(whole, open);
    }
    scf::YieldOp::create(b, loc, ValueRange{sum, carry, before, open, whole, front});
  }

  /// A work-item's group: each result with those before it, and how many are there in front.
  void scanGroup(OpBuilder &b, Value memory, Value sums) {
    IndexMath m{b, loc};
    Value first = m.add(memory, m.mul(block.member, kScanGroup + 1));
    Value all = number(b, 1, 32), there = number(b, 0, 32);
    SmallVector<Value> y;
    for (int64_t i = 0; i < kScanGroup; ++i) {
      Value at = m.add(first, i);
      all = m.both(all, memref::LoadOp::create(b, loc, counts, at));
      there = m.add(there, all);
      y.push_back(block.get(b, block.elements, at));
    }
    doubleUp(b, block.op, y);
    for (auto [i, value] : llvm::enumerate(y))
      block.set(b, block.elements, m.add(first, i), value);
    Value at = m.add(sums, block.member);
    block.set(b, block.totals, at, y.back());
    memref::StoreOp::create(b, loc, there, counts, m.add(at, 2 * kPlaces));
  }

  ScanMemory &block;
  Location loc;
  Value counts;
};

} // namespace

/// The launches of a scan: `k` has the function that is open.
struct GroupLowering::GroupScan {
  explicit GroupScan(GroupLowering &lowering)
      : k(lowering), loc(lowering.loc), op(scanOf(lowering.kernel)) {}

  /// Block results, or (`stores`) values.
  void pass(StringRef name, bool stores);
  void fold();
  void clear();

private:
  Value split(ScanMemory &block, Value blocks);
  std::pair<Position, Value> round(OpBuilder &b, Value start, bool whole);
  void read(OpBuilder &b, ScanMemory &block, bool whole);
  void write(OpBuilder &b, ScanMemory &block, Value before, bool whole);
  void turns(OpBuilder &b, int64_t together, llvm::function_ref<void(OpBuilder &, Value)> body);
  void chooseWhole(llvm::function_ref<void(OpBuilder &, bool)> body);

  GroupLowering &k;
  Location loc;
  kernel::ScanOp op;
  std::optional<Handing> handing;
  Value item, several; ///< the block's number of all, and whether a line has several
  Value first, end;    ///< elements of the line that the block has
  Position row;
};

/// A round in which the group reads or writes neighbours, from element `start` of the block on: the
/// position of this work-item's lanes, and the first one's number in the block.
std::pair<Position, Value> GroupLowering::GroupScan::round(OpBuilder &b, Value start, bool whole) {
  IndexMath m{b, loc};
  unsigned along = k.space.parallel;
  Value inner = m.add(m.mul(k.member, k.width), start);
  Position at = row;
  at.loops[along] = m.add(first, inner);
  at.vectorLoop = static_cast<int>(along);
  at.width = k.width;
  at.aligned = whole;
  if (!whole)
    k.emitter->maskLanes(b, at, end);
  return {at, inner};
}

/// A body for whole and aligned blocks, whose rounds need no masks, so that all loads wait
/// together; and one for any.
void GroupLowering::GroupScan::chooseWhole(llvm::function_ref<void(OpBuilder &, bool)> body) {
  if (k.width == 1)
    return body(k.builder, false);
  IndexMath m{k.builder, loc};
  Value whole = m.equal(m.sub(end, first), m(kScanBlock));
  if (Value aligned = k.alignedSizes(k.builder, static_cast<int>(k.space.parallel), k.width, {}))
    whole = m.both(whole, aligned);
  auto choice = scf::IfOp::create(k.builder, loc, whole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  body(yes, true);
  body(no, false);
}

/// Which block of which line the group has; the line is returned. A line of several blocks whose
/// results are handed on has a group of its own before them: what follows is for the others.
Value GroupLowering::GroupScan::split(ScanMemory &block, Value blocks) {
  IndexMath m{k.builder, loc};
  several = m.less(m(1), blocks);
  Value own = k.shape.handedWords ? m.select(several, m(1), m(0)) : m(0);
  Value groups = m.add(blocks, own);
  Value line = k.space.parallel ? m.div(k.begin, groups) : m(0);
  Value part = m.sub(k.begin, m.mul(line, groups)), before = m.mul(line, blocks);
  if (k.shape.handedWords) {
    Value items = m.mul(blocks, k.emitter->emit(k.builder, k.space.items()));
    handing.emplace(block, k.extraBuffers[0], items);
    Value serves = m.both(several, m.equal(part, m(0)));
    auto choice = scf::IfOp::create(k.builder, loc, serves, /*withElseRegion=*/true);
    OpBuilder b = choice.getThenBodyBuilder();
    handing->serve(b, before, blocks);
    k.builder = choice.getElseBodyBuilder();
  }
  IndexMath n{k.builder, loc};
  part = n.sub(part, own);
  item = n.add(before, part);
  first = n.mul(part, kScanBlock);
  end = n.min(n.add(first, kScanBlock), end);
  return line;
}

/// All loads of a whole block wait together.
void GroupLowering::GroupScan::read(OpBuilder &b, ScanMemory &block, bool whole) {
  SmallVector<std::pair<Value, Value>> waiting;
  auto load = [&](OpBuilder &c, Value start) {
    auto [at, inner] = round(c, start, whole);
    IndexMath m{c, loc};
    Value &along = at.loops[k.space.parallel];
    if (k.width == 1) // without a mask
      along = m.min(along, m.sub(end, m(1)));
    Value x = BodyEmitter::splat(c, loc, k.emitter->value(c, op.getValue(), at), k.width);
    waiting.push_back({x, inner});
  };
  auto keep = [&](OpBuilder &c) {
    for (auto [x, inner] : waiting)
      for (int64_t lane = 0; lane < k.width; ++lane) {
        Value element = k.width == 1 ? x : vector::ExtractOp::create(c, loc, x, lane).getResult();
        block.set(c, block.elements, block.place(c, IndexMath{c, loc}.add(inner, lane)), element);
      }
  };
  if (!whole && k.width > 1) {
    turns(b, 1, [&](OpBuilder &c, Value start) {
      load(c, start);
      keep(c);
    });
    return;
  }
  for (int64_t start = 0; start < kScanBlock; start += kItems * k.width)
    load(b, IndexMath{b, loc}(start));
  keep(b);
}

/// The rounds of a block, `together` at once: registers are other groups' room.
void GroupLowering::GroupScan::turns(OpBuilder &b, int64_t together,
                                     llvm::function_ref<void(OpBuilder &, Value)> body) {
  IndexMath m{b, loc};
  auto loop = scf::ForOp::create(b, loc, m(0), m(kScanBlock), m(kItems * k.width));
  loop->setAttr(kUnrollAttr, b.getI64IntegerAttr(together));
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  body(c, loop.getInductionVar());
}

void GroupLowering::GroupScan::write(OpBuilder &outside, ScanMemory &block, Value before,
                                     bool whole) {
  turns(outside, kWrittenTogether, [&](OpBuilder &b, Value start) {
    auto [at, inner] = round(b, start, whole);
    IndexMath m{b, loc};
    // Lanes are of one group.
    Value earlier = block.get(b, block.totals, m.div(inner, kScanGroup));
    SmallVector<Value> parts;
    for (int64_t lane = 0; lane < k.width; ++lane) {
      Value y = block.get(b, block.elements, block.place(b, m.add(inner, lane)));
      y = block.combine(b, earlier, y);
      parts.push_back(before ? block.combine(b, before, y) : y);
    }
    Value y = parts[0];
    if (k.width > 1)
      y = vector::FromElementsOp::create(b, loc, VectorType::get({k.width}, op.getType()), parts);
    at.values[op.getResult()] = y;
    OpBuilder inside = b;
    if (!whole)
      inside = scf::IfOp::create(b, loc, m.less(at.loops[k.space.parallel], end),
                                 /*withElseRegion=*/false)
                   .getThenBodyBuilder();
    for (kernel::StoreOp store : k.stores)
      k.emitter->store(inside, store, at);
  });
}

void GroupLowering::GroupScan::pass(StringRef name, bool stores) {
  k.open(name, k.shape.partials);
  OpBuilder outside = k.builder;
  ScanMemory block(&k.function.getBody().front(), op, k.member, kItems);
  IndexMath m{k.builder, loc};
  end = k.emitter->emit(k.builder, k.space.reducedItems());
  first = m(0);
  item = k.begin;
  Value blocks = k.blockCount(k.builder), line = blocks ? split(block, blocks) : k.begin;
  row = k.position();
  if (k.space.parallel)
    k.emitter->delinearize(k.builder, line, 0, k.space.parallel, row);
  k.rowValues(k.builder, row, 0);
  chooseWhole([&](OpBuilder &b, bool whole) { read(b, block, whole); });
  Value total = block.scan(k.builder);
  IndexMath n{k.builder, loc};
  if (!stores) {
    auto once = scf::IfOp::create(k.builder, loc, n.equal(k.member, n(0)), false);
    OpBuilder b = once.getThenBodyBuilder();
    block.set(b, k.extraBuffers[0], item, total);
    return k.close();
  }
  Value before;
  if (blocks) {
    auto choice = scf::IfOp::create(k.builder, loc, TypeRange(op.getType()), several,
                                    /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc,
                         handing ? handing->exchange(yes, item, total)
                                 : block.get(yes, k.extraBuffers[0], item));
    scf::YieldOp::create(no, loc, block.identity(no));
    before = choice.getResult(0);
  }
  chooseWhole([&](OpBuilder &b, bool whole) { write(b, block, before, whole); });
  k.builder = outside;
  k.close();
}

/// Nobody has told anything.
void GroupLowering::GroupScan::clear() {
  k.open((k.kernel.getSymName() + "_clear").str(), k.shape.partials);
  IndexMath m{k.builder, loc};
  Value words = m.mul(k.blockCount(k.builder), k.emitter->emit(k.builder, k.space.items()));
  Value word = m.add(m.mul(k.begin, k.shape.group), k.member);
  Value present = m.less(word, m.mul(words, k.shape.handedWords));
  OpBuilder b = scf::IfOp::create(k.builder, loc, present, false).getThenBodyBuilder();
  Value none = arith::ConstantIntOp::create(b, loc, 0, 64);
  memref::StoreOp::create(b, loc, none, k.extraBuffers[0], word);
  k.close();
}

/// Results of a row's blocks become what precedes each of them: their scan, one place later. A
/// work-item has groups of 16 of them; only the groups' results go through one chain.
void GroupLowering::GroupScan::fold() {
  k.open((k.kernel.getSymName() + "_fold").str(), k.shape.partials);
  OpBuilder &builder = k.builder;
  Value member = k.member;
  ScanMemory block(&k.function.getBody().front(), op, member, kFoldGroups);
  IndexMath m{builder, loc};
  Value blocks = k.blockCount(builder), line = m.mul(k.begin, blocks), partial = k.extraBuffers[0];
  auto parts = scf::ForOp::create(builder, loc, m(0), blocks, m(kFoldGroups * kScanGroup),
                                  ValueRange(block.identity(builder)));
  OpBuilder b = OpBuilder::atBlockBegin(parts.getBody());
  IndexMath n{b, loc};
  Value first = parts.getInductionVar(), last = n.sub(blocks, n(1));
  Value left = n.min(n.sub(blocks, first), kFoldGroups * kScanGroup);
  Value groups = n.ceilDiv(left, kScanGroup);
  // Groups that are full and aligned come first; of the others there is one, where rows are.
  Value rest = arith::RemUIOp::create(b, loc, line, n(kScanGroup));
  Value whole = n.select(n.equal(rest, n(0)), n.div(left, kScanGroup), n(0));
  using Body = llvm::function_ref<void(OpBuilder &, Value, Value, ArrayRef<Value>, bool)>;
  auto some = [&](Value from, Value to, bool isWhole, Body body) {
    auto loop = scf::ForOp::create(b, loc, from, to, n(kItems));
    loop->setAttr(kUnrollAttr, b.getI64IntegerAttr(isWhole ? kFoldAhead : 1));
    OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
    IndexMath o{c, loc};
    Value group = loop.getInductionVar(), start = o.add(first, o.mul(group, kScanGroup));
    SmallVector<Value> y;
    if (isWhole)
      y = block.getAll(c, partial, o.add(line, start));
    for (int64_t i = 0; !isWhole && i < kScanGroup; ++i)
      y.push_back(block.get(c, partial, o.add(line, o.min(o.add(start, i), last))));
    doubleUp(c, block.op, y);
    body(c, group, start, y, isWhole);
  };
  auto each = [&](Body body) {
    some(member, whole, true, body);
    some(n.add(whole, member), groups, false, body);
  };
  each([&](OpBuilder &c, Value group, Value, ArrayRef<Value> y, bool) {
    block.set(c, block.totals, group, y.back());
  });
  block.barrier(b);
  block.chain(b, parts.getRegionIterArgs()[0], groups);
  block.barrier(b);
  each([&](OpBuilder &c, Value group, Value start, ArrayRef<Value> y, bool isWhole) {
    IndexMath o{c, loc};
    Value before = block.get(c, block.totals, group);
    if (isWhole) {
      SmallVector<Value> all = {before};
      for (Value value : y.drop_back())
        all.push_back(block.combine(c, before, value));
      return block.setAll(c, partial, o.add(line, start), all);
    }
    for (int64_t i = 0; i < kScanGroup; ++i) {
      Value at = o.add(start, i);
      auto present = scf::IfOp::create(c, loc, o.less(at, blocks), /*withElseRegion=*/false);
      OpBuilder d = present.getThenBodyBuilder();
      block.set(d, partial, IndexMath{d, loc}.add(line, at),
                i ? block.combine(d, before, y[i - 1]) : before);
    }
  });
  Value total = block.get(b, block.totals, n(kFoldGroups));
  block.barrier(b);
  scf::YieldOp::create(b, loc, total);
  k.close();
}

void GroupLowering::lowerScan() {
  GroupScan scan(*this);
  scan.pass(kernel.getSymName(), true);
  if (shape.handedWords)
    return scan.clear();
  if (shape.splitBlock == 0)
    return;
  scan.pass((kernel.getSymName() + "_blocks").str(), false);
  scan.fold();
}
