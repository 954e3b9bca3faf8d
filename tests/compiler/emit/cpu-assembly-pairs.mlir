// Complex results pass the caches by register for register.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,sse4a | FileCheck %s

// CHECK-LABEL: pairs_0:
// CHECK: vmovntp{{[sd]}} %zmm{{[0-9]+}}, ([[O:%r.*]])
// CHECK-NEXT: vmovntp{{[sd]}} %zmm{{[0-9]+}}, 64(
// CHECK-NEXT: vmovntp{{[sd]}} %zmm{{[0-9]+}}, 128(
func.func @pairs(%x: tensor<?xcomplex<f64>>, %y: tensor<?xcomplex<f64>>) -> tensor<?xcomplex<f64>> {
  %s = graph.add %x, %y : tensor<?xcomplex<f64>>
  return %s : tensor<?xcomplex<f64>>
}
