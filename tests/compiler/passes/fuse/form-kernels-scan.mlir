// A scan takes what it scans and what follows at the same element; it is the only pass over its points.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,cse),graphc-form-kernels,cse)' | FileCheck %s

// CHECK-LABEL: kernel.func @around_0(
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0, 8), parallel = 1>
// CHECK: graph.exp
// CHECK: kernel.scan <sum>
// CHECK: graph.neg
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @around(
func.func @around(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = graph.exp %x : tensor<?x8xf32>
  %1 = graph.scan <sum> %0 axis 1 : tensor<?x8xf32>
  %2 = graph.neg %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// A reduction of a scan, another scan, and a row's value in front: kernels of their own.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-4: kernel.call
// CHECK-NOT: kernel.call
// CHECK: return
func.func @apart(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>) {
  %0 = graph.scan <sum> %x axis 1 : tensor<4x8xf32>
  %1 = graph.reduce <max> %0 axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = graph.scan <prod> %0 axis 0 : tensor<4x8xf32>
  %3 = graph.scan <sum> %1 axis 0 : tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>
}

// Along one element a scan is its operand.
// CHECK-LABEL: kernel.func @single_0(
// CHECK-NOT: kernel.scan
// CHECK-LABEL: func.func @single(
func.func @single(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = graph.scan <sum> %x axis 1 : tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
