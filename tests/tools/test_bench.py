"""tools/bench: what it reports of given times, that wrong results and regressions are found, and one small run."""

import argparse
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench"
sys.path.append(str(BENCH))  # behind tools/checks, which has a run.py as well

import checks  # noqa: E402  (found by the line above)
import compare  # noqa: E402
import peers  # noqa: E402
import plot  # noqa: E402
import programs  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402
import session  # noqa: E402


def entry(median, low=None, **more):
    return {"median_ms": median, "min_ms": median if low is None else low, "rounds": 5, "spread": 0.01, **more}


def result(graphc, target=None, **others):
    entries = {"graphc": graphc, "limit": entry(1.0), **others}
    return {"conditions": {"cpu": "a <cpu>", "date": "today", "versions": {}}, "costs": {},
            "rows": {"row & one": {"target": target or {}, "bytes": 0, "flops": 0, "limit": "copy", "threads": {"2": entries}}}}


def test_the_best_peer_is_the_fastest_with_a_right_result():
    peers_ = {"numpy": entry(4.0), "jax": entry(2.0, wrong="off by 1"), "torch": {"error": "none"}, "numba out=": entry(3.0)}
    row = result(entry(1.5), **peers_)["rows"]["row & one"]
    line = report.figures(row, "2")
    assert (line["best_name"], line["best"], line["over_best"], line["of_limit"]) == ("numba out=", 3.0, 2.0, 1.5)
    assert line["over_fresh"] == 4.0 / 1.5
    assert report.best_peer({"graphc": entry(1.0)}) == (None, None)


@pytest.mark.parametrize("target, missed", [
    ({"limit": 1.6}, ""), ({"limit": 1.4}, "limit 1.50x > 1.4x"), ({"best": 2.6}, ""), ({"best": 2.7}, "best 2.67x < 2.7x"),
    ({"us": 1600}, ""), ({"us": 1400}, "1500.00 > 1400 us"), ({"numpy": 3}, "numpy 2.67x < 3x"), ({"jax": 9}, "")])
def test_targets(target, missed):
    row = result(entry(1.5), target, numpy=entry(4.0))["rows"]["row & one"]
    assert report.verdict(row, "2") == "ahead" + (f", target missed: {missed}" if missed else "")


def test_rows_behind_are_marked_and_rows_without_a_result_say_why():
    assert report.verdict(result(entry(5.0), numpy=entry(4.0))["rows"]["row & one"], "2") == "BEHIND"
    missing = result({"missing": "no graphc.sort yet"}, numpy=entry(4.0))
    assert "no graphc.sort yet" in report.text(missing) and "no graphc.sort yet" in plot.svg(missing)
    wrong = result(entry(1.0, wrong="off by 3"), numpy=entry(4.0))
    assert report.figures(wrong["rows"]["row & one"], "2")["median"] is None and "off by 3" in report.detail(wrong)


def test_tables_and_the_picture_are_well_formed():
    table = result(entry(1.5), numpy=entry(4.0))
    table["costs"] = {"import": {"median": 50.0, "min": 40.0, "unit": "ms", "target": 80}, "gone": {"why": "none"}}
    picture = ElementTree.fromstring(plot.svg(table))
    assert picture.tag.endswith("svg") and "row & one" in [t.text for t in picture.iter() if t.tag.endswith("text")]
    assert len({line.count("|") for line in report.markdown(result(entry(1.5))).splitlines()}) == 1
    assert "held" in report.costs(table) and "none" in report.costs(table)


@pytest.mark.parametrize("new, worse", [
    (entry(1.05), 0), (entry(1.5), 1), (entry(1.5, low=1.0), 0), (entry(1.5, spread=0.2), 0),
    (entry(1.0, wrong="off"), 1), ({"error": "crashed"}, 1)])
def test_regressions_are_what_exceeds_the_noise(new, worse):
    found, _ = compare.compare(result(new), result(entry(1.0)), 0.10)
    assert len(found) == worse


def test_a_slower_machine_is_no_regression():
    slow = result(entry(1.5))
    slow["rows"]["row & one"]["threads"]["2"]["limit"] = entry(1.45)
    assert compare.compare(slow, result(entry(1.0)), 0.10)[0] == []
    assert len(compare.compare(result(entry(0.5)), result(entry(1.0)), 0.10)[1]) == 1


