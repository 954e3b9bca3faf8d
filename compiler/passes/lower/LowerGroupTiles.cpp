// Tiles of matrix products as calls of emit/opencl/Tiles.cpp or emit/device/TensorTile.h: both
// operands are loads, and k or the own loop of each is contiguous.
#include "compiler/passes/lower/GroupContract.h"
#include "compiler/passes/lower/IndexMath.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

bool KernelLowering::copiesSides(const ContractTile &tile) {
  auto copied = [&](const Side &side) {
    if (!side.load || side.lanes != kQuad)
      return false;
    const LinearAccess &access = space.accesses.at(side.load);
    return !access.part &&
           access.strides[side.alongK ? space.parallel : side.loopNumber].isConstant(1);
  };
  return copied(tile.rows) && copied(tile.columns);
}

/// The elements of a work-item in the order of the function's results.
KernelLowering::Spread KernelLowering::calledSpread(OpBuilder &b, const ContractTile &tile) {
  if (!tile.dot.getType().isF64())
    return tile.spread;
  IndexMath m{b, loc};
  Value warp = m.div(member, 32), lane = m.sub(member, m.mul(warp, 32));
  Value down = m.div(warp, 2), g = m.div(lane, 4), t = m.sub(lane, m.mul(g, 4));
  Value row = m.add(m.mul(down, 32), m.mul(g, 2));
  int64_t columns = shape.groupTile / 2; // of a warp
  Value quad = m.add(m.mul(m.sub(warp, m.mul(down, 2)), columns), m.mul(t, kQuad));
  Spread spread;
  for (int64_t i : {0, 1, 16, 17})
    spread.rows.push_back(m.add(row, i));
  for (int64_t p = 0; p < columns / 16; ++p)
    spread.quads.push_back(m.add(quad, 16 * p));
  return spread;
}

SmallVector<Value> KernelLowering::callTile(OpBuilder &b, const ContractTile &tile,
                                            std::string name, ValueRange sums) {
  IndexMath m{b, loc};
  SmallVector<Value> arguments = {tile.memory};
  for (const Side *side : {&tile.rows, &tile.columns}) {
    name += side->alongK ? "k" : "o";
    if (!sums.empty())
      continue;
    const LinearAccess &access = space.accesses.at(side->load);
    Position first = tile.base;
    first.loops[side->loopNumber] = side->first;
    first.loops[space.parallel] = tile.from;
    arguments.push_back(emitter->buffer(side->load));
    arguments.push_back(emitter->index(b, access, first));
    arguments.push_back(
        emitter->emit(b, access.strides[side->alongK ? side->loopNumber : space.parallel]));
  }
  bool inBulk = tile.columnCount != shape.groupTile;
  if (inBulk)
    arguments.append({extraBuffers.back(), m.mul(begin, kMapsBytes / sizeof(int64_t))});
  if (sums.empty())
    arguments.push_back(m.div(m.sub(tile.to, tile.from), inBulk ? 1 : tile.depth));
  if (sums.empty() && kernel->hasAttr(kTensorsAttr))
    for (const Side *side : {&tile.rows, &tile.columns})
      arguments.push_back(m.sub(side->end, side->first));
  arguments.append(sums.begin(), sums.end());
  int64_t count = shape.groupTile * tile.columnCount / shape.group;
  SmallVector<Type> results(count, tile.dot.getType());
  auto type = b.getFunctionType(TypeRange(ValueRange(arguments)), results);
  auto home = function->getParentOfType<ModuleOp>();
  if (!home.lookupSymbol(name)) {
    OpBuilder outside = OpBuilder::atBlockEnd(home.getBody());
    func::FuncOp::create(outside, loc, name, type).setPrivate();
  }
  return SmallVector<Value>(func::CallOp::create(b, loc, name, results, arguments).getResults());
}

void KernelLowering::storeCalledTile(OpBuilder &b, const ContractTile &tile) {
  const char *name = shape.groupTile < kContractTile ? "gc_tile_f64s_"
                     : tile.dot.getType().isF64()    ? "gc_tile_f64_"
                                                     : "gc_tile_f32_";
  contractStore(b, tile, calledSpread(b, tile), callTile(b, tile, name, {}), true);
}
