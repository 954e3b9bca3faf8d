// Tiles of matrix products as calls of emit/device/ChainTile.h or TensorTile.h: both operands are
// loads, and k or the own loop of each is contiguous.
#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupContract.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

bool GroupLowering::takesRun() const { return shape.runPieces && shape.splitBlock == 0; }

/// The elements of a work-item in the order of the function's results.
GroupLowering::Spread GroupLowering::calledSpread(OpBuilder &b, const ContractTile &tile) {
  IndexMath m{b, loc};
  Value warp = m.div(member, 32), lane = m.sub(member, m.mul(warp, 32));
  Value down = m.div(warp, 2), across = m.sub(warp, m.mul(down, 2));
  Value g = m.div(lane, 4), t = m.sub(lane, m.mul(g, 4));
  Spread spread;
  if (tile.dot.getType().isF64()) {
    Value row = m.add(m.mul(down, 32), m.mul(g, 2));
    int64_t columns = shape.groupTile / 2; // of a warp
    for (int64_t i : {0, 1, 16, 17})
      spread.rows.push_back(m.add(row, i));
    Value pair = m.add(m.mul(across, columns), m.mul(t, 2));
    spread.lanes = 2;
    for (int64_t column = 0; column < columns; column += 8)
      spread.runs.push_back(m.add(pair, column));
    return spread;
  }
  Value row = m.mul(m.add(m.mul(down, 8), g), kQuad);
  for (int64_t first = 0; first < shape.groupTile; first += 64)
    for (int64_t i = 0; i < kQuad; ++i)
      spread.rows.push_back(m.add(row, first + i));
  Value quad = m.mul(m.add(m.mul(across, 4), t), kQuad);
  for (int64_t column = 0; column < shape.groupTile; column += 32)
    spread.runs.push_back(m.add(quad, column));
  return spread;
}

SmallVector<Value> GroupLowering::callTile(OpBuilder &b, const ContractTile &tile, std::string name,
                                           ValueRange sums) {
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
  bool inBulk = tile.columnCount != shape.groupTile, onTensors = kernel->hasAttr(kTensorsAttr);
  if (inBulk)
    arguments.append({extraBuffers.back(), m.mul(begin, kMapsBytes / sizeof(int64_t))});
  if (sums.empty()) {
    Value length = m.sub(tile.to, tile.from);
    arguments.push_back(onTensors && !inBulk ? m.div(length, tile.depth) : length);
    for (const Side *side : {&tile.rows, &tile.columns})
      arguments.push_back(m.sub(side->end, side->first));
    if (!onTensors)
      arguments.push_back(m.select(m.both(insideTile(tile), alignedTile(tile)), m(1), m(0)));
  }
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

/// The function reads nothing behind an edge. Where lines are aligned and there is as much as a
/// tile of rows and columns, the last tiles begin before the end of those before them, which have
/// their elements stored already.
void GroupLowering::storeCalledTile(OpBuilder &b, const ContractTile &tile) {
  std::string name = tile.dot.getType().isF64() ? "gc_tile_f64" : "gc_tile_f32";
  name += shape.groupTile < kContractTile ? "s_" : takesRun() ? "r_" : "_";
  IndexMath m{b, loc};
  ContractTile moved = tile;
  Value inside = insideTile(tile), aligned = alignedTile(tile);
  for (Side *side : {&moved.rows, &moved.columns}) {
    Value enough = m.both(aligned, m.atLeast(side->end, m(shape.groupTile)));
    if (!side->alongK || side == &moved.columns)
      enough =
          m.both(enough, m.equal(arith::AndIOp::create(b, loc, side->end, m(kQuad - 1)), m(0)));
    Value last = m.sub(side->end, m(shape.groupTile));
    Value own = side->first;
    side->first = m.select(m.both(enough, m.less(last, own)), last, own);
    side->skipped =
        arith::IndexCastOp::create(b, loc, b.getI32Type(), m.sub(own, side->first)).getResult();
  }
  Spread spread = calledSpread(b, tile);
  SmallVector<Value> sums = callTile(b, moved, name, {});
  auto stored = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/true);
  OpBuilder all = stored.getThenBodyBuilder(), some = stored.getElseBodyBuilder();
  contractStore(all, moved, spread, sums, true);
  contractStore(some, moved, spread, sums, false);
}
