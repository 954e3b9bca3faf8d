"""Runs programs on an OpenCL device whose memory limit (GRAPHC_MEMORY_LIMIT, a few MiB) is less than their arrays take, and on
the CPU; the last line is JSON with what was found. Started by test_pieces.py."""

import json
import sys
import warnings

import graphc as gc
import numpy as np

DEVICE = "opencl"
rng = np.random.default_rng(3)


def passes():
    return gc._graphc.counters()["piece_passes"]


def logistic(x):
    for _ in range(10):
        x = 22 * x * (x + 1) % 6700417
    return x


def softmax(x):
    e = gc.exp(x - gc.max(x, axis=1, keepdims=True))
    return e / gc.sum(e, axis=1, keepdims=True)


def together(x):
    results = gc.sum(x), gc.max(x), x + 1
    gc.eval(*results)
    return results


def compare(cases):
    """Of (program, NumPy arrays) by name, whether all bits are equal, and the passes over pieces."""
    out = {}
    for name, (program, inputs) in cases.items():
        want = program(*[gc.asarray(x) for x in inputs])
        before = passes()
        with gc.device(DEVICE):
            got = program(*[gc.asarray(x) for x in inputs])
        want, got = [list(r) if isinstance(r, tuple) else [r] for r in (want, got)]
        got, want = [np.asarray(g) for g in got], [np.asarray(w) for w in want]
        same = all(g.dtype == w.dtype and g.shape == w.shape and g.tobytes() == w.tobytes() for g, w in zip(got, want))
        out[name] = {"same": same, "passes": passes() - before}
    return out


def uniform(*shape, dtype="f4"):
    return (rng.random(shape) * 2 - 1).astype(dtype)


def maps():
    n = 3_000_001  # 11.4 MiB of float32
    x, y, rows, w = uniform(n), uniform(n), uniform(3001, 1000), uniform(1000)
    return compare({
        "logistic, ten times the limit": (logistic, [np.arange(1, 5_000_000, dtype="i8")]),
        "two inputs": (lambda a, b: a * b + gc.exp(-a), [x, y]),
        "broadcast": (lambda a, b: gc.tanh(a + b) * 3, [rows, w]),
        "column vector": (lambda a, b: a * b[:, None], [rows, uniform(3001)]),
        "softmax": (softmax, [rows]),
        "cumsum of rows": (lambda a: gc.cumsum(a, axis=1), [rows]),
        "transpose": (lambda a: a.T + 1, [rows]),
        "neighbours": (lambda a: a[1:] - a[:-1], [x]),
        "counted": (lambda a: a + gc.arange(n, dtype="float32"), [x]),
        "generated": (lambda: gc.arange(n, dtype="int64") * 3 + 1, []),
        "three axes": (lambda a, b: (a * b).reshape(3001 * 8, 125), [rows.reshape(3001, 8, 125), uniform(8, 125)]),
        "float16": (lambda a: a * 2 + 1, [uniform(5_000_001, dtype="f2")]),
        "complex": (lambda a: a * a, [uniform(1_000_001).astype("c8")]),
        "gather": (lambda a, i: a[i], [uniform(50), rng.integers(0, 50, n)]),
        "jit": (gc.jit(lambda a, b: a * 2 + b), [x, y]),
        "part of it": (lambda a: (a[5], a[7:9], a[::-1][:4]), [x]),
    })


