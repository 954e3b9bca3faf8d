//===- FusionPlan.h - Which ops share a kernel ------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_FUSE_FUSIONPLAN_H
#define GRAPHC_COMPILER_PASSES_FUSE_FUSIONPLAN_H

#include "compiler/passes/analysis/Access.h"
#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/BitVector.h"

#include <deque>
#include <string>

namespace graphc::pass {

/// Why two neighbours are in different kernels; shown by `explain`.
enum class CutReason {
  None,
  DifferentSpace, ///< iteration spaces differ
  WholeReduction, ///< the reduction must be complete before any element can continue
  ShiftedRead,    ///< an element needs other elements of the value
  WouldCycle,     ///< a kernel between the two would depend on their union
  UpdateBase,     ///< an update needs the whole old value in memory
  ReadsElsewhere, ///< an update's values come from other elements of what it updates
  MayMeet,        ///< two updates may write one element
  LibraryStep,    ///< a routine of the library reads and writes whole tensors
  KernelFull,     ///< the kernel has reached its size limit
  SharingFull,    ///< too much is computed for a read to matter
  WholeSource,    ///< a gather needs the whole tensor in memory
  Revisited,      ///< too much would be computed again for each reduction of a row
  OneByOne,       ///< elements are written in order, by one thread
  SharedCode,     ///< reductions on their own have code in common
  RowByRow,       ///< more follows reductions than is worth computing row by row
  FarApart,       ///< work-items that share a row would write elements far apart
};
llvm::StringRef describe(CutReason reason);

/// Appends "file:line" of every place that a location names, once each.
void collectLines(mlir::Location loc, llvm::SmallVectorImpl<std::string> &lines);

/// The value whose elements these are, in row-major order.
mlir::Value stripReshapes(mlir::Value v);

/// On an update: its value is in memory of its own before it is written.
inline constexpr llvm::StringLiteral kSeparateAttr = "graphc.separate";
/// Marks updates of small parts (the importer's `graphc.small`) whose values come from elsewhere in
/// the array: the array need not be copied for them.
void separateUpdates(mlir::func::FuncOp func);

/// On a gather: the passes know that its indices are inside, and none is negative.
inline constexpr llvm::StringLiteral kInsideAttr = "graphc.inside";
/// Every reader computes it again. A gather with it has places that are computed from positions
/// alone, those of a join's parts (GatherRolls.cpp).
inline constexpr llvm::StringLiteral kAgainAttr = "graphc.again";

/// The scatter into a part of `update`'s array whose result the update writes back there, and which
/// may as well go to that array itself. Null when there is none: others read the result, or what it
/// writes is computed from elements of the array that are not gathered before.
graph::ScatterOp scatterIntoPart(graph::UpdateSliceOp update, SizeAnalysis &sizes);

struct Node;

/// A read of a value at index expressions over the reader's space.
struct Leaf {
  mlir::Value root;
  Node *producer = nullptr;                    ///< null: argument, generator, or alias
  llvm::SmallVector<mlir::AffineExpr> indices; ///< axes of size 1 left out
  bool alias = false; ///< reads the producer's buffer under another shape: never local
};

enum class NodeKind { Map, Reduce, Scan, Contract, Update, Copy, Library };

/// A value that is computed (not moved). Copy nodes have no op: they materialise a moved or
/// generated value. Library nodes are alone in their group, which is no kernel; their leaves are
/// the buffers they read.
struct Node {
  NodeKind kind;
  mlir::Operation *op = nullptr;
  mlir::Value result;
  llvm::SmallVector<Size> space; ///< sizes other than 1, logical order (reduce: of the operand)
  llvm::SmallVector<unsigned> reduced;  ///< dimensions of `space`
  llvm::SmallVector<mlir::Value> reads; ///< tensors read at every point of the space
  mlir::Value base;          ///< update: the tensor that is updated (null: uninitialised)
  Node *continues = nullptr; ///< update: the one before it of the same new value, elsewhere in it
  Node *follows = nullptr;   ///< likewise, but a kernel has room for no more of them
  llvm::SmallVector<mlir::Value> sources; ///< tensors read at places that are values
  llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>> readIndices; ///< per read, full rank
  llvm::SmallVector<Leaf> leaves; ///< reads with inlined producers expanded
  unsigned uses = 0, outside = 0; ///< reads by nodes; other uses (outputs, aliases, bases)
  bool inlined = false, row = false, stored = false, afterReduce = false;
  bool apart = false; ///< of rows, in a kernel that computes no row
  int group = -1;
  int turn = 0;  ///< of the first value of a turn of a loop: what the turn costs
  int again = 0; ///< what gathers cost that it computes again

