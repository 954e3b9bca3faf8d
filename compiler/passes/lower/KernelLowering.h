//===- KernelLowering.h - One kernel to loops, by schedule family -----------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_KERNELLOWERING_H
#define GRAPHC_COMPILER_PASSES_LOWER_KERNELLOWERING_H

#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/Trees.h"

#include <memory>

namespace graphc::pass {
struct TurnedTile;

/// Lowers a scheduled kernel to functions of (buffers..., sizes..., begin, end) over flat memrefs;
/// work items are counted as KernelShape says.
class KernelLowering {
public:
  /// `straightFolds`: work-items must not branch after a group's barriers.
  KernelLowering(kernel::FuncOp kernel, mlir::OpBuilder &module, bool straightFolds);
  /// The main function, and for split reductions the fold of block results, named <kernel>_fold.
  void run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Reducers = llvm::ArrayRef<Reducer>;

  void markSeldom();
  void lowerMap(), lowerTurned();
  struct MapRows;
  void turnedLines(mlir::OpBuilder &builder, const TurnedTile &tile);
  Values turnedValues(mlir::OpBuilder &builder, const TurnedTile &tile, kernel::LoadOp load);
  llvm::SmallVector<Position> turnedPositions(mlir::OpBuilder &builder, const TurnedTile &tile);
  void keepTurned(mlir::OpBuilder &builder, const TurnedTile &tile);
  Position turnedLine(mlir::OpBuilder &builder, const TurnedTile &tile, mlir::Value line);
  Values turnedMemory();
  void prefetchTurned(mlir::OpBuilder &builder, llvm::ArrayRef<kernel::LoadOp> loads, Position at);
  void storeAll(mlir::OpBuilder &builder, Position &at), writeAll(mlir::OpBuilder &b, Position &at);
  void lowerRows(), lowerContract();
  // Reductions that need one pass: a work item is a block.
  void lowerLaneBlocks(), lowerFarRows();
  Position blockOf(mlir::OpBuilder &builder, mlir::Value item, mlir::Value blocks,
                   mlir::Value &first, mlir::Value &length);
  struct Finder;
  struct FarRows;
  void untilDecided(mlir::OpBuilder &builder, Reducers reducers,
                    llvm::function_ref<States(mlir::OpBuilder &, mlir::Value)> block);
  void lowerLaneFold();
  void shareFolds(TreeEmitter &trees, Reducers reducers, int64_t lanes, bool once);
  States foldPartials(mlir::OpBuilder &builder, Reducers reducers, mlir::Value first,
                      mlir::Value count);
  void lowerColumns(), lowerColumnFold();

  /// Opens a function; `extra` buffers follow the kernel's own, `scratch` bytes of a thread's own
  /// memory come last when there are any.
  void open(llvm::StringRef name, llvm::ArrayRef<mlir::Type> extra, int64_t scratch = 0);
  bool countsOn(), waits(kernel::StoreOp store), sharesAsking(int asking, int64_t lanes);
  void openStreams(), openWaiting(), readSingles(), openChecks(mlir::Value faults);
  int64_t waitingBytes();
  /// Asks for what has been read at `at`, `distance` further along a loop. The machine sees streams
  /// coming, but not across the gaps of a tree, nor far enough where a body computes for long.
  void prefetch(mlir::OpBuilder &builder, const Position &at, unsigned loop, int64_t distance,
                unsigned locality);
  void askRow(mlir::OpBuilder &b, Position at, mlir::Value skipped, unsigned locality,
              RowPart part = RowPart::All);
  mlir::Value rowsSkipped(mlir::OpBuilder &b, mlir::Value length);
  int64_t bytesAhead(int64_t bytes); ///< elements of the widest operand, a vector at least
  static constexpr int64_t kBytesAhead = 2048;
  mlir::Value scratchView(mlir::Type element, int64_t offset, int64_t count);
  void close();
  /// for i in [lower, upper) step `step`; the body gets a builder and i.
  void loop(mlir::OpBuilder &builder, mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body);
  /// Items [begin, end) in runs along the last parallel loop: where the others are, low and high.
  void runs(mlir::OpBuilder &builder,
            llvm::function_ref<void(mlir::OpBuilder &, Position &, mlir::Value, mlir::Value)> body);
  Values nextPoint(mlir::OpBuilder &builder, const Position &at, unsigned first, unsigned end);
  /// Strips of `width` lanes over [low, high) of `loopNumber`, then masked strips of `rest` lanes,
  /// 0 for as many: narrow ones are less code. Of 1: strips of a register, then single elements.
  void strips(mlir::OpBuilder &builder, const Position &base, int loopNumber, int64_t width,
              mlir::Value low, mlir::Value high,
              llvm::function_ref<void(mlir::OpBuilder &, Position &)> body, int64_t rest = 0);
  /// Lanes of the widest type that fill a register, at most `lanes`.
  int64_t registerLanes(int64_t lanes);
  Position position();
  mlir::Value constant(mlir::OpBuilder &builder, int64_t value);

