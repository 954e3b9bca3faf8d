#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/LoopSpace.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/plan/Plan.h"

namespace graphc::pass {
#define GEN_PASS_DEF_TILEROWS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// What tiling needs to know of a kernel, whoever launches it.
class KernelRows {
public:
  KernelRows() = default;
  explicit KernelRows(kernel::FuncOp func) {
    AffineMap extents = func.getDomain().getExtents();
    auto symbol =
        extents.getNumResults() ? dyn_cast<AffineSymbolExpr>(extents.getResult(0)) : nullptr;
    if (!symbol || !cutsByRows(func))
      return;
    rows = symbol.getPosition();
    inRows.assign(func.getShapes().size(), true);
    written.assign(func.getShapes().size(), false);
    unsigned tensors = func.getNumTensors();
    auto touch = [&](unsigned tensor, AffineMap map) {
      auto shape = cast<AffineMapAttr>(func.getShapes()[tensor]).getValue();
      inRows[tensor] = inRows[tensor] && shape.getNumResults() &&
                       shape.getResult(0) == extents.getResult(0) && isRow(map);
    };
    func.getBody().walk([&](Operation *op) {
      if (auto load = dyn_cast<kernel::LoadOp>(op)) {
        touch(cast<BlockArgument>(load.getTensor()).getArgNumber(), load.getMap());
      } else if (auto gather = dyn_cast<kernel::GatherOp>(op)) {
        touch(cast<BlockArgument>(gather.getTensor()).getArgNumber(), gather.getMap());
      } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
        touch(tensors + store.getResult(), store.getMap());
      } else if (auto scatter = dyn_cast<kernel::ScatterOp>(op)) {
        touch(tensors + scatter.getResult(), scatter.getMap());
      }
    });
    std::fill(written.begin() + tensors, written.end(), true);
  }

  std::optional<unsigned> rows; ///< the size argument that counts them; nothing: no tiling
  /// By launch operand: whether it is touched at the row of the iteration point only, and written.
  SmallVector<bool> inRows, written;

private:
  /// Whether the first index is the outermost loop, and no other depends on that.
  static bool isRow(AffineMap map) {
    if (map.getResult(0) != getAffineDimExpr(0, map.getContext()))
      return false;
    return llvm::none_of(map.getResults().drop_front(),
                         [](AffineExpr index) { return index.isFunctionOfDim(0); });
  }

  /// Whether the launch counts work items row by row: so many for each turn of the outermost loop.
  static bool cutsByRows(kernel::FuncOp func) {
    if (!func.getSchedule() || func.getSchedule()->getGroup() || !func.getDomain().getParallel())
      return false;
    LoopSpace space(func);
    KernelShape shape(func, space);
    if (shape.splitBlock || shape.oneByOne)
      return false;
    // The tiles of a map that turns what it reads cut that loop and the last.
    return shape.family == kernel::Family::Rows ||
           (shape.family == kernel::Family::Map && shape.turned != 0u);
  }
};

/// Finds the tiles of one program.
class Tiler {
public:
  Tiler(plan::ProgramOp program, SymbolTable &symbols) : program(program), symbols(symbols) {}

  void run() {
    for (Operation &op : program.getBody().front()) {
      if (auto alloc = dyn_cast<plan::AllocOp>(op)) {
        if (alloc.getDonor())
          sameMemory[alloc.getBuffer()] = program.getBody().getArgument(*alloc.getDonor());
      } else if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
        add(launch);
      } else if (isa<plan::CopyOp, plan::CallOp>(op)) {
        close();
      }
    }
    close();
  }

private:
  Value memory(Value buffer) const {
    auto found = sameMemory.find(buffer);
    return found == sameMemory.end() ? buffer : found->second;
  }

  const KernelRows &rowsOf(plan::LaunchOp launch) {
    auto [place, isNew] = kernels.try_emplace(launch.getKernelAttr().getAttr());
    if (isNew) {
      auto func = symbols.lookup<kernel::FuncOp>(launch.getKernel());
      place->second = func ? std::make_unique<KernelRows>(func) : nullptr;
    }
    static const KernelRows none;
    return place->second ? *place->second : none;
  }

  void add(plan::LaunchOp launch) {
    const KernelRows &kernel = rowsOf(launch);
    Value rows = kernel.rows ? launch.getSizes()[*kernel.rows] : Value();
    if (rows != tileRows || !take(launch, kernel)) {
      close();
      if (rows && take(launch, kernel))
        tileRows = rows;
    }
  }

  /// Adds a launch unless that would leave something written that is not touched in rows by all.
  bool take(plan::LaunchOp launch, const KernelRows &kernel) {
    DenseSet<Value> nowWritten = writes, nowAcross = acrossRows;
    bool reads = false;
    // What follows the kernel's own tensors tells of faults, and belongs to no row.
    for (auto [buffer, inRows, written] : llvm::zip_first(
             launch.getBuffers().take_front(kernel.inRows.size()), kernel.inRows, kernel.written)) {
      Value held = memory(buffer);
      reads |= !written && writes.contains(held);
      if (written)
        nowWritten.insert(held);
      if (!inRows)
        nowAcross.insert(held);
    }
    if (llvm::any_of(nowWritten, [&](Value held) { return nowAcross.contains(held); }))
      return false;
    writes = std::move(nowWritten);
    acrossRows = std::move(nowAcross);
    passesOn |= reads;
    members.push_back(launch);
    return true;
  }

  /// Only what one launch leaves for another is worth it.
  void close() {
    for (plan::LaunchOp launch : members) {
      if (!passesOn)
        break;
      launch.getRowsMutable().assign(tileRows);
      launch.setTile(tiles);
    }
    tiles += passesOn;
    members.clear();
    writes.clear();
    acrossRows.clear();
    tileRows = Value();
    passesOn = false;
  }

  plan::ProgramOp program;
  SymbolTable &symbols;
  DenseMap<StringAttr, std::unique_ptr<KernelRows>> kernels;
  DenseMap<Value, Value> sameMemory; ///< a buffer that may be an input's -> that input
  // The open tile.
  SmallVector<plan::LaunchOp> members;
  Value tileRows;
  DenseSet<Value> writes, acrossRows;
  bool passesOn = false; ///< one of the launches reads what another has written
  int64_t tiles = 0;
};

struct TileRows : pass::impl::TileRowsBase<TileRows> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<plan::ProgramOp>())
      Tiler(program, symbols).run();
  }
};

} // namespace
