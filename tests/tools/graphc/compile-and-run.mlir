// REQUIRES: compiler, graphc
// RUN: rm -rf %t && mkdir -p %t
// RUN: graphc compile %s -o %t/f.gco
// RUN: %python %S/Inputs/npy.py %t/x.npy "np.arange(100001) / 8"
// RUN: %python %S/Inputs/npy.py %t/y.npy "np.arange(100001) / 8 * (np.arange(100001) / 8) + np.arange(100001) / 8"
// RUN: %python %S/Inputs/npy.py %t/wrong.npy "np.zeros(100001)"
// RUN: %python %S/Inputs/npy.py %t/short.npy "np.zeros(3)"
// RUN: %python %S/Inputs/npy.py %t/int.npy "np.arange(5)"
// RUN: %python %S/Inputs/npy.py %t/fortran.npy "np.zeros((3, 4), order='F')"

// Running needs no compiler: nothing here could load one.
// RUN: env GRAPHC_COMPILER_LIB=/nonexistent graphc run %t/f.gco %t/x.npy -o %t/out.npy --check %t/y.npy
// RUN: %python -c "import numpy as np; x, y = np.load(r'%t/y.npy'), np.load(r'%t/out.npy'); assert (x == y).all() and x.dtype == y.dtype"
// RUN: graphc run %t/f.gco - -o - < %t/x.npy > %t/piped.npy
// RUN: cmp %t/out.npy %t/piped.npy

// RUN: graphc run %t/f.gco %t/x.npy --repeat=3 --time --sum | FileCheck %s --check-prefix=TIMES
// TIMES: out0: float64 (100001,), sum {{[0-9.e+]+}}
// TIMES-NEXT: cpu: load {{.*}} ms, run min {{.*}} ms, median {{.*}} ms, first {{.*}} ms (3 runs)

// RUN: graphc run %t/f.gco %t/x.npy --repeat=2 --json | %python -c "import json, sys; r = json.load(sys.stdin); assert len(r['runs_ms']) == 2 and r['outputs'][0]['shape'] == [100001], r"

// RUN: %python %S/Inputs/status.py 4 graphc run %t/f.gco %t/x.npy --check %t/wrong.npy 2>&1 | FileCheck %s --check-prefix=DIFFERENT
// DIFFERENT: output 0 differs from {{.*}}wrong.npy: 100000 of 100001 elements, first at [1]: 0.140625 instead of 0
// RUN: %python %S/Inputs/status.py 4 graphc run %t/f.gco %t/x.npy --check %t/short.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: output 0 is float64 (100001,), {{.*}}short.npy has float64 (3,)
// RUN: %python %S/Inputs/status.py 1 graphc run %t/f.gco %t/int.npy 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: f.gco: error: [run] input {{.*}} has dtype int64, the program wants float64
// RUN: %python %S/Inputs/status.py 1 graphc run %t/f.gco %t/fortran.npy 2>&1 | FileCheck %s --check-prefix=FORTRAN
// FORTRAN: fortran.npy: error: the array is in Fortran order; save numpy.ascontiguousarray(x) instead
// RUN: %python %S/Inputs/status.py 1 graphc run %t/f.gco 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: [run] 0 inputs given, 1 wanted
// RUN: %python %S/Inputs/status.py 5 env GRAPHC_MEMORY_LIMIT=100k graphc run %t/f.gco %t/x.npy 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: [cpu] out of memory: 781.3 KiB wanted, 100.0 KiB free

// RUN: graphc inspect %t/f.gco | FileCheck %s --check-prefix=INSPECT
// INSPECT: program @main for cpu
// INSPECT: kernel @main_0 map: 2 buffers
// INSPECT: step 0: launch @main_0
// RUN: graphc inspect %t/f.gco --json | %python -c "import json, sys; p = json.load(sys.stdin); assert p[0]['target'] == 'cpu' and len(p[0]['kernels']) == 1, p"

func.func @main(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = graph.mul %x, %x : tensor<?xf64>
  %1 = graph.add %0, %x : tensor<?xf64>
  return %1 : tensor<?xf64>
}
