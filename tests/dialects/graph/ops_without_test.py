"""Names what dialects/graph/GraphOps.td promises and no test of this folder shows: ops that never make a round trip, and
numbered rules without a function @<op>_c<number> that breaks them. Exits with 1 when something is missing."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def records():
    tblgen = pathlib.Path(shutil.which("llvm-tblgen")).resolve()
    text = subprocess.run(
        [tblgen, "--dump-json", "-I", ROOT, "-I", tblgen.parents[1] / "include", ROOT / "dialects/graph/GraphOps.td"],
        check=True, capture_output=True, text=True).stdout
    everything = json.loads(text)
    return [everything[name] for name in everything["!instanceof"]["Graph_Op"]]


def missing_round_trips(ops):
    shown = set()
    for test in HERE.glob("*.mlir"):
        text = test.read_text()
        if re.search(r"^// RUN: graphc-opt %s \| graphc-opt \| FileCheck %s$", text, re.M):
            shown |= set(re.findall(r"^// CHECK.*graph\.(\w+)", text, re.M))
    return [f"{op['opName']} makes no round trip" for op in ops if op["opName"] not in shown]


def missing_rules(ops):
    broken = set()
    for test in HERE.glob("invalid*.mlir"):
        text = test.read_text()
        for function in re.split(r"^// -----$", text, flags=re.M):
            if "expected-error" in function:
                broken |= set(re.findall(r"func\.func @(\w+?_c\d+)\b", function))
                broken |= {name for name in re.findall(r"func\.func @(\w+?_c\d+)_", function)}
    return [f"{op['opName']} C{number} is never broken" for op in ops
            for number in re.findall(r"\bC(\d+):", op["summary"] + " " + op["description"])
            if f"{op['opName']}_c{number}" not in broken]


def main():
    ops = records()
    findings = missing_round_trips(ops) if sys.argv[1] == "round-trips" else missing_rules(ops)
    print(f"{len(ops)} ops")
    print("\n".join(findings) if findings else "nothing is missing")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
