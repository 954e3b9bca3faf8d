"""Every op on every dtype gives the same bits on every device as on the CPU.

The bits on the CPU are checked against NumPy and the canonical trees in tests/python; here equality is the whole
criterion (NaN payloads aside). Many ops are outputs of one evaluation, since drivers take long to build a kernel.
"""

import graphc as gc
import numpy as np
import pytest
from support import edge, exact, optable
from support.ops import accepted, apply
from support.programs import Program

pytestmark = pytest.mark.graphc_only


def has_float64(device):
    return device == "null" or next(d for d in gc.devices() if d == device).fp64


def usable(device, dtype):
    if np.dtype(dtype) == np.float64 and not has_float64(device):
        pytest.skip(f"{device} has no float64")


def on(device, arrays):
    return [gc.asarray(a, device=device) for a in arrays]


def needs_float64(op, dtype):
    return dtype == "float64" or (op.promote_to_float and dtype not in ("float16", "float32"))


def compare(device, build, what):
    """`build(device)` returns named arrays; those of `device` must equal the CPU's.

    The null device runs no kernel: there the whole path around kernels must hold, and every new buffer is zero.
    """
    want, got = build("cpu"), build(device)
    assert want.keys() == got.keys() and want
    gc.eval(list(want.values()))
    gc.eval(list(got.values()))
    for name, g in got.items():
        assert g.device == device
        if device == "null":
            assert (g.shape, g.dtype) == (want[name].shape, want[name].dtype), f"{what}: {name}"
            continue
        exact.assert_same(g.to_device("cpu"), want[name], f"{what}: {name} on {device}")


@pytest.mark.parametrize("dtype", edge.DTYPES)
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_elementwise(device, arity, dtype):
    if dtype == "float64":
        usable(device, dtype)
    fp64 = has_float64(device)
    ops = [op for op in accepted(arity, dtype) if fp64 or not needs_float64(op, dtype)]
    plain = edge.grid(arity, dtype)
    chosen = [plain[0] != 0] + plain[1:]

    def build(where):
        arrays = {False: on(where, plain), True: on(where, chosen)}
        return {op.name: apply(op, arrays[op.name == "select"]) for op in ops}

    compare(device, build, dtype)


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_ops_alone_equal_ops_together(dtype):
    """One kernel an op against one kernel for all: fusion must not change a bit."""
    if dtype not in ("float32", "float64", "int16", "uint64"):
        pytest.skip("four dtypes stand for the rest")
    arrays = [gc.asarray(a) for a in edge.grid(2, dtype)]
    ops = accepted(2, dtype)
    together = [apply(op, arrays) for op in ops]
    gc.eval(together)
    for op, fused in zip(ops, together):
        exact.assert_same(apply(op, arrays), np.asarray(fused), op.name)


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_elementary_functions(device, dtype):
    usable(device, dtype)
    rng = np.random.default_rng(90)
    spread = 2.0 ** rng.uniform(-140 if dtype == "float32" else -1060, 120, 20_000) * rng.choice([-1, 1], 20_000)
    x = np.concatenate([rng.uniform(-20, 20, 20_000), rng.uniform(-1e5, 1e5, 10_000), spread]).astype(dtype)
    y = np.roll(x, 1)
    ops = [op for op in optable.elementwise() if op.ulp_f32]

    def build(where):
        arrays = on(where, [x, y])
        return {op.name: apply(op, arrays[: op.arity]) for op in ops}

    compare(device, build, dtype)


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_casts(device, dtype):
    usable(device, dtype)
    fp64 = has_float64(device)
    x = edge.values(dtype)

    def build(where):
        (g,) = on(where, [x])
        return {t: gc.astype(g, t) for t in edge.DTYPES if t != "float64" or fp64}

    compare(device, build, f"from {dtype}")


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_bits_as_other_dtypes(device, dtype):
    usable(device, dtype)
    fp64 = has_float64(device)
    x = np.resize(edge.values(dtype), (6, 8))
    numbers = [t for t in edge.DTYPES if t != "bool" and (t != "float64" or fp64)]

    def build(where):
        (g,) = on(where, [x])
        written = {t: g.copy() for t in numbers if dtype != "bool"}  # which is read-only as another
        for t, copy in written.items():
            copy.view(t)[..., 0] = copy.view(t)[..., -1]
        return {f"as {t}": g.view(t) for t in numbers} | {f"written as {t}": g for t, g in written.items()}

    compare(device, build, f"bits of {dtype}")


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_fourier_transforms(device, dtype):
    usable(device, dtype)
    rng = np.random.default_rng(3)
    x = [rng.standard_normal((3, n)).astype(dtype) for n in (8, 12, 17, 128)]

    def build(where):
        out = {}
        for real in on(where, x):
            n, spectrum = real.shape[1], gc.fft.rfft(real)
            z = gc.fft.ifft(real)
            for name, y in {"rfft": spectrum, "irfft": gc.fft.irfft(spectrum, n), "ifft": z, "fft": gc.fft.fft(z)}.items():
                out.update({f"{name} {n} real": y.real, f"{name} {n} imag": y.imag} if y.dtype.kind == "c" else {f"{name} {n}": y})
        return out

    compare(device, build, "fft")


REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "mean", "argmin", "argmax")


def reduction_outputs(g, axis, names):
    return {n: getattr(gc, n)(g, axis=axis) for n in names}


@pytest.mark.parametrize("dtype", edge.DTYPES)
@pytest.mark.parametrize("shape,axis", [((7, 300), 1), ((300, 7), 0), ((5, 33), None), ((3, 40, 2), 1)], ids=str)
def test_reductions_of_edge_values(device, dtype, shape, axis):
    usable(device, dtype)
    fp64 = has_float64(device)
    names = [n for n in REDUCTIONS if fp64 or not (n == "mean" and dtype not in ("float16", "float32"))]
    x = np.random.default_rng(91).choice(edge.values(dtype), shape)
    compare(device, lambda where: reduction_outputs(on(where, [x])[0], axis, names), f"{dtype} {shape}")


@pytest.mark.parametrize("dtype", edge.FLOATS)
@pytest.mark.parametrize(
    "shape,axis",
    [
        ((3, 8193), 1), ((2, 3 * 8192 + 5), 1), ((1025, 5), 0), ((70_001,), None), ((4, 255), 1), ((256 * 8192 + 9,), None),
        ((37, 11, 13), (0, 2)), ((5, 0), 1), ((1, 1), None),
    ],
    ids=str,
)  # fmt: skip
def test_float_sums_of_many_sizes(device, dtype, shape, axis):
    usable(device, dtype)
    if dtype == "float64" and np.prod(shape) > 1e6:
        pytest.skip("float32 covers the third level of the tree")
    rng = np.random.default_rng(92)
    x = (rng.normal(size=shape) * 2.0 ** rng.integers(-6, 6, shape)).astype(dtype)
    compare(device, lambda where: reduction_outputs(on(where, [x])[0], axis, ("sum", "mean")), f"{dtype} {shape}")


@pytest.mark.parametrize("dtype", [d for d in edge.DTYPES if d != "bool"])
@pytest.mark.parametrize("shape,axis", [((7, 300), 1), ((300, 7), 0), ((2, 9000), 1), ((9000, 2), 0), ((3, 40, 2), 1)], ids=str)
def test_scans(device, dtype, shape, axis):
    usable(device, dtype)
    rng = np.random.default_rng(96)
    x = rng.normal(size=shape).astype(dtype) if dtype in edge.CLASSES["Floating"] else rng.integers(0, 100, shape).astype(dtype)

    def build(where):
        (g,) = on(where, [x])
        return {
            "sum": gc.cumsum(g, axis=axis, dtype=dtype), "product": gc.cumprod(g, axis=axis, dtype=dtype),
            "least": gc.minimum.accumulate(g, axis), "largest": gc.maximum.accumulate(g, axis),
        }  # fmt: skip

    compare(device, build, f"{dtype} {shape}")


def test_row_local_programs(device):
    x = np.random.default_rng(93).normal(size=(33, 515)).astype("f4")

    def build(where):
        (g,) = on(where, [x])
        e = gc.exp(g - gc.max(g, axis=1, keepdims=True))
        centred = g - gc.mean(g, axis=1, keepdims=True)
        return {
            "softmax": e / gc.sum(e, axis=1, keepdims=True),
            "layernorm": centred / gc.sqrt(gc.mean(centred * centred, axis=1, keepdims=True) + 1e-5),
            "columns": gc.sum(gc.tanh(g) * g, axis=0),
        }

    compare(device, build, "rows")


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_matmul(device, dtype):
    usable(device, dtype)
    rng = np.random.default_rng(94)
    pairs = {}
    for m, k, n in ((1, 1, 1), (17, 31, 9), (65, 70, 66), (2, 2049, 3)):
        make = (lambda s: rng.normal(size=s).astype(dtype)) if dtype in edge.CLASSES["Floating"] else (lambda s: rng.integers(0, 100, s).astype(dtype))
        pairs[f"{m}x{k}x{n}"] = (make((m, k)), make((k, n)))

    def build(where):
        return {name: gc.matmul(*on(where, pair)) for name, pair in pairs.items()}

    compare(device, build, dtype)


