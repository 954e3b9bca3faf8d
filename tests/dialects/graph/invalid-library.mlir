// What graph.library refuses.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

func.func @library_c1_name(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.library' op C1: no routine is called 'srot'}}
  %0 = graph.library "srot" %x params [0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @library_c1_rank(%x: tensor<3xf32>) {
  // expected-error @+1 {{'graph.library' op C1: [sort] wants rank 2, not 1}}
  %0 = graph.library "sort" %x params [0] : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @library_c1_dtype(%x: tensor<2x3xui8>) {
  // expected-error @+1 {{'graph.library' op C1: [argsort] gives int64, not uint8}}
  %0 = graph.library "argsort" %x params [0] : tensor<2x3xui8> -> tensor<2x3xui8>
  return
}

// -----

func.func @sizes(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{'graph.library' op needs one size operand per '?' of its result: 1 expected, 0 given}}
  %0 = graph.library "sort" %x params [0] : tensor<?x3xf32> -> tensor<?x3xf32>
  return
}
