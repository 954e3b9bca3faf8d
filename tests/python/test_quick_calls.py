"""Calls that C functions take where their arguments are plain, and what is looked up, parted, raised and folded in loops: values, dtypes,
aliases and errors are NumPy's, whether an operation is recorded or computed when it is met."""

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.loops import KINDS, assert_same, in_turns, of_kind

pytestmark = pytest.mark.graphc_only


@pytest.fixture(params=KINDS)
def turns(request):
    with of_kind(request.param):
        yield request.param


def space(np_):
    i = np.array([3, 0, 7, 7, -2, 12, 3, 1])
    rng = np.random.default_rng(3)
    made = {
        "i": i, "e": np.abs(i) % 5, "j": np.where(i == 0, 1, i), "f": i * 0.5, "w": np.arange(12.0).reshape(3, 4) % 5, "s": np.array([-np.inf, -1, 0, 0, 2.5, 2.5, 7, np.nan, np.nan]),
        "t": np.arange(24.0).reshape(2, 3, 4), "z": rng.integers(0, 3, 300) + 1j * rng.integers(0, 9, 300), "m": i > 2, "r": rng.integers(0, 40, 300).astype(float), "c": np.zeros(4), "k": np.zeros(3, "i4"),
    }  # fmt: skip
    return {"np": np_, **{name: np_.array(value) for name, value in made.items()}}


