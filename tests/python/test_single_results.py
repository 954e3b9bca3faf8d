"""Which results of no dimensions are values, as NumPy's scalars, and which are arrays: an update of a value leaves its other
names alone, and nothing can be seen through it."""

import collections.abc
import copy
import pickle

import graphc as gc
import numpy as np
import pytest

SOURCES = {
    "asarray": lambda xp, t: xp.asarray(np.array(3).astype(t)),
    "full": lambda xp, t: xp.full((), 3, dtype=t),
    "view": lambda xp, t: xp.asarray(np.arange(4).astype(t))[..., 2],
    "reshaped": lambda xp, t: xp.asarray(np.array([3]).astype(t)).reshape(()),
    "element": lambda xp, t: xp.asarray(np.arange(4).astype(t))[2],
    "sum": lambda xp, t: xp.asarray(np.arange(3).astype(t)).sum(),
    "max": lambda xp, t: xp.asarray(np.arange(4).astype(t)).max(),
    "added": lambda xp, t: xp.full((), 2, dtype=t) + xp.full((), 1, dtype=t),
    "computed": lambda xp, t: _seen(xp.full((), 3, dtype=t) * xp.full((), 1, dtype=t)),
    "updated": lambda xp, t: _updated(xp.full((), 3, dtype=t)),
    "out": lambda xp, t: _seen(xp.add(xp.full((), 1, dtype=t), xp.full((), 2, dtype=t), out=xp.zeros((), dtype=t))),
}
RESULTS = {
    "+x": lambda xp, x: +x, "-x": lambda xp, x: -x, "abs": lambda xp, x: abs(x), "positive": lambda xp, x: xp.positive(x), "real": lambda xp, x: x.real,
    "xp.real": lambda xp, x: xp.real(x), "conj": lambda xp, x: x.conj(), "xp.conj": lambda xp, x: xp.conj(x), "x[()]": lambda xp, x: x[()], "x[...]": lambda xp, x: x[...],
    "T": lambda xp, x: x.T, "reshape": lambda xp, x: x.reshape(()), "squeeze": lambda xp, x: xp.squeeze(x), "transpose": lambda xp, x: xp.transpose(x), "view": lambda xp, x: x.view(),
    "copy": lambda xp, x: x.copy(), "xp.copy": lambda xp, x: xp.copy(x), "copy.copy": lambda xp, x: copy.copy(x), "deepcopy": lambda xp, x: copy.deepcopy(x),
    "pickle": lambda xp, x: pickle.loads(pickle.dumps(x)), "astype": lambda xp, x: x.astype(x.dtype), "astype float32": lambda xp, x: x.astype("float32"),
    "astype without copy": lambda xp, x: x.astype(x.dtype, copy=False), "array": lambda xp, x: xp.array(x), "asarray": lambda xp, x: xp.asarray(x),
    "sum": lambda xp, x: x.sum(), "sum keepdims": lambda xp, x: x.sum(keepdims=True), "sum over no axes": lambda xp, x: x.sum(axis=()), "max": lambda xp, x: x.max(),
    "argmax": lambda xp, x: x.argmax(), "mean": lambda xp, x: xp.mean(x), "std": lambda xp, x: x.std(), "median": lambda xp, x: xp.median(x),
    "median keepdims": lambda xp, x: xp.median(x, keepdims=True), "median keepdims real": lambda xp, x: xp.median(x, keepdims=True).real,
    "nanmax": lambda xp, x: xp.nanmax(x), "nanmedian": lambda xp, x: xp.nanmedian(x), "clip": lambda xp, x: x.clip(0, 1), "round": lambda xp, x: x.round(),
    "where": lambda xp, x: xp.where(x == 3, x, x), "select": lambda xp, x: xp.select([x == 3], [x]), "piecewise": lambda xp, x: xp.piecewise(x, [x == 3], [1]),
    "x == x": lambda xp, x: x == x, "x + 1": lambda xp, x: x + 1, "x ** 2": lambda xp, x: x**2, "add out": lambda xp, x: xp.add(x, x, out=xp.zeros((), dtype=x.dtype)),
    "full_like": lambda xp, x: xp.full_like(x, 3), "zeros_like": lambda xp, x: xp.zeros_like(x), "dot": lambda xp, x: xp.dot(x, x), "einsum": lambda xp, x: xp.einsum(",->", x, x),
    "take": lambda xp, x: xp.take(x.reshape(1), 0), "nan_to_num": lambda xp, x: xp.nan_to_num(x), "ravel and ...": lambda xp, x: x.ravel()[..., 0], "flat": lambda xp, x: x.flat[0],
    "stack": lambda xp, x: xp.stack([x])[0], "expand_dims": lambda xp, x: xp.expand_dims(x, 0)[0], "fmax": lambda xp, x: xp.fmax(x, x), "unstack": lambda xp, x: xp.unstack(x.reshape(1))[0],
    "det": lambda xp, x: xp.linalg.det(x.reshape(1, 1)), "trace": lambda xp, x: xp.trace(x.reshape(1, 1)), "index of an array": lambda xp, x: x.reshape(1)[xp.asarray(0)],
    "index of an array and ...": lambda xp, x: x.reshape(1)[xp.asarray(0), ...], "two indices": lambda xp, x: x.reshape(1, 1)[0, 0], "indices and ...": lambda xp, x: x.reshape(1, 1)[0, 0, ...],
    "searchsorted": lambda xp, x: xp.searchsorted([0, 1, 2], x.real), "interp": lambda xp, x: xp.interp(x.real, [0, 1], [0, 1]), "i0": lambda xp, x: xp.i0(x.real),
    "cross": lambda xp, x: xp.cross(xp.stack([x, x]), xp.stack([x, x])), "heaviside": lambda xp, x: xp.heaviside(x.real, 1), "x.reshape(1).mean(0)": lambda xp, x: x.reshape(1).mean(0),
}  # fmt: skip


