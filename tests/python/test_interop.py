"""Exchange with NumPy, buffers, DLPack, torch; printing, pickling, conversion."""

import copy
import importlib
import inspect
import pickle
import struct
import sys
import types

import graphc as gc
import numpy as np
import pytest
from support import edge, exact

pytestmark = pytest.mark.graphc_only


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_round_trip_of_every_dtype(dtype):
    x = edge.values(dtype)
    exact.assert_same(gc.asarray(x), x)
    exact.assert_same(np.asarray(gc.asarray(x[::2])), x[::2])
    exact.assert_same(np.asarray(gc.asarray(x)[::-2]), x[::-2])


def test_exports_share_memory():
    g = gc.asarray(np.arange(6.0)) + 1
    a, b = np.asarray(g), np.asarray(g)
    assert np.shares_memory(a, b)
    assert np.shares_memory(np.from_dlpack(g), a)
    assert not np.shares_memory(np.array(g), a)
    assert not np.shares_memory(g.__array__(copy=True), a)


def test_from_dlpack_shares_memory():
    a = np.arange(6.0).reshape(2, 3)
    g = gc.from_dlpack(a)
    assert np.shares_memory(np.asarray(g), a)
    assert not np.shares_memory(np.asarray(gc.from_dlpack(a, copy=True)), a)
    assert g.__dlpack_device__()[0] == 1


def test_later_updates_leave_exports_alone():
    g = gc.asarray(np.arange(4.0)) * 1
    a = np.asarray(g)
    g += 1
    gc.eval(g)
    exact.assert_same(a, np.arange(4.0))
    exact.assert_same(g, np.arange(4.0) + 1)


def test_a_numpy_array_changed_later_does_not_change_what_was_recorded():
    a = np.arange(4.0)
    g = gc.asarray(a)
    y = g + 1
    a[:] = 100
    exact.assert_same(y, np.arange(4.0) + 1)


@pytest.mark.parametrize("layout", ["C", "F", "steps", "swapped", "few"])
def test_large_numpy_operands_are_read_at_once(layout):
    """Reductions, scans and products read the memory of a NumPy array, of which nothing is kept: later writes show nowhere."""
    x = np.random.default_rng(3).standard_normal((4, 5) if layout == "few" else (300, 100))
    x = {"C": x, "few": x, "F": np.asfortranarray(x), "steps": x[::2, ::-1], "swapped": x.astype(">f8")}[layout]
    y = gc.asarray(np.ones((x.shape[1], 7)))
    made = {name: function(x) for name, function in NUMPY_READERS.items()}
    made["x @ y"], made["y.T @ x.T"] = x @ y, y.T @ x.T
    want = {name: getattr(np, name)(x) for name in NUMPY_READERS}
    want["x @ y"], want["y.T @ x.T"] = x @ np.asarray(y), np.asarray(y).T @ x.T
    holds = sys.getrefcount(x)
    x[:] = np.nan
    for name, result in made.items():
        assert isinstance(result, gc.Array | gc.ndarray), name
        np.testing.assert_allclose(np.asarray(result), want[name], 1e-12, 1e-12, err_msg=name)
    del made
    assert sys.getrefcount(x) == holds


NUMPY_READERS = {name: getattr(gc, name) for name in ("sum", "mean", "max", "argmin", "any", "cumsum")}


def test_updating_a_graphc_array_leaves_the_numpy_source_alone():
    a = np.arange(4.0)
    g = gc.asarray(a)
    g[0] = 100
    gc.eval(g)
    exact.assert_same(a, np.arange(4.0))


def test_copy_false_raises_where_a_copy_is_needed():
    with pytest.raises(ValueError):
        gc.asarray([1, 2, 3], copy=False)
    with pytest.raises(ValueError):
        gc.asarray(np.arange(3), dtype="float32", copy=False)
    g = gc.asarray(np.arange(3))
    assert gc.asarray(g, copy=False) is g and gc.asarray(g, copy=True) is not g


def test_torch():
    torch = pytest.importorskip("torch")
    g = gc.asarray(np.arange(6.0)) * 1
    t = torch.from_dlpack(g)
    assert t.data_ptr() == np.asarray(g).ctypes.data
    exact.assert_same(gc.from_dlpack(torch.arange(5.0)), np.arange(5, dtype="f4"))


def test_nested_lists_and_scalars():
    for value in (3, 2.5, True, [1, 2], [[1.5, 2], [3, 4]], [], [[]], (1, 2), [np.float32(1), 2], range(4)):
        exact.assert_same(gc.asarray(value), np.asarray(value), repr(value))
    with pytest.raises(ValueError):
        gc.asarray([[1, 2], [3]])
    exact.assert_same(gc.asarray([gc.asarray(1.0), gc.asarray(2.0)]), np.array([1.0, 2.0]))


