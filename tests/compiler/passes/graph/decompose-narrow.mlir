// Ops that combine many elements of a 16-bit float keep float32 on the way and round once.
// RUN: graphc-opt %s --graphc-decompose | FileCheck %s

// CHECK-LABEL: func.func @mean
// CHECK: %[[WIDE:.*]] = graph.cast %arg0 : tensor<4x8xf16> -> tensor<4x8xf32>
// CHECK: graph.reduce <sum> %[[WIDE]] axes [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: graph.div {{.*}} : tensor<4xf32>
// CHECK: graph.cast {{.*}} : tensor<4xf32> -> tensor<4xf16>
func.func @mean(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %0 = graph.reduce <mean> %x axes [1] : tensor<4x8xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// CHECK-LABEL: func.func @product
// CHECK-COUNT-2: graph.cast {{.*}} : tensor<8x8xbf16> -> tensor<8x8xf32>
// CHECK: %[[C:.*]] = graph.matmul {{.*}} -> tensor<8x8xf32>
// CHECK: graph.cast %[[C]] : tensor<8x8xf32> -> tensor<8x8xbf16>
func.func @product(%x: tensor<8x8xbf16>, %y: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %0 = graph.matmul %x, %y : tensor<8x8xbf16>, tensor<8x8xbf16> -> tensor<8x8xbf16>
  return %0 : tensor<8x8xbf16>
}

// Elementwise ops stay: each rounds its result.
// CHECK-LABEL: func.func @each
// CHECK-NOT: graph.cast
func.func @each(%x: tensor<8xf16>) -> tensor<8xf16> {
  %0 = graph.mul %x, %x : tensor<8xf16>
  %1 = graph.add %0, %x : tensor<8xf16>
  return %1 : tensor<8xf16>
}
