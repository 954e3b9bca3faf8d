"""Floating-point errors that a line meets again and again: told once by Python's usual filters, and again where these change."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.graphc_only

#: Operations of single numbers and small arrays, each on its own line of a loop; several meet another error in a later turn.
PROGRAM = """
import warnings
import {module} as np

zeros, mixed, large = np.zeros(3), np.array([1.0, 0.0, -3.0]), np.full(5, 1e300)
one, low = np.ones(3)[0], np.zeros(2)[1]


def turn(i):
    seen = [np.exp(1000.0 + i)]
    seen.append(one / low)
    seen.append(one * i / low)  # 0 / 0 in the first turn, 1 / 0 later
    seen.append(np.log(low - (i > 5)))  # a pole, then invalid
    seen.append(np.sqrt(-one - i))
    seen.append(one * 1e308 * 1e10 + one / low)
    seen.append(np.power(low, -1.0))
    seen.append(np.power(1e200 * one, 2.0 + i))
    seen.append(np.sin(one / low))
    seen.append(np.arccos(one + 1 + i))
    seen.append(float((one / zeros)[1]))
    seen.append(float((mixed / zeros)[i % 3]))
    seen.append(np.log(mixed).sum())
    seen.append((large * large).max())
    seen.append(np.where(mixed > 0, one / mixed, 0.0).sum())
    seen.append(np.exp(large)[0] - np.exp(large)[1])
    seen.append(np.float32(1e38) * np.float32(10 + i))
    seen.append(one * np.inf + low * np.nan)
    seen.append(np.reciprocal(low))
    with np.errstate(divide="ignore", invalid="ignore"):
        seen.append(one / low + np.log(low) + low / low)
    target = np.array([1.0, 2.0])
    target /= low
    target -= target
    seen.extend([target[0], np.sinh(800.0 + one), np.log1p(low - 1), np.expm1(one * 1e3)])
    return [repr(float(s)) for s in seen]


for i in range(40):
    print(*turn(i))
{change}
for i in range(40):
    print(*turn(i))
"""

CHANGES = {
    "the same": "",
    "always": "warnings.simplefilter('always')",
    "default again": "warnings.simplefilter('default')",
    "reset": "warnings.resetwarnings()",
    "context": "with warnings.catch_warnings():\n    pass",
    "ignored": "warnings.simplefilter('ignore')",
    "once": "warnings.simplefilter('once')",
    "other modes": "np.seterr(divide='ignore')",
    "of one text": "warnings.filterwarnings('ignore', 'divide by zero')",
}


@pytest.mark.parametrize("name", CHANGES)
def test_lines_tell_what_numpy_tells(name, tmp_path):
    found = {}
    for module in ("numpy", "graphc"):
        file = tmp_path / module / "program.py"
        file.parent.mkdir()
        file.write_text(PROGRAM.format(module=module, change=CHANGES[name]))
        run = subprocess.run([sys.executable, "program.py"], cwd=file.parent, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        found[module] = run.stdout.splitlines(), sorted(line.rpartition("/")[2] for line in run.stderr.splitlines() if "Warning" in line)
    assert found["graphc"][1] == found["numpy"][1]
    assert [line.replace("-nan", "nan") for line in found["graphc"][0]] == [line.replace("-nan", "nan") for line in found["numpy"][0]]
    assert len(found["numpy"][1]) > 20
