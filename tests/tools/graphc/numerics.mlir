// --numerics=fast: as if every product of 16-bit floats in the text said `fast`; others keep their chains.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --numerics=fast --emit=opencl --opencl-features=fp64,gpu,ptx90 --target=opencl | FileCheck %s
// RUN: graphc compile %s --emit=opencl --opencl-features=fp64,gpu,ptx90 --target=opencl | FileCheck %s --check-prefix=EXACT
// RUN: %python %S/Inputs/status.py 2 graphc compile %s --numerics=other --emit=graph 2>&1 | FileCheck %s --check-prefix=BAD
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// EXACT-NOT: mma.sync
// BAD: --numerics

func.func @main(%x: tensor<256x128xbf16>, %y: tensor<128x256xbf16>) -> tensor<256x256xbf16> {
  %0 = graph.matmul %x, %y : tensor<256x128xbf16>, tensor<128x256xbf16> -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}
