"""What suites and programs written for NumPy expect besides values: assertions, classes of numbers, errors at their statement."""

import gc as gc_module
import numbers
import pickle
import warnings
import weakref

import graphc as gc
import numpy as np
import pytest
from support import exact


def both(program, *args):
    got, want = program(gc, *args), program(np, *args)
    got, want = (r if isinstance(r, (list, tuple)) else [r] for r in (got, want))
    for g, w in zip(got, want, strict=True):
        exact.assert_same(np.asarray(g), np.asarray(w))


def raises_alike(call):
    found = []
    for xp in (np, gc):
        with pytest.raises(Exception) as info:  # noqa: PT011
            call(xp)
        found.append(info.value)
    theirs, ours = found
    assert isinstance(ours, type(theirs)), (type(ours), type(theirs))


def test_assertions_take_arrays():
    x = gc.arange(4.0)
    gc.testing.assert_equal(x, [0, 1, 2, 3])
    gc.testing.assert_equal({"a": [x, 1]}, {"a": [x + 0, 1]})
    gc.testing.assert_equal(x.sum(), 6.0)
    gc.testing.assert_equal((gc.array([gc.nan, 1]), 2), (gc.array([gc.nan, 1]), 2))
    gc.testing.assert_array_almost_equal_nulp(x + 1, np.arange(1.0, 5), 1)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        gc.testing.assert_allclose(x, x + 1)

    class Parameter:
        def __array__(self, dtype=None, copy=None):
            return gc.array(2.5)

    gc.testing.assert_allclose(Parameter(), 2.5)
    with gc.testing.assert_raises(ValueError):
        gc.zeros(2) + gc.zeros(3)
    assert gc.testing.KnownFailureException is np.testing.KnownFailureException


def test_single_results_are_numbers_to_isinstance():
    x, n = gc.arange(5.0), gc.arange(5)
    for value, kind in ((x.sum(), np.float64), (n[2], np.int64), (x.astype("f4").max(), np.float32), (x[0] == 0, np.bool_)):
        assert isinstance(value, kind)
        assert gc.isscalar(value)
    assert isinstance(x.mean(), float) and isinstance(n.argmax(), (int, np.integer))
    assert isinstance((x * 1j).sum(), complex)
    assert isinstance(x[1], numbers.Real) and not isinstance(x, np.generic)
    assert not gc.isscalar(x) and not gc.isscalar(gc.asarray(2.0))
    assert x[1].as_integer_ratio() == (1, 1) and n[2].denominator == 1
    assert n[3].bit_count() == 2 and x[1].hex() == "0x1.0000000000000p+0" and x[2].is_integer()
    assert not hasattr(x, "as_integer_ratio")


def test_raised_floating_point_errors_come_at_their_statement():
    x = gc.zeros(3)
    with gc.errstate(all="raise"):
        for statement in (lambda: gc.log(x), lambda: x / 0, lambda: gc.exp(np.float16(20)), lambda: gc.sqrt(gc.array([-1.0]))):
            with pytest.raises(FloatingPointError):
                statement()
        with pytest.raises(FloatingPointError):
            x /= 0
        assert (gc.ones(2) + 1).tolist() == [2, 2]
        assert gc.jit(lambda a: a + 1)(gc.ones(2)).tolist() == [2, 2]
    met = []
    with gc.errstate(divide="call", call=lambda text, flag: met.append(text)):
        gc.ones(2) / gc.zeros(2)
        assert met == ["divide by zero"]


def test_objects_that_give_arrays():
    class Two:
        def __init__(self, xp):
            self.xp = xp

        def __array__(self, dtype=None, copy=None):
            return self.xp.array([1.0, 2.0])

    both(lambda xp: [xp.asarray(Two(xp)), xp.ones(2) + Two(xp), xp.sqrt(Two(xp)), xp.asarray(Two(xp), dtype="f4")])
    both(lambda xp: [xp.asarray(memoryview(bytearray(b"abc"))), xp.sum(memoryview(bytearray(b"abc")))])


def test_spaced_arrays():
    def program(xp):
        start, stop = xp.array([1.0, -2.0]), xp.array([[16.0, -8.0]])
        return [
            xp.geomspace(start, stop, 4), xp.geomspace(start, stop, 3, axis=-1), xp.geomspace(1, 8, 4, dtype="f4"),
            xp.geomspace(-1000, -1, 4), xp.logspace([0, 1], 2, 3, base=2.0), xp.logspace([0, 1], 2, 3, axis=1),
            xp.logspace(0, 2, 3, dtype=int),
        ]  # fmt: skip

    for got, want in zip(program(gc), program(np), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-15 if want.dtype != "f4" else 1e-6)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(np.asarray(gc.geomspace(-3, 3, 4)), np.geomspace(-3, 3, 4), equal_nan=True)
    np.testing.assert_allclose(np.asarray(gc.geomspace(1, 16j, 5)), np.geomspace(1, 16j, 5), rtol=1e-14)
    raises_alike(lambda xp: xp.geomspace(0, 3))


