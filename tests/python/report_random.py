"""The report on random numbers: every distribution over many draws (10 million unless told otherwise) against its definition,
and Monte-Carlo pi against NumPy's best.

    PYTHONPATH=build/python python tests/python/report_random.py [DRAWS]
"""

import concurrent.futures
import math
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import graphc as gc  # noqa: E402
import numpy as np  # noqa: E402
from support import distributions  # noqa: E402


def report(draws):
    failed = 0
    print(f"{'distribution':28} {'statistic':>10} {'mean/se':>8} {'var/se':>8}")
    for cases, check, bound in (
        (distributions.CONTINUOUS, distributions.check_continuous, distributions.KOLMOGOROV),
        (distributions.DISCRETE, distributions.check_discrete, 4.0),
    ):
        for case in cases:
            statistic, mean, variance = check(case, case.draw(gc.random.default_rng(gc.random.Philox4x32(2026)), draws))
            good = statistic < bound and abs(mean) < 5 and abs(variance) < 5
            failed += not good
            print(f"{case.name:28} {statistic:10.3f} {mean:8.2f} {variance:8.2f}{'' if good else '  FAILED'}")
    print(f"sqrt(n) D below {distributions.KOLMOGOROV}, chi-square score below 4: {failed} failed")
    return failed


def numpy_pi(rngs, pool, count):
    """NumPy's best: as many threads as generators, blocks that stay in cache, memory reused."""
    block = 1 << 15

    def part(rng):
        x, y = np.empty(block), np.empty(block)
        inside = 0
        for _ in range(count // len(rngs) // block):
            rng.random(out=x)
            rng.random(out=y)
            np.multiply(x, x, out=x)
            np.multiply(y, y, out=y)
            np.add(x, y, out=x)
            inside += np.count_nonzero(x < 1)
        return inside

    return sum(pool.map(part, rngs))


def points_inside(x, y):
    """Nobody holds the draws when this is computed, so they are never in memory."""
    return gc.sum(x * x + y * y < 1)


def pi(count=1 << 24, rounds=7):
    rng = gc.random.default_rng(gc.random.Philox4x32(1))
    ours, theirs, whole = [], [], []
    threads = 2
    rngs = [np.random.Generator(np.random.SFC64(s)) for s in range(threads)]
    plain = np.random.default_rng(1)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for _ in range(rounds):
            t = time.perf_counter()
            inside = int(points_inside(rng.random(count), rng.random(count)))
            ours.append(time.perf_counter() - t)
            t = time.perf_counter()
            numpy_pi(rngs, pool, count)
            theirs.append(time.perf_counter() - t)
            t = time.perf_counter()
            x, y = plain.random(count), plain.random(count)
            np.count_nonzero(x * x + y * y < 1)
            whole.append(time.perf_counter() - t)
    off = (inside - count * math.pi / 4) / math.sqrt(count * math.pi / 4 * (1 - math.pi / 4))
    print(f"pi over {count} points: {1e3 * min(ours):.1f} ms ({off:+.2f} sigma), NumPy in blocks on {threads} threads "
          f"{1e3 * min(theirs):.1f} ms, as usually written {1e3 * min(whole):.1f} ms; ratios {min(theirs) / min(ours):.1f}, "
          f"{min(whole) / min(ours):.1f}")  # fmt: skip


if __name__ == "__main__":
    pi()
    sys.exit(report(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000) > 0)
