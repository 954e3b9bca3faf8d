// Gathers are maps over their indices that read one tensor as a whole; scatters are the last op of their kernel.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,cse),graphc-form-kernels,cse)' | FileCheck %s

// CHECK-DAG: [[$TURNED:#.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d2, d1)>
// CHECK-DAG: [[$CUT:#.*]] = affine_map<(d0, d1) -> (-d1 + 7, 2)>

// What makes the indices and what follows is in the gather's kernel; movement of the source is in its map.
// CHECK-LABEL: kernel.func @fused_0(
// CHECK: %[[N:.*]] = graph.neg
// CHECK: %[[P:.*]] = kernel.bound %[[N]] below #{{.*}} site 0
// CHECK: %[[G:.*]] = kernel.gather %arg1[%[[P]]] at [[$TURNED]] : tensor<?x4xf32> -> f32
// CHECK: graph.mul %[[G]]
// CHECK-NOT: kernel.func
// CHECK: kernel.call @fused_0({{.*}} {faults = [{axis = 0 : i64, line = "{{.*}}form-kernels-places.mlir:[[#@LINE+6]]", place = -1 : i64}]}
func.func @fused(%x: tensor<?x4xf32>, %i: tensor<?xi64>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = graph.dim %i, 0 : tensor<?xi64>
  %t = graph.transpose %x permutation [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  %s = graph.transpose %t permutation [1, 0] : tensor<4x?xf32> -> tensor<?x4xf32>
  %j = graph.neg %i : tensor<?xi64>
  %g = graph.gather %s[%j] axes [0] at 0 : tensor<?x4xf32>[tensor<?xi64>] -> tensor<?x4xf32>
  %r = graph.mul %g, %y : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// A computed source is in memory first; a slice of it is not copied.
// CHECK-LABEL: kernel.func @source_0(
// CHECK: graph.exp
// CHECK-LABEL: kernel.func @source_1(
// CHECK: kernel.gather %{{.*}} at [[$CUT]] : tensor<8x4xf32> -> f32
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @source(
func.func @source(%x: tensor<8x4xf32>, %i: tensor<9xi64>) -> tensor<9xf32> {
  %e = graph.exp %x : tensor<8x4xf32>
  %t = graph.slice %e from [7, 2] step [-1, 1] : tensor<8x4xf32> -> tensor<8x1xf32>
  %r = graph.reshape %t : tensor<8x1xf32> -> tensor<8xf32>
  %g = graph.gather %r[%i] axes [0] at 0 : tensor<8xf32>[tensor<9xi64>] -> tensor<9xf32>
  return %g : tensor<9xf32>
}

// Two indices into axes of one size by one index are checked once.
// CHECK-LABEL: kernel.func @checked_0(
// CHECK-COUNT-1: kernel.bound
// CHECK-NOT: kernel.bound
// CHECK-LABEL: func.func @checked(
func.func @checked(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: tensor<9xi64>) -> tensor<9xf32> {
  %0 = graph.gather %x[%i] axes [0] at 0 : tensor<8xf32>[tensor<9xi64>] -> tensor<9xf32>
  %1 = graph.gather %y[%i] axes [0] at 0 : tensor<8xf32>[tensor<9xi64>] -> tensor<9xf32>
  %2 = graph.add %0, %1 : tensor<9xf32>
  return %2 : tensor<9xf32>
}

// Cheap producers join a scatter.
// CHECK-LABEL: kernel.func @scattered_0(
// CHECK: graph.cast
// CHECK: graph.add
// CHECK: kernel.scatter %{{.*}}, result 0[%{{.*}}] combine "add"
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @scattered(
func.func @scattered(%x: tensor<8xf32>, %v: tensor<9xf32>, %i: tensor<9xi32>) -> tensor<8xf32> {
  %j = graph.cast %i : tensor<9xi32> -> tensor<9xi64>
  %d = graph.add %v, %v : tensor<9xf32>
  %s = graph.scatter %d into %x[%j] axes [0] at 0 combine "add" : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// A gather of what is updated sees the old elements, so it is done before.
// CHECK-LABEL: kernel.func @compound_0(
// CHECK: kernel.gather
// CHECK-NOT: kernel.scatter
// CHECK-LABEL: kernel.func @compound_1(
// CHECK-NOT: kernel.gather
// CHECK: kernel.scatter
// CHECK-LABEL: func.func @compound(
func.func @compound(%x: tensor<8xf32>, %v: tensor<9xf32>, %j: tensor<9xi64>) -> tensor<8xf32> {
  %g = graph.gather %x[%j] axes [0] at 0 : tensor<8xf32>[tensor<9xi64>] -> tensor<9xf32>
  %d = graph.add %g, %v : tensor<9xf32>
  %s = graph.scatter %d into %x[%j] axes [0] at 0 combine "" : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// One thread writes in order: expensive producers stay on all of them, unless no two places are equal.
// CHECK-LABEL: kernel.func @expensive_0(
// CHECK: graph.exp
// CHECK: kernel.return
// CHECK: kernel.scatter
// CHECK-LABEL: func.func @expensive(
func.func @expensive(%x: tensor<8xf32>, %v: tensor<9xf32>, %j: tensor<9xi64>) -> tensor<8xf32> {
  %d = graph.exp %v : tensor<9xf32>
  %s = graph.scatter %d into %x[%j] axes [0] at 0 combine "" : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// CHECK-LABEL: kernel.func @unique_0(
// CHECK: graph.exp
// CHECK: %[[IN:.*]] = kernel.inside
// CHECK: kernel.scatter %{{.*}} if %[[IN]] combine "" at #{{.*}} unique
func.func @unique(%x: tensor<8xf32>, %v: tensor<9xf32>, %j: tensor<9xi64>) -> tensor<8xf32> {
  %d = graph.exp %v : tensor<9xf32>
  %s = graph.scatter %d into %x[%j] axes [0] at 0 combine "" unique drop : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// What is scattered is summed in a kernel of its own.
// CHECK-LABEL: kernel.func @summed_0(
// CHECK-NOT: kernel.reduce
// CHECK: kernel.scatter
// CHECK-NOT: kernel.reduce
// CHECK-LABEL: kernel.func @summed_1(
// CHECK: kernel.reduce
func.func @summed(%x: tensor<8xf32>, %v: tensor<9xf32>, %j: tensor<9xi64>) -> (tensor<8xf32>, tensor<f32>) {
  %d = graph.exp %v : tensor<9xf32>
  %s = graph.scatter %d into %x[%j] axes [0] at 0 combine "" unique drop : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  %t = graph.reduce <sum> %d axes [0] : tensor<9xf32> -> tensor<f32>
  return %s, %t : tensor<8xf32>, tensor<f32>
}

// What is written into a part of an array at places goes to the array itself: no part is read and put back.
// CHECK-LABEL: kernel.func @part_0(
// CHECK-SAME: inits = array<i64: 2>
// CHECK: %[[P:.*]] = kernel.bound %{{.*}} below #{{.*}} site 0
// CHECK: kernel.scatter %{{.*}}, result 0[%[[P]]] combine "" at [[$CUT]] : f32
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @part(
func.func @part(%x: tensor<8x4xf32>, %v: tensor<9xf32>, %j: tensor<9xi64>) -> tensor<8x4xf32> {
  %t = graph.slice %x from [7, 2] step [-1, 1] : tensor<8x4xf32> -> tensor<8x1xf32>
  %c = graph.reshape %t : tensor<8x1xf32> -> tensor<8xf32>
  %s = graph.scatter %v into %c[%j] axes [0] at 0 combine "" : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  %r = graph.reshape %s : tensor<8xf32> -> tensor<8x1xf32>
  %u = graph.update_slice %r into %x from [7, 2] step [-1, 1] : tensor<8x1xf32> into tensor<8x4xf32> -> tensor<8x4xf32>
  return %u : tensor<8x4xf32>
}

// Not where the result is read by others, goes elsewhere, or comes from elements of the array.
// CHECK-LABEL: kernel.func @read_0(
// CHECK-LABEL: kernel.func @read_1(
// CHECK-LABEL: func.func @read(
func.func @read(%x: tensor<8x4xf32>, %v: tensor<9xf32>, %j: tensor<9xi64>) -> (tensor<8x4xf32>, tensor<8x1xf32>) {
  %t = graph.slice %x from [0, 2] step [1, 1] : tensor<8x4xf32> -> tensor<8x1xf32>
  %c = graph.reshape %t : tensor<8x1xf32> -> tensor<8xf32>
  %s = graph.scatter %v into %c[%j] axes [0] at 0 combine "" : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  %r = graph.reshape %s : tensor<8xf32> -> tensor<8x1xf32>
  %u = graph.update_slice %r into %x from [0, 2] step [1, 1] : tensor<8x1xf32> into tensor<8x4xf32> -> tensor<8x4xf32>
  return %u, %r : tensor<8x4xf32>, tensor<8x1xf32>
}
// CHECK-LABEL: kernel.func @elsewhere_0(
// CHECK-LABEL: kernel.func @elsewhere_1(
// CHECK-LABEL: func.func @elsewhere(
func.func @elsewhere(%x: tensor<8x4xf32>, %v: tensor<9xf32>, %j: tensor<9xi64>) -> tensor<8x4xf32> {
  %t = graph.slice %x from [0, 2] step [1, 1] : tensor<8x4xf32> -> tensor<8x1xf32>
  %c = graph.reshape %t : tensor<8x1xf32> -> tensor<8xf32>
  %s = graph.scatter %v into %c[%j] axes [0] at 0 combine "" : tensor<9xf32> into tensor<8xf32>[tensor<9xi64>] -> tensor<8xf32>
  %r = graph.reshape %s : tensor<8xf32> -> tensor<8x1xf32>
  %u = graph.update_slice %r into %x from [0, 1] step [1, 1] : tensor<8x1xf32> into tensor<8x4xf32> -> tensor<8x4xf32>
  return %u : tensor<8x4xf32>
}
// CHECK-LABEL: kernel.func @own_0(
// CHECK-LABEL: kernel.func @own_1(
// CHECK-LABEL: func.func @own(
func.func @own(%x: tensor<8x4xf32>, %j: tensor<8xi64>) -> tensor<8x4xf32> {
  %t = graph.slice %x from [0, 2] step [1, 1] : tensor<8x4xf32> -> tensor<8x1xf32>
  %c = graph.reshape %t : tensor<8x1xf32> -> tensor<8xf32>
  %o = graph.slice %x from [0, 1] step [1, 1] : tensor<8x4xf32> -> tensor<8x1xf32>
  %v = graph.reshape %o : tensor<8x1xf32> -> tensor<8xf32>
  %s = graph.scatter %v into %c[%j] axes [0] at 0 combine "" : tensor<8xf32> into tensor<8xf32>[tensor<8xi64>] -> tensor<8xf32>
  %r = graph.reshape %s : tensor<8xf32> -> tensor<8x1xf32>
  %u = graph.update_slice %r into %x from [0, 2] step [1, 1] : tensor<8x1xf32> into tensor<8x4xf32> -> tensor<8x4xf32>
  return %u : tensor<8x4xf32>
}

// An index that counts along all of an axis needs no check: it is the loop's position. One of another size is checked.
// CHECK-LABEL: kernel.func @counted_0(
// CHECK: %[[Q:.*]] = kernel.load %arg0
// CHECK: %[[B:.*]] = kernel.bound %[[Q]] below #{{.*}} site 0
// CHECK: kernel.gather %arg1[%[[B]]] at
// CHECK-NOT: kernel.bound
// CHECK-LABEL: kernel.func @diagonal_0(
// CHECK-NOT: kernel.gather
// CHECK: kernel.load %{{.*}} : tensor<?x?xf32> -> f32
// CHECK-LABEL: kernel.func @longer_0(
// CHECK: kernel.index
// CHECK: kernel.bound
// CHECK: kernel.gather
func.func @counted(%x: tensor<?x?xf32>, %q: tensor<?x?xi64> {graph.dims = array<i64: 0, 2>}) -> tensor<?x?xf32> {
  %n = graph.dim %x, 0 : tensor<?x?xf32>
  %i = graph.iota to (%n) : tensor<?xi64>
  %w = graph.dim %q, 1 : tensor<?x?xi64>
  %rows = graph.broadcast %i to (%n, %w) dims [0] : tensor<?xi64> -> tensor<?x?xi64>
  %g = graph.gather %x[%rows, %q] axes [0, 1] at 0 : tensor<?x?xf32>[tensor<?x?xi64>, tensor<?x?xi64>] -> tensor<?x?xf32>
  return %g : tensor<?x?xf32>
}
func.func @diagonal(%x: tensor<?x?xf32> {graph.dims = array<i64: 0, 0>}) -> tensor<?xf32> {
  %n = graph.dim %x, 0 : tensor<?x?xf32>
  %i = graph.iota to (%n) : tensor<?xi64>
  %g = graph.gather %x[%i, %i] axes [0, 1] at 0 : tensor<?x?xf32>[tensor<?xi64>, tensor<?xi64>] -> tensor<?xf32>
  return %g : tensor<?xf32>
}
func.func @longer(%x: tensor<?xf32>, %y: tensor<?xf32> {graph.dims = array<i64: 1>}) -> tensor<?xf32> {
  %n = graph.dim %y, 0 : tensor<?xf32>
  %i = graph.iota to (%n) : tensor<?xi64>
  %g = graph.gather %x[%i] axes [0] at 0 : tensor<?xf32>[tensor<?xi64>] -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// So it is where something is written.
// CHECK-LABEL: kernel.func @counted_writes_0(
// CHECK-NOT: kernel.index
// CHECK: %[[Q:.*]] = kernel.load %arg1
// CHECK: %[[B:.*]] = kernel.bound %[[Q]] below #{{.*}} site 0
// CHECK-NOT: kernel.bound
// CHECK: kernel.scatter %{{.*}}, result 0[%[[B]]] combine
func.func @counted_writes(%x: tensor<?x?xf32>, %q: tensor<?x?xi64> {graph.dims = array<i64: 0, 2>}, %v: tensor<?x?xf32> {graph.dims = array<i64: 0, 2>}) -> tensor<?x?xf32> {
  %n = graph.dim %x, 0 : tensor<?x?xf32>
  %i = graph.iota to (%n) : tensor<?xi64>
  %w = graph.dim %q, 1 : tensor<?x?xi64>
  %rows = graph.broadcast %i to (%n, %w) dims [0] : tensor<?xi64> -> tensor<?x?xi64>
  %g = graph.scatter %v into %x[%rows, %q] axes [0, 1] at 0 combine "" : tensor<?x?xf32> into tensor<?x?xf32>[tensor<?x?xi64>, tensor<?x?xi64>] -> tensor<?x?xf32>
  return %g : tensor<?x?xf32>
}
