// Steps of a stencil: each reads neighbours of what the one before it wrote. Whole launches fetch
// everything from memory for each step; taken through the rows one behind the other, several steps
// find it in a cache.
#include "compiler/passes/plan/SkewTiles.h"

#include "compiler/passes/analysis/Polynomial.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelShape.h"
#include "compiler/passes/plan/Touches.h"
#include "dialects/kernel/Kernel.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// The rows of an operand that a kernel touches at row r of its own: r + each of these. Not known
/// where the row depends on more than r.
struct Reach {
  SmallVector<Polynomial> offsets;
  bool known = true;
};

/// What skewing needs to know of a kernel, whoever launches it.
class KernelReach {
public:
  explicit KernelReach(kernel::FuncOp func) {
    rows = countsPoints(func) ? outermostSize(func) : std::nullopt;
    if (!rows)
      return;
    operands.resize(func.getShapes().size());
    for (Attribute shape : func.getShapes())
      shapes.push_back(cast<AffineMapAttr>(shape).getValue());
    forEachTouch(func, [&](unsigned operand, AffineMap map, bool placed) {
      if (placed)
        operands[operand].known = false;
      else
        touch(operand, map);
    });
    firstResult = func.getNumTensors();
    sizes = func.getNumIndexSizes();
  }

  std::optional<unsigned> rows; ///< the size argument that counts them; nothing: no skewing
  unsigned firstResult = 0;     ///< of the operands
  unsigned sizes = 0;           ///< of its indices, which come first
  SmallVector<Reach> operands;
  SmallVector<AffineMap> shapes;

private:
  /// Whether work items are the points of the loops, row by row.
  static bool countsPoints(kernel::FuncOp func) {
    if (!func.getSchedule() || func.getSchedule()->getGroup())
      return false;
    KernelShape shape(func);
    return shape.family == kernel::Family::Map && !shape.oneByOne && !shape.turned;
  }

  void touch(unsigned operand, AffineMap map) {
    Reach &reach = operands[operand];
    auto index = map.getNumResults() ? Polynomial::of(map.getResult(0)) : std::nullopt;
    auto othersDepend = [&] {
      return llvm::any_of(map.getResults().drop_front(),
                          [](AffineExpr e) { return e.isFunctionOfDim(0); });
    };
    if (!index || !index->coefficient(0).isConstant(1) || othersDepend()) {
      reach.known = false;
      return;
    }
    Polynomial offset = index->without(0);
    for (unsigned dim = 1; dim < map.getNumDims(); ++dim)
      reach.known &= offset.coefficient(dim).isZero();
    if (!llvm::is_contained(reach.offsets, offset))
      reach.offsets.push_back(offset);
  }
};

/// An offset of rows with the sizes of a launch.
struct Offset {
  Polynomial value;
  ValueRange sizes;
  bool operator==(const Offset &other) const {
    return value == other.value && sizes == other.sizes;
  }
};

/// What a tile touches of one memory.
struct Held {
  SmallVector<Value> rowSizes;     ///< the extents behind the first, null where they are constant
  SmallVector<int64_t> rowExtents; ///< and -1 where they are not
  SmallVector<Offset> reads, writes;
  bool known = true; ///< in rows of one shape, at offsets that are known
  bool written = false;

  bool hasRowsOf(const Held &other) const {
    return rowSizes == other.rowSizes && rowExtents == other.rowExtents;
  }
};

/// Finds the tiles of one program.
class Skewer {
public:
  Skewer(plan::ProgramOp program, SymbolTable &symbols)
      : program(program), symbols(symbols), memory(program) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op))
        add(launch);
      else if (isa<plan::CopyOp, plan::CallOp>(op))
        close();
      for (Value operand : op.getOperands())
        begun.insert(operand);
    }
    close();
  }

