"""Arrays that show the bytes of others as another dtype (`x.view(dtype)`): NumPy's values, layouts and aliasing."""

import gc as collector
import operator
import weakref

import graphc as gc
import numpy as np
import pytest

NUMBERS = ["i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "c8", "c16"]
WIDTHS = ["u1", "f2", "i4", "f8", "c8", "c16"]
VIEWS = {
    "whole": lambda x: x,
    "rows": lambda x: x[1:, :],
    "every second row": lambda x: x[::-2],
    "a block": lambda x: x[1:3, 4:12],
    "a row": lambda x: x[2],
    "three axes": lambda x: x.reshape(2, 2, 16),
    "turned": lambda x: x.reshape(2, 2, 16).transpose(1, 0, 2),
    "columns": lambda x: x.T,
    "every second column": lambda x: x[:, ::2],
    "nothing": lambda x: x[:, :0],
    "one element": lambda x: x[0, 0:1],
    "no axis": lambda x: x[1, 3, ...],
}


def numbers(dtype, shape=(4, 16)):
    """Any bytes, so also NaNs of every kind and subnormal numbers."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.random.default_rng(7).integers(0, 256, count, dtype="u1").view(dtype).reshape(shape)


def bytes_of(x):
    return np.ascontiguousarray(np.asarray(x)).tobytes()


def both(source):
    """NumPy's array, ours of memory, and ours that is still to be computed."""
    mine = gc.asarray(source)
    return source.copy(), mine, gc.where(gc.asarray(True), mine, mine)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_bytes_and_layouts_are_numpys(dtype, view):
    want, *ours = both(numbers(dtype))
    for wanted in NUMBERS:
        try:
            expected = VIEWS[view](want).view(wanted)
        except ValueError as error:
            for x in ours:
                with pytest.raises(ValueError) as refused:
                    VIEWS[view](x).view(wanted)
                assert str(error).rstrip(".")[:40] in str(refused.value)
            continue
        for x in ours:
            got = VIEWS[view](x).view(wanted)
            assert got.dtype == expected.dtype and got.shape == expected.shape
            assert got.size == 0 or got.strides == expected.strides or got.shape == (1,)
            assert bytes_of(got) == bytes_of(expected)
            if view in ("a block", "turned"):
                assert bytes_of(got + 0 if got.dtype.kind in "iu" else got.copy()) == bytes_of(expected)


@pytest.mark.parametrize("view", ["whole", "every second row", "turned", "no axis"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_updates_are_seen_by_both(dtype, view):
    for wanted in WIDTHS:
        source = numbers(dtype)
        try:
            VIEWS[view](source).view(wanted)
        except ValueError:
            continue
        for chosen in (1, 2):
            pair = both(source)
            for x in (pair[0], pair[chosen]):
                shown = VIEWS[view](x).view(wanted)
                shown[...] = numbers(wanted, shown.shape)
                x[..., 3] = x[..., 5]
                if shown.ndim:
                    shown[..., -1] = shown[..., 0]
            assert bytes_of(pair[0]) == bytes_of(pair[chosen]), (dtype, wanted)


def test_the_sign_is_flipped_through_the_bits():
    for x in both(np.linspace(-2, 2, 7).astype("f4"))[1:]:
        x.view("u4")[...] ^= np.uint32(1 << 31)
        assert np.array_equal(np.asarray(x), -np.linspace(-2, 2, 7).astype("f4"))


def inverse_root(x):
    guess = (0x5F3759DF - (x.view("i4") >> 1)).astype("i4").view("f4")
    return guess * (1.5 - 0.5 * x * guess * guess)


def test_bits_are_computed_with_in_one_program():
    x = np.random.default_rng(3).uniform(0.1, 100, 1000).astype("f4")
    want = inverse_root(x)
    assert np.array_equal(np.asarray(inverse_root(gc.asarray(x))), want)
    assert np.array_equal(np.asarray(gc.jit(inverse_root, fullgraph=True)(gc.asarray(x))), want)


@gc.jit(fullgraph=True)
def swap_parts(z):
    parts = z.view("f4").reshape(-1, 2)
    first = parts[:, 0].copy()
    parts[:, 0] = parts[:, 1]
    parts[:, 1] = first
    return z


def test_updates_through_bits_inside_jit():
    z = numbers("f4", (20,)).view("c8").copy()
    z[:] = np.arange(10) + 1j
    assert np.array_equal(np.asarray(swap_parts(gc.asarray(z))), z.imag + 1j * z.real)


def test_relations_are_told():
    x = gc.asarray(np.arange(12.0).reshape(3, 4))
    v = x.view("i4")[1]
    assert gc.shares_memory(x, v) and gc.shares_memory(x[1], v) and not gc.shares_memory(x[0], v)
    assert v.base is x and v.flags.writeable and x.view("c16").strides == (32, 16)
    locked = gc.broadcast_to(x, (2, 3, 4)).view("i8")
    assert locked.readonly
    with pytest.raises(ValueError, match="read-only"):
        locked[0] = 1


def test_single_results_are_copied():
    x = gc.asarray(1.5)
    bits = gc.sum(x).view("i8")
    assert int(bits) == np.float64(1.5).view("i8")
    with pytest.raises(ValueError, match="0d array"):
        gc.sum(x).view("i4")


def test_the_other_byte_order_is_read():
    x = np.arange(16, dtype="u1")
    for wanted in (">u2", ">f4", ">i8", np.dtype(">c16"), "<i4"):
        got = gc.asarray(x).view(wanted)
        assert got.dtype.isnative and np.array_equal(np.asarray(got), x.view(wanted)) and got.readonly == (wanted != "<i4")


def test_bools_as_numbers_are_read_only():
    mask = gc.arange(4) > 1
    assert np.asarray(mask.view("u1")).tolist() == [0, 0, 1, 1] and mask.view("u1").sum().item() == 2
    with pytest.raises(ValueError, match="read-only"):
        mask.view("i1")[...] += 1
    counts = mask.view("u1").copy()
    counts += mask
    assert counts.tolist() == [0, 0, 2, 2]


def test_bytes_as_bools():
    x = gc.asarray(np.array([0, 1, 2, 255], "u1"))
    flags = x.view(bool)
    assert np.asarray(gc.logical_not(flags)).tolist() == [True, False, False, False]
    flags[0] = True
    assert np.asarray(x).astype(bool).all() and np.asarray(x)[0] == 1


def test_strides_over_another_dtype():
    z = np.arange(6) * (1 + 2j)
    strided = operator.attrgetter("lib.stride_tricks.as_strided")
    for take in (lambda x: x.real, lambda x: x.view("f8"), lambda x: x.view("u1").view("f8")[2:]):
        want, got = (strided(xp)(take(x), (3, 4), (16, 8)) for xp, x in ((np, z), (gc, gc.asarray(z))))
        assert np.array_equal(np.asarray(got), want)


def test_sizes_that_depend_on_data():
    x = np.arange(40.0)
    kept = gc.asarray(x)
    assert np.array_equal(np.asarray(kept[kept > 20].view("u4")), x[x > 20].view("u4"))


def test_the_dtype_of_an_array_is_set():
    for xp in (np, gc):
        x = xp.array([1, 2, 3, 4], dtype="uint8")
        part, other = x[:2], xp.arange(4.0) * 2
        x.dtype = "<i2"
        assert x.dtype == xp.int16 and x.shape == (2,) and x.tolist() == [513, 1027] and part.dtype == xp.uint8
        x[0] = 5
        assert part.tolist() == [5, 0]
        other.dtype = xp.int64  # what it is made of is pending
        other += 1
        assert other.tolist() == ((np.arange(4.0) * 2).view("int64") + 1).tolist()
        with pytest.raises(ValueError, match="larger dtype"):
            xp.zeros((2, 3), "i4").dtype = "i8"
        with pytest.raises(AttributeError, match="not writable"):
            xp.arange(3.0)[0].dtype = "i8"
        with pytest.raises(AttributeError):
            del x.dtype
    with pytest.raises(TypeError, match="in place"):
        gc.arange(3).dtype = "datetime64[s]"


def turns_of_views(xp, turns):
    rng = np.random.default_rng(3)
    x, z, b = xp.asarray(rng.random(12).astype("f4")), xp.asarray(rng.random(6) + 1j), xp.asarray(rng.random(8) < 0.5)
    bytes_, pairs, found = xp.asarray(rng.integers(0, 2, 16).astype("u1")), z.view(xp.float64).reshape(-1, 2), []
    for k in range(turns):
        i, h, u = x.view(xp.int32), x.view(xp.uint16), b.view(xp.uint8)
        i[2:5] = i[3:6] ^ k
        i += 1
        h[1::2] |= 1
        pairs[:, 1] *= -1
        pairs[k % 6] = 2.0 + k
        z.real += k
        z.imag[1:4] = z.real[2:5]
        z.view(xp.float64)[3:9] = x.astype(xp.float64)[:6]
        bytes_[k % 16] = k % 3
        sums = i >> 3, i & h[:12], u + u[::-1], bytes_.view(xp.bool_) ^ b[0], z.imag * 2, pairs[:, ::-1] + pairs, i.sum(), pairs.max(axis=0)
        found.append([np.array(s) for s in (x, z, bytes_, *sums)])
    return found


def test_loops_over_views_of_other_dtypes():
    """They are read and written where they lie, as views of one dtype are; bytes that are no bools are none."""
    for ours, theirs in zip(turns_of_views(gc, 60), turns_of_views(np, 60), strict=True):
        for found, wanted in zip(ours, theirs, strict=True):
            assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


@pytest.mark.graphc_only
def test_loops_over_views_of_other_dtypes_record_nothing():
    z = gc.asarray(np.array([1 + 2j, 3 - 1j, 2j]))
    pairs, bits = z.view(gc.float64).reshape(-1, 2), z.view(gc.int64)

    def turn():
        pairs[:, 1] *= -1
        z.imag[1:] = 3.0
        return int((bits >> 3)[0])

    for _ in range(40):
        turn()
    recorded = gc._graphc.counters()["nodes_recorded"]
    for _ in range(40):
        turn()
    assert gc._graphc.counters()["nodes_recorded"] == recorded


def test_a_view_keeps_the_array_whose_memory_it_shows():
    def viewed(xp):
        return xp.arange(6.0).view()

    for xp in (np, gc):
        x = viewed(xp)
        base = x.base
        assert base is not None and base.base is None and x.base is base and x[1:3].base is base and x.T.base is base
        x[0] = 7
        assert base.tolist() == [7, 1, 2, 3, 4, 5]
        ended = weakref.ref(base)
        del base
        again = x.view()
        del x
        assert ended() is not None and again.base is ended() and again[::2].base is again.base
        again.setflags(write=False)
        part = again[2:]
        assert part.base is again.base and not part.flags.writeable
        del again, part
        collector.collect()
        assert ended() is None


@pytest.mark.parametrize("options", [
    {}, {"dtype": "u1"}, {"dtype": "i4"}, {"dtype": "f4", "count": 3}, {"dtype": "f8", "offset": 8}, {"dtype": "u2", "offset": 3, "count": 4}, {"dtype": "?"},
    {"dtype": ">f8"}, {"dtype": "c16"}, {"dtype": "S4"}, {"dtype": "f8", "offset": 3}, {"dtype": "f8", "count": 9}, {"dtype": "M8[s]"},
], ids=str)  # fmt: skip
def test_the_bytes_of_an_array_as_a_buffer_are_its_memory(options):
    def outcome(xp):
        x = xp.arange(12.0)[::1].reshape(2, 6)[1]
        try:
            seen = xp.frombuffer(x, **options)
        except ValueError as error:
            return str(error)[:30]
        x[1] = 77
        before = seen.tolist()
        seen[0] = seen[-1]
        return isinstance(seen, xp.ndarray), str(seen.dtype), seen.shape, before, x.tolist()

    assert outcome(gc) == outcome(np)


def test_buffers_of_arrays_that_may_not_be_written():
    for xp in (np, gc):
        x = xp.arange(4)
        x.setflags(write=False)
        assert not xp.frombuffer(x, int).flags.writeable and xp.frombuffer(x, "u1").tolist()[8] == 1
        with pytest.raises(ValueError, match="contiguous"):
            xp.frombuffer(xp.arange(6)[::2])


def test_masks_of_views_without_elements():
    x = gc.moveaxis(gc.zeros((2, 0, 3), dtype="uint16"), 0, -1).view("int8")
    x[x != 2] *= x[x != 2]
    x[gc.zeros(x.shape, dtype=bool)] = gc.zeros(0, dtype="int8")
    with pytest.raises((IndexError, ValueError)):
        x[gc.zeros((1, 3, 4), dtype=bool)] = 1
    assert x.shape == (0, 3, 4)
