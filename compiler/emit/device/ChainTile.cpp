// The tiles of opencl/Tiles.cpp, whose comment says how operands lie in the local memory and who
// multiplies what, as PTX.
#include "compiler/emit/device/ChainTile.h"

#include "compiler/emit/device/PtxText.h"

using namespace graphc;
using namespace graphc::emit;

namespace {

/// Bytes of a side's piece and of a stage.
constexpr int kSide = 8192, kStage = 2 * kSide;

class Writer : PtxText {
public:
  explicit Writer(const ChainTile &tile) : tile(tile), n(tile.sums()) {}
  std::string write();

private:
  bool alongK(char side) const { return side == 'A' ? tile.alongKA : tile.alongKB; }
  bool isWide() const { return tile.kind == ChainTile::Kind::Float64; }
  /// Column pairs of a work-item in float64.
  int pairs() const { return isWide() ? 4 : 2; }
  int groupsOfK() const { return isWide() ? 2 : 4; }
  int rowBytes(bool byK) const { return byK ? (isWide() ? 64 : 128) : (isWide() ? 1024 : 512); }
  void declare();
  void prepare64();
  void prepareCopies64(char side);
  void prepareReads64(char side);
  void prepare32();
  void prepareCopies32(char side);
  void startCopies(char side, const char *line, const char *across, int acrossBytes, int apart,
                   int depth);
  void copy64(char side);
  void copy32(char side);
  void fill();
  void read64(int into, int group);
  void multiply64(int from);
  void read32(int into, int k);
  void multiply32(int from);
  void nextStage();
  void pieces64();
  void pieces32();

  ChainTile tile;
  int n;
};

void Writer::declare() {
  line(".reg .pred more, last;");
  line(".reg .b32 at, now, left, piece, item, warp, x, y, z, toA<4>, toB<4>, readA<4>, readB<4>;");
  line(".reg .b64 fromA, fromB, stepA, stepB, nextA, nextB, far, wide;");
  if (tile.isDouble())
    line(".reg .f64 a0_<4>, a1_<4>, b0_<8>, b1_<8>;");
  else
    line(".reg .f32 a0_<8>, a1_<8>, b0_<16>, b1_<16>;");
  line("mov.b32 item, ${0};", n + 1);
  line("shr.u32 warp, item, 5;");
}

/// Where a work-item's copies begin in global memory, and how they go on: from one to the next of a
/// piece, `apart` lines away, and to the next piece. `line` and `across`: where the first is.
void Writer::startCopies(char side, const char *number, const char *across, int acrossBytes,
                         int apart, int depth) {
  int first = n + (side == 'A' ? 2 : 4), pitch = first + 1;
  line("cvt.u64.u32 wide, {0};", number);
  line("mad.lo.s64 from{0}, wide, ${1}, ${2};", side, pitch, first);
  line("cvt.u64.u32 wide, {0};", across);
  line("mad.lo.s64 from{0}, wide, {1}, from{0};", side, acrossBytes);
  line("mul.lo.s64 step{0}, ${1}, {2};", side, pitch, apart);
  if (alongK(side))
    line("mov.b64 next{0}, {1};", side, depth * tile.elementBytes());
  else
    line("mul.lo.s64 next{0}, ${1}, {2};", side, pitch, depth);
}

void Writer::prepareCopies64(char side) {
  int depth = isWide() ? 8 : 16;
  if (alongK(side)) {
    int bits = isWide() ? 2 : 3;         // chunks of a row
    line("shr.u32 x, item, {0};", bits); // the slot
    line("and.b32 y, item, {0};", (1 << bits) - 1);
    line(isWide() ? "and.b32 z, x, 2;" : "shl.b32 z, x, 1;");
    line("and.b32 z, z, {0};", isWide() ? 2 : 6);
    line("xor.b32 z, z, y;");
    line("shl.b32 z, z, 4;");
    line("mad.lo.u32 to{0}0, x, {1}, z;", side, rowBytes(true));
    line("and.b32 z, x, 7;");
    line("shl.b32 z, z, 1;");
    line("shr.u32 now, x, 3;");
    line("and.b32 now, now, 1;");
    line("or.b32 z, z, now;");
    line("and.b32 x, x, 4294967280;");
    line("or.b32 x, x, z;"); // the row
    startCopies(side, "x", "y", 16, isWide() ? 64 : 16, depth);
  } else {
    int bits = isWide() ? 6 : 5; // chunks of a line
    line("shr.u32 x, item, {0};", bits);
    line("and.b32 y, item, {0};", (1 << bits) - 1);
    line("shl.b32 z, x, 1;");
    line("xor.b32 z, z, y;");
    line("shl.b32 z, z, 4;");
    line("mad.lo.u32 to{0}0, x, {1}, z;", side, rowBytes(false));
    startCopies(side, "x", "y", 16, 4, depth);
  }
  line("add.u32 to{0}0, to{0}0, ${1};", side, n);
  if (side == 'B')
    line("add.u32 toB0, toB0, {0};", kSide);
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
    line("mul.lo.u32 z, z, {0};", rowBytes(true));
    line("mad.lo.u32 z, y, 8, z;");
    line(isWide() ? "and.b32 x, x, 2;" : "shl.b32 x, x, 1;");
    line("and.b32 x, x, {0};", isWide() ? 2 : 6);
  } else {
    line("shl.b32 z, z, 3;");
    line("mad.lo.u32 z, y, {0}, z;", rowBytes(false));
    line("shl.b32 y, y, 1;");
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
      line("add.u32 read{0}{1}, z, {2};", side, group, group * 4 * rowBytes(false));
    }
  }
}

