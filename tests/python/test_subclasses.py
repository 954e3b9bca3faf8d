"""Classes made of `ndarray`, and what `ndarray` means: the same under NumPy and under graphc."""

import abc
import collections.abc
import copy
import functools
import pickle
import threading
import typing
import warnings
import weakref

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only


def both(program):
    """The program's answers under both imports are equal: values, dtypes and names of classes."""

    def seen(value):
        if isinstance(value, (list, tuple)):
            return [seen(v) for v in value]
        if isinstance(value, (np.ndarray, np.generic)) or isinstance(value, gc.Array):
            name = type(value).__name__
            # NumPy's single results are scalars.
            plain = name in ("ndarray", "Array") or isinstance(value, np.generic)
            return "" if plain else name, str(value.dtype), value.shape, np.asarray(value).tolist()
        return value

    assert seen(program(gc)) == seen(program(np))


def labelled(xp):
    """NumPy's own example: an attribute that goes along."""

    class Labelled(xp.ndarray):
        def __new__(cls, values, label=None):
            made = xp.asarray(values).view(cls)
            made.label = label
            return made

        def __array_finalize__(self, source):
            if source is not None:
                self.label = getattr(source, "label", None)

        def doubled(self):
            return self * 2

    return Labelled


def test_attributes_go_along():
    def program(xp):
        cls = labelled(xp)
        x = cls([1.0, 2.0, 3.0], "metres")
        made = [x, x + 1, 2 * x, xp.sin(x), x[1:], x.reshape(3, 1), x.copy(), x.doubled(), xp.ones(3) * x, x - xp.ones(3), -x, x.T]
        made += [pickle.loads(pickle.dumps(xp.array([1, 2]))), copy.deepcopy(x)]
        return made, [getattr(m, "label", "") for m in made], [x.sum(), xp.mean(x), xp.max(x), x[0], float(x[1]), len(x)]

    both(program)


def test_functions_take_them():
    def program(xp):
        x = labelled(xp)([[3.0, 1.0], [2.0, 4.0]], "seconds")
        plain = [xp.asarray(x), xp.array(x), xp.concatenate([x, x]), xp.linalg.inv(x), xp.dot(x, x), xp.where(x > 1, x, 0), xp.sort(x, axis=0)]
        kept = [xp.asanyarray(x), xp.zeros_like(x), xp.array(x, subok=True), xp.clip(x, 1, 2), xp.cumsum(x, axis=1)]
        return [xp.asarray(p) for p in plain], kept

    both(program)


def test_memory_is_shared_both_ways():
    def program(xp):
        cls = labelled(xp)
        a = xp.arange(12.0).reshape(3, 4)
        lazily = a + 1
        v = a[:, 1:].view(cls)
        before = a * 10
        v[0, 0] = 100
        a[1, 1] = 200  # one element
        a[2] += 5  # recorded
        a[:, 3] = [7, 8, 9]
        middle = [v.copy(), a.copy(), a.sum(), xp.max(a, axis=0)]
        v *= 2
        w = a[1]
        w -= 1
        v.sort(axis=1)
        after = [v.copy(), a.copy(), w.copy(), a[0, 1], float(a[1, 2])]
        del v
        a[0] = 0
        w += 3
        return lazily, before, middle, after, a, w

    both(program)


def test_loops_over_shared_memory():
    def program(xp):
        a = xp.zeros(8)
        v = a.view(labelled(xp))
        for i in range(60):
            v[i % 8] += i
            a[(i * 3) % 8] -= 1
            a += 0.5
        total = 0.0
        for i in range(60):
            total += a[i % 8] * v[(i + 1) % 8]
        return a, v, total

    both(program)


def test_shared_memory_under_jit():
    @gc.jit
    def step(x):
        x += 1
        return x * 2

    a = gc.arange(4.0)
    v = a.view(labelled(gc))
    for turn in range(3):
        v[0] = 10 * turn
        doubled = step(a)
        assert doubled.tolist() == [(10 * turn + 1) * 2, *((np.arange(1, 4) + turn + 1) * 2).tolist()]
        assert np.asarray(v).tolist() == a.tolist() == [10 * turn + 1, *(np.arange(1, 4) + turn + 1).tolist()]


