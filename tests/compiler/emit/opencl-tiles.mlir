// Whole tiles of matrix products are functions with inline PTX where the device's compiler takes it; edges stay loops.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ptx90 --target=opencl | FileCheck %s
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu --target=opencl | FileCheck %s --check-prefix=PLAIN
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_80 --target=ptx | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: gc_tile
// PLAIN-NOT: cp.async

// CHECK-LABEL: static inline void gc_tile_f64(
// CHECK-LABEL: static inline void gc_tile_f64s(
// CHECK-LABEL: static inline void gc_tile_f32(

// CHECK-LABEL: reqd_work_group_size(128, 1, 1))) void f_0(
// CHECK: __local float [[MEMORY:v[0-9]+]][12288]
// CHECK: float [[SUMS:t[0-9]+]][128];
// CHECK: gc_tile_f32(1, 0, (__local char *)[[MEMORY]], {{.*}}, [[SUMS]]);
// CHECK: (float4)([[SUMS]][0], [[SUMS]][1], [[SUMS]][2], [[SUMS]][3])
// CHECK: fma(
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %p: tensor<?x?xf64>) -> (tensor<?x?xf32>, tensor<?x?xf64>) {
  %0 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  // One operand: only tiles on and below the diagonal have work.
  // CHECK-LABEL: reqd_work_group_size(128, 1, 1))) void f_1(
  // CHECK: __local double {{v[0-9]+}}[6144]
  // CHECK: [[BELOW:v[0-9]+]] = {{v[0-9]+}} >= {{v[0-9]+}};
  // CHECK-NEXT: if ([[BELOW]]) {
  // CHECK: double {{t[0-9]+}}[32];
  // CHECK: gc_tile_f64s(1, 1,
  %t = graph.transpose %p permutation [1, 0] : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = graph.matmul %p, %t : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf64>
}
