"""Plain calls and updates in loops over small arrays, which the extension takes itself: values, dtypes, aliases and errors are
NumPy's, whether an operation is recorded or computed when it is met. What an array that ended consisted of serves the next
one: nobody who still sees it may notice."""

import copy
import threading

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.loops import KINDS, assert_same, in_turns, of_kind

pytestmark = pytest.mark.graphc_only


@pytest.fixture(params=KINDS, autouse=True)
def turns(request):
    with of_kind(request.param):
        yield request.param



def space(np_):
    f = np.random.default_rng(4).normal(size=8).round(1) * 8
    f[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    i = np.array([3, 0, 7, 7, -2, 12, 3, 1])
    made = {"f": f, "g": f[5:], "i": i, "m": i > 2, "w": np.arange(12.0).reshape(3, 4) % 5, "c": np.arange(8.0), "e": np.zeros(0), "t": np.arange(24.0).reshape(2, 3, 4) % 7, "z": np.arange(6) * (1 - 2j)}
    return {"np": np_, **{name: np_.array(value) for name, value in made.items()}}


CALLS = [
    "np.sort(g)", "np.sort(f[1:])", "np.sort(i)", "np.sort(c[::-2])", "np.argsort(f)", "np.argsort(i)", "np.argsort(e)", "f.argsort()", "np.take(f, i % 3)",
    "np.take(f, np.array([[0, -1], [2, 1]]))", "f.take(i % 8)", "np.repeat(f, 3)", "np.repeat(i, 0)", "np.repeat(f[::2], 2)", "np.nonzero(m)",
    "m.nonzero()", "np.nonzero(m[:0])", "np.flatnonzero(m)", "np.where(m)", "np.where(w > 2)", "np.count_nonzero(m)", "np.count_nonzero(w > 2)",
    "np.where(m, f, 0.0)", "np.where(m, i, 3)", "np.where(f, f, f[::-1])", "np.where(m, f, i)", "np.where(m, 1, 2.5)", "np.where(w > 1, w, w[0])",
    "np.clip(f, -1.0, 4)", "np.clip(f, 4, 1.0)", "np.clip(g.astype('f4'), 0.25, 1)", "np.clip(i, 0, 5)", "f.clip(0.5, 2)", "np.cumsum(g)",
    "np.cumsum(i)", "np.cumprod(i)", "np.cumsum(w)", "np.cumsum(m)", "i.cumsum()", "np.swapaxes(w, 0, -1)", "np.swapaxes(w, 1, 1)",
    "np.atleast_1d(f)", "np.atleast_2d(f)", "np.atleast_2d(w)", "np.atleast_1d(f, w)", "np.ascontiguousarray(w.T)", "np.ascontiguousarray(w)",
    "np.copy(w)", "np.copy(w[:, 1])", "np.copy(w.T)", "np.size(w)", "np.size(w, 1)", "np.array_equal(w, w)", "np.array_equal(f, f)",
    "np.array_equal(i, i[::-1])", "np.array_equal(i, i[1:])", "np.diagonal(w)", "np.diag(w)", "np.diag(f)", "np.diag(f, 1)", "np.diag(w, -1)",
    "np.diag(m)", "np.trace(w)", "np.outer(g, i)", "np.outer(w, g)", "np.multiply.outer(i, g)", "np.less.outer(i, i)", "np.add.reduce(i)",
    "np.add.reduce(w)", "np.add.reduce(w, 1)", "np.add.reduce(m)", "np.maximum.reduce(w, -1)", "np.minimum.reduce(f)", "np.add.reduce(e)",
    "np.multiply.accumulate(i)", "np.maximum.accumulate(f[2:])", "np.add.accumulate(w)", "np.eye(3)", "np.identity(2)", "np.eye(0)", "np.eye(2, 3)",
    "np.eye(3, k=1)", "np.linspace(0, 1, 7)", "np.linspace(-1, 1, 2)", "np.linspace(3, -1.5, 9)", "np.linspace(1, 1, 4)", "np.linspace(0, 1, 1)",
    "np.linspace(0, 1, 0)", "np.linspace(0, 5, 3, dtype=int)", "np.linspace(0, 0.1, 11)", "np.arange(0.0, 1.0, 0.1)", "np.arange(3.0, -2, -0.5)",
    "np.arange(5)", "np.arange(7, 1, -2)", "np.arange(2, 9.5)", "np.arange(0.0)", "np.arange(5, 6.0)", "np.zeros_like(i)",
    "np.ones_like(m)", "np.ones_like(w.T)", "np.zeros((2, 3), int)", "np.ones(3, 'f4')", "np.round(f, 1)", "f.round()", "np.round(f * 100, -1)",
    "np.round(i, 2)", "(g * 3).astype(int)", "(-g[::-1]).astype(int)", "m.astype(float)", "i.view('u8')", "f.view('i8')", "f.view(np.int64)", "i.view(np.uint8)", "c.view(float)", "f.view(np.float64)", "w.view()", "w.view(complex)", "f.view(np.int64) >> 52", "w.T.view()", "w[:, ::2].view(np.int64)", "c[0].view(np.int64)", "m.view(np.int8)", "f.view('f8')", "i.view('i4')",
    "f.item(1)", "i.item(-1)", "w.item(3)", "w.item(1, 2)", "f ** 2", "g ** 0.5", "i ** 2", "w.T ** 2", "f ** 1", "np.einsum('ij,j->i', w, w[0])",
    "np.einsum('i,i->', i, i)", "np.einsum('ij,ij->', w, w)", "np.einsum('i,j->ij', i, i)", "np.einsum('ij,kj->ik', w, w)", "np.einsum('ii->i', w[:, :3])",
    "np.median(c)", "np.median(c[:5])", "np.median(f)", "np.median(w, axis=0)", "np.quantile(c, [0.25, 0.5])", "np.percentile(i, 30)", "np.fft.fftfreq(5, 0.5)",
    "np.fft.rfftfreq(8)", "f[i % 8]", "f[m]", "w[np.ix_([0, 2], [1, 3])]", "w[np.array([[0], [-1]]), np.array([1, 3, 1])]", "f[1:]", "w[1, 1:3]", "w[:, None, 2]", "w[::-1, ::2][1]",
    "np.diagonal(w, 1)", "np.diagonal(w, -1)", "np.diagonal(w, 9)", "np.diagonal(w.T)", "np.diagonal(w[:, ::-1], 1)", "np.diagonal(w[::2, 1:])", "np.diagonal(t, 0, 1, 2)",
    "np.diagonal(t, axis1=2, axis2=0)", "np.diagonal(t, offset=-1, axis1=-1, axis2=1)", "np.diagonal(t.T, 1)", "np.diagonal(t[::-1, :, ::2], 0, 2, 1)", "w.diagonal(1)", "np.diag(w, 1)",
    "np.diag(w.T, -2)", "np.trace(w, 1)", "np.trace(t)", "np.trace(t, axis1=1, axis2=2)", "np.trace(t, 1, 2, 0)", "np.trace(t > 5, axis1=1, axis2=2)", "np.trace(w, offset=-7)",
    "np.trace(w, dtype='f4')", "w.trace(-1)", "np.transpose(w)", "np.transpose(t, (2, 0, 1))", "np.transpose(t, (-1, 0, 1))", "t.transpose(1, 2, 0)", "t.transpose((0, 2, 1))", "t.transpose()",
    "t.transpose(None)", "f.transpose()", "np.squeeze(t[:1])", "np.squeeze(w)", "np.squeeze(t[:1, :, :1], axis=0)", "np.real(z)", "np.imag(z)", "np.real(f)", "np.imag(w)", "np.imag(z[0])", "z.conj()",
    "w.conj()", "np.conj(z)", "np.flip(f)", "np.flip(t)", "np.flip(t, 1)", "np.flip(t, -1)", "np.flip(t, (0, 2))", "np.flipud(w)", "np.fliplr(t)", "np.flipud(f)",
    "list(w.flat)", "list(w.T.flat)", "list(w[:, ::2].flat)", "list(t[::-1].flat)", "[next(w.flat), next(e.flat, -1.0)]", "np.einsum('ii', w[:, :3])", "np.einsum('iij->j', t[:, :2])",
    "np.einsum('ij->ji', w)", "np.einsum('ij->', i.reshape(2, 4))", "np.einsum('ij,ij->i', i.reshape(2, 4), i.reshape(2, 4))", "np.einsum('ijk,ik->ij', t, t[:, 0])", "np.einsum('i,i', i, f)",
    "np.vecdot(i, i)", "np.vecdot(z, z)", "np.vecdot(w, w)", "np.vecdot(i, f[::-1] * 0)", "np.sum(w, axis=0, out=c[:4])", "np.max(w, axis=1, out=c[:3])", "np.sum(i, where=m)", "np.sum(w, axis=1, where=w > 1)",
    "np.prod(w, axis=0, where=w[0] > 1)", "np.sum(m, where=m[::-1])", "np.take(c, i % 8, mode='raise')", "np.take(c, i % 8 - 8, mode='wrap')", "np.take(c, i % 8 - 8, mode='clip')", "np.take(c, i % 8, mode='clip')", "np.take(c, i * 3, mode='wrap')", "np.take(w, i % 3, mode='wrap', axis=0)",
    "np.take(w, i, 0, mode='clip')", "np.take(w, -i, mode='wrap')", "np.choose(-(i % 2), [f, c], mode='wrap')", "np.choose(-(i % 2), [f, c], mode='clip')", "np.bincount(i % 3, c)", "np.bincount(i % 3, i)",
    "np.take(f, i % 8, out=c)", "np.take(f, i, out=c, mode='clip')", "np.take(c, i, out=c, mode='wrap')",
    "np.take(w, [2, 0], axis=0, out=w[1:])", "np.compress(m, f, out=c[:5])", "np.choose(i % 2, [f, c], out=c)", "np.deg2rad(30)", "np.deg2rad(f)", "np.rad2deg(0.5)", "np.isnan(f)",
    "np.isinf(f)", "np.isfinite(f)", "np.signbit(f)", "np.sign(f)", "np.sign(f[0])", "np.copysign(c, f)", "np.reciprocal(f)", "np.isnan(f[4])", "np.signbit(f.astype('f4'))", "np.isinf(f[2])",
    "np.array([1, 2], dtype=float)", "np.array((1, 2.5), 'f4')", "np.array([1, 2], 'u1')", "np.array([True, 2], dtype=np.float64)", "np.array([c[1], 1], dtype=float)", "np.array([1.7, -2.5], dtype=int)",
    "np.array([[1], [2]], dtype=np.int32)", "np.array(i, dtype=int)", "np.array(c, float)", "np.array(i, 'f8')", "np.asarray([1, 2], dtype='f4')", "np.asarray([c[:2], c[2:4]], dtype=float)",
    "np.array([i[:2], c[2:4]], dtype=float)", "np.array([0.1, 1e300], 'f4')", "np.array([2**53 + 1, 2**62], dtype=float)", "np.array([16777217, 1], dtype='f4')", "np.array([0, 1], bool)",
    "np.array([1, 2], dtype=complex)", "np.array([1, 2], None)", "np.array([[1, 2], [3, 4]], dtype='i2')", "w[[0, -1], [1, 2]]", "w[[True, False, True]]", "w[[2, 0]]", "w[:, [True, False, True, True]]",
    "w[[[0], [1]], [1, 3]]", "w[[0, True]]", "w[[]]", "t[:, [0, 2], 1]", "t[[1], :, [0, 3]]", "f[[i[0], 2]]",
    "np.sort(w)", "np.sort(w, 0)", "np.sort(w, axis=1)", "np.argsort(w)", "np.argsort(w, 0)", "np.sort(t, 1)", "np.sort(t, 0)", "np.argsort(t, axis=-2)", "np.argsort(t, 0)", "np.sort(w.T)", "np.argsort(w.T, 0)",
    "np.sort(w, None)", "np.sort(z.reshape(2, 3), 0)", "np.sort(w.astype('f2'), 0)", "np.sort(f[2:].reshape(2, 3), 0)", "np.argsort(f[2:].reshape(2, 3), 0)", "np.sort(i.reshape(2, 4).astype('i1'), axis=0)",
    "np.sort(m.reshape(4, 2), 0)", "np.sort(w[:, ::2], 0)", "np.sort(w[:, :0], 0)", "np.hstack((c[:3], 1.0))", "np.hstack([i, 2])", "np.hstack((i, 2.5))", "np.hstack((c[0], c[1]))", "np.hstack((w, w[:, :1]))",
    "np.hstack((w.T, w.T))", "np.hstack((m, 1))", "np.hstack([c, w[0]])", "np.hstack((t, t))", "np.hstack((i.astype('i1'), 3))", "np.hstack(w)", "np.column_stack((c, i))", "np.column_stack((w, c[:3]))",
    "np.column_stack((c[0], 2))", "np.column_stack([w.T, w.T])", "np.column_stack((m, c))",
    "c.astype('i4')", "(c * -17.5).astype('i1')", "(c * 35).astype('u1')", "(c * 6e8).astype('u4')", "(c * -3e8).astype('i4')", "(c - 0.5).astype('u2')", "(c * 1e18).astype(int)", "c.astype('f4')",
    "(c * 1e38).astype('f4')", "i.astype('u1')", "(i * 1000).astype('i1')", "i.astype('f4')", "(i + 2**60).astype('f4')", "i.astype('u8').astype(float)", "c.astype('f4').astype('i8')", "c.astype('f4').astype(float)",
    "(c / 3).astype('f2')", "c.astype('u8')", "c.astype(bool)", "m.astype('i2')", "w[:, ::2].astype(int)", "z.astype('c8')", "np.clip(c, 1, 4.5, out=c)", "np.clip(f, -1, 1, out=c)",
    "np.clip(c[1:], 2, 3, out=c[:-1])", "np.clip(g, -1, 1, out=w[0, :3])", "np.clip(c.astype('f4'), 0, 1, out=c)", "np.clip(i, 0, 1.5, out=c)",
    "c[:1].item()", "c[3].item()", "w.sum().item()", "w[1:2, :1].item()", "w.item(2, 3)", "w.item(-1, 0)", "w.item((1, 2))", "t.item(1, 0, 2)", "z.item(1)", "z[:1].item()", "m[:1].item()", "i[2:3].item()",
    "f.astype('f2')[1:2].item()", "type(c[:1].item())", "np.asarray(0.5)", "np.asarray(3)", "np.array(True)", "np.array(c[2])", "np.asarray(i[1], dtype=float)", "np.array(2**40)", "np.array(2, dtype=float)",
    "np.asarray(2.5, dtype='f4')", "np.array(np.float64(0.5))", "np.array(2.5, dtype=int)", "np.asarray(c.sum())", "np.array(2**63)", "np.asarray(-0.0)",
    "np.vstack([c, f])", "np.vstack((i, i[::-1], i))", "np.vstack([c, i])", "np.vstack([w, w[0]])", "np.vstack([c, c[:3]][:1])", "np.vstack(w)", "np.vstack([c[1], 2.0])", "np.vstack([m])", "np.vstack([z, z])", "np.vstack([w[:, 1], w[:, 2]])",
    "np.compress(m, c)", "np.compress(m, i)", "np.compress(m[:3], c)", "np.compress(m[:3], w, 0)", "np.compress([True, False], c)", "np.compress(i % 2, c)", "np.compress(m[::-1], f[::-1])", "np.compress(~m | m, z[0] + c)",
    "c[2:6][::-1]", "w[...]", "c[:]", "w[0:0]", "w.T[1]", "w.reshape(2, 6)[1, 2:]", "np.piecewise(c, [c < 2, c >= 5], [-1, 1])",
    "np.choose(i % 2, [f, c])", "(i % 2).choose([f, c])", "(i % 2).choose(f, c)", "np.choose(m, (i, i[::-1]))", "np.choose(i[:3] % 2, [f[:1], c[:3]])", "np.choose(w.astype('i1') % 2, [w, w[0]])",
    "np.choose(i % 2, [f, i])", "np.choose(np.array([[0], [1]]), [f, c])", "np.choose(i % 2, [z[0], z[1]])", "np.choose(i % 2, [2, c])", "m.choose([m, ~m])",
    "np.ix_(i, i[:2])", "np.ix_([0, 2], [1, 3])", "np.ix_(m, [1])", "np.ix_(i[::2])", "np.ix_([], i)", "np.ix_((0, 1), i, i)", "np.ix_(f)", "np.ix_([i[0], 1])", "np.ix_(i.astype('u1'))",
    "np.bincount(i % 3, minlength=5)", "np.bincount(i % 3, minlength=0)", "np.bincount(i % 3, c, minlength=2)", "np.bincount(i[:0], minlength=3)", "np.bincount(i % 3, minlength=i[0])",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_of_calls(call):
    assert_same(eval(call, space(gc)), eval(call, space(np)))


@pytest.mark.parametrize("call", ["np.linalg.norm(g)", "np.linalg.norm(w)", "np.linalg.norm(w.T)", "np.linalg.norm(w[1:, ::2])", "np.linalg.norm(g.astype('f4'))"])
def test_norms(call):
    assert_same(eval(call, space(gc)), eval(call, space(np)), rtol=1e-6 if "f4" in call else 1e-15)


UPDATES = [
    "c[i % 8] = f", "c[i % 8] = 2.5", "c[m] = 0.0", "c[m] = f[m]", "c[i % 8] = i", "c[i % 8] = c", "c[i % 8] += 1.0", "c[m] += 1.0", "c[np.array([], int)] = 3.0",
    "c += f", "c += 1.5", "c *= c", "c -= c[::-1]", "c -= w.ravel()[:8]", "c **= 2", "c /= 2", "c //= 3", "i += 1", "i *= i", "m &= ~m", "c += i", "w += w[0]",
    "w *= w.T[:3, :1]", "c.fill(2.5)", "c.fill(3)", "i.fill(7)", "w[1].fill(0.5)", "c[:3] = [1, 2.0, 3]", "c[::3] = (7, 8.5, True)", "w[1] = (1, 2, 3, 4)",
    "w[1] = [5]", "w[:, 1] = [1.5, 2, 3]", "i[:2] = [4, 5]", "i[:2] = [4.5, 5]", "w[0] = w[2]", "w[:2] = w[1:]", "w[1:] = w[:2]", "w[:] = w[::-1]", "w[0] = w[:, 0][:1]",
    "c[1:] = c[:-1]", "c[:4] = c[4:]", "w[:, 1:] = w[:, :-1]", "np.copyto(c, f)", "np.copyto(c[:3], g)", "np.copyto(w, w[0])", "w[np.ix_([0, 2], [1, 3])] += 1.0",
    "w[np.array([[0], [1]]), np.array([1, 3])] = 7.0", "w[i % 3, i % 4] += c", "w[np.array([0, 0]), np.array([1, 1])] = np.array([3.0, 4.0])",
    "np.putmask(c, m, 2.5)", "np.putmask(i, m, -7)", "np.putmask(i, m, 2.5)", "np.putmask(w.T, w.T > 1, 3)", "np.putmask(m, m, 0)", "np.putmask(c, i, 9.0)",
    "np.putmask(w, (w > 2).ravel(), 5.0)", "np.place(c, m, 4)", "np.place(w[:, ::2], w[:, ::2] > 1, -1.0)", "np.place(i, m, True)", "np.place(c, m, f[:3])",
    "np.putmask(c, m, f)", "np.putmask(w, w > 1, w * 2)", "np.putmask(c, m, c[::-1])", "np.putmask(c, m, f[:3])", "np.putmask(c[2:6], m[2:6], f[:4])", "np.putmask(m, m, m[::-1])",
    "np.place(c, m, f)", "np.place(c, m, f[2:4])", "np.place(w, w > 1, c)", "np.place(c, m, c[::-1])", "np.place(c, c > 99, f)", "np.put(c, i % 8, f)", "np.put(c, i[:3] % 8 - 8, 2)", "np.put(w, i % 12, c)",
    "np.put(c, np.array([1, 1, 2]), f[:3])", "np.put(c, np.array([9, -11]), f[:2], mode='wrap')", "np.put(c, np.array([1, -2]), f[:2], mode='wrap')", "np.put(c, np.array([9, -2]), 1.5, mode='clip')",
]  # fmt: skip


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_updates_are_seen_by_all_names(update):
    """The array itself, another name of it and a view taken before; what was computed from it before stays."""
    states = []
    for np_ in (gc, np):
        names = space(np_)
        before = {name: names[name] for name in ("c", "i", "m", "w")}
        copies = [x + x for x in before.values() if x.dtype != bool]
        views = [x[::-1] for x in before.values()]
        exec(update, names)
        states.append((list(before.values()), [names[name] for name in before], views, copies))
    assert_same(*states)


def test_updates_of_memory_that_numpy_holds():
    x = gc.asarray([1.0, 2.0, 3.0])
    x = x + 0.0
    held = np.asarray(x)
    x += 1.0
    x *= x
    assert held.tolist() == [1.0, 2.0, 3.0] and x.tolist() == [4.0, 9.0, 16.0]


WRONG = [
    "c[i] = 1.0", "c[np.array([8])] = f[0]", "c[i[:3] % 8] = f[:2]", "c += w", "c += 1j", "i += 0.5", "c[:3] = [1.0, 2.0]", "np.swapaxes(w, 0, 2)",
    "np.repeat(c, -1)", "np.sort(f, axis=1)", "np.add.reduce(w, 2)", "np.einsum('i,i->', c, i[:3])", "c.view('i3')", "c.item(8)", "np.linspace(0, 1, -1)", "np.array([300], dtype='u1')", "np.array([1, -1], 'u2')", "np.array([1], dtype='nonsense')", "np.array([[1], [2, 3]], dtype=float)",
    "np.choose(i, [f, c])", "np.choose(i[:3] % 2, [f, c[:2]])", "(-(i % 2)).choose([f, c])", "np.choose(i.astype('u8') % 2, [f, c])", "np.ix_(w)", "np.ix_(i, w)", "np.bincount(i, minlength=9)", "np.bincount(i % 3, minlength=-1)",
    "w[[0.5]]", "w[[0, 1.0]]", "w[[9]]", "w[[0, 1], [0, 1, 2]]", "w[[[0], [1, 2]]]", "np.diagonal(c)", "np.trace(w, 0, 1, 1)", "np.hstack((c, w))", "np.column_stack((c, i[:3]))", "np.clip(c, 0, 1, out=c[:3])", "c.item()", "w.item(3, 0)", "w[:0].item()", "np.array(2**70, dtype=int)", "np.clip(c, 0, 1, out=i)", "np.sort(w, 2)", "np.argsort(w, axis=-3)", "np.transpose(w, (0, 0))", "w.transpose(0, 2)", "np.einsum('ii', w)",
    "np.array_equal(c)", "np.outer(c)", "np.round(c, 'x')", "c[m[:3]]", "w[np.array([0]), np.array([4])]", "w[np.array([0, 1]), np.array([0, 1, 2])]",
]  # fmt: skip


@pytest.mark.parametrize("statement", WRONG)
def test_errors_have_numpys_class(statement):
    with pytest.raises(Exception) as theirs:
        exec(statement, space(np))
    ours, builtin = space(gc), next(cls for cls in theirs.type.__mro__ if cls.__module__ == "builtins")
    with pytest.raises(builtin):
        exec(statement, ours)
    assert_same([ours[name] for name in "cfiw"], [space(np)[name] for name in "cfiw"])  # nothing was written


@pytest.mark.parametrize("statement", ["c += 1.0", "c[i % 8] = 2.0", "c[m] = 1.0", "c.fill(1.0)", "c[:2] = [1.0, 2.0]", "np.copyto(c, f)", "c[0] = 1.0", "np.putmask(c, m, 1.0)", "np.place(c, m, 1)", "np.putmask(c, m, f)", "np.place(c, m, f)", "np.put(c, i % 8, f)"])
def test_read_only_arrays_are_not_written(statement):
    names = space(gc)
    names["c"].flags.writeable = False
    with pytest.raises(ValueError):
        exec(statement, names)
    assert names["c"].tolist() == list(range(8))


@pytest.mark.parametrize("name", ["putmask", "place"])
def test_a_number_where_a_mask_holds_is_written_without_a_copy(name):
    x, quick = gc.arange(6.0), getattr(gc._graphc, f"plain_{name}")
    assert quick(x, x > 3, 0.5) is None and x.tolist() == [0, 1, 2, 3, 0.5, 0.5]
    for other in (x, x > 3, [1.0]), (x, x, 1.0), (x[:2], x > 3, 1.0), (x, x > 3, 1j), (x.astype(int), x > 3, 2.5):
        assert quick(*other) is NotImplemented
    assert x.tolist() == [0, 1, 2, 3, 0.5, 0.5]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 130, 1000, 300_000])