def test_odd_layouts():
    x = np.arange(24, dtype="int16").reshape(2, 3, 4)
    for view in (x.T, x[::-1], x[:, ::2, ::-1], np.broadcast_to(x[0], (5, 3, 4)), np.asfortranarray(x), x[:, :, None]):
        exact.assert_same(gc.asarray(view) + 0, view + 0)
    read_only = x.copy()
    read_only.flags.writeable = False
    exact.assert_same(gc.asarray(read_only), read_only)
    swapped = x.astype(">i2")
    exact.assert_same(gc.asarray(swapped), x)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), "int16", offset=1).reshape(x.shape)
    exact.assert_same(gc.asarray(unaligned), x)


PRINTED = [
    np.array([1.0, 2.5]),
    np.array([], "float32"),
    np.array(3),
    np.array([[True, False]]),
    np.arange(2000),
    np.array([1e-300, np.nan, np.inf, -0.0]),
    np.arange(6, dtype="uint8").reshape(1, 2, 3),
    np.float32(2.5),
]


@pytest.mark.parametrize("x", PRINTED, ids=lambda x: str(x.dtype) + str(x.shape))
def test_repr_and_str_are_numpys(x):
    g = gc.asarray(x)
    assert repr(g) == np.array_repr(np.asarray(x)) and str(g) == np.array_str(np.asarray(x))


def test_format():
    assert f"{gc.asarray(2.5):.2f}" == "2.50" and f"{gc.asarray([1, 2])}" == "[1 2]"


def test_conversions():
    g = gc.asarray([1.5, -2.0])
    assert float(g[0]) == 1.5 and int(g[1]) == -2 and complex(g[0]) == 1.5 and bool(g[0]) is True
    assert g.tolist() == [1.5, -2.0] and g[0].item() == 1.5 and g.item(1) == -2.0
    assert [1, 2, 3][gc.asarray(1)] == 2 and list(range(gc.asarray(3))) == [0, 1, 2]
    assert len(g) == 2 and [float(v) for v in g] == [1.5, -2.0] and 1.5 in g and 7 not in g
    assert type(gc.asarray([True])[0].item()) is bool and type(gc.asarray([1])[0].item()) is int
    with pytest.raises(TypeError):
        len(gc.asarray(1))
    with pytest.raises(TypeError):
        iter(gc.asarray(1))
    a, b = g
    assert float(b) == -2.0


def test_properties():
    g = gc.asarray(np.zeros((2, 3, 4), "float32"))
    assert (g.shape, g.ndim, g.size, g.itemsize, g.nbytes) == ((2, 3, 4), 3, 24, 4, 96)
    assert isinstance(g.shape, tuple) and g.dtype == np.float32 and isinstance(g.dtype, np.dtype)
    assert g.T.shape == (4, 3, 2) and g.mT.shape == (2, 4, 3) and g.device == "cpu"
    assert g.strides == (48, 16, 4) and g[:, ::-1].strides == (48, -16, 4)
    assert g.__array_namespace__() is gc


@pytest.mark.parametrize("method", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_copies(method):
    g = gc.asarray(np.arange(6.0).reshape(2, 3))[:, ::-1] + 1
    other = method(g)
    other = pickle.loads(other) if isinstance(other, bytes) else other
    assert isinstance(other, gc.Array) and other.shape == (2, 3)
    exact.assert_same(other, np.asarray(g))
    other += 1
    assert float(g[0, 0]) == 3.0


def test_numpy_functions_give_graphc_arrays():
    a = np.arange(1.0, 7).reshape(2, 3)
    g = gc.asarray(a)
    for function in (np.sin, np.sqrt, np.negative, np.abs, np.isnan, np.floor):
        got = function(g)
        assert isinstance(got, gc.Array)
        np.testing.assert_allclose(np.asarray(got), function(a), rtol=1e-14)
    for got, want in (
        (np.add(g, 1), a + 1),
        (np.multiply(a, g), a * a),
        (a + g, a + a),
        (np.float64(3) - g, 3 - a),
        (np.matmul(g, a.T), a @ a.T),
        (np.concatenate([g, g]), np.concatenate([a, a])),
        (np.sum(g, axis=1), a.sum(1)),
        (np.mean(g), a.mean()),
        (np.where(g > 2, g, 0), np.where(a > 2, a, 0)),
        (np.reshape(g, (3, 2)), a.reshape(3, 2)),
        (np.transpose(g), a.T),
        (np.add.reduce(g, axis=0), a.sum(0)),
        (np.stack([g, g]), np.stack([a, a])),
        (np.maximum(g, 3), np.maximum(a, 3)),
    ):
        assert isinstance(got, gc.Array)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)