  /// Point-level: depends on reduced loops other than through a reduction.
  bool isPoint(mlir::Value value);
  bool isPoint(kernel::StoreOp store);
  /// Number of reductions on the longest path to the value.
  int stage(mlir::Value value);
  int stage(kernel::StoreOp store);
  llvm::SmallVector<Reducer> reducersOfStage(int stage);
  Values pointValues(mlir::OpBuilder &builder, Reducers reducers, Position &at);
  /// The same, and makes the stores of the first stage there.
  Values storedValues(mlir::OpBuilder &builder, Reducers reducers, Position &at);
  /// Values of a stage that belong to the row, before any loop over points.
  void rowValues(mlir::OpBuilder &builder, Position &row, int stage);
  llvm::SmallVector<kernel::StoreOp> pointStores(int stage);
  void storeRow(mlir::OpBuilder &builder, Position &row);
  /// An expensive value of an earlier stage from which the store's value is computed, of its type:
  /// it waits in the result for the stage of the store instead of being computed again. Or null.
  mlir::Value keptValue(kernel::StoreOp store);
  void storePoints(mlir::OpBuilder &builder, int stage, Position &at);
  void bind(Reducers reducers, const States &states, Position &row, mlir::OpBuilder &builder);
  int64_t reduceWidth();
  /// Lanes of the trees of a core's reductions: also where vectors go over the ends of rows.
  int64_t treeWidth();
  bool goesOverRows(), computesLong(bool divisions);
  Values valuesOverRows(mlir::OpBuilder &builder, const Position &row, Reducers reducers,
                        mlir::Value index, mlir::Value limit, int64_t rest);
  bool readsPieces();
  /// A vector of `lanes` elements from `index` on, of which the first `count` are wanted.
  Values acrossRows(mlir::OpBuilder &builder, const Position &row, Reducers reducers,
                    mlir::Value index, mlir::Value count, int64_t lanes);
  Values elementsOfRows(mlir::OpBuilder &builder, const Position &row, Reducers reducers,
                        mlir::Value index, mlir::Value count, int64_t lanes);
  Values piecesOfRows(mlir::OpBuilder &builder, const Position &row, Reducers reducers,
                      mlir::Value index, mlir::Value count, int64_t lanes);
  Values laneMemory(Reducers reducers, int64_t lanes);
  Values lanesFrom(mlir::OpBuilder &builder, Reducers reducers, llvm::ArrayRef<mlir::Value> memory,
                   int64_t lanes);
  void setReduced(mlir::OpBuilder &builder, Position &at, mlir::Value index, mlir::Value limit,
                  int64_t width);
  // Split reductions
  /// Blocks of an item's reduced elements; null when there is always one.
  mlir::Value blockCount(mlir::OpBuilder &builder);
  /// Stores the row when this was its only block, the block's states at `item` otherwise.
  void finish(mlir::OpBuilder &builder, Reducers reducers, const States &states,
              const Position &row, mlir::Value item, mlir::Value blocks);
  void savePartials(mlir::OpBuilder &builder, const States &states, const Position &row,
                    mlir::Value item);
  States loadPartials(mlir::OpBuilder &builder, Reducers reducers, mlir::ValueRange buffers,
                      const Position &row, mlir::Value item);
  /// Runs of columns: the item of column c is `offset` + c.
  struct ColumnRun {
    Position outer;
    mlir::Value block, low, high, offset;
  };
  void columnRuns(mlir::Value blocks,
                  llvm::function_ref<void(mlir::OpBuilder &, ColumnRun &)> body);
  struct ColumnTile;
  void columnTile(mlir::OpBuilder &builder, ColumnTile &tile);
  void columnRows(mlir::OpBuilder &builder, ColumnTile &tile, mlir::Value group);
  States turnedRows(mlir::OpBuilder &builder, ColumnTile &tile, const Position &column);
  // Scans
  struct ScanLoop;
  void lowerScan();
  /// One pass over the items: the block results, or (`stores`) the values themselves.
  void scanPass(llvm::StringRef name, bool stores);
  void scanFold();
  void scanItem(mlir::OpBuilder &builder, ScanLoop &scan, mlir::Value item, mlir::Value blocks);
  bool scansAlongVector();

