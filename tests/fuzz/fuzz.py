#!/usr/bin/env python3
"""Random programs under NumPy and graphc: see README.md beside this file."""

import argparse
import contextlib
import random
import sys
import time
import warnings

import numpy as np

from maker import Maker, data


def same(g, w):
    g, w = np.asarray(g), np.asarray(w)
    if g.dtype != w.dtype or g.shape != w.shape:
        return False
    if w.dtype.kind == "V":  # bfloat16
        g, w = g.astype(np.float32), w.astype(np.float32)
    return np.array_equal(g, w, equal_nan=w.dtype.kind in "fc")


def run(gc, statements, prompt):
    """None, or what differs."""
    ours, theirs = {"xp": gc, "data": data}, {"xp": np, "data": data}

    def differ(names, when):
        for n in names:
            try:
                equal = same(ours[n], theirs[n])
            except Exception as error:
                return f"{when}: {n}: {type(error).__name__}: {error}"
            if not equal:
                g, w = np.asarray(ours[n]), np.asarray(theirs[n])
                return f"{when}: {n} is {g.dtype}{g.shape}\n{g}\nexpected {w.dtype}{w.shape}\n{w}"
        return None

    names = []
    for text in statements:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(text, theirs)
            except Exception:
                return None  # a statement lost what it needs: not a program
            try:
                exec(text, ours)
            except Exception as error:
                return f"{text}: {type(error).__name__}: {error}"
        names = [n for n in theirs if n[0] == "v" and n in ours]
        if prompt and (found := differ(names, text)):
            return found
    found = differ(names, "at the end")
    # NumPy's scalars (xp.float64(2)) are NumPy's on both sides, and so are their views; arrays made of them are copies.
    arrays = [n for n in names if isinstance(theirs[n], np.ndarray) and not isinstance(ours[n], np.ndarray)]
    for i, a in enumerate(arrays):
        for b in arrays[i + 1 :]:
            if not found and np.shares_memory(theirs[a], theirs[b]) != gc.shares_memory(ours[a], ours[b]):
                found = f"aliasing of {a} and {b}: NumPy says {np.shares_memory(theirs[a], theirs[b])}"
    return found


def shrink(gc, statements, prompt):
    """Fewer statements that still fail."""
    changed = True
    while changed:
        changed = False
        for i in range(len(statements) - 1, -1, -1):
            fewer = statements[:i] + statements[i + 1 :]
            if fewer and run(gc, fewer, prompt):
                statements, changed = fewer, True
    return statements


def program(seed):
    """The statements of a seed, and whether they are compared one by one."""
    chosen = random.Random(seed)
    return Maker(seed, chosen.randint(1, 40)).statements, chosen.random() < 0.3


@contextlib.contextmanager
def way(gc, seed):
    """Odd seeds are computed by kernels alone, even ones as users' programs are: small values by loops of the host."""
    before = gc._graphc.set_loop_turns(gc._graphc.NEVER) if seed % 2 else None
    try:
        yield
    finally:
        if before is not None:
            gc._graphc.set_loop_turns(before)


def find(gc, seed):
    """What differs in the program of a seed, None for nothing, and as text: its shortest form, and what differs in that."""
    statements, prompt = program(seed)
    with way(gc, seed):
        found = run(gc, statements, prompt)
        if not found:
            return None, ""
        fewer = shrink(gc, statements, prompt)
        again = run(gc, fewer, prompt)
    text = f"seed {seed}{' (compared after every statement)' if prompt else ''}:\n  " + "\n  ".join(fewer)
    return found, f"{text}\n{again or f'met once, and not again: {found}'}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time")
    parser.add_argument("--replay", type=int, help="one program, printed")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    args = parser.parse_args()
    import graphc as gc

    seeds = range(args.seed, args.seed + args.programs) if args.replay is None else [args.replay]
    start, failures, done = time.monotonic(), 0, 0
    for seed in seeds:
        if args.seconds and time.monotonic() - start > args.seconds:
            break
        if args.replay is not None:
            print("\n".join(program(seed)[0]))
        found, text = find(gc, seed)
        done += 1
        if found:
            failures += 1
            print(text, flush=True)
            if not args.all:
                break
    print(f"{done} programs, {failures} failures, seeds {args.seed} to {args.seed + done - 1}, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
