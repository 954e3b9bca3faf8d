// Products with vectors by groups: a chain of sums has one work-item, which alone would wait for
// every element of its row. A group reads pieces of many rows, neighbours by neighbours, into local
// memory, where each of its first work-items goes on with the chain of a row.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Steps of a chain that are repeated, so that local memory is read ahead.
static constexpr int64_t kStepsTogether = 16;

bool pass::multipliesVector(kernel::FuncOp func, const LoopSpace &space) {
  if (space.parallel == 0 || space.reducedLoops() != 1)
    return false;
  SmallVector<kernel::DotOp> dots;
  func.getBody().walk([&](kernel::DotOp dot) { dots.push_back(dot); });
  if (dots.size() != 1 || !(dots[0].getType().isF32() || dots[0].getType().isF64()))
    return false;
  unsigned last = space.parallel - 1, k = space.parallel;
  bool along = false, across = false;
  func.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = space.accesses.at(load);
    if (access.strides[last].isZero() || access.strides[k].isZero())
      return;
    bool neighbours = access.strides[k].isConstant(1) && !access.part;
    along |= neighbours;
    across |= !neighbours;
  });
  return along && !across;
}

struct KernelLowering::VectorProduct {
  KernelLowering &of;
  Type element;
  Value items, length, first; ///< first: the group's first row
  struct Side {
    Value value, memory;
    bool isShared; ///< by all rows
  };
  SmallVector<Side, 2> sides;

  void addSide(Value value);
  void readPiece(OpBuilder &b, Value start) const;
  Value chainPiece(OpBuilder &b, Value start, Value end, Value sum) const;
  Value chain(OpBuilder &b, Value start, Value end) const;
  Value total(OpBuilder &b) const;

private:
  /// Rows lie one element further apart than they are long: in other banks.
  static constexpr int64_t kPitch = kVectorDepth + 1;
};

void KernelLowering::VectorProduct::addSide(Value value) {
  bool isShared = true;
  for (unsigned loop = 0; loop < of.space.parallel; ++loop)
    isShared &= !of.space.dependsOn(value, loop);
  OpBuilder entry = OpBuilder::atBlockBegin(&of.function.getBody().front());
  auto local = gpu::AddressSpaceAttr::get(entry.getContext(), gpu::AddressSpace::Workgroup);
  int64_t count = isShared ? kVectorDepth : kVectorRows * kPitch;
  auto type = MemRefType::get({count}, value.getType(), AffineMap(), local);
  sides.push_back({value, memref::AllocaOp::create(entry, of.loc, type), isShared});
}

/// Elements of k from `start` on, of all rows; beyond the last ones anything that there is.
void KernelLowering::VectorProduct::readPiece(OpBuilder &b, Value start) const {
  IndexMath m{b, of.loc};
  Value lastItem = m.sub(items, m(1)), lastK = m.sub(length, m(1));
  int64_t parts = kVectorRows * kVectorDepth / of.shape.group;
  for (int64_t part = 0; part < parts; ++part) {
    Value place = m.add(of.member, part * of.shape.group);
    Value row = m.div(place, kVectorDepth), step = m.both(place, m(kVectorDepth - 1));
    Position at = of.position();
    of.emitter->delinearize(b, m.min(m.add(first, row), lastItem), 0, of.space.parallel, at);
    at.loops[of.space.parallel] = m.min(m.add(start, step), lastK);
    for (const Side &side : sides) {
      if (side.isShared && part > 0)
        continue;
      Value element = of.emitter->value(b, side.value, at);
      Value slot = side.isShared ? step : m.add(m.mul(row, kPitch), step);
      memref::StoreOp::create(b, of.loc, element, side.memory, slot);
    }
  }
}

/// The chain of this work-item's row goes on over the piece.
Value KernelLowering::VectorProduct::chainPiece(OpBuilder &b, Value start, Value end,
                                                Value sum) const {
  IndexMath m{b, of.loc};
  auto own = scf::IfOp::create(b, of.loc, TypeRange(sum.getType()),
                               m.less(of.member, m(kVectorRows)), /*withElseRegion=*/true);
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

Value KernelLowering::VectorProduct::chain(OpBuilder &b, Value start, Value end) const {
  IndexMath m{b, of.loc};
  Value zero = chainZero(b, of.loc, element, 1);
  auto pieces = scf::ForOp::create(b, of.loc, start, end, m(kVectorDepth), ValueRange(zero));
  OpBuilder c = OpBuilder::atBlockBegin(pieces.getBody());
  readPiece(c, pieces.getInductionVar());
  gpu::BarrierOp::create(c, of.loc);
  Value sum = chainPiece(c, pieces.getInductionVar(), end, pieces.getRegionIterArgs()[0]);
  // Before the next piece takes its memory.
  gpu::BarrierOp::create(c, of.loc);
  scf::YieldOp::create(c, of.loc, sum);
  return pieces.getResult(0);
}

Value KernelLowering::VectorProduct::total(OpBuilder &b) const {
  IndexMath m{b, of.loc};
  Value step = m(kChain), chains = m.ceilDiv(length, kChain);
  SmallVector<Value> initial(2, chainZero(b, of.loc, element, 1));
  auto outer = scf::ForOp::create(b, of.loc, m(0), chains, m(1), initial);
  OpBuilder c = OpBuilder::atBlockBegin(outer.getBody());
  IndexMath n{c, of.loc};
  Value number = outer.getInductionVar(), start = n.mul(number, step);
  Value sum = chain(c, start, n.min(n.add(start, kChain), length));
  scf::YieldOp::create(c, of.loc,
                       addChain(c, of.loc, number, chains, sum,
                                outer.getRegionIterArgs().take_front(),
                                outer.getRegionIterArgs().drop_front()));
  return outer.getResult(1);
}

void KernelLowering::lowerGroupVector() {
  open(kernel.getSymName(), {});
  IndexMath m{builder, loc};
  kernel::DotOp dot = dotOf(kernel);
  VectorProduct product{*this,
                        dot.getType(),
                        emitter->emit(builder, space.items()),
                        emitter->emit(builder, space.reducedItems()),
                        m.mul(begin, kVectorRows),
                        {}};
  product.addSide(dot.getLhs());
  product.addSide(dot.getRhs());
  Value total = product.total(builder), item = m.add(product.first, member);
  Value present = m.both(m.less(member, m(kVectorRows)), m.less(item, product.items));
  auto own = scf::IfOp::create(builder, loc, present, /*withElseRegion=*/false);
  OpBuilder b = own.getThenBodyBuilder();
  Position at = position();
  emitter->delinearize(b, item, 0, space.parallel, at);
  at.values[dot.getResult()] = total;
  for (kernel::StoreOp store : stores)
    emitter->store(b, store, at);
  close();
}
