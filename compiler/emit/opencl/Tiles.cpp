// The chains of a tile of 128 by 128 elements: pieces of k of both operands are copied to local
// memory without registers (cp.async), three stages of them, and the operands of the next step are
// read while the present one is multiplied, also from one stage to the next. An operand has k or
// its own loop contiguous (`ka`, `kb`: 1 for k), as literals. 48 KiB of local memory.
//
// Symmetric products in float64 have tiles of 64 by 64 and pieces of 16 k's, for which that holds
// likewise.
//
// float64: the tensor core's m16n8k4 adds its products as the chain does, in increasing k with one
// rounding each. 256 work-items; a warp has 32 rows and 64 columns (128, and 32 by 32). Of an
// operand with k contiguous row 16 i + 2 g + r lies in slot 16 i + 8 r + g, so that an
// instruction's rows g and g + 8 are neighbours in memory, and so are the columns of two
// instructions: a work-item has rows 16 i + 2 g + r and four adjacent columns 16 p + 4 t + 0..3,
// whatever the operands' layout.
//
// float32: 128 work-items with 8 by 16 elements; an operand with k contiguous is turned by copies
// of 4 bytes.
//
// Chunks of 16 bytes are XORed with the row (k contiguous) or k, so that no load of a warp meets
// two places of one bank.
#include "compiler/emit/opencl/Tiles.h"

const std::string_view graphc::emit::kTileSource = R"cl(
#define GC_STAGE 16384u
#define GC_SIDE 8192u
#define GC_COPY16(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory")
#define GC_COPY4(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory")
#define GC_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define GC_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define GC_LD64(d, at) asm volatile("ld.shared.f64 %0, [%1];" : "=d"(d) : "r"(at))
#define GC_LD64X2(d, e, at) asm volatile("ld.shared.v2.f64 {%0,%1}, [%2];" : "=d"(d), "=d"(e) : "r"(at))
#define GC_LD32X4(d, at) \
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"((d)[0]), "=f"((d)[1]), "=f"((d)[2]), "=f"((d)[3]) : "r"(at))
#define GC_MMA(c, d, e, f, x, y, z) \
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" \
               : "+d"(c), "+d"(d), "+d"(e), "+d"(f) : "d"(x), "d"(y), "d"(z))

// How a work-item's copies of one side go on: from one to the next of a piece, `apart` rows away, and to the next piece.
#define GC_WALK(side, byK, apartByK, depth) \
  const long step##side = (byK ? apartByK : 4) * pitch##side, next##side = byK ? depth : (depth) * pitch##side

// Sums of zero, and all three stages on their way: waits for the first of them.
#define GC_BEGIN(count, fill) \
  _Pragma("unroll") for (int i = 0; i < (count); i++) sums[i] = 0; \
  fill(0u); \
  fill(GC_STAGE); \
  fill(2u * GC_STAGE); \
  GC_WAIT(2); \
  barrier(CLK_LOCAL_MEM_FENCE); \
  uint at = 0

#define GC_FILL64(at) \
  do { \
    if (left > 0) { \
      _Pragma("unroll") for (uint u = 0; u < copies; u++) { \
        GC_COPY16(toA + (at) + u * apart, fromA + u * stepA); \
        GC_COPY16(toB + (at) + u * apart, fromB + u * stepB); \
      } \
      fromA += nextA; \
      fromB += nextB; \
      --left; \
    } \
    GC_COMMIT(); \
  } while (0)
#define GC_READ64(a, b, at, group) \
  do { \
    const uint x_ = ((2u * (group)) ^ swizzle) << 4; \
    if (ka) { \
      _Pragma("unroll") for (int i = 0; i < 4; i++) GC_LD64((a)[i], (at) + readA + x_ + i * 8u * row_k); \
    } else { \
      _Pragma("unroll") for (int i = 0; i < 2; i++) \
        GC_LD64X2((a)[2 * i], (a)[2 * i + 1], (at) + readA + (group) * 4u * row_o + i * 128u); \
    } \
    if (kb) { \
      _Pragma("unroll") for (int j = 0; j < pairs * 2; j++) GC_LD64((b)[j], (at) + readB + x_ + j * 8u * row_k); \
    } else { \
      _Pragma("unroll") for (int j = 0; j < pairs; j++) \
        GC_LD64X2((b)[2 * j], (b)[2 * j + 1], (at) + readB + (group) * 4u * row_o + j * 128u); \
    } \
  } while (0)
