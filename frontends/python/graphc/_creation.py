"""Functions that make arrays. Nothing is computed until a value is needed."""

import builtins as _py
import datetime as _datetime
import functools as _functools
import math as _math
import operator as _operator

import numpy as _np

from . import _graphc
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype, can_cast, float64, int64, is_named
from ._float_errors import stands_for as _stands_for
from ._sequences import along_diagonal, holds, of_narrow, refuse_outside, refuse_step, regular, without_makers
from ._wrapping import is_asked as _is_asked
from ._wrapping import is_maker, made_by
from .errors import ArgumentError, AxisError, DTypeError, ForeignDType, ShapeError, as_user

_Array = _graphc.Array


def _dtype(dtype):
    return None if dtype is None else as_dtype(dtype)


def _shape(shape):
    try:
        shape = (_operator.index(shape),) if type(shape) is not bool else (shape,)
    except TypeError:
        if not hasattr(shape, "__iter__"):
            raise TypeError(f"expected a sequence of integers or a single integer, got {str(shape)!r}") from None
        shape = tuple(n if type(n) is bool else _operator.index(n) for n in shape)
    if bool in map(type, shape):
        raise TypeError(f"expected a sequence of integers or a single integer, got {shape}")
    if _py.any(n < 0 for n in shape):
        raise ShapeError(f"negative dimensions are not allowed: {shape}")
    if _py.any(n >> 63 for n in shape):
        raise ShapeError("Maximum allowed dimension exceeded")
    return shape


def refuse_vast(shape, dtype):
    """Raises MemoryError at the call, as NumPy, for an array that no memory holds and that is made of smaller ones."""
    if _math.prod(shape) >> 30:
        _graphc.full(_shape(shape), 0, dtype, None)


def _leave_to(like):
    """Hands a call to the class of `like`, where that is asked what is made."""
    if _is_asked(like):
        raise ForeignDType("like")


def _joined(obj, around=()):
    """A nested sequence that holds Arrays as one Array, or None when it holds none. `around`: those that it is within."""
    kinds = set(map(type, obj))
    ours = _py.any(map(_graphc.is_array, obj))
    if not ours and not kinds & {list, tuple}:
        return None
    if not ours and not _py.any(holds(v) for v in obj):
        return None
    around = (*around, obj)
    if _py.any(v is a for v in obj for a in around):
        raise _inhomogeneous(": of a sequence that contains itself")
    parts = [_part(v, around) for v in obj]
    if len({p.shape for p in parts}) > 1:
        raise _inhomogeneous(regular([p.shape for p in parts], around[:-1]))
    return _graphc.concatenate([_graphc.expand_dims(p, 0) for p in parts], 0)


def _part(obj, around):
    joined = obj if _graphc.is_array(obj) else _joined(obj, around) if isinstance(obj, (list, tuple)) and len(obj) else None
    return asarray(obj) if joined is None else joined


def _inhomogeneous(shape):
    return ShapeError(f"setting an array element with a sequence. The requested array has an inhomogeneous shape{shape}")


def _source(obj, dtype=None):
    """What the extension converts: sequences of Arrays are joined first."""
    if isinstance(obj, (list, tuple)):
        joined = _joined(obj) if len(obj) else None
        if joined is not None and dtype is not None and not _graphc.is_tracing():
            wanted = as_dtype(dtype)
            if wanted.kind == "i" and not can_cast(joined.dtype, wanted):
                refuse_outside(obj, wanted)
        return obj if joined is None else joined
    return obj


@_stands_for()
def _converted(obj, dtype, device, copy):
    """As the extension converts it. Objects in sequences may make arrays of ours of themselves, which NumPy takes for none."""
    source = _source(obj, dtype)
    try:
        made = source if copy is False else of_narrow(source, dtype)
        return _graphc.asarray(made, dtype, device, copy if made is source else None)
    except ValueError as error:
        if not isinstance(source, (list, tuple)) or "__array__ method not producing" not in str(error):
            raise
    except TypeError as error:
        # What NumPy says of its arrays among objects that are to be numbers, it does not say of ours.
        if type(source) is not _np.ndarray or not str(error).startswith("only 0-dimensional arrays") or dtype is None or dtype.kind == "c":
            raise
        raise ValueError("setting an array element with a sequence.") from error
    return _graphc.asarray(without_makers(source), dtype, device, copy)