#: Of vectors.
OF_VECTORS = {
    "dot": lambda xp, x: xp.dot(x, x), "inner": lambda xp, x: xp.inner(x, x), "vdot": lambda xp, x: xp.vdot(x, x), "tensordot": lambda xp, x: xp.tensordot(x, x, 1),
    "einsum": lambda xp, x: xp.einsum("i,i", x, x), "einsum ...": lambda xp, x: xp.einsum("...i,...i->...", x, x), "einsum i->": lambda xp, x: xp.einsum("i->", x),
    "norm": lambda xp, x: xp.linalg.norm(x), "slogdet": lambda xp, x: xp.linalg.slogdet(xp.outer(x, x) + xp.eye(4))[1], "multi_dot": lambda xp, x: xp.linalg.multi_dot([x, xp.outer(x, x), x]),
    "trapezoid": lambda xp, x: xp.trapezoid(x), "average": lambda xp, x: xp.average(x, weights=x), "percentile": lambda xp, x: xp.percentile(x, 30), "cov": lambda xp, x: xp.cov(x),
    "subtract.reduce": lambda xp, x: xp.subtract.reduce(x), "logaddexp.reduce": lambda xp, x: xp.logaddexp.reduce(x), "nanpercentile": lambda xp, x: xp.nanpercentile(x, 30),
    "polyval": lambda xp, x: xp.polyval(x, 2.0), "ravel_multi_index": lambda xp, x: xp.ravel_multi_index((1, 1), (3, 3)), "mean of masked": lambda xp, x: x[x > 1].mean(),
}  # fmt: skip


def _seen(x):
    complex(x)
    return x


def _updated(x):
    x[...] = 2
    return x


def _kind(xp, make):
    """What updates of the result's name, and of a view of it, do to the result."""
    result = other = make()
    before = complex(result)
    other += 1
    updates = complex(result) != before
    result = make()
    before = complex(result)
    result.reshape(1)[0] = 9 if before != 9 else 8
    return result.dtype, updates, complex(result) != before


@pytest.mark.parametrize("source, dtype", [(source, ("float64", "int64", "complex128")[i % 3]) for i, source in enumerate(SOURCES)])
def test_values_and_arrays(source, dtype):
    for name, result in RESULTS.items():
        found = []
        for xp in (np, gc):
            try:
                found.append(_kind(xp, lambda: result(xp, SOURCES[source](xp, dtype))))
            except TypeError:  # of dtypes that a function does not take
                found.append("TypeError")
        assert found[0] == found[1], name


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_results_of_vectors(dtype):
    for name, result in OF_VECTORS.items():
        want, got = (_kind(xp, lambda: result(xp, xp.asarray(np.arange(1, 5).astype(dtype)))) for xp in (np, gc))
        assert want == got, name


