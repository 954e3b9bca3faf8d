"""`python -m graphc`: the same as `python -m graphc.info`; --cmake-dir prints where find_package(graphc) looks."""

import pathlib
import sys

import graphc
from graphc.info import main as report


def main(arguments):
    """Prints one path for --cmake-dir (exit 1 when the package was installed without it), else the report."""
    if arguments == ["--cmake-dir"]:
        package = pathlib.Path(graphc.__file__).resolve().parent
        for folder in (package, *package.parents):
            config = folder / "lib" / "cmake" / "graphc"
            if config.is_dir():
                print(config)
                return 0
        print("this installation has no CMake package", file=sys.stderr)
        return 1
    return report(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
