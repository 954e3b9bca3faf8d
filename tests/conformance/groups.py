"""Programs whose kernels run by groups of work-items on a GPU-class device, at sizes around every border of a tile, a vector
and a block: all bits must be the CPU's. test_groups.py runs it in a process whose OpenCL devices count as GPUs."""

import sys
import warnings

import graphc as gc
import numpy as np
from support import exact

rng = np.random.default_rng(11)


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def softmax(x):
    e = gc.exp(x - gc.max(x, axis=1, keepdims=True))
    return e / gc.sum(e, axis=1, keepdims=True)


def layernorm(x, w, b):
    d = x - gc.mean(x, axis=1, keepdims=True)
    return d / gc.sqrt(gc.mean(d * d, axis=1, keepdims=True) + 1e-5) * w + b


def maps():
    for n in (1, 3, 4, 1024, 1025, 2047, 2048, 6145, 100_003):
        yield lambda a, b: a * b + 1, [normal(n), normal(n)]
    for rows, columns in ((3, 5), (7, 64), (100, 1001), (1000, 3), (4, 64), (9, 1024), (12, 1028), (257, 132)):
        yield lambda a, b, c: a * b + c, [normal(rows, columns), normal(columns), normal(rows, 1)]
    for outer in (2, 4, 5, 31):
        yield lambda a, b, c: a * b + c, [normal(outer, 3, 68), normal(68), normal(3, 1)]
    # Lines that begin anywhere, and elements of 8 and of 2 bytes.
    yield lambda a, b: a[:, 1:] * b, [normal(17, 1025), normal(1024)]
    yield lambda a, b: a * b + 1, [normal(13, 130, dtype=np.float64), normal(130, dtype=np.float64)]
    yield lambda a, b: a * b + 1, [normal(13, 136, dtype=np.float16), normal(136, dtype=np.float16)]
    yield lambda a: a[1:-1] + a[2:] * a[:-2], [normal(10_001)]
    yield lambda a: a * 3 + 1, [rng.integers(-128, 127, 1001).astype(np.int8)]
    yield lambda a: (a * 17 + 3) % 1000003 // 7, [rng.integers(-2**40, 2**40, 4099)]
    yield lambda a, b: a * b, [normal(1003) + 1j * normal(1003), normal(1003) + 1j * normal(1003)]


def turned():
    for shape in ((3, 5), (64, 64), (100, 130), (1000, 77)):
        yield lambda a: gc.permute_dims(a, (1, 0)).copy(), [normal(*shape)]
    yield lambda a, b: gc.permute_dims(a, (0, 2, 1)) * 2 + b, [normal(5, 33, 47), normal(5, 47, 33)]


def totals():
    for n in (1, 5, 255, 257, 8191, 8192, 8193, 100_000, 600_001):
        yield lambda a: (gc.sum(a), gc.max(a), gc.argmax(a)), [normal(n)]
    # More block results than one group folds: their last groups, and the last of these.
    yield lambda a: (gc.max(a), gc.sum(a)), [rng.integers(-100, 90, 8192 * 8192 + 70_001, np.int8)]


def rows():
    for shape in ((3, 5), (7, 64), (100, 1001), (5, 8200), (2, 30_000), (2, 300_000), (4096, 16)):
        yield lambda a: (gc.sum(a, axis=1), gc.argmin(a, axis=1)), [normal(*shape)]
    yield lambda a: (gc.any(a > 4, axis=1), gc.all(a > -4), gc.sum(a > 0)), [normal(5, 3347)]


