"""NumPy's functions that are a formula over others: differences, special forms, comparisons within a tolerance,
statistics that skip NaN. Each is recorded as its formula and fused with what surrounds it."""

from __future__ import annotations

import math as _math
import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from . import _graphc
from ._complex import of_parts as _of_parts
from ._assemble import _along
from ._creation import _floating, _inexact, _real, alike_floats, are_few_known, asarray, linspace, single
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype, can_cast, float32, float64
from ._float_errors import named as _named
from ._float_errors import quiet as _quiet
from ._float_errors import stands_for as _stands_for
from ._float_errors import tell as _tell
from ._float_errors import told as _told
from ._manipulation import _axes, _axis, broadcast_shapes, broadcast_to, concatenate, expand_dims, round, where
from ._reductions import _squared_size, all, any, cumprod, cumsum, freedom_lost, max, mean, min, prod, refuse_complex_spread, std, sum, var
from ._ufunc import _NO_VALUE, as_ufunc, is_missing, strengthened, with_out
from .errors import ArgumentError, DTypeError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import Array, ArrayLike, Scalar


# Differences and sums along an axis.


@_where_operands_are
@_stands_for()
def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None) -> Array:
    """The n-th difference of neighbours along an axis; of bool, whether they differ."""
    n = _operator.index(n)
    if n == 0:
        return a
    x = asarray(a)
    if n == 1 and type(axis) is int and axis == -1 and x.ndim == 1 and prepend is None and append is None and x.dtype.kind != "b":
        return x[1:] - x[:-1]
    if n < 0:
        raise ArgumentError(f"diff: order must be non-negative but got {n}")
    if x.ndim == 0:
        raise ShapeError("diff requires input that is at least one dimensional")
    axis = _axis(axis, x.ndim, "diff")
    parts = []
    for extra in (prepend, x, append):
        if extra is None:
            continue
        extra = asarray(extra)
        edge = x.shape[:axis] + (1,) + x.shape[axis + 1 :]
        parts.append(broadcast_to(extra, edge) if extra.ndim == 0 else extra)
    x = concatenate(parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        upper, lower = x[_along(axis, slice(1, None))], x[_along(axis, slice(None, -1))]
        x = upper != lower if x.dtype.kind == "b" else upper - lower
    return x


#: Of bools, as NumPy says it.
_NO_DIFFERENCE = "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead."


@_where_operands_are
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Differences of neighbours of the flattened array, between `to_begin` and `to_end`."""
    x = asarray(ary)
    if x.dtype.kind == "b":
        raise DTypeError(_NO_DIFFERENCE)
    parts = [diff(_graphc.reshape(x, (-1,)))]
    for place, name, end in ((0, "to_begin", to_begin), (2, "to_end", to_end)):
        if end is None:
            continue
        end = asarray(end).ravel()
        if not can_cast(end.dtype, x.dtype, "same_kind"):
            raise DTypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        parts.insert(place, end.astype(x.dtype, copy=False))
    return concatenate(parts) if len(parts) > 1 else parts[0]


@_stands_for()
def _gradient(x, spacing, axis, edge_order):
    size = x.shape[axis]
    if size < edge_order + 1:
        raise ShapeError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required. "
            f"gradient: an axis of size {size}, edge_order={edge_order} (shape {x.shape})"
        )
    at = lambda a, b=None: x[_along(axis, slice(a, b))]  # noqa: E731
    h = asarray(spacing) if _graphc.is_array(spacing) or hasattr(spacing, "__len__") else spacing
    h = h.astype(x.dtype) if _graphc.is_array(h) and h.dtype.kind != "c" else h
    if getattr(h, "ndim", 0) == 0:
        inner = (at(2) - at(0, -2)) / (2.0 * h)
        if edge_order == 1:
            first, last = (at(1, 2) - at(0, 1)) / h, (at(-1) - at(-2, -1)) / h
        else:
            first = (-1.5 / h) * at(0, 1) + (2.0 / h) * at(1, 2) + (-0.5 / h) * at(2, 3)
            last = (0.5 / h) * at(-3, -2) + (-2.0 / h) * at(-2, -1) + (1.5 / h) * at(-1)
        return _of_kind(x, [first, inner, last], axis)
    if h.shape != (size,):
        raise ShapeError(
            f"distances must be either scalars or 1d: {h.shape}"
            if h.ndim > 1
            else f"when 1d, distances must match the length of the corresponding dimension: {h.shape} for an axis of size {size}"
        )
    own = (1,) * axis + (-1,) + (1,) * (x.ndim - axis - 1)
    d = (h[1:] - h[:-1]).reshape(own)
    step = lambda a, b=None: d[_along(axis, slice(a, b))]  # noqa: E731
    d1, d2 = step(0, -1), step(1)
    inner = -d2 / (d1 * (d1 + d2)) * at(0, -2) + (d2 - d1) / (d1 * d2) * at(1, -1) + d1 / (d2 * (d1 + d2)) * at(2)
    if edge_order == 1:
        first, last = (at(1, 2) - at(0, 1)) / step(0, 1), (at(-1) - at(-2, -1)) / step(-1)
    else:
        a, b = step(0, 1), step(1, 2)
        first = -(2.0 * a + b) / (a * (a + b)) * at(0, 1) + (a + b) / (a * b) * at(1, 2) - a / (b * (a + b)) * at(2, 3)
        a, b = step(-2, -1), step(-1)
        last = b / (a * (a + b)) * at(-3, -2) - (b + a) / (a * b) * at(-2, -1) + (2.0 * b + a) / (b * (a + b)) * at(-1)
    return _of_kind(x, [first, inner, last], axis)


def _of_kind(x, parts, axis):
    """Differences of real values are real: of complex steps each part is told of."""
    return concatenate([p.astype(x.dtype) if p.dtype.kind == "c" and x.dtype.kind != "c" else p for p in parts], axis)


@_where_operands_are
@_stands_for()
def gradient(f: ArrayLike, *spacing, axis: int | Sequence[int] | None = None, edge_order: int = 1):
    """Second-order central differences inside, one-sided at the ends. `spacing`: one step for all axes, or one step or
    coordinate vector an axis. A tuple of arrays for several axes, one array for one."""
    x = asarray(f)
    if x.dtype.kind == "b":
        raise DTypeError(_NO_DIFFERENCE)
    x = _inexact(x)
    axes = list(range(x.ndim)) if axis is None else _axes(axis, x.ndim, "gradient")
    if edge_order not in (1, 2):
        raise ArgumentError(f"gradient: edge_order is 1 or 2, not {edge_order}")
    if len(spacing) not in (0, 1, len(axes)) or (len(spacing) == 1 < len(axes) and asarray(spacing[0]).ndim):
        raise TypeError(f"gradient: {len(spacing)} spacings for {len(axes)} axes")
    steps = list(spacing) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    results = tuple(_gradient(x, h, a, edge_order) for h, a in zip(steps, axes))
    return results[0] if len(axes) == 1 else results


@_where_operands_are
@_stands_for()
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: float = 1.0, axis: int = -1) -> Array:
    """Integral by the trapezoidal rule along an axis, over coordinates `x` or steps `dx`."""
    y = asarray(y)
    axis = _axis(axis, y.ndim, "trapezoid")
    if x is not None:
        x = asarray(x)
        dx = diff(x).reshape((-1,) + (1,) * (y.ndim - axis - 1)) if x.ndim == 1 else diff(x, axis=axis)
    return sum(dx * (y[_along(axis, slice(1, None))] + y[_along(axis, slice(None, -1))]) / 2.0, axis)


@_where_operands_are
@_stands_for()
def polyval(p: ArrayLike, x: ArrayLike) -> Array:
    """The polynomial with coefficients `p`, highest power first, at `x`, by Horner's rule."""
    from ._iterate import poly1d

    if isinstance(x, poly1d):
        value = 0
        for coefficient in asarray(p):
            value = value * x + coefficient
        return value
    p, x = asarray(p), asarray(x)
    if x.dtype is float64 and p.dtype.kind in "iu" and p.ndim == 1 and not _graphc.is_tracing():
        p = p.astype(float64)
    made = _graphc.polynomial(p, x)
    if made is not None:
        return made
    y = _graphc.full(x.shape, 0, _graphc.result_type(p, x) if p.shape[0] else x.dtype, x.device)
    for i in range(p.shape[0]):
        y = y * x + p[i]
    return y


# Elementwise forms.


def _in_floats(x, name):
    """What is multiplied by a number."""
    if type(x) is float or (type(x) is int and -_WHOLE < x < _WHOLE):
        return float(x)
    if type(x) is _graphc.ndarray and x.dtype.char in "lL":
        return x.astype(float64)
    return x if _graphc.is_array(x) and x.dtype.kind == "f" else _floating(x, name)


#: Integers below are floats.
_WHOLE = 1 << 53


@_stands_for()
def _scaled(x, factor):
    """The product with a number that float16 has not, which is rounded once."""
    if _graphc.is_array(x) and x.dtype == _np.float16:
        return _graphc.mul(x.astype(float32), factor).astype(x.dtype)
    return _graphc.mul(x, factor)


@as_ufunc(1)
@_stands_for("deg2rad")
def deg2rad(x: ArrayLike, /) -> Array:
    """Degrees to radians."""
    return _scaled(_in_floats(x, "deg2rad"), _math.pi / 180)


@as_ufunc(1)
@_stands_for("rad2deg")
def rad2deg(x: ArrayLike, /) -> Array:
    """Radians to degrees."""
    return _scaled(_in_floats(x, "rad2deg"), 180 / _math.pi)


@as_ufunc(1)
@_stands_for("radians")
def radians(x: ArrayLike, /) -> Array:
    """Degrees to radians."""
    return deg2rad(x)


@as_ufunc(1)
@_stands_for("degrees")
def degrees(x: ArrayLike, /) -> Array:
    """Radians to degrees."""
    return rad2deg(x)


def fix(x: ArrayLike, out=None) -> Array:
    """Rounded towards zero."""
    return with_out(_graphc.trunc(asarray(x)), out, name="fix")


@as_ufunc(1)
def rint(x: ArrayLike, /) -> Array:
    """Rounded to the nearest integer, ties to even, as a float; both parts of a complex number."""
    return _graphc.round(x) if type(x) is float or (_graphc.is_array(x) and x.dtype in (float64, float32)) else round(_inexact(x, True))


@as_ufunc(1)
def fabs(x: ArrayLike, /) -> Array:
    """Absolute value as a float."""
    return _graphc.abs(_in_floats(x, "fabs"))


@as_ufunc(2, alike=False)  # whatever the numbers are, floats hold them
@_stands_for("float_power")
def float_power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 to the power x2 in float64, or in complex128."""
    if type(x1) is type(x2) is _graphc.ndarray and x1.dtype is x2.dtype is float64:
        return _graphc.pow(x1, x2)
    if type(x1) is _graphc.ndarray and x1.dtype.kind in "iuf" and (type(x2) is float or (type(x2) is int and -_WHOLE < x2 < _WHOLE)):
        return _graphc.pow(x1 if x1.dtype is float64 else x1.astype(float64), float(x2))
    x1, x2 = asarray(x1), asarray(x2)
    kind = _graphc.result_type(x1, x2, float64)
    return _graphc.pow(x1.astype(kind, copy=False), x2.astype(kind, copy=False))


@as_ufunc(2, loop="fmod")
@_stands_for("fmod")
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder of the division rounded towards zero: it has the sign of `x1`, as in C."""
    x1, x2 = asarray(x1), asarray(x2)
    kind = _graphc.result_type(_real(x1, "fmod"), _real(x2, "fmod"))
    x1, x2 = x1.astype(kind, copy=False), x2.astype(kind, copy=False)
    if kind.kind in "bu":
        return _graphc.remainder(x1, x2)
    if kind.kind == "i":  # by floor division's remainder, which may have the other sign; abs(INT_MIN) would wrap
        r = _graphc.remainder(x1, x2)
        return _graphc.select((r != 0) & ((r < 0) != (x1 < 0)), r - x2, r)
    return _graphc.copysign(_graphc.remainder(_graphc.abs(x1), _graphc.abs(x2)), x1)


def _without_nan_pair(x1, x2, choose):
    x1, x2 = asarray(x1), asarray(x2)
    chosen = choose(x1, x2)
    if chosen.dtype.kind not in "fc":
        return chosen
    x1, x2 = x1.astype(chosen.dtype, copy=False), x2.astype(chosen.dtype, copy=False)
    return _graphc.select(_graphc.isnan(x1), x2, _graphc.select(_graphc.isnan(x2), x1, chosen))


def _beside_number(x, number, is_largest):
    """fmax or fmin of each element and a number, which is no NaN: one comparison chooses; None for other operands."""
    if type(x) is not _graphc.ndarray or x.dtype not in (float64, float32):
        return None
    is_weak = type(number) is int or type(number) is float
    # Single results are of classes that equal NumPy's.
    if not (is_weak or (isinstance(number, _np.float64) and x.dtype == float64)) or not -1e38 < number < 1e38:
        return None
    number = float(number)
    is_closed = number == 0 and (_math.copysign(1, number) < 0) == is_largest  # of zeros, the one that the number is not
    if is_largest:
        chosen = _graphc.greater_equal(x, number) if is_closed else _graphc.greater(x, number)
    else:
        chosen = _graphc.less_equal(x, number) if is_closed else _graphc.less(x, number)
    return _graphc.select(chosen, x, number)


@as_ufunc(2, alike=False, loop="fmax")
@_stands_for()
def fmax(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The larger of two elements, or the one that is not NaN."""
    made = _beside_number(x1, x2, True)
    made = _beside_number(x2, x1, True) if made is None else made
    return _without_nan_pair(*strengthened((x1, x2)), _graphc.maximum) if made is None else made


@as_ufunc(2, alike=False, loop="fmin")
@_stands_for()
def fmin(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The smaller of two elements, or the one that is not NaN."""
    made = _beside_number(x1, x2, False)
    made = _beside_number(x2, x1, False) if made is None else made
    return _without_nan_pair(*strengthened((x1, x2)), _graphc.minimum) if made is None else made


@as_ufunc(1)
def positive(x: ArrayLike, /) -> Array:
    """A copy of a number. Raises DTypeError for bool."""
    x = asarray(x)
    if x.dtype.kind == "b":
        raise DTypeError(f"positive: numbers are needed, not {x.dtype}")
    return +x


@as_ufunc(2, 2, alike=False)
@_stands_for("divmod")
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """Floor division and its remainder."""
    x1, x2 = (x if isinstance(x, (_graphc.Array, int, float, complex)) else asarray(x) for x in (x1, x2))
    if not isinstance(x2, _graphc.Array):
        x1 = asarray(x1)
    return _graphc.divmod_of_arrays(x1, x2)


@_stands_for("divmod")
def _divmod(x1, x2):
    """divmod as an operator: NotImplemented where the other object is to be asked."""
    return _graphc.divmod_of_arrays(x1, x2)


@as_ufunc(2, alike=False)
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 below zero, 1 above, `x2` at zero; NaN stays."""
    x1, x2 = alike_floats(x1, x2, "heaviside")
    step = (x1 > 0).astype(x1.dtype)
    return _graphc.select(_graphc.isnan(x1), x1, _graphc.select(x1 == 0, x2, step))


@_stands_for()
def sinc(x: ArrayLike) -> Array:
    """sin(pi x) / (pi x), 1 at zero."""
    y = _math.pi * _inexact(x)
    y = _graphc.select(y == 0, float(_np.finfo(y.dtype).eps) if y.dtype.kind == "f" else 1.0e-20, y)
    return _graphc.sin(y) / y


def _is_value(x, value, out, name):
    y = with_out(_real(x, name) == value, out, name=name)
    return y if out is not None or y.ndim else y[()]


def isneginf(x: ArrayLike, out=None) -> Array:
    """Whether elements are minus infinity."""
    return _is_value(x, -_math.inf, out, "isneginf")


def isposinf(x: ArrayLike, out=None) -> Array:
    """Whether elements are plus infinity."""
    return _is_value(x, _math.inf, out, "isposinf")


@_stands_for()
def nan_to_num(
    x: ArrayLike, copy: bool = True, nan: Scalar = 0.0, posinf: Scalar | None = None, neginf: Scalar | None = None
) -> Array:
    """NaN and infinities replaced; by zero and the largest finite values unless given. Parts of complex numbers each."""
    import numpy as np

    x = asarray(x)
    if x.dtype.kind not in "fc":
        return single(x.copy()) if copy else x
    target = x
    if x.dtype.kind == "c":
        parts = [nan_to_num(p, True, nan, posinf, neginf) for p in (x.real, x.imag)]
        x = _of_parts(*parts)
        return single(x) if copy else with_out(x, target)
    largest = float(np.finfo(x.dtype).max)
    x = _graphc.select(x == _math.inf, largest if posinf is None else posinf, _graphc.select(_graphc.isnan(x), nan, x))
    x = _graphc.select(x == -_math.inf, -largest if neginf is None else neginf, x)
    return single(x) if copy else with_out(x, target)


@_where_operands_are
def isclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether |a - b| <= atol + rtol * |b|, elementwise; infinities are close to themselves only."""
    if isinstance(rtol, (int, float)) and isinstance(atol, (int, float)) and not (_math.isfinite(rtol) and _math.isfinite(atol)):
        _tell(f"One of rtol or atol is not valid, atol: {atol}, rtol: {rtol}")
    weak = isinstance(b, (int, float)) and not isinstance(b, _np.generic) and asarray(a).dtype.kind == "f"
    a, b = asarray(a), asarray(b, asarray(a).dtype if weak else None)
    b = _inexact(b)
    close = (_graphc.abs(a - b) <= atol + rtol * _graphc.abs(b)) & _graphc.isfinite(b) | (a == b)
    return close | (_graphc.isnan(_inexact(a)) & _graphc.isnan(b)) if equal_nan else close


@_where_operands_are
def allclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close, as a Python bool (this evaluates)."""
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


@_where_operands_are
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Whether two arrays broadcast to each other and are equal. This evaluates."""
    a, b = asarray(a1), asarray(a2)
    for x, y in zip(a.shape[::-1], b.shape[::-1]):
        if x != y and 1 not in (x, y):
            return False
    return bool(all(a == b))


@_where_operands_are
def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: Scalar = 0) -> Array:
    """For each element the choice of the first condition that holds, else `default`."""
    conditions, choices = list(condlist), list(choicelist)
    if len(conditions) != len(choices):
        raise ArgumentError(f"list of cases must be same length as list of conditions: {len(choices)} and {len(conditions)}")
    if not conditions:
        raise ArgumentError("select with an empty condition list is not possible")
    for i, condition in enumerate(conditions):
        if asarray(condition).dtype.kind != "b":
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
    choices = [c if isinstance(c, (bool, int, float, complex)) else asarray(c) for c in choices]
    default = default if isinstance(default, (bool, int, float, complex)) else asarray(default)
    kind = _graphc.result_type(*choices, default)
    result = asarray(default).astype(kind)
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = where(condition, asarray(choice).astype(kind, copy=False), result)
    return result if result.contiguous else result.copy()


@_where_operands_are
@_stands_for()
def logspace(start, stop, num: int = 50, endpoint: bool = True, base=10.0, dtype=None, axis: int = 0) -> Array:
    """`num` values from base**start to base**stop, evenly spaced in the exponent. Arrays broadcast; samples lie along
    `axis`."""
    if not isinstance(base, (int, float, complex)) and (base := asarray(base)).ndim:
        start, stop = asarray(start), asarray(stop)
        rank = len(broadcast_shapes(start.shape, stop.shape, base.shape))
        start, stop, base = (x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (start, stop, base))
        base = expand_dims(base, axis)
    values = _graphc.pow(base, linspace(start, stop, num, endpoint=endpoint, axis=axis))
    return values if dtype is None else values.astype(as_dtype(dtype))


# Statistics.


@_stands_for("subtract")
def ptp(a: ArrayLike, axis=None, out=None, keepdims: bool = False) -> Array:
    """Largest minus smallest element."""
    return with_out(_graphc.sub(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims)), out, name="ptp")