_ORDERS = {"C": "C", "F": "F", "A": "A", "K": "K", "c": "C", "f": "F", "a": "A", "k": "K", None: "K"}


def _order(order):
    """NumPy's letter for a memory order."""
    try:
        return _ORDERS[order]
    except (KeyError, TypeError):
        if not isinstance(order, (str, bytes)):
            raise TypeError(f"order must be str, not {type(order).__name__}") from None
        raise ArgumentError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})") from None


def lies_by_columns(x):
    """Whether an array is column-major and not row-major; what is recorded for jit has no memory yet."""
    if x.ndim < 2 or _graphc.is_tracing() or _graphc.is_open(x):
        return False
    return not x.contiguous and x.flags.f_contiguous and x.size > 0


def turned(x):
    """A new array as its own transpose: of row-major memory a column-major array."""
    x._turn(None)
    return x


def in_order(x, order):
    """`x`, or a copy where its elements lie in another order."""
    order = _order(order)
    if order in "AK" or (order != "F" and x.contiguous) or (order != "C" and x.flags.f_contiguous):
        return x
    return x.copy(order)


def _is_column_major(order):
    """Whether a constructor's `order` is "F"; there is no other array whose order A and K could mean."""
    letter = "C" if order is None else _order(order)
    if letter in "AK":
        raise ArgumentError("only 'C' or 'F' order is permitted")
    return letter == "F"


@_stands_for()
def _new(make, shape, order):
    """What make(shape) gives, in a memory order: column-major arrays are transposes."""
    if not _is_column_major(order):
        return make(shape)
    made = make(_shape(shape)[::-1])
    made._turn(None)
    return made


@_stands_for()
def _like(make, x, shape, order):
    """What make(shape) gives in the shape of `x`, or another one, and in the memory order of `x` if so wanted."""
    order = _order(order)
    if order == "A":
        order = "F" if x.flags.f_contiguous and not x.contiguous else "C"
    if order == "K" and shape is not None and len(_shape(shape)) != x.ndim:
        order = "C"
    shape = x.shape if shape is None else _shape(shape)
    if order == "C" or (order != "F" and (x.ndim < 2 or x.contiguous)):
        return make(shape)
    if order == "F" or x.flags.f_contiguous:
        return _new(make, shape, "F")
    axes = sorted(range(x.ndim), key=lambda axis: -_py.abs(x.strides[axis]))
    made = make(tuple(shape[axis] for axis in axes))
    made._turn(tuple(sorted(range(x.ndim), key=axes.__getitem__)))
    return made


def _refuse_copy(x, dtype):
    """Raises where an Array is not what is asked for without a copy: of another dtype, or a single result, which has no memory."""
    if _graphc.is_array(x) and (
        (dtype is not None and x.dtype != _dtype(dtype)) or (_graphc.is_value(x) and not _graphc.is_tracing())
    ):
        raise ArgumentError("Unable to avoid copy while creating an array as requested.")


@_stands_for()
def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """`a` as an Array: an Array (unchanged if nothing has to change), a NumPy array, a buffer or DLPack exporter, or
    nested sequences of numbers and Arrays. copy=True always copies, False never (ValueError if that cannot be). `order` is
    "C", "F" (column-major: the transpose of a row-major array), "A" or "K" (as it is). 8-bit floats become a `float8.Stored`.
    Raises DTypeError for a dtype that graphc does not have."""
    if like is not None:
        _leave_to(like)
    if copy is not None and type(copy) is not bool:
        copy = copy_mode(copy)
    if copy is False:
        _refuse_copy(a, dtype)
    if order is not None and order != "K":
        x = asarray(a, dtype, device=device, copy=copy)
        laid = in_order(x, order)
        if copy is False and laid is not x:
            raise ArgumentError("Unable to avoid copy while creating an array as requested.")
        return laid
    if dtype is None and device is None and copy is None and type(a) is _graphc.ndarray:
        return a
    if type(a) is _np.ndarray and a.base is not None and dtype is None and device is None and copy is not True:
        shared = _Array._borrowed(a)
        if shared is not None:
            return shared
    if dtype is None and device is None and copy is not False:
        packed = _graphc.pack(a)
        if packed is not None:
            return packed
    if type(a) is _np.ndarray and a.flags.fnc and not _graphc.is_tracing():
        return _of_columns(a, dtype, device, copy)
    if not (dtype is None and copy is None) and is_maker(a):
        made, copy = made_by(a, dtype, copy)
        return asarray(made, dtype, device=device, copy=copy)
    try:
        wanted = _dtype(dtype)
        if type(a) is _graphc.ndarray and a.ndim > 1 and device is None and copy is not False and not a.contiguous:
            return a.astype(a.dtype if wanted is None else wanted, "K", copy=copy is True)
        return _converted(a, wanted, device, copy)
    except DTypeError:
        from .float8 import stored

        kept = stored(a, dtype, device, copy)
        if kept is None:
            raise
        return kept