def test_batched_matmul_with_prologue_and_epilogue(device):
    rng = np.random.default_rng(95)
    x, y = rng.normal(size=(3, 20, 40)).astype("f4"), rng.normal(size=(40, 12)).astype("f4")

    def build(where):
        g, h = on(where, [x, y])
        return {"chain": gc.tanh((g * 2) @ h[::-1] + 1), "transposed": gc.permute_dims(g, (0, 2, 1)) @ g}

    compare(device, build, "matmul")


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_movement_and_updates(device, dtype):
    usable(device, dtype)
    x = np.resize(edge.values(dtype), (6, 8))

    def build(where):
        (g,) = on(where, [x])
        u = g.copy()
        u[1:5, ::2] = g[::-1][1:5, ::2]
        u[0] = g[2]
        u[:, 1] = g[:, 0]
        return {
            "transpose": g.T + gc.zeros((), dtype, device=where) if dtype != "bool" else g.T.copy(),
            "slices": g[::-2, 1::3].copy(),
            "reshape": g.reshape(4, 12).T.reshape(8, 6),
            "concatenate": gc.concatenate([g, u[:2]], axis=0),
            "broadcast": gc.broadcast_to(g[:, :1], (6, 5)).copy(),
            "flip": gc.flip(g, axis=1).copy(),
            "updates": u,
            "where": gc.where(g == u, g, u),
        }

    compare(device, build, dtype)


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_places(device, dtype):
    """Gathers and scatters: places that are values."""
    usable(device, dtype)
    rng = np.random.default_rng(97)
    x = np.resize(edge.values(dtype), (60, 8))
    rows, columns = rng.integers(-60, 60, (40, 5)).astype("i4"), rng.integers(-8, 8, (5,)).astype("i2")
    mask = rng.random((60, 8)) < 0.4

    def build(where):
        g, i, j, m = on(where, [x, rows, columns, mask])
        written, summed, chosen = g.copy(), g.copy(), g.copy()
        written[i[:, 0], ::-1] = g[:40]
        chosen[m] = g[3, 4]
        if dtype != "bool":
            gc._graphc.scatter(summed, (i, j), g[i, j], "add")
        out = {
            "rows": g[i],
            "points": g[i, j],
            "columns": g[:, j[:, None]],
            "turned": g.T[j, ::-2],
            "fused": gc.where(g[i + 0, j] == g[0, 0], g[1, 1], g[i, j]),
            "written": written,
            "summed": summed,
            "chosen": chosen,
        }
        if device != "null":
            out |= {"masked": g[m], "places": gc.flatnonzero(m)}
        return out

    compare(device, build, dtype)


@pytest.mark.parametrize("seed", range(300, 306))
def test_random_programs(device, seed):
    program = Program(seed, length=12)

    def build(where):
        pool = program.run(gc, on(where, program.sources))
        return {f"entry {i}": x for i, x in enumerate(pool)}

    with gc.device(device):
        compare(device, build, str(program))


def test_generators(device):
    def build(where):
        with gc.device(where):
            return {
                "arange": gc.arange(1000, dtype="int32") * 3,
                "linspace": gc.linspace(0, 1, 77, dtype="float32"),
                "eye": gc.eye(5, dtype="int8"),
                "full": gc.full((3, 4), 2.5, dtype="float32"),
            }

    if not has_float64(device):
        pytest.skip("linspace computes in float64")
    compare(device, build, "generators")


def test_sizes_vary_without_another_program(device):
    def once(n):
        x = np.arange(n, dtype="f4")
        g = gc.asarray(x, device=device)
        total = np.float32(0 if device == "null" else (x.astype("f8") * 2 + 1).sum())
        return np.asarray(gc.sum(g * 2 + 1)), total

    for n in (10, 11, 500):
        got, want = once(n)
        assert got == want
    before = gc.cache_info()["kernels_compiled"]
    for n in (12, 777):
        got, want = once(n)
        assert got == want
    assert gc.cache_info()["kernels_compiled"] == before
