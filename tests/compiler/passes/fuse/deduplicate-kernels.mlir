// Kernels whose text is equal but for the name are one kernel.
// RUN: graphc-opt %s --graphc-deduplicate-kernels --mlir-print-local-scope | FileCheck %s
// RUN: graphc-opt %s --graphc-deduplicate-kernels > %t.once
// RUN: graphc-opt %s --graphc-deduplicate-kernels --graphc-deduplicate-kernels | diff %t.once -
// A loop of fifty equal steps compiles its step once.
// RUN: %python %S/chain.py 50 | graphc-opt --graphc-pipeline=to=kernel | FileCheck %s --check-prefix=STEPS

// STEPS-COUNT-1: kernel.func
// STEPS-NOT: kernel.func
// STEPS-LABEL: func.func @steps
// STEPS-COUNT-50: kernel.call @steps_0(
// STEPS-NOT: kernel.call
// STEPS: return

#id = affine_map<(d0) -> (d0)>
#four = affine_map<() -> (4)>

// CHECK: kernel.func @first(
// CHECK-NOT: @same(
kernel.func @first(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %a = kernel.load %x at #id : tensor<4xf32> -> f32
  %b = graph.exp %a : f32
  kernel.store %b, result 0 at #id : f32
  kernel.return
}

kernel.func @same(%y: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %c = kernel.load %y at #id : tensor<4xf32> -> f32
  %d = graph.exp %c : f32
  kernel.store %d, result 0 at #id : f32
  kernel.return
}

// CHECK: kernel.func @other_op(
kernel.func @other_op(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %a = kernel.load %x at #id : tensor<4xf32> -> f32
  %b = graph.log %a : f32
  kernel.store %b, result 0 at #id : f32
  kernel.return
}

// CHECK: kernel.func @other_type(
kernel.func @other_type(%x: tensor<4xf64>) -> tensor<4xf64>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %a = kernel.load %x at #id : tensor<4xf64> -> f64
  %b = graph.exp %a : f64
  kernel.store %b, result 0 at #id : f64
  kernel.return
}

// CHECK: kernel.func @other_map(
kernel.func @other_map(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [#four, #four]} {
  %a = kernel.load %x at affine_map<(d0) -> (3 - d0)> : tensor<4xf32> -> f32
  %b = graph.exp %a : f32
  kernel.store %b, result 0 at #id : f32
  kernel.return
}

// CHECK: kernel.func @other_init(
kernel.func @other_init(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: 0>, shapes = [#four, #four]} {
  %a = kernel.load %x at #id : tensor<4xf32> -> f32
  %b = graph.exp %a : f32
  kernel.store %b, result 0 at #id : f32
  kernel.return
}

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK: %[[A:.*]] = kernel.call @first(%[[X]])
// CHECK: %[[B:.*]] = kernel.call @first(%[[A]])
// CHECK: %[[C:.*]] = kernel.call @other_op(%[[B]])
// CHECK: %[[D:.*]] = kernel.call @other_map(%[[C]])
// CHECK: %[[E:.*]] = kernel.call @other_init(%[[D]])
// CHECK: return %[[E]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kernel.call @first(%x) sizes() dims [] lines "" : (tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.call @same(%0) sizes() dims [] lines "" : (tensor<4xf32>) -> tensor<4xf32>
  %2 = kernel.call @other_op(%1) sizes() dims [] lines "" : (tensor<4xf32>) -> tensor<4xf32>
  %3 = kernel.call @other_map(%2) sizes() dims [] lines "" : (tensor<4xf32>) -> tensor<4xf32>
  %4 = kernel.call @other_init(%3) sizes() dims [] lines "" : (tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
