"""Errors of indices that are not known yet come in the statement that a program guards, as NumPy's do."""

import contextlib
import subprocess
import sys
import unittest

import graphc as gc
import numpy as np
import pytest
from graphc import _handlers

if sys.version_info < (3, 11):
    pytest.skip("code objects say nothing of handlers", allow_module_level=True)


def pending(xp):
    """An index outside that has to be computed, elements, and a matrix."""
    return xp.arange(100_000) * 1 + 5, xp.arange(100_000) * 1.0, xp.arange(12.0).reshape(3, 4)


def put(x, key, value):
    x[key] = value


STATEMENTS = {
    "take": lambda xp, i, x, m: xp.take(x, i),
    "take of rows": lambda xp, i, x, m: m.take(i, axis=1),
    "element": lambda xp, i, x, m: x[i],
    "several axes": lambda xp, i, x, m: m[i % 4, i % 4],
    "after a slice": lambda xp, i, x, m: m[:, i],
    "assigned": lambda xp, i, x, m: put(x, i, 0),
    "put": lambda xp, i, x, m: xp.put(x, i, 1),
    "added": lambda xp, i, x, m: xp.add.at(x, i, 1),
    "along an axis": lambda xp, i, x, m: xp.take_along_axis(x, i, 0),
    "compressed": lambda xp, i, x, m: xp.compress(x >= 0, x[:5]),
    "chosen by a mask": lambda xp, i, x, m: x[xp.nonzero(x > 5)[0] + 5],
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_guarded_statement_meets_its_error(name):
    def guarded(xp):
        i, x, m = pending(xp)
        try:
            STATEMENTS[name](xp, i, x, m)
            told = None
        except IndexError as error:
            told = str(error).split(" (at ")[0]
        return told, np.asarray(x)

    (told, rest), (wanted, _) = guarded(gc), guarded(np)
    assert told is not None and wanted is not None
    assert (rest == np.arange(100_000)).all(), "something was written"


def test_what_follows_an_error_is_not_run():
    def first_inside(xp):
        table, seen = xp.arange(10.0), []
        for shift in range(12, 0, -3):
            try:
                seen.append(table[xp.arange(4) * 1 + shift].sum())
                seen.append(f"shift {shift}")
                break
            except IndexError:
                seen.append("outside")
        return [str(s) for s in seen]

    assert first_inside(gc) == first_inside(np)


def test_callers_and_contexts_that_name_the_error_catch_it():
    def look(xp):
        i, x, _ = pending(xp)
        return x[i]

    def by_caller(xp):
        try:
            look(xp)
        except LookupError:
            return "caught"
        return "not"

    def suppressed(xp):
        i, x, _ = pending(xp)
        reached = "caught"
        with contextlib.suppress(IndexError):
            x[i]
            reached = "not"
        return reached

    def by_any(xp):
        i, x, _ = pending(xp)
        try:
            x[i]
        except Exception:
            return "caught"
        return "not"

    def asserted(xp):
        i, x, _ = pending(xp)
        unittest.TestCase().assertRaises(IndexError, x.__getitem__, i)
        with pytest.raises(IndexError), np.errstate(all="ignore"):
            x[i]
        pytest.raises(IndexError, x.__getitem__, i)
        return "caught"

    for program in (by_caller, suppressed, by_any, asserted):
        assert program(gc) == program(np) == "caught"


@pytest.mark.graphc_only
def test_others_leave_the_index_to_be_fused():
    i, x, _ = pending(gc)
    before = gc.cache_info()["segments_run"]
    try:
        y = x[i - 5]
    except ValueError:
        raise
    assert gc.cache_info()["segments_run"] == before
    assert float(y[-1]) == 99_999


class Kinds:
    ERRORS = (IndexError, ValueError)


NAMES = "; ".join(f"n{i}" for i in range(140))
LONG = "try:\n        ask()\n        if len('') > 3: " + NAMES + "\n    except KeyError: pass\n    except {}: pass"
NAMED, ANY = _handlers.NAMED, _handlers.ANY


@pytest.mark.parametrize(("body", "wanted"), [
    ("try: ask()\n    except IndexError: pass", NAMED),
    ("try: ask()\n    except (KeyError, LookupError) as e: print(e)", NAMED),
    ("try: ask()\n    except KeyError: pass\n    except IndexError: pass", NAMED),
    ("try: ask()\n    except KeyError: pass\n    except: pass", ANY),
    ("try: ask()\n    except Exception: pass", ANY),
    ("kind = IndexError\n    try: ask()\n    except kind: pass", ANY),
    ("try: ask()\n    except Kinds.ERRORS: pass", NAMED),
    ("try: ask()\n    except errors.GraphcError: pass", NAMED),
    ("try: ask()\n    except tuple(Kinds.ERRORS): pass", ANY),
    ("try: ask()\n    except KeyError: pass", 0),
    ("try: ask()\n    finally: int()", 0),
    ("with open('/dev/null'): ask()", 0),
    ("try: pass\n    except IndexError: pass\n    ask()", 0),
    ("try: 1 / 0\n    except ZeroDivisionError: ask()\n    except IndexError: pass", 0),
    ("try:\n        try: 1 / 0\n        except ZeroDivisionError: ask()\n    except IndexError: pass", NAMED),
    ("try:\n        with open('/dev/null'): ask()\n    except IndexError: pass", NAMED),
    ("with contextlib.suppress(IndexError): ask()", NAMED),
    ("with contextlib.suppress(KeyError,\n          IndexError): ask()", NAMED),
    ("with contextlib.suppress(KeyError): ask()", 0),
    ("with contextlib.suppress(IndexError):\n        with contextlib.nullcontext(): ask()", NAMED),
    ("with contextlib.suppress(IndexError):\n        try: int('3')\n        except ValueError: pass\n        ask()", NAMED),
    ("with contextlib.suppress(IndexError):\n        try: ask()\n        finally: int()", NAMED),
    ("for c in (True, False):\n        with contextlib.suppress(IndexError):\n            if c: continue\n            ask()", NAMED),
    ("try: ask()\n    except* KeyError: pass\n    except* IndexError as e: pass", NAMED),
    ("try: ask()\n    except* KeyError: pass", 0),
    (LONG.format("IndexError"), NAMED),
    (LONG.format("ValueError"), 0),
])  # fmt: skip
def test_tables_of_handlers(body, wanted):
    found = []

    def ask():
        frame = sys._getframe(1)
        found.append(_handlers.caught(frame.f_code, frame.f_lasti, frame.f_globals))

    exec(f"def f():\n    {body}\nf()", {"ask": ask, "contextlib": contextlib, "errors": gc.errors, "Kinds": Kinds})
    assert found == [wanted]


def test_long_functions_are_read_once():
    body = "\n".join(f"        found.append(x[i + {n}])" for n in range(300))
    names = {"x": gc.arange(9.0), "found": []}
    exec(f"def f(i):\n    try:\n{body}\n    except IndexError: return len(found)", names)
    reads = _handlers._read.cache_info().misses
    assert names["f"](gc.arange(3) * 2) == 5
    assert _handlers._read.cache_info().misses == reads + 1


FIRST_IN_TWO_THREADS = """
import importlib.abc, sys, threading, time
import graphc as gc

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "graphc._handlers":
            met.wait(timeout=30)
            time.sleep(0.2)

met = threading.Barrier(2)
sys.modules.pop("graphc._handlers", None)
sys.meta_path.insert(0, Slow())
x, places = gc.arange(100_000) * 1.0, gc.arange(100_000) * 1 % 7

def gather():
    try:
        found.append(float(gc.sum(x[places])))
    except IndexError:
        pass

def arrive():
    met.wait(timeout=30)
    gather()

found = []
threads = [threading.Thread(target=f, daemon=True) for f in (gather, arrive)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(found)
"""


def test_threads_may_both_be_the_first_to_ask_for_handlers():
    """The module that reads handlers is imported then, which lets other threads run."""
    done = subprocess.run([sys.executable, "-c", FIRST_IN_TWO_THREADS], capture_output=True, text=True, timeout=60)
    places = np.arange(100_000) % 7
    assert (done.returncode, done.stdout.strip()) == (0, str([float(places.sum())] * 2)), done.stderr
