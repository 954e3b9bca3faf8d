"""jit gives what the function gives: arguments of every structure, updates, captured arrays, fallbacks, threads."""

import threading
import time
import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only


def arrays(*shapes, seed=70):
    rng = np.random.default_rng(seed)
    return [gc.asarray(rng.normal(size=s)) for s in shapes]


def counted(function):
    """The function and a list that grows each time its Python code runs."""
    runs = []

    def wrapper(*args, **kwargs):
        runs.append(1)
        return function(*args, **kwargs)

    return wrapper, runs


def test_bare_and_called():
    x = gc.asarray(np.arange(4.0))

    @gc.jit
    def bare(x):
        """Doubles."""
        return x * 2

    @gc.jit(device="cpu", fullgraph=True)
    def called(x):
        return x * 2

    for f in (bare, called):
        exact.assert_same(f(x), np.arange(4.0) * 2)
        exact.assert_same(f(x), np.arange(4.0) * 2)
    assert bare.__name__ == "bare" and bare.__doc__ == "Doubles."


def test_python_code_runs_once_per_structure():
    f, runs = counted(lambda x, y: x @ y + 1)
    compiled = gc.jit(f)
    x, y = arrays((3, 4), (4, 5))
    want = np.asarray(x) @ np.asarray(y) + 1
    for _ in range(4):
        np.testing.assert_allclose(np.asarray(compiled(x, y)), want, rtol=1e-12)
    assert len(runs) == 1
    compiled(*arrays((6, 4), (4, 5)))
    assert len(runs) == 2
    before = gc.cache_info()["kernels_compiled"]
    for rows in (7, 8, 9):
        compiled(*arrays((rows, 4), (4, 5)))
    assert gc.cache_info()["kernels_compiled"] == before


def test_pytrees_in_and_out():
    def f(params, batch, *rest, scale=1.0, extra=None):
        total = params["w"] * batch[0] + params["b"]["c"]
        return {"y": total * scale, "parts": [total, (batch[1], None)], "n": 3, "name": "x", "rest": rest}

    compiled = gc.jit(f)
    w, c, p, q = (gc.asarray(np.arange(3.0) + i) for i in range(4))
    call = ({"w": w, "b": {"c": c}}, [p, q], (q, w))
    for _ in range(2):
        got = compiled(*call, scale=2.0)
        want = f(*call, scale=2.0)
        assert set(got) == set(want) and type(got["parts"]) is list and type(got["parts"][1]) is tuple
        exact.assert_same(got["y"], np.asarray(want["y"]))
        exact.assert_same(got["parts"][0], np.asarray(want["parts"][0]))
        assert got["parts"][1][0] is q and got["parts"][1][1] is None and got["n"] == 3 and got["name"] == "x"
        assert got["rest"][0][0] is q


def test_named_tuples():
    import collections

    Point = collections.namedtuple("Point", "x y")
    f = gc.jit(lambda p: Point(p.y * 2, p.x))
    x, y = arrays((3,), (3,))
    for _ in range(2):
        got = f(Point(x, y))
        assert type(got) is Point and got.y is x
        exact.assert_same(got.x, np.asarray(y) * 2)


def test_python_scalars_are_weak_and_by_value():
    f, runs = counted(lambda x, a: x * a + (1 if a > 2 else 0))
    compiled = gc.jit(f)
    x = gc.asarray(np.ones(3, "float32"))
    for a in (1, 2.5, 3, True, 2.5, -0.0, 0.0):
        got = compiled(x, a)
        assert got.dtype == np.float32
        exact.assert_same(got, np.ones(3, "float32") * a + (1 if a > 2 else 0), repr(a))
    # 2.5 came twice; 1, True and 2.5 are different structures; 3 is recorded for ints above 2, -0.0 for floats that are not.
    assert len(runs) == 5


