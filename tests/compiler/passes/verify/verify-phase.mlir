// Every phase accepts what the phases up to it make.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-decompose),graphc-verify-phase{phase=graph})' | FileCheck %s --check-prefix=GRAPH
// RUN: graphc-opt %s --graphc-pipeline=to=kernel | graphc-opt --graphc-verify-phase=phase=kernel | FileCheck %s --check-prefix=KERNEL
// RUN: graphc-opt %s --graphc-pipeline=to=schedule | graphc-opt --graphc-verify-phase=phase=schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: graphc-opt %s --graphc-pipeline=to=plan | graphc-opt --graphc-verify-phase=phase=plan | FileCheck %s --check-prefix=PLAN
// RUN: graphc-opt %s --graphc-pipeline=to=lower | graphc-opt --graphc-verify-phase=phase=lower | FileCheck %s --check-prefix=LOWER
// RUN: graphc-opt %s --graphc-pipeline='to=lower vector-bytes=0' | graphc-opt --graphc-verify-phase=phase=lower | FileCheck %s --check-prefix=LOWER

// GRAPH: graph.extent
// KERNEL: kernel.call
// SCHEDULE: schedule =
// PLAN: plan.launch
// LOWER: scf.for

func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x3xf32>) -> (tensor<f32>, tensor<?x3xf32>) {
  %0 = graph.reduce <mean> %x axes [0, 1] : tensor<?x8xf32> -> tensor<f32>
  %1 = graph.matmul %x, %w : tensor<?x8xf32>, tensor<8x3xf32> -> tensor<?x3xf32>
  return %0, %1 : tensor<f32>, tensor<?x3xf32>
}
