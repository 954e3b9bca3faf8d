"""Maps of rows shorter than a vector: operands and results that do not lie as the points follow each other."""

import warnings

import numpy as np
import pytest

import graphc as gc

LENGTHS = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65)
DTYPES = ("float64", "float32", "float16", "int64", "int32", "uint8", "bool", "complex128")


def numbers(shape, dtype, seed=0):
    values = np.random.default_rng(seed).integers(-9, 10, shape)
    if dtype == "bool":
        return values > 0
    if dtype == "uint8":
        return np.abs(values).astype(dtype)
    return (values + 1j * values[::-1] if dtype == "complex128" else values).astype(dtype)


class Both:
    """A function of NumPy's arrays, and of graphc's: jitted once, for all lengths."""

    def __init__(self, function):
        self.function, self.jitted = function, gc.jit(lambda *x: function(gc, *x))

    def __call__(self, *arrays):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = self.function(np, *arrays)
            given = self.jitted(*(gc.asarray(a) for a in arrays))
            gc.eval(given)  # by kernels, whatever the size
        expected = expected if isinstance(expected, tuple) else (expected,)
        given = given if isinstance(given, tuple) else (given,)
        assert len(expected) == len(given)
        for want, got in zip(expected, given):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_and_columns_are_broadcast(dtype):
    short = Both(lambda m, x, r, c: (x * r + c, m.where(x == r, c, x)))
    long = Both(lambda m, x, r, c: (((x + r) * c + x) * r + c) * x + r * c + (x + c) * (x + r) * (r + c) + x * x * c)
    for length in LENGTHS:
        x, row, column = numbers((301, length), dtype), numbers(length, dtype, 1), numbers((301, 1), dtype, 2)
        short(x, row, column)
        long(x, row, column)


@pytest.mark.parametrize("dtype", ("float64", "float32", "uint8", "complex128"))
def test_views_are_operands(dtype):
    near = Both(lambda m, x, w, t: (x[:, ::-1] * x, w[:, 3 : 3 + x.shape[1]] + x, w[:, 1::2][:, : x.shape[1]] - x + t.T))
    far = Both(lambda m, x, w, t: x[::-1, ::-1] * w[:, : x.shape[1]] + m.arange(x.shape[1]) * t.T)
    for length in LENGTHS:
        shapes = (150, length), (150, 2 * length + 3), (length, 150)
        arrays = [numbers(shape, dtype, i) for i, shape in enumerate(shapes)]
        near(*arrays)
        far(*arrays)


@pytest.mark.parametrize("dtype", ("float64", "int32", "uint8", "bool", "complex128"))
def test_results_lie_elsewhere(dtype):
    def joined(m, x, r):
        both = m.concatenate([x | r, x], axis=1) if x.dtype == bool else m.concatenate([x * r + x, x], axis=1)
        return both, m.stack([x, both[:, : x.shape[1]], x], axis=-1)

    def written(m, x, r):
        y = m.zeros((x.shape[0], 2 * x.shape[1] + 3), dtype=x.dtype)
        y[:, 1 : x.shape[1] + 1] = x
        y[:, x.shape[1] + 3 :] = x & r if x.dtype == bool else x * r * x + r
        y[::2, ::3] = r[:1]
        return y

    joined, written = Both(joined), Both(written)
    for length in LENGTHS:
        x, row = numbers((203, length), dtype), numbers(length, dtype, 1)
        joined(x, row)
        written(x, row)


def test_elementary_functions_have_their_bits():
    """What is computed of broadcast operands is what is computed of whole arrays."""

    def function(x, r, c):
        return gc.exp(x * r) + gc.sin(c) * gc.tanh(x + r), gc.stack([gc.exp(x - c), r + 0 * x], axis=-1)

    broadcast, whole = gc.jit(function), gc.jit(function)
    for length in LENGTHS:
        x, row, column = (gc.asarray(numbers(s, "float64", i) / 4) for i, s in enumerate(((150, length), length, (150, 1))))
        wide = [gc.asarray(np.ascontiguousarray(np.broadcast_to(np.asarray(v), x.shape))) for v in (row, column)]
        for got, want in zip(broadcast(x, row, column), whole(x, *wide)):
            np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_more_than_two_loops():
    functions = [
        Both(lambda m, x, y: x[:, ::2] * y[:, None] + y[::-1, None, ::-1]),
        Both(lambda m, x, y: (x[:, :, None] - x[:, None, :]) * y[:, None, None]),
        Both(lambda m, x, y: (m.swapaxes(x, 0, 1) * y + y[:1]).transpose(2, 0, 1)),
    ]
    for length in LENGTHS:
        for function in functions:
            function(numbers((17, 4, length), "float64"), numbers((17, length), "float64", 1))


def test_places_are_values():
    def function(m, x, places):
        y = x[:, places]
        return ((y * x + y) * x - y) * (y + x) * (x - y) * y + x * (x * y - x) * (y - x * x) * (x + 1) * (y + 1)

    function = Both(function)
    for length in LENGTHS:
        x, places = numbers((120, length), "float64"), np.random.default_rng(1).permutation(length)
        function(x, places)
        with pytest.raises(IndexError, match=f"index {length} is out of bounds for axis 1 with size {length}"):
            np.asarray(function.jitted(gc.asarray(x), gc.asarray(places + 1)))


def test_in_place():
    def function(m, x, r):
        y = x + 1
        y *= r
        y[1:] -= x[:-1, ::-1]
        y[:, 1:] += y[:, :-1] * r[1:]
        y[:, 0] = y[:, x.shape[1] - 1] * 2
        return y

    function = Both(function)
    for length in LENGTHS[1:]:
        function(numbers((400, length), "float64"), numbers(length, "float64", 1))


def test_errors_are_told():
    function = gc.jit(lambda x, r: (x * r + 1) / r + gc.exp(x * 0 - r))
    for length in LENGTHS:
        x, row = numbers((100, length), "float64") + 20.0, np.ones(length)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.asarray(function(gc.asarray(x), gc.asarray(row)))
            row[-1] = 0
            with pytest.raises(RuntimeWarning, match="divide by zero"):
                np.asarray(function(gc.asarray(x), gc.asarray(row)))


def test_indices_are_written_over_in_place():
    """A thread looks at the places of its own points alone: those beside them may hold results of another thread."""

    def function(m, a, x, b):
        r = x[m.sort(a, axis=1)]
        s = r * b + r
        for k in range(6):
            s = (s ^ b) + r * (k + 3)
        return s

    rng, function = np.random.default_rng(0), Both(function)
    for rows in (1000, 50001, 50003):
        function(rng.integers(0, 1000, (rows, 7)), rng.integers(1 << 20, 1 << 30, 1000), rng.integers(0, 100, 7))
