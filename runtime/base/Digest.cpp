//===- Digest.cpp - 128-bit content digests ---------------------------------------------------===//
#include "runtime/base/Digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace graphc {

std::string Digest::hex() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}

Digest digestOf(std::span<const uint8_t> bytes) {
  XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

Digest digestOf(std::string_view text) {
  return digestOf({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

struct DigestStream::State {
  XXH3_state_t xxh;
};

DigestStream::DigestStream() : state(new State) { XXH3_128bits_reset(&state->xxh); }
DigestStream::~DigestStream() = default;

void DigestStream::update(const void *data, size_t bytes) {
  XXH3_128bits_update(&state->xxh, data, bytes);
}

Digest DigestStream::finish() const {
  XXH128_hash_t h = XXH3_128bits_digest(&state->xxh);
  return {h.low64, h.high64};
}

} // namespace graphc
