"""What elementwise functions do besides being called with their operands: outputs, masks, dtypes, and the methods
`reduce`, `accumulate`, `reduceat`, `outer` and `at`. The plain call never comes here (bindings/Ufunc.cpp)."""

from __future__ import annotations

import builtins as _py
import contextlib as _contextlib
import functools as _functools
import math as _math
import operator as _operator

import numpy as _np

from . import _graphc
from ._creation import in_order as _in_memory_order
from ._creation import _order, asarray, full, mask_of, operand, single, zeros
from ._devices import looped as _looped, where_operands_are as _where_operands_are
from ._dtypes import as_dtype, can_cast, dtype_of_sums, refuse_casting, refuse_unsafe
from . import _foreign
from ._float_errors import any_told as _any_told
from ._float_errors import named as _named, stands_for as _stands_for
from ._float_errors import tell as _tell
from ._missing import EXTREMES as _PASSES_NAN
from ._signatures import Described as _Described
from ._ufunc_loops import called as _called, is_weak as _is_weak, masked as _masked, of_loop as _of_loop, scan as _scan, spread as _spread
from ._ufunc_methods import is_basic as _is_basic, name_at as _name_at, doubling as _doubling, fold_where as _fold_where, loop_dtype as _loop_dtype, in_order as _in_order, in_turns as _in_turns, mark as _mark, quick_method as _quick_method
from ._slices import ANY_ORDER as _ASSOCIATIVE, fold_slices as _fold_slices, is_numpys as _is_numpys, reduce_by_lengths as _reduce_by_lengths, slices as _slices
from .errors import ArgumentError, AxisError, DTypeError, ForeignDType, IndexOutOfBounds, ShapeError

_Array = _graphc.Array
ufunc = _graphc.ufunc

# As those of _ASSOCIATIVE, but for roundings.
_ROUNDED = {"logaddexp", "logaddexp2", "hypot"}
# Reductions and scans that are operations of their own.
_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
_REDUCTIONS |= {"logical_and": "all", "logical_or": "any"}
_SCANS = {"add": "sum", "multiply": "prod"}
_SCANS_OF_ORDER = {"maximum": "max", "minimum": "min"}
_SCANS_OF_TRUTH = {"logical_and": "min", "logical_or": "max"}
_ALL_SCANS = _SCANS | _SCANS_OF_ORDER

_IDENTITIES = {
    "add": 0, "multiply": 1, "logical_and": True, "logical_or": False, "logical_xor": False, "bitwise_and": -1,
    "bitwise_or": 0, "bitwise_xor": 0, "logaddexp": -float("inf"), "logaddexp2": -float("inf"), "hypot": 0, "gcd": 0,
}  # fmt: skip
# In any order, though there is nothing to begin with.
_REORDERABLE = {"maximum", "minimum", "fmax", "fmin"}
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


class _NoValue:
    def __repr__(self):
        return "<no value>"


_NO_VALUE = _NoValue()


def is_missing(value):
    """Whether an optional argument was left out; NumPy's own mark counts too."""
    return value is _NO_VALUE or value is _np._NoValue


# Outputs.


def _castable(from_, to, casting):
    return casting == "unsafe" or can_cast(from_, to, casting)


def _no_output(out, message):
    """The error of what is no array: an object that says itself what ufuncs mean is asked by NumPy."""
    return (ForeignDType if _foreign.has_own(type(out), "__array_ufunc__") else TypeError)(message)


def refuse_cast(dtype, wanted, casting, name):
    """Raises where a ufunc's result may not be written to an output of the wanted dtype."""
    if dtype != wanted and not _castable(dtype, wanted, casting):
        raise DTypeError(f"Cannot cast ufunc '{name}' output from dtype('{dtype}') to dtype('{wanted}') with casting rule '{casting}'")


def check_output(out, shape, dtype, casting, name):
    """Raises unless a result of this shape and dtype may be written to `out`."""
    if not isinstance(out, (_Array, _np.ndarray)):
        raise _no_output(out, f"{name}: return arrays must be of ArrayType, not {type(out).__name__}")
    if out.readonly if _graphc.is_array(out) else not out.flags.writeable:
        raise ArgumentError(f"{name}: output array is read-only")
    refuse_cast(dtype, out.dtype, casting, name)
    if tuple(shape) != out.shape and _broadcast(name, [shape, out.shape]) != out.shape:
        raise ShapeError(
            f"{name}: non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {tuple(shape)}"
        )


def _broadcast(name, shapes):
    try:
        return _np.broadcast_shapes(*shapes)
    except ValueError:
        text = " ".join(str(tuple(s)).replace(" ", "") for s in shapes)
        raise ShapeError(f"{name}: operands could not be broadcast together with shapes {text}") from None


