"""Principal components by the singular value decomposition."""

import numpy as np

SIZE, SMALL = 5000, 60


def main(size, features=6, kept=2):
    i, j = np.arange(size)[:, None], np.arange(features)[None, :]
    data = np.sin(i * 0.01 * (j + 1)) * (features - j) + np.cos(i * j * 0.1)
    centered = data - data.mean(axis=0)
    u, s, vt = np.linalg.svd(centered, full_matrices=False)
    projected = centered @ vt[:kept].T
    explained = s**2 / (s**2).sum()
    return abs(projected), s, explained, centered - (u * s) @ vt
