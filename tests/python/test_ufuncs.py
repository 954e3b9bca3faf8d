"""Elementwise functions as objects: outputs, masks, dtypes, and their methods, against NumPy."""

import copy
import inspect
import itertools
import pickle
import warnings

import graphc as gc
import numpy as np
import pytest
from graphc._ufunc import _reduce
from support import exact
from support.loops import turns_of

pytestmark = pytest.mark.graphc_only

X = np.arange(12.0).reshape(3, 4) - 5
Y = np.array([2.0, -1.0, 0.5, 4.0])


def both(program, *arrays):
    """The results of a program under NumPy and under graphc, which must be equal bit by bit."""
    want = program(np, *[np.array(a) for a in arrays])
    got = program(gc, *[gc.array(a) for a in arrays])
    for g, w in zip(got, want, strict=True):
        exact.assert_same(g, w)


def test_attributes():
    for name in ("add", "negative", "maximum", "divmod", "logical_and", "matmul"):
        ours, theirs = getattr(gc, name), getattr(np, name)
        assert isinstance(ours, gc.ufunc)
        assert (ours.nin, ours.nout, ours.nargs) == (theirs.nin, theirs.nout, theirs.nargs)
        assert ours.__name__ == theirs.__name__ and ours.identity == theirs.identity
        assert repr(ours) == repr(theirs) and ours.__doc__
    assert gc.abs is gc.absolute and gc.abs.__name__ == "absolute" and gc.mod.__name__ == "remainder"
    assert "dd->d" in gc.add.types and gc.add.ntypes == len(gc.add.types) and "ll->?" in gc.less.types
    assert "dd->d" in gc.divide.types and "ll->l" not in gc.divide.types
    assert pickle.loads(pickle.dumps(gc.add)) is gc.add and copy.deepcopy(gc.add) is gc.add
    assert list(inspect.signature(gc.add).parameters)[:3] == ["x1", "x2", "out"]


def test_outputs():
    def program(xp, x, y):
        a, b, c = xp.zeros((3, 4)), xp.zeros((3, 4)), xp.zeros((2, 3, 4))
        assert xp.add(x, y, out=a) is a
        assert xp.multiply(x, y, b) is b
        xp.subtract(x, y, out=(c,))
        xp.sqrt(xp.abs(x), out=a[:, ::-1])
        f = xp.zeros(4, dtype="float32")
        xp.add(y, 1, out=f)
        q, r = xp.zeros((3, 4)), xp.zeros((3, 4))
        xp.divmod(x, y, out=(q, r))
        xp.divmod(x, 2.0, q)
        return a, b, c, f, q, r

    both(program, X, Y)


def test_outputs_that_overlap_their_operands():
    def program(xp, x, y):
        xp.add(x[:-1], x[1:], out=x[:-1])
        xp.multiply(x, 2, out=x)
        xp.negative(x[::-1], out=x)
        xp.cumsum(y, out=y)
        xp.add(y[:3], y[1:], out=y[1:])
        return x, y

    both(program, X, Y)


