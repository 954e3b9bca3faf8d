"""The methods and attributes of Array that are written in Python: those of NumPy's ndarray that record, as the
function of the same name, and the small objects `flat` and `flags`."""

import builtins as _py
import functools as _functools
import itertools as _itertools
import numbers as _numbers
import operator as _operator
import pickle as _pickle
import types as _types
import weakref as _weakref
import warnings as _warnings

import numpy as _np

from . import _foreign, _graphc
from ._creation import assigned as _assigned
from ._creation import lies_by_columns
from ._dtypes import as_dtype, is_named
from ._exact import swapping as _swapping
from ._float_errors import stands_for as _stands_for
from .errors import ArgumentError, ForeignDType, IndexOutOfBounds, ShapeError, UnsupportedError, user_line

_Array = _graphc.Array


def _second(first, second):
    return second


#: Of slices that need no look.
_PLAIN_BOUNDS = frozenset((int, type(None)))


class FlatIterator(_graphc.Flat):
    """`x.flat`: the elements in row-major order, to iterate over, to read and to write by one index."""

    __module__ = "graphc"
    __hash__ = None
    _places = _elements = None  # iterators: the places, and the elements that are read as those go on

    def _begun(self):
        base = self.base
        row = base.ravel()
        if _graphc.shares_storage(row, base):
            self._elements = self._places = iter(row)
        else:  # no vector shows what the base will be then
            self._places = iter(range(base.size))
            indices = _itertools.product(*map(range, base.shape))
            self._elements = map(base.__getitem__, map(_second, self._places, indices))
        return self._elements

    def __iter__(self):
        return self._elements or self._begun()

    def __next__(self):
        return next(self._elements or self._begun())

    @property
    def _next(self):
        return self.base.size - _operator.length_hint(self._places) if self._elements else 0

    @property
    def index(self):
        return self._next

    @property
    def coords(self):
        place, shape = self._next, self.base.shape
        return tuple(int(i) for i in _np.unravel_index(place, shape)) if place < self.base.size else (*shape[:1], *(0,) * (len(shape) - 1))

    def _item(self, key):
        key = self._checked(key)
        part = self.base.ravel()[key]
        return part.copy() if type(key) is slice or key is ... else part

    def _checked(self, key, is_written=False):
        """A key that one axis takes: others are what NumPy's iterator makes of them, which has its own errors and warnings."""
        if isinstance(key, FlatIterator):
            return key.copy()
        size = self.base.size
        if type(key) is int and not -size <= key < size and -1 << 63 <= key < 1 << 63:
            raise IndexOutOfBounds(f"index {key} is out of bounds for size {size}")
        if type(key) is slice or (type(key) is int and -size <= key < size) or key is ...:
            return key
        if getattr(key, "ndim", 0) and (key.dtype.kind != "b" or _graphc.is_tracing() or key.shape == (size,)):
            return key
        if _graphc.is_array(key) and (_graphc.is_tracing() or key.dtype.kind in "iu"):
            return key
        if isinstance(key, list) and key and all(type(k) is int and -size <= k < size for k in key):
            return key
        key = _np.asarray(key) if _graphc.is_array(key) else key
        places = _np.arange(size)
        if is_written:
            with _warnings.catch_warnings():
                _warnings.simplefilter("ignore")
                places.copy().flat[key] = 0
        return places.flat[key]

    @_stands_for()
    def _set_item(self, key, value):
        if type(key) is slice and self._takes(value) and _PLAIN_BOUNDS.issuperset((type(key.start), type(key.stop), type(key.step))):
            whole = self.base.ravel()
            if _graphc.shares_storage(whole, self.base):
                whole[key] = value
                return
        key = self._checked(key, True)
        whole = self.base.ravel()
        aliases = _graphc.shares_storage(whole, self.base)
        whole = whole if aliases else whole.copy()
        part = whole[key]
        is_element = isinstance(key, (int, _np.integer)) or _graphc.is_value(part)
        if is_element:
            value = self._element(value)
        elif not _graphc.is_array(value):
            value = _assigned(value, whole)
        if not is_element and value.ndim:  # shorter values are repeated, longer ones cut
            value = value.ravel()
            if part.size and value.size == 0:
                raise ArgumentError("Cannot set values to an empty sequence")
            if value.size not in (1, part.size):
                times = -(-part.size // value.size)
                value = _graphc.broadcast_to(value, (times, value.size)).reshape((-1,))[: part.size]
            value = value.reshape(part.shape) if value.size == part.size else value
        whole[key] = value
        if not aliases:
            self.base[...] = whole.reshape(self.base.shape)

    def _takes(self, value):
        """Whether a number becomes elements as it does where a part of an array is assigned to."""
        kind = self.base.dtype.kind
        return (type(value) is float and kind == "f") or (type(value) is int and kind in "fiu")

    @_stands_for()
    def _element(self, value):
        """What becomes a single element; NumPy has one error for all that does not."""
        if _graphc.is_tracing():
            return value
        cell = _graphc.full((), 0, self.base.dtype, self.base.device)
        try:
            cell[()] = value
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError("Error setting single item of array.") from None
        return cell[()]

    def copy(self):
        return self.base.flatten()

    def __array__(self, dtype=None, copy=None):
        return self.base.flatten().__array__(dtype, copy)

    def _compared(self, other, compare):
        return compare(self.base.flatten(), other.copy() if isinstance(other, FlatIterator) else other)

    __eq__ = _functools.partialmethod(_compared, compare=_operator.eq)
    __ne__ = _functools.partialmethod(_compared, compare=_operator.ne)
    __lt__ = _functools.partialmethod(_compared, compare=_operator.lt)
    __le__ = _functools.partialmethod(_compared, compare=_operator.le)
    __gt__ = _functools.partialmethod(_compared, compare=_operator.gt)
    __ge__ = _functools.partialmethod(_compared, compare=_operator.ge)


_FLAG_NAMES = {
    "C": "c_contiguous", "CONTIGUOUS": "c_contiguous", "C_CONTIGUOUS": "c_contiguous",
    "F": "f_contiguous", "FORTRAN": "f_contiguous", "F_CONTIGUOUS": "f_contiguous", "O": "owndata", "OWNDATA": "owndata",
    "W": "writeable", "WRITEABLE": "writeable", "A": "aligned", "ALIGNED": "aligned", "X": "writebackifcopy",
    "WRITEBACKIFCOPY": "writebackifcopy", "B": "behaved", "BEHAVED": "behaved", "FNC": "fnc", "FORC": "forc",
    "CA": "carray", "CARRAY": "carray", "FA": "farray", "FARRAY": "farray",
}  # fmt: skip


class Flags:
    """`x.flags`: layout and rights of an array, by attribute or by NumPy's names."""

    __module__ = "graphc"
    __slots__ = ("_array",)

    def __init__(self, array):
        self._array = array

    c_contiguous = contiguous = property(_operator.attrgetter("_array.contiguous"))
    f_contiguous = fortran = property(lambda self: _graphc.is_column_major(self._array))
    owndata = property(lambda self: self._array.base is None and not self._array.readonly)
    aligned = property(lambda self: True)
    writebackifcopy = property(lambda self: False)
    writeable = property(lambda self: not (self._array.readonly or _graphc.is_value(self._array)), lambda self, value: _setflags(self._array, write=value))
    behaved = property(lambda self: self.writeable)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    forc = property(lambda self: self.f_contiguous or self.c_contiguous)
    carray = property(lambda self: self.c_contiguous and self.writeable)
    farray = property(lambda self: not self.c_contiguous)  # NumPy asks for one of its conditions, and all arrays are aligned
    num = property(
        lambda self: self.c_contiguous + 2 * self.f_contiguous + 4 * self.owndata + 256 + 1024 * self.writeable
    )

    def __getitem__(self, key):
        if key not in _FLAG_NAMES:
            raise KeyError("Unknown flag")
        return getattr(self, _FLAG_NAMES[key])

    def __setitem__(self, key, value):
        if _FLAG_NAMES.get(key) != "writeable":
            raise KeyError("Unknown flag" if key not in _FLAG_NAMES else f"flag {key} cannot be set")
        self.writeable = value

    def __eq__(self, other):
        return isinstance(other, Flags) and self.num == other.num

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
        return "\n".join(f"  {name} : {self[name]}" for name in names) + "\n"


def _setflags(self, write=None, align=None, uic=None):
    """`write=False` makes the array, and views taken of it later, read-only; `write=True` one that has its own memory writable again."""
    if write is not None:
        if not write:
            self._lock()
        elif self.readonly and not self._unlock():
            raise ArgumentError("cannot set WRITEABLE flag to True of this array")
    if uic:
        raise ArgumentError("cannot set WRITEBACKIFCOPY flag to True")


def _view(self, dtype=None, type=None):
    """A new view of the same memory. Of another dtype: the bytes read as that dtype, of the same or another width along the last
    axis by NumPy's rules (ValueError where they do not fit); nothing is computed, and updates of either are seen by both.
    Of bools it is read-only, and of a dtype of the other byte order it is a read-only copy. Strings, dates and structures are NumPy's, over the same memory, as objects of a `type`.
    Of `type`, a class made of `ndarray`: an object of that class over the same memory, which is NumPy's; updates of either are seen by both. Of arrays on other devices it is a
    read-only copy."""
    if isinstance(dtype, _py.type) and issubclass(dtype, (_Array, _np.ndarray)):
        dtype, type = None, dtype
    if type not in (None, _Array, _graphc.ndarray, _np.ndarray):
        lent = _np.asarray(self) if dtype is None and _graphc.is_tracing() else self._lent()
        return lent.view(type) if dtype is None else lent.view(dtype, type)
    try:
        wanted = self.dtype if dtype is None else as_dtype(dtype)
    except ForeignDType:
        if not is_named(_np.dtype(dtype)):
            return (_np.asarray(self) if _graphc.is_tracing() else self._lent()).view(dtype)
        swapped = _graphc.asarray(_np.asarray(self).view(dtype), None, self.device, None)  # held in the machine's order
        swapped._lock()
        return swapped
    if wanted == self.dtype:
        return self[()] if _graphc.is_value(self) else self[...]
    return self._recast(wanted)


def _byteswap(self, inplace=False):
    """The elements with their bytes in the other order, of complex numbers each part's; a new array, or with `inplace` the array
    itself. This evaluates."""
    _graphc.eval([self], "byteswap")
    swapped = _graphc.asarray(_np.asarray(self).byteswap(), None, self.device, None)
    if not inplace:
        return swapped
    self[...] = swapped
    return self


def _resize(self, *shape, refcheck=True):
    """Changes the shape in place, in row-major order; new elements are zeros. Raises ValueError for a view, and, unless
    `refcheck` is false, for an array of which there are views."""
    if not shape or len(shape) == 1 and shape[0] is None:
        return
    shape = shape[0] if len(shape) == 1 and (isinstance(shape[0], (tuple, list)) or getattr(shape[0], "ndim", 0)) else shape
    shape = tuple(_operator.index(n) for n in shape)
    if _py.any(n < 0 for n in shape):
        raise ShapeError(f"resize: negative dimensions are not allowed: {shape}")
    size = _py.max(0, _np.prod(shape, dtype=object) if shape else 1)
    if size == self.size and self.contiguous:  # the same memory, also of a view
        self.shape = shape
        return
    if self.base is not None:
        raise ArgumentError("cannot resize this array: it does not own its data")
    if refcheck and self._has_views():
        raise ArgumentError(
            "cannot resize an array that references or is referenced\nby another object in this way.\n"
            "Use the np.resize function to get a new resized copy or\n set refcheck=False to disable this check"
        )
    if lies_by_columns(self):  # memory is cut or gets longer: column-major it stays
        self._turn(None)
        _resize(self, shape[::-1])
        self._turn(None)
        return
    flat = self.ravel()
    if size > self.size:
        flat = _graphc.concatenate([flat, _graphc.full((int(size) - self.size,), 0, self.dtype, self.device)], 0)
    writeable = self.flags.writeable
    self._become(flat[: int(size)].reshape(shape).copy())
    if not writeable:
        self.setflags(write=False)


def _rounded(self, ndigits=None):
    if self.dtype.kind == "b":
        raise TypeError("type numpy.bool doesn't define __round__ method")
    if ndigits is None and self.ndim == 0:
        return round(self.item())
    return self.round(ndigits or 0)


def _tofile(self, file, sep="", format="%s"):
    """Writes the values in row-major order, as bytes or as text with a separator."""
    _np.asarray(self).tofile(file, sep, format)


def _tobytes(self, order="C"):
    """The values as bytes, in row-major ("C") or column-major ("F") order."""
    return _np.asarray(self).tobytes(order)


def _dump(self, file):
    """Pickles the array into a file or to a path."""
    if hasattr(file, "write"):
        _pickle.dump(self, file, 2)
        return
    with open(file, "wb") as opened:
        _pickle.dump(self, opened, 2)


def _namespace(self, /, *, api_version=None):
    """The package. Raises ValueError for a version of the Array API that it does not follow."""
    import graphc

    if api_version is not None and api_version not in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ArgumentError(f"__array_namespace__: version {api_version!r} of the array API is not supported")
    return graphc


#: Methods that are the package's function of that name, where it has one.
_FUNCTIONS = (
    "take", "compress", "nonzero", "searchsorted", "argsort", "argpartition",
    "round", "cumsum", "cumprod", "var", "std", "dot", "diagonal", "trace", "repeat", "put",
)  # fmt: skip
#: Methods that change the array: x.sort() is x[...] = sort(x).
_IN_PLACE = ("sort", "partition")


def _in_place(name):
    def method(self, *args, **keywords):
        import graphc

        self[...] = getattr(graphc, name)(self, *args, **keywords)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As graphc.{name}, in place."
    return method


def _truncated(self):
    """math.trunc: of float64 results alone, as NumPy's scalars that are Python's floats."""
    if not _graphc.is_value(self) or self.dtype != _np.float64:
        raise TypeError(f"type numpy.{self.dtype if _graphc.is_value(self) else 'ndarray'} doesn't define __trunc__ method")
    return int(self)


@_stands_for("clip")
def _clip(self, min=None, max=None, out=None, **keywords):
    """As graphc.clip, with one bound or two."""
    import graphc

    return graphc.clip.as_method(self, min, max, out, **keywords)


def _choose(self, *choices, out=None, mode="raise"):
    """As graphc.choose, of a sequence of choices or of so many."""
    import graphc

    return graphc.choose.as_method(self, choices[0] if len(choices) == 1 else choices, out, mode)


def _conjugate(self, out=None):
    """As graphc.conjugate; of real numbers the array itself."""
    if out is None:
        return _graphc.conj(self) if self.dtype.kind == "c" else self
    from ._special import conjugate

    return conjugate(self, out)


def _interface(self):
    """NumPy's description of the memory of the values, read-only; it is theirs as long as the dict is."""
    if self.dtype.kind == "V":
        raise AttributeError("the array interface has no bfloat16: use __array__ or DLPack")
    values = self.__array__()  # not asarray, which would ask here again for what has no buffer
    return {**values.__array_interface__, "owner": values}


def _absent(name, instead):
    def get(self):
        where = user_line(2)
        raise AttributeError(f"graphc.Array has no attribute {name!r}: {instead}" + (f" (at {where})" if where else ""))

    return property(get)


def _of_number(name):
    """What NumPy's scalars have and arrays have not, of a single result."""

    def get(self):
        if not _graphc.is_value(self):
            raise AttributeError(f"'graphc.Array' object has no attribute {name!r}")
        return getattr(_np.asarray(self)[()], name)

    return property(get)


def _ctypes(self):
    """As numpy.ndarray.ctypes, of the array's memory: C reads and writes it as long as the array, or a pointer of `data_as`, lives."""
    lent = self._lent()
    if lent.base is not None and not _graphc.is_value(self):  # no copy, which arrays on devices give
        for holder in (self, self.base):
            if isinstance(holder, _Array) and id(holder) not in _pointed:
                _pointed[id(holder)] = lent
                _weakref.finalize(holder, _pointed.pop, id(holder), None).atexit = False
    return lent.ctypes


#: The memory that C was told the address of, by the id of an array that has it, as long as that lives: an address holds nothing.
_pointed = {}


def _data(self):
    """The array's memory: each side sees what the other writes as long as the view lives. That of a single result is read-only."""
    return memoryview(_np.asarray(self)).toreadonly() if _graphc.is_value(self) else memoryview(self._lent())


def _getfield(self, dtype, offset=0):
    """As numpy.ndarray.getfield: NumPy's array of a part of each element, which shares the array's memory."""
    made = self._lent().getfield(dtype, offset)
    return made[()] if _graphc.is_value(self) else made


def _setfield(self, val, dtype, offset=0):
    """As numpy.ndarray.setfield."""
    self._lent().setfield(val, dtype, offset)


def _sizeof(self):
    """What NumPy's object takes, with the elements where it owns them; Python adds its header to what it collects."""
    header = 16 if type(self).__flags__ & (1 << 14) else 0
    if _graphc.is_value(self):
        return self.dtype.type().__sizeof__() - header
    return 96 + 16 * self.ndim + (self.nbytes if Flags(self).owndata else 0) - header


_OF_NUMBERS = ("as_integer_ratio", "bit_count", "denominator", "hex", "is_integer", "numerator")

_ABSENT = {
    # NumPy asks for it before __array__, also where the buffer protocol has raised an error that is to be seen.
    "__array_struct__": "use the buffer protocol, __array__ or DLPack",
}


def _new(cls, shape=None, dtype=float, buffer=None, offset=0, strides=None, order=None):
    if cls is not _Array and cls is not _graphc.ndarray:  # a class that is made of it
        made = _foreign.ndarray if issubclass(cls, _foreign.ndarray) else _np.ndarray
        return made.__new__(cls, shape, dtype, buffer, offset, strides, order)
    if shape is None:
        raise TypeError("Array() missing required argument 'shape': use asarray to convert")
    if isinstance(shape, _numbers.Rational) and not isinstance(shape, _numbers.Integral):  # a number of the class of a number, as `statistics` makes them
        return _graphc.asarray(float(shape), None, None, None)[()]
    if isinstance(shape, (float, complex, _np.inexact)):  # `type(x)(value)` of a single result: what no shape is
        return _graphc.asarray(shape, None, None, None)[()]
    if buffer is None:
        from ._creation import zeros

        try:
            return zeros(shape, dtype, order or "C")
        except ForeignDType:
            return _np.ndarray(shape, dtype)
    is_ours = _graphc.is_array(buffer)
    made = _np.ndarray(shape, dtype, buffer._lent() if is_ours else buffer, offset, strides, order)
    # Other processes may share memory that may be written.
    return made if made.flags.writeable and not is_ours else _foreign.to_ours(made)


def _setstate(self, state, /):
    """As numpy.ndarray.__setstate__, of objects of classes that are made of it."""
    if not _graphc.is_array(self):
        _np.ndarray.__setstate__(self, state)
        return
    made = _np.ndarray(0)
    made.__setstate__(state)
    self._become(_graphc.asarray(made, None, self.device, None))


def _init(self, *args, **keywords):
    """Everything was done when the object was made."""


def _tokenize(self):
    """What dask names results by: dtype, shape and values."""
    import hashlib

    return "graphc.Array", str(self.dtype), self.shape, hashlib.sha1(self.tobytes()).hexdigest()


def _imatmul(self, other):
    """`x @= y` writes the product to `x`, whose shape it must have."""
    from ._linalg import matmul
    from ._ufunc import with_out

    try:
        other = _graphc.asarray(other)
    except ForeignDType:
        return _foreign.operated("imatmul", self, other)
    if other.ndim < 2 and self.ndim != 1:
        raise ArgumentError("inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions")
    return with_out(matmul(self, other), self, name="matmul")


def called(value, name):
    """A function under the name that it has as a method, by which programs tell methods apart."""
    if not isinstance(value, _types.FunctionType) or value.__name__ == name:
        return value
    made = _types.FunctionType(value.__code__, value.__globals__, name, value.__defaults__, value.__closure__)
    made.__kwdefaults__, made.__doc__ = value.__kwdefaults__, value.__doc__
    made.__dict__.update(value.__dict__)
    return made


def _quick_method(value, name, quick):
    """A method of which the extension takes the plain calls itself."""
    made = _graphc.function(called(value, name))
    made.quick = quick
    made.__dict__.update(__name__=name, __qualname__=name, __doc__=value.__doc__, hand=None)
    return made


def attach(namespace):
    """Gives Array its methods: those here, and functions of the package that NumPy has as methods."""
    for name, value in {
        "flat": property(FlatIterator, lambda self, value: FlatIterator(self).__setitem__(slice(None), value)),
        "__array_interface__": property(_interface), "flags": property(Flags), "data": property(_data), "getfield": _getfield, "setfield": _setfield, "ctypes": property(_ctypes), "setflags": _setflags, "_view": _view, "byteswap": _swapping(_byteswap),
        "clip": _quick_method(_clip, "clip", _graphc.plain_clip), "choose": _quick_method(_choose, "choose", _graphc.plain_choose), "resize": _resize, "__round__": _rounded, "__trunc__": _truncated, "tofile": _tofile, "_tobytes": _tobytes, "dump": _dump,
        "__new__": staticmethod(_new), "__init__": _init, "__dask_tokenize__": _tokenize,
        "__class_getitem__": classmethod(_types.GenericAlias), "dumps": lambda self: _pickle.dumps(self, 2), "__array_namespace__": _namespace,
        "__imatmul__": _imatmul, "__setstate__": _setstate, "__sizeof__": _sizeof, "conj": _conjugate, "conjugate": _conjugate,
    }.items():  # fmt: skip
        setattr(_Array, name, called(value, name))
    for name in _FUNCTIONS:
        if name in namespace and not hasattr(_Array, name):
            setattr(_Array, name, namespace[name].__dict__.get("as_method", namespace[name]))
    for name in _IN_PLACE:
        if name in namespace and not hasattr(_Array, name):
            setattr(_Array, name, _in_place(name))
    _Array._no_imag = namespace["imag"]
    for name in _OF_NUMBERS:
        setattr(_Array, name, _of_number(name))
    for name, instead in _ABSENT.items():
        setattr(_Array, name, _absent(name, instead))
    _graphc.finish_scalar_types({*_OF_NUMBERS, *_ABSENT, "__new__", "__init__", "__repr__", "__str__", "__doc__", "__module__", "__complex__"})