def test_polynomials_as_objects():
    def program(xp):
        p = xp.poly1d([1.0, 2, 3])
        q = xp.poly1d([1.0, 1])
        p[4] = 5
        quotient, rest = xp.polydiv(p, q)
        made = [xp.polyadd(p, q), xp.polymul(p, q), xp.polyder(p), xp.polyint(p), quotient, rest, p**2, 2 / q]
        assert all(isinstance(m, xp.poly1d) for m in made)
        coefficients = [m.coeffs for m in made]
        return [*coefficients, xp.polymul([0, 0, 1, 2], [0, 3]), p[9], p(2.0), xp.polyval(p, [1.0, 2])]

    both(program)
    for xp in (np, gc):
        p = xp.poly1d([1.0, 2, 3])
        assert repr(p) == "poly1d([1., 2., 3.])"
        p.coeffs[1] = 7
        assert p[1] == 7 and p == xp.poly1d([1, 7, 3]) and p != 3
    raises_alike(lambda xp: setattr(xp.poly1d([1]), "coeffs", 2))
    raises_alike(lambda xp: xp.poly1d([1, 2]) ** -1)


def test_vectorize_excludes_what_is_given_by_name():
    def program(xp):
        def value(x, p):
            return x * p[0] + p[1]

        f = xp.vectorize(value, excluded=["p", 1])
        return f([0, 1], p=[1, 2]), f(x=[0, 1], p=[1, 2]), f([0, 1], [1, 2]), xp.vectorize(value, excluded=["p"])(xp.arange(3.0), p=(2, 3))

    both(program)


def test_functions_of_arrays_end_with_their_objects():
    class Model:
        def step(self, x):
            return x

    def made(xp):
        model = Model()
        model.f, model.g = xp.frompyfunc(model.step, 1, 1), xp.vectorize(model.step)
        assert model.f(xp.arange(3)).tolist() == model.g(xp.arange(3)).tolist() == [0, 1, 2]
        return weakref.ref(model)

    for xp in (np, gc):
        references = [made(xp) for _ in range(3)]
        gc_module.collect()
        assert [r() for r in references] == [None] * 3


def test_words_of_names_that_were_removed_are_numpys():
    for name in ("float_", "Inf", "NaN", "int", "asfarray", "alltrue"):
        with pytest.raises(AttributeError) as theirs:
            getattr(np, name)
        with pytest.raises(AttributeError) as ours:
            getattr(gc, name)
        assert str(ours.value).startswith(str(theirs.value).splitlines()[0].replace("module 'numpy'", "module 'numpy'"))


def test_small_answers_are_numpys():
    assert isinstance(gc.clip(3, None, None), np.integer) and isinstance(gc.clip(gc.array(2.5), None, None), np.floating)
    raises_alike(lambda xp: setattr(xp.arange(3.0), "imag", 2))
    modes = gc.errstate(divide="ignore")
    with modes:
        pass
    with pytest.raises(TypeError, match="twice"), modes:
        pass


@pytest.mark.parametrize("seed", [None, 3])
def test_legacy_draws_take_vectors(seed):
    for a in ([[1, 2], [3, 4]], np.ones((2, 2))):
        raises_alike(lambda xp, a=a: xp.random.RandomState(seed).choice(xp.asarray(a), 3))
        raises_alike(lambda xp, a=a: xp.random.RandomState(seed).choice(a))
    raises_alike(lambda xp: xp.random.RandomState(seed).multinomial(10, [[0, 1], [1, 0]]))
    state = gc.random.RandomState(seed)
    assert state.choice([5, 6], 4).shape == (4,) and state.choice(3, (2, 2), p=[0, 1, 0]).tolist() == [[1, 1], [1, 1]]
    assert state.multinomial(6, [0.5, 0.5], 3).sum(axis=1).tolist() == [6, 6, 6]
    assert sorted(state.choice(4, 4, replace=False).tolist()) == [0, 1, 2, 3]


def test_whatever_numpy_pickles_is_pickled():
    for module, theirs in ((gc, np), (gc.linalg, np.linalg), (gc.random, np.random), (gc.fft, np.fft)):
        for name in dir(theirs):
            value, wanted = getattr(module, name, None), getattr(theirs, name)
            if name.startswith("_") or not callable(value) or not callable(wanted):
                continue
            try:
                pickle.dumps(wanted)
            except (TypeError, AttributeError, pickle.PicklingError):
                continue
            pickle.dumps(value)
            if not isinstance(value, type) and module is not gc.random:
                assert pickle.loads(pickle.dumps(value)) is value, name
    for kind in (type(gc.mean), type(gc.sin), type(gc.arange(2).flat), type(gc.array)):
        assert pickle.loads(pickle.dumps(kind)) is kind


def test_places_are_integers():
    for call in (
        lambda xp: xp.unravel_index(0.5, (2, 2)), lambda xp: xp.unravel_index(xp.array([1.0])[0], (2, 2)), lambda xp: xp.unravel_index([1.0], (2, 2)),
        lambda xp: xp.ravel_multi_index((1.0, 1), (2, 2)), lambda xp: xp.ravel_multi_index(([1.0], [1]), (2, 2)),
    ):  # fmt: skip
        raises_alike(call)


