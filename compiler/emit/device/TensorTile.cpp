// Tiles of products on tensor cores. A piece is 32 k's of 128 rows of A and of 128 columns of B, as
// passes/lower/group/Tensor.cpp places them in the local memory: with k contiguous rows of 64
// bytes, else lines of 64 elements along the loop; chunks of 16 bytes XORed as wgmma's swizzles of
// 64 and 128 bytes do, so that neither copies nor loads of a warp meet in a bank. Three stages:
// while one is multiplied, the next two are on their way.
//
// A warp has 16 rows and all columns. Sum 32 h + 2 j + e of a work-item belongs to row 8 h + lane/4
// and column 8 j + 2 (lane mod 4) + e.
#include "compiler/emit/device/TensorTile.h"

#include "compiler/emit/device/PtxText.h"

using namespace graphc;
using namespace graphc::emit;
using llvm::formatv;

namespace {

/// Bytes of a side's piece and of a stage.
constexpr int kSide = 8192, kStage = 2 * kSide;

class Writer : PtxText {
public:
  Writer(const TensorTile &tile, bool wgmma) : tile(tile), wgmma(wgmma) {}
  std::string write();

private:
  void declare();
  void prepareCopies(char side, bool alongK, int start, int from, int count);
  void copy(char side, bool alongK);
  void fill();
  void prepareDescriptor(char side, bool alongK, int start);
  void prepareReads();
  void multiply();
  void multiplyGroups();
  void multiplyWarps();
  void waitForAll();

