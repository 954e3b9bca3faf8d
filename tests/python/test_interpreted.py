"""Small programs that were met seldom are computed without a compiler: the same bits, the same warnings."""

import resource
import warnings

import graphc as gc
import numpy as np
import pytest
from support.loops import in_turns

pytestmark = pytest.mark.graphc_only
NEVER = gc._graphc.NEVER


def operands():
    x = gc.asarray(np.linspace(-3, 5, 60).reshape(5, 12) ** 3)
    n = gc.asarray(np.arange(60).reshape(5, 12) * 7 % 11 - 4)
    return x, n, gc.asarray(np.linspace(0.1, 2, 12).astype("f4")), gc.asarray([3, 0, 4, 4])


def random():
    r = gc.random.default_rng(gc.random.Philox4x32(5))
    drawn = [r.random(12_000), r.normal(size=(90, 110)), r.standard_normal(9001, dtype="f4"), r.uniform(-1, 3, 5003), r.integers(0, 1000, 7000), r.permutation(6000)]
    drawn += [r.exponential(size=4999), r.integers(0, 200, 5000, dtype="u1"), r.random(8191, dtype="f4"), r.integers(-5, 1 << 40, (70, 80)), r.normal(gc.arange(5000.0), 0.5)]
    return (*drawn, *[g.random(3000) + 0 for g in r.spawn(2)])


def grid(x):
    """Of five dimensions, one of size 1, the last one broadcast."""
    return (x.ravel()[:12].reshape(2, 3, 1, 2, 1) / 3 + gc.arange(4, dtype=x.dtype)).astype(x.dtype)


def deep(x, depth):
    """Rows of so many numbers, of all magnitudes."""
    return x[..., -1:] / 7 + gc.sin(gc.arange(depth, dtype=x.dtype))