def test_wrong_numbers_of_operands_are_the_callers_errors():
    """Programs tell by the depth of the traceback that a call, and nothing in it, was wrong."""
    for name, args in (("sin", ()), ("sin", (1, 2, 3)), ("add", (1,)), ("add", (1, 2, 3, 4)), ("hypot", (1,)), ("divmod", (1,))):
        found = []
        for xp in (np, gc):
            with pytest.raises(TypeError) as info:
                getattr(xp, name)(*args)
            found.append((str(info.value), len(info.traceback)))
        assert found[0] == found[1]


def test_vectorize_by_signature():
    def program(xp):
        dot = xp.vectorize(lambda a, b: (a * b).sum(), signature="(n),(n)->()")
        both_of = xp.vectorize(lambda a, b: (a + b, a - b), signature="(n),(n)->(n),(n)", otypes=["f4", "f8"])
        scaled = xp.vectorize(lambda a, k: a * k, excluded=["k"], signature="(n)->(n)")
        small = xp.vectorize(lambda v: v + v)(xp.array([1, 2, 3], dtype="i2"))
        return [dot(xp.ones((4, 3)), xp.arange(3.0)), *both_of(xp.ones((2, 3)), xp.arange(3)), scaled(xp.arange(3.0), k=2), small]

    both(program)
    add = "(n),(n)->(n)"
    raises_alike(lambda xp: xp.vectorize(lambda a, b: a, signature=add)(1))
    raises_alike(lambda xp: xp.vectorize(lambda a, b: a, signature=add)([1], [1, 2]))
    raises_alike(lambda xp: xp.vectorize(lambda a: (a, a), signature="()->()")(1))
    raises_alike(lambda xp: xp.vectorize(lambda a: a, signature="()->()")(xp.zeros((0,))))
    raises_alike(lambda xp: xp.vectorize(lambda a: a, signature="(a)(b)->()")(1))


def test_covariances():
    def program(xp):
        x = xp.array([[0.0, 2], [1, 1], [2, 0]]).T
        with xp.errstate(all="ignore"):
            few = xp.cov(x, ddof=5)
        return [xp.cov(x, fweights=[1, 4, 1]), xp.cov(x, aweights=[1.0, 4, 1]), xp.cov(xp.ones((3, 1)).T, ddof=0, rowvar=False), few]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for got, want in zip(program(gc), program(np), strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)
    for weights in ({"fweights": [0.5, 1, 1]}, {"fweights": [[1]]}, {"aweights": [1.0]}, {"aweights": [-1.0, 1, 1]}):
        raises_alike(lambda xp: xp.cov(xp.ones((2, 3)), **weights))  # noqa: B023


def test_small_differences():
    def program(xp):
        x = xp.array([0, xp.nan, xp.nan])
        with xp.errstate(all="ignore"):
            ends = xp.interp([0.5, 1.0], [0, 1], [0, complex(1, xp.inf)])
        return [
            xp.unique(x, axis=0), xp.sinc(xp.float16(6e-8)), ends.real, ends.imag, xp.trim_zeros(xp.array([0, 1, 0])),
            xp.fft.fftn(xp.ones((3, 4)), s=(2, -1), axes=(0, 1)).real,
        ]  # fmt: skip

    both(program)
    x = gc.ones(2)
    assert gc.diff(x, n=0) is x
    assert gc.trim_zeros([0, 1, 2, 0]) == [1, 2] and gc.trim_zeros((0, 1)) == (1,)
    with pytest.warns(DeprecationWarning, match="`axes` should not be `None`"):
        gc.fft.fftn(gc.ones((3, 4)), s=(2, 2))


def test_arrays_say_shapes_and_places():
    def program(xp):
        x = xp.arange(24.0).reshape(2, 3, 4)
        shape = xp.array([2, 3])
        return [
            xp.zeros(shape), xp.ones(xp.array(3)), xp.full(shape, 2.5), xp.empty(shape).shape, xp.moveaxis(x, range(2), [1, 0]),
            xp.partition(xp.array([3, 1, 2]), range(3)), xp.ix_(xp.array([], dtype="f4"))[0], xp.ix_([])[0],
            xp.arange(0, 1, xp.inf), xp.arange(0, -2, -xp.inf), xp.arange(0, 1, -xp.inf), xp.arange(0, 1e-300, 1e300),
            xp.isclose(xp.float32(1), 0.9999999999999998, atol=0, rtol=0), xp.hypot.reduce(xp.zeros((0, 2), dtype=int)),
            xp.subtract.reduce(x, axis=2), xp.power.reduce(xp.array([2, 3, 2])), xp.equal.reduce(xp.array([True, False])),
        ]  # fmt: skip

    both(program)
    out = gc.zeros(2, dtype=complex)
    assert (gc.ones(2) + 1j).conjugate(out) is out and out.tolist() == [1 - 1j, 1 - 1j]
    assert gc.real(1.5) == 1.5 and type(gc.real(1.5)) is float and type(gc.imag(2j)) is float


