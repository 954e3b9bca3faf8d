// Tiles of matrix products are blocks of inline PTX where the device's compiler takes it, edges too; where there are few of
// them, small ones run.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ptx90 --target=opencl | FileCheck %s
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu --target=opencl | FileCheck %s --check-prefix=PLAIN
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_80 --target=ptx | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: asm
// PLAIN-NOT: cp.async

// CHECK-LABEL: reqd_work_group_size(128, 1, 1))) void f_0(
// CHECK: __local float [[MEMORY:v[0-9]+]][12288] __attribute__((aligned(128)));
// CHECK: float [[SUMS:t[0-9]+]][128];
// CHECK: asm volatile(
// CHECK: @more cp.async.cg.shared.global [x+2048], [far], 16;
// CHECK: fma.rn.f32 %127, a0_7, b0_15, %127;
// CHECK: : "=&f"([[SUMS]][0]), "=&f"([[SUMS]][1])
// CHECK: : "r"((uint)(ulong)[[MEMORY]]), "r"((uint)get_local_id(0)), "l"({{.*}} * 4), "l"({{.*}} * 4), "r"((int)
// CHECK-NOT: fma(
// CHECK: (float4)([[SUMS]][0], [[SUMS]][1], [[SUMS]][2], [[SUMS]][3])
// CHECK-LABEL: reqd_work_group_size(128, 1, 1))) void f_0_small(
// CHECK: float {{t[0-9]+}}[32];
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %p: tensor<?x?xf64>) -> (tensor<?x?xf32>, tensor<?x?xf64>) {
  %0 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  // One operand: only tiles on and below the diagonal have work.
  // CHECK-LABEL: reqd_work_group_size(128, 1, 1))) void f_1(
  // CHECK: __local double {{v[0-9]+}}[6144]
  // CHECK: [[BELOW:v[0-9]+]] = {{v[0-9]+}} >= {{v[0-9]+}};
  // CHECK-NEXT: if ([[BELOW]]) {
  // CHECK: double {{t[0-9]+}}[32];
  // CHECK: mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64
  // CHECK-NOT: f_1_small
  %t = graph.transpose %p permutation [1, 0] : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = graph.matmul %p, %t : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf64>
}
