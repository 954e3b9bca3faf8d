// Random ops read back what they printed.
// RUN: graphc-opt %s | graphc-opt | FileCheck %s
// RUN: graphc-opt %s --mlir-print-op-generic | graphc-opt | FileCheck %s

// CHECK-LABEL: @bits(
// CHECK-SAME: %[[I:.*]]: tensor<?xui64>, %[[S:.*]]: tensor<?xui64>, %[[K:.*]]: tensor<?xui64>)
// CHECK-NEXT: graph.philox64 %[[I]], %[[S]], %[[K]] : tensor<?xui64>
// CHECK-NEXT: graph.philox32 %[[I]], %[[S]], %[[K]] : tensor<?xui64>
func.func @bits(%i: tensor<?xui64>, %s: tensor<?xui64>, %k: tensor<?xui64>) -> (tensor<?xui64>, tensor<?xui64>) {
  %0 = graph.philox64 %i, %s, %k : tensor<?xui64>
  %1 = graph.philox32 %i, %s, %k : tensor<?xui64>
  return %0, %1 : tensor<?xui64>, tensor<?xui64>
}

// CHECK-LABEL: @draws(
// CHECK: graph.random_gamma %{{.*}}, %{{.*}}, %{{.*}}, %[[A:.*]] : tensor<4xui64>, tensor<4xf64>
// CHECK: graph.random_poisson %{{.*}}, %{{.*}}, %{{.*}}, %[[A]] : tensor<4xui64>, tensor<4xf64>
// CHECK: graph.random_binomial %{{.*}}, %{{.*}}, %{{.*}}, %[[A]], %[[A]] : tensor<4xui64>, tensor<4xf64>
// CHECK: graph.random_von_mises %{{.*}}, %{{.*}}, %{{.*}}, %[[A]] : tensor<4xui64>, tensor<4xf64>
func.func @draws(%i: tensor<4xui64>, %s: tensor<4xui64>, %k: tensor<4xui64>, %a: tensor<4xf64>)
    -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %0 = graph.random_gamma %i, %s, %k, %a : tensor<4xui64>, tensor<4xf64>
  %1 = graph.random_poisson %i, %s, %k, %a : tensor<4xui64>, tensor<4xf64>
  %2 = graph.random_binomial %i, %s, %k, %a, %a : tensor<4xui64>, tensor<4xf64>
  %3 = graph.random_von_mises %i, %s, %k, %a : tensor<4xui64>, tensor<4xf64>
  return %0, %1, %2, %3 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}