@_stands_for()
def write(result, out, casting="same_kind", name="out", where=True, told_as=None):
    """Writes a result through `out` (an Array, or a NumPy array, which is changed in place) and returns `out`. Floating-point
    errors of the conversion are told as those of `told_as`, if given."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ArgumentError(f"{name}: one output is expected, got {len(out)}")
        out = out[0]
    check_output(out, result.shape, result.dtype, casting, name)
    with _contextlib.nullcontext() if told_as is None or out.dtype == result.dtype else _named(told_as):
        if isinstance(out, _np.ndarray):
            _np.copyto(out, _np.asarray(result), casting="unsafe", where=True if where is True else _np.asarray(where))
        elif where is True:
            out[...] = result.astype(out.dtype, copy=False)  # of single results too, whatever fits
        else:
            out[...] = _graphc.select(where, result.astype(out.dtype, copy=False), out)
    return out


@_stands_for()
def _write_own(result, out, casting, name, where=True):
    """`write` of a ufunc's result: an error of the conversion is the ufunc's."""
    return write(result, out, casting, name, where, name)


@_stands_for()
def with_out(result, out, casting="same_kind", name="out"):
    """`result`, or `out`, which has its shape, after the result was written to it; of `...` an array, where there is a single result."""
    if out is None:
        return result
    if out is ...:
        return asarray(result)
    place = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if getattr(place, "shape", result.shape) != result.shape:
        raise ShapeError(f"{name}: output array of shape {place.shape} does not match the result's, {result.shape}")
    return write(result, out, casting, name)


# The call.


def _outputs(self, args, out):
    name, nin, nout = self.__name__, self.nin, self.nout
    if len(args) > nin:
        if out is not None:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        out = args[nin:]
    if out is None:
        return (None,) * nout
    if not isinstance(out, tuple):
        out = (out,)
        if nout > 1:
            raise TypeError(f"{name}: 'out' must be a tuple of {nout} arrays")
    if len(args) > nin:
        out += (None,) * (nout - len(out))
    if len(out) != nout:
        raise ArgumentError(f"{name}: The 'out' tuple must have exactly {nout} entries")
    return out


def _strong(x):
    return x if _is_weak(x) or isinstance(x, _np.generic) else asarray(x)


_BOOLEAN = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
    "logical_not", "isnan", "isinf", "isfinite", "signbit",
}  # fmt: skip
# Folds whose dtypes are not those of a loop over elements.
_OF_THEIR_OWN = _REDUCTIONS.keys() | _PASSES_NAN.keys() | _BOOLEAN


@_stands_for()
def _call(self, args, keywords):
    """The call with more than operands: the handler of bindings/Ufunc.cpp."""
    if len(keywords) == 2 and self.nout == 1 and len(args) == self.nin and self.__name__ not in _PRODUCTS:
        done = _masked(self, args, keywords)
        if done is not None:
            return done
    out = keywords.pop("out", _NO_VALUE)
    where = keywords.pop("where", True)
    if where is not True and out is _NO_VALUE and len(args) <= self.nin:
        _tell("'where' used without 'out', expect unitialized memory in output. If this is intentional, use out=None.", UserWarning)
    as_arrays, out = out is ..., None if out is _NO_VALUE or out is ... else out
    casting = keywords.pop("casting", "same_kind")
    dtype = keywords.pop("dtype", None)
    if "sig" in keywords and "signature" in keywords:
        raise TypeError("cannot specify both 'sig' and 'signature'")
    signature = keywords.pop("signature", keywords.pop("sig", None))
    order = _order(keywords.pop("order", "K"))
    keywords.pop("subok", None)
    axes = _of_products(keywords, where) if self.__name__ in _PRODUCTS else {}
    if keywords:
        raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{next(iter(keywords))}'")
    if len(args) == 3 and self.__name__ in ("maximum", "minimum"):
        _tell("Passing more than 2 positional arguments to np.maximum and np.minimum is deprecated. If you meant to use the third argument as an output, use the `out` keyword argument instead. If you hoped to work with more than 2 inputs, combine them into a single array and get the extrema for the relevant axis.", DeprecationWarning)
    outs = _outputs(self, args, out)
    for o in outs:
        if o is not None and not isinstance(o, (_Array, _np.ndarray)):
            raise _no_output(o, "return arrays must be of ArrayType" if o is not ... else "out=... is only allowed as a keyword argument.")
    refuse_casting(casting)
    operands = [_strong(x) for x in args[: self.nin]]
    operands, kinds = _of_loop(self, operands, dtype, signature, casting)
    where = True if where is True else mask_of(where)
    results = _called(self, operands, axes, where, outs)
    is_one = not isinstance(results, tuple)
    results = (results,) if is_one else _spread(results, outs)
    if kinds is not None and _py.any(r.dtype != kind for r, kind in zip(results, kinds)):
        raise DTypeError(f"No loop matching the specified signature and casting was found for ufunc {self.__name__}")
    # Every output is checked before one is written.
    done = []
    for result, o in zip(results, outs):
        if o is not None:
            shape = result.shape if where is True else _broadcast(self.__name__, [result.shape, where.shape])
            check_output(o, shape, result.dtype, casting, self.__name__)
    for result, o in zip(results, outs):
        if o is not None:
            done.append(_write_own(result, o, casting, self.__name__, where))
        elif where is True:
            done.append(result if order == "K" else _laid_out(result, order, operands))
        else:
            done.append(_graphc.select(where, result, zeros((), result.dtype, device=result.device)))
    done = [asarray(result) for result in done] if as_arrays else done
    return done[0] if is_one else tuple(done)


def _of_products(keywords, where):
    """The options of products of matrices and vectors among `keywords`, which lose them."""
    if where is not True:
        raise TypeError("an unexpected keyword argument 'where'")
    if "axis" in keywords and "axes" in keywords:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if not isinstance(keywords.get("keepdims", False), (bool, _np.bool_)):
        raise TypeError("'keepdims' must be a boolean")
    if not isinstance(keywords.get("axes", []), list):
        raise TypeError("axes should be a list.")
    return {k: keywords.pop(k) for k in ("axis", "axes", "keepdims") if k in keywords}


def _laid_out(result, order, operands):
    """A result in the memory order C or F; A is F when no operand is row-major and all are column-major."""
    if order == "A":
        arrays = [x.flags for x in operands if _graphc.is_array(x) and x.ndim > 1]
        order = "F" if arrays and _py.all(f.f_contiguous and not f.c_contiguous for f in arrays) else "C"
    return _in_memory_order(result, order)


_CORES = {"matmul": "(n?,k),(k,m?)->(n?,m?)", "vecdot": "(n),(n)->()", "matvec": "(m,n),(n)->(m)", "vecmat": "(n),(n,m)->(m)"}
_PRODUCTS = _CORES.keys()


# Reductions.


def _binary(self, what):
    if self.nin != 2 or self.nout != 1:
        raise ArgumentError(f"{what} only supported for binary functions")
    if self.__name__ in _PRODUCTS:
        raise RuntimeError(f"Reduction not defined on ufunc with signature: {self.__name__}")


def _whole(axis):
    if isinstance(axis, bool):
        raise TypeError("an integer is required, not a bool")
    return _operator.index(axis)


def _axes_of(axis, ndim, what):
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    found = []
    for a in axes:
        a = _whole(a)
        limit = ndim if isinstance(axis, tuple) else ndim or 1  # axes 0 and -1 of a 0-d array are allowed
        if not -limit <= a < limit:
            raise AxisError(f"{what}: axis {a} is out of bounds for array of dimension {ndim}")
        found.append(a % limit)
    if len(set(found)) != len(found):
        raise AxisError(f"{what}: duplicate value in 'axis': {tuple(axes)}")
    return tuple(found) if ndim else ()


def _identity_array(self, dtype):
    return asarray(_IDENTITIES[self.__name__]).astype(dtype)


@_stands_for("reduce")
def _fold(self, x):
    """All rows of `x` combined to one, in order; by halves where grouping does not matter, and what is subtracted in the
    order of sums."""
    if self.__name__ == "subtract" and x.dtype.kind != "b" and x.shape[0] > 2:
        return x[0] - _graphc.reduce("sum", x[1:], (0,), False, x.dtype)
    if self.__name__ == "hypot" and x.shape[0] == 1:
        return self(0, x[0])
    if self.__name__ not in _ASSOCIATIVE | _ROUNDED:
        result = x[0].copy()
        for i in range(1, x.shape[0]):
            result = self(result, x[i])
        return result
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        folded = self(x[:half], x[half : 2 * half])
        x = folded if x.shape[0] % 2 == 0 else _graphc.concatenate([folded, x[2 * half :].astype(folded.dtype)], 0)
    return x[0]


@_stands_for()
def _plain_reduce(self, x, axes, keepdims, dtype):
    kind = _REDUCTIONS.get(self.__name__)
    if kind is not None:
        if kind in ("sum", "prod"):
            return _graphc.reduce(kind, x, axes, keepdims, dtype)
        return _graphc.reduce(kind, x if dtype is None or kind in ("any", "all") else x.astype(dtype, copy=False), axes, keepdims, None)
    x = x if dtype is None else x.astype(dtype, copy=False)
    if self.__name__ in _PASSES_NAN and x.dtype.kind != "c":
        return _PASSES_NAN[self.__name__](x, axes, keepdims)
    x = x.astype(bool, copy=False) if self.__name__.startswith("logical") else x
    if _is_numpys(self.__name__, x):
        return single(asarray(getattr(_np, self.__name__).reduce(_np.asarray(x), axes, keepdims=keepdims)))
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    shape, count = tuple(x.shape[i] for i in rest), _math.prod(x.shape[i] for i in axes)
    rows = _graphc.transpose(x, axes + rest).reshape((count, *shape))
    result = _fold(self, rows)
    if count == 1 and _graphc.shares_storage(result, x):
        result = result.copy()
    if result.dtype != x.dtype and self.__name__ not in _BOOLEAN and rows.shape[0] == 1:
        result = result.astype(x.dtype)
    wanted = tuple(1 if i in axes else n for i, n in enumerate(x.shape)) if keepdims else shape
    return result.reshape(wanted)


def _is_negative_zero(x):
    if isinstance(x, (complex, _np.complexfloating)):
        return _is_negative_zero(float(x.real)) or _is_negative_zero(float(x.imag))
    return isinstance(x, (float, _np.floating)) and x == 0 and _math.copysign(1, x) < 0


@_stands_for()
def _begun_at(initial, x, total, axes, keepdims):
    """The sum `total` of `x` with what it begins at: of negative zeros alone it is one."""
    if total.dtype.kind == "c":
        re, im = (_begun_at(getattr(initial, part), f(x), f(total), axes, keepdims) for part, f in (("real", _graphc.real), ("imag", _graphc.imag)))
        return _graphc.complex(re, im)
    first = asarray(float(initial), total.dtype)
    if not _is_negative_zero(float(initial)):
        return total + first
    remains = _graphc.reduce("all", _graphc.signbit(x) & (x == 0), axes, keepdims, None)
    return _graphc.select(remains, first, total)


@_stands_for()
def reduce_array(self, x, axis, dtype=None, keepdims=False, initial=_NO_VALUE, where=True):
    """The reduction of an Array by a binary ufunc; see ufunc.reduce."""
    name = self.__name__
    axes = _axes_of(axis, x.ndim, f"{name}.reduce")
    identity = _IDENTITIES.get(name)
    has_initial = not is_missing(initial) and initial is not None
    if has_initial and _np.ndim(initial):
        raise ShapeError(f"{name}.reduce: `initial` is a single value, not one of shape {_np.shape(initial)}")
    is_complex = (x.dtype if dtype is None else dtype).kind == "c"
    keeps_signs = has_initial and name == "add" and _is_negative_zero(initial) and (is_complex or not isinstance(initial, (complex, _np.complexfloating)))
    neutral = complex(-0.0, -0.0) if is_complex else -0.0  # in sums of negative zeros
    if len(axes) > 1 and identity is None and name not in _REORDERABLE:
        raise ArgumentError(f"reduction operation '{name}' is not reorderable, so at most one axis may be specified")
    if name in _COMPARISONS and x.dtype.kind != "b" and dtype is not None and dtype.kind == "b":
        x = x.astype(bool)
    if name in _COMPARISONS and x.dtype.kind != "b":
        raise DTypeError(f"No loop matching the specified signature and casting was found for ufunc {name}")
    if name not in _OF_THEIR_OWN:
        x, dtype = x.astype(_loop_dtype(name, x.dtype if dtype is None else dtype), copy=False), None
    mask = None  # of elements that are left out of a fold in order
    if where is not True:
        if not has_initial and (identity is None or initial is None):
            raise ArgumentError(f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify 'initial'")
        where = mask_of(where)
        if dtype is None and _REDUCTIONS.get(name) not in ("sum", "prod"):
            filler = _identity_array(self, x.dtype) if identity is not None else asarray(initial, x.dtype)
        else:
            kind = dtype or _graphc.result_type(x)
            x = x.astype(kind, copy=False)
            is_filler = identity is None or keeps_signs
            plain = not is_filler and type(identity) is int and identity >= 0 and kind.kind in "iuf"
            none = neutral if keeps_signs else initial
            filler = identity if plain else asarray(none if is_filler else identity, x.dtype)
        if where.shape != x.shape and _broadcast(name, [x.shape, where.shape]) != x.shape:
            raise ShapeError(f"{name}.reduce: a mask of shape {where.shape} for an array of shape {x.shape}")
        if identity is None and name not in _OF_THEIR_OWN | _ASSOCIATIVE:
            mask = _graphc.broadcast_to(where, x.shape)
        else:
            x = _graphc.select(where, x, filler)
    empty = _py.any(x.shape[a] == 0 for a in axes)
    if empty and not has_initial and (identity is None or initial is None):
        raise ArgumentError(f"zero-size array to reduction operation {name} which has no identity")
    if empty and _REDUCTIONS.get(name) not in ("sum", "prod", "any", "all"):
        shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)
        kind = bool if name in _BOOLEAN else dtype or (_graphc.result_type(x, 1.0) if name in _ROUNDED else x.dtype)
        filler = asarray(initial, kind) if has_initial else _identity_array(self, kind)
        return single(_graphc.broadcast_to(filler.to_device(x.device), shape).copy())
    if has_initial and name not in _ASSOCIATIVE | _ROUNDED and name not in _REDUCTIONS:  # in front of the others
        front = asarray(initial, x.dtype if dtype is None else dtype)
        rest = tuple(i for i in range(x.ndim) if i not in axes)
        shape = (_math.prod(x.shape[i] for i in axes), *(x.shape[i] for i in rest))
        rows = _graphc.transpose(x, axes + rest).reshape(shape)
        front = _graphc.broadcast_to(front, (1, *shape[1:]))
        if mask is not None:
            result = single(_fold_where(self, front[0], rows, _graphc.transpose(mask, axes + rest).reshape(shape)))
        else:
            result = _plain_reduce(self, _graphc.concatenate([front, rows], 0), (0,), False, dtype)
        return result.reshape(tuple(1 if i in axes else n for i, n in enumerate(x.shape))) if keepdims else result
    result = _plain_reduce(self, x, axes, keepdims, dtype)
    if keeps_signs and (result.dtype.kind == "f" or result.dtype.kind == x.dtype.kind == "c"):
        return _begun_at(initial, x, result, axes, keepdims)
    if has_initial:
        result = self(asarray(initial, result.dtype if _is_weak(initial) else None), result).astype(result.dtype, copy=False)
    return result


@_stands_for()
def _reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_NO_VALUE, where=True):
    """Combines the elements along `axis` (an int, a tuple, None: all) in order. Sums and products follow the published
    trees (docs/numerics.md). `where` leaves elements out, `initial` is combined in front. Raises ValueError for no
    elements of an operation without identity."""
    _binary(self, "reduce")
    if type(array) in (list, tuple) and dtype is None and out is None and keepdims is False and initial is _NO_VALUE and where is True:
        return self.reduce(operand(array), axis)
    if type(array) is _graphc.ndarray and array.ndim == 1 and type(axis) is int and axis in (0, -1) and dtype is None and out is None and keepdims is False:
        if initial is _NO_VALUE and where is True and array.size and (self.__name__ in _PARTED or _is_numpys(self.__name__, array)):
            return _plain_reduce(self, array, (0,), False, None)
    x, dtype = operand(array), None if dtype is None else as_dtype(dtype)
    if self.__name__ in ("add", "multiply"):
        dtype = dtype_of_sums(x, out, dtype)
    result = reduce_array(self, x, axis, dtype, keepdims, initial, where)
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    return with_out(result, out, "unsafe", self.__name__)


def _one_axis(x, axis, what):
    if x.ndim == 0:
        raise TypeError(f"cannot {what} on a scalar")
    if axis is None:
        if x.ndim > 1:
            raise ArgumentError(f"{what} does not allow multiple axes")
        return 0
    if isinstance(axis, tuple) and len(axis) != 1:
        raise ArgumentError(f"{what} does not allow multiple axes")
    axis = _whole(axis[0] if isinstance(axis, tuple) else axis)
    if not -x.ndim <= axis < x.ndim:
        raise AxisError(f"{what}: axis {axis} is out of bounds for array of dimension {x.ndim}")
    return axis % x.ndim


@_stands_for("accumulate")
def _accumulate(self, array, axis=0, dtype=None, out=None):
    """Running combinations along an axis: element i combines the first i + 1 elements."""
    if type(array) is _graphc.ndarray and type(axis) is int and axis == 0 and dtype is None and out is None and array.ndim == 1:
        kind = _ALL_SCANS.get(self.__name__)
        if kind is not None and array.dtype.kind in "iuf":
            return _graphc.scan(kind, array, 0)
    _binary(self, "accumulate")
    x = operand(array)
    axis = _one_axis(x, axis, "accumulate")
    dtype = None if dtype is None else as_dtype(dtype)
    name = self.__name__
    if name in _COMPARISONS and (x.dtype if dtype is None else dtype).kind != "b":
        raise DTypeError(f"No loop matching the specified signature and casting was found for ufunc {name}")
    if name in ("add", "multiply"):
        dtype = dtype_of_sums(x, out, dtype)
    if name in _SCANS:
        result = _scan(_SCANS[name], x, axis, dtype)
    elif name in _SCANS_OF_ORDER:
        result = _graphc.scan(_SCANS_OF_ORDER[name], x if dtype is None else x.astype(dtype, copy=False), axis)
    elif name in _SCANS_OF_TRUTH:
        result = _graphc.scan(_SCANS_OF_TRUTH[name], x.astype(bool, copy=False), axis)
    else:
        dtype = _loop_dtype(name, x.dtype if dtype is None else dtype) if name not in _OF_THEIR_OWN else dtype
        x = x if dtype is None else x.astype(dtype, copy=False)
        x = x.astype(bool, copy=False) if name.startswith("logical") else x
        if _is_numpys(self.__name__, x):
            return with_out(asarray(getattr(_np, name).accumulate(_np.asarray(x), axis)), out, "unsafe", name)
        rows = _graphc.transpose(x, (axis, *[i for i in range(x.ndim) if i != axis]))
        rows = _doubling(self, rows) if name in _ASSOCIATIVE else _in_order(self, rows)
        back = list(range(1, x.ndim))
        back.insert(axis, 0)
        result = _graphc.transpose(rows, tuple(back))
        result = result.copy() if axis or rows.shape[0] <= 1 else result
    return with_out(result, out, "unsafe", name)


@_stands_for("reduceat")
def _reduceat(self, array, indices, axis=0, dtype=None, out=None):
    """Reductions of the slices from each index to the next one (the last: to the end); where the next index is not
    larger, the element itself. `indices` decide the structure, so they are evaluated."""
    _binary(self, "reduceat")
    kind = _REDUCTIONS.get(self.__name__)
    if kind is not None and dtype is None and out is None and type(array) is _graphc.ndarray and type(axis) is int and 0 <= axis < array.ndim:
        if type(indices) in (list, _np.ndarray) or _graphc.is_array(indices):
            made = _graphc.reduceat(kind, array, indices, axis)
            if made is not None:
                return made
    x = operand(array)
    axis = _one_axis(x, axis, "reduceat")
    dtype = None if dtype is None else as_dtype(dtype)
    if self.__name__ in ("add", "multiply"):
        dtype = dtype_of_sums(x, out, dtype)
    is_sequence = isinstance(indices, (list, tuple))  # each of its numbers becomes an integer, as in NumPy
    starts = _np.asarray(indices, "int64" if is_sequence else None)
    if starts.ndim != 1:
        raise ShapeError(f"{self.__name__}.reduceat: indices are of one axis, not of shape {starts.shape}")
    refuse_unsafe(starts.dtype)
    size, starts = x.shape[axis], starts.astype("int64")
    outside = starts[(starts < 0) | (starts >= size)]
    if outside.size:
        raise IndexOutOfBounds(f"index {outside[0]} out-of-bounds in {self.__name__}.reduceat [0, {size})")
    if not starts.size:
        kind = _reduce(self, zeros((1,), x.dtype), 0, dtype).dtype
        return with_out(x[(slice(None),) * axis + (slice(0, 0),)].astype(kind), out, "unsafe", self.__name__)
    if kind is not None and (dtype is None or dtype.kind != "b" and kind in ("sum", "prod")):
        made = _graphc.reduceat(kind, x, starts, axis, dtype)
        if made is not None:
            return with_out(made, out, "unsafe", self.__name__)
    lengths = _np.maximum(_np.append(starts[1:], size) - starts, 1)
    alike = _py.bool((lengths == lengths[0]).all())
    if not alike and self.__name__ in ("add", "multiply", "maximum", "minimum") and x.dtype.kind in "iuf":
        return with_out(_reduce_by_lengths(self, x, axis, starts, lengths, dtype), out, "unsafe", self.__name__)
    distinct = lengths[:1] if alike else _np.unique(lengths)
    if len(distinct) > _MOST_LENGTHS and int(distinct[-1]) <= _MOST_IN_ORDER and "operation" in self.__dict__:
        kind = _reduce(self, zeros((2,), x.dtype), 0, dtype).dtype
        if kind.kind in "iuf" and kind.itemsize > 2 and self.__name__ not in _BOOLEAN:
            return with_out(_fold_slices(self, x, axis, starts, lengths, kind), out, "unsafe", self.__name__)
    parts, order = [], []
    for length in distinct.tolist():  # slices of one length are reduced together
        chosen = _np.flatnonzero(lengths == length)
        for some in _np.array_split(chosen, -(-len(chosen) * length // _py.max(1, _MOST_GATHERED * size))):
            parts.append(_reduce(self, _slices(x, axis, starts[some], length), axis + 1, dtype, None, False))
        order.append(chosen)
    result = _graphc.concatenate(parts, axis)
    if len(parts) > 1:
        result = result[(slice(None),) * axis + (asarray(_np.argsort(_np.concatenate(order)), device=x.device),)]
    return with_out(result, out, "unsafe", self.__name__)


_PARTED = ("add", "multiply", "maximum", "minimum")
#: Slices that overlap are gathered up to so many times the array at once.
_MOST_GATHERED = 4
#: Slices of more lengths, none longer, are folded element by element instead of being gathered by length.
_MOST_LENGTHS, _MOST_IN_ORDER = 8, 4096


#: Operations of two operands that are infinite or undefined for ordinary ones.
_WITH_POLES = {"divide", "floor_divide", "remainder", "fmod", "power", "float_power"}


@_stands_for()
def _tell_of_places(self, a, indices, *b):
    """Computes the operation on the elements that indices name for what floating-point errors it meets: writing to places tells none."""
    if _any_told() and a.size and not _graphc.is_tracing():
        with _named(_name_at(self.__name__, a, indices, b[0]) if b else "at"):
            _graphc.eval([self(a[indices], *b)], "range")


@_stands_for()
def _outer(self, A, B, /, **keywords):
    """The operation on all pairs of an element of `A` and one of `B`; numbers are arrays of their own dtype."""
    if self.__name__ in _PRODUCTS:
        raise TypeError("method outer is not allowed in ufunc with non-trivial signature")
    if self.nin != 2:
        raise ArgumentError("outer product only supported for binary functions")
    a, b = operand(A), operand(B)
    return self(a.reshape(a.shape + (1,) * b.ndim), b, **keywords)


_pairs = {}  # what _dtype_of_pair found: the dtype by operation and operands' dtypes


def _dtype_of_pair(self, operation, dtype, b):
    """The dtype of the operation on an element of `dtype` and one of `b`."""
    weak = _is_weak(b)
    kind = asarray(b).dtype if not weak else type(b) if type(b) in (bool, float) else None
    key = (operation, dtype, kind)
    found = None if operation is None or kind is None else _pairs.get(key)
    if found is None:
        found = self(zeros((), dtype), b if weak else zeros((), kind)).dtype
        if operation is not None and kind is not None:
            _pairs[key] = found
    return found


@_stands_for()
def _at(self, a, indices, b=_NO_VALUE, /):
    """Applies the operation to the elements of `a` that `indices` name, in place, one after the other: an element named
    twice is changed twice. Results are cast to the dtype of `a` whatever theirs is, as in NumPy."""
    if not _graphc.is_array(a):
        raise ForeignDType(f"{self.__name__}.at: first operand must be array, not {type(a).__name__}")
    if self.__name__ in _PRODUCTS:
        core = _CORES[self.__name__]
        raise TypeError(f"{self.__name__}.at does not support ufunc with non-trivial signature: {self.__name__} has signature {core}.")
    if self.nout != 1 or self.nin not in (1, 2):
        raise ArgumentError("Only single output ufuncs of one or two operands are supported by at")
    if self.nin == 1:
        if b is not _NO_VALUE:
            raise ArgumentError(f"{self.__name__}.at: second operand provided when ufunc is unary")
        _tell_of_places(self, a, indices)
        _unary_at(self, a, indices)
        return
    if b is _NO_VALUE:
        raise ArgumentError(f"{self.__name__}.at: second operand needed for ufunc")
    operation = self.__dict__.get("operation")
    if operation in _MODULAR_SUMS and _is_plain(a.dtype, b):
        _graphc.scatter(a, indices, b, operation)
        return
    if type(b) in (list, tuple) or (type(b) is int and a.dtype.kind in "iu" and not _graphc.is_tracing()):
        b = asarray(b, device=a.device)  # whose values need not fit
    probe = _dtype_of_pair(self, operation, a.dtype, b)
    check_output(a, (), probe, "unsafe", self.__name__)
    fits = probe == a.dtype or (
        a.dtype.kind in "iu" and probe.kind in "biu" and (operation in _MODULAR or _has_values(a.dtype, asarray(b)))
    )
    fits = fits and (a.dtype.kind != "c" or operation in ("add", "sub"))  # parts meet one by one
    if operation is not None and fits and self.__name__ not in _BOOLEAN:
        if probe != a.dtype:
            b = asarray(b, device=a.device).astype(a.dtype)
        if self.__name__ in _WITH_POLES and not _is_basic(indices):
            _tell_of_places(self, a, indices, b)
        with _named(_name_at(self.__name__, a, indices, b)):
            _graphc.scatter(a, indices, b, operation)
        return
    if self.__name__ in _ROUNDED_ONCE and isinstance(a.dtype, _np.dtype) and not _graphc.is_tracing():
        raise ForeignDType(self.__name__)
    places, flat = _flat_places(a, indices), a.ravel()
    values = _graphc.broadcast_to(asarray(b, device=a.device), places.shape).ravel()
    with _named("at"):
        for named, chosen in _in_turns(_np.asarray(places.ravel())):
            flat[named] = self(flat[named], values[chosen]).astype(a.dtype, copy=False)
    if not _graphc.shares_storage(flat, a):
        a[...] = flat.reshape(a.shape)


#: Operations of numbers whose result has the dtype of two equal ones, and dtypes that have all integers so small.
_MODULAR_SUMS, _COUNTED, _SMALL = {"add", "sub", "mul", "minimum", "maximum"}, (_np.dtype("int64"), _np.dtype("float64")), 2**31
#: Operations for which any loop has the same bits.
_FLOAT, _ROUNDED_ONCE = _np.dtype("float64"), {"add", "subtract", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor"}


def _is_plain(dtype, b):
    """Whether an operand of such an operation needs no conversion."""
    if _graphc.is_array(b):
        return b.dtype is dtype and dtype.kind in "iuf"
    return type(b) is int and -_SMALL < b < _SMALL and dtype in _COUNTED or type(b) is float and dtype is _FLOAT


#: Operations whose low bits depend on the operands' low bits only.
_MODULAR = {"add", "sub", "mul", "bitwise_and", "bitwise_or", "bitwise_xor"}


def _has_values(dtype, values):
    """Whether an integer dtype has all of these integers; looked at when called."""
    if can_cast(values.dtype, dtype) or values.size == 0:
        return True
    ends = [_graphc.reduce(kind, values, None, False, None) for kind in ("min", "max")]
    _graphc.eval(ends, "range")
    return _np.iinfo(dtype).min <= int(ends[0]) and int(ends[1]) <= _np.iinfo(dtype).max


def _flat_places(a, indices):
    """The row-major places that an index names."""
    return _graphc.iota(a.size, _np.dtype("int64"), a.device).reshape(a.shape)[indices]


def _unary_at(self, a, indices):
    check_output(a, (), self(zeros((), a.dtype)).dtype, "same_kind", self.__name__)
    counts = zeros(a.shape, "int64", device=a.device)
    _graphc.scatter(counts, indices, 1, "add")
    times = int(_graphc.reduce("max", counts, None, False, None)) if a.size else 0
    for i in range(times):
        a[...] = _graphc.select(counts > i, self(a).astype(a.dtype, copy=False), a)


def _types(self):
    """The operand and result dtypes the function computes with, as NumPy writes them: 'dd->d'."""
    found = []
    for char in _CHARS:
        try:
            operands = [zeros((0,), char)] * self.nin
            results = self(*operands)
        except (TypeError, ValueError):  # ValueError: of vectors there is no product
            continue
        results = results if isinstance(results, tuple) else (results,)
        # Operands that are converted first have no loop of their own.
        if self.__name__ not in _BOOLEAN and results[0].dtype.kind in "fc" and _np.dtype(char).kind in "biu":
            continue
        kind = _np.dtype(char)  # of two letters for one dtype each has its loop
        found.append(char * self.nin + "->" + "".join(char if r.dtype == kind else r.dtype.char for r in results))
    return found


_CHARS = "?bBhHiIlLqQefdFD"


def _resolve_dtypes(self, dtypes, **keywords):
    """The dtypes that operands are converted to and results have, by NumPy's ufunc of this name."""
    return getattr(_np, self.__name__).resolve_dtypes(dtypes, **keywords)