def short_rows():
    """Rows that a work-item has alone, and the first that are longer."""
    for length in (0, 1, 3, 33, 64, 65):
        data = normal(300, length)
        if length > 2:
            data[0, 1], data[150, 2] = np.nan, np.inf
        yield lambda a: (gc.sum(a, axis=1), gc.prod(a * 2, axis=1), gc.any(a > 0, axis=1)), [data]
        if length:
            yield lambda a: (gc.argmin(a, axis=1), gc.var(a, axis=1)), [data.astype(np.float64)]
            yield softmax, [data]
    yield lambda a, i: gc.sum(a[:, i], axis=1), [normal(300, 7), rng.integers(0, 7, 5)]
    yield lambda a: gc.sum(a * 1j, axis=1), [normal(300, 5)]
    yield lambda a: gc.sum(a, axis=1), [rng.integers(-100, 90, (300, 5), np.int8)]
    yield lambda a, b: gc.argmin(gc.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2), axis=1), [normal(5000, 3), normal(7, 3)]


def added():
    """Sums of integers at places that many points share, and of what is added in order."""

    def sums(a, i, x):
        gc.add.at(a, i, x)
        gc.add.at(a, i[::-1], a[i])
        return a, gc.bincount(i, minlength=20)

    def pairs(a, i, j, x):
        gc.add.at(a, (i, j), x)
        gc.subtract.at(a, (j, i), x)
        return a

    for kind in (np.int32, np.uint32, np.int64, np.float32, np.int16):
        yield sums, [np.zeros(9, kind), rng.integers(0, 9, 5001), rng.integers(0, 90, 5001).astype(kind)]
    yield sums, [np.zeros((7, 3), np.int32), rng.integers(0, 7, 300), rng.integers(-9, 9, (300, 3), np.int32)]

    def updates(a, i, x):
        for step in (gc.maximum, gc.minimum, gc.bitwise_or, gc.bitwise_and, gc.bitwise_xor, gc.subtract):
            b = a.copy()
            step.at(b, i, x)
            yield b

    # Of every kind of integer, and beyond where one that is signed begins; an update that another follows.
    for kind in (np.int32, np.uint32, np.int64, np.uint64, np.int8):
        at, values = rng.integers(0, 1000, 5001), rng.integers(-(2**63), 2**63 - 1, 5001).astype(kind)
        yield gc.jit(lambda a, i, x: tuple(updates(a, i, x))), [rng.integers(-40, 90, 1000).astype(kind), at, values]
    yield gc.jit(lambda a, i, x: (gc.maximum.at(a, i, x), gc.add.at(a, i, x), gc.minimum.at(a, i[::-1], x), a)[-1]), [np.zeros(9, np.int32), rng.integers(0, 9, 501), rng.integers(-90, 90, 501, np.int32)]
    yield pairs, [np.zeros((5, 5), np.int32), *rng.integers(0, 5, (2, 777)), rng.integers(-99, 99, 777, np.int32)]


def placed():
    """What order matters for at places that points share: of one place, of few and of many; in rows, in several axes."""

    def set_at(a, i, x):
        a[i] = x
        return a

    def change(a, i, x):
        a[i] += x
        a[i[::-1]] -= a[i]
        return a

    def combined(a, i, x):
        gc.add.at(a, i, x)
        gc.maximum.at(a, i[::2], x[1::2] * 2)
        gc.multiply.at(a, i, x)
        return a, a[i] * 2

    def columns_at(a, i, x):
        a[:, i] = x
        gc.add.at(a, (slice(None), i), x)
        return a

    def pairs(a, i, j, x):
        a[i, j] = x
        gc.add.at(a, (j, i), x)
        return a

    for kind in (np.float32, np.float64, np.float16, np.int64, np.int8, np.complex64, np.complex128):
        one = ((1, 40),) if kind in (np.float32, np.complex64) else ()  # a program of its own
        for places, points in (*one, (3, 1000), (50, 3000), (4000, 3000), (40_000, 1000)):
            x = (normal(points) * 3).astype(kind)
            given = [np.ones(places, kind), rng.integers(-places, places, points), x]
            yield set_at, given
            yield change, given
            if kind not in (np.complex64, np.complex128):
                yield combined, given
    yield lambda i, w: gc.bincount(i, weights=w), [rng.integers(0, 30, 5001), normal(5001, dtype=np.float64)]
    for kind in (np.float64, np.complex64):
        yield change, [np.ones(2, kind), rng.integers(0, 2, 9000), normal(9000).astype(kind)]
    yield combined, [np.ones(3), np.sort(rng.integers(0, 2, 7000)) * 2, normal(7000)]
    yield lambda x, w: gc.histogram(x, 3, (-1, 1), weights=w)[0], [normal(9000, dtype=np.float64), normal(9000, dtype=np.float64)]
    yield set_at, [normal(7, 3), rng.integers(0, 7, 300), normal(300, 3)]
    yield set_at, [normal(7, 3), rng.integers(0, 7, (30, 11)), normal(30, 11, 3)]
    yield columns_at, [normal(5, 9), rng.integers(0, 9, 200), normal(5, 200)]
    yield pairs, [normal(5, 5), *rng.integers(0, 5, (2, 777)), normal(777)]
    yield pairs, [normal(5, 5), *rng.integers(0, 5, (2, 7, 111)), normal(7, 111)]
    yield set_at, [np.zeros(9, bool), rng.integers(0, 9, 100), rng.integers(0, 2, 100).astype(bool)]


