"""A plucked string: three time levels, updated by shifted slices."""

import numpy as np

SIZE, SMALL = 600, 10


def main(size):
    x = np.linspace(0.0, 1.0, 401)
    now = np.exp(-((x - 0.4) ** 2) / 0.002)
    before, heights = now.copy(), np.zeros(size)
    for step in range(size):
        after = np.zeros_like(now)
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.5 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before, now = now, after
        heights[step] = now[200]
    return now, heights
