"""What is done when an operation divides by zero, overflows, underflows or is invalid: NumPy's `errstate` and its kin.

Modes are those of the thread when an operation is recorded; what they say is done when it is computed, at the latest
before its value is seen. The compiled part asks (frontends/record/FloatErrors.h)."""

from __future__ import annotations

import _thread
import atexit as _atexit
import functools as _functools
import os as _os
import re as _re
import sys as _sys
import warnings as _warnings

import numpy as _np

from . import _graphc
from .errors import ArgumentError

# The order of bits in the words of the compiled part.
_ERRORS = ("divide", "over", "under", "invalid")
_TEXTS = ("divide by zero", "overflow", "underflow", "invalid value")
_MODES = ("ignore", "warn", "raise", "call", "print", "log")
_ONCE = 6  # of the compiled part: "warn" where a line's warnings are shown once
_BITS, _CALL_SHIFT, _CALL_MASK, _NAME_SHIFT = 3, 12, (1 << 10) - 1, 22

# Handlers by number; number 0 is none. Words of pending operations hold the numbers.
_handlers = [None]
_SCALARS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
            "mod": "remainder", "pow": "power", "neg": "negative", "abs": "absolute"}  # fmt: skip
_names = ["", *(f"scalar {name}" for name in _SCALARS.values())]
for _number, _dunder in enumerate(_SCALARS, 1):
    _graphc.set_scalar_name(_dunder, _number)
_lock = _thread.allocate_lock()


def _handler_number(handler):
    with _lock:
        for number, known in enumerate(_handlers):
            if known is handler:
                return number
        if len(_handlers) > _CALL_MASK:
            raise ArgumentError(f"seterrcall: more than {_CALL_MASK} handlers in one process")
        _handlers.append(handler)
        return len(_handlers) - 1


def any_told():
    """Whether any floating-point error is not ignored."""
    return _graphc.float_modes() & (1 << _CALL_SHIFT) - 1 != 0


def _modes_of(word):
    return {name: _MODES[word >> _BITS * i & 7] for i, name in enumerate(_ERRORS)}


def _word_with(word, name, all, given):  # noqa: A002
    for i, error in enumerate(_ERRORS):
        mode = all if given[error] is None else given[error]
        if mode is None:
            continue
        if mode not in _MODES:
            raise ArgumentError(f"{name}: invalid error mode {mode!r}; these are: {', '.join(_MODES)}")
        word = word & ~(7 << _BITS * i) | _MODES.index(mode) << _BITS * i
    return word


def geterr():
    """How floating-point errors are treated in this thread: a dict of `divide`, `over`, `under` and `invalid`."""
    return _modes_of(_graphc.float_modes())


def seterr(all=None, divide=None, over=None, under=None, invalid=None):  # noqa: A002
    """Changes how floating-point errors of what this thread records from now on are treated, and returns how they
    were. Modes: "ignore", "warn" (RuntimeWarning), "raise" (FloatingPointError), "call" and "log" (`seterrcall`),
    "print". ArgumentError for any other. What NumPy computes (its scalars, foreign dtypes) is treated so as well."""
    before = geterr()
    given = {"divide": divide, "over": over, "under": under, "invalid": invalid}
    _graphc.set_float_modes(_word_with(_graphc.float_modes(), "seterr", all, given))
    _np.seterr(all, **given)
    return before


def geterrcall():
    """The handler of mode "call", or the object whose `write` mode "log" calls; None when there is none."""
    return _handlers[_graphc.float_modes() >> _CALL_SHIFT & _CALL_MASK]


def seterrcall(func):
    """Sets the handler of mode "call", `func(text, flag)`, or for mode "log" an object with a `write` method; returns the
    former one. ArgumentError for anything else."""
    if func is not None and not callable(func) and not callable(getattr(func, "write", None)):
        raise ArgumentError("seterrcall: a callable or an object with a write method is needed")
    before, word = geterrcall(), _graphc.float_modes()
    _graphc.set_float_modes(word & ~(_CALL_MASK << _CALL_SHIFT) | _handler_number(func) << _CALL_SHIFT)
    _np.seterrcall(func)
    return before


