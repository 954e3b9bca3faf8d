// Operand dtypes that an op does not take (rules C1 of elementwise ops), on tensors, scalars and vectors.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

func.func @sub_c1(%x: tensor<4xi1>) {
  // expected-error @+1 {{'graph.sub' op C1: does not take 'i1'}}
  %0 = graph.sub %x, %x : tensor<4xi1>
  return
}

// -----

func.func @neg_c1(%x: tensor<4xi1>) {
  // expected-error @+1 {{'graph.neg' op C1: does not take 'i1'}}
  %0 = graph.neg %x : tensor<4xi1>
  return
}

// -----

func.func @sign_c1(%x: tensor<4xi1>) {
  // expected-error @+1 {{'graph.sign' op C1: does not take 'i1'}}
  %0 = graph.sign %x : tensor<4xi1>
  return
}

// -----

func.func @round_c1(%x: tensor<4xi1>) {
  // expected-error @+1 {{'graph.round' op C1: does not take 'i1'}}
  %0 = graph.round %x : tensor<4xi1>
  return
}

// -----

func.func @shift_left_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.shift_left' op C1: does not take 'f32'}}
  %0 = graph.shift_left %x, %x : tensor<4xf32>
  return
}

// -----

func.func @shift_right_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.shift_right' op C1: does not take 'f32'}}
  %0 = graph.shift_right %x, %x : tensor<4xf32>
  return
}

// -----

func.func @floating(%x: vector<8xi8>) {
  // expected-error @+1 {{'graph.exp' op C1: does not take 'i8'}}
  %0 = graph.exp %x : vector<8xi8>
  return
}

// -----

func.func @boolean(%x: f32) {
  // expected-error @+1 {{'graph.logical_and' op C1: does not take 'f32'}}
  %0 = graph.logical_and %x, %x : f32
  return
}

// -----

func.func @integer_or_boolean(%x: tensor<f64>) {
  // expected-error @+1 {{'graph.bitwise_xor' op C1: does not take 'f64'}}
  %0 = graph.bitwise_xor %x, %x : tensor<f64>
  return
}

// -----

func.func @no_dtype(%x: tensor<4xf80>) {
  // expected-error @+1 {{'graph.add' op operand #0 must be ranked tensor of}}
  %0 = graph.add %x, %x : tensor<4xf80>
  return
}

// -----

func.func @no_dtype_moved(%x: tensor<4xsi8>) {
  // expected-error @+1 {{'graph.flip' op operand #0 must be ranked tensor of}}
  %0 = graph.flip %x axes [0] : tensor<4xsi8> -> tensor<4xsi8>
  return
}

// -----

func.func @no_dtype_made() {
  // expected-error @+1 {{'graph.full' op result #0 must be ranked tensor of}}
  %0 = graph.full 1.0 : f128 : tensor<4xf128>
  return
}