def _without_nan(x, filler):
    x = asarray(x)
    return _graphc.select(_graphc.isnan(x), filler, x) if x.dtype.kind in "fc" else x


@_where_operands_are
@_stands_for()
def nansum(a: ArrayLike, axis=None, dtype=None, out=None, keepdims: bool = False, initial=_NO_VALUE, where=True) -> Array:
    """`sum` with NaN counted as zero."""
    return sum(_without_nan(a, 0.0), axis, dtype, out, keepdims, initial, where)


@_where_operands_are
@_stands_for()
def nanprod(a: ArrayLike, axis=None, dtype=None, out=None, keepdims: bool = False, initial=_NO_VALUE, where=True) -> Array:
    """`prod` with NaN counted as one."""
    return prod(_without_nan(a, 1.0), axis, dtype, out, keepdims, initial, where)


def _present(x, axis, keepdims):
    """How many elements are not NaN, in the dtype of `x` or of its parts, float32 for 16 bits."""
    kind = abs(x).dtype
    return sum(~_graphc.isnan(x), axis, keepdims=keepdims).astype(kind if kind.itemsize >= 4 else float32)


@_stands_for()
def _check_inexact(dtype, out):
    """That means of floats are asked for as floats."""
    for kind, name in ((None if dtype is None else as_dtype(dtype).kind, "dtype"), (None if out is None else out.dtype.kind, "out")):
        if kind not in (None, "f", "c", "V"):
            raise TypeError(f"If a is inexact, then {name} must be inexact")


