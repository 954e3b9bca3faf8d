// Values of small updates that come from other elements of the array have memory of their own, so that the array need not be copied.
// RUN: graphc-opt %s --split-input-file --graphc-form-kernels | FileCheck %s

// A row of several is subtracted from others: two kernels, the second of which reads nothing of the array.
// CHECK-LABEL: kernel.func @eliminated_0(
// CHECK: graph.sub
// CHECK-LABEL: kernel.func @eliminated_1(
// CHECK-SAME: %[[V:.*]]: tensor<?x?xf64>, %{{.*}}: tensor<?x?xf64>,
// CHECK-SAME: inits = array<i64: 1>
// CHECK: %[[X:.*]] = kernel.load %[[V]]
// CHECK-NOT: graph.cast
// CHECK: kernel.store %[[X]]
func.func @eliminated(%x: tensor<?x?xf64>, %a: index {graph.symbol}, %b: index {graph.symbol}) -> tensor<?x?xf64> {
  %m = graph.dim %x, 1 : tensor<?x?xf64>
  %row = graph.slice %x from [%a, 0] step [1, 1] to(%m) : tensor<?x?xf64> -> tensor<1x?xf64>
  %part = graph.slice %x from [0, 0] step [1, 1] to(%b, %m) : tensor<?x?xf64> -> tensor<?x?xf64>
  %wide = graph.broadcast %row to(%b, %m) dims [0, 1] : tensor<1x?xf64> -> tensor<?x?xf64>
  %v = graph.sub %part, %wide : tensor<?x?xf64>
  %r = graph.update_slice %v into %x from [0, 0] step [1, 1] {graphc.small} : tensor<?x?xf64> into tensor<?x?xf64> -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

// Each element where it is: one kernel.
// CHECK-LABEL: kernel.func @scaled_0(
// CHECK-NOT: kernel.func
func.func @scaled(%x: tensor<?x?xf64>, %b: index {graph.symbol}) -> tensor<?x?xf64> {
  %m = graph.dim %x, 1 : tensor<?x?xf64>
  %part = graph.slice %x from [0, 0] step [1, 1] to(%b, %m) : tensor<?x?xf64> -> tensor<?x?xf64>
  %v = graph.add %part, %part : tensor<?x?xf64>
  %r = graph.update_slice %v into %x from [0, 0] step [1, 1] {graphc.small} : tensor<?x?xf64> into tensor<?x?xf64> -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

// One row into another: they never meet.
// CHECK-LABEL: kernel.func @edge_0(
// CHECK-NOT: kernel.func
func.func @edge(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %m = graph.dim %x, 1 : tensor<?x?xf64>
  %row = graph.slice %x from [1, 0] step [1, 1] to(%m) : tensor<?x?xf64> -> tensor<1x?xf64>
  %r = graph.update_slice %row into %x from [0, 0] step [1, 1] {graphc.small} : tensor<1x?xf64> into tensor<?x?xf64> -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

// A part of a large share of the array is written beside a copy, or in the memory of two values ago.
// CHECK-LABEL: kernel.func @large_0(
// CHECK-NOT: kernel.func
func.func @large(%x: tensor<?xf64>, %b: index {graph.symbol}) -> tensor<?xf64> {
  %part = graph.slice %x from [1] step [1] to(%b) : tensor<?xf64> -> tensor<?xf64>
  %r = graph.update_slice %part into %x from [0] step [1] : tensor<?xf64> into tensor<?xf64> -> tensor<?xf64>
  return %r : tensor<?xf64>
}
