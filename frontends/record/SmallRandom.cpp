// Random numbers of small arrays in loops, and single ones: the bits that kernels give
// (docs/random.md).
#include "frontends/record/SmallElements.h"
#include "runtime/library/Keys.h"

#include <algorithm>
#include <cstring>

namespace graphc::small {
namespace {

/// Eight numbers side by side.
constexpr int64_t kLanes = 8;
/// Numbers that are drawn at once on the host.
constexpr int64_t kMostDrawn = 16 << 10;
using Lanes = uint64_t __attribute__((vector_size(kLanes * sizeof(uint64_t))));

/// The four words of Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) of the counters (c, s), (c +
/// 1, s), ..., each in a lane of 64 bits.
struct Words {
  Lanes w0, w1, w2, w3;
};
[[gnu::always_inline]] inline void philox(uint64_t c, uint64_t s, uint64_t key, Words &words) {
  constexpr uint64_t kLow = 0xffffffffu, kFactors[] = {0xD2511F53u, 0xCD9E8D57u};
  const Lanes counters = Lanes{0, 1, 2, 3, 4, 5, 6, 7} + c;
  Lanes w0 = counters & kLow, w1 = counters >> 32;
  Lanes w2 = Lanes{} + (s & kLow), w3 = Lanes{} + (s >> 32);
  uint64_t k0 = key & kLow, k1 = key >> 32;
  for (int round = 0; round < 10; ++round) {
    const Lanes p0 = w0 * kFactors[0], p1 = w2 * kFactors[1]; // of 32 bits each
    w0 = (p1 >> 32) ^ w1 ^ k0;
    w1 = p1 & kLow;
    w2 = (p0 >> 32) ^ w3 ^ k1;
    w3 = p0 & kLow;
    k0 = (k0 + 0x9E3779B9u) & kLow;
    k1 = (k1 + 0xBB67AE85u) & kLow;
  }
  words = {w0, w1, w2, w3};
}

/// f(i, bits of element i) for elements in blocks that `make` gives the bits of.
template <int64_t Block, typename F, typename M>
[[gnu::always_inline]] inline void eachOf(int64_t count, M make, F f) {
  alignas(64) std::array<uint64_t, Block> bits;
  int64_t i = 0;
  for (; i + Block <= count; i += Block) {
    make(i, bits.data());
    for (int64_t j = 0; j < Block; ++j)
      f(i + j, bits[static_cast<size_t>(j)]);
  }
  if (i == count)
    return;
  make(i, bits.data());
  for (int64_t j = 0; i + j < count; ++j)
    f(i + j, bits[static_cast<size_t>(j)]);
}

[[gnu::always_inline]] inline void store(const Lanes &lanes, uint64_t *to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

/// A block of 64 or 32 bits each, whose counters begin with `counter`.
[[gnu::always_inline]] inline void blockOf64(uint64_t counter, uint64_t stream, uint64_t key,
                                             uint64_t *bits) {
  Words w;
  philox(counter, stream, key, w);
  store(w.w0 | w.w1 << 32, bits);
  store(w.w2 | w.w3 << 32, bits + kLanes);
}
[[gnu::always_inline]] inline void blockOf32(uint64_t counter, uint64_t stream, uint64_t key,
                                             uint64_t *bits) {
  Words w;
  philox(counter, stream, key, w);
  store(w.w0, bits);
  store(w.w1, bits + kLanes);
  store(w.w2, bits + 2 * kLanes);
  store(w.w3, bits + 3 * kLanes);
}

/// Of a stream of 64 bits each.
template <typename F>
[[gnu::always_inline]] inline void eachOf64(int64_t count, uint64_t stream, uint64_t key, F f) {
  eachOf<2 * kLanes>(
      count,
      [=](int64_t first, uint64_t *bits) {
        blockOf64(static_cast<uint64_t>(first / 2), stream, key, bits);
      },
      f);
}

/// Of one of 32 bits each.
template <typename F>
[[gnu::always_inline]] inline void eachOf32(int64_t count, uint64_t stream, uint64_t key, F f) {
  eachOf<4 * kLanes>(
      count,
      [=](int64_t first, uint64_t *bits) {
        blockOf32(static_cast<uint64_t>(first / 4), stream, key, bits);
      },
      f);
}

/// A loop with the widest vectors that the machine has; no bit depends on how many lanes there are.
template <auto Loop, typename... Given>
GRAPHC_WIDE void onWide(Given... given) {
  Loop(given...);
}
template <auto Loop, typename... Given>
GRAPHC_WIDEST void onWidest(Given... given) {
  Loop(given...);
}
template <auto Loop, typename... Given>
void onLanes(Given... given) {
  hasWidest() ? onWidest<Loop>(given...) : hasWide() ? onWide<Loop>(given...) : Loop(given...);
}

[[gnu::always_inline]] inline void floatsOf(Draw kind, uint64_t stream, uint64_t key, int64_t count,
                                            char *to) {
  auto *wide = reinterpret_cast<double *>(to);
  auto *narrow = reinterpret_cast<float *>(to);
  switch (kind) {
  case Draw::Unit64:
    return eachOf64(count, stream, key, [=](int64_t i, uint64_t bits) {
      wide[i] = static_cast<double>(bits >> 11) * 0x1p-53;
    });
  case Draw::Open64:
    return eachOf64(count, stream, key, [=](int64_t i, uint64_t bits) {
      wide[i] = (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
    });
  case Draw::Unit32:
    return eachOf32(count, stream, key, [=](int64_t i, uint64_t bits) {
      narrow[i] = static_cast<float>(static_cast<uint32_t>(bits) >> 8) * 0x1p-24f;
    });
  case Draw::Open32:
    return eachOf32(count, stream, key, [=](int64_t i, uint64_t bits) {
      narrow[i] = (static_cast<float>(static_cast<uint32_t>(bits)) + 0.5f) * 0x1p-32f;
    });
  }
}

/// In two loops, so that no machine rounds once.
void scaleInto(const Scale &scale, int64_t count, double *to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] *= scale.factor;
  for (int64_t i = 0; i < count; ++i)
    to[i] += scale.shift;
}

[[gnu::always_inline]] inline void bitsOf(uint64_t stream, uint64_t key, int64_t count,
                                          uint64_t *to) {
  eachOf64(count, stream, key, [=](int64_t i, uint64_t bits) { to[i] = bits; });
}
/// low + floor((last + 1) U / 2^128), of two streams: the second's bits are the lower half of U and
/// are drawn where the product with the upper one does not tell.
[[gnu::always_inline]] inline void integersOf(uint64_t low, uint64_t last, uint64_t stream,
                                              uint64_t key, int64_t count, uint64_t *out) {
  using Wide = unsigned __int128;
  constexpr uint64_t kBlock = 2 * kLanes;
  const Wide range = Wide(last) + 1;
  bitsOf(stream, key, count, out);
  alignas(64) std::array<uint64_t, kBlock> lower;
  uint64_t made = ~uint64_t{0};
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
    const Wide upper = range * out[i];
    auto found = static_cast<uint64_t>(upper >> 64);
    if (static_cast<uint64_t>(upper) > ~last) {
      if (made != i / kBlock)
        blockOf64((made = i / kBlock) * kLanes, stream + 1, key, lower.data());
      found = static_cast<uint64_t>((upper + ((range * lower[i % kBlock]) >> 64)) >> 64);
    }
    out[i] = low + found;
  }
}
/// The order of random bits, of which the last give way to the places.
void orderInto(uint64_t stream, uint64_t key, int64_t count, char *to) {
  constexpr uint64_t kPlaces = (1u << 20) - 1;
  auto *out = reinterpret_cast<uint64_t *>(to);
  onLanes<bitsOf>(stream, key, count, out);
  for (int64_t i = 0; i < count; ++i)
    out[i] = (out[i] & ~kPlaces) | static_cast<uint64_t>(i);
  rt::library::sortKeys(out, static_cast<size_t>(count));
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
  // Few numbers are drawn sooner than recorded, wherever that is; more of them sooner than a kernel
  // is called.
  const int64_t most = mayBeOnHost(device) && hasWide() ? kMostDrawn : kFew;
  const bool isFew = count > 0 && count <= most && loopTurns() != kNever;
  if (!from.stride && !isFew && !isLoop(op::OpKind::Philox64, count, device))
    return std::optional<Array>();
  GRAPHC_ASSIGN(NodeRef node, makeNode(dtype, shape, device));
  const int64_t rows = from.stride ? shape[0] : 1;
  const int64_t columns = rows ? count / rows : 0;
  for (int64_t row = 0; row < rows; ++row)
    into(from.first + static_cast<uint64_t>(row) * from.stride, columns,
         dataOf<char>(node) + row * columns * itemSize(dtype));
  return std::optional(Array(std::move(node)));
}

/// The bits of elements by their indices, which mostly follow each other: block by block.
template <int64_t Block>
void bitsAt(Run<uint64_t> index, int64_t count, uint64_t stream, uint64_t key, uint64_t *to) {
  alignas(64) std::array<uint64_t, Block> bits;
  std::optional<uint64_t> made;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t own = index.data[index.steps ? i : 0], block = own / Block;
    if (made != block) {
      if constexpr (Block == 2 * kLanes)
        blockOf64(block * kLanes, stream, key, bits.data());
      else
        blockOf32(block * kLanes, stream, key, bits.data());
      made = block;
    }
    to[i] = bits[own % Block];
  }
}

} // namespace

