// GPU-class devices: 256 work-items of 16 bytes, 64 for a row that is visited again.
// RUN: graphc-opt %s --graphc-form-kernels --graphc-assign-schedules="vector-bytes=0 groups=true" | FileCheck %s
// RUN: graphc-opt %s --graphc-form-kernels --graphc-assign-schedules="vector-bytes=0 groups=true tiles=true" | FileCheck %s --check-prefix=TILES

// CHECK-LABEL: kernel.func @map_0(
// CHECK-SAME: schedule = #kernel.schedule<map, vector = 4, cost = {{[0-9]+}}, group = 256>
func.func @map(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.neg %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: kernel.func @bytes_0(
// CHECK-SAME: schedule = #kernel.schedule<map, vector = 16, cost = {{[0-9]+}}, group = 256>
func.func @bytes(%x: tensor<?xi8>) -> tensor<?xi8> {
  %0 = graph.add %x, %x : tensor<?xi8>
  return %0 : tensor<?xi8>
}

// CHECK-LABEL: kernel.func @total_0(
// CHECK-SAME: schedule = #kernel.schedule<full, vector = 4, cost = {{[0-9]+}}, group = 256>
func.func @total(%x: tensor<?xf64>) -> tensor<f64> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

// CHECK-LABEL: kernel.func @again_0(
// CHECK-SAME: schedule = #kernel.schedule<rows, vector = 4, cost = {{[0-9]+}}, group = 64>
func.func @again(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.reduce <max> %x axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %m = graph.dim %x, 0 : tensor<?x?xf32>
  %n = graph.dim %x, 1 : tensor<?x?xf32>
  %1 = graph.broadcast %0 to (%m, %n) dims [0] : tensor<?xf32> -> tensor<?x?xf32>
  %2 = graph.sub %x, %1 : tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// Two expensive operations a point: twice as many work-items.
// CHECK-LABEL: kernel.func @softmax_0(
// CHECK-SAME: schedule = #kernel.schedule<rows, vector = 2, cost = {{[0-9]+}}, group = 128>
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %m = graph.dim %x, 0 : tensor<?x?xf32>
  %n = graph.dim %x, 1 : tensor<?x?xf32>
  %0 = graph.exp %x : tensor<?x?xf32>
  %1 = graph.reduce <sum> %0 axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %2 = graph.broadcast %1 to (%m, %n) dims [0] : tensor<?xf32> -> tensor<?x?xf32>
  %3 = graph.div %0, %2 : tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

// CHECK-LABEL: kernel.func @product_0(
// CHECK-SAME: schedule = #kernel.schedule<contract, vector = 1, cost = {{[0-9]+}}, group = 256>
// A float32 tile of OpenCL C has 128 work-items; the lowering may call it.
// TILES-LABEL: kernel.func @product_0(
// TILES-SAME: graphc.tiles
// TILES-SAME: group = 128>
func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Products of integers keep an item a work-item.
// CHECK-LABEL: kernel.func @integers_0(
// CHECK-NOT: group =
// CHECK: kernel.return
func.func @integers(%a: tensor<?x?xi32>, %b: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %0 = graph.matmul %a, %b : tensor<?x?xi32>, tensor<?x?xi32> -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}

// A reduction of draws has all elements of a block of counters a work-item.
// CHECK-LABEL: kernel.func @draws_0(
// CHECK-SAME: schedule = #kernel.schedule<full, vector = 32, cost = {{[0-9]+}}, group = 128>
func.func @draws(%stream: tensor<ui64>, %n: index) -> tensor<ui64> {
  %0 = graph.iota to (%n) : tensor<?xui64>
  %1 = graph.broadcast %stream to (%n) dims [] : tensor<ui64> -> tensor<?xui64>
  %2 = graph.philox64 %0, %1, %1 : tensor<?xui64>
  %3 = graph.reduce <sum> %2 axes [0] : tensor<?xui64> -> tensor<ui64>
  return %3 : tensor<ui64>
}
