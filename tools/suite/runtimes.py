"""OpenCL runtimes that only tests use.

Each has a folder of its own with a vendor list (OCL_ICD_VENDORS) that names it alone, so that no other program sees it. The
folders lie in the user's cache, for all checkouts together.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

INTEL = ("intel-opencl-rt==2026.2.0", "intel-cmplr-lib-rt==2026.2.0")
MESA = "mesa-opencl-icd"


@dataclass
class Runtime:
    """`make` fills a folder and returns the driver library; None when the runtime cannot be had here."""

    name: str
    version: str
    make: Callable[[Path], Path | None]
    env: dict[str, str] = field(default_factory=dict)


def _quiet(command: list, cwd: Path) -> bool:
    try:
        return subprocess.run([str(c) for c in command], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=600).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _intel(folder: Path) -> Path | None:
    # The package names its compiler library, which it needs, nowhere.
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input", "--ignore-installed", "--prefix", folder / "py"]
    driver = folder / "py/lib/libintelocl.so"
    return driver if _quiet([*pip, *INTEL], folder) and driver.exists() else None


def _mesa(folder: Path) -> Path | None:
    # Unpacked, not installed: its package would put two platforms into the system's vendor list.
    if not _quiet(["apt-get", "download", MESA], folder):
        return None
    driver = folder / "root/usr/lib/x86_64-linux-gnu/libRusticlOpenCL.so.1"
    unpacked = all(_quiet(["dpkg", "-x", package, "root"], folder) for package in folder.glob("*.deb"))
    return driver if unpacked and driver.exists() else None


def _oclgrind(folder: Path) -> Path | None:
    driver = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
    return driver if driver.exists() else None


RUNTIMES = {
    "intel": Runtime("intel", "2026.2.0", _intel),
    "mesa": Runtime("mesa", "rusticl", _mesa, {"RUSTICL_ENABLE": "llvmpipe"}),
    # Its check of uninitialised values stays off: it ends at instructions that its own compiler's optimizer makes.
    "oclgrind": Runtime("oclgrind", "system", _oclgrind, {
        "OCLGRIND_DATA_RACES": "1", "OCLGRIND_CHECK_API": "1", "OCLGRIND_MAX_ERRORS": "5",
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable"}),
}


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or (os.path.expanduser("~/.cache") if os.environ.get("HOME") else tempfile.gettempdir())
    return Path(home) / "graphc-test-runtimes"


def environment(name: str) -> dict[str, str] | None:
    """The variables with which a process sees that runtime and no other; None when it cannot be had."""
    runtime = RUNTIMES[name]
    folder = _cache() / f"{runtime.name}-{runtime.version}"
    vendors = folder / "vendors"
    if not vendors.is_dir():
        # Made aside and moved into place: two runs may want it at once, and a run may be stopped.
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        driver = runtime.make(made)
        if driver is None:
            shutil.rmtree(made, ignore_errors=True)
            return None
        (made / "vendors").mkdir()
        place = str(driver).replace(str(made), str(folder))
        (made / "vendors" / f"{name}.icd").write_text(place + "\n", encoding="utf-8")
        try:
            made.rename(folder)
        except OSError:
            shutil.rmtree(made, ignore_errors=True)
    return {"OCL_ICD_VENDORS": str(vendors), **runtime.env}
