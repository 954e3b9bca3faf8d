// One function per numbered rule of the kernel dialect (kernel.func: K1..) and per rule of the calls.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

kernel.func @kernel_k1(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
    attributes {domain = #kernel.domain<() -> (4, 8), parallel = 2>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4, 8)>, affine_map<() -> (4, 8)>]} {
  // expected-error @+1 {{'kernel.load' op K1: map must take 2 dimensions and 0 sizes}}
  %a = kernel.load %x at affine_map<(d0) -> (d0, d0)> : tensor<4x8xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
  kernel.return
}

// -----

kernel.func @kernel_k1_sizes(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  // expected-error @+1 {{'kernel.store' op K1: map must take 1 dimensions and 1 sizes}}
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op K2: a result is never stored}}
kernel.func @kernel_k2(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1, -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

kernel.func @result_number(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  // expected-error @+1 {{'kernel.store' op names result 1 of 1}}
  kernel.store %a, result 1 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

kernel.func @kernel_k3(%x: tensor<4xf32>) -> tensor<f32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 0>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> ()>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  // expected-error @+1 {{'kernel.store' op K3: stores a value of every reduced point in one place}}
  kernel.store %a, result 0 at affine_map<(d0) -> ()> : f32
  kernel.return
}

// -----

kernel.func @load_type(%x: tensor<4xf32>) -> tensor<4xf64>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  // expected-error @+1 {{'kernel.load' op moves 'f64' but the tensor is 'tensor<4xf32>'}}
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f64
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f64
  kernel.return
}

// -----

kernel.func @store_type(%x: tensor<4xf32>) -> tensor<4xf64>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  // expected-error @+1 {{'kernel.store' op moves 'f32' but the tensor is 'tensor<4xf64>'}}
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

kernel.func @load_rank(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  // expected-error @+1 {{'kernel.load' op map needs one result per size of the tensor}}
  %a = kernel.load %x at affine_map<(d0) -> (d0, d0)> : tensor<4xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op init 5 is not a tensor argument}}
kernel.func @init_range(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: 5>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op takes tensors, then index sizes; argument 0 is 'index'}}
kernel.func @argument_order(%n: index, %x: tensor<4xf32>)
    attributes {domain = #kernel.domain<()[s0] -> (4), parallel = 1>, inits = array<i64>, shapes = [affine_map<()[s0] -> (4)>]} {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op needs one shape per tensor argument and result}}
kernel.func @shape_count(%x: tensor<4xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64>, shapes = []} {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op needs one init per result}}
kernel.func @init_count(%x: tensor<4xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>, shapes = [affine_map<() -> (4)>]} {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op domain extents must be a map of the 1 sizes}}
kernel.func @domain_sizes(%x: tensor<?xf32>, %n: index)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64>, shapes = [affine_map<()[s0] -> (s0)>]} {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op domain has no such number of parallel dimensions}}
kernel.func @domain_parallel(%x: tensor<4xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 2>, inits = array<i64>, shapes = [affine_map<() -> (4)>]} {
  kernel.return
}

// -----

func.func @unknown_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'kernel.call' op calls unknown kernel gone}}
  %0 = kernel.call @gone(%x) sizes() dims [] lines "" : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

kernel.func @k(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  kernel.store %a, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}
func.func @call_signature(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'kernel.call' op does not fit the signature of k}}
  %0 = kernel.call @k(%x, %x) sizes() dims [] lines "" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @call_dims(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // expected-error @+1 {{'kernel.call' op result_dims needs one entry per '?' of the results}}
  %0 = kernel.call @k(%x) sizes(%n) dims [] lines "" : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @call_dims_range(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // expected-error @+1 {{'kernel.call' op result_dims names size 1 of 1}}
  %0 = kernel.call @k(%x) sizes(%n) dims [1] lines "" : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

kernel.func @family(%x: tensor<4xf32>)
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64>, shapes = [affine_map<() -> (4)>],
                // expected-error @+2 {{unknown schedule family 'spiral'}}
                // expected-error @+1 {{failed to parse Kernel_ScheduleAttr parameter 'family'}}
                schedule = #kernel.schedule<spiral, vector = 1, cost = 1>} {
  kernel.return
}

// -----

kernel.func @gather_map(%x: tensor<4xf32>, %i: tensor<4xi64>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 1>, inits = array<i64: -1>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %0 = kernel.load %i at affine_map<(d0) -> (d0)> : tensor<4xi64> -> i64
  // expected-error @+1 {{'kernel.gather' op K1: map must take 1 dimensions and 0 sizes}}
  %1 = kernel.gather %x[%0] at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  kernel.store %1, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}

// -----

kernel.func @scatter_reduced(%x: tensor<4xf32>, %i: tensor<4xi64>) -> tensor<4xf32>
    attributes {domain = #kernel.domain<() -> (4), parallel = 0>, inits = array<i64: 0>,
                shapes = [affine_map<() -> (4)>, affine_map<() -> (4)>, affine_map<() -> (4)>]} {
  %0 = kernel.load %i at affine_map<(d0) -> (d0)> : tensor<4xi64> -> i64
  %1 = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  // expected-error @+1 {{'kernel.scatter' op K4: scatters belong to kernels without reduced dimensions}}
  kernel.scatter %1, result 0 [%0] combine "" at affine_map<(d0, d1) -> (d1)> : f32
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.sort' op has no order of 'complex<f32>'}}
kernel.sort @sort of complex<f32>

// -----

// expected-error @+1 {{'kernel.correlate' op has no sums of 'i32'}}
kernel.correlate @sums of i32
