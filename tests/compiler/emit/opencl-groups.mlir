// GPU-class devices: groups with local memory, whole vectors, loops that read ahead.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu --target=opencl | FileCheck %s

// CHECK-LABEL: __kernel __attribute__((reqd_work_group_size(256, 1, 1))) void f_0(__global float *restrict
// CHECK: get_group_id(0)
// CHECK: __local float {{.*}}[1024]
// CHECK: get_local_id(0)
// CHECK: #pragma unroll 8
// CHECK: float4 {{.*}} = *(__global float4 *)
// CHECK: *(__local float4 *)({{.*}}) =
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-LABEL: void f_0_fold(
// A map may write what it reads.
// CHECK-LABEL: void f_1(__global float *v
// CHECK-NOT: restrict
// CHECK: }
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.neg %y : tensor<?xf32>
  return %0, %1 : tensor<f32>, tensor<?xf32>
}
