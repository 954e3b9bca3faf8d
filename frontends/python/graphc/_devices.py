"""Devices by name, and how results become values."""

import functools as _functools

from . import _graphc, _tree


class Device(str):
    """The name of a device ("cpu", "cuda:0", "opencl:0") with what is known of it: `description`, `usable`, `reason` (why not),
    `driver`, `memory` (bytes), `fp64`, `units`."""

    __slots__ = ("description", "usable", "reason", "driver", "memory", "fp64", "units")

    def __new__(cls, known):
        self = super().__new__(cls, known["name"])
        for key in cls.__slots__:
            setattr(self, key, known.get(key))
        return self


def devices(*, all=False):
    """The devices that can be used, the CPU first; with all=True also those that cannot, with the `reason`."""
    found = [Device(known) for known in _graphc.devices()]
    return [d for d in found if all or d.usable]


class device:
    """`with graphc.device("opencl"):` makes new arrays on that device, for this thread. Raises DeviceError naming the
    devices there are when the name is unknown."""

    __slots__ = ("name", "_previous")

    def __init__(self, name):
        self.name = name
        self._previous = []

    def __enter__(self):
        self._previous.append(_graphc.set_device(self.name))
        return self

    def __exit__(self, *_):
        _graphc.set_device(self._previous.pop())


def where_operands_are(function):
    """A function of the package whose own arrays (edges, zeros to join, places) lie where its first operand does."""

    @_functools.wraps(function)
    def run(*args, **kwargs):
        place = _graphc.elsewhere(*args, *kwargs.values()) if kwargs else _graphc.elsewhere(*args)
        if place is None:
            return function(*args, **kwargs)
        before = _graphc.set_device(place)
        try:
            return function(*args, **kwargs)
        finally:
            _graphc.set_device(before)

    _graphc.set_error_name(run, 0)  # floating-point errors go by what it calls
    return run


def looped(function, name):
    """A function that the extension computes at once in loops over small arrays, under a name of its own (`_graphc.numeric`)."""

    @_functools.wraps(function)
    def run(*args):
        made = _graphc.numeric(name, *args)
        return function(*args) if made is None else made

    _graphc.set_error_name(run, 0)
    return run


def default_device():
    """The name of the device on which this thread makes new arrays."""
    previous = _graphc.set_device(None)
    _graphc.set_device(previous)
    return previous if previous is not None else _graphc.full((), 0, None, None).device


def eval(*arrays):
    """Computes arrays (or nested lists, tuples and dicts of them) together, and returns when they are done. Values
    are also computed when they are looked at: printing, float(), NumPy conversion."""
    for x in arrays:
        if not _graphc.is_array(x):
            arrays = [x for x in _tree.leaves(arrays) if _graphc.is_array(x)]
            break
    _graphc.eval(arrays)


def synchronize(device=None):
    """Waits for the work of a device (None: of this thread's default device)."""
    _graphc.synchronize(device)


def explain(*arrays):
    """Why pending arrays compile into the kernels they do: text with one paragraph a kernel, and which arrays are computed already."""
    done = [i for i, x in enumerate(arrays) if _graphc.is_array(x) and not _graphc.pending(x)]
    lines = []
    for i in done:
        why = ", as single results of arrays of up to 2 MiB are where they are recorded (GRAPHC_LOOP_TURNS=never records them)"
        lines.append(f"array {i}: computed already{why if _graphc.is_value(arrays[i]) else ''}\n")
    pending = [x for i, x in enumerate(arrays) if i not in done]
    return "".join(lines) + (_graphc.explain(pending) if pending else "")


def cache_info():
    """Counters of this process as a dict: programs compiled, cache hits, kernels, launches, evaluations by reason."""
    return _graphc.counters()
