"""Choosing devices, moving arrays between them, and what happens when they mix."""

import threading

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only


def test_the_cpu_is_first():
    names = [str(d) for d in gc.devices()]
    assert names[0] == "cpu" and len(set(names)) == len(names)
    assert set(names) <= {str(d) for d in gc.devices(all=True)}


def test_devices_describe_themselves():
    for d in gc.devices(all=True):
        assert isinstance(d, str) and d.description
        assert d.usable in (True, False) and (d.usable or d.reason)
    cpu = gc.devices()[0]
    assert cpu.fp64 and cpu.memory > 2**20


@pytest.mark.parametrize("name", ["dot", "inner", "vdot", "outer", "cross", "tensordot", "matmul", "extract", "compress", "linalg.solve", "linalg.matrix_rank"])
def test_numpys_arrays_go_where_the_others_are(name, device):
    x, y = np.array([1.0, 2.0, 4.0]), np.array([3.0, 0.0, 1.0])
    if name == "linalg.solve":
        x = np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]])
    ours, theirs = gc, np
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    options = {"axes": 1} if name == "tensordot" else {}
    wanted = theirs(x, y, **options)
    for operands in ((gc.asarray(x, device=device), y), (x, gc.asarray(y, device=device))):
        found = ours(*operands, **options)
        assert found.device == device
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-15)


def test_creation_and_transfer(device):
    x = np.arange(6.0, dtype="f4").reshape(2, 3)
    g = gc.asarray(x, device=device)
    assert g.device == device and (g + 1).device == device and g[0].device == device
    back = (g * 2).to_device("cpu")
    assert back.device == "cpu"
    exact.assert_same(back, x * 2)
    there = back.to_device(device)
    assert there.device == device
    exact.assert_same(there + g, x * 3)
    assert gc.zeros(3, dtype="float32", device=device).device == device
    assert gc.arange(3, device=device).device == device


def test_transfer_to_the_same_device_changes_nothing(device):
    g = gc.ones(3, dtype="float32", device=device)
    exact.assert_same(g.to_device(device), np.ones(3, "f4"))


def test_context(device):
    assert gc.default_device() == "cpu"
    with gc.device(device):
        assert gc.default_device() == device and gc.ones(2, dtype="float32").device == device
        with gc.device("cpu"):
            assert gc.ones(2).device == "cpu"
        assert gc.asarray([1, 2]).device == device
    assert gc.ones(2).device == "cpu"


def test_a_failed_context_changes_nothing():
    with pytest.raises(gc.DeviceError, match="nonsense"):
        with gc.device("nonsense"):
            pass
    assert gc.default_device() == "cpu"


def test_context_is_per_thread(device):
    import threading

    seen = []
    with gc.device(device):
        thread = threading.Thread(target=lambda: seen.append(gc.ones(1, dtype="float32").device))
        thread.start()
        thread.join()
    assert seen == ["cpu"]


def test_mixing_devices_is_refused(device):
    if device == "cpu":
        exact.assert_same(gc.ones(3) + gc.ones(3, device="cpu"), np.full(3, 2.0))
        return
    with pytest.raises(gc.DeviceError, match=f"cpu.*{device}|{device}.*cpu"):
        gc.ones(3, dtype="float32") + gc.ones(3, dtype="float32", device=device)


def test_updates_across_devices(device):
    a = gc.zeros(4, dtype="float32", device=device)
    a[1:3] = np.array([5, 6], "f4")
    a[0] = 2.5
    a[::-1][0] += 1
    exact.assert_same(a, np.array([2.5, 5, 6, 1], "f4"))


def test_synchronize(device):
    x = gc.ones(1000, dtype="float32", device=device) * 2
    gc.eval(x)
    gc.synchronize(device)
    gc.synchronize()
    assert float(x[3]) == 2.0


def test_a_device_without_fp64_refuses_float64():
    lacking = [d for d in gc.devices() if not d.fp64]
    for d in lacking:
        with pytest.raises((gc.UnsupportedError, gc.DeviceError), match="float64"):
            np.asarray(gc.ones(3, dtype="float64", device=d) + 1)


