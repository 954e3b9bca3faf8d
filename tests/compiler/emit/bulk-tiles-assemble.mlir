// NVIDIA's assembler takes the tiles that the copy engine feeds, of lines along k and along the loops, and warns of no wgmma that it would make wait.
// REQUIRES: compiler, graphc, ptxas
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx > %t.ptx
// RUN: ptxas -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | count 0
// RUN: FileCheck %s < %t.ptx
// CHECK-COUNT-2: tensormap.replace.tile.global_address.shared::cta.b1024.b64 [mapA]
func.func @f(%a: tensor<?x2048xf16>, %b: tensor<2048x?xf16>) -> (tensor<?x?xf16>, tensor<?x?xf16>) {
  %s = graph.transpose %a permutation [1, 0] : tensor<?x2048xf16> -> tensor<2048x?xf16>
  %t = graph.transpose %b permutation [1, 0] : tensor<2048x?xf16> -> tensor<?x2048xf16>
  %0 = graph.matmul %a, %b fast : tensor<?x2048xf16>, tensor<2048x?xf16> -> tensor<?x?xf16>
  %1 = graph.matmul %t, %s fast : tensor<?x2048xf16>, tensor<2048x?xf16> -> tensor<?x?xf16>
  return %0, %1 : tensor<?x?xf16>, tensor<?x?xf16>
}