@_stands_for()
def _of_columns(a, dtype, device, copy):
    """A column-major NumPy array: the transpose of a row-major Array."""
    made = asarray(a.T, dtype, device=device, copy=copy)
    made._turn(None)
    return made


def operand(a):
    """`a` as an Array, but for arrays of other classes (of pandas), to whose own method NumPy's function of that name leaves it:
    ForeignDType."""
    if _graphc.is_array(a):
        return a if a.ndim else asarray(a)
    if hasattr(type(a), "__array_ufunc__") and not isinstance(a, (_np.ndarray, _np.generic)) and not _graphc.is_tracing():
        raise ForeignDType(f"{type(a).__name__} has methods of its own")
    return asarray(a)


def operand_once(a):
    """As operand(), for one operation of the extension module: a large NumPy array, or a strided one, is read where it is, at once."""
    if type(a) is _np.ndarray and (a.nbytes > 1 << 14 or not a.flags.forc) and a.dtype.char in _KNOWN and not _graphc.is_tracing():
        return a
    return operand(a)


_KNOWN = frozenset("?bhilqBHILQefdFD")


@_stands_for()
def assigned(value, x, is_safe=False):
    """An array of what is written to elements of `x`: numbers and sequences as NumPy's `array(value, x.dtype)`, which refuses
    what they can't hold; arrays as they are, or only those of a dtype that all of `x` hold."""
    if not isinstance(value, (_Array, _np.ndarray, _np.generic)):
        is_float = type(value) is float and x.dtype.kind in "fc"  # where it overflows, the conversion to come tells it
        return asarray(value, None if is_float else x.dtype, device=x.device)
    if isinstance(value, _np.ndarray) and type(value) is not _np.ndarray:  # of another class, whose values are assigned
        value = _np.asarray(value)
    if not is_safe and isinstance(value, _np.ndarray) and not is_named(value.dtype):
        value = value.astype(x.dtype)
    values = asarray(value, device=None if _graphc.is_array(value) else x.device)
    is_number = isinstance(value, _np.generic)  # or a single result
    if is_safe and not is_number and not can_cast(values.dtype, x.dtype, "safe"):
        kind = "array data" if values.ndim else "scalar"
        raise DTypeError(f"Cannot cast {kind} from dtype('{values.dtype}') to dtype('{x.dtype}') according to the rule 'safe'")
    return values


def given(a):
    """`a` as an Array; a single result stays one (NumPy's scalar), of which `asarray` makes an array."""
    if _graphc.is_array(a):
        return a
    return asarray(a)[()] if isinstance(a, _np.generic) else asarray(a)


def single(x):
    """What NumPy's functions return: of no dimensions a single result, not an array."""
    return x if _graphc.is_value(x) or x.ndim else x[()]


def mask_of(where):
    """The array of bools that `where=` means: only arrays of bools are masks, while numbers and lists of them are converted."""
    mask = asarray(where)
    if mask.dtype.kind != "b" and isinstance(where, (_Array, _np.ndarray, _np.generic)):
        raise DTypeError(f"Cannot cast array data from dtype('{mask.dtype}') to dtype('bool') according to the rule 'safe'")
    return mask.astype(bool, copy=False)


def _inexact(x, smallest=False):
    """As an array of floats or complex numbers; others as float64, or as the smallest float that has their values."""
    x = asarray(x)
    if x.dtype.kind in "fc" or x.dtype.name == "bfloat16":
        return x
    if x.dtype.kind in "iub" and x.ndim > 1 and not x.contiguous:
        x = x | x  # lies as results of functions do: a cast would put broadcast axes last
    return x.astype({1: "float16", 2: "float32"}.get(x.itemsize, float64) if smallest else float64)


def _real(x, name):
    """As an array of real numbers. Raises DTypeError for complex ones."""
    x = asarray(x)
    if x.dtype.kind == "c":
        raise DTypeError(f"{name}: real numbers are needed, not {x.dtype}")
    return x