# What these make themselves (edges, zeros to join, places) must lie where the operand does.
def _composed():
    x, m, integers, few = (lambda a: a[0]), (lambda a: a[1]), (lambda a: a[2]), (lambda a: a[0][:4])
    yield "cumulative_sum", lambda a: gc.cumulative_sum(x(a), include_initial=True)
    yield "unique", lambda a: gc.unique(integers(a))
    yield "unique of rows", lambda a: gc.unique(integers(a).reshape(8, 5), axis=0)
    yield "setxor1d", lambda a: gc.setxor1d(integers(a), integers(a)[:7])
    yield "isin of a list", lambda a: gc.isin(integers(a), [1, 2])
    yield "roots", lambda a: gc.roots(few(a))
    yield "polyadd", lambda a: gc.polyadd(few(a), few(a)[1:])
    yield "polyfit", lambda a: gc.polyfit(x(a), x(a) * 2, 2)
    yield "nanmedian", lambda a: gc.nanmedian(m(a), axis=0)
    yield "quantile", lambda a: gc.quantile(m(a), 0.3, axis=0)
    yield "histogram", lambda a: gc.histogram(x(a), 5)
    yield "interp", lambda a: gc.interp(x(a), [-1.0, 0.0, 1.0], [3.0, 1.0, 2.0])
    yield "append", lambda a: gc.append(x(a), [1.0])
    yield "diff", lambda a: gc.diff(x(a), prepend=0.0)
    yield "select", lambda a: gc.select([x(a) > 0], [x(a)])
    yield "piecewise", lambda a: gc.piecewise(x(a), [x(a) > 0], [1.0, 2.0])
    yield "vectorize", lambda a: gc.vectorize(lambda v: v + 1)(x(a))
    yield "matrix_power", lambda a: gc.linalg.matrix_power(m(a), 0)
    yield "lstsq", lambda a: gc.linalg.lstsq(m(a), m(a)[0])[0]
    yield "a list to multiply with", lambda a: gc.kron(few(a), [1.0, 2.0])
    yield "initial", lambda a: gc.prod(few(a), initial=2.0)
    yield "where", lambda a: gc.sum(x(a), where=[True, False] * 20)
    yield "concatenate with a list", lambda a: gc.concatenate([[1.0], few(a), np.ones(2)])
    yield "stack with a list", lambda a: gc.stack([[1, 2, 3, 4], few(a)])
    yield "hstack with a list", lambda a: gc.hstack([few(a), [1, 2]])
    yield "vstack with a list", lambda a: gc.vstack([[1, 2, 3, 4, 5, 6], m(a)])
    yield "column_stack with a list", lambda a: gc.column_stack([few(a), [1, 2, 3, 4]])
    yield "broadcast_arrays", lambda a: gc.broadcast_arrays([1.0], few(a))
    yield "meshgrid", lambda a: gc.meshgrid(few(a), [1, 2])
    yield "searchsorted of a list", lambda a: gc.searchsorted(gc.sort(x(a)), [0.0, 1.0])
    yield "searchsorted in a list", lambda a: gc.searchsorted([-1.0, 0.0, 1.0], x(a))
    yield "dot with a list", lambda a: gc.dot(few(a), [1.0, 2.0, 3.0, 4.0])
    yield "multi_dot", lambda a: gc.linalg.multi_dot([m(a), [[1.0]] * 6])
    yield "gradient", lambda a: gc.gradient(few(a), [1.0, 2.0, 4.0, 7.0])
    yield "ravel_multi_index", lambda a: gc.ravel_multi_index([integers(a), [0] * 40], (9, 2))
    yield "geomspace", lambda a: gc.geomspace(1, gc.abs(few(a)[0]) + 1, 4)


@pytest.mark.parametrize("name, function", [pytest.param(n, f, id=n) for n, f in _composed()])
def test_functions_of_arrays_elsewhere(device, name, function):
    """The default device is the cpu; operands, and so results, lie on another."""
    known = next(d for d in gc.devices() if d == device)
    if not known.fp64:
        pytest.skip("no float64")
    rng = np.random.default_rng(5)
    data = rng.standard_normal(40), rng.standard_normal((6, 6)), rng.integers(0, 9, 40)
    want = function([gc.asarray(a) for a in data])
    got = function([gc.asarray(a, device=device) for a in data])
    pairs = zip(want, got) if isinstance(want, tuple) else [(want, got)]
    for expected, result in pairs:
        assert result.device == device, name
        assert np.array_equal(np.asarray(expected), np.asarray(result)), name


def test_threads_read_their_own_values(device):
    """While others are told what the values of a device met: nobody goes without his own."""
    begin, others = threading.Barrier(4), []

    def reads(number):
        x = gc.asarray(np.zeros(500, "f4"), device=device)
        begin.wait()
        for turn in range(4000):
            value = number * 10000 + turn
            found = np.asarray(gc.exp(x) * value)
            if (found != value).any():
                others.append((number, turn, found[0]))

    threads = [threading.Thread(target=reads, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert others == []


@pytest.mark.parametrize("make", ["asarray", "array"])
def test_arrays_of_numpys_on_a_named_device_are_copies(make):
    base = np.arange(12, dtype=np.int16).reshape(3, 4)
    for given in (base, base[1:], base[:, ::2], base.T, np.asfortranarray(base), base[:0], np.array(7.5), np.array([1 + 2j])):
        x = getattr(gc, make)(given, device="cpu")
        assert isinstance(x, gc.ndarray) and x.device == "cpu" and x.dtype == given.dtype and x.shape == given.shape
        want = given.copy()
        if given.size:
            given[...] += 1
        assert np.array_equal(np.asarray(x), want)
    with pytest.raises(gc.GraphcError, match="nowhere"):
        getattr(gc, make)(base, device="nowhere")
    with pytest.raises(TypeError):
        getattr(gc, make)(base, device="cpu", other=1)
