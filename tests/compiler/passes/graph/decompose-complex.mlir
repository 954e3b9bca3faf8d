// Sums, means, scans and matrix products of complex numbers are those of their parts.
// RUN: graphc-opt %s --graphc-decompose | FileCheck %s
// RUN: graphc-opt %s --graphc-decompose=complex-products=true | FileCheck %s --check-prefix=WHOLE

// CHECK-LABEL: func.func @sum
// CHECK: %[[R:.*]] = graph.real %arg0
// CHECK: %[[RS:.*]] = graph.reduce <sum> %[[R]] axes [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: %[[I:.*]] = graph.imag %arg0
// CHECK: %[[IS:.*]] = graph.reduce <sum> %[[I]] axes [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: graph.complex %[[RS]], %[[IS]] : tensor<4xf32>
func.func @sum(%x: tensor<4x8xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = graph.reduce <sum> %x axes [1] : tensor<4x8xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func @running
// CHECK-COUNT-2: graph.scan <sum> {{.*}} axis 0 : tensor<8xf64>
// CHECK: graph.complex
func.func @running(%x: tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>> {
  %0 = graph.scan <sum> %x axis 0 : tensor<8xcomplex<f64>>
  return %0 : tensor<8xcomplex<f64>>
}

// WHOLE-LABEL: func.func @product
// WHOLE-NEXT: graph.matmul {{.*}} -> tensor<4x5xcomplex<f32>>
// WHOLE-NEXT: return
// CHECK-LABEL: func.func @product
// CHECK-COUNT-2: graph.matmul {{.*}} -> tensor<4x5xf32>
// CHECK: graph.sub
// CHECK-COUNT-2: graph.matmul {{.*}} -> tensor<4x5xf32>
// CHECK: graph.add
// CHECK: graph.complex
func.func @product(%x: tensor<4x8xcomplex<f32>>, %y: tensor<8x5xcomplex<f32>>) -> tensor<4x5xcomplex<f32>> {
  %0 = graph.matmul %x, %y : tensor<4x8xcomplex<f32>>, tensor<8x5xcomplex<f32>> -> tensor<4x5xcomplex<f32>>
  return %0 : tensor<4x5xcomplex<f32>>
}

// Elementwise operations stay: they are split where they are scalars.
// CHECK-LABEL: func.func @each
// CHECK-NEXT: graph.mul {{.*}} : tensor<4xcomplex<f32>>
// CHECK-NEXT: return
func.func @each(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = graph.mul %x, %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
