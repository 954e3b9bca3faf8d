// Elements of rows that are read once and written once stay in registers: the loops over them are unrolled. Scans bound
// their registers, so that a multiprocessor holds many groups; what nobody writes is read as such.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,ordered,sm_90 --target=ptx | FileCheck %s
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,ordered,sm_90 --target=ptx | FileCheck %s --check-prefix=NONE
// NONE-LABEL: .entry main_0_16(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_64(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_256(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_256_any(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_1024(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_1024_any(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_4096(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_4096_any(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_8192(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_16384(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_32768(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0(
// NONE-NOT: .local
// NONE-LABEL: .entry main_0_whole(
// NONE-NOT: .local
// NONE-LABEL: .entry main_1(
// NONE-NOT: .local

// CHECK-LABEL: .entry main_0(
// CHECK-NOT: .minnctapersm
// CHECK: ld.global.nc.v2.b32
// CHECK-LABEL: .entry main_1(
// CHECK: .reqntid 256, 1, 1
// CHECK-NEXT: .minnctapersm 8
func.func @main(%arg0: tensor<?x?xf32> {graph.dims = array<i64: 0, 1>}, %s: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0 = graph.dim %arg0, 0 : tensor<?x?xf32>
  %1 = graph.dim %arg0, 1 : tensor<?x?xf32>
  %2 = graph.reduce <max> %arg0 axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %3 = graph.reshape %2 to(%0) : tensor<?xf32> -> tensor<?x1xf32>
  %4 = graph.broadcast %3 to(%0, %1) dims [0, 1] : tensor<?x1xf32> -> tensor<?x?xf32>
  %5 = graph.sub %arg0, %4 : tensor<?x?xf32>
  %6 = graph.exp %5 : tensor<?x?xf32>
  %7 = graph.reduce <sum> %6 axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  %8 = graph.reshape %7 to(%0) : tensor<?xf32> -> tensor<?x1xf32>
  %9 = graph.broadcast %8 to(%0, %1) dims [0, 1] : tensor<?x1xf32> -> tensor<?x?xf32>
  %10 = graph.div %6, %9 : tensor<?x?xf32>
  %scan = graph.scan <sum> %s axis 0 : tensor<?xf32>
  return %10, %scan : tensor<?x?xf32>, tensor<?xf32>
}