  /// Reductions read at every point although their value belongs to a row.
  bool readsPoints() const { return !reduced.empty() || !row; }
  /// Its result has no reduced dimension.
  bool reduces() const { return !reduced.empty() && kind != NodeKind::Scan; }
};

struct Group {
  llvm::SmallVector<Node *> nodes; ///< topological
  llvm::SmallVector<Size> space;
  llvm::SmallVector<unsigned> reduced;
  kernel::Family family = kernel::Family::Map;
  llvm::BitVector ancestors;
  int mergedInto = -1;
  int cost = 0;          ///< of a point, in simple operations
  int reads = 0;         ///< at a point, of other kernels' tensors
  int64_t partial = 0;   ///< bytes of partial results, a lane of its reductions
  bool closed = false;   ///< the next turn of a loop or update did not fit
  bool isSated = false;  ///< another reduction did not fit
  bool oneByOne = false; ///< its points are visited in order by one thread

  /// Its one value is computed by the library: a step of its own, not a kernel.
  bool isLibrary() const { return nodes.size() == 1 && nodes[0]->kind == NodeKind::Library; }
};

/// Whether a value is read at the reader's own points.
bool isIdentity(llvm::ArrayRef<mlir::AffineExpr> indices, size_t dims);

/// Whether a group has loops for a reduction or a scan.
bool isReduced(const Group &group);

/// In simple operations, at one point.
int costOf(mlir::Operation *op);
int costOf(const Node &node);
/// Bytes of a lane's partial result.
int64_t partialOf(const Node &node);
/// Whether a leaf of `node`, a new member of the group, is an element of each point that no other
/// member reads or makes.
bool readsAnew(const Leaf &leaf, const Node &node, const Group &group);

/// Groups the computed values of one graph function into kernels. Analysis only: the function is
/// not changed.
class FusionPlan {
public:
  /// `mostPartial`: bytes of partial results a lane that the reductions of a kernel may have, or 0.
  /// `isApart`: reductions and scans are kernels that compute nothing else, so that many are one.
  FusionPlan(mlir::func::FuncOp func, SizeAnalysis &sizes, int64_t mostPartial, bool isApart);

  /// Live groups in an order in which they can run.
  llvm::SmallVector<Group *> order();
  /// Reductions and scans of kernels that differ and compute something else as well.
  size_t differentReductions();
  Node *node(mlir::Value value) { return byValue.lookup(value); }
  /// One line per value that did not join its producer's kernel; kernels are numbered by `order`.
  llvm::SmallVector<std::string> cuts(llvm::ArrayRef<Group *> order);
  /// The live group a node ended in.
  Group *groupOf(const Node &node) { return &groups[find(node.group)]; }

private:
  void collect(mlir::func::FuncOp func);
  Node &addNode(NodeKind kind, mlir::Operation *op, mlir::Value result);
  void addRead(Node &node, mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  void prepareRead(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  void materialize(mlir::Value tensor);
  void addContract(mlir::Operation *op);
  void addUpdate(mlir::Operation *op);
  Node *continuedUpdate(mlir::Operation *op, bool &isFull);
  void addGather(mlir::Operation *op);
  void addScatter(mlir::Operation *op);
  CutReason needsWhole(Node &node, int group);
  void addLibrary(mlir::Operation *op);
  void decideInlining();
  void markTurns();
  void markTails();
  void expandLeaves(Node &node);
  void appendLeaves(Node &reader, mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  void noteCut(const Node &node, int group, CutReason reason);
  void noteWhole(const Node &node, int group, llvm::ArrayRef<int> told);
  int besideContinued(Node &node, int chosen, bool &row);
  void assign(Node &node);
  CutReason joins(Node &node, int group, bool &row);
  CutReason shares(Node &node, int group);
  void join(Node &node, int group, bool row);
  CutReason mergeGroups(int into, int from);
  int find(int group);
  kernel::Family familyOf(llvm::ArrayRef<Size> space, llvm::ArrayRef<unsigned> reduced);
  void dependOn(int group, int producer);
  void markStored();

  bool fits(Group &group, int64_t partial);
  int revisits(const Node &node, int group);
  llvm::hash_code kindOf(const Group &group);

  SizeAnalysis &sizes;
  int64_t mostPartial;
  bool isApart;
  bool tellsErrors; ///< that values meet (Watch.h)
  mlir::MLIRContext *context;
  std::deque<Node> nodes;
  std::deque<Group> groups;
  llvm::DenseMap<mlir::Value, Node *> byValue;
  llvm::DenseMap<mlir::Operation *, graph::UpdateSliceOp> intoPart; ///< by scatter
  struct Cut {
    const Node *node;
    llvm::StringRef name; ///< of its operation, which ends before the plan
    mlir::Location place;
    int group;
    CutReason reason;
  };
  llvm::SmallVector<Cut> cutsMade;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_FUSE_FUSIONPLAN_H
