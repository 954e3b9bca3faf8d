"""Arrays from bytes, text and files, and back."""

from __future__ import annotations

import functools as _functools
from collections import abc as _abc
from typing import TYPE_CHECKING

import numpy as _np

from . import _graphc
from ._creation import _leave_to, asarray
from ._dtypes import _NAMES, as_dtype, float64
from ._foreign import has_own, to_ours
from .errors import ArgumentError, ForeignDType, as_user

if TYPE_CHECKING:
    from ._types import Array


def _host(value):
    """What NumPy's writers take: values of Arrays and of objects that give them, everything else as it is."""
    if not _graphc.is_array(value) and has_own(type(value), "__array__"):
        value = value.__array__()
    if _graphc.is_array(value):
        return _np.asarray(value)
    return [_host(v) for v in value] if isinstance(value, (list, tuple)) else value


def _stored(dtype):
    """A supported dtype as bytes have it: in the byte order that was asked for."""
    return _stored_type(dtype) if isinstance(dtype, (type, str)) else _looked_up(dtype)


def _looked_up(dtype):
    if isinstance(dtype, _np.dtype) and dtype.isbuiltin == 1 and dtype.kind in "biufc":
        return dtype
    try:
        return _np.dtype(dtype) if as_dtype(dtype).name != "bfloat16" else as_dtype(dtype)
    except ForeignDType:
        return _np.dtype(dtype)


_stored_type = _functools.lru_cache(maxsize=64)(_looked_up)


def _read(values):
    """What NumPy read: an Array, or NumPy's array where graphc has no such dtype."""
    packed = _graphc.pack(values) if type(values) is _np.ndarray and values.ndim else None
    if packed is not None:
        return packed
    return asarray(values) if type(values) is _np.ndarray and values.dtype.isbuiltin == 2 else to_ours(values)


def _set_bytes(values):
    made = values.view("u1") != 0
    made.flags.writeable = values.flags.writeable
    return made


def frombuffer(buffer, dtype=float64, count: int = -1, offset: int = 0, *, like=None) -> Array:
    """A copy of the values in a buffer's bytes, which is read-only; NumPy's array of the buffer's memory where that may be
    written, which others may share; of an Array a view of its memory. Raises ValueError when the bytes do not divide into items."""
    if like is not None:
        _leave_to(like)
    if _graphc.is_array(buffer) and not _graphc.is_tracing() and buffer.device == "cpu":
        values = _np.frombuffer(buffer._lent(), _stored(dtype), count, offset)
        shared = _graphc.Array._borrowed(values)
        if shared is not None:
            return shared
        if values.flags.writeable:
            is_whole = values.dtype.kind in "iufc" and values.dtype.isnative and values.dtype.name in _NAMES and values.nbytes == buffer.nbytes
            return buffer.reshape(-1).view(values.dtype) if is_whole else values
    values = _np.frombuffer(buffer, _stored(dtype), count, offset)
    if values.flags.writeable and not _graphc.is_array(buffer):
        return values
    if values.dtype == bool:  # of any bytes but 0
        values = _set_bytes(values)
    result = _read(values)
    if result is not values and not values.flags.writeable:
        result._lock()
    return result


frombuffer.quick = _graphc.plain_frombuffer


def fromiter(iter, dtype, count: int = -1, *, like=None) -> Array:  # noqa: A002
    """The items of an iterable as a vector."""
    if like is not None:
        _leave_to(like)
    return _read(as_user(_np.fromiter, iter, _stored(dtype), count))


fromiter.quick = _graphc.plain_fromiter


def fromstring(string, dtype=float64, count: int = -1, *, sep: str = "", like=None) -> Array:
    """Numbers in a text with a separator."""
    if like is not None:
        _leave_to(like)
    return _read(_np.fromstring(string, _stored(dtype), count, sep=sep))