#: Where NumPy keeps how errors of its scalars, and of what else it computes, are treated.
_theirs = _np._core.umath._extobj_contextvar
_set_theirs, _reset_theirs, _get_theirs = _theirs.set, _theirs.reset, _theirs.get


@_functools.lru_cache(maxsize=256)
def _entered(before, given, theirs):
    """Our modes and NumPy's inside, by those outside and what is given."""
    modes = dict(zip(_ERRORS, given[1:]))
    return _word_with(before, "errstate", given[0], modes), _np._core.umath._make_extobj(all=given[0], **modes)


class errstate:  # noqa: N801
    """`with errstate(divide="ignore", call=None):` as in NumPy, also as a decorator. What is recorded inside is
    treated so, wherever it is computed."""

    __module__ = "graphc"

    def __init__(self, *, all=None, divide=None, over=None, under=None, invalid=None, **call):  # noqa: A002
        if call and call.keys() - {"call"}:
            raise TypeError(f"errstate() got an unexpected keyword argument '{next(iter(call.keys() - {'call'}))}'")
        self._given, self._call, self._is_used = (all, divide, over, under, invalid), call, False

    def __enter__(self):
        if self._is_used:
            raise TypeError("Cannot enter `np.errstate` twice.")
        self._is_used = True
        before, given, outside = _graphc.float_modes(), self._given, _get_theirs()
        try:
            word, theirs = _entered(before, given, outside)
        except TypeError:  # a mode that is no key
            word, theirs = _entered.__wrapped__(before, given, outside)
        self._before = before, _set_theirs(theirs)
        _graphc.set_float_modes(word)
        if self._call:
            try:
                seterrcall(self._call["call"])
            except BaseException:
                self.__exit__()
                raise

    def __exit__(self, *_):
        before, theirs = self._before
        _graphc.set_float_modes(before)
        _reset_theirs(theirs)

    def __call__(self, function):
        @_functools.wraps(function)
        def inner(*args, **keywords):
            with errstate(**dict(zip(("all", *_ERRORS), self._given)), **self._call):
                return function(*args, **keywords)

        return stands_for()(inner)


class named:  # noqa: N801
    """What is recorded inside is told under a name, whatever the functions that stand for it (`stands_for`) are called."""

    def __init__(self, name):
        with _lock:
            if name not in _names:
                _names.append(name)
        self._bits = _names.index(name) << _NAME_SHIFT

    def __enter__(self):
        self._before = _graphc.set_float_modes(_graphc.float_modes() | self._bits)

    def __exit__(self, *_):
        _graphc.set_float_modes(self._before)


def stands_for(name=""):
    """Makes a function of the package one that stands for what it records: errors there are reported at the caller's
    line, under `name` or the names of the operations. A name that begins with "=" is all that is said of an invalid
    operation (`told`)."""

    def mark(function):
        with _lock:
            if name not in _names:
                _names.append(name)
        _graphc.set_error_name(function, _names.index(name))
        return function

    return mark


def number_of(name):
    """The number of a name of `stands_for`."""
    return _names.index(name)


_ONLY_INVALID = 1 << _BITS * _ERRORS.index("invalid")


class quiet:  # noqa: N801
    """Nothing recorded inside is reported, but for what is `told`."""

    def __enter__(self):
        self._before = _graphc.set_float_modes(0)

    def __exit__(self, *_):
        _graphc.set_float_modes(self._before)


@stands_for()
def told(count):
    """`count / count`: a NaN for none, of which the function that it is computed for (`stands_for`) warns whatever `errstate` says."""
    before = _graphc.set_float_modes(_ONLY_INVALID)
    try:
        return count / count
    finally:
        _graphc.set_float_modes(before)


_FOLDER = _os.path.dirname(__file__) + _os.sep


def tell(text, category=RuntimeWarning):
    """Warns at the line that called the package."""
    frame = _sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    _warn(text, f"{frame.f_code.co_filename}:{frame.f_lineno}", category)


# Reports.

_SHORT = {"reduce": "reduce", "scan": "accumulate", "cast": "cast"}
# Registries of places that belong to no module.
_registries = {}


#: What _module_of found among so many modules, by file: a program that filters warnings out tells them again and again.
_modules = {}


