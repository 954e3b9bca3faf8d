"""Methods and attributes of arrays, and Python's functions over them."""

import copy
import gc as gc_module
import operator
import pickle
import weakref

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only


def test_base_flags_and_strides():
    for shape in ((), (3,), (2, 3), (1, 3), (2, 0), (4, 1, 2)):
        x, n = gc.asarray(np.zeros(shape)).copy(), np.zeros(shape)
        for key in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED"):
            assert x.flags[key] == n.flags[key] and x.T.flags[key] == n.T.flags[key], (shape, key)
        assert x.base is None and x.flags.owndata
        view = x.reshape((1, *shape)).T
        assert view.base is x and not view.flags.owndata and view[...].base is x
        assert str(x.flags) == str(n.flags)
    assert not gc.broadcast_to(x, (2, 4, 1, 2)).flags.writeable
    with pytest.raises(ValueError):
        gc.broadcast_to(x, (2, 4, 1, 2)).flags.writeable = True


def test_setflags():
    x = gc.zeros(4)
    early = x[1:]
    x.flags.writeable = False
    late = x[1:]
    for target in (x, late):
        with pytest.raises(ValueError, match="read-only"):
            target[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            target += 1
    early[0] = 5
    exact.assert_same(x, np.array([0, 5.0, 0, 0]))


def test_shape_assignment():
    x = gc.arange(6)
    y = x[:]
    x.shape = (2, -1)
    assert x.shape == (2, 3) and y.shape == (6,) and y.base is x
    x[1, 2] = 9
    exact.assert_same(y, np.array([0, 1, 2, 3, 4, 9]))
    with pytest.raises(AttributeError, match="Incompatible shape"):
        x.T.shape = (6,)
    with pytest.raises(ValueError):
        x.shape = (4,)


def test_flat():
    def program(xp):
        x = xp.arange(6).reshape(2, 3)
        results = [xp.asarray([int(v) for v in x.flat]), x.flat[1], x.flat[::2], x.T.flat[1:3], xp.asarray(len(x.flat))]
        x.flat[0] = 7
        x.T.flat[1::2] = [1, 2]
        results.append(x.copy())
        x.flat = 3
        return [*results, x]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(g, w)


def test_order_of_elements():
    n = np.arange(24.0).reshape(2, 3, 4)
    x = gc.asarray(n)
    for order in "CFAK":
        exact.assert_same(x.T.flatten(order), n.T.flatten(order), order)
        exact.assert_same(x.ravel(order), n.ravel(order), order)
        if order != "K":
            exact.assert_same(gc.reshape(x.T, (6, 4), order=order), np.reshape(n.T, (6, 4), order=order), order)
    assert x.tobytes("F") == n.tobytes("F")


@pytest.mark.parametrize("size", [2, 7, (2, 3)])
def test_what_may_not_be_written_is_resized_and_stays_so(size):
    for xp in (np, gc):
        x = xp.arange(6)
        x.setflags(write=False)
        x.resize(size, refcheck=False)
        assert not x.flags.writeable and x.ravel()[1] == 1
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1


def test_resize():
    x = gc.arange(4)
    x.resize((2, 3))
    exact.assert_same(x, np.array([[0, 1, 2], [3, 0, 0]]))
    x.resize(2)
    exact.assert_same(x, np.array([0, 1]))
    with pytest.raises(ValueError, match="own"):
        x[:].resize(3)


def test_python_functions():
    x = gc.asarray([3, -1, 2])
    assert max(x) == 3 and min(x) == -1 and sum(x) == 4 and sorted(x.tolist()) == [-1, 2, 3] and -1 in x and 7 not in x
    assert [int(v) for v in sorted(x)] == [-1, 2, 3]
    for g, w in zip(divmod(x, 2), divmod(np.array([3, -1, 2]), 2)):
        exact.assert_same(g, w)
    for g, w in zip(divmod(7, x), divmod(7, np.array([3, -1, 2]))):
        exact.assert_same(g, w)
    assert round(gc.asarray(2.5)) == 2 and operator.index(gc.asarray(4)) == 4 and complex(gc.asarray(2.0)) == 2
    exact.assert_same(round(gc.asarray([1.26, 2.5]), 1), np.array([1.3, 2.5]))
    assert f"{gc.asarray(1.5):.2f}" == "1.50" and list(gc.arange(2)) == [0, 1]
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert {x[0]: "a", 2: "b"}[3] == "a" and {1: "c"}[-x[1]] == "c" and len({int(v) for v in x} | set(x)) == 3
    assert "%d %.2f" % (x[0], gc.asarray(1.5)) == "3 1.50" and [1, 2, 3, 4][x[0]] == 4
    a, b, c = x
    assert int(b) == -1


def test_operands():
    x = gc.asarray([1.0, 2.0])
    for made in ([1, 2] + x, (1, 2) * x, x - [1, 2], np.float64(2) * x, np.float32(2) * x, np.array([1, 2]) + x, x**2, 2**x):
        assert isinstance(made, gc.Array)
    exact.assert_same([1, 2] + x, np.array([2.0, 4.0]))


def test_repetition_of_sequences():
    n = gc.arange(4).max()
    assert [0] * n == [0, 0, 0] and n * (1,) == (1, 1, 1) and "ab" * n == "ababab"
    exact.assert_same([1, 2] * gc.asarray([3, 4]), np.array([3, 8]))


def test_copies_and_pickles():
    x = gc.arange(6).reshape(2, 3)[:, ::2]
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), pickle.loads(x.dumps())):
        exact.assert_same(made, np.asarray(x))
        assert not gc.shares_memory(made, x)


