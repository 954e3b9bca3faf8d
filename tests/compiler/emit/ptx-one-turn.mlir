// A product over one element has loops of one turn, which end when they are unrolled.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,groups1024,tickets,ordered,ptx90,straight,sm_90 --target=ptx | FileCheck %s
// CHECK: .entry main_0(
func.func @main(%x: tensor<?x?x1xcomplex<f64>> {graph.dims = array<i64: 0, 1, -1>}, %y: tensor<?x1x?xcomplex<f64>> {graph.dims = array<i64: 0, -1, 2>}) -> tensor<?x?x?xcomplex<f64>> {
  %0 = graph.dim %x, 0 : tensor<?x?x1xcomplex<f64>>
  %1 = graph.dim %x, 1 : tensor<?x?x1xcomplex<f64>>
  %2 = graph.dim %y, 2 : tensor<?x1x?xcomplex<f64>>
  %3 = graph.matmul %x, %y : tensor<?x?x1xcomplex<f64>>, tensor<?x1x?xcomplex<f64>> -> tensor<?x?x?xcomplex<f64>>
  return %3 : tensor<?x?x?xcomplex<f64>>
}
