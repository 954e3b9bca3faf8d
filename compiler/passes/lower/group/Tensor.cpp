// Fast products of 16-bit floats on tensor cores: a group has a tile of 128 by 128 elements, a
// work-item the elements that the instructions give it, in float32. Where operands lie aligned in
// memory a tile is one call (emit/device/TensorTile.h); what is left of k, and all of k elsewhere,
// is put into the local memory piece by piece, with zeros behind the end of k.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupContract.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Elements of k in a piece; elements of a side's piece; of all that the tiles copy ahead.
constexpr int64_t kDepth = 32, kPiece = kContractTile * kDepth, kMemory = 3 * 2 * kPiece;
/// Bytes: swizzles follow the address.
constexpr int64_t kAlignment = 1024;
/// Elements that are copied at once: a chunk of the local memory.
constexpr int64_t kChunk = 8;
/// Chunks of a line of the local memory where the own loop is contiguous.
constexpr int64_t kLine = 8;

} // namespace

/// Where the element at (loop, k) of a piece lies: rows of 32 along k, else lines of 64 along the
/// loop, eight of k together. Chunks are XORed so that no eight of one column share a bank, as
/// wgmma's swizzles of 64 and 128 bytes do.
static Value placeInMemory(OpBuilder &b, Location loc, bool alongK, Value element, Value depth) {
  IndexMath m{b, loc};
  auto low = [&](Value x, int64_t size) {
    return arith::AndIOp::create(b, loc, x, m(size - 1)).getResult();
  };
  auto mixed = [&](Value x, Value y) {
    return m.mul(arith::XOrIOp::create(b, loc, x, y).getResult(), kChunk);
  };
  if (alongK) {
    Value chunk = mixed(m.div(depth, kChunk), low(m.div(element, 2), kDepth / kChunk));
    return m.add(m.mul(element, kDepth), m.add(chunk, low(depth, kChunk)));
  }
  int64_t line = kLine * kChunk;
  Value chunk = mixed(low(m.div(element, kChunk), kLine), low(depth, kLine));
  Value start = m.add(m.mul(m.div(element, line), line * kDepth), m.mul(depth, line));
  return m.add(start, m.add(chunk, low(element, kChunk)));
}

/// Reads the piece of a side at k and puts it into the local memory.
void GroupLowering::keepTensorPiece(OpBuilder &b, const ContractTile &tile, const Side &side,
                                    Value k) {
  IndexMath m{b, loc};
  SmallVector<Value> values = readPiece(b, tile, side, k, false);
  for (auto [part, value] : llvm::enumerate(values)) {
    Value bits = emitter->toMemory(b, value);
    auto [element, depth] = placeInPiece(b, loc, side.alongK, side.lanes, shape.groupTile,
                                         tile.depth, member, part, shape.group);
    auto place = [&](Value along) {
      return m.add(placeInMemory(b, loc, side.alongK, element, along), side.start);
    };
    auto inside = [&](Value along, Value some) -> Value {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(some.getType()));
      return arith::SelectOp::create(b, loc, m.less(m.add(k, along), tile.to), some, zero);
    };
    if (side.lanes == 1)
      memref::StoreOp::create(b, loc, inside(depth, bits), tile.memory, place(depth));
    else if (!side.alongK)
      vector::StoreOp::create(b, loc, inside(depth, bits), tile.memory, place(depth));
    else
      for (int64_t lane = 0; lane < side.lanes; ++lane) {
        Value along = m.add(depth, lane);
        memref::StoreOp::create(b, loc,
                                inside(along, vector::ExtractOp::create(b, loc, bits, lane)),
                                tile.memory, place(along));
      }
  }
}

