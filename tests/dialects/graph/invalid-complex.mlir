// Rules of complex numbers.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

func.func @complex_c1(%x: tensor<4xf16>) {
  // expected-error @+1 {{'graph.complex' op result #0 must be ranked tensor}}
  %0 = "graph.complex"(%x, %x) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xcomplex<f16>>
  return
}

// -----

func.func @real_needs_complex(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.real' op C1: does not take 'f32'}}
  %0 = graph.real %x : tensor<4xf32>
  return
}

// -----

func.func @no_remainder(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'graph.remainder' op C1: does not take 'complex<f32>'}}
  %0 = graph.remainder %x, %x : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @no_floor(%x: tensor<4xcomplex<f64>>) {
  // expected-error @+1 {{'graph.floor' op C1: does not take 'complex<f64>'}}
  %0 = graph.floor %x : tensor<4xcomplex<f64>>
  return
}

// -----

func.func @reduce_c6(%x: tensor<2x3xcomplex<f32>>) {
  // expected-error @+1 {{'graph.reduce' op C6: complex numbers have sums and means only}}
  %0 = graph.reduce <prod> %x axes [1] : tensor<2x3xcomplex<f32>> -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @scan_c3(%x: tensor<2x3xcomplex<f32>>) {
  // expected-error @+1 {{'graph.scan' op C3: complex numbers have sums only}}
  %0 = graph.scan <prod> %x axis 0 : tensor<2x3xcomplex<f32>>
  return
}
