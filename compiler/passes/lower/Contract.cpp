#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

bool pass::copiesSides(Value left, Value right, const LoopSpace &space) {
  return llvm::all_of(ArrayRef<Value>{left, right}, [&](Value side) {
    auto load = side.getDefiningOp<kernel::LoadOp>();
    if (!load)
      return false;
    unsigned column = space.parallel - 1;
    unsigned own = space.dependsOn(side, static_cast<int>(column)) ? column : column - 1;
    const LinearAccess &access = space.accesses.at(load);
    return !access.part &&
           (access.strides[space.parallel].isConstant(1) || access.strides[own].isConstant(1));
  });
}

kernel::DotOp pass::dotOf(kernel::FuncOp kernel) {
  kernel::DotOp dot;
  kernel.getBody().walk([&](kernel::DotOp op) { dot = op; });
  return dot;
}

Products::Products(kernel::FuncOp kernel, const LoopSpace &space) {
  SmallVector<kernel::DotOp, 4> dots(kernel.getBody().getOps<kernel::DotOp>());
  // One of the parts may be a literal, which changes with nothing.
  bool isLeft = space.parallel > 0 && llvm::any_of(dots, [&](kernel::DotOp dot) {
                  return space.dependsOn(dot.getLhs(), space.parallel - 1);
                });
  auto number = [](SmallVectorImpl<Value> &operands, Value operand) -> unsigned {
    auto *found = llvm::find(operands, operand);
    unsigned place = found - operands.begin();
    if (found == operands.end())
      operands.push_back(operand);
    return place;
  };
  for (kernel::DotOp dot : dots)
    all.push_back({dot, number(rows, isLeft ? dot.getRhs() : dot.getLhs()),
                   number(columns, isLeft ? dot.getLhs() : dot.getRhs())});
}

kernel::DotOp Products::at(unsigned row, unsigned column) const {
  for (const Product &product : all)
    if (product.row == row && product.column == column)
      return product.dot;
  return {};
}

Value pass::multiplyAdd(OpBuilder &b, Location loc, Value x, Value y, Value sum) {
  if (graph::elementType(sum.getType()).isInteger(1))
    return arith::OrIOp::create(b, loc, arith::AndIOp::create(b, loc, x, y), sum);
  return graph::FmaOp::create(b, loc, sum.getType(), x, y, sum);
}

Value pass::chainSum(OpBuilder &b, Location loc, Value x, Value y) {
  if (graph::elementType(x.getType()).isInteger(1))
    return arith::OrIOp::create(b, loc, x, y);
  return graph::AddOp::create(b, loc, x.getType(), x, y);
}

Value pass::chainZero(OpBuilder &b, Location loc, Type element, int64_t lanes) {
  Type signless = element.isUnsignedInteger()
                      ? Type(b.getIntegerType(element.getIntOrFloatBitWidth()))
                      : element;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(signless));
  if (signless != element)
    zero = graph::CastOp::create(b, loc, element, zero);
  return BodyEmitter::splat(b, loc, zero, lanes);
}

