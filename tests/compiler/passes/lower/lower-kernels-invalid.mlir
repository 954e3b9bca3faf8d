// RUN: graphc-opt %s --graphc-lower-kernels -verify-diagnostics

// expected-error @+1 {{'kernel.func' op has no schedule}}
kernel.func @unscheduled(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}
