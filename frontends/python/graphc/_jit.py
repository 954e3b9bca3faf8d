"""`jit`: a function recorded once per structure of its arguments, then called without running its Python code.

The result is always what running the function would give. Where a recording cannot promise that (a branch on a value,
results that share memory, arguments that overlap while one is written) the function runs as it is: recorded anew at each
call, its kernels still compiled once.
"""

import collections
import functools
import struct
import types
import weakref

import numpy as np

from . import _graphc, _jit_draws, _jit_numbers, _tree
from ._creation import asarray
from ._devices import device as _device
from ._numerics import numerics as _numerics
from .errors import ArgumentError, PerformanceWarning, TraceError, warn

_Array = _graphc.Array
_RETRACE_LIMIT = 8  # recordings per value of Python scalars that the function needs the values of
_MOST_ANSWERS = 8  # recordings more for other answers to comparisons of numbers
_TRACE_LIMIT = 256  # recordings kept per function
_LOOKS_AGAIN = 64  # calls of what cannot be recorded
_STATIC = (str, bytes, type, type(Ellipsis), slice, np.dtype, complex)
_pack = struct.Struct("d").pack
_live = weakref.WeakSet()
before_trace = []  # called, outside of it, before each recording
_disabled = 0

Cost = collections.namedtuple("Cost", "argument_bytes output_bytes peak_bytes kernels copies")
CacheInfo = collections.namedtuple("CacheInfo", "traces eager programs bound")


class disable_jit:
    """`with graphc.disable_jit():` runs jitted functions as plain Python (still lazily)."""

    def __enter__(self):
        global _disabled
        _disabled += 1
        for jitted in list(_live):
            jitted.clear()  # forget the fast path; recordings stay
        return self

    def __exit__(self, *_):
        global _disabled
        _disabled -= 1


class _Recording:
    """One recorded structure: the compiled Function and how its outputs become the return value."""

    __slots__ = ("function", "structure", "plan", "mutates", "views", "unique", "evaluate", "returns_numbers", "numbers", "plain", "draws", "others")

    def __init__(self, function, structure, plan, mutates, views, unique, evaluate, returns_numbers, numbers, plain, draws):
        self.function = function
        self.structure = structure  # of the return value
        self.plan = plan  # per leaf: ("out", i), ("open", (rows, count)), ("arg", i) or ("value", v)
        self.mutates = mutates  # it writes to arguments
        self.views = views  # it writes to arguments or returns parts of them
        self.unique = unique  # number of outputs
        self.evaluate = evaluate  # as Jit.bind takes it
        self.returns_numbers = returns_numbers  # after the arrays
        self.numbers = numbers
        self.plain = plain  # calls run the function itself: its rows that masks choose are fewer when they are counted
        self.draws = draws  # of NumPy's, which each call makes again
        self.others = []  # of the same structure, where comparisons of numbers had other answers

    def takes(self, given):
        """Of the open numbers of a call those of the programs and of the result; None where they belong to another recording."""
        if self.evaluate:
            return self.evaluate.evaluate(given)
        return [given[i] for i in self.function.variables]

    def rebuild(self, outputs, arguments):
        if self.structure is _tree.LEAF:
            how, v = self.plan[0]
            return outputs[v] if how == "out" else _leaf(how, v, outputs, arguments, {})
        opened = {}
        values = [outputs[v] if how == "out" else _leaf(how, v, outputs, arguments, opened) for how, v in self.plan]
        return _tree.unflatten(self.structure, iter(values))

    def fast_unflatten(self):
        """What Jit.bind needs to build the return value: the number of the argument that it is, a tuple of what makes it
        from outputs and arguments where some of it are arguments, else of the outputs alone."""
        if self.structure == _tree.LEAF and self.plan[0][0] == "arg" and not self.returns_numbers:
            return self.plan[0][1]
        if [p for p in self.plan if p[0] == "arg"]:
            return (self.rebuild,)
        in_order = self.plan == [("out", i) for i in range(self.unique)]
        if in_order and self.structure == _tree.LEAF:
            return None
        if in_order and isinstance(self.structure, tuple) and self.structure[0] == "dict" and set(self.structure[2:]) == {_tree.LEAF}:
            keys = self.structure[1]
            return lambda outputs: dict(zip(keys, outputs))
        if in_order and isinstance(self.structure, tuple) and all(s == _tree.LEAF for s in self.structure[1:]):
            if self.structure[0] in ("tuple", "list"):
                return tuple if self.structure[0] == "tuple" else list
        return lambda outputs: self.rebuild(outputs, ())


