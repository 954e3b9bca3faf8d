// What is returned is a whole tensor: arguments pass through, moved and generated values are stored, reshapes are aliases.
// RUN: graphc-opt %s --graphc-form-kernels --cse --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: kernel.func @alias_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 6), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x6xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @alias(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @alias_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[RESHAPE0:.*]] = graph.reshape %[[CALL0]] : tensor<4x6xf32> -> tensor<24xf32>
// CHECK-NEXT: return %[[RESHAPE0]] : tensor<24xf32>
func.func @alias(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %y = graph.exp %x : tensor<4x6xf32>
  %0 = graph.reshape %y : tensor<4x6xf32> -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// CHECK-LABEL: kernel.func @returns_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @returns_1(
// CHECK-SAME: )
// CHECK-SAME: domain = #kernel.domain<() -> (4), parallel = 1>
// CHECK-NEXT: %[[CONSTANT0:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: kernel.store %[[CONSTANT0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @returns_2(
// CHECK-SAME: )
// CHECK-SAME: domain = #kernel.domain<() -> (3), parallel = 1>
// CHECK-NEXT: %[[INDEX0:.*]] = kernel.index affine_map<(d0) -> (d0)>
// CHECK-NEXT: %[[CAST0:.*]] = graph.cast %[[INDEX0]] : i64 -> f32
// CHECK-NEXT: kernel.store %[[CAST0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @returns(
// CHECK-SAME: %[[X0:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @returns_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @returns_1() sizes() dims [] lines "{{.*}}" : () -> tensor<4xf32>
// CHECK-NEXT: %[[CALL2:.*]] = kernel.call @returns_2() sizes() dims [] lines "{{.*}}" : () -> tensor<3xf32>
// CHECK-NEXT: return %[[X0]], %[[CALL0]], %[[CALL0]], %[[CALL1]], %[[CALL2]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>
func.func @returns(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) {
  %y = graph.exp %x : tensor<4xf32>
  %z = graph.full 1.0 : f32 : tensor<4xf32>
  %i = graph.iota : tensor<3xf32>
  return %x, %y, %y, %z, %i : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>
}

// CHECK-LABEL: kernel.func @return_moved_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x5xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (5, 4), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d1, d0)> : tensor<4x5xf32> -> f32
// CHECK-NEXT: kernel.store %[[LOAD0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @return_moved_1(
// CHECK-SAME: %[[X0:.*]]: tensor<4x5xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (2, 5), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0 * 2, d1)> : tensor<4x5xf32> -> f32
// CHECK-NEXT: kernel.store %[[LOAD0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @return_moved(
// CHECK-SAME: %[[X0:.*]]: tensor<4x5xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @return_moved_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<4x5xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @return_moved_1(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<4x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: return %[[CALL0]], %[[CALL1]] : tensor<5x4xf32>, tensor<2x5xf32>
func.func @return_moved(%x: tensor<4x5xf32>) -> (tensor<5x4xf32>, tensor<2x5xf32>) {
  %y = graph.transpose %x permutation [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  %z = graph.slice %x from [0, 0] step [2, 1] : tensor<4x5xf32> -> tensor<2x5xf32>
  return %y, %z : tensor<5x4xf32>, tensor<2x5xf32>
}

// Nothing reads it, nothing computes it.
// CHECK-NOT: kernel.func @dead_0(
// CHECK-LABEL: func.func @dead(
// CHECK-SAME: %[[X0:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X0]] : tensor<4xf32>
func.func @dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.exp %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
