// Where groups begin in the order of their numbers a scan is one launch: what its groups tell each other is read and
// written as it stands, in every form of the code, and cleared before.
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ordered,c | FileCheck %s --check-prefix=C
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64,gpu,ordered,sm_90 | FileCheck %s --check-prefix=PTX
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,c | FileCheck %s --check-prefix=OTHERS

// C-LABEL: void main_0(
// C: while (1) {
// C: *(volatile __global long *)&v2[
// C: while (1) {
// C: = *(volatile __global long *)&v2[
// C-LABEL: void main_0_clear(
// C-NOT: __kernel

// PTX-LABEL: .entry main_0(
// PTX: ld.volatile.global.b64
// PTX: st.volatile.global.b64
// PTX: ld.volatile.global.b64
// PTX-LABEL: .entry main_0_clear(

// OTHERS-NOT: volatile
// OTHERS: void main_0_blocks(
// OTHERS: void main_0_fold(
func.func @main(%x: tensor<?xf32> {graph.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = graph.scan <sum> %x axis 0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}
