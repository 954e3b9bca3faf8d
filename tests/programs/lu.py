"""LU decomposition without pivoting, by loops over elements."""

import numpy as np

SIZE, SMALL = 60, 7


def main(size):
    i, j = np.arange(size)[:, None], np.arange(size)[None, :]
    a = np.where(i == j, size + 1.0, 1.0 / (1 + i + 2 * j))
    lower, upper = np.eye(size), np.zeros((size, size))
    for r in range(size):
        for c in range(r, size):
            upper[r, c] = a[r, c]
            for k in range(r):
                upper[r, c] -= lower[r, k] * upper[k, c]
        for c in range(r + 1, size):
            lower[c, r] = a[c, r]
            for k in range(r):
                lower[c, r] -= lower[c, k] * upper[k, r]
            lower[c, r] /= upper[r, r]
    return lower, upper, np.abs(lower @ upper - a).max() < 1e-12
