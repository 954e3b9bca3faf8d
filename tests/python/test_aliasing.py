"""Views and in-place updates keep NumPy's order, lazily, inside and outside jit."""

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.programs import Program

SEEDS = range(60)


def run_both(program):
    """Runs a program on NumPy and graphc; returns both pools."""
    with np.errstate(all="ignore"):
        want = program.run(np, [s.copy() for s in program.sources])
    got = program.run(gc, [gc.asarray(s) for s in program.sources])
    return got, want


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_evaluated_at_the_end(seed):
    program = Program(seed)
    got, want = run_both(program)
    gc.eval(*[g for g in got if isinstance(g, gc.Array)])
    for i, (g, w) in enumerate(zip(got, want)):
        exact.assert_same(g, w, f"{program}\nentry {i}")


@pytest.mark.parametrize("seed", range(100, 112))
def test_random_programs_compared_at_every_step(seed):
    program = Program(seed)
    want_pools = []
    program.run(np, [s.copy() for s in program.sources], lambda n, s, pool: want_pools.append([np.array(x) for x in pool]))

    def check(number, step, pool):
        entry = step[1] if number % 3 else len(pool) - 1
        for i in {step[1], entry, 0}:
            exact.assert_same(pool[i], want_pools[number][i], f"{program}\nafter step {number}, entry {i}")

    program.run(gc, [gc.asarray(s) for s in program.sources], check)


@pytest.mark.filterwarnings("ignore:jit")  # programs whose results share memory are recorded anew
@pytest.mark.parametrize("seed", range(200, 216))
def test_random_programs_in_jit(seed):
    """The updates of the arguments reach the caller, and views returned show the final values."""
    program = Program(seed, length=16)
    want_sources = [s.copy() for s in program.sources]
    want = program.run(np, want_sources)
    compiled = gc.jit(lambda *arrays: program.run(gc, arrays))
    for _ in range(2):
        sources = [gc.asarray(s.copy()) for s in program.sources]
        got = compiled(*sources)
        for i, (g, w) in enumerate(zip(got, want)):
            exact.assert_same(g, w, f"{program}\nentry {i}")
        for i, (g, w) in enumerate(zip(sources, want_sources)):
            exact.assert_same(g, w, f"{program}\nargument {i}")


def alias(xp):
    a = xp.reshape(xp.arange(12), (3, 4))
    v = a[1:, ::2]
    v += 100
    a[0, 1:] = a[0, :-1]
    return a


def overlapping_shift(xp):
    a = xp.arange(10)
    a[1:] = a[:-1]
    a[:-2] += a[2:]
    a[::2] = a[::-2]
    return a


def view_of_a_view(xp):
    a = xp.reshape(xp.arange(24), (2, 3, 4))
    b = a[:, ::-1]
    c = b[..., 1::2]
    d = c[1]
    d *= 10
    c[0, 0] = 7
    b[1, 2, 3] = -1
    return a


def transposed_update(xp):
    a = xp.reshape(xp.arange(9), (3, 3))
    t = a.T
    t[0] = t[1] + t[2]
    a += t
    return a


def read_before_write(xp):
    a = xp.arange(5)
    before = a[1:] * 2
    a[1:] = 0
    return xp.concatenate([a, before])


def copies_do_not_alias(xp):
    a = xp.arange(6)
    b = a.copy()
    c = a + 0
    a += 1
    return xp.concatenate([a, b, c])


def reshape_is_a_view(xp):
    a = xp.arange(6)
    b = xp.reshape(a, (2, 3))
    b[1] = 9
    a[0] = -1
    return xp.concatenate([a, xp.reshape(b, (6,))])


def reshape_of_transposed_is_a_copy(xp):
    a = xp.reshape(xp.arange(6), (2, 3))
    b = xp.reshape(a.T, (6,))
    a[0, 0] = 100
    b[1] = -5
    return xp.concatenate([xp.reshape(a, (6,)), b])


def self_assignment(xp):
    a = xp.arange(8)
    a[:] = a[::-1]
    a += a[::-1]
    return a


def swap(xp):
    a = xp.arange(6)
    t = a[:3] + 0
    a[:3] = a[3:]
    a[3:] = t
    return a


def swap_elements(xp):
    a = xp.arange(6)
    t = a[1]
    a[1] = a[4]
    a[4] = t
    return a


def loop_of_updates(xp):
    a = xp.reshape(xp.arange(20), (4, 5))
    for i in range(4):
        a[i] += a[i - 1]
        a[:, i] -= i
    return a


