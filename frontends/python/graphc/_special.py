"""Elementwise functions that are formulas over operations: integer arithmetic, parts of floats, angles, i0."""

from __future__ import annotations

import math as _math
import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from . import _graphc
from ._assemble import _along
from ._creation import _floating, _real, alike_floats, asarray, given, zeros
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype, bool_, float64, int64, uint64
from ._float_errors import stands_for as _stands_for
from ._linalg import moved_operands
from ._manipulation import _axis, concatenate, moveaxis
from ._ufunc import as_ufunc
from ._wrapping import is_maker
from .errors import ArgumentError, DTypeError, ForeignDType, ShapeError

if TYPE_CHECKING:
    from ._types import Array, ArrayLike


def _integers(name, *operands):
    arrays = [asarray(x) for x in operands]
    kind = _graphc.result_type(*operands) if len(operands) > 1 else arrays[0].dtype
    if kind.kind not in "iu":
        raise DTypeError(f"{name}: integers are needed, not {kind}")
    return [x.astype(kind, copy=False) for x in arrays]


def _magnitude(x):
    """|x| as an unsigned integer, the smallest integer included."""
    return _graphc.abs(x).astype(_np.dtype(f"u{x.dtype.itemsize}"), copy=False)


def _euclid(a, b):
    """Greatest common divisors of unsigned integers; as many steps as the worst pair of this width takes."""
    for _ in range({1: 13, 2: 24, 4: 47, 8: 93}[a.dtype.itemsize]):
        a, b = _graphc.select(b == 0, a, b), _graphc.select(b == 0, b, _graphc.remainder(a, b))
    return a