@_stands_for()
def nanmean(a: ArrayLike, axis=None, dtype=None, out=None, keepdims: bool = False, *, where=True) -> Array:
    """`mean` of the elements that are not NaN; NaN, and a warning, when there are none."""
    x = asarray(a)
    if x.dtype.kind not in "fc":
        return mean(x, axis, dtype, out, keepdims, where=where)
    _check_inexact(dtype, out)
    x = x if dtype is None else x.astype(as_dtype(dtype))
    x = x if where is True else _graphc.select(where, x, _math.nan)
    total = nansum(x, axis, keepdims=keepdims)  # alone of what is computed tells of what it meets, as in NumPy
    with _quiet():
        count = _present(x, axis, keepdims)
        result = (total / count).astype(x.dtype, copy=False)
        return with_out(_mean_of_some(count, result), out, "unsafe", "nanmean")


@_stands_for()
def _where_some(count, result):
    """`result`, and NaN where the count is zero, of which the function warns."""
    return _graphc.select(_graphc.isnan(_told(count)), complex(_math.nan, _math.nan) if result.dtype.kind == "c" else _math.nan, result)


@_stands_for("=Mean of empty slice")
def _mean_of_some(count, result):
    return _where_some(count, result)


@_stands_for("=Degrees of freedom <= 0 for slice.")
def _spread_of_some(freedom, spread):
    return _where_some(_graphc.maximum(freedom, 0), spread)


