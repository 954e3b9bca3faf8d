"""Dtypes are NumPy's dtype objects; bfloat16, which NumPy lacks, is that of ml_dtypes where it is installed."""

import functools as _functools
import types as _types

import numpy as _np

from . import _graphc
from .errors import ArgumentError, DTypeError, ForeignDType

bool_ = _np.dtype("bool")
int8 = _np.dtype("int8")
int16 = _np.dtype("int16")
int32 = _np.dtype("int32")
int64 = _np.dtype("int64")
uint8 = _np.dtype("uint8")
uint16 = _np.dtype("uint16")
uint32 = _np.dtype("uint32")
uint64 = _np.dtype("uint64")
float32 = _np.dtype("float32")
float64 = _np.dtype("float64")
float16 = _np.dtype("float16")
complex64 = _np.dtype("complex64")
complex128 = _np.dtype("complex128")

_NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_NAMES += ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class _BFloat16:
    """Stands for the dtype where ml_dtypes is not installed: equal to its name, of no use to NumPy."""

    name, kind, itemsize, isnative, str = "bfloat16", "V", 2, True, "<V2"

    def __eq__(self, other):
        return getattr(other, "name", other) == "bfloat16"

    def __hash__(self):
        return hash("bfloat16")

    def __repr__(self):
        return "dtype(bfloat16)"

    def __str__(self):
        return "bfloat16"

    def __reduce__(self):
        return as_dtype, ("bfloat16",)


def __getattr__(name):
    """bfloat16, found when it is first asked for: importing ml_dtypes takes a while."""
    if name != "bfloat16":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import ml_dtypes

        found = _np.dtype(ml_dtypes.bfloat16)
    except ImportError:
        found = _BFloat16()
    globals()["bfloat16"] = found
    return found


def _bfloat16():
    return globals().get("bfloat16") or __getattr__("bfloat16")


#: What dtypes, types and names stood for.
_known = {}


def as_dtype(dtype):
    """`dtype` as a supported dtype. Raises DTypeError with the nearest name for anything else; arrays of the other byte order
    are NumPy's."""
    try:
        return _known[dtype]
    except (KeyError, TypeError):
        found = _found_dtype(dtype)
    if isinstance(dtype, (_np.dtype, str, type)):
        _known[dtype] = found
    return found


def _found_dtype(dtype):
    if isinstance(dtype, (str, _BFloat16)) and dtype == "bfloat16":
        return _bfloat16()
    try:
        if isinstance(dtype, (_graphc.Array, _np.ndarray)) and not isinstance(dtype, _np.generic):
            raise DTypeError("Cannot construct a dtype from an array")
        found = _np.dtype(dtype)
    except TypeError as error:
        raise DTypeError(f"{error}{_nearest(dtype)}") from None
    refusal = _refusal(found)
    if refusal:
        raise ForeignDType(refusal)
    return found


@_functools.lru_cache(maxsize=256)
def _refusal(dtype):
    """What is said of a dtype that is NumPy's; its name, which is made when it is asked for, takes long."""
    if not is_named(dtype):
        return f"dtype {dtype.name} is not supported; graphc has {', '.join(_NAMES)}"
    return None if dtype.isnative else "arrays of the other byte order are NumPy's"


@_functools.lru_cache(maxsize=256)
def is_named(dtype):
    """Whether a dtype of NumPy's has a name that graphc has, in whichever byte order."""
    return dtype.name in _NAMES


