// Where one kernel ends and the next begins.
// RUN: graphc-opt %s --graphc-form-kernels --cse --mlir-print-local-scope | FileCheck %s

// A stencil of a computed value: both neighbours are read from memory.
// CHECK-LABEL: kernel.func @stencil_0(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (10), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @stencil_1(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (9), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0 + 1)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @stencil(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @stencil_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @stencil_1(%[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<10xf32>) -> tensor<9xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<9xf32>
func.func @stencil(%x: tensor<10xf32>) -> tensor<9xf32> {
  %c = graph.exp %x : tensor<10xf32>
  %0 = graph.slice %c from [1] step [1] : tensor<10xf32> -> tensor<9xf32>
  %1 = graph.slice %c from [0] step [1] : tensor<10xf32> -> tensor<9xf32>
  %2 = graph.add %0, %1 : tensor<9xf32>
  return %2 : tensor<9xf32>
}

// Computing it once and reading it back is cheaper than twice; the reader cannot be in the kernel that feeds it.
// CHECK-LABEL: kernel.func @transposed_reader_0(
// CHECK-SAME: %[[X0:.*]]: tensor<8x8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x8xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @transposed_reader_1(
// CHECK-SAME: %[[X0:.*]]: tensor<8x8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d1, d0)> : tensor<8x8xf32> -> f32
// CHECK-NEXT: %[[SIN0:.*]] = graph.sin %[[LOAD0]] : f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x8xf32> -> f32
// CHECK-NEXT: %[[MUL0:.*]] = graph.mul %[[LOAD1]], %[[SIN0]] : f32
// CHECK-NEXT: kernel.store %[[MUL0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @transposed_reader(
// CHECK-SAME: %[[X0:.*]]: tensor<8x8xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @transposed_reader_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @transposed_reader_1(%[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<8x8xf32>
func.func @transposed_reader(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = graph.exp %x : tensor<8x8xf32>
  %t = graph.transpose %a permutation [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %b = graph.sin %t : tensor<8x8xf32>
  %c = graph.mul %a, %b : tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// One reader, every element read once: recomputed in place of the read, however expensive.
// CHECK-LABEL: kernel.func @moved_once_0(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (9), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0 + 1)> : tensor<10xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: %[[NEG0:.*]] = graph.neg %[[EXP0]] : f32
// CHECK-NEXT: kernel.store %[[NEG0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @moved_once(
// CHECK-SAME: %[[X0:.*]]: tensor<10xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @moved_once_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<10xf32>) -> tensor<9xf32>
// CHECK-NEXT: return %[[CALL0]] : tensor<9xf32>
func.func @moved_once(%x: tensor<10xf32>) -> tensor<9xf32> {
  %c = graph.exp %x : tensor<10xf32>
  %0 = graph.slice %c from [1] step [1] : tensor<10xf32> -> tensor<9xf32>
  %1 = graph.neg %0 : tensor<9xf32>
  return %1 : tensor<9xf32>
}

// Every element is read 100 times: an exp is stored, a negation is not.
// CHECK-LABEL: kernel.func @repeated_reads_0(
// CHECK-SAME: %[[X0:.*]]: tensor<7xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (7), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<7xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @repeated_reads_1(
// CHECK-SAME: %[[X0:.*]]: tensor<7xf32>, %[[X1:.*]]: tensor<7xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (100, 7), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d1)> : tensor<7xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1) -> (d1)> : tensor<7xf32> -> f32
// CHECK-NEXT: %[[NEG0:.*]] = graph.neg %[[LOAD1]] : f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[NEG0]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @repeated_reads(
// CHECK-SAME: %[[X0:.*]]: tensor<7xf32>, %[[X1:.*]]: tensor<7xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @repeated_reads_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<7xf32>) -> tensor<7xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @repeated_reads_1(%[[CALL0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<7xf32>, tensor<7xf32>) -> tensor<100x7xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<100x7xf32>
func.func @repeated_reads(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<100x7xf32> {
  %0 = graph.exp %x : tensor<7xf32>
  %1 = graph.neg %y : tensor<7xf32>
  %2 = graph.broadcast %0 dims [1] : tensor<7xf32> -> tensor<100x7xf32>
  %3 = graph.broadcast %1 dims [1] : tensor<7xf32> -> tensor<100x7xf32>
  %4 = graph.add %2, %3 : tensor<100x7xf32>
  return %4 : tensor<100x7xf32>
}

// A row's sum is read by other rows.
// CHECK-LABEL: kernel.func @other_rows_0(
// CHECK-SAME: %[[X0:.*]]: tensor<8x8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8, 8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x8xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[LOAD0]] : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 0 at affine_map<(d0, d1) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @other_rows_1(
// CHECK-SAME: %[[X0:.*]]: tensor<8x8xf32>, %[[X1:.*]]: tensor<8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8, 8), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x8xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[SUB0:.*]] = graph.sub %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[SUB0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @other_rows(
// CHECK-SAME: %[[X0:.*]]: tensor<8x8xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @other_rows_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<8x8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @other_rows_1(%[[X0]], %[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<8x8xf32>
func.func @other_rows(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = graph.reduce <sum> %x axes [1] : tensor<8x8xf32> -> tensor<8xf32>
  %b = graph.broadcast %s dims [1] : tensor<8xf32> -> tensor<8x8xf32>
  %r = graph.sub %x, %b : tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// Two reductions over different axes of one value.
// CHECK-LABEL: kernel.func @two_axes_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[EXP0]] : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 1 at affine_map<(d0, d1) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @two_axes_1(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8, 4), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d1, d0)> : tensor<4x8xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <sum> %[[LOAD0]] row_tree : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 0 at affine_map<(d0, d1) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @two_axes(
// CHECK-SAME: %[[X0:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[CALL0:.*]]:2 = kernel.call @two_axes_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @two_axes_1(%[[CALL0]]#0) sizes() dims [] lines "{{.*}}" : (tensor<4x8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL0]]#1, %[[CALL1]] : tensor<4xf32>, tensor<8xf32>
func.func @two_axes(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %e = graph.exp %x : tensor<4x8xf32>
  %0 = graph.reduce <sum> %e axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = graph.reduce <sum> %e axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  return %0, %1 : tensor<4xf32>, tensor<8xf32>
}

// An update reads its whole old value; the reader of the new value waits for the update.
// CHECK-LABEL: kernel.func @update_between_0(
// CHECK-SAME: %[[X0:.*]]: tensor<8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @update_between_1(
// CHECK-SAME: %[[X0:.*]]: tensor<8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4), parallel = 1>
// CHECK-SAME: inits = array<i64: 0>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0 * 2)> : tensor<8xf32> -> f32
// CHECK-NEXT: kernel.store %[[LOAD0]], result 0 at affine_map<(d0) -> (d0 * 2 + 1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @update_between_2(
// CHECK-SAME: %[[X0:.*]]: tensor<8xf32>, %[[X1:.*]]: tensor<8xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (8), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0) -> (d0)> : tensor<8xf32> -> f32
// CHECK-NEXT: %[[MUL0:.*]] = graph.mul %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[MUL0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @update_between(
// CHECK-SAME: %[[X0:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @update_between_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @update_between_1(%[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL2:.*]] = kernel.call @update_between_2(%[[CALL1]], %[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL2]] : tensor<8xf32>
func.func @update_between(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = graph.exp %x : tensor<8xf32>
  %h = graph.slice %a from [0] step [2] : tensor<8xf32> -> tensor<4xf32>
  %u = graph.update_slice %h into %a from [1] step [2] : tensor<4xf32> into tensor<8xf32> -> tensor<8xf32>
  %r = graph.mul %u, %a : tensor<8xf32>
  return %r : tensor<8xf32>
}

// Merging axes of a computed value: the reader uses the buffer under its other shape.
// CHECK-LABEL: kernel.func @reshape_of_computed_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 6), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x6xf32> -> f32
// CHECK-NEXT: %[[EXP0:.*]] = graph.exp %[[LOAD0]] : f32
// CHECK-NEXT: kernel.store %[[EXP0]], result 0 at affine_map<(d0, d1) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @reshape_of_computed_1(
// CHECK-SAME: %[[X0:.*]]: tensor<24xf32>, %[[X1:.*]]: tensor<24xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (24), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0) -> (d0)> : tensor<24xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0) -> (d0)> : tensor<24xf32> -> f32
// CHECK-NEXT: %[[ADD0:.*]] = graph.add %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[ADD0]], result 0 at affine_map<(d0) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @reshape_of_computed(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>, %[[X1:.*]]: tensor<24xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @reshape_of_computed_0(%[[X0]]) sizes() dims [] lines "{{.*}}" : (tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[RESHAPE0:.*]] = graph.reshape %[[CALL0]] : tensor<4x6xf32> -> tensor<24xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @reshape_of_computed_1(%[[RESHAPE0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<24xf32>
func.func @reshape_of_computed(%x: tensor<4x6xf32>, %y: tensor<24xf32>) -> tensor<24xf32> {
  %t = graph.exp %x : tensor<4x6xf32>
  %r = graph.reshape %t : tensor<4x6xf32> -> tensor<24xf32>
  %n = graph.add %r, %y : tensor<24xf32>
  return %n : tensor<24xf32>
}

// A product needs whole rows and columns of another product.
// CHECK-LABEL: kernel.func @product_chain_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x5xf32>, %[[X1:.*]]: tensor<5x6xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 6, 5), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x5xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<5x6xf32> -> f32
// CHECK-NEXT: %[[DOT0:.*]] = kernel.dot %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DOT0]], result 0 at affine_map<(d0, d1, d2) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @product_chain_1(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>, %[[X1:.*]]: tensor<6x3xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 3, 6), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x6xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<6x3xf32> -> f32
// CHECK-NEXT: %[[DOT0:.*]] = kernel.dot %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DOT0]], result 0 at affine_map<(d0, d1, d2) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @product_chain(
// CHECK-SAME: %[[X0:.*]]: tensor<4x5xf32>, %[[X1:.*]]: tensor<5x6xf32>, %[[X2:.*]]: tensor<6x3xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @product_chain_0(%[[X0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @product_chain_1(%[[CALL0]], %[[X2]]) sizes() dims [] lines "{{.*}}" : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<4x3xf32>
func.func @product_chain(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>, %z: tensor<6x3xf32>) -> tensor<4x3xf32> {
  %0 = graph.matmul %x, %y : tensor<4x5xf32>, tensor<5x6xf32> -> tensor<4x6xf32>
  %1 = graph.matmul %0, %z : tensor<4x6xf32>, tensor<6x3xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// A product's epilogue keeps a row reduction out: the row spans tiles.
// CHECK-LABEL: kernel.func @reduced_product_0(
// CHECK-SAME: %[[X0:.*]]: tensor<4x5xf32>, %[[X1:.*]]: tensor<5x6xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 6, 5), parallel = 2>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x5xf32> -> f32
// CHECK-NEXT: %[[LOAD1:.*]] = kernel.load %[[X1]] at affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<5x6xf32> -> f32
// CHECK-NEXT: %[[DOT0:.*]] = kernel.dot %[[LOAD0]], %[[LOAD1]] : f32
// CHECK-NEXT: kernel.store %[[DOT0]], result 0 at affine_map<(d0, d1, d2) -> (d0, d1)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: kernel.func @reduced_product_1(
// CHECK-SAME: %[[X0:.*]]: tensor<4x6xf32>)
// CHECK-SAME: domain = #kernel.domain<() -> (4, 6), parallel = 1>
// CHECK-NEXT: %[[LOAD0:.*]] = kernel.load %[[X0]] at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x6xf32> -> f32
// CHECK-NEXT: %[[REDUCE0:.*]] = kernel.reduce <max> %[[LOAD0]] : f32 -> f32
// CHECK-NEXT: kernel.store %[[REDUCE0]], result 0 at affine_map<(d0, d1) -> (d0)> : f32
// CHECK-NEXT: kernel.return
// CHECK-LABEL: func.func @reduced_product(
// CHECK-SAME: %[[X0:.*]]: tensor<4x5xf32>, %[[X1:.*]]: tensor<5x6xf32>)
// CHECK-NEXT: %[[CALL0:.*]] = kernel.call @reduced_product_0(%[[X0]], %[[X1]]) sizes() dims [] lines "{{.*}}" : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[CALL1:.*]] = kernel.call @reduced_product_1(%[[CALL0]]) sizes() dims [] lines "{{.*}}" : (tensor<4x6xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[CALL1]] : tensor<4xf32>
func.func @reduced_product(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) -> tensor<4xf32> {
  %0 = graph.matmul %x, %y : tensor<4x5xf32>, tensor<5x6xf32> -> tensor<4x6xf32>
  %1 = graph.reduce <max> %0 axes [1] : tensor<4x6xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