private:
  const KernelReach *reachOf(plan::LaunchOp launch) {
    auto [place, isNew] = kernels.try_emplace(launch.getKernelAttr().getAttr());
    if (isNew)
      if (auto func = symbols.lookup<kernel::FuncOp>(launch.getKernel()))
        place->second = std::make_unique<KernelReach>(func);
    return place->second.get();
  }

  void add(plan::LaunchOp launch) {
    const KernelReach *kernel = launch.getTile() ? nullptr : reachOf(launch);
    if (!kernel || !kernel->rows)
      return close();
    Value launchRows = launch.getSizes()[*kernel->rows];
    bool follows = !members.empty() && rows == launchRows &&
                   beganBefore(launch, launch.getSizes().take_front(kernel->sizes));
    if (follows && take(launch, *kernel))
      return;
    close();
    rows = launchRows;
    take(launch, *kernel);
  }

  /// A tile keeps all its memory from its first launch to its last, so none may begin in between;
  /// what its skew is computed from has to be there before.
  bool beganBefore(plan::LaunchOp launch, ValueRange sizes) {
    plan::LaunchOp first = members.front();
    auto isEarlier = [&](Value value) {
      Operation *op = value.getDefiningOp();
      return !op || op->isBeforeInBlock(first);
    };
    return llvm::all_of(launch.getBuffers(),
                        [&](Value buffer) {
                          return !buffer.getDefiningOp<plan::AllocOp>() || begun.contains(buffer);
                        }) &&
           llvm::all_of(sizes, isEarlier);
  }

  /// Adds a launch unless it touches what is written at rows that are not known, or in rows of
  /// another shape.
  bool take(plan::LaunchOp launch, const KernelReach &kernel) {
    llvm::MapVector<Value, Held> here;
    bool reads = false;
    for (auto [number, reach] : llvm::enumerate(kernel.operands)) {
      bool writes = number >= kernel.firstResult;
      if (reach.known && reach.offsets.empty() && !writes)
        continue; // an old value that is only kept
      Value buffer = memory.of(launch.getBuffers()[number]);
      auto before = touched.find(buffer);
      reads |= !writes && before != touched.end() && before->second.written;
      Held one = rowsOf(launch, kernel, number);
      auto [place, isNew] = here.try_emplace(buffer, one);
      Held &held = place->second;
      held.known &=
          one.known && held.hasRowsOf(one) &&
          (before == touched.end() || (before->second.known && before->second.hasRowsOf(one)));
      held.written |= writes || (before != touched.end() && before->second.written);
      for (const Polynomial &offset : reach.offsets)
        (writes ? held.writes : held.reads)
            .push_back({offset, launch.getSizes().take_front(kernel.sizes)});
    }
    if (llvm::any_of(here, [](auto &entry) { return entry.second.written && !entry.second.known; }))
      return false;
    for (auto &[buffer, held] : here) {
      auto [place, isNew] = touched.try_emplace(buffer, held);
      if (isNew)
        continue;
      Held &all = place->second;
      all.known = held.known;
      all.written = held.written;
      merge(all.reads, held.reads);
      merge(all.writes, held.writes);
    }
    passesOn |= reads;
    members.push_back(launch);
    return true;
  }

  static void merge(SmallVector<Offset> &into, ArrayRef<Offset> from) {
    for (const Offset &offset : from)
      if (!llvm::is_contained(into, offset))
        into.push_back(offset);
  }

  static Held rowsOf(plan::LaunchOp launch, const KernelReach &kernel, unsigned operand) {
    Held held;
    const Reach &reach = kernel.operands[operand];
    held.known = reach.known && !reach.offsets.empty();
    if (!held.known)
      return held;
    for (AffineExpr extent : kernel.shapes[operand].getResults().drop_front()) {
      auto symbol = dyn_cast<AffineSymbolExpr>(extent);
      auto constant = dyn_cast<AffineConstantExpr>(extent);
      held.known &= symbol || constant;
      held.rowSizes.push_back(symbol ? launch.getSizes()[symbol.getPosition()] : Value());
      held.rowExtents.push_back(constant ? constant.getValue() : -1);
    }
    return held;
  }

  /// Only what one launch leaves for another is worth it.
  void close() {
    if (passesOn) {
      Value skew = emitSkew();
      for (plan::LaunchOp launch : members) {
        launch.getRowsMutable().assign(rows);
        launch.getSkewMutable().assign(skew);
        launch.setTile(0); // numbered later
      }
    }
    members.clear();
    touched.clear();
    passesOn = false;
  }

  /// By how many rows a launch has to stay behind those before it, at most: for each memory, how
  /// far on one of them still touches what the other touches first, where either writes.
  Value emitSkew() {
    plan::LaunchOp first = members.front();
    OpBuilder b(first);
    IndexMath m{b, first.getLoc()};
    auto extreme = [&](ArrayRef<Offset> offsets, bool largest) {
      Value found;
      for (const Offset &offset : offsets) {
        Value at = offset.value.emit(b, m.loc, offset.sizes);
        found = !found ? at : largest ? m.max(found, at) : m.min(found, at);
      }
      return found;
    };
    Value skew = m(0);
    for (auto &[buffer, held] : touched) {
      if (!held.written)
        continue;
      Value firstWritten = extreme(held.writes, false), lastWritten = extreme(held.writes, true);
      skew = m.max(skew, m.sub(lastWritten, firstWritten));
      if (held.reads.empty())
        continue;
      skew = m.max(skew, m.sub(extreme(held.reads, true), firstWritten));
      skew = m.max(skew, m.sub(lastWritten, extreme(held.reads, false)));
    }
    return skew;
  }

  plan::ProgramOp program;
  SymbolTable &symbols;
  DenseMap<StringAttr, std::unique_ptr<KernelReach>> kernels;
  BufferMemory memory;
  DenseSet<Value> begun; ///< touched by what precedes
  // The open tile.
  SmallVector<plan::LaunchOp> members;
  Value rows;
  llvm::MapVector<Value, Held> touched;
  bool passesOn = false; ///< one of the launches reads what another has written
};

} // namespace

void pass::skewTiles(plan::ProgramOp program, SymbolTable &symbols) {
  Skewer(program, symbols).run();
  // Both kinds of tiles are numbered together; two neighbours of one kind differ by their skew.
  int64_t tiles = 0;
  plan::LaunchOp before;
  std::optional<int64_t> old;
  for (auto launch : program.getBody().front().getOps<plan::LaunchOp>()) {
    std::optional<int64_t> tile = launch.getTile();
    bool same = tile && before && old == tile && before.getSkew() == launch.getSkew();
    if (tile && !same)
      ++tiles;
    old = tile;
    if (tile)
      launch.setTile(tiles - 1);
    before = launch;
  }
}