@pytest.mark.parametrize(
    "call",
    [
        lambda xp: xp.divide.reduce(xp.ones((2, 3)), axis=(0, 1)),
        lambda xp: xp.lcm.reduce(xp.ones((2, 3), dtype=int), axis=None),
        lambda xp: xp.greater.reduce(xp.arange(3)),
        lambda xp: xp.lexsort((xp.array(1),), axis=10),
        lambda xp: xp.arange(3).put(100, 0),
        lambda xp: xp.put(xp.arange(3), [0, -4], 0),
        lambda xp: xp.unravel_index([], (10, 3)),
        lambda xp: xp.ravel_multi_index(([1], [2]), (2**40, 2**41)),
        lambda xp: xp.pad(xp.ones(3), 1.5),
        lambda xp: xp.pad(xp.ones(3), "a"),
        lambda xp: xp.pad(xp.ones(3), None),
        lambda xp: xp.stack(a for a in [xp.ones(2)]),
        lambda xp: xp.hstack(a for a in [xp.ones(2)]),
        lambda xp: xp.block(([1], [2])),
        lambda xp: xp.block([1, [2]]),
        lambda xp: xp.isin([1.0], [1], kind="quicksort"),
        lambda xp: xp.isin([1.0], [1.5], kind="table"),
        lambda xp: xp.select([xp.array([1])], [xp.array([1])]),
        lambda xp: xp.unique(xp.ones(3), axis=0.0),
        lambda xp: xp.quantile(xp.ones(3), 0.5, weights=[-1, 1, 1], method="inverted_cdf"),
        lambda xp: xp.quantile(xp.ones(3), 0.5, weights=[0, 0, 0], method="inverted_cdf"),
        lambda xp: xp.fft.fft([1.0], out=""),
        lambda xp: xp.fft.fft([]),
        lambda xp: xp.vectorize(3),
    ],
)
def test_refused_alike(call):
    raises_alike(call)


@pytest.mark.parametrize("file", ["prog", "/nowhere/cell.py", "<cell>"])
def test_code_without_a_module_is_warned(file):
    code = compile("o = xp.array([1e300, 1]).astype('f4')\ns = float(o[1])", file, "exec")
    for xp in (np, gc):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            exec(code, {"xp": xp})
        assert [(str(w.message), w.filename, w.lineno) for w in told] == [("overflow encountered in cast", file, 1)]


def test_results_print_as_numpys_scalars():
    for kind in ("bool", "i1", "u8", "f2", "f4", "f8", "c8", "c16"):
        x, y = gc.ones(3, kind) / 3, np.ones(3, kind) / 3
        assert repr([x[0], x.sum(), x > 0]) == repr([y[0], y.sum(), y > 0])
        assert repr(gc.asarray(x[0])) == repr(np.asarray(y[0])) and str((x[1],)) == str((y[1],))


def test_equality_of_arrays_is_a_bool():
    x = gc.arange(3)
    assert gc.array_equal(x, [0, 1, 2]) is True and gc.array_equal(x, x + 1) is False and gc.array_equal(x, [0, 1]) is False
    assert bool(gc.jit(lambda a: gc.array_equal(a, a))(x))


def test_arrays_too_deep_are_refused():
    for xp in (np, gc):
        with pytest.raises(ValueError, match="would exceed the maximum number of dimension of 1"):
            xp.array([[1, 2], [3, 4]], ndmax=1)
        assert xp.array([1, 2], ndmax=1).shape == (2,)


def test_diagonals_of_einsum_are_written():
    def program(xp):
        a = xp.arange(27.0).reshape(3, 3, 3)
        xp.einsum("bii->bi", a)[1:] = -1
        xp.einsum("iii->i", a)[:2] += 100
        b = xp.arange(12).reshape(3, 4)
        xp.einsum("ij->ji", b)[1] = 7
        return a, b

    both(program)
    with pytest.raises(ValueError, match="read-only"):
        gc.diagonal(gc.ones((2, 2)))[0] = 1


def test_views_are_resized_within_their_memory():
    for xp in (np, gc):
        x = xp.arange(6).reshape(2, 3)
        x.resize((3, 2))
        assert x.tolist() == [[0, 1], [2, 3], [4, 5]]
        with pytest.raises(ValueError, match="own"):
            x.resize((4, 2))


def test_overflows_are_told_under_numpys_names():
    large = [1e300, 1.0]
    programs = {
        "multiply": lambda xp: xp.multiply(xp.array(large), 1.0, out=xp.zeros(2, "f4")),
        "dot": lambda xp: xp.inner(xp.array(large), xp.array(large)),
        "cast": lambda xp: xp.array(large).astype("f4"),
    }
    programs["dot "] = lambda xp: xp.linalg.norm(xp.array(large) * 2)
    programs["multiply "] = lambda xp: xp.cross(xp.array([large + [2.0]]), xp.array([[3.0, 1e300, 1e300]]))
    for name, program in programs.items():
        for xp in (np, gc):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                np.asarray(program(xp))
            assert f"overflow encountered in {name.strip()}" in {str(w.message) for w in told}, (name, xp, [str(w.message) for w in told])


def test_pending_exponents_below_zero_are_refused():
    for xp in (np, gc):
        a = xp.arange(1, 4)
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            a ** (a * 0 - 1)
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            2 ** (a - 2)
        assert (a ** (a - 1)).tolist() == [1, 2, 9] and (2 ** (a[::-1] % 3)).tolist() == [1, 4, 2]
    gc.eval()
    before = gc.cache_info()["evaluations"] if "evaluations" in gc.cache_info() else None
    p = 2 ** gc.arange(10)[::-1].reshape(2, 5)
    assert before is None or gc.cache_info()["evaluations"] == before
    assert gc._graphc.pending(p)


