// Tiles of products on tensor cores that the copy engine feeds. A piece is 64 k's of 128 rows of A
// and of 256 columns of B; the engine places it as wgmma's swizzle of 128 bytes wants it: rows of
// 64 k's, or blocks of 64 elements of the loop whose lines are k's. Of four stages three are on
// their way while one is multiplied. The engine writes zeros for what lies outside, so that edges
// need nothing of their own.
//
// It reads its description of an operand, a tensor map, from global memory. The first warp makes
// both maps of a tile: they begin at the tile's first elements.
//
// A warp has 16 rows and all columns. Sum 64 h + 2 j + e of a work-item belongs to row 8 h + lane/4
// and column 8 j + 2 (lane mod 4) + e.
#include "compiler/emit/device/BulkTile.h"

#include "compiler/emit/device/PtxText.h"
#include "compiler/passes/lower/LoopSpace.h"

using namespace graphc;
using namespace graphc::emit;
using llvm::formatv;
using pass::kBulkColumns;
using pass::kBulkDepth;

namespace {

constexpr int kStages = 4, kRows = 128, kSums = 128;
/// Bytes of A's part of a stage, of a stage, of 64 elements by 64.
constexpr int kSideA = kRows * kBulkDepth * 2, kStage = kSideA + kBulkColumns * kBulkDepth * 2,
              kBlock = 64 * 64 * 2;
/// Behind the stages: both maps, then a barrier a stage that counts its bytes, then one a stage
/// that counts who has read it.
constexpr int kMaps = kStages * kStage, kMap = 128, kBarriers = kMaps + 2 * kMap,
              kEnd = kBarriers + 2 * kStages * 8;
static_assert(kEnd <= pass::kBulkBytes && 2 * kMap == pass::kMapsBytes);

class Writer : PtxText {
public:
  explicit Writer(const BulkTile &tile) : tile(tile) {}
  std::string write();

private:
  void declare();
  void makeMap(char side, bool alongK, int from, const char *count);
  void makeMaps();
  void makeBarriers();
  void copy(char side, bool alongK, int start, int lines);
  void fill();
  void place(const char *piece);
  void wait(const char *label);
  void prepareDescriptor(char side, bool alongK, int start);
  void multiply();
  void release();

