// Exact products in PTX alone: NVIDIA's assembler takes the tiles in every pair of layouts, without a word and without a
// register in memory.
// REQUIRES: compiler, graphc, ptxas
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx > %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: ptxas -arch=sm_90 -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS-NOT: warning
// REGISTERS-NOT: {{[1-9][0-9]*}} bytes spill

// CHECK-LABEL: .entry f_0(
// CHECK: .reqntid 128, 1, 1
// CHECK-NOT: .minnctapersm
// CHECK: .shared .align 128 .b8 f_0_local0[49152];
// CHECK: @more cp.async.ca.shared.global [x+0], [far+0], 4;
// CHECK: @more cp.async.cg.shared.global [x+2048], [far], 16;
// CHECK: cp.async.wait_group 2;
// CHECK: ld.shared.v4.f32 {a0_0, a0_1, a0_2, a0_3}, [x+0];
// CHECK: fma.rn.f32 [[SUM:%r[0-9]+]], a0_0, b0_0, [[SUM]];
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %p: tensor<?x?xf64>, %q: tensor<?x?xf64>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %ta = graph.transpose %a permutation [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %tb = graph.transpose %b permutation [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %tp = graph.transpose %p permutation [1, 0] : tensor<?x?xf64> -> tensor<?x?xf64>
  %tq = graph.transpose %q permutation [1, 0] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = graph.matmul %ta, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %2 = graph.matmul %a, %tb : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK-LABEL: .entry f_3(
  // CHECK: .reqntid 256, 1, 1
  // CHECK: mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64
  %3 = graph.matmul %p, %q : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  %4 = graph.matmul %tp, %q : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  %5 = graph.matmul %p, %tq : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK-LABEL: .entry f_6(
  // CHECK: .reqntid 128, 1, 1
  // CHECK: mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64
  %6 = graph.matmul %p, %tp : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  %7 = graph.matmul %tq, %q : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}
