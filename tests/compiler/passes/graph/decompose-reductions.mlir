// Reductions become one op per group of adjacent axes, last group first: the canonical order of docs/numerics.md.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose))' | FileCheck %s

// CHECK-LABEL: @two_groups(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4x5xf32>)
// CHECK-NEXT: %[[L:.*]] = graph.reduce <sum> %[[X]] axes [3] : tensor<2x3x4x5xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[R:.*]] = graph.reduce <sum> %[[L]] axes [0, 1] : tensor<2x3x4xf32> -> tensor<4xf32>
// CHECK-NEXT: return %[[R]]
func.func @two_groups(%x: tensor<2x3x4x5xf32>) -> tensor<4xf32> {
  %0 = graph.reduce <sum> %x axes [0, 1, 3] : tensor<2x3x4x5xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @three_groups(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4x5x6xf32>)
// CHECK-NEXT: %[[A:.*]] = graph.reduce <max> %[[X]] axes [4] : tensor<2x3x4x5x6xf32> -> tensor<2x3x4x5xf32>
// CHECK-NEXT: %[[B:.*]] = graph.reduce <max> %[[A]] axes [2] : tensor<2x3x4x5xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT: graph.reduce <max> %[[B]] axes [0] : tensor<2x3x5xf32> -> tensor<3x5xf32>
func.func @three_groups(%x: tensor<2x3x4x5x6xf32>) -> tensor<3x5xf32> {
  %0 = graph.reduce <max> %x axes [0, 2, 4] : tensor<2x3x4x5x6xf32> -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: @one_group_stays(
// CHECK-NEXT: graph.reduce <sum> %{{.*}} axes [1, 2] : tensor<2x3x4xf32> -> tensor<2xf32>
// CHECK-NEXT: return
func.func @one_group_stays(%x: tensor<2x3x4xf32>) -> tensor<2xf32> {
  %0 = graph.reduce <sum> %x axes [1, 2] : tensor<2x3x4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// An axis of size 1 does not separate groups.
// CHECK-LABEL: @one_between(
// CHECK-NEXT: graph.reduce <sum> %{{.*}} axes [0, 2] : tensor<2x1x4xf32> -> tensor<1xf32>
// CHECK-NEXT: return
func.func @one_between(%x: tensor<2x1x4xf32>) -> tensor<1xf32> {
  %0 = graph.reduce <sum> %x axes [0, 2] : tensor<2x1x4xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// CHECK-LABEL: @only_size_one(
// CHECK-SAME: %[[X:.*]]: tensor<2x1x1xf32>)
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[X]] : tensor<2x1x1xf32> -> tensor<2xf32>
// CHECK-NEXT: return %[[R]]
func.func @only_size_one(%x: tensor<2x1x1xf32>) -> tensor<2xf32> {
  %0 = graph.reduce <prod> %x axes [1, 2] : tensor<2x1x1xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @size_one_and_more(
// CHECK-SAME: %[[X:.*]]: tensor<1x7x1xf32>)
// CHECK-NEXT: %[[S:.*]] = graph.reduce <sum> %[[X]] axes [1] : tensor<1x7x1xf32> -> tensor<1x1xf32>
// CHECK-NEXT: graph.reshape %[[S]] : tensor<1x1xf32> -> tensor<f32>
func.func @size_one_and_more(%x: tensor<1x7x1xf32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0, 1, 2] : tensor<1x7x1xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// `?` may be 1 or not: it stays a reduction.
// CHECK-LABEL: @unknown_size(
// CHECK: graph.reduce <min> %{{.*}} axes [0] : tensor<?x3xf32> -> tensor<3xf32>
func.func @unknown_size(%x: tensor<?x3xf32>) -> tensor<3xf32> {
  %0 = graph.reduce <min> %x axes [0] : tensor<?x3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// The only index there is.
// CHECK-LABEL: @argmax_of_one(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>)
// CHECK: %[[N:.*]] = graph.dim %[[X]], 0
// CHECK: graph.full 0 : i64 to(%[[N]]) : tensor<?xi64>
func.func @argmax_of_one(%x: tensor<?x1xf32>) -> tensor<?xi64> {
  %0 = graph.reduce <argmax> %x axes [1] : tensor<?x1xf32> -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// CHECK-LABEL: @argmax_stays(
// CHECK: graph.reduce <argmax> %{{.*}} axes [1] : tensor<2x5x1xf32> -> tensor<2x1xi64>
func.func @argmax_stays(%x: tensor<2x5x1xf32>) -> tensor<2x1xi64> {
  %0 = graph.reduce <argmax> %x axes [1] : tensor<2x5x1xf32> -> tensor<2x1xi64>
  return %0 : tensor<2x1xi64>
}
