"""Conjugate gradients on a 2-D Laplacian, matrix-free, with scalars between vectors."""

import numpy as np

SIZE, SMALL = 600, 16


def apply(p):
    q = 4 * p
    q[1:, :] -= p[:-1, :]
    q[:-1, :] -= p[1:, :]
    q[:, 1:] -= p[:, :-1]
    q[:, :-1] -= p[:, 1:]
    return q


def main(size, limit=40):
    b = np.ones((size, size))
    b[size // 2 :, : size // 3] = -2.0
    x = np.zeros_like(b)
    r = b - apply(x)
    p = r.copy()
    rs = (r * r).sum()
    for _ in range(limit):
        q = apply(p)
        alpha = rs / (p * q).sum()
        x += alpha * p
        r -= alpha * q
        old = rs
        rs = (r * r).sum()
        if np.sqrt(rs) < 1e-9:
            break
        p = r + (rs / old) * p
    return x, np.linalg.norm(r.ravel()) if hasattr(np, "linalg") and hasattr(np.linalg, "norm") else np.sqrt(rs)
