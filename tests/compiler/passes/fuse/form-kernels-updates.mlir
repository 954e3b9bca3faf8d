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

// The parts of a stack are written by the kernel that computes them, into one result.
// CHECK-LABEL: kernel.func @stack_0(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %{{.*}}: index) -> tensor<?x2xf32> attributes {{.*}}inits = array<i64: -1>
// CHECK: %[[A:.*]] = graph.neg
// CHECK: %[[B:.*]] = graph.abs
// CHECK: kernel.store %[[A]], result 0 at affine_map<(d0)[s0] -> (d0, 0)> : f32
// CHECK: kernel.store %[[B]], result 0 at affine_map<(d0)[s0] -> (d0, 1)> : f32
// CHECK-NOT: kernel.func @stack_1
// CHECK-LABEL: func.func @stack(
func.func @stack(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %a = graph.neg %x : tensor<?xf32>
  %b = graph.abs %x : tensor<?xf32>
  %0 = graph.reshape %a to(%n) : tensor<?xf32> -> tensor<?x1xf32>
  %1 = graph.reshape %b to(%n) : tensor<?xf32> -> tensor<?x1xf32>
  %f = graph.full 0.000000e+00 : f32 to(%n) {graphc.uninitialized} : tensor<?x2xf32>
  %2 = graph.update_slice %0 into %f from [0, 0] step [1, 1] : tensor<?x1xf32> into tensor<?x2xf32> -> tensor<?x2xf32>
  %3 = graph.update_slice %1 into %2 from [0, 1] step [1, 1] : tensor<?x1xf32> into tensor<?x2xf32> -> tensor<?x2xf32>
  return %3 : tensor<?x2xf32>
}

// Both write the same elements: the later one has to come later.
// CHECK-LABEL: kernel.func @again_0(
// CHECK: kernel.func @again_1(
// CHECK-LABEL: func.func @again(
func.func @again(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %a = graph.neg %x : tensor<?xf32>
  %b = graph.abs %x : tensor<?xf32>
  %0 = graph.reshape %a to(%n) : tensor<?xf32> -> tensor<?x1xf32>
  %1 = graph.reshape %b to(%n) : tensor<?xf32> -> tensor<?x1xf32>
  %f = graph.full 0.000000e+00 : f32 to(%n) {graphc.uninitialized} : tensor<?x2xf32>
  %2 = graph.update_slice %0 into %f from [0, 1] step [1, 1] : tensor<?x1xf32> into tensor<?x2xf32> -> tensor<?x2xf32>
  %3 = graph.update_slice %1 into %2 from [0, 1] step [1, 1] : tensor<?x1xf32> into tensor<?x2xf32> -> tensor<?x2xf32>
  return %3 : tensor<?x2xf32>
}

// Somebody reads the first update without the second.
// CHECK-LABEL: kernel.func @between_0(
// CHECK: kernel.func @between_1(
// CHECK-LABEL: func.func @between(
func.func @between(%x: tensor<?xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %a = graph.neg %x : tensor<?xf32>
  %b = graph.abs %x : tensor<?xf32>
  %0 = graph.reshape %a to(%n) : tensor<?xf32> -> tensor<?x1xf32>
  %1 = graph.reshape %b to(%n) : tensor<?xf32> -> tensor<?x1xf32>
  %f = graph.full 0.000000e+00 : f32 to(%n) {graphc.uninitialized} : tensor<?x2xf32>
  %2 = graph.update_slice %0 into %f from [0, 0] step [1, 1] : tensor<?x1xf32> into tensor<?x2xf32> -> tensor<?x2xf32>
  %3 = graph.update_slice %1 into %2 from [0, 1] step [1, 1] : tensor<?x1xf32> into tensor<?x2xf32> -> tensor<?x2xf32>
  return %2, %3 : tensor<?x2xf32>, tensor<?x2xf32>
}

// Updates that are said to write no common element are one kernel, wherever they begin; the third of
// them is not said to be apart from the first.
// CHECK-LABEL: kernel.func @update_apart_0(
// CHECK: kernel.store %{{.*}}, result 0 at affine_map<(d0)[s0, s1] -> (d0 + s0)> : f32
// CHECK: kernel.store %{{.*}}, result 0 at affine_map<(d0)[s0, s1] -> (d0 + s1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @update_apart_1(
// CHECK: kernel.store
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @update_apart(
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @update_apart_0(
// CHECK-NEXT: kernel.call @update_apart_1(%{{.*}}, %[[CALL0]])
func.func @update_apart(%x: tensor<10xf32>, %v: tensor<3xf32>, %w: tensor<3xf32>, %i: index, %j: index) -> tensor<10xf32> {
  %a = graph.neg %v : tensor<3xf32>
  %b = graph.exp %w : tensor<3xf32>
  %0 = graph.update_slice %a into %x from [%i] step [1] {graphc.update = -1 : i64} : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  %1 = graph.update_slice %b into %0 from [%j] step [1] {graphc.update = 1 : i64, graphc.apart = array<i64: -1>} : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  %2 = graph.update_slice %v into %1 from [%j] step [1] {graphc.update = 2 : i64} : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  return %2 : tensor<10xf32>
}
