// Four kernels or more that differ in numbers alone are one, whose numbers are size arguments; fewer keep what they know.
// RUN: graphc-opt %s --graphc-pipeline=to=kernel --mlir-print-local-scope --split-input-file | FileCheck %s
// Offsets of rows that are written: parts of a concatenation behind the first kernel's are one kernel.
// RUN: %python %S/concatenated.py 70 | graphc-opt --graphc-pipeline=to=kernel --mlir-print-local-scope | FileCheck %s --check-prefix=PARTS

// PARTS: kernel.func @parts_0(
// PARTS: kernel.func @parts_1(%{{.*}}: tensor<?xf32>, %{{.*}}: tensor<70x?xf32>, %{{.*}}: index, %{{.*}}: index)
// PARTS: kernel.store {{.*}} at affine_map<(d0)[s0, s1] -> (s1, d0)>
// PARTS-NOT: kernel.func
// PARTS: arith.constant 64 : index
// PARTS: kernel.call @parts_1(
// PARTS: arith.constant 69 : index
// PARTS: kernel.call @parts_1(
// PARTS-NOT: kernel.call

// What all have in common stays a literal; bits of -0.5 as the index that holds them.
// CHECK-LABEL: kernel.func @four_0(
// CHECK: arith.constant 1.000000e-03 : f64
// CHECK: kernel.number affine_map<(d0)[s0, s1] -> (s1)> : f64
// CHECK-NOT: kernel.func
// CHECK: func.func @four
// CHECK-DAG: %[[HALF:.*]] = arith.constant -4620693217682128896 : index
// CHECK: kernel.call @four_0({{.*}}) sizes(%{{.*}}, %[[HALF]])
// CHECK-COUNT-3: kernel.call @four_0(
// CHECK-NOT: kernel.call
func.func @four(%x: tensor<?xf64>) -> tensor<?xf64> {
  %n = graph.dim %x, 0 : tensor<?xf64>
  %k = graph.full 1.000000e-03 : f64 : tensor<f64>
  %kk = graph.broadcast %k to(%n) dims [] : tensor<f64> -> tensor<?xf64>
  %a = graph.full -5.000000e-01 : f64 : tensor<f64>
  %aa = graph.broadcast %a to(%n) dims [] : tensor<f64> -> tensor<?xf64>
  %b = graph.full 2.000000e+00 : f64 : tensor<f64>
  %bb = graph.broadcast %b to(%n) dims [] : tensor<f64> -> tensor<?xf64>
  %c = graph.full 3.000000e+00 : f64 : tensor<f64>
  %cc = graph.broadcast %c to(%n) dims [] : tensor<f64> -> tensor<?xf64>
  %d = graph.full 4.000000e+00 : f64 : tensor<f64>
  %dd = graph.broadcast %d to(%n) dims [] : tensor<f64> -> tensor<?xf64>
  %0 = graph.scan <sum> %x axis 0 : tensor<?xf64>
  %1 = graph.mul %0, %kk : tensor<?xf64>
  %2 = graph.add %1, %aa : tensor<?xf64>
  %3 = graph.scan <sum> %2 axis 0 : tensor<?xf64>
  %4 = graph.mul %3, %kk : tensor<?xf64>
  %5 = graph.add %4, %bb : tensor<?xf64>
  %6 = graph.scan <sum> %5 axis 0 : tensor<?xf64>
  %7 = graph.mul %6, %kk : tensor<?xf64>
  %8 = graph.add %7, %cc : tensor<?xf64>
  %9 = graph.scan <sum> %8 axis 0 : tensor<?xf64>
  %10 = graph.mul %9, %kk : tensor<?xf64>
  %11 = graph.add %10, %dd : tensor<?xf64>
  return %11 : tensor<?xf64>
}

// -----

// Divisions of integers by what is known are products.
// CHECK-COUNT-4: kernel.func @known_
// CHECK-NOT: kernel.number
// CHECK-LABEL: func.func @known
func.func @known(%x: tensor<?xi64>) -> tensor<?xi64> {
  %n = graph.dim %x, 0 : tensor<?xi64>
  %a = graph.full 5 : i64 : tensor<i64>
  %aa = graph.broadcast %a to(%n) dims [] : tensor<i64> -> tensor<?xi64>
  %b = graph.full 6 : i64 : tensor<i64>
  %bb = graph.broadcast %b to(%n) dims [] : tensor<i64> -> tensor<?xi64>
  %c = graph.full 7 : i64 : tensor<i64>
  %cc = graph.broadcast %c to(%n) dims [] : tensor<i64> -> tensor<?xi64>
  %d = graph.full 9 : i64 : tensor<i64>
  %dd = graph.broadcast %d to(%n) dims [] : tensor<i64> -> tensor<?xi64>
  %0 = graph.scan <sum> %x axis 0 : tensor<?xi64>
  %1 = graph.remainder %0, %aa : tensor<?xi64>
  %2 = graph.scan <sum> %1 axis 0 : tensor<?xi64>
  %3 = graph.remainder %2, %bb : tensor<?xi64>
  %4 = graph.scan <sum> %3 axis 0 : tensor<?xi64>
  %5 = graph.remainder %4, %cc : tensor<?xi64>
  %6 = graph.scan <sum> %5 axis 0 : tensor<?xi64>
  %7 = graph.remainder %6, %dd : tensor<?xi64>
  return %7 : tensor<?xi64>
}

// -----

// Three: not worth it.
// CHECK-COUNT-3: kernel.func @three_
// CHECK-NOT: kernel.number
// CHECK-LABEL: func.func @three
func.func @three(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %a = graph.full 5.000000e+00 : f32 : tensor<f32>
  %aa = graph.broadcast %a to(%n) dims [] : tensor<f32> -> tensor<?xf32>
  %b = graph.full 6.000000e+00 : f32 : tensor<f32>
  %bb = graph.broadcast %b to(%n) dims [] : tensor<f32> -> tensor<?xf32>
  %c = graph.full 7.000000e+00 : f32 : tensor<f32>
  %cc = graph.broadcast %c to(%n) dims [] : tensor<f32> -> tensor<?xf32>
  %0 = graph.scan <sum> %x axis 0 : tensor<?xf32>
  %1 = graph.mul %0, %aa : tensor<?xf32>
  %2 = graph.scan <sum> %1 axis 0 : tensor<?xf32>
  %3 = graph.mul %2, %bb : tensor<?xf32>
  %4 = graph.scan <sum> %3 axis 0 : tensor<?xf32>
  %5 = graph.mul %4, %cc : tensor<?xf32>
  return %5 : tensor<?xf32>
}
