// Products with vectors by groups: a chain of sums has one work-item, which alone would wait for
// every element of its row. A group reads pieces of many rows, neighbours by neighbours, into local
// memory, where each of its first work-items goes on with the chain of a row while all of them read
// the next piece.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Steps of a chain that are repeated, so that local memory is read ahead.
static constexpr int64_t kStepsTogether = 16;
/// Steps of a chain whose work-item reads its elements itself, at most.
static constexpr int64_t kShortChain = 16;

bool pass::multipliesVector(kernel::FuncOp func, const LoopSpace &space) {
  if (space.parallel == 0 || space.reducedLoops() != 1)
    return false;
  SmallVector<kernel::DotOp> dots(func.getBody().getOps<kernel::DotOp>());
  if (dots.size() != 1 || !(dots[0].getType().isF32() || dots[0].getType().isF64()))
    return false;
  unsigned last = space.parallel - 1, k = space.parallel;
  bool some = false, all = true;
  func.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = space.accesses.at(load);
    if (access.strides[last].isZero() || access.strides[k].isZero())
      return;
    some = true;
    all &= !access.part && (access.strides[k].isConstant(1) || access.strides[last].isConstant(1));
  });
  return some && all;
}

/// Whether neighbours of what a value is computed from are rows, not steps of the chain.
static bool liesAcross(Value value, const LoopSpace &space) {
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<kernel::LoadOp>(op)) {
    const LinearAccess &access = space.accesses.at(load);
    return access.strides[space.parallel - 1].isConstant(1) &&
           !access.strides[space.parallel].isZero() &&
           !access.strides[space.parallel].isConstant(1);
  }
  return op &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return liesAcross(operand, space); });
}

struct GroupLowering::VectorProduct {
  GroupLowering &of;
  Type element;
  Value items, length, first; ///< first: the group's first row
  struct Side {
    Value value, memory;
    bool isShared; ///< by all rows
    bool isAcross; ///< neighbours are rows
  };
  SmallVector<Side, 2> sides;

  void addSide(Value value);
  Position rowAt(OpBuilder &b, Value row) const;
  Values readPiece(OpBuilder &b, Value start) const;
  void keepPiece(OpBuilder &b, ArrayRef<Value> values) const;
  Value chainPiece(OpBuilder &b, Value start, Value end, Value sum) const;
  Value chain(OpBuilder &b, Value start, Value end) const;
  Value pieces(OpBuilder &b, Value start, Value end) const;
  Value shortChain(OpBuilder &b, Value start, Value end) const;
  Value isOwn(OpBuilder &b) const {
    return IndexMath{b, of.loc}.less(of.member, IndexMath{b, of.loc}(kVectorRows));
  }

private:
  /// Rows lie one element further apart than they are long: in other banks.
  static constexpr int64_t kPitch = kVectorDepth + 1;
  int64_t parts() const { return kVectorRows * kVectorDepth / of.shape.group; }
  /// Of a work-item's element in a part of a piece.
  std::pair<Value, Value> rowAndStep(OpBuilder &b, const Side &side, int64_t part) const;
};

void GroupLowering::VectorProduct::addSide(Value value) {
  bool isShared = true;
  for (unsigned loop = 0; loop < of.space.parallel; ++loop)
    isShared &= !of.space.dependsOn(value, loop);
  OpBuilder entry = OpBuilder::atBlockBegin(&of.function.getBody().front());
  auto local = gpu::AddressSpaceAttr::get(entry.getContext(), gpu::AddressSpace::Workgroup);
  int64_t count = isShared ? kVectorDepth : kVectorRows * kPitch;
  auto type = MemRefType::get({count}, value.getType(), AffineMap(), local);
  sides.push_back({value, memref::AllocaOp::create(entry, of.loc, type), isShared,
                   !isShared && liesAcross(value, of.space)});
}

std::pair<Value, Value> GroupLowering::VectorProduct::rowAndStep(OpBuilder &b, const Side &side,
                                                                 int64_t part) const {
  IndexMath m{b, of.loc};
  Value place = m.add(of.member, part * of.shape.group);
  int64_t neighbours = side.isAcross ? kVectorRows : kVectorDepth;
  Value line = m.div(place, neighbours), at = m.both(place, m(neighbours - 1));
  return side.isAcross ? std::pair(at, line) : std::pair(line, at);
}