Outcome randomBits(op::OpKind kind, std::span<const Operand> operands, const Shape &shape,
                   rt::Device &device) {
  Reader<uint64_t> index, stream, key;
  auto readOne = [](const Operand &x, Reader<uint64_t> &to) -> Result<bool> {
    if (!x.array || x.array->known())
      return to.read(x, DType::UInt64, {});
    const View &view = x.array->view();
    auto one = view.strided({}, {}, view.offset());
    if (!one || std::ranges::any_of(view.strides(), [](int64_t s) { return s != 0; }))
      return false;
    return to.read(Operand(x.array->withView(std::move(*one))), DType::UInt64, {});
  };
  GRAPHC_ASSIGN(bool isRead, index.read(operands[0], DType::UInt64, shape));
  GRAPHC_ASSIGN(bool isOneStream, readOne(operands[1], stream));
  GRAPHC_ASSIGN(bool isOneKey, readOne(operands[2], key));
  if (!isRead || !isOneStream || !isOneKey)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::UInt64, shape, device));
  auto *to = dataOf<uint64_t>(out);
  const auto make = kind == op::OpKind::Philox64 ? bitsAt<2 * kLanes> : bitsAt<4 * kLanes>;
  make(index.run(), countOf(shape), *stream.run().data, *key.run().data, to);
  return out;
}

