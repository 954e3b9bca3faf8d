"""The contenders: which module runs them, in which environment. `build` makes the environments, one a peer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMPY = "numpy==2.4.6"
# PyTorch's own index has its CPU builds; where pip already finds one (its find-links), that is taken.
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


@dataclass(frozen=True)
class Peer:
    name: str
    module: str  # of contenders/
    packages: tuple = ()  # of an own environment; none: the environment of this process


PEERS = (
    Peer("limit", "c_limits"),
    Peer("graphc", "with_graphc"),
    Peer("numpy", "with_numpy"),
    Peer("numba", "with_numba", (NUMPY, "numba==0.68.1", "llvmlite==0.50.0", "scipy==1.16.3")),
    Peer("jax", "with_jax", (NUMPY, "jax==0.10.2", "jaxlib==0.10.2")),
    Peer("torch", "with_torch", (NUMPY, "torch==2.13.0")),
    Peer("tinygrad", "with_tinygrad", (NUMPY, "tinygrad==0.14.0")),
    Peer("numexpr", "with_numexpr", (NUMPY, "numexpr==2.14.2")),
)


def folder() -> Path:
    """Where the environments are; GRAPHC_BENCH_PEERS lets checkouts share them."""
    return Path(os.environ.get("GRAPHC_BENCH_PEERS", ROOT / ".venv-peers")).resolve()


def python(peer: Peer) -> Path | None:
    """The interpreter that runs a peer, or None when its environment was not built."""
    if not peer.packages:
        return Path(sys.executable)
    home = folder() / peer.name
    stamp = home / ".packages"
    built = stamp.exists() and stamp.read_text(encoding="utf-8").split() == list(peer.packages)
    return home / "bin/python" if built else None


def build(names: list[str]) -> int:
    """Makes the environments of the named peers (none: of all); the number of failures."""
    failures = 0
    for peer in PEERS:
        if not peer.packages or (names and peer.name not in names):
            continue
        if python(peer):
            print(f"{peer.name}: already there")
            continue
        home = folder() / peer.name
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        install = [home / "bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q"]
        index = []
        if peer.name == "torch" and subprocess.run([*install, "--dry-run", "--no-deps", "--no-index", peer.packages[1]],
                                                   capture_output=True).returncode:
            index = ["--extra-index-url", TORCH_INDEX]
        done = subprocess.run([*install, *index, *peer.packages])
        if done.returncode:
            print(f"{peer.name}: could not be installed: {' '.join(peer.packages)}")
            failures += 1
            continue
        (home / ".packages").write_text("\n".join(peer.packages) + "\n", encoding="utf-8")
        print(f"{peer.name}: {' '.join(peer.packages)}")
    return failures


def environment(peer: Peer, threads: int, build_folder: Path, device: str) -> dict:
    """Thread counts under every name that is read, and caches of compiled code that outlive the run."""
    caches = folder() / "caches" / peer.name
    counts = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_MAX_THREADS",
              "GRAPHC_NUM_THREADS", "NUM_CPU_THREADS")
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    env.update({name: str(threads) for name in counts})
    env.update(PYTHONPATH=str(Path(__file__).resolve().parent), GRAPHC_BENCH_DEVICE=device,
               NUMBA_CACHE_DIR=str(caches), JAX_COMPILATION_CACHE_DIR=str(caches), JAX_PLATFORMS="cpu",
               JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0", JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1",
               TORCHINDUCTOR_CACHE_DIR=str(caches), CACHEDB=str(caches / "cache.db"), DEV="CPU")
    if peer.packages:
        caches.mkdir(parents=True, exist_ok=True)
    if peer.name == "graphc":
        env["PYTHONPATH"] += os.pathsep + str(build_folder / "python")
    if peer.name == "tinygrad":  # it runs a program called clang
        tools = caches / "bin"
        tools.mkdir(exist_ok=True)
        clang = shutil.which("clang") or shutil.which("clang-22")
        if clang and not (tools / "clang").exists():
            (tools / "clang").symlink_to(clang)
        env["PATH"] = f"{tools}{os.pathsep}{env['PATH']}"
    return env
