//===- GroupLowering.h - Kernels for groups of work-items
//---------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPLOWERING_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPLOWERING_H

#include "compiler/passes/lower/KernelLowering.h"

namespace graphc::pass {

/// An item of a launch is a group, whose work-items share local memory: one file of this folder for
/// each schedule.
class GroupLowering final : public KernelLowering {
public:
  using KernelLowering::KernelLowering;
  void run() override;

private:
  void lowerMap(), lowerTurned(), lowerScan(), lowerColumnScan(), lowerPlaces(), lowerVector();
  struct MapStrips;
  struct PlacedGroup;
  struct VectorProduct;
  struct GroupScan;
  class GroupColumns;

  /// Whether vectors along a loop lie at multiples of their size: offsets, the steps of other
  /// loops, and the sizes of `also` are multiples of `lanes`. Null when they are by construction.
  mlir::Value alignedSizes(mlir::OpBuilder &builder, int loopNumber, int64_t lanes,
                           llvm::ArrayRef<Polynomial> also);
  /// The states of a body for aligned sizes, or of another for all where they are not known.
  States chooseAligned(mlir::OpBuilder &builder, TreeEmitter &trees, int loopNumber, int64_t lanes,
                       llvm::ArrayRef<Polynomial> also,
                       llvm::function_ref<States(mlir::OpBuilder &, bool)> body);

  // Columns
  void lowerColumns(), lowerColumnParts(), lowerColumnFold();
  Values columnPoint(mlir::OpBuilder &builder, Reducers reducers, Position at, mlir::Value index);
  /// The strips of all lines and blocks, which work-items are numbered by.
  struct Strips {
    mlir::Value length, ofLine; ///< elements and strips of a line
    mlir::Value lines, blocks;  ///< null when there is one
    mlir::Value total;
  };
  Strips countStrips(mlir::Value blocks);
  /// Where a strip is; `column` becomes the position of its first element.
  ColumnRun stripAt(mlir::OpBuilder &builder, const Strips &all, mlir::Value strip,
                    Position &column);
  /// The strip of a work-item, when it has one: `body` gets its run and its position.
  void groupStrip(mlir::Value blocks,
                  llvm::function_ref<void(mlir::OpBuilder &, ColumnRun &, Position &)> body);

  // Rows
  struct Team;
  /// What a work-item keeps of its rows, in private memory.
  struct Kept {
    KeptRow row;
    int64_t lanes; ///< of a piece
    llvm::DenseMap<mlir::Value, mlir::Value> memory;
  };
  struct SeveralRows;
  llvm::SmallVector<mlir::Type> splitBuffers();
  void lowerBlocks();
  void lastGroup(mlir::OpBuilder &builder, mlir::Value flag, mlir::Value ticket, mlir::Value count,
                 llvm::function_ref<void(mlir::OpBuilder &)> body);
  void foldLast(Reducers reducers, const TreeEmitter::Storage &memory, const Position &row,
                mlir::Value blocks);
  States partialLanes(mlir::OpBuilder &builder, TreeEmitter &trees, Reducers reducers,
                      const Team &team, mlir::Value first, mlir::Value size);
  void lowerFold();
  void foldFew(mlir::OpBuilder &builder, Reducers reducers, mlir::Value blocks);
  void foldMany(mlir::OpBuilder &builder, Reducers reducers, mlir::Value blocks);
  void lowerRows(), lowerLongRows(), lowerWholeRows(llvm::StringRef name);
  void lowerSeveral(const RowsAtOnce &form);
  /// A row a work-item of a group.
  void lowerShort(llvm::StringRef name);
  Team teamOf(mlir::OpBuilder &builder, int64_t lanes);
  States foldTeam(mlir::OpBuilder &builder, TreeEmitter &trees, const Team &team,
                  const TreeEmitter::Storage &memory, const States &own, bool reused);
  States teamLanes(mlir::OpBuilder &builder, TreeEmitter &trees, const Team &team,
                   mlir::Value first, mlir::Value length, const TreeEmitter::Body &body);
  States teamTree(mlir::OpBuilder &builder, TreeEmitter &trees, const Team &team,
                  mlir::Value length,
                  llvm::function_ref<States(mlir::OpBuilder &, mlir::Value, mlir::Value)> lanesOf);
  /// For `pieces` of `lanes`; 0: as many as are kept of a row.
  Kept keptPoints(int64_t lanes, int64_t pieces = 0);
  void recallPoint(mlir::OpBuilder &builder, const Kept &kept, mlir::Value value, mlir::Value slot,
                   Position &at);
  void keepPoint(mlir::OpBuilder &builder, const Kept &kept, mlir::Value value, mlir::Value slot,
                 Position &at);
  Values keptPiece(mlir::OpBuilder &builder, const Team &team, Kept &kept, TreeEmitter &trees,
                   Reducers reducers, Position at, mlir::Value number, mlir::ValueRange states,
                   int stage);
  States keptStage(mlir::OpBuilder &builder, const Team &team, Kept &kept, TreeEmitter &trees,
                   Reducers reducers, Position &row, int stage);
  void keptRow(mlir::OpBuilder &builder, const Team &team, Kept &kept);
  void longRow(mlir::OpBuilder &builder, const Team &team, mlir::Value length);
  void storeOnce(mlir::OpBuilder &builder, const Team &team, Position &row);

  // Contract
  struct Side;
  struct Spread;
  struct ContractTile;
  void lowerContract(), lowerTiles(llvm::StringRef name);
  void storeTile(ContractTile &tile);
  struct FewElements;
  void lowerEach();
  void lowerContractFold();
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
  void lowerTensor();
  void lowerBulk();
  Spread tensorSpread(int64_t columns);
  void keepTensorPiece(mlir::OpBuilder &builder, const ContractTile &tile, const Side &side,
                       mlir::Value k);
  Values tensorSteps(mlir::OpBuilder &builder, const ContractTile &tile, mlir::Value from,
                     mlir::ValueRange sums);
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPLOWERING_H
