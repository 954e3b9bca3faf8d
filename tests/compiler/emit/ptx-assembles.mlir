// NVIDIA's assembler takes the PTX of every elementary function; a shift chooses its result by all of its 64-bit count, of
// which the instruction reads 32 bits, and 64-bit elements are loaded whole.
// REQUIRES: compiler, graphc, ptxas
// RUN: graphc compile %S/cpu-assembly-elementary.mlir --emit=ptx --opencl-features=fp64 > %t.all.ptx
// RUN: ptxas -arch=sm_90 %t.all.ptx -o %t.cubin
// RUN: graphc compile %s --emit=ptx --opencl-features=fp64 > %t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
// RUN: FileCheck %s < %t.ptx

// CHECK: ld.global.b64
// CHECK: setp.lt.u64 [[SMALL:%p[0-9]+]], {{%rd[0-9]+}}, 64
// CHECK: and.b32 [[COUNT:%r[0-9]+]], {{%r[0-9]+}}, 63
// CHECK: shl.b64 {{.*}}, [[COUNT]]
// CHECK: selp.b64 {{.*}}, 0, [[SMALL]]
func.func @f(%a: tensor<?xi64>, %b: tensor<?xi64>) -> tensor<?xi64> {
  %0 = graph.shift_left %a, %b : tensor<?xi64>
  return %0 : tensor<?xi64>
}
