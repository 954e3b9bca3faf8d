"""Polynomials as coefficient vectors, highest power first."""

import functools as _functools

import numpy as _np

from . import _graphc
from ._creation import asarray, full, zeros
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import float64
from ._float_errors import stands_for as _stands_for
from ._float_errors import tell as _tell
from ._manipulation import concat, expand_dims
from ._matrices import diag, vander
from ._correlate import convolve
from ._reductions import all
from ._sorting import sort
from .errors import ArgumentError, DTypeError

def _of_polynomials(function):
    """Given a poly1d, a function of coefficients gives poly1d."""

    @_functools.wraps(function)
    def call(*args, **options):
        from ._iterate import poly1d

        if not any(isinstance(a, poly1d) for a in args):
            return function(*args, **options)
        result = function(*(a.coeffs if isinstance(a, poly1d) else a for a in args), **options)
        return tuple(poly1d(p) for p in result) if isinstance(result, tuple) else poly1d(result)

    _graphc.set_error_name(call, 0)  # floating-point errors go by what it calls
    return call


def _coefficients(p):
    return asarray(p).reshape((-1,)) if asarray(p).ndim < 2 else asarray(p)


def _counted(p):
    if p.ndim == 0:
        raise TypeError("len() of unsized object")
    return p


def _ends(p, name):
    """The coefficients as a list and the places of the first and the last that is not zero."""
    if p.ndim != 1:
        raise ArgumentError(f"{name}: Input must be a rank-1 array.")
    _graphc.eval([p], name)
    values = p.tolist()
    used = [i for i, c in enumerate(values) if c != 0]
    return (used[0], used[-1]) if used else (0, -1)


def _from_leading(p, name):
    """Coefficients from the first that is not zero; a single zero when all are."""
    p = _coefficients(p)
    if _graphc.is_tracing():
        return p  # values are not known: the result has as many coefficients as there can be
    first, last = _ends(p, name)
    return p[first:] if last >= 0 else zeros((1,), p.dtype)


@_where_operands_are
def roots(p):
    """The roots of a polynomial: the eigenvalues of its companion matrix, and zeros; real when all are, of real
    coefficients. Raises ValueError unless `p` is a vector."""
    from .linalg import eigvals

    p = asarray(p)
    if p.ndim == 0:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    first, last = _ends(p, "roots")
    none = p.size - 1 - last
    p = p[first : last + 1]
    p = p if p.dtype.kind in "fc" else p.astype(float64)
    if p.size < 2:
        return zeros((none if last >= 0 else 0,), p.dtype)
    n = p.size - 1
    companion = concat((expand_dims(-p[1:] / p[0], 0), diag(full((n - 1,), 1, dtype=p.dtype), -1)[1:] if n > 1 else zeros((0, 1), p.dtype)))
    found = eigvals(companion)
    if p.dtype.kind == "f" and bool(all(found.imag == 0)):
        found = found.real
    return concat((found, zeros((none,), found.dtype))) if none else found


#: Polynomials of so few zeros are expanded in Python's numbers, by the operations that a convolution has.
_FEW_ZEROS = 24


def _expanded(zeros_of):
    result = [1.0]
    for zero in zeros_of:
        result = [result[0], *(b + a * -zero + 0.0 for a, b in zip(result, result[1:])), result[-1] * -zero + 0.0]  # no -0.0
    return result


@_where_operands_are
def poly(seq_of_zeros):
    """The coefficients of the polynomial with the given roots and leading coefficient 1; of a square matrix its
    characteristic polynomial. Real when complex roots come in conjugate pairs (this evaluates them)."""
    from .linalg import eigvals

    zeros_of = asarray(seq_of_zeros)
    if zeros_of.ndim == 0:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    if zeros_of.ndim == 2 and zeros_of.shape[0] == zeros_of.shape[1] and zeros_of.size:
        zeros_of = eigvals(zeros_of)
    if zeros_of.ndim > 1:
        raise ArgumentError("poly: input must be 1d or non-empty square 2d array.")
    zeros_of = zeros_of.reshape((-1,))
    if zeros_of.size == 0:
        return 1.0
    if zeros_of.dtype.kind not in "fc" or zeros_of.dtype == "float16":
        zeros_of = zeros_of.astype(float64)
    if zeros_of.size <= _FEW_ZEROS and zeros_of.dtype == float64 and not _graphc.is_tracing():
        return asarray(_expanded(zeros_of.tolist()))
    result = one = full((1,), 1, dtype=zeros_of.dtype)
    for i in range(zeros_of.size):
        result = convolve(result, concat((one, -zeros_of[i : i + 1])))
    if result.dtype.kind == "c" and bool(all(sort(zeros_of) == sort(zeros_of.conj()))):
        return result.real.copy()
    return result


def _aligned(a, b):
    if type(a) is type(b) is _graphc.ndarray and a.ndim == 1 and a.shape == b.shape:
        return a, b
    a, b = _coefficients(a), _coefficients(b)
    dtype = _graphc.result_type(a, b)
    size = max(a.size, b.size)
    return [x if x.size == size else concat((zeros((size - x.size,), dtype), x)) for x in (a, b)]


