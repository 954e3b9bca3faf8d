"""Linear algebra over the last two axes, earlier axes a batch; NumPy's `linalg` and the Array API's extension.

Factorisations are LAPACK's, from an OpenBLAS found when first needed (the one NumPy brings, else the system's, else
the library named by GRAPHC_LAPACK). They run on the CPU in float64 or complex128, as NumPy's do, and repeat on one
machine; products are our own kernels and give the same bits everywhere. What may fail for its values (a singular matrix, no convergence)
is computed at once, so that the error is raised here; inside `jit` it is raised when the function is called.
"""

import builtins as _py
import math as _math
import operator as _operator
import sys as _sys
import types as _types
from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

import numpy as _np

from . import _graphc
from ._creation import asarray, asarrays, eye, full, single, zeros
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import complex64, complex128, float32, float64
from ._float_errors import number_of as _number_of
from ._float_errors import stands_for as _stands_for
from ._linalg import dot as _dot
from ._linalg import matmul, tensordot, vecdot
from ._linalg import outer as _outer
from ._manipulation import _axes, _axis, broadcast_shapes, matrix_transpose
from ._matrices import cross as _cross
from ._matrices import diagonal as _diagonal
from ._matrices import trace as _trace
from ._ufunc import with_out
from .errors import ArgumentError, DTypeError, ShapeError, TraceError
from .errors import ForeignDType as _ForeignDType
from .errors import LinAlgError as _LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

#: NumPy's own, so that what NumPy and SciPy raise is caught as well; what is raised here is one of them.
LinAlgError = _np.linalg.LinAlgError


class EigResult(_NamedTuple):
    """Eigenvalues and, as columns, eigenvectors."""

    eigenvalues: _Any
    eigenvectors: _Any


class EighResult(_NamedTuple):
    """Eigenvalues in ascending order and, as columns, orthonormal eigenvectors."""

    eigenvalues: _Any
    eigenvectors: _Any


class QRResult(_NamedTuple):
    """An orthonormal and an upper triangular factor."""

    Q: _Any
    R: _Any


class SlogdetResult(_NamedTuple):
    """Sign and logarithm of the absolute value of determinants."""

    sign: _Any
    logabsdet: _Any


class SVDResult(_NamedTuple):
    """Left singular vectors, singular values in descending order, right singular vectors."""

    U: _Any
    S: _Any
    Vh: _Any


def _matrices(x, name, square=False):
    """The operand, and the dtype of what is computed from it."""
    if type(x) is _graphc.ndarray and x.dtype is float64 and x.ndim == 2 and (not square or x.shape[0] == x.shape[1]):
        return x, float64
    x = asarray(x)
    if x.ndim < 2:
        raise _LinAlgError(f"{name}: {x.ndim}-dimensional array given. Array must be at least two-dimensional")
    if square and x.shape[-1] != x.shape[-2]:
        raise _LinAlgError(f"{name}: Last 2 dimensions of the array must be square, not {x.shape}")
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        raise DTypeError(f"{name}: array type {x.dtype} is unsupported in linalg")
    return x, _common(x)


def _is_plain_square(x):
    """Whether an operand is one square matrix of a dtype that LAPACK computes in."""
    return type(x) is _graphc.ndarray and x.ndim == 2 and (x.dtype is float64 or x.dtype is complex128) and x.shape[0] == x.shape[1] > 0


def _common(*arrays):
    """The dtype of what is computed from these."""
    if _py.all(x.dtype is float64 for x in arrays):
        return float64
    dtypes = [x.dtype for x in arrays]
    single = all(d in (float32, complex64) for d in dtypes)
    if any(d.kind == "c" for d in dtypes):
        return complex64 if single else complex128
    return float32 if single else float64


def _wide(dtype):
    """The dtype in which a result of this one is computed."""
    return complex128 if dtype.kind == "c" else float64


def _real(dtype):
    return float64 if dtype is float64 else _np.finfo(dtype).dtype


def _in(x, dtype):
    """An array in a dtype that it mostly has."""
    return x if x.dtype is dtype else x.astype(dtype, copy=False)