CALLS = [
    *(f"s.searchsorted({v})" for v in ("0", "0.0", "-0.0", "2.5", "np.float64(7)", "100", "-np.inf", "np.nan", "np.float32(2.5)", "s[4]", "i[3]", "True", "2**53 + 1", "1e-320", "[2.5, 0]")),
    *(f"s.searchsorted({v}, 'right')" for v in ("0", "2.5", "np.nan", "-np.inf")), "np.searchsorted(s, 2.5, side='right')", "np.searchsorted(s, v=0)", "s[::-1][2:].searchsorted(0.0)", "s[:0].searchsorted(1.0)",
    *(f"s.astype('{t}').searchsorted({v})" for t in ("f4", "f2") for v in ("0.1", "2.5", "2", "2**24 + 1", "np.float32(0.1)", "-np.inf")),
    *(f"np.sort(i.astype('{t}')).searchsorted({v})" for t in ("i1", "u1", "i8", "u8", "b1") for v in ("3", "-1", "300", "2.5", "i[2]", "i.astype('i1')[2]", "True")), "np.sort(z).searchsorted(1 + 2j)", "np.searchsorted([1, 2, 3], 2)",
    *(f"np.{name}({a}, {b})" for name in ("may_share_memory", "shares_memory") for a, b in (("i", "i"), ("i", "f"), ("i[:3]", "i[3:]"), ("i[::2]", "i[1::2]"), ("w[0]", "w"), ("w.T", "w[1:, 2]"), ("w[:0]", "w"), ("w[:, 0]", "w[:, 1:]"), ("i", "np.asarray(i)"), ("i", "i + 0"))),
    "np.may_share_memory(i, i, max_work=0)", "np.shares_memory(i[::2], i[1::2], None)", "np.may_share_memory(i, 3)",
    *(f"np.sort(np.partition({x}, {k})[{part}])" for x in ("r", "z", "z.real", "(z * 2).astype('c8')") for k, part in (("[1, 100, -3]", "101:-3"), ("(5,)", ":5"), ("(-1, 40, 40)", "41:-1"), ("7", "8:"), ("[250, 3]", "4:250"))),
    *(f"np.partition({x}, [3, 200])[[3, 200]]" for x in ("r", "z", "z.astype('c8')")), *(f"{x}[np.argpartition({x}, (0, 9, -1))][[0, 9, -1]]" for x in ("r", "z", "r.astype('i2')", "z.astype('c8')")),
    "np.sort(z)", "np.argsort(z, kind='stable')", "np.sort(z.astype('c8'))", "np.sort(z[::-1])[::-1]", "np.sort(np.partition(i, []))", "np.partition(i, np.array([1, 2]))[[1, 2]]",
    *(f"np.reciprocal({x})" for x in ("j", "j.astype('i1')", "j[::2]", "np.abs(j).astype('u2')", "j[0]", "j.reshape(2, 4).T", "f + 1")), "np.reciprocal(j, out=e)", "np.reciprocal(m | ~m)",
    *(f"np.angle({x})" for x in ("i", "i.astype('i4')", "i.astype('i1')", "np.abs(i).astype('u8')", "f", "-f", "f.astype('f4')", "m", "i[4]", "f[4]", "z[:5]", "w.T.astype(int)", "i[:0]")), "np.angle(i, deg=True)",
    *(f"{x} ** {y}" for x in ("i", "i.astype('i1')", "np.abs(i).astype('u4')", "i[::2]", "i.reshape(2, 4).T") for y in ("0", "1", "3", "7", "65")), "i ** e", "e ** e", "2 ** e", "i ** e[::-1]", "np.power(i, 5)", "np.power(i, e)", "i ** i[3]",
    "m ** 3", "f ** 3", "f ** e", "(f + 3) ** f", "i.astype('i2') ** 5", "i ** 2.0", "(i + 0j) ** 3", "np.power(f + 3, 0.5)", "(e + 0.5) ** -1", "(e + 0.5) ** 1", "i.reshape(2, 4) ** e[:4]",
    *(f"np.power.reduce({x})" for x in ("e[:3]", "e[1:2]", "e")),
    *(f"np.{name}(w, axis={axis}, out={out})" for name in ("sum", "prod", "max", "min", "any", "all") for axis, out in ((0, "c"), (1, "w[:, 1]"), (1, "k"))), "w.sum(0, out=c)", "w.max(axis=1, out=w[:, 0])", "np.sum(w, 0, None, c)",
    "np.sum(i, out=np.zeros((), int))", "w.sum(1, out=k)", "np.add.reduce(w, 0, out=c)", "w.sum(0, out=c, keepdims=True)", "m.sum(out=np.array(0))",
    *(f"np.{name}.reduceat({x}, {starts})" for name in ("add", "multiply", "maximum", "minimum", "logical_and", "subtract") for x, starts in (("f", "[0, 2, 5]"), ("i", "np.array([3, 1, 7])"), ("w", "(0, 2)"), ("m", "[0, 3]"))),
    *(f"np.add.reduceat(f, {starts})" for starts in ("[7]", "[8]", "[-1]", "[]", "[True]", "i[:2] % 8", "[[0]]", "[0, 2], 0", "[0, 2], dtype='f4'")), "np.add.reduceat(i.astype('i1'), [0, 4])", "np.add.reduceat(f[::2], [1, 2])",
    *(f"{x}.astype('{t}')" for x in ("m", "i", "f", "f + np.nan", "w.T", "i[::2]", "w[:, 1]", "f[:0]", "i.astype('u1')", "f * 1e30") for t in ("b1", "i4", "f4", "f8", "i8")), "m[::2].astype(int)", "m.view('i1').astype(bool)",
    *(f"{a} {op} {b}" for op in "+-*/" for a, b in (("np.float64(2.5)", "f"), ("np.float32(2.5)", "i"), ("np.int8(3)", "e"), ("np.complex128(1j)", "z[:9]"), ("np.complex64(1j)", "f"), ("np.float64(2.5)", "w.T"), ("np.uint8(200)", "i.astype('i1')"))),
    "np.float64(2) ** f", "np.float64(1) < f", "np.int64(3) // np.where(i == 0, 1, i)", "np.bool_(True) & m", "np.float64(2) * f[2]", "np.array(f)", "np.array(f[::2])", "np.array(m)", "np.array(f, 'f4')",
    *(f"np.{name}({x})" for name in ("rint", "fabs", "deg2rad") for x in ("f", "f.astype('f4')", "f.astype('f2')", "i", "i.astype('i1')", "i.astype('u8')", "m", "f[2]", "w.T", "-2.5", "3")), "f.__array_ufunc__(np.add, '__call__', f, 1)",
    "[r + 0 for r in w.T]", "[r[1] for r in t.T]", "w.T[1:, 0]", "w.T[:, None][1]", "t.transpose(2, 0, 1)[1, ::-1]", "t.T[..., 0].T[1]", "w[::2, ::-1][1][::2]", "w[:, 1:][:, ::-1][0]", "w[None][:, 1]", "w[None][0:0][..., 1]",
    "t[:, ::2].T[1:3, ::-1][0]", "t.swapaxes(0, 2)[1]", "t.T.T[1]", "w.T[5:][:, 1]", "w.T[::3][1][None]", "t[1:2].T[3, :, 0]",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_of_calls(call, turns):
    try:
        want = eval(call, space(np))
    except Exception as error:
        with pytest.raises(type(error)):
            eval(call, space(gc))
        return
    assert_same(eval(call, space(gc)), want)


UPDATES = [
    *(f"{x}.fill({v})" for x in ("f", "i", "z", "m", "w[:, 1]", "w.T", "k") for v in ("np.float64(2.5)", "True", "f[2]", "i[2]", "np.int8(3)", "1 + 2j", "np.complex128(2 - 1j)", "np.bool_(True)", "z[4]", "2", "'3'", "[1]", "np.array(4)")),
    "f[::2] += f[1::2]", "w[1:] *= 2", "w.T[1] -= w[:, 0]", "w[:, ::2] += w[:, 1::2]", "f[::-1] += f", "f[2:6] = f[2:6]", "f[2:6] = f[3:7]", "w[:2] = w.T[:2, :1].T[:, :1]", "f[:] = f", "w[::-1] += 1", "z[::3] *= 2j",
    "w.T[1:, 1] = 7", "w.T[2][::2] = [1, 2]", "t.T[1, 2] += 1", "t.transpose(2, 0, 1)[1][0] = 9", "i **= 3", "i **= e", "i[::2] **= 2",
]  # fmt: skip


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.filterwarnings("ignore")
def test_updates(update, turns):
    states = []
    for np_ in (gc, np):
        names = space(np_)
        kept = dict(names)
        try:
            exec(update, names)
            failed = None
        except Exception as error:
            failed = type(error)
        states.append([failed, *(np.asarray(x) for name, x in kept.items() if name not in ("np", "__builtins__"))])
    assert (states[0][0] is None) == (states[1][0] is None)
    assert_same(states[0][1:], states[1][1:])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [1, 2, 7, 200])
