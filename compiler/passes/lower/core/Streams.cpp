// Results that pass the caches by. A store first reads the line it will overwrite, and pushes
// another out; a result too large to be found in a cache later is written without either.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/ScanShape.h"
#include "compiler/passes/lower/TurnedRows.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

/// Smaller results stay in the last cache of common machines until they are read, unless what the
/// kernel reads meanwhile pushes them out.
static constexpr int64_t kStreamedResultBytes = int64_t{32} << 20;
static constexpr int64_t kStreamedKernelBytes = int64_t{40} << 20;
/// Rows that are turned for others are read from a cache next, unless so much is turned at once
/// that it is all there is.
static constexpr int64_t kTurnedBytes = int64_t{2} << 20;
/// What of a row waits in a second-level cache beside what is read.
static constexpr int64_t kWaitingBytes = int64_t{128} << 10;

/// What a kernel reads and writes for each of its items: operands as large as its results.
static int64_t bytesOfItem(kernel::FuncOp kernel, BodyEmitter &emitter, const LoopSpace &space) {
  llvm::SmallMapVector<Value, int64_t, 8> each;
  auto count = [&](Operation *op, Value buffer, bool isComplex) {
    const LinearAccess &access = space.accesses.at(op);
    bool isWhole = llvm::none_of(llvm::seq(space.parallel),
                                 [&](unsigned i) { return access.strides[i].isZero(); });
    int64_t bits = cast<MemRefType>(buffer.getType()).getElementTypeBitWidth();
    if (isWhole)
      each[buffer] = bits / 8 * (isComplex ? 2 : 1);
  };
  kernel.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      count(op, emitter.buffer(load), space.accesses.at(op).part.has_value());
    else if (auto store = dyn_cast<kernel::StoreOp>(op))
      count(op, emitter.buffer(store), bool(store.getImaginary()));
  });
  int64_t bytes = 0;
  for (auto [buffer, some] : each)
    bytes += some;
  return bytes;
}

/// One word a result, 0 where its whole lines are streamed: large, on lines, last read here, and
/// not written over an operand, whose lines are in the cache already.
void CoreLowering::openStreams() {
  auto last = kernel->getAttrOfType<DenseBoolArrayAttr>(kLastReadAttr);
  if (!last || shape.group || width == 1 || space.count() == 0)
    return;
  IndexMath at{builder, loc};
  auto addressOf = [&](Value buffer) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  };
  Value elements;
  const int64_t each = std::max<int64_t>(bytesOfItem(kernel, *emitter, space), 1);
  for (kernel::StoreOp store : stores) {
    if (!last[store.getResult()] || emitter->streamWord(store))
      continue;
    const LinearAccess &access = space.accesses.at(store);
    if (space.parallel == 0 && !stages.isPoint(store))
      continue;
    unsigned last = stages.isPoint(store) ? space.parallel : space.parallel - 1;
    bool overColumns = shape.family == Family::Scan && !scansAlongRows(kernel, space);
    if (!access.isDense(overColumns ? space.parallel - 1 : last))
      continue;
    Value buffer = emitter->buffer(store), address = addressOf(buffer);
    int64_t bytes = cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
    bytes *= store.getImaginary() ? 2 : 1;
    int64_t few = std::min(kStreamedResultBytes / bytes, kStreamedKernelBytes / each);
    if (!elements)
      elements = emitter->emit(builder, space.product(0, last + 1));
    Value word = at.select(at.less(elements, at(few)), at(1), at(0));
    word = at.either(word, arith::AndIOp::create(builder, loc, address, at(kLineBytes - 1)));
    if (turnsForRows(kernel, shape.turned)) {
      Value some = at.mul(at.sub(end, begin), program::kRowsTogether * kForRowsColumns * bytes);
      word = at.either(word, at.select(at.less(some, at(kTurnedBytes)), at(1), at(0)));
    }
    for (Value operand : emitter->operands())
      word = at.either(word, at.select(at.equal(addressOf(operand), address), at(1), at(0)));
    emitter->stream(store, word);
  }
}

Value BodyEmitter::streamWord(kernel::StoreOp store) const {
  return streamed.lookup(store.getResult());
}

void BodyEmitter::stream(kernel::StoreOp store, Value word) { streamed[store.getResult()] = word; }

/// Elements that are neighbours: their lines are asked for by one of them.
static constexpr int64_t kBesideElements = 64;

/// Whether `later` reads the same elements as `access` before it does: neighbours and rows further
/// on of one tensor.
static bool comesFirst(const LinearAccess &later, const LinearAccess &access) {
  if (later.strides != access.strides || later.part != access.part)
    return false;
  Polynomial ahead = later.offset + access.offset * Polynomial(-1);
  if (auto known = ahead.constant())
    return *known > 0 && *known < kBesideElements;
  return (ahead + Polynomial(kBesideElements)).isPositive();
}

