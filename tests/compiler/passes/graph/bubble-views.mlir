// Views of what is computed for them alone are views of what it is computed from.
// RUN: graphc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graphc-bubble-views))' | FileCheck %s

// An axis that is split: any operand may be read so, a number stays one.
// CHECK-LABEL: @split(
// CHECK-DAG: %[[A:.*]] = graph.reshape %arg0 : tensor<24xf32> -> tensor<4x6xf32>
// CHECK-DAG: %[[B:.*]] = graph.reshape %arg1 : tensor<24xi32> -> tensor<4x6xi32>
// CHECK-DAG: %[[ONE:.*]] = graph.broadcast %{{.*}} dims [] : tensor<f32> -> tensor<4x6xf32>
// CHECK: %[[S:.*]] = graph.sin %[[A]] : tensor<4x6xf32>
// CHECK: %[[C:.*]] = graph.cast %[[B]] : tensor<4x6xi32> -> tensor<4x6xf32>
// CHECK: %[[T:.*]] = graph.add %[[S]], %[[C]] : tensor<4x6xf32>
// CHECK: %[[R:.*]] = graph.mul %[[T]], %[[ONE]] : tensor<4x6xf32>
// CHECK: graph.reduce <sum> %[[R]] axes [1]
func.func @split(%x: tensor<24xf32>, %y: tensor<24xi32>) -> tensor<4xf32> {
  %0 = graph.sin %x : tensor<24xf32>
  %1 = graph.cast %y : tensor<24xi32> -> tensor<24xf32>
  %2 = graph.add %0, %1 : tensor<24xf32>
  %3 = graph.full 2.0 : f32 : tensor<f32>
  %4 = graph.broadcast %3 dims [] : tensor<f32> -> tensor<24xf32>
  %5 = graph.mul %2, %4 : tensor<24xf32>
  %6 = graph.reshape %5 : tensor<24xf32> -> tensor<4x6xf32>
  %7 = graph.reduce <sum> %6 axes [1] : tensor<4x6xf32> -> tensor<4xf32>
  return %7 : tensor<4xf32>
}

// -----

// Axes that are joined: only what lies in memory as a whole.
// CHECK-LABEL: @join(
// CHECK: graph.reshape %arg0
// CHECK: graph.sin %{{.*}} : tensor<24xf32>
// CHECK: graph.sqrt
func.func @join(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %0 = graph.sin %x : tensor<4x6xf32>
  %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
  %2 = graph.sqrt %1 : tensor<24xf32>
  return %2 : tensor<24xf32>
}

// CHECK-LABEL: @join_of_rows(
// CHECK: graph.add %{{.*}} : tensor<4x6xf32>
// CHECK-NEXT: graph.reshape
func.func @join_of_rows(%x: tensor<4x6xf32>, %row: tensor<6xf32>) -> tensor<24xf32> {
  %0 = graph.broadcast %row dims [1] : tensor<6xf32> -> tensor<4x6xf32>
  %1 = graph.add %x, %0 : tensor<4x6xf32>
  %2 = graph.reshape %1 : tensor<4x6xf32> -> tensor<24xf32>
  %3 = graph.sqrt %2 : tensor<24xf32>
  return %3 : tensor<24xf32>
}

// -----

