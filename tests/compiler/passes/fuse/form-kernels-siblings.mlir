// Reductions of one input over the same axes read it once: one kernel.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,cse),graphc-form-kernels,cse)' | FileCheck %s

// CHECK-LABEL: kernel.func @rows_0(
// CHECK: %[[A:.*]] = kernel.load
// CHECK-NOT: kernel.load
// CHECK: kernel.reduce <sum> %[[A]]
// CHECK: kernel.reduce <max> %[[A]]
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @rows(
// CHECK: kernel.call
// CHECK-NOT: kernel.call
// CHECK: return
func.func @rows(%x: tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = graph.reduce <mean> %x axes [1] : tensor<?x8xf32> -> tensor<?xf32>
  %1 = graph.reduce <max> %x axes [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: kernel.func @everything_0(
// CHECK: %[[A:.*]] = kernel.load
// CHECK-NOT: kernel.load
// CHECK: kernel.reduce <min> %[[A]]
// CHECK: kernel.reduce <argmax> %[[A]]
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @everything(
func.func @everything(%x: tensor<?xf32>) -> (tensor<f32>, tensor<i64>) {
  %0 = graph.reduce <min> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.reduce <argmax> %x axes [0] : tensor<?xf32> -> tensor<i64>
  return %0, %1 : tensor<f32>, tensor<i64>
}

// Other axes, another kernel.
// CHECK-LABEL: func.func @other_axes(
// CHECK-COUNT-2: kernel.call
func.func @other_axes(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = graph.reduce <max> %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = graph.reduce <max> %x axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  return %0, %1 : tensor<4xf32>, tensor<8xf32>
}
