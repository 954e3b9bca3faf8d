"""Programs on arrays of up to 2 MiB that were met seldom are computed without a compiler, unless the disk has them: the same bits."""

import os
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only
SIZE = 100_000


def operands():
    x, n = gc.asarray(np.linspace(-3, 5, SIZE)), gc.asarray(np.arange(SIZE) * 7 % 1001 - 40)
    gc.eval(x, n)
    return x, n


EXPRESSIONS = {
    "elementwise": lambda x, n: (x * 1.375 + 3, gc.sqrt(x * x + 0.125), n * 5 // 3, gc.where(x > 1, x, -x)),
    "reductions": lambda x, n: ((x + 2.625).sum(), (x * 1.5).max(), n.sum(), (n > 51).sum(), x.reshape(100, -1).std(axis=0), x.reshape(-1, 80).argmax(axis=1)),
    "movement": lambda x, n: (x.reshape(250, 400).T.copy(), gc.concatenate((x, x[::-1])), x[::3] - x[2::3][0], gc.roll(n, 7), n[::-1].copy()),
    "scans": lambda x, n: (gc.cumsum(x * 0.75), gc.cumprod(x[:9000] / 9 + 1), gc.cumsum(x.reshape(-1, 10), axis=0), gc.cumsum(x.reshape(5, -1).astype("f4"), axis=1),
                           gc.cumsum(n), gc.maximum.accumulate(n * 2)),
    "sorts": lambda x, n: ( gc.sort(n + 1), gc.argsort(n * 2), n[gc.argsort(n)]),
    "float32": lambda x, n: (x.astype("f4") * 1.7 + 1, (x.astype("f4") - 0.3).sum(), n.astype("f4").mean(), x.astype("i2")),
    "complex": lambda x, n: ((x + 1.5j * x) * (2 - 1j), (x * 1j).conj().sum()),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_bits_are_those_of_kernels(name):
    x, n = operands()
    first = [np.asarray(v) for v in EXPRESSIONS[name](x, n)]
    kernels = EXPRESSIONS[name](x, n)
    gc.eval(*kernels)  # whoever asks by name gets the program
    for seen, want in zip(first, kernels):
        assert seen.dtype == want.dtype and seen.tobytes() == np.asarray(want).tobytes()


def test_the_first_run_compiles_nothing_and_later_ones_are_compiled():
    x, n = operands()

    def run():
        return np.asarray(gc.minimum(x * 1.4375, n * 3) - 2.21875)

    before = gc._graphc.counters()["kernels_compiled"]
    first = run()
    assert gc._graphc.counters()["kernels_compiled"] == before
    ran = gc.cache_info()["programs_run"]
    for _ in range(200):
        assert run().tobytes() == first.tobytes()
    assert gc.cache_info()["programs_run"] > ran


INTEGERS = ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_first_products_and_reductions_of_any_integers_compile_nothing(dtype):
    """Sums wrap around and extremes are of signed or unsigned numbers, as NumPy's; views are read as they lie."""
    rng = np.random.default_rng(7)
    a = rng.integers(0, 2**63, (9, 8)).astype(dtype) if dtype != "b1" else rng.random((9, 8)) > 0.6
    x, before = gc.asarray(a), gc._graphc.counters()["kernels_compiled"]
    made = [
        (v @ v.T, v[::2, 1] @ v[::-2, 2], v[:, ::-1] @ v[3, :8], v[:1] @ v[1], v.sum(), v.sum(0), v.T.sum(0), v.prod(1), v.cumsum(0), v.astype("u1").sum(1))
        + (() if dtype == "u8" else (v.max(), v.min(0), v[:, ::2].max(1), v.argmax(), v.argmin(1)))
        for v in (a, x)
    ]
    for want, seen in zip(*made):
        assert seen.dtype == want.dtype and np.asarray(seen).tobytes() == want.tobytes()
    assert gc._graphc.counters()["kernels_compiled"] == before


def of_nothing(xp, dtype):
    v, m = xp.ones(9, dtype=dtype), xp.ones((4, 3), dtype=dtype)
    made = [v[:0].sum(), v[:0].prod(), m[:0].sum(0), m[:, :0].sum(1), m[:, 3:].prod(axis=1, keepdims=True), m[:0].T.sum(), (v[:0] * v[9:]).sum(), v[:0].all(), v[:0].any()]
    return [*made, v[:0] @ v[9:], m[:, :0] @ v[:0], m[:, :0] @ m[:0, :2].reshape(0, 2), v[:0].sum() + v[0], xp.dot(v[:0], v[:0])]


@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8", "c8", "c16"])
def test_folds_and_products_of_nothing_compile_nothing(dtype):
    """As the first turn of `row[:i].sum()` and `lower[j, :j] @ lower[j, :j]` has them, with the signs that kernels give zeros."""
    before = gc._graphc.counters()["kernels_compiled"]
    want, seen = of_nothing(np, dtype), [np.asarray(v) for v in of_nothing(gc, dtype)]
    assert gc._graphc.counters()["kernels_compiled"] == before
    kernels = of_nothing(gc, dtype)
    gc.eval(*kernels)
    for theirs, ours, kernel in zip(want, seen, kernels, strict=True):
        assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes() == np.asarray(kernel).tobytes()


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "logical_xor"])
def test_folds_of_integers_that_are_known_compile_nothing(name):
    a = np.arange(1, 61, dtype="i4").reshape(5, 12) % 7 + 1
    x, before = gc.asarray(a), gc._graphc.counters()["kernels_compiled"]
    for fold in (lambda f, v: f.reduce(v), lambda f, v: f.reduce(v[:, ::2], axis=-1, keepdims=True), lambda f, v: f.reduce(v.ravel()), lambda f, v: f.accumulate(v, axis=1)):
        want, seen = fold(getattr(np, name), a), fold(getattr(gc, name), x)
        assert seen.dtype == want.dtype and seen.shape == want.shape and np.array_equal(np.asarray(seen), want)
    assert gc._graphc.counters()["kernels_compiled"] == before


