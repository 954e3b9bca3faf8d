// Results that pass the caches by. A store first reads the line it will overwrite, and pushes
// another out; a result too large to be found in a cache later is written without either.
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Smaller results stay in the last cache of common machines until they are read.
static constexpr int64_t kStreamedResultBytes = int64_t{32} << 20;
/// A line of the cache. Parts of a line cost more than a whole one saves.
static constexpr int64_t kLineBytes = 64;

/// One word a result, 0 where its whole lines are streamed: large, on lines, last read here, and
/// not written over an operand, whose lines are in the cache already.
void KernelLowering::openStreams() {
  auto last = kernel->getAttrOfType<DenseBoolArrayAttr>(kLastReadAttr);
  if (!last || shape.group || width == 1 || space.parallel == 0)
    return;
  IndexMath at{builder, loc};
  auto addressOf = [&](Value buffer) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  };
  Value elements;
  for (kernel::StoreOp store : stores) {
    if (!last[store.getResult()] || store.getImaginary() || emitter->isStreamed(store))
      continue;
    const LinearAccess &access = space.accesses.at(store);
    unsigned along = isPoint(store) ? space.parallel : space.parallel - 1;
    if (!access.isDense(along))
      continue;
    Value buffer = emitter->buffer(store), address = addressOf(buffer);
    int64_t bytes = cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
    if (!elements)
      elements = emitter->emit(builder, space.product(0, along + 1));
    Value word = at.select(at.less(elements, at(kStreamedResultBytes / bytes)), at(1), at(0));
    word = at.either(word, arith::AndIOp::create(builder, loc, address, at(kLineBytes - 1)));
    for (Value operand : emitter->operands())
      word = at.either(word, at.select(at.equal(addressOf(operand), address), at(1), at(0)));
    emitter->stream(store, word);
  }
}

bool BodyEmitter::isStreamed(kernel::StoreOp store) const {
  return streamed.contains(store.getResult());
}

void BodyEmitter::stream(kernel::StoreOp store, Value word) { streamed[store.getResult()] = word; }

/// A whole vector at `first`; on a line of its own it may pass the caches by.
void BodyEmitter::storeVector(OpBuilder &builder, kernel::StoreOp op, Value raw, Value first,
                              llvm::MaybeAlign alignment) {
  Value memory = buffer(op), word = streamed.lookup(op.getResult());
  auto type = cast<VectorType>(raw.getType());
  int64_t element = type.getElementTypeBitWidth() / 8, bytes = type.getNumElements() * element;
  if (!word || bytes % kLineBytes != 0) {
    vector::StoreOp::create(builder, loc, raw, memory, first, false, alignment);
    return;
  }
  IndexMath m{builder, loc};
  Value inLine = arith::AndIOp::create(builder, loc, first, m(kLineBytes / element - 1));
  auto choice = scf::IfOp::create(builder, loc, m.equal(m.either(inLine, word), m(0)),
                                  /*withElseRegion=*/true);
  OpBuilder yes = choice.getThenBodyBuilder(), no = choice.getElseBodyBuilder();
  vector::StoreOp::create(yes, loc, raw, memory, first, /*nontemporal=*/true,
                          llvm::Align(kLineBytes));
  vector::StoreOp::create(no, loc, raw, memory, first, false, alignment);
}
