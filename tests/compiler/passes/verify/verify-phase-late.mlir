// The phases after fusion name the first op that does not belong, inner ops before outer ones.
// RUN: not graphc-opt %s --graphc-verify-phase=phase=schedule 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not graphc-opt %s --graphc-verify-phase=phase=plan 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not graphc-opt %s --graphc-verify-phase=phase=lower 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: not graphc-opt %s --graphc-verify-phase=phase=dessert 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not graphc-opt %s --graphc-verify-phase 2>&1 | FileCheck %s --check-prefix=NONE

// SCHEDULE: error: 'kernel.func' op does not belong after phase 'schedule'
// PLAN: error: 'kernel.call' op does not belong after phase 'plan'
// LOWER: error: 'kernel.load' op does not belong after phase 'lower'
// UNKNOWN: error: unknown phase 'dessert'
// NONE: error: unknown phase ''
kernel.func @unscheduled(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

func.func @not_planned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kernel.call @unscheduled(%x) sizes() dims [] lines "" : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
