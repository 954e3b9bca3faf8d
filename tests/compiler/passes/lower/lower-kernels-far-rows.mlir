// Rows that lie side by side in memory, by the lane tree: vectors are rows. Lanes of the tree are visited with their bits in the
// other order, so that each half of a subtree is there when the other one is finished.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[P:.*]]: memref<?xf32>,
// For each height of the tree the states of 512 rows.
// CHECK: %[[WAIT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4608xf32>
// CHECK: math.ctlz
// CHECK: llvm.intr.bitreverse
// CHECK: %[[TURNS:.*]] = math.cttz
// CHECK: %[[HEIGHTS:.*]] = arith.index_cast %[[TURNS]]
// A lane of 64 rows: every 256th element, then the halves that wait, first ones first.
// CHECK: scf.for {{.*}} step %c64
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: vector.load %[[X]]
// CHECK: graph.add {{.*}} : vector<64xf32>
// CHECK: scf.for {{.*}} to %[[HEIGHTS]] {{.*}} iter_args(%[[LATER:.*]] = {{.*}}) -> (vector<64xf32>)
// CHECK: %[[EARLIER:.*]] = vector.load %[[WAIT]]
// CHECK: graph.add %[[EARLIER]], %[[LATER]] : vector<64xf32>
// CHECK: vector.store %{{.*}}, %[[WAIT]]
// Rows of one block are finished; results of several blocks of a row lie together.
// CHECK: vector.store %{{.*}}, %[[R]]
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK-LABEL: func.func @sums_fold(
kernel.func @sums(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 1>, inits = array<i64: -1>, graphc.far_rows,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0, s1] -> (s1, s0)>, affine_map<()[s0, s1] -> (s0)>]} {
  %a = kernel.load %x at affine_map<(d0, d1)[s0, s1] -> (d1, d0)> : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at affine_map<(d0, d1)[s0, s1] -> (d0)> : f32
  kernel.return
}

// A row that fits one block.
// CHECK-LABEL: func.func @short(
// CHECK: llvm.intr.bitreverse
// CHECK-NOT: memref.store
// CHECK-NOT: func.func @short_fold
kernel.func @short(%x: tensor<100x?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0, 100), parallel = 1>, inits = array<i64: -1>, graphc.far_rows,
                schedule = #kernel.schedule<rows, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (100, s0)>, affine_map<()[s0] -> (s0)>]} {
  %a = kernel.load %x at affine_map<(d0, d1)[s0] -> (d1, d0)> : tensor<100x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at affine_map<(d0, d1)[s0] -> (d0)> : f32
  kernel.return
}