@as_ufunc(2)
def gcd(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Greatest common divisor of |x1| and |x2|. Raises DTypeError for other dtypes than integers."""
    a, b = _integers("gcd", x1, x2)
    return _euclid(_magnitude(a), _magnitude(b)).astype(a.dtype, copy=False)


@as_ufunc(2)
def lcm(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Least common multiple of |x1| and |x2|; wraps. Raises DTypeError for other dtypes than integers."""
    a, b = _integers("lcm", x1, x2)
    a, b, kind = _magnitude(a), _magnitude(b), a.dtype
    return (_graphc.floor_divide(a, _euclid(a, b)) * b).astype(kind, copy=False)


@as_ufunc(1)
def bitwise_count(x: ArrayLike, /) -> Array:
    """How many bits of |x| are set, as uint8. Raises DTypeError for floats."""
    x = asarray(x)
    if x.dtype.kind == "b":
        return x.astype("uint8")
    (x,) = _integers("bitwise_count", x)
    return _graphc.bit_count(_magnitude(x)).astype("uint8")


@as_ufunc(2, alike=False)
@_stands_for("ldexp")
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 * 2**x2, rounded once. Raises DTypeError for an exponent that is no integer."""
    n = asarray(x2)
    # A number of Python's is weak, as NumPy takes it.
    x = asarray(float(x1), "float16") if type(x1) is int and n.ndim and n.dtype.kind != "b" else _floating(x1, "ldexp")
    if x.dtype == "float16":
        return ldexp(x.astype("float32"), n).astype("float16")  # its own powers of two reach no smallest number
    if n.dtype.kind not in "biu" or n.dtype == "uint64":
        raise DTypeError(f"ldexp: integer exponents are needed, not {n.dtype}")
    info = _np.finfo(x.dtype)
    high, low, bits = info.maxexp - 1, info.minexp, info.nmant + 1
    if type(x2) is int and low <= x2 <= high:
        return x * 2.0**x2
    n = n.astype(int64) if n.dtype.kind != "u" else _graphc.minimum(n.astype(uint64, copy=False), 1 << 20).astype(int64)
    for _ in range(2):
        # A product for each would tell of overflows where it is not taken.
        large, small = asarray(2.0**high, x.dtype), asarray(2.0 ** (low + bits), x.dtype)
        x = x * _graphc.select(n > high, large, _graphc.select(n < low, small, asarray(1.0, x.dtype)))
        n = _graphc.select(n > high, n - high, _graphc.select(n < low, n - (low + bits), n))
    n = _graphc.clip(n, low, high)
    return x * _graphc.exp2(n.astype(x.dtype))


@as_ufunc(1, 2)
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Mantissa in [0.5, 1) with the sign of x, and int32 exponent of two. Zero, NaN and infinities are their own
    mantissa with exponent 0."""
    x = _floating(x, "frexp")
    if x.dtype == "float16":
        mantissa, exponent = frexp(x.astype("float32"))
        return mantissa.astype("float16"), exponent
    bits = _np.finfo(x.dtype).nmant + 1
    size = _graphc.abs(x)
    plain = (size > 0) & (size < _math.inf)
    safe = _graphc.select(plain, size, 1.0)
    low, up = safe < 1.0, 2 * bits
    # Neither what is scaled nor its distance to the next number is subnormal or infinite.
    scaled = safe * _graphc.select(low, asarray(2.0**up, x.dtype), asarray(0.25, x.dtype))
    unit = _graphc.nextafter(scaled, _math.inf) - scaled  # a power of two
    mantissa = _graphc.copysign(scaled / unit * 2.0**-bits, x)
    exponent = _graphc.log2(unit).astype("int32") + _graphc.select(low, asarray(bits - up, "int32"), asarray(bits + 2, "int32"))
    return _graphc.select(plain, mantissa, x), _graphc.select(plain, exponent, asarray(0, "int32"))


@as_ufunc(1, 2)
def modf(x: ArrayLike, /) -> tuple[Array, Array]:
    """Fractional and integral part, both with the sign of x."""
    x = _floating(x, "modf")
    whole = _graphc.trunc(x)
    rest = _graphc.select(_graphc.isinf(x), 0.0, x - whole)
    return _graphc.select(_graphc.isnan(x), x, _graphc.copysign(rest, x)), whole


@as_ufunc(1)
def spacing(x: ArrayLike, /) -> Array:
    """Distance to the nearest float of larger magnitude, with the sign of x."""
    made = _graphc.numeric("spacing", x)
    if made is not None:
        return made
    x = _floating(x, "spacing")
    if x.dtype == "float16":  # NumPy's: to the next number above, of either sign
        return _graphc.select(_graphc.isfinite(x), _graphc.nextafter(x, _math.inf) - x, _math.nan)
    size = _graphc.abs(x)
    step = _graphc.nextafter(size, _math.inf) - size
    return _graphc.select(_graphc.isfinite(x), _graphc.select(x < 0, -step, step), _math.nan)


@as_ufunc(2, alike=False)
def logaddexp2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """log2(2**x1 + 2**x2) without overflow on the way."""
    a, b = alike_floats(x1, x2, "logaddexp2")
    top, low = _graphc.maximum(a, b), _graphc.minimum(a, b)
    gap = _graphc.select(top == low, 0.0, low - top)
    return top + _graphc.log1p(_graphc.exp2(gap)) * (1 / _math.log(2))


@as_ufunc(2)
@_stands_for("matvec")
def matvec(x1: ArrayLike, x2: ArrayLike, /, *, axes=None) -> Array:
    """Matrices times vectors, other axes broadcast; `axes` as in `matmul`."""
    x1, x2 = asarray(x1), asarray(x2)
    if axes is not None:
        x1, x2, back = moved_operands((x1, x2), axes, (2, 1, 1), "matvec")
        return back(matvec(x1, x2))
    if x1.ndim < 2 or x2.ndim < 1:
        raise ShapeError(f"matvec: a matrix and a vector are needed, got shapes {x1.shape} and {x2.shape}")
    return _graphc.matmul(x1, _graphc.expand_dims(x2, -1))[..., 0]


@as_ufunc(2)
@_stands_for("vecmat")
def vecmat(x1: ArrayLike, x2: ArrayLike, /, *, axes=None) -> Array:
    """Vectors times matrices, other axes broadcast; complex vectors are conjugated. `axes` as in `matmul`."""
    x1, x2 = asarray(x1), asarray(x2)
    if axes is not None:
        x1, x2, back = moved_operands((x1, x2), axes, (1, 2, 1), "vecmat")
        return back(vecmat(x1, x2))
    if x1.ndim < 1 or x2.ndim < 2:
        raise ShapeError(f"vecmat: a vector and a matrix are needed, got shapes {x1.shape} and {x2.shape}")
    x1 = x1.conj() if x1.dtype.kind == "c" else x1
    return _graphc.matmul(_graphc.expand_dims(x1, -2), x2)[..., 0, :]


# Chebyshev coefficients of exp(-x) I0(x) on [0, 8], and of exp(-x) sqrt(x) I0(x) in 1/x beyond (Cephes).
_I0_SMALL = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16, 1.71539128555513303061e-15,
    -1.16853328779934516808e-14, 7.67618549860493561688e-14, -4.85644678311192946090e-13, 2.95505266312963983461e-12,
    -1.72682629144155570723e-11, 9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7, 1.11738753912010371815e-6,
    -4.41673835845875056359e-6, 1.64484480707288970893e-5, -5.75419501008210370398e-5, 1.88502885095841655729e-4,
    -5.76375574538582365885e-4, 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2, 1.71620901522208775349e-1,
    -3.04682672343198398683e-1, 6.76795274409476084995e-1,
)  # fmt: skip
_I0_LARGE = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17, 3.46122286769746109310e-17,
    -2.82762398051658348494e-16, -3.42548561967721913462e-16, 1.77256013305652638360e-15, 3.81168066935262242075e-15,
    -9.55484669882830764870e-15, -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11, -3.14991652796324136454e-11,
    1.18891471078464383424e-11, 4.94060238822496958910e-10, 3.39623202570838634515e-9, 2.26666899049817806459e-8,
    2.04891858946906374183e-7, 2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1,
)  # fmt: skip


