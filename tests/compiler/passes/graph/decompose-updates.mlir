// An update of every element in order is its value; any other update stays.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose))' | FileCheck %s

// CHECK-LABEL: @whole(
// CHECK-SAME: %{{.*}}: tensor<4x3xf32>, %[[V:.*]]: tensor<4x3xf32>)
// CHECK-NEXT: return %[[V]]
func.func @whole(%x: tensor<4x3xf32>, %v: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = graph.update_slice %v into %x from [0, 0] step [1, 1] : tensor<4x3xf32> into tensor<4x3xf32> -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// Sizes that an elementwise op has made equal.
// CHECK-LABEL: @whole_dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[Y:.*]]: tensor<?x3xf32>)
// CHECK: %[[V:.*]] = graph.add %[[X]], %[[Y]]
// CHECK-NOT: update_slice
// CHECK: return %[[V]]
func.func @whole_dynamic(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %v = graph.add %x, %y : tensor<?x3xf32>
  %0 = graph.update_slice %v into %x from [0, 0] step [1, 1] : tensor<?x3xf32> into tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: @other_order(
// CHECK: graph.update_slice
func.func @other_order(%x: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.update_slice %v into %x from [3] step [-1] : tensor<4xf32> into tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_part(
// CHECK: graph.update_slice
func.func @a_part(%x: tensor<4xf32>, %v: tensor<3xf32>) -> tensor<4xf32> {
  %0 = graph.update_slice %v into %x from [0] step [1] : tensor<3xf32> into tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Two sizes of which nobody says that they are equal.
// CHECK-LABEL: @maybe_a_part(
// CHECK: graph.update_slice
func.func @maybe_a_part(%x: tensor<?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.update_slice %v into %x from [0] step [1] : tensor<?xf32> into tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @of_nothing(
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf32>, %{{.*}}: tensor<0x2xf32>)
// CHECK-NEXT: return %[[X]]
func.func @of_nothing(%x: tensor<4x5xf32>, %v: tensor<0x2xf32>) -> tensor<4x5xf32> {
  %0 = graph.update_slice %v into %x from [1, 1] step [1, 1] : tensor<0x2xf32> into tensor<4x5xf32> -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
