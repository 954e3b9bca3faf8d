"""The five published programs graphc exists for, in small sizes, against NumPy and independent loops."""

import graphc as gc
import numpy as np
import pytest
from support.session import ORACLE
from support import exact, trees


def logistic(x, p=6700417, mu=22, steps=10):
    for _ in range(steps):
        x = mu * x * (x + 1) % p
    return x


def logistic_loop(x, p=6700417, mu=22, steps=10):
    """The same with Python's own integers."""
    for _ in range(steps):
        x = mu * x * (x + 1) % p
    return x


def test_logistic_golden_values(device):
    small = gc.asarray(np.array([1, 2, 3]), device=device)
    assert np.asarray(logistic(small, p=61)).tolist() == [28, 25, 37]
    x = gc.asarray(np.array([1, 2, 3, 10000, 0x2000000]), device=device)
    assert np.asarray(logistic(x)).tolist() == [5756693, 3714507, 3456095, 3819240, 1916457]


def test_logistic_equals_a_loop_over_integers(device):
    n = 20_000
    want = [logistic_loop(i) for i in range(1, n + 1)]
    got = logistic(gc.asarray(np.arange(1, n + 1), device=device))
    assert np.asarray(got).tolist() == want
    assert int(gc.sum(got)) == sum(want) and int(gc.max(got)) == max(want)


def test_logistic_recorded_from_arange_and_jitted():
    n = 5000
    want = sum(logistic_loop(i) for i in range(1, n + 1))
    assert int(gc.sum(logistic(gc.arange(1, n + 1)))) == want
    compiled = gc.jit(logistic)
    for size in (n, n - 1, n):
        assert int(gc.sum(compiled(gc.arange(1, size + 1)))) == sum(logistic_loop(i) for i in range(1, size + 1))


@pytest.mark.full_size
@pytest.mark.graphc_only
def test_logistic_full_size():
    n = 0x2000000
    result = logistic(gc.arange(1, n + 1))
    total, largest = gc.sum(result), gc.max(result)
    gc.eval(total, largest)
    assert (int(total), int(largest)) == (112374114484872, 6700405)


def test_monte_carlo_pi(device):
    rng = np.random.default_rng(50)
    n = 100_000
    x, y = rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)
    g, h = gc.asarray(x, device=device), gc.asarray(y, device=device)
    inside = gc.sum(gc.sqrt(g * g + h * h) < 1)
    assert int(inside) == int(np.sum(np.sqrt(x * x + y * y) < 1))
    pi = float(4 * inside / n)
    assert abs(pi - np.pi) < 6 * np.sqrt(np.pi * (4 - np.pi) / n)


def fourier_derivative(xp, x, terms):
    """A sawtooth from its series, and its central difference."""
    total = xp.zeros_like(x)
    for k in range(1, terms + 1):
        total = total + xp.sin(k * x) * ((-1) ** (k + 1) / k)
    step = x[1] - x[0]
    return total, (total[2:] - total[:-2]) / (2 * step)


@pytest.mark.parametrize("dtype,bound", [("float32", 1e-6), ("float64", 1e-12)])
def test_fourier_series_and_derivative(dtype, bound, device):
    x = np.linspace(-3, 3, 10_000).astype(dtype)
    want = fourier_derivative(np, x.astype("float64"), 12)
    got = fourier_derivative(gc, gc.asarray(x, device=device), 12)
    gc.eval(*got)
    for g, w in zip(got, want):
        g = np.asarray(g).astype("float64")
        cosine = (g @ w) / np.sqrt((g @ g) * (w @ w))
        assert g.shape == w.shape and cosine >= 1 - bound * (100 if w is want[1] and dtype == "float32" else 1)


def test_gpaw_integrate_and_rotate(device):
    """integrate: (n x G)(G x n); rotate: (n x n)(n x G); n bands on a grid of G points, n << G."""
    rng = np.random.default_rng(51)
    bands, grid = 12, 12**3
    psi = rng.normal(size=(bands, grid))
    rotation = rng.normal(size=(bands, bands))
    g = gc.asarray(psi, device=device)
    overlap = (g @ g.T) * 0.125
    rotated = gc.asarray(rotation, device=device) @ g
    gc.eval(overlap, rotated)
    if ORACLE:
        np.testing.assert_allclose(np.asarray(overlap), psi @ psi.T * 0.125, rtol=1e-12)
    else:
        exact.assert_same(overlap, trees.matmul(psi, psi.T) * 0.125)
        exact.assert_same(rotated, trees.matmul(rotation, psi))
    np.testing.assert_allclose(np.asarray(rotated), rotation @ psi, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype,bound", [("float32", 4 * (1 + ORACLE)), ("float64", 4)])
def test_sigmoid(dtype, bound, device):
    x = np.linspace(-80, 90, 4001).astype(dtype)
    got = 1 / (1 + gc.exp(-gc.asarray(x, device=device)))
    wide = x.astype("longdouble")
    assert exact.ulp_distance(np.asarray(got), 1 / (1 + np.exp(-wide))).max() <= bound
