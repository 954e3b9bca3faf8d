"""Every check can fail: each case is a small tree with one defect and the message that must name it."""

import importlib

import pytest

from common import Tree, strip_cpp

GUARDED = "#ifndef GRAPHC_{0}_H\n#define GRAPHC_{0}_H\n{1}\n#endif // GRAPHC_{0}_H\n"
PASSES = 'def FormKernels : Pass<"graphc-form-kernels"> {}\n'
FORM_KERNELS = "struct FormKernels : impl::FormKernelsBase<FormKernels> {};\n"
LONG_BODY = "".join(f"  x += {i};\n" for i in range(90))
STAGES = ("graph", "kernel", "plan", "llvm", "opencl")
README_BLOCKS = "".join(
    f"<!-- worked example: {s} -->\n```mlir\n%0 = {s}.exp %x : tensor<4xf32>\n```\n" for s in STAGES)
EXAMPLE_TEST = "".join(f"// {s.upper()}: %[[A:.*]] = {s}.exp %{{{{.*}}}} : tensor<4xf32>\n" for s in STAGES)

# check, files, fragment of the expected finding (None: the tree is clean)
CASES = [
    ("layers", {"runtime/base/A.h": "#include <vector>\n", "runtime/exec/B.cpp": '#include "runtime/base/A.h"\n'}, None),
    ("layers", {"runtime/base/A.h": "", "runtime/exec/B.h": "", "runtime/base/C.cpp": '#include "runtime/exec/B.h"\n'},
     "runtime/base/C.cpp:1: runtime/base/ may not include runtime/exec/B.h"),
    ("layers", {"runtime/base/A.cpp": "\n#include <mlir/IR/Builders.h>\n"}, "A.cpp:2: no MLIR or LLVM here"),
    ("layers", {"compiler/api/A.h": '#include "llvm/ADT/StringRef.h"\n'}, "no MLIR or LLVM here"),
    ("layers", {"runtime/exec/E.h": "", "compiler/emit/A.cpp": '#include "runtime/exec/E.h"\n'}, "compiler/ may not include"),
    ("layers", {"runtime/drivers/cpu/A.h": "", "runtime/drivers/opencl/B.cpp": '#include "runtime/drivers/cpu/A.h"\n'},
     "includes another driver"),
    ("layers", {"frontends/record/A.cpp": "#include <pybind11/pybind11.h>\n"}, "only frontends/python/bindings/ may include"),
    ("layers", {"runtime/base/A.cpp": '#include "runtime/base/Gone.h"\n'}, "no such header"),
    ("layers", {"runtime/base/A.cpp": '#include "B.h"\n', "runtime/base/B.h": ""}, "from the repository root"),
    ("layers", {"misc/A.cpp": '#include "runtime/base/B.h"\n', "runtime/base/B.h": ""}, "belongs to no layer"),
    ("names", {"compiler/passes/Passes.td": PASSES, "compiler/passes/fuse/FormKernels.cpp": FORM_KERNELS,
               "tests/compiler/passes/fuse/form-kernels.mlir": "",
               "tests/compiler/passes/fuse/form-kernels-invalid.mlir": ""}, None),
    ("names", {"compiler/passes/Passes.td": PASSES.replace("form-kernels", "fuse"),
               "compiler/passes/fuse/FormKernels.cpp": FORM_KERNELS,
               "tests/compiler/passes/fuse/form-kernels.mlir": ""}, "has the flag graphc-fuse"),
    ("names", {"compiler/passes/Passes.td": PASSES, "tests/compiler/passes/fuse/form-kernels.mlir": ""},
     "has no source FormKernels.cpp"),
    ("names", {"compiler/passes/Passes.td": PASSES, "compiler/passes/fuse/FormKernels.cpp": FORM_KERNELS}, "has no test"),
    ("names", {"compiler/passes/Passes.td": PASSES, "compiler/passes/fuse/FormKernels.cpp": "struct Other {};\n",
               "tests/compiler/passes/fuse/form-kernels.mlir": ""}, "no `struct FormKernels"),
    ("names", {"compiler/passes/Passes.td": PASSES, "compiler/passes/fuse/FormKernels.cpp": FORM_KERNELS,
               "tests/compiler/passes/fuse/form-kernels.mlir": "", "tests/compiler/passes/fuse/lost.mlir": ""},
     "no pass graphc-lost"),
    ("names", {"runtime/base/Shape.h": "#ifndef SHAPE_H\n#define SHAPE_H\n#endif\n"}, "header guard is not GRAPHC_RUNTIME_BASE_SHAPE_H"),
    ("names", {"runtime/base/shape.cpp": ""}, "not CamelCase"),
    ("names", {"tools/bench/RunAll.py": ""}, "not snake_case"),
    ("names", {"tests/graph/add_op.mlir": ""}, "not kebab-case"),
    ("names", {"runtime/base/ShapeUtils.cpp": ""}, "says nothing"),
    ("names", {"tests/python/test_a.py": "def test_b():\n    pass\n\n\ndef test_b():\n    pass\n"}, "test_a.py:5: test_b is defined in line 1"),
    ("names", {"a/b.py": "class A:\n    @property\n    def c(self):\n        pass\n\n    @c.setter\n    def c(self, x):\n        pass\n"}, None),
    ("sizes", {"a/A.cpp": "int f(int x) {\n  return x;\n}\n"}, None),
    ("sizes", {"a/A.cpp": "int a;\n" * 801}, "801 lines, the cap is 800"),
    ("sizes", {"a/A.h": "int a;\n" * 301}, "301 lines, the cap is 300"),
    ("sizes", {"a/a.mlir": "// x\n" * 401}, "401 lines, the cap is 400"),
    ("sizes", {"a/A.cpp": "namespace a {\nint f(int x) {\n" + LONG_BODY + "}\n}\n"}, "A.cpp:2: function of 92 lines"),
    ("sizes", {"a/A.cpp": "struct S : B<int> {\n  S(int x) : a{x}, b(x) {\n" + LONG_BODY + "  }\n};\n"}, "function of 92 lines"),
    ("sizes", {"a/a.py": "def f(x):\n" + LONG_BODY}, "a.py:1: function of 91 lines"),
    ("sizes", {"a/A.cpp": "struct S {\n" + "  int f(int x) { return x; }\n" * 100 + "};\n"}, None),
    ("filelists", {"CMakeLists.txt": "add_subdirectory(a)\n", "a/CMakeLists.txt": "graphc_library(graphc_a\n  SOURCES A.cpp B.cpp\n  LINK z)\n",
                   "a/A.cpp": "", "a/B.cpp": ""}, None),
    ("filelists", {"CMakeLists.txt": "add_subdirectory(a)\n", "a/CMakeLists.txt": "graphc_library(graphc_a SOURCES B.cpp A.cpp)\n",
                   "a/A.cpp": "", "a/B.cpp": ""}, "not sorted"),
    ("filelists", {"CMakeLists.txt": "add_subdirectory(a)\n", "a/CMakeLists.txt": "graphc_library(graphc_a SOURCES A.cpp)\n",
                   "a/A.cpp": "", "a/B.cpp": ""}, "does not list B.cpp"),
    ("filelists", {"CMakeLists.txt": "graphc_library(graphc_a SOURCES A.cpp)\n"}, "lists A.cpp, which does not exist"),
    ("filelists", {"CMakeLists.txt": "\n", "a/CMakeLists.txt": "graphc_library(graphc_a SOURCES A.cpp)\n", "a/A.cpp": ""},
     "does not add_subdirectory(a)"),
    ("generated", {"tools/opgen.py": "import sys\nsys.exit(0)\n"}, None),
    ("generated", {"tools/opgen.py": "import sys\nsys.exit('stale: dialects/opset/Table.inc')\n", "dialects/opset/Table.inc": ""},
     "dialects/opset/Table.inc:1: differs from what tools/opgen.py makes"),
    ("generated", {"tools/opgen.py": "import sys\nsys.exit('no tblgen')\n"}, "--check failed: no tblgen"),
    ("links", {"docs/a.md": "# A b\n[x](b.md#one-two)\n", "docs/b.md": "## One `two`\n"}, None),
    ("links", {"docs/a.md": "[x](b.md)\n"}, "link to b.md, which does not exist"),
    ("links", {"docs/a.md": "[x](b.md#three)\n", "docs/b.md": "## One two\n"}, "no heading #three"),
    ("links", {"tools/README.md": "```tree\nbench/  measures\ngone/  is not here\n```\n", "tools/bench/a.py": ""},
     "the map names tools/gone"),
    ("links", {"tools/README.md": "```tree\nbench/  measures\n```\n", "tools/bench/a.py": "", "tools/new/a.py": ""},
     "does not name tools/new/"),
    ("links", {"runtime/base/A.h": ""}, "runtime/README.md:1: missing"),
    ("example", {"README.md": README_BLOCKS, "tests/compiler/worked-example.mlir": EXAMPLE_TEST}, None),
    ("example", {"README.md": README_BLOCKS.replace("kernel.exp", "kernel.log"),
                 "tests/compiler/worked-example.mlir": EXAMPLE_TEST}, "kernel block lacks"),
    ("example", {"README.md": "# nothing\n", "tests/compiler/worked-example.mlir": EXAMPLE_TEST}, "no worked example block for graph"),
    ("text", {"a/A.cpp": '// TODO(#12): later\nconst char *s = "throw"; // try\n'}, None),
    ("text", {"a/A.cpp": "// TODO later\n"}, "TODO(#123)"),  # no-todo-check
    ("text", {"a/A.cpp": "void f() { throw 1; }\n"}, "no exceptions"),
    ("text", {"a/A.cpp": "void f() { std::exit(1); }\n"}, "no exit"),
    ("text", {"a/A.h": "using namespace mlir;\n"}, "no using namespace"),
    ("text", {"a/b.py": "p = '/" + "work/x'\n"}, "path of one machine"),
    ("text", {"a/b.py": "x = 1 \n"}, "trailing white space"),
    ("format", {"a/A.cpp": "int a;\n", ".clang-format": "BasedOnStyle: LLVM\n"}, None),
    ("format", {"a/A.cpp": "int   a  ;\n", ".clang-format": "BasedOnStyle: LLVM\n"}, "a/A.cpp:1: code should be clang-formatted"),
]


