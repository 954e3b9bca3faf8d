"""How exactly matrix products are summed: `numerics`."""

import functools as _functools

from . import _graphc
from ._float_errors import stands_for as _stands_for
from .errors import ArgumentError

_LEVELS = ("exact", "fast")


def check_level(level, where):
    """`level` when it is one; ArgumentError else."""
    if level not in _LEVELS:
        raise ArgumentError(f"{where}: {level!r} is no level of numerics; it is 'exact' or 'fast'")
    return level


class numerics:  # noqa: N801
    """`with numerics("fast"):`, also as a decorator: how exactly what is recorded inside is computed, wherever that is.

    "exact" (the default, else what GRAPHC_NUMERICS says): every device gives the same bits. "fast": matrix products of
    float16 and bfloat16, and of float32 arrays made of such by astype, may be summed in float32 in any order where a
    device has tensor cores; anything else keeps its bits, and so does every product on other devices.

    ArgumentError for another level.

    >>> import graphc as gc
    >>> x = gc.ones((2, 3), dtype="float16")
    >>> with gc.numerics("fast"):
    ...     y = x @ x.T
    >>> y
    array([[3., 3.],
           [3., 3.]], dtype=float16)
    """

    __module__ = "graphc"

    def __init__(self, level, /):
        self._level = check_level(level, "numerics")
        self._before = []

    def __enter__(self):
        self._before.append(_graphc.choose_numerics(self._level))

    def __exit__(self, *_):
        _graphc.choose_numerics(self._before.pop())

    def __call__(self, function):
        @_functools.wraps(function)
        def inner(*args, **keywords):
            with numerics(self._level):
                return function(*args, **keywords)

        return _stands_for()(inner)