def stencil(xp):
    a = xp.arange(32) * 1.0
    for _ in range(5):
        a[1:-1] = (a[:-2] + a[2:]) * 0.5
    return a


def broadcast_assignment(xp):
    a = xp.reshape(xp.arange(12), (3, 4))
    a[:, 1] = a[1].sum()
    a[1] = xp.arange(4) * 2
    a[...] = a + xp.reshape(xp.arange(3), (3, 1))
    return a


def augmented_element(xp):
    a = xp.arange(4)
    a[2] += 5
    a[-1] **= 2
    a[0] |= 6
    return a


CASES = [
    alias, overlapping_shift, view_of_a_view, transposed_update, read_before_write, copies_do_not_alias, reshape_is_a_view,
    reshape_of_transposed_is_a_copy, self_assignment, swap, swap_elements, loop_of_updates, stencil, broadcast_assignment, augmented_element,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("jitted", [False, True])
def test_cases(case, jitted):
    run = gc.jit(lambda: case(gc)) if jitted else (lambda: case(gc))
    want = case(np)
    for _ in range(2):
        exact.assert_same(run(), want, case.__name__)


def test_a_broadcast_view_refuses_writes():
    g = gc.broadcast_to(gc.asarray(np.arange(3)), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        g[0, 0] = 1


def test_evaluation_between_updates_changes_nothing():
    a = gc.asarray(np.arange(10))
    v = a[::2]
    gc.eval(a)
    v += 1
    gc.eval(v)
    a *= 2
    w = a[1:]
    gc.eval(w)
    v[0] = -7
    want = np.arange(10)
    want[::2] += 1
    want *= 2
    want[0] = -7
    exact.assert_same(a, want)
    exact.assert_same(w, want[1:])


def test_asarray_of_an_array_is_the_same_object():
    g = gc.asarray(np.arange(3))
    assert gc.asarray(g) is g
    h = gc.array(g)
    h += 1
    exact.assert_same(g, np.arange(3))


def test_rebinding_by_in_place_operators_keeps_identity():
    g = gc.asarray(np.arange(3))
    h = g
    g += 1
    assert g is h
    exact.assert_same(h, np.arange(3) + 1)


def test_shape_of_a_wrong_assignment_is_reported_at_once():
    g = gc.asarray(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"\(4,?\).*\(2, ?3\)"):
        g[:] = np.zeros(4)
    with pytest.raises(ValueError):
        g += np.zeros((5, 2, 3))


@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_views_of_single_values(xp):
    """A result without axes is a value, as NumPy's scalars: what is made of it has its own memory. An array without axes is an array."""
    value = xp.sum(xp.asarray(np.arange(4.0)))
    for made in (value.ravel(), value.reshape(1, 1), value[None], xp.expand_dims(value, 0), value.flatten()):
        made += 1
        assert float(value) == 6 and made.size == 1 and float(made.sum()) == 7
    place = xp.lexsort((value, value))
    row = xp.atleast_1d(place)
    row += 1
    assert place == 0 and not xp.shares_memory(row, xp.asanyarray(place))
    array = xp.asarray(2.0).astype(np.float32)
    for made in (array, array.copy()):
        other, flat = made, made.reshape(-1)
        made += 1
        assert float(other) == 3 and float(flat[0]) == 3 and xp.shares_memory(made, flat)
        made -= 1


@pytest.mark.parametrize("part", ["real", "imag"])
def test_strided_views_of_parts(part):
    """Diagonals, windows and strided views of real and imaginary parts share memory, over axes dense by neither rows nor columns."""

    def program(xp):
        z = xp.asarray(np.arange(120).reshape(3, 4, 5, 2) * (1 + 2j))
        v = getattr(z, part)
        w = v.transpose(2, 0, 1, 3)[:, ::2, 1:]
        shown = [
            xp.linalg.diagonal(w.transpose(1, 3, 0, 2)), w.diagonal(0, 0, 2), xp.lib.stride_tricks.sliding_window_view(w, 2, axis=2),
            xp.lib.stride_tricks.as_strided(v, (2, 3), (64, 32)),
        ]  # fmt: skip
        facts = [(s.shape, s.strides, xp.shares_memory(s, z)) for s in shown]
        shown[3][0, 1] = 7
        z += 1
        return facts, [*shown, z]

    (facts, values), (want, expected) = program(gc), program(np)
    assert facts == want
    for g, w in zip(values, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(g), w)