  TensorTile tile;
  bool wgmma;
};

void Writer::declare() {
  line(".reg .pred more, last;");
  line(".reg .b32 at, to, left, x, y, z, toA, toB, readA, readB, a<4>, b<4>;");
  line(".reg .b64 fromA, fromB, apartA, apartB, nextA, nextB, far, wide, dA, dB, eA, eB;");
}

/// Where a work-item's first copy of a side comes from and goes to; the other one is `apart`. What
/// lies behind the end of the loop is the last there is, again.
void Writer::prepareCopies(char side, bool alongK, int start, int from, int count) {
  int bits = alongK ? 2 : 4; // chunks of a row or line
  line("shr.u32 x, $65, {0};", bits);
  line("and.b32 y, $65, {0};", (1 << bits) - 1);
  line("mad.lo.u32 to{0}, x, {1}, $64;", side, alongK ? 64 : 128);
  if (alongK) {
    line("shr.u32 z, x, 1;");
    line("and.b32 z, z, 3;");
  } else {
    line("shr.u32 z, y, 3;");
    line("mad.lo.u32 to{0}, z, 4096, to{0};", side);
    line("and.b32 z, x, 7;");
  }
  line("xor.b32 z, z, y;");
  if (!alongK)
    line("and.b32 z, z, 7;");
  line("mad.lo.u32 to{0}, z, 16, to{0};", side);
  if (start)
    line("add.u32 to{0}, to{0}, {1};", side, start);
  line("sub.s32 left, ${0}, 1;", count);
  if (alongK) {
    line("add.s32 at, x, 64;");
    line("min.s32 x, x, left;");
    line("min.s32 at, at, left;");
    line("sub.s32 at, at, x;");
    line("cvt.u64.u32 wide, at;");
    line("mul.lo.s64 apart{0}, ${1}, wide;", side, from + 1);
    line("mov.b64 next{0}, 64;", side);
  } else {
    line("shr.u32 left, left, 3;");
    line("min.s32 y, y, left;");
    line("mul.lo.s64 apart{0}, ${1}, 16;", side, from + 1);
    line("mul.lo.s64 next{0}, ${1}, 32;", side, from + 1);
  }
  line("cvt.u64.u32 wide, x;");
  line("mad.lo.s64 from{0}, wide, ${1}, ${2};", side, from + 1, from);
  line("cvt.u64.u32 wide, y;");
  line("mad.lo.s64 from{0}, wide, 16, from{0};", side);
}

void Writer::copy(char side, bool alongK) {
  line("add.u32 x, to{0}, to;", side);
  line("add.s64 far, from{0}, apart{0};", side);
  line("@more cp.async.cg.shared.global [x], [from{0}], 16;", side);
  line("@more cp.async.cg.shared.global [x+{0}], [far], 16;", alongK ? 4096 : 2048);
  line("add.s64 from{0}, from{0}, next{0};", side);
}

/// Starts the copies of the next piece to stage `to`, if there is one.
void Writer::fill() {
  line("setp.gt.s32 more, left, 0;");
  copy('A', tile.alongKA);
  copy('B', tile.alongKB);
  line("sub.s32 left, left, 1;");
  line("cp.async.commit_group;");
}

/// wgmma's description of a side of the first stage: its address, the distances of what the
/// instruction has several of, and the swizzle.
void Writer::prepareDescriptor(char side, bool alongK, int start) {
  // k contiguous: 512 bytes to the next 8 rows, swizzle of 64. Else 4096 to the next 64 elements
  // of the loop, 1024 to the next 8 k's, swizzle of 128.
  uint64_t shape = alongK
                       ? uint64_t{1} << 16 | uint64_t{512 / 16} << 32 | uint64_t{2} << 62
                       : uint64_t{4096 / 16} << 16 | uint64_t{1024 / 16} << 32 | uint64_t{1} << 62;
  describe(side, "$64", start, "$65", 4096, shape);
}

/// Where a work-item's rows of ldmatrix lie in the first stage.
void Writer::prepareReads() {
  line("shr.u32 x, $65, 3;");
  line("and.b32 x, x, 3;"); // the matrix
  line("and.b32 y, $65, 7;");
  for (char side : {'A', 'B'}) {
    bool isA = side == 'A', alongK = isA ? tile.alongKA : tile.alongKB;
    // Matrices 0 to 3: of A the upper left, lower left, upper right and lower right; of B those of
    // the first eight columns, then of the next.
    bool lowBitIsLoop = isA;
    line("and.b32 z, x, 1;");
    line("shr.u32 at, x, 1;");
    const char *loop = lowBitIsLoop ? "z" : "at", *k = lowBitIsLoop ? "at" : "z";
    if (alongK) {
      line("mad.lo.u32 to, {0}, 8, y;", loop); // row of 16
      line("mad.lo.u32 read{0}, to, 64, $64;", side);
      line("shr.u32 to, to, 1;");
      line("and.b32 to, to, 3;");
      line("xor.b32 to, to, {0};", k);
    } else {
      line("mad.lo.u32 to, {0}, 8, y;", k);
      line("mad.lo.u32 read{0}, to, 128, $64;", side);
      line("mov.b32 to, {0};", loop);
    }
    if (isA) {
      line("shr.u32 left, $65, 5;"); // the warp
      if (alongK) {
        line("mad.lo.u32 readA, left, 1024, readA;");
      } else {
        line("mad.lo.u32 to, left, 2, to;");
        line("shr.u32 left, to, 3;");
        line("mad.lo.u32 readA, left, 4096, readA;");
        line("and.b32 to, to, 7;");
      }
    }
    if (!alongK)
      line("xor.b32 to, to, y;");
    line("mad.lo.u32 read{0}, to, 16, read{0};", side);
    if (!isA)
      line("add.u32 readB, readB, {0};", kSide);
  }
}

/// Multiplies the piece of stage `at`.
void Writer::multiply() { wgmma ? multiplyGroups() : multiplyWarps(); }

void Writer::multiplyGroups() {
  line("shr.u32 x, at, 4;");
  line("cvt.u64.u32 wide, x;");
  line("add.u64 eA, dA, wide;");
  line("add.u64 eB, dB, wide;");
  line("wgmma.fence.sync.aligned;");
  const char *type = tile.isHalf ? "f16" : "bf16";
  std::string sums;
  for (unsigned i = 0; i < kTensorSums; ++i)
    sums += formatv("{0}${1}", i ? ", " : "", i / 2 % 2 * 32 + i / 4 * 2 + i % 2).str();
  for (int half = 0; half < 2; ++half) {
    if (half) {
      line("add.u64 eA, eA, {0};", (tile.alongKA ? 32 : 2048) / 16);
      line("add.u64 eB, eB, {0};", (tile.alongKB ? 32 : 2048) / 16);
    }
    line("wgmma.mma_async.sync.aligned.m64n128k16.f32.{0}.{0} {{{1}}, eA, eB, 1, 1, 1, {2}, {3};",
         type, sums, tile.alongKA ? 0 : 1, tile.alongKB ? 0 : 1);
  }
  line("wgmma.commit_group.sync.aligned;");
  line("wgmma.wait_group.sync.aligned 0;");
}

void Writer::multiplyWarps() {
  const char *type = tile.isHalf ? "f16" : "bf16";
  auto read = [&](const char *into, bool alongK) {
    line("ldmatrix.sync.aligned.m8n8.x4{0}.shared.b16 {{{1}0, {1}1, {1}2, {1}3}, [x];",
         alongK ? "" : ".trans", into);
  };
  for (int half = 0; half < 2; ++half) {
    auto start = [&](const char *side, bool alongK) {
      line("add.u32 x, read{0}, at;", side);
      if (half)
        line(alongK ? "xor.b32 x, x, 32;" : "add.u32 x, x, 2048;");
    };
    start("A", tile.alongKA);
    read("a", tile.alongKA);
    for (int pair = 0; pair < 8; ++pair) {
      start("B", tile.alongKB);
      if (tile.alongKB) {
        line("add.u32 x, x, {0};", pair * 1024);
      } else {
        line("xor.b32 x, x, {0};", pair % 4 * 32);
        line("add.u32 x, x, {0};", pair / 4 * 4096);
      }
      read("b", tile.alongKB);
      for (int j = 0; j < 2; ++j) {
        int sum = 4 * pair + 2 * j;
        line("mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32 {{${1}, ${2}, ${3}, ${4}}, {{a0, "
             "a1, a2, a3}, {{b{5}, b{6}}, {{${1}, ${2}, ${3}, ${4}};",
             type, sum, sum + 1, sum + 32, sum + 33, 2 * j, 2 * j + 1);
      }
    }
  }
}

/// What all work-items have put into the local memory is there for the instructions after this.
void Writer::waitForAll() {
  if (wgmma)
    line("fence.proxy.async.shared::cta;");
  line("bar.sync 0;");
}

std::string Writer::write() {
  text = "{\n";
  declare();
  if (wgmma) {
    prepareDescriptor('A', tile.alongKA, 0);
    prepareDescriptor('B', tile.alongKB, kSide);
  } else {
    prepareReads();
  }
  if (tile.isStep) {
    waitForAll();
    line("mov.b32 at, 0;");
    multiply();
    return text + "}\n";
  }
  prepareCopies('A', tile.alongKA, 0, 66, 71);
  prepareCopies('B', tile.alongKB, kSide, 68, 72);
  for (unsigned i = 0; i < kTensorSums; ++i)
    line("mov.f32 ${0}, 0f00000000;", i);
  line("mov.b32 left, $70;");
  line("mov.b32 at, 0;");
  line("mov.b32 to, 0;");
  fill();
  line("mov.b32 to, {0};", kStage);
  fill();
  line("mov.b32 to, {0};", 2 * kStage);
  line("mov.b32 y, $70;");
  text += "PIECE:\n";
  line("setp.le.s32 last, y, 0;");
  line("@last bra DONE;");
  line("cp.async.wait_group 1;");
  waitForAll();
  fill();
  multiply();
  advance("at", kStage);
  advance("to", kStage);
  line("sub.s32 y, y, 1;");
  line("bra PIECE;");
  text += "DONE:\n";
  line("cp.async.wait_group 0;");
  return text + "}\n";
}

} // namespace

std::optional<TensorTile> TensorTile::named(llvm::StringRef function) {
  TensorTile tile{};
  tile.isStep = function.consume_front("gc_step_");
  if (!tile.isStep && !function.consume_front("gc_tensor_"))
    return std::nullopt;
  tile.isHalf = function.consume_front("f16_");
  if (!tile.isHalf && !function.consume_front("bf16_"))
    return std::nullopt;
  tile.alongKA = function.front() == 'k';
  tile.alongKB = function.back() == 'k';
  return tile;
}

std::string emit::tensorTile(const TensorTile &tile, bool wgmma) {
  return Writer(tile, wgmma).write();
}
