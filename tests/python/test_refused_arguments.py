"""Arguments that NumPy refuses or takes though they are seldom: the same class of error, the arrays as they were, or the same answer."""

import warnings

import graphc as gc
import numpy as np
import pytest

#: Of names in `arrays`; `xp` is the package.
REFUSED = [
    "xp.cross(xp.asarray([1.0, 2, 3]), xp.asarray([4.0, 5, 6]), axisc=2)", "xp.cross([1, 2, 3], [4, 5, 6], axisc=-2)", "xp.cross([[1, 2, 3]], [4, 5, 6], axisc=2)",
    # An axis is an integer, or a tuple of them where several may be meant; it is no truth value.
    "xp.sum(a, axis=True)", "a.max(axis=True)", "a.sum(axis=[0])", "xp.mean(a, axis=xp.array([0]))", "xp.argmax(a, axis=(0,))",
    "xp.add.reduce(a, axis=True)", "xp.add.reduce(a, axis=[0])", "xp.add.accumulate(a, axis=(0, 1))",
    "xp.transpose(a, (True, False))", "a.reshape(True, 6)", "xp.zeros((True, 2))", "xp.zeros(True)", "xp.linspace(a, 1, axis=99)", "xp.expand_dims(a, None)",
    # Masks are bools.
    "xp.sum(v, where=v)", "xp.add(v, v, where=i)", "xp.mean(v, where=i)", "xp.copyto(v, 1, where=i)", "xp.max(v, where=i, initial=0)",
    # Bounds come in pairs, or by their names.
    "xp.clip(v, 2)", "xp.clip(v, a_max=2)", "xp.clip(v, 1, 2, min=1)",
    # Outputs are arrays of the result's shape, to which it may be converted.
    "xp.take(i, [0], out=xp.zeros(1))", "xp.compress([1, 0, 1], v, out=xp.zeros(2, complex))",
    "xp.take(v, [0], out=[0.0])", "xp.median(v, out=xp.zeros(3))",
    "xp.percentile(v, 50, out=xp.zeros((), int))",
    "xp.correlate(v, 2)",
    # What is no dtype, and copies that were not to be made.
    "xp.can_cast('i4', None)", "xp.can_cast(None, 'i4')", "xp.array(v, 'f4', copy=False)", "xp.array(i, float, copy=False)",
    # Places of an axis are integers of one axis, which those before them move.
    "xp.insert(v, [[0, 1], [1, 0]], 9)", "xp.insert(v, xp.array([[1]]), 9)", "xp.insert(a, xp.array([[0, 1]]), 9, axis=1)", "xp.insert(v, xp.array([b]), 9)",
    "xp.insert(v, xp.array(True), 9)", "xp.insert(v, xp.array([0, 1], 'u8'), 9)", "xp.insert(a, xp.array([0, 1], 'u1'), 9, axis=0)", "xp.insert(v, 1.0, 9)",
    "xp.insert(v, xp.array([1.0]), 9)",
    # Places are converted by the rule 'safe' and have one axis; counts, too.
    "xp.put(v, xp.array([0, 1], 'u8'), 9)", "v.put(xp.array([0, 1], 'u8'), 9)", "xp.add.reduceat(v, xp.array([0, 1], 'u8'))", "xp.add.reduceat(v, xp.array([]))",
    "xp.add.reduceat(v, [[0, 1], [1, 0]])", "xp.add.reduceat(a, 1, axis=1)", "xp.add.reduceat(v, xp.array([0.0, 1.0]))",
    "xp.choose(1.5, [1, 2, 3])", "xp.choose(v[1], [1, 2, 3])", "xp.repeat(v, xp.array([[0, 1, 2]]))", "xp.repeat(v, xp.array([0, 1, 2], 'u8'))", "xp.cov(a, ddof=1.5)",
    # What an update in place computes is of a kind that the array keeps, which is asked before its shape is; one size of a shape may be open.
    *(f"xp.array([0, 2, 1], '{kind}').__i{name}__({other})" for kind in ("i8", "u1", "?") for name in ("add", "mul", "floordiv", "mod", "pow")
      for other in ("xp.ones(2)", "xp.ones((2, 3))", "[1.5, 2.0]", "xp.ones(2, complex)", "xp.ones((2, 3), int)") if (kind, name) != ("?", "pow")),
    "i.__itruediv__(xp.ones(2))", "i.__itruediv__(xp.ones((2, 3), int))", "v.__iadd__(xp.ones((2, 3)))", "v.__iadd__(xp.ones(2))", "v.__ipow__(xp.ones(2, complex))",
    "i.__iand__(xp.ones(2))", "v.reshape(-2, -1)", "v.reshape(2, -3)",
    # Numbers in sequences are in the range of signed dtypes, dtypes are dtypes.
    "xp.array([xp.array(300)[()]], 'i1')", "xp.array([[1, xp.array(-1).astype('u8')[()]]], int)", "xp.asarray([i[0] - 200], xp.int8)", "xp.isdtype('i4', 'i4')",
    "xp.isdtype(i, 'integral')", "xp.isdtype(float, 'real floating')",
    # A shape has one name, and is given; outputs are arrays.
    "xp.reshape(i, newshape=(3, 1))", "xp.reshape(i)", "i.reshape()", "a.reshape()", "xp.mean(v, out=3)", "xp.std(v, out=3)", "xp.mean(a, axis=0, out=[0, 0, 0])",
    # What a reduction begins with is one value.
    "xp.sum(v, initial=[0, 1])", "xp.max(a, axis=0, initial=xp.zeros(3))", "v.min(initial=(0,))", "xp.add.reduce(v, initial=xp.ones(1))", "a.prod(initial=v)",
    # Sizes are no truth values, places have one axis, keys are several, polynomials have coefficients.
    "xp.identity(True)", "xp.identity(xp.array(True)[()])", "xp.eye(2, True)", "xp.eye(True)", "xp.ix_(True)", "xp.ix_(v, xp.array(True))", "xp.ix_(3)", "xp.lexsort(v[0])",
    "xp.lexsort(xp.array(3))", "xp.lexsort(3)", "xp.roots(xp.array(3))", "xp.roots(3)", "xp.polyint(xp.array(3))", "xp.polyint(3)", "xp.polyder(3.0)",
    "xp.array2string(3)", "xp.array2string([1, 2])", "xp.array_repr(3)", "xp.array_str([1])", "xp.promote_types(v, 'f4')", "xp.promote_types('f4', xp.array(1))",
    # An array is no dtype, and what is no number has none in common.
    "xp.zeros(2, i)", "xp.full(2, 1, v)", "xp.sum(i, dtype=v)", "xp.asarray([1], v)", "xp.zeros_like(i, v)", "xp.array([1, 2], i)", "xp.zeros(2, 3)",
    "xp.common_type(b)", "xp.common_type(v, b)", "xp.common_type(3)", "xp.clip(b)", "xp.bincount(v[:0])",
]  # fmt: skip
TAKEN = [
    "xp.array([xp.array(300)[()]], 'u1')", "xp.array([xp.array(300)], 'i1')", "xp.array([v[0], 3.7], 'i1')", "xp.array([i[0], 300], 'i2')",
    "v.clip(2)", "v.clip(max=2)", "xp.clip(v, 2, None)", "xp.clip(v, min=2)", "xp.clip(v, a_min=0, a_max=2)",
    "xp.sum(v, where=[1, 0, 1])", "xp.take(v, [0], out=xp.zeros(1, int))", "xp.compress([1, 0, 1], v, out=xp.zeros(2, 'f4'))",
    "xp.array(v, float, copy=False)", "xp.array(v, 'f4', copy=None)", "xp.insert(v, xp.array([1], 'u8'), 9)", "xp.insert(v, xp.array([0, 1], 'i1'), 9)",
    "xp.take(v, [0.0, 1.0])", "xp.take(a, [0.5, 1.0], axis=1, mode='clip')", "xp.lib.stride_tricks.sliding_window_view(v, xp.array(2))", "xp.add.reduceat(v, [])", "xp.add.reduceat(v, [0.5, 2.0])",
    "xp.multiply.reduceat(a, (1.5, True), axis=1)", "v.reshape(-5)", "xp.reshape(a, (3, -2))", "xp.subtract.reduceat(v, [2.9])",
    "xp.add.reduceat(v, xp.array([0, 1], 'u4'))", "xp.sum(v, initial=xp.array(2.0))", "xp.max(a, axis=0, initial=v[0])", "xp.cov(a, ddof=2.0)",
    "[x.resize(xp.array([3, 2]), refcheck=False) or x for x in [v.copy()]][0]",
    "xp.reshape(a, None)", "xp.reshape(a, shape=None)", "a.reshape(None)", "a.T.reshape(None)", "xp.array(2.5).reshape(None)",
    "xp.choose([0, 1, 0], [i, i], out=xp.zeros(3))", "xp.median(v, out=xp.zeros((), int))",
    # `dtype` is what is computed in.
    "xp.subtract(b, b, dtype=int)", "xp.negative(b, dtype=int)", "xp.gcd(b, b, dtype=int)", "xp.matmul(i, i, dtype='f4')", "xp.matmul(a.T, a, dtype='f4')",
    "xp.vecdot(i, i, dtype='f4')", "xp.maximum.reduce(v, dtype=int)", "xp.maximum.reduceat(v, [0], dtype=int)",
    "xp.hanning(3.7)", "xp.bartlett(3.2)", "xp.hamming(0.5)", "xp.asfortranarray(2.0)", "xp.cumulative_sum(2.0)", "xp.permute_dims(a)",
    "xp.nanvar(xp.array([1.0, xp.inf, xp.nan]))", "xp.histogramdd(v)[0]", "xp.histogramdd(v, bins=4)[1][0]", "xp.histogramdd([v, v])[0]",
    "xp.bincount(i[:0])", "xp.bincount([])", "xp.clip(i, 1, 2, subok=False, order='C')", "xp.clip(v)",
    # Several results are as large as the outputs of some; places of bools are whole, real differences stay real, and no axis is transformed.
    "xp.frexp(v, xp.zeros((2, 3)))[1]", "xp.frexp(1.5, xp.zeros((2, 3)))[1]", "xp.modf(v, xp.zeros((2, 3)))[1]", "xp.modf(v, out=(None, xp.zeros((2, 3))))[0]", "xp.divmod(i, 2, xp.zeros((2, 3), int))[1]",
    "xp.quantile(i, [True, False])", "xp.quantile(i, xp.array([True, False, True]))", "xp.quantile(v, [False, True])", "xp.nanquantile(i, [True])", "xp.quantile(i, True)",
    "xp.quantile(xp.array([1.0, xp.inf]), [True, False])", "xp.percentile(i, [True])", "xp.gradient(v, 1j)", "xp.gradient(i, 2j)", "xp.gradient(a.astype('f4'), 1 + 1j)[0]", "xp.gradient(v, [1j, 2j, 4j])",
    "xp.gradient(v * 1j, 2j, edge_order=2)", "xp.fft.fftn(xp.array(3))", "xp.fft.ifftn(True)", "xp.fft.fftn(i, axes=())", "xp.fft.fftn(xp.array(2j))",
    "round(v[0], 1)", "round(i.sum(), 2)", "xp.polyint(3, 0)", "xp.lexsort((3,))", "xp.ix_([True, False])[0]", "xp.identity(xp.array(2)[()])",
    "xp.array([v[0].flags.writeable, v.sum().flags['W'], xp.array(1.5).flags.writeable, v.flags.writeable, v[0].flags.num])",
    # Diagonals between two are those of NumPy's integers.
    *(f"xp.{f}(a, {k})" for f in ("tril", "triu") for k in (-1.5, -0.5, 0.5, 1, 1.5)), *(f"xp.tri(3, 4, {k})" for k in (-1.5, -0.5, 0.5, 1, 1.5)),
]  # fmt: skip