/// A row of the group, or beyond the last one any that there is.
Position GroupLowering::VectorProduct::rowAt(OpBuilder &b, Value row) const {
  IndexMath m{b, of.loc};
  Position at = of.position();
  Value item = m.min(m.add(first, row), m.sub(items, m(1)));
  of.emitter->delinearize(b, item, 0, of.space.parallel, at);
  return at;
}

/// This work-item's elements of all rows from step `start` on; beyond the last ones anything that
/// there is.
GroupLowering::Values GroupLowering::VectorProduct::readPiece(OpBuilder &b, Value start) const {
  IndexMath m{b, of.loc};
  Value lastK = m.max(m.sub(length, m(1)), 0);
  Values values;
  for (int64_t part = 0; part < parts(); ++part)
    for (const Side &side : sides) {
      if (side.isShared && part > 0)
        continue;
      auto [row, step] = rowAndStep(b, side, part);
      Position at = rowAt(b, row);
      at.loops[of.space.parallel] = m.min(m.add(start, step), lastK);
      values.push_back(of.emitter->value(b, side.value, at));
    }
  return values;
}

void GroupLowering::VectorProduct::keepPiece(OpBuilder &b, ArrayRef<Value> values) const {
  IndexMath m{b, of.loc};
  const auto *value = values.begin();
  for (int64_t part = 0; part < parts(); ++part)
    for (const Side &side : sides) {
      if (side.isShared && part > 0)
        continue;
      auto [row, step] = rowAndStep(b, side, part);
      Value slot = side.isShared ? step : m.add(m.mul(row, kPitch), step);
      memref::StoreOp::create(b, of.loc, *value++, side.memory, slot);
    }
  gpu::BarrierOp::create(b, of.loc);
}

/// The chain of this work-item's row goes on over the piece.
Value GroupLowering::VectorProduct::chainPiece(OpBuilder &b, Value start, Value end,
                                               Value sum) const {
  auto own = scf::IfOp::create(b, of.loc, TypeRange(sum.getType()), isOwn(b),
                               /*withElseRegion=*/true);
  OpBuilder yes = own.getThenBodyBuilder(), no = own.getElseBodyBuilder();
  IndexMath n{yes, of.loc};
  Value line = n.mul(of.member, kPitch), count = n.min(n.sub(end, start), kVectorDepth);
  auto steps = scf::ForOp::create(yes, of.loc, n(0), count, n(1), ValueRange(sum));
  steps->setAttr(kUnrollAttr, yes.getI64IntegerAttr(kStepsTogether));
  OpBuilder c = OpBuilder::atBlockBegin(steps.getBody());
  IndexMath s{c, of.loc};
  auto read = [&](const Side &side) -> Value {
    Value step = steps.getInductionVar();
    return memref::LoadOp::create(c, of.loc, side.memory, side.isShared ? step : s.add(line, step));
  };
  Value x = read(sides[0]), y = read(sides[1]);
  scf::YieldOp::create(c, of.loc, multiplyAdd(c, of.loc, x, y, steps.getRegionIterArgs()[0]));
  scf::YieldOp::create(yes, of.loc, steps.getResults());
  scf::YieldOp::create(no, of.loc, sum);
  return own.getResult(0);
}

/// Each piece is read while the one before it, which is in local memory, is added.
Value GroupLowering::VectorProduct::pieces(OpBuilder &b, Value start, Value end) const {
  IndexMath m{b, of.loc};
  SmallVector<Value> initial = {chainZero(b, of.loc, element, 1)};
  llvm::append_range(initial, readPiece(b, start));
  auto all = scf::ForOp::create(b, of.loc, start, end, m(kVectorDepth), initial);
  OpBuilder c = OpBuilder::atBlockBegin(all.getBody());
  Value at = all.getInductionVar();
  keepPiece(c, SmallVector<Value>(all.getRegionIterArgs().drop_front()));
  Values next = readPiece(c, IndexMath{c, of.loc}.add(at, kVectorDepth));
  next.insert(next.begin(), chainPiece(c, at, end, all.getRegionIterArgs()[0]));
  // Before the next piece takes its memory.
  gpu::BarrierOp::create(c, of.loc);
  scf::YieldOp::create(c, of.loc, next);
  return all.getResult(0);
}

