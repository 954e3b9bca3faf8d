"""Recorded, not executed; compiled once for every size; evaluated for counted reasons; no recursion over depth."""

import threading

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.loops import turns_of

pytestmark = pytest.mark.graphc_only


def counters():
    return gc.cache_info()


class Delta:
    """What the counters did inside a `with`."""

    def __enter__(self):
        self.before = counters()
        return self

    def __exit__(self, *_):
        self.after = counters()

    def __getattr__(self, name):
        return self.after[name] - self.before[name]

    def reasons(self):
        before = self.before["eval_reasons"]
        return {k: v - before.get(k, 0) for k, v in self.after["eval_reasons"].items() if v != before.get(k, 0)}


def test_operations_run_nothing_until_a_value_is_needed():
    x = gc.asarray(np.arange(1000.0))
    with Delta() as d:
        y = gc.sum(gc.sqrt(x * 2 + 1), axis=0)
        assert y.shape == () and y.dtype == np.float64 and gc._graphc.pending(y)
    assert (d.launches, d.compiles) == (0, 0) and d.nodes_recorded >= 4
    with Delta() as d:
        gc.eval(y)
    assert d.launches >= 1 and not gc._graphc.pending(y)
    with Delta() as d:
        gc.eval(y)
        float(y)
    assert d.launches == 0
    assert float(y) == pytest.approx(np.sqrt(np.arange(1000.0) * 2 + 1).sum(), rel=1e-13)


def test_an_elementwise_chain_is_one_kernel():
    x = gc.asarray(np.arange(7000.0))
    y = gc.where((x + 1) * x > 5, x / 3, -x) - gc.floor(x)
    with Delta() as d:
        gc.eval(y)
    assert d.launches == 1


def test_row_local_programs_are_one_kernel():
    x = gc.asarray(np.random.default_rng(60).normal(size=(40, 300)).astype("f4"))
    e = gc.exp(x - x.max(axis=1, keepdims=True))
    for y in (x - x.mean(axis=1, keepdims=True), e / e.sum(axis=1, keepdims=True)):
        with Delta() as d:
            gc.eval(y)
        assert d.launches == 1