def test_many_scalar_values_neither_fill_memory_nor_go_wrong():
    compiled = gc.jit(lambda x, t: x + t * 0.5)
    x = gc.asarray(np.arange(3.0))
    before = None
    for t in range(40):
        exact.assert_same(compiled(x, float(t)), np.arange(3.0) + t * 0.5)
        if t == 20:
            before = gc.cache_info()["kernels_compiled"]
    assert compiled.cache_info().traces <= 12
    assert gc.cache_info()["kernels_compiled"] == before


def test_static_arguments():
    f, runs = counted(lambda x, mode, *, n: (x + n) if mode == "add" else x * n)
    by_number = gc.jit(lambda x, mode, n: f(x, mode, n=n), static_argnums=(1, 2))
    by_name = gc.jit(lambda x, mode="add", n=2: f(x, mode, n=n), static_argnames=("mode", "n"))
    x = gc.asarray(np.arange(3))
    for _ in range(2):
        exact.assert_same(by_number(x, "add", 2), np.arange(3) + 2)
        exact.assert_same(by_number(x, "mul", 3), np.arange(3) * 3)
        exact.assert_same(by_name(x, mode="mul", n=4), np.arange(3) * 4)
        exact.assert_same(by_name(x, "mul", n=4), np.arange(3) * 4)
        exact.assert_same(by_name(x), np.arange(3) + 2)
    assert len(runs) <= 5
    with pytest.raises(TypeError, match="hashable"):
        by_number(x, ["add"], 2)
    with pytest.raises(ValueError, match="nothing_like_that"):
        gc.jit(lambda x: x, static_argnames="nothing_like_that")


def test_objects_that_cannot_be_traced_are_named():
    with pytest.raises(TypeError, match="object.*static_argnums"):
        gc.jit(lambda x, o: x)(gc.ones(2), object.__new__(type("object_", (), {"__hash__": None})))


def test_numpy_arrays_are_read_at_each_call():
    f = gc.jit(lambda x: x + 1)
    a = np.arange(3.0)
    exact.assert_same(f(a), a + 1)
    a[0] = 10
    exact.assert_same(f(a), np.array([11.0, 2, 3]))
    assert f(np.float32(1)).dtype == np.float32


def test_updates_of_arguments_reach_the_caller():
    @gc.jit
    def step(u, v):
        u[1:] += v[:-1]
        v *= 2
        return u.sum()

    a, b = np.arange(5.0), np.ones(5)
    u, v = gc.asarray(a), gc.asarray(b)
    for _ in range(3):
        total = step(u, v)
        a[1:] += b[:-1]
        b *= 2
        exact.assert_same(u, a)
        exact.assert_same(v, b)
        assert float(total) == a.sum()


def test_updates_through_views_of_the_callers_array():
    step = gc.jit(lambda u: u.__setitem__(slice(None), u * 2 + 1))
    a = np.arange(12.0).reshape(3, 4)
    g = gc.asarray(a)
    a = a.copy()
    for index in ((slice(None), 1), (slice(None, None, 2),), (1, slice(None, None, -1))):
        step(g[index])
        a[index] = a[index] * 2 + 1
        exact.assert_same(g, a)


def test_an_argument_returned_is_the_same_object():
    def f(u):
        u[0] = 5
        return u

    compiled = gc.jit(f)
    u = gc.asarray(np.arange(3.0))
    for _ in range(2):
        assert compiled(u) is u
    exact.assert_same(u, np.array([5.0, 1, 2]))


def test_the_same_array_twice():
    def f(x, y):
        x += 1
        return x * y

    compiled = gc.jit(f)
    for _ in range(3):
        x = gc.asarray(np.arange(3.0))
        exact.assert_same(compiled(x, x), (np.arange(3.0) + 1) ** 2)
    x, y = gc.asarray(np.arange(3.0)), gc.asarray(np.arange(3.0))
    exact.assert_same(compiled(x, y), (np.arange(3.0) + 1) * np.arange(3.0))


