// Why neighbours stayed apart is kept in the module, one line per refused kernel.
// RUN: graphc-opt %s --graphc-form-kernels -split-input-file | FileCheck %s

// CHECK: module attributes {graphc.cuts = []}
func.func @fused(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.exp %x : tensor<8xf32>
  %1 = graph.neg %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// CHECK: graphc.cuts = ["graph.div at {{[^ ]*}} not fused with kernel 0: the reduction must be complete before its result is read"]
func.func @whole_reduction(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<8xf32> -> tensor<f32>
  %1 = graph.broadcast %0 dims [] : tensor<f32> -> tensor<8xf32>
  %2 = graph.div %x, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// CHECK: graphc.cuts = ["graph.sin at {{[^ ]*}} not fused with kernel 0: an element reads other elements of the value",
// CHECK-SAME: "graph.mul at {{[^ ]*}} not fused with kernel 0: a kernel in between depends on one and feeds the other"]
func.func @cycle(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = graph.exp %x : tensor<8x8xf32>
  %t = graph.transpose %a permutation [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %b = graph.sin %t : tensor<8x8xf32>
  %c = graph.mul %a, %b : tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// -----

// CHECK: graphc.cuts = ["graph.update_slice at {{[^ ]*}} not fused with kernel 0: an update needs the whole old value in memory"
func.func @update_base(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.neg %a : tensor<8xf32>
  %u = graph.update_slice %b into %a from [7] step [-1] : tensor<8xf32> into tensor<8xf32> -> tensor<8xf32>
  return %u : tensor<8xf32>
}

// -----

// CHECK: graphc.cuts = ["graph.reduce at {{[^ ]*}} not fused with kernel 0: iteration spaces differ"]
func.func @spaces(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) -> tensor<4xf32> {
  %0 = graph.matmul %x, %y : tensor<4x5xf32>, tensor<5x6xf32> -> tensor<4x6xf32>
  %1 = graph.reduce <max> %0 axes [1] : tensor<4x6xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What is read whole, and a second producer that stayed behind. Kernels are numbered as they are called.
// CHECK: graphc.cuts = ["graph.gather at {{[^ ]*}} not fused with kernel 0: a gather needs the whole tensor in memory"]
func.func @whole_source(%x: tensor<8xf32>, %i: tensor<8xi64>) -> tensor<8xf32> {
  %a = graph.exp %x : tensor<8xf32>
  %g = graph.gather %a[%i] axes [0] at 0 : tensor<8xf32>[tensor<8xi64>] -> tensor<8xf32>
  return %g : tensor<8xf32>
}

// -----

// CHECK: graphc.cuts = ["graph.add at {{[^ ]*}} not fused with kernel {{[01]}}: the reduction must be complete before its result is read"]
func.func @second_producer(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = graph.scan <sum> %x axis 0 : tensor<8xf32>
  %b = graph.scan <prod> %y axis 0 : tensor<8xf32>
  %c = graph.add %a, %b : tensor<8xf32>
  return %c : tensor<8xf32>
}
