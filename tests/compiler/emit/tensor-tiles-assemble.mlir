// NVIDIA's assembler takes the tiles in every pair of layouts, and warns of no wgmma that it would make wait.
// REQUIRES: compiler, graphc, ptxas
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,wgmma --target=ptx > %t.ptx
// RUN: ptxas -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | count 0
func.func @f(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %h: tensor<?x?x?xf16>) -> (tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?x?xf32>) {
  %s = graph.transpose %a permutation [1, 0] : tensor<?x?xbf16> -> tensor<?x?xbf16>
  %t = graph.transpose %b permutation [1, 0] : tensor<?x?xbf16> -> tensor<?x?xbf16>
  %0 = graph.matmul %a, %b fast : tensor<?x?xbf16>, tensor<?x?xbf16> -> tensor<?x?xbf16>
  %1 = graph.matmul %a, %t fast : tensor<?x?xbf16>, tensor<?x?xbf16> -> tensor<?x?xbf16>
  %2 = graph.matmul %s, %t fast : tensor<?x?xbf16>, tensor<?x?xbf16> -> tensor<?x?xbf16>
  %w = graph.cast %h : tensor<?x?x?xf16> -> tensor<?x?x?xf32>
  %3 = graph.matmul %w, %w fast : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  return %0, %1, %2, %3 : tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?x?xf32>
}
