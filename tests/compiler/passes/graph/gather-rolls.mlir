// Joins of parts of one array, with which something is computed, are gathers at places that are computed again by every reader.
// RUN: graphc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graphc-gather-rolls,cse))' | FileCheck %s

// CHECK-LABEL: @roll(
// CHECK: %[[I:.*]] = graph.iota : tensor<10xi64>
// CHECK-DAG: %[[SEVEN:.*]] = graph.full 7 : i64 : tensor<10xi64>
// CHECK-DAG: %[[THREE:.*]] = graph.full 3 : i64 : tensor<10xi64>
// CHECK-DAG: %[[B:.*]] = graph.sub %[[I]], %[[SEVEN]] {graphc.again}
// CHECK-DAG: %[[A:.*]] = graph.add %[[I]], %[[THREE]] {graphc.again}
// CHECK-DAG: %[[L:.*]] = graph.less %[[I]], %[[SEVEN]] {graphc.again}
// CHECK: %[[P:.*]] = graph.select %[[L]], %[[A]], %[[B]] {graphc.again}
// CHECK: %[[ALL:.*]] = graph.broadcast %[[P]] dims [0]
// CHECK: %[[G:.*]] = graph.gather %arg0[%[[ALL]]] axes [0] at 0 {graphc.again, graphc.inside}
// CHECK-NOT: concatenate
// CHECK: graph.add %[[G]], %arg0
func.func @roll(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = graph.slice %x from [3] step [1] : tensor<10xf32> -> tensor<7xf32>
  %1 = graph.slice %x from [0] step [1] : tensor<10xf32> -> tensor<3xf32>
  %2 = graph.concatenate %0, %1 axis 0 : tensor<7xf32>, tensor<3xf32> -> tensor<10xf32>
  %3 = graph.add %2, %x : tensor<10xf32>
  return %3 : tensor<10xf32>
}

// -----

// What is stored anyway is joined there.
// CHECK-LABEL: @stored(
// CHECK: graph.concatenate
// CHECK-NOT: graph.gather
func.func @stored(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %0 = graph.slice %x from [3] step [1] : tensor<10xf32> -> tensor<7xf32>
  %1 = graph.slice %x from [0] step [1] : tensor<10xf32> -> tensor<3xf32>
  %2 = graph.concatenate %0, %1 axis 0 : tensor<7xf32>, tensor<3xf32> -> tensor<10xf32>
  %3 = graph.add %2, %x : tensor<10xf32>
  return %2, %3 : tensor<10xf32>, tensor<10xf32>
}

// -----

// Two axes, sizes that are known when the program runs: one gather of the argument.
// CHECK-LABEL: @both(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x?xf32>
// CHECK-NOT: graph.concatenate
// CHECK: graph.gather %[[X]][%{{.*}}, %{{.*}}] axes [0, 1]
// CHECK-NOT: graph.concatenate
// CHECK-NOT: graph.gather
// CHECK: graph.neg
func.func @both(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %r = graph.dim %x, 0 : tensor<?x?xf32>
  %c = graph.dim %x, 1 : tensor<?x?xf32>
  %0 = graph.slice %x from [%n, 0] step [1, 1] to(%m, %c) : tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = graph.slice %x from [0, 0] step [1, 1] to(%n, %c) : tensor<?x?xf32> -> tensor<?x?xf32>
  %2 = graph.concatenate %0, %1 to(%r, %c) axis 0 : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %3 = graph.slice %2 from [0, 1] step [1, 1] to(%r, %m) : tensor<?x?xf32> -> tensor<?x?xf32>
  %4 = graph.slice %2 from [0, 0] step [1, 1] to(%r) : tensor<?x?xf32> -> tensor<?x1xf32>
  %5 = graph.concatenate %3, %4 to(%r, %c) axis 1 : tensor<?x?xf32>, tensor<?x1xf32> -> tensor<?x?xf32>
  %6 = graph.neg %5 : tensor<?x?xf32>
  return %6 : tensor<?x?xf32>
}

// -----

// Rolled twice along an axis the first one is stored, as is what is joined from three places.
// CHECK-LABEL: @others(
// CHECK: %[[G:.*]] = graph.gather %arg0
// CHECK: graph.gather %[[G]]
// CHECK: graph.concatenate
func.func @others(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<9xf32>) {
  %0 = graph.slice %x from [3] step [1] : tensor<10xf32> -> tensor<7xf32>
  %1 = graph.slice %x from [0] step [1] : tensor<10xf32> -> tensor<3xf32>
  %2 = graph.concatenate %0, %1 axis 0 : tensor<7xf32>, tensor<3xf32> -> tensor<10xf32>
  %3 = graph.slice %2 from [6] step [1] : tensor<10xf32> -> tensor<4xf32>
  %4 = graph.slice %2 from [0] step [1] : tensor<10xf32> -> tensor<6xf32>
  %5 = graph.concatenate %3, %4 axis 0 : tensor<4xf32>, tensor<6xf32> -> tensor<10xf32>
  %6 = graph.neg %5 : tensor<10xf32>
  %7 = graph.slice %x from [9] step [1] : tensor<10xf32> -> tensor<1xf32>
  %8 = graph.slice %x from [2] step [1] : tensor<10xf32> -> tensor<5xf32>
  %9 = graph.concatenate %1, %7, %8 axis 0 : tensor<3xf32>, tensor<1xf32>, tensor<5xf32> -> tensor<9xf32>
  %10 = graph.neg %9 : tensor<9xf32>
  return %6, %10 : tensor<10xf32>, tensor<9xf32>
}
