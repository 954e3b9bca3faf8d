"""Copies, rows and masks of views in loops over small arrays, of every dtype: NumPy's values whether recorded or computed when they are met,
and computed when they are met where that is the point."""

import graphc as gc
import numpy as np
import pytest
from graphc import _graphc
from support.loops import KINDS, assert_same, in_turns, of_kind

pytestmark = pytest.mark.graphc_only

DTYPES = ("?", "u1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16")


def made(np_, dtype, seed=3):
    rng = np.random.default_rng(seed)

    def numbers(*shape):
        values = rng.integers(0, 3 if dtype == "?" else 100, shape) + (0.25 if dtype[0] in "fc" else 0)
        return np_.array((values + 1j * rng.integers(0, 9, shape) if dtype[0] == "c" else values).astype(dtype))

    integers = rng.integers(-5, 5, (2, 7))
    return {
        "np": np_, "x": numbers(12), "y": numbers(12), "A": numbers(5, 6), "B": numbers(5, 6), "C": numbers(2, 3, 4), "v": numbers(7), "one": numbers(1),
        "m": np_.array(rng.random(12) < 0.5), "M": np_.array(rng.random((5, 6)) < 0.5), "p": np_.array(integers[0]), "q": np_.array(integers[1]),
        "k": [1, -1, 1], "e": numbers(0), "E": numbers(0, 3), "n": numbers(1, 4), "none": np_.array(np.zeros(12, bool)),
    }  # fmt: skip


VALUES = [
    "x[::-2].copy()", "x[1::3].copy()", "A.T.copy()", "A[::-1, 1::2].copy()", "C.transpose(2, 0, 1).copy()", "np.broadcast_to(v, (3, 7)).copy()", "A[:, :0].copy()",
    "n.T.copy()", "A.T.ravel()", "np.ascontiguousarray(A.T)", "np.ascontiguousarray(x[::2])", "A.diagonal().copy()", "x[p]", "x[::-1][p]", "A[p % 5]", "A[p % 5, q]",
    "x[m]", "A[M]", "A.T[M.T]", "A[::-1][M]", "x[none]", "x[k]", "np.imag(A)", "A.imag", "x[:0].imag", "A[None].squeeze()", "n.squeeze()", "n.squeeze(0)",
    "A.squeeze()", "C.swapaxes(0, -1)", "C.swapaxes(1, 1)", "C.swapaxes(-1, 1)", "np.stack([x, y], 1)", "np.stack([x, y], -1)", "np.dstack([A, B])",
    "np.stack([A[:, 0], B[:, 1]], 1)", "np.column_stack([x, y])", "np.concatenate([n.T, n.T], 1)", "np.count_nonzero(x)", "np.count_nonzero(A.T)",
    "np.count_nonzero(e)", "x.repeat(1)", "x.repeat(2)", "x[::-1].repeat(3)", "x.repeat(5)",
]  # fmt: skip
WRITES = [
    "x[1:] = x[:-1]", "x[:-1] = x[1:]", "x[::-1] = x", "x[2:8] = x[8:2:-1]", "A[1:] = A[:-1]", "A[:, 1:] = A[:, :-1]", "A[1:, 1:] = A[:-1, :-1]", "A[:] = A[::-1]",
    "A[1:3] = A[0]", "x[p] = v", "x[p] = one", "x[::-1][p] = v", "x[k] = v[:3]", "x[p] = 1", "x[p[:0]] = 1", "A[p % 5] = B[0]", "A[p % 5] = 1", "A[p % 5, q] = v",
    "A[p % 5, q] = 1", "x[m] = 1", "x[m] = one", "x[m] = y[m]", "x[none] = y[none]", "A[M] = 1", "A[M] = B[M]", "A[:, 2] = 1", "np.putmask(x, m, y)",
    "np.putmask(x, m, v)", "np.place(x, m, y)", "np.place(x, m, v)", "np.copyto(x, y, where=m)", "np.copyto(A, B, where=M)", "np.copyto(x, one[0], where=m)",
    "np.copyto(A, B[0], where=M)", "np.copyto(x[1:], x[:-1], where=m[1:])", "np.copyto(x, x, where=m)", "x[p] = p",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype, kind):
    ours, theirs = made(gc, dtype), made(np, dtype)
    with of_kind(kind):
        for program in VALUES:
            for _ in range(2):
                assert_same(eval(program, ours), eval(program, theirs))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_writes(dtype, kind):
    for program in WRITES:
        ours, theirs = made(gc, dtype), made(np, dtype)
        with of_kind(kind):
            for _ in range(3):
                exec(program, ours)
                exec(program, theirs)
            assert_same([ours["x"], ours["A"]], [theirs["x"], theirs["A"]])


