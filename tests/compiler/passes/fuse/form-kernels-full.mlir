// Reductions over everything and over leading axes: local epilogues fuse, whole-array readers wait.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,cse),graphc-form-kernels,cse)' --mlir-print-local-scope \
// RUN:   | FileCheck %s

// CHECK-LABEL: kernel.func @full_epilogue_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[X1:.*]]: tensor<f32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0), parallel = 0>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[LOAD0]] : f32 -> f32
// CHECK-NEXT: %[[SQRT0:.*]] = graph.sqrt %[[REDUCE0]] : f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0)[s0] -> ()> : tensor<f32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[SQRT0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<(d0)[s0] -> ()> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @full_epilogue(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[X1:.*]]: tensor<f32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?xf32>
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @full_epilogue_0(%[[X0]], %[[X1]]) sizes(%[[DIM0]]) dims [] lines "{{.*}}" : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[CALL0]] : tensor<f32>
func.func @full_epilogue(%x: tensor<?xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.sqrt %0 : tensor<f32>
  %2 = graph.add %1, %y : tensor<f32>
  return %2 : tensor<f32>
}

// Every element needs the finished sum: two kernels.
// CHECK-LABEL: kernel.func @full_then_map_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0), parallel = 0>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[LOAD0]] : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 0 at affine_map<(d0)[s0] -> ()> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @full_then_map_1(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[X1:.*]]: tensor<f32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0)[s0] -> ()> : tensor<f32> -> f32
// CHECK-NEXT: %[[DIV0:.*]] = graph.div %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DIV0]], result 0 at affine_map<(d0)[s0] -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @full_then_map(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?xf32>
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @full_then_map_0(%[[X0]]) sizes(%[[DIM0]]) dims [] lines "{{.*}}" : (tensor<?xf32>) -> tensor<f32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @full_then_map_1(%[[X0]], %[[CALL0]]) sizes(%[[DIM0]]) dims [0] lines "{{.*}}" : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<?xf32>
func.func @full_then_map(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.broadcast %0 to (%n) dims [] : tensor<f32> -> tensor<?xf32>
  %2 = graph.div %x, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// The producer is computed once, with the reduction, and read back.
// CHECK-LABEL: kernel.func @diamond_0(
// CHECK-SAME: %[[X0:.*]]: tensor<8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8), parallel = 0>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[EXP0]] : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 1 at affine_map<(d0) -> ()> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @diamond_1(
// CHECK-SAME: %[[X0:.*]]: tensor<8xf32>, %[[X1:.*]]: tensor<f32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0) -> ()> : tensor<f32> -> f32
// CHECK-NEXT: %[[DIV0:.*]] = graph.div %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DIV0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @diamond(
// CHECK-SAME: %[[X0:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[CALL0:.*]]:2 = kernel.call @diamond_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @diamond_1(%[[CALL0]]#0, %[[CALL0]]#1) sizes() dims [] lines "{{.*}}" : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<8xf32>
func.func @diamond(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = graph.exp %x : tensor<8xf32>
  %s = graph.reduce <sum> %a axes [0] : tensor<8xf32> -> tensor<f32>
  %b = graph.broadcast %s dims [] : tensor<f32> -> tensor<8xf32>
  %r = graph.div %a, %b : tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: kernel.func @columns_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (8, s0), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1)[s0] -> (d1, d0)> : tensor<?x8xf32> -> f32
// CHECK-NEXT: %[[MUL0:.*]] = graph.mul %[[LOAD0]], %[[LOAD0]] : f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[MUL0]] row_tree : f32 -> f32
// CHECK-NEXT: %[[SQRT0:.*]] = graph.sqrt %[[REDUCE0]] : f32
// CHECK-NEXT: kernel.store %[[SQRT0]], result 0 at affine_map<(d0, d1)[s0] -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?x8xf32>
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @columns_0(%[[X0]]) sizes(%[[DIM0]]) dims [] lines "{{.*}}" : (tensor<?x8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<8xf32>
func.func @columns(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %0 = graph.mul %x, %x : tensor<?x8xf32>
  %1 = graph.reduce <sum> %0 axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  %2 = graph.sqrt %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A column is too long to be kept: two kernels.
// CHECK-LABEL: kernel.func @columns_then_map_0(
// CHECK-SAME: %[[X0:.*]]: tensor<9x8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8, 9), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d1, d0)> : tensor<9x8xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[LOAD0]] row_tree : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 0 at affine_map<(d0, d1) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @columns_then_map_1(
// CHECK-SAME: %[[X0:.*]]: tensor<9x8xf32>, %[[X1:.*]]: tensor<8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (9, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<9x8xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[DIV0:.*]] = graph.div %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DIV0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @columns_then_map(
// CHECK-SAME: %[[X0:.*]]: tensor<9x8xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @columns_then_map_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<9x8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @columns_then_map_1(%[[X0]], %[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<9x8xf32>, tensor<8xf32>) -> tensor<9x8xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<9x8xf32>
func.func @columns_then_map(%x: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %1 = graph.reduce <sum> %x axes [0] : tensor<9x8xf32> -> tensor<8xf32>
  %2 = graph.broadcast %1 dims [1] : tensor<8xf32> -> tensor<9x8xf32>
  %3 = graph.div %x, %2 : tensor<9x8xf32>
  return %3 : tensor<9x8xf32>
}
