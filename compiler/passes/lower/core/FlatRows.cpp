// Maps of short rows: what does not lie as the points of the loops follow each other is laid out so
// for some rows, over which the vectors then go as if they were one.
#include "compiler/passes/lower/core/FlatRows.h"

#include "compiler/passes/lower/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {
/// Elements that are laid out at once: a few kilobytes of each operand.
constexpr int64_t kTogether = 512;
constexpr size_t kMostLaidOut = 8;
constexpr int64_t kSmallBody = 16;
/// Rows of so few elements are written one by one: masks take longer.
constexpr int64_t kFewElements = 8;
/// Longer rows fill their registers.
constexpr int64_t kMostRegisters = 4;
} // namespace

/// Whether elements lie in memory as the points of the parallel loops follow each other.
static bool follows(const LinearAccess &access, const LoopSpace &space) {
  unsigned last = space.parallel - 1;
  if (access.strides[last].isZero())
    return false;
  for (unsigned loop = 0; loop < last; ++loop)
    if (!(access.strides[loop] == access.strides[last] * space.product(loop + 1, space.parallel)))
      return false;
  return true;
}

/// Whether a value that is read, or a position, is another one at each point.
static bool changes(Value value, const LoopSpace &space) {
  return llvm::any_of(llvm::seq(space.parallel),
                      [&](unsigned loop) { return space.dependsOn(value, loop); });
}

static bool isLaidOut(Operation *op, const LoopSpace &space) {
  if (!isa<kernel::LoadOp, kernel::IndexOp, kernel::GatherOp>(op) ||
      !changes(op->getResult(0), space))
    return false;
  auto gather = dyn_cast<kernel::GatherOp>(op);
  auto moves = [&](Value place) { return changes(place, space); };
  return (gather && llvm::any_of(gather.getPlaces(), moves)) ||
         !follows(space.accesses.at(op), space);
}

FlatRows::FlatRows(kernel::FuncOp kernel, const LoopSpace &space, ArrayRef<kernel::StoreOp> stores,
                   int64_t lanes)
    : kernel(kernel), space(space), lanes(lanes) {
  if (space.parallel < 2)
    return;
  llvm::SetVector<Operation *> needed;
  for (kernel::StoreOp store : stores)
    for (Value value : store.getValues())
      needed.insert(value.getDefiningOp());
  for (size_t next = 0; next < needed.size(); ++next) {
    Operation *op = needed[next];
    if (isLaidOut(op, space)) {
      operands.push_back(op->getResult(0));
      continue;
    }
    for (Value operand : op->getOperands())
      if (Operation *from = operand.getDefiningOp())
        needed.insert(from);
  }
  for (kernel::StoreOp store : stores)
    (follows(space.accesses.at(store), space) ? straight : apart).push_back(store);
}

FlatRows::Use FlatRows::use() {
  size_t laidOut = operands.size();
  for (kernel::StoreOp store : apart)
    laidOut += store.getValues().size();
  Block &body = kernel.getBody().front();
  int64_t ops = llvm::range_size(body);
  bool isLarge = ops > kSmallBody ||
                 llvm::any_of(body, [](Operation &op) { return op.hasTrait<graph::Expensive>(); });
  // Few lanes at places of their own, checked one by one, take less than laying them out does.
  bool isSlow = !isLarge && !body.getOps<kernel::BoundOp>().empty();
  longest = isLarge || apart.empty() ? kMostRegisters * lanes - 1 : kFewElements;
  bool checksFirst = kernel->hasAttr(kChecksAloneAttr) && checksIndices(kernel);
  if (space.parallel < 2 || lanes <= 2 || kernel->hasAttr(kOnceAttr) || checksFirst ||
      laidOut > kMostLaidOut || ops > kMostOpsTwice || isSlow ||
      !body.getOps<kernel::ScatterOp>().empty())
    return Use::Never;
  if (auto length = space.extents[space.parallel - 1].constant())
    return *length <= longest ? Use::Always : Use::Never;
  return kernel->hasAttr(kOfFewAttr) ? Use::Sometimes : Use::Never;
}

