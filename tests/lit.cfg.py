"""The .mlir tests: RUN lines against this build's tools, checked by FileCheck."""

import os
import shutil
import subprocess

import lit.formats

config.name = "graphc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "install", "unit"]
config.test_source_root = os.path.join(config.graphc_source, "tests")
config.test_exec_root = os.path.join(config.graphc_build, "tests")

scratch = os.path.join(config.test_exec_root, "scratch")
os.makedirs(scratch, exist_ok=True)


def find_built(name):
    """A tool of this build: bin/ first, then where its CMakeLists.txt stands."""
    for folder in ("bin", os.path.join("tools", name), "."):
        path = os.path.join(config.graphc_build, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


tools = {name: find_built(name) for name in ("graphc-opt", "graphc")}
for name, path in tools.items():
    if path:
        config.available_features.add(name)
path_entries = [os.path.dirname(p) for p in tools.values() if p] + [config.llvm_tools, os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(dict.fromkeys(path_entries))
# -enable-var-scope: a variable not starting with $ ends at the next LABEL, so captures cannot leak between functions.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input=fail"
config.substitutions.append(("%python", shutil.which("python3") or "python3"))

for name in ("HOME", "TMPDIR", "OCL_ICD_VENDORS", "CI"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["GRAPHC_CACHE_DIR"] = os.path.join(scratch, "lit-cache")
config.environment["POCL_CACHE_DIR"] = os.path.join(scratch, "pocl-cache")

# NVIDIA's assembler, where its toolkit is installed.
if shutil.which("ptxas"):
    config.available_features.add("ptxas")
if config.graphc_compiler:
    config.available_features.add("compiler")
if tools["graphc"]:
    devices = subprocess.run([tools["graphc"], "devices"], capture_output=True, text=True, timeout=120,
                             env={**os.environ, **config.environment})
    for line in devices.stdout.splitlines():
        kind = line.split(":")[0].split()[0] if line.strip() else ""
        if kind in ("cpu", "opencl", "cuda") and "unusable" not in line:
            config.available_features.add(kind)