def _nearest(dtype):
    import difflib

    close = difflib.get_close_matches(str(dtype), _NAMES, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; graphc has {', '.join(_NAMES)}"


def _plain(x):
    """The dtype of an array, or the argument itself."""
    return x.dtype if isinstance(x, (_graphc.Array, _np.ndarray)) else x


def _is_bfloat16(dtype):
    return getattr(dtype, "kind", "V") == "V" and getattr(dtype, "name", dtype) == "bfloat16"  # a name is made when it is asked for


#: Which dtypes were found to fit which.
_casts = {}


def can_cast(from_, to, casting="safe"):
    """Whether a value of dtype (or array) `from_` fits dtype `to` under NumPy's casting rule."""
    try:
        return _casts[from_, to, casting]
    except (KeyError, TypeError):  # arrays are no keys
        found = _fits(from_, to, casting)
    if isinstance(from_, (_np.dtype, type, str)) and isinstance(to, (_np.dtype, type, str)):
        _casts[from_, to, casting] = found
    return found


def refuse_casting(casting):
    """Raises unless `casting` is one of NumPy's rules for ufuncs and their like."""
    if not isinstance(casting, str):
        raise TypeError(f"casting must be str, not {type(casting).__name__}")
    if casting not in ("same_kind", "unsafe", "safe", "equiv", "no"):
        raise ArgumentError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{casting}')")


def _fits(from_, to, casting):
    if from_ is None or to is None:
        raise TypeError("did not understand one of the types; 'None' not accepted")
    from_, to = _plain(from_), as_dtype(to)
    if not _is_bfloat16(from_) and not _is_bfloat16(to):
        return _np.can_cast(from_, to, casting)
    from_ = as_dtype(from_)
    if casting in ("no", "equiv") or from_ == to:
        return from_ == to
    if casting == "unsafe":
        return True
    if _is_bfloat16(from_):
        return _np.can_cast(float32, to, "safe") or (casting == "same_kind" and to.kind == "f")
    return from_.kind in "biuf" if casting == "same_kind" else from_.kind == "b" or (from_.kind in "iu" and from_.itemsize == 1)


def refuse_unsafe(given, wanted=int64, kind="array data"):
    """Raises TypeError unless dtype `given` converts to `wanted` under the rule 'safe'."""
    if not can_cast(given, wanted, "safe"):
        raise DTypeError(f"Cannot cast {kind} from dtype('{given}') to dtype('{wanted}') according to the rule 'safe'")


def result_type(*arrays_and_dtypes):
    """The dtype that arithmetic on these arrays, dtypes and Python scalars (weak) gives; NumPy 2 rules."""
    return _graphc.result_type(*arrays_and_dtypes)


def isdtype(dtype, kind):
    """Whether `dtype` is of a kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating", "numeric", a dtype, or a tuple of those."""
    is_ours = type(dtype) in (str, _BFloat16) and dtype == "bfloat16"  # a dtype of NumPy's where ml_dtypes is installed
    if not (is_ours or isinstance(dtype, _np.dtype) or (isinstance(dtype, type) and issubclass(dtype, _np.generic))):
        raise TypeError(f"dtype argument must be a NumPy dtype, but it is a {type(dtype)}.")
    dtype = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if not _is_bfloat16(dtype):
        return not _is_bfloat16(kind) and _np.isdtype(dtype, kind)
    return kind in ("real floating", "numeric") or _is_bfloat16(kind)


class _BFloat16Info:
    """Limits of bfloat16 as numpy.finfo has them for its floats."""

    bits, nmant, nexp, iexp, precision, maxexp, minexp, machep, negep = 16, 7, 8, 8, 2, 128, -126, -7, -8
    eps, epsneg, resolution = 2.0**-7, 2.0**-8, 0.01
    max, min, tiny = (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127, 2.0**-126
    smallest_normal, smallest_subnormal = tiny, 2.0**-133

    @property
    def dtype(self):
        return _bfloat16()

    def __repr__(self):
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype=bfloat16)"


def _limit(kind):
    """The class of the limits of a narrow float: NumPy's scalars, which promote and round as those do, and are floats to `isinstance`,
    as the Array API wants them."""
    return type(kind.__name__, (kind,), {"__slots__": (), "__module__": "numpy", "__class__": property(lambda self: float)})


_LIMITS = {kind: _limit(kind) for kind in (_np.float16, _np.float32)}


#: One object a type, as NumPy has it.
_finfos = {}


class finfo:  # noqa: N801  (NumPy's name)
    """Limits of a float dtype (or of an array's): numpy.finfo. Numbers are NumPy's; `isinstance` takes each for a float."""

    __module__ = "graphc"

    def __new__(cls, dtype):
        made = _finfos.get(dtype) if type(dtype) is type else None
        if made is not None:
            return made
        kind = _plain(dtype)
        if _is_bfloat16(kind):
            return _BFloat16Info()
        self = super().__new__(cls)
        self._info = _np.finfo(kind)
        if type(dtype) is type:
            _finfos[dtype] = self
        return self

    __class_getitem__ = classmethod(_types.GenericAlias)

    def __getattr__(self, name):
        value = getattr(object.__getattribute__(self, "_info"), name)
        value = _LIMITS.get(type(value), type(value))(value) if isinstance(value, _np.floating) else value
        self.__dict__[name] = value
        return value

    def __eq__(self, other):
        return self._info == other._info if isinstance(other, finfo) else NotImplemented

    def __hash__(self):
        return hash(self._info)

    def __repr__(self):
        return repr(self._info)

    def __str__(self):
        return str(self._info)


class iinfo(_np.iinfo):  # noqa: N801  (NumPy's name)
    """Limits of an integer dtype (or of an array's); as numpy.iinfo."""

    __module__ = "graphc"

    def __init__(self, int_type):
        super().__init__(_plain(int_type))


def astype(x, dtype, /, *, copy=True, device=None):
    """`x` converted: float to integer truncates and saturates (NaN gives 0), integers wrap, anything to bool is
    x != 0. With copy=False, `x` itself when nothing changes. Raises DTypeError for an unknown dtype."""
    if not isinstance(x, (_graphc.Array, _np.ndarray, _np.generic)):
        raise TypeError(f"Input should be a NumPy array or scalar. It is a {type(x)} instead.")
    from ._creation import asarray

    x = asarray(x)
    result = x.astype(as_dtype(dtype), copy=copy)
    return result if device is None else result.to_device(device)


def dtype_of_sums(x, out, dtype):
    """What sums and products compute in: `dtype`, or what the array and its output promote to; None: what the array asks for."""
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if dtype is not None or not isinstance(out, (_graphc.Array, _np.ndarray)) or x.dtype.kind == out.dtype.kind == "b":
        return dtype
    return _graphc.result_type(x.dtype, out.dtype)