def test_values_where_a_mask_holds(dtype, size):
    """Seen through views and by nobody who copied; blocks of the mask and what is left of them; the array itself among the values."""
    rng = np.random.default_rng(size)
    a, v = ((rng.random(size) * 100).astype(dtype) for _ in range(2))
    for share in 0, 0.05, 0.5, 1:
        mask = rng.random(size) < share
        for name in "putmask", "place":
            for values in v, v[:3], v[:1]:
                for first in 0, size // 2:
                    expected, x = a.copy(), gc.asarray(a.copy())
                    view, copy = x[:], x.copy()
                    getattr(np, name)(expected[first:], mask[first:], values)
                    getattr(gc, name)(x[first:], gc.asarray(mask[first:]), gc.asarray(values))
                    assert_same([x, view, copy], [expected, expected, a])
            expected, x = a.copy(), gc.asarray(a.copy())
            getattr(np, name)(expected, mask, a[::-1])
            getattr(gc, name)(x, gc.asarray(mask), x[::-1])
            assert_same([x], [expected])


def test_sums_of_few_weights_are_computed_at_once():
    rng = np.random.default_rng(5)
    x, w = rng.integers(0, 300, 20_000), rng.standard_normal(20_000)
    ours = gc.asarray(x), gc.asarray(w)
    before = gc.cache_info()
    counts = gc.bincount(*ours), gc.bincount(ours[0], ours[1], 400)
    assert all(gc.cache_info()[k] == before[k] for k in ("launches", "nodes_recorded"))
    assert_same(list(counts), [np.bincount(x, w), np.bincount(x, w, 400)])
    for wrong in (ours[0], ours[1][1:]), (ours[0] - 1, ours[1]), (ours[0], gc.asarray(1.5)):
        with pytest.raises(ValueError):
            gc.bincount(*wrong)


