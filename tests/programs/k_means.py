"""k-means clustering with masks and integer labels."""

import numpy as np

SIZE, SMALL = 200000, 300


def main(size, k=4, steps=8):
    i = np.arange(size)
    points = np.stack([np.sin(i * 0.7) + (i % k) * 3.0, np.cos(i * 1.3) - (i % k) * 2.0], axis=1)
    centers = points[:k].copy()
    for _ in range(steps):
        distance = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
        labels = distance.argmin(axis=1)
        for j in range(k):
            mine = points[labels == j]
            if len(mine) > 0:
                centers[j] = mine.mean(axis=0)
    inertia = ((points - centers[labels]) ** 2).sum()
    return centers, labels, inertia, np.bincount(labels, minlength=k)