void Writer::prepareCopies32(char side) {
  if (alongK(side)) {
    line("and.b32 x, item, 15;"); // k
    line("shr.u32 y, item, 4;");  // row
    line("shr.u32 z, y, 2;");
    line("and.b32 now, x, 7;");
    line("xor.b32 z, z, now;");
    line("shl.b32 z, z, 4;");
    line("mad.lo.u32 z, x, 512, z;");
    line("and.b32 now, y, 3;");
    line("mad.lo.u32 z, now, 4, z;");
    startCopies(side, "y", "x", 4, 8, 16);
  } else {
    line("shl.b32 z, item, 4;");
    line("and.b32 y, item, 31;");
    startCopies(side, "warp", "y", 16, 4, 16);
  }
  for (int i = 0; i < (alongK(side) ? 4 : 1); ++i) {
    line("xor.b32 x, z, {0};", 32 * i);
    line("add.u32 to{0}{1}, x, ${2};", side, i, n);
    if (side == 'B')
      line("add.u32 toB{0}, toB{0}, {1};", i, kSide);
  }
}

void Writer::prepare32() {
  prepareCopies32('A');
  prepareCopies32('B');
  line("shr.u32 x, warp, 1;");
  line("shl.b32 x, x, 3;");
  line("shr.u32 y, item, 2;");
  line("and.b32 y, y, 7;");
  line("add.u32 x, x, y;");
  line("shl.b32 readA0, x, 4;");
  line("and.b32 x, warp, 1;");
  line("shl.b32 x, x, 2;");
  line("and.b32 y, item, 3;");
  line("add.u32 x, x, y;");
  line("shl.b32 readB0, x, 4;");
}

void Writer::prepare64() {
  for (char side : {'A', 'B'}) {
    prepareCopies64(side);
    prepareReads64(side);
  }
}

void Writer::copy64(char side) {
  line("add.u32 x, to{0}0, at;", side);
  line("mov.b64 far, from{0};", side);
  for (int u = 0; u < (isWide() ? 2 : 4); ++u) {
    if (u)
      line("add.s64 far, far, step{0};", side);
    line("@more cp.async.cg.shared.global [x+{0}], [far], 16;", u * (isWide() ? 4096 : 2048));
  }
}

void Writer::copy32(char side) {
  line("mov.b64 far, from{0};", side);
  if (!alongK(side))
    line("add.u32 x, to{0}0, at;", side);
  for (int u = 0; u < (alongK(side) ? 16 : 4); ++u) {
    if (u)
      line("add.s64 far, far, step{0};", side);
    if (alongK(side)) {
      line("add.u32 x, to{0}{1}, at;", side, u % 4);
      line("@more cp.async.ca.shared.global [x+{0}], [far], 4;", u / 4 * 128);
    } else {
      line("@more cp.async.cg.shared.global [x+{0}], [far], 16;", u * 2048);
    }
  }
}

