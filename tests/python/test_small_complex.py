"""Loops over small arrays of complex numbers: computed when met, with the bits of kernels, NumPy's values, and no program for each turn."""

import operator
import pickle
import warnings

import graphc as gc
import numpy as np
import pytest
from support.loops import in_turns

pytestmark = pytest.mark.graphc_only

DTYPES = ["complex64", "complex128"]


def numbers(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    z = ((rng.normal(size=shape) + 1j * rng.normal(size=shape)) * 3).astype(dtype)
    if z.size > 4:
        z.reshape(-1)[:4] = [1, complex(-0.0, 2), complex(3, -0.0), complex(-1, 0.0)]
    return z


def same_bits(program):
    def values():
        made = program()
        return [np.asarray(x) for x in (made if isinstance(made, (list, tuple)) else [made])]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded, now = in_turns(gc._graphc.NEVER, values), in_turns(0, values)
    for r, n in zip(recorded, now, strict=True):
        assert r.dtype == n.dtype and r.shape == n.shape
        assert r.tobytes() == n.tobytes(), (r, n)
    return now


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (4, 5), (300,)])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "equal", "not_equal", "power"])
def test_binary(name, shape, dtype):
    a, b = numbers(dtype, shape), numbers(dtype, shape, 2)
    x, y = gc.asarray(a), gc.asarray(b)
    f = getattr(gc, name)
    row, real = gc.asarray(numbers(dtype, shape[-1:], 3)), gc.asarray(b.real)
    got = same_bits(lambda: [f(x, y), f(x, x), f(x, row), f(row, x), f(x, real), f(real, x), f(x, 2), f(3.5, x), f(x, 1 - 2j)])
    np.testing.assert_allclose(got[0], getattr(np, name)(a, b), rtol=1e-4 if dtype == "complex64" else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["negative", "conj", "square", "abs", "exp", "sqrt", "sin", "log", "reciprocal", "sign", "angle", "real", "imag"])
def test_unary(name, dtype):
    z = numbers(dtype, (6, 8))
    x = gc.asarray(z)
    f = getattr(gc, name)
    got = same_bits(lambda: [f(x), f(x[1:5, ::2]), f(x[2, 3]), f(x.T), f(x[:, 3])])
    np.testing.assert_allclose(got[0], getattr(np, name)(z), rtol=1e-5 if dtype == "complex64" else 1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left,right", [((3, 3), (3, 3)), ((4,), (4,)), ((1, 6), (6, 1)), ((2, 5), (5,)), ((5,), (5, 2)), ((9, 17), (17, 6)), ((2, 0), (0, 3))])
def test_products(left, right, dtype):
    a, b = numbers(dtype, left), numbers(dtype, right, 2)
    x, y = gc.asarray(a), gc.asarray(b)
    more, less = gc.asarray(numbers(dtype, left[::-1], 3)), gc.asarray(numbers(dtype, right[::-1], 4))
    got = same_bits(lambda: [x @ y, x @ less.T, more.T @ y, gc.conj(x) @ y, x.real @ y])
    np.testing.assert_allclose(got[0], a @ b, rtol=1e-4 if dtype == "complex64" else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (1, 2)])