Result<std::optional<Array>> draw(Draw kind, const Shape &shape, const Streams &from,
                                  rt::Device &device, const Scale *scale) {
  const bool isWide = kind == Draw::Unit64 || kind == Draw::Open64;
  return drawn(shape, isWide ? DType::Float64 : DType::Float32, from, device,
               [&](uint64_t stream, int64_t count, char *to) {
                 onLanes<floatsOf>(kind, stream, from.key, count, to);
                 if (scale)
                   scaleInto(*scale, count, reinterpret_cast<double *>(to));
               });
}

Result<std::optional<Array>> drawIntegers(int64_t low, uint64_t last, const Shape &shape,
                                          const Streams &from, rt::Device &device) {
  return drawn(shape, DType::Int64, from, device, [&](uint64_t stream, int64_t count, char *to) {
    onLanes<integersOf>(static_cast<uint64_t>(low), last, stream, from.key, count,
                        reinterpret_cast<uint64_t *>(to));
  });
}

Result<std::optional<Array>> drawOrder(int64_t count, const Streams &from, rt::Device &device) {
  return drawn(
      Shape{count}, DType::Int64, from, device,
      [&](uint64_t stream, int64_t size, char *to) { orderInto(stream, from.key, size, to); });
}

Result<Array> drawPcg64(bool isNormal, const Shape &shape, const Scale &scale,
                        rt::library::Pcg64 &bits, rt::Device &device) {
  GRAPHC_ASSIGN(NodeRef node, makeNode(DType::Float64, shape, device));
  const std::span<double> out(dataOf<double>(node), static_cast<size_t>(countOf(shape)));
  if (isNormal)
    rt::library::drawNormal(bits, scale.shift, scale.factor, out);
  else
    rt::library::drawUniform(bits, scale.shift, scale.factor, out);
  return Array(std::move(node));
}

Result<Array> drawNumpys(NumpysDraw kind, const Shape &shape, const Scale &scale, int64_t low,
                         uint32_t last, const rt::library::BitSource &bits, rt::Device &device) {
  const bool isMasked = kind == NumpysDraw::MaskedIntegers;
  const bool isInteger = isMasked || kind == NumpysDraw::Integers;
  GRAPHC_ASSIGN(NodeRef node, makeNode(isInteger ? DType::Int64 : DType::Float64, shape, device));
  const int64_t count = countOf(shape);
  if (isInteger) {
    auto *out = dataOf<int64_t>(node);
    for (int64_t i = 0; i < count; ++i)
      out[i] = low + (isMasked ? rt::library::drawMasked(bits, last)
                               : rt::library::drawBounded(bits, last));
  } else {
    auto *out = dataOf<double>(node);
    for (int64_t i = 0; i < count; ++i) {
      const double x =
          kind == NumpysDraw::Normal ? rt::library::drawNormal(bits) : bits.unit(bits.state);
      out[i] = scale.shift + scale.factor * x;
    }
  }
  return Array(std::move(node));
}

} // namespace graphc::small