def searches():
    """Values before, between, at and behind sorted elements; both zeros, infinities and NaN."""
    sides = lambda a, v: (gc.searchsorted(a, v), gc.searchsorted(a, v, side="right"))  # noqa: E731
    for n, m in ((1, 5), (0, 4), (7, 1), (1000, 257), (4096, 3001), (5, 0)):
        yield sides, [np.sort(normal(n)), normal(m)]
    special = np.float32([0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 1e-45, -1e-45])
    for dtype in (np.float16, np.float32, np.float64):
        yield sides, [np.sort(special[rng.integers(0, len(special), 303)]).astype(dtype), special.astype(dtype)]
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64):
        ends = np.iinfo(dtype)
        yield sides, [np.sort(rng.integers(ends.min, ends.max, 5003, dtype, endpoint=True)), rng.integers(ends.min, ends.max, 999, dtype)]
    yield sides, [np.array([False, False, True]), np.array([True, False])]
    yield lambda x: (gc.digitize(x, gc.linspace(-2, 2, 21)), gc.histogram(x, bins=gc.linspace(-2, 2, 21))[0]), [normal(5001, dtype=np.float64)]
    yield lambda x: gc.interp(x, gc.linspace(-2, 2, 21), gc.linspace(0, 1, 21) ** 2), [normal(5001, dtype=np.float64)]


def correlated():
    """Chains of 64 and of 256 products, pieces and steps of them that end anywhere, tiles, and what is beyond the ends."""
    sums = lambda x, w: tuple(f(x, w, mode) for f in (gc.convolve, gc.correlate) for mode in ("full", "same", "valid"))  # noqa: E731
    for n, m in ((1, 1), (5, 3), (9, 9), (2049, 8), (4100, 63), (3000, 64), (5000, 65), (2500, 256), (9000, 257), (3000, 1000), (700, 700)):
        for dtype in (np.float32, np.float64):
            yield sums, [normal(n, dtype=dtype), normal(m, dtype=dtype)]
    # Products that are not there are none of zeros: of infinities, and of zeros that have a sign.
    for w in ([np.inf, 1, -2], [1, np.nan, 3, 4, -np.inf], [-1e-30, -1e-30]):
        yield sums, [np.float32([1e-30, 2, -3, 0.0, -0.0, 1e-30, -1e-30, 4, 1e30]), np.float32(w)]
    yield sums, [normal(40) + 1j * normal(40), normal(7) + 1j * normal(7)]
    yield lambda x, w: gc.convolve(x * 2, w, "same") + 1, [normal(3000), normal(10)]


def columns():
    for shape in ((3, 5), (64, 64), (128, 300), (129, 66), (1001, 101), (1056, 65), (8200, 5), (40_000, 7), (16, 4096)):
        yield lambda a: (gc.sum(a, axis=0), gc.argmin(a, axis=0)), [normal(*shape)]
    for shape in ((5, 200, 7), (3, 2100, 33)):
        yield lambda a: gc.sum(a, axis=1), [normal(*shape)]
        yield lambda a: gc.prod(a * 2 + 1, axis=1), [normal(*shape, dtype=np.float64)]


