//===- CodeImage.h - Machine code in executable memory ----------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CPU_CODEIMAGE_H
#define GRAPHC_RUNTIME_DRIVERS_CPU_CODEIMAGE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <utility>

namespace graphc::rt::cpu {

/// A position-independent image, mapped readable and executable and never writable at the same
/// time.
class CodeImage {
public:
  static Result<CodeImage> map(std::span<const uint8_t> image);
  CodeImage(CodeImage &&other) noexcept
      : address(std::exchange(other.address, nullptr)), bytes(std::exchange(other.bytes, 0)) {}
  CodeImage &operator=(CodeImage &&) = delete;
  ~CodeImage();
  const uint8_t *base() const { return static_cast<const uint8_t *>(address); }

private:
  CodeImage(void *address, size_t bytes) : address(address), bytes(bytes) {}
  void *address;
  size_t bytes;
};

} // namespace graphc::rt::cpu

#endif // GRAPHC_RUNTIME_DRIVERS_CPU_CODEIMAGE_H
