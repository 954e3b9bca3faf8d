//===- CodeMemo.h - Machine code of functions that were met before ----------------------------===//
//
// Programs that differ in a few operations have most kernels in common. Functions are named by what
// they are, so that the object files of equal ones are the same, symbols included, and made once.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_CPU_CODEMEMO_H
#define GRAPHC_COMPILER_EMIT_CPU_CODEMEMO_H

#include "runtime/base/Digest.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <unordered_map>

namespace graphc::emit {

/// Gives every function of a module a name that digests its body and those of its callees; a
/// function that equals one before it goes. Returns the names by the former ones.
llvm::StringMap<std::string> nameByContent(mlir::ModuleOp module);

/// Object files by the names of their functions, of one context: names digest its types and
/// attributes by address. Nothing here changes what code a program has.
class CodeMemo {
public:
  using Object = llvm::SmallVector<char, 0>;
  /// What decides the object file of a module whose functions nameByContent() named.
  static Digest key(mlir::ModuleOp functions, llvm::StringRef features);
  /// Null when there is none; valid until the next add().
  const Object *find(const Digest &key) const;
  /// Forgets all others where they are too many.
  void add(const Digest &key, const Object &object);

private:
  static constexpr size_t kMostBytes = size_t{32} << 20;
  std::unordered_map<Digest, Object> objects;
  size_t bytes = 0;
};

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_CPU_CODEMEMO_H