def _batch(x, dtype):
    """(b, m, n) in the wide dtype."""
    if x.ndim == 2 and x.dtype is float64 is dtype:
        return x.reshape((1, *x.shape))
    wide = _wide(dtype)
    x = x if x.dtype is wide else x.astype(wide, copy=False)
    count = 1 if x.ndim == 2 else _math.prod(x.shape[:-2])
    return x.reshape((count, *x.shape[-2:]))


def _run(name, operands, params, shape):
    return _graphc.library(name, operands, params, shape, complex128 if name == "eig" else operands[0].dtype)


def _adjoint(x):
    return _graphc.conj(x).mT if x.dtype.kind == "c" else x.mT


def _now(x):
    """Computed, so that an error is raised here; not while a function is traced."""
    try:
        if _graphc.pending(x):
            _graphc.eval([x], "linalg")
    except TraceError:
        pass
    return x


def _parts(packed, lead, dtype, *shapes, real=()):
    """The parts that follow one another in each row of a packed result; those numbered in `real` hold real numbers."""
    if not lead and dtype is float64 and packed.dtype is float64:
        return _plain_parts(packed, shapes)
    found, start = [], 0
    for number, shape in enumerate(shapes):
        stop = start + _math.prod(shape)
        part, kind = packed[:, start:stop], _real(dtype) if number in real else dtype
        if number in real and part.dtype.kind == "c":
            part = part.real
        part = part.reshape(lead + shape)
        found.append(single(part if part.dtype is kind else part.astype(kind, copy=False)))
        start = stop
    return found


def _plain_parts(packed, shapes):
    """The same of one row of float64."""
    row, found, start = packed[0], [], 0
    for shape in shapes:
        if not shape:
            found.append(row[start])
            start += 1
            continue
        stop = start + _math.prod(shape)
        part = row[start:stop]
        found.append(part if len(shape) == 1 else part.reshape(shape))
        start = stop
    return found


def cholesky(x, /, *, upper=False):
    """The lower triangular L with x = L Lᴴ (upper=True: U with x = Uᴴ U); only that triangle of `x` is read. Raises
    LinAlgError when `x` is not positive definite or not square."""
    x, dtype = _matrices(x, "cholesky", square=True)
    a = _batch(x, dtype)
    lower = _now(_run("cholesky", [a], [int(bool(upper))], a.shape)).reshape(x.shape)
    return lower if dtype is float64 else lower.astype(dtype, copy=False)


def qr(a, mode="reduced"):
    """(Q, R) with a = Q R: Q has as many columns as the smaller side ("reduced") or rows ("complete"); mode "r" gives
    R alone, "raw" LAPACK's reflectors and scalars. Raises ValueError for another mode."""
    modes = {"reduced": 0, "complete": 1, "r": 2, "raw": 3}
    if mode in ("full", "f", "economic", "e"):
        raise _ForeignDType("modes that NumPy has still")
    if mode not in modes:
        raise ArgumentError(f"qr: Unrecognized mode {mode!r}; it is one of {', '.join(modes)}")
    a, dtype = _matrices(a, "qr")
    m, n = a.shape[-2:]
    k = min(m, n)
    shapes = {"reduced": ((m, k), (k, n)), "complete": ((m, m), (m, n)), "r": ((k, n),), "raw": ((n, m), (k,))}[mode]
    batch = _batch(a, dtype)
    packed = _run("qr", [batch], [modes[mode]], (batch.shape[0], sum(_math.prod(s) for s in shapes)))
    parts = _parts(packed, a.shape[:-2], dtype, *shapes)
    if mode == "r":
        return parts[0]
    return tuple(parts) if mode == "raw" else QRResult(*parts)


