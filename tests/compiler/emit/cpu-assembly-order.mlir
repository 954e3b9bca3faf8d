// Registers are loaded in the order in which they lie in memory, of each operand: a processor follows no stream that goes back
// and forth. A store past the caches stays one, part by part.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,sse4a | FileCheck %s

// CHECK-LABEL: least_0:
// CHECK: vmovupd ([[X:%r.*]],[[I:%r.*]],8), %zmm
// CHECK-NEXT: vmovupd 64([[X]],[[I]],8), %zmm
// CHECK-NEXT: vmovupd 128([[X]],[[I]],8), %zmm
// CHECK-NOT: ([[X]],[[I]],8)
// CHECK: vmovupd 192([[X]],[[I]],8), %zmm
// CHECK-NOT: ([[X]],[[I]],8)
// CHECK: vmovupd 256([[X]],[[I]],8), %zmm
// CHECK-NOT: ([[X]],[[I]],8)
// CHECK: vmovupd 320([[X]],[[I]],8), %zmm
// CHECK-NOT: ([[X]],[[I]],8)
// CHECK: vmovupd 384([[X]],[[I]],8), %zmm
// CHECK-NOT: ([[X]],[[I]],8)
// CHECK: vmovupd 448([[X]],[[I]],8), %zmm
func.func @least(%x: tensor<?xf64>) -> (tensor<f64>, tensor<f64>) {
  %a = graph.reduce <min> %x axes [0] : tensor<?xf64> -> tensor<f64>
  %b = graph.reduce <max> %x axes [0] : tensor<?xf64> -> tensor<f64>
  return %a, %b : tensor<f64>, tensor<f64>
}