EXPRESSIONS = {
    "elementwise": lambda x, n, v, i: (x * x + 1) / (gc.abs(x) + 2) - n % 3,
    "functions": lambda x, n, v, i: gc.exp(-(x * x) / 100) * gc.sin(x) + gc.arctan2(x, 2.0),
    "comparisons": lambda x, n, v, i: gc.where((x > 1) & (n < 3), x, -n),
    "isnan": lambda x, n, v, i: gc.isnan(x) | gc.isfinite(x * 2),
    "float32": lambda x, n, v, i: gc.sqrt(v) * v[::-1] + 0.5,
    "sums": lambda x, n, v, i: (x.sum(), x.sum(axis=0), x.sum(axis=1, keepdims=True) * 2, n.sum(axis=0), v.mean(), (n > 0).sum()),
    "extremes": lambda x, n, v, i: (x.max(axis=1), n.min(), x.argmax(axis=0), n.argmin(), (x > 200).any(axis=1), (n > -9).all()),
    "spread": lambda x, n, v, i: (x.var(axis=0), x.std(), gc.median(x, axis=1), gc.ptp(n)),
    "scans": lambda x, n, v, i: (gc.cumsum(x, axis=1), gc.cumprod(v), gc.cumsum(n.T, axis=0)),
    "products": lambda x, n, v, i: (x @ x.T, x[0] @ x[1], x @ gc.ones(12), n @ n.T, gc.outer(v, v)),
    "movement": lambda x, n, v, i: (x.T[::2, ::-1] * 2, gc.roll(x, 3, axis=1) - x, x.reshape(3, 20).sum(axis=0), gc.flip(x) + 1, x[:, None] * x),
    "joins": lambda x, n, v, i: (gc.concatenate([x, x * 2]), gc.stack([v, v + 1], axis=1), gc.tile(v * 2, 2), gc.pad(x + 1, 2, mode="edge")),
    "places": lambda x, n, v, i: ((x + 1)[i, i + 2], (x * 2)[:, i], (n - 1)[1:, [0, -1]], gc.take_along_axis(x + 0, gc.argsort(x + 0, axis=1), 1), (x + 1)[:, None][i, 0]),
    "clipped": lambda x, n, v, i: (gc.clip(x, -20.5, 30), gc.clip(n + 0, -1, 3), gc.rint(x / 7), gc.floor(x), gc.ceil(v), gc.trunc(-x)),
    "bits": lambda x, n, v, i: (n << 2, n >> 1, ~n, n ^ 5, (n + 4).astype("u1") << 3, (n * 9).astype("i2") >> 2, n >> 70, gc.sign(n)),
    "narrow": lambda x, n, v, i: (n.astype("i1") * 50, n.astype("u2") + 7, n.astype("u8") // 3, n.astype("i2") % 5, (n + 9).astype("u4") > 8, n.astype("i1").astype("f4")),
    "whole numbers": lambda x, n, v, i: ((x * 3).astype(int), (v * 100).astype("u1"), (x / 9).astype("i2"), (x > 2).astype("i1"), n.astype(bool)),
    "larger": lambda x, n, v, i: ((gc.arange(20_000.0) * 0.5).sum(), gc.cumsum(gc.arange(9000.0, dtype="f4") / 7)[::500], gc.cumsum(gc.arange(3000.0) / 7)[::500], (gc.arange(30_000.0) / 7).sum(), (gc.arange(30_000.0) / 7).mean(), (gc.arange(30_000.0) / 7).var(), (gc.arange(12_000.0).reshape(120, 100) / 9).sum(axis=0), gc.outer(x[0], gc.arange(1000.0)).max(axis=0)[::100]),
    "long scans": lambda x, n, v, i: (gc.cumsum(gc.arange(13_001.0) / 7), gc.cumprod(1 + gc.arange(9000.0, dtype="f4") % 7 / 1e4), gc.cumsum(gc.arange(15_000.0).reshape(5000, 3) / 9, axis=0), gc.cumsum(gc.arange(18_000.0).reshape(2, 9000) / 3, axis=1), gc.maximum.accumulate(gc.arange(20_000.0) * 37 % 1009 / 7), gc.cumsum(gc.arange(8192.0) / 3), gc.cumsum(gc.arange(30_000) % 7)),
    "random": lambda x, n, v, i: random(),
    "recast": lambda x, n, v, i: ((x * 2).view("i8") >> 3, (v + 1).view("u4") ^ 5, (n - 1).view("f8") == 0, (n > 2).view("u1") + 3, x.T.copy().view("u8") & 255, gc.isclose(x, x + 1e-9), gc.nextafter(v, v + 1)),
    "empty": lambda x, n, v, i: (gc.concatenate([x[:0] + 1, x]), (x[:0] * 2 == x[:0]).all(), (n[:, :0] > 1).any(axis=1), (x[5:] + n[5:]).T, gc.stack([v[:0], v[:0] - 1]), x[:0].sum() + 1, (x[:, :0] + 1).sum(axis=1)),
    "rows": lambda x, n, v, i: ((x + 1)[i], (n * 2)[i, 1:4]),
    "beyond": lambda x, n, v, i: ((x * 9).astype("i1"), (x * 1e9).astype("u4"), (x * 1e30).astype(int), (v * 1e18).astype("i4"), (x * gc.inf).astype("i2"), (n * 1e38).astype("f4")),
    "numbers": lambda x, n, v, i: gc.full((3, 4), 2.5) * 2 + gc.arange(4) - gc.eye(3, 4),
    "casts": lambda x, n, v, i: (n.astype("f4") / 3, (n > 1).astype(int) * n, v.astype("f8") + x),
    "sorted": lambda x, n, v, i: (gc.sort(x * -1, axis=1), gc.argsort(n.ravel() * 2)[::5]),
    "complex": lambda x, n, v, i: (gc.exp(1j * x / 50) * (x + 2j), (x + 1j * n) @ (x.T - 1j), (x * 1j).sum(axis=1), (x + 1j).mean(), gc.abs(x - 1j), (v * 1j)[::-1] / (v + 1j), (x[0] + 1j) @ (x[1] - 2j)),
    "complex movement": lambda x, n, v, i: (gc.conj(x * 1j).T.reshape(-1), gc.concatenate([x + 1j, x]), gc.roll(x - 1j, 2, axis=1), gc.where(n > 0, x, 1j * x), (x + 1j)[i, i], (x * 1j).astype("complex64"), gc.real(x * (1 - 1j)), gc.imag(x * 2j), x * 1j == 0),
    "complex numbers": lambda x, n, v, i: (gc.zeros((3, 4), dtype=complex) + gc.arange(4), gc.full((2, 3), 2 - 1j) * 2, gc.full((), 1j) * gc.ones(3), gc.fft.fft(x), gc.fft.irfft(v), gc.sqrt(v - 1 + 0j), (v + 1j) ** 2),
    "questions": lambda x, n, v, i: (gc.isinf(x), gc.signbit(x * -1), gc.copysign(x, -x[::-1]), gc.sign(x - 1), gc.reciprocal(v), gc.sign(v - 1)),
    "batches": lambda x, n, v, i: (x.reshape(5, 3, 4) @ x.reshape(5, 4, 3), (x + 1).reshape(5, 1, 3, 4) @ v.astype("f8").reshape(2, 1, 6)[:, :, :4].mT, n.reshape(5, 4, 3) @ n.reshape(5, 3, 4), v.reshape(3, 2, 2) @ v[:4].reshape(2, 2)),
    "fused": lambda x, n, v, i: (gc._graphc.fma(x, x[::-1], 0.1), gc._graphc.fma(v, 3.0, v[::-1]), gc._graphc.fma(x[0], 1e-3, -(v.astype("f8")))),
    "groups": lambda x, n, v, i: tuple(f(c, axis=axes) for axes in ((0, 2), (0, 2, 4), (1, 3), (0, 3, 4)) for f in (gc.sum, gc.prod, gc.max, gc.mean) for c in (grid(x), grid(v), grid(n))),
    "groups of any": lambda x, n, v, i: ((grid(x) > 3).any(axis=(0, 2)), (grid(n) > -4).all(axis=(1, 3)), (grid(x) > 3).sum(axis=(0, 2, 4)), grid(x).var(axis=(0, 3)), grid(v.astype("f2")).sum(axis=(0, 2)), (grid(x) * 1j).sum(axis=(1, 4))),
    "bools": lambda x, n, v, i: ((x > 1) * (n < 3), (x > 1) + (n < 3), gc.minimum(x > 1, n < 3), gc.maximum(x > 1, n < 3), (n > 2) * (x[0] > 0)),
    "deep products": lambda x, n, v, i: (deep(x[:3], 2049) @ deep(x, 2049).T, deep(v[:3, None], 9000) @ deep(v[:9, None], 9000).T, deep(x, 20_000) @ deep(x[0], 20_000), deep(x[0], 4096) @ deep(x, 4096).T),
    "solved": lambda x, n, v, i: gc.linalg.solve(x @ x.T + gc.eye(5) * 100, x[:, 0] + 1),
}


def updated(x, n, v, i):
    x = x + 0
    x[1:3, ::2] = v[::2] * 2
    x[0] += 1
    x[:, -1] -= x[:, 0]
    return x * 2


def placed(x, n, v, i):
    x, n = x + 0, n + 0
    x[i, i] = v[:4]
    x[gc.asarray([0, 0, 2]), 1:3] += 2.5
    gc.add.at(n, i + 1 - 1, 3)
    n[:, gc.asarray([1, 5]) + 0] = gc.asarray([[7], [8], [9], [10], [11]]) * 2
    x[x > 100] = -1
    return x * 2, n * 2


def updated_parts(x, n, v, i):
    z = gc.zeros((5, 12), dtype=complex)
    z[1:3] = x[1:3] * (1 + 2j)
    z[:, 0] += n[:, 0] - 1j
    z[0, 1:4] = 3 - 1j
    z.real[2] = x[0]
    z[3:] *= 1j
    return z - 1, z.imag * 2


EXPRESSIONS |= {"updates": updated, "placed": placed, "complex updates": updated_parts}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_bits_of_programs(name):
    def values():
        made = EXPRESSIONS[name](*operands())
        return [np.array(m) for m in (made if isinstance(made, tuple) else (made,))]

    recorded = in_turns(NEVER, values)
    for turns in (16, 0):  # programs that were met seldom, and lines that are loops
        for a, b in zip(in_turns(turns, values), recorded, strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def test_programs_met_often_are_compiled():
    x = gc.asarray(np.arange(40.0))
    x.eval()

    def run():
        return (x * 3.25 + 17 - x / 3).tolist()

    met = [(run(), gc.cache_info()["programs_run"])[1] for _ in range(300)]
    assert met[0] == met[-1]  # by loops
    again = gc.cache_info()["programs_run"]
    (x * 3.25 + 17 - x / 3).eval()  # whoever asks by name gets the program
    assert gc.cache_info()["programs_run"] == again + 1


def test_what_they_meet_is_told():
    def said(function):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function().tolist()
        return [str(w.message) for w in caught]

    assert said(lambda: (gc.arange(5.0) - 2) * 3 / (gc.arange(5.0) - 4)) == ["divide by zero encountered in divide"]
    assert said(lambda: gc.sqrt(gc.arange(5.0) - 2) + 1) == ["invalid value encountered in sqrt"]
    with pytest.raises(IndexError, match="test_interpreted"):
        (gc.arange(5.0) * 2)[gc.asarray([1, 2]) * 3 + 1].tolist()


def distances(p):
    """Each pass meets infinities that are no errors, an error that is ignored, and two that are told."""
    d = p[:, None] - p[None, :]
    r = (d * d).sum(axis=2)
    gc.fill_diagonal(r, gc.inf)
    with gc.errstate(all="ignore"):
        s = (r - r).sum(axis=0)
    return (1 / (r * r)).sum(axis=1), gc.sqrt(p[:, 0]) + 1, 2 / (d * 2), s != s


def test_programs_that_meet_infinities_need_no_compiler():
    points = np.linspace(-1, 2, 30).reshape(10, 3) ** 3

    def told(turns):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = in_turns(turns, lambda: [np.array(m) for m in distances(gc.asarray(points))])
        return [m.tobytes() for m in made], [(str(w.message), w.lineno) for w in caught]

    before = gc._graphc.counters()["kernels_compiled"]
    seen = told(NEVER - 1)  # no line of these is a loop
    assert gc._graphc.counters()["kernels_compiled"] == before
    assert {text for text, _ in seen[1]} == {"invalid value encountered in sqrt", "divide by zero encountered in divide"}
    assert told(NEVER) == seen


def test_loops_over_many_values_need_no_compiler():
    """Turns that nobody looks at are one program, of more values than its first run could keep."""
    before = gc._graphc.counters()["kernels_compiled"]

    def run():
        x = gc.asarray(np.linspace(0.5, 2, 120_000).reshape(300, 400))
        gc.eval(x)
        y = x
        for k in range(40):
            y = (y * 0.75 + x * 0.25) - k
        return y

    seen = in_turns(NEVER - 1, lambda: np.array(run()))
    assert gc._graphc.counters()["kernels_compiled"] == before
    asked = in_turns(NEVER, run)
    gc.eval(asked)
    assert np.asarray(asked).tobytes() == seen.tobytes()


def test_complex_programs_need_no_compiler():
    x = gc.asarray(np.linspace(0.5, 2, 40).reshape(8, 5))
    gc.eval(x)

    def run():
        z = x * (1 - 2j) + 1j
        z = z @ gc.conj(z).T
        return (z - z.sum(axis=0) / 3).tolist()

    before = gc._graphc.counters()["kernels_compiled"]
    seen = in_turns(NEVER - 1, run)
    assert gc._graphc.counters()["kernels_compiled"] == before
    z = np.asarray(x) * (1 - 2j) + 1j
    z = z @ z.conj().T
    np.testing.assert_allclose(seen, z - z.sum(axis=0) / 3, rtol=1e-13)


@pytest.mark.parametrize("call", [
    "gc._graphc.fma(x, x[::-1], 0.5)", "x.reshape(2, 4, 5) @ x.reshape(2, 5, 4)", "gc.isfinite(x).all()", "gc.sign(x - 1)", "gc.array_equal(x, x + 0)", "gc.random.default_rng(gc.random.Philox4x32(3)).random(7)",
    "gc.random.default_rng(gc.random.Philox4x32(3)).integers(0, 9, (4, 5))", "gc.random.default_rng(gc.random.Philox4x32(3)).permutation(20)", "gc.gcd(n, 12)", "gc.bitwise_count(n)", "gc.packbits(n > 3)", "gc.lcm(n, n[::-1])",
    "x.reshape(2, 4, 5).sum(axis=(0, 2))", "x.reshape(2, 4, 5).mean(axis=(0, 2))", "(x > 1) * (x < 1.5) + (n > 3)[:, None]", "gc.ones((3, 5000)) @ gc.arange(10000.0).reshape(5000, 2)", "gc.ones((150, 150)) @ gc.eye(150)", "(x * 1j)[gc.asarray([3, 0, 3]) + 0, 1:4]",
])  # fmt: skip
def test_calls_that_need_no_compiler(call):
    x, n = gc.asarray(np.linspace(0.5, 2, 40).reshape(8, 5)), gc.asarray(np.arange(8))
    gc.eval(x, n)
    before = gc._graphc.counters()["kernels_compiled"]
    names = {"gc": gc, "x": x, "n": n}
    seen = in_turns(NEVER - 1, lambda: np.asarray(eval(call, names)))  # no line of these is a loop
    assert gc._graphc.counters()["kernels_compiled"] == before
    recorded = in_turns(NEVER, lambda: np.asarray(eval(call, names)))
    assert (recorded.dtype, recorded.tobytes()) == (seen.dtype, seen.tobytes())


def test_windows_need_no_compiler():
    """Their places are sums of a few, not of as many as they show: three such convolutions were too much for a first run, which asked the disk."""
    x, w = (gc.asarray(np.random.RandomState(3).standard_normal(s)) for s in ((16, 8, 8, 8), (8, 4, 3, 3)))
    gc.eval(x, w)

    def run(xp, x, w):
        for _ in range(3):
            windows = xp.lib.stride_tricks.sliding_window_view(xp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
            y = xp.tensordot(windows, w, axes=([1, 4, 5], [0, 2, 3])).transpose(0, 3, 1, 2)
            x = xp.concatenate([y, y * 0.5], axis=1) + x
        return x

    before = gc._graphc.counters()
    seen = in_turns(NEVER - 1, lambda: np.array(run(gc, x, w)))  # no line of these is a loop
    after = gc._graphc.counters()
    assert [after[name] - before[name] for name in ("kernels_compiled", "disk_misses")] == [0, 0]
    asked = in_turns(NEVER, lambda: run(gc, x, w))
    gc.eval(asked)
    assert np.asarray(asked).tobytes() == seen.tobytes()
    np.testing.assert_allclose(seen, run(np, np.asarray(x), np.asarray(w)), rtol=1e-11, atol=1e-11)


def test_long_programs_need_no_compiler():
    """Six hundred operations on few elements, seen for the first time; their program has the same bits."""

    def run():
        x = gc.asarray(np.linspace(0.5, 2, 40).reshape(8, 5))
        gc.eval(x)
        y = x
        for k in range(100):
            y = (y * 0.75 + y[::-1] * 0.25) - y.mean(axis=0) / (3 + k)
        return y

    before = gc._graphc.counters()["kernels_compiled"]
    seen = in_turns(NEVER - 1, lambda: np.array(run()))  # no line of these is a loop
    assert gc._graphc.counters()["kernels_compiled"] == before
    asked = in_turns(NEVER, run)
    gc.eval(asked)
    assert np.asarray(asked).tobytes() == seen.tobytes()


def test_parts_of_rows_are_copied_to_memory_of_the_thread():
    """The system gives memory page by page, which takes as long as the loop: a loop asks for it once."""
    x, w = gc.asarray(np.random.default_rng(0).random((256, 260))), np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16

    def blurred():
        return float(sum(w[i] * x[:, i:i + 256] for i in range(5))[3, 3])

    run = gc._graphc.counters()["programs_run"]
    blurred()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        blurred()
    pages = x.nbytes // resource.getpagesize()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 5 * pages
    assert gc._graphc.counters()["programs_run"] == run
