"""Logistic regression by gradient descent."""

import numpy as np

SIZE, SMALL = 100_000, 200


def main(size, features=5, steps=30):
    i, j = np.arange(size)[:, None], np.arange(features)[None, :]
    x = np.sin(i * (j + 1) * 0.37) + 0.1 * j
    truth = np.arange(features) - 2.0
    y = (x @ truth > 0).astype(float)
    w, b = np.zeros(features), 0.0
    losses = []
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w + b)))
        losses.append(-np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)))
        error = p - y
        w -= 0.5 * (x.T @ error) / size
        b -= 0.5 * error.mean()
    accuracy = ((p > 0.5) == (y == 1)).mean()
    return w, np.asarray(b), np.array(losses), accuracy
