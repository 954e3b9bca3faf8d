// The inner loop of a product: six broadcasts, 24 fused multiply-adds of four vectors, no vector on the stack, no mask.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq > %t.wide
// RUN: FileCheck %s --check-prefix=WIDE < %t.wide
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma > %t.narrow
// RUN: FileCheck %s --check-prefix=NARROW < %t.narrow

// The edge's loop holds six; the whole tile's stands next to its own first broadcast.
// WIDE-LABEL: f_0:
// WIDE: vbroadcastss {{.*}}%zmm
// WIDE-NOT: {{rsp.*zmm|zmm.*rsp|%k[0-7]}}
// WIDE-COUNT-24: vfmadd231ps {{.*}}%zmm
// WIDE-NOT: {{vfmadd|rsp.*zmm|zmm.*rsp|%k[0-7]}}
// WIDE: {{jne|jl|jg}} .LBB0_

// NARROW-LABEL: f_0:
// NARROW-COUNT-12: vfmadd231ps {{.*}}%ymm
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