def test_numpy_arrays_take_in_place_results():
    a = np.arange(3.0)
    b = a
    b += gc.asarray(np.ones(3))
    assert b is a
    exact.assert_same(a, np.arange(3.0) + 1)


def test_numpy_functions_without_a_counterpart_say_so():
    with pytest.raises(TypeError):
        np.isnat(gc.ones(2))
    with pytest.raises(TypeError):
        np.busday_count(gc.ones(2), gc.ones(2))


class _Measured:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return gc.asarray(self.value, dtype=dtype)


def test_arrays_of_objects_that_make_arrays_hold_the_objects():
    values = [_Measured(1.0), _Measured(2.0)]
    made = gc.array(values, dtype="object")
    assert made.shape == (2,) and made[0] is values[0] and made[1] is values[1]
    assert gc.array(values).tolist() == [1.0, 2.0]


def test_classes_are_told_of_no_output_where_none_is_given():
    class Asked:
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return ufunc is gc.add, method, sorted(keywords)

    for _ in range(3):
        assert gc.add.reduce(Asked(), out=None, axis=None) == (True, "reduce", ["axis"])
        assert gc.add(Asked(), 1, out=None) == gc.add(Asked(), 1, out=(None,)) == (True, "__call__", [])


def test_classes_are_asked_with_the_functions_that_their_code_names():
    def program(np):
        told = []

        class Quantity:
            def __init__(self, values):
                self.values = values

            def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
                told.append((ufunc is np.multiply, ufunc is np.add, ufunc.__name__, method, sorted(keywords)))
                inputs = [x.values if isinstance(x, Quantity) else x for x in inputs]
                out = keywords.pop("out", ())
                if out:
                    keywords["out"] = tuple(x.values if isinstance(x, Quantity) else x for x in out)
                result = getattr(ufunc, method)(*inputs, **keywords)
                return Quantity(result)

            def __array_function__(self, function, types, args, keywords):
                told.append((function is np.concatenate, function is np.mean, function.__name__, len(types)))
                return NotImplemented if function is np.median else "asked"

        q, y = Quantity(np.array([1.0, 2.0])), np.array([3.0, 4.0])
        made = [np.multiply(q, 2), y * q, y + q, y - q, np.add.reduce(q), np.sqrt(q), np.multiply.outer(q, q), np.add(1, q), np.add(y, y, out=Quantity(y))]
        y *= 2
        asked = [np.concatenate([q, y]), np.mean(q), np.dot(y, q)]
        with pytest.raises(TypeError, match="no implementation found for 'numpy.median'"):
            np.median(q)

        class Refuses:
            def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
                assert ufunc is np.add
                return NotImplemented

        with pytest.raises(TypeError, match="operand type.s. all returned NotImplemented"):
            np.add(Refuses(), 1)
        return told, [np.asarray(m.values).tolist() for m in made], asked, y.tolist()

    assert program(gc) == program(np)


def test_made_of_others_first_and_unknown_classes_by_numpys():
    def program(np):
        seen = []

        class Base:
            def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
                seen.append((type(self).__name__, ufunc is np.add))
                return NotImplemented

        class Derived(Base):
            pass

        with pytest.raises(TypeError):
            np.add(Base(), Derived())
        return seen

    assert program(gc) == program(np)
    theirs = []

    class Theirs:
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            theirs.append(ufunc is np.add and gc_is_unknown)
            return 7

    gc_is_unknown = True
    Theirs.__array_ufunc__ = types.FunctionType(
        Theirs.__array_ufunc__.__code__, {"np": np}, "asked", None, Theirs.__array_ufunc__.__closure__
    )
    assert gc.add(Theirs(), gc.ones(2)) == 7 and gc.ones(2) + Theirs() == 7 and theirs == [True, True]


def test_results_are_wrapped_by_their_operands():
    def program(np):
        class Labelled:
            def __init__(self, values, label, contexts=()):
                self.values, self.label, self.contexts = np.asarray(values), label, contexts

            def __array__(self, dtype=None, copy=None):
                return self.values

            def __array_wrap__(self, array, context=None, return_scalar=False):
                return Labelled(array, self.label, (context[0].__name__, context[2], return_scalar))

        x, y = Labelled([1.0, 2.0], "x"), np.array([3.0, 4.0])
        made = [np.sin(x), np.add(x, 1), np.add(y, x), y * x, y - x, *np.modf(x), np.sqrt(Labelled(4.0, "one"))]
        return [(m.label, m.contexts, np.asarray(m.values).tolist()) for m in made]

    assert program(gc) == program(np)