def test_output_errors():
    x = gc.asarray(X)
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output from dtype\\('float64'\\) to dtype\\('int64'\\)"):
        gc.add(x, 1, out=gc.zeros((3, 4), dtype="int64"))
    with pytest.raises(ValueError, match="non-broadcastable output operand with shape \\(4,\\)"):
        gc.add(x, 1, out=gc.zeros(4))
    with pytest.raises(TypeError, match="ArrayType"):
        gc.add(x, 1, out=[1.0])
    with pytest.raises(TypeError, match="positional arguments"):
        gc.add(x)
    with pytest.raises(TypeError, match="both"):
        gc.add(x, 1, x, out=x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wher'"):
        gc.add(x, 1, wher=True)
    with pytest.raises(ValueError, match="read-only"):
        gc.add(x, 1, out=gc.broadcast_to(gc.zeros(4), (3, 4)))
    out = np.zeros((3, 4))
    assert gc.add(x, 1, out=out) is out
    exact.assert_same(out, X + 1)


def test_masks():
    def program(xp, x, y):
        a = xp.ones((3, 4))
        xp.add(x, y, out=a, where=x > 0)
        b = xp.ones((3, 4))
        xp.sqrt(y, where=y > 0, out=b)
        c = xp.full((2, 2), 7)
        xp.multiply(3, 4, out=c, where=xp.asarray([[True, False], [False, True]]))
        return a, b, c

    both(program, X, Y)
    exact.assert_same(gc.add(X, 1, where=X > 0), np.where(X > 0, X + 1, 0))


def test_dtypes_and_casting():
    def program(xp, x, y):
        i = xp.asarray([1, 2, 3], dtype="int32")
        return (
            xp.add(i, i, dtype="float32"), xp.multiply(i, 2, dtype="int64"), xp.add(x, y, dtype=xp.float32),
            xp.divide(i, 2, dtype="float64"), xp.add(i, 1.5, casting="unsafe", dtype="int32"), xp.less(i, 2, dtype=bool),
        )  # fmt: skip

    both(program, X, Y)
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' input 0"):
        gc.add(X, 1, dtype="int64")
    with pytest.raises(TypeError):
        gc.less(X, 1, dtype="int64")
    with pytest.raises(ValueError, match="casting must be one of"):
        gc.add(X, 1, casting="never")


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_or", "subtract"])
def test_reduceat(name):
    """Slices of equal and of many lengths, single elements where the next index is not larger, along every axis."""
    rng = np.random.default_rng(9)
    for shape in ((60,), (12, 5), (3, 12, 4)):
        x = rng.integers(1, 4, shape).astype("float64")
        for axis, size in enumerate(shape):
            for places in (np.arange(0, size, 2), np.arange(0, size, 3)[::-1], rng.integers(0, size, 9), [size - 1], np.zeros(0, "int64")):
                got, want = (getattr(xp, name).reduceat(xp.asarray(x), places, axis) for xp in (gc, np))
                assert got.dtype == want.dtype and got.shape == want.shape
                np.testing.assert_array_equal(np.asarray(got), want)
    for device in gc.devices():
        x = gc.asarray(np.arange(10.0), device=device)
        assert gc.add.reduceat(x, [0, 3, 1, 7]).tolist() == np.add.reduceat(np.arange(10.0), [0, 3, 1, 7]).tolist()
    x = np.arange(2000.0)
    assert gc.add.reduceat(gc.asarray(x), [0, 1999] * 50).tolist() == np.add.reduceat(x, [0, 1999] * 50).tolist()
    before = gc.cache_info()["launches"]
    gc.add.reduceat(gc.ones(100_000), np.arange(0, 100_000, 10)).eval()
    assert gc.cache_info()["launches"] - before < 10
    with pytest.raises(IndexError):
        gc.add.reduceat(X, [0, -1])
    with pytest.raises(TypeError):
        gc.add.reduceat(X, np.array([0.5]))  # a list of floats is taken, as in NumPy


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name, whole", [("add", "sum"), ("multiply", "prod"), ("maximum", "max"), ("minimum", "min")])
def test_reduceat_has_the_bits_of_its_slices(name, whole, dtype):
    """Of few and of many slices, long and short, some of which end before they begin; negative zeros too."""
    rng = np.random.default_rng(12)
    x = (rng.standard_normal(70_000) * (10 if dtype == "int64" else 1)).astype(dtype)
    x[100:130] = -0.0
    starts = np.sort(rng.choice(len(x), 60, replace=False))
    for places in ([100, 110, 5, 7, 7, 110], np.concatenate([starts, [3, 4, 69_000, 69_000, 9]])):
        got = np.asarray(getattr(gc, name).reduceat(gc.asarray(x), places))
        for value, begin, end in zip(got, places, [*places[1:], len(x)]):
            assert value.tobytes() == np.asarray(getattr(gc, whole)(gc.asarray(x[begin : max(end, begin + 1)]))).tobytes()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name, whole", [("add", "sum"), ("multiply", "prod"), ("maximum", "max"), ("minimum", "min"), ("logical_or", "any")])
def test_reduceat_has_the_bits_of_its_slices_along_an_axis(name, whole, dtype):
    """Slices of one element and of many trees' blocks, of rows, columns and a middle axis, of views; indices of any kind."""
    rng = np.random.default_rng(14)
    for shape, axis in (((40_000,), 0), ((9000, 3), 0), ((3, 9000), 1), ((2, 700, 5), 1)):
        x = rng.standard_normal(shape) * (3 if np.dtype(dtype).kind in "fc" else 60)
        x = np.where(x > 0, 1.1, 1 / 1.1) if name == "multiply" else x
        x = (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else np.abs(x)).astype(dtype)
        x.reshape(-1)[::50] = 0 if x.dtype.kind in "bui" else -0.0
        size = shape[axis]
        places = np.concatenate([np.sort(rng.choice(size, 40, replace=False)), [3, 3, size - 1, 0, 33, 34]])
        for given, y in ((gc.asarray(x), x), (gc.asarray(np.flip(x, axis).copy())[(slice(None),) * axis + (slice(None, None, -1),)], x)):
            for starts in (places, places.tolist(), gc.asarray(places)):
                got = np.asarray(getattr(gc, name).reduceat(given, starts, axis))
                ends = [*places[1:], size]
                for i in (0, 5, 39, 40, 41, 42, 45):
                    part = (slice(None),) * axis + (slice(places[i], max(ends[i], places[i] + 1)),)
                    want = np.asarray(getattr(gc, whole)(gc.asarray(y[part]), axis))
                    assert got.dtype == want.dtype and np.take(got, i, axis).tobytes() == want.tobytes()


def test_reduceat_tells_what_its_slices_meet():
    x = np.ones(5000, "float32")
    x[:2], x[2600], x[2700] = 3e38, np.nan, np.inf
    want = np.array([np.inf, np.nan, 2000.0], "float32")
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        got = gc.add.reduceat(gc.asarray(x), [0, 2500, 3000])
        gc.eval(got)
    np.testing.assert_array_equal(np.asarray(got)[1:], want[1:])
    with gc.errstate(all="raise"):
        np.testing.assert_array_equal(np.asarray(gc.add.reduceat(gc.asarray(x[2:]), [0, 2500, 2990]))[1:2], np.add.reduceat(x[2:], [0, 2500, 2990])[1:2])
        np.testing.assert_array_equal(np.asarray(gc.maximum.reduceat(gc.asarray(x), [0, 2500, 3000])), np.maximum.reduceat(x, [0, 2500, 3000]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_complex_numbers_are_those_of_kernels(name, dtype):
    """What a pass of the host finds has the bits of a jitted function: ties, NaN in either part, zeros of both signs."""
    rng = np.random.default_rng(15)
    for shape in ((7,), (300_001,), (40, 30), (3, 1200, 257), (900, 700)):
        x = (rng.integers(-4, 5, shape) + 1j * rng.integers(-4, 5, shape)).astype(dtype)
        x.real[rng.random(shape) < 0.2] *= -0.0
        x.imag[rng.random(shape) < 0.2] *= -0.0
        for nans in (0, 2):
            x.real.reshape(-1)[rng.integers(0, x.size, nans)] = np.nan
            x.imag.reshape(-1)[rng.integers(0, x.size, nans)] = np.nan
            for axis in range(len(shape)):
                got = getattr(gc.asarray(x), name)(axis)
                want = gc.jit(lambda a: getattr(a, name)(axis))(gc.asarray(x))
                got, want = np.asarray(got), np.asarray(want)
                np.testing.assert_array_equal(got, getattr(np, name)(x, axis))
                if name in ("max", "min"):
                    bits = [np.where(np.isnan(p), np.nan, p).tobytes() for v in (got, want) for p in (v.real, v.imag)]
                    assert bits[:2] == bits[2:]


@pytest.mark.parametrize("dtype", ["bool", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["maximum", "minimum", "logical_or", "logical_and"])
def test_running_extremes_of_other_elements(name, dtype):
    rng = np.random.default_rng(16)
    for shape, axis in (((1,), 0), ((9000,), 0), ((40, 3000), 1), ((3000, 40), 0), ((3, 50, 7), 1)):
        x = rng.random(shape) < (0.001 if "or" in name or name == "maximum" else 0.999)
        if dtype != "bool":
            x = (rng.integers(-9, 9, shape) + 1j * rng.standard_normal(shape)).astype(dtype)
            x[rng.random(shape) < 2 / x.size] = np.nan
        got, want = (getattr(xp, name).accumulate(xp.asarray(x), axis) for xp in (gc, np))
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
        if x.size < 10_000:
            traced = gc.jit(lambda a: getattr(gc, name).accumulate(a, axis))(gc.asarray(x))
            np.testing.assert_array_equal(np.asarray(traced), want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int64"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_running_extremes(name, dtype):
    """One kernel for any number of elements. NaN stays, -0 is smaller than +0."""
    rng = np.random.default_rng(6)
    for shape, axis in (((9,), 0), ((4097,), 0), ((70_001,), 0), ((3, 5000), 1), ((5000, 3), 0), ((40, 20, 3), 1)):
        if dtype.startswith("float"):
            x = (rng.standard_normal(shape) * 100).astype(dtype)
            x[rng.random(shape) < 0.3] = -0.0
            x[rng.random(shape) < 0.1] = 0.0
            x[rng.random(shape) < 3 / x.size] = np.nan
        else:
            x = rng.integers(0, 100, shape).astype(dtype)
        got = np.asarray(getattr(gc, name).accumulate(gc.asarray(x), axis))
        want = getattr(np, name).accumulate(x, axis)
        np.testing.assert_array_equal(got, want)
        if dtype.startswith("float"):  # of zeros met so far
            negative = (np.logical_or if name == "minimum" else np.logical_and).accumulate(np.signbit(x), axis)
            zero = got == 0
            assert got.dtype == x.dtype and np.array_equal(np.signbit(got)[zero], negative[zero])
    before = gc.cache_info()["launches"]
    getattr(gc, name).accumulate(gc.asarray(np.ones(70_001, dtype))).eval()
    assert gc.cache_info()["launches"] - before <= 3


def test_running_extremes_raise_nothing():
    x = np.array([1.0, np.inf, 2.0, np.nan] * 2000)
    with gc.errstate(all="raise"):
        np.testing.assert_array_equal(np.asarray(gc.maximum.accumulate(gc.asarray(x))), np.maximum.accumulate(x))
    for one in (1.0, -1.0):  # the operand's infinity, which the scan may lose
        with pytest.warns(RuntimeWarning, match="divide by zero"), gc.errstate(all="warn"):
            y = np.arange(9000.0) + 1
            y[40] = 0
            gc.maximum.accumulate(one / gc.asarray(y)).eval()


REDUCED = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "subtract", "fmax", "hypot", "divide")


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract", "logical_or", "fmin"])
def test_reduceat_of_many_lengths(name, dtype):
    """Small numbers, so that the order of sums does not show."""
    if dtype == "bool" and name == "subtract":
        pytest.skip("NumPy refuses it")
    rng = np.random.default_rng(4)
    x = (rng.integers(-2, 3, (3, 200, 2)) if dtype not in ("uint8", "bool") else rng.integers(0, 2, (3, 200, 2))).astype(dtype)
    for starts in (np.cumsum(np.arange(18)), rng.integers(0, 200, 40)):
        want = getattr(np, name).reduceat(x, starts, axis=1)
        got = np.asarray(getattr(gc, name).reduceat(gc.asarray(x), starts, axis=1))
        assert got.dtype == want.dtype and np.array_equal(got, want)


@pytest.mark.parametrize("name", REDUCED)
def test_reduce_and_accumulate(name):
    def program(xp, x, y):
        f = getattr(xp, name)
        results = [f.reduce(x), f.reduce(x, axis=1), f.reduce(x, axis=-1, keepdims=True), f.reduce(y), f.accumulate(x)]
        results += [f.accumulate(x, axis=1), f.outer(x[0], y), f.reduceat(y, [0, 2, 1, 3]), f.reduce(x[:, :1], axis=1)]
        if name not in ("subtract", "divide"):
            results += [f.reduce(x, axis=(0, 1)), f.reduce(x, axis=None), f.reduce(x, initial=2.0)]
            results += [f.reduce(x[:0], initial=2.0)[None], f.reduce(x[0, :0], initial=2.0)[None]]
            results.append(f.reduce(x, axis=0, where=x > -3, initial=1.0))
        return [xp.asarray(r, dtype="float64") for r in results]

    want = program(np, X, Y)
    got = program(gc, gc.asarray(X), gc.asarray(Y))
    gc.eval(got)
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-14)


def test_reductions_of_integers_and_bools():
    def program(xp, b, i):
        results = [xp.bitwise_and.reduce(i), xp.bitwise_xor.reduce(i, axis=1), xp.logical_xor.reduce(b, axis=None)]
        results += [xp.bitwise_or.accumulate(i, axis=1), xp.logical_xor.accumulate(b), xp.add.reduce(b, axis=None)]
        results += [xp.maximum.reduce(i, axis=None), xp.add.reduce(i[:, :0], axis=1), xp.multiply.reduce(i[:0], axis=0)]
        results += [xp.equal.outer(i[0], i[1]), xp.bitwise_or.reduce(i[:0]), xp.add.reduce(i, dtype="float32")]
        return results

    i = np.array([[12, 5, 7], [9, 3, 1], [6, 6, 2]], "int32")
    both(program, np.array([[True, False, True], [True, True, True]]), i)


def test_reduction_errors():
    with pytest.raises(ValueError, match="no identity"):
        gc.maximum.reduce(gc.zeros((0,)))
    with pytest.raises(ValueError, match="does not have an identity"):
        gc.maximum.reduce(gc.zeros(3), where=[True, False, True])
    with pytest.raises(ValueError, match="binary"):
        gc.negative.reduce(gc.zeros(3))
    with pytest.raises(np.exceptions.AxisError.__mro__[1]):
        gc.add.reduce(gc.zeros(3), axis=2)


def test_array_reductions_with_masks_and_outputs():
    def program(xp, x, y):
        out = xp.zeros(4)
        assert xp.sum(x, axis=0, out=out) is out
        into = xp.zeros((2, 3))
        x.max(axis=1, out=into[1])
        ints = xp.zeros((), dtype="int64")
        xp.sum(xp.asarray([1, 2, 3]), out=ints)
        results = [out, into, ints, xp.sum(x, where=x > 0), x.sum(axis=1, where=y > 0, initial=5), xp.all(x, where=x > 2)]
        results += [xp.min(x, axis=0, where=x > -3, initial=99), x.any(axis=(0, 1), keepdims=True), xp.mean(x, where=x > 0)]
        results += [xp.prod(x, axis=1, where=y > 0), xp.std(x, axis=0, ddof=1), x.var(1, None, None, 1)]
        results += [xp.max(x[:0], initial=3.0), xp.cumsum(x, 1), x.argmax(1)]
        return results

    want = program(np, np.array(X), np.array(Y))
    got = program(gc, gc.array(X), gc.array(Y))
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-14)


def test_numpys_functions_dispatch():
    g = gc.asarray(X)
    results = [np.add(g, 1), np.add(1, g, dtype="float32"), np.add.reduce(g, axis=1), np.maximum.accumulate(g), np.subtract.outer(g, g)]
    results += [np.sum(g, axis=0), np.concatenate([g, X]), np.stack([g, g]), np.where(g > 0, g, 0), np.float64(2) * g]
    results += [[1, 2, 3, 4] + g, (1, 2, 3, 4) * g, X + g, np.clip(g, 0, 2), np.mean(g), np.reshape(g, (4, 3)), np.zeros_like(g)]
    assert all(isinstance(r, gc.Array) for r in results)
    exact.assert_same(results[4], np.subtract.outer(X, X))
    out = gc.zeros((3, 4))
    assert np.add(g, 1, out=out) is out
    exact.assert_same(out, X + 1)
    into = np.zeros((3, 4))
    assert np.multiply(g, 2, out=into) is into
    exact.assert_same(into, X * 2)
    exact.assert_same(np.zeros((2,), like=g), np.zeros(2))


@pytest.mark.filterwarnings("ignore")
def test_at():
    def program(xp):
        results = []
        for name, value in (("add", 2), ("subtract", 1.5), ("multiply", 3), ("maximum", 4), ("divide", 2.0), ("fmax", 1.0), ("power", 2)):
            x = xp.arange(6.0)
            getattr(xp, name).at(x, [0, 2, 2, -1], value)
            results.append(x)
        x = xp.arange(12.0).reshape(3, 4)
        xp.add.at(x, (xp.asarray([0, 2, 0]), xp.asarray([1, 3, 1])), xp.asarray([10.0, 20.0, 30.0]))
        xp.add.at(x, xp.s_[:, 0], 100)
        xp.negative.at(x, ([0, 0, 1], [0, 0, 1]))
        i = xp.zeros(3, dtype="int32")
        xp.add.at(i, [1, 1, 1], 1)
        xp.bitwise_or.at(i, [0, 1], [4, 8])
        xp.add.at(x.T, (3, [0, 0]), 1)
        xp.add.at(i, [0, 1, 1], xp.asarray([1.7, 2.6, 0.9]))  # cast whatever the result's dtype is
        narrow = xp.asarray(np.array([250, 2, 3], "uint8"))
        xp.add.at(narrow, (0, ...), xp.asarray(np.int64(300)))
        xp.add.at(narrow, (slice(None),), xp.asarray([1, 2, 300]))
        xp.maximum.at(narrow, (slice(1, None),), xp.asarray([9, 7]))
        return [*results, x, i, narrow]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(g, w)
    with pytest.raises(IndexError):
        gc.add.at(gc.zeros(3), [3], 1)


@pytest.mark.parametrize(
    ("name", "values", "operand"),
    [("divide", [1.0, 2, 0], [0.0]), ("floor_divide", [5, 3, 1], [0]), ("remainder", [5.0, 3, 1], [0.0]), ("power", [0.0, 1, 2], [-1.0]),
     ("log", [0.0, 1, 2], None), ("sqrt", [-1.0, 1, -2], None)],
)  # fmt: skip
def test_at_tells_what_places_meet(name, values, operand):
    """A place that meets an error is told of, and no other place is."""
    for places in ([0], [1]):
        met = []
        for xp in (np, gc):
            x = xp.array(values)
            args = (places,) if operand is None else (places, operand if places == [0] else [2])
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                getattr(xp, name).at(x, *args)
                met.append((np.asarray(x), [str(w.message).partition(" encountered")[0] for w in told]))
        exact.assert_same(*[values for values, _ in met[::-1]])
        assert met[0][1] == met[1][1] and bool(met[0][1]) == (places == [0])
    with gc.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        x = gc.array(values)
        getattr(gc, name).at(x, [0], *([] if operand is None else [operand]))
        gc.eval(x)


def test_sums_begin_with_negative_zero():
    def program(xp):
        x = xp.array([[-0.0, 1], [-0.0, -0.0], [-0.0, 0.0]])
        empty = xp.zeros(0)
        return (
            x.sum(axis=1, initial=-0.0), xp.sum(x.astype("f4"), axis=1, initial=np.float32(-0.0), keepdims=True), xp.sum(empty, initial=-0.0),
            xp.add.reduce(x[1], initial=-0.0), x.sum(axis=1, initial=0.0), xp.sum(x[1], initial=-0.0, where=[False, True]),
        )  # fmt: skip

    def of_complex(xp):
        z = xp.array([complex(-0.0, -0.0), complex(-0.0, 1), complex(2, -0.0)])
        starts = (-0.0, complex(-0.0, -0.0), complex(-0.0, 2), complex(1, -0.0))
        return [xp.sum(part, initial=start, where=where) for part in (z[:1], z[:2], z, z[:0], z[:2].astype("F"))
                for start in starts for where in (True, xp.arange(len(part)) < 1)]  # fmt: skip

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(g, w)
        assert np.array_equal(np.signbit(g), np.signbit(w))
    for g, w in zip(of_complex(gc), of_complex(np), strict=True):
        assert g.dtype == w.dtype and g == w
        assert [np.signbit(g.real), np.signbit(g.imag)] == [np.signbit(w.real), np.signbit(w.imag)], (g, w)


def test_loops_and_their_dtypes_are_numpys():
    for name in ("add", "sqrt", "less", "bitwise_and", "logical_not"):
        ours, theirs = getattr(gc, name), getattr(np, name)
        assert set(ours.types) <= set(theirs.types)
        assert {t for t in theirs.types if not set(t) & set("gGmMO")} - set(ours.types) <= {t for t in theirs.types if t[0] in "bBhHiIlLqQ"}
    assert "qq->q" in gc.add.types and "QQ->?" in gc.less.types
    dtypes = np.dtype("f4"), np.dtype("f8"), None
    assert gc.add.resolve_dtypes(dtypes) == np.add.resolve_dtypes(dtypes)
    assert gc.add.resolve_dtypes((np.dtype("i2"), int, None)) == np.add.resolve_dtypes((np.dtype("i2"), int, None))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_differences_of_integers_are_one_sum(dtype):
    a = np.random.default_rng(3).integers(0, 100, (40, 5)).astype(dtype)
    x = gc.asarray(a)
    before = gc.cache_info()["nodes_recorded"]
    results = [gc.subtract.reduce(x, axis=axis) for axis in (0, 1)]
    assert gc.cache_info()["nodes_recorded"] - before < 40
    for got, axis in zip(results, (0, 1), strict=True):
        want = np.subtract.reduce(a, axis=axis)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("name", ["maximum", "minimum", "add", "multiply", "bitwise_or", "floor_divide"])
def test_at_with_wider_integers(name):
    """NumPy combines in the wider dtype and casts what comes out."""
    found = []
    for xp in (np, gc):
        for values in ([264, 3, 5, 300], [7, 3, 5, 1], 260):
            a = xp.asarray(np.arange(1, 9, dtype="uint8") * 20).copy()
            getattr(xp, name).at(a, [1, 2, 1, 3], xp.asarray(values))
            found.append(np.asarray(a))
    for want, got in zip(found[:3], found[3:], strict=True):
        assert got.tolist() == want.tolist() and got.dtype == want.dtype


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "u8", "f4", "c8"])
@pytest.mark.parametrize("number", [1, 1.5, True, 2j])
def test_numbers_of_outer_are_arrays(dtype, number):
    x = np.ones(2, dtype)
    for f in ("add", "multiply"):
        want = getattr(np, f).outer(x, number), getattr(np, f).outer(number, x)
        found = getattr(gc, f).outer(gc.asarray(x), number), getattr(gc, f).outer(number, gc.asarray(x))
        for g, w in zip(found, want):
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(np.asarray(g), w)


