/* What the machine can do: the loops whose speed the table calls its limits. Compiled by
 * contenders/c_limits.py. Threads are started before the clock and meet at a barrier; the result is
 * the slowest thread's time for one pass. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#if defined(__AVX512F__)
#define LANE_BYTES 64
#elif defined(__AVX__)
#define LANE_BYTES 32
#else
#define LANE_BYTES 16
#endif

typedef float Floats __attribute__((vector_size(LANE_BYTES)));
typedef double Doubles __attribute__((vector_size(LANE_BYTES)));

enum Kind { READ, READ2, COPY, TRIAD, INPLACE, FMA32, FMA64 };

typedef struct {
  enum Kind kind;
  int nontemporal;
  long begin, end; /* vectors of every stream, or for the FMA loops iterations */
  int passes;
  const Floats *a, *b;
  Floats *y;
  pthread_barrier_t *barrier;
  double seconds;
} Work;

static volatile float sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Several streams are followed further when they are asked for 2 KiB ahead. */
#define AHEAD(X, Y)                                                                                \
  __builtin_prefetch((const char *)(X) + 2048);                                                    \
  __builtin_prefetch((const char *)(Y) + 2048);

static Floats readStreams(const Work *w) {
  Floats s[8] = {0};
  long i = w->begin;
  for (; i + 8 <= w->end; i += 8)
    for (int j = 0; j < 8; ++j)
      if (w->kind == READ2) {
        AHEAD(&w->a[i + j], &w->b[i + j])
        s[j] += w->a[i + j] * w->b[i + j];
      } else {
        s[j] += w->a[i + j];
      }
  for (; i < w->end; ++i)
    s[0] += w->a[i];
  return (s[0] + s[1]) + (s[2] + s[3]) + ((s[4] + s[5]) + (s[6] + s[7]));
}

#define STREAM(EXPRESSION, SECOND)                                                                 \
  const Floats *a = w->a, *b = w->b, *second = SECOND;                                             \
  Floats *y = w->y;                                                                                \
  (void)b;                                                                                         \
  if (w->nontemporal)                                                                              \
    for (long i = w->begin, end = w->end; i < end; ++i) {                                          \
      AHEAD(&a[i], &second[i])                                                                     \
      __builtin_nontemporal_store(EXPRESSION, &y[i]);                                              \
    }                                                                                              \
  else                                                                                             \
    for (long i = w->begin, end = w->end; i < end; ++i) {                                          \
      AHEAD(&a[i], &second[i])                                                                     \
      y[i] = EXPRESSION;                                                                           \
    }

/* Sixteen independent chains hide the latency of two units; the empty asm keeps the iterations. */
#define CHAINS(TYPE, SCALAR)                                                                       \
  TYPE c[16];                                                                                      \
  const TYPE m = (TYPE){0} + (SCALAR)0.9999, k = (TYPE){0} + (SCALAR)1e-4;                         \
  for (int j = 0; j < 16; ++j)                                                                     \
    c[j] = (TYPE){0} + (SCALAR)(j * 1e-3);                                                         \
  for (long i = w->begin; i < w->end; ++i) {                                                       \
    _Pragma("clang loop unroll(full)") for (int j = 0; j < 16; ++j) c[j] = c[j] * m + k;           \
    __asm__ volatile("" ::: "memory");                                                             \
  }                                                                                                \
  for (int j = 1; j < 16; ++j)                                                                     \
    c[0] += c[j];                                                                                  \
  sink = (float)c[0][0];

static void pass(const Work *w) {
  switch (w->kind) {
  case READ:
  case READ2:
    sink = readStreams(w)[0];
    break;
  case COPY: {
    STREAM(a[i], w->a)
    break;
  }
  case TRIAD: {
    STREAM(a[i] * b[i] + 1.0f, w->b)
    break;
  }
  case INPLACE: {
    STREAM(y[i] + a[i], w->y)
    break;
  }
  case FMA32: {
    CHAINS(Floats, float)
    break;
  }
  case FMA64: {
    CHAINS(Doubles, double)
    break;
  }
  }
}

static void *run(void *argument) {
  Work *w = argument;
  pthread_barrier_wait(w->barrier);
  double start = now();
  for (int i = 0; i < w->passes; ++i)
    pass(w);
  w->seconds = (now() - start) / w->passes;
  return 0;
}

/* Flops of one iteration of an FMA loop. */
long flopsOfIteration(int doubles) { return 16L * 2 * LANE_BYTES / (doubles ? 8 : 4); }

/* Seconds of one pass over `count` (bytes a stream, or iterations a thread), or -1 without threads.
 */
double limitSeconds(int kind, int nontemporal, int threads, int passes, long count, const void *a,
                    const void *b, void *y) {
  enum { MOST = 256 };
  static Work work[MOST];
  pthread_t thread[MOST];
  pthread_barrier_t barrier;
  if (threads < 1 || threads > MOST || pthread_barrier_init(&barrier, 0, (unsigned)threads))
    return -1;
  long vectors = count / LANE_BYTES;
  for (int t = 0; t < threads; ++t) {
    work[t] = (Work){kind,
                     nontemporal,
                     vectors * t / threads,
                     vectors * (t + 1) / threads,
                     passes,
                     a,
                     b,
                     y,
                     &barrier,
                     0};
    if (kind >= FMA32) {
      work[t].begin = 0;
      work[t].end = count;
    }
    if (t && pthread_create(&thread[t], 0, run, &work[t]))
      return -1; /* threads already at the barrier stay there: the caller gives up */
  }
  run(&work[0]);
  double slowest = work[0].seconds;
  for (int t = 1; t < threads; ++t) {
    pthread_join(thread[t], 0);
    if (work[t].seconds > slowest)
      slowest = work[t].seconds;
  }
  pthread_barrier_destroy(&barrier);
  return slowest;
}
