// PTX of the flavour that OpenCL drivers take: entries whose buffers are pointers to global memory, rounding written out so
// that nothing is contracted, division and square root of IEEE 754.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64 | FileCheck %s
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,sm_80 | FileCheck %s --check-prefix=OLDER
// RUN: not graphc compile %s --emit=ptx --opencl-features=fp64,sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: .target sm_90, texmode_independent
// CHECK: .entry f_0(
// CHECK-NEXT: .param .u64 .ptr .global .align 16
// CHECK: .reqntid 64, 1, 1
// CHECK: ld.global.b32
// CHECK: mul.rn.f32
// CHECK: div.rn.f32
// CHECK: add.rn.f32
// CHECK: sqrt.rn.f32
// CHECK: st.global.b32
// OLDER: .target sm_80, texmode_independent
// UNKNOWN: [ptx] unknown processor 'sm_1'
func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.mul %a, %b : tensor<?xf32>
  %1 = graph.div %0, %b : tensor<?xf32>
  %2 = graph.add %0, %1 : tensor<?xf32>
  %3 = graph.sqrt %2 : tensor<?xf32>
  return %3 : tensor<?xf32>
}