@pytest.mark.parametrize("xp", [np, gc])
def test_views_show_the_memory_that_they_were_made_of(xp):
    x = xp.arange(4.0)
    views = x.view(), x.view(float), x.view(xp.int64), x[1:].view(), x[::2].view(xp.uint64)
    x += 1
    assert views[0].tolist() == views[1].tolist() == [1, 2, 3, 4] and views[2][0] == 1023 << 52
    views[0][1], views[2][2] = 7, 0
    views[3][2] = 9
    assert x.tolist() == [1, 7, 0, 9] and views[4].tolist() == [1023 << 52, 0] and not views[0] is x
    x.flags.writeable = False
    assert not x.view().flags.writeable and not x.view(xp.int64).flags.writeable


@pytest.mark.parametrize("call", ["plain_choose(m, [x, y])", "plain_bincount(i, minlength=8)", "plain_ix_(i, [1, 2])"])
def test_nothing_is_recorded_of_what_is_there(call, turns):
    names = {"m": gc.arange(6) > 3, "x": gc.arange(6.0) + 0, "y": gc.arange(6.0) * 10, "i": gc.arange(6) + 0}
    gc.eval(*names.values())
    before = gc.cache_info()
    made = eval("_graphc." + call, {**names, "_graphc": gc._graphc})
    assert all(gc.cache_info()[k] == before[k] for k in ("launches", "nodes_recorded"))
    assert made is not NotImplemented or (turns == "recorded" and "choose" in call)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