def test_products_powers_and_updates_are_told_under_their_names():
    large = np.full(3, 1e300)
    programs = {
        "matmul": lambda xp: xp.asarray(large) @ xp.asarray(large), "square": lambda xp: xp.asarray(large) ** 2,
        "reciprocal": lambda xp: xp.zeros(3) ** -1, "power": lambda xp: xp.asarray(large) ** 3, "ldexp": lambda xp: xp.ldexp(xp.asarray(large), 4000),
        "multiply": lambda xp: xp.kron(xp.asarray(large), xp.asarray(large)), "subtract": lambda xp: xp.gradient(xp.asarray([[1e308] * 2, [-1e308] * 2, [0, 0]]), axis=0),
    }  # fmt: skip
    for name, program in programs.items():
        for xp in (np, gc):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                np.asarray(program(xp))
            assert any(str(w.message).endswith(f"encountered in {name}") for w in told), (name, xp, [str(w.message) for w in told])
    for xp in (np, gc):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            x = xp.ones(3, "f4")
            x *= xp.asarray(large)
            assert np.isinf(np.asarray(x)).all()
        assert {str(w.message) for w in told} == {"overflow encountered in multiply"}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert xp.ldexp(xp.asarray([1.0, np.inf, 1e-300]), [3, 4, 1500]).tolist()[:2] == [8, np.inf]


def test_interpolation_at_numbers():
    points, values = np.array([0.0, 1, 2.5, 4, 4]), np.array([3.0, -1, 7, 2, 9])
    for at in (-1.0, 0.0, 0.3, 1.0, 2.5, 3.99, 4.0, 5.0, np.nan, 2, np.float32(0.1)):
        for p, v in ((points, values), (points[:3].tolist(), values[:3].tolist())):
            want, got = np.interp(at, p, v), gc.interp(at, p, v)
            assert gc.interp(at, gc.asarray(p), gc.asarray(v)).tolist() == pytest.approx(want, nan_ok=True)
            exact.assert_same(np.asarray(gc.interp(gc.asarray([at]), p, v))[0], np.asarray(got))
            assert got.dtype == np.float64 and got.shape == () and float(got) == pytest.approx(want, nan_ok=True)


def test_layouts_that_come_from_numpy():
    f = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    made = {
        "asarray": lambda xp: xp.asarray(f), "array": lambda xp: xp.array(f), "array C": lambda xp: xp.array(f, order="C"), "copy": lambda xp: xp.copy(f), "float32": lambda xp: xp.asarray(f, "f4"),
        "pickle": lambda xp: pickle.loads(pickle.dumps(xp.asfortranarray(xp.asarray(f)))), "column": lambda xp: xp.arange(4.0).reshape(4, 1), "row": lambda xp: xp.arange(4.0).reshape(1, 4),
        "of a part": lambda xp: xp.arange(8.0)[::2].reshape(4, 1), "units": lambda xp: xp.arange(4.0).reshape(1, 2, 1, 2, 1), "plus": lambda xp: xp.asarray(f) + 1,
    }  # fmt: skip
    for name, make in made.items():
        got, want = make(gc), make(np)
        assert got.strides == want.strides, (name, got.strides, want.strides)
        exact.assert_same(got, np.ascontiguousarray(want))
    x = gc.array(f)
    x[0, 0] = 100
    assert f[0, 0] == 0 and float(x[0, 0]) == 100


def test_rights_to_write_come_and_go():
    for xp in (np, gc):
        a = xp.arange(4)
        a.flags.writeable = False
        for change in (lambda x: x.__setitem__(0, 1), lambda x: x.__iadd__(1)):
            with pytest.raises(ValueError, match="read-only"):
                change(a)
        a.setflags(write=True)
        a[0] = 5
        assert a.tolist() == [5, 1, 2, 3] and a.flags.writeable and a.flags.owndata
        b = xp.frombuffer(b"abc", xp.uint8)
        assert not b.flags.writeable and xp.frombuffer(bytearray(b"abc"), xp.uint8).flags.writeable
        with pytest.raises(ValueError):
            xp.broadcast_to(xp.arange(3), (2, 3))[...] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        gc.broadcast_to(gc.arange(3), (2, 3)).setflags(write=True)


def test_signatures_of_products():
    for name in ("matmul", "vecdot", "add"):
        assert getattr(gc, name).signature == getattr(np, name).signature


def test_einsum_refuses_what_numpy_refuses():
    for xp in (np, gc):
        a = xp.ones((2, 2))
        for call in (lambda x=a: xp.einsum(x, [0, 52], x, [52, 1], [0, 1]), lambda x=a: xp.einsum(x, [0, -1]), lambda x=a: xp.einsum("ij", x, order="W")):
            with pytest.raises(ValueError):
                call()
        with pytest.warns(RuntimeWarning, match="Converting input from bool to <class 'numpy.uint8'> for compatibility"):
            xp.histogram(xp.array([True, False, True]), bins=2)


@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
def test_grids_by_lists_of_slices_and_by_floats(name):
    def program(xp):
        grid = getattr(xp, name)
        grids = [
            grid[[slice(3), slice(1, 4)]], grid[(slice(2),)], grid[[slice(0, 1, 0.3)]], grid[-1:1:0.1, 0:1:3j], grid[-2.0:7.5:11j, 0:1:1j],
            grid[0.3:7.5:7j], grid[1:5], grid[0 : 1 : np.complex64(4j), 2:5],
        ]  # fmt: skip
        return [a for g in grids for a in (g if isinstance(g, tuple) else (g,))]

    both(program)