void CoreLowering::prefetch(OpBuilder &b, const Position &at, unsigned loop, int64_t distance,
                            unsigned locality) {
  IndexMath m{b, loc};
  SmallVector<kernel::LoadOp> loads;
  kernel.getBody().walk([&](kernel::LoadOp load) {
    const LinearAccess &access = space.accesses.at(load);
    if (at.values.count(load) && access.isDense(at.vectorLoop) && !access.strides[loop].isZero())
      loads.push_back(load);
  });
  for (kernel::LoadOp load : loads) {
    const LinearAccess &access = space.accesses.at(load);
    if (llvm::any_of(loads, [&](kernel::LoadOp other) {
          return emitter->buffer(other) == emitter->buffer(load) &&
                 comesFirst(space.accesses.at(other), access);
        }))
      continue;
    Position ahead = at;
    ahead.loops[loop] = m.add(at.loops[loop], distance);
    Value index = emitter->index(b, access, ahead), memory = emitter->buffer(load);
    int64_t line = kLineBytes * 8 / cast<MemRefType>(memory.getType()).getElementTypeBitWidth();
    for (int64_t lane = 0; lane < at.width * (access.part ? 2 : 1); lane += line)
      memref::PrefetchOp::create(b, loc, memory, m.add(index, lane), /*isWrite=*/false, locality,
                                 /*isDataCache=*/true);
  }
}

int64_t pass::bytesFarAhead(kernel::FuncOp kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kReadsAheadAttr);
  return bytes ? bytes.getInt() : 0;
}

/// Rows of fewer bytes than the machine is asked ahead that lie between one and the one it is asked
/// for; null: it is asked for the next.
Value CoreLowering::rowsSkipped(OpBuilder &b, Value length) {
  int64_t far = bytesFarAhead(kernel);
  if (!far || space.parallel == 0)
    return {};
  IndexMath m{b, loc};
  return m.div(m(bytesAhead(far)), m.max(m(1), length));
}

/// Whether the stage before the one that asks takes a quarter of that: the latter only stores,
/// which keeps the memory busy, and where the machine is asked for rows it is not followed.
bool CoreLowering::sharesAsking(int asking, int64_t lanes) {
  int64_t bits = 0;
  for (auto load : kernel.getBody().getOps<kernel::LoadOp>())
    bits = std::max<int64_t>(bits, memoryType(load.getType()).getIntOrFloatBitWidth());
  return kernel->hasAttr(kReadsAheadAttr) && !kernel->hasAttr(kOnceAttr) && asking > 0 &&
         space.reducedLoops() == 1 && reducersOfStage(asking).empty() &&
         !reducersOfStage(asking - 1).empty() && lanes * bits / 8 >= 4 * kLineBytes;
}

/// Of a part, what lies as far into it as the vector `at` into the row.
void CoreLowering::askRow(OpBuilder &b, Position at, Value skipped, unsigned locality,
                          RowPart part) {
  IndexMath m{b, loc};
  if (part != RowPart::All) {
    bool rest = part == RowPart::Rest;
    Value &index = at.loops[at.vectorLoop], from = m(0);
    int64_t quarters = rest ? 3 : 1;
    if (rest)
      from = m.div(emitter->emit(b, space.reducedItems()), 4);
    index = m.add(from, m.div(m.mul(index, quarters), 4));
    at.width = at.width * quarters / 4;
  }
  Value &row = at.loops[space.parallel - 1];
  if (skipped)
    row = m.add(row, skipped);
  prefetch(b, at, space.parallel - 1, 1, locality);
}

/// Values that wait for the end of a row wait in memory that stays in a cache, as long as rows are
/// short enough: in the result they would fetch it and be written to memory twice.
void CoreLowering::openWaiting() {
  int64_t offset = 0;
  IndexMath at{builder, loc};
  for (kernel::StoreOp store : stores) {
    if (!waits(store))
      continue;
    Type element = cast<MemRefType>(emitter->buffer(store).getType()).getElementType();
    int64_t capacity = kWaitingBytes / (element.getIntOrFloatBitWidth() / 8);
    Value fits = at.atLeast(at(capacity), emitter->emit(builder, space.reducedItems()));
    emitter->waitIn(store, scratchView(element, offset, capacity), fits);
    if (Value word = emitter->streamWord(store))
      emitter->stream(store, at.either(word, at.select(fits, at(0), at(1))));
    offset += kWaitingBytes;
  }
}

bool CoreLowering::waits(kernel::StoreOp store) {
  return reduceWidth() > 1 && keptValue(store) && space.accesses.at(store).isDense(space.parallel);
}

/// Bytes of scratch that openWaiting() needs.
int64_t CoreLowering::waitingBytes() {
  return kWaitingBytes * llvm::count_if(stores, [&](kernel::StoreOp s) { return waits(s); });
}

void BodyEmitter::waitIn(kernel::StoreOp store, Value memory, Value use) {
  waiting[store] = {memory, use};
}