def test_operands_with_values_and_rules_of_their_own_are_asked():
    """An object that can be made an array of is still asked by its `__array_ufunc__` first, whatever way a ufunc is called."""

    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.arange(4.0)

        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return ufunc.__name__, method

    a = Column()
    calls = (
        lambda xp: xp.add(a, 1), lambda xp: xp.add.reduce(a), lambda xp: xp.add.reduce(a, axis=1), lambda xp: xp.maximum.accumulate(a),
        lambda xp: xp.add.outer(a, a), lambda xp: xp.add.reduceat(a, [0, 1]), lambda xp: xp.add.at(a, [0], 1), lambda xp: xp.frexp(a),
        lambda xp: xp.modf(a), lambda xp: xp.divmod(a, 2), lambda xp: xp.matmul(a, a), lambda xp: xp.vecdot(xp.arange(4.0), a),
    )  # fmt: skip
    for call in calls:
        assert call(gc) == call(np)


def test_values_by_name():
    """matplotlib asks for `to_numpy`; of what has none it looks at every element."""
    x = gc.arange(6.0).reshape(2, 3)[:, ::-1]
    values = x.to_numpy()
    assert type(values) is np.ndarray and np.array_equal(values, np.arange(6.0).reshape(2, 3)[:, ::-1])
    assert x.to_numpy("f4").dtype == "f4" and x.to_numpy(copy=True).flags.writeable
    assert not hasattr(x[0, 0], "to_numpy") and not hasattr(x.sum(), "to_numpy")
    cbook = pytest.importorskip("matplotlib.cbook")
    parts = cbook._reshape_2D(x, "x")
    assert [type(p) for p in parts] == [np.ndarray] * 3 and [p.tolist() for p in parts] == x.T.tolist()


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c8"])
def test_pandas_gets_memory_of_its_own(dtype):
    """As of NumPy's arrays: what its code is given is written to later."""
    x = gc.asarray(np.arange(4).astype(dtype))
    for view in (x, x[::-1], x.reshape(2, 2)):
        names = {"__name__": "pandas.core.construction", "numpy": np, "x": view}
        exec("made = numpy.asarray(x), numpy.array(x, copy=False)", names)
        for made in names["made"]:
            assert made.flags.writeable and np.array_equal(made, view)
            made[...] = 0
    assert np.array_equal(x, np.arange(4).astype(dtype)) and not np.asarray(x).flags.writeable


def test_packages_tell_arrays_by_their_class():
    """Masks, grouping keys, columns and grids from labels and numbers; what keeps its arguments, or hands them to C, asks for an array."""
    x = gc.asarray([True, False, True])
    ask = "def named(x):\n    return isinstance(x, numpy.ndarray), isinstance(exp, numpy.ufunc), isinstance(x, list)"
    for module, function, expected in (
        ("pandas.core.common", "is_bool_indexer", True),
        ("pandas.core.frame", "set_index", True),
        ("pandas.core.algorithms", "unique", True),
        ("pandas.core.algorithms", "isin", True),
        ("pandas.core.construction", "sanitize_array", False),
        ("sklearn.model_selection._search", "_check_grid", True),
        ("xarray.core.dataset", "_validate_interp_indexers", True),
        ("matplotlib.streamplot", "streamplot", True),
        ("matplotlib.cbook", "_unpack_to_numpy", False),
        ("h5py._hl.selections", "select", False),
        ("__main__", "main", False),
    ):
        names = {"__name__": module, "numpy": np, "exp": gc.exp}
        exec(ask.replace("named", function), names)
        assert names[function](x) == names[function](x[:2]) == (expected, expected, False), (module, function)
        assert names[function](x.any())[0] is False
    assert x.__class__ is type(x) is gc.ndarray and isinstance(x, gc.ndarray) and gc.exp.__class__ is gc.ufunc


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c8"])
def test_code_of_other_packages_gets_memory_that_both_see(dtype):
    """Compiled code refuses memory that it may not write to; what it writes is written to the array."""
    values = np.arange(6).astype(dtype)
    ask = "made = numpy.asarray(x)"
    for module, file in (("skimage.util", "/usr/lib/python3/dist-packages/skimage/util.py"), ("sklearn", "/e/lib/site-packages/sklearn/__init__.py")):
        x = gc.asarray(values)
        for view, numpys in ((x, values), (x[::-1], values[::-1]), (x.reshape(2, 3), values.reshape(2, 3))):
            names = {"__name__": module, "__file__": file, "numpy": np, "x": view}
            exec(ask, names)
            made = names["made"]
            assert made.flags.writeable and np.array_equal(made, numpys)
            first = (0,) * made.ndim
            made[first] = 1
            assert view[first] == 1
            view[...] = gc.asarray(numpys)
            assert np.array_equal(made, numpys)
    for module, file in (("numpy.fft", "/e/site-packages/numpy/fft.py"), ("program", "/srv/program.py")):
        names = {"__name__": module, "__file__": file, "numpy": np, "x": gc.asarray(values)}
        exec(ask, names)
        assert not names["made"].flags.writeable


