// Points that may share places get neighbouring numbers: their places are sorted, and values and indices are read in that order.
// RUN: graphc-opt %s "--graphc-sort-places=atomic-bits=32" | FileCheck %s

// CHECK-LABEL: func.func @vector
// CHECK: graph.extent %arg0 axes [0]
// CHECK: %[[WRAPPED:.*]] = graph.select
// CHECK: graph.library "argsort" %{{.*}} to(%{{.*}}) params [0] : tensor<1x?xi64> -> tensor<1x?xi64>
// CHECK: %[[VALUE:.*]] = graph.gather %arg1[%[[ORDER:.*]]] axes [0] at 0
// CHECK: %[[INDEX:.*]] = graph.gather %arg2[%[[ORDER]]] axes [0] at 0
// CHECK: graph.scatter %[[VALUE]] into %arg0[%[[INDEX]]] axes [0] at 0 combine "add" sorted
func.func @vector(%x: tensor<?xf32>, %v: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "add" : tensor<?xf32> into tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Indices of several axes become one line of points; the other axes stay.
// CHECK-LABEL: func.func @rows
// CHECK: graph.library "argsort" %{{.*}} : tensor<1x300xi64> -> tensor<1x300xi64>
// CHECK: graph.gather %{{.*}}[%{{.*}}] axes [1] at 1 {graphc.inside} : tensor<5x300xf32>[tensor<300xi64>] -> tensor<5x300xf32>
// CHECK: graph.scatter %{{.*}} axes [1, 2] at 1 combine "" sorted
func.func @rows(%x: tensor<5x7x9xf32>, %v: tensor<5x30x10xf32>, %i: tensor<30x10xi64>, %j: tensor<30x10xi64>) -> tensor<5x7x9xf32> {
  %0 = graph.scatter %v into %x[%i, %j] axes [1, 2] at 1 combine "" : tensor<5x30x10xf32> into tensor<5x7x9xf32>[tensor<30x10xi64>, tensor<30x10xi64>] -> tensor<5x7x9xf32>
  return %0 : tensor<5x7x9xf32>
}

// What is left out has a place of its own.
// CHECK-LABEL: func.func @dropped
// CHECK: %[[OUT:.*]] = graph.full -1
// CHECK: graph.select %{{.*}}, %[[OUT]], %arg2
// CHECK: combine "mul" drop sorted
func.func @dropped(%x: tensor<?xf32>, %v: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "mul" drop : tensor<?xf32> into tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// No two share a place; sums that devices make in one step; a few points.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: graph.library
// CHECK: return
func.func @kept(%x: tensor<?xf32>, %v: tensor<?xf32>, %i: tensor<?xi64>, %n: tensor<?xi32>, %m: tensor<?xi32>, %f: tensor<3xf32>, %g: tensor<3xi64>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xf32>) {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "add" unique : tensor<?xf32> into tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  %1 = graph.scatter %m into %n[%i] axes [0] at 0 combine "add" : tensor<?xi32> into tensor<?xi32>[tensor<?xi64>] -> tensor<?xi32>
  %2 = graph.scatter %f into %x[%g] axes [0] at 0 combine "" : tensor<3xf32> into tensor<?xf32>[tensor<3xi64>] -> tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xi32>, tensor<?xf32>
}
