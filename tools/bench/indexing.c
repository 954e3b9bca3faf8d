/* The loops that the rows of indexing.py are compared with, as one writes them in C: compiled by
 * contenders/c_limits.py with clang -O3 for this machine's instructions, run on one thread.
 * `in` has the row's arrays, `n` their sizes one after the other, `out` room for the result; a loop
 * returns how many elements that has. Indices are neither wrapped nor checked. */
#include <stdint.h>
#include <string.h>

#define LOOP(NAME) long NAME(const void *const *in, const long *n, void *out)

typedef float f4;
typedef double f8;
typedef int32_t i4;
typedef int64_t i8;

#define GATHERS(T, I)                                                                              \
  LOOP(gather_##T##_##I) {                                                                         \
    const T *a = in[0];                                                                            \
    const I *places = in[1];                                                                       \
    T *restrict y = out;                                                                           \
    for (long k = 0; k < n[1]; ++k)                                                                \
      y[k] = a[places[k]];                                                                         \
    return n[1];                                                                                   \
  }                                                                                                \
  LOOP(gather_used_##T##_##I) {                                                                    \
    const T *a = in[0], *b = in[2];                                                                \
    const I *places = in[1];                                                                       \
    T *restrict y = out;                                                                           \
    for (long k = 0; k < n[1]; ++k)                                                                \
      y[k] = a[places[k]] * 2 + b[k];                                                              \
    return n[1];                                                                                   \
  }                                                                                                \
  LOOP(gather_pairs_##T##_##I) {                                                                   \
    const T *a = in[0];                                                                            \
    const I *rows = in[1], *columns = in[2];                                                       \
    T *restrict y = out;                                                                           \
    for (long k = 0; k < n[2]; ++k)                                                                \
      y[k] = a[rows[k] * n[1] + columns[k]];                                                       \
    return n[2];                                                                                   \
  }                                                                                                \
  LOOP(gather_rows_##T##_##I) {                                                                    \
    const T *a = in[0];                                                                            \
    const I *rows = in[1];                                                                         \
    T *restrict y = out;                                                                           \
    for (long k = 0; k < n[2]; ++k)                                                                \
      for (long j = 0; j < n[1]; ++j)                                                              \
        y[k * n[1] + j] = a[rows[k] * n[1] + j];                                                   \
    return n[2] * n[1];                                                                            \
  }                                                                                                \
  LOOP(gather_columns_##T##_##I) {                                                                 \
    const T *a = in[0];                                                                            \
    const I *columns = in[1];                                                                      \
    T *restrict y = out;                                                                           \
    for (long k = 0; k < n[0]; ++k)                                                                \
      for (long j = 0; j < n[2]; ++j)                                                              \
        y[k * n[2] + j] = a[k * n[1] + columns[j]];                                                \
    return n[0] * n[2];                                                                            \
  }                                                                                                \
  LOOP(put_##T##_##I) {                                                                            \
    T *a = (T *)in[0];                                                                             \
    const I *places = in[1];                                                                       \
    const T *v = in[2];                                                                            \
    (void)out;                                                                                     \
    for (long k = 0; k < n[1]; ++k)                                                                \
      a[places[k]] = v[k];                                                                         \
    return n[0];                                                                                   \
  }                                                                                                \
  LOOP(add_at_##T##_##I) {                                                                         \
    T *a = (T *)in[0];                                                                             \
    const I *places = in[1];                                                                       \
    const T *v = in[2];                                                                            \
    (void)out;                                                                                     \
    for (long k = 0; k < n[1]; ++k)                                                                \
      a[places[k]] += v[k];                                                                        \
    return n[0];                                                                                   \
  }

