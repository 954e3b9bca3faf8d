// Reductions of everything: one item a block of 8192 elements, then a fold of the block results by the same tree.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32>, %[[P:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME: graphc.buffers = 3 : i64
// CHECK-SAME: graphc.family = "full"
// CHECK: %[[BLOCK:.*]] = arith.constant 8192 : index
// CHECK: %[[COUNT:.*]] = arith.ceildivui %[[N]], %[[BLOCK]]
// CHECK: %[[BLOCKS:.*]] = arith.maxsi %[[COUNT]]
// CHECK: scf.for %[[B:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[B]], %[[BLOCK]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[FIRST]]
// CHECK: arith.minsi %[[LEFT]], %[[BLOCK]]
// CHECK: graph.mul {{.*}} : vector<16xf32>
// CHECK: func.call @fold_lanes16_sum_f32(
// The only block is the result already.
// CHECK: %[[ONLY:.*]] = arith.cmpi eq, %[[BLOCKS]]
// CHECK: scf.if %[[ONLY]]
// CHECK: graph.sqrt
// CHECK: } else {
// CHECK: memref.store %{{.*}}, %[[P]][%[[B]]]
// CHECK: return

// CHECK-LABEL: func.func @sum_fold(
// CHECK-SAME: %{{.*}}: memref<?xf32>, %[[R:.*]]: memref<?xf32>, %[[P:.*]]: memref<?xf32>, %[[N:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK-NOT: vector.
// CHECK: arith.ceildivui %[[N]], %{{.*}} : index
// CHECK: %[[ALL:.*]] = func.call @fold_blocks_sum_f32(%[[P]],
// CHECK: %[[SUM:.*]] = arith.addf %[[ALL]]
// CHECK: %[[ROOT:.*]] = graph.sqrt %[[SUM]] : f32
// CHECK: memref.store %[[ROOT]], %[[R]]
// CHECK: return
// What folds is there once for all sums of the type.
// CHECK-LABEL: func.func private @fold_blocks_sum_f32(
// CHECK-SAME: %[[P:.*]]: memref<?xf32>, %{{.*}}: index, %{{.*}}: index)
// CHECK: memref.load %[[P]]
// CHECK: graph.add {{.*}} : f32
// CHECK: return %{{.*}} : f32
kernel.func @sum(%x: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  %b = graph.mul %a, %a : f32
  %s = kernel.reduce <sum> %b : f32 -> f32
  %r = graph.sqrt %s : f32
  kernel.store %r, result 0 at affine_map<(d0)[s0] -> ()> : f32
  kernel.return
}

// Two reductions share the visit and have a buffer of block results each; what is stored for every element is stored on it.
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[X:.*]]: memref<?xi8>, %[[V:.*]]: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %[[P:.*]]: memref<?xi8>, %[[Q:.*]]: memref<?xi8>,
// CHECK: scf.for {{.*}} -> (ui8, ui8)
// CHECK: %[[A:.*]] = memref.load %[[X]]
// CHECK-NOT: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[V]]
// CHECK: memref.store %{{.*}}, %[[P]][
// CHECK: memref.store %{{.*}}, %[[Q]][
// CHECK-LABEL: func.func @two_fold(
// CHECK-NOT: memref.store %{{.*}}, %arg1[
// CHECK: return
kernel.func @two(%x: tensor<?xui8>, %n: index) -> (tensor<?xui8>, tensor<ui8>, tensor<ui8>)
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1, -1, -1>,
                schedule = #kernel.schedule<full, vector = 1, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>, affine_map<()[s0] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xui8> -> ui8
  %b = graph.bitwise_not %a : ui8
  kernel.store %b, result 0 at affine_map<(d0)[s0] -> (d0)> : ui8
  %s = kernel.reduce <min> %b : ui8 -> ui8
  kernel.store %s, result 1 at affine_map<(d0)[s0] -> ()> : ui8
  %t = kernel.reduce <max> %b : ui8 -> ui8
  kernel.store %t, result 2 at affine_map<(d0)[s0] -> ()> : ui8
  kernel.return
}

// Rows that do not merge: vectors of consecutive elements, in one row or in pieces of several.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.if {{.*}} -> (vector<16xf32>)
// CHECK: vector.load
// CHECK: } else {
// CHECK: scf.while
// CHECK: vector.maskedload
// CHECK: return
kernel.func @rows(%x: tensor<?x?xf32>, %n: index, %m: index, %p: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0, s1, s2] -> (s0, s1), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 16, cost = 700>,
                shapes = [affine_map<()[s0, s1, s2] -> (s0, s2)>, affine_map<()[s0, s1, s2] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0, d1)[s0, s1, s2] -> (d0, d1 + 1)> : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at affine_map<(d0, d1)[s0, s1, s2] -> ()> : f32
  kernel.return
}

// A body is emitted twice: for whole vectors, in the order in which several operands lie, and for the lanes that are left, a register of
// them at a time.
// CHECK-LABEL: func.func @products(
// CHECK: graph.sin {{.*}} : vector<64xf32>
// CHECK-NOT: graph.sin {{.*}} : vector<64xf32>
// CHECK: vector.maskedload {{.*}} vector<16xf32>
// CHECK: graph.sin {{.*}} : vector<16xf32>
// CHECK-NOT: graph.sin
// CHECK: return
kernel.func @products(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 64, cost = 700>,
                shapes = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %a = kernel.load %x at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  %b = kernel.load %y at affine_map<(d0)[s0] -> (d0)> : tensor<?xf32> -> f32
  %c = graph.sin %a : f32
  %d = graph.mul %c, %b : f32
  %s = kernel.reduce <sum> %d : f32 -> f32
  kernel.store %s, result 0 at affine_map<(d0)[s0] -> ()> : f32
  kernel.return
}