namespace graphc::pass {

/// Lowers what FlatRows has found, in an open function.
struct CoreLowering::FlatLoops {
  FlatLoops(CoreLowering &l, const FlatRows &rows) : l(l), rows(rows), loc(l.loc) {}
  void run();

private:
  struct Block {
    Position first; ///< its first row
    Value row, count, start;
  };
  using Memory = llvm::MapVector<Value, Value>; ///< kernel value -> where it is laid out
  Value memoryOf(Value value);
  void eachRow(OpBuilder &b, const Block &block,
               llvm::function_ref<void(OpBuilder &, Position &, Value, Value)> body);
  void layOut(OpBuilder &b, const Block &block, const Memory &memory, Value low, Value high);
  void points(OpBuilder &b, const Block &block, Value low, Value high);
  void writeRows(OpBuilder &b, const Block &block, Value low, Value high);
  void pieces(OpBuilder &b, const Position &row, Value from, Value to, bool inVectors,
              llvm::function_ref<void(OpBuilder &, Position &)> body);
  void eitherWay(OpBuilder &b, llvm::function_ref<void(OpBuilder &, bool)> body);
  void keep(OpBuilder &b, Value value, Value memory, Value place, int64_t width);
  void recall(OpBuilder &b, const Memory &memory, Value place, Position &at);

  CoreLowering &l;
  const FlatRows &rows;
  Location loc;
  Memory once, each; ///< operands that all rows share, and others
  Memory results;    ///< of stores whose elements lie elsewhere
  Value length;
};

} // namespace graphc::pass

Value CoreLowering::FlatLoops::memoryOf(Value value) {
  auto type = MemRefType::get({kTogether + l.width}, memoryType(value.getType()));
  return memref::AllocaOp::create(l.builder, loc, type, l.builder.getI64IntegerAttr(kLineBytes));
}

/// The body gets a row, the point of the kernel at which it begins and the place of its first
/// element in what is laid out.
void CoreLowering::FlatLoops::eachRow(
    OpBuilder &b, const Block &block,
    llvm::function_ref<void(OpBuilder &, Position &, Value, Value)> body) {
  IndexMath m{b, loc};
  unsigned last = l.space.parallel - 1;
  auto outer = llvm::to_vector(ArrayRef<Value>(block.first.loops).take_front(last));
  auto over = scf::ForOp::create(b, loc, m(0), block.count, m(1), outer);
  OpBuilder inside = OpBuilder::atBlockBegin(over.getBody());
  IndexMath n{inside, loc};
  Position row = block.first;
  llvm::copy(over.getRegionIterArgs(), row.loops.begin());
  Value place = n.mul(over.getInductionVar(), length);
  Position here = row;
  body(inside, here, n.add(block.start, place), place);
  scf::YieldOp::create(inside, loc, l.nextPoint(inside, row, 0, last));
}

/// Calls `body` for pieces [from, to) of a row: of a register, or of an element each.
void CoreLowering::FlatLoops::pieces(OpBuilder &b, const Position &row, Value from, Value to,
                                     bool inVectors,
                                     llvm::function_ref<void(OpBuilder &, Position &)> body) {
  unsigned last = l.space.parallel - 1;
  l.loop(b, from, to, inVectors ? rows.lanes : 1, [&](OpBuilder &inside, Value at) {
    Position here = row;
    here.loops[last] = at;
    if (inVectors) {
      here.vectorLoop = static_cast<int>(last);
      here.width = rows.lanes;
      l.emitter->maskLanes(inside, here, to);
    }
    body(inside, here);
  });
}