def _method(name, function):
    """A method of ufuncs; what it refuses goes to the method of NumPy's ufunc."""

    def hand(args, keywords):
        asked = _foreign.ask(args[0], name, args[1:], keywords)
        if asked is not None:
            return asked
        numpys = getattr(_np, args[0].__name__, None)
        return NotImplemented if numpys is None else _foreign.plan(getattr(numpys, name), args[1:], keywords, "a" if name == "at" else None)

    made = _foreign.function(function, hand, "graphc")
    made.__name__, made.quick = name, _quick_method(name)
    return made


def _repr(self):
    return f"<ufunc '{self.__name__}'>"


def _pickled(self):
    return self.__name__


for _name, _value in {
    **{name: _method(name, f) for name, f in (("reduce", _reduce), ("accumulate", _accumulate), ("reduceat", _reduceat), ("outer", _outer), ("at", _at))},
    "resolve_dtypes": _resolve_dtypes, "nargs": property(lambda self: self.nin + self.nout), "types": property(_types),
    "ntypes": property(lambda self: len(self.types)), "identity": property(lambda self: _IDENTITIES.get(self.__name__)),
    "signature": property(lambda self: _CORES.get(self.__name__)), "__repr__": _repr, "__reduce__": _pickled, "__module__": "graphc",
}.items():  # fmt: skip
    setattr(ufunc, _name, _value)