std::pair<Value, Value> BodyEmitter::waitingPlace(OpBuilder &builder, kernel::StoreOp op,
                                                  Position &position) {
  auto own = waiting.find(op);
  if (own == waiting.end() || position.vectorLoop != static_cast<int>(space.parallel))
    return {};
  IndexMath m{builder, loc};
  Position row = position;
  Value column = std::exchange(row.loops[space.parallel], m(0));
  Value start = index(builder, space.accesses.at(op), row);
  return {m.select(own->second.use, own->second.memory, buffer(op)),
          m.add(m.select(own->second.use, m(0), start), column)};
}

void BodyEmitter::keep(OpBuilder &builder, kernel::StoreOp op, Value kernelValue,
                       Position &position) {
  auto [memory, first] = waitingPlace(builder, op, position);
  if (!memory)
    return storeValue(builder, op, kernelValue, position);
  Value raw =
      splat(builder, loc, toMemory(builder, value(builder, kernelValue, position)), position.width);
  if (position.limit)
    vector::MaskedStoreOp::create(builder, loc, memory, first, position.mask, raw);
  else
    vector::StoreOp::create(builder, loc, raw, memory, first);
}

void BodyEmitter::recall(OpBuilder &builder, kernel::StoreOp op, Value kernelValue,
                         Position &position) {
  const LinearAccess &access = space.accesses.at(op);
  auto [memory, first] = waitingPlace(builder, op, position);
  Value raw =
      memory ? loadFrom(builder, memory, first, access, position)
             : loadFrom(builder, buffer(op), index(builder, access, position), access, position);
  position.values[kernelValue] = fromMemory(builder, raw, kernelValue.getType());
}

/// The first `count` lanes, less than there are, in pieces of halves, quarters and so on. What is
/// read next beside them does not wait for them, as it does for a vector that lies over it, lanes
/// that are masked off too.
void BodyEmitter::storeApart(OpBuilder &builder, Value raw, Value memory, Value first,
                             Value count) {
  IndexMath m{builder, loc};
  for (int64_t piece = cast<VectorType>(raw.getType()).getNumElements() / 2; piece; piece /= 2) {
    auto half = [&](OpBuilder &b, int64_t from) -> Value {
      return vector::ExtractStridedSliceOp::create(b, loc, raw, ArrayRef<int64_t>{from},
                                                   ArrayRef<int64_t>{piece}, ArrayRef<int64_t>{1});
    };
    Value some = arith::AndIOp::create(builder, loc, count, m(piece)), low = half(builder, 0);
    auto choice = scf::IfOp::create(builder, loc, low.getType(), m.less(m(0), some),
                                    /*withElseRegion=*/true);
    OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
    vector::StoreOp::create(yes, loc, low, memory, first);
    scf::YieldOp::create(yes, loc, half(yes, piece));
    scf::YieldOp::create(no, loc, low);
    raw = choice.getResult(0);
    first = m.add(first, some);
  }
}

/// A vector at `first`; whole and on a line of its own it may pass the caches by. Parts of a line
/// cost more than a whole one saves.
void BodyEmitter::storeVector(OpBuilder &builder, kernel::StoreOp op, Value raw, Value first,
                              const Position &position, Value mask, llvm::MaybeAlign alignment) {
  Value memory = buffer(op), word = streamed.lookup(op.getResult());
  auto type = cast<VectorType>(raw.getType());
  int64_t element = type.getElementTypeBitWidth() / 8, bytes = type.getNumElements() * element;
  auto throughCaches = [&](OpBuilder b) {
    if (!position.limit) {
      vector::StoreOp::create(b, loc, raw, memory, first, false, alignment);
      return;
    }
    if (position.apart) {
      IndexMath m{b, loc};
      int64_t parts = type.getNumElements() / position.width;
      Value count = m.mul(m.sub(position.limit, position.loops[position.vectorLoop]), parts);
      Value some = m.both(position.apart, m.less(count, m(type.getNumElements())));
      auto choice = scf::IfOp::create(b, loc, some, /*withElseRegion=*/true);
      OpBuilder yes = choice.getThenBodyBuilder();
      storeApart(yes, raw, memory, first, count);
      b = choice.getElseBodyBuilder();
    }
    vector::MaskedStoreOp::create(b, loc, memory, first, mask, raw);
  };
  if (!word || bytes % kLineBytes != 0 || (position.limit && !position.whole))
    return throughCaches(builder);
  IndexMath m{builder, loc};
  Value inLine = arith::AndIOp::create(builder, loc, first, m(kLineBytes / element - 1));
  Value past = m.equal(m.either(inLine, word), m(0));
  if (position.limit)
    past = m.both(past, position.whole);
  auto choice = scf::IfOp::create(builder, loc, past, /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  vector::StoreOp::create(yes, loc, raw, memory, first, /*nontemporal=*/true,
                          llvm::Align(kLineBytes));
  throughCaches(no);
}
