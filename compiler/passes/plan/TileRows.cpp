#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelShape.h"
#include "compiler/passes/lower/TurnedRows.h"
#include "compiler/passes/plan/SkewTiles.h"
#include "compiler/passes/plan/Touches.h"
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
    rows = outermostSize(func);
    if (!rows || !cutsByRows(func)) {
      rows.reset();
      return;
    }
    AffineExpr extent = func.getDomain().getExtents().getResult(0);
    inRows.assign(func.getShapes().size(), true);
    written.assign(func.getShapes().size(), false);
    unsigned tensors = func.getNumTensors();
    forEachTouch(func, [&](unsigned operand, AffineMap map, bool) {
      auto shape = cast<AffineMapAttr>(func.getShapes()[operand]).getValue();
      inRows[operand] =
          inRows[operand] && shape.getNumResults() && shape.getResult(0) == extent && isRow(map);
    });
    // A result of blocks is written by their fold.
    for (unsigned i = tensors; i < written.size(); ++i)
      written[i] = ofBlocks.empty() || inRows[i];
  }

  std::optional<unsigned> rows; ///< the size argument that counts them; nothing: no tiling
  bool together = false;        ///< its items are those of program::kRowsTogether rows each
  bool scans = false;
  bool inBlocks = false; ///< its items are blocks: worth it where their operands are turned
  /// Its items are blocks of kTreeBlock elements of everything, rows one after the other: the
  /// extents of a row.
  SmallVector<AffineExpr> ofBlocks;
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
  bool cutsByRows(kernel::FuncOp func) {
    if (!func.getSchedule() || func.getSchedule()->getGroup() || !func.getNumDims())
      return false;
    LoopSpace space(func);
    if (!func.getDomain().getParallel())
      return cutsBlocks(func, space);
    KernelShape shape(func, space);
    if (shape.oneByOne)
      return false;
    // The tiles of a map that turns what it reads cut that loop and the last.
    if (shape.family == kernel::Family::Map) {
      auto rowsOfAll = Polynomial::of(func.getDomain().getExtents().getResult(0));
      together = turnsForRows(func, shape.turned) && rowsOfAll && space.extents[0] == *rowsOfAll;
      return together || shape.turned != 0u;
    }
    scans = shape.family == kernel::Family::Scan && scansRows(func, space);
    inBlocks = shape.splitBlock != 0;
    // Blocks are counted row by row; what combines them is a launch of its own.
    return scans || shape.family == kernel::Family::Rows;
  }

  bool cutsBlocks(kernel::FuncOp func, const LoopSpace &space) {
    auto extents = func.getDomain().getExtents().getResults();
    bool plain = llvm::all_of(
        extents, [](AffineExpr e) { return isa<AffineSymbolExpr, AffineConstantExpr>(e); });
    if (func.getSchedule()->getFamily() != kernel::Family::Full || extents.size() < 2 || !plain ||
        space.count() != 1)
      return false;
    llvm::append_range(ofBlocks, extents.drop_front());
    inBlocks = true;
    return true;
  }

  /// Whether a work item is a block of a row, and not of a column.
  static bool scansRows(kernel::FuncOp func, const LoopSpace &space) {
    return space.reducedLoops() == 1 && func.getSchedule()->getVector() > 1 &&
           llvm::all_of(func.getBody().getOps<kernel::StoreOp>(), [&](kernel::StoreOp store) {
             return space.accesses.at(store).isDense(space.parallel);
           });
  }
};

/// Finds the tiles of one program.
class Tiler {
public:
  Tiler(plan::ProgramOp program, SymbolTable &symbols)
      : program(program), symbols(symbols), memory(program) {}

  void run() {
    for (Operation &op : program.getBody().front()) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op))
        add(launch);
      else if (isa<plan::CopyOp, plan::CallOp>(op))
        close();
    }
    close();
  }