def test_rows_measured_anew_replace_their_namesakes():
    old, new = result(entry(1.0)), result(entry(2.0))
    old["rows"]["other"] = old["rows"]["row & one"]
    both = report.merge(old, new)
    assert set(both["rows"]) == {"row & one", "other"}
    assert both["rows"]["row & one"]["threads"]["2"]["graphc"]["median_ms"] == 2.0
    old["rows"]["row & one"]["threads"]["1"] = {"graphc": entry(3.0)}
    threads = report.merge(old, new)["rows"]["row & one"]["threads"]
    assert threads["1"]["graphc"]["median_ms"] == 3.0 and threads["2"]["graphc"]["median_ms"] == 2.0


def test_workers_end_with_a_run_that_is_killed(tmp_path):
    """A worker is stopped while it does not answer: nobody else would end it."""
    code = ("import argparse, pathlib, peers, session, sys, time\n"
            "options = argparse.Namespace(logs=pathlib.Path(sys.argv[1]), build=pathlib.Path(sys.argv[1]), device='cpu', quick=True)\n"
            "one = session.Worker(next(p for p in peers.PEERS if p.name == 'numpy'), 1, options)\n"
            "one.ask(do='prepare', row='no such row', quick=True, folder=sys.argv[1])\n"
            "print(one.process.pid, flush=True)\ntime.sleep(60)")
    run = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(BENCH)}, stdout=subprocess.PIPE, text=True)
    worker = Path("/proc") / run.stdout.readline().strip()
    assert worker.name.isdigit() and "worker.py" in (worker / "cmdline").read_text()
    run.kill()
    run.wait()
    deadline = time.monotonic() + 20
    while worker.exists() and "\nState:\tZ" not in (worker / "status").read_text():
        assert time.monotonic() < deadline, "it is still there"
        time.sleep(0.02)


@pytest.mark.parametrize("row", rows.rows(quick=True), ids=lambda r: r.name)
def test_every_check_takes_the_reference_and_refuses_another_result(row):
    """By NumPy in the row's own precision; networks and generators have no reference."""
    if not hasattr(programs, row.program):
        pytest.skip("no program in array terms")
    checks.forget()
    inputs = row.inputs(np.random.default_rng(1))
    found = getattr(programs, row.program)(np, *[x.copy() for x in inputs], **row.params)
    got = [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
    assert row.check(got, inputs, row.params, row.program) is None
    wrong = [x + np.ones((), x.dtype) * (3 if x.dtype.kind == "f" else 1) for x in got]
    assert row.check(wrong, inputs, row.params, row.program)
    checks.forget()


def test_names_are_unique_and_every_full_row_has_a_small_one():
    full, small = rows.rows(False), rows.rows(True)
    assert len({r.name for r in full}) == len(full) and len({r.name for r in small}) == len(small)
    assert {r.program for r in full} == {r.program for r in small}
    assert all(r.limit is None or r.limit.bytes or r.limit.flops for r in full)


def test_a_contender_that_ends_or_fails_is_an_answer(tmp_path, monkeypatch):
    options = argparse.Namespace(logs=tmp_path, build=tmp_path, device="cpu", quick=True)
    absent = session.Worker(peers.Peer("x", "with_numpy", ("numpy==0",)), 1, options)
    assert "--peers x" in absent.ask(do="prepare", row="sum", quick=True, folder=str(tmp_path))["missing"]
    broken = session.Worker(peers.Peer("graphc", "with_graphc"), 1, options)
    assert "graphc" in broken.ask(do="prepare", row="sum", quick=True, folder=str(tmp_path))["error"]
    worker = session.Worker(peers.Peer("numpy", "with_numpy"), 1, options)
    assert worker.ask(do="prepare", row="no such row", quick=True, folder=str(tmp_path))["error"].startswith("StopIteration")
    worker.process.kill()
    worker.process.wait()
    assert "ended" in worker.ask(do="prepare", row="sum", quick=True, folder=str(tmp_path))["error"]
    monkeypatch.setattr(session, "PATIENCE", 0.0)
    assert "no answer" in worker.ask(do="prepare", row="sum", quick=True, folder=str(tmp_path))["error"]
    assert worker.process is None


def test_a_small_run_with_numpy_alone(tmp_path):
    file = tmp_path / "table.json"
    command = [sys.executable, str(BENCH / "run.py"), "--quick", "--only=numpy", "--threads=1", "--rows=sum*", "--batch=3",
               f"--json={file}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())["rows"]
    assert set(found) == {"sum(sin(a)*2+b)", "sum", "sum axis 0", "sum axis 1"}
    assert all(r["threads"]["1"]["numpy"]["median_ms"] > 0 and "wrong" not in r["threads"]["1"]["numpy"] for r in found.values())
    shown = subprocess.run([*command[:2], f"--show={file}", f"--svg={tmp_path / 'a.svg'}"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0 and "sum axis 1" in shown.stdout and (tmp_path / "a.svg").exists()
