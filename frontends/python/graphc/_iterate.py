"""nditer and poly1d: NumPy's two small classes that programs still use."""

from __future__ import annotations

import numpy as _np

from . import _graphc
from ._creation import asarray
from ._functional import ndindex
from ._manipulation import broadcast_arrays
from .errors import ArgumentError, ForeignDType, UnsupportedError


class nditer:  # noqa: N801  (NumPy's name)
    """NumPy's, over the memory of the arrays, which `x[...] = value` writes when the operand is "readwrite" or "writeonly". Of arrays on other
    devices, and where a function is recorded: over elements in row-major order, 0-d views; flags "multi_index", "c_index" and "external_loop"
    (of one array: all of it at once) are known there, buffering and "reduce_ok" change nothing, others raise UnsupportedError."""

    __module__ = "graphc"
    _KNOWN = {"multi_index", "c_index", "external_loop", "refs_ok", "buffered", "zerosize_ok", "reduce_ok", "delay_bufalloc", "copy_if_overlap"}

    def __new__(cls, op, flags=None, op_flags=None, op_dtypes=None, order="K", casting="safe", op_axes=None, itershape=None, buffersize=0):
        several = isinstance(op, (list, tuple))
        operands = list(op) if several else [op]
        ours = [o for o in operands if _graphc.is_array(o)]
        if ours and (_graphc.is_tracing() or any(o.device != "cpu" for o in ours)):
            made = object.__new__(cls)
            made._begin(op, flags or (), op_flags, op_dtypes, op_axes is None and itershape is None)
            return made
        given = [o._lent() if _graphc.is_array(o) else o for o in operands]  # what is written meanwhile is read, as in NumPy
        return _np.nditer(given if several else given[0], flags, op_flags, op_dtypes, order, casting, op_axes, itershape, buffersize)

    def _begin(self, op, flags, op_flags, op_dtypes, is_plain):
        several = isinstance(op, (list, tuple))
        operands = list(op) if several else [op]
        unknown = set(flags) - self._KNOWN
        if unknown or not is_plain or op_dtypes is not None or any(o is None for o in operands):
            raise UnsupportedError(f"nditer: {sorted(unknown) or 'these operands'} are not supported")
        per = [[]] * len(operands)
        if op_flags:
            per = [list(op_flags)] * len(operands) if isinstance(op_flags[0], str) else [list(f) for f in op_flags]
        given = [asarray(o) for o in operands]
        writes = [bool({"readwrite", "writeonly"} & set(f)) for f in per]
        shape = broadcast_arrays(*given)[0].shape
        if any(w and g.shape != shape for w, g in zip(writes, given)):
            raise ArgumentError("nditer: non-broadcastable output operand")
        self._arrays = [g if w else _graphc.broadcast_to(g, shape) for g, w in zip(given, writes)]
        self._single, self.shape, self.ndim, self.operands = not several, shape, len(shape), tuple(given)
        self.itersize = self._arrays[0].size
        self._flags = set(flags)
        if "external_loop" in flags and not self._single:
            raise UnsupportedError("nditer: external_loop of several operands is not supported")
        self.reset()

    def reset(self):
        """Starts again."""
        self._places = ndindex(self.shape)
        self.iterindex = -1
        self._ended = False
        self._next_place()

    def _next_place(self):
        try:
            self.multi_index = next(self._places)
            self.iterindex += 1
            self.index = self.iterindex
        except StopIteration:
            self._ended = True

    @property
    def finished(self):
        return self._ended

    @property
    def value(self):
        parts = tuple(a[(*self.multi_index, ...)] for a in self._arrays)
        return parts[0] if self._single else parts

    def __getitem__(self, i):
        return self._arrays[i][(*self.multi_index, ...)]

    def __setitem__(self, i, value):
        self._arrays[i][(*self.multi_index, ...)] = value

    def iternext(self):
        """Goes to the next element; False at the end."""
        self._next_place()
        return not self._ended

    def __iter__(self):
        if "external_loop" in self._flags:
            yield self._arrays[0].ravel()
            return
        while not self._ended:
            yield self.value
            self._next_place()

    def __len__(self):
        return self.itersize

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Writes went through at once."""

    def close(self):
        """As the end of `with`."""


def nested_iters(op, axes, flags=None, op_flags=None, op_dtypes=None, order="K", casting="safe", buffersize=0):
    """As numpy.nested_iters, over the memory of arrays."""
    several = isinstance(op, (tuple, list))
    lent = [o._lent() if _graphc.is_array(o) else o for o in (op if several else (op,))]
    return _np.nested_iters(lent if several else lent[0], axes, flags, op_flags, op_dtypes, order, casting, buffersize)


class poly1d:  # noqa: N801
    """A polynomial by its coefficients, the highest power first, or by its roots (`r=True`): callable, with arithmetic,
    `deriv`, `integ` and `roots`."""

    __module__ = "graphc"
    __array_ufunc__ = None

    def __new__(cls, c_or_r, r=False, variable=None):
        """NumPy's polynomial of objects and other coefficients that graphc has not."""
        try:
            if not isinstance(c_or_r, poly1d):
                asarray(c_or_r)
        except ForeignDType:
            return _np.poly1d(c_or_r, r, variable)
        return super().__new__(cls)

    def __init__(self, c_or_r, r=False, variable=None):
        import graphc

        if isinstance(c_or_r, poly1d):
            c_or_r, variable, r = c_or_r.coeffs, variable or c_or_r.variable, False
        c = graphc.poly(c_or_r) if r else graphc.atleast_1d(asarray(c_or_r))
        if c.ndim > 1:
            raise ArgumentError("Polynomial must be 1d only.")
        is_trimmed = c.ndim and c.size and not _graphc.is_tracing() and c[0] != 0
        c = c[:] if is_trimmed else graphc.trim_zeros(c, "f")
        self._coeffs = c if c.size else graphc.zeros(1, c.dtype)
        self._variable = variable or "x"

    @property
    def coeffs(self):
        """The coefficients, the highest power first; their elements may be written."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value):
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs
    o = order = property(lambda self: self.coeffs.size - 1)
    variable = property(lambda self: self._variable)

    @property
    def roots(self):
        import graphc

        return graphc.roots(self.coeffs)

    r = roots

    def __call__(self, x):
        import graphc

        if isinstance(x, poly1d):
            total = poly1d([0])
            for i in range(self.coeffs.size):
                total = total * x + poly1d([self.coeffs[i]])
            return total
        return graphc.polyval(self.coeffs, x)

    def _with(self, name, other, turned=False):
        import graphc

        a, b = self.coeffs, other.coeffs if isinstance(other, poly1d) else graphc.atleast_1d(asarray(other))
        result = getattr(graphc, name)(*((b, a) if turned else (a, b)))
        return tuple(poly1d(p) for p in result) if isinstance(result, tuple) else poly1d(result)

    def __add__(self, other):
        return self._with("polyadd", other)

    def __sub__(self, other):
        return self._with("polysub", other)

    def __rsub__(self, other):
        return self._with("polysub", other, True)

    def __mul__(self, other):
        return self._with("polymul", other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other):
        return self._with("polydiv", other) if isinstance(other, poly1d) else poly1d(self.coeffs / other)

    def __rtruediv__(self, other):
        return poly1d(other / self.coeffs)

    def __pow__(self, n):
        if n < 0 or int(n) != n:
            raise ArgumentError("Power to non-negative integers only.")
        result = poly1d([1])
        for _ in range(int(n)):
            result = result * self
        return result

    def __neg__(self):
        return poly1d(-self.coeffs)

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        return self.coeffs.shape == other.coeffs.shape and self.coeffs.tolist() == other.coeffs.tolist()

    __hash__ = None

    def __getitem__(self, power):
        return self.coeffs[self.order - power] if 0 <= power <= self.order else self.coeffs[0] * 0

    def __setitem__(self, power, value):
        import graphc

        if power < 0:
            raise ArgumentError("Does not support negative powers.")
        if power > self.order:
            self._coeffs = graphc.concatenate((graphc.zeros(power - self.order, self._coeffs.dtype), self._coeffs))
        self._coeffs[self.order - power] = value

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __array__(self, dtype=None, copy=None):
        return self.coeffs.__array__(dtype, copy)

    def deriv(self, m=1):
        """The m-th derivative."""
        import graphc

        return poly1d(graphc.polyder(self.coeffs, m))

    def integ(self, m=1, k=0):
        """The m-th integral, with constants k."""
        import graphc

        return poly1d(graphc.polyint(self.coeffs, m, k))

    def __repr__(self):
        return f"poly1d({repr(self.coeffs)[6:-1]})"

    def __str__(self):
        import numpy

        return str(numpy.poly1d(self.coeffs.tolist(), variable=self.variable))