def _floating(x, name, smallest=True):
    """As an array of floats; see `_inexact`. Raises DTypeError for complex numbers."""
    return _inexact(_real(x, name), smallest)


def alike_floats(x1, x2, name):
    """Two operands as arrays of the smallest float that has the values of both: what NumPy computes functions of floats in, with
    Python numbers among arrays weak. Raises DTypeError for complex numbers."""
    if type(x1) is type(x2) is _graphc.ndarray and x1.dtype is x2.dtype and x1.dtype.kind == "f":
        return x1, x2
    weak = [type(x) in (int, float) for x in (x1, x2)]
    strong = [_floating(x, name) for x, is_weak in zip((x1, x2), weak) if not is_weak]
    given = [asarray(x).dtype.kind for x, is_weak in zip((x1, x2), weak) if not is_weak]
    kind = _graphc.result_type(*strong) if strong else float64
    if (float in (type(x1), type(x2)) and "f" not in given and "V" not in given) or given == ["b"] and int in (type(x1), type(x2)):
        kind = float64
    return [_real(asarray(x, kind) if is_weak else x, name).astype(kind, copy=False) for x, is_weak in zip((x1, x2), weak)]


_MOST_AXES = 64


def _check_axes(ndmin, ndmax):
    if not 0 <= ndmax <= _MOST_AXES:
        raise ArgumentError(f"ndmax must be in the range [0, NPY_MAXDIMS ({_MOST_AXES})] ")
    if ndmin > (ndmax or _MOST_AXES):
        raise ArgumentError(f"ndmin must be <= ndmax ({ndmax or _MOST_AXES})")


def _shallow(x, ndmax):
    if x.ndim > ndmax:
        raise ArgumentError(
            "setting an array element with a sequence. The requested array would exceed the maximum number of dimension of "
            f"{ndmax}."
        )
    return x


def copy_mode(copy):
    """True, False, or None for a copy where one is needed."""
    if isinstance(copy, (str, bytes)):
        raise ArgumentError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    return {1: True, 0: False}.get(copy.value) if type(copy) is _np._CopyMode else None if copy is None else _py.bool(copy)


def _is_laid_anew(x, dtype, order, copy):
    """Whether a new array of `x` is made, in another order than that of rows."""
    is_new = copy or (copy is None and dtype is not None and _dtype(dtype) != x.dtype)
    return is_new and x.ndim > 1 and order != "C" and (order == "F" or not x.contiguous)


@_stands_for()
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None, device=None):
    """As `asarray`, but a copy unless told otherwise, in the memory order of an Array that is copied; axes of size 1 are put in
    front up to `ndmin`."""
    if like is not None:
        _leave_to(like)
    if type(copy) is not bool:
        copy = copy_mode(copy)
    if is_maker(object):
        object, copy = made_by(object, dtype, copy)
    if subok and _is_of_class(object):
        return _np.array(object, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)
    if _graphc.is_array(object) and dtype is None and copy is True and order == "K" and device is None and ndmin == 0 and object.ndim <= 1:
        return object.copy() if object.ndim else _graphc.asarray(object, None, None, True)
    if ndmax or ndmin > _MOST_AXES:
        _check_axes(ndmin, ndmax)
    if copy is False:
        _refuse_copy(object, dtype)
    if ndmax and isinstance(object, (list, tuple)):
        return _shallow(array(object, dtype, copy=copy, order=order, ndmin=ndmin, device=device), ndmax)
    if dtype is None and order == "K" and device is None and ndmin == 0 and copy is not False:
        packed = _graphc.pack(object)
        if packed is not None:
            return packed
    if type(object) is _graphc.ndarray and device is None and _is_laid_anew(object, dtype, order, copy):
        result = object.astype(object.dtype if dtype is None else dtype, order)
        return result.reshape((1,) * (ndmin - result.ndim) + result.shape) if result.ndim < ndmin else result
    wanted = _order(order)
    if wanted == "F" or (wanted == "C" and not copy):
        result = array(object, dtype, copy=copy, ndmin=ndmin, device=device)
        laid = in_order(result, wanted)
        if copy is False and laid is not result:
            raise ArgumentError("Unable to avoid copy while creating an array as requested.")
        return laid
    copies = copy if copy is False else True if copy else None
    if type(object) is _np.ndarray and order != "C" and object.flags.fnc and not _graphc.is_tracing():
        result = _of_columns(object, dtype, device, copies)
    else:
        wanted = _dtype(dtype)  # one that graphc has not is found before sequences are looked at
        result = _converted(object, wanted, device, copies)
    return result.reshape((1,) * (ndmin - result.ndim) + result.shape) if result.ndim < ndmin else result


