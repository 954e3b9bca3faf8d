// Three stages of pieces of k: while one is multiplied, the next is there or on its way and the one
// after it is copied to local memory, without registers (cp.async), and the operands of the next
// step are read while the present one is multiplied, also from one stage to the next. 48 KiB of
// local memory.
//
// float64: the tensor core's m16n8k4 adds its products as the chain does, in increasing k with one
// rounding each. A warp has 32 rows, and 64 columns or, in small tiles, 32. Of an operand with k
// contiguous row 16 i + 2 g + r lies in slot 16 i + 8 r + g, so that an instruction's rows g and
// g + 8 are neighbours in memory. Columns are so too, but g is turned: the three bits of a column's
// number by two are those of g with the last one first. A work-item has rows 16 i + 2 g + r and
// columns 16 p + 2 t + 0..1 and those eight further, whatever the operands' layout, so that what
// four store at once are whole sectors of memory.
//
// float32: a work-item has 8 rows and 16 columns, in small tiles 4 and 8; an operand with k
// contiguous is turned by copies of 4 bytes.
//
// Chunks of 16 bytes are XORed with the row (k contiguous) or k (twice k of A), so that no load of
// a warp meets two places of one bank.
//
// Whole pieces of tiles inside of aligned operands are copied in chunks, everything else element by
// element: rows behind the last are the last again, and k's behind the end 0 of A and -0 of B,
// whose product changes no sum.
#include "compiler/emit/device/ChainTile.h"

#include "compiler/emit/device/PtxText.h"
#include "compiler/passes/lower/LoopSpace.h"

#include "llvm/Support/MathExtras.h"

using namespace graphc;
using namespace graphc::emit;

namespace {

/// Bytes of a side's piece and of a stage.
constexpr int kSide = 8192, kStage = 2 * kSide, kStages = 3 * kStage;

class Writer : PtxText {
public:
  explicit Writer(const ChainTile &tile) : tile(tile), n(tile.sums()) {}
  std::string write();

private:
  bool alongK(char side) const { return side == 'A' ? tile.alongKA : tile.alongKB; }
  bool isSmall() const { return tile.isSmall; }
  /// Rows, and columns; work-items; k's of a piece.
  int size() const { return isSmall() ? 64 : 128; }
  int items() const { return tile.isDouble && !isSmall() ? 256 : 128; }
  int depth() const { return kSide / size() / tile.elementBytes(); }
  /// Bytes of a k's line where the own loop is contiguous.
  int lineBytes() const { return size() * tile.elementBytes(); }
  /// float64: bytes of a row with k contiguous, column pairs of a work-item, groups of four k's.
  int rowBytes() const { return depth() * tile.elementBytes(); }
  int pairs() const { return isSmall() ? 2 : 4; }
  int groupsOfK() const { return depth() / 4; }
  /// float64 with the own loop contiguous: chunks are XORed with k's last two bits so far up.
  static int turnOfK(char side) { return side == 'A' ? 1 : 0; }
  /// float32: of a work-item, in runs of four.
  int rows() const { return size() / 16; }
  int columns() const { return size() / 8; }
  /// float32: lines that are copied in chunks at once.
  int linesAtOnce() const { return items() * 4 / size(); }
  /// Work-items along k that copy single elements of an operand with k contiguous.
  int itemsOfK() const { return std::min(depth(), 16); }
  int first(char side) const { return n + (side == 'A' ? 2 : 4); }
  int pitch(char side) const { return first(side) + 1; }
  int length() const { return n + 6; }