#define GC_MULTIPLY64(a, b) \
  _Pragma("unroll") for (int i = 0; i < 2; i++) \
    _Pragma("unroll") for (int j = 0; j < pairs * 2; j++) { \
      const int c_ = 8 * pairs * i + j / 2 * 4 + j % 2, d_ = c_ + 4 * pairs; \
      GC_MMA(sums[c_], sums[c_ + 2], sums[d_], sums[d_ + 2], (a)[2 * i], (a)[2 * i + 1], (b)[j]); \
    }

// `wide`: 128 rows and columns and pieces of 8 k's for 256 work-items, else 64 and 16 for 128. `row_k`, `row_o`: bytes of a
// row with k contiguous, of one of columns; `apart`: from one of a work-item's copies to the next.
static inline void gc_tiles_f64(const int wide, const int ka, const int kb, __local char *memory, __global const double *fromA,
                         long pitchA, __global const double *fromB, long pitchB, long pieces, double *sums) {
  const int pairs = wide ? 4 : 2;
  const uint copies = wide ? 2u : 4u, apart = wide ? 4096u : 2048u, row_k = wide ? 64u : 128u, row_o = wide ? 1024u : 512u;
  const uint mask = wide ? 2u : 6u, chunks = wide ? 4u : 8u, line = wide ? 64u : 32u;
  const uint base = (uint)(ulong)memory;
  const uint item = (uint)get_local_id(0), warp = item >> 5, g = item >> 2 & 7u, t = item & 3u;
  const uint rows = warp / 2u * 32u, columns = warp % 2u * 16u * pairs;
  const uint swizzle = wide ? g & mask : 2u * g & mask;
  const uint slot = item / chunks, row = (slot & ~15u) | (slot & 7u) << 1 | (slot >> 3 & 1u), chunk = item % chunks;
  const uint k = item / line, across = item % line;
  const uint byK = slot * row_k + ((chunk ^ ((wide ? slot : 2u * slot) & mask)) << 4), byLoop = k * row_o + ((across ^ 2u * k) << 4);
  const uint toA = base + (ka ? byK : byLoop), toB = base + GC_SIDE + (kb ? byK : byLoop);
  const uint readA = ka ? (rows + g) * row_k + t * 8u : t * row_o + (rows * 8u) + ((g ^ 2u * t) << 4);
  const uint readB = GC_SIDE + (kb ? (columns + g) * row_k + t * 8u : t * row_o + (columns * 8u) + ((g ^ 2u * t) << 4));
  GC_WALK(A, ka, (wide ? 64 : 16), (wide ? 8 : 16));
  GC_WALK(B, kb, (wide ? 64 : 16), (wide ? 8 : 16));
  fromA += ka ? row * pitchA + chunk * 2 : k * pitchA + across * 2;
  fromB += kb ? row * pitchB + chunk * 2 : k * pitchB + across * 2;
  int left = (int)pieces;
  double a0[4], b0[8], a1[4], b1[8];
  GC_BEGIN(16 * pairs, GC_FILL64);
  GC_READ64(a0, b0, base, 0u);
  for (int piece = (int)pieces; piece > 0; --piece) {
    GC_READ64(a1, b1, base + at, 1u);
    GC_MULTIPLY64(a0, b0);
    if (!wide) {
      GC_READ64(a0, b0, base + at, 2u);
      GC_MULTIPLY64(a1, b1);
      GC_READ64(a1, b1, base + at, 3u);
      GC_MULTIPLY64(a0, b0);
    }
    GC_WAIT(1);
    barrier(CLK_LOCAL_MEM_FENCE);
    GC_FILL64(at);
    at = at == 2u * GC_STAGE ? 0u : at + GC_STAGE;
    GC_READ64(a0, b0, base + at, 0u);
    GC_MULTIPLY64(a1, b1);
  }
  GC_WAIT(0);
}