def visited_again():
    for shape in ((3, 8), (5, 5), (7, 1024), (5, 4096), (3, 4100), (2, 9000), (2, 20_001)):
        yield softmax, [normal(*shape)]
    for shape in ((3, 8), (5, 4096), (2, 9000)):
        yield layernorm, [normal(*shape), normal(shape[1]), normal(shape[1])]


def rows_at_once():
    """Rows that several stages visit and of which a team has several at once, at the ends of each form, and the last teams in part."""
    for n in (1, 2, 15, 16, 17, 50, 63, 64, 65, 68, 255, 256, 257, 260, 1000, 1023, 1024, 1028):
        for rows in (1, 1003):
            yield gc.jit(softmax), [normal(rows, n)]
    for n in (1, 7, 64, 256, 768):
        yield gc.jit(layernorm), [normal(1003, n), normal(n), normal(n)]
        yield gc.jit(layernorm), [normal(1003, n, dtype=np.float64), normal(n, dtype=np.float64), normal(n, dtype=np.float64)]
        # The place of the largest, what only belongs to rows, sums of integers, and rows behind a first element.
        yield gc.jit(lambda a: (gc.argmax(a - gc.mean(a, axis=1, keepdims=True), axis=1), gc.sum(a, axis=1))), [normal(1003, n)]
        yield gc.jit(lambda a: a - gc.sum(a, axis=1, keepdims=True)), [rng.integers(-9, 9, (1003, n), np.int16)]
        yield gc.jit(lambda a: softmax(a[:, 1:])), [normal(1003, n + 1)]
        yield gc.jit(lambda a: gc.astype(softmax(gc.astype(a, gc.float32)), gc.float16)), [normal(1003, n, dtype=np.float16)]
    yield gc.jit(lambda a: a / gc.sum(a, axis=(1, 2), keepdims=True)), [normal(1003, 5, 6)]
    yield gc.jit(lambda a: gc.permute_dims(a, (1, 0)) / gc.max(a, axis=0)[:, None]), [normal(40, 1003)]
    yield gc.jit(softmax), [np.full((1003, 50), -np.inf, np.float32)]
    yield gc.jit(softmax), [np.zeros((0, 5), np.float32)]
    yield gc.jit(lambda a: (a - gc.sum(a, axis=1, keepdims=True), gc.sum(a, axis=1) + 1)), [np.zeros((3, 0), np.float32)]


def moments(a):
    c = a - gc.mean(a, axis=1, keepdims=True)
    return gc.min(a, axis=1), gc.max(a, axis=1), gc.mean(c**2, axis=1), gc.mean(c**3, axis=1), gc.mean(c**4, axis=1)


def long_rows():
    """Rows that several stages visit, at the ends of each form that keeps one for a group, aligned and not; the longest are read again by each stage."""
    lengths = (1025, 2000, 2049, 4095, 4096, 4097, 8190, 8192, 8193, 12_004, 16_383, 16_384, 16_386, 32_767, 32_768, 32_769, 70_004, 2_105_346)
    for n in lengths:
        yield gc.jit(softmax), [normal(3, n)]
    for n in (3000, 8001, 10_000, 32_001):
        yield gc.jit(layernorm), [normal(3, n), normal(n), normal(n)]
        yield gc.jit(layernorm), [normal(3, n, dtype=np.float64), normal(n, dtype=np.float64), normal(n, dtype=np.float64)]
        yield gc.jit(lambda a: (gc.argmax(a - gc.mean(a, axis=1, keepdims=True), axis=1), gc.sum(a, axis=1))), [normal(3, n)]
        yield gc.jit(lambda a: gc.astype(softmax(gc.astype(a[:, 1:], gc.float32)), gc.float16)), [normal(3, n + 1, dtype=np.float16)]
    yield gc.jit(lambda a: a / gc.sum(a, axis=(1, 2), keepdims=True)), [normal(3, 99, 60)]
    # More states than local memory holds for the largest groups.
    for n in (9000, 40_001):
        yield gc.jit(moments), [normal(2, n, dtype=np.float64)]


