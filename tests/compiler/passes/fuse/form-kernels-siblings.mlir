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

// Producers that share no input with each other, only a reader: one kernel.
// CHECK-LABEL: kernel.func @producers_0(
// CHECK: graph.mul
// CHECK: graph.exp
// CHECK: graph.add
// CHECK: kernel.reduce <sum>
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @producers(
// CHECK-COUNT-1: kernel.call
// CHECK-NOT: kernel.call
// CHECK: return
func.func @producers(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.mul %x, %x : tensor<?xf32>
  %1 = graph.exp %y : tensor<?xf32>
  %2 = graph.add %0, %1 : tensor<?xf32>
  %3 = graph.reduce <sum> %2 axes [0] : tensor<?xf32> -> tensor<f32>
  return %3 : tensor<f32>
}

// A producer that needs the other stays where it is, in a kernel before.
// CHECK-LABEL: func.func @producer_of_producer(
// CHECK-COUNT-2: kernel.call
// CHECK-NOT: kernel.call
// CHECK: return
func.func @producer_of_producer(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.exp %x : tensor<?xf32>
  %1 = graph.reduce <max> %0 axes [0] : tensor<?xf32> -> tensor<f32>
  %n = graph.dim %x, 0 : tensor<?xf32>
  %2 = graph.broadcast %1 to(%n) dims [] : tensor<f32> -> tensor<?xf32>
  %3 = graph.log %2 : tensor<?xf32>
  %4 = graph.add %0, %3 : tensor<?xf32>
  return %4 : tensor<?xf32>
}
