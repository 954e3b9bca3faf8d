//===- Digest.h - 128-bit content digests -----------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_DIGEST_H
#define GRAPHC_RUNTIME_BASE_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace graphc {

/// XXH3-128 of some bytes. Finds accidents, not attackers.
struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Digest &, const Digest &) = default;
  friend auto operator<=>(const Digest &, const Digest &) = default;
  /// 32 lower-case hexadecimal digits, high half first.
  std::string hex() const;
};

Digest digestOf(std::span<const uint8_t> bytes);
Digest digestOf(std::string_view text);

/// A digest of bytes that come in pieces; equal to digestOf() of their concatenation. Not
/// thread-safe.
class DigestStream {
public:
  DigestStream();
  ~DigestStream();
  DigestStream(const DigestStream &) = delete;
  DigestStream &operator=(const DigestStream &) = delete;
  void update(const void *data, size_t bytes);
  Digest finish() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace graphc

template <>
struct std::hash<graphc::Digest> {
  size_t operator()(const graphc::Digest &d) const noexcept { return d.low ^ (d.high * 31); }
};

#endif // GRAPHC_RUNTIME_BASE_DIGEST_H
