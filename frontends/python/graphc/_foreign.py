"""What graphc does not compute: strings, objects, dates, structured and extended dtypes, masked arrays and other classes.

An array of such a dtype is a `numpy.ndarray`, made by NumPy. A function, operator or method of ours that meets one fails with
ForeignDType (before it has recorded anything), and the extension asks here: NumPy's function of that name is called with the
values of our arrays, and what it returns is ours again where graphc has its dtype. Calls that succeed never come here.

What is said here is a plan: (NumPy's function, its arguments, its keywords, what becomes of its result), or NotImplemented. The
extension carries it out, so that no frame of this file stands between NumPy and the line that a warning or an error names.
"""

import functools as _functools
import inspect as _inspect
import operator as _operator
import sys as _sys
import types as _types
import weakref as _weakref
from collections import abc as _abc

import numpy as _np

from . import _graphc, _numpys_classes, _signatures
from ._class_arguments import JOINING as _JOINING, joining, taken
from ._dtypes import _NAMES
from ._exact import UPDATES as _UPDATES, exact, exact_part  # noqa: F401
from ._float_errors import stands_for as _stands_for
from ._given_memory import OF_BUFFERS as _OF_BUFFERS, sharing
from ._wrapping import converter, is_asked, says_nothing, valued, wrap
from .errors import ForeignDType, TraceError

_Array = _graphc.Array
_COMPUTED = frozenset(_NAMES)
_OURS = (_graphc.function, _graphc.plain_function, _graphc.ufunc)


def _refuse_in_jit(what, error=None):
    if _graphc.is_tracing():
        reason = f" ({error.args[0].rpartition(' (at ')[0] or error.args[0].rpartition(' [')[0]})" if error is not None else ""
        raise TraceError(f"{what} of a dtype or an object that graphc does not compute{reason}: NumPy does, but not while a function is recorded")


def has_own(cls, name):
    """Whether a class says itself what NumPy's functions (`__array_function__`) or ufuncs mean."""
    return not issubclass(cls, (_Array, _np.ndarray, _np.generic)) and getattr(cls, name, None) is not None


_SILENT = _np.ndarray.__array_function__


def _says_itself(cls):
    """Whether a class, one made of NumPy's arrays as well, says what NumPy's functions mean."""
    return getattr(cls, "__array_function__", _SILENT) not in (_SILENT, ndarray.__array_function__) and not issubclass(cls, _Array)


@_functools.lru_cache(maxsize=256)
def leaves_all(cls):
    """Whether a class made of NumPy's arrays says nothing itself of ufuncs and functions."""
    is_made = issubclass(cls, _np.ndarray) and not issubclass(cls, _np.memmap) and cls is not _np.ndarray
    return is_made and cls.__array_ufunc__ is _np.ndarray.__array_ufunc__ and cls.__array_function__ in (_SILENT, ndarray.__array_function__)


def leave_to_classes(name, values):
    """Raises ForeignDType, for which NumPy's function asks, where the class of a value says what NumPy's functions mean."""
    for cls in map(type, values):
        if _says_itself(cls):
            raise ForeignDType(f"{name}: {cls.__name__} has functions of its own")


def _members(values):
    """Arguments, and what is in lists and tuples among them."""
    for value in values:
        yield value
        if isinstance(value, (list, tuple)):
            yield from value


def _told_our_types(asked):
    @_functools.wraps(asked)
    def told(self, function, types, args, keywords):
        return asked(self, function, tuple(_graphc.ndarray if t is _np.ndarray else t for t in types), args, keywords)

    return told


