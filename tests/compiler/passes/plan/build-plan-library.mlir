// A library step becomes a call with the sizes of its tensors and the node and line it was recorded as.
// RUN: graphc-opt %s --graphc-pipeline=to=plan | FileCheck %s
// RUN: graphc compile %s --emit=plan | FileCheck %s

// CHECK-LABEL: plan.program @f
// CHECK: ^bb0(%[[X:.*]]: !plan.buffer<f32>):
// CHECK-DAG: %[[N:.*]] = plan.dim input 0, 0
// CHECK-DAG: %[[C:.*]] = arith.constant 8 : index
// CHECK: %[[Y:.*]] = plan.alloc %{{.*}} : <f32>
// CHECK: plan.call "sort"(%[[X]] : !plan.buffer<f32>) to %[[Y]] : <f32> sizes(%[[N]], %[[C]], %[[N]], %[[C]]) ranks [2, 2] params [1] node -1 lines "
// CHECK: plan.return %[[Y]]
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %n = graph.dim %x, 0 : tensor<?x8xf32>
  %0 = graph.library "sort" %x to (%n) params [1] : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