def solve(a, b):
    """x with a x = b; `b` is a vector when it has one axis, else matrices; batch axes broadcast. Raises
    LinAlgError for a singular `a` and ShapeError when sizes differ."""
    if _is_plain_square(a) and type(b) is _graphc.ndarray and b.dtype is a.dtype and 1 <= b.ndim <= 2:
        n, columns = a.shape[0], b.shape[1:]
        if b.shape[0] == n and columns != (0,) and a.device == b.device:
            y = b.reshape((1, n, *(columns or (1,))))
            return _now(_run("solve", [a.reshape((1, n, n)), y], [], y.shape)).reshape(b.shape)
    return _solve(a, b)


@_where_operands_are
def _solve(x1, x2):
    x1, _ = _matrices(x1, "solve", square=True)
    x2 = asarray(x2)
    vector = x2.ndim == 1
    if x2.ndim == 0:
        raise ShapeError("solve: the right side has no axis")
    if vector:
        x2 = x2.reshape((x2.size, 1))
    dtype = _common(x1, x2)
    n, k = x1.shape[-1], x2.shape[-1]
    if x2.shape[-2] != n:
        raise ShapeError(
            f"solve{'1' * vector}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"{'(m,m),(m)->(m)' if vector else '(m,m),(m,n)->(m,n)'} (size {x2.shape[-2]} is different from {n})"
        )
    lead = () if x1.ndim == x2.ndim == 2 else broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    a = _batch(_graphc.broadcast_to(x1, lead + (n, n)) if lead else x1, dtype)
    y = _batch(_graphc.broadcast_to(x2, lead + (n, k)) if lead else x2, dtype)
    x = _now(_run("solve", [a, y], [], y.shape)).reshape(lead + ((n,) if vector else (n, k)))
    return x.astype(dtype, copy=False)


def _inverse(x, dtype, quiet):
    a = _batch(x, dtype)
    return _run("inv", [a], [int(quiet)], a.shape).reshape(x.shape).astype(dtype, copy=False)


def inv(a):
    """The inverse of square matrices. Raises LinAlgError when one is singular or not square."""
    if _is_plain_square(a):
        batch = a.reshape((1, *a.shape))
        return _now(_run("inv", [batch], [0], batch.shape)).reshape(a.shape)
    a, dtype = _matrices(a, "inv", square=True)
    return _now(_inverse(a, dtype, False))


def det(a):
    """Determinants of square matrices."""
    if _is_plain_square(a):
        return single(_run("det", [a.reshape((1, *a.shape))], [], (1,)).reshape(()))
    a, dtype = _matrices(a, "det", square=True)
    batch = _batch(a, dtype)
    return single(_run("det", [batch], [], batch.shape[:1]).reshape(a.shape[:-2]).astype(dtype, copy=False))


def slogdet(a):
    """(sign, logabsdet) with det = sign * exp(logabsdet); 0 and -inf for a singular matrix. The sign of a complex
    determinant is a complex number of size 1."""
    a, dtype = _matrices(a, "slogdet", square=True)
    batch = _batch(a, dtype)
    packed = _run("slogdet", [batch], [], (batch.shape[0], 2))
    return SlogdetResult(*_parts(packed, a.shape[:-2], dtype, (), (), real=(1,)))


def _eigh(x, UPLO, values_only, name):
    UPLO = str(UPLO).upper()
    if UPLO not in ("L", "U"):
        raise ArgumentError(f"{name}: UPLO argument must be 'L' or 'U'")
    x, dtype = _matrices(x, name, square=True)
    n, a = x.shape[-1], _batch(x, dtype)
    shapes = ((n,),) if values_only else ((n,), (n, n))
    packed = _run("eigh", [a], [int(values_only), int(UPLO == "L")], (a.shape[0], n if values_only else n + n * n))
    return _parts(_now(packed), x.shape[:-2], dtype, *shapes, real=(0,))


