/* The same work as plain loops: what a compiler makes of the obvious C. Compiled by tools/bench/run.py. */
#include <stddef.h>
#include <stdint.h>

void chain(const float *a, const float *b, float *y, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    y[i] = (a[i] * b[i] + a[i]) * (b[i] - 0.5f);
}

/* Reads every byte once and keeps the loads: sixteen sums that the vectorizer holds in registers. */
void readAll(const float *a, float *y, size_t begin, size_t end) {
  float sums[16] = {0};
  for (size_t i = begin; i + 16 <= end; i += 16)
    for (size_t j = 0; j < 16; ++j)
      sums[j] += a[i + j];
  float total = 0;
  for (size_t j = 0; j < 16; ++j)
    total += sums[j];
  y[begin / 16] = total;
}

void logisticMap(const int64_t *x, int64_t *y, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    int64_t v = x[i];
    for (int step = 0; step < 10; ++step)
      v = 22 * v * (v + 1) % 6700417;
    y[i] = v;
  }
}
