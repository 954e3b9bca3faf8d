// Sizes that are known decide while compiling: a product with too few wide tiles has one kernel, a large one keeps both.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=plan --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx | FileCheck %s
// RUN: sed s/1024/8192/g %s | graphc compile - --emit=plan --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx | FileCheck %s --check-prefix=LARGE

// CHECK-NOT: f_0_bulk
// CHECK: plan.launch @f_0(
// CHECK-NOT: f_0_bulk
// LARGE: plan.launch @f_0_bulk(
// LARGE: plan.launch @f_0(
func.func @f(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %0 = graph.matmul %a, %b fast : tensor<1024x1024xbf16>, tensor<1024x1024xbf16> -> tensor<1024x1024xbf16>
  return %0 : tensor<1024x1024xbf16>
}