def test_distinct_elements_of_what_is_there_are_found_at_once(dtype, turns):
    numbers = np.random.default_rng(6).integers(-3000, 3000, 9000).astype(dtype)
    numbers[::50] = np.nan if dtype[0] == "f" else 0
    x = gc.asarray(numbers)
    gc.eval(x)
    before = gc.cache_info()["nodes_recorded"]
    found = gc.unique(x)
    assert turns == "recorded" or gc.cache_info()["nodes_recorded"] == before
    assert_same([found, gc.unique(x[::3])], [np.unique(numbers), np.unique(numbers[::3])])


def test_open_grids_show_their_vectors():
    x = gc.arange(4) + 0
    rows, columns = gc.ix_(x, x)
    x[1] = 7
    assert rows.tolist() == [[0], [7], [2], [3]] and columns.tolist() == [[0, 7, 2, 3]]


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "any", "std", "argmax"])
@pytest.mark.parametrize("axis", [None, 0])
def test_reductions_of_strided_arrays_that_numpy_has(name, axis):
    record = np.zeros(8, [("x", "f8"), ("y", "i4"), ("z", ">f8"), ("b", "?")])
    record["x"], record["y"], record["z"], record["b"] = np.arange(1, 9) / 4, np.arange(8) - 3, np.arange(8.0)[::-1] / 2, np.arange(8) % 3 == 0
    whole = np.arange(24.0).reshape(2, 3, 4)
    for x in (*(record[k] for k in "xyzb"), record["x"][::-2], whole[:, ::2, 1], whole.T[::2], np.broadcast_to(2.5, (3, 2))):
        assert_same(getattr(gc, name)(x, axis), getattr(np, name)(x, axis), rtol=1e-15 if name in ("sum", "prod", "mean", "std") else 0.0)