  void declare();
  void prepare64();
  void prepareCopies64(char side);
  void prepareReads64(char side);
  void slotOfRow(char side, const char *slot, const char *row);
  void rowOfSlot(char side);
  void swizzleOfSlot(const char *swizzle, const char *slot);
  void prepare32();
  void prepareCopies32(char side);
  void placeTurned(const char *place);
  void startCopies(char side, const char *number, const char *across, int acrossBytes, int apart);
  int copyCount(char side) const;
  void copy(char side, int u);
  void copyElement(int predicate, int offset, int ahead);
  void recall(char side);
  void placeElements(char side);
  void copyRows(char side);
  void copyLines(char side);
  void fill();
  void fillElements();
  void read64(int into, int group);
  void multiply64(int from);
  void readStage();
  void read32(int into, int k, const char *turn = nullptr);
  void multiply32(int from);
  void nextStage();
  void pieces64();
  void pieces32();
  void wholePieces();
  void restOfPiece64();
  void restOfPiece32();
  void rest();
  void keepChains();
  void endBlock(const char *label);
  void addRun();

  ChainTile tile;
  int n;
};

void Writer::declare() {
  line(".reg .pred more, last, in<2>;");
  line(".reg .b32 at, to, left, piece, item, before, count, turn, warp, w, x, y, z;");
  line(".reg .b32 toA, toB, readA<4>, readB<4>;");
  line(".reg .b64 fromA, fromB, stepA, stepB, nextA, nextB, far, wide, pitch;");
  // What whole pieces have no use for: where the sides begin and their pitches; how many k's, rows
  // and columns there are; and the k's of whole pieces.
  line(".local .align 8 .b8 kept[{0}];", 4 * sizeof(int64_t) + 4 * sizeof(int32_t));
  if (tile.isDouble) {
    line(".reg .b64 pad;");
    line(".reg .f64 a0_<4>, a1_<4>, b0_<8>, b1_<8>;");
  } else {
    line(".reg .b32 pad;");
    line(".reg .f32 a0_<8>, a1_<8>, b0_<16>, b1_<16>;");
  }
  line("mov.b32 item, ${0};", n + 1);
  line("shr.u32 warp, item, 5;");
  for (int i = 0; i < 4; ++i)
    line("st.local.b64 [kept+{0}], ${1};", 8 * i, n + 2 + i);
  for (int i = 0; i < 3; ++i)
    line("st.local.b32 [kept+{0}], ${1};", 32 + 4 * i, n + 6 + i);
  if (tile.inRuns) {
    line(".reg .pred run;");
    line(".reg .b32 block, own;");
    line(".reg .f64 sum;");
    line("setp.ne.s32 run, item, item;");
    line("mov.b32 block, {0};", pass::kChain / depth());
    line("mad.lo.u32 own, item, 8, ${0};", n);
  }
}

/// Where a work-item's copies of whole pieces begin in global memory, and how they go on: from one
/// to the next of a piece, `apart` lines away, and to the next piece. `number` and `across`: the
/// line and the place in it of the first.
void Writer::startCopies(char side, const char *number, const char *across, int acrossBytes,
                         int apart) {
  line("cvt.u64.u32 wide, {0};", number);
  line("mad.lo.s64 from{0}, wide, ${1}, ${2};", side, pitch(side), first(side));
  line("cvt.u64.u32 wide, {0};", across);
  line("mad.lo.s64 from{0}, wide, {1}, from{0};", side, acrossBytes);
  line("mul.lo.s64 step{0}, ${1}, {2};", side, pitch(side), apart);
  if (alongK(side))
    line("mov.b64 next{0}, {1};", side, depth() * tile.elementBytes());
  else
    line("mul.lo.s64 next{0}, ${1}, {2};", side, pitch(side), depth());
}

/// The slot of a row or column among those with k contiguous, in float64.
void Writer::slotOfRow(char side, const char *slot, const char *row) {
  line("and.b32 {0}, {1}, 1;", slot, row);
  line("shl.b32 {0}, {0}, 3;", slot);
  if (side == 'A') {
    line("shr.u32 w, {0}, 1;", row);
    line("and.b32 w, w, 7;");
  } else {
    line("and.b32 w, {0}, 6;", row);
    line("or.b32 {0}, {0}, w;", slot);
    line("shr.u32 w, {0}, 3;", row);
    line("and.b32 w, w, 1;");
  }
  line("or.b32 {0}, {0}, w;", slot);
  line("and.b32 w, {0}, 4294967280;", row);
  line("or.b32 {0}, {0}, w;", slot);
}

/// Of slot x: sets x to its row or column.
void Writer::rowOfSlot(char side) {
  if (side == 'A') {
    line("and.b32 z, x, 7;");
    line("shl.b32 z, z, 1;");
  } else {
    line("and.b32 z, x, 1;");
    line("shl.b32 z, z, 3;");
    line("and.b32 w, x, 6;");
    line("or.b32 z, z, w;");
  }
  line("shr.u32 w, x, 3;");
  line("and.b32 w, w, 1;");
  line("or.b32 z, z, w;");
  line("and.b32 x, x, 4294967280;");
  line("or.b32 x, x, z;");
}

/// What chunks of a slot are XORed with.
void Writer::swizzleOfSlot(const char *swizzle, const char *slot) {
  if (isSmall())
    line("shl.b32 {0}, {1}, 1;", swizzle, slot);
  line("and.b32 {0}, {1}, {2};", swizzle, isSmall() ? swizzle : slot, isSmall() ? 6 : 2);
}

void Writer::prepareCopies64(char side) {
  if (alongK(side)) {
    int bits = isSmall() ? 3 : 2;        // chunks of a row
    line("shr.u32 x, item, {0};", bits); // the slot
    line("and.b32 y, item, {0};", (1 << bits) - 1);
    swizzleOfSlot("z", "x");
    line("xor.b32 z, z, y;");
    line("shl.b32 z, z, 4;");
    line("mad.lo.u32 to{0}, x, {1}, z;", side, rowBytes());
    rowOfSlot(side);
    startCopies(side, "x", "y", 16, isSmall() ? 16 : 64);
  } else {
    int bits = isSmall() ? 5 : 6; // chunks of a line
    line("shr.u32 x, item, {0};", bits);
    line("and.b32 y, item, {0};", (1 << bits) - 1);
    line("shl.b32 z, x, {0};", turnOfK(side));
    line("xor.b32 z, z, y;");
    line("shl.b32 z, z, 4;");
    line("mad.lo.u32 to{0}, x, {1}, z;", side, lineBytes());
    startCopies(side, "x", "y", 16, 4);
  }
  line("add.u32 to{0}, to{0}, ${1};", side, n);
  if (side == 'B')
    line("add.u32 toB, toB, {0};", kSide);
}

/// The address of what a work-item reads of each group of four k's, in the first stage.
void Writer::prepareReads64(char side) {
  bool isA = side == 'A';
  line("shr.u32 x, item, 2;");
  line("and.b32 x, x, 7;");    // g
  line("and.b32 y, item, 3;"); // t
  line(isA ? "shr.u32 z, warp, 1;" : "and.b32 z, warp, 1;");
  line("mul.lo.u32 z, z, {0};", isA ? 32 : 16 * pairs()); // the warp's first row or column
  if (alongK(side)) {
    line("add.u32 z, z, x;");
    line("mul.lo.u32 z, z, {0};", rowBytes());
    line("mad.lo.u32 z, y, 8, z;");
    swizzleOfSlot("x", "x");
  } else {
    line("shl.b32 z, z, 3;");
    line("mad.lo.u32 z, y, {0}, z;", lineBytes());
    line("shl.b32 y, y, {0};", turnOfK(side));
    if (!isA) {
      line("and.b32 w, x, 1;");
      line("shr.u32 x, x, 1;");
      line("mad.lo.u32 x, w, 4, x;");
    }
    line("xor.b32 x, x, y;");
    line("mad.lo.u32 z, x, 16, z;");
  }
  line("add.u32 z, z, ${0};", n);
  if (!isA)
    line("add.u32 z, z, {0};", kSide);
  for (int group = 0; group < groupsOfK(); ++group) {
    if (alongK(side)) {
      line("xor.b32 y, x, {0};", 2 * group);
      line("mad.lo.u32 read{0}{1}, y, 16, z;", side, group);
    } else {
      line("add.u32 read{0}{1}, z, {2};", side, group, group * 4 * lineBytes());
    }
  }
}

/// Of an operand with k contiguous, in float32: k x and row y of a work-item's first copy, and its
/// place.
void Writer::placeTurned(const char *place) {
  line("and.b32 x, item, 15;");
  line("shr.u32 y, item, 4;");
  line("shr.u32 z, y, 2;");
  line("and.b32 w, x, 7;");
  line("xor.b32 z, z, w;");
  line("shl.b32 z, z, 4;");
  line("mad.lo.u32 z, x, {0}, z;", lineBytes());
  line("and.b32 w, y, 3;");
  line("mad.lo.u32 {0}, w, 4, z;", place);
}

void Writer::prepareCopies32(char side) {
  if (alongK(side)) {
    placeTurned("z");
    startCopies(side, "y", "x", 4, items() / itemsOfK());
  } else {
    line("shl.b32 z, item, 4;");
    line("shr.u32 x, item, {0};", isSmall() ? 4 : 5);
    line("and.b32 y, item, {0};", size() / 4 - 1);
    startCopies(side, "x", "y", 16, linesAtOnce());
  }
  line("add.u32 to{0}, z, ${1};", side, n);
  if (side == 'B')
    line("add.u32 toB, toB, {0};", kSide);
}

void Writer::prepare32() {
  prepareCopies32('A');
  prepareCopies32('B');
  line("shr.u32 x, warp, 1;");
  line("shl.b32 x, x, 3;");
  line("shr.u32 y, item, 2;");
  line("and.b32 y, y, 7;");
  line("add.u32 x, x, y;");
  line("mad.lo.u32 readA0, x, 16, ${0};", n);
  line("and.b32 x, warp, 1;");
  line("shl.b32 x, x, 2;");
  line("and.b32 y, item, 3;");
  line("add.u32 x, x, y;");
  line("mad.lo.u32 readB0, x, 16, ${0};", n);
}

void Writer::prepare64() {
  for (char side : {'A', 'B'}) {
    prepareCopies64(side);
    prepareReads64(side);
  }
}

int Writer::copyCount(char side) const {
  if (tile.isDouble)
    return isSmall() ? 4 : 2;
  return alongK(side) ? size() * itemsOfK() / items() : depth() / linesAtOnce();
}

/// Copy number u of a whole piece.
void Writer::copy(char side, int u) {
  if (u)
    line("add.s64 far, far, step{0};", side);
  else
    line("mov.b64 far, from{0};", side);
  line("add.u32 x, to{0}, at;", side);
  if (tile.isDouble) {
    line("@more cp.async.cg.shared.global [x+{0}], [far], 16;", u * (isSmall() ? 2048 : 4096));
  } else if (!alongK(side)) {
    line("@more cp.async.cg.shared.global [x+{0}], [far], 16;", u * linesAtOnce() * lineBytes());
  } else {
    int row = u * items() / itemsOfK();
    line("xor.b32 x, x, {0};", row / 4 % 8 * 16);
    for (int k = 0; k < depth(); k += itemsOfK())
      line("@more cp.async.ca.shared.global [x+{0}], [far+{1}], 4;",
           row / 32 * 128 + k * lineBytes(), k * 4);
  }
}

/// One element from `far`, or what is behind the end of k.
void Writer::copyElement(int predicate, int offset, int ahead) {
  int bytes = tile.elementBytes();
  line("@in{0} cp.async.ca.shared.global [x+{1}], [far+{2}], {3};", predicate, offset, ahead,
       bytes);
  line("@!in{0} st.shared.b{1} [x+{2}], pad;", predicate, 8 * bytes, offset);
}

/// Of a side: sets far to where it begins, pitch and count; and before to the k's before the piece.
void Writer::recall(char side) {
  int at = side == 'A' ? 0 : 16;
  line("ld.local.b64 far, [kept+{0}];", at);
  line("ld.local.b64 pitch, [kept+{0}];", at + 8);
  line("ld.local.b32 before, [kept+32];");
  line("sub.s32 before, before, left;");
  line("ld.local.b32 count, [kept+{0}];", side == 'A' ? 36 : 40);
}

/// Sets z to the place of the first element that a work-item copies of a side, x to its row, column
/// or k (k contiguous), y to its k or row.
void Writer::placeElements(char side) {
  if (!alongK(side)) {
    line("and.b32 x, item, {0};", size() - 1);
    line("shr.u32 y, item, {0};", isSmall() ? 6 : 7);
    if (tile.isDouble) {
      line("shl.b32 z, y, {0};", turnOfK(side));
      line("shr.u32 w, x, 1;");
      line("xor.b32 z, z, w;");
      line("shl.b32 z, z, 4;");
      line("and.b32 w, x, 1;");
      line("mad.lo.u32 z, w, 8, z;");
      line("mad.lo.u32 z, y, {0}, z;", lineBytes());
    } else {
      line("shl.b32 z, x, 2;");
      line("mad.lo.u32 z, y, {0}, z;", lineBytes());
    }
  } else if (tile.isDouble) {
    line("and.b32 x, item, {0};", itemsOfK() - 1);
    line("shr.u32 y, item, {0};", isSmall() ? 4 : 3);
    slotOfRow(side, "z", "y");
    swizzleOfSlot("w", "z");
    line("mul.lo.u32 z, z, {0};", rowBytes());
    line("shr.u32 count, x, 1;");
    line("xor.b32 w, w, count;");
    line("mad.lo.u32 z, w, 16, z;");
    line("and.b32 w, x, 1;");
    line("mad.lo.u32 z, w, 8, z;");
  } else {
    placeTurned("z");
  }
  line("add.u32 z, z, ${0};", n);
  line("add.u32 z, z, to;");
  if (side == 'B')
    line("add.u32 z, z, {0};", kSide);
}

/// The piece of a side with k contiguous, element by element; behind the last row it stays there.
void Writer::copyRows(char side) {
  int together = items() / itemsOfK();
  placeElements(side);
  for (int half = 0; half < depth() / itemsOfK(); ++half) {
    line("sub.s32 w, left, {0};", half * itemsOfK());
    line("setp.lt.s32 in{0}, x, w;", half);
  }
  recall(side);
  line("add.s32 x, x, before;");
  line("cvt.u64.u32 wide, x;");
  line("mad.lo.s64 far, wide, {0}, far;", tile.elementBytes());
  line("sub.s32 w, count, 1;");
  line("min.s32 x, y, w;");
  line("cvt.u64.u32 wide, x;");
  line("mad.lo.s64 far, wide, pitch, far;");
  line("mul.lo.s64 wide, pitch, {0};", together);
  line("sub.s32 w, count, y;"); // rows from the first on
  for (int row = 0; row < size(); row += together) {
    if (row) {
      line("setp.gt.s32 last, w, {0};", row);
      line("@last add.s64 far, far, wide;");
    }
    // In float64 eight rows further: four slots, or of B the next one, whose chunks lie otherwise.
    int eighth = row % 16 / 8;
    int turned = tile.isDouble ? (side == 'B' ? eighth * 32 : 0) : row / 4 % 8 * 16;
    int slots = row / 16 * 16 + eighth * (side == 'A' ? 4 : 1);
    int place = tile.isDouble ? slots * rowBytes() : row / 32 * 128;
    line("xor.b32 x, z, {0};", turned);
    for (int half = 0; half < depth() / itemsOfK(); ++half) // float64 has one
      copyElement(half, place + half * itemsOfK() * lineBytes(),
                  half * itemsOfK() * tile.elementBytes());
  }
}

/// The same with the own loop contiguous: a work-item has one place of it.
void Writer::copyLines(char side) {
  int together = items() / size();
  placeElements(side);
  recall(side);
  line("add.s32 w, before, y;");
  line("cvt.u64.u32 wide, w;");
  line("mad.lo.s64 far, wide, pitch, far;");
  line("sub.s32 w, count, 1;");
  line("min.s32 x, x, w;");
  line("cvt.u64.u32 wide, x;");
  line("mad.lo.s64 far, wide, {0}, far;", tile.elementBytes());
  line("mul.lo.s64 wide, pitch, {0};", together);
  line("sub.s32 w, left, y;"); // k's from the first on
  for (int k = 0; k < depth(); k += together) {
    if (k)
      line("add.s64 far, far, wide;");
    line("setp.gt.s32 in0, w, {0};", k);
    line("xor.b32 x, z, {0};", tile.isDouble ? k % 4 << (4 + turnOfK(side)) : 0);
    copyElement(0, k * lineBytes(), 0);
  }
}

/// Starts the copies of the next whole piece to stage `at`, if there is `more`.
void Writer::fill() {
  for (char side : {'A', 'B'}) {
    for (int u = 0; u < copyCount(side); ++u)
      copy(side, u);
    line("add.s64 from{0}, from{0}, next{0};", side);
  }
  line("cp.async.commit_group;");
}

/// Starts the copies of what there is of a piece to stage `to`.
void Writer::fillElements() {
  for (char side : {'A', 'B'}) {
    const char *zero = side == 'A' ? "0" : tile.isDouble ? "9223372036854775808" : "2147483648";
    line("mov.b{0} pad, {1};", 8 * tile.elementBytes(), zero);
    alongK(side) ? copyRows(side) : copyLines(side);
  }
  line("sub.s32 left, left, {0};", depth());
  line("cp.async.commit_group;");
}

void Writer::read64(int into, int group) {
  for (char side : {'A', 'B'}) {
    const char *name = side == 'A' ? "a" : "b";
    int count = side == 'A' ? 4 : 2 * pairs();
    line("add.u32 x, read{0}{1}, at;", side, group);
    for (int i = 0; i < count; i += alongK(side) ? 1 : 2)
      if (alongK(side))
        line("ld.shared.f64 {0}{1}_{2}, [x+{3}];", name, into, i, i * 8 * rowBytes());
      else
        line("ld.shared.v2.f64 {{{0}{1}_{2}, {0}{1}_{3}}, [x+{4}];", name, into, i, i + 1, i * 64);
  }
}

void Writer::multiply64(int from) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2 * pairs(); ++j) {
      int c = 8 * pairs() * i + j / 2 * 4 + j % 2, d = c + 4 * pairs();
      line(
          "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {{${0}, ${1}, ${2}, ${3}}, {{a{4}_{5}, "
          "a{4}_{6}}, {{b{4}_{7}}, {{${0}, ${1}, ${2}, ${3}};",
          c, c + 2, d, d + 2, from, 2 * i, 2 * i + 1, j);
    }
}