def scans():
    for shape in ((5,), (4096,), (4100,), (100_000,), (600_000,), (3, 50), (3, 5000), (7, 33_333)):
        yield lambda a: gc.cumulative_sum(a, axis=-1), [normal(*shape)]
    for shape in ((5, 3), (16, 7), (17, 7), (4100, 5), (9000, 70), (3, 33, 5)):
        yield lambda a: (gc.cumulative_sum(a, axis=0), gc.cumulative_prod(a * 2, axis=0) + 1), [normal(*shape)]
    # Columns whose groups, steps and blocks end anywhere, in strips of 32 and of 256, of lines that others lie between.
    for shape in ((1, 300), (15, 31), (64, 257), (65, 33), (129, 100), (4096, 32), (4097, 1), (8200, 40), (70_001, 3)):
        for dtype in (np.float32, np.float64, np.int8, np.float16):
            yield lambda a: (gc.cumulative_sum(a, axis=0), gc.maximum.accumulate(a, 0)), [normal(*shape).astype(dtype)]
    yield lambda a: (gc.cumsum(a, axis=1) * 2, gc.cumsum(a[:, ::-1], axis=1)), [normal(3, 5000, 17)]
    yield lambda a: gc.cumsum(gc.exp(a), axis=0)[::2] + 1, [normal(300, 50)]
    yield lambda a, i: gc.cumsum(a[i], axis=0), [normal(300, 50), rng.integers(0, 300, 5001)]
    yield lambda a: gc.cumsum(a, axis=0), [normal(5000, 40) + 1j * normal(5000, 40)]
    yield lambda a: gc.cumsum(a, axis=0), [normal(5000, 40) > 0]
    yield gc.cumulative_prod, [rng.integers(-3, 4, 9001)]
    yield gc.maximum.accumulate, [normal(70_000)]
    yield lambda a: gc.minimum.accumulate(a, 1), [rng.integers(-1000, 1000, (3, 9001))]


def products():
    for m, k, n in ((5, 7, 9), (128, 16, 128), (256, 64, 128), (130, 33, 257), (64, 2048, 64), (130, 5001, 140), (3, 0, 4), (1284, 20, 1290),
                    (1288, 33, 1284), (20, 44_001, 12)):
        yield lambda a, b: a @ b, [normal(m, k), normal(k, n)]
        yield lambda a, b: gc.permute_dims(a, (1, 0))[1:] @ b[:, 1:], [normal(k, m + 1), normal(k, n + 1)]
    for m, k in ((5, 7), (128, 16), (300, 130), (257, 2100), (67, 44_001)):
        yield lambda a: a @ gc.permute_dims(a, (1, 0)) * 2, [normal(m, k)]
        # What follows differs by row and column: each half of the product has its own.
        yield lambda a: (a @ gc.permute_dims(a, (1, 0)) - a[:, :1]) * gc.permute_dims(a[:, 1:2], (1, 0)), [normal(m, k)]
        yield lambda a: gc.permute_dims(a, (1, 0)) @ a, [normal(k, m, dtype=np.float64)]
    tiny = np.float32(1e-30)
    yield lambda a, b: a @ b, [normal(20, 33) * tiny, normal(33, 20) * -tiny]
    double = [normal(*shape, dtype=np.float64) for shape in ((3, 20, 30), (3, 40, 30), (40,))]
    yield lambda a, b, c: (a * 2) @ gc.permute_dims(b, (0, 2, 1)) + c, double


