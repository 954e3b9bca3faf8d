"""Modules of NumPy under graphc's name: `import graphc.lib.recfunctions` is `numpy.lib.recfunctions`, where graphc has none itself."""

import importlib as _importlib
import importlib.machinery as _machinery
import sys as _sys


class _Alias:
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        _sys.modules[module.__name__] = _importlib.import_module(_numpys(module.__name__))


def _numpys(name):
    return f"numpy.{name.partition('.')[2]}"


class Finder:
    """Asked before Python's finders, which would load the files of a package of NumPy's a second time."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("graphc.") or name == "graphc.__main__":
            return None
        package, _, tail = name.rpartition(".")
        own = _machinery.PathFinder.find_spec(name, path) if package == "graphc" else None
        if own is not None:
            return own
        import importlib.util as _util  # imports much that few need

        try:
            theirs = _util.find_spec(_numpys(name))
        except ImportError:
            return None
        return None if theirs is None else _machinery.ModuleSpec(name, _Alias(), is_package=theirs.submodule_search_locations is not None)
