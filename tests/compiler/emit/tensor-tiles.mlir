// Fast products of 16-bit floats are tiles for tensor cores: mma.sync as inline PTX of OpenCL C, wgmma where a program is
// given as PTX of sm_90a, mma.sync in PTX alone of other processors. Exact products, other types, and targets without tensor cores keep their chains.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ptx90 --target=opencl | FileCheck %s
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,wgmma --target=ptx | FileCheck %s --check-prefix=WGMMA
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_80 --target=ptx | FileCheck %s --check-prefix=PLAIN
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefix=WARPS
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu --target=opencl | FileCheck %s --check-prefix=PLAIN
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,cpu --target=opencl | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: mma

// CHECK-LABEL: reqd_work_group_size(256, 1, 1))) void f_0(
// CHECK: __local short [[MEMORY:v[0-9]+]][24576]
// CHECK: float [[SUMS:t[0-9]+]][64];
// CHECK: asm volatile(
// CHECK: cp.async.cg.shared.global [x], [fromA], 16;
// CHECK: PIECE:
// CHECK: cp.async.wait_group 1;
// CHECK: bar.sync 0;
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a0, a1, a2, a3}, [x];
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {b0, b1, b2, b3}, [x];
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %32, %33}, {a0, a1, a2, a3}, {b0, b1}, {%0, %1, %32, %33};
// CHECK: : "=&f"([[SUMS]][0])
// CHECK-NEXT: : "r"((uint)(ulong)[[MEMORY]]), "r"((uint)get_local_id(0)), "l"({{.*}}) : "memory");
// What is left of k, then tiles that end in the result: piece by piece.
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: mma.sync
// CHECK: : "+f"(
// CHECK: } else {
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: : "+f"(

// WARPS-LABEL: .entry f_0(
// WARPS: .minnctapersm 2
// WARPS: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

// WGMMA: .target sm_90a
// WGMMA-LABEL: .entry f_0(
// WGMMA: .reqntid 256, 1, 1
// WGMMA: .minnctapersm 2
// WGMMA: .shared .align 1024 .b8 f_0_local0[49152];
// WGMMA: fence.proxy.async.shared::cta;
// WGMMA-NEXT: bar.sync 0;
// WGMMA: wgmma.fence.sync.aligned;
// WGMMA-NEXT: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, eA, eB, 1, 1, 1, 0, 1;
// WGMMA: wgmma.commit_group.sync.aligned;
// WGMMA-NEXT: wgmma.wait_group.sync.aligned 0;
func.func @f(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %h: tensor<?x?xf16>) -> (tensor<?x?xbf16>, tensor<?x?xf32>) {
  %0 = graph.matmul %a, %b fast : tensor<?x?xbf16>, tensor<?x?xbf16> -> tensor<?x?xbf16>
  // Widened operands; both layouts of one.
  // CHECK-LABEL: void f_1(
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {b0
  // CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  // WGMMA-LABEL: .entry f_1(
  // WGMMA: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, eA, eB, 1, 1, 1, 0, 0;
  %w = graph.cast %h : tensor<?x?xf16> -> tensor<?x?xf32>
  %t = graph.transpose %w permutation [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = graph.matmul %w, %t fast : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xbf16>, tensor<?x?xf32>
}
