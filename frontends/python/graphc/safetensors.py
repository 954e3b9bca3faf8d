"""Files of named arrays in the safetensors format: sizes and names as JSON, then the bytes.

A file is checked whole before memory is taken: every array lies inside it, none overlaps another, each has the bytes that its
shape and dtype need, and no name comes twice.
"""

from __future__ import annotations

import json as _json
import math as _math
import os as _os
import tempfile as _tempfile
from typing import TYPE_CHECKING

import numpy as _np

from . import _graphc
from . import float8 as _float8
from ._creation import asarray as _asarray
from .errors import ArgumentError as _ArgumentError
from .errors import DTypeError as _DTypeError
from .errors import FileError as _FileError

if TYPE_CHECKING:
    from ._types import Array

__all__ = ["load", "load_file", "metadata", "save", "save_file"]

_LONGEST_HEADER = 100_000_000
_MOST_AXES = 64
#: Name in a file, name here, dtype of the bytes.
_DTYPES = [
    ("BOOL", "bool", "u1"), ("U8", "uint8", "u1"), ("I8", "int8", "i1"), ("U16", "uint16", "<u2"), ("I16", "int16", "<i2"),
    ("U32", "uint32", "<u4"), ("I32", "int32", "<i4"), ("U64", "uint64", "<u8"), ("I64", "int64", "<i8"),
    ("F16", "float16", "<f2"), ("BF16", "bfloat16", "<u2"), ("F32", "float32", "<f4"), ("F64", "float64", "<f8"),
    ("C64", "complex64", "<c8"), ("F8_E4M3", "float8_e4m3fn", "u1"), ("F8_E5M2", "float8_e5m2", "u1"),
]  # fmt: skip
_BY_FILE = {name: (ours, _np.dtype(raw)) for name, ours, raw in _DTYPES}
_BY_NAME = {ours: (name, _np.dtype(raw)) for name, ours, raw in _DTYPES}


def _refuse(why):
    raise _ArgumentError(f"not a safetensors file: {why}")


