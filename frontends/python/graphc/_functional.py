"""Functions of functions, and iteration: NumPy's apply, piecewise and vectorize families."""

from __future__ import annotations

import builtins as _py
import functools as _functools
import re as _re
import itertools as _itertools
import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from . import _foreign, _graphc
from ._creation import asarray, zeros, zeros_like
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import float64
from ._manipulation import _axis, broadcast_arrays, concatenate, stack
from .errors import ArgumentError, ForeignDType

if TYPE_CHECKING:
    from ._types import Array, ArrayLike


def apply_along_axis(func1d, axis: int, arr: ArrayLike, *args, **kwargs) -> Array:
    """`func1d` of every vector along an axis: it takes a view and gives a number or an Array of one shape."""
    x = asarray(arr)
    axis = _axis(axis, x.ndim, "apply_along_axis")
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    if 0 in rest:
        raise ArgumentError("Cannot apply_along_axis when any iteration dimensions are 0")
    order = [i for i in range(x.ndim) if i != axis] + [axis]
    rows = _graphc.transpose(x, tuple(order))
    results = [func1d(rows[place], *args, **kwargs) for place in ndindex(*rest)]
    results = [r if _graphc.is_array(r) else asarray(r) for r in results]
    inner = results[0].shape
    whole = stack(results).reshape(rest + inner)
    back = list(range(axis)) + list(range(len(rest), whole.ndim)) + list(range(axis, len(rest)))
    return _graphc.transpose(whole, tuple(back)) if whole.ndim else whole


def apply_over_axes(func, a: ArrayLike, axes) -> Array:
    """`func(x, axis)` for each axis in turn; an axis that it removes is put back with size 1."""
    x = asarray(a)
    rank = x.ndim
    for axis in axes if isinstance(axes, (tuple, list, range)) or getattr(axes, "ndim", 0) else [axes]:
        axis = axis + rank if axis < 0 else axis
        result = asarray(func(x, axis))
        if result.ndim != x.ndim:
            result = _graphc.expand_dims(result, axis)
            if result.ndim != x.ndim:
                raise ArgumentError("function is not returning an array of the correct shape")
        x = result
    return x


def piecewise(x: ArrayLike, condlist, funclist, *args, **kw) -> Array:
    """For each element the function (or value) of the last condition that holds, else the extra one at the end, else
    zero. Functions are called on the elements where their condition holds (counted now; while tracing, where nobody
    knows them, on all of `x`); the dtype is that of `x`."""
    x = asarray(x)
    if not isinstance(condlist, (list, tuple)):
        condlist = list(condlist) if getattr(condlist, "ndim", 0) > (1 if x.ndim else 0) else [condlist]
    elif condlist and not hasattr(condlist[0], "__len__") and x.ndim:
        condlist = [condlist]
    conditions = [c if _graphc.is_array(c) and c.dtype == bool else asarray(c, device=x.device).astype(bool, copy=False) for c in condlist]
    extra = len(funclist) - len(conditions)
    if extra not in (0, 1):
        raise ArgumentError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected"
        )
    if _graphc.is_tracing():
        return _pieces(x, conditions, [f(x, *args, **kw) if callable(f) else f for f in funclist])
    if extra:
        conditions.append(_graphc.logical_not(_functools.reduce(_graphc.logical_or, conditions)))
    result = zeros_like(x)
    for condition, f in zip(conditions, funclist):
        if not callable(f):
            result[condition] = f
        elif (chosen := x[condition]).size:
            result[condition] = f(chosen, *args, **kw)
    return result


@_where_operands_are
def _pieces(x, conditions, values):
    """What piecewise makes of its values while tracing, once the user's functions have run."""
    result = zeros(x.shape, x.dtype)
    if len(values) > len(conditions):
        result = result + asarray(values[-1]).astype(x.dtype, copy=False)
    for condition, value in zip(conditions, values):
        result = _graphc.select(condition, asarray(value).astype(x.dtype, copy=False), result)
    return asarray(result)


class ndindex:  # noqa: N801  (NumPy's name)
    """Iterates over the indices of an array of a shape, the last one fastest."""

    __module__ = "graphc"

    def __init__(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], tuple):
            shape = shape[0]
        shape = [_operator.index(n) for n in shape]
        if _py.any(n < 0 for n in shape):
            raise ArgumentError("negative dimensions are not allowed")
        self._places = _itertools.product(*[range(n) for n in shape])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._places)


