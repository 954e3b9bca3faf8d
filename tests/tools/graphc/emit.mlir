// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=graph | FileCheck %s --check-prefix=GRAPH
// GRAPH: graph.add
// RUN: graphc compile %s --emit=kernel | FileCheck %s --check-prefix=KERNEL
// KERNEL: kernel.
// RUN: graphc compile %s --emit=plan | FileCheck %s --check-prefix=PLAN
// PLAN: plan.
// RUN: graphc compile %s --emit=llvm | FileCheck %s --check-prefix=LLVM
// LLVM: define {{.*}} @{{.*}}main_0
// RUN: graphc compile %s --emit=asm | FileCheck %s --check-prefix=ASM
// ASM: .text
// RUN: graphc compile - --emit=opencl < %s | FileCheck %s --check-prefix=OPENCL
// OPENCL: __kernel void

func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  %0 = graph.add %x, %x : tensor<?xi32>
  return %0 : tensor<?xi32>
}