/// What is written beyond the end of a row the next one writes over. Places that are values are
/// looked at for the points [low, high) alone: where others were, results may lie by now.
void CoreLowering::FlatLoops::layOut(OpBuilder &b, const Block &block, const Memory &memory,
                                     Value low, Value high) {
  if (memory.empty())
    return;
  unsigned last = l.space.parallel - 1;
  eachRow(b, block, [&](OpBuilder &inside, Position &row, Value start, Value place) {
    IndexMath m{inside, loc};
    Value zero = m(0), from = m.sub(m.max(low, start), start);
    Value to = m.min(m.sub(high, start), length);
    auto some = [&](OpBuilder &c, bool inVectors, Value first, Value end,
                    llvm::function_ref<bool(Value)> holds) {
      SmallVector<std::pair<Value, Value>> chosen;
      for (auto entry : memory)
        if (holds(entry.first))
          chosen.push_back(entry);
      if (chosen.empty())
        return;
      pieces(c, row, first, end, inVectors, [&](OpBuilder &d, Position &here) {
        Value at = IndexMath{d, loc}.add(place, here.loops[last]);
        for (auto [value, where] : chosen)
          keep(d, l.emitter->value(d, value, here), where, at, here.width);
      });
    };
    auto stays = [&](Value value) { return !l.space.dependsOn(value, last); };
    auto isDense = [&](Value value) { return !stays(value) && l.space.isDense(value, last); };
    auto isPlaced = [&](Value value) {
      return !stays(value) && value.getDefiningOp<kernel::GatherOp>();
    };
    auto jumps = [&](Value value) { return !stays(value) && !isDense(value) && !isPlaced(value); };
    some(inside, /*inVectors=*/true, zero, length, stays);
    some(inside, /*inVectors=*/false, zero, length, jumps);
    some(inside, /*inVectors=*/false, from, to, isPlaced);
    eitherWay(inside,
              [&](OpBuilder &c, bool inVectors) { some(c, inVectors, zero, length, isDense); });
  });
}

/// `body` for rows of few elements one by one, for others in vectors.
void CoreLowering::FlatLoops::eitherWay(OpBuilder &b,
                                        llvm::function_ref<void(OpBuilder &, bool)> body) {
  Value few = IndexMath{b, loc}.atLeast(l.constant(b, kFewElements), length);
  auto choice = scf::IfOp::create(b, loc, few, /*withElseRegion=*/true);
  OpBuilder one = choice.getThenBodyBuilder(), many = choice.getElseBodyBuilder();
  body(one, /*inVectors=*/false);
  body(many, /*inVectors=*/true);
}

/// Writes lanes where they are laid out.
void CoreLowering::FlatLoops::keep(OpBuilder &b, Value value, Value memory, Value place,
                                   int64_t width) {
  Value raw = l.emitter->toMemory(b, value);
  if (width == 1)
    memref::StoreOp::create(b, loc, raw, memory, place);
  else
    vector::StoreOp::create(b, loc, BodyEmitter::splat(b, loc, raw, width), memory, place);
}

/// Gives `at` what is laid out from `place` on.
void CoreLowering::FlatLoops::recall(OpBuilder &b, const Memory &memory, Value place,
                                     Position &at) {
  for (auto [value, where] : memory) {
    Type type = BodyEmitter::vectorOf(memoryType(value.getType()), at.width);
    Value raw = at.width == 1
                    ? memref::LoadOp::create(b, loc, where, place).getResult()
                    : vector::LoadOp::create(b, loc, cast<VectorType>(type), where, place);
    at.values[value] = l.emitter->fromMemory(b, raw, value.getType());
  }
}

void CoreLowering::FlatLoops::points(OpBuilder &b, const Block &block, Value low, Value high) {
  unsigned last = l.space.parallel - 1;
  Position base = l.position();
  for (unsigned loop = 0; loop < last; ++loop)
    base.loops[loop] = l.constant(b, 0);
  auto strip = [&](OpBuilder &inside, Position &at) {
    Value place = IndexMath{inside, loc}.sub(at.loops[last], block.start);
    recall(inside, once, place, at);
    recall(inside, each, place, at);
    if (rows.apart.empty())
      return l.storeAll(inside, at);
    // Every load before any store.
    for (kernel::StoreOp store : l.stores)
      for (Value value : store.getValues())
        l.emitter->value(inside, value, at);
    for (auto [value, where] : results)
      keep(inside, at.values.lookup(value), where, place, at.width);
    if (!rows.straight.empty())
      l.emitter->storeAll(inside, rows.straight, at);
  };
  l.strips(b, base, static_cast<int>(last), l.width, low, high, strip, rows.lanes);
}

