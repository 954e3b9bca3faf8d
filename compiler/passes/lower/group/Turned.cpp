// Maps that read something along another loop than the one they write along, for groups of
// work-items: a tile is read in the order in which it lies, and turned in local memory.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Neighbours that a work-item moves at once.
static constexpr int64_t kLanes = 4;

void GroupLowering::lowerTurned() {
  open(kernel.getSymName(), {});
  int turned = *shape.turned, last = static_cast<int>(space.parallel) - 1;
  int64_t tile = shape.turnedTile, across = tile / kLanes, down = shape.group / across;
  IndexMath m{builder, loc};
  Value rowEnd = emitter->extent(builder, turned), columnEnd = emitter->extent(builder, last);
  // Tiles along the last loop first: a group's neighbours write neighbouring memory.
  Position base = position();
  Value rest = begin;
  for (int number = last; number >= 0; --number) {
    bool cut = number == turned || number == last;
    Value extent = emitter->extent(builder, number);
    Value count = cut ? m.ceilDiv(extent, tile) : extent;
    Value quotient = m.div(rest, count), index = m.sub(rest, m.mul(quotient, count));
    base.loops[number] = cut ? m.mul(index, tile) : index;
    rest = quotient;
  }
  Value row = base.loops[turned], column = base.loops[last];
  Value lane = arith::RemUIOp::create(builder, loc, member, m(across)),
        line = m.div(member, across);
  Value start = m.mul(lane, kLanes);

  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  auto local = gpu::AddressSpaceAttr::get(entry.getContext(), gpu::AddressSpace::Workgroup);
  SmallVector<std::pair<kernel::LoadOp, Value>> tiles;
  for (kernel::LoadOp load : turnedLoads(kernel, space, *shape.turned)) {
    // One more element a line: columns of the tile lie in different banks.
    auto type =
        MemRefType::get({tile * (tile + 1)}, memoryType(load.getType()), AffineMap(), local);
    tiles.push_back({load, memref::AllocaOp::create(entry, loc, type)});
  }
  auto vectorAlong = [&](Position &at, int loopNumber, Value end) {
    at.vectorLoop = loopNumber;
    at.width = kLanes;
    emitter->maskLanes(builder, at, end);
  };
  for (int64_t step = 0; step < tile; step += down) {
    Value j = m.add(line, step);
    Position at = base;
    at.loops[turned] = m.add(row, start);
    // Lines outside read the last one, which nobody uses.
    at.loops[last] = m.min(m.add(column, j), m.sub(columnEnd, m(1)));
    vectorAlong(at, turned, rowEnd);
    for (auto [load, memory] : tiles) {
      Value x = emitter->toMemory(builder, emitter->value(builder, load.getResult(), at));
      Value first = m.add(m.mul(j, tile + 1), start);
      for (int64_t i = 0; i < kLanes; ++i)
        memref::StoreOp::create(builder, loc, vector::ExtractOp::create(builder, loc, x, i), memory,
                                m.add(first, i));
    }
  }
  gpu::BarrierOp::create(builder, loc);
  for (int64_t step = 0; step < tile; step += down) {
    Value i = m.add(line, step);
    Position at = base;
    at.loops[turned] = m.add(row, i);
    at.loops[last] = m.add(column, start);
    auto present = scf::IfOp::create(builder, loc, m.less(at.loops[turned], rowEnd),
                                     /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(present.thenBlock());
    vectorAlong(at, last, columnEnd);
    for (auto [load, memory] : tiles) {
      SmallVector<Value> parts;
      for (int64_t k = 0; k < kLanes; ++k)
        parts.push_back(memref::LoadOp::create(builder, loc, memory,
                                               m.add(m.mul(m.add(start, k), tile + 1), i)));
      auto type = VectorType::get({kLanes}, parts[0].getType());
      Value x = vector::FromElementsOp::create(builder, loc, type, parts);
      at.values[load.getResult()] = emitter->fromMemory(builder, x, load.getType());
    }
    storeAll(builder, at);
  }
  close();
}
