// Large fast products have a second kernel where the device has tensor maps: wider tiles that the copy engine feeds. The plan
// runs one of both, by sizes and alignment.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=plan --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx | FileCheck %s --check-prefix=PLAN
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90,wgmma,tensormaps --target=ptx | FileCheck %s
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90,wgmma --target=ptx | FileCheck %s --check-prefix=WITHOUT
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ptx90,tensormaps,c --target=opencl | FileCheck %s --check-prefix=WITHOUT
// WITHOUT-NOT: bulk
// WITHOUT-NOT: tensormap

// 5/8 of twice the wider tiles, at least 96 of them, lines of B (b's columns) and A (a's) by 8.
// PLAN: plan.program @f
// PLAN: [[DOWN:%.*]] = arith.ceildivsi %0, %c128
// PLAN: [[ACROSS:%.*]] = arith.ceildivsi %{{.*}}, %c256
// PLAN: arith.subi {{.*}}, %c95
// PLAN: arith.floordivsi
// PLAN: arith.floordivsi
// PLAN: [[ITEMS:%.*]] = arith.muli
// PLAN: [[MAPS:%.*]] = plan.alloc {{.*}} : <i64>
// PLAN: plan.launch @f_0_bulk(%arg0, %arg1, {{.*}}, [[MAPS]] :
// PLAN: plan.launch @f_0(%arg0, %arg1,
// PLAN: plan.launch @f_0_fold(

// CHECK: .version 8.3
// CHECK: .target sm_90a
// CHECK: .extern .shared .align 1024 .b8 f_0_bulk_local0[];
// CHECK-LABEL: .entry f_0_bulk(
// CHECK: .reqntid 256, 1, 1
// Both maps: k is contiguous in A, the columns in B.
// CHECK: tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [mapA], 0, 64;
// CHECK-NEXT: mov.b32 x, 128;
// CHECK: tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [mapA], 10;
// CHECK: tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [mapB], 0, 64;
// CHECK-NEXT: mov.b32 x, 64;
// CHECK: tensormap.cp_fenceproxy
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 49152;
// CHECK-COUNT-5: cp.async.bulk.tensor.2d
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, eA, eB, 1, 1, 1, 0, 1;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-LABEL: .entry f_0(
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
func.func @f(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = graph.matmul %a, %b fast : tensor<?x?xbf16>, tensor<?x?xbf16> -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}