@_where_operands_are
@_of_polynomials
@_stands_for()
def polyadd(a1, a2):
    """The sum of two polynomials."""
    a, b = _aligned(a1, a2)
    return a + b


@_where_operands_are
@_of_polynomials
@_stands_for()
def polysub(a1, a2):
    """The difference of two polynomials."""
    a, b = _aligned(a1, a2)
    return a - b


@_where_operands_are
@_of_polynomials
def polymul(a1, a2):
    """The product of two polynomials, without the zeros they begin with."""
    return convolve(*(_from_leading(a, "polymul") for a in (a1, a2)))


@_where_operands_are
@_of_polynomials
@_stands_for()
def polydiv(u, v):
    """(quotient, remainder) of two polynomials."""
    u, v = _coefficients(u) + 0.0, _coefficients(v) + 0.0
    m, n = u.size - 1, v.size - 1
    scale = 1.0 / v[0]
    rest, terms = u.astype(_graphc.result_type(u, v), copy=True), []
    for k in range(0, m - n + 1):
        d = scale * rest[k]
        terms.append(d.reshape((1,)))
        rest[k : k + n + 1] -= d * v
    quotient = concat(terms) if terms else zeros((1,), rest.dtype)
    _graphc.eval([rest], "polydiv")
    values, drop = rest.tolist(), 0
    while drop < rest.size - 1 and abs(values[drop]) <= 1e-14:
        drop += 1
    return quotient, rest[drop:].copy()


@_where_operands_are
@_of_polynomials
@_stands_for()
def polyder(p, m=1):
    """The m-th derivative. Raises ValueError for a negative order."""
    m = int(m)
    if m < 0:
        raise ArgumentError("polyder: Order of derivative must be positive (see polyint)")
    p = _counted(asarray(p))
    for _ in range(m):
        p = p[:-1] * _graphc.asarray(_np.arange(p.size - 1, 0, -1), None, None, None)
    return p


@_where_operands_are
@_of_polynomials
@_stands_for()
def polyint(p, m=1, k=None):
    """The m-th antiderivative with constants `k` (default 0). Raises ValueError for a negative order or too few
    constants."""
    m = int(m)
    if m < 0:
        raise ArgumentError("polyint: Order of integral must be positive (see polyder)")
    constants = [0.0] * m if k is None else list(_np.atleast_1d(k)) if not _graphc.is_array(k) else k.tolist()
    if len(constants) == 1 and m > 1:
        constants *= m
    if len(constants) < m:
        raise ArgumentError("polyint: k must be a scalar or a rank-1 array of length 1 or >m.")
    p = _counted(asarray(p)) if m else asarray(p)
    for step in range(m):
        powers = _graphc.asarray(_np.arange(float(p.size), 0.0, -1.0), None, None, None)
        p = concat((p / powers, asarray(constants[step]).reshape((1,))))
    return p


@_where_operands_are
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The coefficients of the polynomial of degree `deg` that fits the points best, each weighted by `w`; `y` may hold
    several columns. full=True gives also residuals, rank, singular values and rcond; cov=True (or "unscaled") the
    covariance. Raises ValueError and TypeError for sizes that make no fit."""
    from .linalg import inv, lstsq

    order = int(deg) + 1
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    if order < 1:
        raise ArgumentError("polyfit: expected deg >= 0")
    if x.ndim != 1:
        raise DTypeError("polyfit: expected 1D vector for x")
    if x.size == 0:
        raise DTypeError("polyfit: expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise DTypeError("polyfit: expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise DTypeError("polyfit: expected x and y to have same length")
    if rcond is None:
        rcond = x.size * _np.finfo(x.dtype).eps
    left, right = vander(x, order), y
    if w is not None:
        w = asarray(w) + 0.0
        if w.ndim != 1:
            raise DTypeError("polyfit: expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise DTypeError("polyfit: expected w and y to have the same length")
        left = left * w.reshape((-1, 1))
        right = right * (w.reshape((-1, 1)) if y.ndim == 2 else w)
    scale = _graphc.sqrt((left * left).sum(axis=0))
    left = left / scale
    c, residuals, rank, s = lstsq(left, right, rcond)
    c = c / (scale.reshape((-1, 1)) if y.ndim == 2 else scale)
    if full:
        return c, residuals, rank, s, rcond
    if not _graphc.is_tracing() and int(rank) != order:
        _tell("Polyfit may be poorly conditioned", _np.exceptions.RankWarning)
    if not cov:
        return c
    base = inv(left.mT @ left) / (scale.reshape((-1, 1)) * scale)
    if cov == "unscaled":
        factor = 1
    else:
        if x.size <= order:
            raise ArgumentError("polyfit: the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (x.size - order)
    if y.ndim == 1:
        return c, base * factor
    return c, base.reshape((order, order, 1)) * factor