def test_memory_overlap_is_exact():
    x, n = gc.zeros((4, 6)), np.zeros((4, 6))
    keys = [np.s_[:, ::2], np.s_[:, 1::2], np.s_[::-1], np.s_[1:3, 2:4], np.s_[3:, 4:], np.s_[::3, ::5], np.s_[0], np.s_[..., 0]]
    for a in keys:
        for b in keys:
            assert gc.shares_memory(x[a], x[b]) == np.shares_memory(n[a], n[b]), (a, b)
            for work in (None, 0, 1, -1, 100):
                assert gc.may_share_memory(x[a], x[b], max_work=work) == np.may_share_memory(n[a], n[b], max_work=work), (a, b, work)
    assert not gc.shares_memory(x, gc.zeros((4, 6))) and not gc.shares_memory(x, [1, 2])


def test_casting_rule_of_astype():
    x = gc.asarray([1.5])
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        x.astype("int32", casting="safe")
    assert x.astype("float32", casting="same_kind").dtype == np.float32 and x.astype(float, copy=False) is x


def test_what_is_absent_says_so():
    x = gc.zeros(2)
    with pytest.raises(AttributeError, match="no attribute '__array_struct__'"):
        x.__array_struct__  # noqa: B018
    assert gc.shares_memory(x.view(), x) and x.data.nbytes == 16


def test_updates_of_computed_numbers_leave_other_names_alone():
    def program(xp):
        x = xp.asarray([1.0, 2.0, 3.0])
        total = before = x.sum()
        total += 1
        count = first = x.argmax()
        count += 0.5
        element = same = x[1]
        element *= 10
        cell = xp.zeros(())
        alias = cell
        alias += 2
        alias += 3
        return [xp.asarray(v) for v in (total, before, count, first, element, same, x, cell)]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(g, w)


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "i8", "f4", "f8", "c8", "c16"])
def test_byteswap(dtype):
    a = np.arange(1, 7).reshape(2, 3).astype(dtype)
    swapped = gc.asarray(a)[:, ::-1].byteswap()
    assert swapped.dtype == a.dtype and swapped.tobytes() == a[:, ::-1].byteswap().tobytes()
    y = gc.asarray(a, copy=True)
    assert y.byteswap(inplace=True) is y and y.tobytes() == a.byteswap().tobytes()
    assert y.byteswap(True).tobytes() == a.tobytes()