@_stands_for()
def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """As `asarray`; objects of classes made of NumPy's arrays (`memmap`) stay what they are, as do those that an object's `__array__` gives."""
    if like is not None:
        _leave_to(like)
    if is_maker(a):
        a, copy = made_by(a, dtype, copy)
    if _is_of_class(a):
        return _np.asanyarray(a, dtype, order, copy=copy)
    return asarray(a, dtype, order, device=device, copy=copy)


_FEW_LOOKED_AT = 1 << 14


def are_few_known(x):
    """Whether a look at the elements costs less than operations that hold for any: few, on the host, and computed."""
    return x.size <= _FEW_LOOKED_AT and x.device == "cpu" and not _graphc.is_tracing() and not _graphc.pending(x)


def _is_of_class(a):
    return isinstance(a, _np.ndarray) and type(a) is not _np.ndarray


def asarrays(values):
    """Operands of one operation as Arrays: sequences and numbers where the first operand that is an Array lies."""
    values = list(values)
    place = _graphc.elsewhere(*values)
    if place is None:
        made = [_graphc.plain_asarray(x) for x in values]
        return [asarray(x) if y is NotImplemented else y for x, y in zip(values, made)]
    return [asarray(x) if _graphc.is_array(x) else asarray(x, device=place) for x in values]


@_stands_for()
def asarray_chkfinite(a, dtype=None, order=None):
    """As `asarray`. Raises ValueError when a value is infinite or NaN (this evaluates)."""
    x = asarray(a, dtype)
    if x.dtype.kind in "fc" and not bool(_graphc.reduce("all", _graphc.isfinite(x), None, False, None)):
        raise ArgumentError("array must not contain infs or NaNs")
    return x


@_stands_for()
def ascontiguousarray(a, dtype=None, *, like=None):
    """A row-major array of at least one axis: `a` itself when it is one."""
    if like is not None:
        _leave_to(like)
    x = asarray(a, dtype)
    x = x if x.ndim else x.reshape((1,))
    return x if x.contiguous else x.copy()


@_stands_for()
def asfortranarray(a, dtype=None, *, like=None):
    """A column-major array of at least one axis: a transposed view of the dense transpose."""
    if like is not None:
        _leave_to(like)
    x = asarray(a, dtype)
    x = x if x.ndim else x.reshape((1,))
    return x if x.flags.f_contiguous else x.copy("F")


_REQUIREMENTS = {
    "C", "C_CONTIGUOUS", "CONTIGUOUS", "F", "F_CONTIGUOUS", "FORTRAN", "A", "ALIGNED", "W", "WRITEABLE", "O", "OWNDATA", "E", "ENSUREARRAY",
}  # fmt: skip


@_stands_for()
def require(a, dtype=None, requirements=None, *, like=None):
    """An Array that meets NumPy's requirements: C, F, A, W, O (and their long names); a string names one by each letter."""
    if like is not None:
        _leave_to(like)
    wanted = {str(r).upper() for r in requirements or ()}
    unknown = wanted - _REQUIREMENTS
    if unknown:
        raise KeyError(next(iter(unknown)))
    x = asarray(a, dtype)
    if wanted & {"F", "F_CONTIGUOUS", "FORTRAN"}:
        if wanted & {"C", "C_CONTIGUOUS", "CONTIGUOUS"}:
            raise ArgumentError('Cannot specify both "C" and "F" order')
        x = asfortranarray(x)
    elif wanted & {"C", "C_CONTIGUOUS", "CONTIGUOUS"}:
        x = ascontiguousarray(x) if x.ndim else x
    owns = wanted & {"O", "OWNDATA"} and x.base is not None
    return x.copy("A") if owns or (wanted & {"W", "WRITEABLE"} and x.readonly) else x