/// Of stage `at`, in float32.
void Writer::readStage() {
  for (char side : {'A', 'B'})
    line("add.u32 read{0}1, read{0}0, at;", side);
}

void Writer::read32(int into, int k, const char *turn) {
  for (char side : {'A', 'B'}) {
    const char *name = side == 'A' ? "a" : "b";
    std::string turned = turn ? turn : std::to_string((k & 7) << 4);
    line("xor.b32 x, read{0}1, {1};", side, alongK(side) ? turned : "0");
    for (int i = 0; i < (side == 'A' ? rows() : columns()) / 4; ++i)
      line("ld.shared.v4.f32 {{{0}{1}_{2}, {0}{1}_{3}, {0}{1}_{4}, {0}{1}_{5}}, [x+{6}];", name,
           into, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3,
           k * lineBytes() + (side == 'A' ? i * 256 : kSide + i * 128));
  }
}

void Writer::multiply32(int from) {
  for (int i = 0; i < rows(); ++i)
    for (int j = 0; j < columns(); ++j)
      line("fma.rn.f32 ${0}, a{1}_{2}, b{1}_{3}, ${0};", i * columns() + j, from, i, j);
}

/// The stage that was read is filled again; the next one has come for all work-items.
void Writer::nextStage() {
  line("cp.async.wait_group 1;");
  line("bar.sync 0;");
  line("setp.gt.s32 more, piece, 3;");
  fill();
  advance("at", kStage);
  if (!tile.isDouble)
    readStage();
}

