#include "compiler/passes/lower/Scans.h"

#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

kernel::ScanOp pass::scanOf(kernel::FuncOp kernel) {
  kernel::ScanOp found;
  kernel.getBody().walk([&](kernel::ScanOp op) { found = op; });
  return found;
}

Value pass::scanIdentity(OpBuilder &b, kernel::ScanOp op, int64_t width) {
  return reductionIdentity(b, op.getLoc(), op.getKind(), op.getType(), width);
}

void pass::doubleLanes(OpBuilder &b, kernel::ScanOp op, MutableArrayRef<Value> groups) {
  Value none = scanIdentity(b, op, kScanGroup);
  for (int64_t apart = 1; apart < kScanGroup; apart *= 2) {
    SmallVector<int64_t> from(kScanGroup);
    for (int64_t i = 0; i < kScanGroup; ++i)
      from[i] = i < apart ? i : kScanGroup + i - apart;
    for (Value &x : groups)
      x = combineScanned(b, op, vector::ShuffleOp::create(b, op.getLoc(), none, x, from), x);
  }
}

void pass::doubleUp(OpBuilder &b, kernel::ScanOp op, MutableArrayRef<Value> group) {
  for (size_t apart = 1; apart < group.size(); apart *= 2)
    for (size_t i = group.size(); i-- > apart;)
      group[i] = combineScanned(b, op, group[i - apart], group[i]);
}

ScanStage::ScanStage(Block *entry, kernel::ScanOp op, int64_t lanes)
    : op(op), loc(op.getLoc()), lanes(lanes) {
  OpBuilder b = OpBuilder::atBlockBegin(entry);
  memory = memref::AllocaOp::create(b, loc,
                                    MemRefType::get({kScanGroup * lanes}, memoryType(op.getType())),
                                    lanes > 1 ? b.getI64IntegerAttr(kLineBytes) : IntegerAttr());
}

Value ScanStage::get(OpBuilder &b, Value number) { return read(b, memory, place(b, number), {}); }

void ScanStage::set(OpBuilder &b, Value number, Value value) {
  write(b, value, memory, place(b, number), {});
}

Value ScanStage::read(OpBuilder &b, Value buffer, Value index, Value mask) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType(), type = op.getType();
  Value raw;
  if (lanes == 1) {
    raw = memref::LoadOp::create(b, loc, buffer, index);
  } else if (auto vector = VectorType::get({lanes}, element); mask) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
    raw = vector::MaskedLoadOp::create(b, loc, vector, buffer, index, mask, zero);
  } else {
    raw = vector::LoadOp::create(b, loc, vector, buffer, index);
  }
  Type wanted = BodyEmitter::vectorOf(type, lanes);
  return raw.getType() == wanted ? raw : graph::CastOp::create(b, loc, wanted, raw).getResult();
}

void ScanStage::write(OpBuilder &b, Value value, Value buffer, Value index, Value mask) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Type type = BodyEmitter::vectorOf(element, lanes);
  if (value.getType() != type)
    value = graph::CastOp::create(b, loc, type, value);
  if (lanes == 1)
    memref::StoreOp::create(b, loc, value, buffer, index);
  else if (mask)
    vector::MaskedStoreOp::create(b, loc, buffer, index, mask, value);
  else
    vector::StoreOp::create(b, loc, value, buffer, index);
}

void ScanStage::doubleUp(OpBuilder &b, Value count) {
  auto index = [&](OpBuilder &c, int64_t v) -> Value {
    return arith::ConstantIndexOp::create(c, loc, v);
  };
  Value zero = index(b, 0), one = index(b, 1);
  auto steps = scf::ForOp::create(b, loc, zero, index(b, llvm::Log2_64(kScanGroup)), one);
  OpBuilder c = OpBuilder::atBlockBegin(steps.getBody());
  Value apart = arith::ShLIOp::create(c, loc, one, steps.getInductionVar());
  Value pairs = arith::MaxSIOp::create(c, loc, arith::SubIOp::create(c, loc, count, apart), zero);
  auto inner = scf::ForOp::create(c, loc, zero, pairs, one);
  OpBuilder d = OpBuilder::atBlockBegin(inner.getBody());
  Value later = arith::SubIOp::create(d, loc, arith::SubIOp::create(d, loc, count, one),
                                      inner.getInductionVar());
  Value earlier = arith::SubIOp::create(d, loc, later, apart);
  set(d, later, combineScanned(d, op, get(d, earlier), get(d, later)));
}

Value ScanStage::place(OpBuilder &b, Value number) {
  if (lanes == 1)
    return number;
  return arith::MulIOp::create(b, loc, number, arith::ConstantIndexOp::create(b, loc, lanes));
}

bool KernelLowering::scansAlongVector() { return width > 1 && scansAlongRows(kernel, space); }

/// Results of a row's blocks become what precedes each of them: their scan, one place later.
void KernelLowering::scanFold() {
  open((kernel.getSymName() + "_fold").str(), shape.partials);
  kernel::ScanOp op = scanOf(kernel);
  ScanStage stage(&function.getBody().front(), op, 1);
  Value blocks = blockCount(builder), zero = constant(builder, 0), one = constant(builder, 1),
        size = constant(builder, kScanGroup);
  Value rows = emitter->emit(builder, space.product(0, space.parallel));
  bool byRow = scansAlongVector();
  auto fold = [&](OpBuilder &b, Value row) {
    auto groups =
        scf::ForOp::create(b, loc, zero, blocks, size, ValueRange(scanIdentity(b, op, 1)));
    OpBuilder c = OpBuilder::atBlockBegin(groups.getBody());
    Value start = groups.getInductionVar();
    Value count =
        arith::MinSIOp::create(c, loc, size, arith::SubIOp::create(c, loc, blocks, start));
    auto place = [&](OpBuilder &d, Value number) -> Value {
      Value block = arith::AddIOp::create(d, loc, start, number);
      Value line = arith::MulIOp::create(d, loc, byRow ? row : block, byRow ? blocks : rows);
      return arith::AddIOp::create(d, loc, line, byRow ? block : row);
    };
    loop(c, zero, count, 1, [&](OpBuilder &d, Value number) {
      stage.set(d, number, stage.read(d, extraBuffers[0], place(d, number), {}));
    });
    stage.doubleUp(c, count);
    Value carry = groups.getRegionIterArgs()[0];
    auto values = scf::ForOp::create(c, loc, zero, count, one, ValueRange(carry));
    OpBuilder d = OpBuilder::atBlockBegin(values.getBody());
    Value number = values.getInductionVar();
    stage.write(d, values.getRegionIterArgs()[0], extraBuffers[0], place(d, number), {});
    scf::YieldOp::create(d, loc, combineScanned(d, op, carry, stage.get(d, number)));
    scf::YieldOp::create(c, loc, values.getResult(0));
  };
  if (!shape.group) {
    loop(builder, begin, end, 1, fold);
    return close();
  }
  IndexMath m{builder, loc};
  Value row = m.add(m.mul(begin, shape.group), member);
  OpBuilder b = scf::IfOp::create(builder, loc, m.less(row, rows), /*withElseRegion=*/false)
                    .getThenBodyBuilder();
  fold(b, row);
  close();
}
