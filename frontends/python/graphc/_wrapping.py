"""Objects that give arrays (`__array__`) and make something of results (`__array_wrap__`)."""

import inspect as _inspect

import numpy as _np

from . import _graphc
from ._float_errors import tell as _tell


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