void Writer::pieces64() {
  read64(0, 0);
  text += "PIECE:\n";
  line("setp.le.s32 last, piece, 0;");
  line("@last bra.uni REST;");
  for (int group = 1; group < groupsOfK(); ++group) {
    read64(group % 2, group);
    multiply64(1 - group % 2);
  }
  nextStage();
  read64(0, 0);
  multiply64(1);
}

void Writer::pieces32() {
  readStage();
  read32(0, 0);
  text += "PIECE:\n";
  line("setp.le.s32 last, piece, 0;");
  line("@last bra.uni REST;");
  for (int k = 0; k < depth(); ++k) {
    if (k == depth() - 1)
      nextStage();
    read32((k + 1) % 2, (k + 1) % depth());
    multiply32(k % 2);
  }
}

void Writer::wholePieces() {
  line("shr.u32 piece, ${0}, {1};", length(), llvm::Log2_32(depth()));
  line("setp.eq.s32 last, ${0}, 0;", n + 9);
  line("@last mov.b32 piece, 0;");
  line("mul.lo.u32 before, piece, {0};", depth());
  line("st.local.b32 [kept+44], before;");
  line("setp.eq.s32 last, piece, 0;");
  line("@last bra.uni REST;");
  line("mov.b32 left, piece;");
  line("mov.b32 at, 0;");
  text += "STAGE:\n";
  line("setp.gt.s32 more, left, 0;");
  fill();
  line("sub.s32 left, left, 1;");
  line("add.u32 at, at, {0};", kStage);
  line("setp.lt.u32 last, at, {0};", 3 * kStage);
  line("@last bra.uni STAGE;");
  line("mov.b32 at, 0;");
  line("cp.async.wait_group 2;");
  line("bar.sync 0;");
  tile.isDouble ? pieces64() : pieces32();
  line("sub.s32 piece, piece, 1;");
  if (tile.inRuns) {
    line("sub.s32 block, block, 1;");
    line("setp.gt.s32 last, block, 0;");
    line("@last bra.uni PIECE;");
    line("setp.le.s32 last, piece, 0;");
    line("@last bra.uni PIECE;");
    keepChains();
  }
  line("bra.uni PIECE;");
}

