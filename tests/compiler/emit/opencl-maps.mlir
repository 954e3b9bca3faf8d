// OpenCL C: one kernel a function, one work item an element; no contraction; types of memory in the signature.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64 | FileCheck %s

// CHECK: #pragma OPENCL FP_CONTRACT OFF
// CHECK-NOT: cl_khr_fp64
// CHECK: __kernel void f_0(__global {{(const )?}}float *
// CHECK-SAME: __global char *
// CHECK-SAME: const long range) {
// CHECK: get_global_id(0)
// CHECK: >= range) return;
// CHECK-NOT: fma(
// CHECK: }
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xi1> {
  %0 = graph.mul %x, %y : tensor<?xf32>
  %1 = graph.add %0, %x : tensor<?xf32>
  %2 = graph.less %1, %y : tensor<?xf32>
  return %2 : tensor<?xi1>
}
