"""Shortest paths between all pairs."""

import numpy as np

SIZE, SMALL = 400, 16


def main(size):
    i, j = np.arange(size)[:, None], np.arange(size)[None, :]
    distance = np.where((i * 3 + j * 5 + i * j) % 4 == 0, 1.0 + (i * 7 + j * 11) % 13, np.inf)
    np.fill_diagonal(distance, 0.0)
    for k in range(size):
        distance = np.minimum(distance, distance[:, k, None] + distance[None, k, :])
    reachable = np.isfinite(distance)
    return distance, reachable.sum(), np.where(reachable, distance, 0).max()
