// Running sums are one pass over memory: one launch, whose pieces look at what others told them as it stands in memory.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=plan | FileCheck %s --check-prefix=PLAN
// RUN: graphc compile %s --emit=llvm | FileCheck %s --check-prefix=LLVM

// PLAN: plan.launch @main_0_clear
// PLAN: plan.launch @main_0(
// PLAN-NOT: plan.launch

// LLVM-LABEL: @main_0(
// LLVM: store volatile i64
// LLVM: load volatile i64
// LLVM: call void @llvm.x86.sse2.pause()
func.func @main(%x: tensor<?xf32> {graph.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = graph.scan <sum> %x axis 0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}