ROW_WRITES = ["x[p] = v", "x[p] = 1", "x[m] = 1", "A[p % 5] = 1", "A[p % 5, q] = 1"]


@pytest.mark.parametrize("program, dtype", [(w, t) for w in ROW_WRITES for t in ("f2", "c8", "c16")] + [("A[:, 2] = 1", "f2"), ("x[1:] = x[:-1]", "f2"), ("x[1:] = x[:-1]", "f8")])
def test_writes_leave_nothing_pending(program, dtype):
    def run():
        ours = made(gc, dtype)
        gc.eval(ours["x"], ours["A"])
        exec(program, ours)
        return _graphc.pending(ours["x"]) or _graphc.pending(ours["A"])

    assert not in_turns(0, run)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("program", ["x[::-2].copy()", "A.T.copy()", "C.transpose(2, 0, 1).copy()", "np.ascontiguousarray(A.T)", "x[p]", "x[::2].repeat(2)"])
def test_copies_are_computed_at_once(program, dtype):
    def run():
        ours = made(gc, dtype)
        gc.eval(*(a for a in ours.values() if isinstance(a, gc.Array)))
        return _graphc.pending(eval(program, ours))

    assert not in_turns(0, run)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [1 + 2j, 3.5, 2, True, np.complex64(1 - 1j), np.float32(0.1), -0.0])
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_at_places(dtype, value, kind):
    ours, theirs = made(gc, dtype), made(np, dtype)
    with of_kind(kind):
        for a in (ours, theirs):
            a["x"][a["p"]], a["y"][a["m"]], a["A"][a["M"]] = value, value, value
    assert_same([ours["x"], ours["y"], ours["A"]], [theirs["x"], theirs["y"], theirs["A"]])


def test_numbers_that_overflow_are_told_of():
    x, z = gc.zeros(4, "f2"), gc.zeros(4, "c8")
    with of_kind("at once"), pytest.warns(RuntimeWarning, match="overflow"):
        x[gc.array([1, 2])] = 1e6
        gc.eval(x)
    with of_kind("at once"), pytest.warns(RuntimeWarning, match="overflow"):
        z[gc.array([1, 2])] = 1e300
        gc.eval(z)


@pytest.mark.parametrize("kind", KINDS)
def test_operands_of_numpys(kind):
    a = np.arange(1.0, 9.0)
    x = gc.array(a)
    others = [a, a[::-1], a.astype("f4"), a.astype(">f8"), a.reshape(2, 4), a[:1], a > 3, np.frombuffer(b"\0" + a.tobytes(), "u1")[1:].view("f8"), np.asfortranarray(a)]
    with of_kind(kind):
        for other in others:
            for _ in range(2):
                for ours, theirs in ((lambda: x + other, lambda: a + other), (lambda: other * x, lambda: other * a), (lambda: x > other, lambda: a > other)):
                    try:
                        want = theirs()
                    except ValueError:
                        with pytest.raises(ValueError):
                            ours()
                    else:
                        assert_same(ours(), want)


def test_what_numpys_memory_holds_later_is_not_seen():
    a, x = np.arange(8.0), gc.arange(8.0)
    gc.eval(x)
    with of_kind("at once"):
        found = x + a
        a[:] = 0
        assert_same(found, np.arange(8.0) * 2)


COPIED = (
    "A.T", "C.T", "C.transpose(1, 0, 2)", "A[:, ::2]", "A[::-1].T", "x[::-3]", "n.T", "E.T", "A[None].T", "np.broadcast_to(v, (3, 7))",
    "np.broadcast_to(v, (3, 7)).T", "A", "C[:, 1:].T",
)  # fmt: skip
COPIES = ("np.array({})", "np.copy({})", "np.copy({}, order='K')", "np.zeros_like({})", "np.ones_like({})", "np.empty_like({}) * 0", "{}.copy('K')")
CASTS = ("?", "i2", "i8", "f4", "f8", "c16")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_lie_as_what_they_copy(dtype, kind):
    ours, theirs = made(gc, dtype), made(np, dtype)
    casts = [f"{{}}.astype('{t}')" for t in CASTS if dtype[0] != "c" or t == "c16"]
    with of_kind(kind):
        for program in (maker.format(source) for source in COPIED for maker in (*COPIES, *casts)):
            want = eval(program, theirs)
            for _ in range(3):
                got = eval(program, ours)
                assert got.strides == want.strides or want.size == 0 or 1 in want.shape, program
                if "empty" not in program:
                    assert_same(got, want)
            got[...] = 1
            assert (np.asarray(got) == 1).all()
