"""Arrays made as the class of `like` makes them, blocks of matrices, and private parts of NumPy's modules of polynomials."""

import pickle
import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

MADE = {
    "arange": (3,), "array": ([1, 2],), "asanyarray": ([1, 2],), "asarray": ([1, 2],), "ascontiguousarray": ([1, 2],), "asfortranarray": ([1, 2],), "empty": (2,),
    "eye": (2,), "frombuffer": (b"\0" * 8,), "fromfunction": (lambda i: i, (2,)), "fromiter": ([1, 2], int), "fromstring": ("1 2", int), "full": (2, 7),
    "genfromtxt": (["1 2"],), "identity": (2,), "loadtxt": (["1 2"],), "ones": (2,), "require": ([1, 2],), "tri": (2,), "zeros": (2,),
}  # fmt: skip
OPTIONS = {"fromstring": {"sep": " "}}


class NamesOurs:
    def __array_function__(self, function, types, args, keywords):
        return function is getattr(gc, function.__name__), types, args, keywords


class NamesNumpys:
    def __array_function__(self, function, types, args, keywords):
        return function is getattr(np, function.__name__), types, args, keywords


class SaysNothing(NamesOurs):
    def __array_function__(self, function, types, args, keywords):
        return NotImplemented if function is gc.zeros else super().__array_function__(function, types, args, keywords)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("kind", [NamesOurs, NamesNumpys])
def test_the_class_of_like_is_asked(name, kind):
    is_named, types, args, keywords = getattr(gc, name)(*MADE[name], **OPTIONS.get(name, {}), like=kind())
    assert is_named and types == (kind,) and args[0] is MADE[name][0] and "like" not in keywords
    if kind is NamesOurs:  # NumPy's functions give some of their defaults besides
        assert args == MADE[name] and keywords == OPTIONS.get(name, {})


@pytest.mark.parametrize("name", MADE)
def test_like_is_an_array_or_says_what_functions_mean(name):
    make, options = getattr(gc, name), OPTIONS.get(name, {})
    for like in (1, [1], object(), np.float64(1), gc.arange(3.0).sum(), "text"):
        with pytest.raises(TypeError, match="`like` argument must be an array-like that implements the `__array_function__` protocol"):
            make(*MADE[name], **options, like=like)
    want = np.asarray(getattr(np, name)(*MADE[name], **options))
    for like in (None, gc.ones(2), np.ones(2)):
        got = np.asarray(make(*MADE[name], **options, like=like))
        assert got.dtype == want.dtype and got.shape == want.shape
        if name != "empty":
            exact.assert_same(got, want)


def test_classes_that_make_nothing_are_refused():
    with pytest.raises(TypeError, match="no implementation found for 'numpy.zeros'"):
        gc.zeros(2, like=SaysNothing())

    class Made(gc.ndarray):
        def __array_function__(self, function, types, args, keywords):
            return super().__array_function__(function, types, args, keywords).view(type(self))

    made = gc.full(2, 7, like=np.zeros(1).view(Made))
    assert type(made) is Made and made.tolist() == [7, 7]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_blocks_of_matrices():
    def program(xp):
        a, b = xp.array([[1, 2], [3, 4]]), xp.array([[5, 6], [7, 8]])
        assert a is not b
        return [xp.bmat([a, b]), xp.bmat((a, b)), xp.bmat([[a, b], [b, a]]), xp.bmat("a, b; b, a"), xp.r_["a, b; b, a"], xp.bmat(a)]

    for got, want in zip(program(gc), program(np), strict=True):
        assert type(got) is type(want) is np.matrix
        exact.assert_same(np.asarray(got), np.asarray(want))
    for xp in (np, gc):
        with pytest.raises(NameError, match="name 'q' is not defined"):
            xp.r_["q"]
        for key in (("q", 1), ("0,x", 1)):
            with pytest.raises(ValueError, match="unknown special directive"):
                xp.r_[key]


def test_no_differences_are_what_was_given():
    for x in ([1, 2], (1,), 5, gc.arange(3)):
        assert gc.diff(x, 0) is x
    for x in ([1, 2], 5):
        with pytest.raises(ValueError, match="order must be non-negative but got -1"):
            gc.diff(x, -1)


