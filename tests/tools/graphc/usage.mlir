// The command line without a compiler: exit statuses, listings, damaged files.
// REQUIRES: graphc
// RUN: rm -rf %t && mkdir -p %t
// RUN: graphc --version | FileCheck %s --check-prefix=VERSION
// VERSION: graphc {{[0-9]+\.[0-9]+\.[0-9]+}}
// RUN: %python %S/Inputs/status.py 0 graphc --help
// RUN: %python %S/Inputs/status.py 2 graphc
// RUN: %python %S/Inputs/status.py 2 graphc frobnicate
// RUN: %python %S/Inputs/status.py 2 graphc run
// RUN: %python %S/Inputs/status.py 2 graphc compile %s
// RUN: %python %S/Inputs/status.py 2 graphc compile %s -o %t/f.gco --target=toaster
// RUN: %python %S/Inputs/status.py 1 graphc run %t/nothing.gco 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: nothing.gco: error: cannot open: No such file or directory
// RUN: echo "not a program" > %t/text.gco
// RUN: %python %S/Inputs/status.py 1 graphc run %t/text.gco 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: %python %S/Inputs/status.py 1 graphc inspect %t/text.gco 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: text.gco: error: [archive] 14 bytes are too few for a .gco file
// RUN: %python %S/Inputs/status.py 3 graphc run %t/text.gco --device=abacus 2>&1 | FileCheck %s --check-prefix=ABACUS
// ABACUS: error: [device] there is no usable device 'abacus': cpu is usable
// RUN: %python %S/Inputs/status.py 1 env GRAPHC_COMPILER_LIB=/nonexistent graphc compile %s -o %t/f.gco 2>&1 | FileCheck %s --check-prefix=COMPILER
// COMPILER: error: [compile] there is no compiler here (searched for: /nonexistent)
// RUN: env GRAPHC_DEVCE=cpu graphc devices 2>&1 | FileCheck %s --check-prefix=SETTING
// SETTING: warning: no setting is called GRAPHC_DEVCE; did you mean GRAPHC_DEVICE?
// RUN: graphc devices | FileCheck %s --check-prefix=DEVICES
// DEVICES: {{^}}cpu
// RUN: graphc devices --json | %python -c "import json, sys; d = json.load(sys.stdin); assert d[0]['name'] == 'cpu' and d[0]['usable'], d"
// RUN: env GRAPHC_CACHE_DIR=%t/cache graphc cache info --json | %python -c "import json, sys; i = json.load(sys.stdin); assert i['entries'] == 0 and not i['problem'], i"
// RUN: env GRAPHC_CACHE_DIR=%t/cache graphc cache list --json | %python -c "import json, sys; assert json.load(sys.stdin) == []"
// RUN: env GRAPHC_CACHE_DIR=%t/cache graphc cache clear | FileCheck %s --check-prefix=CLEAR
// CLEAR: 0 entries removed
// RUN: env GRAPHC_CACHE_DIR=relative graphc cache info 2>&1 | FileCheck %s --check-prefix=RELATIVE
// RELATIVE: is not an absolute path
