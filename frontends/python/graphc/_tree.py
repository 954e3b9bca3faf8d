"""Nested lists, tuples, named tuples and dicts as a flat list of leaves and a hashable structure."""

LEAF = "*"
#: Types made of arrays: type -> function that gives their parts, or None for one that is a leaf. The structure holds
#: `from_leaves` of the type, which makes one from parts.
CONTAINERS = {}
_LIST, _TUPLE, _DICT = "list", "tuple", "dict"


def flatten(value, out):
    """Appends the leaves of `value` to `out` and returns the structure. None is structure, not a leaf."""
    kind = type(value)
    if kind is tuple:
        return (_TUPLE,) + tuple([flatten(v, out) for v in value])
    if kind is list:
        return (_LIST,) + tuple([flatten(v, out) for v in value])
    if kind is dict:
        return (_DICT, tuple(value)) + tuple([flatten(v, out) for v in value.values()])
    if value is None:
        return None
    if kind in CONTAINERS and (parts := CONTAINERS[kind](value)) is not None:
        return (kind.from_leaves,) + tuple([flatten(v, out) for v in parts])
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return (kind,) + tuple([flatten(v, out) for v in value])
    out.append(value)
    return LEAF


def unflatten(structure, values):
    """The nested value of a structure, taking leaves from the iterator `values`."""
    if structure is None:
        return None
    if structure is LEAF or structure == LEAF:
        return next(values)
    kind = structure[0]
    if kind == _TUPLE:
        return tuple([unflatten(s, values) for s in structure[1:]])
    if kind == _LIST:
        return [unflatten(s, values) for s in structure[1:]]
    if kind == _DICT:
        return {key: unflatten(s, values) for key, s in zip(structure[1], structure[2:])}
    return kind(*[unflatten(s, values) for s in structure[1:]])


def leaves(value):
    """The leaves of a nested value."""
    out = []
    flatten(value, out)
    return out