/// A block of k has ended, and another one begins: its chains become or join the sums of the run,
/// which wait in local memory.
void Writer::keepChains() {
  for (int i = 0; i < n; ++i) {
    int place = kStages + i * items() * tile.elementBytes();
    line("@run ld.shared.f64 sum, [own+{0}];", place);
    line("@run add.rn.f64 sum, sum, ${0};", i);
    line("@!run mov.f64 sum, ${0};", i);
    line("st.shared.f64 [own+{0}], sum;", place);
    line("mov.f64 ${0}, 0d0000000000000000;", i);
  }
  line("setp.eq.s32 run, item, item;");
  line("mov.b32 block, {0};", pass::kChain / depth());
}

/// Goes on at `label` unless a block has ended.
void Writer::endBlock(const char *label) {
  line("setp.gt.s32 last, block, 0;");
  line("@last bra.uni {0};", label);
  keepChains();
}

/// The last block's chains end the run.
void Writer::addRun() {
  for (int i = 0; i < n; ++i) {
    line("@run ld.shared.f64 sum, [own+{0}];", kStages + i * items() * tile.elementBytes());
    line("@run add.rn.f64 ${0}, sum, ${0};", i);
  }
}

void Writer::restOfPiece64() {
  for (int group = 0; group < groupsOfK(); ++group) {
    read64(group % 2, group);
    multiply64(group % 2);
  }
}

