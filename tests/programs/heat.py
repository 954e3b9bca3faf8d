"""The heat equation on a plate, in-place slices and a convergence test that reads a value."""

import numpy as np

SIZE, SMALL = 1000, 24


def main(size, limit=60):
    u = np.zeros((size, size))
    u[0, :] = 100.0
    u[:, 0] = np.linspace(100.0, 0.0, size)
    change, steps = 1.0, 0
    while change > 1e-2 and steps < limit:
        before = u.copy()
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change = np.abs(u - before).max()
        steps += 1
    return u, np.asarray(steps), u.mean()
