// Coefficients of pieces (compiler/math/Pieces.h): permutations of registers on CPUs that have them, a table in memory on devices, once for two kernels.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,avx512cd | FileCheck %s --check-prefix=WIDE
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma | FileCheck %s --check-prefix=NARROW
// RUN: graphc compile %s --target=opencl --emit=opencl --opencl-features=gpu,c | FileCheck %s --check-prefix=SOURCE
// RUN: graphc compile %s --target=spirv --emit=spirv --opencl-features=gpu,spirv1.2 | FileCheck %s --check-prefix=IL
// RUN: graphc compile %s --target=ptx --emit=ptx --opencl-features=gpu,sm_90 | FileCheck %s --check-prefix=PTX

// WIDE: vpermps {{.*}}zmm
// WIDE-NOT: vdivps
// NARROW: vpermps {{.*}}ymm
// NARROW: vblendvps
// NARROW-NOT: vdivps

// SOURCE: __constant float gc_table1{{.128.}}
// SOURCE-NOT: gc_table2
// SOURCE: float2 {{.*}} = ((__constant float2 *)gc_table1)[
// SOURCE-LABEL: void f_1(
// SOURCE: float2 {{.*}} = ((__constant float2 *)gc_table1)[

// IL: OpVariable {{.*}} UniformConstant
// PTX: .global .align 128 .b8 gc_table1[512]
// PTX-LABEL: .entry f_1(
// PTX: ld.global.nc.b32
// PTX: st.shared.b32
// PTX: bar.sync
// PTX: ld.shared.v2.b32
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
  %0 = graph.tanh %x : tensor<?xf32>
  %1 = graph.reduce <sum> %0 axes [0] : tensor<?xf32> -> tensor<f32>
  %2 = graph.tanh %y : tensor<?xf32>
  return %1, %2 : tensor<f32>, tensor<?xf32>
}
