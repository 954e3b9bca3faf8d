"""A system of equations by elimination with pivots: rows updated one at a time, ranges that shrink."""

import numpy as np

SIZE, SMALL = 80, 8


def main(size):
    i, j = np.arange(size)[:, None], np.arange(size)[None, :]
    a = np.cos(i * 1.3 + j * j * 0.7) + np.where(i == (j + 1) % size, 4.0, 0.0)
    b = np.linspace(-1.0, 1.0, size)
    work, right = a.copy(), b.copy()
    for k in range(size):
        pivot = k + np.argmax(np.abs(work[k:, k]))
        if pivot != k:
            work[[k, pivot]] = work[[pivot, k]]
            right[[k, pivot]] = right[[pivot, k]]
        for row in range(k + 1, size):
            factor = work[row, k] / work[k, k]
            work[row, k:] -= factor * work[k, k:]
            right[row] -= factor * right[k]
    x = np.zeros(size)
    for row in range(size - 1, -1, -1):
        x[row] = (right[row] - work[row, row + 1 :] @ x[row + 1 :]) / work[row, row]
    return x, np.abs(a @ x - b).max() < 1e-10
