// The row tree: blocks of 32 rows, their results in blocks of 32 and so on; lanes are columns (docs/numerics.md). An item
// is a column of 1024 rows. Rows stream past so many columns as have 16 KiB of sums, eight side by side: written out where
// there are many bytes and columns, else in a loop.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#point = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
#column = affine_map<(d0, d1)[s0, s1] -> (d0)>

// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[P:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[K:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-DAG: %[[TOTAL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4096xf32>
// CHECK-DAG: %[[GROUP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4096xf32>
// CHECK: %[[BLOCK:.*]] = arith.constant 1024 : index
// CHECK: %[[CEIL:.*]] = arith.ceildivui %[[K]], %[[BLOCK]]
// CHECK: %[[BLOCKS:.*]] = arith.maxsi %[[CEIL]]
// Groups of 32 rows, of which 8 at a time pass over the columns.
// CHECK: %[[C32:.*]] = arith.constant 32 : index
// CHECK: scf.for {{.*}} step %[[C32]] {
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: scf.for {{.*}} step %[[C8]] {
// CHECK: vector.load %[[G:.*]][%[[S:.*]]] : memref<4096xf32>, vector<16xf32>
// CHECK-COUNT-8: vector.load %[[X]]
// CHECK: vector.store {{.*}}, %[[G]][%[[S]]]
// CHECK: scf.if
// CHECK: vector.create_mask
// CHECK-COUNT-8: vector.maskedload %[[X]]
// CHECK: scf.for {{.*}} step %[[C8]] {
// CHECK: %[[ACC:.*]] = vector.load %[[G]][%[[S:.*]]] : memref<4096xf32>, vector<16xf32>
// CHECK: %[[NEXT:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[ACC]]) -> (vector<16xf32>) {
// CHECK: %[[V:.*]] = vector.load %[[X]]
// CHECK: graph.add %[[A]], %[[V]] : vector<16xf32>
// CHECK: vector.store %[[NEXT]], %[[G]][%[[S]]]
// The last columns, masked.
// CHECK: scf.if
// CHECK: vector.create_mask
// CHECK: vector.maskedload %[[X]]
// A group's sums are added to the block's.
// CHECK: vector.load %[[T:.*]][
// CHECK: vector.load %[[G]][
// CHECK: graph.add
// CHECK: vector.store %{{.*}}, %[[T]][
// The only block finishes the columns, one of several leaves its result.
// CHECK: %[[ONLY:.*]] = arith.cmpi eq, %[[BLOCKS]]
// CHECK: scf.if %[[ONLY]]
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: } else {
// CHECK: vector.store %{{.*}}, %[[P]]
// CHECK: vector.maskedstore %[[R]]
// CHECK: vector.maskedstore %[[P]]
// CHECK-LABEL: func.func @columns_fold(
// CHECK: call @fold_columns_sum_f32(%arg2, {{.*}})
// CHECK: vector.load %arg2
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: return
// What all sums of columns share: the blocks of 16 columns become one, in place of the first.
// CHECK-LABEL: func.func private @fold_columns_sum_f32(
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK-COUNT-5: scf.for {{.*}} -> (vector<16xf32>)
// CHECK: vector.maskedload %arg0[{{.*}}], %[[MASK]]
// CHECK-COUNT-5: graph.add {{.*}} : vector<16xf32>
// CHECK: vector.maskedstore %arg0[{{.*}}], %[[MASK]]
// CHECK: return
kernel.func @columns(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<columns, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a row_tree : f32 -> f32
  kernel.store %s, result 0 at #column : f32
  kernel.return
}

// CHECK-LABEL: func.func @columns_item(
// CHECK-NOT: vector.
// CHECK-COUNT-2: scf.for {{.*}} -> (f32)
// CHECK-NOT: vector.
// CHECK: return
// CHECK-LABEL: func.func @columns_item_fold(
// CHECK-NOT: vector.
// CHECK-COUNT-5: scf.for {{.*}} -> (f32)
// CHECK-NOT: vector.
// CHECK: return
kernel.func @columns_item(%x: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<columns, vector = 1, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at #point : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a row_tree : f32 -> f32
  kernel.store %s, result 0 at #column : f32
  kernel.return
}
