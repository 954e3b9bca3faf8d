// Sizes that are known decide whether there is a kernel of runs.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=plan --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx | FileCheck %s

// One block, and more than a run.
// CHECK: plan.program @f
// CHECK-NOT: _run
// CHECK: plan.launch @f_1_run(
// CHECK-NOT: _run
func.func @f(%a: tensor<4096x2048xf64>, %b: tensor<2048x4096xf64>, %c: tensor<4096x4096xf64>, %d: tensor<4096x8200xf64>,
             %e: tensor<8200x4096xf64>) -> (tensor<4096x4096xf64>, tensor<4096x4096xf64>, tensor<4096x4096xf64>) {
  %0 = graph.matmul %a, %b : tensor<4096x2048xf64>, tensor<2048x4096xf64> -> tensor<4096x4096xf64>
  %1 = graph.matmul %c, %0 : tensor<4096x4096xf64>, tensor<4096x4096xf64> -> tensor<4096x4096xf64>
  %2 = graph.matmul %d, %e : tensor<4096x8200xf64>, tensor<8200x4096xf64> -> tensor<4096x4096xf64>
  return %0, %1, %2 : tensor<4096x4096xf64>, tensor<4096x4096xf64>, tensor<4096x4096xf64>
}
