// Generators, movement, reductions and contractions read back what they printed.
// RUN: graphc-opt %s | graphc-opt | FileCheck %s
// RUN: graphc-opt %s --mlir-print-op-generic | graphc-opt | FileCheck %s

// CHECK-LABEL: @generators(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xi8>)
// CHECK: %[[N:.*]] = graph.dim %[[X]], 1 : tensor<?x?xi8>
// CHECK: graph.full 2.500000e+00 : f32 : tensor<3xf32>
// CHECK: graph.full 7 : ui8 to(%[[N]]) : tensor<2x?xui8>
// CHECK: graph.full true : tensor<i1>
// CHECK: graph.iota : tensor<12xf64>
// CHECK: graph.iota to(%[[N]]) : tensor<?xi64>
// CHECK: graph.extent %[[X]] axes [0, 1] : tensor<?x?xi8> -> tensor<i64>
// CHECK: graph.extent %[[X]] axes [] : tensor<?x?xi8> -> tensor<f32>
func.func @generators(%x: tensor<?x?xi8>) {
  %n = graph.dim %x, 1 : tensor<?x?xi8>
  %0 = graph.full 2.5 : f32 : tensor<3xf32>
  %1 = graph.full 7 : ui8 to (%n) : tensor<2x?xui8>
  %2 = graph.full true : tensor<i1>
  %3 = graph.iota : tensor<12xf64>
  %4 = graph.iota to (%n) : tensor<?xi64>
  %5 = graph.extent %x axes [0, 1] : tensor<?x?xi8> -> tensor<i64>
  %6 = graph.extent %x axes [] : tensor<?x?xi8> -> tensor<f32>
  return
}

// CHECK-LABEL: @broadcast(
// CHECK: graph.broadcast %{{.*}} dims [] : tensor<f32> -> tensor<2x3xf32>
// CHECK: graph.broadcast %{{.*}} to(%{{.*}}) dims [1] : tensor<1xf32> -> tensor<2x?xf32>
// CHECK: graph.broadcast %{{.*}} to(%{{.*}}, %{{.*}}) dims [0, 2] : tensor<?x1xf32> -> tensor<?x5x?xf32>
func.func @broadcast(%s: tensor<f32>, %v: tensor<1xf32>, %m: tensor<?x1xf32>, %n: index) {
  %0 = graph.broadcast %s dims [] : tensor<f32> -> tensor<2x3xf32>
  %1 = graph.broadcast %v to (%n) dims [1] : tensor<1xf32> -> tensor<2x?xf32>
  %2 = graph.broadcast %m to (%n, %n) dims [0, 2] : tensor<?x1xf32> -> tensor<?x5x?xf32>
  return
}

// CHECK-LABEL: @movement(
// CHECK: graph.transpose %{{.*}} permutation [2, 0, 1] : tensor<?x3x4xf32> -> tensor<4x?x3xf32>
// CHECK: graph.transpose %{{.*}} permutation [] : tensor<f32> -> tensor<f32>
// CHECK: graph.reshape %{{.*}} to(%{{.*}}) : tensor<?x3x4xf32> -> tensor<?x12xf32>
// CHECK: graph.reshape %{{.*}} : tensor<f32> -> tensor<1x1xf32>
// CHECK: graph.flip %{{.*}} axes [0, 2] : tensor<?x3x4xf32>
func.func @movement(%x: tensor<?x3x4xf32>, %s: tensor<f32>, %n: index) {
  %0 = graph.transpose %x permutation [2, 0, 1] : tensor<?x3x4xf32> -> tensor<4x?x3xf32>
  %1 = graph.transpose %s permutation [] : tensor<f32> -> tensor<f32>
  %2 = graph.reshape %x to (%n) : tensor<?x3x4xf32> -> tensor<?x12xf32>
  %3 = graph.reshape %s : tensor<f32> -> tensor<1x1xf32>
  %4 = graph.flip %x axes [0, 2] : tensor<?x3x4xf32> -> tensor<?x3x4xf32>
  return
}

