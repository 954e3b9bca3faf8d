//===- PiecePlan.h - What a piece of a result is computed from --------------------------------===//
//
// A pass over values that do not fit on a device visits `units` one after the other, some at a
// time. Of every node in the pass a unit needs a strip along one axis; what it needs whole must
// stay on the device while the pass runs.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_PIECEPLAN_H
#define GRAPHC_FRONTENDS_RECORD_PIECEPLAN_H

#include "dialects/opset/OpTable.h"
#include "frontends/record/Node.h"

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace graphc::pieces {

/// Units [u, v) of a pass need elements [u * scale + offset, v * scale + offset) along `axis`.
struct Strip {
  const Node *node = nullptr;
  int64_t axis = 0;
  int64_t scale = 1;
  int64_t offset = 0;
  auto operator<=>(const Strip &) const = default;

  int64_t begin(int64_t unit) const { return unit * scale + offset; }
};

/// What a strip of a node that is not ready needs of each operand: a strip, or all of it.
struct OperandStrips {
  std::vector<std::optional<Strip>> strips;
  int64_t wantedScale = 1; ///< when there are none: units of this many times the size might do
};
/// False when the node's operation does not go by strips along that axis.
bool stripsOfOperands(const Strip &of, OperandStrips &out);

/// How a reduction along a streamed axis is put together again: blocks of the canonical tree
/// (docs/numerics.md) are combined within pieces, their results afterwards. In the operand's shape
/// without axes of size 1, `group` is the run of reduced axes that begins with the streamed one.
struct Fold {
  op::ReduceKind kind = op::ReduceKind::Sum; ///< of both steps; sums for a mean
  Shape before;                              ///< axes in front of the group
  std::vector<int64_t> outer;                ///< of them, those that are reduced at the end
  std::vector<int64_t> inner;                ///< axes behind the group that are reduced first
  Shape after;                               ///< what is left of the axes behind it
  int64_t each = 1;                          ///< elements of the group a unit has
  int64_t block = 0;                         ///< elements of a block; 0: a piece is one
  int64_t blocks(int64_t units) const;       ///< results of a piece of so many units
};

/// One result of a pass: its strip of each piece, or what each piece adds to a reduction, whose
/// operand's strip it is then.
struct Root {
  NodeRef node;
  Strip strip;
  std::optional<Fold> fold;
};

/// One candidate for a pass over one root.
struct Analysis {
  Root root;
  int64_t units = 0;
  int64_t align = 1;             ///< pieces of multiples of this are whole blocks
  std::set<Strip> strips;        ///< of everything computed or read in pieces
  std::set<const Node *> wholes; ///< needed whole
};

/// Node whose operation stood in the way of pieces, for messages.
using Blocker = const Node *;

/// The ways to compute `node` in pieces, each along another axis, those that walk through memory in
/// order first. Operands of ready nodes are not looked at. Needs nobody to publish the nodes
/// meanwhile. `blocker` gets an operation that allowed none of them.
std::vector<Analysis> waysToSplit(const NodeRef &node, Blocker &blocker);

/// Bytes of a unit in all strips of ready nodes, in all strips together, and in the largest one.
struct UnitBytes {
  int64_t read = 0;
  int64_t largest = 0;
};
UnitBytes unitBytes(const std::set<Strip> &strips);
/// Bytes of a strip for one unit.
int64_t bytesOf(const Strip &strip);

} // namespace graphc::pieces

#endif // GRAPHC_FRONTENDS_RECORD_PIECEPLAN_H