CHILD = """
import numpy as np, graphc as gc
x = gc.asarray(np.linspace(-3, 5, 100_000))
gc.eval(x)
for _ in range({times}):
    total = float((x * 1.40625 - x / 3.3125).max())
counts = gc._graphc.counters()
print(total, counts["kernels_compiled"], counts["programs_run"])
"""


def test_what_the_disk_has_is_loaded(tmp_path):
    def child(times):
        found = subprocess.run([sys.executable, "-c", CHILD.format(times=times)], env={**os.environ, "GRAPHC_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True, check=True)
        total, compiled, ran = found.stdout.split()
        return total, int(compiled), int(ran)

    first = child(1)
    assert first[1:] == (0, 0)
    assert child(200)[1] > 0
    again = child(1)
    assert again == (first[0], 0, 1)


FIRST_UNITS = """
import graphc as gc, numpy as np
x = gc.asarray(np.linspace(0.25, 0.75, 40))
for t in ("f4", "f8", "c8", "c16"):
    v = x.astype(t)
    print([np.asarray(f(v)).tobytes().hex() for f in (gc.exp, gc.log, gc.sin, gc.cos, gc.tan, gc.tanh, gc.arctan)], np.asarray(v ** v[::-1].copy()).tobytes().hex())
for t in ("f4", "f8"):
    v = x.astype(t)
    print([np.asarray(f(v)).tobytes().hex() for f in (gc.exp2, gc.expm1, gc.log2, gc.log10, gc.log1p, gc.arcsin, gc.arccos, gc.sinh, gc.cbrt)])
    print([np.asarray(f(v, v[::-1].copy())).tobytes().hex() for f in (gc.arctan2, gc.hypot, gc.logaddexp)])
print(gc._graphc.counters()["kernels_compiled"])
"""


def test_elementary_functions_of_a_first_process_compile_nothing_and_have_the_bits_of_compiled_ones(tmp_path):
    """Their programs come with the compiler, for two sets of features; GRAPHC_CACHE=off compiles them."""

    def lines(**settings):
        environment = {**os.environ, "GRAPHC_CACHE_DIR": str(tmp_path / "new"), **settings}
        return subprocess.run([sys.executable, "-c", FIRST_UNITS], env=environment, capture_output=True, text=True, check=True).stdout.splitlines()

    features = gc._graphc.build_info()["cpu_features"].split(",")
    *first, compiled = lines(GRAPHC_CACHE="rw")
    *again, all_compiled = lines(GRAPHC_CACHE="off")
    assert first == again and int(all_compiled) > 30
    if {"avx2", "fma"} <= set(features):
        *narrow, compiled_narrow = lines(GRAPHC_CACHE="rw", GRAPHC_CPU_FEATURES="avx2,fma")
        assert narrow == first and compiled == compiled_narrow == "0"


def test_small_programs_are_interpreted_until_compiling_pays():
    """The bits are the same before and after."""
    a, b = np.linspace(-1, 1, 61 * 50).reshape(61, 50), np.linspace(0.5, 2, 61 * 45).reshape(61, 45)
    x, y, few = gc.asarray(a), gc.asarray(b), gc.asarray(np.arange(3000.0))
    before, seen = gc._graphc.counters()["kernels_compiled"], set()
    for _ in range(40):
        seen.add(np.asarray(x.T @ y).tobytes() + np.asarray(few * 1.171875 - few / 3).tobytes())
    assert gc._graphc.counters()["kernels_compiled"] == before and len(seen) == 1
    made = x.T @ y, few * 1.171875 - few / 3
    gc.eval(*made)  # by a program
    assert b"".join(np.asarray(m).tobytes() for m in made) in seen


@pytest.mark.parametrize("dtype", INTEGERS[1:])
def test_first_counts_of_bits_compile_nothing(dtype):
    with np.errstate(over="ignore"):
        a = (np.arange(600) * 2654435761).astype(dtype).reshape(20, 30)
    x, before = gc.asarray(a), gc._graphc.counters()["kernels_compiled"]

    def counts(xp, v):
        return [xp.bitwise_count(v ^ v[::-1]), xp.bitwise_count(v[:, ::-2] & 77).sum(axis=0), xp.bitwise_count(v * 0), (v + v[3, 4]).sum() + xp.bitwise_count(v << 1).sum()]

    seen = [np.asarray(m) for m in counts(gc, x)]
    assert gc._graphc.counters()["kernels_compiled"] == before
    kernels = counts(gc, x)
    gc.eval(*kernels)
    for want, loop, kernel in zip(counts(np, a), seen, kernels, strict=True):
        assert loop.dtype == want.dtype and loop.tobytes() == want.tobytes() == np.asarray(kernel).tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_first_extremes_that_are_infinite_compile_nothing(dtype):
    """An extreme meets no error: what its operand has goes on silently."""
    a = np.linspace(-2, 3, 4000).astype(dtype).reshape(40, 100)
    a[3], a[5, 7], a[:, 9] = np.inf, -np.inf, np.inf
    x, before = gc.asarray(a), gc._graphc.counters()["kernels_compiled"]

    def extremes(xp, v):
        return [(v * 2).min(axis=0), (v + 1).max(axis=1), xp.isfinite((v - 1).min(axis=1)) & (v.argmin(axis=1) == 2), xp.minimum.accumulate(v * 3, axis=1), xp.maximum.accumulate(v[:, 9] - 2)]

    with np.errstate(all="raise"):
        want, seen = extremes(np, a), [np.asarray(m) for m in extremes(gc, x)]
    assert gc._graphc.counters()["kernels_compiled"] == before
    for theirs, ours in zip(want, seen, strict=True):
        assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()


PLACES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def written(xp, a, p, values):
    """Arrays that steps of a program write over where nothing else reads them, and copy where something does."""
    seen = []
    x = a * 2
    for k in range(3):
        kept = x
        x = x + 1
        x[p] = values + k
        x[1:-1] = (x[:-2] + x[2:]) * 0.5
        x[2:] = x[:-2]
        x[::-2] -= kept[::2] if a.size % 2 else kept[1::2]
        seen += [kept * 1, x.copy()]
    view, x = x[3:9], x * 0.5
    view[...] = -1
    m = xp.concatenate([x[:12], x[:12]]).reshape(4, 6)
    m[p[:3] % 4, 1:3] = m[1:4, 4:] * 2
    m[:, [4, 0]] = 7
    m[:, None, [1, 3]][0] += 1
    return [*seen, view.copy(), x, m, m[p[:5] % 4], m[:, p[:4] % 6], m[p[:3] % 4, :][:, ::-1], m[1:, p[:2] % 6].T, m.T[p[:2] % 6]]


@pytest.mark.parametrize("dtype", PLACES)
def test_first_writes_at_places_are_in_numpys_order(dtype):
    rng = np.random.default_rng(3)
    a, p, values = rng.random(101), rng.integers(0, 101, 60).astype(dtype), rng.random(60)
    x, q, w = gc.asarray(a), gc.asarray(p), gc.asarray(values)
    gc.eval(x, q, w)
    before = gc._graphc.counters()["kernels_compiled"]
    made = [np.asarray(v) for v in written(gc, x, q, w)]
    assert gc._graphc.counters()["kernels_compiled"] == before
    for seen, want in zip(made, written(np, a, p, values), strict=True):
        assert seen.shape == want.shape and np.array_equal(seen, want)


COMBINED = [(name, dtype) for name in ("add", "subtract", "multiply", "maximum", "minimum", "logical_or") for dtype in (*INTEGERS, "f4", "f8")]
COMBINED.remove(("subtract", "b1"))  # which NumPy refuses


@pytest.mark.parametrize("name, dtype", COMBINED)
def test_first_combinations_at_places_are_in_numpys_order(name, dtype):
    rng = np.random.default_rng(4)
    a, values, p = rng.integers(0, 2, 9).astype(dtype), rng.integers(0, 100, 5000).astype(dtype), rng.integers(-9, 9, 5000)
    if dtype in ("f4", "f8"):
        values = (values / 64 + 0.3).astype(dtype)
    x, y, q = gc.asarray(a), gc.asarray(values), gc.asarray(p)
    gc.eval(x, y, q)
    before = gc._graphc.counters()["kernels_compiled"]
    for target, of, at, xp in ((a, values, p, np), (x, y, q, gc)):
        getattr(xp, name).at(target, at[:200], of[:200])
        getattr(xp, name).at(target, at[::31], of[::31] * 1)
    assert np.asarray(x).tobytes() == a.tobytes()
    assert gc._graphc.counters()["kernels_compiled"] == before


def test_a_first_index_outside_of_its_axis_is_an_error_that_changes_nothing():
    x = gc.asarray(np.arange(50.0))
    for at in (50, -51, 2**40):
        q = gc.asarray(np.array([3, at, 4]))
        with pytest.raises(IndexError, match="out of bounds"):
            np.asarray((x * 2)[q])
        y = x * 3
        with pytest.raises(IndexError, match="out of bounds"):
            y[q] = 1.0
            np.asarray(y)
        assert np.array_equal(np.asarray(x), np.arange(50.0))
