// Ops that are combinations of others become those; what is primitive stays.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose))' | FileCheck %s

// CHECK-LABEL: @mean(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>)
// CHECK: %[[N:.*]] = graph.dim %[[X]], 0
// CHECK: %[[S:.*]] = graph.reduce <sum> %[[X]] axes [1] : tensor<?x4xf32> -> tensor<?xf32>
// CHECK: %[[E:.*]] = graph.extent %[[X]] axes [1] : tensor<?x4xf32> -> tensor<f32>
// CHECK: %[[B:.*]] = graph.broadcast %[[E]] to(%[[N]]) dims [] : tensor<f32> -> tensor<?xf32>
// CHECK: %[[R:.*]] = graph.div %[[S]], %[[B]] : tensor<?xf32>
// CHECK: return %[[R]]
func.func @mean(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %0 = graph.reduce <mean> %x axes [1] : tensor<?x4xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The count is that of all reduced axes, the sum goes group by group.
// CHECK-LABEL: @mean_of_groups(
// CHECK-SAME: %[[X:.*]]: tensor<3x4x5xf64>)
// CHECK: %[[L:.*]] = graph.reduce <sum> %[[X]] axes [2] : tensor<3x4x5xf64> -> tensor<3x4xf64>
// CHECK: %[[S:.*]] = graph.reduce <sum> %[[L]] axes [0] : tensor<3x4xf64> -> tensor<4xf64>
// CHECK: graph.extent %[[X]] axes [0, 2]
// CHECK: graph.div %[[S]]
// CHECK-NOT: mean
func.func @mean_of_groups(%x: tensor<3x4x5xf64>) -> tensor<4xf64> {
  %0 = graph.reduce <mean> %x axes [0, 2] : tensor<3x4x5xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// CHECK-LABEL: @concatenate(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xui8>, %[[Y:.*]]: tensor<4x3xui8>)
// CHECK: %[[F:.*]] = graph.full 0 : ui8 {graphc.uninitialized} : tensor<6x3xui8>
// CHECK: %[[A:.*]] = graph.update_slice %[[X]] into %[[F]] from [0, 0] step [1, 1]
// CHECK: %[[B:.*]] = graph.update_slice %[[Y]] into %[[A]] from [2, 0] step [1, 1]
// CHECK: return %[[B]]
func.func @concatenate(%x: tensor<2x3xui8>, %y: tensor<4x3xui8>) -> tensor<6x3xui8> {
  %0 = graph.concatenate %x, %y axis 0 : tensor<2x3xui8>, tensor<4x3xui8> -> tensor<6x3xui8>
  return %0 : tensor<6x3xui8>
}

// CHECK-LABEL: @concatenate_dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<3x?xf32>, %[[Y:.*]]: tensor<3x4xf32>)
// CHECK: %[[N:.*]] = graph.dim %[[X]], 1
// CHECK: %[[T:.*]] = arith.addi
// CHECK: %[[F:.*]] = graph.full 0.000000e+00 : f32 to(%[[T]]) {graphc.uninitialized} : tensor<3x?xf32>
// CHECK: %[[A:.*]] = graph.update_slice %[[X]] into %[[F]] from [0, 0] step [1, 1]
// CHECK: %[[B:.*]] = graph.update_slice %[[Y]] into %[[A]] from [0, %[[N]]] step [1, 1]
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[M:.*]] = arith.addi %[[N]], %[[FOUR]] : index
// CHECK: %[[C:.*]] = graph.update_slice %[[X]] into %[[B]] from [0, %[[M]]] step [1, 1]
// CHECK: return %[[C]]
func.func @concatenate_dynamic(%x: tensor<3x?xf32>, %y: tensor<3x4xf32>) -> tensor<3x?xf32> {
  %n = graph.dim %x, 1 : tensor<3x?xf32>
  %t = arith.addi %n, %n : index
  %0 = graph.concatenate %x, %y, %x to (%t) axis 1 : tensor<3x?xf32>, tensor<3x4xf32>, tensor<3x?xf32> -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

// The sizes of the parts are known, so that of the whole is, whatever its type says.
// CHECK-LABEL: @concatenate_known(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>, %[[N:.*]]: index)
// CHECK: %[[M:.*]] = graph.dim %[[X]], 0
// CHECK: %[[F:.*]] = graph.full 0.000000e+00 : f32 to(%[[M]]) {graphc.uninitialized} : tensor<?x2xf32>
// CHECK: graph.update_slice %[[X]] into %[[F]] from [0, 0] step [1, 1]
// CHECK: %[[B:.*]] = graph.update_slice %[[X]] into %{{.*}} from [0, 1] step [1, 1]
// CHECK: graph.reshape %[[B]] to(%[[M]], %[[N]]) {graphc.same_sizes} : tensor<?x2xf32> -> tensor<?x?xf32>
func.func @concatenate_known(%x: tensor<?x1xf32>, %n: index) -> tensor<?x?xf32> {
  %m = graph.dim %x, 0 : tensor<?x1xf32>
  %0 = graph.concatenate %x, %x to (%m, %n) axis 1 : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @concatenate_one(
// CHECK-SAME: %[[X:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: return %[[X]]
func.func @concatenate_one(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.concatenate %x axis 1 : tensor<3x5xf32> -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: @flip(
// CHECK-SAME: %[[X:.*]]: tensor<3x?x5xf32>)
// CHECK: %[[N:.*]] = graph.dim %[[X]], 1
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[L:.*]] = arith.subi %[[N]], %[[ONE]] : index
// CHECK: graph.slice %[[X]] from [2, %[[L]], 0] step [-1, -1, 1] to(%[[N]]) : tensor<3x?x5xf32> -> tensor<3x?x5xf32>
func.func @flip(%x: tensor<3x?x5xf32>) -> tensor<3x?x5xf32> {
  %0 = graph.flip %x axes [0, 1] : tensor<3x?x5xf32> -> tensor<3x?x5xf32>
  return %0 : tensor<3x?x5xf32>
}

// CHECK-LABEL: @flip_of_nothing(
// CHECK: graph.slice %{{.*}} from [0, 4] step [-1, -1] : tensor<0x5xf32> -> tensor<0x5xf32>
func.func @flip_of_nothing(%x: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %0 = graph.flip %x axes [0, 1] : tensor<0x5xf32> -> tensor<0x5xf32>
  return %0 : tensor<0x5xf32>
}