def test_overlapping_arguments():
    def f(x, y):
        x += y
        return x * 2

    compiled = gc.jit(f)
    exact.assert_same(compiled(gc.asarray(np.arange(4.0)), gc.asarray(np.ones(4))), (np.arange(4.0) + 1) * 2)
    for _ in range(2):
        base = np.arange(6.0)
        g = gc.asarray(base)
        base = base.copy()
        got = compiled(g[1:5], g[:4])
        want = f(base[1:5], base[:4])
        exact.assert_same(got, want)
        exact.assert_same(g, base)


def test_a_returned_view_of_an_argument_aliases():
    f, runs = counted(lambda x: (x[1:], x.T, x * 2))
    compiled = gc.jit(f)
    for _ in range(3):
        x = gc.asarray(np.arange(4.0))
        v, t, d = compiled(x)
        v += 10
        t *= 2
        exact.assert_same(x, np.array([0.0, 22, 24, 26]))
        exact.assert_same(d, np.arange(4.0) * 2)
    assert len(runs) == 1


def test_a_returned_view_of_a_view():
    compiled = gc.jit(lambda x: x.reshape(-1)[1:])
    for _ in range(2):
        x = gc.asarray(np.arange(12.0).reshape(3, 4))
        v = compiled(x[1:])
        v += 100
        want = np.arange(12.0)
        want[5:] += 100
        exact.assert_same(x, want.reshape(3, 4))


def test_results_that_share_memory_alias():
    def f(x):
        y = x + 1
        return y, y[::2]

    compiled = gc.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gc.PerformanceWarning)
        for _ in range(2):
            y, v = compiled(gc.asarray(np.arange(4.0)))
            v += 10
            exact.assert_same(y, np.array([11.0, 2, 13, 4]))


def test_an_argument_that_a_captured_array_aliases():
    state = gc.asarray(np.arange(4.0))

    @gc.jit
    def f(x):
        state[...] += 1
        return x * 2

    exact.assert_same(f(gc.asarray(np.ones(4))), np.full(4, 2.0))
    exact.assert_same(f(state), (np.arange(4.0) + 2) * 2)
    exact.assert_same(f(state), (np.arange(4.0) + 3) * 2)


scale = gc.asarray(np.float64(2)) if hasattr(gc, "_graphc") else None


def test_captured_arrays_are_read_at_each_call():
    w = gc.asarray(np.arange(3.0))
    compiled = gc.jit(lambda x: x * w + scale)
    x = gc.asarray(np.ones(3))
    exact.assert_same(compiled(x), np.arange(3.0) + 2)
    w += 1
    exact.assert_same(compiled(x), np.arange(3.0) + 3)
    w = gc.asarray(np.zeros(3))
    exact.assert_same(compiled(x), np.full(3, 2.0))


def test_captured_arrays_are_updated_at_each_call():
    count = gc.asarray(np.zeros(2))

    @gc.jit
    def tick(x):
        count[0] += 1
        return x + count[0]

    x = gc.asarray(np.zeros(2))
    for i in range(1, 4):
        exact.assert_same(tick(x), np.full(2, float(i)))
    exact.assert_same(count, np.array([3.0, 0.0]))


def test_a_rebound_global_is_seen():
    namespace = {"gc": gc, "w": 3.0}
    exec("def f(x):\n    return x * w", namespace)
    compiled = gc.jit(namespace["f"])
    x = gc.asarray(np.ones(2))
    exact.assert_same(compiled(x), np.full(2, 3.0))
    namespace["w"] = 4.0
    exact.assert_same(compiled(x), np.full(2, 4.0))


def test_nested_jit():
    inner = gc.jit(lambda x: gc.exp(x) * 0 + x)
    outer = gc.jit(lambda x: inner(x) + inner(x * 2))
    for _ in range(2):
        exact.assert_same(outer(gc.asarray(np.arange(3.0))), np.arange(3.0) * 3)