static inline void gc_tile_f64(const int ka, const int kb, __local char *memory, __global const double *fromA, long pitchA,
                        __global const double *fromB, long pitchB, long pieces, double *sums) {
  gc_tiles_f64(1, ka, kb, memory, fromA, pitchA, fromB, pitchB, pieces, sums);
}
static inline void gc_tile_f64s(const int ka, const int kb, __local char *memory, __global const double *fromA, long pitchA,
                         __global const double *fromB, long pitchB, long pieces, double *sums) {
  gc_tiles_f64(0, ka, kb, memory, fromA, pitchA, fromB, pitchB, pieces, sums);
}

#define GC_FILL32(byK, to, from, step) \
  do { \
    __global const float *p_ = from; \
    if (byK) { \
      _Pragma("unroll") for (uint u = 0; u < 16; u++, p_ += step) GC_COPY4(base + at_ + ((to + u * 32u) ^ turn), p_); \
    } else { \
      _Pragma("unroll") for (uint u = 0; u < 4; u++, p_ += step) GC_COPY16(base + at_ + to + u * 2048u, p_); \
    } \
  } while (0)
#define GC_FILLS32(at) \
  do { \
    if (left > 0) { \
      uint at_ = (at); \
      GC_FILL32(ka, toA, fromA, stepA); \
      at_ += GC_SIDE; \
      GC_FILL32(kb, toB, fromB, stepB); \
      fromA += nextA; \
      fromB += nextB; \
      --left; \
    } \
    GC_COMMIT(); \
  } while (0)
#define GC_READ32(a, b, at, k) \
  do { \
    const uint x_ = (ka ? line ^ ((k) & 7u) : line) << 4, y_ = (kb ? quad ^ ((k) & 7u) : quad) << 4; \
    _Pragma("unroll") for (int i = 0; i < 2; i++) GC_LD32X4((a) + 4 * i, (at) + (k) * 512u + i * 256u + x_); \
    _Pragma("unroll") for (int j = 0; j < 4; j++) GC_LD32X4((b) + 4 * j, (at) + GC_SIDE + (k) * 512u + j * 128u + y_); \
  } while (0)

static inline void gc_tile_f32(const int ka, const int kb, __local char *memory, __global const float *fromA, long pitchA,
                        __global const float *fromB, long pitchB, long pieces, float *sums) {
  const uint base = (uint)(ulong)memory;
  const uint item = (uint)get_local_id(0), warp = item >> 5;
  const uint line = (warp >> 1) * 8u + (item >> 2 & 7u), quad = (warp & 1u) * 4u + (item & 3u);
  const uint k = item & 15u, row = item >> 4, turn = (k & 7u) << 4;
  const uint byK = k * 512u + (row >> 2 << 4) + ((row & 3u) << 2), byLoop = item * 16u;
  const uint toA = ka ? byK : byLoop, toB = kb ? byK : byLoop;
  GC_WALK(A, ka, 8, 16);
  GC_WALK(B, kb, 8, 16);
  fromA += ka ? row * pitchA + k : (item >> 5) * pitchA + (item & 31u) * 4;
  fromB += kb ? row * pitchB + k : (item >> 5) * pitchB + (item & 31u) * 4;
  int left = (int)pieces;
  float a[2][8], b[2][16];
  GC_BEGIN(128, GC_FILLS32);
  GC_READ32(a[0], b[0], base, 0u);
  for (int piece = (int)pieces; piece > 0; --piece) {
    uint from = base + at;
    #pragma unroll
    for (uint k = 0; k < 16; k++) {
      if (k == 15) {
        GC_WAIT(1);
        barrier(CLK_LOCAL_MEM_FENCE);
        GC_FILLS32(at);
        at = at == 2u * GC_STAGE ? 0u : at + GC_STAGE;
        from = base + at;
      }
      GC_READ32(a[(k + 1) & 1], b[(k + 1) & 1], from, (k + 1) % 16u);
      #pragma unroll
      for (int i = 0; i < 8; i++)
        #pragma unroll
        for (int j = 0; j < 16; j++) sums[i * 16 + j] = fma(a[k & 1][i], b[k & 1][j], sums[i * 16 + j]);
    }
  }
  GC_WAIT(0);
}
)cl";
