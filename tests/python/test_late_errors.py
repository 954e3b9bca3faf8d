"""On a device with a queue of its own, warnings wait until a value can be seen; none is lost."""

import subprocess
import sys
import os
import pathlib
import warnings

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

PACKAGE = str(pathlib.Path(os.path.abspath(gc.__file__)).parent.parent)


@pytest.fixture(autouse=True)
def opencl():
    if not any(str(d).startswith("opencl") for d in gc.devices()):
        pytest.skip("no OpenCL device")
    with gc.device("opencl"):
        yield


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr(warnings, "defaultaction", "always")  # a filter would make every statement compute
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        yield caught


def operands():
    return gc.asarray(np.array([1, 0, 2], "f4")), gc.asarray(np.ones(3, "f4"))


def test_a_call_does_not_wait_and_a_read_tells(told):
    zero, one = operands()
    divide = gc.jit(lambda a, b: b / a)
    y = divide(zero, one)
    assert told == []
    assert np.isinf(np.asarray(y)).any()
    assert [str(w.message) for w in told] == ["divide by zero encountered in divide"]
    assert told[0].filename == __file__
    np.asarray(y)
    assert len(told) == 1


@pytest.mark.parametrize("wait", [lambda y: gc.synchronize("opencl"), lambda y: y.block(), lambda y: gc.eval(y + 1), lambda y: float(y[0]),
                                  lambda y: y.to_device("cpu"), lambda y: repr(y)])
def test_everything_that_waits_tells(wait, told):
    zero, one = operands()
    y = gc.jit(lambda a, b: b / a)(zero, one)
    wait(y)
    assert len(told) == 1


def test_reads_of_another_value_tell(told):
    zero, one = operands()
    gc.jit(lambda a, b: b / a)(zero, one)
    np.asarray(one)
    assert len(told) == 1


def test_many_runs_do_not_wait_forever(told):
    zero, one = operands()
    divide = gc.jit(lambda a, b: b / a)
    for i in range(700):
        y = divide(zero if i in (7, 650) else one, one)
    assert len(told) == 1
    np.asarray(y)
    assert len(told) == 2


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
def test_errors_of_every_run_wait_as_well(traced, told):
    """From the second run on they are found where they are made, and still nobody waits for them."""
    zero, one = operands()
    divide = gc.jit(lambda a, b: b / a) if traced else lambda a, b: b / a
    for turn in range(5):
        y = divide(zero, one)
        assert len(told) == turn
        np.testing.assert_array_equal(np.asarray(y), np.array([1, np.inf, 0.5], "f4"))
        assert len(told) == turn + 1
    for _ in range(10):
        np.asarray(divide(one, one))
    assert len(told) == 5
    np.asarray(divide(zero, one))
    assert len(told) == 6


def test_inputs_may_change_meanwhile(told):
    zero, one = operands()
    y = gc.jit(lambda a, b: b / a)(zero, one)
    zero += 5
    np.asarray(y)
    assert len(told) == 1


def test_raise_comes_with_the_value():
    zero, one = operands()
    with gc.errstate(divide="raise"):
        y = gc.jit(lambda a, b: b / a)(zero, one)
    with pytest.raises(FloatingPointError, match="divide by zero"):
        np.asarray(y)
    assert np.isinf(np.asarray(y)[1])


@pytest.mark.parametrize("write", ["whole", "part", "mask"])
def test_raise_comes_with_a_write(write):
    """Under "raise" the statement that writes raises, as NumPy's."""
    key = {"whole": slice(None), "part": slice(1, None), "mask": np.array([True, False, True])}[write]
    for xp in (np, gc):
        x = xp.zeros(3, dtype="float32")
        with xp.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in cast"):
            x[key] = xp.full(len(np.zeros(3)[key]), 1e300)


def test_the_end_of_the_process_tells():
    code = "import graphc as gc\nwith gc.device('opencl'):\n    x = gc.zeros(3, dtype='float32').block()\n    y = gc.jit(lambda a: 1 / a)(x)\n"
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=PACKAGE), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and "divide by zero" in done.stderr, done.stderr


def test_threads_lose_none(told):
    import threading

    zero, one = operands()
    divide = gc.jit(lambda a, b: b / a)
    np.asarray(divide(one, one))

    def work():
        with gc.device("opencl"):
            for i in range(40):
                y = divide(zero if i % 10 == 3 else one, one)
                if i % 7 == 0:
                    np.asarray(y)
            np.asarray(y)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    gc.synchronize("opencl")
    assert len(told) >= 1  # one a look: what waits together is told once
