"""`__array_wrap__` of objects whose results it makes."""

import inspect as _inspect

from ._float_errors import tell as _tell


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