def _chebyshev(x, coefficients):
    b0, b1, b2 = coefficients[0], 0.0, 0.0
    for c in coefficients[1:]:
        b2, b1 = b1, b0
        b0 = x * b1 - b2 + c
    return 0.5 * (b0 - b2)


@_stands_for()
def i0(x: ArrayLike) -> Array:
    """Modified Bessel function of the first kind, order 0."""
    x = asarray(x)
    if x.dtype.kind == "c":
        raise DTypeError("i0 not supported for complex values")
    x = _graphc.abs(_floating(x, "i0", False))
    near, far = _graphc.minimum(x, 8.0), _graphc.maximum(x, 8.0)
    small = _graphc.exp(near) * _chebyshev(near / 2.0 - 2.0, _I0_SMALL)
    large = _graphc.exp(far) * _chebyshev(32.0 / far - 2.0, _I0_LARGE) / _graphc.sqrt(far)
    return asarray(_graphc.select(x <= 8.0, small, large))


@_stands_for()
def kaiser(M: int, beta: float) -> Array:
    """The Kaiser window of M points."""
    M = _points(M)
    if M == 1:
        return _graphc.full((1,), 1, float64, None)
    n, alpha = _graphc.iota(max(_math.ceil(M), 0), float64, None), (M - 1) / 2.0
    return i0(beta * _graphc.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / i0(float(beta))


def _points(M):
    """A number of points, which may be a float."""
    if isinstance(M, _np.longdouble):
        raise ForeignDType("windows of a long double are long double")
    number = float(M)
    return int(number) if number.is_integer() else number


def _window(M, shape):
    """`shape` of the numbers from 1 - M on by twos, below M; the window of no point is empty, that of one is 1."""
    M = _points(M)
    if M <= 1:
        return _graphc.full((int(M == 1),), 1, float64, None)
    return shape(_graphc.iota(_math.ceil(M - 0.5), float64, None) * 2.0 + (1 - M), M)


def _cosine_window(M, *weights):
    def shape(n, M):
        result = weights[0]
        for k, w in enumerate(weights[1:], 1):
            result = result + w * _graphc.cos(n * (k * _math.pi) / (M - 1))
        return result

    return _window(M, shape)


def hamming(M: int) -> Array:
    """The Hamming window of M points."""
    return _cosine_window(M, 0.54, 0.46)


def hanning(M: int) -> Array:
    """The Hann window of M points."""
    return _cosine_window(M, 0.5, 0.5)


def blackman(M: int) -> Array:
    """The Blackman window of M points."""
    return _cosine_window(M, 0.42, 0.5, 0.08)


def bartlett(M: int) -> Array:
    """The triangular window of M points."""
    return _window(M, lambda n, M: _graphc.select(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1)))


@_stands_for()
def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * _math.pi) -> Array:
    """Jumps of more than half a period between neighbours along an axis replaced by their complement."""
    p = asarray(p)
    if p.ndim == 0:
        raise ShapeError("unwrap: at least one axis is needed, got shape ()")
    axis = _axis(axis, p.ndim, "unwrap")
    kind = _graphc.result_type(p, period)
    after, before = p[_along(axis, slice(1, None))], p[_along(axis, slice(None, -1))]
    step = after ^ before if p.dtype.kind == "b" else after - before
    discont = period / 2 if discont is None else discont
    if kind.kind in "iu":
        high, remainder = divmod(period, 2)
        ambiguous = remainder == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    wrapped = _graphc.remainder(step - low, period) + low
    if ambiguous:
        wrapped = _graphc.select((wrapped == low) & (step > 0), high, wrapped)
    correction = _graphc.select(_graphc.abs(step) < discont, 0, wrapped - step)
    first = p[_along(axis, slice(0, 1))].astype(kind, copy=False)
    rest = p[_along(axis, slice(1, None))].astype(kind) + _graphc.scan("sum", correction, axis, None)
    return concatenate([first, rest.astype(kind, copy=False)], axis)


def angle(z: ArrayLike, deg: bool = False) -> Array:
    """The angle of complex numbers in (-pi, pi], in radians or degrees; of real ones 0 or pi."""
    z = z if _graphc.is_array(z) else asarray(z)
    if z.dtype.kind == "c":
        result = _graphc.atan2(z.imag, z.real)
    elif z.dtype.kind in "iu" and z.itemsize > 2:  # which has no negative zero
        result = _graphc.select(z < 0, _math.pi, 0.0)
    else:
        result = _graphc.atan2(0.0, _floating(z, "angle", z.dtype.kind != "b"))
    return result * (180 / _math.pi) if deg else result


