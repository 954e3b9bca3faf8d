// Large products in float64 of k up to a run of four blocks have a kernel whose groups keep the sums of the run in local memory,
// where the device has so much: block results do not go through memory. The plan runs one of the kernels, by sizes.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=plan --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx | FileCheck %s --check-prefix=PLAN
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx | FileCheck %s
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90,wgmma --target=ptx | FileCheck %s --check-prefix=WITHOUT
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ptx90,tensormaps,c --target=opencl | FileCheck %s --check-prefix=WITHOUT
// WITHOUT-NOT: _run

// More than one block, no more than four.
// PLAN: plan.program @f
// PLAN: arith.subi {{.*}}, %c2048
// PLAN: arith.subi %c8193, {{.*}}
// PLAN: plan.launch @f_0_run(%arg0, %arg1, [[RESULT:%.*]] : {{.*}} work [[K:%.*]] lines
// PLAN: plan.launch @f_0_small(%arg0, %arg1, [[RESULT]], [[BLOCKS:%.*]] :
// PLAN: plan.launch @f_0(%arg0, %arg1, [[RESULT]], [[BLOCKS]] :
// PLAN: plan.launch @f_0_fold(

// 176 KiB of local memory: three stages, and 64 sums of 256 work-items.
// CHECK: .extern .shared .align 128 .b8 f_0_run_local{{[0-9]+}}[];
// CHECK-LABEL: .entry f_0(
// CHECK-NOT: st.shared.f64 [own+
// CHECK-LABEL: .entry f_0_run(
// CHECK: .reqntid 256, 1, 1
// A block has 256 pieces of eight k's.
// CHECK: mov.b32 block, 256;
// CHECK: mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64
// CHECK: sub.s32 block, block, 1;
// CHECK: @run ld.shared.f64 sum, [own+49152];
// CHECK-NEXT: @run add.rn.f64 sum, sum,
// CHECK-NEXT: @!run mov.f64 sum,
// CHECK-NEXT: st.shared.f64 [own+49152], sum;
// CHECK: st.shared.f64 [own+178176], sum;
// CHECK-LABEL: .entry f_0_fold(
func.func @f(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = graph.matmul %a, %b : tensor<?x?xf64>, tensor<?x?xf64> -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