@_stands_for()
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """An Array of one value, or of values that broadcast. The dtype follows the value as in NumPy: bool, int64,
    float64, or an array's own."""
    if like is not None:
        _leave_to(like)
    if order != "C" and _is_column_major(order):
        if isinstance(fill_value, (_Array, _np.ndarray, list, tuple)):
            return in_order(full(shape, fill_value, dtype, device=device), "F")
        return _new(lambda sizes: full(sizes, fill_value, dtype, device=device), shape, order)
    shape = _shape(shape) if _graphc.is_array(shape) else shape
    if device is None and type(fill_value) is float:
        made = _graphc.filled(shape, fill_value, float64 if dtype is None else dtype)
        if made is not None:
            return made
    shape = _shape(shape)
    if isinstance(fill_value, (_Array, _np.ndarray, list, tuple)):
        value = asarray(fill_value, device=device)
        value = value if dtype is None else value.astype(dtype)
        rank = len(shape) if type(shape) is tuple else 1
        try:
            if value.ndim > rank:  # axes of size 1 in front go, as where arrays are assigned
                value = value.reshape(value.shape[-rank:] if rank else ()) if set(value.shape[: value.ndim - rank]) == {1} else value
            return _graphc.broadcast_to(value, shape).copy()
        except ShapeError:
            sizes = [str(tuple(s)).replace(" ", "") for s in (value.shape, shape)]
            raise ShapeError(f"could not broadcast input array from shape {sizes[0]} into shape {sizes[1]}") from None
    wanted = _dtype(dtype)
    if wanted is not None and isinstance(fill_value, (float, _np.generic)):  # converted as arrays are, whatever fits
        value = asarray(fill_value, device=device).astype(wanted)
        return _graphc.broadcast_to(value, shape).copy()
    if wanted == bool and type(fill_value) is int and not -(1 << 63) <= fill_value < 1 << 63:
        raise OverflowError("Python int too large to convert to C long")
    return _graphc.full(shape, fill_value, wanted, device)


def zeros(shape, dtype=float64, order="C", *, device=None, like=None):
    """An Array of zeros."""
    if like is not None:
        _leave_to(like)
    if order != "C":
        return _new(lambda sizes: zeros(sizes, dtype, device=device), shape, order)
    shape = _shape(shape) if _graphc.is_array(shape) else shape
    made = None if device is not None else _graphc.filled(shape, 0, dtype)
    if made is not None:
        return made
    return _graphc.full(_shape(shape), 0, float64 if dtype is None else as_dtype(dtype), device)


def ones(shape, dtype=float64, order="C", *, device=None, like=None):
    """An Array of ones."""
    if like is not None:
        _leave_to(like)
    if order != "C":
        return _new(lambda sizes: ones(sizes, dtype, device=device), shape, order)
    shape = _shape(shape) if _graphc.is_array(shape) else shape
    made = None if device is not None else _graphc.filled(shape, 1, dtype)
    if made is not None:
        return made
    return _graphc.full(_shape(shape), 1, float64 if dtype is None else as_dtype(dtype), device)


def empty(shape, dtype=float64, order="C", *, device=None, like=None):
    """An Array whose values do not matter (they are zeros)."""
    if like is not None:
        _leave_to(like)
    return zeros(shape, dtype, order, device=device)


@_stands_for()
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """`full` with the shape, dtype, device and memory order of `a`."""
    if device is None and shape is None and _graphc.is_array(a) and (order == "C" or (order == "K" and a.contiguous)):
        made = _graphc.filled(a, fill_value, dtype)
        if made is not None:
            return made
    x = asarray(a)
    # No function of ours between: errors of the value are the caller's.
    make = _functools.partial(full, fill_value=fill_value, dtype=x.dtype if dtype is None else dtype, device=device or x.device)
    return _like(make, x, shape, order)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros with the shape, dtype and device of `a`."""
    if device is None and shape is None and _graphc.is_array(a) and (order == "C" or (order == "K" and a.contiguous)):
        made = _graphc.filled(a, 0, dtype)
        if made is not None:
            return made
    return full_like(a, 0, dtype, order, shape=shape, device=device)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Ones with the shape, dtype and device of `a`."""
    if device is None and shape is None and _graphc.is_array(a) and (order == "C" or (order == "K" and a.contiguous)):
        made = _graphc.filled(a, 1, dtype)
        if made is not None:
            return made
    return full_like(a, 1, dtype, order, shape=shape, device=device)


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """`empty` with the shape, dtype and device of `prototype`."""
    if device is None and shape is None and _graphc.is_array(prototype) and (order == "C" or (order == "K" and prototype.contiguous)):
        made = _graphc.filled(prototype, 0, dtype)
        if made is not None:
            return made
    return zeros_like(prototype, dtype, order, shape=shape, device=device)


