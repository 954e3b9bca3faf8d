#include "compiler/passes/lower/Stages.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Bytes that a work-item keeps of a row, and the most pieces. What one stage keeps for the next
/// takes the registers of what the stage before kept.
static constexpr int64_t kKeptBytes = 1024, kMostKeptPieces = 16;

bool Stages::isPoint(Value value) {
  auto [it, inserted] = points.try_emplace(value, false);
  if (!inserted)
    return it->second;
  Operation *op = value.getDefiningOp();
  bool result = false;
  if (auto known = space.accesses.find(op); known != space.accesses.end()) {
    for (unsigned loop = space.parallel; loop < space.count(); ++loop)
      result |= !known->second.strides[loop].isZero();
  }
  if (isa<kernel::ScanOp>(op)) {
    result = true;
  } else if (!isa<kernel::ReduceOp, kernel::DotOp>(op)) {
    for (Value operand : op->getOperands())
      result |= operand.getDefiningOp() && isPoint(operand);
  }
  points[value] = result;
  return result;
}

bool Stages::isPoint(kernel::StoreOp store) const {
  for (unsigned loop = space.parallel; loop < space.count(); ++loop)
    if (!space.accesses.at(store).strides[loop].isZero())
      return true;
  return false;
}

int Stages::of(Value value) {
  if (auto known = stages.find(value); known != stages.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  int result = 0;
  // The tensor that is read is an argument.
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp())
      result = std::max(result, of(operand));
  if (isa<kernel::ReduceOp, kernel::DotOp>(op))
    ++result;
  stages[value] = result;
  return result;
}

int Stages::of(kernel::StoreOp store) {
  int result = 0;
  for (Value value : store.getValues())
    result = std::max(result, of(value));
  return result;
}

/// What a stage needs at its points: of reductions and of stores.
static SmallVector<Value> pointsOfStage(kernel::FuncOp kernel, Stages &stages, int current) {
  SmallVector<Value> found;
  kernel.getBody().walk([&](Operation *op) {
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op); reduce && stages.of(reduce) == current + 1)
      found.push_back(reduce.getValue());
    auto store = dyn_cast<kernel::StoreOp>(op);
    if (store && stages.isPoint(store) && stages.of(store) == current)
      llvm::append_range(found, store.getValues());
  });
  return found;
}

KeptRow pass::keptRow(kernel::FuncOp kernel, const LoopSpace &space, Stages &stages,
                      int64_t lanes) {
  int last = 0;
  kernel.getBody().walk([&](kernel::StoreOp op) { last = std::max(last, stages.of(op)); });
  llvm::MapVector<Value, int> kept;
  DenseMap<Value, int> seen, lastUse;
  SmallVector<int64_t> bytes(last + 1, 0); // before each stage
  for (int current = 0; current <= last; ++current) {
    SmallVector<Value> stack = pointsOfStage(kernel, stages, current);
    llvm::DenseSet<Value> visited;
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || isa<kernel::ReduceOp>(op) || !stages.isPoint(value) ||
          !visited.insert(value).second)
        continue;
      if (isa<kernel::LoadOp, kernel::GatherOp>(op) || op->hasTrait<graph::Expensive>()) {
        auto [it, fresh] = seen.try_emplace(value, current);
        if (!fresh) {
          int &until = lastUse.try_emplace(value, it->second).first->second;
          for (; until < current; ++until)
            bytes[until + 1] +=
                lanes * llvm::divideCeil(value.getType().getIntOrFloatBitWidth(), 8);
          kept.insert({value, it->second});
          continue;
        }
      }
      stack.append(op->operand_begin(), op->operand_end());
    }
  }
  int64_t most = *llvm::max_element(bytes), pieces = kMostKeptPieces;
  while (pieces > 2 && pieces * most > kKeptBytes)
    pieces /= 2;
  return {kept.takeVector(), most, pieces};
}
