"""NumPy as its users write it for speed: output arrays and temporaries are made once, every step has `out=`."""

from __future__ import annotations

import numpy as np

import programs
from contenders import Entry, Missing


def start(threads: int) -> str:
    return np.__version__


def mul_add(a, b):
    y = np.empty_like(a)

    def run():
        np.multiply(a, b, out=y)
        return np.add(y, 1, out=y)

    return run


def chain(a, b):
    y, t = np.empty_like(a), np.empty_like(a)

    def run():
        np.negative(a, out=t)
        np.exp(t, out=t)
        np.tanh(b, out=y)
        np.multiply(t, y, out=t)
        np.multiply(a, b, out=y)
        return np.add(y, t, out=y)

    return run


def sin_sum(a, b):
    t = np.empty_like(a)

    def run():
        np.sin(a, out=t)
        np.multiply(t, 2, out=t)
        np.add(t, b, out=t)
        return t.sum()

    return run


def cumsum(a):
    y = np.empty_like(a)
    return lambda: np.cumsum(a, out=y)


def softmax(x):
    y = np.empty_like(x)

    def run():
        np.subtract(x, x.max(axis=1, keepdims=True), out=y)
        np.exp(y, out=y)
        return np.divide(y, y.sum(axis=1, keepdims=True), out=y)

    return run


def layernorm(x, weight, bias):
    y = np.empty_like(x)

    def run():
        np.subtract(x, x.mean(axis=1, keepdims=True), out=y)
        variance = np.einsum("ij,ij->i", y, y) / x.shape[1]
        np.multiply(y, (1 / np.sqrt(variance + 1e-5))[:, None], out=y)
        np.multiply(y, weight, out=y)
        return np.add(y, bias, out=y)

    return run


def gelu(x, bias):
    y, t = np.empty_like(x), np.empty_like(x)

    def run():
        np.add(x, bias, out=y)
        np.multiply(y, y, out=t)
        np.multiply(t, y, out=t)
        np.multiply(t, 0.044715, out=t)
        np.add(t, y, out=t)
        np.multiply(t, 0.7978845608028654, out=t)
        np.tanh(t, out=t)
        np.add(t, 1, out=t)
        np.multiply(t, y, out=t)
        return np.multiply(t, 0.5, out=t)

    return run


def transpose(x):
    y = np.empty_like(x)

    def run():
        np.copyto(y, x.T)
        return y

    return run


def logistic(x, steps):
    y, t = np.empty_like(x), np.empty_like(x)

    def run():
        np.copyto(y, x)
        for _ in range(steps):
            np.add(y, 1, out=t)
            np.multiply(y, 22, out=y)
            np.multiply(y, t, out=y)
            np.remainder(y, 6700417, out=y)
        return y

    return run


def pi(x, y):
    s, t = np.empty_like(x), np.empty_like(x)

    def run():
        np.multiply(x, x, out=s)
        np.multiply(y, y, out=t)
        np.add(s, t, out=s)
        np.sqrt(s, out=s)
        return 4 * np.count_nonzero(s < 1) / x.size

    return run


def pi_random(n):
    generator = np.random.Generator(np.random.SFC64(1))
    x, y = np.empty(n, np.float32), np.empty(n, np.float32)
    given = pi(x, y)

    def run():
        generator.random(dtype=np.float32, out=x)
        generator.random(dtype=np.float32, out=y)
        return given()

    return run


def fourier(x, odd, factor, step):
    t = np.empty_like(x)

    def run():
        series = np.zeros_like(x)
        for k, c in zip(odd, factor):
            np.multiply(x, k, out=t)
            np.sin(t, out=t)
            np.multiply(t, c, out=t)
            np.add(series, t, out=series)
        return series, (series[2:] - series[:-2]) * x.dtype.type(0.5 / step)

    return run


def matmul(a, b):
    y = np.empty((a.shape[0], b.shape[1]), a.dtype)
    return lambda: np.matmul(a, b, out=y)


def mandelbrot(real, imaginary, steps):
    c = real + 1j * imaginary

    def run():
        z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(steps):
                inside = z.real * z.real + z.imag * z.imag < 4
                count[inside] += 1
                z[inside] = z[inside] ** 2 + c[inside]
        return count

    return run


FORMS = {f.__name__: f for f in (mul_add, chain, sin_sum, cumsum, softmax, layernorm, gelu, transpose, logistic, pi,
                                 pi_random, fourier, matmul, mandelbrot)}
FORMS["integrate"] = lambda a, b: matmul(a, b.T)


def contenders(row, inputs) -> dict:
    if row.program in FORMS:
        run = FORMS[row.program](*inputs, **row.params)
    elif hasattr(programs, row.program):
        program = getattr(programs, row.program)
        run = lambda: program(np, *inputs, **row.params)
    else:
        raise Missing("not written with it")
    return {"numpy": Entry(run, lambda r: [np.asarray(x) for x in (r if isinstance(r, tuple) else (r,))])}