def few_elements():
    """Products of which a tile would hold few elements, and the first that fill a quarter of one, or have k's enough for it."""
    stacks = [((300, 4, 4), (300, 4, 4)), ((3, 5, 7, 2), (5, 2, 3)), ((2, 22, 5), (2, 5, 23)), ((2, 32, 5), (2, 5, 32)), ((2, 32, 5), (2, 5, 33)), ((4, 3, 64), (4, 64, 3)), ((4, 3, 65), (4, 65, 3)),
              ((1, 3), (3, 1000)), ((1000, 8), (8, 8)), ((1000, 8), (8, 9)), ((5, 0), (0, 5))]
    for left, right in stacks:
        yield lambda a, b: a @ b, [normal(*left), normal(*right)]
    yield lambda a, b, c: (a @ b + c) * gc.permute_dims(c[:8, :8], (1, 0))[:1], [normal(1000, 20), normal(20, 8), normal(1000, 8)]
    yield lambda a, b: a[:, 1:] @ b[1:, 1:], [normal(1000, 21), normal(21, 9)]
    yield lambda a, b: a @ gc.permute_dims(b, (1, 0)), [normal(7, 33), normal(1001, 33)]
    yield lambda a, b: gc.permute_dims(a * 2, (0, 2, 1)) @ b[:, ::-1] + 1, [normal(50, 3, 4, dtype=np.float64), normal(50, 3, 3, dtype=np.float64)]
    yield lambda a: a @ gc.permute_dims(a, (0, 2, 1)), [normal(40, 3, 5)]
    yield lambda a, b: gc.astype(a, gc.int64) @ gc.astype(b, gc.int64), [normal(40, 3, 5), normal(40, 5, 2)]
    yield lambda a, b: gc.astype(a, gc.complex64) @ (b * 1j), [normal(40, 3, 5), normal(40, 5, 2)]


def sorts():
    """Several lines in a tile, a tile, and runs of tiles; equal elements, both zeros, infinities and NaN."""
    both = lambda a: (gc.sort(a), gc.argsort(a), gc.sort(a, descending=True), gc.argsort(a, descending=True))  # noqa: E731
    for shape in ((1,), (7,), (8,), (9,), (2047,), (2048,), (2049,), (4096,), (6145,), (70_001,), (600_001,)):
        yield both, [normal(*shape)]
    for shape in ((1000, 3), (300, 8), (7, 100), (5, 1025), (3, 2048), (4, 5000), (0, 5), (5, 0)):
        yield both, [normal(*shape)]
    special = np.float32([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, -1, 1e-45, -1e-45])
    for dtype in (np.float16, np.float32, np.float64):
        yield both, [special[rng.integers(0, len(special), (1, 5003))].astype(dtype)]
    yield lambda a: both(a.astype(gc.bfloat16)), [special[rng.integers(0, len(special), 5003)]]
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        ends = np.iinfo(dtype)
        yield both, [rng.integers(ends.min, ends.max, (1, 5003), dtype, endpoint=True)]
        yield both, [rng.integers(0, 3, (5, 3001), dtype)]
    yield both, [rng.integers(0, 2, 9001).astype(bool)]
    # Long lines, digit after digit: whole chunks and parts of them, digits that all keys share, and keys that are all equal.
    for shape in ((131_071,), (131_072,), (2_100_001,), (3, 140_000)):
        yield both, [rng.integers(-5, 70_000, shape, np.int32)]
    yield both, [special[rng.integers(0, len(special), 150_001)]]
    yield both, [special[rng.integers(0, len(special), (1, 150_001))].astype(np.float16)]
    yield both, [rng.integers(0, 2**64, (1, 140_000), np.uint64, endpoint=False) & np.uint64(0xFF00_0000_00FF_FF00)]
    yield both, [rng.integers(-128, 128, (1, 140_001)).astype(np.int8)]
    yield both, [np.full(131_073, 7, np.int32)]
    yield lambda a: (gc.sort(a, axis=0), gc.argsort(a * 2, axis=0) + 1), [normal(3000, 5)]
    for shape in ((5,), (5003,), (7, 300)):
        keys = [normal(*shape), rng.integers(0, 5, shape), special[rng.integers(0, len(special), shape)]]
        yield lambda a, b, c: (gc.lexsort((a, b)), gc.lexsort((a, c, b)), gc.lexsort((b,))), keys
    yield lambda a: (gc.unique_values(a), gc.median(a)), [rng.integers(0, 500, 5001).astype(np.float32)]


