"""Python numbers whose values the calls of a jitted function differ in: what stands for one while the function is recorded,
and what is computed of them at each call, by Python, with the bits that the plain function gets."""

import operator
import types

import numpy as np

from . import _graphc
from .errors import TraceError


class Numbers:
    """The numbers of one recording: those that calls give, then constants and what Python computes of them, and the answers to
    comparisons, which have to be the same in every call of it. `needed`: places of given ones whose value was asked for."""

    def __init__(self, given):
        self.kinds = [type(v) for v in given]
        self.steps = []  # as _graphc.NumberSteps takes them
        self.answers = {}  # which given ones the answer at a place came of
        self.needed = set()
        self.values = given
        self.given = []

    def begin(self):
        """Makes what stands for the given ones, in the trace that is active."""
        self.given = [Traced(self, v, i, frozenset([i])) for i, v in enumerate(self.values)]

    def add(self, step, value, origins):
        self.steps.append((*step, type(value)))
        return Traced(self, value, len(self.kinds) + len(self.steps) - 1, origins)

    def constant(self, value):
        return self.add((None, value, None), value, frozenset())

    def answer(self, step, value, origins):
        """`value`, which the recording holds for."""
        self.answers[len(self.kinds) + len(self.steps)] = origins
        self.steps.append((*step, value))
        return value

    def undecided(self, given):
        """Places of the given numbers that answer a comparison in another way than in the call that was recorded."""
        values = list(given)
        for place, (function, a, b, kind) in enumerate(self.steps, len(given)):
            if function is None:
                values.append(a)
                continue
            values.append(function(values[a]) if b is None else function(values[a], values[b]))
            if place in self.answers and values[-1] is not kind:
                return self.answers[place]
        return frozenset()

    def evaluator(self, places):
        """What is computed of the given numbers, for those at `places`."""
        return _graphc.NumberSteps(self.steps, places)


def _unary(function):
    def apply(self):
        if not self.is_live:
            return function(self._value)
        return self._numbers.add((function, self.place, None), function(self._value), self._origins)

    return apply


def _binary(function):
    def combine(left, right):
        one, two = isinstance(left, Traced), isinstance(right, Traced)
        if not (left if one else right).is_live:
            return function(left._value if one else left, right._value if two else right)
        numbers = (left if one else right)._numbers
        left = left if one else numbers.constant(left)
        right = right if two else numbers.constant(right)
        value = function(left._value, right._value)
        origins = left._origins | right._origins
        if type(value) not in (int, float):
            numbers.needed |= origins
            raise TraceError(NEEDED)
        return numbers.add((function, left.place, right.place), value, origins)

    def forward(self, other):
        if type(other) in _COMBINED:
            return combine(self, other)
        return NotImplemented if isinstance(other, _graphc.Array) else function(self._plain(), other)

    def backward(self, other):
        if type(other) in _COMBINED:
            return combine(other, self)
        return NotImplemented if isinstance(other, _graphc.Array) else function(other, self._plain())

    return forward, backward


def _compared(function):
    def compare(self, other):
        if type(other) not in _COMBINED or not self.is_live:
            return NotImplemented if isinstance(other, _graphc.Array) else function(self._plain(), other)
        other = other if isinstance(other, Traced) else self._numbers.constant(other)
        value = function(self._value, other._value)
        return self._numbers.answer((function, self.place, other.place), value, self._origins | other._origins)

    return compare


def _truth(self):
    if not self.is_live:
        return bool(self._value)
    return self._numbers.answer((bool, self.place, None), bool(self._value), self._origins)


def _asking(function):
    def ask(self, *args):
        return function(self._plain(), *args)

    return ask


NEEDED = "the value of a number that calls differ in is needed"


class Traced(_graphc.Number):
    """Stands for a Python number while a function is recorded. Asking for its value raises TraceError then, but for comparisons;
    later it is that of the call that was recorded."""

    def __init__(self, numbers, value, place, origins):
        _graphc.Number.__init__(self, value, place)
        self._numbers = numbers
        self._value = value
        self.place = place
        self._origins = origins

    __class__ = property(lambda self: type(self._value))  # for isinstance

    def _plain(self):
        if self.is_live:
            self._numbers.needed |= self._origins
            raise TraceError(NEEDED)
        return self._value

    def __getattr__(self, name):
        if not hasattr(self.__class__, name):
            raise AttributeError(name)
        return getattr(self._plain(), name)

    def __array__(self, *args, **kwargs):
        return np.asarray(self._plain(), *args, **kwargs)

    __add__, __radd__ = _binary(operator.add)
    __sub__, __rsub__ = _binary(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow)
    __neg__ = _unary(operator.neg)
    __pos__ = _unary(operator.pos)
    __abs__ = _unary(operator.abs)
    __eq__, __ne__ = _compared(operator.eq), _compared(operator.ne)
    __lt__, __le__ = _compared(operator.lt), _compared(operator.le)
    __gt__, __ge__ = _compared(operator.gt), _compared(operator.ge)
    __hash__ = _asking(hash)
    __bool__ = _truth
    __int__ = _asking(int)
    __float__ = _asking(float)
    __complex__ = _asking(complex)
    __index__ = _asking(operator.index)
    __round__ = _asking(round)
    __divmod__ = _asking(divmod)
    __str__ = _asking(str)
    __repr__ = _asking(repr)
    __format__ = _asking(format)
    __trunc__ = _asking(int)
    __and__ = _asking(operator.and_)
    __or__ = _asking(operator.or_)
    __xor__ = _asking(operator.xor)
    __lshift__ = _asking(operator.lshift)
    __rshift__ = _asking(operator.rshift)
    __invert__ = _asking(operator.invert)
    __reduce_ex__ = _asking(lambda value, protocol: (type(value), (value,)))


_COMBINED = frozenset([int, float, Traced])


def content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def asks_for_types(fn):
    """Whether the code of `fn`, or of what it names and may call, names `type`, which tells what stands for a number from one."""
    waiting, seen = [fn, *_functions_of(fn, set())], set()
    while waiting:
        function = waiting.pop()
        code = getattr(function, "__code__", None)
        if code is None or code in seen or (function.__module__ or "").partition(".")[0] in ("graphc", "numpy"):
            continue
        seen.add(code)
        codes, names = [code], set()
        for code in codes:
            names.update(code.co_names)
            codes.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
        if "type" in names:
            return True
        for value in _outer_values(function, names):
            waiting.extend(_functions_of(value, names))
    return False


def _outer_values(function, names):
    for name in names & function.__globals__.keys():
        yield function.__globals__[name]
    yield from map(content, function.__closure__ or ())


def _functions_of(value, names):
    """Python functions that code with these names may call of a value."""
    value = getattr(value, "__wrapped__", value)
    if isinstance(value, types.MethodType):
        return [value.__func__, *_functions_of(value.__self__, names)]
    if isinstance(value, types.ModuleType):
        found = [vars(value)[name] for name in names & vars(value).keys()]
    elif isinstance(value, types.FunctionType):
        found = [value]
    elif isinstance(value, dict):
        found = value.values()
    elif isinstance(value, (list, tuple)):
        found = value
    else:
        kind = value if isinstance(value, type) else type(value)
        found = [f for base in kind.__mro__ for f in vars(base).values()]
        if kind is not value:
            found.extend(getattr(value, "__dict__", {}).values())
    return [f for f in found if isinstance(f, types.FunctionType)]