@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex128"])
def test_flags_and_column_major_memory_are_numpys(dtype):
    for shape in ((), (1,), (4,), (0,), (3, 4), (1, 4), (4, 1), (0, 3), (2, 3, 4), (2, 1, 4)):
        host = np.ones(shape, dtype)
        makes = [lambda x: x, lambda x: x.T, lambda x: x[..., ::2] if x.ndim else x, lambda x: x[::-1] if x.ndim else x, lambda x: x.copy("F"), lambda x: x.T[:1] if x.ndim else x]
        for make in makes:
            mine, theirs = make(gc.asarray(host.copy())), make(host.copy())
            for name in ("c_contiguous", "f_contiguous", "fnc", "forc", "writeable", "carray", "farray", "contiguous", "fortran"):
                assert getattr(mine.flags, name) == getattr(theirs.flags, name), (shape, name)
            for key in ("C", "F", "C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "FNC"):
                assert mine.flags[key] == theirs.flags[key]
            assert gc.isfortran(mine) is np.isfortran(theirs)
            assert gc.asfortranarray(mine).flags.f_contiguous and (gc.asfortranarray(mine) is mine) == (np.asfortranarray(theirs) is theirs)
            for f in ("iscomplex", "isreal"):
                expected, made = getattr(np, f)(theirs), getattr(gc, f)(mine)
                assert made.dtype == expected.dtype and made.shape == expected.shape and bool((np.asarray(made) == expected).all())
    with pytest.raises(KeyError):
        gc.ones(2).flags["Q"]
    with pytest.raises(AttributeError):
        gc.ones(2).flags.unknown = 1


@pytest.mark.parametrize("shape", [(6,), (1,), (2, 3), (3, 1, 2), (0,), ()])
def test_elements_of_flat_by_their_places(shape):
    host = np.arange(np.prod(shape) * 1.0).reshape(shape)
    for part in (lambda v: v, lambda v: v.T, lambda v: v[::-1] if v.ndim else v, lambda v: v[..., None][..., 0]):
        theirs, ours = part(host.copy()), part(gc.asarray(host.copy()))
        for place in range(-theirs.size, theirs.size):
            assert ours.flat[place] == theirs.flat[place]
            theirs.flat[place] = ours.flat[place] = place * 2
        assert ours.tolist() == theirs.tolist() and len(ours.flat) == len(theirs.flat)
        for place in (theirs.size, -theirs.size - 1, 1 << 70):
            for change in (lambda v, i: v.flat[i], lambda v, i: v.flat.__setitem__(i, 1)):
                with pytest.raises((IndexError, OverflowError)):
                    change(ours, place)
    locked = gc.arange(3.0)
    locked.flags.writeable = False
    with pytest.raises(ValueError):
        locked.flat[0] = 1
    with pytest.raises(TypeError):
        del ours.flat[0]
    with pytest.raises(ValueError, match="Error setting single item"):
        gc.arange(3).flat[0] = [1, 2]


def test_flat_ends_with_its_array():
    x = gc.arange(3.0)
    walk = x.flat
    walk.own = walk  # a cycle
    seen = weakref.ref(walk)
    assert walk.base is x and next(walk) == 0
    del walk
    gc_module.collect()
    assert seen() is None


def test_methods_ask_no_argument_what_functions_mean():
    class Asked:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return space.asarray(self.values, dtype)

        def __array_function__(self, function, types, args, keywords):
            return function.__name__

    def program(xp):
        x, truths = xp.arange(4.0), Asked([True, False, True, False])
        x.put(Asked([0, 1]), Asked([5, 6]))
        return [x, x.compress(truths), x.searchsorted(Asked([1.0, 3])), x.repeat(Asked([1, 0, 2, 1])), x.dot(Asked([1.0, 2, 3, 4])),
                x.clip(Asked([0.0, 1, 2, 3]), Asked(4)), x.take(Asked([1, 2]))]  # fmt: skip

    space = np
    wanted = program(np)
    for space in (np, gc):
        for got, want in zip(program(gc), wanted, strict=True):
            assert np.asarray(got).tolist() == np.asarray(want).tolist()
    for function, args in ((gc.searchsorted, ([1.0], Asked([1]))), (gc.clip, (gc.arange(2.0), Asked([0, 1]), 1)), (gc.dot, (gc.arange(2.0), Asked([0, 1])))):
        assert function(*args) == function.__name__


def test_what_is_no_order_and_no_dtype():
    for xp in (np, gc):
        x = xp.arange(6.0).reshape(2, 3)
        for call in (x.copy, x.flatten, x.ravel, lambda o: xp.zeros(2, order=o)):
            with pytest.raises(TypeError, match="order must be str, not int"):
                call(1)
            for order in ("f8", "Fortran", ""):
                with pytest.raises(ValueError, match="order must be one of"):
                    call(order)
        with pytest.raises(TypeError, match="Cannot construct a dtype from an array"):
            x.astype(xp.arange(2.0))
        assert x.copy("f").flags.f_contiguous and x.ravel("F").tolist() == [0, 3, 1, 4, 2, 5]
    assert isinstance(gc.frompyfunc(abs, 1, 1), gc.ufunc) and isinstance(np.add, gc.ufunc) and type(gc.add) is gc.ufunc
    assert not isinstance(abs, gc.ufunc) and not issubclass(np.ndarray, gc.ufunc)


def test_places_and_bits_that_are_none():
    for xp in (np, gc):
        with pytest.raises(ValueError, match="must have a single dimension"):
            xp.put_along_axis(xp.zeros((2, 2)), xp.array([[0]]), 1, None)
        for call in (lambda: xp.unravel_index(xp.array([1.5]), (3, 3)), lambda: xp.ravel_multi_index((1.5, 1), (3, 3))):
            with pytest.raises(TypeError, match="only int indices permitted"):
                call()
        for call in (lambda: xp.packbits(xp.array([1]), bitorder=None), lambda: xp.unpackbits(xp.zeros(2, "u1"), bitorder=10)):
            with pytest.raises(TypeError, match="must be str"):
                call()


def test_casts_that_keep_values():
    """The rule "same_value" looks at them."""

    def program(xp):
        x = xp.arange(6.0).reshape(2, 3)
        return [x.astype("i2", casting="same_value"), x.T.astype("?", casting="unsafe"), xp.array([3, 250]).astype("u1", casting="same_value"), x[0].astype("F", casting="same_value")]

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(got, want)
    for xp in (np, gc):
        for lost, dtype in ((xp.array([1.5]), "i4"), (xp.array([300]), "u1"), (xp.array([1j]), "f8")):
            with pytest.raises(ValueError, match="same_value"):
                lost.astype(dtype, casting="same_value")
        with pytest.raises(ValueError, match=r"casting must be one of .*'same_value' \(got 'bla'\)"):
            xp.ones(2).astype("i4", casting="bla")
