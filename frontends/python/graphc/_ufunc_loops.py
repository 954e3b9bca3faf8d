"""The loop that a call of a ufunc asks for by `dtype`, `signature` and `casting`, as NumPy finds it."""

import contextlib as _contextlib
import functools as _functools

import numpy as _np

from . import _graphc
from ._creation import asarray, zeros
from ._dtypes import as_dtype, can_cast
from ._float_errors import any_told, errstate, quiet
from ._float_errors import stands_for as _stands_for
from .errors import DTypeError

_RANKS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}  # a number becomes an element of a kind that is not below its own


def is_weak(x):
    return not _graphc.is_array(x) and isinstance(x, (bool, int, float, complex)) and not isinstance(x, _np.generic)


def _none(name):
    return DTypeError(f"No loop matching the specified signature and casting was found for ufunc {name}")


def _kind(x):
    """What NumPy looks at: a dtype, or the class of a Python number."""
    if is_weak(x) and not isinstance(x, bool):
        return int if isinstance(x, int) else float if isinstance(x, float) else complex
    return _np.dtype(bool) if isinstance(x, bool) else x.dtype


@_functools.lru_cache(maxsize=4096)
def _resolved(name, signature, casting, kinds):
    """The dtypes of the loop's operands and results. Raises NumPy's errors."""
    theirs = getattr(_np, name)
    parsed, options = signature, {"casting": casting} if signature is None else {"casting": casting, "signature": signature}
    # A call has NumPy's words for what it refuses, and resolve_dtypes() is asked of nothing else: refusals have ended the process there.
    cores = [core.count(",") + 1 for core in theirs.signature.partition("->")[0].split("),(")] if theirs.signature else [1] * len(kinds)
    theirs(*[_np.empty((0,) * core, kind) if isinstance(kind, _np.dtype) else kind(1) for core, kind in zip(cores, kinds)], **options)
    if isinstance(signature, str):
        before, _, after = signature.partition("->")
        parsed = (*before, *after)
    dtypes = tuple([None if t is None else _np.dtype(t) for t in parsed or ()])
    if set(dtypes) - {None}:
        options["signature"] = dtypes
    else:
        options.pop("signature", None)
    return theirs.resolve_dtypes((*kinds, *(None,) * theirs.nout), **options)


def _own(ufunc, operands, dtype, casting):
    """The same for dtypes that NumPy has not."""
    name = ufunc.__name__

    def found(values):
        try:
            probe = ufunc(*[type(x)(1) if is_weak(x) else zeros((), x.dtype) for x in values])
        except DTypeError:
            return None
        return (probe[0] if isinstance(probe, tuple) else probe).dtype

    if dtype is None or found(operands) == dtype:
        return operands
    for i, x in enumerate(operands):
        own = _np.asarray(x).dtype if is_weak(x) else x.dtype
        fits = _RANKS.get(own.kind, 0) <= _RANKS.get(dtype.kind, 3) if is_weak(x) else can_cast(own, dtype, casting)
        if casting != "unsafe" and not fits:
            raise DTypeError(f"Cannot cast ufunc '{name}' input {i} from dtype('{own}') to dtype('{dtype}') with casting rule '{casting}'")
    cast = 1 if name == "ldexp" else len(operands)  # the exponent stays an integer
    operands = [asarray(x, dtype) if is_weak(x) else asarray(x).astype(dtype, copy=False) for x in operands[:cast]] + list(operands[cast:])
    if found(operands) != dtype:
        raise _none(name)
    return operands


@_stands_for()
def of_loop(ufunc, operands, dtype, signature, casting):
    """The operands as the loop takes them, and the dtypes of its results where those are NumPy's."""
    if signature is None and dtype is None and casting not in ("no", "equiv"):
        return operands, None
    if signature is not None and dtype is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    if isinstance(signature, bytes):
        signature = signature.decode("ascii")
    name, wanted = ufunc.__name__, dtype if dtype is None else as_dtype(dtype)
    kinds = tuple(map(_kind, operands))
    is_numpys = all(isinstance(kind, (_np.dtype, type)) for kind in (*kinds, wanted) if kind is not None)
    if not is_numpys or not isinstance(getattr(_np, name, None), _np.ufunc) or not isinstance(signature, (str, tuple, type(None))):
        if signature is not None and is_numpys:
            raise TypeError("the signature object to ufunc must be a string or a tuple.")
        text = signature[-1] if isinstance(signature, tuple) else signature
        wanted = wanted if text is None else as_dtype(text.split("->")[-1] if isinstance(text, str) else text)
        return _own(ufunc, operands, wanted, casting), None
    if wanted is not None:
        signature = (None,) * ufunc.nin + (wanted,) * ufunc.nout
    dtypes = _resolved(name, signature, casting, kinds)
    taken = [x if kind == t and not is_weak(x) else asarray(x, t) if is_weak(x) else asarray(x).astype(t, copy=False)
             for x, kind, t in zip(operands, kinds, dtypes)]  # fmt: skip
    return taken, dtypes[ufunc.nin :]