@_stands_for()
def nanvar(
    a: ArrayLike, axis=None, dtype=None, out=None, ddof: float = 0, keepdims: bool = False, *, where=True, mean=_NO_VALUE,
    correction=None,
) -> Array:  # fmt: skip
    """`var` of the elements that are not NaN; real also of complex numbers. NaN, and a warning, where there are not more than `ddof`."""
    x = asarray(a)
    ddof = freedom_lost(ddof, correction)
    if x.dtype.kind not in "fc":
        return var(x, axis, dtype, out, ddof, keepdims, where=where, mean=mean)
    _check_inexact(dtype, out)
    if dtype is not None:
        refuse_complex_spread(x, dtype, as_dtype(dtype))
    x = x if dtype is None else x.astype(as_dtype(dtype))
    x = x if where is True else _graphc.select(where, x, _math.nan)
    if is_missing(mean):
        total = nansum(x, axis, keepdims=True)
        with _quiet():
            mean = (total / _present(x, axis, True)).astype(x.dtype, copy=False)
    distance = x - asarray(mean)
    with _named("multiply"):
        squares = _graphc.select(_graphc.isnan(x), 0, _squared_size(distance))  # what infinities leave stays NaN
    total = sum(squares, axis, keepdims=keepdims)
    with _quiet():
        freedom = _present(x, axis, keepdims) - ddof
        spread = (total / freedom).astype(squares.dtype, copy=False)
        return with_out(_spread_of_some(freedom, spread), out, "unsafe", "nanvar")


