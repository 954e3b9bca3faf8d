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

// What a row costs does not make its points expensive, nor its i64 wide; positions take registers.
// CHECK-LABEL: kernel.func @epilogue_0(
// CHECK-SAME: parallel = 0>
// WIDE-SAME: schedule = #kernel.schedule<full, vector = 64, cost = 212>
func.func @epilogue(%x: tensor<?xf32>) -> (tensor<f32>, tensor<i64>) {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.exp %0 : tensor<f32>
  %2 = graph.reduce <argmax> %x axes [0] : tensor<?xf32> -> tensor<i64>
  return %1, %2 : tensor<f32>, tensor<i64>
}

// Thirty cheap operations in a row, few values alive: four vectors overlap.
// CHECK-LABEL: kernel.func @cheap_chain_0(
// WIDE-SAME: schedule = #kernel.schedule<map, vector = 64, cost =
// HALF-SAME: schedule = #kernel.schedule<map, vector = 32, cost =
func.func @cheap_chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.mul %x, %x : tensor<?xf32>
  %1 = graph.add %0, %x : tensor<?xf32>
  %2 = graph.mul %1, %x : tensor<?xf32>
  %3 = graph.add %2, %x : tensor<?xf32>
  %4 = graph.mul %3, %x : tensor<?xf32>
  %5 = graph.add %4, %x : tensor<?xf32>
  %6 = graph.mul %5, %x : tensor<?xf32>
  %7 = graph.add %6, %x : tensor<?xf32>
  %8 = graph.mul %7, %x : tensor<?xf32>
  %9 = graph.add %8, %x : tensor<?xf32>
  %10 = graph.mul %9, %x : tensor<?xf32>
  %11 = graph.add %10, %x : tensor<?xf32>
  %12 = graph.mul %11, %x : tensor<?xf32>
  %13 = graph.add %12, %x : tensor<?xf32>
  %14 = graph.mul %13, %x : tensor<?xf32>
  %15 = graph.add %14, %x : tensor<?xf32>
  return %15 : tensor<?xf32>
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
