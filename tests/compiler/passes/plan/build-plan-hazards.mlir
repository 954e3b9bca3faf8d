// Kernels that need the old value after they have written: a map loads all of a point before it stores there and may write in
// place, a kernel that visits its elements more than once works on a copy.
// RUN: graphc-opt %s --graphc-pipeline=to=plan | FileCheck %s --check-prefix=PLAN
// RUN: graphc-opt %s --graphc-pipeline='to=lower vector-bytes=0' | FileCheck %s --check-prefix=LOWER

// PLAN-LABEL: plan.program @second_result inputs [
// PLAN: %[[A:.*]] = plan.alloc
// PLAN-NOT: plan.copy
// PLAN: plan.launch @second_result_1(%{{.*}}, %[[A]], %[[A]],
// PLAN: plan.return %[[A]],
// LOWER-LABEL: func.func @second_result_1(
// LOWER-SAME: %[[Y:.*]]: memref<?xf32>, %[[OLD:.*]]: memref<?xf32>, %[[NEW:.*]]: memref<?xf32>, %[[C:.*]]: memref<?xf32>, %{{.*}}: index, %{{.*}}: index)
// LOWER-DAG: memref.load %[[Y]]
// LOWER-DAG: memref.load %[[OLD]]
// LOWER: memref.store
// LOWER-NOT: memref.load
// LOWER: return
func.func @second_result(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %a = graph.exp %x : tensor<8xf32>
  %v = graph.neg %y : tensor<4xf32>
  %u = graph.update_slice %v into %a from [0] step [1] : tensor<4xf32> into tensor<8xf32> -> tensor<8xf32>
  %s = graph.slice %a from [0] step [1] : tensor<8xf32> -> tensor<4xf32>
  %c = graph.mul %s, %v : tensor<4xf32>
  return %u, %c : tensor<8xf32>, tensor<4xf32>
}

// A row is read again after its reduction.
// PLAN-LABEL: plan.program @second_visit inputs [
// PLAN: %[[A:.*]] = plan.alloc
// PLAN: plan.launch @second_visit_0(
// PLAN: plan.copy %[[A]] to %[[U:.*]] : <f32>, <f32>
// PLAN: plan.launch @second_visit_1(%[[A]], %[[U]],
// PLAN: plan.return %[[U]],
func.func @second_visit(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<4x16xf32>) {
  %a = graph.exp %x : tensor<8x16xf32>
  %s = graph.slice %a from [0, 0] step [1, 1] : tensor<8x16xf32> -> tensor<4x16xf32>
  %v = graph.neg %s : tensor<4x16xf32>
  %u = graph.update_slice %v into %a from [0, 0] step [1, 1] : tensor<4x16xf32> into tensor<8x16xf32> -> tensor<8x16xf32>
  %m = graph.reduce <max> %v axes [1] : tensor<4x16xf32> -> tensor<4xf32>
  %b = graph.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x16xf32>
  %c = graph.sub %s, %b : tensor<4x16xf32>
  return %u, %c : tensor<8x16xf32>, tensor<4x16xf32>
}

// The places of a scatter are read before a result takes over their memory.
// PLAN-LABEL: plan.program @scattered inputs [
// PLAN: plan.call "argsort"({{.*}}) to %[[AT:[0-9]+]] :
// PLAN: plan.launch @scattered_{{[0-9]}}(%{{[a-z0-9]+}}, %[[AT]], %{{[a-z0-9]+}}, %[[AT]],
// LOWER-LABEL: func.func @scattered_
// LOWER-SAME: (%{{[a-z0-9]+}}: memref<?xi64>, %[[AT:[a-z0-9]+]]: memref<?xi64>, %{{[a-z0-9]+}}: memref<?xf32>, %[[OUT:[a-z0-9]+]]: memref<?xi64>,
// LOWER: memref.load %[[AT]]
// LOWER: memref.store %{{.*}}, %[[OUT]]
func.func @scattered(%x: tensor<1x8xi64>, %a: tensor<8xf32>, %k: tensor<1x8xf32>) -> (tensor<1x8xi64>, tensor<8xf32>) {
  %at = graph.library "argsort" %k params [0] : tensor<1x8xf32> -> tensor<1x8xi64>
  %v = graph.square %x : tensor<1x8xi64>
  %f = graph.cast %v : tensor<1x8xi64> -> tensor<1x8xf32>
  %s = graph.scatter %f into %a[%at] axes [0] at 0 combine "" : tensor<1x8xf32> into tensor<8xf32>[tensor<1x8xi64>] -> tensor<8xf32>
  return %v, %s : tensor<1x8xi64>, tensor<8xf32>
}