@_stands_for()
def nanstd(
    a: ArrayLike, axis=None, dtype=None, out=None, ddof: float = 0, keepdims: bool = False, *, where=True, mean=_NO_VALUE,
    correction=None,
) -> Array:  # fmt: skip
    """Square root of `nanvar`."""
    a = asarray(a)
    if a.dtype.kind not in "fc":
        return std(a, axis, dtype, out, freedom_lost(ddof, correction), keepdims, where=where, mean=mean)
    _check_inexact(None, out)
    spread = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    with _quiet():
        return with_out(_graphc.sqrt(spread), out, "unsafe", "nanstd")


def _is_with_axes(a):
    """Whether an argument is an array, rather than a sequence or a number."""
    return (_graphc.is_array(a) and not _graphc.is_value(a)) or type(a) is _np.ndarray


def _of_sequence(found, missing):
    """Extremes of what is no array, of which NumPy looks for NaN afterwards, whatever initial value there is, and speaks of an axis."""
    if missing.any():
        _tell("All-NaN axis encountered")
        return _graphc.select(missing, _math.nan, found)
    return found


@_stands_for()
def _nan_extreme(reduction, a, axis, out, keepdims, filler, initial, where):
    is_plain = initial is _NO_VALUE and where is True
    if axis is None and out is None and keepdims is False and is_plain and (found := _graphc.extreme_of_numbers(a, filler < 0)) is not None:
        return found
    x = asarray(a)
    if is_plain and x.size == 0:
        try:
            reduction(x, axis, None, keepdims)
        except ShapeError:
            raise ArgumentError(f"zero-size array to reduction operation f{reduction.__name__} which has no identity") from None
    if x.dtype.kind not in "fc":
        return reduction(x, axis, out, keepdims, initial, where)
    if out is None and is_plain and x.size and are_few_known(x):
        found = reduction(x, axis, None, keepdims)
        if not _np.isnan(_np.asarray(found)).any():  # a NaN would have been found
            return found
        found = reduction(_without_nan(x, filler), axis, None, keepdims)
        if (_np.asarray(found) != filler).all():
            return found
    with _quiet():
        found = reduction(_without_nan(x, filler), axis, None, keepdims, initial, where)
        if not _is_with_axes(a) and are_few_known(x):
            found = _of_sequence(found, all(_graphc.isnan(x), axis, keepdims=keepdims, where=where))
        elif is_plain:
            some = any(~_graphc.isnan(x), axis, keepdims=keepdims)
            found = _where_some(some.astype(found.dtype if found.dtype.kind == "f" else float64), found)
        return with_out(found, out, "same_kind", reduction.__name__)