def vectors():
    """Products with vectors: rows and pieces that are cut anywhere, several chains and runs, what is computed on the way."""
    for rows, k in ((1, 1), (3, 5), (31, 64), (32, 65), (33, 63), (100, 2048), (70, 2049), (5, 9000), (9000, 40), (1000, 16), (1000, 17), (0, 5), (5, 0)):
        for dtype in (np.float32, np.float64):
            yield lambda a, x, y: (a @ x, y @ a, a @ a[0] if a.shape[0] else a @ x), [normal(rows, k, dtype=dtype), normal(k, dtype=dtype), normal(rows, dtype=dtype)]
    yield lambda p, x: gc.exp(-gc.sum((p[:, None] - p) ** 2, axis=2)) @ x, [normal(70, 3), normal(70)]
    yield lambda a, x: (gc.matmul(a, x[:, :, None]), gc.einsum("bij,bj->bi", a, x)), [normal(9, 7, 130), normal(9, 130)]
    yield lambda a, x: (a * 2 @ x + 1, a.T @ x[:50], a[:, ::2] @ x[::2]), [normal(50, 300), normal(300)]
    yield lambda a, b, x, y: ((a + b.T) @ x, gc.exp(y @ (a + b.T)), y @ a + 1, x @ (b * 2)), [normal(130, 2100), normal(2100, 130), normal(2100), normal(130)]
    yield lambda a, x: (a @ x, x @ a.T), [rng.integers(-9, 9, (50, 300)), rng.integers(-9, 9, 300)]
    yield lambda a, x: a @ x, [normal(50, 300) + 1j * normal(50, 300), normal(300) + 1j * normal(300)]
    yield lambda a, x: a @ x, [normal(50, 300, dtype=np.float16), normal(300, dtype=np.float16)]


def draws():
    # A work-item has all elements of a block of counters; up to many block results.
    for n in (5, 31, 32, 33, 8193, 300_001):
        yield lambda n=n: gc.sum(gc.random.default_rng(gc.random.Philox4x32(7)).random(n)), []
        yield lambda n=n: gc.mean(gc.random.default_rng(gc.random.Philox4x32(7)).random(n, dtype=gc.float32) < 0.3), []


def watched():
    """Overflows and divisions by zero in the last lanes, and programs that have none but in lanes that do not exist."""
    edge = lambda n: np.concatenate([np.zeros(n - 1, np.float32), np.float32([1000])])  # noqa: E731
    for n in (3, 4, 1025, 5000):
        yield gc.exp, [edge(n)]
        yield lambda a: 1 / (a + 1), [edge(n)]  # nothing, though lanes that are masked off divide by anything
        yield lambda a: (a / (a - 1000)).astype(np.int32), [edge(n)]
    for shape in ((3, 5), (7, 1024), (5, 4096), (5, 3000), (2, 9000)):
        yield softmax, [normal(*shape)]
        # What follows hides what the sum met.
        for top in (1, 2e38):
            last = np.concatenate([np.ones((shape[0] - 1, shape[1]), np.float32), np.full((1, shape[1]), top, np.float32)])
            yield lambda a: (1 / gc.sum(a, axis=1), a / gc.sum(a, axis=1, keepdims=True), gc.sum(a) > 3, 1 / gc.sum(a.T, axis=0)), [last]
            yield lambda a: (1 / (a @ a[0]), 1 / (a[0] @ a.T), 1 / gc.cumsum(a, axis=1), 1 / gc.cumsum(a, axis=0), 1 / (a @ a.T)), [last]
        yield lambda a: gc.sum(1 / a, axis=1), [np.abs(normal(*shape)) + 1]
        yield lambda a: gc.sum(gc.exp(a), axis=1), [edge(shape[0] * shape[1]).reshape(shape)]
        yield lambda a: gc.exp(a * 100) / gc.sum(gc.exp(a), axis=1, keepdims=True), [normal(*shape)]
    yield lambda a: gc.cumulative_sum(a * np.float32(3e37)), [np.ones(5000, np.float32)]
    yield lambda a: gc.cumulative_sum(a), [np.ones(5000, np.float32)]
    huge = np.full((130, 40), 3e18, np.float32)
    yield lambda a, b: a @ b, [huge, huge.T * np.float32(100)]
    yield lambda a, b: a @ b, [normal(130, 5001), normal(5001, 130)]


