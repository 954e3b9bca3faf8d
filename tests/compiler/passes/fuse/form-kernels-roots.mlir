// Roots of what is never below zero are not taken to be compared with a constant.
// RUN: graphc-opt %s --graphc-form-kernels | FileCheck %s

// CHECK-LABEL: kernel.func @inside_0(
// CHECK-NOT: graph.sqrt
// CHECK: %[[T:.*]] = arith.constant 9.000000e+00 : f32
// CHECK: graph.less %{{.*}}, %[[T]] : f32
// CHECK: kernel.return
func.func @inside(%x: tensor<?xf32>) -> tensor<?xi1> {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %0 = graph.mul %x, %x : tensor<?xf32>
  %1 = graph.sqrt %0 : tensor<?xf32>
  %2 = graph.full 3.000000e+00 : f32 : tensor<f32>
  %3 = graph.broadcast %2 to(%n) dims [] : tensor<f32> -> tensor<?xf32>
  %4 = graph.less %1, %3 : tensor<?xf32>
  return %4 : tensor<?xi1>
}

// The root of a number below zero is a NaN, which is in no order and may be told of.
// CHECK-LABEL: kernel.func @signed_0(
// CHECK: graph.sqrt
// CHECK: kernel.return
func.func @signed(%x: tensor<?xf32>) -> tensor<?xi1> {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %1 = graph.sqrt %x : tensor<?xf32>
  %2 = graph.full 3.000000e+00 : f32 : tensor<f32>
  %3 = graph.broadcast %2 to(%n) dims [] : tensor<f32> -> tensor<?xf32>
  %4 = graph.less %1, %3 : tensor<?xf32>
  return %4 : tensor<?xi1>
}
