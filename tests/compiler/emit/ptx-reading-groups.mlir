// Three groups at once are asked for where reading is all there is to do, and for elements of 32 bits, watched or not; two where
// long bodies compute with 64 bits; none where several states of 64 bits need the registers.
// REQUIRES: compiler, graphc
// RUN: split-file %s %t
// RUN: graphc compile %t/sum.mlir --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefix=SUM
// RUN: graphc compile %t/watched.mlir --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefix=SUM
// RUN: graphc compile %t/two.mlir --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefix=SUM
// RUN: graphc compile %t/sin32.mlir --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefixes=SUM,AHEAD
// RUN: graphc compile %t/sin.mlir --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefix=LONG
// RUN: graphc compile %t/two64.mlir --emit=ptx --opencl-features=fp64,gpu,sm_90 --target=ptx | FileCheck %s --check-prefix=OTHER
// SUM-LABEL: .entry main_0(
// SUM: .minnctapersm 3
// Four turns read before the first one computes.
// AHEAD: ld.global.nc.v4.b32
// AHEAD-NEXT: ld.global.nc.v4.b32
// AHEAD-NEXT: ld.global.nc.v4.b32
// AHEAD-NEXT: ld.global.nc.v4.b32
// LONG-LABEL: .entry main_0(
// LONG: .minnctapersm 2
// OTHER-NOT: .minnctapersm
// OTHER: .entry main_0(
// OTHER-NOT: .minnctapersm

//--- sum.mlir
func.func @main(%x: tensor<?xf64>) -> tensor<f64> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

//--- watched.mlir
module attributes {graphc.watch} {
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
}

//--- sin.mlir
func.func @main(%x: tensor<?xf64>) -> tensor<f64> {
  %0 = graph.sin %x : tensor<?xf64>
  %1 = graph.reduce <sum> %0 axes [0] : tensor<?xf64> -> tensor<f64>
  return %1 : tensor<f64>
}

//--- two.mlir
func.func @main(%x: tensor<?xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  %1 = graph.reduce <max> %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

//--- sin32.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.sin %x : tensor<?xf32>
  %1 = graph.reduce <sum> %0 axes [0] : tensor<?xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

//--- two64.mlir
func.func @main(%x: tensor<?xf64>) -> (tensor<f64>, tensor<f64>) {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf64> -> tensor<f64>
  %1 = graph.reduce <prod> %x axes [0] : tensor<?xf64> -> tensor<f64>
  return %0, %1 : tensor<f64>, tensor<f64>
}
