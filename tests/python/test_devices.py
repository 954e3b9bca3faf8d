"""Choosing devices, moving arrays between them, and what happens when they mix."""

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