def _once(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        _refuse(f"{next(n for n in names if names.count(n) > 1)!r} comes twice")
    return found


def _is_count(value):
    return type(value) is int and 0 <= value < 1 << 63


def _entry(name, entry, size):
    """(first byte, byte after the last, file's dtype, shape) of a checked entry."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        _refuse(f"{name!r} does not have dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BY_FILE:
        _refuse(f"{name!r} has dtype {dtype!r}; known are {', '.join(_BY_FILE)}")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or not all(_is_count(n) for n in shape):
        _refuse(f"the shape of {name!r} is not a list of at most {_MOST_AXES} sizes")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(_is_count(n) for n in offsets):
        _refuse(f"the data_offsets of {name!r} are not two numbers")
    begin, end = offsets
    if not begin <= end <= size:
        _refuse(f"{name!r} has bytes {begin} to {end} of {size}")
    if end - begin != _math.prod(shape) * _BY_FILE[dtype][1].itemsize:
        _refuse(f"{name!r} has {end - begin} bytes, which {dtype} of shape {tuple(shape)} does not")
    return begin, end, dtype, tuple(shape)


def _header(read, total):
    """(entries by name, metadata, first byte of the data) of a file of `total` bytes."""
    start = read(8)
    if len(start) != 8:
        _refuse(f"it has {total} bytes")
    length = int.from_bytes(start, "little")
    if length > min(total - 8, _LONGEST_HEADER):
        _refuse(f"a header of {length} bytes in a file of {total}")
    text = read(length)
    if len(text) != length or text[:1] != b"{":
        _refuse("the header does not begin with {")
    try:
        header = _json.loads(text.decode("utf-8"), object_pairs_hook=_once)
    except (UnicodeDecodeError, RecursionError, _json.JSONDecodeError) as error:
        _refuse(f"the header is not JSON: {error}")
    except ValueError as error:
        if isinstance(error, _ArgumentError):
            raise
        _refuse(f"the header is not JSON: {error}")
    notes = header.pop("__metadata__", {})
    if not isinstance(notes, dict) or not all(isinstance(v, str) for v in notes.values()):
        _refuse("__metadata__ is not a map of texts")
    entries = {name: _entry(name, entry, total - 8 - length) for name, entry in header.items()}
    end = 0
    for name, (begin, after, _, _) in sorted(entries.items(), key=lambda item: item[1][:2]):
        if begin != end:
            _refuse(f"{name!r} begins at byte {begin}, what is before it ends at {end}")
        end = after
    if end != total - 8 - length:
        _refuse(f"{total - 8 - length - end} bytes at the end belong to no array")
    return entries, notes, 8 + length


def _array(values, name, float8, device):
    ours = _BY_FILE[name][0]
    if ours == "bool":
        if values.size and values.max() > 1:
            _refuse("a bool is neither 0 nor 1")
        values = values.view("bool")
    if ours == "bfloat16":
        wide = _asarray((values.astype("u4") << 16).view("f4"), device=device)
        return wide.astype("bfloat16")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    # The memory is nobody else's.
    x = _graphc.from_dlpack(values)
    x = x if device is None else x.to_device(device)
    return _float8.decode(x, ours) if ours.startswith("float8") and float8 == "float32" else x


def _check_float8(float8):
    if float8 not in ("float32", "bits"):
        raise _ArgumentError(f'float8 is "float32" or "bits", not {float8!r}')


def load(data: bytes, *, device=None, float8: str = "float32") -> dict[str, Array]:
    """The arrays in the bytes of a file, by name. As `load_file`."""
    _check_float8(float8)
    view = memoryview(data).cast("B")
    at = 0

    def read(count):
        nonlocal at
        at += count
        return bytes(view[at - count : at])

    entries, _, first = _header(read, len(view))
    out = {}
    for name, (begin, end, dtype, shape) in entries.items():
        values = _np.frombuffer(view[first + begin : first + end], _BY_FILE[dtype][1]).reshape(shape)
        out[name] = _array(values.copy(), dtype, float8, device)
    return out


def load_file(path, *, names=None, device=None, float8: str = "float32") -> dict[str, Array]:
    """The arrays of a file, by name; only some with `names`.

    float8: arrays of float8_e4m3fn and float8_e5m2 become float32, or uint8 with their "bits" (see graphc.float8).
    Raises ArgumentError, before memory is taken, for a file that is not what it says; FileError when it cannot be read;
    KeyError for a name that is not there.
    """
    _check_float8(float8)
    try:
        with open(path, "rb") as file:
            entries, _, first = _header(file.read, _os.fstat(file.fileno()).st_size)
            out = {}
            for name in entries if names is None else names:
                begin, end, dtype, shape = entries[name]
                values = _np.empty(shape, _BY_FILE[dtype][1])
                file.seek(first + begin)
                if end > begin and file.readinto(values.reshape(-1).view("u1").data) != end - begin:
                    _refuse("it became shorter while it was read")
                out[name] = _array(values, dtype, float8, device)
            return out
    except OSError as error:
        if isinstance(error, _FileError):
            raise
        raise _FileError(f"cannot read {_os.fspath(path)}: {error.strerror}") from error


def metadata(path) -> dict[str, str]:
    """The texts that a file has besides its arrays. Raises as `load_file`."""
    try:
        with open(path, "rb") as file:
            return _header(file.read, _os.fstat(file.fileno()).st_size)[1]
    except OSError as error:
        raise _FileError(f"cannot read {_os.fspath(path)}: {error.strerror}") from error


def _bytes_of(name, value):
    """(file's dtype, shape, values on the host)."""
    ours = getattr(getattr(value, "dtype", None), "name", "")
    if not _graphc.is_array(value) and ours.startswith("float8") and ours in _BY_NAME:
        return _BY_NAME[ours][0], value.shape, _np.ascontiguousarray(value).view("u1")
    x = _asarray(value)
    ours = x.dtype.name
    if ours not in _BY_NAME:
        raise _DTypeError(f"save: {name!r} is of dtype {ours}, which safetensors files do not have")
    if ours == "bfloat16":
        raw = (_np.asarray(x.astype("float32")).view("u4") >> 16).astype("<u2")
    else:
        raw = _np.asarray(x)
    return _BY_NAME[ours][0], x.shape, raw.view("u1") if ours == "bool" else raw.astype(_BY_NAME[ours][1], copy=False)


def _parts(tensors, notes):
    """The header's bytes, then the values in the order of the file: wide items first, so that all are aligned."""
    if notes is not None and not all(isinstance(k, str) and isinstance(v, str) for k, v in notes.items()):
        raise _ArgumentError("save: metadata is a map of texts to texts")
    header = {} if notes is None else {"__metadata__": dict(notes)}
    found = {}
    for name, value in tensors.items():
        if not isinstance(name, str) or name == "__metadata__":
            raise _ArgumentError(f"save: {name!r} is no name of an array")
        found[name] = _bytes_of(name, value)
    order = sorted(found, key=lambda name: (-_BY_FILE[found[name][0]][1].itemsize, name))
    at = 0
    for name in order:
        dtype, shape, raw = found[name]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + raw.nbytes]}
        at += raw.nbytes
    text = _json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for name in order:
        yield _np.ascontiguousarray(found[name][2]).reshape(-1).view("u1").data


def save(tensors, metadata=None) -> bytes:
    """The bytes of a file of arrays by name, with texts by name as `metadata`. Raises DTypeError, ArgumentError."""
    return b"".join(_parts(tensors, metadata))


def save_file(tensors, path, metadata=None) -> None:
    """Writes arrays by name to a file, which is there as a whole or not at all. Raises as `save`, and FileError."""
    parts = _parts(tensors, metadata)
    first = next(parts)
    path = _os.fspath(path)
    try:
        with _tempfile.NamedTemporaryFile(dir=_os.path.dirname(path) or ".", delete=False) as file:
            try:
                file.write(first)
                for part in parts:
                    file.write(part)
                file.close()
                mask = _os.umask(0)
                _os.umask(mask)
                _os.chmod(file.name, 0o666 & ~mask)
                _os.replace(file.name, path)
            except BaseException:
                _os.unlink(file.name)
                raise
    except OSError as error:
        raise _FileError(f"cannot write {path}: {error.strerror}") from error
