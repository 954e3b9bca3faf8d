// Groups of work-items: a launch counts groups, a work-item has 4 neighbours.
// RUN: graphc-opt %s --graphc-lower-kernels --cse | FileCheck %s

#id = affine_map<(d0)[s0] -> (d0)>
#shape = affine_map<()[s0] -> (s0)>
#one = affine_map<()[s0] -> ()>
#none = affine_map<(d0)[s0] -> ()>
#matrix = affine_map<()[s0, s1] -> (s0, s1)>
#line = affine_map<()[s0, s1] -> (s1)>
#turned = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
#column = affine_map<(d0, d1)[s0, s1] -> (d0)>
#along = affine_map<(d0, d1)[s0, s1] -> (d1)>
#both = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>

// CHECK-LABEL: func.func @map(
// CHECK-SAME: graphc.group = 256
// CHECK: gpu.thread_id x
// CHECK-NOT: arith.divui
// CHECK: scf.if
// CHECK: vector.load {{.*}} {alignment = 16 : i64}
// CHECK: vector.store {{.*}} {alignment = 16 : i64}
// CHECK: } else {
// CHECK: vector.create_mask
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: scf.for
// CHECK: return
kernel.func @map(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700, group = 256>, shapes = [#shape, #shape]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %b = graph.neg %a : f32
  kernel.store %b, result 0 at #id : f32
  kernel.return
}

// Four strips of a work-item lie in lines a quarter of them apart: all loads come before any store, what is read for every
// line is read once, and one division finds all of them. Strips that are not all there are taken one after the other.
// CHECK-LABEL: func.func @lines(
// CHECK: scf.if
// CHECK-COUNT-1: arith.divui
// CHECK-NOT: arith.divui
// CHECK: vector.load %arg1
// CHECK-COUNT-4: vector.load %arg0
// CHECK-NOT: vector.load
// CHECK-COUNT-4: vector.store
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.if
// CHECK: vector.load {{.*}} {alignment = 16 : i64}
// CHECK: } else {
// CHECK: vector.maskedload
kernel.func @lines(%x: tensor<?x?xf32>, %w: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s0, s1), parallel = 2>, inits = array<i64: -1>,
                schedule = #kernel.schedule<map, vector = 4, cost = 700, group = 256>, shapes = [#matrix, #line, #matrix]} {
  %a = kernel.load %x at #both : tensor<?x?xf32> -> f32
  %b = kernel.load %w at #along : tensor<?xf32> -> f32
  %c = graph.mul %a, %b : f32
  kernel.store %c, result 0 at #both : f32
  kernel.return
}

// A block belongs to 64 work-items; the halves of the lanes meet in local memory. The block results go through one
// work-item when they are few, through a group when they are many.
// CHECK-LABEL: func.func @total(
// CHECK: memref.alloca() : memref<1024xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: vector.load {{.*}} {alignment = 16 : i64}
// CHECK: {graphc.unroll = 8 : i64}
// CHECK: gpu.barrier
// CHECK-LABEL: func.func @total_fold(
// CHECK: gpu.barrier
kernel.func @total(%x: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 4, cost = 700, group = 256>, shapes = [#shape, #one]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #none : f32
  kernel.return
}

// With tickets the last group folds what all have stored, the last of several that did so their results.
// CHECK-LABEL: func.func @last(
// CHECK-SAME: memref<?xf32>, %[[TICKETS:[^ ,:]*]]: memref<?xi32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index)
// CHECK-SAME: graphc.tickets
// CHECK: %[[FLAG:.*]] = memref.alloca() : memref<1xi32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: llvm.fence syncscope("device") acq_rel
// CHECK: %[[BEFORE:.*]] = memref.atomic_rmw addi %{{.*}}, %[[TICKETS]]
// CHECK: memref.store %{{.*}}, %[[FLAG]]
// CHECK: memref.store %{{.*}}, %[[TICKETS]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[FLAG]]
// CHECK: scf.if
// CHECK-NEXT: llvm.fence syncscope("device") acq_rel
// CHECK: {graphc.unroll = 32 : i64}
// CHECK: memref.atomic_rmw addi %{{.*}}, %[[TICKETS]]
// CHECK: {graphc.unroll = 32 : i64}
// CHECK-LABEL: func.func @last_fold(
kernel.func @last(%x: tensor<?xf32>, %n: index) -> tensor<f32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, graphc.tickets, inits = array<i64: -1>,
                schedule = #kernel.schedule<full, vector = 4, cost = 700, group = 256>, shapes = [#shape, #one]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %s = kernel.reduce <sum> %a : f32 -> f32
  kernel.store %s, result 0 at #none : f32
  kernel.return
}

// Many rows of a strip are shared by eight work-items, whose blocks of 32 rows meet in local memory.
// CHECK-LABEL: func.func @columns(
// CHECK: memref.alloca() : memref<2048xf32, #gpu.address_space<workgroup>>
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[PARTS:.*]] = arith.select %{{.*}}, %[[EIGHT]], %{{.*}} : index
// CHECK: scf.for %{{.*}} = %[[PART:.*]] to %{{.*}} step %[[PARTS]]
// CHECK: {graphc.unroll = 32 : i64}
// CHECK: {graphc.unroll = 8 : i64}
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-LABEL: func.func @columns_fold(
kernel.func @columns(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0, s1] -> (s1, s0), parallel = 1>, inits = array<i64: -1>,
                schedule = #kernel.schedule<columns, vector = 2, cost = 700, group = 256>, shapes = [#matrix, #line]} {
  %a = kernel.load %x at #turned : tensor<?x?xf32> -> f32
  %s = kernel.reduce <sum> %a row_tree : f32 -> f32
  kernel.store %s, result 0 at #column : f32
  kernel.return
}

// The groups of 16 of a block follow each other in one chain.
// CHECK-LABEL: func.func @running(
// CHECK: memref.alloca() : memref<4352xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-3: gpu.barrier
// CHECK-LABEL: func.func @running_blocks(
// CHECK-LABEL: func.func @running_fold(
kernel.func @running(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 4, cost = 700, group = 256>, shapes = [#shape, #shape]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at #id : f32
  kernel.return
}

// Where groups begin in order, one of a line follows the chain of the blocks' results, which the
// others tell, and tells what precedes them; all in one launch.
// CHECK-LABEL: func.func @handed(
// CHECK-SAME: %{{[^ ]*}}: memref<?xf32>, %{{[^ ]*}}: memref<?xf32>, %[[STATE:[^ ]*]]: memref<?xi64>
// CHECK: scf.if
// CHECK: scf.while
// CHECK: memref.load %[[STATE]]{{.*}} {graphc.volatile}
// CHECK: memref.store %{{.*}}, %[[STATE]]{{.*}} {graphc.volatile}
// CHECK: } else {
// CHECK: memref.store %{{.*}}, %[[STATE]]{{.*}} {graphc.volatile}
// CHECK: scf.while
// CHECK: memref.load %[[STATE]]{{.*}} {graphc.volatile}
// CHECK-LABEL: func.func @handed_clear(
// CHECK-NOT: func.func @handed_
kernel.func @handed(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
    attributes {domain = #kernel.domain<()[s0] -> (s0), parallel = 0>, graphc.handed, inits = array<i64: -1>,
                schedule = #kernel.schedule<scan, vector = 4, cost = 700, group = 256>, shapes = [#shape, #shape]} {
  %a = kernel.load %x at #id : tensor<?xf32> -> f32
  %s = kernel.scan <sum> %a : f32
  kernel.store %s, result 0 at #id : f32
  kernel.return
}
