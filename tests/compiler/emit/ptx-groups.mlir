// Local memory of a group is read and written by whole vectors: it lies at multiples of 128 bytes, also behind the words
// that the driver puts in front of it.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s
// For three groups the driver's compiler takes the registers that loads ahead need.
// CHECK-LABEL: .entry main_0(
// CHECK: .minnctapersm 3
// CHECK: .shared .align 128 .b8 main_0_local{{[0-9]}}[4096];
// CHECK: st.shared.v4.b32

func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