@pytest.mark.parametrize("name, files, expected", CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)])
def test_case(tmp_path, name, files, expected):
    check = importlib.import_module(name)
    if name == "format" and check.clang_format() is None:
        pytest.skip("clang-format-22 is not installed")
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    findings = [str(f) for f in check.check(Tree(tmp_path))]
    if expected is None:
        assert findings == []
    else:
        assert any(expected in f for f in findings), findings


def test_every_check_has_a_failing_case():
    run = importlib.import_module("run")
    failing = {name for name, _, expected in CASES if expected}
    assert set(run.NAMES) == failing


def test_strip_cpp_keeps_lines():
    text = "a /* b\nc */ d // e\n\"f // g\" 'x' 1'000 R\"(h\n)\" i\n"
    clean = strip_cpp(text)
    assert clean.count("\n") == text.count("\n")
    assert "e" not in clean.split("\n")[1] and "g" not in clean and "1'000" in clean and clean.rstrip().endswith("i")


def test_names_derive():
    names = importlib.import_module("names")
    assert names.guard("runtime/base/DType.h") == "GRAPHC_RUNTIME_BASE_DTYPE_H"
    assert names.kebab("FormKernels") == "form-kernels"
    assert names.kebab("KernelToGPULoops") == "kernel-to-gpu-loops"