def fromfile(file, dtype=float64, count: int = -1, sep: str = "", offset: int = 0, *, like=None) -> Array:
    """Values from a file of bytes, or of text with a separator."""
    if like is not None:
        _leave_to(like)
    return _read(_np.fromfile(file, _stored(dtype), count, sep, offset))


def loadtxt(fname, dtype=float64, *args, **options):
    """Numbers from a text file, as numpy.loadtxt reads them."""
    if "like" in options:
        _leave_to(options["like"])
    values = as_user(_np.loadtxt, fname, _stored(dtype), *args, **options)
    return list(map(_read, values)) if isinstance(values, list) else _read(values)


def genfromtxt(fname, dtype=float64, *args, **options):
    """Numbers from a text file with missing values, as numpy.genfromtxt reads them."""
    if "like" in options:
        _leave_to(options["like"])
    is_plain = isinstance(dtype, (type, str, _np.dtype)) or hasattr(dtype, "name")
    values = as_user(_np.genfromtxt, fname, _stored(dtype) if is_plain else dtype, *args, **options)  # of each column, say
    return list(map(_read, values)) if isinstance(values, list) else _read(values)


def savetxt(fname, X, *args, **options) -> None:
    """Writes a vector or matrix as text, as numpy.savetxt does."""
    _np.savetxt(fname, _host(X), *args, **options)


class Archive(_abc.Mapping):
    """A file of several arrays, read when they are asked for; a mapping of names to Arrays."""

    __module__ = "graphc"

    def __init__(self, opened):
        self._opened = opened
        self.files = opened.files

    def __repr__(self):
        return repr(self._opened)

    @property
    def f(self):
        """The arrays as attributes."""
        return _Members(self)

    @property
    def fid(self):
        """The file object that the archive was opened of by name, else None."""
        return self._opened.fid

    @property
    def zip(self):
        """The open `zipfile.ZipFile`, None after `close`."""
        return self._opened.zip

    def __getitem__(self, name):
        return _read(self._opened[name])

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, name):
        return name in self._opened

    def close(self):
        self._opened.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


_np.lib.npyio.NpzFile.register(Archive)  # to isinstance


class _Members:
    def __init__(self, archive):
        self._archive = archive

    def __getattr__(self, name):
        try:
            return self._archive[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return list(self._archive.files)


def load(file, mmap_mode=None, allow_pickle: bool = False, *args, **options):
    """An Array from a .npy file, or an archive of Arrays from a .npz file."""
    found = _np.load(file, mmap_mode, allow_pickle, *args, **options)
    if isinstance(found, _np.ndarray):
        return _read(found)
    if not hasattr(found, "files"):
        return found  # what was pickled
    return Archive(found)


def save(file, arr, allow_pickle: bool = True) -> None:
    """Writes an array to a .npy file."""
    _np.save(file, _host(arr), allow_pickle)


def savez(file, *args, **named) -> None:
    """Writes several arrays to a .npz file, named arr_0, arr_1, ... or by keyword."""
    _np.savez(file, *[_host(a) for a in args], **{k: _host(v) for k, v in named.items()})


def savez_compressed(file, *args, **named) -> None:
    """As `savez`, compressed."""
    _np.savez_compressed(file, *[_host(a) for a in args], **{k: _host(v) for k, v in named.items()})


def _values(a):
    if _graphc.is_array(a):
        _graphc.eval([a], "print")
    return a if isinstance(a, _np.ndarray) else _np.asarray(a)


def _shown(a):
    """What is shown: an array; of other objects NumPy asks what it asks."""
    return _values(a) if _graphc.is_array(a) else a


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    """The text of repr(arr)."""
    return _np.array_repr(_shown(arr), max_line_width, precision, suppress_small)


def array_str(a, max_line_width=None, precision=None, suppress_small=None) -> str:
    """The text of str(a)."""
    return _np.array_str(_shown(a), max_line_width, precision, suppress_small)


def array2string(a, *args, **options) -> str:
    """The text of an array under print options, as numpy.array2string."""
    return _np.array2string(_shown(a), *args, **options)