def eigh(a, UPLO="L"):
    """(eigenvalues, eigenvectors) of symmetric or Hermitian matrices, ascending; only the named triangle is read. Raises
    LinAlgError when the iteration does not converge."""
    return EighResult(*_eigh(a, UPLO, False, "eigh"))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of symmetric or Hermitian matrices, ascending; only the named triangle is read."""
    return _eigh(a, UPLO, True, "eigvalsh")[0]


def _eig(x, values_only, name):
    x, dtype = _matrices(x, name, square=True)
    n, a = x.shape[-1], _batch(x, dtype)
    shapes = ((n,),) if values_only else ((n,), (n, n))
    packed = _now(_run("eig", [a], [int(values_only)], (a.shape[0], n if values_only else n + n * n)))
    return _parts(packed, x.shape[:-2], complex64 if dtype in (float32, complex64) else complex128, *shapes)


def eig(a):
    """(eigenvalues, eigenvectors) of square matrices, complex whatever their values, as the Array API wants them.
    Raises LinAlgError for infinities and NaN, and when the iteration does not converge."""
    return EigResult(*_eig(a, False, "eig"))


def eigvals(a):
    """Eigenvalues of square matrices, complex whatever their values."""
    return _eig(a, True, "eigvals")[0]


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """(U, S, Vh) with a = U diag(S) Vh; full_matrices=False leaves out the vectors beyond the smaller side;
    compute_uv=False gives S alone. Raises LinAlgError when the iteration does not converge."""
    a, dtype = _matrices(a, "svd", square=hermitian)
    m, n = a.shape[-2:]
    k, batch = min(m, n), _batch(a, dtype)
    mode = 0 if not compute_uv else 2 if full_matrices else 1
    shapes = [((k,),), ((m, k), (k,), (k, n)), ((m, m), (k,), (n, n))][mode]
    packed = _now(_run("svd", [batch], [mode], (batch.shape[0], sum(_math.prod(s) for s in shapes))))
    parts = _parts(packed, a.shape[:-2], dtype, *shapes, real=(0,) if mode == 0 else (1,))
    return parts[0] if mode == 0 else SVDResult(*parts)


def svdvals(x, /):
    """Singular values, descending."""
    return svd(x, compute_uv=False)


@_where_operands_are
def lstsq(a, b, rcond=None):
    """(x, residuals, rank, s): x minimises the 2-norm of b - a x. Singular values below rcond times the largest count
    as zero (None: machine precision times the larger side). `residuals` is empty unless a has full rank and more rows
    than columns. Raises LinAlgError when sizes differ or the iteration does not converge."""
    a, _ = _matrices(a, "lstsq")
    b = asarray(b)
    vector = b.ndim == 1
    if vector:
        b = b.reshape((b.size, 1))
    if a.ndim != 2 or b.ndim != 2:
        raise _LinAlgError(f"lstsq: {a.ndim if a.ndim != 2 else b.ndim}-dimensional array given. Array must be two-dimensional")
    (m, n), k = a.shape, b.shape[1]
    if b.shape[0] != m:
        raise _LinAlgError(f"lstsq: Incompatible dimensions: shapes {a.shape} and {b.shape}")
    dtype = _common(a, b)
    wide = _wide(dtype)
    limit = 2.0**-52 * max(m, n) if rcond is None else rcond
    limit = _graphc.full((1,), limit, wide, a.device) if type(limit) is float else asarray(limit).astype(wide, copy=False).reshape((1,))
    packed = _now(_run("lstsq", [_in(a, wide), _in(b, wide), limit], [], (n * k + k + 1 + min(m, n),)))
    numbers = packed[n * k :]
    numbers, real = numbers.real if wide is complex128 else numbers, _real(dtype)
    rank = _np.int32(int(numbers[k]))
    residuals = numbers[:k] if rank == n and m > n else zeros((0,), real)
    x = packed[: n * k]
    x, residuals, s = x if dtype is wide else x.astype(dtype), _in(residuals, real), _in(numbers[k + 1 :], real)
    return x if vector else x.reshape((n, k)), residuals, rank, s


def _column(tolerance):
    """A tolerance, for comparison with singular values along the last axis."""
    if isinstance(tolerance, (int, float)):
        return tolerance
    tolerance = asarray(tolerance)
    return tolerance.reshape(tolerance.shape + (1,))


def pinv(a, rcond=None, hermitian=False, *, rtol=...):
    """Moore-Penrose inverses; singular values up to rcond times the largest count as zero (default 1e-15; rtol=None:
    machine precision times the larger side)."""
    a, dtype = _matrices(a, "pinv", square=hermitian)
    if rcond is not None and rtol is not ...:
        raise ArgumentError("pinv: `rtol` and `rcond` can't be both set.")
    m, n = a.shape[-2:]
    if rcond is None:
        rcond = 1e-15 if rtol is ... else max(m, n) * float(_np.finfo(dtype).eps) if rtol is None else rtol
    if 0 in (m, n):
        return zeros(a.shape[:-2] + (n, m), a.dtype)
    u, s, vh = svd(a, full_matrices=False)
    large = s > _column(rcond) * s.max(axis=-1, keepdims=True)
    s = _graphc.select(large, 1 / _graphc.select(large, s, 1), 0)
    return matmul(_adjoint(vh), (s.reshape(s.shape + (1,)) * _adjoint(u)).astype(dtype, copy=False))


@_where_operands_are
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values exceed `tol` (default: rtol, or machine precision times the larger side, times the
    largest). Of a vector or number: whether it has a nonzero element."""
    if tol is not None and rtol is not None:
        raise ArgumentError("matrix_rank: `tol` and `rtol` can't be both set.")
    A = asarray(A)
    if A.ndim < 2:
        return (A != 0).any().astype(_np.dtype("int64"))
    s = svd(A, compute_uv=False, hermitian=hermitian)
    if s.shape[-1] == 0:
        return full(A.shape[:-2], 0, dtype="int64")
    if tol is None:
        rtol = max(A.shape[-2:]) * float(_np.finfo(s.dtype).eps) if rtol is None else _column(rtol)
        tol = s.max(axis=-1, keepdims=True) * rtol
    else:
        tol = _column(tol)
    return (s > tol).sum(axis=-1)


