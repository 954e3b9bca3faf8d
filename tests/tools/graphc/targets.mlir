// REQUIRES: compiler, graphc, opencl
// RUN: rm -rf %t && mkdir -p %t
// RUN: graphc compile %s -o %t/f.gco --target=cpu,opencl
// RUN: graphc compile %s -o %t/cpu.gco --target=cpu
// RUN: %python %S/Inputs/npy.py %t/x.npy "np.arange(70000) % 1000"
// RUN: graphc run %t/f.gco %t/x.npy -o %t/cpu.npy --device=cpu
// RUN: graphc run %t/f.gco %t/x.npy -o %t/opencl.npy --device=opencl --check %t/cpu.npy
// RUN: cmp %t/cpu.npy %t/opencl.npy
// RUN: graphc inspect %t/f.gco | FileCheck %s
// CHECK: program @main for cpu
// CHECK: program @main for opencl
// RUN: %python %S/Inputs/status.py 3 graphc run %t/cpu.gco %t/x.npy --device=opencl 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: cpu.gco: error: the program was not compiled for opencl:0 (--target=opencl)
// RUN: %python %S/Inputs/status.py 3 graphc run %t/f.gco %t/x.npy --device=opencl:99 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: [device] there is no usable device 'opencl:99': opencl:0 is usable

func.func @main(%x: tensor<?xi64>) -> tensor<?xi64> {
  %0 = graph.mul %x, %x : tensor<?xi64>
  %1 = graph.add %0, %x : tensor<?xi64>
  return %1 : tensor<?xi64>
}
