// --graphc-pipeline=to=PHASE stops after any phase; what is there belongs to that phase, nothing of the next.
// RUN: graphc-opt %s --graphc-pipeline=to=graph | FileCheck %s --check-prefix=GRAPH
// RUN: graphc-opt %s --graphc-pipeline=to=kernel | FileCheck %s --check-prefix=KERNEL
// RUN: graphc-opt %s --graphc-pipeline=to=schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: graphc-opt %s --graphc-pipeline=to=plan | FileCheck %s --check-prefix=PLAN
// RUN: graphc-opt %s --graphc-pipeline=to=lower | FileCheck %s --check-prefix=LOWER
// Without `to`: everything.
// RUN: graphc-opt %s --graphc-pipeline=to=lower > %t.lower
// RUN: graphc-opt %s --graphc-pipeline | diff %t.lower -
// The output is the same every time.
// RUN: graphc-opt %s --graphc-pipeline=to=lower | diff %t.lower -

// GRAPH-NOT: kernel.
// GRAPH: func.func @f(
// GRAPH: graph.reduce <sum>
// GRAPH: graph.div
// GRAPH-NOT: mean
// GRAPH-NOT: kernel.

// KERNEL: kernel.func @f_0(
// KERNEL-NOT: schedule
// KERNEL: func.func @f(
// KERNEL: kernel.call @f_0(
// KERNEL-NOT: plan.

// SCHEDULE: kernel.func @f_0({{.*}} schedule = #kernel.schedule<rows,
// SCHEDULE: kernel.call @f_0(
// SCHEDULE-NOT: plan.

// PLAN: kernel.func @f_0(
// PLAN-NOT: func.func
// PLAN: plan.program @f inputs
// PLAN: plan.launch @f_0(
// PLAN-NOT: kernel.call

// LOWER-NOT: kernel.func
// LOWER: func.func @f_0(
// LOWER: scf.for
// LOWER-NOT: graph.
// LOWER: plan.program @f inputs
// LOWER: plan.launch @f_0(
func.func @f(%x: tensor<?x256xf32>) -> tensor<?xf32> {
  %0 = graph.exp %x : tensor<?x256xf32>
  %1 = graph.reduce <mean> %0 axes [1] : tensor<?x256xf32> -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