def reductions():
    n = 3_000_001
    x, rows, tall = uniform(n), uniform(3001, 1000), uniform(150_001, 20)
    cube = uniform(301, 101, 97)
    spoiled = uniform(n)
    spoiled[[2_000_003, 2_500_000]] = np.nan
    return compare({
        "sum": (lambda a: gc.sum(a), [x]),
        "sum of a map": (lambda a: gc.sum(gc.sin(a) * 2 + a), [x]),
        "mean and variance": (lambda a: (gc.mean(a), gc.var(a)), [x]),
        "prod": (lambda a: gc.prod(a * 0.001 + 1), [x]),
        "extremes": (lambda a: (gc.min(a), gc.max(a), gc.any(a > 2), gc.all(a < 2)), [x]),
        "integers": (lambda a: gc.sum(a), [rng.integers(-100, 100, n).astype("i4")]),
        "rows": (lambda a: gc.sum(a, axis=1), [rows]),
        "columns": (lambda a: gc.sum(a, axis=0), [rows]),
        "columns of many rows": (lambda a: gc.mean(a, axis=0), [tall]),
        "all of rows": (lambda a: gc.sum(a), [rows]),
        "keepdims": (lambda a: gc.sum(a, axis=0, keepdims=True) * 2, [rows]),
        "places": (lambda a: (gc.argmin(a), gc.argmax(a)), [x]),
        "place of a NaN": (lambda a: (gc.argmin(a), gc.argmax(a)), [spoiled]),
        "first of equal places": (lambda a: (gc.argmin(a), gc.argmax(a)), [rng.integers(0, 9, n).astype("i4")]),
        "places in columns": (lambda a: (gc.argmax(a, axis=0), gc.argmin(a, axis=0)), [tall]),
        "place of a bool": (lambda a: gc.argmax(a), [np.arange(5_000_001) == 4_300_007]),
        "two groups": (lambda a: gc.sum(a, axis=(0, 2)), [cube]),
        "middle": (lambda a: gc.sum(a, axis=1), [cube]),
        "first two": (lambda a: gc.sum(a, axis=(0, 1)), [cube]),
        "float16": (lambda a: (gc.sum(a), gc.mean(a)), [uniform(5_000_001, dtype="f2")]),
        "complex": (lambda a: gc.sum(a), [uniform(1_000_001).astype("c8")]),
        "standardized": (lambda a: (a - gc.mean(a)) / gc.std(a), [x]),
        "a map and its sum": (lambda a: (a * 2, gc.sum(a * 2)), [x]),
        "together": (together, [x]),
        "float64": (lambda a: gc.sum(a, axis=0), [uniform(20_001, 60, dtype="f8")]),
    })


def products():
    tall, square = uniform(20_001, 80), uniform(80, 90)
    return compare({
        "rows of the left": (lambda a, b: a @ b, [tall, square]),
        "columns of the right": (lambda a, b: a @ b, [square.T, uniform(80, 20_001)]),
        "float64": (lambda a, b: a @ b, [tall.astype("f8"), square.astype("f8")]),
        "batches": (lambda a, b: a @ b, [uniform(200, 60, 70), uniform(200, 70, 65)]),
        "with a map": (lambda a, b: gc.tanh(a @ b) + 1, [tall, square]),
    })


def refusals():
    with gc.device(DEVICE):
        x = gc.asarray(uniform(3_000_001))
        try:
            np.asarray(gc.sort(x))
            sort = "no error"
        except (gc.errors.OutOfMemory, MemoryError) as error:
            sort = str(error)
        alive = float(gc.sum(gc.ones(10, dtype="float32"))) == 10
    return {"sort": sort, "alive": alive}


def errors():
    x = np.abs(uniform(3_000_001)) + 1
    x[[5, 2_000_000, 2_999_999]] = 0
    with gc.device(DEVICE):
        a = gc.asarray(x)
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            np.asarray(1 / a)
        raised = False
        try:
            with gc.errstate(divide="raise"):
                1 / a
        except FloatingPointError:
            raised = bool(np.isinf(np.asarray(1 / a)).sum() == 3)
        i = np.zeros(3_000_001, "i8")
        i[2_500_000] = 99
        try:
            np.asarray(gc.asarray(x[:50])[gc.asarray(i)])
            index = "no error"
        except IndexError as error:
            index = str(error)
    return {"warnings": len(met), "line": "large_arrays.py" in met[0].filename, "raised": raised, "index": index}


if __name__ == "__main__":
    print(json.dumps({"maps": maps, "reductions": reductions, "products": products, "refusals": refusals,
                      "errors": errors}[sys.argv[1]]()))
