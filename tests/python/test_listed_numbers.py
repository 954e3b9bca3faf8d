"""Lists of numbers for a dtype that is asked for: NumPy's values, warnings and refusals, and the compiled part makes what is
converted without anything to tell."""

import warnings

import graphc as gc
import numpy as np
import pytest

DTYPES = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
PLAIN = [
    [1, 2, 3, 4], [1.0, 2.5, 3.0], [True, False], [1, 2.5, True], [0, 0.0, -0.0, False], [[1, 2], [3, 4]], [(1.0, 2.0), (3, 4.5)], [[True, False], [True, True]],
    [[[1, 2], [3, 4]]], ([[1.5], [2]], [[3], [True]]),
]  # fmt: skip
OTHERS = [
    [-1, 2], [-0.5, 1], [-1.5, 1], [127.9, 128.0], [255.9, 256.0], [300, 1], [70000, 1.0], [65504.0, 65520.0], [65504, 65520], [1e300, 1], [1e-8, 1], [1e-320, 1], [2**24 + 1, 1],
    [2**53 + 1, 0.5], [2**63, 1], [2**64, 1], [-(2**63), 1], [9.3e18, 1], [2049, 2051], [0.1, 1 / 3], [1j, 2], [[1j, 2], [3, 4.5]], [0j, 1e300 + 1j], [1.0000001j, 2**24 + 1],
    [float("nan"), 1], [float("inf"), -float("inf")], [complex("nan"), 0], [np.float32(2.5), 1], [np.int64(300), 2], [np.uint8(7), -1], [np.float64(1e300), True], [np.complex64(2j), 1],
]  # fmt: skip


def made(xp, values, dtype):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            x = np.asarray(xp.array(values, dtype=dtype))
        except Exception as error:
            return next(k for k in type(error).__mro__ if k.__module__ == "builtins"), None, None
        return None, x, sorted({(w.category, str(w.message)) for w in told})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", PLAIN + OTHERS, ids=str)
def test_values(values, dtype):
    (want, x, told), (found, y, heard) = made(np, values, dtype), made(gc, values, dtype)
    assert (found, heard) == (want, told)
    if want is None:
        assert y.dtype == x.dtype and y.shape == x.shape
        if not told:  # what is no integer may be any
            np.testing.assert_array_equal(y, x)


@pytest.mark.graphc_only
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", PLAIN, ids=str)
def test_plain_numbers_are_converted_by_the_compiled_part(values, dtype):
    x = gc._graphc.plain_array(values, np.dtype(dtype))
    assert x is not NotImplemented
    np.testing.assert_array_equal(np.asarray(x), np.array(values, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", [v for v in PLAIN + OTHERS if np.ndim(v) == 2], ids=str)
def test_rows_written_to_parts(values, dtype):
    def written(xp, part):
        x = xp.ones((3, *np.shape(values)), dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                x[part] = values
            except Exception as error:
                return next(k for k in type(error).__mro__ if k.__module__ == "builtins")
        return np.asarray(x)

    for part in (0, slice(None), slice(1, None), (2, Ellipsis), (slice(None, None, -2), slice(None, None, -1)), (0, slice(1))):
        np.testing.assert_array_equal(written(gc, part), written(np, part))


KEYS = [([0, 1], [1, 2]), ([2, 0, 2], [1, 1, 1]), ([0, -1], 2), (1, [0, -3]), ([0, 1], [3, 0]), ([0, 1], [0]), ([True, False, True], [1, 2]), ([], []), ([0],)]
GIVEN = [5, 2.5, True, -1, [5, 6], [1.5, True, 3], [7], 300, 1e300, float("nan"), np.float32(2.5), np.int64(4), [[1, 2]], 2j, "1"]


@pytest.mark.parametrize("dtype", ["bool", "u1", "i8", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("kind", ["rows", "columns", "pending", "seen", "read-only"])
def test_numbers_written_to_listed_places(kind, dtype):
    """In their order, with NumPy's refusals; what was computed from the array before stays, and views of it see them."""

    def outcome(xp, key, value):
        x = xp.zeros((3, 3), dtype) + (0 if dtype == "bool" else 1) if kind == "pending" else xp.array(np.eye(3, dtype=dtype))
        x = x.astype(dtype) if kind == "pending" else x.T if kind == "columns" else x
        seen, before = x[::-1], x + x if kind == "seen" else None
        if kind == "read-only":
            x.flags.writeable = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(4):
                try:
                    x[key] = value
                except Exception as error:
                    return next(k for k in type(error).__mro__ if k.__module__ == "builtins"), np.asarray(x).tolist()
        return np.asarray(x).tolist(), np.asarray(seen).tolist(), None if before is None else np.asarray(before).tolist()

    for key in KEYS:
        for value in GIVEN:
            if not (value != value and dtype in ("u1", "i8")):  # what is no integer may be any
                found, want = outcome(gc, key, value), outcome(np, key, value)
                if isinstance(want[0], type) and isinstance(found[0], type):  # of two mistakes either may be told
                    found, want = found[1], want[1]
                np.testing.assert_equal(found, want, f"{key} {value}")