#define MASKS(T)                                                                                   \
  LOOP(masked_##T) {                                                                               \
    const T *a = in[0];                                                                            \
    const uint8_t *mask = in[1];                                                                   \
    T *restrict y = out;                                                                           \
    long count = 0;                                                                                \
    for (long k = 0; k < n[0]; ++k) { /* without a branch, which such masks mislead */             \
      y[count] = a[k];                                                                             \
      count += mask[k];                                                                            \
    }                                                                                              \
    return count;                                                                                  \
  }                                                                                                \
  LOOP(masked_sum_##T) {                                                                           \
    const T *a = in[0];                                                                            \
    const uint8_t *mask = in[1];                                                                   \
    T sum = 0;                                                                                     \
    for (long k = 0; k < n[0]; ++k)                                                                \
      sum += mask[k] ? a[k] : 0;                                                                   \
    *(T *)out = sum;                                                                               \
    return 1;                                                                                      \
  }                                                                                                \
  LOOP(set_masked_##T) {                                                                           \
    T *a = (T *)in[0];                                                                             \
    const uint8_t *restrict mask = in[1];                                                          \
    (void)out;                                                                                     \
    for (long k = 0; k < n[0]; ++k)                                                                \
      a[k] = mask[k] ? (T)0.5 : a[k];                                                              \
    return n[0];                                                                                   \
  }                                                                                                \
  LOOP(add_masked_##T) {                                                                           \
    T *a = (T *)in[0];                                                                             \
    const uint8_t *restrict mask = in[1];                                                          \
    (void)out;                                                                                     \
    for (long k = 0; k < n[0]; ++k)                                                                \
      a[k] = mask[k] ? a[k] + 1 : a[k];                                                            \
    return n[0];                                                                                   \
  }                                                                                                \
  LOOP(copy_masked_##T) {                                                                          \
    T *a = (T *)in[0];                                                                             \
    const T *restrict b = in[1];                                                                   \
    const uint8_t *restrict mask = in[2];                                                          \
    (void)out;                                                                                     \
    for (long k = 0; k < n[0]; ++k)                                                                \
      a[k] = mask[k] ? b[k] : a[k];                                                                \
    return n[0];                                                                                   \
  }                                                                                                \
  LOOP(choose_##T) {                                                                               \
    const uint8_t *mask = in[0];                                                                   \
    const T *a = in[1], *b = in[2];                                                                \
    T *restrict y = out;                                                                           \
    for (long k = 0; k < n[0]; ++k)                                                                \
      y[k] = mask[k] ? a[k] : b[k];                                                                \
    return n[0];                                                                                   \
  }                                                                                                \
  LOOP(search_##T) {                                                                               \
    const T *a = in[0], *v = in[1];                                                                \
    i8 *restrict y = out;                                                                          \
    for (long k = 0; k < n[1]; ++k) {                                                              \
      long first = 0, count = n[0];                                                                \
      while (count > 0) {                                                                          \
        long half = count / 2;                                                                     \
        if (a[first + half] < v[k]) {                                                              \
          first += half + 1;                                                                       \
          count -= half + 1;                                                                       \
        } else {                                                                                   \
          count = half;                                                                            \
        }                                                                                          \
      }                                                                                            \
      y[k] = first;                                                                                \
    }                                                                                              \
    return n[1];                                                                                   \
  }                                                                                                \
  LOOP(histogram_##T) {                                                                            \
    enum { BINS = 100 };                                                                           \
    const T *a = in[0];                                                                            \
    i8 *y = out;                                                                                   \
    memset(y, 0, BINS * sizeof *y);                                                                \
    for (long k = 0; k < n[0]; ++k) {                                                              \
      if (!(a[k] >= 0 && a[k] <= 1))                                                               \
        continue;                                                                                  \
      long bin = (long)(a[k] * BINS);                                                              \
      bin = bin < BINS ? bin : BINS - 1;                                                           \
      bin -= a[k] < (T)(bin * (1.0 / BINS));                                                       \
      bin += bin != BINS - 1 && a[k] >= (T)((bin + 1) * (1.0 / BINS));                             \
      ++y[bin];                                                                                    \
    }                                                                                              \
    return BINS;                                                                                   \
  }

GATHERS(f4, i4)
GATHERS(f4, i8)
GATHERS(f8, i4)
GATHERS(f8, i8)
MASKS(f4)
MASKS(f8)

LOOP(true_places) {
  const uint8_t *mask = in[0];
  i8 *restrict y = out;
  long count = 0;
  for (long k = 0; k < n[0]; ++k) {
    y[count] = k;
    count += mask[k];
  }
  return count;
}

LOOP(count_mask) {
  const uint8_t *mask = in[0];
  i8 *restrict y = out;
  long sum = 0;
  for (long k = 0; k < n[0]; ++k)
    y[k] = sum += mask[k];
  return n[0];
}

#define COUNTS(I)                                                                                  \
  LOOP(bincount_##I) {                                                                             \
    enum { BINS = 1000 };                                                                          \
    const I *x = in[0];                                                                            \
    i8 *y = out;                                                                                   \
    memset(y, 0, BINS * sizeof *y);                                                                \
    for (long k = 0; k < n[0]; ++k)                                                                \
      ++y[x[k]];                                                                                   \
    return BINS;                                                                                   \
  }

COUNTS(i4)
COUNTS(i8)
