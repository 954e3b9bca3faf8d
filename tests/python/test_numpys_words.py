"""Statements under both imports: the same values, dtypes, warnings, or errors of the same class in the same words."""

import re
import warnings

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

SETUP = """
x = xp.arange(24.0).reshape(2, 3, 4)
i = xp.arange(6).reshape(2, 3)
m = xp.ma.array(x[0], mask=[[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
"""
#: Each leaves what is compared in `r`, or raises.
STATEMENTS = [
    # Methods of masked arrays write to arrays of either package.
    *(f"o = xp.zeros(4); r = [m.{name}(0, out=o) is o, o]" for name in ("sum", "min", "mean", "var")),
    *(f"o = xp.zeros((3, 4)); r = [m.{name}(0, out=o) is o, o]" for name in ("cumsum", "cumprod", "round")),
    *(f"o = xp.zeros(4, int); r = [m.{name}(0, out=o) is o, o]" for name in ("argmin", "argmax")),
    "o = xp.zeros((1, 4)); m.compress([1, 0, 0], axis=0, out=o); r = o",
    # The next float16 above, of either sign.
    "r = xp.spacing(xp.array([-1, -1024, 0, -0.0, -65504, 6e-8, -6e-8, 1e-5, 2048], 'e'))",
    # What copyto() makes of Python's numbers.
    *(f"o = xp.zeros(3, {t!r}); xp.copyto(o, {v}, casting={c!r}); r = o" for c in ("no", "equiv", "safe", "same_kind")
      for t in "?bLlfF" for v in ("1", "-1", "300", "True", "1.5", "1j", "2**70")),
    *(f"r = xp.einsum('i->i', xp.arange(2), out={o})" for o in ("'test'", "[1]", "bool")),
    # One axis of a flat iterator has keys of its own.
    *(f"r = x.flat[{k}]" for k in ("1.0", "2.5", "True", "False", "xp.True_", "''", "None", "()", "(1,)", "(1, 2)", "[]", "[1, 2]", "[True]", "25", "-25", "1j", "{}")),
    *(f"y = x[:, ::-1].T; y.flat[{k}] = -7; r = y" for k in ("1.0", "xp.True_", "''", "None", "()", "(1,)", "(1, 2)", "[]", "[1, 2]", "[True]", "25", "-25", "{}")),
    # Truth values have no decimals, and integers no output of integers for fewer than none.
    *(f"r = xp.round(xp.array([True]), {d})" for d in (-1, 0, 1)), "r = xp.array(True).round(1)",
    "r = xp.round(i, -1, out=xp.zeros((2, 3), int))", "r = xp.round(i, -1, out=xp.zeros((2, 3)))", "r = xp.round(i, 1, out=xp.zeros((2, 3), int))",
    "r = xp.round(xp.array([True]), out=xp.zeros(1, bool))",
    "r = xp.array([1, 2], 'b'); xp.power.at(r, [0], -1)", "r = xp.array([1, 2]) ** -1", "r = xp.power(xp.array([1, 2], 'B'), -1)",
    # einsum's output takes part in its dtype, but where NumPy multiplies matrices.
    *(f"r = xp.einsum('ij,jk->ik', i, i.T, out=xp.zeros((2, 2), {t!r}), optimize={o})" for t in "ildF" for o in (False, True)),
    *(f"r = xp.einsum('ij->j', i * 1.0, out=xp.zeros(3, {t!r}), optimize={o}, casting={c!r})" for t in "ldF" for o in (False, True) for c in ("safe", "same_kind", "unsafe")),
    # Transforms have the precision of their output.
    *(f"r = xp.fft.{f}(x[0].astype('f'), out=xp.zeros((3, {n}), 'D')).round(9) + 0" for f, n in (("fft", 4), ("rfft", 3))),
    *(f"r = xp.{f}([1, 2], copy={c!r})" for f in ("array", "asarray") for c in ("always", "never", "", True)),
    "r = xp.array(i, copy=xp.True_)", "r = xp.asarray(i, copy=1)",
    # The loop that a ufunc is asked for is NumPy's.
    *(f"r = xp.{f}(*[xp.array([1, 2, 3], {t!r})] * xp.{f}.nin, signature={s}, casting={c!r})" for f in ("add", "sqrt", "equal", "divide", "logical_and")
      for t in "dil" for c in ("same_kind", "unsafe") for s in ("'dd->d'", "'ii->i'", "'d->d'", "'dd->'", "''", "'l'", "('d', None, None)", "(None, None, 'f')", "(None,) * 3",
      "(int,) * 3", "1", "'ff->?'")),
    *(f"r = xp.add(i, {x}, dtype={t}, casting={c!r})" for x in ("1", "1.5", "i.astype('f')") for t in ("'float64'", "'int16'", "xp.float32", "None")
      for c in ("no", "equiv", "safe", "same_kind", "unsafe")),
    *(f"r = xp.add(xp.ones(2, bool), {v}, dtype={t})" for v in ("1", "True", "2.5", "-1") for t in ("bool", "'?'", "'u1'", "'i8'", "float")),
    "xp.add(1, 2, sig='ii->i', signature='ii->i')", "xp.add(1, 2, signature='ii->i', dtype=int)",
    *(f"xp.vecdot(x, x, {o})" for o in ("axis=0, axes=[0, 0]", "keepdims='true'", "axes=None")), "xp.matmul.at(x[0, 0], [0], x[0, 0])", "xp.matmul.outer(i, i)",
    *(f"r = xp.searchsorted(xp.arange(5), 0, sorter={s})" for s in ("[-1, 0, 1, 2, 3]", "[5, 0, 1, 2, 3]", "[0, 1, 2, 3, 4]")),
    # Of every slice without elements is told; of what is no array NumPy says axis.
    *(f"r = xp.isnan(xp.{f}({v}, axis=1))" for f in ("nanmax", "nanmin", "nanmedian") for v in ("[[xp.nan] * 2, [1, 2], [xp.nan] * 2]", "xp.array([[xp.nan] * 2, [1, 2], [xp.nan] * 2])")),
    *(f"r = xp.isnan(xp.{f}([xp.nan] * 2, initial=3))" for f in ("nanmax", "nanmin")), "r = xp.nanmax(xp.array([xp.nan] * 2), initial=3)",
    "r = xp.isnan(xp.nanmax(xp.float64(xp.nan)))", "r = xp.nanmax((xp.nan, 1), where=[True, True], initial=0)", "r = xp.isnan(xp.nanmax([1, xp.nan], where=[False, True], initial=0))",
    "r = xp.isnan(xp.nanpercentile([[xp.nan] * 2, [1, 2], [xp.nan] * 2], [20, 30], axis=1))",
    # Vectors of items in any order.
    *(f"r = xp.fromiter({v}, {t})" for v in ("[1, 2]", "(k for k in (0, 1))", "{1}", "[]", "i[0]", "[300]", "[1e300]", "['a']", "5") for t in ("'u1'", "'f4'", "dtype=float", "'f8', 1", "'f8', 5")),
    *(f"v = xp.array([3.0, 1, 2]); v.partition({k}); r = v" for k in ("1", "[0, 1]", "-1", "5", "0, 0")), "v = i[:, ::-1]; v.partition(0, axis=0); r = [v, i]",
    *(f"v = xp.arange(3.0); v.flags.writeable = False; v.{c}" for c in ("sort()", "partition(1)", "fill(2)")),
    "v = xp.arange(3.0); v.flags.writeable = False; w = v[1:]; w.flags.writeable = True",
    "v = xp.arange(3.0); w = v[1:]; w.flags.writeable = False; w.flags.writeable = True; w[0] = 7; r = v",
    *(f"v = xp.asfortranarray({v}); r = [v, v.strides, v.flags.owndata, v.flags.f_contiguous]" for v in ("x", "x[0]", "x[:, ::2]", "i.T", "i > 2", "[1, 2]")),
    *(f"v = xp.array({v}, order='F'); r = [v, v.strides, v.flags.owndata]" for v in ("x", "x[0]", "x[0].T", "x[:, ::2]", "i, 'f4'")),
    *(f"xp.block({v})" for v in ("[[1, [2]], [[3]]]", "[1, [2, [3]]]")), "xp.stack([])", "xp.diff(1)",
    "xp.fromstring('abc', dtype='i1')", "del x.flat[0]", "x.flat[xp.array([True] * 25)]",
    "A, B = xp.ones((2, 2)), xp.zeros((2, 2)); r = xp.bmat('A,B; B,A')", "r = xp.bmat('A,Q', {'A': i}, {})",
]  # fmt: skip


