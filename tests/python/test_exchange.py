"""DLPack both ways, tokens, files and pickles, NumPy's functions on graphc arrays."""

import copy
import ctypes
import io
import pickle
import subprocess
import sys
from gc import collect

import graphc as gc
import numpy as np
import pytest
from support import edge, exact

pytestmark = pytest.mark.graphc_only


# DLPack: records made and read by hand, as another library would.


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", DELETER),
        ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
look_into = ctypes.pythonapi.PyCapsule_GetPointer
look_into.restype, look_into.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Exporter:
    """Memory of a NumPy array under any record; lives until its capsule's deleter is called."""

    alive = set()

    def __init__(self, values, *, old=False, major=1, minor=1, device=1, **fields):
        self.values, self.old, self.device, self.freed, self.asked = values, old, device, 0, []
        self.shape = (ctypes.c_int64 * 8)(*fields.pop("shape", values.shape))
        self.strides = (ctypes.c_int64 * 8)(*[s // values.itemsize for s in values.strides])
        self.record = Managed() if old else Versioned(major=major, minor=minor)
        kind = {"f": 2, "i": 0, "u": 1, "c": 5, "b": 6}[values.dtype.kind]
        given = dict(
            data=values.ctypes.data, device_type=device, ndim=values.ndim, code=kind, bits=8 * values.itemsize, lanes=1,
            shape=self.shape, strides=self.strides, offset=0,
        )  # fmt: skip
        for name, value in {**given, **fields}.items():
            setattr(self.record.tensor, name, value)
        self.record.deleter = self.keep = DELETER(self.free)

    def free(self, record):
        self.freed += 1
        self.alive.discard(self)

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, **options):
        self.asked.append(options)
        if self.old and options:
            raise TypeError("unexpected keyword")
        self.alive.add(self)
        return make_capsule(ctypes.addressof(self.record), b"dltensor" if self.old else b"dltensor_versioned", None)


@pytest.mark.parametrize("old", [False, True], ids=["versioned", "old"])
def test_imports_share_memory_until_the_last_use(old):
    values = np.arange(6.0).reshape(2, 3)
    source = Exporter(values, old=old)
    g = gc.from_dlpack(source)
    assert source.asked[0] == {"max_version": (1, 1)}
    assert np.asarray(g).ctypes.data == values.ctypes.data
    view = np.asarray(g[1:])
    del g
    assert source.freed == 0
    exact.assert_same(view, values[1:])
    del view
    assert source.freed == 1


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_imports_of_every_dtype_and_layout(dtype):
    x = np.resize(edge.values(dtype), (4, 6))
    for values in (x, x.T, x[::2, ::-3], x[:0], x[:, :1], x[1, 2, ...]):
        source = Exporter(values)
        g = gc.from_dlpack(source)
        exact.assert_same(g, values)
        del g
        assert source.freed == 1


def test_imports_without_strides_with_an_offset():
    values = np.arange(10.0)
    exact.assert_same(gc.from_dlpack(Exporter(values, strides=None, shape=(4,), offset=16)), values[2:6])
    misaligned = np.frombuffer(bytearray(33), "u1")[1:].view("f8")
    misaligned[:] = [1, 2, 3, 4]
    exact.assert_same(gc.from_dlpack(Exporter(misaligned)), misaligned)


def test_imports_of_bfloat16():
    bits = (np.array([1.5, -2.0, 3.0], "f4").view("u4") >> 16).astype("u2")
    g = gc.from_dlpack(Exporter(bits, code=4))
    assert g.dtype.name == "bfloat16"
    exact.assert_same(g.astype("float32"), np.array([1.5, -2.0, 3.0], "f4"))


@pytest.mark.parametrize(
    "fields",
    [dict(major=2), dict(major=0), dict(device=2), dict(device_type=2), dict(lanes=4), dict(code=9), dict(bits=4),
     dict(data=None), dict(shape=(-1, 3)), dict(shape=(2**40, 2**40))],
    ids=str,
)  # fmt: skip
def test_records_that_cannot_be_taken(fields):
    values = np.arange(6.0).reshape(2, 3)
    source = Exporter(values, **fields)
    with pytest.raises(BufferError):
        gc.from_dlpack(source)
    exact.assert_same(values, np.arange(6.0).reshape(2, 3))


def test_imports_say_what_they_need():
    with pytest.raises(TypeError, match="__dlpack__"):
        gc.from_dlpack([1, 2])
    with pytest.raises(BufferError, match="needs a copy"):
        gc.from_dlpack(np.arange(6.0)[::2], copy=False)

    class Wrong(Exporter):
        def __dlpack__(self, **options):
            return "text"

    with pytest.raises((ValueError, TypeError)):
        gc.from_dlpack(Wrong(np.arange(3.0)))


def exported(capsule, versioned=True):
    kind, name = (Versioned, b"dltensor_versioned") if versioned else (Managed, b"dltensor")
    return kind.from_address(look_into(capsule, name))


def test_exports():
    g = gc.asarray(np.arange(6.0).reshape(2, 3)) * 1
    capsule = g.__dlpack__(max_version=(1, 1))
    record = exported(capsule)
    assert (record.major, record.minor, record.flags) == (1, 1, 1)
    t = record.tensor
    assert (t.device_type, t.ndim, t.code, t.bits, t.lanes, t.offset) == (1, 2, 2, 64, 1, 0)
    assert (t.shape[:2], t.strides[:2]) == ([2, 3], [3, 1]) and t.data == np.asarray(g).ctypes.data
    own = g.__dlpack__(max_version=(2, 0), copy=True)
    assert exported(own).flags == 2 and exported(own).tensor.data != t.data
    old = g.__dlpack__()
    assert exported(old, versioned=False).tensor.data == t.data
    assert exported(g.astype("bfloat16").__dlpack__(max_version=(1, 0))).tensor.code == 4
    assert not np.from_dlpack(g).flags.writeable and np.from_dlpack(g, copy=True).flags.writeable
    with pytest.raises(BufferError):
        g.__dlpack__(dl_device=(2, 0))
    for array in (g, np.ones(2)):
        with pytest.raises(RuntimeError, match="stream"):
            array.__dlpack__(stream=1)
    with pytest.raises(ValueError, match="ambiguous"):
        g.__dlpack__(copy=g)


def test_read_only_arrays_are_not_exported_to_who_cannot_be_told():
    g = gc.arange(5)
    g.flags.writeable = False
    for read_only in (g, gc.broadcast_to(gc.arange(3.0), (2, 3)), gc.diagonal(gc.eye(3))):
        with pytest.raises(BufferError, match="read-only"):
            read_only.__dlpack__()
        assert exported(read_only.__dlpack__(max_version=(1, 0))).flags == 1
        assert exported(read_only.__dlpack__(copy=True), versioned=False).tensor.ndim == read_only.ndim
        exact.assert_same(np.from_dlpack(read_only), np.asarray(read_only))


def test_both_ways():
    for x in (np.arange(6.0), np.zeros((0, 3)), np.array(5)):
        g = gc.asarray(x)
        exact.assert_same(gc.from_dlpack(np.from_dlpack(g)), x)
    g = gc.arange(3.0)
    assert gc.from_dlpack(g) is not None and gc.from_dlpack(g, copy=True) is not g
    h = gc.from_dlpack(g, copy=True)
    h += 1
    exact.assert_same(g, np.arange(3.0))


def test_imports_show_what_their_owner_writes_and_nothing_else_does():
    values, outer = np.arange(5000.0), gc.zeros(5000)
    g = gc.from_dlpack(Exporter(values))
    made = {
        "sum": (gc.sum(g), values.sum()),
        "elements": (g * 2 + 1, values * 2 + 1),
        "chosen": (g[g > 3], values[values > 3]),
        "a part": (g[1:] + 1, values[1:] + 1),
        "copy": (g.copy(), values.copy()),
        "turned": (gc.flip(g) * 1, values[::-1] * 1),
    }
    outer[:] = g
    before = values.copy()
    values[:] = 5
    exact.assert_same(g, values)
    exact.assert_same(outer, before)
    for what, (result, expected) in made.items():
        exact.assert_same(result, expected, what)
    own = gc.from_dlpack(Exporter(values), copy=True)
    own += 1
    exact.assert_same(own, values + 1)


def test_errors_of_operations_on_imports_are_those_of_their_statement():
    values = np.zeros(50)
    g = gc.from_dlpack(Exporter(values))
    with gc.errstate(all="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero"):
            1 / g
        with pytest.raises(FloatingPointError, match="invalid value"):
            g[:] = g * np.inf
        exact.assert_same(g + 1, np.ones(50))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        1 / g
    with pytest.raises(IndexError, match="out of bounds"):
        gc.take(g, gc.asarray([3, 99]))
    exact.assert_same(g[:3], np.zeros(3))


WRITES = {
    "element": lambda x: x.__setitem__(3, 9.0),
    "elements in a loop": lambda x: [x.__setitem__(i, float(i)) for i in range(40)],
    "part": lambda x: x.__setitem__(slice(2, None, 3), 7.0),
    "mask": lambda x: x.__setitem__(x > 2, 0.5),
    "all": lambda x: x.__iadd__(1),
    "a view": lambda x: x[::-1].__imul__(2),
    "a reshaped view": lambda x: x.reshape(-1, 2)[1:].__setitem__((Ellipsis, 0), -1.0),
    "itself turned": lambda x: x.__setitem__(slice(None), x[::-1]),
    "overlap": lambda x: x[1:].__iadd__(x[:-1]),
    "fill": lambda x: x.fill(4.0),
    "sort": lambda x: (x.__imul__(-1), x.sort()),
}


@pytest.mark.parametrize("size", (50, 5000))
@pytest.mark.parametrize("what", WRITES)
def test_writes_to_imports_reach_their_owner(what, size):
    values, theirs = np.arange(float(size)), np.arange(float(size))
    g = gc.from_dlpack(Exporter(values))
    for turn in range(3):
        before, expected = g * 1, theirs.copy()
        WRITES[what](g)
        exact.assert_same(before, expected)
        WRITES[what](theirs)
        exact.assert_same(values, theirs)
        values[turn] = theirs[turn] = 11
        exact.assert_same(g, theirs)
    compiled = gc.jit(lambda x: x.__setitem__(slice(5, None), x[5:] * 2))
    for _ in range(3):
        compiled(g)
        theirs[5:] *= 2
        exact.assert_same(values, theirs)


# Tokens


def test_tokens_are_of_values():
    x = np.arange(6.0).reshape(2, 3)
    token = gc.asarray(x).__dask_tokenize__()
    assert token == (gc.asarray(x) * 1).__dask_tokenize__() == gc.asarray(x[:, ::-1])[:, ::-1].__dask_tokenize__()
    others = [x + 1, x.reshape(3, 2), x.astype("f4"), x.T, x.astype("i8"), x[:0], np.array(1.0)]
    tokens = {gc.asarray(o).__dask_tokenize__() for o in others}
    assert len(tokens) == len(others) and token not in tokens
    assert gc.asarray(x).astype("bfloat16").__dask_tokenize__() != gc.asarray(x).astype("float32").__dask_tokenize__()
    code = "import graphc as gc; print(gc.arange(6.0).reshape(2, 3).__dask_tokenize__())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == str(token)


# Files and pickles


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    for x in (np.arange(6.0).reshape(2, 3), np.zeros((0, 2), "i2"), np.array(True)):
        exact.assert_same(pickle.loads(pickle.dumps(gc.asarray(x), protocol)), x)
    g = gc.asarray([1.5, 2.0]).astype("bfloat16")
    back = pickle.loads(pickle.dumps(g, protocol))
    assert back.dtype == g.dtype and back.tolist() == g.tolist()


def test_pickles_out_of_band():
    buffers = []
    g = gc.arange(1000.0)
    text = pickle.dumps(g, 5, buffer_callback=buffers.append)
    assert len(text) < 1000 and len(buffers) == 1
    exact.assert_same(pickle.loads(text, buffers=buffers), np.arange(1000.0))


def test_copies_of_containers():
    g = gc.arange(3.0)
    nested = {"a": [g, g]}
    other = copy.deepcopy(nested)
    other["a"][0] += 1
    exact.assert_same(g, np.arange(3.0))
    exact.assert_same(copy.copy(g), np.arange(3.0))


@pytest.mark.parametrize("xp", [gc, np], ids=["graphc", "numpy"])
def test_npy_and_npz(xp):
    x = np.arange(6, dtype="i2").reshape(2, 3)
    file = io.BytesIO()
    xp.save(file, gc.asarray(x) + 1)
    file.seek(0)
    exact.assert_same(np.load(file), x + 1)
    file.seek(0)
    exact.assert_same(gc.load(file), x + 1)
    for save in (xp.savez, xp.savez_compressed):
        file = io.BytesIO()
        save(file, gc.asarray(x), named=gc.asarray(x) * 2)
        file.seek(0)
        found = gc.load(file)
        assert set(found.files) == {"arr_0", "named"}
        exact.assert_same(found["named"], x * 2)


@pytest.mark.parametrize("place", [str(d) for d in gc.devices() if d.startswith("opencl")])
def test_values_of_other_devices_are_their_readers_own(place):
    made = gc.arange(100_000, device=place)
    x = made * 2
    read = np.asarray(x)
    read[0] = 5
    assert int(x[0]) == 0
    # Memory that comes back is used again, but for what somebody holds.
    kept = read.copy()
    for k in range(3, 9):
        other = np.asarray(made * k)
        assert np.array_equal(other, np.arange(100_000) * k)
        del other
    assert np.array_equal(read, kept)
    part = np.asarray(x[::3])
    del x, made, read
    assert np.array_equal(part, np.arange(0, 200_000, 6)) and np.asarray(gc.ones((0, 3), device=place)).shape == (0, 3)


def test_buffers():
    g = gc.asarray(np.arange(6, dtype="i4").reshape(2, 3))
    view = memoryview(g)
    assert (view.format, view.shape, view.strides, view.readonly) == ("i", (2, 3), (12, 4), False)
    assert bytes(g) == np.arange(6, dtype="i4").tobytes() and view.tolist() == [[0, 1, 2], [3, 4, 5]]
    file = io.BytesIO()
    file.write(g)
    assert file.getvalue() == bytes(g)


# NumPy's functions


def dispatched():
    """(name, function) of every function of NumPy that asks its arguments."""
    for module in (np, np.linalg, np.fft, np.emath, np.lib.stride_tricks):
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if not name.startswith("_") and hasattr(function, "_implementation"):
                yield f"{module.__name__}.{name}", function


def is_found(function):
    """Whether __array_function__ has something to call: called without arguments, which most do not like."""
    try:
        return gc.ones(1).__array_function__(function, (gc.ndarray,), (), {}) is not NotImplemented
    except (TypeError, ValueError):
        return True


@pytest.mark.parametrize("name, function", dispatched(), ids=lambda v: v if isinstance(v, str) else "")
def test_every_function_of_numpy_is_found(name, function):
    assert is_found(function), f"{name} is not dispatched"


def test_results_stay_graphc_arrays():
    x = np.arange(1.0, 7).reshape(2, 3)
    g = gc.asarray(x)
    for function in (
        lambda a: np.sum(a), lambda a: np.linalg.norm(a), lambda a: np.fft.fftshift(a), lambda a: np.median(a, axis=0),
        lambda a: np.einsum("ij,kj->ik", a, a), lambda a: np.add.accumulate(a, axis=1), lambda a: np.multiply.outer(a, a),
        lambda a: np.clip(a, 2, 4), lambda a: np.divmod(a, 2)[1], lambda a: np.modf(a)[0], lambda a: np.argsort(a, axis=None),
    ):  # fmt: skip
        got = function(g)
        assert isinstance(got, gc.Array)
        np.testing.assert_allclose(np.asarray(got), function(x), rtol=1e-14)


def windows_of(np, as_strided, sliding_window_view, broadcast_to):
    """What NumPy's own functions, imported from their module, show of an array."""
    x, seen = np.arange(10.0), []
    pairs = as_strided(x, (5, 2), (16, 8))
    x[0] = 30
    seen.append(pairs[0].tolist())
    pairs[1] = -1
    x += 1
    seen += [pairs.tolist(), x.tolist(), (x * 2).sum()]
    seen += [sliding_window_view(x, 3)[4].tolist(), broadcast_to(x[:2], (3, 2)).tolist()]
    raw = np.zeros(32, "u1")
    as_strided(raw[:-4].view("i4"), (3,), (8,))[...] = 5
    return seen + [raw.tolist()]


def test_windows_by_numpys_own_module_are_of_the_arrays_memory():
    tricks = np.lib.stride_tricks
    functions = tricks.as_strided, tricks.sliding_window_view, np.broadcast_to
    assert windows_of(gc, *functions) == windows_of(np, *functions)


@pytest.mark.parametrize("family", ["polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre"])
def test_series_by_numpys_own_modules_take_arrays_for_arrays(family):
    """They tell arrays from numbers by NumPy's class: coefficients have axes more for an array's."""
    module = getattr(np.polynomial, family)
    prefix = {"polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm", "hermite_e": "herme", "laguerre": "lag"}[family]

    def results(xp):
        x, few, c, deep = xp.linspace(-1, 1, 7), xp.arange(6.0).reshape(2, 3), xp.arange(12.0).reshape(4, 3), xp.arange(24.0).reshape(4, 3, 2)
        value, on_grid = getattr(module, prefix + "val"), getattr(module, prefix + "grid2d")
        yield from (value(x, c), value(few, c), value(x, deep), value(few, c, tensor=False), value(2.0, c), value(xp.array(2.0), c))
        yield from (on_grid(x, c[0], c), on_grid(few, x, deep))
        if family == "polynomial":
            yield from (module.polyvalfromroots(x, c), module.polyvalfromroots(x, c[0]), module.polyvalfromroots(x[:3], c, tensor=False))

    for got, want in zip(results(gc), results(np), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)


def test_what_is_lacking_says_so():
    with pytest.raises(TypeError, match="cast from dtype..float64"):
        np.busday_count(gc.ones(2), gc.ones(2))
    with pytest.raises(TypeError, match="isnat"):
        np.isnat(gc.ones(2))


def masked_program(xp):
    d = xp.arange(6.0).reshape(2, 3)
    m = xp.ma.array(d[:, 1:], mask=[[False, True], [False, False]])
    seen = []
    m[0, 0] = 50
    seen.append(d.tolist())
    d[1] = -1
    seen += [m.tolist(), m.sum()]
    d += 1
    m += 1
    seen += [d.tolist(), m.data.tolist(), m.mean()]
    m[1] = xp.ma.masked
    m.data[1, 0] = 7
    seen += [m.tolist(), d.tolist()]
    over = xp.ma.masked_greater(d, 8, copy=False)
    over[0, 0] = 3
    copied = xp.ma.masked_greater(d, 8)
    copied[0, 2] = 99
    flags = xp.arange(3) > 1
    of_flags = xp.ma.array(flags)
    of_flags[0] = True
    single = xp.ma.array(d.sum())
    single[...] = 4
    return [*seen, d.tolist(), over.tolist(), flags.tolist(), single.tolist()]


def test_masked_arrays_are_views_both_ways():
    assert masked_program(gc) == masked_program(np)


def test_what_masked_arrays_hold_is_known_as_ours():
    x = gc.arange(4.0)
    m = gc.ma.array(x)
    y = gc.asarray(m.data)
    y[0] = 9
    assert x[0] == 9 and m[0] == 9 and gc.shares_memory(x, y)
    fixed = gc.ma.array(gc.broadcast_to(gc.arange(3.0), (2, 3)))
    with pytest.raises(ValueError, match="read-only"):
        fixed[0, 0] = 1


@pytest.mark.parametrize("dtype", ["?", "i2", "u8", "f2", "f8", "c8", ">f8", ">i4"])
def test_unpickled_arrays(dtype):
    """Their dtype is another object than NumPy's own; of the other byte order it is no dtype of ours."""
    x = pickle.loads(pickle.dumps(np.arange(12).reshape(3, 4).astype(dtype)))
    native = x.astype(x.dtype.newbyteorder("="))
    for view in (x, x[1], x[:, ::2], x.T):
        want = np.array(view, native.dtype)
        got = gc.asarray(view)
        assert got.dtype == want.dtype and np.array_equal(got, want)
        assert np.array_equal(gc.add(view, view), want + want) and np.array_equal(gc.sum(view, axis=0), want.sum(axis=0))
        target = gc.zeros(want.shape, dtype=native.dtype)
        target[...] = view
        assert np.array_equal(target, want)


@pytest.mark.parametrize("place", ["cpu", "auto"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_single_results_are_buffers_of_their_own(place, dtype):
    base = np.array([0, 1, 1, 3, 1] * 4000).astype(dtype)
    x = gc.asarray(base, device=place)
    total = gc.jit(lambda x: gc.max(x) if dtype[0] != "c" else gc.sum(x))
    wanted = np.max(base) if dtype[0] != "c" else np.sum(base)
    for make, want in ((lambda: total(x), wanted), (lambda: x[3], base[3]), (lambda: gc.jit(lambda x: x[3])(x), base[3])):
        result = make()
        read, view = np.asarray(result), memoryview(result)
        assert read.dtype == np.dtype(dtype) and read.shape == () and read[()] == want
        assert view.format == memoryview(want).format and view.nbytes == want.nbytes and bytes(view) == want.tobytes()
        assert complex(result) == complex(want)
        del result
        assert bytes(view) == want.tobytes() and read[()] == want


@pytest.mark.graphc_only
def test_asanyarray_and_subok_keep_classes(tmp_path):
    class Proxy:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return self.values if dtype is None else self.values.astype(dtype, copy=False)

    def program(xp):
        mapped = xp.memmap(tmp_path / xp.__name__, dtype="f4", mode="w+", shape=(4, 3))
        mapped[:] = xp.arange(12).reshape(4, 3)
        same = xp.asanyarray(mapped)
        same[1] = 7
        made = [same, xp.array(mapped, subok=True), xp.array(mapped, "f8", subok=True, ndmin=3)]
        for values in (mapped, xp.ma.array([1, 2], mask=[0, 1]), xp.arange(3), xp.array(["a", "b"])):
            made += [xp.asanyarray(Proxy(values)), xp.array(Proxy(values), subok=True), xp.asarray(Proxy(values)), xp.array(Proxy(values))]
        made += [xp.asanyarray(Proxy(mapped), "f8"), xp.asanyarray(Proxy(xp.arange(3)), "f4"), xp.asanyarray([1, 2]), xp.asanyarray(2.5)]
        return [(type(m).__name__, m.dtype, m.shape, m.tolist()) for m in (*made, mapped)]

    assert program(gc) == program(np)


@pytest.mark.parametrize("size", [3, 300, 300_000])
def test_addresses_are_of_one_memory_as_long_as_the_array_lives(size):
    def program(xp):
        x = xp.arange(size) * 2
        first, part = x.ctypes.data, x[1:]
        places = [x.ctypes.data - first, part.ctypes.data - first, x.view("u1")[8:].ctypes.data - x.ctypes.data, x[::-1].ctypes.data - first]
        ctypes.memmove(x.ctypes.data + 8, x.ctypes.data + 16, 8)
        part[1] = 9
        seen = ctypes.cast(x.ctypes.data, ctypes.POINTER(ctypes.c_int64))[2]
        total, last = int(x.sum()), x[-1]
        x += 1
        del x
        return places, part.ctypes.data - first, ctypes.cast(part.ctypes.data, ctypes.POINTER(ctypes.c_int64))[0], seen, total, int(last), part[:3].tolist()

    collect()
    kept = len(gc._methods._pointed)
    for _ in range(3):
        assert program(gc) == program(np)
    for _ in range(20):
        gc.arange(size).ctypes.data
        gc.arange(size)[1:].ctypes.data
    collect()
    assert len(gc._methods._pointed) <= kept
