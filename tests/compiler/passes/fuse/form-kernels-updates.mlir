// Updates start from the old value: `inits` names the argument.
// RUN: graphc-opt %s --graphc-form-kernels --cse --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: kernel.func @update_0(
// CHECK-SAME: %[[X0:.*]]: tensor<3xf32>, %[[X1:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (3), parallel = 1>
// CHECK-SAME: inits = array<i64: 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<3xf32> -> f32
// CHECK-NEXT: %[[NEG0:.*]] = graph.neg %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[NEG0]], result 0 at affine_map<(d0) -> (d0 * 2 + 1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>, %[[X1:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @update_0(%[[X1]], %[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<10xf32>
func.func @update(%x: tensor<10xf32>, %v: tensor<3xf32>) -> tensor<10xf32> {
  %a = graph.neg %v : tensor<3xf32>
  %0 = graph.update_slice %a into %x from [1] step [2] : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// The old value is complete before, the new one after the update.
// CHECK-LABEL: kernel.func @update_computed_0(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (10), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @update_computed_1(
// CHECK-SAME: %[[X0:.*]]: tensor<3xf32>, %[[X1:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (3), parallel = 1>
// CHECK-SAME: inits = array<i64: 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<3xf32> -> f32
// CHECK-NEXT: kernel.store %[[LOAD0]], result 0 at affine_map<(d0) -> (d0 * 2 + 1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @update_computed_2(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (10), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[NEG0:.*]] = graph.neg %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[NEG0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @update_computed(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>, %[[X1:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @update_computed_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @update_computed_1(%[[X1]], %[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[CALL2:.*]] = kernel.call @update_computed_2(%[[CALL1]]) sizes() dims [] lines "{{.*}}" : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: return %[[CALL2]] : tensor<10xf32>
func.func @update_computed(%x: tensor<10xf32>, %v: tensor<3xf32>) -> tensor<10xf32> {
  %y = graph.exp %x : tensor<10xf32>
  %0 = graph.update_slice %v into %y from [1] step [2] : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  %1 = graph.neg %0 : tensor<10xf32>
  return %1 : tensor<10xf32>
}