def _module_of(file):
    main, count = _sys.modules.get("__main__"), len(_sys.modules)
    found = _modules.get(file)
    if found is None or found[1] != count:
        named = (module for module in [main, *list(_sys.modules.values())] if getattr(module, "__file__", None) == file)
        found = _modules[file] = next(named, main if file.startswith("<") else None), count
    return found[0]


def _warn(text, place, category=RuntimeWarning):
    file, _, line = place.rpartition(":")
    module = _module_of(file) if file else None
    if module is None:
        registry = _registries.setdefault(file, {})
    else:
        registry = vars(module).setdefault("__warningregistry__", {})
    # Without a name the warning would be dropped: code of exec(), of notebooks and of runpy belongs to no module.
    name = module.__name__ if module else file.removesuffix(".py") or "graphc"
    _warnings.warn_explicit(text, category, file or "graphc", int(line or 1), module=name, registry=registry)


def _report(error, flags, operation, word, place):
    mode = word >> _BITS * error & 7
    mode = "warn" if mode == _ONCE else _MODES[mode]
    name = _names[word >> _NAME_SHIFT] or _SHORT.get(operation)
    if not name:
        name = getattr(getattr(_graphc, operation, None), "__name__", operation)
    text = name[1:] if name.startswith("=") and error == _ERRORS.index("invalid") else f"{_TEXTS[error]} encountered in {name.lstrip('=')}"
    handler = _handlers[word >> _CALL_SHIFT & _CALL_MASK]
    if mode == "warn":
        _warn(text, place)
    elif mode == "raise":
        raise FloatingPointError(text)
    elif mode == "print":
        _sys.stderr.write(f"Warning: {text}\n")
    elif mode == "log":
        if not hasattr(handler, "write"):
            raise NameError(f"log specified for {_TEXTS[error]} (in {name}) but no object with write method found.")
        handler.write(f"Warning: {text}\n")
    else:
        if handler is None:
            raise NameError(f"python callback specified for {_TEXTS[error]} (in {name}) but no function found.")
        return handler, _TEXTS[error], flags
    return None


_LATER, _AT_ONCE, _NEVER, _ONE_TIME = range(4)
_TOLD_ONCE = ("default", "module", "once")


@_functools.lru_cache
def _is_ours(message):
    """Whether the pattern of a filter (None: of any message) is for one of the warnings that are told here."""
    if message is None:
        return True
    pattern = _re.compile(message, _re.IGNORECASE) if isinstance(message, str) else message
    ufuncs = [name for name in dir(_np) if isinstance(getattr(_np, name, None), _np.ufunc)]
    return any(pattern.match(f"{text} encountered in {name}") for text in _TEXTS for name in (*ufuncs, *_SHORT.values(), *_names))


def _heed(filters):
    """When warnings of a statement are wanted. At once, where one of Python's filters makes some of them errors
    (`simplefilter("error")`), or lets them pass while `catch_warnings(record=True)` records (`pytest.warns`): then operations are
    computed when they are recorded, as under `errstate(all="raise")`. Never, where the first filter that is for every
    RuntimeWarning ignores them and none before it is for some of them. The module of a line is not known beforehand. One time,
    where no filter shows what a line has been warned of before."""
    for_some = False
    shown = _ONE_TIME
    for action, message, category, module, line in filters:
        if not issubclass(RuntimeWarning, category):
            categories = category if isinstance(category, tuple) else (category,)
            for_some = for_some or any(issubclass(c, RuntimeWarning) for c in categories)
            continue
        for_all = message is None and module is None and line == 0
        if action == "ignore":
            if for_all:
                return shown if for_some else _NEVER
            for_some = True
            continue
        records = getattr(getattr(_warnings, "_showwarnmsg_impl", None), "__module__", "warnings") != "warnings"
        if (action == "error" or records) and _is_ours(message):
            return _AT_ONCE
        if action not in _TOLD_ONCE:
            shown = _LATER
        if for_all:
            return shown
        for_some = True
    return shown if _warnings.defaultaction in _TOLD_ONCE else _LATER


_graphc.set_float_error_handler(_report)
_graphc.set_warning_filters(_warnings, _heed)


# What was computed and never looked at is told at the end.
_atexit.register(_graphc.tell_float_errors)