  // Rows too short for the lane tree to fill a vector: lanes are rows.
  enum class Short { Never, Sometimes, Always };
  Short shortRows();
  void lowerShortRows(mlir::OpBuilder &builder);
  void lowerShortForm(llvm::ArrayRef<mlir::Type> extra, int64_t scratch);
  void shortStage(mlir::OpBuilder &b, Position &row, int stage), lowerGroupShort(llvm::StringRef);
  /// Emits `usual`, the short form, or a choice between both.
  void chooseRows(llvm::function_ref<void(mlir::OpBuilder &)> usual);
  int lastStage();
  int longestStage();
  // Groups of work-items
  struct Team;
  struct Kept;
  void lowerGroups(), lowerGroupMap();
  struct MapStrips;
  void lowerGroupTurned(), lowerGroupScan(), lowerSorted(), lowerGroupPlaces(), lowerGroupVector();
  struct SortedPlaces;
  struct PlacedGroup;
  struct VectorProduct;
  struct GroupScan;
  void lowerGroupColumns(), lowerGroupColumnParts(), lowerGroupColumnFold();
  Values columnPoint(mlir::OpBuilder &builder, Reducers reducers, Position at, mlir::Value index);
  llvm::SmallVector<mlir::Type> splitBuffers();
  void lowerGroupBlocks();
  void lastGroup(mlir::OpBuilder &builder, mlir::Value flag, mlir::Value ticket, mlir::Value count,
                 llvm::function_ref<void(mlir::OpBuilder &)> body);
  void foldLast(Reducers reducers, const TreeEmitter::Storage &memory, const Position &row,
                mlir::Value blocks);
  States partialLanes(mlir::OpBuilder &builder, TreeEmitter &trees, Reducers reducers,
                      const Team &team, mlir::Value first, mlir::Value size);
  void lowerGroupFold();
  void foldFew(mlir::OpBuilder &builder, Reducers reducers, mlir::Value blocks);
  void foldMany(mlir::OpBuilder &builder, Reducers reducers, mlir::Value blocks);
  void lowerGroupRows();
  struct Strips;
  Strips countStrips(mlir::Value blocks);
  /// Where a strip is; `column` becomes the position of its first element.
  ColumnRun stripAt(mlir::OpBuilder &builder, const Strips &all, mlir::Value strip,
                    Position &column);
  /// The strip of a work-item, when it has one: `body` gets its run and its position.
  void groupStrip(mlir::Value blocks,
                  llvm::function_ref<void(mlir::OpBuilder &, ColumnRun &, Position &)> body);
  /// Whether vectors along a loop lie at multiples of their size: offsets, the steps of other
  /// loops, and the sizes of `also` are multiples of `lanes`. Null when they are by construction.
  mlir::Value alignedSizes(mlir::OpBuilder &builder, int loopNumber, int64_t lanes,
                           llvm::ArrayRef<Polynomial> also);
  /// The states of a body for aligned sizes, or of another for all where they are not known.
  States chooseAligned(mlir::OpBuilder &builder, TreeEmitter &trees, int loopNumber, int64_t lanes,
                       llvm::ArrayRef<Polynomial> also,
                       llvm::function_ref<States(mlir::OpBuilder &, bool)> body);
  struct Side;
  struct Spread;
  struct ContractTile;
  void lowerGroupContract(), lowerGroupTiles(llvm::StringRef name);
  void storeTile(ContractTile &tile);
  void lowerGroupContractFold();
  int64_t pitch() const;
  Side contractSide(mlir::Value value, int loopNumber, int64_t depth);
  Values readPiece(mlir::OpBuilder &builder, const ContractTile &tile, const Side &side,
                   mlir::Value k, bool whole);
  void keepPiece(mlir::OpBuilder &builder, const ContractTile &tile, const Side &side,
                 llvm::ArrayRef<mlir::Value> values, mlir::Value half);
  Values contractStep(mlir::OpBuilder &builder, const ContractTile &tile, mlir::Value start,
                      mlir::Value k, mlir::ValueRange sums);
  Values contractChains(mlir::OpBuilder &builder, const ContractTile &tile, bool whole);
  Values edgeChains(mlir::OpBuilder &builder, const ContractTile &tile);
  void contractStoreAt(mlir::OpBuilder &builder, const ContractTile &tile, const Position &at,
                       mlir::Value chain);
  void contractStore(mlir::OpBuilder &builder, const ContractTile &tile, const Spread &spread,
                     mlir::ValueRange sums, bool whole);
  void contractMirror(mlir::OpBuilder &builder, const ContractTile &tile, const Spread &spread,
                      mlir::ValueRange sums, bool whole);
  void placeTile(ContractTile &tile);
  Spread contractSpread();
  mlir::Value insideTile(const ContractTile &tile);
  /// Whether lines are aligned for the sides' lanes, and k is not empty.
  mlir::Value alignedTile(const ContractTile &tile);
  void setSides(ContractTile &tile, mlir::Value left, mlir::Value right);
  void setMemory(ContractTile &tile, int64_t elements, mlir::Type element, int64_t alignment = 0);
  /// Whether the function takes a run of several blocks of k as a whole.
  bool takesRun() const;
  /// A call of a tile's function: the name of the sides' layouts is appended.
  Values callTile(mlir::OpBuilder &builder, const ContractTile &tile, std::string name,
                  mlir::ValueRange sums);
  Spread calledSpread(mlir::OpBuilder &builder, const ContractTile &tile);
  void storeCalledTile(mlir::OpBuilder &builder, const ContractTile &tile);
  void lowerGroupTensor();
  void lowerGroupBulk();
  Spread tensorSpread(int64_t columns);
  void keepTensorPiece(mlir::OpBuilder &builder, const ContractTile &tile, const Side &side,
                       mlir::Value k);
  Values tensorSteps(mlir::OpBuilder &builder, const ContractTile &tile, mlir::Value from,
                     mlir::ValueRange sums);
  Team teamOf(mlir::OpBuilder &builder, int64_t lanes);
  States foldTeam(mlir::OpBuilder &builder, TreeEmitter &trees, const Team &team,
                  const TreeEmitter::Storage &memory, const States &own, bool reused);
  States teamLanes(mlir::OpBuilder &builder, TreeEmitter &trees, const Team &team,
                   mlir::Value first, mlir::Value length, const TreeEmitter::Body &body);
  States teamTree(mlir::OpBuilder &builder, TreeEmitter &trees, const Team &team,
                  mlir::Value length,
                  llvm::function_ref<States(mlir::OpBuilder &, mlir::Value, mlir::Value)> lanesOf);
  Kept keptPoints();
  Values keptPiece(mlir::OpBuilder &builder, const Team &team, Kept &kept, TreeEmitter &trees,
                   Reducers reducers, Position at, mlir::Value number, mlir::ValueRange states,
                   int stage);
  States keptStage(mlir::OpBuilder &builder, const Team &team, Kept &kept, TreeEmitter &trees,
                   Reducers reducers, Position &row, mlir::Value length, int stage);
  void keptRow(mlir::OpBuilder &builder, const Team &team, Kept &kept, mlir::Value length);
  void longRow(mlir::OpBuilder &builder, const Team &team, mlir::Value length);
  void storeOnce(mlir::OpBuilder &builder, const Team &team, Position &row);
  // Contract
  struct Tile;
  struct Panels;
  struct LaneStrips;
  void lowerPanels();
  void lowerStream();
  struct Stream;
  void lowerLanes();
  void columnRuns(
      llvm::function_ref<void(mlir::OpBuilder &, Position &, mlir::Value, mlir::Value)> body);
  void contractItem(mlir::OpBuilder &builder, mlir::Value item);
  void contractTile(mlir::OpBuilder &builder, Tile &tile);

  kernel::FuncOp kernel;
  mlir::OpBuilder &module;
  bool straightFolds;
  LoopSpace space;
  KernelShape shape;
  int64_t width;      ///< lanes of the schedule
  mlir::Value member; ///< number of the work-item in its group
  llvm::DenseMap<mlir::Value, int> stages;
  llvm::DenseMap<mlir::Value, bool> points;
  llvm::SmallVector<kernel::StoreOp> stores;
  llvm::SmallVector<kernel::ScatterOp> scatters;

  mlir::func::FuncOp function;
  std::unique_ptr<BodyEmitter> emitter;
  llvm::DenseMap<mlir::Value, mlir::Value> singles; ///< read once
  mlir::OpBuilder builder;                          ///< in the open function
  mlir::Location loc;
  Values extraBuffers;
  mlir::Value begin, end, scratchMemory, writes; ///< writes: whether the launch does, or null
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_KERNELLOWERING_H
