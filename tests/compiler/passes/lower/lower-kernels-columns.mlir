// The row tree: blocks of 32 rows, their results in blocks of 32, seven levels; lanes are columns (docs/numerics.md).
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#point = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
#column = affine_map<(d0, d1)[s0, s1] -> (d0)>

// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %{{.*}}: index, %[[K:.*]]: index, %[[BEGIN:.*]]: index, %{{.*}}: index)
// CHECK: scf.for %[[J:.*]] = %[[BEGIN]] to %{{.*}} step
// CHECK: %[[BLOCK:.*]] = arith.constant 32 : index
// CHECK: %[[L1:.*]] = arith.ceildivui %[[K]], %[[BLOCK]]
// CHECK: %[[L2:.*]] = arith.ceildivui %[[L1]], %[[BLOCK]]
// CHECK: %[[L3:.*]] = arith.ceildivui %[[L2]], %[[BLOCK]]
// CHECK: %[[L4:.*]] = arith.ceildivui %[[L3]], %[[BLOCK]]
// CHECK: %[[L5:.*]] = arith.ceildivui %[[L4]], %[[BLOCK]]
// CHECK: %[[L6:.*]] = arith.ceildivui %[[L5]], %[[BLOCK]]
// CHECK-COUNT-7: scf.for {{.*}} -> (vector<16xf32>)
// CHECK: %[[A:.*]] = vector.load %[[X]]
// CHECK-COUNT-7: graph.add {{.*}} : vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[R]][%[[J]]]
// The last columns, masked.
// CHECK: scf.if
// CHECK: vector.create_mask
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.maskedstore %[[R]]
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
// CHECK-COUNT-7: scf.for {{.*}} -> (f32)
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