def test_private_parts_of_polynomials():
    for module in ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e", "polyutils"):
        ours, theirs = getattr(gc.polynomial, module), getattr(np.polynomial, module)
        assert all(hasattr(ours, name) for name in vars(theirs) if not name.startswith("__"))
    got = gc.polynomial.chebyshev._cseries_to_zseries(gc.array([1.0, 2, 3]))
    exact.assert_same(np.asarray(got), np.polynomial.chebyshev._cseries_to_zseries(np.array([1.0, 2, 3])))
    with pytest.raises(ZeroDivisionError):
        gc.polynomial.polyutils._div(gc.polynomial.polynomial.polymul, gc.array([1.0, 2]), [0.0])


@pytest.mark.parametrize("values", [[0.5, 1.2], ["0", "1"]])
def test_counts_of_what_are_no_integers_are_deprecated(values):
    for xp in (np, gc):
        with pytest.warns(DeprecationWarning, match="Non-integer input passed to bincount") as told:
            xp.bincount(values)
        assert told[0].filename == __file__


def test_the_mean_of_nothing_tells_so_first():
    for xp in (np, gc):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="Mean of empty slice"):
                xp.mean(xp.zeros((3, 0)), axis=1)
        with pytest.raises(np.exceptions.AxisError):
            xp.mean(xp.zeros((3, 0)), axis=2)


def test_classes_of_numpys_arrays_may_write_to_what_they_are_given():
    """As NumPy gives them an array's own memory: compiled code behind such a class takes no other."""

    class Counting(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            given = [i.view(np.ndarray) if isinstance(i, Counting) else i for i in inputs]
            seen.append([i.flags.writeable for i in given if isinstance(i, np.ndarray)])
            if given[0].flags.writeable:
                given[0][0] += 10
            return getattr(ufunc, method)(*given, **keywords)

    found = []
    for xp in (np, gc):
        seen, x, y = [], xp.arange(3.0), xp.arange(4.0)
        y.flags.writeable = False
        own = np.ones(3).view(Counting)
        made = [np.asarray(x * own), np.asarray(xp.add(x, own)), np.asarray(xp.multiply.outer(x, own)), np.asarray(y * own[0])]
        found.append(([m.tolist() for m in made], np.asarray(x).tolist(), np.asarray(y).tolist(), seen))
    assert found[0] == found[1]


def test_masks_without_elements_are_keys_of_classes_of_numpys_arrays():
    """NumPy takes what has no elements and is none of its arrays for places."""

    class Plain(gc.ndarray):
        pass

    class Writing(gc.ndarray):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)

        def __getitem__(self, key):
            return super().__getitem__(key)

    found = []
    for xp in (np, gc):
        mask, made = xp.zeros((0, 3)) == 0, []
        for kind in (Plain, Writing):
            x, y, z = np.zeros((0, 3)).view(kind), np.arange(6.0).view(kind), np.zeros((2, 0, 3)).view(kind)
            made += [x[mask].shape, x[mask,].shape, x[xp.zeros(0, bool), :].shape, z[:, mask].shape, z[xp.zeros((2, 0), bool), 0].shape, x[xp.zeros(0, int)].shape]
            x[mask] = []
            x[mask, ...] = 4
            rows = xp.arange(3000.0).reshape(1000, 3)
            for few in (rows[rows[:, 0] > 1e9], rows[rows[:, 0] < 4]):  # of sizes that depend on values
                there = np.zeros((len(few), 3)).view(kind) if len(few) else np.zeros((2, 3)).view(kind)
                made += [there[few == 3].shape, there[(few == 3,)].shape]
            pending = rows[rows[:, 0] > 1e9] == 0
            made += [np.zeros((0, 3)).view(kind)[pending].shape]
            y[xp.arange(6) > 3] = 9
            y[y[xp.arange(6)] < 0] = 8
            made += [y.tolist(), float(y[2]), y[1:3].tolist(), type(y[1:3]) is kind]
            with pytest.raises(IndexError, match="boolean index did not match"):
                x[xp.zeros((0, 4), bool)]
        found.append(made)
    assert found[0] == found[1]