_PLAIN = frozenset((int, float, type(None)))
#: Dtypes in whose numbers NumPy counts as their scalars add, and not as Python's numbers do.
_NARROW = frozenset("efF?bBhHiILQ")
_TIMES = (_np.datetime64, _np.timedelta64, _datetime.date, _datetime.timedelta)


def arange(start_or_stop=None, /, stop=_np._NoValue, step=1, dtype=None, *, device=None, like=None, start=None):
    """start, start + step, ... below `stop`, as NumPy counts them. One argument is `stop`, if it has no name. Raises as NumPy for a zero step."""
    if like is not None:
        _leave_to(like)
    if start is not None and start_or_stop is not None:
        raise TypeError("argument for arange() given by name ('start') and position (position 0)")
    if stop is _np._NoValue:
        start, stop = start_or_stop, None
    elif start is None:
        start = start_or_stop
    step = 1 if step is None else step
    if start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    given = 0 if start is None else start, stop, step
    if not (type(start) in _PLAIN and type(stop) in _PLAIN and type(step) in _PLAIN):
        if _py.any(isinstance(v, _TIMES) or (isinstance(v, _np.ndarray) and v.dtype.kind in "mM") for v in (start, stop, step)):
            raise ForeignDType("arange of dates")
        if _py.any(getattr(v, "ndim", 0) for v in (start, stop, step)):
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if not _graphc.is_tracing() and _py.any(hasattr(v, "dtype") and v.dtype.char in _NARROW for v in (start, stop, step)):
            bounds = (v if v is None or type(v) in _PLAIN else _np.asarray(v)[()] for v in (start, stop, step))
            return asarray(as_user(_np.arange, *bounds, dtype=_dtype(dtype)), device=device)
        start, stop, step = (v.item() if isinstance(v, (_np.generic, _np.ndarray, _Array)) else v for v in (start, stop, step))
    if stop is None or start is None:
        start, stop = 0, start if stop is None else stop
    if step == 0:
        refuse_step(given)
    wanted = _dtype(dtype)
    if wanted is not None and wanted.kind == "b":
        return _boolean_range(_graphc.arange(start, stop, step, int64, device))
    return _graphc.arange(start, stop, step, wanted, device)


def _boolean_range(values):
    if values.size > 2:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    return values.astype(bool)


#: Numbers, and scalars that the host has, between which float64 numbers lie.
_ENDS = (int, float, _np.integer)