def test_numbers_of_bool():
    for xp in (np, gc):
        one = xp.asarray(np.array(True))
        assert (one**2).dtype == "int8" and (one[()] ** 2).dtype == (one[()] * 2).dtype == "int64"
        assert one.conj() is one and xp.conj(one).dtype == "int8" and xp.angle(one).dtype == "float64"
        with pytest.raises(TypeError):
            +one
        with pytest.raises(TypeError):
            round(one)


def test_a_row_named_by_a_computed_integer_is_a_view():
    for xp in (np, gc):
        a = xp.asarray(np.arange(12.0).reshape(3, 4)).copy()
        row = a[(a[:, 0] * 2).argmax()]
        row[:] = -1
        column = a[:, (a[0] * 2).argmax() - 1]
        column += 100
        assert a[2].tolist() == [-1, -1, 99, -1] and a[0].tolist() == [0, 1, 102, 3]
        assert a[0, (a[0] * 2).argmax()] == 102


def test_a_row_named_by_an_array_is_a_copy():
    for xp in (np, gc):
        a = xp.zeros((2, 3))
        for key in (xp.asarray(1), (xp.asarray(1), ...), (slice(None), xp.asarray(1) * 1), np.array(1)):
            part = a[key]
            if not isinstance(key, tuple) or key[1] is Ellipsis:
                part += 1
        assert not a.any()


def test_a_traced_integer_names_no_view():
    @gc.jit
    def f(a):
        row = a[a[:, 0].argmax()]
        row[0] = 1.0
        return row

    with pytest.raises(ValueError, match="read-only"):
        f(gc.ones((3, 4)))


def test_a_single_result_is_no_sequence_to_who_asks():
    x = gc.arange(3.0)
    for value in (x.sum(), x[1], gc.sqrt(x[2])):
        assert not any(hasattr(value, name) for name in ("__len__", "__iter__", "__setitem__"))
        assert not isinstance(value, collections.abc.Collection)
        assert value == pytest.approx(value) and pytest.approx(float(value)) == value and value[()] == value
        with pytest.raises(TypeError, match="has no len"):
            len(value)
        with pytest.raises(TypeError, match="not iterable"):
            iter(value)
    assert all(hasattr(x, name) for name in ("__len__", "__iter__", "__getitem__", "__setitem__"))
    assert x.__len__() == 3 and x.__getitem__(1) == 1 and list(x.__iter__()) == [0, 1, 2] and isinstance(x, collections.abc.Iterable)
    x.__setitem__(0, 5)
    assert gc.ndarray.__len__(x) == 3 and gc.ndarray.__getitem__(x, 2) == 2
    assert 5 in x and 7 not in x and 2.0 in gc.asarray(2.0) and x == pytest.approx([5, 1, 2])
    with pytest.raises(ValueError, match="broadcast"):
        gc.ones(2) in gc.ones((3, 3))


@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_classes_of_single_results_make_numbers(xp):
    x = xp.array([1.5, 2.5])
    s = x[0]
    for made, want in ((type(s)(2.5), 2.5), (type(s)(s * 2), 3.0), (type(s)(3.25) + s, 4.75)):
        assert isinstance(made, float) and made.ndim == 0 and made == want and made.dtype == "float64"
    z = xp.array([1j])[0]
    assert type(z)(z * 2) == 2j


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u8"])
def test_powers_of_integers(dtype):
    """They wrap, and are computed where they are met, as other operations on numbers."""

    def powers(xp, seen):
        made = []
        for base in (0, 1, 2, 3, 7, 100, -1, -2, -3):
            for exponent in (0, 1, 2, 3, 5, 8, 31, 63, 64, 100):
                if base < 0 and dtype[0] == "u":
                    continue
                x, n = xp.asarray(np.array([base, exponent]).astype(dtype))
                made += [x**n, base**n, x**exponent, pow(x, n), True**n]
        seen(made)
        return [(str(m.dtype), int(m)) for m in made]

    def computed(made):
        assert not any(map(gc._graphc.pending, made))

    assert powers(gc, computed) == powers(np, lambda made: None)
    n = gc.asarray(np.array([-1, 2]).astype("i8"))[0]
    for raised in (lambda: 2**n, lambda: (n + 3) ** n):
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            raised()