class ndarray(_np.ndarray):
    """What a class is made of that names graphc's `ndarray` as its base: its objects are NumPy's."""

    __module__ = "graphc"

    def __new__(cls, shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
        if _graphc.is_array(buffer):
            buffer = buffer._lent()
        return super().__new__(cls, shape, dtype, buffer, offset, strides, order)

    def __init_subclass__(cls, **keywords):
        """A class that says what NumPy's functions mean names graphc's `ndarray` where it looks at the types of their arguments."""
        super().__init_subclass__(**keywords)
        asked = cls.__dict__.get("__array_function__")
        if isinstance(asked, _types.FunctionType):
            cls.__array_function__ = _told_our_types(asked)

    def __array_function__(self, function, types, args, keywords):
        made = _SILENT(self, function, types, args, keywords)
        if made is not NotImplemented:
            return made
        return _SILENT(self, function, tuple(_np.ndarray if t is _graphc.ndarray else t for t in types), args, keywords)

    def __array_namespace__(self, *, api_version=None):
        super().__array_namespace__(api_version=api_version)  # which refuses versions
        return _sys.modules[__package__]

    def view(self, *args, **keywords):
        """As numpy.ndarray.view; graphc's class of arrays is NumPy's here."""
        args = [_np.ndarray if a in (_Array, _graphc.ndarray) else a for a in args]
        return super().view(*args, **{k: _np.ndarray if v in (_Array, _graphc.ndarray) else v for k, v in keywords.items()})


_graphc.take_masks(ndarray)


class _NumpysName(type):
    """Equal to graphc's class of arrays, as code compares classes (`type(x) in (ndarray, matrix)`)."""

    __eq__ = lambda cls, other: other is cls or other is _graphc.ndarray or other is _np.ndarray  # noqa: E731
    __hash__ = lambda cls: hash(_graphc.ndarray)  # noqa: E731


class _Lent(ndarray, metaclass=_NumpysName):
    """The values of an array of ours that a call is given or writes to, where a class made of `ndarray` is asked: it may view them as that class."""

    __array_priority__ = -1e5  # results are of the other class, and NumPy's scalars wait for both

    def __reduce_ex__(self, protocol):
        return self.view(_np.ndarray).__reduce_ex__(protocol)


_Lent.__name__ = _Lent.__qualname__ = "ndarray"


class _Call:
    """The arguments of one call as NumPy takes them, and its result as ours."""

    def __init__(self, args=(), keywords=None, asks=None):
        """`asks`: the protocol by which NumPy asks classes that have it; those are given our arrays."""
        self._copies = []  # (our array, the copy that NumPy changes)
        self._device = None  # of the first array of ours: where results go
        self._keeps = asks is not None and any(has_own(type(v), asks) for v in _members((*args, *keywords.values())))
        # One that says what functions mean is asked before NumPy's own class, of which it is made.
        self._lends = any(isinstance(v, _np.ndarray) and type(v) is not _np.ndarray and not leaves_all(type(v)) for v in args)
        self._has_class = any(isinstance(v, ndarray) for v in args) and not (asks == "__array_function__" and any(map(_says_itself, map(type, args))))

    def given(self, value):
        if _graphc.is_array(value):
            self._device = self._device or value.device
            if self._keeps:
                return value
            if self._lends and value.ndim and value.device == "cpu":  # to code of a class, which may hand it to compiled code
                lent = value._lent()
                return lent.view(_Lent) if self._has_class else lent
            array = _np.asarray(value)
            return array[()] if _graphc.is_value(value) else array
        if type(value) in (list, tuple):
            return type(value)(map(self.given, value))
        return value

    def changed(self, value):
        """The same of what the call writes to."""
        if isinstance(value, tuple):
            return tuple(map(self.changed, value))
        if not _graphc.is_array(value) or self._keeps:
            return value
        self._device = self._device or value.device
        copy = _np.array(value).view(_Lent if self._has_class else _np.ndarray)
        copy.flags.writeable = not value.readonly
        self._copies.append((value, copy))
        return copy

    def result(self, value):
        for ours, copy in self._copies:
            if not ours.readonly:
                ours[...] = copy
        return self._ours(value)

    def _ours(self, value):
        for ours, copy in self._copies:
            if value is copy:
                return ours
        if type(value) in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_make")):
            return getattr(value, "_make", type(value))([self._ours(v) for v in value])
        if self._device is None and isinstance(value, _np.generic):  # of pandas' values, say, which collects its numbers again
            return value
        return to_ours(value, self._device)


@_functools.lru_cache
def _is_computed(dtype):
    return dtype.isnative and dtype.name in _COMPUTED


def stays_theirs(dtype):
    """Whether arrays of a dtype of NumPy's are not ours: strings, objects, dates and structures."""
    return not _is_computed(dtype)


def to_ours(value, device=None):
    """A numeric result of NumPy's as an Array; anything else as it is."""
    if (type(value) is _np.ndarray or type(value) is _Lent) and _is_computed(value.dtype):
        value = value.view(_np.ndarray)
        shared = _graphc.Array._borrowed(value) if device in (None, "cpu") else None
        if shared is not None:
            return shared
        packed = _graphc.pack(value) if device in (None, "cpu") else None
        if packed is not None and (device is None or packed.device == device):
            return packed
        turns = value.flags.fnc and not _graphc.is_tracing()  # column-major memory stays so
        made = _graphc.asarray(value.T if turns else value, None, device, None)
        if turns:
            made._turn(None)
        return made
    if isinstance(value, _np.generic) and _is_computed(value.dtype):
        return _graphc.asarray(value, None, device, None)[()]
    return value


def returned(value):
    """As to_ours, of calls that write to no array of ours."""
    return to_ours(value) if type(value) is _np.ndarray or isinstance(value, (_np.generic, tuple, list)) else value


def _of_numbers(value, device):
    """A sequence or buffer of numbers, as `range` and `array.array`, as an Array; anything else as it is."""
    if isinstance(value, (_Array, _np.ndarray, _np.generic, list, tuple, str, bytes)) or has_own(type(value), "__array_ufunc__"):
        return value
    if not (isinstance(value, (_abc.Sequence, memoryview)) or hasattr(type(value), "__array__")):
        return value
    made = value.__array__() if hasattr(type(value), "__array__") else value
    return made if _graphc.is_array(made) else to_ours(_np.asarray(made), device)


def _outputs(theirs, args):
    """The places of the positional arguments that are outputs."""
    if isinstance(theirs, _np.ufunc):
        return range(theirs.nin, len(args))
    if not any(_graphc.is_array(a) for a in args[1:]):
        return ()
    owner = getattr(theirs, "__self__", None)
    if owner is None or isinstance(owner, (type, _types.ModuleType)):
        return _places_of_out(theirs)
    return [i - 1 for i in _places_of_out(getattr(type(owner), theirs.__name__, None))]  # a method of an object: without that


@_functools.lru_cache(maxsize=1024)
def _places_of_out(function):
    try:
        taken = list(_inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ()
    return [i for i, p in enumerate(taken) if p.name == "out" and p.kind is p.POSITIONAL_OR_KEYWORD]


#: What makes an array of an object asks nobody but its `__array__`, which may give one of ours.
_CONVERTERS = (_np.array, _np.asarray, _np.asanyarray, _np.ascontiguousarray, _np.asfortranarray)


def plan(theirs, args, keywords, updates=None):
    """The call of NumPy's function for our arguments, and what makes its result ours; `updates` is the name of the first one
    where that is changed."""
    if theirs in _CONVERTERS and args:
        theirs, args = converter(theirs, args, keywords)
    of_ufunc = isinstance(theirs, _np.ufunc) or isinstance(getattr(theirs, "__self__", None), _np.ufunc)
    made = _plan(_Call(args, keywords, "__array_ufunc__" if of_ufunc else "__array_function__"), theirs, args, keywords, updates)
    if theirs in _CONVERTERS and args and type(args[0]) in (list, tuple) and any(map(_graphc.is_array, args[0])):
        return *made[:3], lambda result: _holding(made[3](result), args[0])
    return made


def _holding(made, values):
    """An array of objects made of a sequence that has arrays holds these themselves: who writes to one sees it in the other."""
    if type(made) is _np.ndarray and made.dtype == object and made.ndim == 1:
        for i, value in enumerate(values):
            if _graphc.is_array(value):
                made[i] = value
    return made


def _plan(call, theirs, args, keywords, updates=None):
    outputs = _outputs(theirs, args)
    given = tuple([call.changed(a) if i in outputs or (updates and i == 0) else call.given(a) for i, a in enumerate(args)])
    written = ("out", updates)
    keywords = {k: call.changed(v) if k in written else call.given(v) for k, v in keywords.items() if not (k == "out" and v is None)}
    return theirs, given, keywords, call.result


_NUMBERS = frozenset((int, float, complex, bool, type(None), str))


_TEXT = frozenset((str, type(None)))


def _is_text(values):
    """Whether a sequence has text and None, beside which numbers are objects or text, or sequences of those alone."""
    kinds = {*map(type, values)}
    if kinds == {_np.ndarray}:
        return all(v.dtype.kind in "USMm" for v in values)
    return bool(kinds) and ((not kinds.isdisjoint(_TEXT) and kinds <= _NUMBERS) or (kinds <= {list, tuple} and all(map(_is_text, values))))


def _of_no_numbers(theirs, args, keywords):
    """The plan of a call whose first argument holds text, dates or structures, and which has no arrays of ours; else None."""
    first = args[0]  # whose elements may be of a package's narrow floats
    if first.dtype.kind == "V" and first.dtype.type is not _np.void if type(first) is _np.ndarray else not _is_text(first):
        return None
    if (type(first) is not _np.ndarray or first.dtype.kind in "USMm") and not _graphc.is_tracing() and not _are_plain(args[1:]):
        args = _moved(args)
    return (theirs, args, keywords, _Call().result) if args is not None and _are_plain((*args[1:], *keywords.values())) else None


def _are_plain(values):
    """Whether NumPy takes arguments as they are: numbers, text, dtypes, its own arrays, and lists and tuples of those."""
    for v in values:
        kind = type(v)
        if kind in (list, tuple):
            if not _NUMBERS.issuperset(map(type, v)) and not _are_plain(v):
                return False
        elif kind not in _MOVED and v is not object and v is not str and not isinstance(v, _np.dtype):
            return False
    return True


#: Functions that only move values, none of whose arguments is an option or may be text of one.
_OF_VALUES = frozenset(("where", "full", "select"))
_MOVED = _NUMBERS | {_np.ndarray, _np.datetime64, _np.timedelta64}


def _of_values(theirs, args, keywords):
    """The plan of a call that moves text, dates or nothing besides numbers and arrays of the host; else None."""
    if keywords or _graphc.is_tracing():
        return None
    given = _moved(args)
    return None if given is None else (theirs, given, keywords, _Call().result)


def _moved(args):
    """The arguments of a call that moves values, ours as NumPy's; None where others are among them."""
    given = []
    for a in args:
        if type(a) is _graphc.ndarray and a.device == "cpu":
            a = _np.asarray(a)
        elif type(a) in (tuple, list):
            a = _moved(a)
            if a is None:
                return None
        elif type(a) not in _MOVED:
            return None
        given.append(a)
    return given if type(args) is list else tuple(given)


_TIMES = frozenset((_np.datetime64, _np.timedelta64))


def _of_theirs(theirs, args, keywords):
    """The plan of a call that meets no objects of classes, but text, dates, structures or their dtypes; else None."""
    if isinstance(theirs, _np.ufunc) and not _TIMES.isdisjoint(map(type, args)):
        return _of_values(theirs, args, keywords)
    if args and (type(args[0]) is _np.ndarray or type(args[0]) in (list, tuple)) and (made := _of_no_numbers(theirs, args, keywords)):
        return made
    is_theirs = (any(v is object or v is str or isinstance(v, _np.dtype) or (type(v) is str and v[-1:] in "0123456789]") for v in args[1:]) or "dtype" in keywords) and "device" not in keywords
    return (theirs, args, keywords, _Call().result) if is_theirs and _are_plain((*args, *keywords.values())) else None


def of_classes(theirs, args, keywords, joins=False):
    """The plan of a call that meets objects of classes that leave all to NumPy, besides arrays and numbers, and writes to none of ours; else None.
    `joins`: they are in its first argument."""
    if _graphc.is_tracing():
        return None
    if not joins and not any(map(leaves_all, map(type, args))):
        return _of_theirs(theirs, args, keywords)
    for name, value in keywords.items():  # an output is the operand that an operator updates
        is_output = type(value) is tuple and len(value) == 1 and leaves_all(type(value[0]))
        if type(value) not in _NUMBERS and not is_output and not (name == "dtype" and taken(value) is value):
            return None
    given, outputs = [], None
    for i, a in enumerate(args):
        if type(a) not in _NUMBERS and not leaves_all(type(a)):
            if _graphc.is_array(a):
                outputs = _outputs(theirs, args) if outputs is None else outputs
                if i in outputs:
                    return None
            a = taken(a)
            if a is NotImplemented:
                return None
        given.append(a)
    return theirs, tuple(given), keywords, returned


def run(theirs, args, keywords, updates=None):
    """A plan, carried out here."""
    theirs, given, keywords, result = plan(theirs, args, keywords, updates)
    return result(theirs(*given, **keywords))


def applied(ufunc, operands, made=NotImplemented):
    """A ufunc of another package of arrays and numbers, which says nothing of classes and writes to none of them; `made`: what it gave."""
    if made is NotImplemented:
        made = ufunc(*[_np.asarray(x) if type(x) is _graphc.ndarray else _np.asarray(x)[()] if _graphc.is_array(x) else x for x in operands])
    device = next((x.device for x in operands if _graphc.is_array(x)), None)
    return tuple([to_ours(m, device) for m in made]) if isinstance(made, tuple) else to_ours(made, device)


def of_values(theirs, args, keywords):
    """The same for classes that our arrays mean nothing to: they are given values."""
    theirs, given, keywords, result = _plan(_Call(), theirs, args, keywords)
    return result(theirs(*given, **keywords))


def _as_it_is(result):
    return result


#: Of the protocols of classes: whether their code names functions of this package, and none of NumPy's.
_named = _weakref.WeakKeyDictionary()


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, _types.CodeType):
            yield from _codes(constant)


def _used(function):
    """What a function's code reads of its module and of the functions around it."""
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    yield from (function.__globals__[name] for name in names if name in function.__globals__)
    yield from (c.cell_contents for c in function.__closure__ or () if c != _EMPTY)


def _names_ours(cls, protocol):
    """Whether the code of a class that is asked names functions of this package, so that it tells those apart."""
    asked = getattr(cls, protocol)
    if not isinstance(asked, _types.FunctionType):
        return False
    if asked not in _named:
        package, used = _sys.modules[__package__], list(_used(asked))
        is_numpys = any(v is _np or isinstance(v, _np.ufunc) for v in used)
        _named[asked] = not is_numpys and any(v is package or isinstance(v, _OURS) for v in used)
    return _named[asked]


_EMPTY = _types.CellType()


def _asked_by(protocol, values):
    """The objects that are asked, each class once, those made of others first; none where one of them knows NumPy's functions only."""
    found = {type(v): v for v in reversed(list(values)) if has_own(type(v), protocol)}
    if not found or not all(_names_ours(cls, protocol) for cls in found):
        return []
    objects = list(found.values())[::-1]
    return sorted(objects, key=lambda v: -sum(issubclass(type(v), cls) for cls in found))


def _ask_of_ufunc(ufunc, method, objects, args, keywords):
    """What the objects say of a call of our ufunc, as NumPy asks."""
    args, out = args[: ufunc.nin] if method == "__call__" else args, args[ufunc.nin :] if method == "__call__" else ()
    out = tuple(out) or keywords.pop("out", ())
    out = out if isinstance(out, tuple) else (out,)
    if any(o is not None for o in out):
        keywords["out"] = out
    for value in objects:
        answer = type(value).__array_ufunc__(value, ufunc, method, *args, **keywords)
        if answer is not NotImplemented:
            return answer
    names = ", ".join(repr(type(a).__name__) for a in args)
    raise TypeError(f"operand type(s) all returned NotImplemented from __array_ufunc__({ufunc!r}, {method!r}, {', '.join(map(repr, args))}): {names}")


def _ask_of_function(function, objects, args, keywords, types=None):
    """The same of another function."""
    types = types or tuple(dict.fromkeys(type(v) for v in _members((*args, *keywords.values())) if hasattr(type(v), "__array_function__")))
    for value in objects:
        answer = type(value).__array_function__(value, function, types, args, keywords)
        if answer is not NotImplemented:
            return answer
    name = f"{(function.__module__ or '').replace('graphc', 'numpy', 1)}.{function.__name__}"
    raise TypeError(f"no implementation found for {name!r} on types that implement __array_function__: {[type(v) for v in objects]}")


def ask(ufunc, method, args, keywords):
    """The plan of a call of our ufunc where classes that name our functions are asked; else None."""
    if not isinstance(getattr(_np, ufunc.__name__, None), _np.ufunc):
        return None
    objects = _asked_by("__array_ufunc__", _members((*args, *keywords.values())))
    return (_ask_of_ufunc, (ufunc, method, objects, args, keywords), {}, _as_it_is) if objects else None


def _wrapper(function, args):
    """What becomes of the result of a ufunc of objects that wrap it (`__array_wrap__`)."""
    wrapping = [a for a in args if hasattr(type(a), "__array_wrap__") and not isinstance(a, (_Array, _np.ndarray, _np.generic))]
    if not wrapping:
        return _as_it_is
    first = max(wrapping, key=lambda a: getattr(a, "__array_priority__", 0.0))
    takes_ours = _names_ours(type(first), "__array_wrap__")

    def wrapped(result):
        results = result if isinstance(result, tuple) else (result,)
        given = [r if takes_ours else _np.array(r) for r in results]
        made = tuple(wrap(first.__array_wrap__, (g, (function, args, i), _graphc.is_value(r))) for i, (g, r) in enumerate(zip(given, results)))
        return made if isinstance(result, tuple) else made[0]

    return wrapped


def _of_like(function, args, keywords):
    """The plan of a call whose result is what the class of `like` makes, of our function where its code names those."""
    like = keywords.pop("like")
    if isinstance(like, _np.ndarray):
        return (_numpys(function), args, {**keywords, "like": like}, _as_it_is) if _says_itself(type(like)) else (function, args, keywords, _as_it_is)
    if not has_own(type(like), "__array_function__"):
        raise TypeError("The `like` argument must be an array-like that implements the `__array_function__` protocol.")
    if _names_ours(type(like), "__array_function__"):
        return _ask_of_function, (function, [like], args, keywords, (type(like),)), {}, _as_it_is
    return _numpys(function), args, {**keywords, "like": like}, _as_it_is


def _call(function, args, keywords, error):
    """A call of a function of ours that failed."""
    if is_asked(keywords.get("like")):
        return _of_like(function, args, keywords)
    hand = function.__dict__.get("hand")
    is_ufunc = isinstance(function, _graphc.ufunc)
    asked = ask(function, "__call__", args, keywords) if is_ufunc else None
    if asked is not None:
        return asked
    asks = not is_ufunc and hasattr(function.__dict__.get("numpys"), "_implementation")
    objects = [] if not asks else _asked_by("__array_function__", _members((*args, *keywords.values())))
    if objects:
        return _ask_of_function, (function, objects, args, keywords), {}, _as_it_is
    if isinstance(function, _graphc.ufunc) or function.__name__ == "where":
        device = next((a.device for a in args if _graphc.is_array(a)), None)
        made = [_of_numbers(a, device) for a in args]
        if any(a is not b for a, b in zip(args, made)):
            return function, tuple(made), keywords, _wrapper(function, args) if is_ufunc else _as_it_is
    if isinstance(function, _graphc.ufunc):
        theirs = getattr(_np, function.__name__, None)
        hand = _functools.partial(plan, theirs) if isinstance(theirs, _np.ufunc) else None
    if hand is None or keywords.get("device") not in (None, "cpu"):
        return NotImplemented
    _refuse_in_jit(function.__name__, error)
    keywords.pop("device", None)
    return hand(args, keywords)


def _method(name, self, args, keywords, error):
    """A method of an Array that failed."""
    theirs = getattr(_np.generic if _graphc.is_value(self) else _np.ndarray, name, None)
    if theirs is None:
        return NotImplemented
    _refuse_in_jit(name, error)
    return plan(theirs, (self, *map(valued, args)), {k: valued(v) for k, v in keywords.items()})


def _has_priority(other):
    """Whether NumPy leaves operators to an object that says nothing of ufuncs (SciPy's sparse arrays)."""
    priority = getattr(other, "__array_priority__", 0)
    return not hasattr(type(other), "__array_ufunc__") and isinstance(priority, (int, float)) and priority > 0


def _leaves_it(left, right, updates):
    """Whether Python shall ask the other operand: NumPy would, or there is no number yet to ask it with."""
    ours, other = (left, right) if _graphc.is_array(left) else (right, left)
    if isinstance(other, (_Array, _np.ndarray, _np.generic, list, tuple)):
        return False
    cls = type(other)
    if hasattr(cls, "__array_ufunc__"):
        return cls.__array_ufunc__ is None and not updates
    if _has_priority(other):
        return not updates
    return _graphc.is_tracing() and _graphc.is_value(ours)


#: The ufuncs of operators.
_UFUNCS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift", "divmod": "divmod", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


def _ours(name):
    """Our ufunc of an operator."""
    return getattr(_sys.modules[__package__], _UFUNCS[name if name in _UFUNCS else name[1:]])


#: What the right operand of a comparison is asked; of other operators it is `__r<name>__`.
_REFLECTED = {"eq": "__eq__", "ne": "__ne__", "lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__"}


def _operate(name, left, right):
    """An operator of which one operand is nothing of ours; `name` as in the module operator."""
    updates = name[0] == "i" and name != "invert"
    function = divmod if name == "divmod" else getattr(_operator, {"and": "and_", "or": "or_"}.get(name, name))
    if not updates and leaves_all(type(right if _graphc.is_array(left) else left)) and not _graphc.is_tracing():
        return function, tuple([v._values() if _graphc.is_array(v) else v for v in (left, right)]), {}, returned
    if not updates and name != "divmod" and says_nothing(type(right if _graphc.is_array(left) else left)) and not _graphc.is_tracing():
        return function, tuple([v._values()[()] if _graphc.is_array(v) else v for v in (left, right)]), {}, returned
    if _leaves_it(left, right, updates):
        if not _has_priority(right if _graphc.is_array(left) else left):
            return NotImplemented
        # asked here, since what refuses our arrays (a left operand has done so before) takes NumPy's
        method = getattr(type(right), _REFLECTED.get(name, f"__r{name}__"), None) if _graphc.is_array(left) else None
        answer = NotImplemented if method is None else method(right, left)
        if answer is not NotImplemented:
            return _as_it_is, (answer,), {}, _as_it_is
        _refuse_in_jit(name)
        call = _Call()
        return function, (call.given(left), call.given(right)), {}, call.result
    device = (left if _graphc.is_array(left) else right).device
    made = _of_numbers(left, device), _of_numbers(right, device)
    if made[0] is not left or made[1] is not right:
        return function, made, {}, _wrapper(_ours(name), (left, right))
    _refuse_in_jit(name)
    asked = ask(_ours(name), "__call__", (left, right), {"out": (left,)} if updates else {})
    if asked is not None:
        return asked
    if has_own(type(left), "__array_ufunc__") or has_own(type(right), "__array_ufunc__"):
        ufunc = getattr(_np, _UFUNCS[name[updates:]])
        return ufunc, (left, right), {"out": (left,)} if updates else {}, _as_it_is
    call = _Call((left, right), {})
    return function, (call.changed(left) if updates and not _graphc.is_value(left) else call.given(left), call.given(right)), {}, call.result


def operated(name, left, right):
    """An operator of `_operate`, carried out here."""
    made = _operate(name, left, right)
    return made if made is NotImplemented else made[3](made[0](*made[1], **made[2]))


#: Functions that put the values of other arguments into an array, and so would never meet what those are.
_ASKING = frozenset(("insert", "place", "put", "put_along_axis", "putmask"))


def _asks(inner):
    """A function that puts values into an array, and leaves it to NumPy's where a class says what NumPy's functions mean."""

    @_stands_for()
    @_functools.wraps(inner)
    def run(*args, **keywords):
        leave_to_classes(inner.__name__, (*args, *keywords.values()))
        return inner(*args, **keywords)

    return run


#: Functions of which the extension takes the plain calls itself: it answers NotImplemented for others.
_QUICK = {name: getattr(_graphc, f"plain_{name}") for name in (
    "array", "asarray", "ascontiguousarray", "vdot", "isfortran", "asfortranarray", "zeros", "ones", "empty", "full", "arange", "concatenate", "append", "round", "copy", "copyto", "size",
    "sort", "argsort", "take", "repeat", "nonzero", "flatnonzero", "count_nonzero", "clip", "cumsum", "cumprod", "swapaxes", "atleast_1d",
    "atleast_2d", "array_equal", "linspace", "diagonal", "outer", "diag", "trace", "transpose", "squeeze", "real", "imag", "flip", "flipud", "fliplr",
    "hstack", "vstack", "column_stack", "compress", "put", "putmask", "place", "bincount",
    "zeros_like", "ones_like", "unique", "partition", "argpartition", "searchsorted", "shares_memory", "may_share_memory", "choose", "ix_", "sum", "prod", "min", "max", "any", "all",
)} | dict.fromkeys(("eye", "identity"), _graphc.plain_eye) | {"empty_like": _graphc.plain_zeros_like, "asanyarray": _graphc.plain_asarray}  # fmt: skip


def _implemented(theirs, updates, *args, **keywords):
    """NumPy's function as classes call it that were asked what it means: without asking any."""
    return run(theirs, args, keywords, updates)


def function(inner, hand, module, theirs=None, binds=True, updates=None):
    """A function of the package as its users call it; `hand(args, keywords)` plans the call of NumPy's. One that `binds` is a method of
    classes that have it."""
    given = _asks(inner) if inner.__name__ in _ASKING and module == "graphc" else inner
    if inner.__name__ in _OF_BUFFERS and module == "graphc":
        given = sharing(inner, theirs)
    if inner.__name__ in _JOINING and module == "graphc":
        given = joining(inner, theirs, of_classes, leaves_all)
    made = (_graphc.function if binds else _graphc.plain_function)(*exact(given, theirs))
    made.quick = inner.__dict__.get("quick") or (_QUICK.get(inner.__name__) if module == "graphc" else None)
    made.is_of_values = inner.__name__ in _OF_VALUES and module == "graphc"
    made.__dict__.update(inner.__dict__)
    made.__dict__.pop("__wrapped__", None)
    made.__dict__.pop("quick", None)
    made.__dict__.update(__name__=inner.__name__, __qualname__=inner.__name__, __doc__=inner.__doc__, __module__=module, hand=hand, numpys=theirs)
    if hasattr(theirs, "_implementation"):
        made.__dict__["_implementation"] = _functools.partial(_implemented, theirs._implementation, updates)
    return made


def cover(namespace, theirs):
    """Makes the functions of a namespace hand what they refuse to NumPy's functions of the same name."""
    for name, inner in list(namespace.items()):
        numpys = getattr(theirs, name, None)
        is_function = isinstance(inner, _types.FunctionType) and callable(numpys) and not isinstance(numpys, type)
        if is_function and inner is not numpys and not name.startswith("_"):
            hand = _functools.partial(plan, numpys, updates=_UPDATES.get(name))
            made = function(inner, hand, namespace["__name__"], numpys, hasattr(numpys, "__get__"), _UPDATES.get(name))
            made.__dict__.update(__name__=name, __qualname__=name)  # of another name (amax) each is its own function
            if theirs is _np and name in _OF_ARRAYS:
                made.__dict__["as_method"] = _as_method(inner, numpys)
            namespace[name] = made


#: Functions that are methods of arrays, too.
_OF_ARRAYS = frozenset(("put", "searchsorted", "repeat", "dot", "clip", "choose", "take", "nonzero", "argsort", "argpartition", "trace"))


def _as_method(inner, theirs):
    """The function as a method, which asks none of its other arguments what NumPy's functions mean."""
    name = inner.__name__

    def converted(value):  # by what may give one of ours
        return value.__array__() if has_own(type(value), "__array__") else value

    def hand(args, keywords):
        args, keywords = (args[0], *map(converted, args[1:])), {k: converted(v) for k, v in keywords.items()}
        method = getattr(_np.generic if _graphc.is_value(args[0]) else _np.ndarray, name)
        return _plan(_Call(args, keywords), method, args, keywords, _UPDATES.get(name))

    made = function(inner, hand, "graphc", theirs)
    made.__dict__["numpys"] = getattr(_np.ndarray, name)
    made.__dict__.pop("_implementation", None)
    return made


def _numpys_alone(theirs):
    """A function that only NumPy has."""

    @_functools.wraps(theirs)
    def call(*args, **keywords):
        if _graphc.is_tracing() or not _are_plain((*args, *keywords.values())):
            raise ForeignDType(theirs.__name__)
        return _Call().result(theirs(*args, **keywords))

    call.__doc__ = f"As numpy.{theirs.__name__}, which is called."
    return function(call, _functools.partial(plan, theirs), "graphc", theirs)


#: NumPy's functions and classes of dates, strings and structures.
ALONE = (
    "isnat", "busday_count", "busday_offset", "is_busday", "datetime_as_string", "datetime_data", "fromregex", "info",
)  # fmt: skip
CLASSES = ("busdaycalendar", "matrix", "memmap", "recarray", "record", "float128", "complex256")


def names():
    """What the package has for dtypes that it does not compute."""
    found = {name: _numpys_alone(getattr(_np, name)) for name in ALONE if hasattr(_np, name)}
    found |= {"asmatrix": _numpys_classes.asmatrix, "bmat": _numpys_classes.bmat}
    return found | {name: getattr(_np, name) for name in CLASSES if hasattr(_np, name)}


def _numpys(function):
    return getattr(_np, function.__name__, None) if isinstance(function, _graphc.ufunc) else function.__dict__.get("numpys")


#: Functions that tell of the memory of each argument, or give views of it.
_OF_MEMORY = frozenset(("shares_memory", "may_share_memory", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "ix_", "meshgrid"))


def _of_classes(function, args, keywords):
    """The plan of of_classes for a function of ours."""
    theirs, name = _numpys(function), function.__name__
    if theirs is None or name in _UPDATES or name in _OF_MEMORY:
        return None
    return (name in _OF_VALUES and _of_values(theirs, args, keywords)) or of_classes(theirs, args, keywords)


def _hash(self):
    """That of NumPy's function, by which classes with `__array_function__` and `__array_ufunc__` are asked: their tables of what they
    implement have our functions as keys."""
    theirs = _numpys(self)
    return object.__hash__(self) if theirs is None else hash(theirs)


def _is_same(self, other):
    theirs = _numpys(self)
    return self is other or (theirs is not None and theirs is (_numpys(other) if isinstance(other, _OURS) else other))


for _type in (_graphc.function, _graphc.plain_function):
    _type.__reduce__ = lambda self: self.__qualname__
    _type.__repr__ = lambda self: f"<function {self.__module__}.{self.__name__}>"
    _type.__signature__ = _signatures.Described(lambda self: _signatures.of(self, _numpys(self)))
for _type in _OURS:
    _type.__hash__, _type.__eq__ = _hash, _is_same
_graphc.set_handover(ForeignDType, _call, _operate, _method, _of_classes)
