"""Calls on small arrays in loops that need no program: functions of exact results, convolutions, sequences. Bits, dtypes, shapes
and errors are those of what is recorded, and NumPy's."""

import itertools
import math

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.loops import KINDS, assert_same, in_turns, leaves, of_kind

pytestmark = pytest.mark.graphc_only


@pytest.fixture(params=KINDS)
def turns(request):
    with of_kind(request.param):
        yield request.param



def floats(*shape):
    x = np.random.default_rng(4).normal(size=shape).round(1) * 8
    x.reshape(-1)[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    return x


INTEGERS = np.array([3, 0, 7, 7, -2, 12, 3, 1])
MASK = INTEGERS > 2
#: Calls on the module np and on its arrays: `f` of floats, `i` of integers, `m` a mask, `w` of two axes.
ANY = [
    "np.pad(f, 2, 'linear_ramp')", "np.pad(w, 1, 'edge')", "np.rint(f + 0.5j)", "np.argsort(f, kind='stable')", "np.append(f, 2.0)", "np.append(f, i)", "np.array_equal(f, f)", "np.array_equal(i, i[::-1])", "np.choose(i % 2, [f, f[::-1]])",
    "np.column_stack([f, i])", "np.compress(m, f)", "np.delete(f, 2)", "np.delete(w, 1, axis=1)", "np.diagflat(f)", "np.digitize(f, [0.0, 2.0])",
    "np.dstack([f, f])", "np.extract(m, f)", "np.gcd(i, 12)", "np.gcd(i, i[::-1])", "np.lcm(i, 4)", "np.insert(f, 2, 1.5)", "np.insert(w, 0, 9, axis=1)",
    "np.interp(f, s, f[5:])", "np.interp(0.25, s, s * s)", "np.interp(i, s, s, left=-1.0, right=9)", "np.ldexp(f, i)", "np.ldexp(f.astype('f4'), 3)", "np.ldexp(f * 5e-324, -i)", "np.isin(i, [3, 7])", "np.isin(f, f[:3])",
    "np.lexsort((f, i))", "np.modf(f)", "np.frexp(f)", "np.frexp(f.astype('f4'))", "np.packbits(m)", "np.unpackbits(u)",
    "np.ravel_multi_index((i % 3, i % 4), (3, 4))", "np.unravel_index(i % 12, (3, 4))",
    "np.searchsorted(s, f)", "np.searchsorted(s, 0.5)", "np.searchsorted(s, f, side='right')",
    "np.take_along_axis(w, np.argsort(w, axis=1), axis=1)", "np.tril(w)", "np.triu(w, 1)", "np.triu(w.T)", "np.repeat(f, 2)",
    "np.repeat(w, [1, 2, 0], axis=0)", "np.resize(f, (3, 5))", "np.tile(f, (2, 2))", "np.tile(f[2], 3)", "np.gcd(12, 18)", "np.unravel_index(7, (3, 4))",
    "np.argwhere(f)", "np.argwhere(w > 2)", "np.flatnonzero(w)", "np.nonzero(f)", "np.nonzero(w)", "np.where(w > 1)", "np.heaviside(f, 0.5)",
    "np.heaviside(f, f[::-1])", "np.take(f, i % 3)", "np.take(w, [2, 0], axis=1)", "np.take(f, 12, mode='wrap')", "f.take(i % 3)",
    "np.conj(2.5 - 1j)", "np.conj(z)", "z.conj()", "np.conj(True)", "np.array([1j, 2, 3.5])", "np.array([[z[0], 1], [True, 2.5j]])", "np.array([z.astype('c8')[1], 2])",
    "np.array([1, 2.5], complex)", "np.array([1j, np.nan])", "np.r_[1, 2.5]", "np.r_[0:3, 7, f]", "np.r_[i, 2:0:-1]", "np.r_[:0, 1.5]", "np.r_[0.0:3]",
    "np.r_[f.astype('f4'), 1.5]", "np.atleast_1d(2.5)", "np.atleast_2d(3)", "np.frombuffer(bytes(range(16)))", "np.frombuffer(bytes(range(16)), np.int32)", "np.frombuffer(bytes(range(8)), '>u2')",
    "np.ediff1d(f)", "np.ediff1d(f.astype('f4'), to_end=[1.0])", "np.hstack([f, i])", "np.hstack([1.0, 2])", "np.vstack([f, i])", "np.vstack([[1.0, 2], [3, 4]])",
    "np.polyadd(f, f[:3])", "np.polyadd(z, i[:3])", "np.polysub([1, 2], i)", "np.select([m, f > 0], [f, i], 7)", "np.select([m], [f], default=-0.0)",
    "np.cross(w[:, :3], w[0, :3])", "np.cross(w[:, 1:], i[:3])", "np.diff(f, n=2)", "np.diff(w, axis=0)", "np.diff(m)", "np.polyder(f)", "np.polyder(i, 2)", "np.polyint(f)",
    "np.polyint(i, 2, [1, 2])", "np.unique(w, return_counts=True)", "np.unique(s, return_index=True)", "np.isin(3, i)",
    "np.bitwise_count(i)", "np.bitwise_count(i.astype('i1'))", "f.repeat(2)", "np.gcd(i[0], i[5])", "np.frexp(f[6])",
]  # fmt: skip
OF_INTEGERS = [
    "np.convolve(i, i[:3])", "np.convolve(i, [1, 2], 'valid')", "np.correlate(i, i[:3], 'same')", "np.ediff1d(i)",
    "np.intersect1d(i, [3, 7])", "np.setdiff1d(i, [3])", "np.setxor1d(i, [3, 99])", "np.trace(w.astype(int))",
    "np.rint(i)", "np.rint(i.astype('i1'))", "np.rint(m)", "np.union1d(i, [5])", "np.unique(i)", "np.unique(i, return_counts=True)", "np.unique(m)", "np.trace(f[:4].reshape(2, 2))",
    "i.view(np.uint8)", "f.view(int)", "f.view(complex)", "i.view(np.int64)", "np.union1d(f[1:], f[1:4])", "np.convolve([0.5, 1.5], [1, 2])",
]  # fmt: skip


def space(np_):
    made = {"f": floats(8), "i": INTEGERS, "m": MASK, "w": np.arange(12.0).reshape(3, 4) % 5, "s": np.array([-4.0, 0.0, 4.0]), "u": np.arange(9, dtype="u1"), "z": np.array([1 - 2j, -0.0 + 0j, 3.5j])}
    return {"np": np_, **{name: np_.array(value) for name, value in made.items()}}


@pytest.mark.parametrize("call", [*ANY, *OF_INTEGERS])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bits_of_exact_functions(turns, call):
    assert_same(eval(call, space(gc)), eval(call, space(np)))


def test_every_exact_function_is_tried():
    tried = " ".join([*ANY, *OF_INTEGERS])
    assert [name for name in gc._exact._EXACT if f"np.{name}(" not in tried] == []


@pytest.mark.parametrize("call", ANY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exact_functions_leave_their_arguments(call):
    """Results are arrays of their own: neither changes with the other."""
    ours = space(gc)

    def program():
        result = eval(call, ours)
        before = [np.array(v) for v in leaves(result)]
        for value in leaves(result):
            if getattr(value, "ndim", 0) and isinstance(value, gc.Array) and not value.readonly:
                value[...] = 0
        for name, value in space(np).items():
            if name != "np":
                np.testing.assert_array_equal(np.asarray(ours[name]), value)
        for name in "fimwsu":
            ours[name][...] = 0
        return before

    assert_same(in_turns(0, program), eval(call, space(np)))


@pytest.mark.parametrize("call", ["np.repeat(f, -1)", "np.gcd(f, 2)", "np.insert(f, 99, 1.0)", "np.choose(i, [f, f])", "np.unravel_index(99, (3, 4))",
                                  "np.tile()", "np.searchsorted(w, 1)", "np.packbits(f)", "np.lexsort(())"])  # fmt: skip
def test_errors_of_exact_functions_are_ours(call):
    raised = []
    for count in (gc._graphc.NEVER, 0):
        with pytest.raises(Exception) as caught:
            in_turns(count, lambda: np.asarray(eval(call, space(gc))))
        raised.append((type(caught.value), str(caught.value)))
    assert raised[0] == raised[1]


def test_exact_functions_in_loops_need_no_program():
    x = gc.arange(8)

    def loop():
        for shift in range(50):
            y = gc.repeat(gc.gcd(x + shift, 12), 2)
        return y

    loop()
    before = gc.cache_info()
    y = loop()
    after = gc.cache_info()
    assert [after[name] - before[name] for name in ("launches", "programs_run", "nodes_recorded")] == [0, 0, 0]
    np.testing.assert_array_equal(np.asarray(y), np.repeat(np.gcd(np.arange(8) + 49, 12), 2))


def test_long_results_and_traces_are_recorded():
    x = gc.arange(8)
    assert gc._graphc.pending(in_turns(0, lambda: gc.repeat(x, 100_000)))
    f = gc.jit(lambda v: gc.tile(gc.gcd(v, 12), 2))
    np.testing.assert_array_equal(in_turns(0, lambda: np.asarray(f(x))), np.tile(np.gcd(np.arange(8), 12), 2))


def test_larger_arrays_of_many_passes():
    x = gc.arange(9000.0)
    gc.eval(x)
    got = in_turns(0, lambda: gc.frexp(x))
    assert not gc._graphc.pending(got[0])
    assert_same(got, np.frexp(np.arange(9000.0)))
    assert gc._graphc.pending(in_turns(0, lambda: gc.frexp(x + 1))[0])  # is fused with what it reads
    assert gc._graphc.pending(in_turns(0, lambda: gc.tril(x.reshape(90, 100))))


def test_a_long_vector_is_searched_at_once():
    x = gc.arange(100_000.0)
    gc.eval(x)
    found = in_turns(0, lambda: gc._graphc.library("searchsorted", (x, gc.asarray([4.5, 99.0])), (0,), (2,), gc.int64))
    assert not gc._graphc.pending(found) and found.tolist() == [5, 99]


# -- convolutions --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_bits_of_convolutions(dtype, mode):
    rng = np.random.default_rng(8)
    for n, m in [(1, 1), (5, 3), (3, 5), (4, 4), (100, 7), (130, 65), (300, 64), (300, 129), (300, 256), (40, 300)]:
        x, y = rng.normal(size=n).astype(dtype), rng.normal(size=m).astype(dtype)
        for name in ("convolve", "correlate"):
            f, reference = getattr(gc, name), getattr(np, name)
            a, b = gc.array(x), gc.array(y)
            recorded, now = (np.asarray(in_turns(count, lambda: f(a, b, mode))) for count in (gc._graphc.NEVER, 0))
            assert recorded.dtype == now.dtype == dtype and recorded.tobytes() == now.tobytes()
            np.testing.assert_allclose(now, reference(x.astype("f8"), y.astype("f8"), mode), rtol=2e-4, atol=1e-4 if dtype == "float32" else 1e-12)


# -- lists ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex64", "complex128"])
def test_lists_of_small_arrays(dtype):
    x = (np.arange(24).reshape(2, 3, 4) % 7).astype(dtype)
    ours = gc.array(x)
    views = [np.s_[...], np.s_[1], np.s_[:, ::-1, 1:3], np.s_[0, 1, 1], np.s_[:, :0], np.s_[..., None]]
    for view, source in itertools.product(views, ((ours, x), (ours.T, x.T))):
        got, want = source[0][view].tolist(), source[1][view].tolist()
        assert repr(got) == repr(want)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "complex128"])