def test_exceptions_of_the_function_pass_through_and_leave_nothing():
    class Mine(Exception):
        pass

    armed = []

    def f(x):
        x += 1
        if not armed:
            armed.append(1)
            raise Mine("once")
        return x * 2

    compiled = gc.jit(f)
    x = gc.asarray(np.arange(3.0))
    with pytest.raises(Mine):
        compiled(x)
    y = gc.asarray(np.arange(3.0))
    exact.assert_same(compiled(y), (np.arange(3.0) + 1) * 2)
    with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)"):
        gc.jit(lambda a, b: a + b)(x, gc.ones(4))
    assert not gc._graphc.is_tracing()


def test_branches_on_values_fall_back_with_one_warning():
    def f(x):
        return x + 1 if x.sum() > 0 else -x

    compiled = gc.jit(f)
    with pytest.warns(gc.PerformanceWarning, match="test_jit.py") as caught:
        for a in (np.ones(3), -np.ones(3), np.ones(3)):
            exact.assert_same(compiled(gc.asarray(a)), f(a))
    assert len(caught) == 1
    assert compiled.cache_info().eager == 3
    assert "plain Python" in compiled.explain(gc.ones(3))


def test_every_way_to_ask_for_a_value_is_noticed():
    asking = {
        "bool": bool,
        "int": int,
        "float": float,
        "item": lambda v: v.item(),
        "asarray": np.asarray,
        "tolist": lambda v: v.tolist(),
        "index": lambda v: [1, 2, 3][v.astype("int64")],
    }
    for name, ask in asking.items():
        with pytest.raises(gc.TraceError):
            gc.jit(lambda x: (ask(x[0]), x)[1], fullgraph=True)(gc.ones(3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gc.PerformanceWarning)
            exact.assert_same(gc.jit(lambda x: (ask(x[0]), x * 2)[1])(gc.ones(3)), np.full(3, 2.0), name)


def test_printing_inside_jit_is_possible():
    texts = []
    f = gc.jit(lambda x: (texts.append(repr(x)), x + 1)[1], fullgraph=True)
    exact.assert_same(f(gc.ones(3)), np.full(3, 2.0))
    assert "(3,)" in texts[0] and "float64" in texts[0]


def test_disable_jit():
    f, runs = counted(lambda x: x + 1)
    compiled = gc.jit(f)
    x = gc.ones(2)
    compiled(x)
    compiled(x)
    with gc.disable_jit():
        compiled(x)
        compiled(x)
    compiled(x)
    assert len(runs) == 3


def test_creation_inside_jit():
    @gc.jit
    def f(x):
        total = gc.zeros_like(x)
        for i in range(3):
            total[i] = x[i] * i
        return total + gc.arange(x.shape[0]) + gc.full(x.shape, 0.5)

    for _ in range(2):
        exact.assert_same(f(gc.asarray(np.arange(4.0))), np.array([0.0, 1, 4, 0]) + np.arange(4) + 0.5)


def test_no_arguments():
    f, runs = counted(lambda: gc.arange(5) * 2)
    compiled = gc.jit(f)
    for _ in range(3):
        exact.assert_same(compiled(), np.arange(5) * 2)
    assert len(runs) == 1


def test_results_of_two_calls_are_independent():
    f = gc.jit(lambda x: gc.zeros(3) + x)
    x = gc.ones(3)
    a, b = f(x), f(x)
    a += 5
    exact.assert_same(b, np.ones(3))
    exact.assert_same(f(x), np.ones(3))


def test_pending_arguments_and_pending_results_compose():
    f = gc.jit(lambda x: x * 2 + 1)
    x = gc.asarray(np.arange(3.0))
    y = f(f(x + 1) - 1)
    exact.assert_same(y, ((np.arange(3.0) + 1) * 2 + 1 - 1) * 2 + 1)


def test_methods_and_static_self():
    class Model:
        def __init__(self, w):
            self.w = w

        @gc.jit(static_argnums=0)
        def apply(self, x):
            return x * self.w

    m = Model(gc.asarray(np.arange(3.0)))
    for _ in range(2):
        exact.assert_same(m.apply(gc.ones(3)), np.arange(3.0))


def test_lower_stages_and_explain():
    @gc.jit
    def f(x, w):
        return gc.sum(gc.exp(x) * w, axis=1)

    x, w = (a.astype("float32") for a in arrays((6, 256), (256,)))
    lowered = f.lower(x, w)
    graph = lowered.as_text("graph")
    assert "graph.exp" in graph and "graph.reduce" in graph and lowered.as_text("mlir") == graph
    assert "kernel." in lowered.as_text("kernel") and "plan." in lowered.as_text("plan")
    assert "define" in lowered.as_text("llvm") and lowered.as_text("asm").strip()
    assert "kernel void" in lowered.as_text("opencl")
    with pytest.raises(ValueError, match="stage"):
        lowered.as_text("nonsense")
    assert "test_jit.py" in f.explain(x, w)
    assert gc.jit(lambda a: a + 1).lower(gc.spec("f32[N,4]")).as_text().count("f32") >= 1


def test_cache_info_and_clear():
    f, runs = counted(lambda x: x + 1)
    compiled = gc.jit(f)
    compiled(gc.ones(2))
    compiled(gc.ones(3))
    assert compiled.cache_info().traces == 2
    compiled.clear_cache()
    assert compiled.cache_info().traces == 0
    compiled(gc.ones(2))
    assert len(runs) == 3


def test_device_argument(device):
    f = gc.jit(lambda x: x * 2 + gc.ones(3, dtype="float32"), device=device)
    for _ in range(2):
        got = f(gc.asarray(np.arange(3, dtype="f4")))
        assert got.device == device
        exact.assert_same(got, np.arange(3, dtype="f4") * 2 + 1)


def test_threads_get_equal_results():
    rng = np.random.default_rng(71)
    data = [rng.normal(size=(20, 30)) for _ in range(4)]
    w = gc.asarray(rng.normal(size=(30, 5)))
    compiled = gc.jit(lambda x: gc.tanh(x @ w).sum(axis=0))
    want = [np.asarray(compiled(gc.asarray(d))) for d in data]
    failures = []

    def work(number):
        try:
            for i in range(60):
                k = (number + i) % 4
                x = gc.asarray(data[k])
                exact.assert_same(compiled(x), want[k])
                exact.assert_same(gc.tanh(x @ w).sum(axis=0), want[k])
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures[0]


def test_first_calls_of_many_threads_at_once():
    compiled = gc.jit(lambda x, y: gc.exp(x) * 0 + y[::-1] * 3)
    results = [None] * 8
    barrier = threading.Barrier(8)

    def work(n):
        barrier.wait()
        results[n] = np.asarray(compiled(gc.asarray(np.arange(5.0)), gc.asarray(np.full(5, float(n)))))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for n in range(8):
        exact.assert_same(results[n], np.full(5, 3.0 * n))


def ticks_during(act):
    """How often a counting thread came to its turn, and the seconds that `act` took."""
    ticks, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    act()
    during, elapsed = ticks[0], time.perf_counter() - start
    stop.set()
    thread.join()
    return during, elapsed


def test_other_threads_run_while_one_computes():
    """The GIL is released: a counting thread makes progress during a long evaluation."""
    x = gc.asarray(np.random.default_rng(72).normal(size=(700, 700)))
    y = x
    for _ in range(6):
        y = gc.tanh(y @ x)
    during, elapsed = ticks_during(lambda: gc.eval(y))
    assert during > 10 or elapsed < 0.02, (during, elapsed)


def test_threads_see_an_update_whole():
    """A jitted function updates its argument in place while another thread reads it, jitted and eagerly: each time one of the values
    that it had."""
    x = gc.zeros(300_000)
    gc.eval(x)

    @gc.jit
    def increase(x):
        x += 1

    read = gc.jit(lambda x: (gc.min(x), gc.max(x)))
    torn, seen, stop = [], set(), threading.Event()

    def look():
        while not stop.is_set():
            now = x * 1  # of two statements each reads a value of its own
            for low, high in (read(x), (gc.min(now), gc.max(now))):
                if float(low) != float(high):
                    torn.append((float(low), float(high)))
                seen.add(float(low))

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(400):
        increase(x)
    stop.set()
    thread.join()
    assert not torn
    assert seen <= {float(n) for n in range(401)}
    exact.assert_same(np.asarray(x), np.full(300_000, 400.0))


def test_other_threads_run_while_a_long_update_computes():
    """Short updates of arguments keep the GIL; a function that turned out to take long does not."""

    def update(x):
        y = x
        for _ in range(6):
            y = gc.tanh(y @ x)
        x[0] = y[1]

    x = gc.asarray(np.random.default_rng(73).normal(size=(700, 700)) / 50)
    function = gc.jit(update)
    ticks_during(lambda: [function(x) for _ in range(4)])
    during, elapsed = ticks_during(lambda: function(x))
    assert during > 10 or elapsed < 0.02, (during, elapsed)


def test_a_thread_tracing_does_not_disturb_another():
    started, finish = threading.Event(), threading.Event()

    def slow(x):
        started.set()
        finish.wait(10)
        return x + 1

    results = []
    thread = threading.Thread(target=lambda: results.append(np.asarray(gc.jit(slow)(gc.ones(3)))))
    thread.start()
    assert started.wait(10)
    assert float(gc.sum(gc.ones(5))) == 5.0
    assert not gc._graphc.is_tracing()
    finish.set()
    thread.join()
    exact.assert_same(results[0], np.full(3, 2.0))


def test_warm_calls_that_update_or_hand_back_their_arguments():
    """They take the short way as well: results are the very arguments, parts of them stay parts, and arguments that share
    memory or are not contiguous are told apart from those it was recorded for."""
    state = gc.jit(lambda x, y: step(x, y))

    def step(x, y):
        x += y
        return x

    def many(x, y):
        y *= 2
        return {"first": x, "part": y[1:], "sum": x + y, "number": 3}

    several = gc.jit(many)
    plain = gc.jit(step)
    for turn in range(6):
        x, y = gc.asarray([1.0, 2.0, 3.0]), gc.asarray([10.0, 20.0, 30.0])
        assert plain(x, y) is x and x.tolist() == [11.0, 22.0, 33.0]
        found = several(x, y)
        assert found["first"] is x and found["number"] == 3
        assert gc.shares_memory(found["part"], y)
        found["part"][0] = -1.0
        assert y.tolist() == [20.0, -1.0, 60.0] and found["sum"].tolist() == [31.0, 62.0, 93.0]
        a = gc.asarray([1.0, 2.0, 3.0, 4.0])
        assert plain(a, a) is a and a.tolist() == [2.0, 4.0, 6.0, 8.0]
        assert plain(a[1:], a[:-1]).tolist() == [6.0, 10.0, 14.0] and a.tolist() == [2.0, 6.0, 10.0, 14.0]
        b = gc.asarray(np.arange(6.0))[::2]
        assert plain(b, x) is b and b.tolist() == [11.0, 24.0, 37.0]
    assert state(x, y) is x


def test_recordings_do_not_press_on_the_budget():
    """A function keeps what it recorded; statements after it are still evaluated together."""
    x = gc.asarray(np.ones((1000, 1000)))
    gc.eval(x)
    before = gc.cache_info()["bytes_pending"]
    f = gc.jit(lambda v: (v.copy() * 2)[1:] + 1)
    assert f(x)[0, 0] == 3
    assert gc.cache_info()["bytes_pending"] == before
    y = x * 2
    assert gc.cache_info()["bytes_pending"] == before + 8_000_000 and y[0, 0] == 2