@_where_operands_are
@_stands_for()
def matrix_power(a, n):
    """The n-th power of square matrices; a negative power is one of the inverse, power 0 the identity."""
    a = asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        _matrices(a, "matrix_power", square=True)
    try:
        n = _operator.index(n)
    except TypeError:
        raise DTypeError("matrix_power: exponent must be an integer") from None
    if n == 0:
        return _graphc.broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    if n < 0:
        a, n = inv(a), -n
    if n == 3:  # whose order is NumPy's
        return matmul(matmul(a, a), a)
    result = None
    while True:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if not n:
            return result.copy() if result is a else result
        a = matmul(a, a)


def _float(x):
    x = asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(float64)


@_stands_for()
def _powers(x, order, axis, keepdims):
    """The order-norm of vectors along one axis."""
    if order == _math.inf:
        sizes = abs(x)
        return sizes.max(axis=axis, keepdims=keepdims) if x.shape[axis] else sizes.sum(axis=axis, keepdims=keepdims)
    if order == -_math.inf:
        return abs(x).min(axis=axis, keepdims=keepdims)
    if order == 0:
        return (x != 0).astype(abs(x).dtype).sum(axis=axis, keepdims=keepdims)
    if order == 1:
        return abs(x).sum(axis=axis, keepdims=keepdims)
    if order is None or order == 2:
        size = abs(x)
        return _graphc.sqrt((size * size).sum(axis=axis, keepdims=keepdims))
    if isinstance(order, str):
        raise ArgumentError(f"norm: Invalid norm order '{order}' for vectors")
    return (abs(x) ** order).sum(axis=axis, keepdims=keepdims) ** (1.0 / order)


