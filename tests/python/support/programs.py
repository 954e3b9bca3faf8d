"""Random programs of views, in-place updates and arithmetic, run on NumPy and on graphc in step.

A program is a list of steps over a pool of integer arrays; a step either makes a new pool entry (a view or a value) or
updates one in place. Views of views of views share memory, so an update must reach exactly the entries NumPy says.
"""

import random

import numpy as np


def random_shape(rng):
    return tuple(rng.choice((1, 2, 3, 4, 6)) for _ in range(rng.choice((1, 2, 2, 3))))


def random_slices(rng, shape):
    """A basic index: slices with any step, integers, new axes, an ellipsis."""
    index = []
    for size in shape:
        kind = rng.random()
        if kind < 0.15 and size > 0:
            index.append(rng.randrange(-size, size))
        elif kind < 0.75:
            step = rng.choice((1, 1, 1, 2, 3, -1, -2))
            bounds = [rng.choice((None, rng.randrange(-size - 1, size + 2))) for _ in range(2)]
            index.append(slice(*bounds, step))
        else:
            index.append(slice(None))
    if rng.random() < 0.15:
        index.insert(rng.randrange(len(index) + 1), None)
    if rng.random() < 0.15 and index and all(isinstance(i, slice) and i == slice(None) for i in index[-1:]):
        index[-1] = Ellipsis
    return tuple(index)


def factors(rng, count):
    """A random shape of `count` elements."""
    shape, rest = [], count
    for d in (2, 3, 4, 6):
        if rest > 1 and rest % d == 0 and rng.random() < 0.6:
            shape.append(d)
            rest //= d
    shape.append(rest)
    rng.shuffle(shape)
    return tuple(shape)


class Program:
    """Steps drawn with the shapes seen on the NumPy side; `run(xp)` replays them on any namespace."""

    def __init__(self, seed, length=24):
        rng = random.Random(seed)
        self.seed = seed
        self.sources = [
            np.arange(int(np.prod(s))).reshape(s) * 7 - 20 for s in (random_shape(rng) for _ in range(2))
        ]
        self.steps = []
        pool = [s.copy() for s in self.sources]
        while len(self.steps) < length:
            step = self._draw(rng, pool)
            if step is not None:
                self.steps.append(step)
                execute(np, pool, step)

    def _draw(self, rng, pool):
        target = rng.randrange(len(pool))
        x = pool[target]
        kind = rng.choice(("slice", "slice", "reshape", "transpose", "value", "scalar", "set", "set", "inplace", "inplace", "self"))
        if kind == "slice":
            return ("slice", target, random_slices(rng, x.shape))
        if kind == "reshape":
            return ("reshape", target, factors(rng, x.size)) if x.size else None
        if kind == "transpose":
            axes = list(range(x.ndim))
            rng.shuffle(axes)
            return ("transpose", target, tuple(axes))
        if kind == "value":
            others = [i for i, y in enumerate(pool) if compatible(x.shape, y.shape)]
            return ("value", target, rng.choice(others), rng.choice(("add", "sub", "mul")))
        if kind == "scalar":
            return ("scalar", target, rng.randrange(-3, 4))
        others = [i for i, y in enumerate(pool) if fits(y.shape, x.shape)]
        if kind == "set":
            index = random_slices(rng, x.shape)
            region = x[index].shape
            others = [i for i, y in enumerate(pool) if fits(y.shape, region)]
            if others and rng.random() < 0.7:
                return ("set", target, index, rng.choice(others))
            return ("setscalar", target, index, rng.randrange(100))
        if kind == "self":
            if x.ndim == 0 or x.shape[0] < 2:
                return None
            return ("shift", target, rng.choice((1, -1)))
        return ("inplace", target, rng.choice(others), rng.choice(("add", "sub"))) if others else None

    def run(self, xp, arrays, after_step=None):
        pool = list(arrays)
        for number, step in enumerate(self.steps):
            execute(xp, pool, step)
            if after_step:
                after_step(number, step, pool)
        return pool

    def __str__(self):
        return f"seed {self.seed}:\n" + "\n".join(f"  {i}: {s}" for i, s in enumerate(self.steps))


def compatible(a, b):
    try:
        return int(np.prod(np.broadcast_shapes(a, b), dtype=int)) <= 2000
    except ValueError:
        return False


def fits(value, region):
    """Whether a value of shape `value` can be assigned to `region`."""
    try:
        return np.broadcast_shapes(value, region) == tuple(region)
    except ValueError:
        return False


def execute(xp, pool, step):
    kind, x = step[0], pool[step[1]]
    if kind == "slice":
        pool.append(xp.asarray(x[step[2]]))  # NumPy's scalars become 0-d arrays; neither aliases
    elif kind == "reshape":
        pool.append(xp.reshape(x, step[2]))
    elif kind == "transpose":
        pool.append(xp.transpose(x, step[2]))
    elif kind == "value":
        y = pool[step[2]]
        pool.append(xp.asarray({"add": x + y, "sub": x - y, "mul": x * y}[step[3]]))
    elif kind == "scalar":
        pool.append(xp.asarray(x * step[2] + 1))
    elif kind == "set":
        x[step[2]] = pool[step[3]]
    elif kind == "setscalar":
        x[step[2]] = step[3]
    elif kind == "shift":
        if step[2] > 0:
            x[1:] = x[:-1]
        else:
            x[:-1] += x[1:]
    elif kind == "inplace":
        y = pool[step[2]]
        if step[3] == "add":
            x += y
        else:
            x -= y
        pool[step[1]] = x