@pytest.mark.parametrize("seeded", [True, False])
def test_generators_take_objects_of_such_classes_as_plain_arrays(seeded):
    class Plain(gc.ndarray):
        pass

    class Own(gc.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return getattr(ufunc, method)(*[i.view(np.ndarray) if isinstance(i, Own) else i for i in inputs], **keywords)

    for kind in (Plain, Own):
        x, rows = np.arange(6.0).view(kind), np.arange(6.0).reshape(3, 2).view(kind)
        for make in (lambda r: r.RandomState(5), lambda r: r.default_rng(5)) if seeded else (lambda r: r, lambda r: r.RandomState(), lambda r: r.default_rng()):
            found = []
            for xp in (np, gc):
                draw = make(xp.random)
                made = [draw.permutation(x), draw.permutation(rows), draw.choice(x, 4), draw.choice(x), draw.multivariate_normal(np.zeros(2).view(kind), np.eye(2).view(kind))]
                made += [draw.permuted(rows, axis=0)] if hasattr(draw, "permuted") else []
                found.append([(np.shape(m), np.asarray(m).tolist() if seeded else None, isinstance(m, kind)) for m in made])
                assert np.sort(np.asarray(made[0])).tolist() == x.tolist() and np.sort(np.asarray(made[1]), axis=None).tolist() == rows.ravel().tolist()
            # NumPy's normal numbers of several variables are rounded otherwise.
            for got, want in zip(found[1], found[0], strict=True):
                assert got[0] == want[0] and got[2] == want[2] and (not seeded or np.allclose(got[1], want[1]))


def test_arrays_among_objects_that_are_to_be_numbers():
    def said(xp, call):
        values = np.empty(2, object)
        values[0], values[1] = xp.arange(4), xp.arange(4)
        try:
            return np.asarray(call(xp, values)).tolist()
        except (TypeError, ValueError) as error:
            return type(error).__name__, str(error)[:40]

    for dtype in ("i8", "u1", "f4", "f8", "?", "F"):
        for call in (lambda xp, v, t=dtype: xp.array(v, dtype=t), lambda xp, v, t=dtype: xp.asarray(v, t), lambda xp, v, t=dtype: xp.array(list(v), t)):
            assert said(gc, call) == said(np, call), dtype


SEQUENCES = {
    "dot of a list": lambda xp, m, x: [xp.dot(m, [1, 2.5]), xp.dot((1, 2), m), xp.dot(m, x[0]), xp.dot([x[0, 0], 2], m)],
    "joined": lambda xp, m, x: [xp.vstack((m, m)), xp.hstack([m, x]), xp.concatenate([x, m], axis=1), xp.vstack([m, [9, 9]]), xp.column_stack((m, x))],
    "made": lambda xp, m, x: [xp.dstack([x, m.A]), xp.array([m, m]), xp.append(m, [[5, 6]], axis=0), xp.block([[m, x], [x, m]])],
    "masked": lambda xp, m, x: [f([np.ma.masked_array(x, [[0, 1], [0, 0]]), x]) for f in (xp.vstack, xp.concatenate, xp.hstack)],
    "lists of lists": lambda xp, m, x: [xp.where([[True, False], [False, True]], m, [[7, 8], [9, 10]]), xp.linalg.solve(m, [1, 2]), xp.linalg.multi_dot([m, m, x])],
    "shown": lambda xp, m, x: [xp.transpose(m), xp.concatenate((m[0], m[1])).sum()],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", SEQUENCES)
def test_matrices_beside_sequences(name):
    """What joins matrices, and takes lists and tuples beside them, gives what NumPy gives, of its classes."""
    made = {}
    for xp in (np, gc):
        matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
        made[xp] = SEQUENCES[name](xp, matrix, xp.arange(4.0).reshape(2, 2))
    for got, want in zip(made[gc], made[np]):
        assert isinstance(got, np.matrix) == isinstance(want, np.matrix) and isinstance(got, np.ma.MaskedArray) == isinstance(want, np.ma.MaskedArray)
        exact.assert_same(np.asarray(got), np.asarray(want))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_outputs_in_sequences_of_matrices():
    """An array that is written to beside a matrix is changed, and nothing that a list holds."""
    matrix, x, out = np.matrix([[1.0, 2.0]]), gc.ones((1, 2)), gc.zeros((2, 2))
    assert np.concatenate((matrix, np.asarray(x))).tolist() == gc.concatenate((matrix, x), out=out).tolist() == out.tolist()
    assert x.tolist() == [[1.0, 1.0]]
    joined = gc.vstack((matrix, matrix))
    joined[0, 0] = 9
    assert matrix[0, 0] == 1


class Told:
    """An object that is none to NumPy: its operators get elements."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Told(self.value + getattr(other, "value", other))

    def __rmul__(self, other):
        return Told(other * self.value)

    def __rsub__(self, other):
        return float(other - self.value)

    def __lt__(self, other):
        return self.value < other

    __radd__ = __add__


OPERATORS = {
    "product": lambda x, told: x * told, "sum": lambda x, told: x + told, "sum before": lambda x, told: told + x, "numbers": lambda x, told: x - told,
    "compared": lambda x, told: x > told, "equal": lambda x, told: x == told, "none": lambda x, told: x / told, "twice": lambda x, told: 0.5 * x * told,
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_objects(name):
    for take in (lambda x: x, lambda x: x[1], lambda x: x[:0], lambda x: x.sum()):
        found = []
        for xp in (np, gc):
            try:
                made = OPERATORS[name](take(xp.arange(3.0)), Told(1.5))
            except TypeError as error:
                found.append(type(error))
                continue
            kind = "object" if isinstance(made, Told) else str(made.dtype) if hasattr(made, "dtype") else type(made).__name__
            found.append((kind, repr([np.asarray(getattr(v, "value", v)).tolist() for v in np.ravel(np.asarray(made, object))])))
        assert found[0] == found[1], name


def test_functions_ask_classes_within_sequences():
    """As NumPy does, before anything is said of the sequence itself."""
    def program(xp):
        class Asked(xp.ndarray):
            def __array_function__(self, function, types, args, keywords):
                return function.__name__

        x, m, plain = xp.arange(4.0).view(Asked), xp.ones((2, 2)).view(Asked), xp.arange(4.0)
        return [xp.histogramdd((x, x)), xp.histogramdd([plain, x]), xp.histogram2d(x, plain), xp.block([[m, m]]), xp.block([[m, [1, 2]]]), xp.block(m)]

    assert program(gc) == program(np)


def test_arrays_that_a_class_is_asked_with_are_viewed_as_plain_ones():
    """By the name of the class of arrays that the program has, as `__array_ufunc__` of units does with all its operands."""
    def program(xp):
        class Plain(xp.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
                if out is not None:
                    options["out"] = tuple(o.view(xp.ndarray) for o in out)
                return xp.asarray(getattr(ufunc, method)(*[i.view(xp.ndarray) for i in inputs], **options)).view(Plain)

        x, plain = xp.arange(3.0).view(Plain), xp.arange(3.0) + 1
        made = [xp.add(x, plain), plain + x, x * plain, plain == x, xp.add(plain, x, out=xp.zeros(3).view(Plain))]
        return [(type(m).__name__, m.tolist()) for m in made]

    assert program(gc) == program(np)


def test_arrays_that_a_class_is_asked_with_meet_numbers():
    """And are pickled, as plain ones are."""
    def program(xp):
        class Twice(xp.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, **options):
                plain = next(i for i in inputs if not isinstance(i, Twice))
                kept = pickle.loads(pickle.dumps(plain))
                return [np.asarray(v).tolist() for v in (plain * 2, 2 * plain, plain * np.float64(2), np.float64(2) * plain, kept)]

        return xp.add(xp.asarray([1.0, 2.0, 3.0]), xp.arange(3.0).view(Twice))

    assert program(gc) == program(np)
