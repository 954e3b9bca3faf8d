"""Numba: every program as the loop its users write, prange over elements or rows, no fast-math.

A loop takes its output as the last argument. "numba" makes a new array for each result, as the contenders with
array expressions do; "numba out=" writes into the same array each time."""

from __future__ import annotations

import math

import numba
import numpy as np

from contenders import Entry, Missing

prange = numba.prange
loop = numba.njit(parallel=True, cache=True)


def start(threads: int) -> str:
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    return numba.__version__


@loop
def mul_add(a, b, y):
    for i in prange(a.size):
        y[i] = a[i] * b[i] + np.float32(1)


@loop
def chain(a, b, y):
    for i in prange(a.size):
        y[i] = a[i] * b[i] + math.exp(-a[i]) * math.tanh(b[i])


@loop
def update(a, b):
    for i in prange(a.size):
        a[i] += b[i]
    return a


@loop
def sin_sum(a, b):
    s = 0.0
    for i in prange(a.size):
        s += math.sin(a[i]) * np.float32(2) + b[i]
    return s


@numba.njit(parallel=True, cache=True, fastmath={"reassoc", "nsz"})
def total(a):
    s = np.float32(0)  # reassociation is what makes a float sum a vector loop; nothing else is relaxed
    for i in prange(a.size):
        s += a[i]
    return s


@loop
def sum_axis0(a):
    blocks = 4 * numba.get_num_threads()
    partial = np.zeros((blocks, a.shape[1]), a.dtype)
    share = (a.shape[0] + blocks - 1) // blocks
    for block in prange(blocks):
        for i in range(block * share, min(a.shape[0], (block + 1) * share)):
            for j in range(a.shape[1]):
                partial[block, j] += a[i, j]
    return partial.sum(axis=0)


@numba.njit(parallel=True, cache=True, fastmath={"reassoc", "nsz"})
def sum_axis1(a):
    y = np.empty(a.shape[0], a.dtype)
    for i in prange(a.shape[0]):
        s = np.float32(0)
        for j in range(a.shape[1]):
            s += a[i, j]
        y[i] = s
    return y


@loop
def argmax(a):
    blocks = 4 * numba.get_num_threads()
    best = np.zeros(blocks, np.int64)
    share = (a.size + blocks - 1) // blocks
    for block in prange(blocks):
        at = min(block * share, a.size - 1)
        for i in range(block * share, min(a.size, (block + 1) * share)):
            if a[i] > a[at]:
                at = i
        best[block] = at
    at = best[0]
    for block in range(1, blocks):
        if a[best[block]] > a[at]:
            at = best[block]
    return at


@loop
def softmax(x, y):
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        s = np.float32(0)
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - top)
            s += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= s


@numba.njit(parallel=True, cache=True, fastmath={"reassoc", "nsz"})
def layernorm(x, weight, bias, y):
    n = np.float32(x.shape[1])
    for i in prange(x.shape[0]):
        mean = np.float32(0)
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= n
        variance = np.float32(0)
        for j in range(x.shape[1]):
            variance += (x[i, j] - mean) * (x[i, j] - mean)
        scale = np.float32(1) / math.sqrt(variance / n + np.float32(1e-5))
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]


@loop
def gelu(x, bias, y):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j] + bias[j]
            t = np.float32(0.7978845608028654) * (v + np.float32(0.044715) * v * v * v)
            y[i, j] = np.float32(0.5) * v * (np.float32(1) + math.tanh(t))


@loop
def transpose(x, y):
    tile = 32
    for block in prange((x.shape[0] + tile - 1) // tile):
        for j0 in range(0, x.shape[1], tile):
            for i in range(block * tile, min(x.shape[0], (block + 1) * tile)):
                for j in range(j0, min(x.shape[1], j0 + tile)):
                    y[j, i] = x[i, j]


@loop
def logistic(x, y):
    for i in prange(x.size):
        v = x[i]
        for _ in range(10):
            v = 22 * v * (v + 1) % 6700417
        y[i] = v


@numba.njit(cache=True)
def cumsum(a, y):
    s = a.dtype.type(0)
    for i in range(a.size):
        s += a[i]
        y[i] = s


@numba.njit(cache=True)
def sort(a):
    return np.sort(a)


@loop
def pi(x, y):
    inside = 0
    for i in prange(x.size):
        inside += math.sqrt(x[i] * x[i] + y[i] * y[i]) < np.float32(1)
    return 4 * inside / x.size


@loop
def pi_random(n):
    inside = 0
    for _ in prange(n):
        x, y = np.random.random(), np.random.random()
        inside += math.sqrt(x * x + y * y) < 1
    return 4 * inside / n


@loop
def fourier(x, odd, factor, step):
    series, slope = np.empty_like(x), np.empty(x.size - 2, x.dtype)
    for i in prange(x.size):
        s = x[i] * 0
        for k in range(odd.size):
            s += factor[k] * math.sin(odd[k] * x[i])
        series[i] = s
    for i in prange(x.size - 2):
        slope[i] = (series[i + 2] - series[i]) / (2 * step)
    return series, slope


@numba.njit(cache=True)
def matmul(a, b, y):
    np.dot(a, b, y)


@loop
def jacobi(a, sweeps):
    b = a.copy()
    fifth = a.dtype.type(0.2)
    for _ in range(sweeps // 2):
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = fifth * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = fifth * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])
    return a


@loop
def mandelbrot(real, imaginary, steps):
    count = np.empty(real.shape, np.int32)
    for i in prange(real.shape[0]):
        for j in range(real.shape[1]):
            c, z, n = complex(real[i, j], imaginary[i, j]), 0j, 0
            while n < steps and z.real * z.real + z.imag * z.imag < 4:
                z = z * z + c
                n += 1
            count[i, j] = n
    return count


@numba.njit(cache=True)
def mul_add3(a, b, c):
    return a * b + c


@numba.njit(cache=True)
def ten(a, b, c):
    return (((((a * b + c) * a - b) * c + a) * b - c) * a + b) * c


def _shape(program: str, inputs: list) -> tuple:
    if program == "matmul":
        return (inputs[0].shape[0], inputs[1].shape[1])
    return inputs[0].shape[::-1] if program == "transpose" else inputs[0].shape


WRITING = {f.__name__: f for f in (mul_add, chain, softmax, layernorm, gelu, transpose, logistic, cumsum, matmul)}
GIVING = {f.__name__: f for f in (update, sin_sum, total, argmax, sort, pi, pi_random, fourier, jacobi, mandelbrot,
                                  mul_add3, ten)}


def contenders(row, inputs) -> dict:
    program = row.program
    if program == "sum_axis":
        function = (sum_axis0, sum_axis1)[row.params["axis"]]
        return {"numba": _entry(lambda: function(*inputs))}
    if program in WRITING:
        function, shape, dtype = WRITING[program], _shape(program, inputs), inputs[0].dtype

        def into(y):
            function(*inputs, y)
            return y

        found = {"numba": _entry(lambda: into(np.empty(shape, dtype)))}
        if row.fresh:
            kept = np.empty(shape, dtype)
            found["numba out="] = _entry(lambda: into(kept))
        return found
    if program in GIVING:
        function, values = GIVING[program], tuple(inputs) + tuple(row.params.values())
        return {"numba": _entry(lambda: function(*values))}
    raise Missing("not written with it")


def _entry(run) -> Entry:
    return Entry(run, lambda r: [np.asarray(x) for x in (r if isinstance(r, tuple) else (r,))])