SUMS = ("sum", "prod", "mean", "max", "cumsum", "add.reduce", "add.accumulate", "multiply.accumulate", "add.reduceat")


@pytest.mark.graphc_only
@pytest.mark.parametrize("source", ["f4", "f8", "i1", "i4", "?", "f2", "c8"])
@pytest.mark.parametrize("name", SUMS)
def test_outputs_decide_what_sums_compute_in(name, source):
    """A sum is of what the array and its output promote to, and is then converted; products stay small."""
    x = (np.random.default_rng(3).integers(0, 5, (3, 4)) / (1 if source in "i1 i4 ?" else 4)).astype(source)
    for target in ("u8", "i4", "f8", "f4", "i1", "c16", "f2", "?"):
        found = []
        for xp in (np, gc):
            function, args = xp, (xp.asarray(x), [0, 2]) if name.endswith("reduceat") else (xp.asarray(x),)
            for part in name.split("."):
                function = getattr(function, part)
            out = xp.zeros(function(*args, axis=0).shape, target)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                assert function(*args, axis=0, out=out) is out
            found.append((out.dtype, np.asarray(out).tolist()))
        assert repr(found[0]) == repr(found[1]), target


@pytest.mark.parametrize("name", ["fmax", "fmin"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
def test_extremes_pass_nan_over(name, dtype, axis):
    a = (np.random.default_rng(3).random((4, 5, 3)) * 9 - 3).astype(dtype)
    if a.dtype.kind == "f":
        a.reshape(-1)[::2] = np.nan
        a[1] = a[:, 2] = np.nan
    for options in ({}, {"keepdims": True}, {"initial": a.dtype.type(2)}):
        want = getattr(np, name).reduce(a, axis=axis, **options)
        got = getattr(gc, name).reduce(gc.asarray(a), axis=axis, **options)
        np.testing.assert_array_equal(np.asarray(got), want)
        assert got.dtype == want.dtype and np.shape(got) == np.shape(want)


LAYOUTS = (lambda x: x, lambda x: x.T[::-1], lambda x: x[..., ::2])


def parts(x):
    return np.atleast_1d(np.asarray(x)).view("f4" if x.dtype == "F" else x.dtype)


@pytest.mark.parametrize("name", ["logaddexp", "hypot", "add", "multiply", "maximum", "minimum", "bitwise_or", "bitwise_xor", "logical_and"])
def test_plain_folds_have_the_bits_of_all_others(name):
    """What the extension folds for plain arguments is what the module folds for any others, and NumPy's within roundings."""
    rng = np.random.default_rng(5)
    ours, theirs = getattr(gc, name), getattr(np, name)
    kinds = {"bitwise_or": "?bl", "bitwise_xor": "?bQ", "logical_and": "?df", "logaddexp": "dfe", "hypot": "dfe"}
    for kind in kinds.get(name, "?bldeF" if name == "add" else "?Bfd"):
        tolerance = {"e": 1e-1, "f": 1e-5, "F": 1e-5}.get(kind, 1e-12)
        for shape in (1, 2, 7, (3, 3), (5, 1), (2, 3, 5)):
            base = rng.uniform(0.9, 1.1, shape).astype(kind) if kind in "efd" else rng.integers(1, 3, shape).astype(kind)
            for layout in LAYOUTS:
                x, given = layout(base), layout(gc.asarray(base))
                if x.size == 0:
                    continue
                for axis, keepdims in itertools.product((None, *range(-x.ndim, x.ndim)), (False, True)):
                    got, want = ours.reduce(given, axis=axis, keepdims=keepdims), _reduce(ours, given, axis, None, None, keepdims)
                    exact.assert_same(parts(got), parts(want), (kind, shape, axis, keepdims))
                    like = theirs.reduce(x, axis=axis, keepdims=keepdims)
                    assert got.shape == like.shape and got.dtype == like.dtype
                    with np.errstate(all="ignore"):
                        np.testing.assert_allclose(np.asarray(got), like, rtol=tolerance, atol=tolerance)
                if name in ("add", "maximum") and x.ndim:
                    for axis in range(x.ndim):
                        np.testing.assert_allclose(np.asarray(ours.accumulate(given, axis=axis)), theirs.accumulate(x, axis=axis), rtol=10 * tolerance, atol=10 * tolerance)


def test_plain_folds_tell_their_errors_as_numpy_does():
    def met(xp):
        x = xp.asarray([[1e308, 1.0], [1.1e308, 2.0], [3.0, 1e308]])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for fold in (xp.logaddexp.reduce, xp.add.reduce, xp.hypot.reduce):
                for axis in (0, 1, None):
                    np.asarray(fold(x * 1.6, axis=axis))
        return [str(w.message) for w in told]

    assert met(gc) == met(np)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float64", "complex128"])
@pytest.mark.parametrize("held", ["bool", "uint8", "float32", "int64"])
def test_operands_become_the_dtype_that_is_asked_for(held, dtype):
    host = (np.arange(6) % 4 + 1).astype(held).reshape(2, 3)
    x = gc.asarray(host)
    for name, more in (("add", [2]), ("multiply", [host[0]]), ("subtract", [1.5]), ("power", [2]), ("negative", []), ("true_divide", [host])):
        def called(np, x, turned):
            try:
                return getattr(np, name)(x[:, ::-1], *[turned(v) for v in more], dtype=dtype if name == "add" else np.dtype(dtype), order="K")
            except TypeError:
                return None
        expected = called(np, host, lambda v: v)
        made = called(gc, x, lambda v: gc.asarray(v) if isinstance(v, np.ndarray) else v)
        assert (made is None) == (expected is None)
        if made is not None:
            assert made.dtype == expected.dtype
            np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-3)


_IN_ORDER = ("add", "subtract", "multiply", "divide", "fmod", "maximum", "logical_xor", "bitwise_or", "gcd", "floor_divide", "remainder", "power", "equal",
             "copysign", "heaviside", "nextafter", "left_shift", "right_shift")  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", _IN_ORDER)
def test_methods_of_small_arrays_are_numpys(name, dtype):
    if name == "power" and dtype.startswith("float"):
        pytest.skip("NumPy's folds of float powers depend on the CPU")
    rng = np.random.default_rng(5)
    host, places = (rng.random((9, 3)) * 5 + 1).astype(dtype), rng.integers(-9, 9, 12)
    values = (rng.random((12, 3)) * 4 + 1).astype(dtype)
    for part in (slice(None), slice(None, None, -1), slice(None, None, 2)):
        for method, args in (("at", (places // 2, values)), ("at", (places // 2, 2)), ("accumulate", (0,)), ("accumulate", (1,)), ("reduceat", ([0, 3, 1],)), ("reduce", (1,))):
            def called(np, given):
                x = np.asarray(given.copy())[part]
                try:
                    with np.errstate(all="ignore"):
                        made = getattr(getattr(np, name), method)(x, *[np.asarray(a) if hasattr(a, "ndim") else a for a in args])
                except TypeError:
                    return None
                return x if method == "at" else made
            expected, made = called(np, host), called(gc, host)
            assert (made is None) == (expected is None), (method, args)
            if made is not None:
                assert made.dtype == expected.dtype and made.shape == expected.shape
                np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-2 if dtype == "float16" else 1e-6)


def test_what_places_meet_is_told_and_changes_nothing_before():
    x, whole = gc.asarray([1.0, 2.0, 3.0]), gc.asarray([1, 2, 3])
    places = gc.asarray([0, 0, 2])
    with gc.errstate(all="raise"), pytest.raises(FloatingPointError):
        gc.divide.at(x, places, gc.asarray([1.0, 0.0, 1.0]))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        gc.fmod.at(whole, places, gc.asarray([5, 0, 1]))
    shown = whole.view()
    gc.subtract.at(whole, places, gc.asarray([True, False, True]))
    assert shown.tolist() == whole.tolist()
    locked = gc.broadcast_to(gc.asarray([1, 2]), (3, 2))
    with pytest.raises(ValueError):
        gc.bitwise_or.at(locked, gc.asarray([0]), 1)
    for f in (gc.equal, gc.less):
        with pytest.raises(TypeError, match="No loop matching"):
            f.accumulate(whole)


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
@pytest.mark.parametrize("name", ["fmod", "equal", "logical_xor", "gcd", "subtract"])
def test_many_places_of_what_has_no_scatter(name, dtype):
    rng = np.random.default_rng(8)
    host, places = (rng.random(70_000) * 9 + 1).astype(dtype), rng.integers(0, 70_000, 50_000)
    values = (rng.random(50_000) * 5 + 1).astype(dtype)
    x = gc.asarray(host.copy())
    try:
        getattr(np, name).at(host, places, values)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(gc, name).at(x, gc.asarray(places), gc.asarray(values))
        return
    getattr(gc, name).at(x, gc.asarray(places), gc.asarray(values))
    exact.assert_same(np.asarray(x), host)


@pytest.mark.parametrize("shape, count", [((7,), 0), ((7,), 1), ((7,), 500), ((5, 4), 300), ((1,), 20), ((70000,), 70000)])
@pytest.mark.parametrize("name, dtype", [("multiply", "c16"), ("multiply", "c8"), ("divide", "i8"), ("floor_divide", "i2"), ("left_shift", "i4")])
def test_places_of_operations_without_a_scatter(name, dtype, shape, count):
    rng = np.random.default_rng(count)
    places = tuple(rng.integers(-size, size, count) for size in shape)
    values = rng.integers(1, 3, count).astype(dtype)
    if dtype[0] == "c":
        values = (1j ** values).astype(dtype)  # no product is rounded
    found = []
    for xp in (np, gc):
        x = xp.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        index = tuple(xp.asarray(p) for p in places)
        getattr(xp, name).at(x, index if len(shape) > 1 else index[0], xp.asarray(values))
        found.append(np.asarray(x))
    assert found[1].dtype == found[0].dtype and np.array_equal(found[0], found[1])


@pytest.mark.parametrize("dtype", ["f8", "i8", "i2", "u1", "F"])
@pytest.mark.parametrize("name", ["divide", "copysign", "heaviside", "nextafter"])
@pytest.mark.parametrize("errors", [{}, {"all": "ignore"}])
def test_folds_in_order_of_numbers_that_vanish(name, dtype, errors):
    """Underflow, which nobody asks for, hinders no function of NumPy's."""
    if dtype == "F" and name != "divide":
        return
    x = (np.arange(500) % 7 + 1).astype(dtype)
    theirs, ours = getattr(np, name), getattr(gc, name)
    with np.errstate(**errors), gc.errstate(**errors), turns_of(0):
        for _ in range(3):
            y = gc.asarray(x)
            exact.assert_same(ours.accumulate(y), theirs.accumulate(x))
            exact.assert_same(ours.reduceat(y, [0, 100, 7]), theirs.reduceat(x, [0, 100, 7]))
            exact.assert_same(gc.asarray(ours.reduce(y)), np.asarray(theirs.reduce(x)))


@pytest.mark.parametrize("size", [0, 1, 5, 300])
@pytest.mark.parametrize("given", "?bBHilefdFD")
def test_dtypes_of_loops_cast_operands(given, size):
    """Results, refusals and warnings, of casts as well."""
    x = (np.random.default_rng(1).random(size) * 300 - 100).astype(given)
    for name, dtype in itertools.product(("add", "maximum", "square", "sqrt", "divide", "bitwise_or"), "?bBHilefdFD"):
        found = []
        for xp in (np, gc):
            f, z = getattr(xp, name), xp.asarray(x)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    made = np.asarray(f(*[z] * f.nin, dtype=dtype))
                    made = made.dtype, made.tobytes()
                except TypeError:
                    made = TypeError
            found.append((made, {str(w.message) for w in told} if given != "H" else None))
        assert found[0] == found[1], (name, dtype)


def test_casts_of_operands_that_have_no_such_value_are_told():
    for name in ("add", "bitwise_or"):
        for xp in (np, gc):
            with pytest.warns(RuntimeWarning, match="invalid value encountered in cast"):
                np.asarray(getattr(xp, name)(xp.array([np.nan]), 1, dtype="i8", casting="unsafe"))


@pytest.mark.parametrize("name", ["rint", "conjugate", "positive", "radians", "fmax", "fmod", "heaviside", "add", "floor_divide", "gcd", "sqrt"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "D"])
def test_masks_with_outputs(name, dtype):
    x = (np.arange(12).reshape(3, 4) - 4).astype(dtype)
    try:
        with np.errstate(all="ignore"):
            getattr(np, name)(*[x] * getattr(np, name).nin)
    except TypeError:
        return

    def program(xp):
        f, made = getattr(xp, name), []
        y, m = xp.asarray(x.copy()), xp.asarray(x.real > 2)
        kind = f(*[y] * f.nin).dtype
        for out, z, where in ((xp.ones((3, 4), kind), y, m), (xp.ones((4, 3), kind).T, y, m), (xp.ones((2, 3, 4), kind), y, m), (xp.ones((3, 4), kind), y[:1], m[0])):
            result = f(*[z] * f.nin, out=out, where=where)
            assert result is out
            made.append(out)
        if kind == y.dtype:
            f(*[y] * f.nin, out=y, where=m)
        return [*made, y]

    with np.errstate(all="ignore"), gc.errstate(all="ignore"):
        for got, want in zip(program(gc), program(np), strict=True):
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6 if dtype == "f4" else 1e-14)
            assert got.dtype == want.dtype
    if dtype == "f8" and name == "sqrt":
        for xp in (np, gc):
            y = xp.ones(2)
            y.flags.writeable = False
            with pytest.raises(ValueError, match="read-only"):
                xp.rint(xp.ones(2), out=y, where=xp.array([True, False]))
