"""graphc: the programs of programs.py as they are, jitted but where the row says otherwise, each call evaluated and
waited for."""

from __future__ import annotations

import functools
import os

import numpy as np

import programs
from contenders import Entry, Missing

_state: dict = {}


def start(threads: int) -> str:
    import graphc

    device = os.environ.get("GRAPHC_BENCH_DEVICE", "cpu")
    _state.update(gc=graphc, device=device, at_once=device == "cpu" and _computes_at_once(graphc))
    return graphc._graphc.build_info()["version"]


def _computes_at_once(gc) -> bool:
    """Whether a jitted call returns what it has computed, so that there is nothing left to wait for."""
    function, x = gc.jit(lambda v: v + 1), gc.zeros(8)
    gc.eval(function(x))
    before = gc.cache_info()["programs_run"]
    result = function(x)
    return gc.cache_info()["programs_run"] == before + 1 and bool((result == 1).all())


def contenders(row, inputs) -> dict:
    gc = _state["gc"]
    program = getattr(programs, row.program, None)
    if program is None:
        raise Missing("not written yet")
    arrays = [gc.asarray(x).to_device(_state["device"]) for x in inputs]
    gc.eval(*arrays)
    # A partial and not a lambda: what a lambda's cells hold is looked at in every call.
    function = functools.partial(program, gc, **row.params)
    if row.jitted:
        function = gc.jit(function, fullgraph=True)
    if row.jitted and _state["at_once"] and row.program not in programs.IN_PLACE:
        run = functools.partial(function, *arrays)
    else:
        def run():
            result = function(*arrays)
            gc.eval(result)
            gc.synchronize(_state["device"])
            return result

    return {"graphc": Entry(run, lambda r: [np.asarray(x) for x in (r if isinstance(r, tuple) else (r,))])}