/// One piece would be mostly empty, and so would what everybody reads of it.
Value GroupLowering::VectorProduct::shortChain(OpBuilder &b, Value start, Value end) const {
  Value zero = chainZero(b, of.loc, element, 1);
  auto own = scf::IfOp::create(b, of.loc, TypeRange(zero.getType()), isOwn(b),
                               /*withElseRegion=*/true);
  OpBuilder yes = own.getThenBodyBuilder(), no = own.getElseBodyBuilder();
  Position row = rowAt(yes, of.member);
  auto steps = scf::ForOp::create(yes, of.loc, start, end, IndexMath{yes, of.loc}(1), zero);
  steps->setAttr(kUnrollAttr, yes.getI64IntegerAttr(kStepsTogether));
  OpBuilder c = OpBuilder::atBlockBegin(steps.getBody());
  row.loops[of.space.parallel] = steps.getInductionVar();
  Value x = of.emitter->value(c, sides[0].value, row),
        y = of.emitter->value(c, sides[1].value, row);
  scf::YieldOp::create(c, of.loc, multiplyAdd(c, of.loc, x, y, steps.getRegionIterArgs()[0]));
  scf::YieldOp::create(yes, of.loc, steps.getResults());
  scf::YieldOp::create(no, of.loc, zero);
  return own.getResult(0);
}

Value GroupLowering::VectorProduct::chain(OpBuilder &b, Value start, Value end) const {
  IndexMath m{b, of.loc};
  auto form = scf::IfOp::create(b, of.loc, TypeRange(element),
                                m.less(m(kShortChain), m.sub(end, start)), /*withElseRegion=*/true);
  OpBuilder yes = form.getThenBodyBuilder(), no = form.getElseBodyBuilder();
  scf::YieldOp::create(yes, of.loc, pieces(yes, start, end));
  scf::YieldOp::create(no, of.loc, shortChain(no, start, end));
  return form.getResult(0);
}

/// A group has some rows of one block of k, which is a chain.
void GroupLowering::lowerVector() {
  open(kernel.getSymName(), shape.partials);
  OpBuilder &b = builder;
  IndexMath m{b, loc};
  kernel::DotOp dot = dotOf(kernel);
  VectorProduct product{*this,
                        dot.getType(),
                        emitter->emit(b, space.items()),
                        emitter->emit(b, space.reducedItems()),
                        {},
                        {}};
  Value blocks = blockCount(b), number = begin, start = m(0), end = product.length, block;
  if (blocks) {
    Value groups = m.ceilDiv(product.items, kVectorRows);
    block = m.div(begin, groups);
    number = m.sub(begin, m.mul(block, groups));
    start = m.mul(block, kChain);
    end = m.min(m.add(start, kChain), product.length);
  }
  product.first = m.mul(number, kVectorRows);
  product.addSide(dot.getLhs());
  product.addSide(dot.getRhs());
  Value sum = product.chain(b, start, end), item = m.add(product.first, member);
  auto own = scf::IfOp::create(b, loc, m.both(product.isOwn(b), m.less(item, product.items)),
                               /*withElseRegion=*/false);
  OpBuilder c = own.getThenBodyBuilder();
  if (blocks) {
    IndexMath n{c, loc};
    auto one = scf::IfOp::create(c, loc, n.equal(blocks, n(1)), /*withElseRegion=*/true);
    OpBuilder several = one.getElseBodyBuilder();
    IndexMath s{several, loc};
    Value slot = s.add(item, s.mul(block, product.items));
    memref::StoreOp::create(several, loc, sum, extraBuffers[0], slot);
    c = one.getThenBodyBuilder();
  }
  Position at = position();
  emitter->delinearize(c, item, 0, space.parallel, at);
  at.values[dot.getResult()] = sum;
  for (kernel::StoreOp store : stores)
    emitter->store(c, store, at);
  close();
  if (blocks)
    lowerContractFold();
}
