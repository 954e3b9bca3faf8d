// RUN: graphc-opt %s --graphc-verify-phase=phase=kernel -split-input-file -verify-diagnostics

// Aliases and sizes stay around the calls.
func.func @alias(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %n = graph.dim %x, 0 : tensor<?x4xf32>
  %four = arith.constant 4 : index
  %m = arith.muli %n, %four : index
  %0 = graph.reshape %x to (%m) : tensor<?x4xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @left_over(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'graph.exp' op does not belong after phase 'kernel'}}
  %0 = graph.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @movement(%x: tensor<4x2xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{'graph.transpose' op does not belong after phase 'kernel'}}
  %0 = graph.transpose %x permutation [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

kernel.func @float_arithmetic(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  // expected-error @+1 {{'arith.addf' op does not belong after phase 'kernel'}}
  %b = arith.addf %a, %a : f32
  kernel.store %b, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

kernel.func @whole_reduction(%x: tensor<4xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64>, shapes = [affine_map<() -> (4)>]} {
  // expected-error @+1 {{'graph.reduce' op does not belong after phase 'kernel'}}
  %b = graph.reduce <sum> %x axes [0] : tensor<4xf32> -> tensor<f32>
  kernel.return
}