def found(xp, text):
    given = {"xp": xp}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            exec(SETUP + text, given)
        except Exception as error:
            kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
            return kind, re.sub(r"^\[\w+\] | \(at [^)]*\) \[GC\d+\]$", "", str(error))
        r = given["r"]
        values = [(np.asarray(v).dtype, np.shape(v), np.asarray(v).tolist()) for v in (r if isinstance(r, list) else [r])]
    return values, [(w.category, str(w.message)) for w in told]


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements_mean_the_same(text):
    assert found(gc, text) == found(np, text)


REFUSED = {
    "out": (lambda xp: xp.add(1, 2, ...), TypeError, r"out=\.\.\. is only allowed as a keyword argument"),
    "axes_of_vecdot": (lambda xp: xp.vecdot(xp.ones(3), xp.ones(3), axes=[-1, -1, -1]), np.exceptions.AxisError, "operand 2 has 0 core dimensions, but the axes item is a single integer"),
    "axes_of_matmul": (lambda xp: xp.matmul(xp.ones((2, 2)), xp.ones((2, 2)), axes=[0, (0, 1), (0, 1)]), np.exceptions.AxisError, "operand 0 has 2 core dimensions, but the axes item is a single integer"),
    "axes_in_tuples": (lambda xp: xp.matvec(xp.ones((2, 2)), xp.ones(2), axes=[(0,), -1, -1]), np.exceptions.AxisError, "operand 0 has 2 core dimensions, but 1 dimensions are specified"),
    "axes_of_text": (lambda xp: xp.matmul(xp.ones((2, 2)), xp.ones((2, 2)), axes=["a", (0, 1), (0, 1)]), TypeError, "axes item 0 should be a tuple"),
    "signature": (lambda xp: xp.add(3, 4, signature=b"ii-i"), ValueError, "type-string for add"),
    "work": (lambda xp: xp.shares_memory(xp.ones(3), xp.ones(3), max_work=10**100), OverflowError, "too large to convert"),
    "path": (lambda xp: xp.einsum("ab,bc,cd,de->ae", *[xp.ones((2, 2))] * 4, optimize=["einsum_path", (2, 3), (0, 1)]), RuntimeError, "Invalid einsum_path is specified"),
    "joined_columns": (lambda xp: xp.concatenate([xp.moveaxis(xp.ones((1, 2, 3)), -1, 0), xp.moveaxis(xp.ones((2, 2, 3)), -1, 0)], 0), ValueError, "along dimension 1, the array at index 0 has size 1 and the array at index 1 has size 2"),
    "fewest_axes": (lambda xp: xp.array([1], ndmin=2, ndmax=1), ValueError, r"ndmin must be <= ndmax \(1\)"),
    "negative_axes": (lambda xp: xp.array([1], ndmax=-1), ValueError, "ndmax must be in the range"),
    "many_axes": (lambda xp: xp.array([1], ndmax=70), ValueError, "ndmax must be in the range"),
    "number_not_copied": (lambda xp: xp.array(xp.ones(2).sum(), copy=False), ValueError, "Unable to avoid copy"),
    "windows": (lambda xp: xp.lib.stride_tricks.sliding_window_view(xp.ones((3, 3)), (1,)), ValueError, "must provide window_shape for all dimensions of `x`"),
    "asked": (lambda xp: xp.ones(2).__array_function__(np.reshape, (xp.ndarray,), [1], {}), TypeError, "args must be a tuple"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_in_numpys_words(name):
    call, kind, words = REFUSED[name]
    for xp in (np, gc):
        with pytest.raises(kind, match=words):
            call(xp)


@pytest.mark.parametrize("mode", ["full", "f", "economic", "e"])
def test_old_modes_of_qr_are_numpys(mode):
    made = []
    for xp in (np, gc):
        with pytest.warns(DeprecationWarning, match="option is deprecated"):
            made.append(xp.linalg.qr(xp.arange(6.0).reshape(3, 2), mode=mode))
    for got, want in zip(*([m] if mode[0] == "e" else m for m in made), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), atol=1e-14)


def test_objects_that_give_memory_are_asked_whose_it_is():
    class Interface:
        def __init__(self, data):
            self.data = data

        @property
        def __array_interface__(self):
            return self.data.__array_interface__

    class Gives(Interface):
        __array_interface__ = property()

        def __array__(self, dtype=None, copy=None):
            return self.data

    for xp in (np, gc):
        for kind in (Interface, Gives):
            x = xp.arange(5)
            assert xp.may_share_memory(kind(x[::2]), x[1::2]) and not xp.shares_memory(kind(x[::2]), x[1::2])
            assert xp.shares_memory(kind(x[1::3]), x[::2]) and not xp.shares_memory(kind(x), x + 0)