@pytest.mark.parametrize("name", ["putmask", "place"])
def test_values_where_a_mask_holds_are_written_at_once(name):
    x, y, quick = gc.arange(6.0) + 0, gc.arange(6.0) * 10, getattr(gc._graphc, f"plain_{name}")
    mask = x > 3
    gc.eval(x, y, mask)
    before = gc.cache_info()
    assert quick(x, mask, y) is None
    assert all(gc.cache_info()[k] == before[k] for k in ("launches", "nodes_recorded"))
    assert x.tolist() == [0, 1, 2, 3, *((40, 50) if name == "putmask" else (0, 10))]
    for other in (x, mask, y.astype("f4")), (x, mask, y[0]), (x[:2], mask, y), (x, mask, x), (x, mask, x[::-1]):
        assert quick(*other) is NotImplemented


def test_places_inside_are_taken_in_every_mode_as_they_are():
    # So many that no loop computes them at once.
    x = gc.asarray(np.arange(30_000.0))
    places, outside = gc.asarray(np.arange(-30_000, 30_000)), gc.asarray(np.arange(-30_000, 30_001))
    counts = []
    for given, mode in (places, "raise"), (places, "wrap"), (outside, "wrap"):
        before = gc.cache_info()["nodes_recorded"]
        taken = gc.take(x, given, mode=mode)
        counts.append(gc.cache_info()["nodes_recorded"] - before)
        assert_same([taken], [np.take(np.arange(30_000.0), np.asarray(given), mode=mode)])
    assert counts[0] == counts[1] < counts[2]