def test_axes_and_shifts_in_arrays():
    def program(xp):
        x, m = xp.zeros((2, 3, 4)), xp.arange(6).reshape(2, 3)
        return [
            xp.moveaxis(x, xp.arange(2), xp.array([2, 0])), xp.moveaxis(x, xp.array([1]), [0]), xp.flip(m, xp.array([0])),
            xp.roll(m, (1, 2), xp.array([0, 1])), xp.roll(m, (1, 2), 1), xp.roll(m, (1, 1), (0, 0)), xp.roll(m, (1, 2)), xp.roll(m, 1.7, 1),
            xp.roll(m, xp.array([1, 2])), xp.roll(m, xp.array(2), (0, 1)), xp.roll(m, ()), xp.repeat(m, 2.0),
        ]  # fmt: skip

    both(program)
    for xp in (np, gc):
        for shift, axis, words in (([[1]], 0, "should be scalars or 1D"), ((1, 1, 1), (0, 1), "shape mismatch")):
            with pytest.raises(ValueError, match=words):
                xp.roll(xp.zeros((2, 3)), shift, axis)


def test_single_results_become_what_numpys_scalars_become():
    for xp in (np, gc):
        total = xp.arange(3.5).sum()
        assert total.astype("timedelta64[s]") == np.timedelta64(6, "s") and total.astype("U5") == "6.0" and xp.arange(3).sum().astype("M8[s]") == np.datetime64(3, "s")


def test_versions_are_numpys():
    assert gc.__version__ == np.__version__ and gc.version.version == np.version.version
    assert gc.lib.NumpyVersion(gc.__version__) >= "2.0.0"
    from graphc.version import full_version

    assert full_version == np.version.full_version


def test_result_classes_are_found_where_numpy_has_them():
    for xp in (np, gc):
        assert isinstance(xp.linalg.eigh(xp.eye(2)), xp.linalg._linalg.EighResult)
    from graphc.fft import _pocketfft
    from graphc.linalg import _umath_linalg
    from graphc.linalg._linalg import _commonType, isComplexType

    assert _umath_linalg is np.linalg._umath_linalg and _pocketfft is np.fft._pocketfft
    assert isComplexType(np.complex128) and _commonType(gc.ones(2))[0] is np.double


