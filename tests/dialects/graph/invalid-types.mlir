// What types alone must say: shapes and element types of operands and results that have no numbered rule.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

func.func @binary_dtypes(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'graph.add' op requires the same type for all operands and results}}
  %0 = "graph.add"(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @binary_shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'graph.add' op requires the same type for all operands and results}}
  %0 = "graph.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @compare_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.less' op failed to verify that result is bool of the operands' shape}}
  %0 = "graph.less"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @predicate_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.isnan' op failed to verify that result is bool of the operand's shape}}
  %0 = "graph.isnan"(%x) : (tensor<4xf32>) -> tensor<5xi1>
  return
}

// -----

func.func @select_condition(%c: tensor<4xi8>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.select' op failed to verify that condition is bool of the operands' shape}}
  %0 = "graph.select"(%c, %x, %x) : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @cast_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.cast' op requires the same shape for all operands and results}}
  %0 = graph.cast %x : tensor<4xf32> -> tensor<5xi8>
  return
}

// -----

func.func @cast_kind(%x: f32) {
  // expected-error @+1 {{'graph.cast' op}}
  %0 = graph.cast %x : f32 -> tensor<i8>
  return
}

// -----

func.func @not_a_tensor(%x: memref<4xf32>) {
  // expected-error @+1 {{'graph.exp' op operand #0 must be}}
  %0 = "graph.exp"(%x) : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @iota_rank() {
  // expected-error @+1 {{'graph.iota' op result must have rank 1, not 'tensor<2x2xi64>'}}
  %0 = graph.iota : tensor<2x2xi64>
  return
}

// -----

func.func @iota_sizes() {
  // expected-error @+1 {{'graph.iota' op needs one size operand per '?' of its result: 1 expected, 0 given}}
  %0 = graph.iota : tensor<?xi64>
  return
}

// -----

func.func @extent_rank(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.extent' op result must have rank 0}}
  %0 = graph.extent %x axes [0] : tensor<2x3xf32> -> tensor<1xi64>
  return
}

// -----

func.func @extent_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.extent' op axis 2 is out of range for rank 2}}
  %0 = graph.extent %x axes [2] : tensor<2x3xf32> -> tensor<i64>
  return
}

// -----

func.func @broadcast_dtype(%x: tensor<f32>) {
  // expected-error @+1 {{'graph.broadcast' op element types differ: 'tensor<f32>' and 'tensor<3xf64>'}}
  %0 = graph.broadcast %x dims [] : tensor<f32> -> tensor<3xf64>
  return
}

// -----

func.func @transpose_sizes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op result axis 0 must have size of operand axis 1}}
  %0 = graph.transpose %x permutation [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_sizes(%x: tensor<6xf32>, %n: index) {
  // expected-error @+1 {{'graph.reshape' op needs one size operand per '?' of its result: 2 expected, 1 given}}
  %0 = graph.reshape %x to (%n) : tensor<6xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_rank(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'graph.slice' op C1: rank changes from 2 to 1}}
  %0 = graph.slice %x from [0, 0] step [1, 1] : tensor<4x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @slice_starts(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'graph.slice' op has 0 dynamic starts but 1 operands}}
  %0 = "graph.slice"(%x, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_starts = array<i64: 0>, steps = array<i64: 1>}>
    : (tensor<4xf32>, index) -> tensor<4xf32>
  return
}

// -----

func.func @flip_type(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'graph.flip' op result type must be the operand's}}
  %0 = graph.flip %x axes [0] : tensor<4x3xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @concatenate_nothing() {
  // expected-error @+1 {{'graph.concatenate' op needs at least one operand}}
  %0 = "graph.concatenate"() <{axis = 0 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> tensor<0xf32>
  return
}

// -----

func.func @update_slice_result(%x: tensor<8xf32>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'graph.update_slice' op result type must be that of the updated tensor}}
  %0 = graph.update_slice %v into %x from [0] step [1] : tensor<2xf32> into tensor<8xf32> -> tensor<9xf32>
  return
}

// -----

func.func @reduce_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op result shape must be the operand's without the reduced axes}}
  %0 = graph.reduce <sum> %x axes [1] : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @reduce_dtype(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op element types differ: 'tensor<2x3xf32>' and 'tensor<2xf64>'}}
  %0 = graph.reduce <sum> %x axes [1] : tensor<2x3xf32> -> tensor<2xf64>
  return
}

// -----

func.func @matmul_result(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{'graph.matmul' op result sizes do not follow from the operands}}
  %0 = graph.matmul %x, %y : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_result_dtype(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{'graph.matmul' op element types differ: 'tensor<2x3xf32>' and 'tensor<2x4xf64>'}}
  %0 = graph.matmul %x, %y : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf64>
  return
}

// -----

func.func @bitcast_c1_width(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @+1 {{'graph.bitcast' op C1: 'tensor<4xf32>' and 'tensor<4xi64>' are not real numbers of one width}}
  %0 = graph.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @bitcast_c1_bool(%x: tensor<4xi8>) -> tensor<4xi1> {
  // expected-error @+1 {{'graph.bitcast' op C1: 'tensor<4xi8>' and 'tensor<4xi1>' are not real numbers of one width}}
  %0 = graph.bitcast %x : tensor<4xi8> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @dim_axis(%x: tensor<4xf32>) -> index {
  // expected-error @+1 {{'graph.dim' op axis 7 is out of range for rank 1}}
  %0 = graph.dim %x, 7 : tensor<4xf32>
  return %0 : index
}