// CHECK-LABEL: @slices(
// CHECK: graph.slice %{{.*}} from [1, 2] step [3, -1] : tensor<10x3xf32> -> tensor<3x3xf32>
// CHECK: graph.slice %{{.*}} from [%{{.*}}, 0] step [1, 1] to(%{{.*}}) : tensor<10x3xf32> -> tensor<?x3xf32>
// CHECK: graph.slice %{{.*}} from [0, 0] step [1, 1] : tensor<10x3xf32> -> tensor<0x3xf32>
// CHECK: graph.slice %{{.*}} from [] step [] : tensor<f32> -> tensor<f32>
// CHECK: graph.update_slice %{{.*}} into %{{.*}} from [%{{.*}}, 0] step [2, 1] : tensor<3x3xf32> into tensor<10x3xf32> -> tensor<10x3xf32>
// CHECK: graph.update_slice %{{.*}} into %{{.*}} from [9, 2] step [-3, -1] : tensor<3x3xf32> into tensor<10x3xf32> -> tensor<10x3xf32>
func.func @slices(%x: tensor<10x3xf32>, %s: tensor<f32>, %n: index) {
  %0 = graph.slice %x from [1, 2] step [3, -1] : tensor<10x3xf32> -> tensor<3x3xf32>
  %1 = graph.slice %x from [%n, 0] step [1, 1] to (%n) : tensor<10x3xf32> -> tensor<?x3xf32>
  %2 = graph.slice %x from [0, 0] step [1, 1] : tensor<10x3xf32> -> tensor<0x3xf32>
  %3 = graph.slice %s from [] step [] : tensor<f32> -> tensor<f32>
  %4 = graph.update_slice %0 into %x from [%n, 0] step [2, 1] : tensor<3x3xf32> into tensor<10x3xf32> -> tensor<10x3xf32>
  %5 = graph.update_slice %0 into %x from [9, 2] step [-3, -1] : tensor<3x3xf32> into tensor<10x3xf32> -> tensor<10x3xf32>
  return
}

// CHECK-LABEL: @concatenate(
// CHECK: graph.concatenate %{{.*}}, %{{.*}} axis 1 : tensor<2x3xi8>, tensor<2x4xi8> -> tensor<2x7xi8>
// CHECK: graph.concatenate %{{.*}}, %{{.*}}, %{{.*}} to(%{{.*}}) axis 0 : tensor<?x3xi8>, tensor<2x3xi8>, tensor<?x3xi8> -> tensor<?x3xi8>
func.func @concatenate(%a: tensor<2x3xi8>, %b: tensor<2x4xi8>, %c: tensor<?x3xi8>, %n: index) {
  %0 = graph.concatenate %a, %b axis 1 : tensor<2x3xi8>, tensor<2x4xi8> -> tensor<2x7xi8>
  %1 = graph.concatenate %c, %a, %c to (%n) axis 0 : tensor<?x3xi8>, tensor<2x3xi8>, tensor<?x3xi8> -> tensor<?x3xi8>
  return
}

