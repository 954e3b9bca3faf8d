// RUN: graphc-opt %s --graphc-verify-phase=phase=graph -split-input-file -verify-diagnostics

// Sizes are computed with index arithmetic.
func.func @sizes(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = graph.dim %x, 0 : tensor<?xf32>
  %one = arith.constant 1 : index
  %m = arith.subi %n, %one : index
  %0 = graph.slice %x from [1] step [1] to (%m) : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @arithmetic(%x: f32) -> f32 {
  // expected-error @+1 {{does not belong after phase 'graph'}}
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}

// -----

func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op does not belong after phase 'graph'}}
  %0 = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @other(tensor<4xf32>) -> tensor<4xf32>

// -----

kernel.func @k(%x: tensor<4xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64>, shapes = [affine_map<() -> (4)>]} {
  // expected-error @+1 {{'kernel.return' op does not belong after phase 'graph'}}
  kernel.return
}