@_where_operands_are
@_stands_for("=All-NaN slice encountered")
def nanmax(a: ArrayLike, axis=None, out=None, keepdims: bool = False, initial=_NO_VALUE, where=True) -> Array:
    """`max` of the elements that are not NaN; NaN, and a warning, when there are none."""
    return _nan_extreme(max, a, axis, out, keepdims, -_math.inf, initial, where)


@_where_operands_are
@_stands_for("=All-NaN slice encountered")
def nanmin(a: ArrayLike, axis=None, out=None, keepdims: bool = False, initial=_NO_VALUE, where=True) -> Array:
    """`min` of the elements that are not NaN; NaN, and a warning, when there are none."""
    return _nan_extreme(min, a, axis, out, keepdims, _math.inf, initial, where)


def _nan_place(kind, a, axis, out, keepdims, filler):
    x = asarray(a)
    if x.dtype.kind not in "fc":
        return with_out(_graphc.reduce(kind, x, axis, keepdims, None), out, "safe", "nan" + kind)
    if x.size and bool(any(all(_graphc.isnan(x), axis))):
        raise ArgumentError("All-NaN slice encountered")
    return with_out(_graphc.reduce(kind, _without_nan(x, filler), axis, keepdims, None), out, "safe", "nan" + kind)


def nanargmax(a: ArrayLike, axis=None, out=None, *, keepdims: bool = False) -> Array:
    """`argmax` of the elements that are not NaN. Raises ValueError when there are none (this evaluates)."""
    return _nan_place("argmax", a, axis, out, keepdims, -_math.inf)


