// Rules of gathers and scatters.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

func.func @gather_c1(%x: tensor<5xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'graph.gather' op C1: indices are i64 of one shape, not 'tensor<3xi32>'}}
  %0 = graph.gather %x[%i] axes [0] at 0 : tensor<5xf32>[tensor<3xi32>] -> tensor<3xf32>
  return
}

// -----

func.func @gather_c1_shapes(%x: tensor<5x5xf32>, %i: tensor<3xi64>, %j: tensor<4xi64>) {
  // expected-error @+1 {{'graph.gather' op C1: indices have different sizes}}
  %0 = graph.gather %x[%i, %j] axes [0, 1] at 0 : tensor<5x5xf32>[tensor<3xi64>, tensor<4xi64>] -> tensor<3xf32>
  return
}

// -----

func.func @gather_c1_count(%x: tensor<5x5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.gather' op C1: needs one index an axis}}
  %0 = graph.gather %x[%i] axes [0, 1] at 0 : tensor<5x5xf32>[tensor<3xi64>] -> tensor<3xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<5xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.gather' op C2: axes must be increasing and in range for rank 1}}
  %0 = graph.gather %x[%i] axes [1] at 0 : tensor<5xf32>[tensor<3xi64>] -> tensor<5x3xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<5x2xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.gather' op C3: position 2 is not among the other axes}}
  %0 = graph.gather %x[%i] axes [0] at 2 : tensor<5x2xf32>[tensor<3xi64>] -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_sizes(%x: tensor<5x2xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.gather' op C4: 'tensor<2x3xf32>' does not have the sizes of the places}}
  %0 = graph.gather %x[%i] axes [0] at 0 : tensor<5x2xf32>[tensor<3xi64>] -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_c1(%x: tensor<5xf32>, %v: tensor<3xf32>, %i: tensor<3xf32>) {
  // expected-error @+1 {{'graph.scatter' op C1: indices are i64 of one shape, not 'tensor<3xf32>'}}
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "" : tensor<3xf32> into tensor<5xf32>[tensor<3xf32>] -> tensor<5xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<5xf32>, %v: tensor<3xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.scatter' op C2: axes must be increasing and in range for rank 1}}
  %0 = graph.scatter %v into %x[%i, %i] axes [0, 0] at 0 combine "" : tensor<3xf32> into tensor<5xf32>[tensor<3xi64>, tensor<3xi64>] -> tensor<5xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<5xf32>, %v: tensor<3xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.scatter' op C3: position 1 is not among the other axes}}
  %0 = graph.scatter %v into %x[%i] axes [0] at 1 combine "" : tensor<3xf32> into tensor<5xf32>[tensor<3xi64>] -> tensor<5xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<5xf32>, %v: tensor<4xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.scatter' op C4: 'tensor<4xf32>' does not have the sizes of the places}}
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "" : tensor<4xf32> into tensor<5xf32>[tensor<3xi64>] -> tensor<5xf32>
  return
}

// -----

func.func @scatter_c4_dtype(%x: tensor<5xf32>, %v: tensor<3xf64>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.scatter' op element types differ}}
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "" : tensor<3xf64> into tensor<5xf32>[tensor<3xi64>] -> tensor<5xf32>
  return
}

// -----

func.func @scatter_c5(%x: tensor<5xf32>, %v: tensor<3xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.scatter' op C5: 'exp' is no elementwise operation of two operands}}
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "exp" : tensor<3xf32> into tensor<5xf32>[tensor<3xi64>] -> tensor<5xf32>
  return
}
