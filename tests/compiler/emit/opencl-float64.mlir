// float64 is asked of the device by name; a device without it refuses, with the op's line and the two ways out.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64 | FileCheck %s
// RUN: not graphc compile %s --emit=opencl --opencl-features=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not graphc compile %s --target=opencl --opencl-features=none -o %t.gco 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: #pragma OPENCL EXTENSION cl_khr_fp64 : enable
// CHECK: __kernel void f_0({{.*}}double *
// NONE: [opencl] the device has no float64, which {{.*}} needs; convert with astype('float32'), or run it on device='cpu'
func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = graph.exp %x : tensor<?xf64>
  return %0 : tensor<?xf64>
}
