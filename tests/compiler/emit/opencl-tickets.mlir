// Where groups tell each other what they stored, one work-item's fence speaks for its group: the barrier before it orders
// global memory as well.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,tickets --target=opencl | FileCheck %s

// CHECK-LABEL: void main_0(
// CHECK-NOT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
// CHECK: GC_FENCE();
// CHECK: atomic_add(
// CHECK-LABEL: void main_0_fold(
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
