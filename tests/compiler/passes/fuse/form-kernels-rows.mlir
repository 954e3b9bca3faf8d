// A reduction over the last axis takes its producers and its row-local epilogue.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,cse),graphc-form-kernels,cse)' --mlir-print-local-scope \
// RUN:   | FileCheck %s

// CHECK-LABEL: kernel.func @softmax_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0, 8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1)[s0] -> (d0, d1)> : tensor<?x8xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <max> %[[LOAD0]] : f32 -> f32
// CHECK-NEXT: %[[SUB0:.*]] = graph.sub %[[LOAD0]], %[[REDUCE0]] : f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[SUB0]] : f32
// CHECK-NEXT: %[[REDUCE1:.*]] = kernel.reduce <sum> %[[EXP0]] : f32 -> f32
// CHECK-NEXT: %[[DIV0:.*]] = graph.div %[[EXP0]], %[[REDUCE1]] : f32
// CHECK-NEXT: kernel.store %[[DIV0]], result 0 at affine_map<(d0, d1)[s0] -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?x8xf32>
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @softmax_0(%[[X0]]) sizes(%[[DIM0]]) dims [0] lines "{{.*}}" : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<?x8xf32>
func.func @softmax(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %n = graph.dim %x, 0 : tensor<?x8xf32>
  %m = graph.reduce <max> %x axes [1] : tensor<?x8xf32> -> tensor<?xf32>
  %b = graph.broadcast %m to (%n) dims [0] : tensor<?xf32> -> tensor<?x8xf32>
  %c = graph.sub %x, %b : tensor<?x8xf32>
  %e = graph.exp %c : tensor<?x8xf32>
  %s = graph.reduce <sum> %e axes [1] : tensor<?x8xf32> -> tensor<?xf32>
  %t = graph.broadcast %s to (%n) dims [0] : tensor<?xf32> -> tensor<?x8xf32>
  %r = graph.div %e, %t : tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: kernel.func @layernorm_0(
// CHECK-SAME: %[[X0:.*]]: tensor<5x8xf32>, %[[X1:.*]]: tensor<8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (5, 8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<5x8xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[LOAD0]] : f32 -> f32
// CHECK-NEXT: %[[INDEX0:.*]] = kernel.index affine_map<(d0, d1) -> (8)>
// CHECK-NEXT: %[[CAST0:.*]] = graph.cast %[[INDEX0]] : i64 -> f32
// CHECK-NEXT: %[[DIV0:.*]] = graph.div %[[REDUCE0]], %[[CAST0]] : f32
// CHECK-NEXT: %[[SUB0:.*]] = graph.sub %[[LOAD0]], %[[DIV0]] : f32
// CHECK-NEXT: %[[MUL0:.*]] = graph.mul %[[SUB0]], %[[SUB0]] : f32
// CHECK-NEXT: %[[REDUCE1:.*]] = kernel.reduce <sum> %[[MUL0]] : f32 -> f32
// CHECK-NEXT: %[[DIV1:.*]] = graph.div %[[REDUCE1]], %[[CAST0]] : f32
// CHECK-NEXT: %[[CONSTANT0:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[DIV1]], %[[CONSTANT0]] : f32
// CHECK-NEXT: %[[SQRT0:.*]] = graph.sqrt %[[ADD0]] : f32
// CHECK-NEXT: %[[DIV2:.*]] = graph.div %[[SUB0]], %[[SQRT0]] : f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[MUL1:.*]] = graph.mul %[[DIV2]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[MUL1]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @layernorm(
// CHECK-SAME: %[[X0:.*]]: tensor<5x8xf32>, %[[X1:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @layernorm_0(%[[X0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<5x8xf32>, tensor<8xf32>) -> tensor<5x8xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<5x8xf32>
func.func @layernorm(%x: tensor<5x8xf32>, %g: tensor<8xf32>) -> tensor<5x8xf32> {
  %m = graph.reduce <mean> %x axes [1] : tensor<5x8xf32> -> tensor<5xf32>
  %mb = graph.broadcast %m dims [0] : tensor<5xf32> -> tensor<5x8xf32>
  %d = graph.sub %x, %mb : tensor<5x8xf32>
  %q = graph.mul %d, %d : tensor<5x8xf32>
  %v = graph.reduce <mean> %q axes [1] : tensor<5x8xf32> -> tensor<5xf32>
  %eps = graph.full 1.0e-5 : f32 : tensor<5xf32>
  %ve = graph.add %v, %eps : tensor<5xf32>
  %sd = graph.sqrt %ve : tensor<5xf32>
  %sb = graph.broadcast %sd dims [0] : tensor<5xf32> -> tensor<5x8xf32>
  %r = graph.div %d, %sb : tensor<5x8xf32>
  %gb = graph.broadcast %g dims [1] : tensor<8xf32> -> tensor<5x8xf32>
  %o = graph.mul %r, %gb : tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// x - x.mean(1, keepdims=True) with both sizes unknown.
// CHECK-LABEL: kernel.func @center_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?x?xf32>, %[[N0:.*]]: index, %[[N1:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1)[s0, s1] -> (d0, d1)> : tensor<?x?xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[LOAD0]] : f32 -> f32
// CHECK-NEXT: %[[INDEX0:.*]] = kernel.index affine_map<(d0, d1)[s0, s1] -> (s1)>
// CHECK-NEXT: %[[CAST0:.*]] = graph.cast %[[INDEX0]] : i64 -> f32
// CHECK-NEXT: %[[DIV0:.*]] = graph.div %[[REDUCE0]], %[[CAST0]] : f32
// CHECK-NEXT: %[[SUB0:.*]] = graph.sub %[[LOAD0]], %[[DIV0]] : f32
// CHECK-NEXT: kernel.store %[[SUB0]], result 0 at affine_map<(d0, d1)[s0, s1] -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @center(
// CHECK-SAME: %[[X0:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 1 : tensor<?x?xf32>
// CHECK-NEXT: %[[DIM1:.*]] = graph.dim %[[X0]], 0 : tensor<?x?xf32>
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @center_0(%[[X0]]) sizes(%[[DIM1]], %[[DIM0]]) dims [0, 1] lines "{{.*}}" : (tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<?x?xf32>
func.func @center(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = graph.dim %x, 0 : tensor<?x?xf32>
  %k = graph.dim %x, 1 : tensor<?x?xf32>
  %m = graph.reduce <mean> %x axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %kd = graph.reshape %m to (%n) : tensor<?xf32> -> tensor<?x1xf32>
  %b = graph.broadcast %kd to (%n, %k) dims [0, 1] : tensor<?x1xf32> -> tensor<?x?xf32>
  %r = graph.sub %x, %b : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// The mapped value is an output as well: stored on the way.
// CHECK-LABEL: kernel.func @reduction_and_map_0(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>, %[[N0:.*]]: index)
// CHECK-SAME: domain = #kernel.domain<()[s0] -> (s0, 8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1)[s0] -> (d0, d1)> : tensor<?x8xf32> -> f32
// CHECK-NEXT: %[[ABS0:.*]] = graph.abs %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[ABS0]], result 0 at affine_map<(d0, d1)[s0] -> (d0, d1)> : f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <max> %[[ABS0]] : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 1 at affine_map<(d0, d1)[s0] -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @reduction_and_map(
// CHECK-SAME: %[[X0:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[DIM0:.*]] = graph.dim %[[X0]], 0 : tensor<?x8xf32>
// CHECK-NEXT: %[[CALL0:.*]]:2 = kernel.call @reduction_and_map_0(%[[X0]]) sizes(%[[DIM0]]) dims [0, 0] lines "{{.*}}" : (tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>)
// CHECK-NEXT: return %[[CALL0]]#0, %[[CALL0]]#1 : tensor<?x8xf32>, tensor<?xf32>
func.func @reduction_and_map(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>) {
  %0 = graph.abs %x : tensor<?x8xf32>
  %1 = graph.reduce <max> %0 axes [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?xf32>
}