@_stands_for()
def scan(kind, x, axis, dtype=None):
    """Running sums and products; in truth values they are `or` and `and`."""
    if dtype is not None and dtype.kind == "b":
        return _graphc.scan("max" if kind == "sum" else "min", x.astype(dtype, copy=False), axis)
    return _graphc.scan(kind, x, axis, dtype)


_BOOL = _np.dtype(bool)


def _in_loop(ufunc, operands):
    """Numbers and bools as arrays of the dtypes of NumPy's loop for them; None where it has none."""
    kinds = tuple(map(_kind, operands))
    if not isinstance(getattr(_np, ufunc.__name__, None), _np.ufunc) or not all(isinstance(kind, (_np.dtype, type)) for kind in kinds):
        return None
    dtypes = _resolved(ufunc.__name__, None, "same_kind", kinds)
    return [asarray(x, t) if is_weak(x) else asarray(x).astype(t, copy=False) for x, t in zip(operands, dtypes)]


@_stands_for()
def where_chosen(self, operands, where):
    """A call whose results the mask chooses from. Elements that it leaves out are computed too: in their place there is what meets
    no error, NaN or 1, so that only those that it chooses are told."""
    arrays = [i for i, x in enumerate(operands) if _graphc.is_array(x) or isinstance(x, _np.generic)]
    floats = [i for i in arrays if operands[i].dtype.kind in "fc"]
    by_zero = not floats and len(operands) > 1 and is_weak(operands[-1]) and operands[-1] == 0
    is_plain = arrays and not (by_zero and (type(operands[-1]) is not int or operands[arrays[0]].dtype.kind not in "iu"))
    taken = operands if is_plain or not any_told() else _in_loop(self, operands)
    if taken is None or not any_told():
        with errstate(all="ignore"):
            return self(*operands)
    if not is_plain:
        return where_chosen(self, taken, where)
    of_complex = any(operands[i].dtype.kind == "c" for i in floats)
    compares = self.__name__ == "logaddexp" or (self.__name__ == "divide" and of_complex)  # what tells of NaN
    harmless = _np.nan if floats and not compares else self.__name__ != "arctanh"
    operands = list(operands)
    if by_zero:
        operands[-1] = operands[arrays[0]].dtype.type(0)
        arrays.append(len(operands) - 1)
    for i in floats[:1] if floats and not compares else arrays:
        operands[i] = _graphc.select(where, operands[i], operands[i].dtype.type(harmless))
    return self(*operands)


@_stands_for()
def called(self, operands, axes, where, outs):
    """The results of a call for these outputs (None: new ones), chosen by a mask or for all elements. For an output without elements
    NumPy computes none, so that nothing is met."""
    with quiet() if any(o is not None and o.size == 0 for o in outs) else _contextlib.nullcontext():
        if where is not True:
            return where_chosen(self, operands, where)
        return self.function(*operands, **axes) if axes else self(*operands)


@_stands_for()
def spread(results, outs):
    """Several results: those that become new arrays are as large as the outputs that the others are written to."""
    shapes = [o.shape for o in outs if o is not None]
    if not shapes:
        return results
    try:
        shape = _np.broadcast_shapes(*[r.shape for r in results], *shapes)
    except ValueError:  # said of the output
        return results
    return tuple(r if o is not None or r.shape == shape else _graphc.broadcast_to(r, shape).copy() for r, o in zip(results, outs))


@_stands_for()
def masked(self, args, keywords):
    """A call with an output and a mask, all arrays alike; None for others."""
    out, where = keywords.get("out"), keywords.get("where")
    if not (type(out) is type(where) is _graphc.ndarray and where.dtype is _BOOL and where.shape == out.shape and not out.readonly):
        return None
    for x in args:
        if type(x) is not _graphc.ndarray or x.dtype is not out.dtype or x.shape != out.shape:
            return None
    result = where_chosen(self, args, where)
    if result.dtype is not out.dtype:
        return None
    out[...] = _graphc.select(where, result, out)
    return out