def _leaf(how, v, outputs, arguments, opened):
    """What a plan says of one leaf that is no output. `opened`: arrays of open sizes by their parts, one object each."""
    if how == "open":
        if v not in opened:
            opened[v] = _graphc.from_open_parts(*[outputs[part] for part in v])
        return opened[v]
    return arguments[v] if how == "arg" else v


class _Call:
    """The arguments of one call, taken apart: `arrays` (distinct), `foreign` (NumPy's arrays, by the number of the array made of
    each), `values` (the other leaves), `open` (which of them are numbers that the recording takes any value of), `generators` (NumPy's bit
    generators, distinct), `key` (all that a recording depends on)."""

    __slots__ = (
        *("arrays", "key", "scalar_key", "structure", "leaves", "places", "static", "aliased", "guards", "foreign"),
        *("values", "scalars", "open", "generators"),
    )

    def leave_open(self, places):
        self.open = places
        scalars = [_OPEN if i in places else s for i, s in enumerate(self.scalars)] if places else self.scalars
        self.key = (self.scalar_key, tuple(scalars))

    def numbers(self):
        return [self.values[i] for i in self.open]


_OPEN = object()


class _Seen:
    """The Python scalars of the calls that differ in nothing else: their first values, the places of numbers that have had
    another, and of those whose values decide what is recorded."""

    __slots__ = ("first", "open", "needed")

    def __init__(self, scalars):
        self.first = scalars
        self.open = ()
        self.needed = set()

    def learn(self, call):
        changed = {i for i, s in enumerate(call.scalars) if s != self.first[i] and type(call.values[i]) in (int, float)}
        self.open = tuple(sorted((changed | set(self.open)) - self.needed))


