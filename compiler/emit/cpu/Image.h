//===- Image.h - A flat code image from object files ------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_CPU_IMAGE_H
#define GRAPHC_COMPILER_EMIT_CPU_IMAGE_H

#include "runtime/base/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace graphc::emit {

/// Code and constants with every reference resolved relative to its own place: it runs wherever it
/// is mapped.
struct Image {
  std::vector<uint8_t> bytes;
  std::vector<uint64_t> entries; ///< offsets of the asked symbols
};

/// Lays out the allocated sections of x86-64 ELF objects, which may call each other, and applies
/// their relocations. Absolute
/// addresses, writable data and references to other libraries are refused by name: generated code
/// has none.
Result<Image> buildImage(llvm::ArrayRef<llvm::StringRef> objects,
                         const std::vector<std::string> &symbols);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_CPU_IMAGE_H