def test_diagonals_are_read_only_views():
    w = gc.asarray(np.arange(9.0).reshape(3, 3))
    for view in (gc.diagonal(w), gc.diag(w)):
        w[1, 1] += 10.0
        assert view[1] == w[1, 1]
        with pytest.raises(ValueError):
            view[0] = 1.0


@pytest.mark.filterwarnings("error")
def test_an_overflow_in_place_is_told():
    x = gc.asarray([1e308, 1.0]) * 1.0
    with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
        x *= 10.0
        x.eval()


# What arrays that ended leave behind.


def test_kept_results_stay():
    a, kept = gc.asarray(np.arange(6.0)), []
    for k in range(200):
        t = a * float(k)
        t = t + 1.0
        if k % 7 == 0:
            kept.append((k, t))
    for k, t in kept:
        assert t.tolist() == (np.arange(6.0) * k + 1.0).tolist()


@pytest.mark.parametrize("show", [np.asarray, memoryview, lambda x: x[1:], lambda x: x.T, lambda x: x.reshape(2, 3), lambda x: np.from_dlpack(x), iter])
def test_what_shows_an_array_that_ended_stays(show):
    a, shown = gc.asarray(np.arange(6.0)), []
    for k in range(40):
        shown.append(show(a + float(k)))
        (a - float(k)), (a * 2.0)
    for k, v in enumerate(shown):
        assert sorted(float(q) for q in np.asarray(list(v)).ravel())[-5:] == [q + k for q in range(1, 6)]


def test_an_array_begins_anew():
    for _ in range(3):
        t = gc.asarray(np.arange(5.0)) + 1.0
        t.eval()
        assert t.version == 0 and t.base is None and not t.readonly and t.flags.owndata
        t[0] = 7.0
        t[1:3] = 0.0
        t.flags.writeable = False
        del t