def test_loans_end():
    a = gc.zeros(1000)
    v = a.view(labelled(gc))
    v[3] = 4
    gone = weakref.ref(v)
    del v
    assert gone() is None
    a[5] = 6
    assert (a.sum(), a[3], a[5]) == (10, 4, 6)
    # A view of the borrower's keeps the memory as well.
    part = a.view(labelled(gc))[2:5]
    part[:] = 1
    assert a[:6].tolist() == [0, 0, 1, 1, 1, 6]


def test_read_only_arrays_stay_so():
    a = gc.broadcast_to(gc.arange(3.0), (2, 3))
    v = a.view(labelled(gc))
    assert v.shape == (2, 3) and not v.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        v[0, 0] = 1


def test_views_as_classes_that_numpy_has():
    def program(xp):
        x = xp.arange(4.0).reshape(2, 2)
        m = x.view(xp.matrix)
        m[0, 0] = 9
        r = xp.arange(6, dtype="f8").view(xp.recarray)
        return m * m, x, r.sum()

    both(program)


def quantity(xp):
    """Decides itself what ufuncs and functions give, as packages of units do."""

    class Quantity(xp.ndarray):
        def __new__(cls, values, unit):
            made = xp.array(values, dtype=float, copy=True).view(cls)
            made.unit = unit
            return made

        def __array_finalize__(self, source):
            self.unit = getattr(source, "unit", "")

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
            units = [getattr(x, "unit", "") for x in inputs]
            plain = [x.view(xp.ndarray) if isinstance(x, Quantity) else x for x in inputs]
            if out is not None:
                keywords["out"] = tuple(o.view(xp.ndarray) if isinstance(o, Quantity) else o for o in out)
            found = getattr(ufunc, method)(*plain, **keywords)
            if not isinstance(found, xp.ndarray) or found.dtype == bool:
                return found
            found = found.view(Quantity)
            found.unit = "*".join(u for u in units if u) if ufunc.__name__ == "multiply" else units[0]
            return found

        def __array_function__(self, function, types, args, keywords):
            if function.__name__ == "median":
                return "the median"
            return super().__array_function__(function, types, args, keywords)

        def __array_wrap__(self, array, context=None, return_scalar=False):
            return super().__array_wrap__(array, context, return_scalar)

        def __getitem__(self, key):
            found = super().__getitem__(key)
            return found if isinstance(found, Quantity) else ("element", float(found))

    return Quantity


def test_classes_with_protocols():
    def program(xp):
        q = quantity(xp)([1.0, 2.0], "m")
        r = xp.full(2, 3.0)
        made = [q * q, q * r, r * q, q + r, xp.sqrt(q), q[:1], q.view(xp.ndarray)]
        q += 1
        return made, [getattr(m, "unit", None) for m in made], q, q.unit, q > 2, xp.median(q), q[0], xp.add.reduce(q), xp.multiply(r, q).unit

    both(program)


def test_constructors_of_ndarray():
    def program(xp):
        class Grid(xp.ndarray):
            def __new__(cls, rows, columns):
                made = super().__new__(cls, (rows, columns), dtype=int)
                made.fill(7)
                return made

        class Buffered(xp.ndarray):
            def __new__(cls, raw):
                return xp.ndarray.__new__(cls, (2,), "f8", raw)

        class Child(Grid):
            def __getitem__(self, key):
                return xp.ndarray.__getitem__(self, key) + 1

            def __setitem__(self, key, value):
                xp.ndarray.__setitem__(self, key, value * 2)

        grid, child = Grid(2, 3), Child(1, 2)
        child[0, 1] = 4
        return grid, grid.sum(axis=0), Buffered(bytearray(np.array([1.5, 2.5]).tobytes())), child, child[0, 1]

    both(program)


def test_class_statements():
    class Mixin:
        def twice(self):
            return self + self

    def program(xp):
        registered = []

        class Base(xp.ndarray):
            def __init_subclass__(cls, *, tag="", **keywords):
                super().__init_subclass__(**keywords)
                registered.append((cls.__name__, tag))

        class Derived(Mixin, Base, tag="x"):
            """A text."""

            __slots__ = ()

        x = xp.arange(3).view(Derived)
        facts = [isinstance(x, xp.ndarray), issubclass(Derived, xp.ndarray), isinstance(xp.arange(3), Derived), Derived.__doc__, Derived.__module__]
        return registered, facts, x.twice(), isinstance(x, Base), type(x) is Derived

    both(program)