class ndenumerate:  # noqa: N801
    """Iterates over (index, element) of an array."""

    __module__ = "graphc"

    def __init__(self, arr):
        try:
            x = asarray(arr)
        except ForeignDType:
            self.iter = _np.ndenumerate(arr)
        else:
            elements = x.ravel() if x.contiguous else x.flat  # as they are when it is their turn
            self.iter = zip(ndindex(x.shape), elements if x.size else ())

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.iter)


class vectorize:
    """A function of numbers as a function of arrays: it is called once an element, in Python, so its operands are
    evaluated. `excluded` arguments (by place or name) are passed as they are; `signature` names core axes."""

    __module__ = "graphc"

    def __init__(self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        self.pyfunc, self.otypes, self.excluded = pyfunc, otypes, set(excluded or ())
        self.signature, self.cache = signature, cache
        if isinstance(otypes, str):
            self.otypes = list(otypes)
        if pyfunc is not None:
            if not callable(pyfunc):
                raise TypeError("When used as a decorator, only accepts keyword arguments.")
            self._named(doc)

    def _named(self, doc=None):
        self.__doc__ = doc or self.pyfunc.__doc__
        self.__name__ = getattr(self.pyfunc, "__name__", "vectorize")

    @_where_operands_are
    def __call__(self, *args, **kwargs):
        if _py.any(isinstance(a, _np.ndarray) and type(a) is not _np.ndarray for a in (*args, *kwargs.values())):
            return self._numpys(args, kwargs)
        if self.pyfunc is None:  # used as a decorator with arguments
            if not callable(args[0]):
                raise TypeError("When used as a decorator, only accepts keyword arguments.")
            self.pyfunc = args[0]
            self._named()
            return self
        looped = [i for i in range(len(args)) if i not in self.excluded]
        named = [k for k in kwargs if k not in self.excluded]
        arrays = [_numpys_or_ours(a) for a in [args[i] for i in looped] + [kwargs[k] for k in named]]
        if not arrays:
            return self.pyfunc(*args, **kwargs)

        def call(values):
            given, keywords = list(args), dict(kwargs)
            for place, value in zip(looped, values):
                given[place] = value
            keywords.update(zip(named, values[len(looped) :]))
            return self.pyfunc(*given, **keywords)

        if self.signature is not None:
            return self._numpys(args, kwargs) if _py.any(type(x) is _np.ndarray for x in arrays) else self._generalized(call, arrays)
        wide = arrays
        if len(arrays) > 1:
            wide = _np.broadcast_arrays(*arrays) if _py.any(type(x) is _np.ndarray for x in arrays) else broadcast_arrays(*arrays)
        shape = wide[0].shape
        columns = [x.tolist() if x.ndim == 0 else x.ravel().tolist() for x in wide]
        columns = [[c] if not isinstance(c, list) else c for c in columns]
        if not columns[0] and self.otypes is None:
            raise ArgumentError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        is_plain = not kwargs and len(looped) == len(args)
        kinds, first = self.otypes, []
        if kinds is None:  # the dtypes of results are those of NumPy's numbers: a call of its own, unless it is kept
            numbers = [x.flat[0] if type(x) is _np.ndarray else _np.dtype(x.dtype).type(c[0]) for c, x in zip(columns, wide)]
            given = self.pyfunc(*numbers) if is_plain else call(numbers)
            kinds = [_KINDS.get(type(v)) or _numpys_or_ours(v).dtype for v in (given if isinstance(given, tuple) else (given,))]
            if self.cache:
                columns, first = [c[1:] for c in columns], [given]
        results = first + (list(map(self.pyfunc, *columns)) if is_plain else [call(values) for values in zip(*columns)])
        several = _py.bool(results) and isinstance(results[0], tuple)
        count = len(kinds) if not results else len(results[0]) if several else 1
        parts = list(zip(*results)) if several else [results]
        parts = parts or [[] for _ in range(count)]
        arrays = tuple(_of_values(p, shape, k) for p, k in zip(parts, kinds))
        return arrays if several or count > 1 else arrays[0]

    def _numpys(self, args, kwargs):
        theirs = _np.vectorize(self.pyfunc, self.otypes, self.__doc__, self.excluded, False, self.signature)
        return _foreign.run(theirs, args, kwargs)

    def _generalized(self, call, arrays):
        inputs, outputs = _signature(self.signature)
        if len(arrays) != len(inputs):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {len(arrays)}")
        sizes = {}
        for x, core in zip(arrays, inputs):
            _bind(sizes, x.shape, core)
        loops = [a.shape[: a.ndim - len(c)] for a, c in zip(arrays, inputs)]
        shape = _np.broadcast_shapes(*loops)
        wide = [_graphc.broadcast_to(a, shape + a.shape[a.ndim - len(c) :]) for a, c in zip(arrays, inputs)]
        kinds = self.otypes or [None] * len(outputs)
        if 0 in shape:
            if self.otypes is None:
                raise ArgumentError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            if _py.any(n not in sizes for core in outputs for n in core):
                raise ArgumentError("cannot call `vectorize` with a signature including new output dimensions on size 0 inputs")
            done = tuple(zeros(shape + tuple(sizes[n] for n in core), kind) for core, kind in zip(outputs, kinds))
            return done if len(outputs) > 1 else done[0]
        columns = [[] for _ in outputs]
        for place in ndindex(*shape):
            results = call([w[place] for w in wide])
            count = len(results) if isinstance(results, tuple) else 1
            if count != len(outputs):
                raise ArgumentError(f"wrong number of outputs from pyfunc: expected {len(outputs)}, got {count}")
            for column, result, core in zip(columns, results if isinstance(results, tuple) else (results,), outputs):
                result = asarray(result)
                _bind(sizes, result.shape, core)
                column.append(result)
        joined = [stack(column) for column in columns]
        done = tuple(x.reshape(shape + x.shape[1:]).astype(k or x.dtype, copy=False) for x, k in zip(joined, kinds))
        return done if len(outputs) > 1 else done[0]


def _signature(text):
    """The core axes of inputs and of outputs. Raises ValueError for no signature of a generalized ufunc."""
    text = "".join(text.split())
    one = r"\((?:\w+(?:,\w+)*)?\)"
    if not _re.fullmatch(f"{one}(?:,{one})*->{one}(?:,{one})*", text):
        raise ArgumentError(f"not a valid gufunc signature: {text}")
    return [[tuple(n for n in core[1:-1].split(",") if n) for core in _re.findall(one, side)] for side in text.split("->")]


def _bind(sizes, shape, core):
    """Notes the sizes of core axes. Raises ValueError where they differ or are missing."""
    if len(shape) < len(core):
        raise ArgumentError(f"{len(shape)}-dimensional argument does not have enough dimensions for all core dimensions {core}")
    for name, size in zip(core, shape[len(shape) - len(core) :]):
        if sizes.setdefault(name, size) != size:
            raise ArgumentError(f"inconsistent size for core dimension {name!r}: {size!r} vs {sizes[name]!r}")


#: The dtypes of results that need no look at their values.
_KINDS = {float: float64, _np.float64: float64, bool: _np.dtype(bool), _np.int64: _np.dtype("int64"), complex: _np.dtype(complex)}


_PLAIN_KINDS = frozenset(type(k) for k in (*_KINDS.values(),))


def _of_values(values, shape, kind):
    """The results of calls in a dtype, as NumPy's conversion of objects."""
    values = list(values)
    wanted = _KINDS.get(kind, kind) if type(kind) is type else kind
    if type(wanted) in _PLAIN_KINDS and (made := _graphc.pack(values)) is not None and made.dtype == wanted and made.ndim == 1:
        return made if len(shape) == 1 else made.reshape(shape)
    try:
        made = asarray(values, kind)
        if made.ndim == 1:
            return made.reshape(shape)
    except ForeignDType:
        kind = _np.dtype(kind)
        if kind.kind != "O":
            return _np.array(values, kind.char if kind.kind in "SU" else kind).reshape(shape)
    except (TypeError, ValueError):
        pass  # said of the objects
    each = _np.empty(len(values), object)  # also a list is one element
    for i, value in enumerate(values):
        each[i] = value
    return (each if kind == object else asarray(each.astype(kind))).reshape(shape)


def _numpys_or_ours(values):
    """An Array, or NumPy's array where graphc has no such dtype."""
    try:
        return asarray(values)
    except ForeignDType:
        return _np.asarray(values)


def frompyfunc(func, /, nin: int, nout: int, **keywords):
    """A Python function of `nin` objects as a ufunc, which is NumPy's: of the values of arrays, with arrays of objects as results."""
    return _np.frompyfunc(func, nin, nout, **keywords)


def iterable(y) -> bool:
    """Whether an object can be iterated over."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


@_where_operands_are
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis=None) -> Array:
    """Without the zeros at the front ("f") and at the back ("b") of every axis; their number is evaluated. Raises
    ValueError for another `trim`."""
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ArgumentError(f"unexpected character(s) in `trim`: {trim!r}")
    x = asarray(filt)
    axes = range(x.ndim) if axis is None else [_axis(a, x.ndim, "trim_zeros") for a in _np.atleast_1d(axis).tolist()]
    present = x != 0
    index = [slice(None)] * x.ndim
    for i in axes:
        others = tuple(k for k in range(x.ndim) if k != i)
        line = _np.asarray(_graphc.reduce("any", present, others, False, None) if others else present)
        is_any = line.any()
        first = int(line.argmax()) if is_any else 0 if "f" not in trim.lower() else len(line)
        last = len(line) - int(line[::-1].argmax()) if is_any else first if "f" in trim.lower() else 0
        index[i] = slice(first if "f" in trim.lower() else 0, last if "b" in trim.lower() else len(line))
    if x.ndim == 1 and isinstance(filt, (list, tuple)):
        return filt[index[0]]
    return x[tuple(index)]


def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight truth values a byte along an axis, zeros filled up at the end."""
    x = asarray(a)
    if x.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    x = x if x.dtype == bool else x != 0
    x = x.ravel() if axis is None or x.ndim == 0 else x
    axis = 0 if axis is None else _axis(axis, x.ndim, "packbits")
    little = _bit_shifts(bitorder)[0] == 0
    if x.size >= _MANY_TRUTHS and axis == x.ndim - 1 and x.shape[axis] % 8 == 0 and _are_words(x):
        words = x.view("uint64")
        for shift in (4, 2, 1):  # memory of somebody else may have other bytes than 0 and 1
            words = words | words >> _np.uint64(shift)
        words = words & _np.uint64(0x0101010101010101)
        return (words * _gatherer(little) >> _np.uint64(56)).astype("uint8")
    missing = -x.shape[axis] % 8
    if missing:
        filler = x.shape[:axis] + (missing,) + x.shape[axis + 1 :]
        x = concatenate([x, zeros(filler, bool, device=x.device)], axis)
    packed, before = x.astype("uint8"), (slice(None),) * axis
    for shift in (1, 2, 4):  # neighbours become one
        first, second = packed[(*before, slice(0, None, 2))], packed[(*before, slice(1, None, 2))]
        packed = first | second << shift if little else first << shift | second
    return packed


#: As many truth values are read as words of eight.
_MANY_TRUTHS = 1 << 16


def _are_words(x):
    """Whether truth values lie side by side in memory."""
    return not _graphc.is_tracing() and not _graphc.pending(x) and x.flags.c_contiguous


@_functools.cache
def _gatherer(little):
    """What a word of eight truth values is multiplied by for having them as bits of its highest byte: none of the
    products has a carry."""
    return _np.uint64(_py.sum(1 << (56 - 7 * i if little else 63 - 9 * i) for i in range(8)))


def _bit_shifts(order):
    if not isinstance(order, str):
        raise TypeError(f"'order' must be str, not {type(order).__name__}")
    if order not in ("big", "little"):
        raise ArgumentError("'order' must be either 'little' or 'big'")
    return range(7, -1, -1) if order == "big" else range(8)


def unpackbits(a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The bits of bytes along an axis, as uint8; `count` of them, the rest zeros."""
    x = asarray(a)
    if x.dtype != _np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    x = x.ravel() if axis is None or x.ndim == 0 else x
    axis = 0 if axis is None else _axis(axis, x.ndim, "unpackbits")
    bits = stack([(x >> shift) & 1 for shift in _bit_shifts(bitorder)], axis + 1)
    size = 8 * x.shape[axis]
    bits = bits.reshape(x.shape[:axis] + (size,) + x.shape[axis + 1 :])
    if count is None:
        return bits
    wanted = size + count if count < 0 else count
    if wanted < 0:
        raise ArgumentError(f"-count larger than number of elements: {count} of {size}")
    if wanted > size:
        filler = x.shape[:axis] + (wanted - size,) + x.shape[axis + 1 :]
        return concatenate([bits, zeros(filler, "uint8", device=x.device)], axis)
    return bits[(slice(None),) * axis + (slice(0, wanted),)].copy()
