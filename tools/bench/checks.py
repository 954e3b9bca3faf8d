"""How a row's results are checked. A check takes (outputs, inputs, params) and gives what is wrong, or None. The
expected values are computed by NumPy, in float64 where the program is one of floats, and kept while their row runs."""

from __future__ import annotations

import numpy as np

import programs

_known: dict = {}


def forget() -> None:
    _known.clear()


def expected(program: str, inputs: list, params: dict, wide: bool = True) -> list:
    """The program run by NumPy, once a row."""
    if program not in _known:
        wider = [x.astype(np.float64) if wide and x.dtype == np.float32 else x.copy() for x in inputs]
        found = getattr(programs, program)(np, *wider, **params)
        _known[program] = [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
    return _known[program]


def differs(got: list, want: list, tolerance: float) -> str | None:
    if len(got) != len(want):
        return f"{len(got)} results, not {len(want)}"
    for x, y in zip(got, want):
        if x.shape != y.shape:
            return f"shape {x.shape}, not {y.shape}"
        if not x.size:
            continue
        # In pieces: a float64 copy of the largest results would not fit beside the contenders.
        scale = max(1.0, float(np.max(np.abs(y))))
        xs, ys = x.reshape(-1), y.reshape(-1)
        for begin in range(0, xs.size, 1 << 22):
            error = np.abs(xs[begin:begin + (1 << 22)].astype(np.float64) - ys[begin:begin + (1 << 22)])
            if not np.all(error <= tolerance * scale):
                return f"off by {float(np.max(error)):.3g}"
    return None


def close(tolerance: float):
    """Within `tolerance` of float64, relative to the largest value."""
    return lambda got, inputs, params, program: differs(got, expected(program, inputs, params), tolerance)


def equal(got, inputs, params, program):
    return differs(got, expected(program, inputs, params, wide=False), 0)


def mostly_equal(share: float):
    """Counts near a chaotic border depend on the last bit: a small share of them may differ."""

    def check(got, inputs, params, program):
        want = expected(program, inputs, params)[0]
        if got[0].shape != want.shape:
            return f"shape {got[0].shape}, not {want.shape}"
        wrong = np.count_nonzero(got[0] != want) / want.size
        return f"{100 * wrong:.2g} % of the counts differ" if wrong > share else None

    return check


def counted(got, inputs, params, program):
    """The count of NumPy in the same precision; a fused multiply-add may move points that lie on the circle."""
    want = float(expected(program, inputs, params, wide=False)[0])
    error = abs(float(got[0]) - want) * inputs[0].size / 4
    return f"{error:.0f} points counted wrongly" if error > 1 + 1e-6 * inputs[0].size else None


def monte_carlo(got, inputs, params, program):
    """Within six standard deviations of pi."""
    bound = 6 * 4 * (np.pi / 4 * (1 - np.pi / 4) / params["n"]) ** 0.5
    error = abs(float(got[0]) - np.pi)
    return f"off by {error:.3g}, which is over six sigma" if error > bound else None


# Sum, exclusive or and largest value of ten steps from 1..2^25, computed with two C compilers.
GOLDEN = {1 << 25: (112374114484872, 6477916, 6700405)}


def logistic(got, inputs, params, program):
    n = inputs[0].size
    if n not in GOLDEN:
        return equal(got, inputs, params, program)
    x = got[0]
    found = (int(x.sum()), int(np.bitwise_xor.reduce(x)), int(x.max())) if x.shape == (n,) else x.shape
    return None if found == GOLDEN[n] else f"sum, xor and maximum are {found}, not {GOLDEN[n]}"


def fourier(tolerance: float):
    """The series within `tolerance` of float64; the derivative, which divides rounding by the step, by its cosine."""

    def check(got, inputs, params, program):
        if "fourier" not in _known:
            x, odd, factor = (v.astype(np.float64) for v in inputs)
            series = np.zeros_like(x)
            for k, c in zip(odd, factor):  # as long as the largest contender, but without its n x K array
                series += c * np.sin(k * x)
            _known["fourier"] = [series, (series[2:] - series[:-2]) / (2 * params["step"])]
        series, slope = _known["fourier"]
        wrong = differs(got[:1], [series], tolerance)
        if wrong or len(got) != 2 or got[1].shape != slope.shape:
            return wrong or "no derivative"
        d = got[1].astype(np.float64)
        cosine = float(d @ slope / np.sqrt((d @ d) * (slope @ slope)))
        return f"cosine of the derivative is {cosine}" if not cosine > 1 - (1e-2 if tolerance > 1e-6 else 1e-9) else None

    return check


def product(got, inputs, params, program):
    """A matrix product in float64 on 64 sampled rows and columns: the whole would take as long as a contender."""
    a, b = inputs
    b = b.T if program == "integrate" else b
    if got[0].shape != (a.shape[0], b.shape[1]):
        return f"shape {got[0].shape}"
    rows = np.unique(np.linspace(0, a.shape[0] - 1, 64).astype(int))
    columns = np.unique(np.linspace(0, b.shape[1] - 1, 64).astype(int))
    want = a[rows].astype(np.float64) @ b[:, columns].astype(np.float64)
    bound = (1e-6 if a.dtype == np.float32 else 1e-14) * 8 * a.shape[1] ** 0.5 * max(1.0, float(np.abs(want).max()))
    error = float(np.abs(got[0][np.ix_(rows, columns)] - want).max())
    return f"off by {error:.3g}" if not error <= bound else None