// Views of views; of a slice only what is read is computed.
// CHECK-LABEL: @slice_of_transpose(
// CHECK: graph.transpose %arg0
// CHECK: graph.slice
// CHECK: graph.exp %{{.*}} : tensor<2x4xf32>
// CHECK: graph.neg
func.func @slice_of_transpose(%x: tensor<4x6xf32>) -> tensor<2x4xf32> {
  %0 = graph.exp %x : tensor<4x6xf32>
  %1 = graph.transpose %0 permutation [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %2 = graph.slice %1 from [1, 0] step [2, 1] : tensor<6x4xf32> -> tensor<2x4xf32>
  %3 = graph.neg %2 : tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// -----

// What others read as well is computed once, where it was.
// CHECK-LABEL: @shared(
// CHECK: %[[E:.*]] = graph.exp %arg0 : tensor<6xf32>
// CHECK-DAG: graph.slice %[[E]] from [1]
// CHECK-DAG: graph.slice %[[E]] from [0]
// CHECK: graph.sub
func.func @shared(%x: tensor<6xf32>) -> tensor<5xf32> {
  %0 = graph.exp %x : tensor<6xf32>
  %1 = graph.slice %0 from [1] step [1] : tensor<6xf32> -> tensor<5xf32>
  %2 = graph.slice %0 from [0] step [1] : tensor<6xf32> -> tensor<5xf32>
  %3 = graph.sub %1, %2 : tensor<5xf32>
  return %3 : tensor<5xf32>
}

// A value that is read twice by what reads it is still its own.
// CHECK-LABEL: @diamond(
// CHECK: graph.reshape %arg0
// CHECK: %[[S:.*]] = graph.sin %{{.*}} : tensor<2x3xf32>
// CHECK: graph.mul %[[S]], %[[S]] : tensor<2x3xf32>
func.func @diamond(%x: tensor<6xf32>) -> tensor<2xf32> {
  %0 = graph.sin %x : tensor<6xf32>
  %1 = graph.mul %0, %0 : tensor<6xf32>
  %2 = graph.reshape %1 : tensor<6xf32> -> tensor<2x3xf32>
  %3 = graph.reduce <sum> %2 axes [1] : tensor<2x3xf32> -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// -----

// Nothing is computed with it: the reshape names the memory.
// CHECK-LABEL: @result(
// CHECK: graph.sin %arg0
// CHECK-NEXT: graph.reshape
func.func @result(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %0 = graph.sin %x : tensor<6xf32>
  %1 = graph.reshape %0 : tensor<6xf32> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// Transposed reads are far apart: of more than two operands one value is made first.
// CHECK-LABEL: @transposed(
// CHECK: graph.mul
// CHECK-NEXT: graph.transpose
func.func @transposed(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>, %z: tensor<4x6xf32>) -> tensor<6xf32> {
  %0 = graph.add %x, %y : tensor<4x6xf32>
  %1 = graph.mul %0, %z : tensor<4x6xf32>
  %2 = graph.transpose %1 permutation [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %3 = graph.reduce <sum> %2 axes [1] : tensor<6x4xf32> -> tensor<6xf32>
  return %3 : tensor<6xf32>
}

// -----

// Sizes of operands that are not known to be equal are still compared.
// CHECK-LABEL: @unequal(
// CHECK: graph.add %arg0, %arg1
// CHECK-NEXT: graph.slice
func.func @unequal(%x: tensor<?xf32> {graph.dims = array<i64: 0>}, %y: tensor<?xf32> {graph.dims = array<i64: 1>}) -> tensor<2xf32> {
  %0 = graph.add %x, %y : tensor<?xf32>
  %1 = graph.slice %0 from [0] step [1] : tensor<?xf32> -> tensor<2xf32>
  %2 = graph.neg %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Where float errors are watched, elements that are left out may raise them; those that only move do not.
module attributes {graphc.watch} {
  // CHECK-LABEL: @watched(
  // CHECK: graph.div
  // CHECK-NEXT: graph.slice
  // CHECK: graph.slice %arg1
  // CHECK-NEXT: graph.abs
  func.func @watched(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<5xf32> {
    %0 = graph.div %x, %x : tensor<6xf32>
    %1 = graph.slice %0 from [1] step [1] : tensor<6xf32> -> tensor<5xf32>
    %2 = graph.abs %y : tensor<6xf32>
    %3 = graph.slice %2 from [1] step [1] : tensor<6xf32> -> tensor<5xf32>
    %4 = graph.sub %1, %3 : tensor<5xf32>
    return %4 : tensor<5xf32>
  }

  // CHECK-LABEL: @watched_backwards(
  // CHECK: graph.slice %arg0
  // CHECK: graph.div
  func.func @watched_backwards(%x: tensor<6xf32>) -> tensor<6xf32> {
    %0 = graph.div %x, %x : tensor<6xf32>
    %1 = graph.slice %0 from [5] step [-1] : tensor<6xf32> -> tensor<6xf32>
    %2 = graph.neg %1 : tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}