/// The sums after all pieces from `from` on.
SmallVector<Value> GroupLowering::tensorSteps(OpBuilder &b, const ContractTile &tile, Value from,
                                              ValueRange sums) {
  auto loop = scf::ForOp::create(b, loc, from, tile.to, IndexMath{b, loc}(tile.depth), sums);
  OpBuilder c = OpBuilder::atBlockBegin(loop.getBody());
  gpu::BarrierOp::create(c, loc);
  keepTensorPiece(c, tile, tile.rows, loop.getInductionVar());
  keepTensorPiece(c, tile, tile.columns, loop.getInductionVar());
  // The function waits for all work-items before it reads.
  std::string name = tensorElement(tile.dot).isF16() ? "gc_step_f16_" : "gc_step_bf16_";
  scf::YieldOp::create(c, loc, callTile(c, tile, name, loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

/// A warp has 16 rows; a work-item of it two of them, and two neighbours of every eight columns.
GroupLowering::Spread GroupLowering::tensorSpread(int64_t columns) {
  IndexMath m{builder, loc};
  Value warp = m.div(member, 32), lane = m.sub(member, m.mul(warp, 32));
  Value g = m.div(lane, 4), t = m.sub(lane, m.mul(g, 4));
  Value row = m.add(m.mul(warp, 16), g);
  Spread spread;
  spread.lanes = 2;
  spread.rows = {row, m.add(row, 8)};
  for (int64_t column = 0; column < columns; column += 8)
    spread.runs.push_back(m.add(m.mul(t, 2), column));
  return spread;
}

/// Large products of which every line is aligned (Planner::runsInBulk).
void GroupLowering::lowerBulk() {
  SmallVector<Type> extra(shape.partials);
  extra.push_back(builder.getI64Type());
  open((kernel.getSymName() + "_bulk").str(), extra);
  function->setAttr(kGroupMemoryAttr, builder.getI64IntegerAttr(kBulkBytes));
  ContractTile tile;
  tile.dot = dotOf(kernel);
  tile.depth = kBulkDepth;
  tile.columnCount = kBulkColumns;
  auto narrow = [](Value value) { return value.getDefiningOp()->getOperand(0); };
  setSides(tile, narrow(tile.dot.getLhs()), narrow(tile.dot.getRhs()));
  setMemory(tile, kBulkBytes / 2, builder.getI16Type(), kAlignment);
  placeTile(tile);
  tile.spread = tensorSpread(tile.columnCount);
  std::string name = tensorElement(tile.dot).isF16() ? "gc_bulk_f16_" : "gc_bulk_bf16_";
  SmallVector<Value> sums = callTile(builder, tile, name, {});
  auto stored = scf::IfOp::create(builder, loc, insideTile(tile), /*withElseRegion=*/true);
  OpBuilder all = stored.getThenBodyBuilder(), some = stored.getElseBodyBuilder();
  contractStore(all, tile, tile.spread, sums, true);
  contractStore(some, tile, tile.spread, sums, false);
  close();
}

void GroupLowering::lowerTensor() {
  if (shape.bulkPieces)
    lowerBulk();
  open(kernel.getSymName(), shape.partials);
  ContractTile tile;
  tile.dot = dotOf(kernel);
  tile.depth = kDepth;
  tile.columnCount = kContractTile;
  auto narrow = [](Value value) { return value.getDefiningOp()->getOperand(0); };
  setSides(tile, narrow(tile.dot.getLhs()), narrow(tile.dot.getRhs()));
  tile.columns.start = kPiece;
  setMemory(tile, kMemory, builder.getI16Type(), kAlignment);
  placeTile(tile);
  tile.spread = tensorSpread(tile.columnCount);
  auto edges = [&](OpBuilder &b) {
    SmallVector<Value> zeros(tile.spread.count(), chainZero(b, loc, tile.dot.getType(), 1));
    contractStore(b, tile, tile.spread, tensorSteps(b, tile, tile.from, zeros), false);
  };
  auto finish = [&] {
    close();
    if (shape.splitBlock)
      lowerContractFold();
  };
  if (!copiesSides(tile.rows.value, tile.columns.value, space)) {
    edges(builder);
    return finish();
  }
  ContractTile copied = tile;
  copied.rows.lanes = copied.columns.lanes = kChunk;
  Value inside = insideTile(copied);
  auto choice = scf::IfOp::create(builder, loc, alignedTile(copied), /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  std::string name = tensorElement(tile.dot).isF16() ? "gc_tensor_f16_" : "gc_tensor_bf16_";
  SmallVector<Value> sums = callTile(yes, tile, name, {});
  IndexMath m{yes, loc};
  Value rest = m.mul(m.div(tile.to, kDepth), kDepth);
  sums = tensorSteps(yes, tile, rest, sums);
  auto stored = scf::IfOp::create(yes, loc, inside, /*withElseRegion=*/true);
  OpBuilder all = stored.getThenBodyBuilder(), some = stored.getElseBodyBuilder();
  contractStore(all, tile, tile.spread, sums, true);
  contractStore(some, tile, tile.spread, sums, false);
  edges(no);
  finish();
}
