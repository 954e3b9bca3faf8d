// Sizes come from arguments; a size of a computed tensor has no place in a plan.
// RUN: graphc-opt %s --graphc-build-plan -verify-diagnostics

kernel.func @k(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 1, cost = 1>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0)[s0] -> (d0)> : f32
  kernel.return
}
func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = kernel.call @k(%x) sizes(%n) dims [0] lines "" : (tensor<?xf32>) -> tensor<?xf32>
  // expected-error @+1 {{'graph.dim' op asks for a size of a computed tensor; sizes come from arguments}}
  %m = graph.dim %0, 0 : tensor<?xf32>
  %1 = kernel.call @k(%0) sizes(%m) dims [0] lines "" : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
