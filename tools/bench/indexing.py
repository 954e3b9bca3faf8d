"""The rows of indexing: gathers, scatters, masks, searches and counts beside the same loop in C (indexing.c). `--rows
indexing --threads 1` shows them: the C loops run on one thread, whatever the row's threads."""

from __future__ import annotations

import numpy as np

import checks

F4, F8, I4, I8 = np.float32, np.float64, np.int32, np.int64
TARGET = {"limit": 1.2}
NAMES = {F4: "f4", F8: "f8", I4: "i4", I8: "i8"}


def places(rng, length, size, index, order):
    found = rng.integers(0, length, size).astype(index)
    return np.sort(found) if order == "sorted" else found


def sizes(quick: bool, *full: int):
    return (96,) if quick else full


def exponent(n: int) -> str:
    return f"{n:.0e}".replace("e+0", "e")


def named(row, *words, jitted: bool = True):
    return f"indexing {row} {' '.join(words)}" + ("" if jitted else ", eager")


def gathers(quick: bool):
    """a[places] of as many elements as places; (name, program, C loop, inputs, n, ways)."""
    for n in sizes(quick, 10**4, 10**6, 10**7):
        for dtype in (F4, F8):
            for index in (I4, I8):
                for order in ("random", "sorted"):
                    tags = (NAMES[dtype], NAMES[index], order, exponent(n))

                    def make(rng, n=n, dtype=dtype, index=index, order=order):
                        return [rng.random(n).astype(dtype), places(rng, n, n, index, order)]

                    yield "a[places]", tags, "gather", "gather_{}_{}", make
                    if index is I8 and order == "random":
                        yield "take", tags, "take", "gather_{}_{}", make
    for n in sizes(quick, 10**4, 10**6):
        for dtype, index in ((F4, I4), (F8, I8)):
            tags = (NAMES[dtype], NAMES[index], "random", exponent(n))
            side = int(n**0.5)

            def used(rng, n=n, dtype=dtype, index=index):
                return [rng.random(n).astype(dtype), places(rng, n, n, index, "random"), rng.random(n).astype(dtype)]

            def pairs(rng, n=n, side=side, dtype=dtype, index=index):
                return [rng.random((side, side)).astype(dtype)] + [places(rng, side, n, index, "random") for _ in range(2)]

            yield "a[places]*2+b", tags, "gather_used", "gather_used_{}_{}", used
            yield "a[places, places]", tags, "gather_pairs", "gather_pairs_{}_{}", pairs
            yield "a[places] = v", tags, "put", "put_{}_{}", used
            yield "add.at", tags, "add_at", "add_at_{}_{}", used
            for width in (8, 100):
                def rows(rng, n=n, width=width, dtype=dtype, index=index):
                    height = max(1, n // width)
                    return [rng.random((height, width)).astype(dtype), places(rng, height, height, index, "random")]

                yield f"rows of {width}", tags, "gather", "gather_rows_{}_{}", rows

            def columns(rng, side=side, dtype=dtype, index=index):
                return [rng.random((side, side)).astype(dtype), places(rng, side, side, index, "random")]

            yield "a[:, places]", tags, "gather_columns", "gather_columns_{}_{}", columns


def masks(quick: bool):
    for n in sizes(quick, 10**4, 10**6, 10**7):
        for dtype in (F4, F8):
            def mask(rng, n):
                return rng.random(n) < 0.5

            def one(rng, n=n, dtype=dtype):
                return [rng.random(n).astype(dtype), mask(rng, n)]

            def two(rng, n=n, dtype=dtype):
                return [rng.random(n).astype(dtype), rng.random(n).astype(dtype), mask(rng, n)]

            def first(rng, two=two):
                return two(rng)[::-1]

            tags = (NAMES[dtype], exponent(n))
            yield "a[mask]", tags, "masked", "masked_{}", one
            yield "sum(a[mask])", tags, "masked_sum", "masked_sum_{}", one
            yield "a[mask] = s", tags, "set_masked", "set_masked_{}", one
            yield "a[mask] += 1", tags, "add_masked", "add_masked_{}", one
            yield "a[mask] = b[mask]", tags, "copy_masked", "copy_masked_{}", two
            yield "where", tags, "choose", "choose_{}", first
        yield "nonzero", (exponent(n),), "true_places", "true_places", lambda rng, n=n: [rng.random(n) < 0.5]
        yield "cumsum(mask)", (exponent(n),), "count_mask", "count_mask", lambda rng, n=n: [rng.random(n) < 0.5]


def counts(quick: bool):
    for n in sizes(quick, 10**4, 10**6):
        for dtype in (F4, F8):
            def sorted_values(rng, n=n, dtype=dtype):
                return [np.sort(rng.random(n).astype(dtype)), rng.random(n).astype(dtype)]

            def in_order(rng, make=sorted_values):
                return [np.sort(x) for x in make(rng)]

            tags = (NAMES[dtype], exponent(n))
            yield "searchsorted random", tags, "search", "search_{}", sorted_values
            yield "searchsorted sorted", tags, "search", "search_{}", in_order
            yield "histogram", tags, "histogram", "histogram_{}", lambda rng, n=n, dtype=dtype: [rng.random(n).astype(dtype)]
        for index in (I4, I8):
            yield ("bincount", (NAMES[index], exponent(n)), "bincount", "bincount_{}",
                   lambda rng, n=n, index=index: [places(rng, 1000, n, index, "random")])


#: Their results have sizes that are looked up when they are called.
EAGER_ONLY = ("bincount", "histogram")


def tolerance(program: str):
    return checks.close(1e-4) if program in ("masked_sum", "add_at", "gather_used", "add_masked") else checks.equal


def rows(quick: bool, row) -> list:
    """Each program as a jitted function and as it is written, made by `row`."""
    found = []
    for group in (gathers, masks, counts):
        for words, tags, program, loop, inputs in group(quick):
            types = [t for t in tags if t in NAMES.values()]
            for jitted in (True, False):
                if jitted and program in EAGER_ONLY:
                    continue
                found.append(row(named(words, *tags, jitted=jitted), program, inputs, tolerance(program), target=TARGET,
                                 loop=loop.format(*types), jitted=jitted, fresh=False))
    return found
