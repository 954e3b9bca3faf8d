"""The inverse of a matrix by Gauss-Jordan elimination: rows named by computed pivots are views that are scaled in place."""

import numpy as np

SIZE, SMALL = 120, 12


def main(size):
    i = np.arange(size)
    a = np.sin(i[:, None] * 1.3 + i[None, :] * i[None, :] * 0.7) + 3 * np.eye(size)[::-1]
    work, determinant = np.hstack([a, np.eye(size)]), 1.0
    for k in range(size):
        pivot = k + np.argmax(np.abs(work[k:, k]))
        row = work[pivot]
        determinant *= row[k]
        row /= row[k]
        if pivot != k:
            kept = work[k].copy()
            work[k] = row
            row[:] = kept
            determinant = -determinant
        factors = work[:, k].copy()
        factors[k] = 0
        work -= np.outer(factors, work[k])
    inverse = work[:, size:]
    return inverse, np.sign(determinant), np.abs(a @ inverse - np.eye(size)).max() < 1e-9
