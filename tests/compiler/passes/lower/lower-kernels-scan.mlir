// Scans: groups of 16 by doubling, groups of a block in order, blocks of 4096 by a scan of their results.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#point = affine_map<(d0)[s0] -> (d0)>

// CHECK-LABEL: func.func @along(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[P:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME: graphc.family = "scan"
// CHECK: scf.for %[[BLOCK:.*]] = %[[BEGIN]] to %[[END]]
// What precedes the block, when there are several.
// CHECK: %[[BEFORE:.*]] = scf.if {{.*}} -> (vector<16xf32>)
// CHECK: memref.load %[[P]][%[[BLOCK]]]
// Four groups take their steps in turns; they are read and stored as one vector.
// CHECK: %[[FOUR:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[ALL:.*]] = vector.load %[[X]]{{.*}} vector<64xf32>
// CHECK: %[[FIRST:.*]] = vector.extract_strided_slice %[[ALL]] {offsets = [0]
// CHECK: vector.extract_strided_slice %[[ALL]] {offsets = [48]
// CHECK: %[[SHIFTED:.*]] = vector.shuffle %{{.*}}, %[[FIRST]] [0, 16, 17,
// CHECK: graph.add %[[SHIFTED]], %[[FIRST]]
// CHECK-COUNT-3: vector.shuffle {{.*}} [0, 16, 17,
// CHECK: vector.shuffle {{.*}} [0, 1, 16,
// CHECK: %[[STORED:.*]] = vector.insert_strided_slice {{.*}} {offsets = [48]
// CHECK: vector.store %[[STORED]], %[[R]]
// The rest of the last block: a group is a vector, four shifts, and the last lane of the group before.
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.*]] = %[[FOUR]]) -> (vector<16xf32>)
// CHECK: %[[V:.*]] = vector.maskedload %[[X]]
// CHECK: %[[S1:.*]] = vector.shuffle %[[NONE:.*]], %[[V]] [0, 16, 17,
// CHECK: %[[Y1:.*]] = graph.add %[[S1]], %[[V]]
// CHECK: %[[S2:.*]] = vector.shuffle %[[NONE]], %[[Y1]] [0, 1, 16,
// CHECK: graph.add
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 16,
// CHECK: graph.add
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16,
// CHECK: %[[Y:.*]] = graph.add
// CHECK: %[[LAST:.*]] = vector.shuffle %[[Y]], %[[Y]] [15, 15,
// CHECK: %[[Z:.*]] = graph.add %[[CARRY]], %[[Y]]
// CHECK: %[[NEXT:.*]] = graph.add %[[CARRY]], %[[LAST]]
// CHECK: %[[OUT:.*]] = graph.add %[[BEFORE]], %[[Z]]
// CHECK: vector.maskedstore %[[R]]{{.*}}, %[[OUT]]
// CHECK: scf.yield %[[NEXT]]
// The results of the blocks: nothing is stored but them.
// CHECK-LABEL: func.func @along_blocks(
// CHECK-NOT: memref.store {{.*}}, %arg1
// CHECK-NOT: vector.store {{.*}}, %arg1
// CHECK: memref.store %{{.*}}, %arg2[
// CHECK-LABEL: func.func @along_fold(
// CHECK-NOT: vector.
// CHECK: memref.store %{{.*}}, %arg2[
// CHECK: return
kernel.func @along(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %a = kernel.load %x at #point : tensor<?xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at #point : f32
  kernel.return
}

// Down columns lanes are columns, and a group passes through memory. A length that fits one block needs no other function.
// CHECK-LABEL: func.func @down(
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<256xf32>
// CHECK: vector.load %arg0
// CHECK: graph.mul {{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %arg1
// CHECK: return
// CHECK-NOT: func.func @down_
kernel.func @down(%x: tensor<100x8xf32>) -> tensor<100x8xf32>
    attributes {domain = #kernel.domain<() -> (8, 100), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 16, cost = 700>,
                shapes = [affine_map<() -> (100, 8)>, affine_map<() -> (100, 8)>]} {
  %a = kernel.load %x at affine_map<(d0, d1) -> (d1, d0)> : tensor<100x8xf32> -> f32
  %s = kernel.scan <prod> %a : f32
  kernel.store %s, result 0 at affine_map<(d0, d1) -> (d1, d0)> : f32
  kernel.return
}

// One lane, no vector, for a device.
// CHECK-LABEL: func.func @item(
// CHECK-NOT: vector.
// CHECK: return
kernel.func @item(%x: tensor<100xf32>) -> tensor<100xf32>
    attributes {domain = #kernel.domain<() -> (100), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 1, cost = 700>,
                shapes = [affine_map<() -> (100)>, affine_map<() -> (100)>]} {
  %a = kernel.load %x at affine_map<(d0) -> (d0)> : tensor<100xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at affine_map<(d0) -> (d0)> : f32
  kernel.return
}
