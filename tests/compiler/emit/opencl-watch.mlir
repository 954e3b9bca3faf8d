// What work-items of groups watch: one operation a value, and one test at their end; without a branch for drivers that lose
// folds after one. Whole strips of a map have no masks. NVIDIA's own operations where its compiler is known.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu --target=opencl | FileCheck %s
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,straight --target=opencl | FileCheck %s --check-prefix=STRAIGHT
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ptx90 --target=opencl | FileCheck %s --check-prefix=NVIDIA

module attributes {graphc.watch} {
// CHECK-LABEL: void f_0(
// CHECK: float [[SEEN:v[0-9]+]][1];
// CHECK: barrier(
// CHECK: fma(
// CHECK: float [[ALL:v[0-9]+]] = [[SEEN]][
// CHECK-NEXT: isunordered([[ALL]], [[ALL]])
// CHECK: if (
// CHECK: [{{v[0-9]+}}] = v
// CHECK-LABEL: void f_1(
// CHECK: float [[SEEN:v[0-9]+]][1];
// CHECK: float4
// CHECK-NOT: else
// CHECK: float [[BEFORE:v[0-9]+]] = [[SEEN]][
// CHECK-NEXT: fma({{.*}}, [[BEFORE]]);
// CHECK-COUNT-3: fma(
// CHECK-NEXT: [[SEEN]][
// CHECK: } else {
// CHECK: isunordered(

// STRAIGHT-LABEL: void f_0(
// STRAIGHT: barrier(
// STRAIGHT: isunordered(
// STRAIGHT-NOT: if (
// STRAIGHT-LABEL: void f_0_fold(

// NVIDIA: max.NaN
// NVIDIA-LABEL: void f_1(
// NVIDIA: gc_minimum(
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.tanh %y : tensor<?xf32>
  %2 = graph.exp %1 : tensor<?xf32>
  return %0, %2 : tensor<f32>, tensor<?xf32>
}
}
