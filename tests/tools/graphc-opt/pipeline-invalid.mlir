// Broken input is refused where it is read, with its place; nothing is printed.
// RUN: not graphc-opt %s --graphc-pipeline=to=lower -o %t 2>&1 | FileCheck %s
// CHECK: pipeline-invalid.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'graph.reshape' op C1: element counts differ
func.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = graph.reshape %x : tensor<4xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