@pytest.mark.parametrize("dtype", ["f8", "i4", "c8"])
def test_scipy_gets_memory_that_it_may_write_to(dtype):
    """Its compiled code refuses other memory; what it writes is its own."""
    x = gc.asarray(np.arange(4).astype(dtype))
    for view in (x, x[::-1], x.reshape(2, 2), x[1]):
        names = {"__name__": "scipy.interpolate._interpolate", "numpy": np, "x": view}
        exec("made = numpy.asarray(x)", names)
        assert names["made"].flags.writeable and np.array_equal(names["made"], view)
        names["made"][...] = 0
    assert np.array_equal(x, np.arange(4).astype(dtype))


@pytest.mark.parametrize(
    ("module", "told"),
    [("skimage.util.shape", True), ("astropy.io.fits.convenience", True), ("astropy.uncertainty.core", False), ("librosa.util.utils", True), ("gymnasium.spaces.box", True),
     ("cvxpy.interface.matrix_utilities", True), ("picos.expressions.data", True), ("statsmodels.tools.data", True), ("scipy.special._basic", True), ("scipy.io.matlab._mio5", True)]
    + [("scipy.linalg._misc", False), ("scipy.sparse._sputils", False), ("h5py._hl.dataset", False), ("program", False)],
)
def test_who_is_told_that_an_array_is_numpys(module, told):
    x = gc.arange(3.0)
    names = {"__name__": module, "numpy": np, "x": x, "n": x[1]}
    exec("found = isinstance(x, numpy.ndarray), isinstance(n, numpy.ndarray), isinstance(n, numpy.float64)", names)
    assert names["found"] == (told, False, True)


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like", "full_like"])
@pytest.mark.parametrize("dtype", [None, "i4", "?"])
def test_packages_that_know_numpy_alone_make_its_arrays(name, dtype):
    """They give them to compiled code that takes no others; a program's own calls make ours."""
    x = gc.arange(6.0).reshape(3, 2).T
    names = {"numpy": np, "x": x, "dtype": dtype, "value": (gc.arange(6.0)[3],) if name == "full_like" else ()}
    code = compile(f"made = numpy.{name}(x, *value, dtype=dtype)", "of a package", "exec")
    exec(code, theirs := {"__name__": "package", "__file__": f"/e/site-packages/package/{name}.py", **names})
    made, want = theirs["made"], getattr(np, name)(np.arange(6.0).reshape(3, 2).T, *[3.0] * len(names["value"]), dtype=dtype)
    assert type(made) is np.ndarray and made.dtype == want.dtype and made.strides == want.strides
    assert name == "empty_like" or np.array_equal(made, want)
    exec(code, ours := {"__name__": "program", "__file__": "/srv/program.py", **names})
    assert isinstance(ours["made"], gc.Array)


def test_matplotlib_takes_arrays_of_colours_and_widths():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = []
    for xp in (np, gc):
        x = xp.linspace(0, 2, 9)
        u, v = xp.meshgrid(xp.cos(x), xp.sin(x))
        figure, axes = pyplot.subplots()
        lines = axes.streamplot(x, x, u, v, color=xp.hypot(u, v), linewidth=2 * xp.abs(v) + 0.5, density=0.3).lines
        line = axes.plot(x, x, color=xp.array([[1.0, 0.0, 0.5]]))[0]
        figure.canvas.draw()
        drawn.append((lines.get_array().tolist(), list(lines.get_linewidths()), line.get_color().tolist()))
        pyplot.close(figure)
    (values, widths, color), ours = drawn
    np.testing.assert_allclose(ours[0], values)
    np.testing.assert_allclose(ours[1], widths)
    assert ours[2] == color


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_lists_of_any_layout(dtype):
    values = np.concatenate([np.atleast_1d(edge.values(dtype)).ravel()[:12]] * 12)[:24].reshape(4, 6)
    x = gc.asarray(values)
    for layout in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[1], lambda a: a[:, 1:1], lambda a: a[None, :2, ::-3]):
        assert repr(layout(x).tolist()) == repr(layout(values).tolist())
    assert repr(gc.broadcast_to(x[0], (3, 6)).tolist()) == repr(np.broadcast_to(values[0], (3, 6)).tolist())
    assert repr(gc.where(x == x, x, x[::-1]).tolist()) == repr(np.where(values == values, values, values[::-1]).tolist())  # pending
    assert repr(x[1, 2].tolist()) == repr(values[1, 2].tolist()) and gc.zeros((0, 3), dtype).tolist() == []