void CoreLowering::FlatLoops::writeRows(OpBuilder &b, const Block &block, Value low, Value high) {
  if (rows.apart.empty())
    return;
  unsigned last = l.space.parallel - 1;
  eachRow(b, block, [&](OpBuilder &inside, Position &row, Value start, Value place) {
    IndexMath m{inside, loc};
    Value from = m.sub(m.max(low, start), start), to = m.min(m.sub(high, start), length);
    auto write = [&](OpBuilder &c, bool inVectors) {
      pieces(c, row, from, to, inVectors, [&](OpBuilder &d, Position &here) {
        recall(d, results, IndexMath{d, loc}.add(place, here.loops[last]), here);
        l.emitter->storeAll(d, rows.apart, here);
      });
    };
    bool areDense = llvm::all_of(rows.apart, [&](kernel::StoreOp store) {
      return l.space.accesses.at(store).isDense(last);
    });
    if (!areDense || rows.longest <= kFewElements)
      write(inside, /*inVectors=*/false);
    else
      eitherWay(inside, write);
  });
}

void CoreLowering::FlatLoops::run() {
  OpBuilder &b = l.builder;
  IndexMath m{b, loc};
  unsigned last = l.space.parallel - 1;
  for (Value value : rows.operands) {
    bool isShared = llvm::none_of(llvm::seq(last),
                                  [&](unsigned loop) { return l.space.dependsOn(value, loop); });
    (isShared ? once : each)[value] = memoryOf(value);
  }
  for (kernel::StoreOp store : rows.apart)
    for (Value value : store.getValues())
      if (!results.contains(value))
        results[value] = memoryOf(value);
  length = l.emitter->extent(b, last);
  Value first = m.div(l.begin, length), rowsEnd = m.ceilDiv(l.end, length);
  Value some = m.max(m.div(m(kTogether), length), m(1));
  auto blockAt = [&](OpBuilder &inside, Value row) {
    IndexMath n{inside, loc};
    Block block{l.position(), row, n.min(some, n.sub(rowsEnd, row)), n.mul(row, length)};
    l.emitter->delinearize(inside, row, 0, last, block.first);
    return block;
  };
  Block any = blockAt(b, first);
  layOut(b, any, once, any.start, m.add(any.start, m.mul(any.count, length)));
  auto over = scf::ForOp::create(b, loc, first, rowsEnd, some);
  OpBuilder inside = OpBuilder::atBlockBegin(over.getBody());
  IndexMath n{inside, loc};
  Block block = blockAt(inside, over.getInductionVar());
  Value low = n.max(l.begin, block.start);
  Value high = n.min(l.end, n.add(block.start, n.mul(block.count, length)));
  layOut(inside, block, each, low, high);
  points(inside, block, low, high);
  writeRows(inside, block, low, high);
}

void CoreLowering::chooseFlat() {
  FlatRows rows(kernel, space, stores, registerLanes(width));
  FlatRows::Use use = rows.use();
  if (use == FlatRows::Use::Never)
    return lowerMapRows(builder, /*shortApart=*/false);
  if (use == FlatRows::Use::Always)
    return FlatLoops(*this, rows).run();
  IndexMath m{builder, loc};
  Value few = m.atLeast(m(rows.longest), emitter->extent(builder, space.parallel - 1));
  auto choice = scf::IfOp::create(builder, loc, few, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  auto name = FlatSymbolRefAttr::get(builder.getContext(), shortName());
  func::CallOp::create(yes, loc, name, TypeRange(), function.getArguments());
  lowerMapRows(no, /*shortApart=*/true);
}

void CoreLowering::lowerFlatForm() {
  FlatRows rows(kernel, space, stores, registerLanes(width));
  if (rows.use() != FlatRows::Use::Sometimes)
    return;
  open(shortName(), {});
  FlatLoops(*this, rows).run();
  close();
  function.setPrivate();
  function->removeAttr("graphc.kernel");
}
