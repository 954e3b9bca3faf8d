// Reductions, the fold of block results, products: loops of the canonical order, fma where the product's chain is one.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=none | FileCheck %s

// CHECK-DAG: __kernel void f_0(
// CHECK-DAG: __kernel void f_0_fold(
// CHECK-DAG: fma(
// CHECK-NOT: mad(
// CHECK-NOT: native_
// CHECK-NOT: half
func.func @f(%x: tensor<?xf32>, %a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<f32>, tensor<?x?xf32>) {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<f32>, tensor<?x?xf32>
}
