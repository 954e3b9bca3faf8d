"""PyTorch: "torch" runs operation by operation, "torch.compile" the compiled program, "torch.compile out=" the compiled
program that writes into an array given to it."""

from __future__ import annotations

import numpy as np

import programs
from contenders import Entry, Missing

_state: dict = {}


def start(threads: int) -> str:
    import torch

    torch.set_num_threads(threads)
    torch._dynamo.config.cache_size_limit = 64
    torch.set_grad_enabled(False)
    _state.update(torch=torch, threads=threads)
    return torch.__version__


def sum_axis(torch, x, axis):
    return torch.sum(x, dim=axis)


def cumsum(torch, x):
    return torch.cumsum(x, 0)


def sort(torch, x):
    return torch.sort(x).values


def softmax(torch, x):
    return torch.softmax(x, 1)


def layernorm(torch, x, weight, bias):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias, 1e-5)


def gelu(torch, x, bias):
    return torch.nn.functional.gelu(x + bias, approximate="tanh")


def transpose(torch, x):
    return x.T.contiguous()


def pi(torch, x, y):
    return 4 * torch.count_nonzero(torch.sqrt(x * x + y * y) < 1) / x.numel()


def pi_random(torch, n):
    return pi(torch, torch.rand(n), torch.rand(n))


def fourier(torch, x, odd, factor, step):
    series = torch.sum(torch.sin(odd[:, None] * x) * factor[:, None], dim=0)
    return series, (series[2:] - series[:-2]) / (2 * step)


def jacobi(torch, compiled, sweeps):
    @compiled
    def two_sweeps(a, b):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])

    def run(a):
        b = a.clone()
        for _ in range(sweeps // 2):
            two_sweeps(a, b)
        return a

    return run


def mandelbrot(torch, compiled, steps):
    @compiled
    def step(zr, zi, count, real, imaginary):
        inside = zr * zr + zi * zi < 4
        return (torch.where(inside, zr * zr - zi * zi + real, zr),
                torch.where(inside, 2 * zr * zi + imaginary, zi), count + inside)

    def run(real, imaginary):
        zr, zi = torch.zeros_like(real), torch.zeros_like(real)
        count = torch.zeros_like(real, dtype=torch.int32)
        for _ in range(steps):
            zr, zi, count = step(zr, zi, count, real, imaginary)
        return count

    return run


def network(name):
    def form(torch, x, *arrays):
        if name not in _state:
            import networks

            _state[name] = networks.with_weights(networks.NETWORKS[name](), arrays)
        return _state[name](x.permute(0, 3, 1, 2))  # channels last in memory, as it lies

    return form


FORMS = {f.__name__: f for f in (sum_axis, cumsum, sort, softmax, layernorm, gelu, transpose, pi, pi_random, fourier)}
# Long loops, whose step is compiled: compiled as one program they take minutes, and run slower.
LOOPS = {f.__name__: f for f in (jacobi, mandelbrot)}
FORMS.update({name: network(name) for name in ("resnet18", "mobilenet_v2")})


def _own_code(function, name: str):
    """What is compiled is kept, and looked for in each call, by code object: rows must not share one."""
    function.__code__ = function.__code__.replace(co_name=f"{function.__name__}_{name}")
    return function


def contenders(row, inputs) -> dict:
    torch = _state["torch"]
    form = FORMS.get(row.program) or getattr(programs, row.program, None)
    if form is None:
        raise Missing("not written with it")

    def function(*values):
        return form(torch, *values, **row.params)

    if row.program in _NETWORKS:
        function(*map(torch.from_numpy, (inputs[0][:1], *inputs[1:])))  # makes the layers outside of what is compiled
    own = row.program in programs.IN_PLACE
    arrays = [torch.from_numpy(x) for x in inputs]
    again = [x.clone() for x in arrays] if own else arrays
    if row.program in LOOPS:
        loop = LOOPS[row.program]
        function = loop(torch, lambda f: f, **row.params)
        compiled = loop(torch, torch.compile(dynamic=False), **row.params)
    else:
        compiled = torch.compile(_own_code(function, row.name), dynamic=False)
    found = {"torch": _entry(lambda: function(*arrays)), "torch.compile": _entry(lambda: compiled(*again))}
    if row.fresh:
        out = torch.empty(tuple(reversed(inputs[0].shape)) if row.program == "transpose" else inputs[0].shape,
                          dtype=arrays[0].dtype)

        def into(y, *values):
            y.copy_(function(*values))

        writing = torch.compile(_own_code(into, row.name), dynamic=False)

        def run():
            writing(out, *arrays)
            return out

        found["torch.compile out="] = _entry(run)
    return found


_NETWORKS = ("resnet18", "mobilenet_v2")


def _entry(run) -> Entry:
    return Entry(run, lambda r: [np.asarray(x) for x in (r if isinstance(r, tuple) else (r,))])