def test_sequences_of_single_results_as_operands(turns, dtype):
    """Written to parts, and as operands: of numbers, of elements, of what is pending, nested."""
    x = gc.array(np.arange(12).reshape(4, 3).astype(dtype))
    want = np.arange(12).reshape(4, 3).astype(dtype)
    one = gc.asarray(np.ones(3, dtype)) * 2
    for row in range(4):
        x[row] = x[row, 1], 7, one[0]
        want[row] = want[row, 1], 7, 2
        x[row, 1:] = [one.sum(), 3]
        want[row, 1:] = [6, 3]
    x[:2] += [(1, 2, x[0, 0]), [one[1], 5, 6]]
    want[:2] += np.asarray([(1, 2, want[0, 0]), [2, 5, 6]], dtype)
    np.testing.assert_array_equal(np.asarray(x), want)
    got, reference = x + [1, 2, 3], want + [1, 2, 3]
    assert got.dtype == reference.dtype
    np.testing.assert_array_equal(np.asarray(got), reference)


@pytest.mark.parametrize("value", [[1, [2, 3]], ["a", 2, 3], [1, 2]])
def test_sequences_that_are_no_rows(turns, value):
    x = gc.zeros(3)
    with pytest.raises((ValueError, TypeError)):
        x[:] = value
    assert x.tolist() == [0, 0, 0]