def test_sums(axis, dtype):
    z = numbers(dtype, (5, 6, 7))
    x = gc.asarray(z)
    got = same_bits(lambda: [gc.sum(x, axis=axis), gc.mean(x, axis=axis), gc.sum(x[::2, :, 1:], axis=axis), gc.sum(x[:, 1, 2]), gc.prod(x, axis=axis)])
    np.testing.assert_allclose(got[0], z.sum(axis), rtol=1e-4 if dtype == "complex64" else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_writes(dtype):
    z, v = numbers(dtype, (6, 8)), numbers(dtype, (8,), 2)

    def program(np_):
        x, y = np_.array(z), np_.array(v)
        x[0] = y
        x[1, 2:5] = y[:3] * 2
        x[2] += x[3]
        x[2, ::2] -= y[:4]
        x[3:5] *= 2
        x[4, 1:] /= y[1:]
        x[0, 1:] = x[0, :-1]  # overlapping
        x[1:, 0] += x[:-1, 0]
        x[5] = np_.arange(8)
        x[5, 3:] += np_.arange(5.0)
        x[:, 7] = 1 - 2j
        x[2:4, 2:4] = [[1, 2j], [3, 4]]
        filled, empty = np_.full((2, 3), 2 - 1j, dtype=dtype), np_.zeros(5, dtype=dtype)
        empty[1:4] = x[0, :3]
        joined = np_.concatenate([x[0], y, np_.ones(2)])
        chosen = np_.where(np_.arange(8) % 2 == 0, x[1], y)
        return [x, filled, empty, joined, chosen, x[1:3].astype("complex64"), x[2].copy(), x.T.reshape(-1), np_.arange(3).astype(dtype)]

    got = same_bits(lambda: program(gc))
    for g, n in zip(got, program(np), strict=True):
        assert g.dtype == n.dtype
        np.testing.assert_allclose(g, n, rtol=1e-5 if dtype == "complex64" else 1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_infinite_data(value, dtype):
    z = numbers(dtype, (9,))
    z[2], z[5] = complex(value, 1), complex(0, value)
    x, y = gc.asarray(z), gc.asarray(numbers(dtype, (9,), 2))
    got = same_bits(lambda: [x + y, x == x, x != x, gc.sum(x), gc.where(x == x, x, y)])
    np.testing.assert_array_equal(np.isnan(got[0]), np.isnan(z + np.asarray(y)))


def test_errors_are_told_at_their_lines():
    x, y = gc.asarray(np.array([1 + 1j, 2])), gc.asarray(np.array([1, 0j]))
    big = gc.asarray(np.array([1e300 + 1e300j, 1]))
    for f, text in ((lambda: x / y, "divide"), (lambda: big * big, "multiply|overflow"), (lambda: big.astype("complex64"), "cast")):
        with pytest.warns(RuntimeWarning, match=text):
            in_turns(0, lambda f=f: np.asarray(f()))
    with pytest.raises(TypeError):
        in_turns(0, lambda: gc.arange(3.0).__iadd__(1j))


def test_views_see_what_is_written():
    x = gc.zeros((4, 3), dtype="complex128")
    row, part = x[1], x.real

    def program():
        for i in range(4):
            x[i] += gc.arange(3) * (1 + 2j) * i
        return [np.asarray(row), np.asarray(part)]

    seen = in_turns(0, program)
    np.testing.assert_array_equal(seen[0], np.arange(3) * (1 + 2j))
    np.testing.assert_array_equal(seen[1], np.arange(4)[:, None] * np.arange(3.0))


def test_a_loop_runs_no_programs():
    a = gc.asarray(numbers("complex128", (4, 5, 3, 3)))
    b, sums = gc.asarray(numbers("complex128", (5, 3, 3), 2)), gc.zeros((4, 3, 3), dtype="complex128")
    gc.eval(a, b, sums)

    def program():
        for i in range(4):
            for j in range(5):
                product = a[i, j] @ b[j]
                scaled = b[j] * a[i, j, 1, 2]
                sums[i] += product @ scaled

    program()
    before = gc.cache_info()["programs_run"]
    program()
    if gc.asarray(0).device == "cpu":
        assert gc.cache_info()["programs_run"] == before
    expected = np.zeros((4, 3, 3), dtype=complex)
    for _ in range(2):
        for i in range(4):
            for j in range(5):
                expected[i] += np.asarray(a)[i, j] @ np.asarray(b)[j] @ (np.asarray(b)[j] * np.asarray(a)[i, j, 1, 2])
    np.testing.assert_allclose(np.asarray(sums), expected, rtol=1e-12)


def test_a_complex_number_made_of_parts_in_a_loop_has_both():
    for k in range(40):
        z = complex(k / 7, k * 2.13)
        assert complex(gc.round(gc.asarray([z])[0], 1)) == complex(np.round(z, 1))


def outcome(operation, *operands):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        value = operation(*operands)
    return np.asarray(value).tobytes(), np.asarray(value).dtype, sorted(str(w.message) for w in told)


@pytest.mark.parametrize("dtype", DTYPES)
def test_single_values_are_numpys(dtype):
    z = np.array([1 + 2j, -3.5 + 0.25j, complex(-0.0, 3), complex(0.0, -0.0), 1e30 + 1e-30j], dtype)
    ours = gc.asarray(z)
    for operation in (operator.add, operator.sub, operator.mul, operator.eq, operator.ne):
        for i in range(len(z)):
            for other in [2, 2.5, 1j, -0.0, True, np.inf, 10**16 + 1, *range(len(z))]:
                theirs, mine = (z[other], ours[other]) if type(other) is int and other < 5 else (other, other)
                assert outcome(operation, ours[i], mine) == outcome(operation, z[i], theirs), (operation, z[i], theirs)
                assert outcome(operation, mine, ours[i]) == outcome(operation, theirs, z[i]), (operation, theirs, z[i])
    for part in (operator.neg, complex, hash, repr, lambda s: s.real, lambda s: s.imag, lambda s: s.conjugate(), lambda s: s.item()):
        for i in range(len(z)):
            assert outcome(part, ours[i]) == outcome(part, z[i])


def test_a_single_value_is_an_array_as_well():
    value = gc.asarray([1 + 2j, 3 - 1j])[1] * 1
    assert value.shape == () and value.device == gc.asarray(0).device
    assert value.reshape(1).tolist() == [3 - 1j] and gc.stack([value, value]).tolist() == [3 - 1j] * 2
    double = gc.jit(lambda x: x * value + value)
    assert double(gc.asarray([2.0, 0.0])).tolist() == [9 - 3j, 3 - 1j]
    assert complex(pickle.loads(pickle.dumps(value))) == value == 3 - 1j
    with pytest.raises(OverflowError):
        value + 10**400


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_single_values_in_loops(dtype):
    extremes = [0, -1, 1j, 3 + 4j, 1e-300 + 1e-310j, 1e30, 1e300 - 1e299j, complex(np.inf, 1), complex(np.nan, 0)]
    with np.errstate(all="ignore"):
        z = gc.asarray(np.concatenate([numbers(dtype, 40, 5), np.array(extremes).astype(dtype)]))

    def program():
        made = []
        for i in range(len(z)):
            v = z[i]
            made += [abs(v), gc.abs(v), gc.exp(v), gc.sqrt(v), gc.log(v), gc.sin(v), gc.conj(v), gc.square(v), gc.isnan(v), gc.angle(v), gc.imag(v)]
            made += [v**0.5, v**1.7, v**-0.5, gc.exp(0.5j), gc.sqrt(complex(i, -1))]
        return made

    for made, value in zip(same_bits(program)[::16], np.asarray(z).tolist(), strict=True):
        size = np.abs(np.array(value, dtype))
        assert made == size or np.isnan(size) or abs(made - size) <= np.spacing(size)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (7,), (4, 5), (2, 3, 4), (300,)])
def test_running_products_and_extremes(dtype, shape):
    z = numbers(dtype, shape)
    z /= np.abs(z)
    for part in (z, z.T, z[::-1]):
        for axis in (None, *range(-1, part.ndim)):
            for name in ("cumprod", "argmax", "argmin", "max", "min"):
                want = getattr(np, name)(part, axis)
                for got in same_bits(lambda: getattr(gc, name)(gc.asarray(part), axis)):
                    if name == "cumprod":
                        np.testing.assert_allclose(got, want, rtol=1e-4 if dtype == "complex64" else 1e-12)
                    else:
                        assert got.dtype == want.dtype and np.array_equal(got, want)
    missing = z.reshape(-1).copy()
    missing[missing.size // 2] = complex(np.nan, 1)
    same_bits(lambda: [gc.argmax(gc.asarray(missing)), gc.argmin(gc.asarray(missing)), gc.cumprod(gc.asarray(missing))])
