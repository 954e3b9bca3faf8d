// Maps: each work-item has a few neighbours along the last loop, and neighbouring work-items have
// neighbouring memory.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// A map whose work-items have several strips each.
struct GroupLowering::MapStrips {
  /// A strip by its number, and whether it is inside.
  using Place = llvm::function_ref<std::pair<Position, Value>(OpBuilder &, Value)>;

  GroupLowering &own;
  Location loc = own.loc;
  int last = static_cast<int>(own.space.parallel) - 1;
  int64_t count = own.shape.strips;

  void stripOfLine();
  void stripsOfLines();
  void store(OpBuilder &b, MutableArrayRef<Position> strips, Value whole, Place place);
};

void GroupLowering::lowerMap() {
  open(kernel.getSymName(), {});
  if (width == 1 || space.parallel == 0)
    groupStrip({}, [&](OpBuilder &b, ColumnRun &, Position &at) { storeAll(b, at); });
  else if (space.parallel == 1)
    MapStrips{*this}.stripOfLine();
  else
    MapStrips{*this}.stripsOfLines();
  close();
}

/// One loop: a work-item has one strip, and the strips of a group follow each other.
void GroupLowering::MapStrips::stripOfLine() {
  OpBuilder &b = own.builder;
  IndexMath m{b, loc};
  Position at = own.position();
  at.vectorLoop = 0;
  at.width = own.width;
  at.loops[0] = m.mul(m.add(m.mul(own.begin, own.shape.group), own.member), own.width);
  Value length = own.emitter->extent(b, 0),
        whole = m.atLeast(length, m.add(at.loops[0], own.width));
  Position strip = at;
  store(b, strip, whole, [&](OpBuilder &c, Value) {
    return std::pair(at, IndexMath{c, loc}.less(at.loops[0], length));
  });
}

/// Several loops: the strips of a work-item lie in lines that follow each other along the first
/// loop, at the same place of each.
void GroupLowering::MapStrips::stripsOfLines() {
  own.groupStrip({}, [&](OpBuilder &b, ColumnRun &, Position &at) {
    IndexMath m{b, loc};
    Value length = own.emitter->extent(b, last), lines = own.emitter->extent(b, 0);
    at.loops[0] = m.mul(at.loops[0], count);
    SmallVector<Position> strips(count, at);
    for (int64_t number = 1; number < count; ++number)
      strips[number].further = m(number);
    Value whole = m.atLeast(length, m.add(at.loops[last], own.width));
    if (count > 1)
      whole = m.both(whole, m.less(m.add(at.loops[0], strips.back().further), lines));
    store(b, strips, whole, [&](OpBuilder &c, Value number) {
      IndexMath n{c, loc};
      Position here = at;
      here.loops[0] = n.add(at.loops[0], number);
      return std::pair(here, n.less(here.loops[0], lines));
    });
  });
}

/// Where all strips are whole, every load comes before any store, as in storeAll: loads of all
/// strips wait together. Else one strip after the other.
void GroupLowering::MapStrips::store(OpBuilder &b, MutableArrayRef<Position> strips, Value whole,
                                     Place place) {
  IndexMath m{b, loc};
  Value aligned = own.alignedSizes(b, last, own.width, {});
  if (aligned)
    whole = m.both(whole, aligned);
  auto choice = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  for (Position &at : strips) {
    at.aligned = true;
    for (kernel::StoreOp store : own.stores)
      for (Value value : store.getValues())
        own.emitter->value(yes, value, at);
  }
  for (Position &at : strips)
    own.storeAll(yes, at);
  Value length = own.emitter->extent(no, last), zero = own.constant(no, 0);
  auto masked = [&](OpBuilder &c, Position at) {
    own.emitter->maskLanes(c, at, length);
    own.storeAll(c, at);
  };
  auto strip = [&](OpBuilder &c, Value number) {
    auto [at, inside] = place(c, number);
    auto present = scf::IfOp::create(c, loc, inside, /*withElseRegion=*/false);
    OpBuilder d = present.getThenBodyBuilder();
    if (count == 1) // it is not whole
      return masked(d, at);
    IndexMath n{d, loc};
    Value full = n.atLeast(length, n.add(at.loops[last], own.width));
    if (aligned)
      full = n.both(full, aligned);
    auto one = scf::IfOp::create(d, loc, full, /*withElseRegion=*/true);
    OpBuilder all = one.getThenBodyBuilder(), some = one.getElseBodyBuilder();
    masked(some, at);
    at.aligned = true;
    own.storeAll(all, at);
  };
  if (count == 1)
    return strip(no, zero);
  own.loop(no, zero, own.constant(no, count), 1, strip);
}