/// Starts the copies of the next piece to stage `at`, if there is one.
void Writer::fill() {
  line("setp.gt.s32 more, left, 0;");
  for (char side : {'A', 'B'}) {
    tile.isDouble() ? copy64(side) : copy32(side);
    line("add.s64 from{0}, from{0}, next{0};", side);
  }
  line("sub.s32 left, left, 1;");
  line("cp.async.commit_group;");
}

void Writer::read64(int into, int group) {
  for (char side : {'A', 'B'}) {
    const char *name = side == 'A' ? "a" : "b";
    int count = side == 'A' ? 4 : 2 * pairs();
    line("add.u32 x, read{0}{1}, at;", side, group);
    for (int i = 0; i < count; i += alongK(side) ? 1 : 2)
      if (alongK(side))
        line("ld.shared.f64 {0}{1}_{2}, [x+{3}];", name, into, i, i * 8 * rowBytes(true));
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

void Writer::read32(int into, int k) {
  for (char side : {'A', 'B'}) {
    const char *name = side == 'A' ? "a" : "b";
    line("xor.b32 x, read{0}0, {1};", side, alongK(side) ? (k & 7) << 4 : 0);
    line("add.u32 x, x, now;");
    for (int i = 0; i < (side == 'A' ? 2 : 4); ++i)
      line("ld.shared.v4.f32 {{{0}{1}_{2}, {0}{1}_{3}, {0}{1}_{4}, {0}{1}_{5}}, [x+{6}];", name,
           into, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3,
           k * 512 + (side == 'A' ? i * 256 : kSide + i * 128));
  }
}

void Writer::multiply32(int from) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 16; ++j)
      line("fma.rn.f32 ${0}, a{1}_{2}, b{1}_{3}, ${0};", i * 16 + j, from, i, j);
}

/// The stage that was read is filled again; the next one has come for all work-items.
void Writer::nextStage() {
  line("cp.async.wait_group 1;");
  line("bar.sync 0;");
  fill();
  advance("at", kStage);
  line("add.u32 now, at, ${0};", n);
}

void Writer::pieces64() {
  read64(0, 0);
  text += "PIECE:\n";
  line("setp.le.s32 last, piece, 0;");
  line("@last bra DONE;");
  for (int group = 1; group < groupsOfK(); ++group) {
    read64(group % 2, group);
    multiply64(1 - group % 2);
  }
  nextStage();
  read64(0, 0);
  multiply64(1);
}

void Writer::pieces32() {
  constexpr int kDepth = 16;
  line("mov.b32 now, ${0};", n);
  read32(0, 0);
  text += "PIECE:\n";
  line("setp.le.s32 last, piece, 0;");
  line("@last bra DONE;");
  for (int k = 0; k < kDepth; ++k) {
    if (k == kDepth - 1)
      nextStage();
    read32((k + 1) % 2, (k + 1) % kDepth);
    multiply32(k % 2);
  }
}

std::string Writer::write() {
  text = "{\n";
  declare();
  tile.isDouble() ? prepare64() : prepare32();
  for (int i = 0; i < n; ++i)
    line(tile.isDouble() ? "mov.f64 ${0}, 0d0000000000000000;" : "mov.f32 ${0}, 0f00000000;", i);
  line("mov.b32 left, ${0};", n + 6);
  line("mov.b32 piece, left;");
  for (int stage : {0, 1, 2}) {
    line("mov.b32 at, {0};", stage * kStage);
    fill();
  }
  line("mov.b32 at, 0;");
  line("cp.async.wait_group 2;");
  line("bar.sync 0;");
  tile.isDouble() ? pieces64() : pieces32();
  line("sub.s32 piece, piece, 1;");
  line("bra PIECE;");
  text += "DONE:\n";
  line("cp.async.wait_group 0;");
  return text + "}\n";
}

} // namespace

std::optional<ChainTile> ChainTile::named(llvm::StringRef function) {
  ChainTile tile{};
  if (!function.consume_front("gc_tile_"))
    return std::nullopt;
  tile.kind = function.starts_with("f32_")   ? Kind::Float32
              : function.starts_with("f64_") ? Kind::Float64
                                             : Kind::SmallFloat64;
  tile.alongKA = function[function.size() - 2] == 'k';
  tile.alongKB = function.back() == 'k';
  return tile;
}

std::string emit::chainTile(const ChainTile &tile) { return Writer(tile).write(); }