#: Numbers as programs have them: computed, of an array, of NumPy's, a float that is a whole number.
NUMBERS = {
    "single": lambda xp: xp.arange(4)[2], "array": lambda xp: xp.array(2), "of_numpy": lambda xp: np.int64(2), "float": lambda xp: 2.0,
    "float64": lambda xp: np.float64(2), "single_float": lambda xp: xp.arange(4.0)[2], "many": lambda xp: xp.array([2]), "range": lambda xp: range(2, 3),
}  # fmt: skip
TAKEN = {
    "repeat": lambda xp, x, n: xp.repeat(x, n), "tile": lambda xp, x, n: xp.tile(x, n), "roll": lambda xp, x, n: xp.roll(x, n),
    "split": lambda xp, x, n: xp.split(x, n), "array_split": lambda xp, x, n: xp.array_split(x, n), "vsplit": lambda xp, x, n: xp.vsplit(x, n),
    "hsplit": lambda xp, x, n: xp.hsplit(x, n), "rot90": lambda xp, x, n: xp.rot90(x, n), "take": lambda xp, x, n: xp.take(x, n),
    "take_axis": lambda xp, x, n: x.take(n, 0), "tri": lambda xp, x, n: xp.tri(n), "tri_columns": lambda xp, x, n: xp.tri(3, n),
    "tri_diagonal": lambda xp, x, n: xp.tri(3, 4, n), "tril": lambda xp, x, n: xp.tril(x, n), "triu": lambda xp, x, n: xp.triu(x, n),
    "diag_indices": lambda xp, x, n: xp.diag_indices(n), "polyfit": lambda xp, x, n: xp.polyfit(x[0], x[1] ** 2, n).shape,
    "polyder": lambda xp, x, n: xp.polyder(x[0], n), "polyint": lambda xp, x, n: xp.polyint(x[0], n),
    "norm": lambda xp, x, n: xp.linalg.norm(x.reshape(2, 2, 4), axis=n), "over_axes": lambda xp, x, n: xp.apply_over_axes(xp.sum, x.reshape(2, 2, 4), n),
    "window": lambda xp, x, n: xp.lib.stride_tricks.sliding_window_view(x.reshape(2, 2, 4), 2, n),
    "put": lambda xp, x, n: (y := x.copy(), xp.put(y, n, 9))[0], "item": lambda xp, x, n: x.item(n), "index": lambda xp, x, n: x[n],
    "accumulate": lambda xp, x, n: xp.add.accumulate(x.reshape(2, 2, 4), n), "moveaxis": lambda xp, x, n: xp.moveaxis(x.reshape(2, 2, 4), n, [0]),
    "permutation": lambda xp, x, n: (xp.random.seed(0), xp.random.permutation(n))[1], "zeros": lambda xp, x, n: xp.zeros(n),
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", TAKEN)
def test_functions_take_the_numbers_that_numpys_take(name, kind):
    """With the same results, or errors of the same class."""
    found = []
    for xp in (np, gc):
        try:
            made = TAKEN[name](xp, xp.arange(16.0).reshape(4, 4), NUMBERS[kind](xp))
            found.append([np.asarray(m) for m in (made if isinstance(made, (list, tuple)) else [made])])
        except Exception as error:
            found.append(error)
    want, got = found
    if isinstance(want, Exception):
        assert isinstance(got, type(want)), (want, got)
        return
    assert not isinstance(got, Exception), got
    for g, w in zip(got, want, strict=True):
        exact.assert_same(g, w)


def test_triangles_of_no_whole_or_negative_sizes():
    both(lambda xp: [xp.tri(3.5), xp.tri(-1), xp.tri(2, -1), xp.tri(2.0, 3.0, 1.0)])


def test_elements_by_a_tuple():
    both(lambda xp: [(x := xp.arange(24).reshape(2, 3, 4)).item((1,)), x.item((1, 2, 0)), x.item(1, 2, 0), xp.arange(3).item((2,))])


def test_counts_and_places_in_lists_of_floats():
    def program(xp):
        y = xp.arange(5)
        xp.put(y, [1.0, 3.0], [7, 9])
        return [y, xp.bincount([1.5, 2.0, 2.9]), xp.bincount([])]

    both(program)
    for xp in (np, gc):
        for call in (lambda xp=xp: xp.bincount(xp.array([1.0, 2.0])), lambda xp=xp: xp.ediff1d(xp.arange(3) > 1), lambda xp=xp: xp.gradient(xp.arange(3) > 1)):
            with pytest.raises(TypeError, match="Cannot cast|boolean subtract"):
                call()


def test_elements_of_what_is_no_number_are_enumerated():
    for xp in (np, gc):
        assert list(xp.ndenumerate(["a", "b"])) == [((0,), "a"), ((1,), "b")]
        assert [(place, int(x)) for place, x in xp.ndenumerate(xp.arange(4).reshape(2, 2))] == [((0, 0), 0), ((0, 1), 1), ((1, 0), 2), ((1, 1), 3)]
        pairs = xp.broadcast(xp.arange(2), xp.array([["a"], ["b"]]))
        assert pairs.shape == (2, 2) and [(int(x), str(y)) for x, y in pairs] == [(0, "a"), (1, "a"), (0, "b"), (1, "b")]


def test_means_in_integers():
    def program(xp):
        x, bytes_ = xp.array([[1.5, 2.7], [-4, 5.2]]), xp.array([[200, 100], [100, 255]], dtype="u1")
        chosen = xp.mean(xp.array([1, 2, 4]), dtype="i8", where=xp.array([True, True, False]))
        return [xp.mean(xp.array([1, 2, 4]), dtype=int), x.mean(axis=0, dtype=xp.int32), bytes_.mean(axis=1, dtype=xp.uint8), chosen]

    both(program)
    x = [1.0, np.nan]
    raises_alike(lambda xp: xp.nanmean(xp.array(x), dtype=int))
    raises_alike(lambda xp: xp.nanvar(xp.array(x), out=xp.array(1)))
    raises_alike(lambda xp: xp.nanstd(xp.array(x), out=xp.array(1)))


def test_bit_generators_take_arrays_as_seeds():
    def program(xp):
        random = xp.random
        kinds = (random.MT19937, random.PCG64, random.PCG64DXSM, random.SFC64)
        made = [random.Generator(kind(seed)).random() for kind in kinds for seed in (xp.array([1, 2]), xp.array([7])[0])]
        again = pickle.loads(pickle.dumps(random.PCG64(xp.array([3]))))
        legacy = random.RandomState(random.MT19937(seed=5))

        class Own(random.MT19937):
            pass

        kept = [isinstance(again, random.PCG64), issubclass(Own, random.MT19937), isinstance(Own(1), Own), isinstance(again, Own)]
        return [*made, random.Generator(again).random(), legacy.rand(), random.RandomState(Own(4)).rand(), kept]

    both(program)
    assert isinstance(gc.random.RandomState(3)._bit_generator, gc.random.MT19937)


def test_files_of_columns_and_archives(tmp_path):
    def program(xp):
        text = ["1,2,3.5", "4,5,6"]
        rows = xp.genfromtxt(text, delimiter=",", dtype=(int, float, float))
        return [rows["f0"], rows["f2"], xp.genfromtxt(text, delimiter=",", dtype=[int, "f4", float])["f1"]]

    both(program)
    gc.savez(tmp_path / "a.npz", x=gc.arange(3))
    assert isinstance(gc.load(tmp_path / "a.npz"), gc.lib.npyio.NpzFile)


def test_flat_iterators_are_compared():
    def program(xp):
        a = xp.arange(6.0).reshape(2, 3)
        turned = xp.arange(6.0)[::-1].reshape(2, 3)
        made = [a.flat > 2, 2 < a.flat, a.T.flat <= xp.arange(6), a.flat >= turned.flat, a.flat < 1, a.flat == a.flat, a.flat != 3, sum(a.flat > 1)]
        return [*made, (xp.arange(6) > a.flat)]

    both(program)


def holder(xp):
    class Holder:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return xp.asarray(self.values)

    return Holder


@pytest.mark.parametrize("takes", [1, 2, 3])
def test_objects_wrap_results_as_in_numpy_1(takes):
    def program(xp):
        class Wrapped(holder(xp)):
            if takes == 1:
                def __array_wrap__(self, array):
                    return Wrapped(array)
            elif takes == 2:
                def __array_wrap__(self, array, context=None):
                    assert context[0] == xp.negative or len(context[1]) == 2
                    return Wrapped(array)
            else:
                def __array_wrap__(self, array, context, is_number):
                    assert not is_number
                    return Wrapped(array)

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            made = [xp.negative(Wrapped([1.0, 2.0])), xp.add(Wrapped([1.0, 2.0]), 1)]
        assert all(isinstance(w, Wrapped) for w in made)
        assert {(t.category, t.filename) for t in told} == ({(DeprecationWarning, __file__)} if takes < 3 else set())
        return [w.values for w in made]

    both(program)

    class Fails:
        def __array__(self, dtype=None, copy=None):
            return np.zeros(2)

        def __array_wrap__(self, array, context=None, is_number=False):
            raise TypeError("of its own")

    for xp in (np, gc):
        with pytest.raises(TypeError, match="of its own"):
            xp.negative(Fails())


@pytest.mark.parametrize(("number", "dtype"), [(3.0, "i8"), (3.0, "u1"), (1, "?"), (1j, "f8"), (2.5, "?")])
def test_numbers_are_cast_to_no_lower_kind(number, dtype):
    for xp in (np, gc):
        for operands in ((number, 1), (xp.ones(2, dtype), number)):
            with pytest.raises(TypeError, match="with casting rule 'same_kind'"):
                xp.add(*operands, dtype=dtype)
        assert xp.add(3.0, 4, dtype="f4").dtype == xp.add(True, 2, dtype="f4", casting="safe").dtype == np.float32
    if number != 1j:
        both(lambda xp: [xp.add(number, 1, dtype=dtype, casting="unsafe"), xp.add(2, True, dtype="u1"), xp.add(3, 2.5, dtype="F")])


def test_ranges_of_times_in_arrays():
    day = np.array(5, "m8[D]")
    for got, want in ((gc.arange(day), np.arange(day)), (gc.arange(0, day), np.arange(0, day)), (gc.arange(day, day + 2), np.arange(day, day + 2))):
        assert isinstance(got, np.ndarray) and got.dtype == want.dtype and got.tolist() == want.tolist()


def test_borders_of_no_elements_are_refused_where_there_is_no_border():
    raises_alike(lambda xp: xp.pad([1.0, 2.0], 0, "minimum", stat_length=0))
    raises_alike(lambda xp: xp.pad(xp.ones((2, 2)), ((0, 0), (1, 0)), "maximum", stat_length=((0, 0), (1, 1))))
    both(lambda xp: xp.pad([1.0, 2.0], 0, "mean", stat_length=0))


def test_files_keep_the_order_of_memory(tmp_path):
    def program(xp):
        xp.save(tmp_path / "f.npy", xp.asfortranarray(xp.arange(24.0).reshape(4, 6)))
        x = xp.load(tmp_path / "f.npy")
        assert x.flags.f_contiguous and not x.flags.c_contiguous and x.strides == (8, 32)
        x[1, 2] = -1
        columns = xp.loadtxt(["1 2 3", "4 5 6"], unpack=True)
        return [x, x.ravel("K"), x.T @ x, columns, xp.asarray(columns.strides)]

    both(program)


@pytest.mark.parametrize("name", ["float64", "double", "float32", "int64", "intp", "uint8", "bool_"])
def test_arrays_given_to_scalar_types_may_be_written(name):
    space = {}
    exec(f"def convert(xp, x):\n    y = xp.{name}(x)\n    y[1:] = 0\n    return y\n", space)  # noqa: S102
    for xp in (np, gc):
        made = space["convert"](xp, xp.arange(4).astype(name) + 0)
        exact.assert_same(np.asarray(made), np.array([0, 0, 0, 0], name))
    x = gc.arange(4).astype(name)
    space["convert"](gc, x)
    exact.assert_same(np.asarray(x), np.arange(4).astype(name))


def test_values_of_objects_that_are_asked_what_functions_mean():
    """NumPy asks them in functions of which they are operands, not where they are assigned, places or masks."""

    def program(xp):
        class Asked(holder(xp)):
            def __array_function__(self, function, types, args, keywords):
                return f"asked {function.__name__}"

        x = xp.array([3.0, 1.0, 2.0])
        assert xp.dot(x, Asked([1, 2, 3])) == "asked dot"
        x[:2] = Asked([7, 8])
        made = [x.copy()]
        x[xp.array([0, 2])] = Asked([5.0, 6.5])
        made += [x.copy(), x.sum(where=Asked([True, False, True])), x.take(Asked([0, 1])), xp.take(x, Asked([2, 0])), x[Asked([1, 1])]]
        n = xp.arange(3)
        n[...] = Asked([4.7, 5.2, -1.5])
        return [*made, n, x]

    both(program)