@pytest.mark.parametrize("named", ["_flapack.dgtsv", "linalg._flapack.dgtsv", "dgtsv"])
def test_functions_made_by_f2py_get_copies(named):
    """They overwrite what is no array of NumPy's, and copy only that."""
    linalg = pytest.importorskip("scipy.linalg")
    given = [np.array(v) for v in ([1.0, 2.0], [4.0, 5.0, 6.0], [0.5, 0.25], [1.0, 2.0, 3.0])]
    want = linalg._flapack.dgtsv(*given)
    names = {"__name__": "package.solver", "__file__": "/e/lib/site-packages/package/solver.py", "_flapack": linalg._flapack}
    names |= {"linalg": linalg, "dgtsv": linalg._flapack.dgtsv}
    exec(f"def solve(*a):\n    return {named}(*a)", names)
    ours = [gc.array(v) for v in given]
    for _ in range(2):
        for got, expected in zip(names["solve"](*ours), want, strict=True):
            assert np.array_equal(got, expected)
        assert all(np.array_equal(x, v) for x, v in zip(ours, given))


def test_memory_that_is_asked_for_to_be_written_to_is_the_arrays():
    """As compiled code asks that has no Python frame of its own; each side sees what the other writes."""
    x = gc.arange(6.0)
    y = x[::2]
    struct.pack_into("d", x, 16, 7.5)
    assert x.tolist() == [0, 1, 7.5, 3, 4, 5] and y.tolist() == [0, 7.5, 4]
    x[2] = 1
    struct.pack_into("d", x, 0, -1)
    assert (x + 0).tolist() == [-1, 1, 1, 3, 4, 5] and y.tolist() == [-1, 1, 4]
    with pytest.raises((TypeError, BufferError, ValueError)):
        struct.pack_into("d", gc.broadcast_to(gc.zeros(1), (3,)), 0, 1.0)


def test_functions_called_for_numpys_code_get_numpys_arrays():
    """NumPy's function, called by a library with an array of ours among its arguments, calls that library's function."""
    x = gc.arange(6.0).reshape(2, 3)
    seen = []

    def total(row):
        seen.append(type(row))
        return row.sum() if row.ndim == 1 else row.sum(axis=0)

    for made, want in ((np.apply_along_axis(total, 1, x), [3, 12]), (np.piecewise(x[0], [x[0] > 1], [lambda v: seen.append(type(v)) or -v, 0]), [0, 0, -2])):
        assert type(made) is gc.ndarray and made.tolist() == want
    assert set(seen) == {np.ndarray}
    stats = pytest.importorskip("scipy.stats")
    normal = stats.multivariate_normal
    np.testing.assert_allclose(np.asarray(normal(gc.zeros(2), gc.eye(2)).cdf(gc.array([0.5, 1.0]))), normal(np.zeros(2), np.eye(2)).cdf([0.5, 1.0]))


def test_sympy_takes_arrays_and_single_results():
    """Its expressions leave operators with arrays to those, and make numbers of single results."""
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x")

    def program(xp):
        f, n = xp.array([1.5, 2.0]), xp.array([3, 4])
        products = [x * f, sympy.Float(2) * n, sympy.Rational(1, 2) + n, x - f, x / n, sympy.pi * f, x**n, sympy.Float(1) / f]
        numbers = [sympy.sympify(n[0]), sympy.sympify(f[0]), sympy.sympify(f.astype("f4")[0]), sympy.sympify((n > 3)[1]), x ** n[0], x * f[1], sympy.Integer(n[1])]
        return [p.tolist() for p in products], numbers, (x == n).tolist(), (sympy.Float(4) == n).tolist(), sympy.Array(n), sympy.Matrix(n.reshape(1, 2)), sympy.sympify(f)

    assert repr(program(gc)) == repr(program(np))


def test_memory_that_others_may_write_is_shared():
    """As processes share it: `ndarray(shape, buffer=shm.buf)`, `frombuffer(array.get_obj())`."""
    for xp in (np, gc):
        memory = bytearray(48)
        a = xp.ndarray((2, 3), dtype=xp.float64, buffer=memory)
        b = xp.frombuffer(memory)
        a[1, :] = xp.arange(3.0)
        b[0] = 7
        xp.multiply(b[:3], 2, out=b[:3])
        assert a.tolist() == [[14, 0, 0], [0, 1, 2]] and struct.unpack("6d", memory) == (14, 0, 0, 0, 1, 2)
        struct.pack_into("d", memory, 8, 5.0)
        assert b[1] == a[0, 1] == 5 and xp.sum(xp.sqrt(a * a)) == 22 and isinstance(b, xp.ndarray)
        flags = xp.frombuffer(memory, bool, 8)
        memory[0] = 1
        assert flags[0]
        kept = xp.arange(4)
        xp.ndarray((2,), kept.dtype, kept, 8)[0] = 9
        assert kept.tolist() == [0, 9, 2, 3]
    assert type(gc.frombuffer(b"abc", "u1")) is gc.ndarray