LINES = {
    "counts": "xp.unique(x, return_counts=True)[1]", "inverse": "xp.unique(x, return_inverse=True)[1]", "masks": "x[x > 1] - x[m]",
    "places": "xp.nonzero(m)[0] + xp.flatnonzero(m)", "compress": "xp.compress(m, x) + x[m]", "rows": "xp.argwhere(m)[:, 0] - xp.nonzero(m)[0]",
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_loops_that_begin_between_two_operations(name):
    """Sizes that depend on data are open before, and counted from there on: wherever in a statement a line is taken for a loop."""
    for turns in range(1, 20):
        code = compile(LINES[name], f"<{name} {turns}>", "eval")  # a line that has not been met

        def run(code=code):
            for i in range(6):
                x = np.random.default_rng(i).integers(0, 4, 9).astype("f4")
                want, got = (eval(code, {"xp": xp, "x": xp.asarray(x), "m": xp.asarray(x) > 1}) for xp in (np, gc))
                assert got.shape == want.shape and np.array_equal(got, want), turns

        in_turns(turns, run)


def test_loops_give_what_the_first_turn_gives():
    u, v = gc.asarray(np.array([1, 0], "u8")), gc.asarray(np.array([-1], "i8"))  # together floats
    q, bins = gc.asarray(np.array([0.5])), gc.asarray(np.array([0, 1, np.nan]))
    for call in (lambda: gc.convolve(u, v), lambda: gc.correlate(u, v, "full"), lambda: gc.digitize(q, bins)):
        turns = [np.asarray(call()).tobytes() for _ in range(40)]
        assert len(set(turns)) == 1
    assert gc.digitize(q, bins).tolist() == [1] and np.digitize(np.array([0.5]), [0, 1, np.nan]).tolist() == [1]


def test_single_results_made_before_a_loop_are_known():
    x = gc.asarray([1.0, 2.0, 3.5])
    total, count, flag = x.sum(), gc.asarray([3, 4]).sum(), (x > 3).any()
    gc.eval([total, count, flag])
    made = [2 * total, total * total + 1, -total, total > 6, abs(total), count % 4, count // 2, count**2, flag]
    assert [v.item() for v in made] == [13.0, 43.25, -6.5, True, 6.5, 3, 3, 49, True]
    assert [v.dtype.name for v in made] == ["float64"] * 3 + ["bool", "float64", "int64", "int64", "int64", "bool"]


@pytest.mark.parametrize("of", [np.arange(3.0), np.arange(3) > 1, np.arange(3) * 1j, np.arange(50_000.0)], ids=lambda a: f"{a.dtype} {a.size}")
def test_a_single_result_is_not_written_to(of):
    """NumPy's words, for values that are known and for those that are pending."""
    for take in (lambda x: x.sum(), lambda x: x[1], lambda x: x.max() if x.dtype.kind != "c" else x.mean()):
        ours, theirs = take(gc.asarray(of)), take(of)
        for key in ((), ..., 0):
            with pytest.raises(TypeError) as expected:
                theirs[key] = 5.0
            with pytest.raises(TypeError) as refused:
                ours[key] = 5.0
            assert str(refused.value) == str(expected.value)
        other = ours
        ours += 1
        assert (other == theirs) and ours == theirs + 1


def test_arrays_of_single_results_are_arrays():
    total = gc.asarray([1.0, 2.0]).sum()
    assert (total * 2).item() == 6.0
    made = gc.array(total)
    made += 1
    made[()] = made + 1
    assert made.item() == 5.0 and total.item() == 3.0 and (made * 2).item() == 10.0


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("single", ["bool_", "uint8", "int64", "float32", "float64", "complex128"])
def test_scalars_of_numpy_beside_arrays(dtype, single):
    value = getattr(np, single)(1.5 if single[0] in "fc" else 1)
    given = np.array([1, 0, 3]).astype(dtype)
    ours = gc.asarray(given)
    theirs = given.sum() if dtype != "bool" else given.any()
    total = ours.sum() if dtype != "bool" else ours.any()
    gc.eval([total])
    for _ in range(3):
        pairs = [(given * value, ours * value), (theirs + value, total + value), (theirs == value, total == value), (value * given, value * ours)]
        for a, b in [*pairs, (value + theirs, value + total), (value == given, value == ours), (np.maximum(value, theirs), np.maximum(value, total))]:
            assert b.dtype == a.dtype and np.array_equal(np.asarray(b), a)
    if np.can_cast(value.dtype, given.dtype, "same_kind"):
        for _ in range(3):
            given[1] = value
            ours[1] = value
        assert np.array_equal(np.asarray(ours), given)


# -- plain calls ---------------------------------------------------------------------------------------------------------------

PLAIN = [
    "np.zeros(3)", "np.zeros((2, 3), int)", "np.zeros(3, dtype='f4')", "np.zeros((2, 2), dtype=bool)", "np.ones(())", "np.ones((1, 0))", "np.empty(0)",
    "np.arange(5)", "np.arange(5.5)", "np.arange(2.0, 4.0, 0.5)", "np.arange(5, 1, -2)", "np.arange(3, 3.5)", "np.arange(0)", "np.arange(1, 4, dtype='f4')",
    "np.array([1.0, 2.0])", "np.array([True, 2])", "np.array([np.float64(0.5), 1])", "np.array((i[2], f[6]))", "np.array(f)", "np.array(f[::2])",
    "np.array(w)", "np.array(w.T)", "np.asarray(f[::2])", "np.asarray([])", "np.asarray([[1, 2], [3, 4]])", "np.array(i.sum())", "np.asarray(i.sum())",
    "np.concatenate([f, i])", "np.concatenate((w, w), 1)", "np.concatenate([w, w], -1)", "np.concatenate([[1], i])", "np.concatenate([[1.5], i, [2]])",
    "np.concatenate([[True], i > 2])", "np.concatenate([w, f], None)", "np.concatenate([[], i])", "i.astype('f4')", "i.astype('int8')", "f[6:].astype('f4')",
    "np.median(s)", "np.median(f)", "np.percentile(s, [25, 50, 75])", "np.percentile(s, 30)", "np.quantile(s, np.float32(0.3))", "np.percentile(f, [25, 50])",
    "np.quantile(i, [0, 1])", "np.quantile(s, [[0.5, 0.25]], method='nearest')", "np.fmax(s, s[::-1])", "np.fmin(f, f[::-1])", "np.fmax(i, 2)",
    "np.exp2(3.0)", "np.sqrt(np.float64(2.0))", "np.abs(-1.5)", "np.floor(2.5)", "np.isnan(0.5)", "np.searchsorted(s, np.float64(0.5))",
    "np.minimum.accumulate(i)", "np.array([f[6], np.float64(2)])", "np.append(f, 2)", "np.append(i, 2.5)", "np.append(i, f[3])", "np.append(m, i)",
    "np.append([1, 2], f)", "np.append(w, w)", "np.append(f[::2], 3)", "np.diag([1, 2])", "np.diag(f, -1)", "np.diag(w)", "np.add.accumulate(i)",
    "np.multiply.accumulate(w)", "np.logical_or.accumulate(m)", "np.trace(w)", "np.trace(w.T, 1)", "np.trace(w.astype('i1'))",
]  # fmt: skip


@pytest.mark.parametrize("call", PLAIN)
def test_plain_calls(call, turns):
    assert_same([eval(call, space(gc)) for _ in range(2)], [eval(call, space(np)) for _ in range(2)])


@pytest.mark.parametrize("call", ["np.zeros(-1)", "np.zeros((2, -1))", "np.zeros(2, 'nope')", "np.zeros()", "np.arange()",
                                  "np.array()", "np.concatenate([])", "np.concatenate([f, w])", "np.concatenate([f, f], 1)", "np.concatenate([[1], w])",
                                  "np.zeros(2, like=3, other=1)", "i.astype('nope')"])  # fmt: skip
def test_errors_of_plain_calls(call):
    def error(module):
        with pytest.raises(Exception) as caught:
            np.asarray(eval(call, space(module)))
        return caught.type

    assert issubclass(error(gc), error(np))


def test_plain_calls_while_a_function_is_recorded():
    f = gc.jit(lambda v: gc.concatenate([gc.zeros(2), v, gc.arange(3.0), gc.array([1.0]), gc.ones(1)]) * gc.exp(0.5))
    np.testing.assert_allclose(np.asarray(f(gc.asarray([4.0]))), np.array([0, 0, 4, 0, 1, 2, 1, 1]) * np.exp(0.5))


UPDATES = [
    "np.copyto(f, f[::-1])", "np.copyto(f, 2.0)", "np.copyto(w[0], w[1])", "np.fill_diagonal(q, 7)", "np.fill_diagonal(q[:, ::-1], 2.5)", "np.fill_diagonal(q[:2], True)",
    "np.fill_diagonal(i.reshape(4, 2), 9)", "f[5:].sort()", "i.sort()", "np.add.at(s, [0, 0, 2], 1.5)", "np.multiply.at(s, i % 3, 2.0)", "np.add.at(i, [1, 1], 2)",
    "np.putmask(f, f > 1, [0.5, -2.0])", "np.putmask(i, i > 2, i[::-1])", "np.putmask(w, w > 0, s[:2])", "np.place(f, f > 0, [1.5, 2])", "np.place(f[::2], f[::2] < 9, f[1:3] + 0)",
    "np.put(f, [1, -1], [3.0, 4])", "np.put(i, [0, 9], 5, mode='clip')", "np.put(i, [0, 1], 2.75)", "np.copyto(i, w[0, :1] + 1.75, casting='unsafe')", "np.copyto(f, w[0, 0], where=f > 1)", "np.copyto(f[1:], i[:-1])",
    "np.put_along_axis(q, np.array([[0], [2], [1]]), -1.0, 1)", "np.put_along_axis(f, i[:2] % 3, f[2:4], 0)", "np.put(f, [0, 1], f[::-1])",
    "np.maximum.at(s, [0, 1], 0.75)", "np.subtract.at(s, np.array([2, 2]), s[:2])",
]  # fmt: skip


@pytest.mark.parametrize("call", UPDATES)
def test_plain_updates(call, turns):
    def program(module):
        names = space(module) | {"q": module.arange(9.0).reshape(3, 3)}
        for _ in range(2):
            eval(call, names)
        return [names[name] for name in "fiswq"]

    assert_same(program(gc), program(np))


def test_parts_of_computed_arrays_are_printed_without_a_program():
    x = gc.arange(100.0)
    gc.eval(x)
    before = gc.cache_info()["launches"]
    assert (str(x[3:6]), repr(x[::50])) == ("[3. 4. 5.]", "array([ 0., 50.])")
    assert gc.cache_info()["launches"] == before
    assert str((x + 1)[:2]) == "[1. 2.]"


def test_choices_are_elements():
    rng = gc.random.default_rng(gc.random.Philox4x32(3))
    assert {int(rng.choice([-1, 1])) for _ in range(40)} == {-1, 1}
    assert rng.choice([0.5, 2.5]).dtype == gc.float64 and rng.choice(gc.arange(3), 4).shape == (4,)
    matrix = gc.arange(6).reshape(3, 2)
    row = rng.choice(matrix)
    row += 100
    assert row.shape == (2,) and int(matrix.max()) == 5
    first, second = (gc.random.default_rng(gc.random.Philox4x32(5)).choice(gc.arange(9), 6) for _ in range(2))
    np.testing.assert_array_equal(np.asarray(first), np.asarray(second))


# -- formulas in one loop ------------------------------------------------------------------------------------------------------


def same_bits(program):
    recorded, now = (in_turns(count, lambda: [np.asarray(v) for v in program()]) for count in (gc._graphc.NEVER, 0))
    for r, n in zip(recorded, now, strict=True):
        assert r.dtype == n.dtype and r.shape == n.shape and r.tobytes() == n.tobytes(), (r, n)
    return now


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_of_exact_formulas(dtype):
    rng = np.random.default_rng(11)
    span = 30 if dtype == "float32" else 290
    x = (rng.normal(size=400) * 10.0 ** rng.uniform(-span, span, 400)).astype(dtype)
    y = (rng.normal(size=400) * 10.0 ** rng.uniform(-span / 8, span / 8, 400)).astype(dtype)
    x[:6], y[:6] = [0.0, -0.0, 0.0, -0.0, 3.5, -3.5], [-0.0, 0.0, 2.0, 2.0, -0.0, 3.5]
    a, b, rows = gc.asarray(x[6:]), gc.asarray(y[6:]), gc.asarray(x[6:34].reshape(4, 7))
    now = same_bits(lambda: [gc.fmod(a, b), gc.fmod(a, 0.75), gc.fmod(2.5, b), gc.fmod(rows.T, rows[:, 2]), gc.spacing(a), gc.spacing(rows[::2])])
    for got, want in zip(now, [np.fmod(x[6:], y[6:]), np.fmod(x[6:], np.array(0.75, dtype)), np.fmod(np.array(2.5, dtype), y[6:])]):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(now[4], np.spacing(x[6:]))
    c, d = gc.asarray(x), gc.asarray(y)
    for got, want in zip(same_bits(lambda: [gc.fmax(c, d), gc.fmin(c, d), gc.fmax(c, 1.0), gc.fmin(c, d[3])]), [np.fmax(x, y), np.fmin(x, y)]):
        np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exact_formulas_of_infinities_and_nan(turns):
    x, y = np.array([np.inf, -np.inf, np.nan, 1.0, 0.0, 5e-324]), np.array([1.0, np.nan, 2.0, np.inf, 0.0, np.nan])
    a, b = gc.asarray(x), gc.asarray(y)
    for name in ("fmod", "fmax", "fmin"):
        np.testing.assert_array_equal(np.asarray(getattr(gc, name)(a, b)), getattr(np, name)(x, y))
    np.testing.assert_array_equal(np.abs(np.asarray(gc.spacing(a))), np.abs(np.spacing(x)))
    with gc.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        gc.eval(gc.fmod(gc.asarray([1.0, 2.0]), 0.0))


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_bits_of_parts(name, dtype):
    rng = np.random.default_rng(3)
    for n in (1, 7, 40, 700, 1500):
        x = rng.integers(-9, 9, n).astype(dtype) if dtype == "int64" else rng.normal(size=n).astype(dtype)
        a = gc.asarray(x)
        for starts in ([0], [n - 1, 0], sorted(rng.integers(0, n, 5).tolist()), rng.integers(0, n, 9).tolist()):
            (now,) = same_bits(lambda: [getattr(gc, name).reduceat(a, starts)])
            np.testing.assert_allclose(now, getattr(np, name).reduceat(x, starts), rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-3 if dtype == "float32" else 1e-10)
            (again,) = same_bits(lambda: [getattr(gc, name).reduceat(a, gc.asarray(starts))])
            assert again.tobytes() == now.tobytes()
        (whole,) = same_bits(lambda: [getattr(gc, name).reduce(a)])
        np.testing.assert_allclose(whole, getattr(np, name).reduce(x), rtol=1e-4 if dtype == "float32" else 1e-10, atol=1e-3)


def test_parts_that_begin_outside(turns):
    for starts in ([0, 3], [-1], [5]):
        with pytest.raises(IndexError):
            gc.eval(gc.add.reduceat(gc.arange(3.0), starts))


def test_bits_of_weighted_counts():
    rng = np.random.default_rng(6)
    places, weights = rng.integers(0, 9, 300), rng.normal(size=300)
    a, w = gc.asarray(places), gc.asarray(weights)
    now = same_bits(lambda: [gc.bincount(a, w), gc.bincount(a, w, 20), gc.bincount(a.astype("u1"), w[::-1]), gc.bincount(a[:0], w[:0]), gc.bincount(a, a)])
    for got, want in zip(now, [np.bincount(places, weights), np.bincount(places, weights, 20), np.bincount(places, weights[::-1]), np.bincount([], []), np.bincount(places, places)]):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("call", ["f[[0, 1]]", "f[[-1, 2, 2]]", "w[[2, 0]]", "w.T[[1]]", "i[[3]]", "m[[1, 0]]"])
def test_lists_of_integers_as_indices(turns, call):
    assert_same(eval(call, space(gc)), eval(call, space(np)))

    def written(module):
        names = space(module)
        exec(call + " = " + ("7", "names['f'][2:4].sum()", "True")[0 if call[0] in "iw" else 1 if call[0] == "f" else 2], names | {"names": names})
        return [names[name] for name in "fiwm"]

    assert_same(written(gc), written(np))


def test_indices_of_lists_that_are_outside(turns):
    x = gc.arange(3.0)
    with pytest.raises(IndexError):
        gc.eval(x[[0, 3]])
    with pytest.raises(IndexError):
        x[[3]] = 1.0
        gc.eval(x)


def test_places_in_matrices_run_no_programs_in_a_loop():
    values = np.random.default_rng(5).random((40, 4, 3, 2)) > 0.6
    rows = [gc.array(v) for v in values]
    gc.eval(*rows)
    found = []
    for turn, x in enumerate(rows):
        if turn == 20:
            before = gc._graphc.counters()["programs_run"]
        found.append((gc.nonzero(x), gc.argwhere(x), gc.where(x[0]), x[:, 0].T.nonzero()))
    assert gc._graphc.counters()["programs_run"] == before
    for v, (places, table, part, turned) in zip(values, found, strict=True):
        want = np.nonzero(v), np.argwhere(v), np.where(v[0]), v[:, 0].T.nonzero()
        for got, expected in zip((*places, table, *part, *turned), (*want[0], want[1], *want[2], *want[3]), strict=True):
            assert got.dtype == expected.dtype and got.tolist() == expected.tolist()
            got[...] = 0  # memory of its own
    assert [len(p[0]) for p, *_ in found] == [int(v.sum()) for v in values]


def test_calls_without_frames_and_those_beside_them(turns):
    """Calls that the extension takes itself, and those next to them that it leaves."""

    def program(xp):
        x, w, z = xp.asarray(floats(12)[5:]), xp.arange(6.0).reshape(2, 3), xp.asarray([1 + 2j, 3])
        results = [xp.concatenate(([0], [1, 2])), xp.concatenate((x, [1.0])), xp.concatenate([x, [1]], 0), xp.concatenate(([[1, 2]], xp.ones((1, 2)))),
                   xp.concatenate((x[:2].astype("f4"), (1, 2))), xp.concatenate([[1.5], (True, False)]), xp.concatenate(([1], [2.5]), axis=None)]  # fmt: skip
        n = xp.rint(x)  # no BLAS rounds sums of their products
        results += [xp.dot(n, n), n.dot(n), xp.dot(w, w.T), w.dot(n[:3]), xp.dot(n[:2], w), xp.dot(x[1:], 2), xp.dot(2.0, x[1]), xp.dot(z, z), xp.dot([1, 2], [3, 4])]
        results += [xp.round(x[0]), xp.round(x[1] / 3, 2), xp.round(2.5), xp.round(-0.4), xp.round(x, 1), xp.round(x[2], -1), xp.round(x[3], decimals=3), xp.round(3)]
        results += [xp.inner(n, n[::-1]), xp.inner(w, w), xp.vdot(n, n), xp.vdot(z, z), xp.vdot(w, w), xp.inner(z, z), xp.where(x), xp.where(w > 2), xp.where([0, 1])]
        for a, v in ((x, x[:3]), (x[:2], x), (x, x)):  # orders in which convolutions and correlations take operands
            for mode in ("full", "same", "valid"):
                results += [xp.convolve(xp.rint(a), xp.rint(v), mode), xp.correlate(xp.rint(a), xp.rint(v), mode=mode)]
        results += [xp.convolve([1, 2], xp.rint(x)), xp.correlate(xp.rint(x), xp.rint(x)), xp.full_like(x, 2), xp.full_like(w, 1.5, dtype="f4"), xp.full_like(w.T, x[0]), xp.full_like([1, 2], 7), xp.full_like(x, [1] * x.size)]
        results += [x.take([1, 0]), x.take([[2], [3]]), w.take([1], axis=1), (x > 0).nonzero(), w.repeat(2, axis=0), x.repeat(2), xp.rint(x), xp.deg2rad(x), xp.flip(x)]
        return results

    for _ in range(2):
        assert_same(program(gc), program(np))
    for call in (lambda xp: xp.dot(xp.ones(2), xp.ones(3)), lambda xp: xp.concatenate((xp.ones(2), [[1]])), lambda xp: xp.ones(3).take([5])):
        with pytest.raises((ValueError, IndexError)) as theirs:
            call(np)
        with pytest.raises(type(theirs.value)):
            gc.eval(call(gc))


def test_products_are_told_as_dot():
    x = gc.asarray([1e308, 1e308])
    with pytest.warns(RuntimeWarning, match="overflow encountered in dot"):
        float(gc.dot(x, x))


def test_interp(turns):
    """At numbers and at vectors, between rising points, equal ones among them, and beyond their ends."""
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 50):
        xp = np.sort(rng.integers(-8, 9, n) / 4.0)
        fp = rng.random(n)
        points, values = gc.asarray(xp), gc.asarray(fp)
        gc.eval(points, values)
        x = np.concatenate([rng.random(20) * 6 - 3, xp, [-0.0, 5.0, -5.0]])
        at = gc.asarray(x)
        for _ in range(3):
            got, want = np.asarray(gc.interp(at, points, values)), np.interp(x, xp, fp)
            assert got.dtype == want.dtype and np.array_equal(got, want)
            assert np.asarray(gc.interp(at.reshape(-1, 1), points, values)).shape == (x.size, 1)
            for v in (x[0], xp[0], 9.0, -9.0):
                one = gc.interp(float(v), points, values)
                assert gc.isscalar(one) and float(one) == np.interp(v, xp, fp)
        assert np.isnan(np.asarray(gc.interp(gc.array([np.nan]), points, values))).all() or n == 1
        assert np.asarray(gc.interp(at, points, values, left=7.0, right=8.0)).tolist() == np.interp(x, xp, fp, left=7.0, right=8.0).tolist()


def test_remainders_of_numbers(turns):
    x = np.array([1.5, -7.25, 5.0, 0.0])
    ours = gc.asarray(x)
    for _ in range(3):
        for name in ("fmod", "fmax", "fmin"):
            function, theirs = getattr(gc, name), getattr(np, name)
            assert_same([function(ours, 2.0), function(3.0, ours + 9), function(ours, 2)], [theirs(x, 2.0), theirs(3.0, x + 9), theirs(x, 2)])
            assert_same(function(ours.astype("f4"), 2.0), theirs(x.astype("f4"), 2.0))


def test_indices_of_grids():
    for shape in ((3, 4), (5,), (2, 0), (2, 3, 4), (40, 50), ()):
        for dtype in ("int64", "float32"):
            assert_same(gc.indices(shape, dtype), np.indices(shape, dtype))


def test_polynomials_and_powers(turns):
    rng = np.random.default_rng(2)
    for terms in (1, 2, 5, 70):
        p, x = rng.random(terms) - 0.5, np.concatenate([rng.random(9) * 2 - 1, [0.0, -0.0, 1.0]])
        ours, at = gc.asarray(p), gc.asarray(x)
        for _ in range(3):
            assert_same([gc.polyval(ours, at), gc.polyval(ours, at.reshape(3, 4))], [np.polyval(p, x), np.polyval(p, x.reshape(3, 4))])
            for rising in (False, True, 1, np.True_):
                assert_same(gc.vander(at, terms, rising), np.vander(x, terms, rising))
        with pytest.warns(RuntimeWarning, match="overflow"):
            np.asarray(gc.polyval(ours + 1, at * 1e300) if terms > 2 else gc.polyval(gc.array([1e200, 1.0]), at * 1e200))
        assert np.asarray(gc.polyval(ours, gc.array([np.nan, 1.0]))).tolist()[1:] == np.polyval(p, np.array([np.nan, 1.0])).tolist()[1:]
    assert_same([gc.vander(gc.arange(3.0)), gc.vander(gc.arange(3), 2), gc.vander(gc.arange(0.0), 2)], [np.vander(np.arange(3.0)), np.vander(np.arange(3), 2), np.vander(np.arange(0.0), 2)])


def test_arrays_of_bytes_are_read_only_and_do_not_change():
    made = gc.frombuffer(b"12345678", "u1")
    with pytest.raises(ValueError, match="read-only"):
        made[0] = 1
    assert made.tolist() == list(b"12345678") and gc.finfo(float) is gc.finfo(float)


@pytest.mark.parametrize("shapes", [((3, 4), (3, 1)), ((3, 4), (4,)), ((3, 4), ()), ((1, 4), (4,)), ((3, 4), (1, 1)), ((2, 3, 4), (3, 1)), ((0, 4), (4,))], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "c16"])
def test_masks_are_spread_over_outputs(shapes, dtype):
    """`np.divide(rows, sums, out=zeros, where=sums > 0)`, with the same errors told: none of elements that are left out."""
    whole, part = shapes

    def program(xp):
        x = xp.arange(math.prod(whole)).reshape(whole).astype(dtype) - 3
        y = (xp.arange(math.prod(part)).reshape(part) % 3).astype(dtype)
        mask = y.real != 0
        made = []
        for name in ("divide", "add", "multiply") if x.dtype.kind != "i" else ("floor_divide", "add", "multiply"):
            out = xp.full(whole, 7, dtype)
            assert getattr(xp, name)(x, y, out=out, where=mask) is out
            turned = xp.full(whole[::-1], 7, dtype).T
            getattr(xp, name)(x, y, out=turned, where=mask)
            part_of = xp.full((*whole[:-1], 2 * whole[-1]), 7, dtype)
            getattr(xp, name)(x, y, out=part_of[..., ::2], where=mask)
            getattr(xp, name)(x, x, out=x, where=mask)
            made += [out, turned, part_of, x.copy()]
        return made

    with np.errstate(all="raise"), gc.errstate(all="raise"):
        for got, want in zip(program(gc), program(np), strict=True):
            assert np.asarray(got).dtype == want.dtype
            np.testing.assert_allclose(np.asarray(got), want, rtol=0 if dtype == "i8" else 4 * np.finfo(dtype).eps)
    for xp in (np, gc):
        for mask in ((5, 3, 4), (2, 4), (3,)):
            with pytest.raises(ValueError):
                xp.add(xp.ones((3, 4)), 1, out=xp.ones((3, 4)), where=xp.ones(mask, bool))
        with pytest.raises(ValueError):
            xp.add(xp.ones((1, 4)), 1, out=xp.ones((1, 4)), where=xp.ones((3, 4), bool))


