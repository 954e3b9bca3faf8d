#include "compiler/emit/device/UnrollLoops.h"

#include "compiler/passes/lower/LoopSpace.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace graphc;

namespace {

/// Loads of several turns are on their way together; long turns have other work to hide them, and
/// would take all registers (a Fourier series 0.069 -> 0.030 ms on an H200).
constexpr int64_t kUnrolledOps = 1024;
/// Turns with branches for seldom values, which count for most of their operations, have up to four
/// beside each other, as far as registers are left: the fewer, the more words are carried on.
constexpr int64_t kBranchingTurns = 4, kCarriedByTurns = 16;

/// Marks such a loop (readFirst).
constexpr StringLiteral kReadsFirstAttr = "graphc.reads_first";

/// An array of the work-item's own.
bool touchesOwn(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value memory) {
    auto array = memory.getDefiningOp<memref::AllocaOp>();
    return array && !array.getType().getMemorySpace();
  });
}

bool branches(scf::ForOp loop) { return !loop.getBody()->getOps<scf::IfOp>().empty(); }

bool touchesOwn(scf::ForOp loop) {
  return loop
      .walk([](Operation *op) {
        return touchesOwn(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Registers of what a turn gives the next one.
int64_t carriedWords(scf::ForOp loop) {
  constexpr unsigned kWordBits = 32;
  int64_t words = 0;
  for (Type type : loop.getResultTypes())
    words += type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), kWordBits)
                                 : kCarriedByTurns;
  return std::max<int64_t>(words, 1);
}

int64_t turnsOf(scf::ForOp loop, int64_t asked) {
  if (touchesOwn(loop))
    return asked;
  int64_t ops = 0;
  loop.walk([&](Operation *) { ++ops; });
  int64_t turns = std::max<int64_t>(1, kUnrolledOps / ops);
  if (branches(loop))
    turns = std::max(turns, std::min(kBranchingTurns, kCarriedByTurns / carriedWords(loop)));
  return std::min(asked, turns);
}

/// What a turn reads from memory that nobody writes meanwhile, before what it computes: behind a
/// branch the driver's compiler leaves a read where it is, and the turns would wait one after the
/// other.
void readFirst(scf::ForOp loop) {
  Block *body = loop.getBody();
  llvm::SetVector<Operation *> moved;
  for (Operation &op : *body) {
    if (!isa<memref::LoadOp, vector::LoadOp>(op) || !isa<BlockArgument>(op.getOperand(0)))
      continue;
    llvm::SetVector<Operation *> needed;
    SmallVector<Operation *> left = {&op};
    while (!left.empty()) {
      Operation *next = left.pop_back_val();
      if (!needed.insert(next))
        continue;
      for (Value operand : next->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == body)
          left.push_back(producer);
    }
    auto isAddress = [&](Operation *part) {
      return part == &op || (part->getNumRegions() == 0 && isMemoryEffectFree(part));
    };
    if (llvm::all_of(needed, isAddress))
      moved.insert(needed.begin(), needed.end());
  }
  SmallVector<Operation *> ordered;
  for (Operation &op : *body)
    if (moved.contains(&op))
      ordered.push_back(&op);
  for (Operation *op : llvm::reverse(ordered))
    op->moveBefore(body, body->begin());
}

/// Whether all that a loop does with memory is to read what others share.
bool onlyReads(scf::ForOp loop) {
  return !loop.walk([](Operation *op) {
                bool reads = isa<memref::LoadOp, vector::LoadOp>(op) && !touchesOwn(op);
                return reads || op->getNumRegions() > 0 || isMemoryEffectFree(op)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

} // namespace

void emit::unrollLoops(func::FuncOp function) {
  SmallVector<std::pair<scf::ForOp, int64_t>> some;
  SmallVector<scf::ForOp> whole;
  function.walk([&](scf::ForOp loop) { // inner ones first
    if (llvm::any_of(*loop.getBody(), [](Operation &op) { return touchesOwn(&op); }) &&
        loop.getStaticTripCount()) {
      whole.push_back(loop);
    } else if (auto asked = loop->getAttrOfType<IntegerAttr>(pass::kUnrollAttr)) {
      some.emplace_back(loop, turnsOf(loop, asked.getInt()));
      if (branches(loop) && onlyReads(loop))
        loop->setAttr(kReadsFirstAttr, UnitAttr::get(loop.getContext()));
    }
  });
  for (scf::ForOp loop : whole)
    (void)loopUnrollFull(loop);
  for (auto [loop, turns] : some)
    (void)loopUnrollByFactor(loop, static_cast<uint64_t>(turns));
  // What has become of them: loops of one turn are none any more, others have been copied.
  function.walk([](scf::ForOp loop) {
    if (loop->removeAttr(kReadsFirstAttr))
      readFirst(loop);
  });
}