VIEWS = {
    "reshape": lambda x: (x * 2).reshape(-1),
    "transpose": lambda x: (x * 2).T,
    "slice": lambda x: (x * 2)[1:, ::-1],
    "stack": lambda x: gc.stack([x + 1, -x], axis=2).reshape(x.shape[0], -1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_results_are_made_without_a_copy(name):
    """What is computed is the array that is looked at; a jitted function returns nothing beside its results."""
    values = np.random.default_rng(62).normal(size=(40, 300))
    x, view = gc.asarray(values), VIEWS[name]
    want = np.stack([values + 1, -values], axis=2).reshape(40, -1) if name == "stack" else view(values)
    jitted = gc.jit(view)
    jitted(x)
    for act in (lambda: gc.eval(view(x)), lambda: view(x).eval(), lambda: jitted(x)):
        with Delta() as d:
            act()
        assert (d.launches, d.copies) == (1, 0)
    for got in (view(x).eval(), jitted(x)):
        np.testing.assert_array_equal(np.asarray(got), want)
        np.testing.assert_array_equal(np.asarray(got + 1), want + 1)


def test_an_element_is_computed_alone():
    x = gc.asarray(np.arange(1 << 20, dtype="f4"))
    with Delta() as d:
        element = (x * 0.5)[77].eval()
    assert d.launches == 1 and not gc._graphc.pending(element) and float(element) == 38.5


@pytest.mark.parametrize("name", ["whole", "reshape", "part"])
def test_values_are_read_while_another_thread_updates(name):
    """Each read is of one version, whatever was recorded since it was computed."""
    x = gc.ones(1 << 16)
    y = {"whole": x, "reshape": x.reshape(-1, 64), "part": x[5:]}[name]
    triple = gc.jit(lambda a: a * 3)
    triple(y)
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            for values in (np.asarray(y), np.asarray(triple(y))):
                if values.min() != values.max():
                    wrong.append((values.min(), values.max()))

    def guarded():
        try:
            read()
        except Exception as error:
            wrong.append(error)

    readers = [threading.Thread(target=guarded) for _ in range(2)]
    for r in readers:
        r.start()
    for _ in range(300):
        x += 1
        x.eval()
    stop.set()
    for r in readers:
        r.join()
    assert not wrong and float(x[0]) == 301


def test_a_reshape_is_an_argument_without_a_copy():
    x = gc.asarray(np.arange(1200.0)) * 2
    step = gc.jit(lambda a: a + 1)
    step(x.reshape(30, 40))
    for ready in (True, False):
        x = gc.asarray(np.arange(1200.0)) * 2
        if ready:
            gc.eval(x)
        with Delta() as d:
            y = step(x.reshape(30, 40))
        assert (d.launches, d.copies) == (1 if ready else 2, 0)
        np.testing.assert_array_equal(np.asarray(y), np.arange(1200.0).reshape(30, 40) * 2 + 1)
    # The argument is written in place later, by element and whole: a result made before keeps its values.
    view = x.reshape(30, 40)
    gc.eval(view)
    kept = view + 0
    x[3] = 77.0
    view += 1
    assert float(x[3]) == 78.0 and float(view[0, 3]) == 78.0 and float(kept[0, 3]) == 6.0
    np.testing.assert_array_equal(np.asarray(step(view))[0, :4], [2.0, 4.0, 6.0, 79.0])


def test_siblings_over_one_space_are_one_kernel():
    x = gc.asarray(np.random.default_rng(61).normal(size=(40, 300)))
    pair = (gc.mean(x, axis=1), gc.max(x, axis=1))
    with Delta() as d:
        gc.eval(pair)
    assert d.launches == 1


def program(x, w):
    return gc.sum(gc.exp(x * 0.25) * w, axis=1) - gc.max(x, axis=1)


def test_a_second_size_compiles_nothing():
    rng = np.random.default_rng(62)

    def run(rows, columns):
        x, w = rng.normal(size=(rows, columns)), rng.normal(size=columns)
        got = np.asarray(program(gc.asarray(x), gc.asarray(w)))
        want = (np.exp(x * 0.25) * w).sum(1) - x.max(1)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)

    run(30, 70)
    with Delta() as d:
        run(31, 70)
        run(8, 900)
        run(300, 33)
    assert d.compiles == 0 and d.kernels_compiled == 0


def test_sizes_that_are_equal_by_chance_do_not_spoil_another_size():
    def run(a, b):
        x, y = np.arange(float(a)), np.arange(float(b))
        got = gc.asarray(x)[:, None] * gc.asarray(y)[None, :] + 1
        exact.assert_same(got, x[:, None] * y[None, :] + 1)

    run(6, 6)
    run(6, 9)
    run(9, 6)
    run(6, 1)
    run(1, 1)
    run(5, 5)


def test_sizes_zero_and_one_after_larger_ones():
    for n in (7, 3, 1, 0, 2):
        x = np.arange(float(n))
        g = gc.asarray(x)
        exact.assert_same(g * 2 + g[::-1], x * 2 + x[::-1])
        exact.assert_same(gc.sum(g * g), np.asarray((x * x).sum()))


def test_another_float_constant_compiles_at_most_once_more():
    x = np.arange(50.0)
    g = gc.asarray(x)

    def run(c):
        exact.assert_same((g + c) * (c * 0.5), (x + c) * (c * 0.5))

    run(1.25)
    run(2.25)
    with Delta() as d:
        for c in (3.5, -7.0, 0.125, 1e30):
            run(c)
    assert d.kernels_compiled == 0


def test_many_divisors_compile_a_few_times():
    """A program, which no other test has, knows its divisor three times; then it is told. The quotients are the same ones."""
    x = np.random.default_rng(5).standard_normal(50_000) * 10.0 ** (np.arange(50_000) % 600 - 300)
    g = gc.asarray(x)
    with np.errstate(all="ignore"), gc.errstate(all="ignore"), Delta() as d:
        for c in (3.0, 0.1, 3.0, 64.0, -7.25, 1e300, 5e-324, 1.0, float("inf"), float("nan"), -0.0, 49.0, 0.1):
            exact.assert_same(gc.copysign(g / c, g), np.copysign(x / c, x), f"/ {c}")
    assert 1 <= d.compiles <= 4


def test_constants_that_are_special_values_stay_right():
    x = np.array([0.0, -0.0, 1.5, np.inf, np.nan])
    g = gc.asarray(x)
    with np.errstate(all="ignore"):
        for c in (0.0, -0.0, 1.0, -1.0, np.inf, float("nan"), 2.0, 0.5):
            exact.assert_same(g * c, x * c, f"* {c}")
            exact.assert_same(g + c, x + c, f"+ {c}")
            exact.assert_same(c - g, c - x, f"{c} -")
            exact.assert_same(g / c, x / c, f"/ {c}")


def test_integer_divisors_stay_right():
    x = np.array([-7, -1, 0, 1, 7, 2**62, -(2**63)])
    g = gc.asarray(x)
    with np.errstate(all="ignore"):
        for c in (1, 2, 3, -1, -3, 7, 64, 6700417):
            exact.assert_same(g // c, x // c, f"// {c}")
            exact.assert_same(g % c, x % c, f"% {c}")


def test_a_loop_of_identical_steps_compiles_each_kernel_once():
    u = np.random.default_rng(63).normal(size=(40, 50))
    want = u.copy()
    for _ in range(50):
        want[1:-1, 1:-1] = 0.25 * (want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:])
    g = gc.array(u)
    for _ in range(50):
        g[1:-1, 1:-1] = 0.25 * (g[:-2, 1:-1] + g[2:, 1:-1] + g[1:-1, :-2] + g[1:-1, 2:])
    with Delta() as d:
        gc.eval(g)
    assert 1 <= d.kernels_compiled <= 4, "fifty equal steps are a few distinct kernels"
    assert d.launches >= 50
    exact.assert_same(g, want)


def test_repeated_evaluation_of_one_structure_hits_the_memory_cache():
    for i in range(5):
        x = gc.asarray(np.full(10, float(i)))
        with Delta() as d:
            exact.assert_same(gc.tanh(x) * 0 + i, np.full(10, float(i)))
        if i > 2:
            assert d.compiles == 0


def test_reasons_of_evaluations_are_counted():
    def fresh():
        return gc.asarray(np.arange(3)) + 1

    for reason, look in {
        "eval": gc.eval,
        "exchange": np.asarray,  # NumPy takes the buffer
        "numpy": lambda x: x.__array__(),
        "item": lambda x: x[0].item(),
        "print": repr,
    }.items():
        x = fresh()
        with Delta() as d:
            look(x)
        assert d.reasons().get(reason) == 1, (reason, d.reasons())
    with Delta() as d:
        bool((fresh() > 0).all())
        int(fresh()[0])
        float(fresh()[1])
    assert sum(d.reasons().values()) == 3


def test_pending_bytes_past_the_budget_are_evaluated():
    budget = gc._graphc.budget()
    gc._graphc.set_budget(1 << 20)
    try:
        with Delta() as d:
            kept = [gc.asarray(np.arange(1000.0)) * i for i in range(300)]
        assert d.reasons().get("budget", 0) >= 1 and d.launches > 0
    finally:
        gc._graphc.set_budget(budget)
    exact.assert_same(kept[7], np.arange(1000.0) * 7)


def test_dead_values_are_not_computed():
    x = gc.asarray(np.arange(10.0))
    y = x + 1
    for _ in range(100):
        y = y * 1.5
    del y
    z = x * 3
    with Delta() as d:
        gc.eval(z)
    assert d.launches == 1


MILLION = 1_000_000


def _chain(length=MILLION):
    x = gc.asarray(np.zeros(4, "int64"))
    for _ in range(length):
        x = x + 1
    return x


def test_a_million_nodes_are_dropped_without_evaluation():
    with Delta() as d:
        x = _chain()
        assert x.shape == (4,)
        del x
    assert d.launches == 0


def test_a_million_nodes_are_evaluated():
    x = _chain()
    exact.assert_same(x, np.full(4, MILLION))


def test_a_million_nodes_on_a_small_stack():
    outcome = []

    def work():
        dropped = _chain()
        text = gc._graphc.print_stage([dropped], "recorded")
        del dropped
        outcome.append((len(text), int(_chain(200_000)[0])))

    previous = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(previous)
    assert outcome and outcome[0][1] == 200_000 and outcome[0][0] > MILLION


def test_a_deep_diamond():
    x = gc.asarray(np.array([1.0]))
    for _ in range(2000):
        x = (x + x) * 0.5
    exact.assert_same(x, np.array([1.0]))


def test_many_inputs():
    parts = [gc.asarray(np.array([float(i)])) for i in range(300)]
    total = parts[0]
    for p in parts[1:]:
        total = total + p
    exact.assert_same(total, np.array([float(sum(range(300)))]))
    exact.assert_same(gc.concatenate(parts), np.arange(300.0))


def test_explain_and_stages_name_the_users_line():
    x = gc.asarray(np.arange(50.0).reshape(5, 10))
    y = gc.sum(gc.exp(x), axis=0)
    text = gc.explain(y)
    assert "test_lazy.py" in text
    stage = gc._graphc.print_stage([y], "graph")
    assert "graph.exp" in stage and "graph.reduce" in stage
    assert "exp" in gc._graphc.print_stage([y], "recorded")


def test_zero_size_arrays_never_compile():
    with Delta() as d:
        x = gc.zeros((0, 5))
        y = (x * 2 + 1)[:, ::2]
        gc.eval(y)
        assert np.asarray(y).shape == (0, 3)
    assert d.compiles == 0


def test_a_long_loop_is_a_few_programs():
    """Segments are cut between turns of a loop: one program for all of them, whatever a turn's length."""

    def steps(xp, x, y, n):
        for _ in range(n):
            d = x - y
            x = x - 0.01 * d * abs(d)
            y = y + xp.sqrt(abs(d)) * 0.001
        return x + y

    a, b = np.linspace(1.0, 2.0, 33), np.linspace(0.5, 0.9, 33)
    x, y = gc.asarray(a), gc.asarray(b)
    before = gc.cache_info()["kernels_compiled"]
    result = steps(gc, x, y, 1000)
    np.testing.assert_allclose(np.asarray(result), steps(np, a, b, 1000), rtol=1e-12)
    few = gc.cache_info()["kernels_compiled"] - before
    assert few <= 12, "first, middle and last segment, each of few kernels"
    more = steps(gc, x, y, 3000)
    gc.eval(more)
    assert gc.cache_info()["kernels_compiled"] - before <= few + 4, "a longer loop has the same middle"


MEASURES = {
    "an element": lambda xp, kept, t, u: kept.__setitem__(t, (u * u).sum()),
    "a row": lambda xp, kept, t, u: kept.__setitem__(t, u[:3, 7]),
    "a list": lambda xp, kept, t, u: kept.__setitem__(t, u[::500].sum(0)[:3]),
}


@pytest.mark.parametrize("updates", [True, False], ids=["in place", "anew"])
@pytest.mark.parametrize("measure", MEASURES)
def test_small_results_do_not_keep_what_a_loop_makes_anew(measure, updates):
    """Each turn looks at a large array, whose next version would be a copy, and the old one be kept, for what is not read yet."""

    def program(xp, turns=60):
        u = xp.asarray(np.linspace(0, 1, 600 * 1000).reshape(600, 1000))
        kept = [None] * turns if measure == "a list" else xp.zeros(turns if measure == "an element" else (turns, 3))
        pending = []
        for t in range(turns):
            if updates:
                u[1:-1] += 0.1 * (u[2:] - u[:-2])
            else:
                u = xp.sqrt(u + 0.5)
            MEASURES[measure](xp, kept, t, u)
            if u.max() > 1e9:
                break
            pending.append(gc.cache_info()["nodes_pending"])
        return np.asarray(xp.stack(kept) if measure == "a list" else kept), pending

    with turns_of(16):
        got, pending = program(gc)
    want, _ = program(np)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert gc.asarray([0]).device != "cpu" or max(pending[20:]) <= pending[19] + 8, pending