def _matrix_norm(x, order, keepdims):
    """The order-norm of the last two axes."""
    rows, columns = (-1, -2), (-2, -1)
    if order in (None, "fro", "f"):
        size = abs(x)
        return _graphc.sqrt((size * size).sum(axis=columns, keepdims=keepdims))
    if 0 in x.shape[-2:] and order in ("nuc", 1, 2, _math.inf):
        return abs(x).sum(axis=columns, keepdims=keepdims)  # 0
    if order in ("nuc", 2, -2):
        s = svd(x, compute_uv=False)
        result = s.sum(axis=-1) if order == "nuc" else s.max(axis=-1) if order == 2 else s.min(axis=-1)
        return result.reshape(result.shape + (1, 1)) if keepdims else result
    if order in (1, -1, _math.inf, -_math.inf):
        first = rows[1] if abs(order) == 1 else rows[0]
        sums = abs(x).sum(axis=first, keepdims=True)
        result = sums.max(axis=columns, keepdims=keepdims) if order > 0 else sums.min(axis=columns, keepdims=keepdims)
        return result
    raise ArgumentError(f"norm: Invalid norm order {order!r} for matrices")


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The ord-norm of vectors along `axis` (None: of all elements; several axes count as one)."""
    x = _float(x)
    if axis is None:
        axes = list(range(x.ndim))
    else:
        axes = _axes(axis, x.ndim, "vector_norm")
    kept = [a for a in range(x.ndim) if a not in axes]
    flat = _graphc.transpose(x, tuple(kept + axes)).reshape(tuple(x.shape[a] for a in kept) + (_math.prod(x.shape[a] for a in axes),))
    result = _powers(flat, ord, -1, False)
    return result.reshape(tuple(1 if a in axes else n for a, n in enumerate(x.shape))) if keepdims else result


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The ord-norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf, -inf."""
    x = _float(x)
    if x.ndim < 2:
        raise _LinAlgError(f"matrix_norm: {x.ndim}-dimensional array given. Array must be at least two-dimensional")
    return _matrix_norm(x, ord, keepdims)


@_stands_for("dot")
def _euclidean(x):
    return _graphc.sqrt(_graphc.matmul(x, x))  # the same sum


@_stands_for("dot")
def _length(line):
    return _graphc.sqrt((line * line).sum())