def nanargmin(a: ArrayLike, axis=None, out=None, *, keepdims: bool = False) -> Array:
    """`argmin` of the elements that are not NaN. Raises ValueError when there are none (this evaluates)."""
    return _nan_place("argmin", a, axis, out, keepdims, _math.inf)


@_stands_for()
def nancumsum(a: ArrayLike, axis=None, dtype=None, out=None) -> Array:
    """`cumsum` with NaN counted as zero."""
    return cumsum(_without_nan(a, 0.0), axis, dtype, out)


@_stands_for()
def nancumprod(a: ArrayLike, axis=None, dtype=None, out=None) -> Array:
    """`cumprod` with NaN counted as one."""
    return cumprod(_without_nan(a, 1.0), axis, dtype, out)


@_where_operands_are
@_stands_for()
def cov(
    m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, *, dtype=None,
) -> Array:  # fmt: skip
    """Covariance matrix of the rows of `m` (its columns when rowvar is false), each an observed variable. `fweights`
    repeat observations, `aweights` weigh them."""
    if ddof is not None and ddof != int(ddof):
        raise ArgumentError("cov: ddof must be integer")
    m = asarray(m)
    y = y if y is None else asarray(y)
    kind = _graphc.result_type(m, *([] if y is None else [y]), float64) if dtype is None else as_dtype(dtype)
    x = m.astype(kind, copy=False)
    if x.ndim > 2:
        raise ShapeError(f"cov: at most two axes, got shape {x.shape}")
    x = x.reshape((1, -1)) if x.ndim < 2 else x
    x = x.T if not rowvar and m.ndim != 1 else x
    if y is not None:
        y = y.astype(kind, copy=False)
        turned = not rowvar and y.ndim != 1
        y = y.reshape((1, -1)) if y.ndim < 2 else y
        x = concatenate([x, y.T if turned else y], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None
    for given, name in ((fweights, "fweights"), (aweights, "aweights")):
        if given is not None:
            given = _observation_weights(given, x.shape[1], name)
            weights = given if weights is None else weights * given
    if weights is None:
        count = x.shape[1] - ddof
        if count <= 0:
            _tell("Degrees of freedom <= 0 for slice")
        distance = x - mean(x, 1, keepdims=True)
        with _named("dot"):
            product = _graphc.matmul(distance, distance.T.conj() if x.dtype.kind == "c" else distance.T)
        return (product * (1.0 / count if count > 0 else _one_over(0.0))).squeeze()
    weights = weights.astype(float64)
    total = sum(weights)
    if not _graphc.is_tracing() and bool(total == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    distance = x - sum(x * weights, 1, keepdims=True) / total
    if aweights is None or ddof == 0:
        count = total - ddof
    else:
        count = total - ddof * sum(weights * asarray(aweights)) / total
    if not _graphc.is_tracing() and bool(count <= 0):
        _tell("Degrees of freedom <= 0 for slice")
    weighted = distance * weights
    product = _graphc.matmul(distance, weighted.T.conj() if x.dtype.kind == "c" else weighted.T)
    return (product * _one_over(_graphc.maximum(count, 0.0))).squeeze()


@_stands_for("divide")
def _one_over(count):
    return 1.0 / asarray(count)


def _observation_weights(given, count, name):
    """Raises TypeError for frequencies that are no integers, RuntimeError for a shape that does not fit, ValueError for
    negative weights."""
    given = asarray(given)
    known = not _graphc.is_tracing()
    if name == "fweights" and known and not bool(all(given == _graphc.round(given))):
        raise TypeError("fweights must be integer")
    if given.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if given.shape != (count,):
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if known and bool(any(given < 0)):
        raise ArgumentError(f"{name} cannot be negative")
    return given


@_where_operands_are
@_stands_for()
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype=None) -> Array:
    """Pearson correlation coefficients, limited to [-1, 1]; both parts of complex ones."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    from ._matrices import diagonal

    deviation = _graphc.sqrt(diagonal(c).real)
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind == "c":
        return _of_parts(*(_graphc.clip(p, -1.0, 1.0) for p in (c.real, c.imag)))
    return _graphc.clip(c, -1.0, 1.0)
