// Matrix products take cheap prologues and any epilogue.
// RUN: graphc-opt %s --graphc-form-kernels --cse --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: kernel.func @matmul_bias_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>, %[[X1:.*]]: tensor<8x5xf32>, %[[X2:.*]]: tensor<5xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0, 5, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1, d2)[s0] -> (d0, d2)> : tensor<?x8xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1, d2)[s0] -> (d2, d1)> : tensor<8x5xf32> -> f32
// CHECK-NEXT: %[[DOT0:.*]] = kernel.dot %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: %[[LOAD2:.*]] = kernel.load %[[X2]] at affine_map<(d0, d1, d2)[s0] -> (d1)> : tensor<5xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[DOT0]], %[[LOAD2]] : f32
// CHECK-NEXT: %[[TANH0:.*]] = graph.tanh %[[ADD0]] : f32
// CHECK-NEXT: kernel.store %[[TANH0]], result 0 at affine_map<(d0, d1, d2)[s0] -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @matmul_bias(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>, %[[X1:.*]]: tensor<8x5xf32>, %[[X2:.*]]: tensor<5xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?x8xf32>
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @matmul_bias_0(%[[X0]], %[[X1]], %[[X2]]) sizes(%[[DIM0]]) dims [0] lines "{{.*}}" : (tensor<?x8xf32>, tensor<8x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<?x5xf32>
func.func @matmul_bias(%x: tensor<?x8xf32>, %w: tensor<8x5xf32>, %b: tensor<5xf32>) -> tensor<?x5xf32> {
  %n = graph.dim %x, 0 : tensor<?x8xf32>
  %0 = graph.matmul %x, %w : tensor<?x8xf32>, tensor<8x5xf32> -> tensor<?x5xf32>
  %1 = graph.broadcast %b to (%n) dims [1] : tensor<5xf32> -> tensor<?x5xf32>
  %2 = graph.add %0, %1 : tensor<?x5xf32>
  %3 = graph.tanh %2 : tensor<?x5xf32>
  return %3 : tensor<?x5xf32>
}

// Converting an element per use is cheap.
// CHECK-LABEL: kernel.func @matmul_cast_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xi8>, %[[X1:.*]]: tensor<8x5xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 5, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xi8> -> i8
// CHECK-NEXT: %[[CAST0:.*]] = graph.cast %[[LOAD0]] : i8 -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<8x5xf32> -> f32
// CHECK-NEXT: %[[DOT0:.*]] = kernel.dot %[[CAST0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DOT0]], result 0 at affine_map<(d0, d1, d2) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @matmul_cast(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xi8>, %[[X1:.*]]: tensor<8x5xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @matmul_cast_0(%[[X0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<4x8xi8>, tensor<8x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<4x5xf32>
func.func @matmul_cast(%x: tensor<4x8xi8>, %w: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %c = graph.cast %x : tensor<4x8xi8> -> tensor<4x8xf32>
  %0 = graph.matmul %c, %w : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// An exp per use is not: it is stored first.
// CHECK-LABEL: kernel.func @matmul_exp_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @matmul_exp_1(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xf32>, %[[X1:.*]]: tensor<8x5xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 5, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<8x5xf32> -> f32
// CHECK-NEXT: %[[DOT0:.*]] = kernel.dot %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DOT0]], result 0 at affine_map<(d0, d1, d2) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @matmul_exp(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xf32>, %[[X1:.*]]: tensor<8x5xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @matmul_exp_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @matmul_exp_1(%[[CALL0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<4x5xf32>
func.func @matmul_exp(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %c = graph.exp %x : tensor<4x8xf32>
  %0 = graph.matmul %c, %w : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