@_stands_for()
def norm(x, ord=None, axis=None, keepdims=False):
    """NumPy's norm: of vectors along one axis, of matrices along two; without axis and ord of the flattened array.
    Raises ValueError for an order that does not exist for them."""
    x = _float(x)
    if axis is None:
        if ord is None and x.ndim == 1 and not keepdims and x.dtype.kind == "f":
            return _euclidean(x)
        if ord is None or (ord in ("fro", "f") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            line = (abs(x) if x.dtype.kind == "c" else x).reshape(-1)
            result = _length(line)
            return result.reshape((1,) * x.ndim) if keepdims else result
        axes = list(range(x.ndim))
    else:
        axes = _axes(axis if isinstance(axis, (tuple, list)) else int(axis), x.ndim, "norm")
    if len(axes) == 1:
        return _powers(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ArgumentError("norm: Improper number of dimensions to norm.")
    kept = [a for a in range(x.ndim) if a not in axes]
    result = _matrix_norm(_graphc.transpose(x, tuple(kept + axes)), ord, False)
    return result.reshape(tuple(1 if a in axes else n for a, n in enumerate(x.shape))) if keepdims else result


norm.quick = _graphc.plain_norm(_number_of("dot"))


def cond(x, p=None):
    """The condition number in the p-norm (None: 2); infinite for a singular matrix. Raises LinAlgError for a matrix
    without elements."""
    x, dtype = _matrices(x, "cond")
    if 0 in x.shape[-2:]:
        raise _LinAlgError("cond: cond is not defined on empty arrays")
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        _matrices(x, "cond", square=True)
        wide = _wide(dtype)
        x = x.astype(wide, copy=False)
        result = _matrix_norm(x, p, False) * _matrix_norm(_inverse(x, wide, True), p, False)
        result = result.astype(_real(dtype), copy=False)
    singular = _graphc.logical_and(result != result, _graphc.logical_not((x != x).any(axis=(-2, -1))))
    return _graphc.select(singular, _math.inf, result)


def multi_dot(arrays, *, out=None):
    """The product of several matrices in the order that takes the fewest multiplications; the first and the last may
    be vectors. `out` takes it."""
    arrays = asarrays(arrays)
    if len(arrays) < 2:
        raise ArgumentError("multi_dot: Expecting at least two arrays.")
    first, last = arrays[0].ndim, arrays[-1].ndim
    if first == 1:
        arrays[0] = arrays[0].reshape((1, arrays[0].size))
    if last == 1:
        arrays[-1] = arrays[-1].reshape((arrays[-1].size, 1))
    for a in arrays:
        if a.ndim != 2:
            raise _LinAlgError(f"multi_dot: {a.ndim}-dimensional array given. Array must be two-dimensional")
    sizes = [a.shape[0] for a in arrays] + [arrays[-1].shape[1]]
    result = _product(arrays, sizes)
    if first == 1 and last == 1:
        return with_out(single(result.reshape(())), out, name="multi_dot")
    return with_out(result.reshape((-1,)) if 1 in (first, last) else result, out, name="multi_dot")


def _product(arrays, sizes):
    """The product of matrices in the order that takes the fewest multiplications; `sizes`: of their rows, and of the last one's columns."""
    count = len(arrays)
    if count == 2:
        return _dot(*arrays)
    if count == 3:
        a, b, c = arrays
        m, n, k, p = sizes
        return _dot(a, _dot(b, c)) if n * k * p + m * n * p <= m * n * k + m * k * p else _dot(_dot(a, b), c)
    cost = {(i, i): (0, i) for i in range(count)}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            cost[i, j] = min((cost[i, s][0] + cost[s + 1, j][0] + sizes[i] * sizes[s + 1] * sizes[j + 1], s) for s in range(i, j))

    def product(i, j):
        return arrays[i] if i == j else _dot(product(i, cost[i, j][1]), product(cost[i, j][1] + 1, j))

    return product(0, count - 1)


def tensorinv(a, ind=2):
    """The inverse of `a` as a map between its first `ind` axes and the others."""
    a = asarray(a)
    if ind <= 0:
        raise ArgumentError("tensorinv: Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    return inv(a.reshape((_math.prod(a.shape[ind:]), -1))).reshape(shape)


@_where_operands_are
def tensorsolve(a, b, axes=None):
    """x with tensordot(a, x, x.ndim) = b; `axes` are moved to the end of `a` first."""
    a, b = asarray(a), asarray(b)
    if axes is not None:
        order = [k for k in range(a.ndim) if k not in axes] + list(axes)
        a = _graphc.transpose(a, tuple(order))
    shape = a.shape[-(a.ndim - b.ndim) :] if a.ndim > b.ndim else ()
    size = _math.prod(shape)
    if a.size != size**2:
        raise _LinAlgError("tensorsolve: Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return solve(a.reshape((size, size)), b.reshape((-1,))).reshape(shape)


@_where_operands_are
def cross(x1, x2, /, *, axis=-1):
    """Cross products of 3-vectors along an axis. Raises ValueError for other sizes."""
    x1, x2 = asarray(x1), asarray(x2)
    for x in (x1, x2):
        if x.ndim == 0 or x.shape[_axis(axis, x.ndim, "cross")] != 3:
            raise ArgumentError(f"cross: Both input arrays must be (arrays of) 3-dimensional vectors, shapes are {x1.shape} and {x2.shape}")
    return _cross(x1, x2, axis=axis)


@_where_operands_are
def outer(x1, x2, /):
    """All products of the elements of two vectors. Raises ValueError for operands that are not vectors."""
    x1, x2 = asarray(x1), asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ArgumentError(f"outer: Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return _outer(x1, x2)


def diagonal(x, /, *, offset=0):
    """Diagonals of the last two axes: a view."""
    return _diagonal(asarray(x), offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of the diagonals of the last two axes."""
    return _trace(asarray(x), offset, -2, -1, dtype)


class _Names(_types.ModuleType):
    """NumPy's module of these functions, by which programs name the classes of results (`linalg._linalg.EigResult`) and what NumPy's own are made of."""

    def __getattr__(self, name):
        return globals()[name] if name in globals() else getattr(_np.linalg._linalg, name)


_linalg = _sys.modules[f"{__name__}._linalg"] = _Names(f"{__name__}._linalg")
__path__ = []  # a package, whose other modules are NumPy's
