"""Exceptions and warnings.

Every class also inherits what NumPy raises for the same mistake, so that an existing ``except ValueError`` keeps
working. A message says what was wrong with which shapes, dtypes or devices, names the user's ``file:line``, and ends
with a code that ``docs/errors.md`` explains.
"""

import os as _os
import sys as _sys
import types as _types

from numpy.exceptions import AxisError as _AxisError
from numpy.exceptions import ComplexWarning as _ComplexWarning
from numpy.linalg import LinAlgError as _LinAlgError

__all__ = [
    "ArgumentError",
    "AxisError",
    "CacheError",
    "CompileError",
    "DTypeError",
    "DeviceError",
    "FileError",
    "GraphcError",
    "GraphcWarning",
    "IndexOutOfBounds",
    "InternalError",
    "LinAlgError",
    "OutOfMemory",
    "PerformanceWarning",
    "ShapeError",
    "TraceError",
    "UnsupportedError",
]

_PACKAGE = _os.path.dirname(_os.path.abspath(__file__)) + _os.sep


def user_frame(depth=1):
    """The innermost frame whose code is not part of this package, or None (called from C at the top level)."""
    try:
        frame = _sys._getframe(depth)
    except ValueError:
        return None
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def user_line(depth=1):
    """``file:line`` of the user code that is calling into this package; "" when there is none."""
    frame = user_frame(depth + 1)
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _pass_on(function, args, options): return function(*args, **options)  # fmt: skip # noqa: E704, one line, which becomes any


#: _pass_on at lines of users' code; as many as there are such lines, of code made by a program (exec) no more than these.
_at_lines = {}
_MOST_LINES = 4096


def as_user(function, *args, **options):
    """What a function of NumPy gives that warns by itself (of conversions, of files): called as if by the user's line, which
    its warnings name, by the filters and the registry of the user's module."""
    frame = user_frame(2)
    if frame is None:
        return function(*args, **options)
    place = frame.f_code, frame.f_lineno
    call = _at_lines.get(place)
    if call is None or call.__globals__ is not frame.f_globals:
        if len(_at_lines) >= _MOST_LINES:
            _at_lines.clear()
        code = frame.f_code
        code = _pass_on.__code__.replace(co_filename=code.co_filename, co_firstlineno=frame.f_lineno, co_name=code.co_name)
        call = _at_lines[place] = _types.FunctionType(code, frame.f_globals)
    return call(function, args, options)


class GraphcError(Exception):
    """Base of all errors. ``code`` names the page in docs/errors.md, ``where`` is the user's ``file:line`` or ""."""

    code = "GC0900"

    def __init__(self, message="", where=None):
        message = str(message)
        if message.endswith(f"[{self.code}]"):  # rebuilt from `args`: unpickling, copying
            self.where = where or ""
        else:
            known = ".py:" in message or "<stdin>:" in message
            self.where = where if where is not None else ("" if known else user_line(2))
            at = f" (at {self.where})" if self.where else ""
            message = f"{message}{at} [{self.code}]"
        super().__init__(message)
        self.args = (message,)  # NumPy's AxisError keeps the words elsewhere

    def __str__(self):
        return self.args[0] if self.args else ""


class ArgumentError(GraphcError, ValueError):
    """The values given make no sense together."""

    code = "GC0100"


class ShapeError(GraphcError, ValueError):
    """Shapes do not agree."""

    code = "GC0101"


class AxisError(GraphcError, _AxisError):
    """An axis is out of range or named twice."""

    code = "GC0102"


class DTypeError(GraphcError, TypeError):
    """A dtype is unknown, or not accepted by this operation."""

    code = "GC0103"


class ForeignDType(DTypeError):
    """A dtype or an object that graphc does not compute (strings, objects, dates, structures). Functions that meet it hand the
    call to NumPy (_foreign.py); what reaches a user is one for which NumPy has no function. Few do: the line is found when the
    text is asked for."""

    def __init__(self, message="", where=None):
        super().__init__(message, where or "")

    def __str__(self):
        if not self.where and self.__traceback__ is not None:
            trace = self.__traceback__
            while trace is not None:
                code = trace.tb_frame.f_code
                if not code.co_filename.startswith(_PACKAGE):
                    self.where = f"{code.co_filename}:{trace.tb_lineno}"
                trace = trace.tb_next
            tail = f" [{self.code}]"
            if self.where and self.args and self.args[0].endswith(tail):
                self.args = (f"{self.args[0][: -len(tail)]} (at {self.where}){tail}",)
        return super().__str__()


class IndexOutOfBounds(GraphcError, IndexError):
    """An index is out of range, or there are too many of them."""

    code = "GC0104"


class LinAlgError(GraphcError, _LinAlgError):
    """A matrix is singular, not square, or an iteration does not converge."""

    code = "GC0105"


class TraceError(GraphcError, TypeError):
    """A jitted function needs the value of a traced array, or was given a leaf it cannot trace."""

    code = "GC0201"


class UnsupportedError(GraphcError, NotImplementedError):
    """Valid, but not on this device or in this build."""

    code = "GC0301"


class DeviceError(GraphcError, RuntimeError):
    """A driver or a device failed or is absent."""

    code = "GC0302"


class OutOfMemory(DeviceError, MemoryError):
    """Not enough memory on the host or the device."""

    code = "GC0303"


class CompileError(GraphcError, RuntimeError):
    """The compiler refused or failed."""

    code = "GC0401"


class CacheError(GraphcError, OSError):
    """Bytes are not a valid program or cache entry."""

    code = "GC0402"


class FileError(GraphcError, OSError):
    """A file could not be read or written."""

    code = "GC0403"


class InternalError(GraphcError, RuntimeError):
    """A defect of graphc itself. Please report it with the message."""

    code = "GC0900"


#: ErrorCode (runtime/base/Status.h) to class; the extension module raises through this table.
BY_CODE = {
    "InvalidArgument": ArgumentError,
    "Shape": ShapeError,
    "Axis": AxisError,
    "DType": DTypeError,
    "Index": IndexOutOfBounds,
    "Unsupported": UnsupportedError,
    "Device": DeviceError,
    "OutOfMemory": OutOfMemory,
    "Compile": CompileError,
    "Corrupt": CacheError,
    "Io": FileError,
    "Internal": InternalError,
    "Overflow": OverflowError,
    "LinAlg": LinAlgError,
    "Trace": TraceError,
}


class GraphcWarning(UserWarning):
    """Base of all warnings."""


class PerformanceWarning(GraphcWarning):
    """The result is right but something is slower than it could be."""


def warn_discarded():
    """NumPy's ComplexWarning, for the user's line whose call converts complex numbers to real ones."""
    import warnings

    frame, level = _sys._getframe(1), 2
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn("Casting complex values to real discards the imaginary part", _ComplexWarning, stacklevel=level)


def warn(message, category=GraphcWarning):
    """Issues a warning that names the user's line, not a line of this package."""
    import warnings

    frame = user_frame(2)
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
    else:
        warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno)