class _State:
    """What a jitted function remembers. It does not know the callable that Python sees, so no reference cycle arises."""

    def __init__(self, fn, static_argnums, static_argnames, device, fullgraph, numerics=None):
        self.fn = fn
        self.run = fn if numerics is None else _numerics(numerics)(fn)
        self.static_argnums = static_argnums
        self.static_argnames = static_argnames
        self.device = device
        self.fullgraph = fullgraph
        self.program_nodes = {}  # how many operations a program holds, where that is not the usual number
        self.recordings = {}
        self.values_seen = collections.Counter()
        self.numbers = {}  # by scalar_key: _Seen
        self.eager_calls = 0
        self.eager_reason = None
        self.refused = set()  # what _glance finds in calls that cannot be recorded
        self.jitted = None  # weak reference
        self.guard_names = None  # found at the first call, when the globals exist

    # -- calling -------------------------------------------------------------------------------------------------

    def slow(self, args, kwargs):
        """Every call that the fast path of the extension does not know."""
        if _disabled or _graphc.is_tracing():
            return self.run(*args, **kwargs)
        if self.device is not None:
            with _device(self.device):
                return self._call(args, kwargs)
        # The function itself is right in any case: what else decides of the recording is looked at in some of the calls.
        if self.refused and not kwargs and self.eager_calls % _LOOKS_AGAIN and self._glance(args) in self.refused:
            self.eager_calls += 1
            return self.run(*args)
        return self._call(args, kwargs)

    def _glance(self, args):
        """What tells calls with arrays of ours and numbers apart; None of others."""
        found = []
        for a in args:
            if type(a) is _graphc.ndarray:
                found += a.dtype, a.shape, a.contiguous
            elif type(a) in (int, float, bool):
                found += type(a), a
            else:
                return None
        return tuple(found)

    def _call(self, args, kwargs):
        call = self._take_apart(args, kwargs)
        recording = self.recordings.get(call.key)
        if recording is None:
            recording = self._record(call)
        if recording and recording.plain:
            self._bind(call, recording, args, kwargs)
            return self._plain(call)
        numbers = ()
        if recording and recording.numbers:
            recording, numbers = self._answering(call, recording)
        if recording is False and not kwargs and not any(call.static) and (glance := self._glance(args)) is not None:
            if len(self.refused) >= _TRACE_LIMIT:
                self.refused.clear()
            self.refused.add(glance)
        if recording is False or (call.aliased and recording.mutates):
            return self._eager(call)
        updated = [i for i in recording.function.updates if i in call.foreign] if recording.mutates and call.foreign else ()
        for i in updated:
            if not call.foreign[i].flags.writeable:
                raise ValueError("assignment destination is read-only")
        taken = len(numbers) - recording.returns_numbers
        try:
            outputs = recording.draws.call(recording.function, call.arrays, list(numbers[:taken]), call.generators)
        except TraceError:  # nothing ran: an update would reach another array of this call, or a number has no place
            return self._eager(call)
        if updated:
            for i in updated:
                np.copyto(call.foreign[i], np.asarray(call.arrays[i]))
        elif not recording.draws.steps:
            self._bind(call, recording, args, kwargs)
        return recording.rebuild(outputs, [*call.arrays, *numbers[taken:]])

    def _answering(self, call, first):
        """Of recordings that differ in what their comparisons answered, the one for this call's numbers, and the numbers that it
        takes; False where the plain function has to meet them. `call` is changed where its numbers are needed from now on."""
        given, needed = call.numbers(), set()
        for recording in (first, *first.others):
            numbers = recording.takes(given)
            if numbers is not None:
                return recording, numbers
            try:
                places = recording.numbers.undecided(given)
            except ArithmeticError:  # which the function meets
                places = ()
            if not places:
                return False, ()
            needed |= places
        if len(first.others) < _MOST_ANSWERS:
            try:
                recording = self._trace(call, _jit_numbers.Numbers(given))
                first.others.append(recording)
                return recording, recording.takes(given)
            except Exception:  # what is the user's is raised again below
                pass
        seen = self.numbers[call.scalar_key]
        seen.needed |= {call.open[i] for i in needed}
        seen.learn(call)
        call.leave_open(seen.open)
        recording = self.recordings.get(call.key) or self._record(call)
        return self._answering(call, recording) if recording and recording.numbers else (recording, ())

    def _eager(self, call):
        self.eager_calls += 1
        return self._plain(call)

    def _plain(self, call):
        result = self._run(call, call.arrays)
        for i, leaf in call.foreign.items():
            now = np.asarray(call.arrays[i])
            if not np.array_equal(leaf, now, equal_nan=now.dtype.kind in "fc"):
                np.copyto(leaf, now)
        return result

    def _bind(self, call, recording, args, kwargs):
        jitted = self.jitted and self.jitted()
        if jitted is None or self._guards() != call.guards:  # the call itself rebound one
            return
        positions, names = call.static
        if call.open:
            marks = {i: _graphc.Number(call.values[i], place) for place, i in enumerate(call.open)}
            values = iter([marks.get(i, v) for i, v in enumerate(call.values)])
            leaves = [leaf if how == "array" else next(values) for leaf, (how, _) in zip(call.leaves, call.places)]
            args, named = self._arguments(call, leaves)
            kwargs = {k: named[k] for k in kwargs}
        guards = [(self.fn.__globals__, name) if where == "global" else (self.fn.__closure__[name], None) for where, name in self.guard_names]
        jitted.bind(
            recording.function,
            recording.fast_unflatten(),
            recording.views,
            args,
            kwargs,
            call.arrays,
            (set(positions), set(names)),
            guards,
            self.device,
            self.run if recording.plain else None,
            recording.evaluate,
        )

    def _run(self, call, arrays, numbers=None):
        """The function itself, on the given arrays in place of the call's, and numbers by their places among other leaves."""
        values = iter(call.values)
        if numbers:
            values = iter([numbers.get(i, v) for i, v in enumerate(call.values)])
        args, kwargs = self._arguments(call, [arrays[p] if how == "array" else next(values) for how, p in call.places])
        return self.run(*args, **kwargs)

    def _arguments(self, call, leaves):
        dynamic_args, dynamic_kwargs = _tree.unflatten(call.structure, iter(leaves))
        positions, names = call.static
        args = list(dynamic_args)
        for position in sorted(positions):
            args.insert(position, positions[position])
        return tuple(args), {**dynamic_kwargs, **names}

    # -- arguments -----------------------------------------------------------------------------------------------

    def _split(self, args, kwargs):
        """(dynamic args, dynamic kwargs, static by position, static by name)."""
        numbers = [n % len(args) if -len(args) <= n < len(args) else None for n in self.static_argnums]
        numbers = [n for n in numbers if n is not None]
        positions = {n: args[n] for n in numbers}
        names = {n: kwargs[n] for n in self.static_argnames if n in kwargs}
        dynamic = tuple(a for i, a in enumerate(args) if i not in positions)
        return dynamic, {k: v for k, v in kwargs.items() if k not in names}, positions, names

    def _take_apart(self, args, kwargs):
        call = _Call()
        if self.static_argnums or self.static_argnames:
            dynamic_args, dynamic_kwargs, positions, names = self._split(args, kwargs)
        else:
            dynamic_args, dynamic_kwargs, positions, names = args, kwargs, {}, {}
        call.static = (positions, names)
        call.leaves = []
        call.structure = _tree.flatten((dynamic_args, dynamic_kwargs), call.leaves)
        call.arrays, call.places, call.foreign = [], [], {}
        call.values, call.scalars, call.generators = [], [], []
        seen, kinds = {}, []
        for leaf in call.leaves:
            if isinstance(leaf, (_Array, np.ndarray, np.generic)):
                place = seen.get(id(leaf))
                if place is None:
                    place = seen[id(leaf)] = len(call.arrays)
                    x = asarray(leaf)
                    if self.device is not None:
                        x = x.to_device(self.device)
                    if isinstance(leaf, np.ndarray):
                        call.foreign[len(call.arrays)] = leaf
                    call.arrays.append(x)
                    kinds.append((x.dtype, x.shape, x.device))
                call.places.append(("array", place))
                kinds.append(place)
                continue
            call.places.append(("value", leaf))
            kinds.append(type(leaf))
            call.values.append(leaf)
            stream = getattr(leaf, "_stream", None) if isinstance(leaf, (np.random.Generator, np.random.RandomState)) else None
            call.scalars.append(self._scalar_key(leaf) if stream is None else _placed(stream, call.generators))
        call.aliased = _aliased(call.arrays)
        try:
            static = (tuple(positions.items()), tuple(sorted(names.items())))
            hash(static)
        except TypeError:
            bad = next(v for v in (*positions.values(), *names.values()) if not _hashable(v))
            raise TraceError(f"jit: a static argument must be hashable, got {type(bad).__name__}") from None
        call.guards = self._guards()
        contiguous = tuple([x.contiguous for x in call.arrays])
        outer = (call.structure, tuple(kinds), contiguous, static, call.guards, _default_device(), _graphc.recording_modes())
        call.scalar_key = outer
        known = self.numbers.get(outer)
        call.leave_open(known.open if known else ())
        return call

    def _scalar_key(self, leaf):
        kind = type(leaf)
        if kind is float:
            return _pack(leaf)  # tells -0.0 from 0.0 and finds NaN again
        if kind in (int, bool) or isinstance(leaf, _STATIC) or (callable(leaf) and _hashable(leaf)):
            return leaf
        if isinstance(leaf, (int, float)):
            return (kind, leaf)
        raise TraceError(
            f"jit: cannot trace an argument of type {kind.__name__}; pass arrays, Python scalars or nested lists, tuples "
            f"and dicts of them, or name it in static_argnums/static_argnames of {_name(self.fn)}"
        )

    def _guards(self):
        """Identities of the outer values the function's own code names: rebinding one makes a new recording."""
        if self.guard_names is None:
            self.guard_names = _guarded_names(self.fn)
        found = []
        fn = self.fn
        for where, name in self.guard_names:
            if where == "global":
                value = fn.__globals__.get(name)
            else:
                value = _jit_numbers.content(fn.__closure__[name])
            found.append((type(value), self._scalar_key(value)) if type(value) in (int, float, bool, str) else _Identity(value))
        return tuple(found)

    # -- recording -----------------------------------------------------------------------------------------------

    def _record(self, call):
        """Records the function for this structure; False when it has to run as it is."""
        self.values_seen[call.scalar_key] += 1
        if call.key[1] and self.values_seen[call.scalar_key] > _RETRACE_LIMIT:
            self.eager_reason = f"more than {_RETRACE_LIMIT} different values of its Python scalar arguments"
            return False
        if len(self.recordings) >= _TRACE_LIMIT:
            self.recordings.pop(next(iter(self.recordings)))
        if recording := self._record_open(call):
            return recording
        try:
            recording = self._trace(call)
        except TraceError as error:
            if self.fullgraph:
                raise self._refusal(error) from None
            self._say_eager(str(error))
            recording = False
        self.recordings[call.key] = recording
        return recording

    def _record_open(self, call):
        """A recording that takes any value of the numbers that calls have differed in; None where there are none whose values
        the function can do without. `call` is changed accordingly."""
        seen = self.numbers.setdefault(call.scalar_key, _Seen(call.scalars))
        seen.learn(call)
        while seen.open and not _jit_numbers.asks_for_types(self.fn):
            call.leave_open(seen.open)
            recording = self.recordings.get(call.key)
            if recording:
                return recording
            numbers = _jit_numbers.Numbers(call.numbers())
            try:
                recording = self.recordings[call.key] = self._trace(call, numbers)
                return recording
            except Exception:  # what is the user's is raised again without open numbers
                seen.needed |= {call.open[i] for i in numbers.needed} or set(call.open)
                seen.learn(call)
        call.leave_open(())
        return None

    def _refusal(self, error):
        reason = str(error).removesuffix(f" [{error.code}]")
        hint = "use graphc.where for a choice, static_argnames for what decides the structure, or drop fullgraph=True"
        return TraceError(f"jit: {_name(self.fn)} cannot be recorded as a whole: {reason}; {hint}", error.where)

    def _say_eager(self, reason):
        if self.eager_reason != reason:
            self.eager_reason = reason
            warn(f"jit: {_name(self.fn)} is recorded anew at each call: {reason}", PerformanceWarning)

    def trace(self, args, kwargs):
        """A recording without a call (for lower, explain and export); raises TraceError where jit would fall back."""
        call = self._take_apart(args, kwargs)
        call.leave_open(())  # what is shown has the numbers in it
        recording = self.recordings.get(call.key)
        return recording or self._trace(call)

    def _trace(self, call, numbers=None):
        """`numbers`: those that the call leaves open; they refuse by TraceError, or name those that are needed."""
        arrays = call.arrays
        if call.aliased:
            arrays = [_graphc.full(x.shape, 0, x.dtype, x.device) for x in arrays]
        for prepare in before_trace:
            prepare()
        trace, placeholders = _graphc.begin_trace(arrays)
        returned, draws = [], _jit_draws.Draws(call.generators)
        try:
            if numbers:
                numbers.begin()
            with draws:
                result = self._run(call, placeholders, dict(zip(call.open, numbers.given)) if numbers else None)
            leaves = []
            structure = _tree.flatten(result, leaves)
            plan, outputs = _plan_outputs(leaves, placeholders, numbers, returned)
            if numbers and numbers.needed:  # the function caught it
                raise TraceError(_jit_numbers.NEEDED)
            function = _graphc.end_trace(trace, outputs, **self.program_nodes)
        except BaseException:
            _graphc.abort_trace(trace)
            raise
        mutates = bool(function.updates_arguments)
        views = mutates or any(_shares_with(x, placeholders) for x in outputs)
        if views and not all(x.contiguous for x in call.arrays):
            # A reshape of a strided view is a copy; of its stand-in it was a view.
            raise TraceError("it updates or returns parts of an argument that is not contiguous")
        evaluate = None
        if numbers and (numbers.steps or returned):
            evaluate = numbers.evaluator([*function.variables, *returned])
        plain = not self.fullgraph and function.runs_better_unrecorded and not draws.steps
        return _Recording(function, structure, plan, mutates, views, len(outputs), evaluate, len(returned), numbers, plain, draws)


