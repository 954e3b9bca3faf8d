// Running sums and products for groups of work-items: a group has a block of the tree of scans of
// docs/numerics.md, a work-item one group of 16 elements of it. Elements pass through local memory
// between neighbours in global memory and neighbours in the tree.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

constexpr int64_t kItems = kScanBlock / kScanGroup;
/// Groups whose results are read ahead of the one chain that adds them.
constexpr int64_t kChainAhead = 16;
/// Groups of block results that the fold has at once, and pieces of them that it reads ahead.
constexpr int64_t kFoldGroups = 4096, kFoldAhead = 4;
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
    totals = allocate(groups + 1);
  }

  Value combine(OpBuilder &b, Value earlier, Value later) {
    if (op.getKind() == graph::ReduceKind::Sum)
      return graph::AddOp::create(b, loc, op.getType(), earlier, later);
    return graph::MulOp::create(b, loc, op.getType(), earlier, later);
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
  SmallVector<Value> getAll(OpBuilder &b, Value memory, Value start) {
    IndexMath m{b, loc};
    Type type = cast<MemRefType>(memory.getType()).getElementType();
    int64_t lanes = lanesOf(type);
    SmallVector<Value> all;
    for (int64_t i = 0; i < kScanGroup; i += lanes) {
      Value some = vector::LoadOp::create(b, loc, VectorType::get({lanes}, type), memory,
                                          m.add(start, i), false, llvm::MaybeAlign(kWholeBytes));
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
    int64_t lanes = lanesOf(type);
    for (int64_t i = 0; i < kScanGroup; i += lanes) {
      SmallVector<Value> some;
      for (Value value : values.slice(i, lanes))
        some.push_back(value.getType() == type
                           ? value
                           : graph::CastOp::create(b, loc, type, value).getResult());
      Value whole = vector::FromElementsOp::create(b, loc, VectorType::get({lanes}, type), some);
      vector::StoreOp::create(b, loc, whole, memory, m.add(start, i), false,
                              llvm::MaybeAlign(kWholeBytes));
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

  /// Every element of a group with those before it: 1, 2, 4, 8 apart, last first.
  void doubleUp(OpBuilder &b, SmallVectorImpl<Value> &y) {
    for (int64_t apart = 1; apart < kScanGroup; apart *= 2)
      for (int64_t i = kScanGroup; i-- > apart;)
        y[i] = combine(b, y[i - apart], y[i]);
  }

  /// From elements in memory, which everybody has written, to the results of this work-item's group
  /// within the block: what precedes the block is `carry`. `total` becomes the block's result.
  SmallVector<Value> scan(OpBuilder &b, Value carry, Value &total) {
    IndexMath m{b, loc};
    barrier(b);
    Value first = m.mul(member, kScanGroup + 1);
    SmallVector<Value> y;
    for (int64_t i = 0; i < kScanGroup; ++i)
      y.push_back(get(b, elements, m.add(first, i)));
    doubleUp(b, y);
    set(b, totals, member, y.back());
    barrier(b);
    chain(b, carry, m(kItems));
    barrier(b);
    Value before = get(b, totals, member);
    for (Value &value : y)
      value = combine(b, before, value);
    total = get(b, totals, m(groups));
    return y;
  }

  void keep(OpBuilder &b, ArrayRef<Value> y) {
    IndexMath m{b, loc};
    Value first = m.mul(member, kScanGroup + 1);
    for (auto [i, value] : llvm::enumerate(y))
      set(b, elements, m.add(first, i), value);
    barrier(b);
  }

  /// The first `count` groups in order, by one work-item: each group's result becomes what precedes
  /// the group, and what follows them all comes last.
  void chain(OpBuilder &b, Value carry, Value count) {
    IndexMath m{b, loc};
    auto one = scf::IfOp::create(b, loc, m.equal(member, m(0)), /*withElseRegion=*/false);
    OpBuilder c = one.getThenBodyBuilder();
    IndexMath n{c, loc};
    auto steps = scf::ForOp::create(c, loc, n(0), count, n(kChainAhead), ValueRange(carry));
    OpBuilder d = OpBuilder::atBlockBegin(steps.getBody());
    IndexMath o{d, loc};
    Value sum = steps.getRegionIterArgs()[0];
    SmallVector<Value> next;
    for (int64_t i = 0; i < kChainAhead; ++i)
      next.push_back(get(d, totals, o.add(steps.getInductionVar(), i)));
    for (int64_t i = 0; i < kChainAhead; ++i) {
      set(d, totals, o.add(steps.getInductionVar(), i), sum);
      sum = combine(d, sum, next[i]);
    }
    scf::YieldOp::create(d, loc, sum);
    set(c, totals, n(groups), steps.getResult(0));
  }

  kernel::ScanOp op;
  Location loc;
  Value member, elements, totals;
  int64_t groups; ///< whose results the memory holds
};

kernel::ScanOp scanOf(kernel::FuncOp kernel) {
  kernel::ScanOp found;
  kernel.getBody().walk([&](kernel::ScanOp op) { found = op; });
  return found;
}

} // namespace

/// Rounds in which the group reads or writes neighbours: lanes of a work-item, then work-items. The
/// position of each, and its first element's number in the block.
SmallVector<std::pair<Position, Value>>
KernelLowering::scanRounds(OpBuilder &b, const Position &row, Value first, Value end, bool whole) {
  IndexMath m{b, loc};
  SmallVector<std::pair<Position, Value>> found;
  for (int64_t round = 0; round < kScanBlock / (kItems * width); ++round) {
    Value inner = m.add(m.mul(member, width), round * kItems * width);
    Position at = row;
    at.loops[space.parallel] = m.add(first, inner);
    at.vectorLoop = static_cast<int>(space.parallel);
    at.width = width;
    at.aligned = whole;
    if (!whole)
      emitter->maskLanes(b, at, end);
    found.push_back({at, inner});
  }
  return found;
}

/// A body for whole and aligned blocks, whose rounds need no masks, so that all loads wait
/// together; and one for any.
void KernelLowering::chooseWhole(Value first, Value end,
                                 llvm::function_ref<void(OpBuilder &, bool)> body) {
  if (width == 1)
    return body(builder, false);
  IndexMath m{builder, loc};
  Value whole = m.equal(m.sub(end, first), m(kScanBlock));
  if (Value aligned = alignedSizes(builder, static_cast<int>(space.parallel), width, {}))
    whole = m.both(whole, aligned);
  auto choice = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  body(yes, true);
  body(no, false);
}

void KernelLowering::groupScanPass(StringRef name, bool storesValues) {
  open(name, shape.partials);
  kernel::ScanOp op = scanOf(kernel);
  ScanMemory block(&function.getBody().front(), op, member, kItems);
  IndexMath m{builder, loc};
  Value length = emitter->emit(builder, space.reducedItems()), blocks = blockCount(builder);
  Value line = begin, first = m(0), end = length;
  if (blocks) {
    line = m.div(begin, blocks);
    first = m.mul(m.sub(begin, m.mul(line, blocks)), kScanBlock);
    end = m.min(m.add(first, kScanBlock), length);
  }
  Position row = position();
  if (space.parallel)
    emitter->delinearize(builder, line, 0, space.parallel, row);
  rowValues(builder, row, 0);
  chooseWhole(first, end, [&](OpBuilder &b, bool whole) {
    IndexMath n{b, loc};
    auto all = scanRounds(b, row, first, end, whole);
    SmallVector<Value> read;
    for (auto &[at, inner] : all) {
      if (width == 1) // without a mask
        at.loops[space.parallel] = n.min(at.loops[space.parallel], n.sub(end, n(1)));
      read.push_back(BodyEmitter::splat(b, loc, emitter->value(b, op.getValue(), at), width));
    }
    for (auto [x, round] : llvm::zip_equal(read, all))
      for (int64_t lane = 0; lane < width; ++lane) {
        Value element = width == 1 ? x : vector::ExtractOp::create(b, loc, x, lane).getResult();
        block.set(b, block.elements, block.place(b, n.add(round.second, lane)), element);
      }
  });
  Value total, none = block.identity(builder);
  SmallVector<Value> y = block.scan(builder, none, total);
  if (!storesValues) {
    auto once = scf::IfOp::create(builder, loc, m.equal(member, m(0)), /*withElseRegion=*/false);
    OpBuilder b = once.getThenBodyBuilder();
    block.set(b, extraBuffers[0], begin, total);
    return close();
  }
  if (blocks) {
    Value several = m.less(m(1), blocks);
    auto choice = scf::IfOp::create(builder, loc, TypeRange(op.getType()), several,
                                    /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    scf::YieldOp::create(yes, loc, block.get(yes, extraBuffers[0], begin));
    scf::YieldOp::create(no, loc, block.identity(no));
    for (Value &value : y)
      value = block.combine(builder, choice.getResult(0), value);
  }
  block.keep(builder, y);
  chooseWhole(first, end, [&](OpBuilder &b, bool whole) {
    IndexMath n{b, loc};
    for (auto &[at, inner] : scanRounds(b, row, first, end, whole)) {
      SmallVector<Value> parts;
      for (int64_t lane = 0; lane < width; ++lane)
        parts.push_back(block.get(b, block.elements, block.place(b, n.add(inner, lane))));
      Value y = parts[0];
      if (width > 1)
        y = vector::FromElementsOp::create(b, loc, VectorType::get({width}, op.getType()), parts);
      at.values[op.getResult()] = y;
      OpBuilder inside = b;
      if (!whole)
        inside = scf::IfOp::create(b, loc, n.less(at.loops[space.parallel], end),
                                   /*withElseRegion=*/false)
                     .getThenBodyBuilder();
      for (kernel::StoreOp store : stores)
        emitter->store(inside, store, at);
    }
  });
  close();
}

/// Results of a row's blocks become what precedes each of them: their scan, one place later. A
/// work-item has groups of 16 of them; only the groups' results go through one chain.
void KernelLowering::groupScanFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  ScanMemory block(&function.getBody().front(), scanOf(kernel), member, kFoldGroups);
  IndexMath m{builder, loc};
  Value blocks = blockCount(builder), line = m.mul(begin, blocks), partial = extraBuffers[0];
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
    block.doubleUp(c, y);
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
  close();
}

void KernelLowering::lowerGroupScan() {
  groupScanPass(kernel.getSymName(), true);
  if (shape.splitBlock == 0)
    return;
  groupScanPass((kernel.getSymName() + "_blocks").str(), false);
  groupScanFold();
}
