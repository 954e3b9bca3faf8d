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
// CHECK: graph.scatter %{{.*}} axes [1, 2] at 1 combine "mul" sorted
func.func @rows(%x: tensor<5x7x9xf32>, %v: tensor<5x30x10xf32>, %i: tensor<30x10xi64>, %j: tensor<30x10xi64>) -> tensor<5x7x9xf32> {
  %0 = graph.scatter %v into %x[%i, %j] axes [1, 2] at 1 combine "mul" : tensor<5x30x10xf32> into tensor<5x7x9xf32>[tensor<30x10xi64>, tensor<30x10xi64>] -> tensor<5x7x9xf32>
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

// Of points that write, the last one of each place is found in a table of the places; all write what it has.
// CHECK-LABEL: func.func @written
// CHECK: %[[LINE:.*]] = graph.mul
// CHECK: %[[LINEAR:.*]] = graph.add %[[LINE]]
// CHECK: %[[NONE:.*]] = graph.full 0 : i32 : tensor<63xi32>
// CHECK: %[[OWN:.*]] = graph.iota : tensor<300xi32>
// CHECK: %[[TABLE:.*]] = graph.scatter %[[OWN]] into %[[NONE]][%[[LINEAR]]] axes [0] at 0 combine "maximum" drop
// CHECK: %[[LAST:.*]] = graph.gather %[[TABLE]]
// CHECK: %[[POINT:.*]] = graph.cast %[[LAST]] : tensor<300xi32> -> tensor<300xi64>
// CHECK: %[[VALUE:.*]] = graph.gather %{{.*}}[%[[POINT]]] axes [1] at 1
// CHECK: graph.scatter %[[VALUE]] into %arg0[%{{.*}}, %{{.*}}] axes [1, 2] at 1 combine "" unique
// CHECK-NOT: graph.library
func.func @written(%x: tensor<5x7x9xf32>, %v: tensor<5x30x10xf32>, %i: tensor<30x10xi64>, %j: tensor<30x10xi64>) -> tensor<5x7x9xf32> {
  %0 = graph.scatter %v into %x[%i, %j] axes [1, 2] at 1 combine "" : tensor<5x30x10xf32> into tensor<5x7x9xf32>[tensor<30x10xi64>, tensor<30x10xi64>] -> tensor<5x7x9xf32>
  return %0 : tensor<5x7x9xf32>
}

// Not where places are many more than points.
// CHECK-LABEL: func.func @far
// CHECK: graph.library "argsort"
// CHECK: combine "" sorted
func.func @far(%x: tensor<801xf32>, %v: tensor<100xf32>, %i: tensor<100xi64>) -> tensor<801xf32> {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "" : tensor<100xf32> into tensor<801xf32>[tensor<100xi64>] -> tensor<801xf32>
  return %0 : tensor<801xf32>
}

// Sizes that are not known: one of them has no points.
// CHECK-LABEL: func.func @either
// CHECK: graph.scatter %{{.*}} combine "maximum" drop
// CHECK: %[[FIRST:.*]] = graph.scatter %{{.*}} into %arg0[{{.*}} combine "" unique
// CHECK: graph.library "argsort"
// CHECK: %[[SECOND:.*]] = graph.scatter %{{.*}} into %[[FIRST]][{{.*}} combine "" sorted
// CHECK: return %[[SECOND]]
func.func @either(%x: tensor<?xf32>, %v: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "" : tensor<?xf32> into tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// One value has no order; neither have extremes and bits of integers.
// CHECK-LABEL: func.func @free
// CHECK-NOT: graph.library
// CHECK: combine "" unique
// CHECK-NOT: graph.library
// CHECK: combine "maximum" :
// CHECK: combine "bitwise_xor" :
// CHECK: graph.library "argsort"
// CHECK: combine "maximum" sorted
func.func @free(%x: tensor<?xf32>, %s: tensor<f32>, %v: tensor<?xf32>, %i: tensor<?xi64>, %n: tensor<?xui32>, %m: tensor<?xui32>) -> (tensor<?xf32>, tensor<?xui32>, tensor<?xui32>, tensor<?xf32>) {
  %0 = graph.dim %i, 0 : tensor<?xi64>
  %1 = graph.broadcast %s to(%0) dims [] : tensor<f32> -> tensor<?xf32>
  %2 = graph.scatter %1 into %x[%i] axes [0] at 0 combine "" : tensor<?xf32> into tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  %3 = graph.scatter %m into %n[%i] axes [0] at 0 combine "maximum" : tensor<?xui32> into tensor<?xui32>[tensor<?xi64>] -> tensor<?xui32>
  %4 = graph.scatter %m into %n[%i] axes [0] at 0 combine "bitwise_xor" : tensor<?xui32> into tensor<?xui32>[tensor<?xi64>] -> tensor<?xui32>
  %5 = graph.scatter %v into %x[%i] axes [0] at 0 combine "maximum" : tensor<?xf32> into tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  return %2, %3, %4, %5 : tensor<?xf32>, tensor<?xui32>, tensor<?xui32>, tensor<?xf32>
}
