// Bodies compute complex numbers as two values; tensors stay complex.
// RUN: graphc-opt %s --graphc-split-complex --split-input-file --verify-diagnostics --mlir-print-local-scope | FileCheck %s
// RUN: graphc-opt %s --graphc-split-complex --split-input-file --verify-diagnostics > %t.once
// RUN: graphc-opt %t.once --graphc-split-complex --split-input-file | diff %t.once -

#id = affine_map<(d0) -> (d0)>
#four = affine_map<() -> (4)>

// CHECK-LABEL: kernel.func @product(
// CHECK: %[[A:.*]] = kernel.load %arg0 at {{.*}} part 0 : tensor<4xcomplex<f32>> -> f32
// CHECK: %[[B:.*]] = kernel.load %arg0 at {{.*}} part 1 : tensor<4xcomplex<f32>> -> f32
// CHECK: %[[C:.*]] = kernel.load %arg1 at {{.*}} part 0
// CHECK: %[[D:.*]] = kernel.load %arg1 at {{.*}} part 1
// CHECK-DAG: %[[AC:.*]] = graph.mul %[[A]], %[[C]] : f32
// CHECK-DAG: %[[BD:.*]] = graph.mul %[[B]], %[[D]] : f32
// CHECK-DAG: %[[RE:.*]] = graph.sub %[[AC]], %[[BD]] : f32
// CHECK-DAG: %[[AD:.*]] = graph.mul %[[A]], %[[D]] : f32
// CHECK-DAG: %[[BC:.*]] = graph.mul %[[B]], %[[C]] : f32
// CHECK-DAG: %[[IM:.*]] = graph.add %[[AD]], %[[BC]] : f32
// CHECK: kernel.store %[[RE]] imaginary %[[IM]] : f32, result 0
kernel.func @product(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four, #four]} {
  %a = kernel.load %x at #id : tensor<4xcomplex<f32>> -> complex<f32>
  %b = kernel.load %y at #id : tensor<4xcomplex<f32>> -> complex<f32>
  %c = graph.mul %a, %b : complex<f32>
  kernel.store %c, result 0 at #id : complex<f32>
  kernel.return
}

// What nobody asks for is not loaded.
// CHECK-LABEL: kernel.func @imaginary(
// CHECK-NOT: part 0
// CHECK: %[[B:.*]] = kernel.load %arg0 at {{.*}} part 1
// CHECK-NEXT: kernel.store %[[B]], result 0
kernel.func @imaginary(%x: tensor<4xcomplex<f64>>) -> tensor<4xf64>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %a = kernel.load %x at #id : tensor<4xcomplex<f64>> -> complex<f64>
  %b = graph.imag %a : complex<f64>
  kernel.store %b, result 0 at #id : f64
  kernel.return
}

// CHECK-LABEL: kernel.func @conversions(
// CHECK-DAG: %[[RE:.*]] = graph.cast %{{.*}} : i32 -> f32
// CHECK-DAG: %[[IM:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: kernel.store %[[RE]] imaginary %[[IM]] : f32, result 0
kernel.func @conversions(%x: tensor<4xi32>) -> tensor<4xcomplex<f32>>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %a = kernel.load %x at #id : tensor<4xi32> -> i32
  %b = graph.cast %a : i32 -> complex<f32>
  kernel.store %b, result 0 at #id : complex<f32>
  kernel.return
}

// Real bodies stay as they are.
// CHECK-LABEL: kernel.func @real(
// CHECK: kernel.load %arg0 at {{.*}} : tensor<4xf32> -> f32
// CHECK-NEXT: graph.exp
// CHECK-NEXT: kernel.store
kernel.func @real(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %a = kernel.load %x at #id : tensor<4xf32> -> f32
  %b = graph.exp %a : f32
  kernel.store %b, result 0 at #id : f32
  kernel.return
}

// -----

// The sums were of a part that nobody asks for: nothing goes along the loop any more.
// CHECK-LABEL: kernel.func @replaced(
// CHECK-SAME: #kernel.domain<() -> (4), parallel = 1>
// CHECK-NOT: kernel.scan
// CHECK: kernel.store
#id = affine_map<(d0) -> (d0)>
#four = affine_map<() -> (4)>
kernel.func @replaced(%x: tensor<4xcomplex<f64>>, %y: tensor<4xf64>) -> tensor<4xcomplex<f64>>
    attributes {domain = #kernel.domain<() -> (4), parallel = 0>, inits = array<i64: -1>, shapes = [#four, #four, #four]} {
  %a = kernel.load %x at #id : tensor<4xcomplex<f64>> -> complex<f64>
  %re = graph.real %a : complex<f64>
  %sums = kernel.scan <sum> %re : f64
  %b = kernel.load %y at #id : tensor<4xf64> -> f64
  %c = graph.complex %sums, %b : f64
  %im = graph.imag %c : complex<f64>
  %d = graph.complex %b, %im : f64
  kernel.store %d, result 0 at #id : complex<f64>
  kernel.return
}

// -----

// A product of complex numbers is four real ones beside each other.
// CHECK-LABEL: kernel.func @products(
// CHECK-DAG: %[[A:.*]] = kernel.load %{{.*}} at {{.*}} part 0 : tensor<3x5xcomplex<f64>> -> f64
// CHECK-DAG: %[[B:.*]] = kernel.load %{{.*}} at {{.*}} part 1 : tensor<3x5xcomplex<f64>> -> f64
// CHECK-DAG: %[[C:.*]] = kernel.load %{{.*}} at {{.*}} part 0 : tensor<5x4xcomplex<f64>> -> f64
// CHECK-DAG: %[[D:.*]] = kernel.load %{{.*}} at {{.*}} part 1 : tensor<5x4xcomplex<f64>> -> f64
// CHECK: %[[AC:.*]] = kernel.dot %[[A]], %[[C]] : f64
// CHECK-NEXT: %[[BD:.*]] = kernel.dot %[[B]], %[[D]] : f64
// CHECK-NEXT: %[[AD:.*]] = kernel.dot %[[A]], %[[D]] : f64
// CHECK-NEXT: %[[BC:.*]] = kernel.dot %[[B]], %[[C]] : f64
// CHECK-NEXT: %[[RE:.*]] = graph.sub %[[AC]], %[[BD]] : f64
// CHECK-NEXT: %[[IM:.*]] = graph.add %[[AD]], %[[BC]] : f64
// CHECK-NEXT: kernel.store %[[RE]] imaginary %[[IM]]
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#shape35 = affine_map<() -> (3, 5)>
#shape54 = affine_map<() -> (5, 4)>
#shape34 = affine_map<() -> (3, 4)>
kernel.func @products(%x: tensor<3x5xcomplex<f64>>, %y: tensor<5x4xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    attributes {domain = #kernel.domain<() -> (3, 4, 5), parallel = 2>, inits = array<i64: -1>, shapes = [#shape35, #shape54, #shape34]} {
  %a = kernel.load %x at #left : tensor<3x5xcomplex<f64>> -> complex<f64>
  %b = kernel.load %y at #right : tensor<5x4xcomplex<f64>> -> complex<f64>
  %c = kernel.dot %a, %b : complex<f64>
  kernel.store %c, result 0 at #out : complex<f64>
  kernel.return
}