def arrays(xp):
    made = {"a": xp.array([[1.5, -2.0, 3.0], [4.0, 5.0, -6.0]]), "v": xp.array([3.0, 1.0, 2.0]), "i": xp.array([0, 2, 1])}
    made |= {"b": xp.array([True, False, True]), "ro": xp.array([1.0, 2.0, 3.0])}
    made["ro"].flags.writeable = False
    return made | {"xp": xp}


@pytest.mark.parametrize("text", REFUSED)
def test_what_numpy_refuses(text):
    with pytest.raises(Exception) as expected:
        eval(text, arrays(np))
    given, before = arrays(gc), arrays(np)
    with pytest.raises(next(k for k in (AttributeError, TypeError, OverflowError, ValueError) if issubclass(expected.type, k))) as caught:
        eval(text, given)
    assert str(caught.value)
    for name in "a", "v", "i", "b", "ro":
        assert np.array_equal(np.asarray(given[name]), before[name]), name


def test_an_axis_larger_than_integers_of_the_machine():
    for xp in np, gc:
        with pytest.raises((OverflowError, ValueError)):
            xp.take(xp.arange(3.0), [0], axis=2**70)


@pytest.mark.parametrize("text", TAKEN)
def test_what_numpy_takes(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, result = eval(text, arrays(np)), eval(text, arrays(gc))
        result = np.asarray(result)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert np.allclose(result, expected, rtol=1e-6, equal_nan=True)


def test_single_results_stay_single():
    for xp in np, gc:
        for result in (xp.isreal(xp.array(5)), xp.iscomplex(xp.array(2.5)), xp.permute_dims(xp.float64(1.5))):
            assert not isinstance(result, xp.ndarray) and result.shape == ()


def test_what_is_no_dtype_is_told_in_numpys_words():
    for wrong in (3, [3, 4], "foo", np.ones(2)):
        with pytest.raises(TypeError) as expected:
            np.zeros(2, wrong)
        with pytest.raises(TypeError) as caught:
            gc.zeros(2, wrong)
        assert str(caught.value).startswith(str(expected.value))


@pytest.mark.parametrize("shapes", [[(2,), (3,)], [(2, 5), (2, 4)], [(2, 5), (0,)], [(), (2,)], [(2,), ()], [(1, 2), (1, 2), (1, 2, 1)]], ids=str)
def test_arrays_of_several_shapes_are_told_as_far_as_they_are_alike(shapes):
    said = []
    for xp in (np, gc):
        with pytest.raises(ValueError) as caught:
            xp.array([xp.ones(shape) for shape in shapes])
        said.append(str(caught.value).removesuffix("."))
    assert said[1].startswith(said[0])


VAST = [
    "xp.zeros(10**15)", "xp.ones((10**9, 10**9))", "xp.full(10**15, 3)", "xp.empty(10**15, order='F')", "xp.zeros_like(xp.broadcast_to(1.0, (10**8, 10**8)))",
    "xp.eye(10**9)", "xp.identity(10**8)", "xp.tri(10**8)", "xp.indices((10**6, 10**6))", "xp.meshgrid(xp.arange(10**6), xp.arange(10**6))",
    "xp.arange(10**15)", "xp.arange(1e15)", "xp.vander(xp.arange(10**6))", "xp.zeros(2**61)", "xp.zeros((2**40, 2**40))", "xp.zeros(2**63)", "xp.ones((10**30, 1))",
]  # fmt: skip


@pytest.mark.parametrize("text", VAST)
def test_what_no_memory_holds_is_refused_at_the_call(text):
    with pytest.raises((MemoryError, ValueError)) as expected:
        eval(text, {"xp": np})
    kind = MemoryError if issubclass(expected.type, MemoryError) else ValueError
    with pytest.raises(kind):
        eval(text, {"xp": gc})
