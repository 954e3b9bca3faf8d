"""`python -m graphc.info [--json]`: what this installation is and which devices it can use, for reports of problems."""

import argparse
import importlib
import inspect
import json
import os
import platform
import sys
import types

import numpy

import graphc
from graphc import _graphc


_describe = graphc.info


class _Module(types.ModuleType):
    """The module, which stands for NumPy's function of its name once it is imported."""

    def __call__(self, *args, **keywords):
        return _describe(*args, **keywords)

    def __reduce__(self):
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Module
__signature__ = inspect.signature(_describe)


def collect():
    """Everything as one JSON-able dict: versions, build, devices with reasons, settings with their origin, cache."""
    build = dict(_graphc.build_info())
    return {
        "graphc": build["version"],
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "package": os.path.dirname(os.path.abspath(graphc.__file__)),
        "build": build,
        "devices": [dict(known) for known in _graphc.devices()],
        "default_device": graphc.default_device(),
        "settings": [{"name": n, "value": v, "origin": o} for n, v, o in _graphc.settings()],
        "counters": graphc.cache_info(),
    }


def _print(facts, out):
    for key in ("graphc", "python", "numpy", "system", "package"):
        out.write(f"{key:10} {facts[key]}\n")
    out.write("\nbuild\n")
    for key, value in facts["build"].items():
        out.write(f"  {key:14} {value}\n")
    out.write("\ndevices\n")
    for known in facts["devices"]:
        state = "usable" if known.get("usable") else f"not usable: {known.get('reason')}"
        mark = "*" if known["name"] == facts["default_device"] else " "
        out.write(f" {mark}{known['name']:10} {known.get('description') or ''} ({state})\n")
    out.write("\nsettings\n")
    for setting in facts["settings"]:
        out.write(f"  {setting['name']:22} {setting['value']!s:30} {setting['origin']}\n")


def main(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m graphc.info", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    options = parser.parse_args(arguments)
    facts = collect()
    if options.json:
        json.dump(facts, sys.stdout, indent=2, default=str)
        sys.stdout.write("\n")
    else:
        _print(facts, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
