// A library step reads whole buffers and fuses with nothing; what stands around it is made of ordinary kernels.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,cse),graphc-form-kernels,cse)' | FileCheck %s

// A moved operand becomes a buffer; the reader of the result reads it through an index map.
// CHECK-LABEL: kernel.func @around_0(
// CHECK: graph.neg
// CHECK-LABEL: kernel.func @around_2(
// CHECK: graph.exp
// CHECK-LABEL: func.func @around(
// CHECK: %[[X:.*]] = kernel.call @around_0(
// CHECK: %[[S:.*]] = graph.library "sort" %[[X]] params [0]
// CHECK: kernel.call @around_2(%[[S]])
func.func @around(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.neg %x : tensor<4x8xf32>
  %1 = graph.transpose %0 permutation [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %2 = graph.transpose %1 permutation [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %3 = graph.library "sort" %0 params [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = graph.slice %3 from [0, 7] step [1, -1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = graph.exp %4 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// Siblings over the same space do not take a step into their kernel, nor join it.
// CHECK-LABEL: func.func @siblings(
// CHECK-COUNT-1: graph.library
// CHECK-COUNT-1: kernel.call
// CHECK-NOT: graph.library
// CHECK-NOT: kernel.call
// CHECK: return
func.func @siblings(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.library "sort" %x params [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = graph.exp %x : tensor<4x8xf32>
  %2 = graph.add %0, %1 : tensor<4x8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A step nobody reads is left out.
// CHECK-LABEL: func.func @dead(
// CHECK-NEXT: return
func.func @dead(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.library "sort" %x params [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