def test_arrays_that_end_in_other_threads():
    a, failures = gc.asarray(np.arange(16.0)), []
    handed = []

    def work(seed):
        own = gc.asarray(np.arange(16.0) + seed)
        for k in range(300):
            t = own + float(k)
            handed.append(t + a)
            if handed and k % 3:
                u = handed.pop()
                if (u[1] - u[0]) != 2.0:
                    failures.append((seed, k))
            if t[3] != 3.0 + seed + k:
                failures.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_arguments_of_jitted_functions():
    f = gc.jit(lambda x, y: (x + y, x * 2.0))
    a = gc.asarray(np.arange(4.0))
    for k in range(30):
        t = a + float(k)
        s, d = f(t, a)
        assert s.tolist() == [2 * q + k for q in range(4)] and d.tolist() == [2 * (q + k) for q in range(4)]


def test_legacy_states_are_numpys_and_jitted_functions_follow_seeds():
    state = gc.random.RandomState(11)
    assert state.rand(3).tolist() == np.random.RandomState(11).rand(3).tolist()
    state.seed(12)
    assert state.randint(0, 9, 5).tolist() == np.random.RandomState(12).randint(0, 9, 5).tolist()
    draw = gc.jit(lambda x: x + state.rand(3))
    x, drawn = gc.zeros(3), []
    for _ in range(2):
        state.seed(5)
        drawn.append((draw(x).tolist(), draw(x).tolist()))
    assert drawn[0] == drawn[1] and drawn[0][0] != drawn[0][1]
    assert drawn[0][0] == gc.jit(lambda x: x + gc.random.RandomState(5).rand(3))(x).tolist()


def test_draws_made_ahead_are_those_of_one_by_one(turns):
    def program(np_seed, calls):
        rng = gc.random.default_rng(gc.random.Philox4x32(np_seed))
        return [np.asarray(call(rng)).tolist() for call in calls]

    calls = [lambda r: r.random(), lambda r: r.normal(1.5, 2.0), lambda r: r.uniform(-1, 1, 4), lambda r: r.standard_normal(size=3), lambda r: r.exponential(2.0),
             lambda r: r.normal(0, 1, 5), lambda r: r.random(2), lambda r: r.exponential(0.5, 3)]  # fmt: skip
    for call in calls:  # the same kind again and again, which is drawn ahead
        many = program(3, [call] * 90)
        gc._graphc.set_loop_turns(gc._graphc.NEVER)
        once = program(3, [call] * 90)
        assert many == once
    mixed = [calls[(7 * k) % len(calls)] for k in range(200)]
    assert program(4, mixed) == program(4, mixed)


def test_bytes_of_arrays():
    names, theirs = space(gc), space(np)
    for x in ("f", "i", "m", "w", "w.T", "c[::2]", "c[1:]", "z", "e"):
        assert eval(x, names).tobytes() == eval(x, theirs).tobytes()
        assert eval(x, names).tobytes("F") == eval(x, theirs).tobytes("F")


def test_copies_by_the_module_copy():
    names = space(gc)
    number, w = names["c"].sum(), names["w"]
    assert copy.copy(number) == copy.deepcopy([number])[0] == 28.0
    for made in (copy.copy(w), copy.deepcopy(w)):
        w[0, 0] += 1
        assert made.tolist() != w.tolist() and not gc.shares_memory(made, w)
    turned = copy.deepcopy(w.T)
    assert turned.flags.f_contiguous and turned.tolist() == w.T.tolist()


@pytest.mark.parametrize("part", ["w", "w.T", "w[:, ::2]", "w[::-1, 1:]"])
def test_flat_goes_on_with_what_is_written(part):
    """Elements are read when they are asked for, and the place goes on with them."""
    found = []
    for np_ in (gc, np):
        x = eval(part, space(np_))
        it, seen = x.flat, []
        for v in it:
            seen.append((float(v), it.index, it.coords))
            if it.index == 2:
                x[...] = x * 2 + 1
                seen.append(float(next(it)))
        found.append([*seen, len(it), list(it)])
    assert found[0] == found[1]


def test_outputs_of_exact_functions_are_checked():
    names = space(gc)
    c, i = names["c"], names["i"]
    assert np.take is not gc.take and gc.take(names["f"], i % 8, out=c) is c
    with pytest.raises(ValueError):
        gc.take(names["f"], i % 8, out=c[:3])
    with pytest.raises(IndexError):
        gc.take(names["f"], i, out=c)
    locked = names["w"][0]
    locked.flags.writeable = False
    with pytest.raises(ValueError):
        gc.take(names["f"], [0, 1, 2, 3], out=locked)


def test_arrays_of_single_results_are_their_own():
    names = space(gc)
    number = names["c"][2]
    for x in (gc.array(number), gc.asarray(number), gc.asarray(0.5), gc.array(3)):
        other = x
        x[...] = 7
        assert x.shape == () and isinstance(x, gc.ndarray) and other.tolist() == 7 and number == 2.0 and names["c"][2] == 2.0


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int16", "bool"])
@pytest.mark.parametrize("size", [1, 5, 127, 300, 2500])
def test_distinct_parted_and_folded_vectors(dtype, size):
    x = (np.random.default_rng(size).random(size) * 60 - 9).astype(dtype)
    if dtype.startswith("f") and size > 5:
        x[2:6] = np.nan, np.nan, np.inf, -7.0
    for part in (slice(None), slice(None, None, -3)):
        host, ours = x[part], gc.asarray(x)[part]
        ordered, place = np.sort(host), host.size // 3
        for _ in range(3):
            np.testing.assert_array_equal(np.asarray(gc.unique(ours)), np.unique(host))
            for k in (place, -1):
                for parted in (np.asarray(gc.partition(ours, k)), host[np.asarray(gc.argpartition(ours, k))]):
                    assert parted.dtype == host.dtype
                    np.testing.assert_array_equal(np.sort(parted), ordered)
                    np.testing.assert_array_equal(np.sort(parted[: k % host.size]), ordered[: k % host.size])
                    np.testing.assert_array_equal(parted[k], ordered[k])
            if not dtype.startswith("f"):
                assert_same([getattr(gc, f).reduce(ours) for f in ("bitwise_xor", "bitwise_and", "bitwise_or")],
                            [getattr(np, f).reduce(host) for f in ("bitwise_xor", "bitwise_and", "bitwise_or")])  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "u1"])