def test_what_is_an_array():
    def program(xp):
        arrays = [xp.zeros(3), xp.array(["a"]), xp.array([1, None]), np.zeros(3), np.ma.array([1]), xp.arange(3)[1:], xp.matrix([1])]
        others = [3, 2.5, "a", [1], (1,), None, np.float64(1), range(3), object()]
        classes = [np.matrix, int, list, xp.ndarray, np.generic, abc.ABC]
        return [isinstance(a, xp.ndarray) for a in arrays + others], [issubclass(c, xp.ndarray) for c in classes]

    both(program)
    assert not gc._graphc.is_array(np.zeros(3)) and gc._graphc.is_array(gc.zeros(3)) and not gc._graphc.is_array(3)
    with pytest.raises(TypeError, match="must be a class"):
        issubclass(3, gc.ndarray)


def test_methods_taken_of_the_class():
    def program(xp):
        numbers, objects = xp.arange(6.0).reshape(2, 3), xp.array([1, 2, None], dtype=object)

        class Renamed(xp.ndarray):
            total = xp.ndarray.sum

        names = [xp.ndarray.sum.__name__, xp.ndarray.reshape.__name__, callable(xp.ndarray.__add__), xp.ndarray.sum is xp.ndarray.sum]
        found = [xp.ndarray.sum(numbers, axis=0), xp.ndarray.__add__(numbers, 1), xp.ndarray.tolist(objects), xp.ndarray.__len__(objects)]
        mapped = list(map(xp.ndarray.max, [numbers, numbers + 1]))
        partial = functools.partial(xp.ndarray.mean, axis=1)(numbers)
        return names, found, mapped, partial, numbers.view(Renamed).total()

    both(program)


def test_classes_in_jit_are_computed_outside():
    cls = labelled(gc)
    x = cls([1.0, 2.0], "m")

    with pytest.raises(gc.TraceError, match="test_subclasses"):
        gc.jit(lambda a: a.view(cls) + x, fullgraph=True)(gc.ones(2))


def test_memory_of_other_devices_is_shown_read_only(device):
    with gc.device(device):
        a = gc.arange(4.0) + 1
        v = a.view(labelled(gc))
        assert v.tolist() == [1, 2, 3, 4] and type(v + 1) is type(v)
        assert v.flags.writeable == (device == "cpu")


def test_memory_of_ours_as_a_buffer():
    def program(xp):
        class Point(xp.ndarray):
            def __new__(cls, values):
                values = xp.array(values, dtype=float)
                values /= xp.linalg.norm(values)
                made = super().__new__(cls, values.shape, float, values)
                made.plain = values
                return made

        p = Point([3.0, 4.0])
        p[0] = 10
        p.plain[1] = 20
        p += 1
        return p, p.plain, xp.sum(p)

    both(program)


def test_tables_of_functions():
    """NumPy asks a class by its own function, and the class knows ours."""

    def program(xp):
        functions, ufuncs = {}, {xp.add: "sum", xp.multiply: "product"}

        class Duck:
            def __array_function__(self, function, types, args, keywords):
                return functions[function](*args) if function in functions else NotImplemented

            def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
                return ufuncs.get(ufunc, "other") + (" reduced" if method == "reduce" else "")

        class Tagged(Duck, xp.ndarray):
            def __array_function__(self, function, types, args, keywords):
                if function in functions:
                    return functions[function](*args)
                return super(Duck, self).__array_function__(function, types, args, keywords)

        functions[xp.concatenate] = lambda parts: f"{len(parts)} parts"
        functions[xp.linalg.norm] = lambda x: "norm"
        tagged, duck = xp.arange(3.0).view(Tagged), Duck()
        asked = [xp.concatenate([tagged, tagged]), xp.linalg.norm(tagged), xp.mean(xp.asarray(tagged)), tagged + 1, 2 * tagged, xp.sqrt(tagged), xp.add.reduce(tagged)]
        return asked + [xp.concatenate([duck, xp.ones(2)]), xp.linalg.norm(duck), xp.add(duck, xp.ones(2)), xp.ones(2) * duck]

    both(program)
    assert gc.sum == np.sum and gc.sum != np.mean and gc.sum != gc.mean and gc.concat == gc.concatenate and gc.add == np.add and gc.add != np.sum and {gc.add, gc.sum} == {np.sum, np.add}
    assert gc.average._implementation(gc.asarray([1.0, 2.0])) == np.average._implementation([1.0, 2.0])