@pytest.mark.parametrize("loop", [False, True])
def test_numpys_arrays_among_the_arguments_of_exact_functions(loop):
    """NumPy's function is asked with them as they are; what it gives is ours, but for its own output."""
    text = np.array(["b", "a", "b", "c"])
    days = np.array(["2020-01-03", "2020-01-01", "2020-01-03", "2019-01-01"], "M8[D]")

    def program(xp):
        n, x = xp.array([3, 1, 2, 1]), xp.array([0.5, 1.5, 2.5, 4.0])
        theirs = np.array([1, 2, 3, 4])
        return [
            xp.lexsort((text, -n)), xp.lexsort((n, days)), xp.lexsort((theirs, n)), xp.interp(x, theirs, theirs * 2.0), xp.interp(np.array([1.5]), theirs, theirs),
            xp.interp(1.5, theirs, x), xp.isin(theirs, n), xp.isin(n, theirs[:2]), xp.gcd(n, theirs), xp.digitize(x, theirs), xp.take(theirs, n[:2]), xp.repeat(theirs, n),
            xp.union1d(theirs, n), xp.append(theirs, x), xp.searchsorted(theirs, n), xp.packbits(theirs > 2), xp.isin(text, ["a", "c"]), xp.trace(theirs.reshape(2, 2)),
        ]  # fmt: skip

    def check():
        for got, want in zip(program(gc), program(np), strict=True):
            assert isinstance(got, gc.Array), type(got)
            exact.assert_same(np.asarray(got), np.asarray(want))

    check()
    if loop:
        in_turns(1, lambda: [check() for _ in range(4)])
    for xp in (np, gc):
        out = np.zeros(2, int)
        assert xp.take(np.array([4, 5, 6]), [2, 1], out=out) is out and out.tolist() == [6, 5]
        theirs = np.arange(4)
        made = xp.take(theirs, [0, 1])
        theirs[:] = 9
        assert np.asarray(made).tolist() == [0, 1]
        with pytest.raises(TypeError):
            xp.repeat(theirs, np.array([0.5, 1, 1, 1]))
