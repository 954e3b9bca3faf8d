"""Ahead-of-time use: a function written as text that `graphc compile` reads."""

import os

from . import _graphc, _tree
from ._dtypes import as_dtype
from .errors import ArgumentError, FileError

_SHORT = {"i1": "bool", "b1": "bool", "f32": "float32", "f64": "float64"}
_SHORT.update({f"{p}{n}": f"{'' if p == 'i' else 'u'}int{n}" for p in "iu" for n in (8, 16, 32, 64)})


class spec:
    """A shape and a dtype without values: `spec("f32[N,256]")` or `spec(("N", 256), "float32")`. Sizes that are names
    stand for any size, the same name for the same size."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape, dtype=None):
        if isinstance(shape, str) and dtype is None:
            shape, dtype = _parse(shape)
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype = as_dtype("float64" if dtype is None else dtype)
        for size in self.shape:
            if not (isinstance(size, str) and size.isidentifier()) and not (isinstance(size, int) and size >= 0):
                raise ArgumentError(f"spec: a size is a name or a non-negative integer, not {size!r}")

    def __repr__(self):
        return f"spec({self.shape}, {self.dtype.name!r})"


def _parse(text):
    name, bracket, rest = text.replace(" ", "").partition("[")
    if bracket and not rest.endswith("]"):
        raise ArgumentError(f'spec: {text!r} is not of the form "f32[N,256]"')
    sizes = [s for s in rest[:-1].split(",") if s]
    return [int(s) if s.lstrip("-").isdigit() else s for s in sizes], _SHORT.get(name, name)


def _sizes(specs):
    """A concrete size for each name: distinct, and unlike every literal, since equal sizes are one symbol."""
    taken = {n for s in specs for n in s.shape if isinstance(n, int)}
    chosen, candidate = {}, 2
    for s in specs:
        for name in s.shape:
            if isinstance(name, str) and name not in chosen:
                while candidate in taken:
                    candidate += 1
                chosen[name] = candidate
                candidate += 1
    return chosen


def from_specs(value):
    """Nested arguments with every spec replaced by an array of zeros of its shape."""
    leaves = []
    structure = _tree.flatten(value, leaves)
    specs = [x for x in leaves if isinstance(x, spec)]
    if not specs:
        return value
    sizes = _sizes(specs)

    def make(x):
        if not isinstance(x, spec):
            return x
        return _graphc.full(tuple(sizes.get(n, n) for n in x.shape), 0, x.dtype, None)

    return _tree.unflatten(structure, iter([make(x) for x in leaves]))


def export(fn, *specs, path=None):
    """Writes `fn`, recorded for arguments like `specs` (`graphc.spec`s or arrays), in the graph dialect.

    Returns the text; with `path`, also writes the file, which `graphc compile` takes. A single list or tuple of specs
    is spread: export(fn, specs, path="f.mlir"). Raises TraceError when the function cannot be recorded as a whole,
    FileError when the file cannot be written.
    """
    from ._jit import Jitted, jit

    if len(specs) == 1 and isinstance(specs[0], (list, tuple)):
        specs = tuple(specs[0])
    elif len(specs) == 2 and isinstance(specs[0], (list, tuple)) and isinstance(specs[1], (str, os.PathLike)):
        specs, path = tuple(specs[0]), specs[1]
    jitted = fn if isinstance(fn, Jitted) else jit(fn, fullgraph=True)
    specs = tuple(spec(s) if isinstance(s, str) else s for s in specs)
    text = jitted.lower(*specs)._function.export_text()
    if path is not None:
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise FileError(f"cannot write {os.fspath(path)}: {error.strerror}") from error
    return text