@_where_operands_are
@_stands_for()
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` evenly spaced values from `start` to `stop` (which is left out when endpoint is false); float64 unless a
    dtype is given. NumPy's arithmetic, so NumPy's bits. Array bounds broadcast; their samples lie along `axis`."""
    num = _operator.index(num)
    if num < 0:
        raise ArgumentError(f"Number of samples, {num}, must be non-negative.")
    intervals = num - 1 if endpoint else num
    wanted = None if dtype is None else as_dtype(dtype)
    if not (issubclass(type(start), _ENDS) and issubclass(type(stop), _ENDS)):
        return _spaced(start, stop, num, endpoint, retstep, wanted, axis)
    wanted = float64 if wanted is None else wanted
    start, stop = float(start), float(stop)
    index = _graphc.iota(num, float64, device)
    delta = stop - start
    step = delta / intervals if intervals > 0 else _math.nan
    if intervals > 0 and step == 0:
        values = index / intervals * delta + start
    else:
        values = index * (step if intervals > 0 else delta) + start
    if endpoint and num > 1:
        values = _graphc.select(_graphc.equal(index, float(num - 1)), stop, values)
    if wanted.kind in "iu":
        values = _graphc.floor(values)
    values = values.astype(wanted, copy=False)
    return (values, asarray(step)[()]) if retstep else values


def _spaced(start, stop, num, endpoint, retstep, wanted, axis):
    """linspace between arrays, or between an array and a number."""
    kind = _graphc.result_type(*[v if isinstance(v, (int, float, complex)) else asarray(v) for v in (start, stop)], 1.0)
    start, stop = asarray(start).astype(kind, copy=False), asarray(stop).astype(kind, copy=False)
    delta = stop - start
    intervals = num - 1 if endpoint else num
    real = float64 if kind.kind == "c" else kind
    index = _graphc.iota(num, real, delta.device).astype(kind, copy=False).reshape((-1,) + (1,) * delta.ndim)
    if intervals > 0:
        step = delta / intervals
        is_flat = _graphc.reduce("any", step == 0, None, False, None)  # one step of zero decides for all, as in NumPy
        values = _graphc.select(is_flat, index / intervals * delta + start, index * step + start)
    else:
        step = delta * _math.nan
        values = index * delta + start
    if endpoint and num > 1:
        values = _graphc.select(index == num - 1, stop, values)
    if axis != 0:
        order = list(range(1, values.ndim))
        if not -values.ndim <= axis < values.ndim:
            raise AxisError(f"linspace: axis {axis} is out of bounds for array of dimension {values.ndim}")
        order.insert(axis % values.ndim, 0)
        values = _graphc.transpose(values, tuple(order)).copy()
    if wanted is not None:
        values = (_graphc.floor(values) if wanted.kind in "iu" else values).astype(wanted, copy=False)
    return (values, step) if retstep else values


#: So many elements cost less to upload than to record.
_FEW = 1 << 10


def eye(N, M=None, k=0, dtype=float64, order="C", *, device=None, like=None):
    """Ones on the k-th diagonal, zeros elsewhere."""
    if like is not None:
        _leave_to(like)
    if type(N) is int and M is None and type(k) is int and k == 0 and dtype is float64 and order == "C" and 0 <= N * N <= _FEW and not _graphc.is_tracing():
        made = zeros((N, N), device=device)
        made.reshape(-1)[:: N + 1] = 1.0
        return made
    if order != "C" and _is_column_major(order):
        made = eye(N if M is None else M, N, -_operator.index(k), dtype, device=device)
        made._turn(None)
        return made
    if isinstance(N, (bool, _np.bool_)) or isinstance(M, (bool, _np.bool_)):
        raise TypeError("an integer is required")
    N, M, k = (_operator.index(n) for n in (N, N if M is None else M, k))
    if 0 <= N * M <= _FEW and dtype in (None, float64) and not _graphc.is_tracing():
        made = zeros((N, M), device=device)
        start = k if k >= 0 else -k * M
        if start < N * M:
            made.reshape(-1)[start : (_py.max(M - k, 0)) * M : M + 1] = 1.0
        return made
    dtype = float64 if dtype is None else as_dtype(dtype)
    refuse_vast((N, M), dtype)
    rows, columns = _graphc.iota(N, int64, device), _graphc.iota(M, int64, device)
    k = _py.max(-N, _py.min(k, M))  # beyond: no diagonal
    return (rows[:, None] + k == columns).astype(dtype)


def meshgrid(*arrays, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid, as a tuple: copies, read-only views with copy=False, or, when sparse, arrays that
    broadcast to the grid."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid: Valid values for `indexing` are 'xy' and 'ij'. Got {indexing!r}")
    arrays = [a.reshape((-1,)) for a in asarrays(arrays)]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    shape = [0] * len(arrays)
    for place, x in zip(order, arrays):
        shape[place] = x.size
    grids = []
    for place, x in zip(order, arrays):
        own = [1] * len(arrays)
        own[place] = x.size
        grid = x.reshape(tuple(own))
        if copy and not sparse:
            refuse_vast(shape, grid.dtype)
        grid = grid if sparse else _graphc.broadcast_to(grid, tuple(shape))
        grids.append(grid.copy() if copy else grid)
    return tuple(grids)


def _triangle(x, k, keep):
    x = asarray(x)
    if x.ndim == 1:  # NumPy repeats a vector as rows
        x = _graphc.broadcast_to(x, (x.size, x.size))
    if x.ndim < 2:
        raise DTypeError("tril and triu need an array of at least one axis")
    rows = _graphc.iota(x.shape[-2], int64, x.device)[:, None]
    columns = along_diagonal(_graphc.iota(x.shape[-1], int64, x.device), k if keep is _operator.ge else k - 1)
    return _graphc.select(keep(rows, columns), x, zeros((), x.dtype, device=x.device))


def tril(m, k=0):
    """`m` with zeros above its k-th diagonal."""
    return _triangle(m, k, _operator.ge)


def triu(m, k=0):
    """`m` with zeros below its k-th diagonal."""
    return _triangle(m, k, _operator.lt)


def from_dlpack(x, /, *, device=None, copy=None):
    """An Array over the memory of a DLPack exporter (NumPy, torch, ...): no copy on the CPU unless asked for. Both
    sides see what the other writes later; what was computed of it before stays."""
    result = _graphc.from_dlpack(x, copy)
    return result if device is None else result.to_device(device)