def test_extremes_and_their_places_of_any_length(dtype):
    """Around the numbers of lanes that are looked at side by side."""
    rng = np.random.default_rng(5)
    for n in (1, 2, 15, 16, 17, 63, 64, 65, 255, 256, 257, 319, 1000):
        x = (rng.random(n) * 200 - 100 * (dtype != "u1")).astype(dtype)
        for place in {0, n // 2, n - 1}:
            for value in [0, *([-0.0, np.inf, -np.inf, np.nan] if x.dtype.kind == "f" else [np.iinfo(dtype).min, np.iinfo(dtype).max])]:
                z = x.copy()
                z[place] = value
                y = gc.asarray(z)
                for name in ("max", "min", "argmax", "argmin"):
                    exact.assert_same(np.asarray(getattr(y, name)()), np.asarray(getattr(z, name)()))
    assert np.signbit(gc.array([0.0] * 300 + [-0.0]).min()) and not np.signbit(gc.array([-0.0] * 300 + [0.0]).max())


def test_whole_numbers_are_rounded_to_copies():
    def program(xp):
        x = xp.arange(6).reshape(2, 3)
        made = [x.round(), xp.round(x, 2), xp.round(x.T), xp.round(x[:, ::-1]), x.astype("u1").round(decimals=1), xp.around(x[:0])]
        made[0][0] = 9
        return [*made, x]

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(got, want)


def test_whole_numbers_are_finite_and_elements_are_taken():
    def program(xp):
        made = []
        for dtype in "?bHiQ":
            x = xp.arange(6).astype(dtype).reshape(2, 3)
            made += [f(y) for f in (xp.isnan, xp.isinf, xp.isfinite) for y in (x, x[:, ::-1], x[:0])]
            made += [xp.isfinite(x.T), xp.isnan(x)]
            made[-1][0, 1] = True
            made += [xp.asarray(v) for v in (x[0].take(1), xp.take(x[0], -1), x[0].take(0, 0), xp.take(x, 4), (x[1] * 1j).take(2), x[:, 1].take(1))]
        assert xp.isfinite(xp.arange(6).reshape(2, 3).T).strides == (1, 3)
        return made

    for kind in KINDS:
        with of_kind(kind):
            for got, want in zip(program(gc), program(np), strict=True):
                np.testing.assert_array_equal(np.asarray(got), want, strict=True)
    for xp in (np, gc):
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
            int(xp.arange(3).take(3))


def test_vectors_are_sorted_along_their_axis():
    def program(xp):
        x = xp.array([3.0, 1.0, 2.0, 1.0])
        made = [f(x, axis=a) for f in (xp.sort, xp.argsort) for a in (0, -1)] + [xp.sort(x, 0), xp.argsort(x, -1, "stable"), xp.sort(x[::-1], axis=0)]
        for f in (xp.sort, xp.argsort):
            for axis in (1, -2):
                with pytest.raises(np.exceptions.AxisError):
                    f(x, axis=axis)
        return made

    for kind in KINDS:
        with of_kind(kind):
            for got, want in zip(program(gc), program(np), strict=True):
                exact.assert_same(got, want)


@pytest.mark.parametrize("dtype", ["b1", "i1", "u2", "i4", "u8", "f4", "f8"])
@pytest.mark.parametrize("size", [5000, 16001, 40_000, 130_000])
def test_single_results_of_longer_vectors_have_the_bits_of_kernels(dtype, size):
    a = (np.sin(np.arange(size) * 1.7) * 100).astype(dtype) if dtype != "b1" else np.arange(size) % 7 > 5
    a[size // 2 : size // 2 + 2] = a.max()

    def results(x):
        made = [x.max(), x.min(), x.argmax(), x.argmin(), x.sum(), x.mean(), x[::-1].max(), x[7:].argmax(), x[7:].sum()]
        return [np.asarray(v).tobytes() for v in made]

    assert in_turns(0, lambda: results(gc.asarray(a))) == in_turns(gc._graphc.NEVER, lambda: results(gc.asarray(a)))
    seen = in_turns(0, lambda: gc.asarray(a).argmax())
    assert int(seen) == a.argmax()


@pytest.mark.parametrize("size", [300, 5000, 16_384, 20_000])
@pytest.mark.parametrize("points", [1, 2, 24, 25, 900])
def test_interpolation_of_pending_numbers_is_numpys(points, size):
    """In order, out of order, at the points, outside of them, and NaN, in loops and recorded."""
    rng = np.random.default_rng(points)
    places = np.sort(rng.random(points) * 8)
    values = rng.random(points)
    numbers = {"rising": np.linspace(-1, 9, size), "falling": np.linspace(9, -1, size), "random": rng.random(size) * 10 - 1, "points": np.resize(np.repeat(places, 3), size)}
    numbers["holes"] = np.where(np.arange(size) % 11 == 3, np.nan, numbers["rising"])
    for a in numbers.values():
        want = np.interp(a * 0.5 + 1, places, values)
        seen = np.asarray(gc.interp(gc.asarray(a) * 0.5 + 1, gc.asarray(places), gc.asarray(values)))
        assert np.array_equal(seen, want, equal_nan=True)