/// Two k's at a time: `turn` is what chunks of the first are XORed with.
void Writer::restOfPiece32() {
  readStage();
  line("mov.b32 turn, 0;");
  line("mov.b32 piece, {0};", depth() / 2);
  text += "PAIR:\n";
  for (int k : {0, 1}) {
    if (k)
      line("xor.b32 turn, turn, 16;");
    read32(k, k, "turn");
  }
  multiply32(0);
  multiply32(1);
  line("add.u32 turn, turn, 16;");
  line("and.b32 turn, turn, 112;");
  for (char side : {'A', 'B'})
    line("add.u32 read{0}1, read{0}1, {1};", side, 2 * lineBytes());
  line("sub.s32 piece, piece, 1;");
  line("setp.gt.s32 last, piece, 0;");
  line("@last bra.uni PAIR;");
}

/// Pieces that are not whole, or of which single elements have to be copied.
void Writer::rest() {
  text += "REST:\n";
  line("cp.async.wait_group 0;");
  line("ld.local.b32 left, [kept+32];");
  line("ld.local.b32 before, [kept+44];");
  line("sub.s32 left, left, before;");
  line("setp.le.s32 last, left, 0;");
  line("@last bra.uni DONE;");
  if (tile.inRuns) {
    endBlock("SAME");
    text += "SAME:\n";
  }
  line("bar.sync 0;");
  line("mov.b32 to, 0;");
  text += "ELEMENTS:\n";
  fillElements();
  line("add.u32 to, to, {0};", kStage);
  line("setp.lt.u32 last, to, {0};", 2 * kStage);
  line("@last bra.uni ELEMENTS;");
  line("mov.b32 at, 0;");
  text += "SOME:\n";
  line("cp.async.wait_group 1;");
  line("bar.sync 0;");
  fillElements();
  tile.isDouble ? restOfPiece64() : restOfPiece32();
  advance("at", kStage);
  advance("to", kStage);
  line("setp.gt.s32 last, left, {0};", -2 * depth());
  if (tile.inRuns) {
    line("@!last bra.uni DONE;");
    line("sub.s32 block, block, 1;");
    endBlock("SOME");
    line("bra.uni SOME;");
  } else {
    line("@last bra.uni SOME;");
  }
}

std::string Writer::write() {
  text = "{\n";
  declare();
  tile.isDouble ? prepare64() : prepare32();
  for (int i = 0; i < n; ++i)
    line(tile.isDouble ? "mov.f64 ${0}, 0d0000000000000000;" : "mov.f32 ${0}, 0f00000000;", i);
  wholePieces();
  rest();
  text += "DONE:\n";
  line("cp.async.wait_group 0;");
  if (tile.inRuns)
    addRun();
  return text + "}\n";
}

} // namespace

std::optional<ChainTile> ChainTile::named(llvm::StringRef function) {
  ChainTile tile{};
  if (!function.consume_front("gc_tile_"))
    return std::nullopt;
  tile.isDouble = function.starts_with("f64");
  tile.isSmall = function.drop_front(3).starts_with("s_");
  tile.inRuns = function.drop_front(3).starts_with("r_");
  tile.alongKA = function[function.size() - 2] == 'k';
  tile.alongKB = function.back() == 'k';
  return tile;
}

std::string emit::chainTile(const ChainTile &tile) { return Writer(tile).write(); }
