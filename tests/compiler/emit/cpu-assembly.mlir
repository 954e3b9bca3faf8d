// Facts about native code: vectors of the target's width, fma where the op is fma and nowhere else, no library calls.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma > %t.avx2
// RUN: FileCheck %s < %t.avx2
// RUN: graphc compile %s --emit=llvm --cpu-features=avx,avx2,fma | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: f_0:
// CHECK-NOT: vfmadd
// CHECK-DAG: vmulps {{.*}}%ymm
// CHECK-DAG: vaddps {{.*}}%ymm
// CHECK-NOT: vfmadd
// CHECK-NOT: call{{q?}} {{.*}}{{exp|fma|memcpy}}
// CHECK: ret{{q?}}

// LLVM-NOT: fast
// LLVM-NOT: contract
// LLVM: fmul <
// LLVM-NOT: fast
// LLVM-NOT: contract
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.mul %x, %y : tensor<?xf32>
  %1 = graph.add %0, %x : tensor<?xf32>
  return %1 : tensor<?xf32>
}
