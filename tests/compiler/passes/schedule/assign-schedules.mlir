// Family by what is reduced, lanes by register width, widest type and cost of the body.
// RUN: graphc-opt %s --graphc-form-kernels --graphc-assign-schedules | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: graphc-opt %s --graphc-form-kernels --graphc-assign-schedules=vector-bytes=32 | FileCheck %s --check-prefixes=CHECK,HALF
// RUN: graphc-opt %s --graphc-form-kernels --graphc-assign-schedules=vector-bytes=0 | FileCheck %s --check-prefixes=CHECK,SCALAR
// Choosing again chooses the same.
// RUN: graphc-opt %s --graphc-form-kernels --graphc-assign-schedules > %t.once
// RUN: graphc-opt %t.once --graphc-assign-schedules | diff %t.once -

// Bound by memory: two vectors in flight.
// CHECK-LABEL: kernel.func @copy_0(
// CHECK-SAME: parallel = 1>
// WIDE-SAME: schedule = #kernel.schedule<map, vector = 32, cost =
// HALF-SAME: schedule = #kernel.schedule<map, vector = 16, cost =
// SCALAR-SAME: schedule = #kernel.schedule<map, vector = 1, cost =
func.func @copy(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.neg %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A long dependent chain: four.
// CHECK-LABEL: kernel.func @chain_0(
// WIDE-SAME: schedule = #kernel.schedule<map, vector = 64, cost =
// HALF-SAME: schedule = #kernel.schedule<map, vector = 32, cost =
// SCALAR-SAME: schedule = #kernel.schedule<map, vector = 1, cost =
func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The widest type counts.
// CHECK-LABEL: kernel.func @mixed_0(
// WIDE-SAME: schedule = #kernel.schedule<map, vector = 16, cost =
// HALF-SAME: schedule = #kernel.schedule<map, vector = 8, cost =
func.func @mixed(%x: tensor<?xi8>) -> tensor<?xf64> {
  %0 = graph.cast %x : tensor<?xi8> -> tensor<?xf64>
  return %0 : tensor<?xf64>
}

// Never more than 64 lanes.
// CHECK-LABEL: kernel.func @bytes_0(
// WIDE-SAME: schedule = #kernel.schedule<map, vector = 64, cost =
// HALF-SAME: schedule = #kernel.schedule<map, vector = 64, cost =
func.func @bytes(%x: tensor<?xui8>) -> tensor<?xui8> {
  %0 = graph.neg %x : tensor<?xui8>
  return %0 : tensor<?xui8>
}

// CHECK-LABEL: kernel.func @rows_0(
// CHECK-SAME: parallel = 1>
// WIDE-SAME: schedule = #kernel.schedule<rows, vector = 64, cost =
// HALF-SAME: schedule = #kernel.schedule<rows, vector = 32, cost =
// SCALAR-SAME: schedule = #kernel.schedule<rows, vector = 1, cost =
func.func @rows(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %0 = graph.reduce <sum> %x axes [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: kernel.func @columns_0(
// CHECK-SAME: parallel = 1>
// WIDE-SAME: schedule = #kernel.schedule<columns, vector = 64, cost =
// HALF-SAME: schedule = #kernel.schedule<columns, vector = 32, cost =
// SCALAR-SAME: schedule = #kernel.schedule<columns, vector = 1, cost =
func.func @columns(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A row of the tree in registers.
// CHECK-LABEL: kernel.func @full_0(
// CHECK-SAME: parallel = 0>
// WIDE-SAME: schedule = #kernel.schedule<full, vector = 256, cost =
// HALF-SAME: schedule = #kernel.schedule<full, vector = 64, cost =
// SCALAR-SAME: schedule = #kernel.schedule<full, vector = 1, cost =
func.func @full(%x: tensor<?x8xf32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0, 1] : tensor<?x8xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// The accumulators of a tile are one native vector wide each, whatever the epilogue costs.
// CHECK-LABEL: kernel.func @contract_0(
// CHECK-SAME: parallel = 2>
// WIDE-SAME: schedule = #kernel.schedule<contract, vector = 16, cost =
// HALF-SAME: schedule = #kernel.schedule<contract, vector = 8, cost =
// SCALAR-SAME: schedule = #kernel.schedule<contract, vector = 1, cost =
func.func @contract(%x: tensor<?x8xf32>, %y: tensor<8x5xf32>) -> tensor<?x5xf32> {
  %0 = graph.matmul %x, %y : tensor<?x8xf32>, tensor<8x5xf32> -> tensor<?x5xf32>
  %1 = graph.tanh %0 : tensor<?x5xf32>
  return %1 : tensor<?x5xf32>
}

// CHECK-LABEL: kernel.func @contract_double_0(
// WIDE-SAME: schedule = #kernel.schedule<contract, vector = 8, cost =
func.func @contract_double(%x: tensor<?x8xf64>, %y: tensor<8x5xf64>) -> tensor<?x5xf64> {
  %0 = graph.matmul %x, %y : tensor<?x8xf64>, tensor<8x5xf64> -> tensor<?x5xf64>
  return %0 : tensor<?x5xf64>
}

// 0-d values have no dimension at all: still a map.
// CHECK-LABEL: kernel.func @scalar_0(
// CHECK-SAME: parallel = 0>
// CHECK-SAME: schedule = #kernel.schedule<map,
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = graph.neg %x : tensor<f32>
  return %0 : tensor<f32>
}