/// `values` of a new sum when it starts, else added to `old`, per value.
static SmallVector<Value> startOrAdd(OpBuilder &b, Location loc, Value starts, ValueRange old,
                                     ValueRange values) {
  auto choice = scf::IfOp::create(b, loc, TypeRange(values), starts, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  scf::YieldOp::create(yes, loc, values);
  SmallVector<Value> sums;
  for (auto [x, y] : llvm::zip_equal(old, values))
    sums.push_back(chainSum(no, loc, x, y));
  scf::YieldOp::create(no, loc, sums);
  return SmallVector<Value>(choice.getResults());
}

SmallVector<Value> pass::addChain(OpBuilder &b, Location loc, Value number, Value chains,
                                  ValueRange sums, ValueRange run, ValueRange total) {
  IndexMath at{b, loc};
  Value inRun = arith::AndIOp::create(b, loc, number, at(kChainsPerRun - 1));
  Value starts = at.equal(inRun, at(0));
  SmallVector<Value> joined = startOrAdd(b, loc, starts, run, sums);
  Value next = at.add(number, 1);
  Value ends = at.either(at.equal(inRun, at(kChainsPerRun - 1)), at.equal(next, chains));
  Value firstRun = at.less(number, at(kChainsPerRun));
  auto summed = scf::IfOp::create(b, loc, TypeRange(total), ends, /*withElseRegion=*/true);
  OpBuilder close = summed.getThenBodyBuilder(), keep = summed.getElseBodyBuilder();
  scf::YieldOp::create(close, loc, startOrAdd(close, loc, firstRun, total, joined));
  scf::YieldOp::create(keep, loc, total);
  joined.append(summed.getResults().begin(), summed.getResults().end());
  return joined;
}

SmallVector<Value>
pass::sumsBeside(OpBuilder &b, Location loc, Value depth, ValueRange zeros,
                 llvm::function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)> add) {
  const size_t count = zeros.size();
  IndexMath at{b, loc};
  auto runs = scf::ForOp::create(b, loc, at(0), depth, at(kChain * kChainsPerRun), zeros);
  OpBuilder c = OpBuilder::atBlockBegin(runs.getBody());
  IndexMath in{c, loc};
  Value first = runs.getInductionVar(), left = in.sub(depth, first), from = in(0);
  SmallVector<Value> sums;
  for (int64_t number = 0; number < kChainsPerRun; ++number)
    sums.append(zeros.begin(), zeros.end());
  // A later chain is no longer than an earlier one: the last of those beside each other ends first.
  for (int64_t beside = kChainsPerRun; beside > 0; --beside) {
    Value to = in.min(in.max(in.sub(left, in((beside - 1) * kChain)), 0), kChain);
    auto loop =
        scf::ForOp::create(c, loc, from, to, in(1), ArrayRef(sums).take_front(beside * count));
    OpBuilder d = OpBuilder::atBlockBegin(loop.getBody());
    Value k = IndexMath{d, loc}.add(first, loop.getInductionVar());
    SmallVector<Value> next;
    for (int64_t number = 0; number < beside; ++number)
      next.append(add(d, IndexMath{d, loc}.add(k, number * kChain),
                      loop.getRegionIterArgs().slice(number * count, count)));
    scf::YieldOp::create(d, loc, next);
    llvm::copy(loop.getResults(), sums.begin());
    from = to;
  }
  SmallVector<Value> run(ArrayRef(sums).take_front(count));
  for (int64_t number = 1; number < kChainsPerRun; ++number) {
    Value exists = in.less(in(number * kChain), left);
    for (size_t i = 0; i < count; ++i)
      run[i] = in.select(exists, chainSum(c, loc, run[i], sums[number * count + i]), run[i]);
  }
  Value isFirst = in.equal(first, in(0));
  for (auto [value, total] : llvm::zip_equal(run, runs.getRegionIterArgs()))
    value = in.select(isFirst, value, chainSum(c, loc, total, value));
  scf::YieldOp::create(c, loc, run);
  return SmallVector<Value>(runs.getResults());
}

void pass::transposeVectors(OpBuilder &b, Location loc, SmallVectorImpl<Value> &vectors) {
  int64_t count = vectors.size();
  for (int64_t half = count / 2; half >= 1; half /= 2) {
    // Blocks of half x half: the upper right one and the lower left one change places.
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < count; ++lane) {
      low.push_back(lane & half ? count + lane - half : lane);
      high.push_back(lane & half ? count + lane : lane + half);
    }
    for (int64_t i = 0; i < count; ++i) {
      if (i & half)
        continue;
      Value x = vectors[i], y = vectors[i + half];
      vectors[i] = vector::ShuffleOp::create(b, loc, x, y, low);
      vectors[i + half] = vector::ShuffleOp::create(b, loc, x, y, high);
    }
  }
}
