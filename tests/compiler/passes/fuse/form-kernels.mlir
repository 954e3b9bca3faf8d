// Elementwise chains are one kernel; movement ops become index maps of loads.
// RUN: graphc-opt %s --graphc-form-kernels --cse --mlir-print-local-scope | FileCheck %s

// Each input is loaded once; the sizes that must agree are checked before the call.
// CHECK-LABEL: kernel.func @chain_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[X1:.*]]: tensor<?xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[MUL0:.*]] = graph.mul %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[MUL0]] : f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[EXP0]], %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<(d0)[s0] -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[X1:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?xf32>
// CHECK-NEXT: %[[DIM1:.*]] = graph.dim %[[X1]], 0 : tensor<?xf32>
// CHECK-NEXT: kernel.check %[[DIM0]] equals %[[DIM1]], "axis 0 of the operands of graph.mul"
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @chain_0(%[[X0]], %[[X1]]) sizes(%[[DIM0]]) dims [0] lines "{{.*}}" : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<?xf32>
func.func @chain(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.mul %x, %y : tensor<?xf32>
  %1 = graph.exp %0 : tensor<?xf32>
  %2 = graph.add %1, %x : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// broadcast, transpose and slice with a negative step.
// CHECK-LABEL: kernel.func @movement_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>, %[[X1:.*]]: tensor<6xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (3, 4), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d1, d0 * -2 + 5)> : tensor<4x6xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1) -> (d0 * -2 + 5)> : tensor<6xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: %[[NEG0:.*]] = graph.neg %[[ADD0]] : f32
// CHECK-NEXT: kernel.store %[[NEG0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @movement(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>, %[[X1:.*]]: tensor<6xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @movement_0(%[[X0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<3x4xf32>
func.func @movement(%x: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<3x4xf32> {
  %0 = graph.broadcast %b dims [1] : tensor<6xf32> -> tensor<4x6xf32>
  %1 = graph.add %x, %0 : tensor<4x6xf32>
  %2 = graph.transpose %1 permutation [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %3 = graph.slice %2 from [5, 0] step [-2, 1] : tensor<6x4xf32> -> tensor<3x4xf32>
  %4 = graph.neg %3 : tensor<3x4xf32>
  return %4 : tensor<3x4xf32>
}

// Splitting one axis is affine: no copy, no alias.
// CHECK-LABEL: kernel.func @reshape_map_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>, %[[X1:.*]]: tensor<24xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (2, 2, 6), parallel = 3>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1, d2) -> (d0 * 2 + d1, d2)> : tensor<4x6xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1, d2) -> (d0 * 12 + d1 * 6 + d2)> : tensor<24xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @reshape_map(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>, %[[X1:.*]]: tensor<24xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @reshape_map_0(%[[X0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<4x6xf32>, tensor<24xf32>) -> tensor<2x2x6xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<2x2x6xf32>
func.func @reshape_map(%x: tensor<4x6xf32>, %y: tensor<24xf32>) -> tensor<2x2x6xf32> {
  %0 = graph.reshape %x : tensor<4x6xf32> -> tensor<2x2x6xf32>
  %1 = graph.reshape %y : tensor<24xf32> -> tensor<2x2x6xf32>
  %2 = graph.add %0, %1 : tensor<2x2x6xf32>
  return %2 : tensor<2x2x6xf32>
}

// CHECK-LABEL: kernel.func @stencil_of_argument_0(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (9), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0 + 1)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @stencil_of_argument(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @stencil_of_argument_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<10xf32>) -> tensor<9xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<9xf32>
func.func @stencil_of_argument(%x: tensor<10xf32>) -> tensor<9xf32> {
  %0 = graph.slice %x from [1] step [1] : tensor<10xf32> -> tensor<9xf32>
  %1 = graph.slice %x from [0] step [1] : tensor<10xf32> -> tensor<9xf32>
  %2 = graph.add %0, %1 : tensor<9xf32>
  return %2 : tensor<9xf32>
}

// Two results of one pass over the input.
// CHECK-LABEL: kernel.func @outputs_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[SIN0:.*]] = graph.sin %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[SIN0]], result 0 at affine_map<(d0)[s0] -> (d0)> : f32
// CHECK-NEXT: %[[NEG0:.*]] = graph.neg %[[SIN0]] : f32
// CHECK-NEXT: kernel.store %[[NEG0]], result 1 at affine_map<(d0)[s0] -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @outputs(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?xf32>
// CHECK-NEXT: %[[CALL0:.*]]:2 = kernel.call @outputs_0(%[[X0]]) sizes(%[[DIM0]]) dims [0, 0] lines "{{.*}}" : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
// CHECK-NEXT: return %[[CALL0]]#0, %[[CALL0]]#1 : tensor<?xf32>, tensor<?xf32>
func.func @outputs(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = graph.sin %x : tensor<?xf32>
  %1 = graph.neg %0 : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: kernel.func @empty_0(
// CHECK-SAME: %[[X0:.*]]: tensor<0x4xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (0, 4), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<0x4xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @empty(
// CHECK-SAME: %[[X0:.*]]: tensor<0x4xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @empty_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<0x4xf32>) -> tensor<0x4xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<0x4xf32>
func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %a = graph.exp %x : tensor<0x4xf32>
  return %a : tensor<0x4xf32>
}

// Axes of size 1 are no dimensions.
// CHECK-LABEL: kernel.func @scalar_0(
// CHECK-SAME: %[[X0:.*]]: tensor<f32>, %[[X1:.*]]: tensor<1x1xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (), parallel = 0>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<() -> ()> : tensor<f32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<() -> ()> : tensor<1x1xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<() -> ()> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME: %[[X0:.*]]: tensor<f32>, %[[X1:.*]]: tensor<1x1xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @scalar_0(%[[X0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<f32>, tensor<1x1xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[CALL0]] : tensor<f32>
func.func @scalar(%x: tensor<f32>, %y: tensor<1x1xf32>) -> tensor<f32> {
  %a = graph.reshape %y : tensor<1x1xf32> -> tensor<f32>
  %b = graph.add %x, %a : tensor<f32>
  return %b : tensor<f32>
}

// A static size pins a `?`: it is checked and becomes the extent.
// CHECK-LABEL: kernel.func @mismatch_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[X1:.*]]: tensor<?xf32>, %[[X2:.*]]: tensor<4xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (4), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: %[[LOAD2:.*]] = kernel.load %[[X2]] at affine_map<(d0)[s0] -> (d0)> : tensor<4xf32> -> f32
// CHECK-NEXT: %[[ADD1:.*]] = graph.add %[[ADD0]], %[[LOAD2]] : f32
// CHECK-NEXT: kernel.store %[[ADD1]], result 0 at affine_map<(d0)[s0] -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @mismatch(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[X1:.*]]: tensor<?xf32>, %[[X2:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?xf32>
// CHECK-NEXT: %[[DIM1:.*]] = graph.dim %[[X1]], 0 : tensor<?xf32>
// CHECK-NEXT: kernel.check %[[DIM0]] equals %[[DIM1]], "axis 0 of the operands of graph.add"
// CHECK-NEXT: %[[CONSTANT0:.*]] = arith.constant 4 : index
// CHECK-NEXT: kernel.check %[[DIM0]] equals %[[CONSTANT0]], "axis 0 of the operands of graph.add"
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @mismatch_0(%[[X0]], %[[X1]], %[[X2]]) sizes(%[[CONSTANT0]]) dims [0] lines "{{.*}}" : (tensor<?xf32>, tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<?xf32>
func.func @mismatch(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf32>) -> tensor<?xf32> {
  %a = graph.add %x, %y : tensor<?xf32>
  %b = "graph.add"(%a, %z) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return %b : tensor<?xf32>
}
