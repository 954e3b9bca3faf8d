"""Runs a command and fails unless its exit status is the first argument; its output passes through."""

import subprocess
import sys

done = subprocess.run(sys.argv[2:], timeout=120)
if done.returncode != int(sys.argv[1]):
    sys.exit(f"exit status {done.returncode}, not {sys.argv[1]}: {' '.join(sys.argv[2:])}")
