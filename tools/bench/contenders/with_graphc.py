"""graphc: the programs of programs.py as they are, jitted, each call evaluated and waited for."""

from __future__ import annotations

import functools
import os

import numpy as np

import programs
from contenders import Entry, Missing

_state: dict = {}


def start(threads: int) -> str:
    import graphc

    _state.update(gc=graphc, device=os.environ.get("GRAPHC_BENCH_DEVICE", "cpu"))
    return graphc.__version__


NEEDS = {"cumsum": "cumsum", "sort": "sort", "pi_random": "random", "resnet18": "conv", "mobilenet_v2": "conv"}


def contenders(row, inputs) -> dict:
    gc = _state["gc"]
    program = getattr(programs, row.program, None)
    needed = NEEDS.get(row.program)
    if program is None or (needed and not hasattr(gc, needed)):
        raise Missing(f"no graphc.{needed} yet" if needed and not hasattr(gc, needed) else "not written yet")
    arrays = [gc.asarray(x).to_device(_state["device"]) for x in inputs]
    gc.eval(*arrays)
    # A partial and not a lambda: what a lambda's cells hold is looked at in every call.
    function = gc.jit(functools.partial(program, gc, **row.params), fullgraph=True)
    evaluate, wait, device = gc.eval, gc.synchronize, _state["device"]

    if device == "cpu":  # an evaluated array is there
        def run():
            result = function(*arrays)
            evaluate(result)
            return result
    else:
        def run():
            result = function(*arrays)
            evaluate(result)
            wait(device)
            return result

    return {"graphc": Entry(run, lambda r: [np.asarray(x) for x in (r if isinstance(r, tuple) else (r,))])}
