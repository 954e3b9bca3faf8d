"""Objects that give arrays (`__array__`) and make something of results (`__array_wrap__`)."""

import functools as _functools
import inspect as _inspect

import numpy as _np

from . import _graphc
from ._dtypes import as_dtype as _as_dtype
from ._float_errors import tell as _tell
from .errors import ArgumentError as _ArgumentError
from .errors import DTypeError as _DTypeError


def valued(value):
    """What an object gives as an array, which NumPy would not take from it where it is ours; anything else as it is."""
    if _graphc.is_array(value) or isinstance(value, (_np.ndarray, _np.generic, type)) or not hasattr(type(value), "__array__"):
        return value
    made = value.__array__()
    return made if _graphc.is_array(made) or isinstance(made, _np.ndarray) else value


def wrap(method, given):
    """What the method makes of an array, a context and whether there is one number. One written for NumPy 1 takes fewer of
    these, and NumPy warns of it."""
    try:
        return method(*given)
    except TypeError:
        taken = len(_inspect.signature(method).parameters)
        if not 0 < taken < len(given):
            raise
    _tell("__array_wrap__ must accept context and return_scalar arguments (positionally) in the future. (Deprecated NumPy 2.0)", DeprecationWarning)
    return method(*given[:taken])


def is_maker(value):
    """Whether an object makes an array of itself, which may be one of ours."""
    return not isinstance(value, (_np.ndarray, _np.generic, type)) and not _graphc.is_array(value) and getattr(type(value), "__array__", None) is not None


_WITHOUT_COPY = (
    "__array__ implementation doesn't accept a copy keyword, so passing copy=False failed. __array__ must implement 'dtype' and 'copy' keyword "
    "arguments. To learn more, see the migration guide https://numpy.org/devdocs/numpy_2_0_migration_guide.html"
    "#adapting-to-changes-in-the-copy-keyword"
)


def _takes_none(method):
    code = getattr(method, "__code__", None)
    return code is not None and code.co_argcount == 1 and not code.co_flags & _inspect.CO_VARARGS


def _known(dtype):
    """The dtype that an object may be asked for: none of graphc's own (`float8`), nor what is no dtype, which whoever converts says."""
    if dtype is None or (type(dtype) is str and dtype.startswith("float8")):
        return None
    try:
        return _as_dtype(dtype)
    except _DTypeError:  # of objects, text or dates
        return _numpys(dtype)


def _numpys(dtype):
    try:
        return _np.dtype(dtype)
    except TypeError:
        return None


def made_by(maker, dtype, copy):
    """(array, copy): what the `__array__` of an object gives, asked as NumPy asks, and whether a copy is still to be made of it (`copy`), which
    its owner may have made or avoided. One that takes no dtype is not told of it. Raises ArgumentError where it cannot avoid a copy, and for
    what is no array."""
    method, wanted = maker.__array__, _known(dtype)
    args = () if wanted is None or _takes_none(method) else (wanted,)
    try:
        made = method(*args) if copy is None else method(*args, copy=copy)
        copy = None if copy else copy
    except TypeError as error:
        if copy is None or "__array__() got an unexpected keyword argument 'copy'" not in str(error):
            raise
        _tell(_WITHOUT_COPY, DeprecationWarning)
        if not copy:
            raise _ArgumentError("Unable to avoid copy while creating an array as requested.") from None
        made = method(*args)
    if not _graphc.is_array(made) and not isinstance(made, _np.ndarray):
        raise _ArgumentError("object __array__ method not producing an array")
    if copy is False and dtype is not None and made.dtype != wanted:
        raise _ArgumentError("Unable to avoid copy while creating an array as requested.")
    return _shared(made) if copy is False and type(made) is _np.ndarray and made.ndim else made, copy


def _shared(made):
    """An Array over the memory of NumPy's array where both may write to that; else the array."""
    try:
        own = _graphc.Array._borrowed(made) if made.base is not None else None
        return _graphc.from_dlpack(made, False) if own is None else own
    except (TypeError, ValueError, BufferError):
        return made


class _Maker:
    """Stands for such an object before NumPy, which takes its own arrays alone for arrays."""

    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held

    def __array__(self, *args, **keywords):
        return _np.asarray(self.held.__array__(*args, **keywords))


def _of_makers(theirs, values, *args, **keywords):
    """NumPy's array of a sequence of such objects; one of objects holds these themselves."""
    made = theirs([_Maker(v) if is_maker(v) else v for v in values], *args, **keywords)
    if made.dtype == object:
        for place, value in _np.ndenumerate(made):
            if type(value) is _Maker:
                made[place] = value.held
    return made


def converter(theirs, args, keywords):
    """NumPy's function that makes an array of its first argument, and the arguments, where objects make arrays of themselves."""
    first = args[0]
    if is_maker(first):
        return theirs, (made_by(first, args[1] if len(args) > 1 else keywords.get("dtype"), None)[0], *args[1:])
    return _functools.partial(_of_makers, theirs) if type(first) in (list, tuple) and first and is_maker(first[0]) else theirs, args


def is_asked(like):
    """Whether the class of `like` says what is made: it is no array of graphc or NumPy itself."""
    return like is not None and type(like) is not _np.ndarray and not (_graphc.is_array(like) and not _graphc.is_value(like))


_HEAP_TYPE = 1 << 9
_TELLING = ("__array__", "__array_ufunc__", "__array_function__", "__array_interface__", "__array_struct__", "__array_priority__", "__len__", "__getattr__")


@_functools.lru_cache(maxsize=256)
def says_nothing(cls):
    """Whether a program's class tells NumPy nothing of arrays: its operators are asked for each element."""
    return bool(cls.__flags__ & _HEAP_TYPE) and not any(hasattr(cls, name) for name in _TELLING)
