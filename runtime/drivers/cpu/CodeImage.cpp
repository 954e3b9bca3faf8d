//===- CodeImage.cpp - Machine code in executable memory --------------------------------------===//
#include "runtime/drivers/cpu/CodeImage.h"

#include "runtime/base/Strings.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace graphc::rt::cpu {

Result<CodeImage> CodeImage::map(std::span<const uint8_t> image) {
  if (image.empty())
    return CodeImage(nullptr, 0);
  void *address =
      mmap(nullptr, image.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return Status(ErrorCode::OutOfMemory,
                  strings::format("[cpu] cannot map {} of code: {}",
                                  strings::bytesText(static_cast<int64_t>(image.size())),
                                  std::strerror(errno)));
  CodeImage mapped(address, image.size());
  std::memcpy(address, image.data(), image.size());
  if (mprotect(address, image.size(), PROT_READ | PROT_EXEC) != 0)
    return Status(
        ErrorCode::Device,
        strings::format("[cpu] the system refuses executable memory: {}", std::strerror(errno)));
  __builtin___clear_cache(static_cast<char *>(address),
                          static_cast<char *>(address) + image.size());
  return mapped;
}

CodeImage::~CodeImage() {
  if (address)
    munmap(address, bytes);
}

} // namespace graphc::rt::cpu
