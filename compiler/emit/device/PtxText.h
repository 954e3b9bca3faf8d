//===- PtxText.h - Blocks of PTX, line by line ------------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_PTXTEXT_H
#define GRAPHC_COMPILER_EMIT_DEVICE_PTXTEXT_H

#include "llvm/Support/FormatVariadic.h"

#include <string>

namespace graphc::emit {

/// The text of inline assembly.
class PtxText {
protected:
  template <typename... Args>
  void line(const char *format, Args... args) {
    text += "  " + llvm::formatv(format, args...).str() + "\n";
  }
  /// To the next of three stages of `bytes` each.
  void advance(const char *stage, int bytes) {
    line("add.u32 {0}, {0}, {1};", stage, bytes);
    line("setp.eq.u32 last, {0}, {1};", stage, 3 * bytes);
    line("@last mov.b32 {0}, 0;", stage);
  }
  /// wgmma's description of a side of the first stage into d{side}: its place, `start` bytes into
  /// `memory`, and what `shape` says of distances and swizzle. Four warps of work-items `item` have
  /// 64 rows of A, `rows` bytes.
  void describe(char side, const char *memory, int start, const char *item, int rows,
                uint64_t shape) {
    line("add.u32 x, {0}, {1};", memory, start);
    if (side == 'A') {
      line("shr.u32 y, {0}, 7;", item);
      line("mad.lo.u32 x, y, {0}, x;", rows);
    }
    line("and.b32 x, x, 262143;");
    line("shr.u32 x, x, 4;");
    line("cvt.u64.u32 wide, x;");
    line("or.b64 d{0}, wide, {1};", side, shape);
  }
  std::string text;
};

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_PTXTEXT_H