@pytest.mark.parametrize("modes", [{"all": "raise"}, {"under": "warn"}, {}])
def test_updates_in_place_of_lent_memory(modes):
    def program(xp):
        a = xp.arange(4.0) + 1
        v = a.view(labelled(xp))
        with xp.errstate(**modes):
            a /= 2
            a[1:] *= 2
            xp.multiply(a, 2, out=a)
            a[[0, 1]] *= 2
            a[a > 3] += 1
            a[::-1].sort()
        return a, v

    both(program)


def test_statements_that_fail_leave_both_sides():
    a = gc.arange(4.0)
    v = a.view(labelled(gc))
    with pytest.raises(IndexError, match="test_subclasses"):
        a[gc.array([7]) + 1] += 3
    v[1] = 77
    assert a.tolist() == v.tolist() == [0, 77, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            a /= 0
    v[1] = 3
    a[2] += 1
    assert repr(v.tolist()) == repr(a.tolist()) == "[nan, 3.0, inf, inf]"


@pytest.mark.parametrize("writes", [True, False])
def test_threads_lend_and_write(writes):
    a = gc.zeros(5000)
    kept = []

    def lend():
        for _ in range(200):
            kept.append(a.view(labelled(gc)))

    def write():
        b = a
        for _ in range(200):
            b += 1

    threads = [threading.Thread(target=f) for f in (lend, write if writes else lend)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    assert a[0] == 200 * writes and all(v[4999] == a[4999] for v in kept)
    kept[0][1] = 5
    assert a[1] == 5 and kept[-1][1] == 5  # one memory


def test_captured_arrays_that_are_lent():
    w = gc.arange(3.0)
    v = w.view(labelled(gc))

    @gc.jit
    def step(x):
        w[0] = x[0]
        return x + w

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [(step(gc.ones(3) * t).tolist(), v.tolist()) for t in range(3)]
    assert found == [([float(2 * t), 1.0 + t, 2.0 + t], [float(t), 1, 2]) for t in range(3)]


def test_abstract_bases_and_methods_as_objects():
    def program(xp):
        class Sized(xp.ndarray, abc.ABC):
            pass

        class Listed(xp.ndarray, collections.abc.Sequence):
            def index(self, value):
                return -1

            def count(self, value):
                return 7

        x = xp.arange(3).view(Listed)
        return xp.arange(2).view(Sized) + 1, x.count(1), len(x), isinstance(x, collections.abc.Sequence)

    both(program)
    assert gc.ndarray.sum.__doc__ and pickle.loads(pickle.dumps(gc.ndarray.sum))(gc.ones(3)) == 3


def test_arrays_of_objects_share_memory():
    def program(xp):
        a = xp.arange(12.0).reshape(3, 4)
        s = a[:, 1:].view(labelled(xp))
        plain, turned, part = xp.asarray(s), xp.asarray(s.T), xp.asarray(s.view(xp.ndarray)[1:, ::2])
        plain[0, 0] = 100
        s[1, 1] += 5
        turned[2, 2] = -1
        a[2] *= 2
        part -= 1
        shared = [xp.shares_memory(p, q) for p in (a, s, plain, turned, part) for q in (a, s, plain, turned, part, xp.array(s))]
        whole = a.view(labelled(xp))
        del a, s
        xp.asarray(whole)[0] = 7
        return plain, turned, part, shared, whole, xp.asanyarray(whole), xp.may_share_memory(whole, plain)

    both(program)


def test_operators_and_functions_of_objects():
    def program(xp):
        cls = labelled(xp)
        x, y = xp.arange(1.0, 5.0), cls([2.0, 3.0, 4.0, 5.0], "s")
        square, product = xp.eye(2), xp.arange(4.0).reshape(2, 2)
        square @= cls([[0.0, 1.0], [2.0, 3.0]], "m")
        other = product.view(cls)
        other @= xp.eye(2) * 2
        windows = xp.lib.stride_tricks.sliding_window_view
        found = [divmod(x, y), divmod(y, x), divmod(7, y), square, product, xp.vectorize(lambda v: 2 * v)(y), xp.vectorize(lambda v, w: v + w)(x, y)]
        return found + [windows(y, 2, subok=True), xp.asarray(windows(y, 2)), xp.asarray(xp.lib.stride_tricks.as_strided(y, (2, 2), (8, 16)))]

    both(program)


def test_annotations():
    def program(xp):
        vector = xp.ndarray[typing.Any, xp.dtype[xp.float64]]

        def norm(x: vector, y: "xp.ndarray[tuple[int, ...], xp.dtype[xp.int64]]") -> xp.ndarray | None: ...

        class Vector(xp.ndarray[typing.Any, typing.Any]):
            pass

        hints = typing.get_type_hints(norm, {"xp": xp}, {"vector": vector})
        return sorted(hints), typing.get_origin(vector) is xp.ndarray, typing.get_args(vector) == (typing.Any, np.dtype[np.float64]), xp.arange(2).view(Vector)

    both(program)


def test_resizing_what_others_show():
    def program(xp):
        told = []
        for make in (lambda a: a.view(labelled(xp)), lambda a: a[1:], lambda a: a.reshape(2, 3), lambda a: None):
            a = xp.arange(6.0)
            other = make(a)
            try:
                a.resize((3, 3))
            except ValueError as error:
                told.append("by another object in this way" in str(error))
            told.append(a.copy())
            del other
            a.resize((2, 2))
            told.append(a.copy())
        return told

    both(program)


def test_texts_name_the_class():
    def program(xp):
        x = labelled(xp)([1.0, 2.0], "m")
        return xp.array_repr(x), repr(x), xp.array_str(x), xp.array2string(x), str(x), xp.array_repr(xp.arange(2))

    both(program)


def test_hooks_of_ndarray_are_called_by_its_name():
    for xp in (np, gc):
        seen = []

        class Tracked(xp.ndarray):
            def __array_finalize__(self, obj):
                xp.ndarray.__array_finalize__(self, obj)
                seen.append("finalize")

            def __array_wrap__(self, array, context=None, return_scalar=False):
                seen.append("wrap")
                return xp.ndarray.__array_wrap__(self, array, context, return_scalar)

        result = np.add(xp.arange(3.0).view(Tracked), 1)
        assert type(result) is Tracked and result.tolist() == [1, 2, 3] and "wrap" in seen and "finalize" in seen
        wrapped = xp.arange(3.0).__array_wrap__(np.arange(2.0))
        assert isinstance(wrapped, xp.ndarray) and wrapped.tolist() == [0, 1]


def measured(xp):
    """A class with a unit, as packages of them are written: its own ufuncs, on plain arrays of what it is given."""

    class Measured(xp.ndarray):
        def __new__(cls, values, unit="m"):
            made = xp.asarray(values).view(cls)
            made.unit = unit
            return made

        def __array_finalize__(self, source):
            self.unit = getattr(source, "unit", None)

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
            if out is not None:
                options["out"] = tuple(o.view(xp.ndarray) for o in out)
            made = getattr(ufunc, method)(*[xp.asarray(i) if isinstance(i, Measured) else i for i in inputs], **options)
            return made if out is not None else Measured(made, "new")

        def __array_function__(self, function, types, args, options):
            plain = [xp.asarray(a) if isinstance(a, Measured) else a for a in args]
            made = function._implementation(*plain, **options)
            return Measured(made, "told") if isinstance(made, (xp.ndarray, xp.generic)) else made

    return Measured


def test_classes_with_ufuncs_of_their_own_write_to_arrays():
    def program(xp):
        q = measured(xp)([1.0, 2.0, 4.0])
        x, y, z = xp.arange(3.0) + 1, xp.arange(3.0) + 1, xp.zeros(3)
        held = x
        x /= q
        xp.multiply(y, q, out=y)
        z.flat[:] = q
        dotted = xp.zeros(())
        given = xp.dot(q, q, out=dotted)
        return x, held is x, y, z, dotted, given.unit, xp.concatenate([q, z]), xp.sort(q).unit, (q + 1).unit, xp.dot(q, z)

    both(program)


def unit_array(xp):
    """As packages of units are written: what NumPy's functions mean is in a table, and the types are looked at."""

    def plain(value):
        return [plain(v) for v in value] if isinstance(value, (list, tuple)) else xp.asarray(value) if isinstance(value, Length) else value

    class Length(xp.ndarray):
        asked = []

        def __array_function__(self, function, types, args, keywords):
            Length.asked.append(function.__name__)
            if not all(issubclass(t, Length) or t is xp.ndarray for t in types):
                return NotImplemented
            made = function(*map(plain, args), **keywords)
            return made.view(Length) if isinstance(made, xp.ndarray) else made

    return Length


ASKED = {
    "where": lambda xp, x, s, m: xp.where(m, x, s),
    "append": lambda xp, x, s, m: xp.append(x, s),
    "interp": lambda xp, x, s, m: xp.interp(x, x, s),
    "select": lambda xp, x, s, m: xp.select([m, ~m], [x, s]),
    "insert": lambda xp, x, s, m: xp.insert(x, 1, s),
    "putmask": lambda xp, x, s, m: (xp.putmask(x, m, s), x)[1],
    "place": lambda xp, x, s, m: (xp.place(x, m, s), x)[1],
    "put": lambda xp, x, s, m: (xp.put(x, [2, 0], s), x)[1],
    "put_along_axis": lambda xp, x, s, m: (xp.put_along_axis(x, xp.array([2, 1, 0]), s, 0), x)[1],
    "super": lambda xp, x, s, m: xp.concatenate([s, x]),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("turns", [1, 40])
def test_functions_ask_classes_among_their_operands(name, turns):
    def program(xp):
        cls = unit_array(xp)
        made = []
        for i in range(turns):
            x, mask = xp.arange(3.0) + i, xp.array([True, False, True])
            made.append(ASKED[name](xp, x, xp.array([7.0, 8.0, 9.0]).view(cls), mask))
        return made, cls.asked

    both(program)


def test_the_default_meaning_of_functions():
    def program(xp):
        class Silent(xp.ndarray):
            def __array_function__(self, function, types, args, keywords):
                return super().__array_function__(function, types, args, keywords)

        s = xp.arange(4.0).view(Silent)
        return [xp.concatenate([s, xp.ones(2)]), xp.where(s > 1, s, xp.zeros(4)), xp.sort(s), xp.insert(xp.zeros(2), 1, s)]

    both(program)


def test_objects_of_classes_meet_arrays_without_a_refusal(monkeypatch):
    """Functions and ufuncs give objects of classes that leave all to NumPy to NumPy's at once, without trying them."""

    def program(xp):
        class Plain(xp.ndarray):
            pass

        a, m = xp.arange(4.0), xp.arange(16.0).reshape(4, 4)
        s = (a + 1).view(Plain)
        m[:, 1] = s
        m[2] = s.view(xp.matrix)
        made = [xp.outer(s, s), xp.dot(m, s), xp.sum(s), xp.linalg.norm(s), xp.cross(s[:3], a[1:]), xp.sqrt(s), xp.add(a, s), xp.matmul(m, s)]
        return [*made, s - m, s * 2, xp.array(s), xp.copy(s), xp.concatenate((s, a)), xp.sum(s.reshape(2, 2), axis=0), m, s == a]

    both(program)
    refusals, begin = [], gc.errors.ForeignDType.__init__

    def counted(self, *args, **keywords):
        refusals.append(args)
        begin(self, *args, **keywords)

    monkeypatch.setattr(gc.errors.ForeignDType, "__init__", counted)
    a, s = gc.arange(4.0), gc.arange(4.0).view(np.matrix)
    gc.zeros((2, 4))[:1] = s
    for call in (gc.outer, gc.dot, gc.add, gc.multiply):
        call(s if call is not gc.dot else s.T, s)
    gc.sum(s), gc.linalg.norm(s), gc.sqrt(s), gc.array(s), gc.add(a, s), s - a, a - s, a * s.T
    s -= a
    s *= s[0, 3]
    assert not refusals
    matrix = gc.arange(4).reshape(2, 2).view(np.matrix)
    assert (gc.arange(2).reshape(2, 1) + matrix).tolist() == [[0, 1], [3, 4]]
    assert (matrix * gc.arange(2).reshape(2, 1)).tolist() == [[1], [3]]  # the class's own product


def test_methods_of_classes_that_ask_stay_asked():
    def program(xp):
        class Asked(xp.ndarray):
            def __array_function__(self, function, types, args, keywords):
                return function.__name__

            def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
                return ufunc.__name__

        s = xp.arange(3.0).view(Asked)
        return [xp.sum(s), xp.outer(xp.ones(3), s), xp.sqrt(s), xp.ones(3) + s, s - xp.ones(3)]

    both(program)


def test_operators_of_the_mixin_ask_with_the_functions_that_a_class_names():
    def program(xp):
        class Quantity(xp.lib.mixins.NDArrayOperatorsMixin):
            def __init__(self, value):
                self.value = xp.asarray(value)

            def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
                names = [n for n in ("add", "multiply", "divide", "divmod", "less", "negative", "power", "matmul") if ufunc is getattr(xp, n)]
                values = [v.value if isinstance(v, Quantity) else v for v in inputs]
                return names, ufunc(*values), sorted(keywords)

        class Refuses:
            __array_ufunc__ = None

            def __radd__(self, other):
                return "refused"

        q, x = Quantity([3.0, 4.0]), xp.arange(2.0)
        answers = [q + q, q * 2, 2 / q, x * q, q * x, divmod(q, 2), q < 3.5, 3.5 > q, -q, q**2, q @ q, q + Refuses()]
        q *= 3
        return [*answers, q, issubclass(Quantity, np.lib.mixins.NDArrayOperatorsMixin)]

    both(program)


def rebuilt(cls, base):
    return np.ndarray.__new__(cls, (0,), "b") if base is None else base.__new__(cls, (0,), "b")


class Measured:
    """What `made` gives classes of, one an array module: units that pickles keep by the array's own state."""

    def __reduce__(self):
        _, _, state = super().__reduce__()
        return rebuilt, (type(self), None), (*state, self.unit)

    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", None)


class MeasuredOurs(Measured, gc.ndarray):
    def __setstate__(self, state):
        gc.ndarray.__setstate__(self, state[:-1])
        self.unit = state[-1]


class MeasuredTheirs(Measured, np.ndarray):
    def __setstate__(self, state):
        np.ndarray.__setstate__(self, state[:-1])
        self.unit = state[-1]


@pytest.mark.parametrize(("xp", "cls"), [(gc, MeasuredOurs), (np, MeasuredTheirs)])
def test_the_state_of_arrays_is_set_by_the_method_of_their_base(xp, cls):
    x = xp.arange(6.0).reshape(2, 3).view(cls)
    x.unit = "m"
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert type(made) is cls and made.unit == "m" and made.shape == (2, 3) and made.tolist() == x.tolist()
    assert type(rebuilt(np.ndarray, xp.ndarray)) is np.ndarray  # as pickles of NumPy's have it
    plain = xp.ndarray.__new__(xp.ndarray, (0,), "b")
    plain.__setstate__(np.arange(4, dtype="i4").reshape(2, 2).__reduce__()[2])
    assert plain.dtype == "i4" and (plain + 1).tolist() == [[1, 2], [3, 4]]


def test_classes_compare_the_classes_of_arrays_that_are_updated():
    """`counts /= quantity`: the class that is not the plain one names the result."""

    def program(xp):
        class Quantity(xp.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
                made = [type(i) for i in inputs if type(i) not in (xp.ndarray, xp.matrix) and type(i) not in {xp.ndarray, float}]
                if out is not None:
                    keywords["out"] = tuple(o.view(xp.ndarray) for o in out)
                result = getattr(ufunc, method)(*[i.view(xp.ndarray) if isinstance(i, xp.ndarray) else i for i in inputs], **keywords)
                assert made == [Quantity]
                return result.view(made[0])

        counts, quantity = xp.array([[2.0, 4], [6, 8]]), xp.array([2.0, 0.5]).view(Quantity)
        counts /= quantity
        return [xp.asarray(counts)]

    for got, want in zip(program(gc), program(np)):
        assert np.asarray(got).tolist() == want.tolist()
