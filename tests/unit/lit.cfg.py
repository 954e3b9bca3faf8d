"""GoogleTest programs under lit: every executable of build/tests/unit, each of its cases counted."""

import os

import lit.formats

config.name = "graphc-unit"
config.test_source_root = config.unit_dir
config.test_exec_root = config.unit_dir
config.suffixes = []


def programs(folder):
    """Executables, not the configuration beside them."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK) and not name.endswith(".py"):
            yield name


# The format selects files by the end of their names; ours have no common one, so they are named in full.
config.test_format = lit.formats.GoogleTest(".", "")
config.test_format.test_suffixes = set(programs(config.unit_dir))

for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "OCL_ICD_VENDORS", "CI"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
scratch = os.path.join(config.graphc_build, "tests", "scratch")
os.makedirs(scratch, exist_ok=True)
config.environment["GRAPHC_CACHE_DIR"] = os.path.join(scratch, "unit-cache")
config.environment["POCL_CACHE_DIR"] = os.path.join(scratch, "pocl-cache")
if config.sanitize:
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    config.environment["ASAN_SYMBOLIZER_PATH"] = "/usr/lib/llvm-22/bin/llvm-symbolizer"
    # Drivers leak by design at exit; what we allocate ourselves is still checked.
    config.environment["LSAN_OPTIONS"] = "suppressions=" + os.path.join(os.path.dirname(__file__), "lsan.supp")
