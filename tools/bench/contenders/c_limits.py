"""The machine: the loops of limits.c, plain and with non-temporal stores, of which the faster counts, and for rows of
indexing the loops of indexing.c."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import programs
from contenders import Entry, Missing

KINDS = ("read", "read2", "copy", "triad", "inplace", "fma32", "fma64")
WRITING = ("copy", "triad", "inplace")
SOURCES = [Path(__file__).resolve().parents[1] / name for name in ("limits.c", "indexing.c")]
_state: dict = {}


def start(threads: int) -> str:
    compiler = next((c for c in ("clang-22", "clang") if shutil.which(c)), None)
    if compiler is None:
        raise Missing("no clang for the limit loops")
    with tempfile.TemporaryDirectory(prefix="graphc-bench-") as folder:
        library = os.path.join(folder, "limits.so")
        subprocess.run([compiler, "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-shared", "-fPIC",
                        "-pthread", *SOURCES, "-o", library], check=True)
        loops = ctypes.CDLL(library)
    loops.limitSeconds.restype = ctypes.c_double
    loops.flopsOfIteration.restype = ctypes.c_long
    _state.update(loops=loops, threads=threads)
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def _stream(size: int, number: int) -> np.ndarray:
    """Aligned for non-temporal stores, touched, in huge pages where the system gives them on request (as NumPy asks).
    Streams begin at different places of a page: a load that seems to hit a store 4096 bytes away waits for it."""
    raw = np.ones(size // 4 + (1 << 12), np.float32)
    skip = -raw.ctypes.data % 4096 // 4 + 320 * number
    return raw[skip:skip + size // 4]


def _seconds(kind: str, nontemporal: bool, passes: int, count: int, arrays: list) -> float:
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays] + [None] * (3 - len(arrays))
    found = _state["loops"].limitSeconds(KINDS.index(kind), int(nontemporal), _state["threads"], passes,
                                         ctypes.c_long(count), *pointers)
    if found < 0:
        raise RuntimeError("the limit loops could not start their threads")
    return found


def contenders(row, inputs) -> dict:
    limit = row.limit
    if row.loop:
        return {"limit": _loop(row, inputs)}
    if limit is None:
        return {}
    if limit.flops:
        each = _state["loops"].flopsOfIteration(int(limit.loop == "fma64")) * _state["threads"]
        iterations = 1 << 19  # some milliseconds, whatever the row's own work
        return {"limit": _entry(lambda calls: _seconds(limit.loop, False, max(1, min(calls, 4)), iterations, [])
                                * limit.flops / (each * iterations))}
    arrays = [_stream(limit.bytes, i) for i in range(3)]

    def clock(calls):
        found = [_seconds(limit.loop, nt, limit.times * calls, limit.bytes, arrays)
                 for nt in ((False, True) if limit.loop in WRITING else (False,))]
        return min(found) * limit.times

    return {"limit": _entry(clock)}


def _loop(row, inputs) -> Entry:
    """One of indexing.c, which writes the result of NumPy's type and shape into an array that is made once."""
    loop = getattr(_state["loops"], row.loop)
    loop.restype = ctypes.c_long
    in_place = row.program in programs.IN_PLACE
    like = inputs[0] if in_place else np.asarray(getattr(programs, row.program)(np, *inputs))
    out = np.zeros(like.size + 1, like.dtype)  # a loop may write behind the last element that counts
    pointers = (ctypes.c_void_p * len(inputs))(*(x.ctypes.data for x in inputs))
    dims = [size for x in inputs for size in x.shape]
    arguments = (pointers, (ctypes.c_long * len(dims))(*dims), ctypes.c_void_p(out.ctypes.data))
    return Entry(run=lambda kept=inputs: loop(*arguments),  # pointers do not keep them
                 values=lambda count: [like if in_place else out[:count].reshape(like.shape)])


def _entry(clock) -> Entry:
    return Entry(run=lambda: clock(1), values=lambda _: [], clock=clock)