def both(program):
    """What a program gives with NumPy and with graphc."""
    theirs, ours = program(np), program(gc)
    assert repr(ours) == repr(theirs)


def test_views_of_memory_are_written_to():
    def program(xp):
        x = xp.arange(12.0).reshape(3, 4)
        view, part = memoryview(x), x[:, 1].data
        view[0, 0] = 30
        part[2] = 50
        before = x.sum(), x.copy()
        x += 1  # seen by both, and written to by both afterwards
        seen = view.tolist(), part.tolist()
        view[1, 1] = part[0]
        xp.frombuffer(x[1].data)[:] = 7
        return before, seen, x, x.data.readonly, xp.broadcast_to(x, (2, 3, 4)).data.readonly, x[0, 0].data.readonly, memoryview(x[0, 0]).readonly

    both(program)
    x = gc.arange(50)
    x += 1
    gc.random.default_rng(1).shuffle(x.data)
    gc.random.RandomState(1).shuffle(x.data)
    assert x.tolist() != list(range(1, 51)) and gc.sort(x).tolist() == list(range(1, 51))


def test_fields_of_elements():
    def program(xp):
        x = xp.zeros(3, complex)
        x.setfield([1, 2, 3], "f8", 8)
        x.getfield("f4", 4)[0] = 5
        return x, x.getfield(float, 8), xp.arange(4.0)[3].getfield("i4", 4)

    both(program)


def test_numpys_classes_are_viewed_as_arrays():
    def program(xp):
        m, a = xp.matrix([[1, 2], [3, 4]]), xp.ma.array([1.0, 2.0], mask=[0, 1])
        r = xp.rec.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
        m.view(xp.ndarray)[0] = 5
        return m, m.view(type=xp.ndarray), a.view(xp.ndarray), a.view(xp.matrix), r.view(xp.ndarray), r.view("i8, f8"), m.view("f8").shape

    both(program)


@pytest.mark.parametrize("call", [
    lambda xp: xp.arange(start=4), lambda xp: xp.arange(start=4, step=2), lambda xp: xp.arange(), lambda xp: xp.arange(4, start=1),
    lambda xp: xp.arange(stop=4), lambda xp: xp.arange(4, step=3), lambda xp: xp.arange(start=4, stop=None), lambda xp: xp.arange(4, None),
    lambda xp: xp.arange(start=1, stop=9, step=2, dtype="f4"), lambda xp: xp.arange(2, stop=4),
])  # fmt: skip
def test_bounds_of_ranges_by_name(call):
    def program(xp):
        try:
            return call(xp)
        except TypeError as error:
            return str(error)

    both(program)


def test_info(capsys):
    def program(xp):
        xp.info(xp.zeros((2, 3), "f4"))
        told = capsys.readouterr().out
        return [line for line in told.splitlines() if "pointer" not in line]

    both(program)
    import graphc.info  # the module of that name

    assert graphc.info.collect()["numpy"] == np.__version__
    assert pickle.loads(pickle.dumps(gc.info)) is gc.info
    assert inspect.signature(gc.info) == inspect.signature(np.info)
    both(program)


class Maker:
    """A class whose objects make an array of themselves, as containers of programs do: the one that they hold."""

    def __init__(self, held):
        self.held = held

    def __array__(self, dtype=None):
        return self.held


@pytest.mark.parametrize("convert", [
    lambda xp, o: xp.array(o), lambda xp, o: xp.asarray(o, copy=True), lambda xp, o: xp.array(o, dtype=float), lambda xp, o: xp.array(o, copy=None),
    lambda xp, o: xp.copy(o), lambda xp, o: xp.asarray(o), lambda xp, o: xp.array(o, subok=True), lambda xp, o: xp.array([o, o]),
])  # fmt: skip
def test_copies_of_what_objects_hold(convert):
    def program(xp):
        x = xp.arange(4.0)
        made = convert(xp, Maker(x))
        made[...] = 9
        return x, made

    both(program)


@pytest.mark.parametrize("held", [np.arange(4.0), np.arange(6).reshape(2, 3), np.array([True, False])])
def test_what_objects_hold_without_a_copy(held):
    class Sharing(Maker):
        def __array__(self, dtype=None, copy=None):
            return self.held

    for name in ("array", "asarray", "asanyarray"):
        for give in (np.array, gc.array):
            kept = give(held)
            made = getattr(gc, name)(Sharing(kept), copy=False)
            made[-1] = 0
            kept[0] = 1
            assert isinstance(made, gc.Array) and made.tolist() == kept.tolist() and made.shape == held.shape


