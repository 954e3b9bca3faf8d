#!/usr/bin/env python3
"""Programs with the CPU's results, to be run where there is no graphc for Python: on a borrowed machine with a GPU.

    bundle.py make FOLDER --target=ptx     compiles programs of every op (here, with the package and the `graphc` of a build)
    bundle.py run FOLDER --graphc PATH     runs them with GRAPHC_OPENCL_EMITTER of that target; every element must be equal

The last line is `N passed, M failed`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

FORMS = {"opencl": "c", "spirv": "spirv", "ptx": "ptx"}


def programs():
    """Name, function and inputs: elementwise ops by arity and dtype, reductions, products, scans, rows."""
    import graphc as gc
    import numpy as np

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
    from support import edge
    from support.ops import accepted, apply

    rng = np.random.default_rng(98)
    for arity in (1, 2, 3):
        for dtype in edge.DTYPES:
            if dtype == "bfloat16":
                continue  # NumPy's files have no name for it
            ops = [op for op in accepted(arity, dtype) if op.name != "select"]
            arrays = edge.grid(arity, dtype)
            for first in range(0, len(ops), 12):
                part = ops[first : first + 12]
                yield f"elementwise-{arity}-{dtype}-{first}", lambda *xs, part=part: [apply(op, list(xs)) for op in part], arrays
    for dtype in ("float32", "float64", "int32", "uint8"):
        x = rng.choice(edge.values(dtype), (37, 300))
        yield f"reduce-{dtype}", lambda g: [f(g, axis=a) for f in (gc.sum, gc.min, gc.max, gc.argmax) for a in (None, 0, 1)], [x]
        y = rng.normal(size=(65, 70)).astype(dtype)
        yield f"matmul-{dtype}", lambda g: [g @ g.T, gc.cumsum(g, axis=1), gc.flip(g.T, axis=0).copy()], [y]
    long = rng.normal(size=300_007).astype("f4")
    yield "sum-long", lambda g: [gc.sum(g), gc.mean(gc.sin(g) * 2)], [long]
    rows = rng.normal(size=(33, 515)).astype("f4")
    yield "softmax", lambda g: [gc.exp(g - gc.max(g, axis=1, keepdims=True)) / gc.sum(gc.exp(g), axis=1, keepdims=True)], [rows]


def make(folder, graphc, target):
    import graphc as gc
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    index = {"target": target, "programs": []}
    for name, function, arrays in programs():
        inputs = [gc.asarray(a) for a in arrays]
        text = gc.jit(function).lower(*inputs).as_text("graph")
        (folder / f"{name}.mlir").write_text(text, encoding="utf-8")
        subprocess.run([graphc, "compile", folder / f"{name}.mlir", f"--target={target}", "--opencl-features=fp64", "-o", folder / f"{name}.gco"], check=True)
        results = [np.asarray(r) for r in gc.jit(function)(*inputs)]
        for kind, values in (("in", arrays), ("out", results)):
            for i, value in enumerate(values):
                np.save(folder / f"{name}.{kind}{i}.npy", np.array(value, order="C"))
        index["programs"].append({"name": name, "inputs": len(arrays), "outputs": len(results)})
        (folder / f"{name}.mlir").unlink()
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
    print(f"{len(index['programs'])} programs")


def run(folder, graphc, device):
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    environment = {**os.environ, "GRAPHC_OPENCL_EMITTER": FORMS[index["target"]]}
    passed = failed = 0
    for program in index["programs"]:
        stem = folder / program["name"]
        command = [graphc, "run", f"{stem}.gco", *(f"{stem}.in{i}.npy" for i in range(program["inputs"]))]
        command += [f"--check={stem}.out{i}.npy" for i in range(program["outputs"])]
        done = subprocess.run([*map(str, command), f"--device={device}", "--rtol=0", "--atol=0"], env=environment, capture_output=True, text=True)
        passed, failed = passed + (done.returncode == 0), failed + (done.returncode != 0)
        if done.returncode:
            print(f"FAILED {program['name']} (exit {done.returncode}): {(done.stderr or done.stdout)[:800]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("make", "run"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", choices=FORMS, default="ptx")
    parser.add_argument("--graphc", default="graphc", help="the command line program")
    parser.add_argument("--device", default="opencl")
    options = parser.parse_args()
    if options.action == "make":
        return make(options.folder, options.graphc, options.target)
    return run(options.folder, options.graphc, options.device)


if __name__ == "__main__":
    sys.exit(main())