def test_folds_of_powers_are_those_of_the_operator(dtype, size):
    """One power after the other, from the left; where there is something to tell it is told."""
    for a in (np.linspace(0.5, 1.5, size), np.full(size, 1.0), np.linspace(0, 2, size), -np.arange(size) % 3 - 0.5):
        x = gc.asarray(a.astype(dtype))
        with np.errstate(all="ignore"), gc.errstate(all="ignore"):
            step = x[0]
            for value in x[1:]:
                step = gc.power(step, value)
            for kind in (0, gc._graphc.NEVER):
                exact.assert_same(in_turns(kind, lambda: np.asarray(gc.power.reduce(x))), np.asarray(step))
    with gc.errstate(all="raise"), pytest.raises(FloatingPointError):
        gc.power.reduce(gc.asarray(np.array([1e300, 2.0, 2.0])))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("size", [17, 100, 1500, 5000])
def test_complex_orders_and_partitions_with_equal_parts_and_nan(dtype, size):
    rng = np.random.default_rng(size)
    for parts in (3, 10**6):
        a = (rng.integers(0, parts, size) + 1j * rng.integers(0, parts, size)).astype(dtype)
        a[:: max(size // 9, 1)] = [complex(np.nan, 1), complex(1, np.nan), complex(-0.0, 2)] * 3 + [complex(0, 2)] * (len(a[:: max(size // 9, 1)]) - 9)
        x = gc.asarray(a)
        np.testing.assert_array_equal(np.asarray(gc.argsort(x)), np.argsort(a, kind="stable"))
        want = np.sort(a)
        for k in (0, size // 2, (1, size - 2, size // 3)):
            got, order = np.asarray(gc.partition(x, k)), np.asarray(gc.argpartition(x, k))
            assert_same(got[[k]] if type(k) is int else got[list(k)], want[[k]] if type(k) is int else want[list(k)])
            np.testing.assert_array_equal(np.sort(got), want)
            np.testing.assert_array_equal(np.sort(order), np.arange(size))
            assert_same(a[order][list(k) if type(k) is tuple else [k]], want[list(k) if type(k) is tuple else [k]])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_of_matrices_and_columns_keep_the_chains_of_kernels(dtype):
    """Also the signs of zeros, and beside infinities."""
    rng = np.random.default_rng(5)
    for rows, depth in ((16, 4), (17, 9), (33, 64), (100, 101), (48, 3)):
        a, v = rng.normal(size=(rows, depth)).astype(dtype), rng.normal(size=depth).astype(dtype)
        a[3, :2], v[0] = [-1e-30, -0.0], 1e-30 if dtype == "f4" else 1e-300
        a[3, 0] *= 1 if dtype == "f4" else 1e-300
        a[4], a[5, 1:] = -0.0, 0
        for scale in (1, -0.0, np.inf):
            w = v * np.array([1, *[scale] * (depth - 1)], dtype)
            with np.errstate(all="ignore"), gc.errstate(all="ignore"):
                x, y = gc.asarray(a), gc.asarray(w)
                at_once = in_turns(0, lambda: np.asarray(x @ y))
                exact.assert_same(at_once, in_turns(gc._graphc.NEVER, lambda: np.asarray(x @ y)))
                exact.assert_same(in_turns(0, lambda: np.asarray(x[:, ::-1] @ y)), in_turns(gc._graphc.NEVER, lambda: np.asarray(x[:, ::-1] @ y)))
                exact.assert_same(in_turns(0, lambda: np.asarray(x.T.copy().T @ y)), at_once)


def test_errstate_reaches_numpys_scalars_and_ends_with_its_block():
    """Nested, with other settings of NumPy's around and between, and after an exception."""
    zero = np.float64(0)
    with np.errstate(all="ignore"):
        with gc.errstate(divide="raise"):
            with pytest.raises(FloatingPointError):
                np.float64(1) / zero
            assert np.geterr() == {"divide": "raise", "over": "ignore", "under": "ignore", "invalid": "ignore"}
            with gc.errstate(all="ignore"):
                assert np.isinf(np.float64(1) / zero)
        assert np.geterr()["divide"] == "ignore"
    with np.errstate(over="raise"), gc.errstate(divide="ignore"):
        assert (np.geterr()["over"], np.geterr()["divide"]) == ("raise", "ignore")
    before, ours = np.geterr(), gc.geterr()
    told = []
    with gc.errstate(divide="call", call=lambda text, flag: told.append(text)):
        gc.asarray(np.ones(2)) / gc.asarray(np.zeros(2))
        np.float64(1) / zero
    assert told == ["divide by zero"] * 2
    with pytest.raises(KeyError), gc.errstate(all="raise"):
        raise KeyError
    assert np.geterr() == before and gc.geterr() == ours
    for wrong in ("shout", ["ignore"]):
        with pytest.raises((ValueError, TypeError)), gc.errstate(all=wrong):
            pass
    assert np.geterr() == before and gc.geterr() == ours


@pytest.mark.parametrize("write", ["x += 1", "x[2:] *= 2", "x[3] = 5", "x = x * 2 + 1"])
@pytest.mark.parametrize("size", [10, 10_000])
def test_items_of_arrays_that_are_pending(write, size):
    made = []
    for np_ in (gc, np):
        names = {"x": np_.arange(float(size))}
        for _ in range(40):
            exec(write, names)
            made.append([type(names["x"].item(3)), names["x"].item(3), names["x"].item(size - 1), names["x"][4]])
    assert [m[:3] for m in made[:40]] == [m[:3] for m in made[40:]]
