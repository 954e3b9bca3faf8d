//===- Image.h - A flat code image from an object file
//-------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_CPU_IMAGE_H
#define GRAPHC_COMPILER_EMIT_CPU_IMAGE_H

#include "runtime/base/Status.h"

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

/// Lays out the allocated sections of an x86-64 ELF object and applies its relocations. Absolute
/// addresses, writable data and references to other libraries are refused by name: generated code
/// has none.
Result<Image> buildImage(llvm::StringRef object, const std::vector<std::string> &symbols);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_CPU_IMAGE_H
