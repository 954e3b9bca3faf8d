// Complex numbers print and parse as written.
// RUN: graphc-opt %s | graphc-opt | FileCheck %s

// CHECK-LABEL: @parts(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[Z:.*]] = graph.complex %[[X]], %[[Y]] : tensor<?xf32>
// CHECK-NEXT: %[[C:.*]] = graph.conj %[[Z]] : tensor<?xcomplex<f32>>
// CHECK-NEXT: %[[R:.*]] = graph.real %[[C]] : tensor<?xcomplex<f32>>
// CHECK-NEXT: %[[I:.*]] = graph.imag %[[C]] : tensor<?xcomplex<f32>>
// CHECK-NEXT: %[[A:.*]] = graph.abs %[[Z]] : tensor<?xcomplex<f32>>
// CHECK-NEXT: %[[S:.*]] = graph.add %[[R]], %[[I]] : tensor<?xf32>
// CHECK-NEXT: graph.add %[[S]], %[[A]] : tensor<?xf32>
func.func @parts(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.complex %x, %y : tensor<?xf32>
  %1 = graph.conj %0 : tensor<?xcomplex<f32>>
  %2 = graph.real %1 : tensor<?xcomplex<f32>>
  %3 = graph.imag %1 : tensor<?xcomplex<f32>>
  %4 = graph.abs %0 : tensor<?xcomplex<f32>>
  %5 = graph.add %2, %3 : tensor<?xf32>
  %6 = graph.add %5, %4 : tensor<?xf32>
  return %6 : tensor<?xf32>
}

// A literal is the real part.
// CHECK-LABEL: @ones(
// CHECK: graph.full 1.000000e+00 : f64 : tensor<3xcomplex<f64>>
func.func @ones() -> tensor<3xcomplex<f64>> {
  %0 = graph.full 1.0 : f64 : tensor<3xcomplex<f64>>
  return %0 : tensor<3xcomplex<f64>>
}