_graphc.set_ufunc_handler(_call, _write_own)


@_stands_for()
def strengthened(args):
    """Operands of which Python's numbers, beside arrays, are arrays of the dtype that they promote to."""
    if not _py.any(map(_is_weak, args)) or _py.all(map(_is_weak, args)):
        return args
    args = [_strong(x) for x in args]
    kind = _graphc.result_type(*args)
    return [asarray(x, kind) if _is_weak(x) else x for x in args]


def as_ufunc(nin, nout=1, alike=True, loop=None):
    """A decorator: a function of `nin` operands as a ufunc. Where operands are alike, Python numbers among arrays come
    to the function as arrays of the dtype they promote to: they are weak. `loop`: its name for `_graphc.numeric`."""

    def wrap(function):
        called = function
        if nin > 1 and alike:

            @_stands_for()  # is nothing of its own: `function` says what its errors are called
            @_functools.wraps(function)
            def called(*args, **options):
                return function(*strengthened(args), **options)

        if nin > 1:
            called = _where_operands_are(called)
        if loop is not None:
            called = _looped(called, loop)

        made = ufunc(_foreign.exact_part(called), nin, nout)
        made.function = function
        describe(made, function.__name__, function.__doc__, ["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)])
        return made

    return wrap


def describe(made, name, doc, parameters):
    """Gives a ufunc its name, documentation and signature."""
    made.__name__ = made.__qualname__ = name
    made.__doc__, made.__text_parameters__ = doc, parameters
    _mark(made)


def _signature(self):
    from inspect import Parameter, Signature, signature

    theirs = getattr(_np, self.__name__, None)
    if isinstance(theirs, _np.ufunc) and (theirs.nin, theirs.nout) == (self.nin, self.nout):
        return signature(theirs)
    names = self.__dict__.get("__text_parameters__") or [f"x{i + 1}" for i in range(self.nin)]
    parts = [Parameter(n, Parameter.POSITIONAL_ONLY) for n in names]
    parts.append(Parameter("out", Parameter.POSITIONAL_OR_KEYWORD, default=None))
    options = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True, "signature": None}
    parts += [Parameter(n, Parameter.KEYWORD_ONLY, default=v) for n, v in options.items()]
    return Signature(parts)


ufunc.__signature__ = _Described(_signature)
ufunc.__doc__ = """An elementwise function: called with arrays and numbers, with `out`, `where`, `casting` and `dtype`; `reduce`,
`accumulate`, `reduceat`, `outer` and `at` apply it along axes, to pairs and to places."""