def test_parts_of_objects_are_what_they_say():
    class Parted(Maker):
        real = property(lambda self: ("real", self.held.real.tolist()))
        imag = property(lambda self: ("imag", self.held.imag.tolist()))

    for function in (lambda xp, o: xp.real(o), lambda xp, o: xp.imag(o), lambda xp, o: xp.isreal(o)):
        assert function(gc, Parted(gc.arange(3) * 1j)) == function(np, Parted(np.arange(3) * 1j))
    both(lambda xp: [xp.iscomplex(Maker(xp.arange(3) * 1j)), xp.real(Maker(xp.arange(3) * 1j)), xp.imag(Maker(xp.arange(3)))])


def test_classes_made_of_ndarray_are_of_the_namespace_that_they_name():
    class Grid(gc.ndarray):
        pass

    assert gc.zeros(2).view(Grid).__array_namespace__() is gc
    with pytest.raises(ValueError):
        gc.zeros(2).view(Grid).__array_namespace__(api_version="1999.12")


def test_modules_that_name_graphc_are_told_its_classes():
    """A copy of a package whose imports were changed is not the package, which is told that arrays are NumPy's."""
    for name, kind in (("cvxpy.interface", gc.ndarray), ("sklearn.utils", gc.ndarray), ("numpys", gc.ndarray)):
        names = {"__name__": name, "xp": gc, "x": gc.arange(3)}
        exec("kind = x.__class__", names)
        assert names["kind"] is kind
    names = {"__name__": "cvxpy.interface", "x": gc.arange(3)}
    exec("kind = x.__class__", names)
    assert names["kind"] is np.ndarray


def test_objects_that_make_arrays_are_indices():
    def program(xp):
        x = xp.arange(12).reshape(3, 4)
        places, mask = Maker(xp.array([2, 0])), Maker(xp.array([True, False, True]))
        written = x.copy()
        written[places] = -1
        return x[places], x[:, places], x[1, places], x[mask], written

    both(program)


@pytest.mark.parametrize("requirements", [None, "C", "CW", "FW", "OAW", ["C", "W"], ["F_CONTIGUOUS"], ("A", "O"), "cw", "CF", "X"])
def test_requirements(requirements):
    def program(xp):
        x = xp.arange(6.0).reshape(2, 3)
        made = []
        for a in (x, x.T):
            try:
                y = xp.require(a, None, requirements)
            except (KeyError, ValueError) as error:
                made.append(str(error).split(" (at ")[0])
            else:
                made.append((y.flags.c_contiguous, y.flags.f_contiguous, y is a))
        return made

    both(program)


@pytest.mark.parametrize("module", ["numpy.testing", "numpy.ma.testutils"])
def test_numpys_own_assertions_take_arrays(module):
    tools = importlib.import_module(module)
    x = gc.arange(6.0).reshape(2, 3)
    for name in ("assert_equal", "assert_almost_equal", "assert_array_equal", "assert_array_almost_equal"):
        ask = getattr(tools, name)
        for other in (x.copy(), np.asarray(x).copy(), x.tolist()):
            ask(x, other)
        ask(gc.zeros((0, 3)), gc.zeros((0, 3)))
        ask(x.sum(), 15.0)
        for other in (x + 1, x[:, :2]):
            with pytest.raises(AssertionError):
                ask(x, other)
            with pytest.raises(AssertionError):
                ask(np.asarray(x), other)
    tools.assert_equal([x, 1], [x + 0, 1])


@pytest.mark.graphc_only
def test_packages_that_know_numpy_alone_keep_its_arrays_beside_single_results(tmp_path, monkeypatch):
    """As pandas' windows, which give what they compute with a size to compiled code; who names graphc gets its arrays."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    for name, names in (("knows_numpy", "import numpy as np"), ("knows_graphc", "import graphc, numpy as np")):
        (folder / f"{name}.py").write_text(f"{names}\n\n\ndef bounds(n, size):\n    end = np.arange(n)\n    return end - size, np.multiply(end, size), end < size\n")
    monkeypatch.syspath_prepend(str(folder))
    import knows_graphc
    import knows_numpy

    for size in (gc.array([1, 2]).sum(), gc.array([0.5, 2]).max(), gc.arange(600_000).max()):
        want = knows_numpy.bounds(5, size.item())
        for module, cls in ((knows_numpy, np.ndarray), (knows_graphc, gc.ndarray)):
            for seen, theirs in zip(module.bounds(5, size), want, strict=True):
                assert type(seen) is cls and seen.dtype == theirs.dtype and seen.tolist() == theirs.tolist()
    assert type(np.arange(3) - gc.array([1, 2]).sum()) is gc.ndarray  # a program's own