def real(val: ArrayLike) -> Array:
    """The real part: a view of a complex array, a real array itself; what objects with `__array__` say theirs is."""
    if type(val) in (bool, int, float, complex) or (not _graphc.is_array(val) and is_maker(val) and hasattr(val, "real")):
        return val.real
    return given(val).real


def imag(val: ArrayLike) -> Array:
    """The imaginary part: a view of a complex array, read-only zeros of a real one; what objects with `__array__` say theirs is."""
    if type(val) in (bool, int, float, complex) or (not _graphc.is_array(val) and is_maker(val) and hasattr(val, "imag")):
        return val.imag
    x = given(val)
    if x.dtype.kind == "c":
        return x.imag
    zero = zeros((), x.dtype, device=x.device)
    return zero[()] if _graphc.is_value(x) else _graphc.broadcast_to(zero, x.shape)


@as_ufunc(1)
def conjugate(x: ArrayLike, /) -> Array:
    """The complex conjugate; a real array's copy. Of bool: int8, as every arithmetic of one operand."""
    if type(x) is complex:
        return _graphc.conj(x)
    if type(x) is float:
        return _graphc.neg(_graphc.neg(x))
    x = x if _graphc.is_array(x) else asarray(x)
    kind = x.dtype.kind
    if kind == "c":
        return _graphc.conj(x)
    return +(x.astype("int8") if kind == "b" else x)


def isreal(x: ArrayLike) -> Array:
    """Whether imaginary parts are zero."""
    if type(x) is _graphc.ndarray and x.dtype.kind != "c" and not _graphc.is_open(x):
        return _graphc.full(x.shape, True, bool_, x.device)[() if x.ndim == 0 else ...]
    return imag(x) == 0


def iscomplex(x: ArrayLike) -> Array:
    """Whether imaginary parts are not zero."""
    if type(x) is _graphc.ndarray and x.dtype.kind != "c" and not _graphc.is_open(x):
        return _graphc.full(x.shape, False, bool_, x.device)[() if x.ndim == 0 else ...]
    return imag(given(x)) != 0


def iscomplexobj(x) -> bool:
    """Whether an array or a number has a complex dtype."""
    return asarray(x).dtype.kind == "c"


def isrealobj(x) -> bool:
    """Whether an array or a number has no complex dtype."""
    return not iscomplexobj(x)


def real_if_close(a: ArrayLike, tol: float = 100) -> Array:
    """The real part when all imaginary parts are within `tol` units of rounding (looked at when called), else `a`."""
    x = asarray(a)
    if x.dtype.kind != "c":
        return x
    limit = tol * _np.finfo(x.dtype).eps if tol > 1 else tol
    return x.real if bool(_graphc.reduce("all", _graphc.abs(x.imag) < limit, None, False, None)) else x


@_where_operands_are
@_stands_for()
def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0) -> Array:
    """`num` values from `start` to `stop`, evenly spaced in the logarithm; complex ones on a spiral, NaN between real
    bounds of different signs. Array bounds broadcast; their samples lie along `axis`. Raises ValueError for zero bounds."""
    from ._creation import linspace

    num = _operator.index(num)
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is None and axis == 0 and {type(start), type(stop)} <= {int, float} and 0 < start < _math.inf and 0 < stop < _math.inf:
        start, stop = float(start), float(stop)
        values = _graphc.pow(10.0, linspace(_graphc.log10(start), _graphc.log10(stop), num, endpoint))
        if num > 0:
            values[0] = start
            if endpoint and num > 1:
                values[-1] = stop
        return values
    kind = _graphc.result_type(asarray(start), asarray(stop), float(num), float64 if wanted is None else wanted)
    start, stop = asarray(start).astype(kind, copy=False), asarray(stop).astype(kind, copy=False)
    if (start == 0).any() or (stop == 0).any():
        raise ArgumentError("Geometric sequence cannot include zero")
    sign = _graphc.sign(start)
    first, last = start / sign, stop / sign
    exponents = linspace(_graphc.log10(first), _graphc.log10(last), num, endpoint)
    values = _graphc.pow(10.0, exponents).astype(kind, copy=False)
    index = _graphc.iota(num, int64, None).reshape((num,) + (1,) * (values.ndim - 1))
    if num > 0:  # the ends are exact
        values = _graphc.select(index == 0, first, values)
        if endpoint and num > 1:
            values = _graphc.select(index == num - 1, last, values)
    values = values * sign
    if axis != 0:
        values = moveaxis(values, 0, axis)
    return values if wanted is None else values.astype(wanted)
