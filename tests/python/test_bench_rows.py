"""The programs of the bench: the same bits for every number of threads and instruction set, and what their machine code
must not contain."""

import hashlib
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import graphc as gc
from support.bench_rows import rows

SCRIPT = """
import hashlib
import numpy as np
from support.bench_rows import rows
for name, (program, arguments) in rows().items():
    results = program(*arguments)
    digest = hashlib.sha256()
    for value in results if isinstance(results, tuple) else (results,):
        digest.update(np.asarray(value).tobytes())
    print(name, digest.hexdigest(), sep="\\t")
"""


def digests(**changes) -> dict:
    package = os.pathsep.join([str(pathlib.Path(gc.__file__).parents[1]), str(pathlib.Path(__file__).parent)])
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], env={**os.environ, **changes, "PYTHONPATH": package},
                          capture_output=True, text=True, check=True)
    return dict(line.split("\t") for line in done.stdout.splitlines())


@pytest.mark.graphc_only
def test_threads_and_instruction_sets_agree():
    first = digests(GRAPHC_NUM_THREADS="1")
    assert len(first) == len(rows())
    for changes in ({"GRAPHC_NUM_THREADS": "2"}, {"GRAPHC_NUM_THREADS": "3"}, {"GRAPHC_NUM_THREADS": "7"},
                    {"GRAPHC_NUM_THREADS": "2", "GRAPHC_CPU_FEATURES": "avx,avx2,fma,bmi,bmi2,f16c,lzcnt"}):
        assert digests(**changes) == first, changes


BACK = re.compile(r"\s+j\w+\s+(\.LBB\w+)$")


def inner_loops(assembly: str) -> list[list[str]]:
    """The instructions of every loop that has no other within."""
    lines, labels, spans = assembly.splitlines(), {}, []
    for i, line in enumerate(lines):
        if line.startswith(".LBB"):
            labels[line.split(":")[0]] = i
        jump = BACK.match(line)
        if jump and jump[1] in labels:
            spans.append((labels[jump[1]], i))
    inner = [(a, b) for a, b in spans if not any(a < c and d < b for c, d in spans)]
    return [[line.strip() for line in lines[a:b + 1] if line.startswith("\t") and not line.startswith("\t.")] for a, b in inner]


MASKED = re.compile(r"\(.*\).*\{%k|vp?maskmov")


def main_loop(assembly: str) -> list[str]:
    """The one that computes most; of the loops of whole and of cut tiles, which compute as much, that of whole ones."""

    def work(loop):
        computes = sum(bool(re.search("%[yz]mm", line)) and not re.match("v(p?mask)?p?mov|vp?(broadcast|insert|extract|perm|unpck)", line) for line in loop)
        return computes, -sum(bool(MASKED.search(line)) for line in loop)

    return max(inner_loops(assembly), key=work)


# Spilled: four points side by side in spite of it take less time than two without.
SPILLS = {"chain", "gelu", "sin_sum"}
NAMED = ["mul_add", "chain", "sin_sum", "total", "softmax", "layernorm", "gelu", "logistic", "pi", "ten",
         "matmul float32 301x700x203", "matmul float64 301x700x203"]


@pytest.mark.graphc_only
@pytest.mark.parametrize("name", NAMED)
def test_machine_code(name):
    if gc.default_device() != "cpu":
        pytest.skip("machine code of the CPU")
    program, arguments = rows()[name]
    assembly = gc.jit(program).lower(*arguments).as_text("asm")
    assert not re.findall(r"\tcall\w*\s+\w*(?:exp|sin|tanh|sqrt|fma|pow|mod|mem)\w*", assembly)
    loop = main_loop(assembly)
    # What reduces large angles is called where a vector has one, and keeps all registers.
    assert not [line for line in loop if re.match(r"call(?!q\s+large_turns)|i?div[lq]?\s", line)]
    vectors = [line for line in loop if re.search("%[yz]mm", line)]
    assert len(vectors) >= 4
    masked = [line for line in vectors if MASKED.search(line)]
    spilled = [line for line in vectors if re.search(r"%[yz]mm\d+, -?\d*\(%rsp\)", line)]
    assert not masked
    assert name in SPILLS or not spilled or "%zmm" not in assembly
