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
  std::string text;
};

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_PTXTEXT_H
