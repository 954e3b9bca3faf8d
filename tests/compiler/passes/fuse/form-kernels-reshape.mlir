// A reshape that is no index map of a value without a buffer: the value is stored first, its alias is read.
// RUN: graphc-opt %s --graphc-form-kernels --cse | FileCheck %s

// CHECK-LABEL: func.func @moved(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>)
// CHECK: %[[T:.*]] = kernel.call @moved_0(%[[X]])
// CHECK: %[[R:.*]] = graph.reshape %[[T]] : tensor<6x4xf32> -> tensor<24xf32>
// CHECK: %[[N:.*]] = kernel.call @moved_1(%[[R]])
// CHECK: return %[[N]]
func.func @moved(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %t = graph.transpose %x permutation [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %r = graph.reshape %t : tensor<6x4xf32> -> tensor<24xf32>
  %n = graph.neg %r : tensor<24xf32>
  return %n : tensor<24xf32>
}

// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %[[X:.*]]: tensor<24xf32>, %[[Y:.*]]: tensor<6xf32>)
// CHECK: %[[T:.*]] = kernel.call @repeated_0(%[[Y]])
// CHECK: %[[R:.*]] = graph.reshape %[[T]] : tensor<6x4xf32> -> tensor<24xf32>
// CHECK: kernel.call @repeated_1(
func.func @repeated(%x: tensor<24xf32>, %y: tensor<6xf32>) -> tensor<24xf32> {
  %t = graph.broadcast %y dims [0] : tensor<6xf32> -> tensor<6x4xf32>
  %r = graph.reshape %t : tensor<6x4xf32> -> tensor<24xf32>
  %a = graph.add %r, %x : tensor<24xf32>
  return %a : tensor<24xf32>
}

// CHECK-LABEL: func.func @product(
// CHECK: %[[T:.*]] = kernel.call @product_0(
// CHECK: %[[R:.*]] = graph.reshape %[[T]]
// CHECK: kernel.call @product_1(%[[R]]
func.func @product(%x: tensor<4x6xf32>, %y: tensor<12x3xf32>) -> tensor<2x3xf32> {
  %t = graph.transpose %x permutation [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %r = graph.reshape %t : tensor<6x4xf32> -> tensor<2x12xf32>
  %m = graph.matmul %r, %y : tensor<2x12xf32>, tensor<12x3xf32> -> tensor<2x3xf32>
  return %m : tensor<2x3xf32>
}
