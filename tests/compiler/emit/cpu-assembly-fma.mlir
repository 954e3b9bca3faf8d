// The chain of a product is fused multiply-adds; elementary functions call nothing.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma | FileCheck %s

// CHECK: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// CHECK-NOT: {{call.*(exp|fma|tanh)}}
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = graph.tanh %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
