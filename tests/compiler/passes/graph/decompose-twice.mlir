// decompose,decompose = decompose; nothing that it rewrites is left.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,cse))' > %t.once
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose,graphc-decompose,cse))' > %t.twice
// RUN: diff %t.once %t.twice
// RUN: FileCheck %s < %t.once

// CHECK-LABEL: @everything(
// CHECK-NOT: graph.flip
// CHECK-NOT: graph.concatenate
// CHECK-NOT: <mean>
// CHECK: return
func.func @everything(%x: tensor<?x1x4xf32>, %y: tensor<3x1x4xf32>) -> (tensor<1xf32>, tensor<?x1x4xf32>) {
  %n = graph.dim %x, 0 : tensor<?x1x4xf32>
  %three = arith.constant 3 : index
  %m = arith.addi %n, %three : index
  %0 = graph.flip %x axes [0, 2] : tensor<?x1x4xf32> -> tensor<?x1x4xf32>
  %1 = graph.concatenate %0, %y to (%m) axis 0 : tensor<?x1x4xf32>, tensor<3x1x4xf32> -> tensor<?x1x4xf32>
  %2 = graph.reduce <mean> %1 axes [0, 2] : tensor<?x1x4xf32> -> tensor<1xf32>
  %3 = graph.update_slice %1 into %1 from [0, 0, 0] step [1, 1, 1] : tensor<?x1x4xf32> into tensor<?x1x4xf32> -> tensor<?x1x4xf32>
  return %2, %3 : tensor<1xf32>, tensor<?x1x4xf32>
}