  BulkTile tile;
};

void Writer::declare() {
  line(".reg .pred warp, one, leader, more, ready;");
  line(".reg .b32 pieces, p, q, at, bar, parity, to, k, x, y;");
  line(".reg .b32 mapA, mapB;");
  line(".reg .b64 farA, farB, dA, dB, eA, eB, wide;");
}

/// The fields that differ from 0. Of two dimensions the first is the contiguous one.
void Writer::makeMap(char side, bool alongK, int from, const char *count) {
  auto set = [&](const char *field, const char *type, const std::string &value) {
    line("tensormap.replace.tile.{0}.shared::cta.b1024.{1} [map{2}], {3};", field, type, side,
         value);
  };
  auto each = [&](const char *field, const char *type, int number, const std::string &value) {
    set(field, type, formatv("{0}, {1}", number, value).str());
  };
  set("global_address", "b64", formatv("${0}", from).str());
  set("rank", "b32", "1"); // of 2
  each("box_dim", "b32", 0, "64");
  line("mov.b32 x, {0};", alongK && side == 'B' ? kBulkColumns : alongK ? kRows : kBulkDepth);
  each("box_dim", "b32", 1, "x");
  each("global_dim", "b32", alongK ? 0 : 1, "$135");
  each("global_dim", "b32", alongK ? 1 : 0, count);
  each("global_stride", "b64", 0, formatv("${0}", from + 1).str());
  each("element_stride", "b32", 0, "1");
  each("element_stride", "b32", 1, "1");
  set("elemtype", "b32", tile.isHalf ? "6" : "10");
  set("interleave_layout", "b32", "0");
  set("swizzle_mode", "b32", "3"); // 128 bytes
  set("fill_mode", "b32", "0");
}

void Writer::makeMaps() {
  line("and.b32 x, $129, 31;");
  line("mad.lo.u32 x, x, 4, mapA;");
  line("mov.b32 y, 0;");
  line("st.shared.b32 [x], y;");
  line("st.shared.b32 [x+{0}], y;", kMap);
  line("bar.warp.sync 0xffffffff;");
  line("@!one bra MADE;");
  makeMap('A', tile.alongKA, 130, "$136");
  makeMap('B', tile.alongKB, 132, "$137");
  makeBarriers();
  text += "MADE:\n";
  line("bar.warp.sync 0xffffffff;");
  for (char side : {'A', 'B'})
    line("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
         "[far{0}], [map{0}], {1};",
         side, kMap);
  for (char side : {'A', 'B'})
    line("fence.proxy.tensormap::generic.acquire.gpu [far{0}], {1};", side, kMap);
}

void Writer::makeBarriers() {
  line("add.u32 bar, $128, {0};", kBarriers);
  for (int i = 0; i < 2 * kStages; ++i) // a stage is read by two times four warps
    line("mbarrier.init.shared::cta.b64 [bar+{0}], {1};", 8 * i, i < kStages ? 1 : 2);
  line("fence.mbarrier_init.release.cluster;");
  line("fence.proxy.async.shared::cta;");
}

/// Copies of a side at k to stage `to`.
void Writer::copy(char side, bool alongK, int start, int lines) {
  for (int block = 0; block < (alongK ? 1 : lines / 64); ++block) {
    line("add.u32 x, to, {0};", start + block * kBlock);
    if (!alongK)
      line("mov.b32 y, {0};", 64 * block);
    else
      line("mov.b32 y, 0;");
    line("@more cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
         "[x], [far{0}, {{{1}}], [bar];",
         side, alongK ? "k, y" : "y, k");
  }
}

/// Where `more`: starts the copies of the piece at k to the stage that place() has found.
void Writer::fill() {
  line("@more mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {0};", kStage);
  line("add.u32 to, at, $128;");
  copy('A', tile.alongKA, 0, kRows);
  copy('B', tile.alongKB, kSideA, kBulkColumns);
}

/// The stage of a piece, its first barrier, and which of two turns of that is the piece's.
void Writer::place(const char *piece) {
  line("and.b32 x, {0}, {1};", piece, kStages - 1);
  line("mul.lo.u32 at, x, {0};", kStage);
  line("mad.lo.u32 bar, x, 8, $128;");
  line("add.u32 bar, bar, {0};", kBarriers);
  line("shr.u32 parity, {0}, 2;", piece);
  line("and.b32 parity, parity, 1;");
}

void Writer::wait(const char *label) {
  text += formatv("{0}:\n", label);
  line("mbarrier.try_wait.parity.shared::cta.b64 ready, [bar], parity;");
  line("@!ready bra {0};", label);
}

/// wgmma's description of a side of the first stage (TensorTile.cpp).
void Writer::prepareDescriptor(char side, bool alongK, int start) {
  uint64_t shape = static_cast<uint64_t>(alongK ? 1 : kBlock / 16) << 16 |
                   uint64_t{1024 / 16} << 32 | uint64_t{1} << 62;
  describe(side, "$128", start, "$129", kBlock, shape);
}

/// Starts the products of the piece in stage `at`.
void Writer::multiply() {
  line("shr.u32 x, at, 4;");
  line("cvt.u64.u32 wide, x;");
  line("add.u64 eA, dA, wide;");
  line("add.u64 eB, dB, wide;");
  line("wgmma.fence.sync.aligned;");
  const char *type = tile.isHalf ? "f16" : "bf16";
  std::string sums;
  for (int i = 0; i < kSums; ++i)
    sums += formatv("{0}${1}", i ? ", " : "", i / 2 % 2 * (kSums / 2) + i / 4 * 2 + i % 2).str();
  for (int step = 0; step < kBulkDepth / 16; ++step) {
    if (step) {
      line("add.u64 eA, eA, {0};", (tile.alongKA ? 32 : 2048) / 16);
      line("add.u64 eB, eB, {0};", (tile.alongKB ? 32 : 2048) / 16);
    }
    line("wgmma.mma_async.sync.aligned.m64n256k16.f32.{0}.{0} {{{1}}, eA, eB, 1, 1, 1, {2}, {3};",
         type, sums, tile.alongKA ? 0 : 1, tile.alongKB ? 0 : 1);
  }
  line("wgmma.commit_group.sync.aligned;");
}

/// The piece before p has been multiplied: says so, and the first warp fills its stage again when
/// all have.
void Writer::release() {
  line("sub.s32 q, p, 1;");
  place("q");
  line("setp.ge.and.s32 more, q, 0, leader;");
  line("@more mbarrier.arrive.shared::cta.b64 _, [bar+{0}];", kStages * 8);
  line("add.s32 k, q, {0};", kStages);
  line("setp.ge.and.s32 more, q, 0, warp;");
  line("setp.lt.and.s32 more, k, pieces, more;");
  line("@!more bra NEXT;");
  line("add.u32 bar, bar, {0};", kStages * 8);
  wait("READ");
  line("sub.u32 bar, bar, {0};", kStages * 8);
  line("mul.lo.u32 k, k, {0};", kBulkDepth);
  line("mov.pred more, one;");
  fill();
  text += "NEXT:\n";
}

std::string Writer::write() {
  text = "{\n";
  declare();
  line("add.u32 mapA, $128, {0};", kMaps);
  line("add.u32 mapB, mapA, {0};", kMap);
  line("mov.b64 farA, $134;");
  line("add.s64 farB, farA, {0};", kMap);
  line("setp.lt.u32 warp, $129, 32;");
  line("setp.eq.u32 one, $129, 0;");
  line("and.b32 x, $129, 127;");
  line("setp.eq.u32 leader, x, 0;");
  line("add.s32 pieces, $135, {0};", kBulkDepth - 1);
  line("shr.u32 pieces, pieces, 6;");
  line("@!warp bra READY;");
  makeMaps();
  for (int stage = 0; stage < kStages; ++stage) {
    line("setp.gt.and.s32 more, pieces, {0}, one;", stage);
    line("mov.b32 p, {0};", stage);
    place("p");
    line("mov.b32 k, {0};", stage * kBulkDepth);
    fill();
  }
  text += "READY:\n";
  line("bar.sync 0;");
  prepareDescriptor('A', tile.alongKA, 0);
  prepareDescriptor('B', tile.alongKB, kSideA);
  for (int i = 0; i < kSums; ++i)
    line("mov.f32 ${0}, 0f00000000;", i);
  line("mov.b32 p, 0;");
  text += "PIECE:\n";
  place("p");
  wait("FULL");
  multiply();
  line("wgmma.wait_group.sync.aligned 1;");
  release();
  line("add.s32 p, p, 1;");
  line("setp.lt.s32 more, p, pieces;");
  line("@more bra PIECE;");
  line("wgmma.wait_group.sync.aligned 0;");
  return text + "}\n";
}

} // namespace

std::optional<BulkTile> BulkTile::named(llvm::StringRef function) {
  BulkTile tile{};
  if (!function.consume_front("gc_bulk_"))
    return std::nullopt;
  tile.isHalf = function.consume_front("f16_");
  if (!tile.isHalf && !function.consume_front("bf16_"))
    return std::nullopt;
  tile.alongKA = function.front() == 'k';
  tile.alongKB = function.back() == 'k';
  return tile;
}

std::string emit::bulkTile(const BulkTile &tile) { return Writer(tile).write(); }
