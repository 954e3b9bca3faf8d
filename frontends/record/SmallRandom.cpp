// Random numbers of small arrays in loops, and single ones: the bits that kernels give
// (docs/random.md).
#include "frontends/record/SmallElements.h"

#include <algorithm>

namespace graphc::small {
namespace {

using Words = std::array<uint32_t, 4>;

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) of the counter (c, s).
Words philox(uint64_t c, uint64_t s, uint64_t key) {
  Words w{static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32), static_cast<uint32_t>(s),
          static_cast<uint32_t>(s >> 32)};
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  constexpr uint64_t kFactors[] = {0xD2511F53u, 0xCD9E8D57u};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = kFactors[0] * w[0], p1 = kFactors[1] * w[2];
    w = {static_cast<uint32_t>(p1 >> 32) ^ w[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ w[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return w;
}

/// f(i, bits of element i), of a stream of 64 bits each.
template <typename F>
void eachOf64(int64_t count, uint64_t stream, uint64_t key, F f) {
  for (int64_t block = 0; block < count; block += 16)
    for (int64_t j = 0; j < 8 && block + j < count; ++j) {
      const Words w = philox(static_cast<uint64_t>(block / 2 + j), stream, key);
      f(block + j, w[0] | static_cast<uint64_t>(w[1]) << 32);
      if (block + j + 8 < count)
        f(block + j + 8, w[2] | static_cast<uint64_t>(w[3]) << 32);
    }
}

/// The same of 32 bits each.
template <typename F>
void eachOf32(int64_t count, uint64_t stream, uint64_t key, F f) {
  for (int64_t block = 0; block < count; block += 32)
    for (int64_t j = 0; j < 8 && block + j < count; ++j) {
      const Words w = philox(static_cast<uint64_t>(block / 4 + j), stream, key);
      for (int64_t part = 0; part < 4 && block + j + 8 * part < count; ++part)
        f(block + j + 8 * part, w[static_cast<size_t>(part)]);
    }
}

void floatsInto(Draw kind, uint64_t stream, uint64_t key, int64_t count, char *to) {
  auto *wide = reinterpret_cast<double *>(to);
  auto *narrow = reinterpret_cast<float *>(to);
  switch (kind) {
  case Draw::Unit64:
    return eachOf64(count, stream, key, [&](int64_t i, uint64_t bits) {
      wide[i] = static_cast<double>(bits >> 11) * 0x1p-53;
    });
  case Draw::Open64:
    return eachOf64(count, stream, key, [&](int64_t i, uint64_t bits) {
      wide[i] = (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
    });
  case Draw::Unit32:
    return eachOf32(count, stream, key, [&](int64_t i, uint32_t bits) {
      narrow[i] = static_cast<float>(bits >> 8) * 0x1p-24f;
    });
  case Draw::Open32:
    return eachOf32(count, stream, key, [&](int64_t i, uint32_t bits) {
      narrow[i] = (static_cast<float>(bits) + 0.5f) * 0x1p-32f;
    });
  }
}

/// low + floor((last + 1) U / 2^128), of two streams.
void integersInto(int64_t low, uint64_t last, uint64_t stream, uint64_t key, int64_t count,
                  char *to) {
  using Wide = unsigned __int128;
  auto *out = reinterpret_cast<uint64_t *>(to);
  const Wide range = Wide(last) + 1;
  eachOf64(count, stream, key, [&](int64_t i, uint64_t upper) { out[i] = upper; });
  eachOf64(count, stream + 1, key, [&](int64_t i, uint64_t lower) {
    const Wide below = (range * lower) >> 64;
    const auto found = static_cast<uint64_t>((range * out[i] + below) >> 64);
    out[i] = static_cast<uint64_t>(low) + found;
  });
}

/// The order of random bits, of which the last give way to the places.
void orderInto(uint64_t stream, uint64_t key, int64_t count, char *to) {
  constexpr uint64_t kPlaces = (1u << 20) - 1;
  auto *out = reinterpret_cast<uint64_t *>(to);
  eachOf64(count, stream, key, [&](int64_t i, uint64_t bits) {
    out[i] = (bits & ~kPlaces) | static_cast<uint64_t>(i);
  });
  std::sort(out, out + count);
  for (int64_t i = 0; i < count; ++i)
    out[i] &= kPlaces;
}

/// A value or an array of `dtype` whose elements into(stream, count, memory) writes, those of a
/// stride row by row; nothing where that has to be recorded.
template <typename F>
Result<std::optional<Array>> drawn(const Shape &shape, DType dtype, const Streams &from,
                                   rt::Device &device, F into) {
  if (shape.rank() == 0) {
    uint64_t bits = 0;
    into(from.first, 1, reinterpret_cast<char *>(&bits)); // little-endian
    return std::optional(Array(KnownValue{bits, dtype, &device}));
  }
  const int64_t count = countOf(shape);
  if (!from.stride && !isLoop(op::OpKind::Philox64, count, device))
    return std::optional<Array>();
  GRAPHC_ASSIGN(NodeRef node, makeNode(dtype, shape, device));
  const int64_t rows = from.stride ? shape[0] : 1;
  const int64_t columns = rows ? count / rows : 0;
  for (int64_t row = 0; row < rows; ++row)
    into(from.first + static_cast<uint64_t>(row) * from.stride, columns,
         dataOf<char>(node) + row * columns * itemSize(dtype));
  return std::optional(Array(std::move(node)));
}

} // namespace

Result<std::optional<Array>> draw(Draw kind, const Shape &shape, const Streams &from,
                                  rt::Device &device) {
  const bool isWide = kind == Draw::Unit64 || kind == Draw::Open64;
  return drawn(shape, isWide ? DType::Float64 : DType::Float32, from, device,
               [&](uint64_t stream, int64_t count, char *to) {
                 floatsInto(kind, stream, from.key, count, to);
               });
}

Result<std::optional<Array>> drawIntegers(int64_t low, uint64_t last, const Shape &shape,
                                          const Streams &from, rt::Device &device) {
  return drawn(shape, DType::Int64, from, device, [&](uint64_t stream, int64_t count, char *to) {
    integersInto(low, last, stream, from.key, count, to);
  });
}

Result<std::optional<Array>> drawOrder(int64_t count, const Streams &from, rt::Device &device) {
  return drawn(
      Shape{count}, DType::Int64, from, device,
      [&](uint64_t stream, int64_t size, char *to) { orderInto(stream, from.key, size, to); });
}

} // namespace graphc::small