private:
  const KernelRows &rowsOf(plan::LaunchOp launch) {
    auto [place, isNew] = kernels.try_emplace(launch.getKernelAttr().getAttr());
    if (isNew) {
      auto func = symbols.lookup<kernel::FuncOp>(launch.getKernel());
      place->second = func ? std::make_unique<KernelRows>(func) : nullptr;
    }
    static const KernelRows none;
    return place->second ? *place->second : none;
  }

  /// Passes over the blocks of a scan, their fold, and what clears their words run where a row has
  /// several.
  bool isOfBlocks(plan::LaunchOp launch) {
    StringRef name = launch.getKernel();
    auto func =
        name.consume_back("_blocks") || name.consume_back("_fold") || name.consume_back("_clear")
            ? symbols.lookup<kernel::FuncOp>(name)
            : nullptr;
    return func && !symbols.lookup(launch.getKernel()) && KernelRows(func).scans;
  }

  void add(plan::LaunchOp launch) {
    if (tileRows && isOfBlocks(launch))
      return members.push_back(launch);
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
    if (kernel.inBlocks && !turns)
      return false;
    DenseSet<Value> nowWritten = writes, nowAcross = acrossRows;
    bool reads = false;
    // What follows the kernel's own tensors tells of faults, and belongs to no row.
    for (auto [buffer, inRows, written] : llvm::zip_first(
             launch.getBuffers().take_front(kernel.inRows.size()), kernel.inRows, kernel.written)) {
      Value held = memory.of(buffer);
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
    turns |= kernel.together;
    if (kernel.together || !kernel.ofBlocks.empty())
      together[launch] = &kernel;
    return true;
  }

  /// Only what one launch leaves for another is worth it.
  void close() {
    while (!members.empty() && isOfBlocks(members.back()))
      members.pop_back();
    for (plan::LaunchOp launch : members) {
      if (!passesOn)
        break;
      launch.getRowsMutable().assign(countedRows(launch));
      launch.setTile(tiles);
    }
    tiles += passesOn;
    members.clear();
    together.clear();
    writes.clear();
    acrossRows.clear();
    tileRows = Value();
    passesOn = turns = false;
  }

  Value countedRows(plan::LaunchOp launch) {
    OpBuilder b(launch);
    IndexMath m{b, launch.getLoc()};
    if (isOfBlocks(launch))
      return m(0);
    auto found = together.find(launch);
    if (found == together.end())
      return tileRows;
    Value groups = m.ceilDiv(tileRows, program::kRowsTogether);
    if (found->second->ofBlocks.empty())
      return groups;
    // Rows that are together have to end where a block does.
    constexpr int64_t kUnit = kTreeBlock / program::kRowsTogether;
    Value row;
    for (AffineExpr extent : found->second->ofBlocks) {
      auto symbol = dyn_cast<AffineSymbolExpr>(extent);
      Value size = symbol ? launch.getSizes()[symbol.getPosition()]
                          : m(cast<AffineConstantExpr>(extent).getValue());
      row = row ? m.mul(row, size) : size;
    }
    auto beyond = [&](Value size, int64_t unit) {
      return m.sub(m.mul(m.ceilDiv(size, unit), unit), size);
    };
    Value odd = m.add(beyond(row, kUnit), beyond(tileRows, program::kRowsTogether));
    return m.max(m.sub(groups, m.mul(groups, odd)), m(0));
  }

  plan::ProgramOp program;
  SymbolTable &symbols;
  DenseMap<StringAttr, std::unique_ptr<KernelRows>> kernels;
  BufferMemory memory;
  // The open tile.
  SmallVector<plan::LaunchOp> members;
  DenseMap<Operation *, const KernelRows *> together; ///< members with items of several rows
  Value tileRows;
  DenseSet<Value> writes, acrossRows;
  bool passesOn = false; ///< one of the launches reads what another has written
  bool turns = false;    ///< and one turns what others read
  int64_t tiles = 0;
};

struct TileRows : pass::impl::TileRowsBase<TileRows> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      Tiler(program, symbols).run();
      skewTiles(program, symbols);
    }
  }
};

} // namespace
