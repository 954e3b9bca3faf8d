//===- CoreLowering.h - Kernels for the vectors of a core
//---------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_CORE_CORELOWERING_H
#define GRAPHC_COMPILER_PASSES_LOWER_CORE_CORELOWERING_H

#include "compiler/passes/lower/KernelLowering.h"

namespace graphc::pass {
struct TurnedTile;

/// A launch's items in runs, each by one thread, in vectors of the schedule's lanes: one file of
/// this folder for each schedule family.
class CoreLowering final : public KernelLowering {
public:
  using KernelLowering::KernelLowering;
  void run() override;

private:
  // Frame
  /// Items [begin, end) in runs along the last parallel loop: where the others are, low and high.
  void runs(mlir::OpBuilder &builder,
            llvm::function_ref<void(mlir::OpBuilder &, Position &, mlir::Value, mlir::Value)> body);
  Values nextPoint(mlir::OpBuilder &builder, const Position &at, unsigned first, unsigned end);
  mlir::Value scratchView(mlir::Type element, int64_t offset, int64_t count);
  // Streams
  void openStreams() override;
  void openWaiting();
  bool waits(kernel::StoreOp store), sharesAsking(int asking, int64_t lanes);
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

  // Maps
  void lowerMap(), lowerTurned();
  void lowerMapRows(mlir::OpBuilder &builder, bool shortApart);
  struct MapRows;
  // Rows of a few vectors at most: one run over all of them.
  struct FlatLoops;
  void lowerFlatForm(), chooseFlat();
  void turnedLines(mlir::OpBuilder &builder, const TurnedTile &tile);
  Values turnedValues(mlir::OpBuilder &builder, const TurnedTile &tile, kernel::LoadOp load);
  llvm::SmallVector<Position> turnedPositions(mlir::OpBuilder &builder, const TurnedTile &tile);
  void keepTurned(mlir::OpBuilder &builder, const TurnedTile &tile);
  Position turnedLine(mlir::OpBuilder &builder, const TurnedTile &tile, mlir::Value line);
  Values turnedMemory();
  void prefetchTurned(mlir::OpBuilder &builder, llvm::ArrayRef<kernel::LoadOp> loads, Position at);

  // Rows
  void lowerRows();
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
  int longestStage();
  /// Point values, and makes the stores of the first stage there.
  Values storedValues(mlir::OpBuilder &builder, Reducers reducers, Position &at);
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
  // Rows too short for the lane tree to fill a vector: lanes are rows.
  enum class Short { Never, Sometimes, Always };
  Short shortRows();
  std::string shortName(); ///< of the form for short rows, of a kernel of many lengths
  void lowerShortRows(mlir::OpBuilder &builder);
  void lowerShortForm(llvm::ArrayRef<mlir::Type> extra, int64_t scratch);
  /// Emits `usual`, the short form, or a choice between both.
  void chooseRows(llvm::function_ref<void(mlir::OpBuilder &)> usual);

  // Columns
  void lowerColumns(), lowerColumnFold();
  struct ColumnTile;
  void columnTile(mlir::OpBuilder &builder, ColumnTile &tile);
  void columnRows(mlir::OpBuilder &builder, ColumnTile &tile, mlir::Value group);
  States turnedRows(mlir::OpBuilder &builder, ColumnTile &tile, const Position &column);

  void columnRuns(mlir::Value blocks,
                  llvm::function_ref<void(mlir::OpBuilder &, ColumnRun &)> body);

  // Scans
  struct ScanLoop;
  void lowerScan();
  /// One pass over the items: the block results, or (`stores`) the values themselves.
  void scanPass(llvm::StringRef name, bool stores);
  mlir::Value pageOfColumns(mlir::Value item);
  void scanItem(mlir::OpBuilder &builder, ScanLoop &scan, mlir::Value item, mlir::Value blocks);

  // Scatters in order
  void lowerSorted();
  struct SortedPlaces;

  // Contract
  void lowerContract();
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
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_CORE_CORELOWERING_H