// CHECK-LABEL: @places(
// CHECK: graph.gather %{{.*}}[%{{.*}}] axes [0] at 0 : tensor<?x4xf32>[tensor<2x3xi64>] -> tensor<2x3x4xf32>
// CHECK: graph.gather %{{.*}}[%{{.*}}, %{{.*}}] axes [0, 1] at 0 : tensor<?x4xf32>[tensor<?xi64>, tensor<?xi64>] -> tensor<?xf32>
// CHECK: graph.scatter %{{.*}} into %{{.*}}[%{{.*}}] axes [1] at 1 combine "" : tensor<?x2x3xf32> into tensor<?x4xf32>[tensor<2x3xi64>] -> tensor<?x4xf32>
// CHECK: graph.scatter %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] axes [0, 1] at 0 combine "add" unique drop : tensor<?xf32> into tensor<?x4xf32>[tensor<?xi64>, tensor<?xi64>] -> tensor<?x4xf32>
func.func @places(%x: tensor<?x4xf32>, %i: tensor<2x3xi64>, %j: tensor<?xi64>, %v: tensor<?x2x3xf32>) {
  %0 = graph.gather %x[%i] axes [0] at 0 : tensor<?x4xf32>[tensor<2x3xi64>] -> tensor<2x3x4xf32>
  %1 = graph.gather %x[%j, %j] axes [0, 1] at 0 : tensor<?x4xf32>[tensor<?xi64>, tensor<?xi64>] -> tensor<?xf32>
  %2 = graph.scatter %v into %x[%i] axes [1] at 1 combine "" : tensor<?x2x3xf32> into tensor<?x4xf32>[tensor<2x3xi64>] -> tensor<?x4xf32>
  %3 = graph.scatter %1 into %x[%j, %j] axes [0, 1] at 0 combine "add" unique drop : tensor<?xf32> into tensor<?x4xf32>[tensor<?xi64>, tensor<?xi64>] -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: @reductions(
// CHECK: graph.reduce <sum> %{{.*}} axes [0, 1] : tensor<?x4xf32> -> tensor<f32>
// CHECK: graph.reduce <prod> %{{.*}} axes [0] : tensor<?x4xf32> -> tensor<4xf32>
// CHECK: graph.reduce <min> %{{.*}} axes [1] : tensor<?x4xf32> -> tensor<?xf32>
// CHECK: graph.reduce <max> %{{.*}} axes [] : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK: graph.reduce <mean> %{{.*}} axes [1] : tensor<?x4xf32> -> tensor<?xf32>
// CHECK: graph.reduce <argmin> %{{.*}} axes [1] : tensor<?x4xf32> -> tensor<?xi64>
// CHECK: graph.reduce <argmax> %{{.*}} axes [0] : tensor<?x4xf32> -> tensor<4xi64>
// CHECK: graph.reduce <any> %{{.*}} axes [0] : tensor<?x4xi1> -> tensor<4xi1>
// CHECK: graph.reduce <all> %{{.*}} axes [0, 1] : tensor<?x4xi1> -> tensor<i1>
func.func @reductions(%x: tensor<?x4xf32>, %b: tensor<?x4xi1>) {
  %0 = graph.reduce <sum> %x axes [0, 1] : tensor<?x4xf32> -> tensor<f32>
  %1 = graph.reduce <prod> %x axes [0] : tensor<?x4xf32> -> tensor<4xf32>
  %2 = graph.reduce <min> %x axes [1] : tensor<?x4xf32> -> tensor<?xf32>
  %3 = graph.reduce <max> %x axes [] : tensor<?x4xf32> -> tensor<?x4xf32>
  %4 = graph.reduce <mean> %x axes [1] : tensor<?x4xf32> -> tensor<?xf32>
  %5 = graph.reduce <argmin> %x axes [1] : tensor<?x4xf32> -> tensor<?xi64>
  %6 = graph.reduce <argmax> %x axes [0] : tensor<?x4xf32> -> tensor<4xi64>
  %7 = graph.reduce <any> %b axes [0] : tensor<?x4xi1> -> tensor<4xi1>
  %8 = graph.reduce <all> %b axes [0, 1] : tensor<?x4xi1> -> tensor<i1>
  return
}

// CHECK-LABEL: @scans(
// CHECK: graph.scan <sum> %{{.*}} axis 1 : tensor<?x4xf32>
// CHECK: graph.scan <prod> %{{.*}} axis 0 : tensor<3xui8>
func.func @scans(%x: tensor<?x4xf32>, %b: tensor<3xui8>) {
  %0 = graph.scan <sum> %x axis 1 : tensor<?x4xf32>
  %1 = graph.scan <prod> %b axis 0 : tensor<3xui8>
  return
}

// CHECK-LABEL: @contractions(
// CHECK: graph.matmul %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8x5xf32> -> tensor<?x5xf32>
// CHECK: graph.matmul %{{.*}}, %{{.*}} fast : tensor<?x8xf32>, tensor<8x5xf32> -> tensor<?x5xf32>
// CHECK: graph.matmul %{{.*}}, %{{.*}} : tensor<2x3x4xi32>, tensor<2x4x5xi32> -> tensor<2x3x5xi32>
func.func @contractions(%x: tensor<?x8xf32>, %y: tensor<8x5xf32>, %a: tensor<2x3x4xi32>, %b: tensor<2x4x5xi32>) {
  %0 = graph.matmul %x, %y : tensor<?x8xf32>, tensor<8x5xf32> -> tensor<?x5xf32>
  %f = graph.matmul %x, %y fast : tensor<?x8xf32>, tensor<8x5xf32> -> tensor<?x5xf32>
  %1 = graph.matmul %a, %b : tensor<2x3x4xi32>, tensor<2x4x5xi32> -> tensor<2x3x5xi32>
  return
}

// CHECK-LABEL: @library(
// CHECK: graph.library "sort" %{{.*}} to(%{{.*}}) params [1] : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK: graph.library "lexsort" %{{.*}}, %{{.*}} params [] : tensor<2x3xui8>, tensor<2x3xf64> -> tensor<2x3xi64>
func.func @library(%x: tensor<?x4xf32>, %a: tensor<2x3xui8>, %b: tensor<2x3xf64>, %n: index) {
  %0 = graph.library "sort" %x to (%n) params [1] : tensor<?x4xf32> -> tensor<?x4xf32>
  %1 = graph.library "lexsort" %a, %b params [] : tensor<2x3xui8>, tensor<2x3xf64> -> tensor<2x3xi64>
  return
}