def chosen():
    for n in (3, 255, 8193, 100_003):
        yield lambda a, b: (a[a > b] * 2, gc.sum(gc.exp(a[a > b])), gc.cumsum(a[a > b]), gc.nonzero(a > b)[0]), [normal(n), normal(n)]
        yield lambda a: (gc.mean(a[a > 5]), a[a > 1][a[a > 1] < 2], gc.unique_counts(gc.round(a)).counts), [normal(n)]
    yield lambda a, b: (gc.sum(a[b > 0], axis=0), gc.sum(a[b > 0], axis=1)), [normal(1001, 37), normal(1001)]
    yield changed, [normal(70, 1001)]


def laplacian(u):
    return sum(gc.roll(u, by, axis) for axis in range(u.ndim) for by in (1, -1)) - 2 * u.ndim * u


def rolled():
    for shape in ((1,), (5,), (1003,), (3, 5), (64, 64), (130, 257), (9, 1024), (2, 3, 70), (5, 33, 47)):
        yield laplacian, [normal(*shape)]
        yield lambda a: gc.roll(a, tuple(range(1, a.ndim + 1)), tuple(range(a.ndim))) * 2, [normal(*shape, dtype=np.float64)]
    for dtype in (np.float16, np.int8, np.uint16, np.int64, np.bool_, np.complex64):
        yield lambda a: gc.roll(a, 3, 1) + gc.roll(a, -2, 0), [(normal(37, 70) * 9).astype(dtype)]
    yield lambda a: gc.max(gc.roll(a, 5, 1) - a, axis=1), [normal(300, 1025)]
    yield lambda a: gc.sum(gc.roll(a, 1, 0) * a), [normal(300, 1025)]
    yield lambda a: (lambda w: w[2:] + w[:-2] - 2 * a)(gc.concatenate([a[-1:], a, a[:1]])), [normal(10_001)]
    yield lambda a: gc.roll(a[1:, ::2], 7, 1) + gc.roll(a.T[::2, 1:].T, 1, 0), [normal(41, 300)]


def changed(a):
    a = a.copy()
    a[a > 0] *= 3
    a[a < 0] = a[a < 0] * a[a < 0]
    return a


FAMILIES = {f.__name__: f for f in (maps, turned, totals, rows, short_rows, added, placed, searches, correlated, columns, visited_again, scans, products, vectors, sorts, draws, watched, chosen, few_elements, rows_at_once, long_rows, rolled)}


def told(program, inputs, where: str) -> tuple:
    """The results as NumPy's arrays, and what warnings there were, which devices may tell late."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with gc.device(where):
            result = program(*[gc.asarray(x, device=where) for x in inputs])
        results = [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]
        results = [x.view(x.real.dtype) if x.dtype.kind == "c" else x for x in results]
        gc.synchronize(where)
    return results, sorted({str(warning.message) for warning in found})


def run(name: str, device: str) -> None:
    for number, (program, inputs) in enumerate(FAMILIES[name]()):
        what = f"{name} {number} {[x.shape for x in inputs]}"
        (want, warned), (got, same) = told(program, inputs, "cpu"), told(program, inputs, device)
        assert same == warned, f"{what}: warnings {same}, expected {warned}"
        for x, y in zip(want, got):
            exact.assert_same(y, x, what)


if __name__ == "__main__":
    for family in sys.argv[2:]:
        run(family, sys.argv[1])
