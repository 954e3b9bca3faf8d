"""What `inspect.signature` and `help` say of functions and ufuncs: NumPy's parameters, after them those that only graphc has."""

import inspect as _inspect
import types as _types


def merged(ours, theirs):
    """NumPy's signature with the keywords of ours that it does not have."""
    known = list(theirs.parameters.values())
    rest = [known.pop()] if known and known[-1].kind is known[-1].VAR_KEYWORD else []
    added = [p.replace(annotation=p.empty) for p in ours.parameters.values() if p.kind is p.KEYWORD_ONLY and p.name not in theirs.parameters]
    return _inspect.Signature(known + added + ([] if added else rest))


def of(function, theirs):
    """The signature of a function that stands for NumPy's, which is None where it stands for none."""
    try:
        numpys = None if theirs is None else _inspect.signature(theirs)
    except ValueError:
        numpys = None
    inner = getattr(function, "__wrapped__", function if isinstance(function, _types.FunctionType) else None)
    ours = None if inner is None else _inspect.signature(inner)
    if numpys is None or ours is None:
        return numpys or ours
    return merged(ours, numpys)


class Described:
    """`__signature__` of a type of functions: objects have one, the type itself has none."""

    def __init__(self, find):
        self._find = find

    def __get__(self, function, kind):
        return None if function is None else self._find(function)