class _Identity:
    """Compares by identity and keeps its object alive, so that an id is never reused while a recording refers to it."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is _Identity and self.value is other.value

    def __hash__(self):
        return id(self.value)


def _plan_outputs(leaves, placeholders, numbers=None, returned=()):
    """How each returned leaf is found again: a fresh output, an argument handed back, or a plain value. Numbers of the call, or
    computed of them, follow the arrays; their places are appended to `returned`."""
    plan, outputs, known, opened = [], [], {}, {}

    def output(leaf):
        if id(leaf) not in known:
            known[id(leaf)] = len(outputs)
            outputs.append(leaf)
        return known[id(leaf)]

    arguments = {id(p): i for i, p in enumerate(placeholders)}
    for leaf in leaves:
        if numbers and type(leaf) is _jit_numbers.Traced:
            plan.append(("arg", len(placeholders) + len(returned)))
            returned.append(leaf.place)
        elif not _graphc.is_array(leaf):
            plan.append(("value", leaf))
        elif id(leaf) in arguments:
            plan.append(("arg", arguments[id(leaf)]))
        elif not _graphc.is_traced(leaf):
            plan.append(("value", leaf))  # an outer array, handed through
        elif _graphc.is_open(leaf):
            if id(leaf) not in opened:
                opened[id(leaf)] = tuple(output(part) for part in _graphc.open_parts(leaf))
            plan.append(("open", opened[id(leaf)]))
        else:
            plan.append(("out", output(leaf)))
    # Views of arguments come back as views; two results that share a new array would come back apart.
    fresh = [x for x in outputs if not _shares_with(x, placeholders)]
    if _aliased(fresh):
        raise TraceError("two of its results share memory")
    return plan, outputs


def _shares_with(x, others):
    return any(_graphc.shares_storage(x, y) for y in others)


def _aliased(arrays):
    return any(_shares_with(x, arrays[:i]) for i, x in enumerate(arrays))


def _placed(generator, known):
    """The place of a bit generator among those of a call."""
    if not any(generator is g for g in known):
        known.append(generator)
    return "generator", next(i for i, g in enumerate(known) if g is generator)


def _hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _name(fn):
    return getattr(fn, "__qualname__", None) or repr(fn)


def _guarded_names(fn):
    """Globals and closure cells of `fn` that hold data: everything that is not a module and cannot be called."""
    code = getattr(fn, "__code__", None)
    if code is None:
        return ()
    found = []
    for name in code.co_names:
        if name in fn.__globals__ and _is_data(fn.__globals__[name]):
            found.append(("global", name))
    for i, cell in enumerate(fn.__closure__ or ()):
        if _is_data(_jit_numbers.content(cell)):
            found.append(("cell", i))
    return tuple(found)


def _is_data(value):
    return not callable(value) and not isinstance(value, types.ModuleType)


def _default_device():
    previous = _graphc.set_device(None)
    _graphc.set_device(previous)
    return previous


def forget_all():
    """Has all functions recorded anew: what they were recorded with has changed."""
    for jitted in list(_live):
        jitted.clear_cache()


class Lowered:
    """A recorded function, not called: `as_text(stage)` shows it at one level of the compiler."""

    STAGES = ("graph", "kernel", "schedule", "plan", "lower", "llvm", "asm", "opencl", "spirv", "ptx")

    def __init__(self, function):
        self._function = function

    def as_text(self, stage="graph"):
        """The text after a stage: graph, kernel, schedule, plan, lower, llvm, asm or opencl ("mlir" means graph)."""
        stage = "graph" if stage == "mlir" else stage
        if stage not in self.STAGES:
            raise ArgumentError(f"as_text: {stage!r} is not a stage; there are {', '.join(self.STAGES)}")
        return self._function.print_stage(stage)

    def cost(self):
        """What one call takes: bytes of the arguments, of what it returns or writes back, the most bytes alive
        together (arguments included; nobody else looks at the old values of those it updates), and how many kernels start and
        whole buffers are copied."""
        return Cost(*self._function.cost())

    def explain(self):
        """Which kernels there are and why each is separate."""
        return self._function.explain()


class Jitted(_graphc.Jit):
    """A jitted function. Calling it gives what the plain function gives; `fn` is that function."""

    def __init__(self, state):
        super().__init__(state.slow, asarray)
        self._state = state
        self.fn = state.fn
        state.jitted = weakref.ref(self)
        functools.update_wrapper(self, state.fn)
        _live.add(self)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self):
        return f"<graphc.jit of {_name(self.fn)}>"

    def lower(self, *args, **kwargs):
        """Records the function for these arguments (arrays or `graphc.spec`s) without running it; see `Lowered`.
        Raises TraceError when it cannot be recorded as a whole."""
        from ._export import from_specs

        state = self._state
        if state.device is None:
            return Lowered(state.trace(from_specs(args), from_specs(kwargs)).function)
        with _device(state.device):
            return Lowered(state.trace(from_specs(args), from_specs(kwargs)).function)

    def explain(self, *args, **kwargs):
        """Text: the kernels of a call with these arguments, why each is separate, and whether calls are recorded
        once or anew each time."""
        state = self._state
        try:
            text = self.lower(*args, **kwargs).explain()
        except TraceError as error:
            text = f"not recorded as a whole: {error}"
        info = self.cache_info()
        lines = [f"{_name(self.fn)}: {info.traces} recordings, {info.programs} programs"]
        if state.eager_calls:
            lines.append(f"{state.eager_calls} calls ran as plain Python: {state.eager_reason}")
        if any(r and r.plain for r in state.recordings.values()):
            lines.append("calls with large arrays run the function itself: what masks choose takes less time once it is counted")
        return "\n".join([*lines, text])

    def cache_info(self):
        """CacheInfo(traces: recordings made, eager: calls run as plain Python, programs: programs of the recordings,
        bound: signatures that the fast path knows)."""
        recordings = [r for first in self._state.recordings.values() if first for r in (first, *first.others)]
        programs = sum(r.function.program_count for r in recordings)
        return CacheInfo(len(recordings), self._state.eager_calls, programs, self.size)

    def clear_cache(self):
        """Forgets all recordings (compiled kernels stay in graphc's cache)."""
        self.clear()
        self._state.recordings.clear()
        self._state.values_seen.clear()
        self._state.numbers.clear()
        self._state.eager_calls = 0
        self._state.refused.clear()
        self._state.eager_reason = None


def jit(fn=None, /, *, static_argnums=(), static_argnames=(), device=None, fullgraph=False, numerics=None):
    """Makes a function that is recorded once per structure of its arguments and then called without its Python code.

    Arguments and results are arrays, Python scalars and None in nested lists, tuples and dicts. Shapes are part of the
    recording but not of the compiled kernels: another size records again and compiles nothing. In-place updates of
    arguments, NumPy's arrays among them, and of outer arrays reach those arrays, as without jit; outer arrays are read at
    each call.

    Python numbers are constants of a recording, until calls differ in one: from then on it is an argument of the compiled
    kernels, and what Python computes of it is computed at each call. Where the function asks for its value (a size, an
    exponent, `math.sqrt`), each value is recorded, up to eight of them; others run as
    plain Python; where it compares numbers there is a recording for each way that comes out. So is where it, or a
    function that it names, asks for a `type`.

    static_argnums, static_argnames: arguments that are part of the structure by value (hashable).
    device: where the function runs; arguments are moved there.
    fullgraph: raise TraceError, naming the line, when the value of an array is needed while recording. By default the
    function then runs as plain Python at each call (recorded lazily), after a PerformanceWarning.
    numerics: "exact" or "fast", for what the function records (`graphc.numerics`; ArgumentError for another level). By
    default the caller's.

    >>> import graphc as gc
    >>> @gc.jit
    ... def f(x, w):
    ...     return gc.sum(x * w, axis=1)
    >>> f(gc.ones((2, 3)), gc.arange(3.0))
    array([3., 3.])
    """
    if fn is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            device=device,
            fullgraph=fullgraph,
            numerics=numerics,
        )
    if not callable(fn):
        raise TraceError(f"jit: a function is needed, got {type(fn).__name__}")
    if isinstance(fn, Jitted):
        fn = fn.fn
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    numbers, names = _complete_statics(fn, numbers, names)
    return Jitted(_State(fn, numbers, names, device, fullgraph, numerics))


def jit_whole(fn, nodes):
    """`fn` jitted, of up to `nodes` operations, as one program; for the package's own functions."""
    state = _State(fn, (), (), None, True)
    state.program_nodes = {"program_nodes": nodes}
    return Jitted(state)


def _complete_statics(fn, numbers, names):
    """A parameter named by one of the two is meant by both: it may be passed either way."""
    if not numbers and not names:
        return numbers, names
    import inspect

    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return numbers, names
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    known = {p.name for p in parameters}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for name in names:
            if name not in known:
                raise ArgumentError(f"jit: static_argnames {name!r} is no parameter of {_name(fn)}{inspect.signature(fn)}")
    all_names = set(names) | {positional[n] for n in numbers if -len(positional) <= n < len(positional)}
    all_numbers = set(n for n in numbers if n >= len(positional) or n < 0)
    all_numbers |= {positional.index(n) for n in all_names if n in positional}
    all_numbers = {n if n >= 0 or not positional else n % len(positional) for n in all_numbers}
    return tuple(sorted(all_numbers)), tuple(sorted(all_names))
