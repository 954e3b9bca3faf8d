"""Whole Fourier transforms: steps along each axis, recorded once, kept for the next call."""

import collections
import threading
import weakref

from . import _fft_passes as _steps
from . import _fft_plan, _graphc
from ._jit import jit_whole

# Operations of a program. A short transform is one, so that it costs one call; long ones share programs with each other.
_WHOLE, _SHARED = 700, 330
_SLACK = 32
_KEPT, _KEPT_BYTES = 128, 1 << 28
# Few numbers are transformed on the host, until together, times the steps, they are so many that making programs has paid; where
# the host does not, operations on few numbers take less time than loading their program does.
_FIRST_CALLS, _FEW, _MANY = 8, 1 << 16, 1 << 23


class _Plan:
    """The tables of a length."""

    def __init__(self, n, dtype):
        self.n, self.dtype = n, dtype
        self.radices = _fft_plan.factors(n)
        self.passes = []
        if self.radices is None:
            self.length = _fft_plan.smooth_length(2 * n - 1)
            self.inner = _plan(self.length, dtype)
            self.chirp = _steps.Tables(dtype, *_fft_plan.chirp(n))
            self.convolver = _steps.Tables(dtype, *_fft_plan.convolver(n, self.length))
            return
        roots, s = _fft_plan.roots_of(n), 1
        for r in self.radices:
            m = n // (r * s)
            table = _steps.Tables(dtype, *_fft_plan.twiddles(roots, r, m, s)) if m > 1 else None
            self.passes.append((r, m, s, table))
            s *= r

    def steps(self, axis, halves=False):
        """Steps of the forward transform."""
        if self.radices is None:
            return [
                _steps.Chirp(axis, self.length, self.chirp, halves),
                *self.inner.steps(axis),
                _steps.Convolve(axis, self.convolver),
                *self.inner.steps(axis),
                _steps.Unchirp(axis, self.n, self.chirp),
            ]
        steps = [_steps.Pass(axis, *p, halves and not i) for i, p in enumerate(self.passes)]
        return steps or [_steps.Same(axis)]


_plans = weakref.WeakValueDictionary()


def _plan(n, dtype):
    found = _plans.get((n, dtype))
    if found is None:
        found = _plans[n, dtype] = _Plan(n, dtype)
    return found


def _real_steps(n, axis, dtype, whole):
    if n % 2:
        return [*_plan(n, dtype).steps(axis), _steps.Same(axis, None if whole else n // 2 + 1)]
    half = n // 2
    if half == 1:
        return _plan(2, dtype).steps(axis)
    c, s = _fft_plan.roots_of(n)(_fft_plan.np.arange(1, half))
    plan = _plan(half, dtype)
    if plan.radices == [half]:
        return [_steps.RealButterfly(axis, half, (c, s), whole)]
    return [*plan.steps(axis, halves=True), _steps.Unfold(axis, _steps.Tables(dtype, c, -s), whole)]


def _to_real_steps(n, axis, dtype):
    if n % 2:
        return [_steps.Mirror(axis, n), *_plan(n, dtype).steps(axis), _steps.Real(axis)]
    c, s = _fft_plan.roots_of(n)(_fft_plan.np.arange(1, n // 2))
    plan = _plan(n // 2, dtype)
    if plan.radices == [n // 2]:
        return [_steps.ToRealButterfly(axis, n // 2, (c, s))]
    fold = _steps.Fold(axis, n // 2, _steps.Tables(dtype, c, s))
    return [fold, *plan.steps(axis), _steps.Weave(axis)]


class _Chain:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, *values):
        for step in self.steps:
            values = step(*values)
        return values if len(values) > 1 else values[0]


class Transform:
    """A transform of `lengths` points along `axes`, counted from the end. kind: "complex" (both ways), "real" (real to
    complex along the last of the axes), "whole" (the same, with all frequencies) or "to_real" (the inverse). A call
    computes at once, so that it is not recorded each time; in a jitted function its operations are recorded like any
    others."""

    def __init__(self, kind, lengths, axes, dtype, inverse, scale):
        steps = []
        last = len(axes) - 1
        if kind in ("real", "whole"):
            steps += _real_steps(lengths[last], axes[last], dtype, kind == "whole")
        rest = range(last, -1, -1) if kind == "complex" else range(last - 1, -1, -1)
        for i in rest:
            steps += _plan(lengths[i], dtype).steps(axes[i])
        if kind == "to_real":
            ends = _to_real_steps(lengths[last], axes[last], dtype)
            if steps:
                ends[0].first = _steps.Ends(pairs=True, inverse=True)
            steps += ends
        turned = inverse and kind == "complex" or (kind == "to_real" and last > 0)
        if not getattr(steps[0], "halves", False):
            steps[0].first = _steps.Ends(inverse=turned)
        steps[-1].last = _steps.Ends(inverse=inverse and kind == "complex", scale=scale)
        self.steps = steps
        self.tables = list({id(t): t for step in steps for t in step.tables}.values())
        self.bytes = sum(t.bytes for t in self.tables)
        self.recorded = [_Chain(stage) for stage in self._stages()]
        self.stages = [jit_whole(chain, _WHOLE + _SLACK) for chain in self.recorded]
        self.calls = self.points = 0
        self.host, self.is_complex = None, kind != "to_real"
        self.devices = set()

    def _stages(self):
        stages, total = [], 0
        most = _WHOLE if sum(step.cost for step in self.steps) <= _WHOLE else _SHARED
        for step in self.steps:
            if not stages or total + step.cost > most:
                stages.append([])
                total = 0
            stages[-1].append(step)
            total += step.cost
        return stages

    def runner(self):
        """What a call runs: the jitted function itself when there is one; None while first calls are to come."""
        if self.points < _MANY:
            return self
        if self.calls < _FIRST_CALLS:
            return None
        return self.stages[0] if len(self.stages) == 1 else self

    def _on_host(self, x):
        """The transform on the host, or None where that has to be recorded."""
        if self.host is None:
            host = _graphc.FourierSteps()
            for step in self.steps:
                step.on_host(host)
            self.host = host
        return self.host(x, self.is_complex)

    def __call__(self, x):
        device = x.device
        if self.points < _MANY and not _graphc.is_tracing():
            self.points += x.size * len(self.steps)
            if self.points >= _MANY:
                quick.clear()  # whose next calls run programs
            made = self._on_host(x) if x.size <= _FEW and device == "cpu" else None
            if made is not None:
                return made
        if device not in self.devices and not _graphc.is_tracing():
            for table in self.tables:
                table.on(device)
            self.devices.add(device)
        stages = self.stages
        if self.calls < _FIRST_CALLS and x.size <= _FEW and device == "cpu" and not _graphc.is_tracing():
            stages = self.recorded
            self.calls += 1
        else:
            self.calls = _FIRST_CALLS
        values = stages[0](x)
        for stage in stages[1:]:
            values = stage(*values)
        if stages is self.recorded:
            _graphc.eval([values], "fft")
        return values


#: What calls without options run, by (function, dtype, length); never more than is kept below.
quick = {}
_transforms = collections.OrderedDict()
_lock = threading.Lock()


def transform(*key):
    """The transform of these arguments of Transform; the ones used last are kept, within a bound of their bytes."""
    found = _transforms.get(key)
    if found is not None:
        return found
    made = Transform(*key)
    with _lock:
        _transforms[key] = made
        total = sum(t.bytes for t in _transforms.values())
        while len(_transforms) > 1 and (len(_transforms) > _KEPT or total > _KEPT_BYTES):
            total -= _transforms.popitem(last=False)[1].bytes
            quick.clear()
    return made
